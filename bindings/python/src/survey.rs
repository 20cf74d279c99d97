//! `Survey`: rows of each origin and agent, as a stream of Arrow batches.
//!
//! The rows are those of `portcullis survey`, from the same [`SurveyRows`]. Memory: one batch of about
//! [`SURVEY_BATCH_ROWS`] rows, and what [`RowWorker`] keeps. The importer reads one batch at a time, on
//! its thread and without Python's lock.
//!
//! Errors: a damaged set ends the stream with an error, which importers raise as their own, and so does
//! a handler of a signal that raises an exception.

use std::sync::Arc;
use std::vec;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use portcullis_robots::policy::Crawler;
use portcullis_rows::output::Added;
use portcullis_set::stored::StoredHost;
use portcullis_set::{Damage, PolicySet};
use portcullis_survey::limits::SURVEY_BATCH_ROWS;
use portcullis_survey::{HostBlock, RowConfig, RowWorker, SurveyRows};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use self_cell::self_cell;

use crate::Error;
use crate::arrow::{export_schema, export_stream, names, rows_field};
use crate::columns::RowArrays;
use crate::fault::interrupt_again;

/// The rows of a policy set for some agents. Each export begins with the first row.
#[pyclass(frozen, name = "Survey", module = "portcullis_robots")]
pub struct PySurvey {
    set: Arc<PolicySet>,
    agents: Vec<Crawler>,
    config: RowConfig<'static>,
    arrays: Arc<RowArrays>,
}

self_cell!(
    /// The model of a survey, and the set that it reads.
    struct OwnedRows {
        owner: Arc<PolicySet>,
        #[covariant]
        dependent: SurveyRows,
    }
);

self_cell!(
    /// A model and how far it was read.
    struct Cursor {
        owner: OwnedRows,
        #[not_covariant]
        dependent: Unread,
    }
);

type Blocks<'s> = Box<dyn Iterator<Item = Result<HostBlock<'s>, Damage>> + Send + 's>;

/// The rows that were not read yet.
struct Unread<'s> {
    worker: RowWorker<'s, 's>,
    blocks: Blocks<'s>,
    /// The hosts of the last block without rows.
    hosts: vec::IntoIter<StoredHost<'s>>,
    added: Added,
}

impl<'s> Unread<'s> {
    fn new(rows: &'s SurveyRows<'s>) -> Unread<'s> {
        Unread {
            worker: rows.worker(),
            blocks: Box::new(rows.blocks(SURVEY_BATCH_ROWS, u64::MAX)),
            hosts: Vec::new().into_iter(),
            added: Added::of(rows.fields().iter().map(|field| field.kind)),
        }
    }

    /// Returns the next rows; `None` if there are no more.
    fn next(&mut self) -> Result<Option<&Added>, Damage> {
        loop {
            self.worker.fill(&mut self.hosts, &mut self.added)?;
            if self.added.rows() > 0 {
                return Ok(Some(&self.added));
            }
            match self.blocks.next() {
                Some(block) => self.hosts = block?.hosts.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

/// The batches of one export.
struct Batches {
    /// `None` after the end or an error.
    cursor: Option<Cursor>,
    arrays: Arc<RowArrays>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Batches { cursor, arrays } = self;
        if cursor.is_some()
            && let Err(raised) = Python::attach(|py| py.check_signals())
        {
            *cursor = None;
            // The importer raises an exception of its own, for the text of this one.
            if Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
                interrupt_again();
            }
            return Some(Err(ArrowError::ExternalError(raised.into())));
        }
        let batch = cursor.as_mut()?.with_dependent_mut(|_, unread| {
            let added = unread.next()?;
            Ok(added.map(|added| arrays.rows(added)))
        });
        if !matches!(batch, Ok(Some(_))) {
            *cursor = None;
        }
        batch.map_err(|damage: Damage| ArrowError::ExternalError(damage.into())).transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.arrays.schema())
    }
}

impl PySurvey {
    /// Returns the survey of `set` for `agents`, of which there is at least one. The set has history
    /// if `config` asks for it.
    pub fn new(set: Arc<PolicySet>, agents: Vec<Crawler>, config: RowConfig<'static>) -> PySurvey {
        PySurvey { set, agents, config, arrays: RowArrays::new(&config.fields()).into() }
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
        let rows = OwnedRows::try_new(Arc::clone(&self.set), |set| {
            SurveyRows::new(set, &self.agents, self.config)
        });
        let cursor =
            Cursor::new(rows.map_err(Error::of)?, |rows| Unread::new(rows.borrow_dependent()));
        export_stream(py, Batches { cursor: Some(cursor), arrays: Arc::clone(&self.arrays) })
    }
}
