//! Builds decisions as Arrow columns: the columns of `classify --columns` and `--usage`, with the
//! same names, types and values. Words are dictionaries with keys of one byte per row.
//!
//! Cost: a word is one byte written per row and agent. Rules and groups are looked up.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Int32Builder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use portcullis_dialect::{Decision, Verdict};
use portcullis_report::columns::{self, Column, Columns, FieldKind, ValueType, Values};
use portcullis_report::filter::Plan;
use portcullis_set::Damage;
use portcullis_set::batch::Session;

/// Collects the decisions on blocks of URLs.
pub trait Collect: Sync {
    /// The values of a range of rows.
    type Rows;

    fn field(&self) -> FieldRef;

    fn begin(&self, rows: usize) -> Self::Rows;

    /// Decides `block` and adds its rows.
    fn add(
        &self,
        block: &[&[u8]],
        session: &mut Session,
        rows: &mut Self::Rows,
    ) -> Result<(), Damage>;

    fn finish(&self, rows: Self::Rows) -> ArrayRef;
}

/// A table of columns.
pub struct Table {
    columns: Columns,
    added: Vec<columns::Field>,
    /// The columns in Arrow.
    fields: Fields,
    /// The words of each column.
    words: Vec<ArrayRef>,
}

/// The values of one column.
pub enum Builder {
    Words(Vec<i8>),
    States(Vec<Option<i8>>),
    Lines(Int32Builder),
    Texts(StringBuilder),
    Bits(BinaryBuilder),
}

impl Table {
    /// Returns the table of `columns` for agents with these names.
    ///
    /// # Errors
    ///
    /// If two columns have the same name.
    pub fn new(
        columns: Columns,
        agents: &[String],
        prefix: &str,
    ) -> Result<Table, columns::ColumnsError> {
        let added = columns.fields(agents, prefix)?;
        let words = |field: &columns::Field| -> ArrayRef {
            Arc::new(StringArray::from(field.kind.words()))
        };
        Ok(Table {
            fields: added.iter().map(|field| field.arrow(DataType::Int8)).collect(),
            words: added.iter().map(words).collect(),
            columns,
            added,
        })
    }

    fn builder(&self, field: &columns::Field, rows: usize) -> Builder {
        match field.kind.value_type() {
            (ValueType::Word, false) => Builder::Words(Vec::with_capacity(rows)),
            (ValueType::Word, true) => Builder::States(Vec::with_capacity(rows)),
            (ValueType::Number, _) => Builder::Lines(Int32Builder::with_capacity(rows)),
            (ValueType::Text, _) => Builder::Texts(StringBuilder::new()),
            (ValueType::Bytes, _) => Builder::Bits(BinaryBuilder::new()),
        }
    }

    /// Adds the lines, rules and groups of one agent. They are looked up once for all columns.
    fn add_rules(
        &self,
        decisions: &[Decision],
        agent: usize,
        session: &mut Session,
        rows: &mut [Builder],
    ) -> Result<(), Damage> {
        let agents = session.classifier().agents().len();
        for (place, decision) in decisions.iter().skip(agent).step_by(agents).enumerate() {
            let values = Values::read(&self.columns, decision, session, place, agent)?;
            for (field, builder) in self.added.iter().zip(&mut *rows) {
                match (&field.kind, builder) {
                    (&FieldKind::Agent(other, column), Builder::Texts(texts)) if other == agent => {
                        let text = values.text(column);
                        texts.append_option(text.as_deref().map(String::from_utf8_lossy));
                    }
                    (&FieldKind::Agent(other, _), Builder::Lines(lines)) if other == agent => {
                        // A file of 500 KiB has fewer lines than an int32 can count.
                        let line = values.line.and_then(|line| line.get().try_into().ok());
                        lines.append_option(line);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Collect for Table {
    type Rows = Vec<Builder>;

    fn field(&self) -> FieldRef {
        Arc::new(Field::new_struct("", self.fields.clone(), false))
    }

    fn begin(&self, rows: usize) -> Vec<Builder> {
        self.added.iter().map(|field| self.builder(field, rows)).collect()
    }

    fn add(
        &self,
        block: &[&[u8]],
        session: &mut Session,
        rows: &mut Vec<Builder>,
    ) -> Result<(), Damage> {
        session.classify(block)?;
        let (agents, labels) = (session.classifier().agents().len(), session.classifier().labels());
        let decisions = session.decisions();
        let by_record = || decisions.chunks_exact(agents);
        for (field, builder) in self.added.iter().zip(&mut *rows) {
            match (&field.kind, builder) {
                (&FieldKind::Agent(agent, Column::Verdict), Builder::Words(codes)) => {
                    codes.extend(by_record().map(|it| it[agent].verdict as i8));
                }
                (&FieldKind::Agent(agent, Column::Reason), Builder::Words(codes)) => {
                    codes.extend(by_record().map(|it| it[agent].reason as i8));
                }
                (&FieldKind::Agent(agent, Column::Usage(label)), Builder::Words(codes)) => {
                    let place = labels.iter().position(|it| *it == label);
                    let place = agent * labels.len() + place.expect("all labels are asked about");
                    let answers = session.preferences().iter().skip(place);
                    codes.extend(answers.step_by(agents * labels.len()).map(|it| *it as i8));
                }
                (_, Builder::Bits(bits)) => {
                    let mut bytes = Vec::new();
                    for decisions in by_record() {
                        let is_decided = columns::bits(decisions, &mut bytes).is_ok();
                        bits.append_option(is_decided.then_some(&bytes));
                    }
                }
                _ => {}
            }
        }
        for builder in &mut *rows {
            if let Builder::States(codes) = builder {
                for place in 0..block.len() {
                    codes.push(session.state(place)?.map(|state| state as i8));
                }
            }
        }
        let needs_rules = |it: &Builder| matches!(it, Builder::Texts(_) | Builder::Lines(_));
        if rows.iter().any(needs_rules) {
            let decisions = session.decisions().to_vec();
            (0..agents).try_for_each(|agent| self.add_rules(&decisions, agent, session, rows))?;
        }
        Ok(())
    }

    fn finish(&self, rows: Vec<Builder>) -> ArrayRef {
        let column = |(builder, words): (Builder, &ArrayRef)| -> ArrayRef {
            match builder {
                Builder::Words(codes) => of_words(codes.into(), words),
                Builder::States(codes) => of_words(codes.into(), words),
                Builder::Lines(mut lines) => Arc::new(lines.finish()),
                Builder::Texts(mut texts) => Arc::new(texts.finish()),
                Builder::Bits(mut bits) => Arc::new(bits.finish()),
            }
        };
        let columns = rows.into_iter().zip(&self.words).map(column).collect();
        Arc::new(StructArray::new(self.fields.clone(), columns, None))
    }
}

fn of_words(codes: Int8Array, words: &ArrayRef) -> ArrayRef {
    let words = DictionaryArray::<Int8Type>::try_new(codes, Arc::clone(words));
    Arc::new(words.expect("codes are places in the list of all words"))
}

/// Collects whether each URL may be fetched, as in `filter`.
pub struct Allowed(pub Plan);

impl Collect for Allowed {
    type Rows = BooleanBuilder;

    fn field(&self) -> FieldRef {
        Arc::new(Field::new("allowed", DataType::Boolean, false))
    }

    fn begin(&self, rows: usize) -> BooleanBuilder {
        BooleanBuilder::with_capacity(rows)
    }

    fn add(
        &self,
        block: &[&[u8]],
        session: &mut Session,
        rows: &mut BooleanBuilder,
    ) -> Result<(), Damage> {
        session.classify(block)?;
        for (verdict, _) in self.0.verdicts(session) {
            rows.append_value(verdict == Verdict::Allow);
        }
        Ok(())
    }

    fn finish(&self, mut rows: BooleanBuilder) -> ArrayRef {
        Arc::new(rows.finish())
    }
}
