//! Reads texts from Python, URLs or times: any Arrow array of strings, or Python strings.
//!
//! This module returns the bytes of each row. A null row has no bytes, so it is not a URL and its
//! verdict is `invalid`, and it is not a time. Reading a row copies no bytes, except for Python
//! strings. They are copied once, because Python may change the list while its lock is released.
//!
//! Libraries build arrays whose keys, offsets or views lead outside their data, and export them
//! without a check. [`Texts::of`] checks them all before the first row is read, in time linear in the
//! rows. Bytes are not checked: a text that is not UTF-8 is a row like any other.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

use crate::Error;

/// An argument of a method, for errors.
pub struct Argument {
    pub name: &'static str,
    /// What a column of it holds.
    pub holds: &'static str,
}

impl Argument {
    pub const URLS: Argument = Argument { name: "urls", holds: "strings" };
    pub const AT: Argument = Argument { name: "at", holds: "timestamps, dates or strings" };
}

/// A column of texts, which are read as bytes.
pub enum Texts {
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    BytesView(BinaryViewArray),
    Dictionary {
        /// The rows themselves, to find nulls.
        rows: ArrayRef,
        /// The place in `values` of each row.
        keys: Vec<usize>,
        values: Box<Texts>,
    },
    Nulls(usize),
}

impl Texts {
    /// Reads the texts of an array, or of the only column of a table.
    ///
    /// # Errors
    ///
    /// If there are several columns, the column does not hold strings, or its keys, offsets or views
    /// lead outside its data.
    pub fn of(array: &ArrayRef, argument: &Argument) -> PyResult<Texts> {
        let texts = match array.data_type() {
            DataType::Utf8 => Texts::Bytes(array.as_string().clone().into()),
            DataType::LargeUtf8 => Texts::LargeBytes(array.as_string().clone().into()),
            DataType::Utf8View => Texts::BytesView(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Texts::Bytes(array.as_binary().clone()),
            DataType::LargeBinary => Texts::LargeBytes(array.as_binary().clone()),
            DataType::BinaryView => Texts::BytesView(array.as_binary_view().clone()),
            DataType::Null => Texts::Nulls(array.len()),
            DataType::Dictionary(..) => Texts::from_dictionary(array, argument)?,
            DataType::Struct(_) => return Texts::of(only_column(array, argument)?, argument),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "{} is an Arrow array of type {other}; pass a column of {}",
                    argument.name, argument.holds
                )));
            }
        };
        texts.check().map_err(|error| invalid(error, argument))?;
        Ok(texts)
    }

    fn from_dictionary(array: &ArrayRef, argument: &Argument) -> PyResult<Texts> {
        // Before the keys are read: `normalized_keys` clamps them.
        array.to_data().validate_values().map_err(|error| invalid(error, argument))?;
        let dictionary = array.as_any_dictionary();
        Ok(match dictionary.values().is_empty() {
            // Without values, every row is null.
            true => Texts::Nulls(array.len()),
            false => Texts::Dictionary {
                rows: Arc::clone(array),
                keys: dictionary.normalized_keys(),
                values: Box::new(Texts::of(dictionary.values(), argument)?),
            },
        })
    }

    /// Checks that all bytes of all rows lie in the buffers of the array.
    fn check(&self) -> Result<(), ArrowError> {
        match self {
            // The only offset of an empty array has no meaning.
            texts if texts.len() == 0 => Ok(()),
            Texts::Bytes(array) => array.to_data().validate_data(),
            Texts::LargeBytes(array) => array.to_data().validate_data(),
            Texts::BytesView(array) => check_views(array),
            // Checked when they were read.
            Texts::Dictionary { .. } | Texts::Nulls(_) => Ok(()),
        }
    }

    /// Reads an iterable of Python strings, bytes or missing values.
    ///
    /// # Errors
    ///
    /// If `object` is not iterable, or has an item of another type.
    pub fn from_strings(object: &Bound<'_, PyAny>) -> PyResult<Texts> {
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
        Ok(Texts::LargeBytes(builder.finish()))
    }

    pub fn len(&self) -> usize {
        match self {
            Texts::Bytes(array) => array.len(),
            Texts::LargeBytes(array) => array.len(),
            Texts::BytesView(array) => array.len(),
            Texts::Dictionary { keys, .. } => keys.len(),
            Texts::Nulls(rows) => *rows,
        }
    }

    /// Replaces `block` with the bytes of `rows`. A null row has no bytes.
    pub fn read<'u>(&'u self, rows: std::ops::Range<usize>, block: &mut Vec<&'u [u8]>) {
        fn fill<'u, A: Array>(
            array: &'u A,
            rows: std::ops::Range<usize>,
            block: &mut Vec<&'u [u8]>,
            value: impl Fn(&'u A, usize) -> &'u [u8],
        ) {
            match array.null_count() {
                0 => block.extend(rows.map(|row| value(array, row))),
                _ => block.extend(rows.map(|row| match array.is_null(row) {
                    true => &[],
                    false => value(array, row),
                })),
            }
        }
        block.clear();
        match self {
            Texts::Bytes(array) => fill(array, rows, block, |it, row| it.value(row)),
            Texts::LargeBytes(array) => fill(array, rows, block, |it, row| it.value(row)),
            Texts::BytesView(array) => fill(array, rows, block, |it, row| it.value(row)),
            Texts::Dictionary { rows: array, keys, values } => {
                let mut one = Vec::new();
                for row in rows {
                    one.clear();
                    if !array.is_null(row) {
                        values.read(keys[row]..keys[row] + 1, &mut one);
                    }
                    block.push(one.pop().unwrap_or_default());
                }
            }
            Texts::Nulls(_) => block.extend(rows.map(|_| &[][..])),
        }
    }
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
