//! The beginning of a list, by which its format and its columns are detected.

use super::layout::Layout;
use super::{List, ListConfig, ListFormat};
use crate::input::{Framing, Terminator};

/// How most lists end their records.
pub(super) const LINES: Framing = Framing::Byte(Terminator::LineFeed);

/// The beginning of a list in a format. The result is a [`List`] whose note has the choices made
/// without a flag, or `None` if more bytes must be read. Errors say what is wrong.
#[derive(Clone, Copy)]
pub(super) struct Look<'l> {
    pub name: &'l str,
    pub first: &'l [u8],
    /// The text, without a byte order mark and what was passed over.
    pub text: &'l [u8],
    pub is_whole: bool,
    pub format: ListFormat,
    pub config: &'l ListConfig,
}

impl Look<'_> {
    /// Returns a list of lines with this layout, whose records begin with the text.
    pub(super) fn with(&self, layout: Layout) -> List {
        let plain = List::plain(self.name, Terminator::LineFeed);
        let ListConfig { times, clients, .. } = self.config.clone();
        let hosts = self.config.hosts_in(self.format);
        List { format: self.format, layout, times, clients, hosts, head: self.head(0), ..plain }
    }

    /// Returns what is before the text, and its first bytes.
    pub(super) fn head(&self, bytes: usize) -> Vec<u8> {
        let mark = self.first.len() - self.text.len();
        self.first[..mark + bytes].to_vec()
    }
}
