//! The other parts of URLs that are paths: a column for the hosts, the queries or the schemes.
//!
//! The parts are joined as `portcullis classify` joins the fields of a record. A row that is no URL then, such
//! as a path with another query than that of its row, is null, and its verdict is `invalid`. The URLs
//! are copied, which a column of whole URLs is not.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use portcullis_rows::list::{Arena, joined_url};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arrow;
use crate::texts::{Argument, Texts, with_bytes};

/// The arguments `host`, `query` and `scheme`; each is a column, or one text for all rows.
pub type Parts<'a, 'py> = [Option<&'a Bound<'py, PyAny>>; 3];

const NAMES: [&str; 3] = ["host", "query", "scheme"];

/// The values of a part.
enum Part {
    None,
    One(Vec<u8>),
    Each(BinaryViewArray),
}

impl Part {
    fn new(part: Option<&Bound<'_, PyAny>>, argument: &Argument) -> PyResult<Part> {
        match part {
            None => Ok(Part::None),
            Some(one) if one.is_instance_of::<PyString>() || one.is_instance_of::<PyBytes>() => {
                with_bytes(one, |bytes| Part::One(bytes.to_vec()))
            }
            Some(column) => column_of(column, argument).map(Part::Each),
        }
    }

    fn at(&self, row: usize) -> Option<&[u8]> {
        match self {
            Part::None => None,
            Part::One(value) => Some(value),
            Part::Each(values) => values.is_valid(row).then(|| values.value(row)),
        }
    }

    fn has(&self, rows: usize) -> bool {
        !matches!(self, Part::Each(values) if values.len() != rows)
    }
}

/// Reads a column whole.
fn column_of(column: &Bound<'_, PyAny>, argument: &Argument) -> PyResult<BinaryViewArray> {
    let Some(mut arrays) = arrow::import(column)? else {
        return Ok(Texts::of(&Texts::from_strings(column)?, argument)?.views());
    };
    let mut all: Vec<ArrayRef> = Vec::new();
    while let Some(array) = column.py().detach(|| arrays.next()) {
        all.push(Arc::new(Texts::of(&array.map_err(arrow::value_error)?, argument)?.views()));
    }
    let mut values = Vec::new();
    for views in &all {
        let views = views.as_any().downcast_ref::<BinaryViewArray>().expect("views were made");
        values.extend(views.iter());
    }
    Ok(BinaryViewArray::from_iter(values))
}

/// Returns the URLs of paths and their parts as a column; `None` if there are no parts.
///
/// # Errors
///
/// If a part is no column of texts, or has another number of rows than `urls`.
pub fn joined(urls: &Bound<'_, PyAny>, parts: Parts<'_, '_>) -> PyResult<Option<ArrayRef>> {
    if parts.iter().all(Option::is_none) {
        return Ok(None);
    }
    let urls = column_of(urls, &Argument::URLS)?;
    let mut read = Vec::new();
    for (name, part) in NAMES.into_iter().zip(parts) {
        let part = Part::new(part, &Argument { name, holds: "strings" })?;
        if !part.has(urls.len()) {
            return Err(PyValueError::new_err(format!(
                "{name} has another number of rows than urls, which has {}",
                urls.len()
            )));
        }
        read.push(part);
    }
    let mut arena = Arena::new();
    let mut builder = LargeBinaryBuilder::new();
    for row in 0..urls.len() {
        arena.reset();
        let part = |number: usize| read[number].at(row);
        let url = urls.is_valid(row).then(|| urls.value(row));
        let url = url.and_then(|url| joined_url(url, [part(0), part(1), part(2)], &arena).ok());
        builder.append_option(url);
    }
    Ok(Some(Arc::new(builder.finish())))
}
