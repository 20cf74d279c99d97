//! The small head of an input: bytes that choose, and lines.

use portcullis_dialect::dialect::Dialect;

/// The dialect that the first byte of `data` chooses (`0` to `4`, the oldest first), and the rest.
pub(crate) fn dialect(data: &[u8]) -> Option<(&'static Dialect, &[u8])> {
    let (&choice, rest) = data.split_first()?;
    let number = usize::from(choice.wrapping_sub(b'0')) % Dialect::ALL.len();
    Some((Dialect::ALL[number], rest))
}

/// What a byte says about the limit on a file: `*` that there is none, any other how much of
/// `bytes` is read, so that small inputs reach the limit too. `0` reads nothing.
pub(crate) fn bytes_max(choice: u8, bytes: usize) -> Option<usize> {
    const WHOLE: usize = 64;
    (choice != b'*').then(|| bytes * usize::from(choice.wrapping_sub(b'0')) / WHOLE)
}

/// The first line of `data`, which LF ends, and what follows it.
pub(crate) fn line(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((&data[..end], &data[end + 1..]))
}
