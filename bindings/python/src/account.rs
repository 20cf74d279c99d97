//! `Account`: what a filter keeps and drops, and why, for a data card.
//!
//! The figures equal `portcullis filter --summary FILE.json`: the same code counts them. Memory: the counts of
//! the hosts that are counted one by one, in each piece that is being decided.

use std::borrow::Cow;

use portcullis_report::filter::Plan;
use portcullis_report::{Account, Counts, Run};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;
use portcullis_text::json::to_json;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::of_json;

/// Members of the account that only a run of the command line has.
const MEMBERS_OF_RUNS: [&str; 4] = ["bytes", "invalid", "notes", "unnamed_agents"];

/// Begins to count what a plan keeps and drops for some agents.
pub fn begin(agents: usize, plan: &Plan) -> Counts {
    let mut counts = Counts::new(agents);
    counts.ask_drops();
    counts.ask_preferences(plan.labels());
    counts.ask_kept(plan);
    counts
}

/// Adds the answers on a block, whose URLs are `urls`.
pub fn add(
    counts: &mut Counts,
    plan: &Plan,
    urls: &[&[u8]],
    answers: &mut Answers<'_>,
) -> Result<(), Damage> {
    counts.add_block(urls, 0, answers)?;
    counts.add_kept(plan, answers)?;
    Ok(())
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
    pub fn new(counts: &Counts, run: Run) -> PyResult<PyAccount> {
        let account = Account::new(run, counts);
        let (json, mut markdown) = (to_json(&account) + "\n", Vec::new());
        account.write_markdown(&mut markdown)?;
        Ok(PyAccount { json: json.into_bytes(), markdown })
    }
}

#[pymethods]
impl PyAccount {
    /// Returns the object of `portcullis filter --summary FILE.json`, without the members that describe
    /// files.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = of_json(py, &self.json)?;
        let members = object.cast::<PyDict>()?;
        MEMBERS_OF_RUNS.into_iter().try_for_each(|member| members.del_item(member))?;
        Ok(object)
    }

    /// Returns the text of `portcullis filter --summary FILE.md`.
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
