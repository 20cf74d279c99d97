//! The columns of a Parquet file: which one holds what, and their values.
//!
//! Cost: the numbers and times of a batch are converted at once; texts are borrowed. A column that is
//! missing or has the wrong type is an error that lists the columns there are.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, BinaryArray, StringArray};
use arrow_schema::{DataType, Schema, TimeUnit};

use crate::access::UnixSeconds;

use super::ParquetColumns;
use super::body::time_of;

/// The positions of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub subject: usize,
    /// Whether the subject is a host, not a URL.
    pub of_hosts: bool,
    pub status: usize,
    pub body: usize,
    pub fetched_at: Option<usize>,
    /// Units of a time in a second, for a column of numbers.
    pub times_per_second: i64,
}

impl Places {
    /// Finds the columns of a file with this schema. The error says what is wrong.
    pub fn find(schema: &Schema, columns: &ParquetColumns) -> Result<Places, String> {
        let ParquetColumns { url, host, status, body, fetched_at } = columns;
        let texts = |what, given, usual| Wanted {
            what,
            given,
            usual,
            fits: holds_bytes,
            types: "texts or bytes",
            flag: "",
        };
        let url = texts("url", url, &["url", "robots_url", "uri"]);
        let host = texts("host", host, &["host", "domain", "hostname"]);
        let body = texts("body", body, &["body", "content", "robots_txt", "text"]);
        let status = Wanted {
            what: "status",
            given: status,
            usual: &["status", "fetch_status", "http_status"],
            fits: holds_numbers,
            types: "numbers",
            flag: "",
        };
        let fetched_at = Wanted {
            what: "time of the fetch",
            given: fetched_at,
            usual: &["fetched_at", "fetch_time", "warc_date", "timestamp"],
            fits: holds_times,
            types: "timestamps or texts",
            flag: "",
        };
        let by_url = url.given.is_some() || host.given.is_none();
        let by_url = if by_url { url.find(schema)? } else { None };
        let subject = match by_url {
            Some(place) => Some(place),
            None => host.find(schema)?,
        };
        let needed = |wanted: &Wanted<'_>| {
            wanted.find(schema)?.ok_or_else(|| missing(wanted.what, wanted.usual, "", schema))
        };
        let usual_subjects = [url.usual, host.usual].concat();
        let fetched_at = fetched_at.find(schema)?;
        Ok(Places {
            subject: subject.ok_or_else(|| missing("url or host", &usual_subjects, "", schema))?,
            of_hosts: by_url.is_none(),
            status: needed(&status)?,
            body: needed(&body)?,
            fetched_at,
            times_per_second: match fetched_at.map(|place| schema.field(place).data_type()) {
                Some(DataType::Timestamp(TimeUnit::Millisecond, _)) => 1_000,
                Some(DataType::Timestamp(TimeUnit::Microsecond, _)) => 1_000_000,
                Some(DataType::Timestamp(TimeUnit::Nanosecond, _)) => 1_000_000_000,
                _ => 1,
            },
        })
    }

    /// Whether the columns can be read as the types that this schema gives them: those of Parquet
    /// itself, to which the types of the writer may not fit in a damaged file.
    pub fn are_readable(&self, schema: &Schema) -> bool {
        let is_text = |it: &DataType| matches!(it, DataType::Binary | DataType::Utf8);
        let is_time = |it: &DataType| match it {
            DataType::Timestamp(unit, _) => *unit != TimeUnit::Second,
            DataType::Int64 => self.times_per_second == 1,
            other => is_text(other),
        };
        let type_of = |place: usize| schema.field(place).data_type();
        is_text(type_of(self.subject))
            && is_text(type_of(self.body))
            && holds_numbers(type_of(self.status))
            && self.fetched_at.is_none_or(|place| is_time(type_of(place)))
    }

    /// The columns to read, in the order of the file.
    pub fn of_file(&self) -> Vec<usize> {
        let mut columns = vec![self.subject, self.status, self.body];
        columns.extend(self.fetched_at);
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The same places among only those columns.
    pub fn within_projection(&self) -> Places {
        let columns = self.of_file();
        let place = |column| columns.partition_point(|&other| other < column);
        Places {
            subject: place(self.subject),
            status: place(self.status),
            body: place(self.body),
            fetched_at: self.fetched_at.map(place),
            ..*self
        }
    }
}

/// Finds the column with the URLs of a list: the one with this name, or with this number counted from
/// 1, or else the first with a usual name, in any case. The error says what is wrong.
pub(super) fn url_column(schema: &Schema, given: Option<&str>) -> Result<usize, String> {
    let name_of = |number: usize| schema.fields().get(number.checked_sub(1)?).map(|it| it.name());
    let is_name = |given: &str| schema.fields().iter().any(|field| field.name() == given);
    let numbered =
        given.filter(|given| !is_name(given)).and_then(|given| name_of(given.parse().ok()?));
    let given = numbered.cloned().or(given.map(str::to_owned));
    let url = Wanted {
        what: "URL",
        given: &given,
        usual: URL_COLUMNS,
        fits: holds_bytes,
        types: "texts or bytes",
        flag: " with --column",
    };
    url.find(schema)?.ok_or_else(|| missing(url.what, url.usual, url.flag, schema))
}

/// The usual names of a column with URLs.
const URL_COLUMNS: &[&str] = &["url", "address", "loc", "uri"];

/// A thing that a column can hold.
struct Wanted<'w> {
    /// What it is.
    what: &'static str,
    /// The column's name, if the caller gives it.
    given: &'w Option<String>,
    /// The names that it usually has.
    usual: &'static [&'static str],
    /// Whether a column of this type can hold it, and what such types are called.
    fits: fn(&DataType) -> bool,
    types: &'static str,
    /// The flag that names the column, with a space before it, if there is only one.
    flag: &'static str,
}

impl Wanted<'_> {
    /// The place of the column, if there is one. The error says what is wrong.
    fn find(&self, schema: &Schema) -> Result<Option<usize>, String> {
        let what = self.what;
        let find =
            |is: &dyn Fn(&str) -> bool| schema.fields().iter().position(|field| is(field.name()));
        let place = match self.given {
            Some(name) => Some(find(&|other| other == name).ok_or_else(|| {
                format!("there is no column {name} for the {what}; {}", there_are(schema))
            })?),
            None => {
                self.usual.iter().find_map(|name| find(&|other| other.eq_ignore_ascii_case(name)))
            }
        };
        let Some(place) = place else { return Ok(None) };
        let field = schema.field(place);
        // A column that is a dictionary is read as its entries.
        let data_type = match field.data_type() {
            DataType::Dictionary(_, entry) => entry,
            data_type => data_type,
        };
        if !(self.fits)(data_type) {
            let (name, types, flag) = (field.name(), self.types, self.flag);
            return Err(format!(
                "the column {name} holds {data_type}; for the {what} it has to hold {types}; \
                 name another{flag}"
            ));
        }
        Ok(Some(place))
    }
}

fn missing(what: &str, usual: &[&str], flag: &str, schema: &Schema) -> String {
    let (usual, there_are) = (usual.join(", "), there_are(schema));
    format!("no column for the {what} ({usual}); name the one that it is{flag}; {there_are}")
}

fn there_are(schema: &Schema) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    format!("there are {}", names.join(", "))
}

fn holds_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Binary | BinaryView | LargeBinary | LargeUtf8 | Utf8 | Utf8View)
}

fn holds_numbers(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

fn holds_times(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _)) || holds_bytes(data_type)
}

/// A column of texts or bytes.
pub(super) enum Bytes<'a> {
    Binary(&'a BinaryArray),
    Utf8(&'a StringArray),
}

impl<'a> Bytes<'a> {
    /// The values of a column, `None` if it holds no bytes.
    pub fn of(column: &'a dyn Array) -> Option<Bytes<'a>> {
        let binary = column.as_binary_opt().map(Bytes::Binary);
        binary.or_else(|| column.as_string_opt().map(Bytes::Utf8))
    }

    /// The bytes in this row, unless they are null.
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        match *self {
            Bytes::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Bytes::Utf8(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
        }
    }
}

/// The numbers in a column, 0 for null; `None` if it holds no numbers.
pub(super) fn numbers(column: &dyn Array) -> Option<Vec<f64>> {
    fn converted<T: ArrowPrimitiveType>(
        column: &dyn Array,
        to: impl Fn(T::Native) -> f64,
    ) -> Vec<f64> {
        column.as_primitive::<T>().iter().map(|value| value.map_or(0.0, &to)).collect()
    }
    Some(match column.data_type() {
        DataType::Int8 => converted::<Int8Type>(column, f64::from),
        DataType::Int16 => converted::<Int16Type>(column, f64::from),
        DataType::Int32 => converted::<Int32Type>(column, f64::from),
        DataType::Int64 => converted::<Int64Type>(column, |number| number as f64),
        DataType::UInt8 => converted::<UInt8Type>(column, f64::from),
        DataType::UInt16 => converted::<UInt16Type>(column, f64::from),
        DataType::UInt32 => converted::<UInt32Type>(column, f64::from),
        DataType::UInt64 => converted::<UInt64Type>(column, |number| number as f64),
        DataType::Float32 => converted::<Float32Type>(column, f64::from),
        DataType::Float64 => converted::<Float64Type>(column, f64::from),
        _ => return None,
    })
}

/// A column of times, or none at all.
pub(super) enum Times<'a> {
    Numbers { numbers: Vec<Option<i64>>, per_second: i64 },
    Texts(Bytes<'a>),
    Missing,
}

impl<'a> Times<'a> {
    /// The values of a column, `None` if it holds no times.
    pub fn of(column: &'a dyn Array, per_second: i64) -> Option<Times<'a>> {
        fn numbers<T: ArrowPrimitiveType<Native = i64>>(column: &dyn Array) -> Vec<Option<i64>> {
            column.as_primitive::<T>().iter().collect()
        }
        let numbers = match column.data_type() {
            // Parquet has no type for times in seconds.
            DataType::Int64 => numbers::<Int64Type>(column),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                numbers::<TimestampMillisecondType>(column)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                numbers::<TimestampMicrosecondType>(column)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                numbers::<TimestampNanosecondType>(column)
            }
            _ => return Bytes::of(column).map(Times::Texts),
        };
        Some(Times::Numbers { numbers, per_second })
    }

    /// The time in this row, unless it is null. The error says what is wrong.
    pub fn get(&self, row: usize) -> Result<Option<UnixSeconds>, String> {
        match self {
            Times::Missing => Ok(None),
            Times::Texts(texts) => texts.get(row).map(time_of).transpose(),
            Times::Numbers { numbers, per_second } => {
                let Some(number) = numbers[row] else { return Ok(None) };
                let seconds = number.div_euclid(*per_second);
                let time = u64::try_from(seconds).map(|seconds| Some(UnixSeconds(seconds)));
                time.map_err(|_| format!("its time is {} s before 1970", seconds.unsigned_abs()))
            }
        }
    }
}
