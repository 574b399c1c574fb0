//! Where events go.

use crate::{EventId, EventLine, SessionLine};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use thiserror::Error;

/// What happened to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// It came into the store.
    New,
    /// Its content or its home changed.
    Replaced,
    /// The client took it back.
    Withdrawn,
    /// The user had it erased.
    Erased,
    /// Its session's facts changed.
    Session,
}

/// One row of the change log.
#[derive(Debug, Clone)]
pub struct Change {
    /// The place in the change log.
    pub pos: u64,
    /// The event's project.
    pub project: Option<String>,
    /// What happened.
    pub what: What,
    /// The event, unless it was erased.
    pub event: Option<EventLine>,
}

/// What a sink is given at once. A record's events are never split over two batches.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'b> {
    /// The sessions the changes belong to.
    pub sessions: &'b [SessionLine],
    /// The changes, by the record they came from.
    pub records: &'b [&'b [Change]],
}

/// What a sink takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Events in a batch.
    pub events: usize,
    /// Bytes in a batch.
    pub bytes: usize,
    /// Bytes in one text; the engine clips at a character boundary and says by how much.
    pub text: Option<usize>,
}

/// What became of a batch. What that means for the position is the engine's to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// All of it is held.
    Delivered {
        /// How many the sink stored now, rather than held from before.
        stored: usize,
    },
    /// Some of it was held already; it is given again one by one.
    Conflict,
    /// Not now.
    Retry {
        /// Not before this has passed, if the sink says.
        after: Option<Duration>,
        /// Why.
        cause: String,
    },
    /// Never: this event is refused for what it is.
    Rejected {
        /// Why.
        cause: String,
    },
    /// The sink does not work as it is set up; nothing is given up.
    Stopped {
        /// Why.
        cause: String,
    },
}

/// What can be known of a sink without opening one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SinkSpec {
    /// The scheme of its addresses.
    pub scheme: Cow<'static, str>,
    /// Which changes it takes.
    pub takes: &'static [What],
    /// Opens the sink of an address.
    pub open: fn(&str) -> Result<Box<dyn Sink>, SinkError>,
}

impl SinkSpec {
    /// Returns the spec of the sinks of a scheme.
    pub const fn new(
        scheme: &'static str,
        takes: &'static [What],
        open: fn(&str) -> Result<Box<dyn Sink>, SinkError>,
    ) -> Self {
        Self { scheme: Cow::Borrowed(scheme), takes, open }
    }
}

/// Why a sink could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SinkError {
    /// No sink of that scheme is linked into this program.
    #[error("no sink takes the address {address:?}; known schemes: {}", known.join(", "))]
    UnknownScheme {
        /// The address.
        address: String,
        /// The schemes linked.
        known: Vec<String>,
    },
    /// The address is not one of the sink's.
    #[error("{0}")]
    Address(String),
}

/// Where events go.
///
/// # For implementations
///
/// Given the same batch twice, store it once: a time-out is no failed write. Keep the deadline. Put no token
/// into a cause.
pub trait Sink: Send {
    /// Returns what it takes at most.
    fn limits(&self) -> Limits;

    /// Delivers a batch before `deadline`.
    fn deliver(&mut self, batch: &Batch<'_>, deadline: Instant) -> Delivery;

    /// Takes events back. `None`, the default, says that this sink takes no withdrawals.
    fn withdraw(&mut self, _ids: &[EventId], _deadline: Instant) -> Option<Delivery> {
        None
    }

    /// Erases events. `None`, the default, says that this sink erases nothing.
    fn erase(&mut self, _ids: &[EventId], _deadline: Instant) -> Option<Delivery> {
        None
    }

    /// Hears that a session ended. `None`, the default, says that it does not care.
    fn ended(&mut self, _session: &SessionLine, _deadline: Instant) -> Option<Delivery> {
        None
    }
}
