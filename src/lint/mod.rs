//! What is wrong in a robots.txt, line by line.
//!
//! Owns the catalogue of what can be wrong ([`Code`], [`catalogue`]), the checks that find it, and
//! the forms in which programs read it. Parsing never fails and is silent about what a
//! dialect accepts; this is where somebody is told. Use the [notes](crate::syntax::Note) of a parsed
//! file if you need no more than what the parser saw on its way.
//!
//! A [`Diagnostic`] holds for one dialect, the one that the file is written for, and says what each
//! of the others makes of the same line. That is computed by reading the file as each of them does,
//! and written down nowhere.
//!
//! Cost: a parse for each dialect, then what [`analysis`](crate::analysis) takes for the rules; each
//! bound that is hit is told in [`Report::unknown`], and findings past
//! [`LintConfig::findings_per_code_max`] are counted in [`Report::omitted`]. Nothing can fail: any bytes are a file.
//!
//! ```
//! use portcullis::dialect::RFC_9309;
//! use portcullis::lint::{Code, LintConfig, lint};
//!
//! let text = b"User-agent: *\nDisalow: /private/\nDisallow: /tmp/\n";
//! let report = lint(text, &LintConfig::new(&RFC_9309));
//! let diagnostic = &report.diagnostics[0];
//! assert_eq!(diagnostic.code, Code::MisspeltField);
//! assert_eq!((diagnostic.place.line.get(), diagnostic.place.column), (2, 1));
//! let google = diagnostic.effects.iter().find(|effect| effect.dialect.name == "google");
//! assert_eq!(google.unwrap().text, "disallow `/private/`");
//! ```

pub mod catalogue;
mod checks;
mod code;
mod diagnostic;
mod examination;
mod findings;
mod fix;
pub mod format;
mod lines;
mod proof;
mod spelling;
mod standings;

pub use catalogue::{Entry, Example};
pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Edit, Effect, Fix, Place, Related, Safety};
pub use fix::{FixConfig, Fixed, Unproved, apply, fix};
pub use lines::LineIndex;

use std::collections::BTreeMap;

use examination::Examination;
use findings::Findings;

use crate::analysis::Limits;
use crate::dialect::Dialect;
use crate::limits::{LINT_FINDINGS_PER_CODE_MAX, ROBOTS_BYTES_MAX};
use crate::policy::AgentChain;

/// How files are looked at.
#[derive(Clone, Debug)]
pub struct LintConfig {
    /// The dialect that the files are written for.
    pub dialect: &'static Dialect,
    /// Bytes of a file that are read; all, if there is no limit.
    pub bytes_max: Option<usize>,
    /// Who is asked about when rules are compared; if there is nobody, everybody: each robot that
    /// the file names, and one that it does not.
    pub agents: Vec<AgentChain>,
    /// Whether the rules are compared as each dialect reads them, so that the effects of what is
    /// wrong with them say what they do there. If not, they say what the rule is by itself.
    pub compares_dialects: bool,
    /// What comparing the rules of one group, or of groups that are joined, may spend.
    pub limits: Limits,
    /// Findings of each code that are kept; the rest is counted in [`Report::omitted`].
    pub findings_per_code_max: usize,
    /// Whether findings past that number are kept all the same if [`fix`] can make their edits. Their
    /// effects are left out.
    pub keeps_fixes: bool,
}

impl LintConfig {
    /// The usual limit on a file's size.
    pub fn new(dialect: &'static Dialect) -> LintConfig {
        LintConfig {
            dialect,
            bytes_max: Some(ROBOTS_BYTES_MAX),
            agents: Vec::new(),
            compares_dialects: true,
            limits: Limits::default(),
            findings_per_code_max: LINT_FINDINGS_PER_CODE_MAX,
            keeps_fixes: false,
        }
    }
}

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more findings of a code there are than those.
    pub omitted: BTreeMap<Code, usize>,
    /// What could not be found out, in words: the rules, and the limit that was reached.
    pub unknown: Vec<String>,
}

/// Looks for what is wrong in `text`.
pub fn lint(text: &[u8], config: &LintConfig) -> Report {
    let examination = Examination::new(text, config.dialect, config.bytes_max);
    let mut findings = Findings::new(&examination, config);
    checks::run(&mut findings, config);
    findings.finish()
}
