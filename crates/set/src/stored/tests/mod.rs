//! Sets with right checksums and wrong content, as a faulty writer or an attacker would write them.
//!
//! Each set is queried and verified. Queries end with an answer or with damage, and never panic. If
//! an answer does not match the texts, verifying reports it.

mod blocks;
mod hostile;
mod sample;
mod verifying;
mod zeros;

use std::sync::Arc;

use crate::batch::Classifier;
use crate::file::{HeaderFields, SectionKind, SetFile, SetFileWriter, Storage};
use portcullis_dialect::usage::Label;
use portcullis_robots::policy::Detail;

use super::*;

/// A classifier over a set that was compiled for all agents.
fn asked(
    set: &Arc<PolicySet>,
    agents: Vec<AgentChain>,
    detail: Detail,
) -> Result<Classifier, Damage> {
    let asked = Classifier::new(Arc::clone(set), agents, detail);
    let labels: &[Label] = if set.has_usage() { &Label::ALL } else { &[] };
    asked.and_then(|classifier| classifier.with_usage(labels)).map_err(|error| match error {
        AskError::Damaged(damage) => damage,
        AskError::OtherAgents { .. } => unreachable!("a file is for everybody"),
        AskError::NoUsage { .. } => unreachable!("it has usage"),
    })
}

/// The content of a set's file, which can be changed and written again with right checksums.
#[derive(Clone)]
struct Parts {
    fields: HeaderFields,
    sections: Vec<(SectionKind, Vec<u8>)>,
}

impl Parts {
    fn of(bytes: Vec<u8>) -> Parts {
        let file = SetFile::open(Storage::owned("a.set", bytes[..].into())).unwrap();
        let section = |section: &Section| {
            let bytes = file.bytes(*section, 0, section.bytes()).unwrap();
            (section.kind(), bytes.to_vec())
        };
        Parts {
            fields: file.fields().clone(),
            sections: file.sections().iter().map(section).collect(),
        }
    }

    fn section(&mut self, kind: SectionKind) -> &mut Vec<u8> {
        &mut self.sections.iter_mut().find(|(other, _)| *other == kind).unwrap().1
    }

    /// Changes a word of a section.
    fn set_word(&mut self, kind: SectionKind, word: usize, value: u32) {
        self.section(kind)[word * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }

    fn word(&mut self, kind: SectionKind, word: usize) -> u32 {
        u32::from_le_bytes(self.section(kind)[word * 4..][..4].try_into().unwrap())
    }

    fn sealed(&self) -> Vec<u8> {
        let mut writer = SetFileWriter::in_memory(0).unwrap();
        for (kind, bytes) in &self.sections {
            writer.begin(*kind).unwrap();
            writer.write(bytes).unwrap();
        }
        writer.finish(&self.fields).unwrap().finished.to_vec()
    }

    fn open(&self) -> Result<PolicySet, SetError> {
        PolicySet::of_bytes("a.set", self.sealed())
    }
}

/// Stored files outlive the program. If this fails, the content of sets has changed, or the words
/// that automata are built from. Increase the format version (`VERSION` and `FORMAT.md`) before you
/// change the number here.
#[test]
fn the_content_stays_as_it_is() {
    let set = |bytes| PolicySet::of_bytes("a.set", bytes).unwrap();
    let hashes = [&portcullis_dialect::dialect::RFC_9309, &portcullis_dialect::dialect::GOOGLE]
        .map(|dialect| set(sample::small(dialect)).hash());
    assert_eq!(hashes, [16_399_133_945_093_748_565, 4_619_832_845_951_386_884]);
}

#[test]
fn what_is_sealed_again_is_the_same_file() {
    let bytes = sample::small(&portcullis_dialect::dialect::RFC_9309);
    assert!(Parts::of(bytes.clone()).sealed() == bytes);
}
