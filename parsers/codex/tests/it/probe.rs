//! Telling a rollout from what looks like one.

use crate::support::{Transcript, World};
use scrollback_core::{Parser as _, Score};
use scrollback_parser_codex::Codex;

fn score(name: &str, bytes: &str) -> Score {
    Transcript::of(name, bytes.as_bytes()).score()
}

#[test]
fn other_programs_lines_are_not_rollouts() {
    for line in [
        r#"{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}"#,
        r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"x"}}"#,
        r#"{"ts":"2026-01-01T00:00:00Z","dir":"to_tui","kind":"session_start"}"#,
        r#"{"jsonrpc":"2.0","method":"item/completed","params":{}}"#,
        r#"{"session_id":"0199a213-81c0-7800-8aa1-bbab2a035a53","ts":1760000000,"text":"hi"}"#,
        r#"{"id":"0199a213-81c0-7800-8aa1-bbab2a035a53","thread_name":"x","updated_at":"2026-01-01T00:00:00Z"}"#,
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"\"session_meta\" \"payload\""},"uuid":"c0a52ff7-60cc-4f6e-a6ec-bff41b06dbdc","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/a"}"#,
        "plain text",
        "",
    ] {
        assert_eq!(score("a.jsonl", line), Score::No, "{line}");
    }
}

#[test]
fn a_first_line_cut_by_the_probe_is_known_by_its_opening() {
    let cut = r#"{"timestamp":"2026-11-30T20:21:47.797Z","type":"session_meta","payload":{"id":"a","base_instructions":"#;
    assert_eq!(score("a.jsonl", cut), Score::Sure);
    assert_eq!(
        score("a.jsonl", r#"{"id":"a","timestamp":"2026-11-30T20:21:47.797Z","instructions":"You"#),
        Score::Sure
    );
    assert_eq!(score("a.jsonl", r#"{"id":"a","instr"#), Score::No);
    let name = "rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c.jsonl";
    assert_eq!(score(name, ""), Score::Maybe);
}

#[test]
fn the_home_is_where_the_client_keeps_it() {
    let homes = Codex.homes(&World::default());
    assert_eq!(homes.include, ["~/.codex/sessions/**/*.jsonl", "~/.codex/archived_sessions/*.jsonl"]);
    let moved = World { codex_home: Some("/data/codex/".to_owned()), ..World::default() };
    assert_eq!(Codex.homes(&moved).include[0], "/data/codex/sessions/**/*.jsonl");
}
