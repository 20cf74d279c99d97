//! Questions: which file, which path; and lists of them in an order, laid out as they are asked.

use std::cmp::Reverse;

/// One question to a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'l> {
    /// The position of the file that speaks for the URL.
    pub file: usize,
    /// Path and query in the dialect's normal form.
    pub path: &'l str,
    /// The same with scheme, host and port in front.
    pub url: &'l str,
}

/// Questions whose texts stand in memory in the order in which they are asked.
#[derive(Clone, Debug, Default)]
pub struct QuestionList {
    text: String,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number that the question had in the list that this one was chosen from.
    number: u32,
    file: u32,
    url: u32,
    path: u32,
    end: u32,
}

/// Neighbours in a list.
#[derive(Clone, Copy, Debug)]
pub struct QuestionBlock<'l> {
    text: &'l [u8],
    places: &'l [Place],
}

impl<'l> QuestionBlock<'l> {
    /// The file of each.
    #[inline]
    pub fn files(self) -> impl ExactSizeIterator<Item = u32> + 'l {
        self.places.iter().map(|place| place.file)
    }

    /// The path of each, as bytes.
    #[inline]
    pub fn paths(self) -> impl ExactSizeIterator<Item = &'l [u8]> {
        self.places.iter().map(move |place| &self.text[place.path as usize..place.end as usize])
    }
}

/// The order in which questions are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As chance has it: hosts alternate, as they do in the list of a crawl.
    Shuffled,
    /// By file, then by path: caches and branches learn one host's rules.
    Grouped,
}

impl Order {
    /// Both orders.
    pub const ALL: [Order; 2] = [Order::Shuffled, Order::Grouped];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Order::Shuffled => "shuffled",
            Order::Grouped => "grouped",
        }
    }
}

impl QuestionList {
    /// Adds a question; its path is the last `path_bytes` of `url`.
    ///
    /// # Panics
    ///
    /// If the texts of a list pass 4 GiB, or `url` is shorter than its path.
    pub fn push(&mut self, file: usize, url: &str, path_bytes: usize) {
        let number = self.places.len();
        self.push_numbered(number as u32, file, url, path_bytes);
    }

    fn push_numbered(&mut self, number: u32, file: usize, url: &str, path_bytes: usize) {
        let start = self.text.len();
        self.text.push_str(url);
        let end = u32::try_from(self.text.len()).expect("a list of questions fits in 4 GiB");
        let path = end - path_bytes as u32;
        assert!(path >= start as u32, "a path is a part of its URL");
        self.places.push(Place { number, file: file as u32, url: start as u32, path, end });
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The question at `position`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn get(&self, position: usize) -> Question<'_> {
        self.at(self.places[position])
    }

    /// All of them, in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Question<'_>> {
        self.places.iter().map(|&place| self.at(place))
    }

    /// All of them, in order, so many at once.
    #[inline]
    pub fn blocks(&self, questions: usize) -> impl Iterator<Item = QuestionBlock<'_>> {
        let text = self.text.as_bytes();
        self.places.chunks(questions).map(move |places| QuestionBlock { text, places })
    }

    /// By position: the number that the question had in the list that this one was chosen from.
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

    /// Those for whose number `is_kept` holds, in their order.
    pub fn kept(&self, is_kept: impl Fn(usize) -> bool) -> QuestionList {
        let places = self.places.iter().filter(|place| is_kept(place.number as usize));
        self.laid_out(places.copied())
    }

    /// So many of them, chosen by `seed` and nothing else, in their order; all, if there are no more.
    pub fn sample(&self, count: usize, seed: u64) -> QuestionList {
        let mut chosen = self.places.clone();
        if chosen.len() > count {
            chosen.sort_by_key(|place| scatter(seed, place.number));
            chosen.truncate(count);
            chosen.sort_by_key(|place| place.number);
        }
        self.laid_out(chosen.into_iter())
    }

    /// All of them in another order.
    pub fn ordered(&self, order: Order, seed: u64) -> QuestionList {
        let mut places = self.places.clone();
        match order {
            Order::Shuffled => places.sort_by_key(|place| Reverse(scatter(seed, place.number))),
            Order::Grouped => places.sort_by_key(|&place| (place.file, self.at(place).path)),
        }
        self.laid_out(places.into_iter())
    }

    fn laid_out(&self, places: impl Iterator<Item = Place>) -> QuestionList {
        let mut list = QuestionList::default();
        for place in places {
            let Question { file, url, path } = self.at(place);
            list.push_numbered(place.number, file, url, path.len());
        }
        list
    }
}

/// A number that looks random: the finaliser of SplitMix64.
pub(super) fn scatter(seed: u64, number: u32) -> u64 {
    let mixed = seed.wrapping_add(u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> QuestionList {
        let mut list = QuestionList::default();
        for (file, url) in [(1, "http://b/y"), (0, "http://a/z"), (1, "http://b/x")] {
            list.push(file, url, 2);
        }
        list
    }

    #[test]
    fn a_list_keeps_texts_and_numbers_in_any_order() {
        let grouped = list().ordered(Order::Grouped, 0);
        let paths: Vec<&str> = grouped.iter().map(|question| question.path).collect();
        assert_eq!(paths, ["/z", "/x", "/y"]);
        assert_eq!(grouped.numbers().collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!(grouped.get(1).url, "http://b/x");
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
}
