//! Notes on odd, ignored or lost parts of a file.
//!
//! Notes never stop parsing and never change a decision; they report text that would otherwise be
//! lost silently. The same file gets different notes in different dialects.

use memchr::{memchr, memmem};

use super::Span;
use portcullis_dialect::{LineNumber, word_set, words};

/// A note on one line or, for some kinds, on the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Note {
    /// The kind of note.
    pub kind: NoteKind,
    /// The line; the first line for a note on the whole file.
    pub line: LineNumber,
    /// The bytes concerned: the line without its end, unless the kind says otherwise.
    pub span: Span,
}

words! {
    /// The kind of a note. [`NoteKind::describe`] names the problem and the fix.
    #[non_exhaustive]
    pub enum NoteKind {
        /// The file starts with a byte order mark, which was skipped. The span is the mark.
        ByteOrderMark = 0 => "byte-order-mark":
            "a byte order mark was skipped: save the file without it",
        /// The line has text but no separator between a field and a value; it was ignored.
        NoColon = 1 => "no-colon": "no colon: write `field: value`; the line is ignored",
        /// There is no field before the colon; the line was ignored.
        NoField = 2 => "no-field": "no field before the colon; the line is ignored",
        /// White space was read as the missing colon.
        WhiteSpaceForColon = 3 => "white-space-for-colon":
            "no colon: few crawlers accept white space instead",
        /// The field is neither known to the dialect nor a common extension; it was ignored.
        UnknownField = 4 => "unknown-field": "unknown field: it has no effect",
        /// The field is a misspelling that the dialect accepts.
        MisspeltField = 5 => "misspelt-field": "misspelt field: few crawlers accept it",
        /// The rule is outside every group; it was ignored.
        RuleOutsideGroup = 6 => "rule-outside-group":
            "a rule before the first user-agent line applies to no crawler",
        /// The rule's pattern can match no path. The span is the record.
        PatternNeverMatches = 7 => "pattern-never-matches":
            "the path pattern starts with neither '/' nor '*' and never matches",
        /// The line has a NUL. Depending on the dialect, the line or the text after the NUL was
        /// ignored; on a user-agent line the value before the NUL always counts.
        NulInLine = 8 => "nul-in-line": "a NUL byte: the line, or what follows in it, is ignored",
        /// The value has a control byte other than TAB. The line was ignored or, on a user-agent
        /// line, the value ends there.
        ControlInLine = 9 => "control-in-line":
            "a control character in the value: the line, or what follows in it, is ignored",
        /// The line is longer than the dialect reads; its end was ignored.
        LineCut = 10 => "line-cut": "the line is too long: its end is ignored",
        /// The file is longer than the limit. The span is the ignored part: from the limit, or from
        /// the start of the line that the limit cuts, to the end of the file.
        FileCut = 11 => "file-cut": "the file is longer than the limit: its end is ignored",
        /// The file states nothing and looks like HTML or XML, or has rules and certainly is HTML. The
        /// span is the file.
        LooksLikeHtml = 12 => "looks-like-html": "this looks like a web page, not like robots.txt",
        /// The file states nothing and looks like binary data. The span is the file.
        LooksBinary = 13 => "looks-binary": "this looks like binary data, not like robots.txt",
        /// The file states nothing and looks like JSON. The span is the file.
        LooksLikeJson = 14 => "looks-like-json": "this looks like JSON, not like robots.txt",
        /// A usage record does not state all that it names: it is Content-Usage outside every group, its value is
        /// not a dictionary, or a label in it has no preference. The span is the record.
        UsageIgnored = 15 => "usage-ignored":
            "a usage preference is named and not stated: Content-Usage needs a user-agent line before it and a \
             value such as `train-ai=n, search=y`, Content-Signal one such as `ai-train=no, search=yes`",
    }
}

impl NoteKind {
    /// The kinds of notes on files that look like something other than robots.txt.
    pub const APPEARANCES: [NoteKind; 3] =
        [NoteKind::LooksLikeHtml, NoteKind::LooksBinary, NoteKind::LooksLikeJson];

    /// The kinds of notes that concern the rules of the whole file: it looks like something else, or
    /// its end is ignored.
    pub const OF_FILES: [NoteKind; 4] = [
        NoteKind::LooksLikeHtml,
        NoteKind::LooksBinary,
        NoteKind::LooksLikeJson,
        NoteKind::FileCut,
    ];
}

word_set! {
    /// A set of kinds: the notes on one line.
    pub struct NoteSet of NoteKind
}

impl NoteSet {
    /// Returns whether the file looks like something other than robots.txt.
    pub fn is_page(self) -> bool {
        NoteKind::APPEARANCES.into_iter().any(|kind| self.contains(kind))
    }
}

/// Returns what a file that states nothing looks like, or `None` if it may be robots.txt. One pass.
pub fn appearance(text: &[u8]) -> Option<NoteKind> {
    /// A file without NUL is binary if it has more than one control byte in this many bytes. A
    /// stray one, such as the DOS end-of-file mark, is not enough; compressed data has about one in
    /// nine.
    const TEXT_BYTES_PER_CONTROL: usize = 32;
    /// Compressed text, which may be short and keep its words, and bytes as Python and databases show them.
    const ENCODED: [&[u8]; 5] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"b'", b"b\"", b"\\x"];
    let start = behind_space(text);
    // A string that is still in its quotes has escapes for its line ends.
    let is_string = start.starts_with(b"\"") && memmem::find(start, b"\\n").is_some();
    // In a loop that compilers vectorise.
    let is_control = |byte: u8| byte < b' ' && !(b'\t'..=b'\r').contains(&byte);
    let controls_in = |part: &[u8]| part.iter().map(|&byte| u8::from(is_control(byte))).sum::<u8>();
    let controls: usize = text.chunks(255).map(|part| usize::from(controls_in(part))).sum();
    let is_binary = ENCODED.iter().any(|it| text.starts_with(it))
        || memchr(0, text).is_some()
        || controls * TEXT_BYTES_PER_CONTROL > text.len();
    let is_else = is_string.then_some(NoteKind::LooksLikeJson);
    markup(start).or(is_else).or(is_binary.then_some(NoteKind::LooksBinary))
}

/// Returns whether text is certainly HTML by its first bytes, whatever its lines are read as.
pub fn begins_as_html(text: &[u8]) -> bool {
    let start = behind_space(text);
    [&b"<!doctype"[..], b"<html"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|first| first.eq_ignore_ascii_case(tag)))
}

/// Returns the note on text that begins like HTML, XML or JSON; `None` if it begins otherwise.
pub fn markup(text: &[u8]) -> Option<NoteKind> {
    let (first, rest) = text.split_first()?;
    match (first, rest.trim_ascii_start().first()) {
        (b'<', _) => Some(NoteKind::LooksLikeHtml),
        (b'{', None | Some(b'"' | b'}'))
        | (b'[', Some(b'{' | b'[' | b'"' | b']' | b'-' | b'0'..=b'9')) => {
            Some(NoteKind::LooksLikeJson)
        }
        _ => None,
    }
}

/// Returns the text after white space and byte order marks.
pub fn behind_space(first: &[u8]) -> &[u8] {
    let is_before = |byte: &u8| b" \t\r\n\x0b\x0c\xef\xbb\xbf".contains(byte);
    &first[first.iter().take_while(|byte| is_before(byte)).count()..]
}
