//! Documents in every style, and what a JSON text is without its comments.

use proptest::collection::vec;
use proptest::prelude::*;

/// Returns a JSON text without comments and trailing commas; written apart from the scanner it checks.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push(c);
                while let Some(c) = chars.next() {
                    out.push(c);
                    if c == '\\' {
                        out.extend(chars.next());
                    } else if c == '"' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| !"\r\n".contains(*c)).is_some() {},
            '/' => {
                let mut last = ' ';
                chars.next();
                while let Some(c) = chars.next()
                    && (last, c) != ('*', '/')
                {
                    last = c;
                }
            }
            '}' | ']' => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.remove(end - 1);
                }
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[derive(Debug, Clone)]
enum Tree {
    Leaf(&'static str),
    Array(Vec<Tree>),
    Object(Vec<(&'static str, Tree)>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just("1"),
        Just("-0.5e3"),
        Just("true"),
        Just("null"),
        Just("\"\""),
        Just(r#""// \" /* ] } , \\""#),
        Just(r#""\u00e9😀\ud83d\ude00""#),
    ];
    leaf.prop_map(Tree::Leaf).prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Tree::Array),
            members(inner, vec![r#""a""#, r#""\u0062""#, r#""k\"\u00e9\\""#, r#""""#]).prop_map(Tree::Object),
        ]
    })
}

/// Returns some of the keys, in any order, with a value each.
fn members(
    value: impl Strategy<Value = Tree>,
    keys: Vec<&'static str>,
) -> impl Strategy<Value = Vec<(&'static str, Tree)>> {
    let count = keys.len();
    let keys = proptest::sample::subsequence(keys, 0..=count).prop_shuffle();
    (keys, vec(value, count)).prop_map(|(keys, values)| keys.into_iter().zip(values).collect())
}

/// How a document is written.
#[derive(Debug, Clone)]
struct Style {
    newline: &'static str,
    /// Indentation; on one line without.
    unit: Option<&'static str>,
    colon: &'static str,
    gap: &'static str,
    pad: &'static str,
    trailing: bool,
    /// White space and comments anywhere: what each place takes of them.
    wild: Vec<usize>,
}

fn style() -> impl Strategy<Value = Style> {
    let newline = prop_oneof![Just("\n"), Just("\r\n")];
    let unit =
        prop_oneof![Just(None), Just(Some("  ")), Just(Some("    ")), Just(Some("\t")), Just(Some(""))];
    let colon = prop_oneof![Just(":"), Just(": "), Just(" : ")];
    let gap = prop_oneof![Just(""), Just(" "), Just("  ")];
    let wild = prop_oneof![Just(Vec::new()), vec(0..14usize, 1..40)];
    (newline, unit, colon, gap, prop_oneof![Just(""), Just(" ")], any::<bool>(), wild).prop_map(
        |(newline, unit, colon, gap, pad, trailing, wild)| Style {
            newline,
            unit,
            colon,
            gap,
            pad,
            trailing,
            wild,
        },
    )
}

struct Printer {
    style: Style,
    out: String,
    place: usize,
}

impl Printer {
    fn wild(&mut self) {
        let Some(kind) = self.style.wild.get(self.place % self.style.wild.len().max(1)) else { return };
        self.place += 1;
        let newline = self.style.newline;
        let text = match kind {
            0 => format!("// a \" comment ] }}{newline}"),
            1 => "/* , */".to_owned(),
            2 => format!("/* a{newline} * }} */"),
            3 => format!("{newline}  "),
            4 => "  ".to_owned(),
            5 => format!(" // x, y{newline}\t"),
            6 => newline.to_owned(),
            7 => "/**/".to_owned(),
            8 => "\t".to_owned(),
            _ => String::new(),
        };
        self.out.push_str(&text);
    }

    fn line(&mut self, depth: usize) {
        if let Some(unit) = self.style.unit {
            self.out += self.style.newline;
            self.out += &unit.repeat(depth);
        }
    }

    fn tree(&mut self, tree: &Tree, depth: usize) {
        match tree {
            Tree::Leaf(text) => self.out += text,
            Tree::Array(elements) => {
                let parts: Vec<_> = elements.iter().map(|tree| (None, tree)).collect();
                self.container(['[', ']'], &parts, depth);
            }
            Tree::Object(members) => {
                let parts: Vec<_> = members.iter().map(|(key, tree)| (Some(*key), tree)).collect();
                self.container(['{', '}'], &parts, depth);
            }
        }
    }

    fn container(&mut self, [open, close]: [char; 2], parts: &[(Option<&str>, &Tree)], depth: usize) {
        self.out.push(open);
        let pad = if self.style.unit.is_none() { self.style.pad } else { "" };
        self.out += pad;
        self.wild();
        for (index, (key, tree)) in parts.iter().enumerate() {
            self.line(depth + 1);
            self.wild();
            if let Some(key) = key {
                self.out += key;
                self.wild();
                self.out += self.style.colon;
                self.wild();
            }
            self.tree(tree, depth + 1);
            self.wild();
            if index + 1 < parts.len() {
                self.out.push(',');
                self.wild();
                self.out += if self.style.unit.is_none() { self.style.gap } else { "" };
            } else if self.style.trailing {
                self.out.push(',');
                self.wild();
            }
        }
        if !parts.is_empty() {
            self.line(depth);
        }
        self.wild();
        self.out += pad;
        self.out.push(close);
    }
}

/// A settings file: an object, or nothing but blanks and comments.
pub(crate) fn json_document() -> impl Strategy<Value = String> {
    let empty = prop_oneof![Just(Tree::Array(Vec::new())), vec(tree(), 1..3).prop_map(Tree::Array)];
    let events = members(empty, vec![r#""Stop""#, r#""\u0053tart""#, r#""Other""#]).prop_map(Tree::Object);
    let servers = members(tree(), vec![r#""other""#, r#""x""#]).prop_map(Tree::Object);
    let hooks = vec((Just(r#""h\u006foks""#), events), 0..2);
    let servers = vec((Just(r#""mcpServers""#), servers), 0..2);
    let root = (members(tree(), vec![r#""a""#, r#""model""#, r#""\t""#]), hooks, servers)
        .prop_map(|(others, hooks, servers)| [others, hooks, servers].concat())
        .prop_shuffle()
        .prop_map(Tree::Object);
    let root = prop_oneof![19 => root.prop_map(Some), 1 => Just(None)];
    (root, style(), any::<bool>(), prop_oneof![Just(""), Just("\n"), Just("\r\n"), Just(" // end")]).prop_map(
        |(root, style, mark, end)| {
            let mut printer = Printer { style, out: String::new(), place: 0 };
            if mark {
                printer.out.push('\u{feff}');
            }
            printer.wild();
            if let Some(root) = root {
                printer.tree(&root, 0);
            }
            printer.wild();
            printer.out + end
        },
    )
}

/// A TOML file: statements that make a valid one, in any order, with any ends of lines.
pub(crate) fn toml_document() -> impl Strategy<Value = String> {
    let root = proptest::sample::subsequence(
        vec![
            "a = 1",
            "  b = \"\"\"\n[m.scrollback]\ncommand = 1 # x\n\"\"\" # after",
            "c = '''\n[[h.Stop]]\n\n'''",
            "'d e' = [ 1, # one\n  [2, 3,], # two\n]",
            "f.g.h = 1979-05-27T07:32:00Z",
            "f.g.\"i.j\" = { k = 1, l.m = [ ] }",
            "# comment [x]",
            "",
            "o = [\n\t\"p\",\n\t\"q\", # r\n\t# last\n]",
        ],
        0..9,
    );
    let tables = proptest::sample::subsequence(
        vec![
            "[m]",
            "[m]\nx = 1",
            "[m.a]\ncommand = \"x\"\n\n  [m.a.env] # env\n  B = \"c\"",
            "[ \"m\" . 'b' ]\nargs = [\"y\"]",
            "[features]",
            "[features] # few\nweb = true # yes\n# end",
            "[[h.Stop]]\nmatcher = \"z\"\n[[h.Stop.hooks]]\ncommand = 'u'",
            "[[h.Stop]]\n\n[[h.Stop]]\nhooks = [{ command = 'v' }]",
            "[h.state.\"/p:stop:0:0\"]\ntrusted_hash = \"s\"",
            "# alone",
            "[z.y.x]\nm.scrollback = 1",
            "",
        ],
        0..9,
    );
    let inline = prop_oneof![
        8 => Just(""),
        1 => Just("m = {}"),
        1 => Just("m = {  }"),
        1 => Just("m = { a = { command = \"x\" } }"),
        1 => Just("m.a.command = \"x\""),
        1 => Just("m = 1"),
        1 => Just("h.Stop = []"),
        1 => Just("h = { Stop = [ { hooks = [] }, ] }"),
        1 => Just("h.Stop = [\n  { hooks = [] }, # one\n  # none\n]"),
        1 => Just("features = { web = true }"),
    ];
    let end = prop_oneof![Just(""), Just("\n"), Just("\n\n"), Just("\n# end"), Just("  ")];
    (root.prop_shuffle(), inline, tables.prop_shuffle(), end, any::<bool>(), any::<bool>()).prop_filter_map(
        "not TOML",
        |(root, inline, tables, end, crlf, mark)| {
            let mut lines = root;
            lines.push(inline);
            let text = [lines, tables].concat().join("\n") + end;
            ::toml::from_str::<::toml::Table>(&text).ok()?;
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            Some(if mark { format!("\u{feff}{text}") } else { text })
        },
    )
}
