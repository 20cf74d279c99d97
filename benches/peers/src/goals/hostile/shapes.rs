//! Files made to be expensive, each as large as it may be unless it says otherwise, and URLs over the
//! same letters.

use super::super::lists::Random;

/// Bytes of a URL.
const URL_BYTES: usize = 2_048;
const ORIGIN: &[u8] = b"https://example.com";

/// A kind of file.
#[derive(Clone, Copy)]
pub struct Shape {
    /// What it is called in reports and on the command line.
    pub name: &'static str,
    /// The letters of its rules.
    letters: &'static [u8],
    /// The pattern of the rule with this number; nothing if there are no more.
    pattern: fn(usize, &mut Material) -> Option<Vec<u8>>,
}

/// What patterns are made of.
struct Material {
    random: Random,
    letters: &'static [u8],
    /// Bytes that the file may have.
    bytes_max: usize,
}

impl Material {
    fn word(&mut self, length: usize) -> Vec<u8> {
        self.random.word(self.letters, length)
    }

    /// A word of any length from `shortest` to `longest`.
    fn word_within(&mut self, shortest: usize, longest: usize) -> Vec<u8> {
        let length = shortest + self.random.below(longest - shortest + 1);
        self.word(length)
    }

    /// So many repetitions of two bytes as leave room for the rest of a file with one rule.
    fn pairs(&self) -> usize {
        self.bytes_max / 2 - 20
    }
}

/// A kind of URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlKind {
    /// Letters by chance.
    Random,
    /// One letter.
    Repeated,
    /// A rule with a letter for each star, over and over.
    LikeARule,
}

impl UrlKind {
    /// All of them.
    pub const ALL: [UrlKind; 3] = [UrlKind::Random, UrlKind::Repeated, UrlKind::LikeARule];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            UrlKind::Random => "random letters",
            UrlKind::Repeated => "one letter",
            UrlKind::LikeARule => "like a rule",
        }
    }
}

const WIDE: &[u8] = b"abcdefghijklmnopqrstuvwxyz/-";
const NARROW: &[u8] = b"abcdefgh/";

/// All kinds of files.
pub const SHAPES: [Shape; 13] = [
    Shape { name: "random literals joined by stars", letters: NARROW, pattern: random_literals },
    Shape {
        name: "a thousand stars in one rule",
        letters: b"ab",
        pattern: |rule, _| one(rule, || stars(1_000)),
    },
    Shape {
        name: "stars as long as the file",
        letters: b"ab",
        pattern: |rule, material| one(rule, || stars(material.pairs())),
    },
    Shape {
        name: "many rules of 900 stars",
        letters: b"a0123456789",
        pattern: |rule, _| Some([b"/", &b"a*".repeat(900)[..], &number(rule)].concat()),
    },
    Shape {
        name: "20,000 distinct literals",
        letters: WIDE,
        pattern: |rule, material| distinct(rule, b"/", material),
    },
    Shape {
        name: "20,000 distinct literals behind stars",
        letters: WIDE,
        pattern: |rule, material| distinct(rule, b"/*", material),
    },
    Shape {
        name: "/*a, /*aa, /*aaa, …",
        letters: b"ab",
        pattern: |rule, _| Some([b"/*", &b"a".repeat(rule + 1)[..]].concat()),
    },
    Shape { name: "shared /*/*/*/", letters: b"abcd/", pattern: shared_stars },
    Shape {
        name: "one $ rule of the whole size",
        letters: b"ab",
        pattern: |rule, material| {
            one(rule, || [b"/", &b"ab".repeat(material.pairs())[..], b"$"].concat())
        },
    },
    Shape {
        name: "*1 twelve times and *Z",
        letters: b"1Z",
        pattern: |rule, _| Some([b"/", &b"*1".repeat(12)[..], b"*Z", &number(rule)].concat()),
    },
    Shape {
        name: "random literals without stars",
        letters: NARROW,
        pattern: |_, material| Some([b"/", &material.word_within(5, 30)[..]].concat()),
    },
    Shape {
        name: "a shared prefix of 1,000 bytes",
        letters: b"abc/",
        pattern: |rule, _| Some([b"/", &b"abc/".repeat(250)[..], &number(rule)].concat()),
    },
    Shape {
        name: "waiting stars beside a long rule",
        letters: b"a",
        pattern: |rule, material| match rule {
            0 => Some([b"/", &b"a".repeat(material.bytes_max * 2 / 5)[..]].concat()),
            rule => Some([b"*b", &number(rule)[..]].concat()),
        },
    },
];

fn one(rule: usize, pattern: impl FnOnce() -> Vec<u8>) -> Option<Vec<u8>> {
    (rule == 0).then(pattern)
}

fn stars(count: usize) -> Vec<u8> {
    [b"/", &b"*a".repeat(count)[..], b"b"].concat()
}

fn number(rule: usize) -> Vec<u8> {
    rule.to_string().into_bytes()
}

fn random_literals(_: usize, material: &mut Material) -> Option<Vec<u8>> {
    let count = 2 + material.random.below(5);
    let words: Vec<Vec<u8>> = (0..count).map(|_| material.word(2)).collect();
    Some([b"/*", &words.join(&b'*')[..]].concat())
}

fn distinct(rule: usize, start: &[u8], material: &mut Material) -> Option<Vec<u8>> {
    (rule < 20_000).then(|| [start, &material.word_within(8, 12)[..]].concat())
}

fn shared_stars(_: usize, material: &mut Material) -> Option<Vec<u8>> {
    Some([b"/*/*/*/", &material.word_within(6, 12)[..]].concat())
}

impl Shape {
    fn material(&self, bytes_max: usize) -> Material {
        Material { random: Random(9309), letters: self.letters, bytes_max }
    }

    /// The file: rules for all agents, as many as fit, of which every third allows.
    pub fn robots(&self, bytes_max: usize) -> Vec<u8> {
        let mut file = b"User-agent: *\n".to_vec();
        let mut material = self.material(bytes_max);
        for rule in 0.. {
            let Some(pattern) = (self.pattern)(rule, &mut material) else { break };
            let field: &[u8] = if rule % 3 == 2 { b"Allow: " } else { b"Disallow: " };
            let line = [field, &pattern, b"\n"].concat();
            if file.len() + line.len() > bytes_max {
                break;
            }
            file.extend(line);
        }
        file
    }

    /// A URL of 2 KB over the letters of the rules of such a file.
    pub fn url(&self, kind: UrlKind, bytes_max: usize) -> Vec<u8> {
        let mut random = Random(7);
        let path = match kind {
            UrlKind::Random => random.word(self.letters, URL_BYTES),
            UrlKind::Repeated => vec![self.letters[0]; URL_BYTES],
            UrlKind::LikeARule => {
                let mut material = self.material(bytes_max);
                let pattern = (self.pattern)(0, &mut material).unwrap_or_default();
                let is_sign = |byte: &u8| b"/$".contains(byte);
                let body: Vec<u8> = pattern.into_iter().skip_while(is_sign).collect();
                let letters = body.iter().map(|&byte| match byte {
                    b'*' | b'$' => self.letters[random.below(self.letters.len())],
                    byte => byte,
                });
                let letters: Vec<u8> = letters.collect();
                letters.into_iter().cycle().take(URL_BYTES).collect()
            }
        };
        let mut url = [ORIGIN, b"/", &path].concat();
        url.truncate(URL_BYTES);
        url
    }
}

#[cfg(test)]
mod tests {
    use portcullis::limits::ROBOTS_BYTES_MAX;

    use super::*;

    #[test]
    fn a_file_is_as_large_as_it_says_and_no_larger() {
        for shape in SHAPES {
            let bytes = shape.robots(ROBOTS_BYTES_MAX).len();
            let is_small = ["a thousand stars in one rule"].contains(&shape.name);
            let least = if is_small { 1 } else { ROBOTS_BYTES_MAX * 3 / 4 };
            assert!((least..=ROBOTS_BYTES_MAX).contains(&bytes), "{}: {bytes}", shape.name);
            for kind in UrlKind::ALL {
                assert_eq!(shape.url(kind, ROBOTS_BYTES_MAX).len(), URL_BYTES, "{}", shape.name);
            }
        }
    }
}
