//! One hostile file stops no command: whatever its shape, each command ends within a bound on its
//! processor time, which the system enforces, so the tests hold on a busy machine too.
//!
//! The shapes are those that once kept a command busy for a minute: many crawlers with many rules, each
//! crawler with another combination of groups; one rule again and again; patterns that differ in the
//! places of their stars alone; one long line.

use std::fmt::Write as _;
use std::fs;

use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_testkit::Random;

use super::{Folder, portcullis};

/// The processor time of a command, in seconds. Most take a tenth of one; without bounds, the worst
/// take minutes.
const SECONDS_MAX: u32 = 8;

const COMMANDS: [&str; 10] = [
    "check --explain --robots robots.txt -a a1 https://a.example/ https://a.example/zz/1",
    "classify --robots robots.txt -a a1,b urls",
    "lint --diff robots.txt",
    "diff robots.txt changed.txt",
    "audit --robots robots.txt -a a1,b -o page.html urls",
    "survey --robots robots.txt -a a1,b",
    "compile --history -o set captures.jsonl",
    "inspect set --verify",
    "inspect set a.example",
    "classify -p set -a a1,a4000,b --usage search --columns verdict,line,rule,group many",
];

/// The URLs of one list: as many as show that a record does not cost a look at the whole file.
const MANY: usize = 2_000;

/// Runs all commands on a file, and on the pair of it and one with another rule at `changed`.
#[track_caller]
fn check(robots: &str, changed: (&str, &str)) {
    let mut robots = robots.to_owned();
    robots.truncate(robots[..robots.len().min(ROBOTS_BYTES_MAX)].rfind('\n').unwrap() + 1);
    let other = robots.replacen(changed.0, changed.1, 1);
    assert!(other != robots, "the second file differs");
    let folder = Folder::new();
    let capture = |(body, day): (&str, u32)| {
        let mut line = serde_json::json!({
            "url": "https://a.example/robots.txt",
            "status": 200,
            "body": body,
            "fetched_at": format!("2024-01-0{day}T00:00:00Z"),
        })
        .to_string();
        line.push('\n');
        line
    };
    folder.write("captures.jsonl", [(&*robots, 1), (&*other, 2)].map(capture).concat());
    folder.write("robots.txt", robots);
    folder.write("changed.txt", other);
    let urls =
        (0..30).map(|number| format!("https://a.example/a{number}/{}\n", "a".repeat(number)));
    folder.write("urls", urls.collect::<String>());
    let many = (0..MANY).map(|number| format!("https://a.example/{number}x\n"));
    folder.write("many", many.collect::<String>());
    let program = portcullis().get_program().to_owned();
    for command in COMMANDS {
        let limited = format!("ulimit -t {SECONDS_MAX}; exec \"$0\" \"$@\"");
        let mut process = std::process::Command::new("sh");
        process.current_dir(folder.path("")).args(["-c", &limited]).arg(&program);
        let output = process.args(command.split_whitespace()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        // A process that the system ends has no status.
        assert!(output.status.code().is_some_and(|status| status <= 2), "{command}: {err}");
        assert!(fs::metadata(folder.path("robots.txt")).is_ok());
    }
}

/// Returns user-agent lines of the crawlers `a0` to the last.
fn robots(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "User-agent: a{number}");
        text
    })
}

/// Returns a group for each crawler, with the rule that `rule` returns.
fn each(count: usize, rule: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "User-agent: a{number}\n{}", rule(number));
        text
    })
}

/// Returns rules of two to six random words of `letters`, joined by stars.
fn random_rules(count: usize, letters: &[u8], words: usize, bytes: usize) -> String {
    let mut random = Random::new(38);
    let mut text = String::new();
    for _ in 0..count {
        let field = *random.pick(&["Allow", "Disallow"]);
        let words = (0..random.within(2..=words)).map(|_| random.word(letters, 1..=bytes));
        let words: Vec<Vec<u8>> = words.collect();
        let _ = writeln!(text, "{field}: /{}", String::from_utf8(words.join(&b'*')).unwrap());
    }
    text
}

#[test]
fn one_rule_for_many_robots() {
    check(&format!("{}Disallow: /x\n", robots(27_000)), ("/x", "/y"));
}

#[test]
fn each_robot_with_rules_of_its_own_beside_those_of_all() {
    let common = random_rules(3_500, b"ab", 20, 3);
    let own = each(5_300, |number| format!("Disallow: /{number}"));
    check(&format!("{}Disallow: /x\n{common}{own}", robots(6_000)), ("/x", "/y"));
}

#[test]
fn combinations_of_many_short_rules() {
    let common: String = (0..8_000).map(|number| format!("Disallow:/{number}*x\n")).collect();
    let own = each(6_000, |number| format!("Allow:/{number}"));
    check(&format!("{}{common}{own}", robots(6_000)), ("/7*x", "/7*y"));
}

#[test]
fn few_robots_with_stars_in_a_small_file() {
    let common = random_rules(2_300, b"aZ", 3, 3);
    let own = each(100, |_| "Disallow: /aZ*Z\n".to_owned());
    check(&format!("{}Disallow: /x\n{common}{own}", robots(100)), ("/x", "/Za*Z"));
}

#[test]
fn patterns_that_differ_in_the_places_of_stars_alone() {
    let mut random = Random::new(39);
    let mut pattern = || {
        let mut bytes = vec![b'a'; 40];
        (0..10).for_each(|_| bytes[random.within(1..=39)] = b'*');
        let stars = bytes.iter().filter(|byte| **byte == b'*').count();
        bytes.resize(40 + stars, b'a');
        String::from_utf8(bytes).unwrap()
    };
    let rules: String = (0..9_000).map(|_| format!("Allow: /{}\n", pattern())).collect();
    check(&format!("{}Disallow: /x\n{rules}", robots(100)), ("/x", "/a*y"));
}

#[test]
fn one_rule_again_and_again() {
    let rules = "Allow:*ZZe*Q\n".repeat(39_000);
    check(&format!("User-agent: *\n{rules}"), ("Q", "R"));
    let rules = "Allow: /=?*a*=?$\n".repeat(2_300);
    let own = each(160, |_| "Allow: /=?*a*=?$".to_owned());
    check(&format!("{}{rules}{own}", robots(1_000)), ("/=?*a", "/=?*b"));
}

#[test]
fn distinct_literals_behind_stars() {
    let mut random = Random::new(40);
    let mut literal = || String::from_utf8(random.word(b"abcdefghijklmnopqrstuvwxyz", 4..=4));
    let rules: String = (0..42_000).map(|_| format!("Allow:*{}\n", literal().unwrap())).collect();
    check(&format!("User-agent: *\nDisallow: /x\n{rules}"), ("/x", "/y"));
}

#[test]
fn one_long_line() {
    check(
        &format!("User-agent: *\nDisallow: /x\nDisallow: /{}\n", "\u{1}".repeat(511_000)),
        ("/x", "/y"),
    );
    check(
        &format!("User-agent: *\nDisallow: /x\nDisallow: /{}\n", "a*".repeat(255_000)),
        ("/x", "/y"),
    );
}

#[test]
fn needless_rules_and_stars() {
    let rules: String =
        (0..16_000).map(|it| format!("Disallow:/{it}\nDisallow:/{it}*\n")).collect();
    check(&format!("User-agent:*\n{rules}"), ("/5\n", "/x\n"));
}

#[test]
fn robots_in_several_groups() {
    let robots = robots(14_000);
    check(&format!("{robots}Disallow:/a\n{robots}Disallow:/b\n"), ("/a", "/c"));
    check(&each(22_000, |_| "Allow:/".to_owned()), ("Allow:/", "Disallow:/"));
    check(&format!("{}Allow:/\n", robots.replace('\n', "\n\n")), ("Allow:/", "Disallow:/"));
    check(&"User-agent: a1\nDisallow: /x\n\n".repeat(17_000), ("/x", "/y"));
}

#[test]
fn statements_of_many_stars() {
    let mut random = Random::new(41);
    let mut pattern = || {
        let words: Vec<Vec<u8>> = (0..9).map(|_| random.word(b"a", 60..=140)).collect();
        String::from_utf8(words.join(&b'*')).unwrap()
    };
    let lines: String = (0..420)
        .map(|it| format!("Content-Signal: /{} ai-train={}\n", pattern(), ["yes", "no"][it % 2]))
        .collect();
    check(&format!("User-agent: *\nDisallow: /x\n{lines}"), ("/x", "/y"));
}
