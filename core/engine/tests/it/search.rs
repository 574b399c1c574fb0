//! Searching what was read.

use crate::world::{World, jsonl, session_row};
use scrollback_core::Role;
use scrollback_store::{Filter, Kinds, Query, Sort, Store};

const A: [&str; 9] = [
    r#"{"session":"A","cwd":"/nowhere/app","text":"The connection was refused by parseHTTPHeader","at":"2026-01-01T10:00:00Z"}"#,
    r#"{"role":"assistant","text":"snake_case_name in src/net/socket.rs","at":"2026-01-01T10:01:00Z"}"#,
    r#"{"call":"c","tool":"Bash","input":{"cmd":"grep refused src/net"},"at":"2026-01-01T10:02:00Z"}"#,
    r#"{"result":"refused: zebra","call":"c","at":"2026-01-01T10:03:00Z"}"#,
    r#"{"kind":"thinking","text":"refused, perhaps a walrus","at":"2026-01-01T10:04:00Z"}"#,
    r#"{"kind":"injected","text":"refused giraffe","at":"2026-01-01T10:05:00Z"}"#,
    r#"{"kind":"note","text":"a note: refused","at":"2026-01-01T10:06:00Z"}"#,
    r#"{"text":"unrelated","at":"2026-01-01T10:07:00Z"}"#,
    r#"{"role":"assistant","text":"refused refused refused","at":"2026-01-01T10:08:00Z"}"#,
];
const B: [&str; 2] = [
    r#"{"session":"B","cwd":"/nowhere/web","text":"refused in the web","at":"2026-02-01T10:00:00Z"}"#,
    r#"{"kind":"decision","text":"refuse nothing: 日本語","at":"2026-02-01T10:01:00Z"}"#,
];

fn world() -> World {
    let world = World::new();
    world.append("a.jsonl", jsonl(&A));
    world.append("b.jsonl", jsonl(&B));
    world.tail();
    world
}

fn search(store: &Store, query: &str, filter: &Filter<'_>, sort: Sort) -> Vec<String> {
    let found = store.search(&Query::parse(query).unwrap(), filter, sort, 50).unwrap();
    found.hits.into_iter().map(|hit| hit.text).collect()
}

fn newest(store: &Store, query: &str) -> Vec<String> {
    search(store, query, &Filter::default(), Sort::Newest)
}

#[test]
fn words_phrases_prefixes_and_operators() {
    let world = world();
    let store = world.store();
    let cases = [
        ("refused", 5),
        ("REFUSED", 5),
        ("refused connection", 1),
        ("\"connection was refused\"", 1),
        ("\"refused was\"", 0),
        ("refus*", 6),
        ("refus", 0),
        ("web OR socket", 2),
        ("refused NOT web", 4),
        ("HTTP", 1),
        ("header", 1),
        ("parseHTTPHeader", 1),
        ("HTTPHeader", 1),
        ("snake", 1),
        ("snake_case_name", 1),
        ("case_name", 1),
        ("src/net/socket.rs", 1),
        ("src/net", 2),
        ("net/socket", 1),
        ("本語", 1),
        ("Bash", 1),
        ("zebra OR walrus OR giraffe", 0),
        ("refused; DROP \"", 0),
        ("tokens : ruser", 0),
        ("s1", 0),
    ];
    for (query, hits) in cases {
        assert_eq!(newest(&store, query).len(), hits, "{query}: {:?}", newest(&store, query));
    }
}

#[test]
fn filters_leave_out_the_rest() {
    let world = world();
    let store = world.store();
    let time = |text: &str| Some(text.parse().unwrap());
    let row = session_row(&store, "B").row;
    let all = Filter::default();
    let cases = [
        ("client", Filter { client: Some("acme"), ..all.clone() }, 5),
        ("other client", Filter { client: Some("other"), ..all.clone() }, 0),
        ("project", Filter { project: Some("web"), ..all.clone() }, 1),
        ("whole project", Filter { project: Some("/nowhere/app"), ..all.clone() }, 4),
        ("other project", Filter { project: Some("pp"), ..all.clone() }, 0),
        ("session", Filter { session: Some(row), ..all.clone() }, 1),
        ("since", Filter { since: time("2026-01-01T10:06:00Z"), ..all.clone() }, 3),
        ("until", Filter { until: time("2026-01-01T10:06:00Z"), ..all.clone() }, 2),
        ("user", Filter { role: Some(Role::User), ..all.clone() }, 2),
        ("assistant", Filter { role: Some(Role::Assistant), ..all.clone() }, 1),
        ("messages", Filter { kinds: Kinds::named("message").unwrap(), ..all.clone() }, 3),
        ("calls", Filter { kinds: Kinds::named("tool_call").unwrap(), ..all.clone() }, 1),
        ("notes", Filter { kinds: Kinds::named("note").unwrap(), ..all.clone() }, 1),
        ("by dev", Filter { actor: Some("user:dev"), ..all.clone() }, 3),
        ("by people", Filter { actor: Some("user"), ..all.clone() }, 3),
        ("by the agent", Filter { actor: Some("acme"), ..all.clone() }, 2),
        ("by nobody", Filter { actor: Some("nobody"), ..all.clone() }, 0),
    ];
    for (name, filter, hits) in cases {
        let newest = search(&store, "refused", &filter, Sort::Newest);
        assert_eq!(newest.len(), hits, "{name}: {newest:?}");
        let best = search(&store, "refused", &filter, Sort::Relevance);
        assert!(best.len() <= hits && best.is_empty() == (hits == 0), "{name}: {best:?}");
    }
}

#[test]
fn newest_first_or_the_best_of_each_turn_with_messages_first() {
    let world = world();
    let store = world.store();
    let newest = newest(&store, "refused");
    assert_eq!(
        (newest[0].as_str(), newest[4].as_str()),
        ("refused in the web", "The connection was refused by parseHTTPHeader")
    );
    let best = search(&store, "refused", &Filter::default(), Sort::Relevance);
    assert_eq!(best.len(), 3, "three turns: {best:?}");
    let both = Filter { session: Some(session_row(&store, "A").row), ..Filter::default() };
    let best = search(&store, "refused src", &both, Sort::Relevance);
    assert_eq!(best, ["Bash\ncmd\ngrep refused src/net"]);
    let best = search(&store, "src", &both, Sort::Relevance);
    assert_eq!(best, ["snake_case_name in src/net/socket.rs"], "of one turn the message, not the call");
}

#[test]
fn injected_text_is_never_the_users() {
    let world = world();
    let store = world.store();
    let injected = Kinds::named("injected").unwrap();
    let filter = |role| Filter { kinds: Kinds::ALL, role, ..Filter::default() };
    assert!(search(&store, "giraffe", &filter(Some(Role::User)), Sort::Newest).is_empty());
    assert_eq!(search(&store, "giraffe", &filter(None), Sort::Newest), ["refused giraffe"]);
    let both = Filter { kinds: injected, role: Some(Role::User), ..Filter::default() };
    assert!(search(&store, "giraffe", &both, Sort::Newest).is_empty());
}

#[test]
fn thinking_and_results_are_scanned_and_the_answer_says_how_far() {
    let world = world();
    let store = world.store();
    for (kind, word) in [("thinking", "walrus"), ("tool_result", "zebra")] {
        let filter = Filter { kinds: Kinds::named(kind).unwrap(), ..Filter::default() };
        let found = store.search(&Query::parse(word).unwrap(), &filter, Sort::Relevance, 9).unwrap();
        assert_eq!((found.hits.len(), found.hits[0].kind), (1, kind));
        let scan = found.scan.unwrap();
        assert_eq!((scan.sessions, scan.of), (2, 2));
        let other = Filter { until: Some("2025-01-01T00:00:00Z".parse().unwrap()), ..filter };
        assert!(search(&store, word, &other, Sort::Newest).is_empty());
    }
}

#[test]
fn a_search_without_words_says_so() {
    assert!(Query::parse("- .").is_err());
    assert!(Query::parse("NOT a").is_err());
}
