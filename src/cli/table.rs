//! Tables in plain text. The first column is left-aligned; numbers are right-aligned.

use portcullis_dialect::limits::TABLE_CELL_CHARACTERS_MAX;
use portcullis_robots::visible::{cut_characters, visible};

/// Appends an empty line and a table. A table without rows is left out.
///
/// `heading` has the names of the columns, the first of which names the table. A row may end early.
/// Hidden characters are escaped, and cells longer than [`TABLE_CELL_CHARACTERS_MAX`] are cut.
pub fn push(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>, out: &mut String) {
    let cell = |text: &str| {
        let text = visible(text).to_string();
        cut_characters(&text, TABLE_CELL_CHARACTERS_MAX).into_owned()
    };
    let mut table: Vec<Vec<String>> = vec![heading.iter().map(|text| cell(text)).collect()];
    table.extend(rows.into_iter().map(|row| row.iter().map(|text| cell(text)).collect()));
    if table.len() < 2 {
        return;
    }
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    out.push('\n');
    for (number, row) in table.iter().enumerate() {
        let indent = if number == 0 { "" } else { "  " };
        let mut line = format!("{indent}{:<1$}", row[0], widths[0] + 2 - indent.len());
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Formats a share of a whole in percent. Empty if the whole is 0.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => String::new(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(heading: &[&str], rows: &[&[&str]]) -> String {
        let mut out = String::new();
        let row = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        push(heading, rows.iter().map(row), &mut out);
        out
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let heading = ["states", "origins", ""];
        assert_eq!(table(&heading, &[]), "");
        assert_eq!(
            table(&heading, &[&["rules", "1234567890", &share(1, 3)], &["unavailable", "7"]]),
            "\nstates            origins\n  rules        1234567890  33.3 %\n  unavailable           7\n"
        );
    }

    #[test]
    fn long_cells_are_cut() {
        let long = "a".repeat(70_000);
        let table = table(&["robot", "groups"], &[&[&long, &long]]);
        let lines: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
        let width = 2 * TABLE_CELL_CHARACTERS_MAX + 4;
        assert_eq!(lines, [0, width, width]);
    }
}
