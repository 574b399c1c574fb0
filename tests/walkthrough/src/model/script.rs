//! The script: what the model says next, from what is in the request alone. A marker such as `[[shell]]` in the
//! last prompt that has one says which part is played, the results since then say how far it is.

/// Begins what a side request is answered with (a title, a topic, a suggestion): it belongs to no conversation.
pub(crate) const HIDDEN: &str = "HIDDEN";
/// What a compaction is answered with.
pub(crate) const COMPACTED: &str = "The summary in short: a greeting was asked for and given.";
/// The tokens that every answer is said to cost: input and output.
pub(crate) const TOKENS: (u64, u64) = (100, 20);
/// The first words of the slow answer.
pub(crate) const SLOW_BEGIN: &str = "Slowly one";
/// The words of the slow answer: about ten seconds. The first are a paragraph, since Claude Code shows whole ones.
pub(crate) const SLOW: &str = "Slowly one\n\nword comes after the other and the one who waits for all of them to come \
                               has to wait for a long long while until in the end there is nothing left to say \
                               and the answer ends here.";

/// What a request asks, whichever interface it came through.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The marker of the last prompt that has one, without brackets.
    pub(super) marker: Option<String>,
    /// What tools returned since that prompt.
    pub(super) results: Vec<String>,
    /// The conversation is to be summed up.
    pub(super) compaction: bool,
    /// A request that belongs to no conversation: no tools are offered.
    pub(super) side: bool,
    /// How often it was asked before, if it is to succeed at the second try.
    pub(super) tried: u32,
}

/// What the model does.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// It answers.
    Say(Vec<Piece>),
    /// It answers a word at a time.
    SaySlowly(Vec<Piece>),
    /// It refuses.
    Refuse {
        /// The status of HTTP.
        status: u16,
        /// What is wrong.
        message: &'static str,
    },
}

/// A part of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Thinking(String),
    Text(String),
    /// A command for the client's shell.
    Shell(String),
    /// A task for a sub-agent.
    Agent(String),
    /// Waiting for a sub-agent, by its id; only where a client has that.
    Wait(String),
}

/// Returns the last marker in a text.
pub(super) fn marker(text: &str) -> Option<String> {
    let (_, after) = text.rsplit_once("[[")?;
    let (name, _) = after.split_once("]]")?;
    name.bytes().all(|byte| byte.is_ascii_lowercase()).then(|| name.to_owned())
}

/// Returns what the model does next.
pub(super) fn step(asked: &Asked) -> Step {
    if asked.compaction {
        return Step::Say(vec![text(&format!("<summary>{COMPACTED}</summary>"))]);
    }
    if asked.side {
        return Step::Say(vec![text(&format!(r#"{{"title": "{HIDDEN} title"}}"#))]);
    }
    let done = asked.results.len();
    let say = match (asked.marker.as_deref(), done) {
        (Some("shell"), 0) => vec![text("I greet."), shell("echo hello-from-shell")],
        (Some("shell"), _) => vec![text("The shell greeted.")],
        (Some("parallel"), 0) => vec![shell("echo first-of-two"), shell("sleep 0.3; echo second-of-two")],
        (Some("parallel"), _) => vec![text("Both are done.")],
        (Some("fail"), 0) => vec![shell("echo this-is-an-error >&2; exit 3")],
        (Some("fail"), _) => vec![text("It failed, as it should.")],
        (Some("think"), _) => {
            vec![Piece::Thinking("First I think it over.".into()), text("Thought through.")]
        }
        (Some("agent"), 0) => vec![Piece::Agent("Greet me from below. [[shell]]".into())],
        (Some("agent"), _) => match spawned(&asked.results) {
            Some(id) if done == 1 => vec![Piece::Wait(id)],
            _ => vec![text("The sub-agent greeted.")],
        },
        (Some("slow"), _) => return Step::SaySlowly(vec![text(SLOW)]),
        (Some("error"), _) => return Step::Refuse { status: 400, message: "refused on purpose" },
        (Some("retry"), _) if asked.tried == 0 => {
            return Step::Refuse { status: 529, message: "overloaded on purpose" };
        }
        (Some("retry"), _) => vec![text("Said at the second try.")],
        _ => vec![text("A plain answer.")],
    };
    Step::Say(say)
}

/// Returns the id of a sub-agent that a client launched and goes on beside, if it is one that does.
fn spawned(results: &[String]) -> Option<String> {
    let result: serde_json::Value = serde_json::from_str(results.first()?).ok()?;
    Some(result["agent_id"].as_str()?.to_owned())
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn shell(command: &str) -> Piece {
    Piece::Shell(command.to_owned())
}

/// Splits a text so that, put together again, it is the same: a word and the space after it.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

#[cfg(test)]
mod tests {
    use super::{Asked, Piece, Step, marker, step};

    fn asked(marker: &str, results: &[&str]) -> Asked {
        Asked {
            marker: Some(marker.to_owned()),
            results: results.iter().map(|result| (*result).to_owned()).collect(),
            ..Asked::default()
        }
    }

    #[test]
    fn the_last_marker_counts() {
        assert_eq!(marker("a [[plain]] b [[shell]] c").as_deref(), Some("shell"));
        for none in ["a", "[[plain", "[[ -f x ]]", "if [[ $a ]]"] {
            assert_eq!(marker(none), None, "{none}");
        }
    }

    #[test]
    fn results_say_how_far_a_part_is() {
        let Step::Say(begin) = step(&asked("agent", &[])) else { panic!("no answer") };
        assert!(matches!(begin[..], [Piece::Agent(_)]));
        let spawned = r#"{"agent_id":"a1"}"#;
        assert_eq!(step(&asked("agent", &[spawned])), Step::Say(vec![Piece::Wait("a1".into())]));
        let done = Step::Say(vec![Piece::Text("The sub-agent greeted.".into())]);
        assert_eq!(step(&asked("agent", &[spawned, "{}"])), done);
        assert_eq!(step(&asked("agent", &["The shell greeted."])), done);
    }

    #[test]
    fn a_second_try_succeeds() {
        assert!(matches!(step(&asked("retry", &[])), Step::Refuse { status: 529, .. }));
        assert!(matches!(step(&Asked { tried: 1, ..asked("retry", &[]) }), Step::Say(_)));
    }
}
