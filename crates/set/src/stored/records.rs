//! Whether what a set stores as records are records of files in its dialect.
//!
//! A set with right checksums may come from anywhere. A text that no file has, such as one with a
//! line end, would be read as other rules when it is compiled again.

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_robots::syntax::{Content, RobotsTxt, Span, read_others, records};

/// A line before each parsed text. Only the first line of a file may begin with a byte order mark,
/// so the text is parsed as the second line.
const LINE_BEFORE: &[u8] = b"#\n";

/// Returns whether each record of an extract is what a file of the dialect has. One parse per
/// record.
pub(crate) fn is_extract(extract: &[u8], dialect: &Dialect) -> bool {
    let Some(file) = RobotsTxt::read_extract(extract) else { return false };
    let mut line = Vec::new();
    let mut has = |span: Span, value: &[u8], field: Field| {
        let text = &extract[span.range()];
        field_of(text, value.len(), dialect, &mut line) == Some(Some(field))
    };
    file.user_agents().iter().all(|it| has(it.span, it.value, Field::UserAgent))
        && file.rules().iter().all(|it| {
            let allows = it.verdict == Verdict::Allow;
            has(it.span, it.value, if allows { Field::Allow } else { Field::Disallow })
        })
        && file.usage_records().iter().all(|it| has(it.span, it.value, it.field))
}

/// Like [`is_extract`], for the other records of a file, which are on lines of their own.
pub(crate) fn are_others(others: &[u8], dialect: &Dialect) -> bool {
    let mut line = Vec::new();
    let is_other = |text: &[u8], line: &mut Vec<u8>| field_of(text, 0, dialect, line) == Some(None);
    read_others(others).is_sorted_by(|(one, _), (next, _)| one < next)
        && read_others(others).all(|(_, text)| is_other(text, &mut line))
}

/// Returns the field of the record `text`; `None` inside if it does not affect decisions. `None`
/// outside if no file of the dialect contains it, or if its value has another length.
fn field_of(
    text: &[u8],
    value_bytes: usize,
    dialect: &Dialect,
    line: &mut Vec<u8>,
) -> Option<Option<Field>> {
    line.clear();
    line.extend_from_slice(LINE_BEFORE);
    line.extend_from_slice(text);
    let mut lines = records(line, dialect, None).skip(1);
    let Content::Record(read) = lines.next()?.content else { return None };
    if lines.next().is_some() || read.span.range() != (LINE_BEFORE.len()..line.len()) {
        return None;
    }
    let field = read.field.filter(|field| *field != Field::Sitemap);
    let expected = field.map_or(0, |_| read.value.len());
    (value_bytes == expected).then_some(field)
}
