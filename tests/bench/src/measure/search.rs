//! Searches in a large store, alone and while a session is being written.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use scrollback_core::Role;
use scrollback_store::{Access, Filter, Kinds, Picked, Query, SessionFilter, Sort, Store, StoreError};
use serde_json::{Value, json};

use super::arg;
use super::follow::{Following, Growing};
use crate::corpus::{Client, Plan};
use crate::place::Place;
use crate::run::{Output, percentile};
use crate::table::Table;

/// How many hits a search returns.
const HITS: usize = 20;
/// How many events a lean megabyte holds, at least.
const DENSE: u64 = 1_000;

/// A store of many events.
#[derive(Debug)]
pub(crate) struct Large {
    pub(crate) home: PathBuf,
    pub(crate) events: u64,
}

impl Large {
    /// Returns a store of about that many events, made now or earlier by the program as it is now.
    pub(crate) fn new(place: &Place, events: u64) -> Result<Self> {
        let mut bytes = (events / 2 / DENSE).max(1) << 20;
        let mut probe = None;
        // What a lean megabyte holds is what a small corpus says.
        for client in [Client::ClaudeCode, Client::Codex] {
            let small = place.corpus(Plan { client, bytes: 4 << 20, seed: 3, files: 1, lean: true })?;
            probe = Some(probe.unwrap_or(0.0) + small.events as f64 / small.bytes as f64);
        }
        if let Some(density) = probe {
            bytes = (events as f64 / density) as u64;
        }
        let home = place.fresh("large")?;
        let mut stored = 0;
        for client in [Client::ClaudeCode, Client::Codex] {
            let corpus = place.corpus(Plan { client, bytes, seed: 4, files: 1, lean: true })?;
            let used = place
                .scrollback(&home)
                .args(["tail", "--json", "--path", &arg(&corpus.dir)])
                .run(&place.root, Output::Kept)?;
            let told: Value = serde_json::from_str(&used.printed)?;
            stored += told["stored"].as_u64().context("what tail stored")?;
        }
        Ok(Self { home, events: stored })
    }

    fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.home.join("store.db"), Access::Read)?)
    }
}

/// A search as a person makes it.
struct Asked {
    text: String,
    filtered: bool,
}

/// Returns searches for words of the store itself: common ones, rare ones, several at once, phrases; and, apart, for
/// words that begin so.
fn asked(store: &Store) -> Result<(Vec<Asked>, Vec<Asked>)> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut phrases = Vec::new();
    for session in store.sessions(&SessionFilter::default())?.iter().step_by(7).take(200) {
        store.each_event(
            session,
            &Picked { kinds: Kinds::of_role(Role::Assistant), ..Picked::ALL },
            &mut |event| {
                let words: Vec<String> = event
                    .line
                    .body
                    .text()
                    .split(|c: char| !c.is_ascii_alphabetic())
                    .filter(|word| word.len() > 2)
                    .map(str::to_lowercase)
                    .collect();
                if let [first, second, ..] = &words[..] {
                    phrases.push(format!("\"{first} {second}\""));
                }
                for word in words {
                    *counts.entry(word).or_default() += 1;
                }
                Ok::<_, StoreError>(())
            },
        )?;
    }
    let mut words: Vec<(String, u64)> = counts.into_iter().collect();
    words.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
    let spread = |from: usize, to: usize, n: usize| -> Vec<String> {
        let (from, to) = (from * words.len() / 1_000, to * words.len() / 1_000);
        words
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .step_by(((to - from) / n).max(1))
            .take(n)
            .cloned()
            .collect()
    };
    let (common, middling, rare) = (spread(0, 20, 40), spread(20, 300, 60), spread(600, 1_000, 60));
    let pairs = common.iter().zip(&middling).map(|(a, b)| format!("{a} {b}")).take(30);
    let both = common.iter().zip(common.iter().skip(3)).map(|(a, b)| format!("{a} OR {b}")).take(15);
    let texts = pairs.chain(both).chain(phrases.into_iter().step_by(11).take(40));
    let texts: Vec<String> = common.iter().chain(&middling).chain(&rare).cloned().chain(texts).collect();
    let begun = middling
        .iter()
        .map(|word| Asked { text: format!("{}*", &word[..word.len().min(4)]), filtered: false });
    let begun = begun.take(40).collect();
    Ok((texts.into_iter().enumerate().map(|(n, text)| Asked { text, filtered: n % 5 == 4 }).collect(), begun))
}

/// Returns how long each search took, in milliseconds, sorted.
fn times(store: &Store, asked: &[Asked], sort: Sort, rounds: usize) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for round in 0..=rounds {
        for asked in asked {
            let query = Query::parse(&asked.text)?;
            let filter = Filter { role: asked.filtered.then_some(Role::Assistant), ..Filter::default() };
            let began = Instant::now();
            store.search(&query, &filter, sort, HITS)?;
            // The first round warms what the system keeps of the file.
            if round > 0 {
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

pub(crate) fn rows(place: &Place, large: &Large, table: &mut Table) -> Result<()> {
    let store = large.open()?;
    let (asked, begun) = asked(&store)?;
    let times = times(&store, &begun, Sort::Newest, 2)?;
    table.beside(
        format!("search for beginnings (`wor*`), newest first, {} events", large.events),
        format!("p50 {:.1} ms, p99 {:.1} ms", percentile(&times, 50.0), percentile(&times, 99.0)),
        Value::Null,
    );
    row(&store, large, &asked, "", table)?;
    let mut growing = Growing::new(place, "written", 4)?;
    let following = Following::start(place, &large.home, &growing.dir)?;
    let done = AtomicBool::new(false);
    scope(|threads| {
        let writer = threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                growing.write(growing.lines % 4, "what is written meanwhile, some words of it")?;
                sleep(Duration::from_millis(20));
            }
            Ok::<_, anyhow::Error>(())
        });
        let measured = row(&store, large, &asked, ", while a session is written", table);
        done.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| anyhow::anyhow!("the writer failed"))??;
        measured
    })?;
    following.stop()
}

fn row(store: &Store, large: &Large, asked: &[Asked], when: &str, table: &mut Table) -> Result<()> {
    for (name, sort, most) in [("newest first", Sort::Newest, 5.0), ("ranked", Sort::Relevance, 25.0)] {
        let times = times(store, asked, sort, 2)?;
        let (p50, p99) = (percentile(&times, 50.0), percentile(&times, 99.0));
        table.target(
            format!("search, {name}, {} events{when}", large.events),
            format!("p99 ≤ {most:.0} ms"),
            format!("p50 {p50:.2} ms, p99 {p99:.1} ms ({} searches)", times.len()),
            p99 <= most,
            json!({"p50": p50, "p99": p99}),
        );
    }
    Ok(())
}
