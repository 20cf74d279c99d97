//! Tables in plain text: the first column to the left, numbers to the right.

use std::io::{self, Write};

use portcullis::limits::TABLE_CELL_CHARACTERS_MAX;
use portcullis::visible::{cut_characters, visible};

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

    /// Adds a row. One that is shorter than the names of the columns ends early, and cells that are
    /// longer than [`TABLE_CELL_CHARACTERS_MAX`] are cut.
    pub fn push(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        let row = [name.into()].into_iter().chain(cells);
        let cut = |cell: String| cut_characters(&cell, TABLE_CELL_CHARACTERS_MAX).into_owned();
        self.rows.push(row.map(cut).collect());
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

/// Text of a file as people may see it.
pub fn shown(text: &[u8]) -> String {
    visible(text).to_string()
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
    fn long_cells_are_cut() {
        let mut table = Table::new(&["robot", "groups"]);
        table.push("a".repeat(70_000), ["b".repeat(70_000)]);
        let lines: Vec<usize> = written(&table).lines().map(|line| line.chars().count()).collect();
        assert_eq!(
            lines,
            [0, 2 * TABLE_CELL_CHARACTERS_MAX + 4, 2 * TABLE_CELL_CHARACTERS_MAX + 4]
        );
    }
}
