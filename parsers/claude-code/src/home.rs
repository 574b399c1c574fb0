//! Where the client keeps its transcripts, and how one is known.

use crate::line::{leading_type, trimmed};
use crate::meta;
use crate::wire::Flag;
use scrollback_core::{Env, Homes, Probe, Score, Text};
use serde::Deserialize;

/// Returns the patterns of transcripts, and of their neighbours that are none.
pub(crate) fn homes(env: &dyn Env) -> Homes {
    let root = env.var("CLAUDE_CONFIG_DIR").unwrap_or_else(|| "~/.claude".to_owned());
    let projects = format!("{}/projects", root.trim_end_matches(['/', '\\']));
    let include = vec![format!("{projects}/*/*.jsonl"), format!("{projects}/*/*/subagents/**/agent-*.jsonl")];
    // Side agents of the client's own: they write a compaction's summary, or guess the next prompt.
    let mut exclude = vec![format!("{projects}/*/*/subagents/**/journal.jsonl")];
    for own in ["agent-acompact-*", "agent-aprompt_suggestion-*"] {
        exclude.push(format!("{projects}/*/{own}"));
        exclude.push(format!("{projects}/*/*/subagents/**/{own}"));
    }
    for other in ["journal.jsonl", "resume-head.jsonl", "history.jsonl"] {
        exclude.push(format!("{projects}/*/{other}"));
    }
    Homes::of(include).without(exclude)
}

/// What tells a row of this client from another's.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Peek<'r> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'r>>,
    #[serde(borrow)]
    session_id: Flag<'r>,
    #[serde(borrow)]
    uuid: Flag<'r>,
    #[serde(borrow)]
    is_sidechain: Flag<'r>,
    #[serde(borrow)]
    user_type: Flag<'r>,
    #[serde(borrow)]
    leaf_uuid: Flag<'r>,
    #[serde(borrow)]
    message_id: Flag<'r>,
    #[serde(borrow)]
    message: Option<&'r serde_json::value::RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PeekMessage<'r> {
    #[serde(borrow)]
    role: Flag<'r>,
    #[serde(borrow)]
    content: Flag<'r>,
}

/// How many lines are looked at: a transcript may begin with many that are cut short or rubbish.
const LINES: usize = 24;

/// Says how sure we are of a source, by its first lines.
pub(crate) fn score(probe: &Probe<'_>) -> Score {
    let lines = probe.lines().take(LINES).map(line);
    lines.fold(Score::No, |best, score| if best == Score::Sure { best } else { best.max(score) })
}

fn line(bytes: &[u8]) -> Score {
    let bytes = trimmed(bytes);
    if leading_type(bytes).is_some_and(|kind| kind.starts_with("api-request")) {
        return Score::Sure;
    }
    let Ok(row) = serde_json::from_slice::<Peek<'_>>(bytes) else {
        return cut(bytes);
    };
    let kind = row.kind.as_deref().unwrap_or_default();
    match kind {
        "user" | "assistant" | "system" | "attachment" | "progress" => {
            let said = row.message.and_then(|raw| serde_json::from_str::<PeekMessage<'_>>(raw.get()).ok());
            let said = said.is_some_and(|said| said.role.is_some() && said.content.is_some());
            let named = row.uuid.is_some() || row.session_id.is_some();
            // Another client writes rows much like these, its words in `parts`.
            match (named, said, row.is_sidechain.is_some(), row.user_type.is_some()) {
                (true, true, true, _) | (true, _, true, true) | (true, true, _, true) => Score::Sure,
                (true, true, false, false) if row.uuid.is_some() && row.session_id.is_some() => Score::Maybe,
                _ => Score::No,
            }
        }
        "summary" if row.leaf_uuid.is_some() => Score::Sure,
        "file-history-snapshot" | "file-history-delta" if row.message_id.is_some() => Score::Sure,
        // Words another client might use as well.
        "tag" | "mode" | "summary" => Score::No,
        _ if row.session_id.is_some() && meta::is_known(kind) => Score::Sure,
        _ => Score::No,
    }
}

/// Judges a line that is not whole by what stands in its first bytes: a row of this client says early whether it
/// is a sub-agent's.
fn cut(bytes: &[u8]) -> Score {
    let start = bytes.get(..512).unwrap_or(bytes);
    let holds = |key: &[u8]| start.windows(key.len()).any(|window| window == key);
    if start.starts_with(b"{\"parentUuid\":") && holds(b"\"isSidechain\":") { Score::Sure } else { Score::No }
}
