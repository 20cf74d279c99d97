//! Sets with content in every section.

use serde_json::json;

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::access::UnixSeconds;
use portcullis_testkit::Captures;

use crate::compile::{CompileConfig, to_vec};
use crate::ingest::{IngestConfig, Input, ingest};

/// The agents in these tests.
pub const AGENTS: [&str; 4] = ["ExampleBot", "Other+ExampleBot", "Third", "Nobody"];

const A: &str = "\
User-agent: ExampleBot
User-agent: other
Disallow: /private/
Allow: /private/index.html
Crawl-delay: 3

User-agent: *
Disallow: /*.php$
Disallow: /b/*/c
Allow: /b/d/c

User-agent: EXAMPLEBOT
Disallow: /late
Content-Usage: search=y, train-ai=n
Content-Usage: /b/*/c train-ai=y
Content-Usage: /b/d/* train-ai=n, search=n
Content-Signal: /late search=no
License: https://l.example/a
Sitemap: https://a.example/sitemap.xml
";

const B: &str = "License: https://l.example/b\nContent-Signal: ai-train=no\nUser-agent: Third\nDisallow:\n\n\
    User-agent: Example\nContent-Usage: train-ai=y\nUser-agent: Nobody\nDisallow: /%7Ex\n";

/// Returns rules with several stars each.
fn many_stars() -> String {
    let rules = (0..12).map(|n| format!("Disallow: /*{n}*x*{}*y\nAllow: /*{n}*z\n", n * 7 % 12));
    format!("User-agent: *\n{}", rules.collect::<String>())
}

/// The crawlers of [`many_groups`].
const ROBOTS: usize = 68;

/// Returns a large group, whose rules match nothing, that applies together with each of many small groups.
fn many_groups() -> String {
    let (rules, robots) = (4_096, ROBOTS);
    let names: String = (0..robots).map(|n| format!("User-agent: r{}\n", letters(n))).collect();
    let group =
        |n: usize| format!("User-agent: r{0}\nDisallow: /{0}\nAllow: /x/*{0}\n", letters(n));
    let groups: String = (0..robots).map(group).collect();
    let usage = "Content-Usage: /x/*a train-ai=n\nContent-Usage: /*b search=y\nLicense: l\n";
    format!("{names}{}Allow: /x\n{usage}{groups}", "Disallow:\n".repeat(rules))
}

/// Returns a number as a token that every dialect accepts.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

/// Returns the last crawler of [`many_groups`].
pub fn last_robot() -> String {
    format!("r{}", letters(ROBOTS - 1))
}

/// Returns the time of a day; none for 0.
fn day(day: u64) -> String {
    if day == 0 { String::new() } else { UnixSeconds(day * 86_400).to_rfc3339() }
}

/// Compiles all responses into a set, with or without history.
pub fn compile(captures: &Captures, dialect: &'static Dialect, history: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = captures.write(folder.path(), "a.jsonl");
    let config = IngestConfig { history, ..IngestConfig::new(dialect, None) };
    let ingested = ingest(&[Input::new(path)], &config, &()).unwrap();
    let config = CompileConfig::new(dialect, None);
    to_vec(&ingested.standings, &config).unwrap()
}

/// Returns a set with every kind of policy and of stored rule set, and every kind of capture that
/// is stored for merging.
pub fn small(dialect: &'static Dialect) -> Vec<u8> {
    compile(&captures(), dialect, false)
}

/// Returns a set with the history of the hosts of [`small`], and with several captures of some:
/// timelines that follow from their captures and others that do not.
pub fn with_history(dialect: &'static Dialect) -> Vec<u8> {
    let mut archive = captures();
    let a = "https://a.example/robots.txt";
    archive.push(a, &day(5), 200, B);
    archive.push(a, &day(6), 200, A);
    archive.push("http://b.example/robots.txt", &day(9), 200, A);
    // An outage that becomes long, and ends.
    archive.push("https://b.example/robots.txt", &day(2), 200, A);
    archive.push("https://b.example/robots.txt", &day(45), 404, "");
    archive.push("http://c.example/robots.txt", &day(9), 503, "");
    // A file that changes behind a redirect, and a redirect that ends.
    archive.push("http://moved.example/there", &day(8), 200, B);
    archive.push("http://moved.example/robots.txt", &day(9), 304, "");
    // A file that changes often behind two redirects, whose timeline is followed.
    for (from, to) in [("far", "https://near.example"), ("near", "http://often.example")] {
        let location = json!({"headers": {"Location": format!("{to}/robots.txt")}});
        let url = |scheme| format!("{scheme}://{from}.example/robots.txt");
        archive.push_with(&url("https"), &day(10), 301, location.clone());
        archive.push_with(&url("http"), &day(11), 301, location);
    }
    for number in 20..34 {
        let text = if number % 3 == 0 { A } else { B };
        archive.push("http://often.example/robots.txt", &day(number), 200, text);
    }
    // Captures of one second.
    archive.push("https://c.example/robots.txt", &day(5), 200, A);
    archive.push("https://c.example/robots.txt", &day(5), 503, "");
    compile(&archive, dialect, true)
}

/// Returns the captures of [`small`].
fn captures() -> Captures {
    let mut archive = Captures::default();
    for scheme in ["http", "https"] {
        archive.push(&format!("{scheme}://a.example/robots.txt"), &day(3), 200, A);
    }
    archive.push("http://b.example/robots.txt", "", 200, B);
    archive.push("https://b.example/robots.txt", &day(6), 503, "");
    archive.push("https://b.example:8080/robots.txt", &day(3), 200, A);
    archive.push("http://c.example/robots.txt", &day(7), 404, "");
    archive.push("https://c.example/robots.txt", &day(5), 200, "# nothing\n");
    archive.push("ftp://d.example/robots.txt", "", 200, B);
    archive.push("http://stars.example/robots.txt", &day(4), 200, &many_stars());
    // A file that is confirmed, one behind a redirect, and one followed by an outage.
    archive.push("http://confirmed.example/robots.txt", &day(3), 200, B);
    archive.push("http://confirmed.example/robots.txt", &day(8), 304, "");
    let location = json!({"headers": {"Location": "/there"}});
    archive.push_with("http://moved.example/robots.txt", &day(4), 302, location);
    archive.push("http://moved.example/there", &day(4), 200, "User-agent: *\nDisallow: /m\n");
    // A file that is two days newer than the redirect to it.
    let location = json!({"headers": {"Location": "http://stars.example/robots.txt"}});
    archive.push_with("http://wide.example/robots.txt", &day(2), 302, location);
    for (number, status) in [(3, 200), (5, 503), (6, 500), (50, 503)] {
        archive.push("http://outage.example/robots.txt", &day(number), status, B);
    }
    archive
}

/// Returns a set of one policy with more combinations of groups than are ordered eagerly.
pub fn of_groups(dialect: &'static Dialect) -> Vec<u8> {
    let mut archive = Captures::default();
    for scheme in ["http", "https"] {
        archive.push(&format!("{scheme}://a.example/robots.txt"), &day(3), 200, &many_groups());
    }
    archive.push("http://b.example/robots.txt", &day(4), 200, A);
    compile(&archive, dialect, false)
}

/// Returns times in many moments of [`with_history`], and before all of them; none for one of them.
pub fn times() -> Vec<Option<UnixSeconds>> {
    let dates = [0, 3, 4, 5, 6, 8, 9, 25, 27, 38, 60].map(|day| day * 86_400);
    let between = [2 * 86_400 - 1, 36 * 86_400 + 1];
    dates.into_iter().chain(between).map(|at| Some(UnixSeconds(at))).chain([None]).collect()
}

/// Returns URLs that together match rules of every policy.
pub fn urls() -> Vec<String> {
    let hosts = [
        "http://a.example",
        "https://a.example",
        "http://b.example",
        "https://b.example",
        "https://b.example:8080",
        "http://c.example",
        "https://c.example",
        "ftp://d.example",
        "http://stars.example",
        "http://confirmed.example",
        "http://moved.example",
        "http://outage.example",
        "http://wide.example",
        "http://far.example",
        "https://far.example",
        "https://near.example",
        "http://unknown.example",
    ];
    let paths = [
        "/",
        "/robots.txt",
        "/private/x",
        "/private/",
        "/late/x.php",
        "/b/x/c",
        "/b/d/c",
        "/~x",
        "/1x7y",
        "/x/a",
    ];
    hosts.iter().flat_map(|host| paths.iter().map(move |path| format!("{host}{path}"))).collect()
}
