//! Files to a [`PolicyTable`]: parse and order in parallel, share what is equal, compile the rest.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use rayon::prelude::*;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use crate::automaton::{SieveLine, push_text, sieve_of, table_word};
use crate::decision::{Decision, Reason, Verdict};
use crate::id::RuleID;
use crate::large_pages::ZeroedMemory;
use crate::pattern::PatternList;
use crate::syntax::{RobotsTxt, Span, UserAgentLine};
use crate::vectors::Vectors;

use super::select::speaking_line;

use super::table::{Entry, FileRule, Start};
use super::{
    AgentChain, Census, Compilation, Detail, OrderedRules, PolicySource, PolicyTable, Selection,
    access_decision, outcomes,
};

/// Files that are parsed before their rule sets are shared. It bounds the memory for what is
/// waiting, and is large enough to keep all threads busy.
const FILES_AT_ONCE: usize = 4_096;

/// A parsed file, reduced to what its agents need.
struct FilePlan {
    agents: Vec<AgentPlan>,
    orders: Vec<Order>,
}

/// What one agent gets from a file.
#[derive(Clone, Copy)]
enum AgentPlan {
    Fixed(Decision),
    /// The rules at this position of the file's orders, and the group that speaks to the agent.
    Rules(usize, Span),
}

/// The rules for one selection of groups.
struct Order {
    groups: Vec<usize>,
    /// By group: the value of the user-agent line that speaks to the agent. Where decisions name
    /// their group, agents share an order only if their lines are the same.
    speaking: Vec<Span>,
    hash: u64,
    rules: OrderedRules,
    file_rules: Vec<FileRule>,
}

/// Rule sets seen so far; equal ones are one.
#[derive(Default)]
struct Interner {
    table: HashTable<u32>,
    rule_sets: Vec<OrderedRules>,
    hashes: Vec<u64>,
}

impl Interner {
    fn intern(&mut self, hash: u64, rules: OrderedRules) -> u32 {
        let same = |&index: &u32| {
            let other = &self.rule_sets[index as usize];
            other.verdicts == rules.verdicts && other.patterns == rules.patterns
        };
        if let Some(&index) = self.table.find(hash, same) {
            return index;
        }
        let index = self.rule_sets.len() as u32;
        self.rule_sets.push(rules);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, index, |&index| hashes[index as usize]);
        index
    }
}

/// A rule set as it is asked.
#[derive(Default)]
struct Sieved {
    lines: Vec<SieveLine>,
    /// By pattern: where its text begins, and whether it allows.
    table: Vec<(usize, bool)>,
    texts: Vec<U32>,
}

impl Sieved {
    fn of(patterns: &PatternList, verdicts: &[Verdict]) -> Sieved {
        let lines = sieve_of(patterns, &outcomes(verdicts));
        let mut sieved = Sieved { lines, ..Sieved::default() };
        sieved.table.reserve_exact(patterns.len());
        sieved.texts.reserve(4 * patterns.len() + patterns.stars() + patterns.octets() / 4);
        for (pattern, verdict) in patterns.iter().zip(verdicts) {
            sieved.table.push((sieved.texts.len(), *verdict == Verdict::Allow));
            push_text(&pattern, &mut sieved.texts);
        }
        sieved
    }
}

impl PolicyTable {
    /// Compiles `sources` for `agents`. The policy of a source has its position.
    ///
    /// It runs on the calling thread's rayon pool.
    pub fn compile(
        sources: &[PolicySource<'_>],
        agents: Vec<AgentChain>,
        compilation: &Compilation,
    ) -> PolicyTable {
        let mut interner = Interner::default();
        let mut table = PolicyTable {
            dialect: compilation.dialect,
            detail: compilation.detail,
            agents,
            starts: Vec::with_capacity(sources.len()),
            sieves: ZeroedMemory::new(0),
            table_starts: vec![0],
            tables: Vec::new(),
            texts: Vec::new(),
            fixed: Vec::new(),
            entries: Vec::with_capacity(sources.len()),
            file_rules: Vec::new(),
            limits: compilation.limits,
            vectors: Vectors::detect(),
            census: Census::default(),
        };
        let hasher = foldhash::quality::RandomState::default();
        let firsts = first_of_equals(sources, &hasher);
        let positions: Vec<usize> = (0..sources.len()).collect();
        for positions in positions.chunks(FILES_AT_ONCE) {
            let plan = |&position: &usize| {
                let is_first = firsts[position] == position;
                is_first.then(|| plan(sources[position], &table.agents, compilation, &hasher))
            };
            let plans: Vec<Option<FilePlan>> =
                positions.par_iter().with_min_len(16).map(plan).collect();
            for (plan, position) in plans.into_iter().zip(positions) {
                match plan {
                    Some(plan) => table.add(plan, &mut interner),
                    None => table.add_equal(firsts[*position]),
                }
            }
        }
        let compile = |rules: OrderedRules| {
            let OrderedRules { patterns, verdicts, .. } = rules;
            let mut sieve = Sieved::of(&patterns, &verdicts);
            if compilation.limits.candidates_tried_max.is_none() {
                sieve.lines.clear();
            }
            sieve
        };
        let rule_sets = interner.rule_sets.into_par_iter().with_min_len(8);
        table.lay_out(rule_sets.map(compile).collect());
        table
    }

    /// Moves the rule sets to where they are asked, and says so to those that start there.
    fn lay_out(&mut self, rule_sets: Vec<Sieved>) {
        let lines: usize = rule_sets.iter().map(|sieve| sieve.lines.len()).sum();
        self.tables.reserve_exact(rule_sets.iter().map(|sieve| sieve.table.len()).sum());
        self.texts.reserve_exact(rule_sets.iter().map(|sieve| sieve.texts.len()).sum());
        self.sieves = ZeroedMemory::new(lines * size_of::<SieveLine>());
        let mut places = Vec::with_capacity(rule_sets.len());
        let mut end = 0;
        for sieve in rule_sets {
            let place = u32::try_from(end).ok().filter(|_| !sieve.lines.is_empty());
            places.push(place.map_or(Start::UNSIEVED, |place| place.min(Start::UNSIEVED)));
            let octets = sieve.lines.as_bytes();
            self.sieves[end * size_of::<SieveLine>()..][..octets.len()].copy_from_slice(octets);
            end += sieve.lines.len();
            self.add_patterns(&sieve);
            self.census
                .add(octets.len() + (sieve.table.len() + sieve.texts.len()) * size_of::<U32>());
        }
        for start in &mut self.starts {
            if start.sieve == Start::UNSIEVED {
                start.sieve = places[start.number as usize];
            }
        }
    }

    /// Adds the patterns of a rule set.
    fn add_patterns(&mut self, sieve: &Sieved) {
        let base = self.texts.len();
        self.texts.extend_from_slice(&sieve.texts);
        self.tables.extend(sieve.table.iter().map(|&(at, allows)| table_word(base + at, allows)));
        self.table_starts.push(self.tables.len() as u32);
    }

    fn add(&mut self, plan: FilePlan, interner: &mut Interner) {
        let place = |order: Order| {
            let file_rules = self.file_rules.len() as u32;
            self.file_rules.extend(order.file_rules);
            (interner.intern(order.hash, order.rules), file_rules)
        };
        let places: Vec<(u32, u32)> = plan.orders.into_iter().map(place).collect();
        let order_of = |agent: &AgentPlan| match *agent {
            AgentPlan::Fixed(_) => None,
            AgentPlan::Rules(order, _) => Some(order),
        };
        for (index, agent) in plan.agents.iter().enumerate() {
            let (start, entry) = match *agent {
                AgentPlan::Fixed(decision) => (self.fixed_start(decision), Entry::default()),
                AgentPlan::Rules(order, group) => {
                    let (rule_set, file_rules) = places[order];
                    // The same order, not only the same rule set: lines differ between orders.
                    let same = |other: &AgentPlan| order_of(other) == Some(order);
                    let start = match plan.agents[..index].iter().position(same) {
                        Some(first) => Start { sieve: Start::SHARED, number: first as u32 },
                        // Until it is laid out.
                        None => Start { sieve: Start::UNSIEVED, number: rule_set },
                    };
                    (start, Entry { file_rules, group: Some(group) })
                }
            };
            self.starts.push(start);
            self.entries.push(entry);
        }
    }

    /// Adds a file that is equal to one before it, octet by octet.
    fn add_equal(&mut self, first: usize) {
        let agents = first * self.agents.len()..(first + 1) * self.agents.len();
        self.starts.extend_from_within(agents.clone());
        self.entries.extend_from_within(agents);
    }

    /// The start of a policy with one decision for every path.
    fn fixed_start(&mut self, decision: Decision) -> Start {
        let known = self.fixed.iter().position(|&other| other == decision);
        let number = known.unwrap_or_else(|| {
            self.fixed.push(decision);
            self.fixed.len() - 1
        });
        Start { sieve: Start::FIXED, number: number as u32 }
    }
}

/// For each source the position of the first that is equal to it, octet by octet. Half of the files of a crawl
/// are what some software writes for everybody.
fn first_of_equals(sources: &[PolicySource<'_>], hasher: &(impl BuildHasher + Sync)) -> Vec<usize> {
    let hash = |source: &PolicySource<'_>| match source {
        PolicySource::File(text) => hasher.hash_one(text),
        PolicySource::Access(_) => 0,
    };
    let hashes: Vec<u64> = sources.par_iter().with_min_len(64).map(hash).collect();
    let mut table = HashTable::with_capacity(sources.len());
    let first = |(position, source): (usize, &PolicySource<'_>)| {
        let PolicySource::File(text) = source else { return position };
        let same = |other: &usize| {
            hashes[*other] == hashes[position]
                && matches!(sources[*other], PolicySource::File(other) if other == *text)
        };
        let entry = table.entry(hashes[position], same, |other| hashes[*other]);
        *entry.or_insert(position).get()
    };
    sources.iter().enumerate().map(first).collect()
}

/// Parses a file and orders the rules of each agent; agents with the same groups share an order.
fn plan(
    source: PolicySource<'_>,
    agents: &[AgentChain],
    compilation: &Compilation,
    hasher: &impl BuildHasher,
) -> FilePlan {
    let mut plan = FilePlan { agents: Vec::with_capacity(agents.len()), orders: Vec::new() };
    let text = match source {
        PolicySource::File(text) => text,
        PolicySource::Access(outcome) => {
            plan.agents.resize(agents.len(), AgentPlan::Fixed(access_decision(outcome)));
            return plan;
        }
    };
    let dialect = compilation.dialect;
    let file = RobotsTxt::parse(text, dialect, compilation.robots_octets_max);
    for agent in agents {
        let allowed = |reason| AgentPlan::Fixed(Decision::without_rule(Verdict::Allow, reason));
        plan.agents.push(match Selection::of(&file, agent, dialect) {
            Selection::NoRules => allowed(Reason::NoRules),
            Selection::NoGroup => allowed(Reason::NoGroup),
            Selection::Groups { groups, token } => {
                let token = token.and_then(|position| agent.tokens().nth(position));
                let line = |&group| value_span(&speaking_line(&file, group, token, dialect));
                let speaking: Vec<Span> = groups.iter().map(line).collect();
                let first = speaking[0];
                let same = |order: &Order| {
                    let same_lines = compilation.detail == Detail::Reason;
                    order.groups == groups && (same_lines || order.speaking == speaking)
                };
                let known = plan.orders.iter().position(same);
                let position = known.unwrap_or_else(|| {
                    plan.orders.push(order(&file, groups, speaking, compilation, hasher));
                    plan.orders.len() - 1
                });
                AgentPlan::Rules(position, first)
            }
        });
    }
    plan
}

fn order(
    file: &RobotsTxt<'_>,
    groups: Vec<usize>,
    speaking: Vec<Span>,
    compilation: &Compilation,
    hasher: &impl BuildHasher,
) -> Order {
    let rules = OrderedRules::new(file, &groups, &compilation.dialect.paths);
    let file_rule = |&id: &RuleID| {
        let rule = &file.rules()[id.index()];
        let is_before = |&group: &usize| file.groups()[group].rules.end <= id.0;
        let group = speaking[groups.partition_point(is_before)];
        FileRule { rule: id, line: rule.line, value: value_of(rule.span, rule.value), group }
    };
    let file_rules = match compilation.detail {
        Detail::Reason => Vec::new(),
        Detail::Rule => rules.rules.iter().map(file_rule).collect(),
    };
    let mut hash = hasher.build_hasher();
    rules.patterns.hash(&mut hash);
    rules.verdicts.hash(&mut hash);
    Order { groups, speaking, hash: hash.finish(), rules, file_rules }
}

/// Where a record's value stands: at the record's end.
fn value_of(record: Span, value: &[u8]) -> Span {
    Span { start: record.end - value.len() as u32, end: record.end }
}

fn value_span(line: &UserAgentLine<'_>) -> Span {
    value_of(line.span, line.value)
}
