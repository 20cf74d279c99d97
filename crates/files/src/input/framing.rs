//! Finds record ends, for the thread that cuts an input into chunks.
//!
//! Cost of finding the last end in a window: one `memrchr` for lines, a search for the last empty
//! line in a dump, and one pass over quotes and line ends for CSV, whose quotes can only be read
//! forwards.

/// The byte that ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminator {
    /// LF, or CR LF.
    #[default]
    LineFeed,
    /// NUL, as `find -print0` writes; CR and LF are part of the record.
    Nul,
}

impl Terminator {
    /// Returns the byte.
    pub const fn byte(self) -> u8 {
        match self {
            Terminator::LineFeed => b'\n',
            Terminator::Nul => 0,
        }
    }
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A byte at any position.
    Byte(Terminator),
    /// LF outside a quoted field.
    Quoted {
        /// The byte between fields.
        delimiter: u8,
    },
    /// An empty line.
    EmptyLine,
}

impl Framing {
    /// Returns the end of the last whole record in `bytes`, which begin at a record. 0 if no record
    /// ends. Rows from a [stray quote](Framing::stray_quote) on do not count.
    pub fn last_end(self, bytes: &[u8]) -> usize {
        match self {
            Framing::Byte(terminator) => {
                memchr::memrchr(terminator.byte(), bytes).map_or(0, |at| at + 1)
            }
            Framing::Quoted { delimiter } => {
                let mut rows = RowEnds::new(bytes, delimiter);
                let mut ends = std::iter::from_fn(|| rows.next().filter(|_| rows.stray.is_none()));
                ends.by_ref().last().unwrap_or(0)
            }
            Framing::EmptyLine => memchr::memrchr_iter(b'\n', bytes)
                .find(|&at| is_empty_line(bytes, at))
                .map_or(0, |at| at + 1),
        }
    }

    /// Returns the end of the first record in `bytes`, or `None` if it does not end there.
    pub fn first_end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Framing::Byte(terminator) => memchr::memchr(terminator.byte(), bytes).map(|at| at + 1),
            Framing::Quoted { delimiter } => RowEnds::new(bytes, delimiter).next(),
            Framing::EmptyLine => memchr::memchr_iter(b'\n', bytes)
                .find(|&at| is_empty_line(bytes, at))
                .map(|at| at + 1),
        }
    }

    /// Returns the position of the first quote in `bytes` that RFC 4180 does not allow there: within a
    /// field that does not begin with one, or with text after it that closes a field. In a table whose
    /// quotes are escaped in another way, the text of a field could pass for rows from there on.
    pub fn stray_quote(self, bytes: &[u8]) -> Option<usize> {
        let Framing::Quoted { delimiter } = self else { return None };
        let mut rows = RowEnds::new(bytes, delimiter);
        while rows.stray.is_none() && rows.next().is_some() {}
        rows.stray
    }

    /// Returns the bytes that a record ending with `tail` lacks at its end.
    pub fn missing_end(self, tail: &[u8]) -> &'static [u8] {
        match self {
            _ if tail.is_empty() => b"",
            Framing::Byte(Terminator::Nul) if tail.ends_with(b"\0") => b"",
            Framing::Byte(Terminator::Nul) => b"\0",
            Framing::EmptyLine if is_empty_line(tail, tail.len() - 1) => b"",
            Framing::EmptyLine if !tail.ends_with(b"\n") => b"\n\n",
            Framing::EmptyLine => b"\n",
            _ if tail.ends_with(b"\n") => b"",
            _ => b"\n",
        }
    }
}

/// Whether the byte at `at` is LF and ends an empty line.
fn is_empty_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' && matches!(&bytes[..at], [] | [b'\r'] | [.., b'\n'] | [.., b'\n', b'\r'])
}

/// Returns the first record of a dump with its end, the empty line after it.
pub fn dump_record(rest: &[u8]) -> Option<(&[u8], u8)> {
    let whole = &rest[..Framing::EmptyLine.first_end(rest).unwrap_or(rest.len())];
    let text = whole.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
    (!whole.is_empty()).then(|| (whole, u8::try_from(whole.len() - text).unwrap_or(0)))
}

/// An iterator over the ends of rows: each LF outside a quoted field.
///
/// A quote opens a field only at its start, as in RFC 4180; elsewhere it is a stray one.
struct RowEnds<'b> {
    bytes: &'b [u8],
    delimiter: u8,
    at: usize,
    /// The first stray quote up to the last end.
    stray: Option<usize>,
}

impl<'b> RowEnds<'b> {
    fn new(bytes: &'b [u8], delimiter: u8) -> RowEnds<'b> {
        RowEnds { bytes, delimiter, at: 0, stray: None }
    }

    /// Whether a field may end at a position: before a delimiter or a line end.
    fn ends_field(&self, at: usize) -> bool {
        match self.bytes[at..] {
            [] | [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..] => true,
            [byte, ..] => byte == self.delimiter,
        }
    }
}

impl Iterator for RowEnds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            let found = self.at + memchr::memchr2(b'"', b'\n', &self.bytes[self.at..])?;
            self.at = found + 1;
            if self.bytes[found] == b'\n' {
                return Some(self.at);
            }
            let before = found.checked_sub(1).map(|before| self.bytes[before]);
            let stray = match before.is_none_or(|byte| byte == self.delimiter || byte == b'\n') {
                true => {
                    self.at = quoted_end(self.bytes, self.at).unwrap_or(self.bytes.len());
                    (!self.ends_field(self.at)).then(|| self.at - 1)
                }
                false => Some(found),
            };
            self.stray = self.stray.or(stray);
        }
    }
}

/// Returns the position after the closing quote of a field whose content begins at `start`, or
/// `None` if the field is not closed.
pub fn quoted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let quote = at + memchr::memchr(b'"', &bytes[at..])?;
        if bytes.get(quote + 1) != Some(&b'"') {
            return Some(quote + 1);
        }
        at = quote + 2;
    }
}
