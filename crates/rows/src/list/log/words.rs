//! Words of a line: which may be hosts, clients and addresses.

use memchr::memrchr;

pub(in super::super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(in super::super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

/// Whether a word is the name of a host in the Internet, perhaps with a port.
pub(in super::super) fn is_host(word: &[u8]) -> bool {
    let port = memrchr(b':', word).unwrap_or(word.len());
    let (name, port) = word.split_at(port);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte) || *byte > 0x7f;
    let last = memrchr(b'.', name).map(|dot| &name[dot + 1..]);
    let is_suffix = |last: &[u8]| {
        last.len() >= 2 && last.iter().all(|it| it.is_ascii_alphabetic() || *it > 0x7f)
            || last.starts_with(b"xn--")
    };
    name.iter().all(is_part)
        && port.iter().skip(1).all(u8::is_ascii_digit)
        && !name.starts_with(b".")
        && last.is_some_and(is_suffix)
}

pub(in super::super) fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns a word without the port after it.
fn without_port(word: &[u8]) -> &[u8] {
    match memrchr(b':', word) {
        Some(colon) if is_number(&word[colon + 1..]) => &word[..colon],
        _ => word,
    }
}

/// Whether a word is an address, perhaps with a port.
pub(in super::super) fn is_address(word: &[u8]) -> bool {
    let is = |text: &[u8]| {
        std::str::from_utf8(text).is_ok_and(|text| text.parse::<std::net::IpAddr>().is_ok())
    };
    let name = without_port(word);
    let inside = name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]"));
    is(word) || is(inside.unwrap_or(name))
}

/// Whether a word may be the name of a machine, perhaps with a port. A number is none.
pub(super) fn is_name(word: &[u8]) -> bool {
    let name = without_port(word);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte) || *byte > 0x7f;
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte > 0x7f;
    name.iter().any(is_letter) && name.iter().all(is_part)
}

/// Whether a word may be the host of a request.
pub(super) fn is_host_name(word: &[u8]) -> bool {
    is_address(word) || is_name(word)
}

/// Returns a text from its first byte that is not a blank.
pub(super) fn without_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| is_blank(**byte)).count()..]
}
