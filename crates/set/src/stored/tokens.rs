//! The names of crawlers in a set, and which of them an agent matches.

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::dialect::NamesAgent;
use portcullis_robots::policy::{Crawler, is_name_of};

use super::super::file::Damage;
use super::super::layout::{PolicyHead, partition_point};
use super::PolicySet;

/// An agent, as numbers of names in one set. The default is an agent that the set does not name.
#[derive(Clone, Debug, Default)]
pub struct AgentTokens {
    /// Whether the default groups do not apply ([`Crawler::reads_default`]).
    pub(crate) skips_default: bool,
    /// For each token of the chain that the set names: its position in the chain, and the numbers
    /// of the names that it matches, ascending.
    pub(crate) chain: Vec<(usize, Vec<u32>)>,
}

impl AgentTokens {
    /// Returns whether a policy with these names, as its head has them, may name the agent.
    #[inline]
    pub(crate) fn may_be_in(&self, names: u64) -> bool {
        let numbers = self.chain.iter().flat_map(|(_, numbers)| numbers);
        numbers.into_iter().any(|&number| names & PolicyHead::name_bit(number) != 0)
    }

    /// Returns the entry, the naming record and the position in the chain of the first token of the
    /// chain that is one of `names`, which ascend. `naming` returns the entry and the record of a name
    /// by its index. If several names match the token, the first record counts.
    #[inline]
    pub(crate) fn first_named(
        &self,
        names: &[U32],
        naming: impl Fn(usize) -> Option<(u32, u32)>,
    ) -> Option<(u32, u32, usize)> {
        for (position, numbers) in &self.chain {
            let found = numbers.iter().filter_map(|number| {
                naming(names.binary_search_by_key(number, |name| name.get()).ok()?)
            });
            if let Some((entry, record)) = found.min_by_key(|&(_, record)| record) {
                return Some((entry, record, *position));
            }
        }
        None
    }
}

/// The section, with its bounds checked.
#[derive(Clone, Copy)]
pub(crate) struct Names<'s> {
    pub(crate) ends: &'s [U32],
    /// The numbers of names, in the order of their bytes.
    in_order: &'s [U32],
    pub(crate) bytes: &'s [u8],
}

impl<'s> Names<'s> {
    pub(crate) fn get(&self, number: u32) -> Option<&'s [u8]> {
        let number = number as usize;
        let start = match number {
            0 => 0,
            _ => self.ends.get(number - 1)?.get() as usize,
        };
        self.bytes.get(start..self.ends.get(number)?.get() as usize)
    }

    /// Returns the number of `name`: `Some(None)` if the section does not have it, `None` if a name
    /// that the search needs is missing.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Option<u32>> {
        let precedes = |index: usize| {
            let other = self.get(self.in_order[index].get());
            other.map(|other| other < name).ok_or(())
        };
        let first = partition_point(self.in_order.len(), precedes).ok()?;
        let number = self.in_order.get(first).map(|number| number.get());
        Some(number.filter(|&number| self.get(number) == Some(name)))
    }
}

impl PolicySet {
    pub(crate) fn names(&self) -> Result<Names<'_>, Damage> {
        let section = self.sections.tokens;
        let malformed = || self.malformed(section, 0, "its names do not fit into it");
        let bytes = self.file.bytes(section, 0, section.bytes)?;
        let word_bytes = size_of::<u32>();
        let (count, rest) = bytes.split_at_checked(word_bytes).ok_or_else(malformed)?;
        let count = u32::from_le_bytes(count.try_into().expect("four bytes")) as usize;
        let words = count.checked_mul(2).ok_or_else(malformed)?;
        let (words, bytes) =
            <[U32]>::ref_from_prefix_with_elems(rest, words).map_err(|_| malformed())?;
        let (ends, in_order) = words.split_at(count);
        Ok(Names { ends, in_order, bytes })
    }

    /// Returns the names of crawlers, by number.
    pub fn robot_names(&self) -> Result<Vec<&[u8]>, Damage> {
        let names = self.names()?;
        let name = |number| names.get(number).ok_or_else(|| self.missing_name(number));
        (0..names.ends.len() as u32).map(name).collect()
    }

    #[cold]
    pub(super) fn missing_name(&self, number: u32) -> Damage {
        let word = number.saturating_add(1);
        self.malformed(self.sections.tokens, word, "the name of a crawler is missing")
    }

    /// Returns whether some group names an agent.
    ///
    /// # Errors
    ///
    /// If the names are damaged.
    pub fn names_agent(&self, agent: &Crawler) -> Result<bool, Damage> {
        Ok(!self.tokens_of(agent)?.chain.is_empty())
    }

    /// Returns the names that an agent matches.
    ///
    /// # Errors
    ///
    /// If the names are damaged.
    pub fn tokens_of(&self, agent: &Crawler) -> Result<AgentTokens, Damage> {
        let tokens = self.matched_by(agent.tokens())?;
        Ok(AgentTokens { skips_default: !agent.reads_default(), ..tokens })
    }

    /// Returns the names that these tokens match.
    pub(crate) fn matched_by<'a>(
        &self,
        tokens: impl IntoIterator<Item = &'a str>,
    ) -> Result<AgentTokens, Damage> {
        let names = self.names()?;
        let mut chain = Vec::new();
        for (position, token) in tokens.into_iter().enumerate() {
            let mut numbers: Vec<u32> = Vec::new();
            match self.dialect.groups.names_agent {
                NamesAgent::Equal => {
                    let found = names.find(token.to_ascii_lowercase().as_bytes());
                    let missing = || self.missing_name(0);
                    numbers.extend(found.ok_or_else(missing)?);
                }
                NamesAgent::OccursInName => {
                    for number in 0..names.ends.len() as u32 {
                        let name = names.get(number).filter(|name| !name.is_empty());
                        let name = name.ok_or_else(|| self.missing_name(number))?;
                        if is_name_of(name, token, self.dialect) {
                            numbers.push(number);
                        }
                    }
                }
            }
            if !numbers.is_empty() {
                chain.push((position, numbers));
            }
        }
        Ok(AgentTokens { chain, skips_default: false })
    }
}
