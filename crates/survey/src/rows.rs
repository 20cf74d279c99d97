//! A row for each origin and agent, and with history for each period.
//!
//! The hosts of a set are read in its order, in blocks ([`SurveyRows::blocks`]). Threads share
//! [`SurveyRows`]; each has a [`RowWorker`], which keeps what the last policies say to all agents,
//! because hosts share policies. Blocks do not depend on one another, so the rows are the same for
//! any number of threads.
//!
//! Memory: 8 bytes for each rule set of the set, and for each thread the facts of at most
//! [`SURVEY_FACTS_KEPT`] pairs of a policy and an agent, one host with its moments, and the rows that
//! were not taken: as many as [`SURVEY_BATCH_ROWS`] and [`SURVEY_LIST_BYTES`] let in. With history, the
//! months of a [`Trend`] for each thread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Stance};
use portcullis_domain::domain;
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::columns::push_shown;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{CrawlDelay, Crawler};
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::columns::{Field, FieldKind};
use portcullis_set::stored::{Period, PolicyNumber, StoredCapture, StoredHost, StoredTimeline};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::agents::AgentFigures;
use crate::facts::{Addressed, AgentFacts, By, FactReader, PolicyReading};
use crate::limits::{SURVEY_BATCH_ROWS, SURVEY_FACTS_KEPT, SURVEY_LIST_BYTES};
use crate::origins::{Map, SharedFigures, SharedFiles, captured, distinct_sitemaps};
use crate::readings::{PolicyRead, ReadPeriod, ReadUse, Reads};
use crate::trend::{Months, Shut, Trend};

/// The name of the origin and the host of a policy that applies to every URL.
const EVERYWHERE: &[u8] = b"*";

/// A column of a survey: its name, its values, whether some rows have none, and what appends the values
/// of an origin, one for each agent.
#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    kind: FieldKind,
    has_gaps: bool,
    push: Push,
}

/// The columns that list values, if they are asked for.
const LISTS: [&str; 2] = ["license_values", "sitemap_values"];

/// The columns that compare agents with another, if there is one.
const COMPARISON: [&str; 2] = ["relation", "example_path"];

/// The columns in the order of the output.
const COLUMNS: [Column; 26] = {
    use FieldKind::{Double, Flag, List, Number, Text, Time, Word};
    [
        Column::new("origin", Text, |it, at, to| it.push_text(at, Some(&it.origin), to)),
        Column::new("host", Text, |it, at, to| it.push_text(at, Some(it.host), to)),
        Column::new("domain", Text, |it, at, to| it.push_text(at, domain(it.host), to)).gaps(),
        Column::new("agent", Text, |it, at, to| {
            it.agents.iter().for_each(|agent| to.push(at, Cell::text(agent.name())));
        }),
        Column::new("state", Word(&PolicyState::WORDS), |it, at, to| {
            to.push_words(at, it.each(|_| it.reading.state as u8));
        }),
        Column::new("access", Word(&Reach::WORDS), |it, at, to| {
            it.push_words(at, |of| of.access.map(|it| it as u8), to);
        })
        .gaps(),
        Column::new("root", Word(&Verdict::WORDS), |it, at, to| {
            to.push_words(at, it.each(|of| of.root as u8));
        }),
        Column::new("group", Text, |it, at, to| {
            it.each(|of| of.group.as_deref()).for_each(|group| push_shown(at, group, to));
        })
        .gaps(),
        Column::new("named", Flag, |it, at, to| {
            it.push_each(at, |of| Some(Cell::Flag(of.addressed == Addressed::ByName)), to);
        }),
        Column::new("rules", Number, |it, at, to| {
            it.push_each(at, |of| Some(Cell::Number(of.rules)), to);
        }),
        Column::new("crawl_delay", Double, |it, at, to| {
            it.row.delays.iter().for_each(|it| to.push(at, it.seconds.map(Cell::Double)));
        })
        .gaps(),
        Column::usage("train_ai", |it, at, to| it.push_stances(at, Label::TrainAi, to)),
        Column::usage("ai_use", |it, at, to| it.push_stances(at, Label::AiUse, to)),
        Column::usage("search", |it, at, to| it.push_stances(at, Label::Search, to)),
        Column::new("licenses", Number, |it, at, to| {
            it.push_each(at, |of| Some(Cell::Number(of.licenses.len() as u32)), to);
        }),
        Column::new("sitemaps", Number, |it, at, to| {
            it.push_each(at, |_| Some(Cell::Number(it.sitemaps.len() as u32)), to);
        }),
        Column::new(LISTS[0], List, |it, at, to| {
            it.each(|of| &of.licenses).for_each(|list| to.push_list(at, list));
        }),
        Column::new(LISTS[1], List, |it, at, to| {
            it.each(|_| ()).for_each(|()| to.push_list(at, &it.sitemaps));
        }),
        Column::new(COMPARISON[0], Word(&Relation::WORDS), |it, at, to| {
            it.push_words(at, |of| Some(of.relation.as_ref()?.0 as u8), to);
        }),
        Column::new(COMPARISON[1], Text, |it, at, to| {
            let paths = it.each(|of| of.relation.as_ref()?.1.as_deref());
            paths.for_each(|path| push_shown(at, path, to));
        })
        .gaps(),
        Column::new("shared", Number, |it, at, to| {
            it.push_each(at, |_| it.row.shared.map(Cell::Number), to);
        })
        .gaps(),
        Column::new("captured", Time, |it, at, to| it.push_time(at, it.row.captured, to)).gaps(),
        Column::new("since", Time, |it, at, to| it.push_time(at, it.row.since, to)).gaps(),
        Column::new("until", Time, |it, at, to| it.push_time(at, it.row.until, to)).gaps(),
        Column::new("by", Word(&By::WORDS), |it, at, to| {
            to.push_words(at, it.each(|of| of.by as u8));
        }),
        Column::usage("use", |it, at, to| it.push_stances(at, Label::Use, to)),
    ]
};

/// Appends the values of an origin to a column.
type Push = fn(&OriginRows<'_>, usize, &mut Added);

impl Column {
    const fn new(name: &'static str, kind: FieldKind, push: Push) -> Column {
        Column { name, kind, has_gaps: false, push }
    }

    /// Returns the column of the use about which `push` appends what is stated.
    const fn usage(name: &'static str, push: Push) -> Column {
        Column::new(name, FieldKind::Word(&Stance::WORDS), push).gaps()
    }

    const fn gaps(self) -> Column {
        Column { has_gaps: true, ..self }
    }

    fn field(self) -> Field {
        Field::declared(self.name, self.kind, self.has_gaps)
    }
}

/// The columns of the rows of a survey.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowConfig<'a> {
    /// Whether each period of an origin has its rows, and not the newest alone.
    pub history: bool,
    /// Whether the values of licences and sitemaps are columns.
    pub lists: bool,
    /// The agent that each agent is compared with: how what each may fetch relates to what this one may,
    /// and a path that shows it.
    pub baseline: Option<&'a Crawler>,
    /// The time as of which origins have rows; `None` for the newest. Origins that had not been captured
    /// have none.
    pub at: Option<UnixSeconds>,
}

impl RowConfig<'_> {
    fn columns(self) -> impl Iterator<Item = Column> {
        COLUMNS.into_iter().filter(move |column| {
            (self.lists || !LISTS.contains(&column.name))
                && (self.baseline.is_some() || !COMPARISON.contains(&column.name))
        })
    }

    /// Returns the columns of the rows.
    pub fn fields(self) -> Vec<Field> {
        self.columns().map(Column::field).collect()
    }
}

/// The rows of a survey.
#[derive(Debug)]
pub struct SurveyRows<'s> {
    set: &'s PolicySet,
    facts: FactReader<'s>,
    shared: SharedFiles,
    config: RowConfig<'s>,
    columns: Vec<Column>,
    /// The counts of finished workers, and of the policies that workers have forgotten.
    totals: Mutex<RowTotals>,
}

/// The totals of a survey. Agents are counted by the newest policies.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RowTotals {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of rows, of all periods.
    pub rows: u64,
    /// The origins without rows: at the time that is asked about, they had not been captured.
    pub before_first: u64,
    /// The files that more than some numbers of origins share.
    pub shared: Vec<SharedFigures>,
    pub per_agent: Vec<AgentFigures>,
    /// The access over time, if all periods have rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
}

/// The rows of one thread.
pub struct RowWorker<'r, 's> {
    rows: &'r SurveyRows<'s>,
    known: Map<PolicyRead, Known>,
    /// The periods of the current host that have no rows yet.
    pending: VecDeque<PeriodRow<'s>>,
    /// The counts of the worker, without counts by agent.
    totals: RowTotals,
    shut: Shut,
}

/// The content of a policy, and the origins and hosts that were counted for it.
struct Known {
    reading: PolicyReading,
    used: ReadUse,
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
    /// The number of origins with the same file.
    shared: Option<u32>,
    sitemaps: Arc<[Vec<u8>]>,
    /// The crawl delay of each agent.
    delays: Arc<[CrawlDelay]>,
    /// The policies that agents read instead.
    reads: Reads,
}

impl<'s> SurveyRows<'s> {
    /// Returns the rows of `set` for `agents`.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there are no agents, or `config` asks for the history of a set without.
    pub fn new(
        set: &'s PolicySet,
        agents: &[Crawler],
        config: RowConfig<'s>,
    ) -> Result<SurveyRows<'s>, Damage> {
        assert!(!agents.is_empty(), "a survey needs an agent");
        assert!(!config.history || set.has_history(), "the set has no history");
        let facts = FactReader::new(set, agents, config.baseline)?;
        let per_agent = AgentFigures::of_agents(&facts);
        let trend = config.history.then(|| {
            let months = Months::of(set.counts().captured(), agents.len());
            Trend::new(months, agents.iter().map(|agent| agent.name().to_owned()).collect())
        });
        Ok(SurveyRows {
            set,
            shared: SharedFiles::of(set, config.at)?,
            config,
            columns: config.columns().collect(),
            totals: RowTotals { per_agent, trend, ..RowTotals::default() }.into(),
            facts,
        })
    }

    /// Returns the columns of the rows.
    pub fn fields(&self) -> Vec<Field> {
        self.config.fields()
    }

    /// Returns the columns without rows.
    pub fn no_rows(&self) -> Added {
        Added::of(self.columns.iter().map(|column| column.kind))
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
        let moments = if history { self.set.history_captures() } else { 0 };
        let agents = self.facts.agents.len() as u64;
        let of_hosts = counts.origins.saturating_add(moments).max(1).saturating_mul(agents);
        let per_block = (rows as u64).saturating_mul(counts.hosts.max(1)) / of_hosts;
        let per_block = per_block.max(1) as usize;
        let mut all_hosts = self.set.hosts();
        let mut next_block = move || {
            let (mut hosts, mut list_bytes, mut moments) = (Vec::new(), 0_u64, 0_u64);
            while hosts.len() < per_block && list_bytes < bytes_max && moments < rows as u64 {
                let Some(host) = all_hosts.next().transpose()? else { break };
                if history {
                    // Hosts that redirect to one file have more than are stored.
                    for https in host.schemes() {
                        let own = moments_of(&host, https)?;
                        moments = moments.saturating_add(own.saturating_mul(agents));
                    }
                }
                if lists {
                    let bytes = file_bytes(&host, history)?.saturating_mul(agents);
                    list_bytes = list_bytes.saturating_add(bytes);
                }
                hosts.push(host);
            }
            Ok((!hosts.is_empty()).then_some(HostBlock { hosts, list_bytes }))
        };
        std::iter::from_fn(move || next_block().transpose())
    }

    /// Creates the worker of a thread.
    pub fn worker(&self) -> RowWorker<'_, 's> {
        let none = RowTotals::default();
        RowWorker {
            rows: self,
            known: Map::default(),
            pending: VecDeque::new(),
            totals: RowTotals { trend: self.lock().trend.as_ref().map(Trend::empty), ..none },
            shut: Shut::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RowTotals> {
        // Additions do not panic, so a poisoned lock still holds whole sums.
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what policies say to the totals of agents, and forgets it.
    fn forget(&self, known: &mut Map<PolicyRead, Known>) -> MutexGuard<'_, RowTotals> {
        let mut totals = self.lock();
        for (_, Known { reading, used }) in known.drain() {
            let agents = totals.per_agent.iter_mut().zip(&reading.agents);
            let agents = agents.enumerate();
            agents.for_each(|(agent, (figures, facts))| figures.add(used.by(agent), facts));
        }
        totals
    }

    /// Returns the totals of all dropped workers.
    pub fn totals(&self) -> RowTotals {
        let totals = self.forget(&mut Map::default()).clone();
        RowTotals { shared: self.shared.figures(), ..totals }
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
        let mut list_bytes = 0;
        while added.rows() < SURVEY_BATCH_ROWS && list_bytes < SURVEY_LIST_BYTES {
            let Some(row) = self.pending.pop_front() else {
                let Some(host) = hosts.next() else { break };
                self.begin(&host)?;
                continue;
            };
            list_bytes += self.push(&row, added)?;
        }
        self.totals.rows += added.rows() as u64;
        self.rows.set.is_whole()
    }

    /// Counts a host, and reads its periods.
    fn begin(&mut self, host: &StoredHost<'s>) -> Result<(), Damage> {
        let SurveyRows { set, facts, config, .. } = self.rows;
        let (mut before, mut last): (Option<Vec<PeriodRow<'s>>>, _) = (None, None);
        for https in host.schemes() {
            let is_same = host.is_one_capture() && host.policy(false) == host.policy(true) && https;
            let at = config.at.filter(|_| !config.history);
            let Some((policy, capture)) = captured(set, host, https, at)? else {
                self.totals.before_first += 1;
                continue;
            };
            let timeline = host.timeline(https)?;
            let key = (policy, facts.readings.at((policy, &capture), timeline.as_ref(), at)?);
            let periods = match before.take().filter(|_| is_same) {
                Some(same) => same.into_iter().map(|it| PeriodRow { https, ..it }).collect(),
                None => self.periods((host, https), &key, &capture, timeline.as_ref())?,
            };
            if periods.is_empty() {
                return Err(set.malformed_host("an origin has a policy at no time"));
            }
            self.totals.hosts += u64::from(last.is_none());
            self.known(key.clone())?.used.add(&key, last.as_ref());
            last = Some(key);
            before = Some(periods.clone());
            self.pending.extend(periods);
        }
        Ok(())
    }

    /// Returns the periods of an origin: all, or the one in which it has a policy, with what is read in its
    /// place, at the time that is asked about.
    fn periods(
        &self,
        (host, https): (&StoredHost<'s>, bool),
        key: &PolicyRead,
        capture: &StoredCapture<'s>,
        timeline: Option<&StoredTimeline<'s>>,
    ) -> Result<Vec<PeriodRow<'s>>, Damage> {
        let SurveyRows { facts, config: RowConfig { history, at, .. }, .. } = self.rows;
        let with = |row: PeriodRow<'s>, Period { since, until }| PeriodRow {
            since: Some(since).filter(|since| since.0 > 0),
            until,
            ..row
        };
        let Some(timeline) = timeline else {
            return Ok(vec![self.row(host, https, key.clone(), capture)?]);
        };
        if !*history {
            let row = self.row(host, https, key.clone(), capture)?;
            let period = facts.readings.period(timeline, capture, *at)?;
            return Ok(period.map(|period| with(row, period)).into_iter().collect());
        }
        let row = |it: ReadPeriod<'s>| {
            let last = *it.last();
            let row = self.row(host, https, (last.policy, it.reads), &last.capture)?;
            Ok(with(row, it.period))
        };
        facts.readings.periods(timeline)?.into_iter().map(row).collect()
    }

    /// Returns the row of a policy and its capture, without a period.
    fn row(
        &self,
        host: &StoredHost<'s>,
        https: bool,
        (policy, reads): PolicyRead,
        capture: &StoredCapture<'s>,
    ) -> Result<PeriodRow<'s>, Damage> {
        let SurveyRows { set, facts, shared, .. } = self.rows;
        Ok(PeriodRow {
            host: *host,
            https,
            policy,
            captured: capture.facts.captured_at,
            since: None,
            until: None,
            shared: shared.origins(policy, capture),
            sitemaps: capture.sitemaps()?.into(),
            delays: capture.crawl_delays(&set.policy(policy)?, &facts.agents)?.0.into(),
            reads,
        })
    }

    /// Returns what a policy says to all agents, or what they read in its place.
    fn known(&mut self, key: PolicyRead) -> Result<&mut Known, Damage> {
        let RowWorker { rows, known, .. } = self;
        if known.len() >= (SURVEY_FACTS_KEPT / rows.facts.agents.len()).max(1)
            && !known.contains_key(&key)
        {
            drop(rows.forget(known));
        }
        let policy = rows.set.policy(key.0)?;
        Ok(match known.entry(key) {
            hashbrown::hash_map::Entry::Occupied(known) => known.into_mut(),
            hashbrown::hash_map::Entry::Vacant(place) => {
                let reading = rows.facts.read_by(&policy, &place.key().1)?.0;
                place.insert(Known { reading, used: ReadUse::default() })
            }
        })
    }

    /// Appends the rows of an origin in a period: one for each agent. Returns the bytes of their lists,
    /// with a charge for each value.
    fn push(&mut self, row: &PeriodRow<'s>, added: &mut Added) -> Result<u64, Damage> {
        let rows = self.rows;
        let (mut trend, mut shut) = (self.totals.trend.take(), std::mem::take(&mut self.shut));
        let reading = &self.known((row.policy, row.reads.clone()))?.reading;
        let (origin, host) = match rows.set.is_universal() {
            true => (EVERYWHERE.to_vec(), EVERYWHERE),
            false => (row.host.origin(row.https), host_of(row.host.key())),
        };
        let sitemaps = distinct_sitemaps(&origin, &row.sitemaps);
        let sitemaps = sitemaps.map(|(written, _)| written.clone()).collect();
        let agents = &*rows.facts.agents;
        if let Some(trend) = &mut trend {
            trend.add(&origin, (row.since, row.until), &reading.agents, &mut shut);
        }
        let origin = OriginRows { row, reading, origin, host, sitemaps, agents };
        for (place, column) in rows.columns.iter().enumerate() {
            (column.push)(&origin, place, added);
        }
        let list_bytes = if rows.config.lists { origin.list_bytes() } else { 0 };
        (self.totals.trend, self.shut) = (trend, shut);
        Ok(list_bytes)
    }
}

/// An origin in a period, and what its policy says to each agent.
struct OriginRows<'a> {
    row: &'a PeriodRow<'a>,
    reading: &'a PolicyReading,
    origin: Vec<u8>,
    host: &'a [u8],
    /// The sitemaps that the file names, each once, as they are written.
    sitemaps: Vec<Vec<u8>>,
    agents: &'a [Crawler],
}

impl OriginRows<'_> {
    /// Returns a value for each agent.
    fn each<'s, T>(&'s self, value: impl Fn(&'s AgentFacts) -> T) -> impl Iterator<Item = T> {
        self.reading.agents.iter().map(value)
    }

    /// Appends a value, or none, for each agent.
    fn push_each<'v>(
        &self,
        place: usize,
        value: impl Fn(&AgentFacts) -> Option<Cell<&'v [u8]>>,
        added: &mut Added,
    ) {
        self.each(value).for_each(|value| added.push(place, value));
    }

    /// Appends a word by its number, or none, for each agent.
    fn push_words(
        &self,
        place: usize,
        number: impl Fn(&AgentFacts) -> Option<u8>,
        added: &mut Added,
    ) {
        self.push_each(place, |of| number(of).map(Cell::Word), added);
    }

    fn push_text(&self, place: usize, text: Option<&[u8]>, added: &mut Added) {
        self.push_each(place, |_| text.map(Cell::Text), added);
    }

    fn push_time(&self, place: usize, time: Option<UnixSeconds>, added: &mut Added) {
        self.push_each(place, |_| time.map(Cell::Time), added);
    }

    fn push_stances(&self, place: usize, label: Label, added: &mut Added) {
        self.push_words(place, |of| of.stances[label as usize].map(|it| it as u8), added);
    }

    /// Returns the bytes of the lists, with a charge for each value.
    fn list_bytes(&self) -> u64 {
        let licenses = self.each(|it| list_bytes(&it.licenses));
        licenses.sum::<u64>() + list_bytes(&self.sitemaps) * self.reading.agents.len() as u64
    }
}

impl Drop for RowWorker<'_, '_> {
    /// Adds the counts of the thread to the totals.
    fn drop(&mut self) {
        let RowWorker { rows, known, totals, .. } = self;
        let mut all = rows.forget(known);
        all.hosts += totals.hosts;
        all.rows += totals.rows;
        all.before_first += totals.before_first;
        if let (Some(all), Some(own)) = (&mut all.trend, totals.trend.take()) {
            all.merge(own);
        }
    }
}

/// Returns the bytes of the files of a host, the newest alone or once for each of its moments.
fn file_bytes(host: &StoredHost<'_>, history: bool) -> Result<u64, Damage> {
    let mut bytes = 0;
    for https in host.schemes() {
        let newest = host.capture(https)?.map_or(0, |capture| capture.facts.file_bytes);
        let moments = if history { moments_of(host, https)? } else { 1 };
        bytes += u64::from(newest).saturating_mul(moments);
    }
    Ok(bytes)
}

/// Returns the number of moments of an origin.
fn moments_of(host: &StoredHost<'_>, https: bool) -> Result<u64, Damage> {
    let moments = host.timeline(https)?.into_iter().flat_map(|timeline| timeline.moments());
    moments.map(|moment| moment.map(|_| 1)).sum()
}
/// Returns the bytes of a list, with those that a value takes next to its text.
fn list_bytes(list: &[Vec<u8>]) -> u64 {
    list.iter().map(|value| (value.len() + size_of::<Vec<u8>>()) as u64).sum()
}

/// Returns the host of a key, with its port unless it is the default.
fn host_of(key: &[u8]) -> &[u8] {
    let scheme = key.windows(3).position(|bytes| bytes == b"://");
    scheme.map_or(key, |colon| &key[colon + 3..])
}
