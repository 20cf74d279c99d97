//! What servers send instead of a robots.txt.

/// Returns whether a file that states nothing is a page: markup or JSON by its first characters, or
/// binary data: gzip or zstd, a NUL, or more than one control character in 32 bytes.
pub fn is_page(text: &[u8]) -> bool {
    let is_space = |byte: u8| b" \t\r\n\x0b\x0c".contains(&byte) || b"\xef\xbb\xbf".contains(&byte);
    let mut visible = text.iter().copied().skip_while(|&byte| is_space(byte));
    let first = visible.next();
    let second = visible.find(|byte| !byte.is_ascii_whitespace());
    let is_markup = match first {
        Some(b'<') => true,
        Some(b'{') => matches!(second, None | Some(b'"' | b'}')),
        Some(b'[') => match second {
            Some(byte) => byte.is_ascii_digit() || b"{[\"]-".contains(&byte),
            None => false,
        },
        _ => false,
    };
    let is_control = |byte: &&u8| **byte < 32 && !(9..=13).contains(*byte);
    let controls = text.iter().filter(is_control).count();
    let is_compressed = text.starts_with(b"\x1f\x8b") || text.starts_with(b"\x28\xb5\x2f\xfd");
    is_markup || is_compressed || text.contains(&0) || controls * 32 > text.len()
}
