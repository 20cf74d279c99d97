//! Pages that servers send instead of a robots.txt, and remains of a file that was stored in another form.

/// Returns whether a file that states nothing is a page: markup, JSON, or anything but text.
pub fn is_page(text: &[u8]) -> bool {
    let is_space = |byte: &u8| b" \t\r\n\x0b\x0c\xef\xbb\xbf".contains(byte);
    let visible: Vec<u8> = text.iter().copied().skip_while(is_space).collect();
    is_markup(&visible) || is_quoted_text(&visible) || is_encoded(text) || is_binary(text)
}

/// Returns whether text begins like HTML, XML or JSON.
fn is_markup(text: &[u8]) -> bool {
    let second = text.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    match text.first() {
        Some(b'<') => true,
        Some(b'{') => matches!(second, None | Some(b'"' | b'}')),
        Some(b'[') => second.is_some_and(|it| it.is_ascii_digit() || b"{[\"]-".contains(it)),
        _ => false,
    }
}

/// Returns whether text is a string of JSON that has `\n` for its line ends.
fn is_quoted_text(text: &[u8]) -> bool {
    text.first() == Some(&b'"') && text.windows(2).any(|pair| pair == b"\\n")
}

/// Returns whether the file is compressed by gzip or zstd, or is bytes as Python (`b'…'`) or a database
/// (`\x…`) writes them.
fn is_encoded(text: &[u8]) -> bool {
    let begins =
        |magic: &[u8]| text.iter().zip(magic).filter(|(a, b)| a == b).count() == magic.len();
    begins(b"\x1f\x8b")
        || begins(b"\x28\xb5\x2f\xfd")
        || begins(b"b'")
        || begins(b"b\"")
        || begins(b"\\x")
}

/// Returns whether the file has a NUL, or more than one control character in 32 bytes.
fn is_binary(text: &[u8]) -> bool {
    let is_control = |byte: &&u8| **byte < 32 && !(9..=13).contains(*byte);
    let controls = text.iter().filter(is_control).count();
    text.contains(&0) || controls * 32 > text.len()
}
