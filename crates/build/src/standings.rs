//! Reads back what was known about each origin before a set was compiled: the first step of
//! merging.
//!
//! Nothing that a set stores about an origin is lost, so compiling the result gives the same
//! sections. Equal files are read once. Memory: some 60 bytes for each distinct file; hosts and files
//! are where [`Scratch`] keeps them.

use std::borrow::Cow;

use hashbrown::HashMap;

use portcullis_dialect::decision::PolicyState;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool};
use portcullis_robots::access::UnixSeconds;
use portcullis_set::batch::{BeforeFirst, Classifier};
use portcullis_set::file::{Damage, SectionKind, SetError};
use portcullis_set::lists::{ListReader, ListWriter, Role, read_extract};
use portcullis_set::stored::{PolicyNumber, PolicySet, StoredCapture, StoredHost, StoredMoment};

use crate::compile::{CompileConfig, text_bytes_max, to_memory};
use crate::hosts::{Hosts, Standings};
use crate::ingest::{HistoryProblem, Part, check_history};
use crate::pool::{BlobID, BlobPool, Fingerprint};
use crate::provenance::{InputReport, OutageConfig, Provenance};
use crate::standing::{Content, HostStanding, Moment, Standing, Timeline};

/// Hosts that are read before the pages that were touched for them are released, so that reading a
/// set takes less memory than the set has bytes.
const HOSTS_PER_RELEASE: u64 = 1 << 16;

/// An error of reading a set back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadBackError {
    /// The set is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// A temporary file cannot be written or read.
    #[error(transparent)]
    Scratch(#[from] WriteError),
}

impl From<ReadBackError> for SetError {
    fn from(error: ReadBackError) -> SetError {
        match error {
            ReadBackError::Damaged(damage) => damage.into(),
            ReadBackError::Scratch(error) => error.into(),
        }
    }
}

/// Reads what is known of each origin, but for its [history](Standings::history). It reads the
/// whole set but its rule sets.
///
/// # Errors
///
/// If the set is damaged, or a temporary file fails.
pub fn standings(set: &PolicySet, scratch: &Scratch) -> Result<Standings, ReadBackError> {
    let (inputs, has_inputs) = inputs(set)?;
    let mut reading = Reading {
        set,
        inputs: has_inputs.then_some(inputs.len()),
        moments: 0,
        text_bytes_left: text_bytes_max(set.bytes()),
        pool: BlobPool::new(scratch),
        extracts: HashMap::default(),
        others: HashMap::default(),
    };
    let mut hosts = Hosts::new(scratch);
    for host in set.hosts() {
        hosts.push(&reading.host(&host?)?)?;
        if hosts.len().is_multiple_of(HOSTS_PER_RELEASE) {
            set.file().release_pages();
        }
    }
    let Reading { inputs, pool, .. } = reading;
    check_history(&hosts, history(set)?, inputs, set.dialect()).map_err(
        |problem| match problem {
            HistoryProblem::Odd(what) => malformed(set, SectionKind::HISTORY, 0, what).into(),
            HistoryProblem::Scratch(error) => ReadBackError::Scratch(error),
        },
    )?;
    set.file().release_pages();
    Ok(Standings { hosts, pool, history: Spool::new(scratch) })
}

/// Returns what was read back as a part of a merge.
///
/// # Errors
///
/// If the set is damaged.
pub fn part<'p>(set: &'p PolicySet, standings: &'p Standings) -> Result<Part<'p>, Damage> {
    let Standings { hosts, pool, .. } = standings;
    let (inputs, _) = inputs(set)?;
    Ok(Part { hosts, pool, history: Cow::Borrowed(history(set)?), inputs })
}

/// Returns what the set stores in addition for merging.
pub(crate) fn history(set: &PolicySet) -> Result<&[u8], Damage> {
    let section = set.file().required(SectionKind::HISTORY)?;
    set.file().bytes(section, 0, section.bytes())
}

/// Returns how outages were judged when the set was compiled.
pub fn outages(set: &PolicySet) -> Result<OutageConfig, Damage> {
    let provenance = Provenance::read(set.provenance()?);
    Ok(provenance.map(|provenance| provenance.outages()).unwrap_or_default())
}

/// Returns the inputs, and whether the set lists them.
pub(crate) fn inputs(set: &PolicySet) -> Result<(Vec<InputReport>, bool), Damage> {
    Ok(match Provenance::read(set.provenance()?) {
        Some(provenance) => (provenance.inputs().collect(), true),
        None => {
            let dates = set.counts().captured;
            let set = InputReport {
                name: set.name().to_owned(),
                captured: dates,
                ..InputReport::default()
            };
            (vec![set], false)
        }
    })
}

/// Returns the set of the captures up to `time`, compiled in memory without history. Before the
/// first capture of an origin, it is not known or, by `before_first`, has its first policy.
///
/// Use it for questions that need whole policies as of one time. To decide URLs,
/// [`Classifier::as_of`](portcullis_set::batch::Classifier::as_of) compiles nothing. Runs on the calling
/// thread's rayon pool.
///
/// # Errors
///
/// If the set is damaged.
///
/// # Panics
///
/// If the set has no history.
pub fn as_of(
    set: &PolicySet,
    time: UnixSeconds,
    before_first: BeforeFirst,
) -> Result<PolicySet, Damage> {
    compiled_as_of(set, time, before_first).map_err(|error| match error {
        ReadBackError::Damaged(damage) => damage,
        ReadBackError::Scratch(error) => unreachable!("memory does not fail: {error}"),
    })
}

/// Returns the set of the one time of [`Classifier::as_of`], as [`as_of`]; `None` if there is no such
/// time.
///
/// # Errors
///
/// If the set is damaged.
pub fn set_as_of(classifier: &Classifier) -> Result<Option<PolicySet>, Damage> {
    let time = classifier.one_time();
    time.map(|(time, before_first)| as_of(classifier.set(), time, before_first)).transpose()
}

fn compiled_as_of(
    set: &PolicySet,
    time: UnixSeconds,
    before_first: BeforeFirst,
) -> Result<PolicySet, ReadBackError> {
    let scratch = Scratch::in_memory();
    let all = standings(set, &scratch)?;
    let mut hosts = Hosts::new(&scratch);
    for host in all.hosts.iter() {
        let mut host = host?;
        let [http, https] = *host.timelines.take().expect("the set has history");
        let at = |timeline: Timeline| {
            let index = timeline.partition_point(|moment| moment.since <= time).checked_sub(1);
            let index = index.or((before_first == BeforeFirst::Oldest).then_some(0))?;
            timeline.get(index).map(|moment| moment.standing)
        };
        (host.http, host.https) = (at(http), at(https));
        if host.all().next().is_some() {
            hosts.push(&host)?;
        }
    }
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let config = CompileConfig {
        provenance: String::from_utf8_lossy(set.provenance()?).into_owned(),
        ..CompileConfig::new(set.dialect(), set.robots_bytes_max().map(in_memory))
    };
    let compiled = to_memory(&Standings { hosts, ..all }, &config, (None, true));
    let compiled =
        compiled.map_err(|_| set.file().malformed_header("its content cannot be compiled"))?;
    Ok(PolicySet::of_compiled(set.name(), compiled, None, true))
}

/// Returns the damage that bytes of a section, from a word on, are not what a writer stores there.
#[cold]
pub(crate) fn malformed(
    set: &PolicySet,
    kind: SectionKind,
    word: u32,
    what: &'static str,
) -> Damage {
    match set.file().required(kind) {
        Ok(section) => {
            set.file().malformed(section, u64::from(word) * size_of::<u32>() as u64, what)
        }
        Err(missing) => missing,
    }
}

/// The state while a set is read.
struct Reading<'s> {
    set: &'s PolicySet,
    /// The number of inputs, if the set lists them.
    inputs: Option<usize>,
    /// The number of stored moments that were read.
    moments: u64,
    /// The bytes that the lines of the remaining files may have.
    text_bytes_left: u64,
    pool: BlobPool,
    /// The extract of each policy.
    extracts: HashMap<PolicyNumber, BlobID, foldhash::fast::RandomState>,
    /// The other records of a file, by position.
    others: HashMap<u32, BlobID, foldhash::fast::RandomState>,
}

impl Reading<'_> {
    fn host(&mut self, host: &StoredHost<'_>) -> Result<HostStanding, ReadBackError> {
        let mut standing = |https| self.standing(host, https);
        let (http, https) = (standing(false)?, standing(true)?);
        let timelines = match self.set.has_history() {
            true => Some(Box::new([self.timeline(host, false)?, self.timeline(host, true)?])),
            false => None,
        };
        Ok(HostStanding { key: host.key().into(), http, https, timelines })
    }

    fn timeline(&mut self, host: &StoredHost<'_>, https: bool) -> Result<Timeline, ReadBackError> {
        let Some(timeline) = host.timeline(https)? else { return Ok(Timeline::new()) };
        // Otherwise each host could have the longest timeline, and reading them would take far
        // longer than the set is large. http and https share theirs.
        self.moments += timeline.stored_moments();
        if self.moments > 2 * self.set.moments() {
            let what = "timelines of several hosts have one moment";
            return Err(self.set.malformed_moment(what).into());
        }
        let moment = |moment: Result<StoredMoment<'_>, Damage>| {
            let StoredMoment { since, policy, capture } = moment?;
            let standing = self.standing_of(policy, &capture)?;
            let malformed = |what| self.set.malformed_moment(what);
            Ok::<_, ReadBackError>(Moment {
                since,
                standing: self.with_input(standing).map_err(malformed)?,
            })
        };
        timeline.moments()?.map(moment).collect()
    }

    fn standing(
        &mut self,
        host: &StoredHost<'_>,
        https: bool,
    ) -> Result<Option<Standing>, ReadBackError> {
        let Some(position) = host.policy(https) else { return Ok(None) };
        host.check_origin(https)?;
        let set = self.set;
        let capture = host.capture(https)?.ok_or_else(|| {
            malformed(set, SectionKind::HOSTS, 0, "a host has a policy without a capture")
        })?;
        let standing = self.standing_of(position, &capture)?;
        let malformed = |what| malformed(set, SectionKind::CAPTURES, 0, what).into();
        self.with_input(standing).map(Some).map_err(malformed)
    }

    /// Returns the standing of an origin with this policy and capture.
    fn standing_of(
        &mut self,
        position: PolicyNumber,
        capture: &StoredCapture<'_>,
    ) -> Result<Standing, ReadBackError> {
        let set = self.set;
        let outcome = set.policy(position)?.access()?;
        let content = match outcome.state {
            PolicyState::Rules | PolicyState::NoRules => Content::File {
                extract: self.extract(position, outcome.state)?,
                others: self.others(capture)?,
                has_rules: outcome.state == PolicyState::Rules,
            },
            _ => Content::Access(outcome),
        };
        Ok(Standing { content, facts: capture.facts })
    }

    /// Checks the input of a standing, which is 0 if the set lists none.
    fn with_input(&self, mut standing: Standing) -> Result<Standing, &'static str> {
        let input = &mut standing.facts.input;
        match self.inputs {
            Some(inputs) if *input as usize >= inputs => {
                return Err("a capture is of an input that the provenance does not list");
            }
            Some(_) => {}
            None => *input = 0,
        }
        Ok(standing)
    }

    /// Counts the bytes of lines. A list of few bytes may name long strings, so reading all could take
    /// far longer than the set is large.
    fn count_text(&mut self, bytes: usize) -> Result<(), Damage> {
        match self.text_bytes_left.checked_sub(bytes as u64) {
            Some(left) => {
                self.text_bytes_left = left;
                Ok(())
            }
            None => {
                let what = "its files are longer together than those of a set of its size";
                Err(malformed(self.set, SectionKind::DOCUMENTS, 0, what))
            }
        }
    }

    /// Returns the extract of a policy's file.
    fn extract(
        &mut self,
        position: PolicyNumber,
        state: PolicyState,
    ) -> Result<BlobID, ReadBackError> {
        if let Some(&known) = self.extracts.get(&position) {
            return Ok(known);
        }
        let policy = self.set.policy(position)?;
        let extract = policy.extract()?;
        self.count_text(extract.len())?;
        let file = read_extract(&extract);
        let file = file.ok_or_else(|| policy.malformed("its records are not a valid file"))?;
        // Otherwise a file that has lost its rules would allow everything.
        if file.rules().is_empty() != (state == PolicyState::NoRules) {
            return Err(policy.malformed("its records are not what its state says").into());
        }
        if !ListReader::of_extract(&extract).is_of(self.set.dialect()) {
            return Err(policy.malformed("its records are not what a file has").into());
        }
        let blob = self.pool.intern(&extract, Fingerprint::of(&extract))?;
        self.extracts.insert(position, blob);
        Ok(blob)
    }

    /// Returns the other records of a capture's file.
    fn others(&mut self, capture: &StoredCapture<'_>) -> Result<BlobID, ReadBackError> {
        if let Some(&known) = self.others.get(&capture.others) {
            return Ok(known);
        }
        let malformed = |what| malformed(self.set, SectionKind::OTHERS, capture.others, what);
        let mut list = ListWriter::default();
        for record in capture.other_records()? {
            let in_order = list.push(Role::Other, record.line, &record.text, record.text.len());
            in_order.ok_or_else(|| malformed("records are not in order"))?;
        }
        let bytes = list.finish();
        self.count_text(bytes.len())?;
        if !ListReader::of_others(&bytes).is_of(self.set.dialect()) {
            return Err(malformed("other records are not what a file has").into());
        }
        let blob = self.pool.intern(&bytes, Fingerprint::of(&bytes))?;
        self.others.insert(capture.others, blob);
        Ok(blob)
    }
}
