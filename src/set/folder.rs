//! A folder of robots.txt files named by host, loaded by the reader that `compile` has too.

use std::path::Path;

use hashbrown::HashTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::access::Answer;
use crate::bytes::seeded_hash;
use crate::capture::folder::{host_keys, open};
use crate::capture::{
    Batch, BatchReader, BrokenKind, BrokenRecord, Capture, CaptureSink, ReadConfig, Subject,
};

use super::{
    LoadConfig, LoadError, LoadNote, LoadNoteKind, OriginTable, PolicySet, Scope, Strictness,
    appearance_of,
};

/// The file of a host.
struct HostFile {
    host: Vec<u8>,
    /// For the hash of the set.
    hash: u64,
    /// For the table of texts that are known.
    seeded_hash: u64,
    text: Vec<u8>,
    note: Option<LoadNote>,
}

/// What came of the files of a batch, in their order.
struct Files<'f> {
    folder: &'f Path,
    config: &'f LoadConfig,
    found: Vec<Result<HostFile, BrokenRecord>>,
}

impl CaptureSink for Files<'_> {
    fn capture(&mut self, capture: Capture<'_>) {
        let Subject::Host(host) = capture.subject else {
            unreachable!("the files of a folder are named by host");
        };
        let place = || format!("{}: {}", self.folder.display(), String::from_utf8_lossy(host));
        self.found.push(if capture.answer == Answer::BrokenBody {
            let problem = "longer than can be held; set --max-robots-size";
            Err(BrokenRecord::unreadable(place(), problem))
        } else {
            let text = capture.body.into_owned();
            let kind = appearance_of(&text, self.config).map(LoadNoteKind::Appearance);
            Ok(HostFile {
                host: host.to_vec(),
                hash: xxh3_64(&text),
                seeded_hash: seeded_hash(&text),
                note: kind.map(|kind| LoadNote { place: place(), kind }),
                text,
            })
        });
    }

    fn broken(&mut self, broken: BrokenRecord) {
        self.found.push(Err(broken));
    }
}

pub(super) fn load(
    folder: &Path,
    config: &LoadConfig,
    strictness: Strictness,
) -> Result<PolicySet, LoadError> {
    let mut reader = open(folder)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    let read = |batch: Box<dyn Batch>| {
        let mut files = Files { folder, config, found: Vec::new() };
        batch.read(&ReadConfig { robots_octets_max: config.robots_octets_max }, &mut files);
        files.found
    };
    let found: Vec<Vec<Result<HostFile, BrokenRecord>>> =
        batches.into_par_iter().map(read).collect();
    let mut set = PolicySet {
        config: *config,
        texts: Vec::new(),
        scope: Scope::Everything,
        hash: 0,
        notes: Vec::new(),
    };
    let mut files = Vec::new();
    for found in found.into_iter().flatten() {
        match found {
            Ok(file) => files.push(file),
            Err(broken)
                if broken.kind == BrokenKind::Unreadable && strictness != Strictness::Lenient =>
            {
                return Err(LoadError::Unreadable { problem: broken.problem });
            }
            Err(BrokenRecord { place, problem, .. }) => set.notes.push(LoadNote {
                place: format!("{}: {place}", folder.display()),
                kind: LoadNoteKind::LeftOut(problem),
            }),
        }
    }
    let origins = file_origins(files, &mut set);
    if origins.is_empty() {
        return Err(LoadError::NoPolicy { path: folder.to_owned() });
    }
    set.scope = Scope::Origins(origins);
    Ok(set)
}

/// Files each text once and its host's origins in a table.
fn file_origins(files: Vec<HostFile>, set: &mut PolicySet) -> OriginTable {
    let mut origins = OriginTable::default();
    let mut known: HashTable<(u64, u32)> = HashTable::new();
    let mut hash = Xxh3::new();
    for file in files {
        let [http, https] = host_keys(&file.host).expect("the reader checked the name");
        let same = |&(hash, index): &(u64, u32)| {
            hash == file.seeded_hash && *set.texts[index as usize] == *file.text
        };
        let known_policy = known.find(file.seeded_hash, same).map(|&(_, policy)| policy);
        let policy = known_policy.unwrap_or(set.texts.len() as u32);
        origins.insert(b"http", &http, policy);
        origins.insert(b"https", &https, policy);
        hash.update(&https);
        hash.update(&file.hash.to_le_bytes());
        set.notes.extend(file.note);
        if known_policy.is_none() {
            known.insert_unique(file.seeded_hash, (file.seeded_hash, policy), |&(hash, _)| hash);
            set.texts.push(file.text.into());
        }
    }
    set.hash = hash.digest();
    origins
}
