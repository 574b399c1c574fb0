//! `setup`, `install` and `uninstall`: what adapters plan, shown, agreed to and carried out.

mod fragment;
mod purge;
mod server;

use super::Run;
use crate::args::{Given, Install, Setup, Uninstall, Which};
use crate::exit::{Ended, Exit};
use crate::print::Style;
use crate::program::Program;
use anyhow::{Context as _, Result};
use scrollback_core::{Adapter, Half, HookLine, Level, McpEntry, Memos, Plan, PlanError, Presence, Wanted};
use scrollback_engine::apply::{self, Applied, ApplyError};
use std::io::{self, IsTerminal as _, Write as _};

/// How often a plan is made anew when a client changes its settings meanwhile.
const TRIES: usize = 3;
/// What `--mcp-only` says while there is no server to write an entry for.
const NO_SERVER: &str = "this version has no MCP server of its own, so there is no entry to write; \
                         `install CLIENT --mcp-url URL` writes one for a server elsewhere";

/// What shall stand at a level of a client.
struct Change<'r> {
    adapter: &'r dyn Adapter,
    level: Level,
    hook: Half<HookLine>,
    mcp: Half<McpEntry>,
}

impl Change<'_> {
    fn plan(&self, run: &Run<'_>, memos: &Memos) -> Result<Plan, PlanError> {
        let wanted = Wanted { level: self.level, hook: as_ref(&self.hook), mcp: as_ref(&self.mcp), memos };
        self.adapter.plan(run.env, &wanted)
    }

    fn title(&self) -> String {
        let level = match self.level {
            Level::User => "for the user",
            Level::Project => "for this project",
        };
        format!("{}, {level}", self.adapter.spec().name)
    }
}

const fn as_ref<T>(half: &Half<T>) -> Half<&T> {
    match half {
        Half::Leave => Half::Leave,
        Half::Absent => Half::Absent,
        Half::Stand(what) => Half::Stand(what),
    }
}

/// How far a run may go.
struct Bounds {
    dry_run: bool,
    yes: bool,
    /// Whether what is kept goes too.
    purge: bool,
}

impl Bounds {
    const fn of(given: &Given, purge: bool) -> Self {
        Self { dry_run: given.dry_run, yes: given.yes, purge }
    }
}

pub(super) fn setup(run: &mut Run<'_>, args: &Setup) -> Result<Exit> {
    if args.which.mcp_only {
        run.complain(NO_SERVER)?;
        return Ok(Exit::Missing);
    }
    let program = Program::of(run.env, run.name, &run.settings.data, args.level.into())?;
    let registry = run.registry;
    let (mut changes, mut absent) = (Vec::new(), Vec::new());
    for adapter in registry.adapters() {
        if let Presence::Found { .. } = adapter.detect(run.env) {
            let hook = Half::Stand(line(run, &program, args.level.into()));
            changes.push(Change { adapter, level: args.level.into(), hook, mcp: Half::Leave });
        } else {
            absent.push(adapter.spec().name.to_string());
        }
    }
    if !absent.is_empty() {
        run.page.line(format_args!("Not found here: {}.", absent.join(", ")))?;
    }
    if changes.is_empty() {
        run.page.line("There is no client here that hooks could be installed for.")?;
        return Ok(Exit::Done);
    }
    carry_out(run, &changes, Some(&program), &Bounds::of(&args.given, false))
}

pub(super) fn install(run: &mut Run<'_>, args: &Install) -> Result<Exit> {
    let registry = run.registry;
    let adapter = registry.adapter(&args.client).map_err(|error| Ended::usage(error.to_string()))?;
    let level: Level = args.level.into();
    if !adapter.spec().levels.contains(&level) {
        return Err(Ended::usage(format!("{} has no such level", adapter.spec().name)).into());
    }
    let entry = server::entry(args)?;
    if args.which.mcp_only && entry.is_none() {
        run.complain(NO_SERVER)?;
        return Ok(Exit::Missing);
    }
    let program = Program::of(run.env, run.name, &run.settings.data, level)?;
    let mcp = match entry {
        Some(entry) if !args.which.hooks_only => Half::Stand(entry),
        _ => Half::Leave,
    };
    let hook = if args.which.mcp_only { Half::Leave } else { Half::Stand(line(run, &program, level)) };
    let change = Change { adapter, level, hook, mcp };
    if args.print {
        return fragment::print(run, &change);
    }
    let program = (!args.which.mcp_only).then_some(&program);
    carry_out(run, &[change], program, &Bounds::of(&args.given, false))
}

pub(super) fn uninstall(run: &mut Run<'_>, args: &Uninstall) -> Result<Exit> {
    let registry = run.registry;
    let adapters: Vec<&dyn Adapter> = match &args.client {
        Some(client) => {
            vec![registry.adapter(client).map_err(|error| Ended::usage(error.to_string()))?]
        }
        None => registry.adapters().map(|adapter| adapter as &dyn Adapter).collect(),
    };
    let (hooks, servers) = halves(&args.which);
    let mut changes = Vec::new();
    for adapter in adapters {
        for level in adapter.spec().levels {
            if args.level.is_none_or(|wanted| Level::from(wanted) == *level) {
                changes.push(Change { adapter, level: *level, hook: half(hooks), mcp: half(servers) });
            }
        }
    }
    carry_out(run, &changes, None, &Bounds::of(&args.given, args.purge))
}

/// Says whether hooks and whether MCP entries are meant.
const fn halves(which: &Which) -> (bool, bool) {
    (!which.mcp_only, !which.hooks_only)
}

const fn half<T>(wanted: bool) -> Half<T> {
    if wanted { Half::Absent } else { Half::Leave }
}

/// Returns the line that shall stand.
fn line(run: &Run<'_>, program: &Program, level: Level) -> HookLine {
    // A project's file is read on other machines, where everything lies elsewhere.
    let args = match run.settings.named(run.env) {
        Some(data) if level == Level::User => vec!["--home".to_owned(), data],
        _ => Vec::new(),
    };
    HookLine { program: program.named().to_owned(), args }
}

/// Shows what would change, asks, and changes it, one client after the other: one that is refused keeps no other from
/// being done.
fn carry_out(
    run: &mut Run<'_>,
    changes: &[Change<'_>],
    program: Option<&Program>,
    bounds: &Bounds,
) -> Result<Exit> {
    let memos = apply::memos(&run.settings.data)?;
    let (mut planned, mut refused) = (Vec::new(), false);
    for change in changes {
        match change.plan(run, &memos) {
            Ok(plan) if plan.steps.is_empty() => {}
            Ok(plan) => planned.push((change, plan)),
            Err(error) => {
                run.complain(&format!("{}: {error}", change.title()))?;
                refused = true;
            }
        }
    }
    // The program is copied for lines that name it; where none could be planned, for nobody.
    let wants = planned.iter().any(|(change, _)| matches!(change.hook, Half::Stand(_)));
    let program = program.filter(|program| program.is_stale() && (wants || !refused));
    if !bounds.yes || bounds.dry_run {
        show(run, &planned, program)?;
    }
    let exit = if refused { Exit::Failed } else { Exit::Done };
    if bounds.purge {
        purge::announce(run)?;
    }
    if planned.is_empty() && program.is_none() && !bounds.purge {
        run.page.line("Nothing to change.")?;
        return Ok(exit);
    }
    if bounds.dry_run {
        run.page.line("Nothing was written: this was a dry run.")?;
        return Ok(exit);
    }
    if !agreed(run, bounds)? {
        run.page.line("Nothing was written.")?;
        return Ok(Exit::Failed);
    }
    if let Some(program) = program {
        program.copy()?;
        run.page.line(format_args!("Copied this program to {}.", program.named().display()))?;
    }
    let mut told = false;
    for (change, plan) in planned {
        match done(run, change, plan, bounds) {
            Ok(applied) => told |= tell(run, change, &applied)?,
            Err(error) => {
                run.complain(&format!("{}: {error:#}", change.title()))?;
                refused = true;
            }
        }
    }
    if refused {
        return Ok(Exit::Failed);
    }
    if bounds.purge {
        purge::run(run)?;
    }
    Ok(if told { Exit::Missing } else { Exit::Done })
}

/// Prints what would change.
fn show(run: &mut Run<'_>, planned: &[(&Change<'_>, Plan)], program: Option<&Program>) -> Result<()> {
    if let Some(program) = program {
        let (from, to) = (program.from().display(), program.named().display());
        run.page.line(format_args!("Copies {from} to {to}, which stays where it is.\n"))?;
    }
    for (change, plan) in planned {
        let title = run.page.styled(Style::Strong, &change.title());
        run.page.line(title)?;
        for line in apply::diff(plan).lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => Some(Style::Person),
                Some(b'-') => Some(Style::Wrong),
                Some(b'@') => Some(Style::Faint),
                _ => None,
            };
            let line = crate::text::clean(line);
            let line = style.map_or_else(|| line.to_string(), |style| run.page.styled(style, &line));
            run.page.line(line)?;
        }
        run.page.line("")?;
    }
    Ok(())
}

/// Asks on a terminal; elsewhere somebody must have said `--yes`.
fn agreed(run: &mut Run<'_>, bounds: &Bounds) -> Result<bool> {
    if bounds.yes {
        return Ok(true);
    }
    run.page.flush()?;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = "nothing was written: there is no terminal to ask on; --yes says yes";
        return Err(Ended::usage(what).into());
    }
    write!(io::stderr(), "Write this? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// Carries a plan out. A client may have changed its settings since: what a user agreed to sight unseen is planned
/// anew then.
fn done(run: &Run<'_>, change: &Change<'_>, mut plan: Plan, bounds: &Bounds) -> Result<Applied> {
    let data = &run.settings.data;
    for _ in 1..TRIES {
        match apply::apply(&plan, run.env, data) {
            Err(ApplyError::Changed { .. }) if bounds.yes => plan = change.plan(run, &apply::memos(data)?)?,
            done => return Ok(done?),
        }
    }
    apply::apply(&plan, run.env, data).context("it was tried several times")
}

/// Says what was done; returns whether there is something only the user can do.
fn tell(run: &mut Run<'_>, change: &Change<'_>, applied: &Applied) -> Result<bool> {
    let Applied { wrote, removed, backups, ran, told, notes } = applied;
    run.page.line(format_args!("{}:", change.title()))?;
    let lines = [("wrote", wrote), ("removed", removed), ("kept the old one as", backups)];
    for (what, paths) in lines {
        for path in paths {
            run.page.line(format_args!("  {what} {}", path.display()))?;
        }
    }
    for line in ran {
        run.page.line(format_args!("  ran {line}"))?;
    }
    for note in notes {
        run.page.line(format_args!("  {note}"))?;
    }
    for text in told {
        let what = run.page.styled(Style::Strong, "to do:");
        run.page.line(format_args!("  {what} {text}"))?;
    }
    Ok(!told.is_empty())
}
