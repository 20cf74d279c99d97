//! What the flags of `audit` mean.

use std::path::PathBuf;

use anyhow::ensure;
use portcullis::dialect::Dialect;

use super::super::args::{AuditArgs, RunArgs};
use super::super::output::Destination;
use super::{PolicyPlan, QuestionPlan, StreamPlan, SummaryForm, SummaryPlan};
use super::{policies, questions, stream, summary_form};

pub struct AuditPlan {
    pub policies: PolicyPlan,
    pub questions: QuestionPlan,
    pub stream: StreamPlan,
    pub summary: SummaryPlan,
    pub compare_dialects: Vec<&'static Dialect>,
    pub compare_sets: Vec<PathBuf>,
    /// Where the page goes, if it is wanted.
    pub page: Option<Destination>,
    /// Where the JSON goes, if it is wanted.
    pub json: Option<Destination>,
    /// Rows of a list.
    pub top: usize,
}

impl AuditPlan {
    /// The name that the policies were given by.
    pub fn policies_name(&self) -> String {
        let (PolicyPlan::Robots { path, .. } | PolicyPlan::Set { path, .. }) = &self.policies;
        path.display().to_string()
    }
}

pub fn audit(args: AuditArgs) -> anyhow::Result<AuditPlan> {
    let policies = policies(args.policies);
    if let PolicyPlan::Robots { dialect, .. } = &policies {
        for other in &args.compare_dialects {
            ensure!(
                other.name != dialect.name,
                "--compare-dialect {} is the dialect that is followed; name another one, or follow \
                 another one with --dialect",
                other.name
            );
        }
    }
    let destination = |path: Option<PathBuf>| path.map(|path| Destination::new(Some(path)));
    let page = destination(args.output);
    let json = destination(args.json);
    let run = RunArgs {
        threads: args.threads,
        no_summary: args.no_summary,
        json: false,
        no_progress: args.no_progress,
    };
    let form: SummaryForm = summary_form(&run);
    Ok(AuditPlan {
        questions: questions(args.questions, policies.dialect())?,
        policies,
        stream: stream(args.input, &run, false)?,
        summary: SummaryPlan { form, census: false },
        compare_dialects: args.compare_dialects,
        compare_sets: args.compare_sets,
        page,
        json,
        top: args.top,
    })
}
