//! The values of columns as Arrow arrays, for Parquet and for Python.
//!
//! Words are dictionaries with keys of one byte. Bytes that are not UTF-8 become U+FFFD.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, RecordBatch,
    StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field as ArrowField, Fields, Schema, SchemaRef};
use portcullis_robots::access::UnixSeconds;

use super::added::{Added, Values};
use super::columns::{Field, FieldKind};

/// How the values of columns become arrays.
#[derive(Clone, Debug)]
pub struct Arrays {
    schema: SchemaRef,
    /// The words of each column.
    words: Vec<ArrayRef>,
}

impl Arrays {
    /// Returns the arrays of these columns.
    pub fn new(fields: &[Field]) -> Arrays {
        let types = fields.iter().map(|field| field.arrow(DataType::Int8));
        Arrays {
            schema: Schema::new(types.collect::<Fields>()).into(),
            words: fields.iter().map(|field| words(field.kind)).collect(),
        }
    }

    /// Returns the types of the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the columns as one batch.
    pub fn batch(&self, added: &Added) -> RecordBatch {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), self.of(added).collect());
        batch.expect("columns have their declared types")
    }

    /// Returns the values of the columns, in order.
    pub fn of<'a>(&'a self, added: &'a Added) -> impl Iterator<Item = ArrayRef> + 'a {
        added.columns().iter().zip(&self.words).map(|(values, words)| array(values, words))
    }
}

impl Field {
    /// Returns the column's type in Arrow, which is that of no values. Words are a dictionary whose keys
    /// have the type `keys`.
    pub fn arrow(&self, keys: DataType) -> ArrowField {
        let none = Added::of(std::iter::once(self.kind));
        let data_type = match array(&none.columns()[0], &words(self.kind)).data_type() {
            DataType::Dictionary(_, words) => DataType::Dictionary(keys.into(), words.clone()),
            other => other.clone(),
        };
        ArrowField::new(self.name.as_str(), data_type, self.has_gaps)
    }
}

fn words(kind: FieldKind) -> ArrayRef {
    Arc::new(StringArray::from(kind.words().to_vec()))
}

/// The name of the elements of a list in the schemas of Parquet and Arrow.
const LIST_ELEMENT: &str = "element";

/// Returns the values of a column, which may have `words`.
fn array(values: &Values, words: &ArrayRef) -> ArrayRef {
    match values {
        Values::Words(numbers) => {
            let codes: Int8Array = numbers.numbers().map(|it| it.map(|it| it as i8)).collect();
            let words = DictionaryArray::<Int8Type>::try_new(codes, Arc::clone(words));
            Arc::new(words.expect("numbers are places in the list of all words"))
        }
        Values::Numbers(numbers) => {
            // A file of 64 MiB has fewer lines than an int32 can count.
            let number = |it: &Option<u32>| it.and_then(|it| it.try_into().ok());
            Arc::new(numbers.iter().map(number).collect::<Int32Array>())
        }
        Values::Texts(texts) => {
            let mut builder = StringBuilder::new();
            texts.iter().for_each(|it| builder.append_option(it.map(String::from_utf8_lossy)));
            Arc::new(builder.finish())
        }
        Values::Flags(flags) => Arc::new(BooleanArray::from(flags.clone())),
        Values::Doubles(doubles) => Arc::new(Float64Array::from(doubles.clone())),
        Values::Lists(lists) => {
            let element = ArrowField::new(LIST_ELEMENT, DataType::Utf8, false);
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
            for row in 0..lists.rows() {
                for text in lists.get(row) {
                    builder.values().append_value(String::from_utf8_lossy(text));
                }
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        Values::Times(times) => {
            let times = times.iter().map(|time| time.map(UnixSeconds::to_milliseconds));
            Arc::new(times.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
    }
}
