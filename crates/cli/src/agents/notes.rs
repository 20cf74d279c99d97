//! Notes on agents that have no effect with the loaded policies.
//!
//! A name that the dialect cannot express is skipped if it comes from a built-in list. The default
//! rules apply to a name that no group has. The name may be intended or misspelt, so the nearest
//! name in the built-in lists and the set is suggested. Looking a name up is a binary search. A
//! suggestion is one pass over the set's table of names, in which each name occurs once, so only
//! the first [`AGENT_SUGGESTIONS_MAX`] agents get one.

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::Path;

use crate::limits::AGENT_SUGGESTIONS_MAX;
use portcullis_crawlers::{self as crawlers, Documented, first_token};
use portcullis_dialect::dialect::GOOGLE;
use portcullis_report::{AgentList, KnownAgent, Run, UnnamedAgent};
use portcullis_robots::policy::{Crawler, WithoutFile};
use portcullis_set::PolicySet;
use portcullis_text::figures::joined;

use super::super::message::say;
use super::super::output::SummaryForm;
use super::super::plan::QuestionPlan;
use super::readings;

/// The most names in one note. The JSON summary has all names.
const SHOWN_MAX: usize = 10;

/// The name of the agent of each record in accounts.
const AGENT_OF_RECORD: &str = "the agent of each record";

/// The names that have no effect, and the sources of all names.
#[derive(Clone, Debug, Default)]
pub struct AgentNotes {
    /// The agents that are evaluated, in the order of the output, and what an account says of them.
    pub run: Run,
    /// Notes on names that were typed or left out.
    pub notes: Vec<String>,
    /// The names to which no group for `*` applies, such as `A!` in most dialects.
    without_default: HashSet<String>,
}

impl AgentNotes {
    /// Collects the notes on the agents of `questions` with the policies of `set`.
    ///
    /// # Errors
    ///
    /// If an agent is not valid in the set's dialect, or the names in the set are damaged.
    pub fn of(questions: &QuestionPlan, set: &PolicySet) -> anyhow::Result<AgentNotes> {
        let dialect = set.dialect();
        let (chains, skipped) = questions.asked.chains(dialect)?;
        let listed = questions.asked.names.iter().filter(|name| name.list.is_some());
        let listed: HashSet<&str> = listed.map(|name| name.name.as_str()).collect();
        let mut unnamed = Vec::new();
        let is_asked =
            |chain: &&Crawler| !listed.contains(chain.name()) && chain.tokens().next().is_some();
        for chain in chains.iter().filter(is_asked) {
            if !set.names_agent(chain)? {
                let is_looked_up = unnamed.len() < AGENT_SUGGESTIONS_MAX;
                let suggestion =
                    if is_looked_up { nearest(chain, || set.robot_names())? } else { None };
                // The token of a purpose is read as `TOKEN!`.
                let token = chain.name().strip_suffix('!').filter(|token| {
                    let mut names = questions.asked.names.iter();
                    names.any(|name| name.is_purpose && name.name == *token)
                });
                let agent = token.unwrap_or(chain.name()).to_owned();
                unnamed.push(UnnamedAgent { agent, suggestion });
            }
        }
        let without_default = chains.iter().filter(|chain| !chain.reads_default());
        let without_default = without_default.map(|chain| chain.name().to_owned()).collect();
        let (names, of_records) = match questions.each {
            Some(_) => {
                let unnamed = Crawler::unnamed();
                let known = chains.iter().chain([&unnamed]).map(|chain| KnownAgent {
                    name: chain.name().to_owned(),
                    reading: readings::of_crawler(chain),
                });
                (vec![AGENT_OF_RECORD.to_owned()], known.collect())
            }
            None => (chains.iter().map(|chain| chain.name().to_owned()).collect(), Vec::new()),
        };
        let lists = questions.asked.describe_lists(&skipped);
        let mut notes = left_out(questions, &lists, dialect.name);
        notes.extend(other_readings(questions, set));
        let run = Run {
            agents: names,
            record_agents: of_records,
            agent_lists: lists,
            unnamed_agents: unnamed,
            ..Run::default()
        };
        Ok(AgentNotes { run, notes, without_default })
    }

    /// Shows the notes, and the names that no group has if they seem to be misspelt or have no rules at all:
    /// that no group names a crawler is usual. A JSON summary has all of them instead.
    pub fn show(&self, form: SummaryForm) {
        if form.hides_notes() {
            return;
        }
        self.notes.iter().for_each(|note| say(format_args!("note: {note}")));
        let has_no_default = |it: &&UnnamedAgent| {
            let of_purpose = format!("{}!", it.agent);
            [&it.agent, &of_purpose].into_iter().any(|name| self.without_default.contains(name))
        };
        let (without, others): (Vec<_>, Vec<_>) =
            self.run.unnamed_agents.iter().partition(has_no_default);
        let others = others.into_iter().filter(|agent| agent.suggestion.is_some()).collect();
        show_unnamed(others, "the groups for * apply to");
        show_unnamed(without, "no rules apply to");
    }
}

/// Shows the agents that no group names, and what follows for them.
fn show_unnamed(agents: Vec<&UnnamedAgent>, effect: &str) {
    if !agents.is_empty() {
        let name = |UnnamedAgent { agent, suggestion }: &&UnnamedAgent| match suggestion {
            Some(name) => format!("{agent} (did you mean {name}?)"),
            None => agent.clone(),
        };
        let shown = joined(agents.iter().map(name), SHOWN_MAX);
        let pronoun = if agents.len() == 1 { "it" } else { "them" };
        say(format_args!("note: no group names {shown}; {effect} {pronoun}"));
    }
}

/// Returns notes on tokens whose operators document more, on names that were repeated, and on names in
/// built-in lists that a flag named and the dialect cannot express.
fn left_out(questions: &QuestionPlan, lists: &[AgentList], dialect: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for name in questions.asked.given() {
        if Path::new(name).is_file() {
            notes
                .push(format!("-a {name} names an agent, though a file is called {name}; -a @{name} reads the file"));
        }
        let Some(crawler) = crawlers::documented(name).filter(|it| it.reads_otherwise()) else {
            continue;
        };
        let has_other_groups = crawler.has_other_groups() && name != crawler.reading;
        if !has_other_groups && crawler.answers.is_none() {
            continue;
        }
        let others: Vec<&str> = crawler.reading.trim_end_matches('!').split('+').skip(1).collect();
        let more = match (others.is_empty(), has_other_groups) {
            (_, false) => "reads answers without a file in its own way".to_owned(),
            (true, true) => "does not read the groups for *".to_owned(),
            (false, true) => format!("also follows the group {}", others.join(" and ")),
        };
        let token = first_token(name);
        notes.push(format!("{token} {more}, as its operator documents: -a @{token}"));
    }
    for name in &questions.asked.repeated {
        notes.push(format!("-a has {name} twice; it is evaluated once"));
    }
    let has_default_lists = questions.each.as_ref().is_some_and(|each| each.has_default_lists);
    for AgentList { name, skipped, .. } in lists {
        if !skipped.is_empty() && !has_default_lists {
            notes.push(format!(
                "{name}: these names are not product tokens in {dialect} and are skipped: {}",
                skipped.join(", ")
            ));
        }
    }
    notes
}

/// Returns notes on what operators document and a run cannot follow: another dialect than the set's, and,
/// for crawlers that are named one by one, what they kept before the captures of a set without history.
fn other_readings(questions: &QuestionPlan, set: &PolicySet) -> Vec<String> {
    let (dialect, asked) = (set.dialect(), &questions.asked);
    let mut notes = Vec::new();
    let others = asked.documented().filter_map(|it| Some((it.name(), it.dialect?.0)));
    let others = others.filter(|(_, other)| other.differs_from(dialect));
    let is_named = |it: &&Documented| {
        asked.lists.iter().any(|list| list.name[1..].eq_ignore_ascii_case(it.name()))
    };
    let is_other = |name: &str| dialect.name != GOOGLE.name && crawlers::is_of_google(name);
    // Those that are named one by one have a note of their own.
    let of_lists = asked
        .documented()
        .filter(|it| is_other(it.name()) && !is_named(it) && asked.headers.is_empty());
    let others = others.map(|(name, other)| format!("{name} ({})", other.as_str()));
    let of_lists = of_lists.map(|it| format!("{} ({})", it.name(), GOOGLE.name));
    let others: Vec<String> = others.chain(of_lists).collect();
    let has_default_lists = questions.each.as_ref().is_some_and(|each| each.has_default_lists);
    if !others.is_empty() && !has_default_lists {
        notes.push(format!(
            "decided by {}, although operators document another way to read robots.txt: {}",
            dialect.name,
            others.join(", ")
        ));
    }
    let named = asked.documented().filter(|it| is_named(it) || !asked.headers.is_empty());
    let mut named = asked.given().chain(named.map(|it| it.name()));
    let of_google = named.find(|name| crawlers::is_of_google(name));
    if let Some(name) = of_google.filter(|name| is_other(name)) {
        notes.push(format!(
            "{name} follows the dialect google; pass --dialect google (for a set, to compile)"
        ));
    }
    let has_dates = set.counts().captured().is_some();
    for it in asked.documented().filter(is_named).filter(|_| has_dates && !set.has_history()) {
        if let Some((WithoutFile::LastCopy { days }, _)) = it.answers {
            notes.push(format!(
                "{} keeps the last file for {days} days, but a set without history has only the newest answer: \
                 without a file, {} decides",
                it.name(),
                dialect.name
            ));
        }
    }
    notes
}

/// Says which agents seem to be misspelt, by the built-in lists alone.
pub fn show_misspelt(agents: &[Crawler]) {
    for agent in agents.iter().take(AGENT_SUGGESTIONS_MAX) {
        let Ok(near) = nearest(agent, || Ok::<_, Infallible>(Vec::new()));
        if let Some(name) = near {
            say(format_args!("note: no list has {} (did you mean {name}?)", agent.name()));
        }
    }
}

/// Returns the name in the built-in lists and in `names` that is nearest to a misspelt agent, or
/// `None` if none is near.
fn nearest<'s, E>(
    agent: &Crawler,
    names: impl FnOnce() -> Result<Vec<&'s [u8]>, E>,
) -> Result<Option<String>, E> {
    let Some(token) = agent.tokens().next() else { return Ok(None) };
    if ["all", "any"].iter().any(|word| token.eq_ignore_ascii_case(word)) {
        return Ok(Some("'*'".to_owned()));
    }
    if let Some(list) = crawlers::lists().find(|list| list.name.eq_ignore_ascii_case(token)) {
        return Ok(Some(format!("@{}", list.name)));
    }
    if crawlers::names().any(|name| name.eq_ignore_ascii_case(token)) {
        return Ok(None);
    }
    let names = names()?.into_iter().filter_map(|name| str::from_utf8(name).ok());
    Ok(crawlers::nearest(token, names).map(str::to_owned))
}
