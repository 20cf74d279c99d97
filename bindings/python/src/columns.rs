//! Builds decisions and the rows of surveys as Arrow columns: those of `classify --columns`,
//! `--usage` and `survey`, with the same names, types and values. Words are dictionaries with keys of
//! one byte per row.
//!
//! Cost: a word is one byte written per row and agent. Rules and groups are looked up.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, ListBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, StringArray,
    StructArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Fields};
use portcullis_report::columns;
use portcullis_report::filter::{Fate, Plan};
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Values;
use portcullis_rows::output::columns::{
    Columns, ColumnsError, Field as AddedField, FieldKind, LIST_ELEMENT,
};
use portcullis_set::Damage;
use portcullis_set::batch::Answers;

/// Collects the decisions on blocks of URLs.
pub trait Collect: Sync {
    /// The values of a range of rows that are being decided.
    type Rows;
    /// The values of a range of rows.
    type Piece: Send;

    fn begin(&self, rows: usize) -> Self::Rows;

    /// Adds the answers on a block, whose URLs are `urls`.
    fn add(
        &self,
        urls: &[&[u8]],
        answers: &mut Answers<'_>,
        rows: &mut Self::Rows,
    ) -> Result<(), Damage>;

    fn finish(&self, rows: Self::Rows) -> Self::Piece;
}

/// Columns of decisions.
pub trait CollectColumns: Collect<Piece = StructArray> {
    fn fields(&self) -> Fields;
}

/// The columns of rows in Arrow.
pub struct RowArrays {
    fields: Fields,
    /// The words of each column.
    words: Vec<ArrayRef>,
}

impl RowArrays {
    pub fn new(added: &[AddedField]) -> RowArrays {
        let words = |kind: FieldKind| -> ArrayRef { Arc::new(StringArray::from(kind.words())) };
        RowArrays {
            fields: added.iter().map(|field| field.arrow(DataType::Int8)).collect(),
            words: added.iter().map(|field| words(field.kind)).collect(),
        }
    }

    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Returns the rows as structs.
    pub fn rows(&self, added: &Added) -> StructArray {
        let columns = added.columns().iter().zip(&self.words);
        let columns = columns.map(|(values, words)| array(values, words)).collect();
        StructArray::new(self.fields.clone(), columns, None)
    }
}

/// A table of columns.
pub struct Table {
    columns: Columns,
    agents: usize,
    arrays: RowArrays,
}

impl Table {
    /// Returns the table of `columns` for agents with these names.
    ///
    /// # Errors
    ///
    /// If two columns have the same name.
    pub fn new(columns: Columns, agents: &[String], prefix: &str) -> Result<Table, ColumnsError> {
        let arrays = RowArrays::new(&columns.fields(agents, prefix)?);
        Ok(Table { arrays, agents: agents.len(), columns })
    }
}

impl Collect for Table {
    type Rows = Added;
    type Piece = StructArray;

    fn begin(&self, _: usize) -> Added {
        Added::new(&self.columns, self.agents)
    }

    fn add(&self, _: &[&[u8]], answers: &mut Answers<'_>, rows: &mut Added) -> Result<(), Damage> {
        columns::read(&self.columns, answers, rows).map(|_| ())
    }

    fn finish(&self, rows: Added) -> StructArray {
        self.arrays.rows(&rows)
    }
}

impl CollectColumns for Table {
    fn fields(&self) -> Fields {
        self.arrays.fields().clone()
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

/// Collects whether each URL may be fetched, as in `filter`.
pub struct Allowed(pub Plan);

impl Collect for Allowed {
    type Rows = BooleanBuilder;
    type Piece = StructArray;

    fn begin(&self, rows: usize) -> BooleanBuilder {
        BooleanBuilder::with_capacity(rows)
    }

    fn add(
        &self,
        _: &[&[u8]],
        answers: &mut Answers<'_>,
        rows: &mut BooleanBuilder,
    ) -> Result<(), Damage> {
        for class in self.0.classes(answers) {
            rows.append_value(self.0.fate(class) == Fate::Keep);
        }
        Ok(())
    }

    fn finish(&self, mut rows: BooleanBuilder) -> StructArray {
        StructArray::new(self.fields(), vec![Arc::new(rows.finish())], None)
    }
}

impl CollectColumns for Allowed {
    fn fields(&self) -> Fields {
        vec![Field::new("allowed", DataType::Boolean, false)].into()
    }
}
