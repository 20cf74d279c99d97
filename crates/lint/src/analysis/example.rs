//! Paths as written in URLs: the examples of an analysis.
//!
//! The paths that URLs can have are a [`Language`](super::Language); this
//! module writes them.

use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_engine::pattern::Pattern;
use portcullis_robots::url::compared_path;

/// The longest path of an example. With the longest host it makes a URL that is not too long.
pub(super) const PATH_BYTES_MAX: usize = URL_BYTES_MAX - HOST_BYTES_MAX - b"https://:65535#".len();

/// A path and query as written in a URL.
///
/// ```
/// use portcullis_lint::analysis::Example;
///
/// let example = Example::of(b"/a b");
/// assert_eq!(example.path(), b"/a b");
/// assert_eq!(example.url("https://example.com"), b"https://example.com/a b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Example(Vec<u8>);

impl Example {
    /// Returns the example with `path`, which starts with `/` and has no `#`.
    pub fn of(path: &[u8]) -> Example {
        Example(path.to_vec())
    }

    /// Returns path and query as written in a URL.
    pub fn path(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path with which the rules of a dialect are compared.
    pub fn compared(&self, escapes: Escapes) -> Vec<u8> {
        compared_path(&self.0, escapes, &mut Vec::new()).to_vec()
    }

    /// Returns the URL at `origin` (`https://example.com`).
    ///
    /// A `#` follows white space at the end; otherwise the white space would not be part of the
    /// URL.
    pub fn url(&self, origin: &str) -> Vec<u8> {
        let ends_in_space = self.0.last().is_some_and(|byte| b" \t\r".contains(byte));
        let end: &[u8] = if ends_in_space { b"#" } else { b"" };
        [origin.as_bytes(), &self.0, end].concat()
    }
}

/// Returns a pattern without its stars: a path that it matches, if any path begins like it.
pub fn plain_path(pattern: &Pattern<'_>) -> Vec<u8> {
    let mut path = pattern.literals().collect::<Vec<_>>().concat();
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;
    use portcullis_dialect::dialect::Dialect;
    use portcullis_robots::url::split;
    use portcullis_testkit::words;
    use std::collections::HashSet;

    /// Bytes of every kind: digits of both cases, escaped ones, reserved ones, those that end paths.
    const ALPHABET: &[u8] = b"%24fFgA/*$#\xe3 ";

    fn paths() -> impl Iterator<Item = Vec<u8>> {
        words(ALPHABET, 4).into_iter().map(|word| [b"/", &word[..]].concat())
    }

    #[test]
    fn the_language_is_that_of_url_paths() {
        for dialect in Dialect::ALL {
            let escapes = dialect.paths.escapes;
            let language = Language::of(escapes);
            let mut met = HashSet::new();
            for path in paths() {
                let url = [b"https://example.com", &path[..], b"#"].concat();
                let url = split(&url, dialect.paths.path_start).unwrap();
                let compared = compared_path(url.path, escapes, &mut Vec::new()).to_vec();
                assert!(language.contains(&compared), "{} {path:?}", dialect.name);
                met.insert(compared);
            }
            for path in paths() {
                if !language.contains(&path) {
                    assert!(!met.contains(&path), "{} {path:?}", dialect.name);
                    continue;
                }
                let example = Example::of(&language.written(&path));
                let url = example.url("https://example.com");
                let url = split(&url, dialect.paths.path_start).unwrap();
                let again = compared_path(url.path, escapes, &mut Vec::new()).to_vec();
                assert_eq!(again, path, "{} {url:?}", dialect.name);
            }
        }
    }
}
