//! The stretch of a file that is in memory: what was not handed out yet, and the last bytes of what was.

use super::input::{Codec, Input};
use scrollback_core::Digest;
use std::io;

/// How many bytes a mark's head and tail cover at most.
pub(super) const COVER: usize = 4096;

/// A file seen through one buffer, which slides forward. It always holds the bytes before its place that a mark
/// there digests, so that a mark is of what was read and not of what the file holds by then.
#[derive(Debug)]
pub(super) struct Window {
    input: Input,
    /// The first bytes past the volatile head, at most `COVER`.
    head: Vec<u8>,
    volatile_head: u64,
    chunk: usize,
    /// The most the buffer grows to.
    most: usize,
    buf: Vec<u8>,
    /// Where in the file `buf` begins.
    base: u64,
    /// The first byte of `buf` not handed out.
    pos: usize,
    /// The end of what was read into `buf`.
    end: usize,
}

impl Window {
    /// Returns a window at the start of `input`, of about `size` bytes, that reads `chunk` bytes at once and holds
    /// up to `longest` bytes not handed out.
    pub(super) fn new(input: Input, size: u64, volatile_head: u32, chunk: usize, longest: usize) -> Self {
        let chunk = chunk.max(1);
        // One byte more than the file has, so that its end is seen without growing.
        let small = match input.codec() {
            Codec::Plain => usize::try_from(size).unwrap_or(usize::MAX).saturating_add(COVER + 1),
            _ => usize::MAX,
        };
        Self {
            input,
            head: Vec::new(),
            volatile_head: volatile_head.into(),
            chunk,
            most: longest.saturating_add(COVER + 1).max(chunk + COVER),
            buf: vec![0; small.min(chunk + COVER)],
            base: 0,
            pos: 0,
            end: 0,
        }
    }

    /// Returns the place in the file up to which bytes were handed out.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Returns the bytes read and not handed out.
    pub(super) fn unread(&self) -> &[u8] {
        self.buf.get(self.pos..self.end).unwrap_or_default()
    }

    /// Returns the last `count` bytes handed out.
    pub(super) fn passed(&self, count: usize) -> &[u8] {
        self.buf.get(self.pos.saturating_sub(count)..self.pos).unwrap_or_default()
    }

    /// Hands out `count` of the unread bytes.
    pub(super) fn pass(&mut self, count: usize) {
        self.pos = self.end.min(self.pos + count);
    }

    /// Goes to the start of the file, as if nothing was read.
    pub(super) fn rewind(&mut self) {
        self.head.clear();
        (self.base, self.pos, self.end) = (0, 0, 0);
    }

    /// Reads on behind the unread bytes; returns how many bytes came, 0 at the file's end. Makes room by letting
    /// go of what was handed out, and by growing only if that is not enough.
    pub(super) fn fill(&mut self) -> io::Result<usize> {
        self.slide();
        if self.buf.len() > 16 * self.chunk + COVER && self.end <= self.chunk / 2 + COVER {
            self.shrink();
        }
        if self.end == self.buf.len() {
            let wanted = self.buf.len().saturating_mul(2).max(self.chunk + COVER).min(self.most);
            let wanted = wanted.max(self.end + 1);
            self.buf.reserve_exact(wanted - self.end);
            self.buf.resize(wanted, 0);
        }
        let room = self.buf.get_mut(self.end..).unwrap_or_default();
        let count = self.input.read_at(room, self.base + self.end as u64)?;
        self.keep_head(count);
        self.end += count;
        Ok(count)
    }

    /// Gives back what a long line took, letting go of unread bytes past a chunk: they are read again.
    pub(super) fn shrink(&mut self) {
        self.end = self.end.min(self.pos + self.chunk);
        self.slide();
        self.buf.truncate(self.chunk + COVER);
        self.buf.shrink_to_fit();
    }

    fn slide(&mut self) {
        let gone = self.pos.saturating_sub(COVER);
        if gone > 0 {
            self.buf.copy_within(gone..self.end, 0);
            self.base += gone as u64;
            self.pos -= gone;
            self.end -= gone;
        }
    }

    /// Takes over into the head what of `count` bytes, just read to `end`, belongs there.
    fn keep_head(&mut self, count: usize) {
        let wanted = self.volatile_head + self.head.len() as u64;
        let from = self.base + self.end as u64;
        let missing = COVER - self.head.len().min(COVER);
        if missing == 0 || wanted < from {
            return;
        }
        let skip = usize::try_from(wanted - from).unwrap_or(usize::MAX);
        if skip < count {
            let start = self.end + skip;
            let stop = (self.end + count).min(start + missing);
            self.head.extend_from_slice(self.buf.get(start..stop).unwrap_or_default());
        }
    }

    /// Returns how many bytes the digests of a mark at `offset` cover.
    fn covered(&self, offset: u64) -> usize {
        usize::try_from(offset.saturating_sub(self.volatile_head)).map_or(COVER, |past| past.min(COVER))
    }

    /// Returns the digests of a head and a tail as of here.
    pub(super) fn digests(&self) -> (Digest, Digest) {
        let count = self.covered(self.offset());
        let head = self.head.get(..count).unwrap_or(&self.head);
        (digest(head), digest(self.passed(count)))
    }

    /// Says whether the file begins as it did for a mark at `offset` with that head, and holds on to it if so.
    pub(super) fn begins_as(&mut self, offset: u64, head: &Digest) -> io::Result<bool> {
        let mut bytes = vec![0; self.covered(offset)];
        let same = head.bytes as usize == bytes.len()
            && self.input.read_whole_at(&mut bytes, self.volatile_head)?
            && digest(&bytes) == *head;
        if same {
            self.head = bytes;
        }
        Ok(same)
    }

    /// Goes to `offset` if the bytes before it are those of `tail`; to the file's start, and says no, if not.
    pub(super) fn goes_on_from(&mut self, offset: u64, tail: &Digest) -> io::Result<bool> {
        let count = self.covered(offset);
        (self.base, self.pos, self.end) = (offset.saturating_sub(count as u64), 0, 0);
        while self.end < count && self.fill()? > 0 {}
        self.pass(count);
        let same = self.offset() == offset && digest(self.passed(count)) == *tail;
        if !same {
            self.rewind();
        }
        Ok(same)
    }

    /// Returns how many bytes there are from the place to the next newline, that one counted, looking only past
    /// the unread bytes and keeping none of what it sees; none if there is no newline.
    pub(super) fn newline_beyond(&mut self) -> io::Result<Option<u64>> {
        let mut scratch = vec![0; self.chunk];
        let mut at = self.base + self.end as u64;
        loop {
            let count = self.input.read_at(&mut scratch, at)?;
            if count == 0 {
                return Ok(None);
            }
            if let Some(found) = memchr::memchr(b'\n', scratch.get(..count).unwrap_or_default()) {
                return Ok(Some(at + found as u64 + 1 - self.offset()));
            }
            at += count as u64;
        }
    }

    /// Reads to the end, keeping nothing; returns where that is. Of data that ends in the middle that is there; damage
    /// is an error.
    pub(super) fn read_through(&mut self) -> io::Result<u64> {
        let mut scratch = vec![0; self.chunk];
        let mut at = 0;
        loop {
            match self.input.read_at(&mut scratch, at) {
                Ok(0) => return Ok(at),
                Ok(count) => at += count as u64,
                Err(error) if at > 0 && error.kind() == io::ErrorKind::UnexpectedEof => return Ok(at),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns how the bytes lie in the file.
    pub(super) fn codec(&self) -> Codec {
        self.input.codec()
    }

    /// Returns the most bytes [`Window::fill`] reads at once while no line is long.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Returns what the buffer takes.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buf.capacity()
    }
}

/// Returns the digest of `bytes`: the first half of their BLAKE3.
fn digest(bytes: &[u8]) -> Digest {
    let hex = blake3::hash(bytes).to_hex();
    let hex = hex.as_str().get(..32).unwrap_or_default().to_owned();
    Digest { bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX), hex }
}
