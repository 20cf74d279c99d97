//! Builds decisions and the rows of surveys as Arrow columns: those of `classify --columns`,
//! `--usage` and `survey`, with the same names, types and values. Words are dictionaries with keys of
//! one byte per row.
//!
//! Cost: a word is one byte written per row and agent. Rules and groups are looked up.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, RecordBatch,
    StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Values;
use portcullis_rows::output::columns::{Field as AddedField, FieldKind, LIST_ELEMENT};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;

/// Collects the decisions on blocks of URLs.
pub trait Collect: Sync {
    /// The values of a range of rows that are being decided.
    type Rows;
    /// The values of a range of rows.
    type Piece: Send;

    fn begin(&self) -> Self::Rows;

    /// Adds the answers on a block, whose URLs are `urls`.
    fn add(
        &self,
        urls: &[&[u8]],
        answers: &mut Answers<'_>,
        rows: &mut Self::Rows,
    ) -> Result<(), Damage>;

    fn finish(&self, rows: Self::Rows) -> Self::Piece;
}

/// The columns of rows in Arrow.
pub struct RowArrays {
    schema: SchemaRef,
    /// The words of each column.
    words: Vec<ArrayRef>,
}

impl RowArrays {
    pub fn new(added: &[AddedField]) -> RowArrays {
        let words = |kind: FieldKind| -> ArrayRef { Arc::new(StringArray::from(kind.words())) };
        let fields = added.iter().map(|field| field.arrow(DataType::Int8));
        RowArrays {
            schema: Schema::new(fields.collect::<Fields>()).into(),
            words: added.iter().map(|field| words(field.kind)).collect(),
        }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the rows.
    pub fn rows(&self, added: &Added) -> RecordBatch {
        let columns = added.columns().iter().zip(&self.words);
        let columns = columns.map(|(values, words)| array(values, words)).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        rows.expect("columns have their declared types")
    }
}

/// A table of columns, and what reads a block's values.
pub struct Table<F> {
    kinds: Vec<FieldKind>,
    arrays: RowArrays,
    read: F,
}

impl<F: Fn(&mut Answers<'_>, &mut Added) -> Result<(), Damage>> Table<F> {
    pub fn new(added: &[AddedField], read: F) -> Table<F> {
        let kinds = added.iter().map(|field| field.kind).collect();
        Table { kinds, arrays: RowArrays::new(added), read }
    }
}

impl<F> Collect for Table<F>
where
    F: Fn(&mut Answers<'_>, &mut Added) -> Result<(), Damage> + Sync,
{
    type Rows = Added;
    type Piece = RecordBatch;

    fn begin(&self) -> Added {
        Added::of(self.kinds.iter().copied())
    }

    fn add(&self, _: &[&[u8]], answers: &mut Answers<'_>, rows: &mut Added) -> Result<(), Damage> {
        (self.read)(answers, rows)
    }

    fn finish(&self, rows: Added) -> RecordBatch {
        self.arrays.rows(&rows)
    }
}

/// Returns the values of a column in Arrow.
fn array(values: &Values, words: &ArrayRef) -> ArrayRef {
    let text = |it: Option<&[u8]>| it.map(|it| String::from_utf8_lossy(it).into_owned());
    match values {
        Values::Words(numbers) => {
            let codes: Int8Array = match numbers.all() {
                Some(all) => all.iter().map(|&it| it as i8).collect::<Vec<i8>>().into(),
                None => numbers.numbers().map(|it| it.map(|it| it as i8)).collect(),
            };
            let words = DictionaryArray::<Int8Type>::try_new(codes, Arc::clone(words));
            Arc::new(words.expect("numbers are places in the list of all words"))
        }
        Values::Numbers(numbers) => {
            // A file of 500 KiB has fewer lines than an int32 can count.
            let number = |it: &Option<u32>| it.and_then(|it| it.try_into().ok());
            Arc::new(numbers.iter().map(number).collect::<Int32Array>())
        }
        Values::Texts(texts) => Arc::new(texts.iter().map(text).collect::<StringArray>()),
        Values::Repeated(repeated) => {
            let texts: Vec<Option<String>> = repeated.texts().map(text).collect();
            let keys = repeated
                .numbers()
                .iter()
                .map(|&number| texts[number as usize].is_some().then_some(number as i32));
            let keys: Int32Array = keys.collect();
            let texts: ArrayRef = Arc::new(texts.into_iter().collect::<StringArray>());
            let shared = DictionaryArray::<Int32Type>::try_new(keys, texts);
            Arc::new(shared.expect("numbers are places in the list of all texts"))
        }
        Values::Flags(flags) => Arc::new(BooleanArray::from(flags.clone())),
        Values::Doubles(doubles) => Arc::new(Float64Array::from(doubles.clone())),
        Values::Lists(lists) => {
            let element = Field::new(LIST_ELEMENT, DataType::Utf8, false);
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
