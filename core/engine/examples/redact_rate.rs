//! Prints how fast text is redacted: over the files of a directory, and over synthetic text.
//!
//! `cargo run --release --example redact_rate -- DIRECTORY [--list]`; with `--list`, also what is redacted there.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints figures")]

use scrollback_engine::redact::{Redactor, Streamer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let mut directory = None;
    let mut list = false;
    for argument in std::env::args().skip(1) {
        if argument == "--list" { list = true } else { directory = Some(PathBuf::from(argument)) }
    }
    let started = Instant::now();
    let redactor = Redactor::new();
    println!("{:>9.2} ms to build the redactor", started.elapsed().as_secs_f64() * 1000.0);

    if let Some(directory) = directory {
        let mut files = Vec::new();
        collect(&directory, &mut files);
        files.sort();
        let contents: Vec<(PathBuf, Vec<u8>)> =
            files.into_iter().filter_map(|file| Some((file.clone(), std::fs::read(file).ok()?))).collect();
        if list {
            for (file, bytes) in &contents {
                show(&redactor, file, bytes);
            }
        }
        let lines: Vec<&[u8]> =
            contents.iter().flat_map(|(_, bytes)| bytes.split_inclusive(|byte| *byte == b'\n')).collect();
        rate("the directory, line by line", &redactor, &lines);
        let whole: Vec<&[u8]> = contents.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        rate("the directory, file by file", &redactor, &whole);
    }

    let prose = "The quick brown fox jumps over the lazy dog, and 42 of its friends watch. ";
    let code =
        "fn main() {\\n    let value = compute(\\\"a\\\", 17);\\n    println!(\\\"{value}\\\");\\n}\\n";
    let usage = r#"{"usage":{"input_tokens":1234,"output_tokens":20},"url":"https://example.com/a/b"} "#;
    for (name, part) in [
        ("prose", prose),
        ("code in a JSON string", code),
        ("usage and addresses", usage),
        ("base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"),
    ] {
        rate(name, &redactor, &[&repeat(part, 8 << 20)]);
    }
    for part in [
        "token=",
        "token=\"a\" ",
        "sk-ant-aa-aaaaaaaaaaaaaaaaaaaaaa-",
        "eyJaaaaaaaaaa-",
        "eyJaaaaaaaaaa.eyJ ",
        "https://a:b",
        "\\u0041",
        "secret: \\\"ab\\n",
        "password=q3Lm9Qx2Vt7Wp4Zd ",
        "-----BEGIN RSA PRIVATE KEY-----\\n",
    ] {
        for size in [1 << 20, 4 << 20] {
            rate(&format!("{part:?} over {} MiB", size >> 20), &redactor, &[&repeat(part, size)]);
        }
    }
    let text = repeat(code, 8 << 20);
    let best = fastest(|| {
        let (mut streamer, mut out) = (Streamer::new(&redactor), Vec::new());
        for chunk in text.chunks(256 << 10) {
            streamer.push(chunk, &mut out);
            out.clear();
        }
        streamer.finish(&mut out);
    });
    print_rate("code, streamed", text.len(), best);
}

fn repeat(part: &str, size: usize) -> Vec<u8> {
    part.bytes().cycle().take(size).collect()
}

fn fastest(mut run: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..7 {
        let started = Instant::now();
        run();
        best = best.min(started.elapsed());
    }
    best
}

fn rate(name: &str, redactor: &Redactor, texts: &[&[u8]]) {
    let best = fastest(|| {
        for text in texts {
            std::hint::black_box(redactor.record(text));
        }
    });
    print_rate(name, texts.iter().map(|text| text.len()).sum(), best);
}

fn print_rate(name: &str, bytes: usize, time: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "a figure with three digits")]
    let megabytes = bytes as f64 / 1e6;
    println!("{:>9.0} MB/s  {name}", megabytes / time.as_secs_f64());
}

/// Prints each line of a file that is changed: what stood there, and the mark, with what stands around.
fn show(redactor: &Redactor, file: &Path, bytes: &[u8]) {
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let Cow::Owned(redacted) = redactor.record(line) else { continue };
        let (line, redacted) =
            (String::from_utf8_lossy(line), String::from_utf8_lossy(&redacted).into_owned());
        let mut rest = line.as_ref();
        let mut pieces = redacted.split("[redacted:");
        rest = rest.strip_prefix(pieces.next().unwrap_or_default()).unwrap_or(rest);
        for piece in pieces {
            let (rule, behind) = piece.split_once(']').unwrap_or((piece, ""));
            let near: String = behind.chars().take(24).collect();
            let at =
                if near.is_empty() { rest.len() } else { rest.find(near.as_str()).unwrap_or(rest.len()) };
            let (was, after) = rest.split_at(at);
            println!("{}:{}: {rule}: {was:?} before {near:?}", file.display(), number + 1);
            rest = after.strip_prefix(behind).unwrap_or(after);
        }
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        eprintln!("cannot read {}", path.display());
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
