//! Reads the times as of which URLs are decided: a column of Arrow timestamps, dates or texts, or
//! Python's datetimes, dates or texts.
//!
//! A row whose time is null or cannot be read has none, and its URL is unknown. One time for all rows
//! that cannot be read is an error. A column is read whole, which takes 16 bytes for each row.
//!
//! Python's objects are read through `isoformat`, and NumPy's through their text, so that there is one
//! reader of texts.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use portcullis_captures::parquet::columns;
use portcullis_robots::access::UnixSeconds;
use portcullis_set::batch::Times;
use portcullis_text::figures::counted;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDate, PyString};

use crate::arrow;
use crate::texts::{Argument, Texts, bytes_of, is_missing, is_named, only_column, with_bytes};

/// The times of all rows of a call.
pub enum At {
    /// One time; `None` for now.
    One(Option<UnixSeconds>),
    Each(Vec<Option<UnixSeconds>>),
}

impl At {
    /// Reads the argument `at`.
    ///
    /// # Errors
    ///
    /// If it has another type, is one time that cannot be read, or is a column that cannot be read.
    pub fn new(at: &Bound<'_, PyAny>) -> PyResult<At> {
        if let Some(mut arrays) = arrow::import(at)? {
            let mut times = Vec::new();
            while let Some(array) = at.py().detach(|| arrays.next()) {
                times.extend(times_of(&array.map_err(arrow::value_error)?)?);
            }
            return Ok(At::Each(times));
        }
        if let Some(text) = text_of(at)? {
            let time = with_bytes(&text, |text| UnixSeconds::from_text(text, None))?;
            let wrong = || {
                PyValueError::new_err(format!(
                    "at: '{at}' is not a time; use a datetime, or a text such as 2024-03-10, \
                     2024-03-10T12:00:00Z or 20240310120000"
                ))
            };
            return time.map(|time| At::One(Some(time))).ok_or_else(wrong);
        }
        let times = at
            .try_iter()
            .map_err(|_| {
                wrong_type(at, "a datetime, a text such as 2024-03-10, or one for each row")
            })?
            .map(|item| read_time(&item?));
        times.collect::<PyResult<_>>().map(At::Each)
    }

    /// Returns the time of all rows; `None` for now.
    ///
    /// # Errors
    ///
    /// If each row has its own.
    pub fn one(&self) -> PyResult<Option<UnixSeconds>> {
        match self {
            At::One(time) => Ok(*time),
            At::Each(_) => Err(PyTypeError::new_err("at has several times; pass one")),
        }
    }

    /// Returns the times of some rows.
    pub fn of(&self, rows: Range<usize>) -> Times<'_> {
        match self {
            At::One(time) => time.map_or(Times::Now, Times::At),
            At::Each(times) => Times::Each(&times[rows]),
        }
    }

    /// Checks that there is a time for each of the first `rows` rows, and no other if they are all.
    ///
    /// # Errors
    ///
    /// If one is missing or left.
    pub fn check(&self, rows: usize, are_all: bool) -> PyResult<()> {
        let At::Each(times) = self else { return Ok(()) };
        let problem = match times.len() {
            found if found < rows => {
                format!("at has {}, and urls has more rows", counted(found as u64, "time"))
            }
            found if are_all && found > rows => {
                format!("at has more times than urls has rows, {rows}")
            }
            _ => return Ok(()),
        };
        Err(PyValueError::new_err(format!("{problem}; pass one time for each URL")))
    }
}

/// Returns the times in an array, or in the only column of a table.
fn times_of(array: &ArrayRef) -> PyResult<Vec<Option<UnixSeconds>>> {
    if let Some(times) = columns::times(array) {
        return Ok(times);
    }
    if matches!(array.data_type(), DataType::Struct(_)) {
        return times_of(only_column(array, &Argument::AT)?);
    }
    let views = Texts::of(array, &Argument::AT)?.views();
    let time = |row| UnixSeconds::from_text(bytes_of(&views, row), None);
    Ok((0..views.len()).map(time).collect())
}

/// Returns the text of one time: a text, or a time of Python or NumPy. `None` if an object is none.
fn text_of<'py>(time: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if time.is_instance_of::<PyString>() || time.is_instance_of::<PyBytes>() {
        return Ok(Some(time.clone()));
    }
    if is_named(time, "datetime64") {
        let seconds = time.call_method1("astype", ("datetime64[s]",))?;
        return seconds.call_method0("__str__").map(Some);
    }
    // A datetime is a date too.
    time.is_instance_of::<PyDate>().then(|| time.call_method0("isoformat")).transpose()
}

fn wrong_type(at: &Bound<'_, PyAny>, times: &str) -> PyErr {
    PyTypeError::new_err(format!("at has the type {}; pass {times}", at.get_type()))
}

/// Reads one time. `None` if it is missing or cannot be read.
fn read_time(time: &Bound<'_, PyAny>) -> PyResult<Option<UnixSeconds>> {
    if is_missing(time) {
        return Ok(None);
    }
    with_bytes(
        &text_of(time)?
            .ok_or_else(|| wrong_type(time, "a datetime or a text such as 2024-03-10"))?,
        |text| UnixSeconds::from_text(text, None),
    )
}
