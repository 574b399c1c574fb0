//! What a table was measured on: figures mean nothing without it.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::corpus::date;
use crate::place::Place;

/// The machine, the program and the day of a run.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The day it began, in UTC.
    day: String,
    /// What the processor calls itself.
    processor: String,
    cores: usize,
    /// Bytes; nothing where the system does not say.
    memory: Option<u64>,
    system: String,
    program: String,
    /// How many processes wanted the processor in the last minute before the run, and at its end.
    load: (Option<f64>, Option<f64>),
}

impl Machine {
    /// Returns what this machine is as a run begins.
    pub(crate) fn here(place: &Place) -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (year, month, day) = date(seconds * 1_000);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let kernel: Vec<&str> = kernel.trim().split('.').take(2).collect();
        let version = Command::new(&place.scrollback).arg("--version").output();
        Self {
            day: format!("{year:04}-{month:02}-{day:02}"),
            processor: fs::read_to_string("/proc/cpuinfo")
                .ok()
                .and_then(|told| value(&told, "model name"))
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: fs::read_to_string("/proc/meminfo")
                .ok()
                .and_then(|told| value(&told, "MemTotal")?.split(' ').next()?.parse::<u64>().ok())
                .map(|kib| kib << 10),
            system: format!("{} {}", std::env::consts::OS, kernel.join(".")).trim_end().to_owned(),
            program: version.map_or_else(
                |_| String::new(),
                |told| String::from_utf8_lossy(&told.stdout).trim().to_owned(),
            ),
            load: (load(), None),
        }
    }

    /// Notes the load at the end of the run.
    pub(crate) fn done(&mut self) {
        self.load.1 = load();
    }

    /// Returns a sentence about it.
    pub(crate) fn text(&self) -> String {
        let memory = self.memory.map_or_else(String::new, |bytes| {
            format!(", {:.0} GiB of memory", bytes as f64 / f64::from(1 << 30))
        });
        let cores = if self.cores == 1 { "1 core".to_owned() } else { format!("{} cores", self.cores) };
        let load = match self.load {
            (Some(before), Some(after)) => {
                format!(" One minute's load when it began: {before:.1}, when it ended: {after:.1}.")
            }
            _ => String::new(),
        };
        format!(
            "{}, {} on {cores} of {}{memory}, {}.{load}",
            self.day, self.program, self.processor, self.system
        )
    }

    /// Returns its figures.
    pub(crate) fn json(&self) -> Value {
        json!({
            "day": self.day, "program": self.program, "processor": self.processor, "cores": self.cores,
            "memory": self.memory, "system": self.system, "load": [self.load.0, self.load.1],
        })
    }
}

/// Returns what stands behind the first `name` and a colon.
fn value(told: &str, name: &str) -> Option<String> {
    told.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Returns how many processes wanted the processor in the last minute.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_found_by_its_name() {
        let told = "processor\t: 0\nmodel name\t: A: Fast One\nmodel name\t: another\n";
        assert_eq!(value(told, "model name").as_deref(), Some("A: Fast One"));
        assert_eq!(value(told, "model"), None);
    }

    #[test]
    fn a_machine_is_one_sentence_and_its_load_another() {
        let mut machine = Machine {
            day: "2026-03-01".into(),
            processor: "Fast One".into(),
            cores: 2,
            memory: Some(8 << 30),
            system: "linux 6.1".into(),
            program: "scrollback 0.1.0".into(),
            load: (Some(0.25), None),
        };
        let first = "2026-03-01, scrollback 0.1.0 on 2 cores of Fast One, 8 GiB of memory, linux 6.1.";
        assert_eq!(machine.text(), first);
        machine.load.1 = Some(1.0);
        assert_eq!(
            machine.text(),
            format!("{first} One minute's load when it began: 0.2, when it ended: 1.0.")
        );
    }
}
