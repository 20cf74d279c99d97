//! Reads back what was known about each origin before a set was compiled: the first step of
//! merging.
//!
//! Nothing that a set stores about an origin is lost, so compiling the result gives the same
//! sections. Equal files are read once.

use hashbrown::HashMap;

use portcullis_dialect::decision::PolicyState;
use portcullis_io::access::UnixSeconds;
use portcullis_robots::syntax::{ListReader, ListWriter, RobotsTxt, Role};

use super::super::compile::{CompileConfig, to_memory};
use super::super::file::Damage;
use super::super::ingest::check_history;
use super::super::standing::{Moment, Timeline};
use super::super::{
    BlobID, BlobPool, Content, HostStanding, InputReport, OutageConfig, Part, Provenance, Standing,
};
use crate::batch::BeforeFirst;

use super::{PolicyNumber, PolicySet, StoredCapture, StoredHost, StoredMoment};

/// What a set knows about each origin, in memory.
#[derive(Debug)]
pub struct Standings {
    /// The hosts, sorted by key.
    pub hosts: Vec<HostStanding>,
    /// The content of their files.
    pub pool: BlobPool,
    /// What the set stores in addition for merging.
    pub history: Vec<u8>,
    /// The inputs that the set was compiled from; the set itself if it does not list any.
    pub inputs: Vec<InputReport>,
}

impl Standings {
    /// Returns the standings as a part to be merged.
    pub fn part(&self) -> Part<'_> {
        let Standings { hosts, pool, history, inputs } = self;
        Part { hosts, pool, history, inputs: inputs.clone() }
    }
}

impl PolicySet {
    /// Reads what is known of each origin. It reads the whole set but its rule sets.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn standings(&self) -> Result<Standings, Damage> {
        let (inputs, has_inputs) = self.inputs()?;
        let mut reading = Reading {
            set: self,
            inputs: has_inputs.then_some(inputs.len()),
            moments: 0,
            pool: BlobPool::default(),
            extracts: HashMap::default(),
            others: HashMap::default(),
        };
        let hosts = self.hosts().map(|host| reading.host(&host?)).collect::<Result<Vec<_>, _>>()?;
        let section = self.sections.history;
        let history = self.file.bytes(section, 0, section.bytes())?.to_vec();
        check_history(&hosts, &history, reading.inputs, self.dialect)
            .map_err(|what| self.malformed(section, 0, what))?;
        Ok(Standings { hosts, pool: reading.pool, history, inputs })
    }

    /// Returns how outages were judged when the set was compiled.
    pub fn outages(&self) -> Result<OutageConfig, Damage> {
        let provenance = Provenance::read(self.provenance()?);
        Ok(provenance.map(|provenance| provenance.outages()).unwrap_or_default())
    }

    /// Returns the inputs, and whether the set lists them.
    pub(super) fn inputs(&self) -> Result<(Vec<InputReport>, bool), Damage> {
        Ok(match Provenance::read(self.provenance()?) {
            Some(provenance) => (provenance.inputs().collect(), true),
            None => {
                let dates = self.counts().captured;
                let set = InputReport {
                    name: self.name().to_owned(),
                    captured: dates,
                    ..InputReport::default()
                };
                (vec![set], false)
            }
        })
    }
}

impl PolicySet {
    /// Returns the set of the captures up to `time`, compiled in memory without history. Before the
    /// first capture of an origin, it is not known or, by `before_first`, has its first policy.
    ///
    /// Use it for questions that need whole policies as of one time. To decide URLs,
    /// [`Classifier::as_of`](crate::batch::Classifier::as_of) compiles nothing. Runs on the calling
    /// thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If the set has no history.
    pub fn as_of(&self, time: UnixSeconds, before_first: BeforeFirst) -> Result<PolicySet, Damage> {
        let Standings { mut hosts, pool, .. } = self.standings()?;
        for host in &mut hosts {
            let [http, https] = *host.timelines.take().expect("the set has history");
            let at = |timeline: Timeline| {
                let index = timeline.partition_point(|moment| moment.since <= time).checked_sub(1);
                let index = index.or((before_first == BeforeFirst::Oldest).then_some(0))?;
                timeline.get(index).map(|moment| moment.standing)
            };
            (host.http, host.https) = (at(http), at(https));
        }
        hosts.retain(|host| host.all().next().is_some());
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let config = CompileConfig {
            provenance: String::from_utf8_lossy(self.provenance()?).into_owned(),
            ..CompileConfig::new(self.dialect, self.robots_bytes_max().map(in_memory))
        };
        let compiled = to_memory(hosts, pool, &config, (None, true));
        let compiled =
            compiled.map_err(|_| self.file.malformed_header("its content cannot be compiled"))?;
        Ok(PolicySet::of_compiled(self.name(), compiled, None, true))
    }
}

/// The state while a set is read.
struct Reading<'s> {
    set: &'s PolicySet,
    /// The number of inputs, if the set lists them.
    inputs: Option<usize>,
    /// The number of stored moments that were read.
    moments: u64,
    pool: BlobPool,
    /// The extract of each policy.
    extracts: HashMap<PolicyNumber, BlobID, foldhash::fast::RandomState>,
    /// The other records of a file, by position.
    others: HashMap<u32, BlobID, foldhash::fast::RandomState>,
}

impl Reading<'_> {
    fn host(&mut self, host: &StoredHost<'_>) -> Result<HostStanding, Damage> {
        let mut standing = |https| self.standing(host, https);
        let (http, https) = (standing(false)?, standing(true)?);
        let timelines = match self.set.has_history() {
            true => Some(Box::new([self.timeline(host, false)?, self.timeline(host, true)?])),
            false => None,
        };
        Ok(HostStanding { key: host.key().into(), http, https, timelines })
    }

    fn timeline(&mut self, host: &StoredHost<'_>, https: bool) -> Result<Timeline, Damage> {
        let Some(timeline) = host.timeline(https)? else { return Ok(Timeline::new()) };
        // Otherwise each host could have the longest timeline, and reading them would take far
        // longer than the set is large. http and https share theirs.
        self.moments += timeline.stored_moments();
        if self.moments > 2 * self.set.moments() {
            return Err(self.set.malformed_moment("timelines of several hosts have one moment"));
        }
        let moment = |moment: Result<StoredMoment<'_>, Damage>| {
            let StoredMoment { since, policy, capture } = moment?;
            let standing = self.standing_of(policy, &capture)?;
            let malformed = |what| self.set.malformed_moment(what);
            Ok(Moment { since, standing: self.with_input(standing).map_err(malformed)? })
        };
        timeline.moments()?.map(moment).collect()
    }

    fn standing(&mut self, host: &StoredHost<'_>, https: bool) -> Result<Option<Standing>, Damage> {
        let Some(position) = host.policy(https) else { return Ok(None) };
        host.check_origin(https)?;
        let set = self.set;
        let capture = host.capture(https)?.ok_or_else(|| {
            set.malformed(set.sections.hosts, 0, "a host has a policy without a capture")
        })?;
        let standing = self.standing_of(position, &capture)?;
        let malformed = |what| set.malformed(set.sections.captures, 0, what);
        self.with_input(standing).map(Some).map_err(malformed)
    }

    /// Returns the standing of an origin with this policy and capture.
    fn standing_of(
        &mut self,
        position: PolicyNumber,
        capture: &StoredCapture<'_>,
    ) -> Result<Standing, Damage> {
        let set = self.set;
        let outcome = set.policy(position)?.access()?;
        let content = match outcome.state {
            PolicyState::Rules | PolicyState::NoRules => Content::File {
                extract: self.extract(position, outcome.state)?,
                others: self.others(capture)?,
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

    /// Returns the extract of a policy's file, with one more reference.
    fn extract(&mut self, position: PolicyNumber, state: PolicyState) -> Result<BlobID, Damage> {
        if let Some(&known) = self.extracts.get(&position) {
            self.pool.hold(known);
            return Ok(known);
        }
        let policy = self.set.policy(position)?;
        let extract = policy.extract()?;
        let file = RobotsTxt::read_extract(&extract);
        let file = file.ok_or_else(|| policy.malformed("its records are not a valid file"))?;
        // Otherwise a file that has lost its rules would allow everything.
        if file.rules().is_empty() != (state == PolicyState::NoRules) {
            return Err(policy.malformed("its records are not what its state says"));
        }
        if !ListReader::of_extract(&extract).is_of(self.set.dialect) {
            return Err(policy.malformed("its records are not what a file has"));
        }
        let blob = self.pool.intern(&extract, BlobPool::hash(&extract));
        self.extracts.insert(position, blob);
        Ok(blob)
    }

    /// Returns the other records of a capture's file, with one more reference.
    fn others(&mut self, capture: &StoredCapture<'_>) -> Result<BlobID, Damage> {
        if let Some(&known) = self.others.get(&capture.others) {
            self.pool.hold(known);
            return Ok(known);
        }
        let malformed = |what| self.set.malformed(self.set.sections.others, capture.others, what);
        let mut list = ListWriter::default();
        for record in capture.other_records()? {
            let in_order = list.push(Role::Other, record.line, &record.text, record.text.len());
            in_order.ok_or_else(|| malformed("records are not in order"))?;
        }
        let bytes = list.finish();
        if !ListReader::of_others(&bytes).is_of(self.set.dialect) {
            return Err(malformed("other records are not what a file has"));
        }
        let blob = self.pool.intern(&bytes, BlobPool::hash(&bytes));
        self.others.insert(capture.others, blob);
        Ok(blob)
    }
}
