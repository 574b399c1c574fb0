//! Forks that copy, sub-agents that inherit, files begun by a revert.

use crate::support::{Told, Transcript, example};
use scrollback_core::{EventId, Lineage, Origin, Said, Whose, Withdraw};

const PARENT: &str = "handmade/fork/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-00000000000a.jsonl";
const FORK: &str = "handmade/fork/rollout-2026-10-01T10-05-00-01a0f6ec-a8e0-7000-8000-00000000000b.jsonl";
const FORK_OF_FORK: &str =
    "handmade/fork/rollout-2026-10-01T10-10-00-01a0f6f1-3cc0-7000-8000-00000000000c.jsonl";

fn ids(told: &Told<'_>, copied_from: Option<&str>) -> Vec<EventId> {
    let events = told.events().into_iter().filter(|event| match (&event.origin, copied_from) {
        (Origin::Own, None) => true,
        (Origin::Copied { from: Some(from) }, Some(of)) => from == of,
        _ => false,
    });
    events.map(|event| event.id).collect()
}

fn own(file: &Transcript) -> Vec<EventId> {
    ids(&file.told(), None)
}

fn copied(file: &Transcript, from: &str) -> Vec<EventId> {
    ids(&file.told(), Some(from))
}

#[test]
fn what_a_fork_copied_has_the_ids_it_has_in_the_parent() {
    let (parent, fork, deeper) = (example(PARENT), example(FORK), example(FORK_OF_FORK));
    let (first, second) = ("01a0f6e8-1500-7000-8000-00000000000a", "01a0f6ec-a8e0-7000-8000-00000000000b");
    assert_eq!(own(&parent).len(), 11);
    assert_eq!(copied(&fork, first), own(&parent));
    assert_eq!(own(&fork).len(), 2);
    assert_eq!(copied(&deeper, first), own(&parent));
    assert_eq!(copied(&deeper, second), own(&fork));
    assert_eq!(own(&deeper).len(), 1);
}

#[test]
fn a_copy_counts_tokens_for_its_origin_under_the_same_responses() {
    let (parent, fork) = (example(PARENT), example(FORK));
    let (parent, fork) = (parent.told(), fork.told());
    assert_eq!(parent.usage(), fork.usage());
    assert_eq!(parent.usage().len(), 2);
}

#[test]
fn before_turns_had_ids_a_pause_ends_what_was_copied() {
    let parent =
        example("handmade/old-fork/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-0000000000aa.jsonl");
    let fork =
        example("handmade/old-fork/rollout-2026-10-01T10-01-00-01a0f6e8-ff60-7000-8000-0000000000ab.jsonl");
    assert_eq!(copied(&fork, "01a0f6e8-1500-7000-8000-0000000000aa"), own(&parent));
    let own = own(&fork);
    assert_eq!(own.len(), 2);
    let parent = parent.told();
    assert!(own.iter().all(|id| !ids(&parent, None).contains(id)));
}

#[test]
fn a_real_copy_is_told_as_its_parents() {
    let fork = example("0.144.6/legacy-fork-copied.jsonl");
    let told = fork.told();
    let parent = "01a22e2e-05e6-7fc3-b3a9-d5d0dfcca681";
    assert_eq!(ids(&told, None), []);
    assert_eq!(ids(&told, Some(parent)).len(), told.events().len());
    let (session, facts) = told.facts()[0];
    assert_eq!(session, "01a22e32-125b-7612-be9c-7c6851fc1b47");
    assert_eq!((facts.parent_session.as_deref(), facts.lineage), (Some(parent), Some(Lineage::Fork)));
}

#[test]
fn a_fork_that_points_at_its_parent_copies_nothing() {
    let fork = example("0.171.0/fork-of-base.jsonl");
    let told = fork.told();
    assert_eq!(ids(&told, None).len(), told.events().len());
    assert_eq!(told.facts()[0].1.parent_session.as_deref(), Some("01a22e1e-ea09-7f70-8b54-4db0ef7cce6b"));
}

#[test]
fn what_a_sub_agent_inherits_has_the_ids_it_has_in_the_parent() {
    let parent = example("0.171.0/subagent-v2-parent.jsonl");
    let child = example("0.171.0/subagent-v2-child-inherits.jsonl");
    let inherited = copied(&child, "01a22e24-24a2-70f3-b941-7566c72691ad");
    let all = own(&parent);
    assert_eq!(inherited, all[..inherited.len()]);
    assert_eq!(inherited.len(), 10);
    // Two instructions were made for the child, though they stand among what it inherited.
    assert_eq!(own(&child).len(), 9);
}

#[test]
fn parent_and_child_agree_on_what_launched_it() {
    let parent = example("0.171.0/subagent-v2-parent.jsonl");
    let parent = parent.told();
    let child = "01a22e24-2afe-7982-9a1a-80dde2dedf27";
    let (_, facts) = parent.facts().into_iter().find(|(session, _)| *session == child).unwrap();
    assert_eq!(facts.launched_by.as_deref(), Some("call_spawn"));
    assert_eq!(facts.lineage, Some(Lineage::Subagent));
    let own = example("0.171.0/subagent-v2-child-inherits.jsonl");
    let own = own.told();
    let (session, facts) = own.facts()[0];
    assert_eq!((session, facts.agent.as_deref()), (child, Some("Cicero")));
    assert_eq!(facts.parent_session.as_deref(), Some("01a22e24-24a2-70f3-b941-7566c72691ad"));
}

#[test]
fn a_revert_withdraws_what_stood_behind_it_and_goes_on_after_it() {
    let base =
        example("handmade/revert/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-00000000000d.jsonl");
    let later = example(
        "handmade/revert/rollout-2026-10-01T10-00-00-01a0f6e8-1500-7000-8000-00000000000d_01a0f6e9-9ba0-7000-8000-00000000000e.jsonl",
    );
    let (base, later) = (base.told(), later.told());
    let withdrawn = later.all().find_map(|said| match said {
        Said::Withdraw(Withdraw::FromOrder { session, order }) => Some((&**session, *order)),
        _ => None,
    });
    let (session, order) = withdrawn.unwrap();
    assert_eq!(session, "01a0f6e8-1500-7000-8000-00000000000d");
    assert_eq!((order.rank, order.place), (0, Some((6, 0))));
    assert!(base.events().iter().all(|event| event.order.rank == 0));
    assert!(
        later.events().iter().all(|event| event.order.rank == 1_790_848_900_000 && event.session == session)
    );
    // The provider's ids start again in the later file, and name other messages.
    let base = ids(&base, None);
    assert!(ids(&later, None).iter().all(|id| !base.contains(id)));
}

#[test]
fn facts_are_of_the_files_own_thread_or_of_a_child() {
    let fork = example(FORK_OF_FORK);
    for said in fork.told().all() {
        if let Said::Facts(of, _) = said {
            assert_eq!(*of, Whose::Session("01a0f6f1-3cc0-7000-8000-00000000000c".into()));
        }
    }
}
