//! CSV as RFC 4180 has it: the columns of the input, then the added columns, below a header.
//!
//! A field is quoted if it has a comma, a quote, CR or LF, and lines end with CR LF. Bytes that are not UTF-8
//! are written as they are. A value that there is none of is an empty field. If the input has no columns, its
//! only column is `url`.

use super::columns::{Columns, Field};
use super::{Decided, Format};
use csv_core::{Writer, quote};
use portcullis_set::Damage;

/// The end of a line.
const END: &[u8] = b"\r\n";

/// The column of an input without columns.
pub const URL: &str = "url";

/// Rows with the URL and these columns.
#[derive(Clone, Debug)]
pub struct Csv<'a> {
    columns: &'a Columns,
    quoting: Quoting,
}

impl<'a> Csv<'a> {
    /// Rows with these added columns.
    pub fn new(columns: &'a Columns) -> Csv<'a> {
        Csv { columns, quoting: Quoting::default() }
    }

    /// Returns the header for an input with these columns.
    pub fn header(&self, input: &[impl AsRef<[u8]>], added: &[Field]) -> Vec<u8> {
        let mut out = Vec::new();
        let names = input.iter().map(AsRef::as_ref);
        for name in names.chain(added.iter().map(|field| field.name.as_bytes())) {
            if !out.is_empty() {
                out.push(b',');
            }
            self.quoting.push(name, &mut out);
        }
        out.extend_from_slice(END);
        out
    }
}

impl Format for Csv<'_> {
    fn write(&self, mut record: Decided<'_, '_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        self.quoting.push(record.url, out);
        record.for_each_value(self.columns, |value| {
            out.push(b',');
            self.quoting.push(value, out);
        })?;
        out.extend_from_slice(END);
        Ok(())
    }
}

/// Which fields are quoted.
#[derive(Clone, Debug, Default)]
pub struct Quoting(Writer);

impl Quoting {
    /// Appends a field, in quotes if it has a byte that would end it.
    pub fn push(&self, field: &[u8], out: &mut Vec<u8>) {
        if !self.0.should_quote(field) {
            return out.extend_from_slice(field);
        }
        let start = out.len();
        out.resize(start + 2 * field.len() + 2, b'"');
        // The output has room if every byte is a quote.
        let (_, _, written) = quote(field, &mut out[start + 1..], b'"', b'"', true);
        out.truncate(start + 1 + written);
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;
    use portcullis_capture::input::Terminator;

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
}
