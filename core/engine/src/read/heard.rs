//! Messages that hooks announced, met while reading.

use super::Reading;
use crate::spool::digest;
use scrollback_core::Body;
use std::collections::HashSet;

/// What is listened for.
pub(crate) struct Heard {
    key: [u8; 32],
    wanted: HashSet<String>,
    came: HashSet<String>,
}

impl Heard {
    /// Listens for messages of those digests under the spool's key.
    pub(crate) fn new(key: [u8; 32], wanted: HashSet<String>) -> Self {
        Self { key, wanted, came: HashSet::new() }
    }

    /// Hears what an event says, before anything is taken out of it.
    pub(super) fn event(&mut self, body: &Body<'_>) {
        if let Body::Message { text, .. } = body
            && !self.wanted.is_empty()
        {
            let digest = digest(&self.key, text);
            if self.wanted.remove(&digest) {
                self.came.insert(digest);
            }
        }
    }
}

impl Reading<'_, '_> {
    /// Listens from now on.
    pub(crate) fn hear(&mut self, heard: Heard) {
        self.heard = Some(heard);
    }

    /// Returns the digests of what came, and listens no more.
    pub(crate) fn heard(&mut self) -> Option<HashSet<String>> {
        self.heard.take().map(|heard| heard.came)
    }
}
