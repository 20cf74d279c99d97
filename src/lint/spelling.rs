//! Which field a misspelt one was meant to be.

use crate::dialect::{Dialect, Field};
use crate::syntax::EXTENSIONS;

/// Bytes of a name that is compared; a longer one is no misspelling of a field.
const NAME_BYTES_MAX: usize = 32;

/// The usual spelling of a field that dialects know.
pub(super) fn usual(field: Field) -> &'static str {
    match field {
        Field::UserAgent => "User-agent",
        Field::Allow => "Allow",
        Field::Disallow => "Disallow",
        Field::Sitemap => "Sitemap",
    }
}

/// A field that a name may have been meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meant {
    /// The spelling to write.
    pub(super) spelling: &'static str,
    /// What it means to dialects; nothing for a field that decides nothing in any.
    pub(super) field: Option<Field>,
}

/// Whether `name`, in any case, is how some dialect's document spells a field.
pub(super) fn is_usual(name: &[u8]) -> bool {
    fields().any(|field| name.eq_ignore_ascii_case(usual(field).as_bytes()))
}

/// The field that `name` is a misspelling of, if it is near enough to one.
///
/// What a dialect accepts as a misspelling is one. Otherwise one in three letters may be wrong, two
/// at most: a letter left out, put in, taken for another or for its neighbour.
pub(super) fn meant(name: &[u8]) -> Option<Meant> {
    let known = |spelling, field| Meant { spelling, field };
    if let Some(field) = Dialect::ALL.into_iter().find_map(|dialect| accepted(name, dialect)) {
        return Some(known(usual(field), Some(field)));
    }
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let fields = fields().map(|field| known(usual(field), Some(field)));
    let extensions = EXTENSIONS.iter().map(|&spelling| known(spelling, None));
    let near = fields.chain(extensions).filter_map(|meant| {
        let distance = distance(name, meant.spelling.as_bytes());
        let allowed = (meant.spelling.len() / 3).min(2);
        (distance <= allowed).then_some((distance, meant))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, meant)| meant)
}

/// The fields, the most frequent first, so that of two that are equally near it is taken.
fn fields() -> impl Iterator<Item = Field> {
    [Field::Disallow, Field::Allow, Field::UserAgent, Field::Sitemap].into_iter()
}

/// The field that `dialect` takes exactly this spelling for.
fn accepted(name: &[u8], dialect: &Dialect) -> Option<Field> {
    let spellings = dialect.lines.fields.iter();
    let same = |text: &str| name.eq_ignore_ascii_case(text.as_bytes());
    spellings.into_iter().find(|spelling| same(spelling.text)).map(|spelling| spelling.field)
}

/// How many letters have to be left out, put in, replaced or swapped with their neighbour to get
/// from one name to the other, in any case (optimal string alignment).
fn distance(one: &[u8], other: &[u8]) -> usize {
    let same = |i: usize, j: usize| one[i].eq_ignore_ascii_case(&other[j]);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 0..one.len() {
        let mut row = vec![i + 1];
        for j in 0..other.len() {
            let replaced = last[j] + usize::from(!same(i, j));
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j) {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let rows = [
            ("", "", 0),
            ("a", "", 1),
            ("allow", "ALLOW", 0),
            ("alow", "allow", 1),
            ("dsiallow", "disallow", 1),
            ("disallwo", "disallow", 1),
            ("user agent", "user-agent", 1),
            ("kitten", "sitting", 3),
        ];
        for (one, other, expected) in rows {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
            assert_eq!(distance(other.as_bytes(), one.as_bytes()), expected, "{other} {one}");
        }
    }

    #[test]
    fn misspellings_and_other_words() {
        let rows = [
            ("Disalow", Some("Disallow")),
            ("dissalow", Some("Disallow")),
            ("Useragent", Some("User-agent")),
            ("User_agent", Some("User-agent")),
            ("Alow", Some("Allow")),
            ("Sitemaps", Some("Sitemap")),
            ("Crawl delay", Some("crawl-delay")),
            ("Keep-out", None),
            ("Hos", Some("host")),
            ("Note", None),
            ("https", None),
            ("a", None),
        ];
        for (name, expected) in rows {
            let spelling = meant(name.as_bytes()).map(|meant| meant.spelling);
            assert_eq!(spelling, expected, "{name}");
        }
    }
}
