//! Counts by name.

use std::fmt::{self, Display, Formatter};

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Figures by name, in their own order: an object in JSON, and a list as text, from which those that are
/// 0 are left out.
///
/// ```
/// use portcullis::report::Figures;
///
/// let figures = Figures::of(["a", "bb", ""], |name| name, |name| name.len() as u64);
/// assert_eq!(figures.to_string(), "a 1, bb 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures(pub Vec<(&'static str, u64)>);

impl Figures {
    /// The figure of each item under its name.
    pub fn of<T: Copy>(
        items: impl IntoIterator<Item = T>,
        name: impl Fn(T) -> &'static str,
        figure: impl Fn(T) -> u64,
    ) -> Figures {
        Figures(items.into_iter().map(|item| (name(item), figure(item))).collect())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, figure) in &self.0 {
            map.serialize_entry(name, figure)?;
        }
        map.end()
    }
}

impl Display for Figures {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (name, figure) in self.0.iter().filter(|&&(_, figure)| figure > 0) {
            write!(formatter, "{before}{name} {figure}")?;
            before = ", ";
        }
        Ok(())
    }
}
