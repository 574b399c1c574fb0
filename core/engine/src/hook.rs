//! One hook: what came in, what is left for the drain, what is printed. It opens no store, reads no transcript
//! and waits for nobody.

use crate::redact::{Redactor, is_plain};
use crate::spool::{Spool, SpoolRecord, Told, VERSION, digest};
use scrollback_core::{Adapter, Call, Env, Hook, Host, Moment, Outcome, Read, Registry, Reply, Role, Seen};
use scrollback_store::Mode;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

/// The longest last message, in bytes, that goes along where there is a transcript.
const LIMIT: usize = 1 << 14;

/// A client's call of our line.
#[derive(Debug, Clone, Copy)]
pub struct HookCall<'a> {
    /// The client the line was installed for.
    pub client: &'a str,
    /// What the client gave.
    pub call: Call<'a>,
    /// The directory the session started in, if the line gives it.
    pub directory: Option<&'a str>,
    /// When the program started.
    pub began: Instant,
    /// How much is to be captured, if the client's environment says so.
    pub capture: Option<Mode>,
    /// The project the client's environment names.
    pub project: Option<&'a str>,
    /// Whether sessions are recorded that have no transcript.
    pub unpersisted: bool,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooked {
    /// What to print and how to exit.
    pub reply: Reply<'static>,
    /// Whether something was left for the drain.
    pub ring: bool,
    /// What went wrong, for the log; the client is told nothing.
    pub trouble: Option<String>,
}

impl Hooked {
    fn nothing(trouble: impl Into<String>) -> Self {
        Self { reply: Reply::default(), ring: false, trouble: Some(trouble.into()) }
    }
}

/// Leaves a record for the drain, and says what to print. Never panics by itself and never waits; a client
/// nobody knows and a payload nobody understands leave nothing.
pub fn hook(env: &dyn Env, registry: &Registry, data: &Path, given: &HookCall<'_>) -> Hooked {
    let Ok(called) = registry.adapter(given.client) else {
        return Hooked::nothing(format!("no adapter is called {:?}", given.client));
    };
    let hook = match called.hook(env, &given.call) {
        Ok(hook) => hook,
        Err(error) => {
            let reply = owned(called.reply(&given.call, Outcome::Recorded));
            return Hooked { reply, ..Hooked::nothing(format!("{}: {error}", given.client)) };
        }
    };
    let (adapter, hook) = match &hook.host {
        Host::Own => (called, hook),
        // Another client runs this one's files: its own adapter says what its payload means.
        Host::Foreign(client) => {
            let theirs = registry.adapter(client).ok();
            match theirs.and_then(|adapter| Some((adapter, adapter.hook(env, &given.call).ok()?))) {
                Some((adapter, hook)) if hook.host == Host::Own => (adapter, hook),
                _ => {
                    let reply = owned(called.reply(&given.call, Outcome::Off));
                    return Hooked { reply, ring: false, trouble: None };
                }
            }
        }
    };
    let left = leave(env, &Spool::of(data), adapter, &hook, given);
    let outcome = match &left {
        Ok(()) if given.capture == Some(Mode::Off) => Outcome::Off,
        Ok(()) => Outcome::Recorded,
        Err(_) => Outcome::Failed("nothing could be written"),
    };
    Hooked {
        reply: owned(adapter.reply(&given.call, outcome)),
        ring: left.is_ok(),
        trouble: left.err().map(|error| format!("{}: {error}", data.display())),
    }
}

fn owned(reply: Reply<'_>) -> Reply<'static> {
    Reply {
        stdout: reply.stdout.into_owned().into(),
        stderr: reply.stderr.into_owned().into(),
        failed: reply.failed,
    }
}

fn leave(
    env: &dyn Env,
    spool: &Spool,
    adapter: &dyn Adapter,
    hook: &Hook<'_>,
    given: &HookCall<'_>,
) -> io::Result<()> {
    let mut record = SpoolRecord {
        v: VERSION,
        client: adapter.spec().client.to_string(),
        at: env.now().micros(),
        session: hook.session.as_deref().map(str::to_owned),
        capture: given.capture.map(|mode| mode.name().to_owned()),
        ..SpoolRecord::default()
    };
    if given.capture == Some(Mode::Off) {
        // Enough for later readings to leave that time of the session out too.
        return if record.session.is_some() { spool.append(&record, false) } else { Ok(()) };
    }
    record.event = given.call.event.map(str::to_owned);
    record.project = given.project.map(str::to_owned);
    let cwd = hook.cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned());
    record.cwd = given.directory.map(str::to_owned).or(cwd);
    record.roots = roots(env, adapter);
    record.sweep = matches!(hook.moment, Moment::SessionStart | Moment::Prompt | Moment::SessionEnd);
    record.ended = hook.moment == Moment::SessionEnd;
    for read in &hook.read {
        match read {
            Read::Path(path) => record.read.push(path.to_string_lossy().into_owned()),
            Read::Session(session) => {
                record.session = Some(session.clone().into_owned());
                // Which of the client's transcripts it is, only looking at them says.
                record.sweep = true;
            }
        }
    }
    // A client may name a transcript that it has not begun, or never will.
    let absent = !record.read.iter().any(|path| Path::new(path).exists());
    for seen in &hook.seen {
        tell(spool, &mut record, seen, absent, given.unpersisted)?;
    }
    // At a prompt the transcript is perhaps not begun; once the turn is over, there is none.
    let only_copy =
        absent && !record.told.is_empty() && (record.read.is_empty() || hook.moment == Moment::Stop);
    record.took = u64::try_from(given.began.elapsed().as_micros()).ok();
    spool.append(&record, only_copy)
}

/// Puts a message into the record: its words, if the record may be the only copy of them or nothing in them looks like
/// a secret, else what they are known by.
fn tell(
    spool: &Spool,
    record: &mut SpoolRecord,
    seen: &Seen<'_>,
    absent: bool,
    unpersisted: bool,
) -> io::Result<()> {
    let (role, text) = match seen {
        // The transcript that is there has it, or will.
        Seen::Prompt(_) if !absent => return Ok(()),
        Seen::Prompt(text) => (Role::User, text),
        Seen::Reply(text) => (Role::Assistant, text),
        _ => return Ok(()),
    };
    if text.trim().is_empty() || record.session.is_none() {
        return Ok(());
    }
    let digest = if record.read.is_empty() { None } else { Some(digest(&spool.key()?, text)) };
    let text = if absent {
        unpersisted.then(|| {
            if is_plain(text) { text.to_string() } else { Redactor::shared().text(text).into_owned() }
        })
    } else {
        (text.len() <= LIMIT && is_plain(text)).then(|| text.to_string())
    };
    match (text, digest) {
        (Some(text), digest) => record.told.push(Told { role, text, digest }),
        (None, Some(digest)) if role == Role::Assistant => record.announced.push(digest),
        (None, _) => {}
    }
    Ok(())
}

/// Returns what says where the client keeps its files.
fn roots(env: &dyn Env, adapter: &dyn Adapter) -> BTreeMap<String, String> {
    let names = adapter.spec().variables.iter().copied().chain(["HOME"]);
    names.filter_map(|name| Some((name.to_owned(), env.var(name)?))).collect()
}
