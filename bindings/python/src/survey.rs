//! `Survey`: rows of each origin and agent, as a stream of Arrow batches.
//!
//! The rows equal `portcullis survey`: both come from [`SurveyRows`]. A thread computes them one
//! batch ahead of the importer. Memory: batches of about [`SURVEY_BATCH_ROWS`] rows, and what a worker
//! keeps.
//!
//! Errors: a damaged set ends the stream with an error, which importers raise as their own, and so does
//! a handler of a signal that raises an exception.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use portcullis_robots::policy::Crawler;
use portcullis_rows::output::Added;
use portcullis_rows::output::arrow::Arrays;
use portcullis_set::{Damage, PolicySet};
use portcullis_survey::limits::SURVEY_BATCH_ROWS;
use portcullis_survey::{RowConfig, SurveyRows};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::Error;
use crate::arrow::{export_schema, export_stream, names, rows_field};
use crate::fault::interrupt_again;

/// The rows of a policy set for some agents. Each export begins with the first row.
#[pyclass(frozen, name = "Survey", module = "portcullis_robots")]
pub struct PySurvey {
    set: Arc<PolicySet>,
    agents: Vec<Crawler>,
    config: RowConfig<'static>,
    arrays: Arc<Arrays>,
}

/// The message of a thread: batches, with an empty answer before and after them.
type Sent = Result<Option<RecordBatch>, Damage>;

/// The batches of one export, which a thread computes. It ends when nobody receives them any more.
struct Batches {
    batches: Receiver<Sent>,
    is_over: bool,
}

/// Sends the rows of a survey, until there are no more or nobody receives them.
fn send_rows(rows: &SurveyRows<'_>, arrays: &Arrays, out: &SyncSender<Sent>) -> Result<(), Damage> {
    let is_sent = |batch| out.send(Ok(batch)).is_ok();
    is_sent(None);
    let mut worker = rows.worker();
    let mut added = Added::of(rows.fields().iter().map(|field| field.kind));
    for block in rows.blocks(SURVEY_BATCH_ROWS, u64::MAX) {
        let mut hosts = block?.hosts.into_iter();
        worker.fill(&mut hosts, &mut added)?;
        while added.rows() > 0 {
            if !is_sent(Some(arrays.batch(&added))) {
                return Ok(());
            }
            worker.fill(&mut hosts, &mut added)?;
        }
    }
    Ok(())
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        if let Err(raised) = Python::attach(|py| py.check_signals()) {
            self.is_over = true;
            // The importer raises an exception of its own, for the text of this one.
            if Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
                interrupt_again();
            }
            return Some(Err(ArrowError::ExternalError(raised.into())));
        }
        // A thread that has panicked sends no end.
        let sent = self.batches.recv().map_err(|gone| ArrowError::ExternalError(gone.into()));
        let sent = sent.and_then(|it| it.map_err(|it| ArrowError::ExternalError(it.into())));
        self.is_over = !matches!(sent, Ok(Some(_)));
        sent.transpose()
    }
}

impl PySurvey {
    /// Returns the survey of `set` for `agents`, of which there is at least one. The set has history
    /// if `config` asks for it.
    pub fn new(set: Arc<PolicySet>, agents: Vec<Crawler>, config: RowConfig<'static>) -> PySurvey {
        PySurvey { set, agents, config, arrays: Arrays::new(&config.fields()).into() }
    }
}

#[pymethods]
impl PySurvey {
    /// Returns the names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        names(self.arrays.schema().fields())
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(Crawler::name).collect();
        format!("<Survey of {} for {}>", self.set.name(), names.join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &rows_field(self.arrays.schema().fields()))
    }

    /// Exports the rows, which are computed while they are read.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let (set, agents, config) = (Arc::clone(&self.set), self.agents.clone(), self.config);
        let (arrays, schema) = (Arc::clone(&self.arrays), Arc::clone(self.arrays.schema()));
        let (out, batches) = mpsc::sync_channel(1);
        thread::Builder::new().name("survey".to_owned()).spawn(move || {
            let rows = SurveyRows::new(&set, &agents, config);
            let end = rows.and_then(|rows| send_rows(&rows, &arrays, &out)).map(|()| None);
            // Nobody may be left to receive it.
            let _ = out.send(end);
        })?;
        let (begun, batches) = py.detach(move || (batches.recv(), batches));
        begun.map_err(Error::of)?.map_err(Error::of)?;
        export_stream(py, RecordBatchIterator::new(Batches { batches, is_over: false }, schema))
    }
}
