//! The lists of agents that are compiled in.
//!
//! `lists.toml` holds the names by source and class, and defines each list as a selection of these
//! names. `scripts/agent-lists` generates the file. It is parsed on first use, when a list or a
//! suggestion is needed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use serde::Deserialize;

static TABLES: LazyLock<Tables> =
    LazyLock::new(|| toml::from_str(include_str!("lists.toml")).expect("a test parses it"));

/// The class of tokens that control how pages are used, and that send no requests.
const USE: &str = "use";

/// The greatest edit distance between a misspelt name and the list that is suggested for it.
const DISTANCE_MAX: usize = 3;

#[derive(Deserialize)]
struct Tables {
    source: Vec<Source>,
    list: Vec<Selection>,
    /// The classes of each name, by source.
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

/// A list: the names of a source that are in one class, or all names of the source.
#[derive(Deserialize)]
struct Selection {
    name: String,
    about: String,
    source: String,
    class: Option<String>,
}

/// A list of agents, found by its name.
pub struct Found {
    /// The source of the list, with its version and licence.
    pub source: String,
    /// The names, sorted case-insensitively.
    pub names: Vec<String>,
}

impl Tables {
    fn source(&self, selection: &Selection) -> &Source {
        let found = self.source.iter().find(|source| source.name == selection.source);
        found.expect("a test looks up every source")
    }

    /// The names of a list with their classes, sorted case-insensitively.
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

/// Returns the list called `name`, or `None` if there is none.
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

/// Returns the list whose name is nearest to a misspelt one, or `None` if none is near.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let near = names().map(|list| (strsim::osa_distance(list, name), list));
    let (distance, list) = near.min()?;
    (distance <= DISTANCE_MAX).then_some(list)
}

/// Writes every list with its names.
///
/// # Errors
///
/// If `out` cannot be written.
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
