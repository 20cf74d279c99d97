//! The whole Robots Exclusion Protocol, implemented naively: the reference for every fast engine.
//!
//! Owns a second, independent implementation of the specification, from bytes to the deciding rule.
//! It shares the [`Dialect`] data and the words of an answer with the engine, and no code, so the
//! two have no bug in common. Use it in tests and to verify results; use `portcullis-robots` for
//! anything else.
//!
//! Cost: every call parses the whole file again, and matching a pattern takes time proportional to
//! the bytes of the pattern times the bytes of the path. Nothing backtracks, so hostile input is
//! slow but always terminates. No function fails: a record that is not a URL gives
//! [`Decision::INVALID`].
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

mod groups;
mod lines;
mod pattern;
mod url;
mod usage;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use portcullis_dialect::{
    Decision, Dialect, IndexPage, Precedence, Reason, RobotsTxtUrl, Usage, Verdict,
};

use groups::Rule;

/// Returns the decision of the robots.txt file `robots` for an agent and `url`.
///
/// `robots_bytes_max` bytes of the file are read, or all if it is `None`. `agents` is a fallback
/// chain: the groups of the first agent that any group names apply, otherwise the default groups.
/// The caller, or [`decide_in_scope`], checks that the file belongs to the URL's origin.
///
/// If several reasons hold, the first of these is returned: not a URL; the dialect always allows
/// robots.txt itself; no rule in any group; no group for the agent; no matching rule; a rule
/// decides. Rules are numbered in file order across all groups; rules outside groups do not count.
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
    let applying = groups::applying(dialect, &groups, agents);
    if applying.is_empty() {
        return Decision::without_rule(Verdict::Allow, Reason::NoGroup);
    }
    let rules = applying.iter().flat_map(|group| &group.rules);
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

/// Returns the decision for an agent and `url`, what `robots` states about each use of `url`, and the
/// licences, as written. The arguments are those of [`decide`].
pub fn usage(
    dialect: &Dialect,
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: &[&str],
    url: &[u8],
) -> (Usage, Vec<Vec<u8>>) {
    let access = decide(dialect, robots, robots_bytes_max, agents, url);
    let path = compared_path(dialect, url).unwrap_or_default();
    let records = lines::records(&dialect.lines, robots, robots_bytes_max);
    let (stated, licences) = usage::usage(dialect, &records, agents, &path);
    (Usage::new(access, stated), licences)
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

/// Returns the deciding rule for `path` among the rules that apply.
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

/// Returns the length of the pattern by which `rule` matches `path`, or `None` if it does not
/// match.
fn bytes_matched(dialect: &Dialect, rule: &Rule<'_>, path: &[u8]) -> Option<usize> {
    let pattern = pattern::normal_form(&dialect.paths, rule.value);
    if pattern::matches(&dialect.paths, &pattern, path) {
        return Some(pattern.len());
    }
    // The directory is tried second, so a longer pattern never loses to its own directory.
    let allows_directory =
        dialect.paths.index_page == IndexPage::AllowsDirectory && rule.verdict == Verdict::Allow;
    let directory = allows_directory.then(|| pattern::index_page_directory(&pattern))??;
    pattern::matches(&dialect.paths, &directory, path).then_some(directory.len())
}
