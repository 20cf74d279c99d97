//! Problems in a robots.txt, line by line.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! Owns the problems by [`Code`], the checks that find them and the proved edits ([`fix`]). Parsing never
//! fails and silently accepts what a dialect accepts; the linter reports it. If the parser's own
//! observations are enough, use the [notes](portcullis_robots::syntax::Note) of a parsed file.
//!
//! A [`Diagnostic`] is for one dialect, the one that the file is written for. It also shows how
//! each other dialect reads the line, which is computed by parsing the file in each dialect.
//!
//! Cost: one parse per dialect, and an [`analysis`] of each distinct combination of rules, all within
//! one limit. What it left out is named in [`Report::unknown`]; of each code, findings beyond a
//! [limit](limits::LINT_FINDINGS_PER_CODE_MAX) are counted in [`Report::omitted`]. Nothing fails: any
//! bytes are a file.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_lint::{Code, LintConfig, lint};
//!
//! let text = b"User-agent: *\nDisalow: /private/\nDisallow: /tmp/\n";
//! let report = lint(text, &LintConfig::new(&RFC_9309));
//! let diagnostic = &report.diagnostics[0];
//! assert_eq!(diagnostic.code, Code::MisspeltField);
//! assert_eq!((diagnostic.place.line.get(), diagnostic.place.column), (2, 1));
//! let google = diagnostic.effects.iter().find(|effect| effect.dialect.name == "google");
//! assert_eq!(google.unwrap().text, "disallow `/private/`");
//! ```

mod advice;
pub mod analysis;
mod checks;
mod code;
mod diagnostic;
mod examination;
mod findings;
mod fix;
pub mod limits;

pub use advice::Advice;
pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Edit, Effect, Fix, LineIndex, Place, Related, Safety};
pub use fix::{Fixed, apply, fix};

use std::collections::BTreeMap;

use examination::Examination;
use findings::Findings;

/// A map from keys that files choose.
type Map<K, V> = hashbrown::HashMap<K, V, foldhash::fast::RandomState>;
type Set<K> = hashbrown::HashSet<K, foldhash::fast::RandomState>;

use portcullis_dialect::LineNumber;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_robots::policy::Crawler;

/// Settings for checking files.
#[derive(Clone, Debug)]
pub struct LintConfig {
    /// The dialect that the files are written for.
    pub dialect: &'static Dialect,
    /// The number of bytes of a file that are read; `None` for all.
    pub bytes_max: Option<usize>,
    /// The agents whose rules are compared. If empty, the rules of each crawler that the file names
    /// are compared, and the rules for a crawler that it does not name.
    pub agents: Vec<Crawler>,
    /// Whether findings beyond that number are kept, without effects, if [`fix`] can apply their edits, and
    /// the advice of all of them.
    pub keeps_fixes: bool,
}

impl LintConfig {
    /// Returns the default limits for `dialect`.
    pub fn new(dialect: &'static Dialect) -> LintConfig {
        LintConfig {
            dialect,
            bytes_max: Some(ROBOTS_BYTES_MAX),
            agents: Vec::new(),
            keeps_fixes: false,
        }
    }
}

/// The problems of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The problems, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of findings of a code that are left out.
    pub omitted: BTreeMap<Code, usize>,
    /// The advice of the findings, in file order. [`fix`] applies no edit that is wrong once it is followed.
    pub advice: Vec<Advice>,
    /// The first finding whose line may be meant for other crawlers or paths than it is read for. [`fix`] removes
    /// nothing until it is corrected.
    pub unclear: Option<(LineNumber, Code)>,
    /// The checks that a limit ended, in words.
    pub unknown: Vec<String>,
}

/// Checks `text` and returns its problems.
pub fn lint(text: &[u8], config: &LintConfig) -> Report {
    let examination = Examination::new(text, config.dialect, config.bytes_max);
    let mut findings = Findings::new(&examination, config);
    checks::run(&mut findings);
    findings.finish()
}
