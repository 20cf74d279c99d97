//! Finds the column of each field in a Parquet file, and reads the values.
//!
//! A name with dots is a path into columns of structures. Cost: only the columns that are used are
//! read. The numbers and times of a batch are converted at once; text is borrowed. A column that is
//! missing or has the wrong type is an error that lists the existing columns.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrowPrimitiveType, BinaryViewArray, BooleanArray, RecordBatch, StructArray,
};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::schema::types::SchemaDescriptor;

use crate::json_path::FieldValue;
use crate::record::Record;
use crate::schema::{Candidate, CaptureField, FieldMap};
use portcullis_robots::access::{UnixSeconds, in_range};

/// The fields that are not read from Parquet files, because they have no usual layout there.
const JSON_LINES_ONLY: [CaptureField; 2] = [CaptureField::Headers, CaptureField::Redirects];

/// The place of a column that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    field: CaptureField,
    rank: usize,
    /// The names of the enclosing structures, then the name of the column.
    path: Vec<String>,
    /// Whether the values are times in seconds, of which Parquet knows numbers only.
    is_in_seconds: bool,
}

/// The places of the columns that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places(Vec<Place>);

impl Places {
    /// Finds the columns in a file with this schema. The error says what is wrong.
    pub fn find(schema: &Schema, fields: &FieldMap) -> Result<Places, String> {
        for field in JSON_LINES_ONLY {
            if fields.named(field).is_some() {
                let field = field.as_str();
                return Err(format!("{field} are read from JSON Lines only; omit --field {field}"));
            }
        }
        let mut places = Vec::new();
        let is_column = |field: &CaptureField| !JSON_LINES_ONLY.contains(field);
        for field in CaptureField::ALL.into_iter().filter(is_column) {
            // The first usual name that the file has counts.
            let candidates = fields.candidates(field);
            let found = candidates.iter().find_map(|candidate| locate(schema, candidate));
            match found {
                Some(found) => places.push(found?),
                None => {
                    if let Some(name) = fields.named(field) {
                        let field = field.as_str();
                        let names = names(schema);
                        return Err(format!("no column {name} (--field {field}={name}); {names}"));
                    }
                }
            }
        }
        let has = |field: CaptureField| places.iter().any(|place| place.field == field);
        for [one, other] in [
            [CaptureField::Url, CaptureField::Host],
            [CaptureField::Body, CaptureField::BodyBase64],
        ] {
            if !has(one) && !has(other) {
                let what = if one == CaptureField::Url { "URL or host" } else { "body" };
                let usual = fields.names(&[one, other]);
                let (one, names) = (one.as_str(), names(schema));
                return Err(format!(
                    "no column for the {what} ({usual}); name it with --field {one}=COLUMN; {names}"
                ));
            }
        }
        Ok(Places(places))
    }

    /// Whether the columns can be read with the types in `schema`. These are Parquet's own types,
    /// which may contradict the writer's types in a damaged file.
    pub fn are_readable(&self, schema: &Schema) -> bool {
        let is_readable = |place: &Place| {
            type_at(schema.fields(), &place.path).is_some_and(|data_type| match data_type {
                DataType::Timestamp(unit, _) => *unit != TimeUnit::Second,
                DataType::Int64 if place.field == CaptureField::FetchedAt => place.is_in_seconds,
                DataType::Date32 | DataType::BinaryView => true,
                data_type => holds_numbers(data_type) || *data_type == DataType::Boolean,
            })
        };
        self.0.iter().all(is_readable)
    }

    /// Returns the positions of the columns among the leaves of the schema, in the order of the
    /// file.
    pub fn of_file(&self, schema: &SchemaDescriptor) -> Vec<usize> {
        let column = |place: &Place| {
            schema.columns().iter().position(|column| column.path().parts() == place.path)
        };
        self.0.iter().filter_map(column).collect()
    }

    /// Returns the columns of `batch`, or `None` if one is missing or not readable.
    pub fn columns<'a>(&'a self, batch: &'a RecordBatch) -> Option<Columns<'a>> {
        self.0.iter().map(|place| Column::of(place, batch)).collect::<Option<_>>().map(Columns)
    }
}

/// Finds the column of a candidate, or `None` if there is none. The error says what is wrong with
/// the column.
fn locate(schema: &Schema, candidate: &Candidate) -> Option<Result<Place, String>> {
    let &Candidate { field, rank, .. } = candidate;
    let (path, column) = match at(schema.fields(), candidate, 0)? {
        Ok(found) => found,
        Err(problem) => return Some(Err(problem)),
    };
    let data_type = entries(column.data_type());
    let (fits, types): (fn(&DataType) -> bool, _) = match field {
        CaptureField::Status => (holds_numbers, "numbers"),
        CaptureField::FetchedAt => (holds_times, "timestamps, dates or text"),
        CaptureField::Error | CaptureField::Truncated => (is_flag, "booleans, numbers or text"),
        _ => (holds_bytes, "text or bytes"),
    };
    if !fits(data_type) {
        let field = field.as_str();
        return Some(Err(format!(
            "the column {} holds {data_type}; {field} needs {types}; name another with --field \
             {field}=COLUMN, or none with --field {field}=",
            path.join(".")
        )));
    }
    use DataType::Timestamp;
    let is_in_seconds = !matches!(data_type, Timestamp(unit, _) if *unit != TimeUnit::Second);
    Some(Ok(Place { field, rank, path, is_in_seconds }))
}

/// Returns the column of a candidate and its path as the file spells it. The candidate's path is
/// followed through `fields` from `depth` on. The error says that two columns have the name.
fn at<'s>(
    fields: &'s Fields,
    candidate: &Candidate,
    depth: usize,
) -> Option<Result<(Vec<String>, &'s Field), String>> {
    let mut found = fields.iter().filter(|field| candidate.path.has(depth, field.name()));
    let field = found.next()?;
    let name = field.name().clone();
    if let Some(other) = found.next() {
        let field = candidate.field.as_str();
        return Some(Err(format!(
            "two columns are called {name} and {}; name one with --field {field}=COLUMN, or rename one",
            other.name()
        )));
    }
    if depth + 1 == candidate.path.names().len() {
        return Some(Ok((vec![name], field)));
    }
    let DataType::Struct(inner) = field.data_type() else { return None };
    let found = at(inner, candidate, depth + 1)?;
    Some(found.map(|(mut path, found)| {
        path.insert(0, name);
        (path, found)
    }))
}

/// Returns the type of the column at `path`.
fn type_at<'s>(fields: &'s Fields, path: &[String]) -> Option<&'s DataType> {
    let (first, rest) = path.split_first()?;
    let field = fields.iter().find(|field| field.name() == first)?;
    match (field.data_type(), rest) {
        (data_type, []) => Some(data_type),
        (DataType::Struct(inner), rest) => type_at(inner, rest),
        _ => None,
    }
}

/// Returns the type of a column's values. A dictionary is read as its entries.
pub fn entries(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, entry) => entry,
        data_type => data_type,
    }
}

fn names(schema: &Schema) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    format!("the columns are {}", names.join(", "))
}

pub fn holds_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Binary | BinaryView | LargeBinary | LargeUtf8 | Utf8 | Utf8View)
}

pub fn holds_numbers(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

pub fn holds_times(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _) | DataType::Date32) || holds_bytes(data_type)
}

fn is_flag(data_type: &DataType) -> bool {
    *data_type == DataType::Boolean || holds_numbers(data_type) || holds_bytes(data_type)
}

/// The columns of a batch of rows.
pub(super) struct Columns<'a>(Vec<Column<'a>>);

impl<'a> Columns<'a> {
    /// Returns the fields of a row.
    pub fn record(&self, row: usize) -> Record<'a> {
        let mut record = Record::default();
        for column in &self.0 {
            let added = record.add(column.place.field, column.place.rank, column.value(row));
            added.expect("each field has one column");
        }
        record
    }
}

/// A column and its enclosing structures. A row of the column is null if a structure is null there.
struct Column<'a> {
    place: &'a Place,
    outer: Vec<&'a StructArray>,
    values: Values<'a>,
}

/// The values of a column.
pub enum Values<'a> {
    Bytes(&'a BinaryViewArray),
    Booleans(&'a BooleanArray),
    Numbers(Vec<Option<f64>>),
    /// Seconds.
    Times(Vec<Option<i64>>),
}

impl<'a> Column<'a> {
    fn of(place: &'a Place, batch: &'a RecordBatch) -> Option<Column<'a>> {
        let (first, rest) = place.path.split_first()?;
        let mut array = batch.column_by_name(first)?;
        let mut outer = Vec::new();
        for step in rest {
            let structure = array.as_struct_opt()?;
            outer.push(structure);
            array = structure.column_by_name(step)?;
        }
        let is_time = place.field == CaptureField::FetchedAt;
        Some(Column { place, outer, values: Values::of(array.as_ref(), is_time)? })
    }

    fn value(&self, row: usize) -> FieldValue<'a> {
        if self.outer.iter().any(|structure| structure.is_null(row)) {
            return FieldValue::Null;
        }
        self.values.at(row)
    }
}

fn text(bytes: &[u8]) -> FieldValue<'_> {
    FieldValue::Text(Cow::Borrowed(bytes))
}

impl<'a> Values<'a> {
    /// Returns the value in a row.
    pub fn at(&self, row: usize) -> FieldValue<'a> {
        let value = match self {
            Values::Bytes(array) => array.is_valid(row).then(|| text(array.value(row))),
            Values::Booleans(array) => {
                array.is_valid(row).then(|| FieldValue::Boolean(array.value(row)))
            }
            Values::Numbers(numbers) => numbers[row].map(FieldValue::Number),
            Values::Times(times) => times[row].map(FieldValue::Time),
        };
        value.unwrap_or(FieldValue::Null)
    }

    /// Returns the values of a column, or `None` if it has another type.
    pub fn of(column: &'a dyn Array, is_in_seconds: bool) -> Option<Values<'a>> {
        fn numbers<T: ArrowPrimitiveType>(
            column: &dyn Array,
            to: impl Fn(T::Native) -> f64,
        ) -> Values<'static> {
            let values = column.as_primitive::<T>().iter();
            Values::Numbers(values.map(|value| value.map(&to)).collect())
        }
        if let Some(seconds) = seconds(column) {
            return Some(Values::Times(seconds));
        }
        Some(match column.data_type() {
            DataType::BinaryView => Values::Bytes(column.as_binary_view()),
            DataType::Boolean => Values::Booleans(column.as_boolean()),
            // Parquet has no type for times in seconds.
            DataType::Int64 if is_in_seconds => {
                Values::Times(column.as_primitive::<Int64Type>().iter().collect())
            }
            DataType::Int8 => numbers::<Int8Type>(column, f64::from),
            DataType::Int16 => numbers::<Int16Type>(column, f64::from),
            DataType::Int32 => numbers::<Int32Type>(column, f64::from),
            DataType::Int64 => numbers::<Int64Type>(column, |number| number as f64),
            DataType::UInt8 => numbers::<UInt8Type>(column, f64::from),
            DataType::UInt16 => numbers::<UInt16Type>(column, f64::from),
            DataType::UInt32 => numbers::<UInt32Type>(column, f64::from),
            DataType::UInt64 => numbers::<UInt64Type>(column, |number| number as f64),
            DataType::Float32 => numbers::<Float32Type>(column, f64::from),
            DataType::Float64 => numbers::<Float64Type>(column, f64::from),
            _ => return None,
        })
    }
}

/// Returns the times in a column of timestamps or days, or `None` if it has another type. A fraction
/// of a second is dropped, a day is its midnight, and a timestamp without a zone is in UTC.
///
/// ```
/// use arrow_array::TimestampMillisecondArray;
/// use portcullis_captures::parquet::columns::times;
/// use portcullis_robots::access::UnixSeconds;
///
/// let column = TimestampMillisecondArray::from(vec![Some(784_111_777_999), None, Some(-1)]);
/// let expected = [Some(UnixSeconds(784_111_777)), None, Some(UnixSeconds(0))];
/// assert_eq!(times(&column), Some(expected.to_vec()));
/// ```
pub fn times(column: &dyn Array) -> Option<Vec<Option<UnixSeconds>>> {
    Some(seconds(column)?.into_iter().map(|seconds| in_range(seconds?)).collect())
}

/// Returns the seconds since 1970 in a column of timestamps or days.
fn seconds(column: &dyn Array) -> Option<Vec<Option<i64>>> {
    const DAY: i64 = 24 * 60 * 60;
    fn values<T: ArrowPrimitiveType>(
        column: &dyn Array,
        to: impl Fn(i64) -> i64,
    ) -> Vec<Option<i64>>
    where
        T::Native: Into<i64>,
    {
        column.as_primitive::<T>().iter().map(|value| Some(to(value?.into()))).collect()
    }
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let per = |units: i64| move |time: i64| time.div_euclid(units);
    Some(match column.data_type() {
        DataType::Timestamp(Second, _) => values::<TimestampSecondType>(column, per(1)),
        DataType::Timestamp(Millisecond, _) => {
            values::<TimestampMillisecondType>(column, per(1_000))
        }
        DataType::Timestamp(Microsecond, _) => {
            values::<TimestampMicrosecondType>(column, per(1_000_000))
        }
        DataType::Timestamp(Nanosecond, _) => {
            values::<TimestampNanosecondType>(column, per(1_000_000_000))
        }
        DataType::Date32 => values::<Date32Type>(column, |day| day * DAY),
        DataType::Date64 => values::<Date64Type>(column, per(1_000)),
        _ => return None,
    })
}
