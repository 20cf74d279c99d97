//! Finds the column with the URLs or the times of a table by the names of its columns.

use super::ListFormat;
use crate::limits::LIST_FIELDS_SHOWN;

/// Names of columns and members that hold a URL, in any case, in every format. The first that exists
/// counts.
pub(crate) const URL_NAMES: [&str; 4] = ["url", "address", "loc", "uri"];

/// What a column is wanted for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnOf {
    pub noun: &'static str,
    /// The flag that names the column.
    pub flag: &'static str,
}

impl ColumnOf {
    pub const URL: ColumnOf = ColumnOf { noun: "URL", flag: "--column" };
    pub const TIME: ColumnOf = ColumnOf { noun: "time", flag: "--at-column" };
    pub const AGENT: ColumnOf = ColumnOf { noun: "agent", flag: "--agent-column" };
    pub const HOST: ColumnOf = ColumnOf { noun: "host", flag: "--host-column" };
}

/// A column of a table.
pub(crate) struct TableColumn {
    /// The position of the column, from 0.
    pub place: usize,
    /// Whether the column was found by its name, not by its number.
    pub is_named: bool,
    /// Another column with the name.
    other: Option<usize>,
}

impl TableColumn {
    /// Finds the column called `given`, or with that number, counted from 1; by default the first of
    /// the usual names that a column has. `None` if there is none.
    pub fn find(names: &[impl AsRef<[u8]>], given: Option<&str>) -> Option<TableColumn> {
        let called = |is: &dyn Fn(&[u8]) -> bool| {
            let mut found =
                (0..names.len()).filter(|&place| is(names[place].as_ref().trim_ascii()));
            let place = found.next()?;
            Some(TableColumn { place, is_named: true, other: found.next() })
        };
        let Some(given) = given else {
            let usual = |usual: &&str| called(&|name| name.eq_ignore_ascii_case(usual.as_bytes()));
            return URL_NAMES.iter().find_map(usual);
        };
        called(&|name| name == given.as_bytes()).or_else(|| {
            let place = given.parse::<usize>().ok()?.checked_sub(1)?;
            (place < names.len()).then_some(TableColumn::at(place))
        })
    }

    /// Returns the column at a position.
    pub fn at(place: usize) -> TableColumn {
        TableColumn { place, is_named: false, other: None }
    }

    /// Returns the position of the column. The error says that two columns have its name.
    pub fn only(&self, names: &[impl AsRef<[u8]>], of: ColumnOf) -> Result<usize, String> {
        let Some(other) = self.other else { return Ok(self.place) };
        let name = |place: usize| String::from_utf8_lossy(names[place].as_ref().trim_ascii());
        Err(format!(
            "the columns {} and {} are called `{}` and `{}`; name the one with the {} by its number \
             with {}",
            self.place + 1,
            other + 1,
            name(self.place),
            name(other),
            of.noun,
            of.flag
        ))
    }

    /// Returns the problem of a table without the column.
    pub fn missing(names: &[impl AsRef<[u8]>], given: Option<&str>, of: ColumnOf) -> String {
        let problem = match given {
            Some(column) => format!("no column `{column}`"),
            None => format!("no column is called {}", URL_NAMES.join(", ")),
        };
        TableColumn::instead(&problem, names, of)
    }

    /// Returns the problem of a table for which a field of objects is named.
    pub fn no_field(names: &[impl AsRef<[u8]>], format: ListFormat) -> String {
        let problem = format!("{} has no fields", format.describe());
        TableColumn::instead(&problem, names, ColumnOf::URL)
    }

    fn instead(problem: &str, names: &[impl AsRef<[u8]>], of: ColumnOf) -> String {
        let columns = listed(names.iter().map(|name| String::from_utf8_lossy(name.as_ref())));
        format!(
            "{problem}; its columns are {columns}; name the one with the {} with {} NAME or its number",
            of.noun, of.flag
        )
    }
}

/// Formats the first few names in quotes.
pub(super) fn listed(names: impl ExactSizeIterator<Item = impl AsRef<str>>) -> String {
    let rest = names.len().saturating_sub(LIST_FIELDS_SHOWN);
    let shown: Vec<String> =
        names.take(LIST_FIELDS_SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    match rest {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}
