//! Edits that change no verdict, made once that is proved.

use std::collections::BTreeMap;

use super::diagnostic::{Edit, Fix, Safety};
use super::proof::Prover;
use super::{Diagnostic, Report};
use crate::analysis::Limits;
use crate::dialect::Dialect;
use crate::limits::FIX_PROOFS_MAX;

pub use super::proof::Unproved;

/// How files are fixed.
#[derive(Clone, Debug)]
pub struct FixConfig {
    /// The dialects in which no verdict may change.
    pub dialects: Vec<&'static Dialect>,
    /// Bytes of a file that are read; all, if there is no limit.
    pub bytes_max: Option<usize>,
    /// What one comparison may spend.
    pub limits: Limits,
}

/// A file that was fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The text with all edits that were proved to change no verdict.
    pub text: Vec<u8>,
    /// The diagnostics that were fixed, by position in the report.
    pub fixed: Vec<usize>,
    /// Those whose edits were left, with the reason.
    pub left: Vec<(usize, Unproved)>,
}

/// Makes those edits of `report`, which is of `text`, that change no verdict.
///
/// The text that comes out is compared with the one that went in as a whole: for each robot that
/// either names and for one that neither does, in each of the dialects. Suggestions are not made.
///
/// ```
/// use portcullis::analysis::Limits;
/// use portcullis::dialect::{Dialect, RFC_9309};
/// use portcullis::lint::{FixConfig, LintConfig, fix, lint};
///
/// let text = b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /a\nDisalow: /c\n";
/// let report = lint(text, &LintConfig::new(&RFC_9309));
/// let dialects = Dialect::ALL.to_vec();
/// let config = FixConfig { dialects, bytes_max: None, limits: Limits::default() };
/// let fixed = fix(text, &report, &config);
/// assert_eq!(fixed.text, b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisalow: /c\n");
/// ```
pub fn fix(text: &[u8], report: &Report, config: &FixConfig) -> Fixed {
    let prover = Prover::new(text, &config.dialects, config.bytes_max, config.limits);
    let candidates = candidates(&report.diagnostics);
    let mut work = Work { text, candidates: &candidates, prover, proofs: 0, left: Vec::new() };
    let mut accepted = Vec::new();
    work.settle(0, candidates.len(), &mut accepted);
    let text = apply(text, accepted.iter().flat_map(|&index| candidates[index].edits));
    let mut fixed: Vec<usize> =
        accepted.iter().flat_map(|&index| candidates[index].diagnostics.clone()).collect();
    fixed.sort_unstable();
    work.left.sort_by_key(|&(diagnostic, _)| diagnostic);
    Fixed { text, fixed, left: work.left }
}

/// Edits that are made together, and the diagnostics that ask for them.
struct Candidate<'d> {
    edits: &'d [Edit],
    diagnostics: Vec<usize>,
}

/// The edits that are to be proved, each once. Of edits that touch the same bytes the first stays,
/// and the others wait for the next look at the file.
fn candidates(diagnostics: &[Diagnostic]) -> Vec<Candidate<'_>> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    // By where an edit starts: where it ends, and whose it is.
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

/// Whether `edit` touches bytes that one of `taken` touches.
fn overlaps(taken: &BTreeMap<u32, (u32, usize)>, edit: &Edit) -> bool {
    let before = taken.range(..edit.span.end).next_back();
    before.is_some_and(|(_, &(end, _))| end > edit.span.start)
}

struct Work<'w, 't> {
    text: &'t [u8],
    candidates: &'w [Candidate<'w>],
    prover: Prover<'t>,
    proofs: usize,
    left: Vec<(usize, Unproved)>,
}

impl Work<'_, '_> {
    /// Decides on the candidates `start..end`: all at once if that can be proved, else half by half.
    fn settle(&mut self, start: usize, end: usize, accepted: &mut Vec<usize>) {
        if start == end {
            return;
        }
        let before = accepted.len();
        accepted.extend(start..end);
        let Err(unproved) = self.prove(accepted) else { return };
        accepted.truncate(before);
        if end - start == 1 {
            let diagnostics = self.candidates[start].diagnostics.iter();
            self.left.extend(diagnostics.map(|&diagnostic| (diagnostic, unproved.clone())));
            return;
        }
        let middle = start + (end - start) / 2;
        self.settle(start, middle, accepted);
        self.settle(middle, end, accepted);
    }

    fn prove(&mut self, accepted: &[usize]) -> Result<(), Unproved> {
        if self.proofs == FIX_PROOFS_MAX {
            return Err(Unproved::NotTried);
        }
        self.proofs += 1;
        let edits = accepted.iter().flat_map(|&index| self.candidates[index].edits);
        self.prover.prove(&apply(self.text, edits))
    }
}

/// `text` with `edits`, which do not overlap.
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
