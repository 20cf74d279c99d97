//! Lists of a report that show their first rows.

use serde::Serialize;

/// The first rows of an order, and the number of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The number of all rows.
    pub total: u64,
    pub rows: Vec<T>,
}
