//! The lists of agents that are compiled in.
//!
//! `lists.toml` holds the names by source and class, and defines each list as a selection of these
//! names. `scripts/agent-lists` generates the file. It is parsed on first use, when a list or a
//! suggestion is needed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::{AgentError, Crawler};
use serde::Deserialize;

const TEXT: &str = include_str!("lists.toml");

static TABLES: LazyLock<Tables> = LazyLock::new(|| toml::from_str(TEXT).expect("a test parses it"));

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
    /// By name.
    readings: BTreeMap<String, Reading>,
}

/// How a crawler reads robots.txt, as its operator documents it.
#[derive(Deserialize)]
pub struct Reading {
    /// A chain of tokens, as [`Crawler::parse`] takes it.
    pub reading: String,
    pub source: String,
    pub date: String,
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

/// Parses a reading. Where tokens may have a `!`, it is none of the token here.
///
/// # Errors
///
/// If the dialect has no such tokens.
pub(super) fn chain(reading: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
    match reading.strip_suffix('!') {
        Some(tokens) => Crawler::parse(tokens, dialect).map(Crawler::without_default),
        None => Crawler::parse(reading, dialect),
    }
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
        let class = selection.class.as_ref();
        let is_in = |classes: &[String]| class.is_none_or(|class| classes.contains(class));
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

/// Returns the list called `name`, or the crawler, as its operator documents it. `None` if there is
/// neither.
pub fn find(name: &str) -> Option<Found> {
    let read = |name: &str| reading(name).map_or(name, |it| &it.reading).to_owned();
    if let Some(selection) = TABLES.list.iter().find(|list| list.name == name) {
        let names = TABLES.select(selection).into_iter().map(|(name, _)| read(name)).collect();
        return Some(Found { source: TABLES.source(selection).describe(), names });
    }
    let crawler = crawlers().find(|crawler| crawler.eq_ignore_ascii_case(name))?;
    let source = match reading(crawler) {
        Some(Reading { source, date, .. }) => format!("{source}, {date}"),
        None => "by its product token".to_owned(),
    };
    Some(Found { source, names: vec![read(crawler)] })
}

/// Returns how the crawler with this product token reads robots.txt, if its operator documents more than
/// the token.
pub fn reading(token: &str) -> Option<&'static Reading> {
    // Parsing takes longer than a small run, and most tokens have no reading.
    let is_key = |line: &str| {
        let key = line.strip_prefix('"').and_then(|rest| rest.get(..token.len()));
        key.is_some_and(|key| key.eq_ignore_ascii_case(token)) && line.contains("{ reading")
    };
    if !TEXT.lines().any(is_key) {
        return None;
    }
    let is_it = |name: &str| name.eq_ignore_ascii_case(token);
    TABLES.readings.iter().find(|(name, _)| is_it(name)).map(|(_, reading)| reading)
}

/// The names of all crawlers that `@NAME` can name.
fn crawlers() -> impl Iterator<Item = &'static str> {
    agents().chain(TABLES.readings.keys().map(String::as_str))
}

/// The names of the lists, and what each has.
pub fn descriptions() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.list.iter().map(|list| (list.name.as_str(), list.about.as_str()))
}

/// The names of the lists.
pub fn names() -> impl Iterator<Item = &'static str> {
    descriptions().map(|(name, _)| name)
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
            match (reading(name), classes.iter().any(|class| class == USE)) {
                (Some(Reading { reading, .. }), _) => writeln!(out, "  {reading}")?,
                (None, true) => writeln!(out, "  {name}  (controls use; does not fetch)")?,
                (None, false) => writeln!(out, "  {name}")?,
            }
        }
    }
    out.write_all(
        b"\n@CRAWLER: one of these, or one that its operator documents as more than its token:\n\
          A+B follows the groups of B if none names A; A! does not read the groups for *\n",
    )?;
    for Reading { reading, source, date } in TABLES.readings.values() {
        writeln!(out, "  {reading}  ({source}, {date})")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::GOOGLE;

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
        for (name, Reading { reading, source, date }) in &TABLES.readings {
            let chain = Crawler::parse(reading, &GOOGLE).unwrap();
            assert_eq!(chain.tokens().next(), Some(name.as_str()));
            assert!(chain.tokens().count() > 1 || !chain.reads_default(), "{reading} says no more");
            assert!(source.starts_with("https://") && date.len() == 10, "{reading}");
        }
    }

    #[test]
    fn crawlers_are_read_as_documented() {
        let names = |name: &str| find(name).unwrap().names;
        assert_eq!(names("yandexbot"), ["YandexBot+Yandex"]);
        assert_eq!(names("AdsBot-Google"), ["AdsBot-Google!"]);
        assert_eq!(names("GPTBot"), ["GPTBot"]);
        for reading in ["YandexBot+Yandex", "Applebot+Googlebot"] {
            assert!(names("search").iter().any(|name| name == reading), "{reading}");
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
