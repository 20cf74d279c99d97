//! Texts of files, as JSON and tables show them.

use std::fmt::{self, Display, Formatter};

use portcullis_text::visible::{cut_to_show, visible};
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
