//! Policies laid out for deciding: what is looked at for every path lies close together.
//!
//! Deciding one of many policies waits for memory more than it computes. So a policy is, for each
//! agent, two words: where the *prefilter* of its rules stands, which is one or two lines of memory and
//! answers most questions, and the number of its rule set. What only tells where a decision comes from
//! stands elsewhere and is looked at if somebody asks.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::automaton::{Limits, SieveLine};
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::id::{LineNumber, RuleID};
use crate::large_pages::ZeroedMemory;
use crate::syntax::Span;
use crate::vectors::Vectors;

use super::{AgentChain, Census, Detail};

/// The policies of many files for a list of agents, compiled.
///
/// It is immutable and shared by threads; each thread has its own [`Memory`](super::Memory).
#[derive(Debug)]
pub struct PolicyTable {
    pub(super) dialect: &'static Dialect,
    pub(super) detail: Detail,
    pub(super) agents: Vec<AgentChain>,
    /// By policy, then by agent.
    pub(super) starts: Vec<Start>,
    /// The prefilters of all rule sets, line by line.
    pub(super) sieves: ZeroedMemory,
    /// By rule set: where its table of patterns begins; and where the last one ends.
    pub(super) table_starts: Vec<u32>,
    /// By rule set, then by pattern: where its text begins.
    pub(super) tables: Vec<U32>,
    /// The texts of patterns.
    pub(super) texts: Vec<U32>,
    /// The decisions that hold for every path of some policy.
    pub(super) fixed: Vec<Decision>,
    /// By policy, then by agent: where decisions come from.
    pub(super) entries: Vec<Entry>,
    /// The rules of files, for the patterns of rule sets.
    pub(super) file_rules: Vec<FileRule>,
    /// What matching may spend.
    pub(super) limits: Limits,
    /// What prefilters are looked at with.
    pub(super) vectors: Vectors,
    /// Of the rule sets.
    pub(super) census: Census,
}

/// Where deciding a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Start {
    /// Where among the prefilters that of the rule set stands, or one of the kinds below.
    pub sieve: u32,
    /// The number of the rule set, or what the kind says.
    pub number: u32,
}

impl Start {
    /// The decision with this number holds for every path.
    pub const FIXED: u32 = u32::MAX;
    /// As for the agent with this number, which comes before.
    pub const SHARED: u32 = u32::MAX - 1;
    /// The rule set has no prefilter.
    pub const UNSIEVED: u32 = u32::MAX - 2;

    /// Where nothing is asked.
    pub const NOWHERE: Start = Start { sieve: Start::FIXED, number: 0 };

    /// Some as pairs of words.
    #[inline]
    pub fn words(starts: &[Start]) -> &[[u32; 2]] {
        <[[u32; 2]]>::ref_from_bytes(starts.as_bytes()).expect("they are pairs of words")
    }
}

/// What else is known of one agent and one file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Where the rules of its patterns stand in `file_rules`.
    pub file_rules: u32,
    /// The value of the user-agent line that speaks to the agent, in the first such group; none if
    /// no rule is looked at.
    pub group: Option<Span>,
}

/// The rule that a pattern stands for, in one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRule {
    pub rule: RuleID,
    pub line: LineNumber,
    /// The rule's value.
    pub value: Span,
    /// The value of the user-agent line that speaks to the agent, in the rule's group.
    pub group: Span,
}

/// Where in a file a decision comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The value of the rule that decides.
    pub rule: Option<Span>,
    /// The value of the user-agent line of that rule's group, or of the first group that speaks to
    /// the agent if no rule decides.
    pub group: Option<Span>,
}

/// In the place of a policy's number: none is known.
pub const NO_POLICY: u32 = u32::MAX;
/// In the place of a policy's number: there is no URL to ask about.
pub const NO_URL: u32 = u32::MAX - 1;

impl PolicyTable {
    /// Uses these vectors instead of the widest that the processor has. The answers are the same.
    pub fn with_vectors(self, vectors: Vectors) -> PolicyTable {
        PolicyTable { vectors, ..self }
    }

    /// Bounds the bytes that the automata of one thread hold.
    pub(crate) fn with_automata_bytes_max(mut self, bytes: usize) -> PolicyTable {
        self.limits.automata_bytes_max = bytes;
        self
    }

    /// The dialect that the policies were compiled for.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        &self.agents
    }

    /// The number of policies.
    pub fn len(&self) -> usize {
        self.starts.len() / self.agents.len().max(1)
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The lines of all prefilters.
    #[inline]
    pub(super) fn sieve_lines(&self) -> &[SieveLine] {
        <[SieveLine]>::ref_from_bytes(&self.sieves).expect("it has nothing but lines")
    }

    #[inline]
    pub(super) fn file_rule(&self, entry: usize, pattern: u32) -> FileRule {
        self.file_rules[(self.entries[entry].file_rules + pattern) as usize]
    }

    /// Counts rule sets and memory.
    pub fn census(&self) -> Census {
        Census { policies: self.len(), ..self.census }
    }
}
