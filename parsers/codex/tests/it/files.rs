//! What holds for every file.

use crate::support::{Transcript, examples, rollouts};
use scrollback_core::{Body, Said, Score};
use scrollback_parser_codex::Codex;
use std::path::PathBuf;

/// The crate's own examples and, where they are at hand, the larger collection.
#[expect(clippy::disallowed_methods, reason = "where the larger collection is, the environment says")]
#[expect(clippy::print_stderr, reason = "a part of the test that did not run must be seen")]
fn every_file() -> Vec<Transcript> {
    let mut paths = examples();
    match std::env::var_os("SCROLLBACK_FIXTURES") {
        Some(folder) => {
            let mut more = rollouts(&PathBuf::from(folder).join("codex"));
            more.retain(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                ["gen-", "pub-", "rollout-"].iter().any(|start| name.starts_with(start))
            });
            paths.extend(more);
        }
        None => eprintln!("SCROLLBACK_FIXTURES is not set: the larger collection was skipped"),
    }
    paths.iter().map(|path| Transcript::read(path)).collect()
}

#[test]
fn every_record_says_something() {
    for file in every_file() {
        for (index, record) in file.told().records.iter().enumerate() {
            let said = record.as_ref().map_or(1, Vec::len);
            assert!(said > 0, "{}: nothing was said of record {index}", file.path.display());
        }
    }
}

#[test]
fn only_made_up_kinds_are_unknown_and_only_a_torn_line_is_unreadable() {
    for file in every_file() {
        let told = file.told();
        let odd = file.path.to_string_lossy().contains("legacy-odds");
        let unreadable = told.records.iter().filter(|record| record.is_err()).count();
        assert_eq!(unreadable, usize::from(odd), "{}", file.path.display());
        let unknown: Vec<&str> =
            told.unknown().into_iter().filter(|kind| !kind.contains("never_seen")).collect();
        let expected: &[&str] = if odd { &["not an object"] } else { &[] };
        assert_eq!(unknown, expected, "{}", file.path.display());
    }
}

#[test]
fn nothing_put_there_by_the_client_is_a_prompt() {
    const WRAPPERS: [&str; 12] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<permissions",
        "<skills_instructions>",
        "<turn_aborted>",
        "<hook_prompt",
        "<subagent_notification>",
        "<user_shell_command>",
        "<collaboration_mode>",
        "<image ",
        "Another language model started",
    ];
    let mut prompts = 0;
    for file in every_file() {
        for event in file.told().events() {
            if let Body::Message { text, .. } = &event.body {
                prompts += 1;
                let wrapped = WRAPPERS.iter().find(|wrapper| text.trim_start().starts_with(*wrapper));
                assert_eq!(wrapped, None, "{}: {text}", file.path.display());
            }
        }
    }
    assert!(prompts > 100);
}

#[test]
fn each_id_is_told_once_in_a_file() {
    for file in every_file() {
        if file.path.to_string_lossy().contains("all-kinds-shapes") {
            // Its ids were all replaced by one.
            continue;
        }
        let told = file.told();
        let mut ids: Vec<_> = told.events().iter().map(|event| event.id).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{}", file.path.display());
    }
}

#[test]
fn reading_in_any_number_of_runs_says_the_same() {
    for file in every_file() {
        let world = crate::support::World::default();
        let once = file.told();
        let each = file.told_on(&world, |_| true);
        assert_eq!(once, each, "{}", file.path.display());
        let step = file.lines.len().div_ceil(12).max(1);
        for stop in (0..file.lines.len()).step_by(step) {
            let twice = file.told_on(&world, |index| index == stop);
            assert_eq!(once, twice, "{} stopped after {stop}", file.path.display());
        }
    }
}

#[test]
fn a_call_comes_before_its_result_which_has_it_as_parent() {
    let mut results = 0;
    for file in every_file() {
        let told = file.told();
        let events = told.events();
        for (at, event) in events.iter().enumerate() {
            let Body::ToolResult { call_id, .. } = &event.body else { continue };
            let call = events[..at].iter().rfind(|call| {
                matches!(&call.body, Body::ToolCall { call_id: of, .. } if of == call_id)
                    && call.origin == event.origin
            });
            if let Some(call) = call {
                results += 1;
                assert_eq!(event.parent, Some(call.id), "{}: {call_id}", file.path.display());
            }
        }
    }
    assert!(results > 50);
}

#[test]
fn usage_adds_up_to_what_the_thread_says() {
    let sum = |name: &str| {
        let file = crate::support::example(name);
        let told = file.told();
        let thread = told.facts()[0].0.to_owned();
        let mut responses = std::collections::BTreeMap::new();
        for (session, response, usage) in told.usage() {
            assert_eq!(session, thread);
            responses.insert(response.to_owned(), usage);
        }
        responses.values().fold([0; 4], |sum, usage| {
            let counts = [usage.input, usage.cache_read, usage.output, usage.reasoning];
            [0, 1, 2, 3].map(|at| sum[at] + counts[at].unwrap())
        })
    };
    // thread_token_usage of the last record: 301 in, of which 120 cached; 60 out, of which 21 reasoning.
    assert_eq!(sum("0.171.0/base-resumed.jsonl"), [181, 120, 60, 21]);
    // total_token_usage of the last token_count: 936, 360; 180, 63.
    assert_eq!(sum("0.47.0/legacy-envelope-resumed.jsonl"), [576, 360, 180, 63]);
    // 303, 120; 60, 21.
    assert_eq!(sum("0.171.0/compacted.jsonl"), [183, 120, 60, 21]);
    // 21,114 in all: 17 responses of 1,200 and 42.
    let walk = "0.171.0-walk/rollout-2026-11-30T20-46-39-01a22e35-adc4-7e23-a02d-3ce26c009c8c.jsonl";
    assert_eq!(sum(walk), [17 * 1200, 0, 17 * 42, 17 * 8]);
}

#[test]
fn every_file_is_known_for_a_rollout() {
    for file in every_file() {
        assert_eq!(file.score(), Score::Sure, "{}", file.path.display());
    }
    let registry = scrollback_core::Registry::linked().unwrap();
    assert_eq!(registry.parser("codex").unwrap().spec().name, "Codex");
    let _: &dyn scrollback_core::Parser = &Codex;
}

#[test]
fn a_session_is_never_called_by_another_name() {
    for file in every_file() {
        let told = file.told();
        let mut sessions: Vec<&str> = told.events().iter().map(|event| &*event.session).collect();
        sessions.dedup();
        assert!(sessions.len() <= 1, "{}: {sessions:?}", file.path.display());
        let own =
            told.all().any(|said| matches!(said, Said::Facts(..) | Said::Usage { .. } | Said::Nothing(_)));
        assert!(own, "{}", file.path.display());
    }
}
