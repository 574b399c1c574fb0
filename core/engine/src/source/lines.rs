//! Reads a source of lines from a mark on; never half a line.

use super::input::{Codec, Input};
use super::stat::{Stat, stat};
use super::values::whole;
use super::window::Window;
use scrollback_core::{LinesMark, Timestamp};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

/// How much a reader holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest line that is held in memory, in bytes; a longer one is read through in chunks.
    pub max_line: usize,
    /// How many bytes are read at once.
    pub chunk: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_line: 32 << 20, chunk: 256 << 10 }
    }
}

/// Where reading goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing happened since the mark; there is nothing to read.
    Unchanged,
    /// The source only grew, if at all: it is read from the mark.
    Append,
    /// It is read again from its start.
    Again {
        /// Whether its first bytes are those the mark saw.
        head_same: bool,
        /// Why.
        why: Why,
    },
}

/// Why a source is read from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is no mark.
    New,
    /// It ends before the mark.
    Truncated,
    /// It is another file under the same name.
    Replaced,
    /// It begins with other bytes.
    Rewritten,
    /// It was changed without growing, or before the mark.
    Edited,
}

/// A line of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'b> {
    /// Which line of the source this is, from 0; blank ones are not counted.
    pub index: u64,
    /// Where it begins in the source.
    pub offset: u64,
    /// How many bytes of the source it takes, its newline among them.
    pub length: u64,
    /// What it says: without newline, surrounding blanks, NULs and a byte-order mark at the source's start. Empty
    /// if the line is over, or held nothing but NULs.
    pub bytes: &'b [u8],
    /// Whether NULs were cut off: a client's machine went down while it wrote.
    pub nuls: bool,
    /// Whether it is longer than [`Limits::max_line`]: its bytes come from [`LineReader::next_chunk`].
    pub over: bool,
}

/// Reads a source of lines, line by line.
#[derive(Debug)]
pub struct LineReader {
    window: Window,
    stat: Stat,
    max_line: usize,
    /// How many lines stand before the place.
    index: u64,
    /// How many of the unread bytes hold no newline.
    searched: usize,
    /// The line that is being read through in chunks.
    over: Option<Over>,
    /// Whether an unfinished last line may be read.
    due: bool,
    tried: bool,
    ended: bool,
}

#[derive(Debug)]
struct Over {
    /// How many bytes of it are left, the newline counted.
    left: u64,
    /// The mark before it.
    before: LinesMark,
}

/// What [`LineReader::next`] found, just passed.
struct Found {
    offset: u64,
    length: u64,
    /// How many of the bytes just passed end with the line's text and what follows it.
    back: usize,
    /// How many of them are the text.
    text: usize,
    nuls: bool,
    over: bool,
}

const DAY_NS: i64 = 86_400_000_000_000;

impl LineReader {
    /// Says whether nothing is to be read, from what the file system says: size, times and inode are those of the
    /// mark. An unfinished last line that did not change for a day and was not tried yet is to be looked at.
    ///
    /// The device is not compared: its number may change when the machine starts again.
    pub fn unchanged(mark: &LinesMark, stat: &Stat, now: Timestamp) -> bool {
        let rest = mark.offset < mark.end() && !mark.tried;
        same(mark, stat) && !(rest && quiet_for_a_day(stat, now))
    }

    /// Opens the file at `path` and finds out where to go on. What is no regular file is refused without opening
    /// it; one that is gone is [`io::ErrorKind::NotFound`].
    ///
    /// `volatile_head` bytes at the start are the client's to rewrite and are not compared.
    pub fn open(
        path: &Path,
        mark: Option<&LinesMark>,
        volatile_head: u32,
        limits: Limits,
        now: Timestamp,
    ) -> io::Result<(Self, Verdict)> {
        let mut reader = Self::at_start(path, volatile_head, limits, now)?;
        let verdict = match mark {
            None => Verdict::Again { head_same: false, why: Why::New },
            Some(mark) => reader.compare(mark)?,
        };
        Ok((reader, verdict))
    }

    /// Opens the file at `path` to go on where a source stopped that had another name, or was compressed
    /// otherwise; none if this is not what that source has become: its bytes alone say so.
    pub fn open_moved(
        path: &Path,
        mark: &LinesMark,
        volatile_head: u32,
        limits: Limits,
        now: Timestamp,
    ) -> io::Result<Option<Self>> {
        let mut reader = Self::at_start(path, volatile_head, limits, now)?;
        if !reader.window.begins_as(mark.offset, &mark.head)?
            || !reader.window.goes_on_from(mark.offset, &mark.tail)?
        {
            return Ok(None);
        }
        reader.index = mark.index;
        Ok(Some(reader))
    }

    fn at_start(path: &Path, volatile_head: u32, limits: Limits, now: Timestamp) -> io::Result<Self> {
        stat(path)?;
        let file = File::open(path)?;
        let stat = Stat::of(&file.metadata()?)?;
        let input = Input::new(file)?;
        Ok(Self {
            window: Window::new(input, stat.size, volatile_head, limits.chunk, limits.max_line),
            stat,
            max_line: limits.max_line,
            index: 0,
            searched: 0,
            over: None,
            due: quiet_for_a_day(&stat, now),
            tried: false,
            ended: false,
        })
    }

    /// Goes to where reading goes on after `mark`.
    fn compare(&mut self, mark: &LinesMark) -> io::Result<Verdict> {
        let stat = self.stat;
        let head_same = self.window.begins_as(mark.offset, &mark.head)?;
        let timely = stat.mtime_ns == mark.mtime_ns && stat.ctime_ns == mark.ctime_ns;
        let codec = self.window.codec();
        let why = if stat.ino != mark.ino || codec.name() != mark.codec.as_deref() {
            Why::Replaced
        } else if codec == Codec::Plain && stat.size < mark.offset {
            Why::Truncated
        } else if !head_same {
            Why::Rewritten
        } else if stat.size == mark.size && !timely || !self.window.goes_on_from(mark.offset, &mark.tail)? {
            // Another device alone says nothing; with other bytes it is another file.
            if stat.dev == mark.dev { Why::Edited } else { Why::Replaced }
        } else {
            self.index = mark.index;
            if !same(mark, &stat) {
                return Ok(Verdict::Append);
            }
            self.tried = mark.tried;
            if mark.offset < mark.end() && self.due && !mark.tried {
                return Ok(Verdict::Append);
            }
            self.ended = true;
            return Ok(Verdict::Unchanged);
        };
        self.window.rewind();
        Ok(Verdict::Again { head_same, why })
    }

    /// Returns how many bytes a compressed source has decompressed, by decompressing it; none for a plain one.
    /// Damage is an error.
    pub fn decompressed(mut self) -> io::Result<Option<u64>> {
        if self.window.codec() == Codec::Plain {
            return Ok(None);
        }
        self.window.rewind();
        self.window.read_through().map(Some)
    }

    /// Lets the reader hand out an unfinished last line though the source changed lately, since the session is
    /// known to be over.
    pub fn session_is_over(&mut self) {
        self.due = true;
        if !self.tried {
            self.ended = false;
        }
    }

    /// Returns the next line; none at the end of the source, or where its last line is not finished. A line that
    /// never will be, since nothing changed for a day, is returned if it parses. Blank lines are passed in
    /// silence. What is left of a line over the limit is passed too.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader, which an iterator cannot say"
    )]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        while self.next_chunk()?.is_some() {}
        let Some(found) = self.find()? else { return Ok(None) };
        let passed = self.window.passed(found.back);
        Ok(Some(Line {
            index: if found.over { self.index } else { self.index - 1 },
            offset: found.offset,
            length: found.length,
            bytes: passed.get(..found.text).unwrap_or_default(),
            nuls: found.nuls,
            over: found.over,
        }))
    }

    /// Returns the next bytes of the line over the limit that was returned last, as written, without its newline;
    /// none when it is read through. It is not behind the mark before that.
    pub fn next_chunk(&mut self) -> io::Result<Option<&[u8]>> {
        let Some(over) = &mut self.over else { return Ok(None) };
        if self.window.unread().is_empty() && self.window.fill()? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank while it was read"));
        }
        let wanted = usize::try_from(over.left).unwrap_or(usize::MAX);
        let count = self.window.unread().len().min(wanted).min(self.window.chunk());
        over.left -= count as u64;
        self.window.pass(count);
        let mut text = count;
        if over.left == 0 {
            self.over = None;
            self.index += 1;
            self.searched = 0;
            text -= 1;
        }
        if text == 0 {
            return Ok(None);
        }
        Ok(self.window.passed(count).get(..text))
    }

    /// Returns the mark after the lines returned so far; before one over the limit until it is read through.
    ///
    /// Taken before [`LineReader::next`] returned none, it has size 0, so that what follows is not held to be
    /// read.
    pub fn mark(&self) -> LinesMark {
        self.over.as_ref().map_or_else(|| self.mark_here(), |over| over.before.clone())
    }

    fn mark_here(&self) -> LinesMark {
        let (head, tail) = self.window.digests();
        LinesMark {
            offset: self.window.offset(),
            index: self.index,
            head,
            tail,
            size: if self.ended { self.stat.size } else { 0 },
            codec: self.window.codec().name().map(str::to_owned),
            length: match self.window.codec() {
                Codec::Plain => 0,
                _ => self.window.offset() + self.window.unread().len() as u64,
            },
            mtime_ns: self.stat.mtime_ns,
            ctime_ns: self.stat.ctime_ns,
            dev: self.stat.dev,
            ino: self.stat.ino,
            tried: self.tried,
            idle: false,
        }
    }

    /// Finds the next line that is not blank and passes it.
    fn find(&mut self) -> io::Result<Option<Found>> {
        while !self.ended {
            let unread = self.window.unread();
            let newline = unread.get(self.searched..).and_then(|new| memchr::memchr(b'\n', new));
            match newline.map(|at| at + self.searched) {
                Some(length) if length > self.max_line => return Ok(Some(self.go_over(length as u64 + 1))),
                Some(length) => {
                    if let Some(found) = self.pass(length, length + 1) {
                        return Ok(Some(found));
                    }
                }
                None if unread.len() > self.max_line => {
                    if let Some(length) = self.window.newline_beyond()? {
                        return Ok(Some(self.go_over(length)));
                    }
                    self.ended = true;
                    self.tried |= self.due;
                }
                None => {
                    self.searched = unread.len();
                    if self.window.fill()? == 0 {
                        return Ok(self.find_rest());
                    }
                }
            }
        }
        Ok(None)
    }

    /// Passes what stands behind the last newline if it is due and parses.
    fn find_rest(&mut self) -> Option<Found> {
        self.ended = true;
        let rest = self.window.unread();
        if rest.is_empty() || !self.due || self.tried {
            return None;
        }
        let length = rest.len();
        let (text, _) = trimmed(rest, self.window.offset() == 0);
        let text = rest.get(text).unwrap_or_default();
        // A number may be the first half of one.
        if text.last().is_none_or(u8::is_ascii_digit) || !whole(text) {
            self.tried = true;
            return None;
        }
        self.pass(length, length)
    }

    /// Passes `length` bytes, the first `content` of them a line's; none for a blank line.
    fn pass(&mut self, content: usize, length: usize) -> Option<Found> {
        let offset = self.window.offset();
        let line = self.window.unread().get(..content).unwrap_or_default();
        let (text, nuls) = trimmed(line, offset == 0);
        self.window.pass(length);
        self.searched = 0;
        if text.is_empty() && !nuls {
            return None;
        }
        self.index += 1;
        let (back, text) = (length - text.start, text.len());
        Some(Found { offset, length: length as u64, back, text, nuls, over: false })
    }

    /// Begins to read a line of `length` bytes through.
    fn go_over(&mut self, length: u64) -> Found {
        self.over = Some(Over { left: length, before: self.mark_here() });
        self.window.shrink();
        Found { offset: self.window.offset(), length, back: 0, text: 0, nuls: false, over: true }
    }
}

/// Says whether nothing tells the source from what it was at the mark.
fn same(mark: &LinesMark, stat: &Stat) -> bool {
    mark.size == stat.size
        && mark.mtime_ns == stat.mtime_ns
        && mark.ctime_ns == stat.ctime_ns
        && mark.ino == stat.ino
}

fn quiet_for_a_day(stat: &Stat, now: Timestamp) -> bool {
    now.micros().saturating_mul(1000).saturating_sub(stat.mtime_ns) > DAY_NS
}

/// Returns where the text of a line is, and whether NULs were cut off.
fn trimmed(line: &[u8], first: bool) -> (Range<usize>, bool) {
    let cut = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let bom = if first && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let body = line.get(bom..).unwrap_or_default();
    let start = bom + body.iter().take_while(|byte| cut(byte)).count();
    let after = line.get(start..).unwrap_or_default();
    let stop = line.len() - after.iter().rev().take_while(|byte| cut(byte)).count();
    let nuls = |range: Range<usize>| line.get(range).is_some_and(|cut| cut.contains(&0));
    (start..stop, nuls(bom..start) || nuls(stop..line.len()))
}

#[cfg(test)]
mod tests;
