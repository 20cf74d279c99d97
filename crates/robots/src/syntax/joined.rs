//! Records that share a line, in text that has lost its line ends. Dialects read all of the line as one record.

/// The fields of the records that decide access.
const FIELDS: [&[u8]; 3] = [b"user-agent:", b"disallow:", b"allow:"];

/// Returns the positions in a line at which records of access seem to begin.
///
/// ```
/// use portcullis_robots::syntax::joined_records;
///
/// let starts = |line: &str| joined_records(line.as_bytes()).collect::<Vec<_>>();
/// assert_eq!(starts("User-agent: * Disallow: /a Allow: /b"), [0, 14, 27]);
/// assert_eq!(starts("# made by x User-Agent: *Disallow: /"), [12, 25]);
/// assert_eq!(starts("Disallow: /User-agent: a"), [0, 11]);
/// assert_eq!(starts("User-agent:aDisallow:/b"), [0, 12]);
/// assert_eq!(starts("Disallow: /allow:x/user-agent:"), [0]);
/// ```
pub fn joined_records(line: &[u8]) -> impl Iterator<Item = usize> {
    let mut has_agent = false;
    memchr::memchr_iter(b':', line).filter_map(move |colon| {
        let text = &line[..=colon];
        let is = |field: &&[u8]| {
            let end = text.len().checked_sub(field.len()).map(|start| &text[start..]);
            end.is_some_and(|end| end.eq_ignore_ascii_case(field))
        };
        let field = FIELDS.into_iter().find(is)?;
        let start = text.len() - field.len();
        let is_blank = |it: &u8| b" \t".contains(it);
        // A path may have the word, and neither white space nor the end of a name.
        let before = start.checked_sub(1).map(|at| line[at]);
        let is_apart = before.is_none_or(|it| is_blank(&it) || it == b'*' && field != b"allow:");
        // The name of a crawler has none.
        let is_record = has_agent || is_apart || line.get(colon + 1).is_some_and(is_blank);
        has_agent |= is_record && field == FIELDS[0];
        is_record.then_some(start)
    })
}
