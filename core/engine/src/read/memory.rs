//! A decoder's memory, with secrets taken out of what it keeps: a held-back text lies there before it is an event.

use crate::redact::Redactor;
use scrollback_core::Memory;
use scrollback_store::{SourceMemory, StoreError};
use std::borrow::Cow;

/// A source's memory in the store, redacted on its way in.
pub(super) struct Redacted<'m> {
    inner: SourceMemory<'m>,
    redactor: &'m Redactor,
}

impl<'m> Redacted<'m> {
    pub(super) fn new(inner: SourceMemory<'m>, redactor: &'m Redactor) -> Self {
        Self { inner, redactor }
    }

    /// Returns the store's first error, if it had one.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        self.inner.finish()
    }
}

impl Memory for Redacted<'_> {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        self.inner.get(&self.redactor.record(key))
    }

    fn put(&mut self, key: &[u8], value: Option<&[u8]>) {
        let value = value.map(|value| self.redactor.record(value));
        self.inner.put(&self.redactor.record(key), value.as_deref());
    }
}
