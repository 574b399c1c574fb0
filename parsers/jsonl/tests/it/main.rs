//! The parser over records a test gives it.

#![expect(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod identity;
mod shapes;
mod support;
