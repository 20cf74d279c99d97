//! Origins to files, as a program around somebody else's matcher would keep them.
//!
//! Portcullis has its own look-up and does not use this one. The others bring none; what their
//! users would write is a split at the path and the standard library's hash table (SipHash) from
//! `scheme://host` to the matcher, so that is what a batch of theirs pays.

use std::collections::HashMap;

use super::questions::{Question, QuestionList};

/// Files by origin.
#[derive(Clone, Debug, Default)]
pub struct HostTable(HashMap<Box<str>, u32>);

impl HostTable {
    /// The origins that questions ask about.
    pub fn of(list: &QuestionList) -> HostTable {
        let mut origins = HashMap::new();
        for question in list.iter() {
            let origin = &question.url[..question.url.len() - question.path.len()];
            origins.entry(origin.into()).or_insert(question.file as u32);
        }
        HostTable(origins)
    }

    /// The question that a URL in normal form asks, if its origin is known.
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

    #[test]
    fn a_url_finds_its_file() {
        let mut list = QuestionList::default();
        list.push(3, "https://a.example:8443/x?y", 4);
        list.push(4, "http://b.example/", 1);
        let hosts = HostTable::of(&list);
        for question in list.iter() {
            assert_eq!(hosts.resolve(question.url), Some(question));
        }
        assert_eq!(hosts.resolve("http://c.example/"), None);
        assert_eq!(hosts.resolve("nothing"), None);
    }
}
