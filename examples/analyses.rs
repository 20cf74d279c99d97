//! Checks analyses of real files with the oracle: the effect of each rule, and whether two files
//! give the same verdict on every URL.
//!
//! Usage: `analyses ROBOTS_DIR [FILES]`, where ROBOTS_DIR has robots.txt files. FILES of them
//! (default 1,000) are chosen at even distances from the files of at most 64 KiB. For each file,
//! the rules for a robot that no file names are analysed, and random URLs are drawn from the file's
//! own patterns:
//!
//! - a rule that never decides, according to the analysis, decides none of these URLs;
//! - a rule that decides has an example, which it also decides according to the oracle;
//! - the file is compared with itself minus one rule, and with the next file: if the two are
//!   equivalent, all URLs have the same verdict; if not, the examples have the reported verdicts.
//!
//! Prints the number of comparisons and exits with 1 if any of them fails.

use std::path::Path;
use std::process::ExitCode;

use bstr::ByteSlice;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::id::RuleID;
use portcullis_lint::analysis::{
    AgentRules, AnalysisLimits, Equivalence, Robot, RuleAndStatus, RuleStatus, Search, equivalence,
};
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::syntax::{RobotsTxt, Rule};
use portcullis_testkit::Random;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

/// An agent that no file names.
const AGENT: &str = "ExampleBot";

/// The number of URLs per file, of rules whose examples are checked with the oracle, and of files
/// by default.
const URLS: usize = 64;
const EXAMPLES: usize = 32;
const FILES: usize = 1_000;

/// The most bytes of a file, because the oracle reads the whole file for each URL.
const BYTES_MAX: u64 = 64 * 1024;

/// The most problems that are shown.
const SHOWN_MAX: usize = 10;

/// The number of comparisons, and the problems found.
#[derive(Default)]
struct Tally {
    files: u64,
    rules: u64,
    never: u64,
    unknown: u64,
    decisions: u64,
    examples: u64,
    alike: u64,
    different: u64,
    problems: Vec<String>,
}

impl Tally {
    fn add(mut self, other: Tally) -> Tally {
        self.files += other.files;
        self.rules += other.rules;
        self.never += other.never;
        self.unknown += other.unknown;
        self.decisions += other.decisions;
        self.examples += other.examples;
        self.alike += other.alike;
        self.different += other.different;
        self.problems.extend(other.problems);
        self
    }

    fn hold(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }
}

/// A file to check, and its dialect.
struct Subject<'t> {
    name: &'t str,
    dialect: &'static Dialect,
    text: &'t [u8],
    file: RobotsTxt<'t>,
}

impl<'t> Subject<'t> {
    fn new(name: &'t str, dialect: &'static Dialect, text: &'t [u8]) -> Subject<'t> {
        Subject { name, dialect, text, file: RobotsTxt::parse(text, dialect, None) }
    }

    fn rules(&self) -> AgentRules<'_> {
        AgentRules::new(&self.file, Robot::Unnamed, self.dialect)
    }

    fn judge(&self, url: &[u8]) -> Decision {
        oracle::decide(self.dialect, self.text, None, &[AGENT], url)
    }

    fn some_rule(&self, random: &mut Random) -> Option<&Rule<'t>> {
        let rules = self.file.rules();
        rules.get(random.below(rules.len()))
    }

    /// Returns a URL that patterns of the file might match.
    fn url(&self, random: &mut Random) -> Vec<u8> {
        const STARS: [&str; 5] = ["", "x", "a/b", "/", "?q="];
        const ENDS: [&str; 6] = ["", "", "x", "/", "?a=1", ".html"];
        let mut url = b"https://example.com".to_vec();
        let value = self.some_rule(random).map_or(&b"/"[..], |rule| rule.value);
        if !value.starts_with(b"/") {
            url.push(b'/');
        }
        for &byte in value.strip_suffix(b"$").unwrap_or(value) {
            match byte {
                b'*' if random.below(3) == 0 => {
                    let other = self.some_rule(random).map_or(&b""[..], |rule| rule.value);
                    url.extend(other.iter().filter(|byte| !b"*$".contains(byte)));
                }
                b'*' => url.extend_from_slice(STARS[random.below(STARS.len())].as_bytes()),
                _ => url.push(byte),
            }
        }
        if random.below(4) == 0 {
            url.truncate(b"https://example.com/".len() + random.below(value.len()));
        }
        url.extend_from_slice(ENDS[random.below(ENDS.len())].as_bytes());
        url
    }

    fn urls(&self, seed: usize) -> Vec<Vec<u8>> {
        let mut random = Random::new(seed as u64);
        (0..URLS).map(|_| self.url(&mut random)).collect()
    }
}

/// Checks the analysis of each rule with the oracle.
fn hold_statuses(subject: &Subject<'_>, urls: &[Vec<u8>], tally: &mut Tally) {
    let statuses: Vec<RuleAndStatus> = subject.rules().statuses(&AnalysisLimits::default());
    let never = |rule: RuleID| {
        let status = statuses.iter().find(|it| it.rule == rule).map(|it| &it.status);
        matches!(
            status,
            Some(RuleStatus::NeverMatches | RuleStatus::Equal { .. } | RuleStatus::Shadowed { .. })
        )
    };
    tally.rules += statuses.len() as u64;
    let distance = statuses.len().div_ceil(EXAMPLES).max(1);
    for (index, RuleAndStatus { rule, status }) in statuses.iter().enumerate() {
        let example = match status {
            RuleStatus::Decides { example, .. } | RuleStatus::Redundant { example, .. } => example,
            RuleStatus::Unknown(_) => {
                tally.unknown += 1;
                continue;
            }
            _ => {
                tally.never += 1;
                continue;
            }
        };
        if !index.is_multiple_of(distance) {
            continue;
        }
        let url = example.url("https://example.com");
        tally.examples += 1;
        tally.hold(subject.judge(&url).rule == Some(*rule), || {
            format!("{}: rule {} does not decide {}", subject.name, rule.0, url.as_bstr())
        });
    }
    for url in urls {
        if let Some(rule) = subject.judge(url).rule {
            tally.decisions += 1;
            tally.hold(!never(rule), || {
                format!("{}: rule {} decides {}", subject.name, rule.0, url.as_bstr())
            });
        }
    }
}

/// Checks the comparison of two files with the oracle.
fn hold_equivalence(one: &Subject<'_>, two: &Subject<'_>, urls: &[Vec<u8>], tally: &mut Tally) {
    let (first, second) = (one.rules(), two.rules());
    let named = |url: &[u8]| format!("{} and {}: {}", one.name, two.name, url.as_bstr());
    match equivalence(first.rules(), second.rules(), &AnalysisLimits::default()) {
        Equivalence::Equal => {
            tally.alike += 1;
            for url in urls {
                let same = one.judge(url).verdict == two.judge(url).verdict;
                tally.hold(same, || named(url));
            }
        }
        Equivalence::Different { first_allows, second_allows } => {
            tally.different += 1;
            for (search, allows, other) in [(&first_allows, one, two), (&second_allows, two, one)] {
                if let Some(url) = search.example().map(|it| it.url("https://example.com")) {
                    let verdicts = (allows.judge(&url).verdict, other.judge(&url).verdict);
                    tally.examples += 1;
                    tally.hold(verdicts == (Verdict::Allow, Verdict::Disallow), || named(&url));
                }
            }
            for url in urls {
                let verdicts = (one.judge(url).verdict, two.judge(url).verdict);
                let said_not = match verdicts {
                    (Verdict::Allow, Verdict::Disallow) => matches!(first_allows, Search::Nothing),
                    (Verdict::Disallow, Verdict::Allow) => matches!(second_allows, Search::Nothing),
                    _ => false,
                };
                tally.hold(!said_not, || named(url));
            }
        }
        Equivalence::Unknown(_) => tally.unknown += 1,
    }
}

/// Returns the text without one of its rules, chosen at random.
fn less_one_rule(subject: &Subject<'_>, seed: usize) -> Option<Vec<u8>> {
    let rule = subject.some_rule(&mut Random::new(seed as u64))?;
    let mut text = subject.text.to_vec();
    text[rule.span.range()].fill(b'#');
    Some(text)
}

fn hold(files: &[(String, Vec<u8>)], index: usize, dialect: &'static Dialect) -> Tally {
    let subject = |index: usize| {
        let (name, text) = &files[index % files.len()];
        Subject::new(name, dialect, text)
    };
    let (one, next) = (subject(index), subject(index + 1));
    let mut tally = Tally { files: 1, ..Tally::default() };
    let urls = one.urls(index);
    hold_statuses(&one, &urls, &mut tally);
    hold_equivalence(&one, &next, &[urls.clone(), next.urls(index)].concat(), &mut tally);
    if let Some(text) = less_one_rule(&one, index) {
        hold_equivalence(&one, &Subject::new("less a rule", dialect, &text), &urls, &mut tally);
    }
    tally
}

/// Reads files of a folder, chosen at even distances by name.
fn read(folder: &Path, count: usize) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let is_short =
        |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|it| it.len() <= BYTES_MAX);
    let mut paths: Vec<_> = entries.iter().filter(|it| is_short(it)).map(|it| it.path()).collect();
    paths.sort();
    let distance = (paths.len() / count.max(1)).max(1);
    let named = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, std::fs::read(path)?))
    };
    paths.iter().step_by(distance).take(count).map(named).collect()
}

fn run() -> Result<Tally, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, count) = match &arguments[..] {
        [folder] => (folder, FILES),
        [folder, count] => (folder, count.parse()?),
        _ => return Err("usage: analyses ROBOTS_DIR [FILES]".into()),
    };
    let files = read(Path::new(folder), count)?;
    if files.is_empty() {
        return Err(format!("{folder} has no file").into());
    }
    AgentChain::parse(AGENT, &RFC_9309)?;
    let questions = [&RFC_9309, &GOOGLE]
        .into_par_iter()
        .flat_map(|dialect| (0..files.len()).into_par_iter().map(move |index| (dialect, index)));
    Ok(questions
        .map(|(dialect, index)| hold(&files, index, dialect))
        .reduce(Tally::default, Tally::add))
}

fn main() -> ExitCode {
    let tally = match run() {
        Ok(tally) => tally,
        Err(problem) => {
            eprintln!("error: {problem}");
            return ExitCode::FAILURE;
        }
    };
    tally.problems.iter().take(SHOWN_MAX).for_each(|problem| println!("wrong: {problem}"));
    let Tally { files, rules, never, unknown, decisions, examples, alike, different, .. } = tally;
    println!(
        "{files} files in a dialect: {rules} rules, {never} never decide; {alike} pairs alike, {different} not; {unknown} \
         left open by a limit"
    );
    println!(
        "{decisions} decisions and {examples} examples compared, {} otherwise than said",
        tally.problems.len()
    );
    ExitCode::from(u8::from(!tally.problems.is_empty()))
}
