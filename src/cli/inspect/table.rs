//! Tables in plain text: the first column to the left, numbers to the right.

use std::io::{self, Write};

use portcullis::report::explanation::write_shown;

/// A table in the making.
pub struct Table {
    /// The names of the columns, then the rows.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose columns have these names; the first one names the rows, and so the table.
    pub fn new(columns: &[&str]) -> Table {
        Table { rows: vec![columns.iter().map(|&column| column.to_owned()).collect()] }
    }

    /// Adds a row. One that is shorter than the names of the columns ends early.
    pub fn push(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        let mut row = vec![name.into()];
        row.extend(cells);
        self.rows.push(row);
    }

    /// Writes it and an empty line before it; nothing if it has no row.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.len() < 2 {
            return Ok(());
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        out.write_all(b"\n")?;
        for (number, row) in self.rows.iter().enumerate() {
            let indent = if number == 0 { "" } else { "  " };
            let mut line = format!("{indent}{:<1$}", row[0], widths[0] + 2 - indent.len());
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                line += &format!("  {cell:>width$}");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Octets of a file as text that does nothing to a terminal.
pub fn shown(octets: &[u8]) -> String {
    let mut out = Vec::new();
    write_shown(octets, &mut out).expect("a vector takes all octets");
    String::from_utf8(out).expect("what is no text is escaped")
}

/// A share of a whole, in percent.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => String::new(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_have_to_be() {
        let mut table = Table::new(&["states", "origins", ""]);
        assert_eq!(written(&table), "");
        table.push("rules", ["1234567890".to_owned(), share(1, 3)]);
        table.push("unavailable", ["7".to_owned()]);
        assert_eq!(
            written(&table),
            "\nstates            origins\n  rules        1234567890  33.3 %\n  unavailable           7\n"
        );
    }

    fn written(table: &Table) -> String {
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(shown("ä\u{1b}[1m".as_bytes()), "ä\\u{1b}[1m");
        assert_eq!(shown(b"a\xff"), "a\\xff");
    }
}
