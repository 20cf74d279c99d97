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

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bstr::ByteSlice;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_lint::analysis::{
    AgentRules, AnalysisLimits, Equivalence, Robot, RuleAndStatus, RuleStatus, Search, equivalence,
};
use portcullis_oracle as oracle;
use portcullis_robots::syntax::{RobotsTxt, Rule};
use portcullis_testkit::Random;
use rayon::prelude::*;

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

/// The name and the text of a file.
type NamedText = (String, Vec<u8>);

/// The number of comparisons with the oracle, of questions that a limit left open, and what differs.
#[derive(Default)]
struct Found {
    compared: u64,
    unknown: u64,
    problems: Vec<String>,
}

impl Found {
    fn and(mut self, other: Found) -> Found {
        self.compared += other.compared;
        self.unknown += other.unknown;
        self.problems.extend(other.problems);
        self
    }

    fn hold(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.compared += 1;
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

    /// Returns URLs that patterns of the file might match: patterns with other text for each star.
    fn urls(&self, seed: usize) -> Vec<Vec<u8>> {
        let parts: [&[u8]; 6] = [b"", b"x", b"a/b", b"/", b"?q=", b".html"];
        let mut random = Random::new(seed as u64);
        let url = |_| {
            let value = self.some_rule(&mut random).map_or(&b"/"[..], |rule| rule.value);
            let slash: &[u8] = if value.starts_with(b"/") { b"" } else { b"/" };
            let mut url = [b"https://example.com", slash].concat();
            for &byte in value.strip_suffix(b"$").unwrap_or(value) {
                match byte {
                    b'*' if random.below(3) == 0 => {
                        let other = self.some_rule(&mut random).map_or(&b""[..], |rule| rule.value);
                        url.extend(other.iter().filter(|byte| !b"*$".contains(byte)));
                    }
                    b'*' => url.extend(*random.pick(&parts)),
                    _ => url.push(byte),
                }
            }
            if random.below(4) == 0 {
                url.truncate(b"https://example.com/".len() + random.below(value.len()));
            }
            url.extend(*random.pick(&parts));
            url
        };
        (0..URLS).map(url).collect()
    }

    /// Checks the analysis of each rule with the oracle.
    fn hold_statuses(&self, urls: &[Vec<u8>], found: &mut Found) {
        let statuses: Vec<RuleAndStatus> = self.rules().statuses(&AnalysisLimits::default());
        let distance = statuses.len().div_ceil(EXAMPLES).max(1);
        let mut never = Vec::new();
        for (index, RuleAndStatus { rule, status }) in statuses.iter().enumerate() {
            match status {
                RuleStatus::Decides { example, .. } | RuleStatus::Redundant { example, .. } => {
                    if index.is_multiple_of(distance) {
                        let url = example.url("https://example.com");
                        found.hold(self.judge(&url).rule == Some(*rule), || {
                            format!("{}: rule {} loses {}", self.name, rule.0, url.as_bstr())
                        });
                    }
                }
                RuleStatus::Unknown(_) => found.unknown += 1,
                RuleStatus::NeverMatches
                | RuleStatus::Equal { .. }
                | RuleStatus::Shadowed { .. } => never.push(*rule),
            }
        }
        for url in urls {
            if let Some(rule) = self.judge(url).rule {
                found.hold(!never.contains(&rule), || {
                    format!("{}: rule {} decides {}", self.name, rule.0, url.as_bstr())
                });
            }
        }
    }

    /// Checks the comparison with another file.
    fn hold_equivalence(&self, two: &Subject<'_>, urls: &[Vec<u8>], found: &mut Found) {
        let (first, second) = (self.rules(), two.rules());
        let named = |url: &[u8]| format!("{} and {}: {}", self.name, two.name, url.as_bstr());
        let answer = equivalence(first.rules(), second.rules(), &AnalysisLimits::default());
        let (first_allows, second_allows) = match answer {
            Equivalence::Equal => (Search::Nothing, Search::Nothing),
            Equivalence::Different { first_allows, second_allows } => (first_allows, second_allows),
            Equivalence::Unknown(_) => return found.unknown += 1,
        };
        for (search, one, other) in [(first_allows, self, two), (second_allows, two, self)] {
            let differs = |url: &[u8]| {
                let verdicts = (one.judge(url).verdict, other.judge(url).verdict);
                verdicts == (Verdict::Allow, Verdict::Disallow)
            };
            match &search {
                Search::Found(example) => {
                    let url = example.url("https://example.com");
                    found.hold(differs(&url), || named(&url));
                }
                Search::Nothing => {
                    urls.iter().for_each(|url| found.hold(!differs(url), || named(url)));
                }
                Search::Unknown(_) => found.unknown += 1,
            }
        }
    }
}

fn hold(files: &[NamedText], index: usize, dialect: &'static Dialect) -> Found {
    let subject = |index: usize| {
        let (name, text) = &files[index % files.len()];
        Subject::new(name, dialect, text)
    };
    let (one, next) = (subject(index), subject(index + 1));
    let mut found = Found::default();
    let urls = one.urls(index);
    one.hold_statuses(&urls, &mut found);
    one.hold_equivalence(&next, &[urls.clone(), next.urls(index)].concat(), &mut found);
    if let Some(rule) = one.some_rule(&mut Random::new(index as u64)) {
        let mut text = one.text.to_vec();
        text[rule.span.range()].fill(b'#');
        one.hold_equivalence(&Subject::new("less a rule", dialect, &text), &urls, &mut found);
    }
    found
}

/// Reads files of a folder, chosen at even distances by name.
fn read(folder: &Path, count: usize) -> Result<Vec<NamedText>, Box<dyn Error>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let entries = entries.iter().filter(|it| it.metadata().is_ok_and(|it| it.len() <= BYTES_MAX));
    let mut paths: Vec<PathBuf> = entries.map(|it| it.path()).collect();
    paths.sort();
    let distance = (paths.len() / count.max(1)).max(1);
    let chosen = paths.iter().step_by(distance).take(count);
    chosen.map(|path| Ok((path.display().to_string(), std::fs::read(path)?))).collect()
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, count) = match &arguments[..] {
        [folder] => (folder, FILES),
        [folder, count] => (folder, count.parse()?),
        _ => return Err("usage: analyses ROBOTS_DIR [FILES]".into()),
    };
    let files = read(folder.as_ref(), count)?;
    let questions = [&RFC_9309, &GOOGLE]
        .into_par_iter()
        .flat_map(|dialect| (0..files.len()).into_par_iter().map(move |index| (dialect, index)));
    let found = questions
        .map(|(dialect, index)| hold(&files, index, dialect))
        .reduce(Found::default, Found::and);
    found.problems.iter().take(SHOWN_MAX).for_each(|problem| println!("wrong: {problem}"));
    println!(
        "analyses of {} files in two dialects: {} comparisons with the oracle, {} differ; {} questions left \
         open by a limit",
        files.len(),
        found.compared,
        found.problems.len(),
        found.unknown
    );
    Ok(ExitCode::from(u8::from(found.compared == 0 || !found.problems.is_empty())))
}
