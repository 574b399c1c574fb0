//! Telling what a person said from what the client put before the model.

use crate::wire::Provenance;
use scrollback_core::InjectedBy;

/// What one content part of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Said by whoever has the message's role.
    Said,
    /// Put there by the client, a hook or a command.
    Injected(InjectedBy),
    /// A shell command the person ran in the client, with its output.
    Shell,
}

/// Says what a part is, from what the record says of it, else from its role and its text.
pub(crate) fn class(
    role: &str,
    text: &str,
    kind: Option<&str>,
    provenance: Option<&Provenance<'_>>,
) -> Class {
    if role == "assistant" {
        return Class::Said;
    }
    let kind = kind.filter(|kind| *kind != "unknown");
    if let Some(provenance) = provenance {
        match provenance.kind.get() {
            Some("user") => return Class::Said,
            Some("harness") if provenance.hook.is_set() => return Class::Injected(InjectedBy::Hook),
            Some("agents_md" | "developer_instructions") => {
                return Class::Injected(InjectedBy::Instructions);
            }
            Some("skills") => return Class::Injected(InjectedBy::Skill),
            Some(_) => {
                let by_kind = kind.and_then(by_kind).filter(|class| *class != Class::Said);
                return by_kind.or_else(|| by_text(text)).unwrap_or(Class::Injected(InjectedBy::Other));
            }
            None => {}
        }
    }
    match kind.and_then(by_kind).or_else(|| by_text(text)) {
        Some(class) => class,
        None if role == "user" && kind.is_none() => Class::Said,
        None => Class::Injected(InjectedBy::Other),
    }
}

fn by_kind(kind: &str) -> Option<Class> {
    let family = kind.split_once('.').map_or(kind, |(family, _)| family);
    Some(Class::Injected(match (family, kind) {
        ("user", _) => return Some(Class::Said),
        (_, "shell.user_command") => return Some(Class::Shell),
        (_, "generic.turn_aborted") => InjectedBy::Reminder,
        (_, "multi_agent.subagent_notification") => InjectedBy::Other,
        ("environments", _) => InjectedBy::Environment,
        ("host_skills" | "skills", _) => InjectedBy::Skill,
        ("hooks", _) => InjectedBy::Hook,
        ("shell", _) => InjectedBy::Command,
        ("compaction", _) => InjectedBy::Compaction,
        ("token_budget" | "current_time" | "network_proxy", _) => InjectedBy::Reminder,
        (
            "agents_md" | "permissions" | "model" | "model_switch" | "multi_agent" | "tools" | "plugins"
            | "generic" | "guardian" | "collaboration" | "collaboration_mode" | "personality" | "apps",
            _,
        ) => InjectedBy::Instructions,
        _ => return None,
    }))
}

struct Mark {
    /// How the text begins, in lower case.
    open: &'static str,
    /// What must stand in it too, in lower case, where a person could type the beginning.
    with: &'static str,
    by: InjectedBy,
}

const fn mark(open: &'static str, by: InjectedBy) -> Mark {
    Mark { open, with: "", by }
}

const MARKS: [Mark; 33] = [
    Mark { open: "# agents.md instructions", with: "<instructions>", by: InjectedBy::Instructions },
    mark("<user_instructions>", InjectedBy::Instructions),
    mark("<environment_context>", InjectedBy::Environment),
    mark("<environments_instructions>", InjectedBy::Instructions),
    mark("<skills_instructions>", InjectedBy::Skill),
    Mark { open: "<skill>", with: "</skill>", by: InjectedBy::Skill },
    Mark { open: "<hook_prompt", with: "</hook_prompt>", by: InjectedBy::Hook },
    mark("<turn_aborted>", InjectedBy::Reminder),
    mark("<subagent_notification>", InjectedBy::Other),
    mark("<permissions instructions>", InjectedBy::Instructions),
    mark("<collaboration_mode>", InjectedBy::Instructions),
    mark("<multi_agent_mode>", InjectedBy::Instructions),
    mark("<model_switch>", InjectedBy::Instructions),
    mark("<personality_spec>", InjectedBy::Instructions),
    mark("<apps_instructions>", InjectedBy::Instructions),
    mark("<plugins_instructions>", InjectedBy::Instructions),
    mark("<recommended_plugins>", InjectedBy::Instructions),
    Mark { open: "<tools>", with: "</tools>", by: InjectedBy::Instructions },
    mark("<token_budget>", InjectedBy::Reminder),
    mark("<context_window>", InjectedBy::Reminder),
    mark("<context_window_guidance>", InjectedBy::Reminder),
    mark("<rollout_budget>", InjectedBy::Reminder),
    mark("<realtime_conversation>", InjectedBy::Other),
    mark("<codex_internal_context", InjectedBy::Other),
    mark("<goal_context>", InjectedBy::Other),
    Mark { open: "<user_action>", with: "</user_action>", by: InjectedBy::Command },
    mark("warning: apply_patch was requested via exec_command", InjectedBy::Other),
    mark("warning: the maximum number of unified exec processes", InjectedBy::Other),
    mark("warning: your account was flagged", InjectedBy::Other),
    mark(
        "another language model started to solve this problem and produced a summary",
        InjectedBy::Compaction,
    ),
    mark("<developer_instructions>", InjectedBy::Instructions),
    mark("<network_proxy", InjectedBy::Reminder),
    mark("<current_time>", InjectedBy::Reminder),
];

fn by_text(text: &str) -> Option<Class> {
    let text = text.trim();
    // Nearly every prompt of a person begins with none of these.
    if !text.starts_with(['<', '#', 'w', 'W', 'a', 'A']) {
        return None;
    }
    if opens(text, "<user_shell_command>") {
        return Some(Class::Shell);
    }
    let found =
        MARKS.iter().find(|mark| opens(text, mark.open) && (mark.with.is_empty() || holds(text, mark.with)));
    found.map(|mark| Class::Injected(mark.by)).or_else(|| external(text))
}

/// `<external_KEY>…</external_KEY>`
fn external(text: &str) -> Option<Class> {
    let name = text.strip_prefix("<external_")?.split_once('>')?.0;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let closed = text.strip_suffix('>').and_then(|text| text.strip_suffix(name));
    let closed = closed.is_some_and(|text| text.ends_with("</external_"));
    (plain && closed).then_some(Class::Injected(InjectedBy::Other))
}

fn opens(text: &str, lower: &str) -> bool {
    text.as_bytes().get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower.as_bytes()))
}

fn holds(text: &str, lower: &str) -> bool {
    text.as_bytes().windows(lower.len()).any(|window| window.eq_ignore_ascii_case(lower.as_bytes()))
}

/// Returns the editor's context and the prompt of a message that an editor's extension put together.
pub(crate) fn editor_prompt(text: &str) -> Option<(&str, &str)> {
    const HEAD: &str = "## My request for Codex:";
    let at = text
        .match_indices(HEAD)
        .map(|(at, _)| at)
        .find(|&at| at > 0 && text.as_bytes().get(at - 1) == Some(&b'\n'))?;
    let (context, prompt) = text.split_at_checked(at)?;
    let (context, prompt) = (context.trim(), prompt.get(HEAD.len()..)?.trim());
    (!context.is_empty()).then_some((context, prompt))
}

/// Returns the command and the output of a shell command the person ran in the client.
pub(crate) fn shell_command(text: &str) -> Option<(&str, &str)> {
    let command = between(text, "<command>", "</command>")?;
    Some((command, between(text, "<result>", "</result>").unwrap_or_default()))
}

/// Returns the directory in an `<environment_context>`.
pub(crate) fn environment_cwd(text: &str) -> Option<&str> {
    opens(text.trim_start(), "<environment_context>").then(|| between(text, "<cwd>", "</cwd>"))?
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    let (inner, _) = rest.rsplit_once(close)?;
    Some(inner.trim_matches('\n'))
}

/// Says whether a text part is one of the two tags around a local image.
pub(crate) fn is_image_tag(text: &str) -> bool {
    let text = text.trim();
    let opening = (text.starts_with("<image ") || text == "<image>") && text.ends_with('>');
    text == "</image>" || (opening && !text.get(1..).unwrap_or_default().contains('<'))
}

/// Returns the file in the tag that opens a local image.
pub(crate) fn image_path(text: &str) -> Option<&str> {
    text.split_once("path=\"")?.1.split_once('"').map(|(path, _)| path)
}

/// Returns a compaction's summary without the sentence the client puts before it.
pub(crate) fn summary(message: &str) -> &str {
    let preface = opens(message, "another language model started to solve this problem");
    match message.split_once('\n') {
        Some((_, summary)) if preface => summary,
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_is_told_in_any_case_and_a_typed_word_is_not() {
        let by_user = |text| class("user", text, None, None);
        let injected = Class::Injected;
        assert_eq!(by_user("  <ENVIRONMENT_CONTEXT>x"), injected(InjectedBy::Environment));
        assert_eq!(by_user("<skill>do it"), Class::Said);
        assert_eq!(by_user("<skill>\nx\n</skill>"), injected(InjectedBy::Skill));
        assert_eq!(by_user("# AGENTS.md instructions are bad"), Class::Said);
        assert_eq!(
            by_user("# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
            injected(InjectedBy::Instructions)
        );
        assert_eq!(by_user("<external_notes>x</external_notes>"), injected(InjectedBy::Other));
        assert_eq!(by_user("<external_notes>x"), Class::Said);
        assert_eq!(by_user("do it\n<stdin>\nx\n</stdin>"), Class::Said);
        assert_eq!(class("developer", "x", None, None), injected(InjectedBy::Other));
    }

    #[test]
    fn provenance_is_trusted_over_role_and_kind() {
        let harness: Provenance<'_> = serde_json::from_str(r#"{"type":"harness","hook":false}"#).unwrap();
        let hook: Provenance<'_> = serde_json::from_str(r#"{"type":"harness","hook":true}"#).unwrap();
        let user: Provenance<'_> = serde_json::from_str(r#"{"type":"user"}"#).unwrap();
        assert_eq!(class("user", "x", Some("user.text"), Some(&harness)), Class::Injected(InjectedBy::Other));
        assert_eq!(class("user", "x", Some("unknown"), Some(&hook)), Class::Injected(InjectedBy::Hook));
        assert_eq!(class("developer", "<skill>x</skill>", None, Some(&user)), Class::Said);
        assert_eq!(class("user", "x", Some("never.seen"), None), Class::Injected(InjectedBy::Other));
        assert_eq!(class("user", "x", Some("unknown"), None), Class::Said);
    }

    #[test]
    fn an_editor_prompt_is_cut_in_two() {
        let text =
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(
            editor_prompt(text),
            Some(("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs", "fix it"))
        );
        assert_eq!(editor_prompt("what does `## My request for Codex:` mean"), None);
    }

    #[test]
    fn tags_around_an_image_are_no_text() {
        assert!(is_image_tag("<image name=[Image #1] path=\"/a b.png\">") && is_image_tag("</image>"));
        assert!(!is_image_tag("<image>x</image>") && !is_image_tag("<images>"));
        assert_eq!(image_path("<image name=[Image #1] path=\"/a b.png\">"), Some("/a b.png"));
    }
}
