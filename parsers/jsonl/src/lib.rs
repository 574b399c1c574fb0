//! Reads any transcript of one JSON object a line, by a *field map*: a TOML file that says where in a record what
//! stands ([`FieldMap`]; `docs/field-maps.md` is its manual). The map that is built in, [`Jsonl`], is the fallback:
//! roles and contents in the usual places.
//!
//! Nothing is made up: what a map does not find is absent, and a record it does not understand is unknown.

mod decode;
mod map;
mod node;
mod path;
mod piece;
mod recognise;
mod session;
mod time;

pub use map::{FieldMap, MapError};

use scrollback_core::{
    Decoder, Env, Homes, Parser, ParserSpec, Probe, Score, Shape, Source, State, StateError, Tier,
};

static SPEC: ParserSpec =
    ParserSpec::new("jsonl", "Any JSONL transcript", Shape::Lines).tier(Tier::Fallback).labelled();

/// The fallback: whatever says roles and contents in the usual places.
#[derive(Debug, Clone, Copy)]
pub struct Jsonl;

impl Parser for Jsonl {
    fn spec(&self) -> &ParserSpec {
        &SPEC
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        Homes::default()
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        recognise::score(map::default(), probe)
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(decode::Lines::open(map::default(), &SPEC, source, env, state)?))
    }
}

impl Parser for FieldMap {
    fn spec(&self) -> &ParserSpec {
        &self.spec
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        self.homes.clone()
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        recognise::score(self, probe)
    }

    fn decoder<'d>(
        &'d self,
        source: &Source<'_>,
        env: &'d dyn Env,
        state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Ok(Box::new(decode::Lines::open(self, &self.spec, source, env, state)?))
    }
}

scrollback_core::register_parser!(Jsonl);
