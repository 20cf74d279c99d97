//! Questions (a file and a path), lists of questions in the order of decisions, and a table from
//! origins to files.
//!
//! [`HostTable`] is the code that a program around a single-file matcher would contain: a split at
//! the path and the standard library's hash table (SipHash). Portcullis has its own look-up and
//! does not use the table.

use std::cmp::Reverse;
use std::collections::HashMap;

use portcullis_dialect::words;
use portcullis_synth::random::scatter;

/// A question to a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'l> {
    /// The position of the URL's robots.txt among the files.
    pub file: usize,
    /// Path and query in the dialect's normal form.
    pub path: &'l str,
    /// The same path and query after scheme, host and port.
    pub url: &'l str,
}

/// A list of questions. Its texts are in memory in the order of decisions.
#[derive(Clone, Debug, Default)]
pub struct QuestionList {
    text: String,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of the question in the original list.
    number: u32,
    file: u32,
    url: u32,
    path: u32,
    end: u32,
}

words! {
    /// The order in which questions are decided.
    pub enum Order {
        /// In random order: hosts alternate, as they do in the list of a crawl.
        Shuffled => "shuffled",
        /// By file, then by path: caches and branches learn one host's rules.
        Grouped => "grouped",
    }
}

impl QuestionList {
    /// Adds a question, with its number in the original list. Its path is the last `path_bytes` bytes of
    /// `url`.
    ///
    /// # Panics
    ///
    /// If the texts of a list exceed 4 GiB, or `url` is shorter than its path.
    pub fn push(&mut self, number: u32, file: usize, url: &str, path_bytes: usize) {
        let start = self.text.len();
        self.text.push_str(url);
        let end = u32::try_from(self.text.len()).expect("a list of questions fits in 4 GiB");
        let path = end - path_bytes as u32;
        assert!(path >= start as u32, "a path is a part of its URL");
        self.places.push(Place { number, file: file as u32, url: start as u32, path, end });
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns all questions in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Question<'_>> {
        self.places.iter().map(|&place| self.at(place))
    }

    /// Returns the files and the paths, as bytes, of all questions in order, in blocks of this
    /// size.
    #[inline]
    pub fn blocks(
        &self,
        questions: usize,
    ) -> impl Iterator<Item = (impl ExactSizeIterator<Item = usize>, impl Iterator<Item = &[u8]>)>
    {
        let text = self.text.as_bytes();
        self.places.chunks(questions).map(move |places| {
            let path = move |place: &Place| &text[place.path as usize..place.end as usize];
            (places.iter().map(|place| place.file as usize), places.iter().map(path))
        })
    }

    /// Returns the number of each question in the original list, by position.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.number as usize)
    }

    #[inline]
    fn at(&self, place: Place) -> Question<'_> {
        let Place { file, url, path, end, .. } = place;
        Question {
            file: file as usize,
            path: &self.text[path as usize..end as usize],
            url: &self.text[url as usize..end as usize],
        }
    }

    /// Returns the questions whose number satisfies `is_kept`, in order.
    pub fn kept(&self, is_kept: impl Fn(usize) -> bool) -> QuestionList {
        let places = self.places.iter().filter(|place| is_kept(place.number as usize));
        self.laid_out(places.copied())
    }

    /// Returns `count` questions chosen by `seed` alone, in order, or all if there are fewer.
    pub fn sample(&self, count: usize, seed: u64) -> QuestionList {
        let mut chosen = self.places.clone();
        if chosen.len() > count {
            chosen.sort_by_key(|place| scatter(seed, place.number.into()));
            chosen.truncate(count);
            chosen.sort_by_key(|place| place.number);
        }
        self.laid_out(chosen.into_iter())
    }

    /// Returns all questions in another order.
    pub fn ordered(&self, order: Order, seed: u64) -> QuestionList {
        let mut places = self.places.clone();
        match order {
            Order::Shuffled => {
                places.sort_by_key(|place| Reverse(scatter(seed, place.number.into())))
            }
            Order::Grouped => places.sort_by_key(|&place| (place.file, self.at(place).path)),
        }
        self.laid_out(places.into_iter())
    }

    fn laid_out(&self, places: impl Iterator<Item = Place>) -> QuestionList {
        let mut list = QuestionList::default();
        for place in places {
            let Question { file, url, path } = self.at(place);
            list.push(place.number, file, url, path.len());
        }
        list
    }
}

/// A table of files by origin.
#[derive(Clone, Debug, Default)]
pub struct HostTable(HashMap<Box<str>, u32>);

impl HostTable {
    /// Builds the table for the origins of a list's questions.
    pub fn of(list: &QuestionList) -> HostTable {
        let mut origins = HashMap::new();
        for question in list.iter() {
            let origin = &question.url[..question.url.len() - question.path.len()];
            origins.entry(origin.into()).or_insert(question.file as u32);
        }
        HostTable(origins)
    }

    /// Returns the question of a URL in normal form, or `None` if its origin is unknown.
    #[inline]
    pub fn resolve<'u>(&self, url: &'u str) -> Option<Question<'u>> {
        let bytes = url.as_bytes();
        let host = memchr::memchr(b':', bytes)? + "://".len();
        let rest = bytes.get(host..)?;
        let path = host + memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
        let (origin, path) = url.split_at_checked(path)?;
        let &file = self.0.get(origin)?;
        Some(Question { file: file as usize, path, url })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> QuestionList {
        let mut list = QuestionList::default();
        for (number, file, url) in
            [(0, 1, "http://b/y"), (1, 0, "http://a/z"), (2, 1, "http://b/x")]
        {
            list.push(number, file, url, 2);
        }
        list
    }

    #[test]
    fn a_list_keeps_texts_and_numbers_in_any_order() {
        let grouped = list().ordered(Order::Grouped, 0);
        let paths: Vec<&str> = grouped.iter().map(|question| question.path).collect();
        assert_eq!(paths, ["/z", "/x", "/y"]);
        assert_eq!(grouped.numbers().collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!(grouped.iter().nth(1).unwrap().url, "http://b/x");
        let mut numbers: Vec<usize> = list().ordered(Order::Shuffled, 7).numbers().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    fn a_sample_depends_on_the_seed_alone() {
        let sample = |seed| list().sample(2, seed).numbers().collect::<Vec<_>>();
        assert_eq!(sample(3), sample(3));
        assert_eq!(sample(3).len(), 2);
        assert!((0..20).any(|seed| sample(seed) != sample(3)));
        assert_eq!(list().sample(9, 1).len(), 3);
    }

    #[test]
    fn a_url_finds_its_file() {
        let mut list = QuestionList::default();
        list.push(0, 3, "https://a.example:8443/x?y", 4);
        list.push(1, 4, "http://b.example/", 1);
        let hosts = HostTable::of(&list);
        for question in list.iter() {
            assert_eq!(hosts.resolve(question.url), Some(question));
        }
        assert_eq!(hosts.resolve("http://c.example/"), None);
        assert_eq!(hosts.resolve("nothing"), None);
    }
}
