//! Sets with something in every section.

use crate::access::UnixSeconds;
use crate::dialect::Dialect;
use crate::limits::POLICY_PATTERNS_MAX;
use crate::set::compile::{CompileConfig, to_vec};
use crate::set::{BlobPool, CaptureFacts, Content, HostStanding, Standing};
use crate::syntax::RobotsTxt;

/// Who asks in these tests.
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
Sitemap: https://a.example/sitemap.xml
";

const B: &str = "User-agent: Third\nDisallow:\n\nUser-agent: Example\nDisallow: /%7Ex\n";

/// Rules of several stars each.
fn many_stars() -> String {
    let rules = (0..12).map(|n| format!("Disallow: /*{n}*x*{}*y\nAllow: /*{n}*z\n", n * 7 % 12));
    format!("User-agent: *\n{}", rules.collect::<String>())
}

/// More rules than are ordered ahead, in as few octets as possible: a large group whose rules
/// match nothing is obeyed together with each of many small ones.
fn many_groups() -> String {
    let rules = 4_096;
    let robots = POLICY_PATTERNS_MAX / rules + 4;
    let names: String = (0..robots).map(|n| format!("User-agent: r{}\n", letters(n))).collect();
    let group =
        |n: usize| format!("User-agent: r{0}\nDisallow: /{0}\nAllow: /x/*{0}\n", letters(n));
    let groups: String = (0..robots).map(group).collect();
    format!("{names}{}Allow: /x\n{groups}", "Disallow:\n".repeat(rules))
}

/// A number as a token that every dialect knows.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

/// The last robot of [`many_groups`].
pub fn last_robot() -> String {
    format!("r{}", letters(POLICY_PATTERNS_MAX / 4_096 + 3))
}

pub struct Builder {
    dialect: &'static Dialect,
    pool: BlobPool,
    hosts: Vec<HostStanding>,
}

impl Builder {
    pub fn new(dialect: &'static Dialect) -> Builder {
        Builder { dialect, pool: BlobPool::default(), hosts: Vec::new() }
    }

    pub fn file(&mut self, text: &str, day: u64) -> Option<Standing> {
        let file = RobotsTxt::parse(text.as_bytes(), self.dialect, None);
        let mut blob = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut octets = Vec::new();
            write(&mut octets);
            self.pool.intern(&octets, BlobPool::hash(&octets))
        };
        let content = Content::File {
            extract: blob(&|out| file.write_extract(text.as_bytes(), out)),
            others: blob(&|out| file.write_others(text.as_bytes(), out)),
        };
        Some(Standing { content, facts: facts(day) })
    }

    pub fn host(&mut self, key: &str, http: Option<Standing>, https: Option<Standing>) {
        self.hosts.push(HostStanding { key: key.as_bytes().into(), http, https });
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.hosts.sort_by(|one, other| one.key.cmp(&other.key));
        let config = CompileConfig::new(self.dialect, None);
        to_vec(&self.hosts, &self.pool, &config).unwrap()
    }
}

fn facts(day: u64) -> CaptureFacts {
    let date = (day > 0).then_some(UnixSeconds(day * 86_400));
    CaptureFacts {
        captured_at: date,
        expires_at: date.map(|date| date.after(3_600)),
        status: 200,
        ..CaptureFacts::default()
    }
}

/// Each kind of policy and of rule set that is stored or kept as patterns.
pub fn small(dialect: &'static Dialect) -> Vec<u8> {
    let mut builder = Builder::new(dialect);
    let access =
        |outcome, day| Some(Standing { content: Content::Access(outcome), facts: facts(day) });
    let (a, b) = (builder.file(A, 3), builder.file(B, 0));
    let (stars, empty) = (builder.file(&many_stars(), 4), builder.file("# nothing\n", 5));
    let rules = &dialect.access;
    builder.host("a.example", a, a);
    builder.host("b.example", b, access(rules.server_error, 6));
    builder.host("b.example:8080", None, a);
    builder.host("c.example", access(rules.not_found, 7), empty);
    builder.host("ftp://d.example", b, None);
    builder.host("stars.example", stars, None);
    builder.finish()
}

/// One policy with more combinations of groups than are ordered ahead.
pub fn of_groups(dialect: &'static Dialect) -> Vec<u8> {
    let mut builder = Builder::new(dialect);
    let (many, a) = (builder.file(&many_groups(), 3), builder.file(A, 4));
    builder.host("a.example", many, many);
    builder.host("b.example", a, None);
    builder.finish()
}

/// URLs for which every policy has something to say.
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
