//! The path of a URL in the form that rules are compared with.

use portcullis_dialect::dialect::Escapes;
use portcullis_matcher::escape::normalise;

/// A path in the normal form of a dialect, which patterns have too. It costs what
/// a slice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedPath<'p>(&'p [u8]);

impl<'p> ComparedPath<'p> {
    /// Wraps a path that is already in normal form. Nothing checks that; the decision on a path in any
    /// other form may be wrong.
    #[inline]
    pub const fn assume_normal(path: &'p [u8]) -> ComparedPath<'p> {
        ComparedPath(path)
    }

    /// The bytes of the path.
    #[inline]
    pub const fn as_bytes(self) -> &'p [u8] {
        self.0
    }
}

/// The paths of a block, each in normal form like a [`ComparedPath`]. They are plain slices, so a
/// block reads them in place.
#[derive(Clone, Copy, Debug)]
pub struct ComparedPaths<'b>(&'b [&'b [u8]]);

impl<'b> ComparedPaths<'b> {
    /// Wraps paths that are already in normal form, as [`ComparedPath::assume_normal`] does.
    #[inline]
    pub const fn assume_normal(paths: &'b [&'b [u8]]) -> ComparedPaths<'b> {
        ComparedPaths(paths)
    }

    /// The bytes of each path.
    #[inline]
    pub const fn as_slices(self) -> &'b [&'b [u8]] {
        self.0
    }
}

/// What rules are compared with: `path` in the normal form of `escapes`, with `/` in front of it if
/// it starts with anything else, so that an empty path is `/` and `?q` is `/?q`.
///
/// The answer is `path` itself if it has that form already, else it is in `scratch`.
///
/// ```
/// use portcullis_dialect::dialect::Escapes;
/// use portcullis_robots::target::compared_path;
///
/// let mut scratch = Vec::new();
/// assert_eq!(compared_path(b"", Escapes::Uri, &mut scratch).as_bytes(), b"/");
/// assert_eq!(compared_path(b"?a b", Escapes::Uri, &mut scratch).as_bytes(), b"/?a%20b");
/// ```
#[inline]
pub fn compared_path<'a>(
    path: &'a [u8],
    escapes: Escapes,
    scratch: &'a mut Vec<u8>,
) -> ComparedPath<'a> {
    ComparedPath(match path.first() {
        Some(b'/') => normalise(path, escapes, scratch),
        None => b"/",
        Some(_) => rooted(path, escapes, scratch),
    })
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
