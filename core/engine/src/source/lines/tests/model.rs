//! Anything a client does to a file, in any order, with reading stopped and begun anew anywhere: what is handed
//! out is what stands in the file, whole.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    /// Appends so many lines of about that length, the last one without its newline or half.
    Append { lines: usize, length: usize, torn: usize },
    /// Writes the missing part of a torn line.
    Mend,
    /// Cuts the file off somewhere.
    Truncate(prop::sample::Index),
    /// Puts another file in its place.
    Replace { lines: usize, keep: bool },
    /// Changes a byte without changing the size.
    Edit(prop::sample::Index),
    /// Reads so many lines, and stops there.
    Read(usize),
    /// Reads to the end.
    ReadAll,
}

fn op() -> impl Strategy<Value = Op> {
    let length = prop_oneof![5 => 0..40_usize, 2 => 40..300_usize, 1 => 2000..9000_usize];
    prop_oneof![
        4 => (0..6_usize, length, 0..30_usize).prop_map(|(lines, length, torn)| Op::Append { lines, length, torn }),
        2 => Just(Op::Mend),
        1 => any::<prop::sample::Index>().prop_map(Op::Truncate),
        1 => (0..5_usize, any::<bool>()).prop_map(|(lines, keep)| Op::Replace { lines, keep }),
        1 => any::<prop::sample::Index>().prop_map(Op::Edit),
        4 => (0..5_usize).prop_map(Op::Read),
        3 => Just(Op::ReadAll),
    ]
}

/// The file as it should be, and what a reader knows of it.
struct Model {
    file: File1,
    bytes: Vec<u8>,
    missing: Vec<u8>,
    lines: u64,
    mark: Option<LinesMark>,
    /// The file as it was when the mark was taken, and whether the file was only appended to since.
    marked: Vec<u8>,
    limits: Limits,
}

impl Model {
    fn line(&mut self, length: usize) -> Vec<u8> {
        self.lines += 1;
        let end = if self.lines.is_multiple_of(3) { "\r\n" } else { "\n" };
        format!("{{\"n\":{},\"x\":\"{}\"}}{end}", self.lines, "x".repeat(length)).into_bytes()
    }

    /// Reads up to `most` lines and compares them with what stands in the file.
    fn read(&mut self, most: usize) {
        let seen = stat(&self.file.path()).unwrap();
        if let Some(mark) = &self.mark
            && LineReader::unchanged(mark, &seen, now())
        {
            let rest = &self.bytes[usize::try_from(mark.offset).unwrap()..];
            assert!(self.bytes == self.marked, "a change was not seen");
            assert!(!rest.contains(&b'\n'), "a whole line was held to be read");
            return;
        }
        let opened = LineReader::open(&self.file.path(), self.mark.as_ref(), 0, self.limits, now());
        let (mut reader, verdict) = opened.unwrap();
        let from = match verdict {
            Verdict::Again { head_same, .. } => {
                let head = self.mark.as_ref().map_or(0, |mark| mark.offset.min(4096) as usize);
                let same = self.bytes.get(..head) == self.marked.get(..head);
                assert_eq!(head_same, self.mark.is_some() && same, "{verdict:?}");
                (0, 0)
            }
            Verdict::Append | Verdict::Unchanged => {
                let mark = self.mark.as_ref().unwrap();
                let offset = usize::try_from(mark.offset).unwrap();
                assert!(self.bytes[..offset] == self.marked[..offset], "read on in another file");
                (offset, mark.index)
            }
        };
        let (mut offset, mut index) = from;
        let mut whole =
            self.bytes[offset..].split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        for _ in 0..most {
            let wanted = whole.next();
            let found = reader.next().unwrap();
            assert_eq!(found.is_some(), wanted.is_some());
            let (Some(found), Some(wanted)) = (found, wanted) else { break };
            assert_eq!(
                (found.offset, found.length, found.index),
                (offset as u64, wanted.len() as u64, index)
            );
            assert_eq!(found.over, wanted.len() - 1 > self.limits.max_line);
            let text = if found.over {
                let mut text = Vec::new();
                while let Some(chunk) = reader.next_chunk().unwrap() {
                    text.extend_from_slice(chunk);
                }
                text.trim_ascii().to_vec()
            } else {
                found.bytes.to_vec()
            };
            assert!(text == wanted.trim_ascii(), "another line");
            (offset, index) = (offset + wanted.len(), index + 1);
            let mark = reader.mark();
            assert_eq!((mark.offset, mark.index), (offset as u64, index));
        }
        self.mark = Some(through_serde(&reader.mark()));
        self.marked.clone_from(&self.bytes);
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Append { lines, length, torn } => {
                let mut more = std::mem::take(&mut self.missing);
                for n in 0..*lines {
                    let line = self.line(*length + n);
                    more.extend_from_slice(&line);
                }
                let cut = if *lines == 0 { 0 } else { (*torn).min(more.len()) };
                self.missing = more.split_off(more.len() - cut);
                self.bytes.extend_from_slice(&more);
                self.file.append(&more);
            }
            Op::Mend => {
                let missing = std::mem::take(&mut self.missing);
                self.bytes.extend_from_slice(&missing);
                self.file.append(&missing);
            }
            Op::Truncate(at) => {
                self.missing.clear();
                self.bytes.truncate(at.index(self.bytes.len() + 1));
                self.file.truncate(self.bytes.len() as u64);
            }
            Op::Replace { lines, keep } => {
                self.missing.clear();
                if !keep {
                    self.bytes.clear();
                }
                for _ in 0..*lines {
                    let line = self.line(20);
                    self.bytes.extend_from_slice(&line);
                }
                self.file.replace(&self.bytes);
            }
            Op::Edit(at) if !self.bytes.is_empty() => {
                let at = at.index(self.bytes.len());
                if self.bytes[at] == b'x' {
                    // With growth before or after it, an edit is seen at the head and the tail only.
                    self.read(usize::MAX);
                    self.bytes[at] = b'y';
                    self.file.overwrite(&self.bytes);
                    self.read(usize::MAX);
                }
            }
            Op::Edit(_) => {}
            Op::Read(lines) => self.read(*lines),
            Op::ReadAll => self.read(usize::MAX),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn whole_lines_each_as_it_stands(
        ops in prop::collection::vec(op(), 1..30),
        max_line in prop_oneof![Just(1 << 20), 20..300_usize],
        chunk in prop_oneof![Just(256 << 10), 1..200_usize],
    ) {
        let mut model = Model {
            file: File1::new(b""),
            bytes: Vec::new(),
            missing: Vec::new(),
            lines: 0,
            mark: None,
            marked: Vec::new(),
            limits: Limits { max_line, chunk },
        };
        for op in &ops {
            model.apply(op);
        }
        model.read(usize::MAX);
        model.read(usize::MAX);
        let mark = model.mark.as_ref().unwrap();
        prop_assert!(LineReader::unchanged(mark, &stat(&model.file.path()).unwrap(), now()));
    }
}
