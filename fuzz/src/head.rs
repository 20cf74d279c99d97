//! Parses the small head of an input: selecting bytes, and lines.

use portcullis_dialect::dialect::Dialect;

/// Returns the dialect that the first byte of `data` selects (`0` to `4`, the oldest first), and
/// the rest.
pub(crate) fn dialect(data: &[u8]) -> Option<(&'static Dialect, &[u8])> {
    let (&choice, rest) = data.split_first()?;
    let number = usize::from(choice.wrapping_sub(b'0')) % Dialect::ALL.len();
    Some((Dialect::ALL[number], rest))
}

/// Returns the limit on a file that a byte selects. `*` means no limit. Any other byte selects a
/// share of `bytes`, so that small inputs reach the limit too; `0` means that no byte is read.
pub(crate) fn bytes_max(choice: u8, bytes: usize) -> Option<usize> {
    const WHOLE: usize = 64;
    (choice != b'*').then(|| bytes * usize::from(choice.wrapping_sub(b'0')) / WHOLE)
}

/// Returns the first line of `data`, without its LF, and the rest.
pub(crate) fn line(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((&data[..end], &data[end + 1..]))
}
