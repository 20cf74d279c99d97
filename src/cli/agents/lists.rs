//! The lists of agents that are compiled in.
//!
//! `lists.toml` has the names by source and class, and the lists as selections of them. scripts/agent-lists
//! makes it. It is parsed when a list is asked for, or a name to suggest.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use serde::Deserialize;

static TABLES: LazyLock<Tables> =
    LazyLock::new(|| toml::from_str(include_str!("lists.toml")).expect("a test parses it"));

/// The class of tokens that control the use of pages, and send no requests.
const USE: &str = "use";

/// The least similarity of a misspelt list.
const DISTANCE_MAX: usize = 3;

#[derive(Deserialize)]
struct Tables {
    source: Vec<Source>,
    list: Vec<Selection>,
    /// By source: the classes of each name.
    agents: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize)]
struct Source {
    name: String,
    title: String,
    url: String,
    version: String,
    date: String,
    licence: String,
}

/// The names of a source that are in a class, or all of them.
#[derive(Deserialize)]
struct Selection {
    name: String,
    about: String,
    source: String,
    class: Option<String>,
}

/// A list.
pub struct Found {
    /// Where it comes from, with its version and licence.
    pub source: String,
    /// The names, sorted whatever their case.
    pub names: Vec<String>,
}

impl Tables {
    fn source(&self, selection: &Selection) -> &Source {
        let found = self.source.iter().find(|source| source.name == selection.source);
        found.expect("a test looks up every source")
    }

    /// The names of a list with their classes, sorted whatever their case.
    fn select(&self, selection: &Selection) -> Vec<(&str, &[String])> {
        let is_in = |classes: &[String]| match &selection.class {
            Some(class) => classes.contains(class),
            None => true,
        };
        let agents = self.agents[&selection.source].iter();
        let agents = agents.map(|(name, classes)| (name.as_str(), classes.as_slice()));
        let mut agents: Vec<_> = agents.filter(|(_, classes)| is_in(classes)).collect();
        agents.sort_by_cached_key(|(name, _)| name.to_ascii_lowercase());
        agents
    }
}

impl Source {
    fn describe(&self) -> String {
        let Source { title, version, date, licence, .. } = self;
        format!("{title}, {version}, {date}, {licence}")
    }
}

/// The list with a name.
pub fn find(name: &str) -> Option<Found> {
    let selection = TABLES.list.iter().find(|list| list.name == name)?;
    let names = TABLES.select(selection).into_iter().map(|(name, _)| name.to_owned()).collect();
    Some(Found { source: TABLES.source(selection).describe(), names })
}

/// The names of the lists.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.list.iter().map(|list| list.name.as_str())
}

/// The names of all agents.
pub fn agents() -> impl Iterator<Item = &'static str> {
    TABLES.agents.values().flat_map(BTreeMap::keys).map(String::as_str)
}

/// The list that a misspelt name means, perhaps.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let near = names().map(|list| (strsim::osa_distance(list, name), list));
    let (distance, list) = near.min()?;
    (distance <= DISTANCE_MAX).then_some(list)
}

/// Writes every list with its names.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut impl Write) -> io::Result<()> {
    for (number, selection) in TABLES.list.iter().enumerate() {
        let Selection { name, about, .. } = selection;
        let source = TABLES.source(selection);
        let agents = TABLES.select(selection);
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "@{name}: {about}")?;
        writeln!(out, "{} names ({}, {})", agents.len(), source.describe(), source.url)?;
        for (name, classes) in agents {
            match classes.iter().any(|class| class == USE) {
                true => writeln!(out, "  {name}  (controls use; does not fetch)")?,
                false => writeln!(out, "  {name}")?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_consistent() {
        for list in &TABLES.list {
            assert!(!TABLES.source(list).describe().is_empty());
            assert!(!TABLES.select(list).is_empty(), "{}", list.name);
        }
        assert_eq!(TABLES.source.len(), TABLES.agents.len());
        for (name, classes) in TABLES.agents.values().flatten() {
            let known = |class: &String| {
                class == USE || TABLES.list.iter().any(|list| list.class.as_ref() == Some(class))
            };
            assert!(classes.iter().all(known), "{name}: {classes:?}");
            assert_eq!(name.trim(), name);
        }
    }

    #[test]
    fn names_are_in_their_lists() {
        let has = |list: &str, name: &str| find(list).unwrap().names.iter().any(|it| it == name);
        for (list, name) in [
            ("ai-training", "GPTBot"),
            ("ai-training", "CCBot"),
            ("ai-training", "Google-Extended"),
            ("ai-training", "Applebot-Extended"),
            ("ai-search", "OAI-SearchBot"),
            ("ai-assistant", "ChatGPT-User"),
            ("search", "Googlebot"),
        ] {
            assert!(has(list, name), "{list} {name}");
            assert!(list == "search" || has("ai-all", name), "{name}");
        }
        assert!(!has("ai-training", "OAI-SearchBot"));
        assert!(!has("search", "GPTBot"));
        assert!(find("nothing").is_none());
    }

    #[test]
    fn misspelt_lists() {
        assert_eq!(suggestion("ai-trainig"), Some("ai-training"));
        assert_eq!(suggestion("serach"), Some("search"));
        assert_eq!(suggestion("agents.txt"), None);
    }
}
