//! Applies the edits that are proved to change no verdict.
//!
//! Two files give the same verdicts if the rules of each crawler that either file names, and of a
//! crawler that neither names, are equivalent ([`analysis`](crate::analysis)). If that exceeds the
//! limits of the analysis, there is no proof and the edit is not applied. Many edits are proved
//! together; if that fails, each half is tried.
//!
//! The same is proved of the file with all advised edits ([`advice`](crate::advice)), so that an edit is also
//! right once the other findings are corrected.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use bstr::ByteSlice as _;

use super::diagnostic::{Diagnostic, Edit, Fix, Safety, overlaps};
use super::examination::{crawler_named, quoted};
use super::{Map, Report};
use crate::advice::{Advice, Doubt, with_advised};
use crate::analysis::{Bound, Budget, FileComparison, Grouped};
use crate::limits::{ANALYSIS_POSITIONS_MAX, FIX_ANALYSES, FIX_PROOFS_MAX};
use portcullis_dialect::dialect::{Dialect, Field, NamesAgent};
use portcullis_robots::policy::{CRAWL_DELAY, RecordGroups, UsageGroups};
use portcullis_robots::syntax::{OtherRecord, RobotsTxt, UsageRecord, UserAgentLine, is_extension};

/// A fixed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The text with all proved edits.
    pub text: Vec<u8>,
    /// The fixed diagnostics, by position in the report.
    pub fixed: Vec<usize>,
    /// The diagnostics whose edits were not applied, with the reason in words.
    pub left: Vec<(usize, String)>,
}

/// Applies the edits of `report`, the report on `text`, that are proved to change no verdict.
///
/// The first `bytes_max` bytes of the new and the old text are compared, or all if that
/// is `None`, in each of the dialects. Suggestions are not applied, but each edit is also proved for the
/// file in which they are.
///
/// ```
/// use portcullis_dialect::dialect::{Dialect, RFC_9309};
/// use portcullis_lint::{LintConfig, fix, lint};
///
/// let text = b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /a\nDisalow: /c\n";
/// let report = lint(text, &LintConfig::new(&RFC_9309));
/// let fixed = fix(text, &report, &Dialect::ALL, None);
/// assert_eq!(fixed.text, b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisalow: /c\n");
/// ```
pub fn fix(
    text: &[u8],
    report: &Report,
    dialects: &[&'static Dialect],
    bytes_max: Option<usize>,
) -> Fixed {
    let advised = apply(text, with_advised([].iter(), &report.advice).into_iter());
    let parse = |text| {
        let files = dialects.iter().map(|dialect| RobotsTxt::parse(text, dialect, bytes_max));
        files.collect::<Vec<_>>()
    };
    let [files, files_advised] = [parse(text), parse(&advised)];
    let group = |files| {
        let sides = iter::zip(files, dialects).map(|(file, dialect)| Grouped::new(file, dialect));
        sides.collect::<Vec<_>>()
    };
    let doubts = Doubt::of(&report.advice, &files);
    let (mut candidates, mut left) = (candidates(&report.diagnostics), Vec::new());
    let unclear = report.unclear.map(|(line, code)| {
        format!("line {line} may not mean what crawlers read ({code}); correct it first")
    });
    candidates.retain(|candidate| {
        // What is only written better stays as it is meant.
        let removes = candidate.edits.iter().any(|edit| edit.replacement.is_empty());
        let unclear = unclear.as_ref().filter(|_| removes);
        let doubt = Doubt::about(&doubts, candidate.edits).or_else(|| unclear.cloned());
        let diagnostics = candidate.diagnostics.iter();
        left.extend(diagnostics.filter_map(|&it| Some((it, doubt.clone()?))));
        doubt.is_none()
    });
    let readings = [group(&files), group(&files_advised)];
    let mut prover = Prover::new(text, readings, &report.advice, bytes_max);
    prover.settle(&candidates);
    left.append(&mut prover.left);
    let accepted = prover.accepted;
    left.sort_by_key(|&(diagnostic, _)| diagnostic);
    let mut fixed: Vec<usize> = accepted.iter().flat_map(|it| it.diagnostics.clone()).collect();
    fixed.sort_unstable();
    Fixed { text: apply(text, accepted.iter().flat_map(|it| it.edits)), fixed, left }
}

/// Edits that are applied together, and the diagnostics that propose them.
struct Candidate<'d> {
    edits: &'d [Edit],
    diagnostics: Vec<usize>,
}

/// Returns the edits to prove, each once. Of overlapping edits only the first is tried.
fn candidates(diagnostics: &[Diagnostic]) -> Vec<Candidate<'_>> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    // The end and the candidate of each edit, by its start.
    let mut taken: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
    for (position, diagnostic) in diagnostics.iter().enumerate() {
        let fix = diagnostic.fix.as_ref().filter(|fix| fix.safety == Safety::ToBeProved);
        let Some(Fix { edits, .. }) = fix else { continue };
        let Some(first) = edits.first() else { continue };
        let same = taken.get(&first.span.start).map(|&(_, candidate)| candidate);
        if let Some(same) = same.filter(|&candidate| candidates[candidate].edits == edits) {
            candidates[same].diagnostics.push(position);
        } else if !edits.iter().any(|edit| overlaps(&taken, edit)) {
            let candidate = candidates.len();
            taken.extend(edits.iter().map(|edit| (edit.span.start, (edit.span.end, candidate))));
            candidates.push(Candidate { edits, diagnostics: vec![position] });
        }
    }
    candidates
}

/// The original file, with which edited files are compared, and what was proved.
struct Prover<'t, 'c> {
    text: &'t [u8],
    bytes_max: Option<usize>,
    /// The file as each dialect reads it, and the file with the advised edits.
    readings: [Vec<Grouped<'t>>; 2],
    advice: &'c [Advice],
    /// The remaining budget of all comparisons.
    budget: Budget,
    proofs: usize,
    accepted: Vec<&'c Candidate<'c>>,
    left: Vec<(usize, String)>,
}

impl<'t, 'c> Prover<'t, 'c> {
    fn new(
        text: &'t [u8],
        readings: [Vec<Grouped<'t>>; 2],
        advice: &'c [Advice],
        bytes_max: Option<usize>,
    ) -> Self {
        let budget = Budget::new(ANALYSIS_POSITIONS_MAX * FIX_ANALYSES, FIX_ANALYSES);
        let (accepted, left) = (Vec::new(), Vec::new());
        Prover { text, bytes_max, readings, advice, budget, proofs: 0, accepted, left }
    }

    /// Accepts candidates: all at once if that can be proved, otherwise each half in turn.
    fn settle(&mut self, candidates: &'c [Candidate<'c>]) {
        if candidates.is_empty() {
            return;
        }
        let before = self.accepted.len();
        self.accepted.extend(candidates);
        let Err(unproved) = self.prove() else { return };
        self.accepted.truncate(before);
        if let [Candidate { diagnostics, .. }] = candidates {
            self.left.extend(diagnostics.iter().map(|&it| (it, unproved.clone())));
            return;
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        self.settle(first);
        self.settle(second);
    }

    /// Proves that the accepted edits change no verdict; otherwise returns what one changes, or may change.
    fn prove(&mut self) -> Result<(), String> {
        if self.proofs == FIX_PROOFS_MAX {
            return Err("too many other edits of this file could not be proved".into());
        }
        if let Some(Grouped { dialect, .. }) = self.readings[0].first() {
            // No text needs to be read if the budget is spent.
            self.budget.check().map_err(|bound| format!("in {} {bound}", dialect.name))?;
        }
        self.proofs += 1;
        let accepted: Vec<&Edit> = self.accepted.iter().flat_map(|it| it.edits).collect();
        let edited = apply(self.text, accepted.iter().copied());
        let [today, advised] = &self.readings;
        compare_all(today, &edited, self.bytes_max, &mut self.budget)?;
        if self.advice.is_empty() {
            return Ok(());
        }
        let edits = with_advised(accepted.into_iter(), self.advice);
        let edited = apply(self.text, edits.into_iter());
        compare_all(advised, &edited, self.bytes_max, &mut self.budget)
            .map_err(|change| format!("once {} corrected, {change}", self.advised_lines()))
    }

    /// Returns the advised lines in words, the one nearest to the last edit first.
    fn advised_lines(&self) -> String {
        let last = self.accepted.last().map_or(0, |it| it.edits[0].span.start);
        let nearest = self.advice.iter().min_by_key(|it| it.start().abs_diff(last));
        let nearest = nearest.map_or(String::new(), |it| format!("line {} ({})", it.line, it.code));
        let lines: BTreeSet<_> = self.advice.iter().map(|it| it.line).collect();
        match lines.len() {
            1 => format!("{nearest} is"),
            2 => format!("{nearest} and another line are"),
            count => format!("{nearest} and {} other lines are", count - 1),
        }
    }
}

/// Proves that `edited` gives the same verdicts as a file, as each dialect reads it.
///
/// # Errors
///
/// Describes the change in the first dialect that has one, or the limit that ended the proof.
fn compare_all(
    readings: &[Grouped<'_>],
    edited: &[u8],
    bytes_max: Option<usize>,
    budget: &mut Budget,
) -> Result<(), String> {
    readings.iter().try_for_each(|old| {
        compare(old, edited, bytes_max, budget)
            .map_err(|change| format!("in {} {change}", old.dialect.name))
    })
}

/// Bytes of a text that are parsed for the cost of one position.
const READ_BYTES: u64 = 4;

/// Proves that no verdict changes from the `old` file to `edited` in a dialect.
///
/// # Errors
///
/// Describes the change, or the limit that ended the proof.
fn compare(
    old: &Grouped<'_>,
    edited: &[u8],
    bytes_max: Option<usize>,
    budget: &mut Budget,
) -> Result<(), String> {
    let of_bound = |bound: Bound| bound.to_string();
    budget.take(edited.len() as u64 / READ_BYTES).map_err(of_bound)?;
    let dialect = old.dialect;
    let file = RobotsTxt::parse(edited, dialect, bytes_max);
    let new = &Grouped::new(&file, dialect);
    if dialect.groups.names_agent == NamesAgent::OccursInName && !names(old).eq(names(new)) {
        // An agent follows the first name that its own contains. The same names in the same order
        // give the same group for every agent.
        return Err("the file names other crawlers".into());
    }
    let mut known = Map::default();
    if Attached::of(old, &mut known) != Attached::of(new, &mut known) {
        const MOVED: &str =
            "a record of another convention (Content-Usage, Crawl-delay) moves to another group";
        return Err(MOVED.into());
    }
    compare_delays([old, new], budget)?;
    let mut comparison = FileComparison::new([old, new], budget);
    for robot in iter::once(None).chain(names(old).chain(names(new)).map(Some)) {
        let groups = [old, new].map(|side| side.audience.groups_of(robot));
        if let Some(path) = comparison.difference(groups).map_err(of_bound)? {
            return Err(format!("{} gets another verdict on {}", in_words(robot), quoted(&path)));
        }
    }
    Ok(())
}

/// Returns the names of crawlers, in the order of the file.
fn names<'g>(side: &'g Grouped<'_>) -> impl Iterator<Item = &'g [u8]> {
    side.audience.robots.iter().map(|robot| &robot.name[..])
}

/// The values of the Crawl-delay lines of a file, and the crawlers that they hold for.
struct Delays<'t> {
    values: Vec<&'t [u8]>,
    groups: RecordGroups,
}

impl<'t> Delays<'t> {
    fn of(side: &Grouped<'t>) -> Delays<'t> {
        let is_delay = |it: &&OtherRecord<'_>| it.name.eq_ignore_ascii_case(CRAWL_DELAY.as_bytes());
        let records = side.file.other_records().iter().filter(is_delay);
        let (lines, values): (Vec<_>, Vec<_>) = records.map(|it| (it.line, it.value)).unzip();
        Delays { values, groups: RecordGroups::new(side.file, &lines, side.dialect) }
    }

    fn of_robot(&self, robot: Option<&[u8]>) -> Vec<&'t [u8]> {
        self.groups.of_name(robot).map(|record| self.values[record]).collect()
    }
}

/// Proves that the Crawl-delay lines of two files hold for the same crawlers.
fn compare_delays(sides: [&Grouped<'_>; 2], budget: &mut Budget) -> Result<(), String> {
    let delays = sides.map(Delays::of);
    if delays.iter().all(|it| it.values.is_empty()) {
        return Ok(());
    }
    for robot in iter::once(None).chain(sides.into_iter().flat_map(names).map(Some)) {
        let [old, new] = delays.each_ref().map(|it| it.of_robot(robot));
        budget.take((1 + old.len() + new.len()) as u64).map_err(|bound| bound.to_string())?;
        if old != new {
            return Err(format!("{} gets another Crawl-delay", in_words(robot)));
        }
    }
    Ok(())
}

/// Returns a crawler in words: `None` is one that the file does not name.
fn in_words(robot: Option<&[u8]>) -> Cow<'_, str> {
    robot.map_or("a crawler".into(), |name| name.to_str_lossy())
}

/// The name and value of a record of another convention, with the crawlers of its group, and those named since the
/// record before: a Crawl-delay ends a run of user-agent lines.
type Extension<'t> = (Vec<u8>, &'t [u8], Option<[usize; 2]>);

/// The records of a file that have no effect on access. If they are equal in two files, the same
/// records hold for every crawler.
#[derive(PartialEq)]
struct Attached<'t> {
    extensions: Vec<Extension<'t>>,
    /// The crawlers of each group of usage records; `None` if there are no such records.
    usage_groups: Option<Vec<usize>>,
    /// The usage records, with their groups.
    usage: Vec<(Field, &'t [u8], Option<usize>)>,
}

impl<'t> Attached<'t> {
    fn of(side: &Grouped<'t>, known: &mut KnownNames) -> Attached<'t> {
        let (file, dialect, usage) = (side.file, side.dialect, UsageGroups::new(side.file));
        let names = names_of_groups(file, dialect, known);
        let extensions = file.other_records().iter().filter(|record| is_extension(record.name));
        let mut run = 0..0;
        let extension = |record: &OtherRecord<'t>| {
            let above = file.user_agent_before(record.line);
            let names = above.map(|line| {
                let (group, end) = (file.group_of(line), line + 1);
                if run.end != end {
                    run = run.end.max(file.groups()[group].user_agents.start)..end;
                }
                let lines = &file.user_agents()[run.start as usize..end as usize];
                [names[group], number_of(lines, dialect, known)]
            });
            (record.name.to_ascii_lowercase(), record.value, names)
        };
        let extensions = extensions.map(extension).collect();
        let of_usage = |record: &UsageRecord<'t>| {
            let group = record.user_agent.map(|line| usage.file().group_of(line));
            (record.field, record.value, group)
        };
        let records: Vec<_> = file.usage_records().iter().map(of_usage).collect();
        let has_usage = !records.is_empty();
        Attached {
            extensions,
            usage_groups: has_usage.then(|| names_of_groups(usage.file(), dialect, known)),
            usage: records,
        }
    }
}

/// The crawlers that a group names, with a number.
type KnownNames = Map<BTreeSet<Vec<u8>>, usize>;

/// Returns the number of the crawlers that each group names.
fn names_of_groups(file: &RobotsTxt<'_>, dialect: &Dialect, known: &mut KnownNames) -> Vec<usize> {
    let groups = file.groups().iter();
    groups.map(|group| number_of(file.user_agents_of(group), dialect, known)).collect()
}

/// Returns the number of the crawlers that user-agent lines name.
fn number_of(lines: &[UserAgentLine<'_>], dialect: &Dialect, known: &mut KnownNames) -> usize {
    let names = lines.iter().filter_map(|line| crawler_named(line.value, dialect));
    let next = known.len();
    *known.entry(names.collect()).or_insert(next)
}

/// Applies `edits`, which do not overlap, to `text`.
pub fn apply<'e>(text: &[u8], edits: impl Iterator<Item = &'e Edit>) -> Vec<u8> {
    let mut edits: Vec<&Edit> = edits.collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = Vec::with_capacity(text.len());
    let mut position = 0;
    for edit in edits {
        out.extend_from_slice(&text[position..edit.span.start as usize]);
        out.extend_from_slice(&edit.replacement);
        position = edit.span.end as usize;
    }
    out.extend_from_slice(&text[position..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{GOOGLE, ORIGINAL_1994, RFC_9309};

    fn proved(dialect: &'static Dialect, old: &[u8], new: &[u8]) -> Result<(), String> {
        proved_within(dialect, old, new, None)
    }

    fn proved_within(
        dialect: &'static Dialect,
        old: &[u8],
        new: &[u8],
        bytes_max: Option<usize>,
    ) -> Result<(), String> {
        let file = RobotsTxt::parse(old, dialect, bytes_max);
        let side = Grouped::new(&file, dialect);
        compare_all(&[side], new, bytes_max, &mut Budget::new(ANALYSIS_POSITIONS_MAX, 1))
    }

    #[test]
    fn equivalent_files_are_proved() {
        let old = b"User-agent: a\nDisallow: /x\nDisallow: /x\n\nUser-agent: *\nDisallow: /a b\n";
        let new = b"User-agent: A\nDisallow: /x\n\nUser-agent: *\nDisallow: /a%20b\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
        let difference = proved(&GOOGLE, old, new).unwrap_err();
        assert!(difference.starts_with("in google a crawler gets another verdict"), "{difference}");
    }

    #[test]
    fn a_group_that_loses_its_only_rule_joins_the_next() {
        let old = b"User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /x\n";
        let new = b"User-agent: a\nUser-agent: *\nDisallow: /x\n";
        let difference = proved(&RFC_9309, old, new).unwrap_err();
        assert_eq!(difference, "in rfc9309 a gets another verdict on `/x`");
    }

    #[test]
    fn a_preference_stays_with_its_robots() {
        let old = b"User-agent: a\nContent-Usage: train-ai=n\nDisallow: x\n\nUser-agent: b\n\
            License: https://a.example/l\nAllow: x\n";
        // Content-Usage ends the run of user-agent lines, as the rule did.
        let new = b"User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\n\
            License: https://a.example/l\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
        let new = b"User-agent: a\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: x\n\
            User-agent: b\nLicense: https://a.example/l\nAllow: x\n";
        let is_moved = |proved: Result<(), String>| proved.unwrap_err().contains("another group");
        assert!(is_moved(proved(&RFC_9309, old, new)));
        let new = b"User-agent: a\nDisallow: x\n\nUser-agent: b\nAllow: x\n";
        assert!(is_moved(proved(&RFC_9309, old, new)));
        let new = b"User-agent: A\nContent-usage: train-ai=n\nDisallow: y\nUser-agent: b\n\
            License: https://a.example/l\nAllow: x\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
    }

    #[test]
    fn a_line_that_names_nobody_is_not_that_of_all_crawlers() {
        let old = b"User-agent: *\nContent-Usage: search=y\nUser-agent:\nUser-agent: *\n\
            Content-Usage: train-ai=n\nAllow: /\n";
        let new = b"User-agent: *\nContent-Usage: search=y\nUser-agent:\n\
            Content-Usage: train-ai=n\nAllow: /\n";
        for dialect in Dialect::ALL {
            assert!(proved(dialect, old, new).is_err(), "{}", dialect.name);
        }
    }

    #[test]
    fn a_delay_stays_with_its_robots() {
        let old = b"User-agent: *\nCrawl-delay: 1\nUser-agent: Bar\nUser-agent: *\n\
            Crawl-delay: 30\nHost: a.example\nDisallow: /a\n";
        let new = b"User-agent: *\nCrawl-delay: 1\nUser-agent: Bar\n\
            Crawl-delay: 30\nHost: a.example\nDisallow: /a\n";
        assert!(proved(&RFC_9309, old, new).unwrap_err().contains("another group"));
        let old = b"User-agent: *\nUser-agent: *\nCrawl-delay: 1\nUser-agent: Bar\nDisallow: /a\n";
        let new = b"User-agent: *\nCrawl-delay: 1\nUser-agent: Bar\nDisallow: /a\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
    }

    #[test]
    fn names_that_occur_in_others_have_to_stay() {
        let old = b"User-agent: a/1\nDisallow: /\n";
        let new = b"User-agent: a\nDisallow: /\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
        let unproved = "in original1994 the file names other crawlers".to_owned();
        assert_eq!(proved(&ORIGINAL_1994, old, new), Err(unproved));
    }

    #[test]
    fn lines_that_move_within_the_limit_are_compared() {
        let old = b"User-agent: *\nDisallow: /a\nDisallow: /a\nDisallow: /b\n";
        let new = b"User-agent: *\nDisallow: /a\nDisallow: /b\n";
        assert!(proved_within(&RFC_9309, old, new, Some(42)).is_err());
    }
}
