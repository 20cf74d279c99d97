//! The whole Robots Exclusion Protocol, implemented naively: the reference for every fast engine.
//!
//! Owns a second, independent implementation of the specification, from bytes to the deciding rule.
//! It shares the [`Dialect`] data and the words of an answer with the engine, and no code, so the
//! two have no bug in common. Use it in tests and to verify results; use `portcullis-robots` for
//! anything else.
//!
//! [`Archive`] evaluates captures: it returns the policy of an origin as of a time.
//!
//! Cost: [`decide`] and [`usage`] parse the whole file for every URL; a [`Judge`] parses it once.
//! Matching a pattern takes time proportional to the bytes of the pattern times the bytes of the path.
//! Nothing backtracks, so hostile input is slow but always terminates. No function fails: a record that
//! is not a URL gives [`Decision::INVALID`].
//!
//! ```
//! use portcullis_dialect::{RFC_9309, Verdict};
//!
//! let robots = b"User-agent: *\nDisallow: /private\nAllow: /private/*.html$\n";
//! let url = b"https://example.com/private/page.html";
//! let decision = portcullis_oracle::decide(&RFC_9309, robots, None, &["ExampleBot"], url);
//! assert_eq!(decision.verdict, Verdict::Allow);
//! assert_eq!(decision.line.unwrap().get(), 3);
//! ```

mod delay;
mod groups;
mod history;
mod lines;
mod page;
mod pattern;
mod reading;
mod url;
mod usage;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use portcullis_dialect::{
    Decision, Dialect, IndexPage, PathRules, Precedence, Reason, RobotsTxtUrl, Usage, Verdict,
};

pub use history::{Archive, Archived, LongOutageChoice, Policy};
pub use reading::AnswerReading;

use groups::Rule;
use lines::Record;
use usage::InForce;

/// Returns the decision of the robots.txt file `robots` for an agent and `url`.
///
/// `robots_bytes_max` bytes of the file are read, or all if it is `None`. `agents` is a fallback
/// chain: the groups of the first agent that any group names apply, otherwise the default groups.
/// The caller, or [`decide_in_scope`], checks that the file belongs to the URL's origin.
///
/// If several reasons hold, the first of these is returned: not a URL; the dialect always allows
/// robots.txt itself; a page instead of a robots.txt; no rule in any group; no group for the agent; no
/// matching rule; a rule decides. Rules are numbered in file order across all groups; rules outside groups do
/// not count.
pub fn decide(
    dialect: &Dialect,
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> Decision {
    Judge::new(dialect, robots, robots_bytes_max, agents).decide(url)
}

/// Returns the decision for an agent and `url`, the preference that `robots` states for each use of
/// `url`, and the licences, as written. The arguments are as in [`decide`].
pub fn usage(
    dialect: &Dialect,
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> (Usage, Vec<Vec<u8>>) {
    let judge = Judge::new(dialect, robots, robots_bytes_max, agents);
    (judge.usage(url), judge.licences())
}

/// A file for one agent, parsed once, to judge many URLs.
///
/// ```
/// use portcullis_dialect::usage::{Label, Preference};
/// use portcullis_dialect::{RFC_9309, Verdict};
/// use portcullis_oracle::Judge;
///
/// let robots = b"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /private\n";
/// let judge = Judge::new(&RFC_9309, robots, None, &["ExampleBot"]);
/// let page = judge.usage(b"https://example.com/page");
/// assert_eq!(page.of(Label::TrainAi).preference, Preference::No);
/// assert_eq!(judge.decide(b"https://example.com/private").verdict, Verdict::Disallow);
/// ```
pub struct Judge<'t> {
    dialect: &'t Dialect,
    access: Access<'t>,
    usage: InForce<'t>,
    delay: (Option<f64>, usize),
}

impl<'t> Judge<'t> {
    /// Parses a file. The arguments are as in [`decide`].
    pub fn new(
        dialect: &'t Dialect,
        robots: &'t [u8],
        robots_bytes_max: Option<usize>,
        agents: &[&str],
    ) -> Judge<'t> {
        let records = lines::records(&dialect.lines, robots, robots_bytes_max);
        let mut access = Access::new(dialect, &records, agents);
        let usage = InForce::new(dialect, &records, agents);
        let read = &robots[..robots.len().min(robots_bytes_max.unwrap_or(usize::MAX))];
        let is_silent = access.without_rule == Reason::NoRules && !usage::has_records(&records);
        if is_silent && page::is_page(read) {
            access.without_rule = Reason::Page;
        }
        Judge { dialect, access, usage, delay: delay::crawl_delay(dialect, &records, agents) }
    }

    /// Returns what [`decide`] returns for `url`.
    pub fn decide(&self, url: &[u8]) -> Decision {
        self.access.decide(self.dialect, url)
    }

    /// Returns the decision for `url`, and what the file states about each use of it.
    pub fn usage(&self, url: &[u8]) -> Usage {
        let path = compared_path(self.dialect, url).unwrap_or_default();
        Usage::new(self.decide(url), self.usage.stated(&self.dialect.paths, &path))
    }

    /// Returns the greatest crawl delay for the agent, in seconds, and the number of its delays that are
    /// not numbers.
    pub fn crawl_delay(&self) -> (Option<f64>, usize) {
        self.delay
    }

    /// Returns the licences that hold for the agent, as written.
    pub fn licences(&self) -> Vec<Vec<u8>> {
        self.usage.licences()
    }
}

/// The access rules that apply to an agent.
struct Access<'t> {
    rules: Vec<Applying<'t>>,
    /// Why a URL is allowed if no rule decides.
    without_rule: Reason,
}

/// A rule that applies, with its pattern in normal form.
struct Applying<'t> {
    rule: Rule<'t>,
    pattern: Vec<u8>,
    /// The pattern of the directory, if the pattern names its index page.
    directory: Option<Vec<u8>>,
}

impl<'t> Access<'t> {
    fn new(dialect: &Dialect, records: &[Record<'t>], agents: &[&str]) -> Access<'t> {
        let groups = groups::groups(&dialect.groups, records);
        let applying = groups::applying(dialect, &groups, agents);
        let without_rule = if groups.iter().all(|group| group.rules.is_empty()) {
            Reason::NoRules
        } else if applying.is_empty() {
            Reason::NoGroup
        } else {
            Reason::NoRule
        };
        let rules = applying.iter().flat_map(|group| &group.rules);
        let rules = rules.map(|&rule| Applying::new(dialect, rule)).collect();
        Access { rules, without_rule }
    }

    fn decide(&self, dialect: &Dialect, url: &[u8]) -> Decision {
        let Some(path) = compared_path(dialect, url) else {
            return Decision::INVALID;
        };
        if dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == b"/robots.txt" {
            return Decision::ROBOTS_TXT;
        }
        match self.deciding_rule(dialect, &path) {
            None => Decision::without_rule(Verdict::Allow, self.without_rule),
            Some(rule) => Decision {
                verdict: rule.verdict,
                reason: Reason::Rule,
                rule: Some(rule.id),
                line: Some(rule.line),
            },
        }
    }

    /// Returns the deciding rule for `path`.
    fn deciding_rule(&self, dialect: &Dialect, path: &[u8]) -> Option<&Rule<'t>> {
        let matching = self.rules.iter().filter_map(|applying| {
            let bytes = applying.bytes_matched(&dialect.paths, path)?;
            Some((&applying.rule, bytes))
        });
        let best = match dialect.paths.precedence {
            Precedence::FirstInFile => matching.min_by_key(|(rule, _)| rule.id),
            Precedence::MostBytes => matching.max_by_key(|(rule, bytes)| {
                let allows = rule.verdict == Verdict::Allow;
                (*bytes, allows, Reverse(rule.id))
            }),
        };
        best.map(|(rule, _)| rule)
    }
}

impl<'t> Applying<'t> {
    fn new(dialect: &Dialect, rule: Rule<'t>) -> Applying<'t> {
        let pattern = pattern::normal_form(&dialect.paths, rule.value);
        let allows_directory = dialect.paths.index_page == IndexPage::AllowsDirectory
            && rule.verdict == Verdict::Allow;
        let directory = allows_directory.then(|| pattern::index_page_directory(&pattern)).flatten();
        Applying { rule, pattern, directory }
    }

    /// Returns the length of the pattern by which the rule matches `path`, or `None` if it does not
    /// match.
    fn bytes_matched(&self, rules: &PathRules, path: &[u8]) -> Option<usize> {
        // The directory is tried second, so a longer pattern never loses to its own directory.
        let mut patterns = std::iter::once(&self.pattern).chain(&self.directory);
        patterns.find(|pattern| pattern::matches(rules, pattern, path)).map(Vec::len)
    }
}

/// Like [`decide`], for a file whose URL is `robots_url`: a URL of another origin is
/// [`Decision::UNKNOWN`], and so is every URL if `robots_url` is not the URL of a robots.txt.
pub fn decide_in_scope(
    dialect: &Dialect,
    robots_url: &[u8],
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> Decision {
    let Some(origin) = url::origin(&dialect.paths, url) else {
        return Decision::INVALID;
    };
    if url::origin_of_robots_txt(robots_url) != Some(origin) {
        return Decision::UNKNOWN;
    }
    decide(dialect, robots, robots_bytes_max, agents, url)
}

/// Returns the path and query of `url` in normal form, or `None` if it is not a URL.
///
/// ```
/// use portcullis_dialect::RFC_9309;
/// use portcullis_oracle::compared_path;
///
/// let path = compared_path(&RFC_9309, b"https://example.com?q=%7e#top").unwrap();
/// assert_eq!(path, b"/?q=~");
/// assert_eq!(compared_path(&RFC_9309, b"example.com/x"), None);
/// ```
pub fn compared_path(dialect: &Dialect, url: &[u8]) -> Option<Vec<u8>> {
    url::compared_path(&dialect.paths, url)
}

/// Returns the members of a dictionary (RFC 9651, section 4.2.2) in order, each value as written
/// and without its parameters, or `None` if `text` is not a dictionary. Of equal keys the last
/// counts.
///
/// ```
/// let members = portcullis_oracle::dictionary(b"train-ai=n;note, search").unwrap();
/// assert_eq!(members, [("train-ai".to_owned(), "n".to_owned()), ("search".to_owned(), String::new())]);
/// assert_eq!(portcullis_oracle::dictionary(b"train-ai = n"), None);
/// ```
pub fn dictionary(text: &[u8]) -> Option<Vec<(String, String)>> {
    usage::dictionary(text)
}

/// Returns whether `pattern`, as written in a file, matches `path`, which is in normal form.
///
/// The pattern is a trimmed value without a comment. An empty pattern matches nothing.
///
/// ```
/// use portcullis_dialect::RFC_9309;
/// use portcullis_oracle::pattern_matches;
///
/// assert!(pattern_matches(&RFC_9309, b"/*.php$", b"/a.php/b.php"));
/// assert!(!pattern_matches(&RFC_9309, b"/*.php$", b"/a.php?b"));
/// ```
pub fn pattern_matches(dialect: &Dialect, pattern: &[u8], path: &[u8]) -> bool {
    let pattern = pattern::normal_form(&dialect.paths, pattern);
    pattern::matches(&dialect.paths, &pattern, path)
}
