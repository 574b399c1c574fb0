//! Searches in a large store, alone and while a session is being written.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use scrollback_core::Role;
use scrollback_store::{Access, Filter, Kinds, Picked, Query, SessionFilter, Sort, Store, StoreError};
use serde_json::{Value, json};

use super::arg;
use super::follow::{Following, Growing};
use crate::corpus::{Client, Plan};
use crate::place::Place;
use crate::run::{Output, percentile, thread_cpu};
use crate::table::Table;

/// How many hits a search returns.
const HITS: usize = 20;
/// How many events a lean megabyte holds, at least.
const DENSE: u64 = 1_000;

/// How many of the searches are for one word.
const WORDS: usize = 160;

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

    /// Returns the store that is held, made now if none is.
    pub(crate) fn held<'a>(held: &'a mut Option<Self>, place: &Place, events: u64) -> Result<&'a Self> {
        if held.is_none() {
            *held = Some(Self::new(place, events)?);
        }
        held.as_ref().context("a large store")
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
                    .filter(|word| !word.is_empty())
                    .map(str::to_lowercase)
                    .collect();
                if let [first, second, ..] = &words[..] {
                    phrases.push(format!("\"{first} {second}\""));
                }
                for word in words.into_iter().filter(|word| word.len() > 2) {
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

/// How long some searches took, in milliseconds, sorted.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    /// Returns the two percentiles for people.
    fn text(&self) -> String {
        let of = |values, percent| percentile(values, percent);
        format!(
            "p50 {:.2} ms, p99 {:.1} ms; on the processor {:.2} and {:.1} ms",
            of(&self.wall, 50.0),
            of(&self.wall, 99.0),
            of(&self.cpu, 50.0),
            of(&self.cpu, 99.0)
        )
    }

    fn push(&mut self, wall: Duration, cpu: Duration) {
        self.wall.push(wall.as_secs_f64() * 1e3);
        self.cpu.push(cpu.as_secs_f64() * 1e3);
    }

    fn sorted(mut self) -> Self {
        self.wall.sort_by(f64::total_cmp);
        self.cpu.sort_by(f64::total_cmp);
        self
    }
}

/// Returns how long each search took.
fn times(store: &Store, asked: &[Asked], sort: Sort, rounds: usize) -> Result<Times> {
    let mut times = Times::default();
    for round in 0..=rounds {
        for asked in asked {
            let query = Query::parse(&asked.text)?;
            let filter = Filter { role: asked.filtered.then_some(Role::Assistant), ..Filter::default() };
            let (began, before) = (Instant::now(), thread_cpu()?);
            store.search(&query, &filter, sort, HITS)?;
            // The first round warms what the system keeps of the file.
            if round > 0 {
                times.push(began.elapsed(), thread_cpu()?.saturating_sub(before));
            }
        }
    }
    Ok(times.sorted())
}

/// Adds the line about whole processes: start, opening the store, one search for a word, printing.
fn process(place: &Place, large: &Large, asked: &[Asked], table: &mut Table) -> Result<()> {
    for (name, sort) in [("newest first", "newest"), ("ranked", "relevance")] {
        let mut times = Times::default();
        for asked in asked.iter().take(WORDS).step_by(8) {
            let search = ["search", "--json", "--sort", sort, &asked.text];
            let used = place.scrollback(&large.home).args(search).run(&place.root, Output::Kept)?;
            ensure!(!used.printed.is_empty(), "a word of the store is not found: {}", asked.text);
            times.push(used.wall, used.cpu);
        }
        let times = times.sorted();
        table.beside(
            format!("— `scrollback search`, the whole process, {name}, {} events", large.events),
            times.text(),
            json!({"wall": times.wall, "cpu": times.cpu}),
        );
    }
    Ok(())
}

pub(crate) fn rows(place: &Place, large: &Large, table: &mut Table) -> Result<()> {
    let store = large.open()?;
    let (asked, begun) = asked(&store)?;
    let times = times(&store, &begun, Sort::Newest, 2)?;
    table.beside(
        format!("search for beginnings (`wor*`), newest first, {} events", large.events),
        times.text(),
        Value::Null,
    );
    row(&store, large, &asked, "", table)?;
    process(place, large, &asked, table)?;
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
    let read = following.stop()?;
    ensure!(read == growing.lines, "{} lines were written and {read} read", growing.lines);
    Ok(())
}

fn row(store: &Store, large: &Large, asked: &[Asked], when: &str, table: &mut Table) -> Result<()> {
    for (name, sort, most) in [("newest first", Sort::Newest, 5.0), ("ranked", Sort::Relevance, 25.0)] {
        let times = times(store, asked, sort, 2)?;
        let p99 = percentile(&times.wall, 99.0);
        table.target(
            format!("search, {name}, {} events{when}", large.events),
            format!("p99 ≤ {most:.0} ms"),
            format!("{} ({} searches)", times.text(), times.wall.len()),
            p99 <= most,
            json!({"wall": times.wall, "cpu": times.cpu}),
        );
    }
    Ok(())
}
