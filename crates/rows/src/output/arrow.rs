//! The values of columns as Arrow arrays, for Parquet and for Python.
//!
//! Words are dictionaries with keys of one byte. Bytes that are not UTF-8 become U+FFFD.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, RecordBatch,
    StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field as ArrowField, Fields, Schema, SchemaRef};
use portcullis_robots::access::UnixSeconds;

use super::added::{Added, AddedColumn, Cell};
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
fn array(values: &AddedColumn, words: &ArrayRef) -> ArrayRef {
    match values.kind {
        FieldKind::Word(_) => {
            let code =
                |it| if let Some(Cell::Word(number)) = it { Some(number as i8) } else { None };
            let codes: Int8Array = values.iter().map(code).collect();
            let words = DictionaryArray::<Int8Type>::try_new(codes, Arc::clone(words));
            Arc::new(words.expect("numbers are places in the list of all words"))
        }
        FieldKind::Number => {
            // A file of 64 MiB has fewer lines than an int32 can count.
            let number =
                |it| if let Some(Cell::Number(it)) = it { it.try_into().ok() } else { None };
            Arc::new(values.iter().map(number).collect::<Int32Array>())
        }
        FieldKind::Text => {
            let mut builder = StringBuilder::new();
            values.iter().for_each(|it| builder.append_option(it.map(text_of)));
            Arc::new(builder.finish())
        }
        FieldKind::Flag => {
            let flag = |it| if let Some(Cell::Flag(flag)) = it { Some(flag) } else { None };
            Arc::new(values.iter().map(flag).collect::<BooleanArray>())
        }
        FieldKind::Double => {
            let double = |it| if let Some(Cell::Double(number)) = it { Some(number) } else { None };
            Arc::new(values.iter().map(double).collect::<Float64Array>())
        }
        FieldKind::List => {
            let element = ArrowField::new(LIST_ELEMENT, DataType::Utf8, false);
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
            for list in values.iter() {
                let texts: Vec<String> = list.map_or_else(Vec::new, |list| {
                    serde_json::from_str(&text_of(list)).expect("a list is an array of texts")
                });
                texts.iter().for_each(|text| builder.values().append_value(text));
                builder.append(true);
            }
            Arc::new(builder.finish())
        }
        FieldKind::Time => {
            let time = |it| if let Some(Cell::Time(time)) = it { Some(time) } else { None };
            let times = values.iter().map(|it| time(it).map(UnixSeconds::to_milliseconds));
            Arc::new(times.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
    }
}

/// Returns a text as it can be shown.
fn text_of(cell: Cell<&[u8]>) -> Cow<'_, str> {
    match cell {
        Cell::Text(text) => String::from_utf8_lossy(text),
        _ => Cow::Borrowed(""),
    }
}
