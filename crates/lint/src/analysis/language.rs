//! The language of paths that rules are compared with: which bytes can follow each other, and how
//! to write the URL of a path.
//!
//! The language is derived from the normaliser itself:
//!
//! - every path starts with `/`;
//! - a byte occurs if it is unchanged and can be in a path (`#` ends it, and no URL has TAB, CR and LF),
//!   or if its escape is decoded;
//! - after a `%` any byte may follow if digits or the `%` itself can be written as escapes (a URL with
//!   `%%341` has the path `%41`). If nothing is decoded, two digits form a triplet, in upper case.

use std::sync::OnceLock;

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::bytes::push_percent_triplet;
use portcullis_engine::pattern::Pattern;
use portcullis_robots::url::normalise;

/// The bytes that must not follow the last bytes of a path.
pub type Mark = u8;

/// Anything may follow.
pub const FREE: Mark = 0;
/// After a `%`.
const PERCENT: Mark = 1;
/// After a `%` and a digit: no digit in lower case.
const UPPER_DIGIT: Mark = 2;
/// After a `%` and a digit in lower case: no digit.
const LOWER_DIGIT: Mark = 3;

/// The bytes that are chosen first to represent all unnamed bytes, because they are readable.
const READABLE: &[u8] = b"xyzwvutsrqponmlkjihgXYZWVUTSRQPONMLKJIHG0123456789-_~.";

/// The paths that URLs can have.
#[derive(Clone, Debug)]
pub struct Language {
    escapes: Escapes,
    occurs: [bool; 256],
    /// Whether a triplet in a path always comes from one in the URL.
    triplets_stay: bool,
}

/// Returns the normal form of `text`.
fn normal(text: &[u8], escapes: Escapes) -> Vec<u8> {
    normalise(text, escapes, &mut Vec::new()).to_vec()
}

/// Returns the escape of `byte`.
pub(crate) fn triplet(byte: u8) -> Vec<u8> {
    let mut triplet = Vec::new();
    push_percent_triplet(&mut triplet, byte);
    triplet
}

impl Language {
    /// Returns the language of a normal form.
    pub fn of(escapes: Escapes) -> &'static Language {
        static LANGUAGES: [OnceLock<Language>; 4] = [const { OnceLock::new() }; 4];
        LANGUAGES[escapes as usize].get_or_init(|| Language::new(escapes))
    }

    fn new(escapes: Escapes) -> Language {
        let decodes = |byte: u8| normal(&triplet(byte), escapes) == [byte];
        let stays = |byte: u8| !b"#\t\r\n".contains(&byte) && normal(&[byte], escapes) == [byte];
        let mut occurs = [false; 256];
        (0..=255u8).for_each(|byte| occurs[usize::from(byte)] = stays(byte) || decodes(byte));
        let lower_stays = normal(b"%2f", escapes) == b"%2f";
        let triplets_stay = !decodes(b'%') && !decodes(b'0') && !lower_stays;
        Language { escapes, occurs, triplets_stay }
    }

    /// Returns the mark after `byte`; `None` if it cannot occur here.
    pub fn after(&self, mark: Mark, byte: u8) -> Option<Mark> {
        if !self.occurs[usize::from(byte)] {
            return None;
        }
        if !self.triplets_stay {
            return Some(FREE);
        }
        let is_digit = byte.is_ascii_hexdigit();
        let is_lower = is_digit && byte.is_ascii_lowercase();
        match mark {
            PERCENT if is_lower => Some(LOWER_DIGIT),
            PERCENT if is_digit => Some(UPPER_DIGIT),
            UPPER_DIGIT if is_lower => None,
            LOWER_DIGIT if is_digit => None,
            _ => Some(if byte == b'%' { PERCENT } else { FREE }),
        }
    }

    /// Writes the bytes that can follow to `moves`, with their marks: each `named` one, and one
    /// that represents all others.
    pub fn moves(&self, mark: Mark, named: impl Iterator<Item = u8>, moves: &mut Vec<(u8, Mark)>) {
        moves.clear();
        let mut is_named = [false; 256];
        for byte in named {
            if !is_named[usize::from(byte)] {
                is_named[usize::from(byte)] = true;
                moves.extend(self.after(mark, byte).map(|next| (byte, next)));
            }
        }
        let named = moves.len();
        let others = READABLE.iter().copied().chain((0..=255).rev());
        for byte in others.filter(|&byte| !is_named[usize::from(byte)]) {
            let Some(next) = self.after(mark, byte) else { continue };
            if next == FREE {
                // Every byte that may follow another one may follow this one.
                moves.truncate(named);
                moves.push((byte, next));
                break;
            }
            if moves[named..].iter().all(|&(_, other)| other != next) {
                moves.push((byte, next));
            }
        }
        // The plainest path is found first.
        moves.rotate_left(named);
    }

    /// Returns whether a URL can have `path`.
    pub fn contains(&self, path: &[u8]) -> bool {
        let end = path.iter().try_fold(FREE, |mark, &byte| self.after(mark, byte));
        path.starts_with(b"/") && end.is_some()
    }

    /// Writes a URL path that normalises to `path`, which is in this language.
    pub fn written(&self, path: &[u8]) -> Vec<u8> {
        let mut written = Vec::with_capacity(path.len());
        let mut rest = path;
        while let [byte, after @ ..] = rest {
            let digits = after.iter().take(2).take_while(|it| it.is_ascii_hexdigit()).count();
            if *byte == b'%' && digits == 2 {
                rest = self.write_triplet(rest, &mut written);
                continue;
            }
            let plain = byte.is_ascii_graphic() && *byte != b'#';
            let escape = triplet(*byte);
            match !plain && normal(&escape, self.escapes) == [*byte] {
                true => written.extend(escape),
                false => written.push(*byte),
            }
            rest = after;
        }
        debug_assert_eq!(normal(&written, self.escapes), path);
        written
    }

    /// Writes a `%` before two digits so that the text normalises to itself, escaping as few of the
    /// digits as possible. Returns the rest of the path.
    fn write_triplet<'p>(&self, path: &'p [u8], written: &mut Vec<u8>) -> &'p [u8] {
        if normal(&path[..3], self.escapes) == path[..3] {
            written.extend_from_slice(&path[..3]);
            return &path[3..];
        }
        let percent = triplet(b'%');
        if normal(&percent, self.escapes) == b"%" {
            written.extend(percent);
            return &path[1..];
        }
        written.push(b'%');
        written.extend(triplet(path[1]));
        &path[2..]
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
    use std::collections::HashSet;

    use super::*;
    use portcullis_dialect::dialect::Dialect;
    use portcullis_robots::url::{compared_path, split};
    use portcullis_testkit::words;

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
                // A `#` follows white space at the end, which otherwise would not be part of the URL.
                let url = [b"https://example.com", &language.written(&path)[..], b"#"].concat();
                let url = split(&url, dialect.paths.path_start).unwrap();
                let again = compared_path(url.path, escapes, &mut Vec::new()).to_vec();
                assert_eq!(again, path, "{} {url:?}", dialect.name);
            }
        }
    }

    #[test]
    fn one_byte_represents_all_others() {
        let language = Language::of(Escapes::Google);
        let mut moves = Vec::new();
        language.moves(FREE, b"x%#".iter().copied(), &mut moves);
        assert_eq!(moves, [(b'y', FREE), (b'x', FREE), (b'%', PERCENT)]);
        // Without plain bytes, each kind of byte has its own representative.
        let digits = |byte: &u8| byte.is_ascii_hexdigit();
        let named = (0..=255u8).filter(|byte| !digits(byte));
        language.moves(PERCENT, named, &mut moves);
        assert_eq!(moves[..2], [(b'0', UPPER_DIGIT), (b'f', LOWER_DIGIT)]);
    }
}
