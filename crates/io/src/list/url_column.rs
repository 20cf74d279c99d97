//! Finds the column with the URLs of a table by the names of its columns.

use portcullis_dialect::limits::LIST_FIELDS_SHOWN;

/// Names of columns and members that hold a URL, in any case, in every format. The first that exists
/// counts.
pub(crate) const URL_NAMES: [&str; 4] = ["url", "address", "loc", "uri"];

/// The column with the URLs.
pub(crate) struct UrlColumn {
    /// The position of the column, from 0.
    pub place: usize,
    /// Whether the column was found by its name, not by its number.
    pub is_named: bool,
    /// Another column with the name.
    other: Option<usize>,
}

impl UrlColumn {
    /// Finds the column called `given`, or with that number, counted from 1; by default the first of
    /// the usual names that a column has. `None` if there is none.
    pub fn find(names: &[impl AsRef<[u8]>], given: Option<&str>) -> Option<UrlColumn> {
        let called = |is: &dyn Fn(&[u8]) -> bool| {
            let mut found =
                (0..names.len()).filter(|&place| is(names[place].as_ref().trim_ascii()));
            let place = found.next()?;
            Some(UrlColumn { place, is_named: true, other: found.next() })
        };
        let Some(given) = given else {
            let usual = |usual: &&str| called(&|name| name.eq_ignore_ascii_case(usual.as_bytes()));
            return URL_NAMES.iter().find_map(usual);
        };
        called(&|name| name == given.as_bytes()).or_else(|| {
            let place = given.parse::<usize>().ok()?.checked_sub(1)?;
            (place < names.len()).then_some(UrlColumn::at(place))
        })
    }

    /// Returns the column at a position.
    pub fn at(place: usize) -> UrlColumn {
        UrlColumn { place, is_named: false, other: None }
    }

    /// Returns the position of the column. The error says that two columns have its name.
    pub fn only(&self, names: &[impl AsRef<[u8]>]) -> Result<usize, String> {
        let Some(other) = self.other else { return Ok(self.place) };
        let name = |place: usize| String::from_utf8_lossy(names[place].as_ref().trim_ascii());
        Err(format!(
            "the columns {} and {} are called `{}` and `{}`; name the one with the URL by its number \
             with --column",
            self.place + 1,
            other + 1,
            name(self.place),
            name(other)
        ))
    }

    /// Returns the problem of a table without the column.
    pub fn missing(names: &[impl AsRef<[u8]>], given: Option<&str>) -> String {
        let columns = listed(names.iter().map(|name| String::from_utf8_lossy(name.as_ref())));
        let wanted = match given {
            Some(column) => format!("no column `{column}`"),
            None => format!("no column is called {}", URL_NAMES.join(", ")),
        };
        format!(
            "{wanted}; its columns are {columns}; name the one with the URL with --column NAME or its \
             number"
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
