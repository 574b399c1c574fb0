//! Source files that look like source files, and what tools print about them.

use super::rng::Rng;
use super::words::{Lexicon, capital, prose};

/// Templates of lines: `@` is an identifier, `^` one with a capital, `#` a number, `%` some words.
/// What opens a block ends in `{` or `:`.
const RUST: &[&str] = &[
    "let @ = @.@(&@)?;",
    "let mut @ = Vec::with_capacity(@.len());",
    "if @.is_empty() {",
    "for @ in &self.@ {",
    "return Err(^::@(@));",
    "match @ {",
    "Some(@) => @.@(),",
    "None => {}",
    "self.@ = @.@().unwrap_or_default();",
    "pub(crate) fn @(&self, @: &str) -> Result<^> {",
    "fn @(@: &mut ^, @: usize) -> Option<^> {",
    "assert_eq!(@.@(), #);",
    "@.push(^ { @, @: #, ..^::default() });",
    "// %",
    "/// %",
    "use crate::@::{^, @};",
    "\"@\" => \"@\",",
    "@(\"@\", \"@\");",
    "(\"@\", #),",
    "return;",
    "@,",
    ")?;",
    "@.insert(\"@\", @.clone());",
    "let @ = format!(\"{}: {}\", @, self.@);",
    "impl ^ {",
    "pub struct ^ {",
    "pub @: Option<^>,",
    "@: u64,",
    "tracing::debug!(@ = %@, \"% \");",
    "while let Some(@) = @.next() {",
    "const @: usize = #;",
    "#[derive(Clone, Debug, PartialEq)]",
    "if let Some(@) = self.@.get(&@) {",
    "} else {",
    "Ok(())",
    "@.iter().map(|@| @.@).collect::<Vec<_>>();",
];
const SCRIPT: &[&str] = &[
    "const @ = await @.@(@);",
    "import { @, ^ } from \"./@\";",
    "\"@\": \"@\",",
    "<^ @=\"@\" @=\"@\">",
    "@,",
    "});",
    ");",
    "return @;",
    "export function @(@: ^): ^ {",
    "if (!@) {",
    "return @.map((@) => @.@);",
    "<^ className=\"@ @-#\" onClick={@} />",
    "const [@, set^] = useState<^ | null>(null);",
    "useEffect(() => {",
    "}, [@, @]);",
    "throw new Error(`@ ${@} %`);",
    "// %",
    "export interface ^ {",
    "@?: ^[];",
    "@: string;",
    "expect(@.@).toBe(#);",
    "it('%', async () => {",
    "console.log('@', @);",
    "@: { @: #, @: '@' },",
    "const { @, @ } = props;",
    "} catch (@) {",
    "type ^ = keyof typeof @;",
    "<div className=\"flex items-center gap-# @\">",
    "</div>",
    "@.push({ ...@, @: @ ?? # });",
    "for (const @ of @.@()) {",
];
const PYTHON: &[&str] = &[
    "def @(self, @: str, @: int = #) -> ^:",
    "self.@ = @",
    "if @ is None:",
    "return self.@.@(@)",
    "for @ in @.@():",
    "raise ^Error(f\"@ {@}: %\")",
    "from @.@ import ^, @",
    "\"@\": \"@\",",
    "@[\"@\"] = \"@\"",
    "assert \"@\" in @",
    ")",
    "pass",
    "@,",
    "return @",
    "@ = [@.@ for @ in @ if @]",
    "class ^(^):",
    "\"\"\"%.\"\"\"",
    "# %",
    "assert @.@ == #",
    "with @.@(@) as @:",
    "@: dict[str, ^] = field(default_factory=dict)",
    "logger.info(\"% %s\", @)",
    "try:",
    "except ^Error:",
    "yield @",
    "@ = @.get(\"@\", #)",
    "@pytest.mark.parametrize(\"@\", [#, #, #])",
    "async def @(@: ^) -> None:",
    "await self.@(@=@, @=@)",
];

/// A file of a project as it stands now.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its absolute path.
    pub(crate) path: String,
    /// Its lines, without newlines.
    pub(crate) lines: Vec<String>,
}

impl Source {
    /// Returns the file's bytes.
    pub(crate) fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// Returns `count` lines from `first` (from 0) with their numbers, as agents' read tools print them.
    pub(crate) fn numbered(&self, first: usize, count: usize, arrow: &str) -> String {
        let mut out = String::new();
        for (index, line) in self.lines.iter().enumerate().skip(first).take(count) {
            out.push_str(&format!("{:>6}{arrow}{line}\n", index + 1));
        }
        out.pop();
        out
    }
}

/// A repository that sessions work in; it changes as they do.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// Its root.
    pub(crate) root: String,
    /// Its identifiers.
    pub(crate) names: Lexicon,
    /// Its files, the ones worked on most first.
    pub(crate) files: Vec<Source>,
    lean: bool,
    templates: &'static [&'static str],
    extension: &'static str,
}

impl Project {
    /// Returns the project with that number.
    pub(crate) fn new(rng: &mut Rng, number: u64, english: &Lexicon, lean: bool) -> Self {
        let (templates, extension) = match number % 3 {
            0 => (RUST, "rs"),
            1 => (SCRIPT, "tsx"),
            _ => (PYTHON, "py"),
        };
        let names = Lexicon::identifiers(rng, 2_500, extension == "tsx");
        let name = format!(
            "{}-{}",
            names.word(rng).replace('_', "-"),
            rng.of(&["app", "core", "web", "api", "cli", "lib"])
        );
        let root = format!("/home/dev/projects/{name}");
        let mut project = Self { root, names, files: Vec::new(), lean, templates, extension };
        for _ in 0..rng.range(24, 70) {
            let lines = rng.quantile(&[8, 20, 34, 50, 70, 95, 125, 165, 230, 380, 1_300]) as usize;
            let lines = if lean { lines / 12 + 3 } else { lines };
            let source = project.source(rng, english, lines);
            project.files.push(source);
        }
        project
    }

    /// Returns a new file of about that many lines.
    pub(crate) fn source(&self, rng: &mut Rng, english: &Lexicon, lines: usize) -> Source {
        let folder =
            rng.of(&["src", "src/api", "src/store", "tests", "src/components", "lib/util", "src/parser"]);
        let path = format!("{}/{folder}/{}.{}", self.root, self.names.word(rng), self.extension);
        Source { path, lines: self.code(rng, english, if self.lean { lines.min(12) } else { lines }) }
    }

    /// Returns that many lines of code.
    pub(crate) fn code(&self, rng: &mut Rng, english: &Lexicon, lines: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::with_capacity(lines);
        let mut depth = 0_usize;
        while out.len() < lines {
            if rng.once_in(7) {
                out.push(String::new());
                continue;
            }
            if depth > 0 && rng.once_in(5) {
                depth -= 1;
                if self.extension != "py" {
                    out.push(format!("{}}}", "    ".repeat(depth)));
                }
                continue;
            }
            if rng.once_in(6) && out.len() > 12 {
                // Code repeats itself: arms of a match, rows of a table, cases of a test.
                let back = rng.range(1, 12) as usize;
                let line = out[out.len() - back].clone();
                out.push(line);
                continue;
            }
            let template = rng.of(self.templates);
            let line = self.fill(rng, english, template);
            out.push(format!("{}{line}", "    ".repeat(depth)));
            if (template.ends_with('{') || template.ends_with(':')) && depth < 5 {
                depth += 1;
            }
        }
        out
    }

    fn fill(&self, rng: &mut Rng, english: &Lexicon, template: &str) -> String {
        let mut out = String::with_capacity(template.len() * 3);
        for c in template.chars() {
            match c {
                '@' => out.push_str(self.names.word(rng)),
                '^' => {
                    for part in self.names.word(rng).split('_') {
                        out.push_str(&capital(part));
                    }
                }
                '#' => out.push_str(&rng.quantile(&[0, 1, 2, 4, 8, 16, 60, 300, 4_096]).to_string()),
                '%' => {
                    for index in 0..rng.range(3, 9) {
                        if index > 0 {
                            out.push(' ');
                        }
                        out.push_str(english.word(rng));
                    }
                }
                other => out.push(other),
            }
        }
        out
    }

    /// Returns the number of a file, the first ones most often.
    pub(crate) fn pick(&self, rng: &mut Rng) -> usize {
        let a = rng.index(self.files.len());
        let b = rng.index(self.files.len());
        a.min(b).min(rng.index(self.files.len()))
    }

    /// Changes some lines of a file and returns what they were, what they are and where.
    pub(crate) fn edit(&mut self, rng: &mut Rng, english: &Lexicon, file: usize) -> Edit {
        let count = rng.quantile(&[1, 2, 3, 4, 6, 9, 14, 24, 60]) as usize;
        let fresh = self.code(rng, english, count + rng.clone().index(6));
        let source = &mut self.files[file];
        let first = rng.index(source.lines.len().saturating_sub(count).max(1));
        let end = (first + count).min(source.lines.len());
        let mut new: Vec<String> = source.lines[first..end].to_vec();
        // An edit keeps the lines around what it changes.
        let keep = new.len() / 3;
        new.splice(keep..new.len() - keep.min(new.len() - keep), fresh);
        let old: Vec<String> = source.lines.splice(first..end, new.iter().cloned()).collect();
        Edit { first, old, new }
    }

    /// Returns about `bytes` of what a command prints: compiler and test output, searches, logs, listings, diffs.
    pub(crate) fn output(&self, rng: &mut Rng, english: &Lexicon, bytes: usize) -> String {
        let bytes = if self.lean { bytes / 12 } else { bytes };
        let mut out = String::with_capacity(bytes + 120);
        let kind = rng.below(7);
        let colour = rng.once_in(25);
        while out.len() < bytes {
            let source = &self.files[self.pick(rng)];
            let short = source
                .path
                .strip_prefix(&self.root)
                .unwrap_or(&source.path)
                .trim_start_matches('/')
                .to_owned();
            let at = rng.index(source.lines.len());
            let line = source.lines[at].as_str();
            let name = self.names.word(rng);
            let text = match kind {
                0 => format!("test {}::{name} ... ok\n", short.replace('/', "::")),
                1 => format!("{short}:{}:{line}\n", at + 1),
                2 => format!(
                    "-rw-r--r-- 1 dev dev {:>7} Jan {:>2} {:02}:{:02} {short}\n",
                    rng.below(90_000),
                    rng.range(1, 28),
                    rng.below(24),
                    rng.below(60)
                ),
                3 => format!(
                    "error[E{:04}]: {} `{name}`\n  --> {short}:{}:{}\n   |\n{} | {line}\n   |\n\n",
                    rng.range(1, 800),
                    prose(rng, english, &self.names, 24),
                    at + 1,
                    rng.range(1, 60),
                    at + 1
                ),
                4 => format!(
                    "2026-01-{:02}T{:02}:{:02}:{:02}.{:03}Z INFO {name}: {} id={:016x}\n",
                    rng.range(1, 28),
                    rng.below(24),
                    rng.below(60),
                    rng.below(60),
                    rng.below(1000),
                    prose(rng, english, &self.names, 40),
                    rng.next()
                ),
                5 => format!("{}{line}\n", rng.of(&["+", "-", " ", " "])),
                _ => format!("{line}\n"),
            };
            if colour {
                out.push_str("\u{1b}[32m");
                out.push_str(text.trim_end());
                out.push_str("\u{1b}[0m\n");
            } else {
                out.push_str(&text);
            }
        }
        if rng.once_in(1_500) {
            out.push_str(&format!("export API_TOKEN=ghp_{:016x}{:016x}abcd\n", rng.next(), rng.next()));
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// What an edit did.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    /// The first line changed, from 0.
    pub(crate) first: usize,
    /// The lines that stood there.
    pub(crate) old: Vec<String>,
    /// The lines that stand there now.
    pub(crate) new: Vec<String>,
}

/// Returns base64 of about `bytes` characters that nothing compresses, a PNG by its first bytes.
pub(crate) fn image(rng: &mut Rng, bytes: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes + 16);
    out.push_str("iVBORw0KGgoAAAANSUhEUgAA");
    while out.len() < bytes / 4 * 4 {
        let mut bits = rng.next();
        for _ in 0..4 {
            out.push(char::from(ALPHABET[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    out
}
