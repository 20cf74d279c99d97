//! IPv4 addresses in the spellings that browsers read.

use std::net::Ipv4Addr;

/// The address that `host` spells: one to four numbers between dots, each decimal, octal (`0…`) or
/// hexadecimal (`0x…`), the last one filling all bytes that are left (URL Standard, section 3.5,
/// "IPv4 parser"). One final dot is no part of it.
pub(super) fn parse(host: &[u8]) -> Option<Ipv4Addr> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let mut address = 0_u32;
    let mut bytes_left = 4_u32;
    let mut parts = host.split(|&byte| byte == b'.').peekable();
    while let Some(part) = parts.next() {
        let number = number(part)?;
        let last = parts.peek().is_none();
        // A number before the last fills one byte, so three of them leave one for the last.
        let width = if last { bytes_left } else { 1 };
        if width == 0 || (!last && bytes_left == 1) || number >> (8 * width) != 0 {
            return None;
        }
        bytes_left -= width;
        address |= u32::try_from(number << (8 * bytes_left)).ok()?;
    }
    Some(Ipv4Addr::from(address))
}

/// A number of 32 bits at most. `0x` alone is zero, as in browsers; nothing at all is no number.
fn number(text: &[u8]) -> Option<u64> {
    let (digits, base) = match text {
        [] => return None,
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = char::from(digit).to_digit(base)?;
        let number = number * u64::from(base) + u64::from(digit);
        (number <= u64::from(u32::MAX)).then_some(number)
    })
}
