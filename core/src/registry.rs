//! The plugins a run may use. Link-time registration happens here and nowhere else.

use crate::{Adapter, Parser, Probe, Score, Sink, SinkError, SinkSpec};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thiserror::Error;

/// A linked parser; made by [`register_parser!`](crate::register_parser).
#[doc(hidden)]
pub struct ParserPlugin(pub &'static dyn Parser);
/// A linked adapter; made by [`register_adapter!`](crate::register_adapter).
#[doc(hidden)]
pub struct AdapterPlugin(pub &'static dyn Adapter);
/// A linked sink; made by [`register_sink!`](crate::register_sink).
#[doc(hidden)]
pub struct SinkPlugin(pub &'static SinkSpec);

inventory::collect!(ParserPlugin);
inventory::collect!(AdapterPlugin);
inventory::collect!(SinkPlugin);

/// Registers a parser, a `static` or a constant expression, with every program that links this crate.
///
/// The program must name the crate somewhere (`use acme_parser as _;`): one that no code names is not linked.
#[macro_export]
macro_rules! register_parser {
    ($parser:expr) => {
        const _: () = {
            $crate::__private::inventory::submit! { $crate::__private::ParserPlugin(&$parser) }
        };
    };
}

/// Registers an adapter, a `static` or a constant expression, with every program that links this crate.
#[macro_export]
macro_rules! register_adapter {
    ($adapter:expr) => {
        const _: () = {
            $crate::__private::inventory::submit! { $crate::__private::AdapterPlugin(&$adapter) }
        };
    };
}

/// Registers a sink's spec, a `static` or a constant expression, with every program that links this crate.
#[macro_export]
macro_rules! register_sink {
    ($spec:expr) => {
        const _: () = {
            $crate::__private::inventory::submit! { $crate::__private::SinkPlugin(&$spec) }
        };
    };
}

/// Two plugins of one kind have the same id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("two {kind}s have the id {id:?}; link only one of them")]
pub struct DuplicateId {
    /// Parser, adapter or sink.
    pub kind: &'static str,
    /// The id both have.
    pub id: String,
}

/// No plugin of that id is linked into this program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no {kind} is called {id:?}; known: {}; a crate of your own is linked by the line `use its_name as _;`",
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
)]
pub struct Unknown {
    /// Parser or adapter.
    pub kind: &'static str,
    /// What was asked for.
    pub id: String,
    /// The ids known.
    pub known: Vec<String>,
}

enum Held<T: ?Sized + 'static> {
    Linked(&'static T),
    Loaded(Arc<T>),
}

impl<T: ?Sized> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Linked(plugin) => Self::Linked(plugin),
            Self::Loaded(plugin) => Self::Loaded(Arc::clone(plugin)),
        }
    }
}

impl<T: ?Sized> Held<T> {
    fn get(&self) -> &T {
        match self {
            Self::Linked(plugin) => plugin,
            Self::Loaded(plugin) => plugin,
        }
    }
}

/// The parsers, adapters and sinks a run may use, each kind in the order of its ids.
#[derive(Clone, Default)]
pub struct Registry {
    parsers: Vec<Held<dyn Parser>>,
    adapters: Vec<Held<dyn Adapter>>,
    sinks: Vec<&'static SinkSpec>,
}

impl Registry {
    /// Gathers what is linked into this program. Two of one id are an error, not a race.
    pub fn linked() -> Result<Self, DuplicateId> {
        let mut registry = Self::default();
        for plugin in inventory::iter::<ParserPlugin> {
            registry.add_parser(Held::Linked(plugin.0))?;
        }
        for plugin in inventory::iter::<AdapterPlugin> {
            registry.add_adapter(Held::Linked(plugin.0))?;
        }
        for plugin in inventory::iter::<SinkPlugin> {
            let SinkPlugin(spec) = plugin;
            let place = registry.sinks.partition_point(|held| held.scheme < spec.scheme);
            if registry.sinks.get(place).is_some_and(|held| held.scheme == spec.scheme) {
                return Err(DuplicateId { kind: "sink", id: spec.scheme.to_string() });
            }
            registry.sinks.insert(place, spec);
        }
        Ok(registry)
    }

    /// Returns the registry with one parser more.
    pub fn with_parser(mut self, parser: &'static dyn Parser) -> Result<Self, DuplicateId> {
        self.add_parser(Held::Linked(parser))?;
        Ok(self)
    }

    /// Returns the registry with one parser more, made while the program runs.
    pub fn with_loaded_parser(mut self, parser: Arc<dyn Parser>) -> Result<Self, DuplicateId> {
        self.add_parser(Held::Loaded(parser))?;
        Ok(self)
    }

    /// Returns the registry with one adapter more.
    pub fn with_adapter(mut self, adapter: &'static dyn Adapter) -> Result<Self, DuplicateId> {
        self.add_adapter(Held::Linked(adapter))?;
        Ok(self)
    }

    fn add_parser(&mut self, parser: Held<dyn Parser>) -> Result<(), DuplicateId> {
        let id = &parser.get().spec().id;
        let place = self.parsers.partition_point(|held| held.get().spec().id < *id);
        if self.parsers.get(place).is_some_and(|held| held.get().spec().id == *id) {
            return Err(DuplicateId { kind: "parser", id: id.to_string() });
        }
        self.parsers.insert(place, parser);
        Ok(())
    }

    fn add_adapter(&mut self, adapter: Held<dyn Adapter>) -> Result<(), DuplicateId> {
        let id = &adapter.get().spec().client;
        let place = self.adapters.partition_point(|held| held.get().spec().client < *id);
        if self.adapters.get(place).is_some_and(|held| held.get().spec().client == *id) {
            return Err(DuplicateId { kind: "adapter", id: id.to_string() });
        }
        self.adapters.insert(place, adapter);
        Ok(())
    }

    /// Returns the parsers.
    pub fn parsers(&self) -> impl Iterator<Item = &(dyn Parser + 'static)> {
        self.parsers.iter().map(Held::get)
    }

    /// Returns the adapters.
    pub fn adapters(&self) -> impl Iterator<Item = &(dyn Adapter + 'static)> {
        self.adapters.iter().map(Held::get)
    }

    /// Returns the specs of the sinks.
    pub fn sinks(&self) -> impl Iterator<Item = &'static SinkSpec> {
        self.sinks.iter().copied()
    }

    /// Returns the parser of that id; the error lists those known.
    pub fn parser(&self, id: &str) -> Result<&dyn Parser, Unknown> {
        self.parsers().find(|parser| parser.spec().id == id).ok_or_else(|| Unknown {
            kind: "parser",
            id: id.to_owned(),
            known: self.parsers().map(|parser| parser.spec().id.to_string()).collect(),
        })
    }

    /// Returns the adapter of that client; the error lists those known.
    pub fn adapter(&self, client: &str) -> Result<&dyn Adapter, Unknown> {
        self.adapters().find(|adapter| adapter.spec().client == client).ok_or_else(|| Unknown {
            kind: "adapter",
            id: client.to_owned(),
            known: self.adapters().map(|adapter| adapter.spec().client.to_string()).collect(),
        })
    }

    /// Returns the parser that is surest of a source: the earlier tier first, then the first by id. None when no
    /// parser thinks it may be its own.
    ///
    /// Who cannot be chosen any more is not asked: a fallback where a client's own parser knows the file, nobody after
    /// one that is sure. A parser that panics while it looks is not the one.
    pub fn probe(&self, probe: &Probe<'_>) -> Option<&dyn Parser> {
        let mut parsers: Vec<&dyn Parser> = self.parsers().map(|parser| parser as &dyn Parser).collect();
        // Of equals the first by id, as they come.
        parsers.sort_by_key(|parser| parser.spec().tier);
        let mut maybe: Option<&dyn Parser> = None;
        for parser in parsers {
            if maybe.is_some_and(|maybe| maybe.spec().tier != parser.spec().tier) {
                break;
            }
            match catch_unwind(AssertUnwindSafe(|| parser.score(probe))).unwrap_or(Score::No) {
                Score::Sure => return Some(parser),
                Score::Maybe => maybe = maybe.or(Some(parser)),
                Score::No => {}
            }
        }
        maybe
    }

    /// Opens the sink of an address, by its scheme.
    pub fn open_sink(&self, address: &str) -> Result<Box<dyn Sink>, SinkError> {
        let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme);
        match self.sinks.iter().find(|spec| spec.scheme == scheme) {
            Some(spec) => (spec.open)(address),
            None => Err(SinkError::UnknownScheme {
                address: address.to_owned(),
                known: self.sinks.iter().map(|spec| spec.scheme.to_string()).collect(),
            }),
        }
    }
}
