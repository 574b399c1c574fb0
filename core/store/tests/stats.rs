//! Counting what is stored.
#![expect(clippy::unwrap_used, reason = "what a test lays out is there, or the test fails")]

use scrollback_core::{
    Body, Event, EventId, Facts, Order, Origin, Role, Timestamp, Turn, Usage, Whose, Withdraw,
};
use scrollback_store::{By, Claim, Key, Put, SessionFilter, Stats, Store, Totals, Writer};
use std::borrow::Cow;
use std::path::Path;

fn at(time: &str) -> Timestamp {
    format!("2025-03-04T{time}Z").parse().unwrap()
}

fn store(fill: impl Fn(&mut Writer<'_>)) -> Store {
    let mut store = Store::open_in_memory().unwrap();
    let mut writer = store.writer().unwrap();
    fill(&mut writer);
    writer.commit().unwrap();
    store
}

/// Puts an event as the n-th record of its session's file.
fn put(writer: &mut Writer<'_>, client: &str, n: u64, event: &Event<'_>) {
    let path = format!("/{client}/{}", event.session);
    let source = writer.source(Path::new(&path), None, client).unwrap();
    let claim =
        Claim { source, generation: 0, record: n, part: 0, offset: n * 10, length: 10, born_ns: source };
    let content = *event.id.as_bytes();
    writer
        .event(&Put { client, event, content, actor: None, project: None, attachments: &[], claim })
        .unwrap();
}

fn event<'e>(session: &'e str, name: &str, time: &str, body: Body<'e>) -> Event<'e> {
    Event::new(EventId::of("test", &[session, name]), session, body).at(Some(at(time)))
}

fn prompt<'e>(session: &'e str, name: &str, time: &str) -> Event<'e> {
    event(session, name, time, Body::message(Role::User, "Do it."))
}

fn reply<'e>(session: &'e str, name: &str, time: &str, model: &'e str) -> Event<'e> {
    event(session, name, time, Body::message(Role::Assistant, "Done.")).model(Some(model.into()))
}

fn call<'e>(session: &'e str, name: &str, time: &str) -> Event<'e> {
    event(session, name, time, Body::call("call", "Bash", "{}"))
}

fn whose(session: &str) -> Whose<'_> {
    Whose::Session(Cow::Borrowed(session))
}

/// Returns the day an hour and a half east of Greenwich.
fn east(at: Timestamp) -> String {
    let there = Timestamp::from_micros(at.micros() + 90 * 60 * 1_000_000).unwrap();
    there.to_string()[..10].to_owned()
}

fn stats(store: &Store, by: By) -> Stats {
    store.stats(&SessionFilter::default(), None, by, &east).unwrap()
}

fn of_client(client: &str) -> Key {
    Key { client: client.to_owned(), ..Key::default() }
}

fn of_day(day: &str) -> Key {
    Key { day: day.to_owned(), ..Key::default() }
}

const CLIENT: By = By { client: true, project: false, model: false, day: false };
const DAY: By = By { client: false, project: false, model: false, day: true };
const MODEL: By = By { client: false, project: false, model: true, day: false };

#[test]
fn what_happened_is_counted_by_client() {
    let store = store(|writer| {
        put(writer, "one", 0, &prompt("s1", "a", "10:00:00"));
        put(writer, "one", 1, &call("s1", "b", "10:01:00"));
        put(writer, "one", 2, &call("s1", "c", "10:02:00"));
        put(writer, "one", 3, &prompt("s1", "d", "10:03:00").turn(Turn::Joins));
        put(writer, "one", 0, &prompt("s2", "a", "10:04:00"));
        put(writer, "other", 0, &prompt("s3", "a", "10:05:00"));
    });
    let one = Totals { sessions: 2, turns: 2, tool_calls: 2, ..Totals::default() };
    let other = Totals { sessions: 1, turns: 1, ..Totals::default() };
    let counted = stats(&store, CLIENT);
    assert_eq!(counted.rows, [(of_client("one"), one), (of_client("other"), other)]);
    assert_eq!(counted.total, Totals { sessions: 3, turns: 3, tool_calls: 2, ..Totals::default() });
    let all = stats(&store, By::default());
    assert_eq!(all.rows, [(Key::default(), counted.total)]);
}

#[test]
fn a_response_is_counted_once() {
    let mut copied = prompt("fork", "x", "10:00:00").origin(Origin::Copied { from: Some("main".into()) });
    copied.id = EventId::of("test", &["main", "a"]);
    let holder = copied.id;
    let usage = |input, output| Usage { input: Some(input), output: Some(output), ..Usage::default() };
    let store = store(|writer| {
        // The copy is read first, and says what its response cost as well.
        put(writer, "one", 0, &copied);
        let of = Whose::HolderOf(holder);
        writer.usage("one", "r1", &of, Some("m"), Some(at("10:00:00")), usage(100, 5)).unwrap();
        put(writer, "one", 0, &prompt("main", "a", "10:00:00"));
        writer.usage("one", "r1", &of, Some("m"), Some(at("10:00:00")), usage(100, 20)).unwrap();
        writer.usage("one", "r1", &whose("main"), Some("m"), Some(at("10:00:01")), usage(100, 7)).unwrap();
        writer.usage("one", "r2", &whose("main"), Some("m"), None, usage(1, 2)).unwrap();
    });
    let total = stats(&store, CLIENT).total;
    let expected = Usage { input: Some(101), output: Some(22), ..Usage::default() };
    assert_eq!((total.sessions, total.responses, total.usage), (1, 2, expected));
}

#[test]
fn what_was_withdrawn_is_no_turn_and_no_call_but_cost_its_tokens() {
    let store = store(|writer| {
        put(writer, "one", 0, &prompt("s", "a", "10:00:00"));
        put(writer, "one", 1, &prompt("s", "b", "10:01:00"));
        put(writer, "one", 2, &call("s", "c", "10:02:00"));
        let usage = Usage { output: Some(9), ..Usage::default() };
        writer.usage("one", "r", &whose("s"), None, Some(at("10:02:00")), usage).unwrap();
        let order = Order { rank: 0, place: Some((1, 0)) };
        let at = Claim { source: 1, generation: 0, record: 3, part: 0, offset: 30, length: 10, born_ns: 1 };
        writer.withdraw("one", &Withdraw::FromOrder { session: "s".into(), order }, &at, None).unwrap();
    });
    let usage = Usage { output: Some(9), ..Usage::default() };
    assert_eq!(
        stats(&store, CLIENT).total,
        Totals { sessions: 1, turns: 1, tool_calls: 0, responses: 1, usage }
    );
}

#[test]
fn a_day_is_the_readers_and_a_session_of_two_days_is_one() {
    let store = store(|writer| {
        put(writer, "one", 0, &prompt("s", "a", "22:29:59.999999"));
        put(writer, "one", 1, &prompt("s", "b", "22:30:00"));
        put(writer, "one", 2, &prompt("s", "c", "23:59:00"));
        put(writer, "one", 3, &prompt("s", "d", "23:59:30").at(None));
        let usage = Usage { output: Some(9), ..Usage::default() };
        writer.usage("one", "r", &whose("s"), None, Some(at("22:31:00")), usage).unwrap();
        let long_ago = "1969-12-31T22:29:00Z".parse().unwrap();
        put(writer, "one", 4, &prompt("s", "e", "00:00:00").at(Some(long_ago)));
    });
    let counted = stats(&store, DAY);
    let turns: Vec<_> =
        counted.rows.iter().map(|(key, totals)| (key.clone(), totals.turns, totals.responses)).collect();
    assert_eq!(
        turns,
        [
            (of_day(""), 1, 0),
            (of_day("1969-12-31"), 1, 0),
            (of_day("2025-03-04"), 1, 0),
            (of_day("2025-03-05"), 2, 1),
        ]
    );
    assert!(counted.rows.iter().all(|(_, totals)| totals.sessions == 1));
    assert_eq!((counted.total.sessions, counted.total.turns), (1, 5));
}

#[test]
fn an_event_without_a_model_is_of_its_sessions() {
    let store = store(|writer| {
        let facts = Facts { model: Some("large".into()), ..Facts::default() };
        writer.facts("one", &whose("s"), &facts, None).unwrap();
        put(writer, "one", 0, &prompt("s", "a", "10:00:00"));
        put(writer, "one", 1, &reply("s", "b", "10:01:00", "small"));
        // Of a response that gave no event, the session is known all the same.
        let usage = Usage { output: Some(9), ..Usage::default() };
        writer.usage("one", "r", &whose("s"), Some("tiny"), Some(at("10:02:00")), usage).unwrap();
    });
    let counted = stats(&store, MODEL);
    let rows: Vec<_> = counted
        .rows
        .iter()
        .map(|(key, totals)| (key.model.as_str(), totals.sessions, totals.turns, totals.responses))
        .collect();
    assert_eq!(rows, [("large", 1, 1, 0), ("small", 1, 0, 0), ("tiny", 1, 0, 1)]);
    assert_eq!(counted.total.sessions, 1);
}

#[test]
fn filters_leave_out_what_is_not_wanted() {
    let store = store(|writer| {
        writer.facts("one", &whose("s1"), &Facts::default(), Some("/home/dev/app")).unwrap();
        writer.facts("one", &whose("s2"), &Facts::default(), Some("/home/dev/my_app")).unwrap();
        put(writer, "one", 0, &prompt("s1", "a", "10:00:00"));
        put(writer, "one", 1, &prompt("s1", "b", "11:00:00"));
        put(writer, "one", 0, &prompt("s2", "a", "10:00:00"));
        put(writer, "other", 0, &prompt("s3", "a", "10:00:00"));
        let usage = Usage { output: Some(9), ..Usage::default() };
        writer.usage("one", "r", &whose("s1"), None, Some(at("11:00:00")), usage).unwrap();
    });
    let counted = |filter: SessionFilter<'_>| {
        let total = store.stats(&filter, None, CLIENT, &east).unwrap().total;
        (total.sessions, total.turns, total.responses)
    };
    let all = SessionFilter::default;
    assert_eq!(counted(SessionFilter { client: Some("one"), ..all() }), (2, 3, 1));
    assert_eq!(counted(SessionFilter { project: Some("app"), ..all() }), (1, 2, 1));
    assert_eq!(counted(SessionFilter { since: Some(at("11:00:00")), ..all() }), (1, 1, 1));
    assert_eq!(counted(SessionFilter { until: Some(at("11:00:00")), ..all() }), (3, 3, 0));
    let s2 = store.find_session(None, "s2").unwrap().remove(0);
    assert_eq!(store.stats(&all(), Some(&s2), CLIENT, &east).unwrap().total.turns, 1);
    assert_eq!(stats(&Store::open_in_memory().unwrap(), CLIENT), Stats::default());
}
