//! The whole protocol done naively: the judge that every fast engine is compared with.
//!
//! Owns a second, independent reading of the specification: bytes to lines, lines to groups, URLs
//! to paths, patterns against paths, and the rule that decides. It shares the
//! [`Dialect`] data and the words of an answer with the engine and not one line of code, so that
//! the two have no mistake in common. Use it in tests and to verify results; use the engine for
//! anything else.
//!
//! Cost: every call reads the whole file again, and each pattern takes as many steps as it has
//! bytes, times the bytes of the path. Nothing backtracks, so hostile input is slow but not
//! endless. Nothing can fail: what is no URL is [`Decision::INVALID`].
//!
//! ```
//! use portcullis_dialect::decision::Verdict;
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_oracle::oracle;
//!
//! let robots = b"User-agent: *\nDisallow: /private\nAllow: /private/*.html$\n";
//! let url = b"https://example.com/private/page.html";
//! let decision = oracle::decide(&RFC_9309, robots, None, &["ExampleBot"], url);
//! assert_eq!(decision.verdict, Verdict::Allow);
//! assert_eq!(decision.line.unwrap().get(), 3);
//! ```

mod groups;
mod lines;
mod origin;
mod pattern;
mod url;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, IndexPage, Precedence, RobotsTxtUrl};

use groups::Rule;

/// What `robots` says to an agent about `url`.
///
/// `robots` is the text of a robots.txt file, of which `robots_bytes_max` bytes are read (`None`:
/// all). `agents` is a chain to fall back along: the first that some group names is the one that is
/// obeyed; if no group names any of them, the default group speaks. Whether the file speaks for the
/// URL's origin is the caller's business, or that of [`decide_in_scope`].
///
/// Where several reasons hold, the first of these is given: the record is no URL; the dialect
/// always allows the file itself; the file has no rule in any group; no group speaks to the agent;
/// no rule matches; a rule decides. The identity of a rule is its place in file order among the
/// rules that stand in a group.
pub fn decide(
    dialect: &Dialect,
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> Decision {
    let Some(path) = compared_path(dialect, url) else {
        return Decision::INVALID;
    };
    if dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == b"/robots.txt" {
        return Decision::ROBOTS_TXT;
    }
    let records = lines::records(&dialect.lines, robots, robots_bytes_max);
    let groups = groups::groups(&dialect.groups, &records);
    if groups.iter().all(|group| group.rules.is_empty()) {
        return Decision::without_rule(Verdict::Allow, Reason::NoRules);
    }
    let obeyed = groups::obeyed(dialect, &groups, agents);
    if obeyed.is_empty() {
        return Decision::without_rule(Verdict::Allow, Reason::NoGroup);
    }
    let rules = obeyed.iter().flat_map(|group| &group.rules);
    match deciding_rule(dialect, rules, &path) {
        None => Decision::without_rule(Verdict::Allow, Reason::NoRule),
        Some(rule) => Decision {
            verdict: rule.verdict,
            reason: Reason::Rule,
            rule: Some(rule.id),
            line: Some(rule.line),
        },
    }
}

/// What `robots`, the file with the URL `robots_url`, says to an agent about `url`.
///
/// As [`decide`], but a file speaks for its own origin only, and for nobody if its URL is not that
/// of a robots.txt. What is no URL is so before it is in anybody's scope.
pub fn decide_in_scope(
    dialect: &Dialect,
    robots_url: &[u8],
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> Decision {
    let Some(own) = origin::of(&dialect.paths, url) else {
        return Decision::INVALID;
    };
    if origin::of_robots_txt(robots_url) != Some(own) {
        return Decision::UNKNOWN;
    }
    decide(dialect, robots, robots_bytes_max, agents, url)
}

/// The path and query of `url` that are compared, in normal form; `None` if it is no URL.
///
/// ```
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_oracle::oracle::compared_path;
///
/// let path = compared_path(&RFC_9309, b"https://example.com?q=%7e#top").unwrap();
/// assert_eq!(path, b"/?q=~");
/// assert_eq!(compared_path(&RFC_9309, b"example.com/x"), None);
/// ```
pub fn compared_path(dialect: &Dialect, url: &[u8]) -> Option<Vec<u8>> {
    url::compared_path(&dialect.paths, url)
}

/// Whether `pattern`, as it is written in a file, matches `path`, which is in normal form.
///
/// The pattern is a trimmed value without its comment. An empty one matches nothing.
///
/// ```
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_oracle::oracle::pattern_matches;
///
/// assert!(pattern_matches(&RFC_9309, b"/*.php$", b"/a.php/b.php"));
/// assert!(!pattern_matches(&RFC_9309, b"/*.php$", b"/a.php?b"));
/// ```
pub fn pattern_matches(dialect: &Dialect, pattern: &[u8], path: &[u8]) -> bool {
    let pattern = pattern::normal_form(&dialect.paths, pattern);
    pattern::matches(&dialect.paths, &pattern, path)
}

/// The rule that decides on `path` among those that speak to the agent.
fn deciding_rule<'g, 't: 'g>(
    dialect: &Dialect,
    rules: impl Iterator<Item = &'g Rule<'t>>,
    path: &[u8],
) -> Option<&'g Rule<'t>> {
    let matching = rules.filter_map(|rule| {
        let bytes = bytes_matched(dialect, rule, path)?;
        Some((rule, bytes))
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

/// The bytes of the pattern with which `rule` matches `path`, if it does.
fn bytes_matched(dialect: &Dialect, rule: &Rule<'_>, path: &[u8]) -> Option<usize> {
    let pattern = pattern::normal_form(&dialect.paths, rule.value);
    if pattern::matches(&dialect.paths, &pattern, path) {
        return Some(pattern.len());
    }
    // Only a rule that fails as it is written gets its second chance, so that a longer pattern
    // never loses to its own directory.
    let second_chance =
        dialect.paths.index_page == IndexPage::AllowsDirectory && rule.verdict == Verdict::Allow;
    let directory = second_chance.then(|| pattern::index_page_directory(&pattern))??;
    pattern::matches(&dialect.paths, &directory, path).then_some(directory.len())
}
