//! Checks for stars without effect.
//!
//! A star after a star, or at the end of a pattern, matches nothing more. But it counts for the length by
//! which rules win: without it, a rule with the other verdict may decide where both match.

use bstr::ByteSlice as _;

use crate::analysis::{Bound, Budget, overlap};
use crate::findings::{Findings, replace};
use crate::{Code, Edit};
use portcullis_dialect::{PathRules, Precedence, RuleID, Verdict};
use portcullis_engine::pattern::PatternList;
use portcullis_robots::syntax::Rule;
use portcullis_robots::url::{index_page_text, normal_text};

/// Checks for stars at the end, and adjacent ones. `may_decide` is true for the rules whose stars may
/// decide in some combination of groups.
pub(super) fn check(findings: &mut Findings<'_, '_>, may_decide: &[bool]) {
    if !findings.chosen.dialect.paths.wildcards {
        return;
    }
    for (rule, &may_decide) in findings.chosen.file.rules().iter().zip(may_decide) {
        if !may_decide {
            star(findings, rule);
        }
    }
}

fn star(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) {
    let runs = needless_stars(rule.value).into_iter();
    let edits: Vec<Edit> = runs.map(|run| replace(findings.examination.span_of(run), [])).collect();
    if let Some(first) = edits.first() {
        let place = match first.span.end == rule.span.end {
            true => "at the end of the pattern",
            false => "next to another",
        };
        let message = format!("a `*` {place} has no effect");
        findings.report(Code::NeedlessStar, first.span, message).fix("remove it", edits.clone());
    }
}

/// Returns the runs of bytes of a pattern that match nothing more: stars after a star, and a `*` or `*$` at
/// the end. The first byte is kept, so that there is a pattern.
fn needless_stars(value: &[u8]) -> Vec<&[u8]> {
    let body = value.strip_suffix(b"*$").unwrap_or(value);
    let kept = body.trim_end_with(|character| character == '*').len();
    let kept = kept.max(1).min(value.len());
    let (kept, end) = value.split_at(kept);
    let stars = kept.chunk_by(|one, next| one == next).filter(|run| run[0] == b'*');
    let mut needless: Vec<&[u8]> = stars.map(|run| &run[1..]).collect();
    if value.ends_with(b"*") || value.ends_with(b"*$") {
        needless.push(end);
    }
    needless.retain(|run| !run.is_empty());
    needless
}

/// Returns `value` without its needless stars; `None` if it has none.
fn without_stars(value: &[u8]) -> Option<Vec<u8>> {
    let runs = needless_stars(value);
    let first = runs.first()?;
    let mut kept = value[..offset(value, first)].to_vec();
    for (index, run) in runs.iter().enumerate() {
        let next = runs.get(index + 1).map_or(value.len(), |next| offset(value, next));
        kept.extend_from_slice(&value[offset(value, run) + run.len()..next]);
    }
    Some(kept)
}

/// Returns the position of `part` in `value`.
fn offset(value: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - value.as_ptr().addr()
}

/// A pattern of a rule in normal form.
struct Text {
    text: Vec<u8>,
    /// The bytes of its normal form without needless stars.
    bytes_without_stars: usize,
    place: RuleID,
    verdict: Verdict,
}

impl Text {
    /// Returns the bytes before the first star or the anchor.
    fn head(&self) -> &[u8] {
        let text = self.text.strip_suffix(b"$").unwrap_or(&self.text);
        text.split(|&byte| byte == b'*').next().unwrap_or_default()
    }

    /// Returns whether without its needless stars it loses to `other`, which has the other verdict, where it
    /// wins now.
    fn loses_without_stars(&self, other: &Text) -> bool {
        let other = (other.text.len(), other.verdict == Verdict::Allow);
        let rank = |bytes: usize| (bytes, self.verdict == Verdict::Allow);
        rank(self.text.len()) > other && rank(self.bytes_without_stars) < other
    }
}

/// Returns the places of the rules in `rules`, of a combination of groups, whose stars may decide.
///
/// Where the stars of each of several rules alone do not decide, they do not together: of two rules, the one
/// that wins with all stars wins without any.
///
/// # Errors
///
/// If the budget does not suffice.
pub(super) fn that_may_decide<'r, 't: 'r>(
    rules: impl Iterator<Item = &'r Rule<'t>>,
    paths: &PathRules,
    budget: &mut Budget,
) -> Result<Vec<RuleID>, Bound> {
    let mut deciding = Vec::new();
    if !paths.wildcards || paths.precedence == Precedence::FirstInFile {
        return Ok(deciding);
    }
    // The texts of each verdict, the shortest first.
    let mut sides: [Vec<Text>; 2] = Default::default();
    for (place, rule) in (0..).map(RuleID).zip(rules) {
        let texts = texts(rule.value, rule.verdict, paths);
        let without = without_stars(rule.value).map(|it| self::texts(&it, rule.verdict, paths));
        if without.as_ref().is_some_and(|without| without.len() != texts.len()) {
            deciding.push(place);
        }
        for (index, text) in texts.into_iter().enumerate() {
            let shorter = without.as_ref().and_then(|without| without.get(index));
            let bytes_without_stars = shorter.unwrap_or(&text).len();
            let side = &mut sides[usize::from(rule.verdict == Verdict::Allow)];
            side.push(Text { text, bytes_without_stars, place, verdict: rule.verdict });
        }
    }
    sides.iter_mut().for_each(|side| side.sort_by_key(|it| it.text.len()));
    for side in [0, 1] {
        let others = &sides[1 - side];
        for own in sides[side].iter().filter(|it| it.bytes_without_stars < it.text.len()) {
            let start = others.partition_point(|it| it.text.len() < own.bytes_without_stars);
            let rivals = others[start..].iter().take_while(|it| it.text.len() <= own.text.len());
            for rival in rivals.filter(|rival| own.loses_without_stars(rival)) {
                if do_overlap(own, rival, paths, budget)? {
                    deciding.push(own.place);
                    break;
                }
            }
        }
    }
    Ok(deciding)
}

/// Returns the patterns of a rule in normal form.
fn texts(value: &[u8], verdict: Verdict, paths: &PathRules) -> Vec<Vec<u8>> {
    let mut text = Vec::new();
    if !normal_text(value, paths, &mut text) {
        return Vec::new();
    }
    let directory = index_page_text(&text, paths).filter(|_| verdict == Verdict::Allow);
    [text].into_iter().chain(directory).collect()
}

/// Returns whether both patterns match a path that a URL can have.
fn do_overlap(
    one: &Text,
    other: &Text,
    paths: &PathRules,
    budget: &mut Budget,
) -> Result<bool, Bound> {
    /// Bytes that are compared for the cost of one position.
    const COMPARED_BYTES: usize = 16;
    let [first, second] = [one, other].map(Text::head);
    let bytes = first.len().min(second.len());
    budget.take(1 + (bytes / COMPARED_BYTES) as u64)?;
    if first[..bytes] != second[..bytes] {
        return Ok(false);
    }
    // The list drops the stars that an automaton must not have.
    let mut patterns = PatternList::new();
    [one, other].iter().for_each(|it| patterns.push(&it.text, paths.wildcards));
    overlap(patterns.get(0), patterns.get(1), paths.escapes, budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
    use portcullis_robots::syntax::RobotsTxt;

    #[test]
    fn stars_that_match_nothing_more() {
        type Row = (&'static str, &'static [(usize, usize)], &'static str);
        let rows: [Row; 11] = [
            ("", &[], ""),
            ("/a*", &[(2, 3)], "/a"),
            ("/a*$", &[(2, 4)], "/a"),
            ("/a**", &[(2, 4)], "/a"),
            ("/a**b", &[(3, 4)], "/a*b"),
            ("/a***b*", &[(3, 5), (6, 7)], "/a*b"),
            ("*", &[], "*"),
            ("**", &[(1, 2)], "*"),
            ("*$", &[(1, 2)], "*"),
            ("/*", &[(1, 2)], "/"),
            ("/a*b$", &[], "/a*b$"),
        ];
        for (value, expected, without) in rows {
            let value = value.as_bytes();
            let range = |run: &[u8]| (offset(value, run), offset(value, run) + run.len());
            let runs: Vec<_> = needless_stars(value).into_iter().map(range).collect();
            assert_eq!(runs, expected, "{}", value.as_bstr());
            let kept = without_stars(value).unwrap_or_else(|| value.to_vec());
            assert_eq!(kept, without.as_bytes());
        }
    }

    fn deciding(dialect: &Dialect, rules: &str, budget: &mut Budget) -> Result<Vec<u32>, Bound> {
        let text = format!("User-agent: *\n{rules}");
        let file = RobotsTxt::parse(text.as_bytes(), dialect, None);
        let found = that_may_decide(file.rules().iter(), &dialect.paths, budget)?;
        Ok(found.into_iter().map(|RuleID(place)| place).collect())
    }

    #[test]
    fn stars_decide_between_rules_that_overlap() {
        let rows: [(&str, &[u32]); 12] = [
            ("Disallow: /a*\nAllow: /a", &[0]),
            ("Allow: /a*\nDisallow: /a", &[]),
            ("Allow: /a*\nDisallow: /ab", &[0]),
            ("Disallow: /a*\nAllow: /ab", &[]),
            ("Disallow: /a*\nAllow: /b", &[]),
            ("Disallow: /a*\nDisallow: /a", &[]),
            ("Disallow: /a**b\nAllow: /a*b", &[0]),
            ("Disallow: /*a**\nAllow: /b*x", &[0]),
            ("Disallow: /*a**\nAllow: /bb$", &[]),
            ("Disallow: /a*$\nAllow: /a$", &[0]),
            // Both lose a star.
            ("Disallow: /a*\nAllow: /a*", &[1]),
            ("Disallow: /a**\nAllow: /a*", &[0]),
        ];
        for (rules, expected) in rows {
            let found = deciding(&RFC_9309, rules, &mut Budget::default());
            assert_eq!(found.as_deref(), Ok(expected), "{rules}");
        }
        let of_index_page = "Allow: /a/index.htm*\nDisallow: /a/";
        assert_eq!(deciding(&GOOGLE, of_index_page, &mut Budget::default()), Ok(vec![]));
    }

    #[test]
    fn many_rules_of_one_length_spend_the_budget() {
        let rules: String = (10_000..11_000)
            .map(|it| format!("Disallow: /{it}*\nAllow: /x{it}\nAllow: /y{it}\n"))
            .collect();
        let mut budget = Budget::new(1_000_000, 1);
        assert_eq!(deciding(&RFC_9309, &rules, &mut budget), Ok(vec![]));
        // No path begins like both, so all lengths are compared and nothing else is.
        assert_eq!(budget.spent(), 0);
        let rules = rules.replace("Allow: /x", "Allow: /");
        let mut budget = Budget::new(100_000, 1);
        assert!(deciding(&RFC_9309, &rules, &mut budget).is_err());
        // A search has a share of what is left.
        assert!(budget.spent() > 90_000, "{}", budget.spent());
    }
}
