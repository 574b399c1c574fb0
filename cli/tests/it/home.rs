//! A home of scrollback in a temporary directory, with a store of a few sessions, and the program run in it.

use scrollback_core::{
    AttachmentLine, Body, By, Event, EventId, Facts, InjectedBy, Lineage, NoticeClass, Order, Origin, Role,
    TitleRank, Usage, Whose, Withdraw,
};
use scrollback_store::{Access, Claim, Put, Store, Writer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const MAIN: &str = "5f0c8f0e-6f0a-4f6e-9d2c-0c9d3b6a1e11";
pub(crate) const FORK: &str = "9a7d1c52-3b1e-4d0a-8c55-7e1f2a3b4c5d";
pub(crate) const CODEX: &str = "0197a000-7c4e-7d10-9b1a-3f00c0ffee01";

/// A home, empty or with a store.
pub(crate) struct Home {
    directory: TempDir,
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns standard output of a run that went well and complained of nothing.
    pub(crate) fn well(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }
}

impl Home {
    pub(crate) fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// Returns a home with the store of four sessions that the tests read.
    pub(crate) fn filled() -> Self {
        let home = Self::empty();
        fill(&home.data().join("store.db"));
        home
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Returns the program, about to be run in this home with no environment but its own.
    #[expect(clippy::disallowed_methods, reason = "the program under test")]
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scrollback"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.directory.path())
            .env("SCROLLBACK_HOME", self.data())
            .env("TZ", "UTC")
            .env("COLUMNS", "200")
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.program(args).output().unwrap();
        Ran {
            code: status.code().unwrap(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}

/// Puts the events of one source, a record each.
struct Puts<'p, 's> {
    writer: &'p mut Writer<'s>,
    client: &'static str,
    session: &'static str,
    source: i64,
    record: u64,
    minute: u64,
}

impl Puts<'_, '_> {
    fn event(&mut self, by: By<'_>, body: Body<'_>) -> EventId {
        let id = EventId::of(self.client, &[self.session, &self.record.to_string(), "0"]);
        let event = Event { session: Cow::Borrowed(self.session), ..Event::new(id, "", body).by(by) };
        self.put(&event, &[]);
        id
    }

    fn put(&mut self, event: &Event<'_>, attachments: &[AttachmentLine]) {
        let at = format!("2025-03-04T10:{:02}:{:02}Z", self.minute, self.record % 60).parse().unwrap();
        let actor = match &event.by {
            By::Person => Some("user:dev".to_owned()),
            By::Agent(None) => Some(format!("agent:{}", self.client)),
            By::Agent(Some(name)) => Some(format!("agent:{}/{name}", self.client)),
            By::Harness => Some(format!("system:{}", self.client)),
            By::Nobody => None,
        };
        let event = event.clone().at(event.at.or(Some(at)));
        let claim = Claim {
            source: self.source,
            generation: 0,
            record: self.record,
            part: 0,
            offset: self.record * 100,
            length: 100,
            born_ns: self.source,
        };
        let content = *event.id.as_bytes();
        let put = Put {
            client: self.client,
            event: &event,
            content,
            actor: actor.as_deref(),
            project: None,
            attachments,
            claim,
        };
        self.writer.event(&put).unwrap();
        self.record += 1;
    }

    fn facts(&mut self, facts: &Facts<'_>, project: &str) {
        let whose = Whose::Session(Cow::Borrowed(self.session));
        self.writer.facts(self.client, &whose, facts, Some(project)).unwrap();
    }
}

fn puts<'p, 's>(
    writer: &'p mut Writer<'s>,
    client: &'static str,
    session: &'static str,
    path: &str,
    minute: u64,
) -> Puts<'p, 's> {
    let source = writer.source(Path::new(path), None, client).unwrap();
    Puts { writer, client, session, source, record: 0, minute }
}

fn fill(path: &Path) {
    let mut store = Store::open(path, Access::Write).unwrap();
    let mut writer = store.writer().unwrap();
    main_session(&mut writer);
    sub_agent(&mut writer);
    fork(&mut writer);
    codex(&mut writer);
    writer.commit().unwrap();
}

fn main_session(writer: &mut Writer<'_>) {
    let path = format!("/home/dev/.claude/projects/-home-dev-app/{MAIN}.jsonl");
    let mut puts = puts(writer, "claude-code", MAIN, &path, 0);
    let facts = Facts {
        title: Some((TitleRank::Generated, "Find out why the retry test is flaky".into())),
        cwd: Some("/home/dev/app".into()),
        branch: Some("main".into()),
        model: Some("claude-test-1".into()),
        ..Facts::default()
    };
    puts.facts(&facts, "/home/dev/app");
    puts.event(
        By::Harness,
        Body::injected(InjectedBy::Instructions, "Keep functions short.\nWrite tests first."),
    );
    puts.event(By::Person, Body::message(Role::User, "The test in src/retry.rs is flaky. Find out why."));
    puts.event(By::Agent(None), Body::thinking("A flaky test often waits for a fixed time."));
    puts.event(
        By::Agent(None),
        Body::message(
            Role::Assistant,
            "I will run it a few times first, and look at how it waits.\n\n```rust\nfn backs_off() {\n    \
             sleep(Duration::from_millis(10));\n}\n```",
        ),
    );
    puts.event(
        By::Agent(None),
        Body::call("call_1", "Bash", r#"{"command":"cargo test backs_off -- --nocapture","timeout":60000}"#),
    );
    puts.event(
        By::Agent(None),
        Body::call("call_2", "Task", r#"{"subagent_type":"Explore","description":"Find other sleeps"}"#),
    );
    let output = "running 1 test\n\u{1b}[31mtest backs_off ... FAILED\u{1b}[0m\n\nfailures:\n    backs_off\n\n\
                  test result: FAILED. 0 passed; 1 failed";
    puts.event(
        By::Agent(None),
        Body::ToolResult {
            call_id: "call_1".into(),
            tool: None,
            output: output.into(),
            error: true,
            exit_status: Some(101),
            attachments: Vec::new(),
        },
    );
    puts.event(By::Agent(None), Body::result("call_2", "Two more: src/poll.rs and src/queue.rs.", false));
    puts.event(By::Harness, Body::injected(InjectedBy::Hook, "formatted 1 file"));
    puts.event(
        By::Agent(None),
        Body::message(
            Role::Assistant,
            "It sleeps for exactly as long as the timeout that it tests, so that a slow machine misses it.",
        ),
    );
    puts.minute = 20;
    let id = EventId::of("claude-code", &[MAIN, "picture", "0"]);
    let text = "Use the clock that is passed in, as drawn here: [image/png, 48,213 bytes, sha256:ab12…]";
    let event = Event::new(id, MAIN, Body::message(Role::User, text));
    let attachment = AttachmentLine {
        digest: format!("sha256:{}", "ab12".repeat(16)),
        media_type: "image/png".to_owned(),
        bytes: 48_213,
        name: Some("clock.png".to_owned()),
    };
    puts.put(&event, &[attachment]);
    puts.event(
        By::Agent(None),
        Body::call("call_3", "Read", r#"{"file_path":"/home/dev/app/src/retry.rs"}"#),
    );
    puts.event(By::Agent(None), Body::result("call_3", "     1\tuse std::time::Duration;\n", false));
    puts.event(By::Agent(None), Body::message(Role::Assistant, "Done: the test passes a fake clock."));
    puts.minute = 30;
    let back = puts.event(By::Person, Body::message(Role::User, "Never mind that, delete the flaky test."));
    puts.event(By::Harness, Body::notice(NoticeClass::Interrupted, "Request interrupted by user"));
    let at = Claim {
        source: puts.source,
        generation: 0,
        record: puts.record,
        part: 0,
        offset: puts.record * 100,
        length: 100,
        born_ns: puts.source,
    };
    puts.writer.withdraw("claude-code", &Withdraw::Event(back), &at, None).unwrap();
    let usage = Usage { input: Some(12), output: Some(340), cache_read: Some(9000), ..Usage::default() };
    let at = Some("2025-03-04T10:00:03Z".parse().unwrap());
    puts.writer
        .usage("claude-code", "msg_1", &Whose::Session(MAIN.into()), Some("claude-test-1"), at, usage)
        .unwrap();
}

fn sub_agent(writer: &mut Writer<'_>) {
    const SESSION: &str = "5f0c8f0e-6f0a-4f6e-9d2c-0c9d3b6a1e11/agent-a1b2c3d4";
    let path = format!("/home/dev/.claude/projects/-home-dev-app/{MAIN}/subagents/agent-a1b2c3d4.jsonl");
    let mut puts = puts(writer, "claude-code", SESSION, &path, 1);
    let facts = Facts {
        parent_session: Some(MAIN.into()),
        lineage: Some(Lineage::Subagent),
        launched_by: Some("call_2".into()),
        agent: Some("Explore".into()),
        ..Facts::default()
    };
    puts.facts(&facts, "/home/dev/app");
    puts.event(By::Agent(None), Body::message(Role::User, "Find other sleeps in tests."));
    puts.event(
        By::Agent(Some("Explore".into())),
        Body::call("call_s1", "Grep", r#"{"pattern":"sleep\\(","path":"src"}"#),
    );
    puts.event(By::Agent(Some("Explore".into())), Body::result("call_s1", "", false));
    puts.event(
        By::Agent(Some("Explore".into())),
        Body::message(Role::Assistant, "Two more: src/poll.rs and src/queue.rs."),
    );
}

fn fork(writer: &mut Writer<'_>) {
    let path = format!("/home/dev/.claude/projects/-home-dev-app/{FORK}.jsonl");
    let mut puts = puts(writer, "claude-code", FORK, &path, 40);
    let facts = Facts { parent_session: Some(MAIN.into()), lineage: Some(Lineage::Fork), ..Facts::default() };
    puts.facts(&facts, "/home/dev/app");
    for record in ["1", "3"] {
        let id = EventId::of("claude-code", &[MAIN, record, "0"]);
        let body = Body::message(Role::User, "a copy, which does not count");
        puts.put(&Event::new(id, FORK, body).origin(Origin::Copied { from: Some(MAIN.into()) }), &[]);
    }
    puts.event(By::Person, Body::message(Role::User, "Try it with tokio's paused clock instead."));
    puts.event(
        By::Agent(None),
        Body::Decision {
            what: "Pass a clock into retry()".into(),
            why: Some("tokio is no dependency of this crate".into()),
            alternatives: Some("tokio::time::pause".into()),
        },
    );
}

fn codex(writer: &mut Writer<'_>) {
    let path = format!("/home/dev/.codex/sessions/2025/03/05/rollout-2025-03-05T08-00-00-{CODEX}.jsonl");
    let mut puts = puts(writer, "codex", CODEX, &path, 50);
    puts.facts(&Facts { cwd: Some("/home/dev/日本語".into()), ..Facts::default() }, "/home/dev/日本語");
    puts.event(By::Person, Body::message(Role::User, "ドアを開けてください \u{1b}[2J今すぐ"));
    puts.event(
        By::Agent(None),
        Body::call("call_9", "shell", r#"{"command":["bash","-lc","ls -la && parseHTTPHeader --all"]}"#),
    );
    let id = EventId::of("codex", &[CODEX, "held", "0"]);
    let order = Order { rank: 0, place: Some((1, 1)) };
    let event = Event { order, ..Event::new(id, CODEX, Body::result("call_9", "total 0", false)) };
    puts.put(&event, &[]);
    puts.event(By::Agent(None), Body::message(Role::Assistant, "The door is open."));
}
