//! An agent for each record: finds the crawler that a record names, and decides the record for it.
//!
//! The records of a block stay together whatever their agents are. The question about a record is
//! an entry, the policy and the agent, so that each stage still runs over the whole block. Where
//! answers begin is found for each entry that is asked about, not for all agents of a policy.
//!
//! A header may name several agents that are asked about. Each file then decides for the one whose
//! token it names first in the header's chain, as it would for the chain itself.
//!
//! † A record without an agent, or with one that is unreadable, is unknown and never allowed: the
//! groups for `*` may allow what a group for the agent forbids. The same holds for an agent that is
//! not asked about and that a file of the set names, and for a header whose file names first a token
//! of no agent that is asked about. The groups for `*` apply to other agents, because no file names
//! them.
//!
//! Cost: one comparison per record with a text that was found lately, or else a look-up in a table, and a
//! search in the policy for a header with several names that it may have. Texts of agents are parsed once,
//! as long as a session has room for them. Memory: four bytes for each policy and agent, which are used only
//! where an entry was asked about, and [`RECORD_AGENT_CACHE_BYTES_MAX`] per session.

use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{NamesAgent, RFC_9309};
use portcullis_robots::policy::Crawler;

use super::asking::{Asked, Entries, EntryNumber};
use super::classifier::{AgentKind, AgentNumber, Classifier, Crawlers};
use crate::Damage;
use crate::limits::{LAST_AGENTS, RECORD_AGENT_CACHE_BYTES_MAX};
use crate::stored::{AgentTokens, PolicyNumber, RecordPolicy};

/// The agent that a text names.
#[derive(Clone, Debug)]
enum Named {
    /// The same in every file; `None` if it is unreadable or not asked about.
    Agent(Option<AgentNumber>),
    /// The first one that a file names.
    Chain(Arc<NamedChain>),
}

/// A header with the names of several agents.
#[derive(Debug)]
pub(super) struct NamedChain {
    tokens: AgentTokens,
    /// The agents that are asked about, in the order of the header.
    pub asked: Vec<AgentNumber>,
    /// For each name of a crawler that the tokens match, ascending: the agent that it names; `None` if that is not
    /// asked about.
    agents: Vec<(u32, Option<AgentNumber>)>,
    /// The agent where the file names no token.
    otherwise: Option<AgentNumber>,
}

/// The agents of the records of a block, and those that were found before.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordAgents {
    /// By record: the agent, if it is asked about.
    agents: Vec<Option<AgentNumber>>,
    /// The records whose agent depends on their file, ascending.
    chains: Vec<(usize, Arc<NamedChain>)>,
    /// By record: the entry that is asked about, or the marker for none.
    entries: Vec<EntryNumber>,
    /// The agents by their text.
    known: HashMap<Arc<[u8]>, Named, RandomState>,
    /// The agents that were found last, by [`line_of`]: to compare a text takes less than to hash it.
    last: Vec<Option<(Arc<[u8]>, Named)>>,
    known_bytes: usize,
}

impl Named {
    /// Returns the memory that a text and its agent take, in bytes.
    fn bytes(&self, text: &[u8]) -> usize {
        let chain = match self {
            Named::Agent(_) => 0,
            Named::Chain(chain) => {
                let tokens = &chain.tokens.chain;
                let numbers: usize = tokens.iter().map(|(_, it)| 16 + size_of_val(&**it)).sum();
                let lists = size_of_val(&**tokens) + size_of_val(&*chain.agents);
                size_of::<NamedChain>() + numbers + lists + size_of_val(&*chain.asked)
            }
        };
        // A table leaves room free. A shared text has two counts.
        2 * size_of::<(Arc<[u8]>, Named)>() + size_of::<[usize; 2]>() + text.len() + chain
    }
}

/// Returns the line of [`RecordAgents::last`] for a text. Most headers differ in their length, the system that
/// they name first, or the version of the browser near their end.
#[inline]
fn line_of(text: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |at: usize| {
        let bytes = text.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let near_end = word(text.len().saturating_sub(24)).rotate_left(20);
    let hash = (word(16) ^ near_end ^ text.len() as u64).wrapping_mul(FACTOR);
    (hash >> (u64::BITS - LAST_AGENTS.ilog2())) as usize
}

impl Classifier {
    /// Returns the agent that `text` names: none if it names none, or one that is not asked about and
    /// that a file of the set names.
    fn recognise(&self, crawlers: &Crawlers, text: &[u8]) -> Result<Named, Damage> {
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        let chain = match crawlers.kind {
            // As logs have where there is none. A header of `-` has no token either. Any other crawler has the
            // empty name, which no record gives.
            AgentKind::Token if matches!(text, "" | "-") => return Ok(Named::Agent(None)),
            AgentKind::Token => match crawlers.known(text) {
                Some(agent) => return Ok(Named::Agent(Some(agent))),
                None => (crawlers.read)(text, self.dialect()),
            },
            AgentKind::Header => (crawlers.read)(text, self.dialect()),
        };
        let Ok(chain) = chain else { return Ok(Named::Agent(None)) };
        if crawlers.kind == AgentKind::Header {
            let named = match self.dialect().groups.names_agent {
                NamesAgent::Equal => self.by_tokens(crawlers, &chain)?,
                NamesAgent::OccursInName => self.by_name(crawlers, &chain)?,
            };
            if !named.asked.is_empty() || chain.is_browser() {
                let otherwise = named.otherwise;
                let is_one = named.agents.iter().all(|&(_, agent)| agent == otherwise)
                    && named.asked.iter().all(|&agent| Some(agent) == otherwise);
                return Ok(match is_one {
                    true => Named::Agent(otherwise),
                    false => Named::Chain(Arc::new(named)),
                });
            }
        }
        // The groups for `*` may not stand for a crawler that does not read them.
        let is_other = !chain.reads_default() || self.set.names_agent(&chain)?;
        Ok(Named::Agent((!is_other).then_some(crawlers.unnamed)))
    }

    /// Returns what the tokens of a header match, as of the header alone. The tokens to which a crawler falls
    /// back are those of its first token only, which names it, and come last.
    fn by_tokens(&self, crawlers: &Crawlers, header: &Crawler) -> Result<NamedChain, Damage> {
        let (mut tokens, mut agents) = (AgentTokens::default(), Vec::new());
        let (mut seen, mut asked) = (HashSet::<u32, RandomState>::default(), Vec::new());
        let first = header.tokens().next().and_then(|token| crawlers.known(token));
        let fallbacks = first.iter().flat_map(|agent| self.agents[agent.index()].tokens());
        let fallbacks: Vec<&str> = fallbacks.collect();
        let is_fallback = |token: &str| fallbacks.iter().any(|it| it.eq_ignore_ascii_case(token));
        for token in header.tokens().chain(fallbacks.iter().copied()) {
            let known = crawlers.known(token);
            let agent = first.filter(|_| is_fallback(token)).or(known);
            asked.extend(known);
            for (_, numbers) in self.set.matched_by([token])?.chain {
                if seen.insert(numbers[0]) {
                    agents.push((numbers[0], agent));
                    tokens.chain.push((tokens.chain.len(), numbers));
                }
            }
        }
        agents.sort_unstable();
        let otherwise = self.otherwise(crawlers, header, &asked, &agents);
        Ok(NamedChain { tokens, asked, agents, otherwise })
    }

    /// Returns the agent of a header in files that name none of its tokens, which are `named`: the first that
    /// is asked about if it follows the groups that the header does. One of a later token may not be the
    /// crawler, and may follow further groups, or not those for `*`.
    fn otherwise(
        &self,
        crawlers: &Crawlers,
        header: &Crawler,
        asked: &[AgentNumber],
        named: &[(u32, Option<AgentNumber>)],
    ) -> Option<AgentNumber> {
        let is_alike = |agent: &Crawler| {
            let of = |it: &Crawler| (it.reads_default(), it.reading().without_file);
            of(agent) == of(header)
        };
        let follows_others = |agent: AgentNumber| {
            let mut numbers = self.tokens[agent.index()].chain.iter().flat_map(|(_, it)| it);
            numbers.any(|number| named.binary_search_by_key(number, |it| it.0).is_err())
        };
        match asked.first() {
            Some(&agent) if is_alike(&self.agents[agent.index()]) && !follows_others(agent) => {
                Some(agent)
            }
            _ => is_alike(&Crawler::unnamed()).then_some(crawlers.unnamed),
        }
    }

    /// Like [`Classifier::by_tokens`], where names are compared by occurrence: the chain is the header
    /// as a whole, and its words are the names of agents.
    fn by_name(&self, crawlers: &Crawlers, header: &Crawler) -> Result<NamedChain, Damage> {
        let tokens = self.set.tokens_of(header)?;
        let words = Crawler::from_header(header.name(), &RFC_9309);
        let asked: Vec<AgentNumber> =
            words.iter().flat_map(Crawler::tokens).filter_map(|it| crawlers.known(it)).collect();
        let names = |agent: AgentNumber, number: u32| {
            let own = self.tokens[agent.index()].chain.first();
            // A fallback is for files that do not name the agent.
            own.is_some_and(|(at, numbers)| *at == 0 && numbers.binary_search(&number).is_ok())
        };
        let agent_of =
            |&number: &u32| (number, asked.iter().copied().find(|&it| names(it, number)));
        let mut agents: Vec<_> =
            tokens.chain.iter().flat_map(|(_, numbers)| numbers).map(agent_of).collect();
        agents.sort_unstable();
        let otherwise = self.otherwise(crawlers, header, &asked, &agents);
        Ok(NamedChain { tokens, asked, agents, otherwise })
    }

    /// Returns the agent of a header that names several in the file of a policy.
    fn agent_in(
        &self,
        chain: &NamedChain,
        policy: PolicyNumber,
    ) -> Result<Option<AgentNumber>, Damage> {
        let Some(number) = self.set.policy_head(policy)?.robot_named(&chain.tokens)? else {
            return Ok(chain.otherwise);
        };
        let place = chain.agents.binary_search_by_key(&number, |&(number, _)| number);
        Ok(place.ok().and_then(|place| chain.agents[place].1))
    }

    /// Decides each path of a block for the agent of its record.
    pub(super) fn decide_each(
        &self,
        policies: &[RecordPolicy],
        paths: &[&[u8]],
        asked: &mut Asked,
        RecordAgents { agents, chains, entries, .. }: &mut RecordAgents,
    ) -> Result<(), Damage> {
        for (record, chain) in chains {
            agents[*record] = match policies[*record].number() {
                None => chain.otherwise,
                Some(policy) => self.agent_in(chain, policy)?,
            };
        }
        let entry =
            |(policy, agent): (&RecordPolicy, &Option<AgentNumber>)| match (policy.number(), agent)
            {
                (None, _) => EntryNumber::without(*policy),
                (Some(_), None) => EntryNumber::without(RecordPolicy::UNKNOWN),
                (Some(policy), Some(agent)) => self.entry(policy, agent.index()),
            };
        entries.clear();
        entries.extend(policies.iter().zip(&*agents).map(entry));
        let entries = &**entries;
        self.decide_by(Entries::Each(entries), paths, asked, || self.resolve_entries(entries))?;
        self.always_allow(paths, asked, |record| entries[record].has_policy());
        for (record, _) in agents.iter().enumerate().filter(|(_, agent)| agent.is_none()) {
            if policies[record].number().is_some() {
                asked.decisions[record] = Decision::NO_AGENT.answer();
            }
        }
        Ok(())
    }

    /// Finds where answers begin for entries that are used for the first time.
    pub(super) fn resolve_entries(&self, entries: &[EntryNumber]) -> Result<(), Damage> {
        let mut open: Vec<_> = entries.iter().filter(|entry| !self.starts.has(**entry)).collect();
        open.sort_unstable();
        open.dedup();
        let columns = self.agents.len();
        let open = || open.iter().filter_map(|entry| Some((**entry, entry.parts(columns)?)));
        open().for_each(|(_, (policy, _))| self.set.prefetch_head(policy));
        for (_, (policy, agent)) in open() {
            self.set.prefetch_rules(policy, std::slice::from_ref(&self.tokens[agent]));
        }
        for (entry, (policy, agent)) in open() {
            let effect = self.set.policy_head(policy)?.effect(&self.tokens[agent])?;
            self.starts.set(entry, [self.beginning_of(policy, effect)?]);
        }
        Ok(())
    }
}

impl RecordAgents {
    /// Returns the agent of a record, if it is asked about.
    #[inline]
    pub fn of(&self, record: usize) -> Option<usize> {
        self.agents[record].map(AgentNumber::index)
    }

    /// Returns the bytes held for texts of agents.
    pub fn memory_bytes(&self) -> usize {
        self.known_bytes
    }

    /// Returns the names of the header of a record, if it has several.
    pub fn chain_of(&self, record: usize) -> Option<&NamedChain> {
        let place = self.chains.binary_search_by_key(&record, |(record, _)| *record);
        Some(&*self.chains[place.ok()?].1)
    }

    /// Finds the agents of the records of a block by their texts.
    pub fn recognise(&mut self, classifier: &Classifier, texts: &[&[u8]]) -> Result<(), Damage> {
        let RecordAgents { agents, chains, known, last, known_bytes, .. } = self;
        let Some(crawlers) = &classifier.crawlers else { return Ok(()) };
        agents.clear();
        chains.clear();
        last.resize(LAST_AGENTS, None);
        for (record, &text) in texts.iter().enumerate() {
            let line = line_of(text);
            let named = match &last[line] {
                Some((last, named)) if **last == *text => named,
                _ => {
                    let found = match known.get_key_value(text) {
                        Some((text, named)) => (Arc::clone(text), named.clone()),
                        None => {
                            let named = classifier.recognise(crawlers, text)?;
                            *known_bytes += named.bytes(text);
                            if *known_bytes > RECORD_AGENT_CACHE_BYTES_MAX {
                                known.clear();
                                last.fill(None);
                                *known_bytes = named.bytes(text);
                            }
                            let text: Arc<[u8]> = text.into();
                            known.insert(Arc::clone(&text), named.clone());
                            (text, named)
                        }
                    };
                    &last[line].insert(found).1
                }
            };
            match named {
                Named::Agent(agent) => agents.push(*agent),
                Named::Chain(chain) => {
                    agents.push(chain.otherwise);
                    chains.push((record, Arc::clone(chain)));
                }
            }
        }
        Ok(())
    }
}
