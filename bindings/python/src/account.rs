//! `Account`: what a filter keeps and drops, and why, for a data card.
//!
//! The figures are those of `portcullis filter --account`, from the same model. Memory: the counts of
//! the hosts that are counted one by one, in each piece that is being decided.

use std::borrow::Cow;

use portcullis_dialect::Label;
use portcullis_report::filter::Plan;
use portcullis_report::{Account, Counts, Detail, Drops, Filtered, Run, Selection};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

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

/// The account of a filter: its JSON and its Markdown.
#[pyclass(frozen, name = "Account", module = "portcullis_robots")]
pub struct PyAccount {
    json: Vec<u8>,
    markdown: Vec<u8>,
}

/// The two texts of an account.
type Texts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

impl PyAccount {
    pub fn new(
        Counted { plan, label, .. }: Counted,
        rows: RowCounts,
        run: Run,
    ) -> PyResult<PyAccount> {
        let RowCounts { counts, drops, filtered } = rows;
        let dropped = Some((Selection::of(&plan, label), drops));
        let detail = Some(Detail { labels: label.into_iter().collect(), dropped });
        let filtered = Some(filtered);
        let account = Account { run, counts, filtered, detail, ..Account::default() };
        let mut texts = PyAccount { json: Vec::new(), markdown: Vec::new() };
        account.write_json(&mut texts.json)?;
        account.write_markdown(&mut texts.markdown)?;
        Ok(texts)
    }
}

#[pymethods]
impl PyAccount {
    /// Returns the object of `portcullis filter --account FILE.json`, without the members that describe
    /// files.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = of_json(py, &self.json)?;
        let members = object.cast::<PyDict>()?;
        MEMBERS_OF_RUNS.into_iter().try_for_each(|member| members.del_item(member))?;
        Ok(object)
    }

    /// Returns the text of `portcullis filter --account FILE.md`.
    fn to_markdown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.markdown)
    }

    /// Pickles an account as its texts.
    fn __reduce__<'py>(self_: &Bound<'py, PyAccount>) -> PyResult<(Bound<'py, PyAny>, Texts<'py>)> {
        let (it, py) = (self_.get(), self_.py());
        let texts = [&it.json, &it.markdown].map(|text| PyBytes::new(py, text));
        Ok((self_.get_type().getattr("_unpickle")?, texts.into()))
    }

    /// Returns a pickled account.
    #[classmethod]
    fn _unpickle(_: &Bound<'_, PyType>, json: Vec<u8>, markdown: Vec<u8>) -> PyAccount {
        PyAccount { json, markdown }
    }
}
