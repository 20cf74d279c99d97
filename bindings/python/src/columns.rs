//! Decisions as Arrow columns: the columns of `classify --columns`, with the same names and values.
//!
//! | column | type |
//! |---|---|
//! | verdict, reason | dictionary of int8 and utf8: one byte per row |
//! | state | the same, null for a record that is not a URL |
//! | line | int32, null without a deciding rule |
//! | rule, group | utf8, null without one; bytes that are not UTF-8 become U+FFFD |
//! | bits | binary, null for a record that is unknown or invalid |
//!
//! Cost: verdicts and reasons are one byte written per row and agent. Rules and groups are looked up.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Int32Builder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use portcullis_dialect::{Decision, PolicyState, Reason, Verdict};
use portcullis_report::columns::{self, Column, Columns, FieldKind, Values};
use portcullis_report::filter::{Fate, Plan, Quantifier};
use portcullis_set::Damage;
use portcullis_set::batch::Session;

/// What becomes of the decisions on a block of URLs.
pub trait Collect: Sync {
    /// The values of some rows.
    type Rows;

    fn field(&self) -> FieldRef;

    fn begin(&self, rows: usize) -> Self::Rows;

    /// Decides `block` and adds its rows.
    fn add(
        &self,
        block: &[&[u8]],
        session: &mut Session<'_>,
        rows: &mut Self::Rows,
    ) -> Result<(), Damage>;

    fn finish(&self, rows: Self::Rows) -> ArrayRef;
}

/// A table of columns.
pub struct Table {
    columns: Columns,
    added: Vec<columns::Field>,
    fields: Fields,
    verdicts: ArrayRef,
    reasons: ArrayRef,
    states: ArrayRef,
}

/// The values of one column.
pub enum Builder {
    Verdicts(Vec<i8>),
    Reasons(Vec<i8>),
    Lines(Int32Builder),
    Texts(StringBuilder),
    Bits(BinaryBuilder),
    States(Vec<Option<i8>>),
}

impl Table {
    /// The table of `columns` for agents with these names.
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
        let words = || DataType::Dictionary(DataType::Int8.into(), DataType::Utf8.into());
        let field = |added: &columns::Field| {
            let (data_type, nullable) = match added.kind {
                FieldKind::Agent(_, Column::Verdict | Column::Reason) => (words(), false),
                FieldKind::Agent(_, Column::Line) => (DataType::Int32, true),
                FieldKind::Agent(_, Column::Rule | Column::Group | Column::Usage(_)) => {
                    (DataType::Utf8, true)
                }
                FieldKind::Bits => (DataType::Binary, true),
                FieldKind::State => (words(), true),
            };
            Arc::new(Field::new(&added.name, data_type, nullable))
        };
        let fields = added.iter().map(field).collect();
        let texts = |words: Vec<&'static str>| -> ArrayRef { Arc::new(StringArray::from(words)) };
        Ok(Table {
            fields,
            verdicts: texts(Verdict::ALL.map(Verdict::as_str).to_vec()),
            reasons: texts(Reason::ALL.map(Reason::as_str).to_vec()),
            states: texts(PolicyState::ALL.map(PolicyState::as_str).to_vec()),
            columns,
            added,
        })
    }

    fn builder(&self, field: &columns::Field, rows: usize) -> Builder {
        match field.kind {
            FieldKind::Agent(_, Column::Verdict) => Builder::Verdicts(Vec::with_capacity(rows)),
            FieldKind::Agent(_, Column::Reason) => Builder::Reasons(Vec::with_capacity(rows)),
            FieldKind::Agent(_, Column::Line) => Builder::Lines(Int32Builder::with_capacity(rows)),
            FieldKind::Agent(_, Column::Rule | Column::Group | Column::Usage(_)) => {
                Builder::Texts(StringBuilder::new())
            }
            FieldKind::Bits => Builder::Bits(BinaryBuilder::new()),
            FieldKind::State => Builder::States(Vec::with_capacity(rows)),
        }
    }

    /// Adds the rules and groups of one agent, which are looked up once for both columns.
    fn add_texts(
        &self,
        decisions: &[Decision],
        agent: usize,
        session: &mut Session<'_>,
        rows: &mut [Builder],
    ) -> Result<(), Damage> {
        let agents = session.classifier().agents().len();
        for (place, decision) in decisions.iter().skip(agent).step_by(agents).enumerate() {
            let values = Values::read(&self.columns, decision, session, place, agent)?;
            for (field, builder) in self.added.iter().zip(&mut *rows) {
                if let (&FieldKind::Agent(other, column), Builder::Texts(texts)) =
                    (&field.kind, builder)
                    && other == agent
                {
                    let text = values.text(column);
                    texts.append_option(text.as_deref().map(String::from_utf8_lossy));
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
        session: &mut Session<'_>,
        rows: &mut Vec<Builder>,
    ) -> Result<(), Damage> {
        let agents = session.classifier().agents().len();
        let decisions = session.decide(block)?;
        let by_record = || decisions.chunks_exact(agents);
        for (field, builder) in self.added.iter().zip(&mut *rows) {
            match (&field.kind, builder) {
                (&FieldKind::Agent(agent, _), Builder::Verdicts(codes)) => {
                    codes.extend(by_record().map(|it| it[agent].verdict as i8));
                }
                (&FieldKind::Agent(agent, _), Builder::Reasons(codes)) => {
                    codes.extend(by_record().map(|it| it[agent].reason as i8));
                }
                (&FieldKind::Agent(agent, _), Builder::Lines(lines)) => {
                    // A file of 500 KiB has fewer lines than an int32 can count.
                    let line = |it: &Decision| it.line.and_then(|line| line.get().try_into().ok());
                    lines.extend(by_record().map(|it| line(&it[agent])));
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
        let has_texts = |rows: &[Builder]| rows.iter().any(|it| matches!(it, Builder::Texts(_)));
        if has_texts(rows) {
            let decisions = session.decisions().to_vec();
            (0..agents).try_for_each(|agent| self.add_texts(&decisions, agent, session, rows))?;
        }
        Ok(())
    }

    fn finish(&self, rows: Vec<Builder>) -> ArrayRef {
        let column = |builder| -> ArrayRef {
            match builder {
                Builder::Verdicts(codes) => of_words(codes.into(), &self.verdicts),
                Builder::Reasons(codes) => of_words(codes.into(), &self.reasons),
                Builder::States(codes) => of_words(codes.into(), &self.states),
                Builder::Lines(mut lines) => Arc::new(lines.finish()),
                Builder::Texts(mut texts) => Arc::new(texts.finish()),
                Builder::Bits(mut bits) => Arc::new(bits.finish()),
            }
        };
        let columns = rows.into_iter().map(column).collect();
        Arc::new(StructArray::new(self.fields.clone(), columns, None))
    }
}

fn of_words(codes: Int8Array, words: &ArrayRef) -> ArrayRef {
    let words = DictionaryArray::<Int8Type>::try_new(codes, Arc::clone(words));
    Arc::new(words.expect("codes are places in the list of all words"))
}

/// Whether each URL may be fetched by all agents, or by any.
pub struct Allowed {
    plan: Plan,
}

impl Allowed {
    pub fn new(quantifier: Quantifier) -> Allowed {
        let (unknown, invalid) = (Fate::Drop, Fate::Drop);
        Allowed { plan: Plan { quantifier, invert: false, unknown, invalid, purpose: None } }
    }
}

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
        session: &mut Session<'_>,
        rows: &mut BooleanBuilder,
    ) -> Result<(), Damage> {
        let agents = session.classifier().agents().len();
        for decisions in session.decide(block)?.chunks_exact(agents) {
            rows.append_value(self.plan.verdict(decisions, &[]) == Verdict::Allow);
        }
        Ok(())
    }

    fn finish(&self, mut rows: BooleanBuilder) -> ArrayRef {
        Arc::new(rows.finish())
    }
}
