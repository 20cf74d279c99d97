//! A seeded generator of robots.txt files and URLs with oddities everywhere.

use portcullis_testkit::Random;

/// A file, and the patterns that URLs are derived from.
pub struct RobotsFile {
    pub text: Vec<u8>,
    pub patterns: Vec<Vec<u8>>,
}

/// Agents, not all of which every dialect accepts.
pub const CHAINS: [&[&str]; 8] = [
    &["ExampleBot"],
    &["bot"],
    &["Other-Bot_x", "ExampleBot"],
    &["MJ12bot", "bot"],
    &["other.bot2"],
    &["Example Bot/1.0"],
    &["Unnamed"],
    &["bot*", "bot"],
];

/// Spellings of a field: those that every dialect accepts, and those that only some or none do.
struct Field {
    right: &'static [&'static [u8]],
    odd: &'static [&'static [u8]],
}

const USER_AGENT: Field = Field {
    right: &[b"User-agent", b"user-agent", b"USER-AGENT"],
    odd: &[b"useragent", b"user agent", b"user-agents", b"user_agent", b"user-agen"],
};

const ALLOW: Field =
    Field { right: &[b"Allow", b"allow", b"ALLOW"], odd: &[b"allowed", b"alow", b"allow "] };

const DISALLOW: Field = Field {
    right: &[b"Disallow", b"disallow", b"DISALLOW"],
    odd: &[b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw", b"disallowed"],
};

const OTHERS: Field = Field {
    right: &[b"Sitemap", b"Crawl-delay", b"Clean-param"],
    odd: &[b"site-map", b"Host", b"Noindex"],
};

const NAMES: [&[u8]; 19] = [
    b"*",
    b"*",
    b"*",
    b"* ExampleBot",
    b"*\x0bbot",
    b"*bot",
    b"Bot*",
    b"ExampleBot",
    b"examplebot",
    b"ExampleBot/1.0",
    b"ExampleBot 1.0",
    b"ExampleBot*",
    b"Example",
    b"bot",
    b"Other-Bot_x",
    b"MJ12bot",
    b"other.bot2",
    b"\xc3\xa9bot",
    b"",
];

/// The pieces of patterns and paths.
const PIECES: [&[u8]; 40] = [
    b"a",
    b"a",
    b"a",
    b"b",
    b"b",
    b"ab",
    b"A",
    b"/",
    b"/",
    b"/",
    b".",
    b"-",
    b"~",
    b"?",
    b"=",
    b"&",
    b";",
    b":",
    b"@",
    b"!",
    b"|",
    b"\"",
    b"\\",
    b" ",
    b"index.htm",
    b"/index.html",
    b"robots.txt",
    b"%",
    b"%4",
    b"%61",
    b"%2f",
    b"%2F",
    b"%7e",
    b"%2a",
    b"%24",
    b"%25",
    b"%e3%81",
    b"\xe3\x81",
    b"\xff",
    b"%zz",
];

const WHITE_SPACE: &[u8] = b"  \t\x0b\x0c";
const CONTROLS: &[u8] = b"\0\0\x01\x07\x0b\x1f\x7f\x80";

/// The longest line that google/robotstxt reads in full.
const LINE_BYTES: usize = portcullis_dialect::limits::GOOGLE_LINE_BYTES_MAX;

/// Returns a file of up to 24 lines. Two in three are well-formed.
pub fn robots_file(random: &mut Random) -> RobotsFile {
    let odd = random.one_in(3);
    let mut file = RobotsFile { text: Vec::new(), patterns: Vec::new() };
    if odd {
        file.text.extend_from_slice(byte_order_mark(random));
    }
    let ends: &[&'static [u8]] = match random.below(5) {
        0 => &[b"\r\n"],
        1 => &[b"\r"],
        2 if odd => &[b"\n", b"\r", b"\r\n", b"\n\r", b"\r\r\n"],
        _ => &[b"\n"],
    };
    for index in 0..random.within(0..=24) {
        let mut line = match index {
            0 if !odd => record(random, odd, &USER_AGENT, b"*"),
            _ => line(random, odd, &mut file.patterns),
        };
        if odd && random.one_in(6) {
            distort(random, &mut line);
        }
        file.text.extend(line);
        file.text.extend_from_slice(pick(random, ends));
    }
    if random.one_in(4) {
        file.text.pop();
    }
    file
}

/// Returns one of `choices`.
fn pick(random: &mut Random, choices: &[&'static [u8]]) -> &'static [u8] {
    choices[random.below(choices.len())]
}

fn byte_order_mark(random: &mut Random) -> &'static [u8] {
    match random.below(16) {
        0 => b"\xef\xbb\xbf",
        1 => pick(random, &[b"\xef", b"\xef\xbb", b"\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf"]),
        _ => b"",
    }
}

fn line(random: &mut Random, odd: bool, patterns: &mut Vec<Vec<u8>>) -> Vec<u8> {
    match random.below(24) {
        0..4 => {
            let name = pick(random, &NAMES);
            record(random, odd, &USER_AGENT, name)
        }
        4..20 => {
            let pattern = pattern(random);
            let field = if random.one_in(2) { &ALLOW } else { &DISALLOW };
            let line = record(random, odd, field, &pattern);
            patterns.push(pattern);
            line
        }
        20 => record(random, odd, &OTHERS, b"https://example.com/s"),
        21 if odd => random.word(b"abU:/*# \t\xc3\0<>", 0..=12),
        21 | 22 => pick(random, &[b"# no rule", b" #"]).to_vec(),
        _ => pick(random, &[b"", b"", b" \t", b"\x0b"]).to_vec(),
    }
}

fn record(random: &mut Random, odd: bool, field: &Field, value: &[u8]) -> Vec<u8> {
    let spellings = if odd && random.one_in(4) { field.odd } else { field.right };
    let separator: &[u8] = match random.below(if odd { 24 } else { 240 }) {
        0 => b":",
        1 => b" : ",
        2 => b"\t:\t",
        3 => b" ",
        4 => b"\t\t",
        5 => b"::",
        6 => b"",
        _ => b": ",
    };
    let mut line = [pick(random, spellings), separator, value].concat();
    if random.one_in(6) {
        line = [random.word(WHITE_SPACE, 0..=2), line, random.word(WHITE_SPACE, 0..=2)].concat();
    }
    if random.one_in(8) {
        line.extend_from_slice(pick(random, &[b"# why", b" # why: /a", b"#"]));
    }
    line
}

/// Damages a line: inserts a control byte, truncates it, or pads it to the line limit.
fn distort(random: &mut Random, line: &mut Vec<u8>) {
    let position = random.within(0..=line.len());
    match random.below(4) {
        0 | 1 => line.insert(position, *random.pick(CONTROLS)),
        2 => line.truncate(position),
        _ => {
            // The padding puts the limit into the text that follows it.
            let byte = *random.pick(b" \t*#");
            let wanted = LINE_BYTES - 6 + random.below(12);
            let padding = vec![byte; wanted.saturating_sub(line.len())];
            line.splice(position..position, padding);
        }
    }
}

fn pattern(random: &mut Random) -> Vec<u8> {
    let mut pattern = match random.below(16) {
        0 => b"".to_vec(),
        1 => b"*".to_vec(),
        2 => b"$".to_vec(),
        _ => b"/".to_vec(),
    };
    for _ in 0..random.below(4) + random.below(3) {
        if random.one_in(5) {
            pattern.push(*random.pick(b"****$"));
        } else {
            pattern.extend_from_slice(pick(random, &PIECES));
        }
    }
    match random.below(8) {
        0 => pattern.push(b'$'),
        1 => pattern.push(b'*'),
        2 if random.one_in(2) => pattern.extend(b"*$"),
        _ => {}
    }
    pattern
}

/// Returns a record, usually a URL of `origin` that one of `patterns` targets.
pub fn url(random: &mut Random, patterns: &[Vec<u8>], origin: &str) -> Vec<u8> {
    const ENDS: [&[u8]; 10] = [b"", b"", b"", b"", b"", b"", b"", b"#a", b"?a", b"\r"];
    let (scheme, host) = origin.split_once("://").expect("an origin");
    let start = match random.below(16) {
        0 => format!("{scheme}://{host}:8080"),
        1 => "ftp://[::1]".to_owned(),
        2 => format!("{}://{host}/", scheme.to_uppercase()),
        3 => format!("{scheme}://{}", host.to_uppercase()),
        4 => format!("{scheme}://joe@{host}"),
        5 => format!(" \t{origin}"),
        6 => format!("{origin}:{}", if scheme == "https" { 443 } else { 80 }),
        7 if random.one_in(4) => host.to_owned(),
        _ => origin.to_owned(),
    };
    let path = path(random, patterns);
    [start.as_bytes(), &path, pick(random, &ENDS)].concat()
}

fn path(random: &mut Random, patterns: &[Vec<u8>]) -> Vec<u8> {
    if random.one_in(12) {
        return pick(random, &[b"/robots.txt", b"/robots.txt", b"/robots.txt?", b"", b"?a", b";a"])
            .to_vec();
    }
    let mut path = match patterns.is_empty() || random.one_in(10) {
        true => b"/".to_vec(),
        false => {
            let pattern = random.pick(patterns);
            instance(random, pattern)
        }
    };
    for _ in 0..random.below(4).saturating_sub(1) {
        let position = random.within(path.len().min(1)..=path.len());
        match random.below(4) {
            0 => path.truncate(position),
            1 => escape_one(random, &mut path),
            _ => {
                let piece = pick(random, &PIECES);
                path.splice(position..position, piece.iter().copied());
            }
        }
    }
    path
}

/// Returns a path that `pattern` probably matches.
fn instance(random: &mut Random, pattern: &[u8]) -> Vec<u8> {
    let body = pattern.strip_suffix(b"$").filter(|_| !random.one_in(4)).unwrap_or(pattern);
    let mut path = Vec::new();
    for &byte in body {
        match byte {
            b'*' if !random.one_in(8) => {
                for _ in 0..random.below(3) {
                    path.extend_from_slice(pick(random, &PIECES));
                }
            }
            _ => path.push(byte),
        }
    }
    match path.first() {
        Some(b'/') => path,
        _ => [b"/", &path[..]].concat(),
    }
}

/// Escapes one byte, with digits in either case.
fn escape_one(random: &mut Random, path: &mut Vec<u8>) {
    if path.len() > 1 {
        let position = random.within(1..=path.len() - 1);
        let byte = path[position];
        let escape = if random.one_in(2) { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
        path.splice(position..=position, escape.into_bytes());
    }
}
