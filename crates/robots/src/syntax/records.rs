//! The lines of a file one after the other, each with what it is.

use super::lexer::Lexer;
use super::record::{Content, Line, LineReader};
use super::{NoteKind, NoteSet, Span};
use portcullis_dialect::dialect::Dialect;

/// The lines of `text`, read by `dialect`, without building any list.
///
/// `bytes_max` is the limit on the file's size in bytes (see
/// [`ROBOTS_BYTES_MAX`](portcullis_dialect::limits::ROBOTS_BYTES_MAX)). If it leaves something unread, the last
/// item says so: it is [`Content::Ignored`] with [`NoteKind::FileCut`], and its span is all that
/// was not read.
///
/// ```
/// use portcullis_dialect::dialect::{Field, RFC_9309};
/// use portcullis_robots::syntax::{Content, records};
///
/// let sitemaps = records(b"Sitemap: https://example.com/s.xml\n", &RFC_9309, None)
///     .filter(|line| {
///         matches!(line.content, Content::Record(record) if record.field == Some(Field::Sitemap))
///     })
///     .count();
/// assert_eq!(sitemaps, 1);
/// ```
pub fn records<'t>(text: &'t [u8], dialect: &Dialect, bytes_max: Option<usize>) -> Records<'t> {
    let lexer = Lexer::new(text, &dialect.lines, bytes_max);
    Records {
        reader: LineReader::new(lexer.text(), &dialect.lines),
        ignored: lexer.ignored(),
        lexer,
    }
}

/// The iterator that [`records`] gives.
#[derive(Clone, Debug)]
pub struct Records<'t> {
    lexer: Lexer<'t>,
    reader: LineReader,
    /// What is left to be reported as unread.
    ignored: Option<Span>,
}

impl<'t> Records<'t> {
    /// The byte order mark that was skipped.
    pub fn byte_order_mark(&self) -> Option<Span> {
        self.lexer.byte_order_mark()
    }

    /// The bytes within the limit, byte order mark included.
    pub(super) fn text(&self) -> &'t [u8] {
        self.lexer.text()
    }

    fn take_ignored(&mut self) -> Option<Line<'t>> {
        let span = self.ignored.take()?;
        Some(Line {
            number: self.lexer.number(),
            span,
            notes: NoteSet::EMPTY.with(NoteKind::FileCut),
            content: Content::Ignored,
        })
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Line<'t>;

    #[inline]
    fn next(&mut self) -> Option<Line<'t>> {
        match self.lexer.next() {
            Some(raw) => Some(self.reader.read(raw)),
            None => self.take_ignored(),
        }
    }
}
