//! A library of what a compiled set holds.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::{File, FoundHost, Library, NONE, Place, Policy};
use crate::audit::others::Others;
use crate::audit::plan::Draft;
use crate::dialect::AccessOutcome;
use crate::policy::AgentChain;
use crate::set::stored::{PolicyNumber, StoredCapture, StoredHost};
use crate::set::{Damage, StoredSet};
use crate::syntax::RobotsTxt;

type Numbers<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Fills `library` with what `set` holds, and tells its hosts.
pub(super) fn read(
    library: &mut Library<'_>,
    set: &StoredSet,
    agents: &[AgentChain],
) -> Result<Vec<FoundHost>, Damage> {
    let positions = set.policies().map(|policy| policy.map(|policy| policy.number()));
    let positions: Vec<PolicyNumber> = positions.collect::<Result<_, _>>()?;
    let read = |&position: &PolicyNumber| read_policy(set, position, agents);
    let read: Vec<Result<_, Damage>> = positions.par_iter().with_min_len(16).map(read).collect();
    let mut numbers = Numbers::default();
    for (&position, read) in positions.iter().zip(read) {
        let (access, draft) = read?;
        numbers.insert(position, library.policies.len() as u32);
        library.policies.push(Policy::new(Place::Stored(position), access));
        library.plan.push(draft);
    }
    let mut reading =
        Reading { set, numbers, files: Numbers::default(), others: Numbers::default() };
    // For files without records that decide nothing.
    library.others.push(Others::default());
    set.hosts().map(|host| reading.host(library, &host?)).collect()
}

fn read_policy(
    set: &StoredSet,
    position: PolicyNumber,
    agents: &[AgentChain],
) -> Result<(AccessOutcome, Draft), Damage> {
    let policy = set.policy(position)?;
    let access = policy.access()?;
    if !super::has_file(access.state) {
        return Ok((access, Draft::without_rules(agents.len())));
    }
    let extract = policy.extract()?;
    let no_file = || set.malformed_host("the records of its policy are no file");
    let file = RobotsTxt::read_extract(&extract).ok_or_else(no_file)?;
    Ok((access, Draft::of(&file, agents, set.dialect())))
}

/// What is known of hosts that were read.
struct Reading<'s> {
    set: &'s StoredSet,
    numbers: Numbers<PolicyNumber>,
    files: Numbers<File>,
    /// By where they stand: the number of records that decide nothing.
    others: Numbers<u32>,
}

impl Reading<'_> {
    fn host(
        &mut self,
        library: &mut Library<'_>,
        host: &StoredHost<'_>,
    ) -> Result<FoundHost, Damage> {
        let mut found =
            FoundHost { key: host.key().to_vec(), policies: [NONE; 2], files: [NONE; 2] };
        for https in host.schemes() {
            let Some(position) = host.policy(https) else { continue };
            let none = || self.set.malformed_host("a host has a policy that is none");
            let policy = self.numbers.get(&position).copied().ok_or_else(none)?;
            found.policies[usize::from(https)] = policy;
            let is_known = https && host.is_one_capture() && found.files[0] != NONE;
            if library.policies[policy as usize].has_file() && !is_known {
                let none = || self.set.malformed_host("a file was captured by nobody");
                let capture = host.capture(https)?.ok_or_else(none)?;
                found.files[usize::from(https)] = self.file(library, &capture)?;
            }
        }
        Ok(found)
    }

    fn file(
        &mut self,
        library: &mut Library<'_>,
        capture: &StoredCapture<'_>,
    ) -> Result<u32, Damage> {
        let others = match capture.others() {
            None => 0,
            Some(place) => match self.others.get(&place) {
                Some(&known) => known,
                None => {
                    let number = library.others.len() as u32;
                    library.others.push(self.read_others(place)?);
                    self.others.insert(place, number);
                    number
                }
            },
        };
        let facts = &capture.facts;
        let file = File { octets: facts.file_octets.into(), notes: facts.file_notes, others };
        let new = library.files.len() as u32;
        let number = *self.files.entry(file).or_insert(new);
        if number == new {
            library.files.push(file);
        }
        Ok(number)
    }

    fn read_others(&self, place: u32) -> Result<Others, Damage> {
        let mut others = Others::default();
        for record in self.set.other_records_at(place)? {
            others.add_text(&record.text, record.line.get(), self.set.dialect());
        }
        Ok(others)
    }
}
