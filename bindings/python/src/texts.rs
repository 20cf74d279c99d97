//! Reads texts from Python, URLs or times: any Arrow array of strings, or Python strings.
//!
//! This module returns the bytes of each row, whatever the type of the column, as views. A null row has
//! no bytes, so it is not a URL and its verdict is `invalid`, and it is not a time. Views copy no bytes.
//! Python strings are copied once, because Python may change the list while its lock is released.
//!
//! Libraries build arrays whose keys, offsets or views lead outside their data, and export them
//! without a check. [`Texts::of`] checks them all before the first row is read, in time linear in the
//! rows. Bytes are not checked.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

use crate::Error;

/// An argument of a method, for errors.
pub struct Argument {
    pub name: &'static str,
    /// The content of a column of it.
    pub holds: &'static str,
}

impl Argument {
    pub const URLS: Argument = Argument { name: "urls", holds: "strings" };
    pub const AT: Argument = Argument { name: "at", holds: "timestamps, dates or strings" };
}

/// A column of texts or bytes, all of which lie in its buffers.
pub struct Texts(ArrayRef);

impl Texts {
    /// Reads the texts of an array, or of the only column of a table.
    ///
    /// # Errors
    ///
    /// If there are several columns, the column does not hold strings, or its keys, offsets or views
    /// lead outside its data.
    pub fn of(array: &ArrayRef, argument: &Argument) -> PyResult<Texts> {
        let invalid = |error| invalid(error, argument);
        // Bytes: a text that is not UTF-8 is a row like any other.
        let bytes: ArrayRef = match array.data_type() {
            DataType::Struct(_) => return Texts::of(only_column(array, argument)?, argument),
            DataType::Dictionary(..) => {
                array.to_data().validate_values().map_err(invalid)?;
                let dictionary = array.as_any_dictionary();
                let values = Texts::of(dictionary.values(), argument)?.views();
                return take(&values, dictionary.keys(), None).map(Texts).map_err(invalid);
            }
            DataType::Utf8 => Arc::new(BinaryArray::from(array.as_string().clone())),
            DataType::LargeUtf8 => Arc::new(LargeBinaryArray::from(array.as_string().clone())),
            DataType::Utf8View => Arc::new(array.as_string_view().clone().to_binary_view()),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::Null => {
                Arc::clone(array)
            }
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{} is an Arrow array of type {other}; pass a column of {}",
                    argument.name, argument.holds
                )));
            }
        };
        match bytes.as_binary_view_opt() {
            Some(views) => check_views(views).map_err(invalid)?,
            // The only offset of an empty array has no meaning.
            None if bytes.is_empty() => {}
            None => bytes.to_data().validate_data().map_err(invalid)?,
        }
        Ok(Texts(bytes))
    }

    /// Reads an iterable of Python strings, bytes or missing values.
    ///
    /// # Errors
    ///
    /// If `object` is not iterable, or has an item of another type.
    pub fn from_strings(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
        if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("urls is one text; pass a list: [url]"));
        }
        let wrong = |_| {
            PyTypeError::new_err(format!(
                "urls has the type {}; pass an object that exports Arrow, or a list of str",
                object.get_type()
            ))
        };
        let mut builder = LargeBinaryBuilder::new();
        for item in object.try_iter().map_err(wrong)? {
            let item = item?;
            match is_missing(&item) {
                true => builder.append_null(),
                false => with_bytes(&item, |bytes| builder.append_value(bytes))?,
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the texts in pieces of this number of rows, of which the last may have fewer.
    pub fn pieces(&self, rows: usize) -> impl Iterator<Item = Texts> {
        let starts = (0..self.len()).step_by(rows);
        starts.map(move |start| Texts(self.0.slice(start, rows.min(self.len() - start))))
    }

    /// Returns views of the bytes of the rows.
    pub fn views(&self) -> BinaryViewArray {
        match self.0.data_type() {
            DataType::Binary => self.0.as_binary::<i32>().into(),
            DataType::LargeBinary => self.0.as_binary::<i64>().into(),
            DataType::BinaryView => self.0.as_binary_view().clone(),
            _ => BinaryViewArray::new_null(self.len()),
        }
    }
}

/// Returns the bytes of a row; none if it is null.
pub fn bytes_of(views: &BinaryViewArray, row: usize) -> &[u8] {
    if views.is_null(row) { &[] } else { views.value(row) }
}

/// Returns the only column of a table.
///
/// # Errors
///
/// If there are several columns.
pub fn only_column<'a>(table: &'a ArrayRef, argument: &Argument) -> PyResult<&'a ArrayRef> {
    let table = table.as_struct();
    match table.columns() {
        [column] if table.null_count() == 0 => Ok(column),
        columns => Err(PyTypeError::new_err(format!(
            "{} is a table with {} columns; pass one column",
            argument.name,
            columns.len()
        ))),
    }
}

/// Bytes of the longest value that lies in its view and not in a buffer: the Arrow format's.
const VIEW_BYTES_MAX: usize = 12;

/// Checks the views of all rows that are not null. arrow-rs would also check those under nulls, which
/// producers leave unset, and the prefixes in views, which are not read here.
fn check_views(array: &BinaryViewArray) -> Result<(), ArrowError> {
    let buffers = array.data_buffers();
    for (row, &view) in array.views().iter().enumerate() {
        let [length, buffer, offset] = [0, 64, 96].map(|bit| (view >> bit) as u32 as usize);
        let is_inside = length <= VIEW_BYTES_MAX
            || buffers.get(buffer).is_some_and(|buffer| offset + length <= buffer.len());
        if !is_inside && !array.is_null(row) {
            return Err(ArrowError::InvalidArgumentError(format!(
                "View at position {row} out of bounds: {length} bytes at {offset} of buffer {buffer}"
            )));
        }
    }
    Ok(())
}

/// Converts what makes an array invalid to an [`Error`].
fn invalid(error: ArrowError, argument: &Argument) -> PyErr {
    let what = match error {
        ArrowError::InvalidArgumentError(what) => what,
        other => other.to_string(),
    };
    Error::new_err(format!(
        "{} is not valid Arrow: {what}; the library that made the array did not check it \
         (pyarrow: validate(full=True))",
        argument.name
    ))
}

/// Whether the type of an object has this name. Types of packages that may be missing have no other mark.
pub fn is_named(object: &Bound<'_, PyAny>, name: &str) -> bool {
    object.get_type().name().is_ok_and(|own| own == name)
}

/// Whether an object is a missing value: `None`, NaN, or pandas' NA or NaT.
pub fn is_missing(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyString>() {
        return false;
    }
    object.is_none()
        || object.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan())
        || is_named(object, "NAType")
        || is_named(object, "NaTType")
}

/// Calls `with` with the bytes of a str or bytes object. Lone surrogates in a str are encoded as
/// UTF-8 would encode them, so such a str is a bad URL instead of an exception.
///
/// # Errors
///
/// If `item` is neither.
pub fn with_bytes<R>(item: &Bound<'_, PyAny>, with: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(text) = item.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(with(text.as_bytes()));
        }
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        return Ok(with(encoded.cast::<PyBytes>()?.as_bytes()));
    }
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(with(bytes.as_bytes()));
    }
    Err(PyTypeError::new_err(format!("a URL is str or bytes, not {}", item.get_type())))
}
