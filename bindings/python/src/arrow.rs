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
use std::iter;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{Float64Type, Int8Type, Int32Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray, StructArray, make_array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Fields, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;
use portcullis_robots::access::UnixSeconds;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict, PyIterator, PyList, PyType};
use twox_hash::XxHash3_64;

use crate::{Error, ensure};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The arrays that a Python object exports: one, or a stream of several.
pub type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

/// Imports the Arrow data that `object` exports. `None` if it does not export Arrow.
///
/// # Errors
///
/// If the export fails, or arrow-rs does not support its type.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Arrays>> {
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
        ensure!(!array.is_released(), "the Arrow array was already consumed");
        // SAFETY: the exporter follows the C data interface.
        let data = unsafe { from_ffi(array, schema) }.map_err(value_error)?;
        return Ok(Some(Box::new(iter::once(Ok(make_array(data))))));
    }
    let Some(export) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        return Ok(None);
    };
    let capsule = export.call0()?;
    let stream = pointer::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
    // SAFETY: as above.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    Ok(Some(Box::new(ArrayStreamReader::try_new(stream).map_err(value_error)?)))
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

/// Converts an error of arrow-rs to a `ValueError`.
pub fn value_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A table of columns.
#[pyclass(frozen, name = "Table", module = "portcullis_robots")]
pub struct PyTable {
    pub schema: SchemaRef,
    /// The rows, in at least one piece.
    pub batches: Vec<RecordBatch>,
}

/// One column of values.
#[pyclass(frozen, name = "Column", module = "portcullis_robots")]
pub struct PyColumn(
    /// The table of this column alone.
    pub PyTable,
);

/// The pickled form of a result: a function, and its argument.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

impl PyTable {
    /// Returns the table as an Arrow IPC stream, which ends before its checksum.
    fn to_ipc(&self) -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &self.schema)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
        let mut stream = writer.into_inner()?;
        stream.extend(XxHash3_64::oneshot(&stream).to_le_bytes());
        Ok(stream)
    }

    /// Reads what [`PyTable::to_ipc`] returns. The checksum comes first: of damaged streams the reader
    /// takes some for others, and panics at some.
    fn from_ipc(bytes: &[u8]) -> Result<PyTable, ArrowError> {
        let stream = bytes
            .split_last_chunk()
            .filter(|(stream, sum)| XxHash3_64::oneshot(stream).to_le_bytes() == **sum)
            .map(|(stream, _)| stream)
            .ok_or_else(|| ArrowError::IpcError("cut or damaged bytes".to_owned()))?;
        let reader = StreamReader::try_new(stream, None)?;
        Ok(PyTable { schema: reader.schema(), batches: reader.collect::<Result<_, _>>()? })
    }

    /// Returns all rows in one piece. Several are joined, which copies them.
    fn whole(&self, py: Python<'_>) -> PyResult<RecordBatch> {
        match &*self.batches {
            [batch] => Ok(batch.clone()),
            batches => py.detach(|| concat_batches(&self.schema, batches)).map_err(value_error),
        }
    }

    fn column(&self, place: usize) -> PyResult<PyColumn> {
        let schema = self.schema.project(&[place]).map_err(value_error)?;
        let batches = self.batches.iter().map(|batch| batch.project(&[place]));
        let batches = batches.collect::<Result<_, _>>().map_err(value_error)?;
        Ok(PyColumn(PyTable { schema: schema.into(), batches }))
    }
}

impl PyColumn {
    fn field(&self) -> &Field {
        self.0.schema.field(0)
    }

    fn pieces(&self) -> impl Iterator<Item = &ArrayRef> {
        self.0.batches.iter().map(|batch| batch.column(0))
    }
}

#[pymethods]
impl PyColumn {
    fn __len__(&self) -> usize {
        self.0.__len__()
    }

    fn __repr__(&self) -> String {
        format!("<Column {}: {} rows>", self.field().name(), self.__len__())
    }

    /// Returns the values as Python objects.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for piece in self.pieces() {
            list.call_method1("extend", (values(py, piece)?,))?;
        }
        Ok(list)
    }

    /// Returns the column as an Arrow IPC stream and a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    /// Reads the bytes of `to_bytes`.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, data: &[u8]) -> PyResult<PyColumn> {
        let table = PyTable::from_ipc(data).map_err(Error::of)?;
        let columns = table.schema.fields().len();
        ensure!(columns == 1, "{columns} columns; use Table.from_bytes");
        Ok(PyColumn(table))
    }

    fn __reduce__<'py>(self_: &Bound<'py, PyColumn>) -> PyResult<Reduced<'py>> {
        Ok((self_.get_type().getattr("from_bytes")?, (self_.get().to_bytes(self_.py())?,)))
    }

    /// Iterates over the values as Python objects. pandas takes what cannot be iterated as one value.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// Converts the column to a NumPy array, which is always a copy. Strings become objects. Nulls
    /// are `None`, in numbers NaN, and in times, which are in UTC, NaT.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ensure!(copy != Some(false), "a column is converted to NumPy by a copy");
        let numpy = py.import("numpy")?;
        let values = || self.to_pylist(py).map(Bound::into_any);
        let has_nulls = self.pieces().any(|piece| piece.null_count() > 0);
        let (values, own) = match self.field().data_type() {
            DataType::Boolean if !has_nulls => {
                let pieces = self.pieces().map(AsArray::as_boolean);
                let bytes: Vec<u8> = pieces.flat_map(BooleanArray::values).map(u8::from).collect();
                let bytes = PyByteArray::new(py, &bytes);
                (numpy.call_method1("frombuffer", (bytes, "bool"))?, "bool")
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let pieces = self.pieces().map(|it| it.as_primitive::<TimestampMillisecondType>());
                let times: Vec<Option<i64>> = pieces.flatten().collect();
                (PyList::new(py, times)?.into_any(), "datetime64[ms]")
            }
            DataType::Int32 if !has_nulls => (values()?, "int32"),
            DataType::Int32 | DataType::Float64 => (values()?, "float64"),
            _ => (values()?, "object"),
        };
        let array = numpy.call_method1("asarray", (values, own))?;
        dtype.map_or(Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, self.field())
    }

    /// Exports the whole column. Several pieces are joined, which copies them.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        export_array(py, self.field(), self.0.whole(py)?.column(0))
    }
}

#[pymethods]
impl PyTable {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<Table: {} rows of {}>", self.__len__(), self.column_names().join(", "))
    }

    /// Returns the names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        names(self.schema.fields())
    }

    /// Returns a column, by name or number.
    fn __getitem__(&self, column: &Bound<'_, PyAny>) -> PyResult<PyColumn> {
        if let Ok(place) = column.extract::<usize>() {
            let missing = || PyIndexError::new_err(format!("no column {place}"));
            return self.column(place).map_err(|_| missing());
        }
        let name: &str = column.extract()?;
        let missing = |_| PyKeyError::new_err(name.to_owned());
        self.column(self.schema.index_of(name).map_err(missing)?)
    }

    /// Returns the rows as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = 0..self.schema.fields().len();
        let columns = columns.map(|place| self.column(place)?.to_pylist(py));
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
        export_schema(py, &rows_field(self.schema.fields()))
    }

    /// Returns the table as an Arrow IPC stream and a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = py.detach(|| self.to_ipc()).map_err(Error::of)?;
        Ok(PyBytes::new(py, &stream))
    }

    /// Reads the bytes of `to_bytes`.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, data: &[u8]) -> PyResult<PyTable> {
        PyTable::from_ipc(data).map_err(Error::of)
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
        let _ = requested_schema;
        export_array(py, &rows_field(self.schema.fields()), &StructArray::from(self.whole(py)?))
    }

    /// Exports the pieces as a stream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        export_stream(py, RecordBatchIterator::new(batches, Arc::clone(&self.schema)))
    }
}

/// Returns the names of columns.
pub fn names(fields: &Fields) -> Vec<&str> {
    fields.iter().map(|field| field.name().as_str()).collect()
}

/// Returns the field of rows: a struct of the columns.
pub fn rows_field(fields: &Fields) -> Field {
    Field::new_struct("", fields.clone(), false)
}

/// Exports a field.
pub fn export_schema<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(field).map_err(value_error)?, SCHEMA)
}

/// Exports one array.
fn export_array<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array.to_data()), ARRAY)?;
    Ok((export_schema(py, field)?, array))
}

/// Exports batches of rows, which are read as far as the importer asks for them.
pub fn export_stream(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// Returns the values of an array. Only the types of result columns are supported.
fn values<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match array.data_type() {
        DataType::Boolean => PyList::new(py, array.as_boolean()),
        DataType::Int32 => PyList::new(py, array.as_primitive::<Int32Type>()),
        DataType::Float64 => PyList::new(py, array.as_primitive::<Float64Type>()),
        DataType::Utf8 => PyList::new(py, array.as_string::<i32>()),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let from_text = py.import("datetime")?.getattr("datetime")?.getattr("fromisoformat")?;
            let time =
                |time: i64| from_text.call1((UnixSeconds(time as u64 / 1_000).to_rfc3339(),));
            let times = array.as_primitive::<TimestampMillisecondType>().iter();
            PyList::new(py, times.map(|it| it.map(time).transpose()).collect::<PyResult<Vec<_>>>()?)
        }
        DataType::Dictionary(..) => {
            let words = array.as_dictionary::<Int8Type>();
            let texts = words.downcast_dict::<StringArray>();
            PyList::new(py, texts.expect("words are texts"))
        }
        other => {
            let text = format!("no column of a result is {other}; read it with pyarrow");
            Err(PyTypeError::new_err(text))
        }
    }
}
