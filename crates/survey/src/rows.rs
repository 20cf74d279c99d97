//! A row for each origin and agent, and with history for each period.
//!
//! The hosts of a set are read in its order, in blocks ([`SurveyRows::blocks`]). Threads share
//! [`SurveyRows`]; each has a [`RowWorker`], which keeps what the last policies say to all agents,
//! because hosts share policies. Blocks do not depend on one another, so the rows are the same for
//! any number of threads.
//!
//! Memory: 8 bytes for each rule set of the set, and for each thread the facts of at most
//! [`SURVEY_FACTS_KEPT`] pairs of a policy and an agent, one host with its moments, and the rows that
//! were not taken: as many as [`SURVEY_BATCH_ROWS`] and [`SURVEY_LIST_BYTES`] let in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Stance};
use portcullis_domain::domain;
use portcullis_lint::analysis::Relation;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{CrawlDelay, Crawler};
use portcullis_rows::output::Added;
use portcullis_rows::output::columns::{Field, ValueType};
use portcullis_set::stored::{PolicyNumber, StoredCapture, StoredHost};
use portcullis_set::{Damage, PolicySet};
use portcullis_text::visible::cut_to_show;

use crate::delays::DelayCounts;
use crate::facts::{Addressed, FactReader, PolicyReading};
use crate::limits::{SURVEY_BATCH_ROWS, SURVEY_FACTS_KEPT, SURVEY_LIST_BYTES};
use crate::origins::Map;
use crate::policies::{AddressCounts, AgentFigures, RelationCounts};

/// The name of the origin and the host of a policy that applies to every URL.
const EVERYWHERE: &[u8] = b"*";

/// How much an agent may fetch: the words of the column, in the order of the engine's `Reach`.
const ACCESS: [&str; 3] = ["all", "part", "none"];

/// A column of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Origin,
    Host,
    Domain,
    Agent,
    State,
    Access,
    Root,
    Group,
    Named,
    Rules,
    CrawlDelay,
    Usage(Label),
    Licenses,
    Sitemaps,
    LicenseValues,
    SitemapValues,
    Relation,
    Witness,
    Captured,
    Since,
    Until,
}

/// The columns of a survey in the order of the output: the name, the type of the values, and whether
/// some rows have none.
const COLUMNS: [(Column, &str, ValueType, bool); 23] = {
    use Column::*;
    use ValueType::{Double, Flag, List, Number, Repeated, Time, Word};
    [
        (Origin, "origin", Repeated, false),
        (Host, "host", Repeated, false),
        (Domain, "domain", Repeated, true),
        (Agent, "agent", Repeated, false),
        (State, "state", Word, false),
        (Access, "access", Word, true),
        (Root, "root", Word, false),
        (Group, "group", Repeated, true),
        (Named, "named", Flag, false),
        (Rules, "rules", Number, false),
        (CrawlDelay, "crawl_delay", Double, true),
        (Usage(Label::TrainAi), "train_ai", Word, true),
        (Usage(Label::AiUse), "ai_use", Word, true),
        (Usage(Label::Search), "search", Word, true),
        (Licenses, "licenses", Number, false),
        (Sitemaps, "sitemaps", Number, false),
        (LicenseValues, "license_values", List, false),
        (SitemapValues, "sitemap_values", List, false),
        (Relation, "relation", Word, false),
        (Witness, "witness", Repeated, true),
        (Captured, "captured", Time, true),
        (Since, "since", Time, true),
        (Until, "until", Time, true),
    ]
};

impl Column {
    /// Returns the words of the column; empty if its values are not words.
    fn words(self) -> &'static [&'static str] {
        match self {
            Column::State => &PolicyState::WORDS,
            Column::Access => &ACCESS,
            Column::Root => &Verdict::WORDS,
            Column::Usage(_) => &Stance::WORDS,
            Column::Relation => &Relation::WORDS,
            _ => &[],
        }
    }
}

impl RowConfig {
    fn columns(self) -> impl Iterator<Item = &'static (Column, &'static str, ValueType, bool)> {
        let is_list =
            |column: &Column| matches!(column, Column::LicenseValues | Column::SitemapValues);
        let is_compared = |column: &Column| matches!(column, Column::Relation | Column::Witness);
        let is_wanted = move |column: &Column| {
            (self.lists || !is_list(column)) && (self.beside || !is_compared(column))
        };
        COLUMNS.iter().filter(move |(column, ..)| is_wanted(column))
    }

    /// Returns the columns of the rows.
    pub fn fields(self) -> Vec<Field> {
        let field = |&(column, name, value_type, has_gaps): &(Column, &str, ValueType, bool)| {
            Field::declared(name, value_type, has_gaps, column.words())
        };
        self.columns().map(field).collect()
    }
}

/// What the rows of a survey have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowConfig {
    /// Whether each period of an origin has its rows, and not the newest alone.
    pub history: bool,
    /// Whether the values of licences and sitemaps are columns.
    pub lists: bool,
    /// Whether each agent is compared with another ([`SurveyRows::beside`]).
    pub beside: bool,
    /// The time as of which origins have rows; `None` for the newest. Origins that had not been captured
    /// have none.
    pub at: Option<UnixSeconds>,
}

/// The rows of a survey.
#[derive(Debug)]
pub struct SurveyRows<'s> {
    set: &'s PolicySet,
    facts: FactReader<'s>,
    agents: Vec<Crawler>,
    config: RowConfig,
    columns: Vec<Column>,
    /// The counts of finished workers.
    totals: Mutex<RowTotals>,
}

/// The totals of a survey. Agents are counted by the newest policies.
#[derive(Clone, Debug, Default)]
pub struct RowTotals {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of origins.
    pub origins: u64,
    /// The number of rows, of all periods.
    pub rows: u64,
    /// The counts of origins and of hosts, by agent.
    counts: Vec<[AddressCounts; 2]>,
    /// The crawl delays of origins, by agent.
    delays: Vec<DelayCounts>,
    /// The hosts by relation, by agent; empty unless agents are compared with another.
    relations: Vec<[u64; Relation::ALL.len()]>,
}

/// The rows of one thread.
pub struct RowWorker<'r, 's> {
    rows: &'r SurveyRows<'s>,
    known: Map<PolicyNumber, Known>,
    /// The periods of the current host that have no rows yet.
    pending: VecDeque<PeriodRow<'s>>,
    totals: RowTotals,
}

/// What a policy says, and the origins and hosts that were counted for it.
struct Known {
    reading: PolicyReading,
    origins: u64,
    hosts: u64,
}

/// Hosts whose rows are made at once.
#[derive(Debug)]
pub struct HostBlock<'s> {
    /// The hosts.
    pub hosts: Vec<StoredHost<'s>>,
    /// The maximum number of bytes of lists in their rows; 0 if there are no lists.
    pub list_bytes: u64,
}

/// An origin in a period.
#[derive(Clone)]
struct PeriodRow<'s> {
    host: StoredHost<'s>,
    https: bool,
    policy: PolicyNumber,
    captured: Option<UnixSeconds>,
    since: Option<UnixSeconds>,
    until: Option<UnixSeconds>,
    sitemaps: Arc<[Vec<u8>]>,
    /// The crawl delay of each agent.
    delays: Arc<[CrawlDelay]>,
}

impl<'s> SurveyRows<'s> {
    /// Returns the rows of `set` for `agents`.
    ///
    /// # Errors
    ///
    /// If the names of robots are damaged.
    ///
    /// # Panics
    ///
    /// If there are no agents, or `config` asks for the history of a set without.
    pub fn new(
        set: &'s PolicySet,
        agents: &[Crawler],
        config: RowConfig,
    ) -> Result<SurveyRows<'s>, Damage> {
        assert!(!agents.is_empty(), "a survey needs an agent");
        assert!(!config.history || set.has_history(), "the set has no history");
        Ok(SurveyRows {
            set,
            facts: FactReader::new(set, agents)?,
            agents: agents.to_vec(),
            config,
            columns: config.columns().map(|(column, ..)| *column).collect(),
            totals: Mutex::new(RowTotals::none(agents.len())),
        })
    }

    /// Adds how what each agent may fetch relates to what `agent` may, and a path that shows it.
    ///
    /// # Errors
    ///
    /// If the names of robots are damaged.
    pub fn beside(mut self, agent: &Crawler) -> Result<SurveyRows<'s>, Damage> {
        self.facts = self.facts.beside(agent)?;
        self.config.beside = true;
        self.columns = self.config.columns().map(|(column, ..)| *column).collect();
        Ok(self)
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> u64 {
        self.set.counts().hosts
    }

    /// Returns the columns of the rows.
    pub fn fields(&self) -> Vec<Field> {
        self.config.fields()
    }

    /// Returns the hosts in blocks that have about `rows` rows, and at least one host. Lists of
    /// `bytes_max` bytes end a block too. A file counts as one list for each row of its origins.
    pub fn blocks(
        &self,
        rows: usize,
        bytes_max: u64,
    ) -> impl Iterator<Item = Result<HostBlock<'s>, Damage>> + use<'s> {
        let counts = self.set.counts();
        let RowConfig { history, lists, .. } = self.config;
        let moments = if history { self.set.moments() } else { 0 };
        let agents = self.agents.len() as u64;
        let of_hosts = counts.origins.saturating_add(moments).max(1).saturating_mul(agents);
        let per_block = (rows as u64).saturating_mul(counts.hosts.max(1)) / of_hosts;
        let per_block = per_block.max(1) as usize;
        let mut all_hosts = self.set.hosts();
        std::iter::from_fn(move || {
            let (mut hosts, mut list_bytes) = (Vec::new(), 0);
            while hosts.len() < per_block && list_bytes < bytes_max {
                match all_hosts.next() {
                    Some(Ok(host)) => hosts.push(host),
                    Some(Err(damage)) => return Some(Err(damage)),
                    None => break,
                }
                if lists {
                    match file_bytes(&hosts[hosts.len() - 1], history) {
                        Ok(bytes) => {
                            list_bytes = bytes.saturating_mul(agents).saturating_add(list_bytes)
                        }
                        Err(damage) => return Some(Err(damage)),
                    }
                }
            }
            (!hosts.is_empty()).then_some(Ok(HostBlock { hosts, list_bytes }))
        })
    }

    /// Creates the worker of a thread.
    pub fn worker(&self) -> RowWorker<'_, 's> {
        RowWorker {
            rows: self,
            known: Map::default(),
            pending: VecDeque::new(),
            totals: RowTotals::none(self.agents.len()),
        }
    }

    /// Returns the totals of all dropped workers.
    pub fn totals(&self) -> RowTotals {
        // Additions do not panic, so a poisoned lock still holds whole sums.
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the figures of each agent, of all dropped workers.
    pub fn figures(&self) -> Vec<AgentFigures> {
        let RowTotals { mut counts, delays, relations, .. } = self.totals();
        counts.resize(self.agents.len(), Default::default());
        let agents = self.agents.iter().zip(counts).zip(delays);
        let figures = agents.map(|((agent, [origins, hosts]), delays)| AgentFigures {
            agent: agent.name().to_owned(),
            origins,
            hosts,
            crawl_delay: delays.figures(),
            relations: None,
        });
        let mut figures: Vec<AgentFigures> = figures.collect();
        for (figures, counts) in figures.iter_mut().zip(relations) {
            figures.relations = Some(RelationCounts::of(counts));
        }
        figures
    }
}

impl RowTotals {
    /// Returns the totals of no host, for each of some agents.
    fn none(agents: usize) -> RowTotals {
        RowTotals { delays: DelayCounts::none(agents), ..RowTotals::default() }
    }

    fn add(&mut self, known: &Known) {
        self.counts.resize(known.reading.agents.len(), Default::default());
        let relations = known.reading.agents.iter().map(|it| known.reading.relation_of(it));
        for (agent, relation) in relations.enumerate() {
            let Some((relation, _)) = relation else { break };
            self.relations.resize(known.reading.agents.len(), Default::default());
            self.relations[agent][*relation as usize] += known.hosts;
        }
        for ([origins, hosts], facts) in self.counts.iter_mut().zip(&known.reading.agents) {
            origins.add(known.origins, facts);
            hosts.add(known.hosts, facts);
        }
    }

    fn merge(&mut self, other: &RowTotals) {
        self.hosts += other.hosts;
        self.origins += other.origins;
        self.rows += other.rows;
        self.counts.resize(self.counts.len().max(other.counts.len()), Default::default());
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            own.iter_mut().zip(other).for_each(|(own, other)| own.merge(other));
        }
        self.relations.resize(self.relations.len().max(other.relations.len()), Default::default());
        for (own, other) in self.relations.iter_mut().zip(&other.relations) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
        self.delays.iter_mut().zip(&other.delays).for_each(|(own, other)| own.merge(other));
    }
}

impl<'s> RowWorker<'_, 's> {
    /// Replaces the rows in `added` by the next rows of `hosts`: about [`SURVEY_BATCH_ROWS`], fewer if
    /// their lists have [`SURVEY_LIST_BYTES`], or none if all were taken.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn fill(
        &mut self,
        hosts: &mut impl Iterator<Item = StoredHost<'s>>,
        added: &mut Added,
    ) -> Result<(), Damage> {
        added.clear();
        let agents: Vec<u32> = match self.place(Column::Agent) {
            Some(place) => {
                let names = self.rows.agents.iter();
                names.map(|it| added.share_text(place, Some(it.name().as_bytes()))).collect()
            }
            None => Vec::new(),
        };
        let mut list_bytes = 0;
        while added.rows() < SURVEY_BATCH_ROWS && list_bytes < SURVEY_LIST_BYTES {
            if self.pending.is_empty() {
                let Some(host) = hosts.next() else { break };
                self.begin(&host)?;
                continue;
            }
            let row = self.pending.pop_front().expect("it was just seen");
            list_bytes += self.push(&row, &agents, added)?;
        }
        self.totals.rows += added.rows() as u64;
        self.rows.set.is_whole()
    }

    /// Counts a host, and reads its periods.
    fn begin(&mut self, host: &StoredHost<'s>) -> Result<(), Damage> {
        let set = self.rows.set;
        let RowConfig { history, at, .. } = self.rows.config;
        let (mut before, mut last): (Option<Vec<PeriodRow<'s>>>, _) = (None, None);
        for https in host.schemes() {
            let is_same = host.is_one_capture() && host.policy(false) == host.policy(true) && https;
            let periods = match before.take().filter(|_| is_same) {
                Some(same) => same.into_iter().map(|it| PeriodRow { https, ..it }).collect(),
                None if history => self.periods(host, https)?,
                None => self.period_at(host, https, at)?.into_iter().collect(),
            };
            let Some(newest) = periods.last() else {
                // It had not been captured at that time.
                if at.is_some() {
                    continue;
                }
                return Err(set.malformed_host("an origin has a policy at no time"));
            };
            let counts = self.totals.delays.iter_mut();
            counts.zip(&*newest.delays).for_each(|(counts, delay)| counts.add(delay));
            let policy = newest.policy;
            self.totals.hosts += u64::from(last.is_none());
            self.totals.origins += 1;
            let known = self.known(policy)?;
            known.origins += 1;
            known.hosts += u64::from(last != Some(policy));
            last = Some(policy);
            before = Some(periods.clone());
            self.pending.extend(periods);
        }
        Ok(())
    }

    /// Returns the period of an origin that holds at a time, or the newest; `None` if it had not been
    /// captured.
    fn period_at(
        &self,
        host: &StoredHost<'s>,
        https: bool,
        at: Option<UnixSeconds>,
    ) -> Result<Option<PeriodRow<'s>>, Damage> {
        let lost = || self.rows.set.malformed_host("an origin has no policy or no capture");
        let mut policy = host.policy(https).ok_or_else(lost)?;
        let mut capture = host.capture(https)?.ok_or_else(lost)?;
        let mut period = None;
        if let Some(timeline) = host.timeline(https)? {
            let index = match at {
                Some(time) => timeline.index_at(time)?,
                None => timeline.len()?.checked_sub(1),
            };
            let Some(index) = index else { return Ok(None) };
            if at.is_some() {
                let moment = timeline.moment(index)?;
                (policy, capture) = (moment.policy, moment.capture);
            }
            period = Some(timeline.period(index)?);
        }
        Ok(Some(PeriodRow {
            host: *host,
            https,
            policy,
            captured: capture.facts.captured_at,
            since: period.map(|period| period.since).filter(|since| since.0 > 0),
            until: period.and_then(|period| period.until),
            sitemaps: capture.sitemaps()?.into(),
            delays: self.delays(&capture, policy)?,
        }))
    }

    fn periods(&self, host: &StoredHost<'s>, https: bool) -> Result<Vec<PeriodRow<'s>>, Damage> {
        let lost = || self.rows.set.malformed_host("an origin has lost its history");
        let timeline = host.timeline(https)?.ok_or_else(lost)?;
        let mut periods: Vec<PeriodRow<'s>> = Vec::new();
        for moments in timeline.periods()? {
            let (first, last) = (&moments[0], &moments[moments.len() - 1]);
            if let Some(before) = periods.last_mut() {
                before.until = Some(first.since);
            }
            periods.push(PeriodRow {
                host: *host,
                https,
                policy: last.policy,
                captured: last.capture.facts.captured_at,
                since: Some(first.since).filter(|since| since.0 > 0),
                until: None,
                sitemaps: last.capture.sitemaps()?.into(),
                delays: self.delays(&last.capture, last.policy)?,
            });
        }
        Ok(periods)
    }

    fn delays(
        &self,
        capture: &StoredCapture<'_>,
        policy: PolicyNumber,
    ) -> Result<Arc<[CrawlDelay]>, Damage> {
        let policy = self.rows.set.policy(policy)?;
        Ok(capture.crawl_delays(&policy, &self.rows.agents)?.into())
    }

    fn place(&self, column: Column) -> Option<usize> {
        self.rows.columns.iter().position(|other| *other == column)
    }

    /// Returns what a policy says to all agents.
    fn known(&mut self, policy: PolicyNumber) -> Result<&mut Known, Damage> {
        let RowWorker { rows, known, totals, .. } = self;
        if known.len() >= (SURVEY_FACTS_KEPT / rows.agents.len()).max(1)
            && !known.contains_key(&policy)
        {
            known.drain().for_each(|(_, known)| totals.add(&known));
        }
        Ok(match known.entry(policy) {
            hashbrown::hash_map::Entry::Occupied(known) => known.into_mut(),
            hashbrown::hash_map::Entry::Vacant(place) => {
                let (reading, _) = rows.facts.read(&rows.set.policy(policy)?)?;
                place.insert(Known { reading, origins: 0, hosts: 0 })
            }
        })
    }

    /// Appends the rows of an origin in a period: one for each agent. Returns the bytes of their lists,
    /// with a charge for each value.
    fn push(
        &mut self,
        row: &PeriodRow<'s>,
        agent_names: &[u32],
        added: &mut Added,
    ) -> Result<u64, Damage> {
        let rows = self.rows;
        let mut bytes = 0;
        let reading = &self.known(row.policy)?.reading;
        let agents = || reading.agents.iter();
        let count = reading.agents.len();
        let (origin, host) = match rows.set.is_universal() {
            true => (EVERYWHERE.to_vec(), EVERYWHERE),
            false => (row.host.origin(row.https), host_of(row.host.key())),
        };
        for (place, column) in rows.columns.iter().enumerate() {
            match column {
                Column::Origin => share(added, place, Some(&origin), count),
                Column::Host => share(added, place, Some(host), count),
                Column::Domain => share(added, place, domain(host), count),
                Column::Agent => added.push_shared(place, agent_names.iter().copied()),
                Column::State => {
                    added.push_words(place, std::iter::repeat_n(reading.state as u8, count));
                }
                Column::Access => {
                    agents().for_each(|it| added.push_word(place, it.access.map(|it| it as u8)));
                }
                Column::Root => added.push_words(place, agents().map(|it| it.root as u8)),
                Column::Group => {
                    let groups = reading.groups.iter();
                    let groups: Vec<u32> = groups
                        .map(|group| added.share_text(place, Some(&cut_to_show(group))))
                        .collect();
                    let none = agents().any(|it| it.group.is_none());
                    let none = if none { added.share_text(place, None) } else { 0 };
                    let group = |group: Option<u32>| group.map_or(none, |it| groups[it as usize]);
                    added.push_shared(place, agents().map(|it| group(it.group)));
                }
                Column::Named => {
                    added.push_flags(place, agents().map(|it| it.addressed == Addressed::ByName));
                }
                Column::Rules => {
                    added.push_numbers(place, agents().map(|it| Some(it.rules)));
                }
                Column::CrawlDelay => {
                    added.push_doubles(place, row.delays.iter().map(|delay| delay.seconds));
                }
                Column::Usage(label) => {
                    let stance = |it: &crate::AgentFacts| it.stances[*label as usize];
                    agents().for_each(|it| added.push_word(place, stance(it).map(|it| it as u8)));
                }
                Column::Licenses => {
                    let licenses = |agent| Some(reading.licenses_of(agent).len() as u32);
                    added.push_numbers(place, (0..count).map(licenses));
                }
                Column::Sitemaps => {
                    let sitemaps = Some(row.sitemaps.len() as u32);
                    added.push_numbers(place, std::iter::repeat_n(sitemaps, count));
                }
                Column::Relation => {
                    let relation =
                        |it: &crate::AgentFacts| reading.relation_of(it).map(|it| it.0 as u8);
                    agents().for_each(|it| added.push_word(place, relation(it)));
                }
                Column::Witness => {
                    let paths =
                        agents().map(|it| reading.relation_of(it).and_then(|it| it.1.as_deref()));
                    let paths: Vec<u32> = paths
                        .map(|path| added.share_text(place, path.map(cut_to_show).as_deref()))
                        .collect();
                    added.push_shared(place, paths.into_iter());
                }
                Column::LicenseValues => {
                    let lists = reading.licenses.iter();
                    let lists: Vec<u32> = lists.map(|list| added.share_list(place, list)).collect();
                    let none = agents().any(|it| it.licenses.is_none());
                    let none = if none { added.share_list(place, &[b""; 0]) } else { 0 };
                    let list = |list: Option<u32>| list.map_or(none, |it| lists[it as usize]);
                    added.push_shared(place, agents().map(|it| list(it.licenses)));
                    let of_lists: Vec<u64> =
                        reading.licenses.iter().map(|list| list_bytes(list)).collect();
                    let of_agents = agents().filter_map(|it| it.licenses);
                    bytes += of_agents.map(|it| of_lists[it as usize]).sum::<u64>();
                }
                Column::SitemapValues => {
                    let list = added.share_list(place, &row.sitemaps);
                    added.push_shared(place, std::iter::repeat_n(list, count));
                    bytes += list_bytes(&row.sitemaps) * count as u64;
                }
                Column::Captured => added.push_times(place, row.captured, count),
                Column::Since => added.push_times(place, row.since, count),
                Column::Until => added.push_times(place, row.until, count),
            }
        }
        Ok(bytes)
    }
}

impl Drop for RowWorker<'_, '_> {
    /// Adds the counts of the thread to the totals.
    fn drop(&mut self) {
        let RowWorker { rows, known, totals, .. } = self;
        known.drain().for_each(|(_, known)| totals.add(&known));
        rows.totals.lock().unwrap_or_else(PoisonError::into_inner).merge(totals);
    }
}

/// Returns the bytes of the files of a host, the newest alone or once for each of its moments.
fn file_bytes(host: &StoredHost<'_>, history: bool) -> Result<u64, Damage> {
    let mut bytes = 0;
    for https in host.schemes() {
        let newest = host.capture(https)?.map_or(0, |capture| capture.facts.file_bytes);
        let moments = match host.timeline(https)?.filter(|_| history) {
            Some(timeline) => timeline.len()?,
            None => 1,
        };
        bytes += u64::from(newest) * moments as u64;
    }
    Ok(bytes)
}

/// Returns the bytes of a list, with those that a value takes beside its text.
fn list_bytes(list: &[Vec<u8>]) -> u64 {
    list.iter().map(|value| (value.len() + size_of::<Vec<u8>>()) as u64).sum()
}

/// Appends a text, or none, for each of some rows.
fn share(added: &mut Added, place: usize, text: Option<&[u8]>, rows: usize) {
    let number = added.share_text(place, text);
    added.push_shared(place, std::iter::repeat_n(number, rows));
}

/// Returns the host of a key, with its port unless it is the default.
fn host_of(key: &[u8]) -> &[u8] {
    let scheme = key.windows(3).position(|bytes| bytes == b"://");
    scheme.map_or(key, |colon| &key[colon + 3..])
}
