//! The agents of `-a`: names, and lists of names by `@NAME` or `@FILE`.
//!
//! [`expand`] makes one list of names without duplicates. Lists, `@CRAWLER` and headers read robots.txt as
//! operators document it (`portcullis-crawlers`); a typed token stays as it is. `AgentNotes` reports names that
//! have no effect with the loaded policies; nothing else here reads policies.

mod notes;
mod printed;
mod readings;

use std::collections::HashMap;
use std::path::Path;
use std::{fs, iter};

use crate::limits::AGENT_FILE_BYTES_MAX;
use anyhow::{Context, bail, ensure};
use portcullis_crawlers::{self as crawlers, Documented, documented, first_token, from_header};
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_files::error::system_text;
use portcullis_report::AgentList;
use portcullis_robots::policy::{AgentError, Crawler};
use portcullis_text::figures::size;
use portcullis_text::visible::cut_characters;

pub(crate) use notes::{AgentNotes, show_misspelt};
pub(crate) use printed::write as write_lists;
pub(crate) use readings::write as write_readings;

/// The most characters of a User-Agent header that a message shows.
const SHOWN_CHARACTERS_MAX: usize = 60;

/// A value of `-a`: a name, or `@` and a list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentValue(String);

impl AgentValue {
    pub fn new(text: impl Into<String>) -> AgentValue {
        AgentValue(text.into())
    }

    /// Returns the file that lists the names. `None` for a name and for a list that is compiled in.
    pub fn file(&self) -> Option<&Path> {
        let list = self.0.strip_prefix('@')?;
        crawlers::find(list).is_none().then_some(Path::new(list))
    }
}

/// The agents of `-a`, or of another flag.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The other flag.
    pub flag: Option<&'static str>,
    pub names: Vec<Name>,
    /// The User-Agent headers, each once.
    pub headers: Vec<String>,
    /// The lists that contributed names, without the numbers of their agents.
    pub lists: Vec<AgentList>,
    /// Names that were given more than once. Each is evaluated once.
    pub repeated: Vec<String>,
    /// Names of crawlers that a list has and another value gives as a token: the position of the first in
    /// `names`, and the second.
    pub also: Vec<(usize, Name)>,
}

/// A product token, or several joined by `+`.
#[derive(Clone, Debug)]
pub struct Name {
    pub name: String,
    /// The position of the list in [`Asked::lists`], if the name comes from one.
    pub list: Option<usize>,
    /// The line in a file, counted from 1.
    line: Option<usize>,
    /// Whether the tokens are those that the operator documents, and were not typed.
    is_documented: bool,
    /// Whether it is the token of a purpose, to which the groups for `*` do not apply in any dialect.
    is_purpose: bool,
}

/// The name in `-a` of any crawler that no group names.
const ANY_OTHER: &str = "*";

impl Name {
    fn new(name: String, list: Option<usize>, line: Option<usize>) -> Name {
        Name { name, list, line, is_documented: false, is_purpose: false }
    }

    /// Whether it comes from a list that is compiled in, and not from a file. Names of such a list that a
    /// dialect cannot express are skipped.
    fn is_ours(&self) -> bool {
        self.list.is_some() && self.line.is_none()
    }

    /// Returns the agent in a dialect.
    ///
    /// # Errors
    ///
    /// If the dialect has no such tokens.
    pub fn chain(&self, dialect: &Dialect) -> Result<Crawler, AgentError> {
        match self.is_ours() || self.is_documented {
            _ if self.is_purpose => Ok(Crawler::parse(&self.name, dialect)?.without_default()),
            _ if self.name == ANY_OTHER => Ok(Crawler::unnamed()),
            true => crawlers::crawler(&self.name, dialect),
            false => Crawler::parse(&self.name, dialect),
        }
    }
}

impl Asked {
    /// Returns the agents in a dialect, the agents of User-Agent headers, and the names in built-in lists
    /// that the dialect cannot express.
    ///
    /// # Errors
    ///
    /// If a name that was given directly or a header is not valid, or no agent is left.
    pub fn chains(&self, dialect: &Dialect) -> anyhow::Result<(Vec<Crawler>, Vec<&str>)> {
        let (mut chains, mut skipped) = (Vec::new(), Vec::new());
        for name in &self.names {
            match name.chain(dialect) {
                Ok(chain) => chains.push(chain),
                Err(_) if name.is_ours() => skipped.push(name.name.as_str()),
                Err(error) => {
                    refuse_mistaken(&name.name)?;
                    let place = self.place(name);
                    ensure!(
                        !name.name.contains("://"),
                        "{place}: a URL, not a product token; lists of URLs follow the flags, without -a"
                    );
                    return Err(error).with_context(|| format!("invalid value for {place}"));
                }
            }
        }
        for (first, second) in &self.also {
            self.check_same(&self.names[*first], second, dialect)?;
        }
        for header in &self.headers {
            let chain = from_header(header, dialect);
            chains.push(chain.context("invalid value for --user-agent")?);
        }
        ensure!(
            !chains.is_empty() || skipped.is_empty(),
            "the dialect {} has none of the product tokens of -a; name other agents",
            dialect.name
        );
        Ok((chains, skipped))
    }

    /// Checks that a name that is evaluated once means one crawler, which reads robots.txt in one way.
    fn check_same(&self, first: &Name, second: &Name, dialect: &Dialect) -> anyhow::Result<()> {
        let (Ok(one), Ok(other)) = (first.chain(dialect), second.chain(dialect)) else {
            return Ok(());
        };
        let tokens = |it: &Crawler| it.tokens().map(str::to_ascii_lowercase).collect::<Vec<_>>();
        let reading = |it: &Crawler| (tokens(it), it.reads_default(), it.reading().without_file);
        let (listed, typed) = if first.is_ours() { (first, second) } else { (second, first) };
        ensure!(
            reading(&one) == reading(&other),
            "{} names {}, and {} as its operator documents it, which reads robots.txt in another way; omit one",
            self.place(typed),
            typed.name,
            self.place(listed)
        );
        Ok(())
    }

    /// Describes the lists for an account, without the names in `skipped`.
    pub fn describe_lists(&self, skipped: &[&str]) -> Vec<AgentList> {
        let list = |(number, list): (usize, &AgentList)| {
            let named = self.names.iter().filter(|name| name.list == Some(number));
            let (skipped, agents): (Vec<_>, Vec<_>) =
                named.map(|name| name.name.clone()).partition(|name| skipped.contains(&&**name));
            AgentList { agents: agents.len(), skipped, ..list.clone() }
        };
        self.lists.iter().enumerate().map(list).collect()
    }

    /// Adds tokens of a purpose after the other names.
    pub fn add_purpose_tokens(&mut self, tokens: &[String]) {
        let name =
            |token: &String| Name { is_purpose: true, ..Name::new(token.clone(), None, None) };
        self.names.extend(tokens.iter().map(name));
    }

    /// Returns the names that `-a` itself has, not a list.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let is_given = |it: &&Name| it.list.is_none() && !it.is_documented && !it.is_purpose;
        let given = self.names.iter().filter(is_given);
        given.map(|name| name.name.as_str())
    }

    /// Returns the crawlers that are decided as their operators document them.
    fn documented(&self) -> impl Iterator<Item = &'static Documented> {
        let names = self.names.iter().filter(|name| name.is_ours() || name.is_documented);
        let headers = self.headers.iter().filter_map(|header| {
            Crawler::from_header(header, &RFC_9309).ok()?.tokens().next().and_then(documented)
        });
        names.filter_map(|name| documented(first_token(&name.name))).chain(headers)
    }

    /// Reads the agents that `-a` names as their operators document them, as headers are read.
    pub fn read_as_documented(&mut self) {
        for name in self.names.iter_mut().filter(|name| name.list.is_none()) {
            if let Some(crawler) = documented(&name.name) {
                name.is_documented = true;
                if crawler.has_other_groups() {
                    crawler.reading.clone_into(&mut name.name);
                }
            }
        }
    }

    /// Describes the place of a name for a message.
    fn place(&self, name: &Name) -> String {
        match (name.list, name.line) {
            (Some(list), Some(line)) => format!("{}, line {line}", self.lists[list].name),
            (Some(list), None) => self.lists[list].name.clone(),
            (None, _) => self.flag.unwrap_or("-a").into(),
        }
    }
}

/// Expands the values of `-a` to names, in order and without duplicates that differ only in case.
///
/// # Errors
///
/// If a list or file does not exist or cannot be read.
pub fn expand(values: &[AgentValue]) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    // The position of each name.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for AgentValue(value) in values {
        let names = match value.strip_prefix('@') {
            Some(list) => listed(list, &mut asked.lists)?,
            None => vec![Name::new(value.clone(), None, None)],
        };
        for name in names {
            let Asked { names, repeated, also, .. } = &mut asked;
            let first = *seen.entry(name.name.to_ascii_lowercase()).or_insert(names.len());
            match names.get(first) {
                None => names.push(name),
                Some(known) if known.list.is_none() && name.list.is_none() => {
                    repeated.push(name.name);
                }
                Some(known) if known.is_ours() != name.is_ours() => also.push((first, name)),
                Some(_) => {}
            }
        }
    }
    Ok(asked)
}

/// Returns the names in the list or file `@list`, and adds the list to `lists`.
fn listed(list: &str, lists: &mut Vec<AgentList>) -> anyhow::Result<Vec<Name>> {
    let (number, at) = (Some(lists.len()), format!("@{list}"));
    if let Some(found) = crawlers::find(list) {
        lists.push(AgentList { name: at, source: found.source, ..AgentList::default() });
        let name = |name: &str| Name::new(name.to_owned(), number, None);
        return Ok(found.readings.into_iter().map(name).collect());
    }
    let path = Path::new(list);
    if !path.exists() {
        bail!(
            "-a @{list}: there is no such list and no such file{}; the lists are {} (`portcullis \
             --agent-lists` shows their names)",
            printed::suggestion(list)
                .or_else(|| crawlers::nearest(list, iter::empty()))
                .map(|it| format!(" (did you mean @{it}?)"))
                .unwrap_or_default(),
            crawlers::lists().map(|list| format!("@{}", list.name)).collect::<Vec<_>>().join(", ")
        );
    }
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    ensure!(
        bytes <= AGENT_FILE_BYTES_MAX,
        "-a @{list}: the file has {}, more than a list of agents may have ({}); is it the right file?",
        size(bytes),
        size(AGENT_FILE_BYTES_MAX)
    );
    let text =
        fs::read(path).map_err(|error| anyhow::anyhow!("-a @{list}: {}", system_text(&error)))?;
    let text = String::from_utf8(text).ok().with_context(|| {
        format!("-a @{list}: not a text file; write one product token per line")
    })?;
    let source = path.display().to_string();
    lists.push(AgentList { name: at, source, ..AgentList::default() });
    let names: Vec<Name> = file_names(&text, number).collect();
    ensure!(
        !names.is_empty(),
        "-a @{list}: the file names no agent; write one product token per line"
    );
    Ok(names)
}

/// The names in a file: one per line, without comments that begin with `#`.
fn file_names(text: &str, list: Option<usize>) -> impl Iterator<Item = Name> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let name = line.split('#').next().unwrap_or_default().trim().to_owned();
        (!name.is_empty()).then(|| Name::new(name, list, Some(number)))
    })
}

/// Rejects the path of a file, and a User-Agent header, of which `-a` sees only the part before the first
/// comma. Dialects differ in which names they accept, so this is called only for names that the dialect
/// rejects.
///
/// # Errors
///
/// If `name` is a header, or there is such a file.
fn refuse_mistaken(name: &str) -> anyhow::Result<()> {
    let starts = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("mozilla/"));
    ensure!(
        !(starts || name.contains('(') || name.contains(';') && name.contains('/')),
        "invalid value for -a: '{}' is a User-Agent header; pass it with --user-agent 'HEADER'",
        cut_characters(name, SHOWN_CHARACTERS_MAX)
    );
    ensure!(
        !Path::new(name).is_file(),
        "invalid value for -a: {name} is a file; -a names agents, such as -a GPTBot, and lists follow \
         the flags"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(values: &[&str]) -> Vec<String> {
        let values: Vec<AgentValue> = values.iter().map(|&value| AgentValue::new(value)).collect();
        expand(&values).unwrap().names.into_iter().map(|name| name.name).collect()
    }

    #[test]
    fn a_name_has_one_reading() {
        let chains = |values: &[&str]| {
            let values: Vec<AgentValue> = values.iter().map(|&it| AgentValue::new(it)).collect();
            let asked = expand(&values).unwrap();
            asked.chains(&RFC_9309).map(|(chains, _)| chains.len()).map_err(|it| it.to_string())
        };
        assert_eq!(chains(&["ccbot", "@CCBot", "CCBot"]), Ok(1));
        // A crawler that ignores Crawl-delay has the same verdicts.
        assert!(chains(&["Googlebot", "@search"]).is_ok());
        for values in [["Amazonbot", "@Amazonbot"], ["@YandexBot", "YandexBot+Yandex"]] {
            for values in [values, [values[1], values[0]]] {
                let error = chains(&values).unwrap_err();
                assert!(error.contains("omit one"), "{error}");
            }
        }
        assert!(chains(&["Amazonbot", "@ai-training"]).is_err());
    }

    #[test]
    fn each_name_once_and_the_first_spelling() {
        assert_eq!(names(&["A", "b", "a", "B", "A+b"]), ["A", "b", "A+b"]);
        let listed = names(&["gptbot", "@ai-training"]);
        assert_eq!(listed[0], "gptbot");
        assert!(!listed[1..].iter().any(|name| name.eq_ignore_ascii_case("gptbot")));
        assert!(listed.iter().any(|name| name == "CCBot"));
        assert_eq!(names(&["@search", "@search"]), names(&["@search"]));
    }

    #[test]
    fn files_have_a_name_per_line() {
        let text = "\u{feff}# ours\r\nOne\r\n\n  Two # two\nThree";
        let found: Vec<_> =
            file_names(text, Some(0)).map(|it| (it.name, it.line.unwrap())).collect();
        assert_eq!(found, [("One".into(), 2), ("Two".into(), 4), ("Three".into(), 5)]);
    }

    #[test]
    fn headers_are_refused() {
        for header in
            ["Mozilla/5.0 (compatible", "mozilla/5.0", "GPTBot/1.2; +https://a.example", "X (y)"]
        {
            assert!(refuse_mistaken(header).is_err(), "{header}");
        }
        for name in ["GPTBot", "GPTBot/1.2", "Googlebot-News+Googlebot", "é", "Mozilla"] {
            assert!(refuse_mistaken(name).is_ok(), "{name}");
        }
    }
}
