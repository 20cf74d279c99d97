//! Records that share a line, in text that has lost its line ends. Dialects read all of the line as one record.

/// The fields of the records that decide access. The text before the first may be any; that before `allow` is
/// white space, because a path may have the word.
const FIELDS: [&[u8]; 3] = [b"user-agent:", b"disallow:", b"allow:"];

/// Returns the positions in a line at which records of access seem to begin.
///
/// ```
/// use portcullis_robots::syntax::joined_records;
///
/// let starts = |line: &str| joined_records(line.as_bytes()).collect::<Vec<_>>();
/// assert_eq!(starts("User-agent: * Disallow: /a Allow: /b"), [0, 14, 27]);
/// assert_eq!(starts("# made by x User-Agent: *Disallow: /"), [12, 25]);
/// assert_eq!(starts("Disallow: /allow:x"), [0]);
/// ```
pub fn joined_records(line: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b':', line).filter_map(|colon| {
        let text = &line[..=colon];
        let is = |field: &&[u8]| {
            let end = text.len().checked_sub(field.len()).map(|start| &text[start..]);
            end.is_some_and(|end| end.eq_ignore_ascii_case(field))
        };
        let field = FIELDS.into_iter().find(is)?;
        let start = text.len() - field.len();
        let before = start.checked_sub(1).map(|at| line[at]);
        let stands_alone = field != b"allow:" || before.is_none_or(|it| b" \t".contains(&it));
        stands_alone.then_some(start)
    })
}
