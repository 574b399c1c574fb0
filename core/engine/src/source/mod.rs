//! Sources: which file it is, what changed since the mark, and its records one by one.

mod lines;
mod stat;
mod values;
mod window;

pub use lines::{Limits, Line, LineReader, Verdict, Why};
pub use stat::{Stat, stat};
pub use values::{Part, Values, values};
