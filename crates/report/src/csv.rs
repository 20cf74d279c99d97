//! Writes CSV (RFC 4180): a header, then rows with the columns of the input and the added columns.
//!
//! A field is quoted if it has a comma, a quote, CR or LF, and lines end with CR LF. Bytes that are
//! not UTF-8 are written as they are. A missing value is an empty field.
//!
//! A row of a CSV or TSV list keeps its fields. An empty line, a row whose number of fields differs
//! from the header, and a row with bad quotes have their whole text in the column of the URL. Their
//! other columns are empty, so the added columns stay in place. Other lists have one column, `url`.

use std::borrow::Cow;

use super::columns::{Columns, Field};
use super::{Decided, Format};
use csv_core::{Writer, quote};
use portcullis_io::list::{Arena, List};
use portcullis_set::Damage;

/// The end of a line.
const END: &[u8] = b"\r\n";

/// The only column of lists that are not tables, and the URL column of a table without a header.
const URL: &[u8] = b"url";

/// Rows of a list with added columns.
#[derive(Clone, Debug)]
pub struct Csv<'a> {
    columns: &'a Columns,
    list: Option<&'a List>,
    quoting: Quoting,
}

impl<'a> Csv<'a> {
    /// Returns a format for rows with the URL and these columns.
    pub fn new(columns: &'a Columns) -> Csv<'a> {
        Csv { columns, list: None, quoting: Quoting::default() }
    }

    /// Returns the format for rows with the columns of `list`, if it is a table.
    #[must_use]
    pub fn of(&self, list: &'a List) -> Csv<'a> {
        Csv { list: list.url_column().map(|_| list), ..self.clone() }
    }

    /// Returns the header for an input with these columns.
    pub fn header(&self, input: &[impl AsRef<[u8]>], added: &[Field]) -> Vec<u8> {
        let mut out = Vec::new();
        let names = input.iter().map(AsRef::as_ref);
        for (number, name) in names.chain(added.iter().map(Field::name_bytes)).enumerate() {
            if number > 0 {
                out.push(b',');
            }
            self.quoting.push(name, &mut out);
        }
        out.extend_from_slice(END);
        out
    }

    fn push_row(&self, list: &List, record: &Decided<'_>, out: &mut Vec<u8>) {
        let (column, count) = list.url_column().unwrap_or((0, 1));
        let text = record.text;
        if record.problem.is_some() || text.trim_ascii().is_empty() {
            out.extend(std::iter::repeat_n(b',', column));
            self.quoting.push(text, out);
            out.extend(std::iter::repeat_n(b',', count - column - 1));
        } else if list.delimiter() == Some(b',') && !text.contains(&b'\r') {
            out.extend_from_slice(text);
        } else {
            for (number, field) in list.fields(text, &Arena::new()).enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                self.quoting.push(field, out);
            }
        }
    }
}

impl Format for Csv<'_> {
    fn write(&self, mut record: Decided<'_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        match self.list {
            Some(list) => self.push_row(list, &record, out),
            None => self.quoting.push(record.url, out),
        }
        record.for_each_value(self.columns, |value| {
            out.push(b',');
            self.quoting.push(value, out);
        })?;
        out.extend_from_slice(END);
        Ok(())
    }
}

/// Returns the names of the columns of a list: the names in its header, or numbers and `url`.
pub fn input_columns(list: &List) -> Vec<Cow<'_, [u8]>> {
    let Some((column, count)) = list.url_column() else { return vec![URL.into()] };
    if !list.columns().is_empty() {
        return list.columns().iter().map(|name| name.as_slice().into()).collect();
    }
    let name = |number: usize| match number == column {
        true => URL.into(),
        false => Cow::Owned(format!("column{}", number + 1).into_bytes()),
    };
    (0..count).map(name).collect()
}

/// Writes fields, in quotes if needed.
#[derive(Clone, Debug, Default)]
pub struct Quoting(Writer);

impl Quoting {
    /// Appends a field, in quotes if it contains a byte that would end it.
    pub fn push(&self, field: &[u8], out: &mut Vec<u8>) {
        if !self.0.should_quote(field) {
            return out.extend_from_slice(field);
        }
        let start = out.len();
        out.resize(start + 2 * field.len() + 2, b'"');
        // The output has room even if every byte is a quote.
        let (_, _, written) = quote(field, &mut out[start + 1..], b'"', b'"', true);
        out.truncate(start + 1 + written);
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{SCHEME, classifier, written};
    use crate::{Counts, Piece, Rejects, write_chunk};
    use portcullis_io::input::{ChunkConfig, OpenConfig, Source, Terminator};
    use portcullis_io::list::{ListConfig, Rows};
    use portcullis_set::batch::Session;
    use std::sync::Arc;

    #[test]
    fn rows() {
        let rows = |columns: &str, input: &[u8], expected: &[u8]| {
            let columns: Columns = columns.parse().unwrap();
            let (out, _) = written(input, Terminator::Nul, 1, &Csv::new(&columns));
            assert_eq!(bstr::BStr::new(&out), bstr::BStr::new(expected));
        };
        rows("verdict", b"a/\0d/\0\0", b"a/,allow\r\nd/,disallow\r\n,invalid\r\n");
        rows("verdict", b"a/1,2\0", b"\"a/1,2\",allow\r\n");
        rows("verdict", b"a/\"\0\"\"\0", b"\"a/\"\"\",allow\r\n\"\"\"\"\"\",invalid\r\n");
        rows("verdict", b"x \r\ny\0", b"\"x \r\ny\",invalid\r\n");
        rows("reason,rule,state", b"d/\xff\0", b"d/\xff,rule,/\xff,rules\r\n");
        rows("line,rule", b"u/\0", b"u/,,\r\n");
        rows("bits", b"a/\0u/\0", b"a/,1\r\nu/,unknown\r\n");
    }

    #[test]
    fn headers() {
        let columns = Columns::default();
        let fields = columns.fields(&["Bot", "A, \"B\""], "").unwrap();
        let header = Csv::new(&columns).header(&[URL], &fields);
        assert_eq!(header, b"url,Bot,\"A, \"\"B\"\"\"\r\n");
    }

    fn table(name: &str, bytes: &'static [u8], config: ListConfig) -> String {
        let classifier = Arc::new(classifier(&["a"], &["d"], 1));
        let columns: Columns = "verdict,reason".parse().unwrap();
        let source = Source::from_reader(name, bytes, OpenConfig::default());
        let chunks = source.list(ChunkConfig::default(), config);
        let (mut counts, mut out) = (Counts::new(1), Vec::new());
        for chunk in chunks.map(Result::unwrap) {
            let list = chunk.list();
            let csv = Csv::new(&columns);
            if chunk.is_first() {
                let fields = columns.fields(&["Bot"], "").unwrap();
                out.extend(csv.header(&input_columns(list), &fields));
            }
            let (arena, mut session) =
                (Arena::new(), Session::new(Arc::clone(&classifier), SCHEME));
            let mut rejects = Rejects::default();
            let mut rows = Rows::new(&chunk, &arena, 0);
            let piece = Piece::new(&mut rows, &mut rejects);
            write_chunk(piece, &csv.of(list), &mut session, &mut counts, &mut out).unwrap();
        }
        assert_eq!(counts.records, 7);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tables_keep_their_columns() {
        let expected = "n,url,\"x, y\",Bot,Bot_reason\r\n\
                        1,a/,p,allow,no-rule\r\n\
                        2,d/,\"p, \"\"q\"\"\n\",disallow,rule\r\n\
                        ,\"3,a/\",,invalid,bad-url\r\n\
                        ,\"4,a/,p,q\",,invalid,bad-url\r\n\
                        ,,,invalid,bad-url\r\n\
                        5,u/,,unknown,no-policy\r\n\
                        ,\"6,\"\"a/\"\"x,p\",,invalid,bad-url\r\n";
        let csv = b"n,url,\"x, y\"\r\n1,a/,p\n2,d/,\"p, \"\"q\"\"\n\"\n3,a/\n4,a/,p,q\n\n5,u/,\n6,\"a/\"x,p\n";
        assert_eq!(table("x.csv", csv, ListConfig::default()), expected);
        let tsv = b"n\turl\tx, y\r\n1\ta/\tp\n2\td/\t\"p, \"\"q\"\"\n\"\n3\ta/\n4\ta/\tp\tq\n\n5\tu/\t\n6\t\"a/\"x\tp\n";
        let expected = expected.replace("\"3,a/\"", "3\ta/").replace("\"4,a/,p,q\"", "4\ta/\tp\tq");
        let expected = expected.replace("\"6,\"\"a/\"\"x,p\"", "\"6\t\"\"a/\"\"x\tp\"");
        assert_eq!(table("x.tsv", tsv, ListConfig::default()), expected);
    }

    #[test]
    fn a_table_without_names_has_numbers() {
        let config = ListConfig { column: Some("2".into()), ..ListConfig::default() };
        let csv = b"1,https://a/,p\n2,d/,p\n3,d/,p\n4,d/,p\n5,d/,p\n6,d/,p\n7,d/,p\n";
        let printed = table("x.csv", csv, config);
        assert!(
            printed.starts_with("column1,url,column3,Bot,Bot_reason\r\n1,https://a/,p,allow"),
            "{printed}"
        );
    }
}
