//! The path of a URL in the form that rules are compared with.

use crate::dialect::Escapes;
use crate::escape::normalise;

/// What rules are compared with: `path` in the normal form of `escapes`, with `/` in front of it if
/// it starts with anything else, so that an empty path is `/` and `?q` is `/?q`.
///
/// The answer is `path` itself if it has that form already, else it is in `scratch`.
///
/// ```
/// use portcullis::dialect::Escapes;
/// use portcullis::target::compared_path;
///
/// let mut scratch = Vec::new();
/// assert_eq!(compared_path(b"", Escapes::Uri, &mut scratch), b"/");
/// assert_eq!(compared_path(b"?a b", Escapes::Uri, &mut scratch), b"/?a%20b");
/// ```
#[inline]
pub fn compared_path<'a>(path: &'a [u8], escapes: Escapes, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    match path.first() {
        Some(b'/') => normalise(path, escapes, scratch),
        None => b"/",
        Some(_) => rooted(path, escapes, scratch),
    }
}

/// The normal form of `path` with `/` in front of it.
#[cold]
fn rooted<'a>(path: &[u8], escapes: Escapes, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let rewritten = !std::ptr::eq(normalise(path, escapes, scratch), path);
    if rewritten {
        scratch.insert(0, b'/');
    } else {
        scratch.clear();
        scratch.push(b'/');
        scratch.extend_from_slice(path);
    }
    scratch
}
