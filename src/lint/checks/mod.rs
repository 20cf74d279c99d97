//! The checks, by what they look at. Each reports to [`Findings`](super::findings::Findings).

mod file;
mod groups;
mod lines;
mod others;
mod patterns;
mod rules;

use super::LintConfig;
use super::findings::Findings;

/// Runs all checks.
pub(super) fn run(findings: &mut Findings<'_, '_>, config: &LintConfig) {
    file::check(findings);
    if file::is_no_robots_txt(findings.examination) {
        // Each line of a web page would be wrong, and none is what has to be fixed.
        return;
    }
    lines::check(findings);
    groups::check(findings);
    patterns::check(findings);
    rules::check(findings, config);
    others::check(findings);
}

/// "1 rule" or "2 rules".
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
