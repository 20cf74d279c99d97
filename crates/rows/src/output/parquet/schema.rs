//! The schema and metadata of a Parquet output.
//!
//! The metadata of an input is copied. If the metadata describes the schema a second time, the
//! added columns are added there too, or readers would not see them: `ARROW:schema` (Arrow,
//! pyarrow, Polars) and `org.apache.spark.sql.parquet.row.metadata` (Spark). Metadata of pandas is
//! copied as it is; pandas reads columns that it does not mention.
//!
//! | values | type in Parquet | type in `ARROW:schema` |
//! |---|---|---|
//! | words | `BYTE_ARRAY`, String | `dictionary<int32, string>` |
//! | numbers | `INT32` | `int32` |
//! | texts | `BYTE_ARRAY`, String | `string` |
//! | times | `INT64`, Timestamp in milliseconds | `timestamp[ms, UTC]` |
//! | flags | `BOOLEAN` | `bool` |
//! | doubles | `DOUBLE` | `double` |
//! | lists | `LIST` of `BYTE_ARRAY`, String | `list<string>` |
//!
//! See [`FieldKind`] for the values of each column and whether they may be null.

use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, FieldRef, Schema};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterVersion;
use parquet::schema::types::{Type, TypePtr};
use serde_json::json;

use crate::list::parquet::ParquetList;

use super::super::columns::{ColumnsError, Field, FieldKind, no_collision};
use super::version_of;

/// The key in a file's metadata for the account of a run.
pub const ACCOUNT_KEY: &str = "portcullis";

/// The column with the URLs of a text list.
pub const URL_COLUMN: &str = "url";

/// Returns the column of the URLs.
pub(super) fn url_field() -> FieldRef {
    ArrowField::new(URL_COLUMN, DataType::Utf8, false).into()
}

const SPARK_SCHEMA_KEY: &str = "org.apache.spark.sql.parquet.row.metadata";

/// The schema and metadata of an output.
#[derive(Clone, Debug)]
pub struct Template {
    pub(super) schema: TypePtr,
    pub(super) metadata: Vec<KeyValue>,
    pub(super) version: WriterVersion,
    pub(super) sorting: Option<Vec<SortingColumn>>,
    pub(super) has_page_index: bool,
    /// The input whose columns come first.
    list: Option<Arc<ParquetList>>,
}

impl Template {
    /// Returns an output with the columns of `list` and then `added`.
    ///
    /// # Errors
    ///
    /// If an added column has the name of a column of the list.
    pub fn from_list(list: &Arc<ParquetList>, added: &[Field]) -> Result<Template, ColumnsError> {
        no_collision(&list.column_names(), added)?;
        let metadata = &list.source.metadata;
        let file = metadata.file_metadata();
        let key_values = file.key_value_metadata().into_iter().flatten();
        let groups = metadata.row_groups();
        let sorting = groups.first().and_then(|group| group.sorting_columns().cloned());
        let is_sorted = groups.iter().all(|group| group.sorting_columns() == sorting.as_ref());
        let has_page_index = groups
            .iter()
            .flat_map(|group| group.columns())
            .any(|chunk| chunk.offset_index_offset().is_some());
        Ok(Template {
            schema: with_columns(file.schema(), added),
            metadata: key_values.map(|it| with_fields(it, added)).collect(),
            version: version_of(list),
            sorting: sorting.filter(|_| is_sorted),
            has_page_index,
            list: Some(Arc::clone(list)),
        })
    }

    /// Returns an output with the column `url` and then `added`.
    ///
    /// # Errors
    ///
    /// If an added column is called `url`.
    pub fn from_urls(added: &[Field]) -> Result<Template, ColumnsError> {
        no_collision(&[URL_COLUMN], added)?;
        Ok(Template::encoded(vec![url_field()], added))
    }

    /// Returns an output of rows that stand alone, with these columns.
    pub fn from_rows(fields: &[Field]) -> Template {
        Template::encoded(Vec::new(), fields)
    }

    /// Returns an output whose columns are all encoded: `own`, then `added`.
    fn encoded(own: Vec<FieldRef>, added: &[Field]) -> Template {
        let schema = with_columns(&schema_of(&own), added);
        let arrow = encode_arrow_schema(&Schema::new(own));
        let arrow = KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), arrow);
        Template {
            schema,
            metadata: vec![with_fields(&arrow, added)],
            version: WriterVersion::PARQUET_1_0,
            sorting: None,
            has_page_index: true,
            list: None,
        }
    }

    /// Checks that the records of a list called `name` fit the output. `list` is the file, if the
    /// list is Parquet.
    ///
    /// # Errors
    ///
    /// If the columns of the list differ from the output's.
    pub fn check(&self, name: &str, list: Option<&ParquetList>) -> Result<(), String> {
        let schema = |list: &ParquetList| {
            list.source.metadata.file_metadata().schema().get_fields().to_vec()
        };
        let is_same = self.list.as_deref().map(schema) == list.map(schema);
        let problem = "its columns differ from the lists before it; write one output per list";
        is_same.then_some(()).ok_or_else(|| format!("{name}: {problem} with ‹out_dir›"))
    }

    /// Returns a key for the account that is not in the metadata, so that an earlier run keeps its
    /// account.
    pub(super) fn account_key(&self) -> String {
        let is_free = |key: &String| self.metadata.iter().all(|it| it.key != *key);
        let more = (2..).map(|number| format!("{ACCOUNT_KEY}.{number}"));
        let mut keys = std::iter::once(ACCOUNT_KEY.to_owned()).chain(more);
        keys.find(is_free).expect("there are more numbers than keys")
    }
}

/// Returns a schema with more columns after its own.
fn with_columns(root: &Type, added: &[Field]) -> TypePtr {
    let added: Vec<FieldRef> = added.iter().map(|it| it.arrow(DataType::Int8).into()).collect();
    let mut fields = root.get_fields().to_vec();
    fields.extend_from_slice(schema_of(&added).get_fields());
    let root = Type::group_type_builder(root.name()).with_fields(fields).build();
    Arc::new(root.expect("columns with names are a schema"))
}

/// Returns the schema of columns in Parquet.
pub(super) fn schema_of(fields: &[FieldRef]) -> TypePtr {
    let schema = ArrowSchemaConverter::new()
        .schema_root("schema")
        .convert(&Schema::new(fields.to_vec()))
        .expect("Parquet has the types of all columns");
    schema.root_schema_ptr()
}

/// Returns the same metadata, with the added columns if it describes the schema.
fn with_fields(pair: &KeyValue, added: &[Field]) -> KeyValue {
    if added.is_empty() {
        return pair.clone();
    }
    let described = match (pair.key.as_str(), pair.value.as_deref()) {
        (ARROW_SCHEMA_META_KEY, Some(value)) => arrow_with(value, added),
        (SPARK_SCHEMA_KEY, Some(value)) => spark_with(value, added),
        _ => None,
    };
    // Metadata that cannot be read here cannot be read by others either.
    KeyValue { key: pair.key.clone(), value: described.or_else(|| pair.value.clone()) }
}

/// Returns an Arrow schema in IPC form with more fields.
fn arrow_with(encoded: &str, added: &[Field]) -> Option<String> {
    let bytes = BASE64_STANDARD.decode(encoded).ok()?;
    let bytes = match bytes.split_at_checked(8) {
        Some(([0xff, 0xff, 0xff, 0xff, ..], message)) => message,
        _ => &bytes,
    };
    let schema = arrow_ipc::convert::try_schema_from_flatbuffer_bytes(bytes).ok()?;
    let own = schema.fields().iter().cloned();
    let fields: Vec<_> =
        own.chain(added.iter().map(|it| Arc::new(it.arrow(DataType::Int32)))).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    Some(encode_arrow_schema(&schema))
}

/// Returns a schema in Spark's format with more fields.
fn spark_with(text: &str, added: &[Field]) -> Option<String> {
    let mut schema: serde_json::Value = serde_json::from_str(text).ok()?;
    let fields = schema.get_mut("fields")?.as_array_mut()?;
    for field in added {
        let nullable = field.has_gaps;
        let data_type = match field.kind {
            FieldKind::Word(_) | FieldKind::Text => json!("string"),
            FieldKind::List => {
                json!({"type": "array", "elementType": "string", "containsNull": false})
            }
            FieldKind::Flag => json!("boolean"),
            FieldKind::Double => json!("double"),
            FieldKind::Number => json!("integer"),
            FieldKind::Time => json!("timestamp"),
        };
        fields.push(json!({
            "name": field.name, "type": data_type, "nullable": nullable, "metadata": {},
        }));
    }
    Some(schema.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::super::columns::Columns;
    use super::*;

    #[test]
    fn the_schema_of_spark_has_the_columns_too() {
        let fields = "verdict,line".parse::<Columns>().unwrap().fields(&["Bot"], "").unwrap();
        let own = r#"{"type":"struct","fields":[{"name":"url","type":"string","nullable":true,"metadata":{}}]}"#;
        let with = spark_with(own, &fields).unwrap();
        let with: serde_json::Value = serde_json::from_str(&with).unwrap();
        assert_eq!(with["fields"][0]["name"], "url");
        assert_eq!(with["fields"][1]["name"], "Bot");
        assert_eq!(with["fields"][1]["type"], "string");
        assert_eq!(with["fields"][2]["type"], "integer");
        assert_eq!(spark_with("no JSON", &fields), None);
    }
}
