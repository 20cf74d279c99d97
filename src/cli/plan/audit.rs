//! The plan of `audit`.

use std::path::PathBuf;

use super::super::args::{AuditArgs, RunArgs};
use super::super::output::Destination;
use super::{PolicyPlan, QuestionPlan, StreamPlan, SummaryForm, SummaryPlan};
use super::{policies, questions, stream, summary_form};

pub struct AuditPlan {
    pub policies: PolicyPlan,
    pub questions: QuestionPlan,
    pub stream: StreamPlan,
    pub summary: SummaryPlan,
    /// The destination of the page.
    pub page: Option<Destination>,
    /// The destination of the JSON report.
    pub json: Option<Destination>,
    /// The number of rows per list.
    pub top: usize,
}

impl AuditPlan {
    /// Returns the path of the policies as given.
    pub fn policies_name(&self) -> String {
        let (PolicyPlan::Robots { path, .. } | PolicyPlan::Set { path, .. }) = &self.policies;
        path.display().to_string()
    }
}

pub fn audit(args: AuditArgs) -> anyhow::Result<AuditPlan> {
    let policies = policies(args.policies);
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
        page,
        json,
        top: args.top,
    })
}
