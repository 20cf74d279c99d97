//! How many diagnostics there are of each code.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis::lint::{Code, Report, Severity};

/// Counts over files.
#[derive(Default)]
pub(super) struct Statistics {
    files: usize,
    /// By code: diagnostics, and files that have one.
    codes: BTreeMap<Code, (usize, usize)>,
    /// Diagnostics that were fixed.
    pub(super) fixed: usize,
    /// Rule sets whose rules could not all be compared.
    unknown: usize,
}

impl Statistics {
    pub(super) fn of_file(report: &Report) -> Statistics {
        let unknown = report.unknown.len();
        let mut statistics = Statistics { files: 1, unknown, ..Statistics::default() };
        for diagnostic in &report.diagnostics {
            statistics.codes.entry(diagnostic.code).or_insert((0, 1)).0 += 1;
        }
        for (&code, omitted) in &report.omitted {
            statistics.codes.entry(code).or_insert((0, 1)).0 += omitted;
        }
        statistics
    }

    pub(super) fn merge(&mut self, other: &Statistics) {
        self.files += other.files;
        self.fixed += other.fixed;
        self.unknown += other.unknown;
        for (&code, &(diagnostics, files)) in &other.codes {
            let counts = self.codes.entry(code).or_default();
            *counts = (counts.0 + diagnostics, counts.1 + files);
        }
    }

    /// A line for each code, the most frequent first: diagnostics, files, code, severity, name.
    pub(super) fn table(&self) -> String {
        let mut rows: Vec<_> = self.codes.iter().collect();
        rows.sort_by_key(|&(code, (diagnostics, _))| (std::cmp::Reverse(*diagnostics), *code));
        let mut table = String::new();
        for (code, (diagnostics, files)) in rows {
            let (severity, name) = (code.severity(), code.name());
            let _ = writeln!(table, "{diagnostics}\t{files}\t{code}\t{severity}\t{name}");
        }
        table
    }

    /// What was found, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let of = |severity: Severity| {
            let own = self.codes.iter().filter(|(code, _)| code.severity() == severity);
            own.map(|(_, (diagnostics, _))| diagnostics).sum::<usize>()
        };
        let [errors, warnings, infos] =
            [Severity::Error, Severity::Warning, Severity::Info].map(of);
        let files = self.files;
        let mut sentence =
            format!("files: {files}, errors: {errors}, warnings: {warnings}, infos: {infos}");
        if self.fixed > 0 {
            let _ = write!(sentence, ", fixed: {}", self.fixed);
        }
        if self.unknown > 0 {
            let _ = write!(sentence, ", not compared: {}", self.unknown);
        }
        sentence
    }
}
