//! `Account`: what a filter keeps and drops, and why, for a data card.
//!
//! The figures are those of `portcullis filter --account`, from the same model. Memory: the counts of
//! the hosts that are counted one by one, in each piece that is being decided.

use portcullis_dialect::Label;
use portcullis_report::filter::Plan;
use portcullis_report::{Account, Counts, Detail, Drops, Filtered, Run, Selection};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::Collect;
use crate::of_json;

/// Members of the account that only a run of the command line has.
const MEMBERS_OF_RUNS: [&str; 5] = ["bytes", "file_notes", "invalid", "left_out", "unnamed_agents"];

/// Counts what a plan keeps and drops.
pub struct Counted {
    pub plan: Plan,
    pub agents: usize,
    /// The label of the purpose.
    pub label: Option<Label>,
}

/// The counts of some rows.
#[derive(Default)]
pub struct RowCounts {
    counts: Counts,
    drops: Drops,
    filtered: Filtered,
}

impl RowCounts {
    /// Adds the counts of the next rows.
    pub fn merge(&mut self, next: &RowCounts) {
        self.counts.merge(&next.counts);
        self.drops.merge(&next.drops);
        self.filtered.merge(next.filtered);
    }
}

impl Collect for Counted {
    type Rows = RowCounts;
    type Piece = RowCounts;

    fn begin(&self, _: usize) -> RowCounts {
        let mut counts = Counts::new(self.agents);
        counts.ask_preferences(self.label.iter().len());
        let filtered = Filtered { kept: 0, unstated: self.label.map(|_| 0) };
        RowCounts { counts, drops: Drops::default(), filtered }
    }

    fn add(
        &self,
        urls: &[&[u8]],
        answers: &mut Answers<'_>,
        rows: &mut RowCounts,
    ) -> Result<(), Damage> {
        rows.counts.add_block(urls, 0, answers)?;
        rows.counts.add_preferences(answers);
        rows.drops.add_block(&self.plan, urls, answers);
        rows.filtered.kept += self.plan.kept(&self.plan.classes(answers));
        rows.filtered.unstated =
            rows.filtered.unstated.map(|count| count + self.plan.unstated(answers));
        Ok(())
    }

    fn finish(&self, rows: RowCounts) -> RowCounts {
        rows
    }
}

/// The account of a filter.
#[pyclass(frozen, name = "Account", module = "portcullis_robots")]
pub struct PyAccount(Account);

impl PyAccount {
    pub fn new(Counted { plan, label, .. }: Counted, rows: RowCounts, run: Run) -> PyAccount {
        let RowCounts { counts, drops, filtered } = rows;
        let dropped = Some((Selection::of(&plan, label), drops));
        let detail = Some(Detail { labels: label.into_iter().collect(), dropped });
        let filtered = Some(filtered);
        PyAccount(Account { run, counts, filtered, detail, ..Account::default() })
    }
}

#[pymethods]
impl PyAccount {
    /// Returns the object of `portcullis filter --account FILE.json`, without the members that describe
    /// files.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut json = Vec::new();
        self.0.write_json(&mut json)?;
        let object = of_json(py, &json)?;
        let members = object.cast::<PyDict>()?;
        MEMBERS_OF_RUNS.into_iter().try_for_each(|member| members.del_item(member))?;
        Ok(object)
    }

    /// Returns the text of `portcullis filter --account FILE.md`.
    fn to_markdown(&self) -> PyResult<String> {
        let mut text = Vec::new();
        self.0.write_markdown(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
