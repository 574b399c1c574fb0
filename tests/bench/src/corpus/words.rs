//! Words as often as words are: English by rank, identifiers of a project by rank.

use super::rng::Rng;

/// The commonest words of English and of talk about programs, commonest first.
const ENGLISH: &str = "the to a of and in is that for it this with on be as not are if we from by can so but or have an will \
at when now file code has test which let should no one need only all they then was there use i you add new also any \
more does its what would before into two after other same error check line these up first how change run time out \
where each some like see make using set data back called like more fix works find still already just look tests because \
get both value type path return instead read without while been their name function call here than over them next \
right way want works used either most start case between much very via problem once since below above issue \
current whole list state missing default result part never about long keep single empty pass such every build good \
known down even full against last least take command output input record session user number string index key table \
query store module request response handler client server config option field version record token cache buffer \
thread lock queue event message row column page view component style layout button form state hook effect render \
parse parser format write writer reader stream chunk offset length size limit count total order sort filter map merge \
split join match pattern regex rule schema migration database connection pool transaction commit rollback branch \
review patch diff lines snippet example comment document section heading paragraph table link image directory folder \
root project package crate dependency feature flag argument parameter variable constant macro trait generic lifetime \
borrow clone copy reference pointer heap stack memory leak bound range loop iterator closure async future task await \
timeout retry backoff failure success warning panic assert expect unwrap debug log trace metric counter timer clock \
date zone local remote host port address header body status method route endpoint payload encode decode compress \
digest hash signature secret password permission role policy scope owner group member account profile setting \
preference theme colour font icon label title caption text prompt answer question reply summary note decision reason \
choice trade cost benefit risk plan step goal subtask milestone deadline estimate progress blocked finished \
interesting careful simple obvious subtle correct wrong broken stale fresh duplicate redundant unused private public \
internal external shared global nested outer inner upper lower left middle previous earlier later soon often rarely \
always sometimes usually probably perhaps certainly exactly roughly directly quickly slowly cleanly safely silently \
explicitly implicitly separately together apart twice again further instead rather quite almost enough too less";

/// What identifiers are made of.
const STEMS: &str = "session record event store index parser reader writer buffer chunk offset config option header request \
response handler client server cache token query table column value entry item node tree path file dir name key user \
account order invoice payment cart product price stock metric counter timer task job queue worker pool conn tx row \
page view model schema field type kind state status error result input output source target context scope span trace \
log level format text line word char byte string number count total size limit range start end first last next prev \
parent child root leaf left right top bottom width height color style theme layout grid panel dialog button form label \
icon image asset route link url host port addr socket stream channel message packet frame codec digest hash sign \
verify auth role policy grant secret vault cert lock guard flag mode step phase plan rule filter sort merge split \
join map reduce scan seek load save open close push pop insert update delete remove create build make find search \
match parse render draw emit send recv fetch post retry delay wait poll wake spawn stop reset clear flush sync commit";

/// Words with the share each has of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexicon {
    words: Vec<String>,
    /// Up to and with each word, the weights added up.
    sums: Vec<u64>,
}

impl Lexicon {
    fn new(words: Vec<String>) -> Self {
        let mut sum = 0;
        let sums = (0..words.len() as u64)
            .map(|rank| {
                sum += 1_000_000_000 / (rank + 3);
                sum
            })
            .collect();
        Self { words, sums }
    }

    /// Returns English: the common words, and rarer ones built on them.
    pub(crate) fn english() -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in ENGLISH.split_whitespace() {
            if !words.iter().any(|held| held == word) {
                words.push(word.to_owned());
            }
        }
        let longer: Vec<String> = words.iter().filter(|word| word.len() > 3).cloned().collect();
        let mut rng = Rng::new(7);
        for suffix in ["s", "ing", "ed", "er", "able", "less", "ness", "like", "wise"] {
            for word in &longer {
                if rng.percent(55) {
                    words.push(format!("{word}{suffix}"));
                }
            }
        }
        for prefix in ["re", "un", "pre", "sub", "over"] {
            for word in &longer {
                if rng.percent(30) {
                    words.push(format!("{prefix}{word}"));
                }
            }
        }
        Self::new(words)
    }

    /// Returns `count` identifiers of a project, in the spelling its language uses.
    pub(crate) fn identifiers(rng: &mut Rng, count: usize, camel: bool) -> Self {
        let stems: Vec<&str> = STEMS.split_whitespace().collect();
        let words = (0..count)
            .map(|rank| {
                let parts = if rank < count / 20 { 1 } else { rng.of(&[1, 1, 2, 2, 2, 3]) };
                let mut word = String::new();
                for part in 0..parts.max(1) {
                    let stem = rng.of(&stems);
                    if part == 0 {
                        word.push_str(stem);
                    } else if camel {
                        word.push_str(&capital(stem));
                    } else {
                        word.push('_');
                        word.push_str(stem);
                    }
                }
                if rank > count / 2 && rng.percent(20) {
                    word.push_str(&rng.below(100).to_string());
                }
                word
            })
            .collect();
        Self::new(words)
    }

    /// Returns a word, common ones more often.
    pub(crate) fn word(&self, rng: &mut Rng) -> &str {
        let at = rng.below(*self.sums.last().unwrap_or(&1));
        let index = self.sums.partition_point(|&sum| sum <= at);
        &self.words[index]
    }
}

/// Returns `word` with a capital first letter.
pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns about `bytes` of prose about `names`: sentences, paragraphs, lists, names in backticks, code fences.
pub(crate) fn prose(rng: &mut Rng, english: &Lexicon, names: &Lexicon, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 80);
    while out.len() < bytes {
        match rng.below(12) {
            0 if bytes > 400 => {
                out.push_str("## ");
                words(rng, english, names, &mut out, 3);
                out.push_str("\n\n");
            }
            1..=3 if bytes > 250 => {
                for item in 0..rng.range(2, 5) {
                    if rng.percent(30) {
                        out.push_str(&format!("{}. ", item + 1));
                    } else {
                        out.push_str("- ");
                    }
                    let count = rng.range(4, 14);
                    words(rng, english, names, &mut out, count);
                    out.push('\n');
                }
                out.push('\n');
            }
            _ => {
                for _ in 0..rng.range(1, 3) {
                    let start = out.len();
                    let count = rng.range(5, 18);
                    words(rng, english, names, &mut out, count);
                    let sentence = capital(&out[start..]);
                    out.truncate(start);
                    out.push_str(&sentence);
                    out.push_str(if rng.percent(8) { ": " } else { ". " });
                    if out.len() > bytes {
                        break;
                    }
                }
                out.pop();
                out.push_str(if bytes > 250 { "\n\n" } else { " " });
            }
        }
    }
    if rng.once_in(60) {
        out.push_str(rng.of(&[
            "Größe über fünf, naïve Lösung. ",
            "这个问题也要一起修复。",
            "✓ done → next ",
            "Проверь ещё раз. ",
        ]));
    }
    out.truncate(out.trim_end().len());
    out
}

fn words(rng: &mut Rng, english: &Lexicon, names: &Lexicon, out: &mut String, count: u64) {
    for index in 0..count {
        if index > 0 {
            out.push_str(if rng.once_in(14) { ", " } else { " " });
        }
        if rng.once_in(9) {
            out.push('`');
            out.push_str(names.word(rng));
            out.push_str(if rng.once_in(3) { "()`" } else { "`" });
        } else {
            out.push_str(english.word(rng));
        }
    }
}
