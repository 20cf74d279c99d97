//! Imports and exports Arrow arrays through capsules of the Arrow C data interface.
//!
//! The module does not depend on a version of any Arrow library in Python: pyarrow, Polars, DuckDB
//! and nanoarrow export and import capsules. The structures come from arrow-rs, which the workspace
//! already uses for Parquet. pyo3-arrow would add a second arrow-rs, numpy and time zones to
//! replace a hundred lines.
//!
//! Importing and exporting copies no values. Errors: an object that does not export Arrow, or a
//! stream that fails while it is read. Exported structures are trusted to follow the C data
//! interface, which gives no size of a buffer. The values in the buffers are not trusted: [`Texts::of`]
//! checks them.
//!
//! [`Texts::of`]: crate::texts::Texts::of

#![allow(unsafe_code, reason = "capsules hold pointers to the structures of the C data interface")]

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{Float64Type, Int8Type, Int32Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StructArray, make_array, new_empty_array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use arrow_select::concat::concat;
use portcullis_robots::access::UnixSeconds;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict, PyIterator, PyList, PyType};

use crate::Error;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The data that a Python object exports.
pub enum Imported {
    Array(ArrayRef),
    Stream(ArrayStreamReader),
}

/// Imports the Arrow data that `object` exports. `None` if it does not export Arrow.
///
/// # Errors
///
/// If the export fails, or arrow-rs does not support its type.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Imported>> {
    let py = object.py();
    if let Some(export) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = export.call0()?.extract()?;
        let schema = pointer::<FFI_ArrowSchema>(&schema, SCHEMA)?;
        let array = pointer::<FFI_ArrowArray>(&array, ARRAY)?;
        // SAFETY: the name of a capsule gives the type that it points to. The array is moved out of
        // its capsule, which is left with a released array. The schema is only read while `schema`
        // lives.
        let (array, schema) =
            unsafe { (FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
        if array.is_released() {
            return Err(PyValueError::new_err("the Arrow array was already consumed"));
        }
        // SAFETY: the exporter follows the C data interface.
        let data = unsafe { from_ffi(array, schema) }.map_err(value_error)?;
        return Ok(Some(Imported::Array(make_array(data))));
    }
    let Some(export) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        return Ok(None);
    };
    let capsule = export.call0()?;
    let stream = pointer::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
    // SAFETY: as above.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let reader = ArrayStreamReader::try_new(stream).map_err(value_error)?;
    Ok(Some(Imported::Stream(reader)))
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

/// Converts an error of arrow-rs to a `ValueError`.
pub fn value_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// One column of values.
#[pyclass(frozen, name = "Column", module = "portcullis_robots")]
pub struct PyColumn {
    field: FieldRef,
    /// The pieces of the column, at least one.
    pieces: Vec<ArrayRef>,
}

/// A table of columns.
#[pyclass(frozen, name = "Table", module = "portcullis_robots")]
pub struct PyTable {
    /// A struct column whose fields are the columns of the table.
    rows: PyColumn,
}

/// What pickles a result: a function, and its argument.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

impl PyColumn {
    /// Returns a column of at least one piece, with the type of `field`.
    pub fn new(field: FieldRef, pieces: Vec<ArrayRef>) -> PyColumn {
        assert!(!pieces.is_empty(), "a column without rows has an empty piece");
        PyColumn { field, pieces }
    }
}

impl PyTable {
    /// Returns a table of `rows`, which must be structs.
    pub fn new(rows: PyColumn) -> PyTable {
        PyTable { rows }
    }

    fn fields(&self) -> &[FieldRef] {
        match self.rows.field.data_type() {
            DataType::Struct(fields) => fields,
            other => unreachable!("rows are structs, not {other}"),
        }
    }

    fn schema(&self) -> Schema {
        Schema::new(self.fields().to_vec())
    }

    fn batches(&self) -> impl Iterator<Item = RecordBatch> + '_ {
        self.rows.pieces.iter().map(|piece| RecordBatch::from(piece.as_struct()))
    }

    /// Returns the table as an Arrow IPC stream.
    fn to_ipc(&self) -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &self.schema())?;
        self.batches().try_for_each(|batch| writer.write(&batch))?;
        writer.finish()?;
        writer.into_inner()
    }

    /// Reads an Arrow IPC stream.
    fn of_ipc(stream: &[u8]) -> Result<PyTable, ArrowError> {
        let reader = StreamReader::try_new(stream, None)?;
        let field = Arc::new(Field::new_struct("", reader.schema().fields().clone(), false));
        let piece = |batch| Ok(Arc::new(StructArray::from(batch?)) as ArrayRef);
        let mut pieces = reader.map(piece).collect::<Result<Vec<_>, ArrowError>>()?;
        if pieces.is_empty() {
            pieces.push(new_empty_array(field.data_type()));
        }
        Ok(PyTable::new(PyColumn::new(field, pieces)))
    }

    fn column(&self, place: usize) -> PyColumn {
        let column = |piece: &ArrayRef| Arc::clone(piece.as_struct().column(place));
        let pieces = self.rows.pieces.iter().map(column).collect();
        PyColumn::new(Arc::clone(&self.fields()[place]), pieces)
    }
}

#[pymethods]
impl PyColumn {
    fn __len__(&self) -> usize {
        self.pieces.iter().map(Array::len).sum()
    }

    fn __repr__(&self) -> String {
        format!("<Column {}: {} rows>", self.field.name(), self.__len__())
    }

    /// Returns the values as Python objects.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        self.pieces.iter().try_for_each(|piece| push_values(piece, &list))?;
        Ok(list)
    }

    /// Returns the column as an Arrow IPC stream.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let field = Field::new_struct("", vec![Arc::clone(&self.field)], false);
        let rows = |piece: &ArrayRef| -> ArrayRef {
            let fields = vec![Arc::clone(&self.field)].into();
            Arc::new(StructArray::new(fields, vec![Arc::clone(piece)], None))
        };
        let rows = self.pieces.iter().map(rows).collect();
        PyTable::new(PyColumn::new(field.into(), rows)).to_bytes(py)
    }

    /// Reads the bytes of `to_bytes`.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, data: &[u8]) -> PyResult<PyColumn> {
        let table = PyTable::of_ipc(data).map_err(Error::of)?;
        match table.fields().len() {
            1 => Ok(table.column(0)),
            columns => {
                Err(PyValueError::new_err(format!("{columns} columns; use Table.from_bytes")))
            }
        }
    }

    fn __reduce__<'py>(self_: &Bound<'py, PyColumn>) -> PyResult<Reduced<'py>> {
        Ok((self_.get_type().getattr("from_bytes")?, (self_.get().to_bytes(self_.py())?,)))
    }

    /// Iterates over the values as Python objects. pandas takes what cannot be iterated as one value.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// Converts the column to a NumPy array, which is always a copy. Words are objects. Nulls are `None`,
    /// in numbers NaN, and in times, which are in UTC, NaT.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("a column is converted to NumPy by a copy"));
        }
        let nulls: usize = self.pieces.iter().map(|piece| piece.null_count()).sum();
        let (values, own) = match self.field.data_type() {
            DataType::Boolean if nulls == 0 => {
                let pieces = self.pieces.iter().map(AsArray::as_boolean);
                let bytes: Vec<u8> = pieces.flat_map(BooleanArray::values).map(u8::from).collect();
                let bytes = PyByteArray::new(py, &bytes);
                (py.import("numpy")?.call_method1("frombuffer", (bytes, "bool"))?, "bool")
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let pieces = self.pieces.iter();
                let pieces = pieces.map(|it| it.as_primitive::<TimestampMillisecondType>());
                (
                    PyList::new(py, pieces.flatten().collect::<Vec<_>>())?.into_any(),
                    "datetime64[ms]",
                )
            }
            DataType::Int32 if nulls == 0 => (self.to_pylist(py)?.into_any(), "int32"),
            DataType::Int32 | DataType::Float64 => (self.to_pylist(py)?.into_any(), "float64"),
            _ => (self.to_pylist(py)?.into_any(), "object"),
        };
        let array = py.import("numpy")?.call_method1("asarray", (values, own))?;
        dtype.map_or(Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.field).map_err(value_error)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// Exports the whole column. Several pieces are joined, which copies them.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer ignore a requested type.
        let _ = requested_schema;
        let whole = match &*self.pieces {
            [piece] => Arc::clone(piece),
            pieces => {
                let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
                py.detach(|| concat(&pieces)).map_err(value_error)?
            }
        };
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&whole.to_data()), ARRAY)?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }
}

#[pymethods]
impl PyTable {
    fn __len__(&self) -> usize {
        self.rows.__len__()
    }

    fn __repr__(&self) -> String {
        format!("<Table: {} rows of {}>", self.__len__(), self.column_names().join(", "))
    }

    /// Returns the names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Returns a column, by name or number.
    fn __getitem__(&self, column: &Bound<'_, PyAny>) -> PyResult<PyColumn> {
        let fields = self.fields();
        if let Ok(place) = column.extract::<usize>() {
            let missing = || PyIndexError::new_err(format!("no column {place}"));
            return (place < fields.len()).then(|| self.column(place)).ok_or_else(missing);
        }
        let name: &str = column.extract()?;
        let missing = || PyKeyError::new_err(name.to_owned());
        let place = fields.iter().position(|field| field.name() == name);
        place.map(|place| self.column(place)).ok_or_else(missing)
    }

    /// Returns the rows as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = (0..self.fields().len()).map(|place| self.column(place).to_pylist(py));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let rows = PyList::empty(py);
        for row in 0..self.__len__() {
            let values = PyDict::new(py);
            for (name, column) in self.column_names().into_iter().zip(&columns) {
                values.set_item(name, column.get_item(row)?)?;
            }
            rows.append(values)?;
        }
        Ok(rows)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows.__arrow_c_schema__(py)
    }

    /// Returns the table as an Arrow IPC stream.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = py.detach(|| self.to_ipc()).map_err(Error::of)?;
        Ok(PyBytes::new(py, &stream))
    }

    /// Reads the bytes of `to_bytes`.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, data: &[u8]) -> PyResult<PyTable> {
        PyTable::of_ipc(data).map_err(Error::of)
    }

    fn __reduce__<'py>(self_: &Bound<'py, PyTable>) -> PyResult<Reduced<'py>> {
        Ok((self_.get_type().getattr("from_bytes")?, (self_.get().to_bytes(self_.py())?,)))
    }

    /// Exports the rows as one array of structs. Several pieces are joined, which copies them.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        self.rows.__arrow_c_array__(py, requested_schema)
    }

    /// Exports the pieces as a stream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches().map(Ok).collect();
        export_stream(py, RecordBatchIterator::new(batches, self.schema().into()))
    }
}

/// Exports the schema of rows: a struct of the columns.
pub fn export_schema<'py>(py: Python<'py>, fields: &Fields) -> PyResult<Bound<'py, PyCapsule>> {
    let rows = Field::new_struct("", fields.clone(), false);
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(&rows).map_err(value_error)?, SCHEMA)
}

/// Exports batches of rows, which are read as far as the importer asks for them.
pub fn export_stream(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// Appends the values of an array. Only the types of result columns are supported.
fn push_values(array: &ArrayRef, list: &Bound<'_, PyList>) -> PyResult<()> {
    let py = list.py();
    for row in 0..array.len() {
        if array.is_null(row) {
            list.append(py.None())?;
            continue;
        }
        match array.data_type() {
            DataType::Boolean => list.append(array.as_boolean().value(row))?,
            DataType::Int32 => list.append(array.as_primitive::<Int32Type>().value(row))?,
            DataType::Float64 => list.append(array.as_primitive::<Float64Type>().value(row))?,
            DataType::Utf8 => list.append(array.as_string::<i32>().value(row))?,
            DataType::Binary => {
                list.append(PyBytes::new(py, array.as_binary::<i32>().value(row)))?;
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let time = array.as_primitive::<TimestampMillisecondType>().value(row);
                let text = UnixSeconds(time as u64 / 1_000).to_rfc3339();
                let datetime = py.import("datetime")?.getattr("datetime")?;
                list.append(datetime.call_method1("fromisoformat", (text,))?)?;
            }
            DataType::Dictionary(..) => {
                let words = array.as_dictionary::<Int8Type>();
                let word = words.key(row).expect("a value that is not null has a key");
                list.append(words.values().as_string::<i32>().value(word))?;
            }
            other => {
                let text = format!("no column of a result is {other}; read it with pyarrow");
                return Err(PyTypeError::new_err(text));
            }
        }
    }
    Ok(())
}
