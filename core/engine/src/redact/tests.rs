//! The table row by row, in every writing; and what holds of any text.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(Redactor::new)
}

/// The pieces of a rule's example that must not remain: what its expression calls the secret, word by word.
fn secrets(redactor: &Redactor, rule: &Rule) -> Vec<String> {
    let mut pass = Pass::new(rule.yes.as_bytes(), true);
    redactor.look(&mut pass, 0);
    let spans = pass.spans();
    assert!(!spans.is_empty(), "{}: {}", rule.name, rule.yes);
    spans
        .iter()
        .flat_map(|span| rule.yes[span.start..span.end].split(['\n', '-']))
        .filter(|word| {
            word.len() > 7 && !["PRIVATE KEY", "OPENSSH PRIVATE KEY"].iter().any(|line| word.contains(line))
        })
        .map(str::to_owned)
        .collect()
}

fn assert_gone(redacted: &str, rule: &Rule, secrets: &[String]) {
    assert!(redacted.contains(&format!("[redacted:{}]", rule.name)), "{}: {redacted}", rule.name);
    for secret in secrets {
        assert!(!redacted.contains(secret), "{}: {secret} remains: {redacted}", rule.name);
    }
}

fn string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Writes a JSON string with every n-th character as a `\u` escape, and each slash escaped.
fn escaped(text: &str, every: usize) -> String {
    let mut json = String::from("\"");
    for (at, character) in text.chars().enumerate() {
        match character {
            '/' => json.push_str("\\/"),
            _ if at % every == 0 || (character as u32) < 32 || "\"\\".contains(character) => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    write!(json, "\\u{unit:04x}").unwrap();
                }
            }
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// What the string of a JSON string holds.
fn read(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

#[test]
fn every_rule_compiles() {
    let redactor = redactor();
    for (index, rule) in RULES.iter().enumerate() {
        let regex = redactor.regex(index, rule);
        assert!(regex.is_some_and(|regex| regex.captures_len() > rule.secret), "{}", rule.name);
    }
}

#[test]
fn names_are_unique_and_announce_nothing() {
    let redactor = redactor();
    let mut names = BTreeSet::new();
    for rule in RULES {
        assert!(names.insert(rule.name), "{}", rule.name);
        assert!(rule.name.split('-').all(
            |word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        ));
        let mark = format!("[redacted:{}]", rule.name);
        let hit = redactor.finder.hits(mark.as_bytes(), 0).next();
        assert!(hit.is_none(), "{mark} holds {:?}", hit.map(|hit| hit.at));
    }
}

#[test]
fn literals_are_long_enough_and_none_starts_another() {
    let redactor = redactor();
    let keywords = redactor.finder.keywords();
    for keyword in keywords {
        assert!((3..=16).contains(&keyword.text.len()), "{}", keyword.text);
        for other in keywords {
            assert!(keyword.text == other.text || !other.text.starts_with(keyword.text), "{}", other.text);
        }
    }
}

#[test]
fn every_literal_of_a_rule_fits_its_expression() {
    for rule in RULES {
        assert!(!rule.keywords.is_empty(), "{}", rule.name);
        assert!(rule.keywords.iter().any(|keyword| rule.yes.contains(keyword)), "{}", rule.name);
    }
}

#[test]
fn examples_alone_and_in_prose() {
    let redactor = redactor();
    for rule in RULES {
        let secrets = secrets(redactor, rule);
        for text in [
            rule.yes.to_owned(),
            format!("It is {}.", rule.yes),
            format!("x\n{}\ny", rule.yes),
            format!("({})", rule.yes),
            format!("größe {} ü", rule.yes),
        ] {
            let redacted = redactor.text(&text);
            assert_gone(&redacted, rule, &secrets);
            assert_eq!(redactor.text(&redacted), redacted);
        }
    }
}

#[test]
fn what_is_plain_stays_as_it_is_and_a_secret_is_not() {
    for rule in RULES {
        assert!(!is_plain(rule.yes), "{}", rule.name);
    }
    for text in ["", "Add a test.", "größe \\u0041", "sk-", "the token is here"] {
        assert!(!is_plain(text) || redactor().text(text) == text, "{text}");
    }
    assert!(is_plain("Please add a test for the parser, and run cargo test."));
}

#[test]
fn examples_in_json_of_every_writing() {
    let redactor = redactor();
    for rule in RULES {
        let secrets = secrets(redactor, rule);
        let once = string(&format!("a\n{}\nb", rule.yes));
        let mut texts = vec![
            format!("{{\"text\":{once},\"n\":1}}"),
            format!("{{{once}:null}}"),
            format!("[{}]", string(&format!("{{\"input\":{once}}}"))),
            string(&string(&string(&once))),
            escaped(rule.yes, usize::MAX),
        ];
        texts.extend([1, 2, 3, 5, 7].map(|every| escaped(rule.yes, every)));
        texts.push(string(&escaped(rule.yes, 3)));
        for text in texts {
            let redacted = redactor.json(&text);
            assert!(is_json(&redacted), "{}: {redacted}", rule.name);
            let mut inner = redacted.clone().into_owned();
            while let Ok(text) = serde_json::from_str::<String>(&inner) {
                inner = text;
            }
            assert_gone(&inner, rule, &secrets);
            assert_eq!(redactor.json(&redacted), redacted);
        }
    }
}

#[test]
fn counter_examples_stay() {
    let redactor = redactor();
    for rule in RULES {
        assert!(
            matches!(redactor.text(rule.no), Cow::Borrowed(_)),
            "{}: {}",
            rule.name,
            redactor.text(rule.no)
        );
        let json = string(rule.no);
        assert!(matches!(redactor.json(&json), Cow::Borrowed(_)), "{}", rule.name);
    }
}

#[test]
fn what_agents_write_all_day_stays() {
    let redactor = redactor();
    for text in [
        "commit 9e3c7a1f5b2d8046e9c1a3f5b7d20468ace13579",
        "01a22e2c-f205-7081-810f-90dd51931f79",
        r#"{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","tool_use_id":"toolu_01A09q90qw90lq917835lq9","call_id":"call_abc123XYZ789"}"#,
        r#"{"request_id":"req_011CQmV1d3xYz7K9Lm2Np4Qr","item":"rs_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e77"}"#,
        r#"{"usage":{"input_tokens":1234567,"output_tokens":20,"cache_read_input_tokens":80}}"#,
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "if key.startswith('sk-'): raise ValueError('sk-ant keys only')",
        "let token = self.parse_token(input2)?; fn token(&self) -> Token;",
        "password: String, secret: &'static str, token: Option<Token2>",
        "password = os.environ[\"DB_PASSWORD_2\"]",
        "const apiKey = process.env.OPENAI_API_KEY2;",
        "api_key=settings.openai.key2, token=config.auth.token1",
        "\"password\": \"string\", \"token\": \"string\", 'secret': 'required'",
        "\"password\": \"Your password must have 8 characters\"",
        "PASSWORD=changeme TOKEN=<token> SECRET=${SECRET1} API_KEY=$KEY1",
        "next_page_token: \"q3Lm9Qx2Vt7Wp4Zd8Rb1Nc6Hj5Yf0\"",
        "\"cancellationToken\": \"8f2e6d4c1b9a3075\"",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "see https://example.com/path:80/@scope/pkg@1.2.3 and git@github.com:org/repo.git",
        "mailto:a@b.c http://host:8080/x?y=z:w@v http://[::1]:80/",
        "postgres://$USER:$PASS@host/db postgres://user:<password>@host mysql://{user}:{password}@h redis://:***@h amqp://u:%s@h",
        "Authorization: Bearer <token>",
        "'Authorization': `Bearer ${token}`",
        "req.headers.authorization = undefined; authorization: 'required'",
        "the Authorization header, the Cookie: header",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw\n-----END CERTIFICATE-----",
        "starts with -----BEGIN RSA PRIVATE KEY----- in /usr/share/keys/a/b/c/d/e and so on",
        "tokenizer: cl100k_base_v2_2024, secretary: Mrs12345678abcdef",
        "\"thoughtSignature\":\"EpwDCpkDAcu98PCeyJ0\"",
        "cookie: a=b",
    ] {
        assert_eq!(redactor.text(text), text);
        let json = if is_json(text) { text.to_owned() } else { string(text) };
        assert_eq!(redactor.json(&json), json);
    }
}

#[test]
fn more_secrets_in_more_places() {
    let redactor = redactor();
    for (text, expected) in [
        ("DB_PASSWORD=hunter2x99", "DB_PASSWORD=[redacted:credential]"),
        ("password: \"hunter2!\"", "password: \"[redacted:credential]\""),
        (r#"{"password":"ab\"cd1234","user":"x"}"#, r#"{"password":"[redacted:credential]","user":"x"}"#),
        (r#"{"password":"abcd1234\\","user":"x"}"#, r#"{"password":"[redacted:credential]\\","user":"x"}"#),
        (
            r#"{"in":"{\"password\":\"ab\\\"cd1234\\\\\",\"user\":1}"}"#,
            r#"{"in":"{\"password\":\"[redacted:credential]\\\\\",\"user\":1}"}"#,
        ),
        ("password: str = 'hunter2!'", "password: str = '[redacted:credential]'"),
        ("config[\"api_key\"] = \"q3Lm9Qx2Vt7Wp4Zd\"", "config[\"api_key\"] = \"[redacted:credential]\""),
        ("{ client_secret => 'q3Lm9Qx2Vt7Wp4Zd' }", "{ client_secret => '[redacted:credential]' }"),
        ("login --password hunter2x99 --user x", "login --password [redacted:credential] --user x"),
        ("Server=x;Pwd=hunter2x99;Database=y", "Server=x;Pwd=[redacted:credential];Database=y"),
        ("-H 'x-api-key: q3Lm9Qx2Vt7Wp4Zd8Rb'", "-H 'x-api-key: [redacted:credential]'"),
        (
            "{\"Authorization\":\"Basic ZGV2Omh1bnRlcjI=\"}",
            "{\"Authorization\":\"Basic [redacted:auth-header]\"}",
        ),
        ("Proxy-Authorization: Token abc123def456", "Proxy-Authorization: Token [redacted:auth-header]"),
        ("mongodb+srv://u:p%40ss@h.net/d", "mongodb+srv://u:[redacted:connection-credential]@h.net/d"),
        ("redis://:s3cr@t@cache:6379", "redis://:[redacted:connection-credential]@cache:6379"),
        ("https:\\/\\/u:s3cr3t@h", "https:\\/\\/u:[redacted:connection-credential]@h"),
        ("https://x:größe12@h", "https://x:[redacted:connection-credential]@h"),
        ("HEROKU_API_KEY=01a22e2c-f205-7081-810f-90dd51931f79", "HEROKU_API_KEY=[redacted:credential]"),
    ] {
        assert_eq!(redactor.text(text), expected);
        assert_eq!(redactor.json(&string(text)), string(expected));
    }
}

const KEY: &str = "MIIEpAIBAAKCAQEA7bq4o1mQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3H\n\
    d6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1M\n\
    wK7m2Xz9Lb4Wn1==";

#[test]
fn private_keys_however_they_are_written() {
    let redactor = redactor();
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n";
    let mark = "[redacted:private-key]";
    for (text, expected) in [
        (format!("a {begin}\n{KEY}\n{end} b"), format!("a {mark} b")),
        (format!("{begin}\n{headers}{KEY}\n{end}\n"), format!("{mark}\n")),
        (format!("{begin}\r\n{}\r\n{end}", KEY.replace('\n', "\r\n")), mark.to_owned()),
        (format!("{begin} {} {end}", KEY.replace('\n', " ")), mark.to_owned()),
        (format!("{begin}\n{KEY}"), mark.to_owned()),
        (format!("{begin}\n{}\n\nand then prose.", &KEY[..100]), format!("{mark}\n\nand then prose.")),
        (
            format!("\"{begin}\\n\" +\n  \"{}\\n\" +\n \"{end}\"", KEY.replace('\n', "\\n\" +\n  \"")),
            format!("\"{mark}\\n\" +\n  \"{mark}\\n\" +\n  \"{mark}\\n\" +\n  \"{mark}\\n\" +\n \"{end}\""),
        ),
    ] {
        assert_eq!(redactor.text(&text), expected);
        let once = string(&text);
        assert_eq!(read(&redactor.json(&once)), expected);
        let twice = string(&once);
        assert_eq!(read(&read(&redactor.json(&twice))), expected);
        assert_eq!(read(&redactor.json(&escaped(&text, 4))), expected);
    }
}

#[test]
fn torn_and_broken_records_keep_their_other_bytes() {
    let redactor = redactor();
    let id = concat!("AKIA", "3QXV7MZK2WPT9RJL");
    for (before, after) in [
        (&b"{\"a\":\"\xff\xfe "[..], &b" \xc3("[..]),
        (b"{\"a\":1}{\"b\":\"", b""),
        (b"\x00\x00\"\\", b"\\"),
        (b"{\"torn\":\"\\n", b"\\u00"),
    ] {
        let record = [before, id.as_bytes(), after].concat();
        let expected = [before, b"[redacted:aws-key-id]", after].concat();
        assert_eq!(redactor.record(&record), expected);
    }
    let plain = b"\xff\x00 \xed\xa0\x80";
    assert!(matches!(redactor.record(plain), Cow::Borrowed(bytes) if bytes == plain));
}

/// Texts made to be slow: literals without end, and stretches that never become a secret.
fn adversaries(size: usize) -> Vec<Vec<u8>> {
    let dull = "a".repeat(size);
    [
        "sk-ant-aa-aaaaaaaaaaaaaaaaaaaaaa-",
        "token=",
        "password=xxxx",
        "eyJaaaaaaaaaa-",
        "eyJaaaaaaaaaa.eyJ ",
        "://a:",
        "https://a:b",
        "\\u0041",
        "\\\\u0073\\u006b-",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "Authorization: ",
        "secret: \"",
        "\"Cookie\": \"a=b;",
        "token=q3Lm9Qx2Vt7Wp4Zd8Rb1Nc6Hj5Yf0Kas&",
        "\\",
        "\\\\npassword=\\\"",
        ":AA1",
        concat!("-----BEGIN RSA PRIVATE", " KEY-----\nMIIEpAIBAAKCAQEA7bq4o1mQ2xV7\n"),
    ]
    .iter()
    .map(|part| part.as_bytes().iter().copied().cycle().take(size).collect())
    .chain(
        [format!("password={dull}"), format!("eyJ{dull}.{dull}"), format!("sk-{}", "a1".repeat(size / 2))]
            .map(String::into_bytes),
    )
    .collect()
}

#[test]
fn what_is_looked_at_grows_with_the_text_and_no_faster() {
    let redactor = redactor();
    for (small, large) in adversaries(100_000).iter().zip(&adversaries(400_000)) {
        let shown = |text: &[u8]| {
            let mut pass = Pass::new(text, true);
            redactor.look(&mut pass, 0);
            pass.shown
        };
        let (few, many) = (shown(small), shown(large));
        let text = String::from_utf8_lossy(&small[..30]).into_owned();
        assert!(many <= 4 * few + 20_000, "{text}: {few} {many}");
        assert!(many <= 16 * large.len(), "{text}: {many}");
    }
}

#[test]
fn a_stream_of_adversaries_is_the_whole() {
    let redactor = redactor();
    let long = [format!("sk-{}", "a1".repeat(1 << 20)), format!("eyJ{0}.{0}", "a".repeat(1 << 20))];
    let texts =
        adversaries(200_000).into_iter().chain(long.map(String::into_bytes)).chain([vec![b'x'; 3 << 20]]);
    for text in texts {
        let (mut streamer, mut out, mut most) = (Streamer::new(redactor), Vec::new(), 0);
        for chunk in text.chunks(10_000) {
            streamer.push(chunk, &mut out);
            most = most.max(streamer.held());
        }
        streamer.finish(&mut out);
        let name = String::from_utf8_lossy(&text[..30]).into_owned();
        assert!(out == *redactor.record(&text), "{name}");
        assert!(most <= 2 << 20, "{name}: {most}");
    }
}

/// Pieces that make texts worth redacting when put together.
fn piece() -> impl Strategy<Value = String> {
    let yes: Vec<String> = RULES.iter().map(|rule| rule.yes.to_owned()).collect();
    let no: Vec<String> = RULES.iter().map(|rule| rule.no.to_owned()).collect();
    let keywords: Vec<String> =
        RULES.iter().flat_map(|rule| rule.keywords).map(|&keyword| keyword.to_owned()).collect();
    let glue = [
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "\\\"",
        "\\\\",
        "\\n",
        "\\u0041",
        "\\u",
        "=",
        ": ",
        "://",
        "@",
        ".",
        "-",
        "a",
        "ü",
        "😀",
        "{",
        "}",
        "9",
        "[redacted:",
        "]",
        "x:y@",
        "password",
        " = \"",
        "Bearer ",
        "q3Lm9Qx2Vt7Wp4Zd8Rb1",
        "-----END",
        "\t",
        ";",
        ",",
    ];
    prop_oneof![
        2 => prop::sample::select(yes),
        1 => prop::sample::select(no),
        2 => prop::sample::select(keywords),
        6 => prop::sample::select(glue.map(str::to_owned).to_vec()),
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        text().prop_map(Value::String),
        text().prop_map(|text| Value::String(string(&text))),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
        Just(Value::Bool(true)),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let object = prop::collection::vec((text(), inner.clone()), 0..5)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()));
        prop_oneof![prop::collection::vec(inner, 0..5).prop_map(Value::Array), object]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_stays_json(value in value(), every in 1usize..9, pretty: bool) {
        let redactor = redactor();
        let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        for json in [json.clone(), escaped(&json, every)] {
            let redacted = redactor.json(&json);
            prop_assert!(is_json(&redacted), "{json}\n{redacted}");
            let again = redactor.json(&redacted);
            prop_assert_eq!(&again, &redacted);
            // What is outside of strings is the same.
            let skeleton = |json: &str| {
                let mut bytes = Vec::new();
                let (mut inside, mut at) = (false, 0);
                let json = json.as_bytes();
                while at < json.len() {
                    match json[at] {
                        b'\\' => at += 1,
                        b'"' => { inside = !inside; bytes.push(b'"'); }
                        byte if !inside => bytes.push(byte),
                        _ => {}
                    }
                    at += 1;
                }
                bytes
            };
            prop_assert_eq!(skeleton(&json), skeleton(&redacted));
        }
    }

    #[test]
    fn twice_is_once(text in text()) {
        let redactor = redactor();
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once), once.as_str(), "{}", text);
    }

    #[test]
    fn any_bytes_pass(bytes in prop::collection::vec(any::<u8>(), 0..400), text in text()) {
        let redactor = redactor();
        let mixed = [&bytes[..bytes.len() / 2], text.as_bytes(), &bytes[bytes.len() / 2..]].concat();
        for record in [&bytes, &mixed] {
            let once = redactor.record(record);
            prop_assert_eq!(&redactor.record(&once), &once);
        }
    }

    #[test]
    fn pieces_give_the_whole(texts in prop::collection::vec(value(), 1..12), cuts in prop::collection::vec(1usize..3000, 1..20), step in 1usize..2000) {
        let redactor = redactor();
        let lines: Vec<String> = texts.iter().map(|value| serde_json::to_string(value).unwrap()).collect();
        let lines = lines.join("\n");
        let (mut streamer, mut out, mut rest) = (Streamer::with_step(redactor, step), Vec::new(), lines.as_bytes());
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, later) = rest.split_at((*cut).min(rest.len()));
            streamer.push(chunk, &mut out);
            rest = later;
        }
        streamer.finish(&mut out);
        prop_assert_eq!(String::from_utf8_lossy(&out), redactor.text(&lines));
    }
}
