//! A library of files: texts with the same extract are one policy.

use hashbrown::HashTable;
use rayon::prelude::*;

use super::{EVERY_HOST, File, FoundHost, Library, NONE, Place, Policy, of_file};
use crate::audit::others::Others;
use crate::audit::plan::Draft;
use crate::bytes::seeded_hash;
use crate::policy::AgentChain;
use crate::set::PolicySet;
use crate::syntax::{NoteSet, RobotsTxt};

/// Texts that are read before what they have in common is found. It bounds the memory for what is
/// waiting.
const TEXTS_AT_ONCE: usize = 4_096;

/// A text that was read.
struct ReadText {
    extract_hash: u64,
    has_rules: bool,
    draft: Draft,
    octets: u64,
    notes: NoteSet,
    others: Others,
}

/// Fills `library` with the texts of `set`, and tells its hosts.
pub(super) fn read(
    library: &mut Library<'_>,
    set: &PolicySet,
    agents: &[AgentChain],
) -> Vec<FoundHost> {
    let texts: Vec<u32> = (0..set.sources().len() as u32).collect();
    let mut known: HashTable<(u64, u32)> = HashTable::new();
    // By text, which is also the number of its file.
    let mut policies = Vec::with_capacity(texts.len());
    for texts in texts.chunks(TEXTS_AT_ONCE) {
        let read = |&text: &u32| read_text(set, set.text(text as usize), agents);
        let read: Vec<ReadText> = texts.par_iter().with_min_len(16).map(read).collect();
        for (&text, read) in texts.iter().zip(read) {
            policies.push(add(library, set, &mut known, text, read));
        }
    }
    if library.is_everything {
        let (policies, files) = ([policies[0], NONE], [0, NONE]);
        return vec![FoundHost { key: EVERY_HOST.to_vec(), policies, files }];
    }
    let found = |(key, texts): (&[u8], [Option<u32>; 2])| {
        let [http, https] = texts.map(|text| text.unwrap_or(NONE));
        let policy = |text: u32| policies.get(text as usize).copied().unwrap_or(NONE);
        // One file that speaks for both is one.
        let files = [http, if http == https { NONE } else { https }];
        FoundHost { key: key.to_vec(), policies: [policy(http), policy(https)], files }
    };
    set.hosts().map(found).collect()
}

fn read_text(set: &PolicySet, text: &[u8], agents: &[AgentChain]) -> ReadText {
    let (dialect, octets_max) = (set.dialect(), set.robots_octets_max());
    let file = RobotsTxt::parse(text, dialect, octets_max);
    let mut extract = Vec::new();
    file.write_extract(text, &mut extract);
    let mut others = Others::default();
    for record in file.other_records() {
        others.add(record.field, record.name, record.value, record.line.get(), dialect);
    }
    ReadText {
        extract_hash: seeded_hash(&extract),
        has_rules: !file.rules().is_empty(),
        draft: Draft::of(&file, agents, dialect),
        octets: text.len().min(octets_max.unwrap_or(usize::MAX)) as u64,
        notes: file.notes().iter().map(|note| note.kind).fold(NoteSet::EMPTY, NoteSet::with),
        others,
    }
}

/// The extract of a text.
pub(super) fn extract(set: &PolicySet, text: &[u8]) -> Vec<u8> {
    let mut extract = Vec::new();
    RobotsTxt::parse(text, set.dialect(), set.robots_octets_max())
        .write_extract(text, &mut extract);
    extract
}

/// Adds a text, and returns the number of its policy.
fn add(
    library: &mut Library<'_>,
    set: &PolicySet,
    known: &mut HashTable<(u64, u32)>,
    text: u32,
    read: ReadText,
) -> u32 {
    let ReadText { extract_hash, has_rules, draft, octets, notes, others } = read;
    let number = library.others.len() as u32;
    library.others.push(others);
    library.files.push(File { octets, notes, others: number });
    let of = |policy: u32| match library.policies[policy as usize].place {
        Place::Text(text) => extract(set, set.text(text as usize)),
        Place::Stored(_) => unreachable!("policies are of their library's source"),
    };
    let same = |&(hash, policy): &(u64, u32)| {
        hash == extract_hash && of(policy) == extract(set, set.text(text as usize))
    };
    if let Some(&(_, policy)) = known.find(extract_hash, same) {
        return policy;
    }
    let policy = library.policies.len() as u32;
    known.insert_unique(extract_hash, (extract_hash, policy), |&(hash, _)| hash);
    library.policies.push(Policy::new(Place::Text(text), of_file(has_rules)));
    library.plan.push(draft);
    policy
}
