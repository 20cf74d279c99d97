//! The values of a column, whichever of Arrow's types it has.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrowPrimitiveType, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};

use portcullis_robots::access::UnixSeconds;

/// Whether [`Bytes`] can read a column of this type.
pub(super) fn holds_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Binary | BinaryView | LargeBinary | LargeUtf8 | Utf8 | Utf8View)
}

/// Whether [`statuses`] can read a column of this type.
pub(super) fn holds_numbers(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Whether [`Times`] can read a column of this type.
pub(super) fn holds_times(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _)) || holds_bytes(data_type)
}

/// A column of texts or bytes.
pub(super) enum Bytes<'a> {
    Binary(&'a BinaryArray),
    BinaryView(&'a BinaryViewArray),
    LargeBinary(&'a LargeBinaryArray),
    Utf8(&'a StringArray),
    Utf8View(&'a StringViewArray),
    LargeUtf8(&'a LargeStringArray),
}

impl<'a> Bytes<'a> {
    /// The values of a column that [`holds_bytes`].
    pub fn of(column: &'a dyn Array) -> Bytes<'a> {
        match column.data_type() {
            DataType::Binary => Bytes::Binary(column.as_binary()),
            DataType::BinaryView => Bytes::BinaryView(column.as_binary_view()),
            DataType::LargeBinary => Bytes::LargeBinary(column.as_binary()),
            DataType::Utf8 => Bytes::Utf8(column.as_string()),
            DataType::Utf8View => Bytes::Utf8View(column.as_string_view()),
            DataType::LargeUtf8 => Bytes::LargeUtf8(column.as_string()),
            other => panic!("a column of {other} was let through as one of bytes"),
        }
    }

    /// The bytes in this row, unless they are null.
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        match *self {
            Bytes::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Bytes::BinaryView(array) => array.is_valid(row).then(|| array.value(row)),
            Bytes::LargeBinary(array) => array.is_valid(row).then(|| array.value(row)),
            Bytes::Utf8(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Bytes::Utf8View(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Bytes::LargeUtf8(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
        }
    }
}

/// The statuses in a column that [`holds_numbers`], 0 for null; the error is the text of a number
/// that is none.
pub(super) fn statuses(column: &dyn Array) -> Vec<Result<u16, String>> {
    match column.data_type() {
        DataType::Int8 => whole::<Int8Type>(column),
        DataType::Int16 => whole::<Int16Type>(column),
        DataType::Int32 => whole::<Int32Type>(column),
        DataType::Int64 => whole::<Int64Type>(column),
        DataType::UInt8 => whole::<UInt8Type>(column),
        DataType::UInt16 => whole::<UInt16Type>(column),
        DataType::UInt32 => whole::<UInt32Type>(column),
        DataType::UInt64 => whole::<UInt64Type>(column),
        DataType::Float32 => floating::<Float32Type>(column),
        DataType::Float64 => floating::<Float64Type>(column),
        other => panic!("a column of {other} was let through as one of numbers"),
    }
}

/// The most that three digits can say (RFC 9110, section 15).
const STATUS_MAX: u16 = 999;

fn whole<T>(column: &dyn Array) -> Vec<Result<u16, String>>
where
    T: ArrowPrimitiveType<Native: TryInto<u16> + ToString>,
{
    let status = |value: Option<T::Native>| match value {
        None => Ok(0),
        Some(number) => match number.try_into() {
            Ok(status @ 0..=STATUS_MAX) => Ok(status),
            _ => Err(number.to_string()),
        },
    };
    column.as_primitive::<T>().iter().map(status).collect()
}

/// Programs that keep a column of numbers with gaps have made them floating, and the gaps NaN.
fn floating<T>(column: &dyn Array) -> Vec<Result<u16, String>>
where
    T: ArrowPrimitiveType<Native: Into<f64>>,
{
    let status = |value: Option<T::Native>| match value.map(Into::into) {
        None => Ok(0),
        Some(number) if number.is_nan() => Ok(0),
        Some(number) => {
            let status = number as u16;
            let is_status = f64::from(status) == number && status <= STATUS_MAX;
            if is_status { Ok(status) } else { Err(number.to_string()) }
        }
    };
    column.as_primitive::<T>().iter().map(status).collect()
}

/// A column of times, or none at all.
pub(super) enum Times<'a> {
    Seconds(Vec<Option<i64>>),
    Text(Bytes<'a>),
    Missing,
}

impl<'a> Times<'a> {
    /// The values of a column that [`holds_times`].
    pub fn of(column: &'a dyn Array) -> Times<'a> {
        Times::Seconds(match column.data_type() {
            DataType::Timestamp(TimeUnit::Second, _) => seconds::<TimestampSecondType>(column, 1),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                seconds::<TimestampMillisecondType>(column, 1_000)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                seconds::<TimestampMicrosecondType>(column, 1_000_000)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                seconds::<TimestampNanosecondType>(column, 1_000_000_000)
            }
            _ => return Times::Text(Bytes::of(column)),
        })
    }

    /// The time in this row, unless it is null; the error is what stands there instead of one.
    pub fn get(&self, row: usize) -> Result<Option<UnixSeconds>, String> {
        match self {
            Times::Missing => Ok(None),
            Times::Seconds(seconds) => {
                let time = |seconds: i64| {
                    let time = u64::try_from(seconds).map(UnixSeconds);
                    time.map_err(|_| format!("{} s before 1970", seconds.unsigned_abs()))
                };
                seconds[row].map(time).transpose()
            }
            Times::Text(texts) => {
                let time = |text: &[u8]| {
                    let time = UnixSeconds::from_rfc3339(text);
                    time.ok_or_else(|| format!("{:?}", String::from_utf8_lossy(text)))
                };
                texts.get(row).map(time).transpose()
            }
        }
    }
}

fn seconds<T>(column: &dyn Array, per_second: i64) -> Vec<Option<i64>>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    let seconds = |value: Option<i64>| value.map(|value| value.div_euclid(per_second));
    column.as_primitive::<T>().iter().map(seconds).collect()
}
