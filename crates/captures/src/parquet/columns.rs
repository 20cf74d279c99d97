//! Finds the columns of a Parquet file by their names, decodes them, and reads the values.
//!
//! A file has [`Columns`], each a [`Leaf`] that may lie within structures. A [`Projection`] of some of
//! them decodes batches of a row group, in which [`Values`] are read. For captures and for lists of
//! URLs.
//!
//! Cost: only the columns of a projection are read. The numbers and times of a batch are converted at
//! once; bytes are borrowed, and never checked to be text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, BooleanArray, RecordBatch,
    downcast_integer_array, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit as ArrowUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowSelection, RowSelector,
};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::file::{ParquetSource, guarded, no_parquet, plain_text, text_of};
use super::group::GroupColumns;
use crate::json_path::{FieldPath, FieldValue, Members};
use portcullis_robots::access::{TimeUnit, UnixSeconds, in_range};

/// The columns of a file, with the types that Parquet itself gives them. The writer's Arrow types may
/// contradict these.
pub struct Columns<'f> {
    source: &'f ParquetSource,
    fields: Fields,
    /// The writer's types, if the file has them.
    written: Option<Fields>,
}

/// A column that may be read.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Its name, after the names of the structures that it is in, with dots between.
    pub name: String,
    /// The position among the leaves of the schema.
    pub place: usize,
    /// Its type.
    pub data_type: DataType,
    /// The unit of numbers, if the writer says that they are times. Parquet has no type for times in
    /// seconds.
    pub unit: Option<TimeUnit>,
    /// The positions of the structures and of the column, each within the one before.
    steps: Vec<usize>,
    /// The path of the member with the value, if the column's texts are JSON objects.
    pub inside: Option<FieldPath>,
}

impl<'f> Columns<'f> {
    /// Returns the columns of a file.
    ///
    /// # Errors
    ///
    /// If the schema contradicts itself.
    pub fn of(source: &'f ParquetSource) -> Result<Columns<'f>, String> {
        let open = |options: ArrowReaderOptions| {
            ArrowReaderMetadata::try_new(Arc::clone(&source.metadata), options)
        };
        let own = open(ArrowReaderOptions::new().with_skip_arrow_metadata(true));
        let fields = own.map_err(|error| no_parquet(&error))?.schema().fields().clone();
        let written = open(ArrowReaderOptions::new()).ok().map(|it| it.schema().fields().clone());
        Ok(Columns { source, fields, written })
    }

    /// Returns the names of the columns, not those within structures.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name().as_str()).collect()
    }

    /// Returns the column at a position among [`Columns::names`].
    pub fn at(&self, position: usize) -> Leaf {
        self.leaf(vec![position])
    }

    /// Returns the column at a path of names, or `None` if there is none. A path goes through structures, and
    /// through texts that are JSON objects.
    ///
    /// # Errors
    ///
    /// If two columns have the name: the names of both.
    pub fn find(&self, path: &FieldPath) -> Result<Option<Leaf>, (String, String)> {
        let (mut fields, mut steps) = (&self.fields, Vec::new());
        for depth in 0..path.names().len() {
            let mut found =
                (0..fields.len()).filter(|&at| path.has(depth, fields[at].name().as_bytes()));
            let Some(at) = found.next() else { return Ok(None) };
            if let Some(other) = found.next() {
                let [one, other] = [at, other].map(|at| fields[at].name().clone());
                return Err((one, other));
            }
            steps.push(at);
            if depth + 1 < path.names().len() {
                let DataType::Struct(inner) = fields[at].data_type() else {
                    let is_text = holds_bytes(fields[at].data_type());
                    return Ok(is_text.then(|| self.inside(path, depth + 1, steps)));
                };
                fields = inner;
            }
        }
        Ok(Some(self.leaf(steps)))
    }

    /// Returns the member of the JSON in the column at `steps` that a path names from a depth on.
    fn inside(&self, path: &FieldPath, depth: usize, steps: Vec<usize>) -> Leaf {
        let inside = Some(FieldPath::from_names(path.names()[depth..].to_vec()));
        Leaf { name: path.names().join("."), inside, ..self.leaf(steps) }
    }

    fn leaf(&self, steps: Vec<usize>) -> Leaf {
        let field = field_at(&self.fields, &steps).expect("the schema has these steps");
        let written = self.written.as_ref().and_then(|fields| field_at(fields, &steps));
        let unit = match (field.data_type(), written.map(|it| it.data_type())) {
            (DataType::Int64, Some(DataType::Timestamp(ArrowUnit::Second, _))) => {
                Some(TimeUnit::Seconds)
            }
            (DataType::Int64, Some(DataType::Date64)) => Some(TimeUnit::Milliseconds),
            _ => None,
        };
        let mut names = Vec::new();
        for end in 1..=steps.len() {
            names.extend(field_at(&self.fields, &steps[..end]).map(|field| field.name().as_str()));
        }
        let name = names.join(".");
        let place = place(self.source.metadata.file_metadata().schema(), &steps);
        Leaf { name, place, data_type: field.data_type().clone(), unit, steps, inside: None }
    }
}

fn field_at<'s>(fields: &'s Fields, steps: &[usize]) -> Option<&'s Field> {
    let (&first, rest) = steps.split_first()?;
    let field = fields.get(first)?;
    match (field.data_type(), rest) {
        (_, []) => Some(field),
        (DataType::Struct(inner), rest) => field_at(inner, rest),
        _ => None,
    }
}

/// Returns the number of leaves before the column at `steps` from `group` on.
fn place(group: &Type, steps: &[usize]) -> usize {
    fn leaves(column: &Type) -> usize {
        let fields = || column.get_fields().iter().map(|field| leaves(field)).sum();
        if column.is_group() { fields() } else { 1 }
    }
    let Some((&first, rest)) = steps.split_first().filter(|_| group.is_group()) else { return 0 };
    let before: usize = group.get_fields()[..first].iter().map(|field| leaves(field)).sum();
    before + place(&group.get_fields()[first], rest)
}

/// Some columns of a file, and how they are decoded.
#[derive(Debug)]
pub struct Projection {
    /// The positions of the columns among the leaves of the schema, in order, each once.
    pub(super) places: Vec<usize>,
    levels: FieldLevels,
}

impl Projection {
    /// Returns how some columns are decoded. They hold bytes, numbers, booleans or times.
    ///
    /// # Errors
    ///
    /// If the schema contradicts itself.
    pub fn new<'l>(
        source: &ParquetSource,
        leaves: impl IntoIterator<Item = &'l Leaf>,
    ) -> Result<Projection, String> {
        let mut leaves: Vec<&Leaf> = leaves.into_iter().collect();
        leaves.sort_by_key(|leaf| leaf.place);
        leaves.dedup_by_key(|leaf| leaf.place);
        let steps: Vec<(&[usize], &Leaf)> = leaves.iter().map(|it| (&*it.steps, *it)).collect();
        let schema = source.metadata.file_metadata().schema();
        let levels = || {
            let (types, fields) = pruned(schema, &steps)?;
            let root = Type::group_type_builder("columns").with_fields(types).build()?;
            let plain = SchemaDescriptor::new(Arc::new(root));
            parquet_to_arrow_field_levels(&plain, ProjectionMask::all(), Some(&fields))
        };
        let levels = guarded(|| levels().map_err(|error| no_parquet(&error)))?;
        Ok(Projection { places: leaves.iter().map(|leaf| leaf.place).collect(), levels })
    }

    /// Returns some rows of a row group, in batches of `batch_rows`.
    ///
    /// # Errors
    ///
    /// If the columns are damaged.
    pub fn read(
        &self,
        source: &ParquetSource,
        row_group: usize,
        batch_rows: usize,
        rows: Range<usize>,
    ) -> Result<GroupRows, String> {
        let selected = [RowSelector::skip(rows.start), RowSelector::select(rows.len())];
        let start = || {
            let columns = GroupColumns { source, row_group, places: &self.places };
            ParquetRecordBatchReader::try_new_with_row_groups(
                &self.levels,
                &columns,
                batch_rows,
                Some(RowSelection::from(selected.to_vec())),
            )
        };
        let reader = guarded(|| start().map_err(|error| text_of(&error)))?;
        Ok(GroupRows { reader, left: rows.len() })
    }
}

/// Rows of a row group, batch by batch.
pub struct GroupRows {
    reader: ParquetRecordBatchReader,
    left: usize,
}

/// An error, after which there are no more batches, says that the columns are damaged.
impl Iterator for GroupRows {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Result<RecordBatch, String>> {
        if self.left == 0 {
            return None;
        }
        let read = guarded(|| match self.reader.next().transpose() {
            Ok(Some(batch)) if batch.num_rows() <= self.left => Ok(batch),
            Ok(_) => Err(format!("{} rows are missing", self.left)),
            Err(ArrowError::ParquetError(problem)) => Err(plain_text(&problem)),
            Err(error) => Err(error.to_string()),
        });
        self.left -= read.as_ref().map_or(self.left, RecordBatch::num_rows);
        Some(read)
    }
}

/// Returns the columns at steps from `group` on and the structures that they are in, each named by its
/// position. Byte arrays have no meaning, such as text: a value that is not UTF-8 must not keep
/// the other rows from being read. They are views, which are not copied.
fn pruned(
    group: &Type,
    leaves: &[(&[usize], &Leaf)],
) -> Result<(Vec<TypePtr>, Fields), ParquetError> {
    let (mut types, mut fields) = (Vec::new(), Vec::new());
    for (number, column) in group.get_fields().iter().enumerate() {
        let within = leaves.iter().filter(|(steps, _)| steps.first() == Some(&number));
        let within: Vec<(&[usize], &Leaf)> =
            within.map(|(steps, leaf)| (&steps[1..], *leaf)).collect();
        let Some((_, leaf)) = within.first() else { continue };
        let (name, info) = (number.to_string(), column.get_basic_info());
        let (built, data_type) = match column.is_group() {
            true => {
                let (types, fields) = pruned(column, &within)?;
                let builder = Type::group_type_builder(&name).with_repetition(info.repetition());
                (builder.with_fields(types).build()?, DataType::Struct(fields))
            }
            false => {
                let physical = column.get_physical_type();
                let builder = Type::primitive_type_builder(&name, physical)
                    .with_repetition(info.repetition());
                let builder = match physical {
                    PhysicalType::BYTE_ARRAY => builder,
                    _ => builder
                        .with_converted_type(info.converted_type())
                        .with_logical_type(info.logical_type_ref().cloned()),
                };
                let data_type = match physical {
                    PhysicalType::BYTE_ARRAY => DataType::BinaryView,
                    // Seconds have no bounds, as nanoseconds have.
                    PhysicalType::INT96 => DataType::Timestamp(ArrowUnit::Second, None),
                    _ => leaf.data_type.clone(),
                };
                (builder.build()?, data_type)
            }
        };
        types.push(Arc::new(built));
        fields.push(Field::new(name, data_type, column.is_optional()));
    }
    Ok((types, fields.into()))
}

impl Leaf {
    /// Checks that the column can hold `what`, which needs `types` that `fits` accepts. The error ends
    /// with `fix`.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub fn check(
        &self,
        fits: fn(&DataType) -> bool,
        what: &str,
        types: &str,
        fix: &str,
    ) -> Result<(), String> {
        let Leaf { name, data_type, .. } = self;
        if fits(data_type) {
            return Ok(());
        }
        Err(format!("the column {name} holds {data_type}; {what} needs {types}; {fix}"))
    }

    /// Returns the column's values in a batch, or `None` if it has another type. Numbers are times if
    /// they have a unit. The values of a column of objects are their texts; see [`Objects`].
    pub fn values(&self, batch: &RecordBatch, unit: Option<TimeUnit>) -> Option<Values> {
        Values::of(&self.array(batch)?, unit)
    }

    /// Returns the column's bytes in a batch, which are not copied, or `None` if it has others.
    pub fn bytes(&self, batch: &RecordBatch) -> Option<BinaryViewArray> {
        self.array(batch)?.as_binary_view_opt().cloned()
    }

    /// Returns the column in a batch, with nulls where a structure around it is null: a column that is
    /// required within a structure has values there too.
    fn array(&self, batch: &RecordBatch) -> Option<ArrayRef> {
        let (first, rest) = self.steps.split_first()?;
        let mut array = Arc::clone(batch.column_by_name(&first.to_string())?);
        for step in rest {
            let inner = array.as_struct_opt()?.column_by_name(&step.to_string())?;
            let nulls = NullBuffer::union(inner.nulls(), array.nulls());
            array = make_array(inner.to_data().into_builder().nulls(nulls).build().ok()?);
        }
        Some(array)
    }
}

/// A column whose texts are objects written as JSON, and the members to read.
#[derive(Clone, Debug)]
pub struct Objects {
    column: Leaf,
    /// The members. See [`Members::read_text`].
    pub members: Members,
}

impl Objects {
    /// Returns the columns of objects that have some of `leaves`, each with the number of its value. The values
    /// of `lists` may be in a list.
    ///
    /// # Errors
    ///
    /// If there are too many members.
    pub fn of(leaves: &[(usize, &Leaf)], lists: &[usize]) -> Result<Vec<Objects>, String> {
        let mut columns: Vec<&Leaf> = leaves.iter().map(|(_, leaf)| *leaf).collect();
        columns.retain(|leaf| leaf.inside.is_some());
        columns.sort_by_key(|leaf| leaf.place);
        columns.dedup_by_key(|leaf| leaf.place);
        let objects = |column: &Leaf| {
            let members = leaves.iter().filter(|(_, leaf)| leaf.place == column.place);
            let paths = members.filter_map(|(value, leaf)| Some((*value, leaf.inside.clone()?)));
            let members = Members::new(paths.collect(), lists, &[])?;
            Ok(Objects { column: column.clone(), members })
        };
        columns.into_iter().map(objects).collect()
    }

    /// Returns the texts in a batch, which are not copied, or `None` if it has others.
    pub fn texts(&self, batch: &RecordBatch) -> Option<BinaryViewArray> {
        self.column.bytes(batch)
    }
}

/// Whether a type is text or bytes.
pub fn holds_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Binary | BinaryView | LargeBinary | LargeUtf8 | Utf8 | Utf8View)
}

/// Whether a type is a number.
pub fn holds_numbers(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Whether a type may be times without a unit.
pub fn holds_times(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _) | DataType::Date32) || holds_bytes(data_type)
}

/// Whether a type may say yes or no.
pub(super) fn is_flag(data_type: &DataType) -> bool {
    *data_type == DataType::Boolean || holds_numbers(data_type) || holds_bytes(data_type)
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Values {
    /// No row has one.
    Nulls,
    Bytes(BinaryViewArray),
    Booleans(BooleanArray),
    Numbers(Vec<Option<f64>>),
    /// Seconds.
    Times(Vec<Option<i64>>),
}

impl Values {
    /// Returns the value in a row.
    pub fn at(&self, row: usize) -> FieldValue<'_> {
        let value = match self {
            Values::Nulls => None,
            Values::Bytes(array) => {
                array.is_valid(row).then(|| FieldValue::Text(Cow::Borrowed(array.value(row))))
            }
            Values::Booleans(array) => {
                array.is_valid(row).then(|| FieldValue::Boolean(array.value(row)))
            }
            // pandas writes NaN for a number that is not there, as in JSON.
            Values::Numbers(numbers) => {
                numbers[row].filter(|number| number.is_finite()).map(FieldValue::Number)
            }
            Values::Times(times) => times[row].map(FieldValue::Time),
        };
        value.unwrap_or(FieldValue::Null)
    }

    fn of(column: &dyn Array, unit: Option<TimeUnit>) -> Option<Values> {
        if let Some(seconds) = seconds(column) {
            return Some(Values::Times(seconds));
        }
        // Exactly.
        if unit == Some(TimeUnit::Seconds) && *column.data_type() == DataType::Int64 {
            return Some(Values::Times(column.as_primitive::<Int64Type>().iter().collect()));
        }
        let numbers = downcast_integer_array!(
            column => { column.iter().map(|it| it.map(|number| number as f64)).collect() }
            DataType::Float32 => {
                column.as_primitive::<Float32Type>().iter().map(|it| it.map(f64::from)).collect()
            }
            DataType::Float64 => column.as_primitive::<Float64Type>().iter().collect(),
            DataType::BinaryView => return Some(Values::Bytes(column.as_binary_view().clone())),
            DataType::Boolean => return Some(Values::Booleans(column.as_boolean().clone())),
            DataType::Null => return Some(Values::Nulls),
            _ => return None,
        );
        Some(Values::Numbers(numbers))
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
    use ArrowUnit::{Microsecond, Millisecond, Nanosecond, Second};
    use DataType::{Date32, Date64, Timestamp};
    let per = |units: i64| move |time: i64| time.div_euclid(units);
    Some(match column.data_type() {
        Timestamp(Second, _) => values::<TimestampSecondType>(column, per(1)),
        Timestamp(Millisecond, _) => values::<TimestampMillisecondType>(column, per(1_000)),
        Timestamp(Microsecond, _) => values::<TimestampMicrosecondType>(column, per(1_000_000)),
        Timestamp(Nanosecond, _) => values::<TimestampNanosecondType>(column, per(1_000_000_000)),
        Date32 => values::<Date32Type>(column, |day| day * DAY),
        Date64 => values::<Date64Type>(column, per(1_000)),
        _ => return None,
    })
}
