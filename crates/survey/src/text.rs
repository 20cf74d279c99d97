//! Texts of files and named values, as JSON and tables show them.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::ops::Index;

use portcullis_robots::visible::{cut_to_show, visible};
use serde::{Serialize, Serializer};

/// Bytes from a file or a URL. JSON replaces bytes that are not UTF-8; tables and pages escape them
/// and all hidden characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub Vec<u8>);

impl Text {
    /// Returns a text for display, cut if it is long.
    pub fn cut(bytes: &[u8]) -> Text {
        Text(cut_to_show(bytes).into_owned())
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Text {
        Text(bytes.to_vec())
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Display for Text {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        visible(&self.0).fmt(out)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.0))
    }
}

/// Values by name, in a defined order. In JSON, an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(Cow<'static, str>, T)>);

impl<T> Named<T> {
    /// Returns the value of each key under its name.
    pub fn of<K: Copy>(
        keys: impl IntoIterator<Item = K>,
        name: impl Fn(K) -> &'static str,
        value: impl Fn(K) -> T,
    ) -> Named<T> {
        Named(keys.into_iter().map(|key| (name(key).into(), value(key))).collect())
    }
}

impl<T> Index<&str> for Named<T> {
    type Output = T;

    /// # Panics
    ///
    /// If no value has this name.
    fn index(&self, name: &str) -> &T {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value).expect("the name is one of the map's")
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
