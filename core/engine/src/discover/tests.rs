use super::*;
use scrollback_core::{
    Decoder, Homes, ParserSpec, Probe, Registry, Score, Shape, Source, State, StateError, Timestamp,
};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A machine in a temporary directory.
struct World {
    _dir: TempDir,
    home: PathBuf,
    vars: HashMap<String, String>,
}

impl Env for World {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn current_dir(&self) -> Option<PathBuf> {
        Some(self.home.join("vault"))
    }

    fn login(&self) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0).unwrap()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

impl World {
    fn new(files: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("dev");
        let world = Self { _dir: dir, home, vars: HashMap::new() };
        fs::create_dir_all(world.at("vault")).unwrap();
        for file in files {
            world.file(file);
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    fn file(&self, path: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        File::create(self.at(path)).unwrap().write_all(b"{}\n").unwrap();
    }

    fn link(&self, path: &str, to: &str) {
        symlink(self.at(to), self.at(path)).unwrap();
    }

    fn names(&self, found: &Found) -> Vec<String> {
        assert_eq!(found.files.len(), found.canonical.len());
        for (file, canonical) in found.files.iter().zip(&found.canonical) {
            assert_eq!(fs::canonicalize(file).unwrap_or_else(|_| file.clone()), *canonical);
        }
        let name = |path: &PathBuf| path.strip_prefix(&self.home).unwrap().to_str().unwrap().to_owned();
        found.files.iter().map(name).collect()
    }

    fn expand(&self, pattern: &str) -> Vec<String> {
        let found = expand(self, pattern).unwrap();
        assert_eq!(found.problems, []);
        self.names(&found)
    }

    fn nothing(&self, pattern: &str) {
        let error = expand(self, pattern).unwrap_err();
        assert_eq!(error, DiscoverError::NothingMatched { pattern: pattern.to_owned() });
        assert_eq!(error.to_string(), format!("nothing matches {pattern}"));
    }
}

#[test]
fn patterns_match_as_in_a_shell() {
    let world = World::new(&[
        "vault/a.jsonl",
        "vault/b.jsonl",
        "vault/.c.jsonl",
        "vault/n.txt",
        "vault/p/.q/d.jsonl",
        "vault/p/e.jsonl",
        "t/f.jsonl",
        "t/g1.jsonl",
    ]);
    let abc = ["vault/.c.jsonl", "vault/a.jsonl", "vault/b.jsonl"];
    assert_eq!(world.expand("*.jsonl"), abc);
    assert_eq!(world.expand("./*.jsonl"), abc);
    assert_eq!(world.expand("~/vault/*.jsonl"), abc);
    assert_eq!(world.expand(&format!("{}/vault/*.jsonl", world.home.display())), abc);
    assert_eq!(world.expand("../vault//*.jsonl"), abc);
    assert_eq!(world.expand("[ab].jsonl"), ["vault/a.jsonl", "vault/b.jsonl"]);
    assert_eq!(world.expand("?.jsonl"), ["vault/a.jsonl", "vault/b.jsonl"]);
    assert_eq!(world.expand("[!a].jsonl"), ["vault/b.jsonl"]);
    assert_eq!(world.expand("{b,a,zz}.jsonl"), ["vault/a.jsonl", "vault/b.jsonl"]);
    assert_eq!(world.expand("{a,p/{e,none}}.jsonl"), ["vault/a.jsonl", "vault/p/e.jsonl"]);
}

#[test]
fn depth_matches_any() {
    let world = World::new(&[
        "vault/a.jsonl",
        "vault/p/.q/d.jsonl",
        "vault/p/e.jsonl",
        "vault/p/x.txt",
        "t/p/f.jsonl",
    ]);
    let all = ["vault/a.jsonl", "vault/p/.q/d.jsonl", "vault/p/e.jsonl"];
    for pattern in ["**/*.jsonl", "**", ".", "~/vault", "**/**/*.jsonl", "~/vault/", "*", "~/vaul[t]"] {
        assert_eq!(world.expand(pattern), all, "{pattern}");
    }
    assert_eq!(world.expand("~/**/p/*.jsonl"), ["t/p/f.jsonl", "vault/p/e.jsonl"]);
    assert_eq!(world.expand("~/**/p"), ["t/p/f.jsonl", "vault/p/.q/d.jsonl", "vault/p/e.jsonl"]);
    assert_eq!(world.expand("**/.q/**/d.jsonl"), ["vault/p/.q/d.jsonl"]);
    assert_eq!(world.expand("**/*.txt"), ["vault/p/x.txt"]);
    assert_eq!(world.expand("~/*/../t/p/*"), ["t/p/f.jsonl"]);
}

#[test]
fn variables_are_replaced_and_what_is_in_them_is_no_pattern() {
    let mut world = World::new(&["w[1]/a{b,c}*.jsonl", "w1/ab.jsonl"]);
    world.vars.insert("DIR".into(), world.at("w[1]").to_str().unwrap().into());
    world.vars.insert("REST".into(), "a{b,c}*".into());
    world.vars.insert("N_1".into(), "1".into());
    let odd = ["w[1]/a{b,c}*.jsonl"];
    assert_eq!(world.expand("$DIR"), odd);
    assert_eq!(world.expand("$DIR/*.jsonl"), odd);
    assert_eq!(world.expand("${DIR}/$REST.json?"), odd);
    assert_eq!(world.expand("~/w$N_1/*"), ["w1/ab.jsonl"]);
    let error = expand(&world, "~/$NONE/x").unwrap_err();
    assert_eq!(error.to_string(), "~/$NONE/x names $NONE, which is not set");
}

#[test]
fn a_file_of_that_very_name_comes_first() {
    let world = World::new(&[
        "vault/[x].jsonl",
        "vault/x.jsonl",
        "vault/a{b,c}",
        "vault/$5 {.jsonl",
        "vault/*",
        "vault/~",
        "vault/é?",
    ]);
    assert_eq!(world.expand("[x].jsonl"), ["vault/[x].jsonl"]);
    assert_eq!(world.expand("a{b,c}"), ["vault/a{b,c}"]);
    assert_eq!(world.expand("$5 {.jsonl"), ["vault/$5 {.jsonl"]);
    assert_eq!(world.expand("*"), ["vault/*"]);
    assert_eq!(world.expand("./~"), ["vault/~"]);
    assert_eq!(world.expand("é?"), ["vault/é?"]);
    assert_eq!(world.expand("[[]x].json[l]"), ["vault/[x].jsonl"]);
}

#[test]
fn what_matches_nothing_says_so() {
    let world = World::new(&["vault/a.jsonl"]);
    for pattern in [
        "*.none",
        "none.jsonl",
        "none/*",
        "a.jsonl/*",
        "a.jsonl/x",
        "~none/*",
        "",
        "{x,y}",
        "none/**/*.jsonl",
    ] {
        world.nothing(pattern);
    }
    fs::create_dir(world.at("empty")).unwrap();
    world.nothing("~/empty");
    for pattern in ["a**b", "[a", "***"] {
        let error = expand(&world, pattern).unwrap_err();
        assert!(matches!(error, DiscoverError::Malformed { .. }), "{error}");
    }
    let many = "{a,b}".repeat(40);
    assert!(matches!(expand(&world, &many), Err(DiscoverError::Malformed { .. })));
}

#[test]
fn links_lead_to_a_file_once_and_never_round() {
    let world = World::new(&["vault/z/a.jsonl", "else/b.jsonl"]);
    world.link("vault/a-link.jsonl", "vault/z/a.jsonl");
    world.link("vault/a", "vault/z");
    world.link("vault/z/up", "vault");
    world.link("vault/else", "else");
    world.link("vault/else2", "else");
    world.link("vault/loop.jsonl", "vault/loop.jsonl");
    world.link("vault/gone.jsonl", "nowhere");
    let all = ["vault/else/b.jsonl", "vault/gone.jsonl", "vault/loop.jsonl", "vault/z/a.jsonl"];
    assert_eq!(world.expand("**/*.jsonl"), all);
    assert_eq!(world.expand("."), all);
    assert_eq!(world.expand("*/*.jsonl"), ["vault/else/b.jsonl", "vault/z/a.jsonl"]);
    assert_eq!(world.expand("a-link.jsonl"), ["vault/a-link.jsonl"]);
    assert_eq!(world.expand("a*.jsonl"), ["vault/a-link.jsonl"]);
    assert_eq!(world.expand("{a-link,z/a,a/a}.jsonl"), ["vault/z/a.jsonl"]);
    assert_eq!(world.expand("a/*.jsonl"), ["vault/a/a.jsonl"]);
}

#[test]
fn what_is_no_file_is_found_and_refused_later() {
    let world = World::new(&["vault/d.jsonl/in.jsonl"]);
    let _socket = std::os::unix::net::UnixListener::bind(world.at("vault/s.jsonl")).unwrap();
    assert_eq!(world.expand("*.jsonl"), ["vault/d.jsonl", "vault/s.jsonl"]);
    assert_eq!(world.expand("**/*.jsonl"), ["vault/d.jsonl", "vault/d.jsonl/in.jsonl", "vault/s.jsonl"]);
    assert_eq!(read_head(&world.at("vault/d.jsonl")).unwrap_err().to_string(), "a directory, not a file");
    // Named alone, it is a directory like any other.
    assert_eq!(world.expand("d.jsonl"), ["vault/d.jsonl/in.jsonl"]);
}

#[test]
fn what_cannot_be_looked_into_is_reported_and_passed() {
    let world = World::new(&["vault/a.jsonl", "vault/shut/b.jsonl"]);
    fs::set_permissions(world.at("vault/shut"), fs::Permissions::from_mode(0o000)).unwrap();
    // Somebody who may read everything sees no problem.
    if fs::read_dir(world.at("vault/shut")).is_err() {
        let found = expand(&world, "**/*.jsonl").unwrap();
        assert_eq!(world.names(&found), ["vault/a.jsonl"]);
        assert_eq!(found.problems.len(), 1);
        assert_eq!(found.problems[0].path, world.at("vault/shut"));
        let found = expand(&world, "shut/*").unwrap();
        assert_eq!((found.files.len(), found.problems.len()), (0, 1));
    }
    fs::set_permissions(world.at("vault/shut"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_name_that_cannot_be_is_reported() {
    let world = World::new(&["vault/a.jsonl"]);
    let long = "x".repeat(300);
    let found = expand(&world, &format!("{{a.jsonl,{long}/*}}")).unwrap();
    assert_eq!(world.names(&found), ["vault/a.jsonl"]);
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].path, world.at("vault").join(&long));
    let found = expand(&world, &format!("{long}/*")).unwrap();
    assert_eq!((found.files.len(), found.problems.len()), (0, 1));
}

#[test]
fn names_that_are_no_text_are_found() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new(&[]);
    let odd = world.at("vault").join(std::ffi::OsStr::from_bytes(b"\xff.jsonl"));
    File::create(&odd).unwrap();
    assert_eq!(expand(&world, "*.jsonl").unwrap().files, std::slice::from_ref(&odd));
    assert_eq!(expand(&world, "?.json*").unwrap().files, [odd]);
}

#[test]
fn finds_are_put_together() {
    let world = World::new(&["vault/a.jsonl", "vault/b.jsonl"]);
    world.link("vault/c.jsonl", "vault/a.jsonl");
    let of = |pattern| expand(&world, pattern).unwrap();
    assert_eq!(world.names(&of("c.jsonl").and(of("[ab].jsonl"))), ["vault/b.jsonl", "vault/c.jsonl"]);
    assert_eq!(world.names(&of("b.jsonl").and(of("*.jsonl"))), ["vault/a.jsonl", "vault/b.jsonl"]);
}

/// A parser that reads nothing.
struct Acme(ParserSpec, Homes);

static ACME: Acme = Acme(ParserSpec::new("acme", "Acme", Shape::Lines), Homes::nowhere());

impl Parser for Acme {
    fn spec(&self) -> &ParserSpec {
        &self.0
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        self.1.clone()
    }

    fn score(&self, probe: &Probe<'_>) -> Score {
        if probe.head.starts_with(b"{\"acme\"") { Score::Sure } else { Score::No }
    }

    fn decoder<'d>(
        &'d self,
        _source: &Source<'_>,
        _env: &'d dyn Env,
        _state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        Err(StateError { found: 0, wanted: 1 })
    }
}

#[test]
fn homes_are_what_is_included_and_not_excluded() {
    let world = World::new(&[
        ".acme/p/a.jsonl",
        ".acme/p/sub/agent.jsonl",
        ".acme/q/b.jsonl",
        ".acme/q/b.txt",
        ".acme[x]/{y,z}/c.jsonl",
    ]);
    let odd = world.at(".acme[x]/{y,z}").display().to_string();
    let include =
        ["~/.acme/**/*.jsonl".to_owned(), "~/.acme/*/*".into(), format!("{odd}/*.jsonl"), "~/none/*".into()];
    let mut wanted = Homes::of(include);
    wanted.exclude = vec!["~/.acme/*/sub/**".into(), "**/*.txt".into()];
    let of = |homes: &Homes| super::homes(&world, &Acme(ACME.0.clone(), homes.clone()));
    let found = of(&wanted);
    assert_eq!(found.problems, []);
    // What is no file but matches is left to the reader to refuse.
    assert_eq!(
        world.names(&found),
        [".acme/p/a.jsonl", ".acme/p/sub", ".acme/q/b.jsonl", ".acme[x]/{y,z}/c.jsonl"]
    );
    wanted.exclude = vec![format!("{odd}/*"), "~/.acme/**".into()];
    wanted.include.push("a**".into());
    let found = of(&wanted);
    assert_eq!(world.names(&found), [""; 0]);
    assert_eq!(found.problems[0].path, Path::new("a**"));
}

/// A parser that answers so when it is asked whether a source is its own.
struct Asked(ParserSpec, fn() -> Score);

impl Parser for Asked {
    fn spec(&self) -> &ParserSpec {
        &self.0
    }

    fn homes(&self, _env: &dyn Env) -> Homes {
        Homes::nowhere()
    }

    fn score(&self, _probe: &Probe<'_>) -> Score {
        (self.1)()
    }

    fn decoder<'d>(
        &'d self,
        _source: &Source<'_>,
        _env: &'d dyn Env,
        _state: &State,
    ) -> Result<Box<dyn Decoder + 'd>, StateError> {
        panic!("nothing is read")
    }
}

#[test]
fn the_surest_of_the_first_tier_that_has_one_gets_a_source() {
    use scrollback_core::Tier;
    use std::sync::atomic::{AtomicBool, Ordering};
    type Case<'c> = (Vec<(ParserSpec, fn() -> Score)>, Option<&'c str>);
    static ASKED: AtomicBool = AtomicBool::new(false);
    let spec = |id| ParserSpec::new(id, id, Shape::Lines);
    let fallback = |id| spec(id).tier(Tier::Fallback);
    let panics: fn() -> Score = || panic!("on purpose");
    let never: fn() -> Score = || {
        ASKED.store(true, Ordering::Relaxed);
        Score::No
    };
    let cases: [Case<'_>; 6] = [
        (vec![(spec("b"), || Score::Maybe), (spec("c"), || Score::Sure)], Some("c")),
        (vec![(spec("b"), || Score::Maybe), (spec("a"), || Score::Maybe)], Some("a")),
        (vec![(fallback("a"), never), (spec("b"), || Score::Maybe)], Some("b")),
        (vec![(spec("a"), panics), (fallback("b"), || Score::Maybe)], Some("b")),
        (vec![(spec("a"), || Score::Sure), (spec("b"), never), (fallback("c"), never)], Some("a")),
        (vec![(spec("a"), || Score::No), (fallback("b"), || Score::No)], None),
    ];
    for (parsers, expected) in cases {
        let mut registry = Registry::default();
        for (spec, score) in parsers {
            registry = registry.with_parser(Box::leak(Box::new(Asked(spec, score)))).unwrap();
        }
        let found = registry.probe(&Probe { path: Path::new("/x"), head: b"", schema: None });
        assert_eq!(found.map(|parser| &*parser.spec().id), expected);
    }
    assert!(!ASKED.load(Ordering::Relaxed), "one was asked that cannot be chosen");
}

#[test]
fn a_source_is_recognised_by_its_head() {
    let world = World::new(&["vault/a.jsonl"]);
    let registry = Registry::default().with_parser(&ACME).unwrap();
    let path = world.at("vault/a.jsonl");
    let recognise = |head: &[u8]| registry.probe(&Probe { path: &path, head, schema: None });
    assert!(recognise(&read_head(&path).unwrap()).is_none());
    let mut file = File::create(&path).unwrap();
    file.write_all(b"{\"acme\":1}\n").unwrap();
    file.write_all(&vec![b'x'; 100_000]).unwrap();
    let head = read_head(&path).unwrap();
    assert_eq!(head.len(), 64 << 10);
    assert_eq!(recognise(&head).unwrap().spec().id, "acme");
}

#[test]
fn ten_thousand_files_are_found_quickly() {
    let world = World::new(&[]);
    for project in 0..100 {
        let dir = world.at(&format!(".acme/projects/-home-dev-project-{project}"));
        fs::create_dir_all(&dir).unwrap();
        for session in 0..100 {
            File::create(dir.join(format!("0197aaaa-bbbb-7ccc-8ddd-{session:012}.jsonl"))).unwrap();
        }
    }
    for pattern in ["~/.acme/projects/*/*.jsonl", "~/.acme", "~/.acme/**/0*.jsonl"] {
        let start = Instant::now();
        assert_eq!(expand(&world, pattern).unwrap().files.len(), 10_000);
        let took = start.elapsed();
        println!("{pattern}: {:?} a file", took / 10_000);
        // Far above what it takes, and far below a call or two a file in a debug build.
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
