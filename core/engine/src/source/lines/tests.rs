use super::*;
use std::fs::{FileTimes, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

mod model;

const LIMITS: Limits = Limits { max_line: 32 << 20, chunk: 256 << 10 };
/// When files of these tests were changed; the clock of these tests stands an hour later.
const CHANGED: i64 = 1_800_000_000;

fn now() -> Timestamp {
    Timestamp::from_millis((CHANGED + 3600) * 1000).unwrap()
}

fn days_later() -> Timestamp {
    Timestamp::from_millis((CHANGED + 3 * 86_400) * 1000).unwrap()
}

/// A transcript in a directory of its own.
struct File1 {
    dir: TempDir,
    ticks: std::cell::Cell<u64>,
}

impl File1 {
    fn new(bytes: &[u8]) -> Self {
        let file = Self { dir: TempDir::new().unwrap(), ticks: 0.into() };
        file.replace(bytes);
        file
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    /// Gives the file a time of its own, as a clock finer than the system's would.
    fn tick(&self, file: &File) {
        self.ticks.set(self.ticks.get() + 1);
        let at = SystemTime::UNIX_EPOCH
            + Duration::from_secs(CHANGED.unsigned_abs())
            + Duration::from_millis(self.ticks.get());
        file.set_times(FileTimes::new().set_modified(at)).unwrap();
    }

    fn append(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).open(self.path()).unwrap();
        file.write_all(bytes).unwrap();
        self.tick(&file);
    }

    fn overwrite(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().write(true).truncate(true).open(self.path()).unwrap();
        file.write_all(bytes).unwrap();
        self.tick(&file);
    }

    fn truncate(&self, size: u64) {
        let file = OpenOptions::new().write(true).open(self.path()).unwrap();
        file.set_len(size).unwrap();
        self.tick(&file);
    }

    /// Puts another file in its place; the old one stands beside it, so that its inode is not used again.
    fn replace(&self, bytes: &[u8]) {
        let old = self.dir.path().join(format!("old{}", self.ticks.get()));
        if self.path().exists() {
            std::fs::rename(self.path(), old).unwrap();
        }
        let mut file = File::create(self.path()).unwrap();
        file.write_all(bytes).unwrap();
        self.tick(&file);
    }

    fn open(&self, mark: Option<&LinesMark>) -> (LineReader, Verdict) {
        LineReader::open(&self.path(), mark, 0, LIMITS, now()).unwrap()
    }

    fn read(&self, mark: Option<&LinesMark>) -> (Vec<String>, LinesMark, Verdict) {
        self.read_at(mark, now())
    }

    fn read_at(&self, mark: Option<&LinesMark>, now: Timestamp) -> (Vec<String>, LinesMark, Verdict) {
        let (mut reader, verdict) = LineReader::open(&self.path(), mark, 0, LIMITS, now).unwrap();
        let lines = all(&mut reader);
        (lines, through_serde(&reader.mark()), verdict)
    }
}

fn all(reader: &mut LineReader) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        lines.push(String::from_utf8_lossy(line.bytes).into_owned());
    }
    lines
}

fn through_serde(mark: &LinesMark) -> LinesMark {
    serde_json::from_str(&serde_json::to_string(mark).unwrap()).unwrap()
}

/// Returns so many lines, each its own.
fn numbered(lines: usize) -> String {
    let lines: Vec<String> = (0..lines).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    lines.concat()
}

fn again(head_same: bool, why: Why) -> Verdict {
    Verdict::Again { head_same, why }
}

#[test]
fn lines_are_read_once_and_then_what_was_appended() {
    let file = File1::new(b"{\"a\":1}\n{\"b\":2}\n");
    let (lines, mark, verdict) = file.read(None);
    assert_eq!((lines.len(), verdict), (2, again(false, Why::New)));
    assert_eq!((mark.offset, mark.index, mark.size), (16, 2, 16));
    assert!(LineReader::unchanged(&mark, &stat(&file.path()).unwrap(), now()));
    let (lines, same, verdict) = file.read(Some(&mark));
    assert_eq!((lines.len(), &same, verdict), (0, &mark, Verdict::Unchanged));
    file.append(b"{\"c\":3}\n");
    assert!(!LineReader::unchanged(&mark, &stat(&file.path()).unwrap(), now()));
    let (lines, mark, verdict) = file.read(Some(&mark));
    assert_eq!((lines, verdict), (vec!["{\"c\":3}".to_owned()], Verdict::Append));
    assert_eq!((mark.offset, mark.index), (24, 3));
}

#[test]
fn a_line_says_where_it_stands() {
    let file = File1::new(b"\xef\xbb\xbf {\"a\":1}\r\n\r\n \t\n\0\0{\"b\":2} \n\0\0\n{\"c\"");
    let (mut reader, _) = file.open(None);
    let line = |index, offset, length, bytes, nuls| Line { index, offset, length, bytes, nuls, over: false };
    assert_eq!(reader.next().unwrap(), Some(line(0, 0, 13, b"{\"a\":1}", false)));
    assert_eq!(reader.next().unwrap(), Some(line(1, 18, 11, b"{\"b\":2}", true)));
    assert_eq!(reader.next().unwrap(), Some(line(2, 29, 3, b"", true)));
    assert_eq!(reader.next().unwrap(), None);
    assert_eq!((reader.mark().offset, reader.mark().index), (32, 3));
}

#[test]
fn a_byte_order_mark_is_cut_off_at_the_start_only() {
    let file = File1::new(b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n");
    assert_eq!(file.read(None).0, ["1", "\u{feff}2"]);
}

#[test]
fn what_happened_to_a_source_is_recognised() {
    let long = numbered(2000);
    for text in ["{\"n\":1}\n{\"n\":2}\n", &long] {
        let bytes = text.as_bytes();
        let file = File1::new(bytes);
        let (_, mark, _) = file.read(None);

        file.truncate(8);
        assert_eq!(file.read(Some(&mark)).2, again(false, Why::Truncated));

        file.overwrite(bytes);
        assert_eq!(file.read(Some(&mark)).2, again(true, Why::Edited), "same bytes, another time");
        let (_, mark, _) = file.read(None);

        let mut edited = bytes.to_vec();
        edited[5] = b'7';
        file.overwrite(&edited);
        assert_eq!(file.read(Some(&mark)).2, again(false, Why::Rewritten));

        edited = bytes.to_vec();
        let last = edited.len() - 3;
        edited[last] = b'x';
        edited.extend_from_slice(b"{}\n");
        file.overwrite(&edited);
        let head_same = text.len() > 4096;
        let why = if head_same { Why::Edited } else { Why::Rewritten };
        assert_eq!(file.read(Some(&mark)).2, again(head_same, why));

        file.replace(bytes);
        let (lines, _, verdict) = file.read(Some(&mark));
        assert_eq!(verdict, again(true, Why::Replaced));
        assert_eq!(lines.len(), text.lines().count());

        file.replace(b"{}\n");
        assert_eq!(file.read(Some(&mark)).2, again(false, Why::Replaced));
    }
}

#[test]
fn another_device_number_alone_is_no_other_file() {
    let file = File1::new(b"{\"a\":1}\n");
    let mut mark = file.read(None).1;
    mark.dev += 1;
    assert!(LineReader::unchanged(&mark, &stat(&file.path()).unwrap(), now()));
    assert_eq!(file.read(Some(&mark)).2, Verdict::Unchanged);
    file.append(b"{\"b\":2}\n");
    let (lines, after, verdict) = file.read(Some(&mark));
    assert_eq!((lines.len(), verdict, after.dev), (1, Verdict::Append, mark.dev - 1));
}

#[test]
fn a_mark_with_digests_of_other_lengths_is_not_trusted() {
    let file = File1::new(b"{\"a\":1}\n");
    let mark = file.read(None).1;
    for wrong in
        [LinesMark { offset: 8, ..LinesMark::default() }, LinesMark { offset: u64::MAX, ..mark.clone() }]
    {
        let (lines, _, verdict) = file.read(Some(&wrong));
        assert!(matches!(verdict, Verdict::Again { .. }));
        assert_eq!(lines.len(), 1);
    }
}

#[test]
fn a_head_that_the_client_rewrites_is_no_change() {
    let text = |head: char| {
        format!("{{\"id\":1,\"n\":\"{}\"}}\n{}", head.to_string().repeat(50), "{\"b\":2}\n".repeat(900))
    };
    for (count, vh) in [(1, 64), (1, 65), (60, 64), (text('a').len(), 64)] {
        let file = File1::new(&text('a').as_bytes()[..count.max(66)]);
        let open =
            |mark: Option<&LinesMark>| LineReader::open(&file.path(), mark, vh, LIMITS, now()).unwrap();
        let (mut reader, _) = open(None);
        let before = all(&mut reader).len();
        let mark = through_serde(&reader.mark());
        let mut bytes = text('b').into_bytes();
        bytes.extend_from_slice(b"{\"c\":3}\n");
        file.overwrite(&bytes);
        let (mut reader, verdict) = open(Some(&mark));
        assert_eq!(verdict, Verdict::Append, "{count} {vh}");
        assert_eq!(before + all(&mut reader).len(), 902);
        // And what stands past it still tells.
        bytes[70] = b'x';
        file.overwrite(&bytes);
        if mark.offset > 80 {
            assert_eq!(open(Some(&mark)).1, again(false, Why::Rewritten));
        }
    }
}

#[test]
fn cut_anywhere_no_line_is_half_and_none_is_lost() {
    let text = "{\"a\":1}\r\n\n{\"b\":\"\u{e9}\u{1f600}\"}\n\0\0{\"c\":3}\n{\"d\":4}\n";
    let whole: Vec<String> = File1::new(text.as_bytes()).read(None).0;
    assert_eq!(whole.len(), 4);
    for cut in 0..=text.len() {
        let file = File1::new(&text.as_bytes()[..cut]);
        let (mut lines, mark, _) = file.read(None);
        assert_eq!(lines, whole[..lines.len()], "{cut}");
        file.append(&text.as_bytes()[cut..]);
        let (rest, end, verdict) = file.read(Some(&mark));
        // With nothing appended only the time changed.
        if cut == text.len() {
            assert_eq!(verdict, again(true, Why::Edited));
            lines.clear();
        } else {
            assert_eq!(verdict, Verdict::Append, "{cut}");
        }
        lines.extend(rest);
        assert_eq!(lines, whole, "{cut}");
        assert_eq!((end.offset, end.index), (text.len() as u64, 4));
    }
}

#[test]
fn a_mark_taken_anywhere_goes_on_there_and_is_never_held_to_be_the_end() {
    let text = numbered(1500);
    let file = File1::new(text.as_bytes());
    let whole = file.read(None).0;
    for stop in [0, 1, 2, 7, 400, 499, 500, 1499, 1500] {
        let (mut reader, _) = file.open(None);
        for _ in 0..stop {
            reader.next().unwrap().unwrap();
        }
        let mark = through_serde(&reader.mark());
        assert_eq!(mark.index, stop as u64);
        assert!(!LineReader::unchanged(&mark, &stat(&file.path()).unwrap(), now()), "{stop}");
        let (rest, end, verdict) = file.read(Some(&mark));
        assert_eq!((verdict, &rest[..]), (Verdict::Append, &whole[stop..]));
        assert!(LineReader::unchanged(&end, &stat(&file.path()).unwrap(), now()), "{stop}");
        assert_eq!(end, file.read(None).1);
    }
}

#[test]
fn an_unfinished_last_line_is_read_after_a_day_if_it_parses() {
    let file = File1::new(b"{\"a\":1}\n{\"b\":2}");
    let seen = stat(&file.path()).unwrap();
    let (lines, mark, _) = file.read(None);
    assert_eq!((lines.len(), mark.offset, mark.tried), (1, 8, false));
    assert!(LineReader::unchanged(&mark, &seen, now()));
    assert!(!LineReader::unchanged(&mark, &seen, days_later()));
    let (lines, end, verdict) = file.read_at(Some(&mark), days_later());
    assert_eq!((lines, verdict), (vec!["{\"b\":2}".to_owned()], Verdict::Append));
    assert_eq!((end.offset, end.index, end.tried), (15, 2, false));
    assert!(LineReader::unchanged(&end, &seen, days_later()));
    // It is finished after all: nothing comes twice.
    file.append(b"\n{\"c\":3}\n");
    let (lines, end, _) = file.read_at(Some(&end), days_later());
    assert_eq!((lines, end.index), (vec!["{\"c\":3}".to_owned()], 3));
}

#[test]
fn an_unfinished_last_line_that_does_not_parse_is_tried_once() {
    for rest in ["{\"b\":", "12", "{\"b\":2}{", "\0\0\0", " ", "nul", "{\"b\":\"\u{e9}"] {
        let file = File1::new(format!("{{\"a\":1}}\n{rest}").as_bytes());
        let seen = stat(&file.path()).unwrap();
        let (lines, mark, _) = file.read_at(None, days_later());
        assert_eq!((lines.len(), mark.offset, mark.tried), (1, 8, true), "{rest:?}");
        assert!(LineReader::unchanged(&mark, &seen, days_later()));
        assert_eq!(file.read_at(Some(&mark), days_later()).1, mark);
        file.append(b"\n{\"c\":3}\n");
        let (lines, mark, _) = file.read(Some(&mark));
        assert_eq!((lines.last().unwrap().as_str(), mark.tried), ("{\"c\":3}", false), "{rest:?}");
    }
}

#[test]
fn an_unfinished_last_line_is_read_when_the_session_is_over() {
    let file = File1::new(b"{\"a\":1}\n{\"b\":2} {\"c\":3}");
    let (_, mark, _) = file.read(None);
    let (mut reader, verdict) = file.open(Some(&mark));
    assert_eq!(verdict, Verdict::Unchanged);
    assert_eq!(reader.next().unwrap(), None);
    reader.session_is_over();
    assert_eq!(all(&mut reader), ["{\"b\":2} {\"c\":3}"]);
    assert_eq!(reader.mark().offset, 23);
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let error = |path: &Path| {
        let error = stat(path).unwrap_err();
        let opened = LineReader::open(path, None, 0, LIMITS, now()).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (opened.kind(), opened.to_string()));
        error
    };
    std::fs::create_dir(at("d.jsonl")).unwrap();
    assert_eq!(error(&at("d.jsonl")).to_string(), "a directory, not a file");
    let _socket = std::os::unix::net::UnixListener::bind(at("s.jsonl")).unwrap();
    assert_eq!(error(&at("s.jsonl")).to_string(), "a socket, not a file");
    std::os::unix::fs::symlink(at("l.jsonl"), at("l.jsonl")).unwrap();
    assert_eq!(error(&at("l.jsonl")).to_string(), "a symlink loop, not a file");
    assert_eq!(error(Path::new("/dev/null")).to_string(), "a device, not a file");
    assert_eq!(error(&at("none.jsonl")).kind(), io::ErrorKind::NotFound);
    assert_eq!(error(&at("none/x.jsonl")).kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_link_is_the_file_it_leads_to() {
    let file = File1::new(b"{\"a\":1}\n");
    let link = file.dir.path().join("link");
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    assert_eq!(stat(&link).unwrap(), stat(&file.path()).unwrap());
    let (_, mark, _) = file.read(None);
    assert_eq!(LineReader::open(&link, Some(&mark), 0, LIMITS, now()).unwrap().1, Verdict::Unchanged);
}

#[test]
fn a_line_over_the_limit_is_read_through_in_chunks() {
    let limits = Limits { max_line: 1000, chunk: 100 };
    let giant = "x".repeat(1001);
    let text = format!("{{\"a\":1}}\n{giant}\n{}\n{giant}\r\n{{\"b\":2}}\n{giant}", "y".repeat(1000));
    let file = File1::new(text.as_bytes());
    let open = |mark: Option<&LinesMark>| LineReader::open(&file.path(), mark, 0, limits, now()).unwrap();
    let mut reader = open(None).0;
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"{\"a\":1}");
    assert_eq!(reader.next_chunk().unwrap(), None);
    let before = reader.mark();
    let line = reader.next().unwrap().unwrap();
    assert_eq!((line.over, line.index, line.offset, line.length, line.bytes), (true, 1, 8, 1002, &b""[..]));
    let mut bytes = Vec::new();
    assert_eq!(reader.mark(), before);
    while let Some(chunk) = reader.next_chunk().unwrap() {
        assert!(chunk.len() <= 100);
        bytes.extend_from_slice(chunk);
    }
    assert_eq!(bytes, giant.as_bytes());
    let after = reader.mark();
    assert_eq!((after.offset, after.index), (1010, 2));
    // Both marks lead back, and a chunked line that nobody reads is passed.
    assert!(open(Some(&through_serde(&before))).0.next().unwrap().unwrap().over);
    assert_eq!(open(Some(&through_serde(&after))).0.next().unwrap().unwrap().length, 1001);
    let line = reader.next().unwrap().unwrap();
    assert_eq!((line.over, line.bytes.len(), line.index), (false, 1000, 2));
    assert!(reader.next().unwrap().unwrap().over);
    let line = reader.next().unwrap().unwrap();
    assert_eq!((line.bytes, line.index, line.over), (&b"{\"b\":2}"[..], 4, false));
    // Unfinished, it is not handed out, however old.
    assert_eq!(reader.next().unwrap(), None);
    let end = reader.mark();
    assert_eq!((end.offset, end.index, end.tried), (text.len() as u64 - 1001, 5, false));
    let (mut reader, _) = LineReader::open(&file.path(), Some(&end), 0, limits, days_later()).unwrap();
    assert_eq!(reader.next().unwrap(), None);
    assert!(reader.mark().tried);
}

#[test]
fn memory_is_bounded_and_given_back() {
    let limits = Limits { max_line: 1 << 20, chunk: 1 << 12 };
    let mut text = format!("{{\"a\":\"{}\"}}\n", "x".repeat(900_000));
    text += &"{\"b\":2}\n".repeat(200_000);
    text += &"y".repeat(5 << 20);
    text += "\n";
    text += &"{\"b\":2}\n".repeat(10);
    let file = File1::new(text.as_bytes());
    let (mut reader, _) = LineReader::open(&file.path(), None, 0, limits, now()).unwrap();
    let small = limits.chunk + 4096;
    assert!(reader.window.capacity() <= small);
    assert_eq!(reader.next().unwrap().unwrap().length, 900_009);
    assert!(reader.window.capacity() <= limits.max_line + 4097);
    for _ in 0..200_000 {
        assert_eq!(reader.next().unwrap().unwrap().bytes, b"{\"b\":2}");
    }
    assert!(reader.window.capacity() <= small);
    assert!(reader.next().unwrap().unwrap().over);
    assert!(reader.window.capacity() <= small);
    assert_eq!(all(&mut reader).len(), 10);
}

#[test]
fn a_file_that_shrinks_while_a_long_line_is_read_is_an_error_and_keeps_the_mark() {
    let limits = Limits { max_line: 100, chunk: 50 };
    let file = File1::new(format!("{{}}\n{}\n", "x".repeat(20_000)).as_bytes());
    let (mut reader, _) = LineReader::open(&file.path(), None, 0, limits, now()).unwrap();
    reader.next().unwrap().unwrap();
    let before = reader.mark();
    assert!(reader.next().unwrap().unwrap().over);
    file.truncate(100);
    assert_eq!(reader.next().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(reader.mark(), before);
}

#[test]
fn what_is_appended_while_reading_is_read_now_or_next_time() {
    let file = File1::new(&b"{\"a\":1}\n".repeat(3));
    let (mut reader, _) = file.open(None);
    reader.next().unwrap().unwrap();
    file.append(&b"{\"b\":2}\n".repeat(70_000));
    let first = 1 + all(&mut reader).len();
    let (rest, end, verdict) = file.read(Some(&reader.mark()));
    assert_eq!((first + rest.len(), verdict), (70_003, Verdict::Append));
    assert_eq!(end.index, 70_003);
}

#[test]
fn an_unchanged_source_is_not_opened() {
    use inotify::{Inotify, WatchMask};
    let file = File1::new(b"{\"a\":1}\n");
    let mark = file.read(None).1;
    let mut inotify = Inotify::init().unwrap();
    inotify.watches().add(file.path(), WatchMask::OPEN).unwrap();
    let mut buffer = [0; 4096];
    let mut opened = || match inotify.read_events(&mut buffer) {
        Ok(events) => events.count(),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => panic!("{error}"),
    };
    assert!(LineReader::unchanged(&mark, &stat(&file.path()).unwrap(), now()));
    assert_eq!(opened(), 0);
    file.read(Some(&mark));
    assert_eq!(opened(), 1);
}
