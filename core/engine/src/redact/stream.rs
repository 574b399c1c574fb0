//! Redacts a record that is too long for memory, piece by piece.

use super::{NEAR, Pass, Redactor, Span};

/// How much of what was written stays as context: what a literal's rules look back at.
const CONTEXT: usize = 256;
/// How much at the end may hold the beginning of a literal, each of its letters escaped.
const MARGIN: usize = 1024;
/// A look is taken each time that much has come.
const STEP: usize = 64 * 1024;

/// Redacts a record as it comes, to the bytes [`Redactor::record`] gives for the whole.
///
/// A literal near the end is judged once enough has come behind it, and a secret that goes on is kept back until
/// it ends, so where the pieces are cut makes no difference. It holds at most some 1.5 MiB beyond the pieces it is
/// given: a secret goes on for 512 KiB at most, here as there.
#[derive(Debug)]
pub struct Streamer<'r> {
    redactor: &'r Redactor,
    /// Context, then what was not written yet.
    held: Vec<u8>,
    /// Where what was not written starts.
    unwritten: usize,
    /// The first byte where a literal was not judged yet.
    from: usize,
    /// How much came since the last look.
    fresh: usize,
    step: usize,
    /// What was found and not written.
    found: Vec<Span>,
    /// What was found and reaches to near `from` or beyond.
    open: Vec<Span>,
}

impl<'r> Streamer<'r> {
    /// Returns a streamer at the beginning of a record.
    pub fn new(redactor: &'r Redactor) -> Self {
        Self::with_step(redactor, STEP)
    }

    pub(super) fn with_step(redactor: &'r Redactor, step: usize) -> Self {
        Self {
            redactor,
            held: Vec::new(),
            unwritten: 0,
            from: 0,
            fresh: 0,
            step,
            found: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes the next piece of the record and appends to `out` what is settled.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(chunk);
        self.fresh += chunk.len();
        // What is held back is looked at again only when it has doubled: linear time for pieces of any size.
        if self.fresh >= self.step.max(self.held.len() / 2) {
            self.look(false, out);
        }
    }

    /// Appends the rest of the record.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.look(true, out);
    }

    fn look(&mut self, whole: bool, out: &mut Vec<u8>) {
        self.fresh = 0;
        let mut pass = Pass::new(&self.held, whole);
        pass.found = std::mem::take(&mut self.found);
        pass.open.clone_from(&self.open);
        self.redactor.look(&mut pass, self.from);
        let end = self.held.len();
        let settled = if whole { end } else { end.saturating_sub(MARGIN).min(pass.undecided.unwrap_or(end)) };
        let settled = settled.max(self.from);
        pass.found.retain(|span| span.hit < settled);
        for span in &pass.found {
            if !self.open.contains(span) {
                self.open.push(span.clone());
            }
        }
        self.open.retain(|span| span.end + NEAR >= settled);

        let mut until = settled.max(self.unwritten);
        for span in pass.spans() {
            if span.end > settled {
                until = until.min(span.start);
                break;
            }
            span.replace(&self.held, &mut self.unwritten, out);
        }
        out.extend_from_slice(self.held.get(self.unwritten..until).unwrap_or_default());
        self.unwritten = self.unwritten.max(until);

        let gone = self.unwritten.saturating_sub(CONTEXT);
        pass.found.retain(|span| span.end > self.unwritten);
        self.found = pass.found;
        for span in self.found.iter_mut().chain(&mut self.open) {
            span.start = span.start.saturating_sub(gone);
            span.end -= gone;
            span.hit = span.hit.saturating_sub(gone);
        }
        self.held.drain(..gone);
        self.unwritten -= gone;
        self.from = settled - gone;
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.capacity()
    }
}
