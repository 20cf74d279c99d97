//! Sets with right checksums and wrong content, as a faulty writer or an attacker would write them.
//!
//! Each set is queried and verified. Queries end with an answer or with damage, and never panic. If
//! an answer does not match the texts, verifying reports it.

mod fixtures;
mod hostile;
mod sample;
mod verifying;

use std::sync::Arc;

use portcullis_dialect::decision::{Answer, Decision, Reason, Verdict};
use portcullis_dialect::dialect::{GOOGLE, RFC_9309};
use portcullis_dialect::usage::Label;
use portcullis_files::scratch::Scratch;
use portcullis_robots::policy::Crawler;
use portcullis_set::batch::{AskError, Classifier, Session};
use portcullis_set::file::{HeaderFields, Section, SectionKind, SetFile, Storage};
use portcullis_set::layout::PolicyHead;
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet, SetError};
use portcullis_testkit::Captures;

use crate::writer::{SectionSink, SetFileWriter};

/// Returns a session over a set that was compiled for all agents.
fn asked(set: &Arc<PolicySet>, agents: Vec<Crawler>) -> Result<Session, Damage> {
    match Classifier::new(Arc::clone(set), agents) {
        Ok(classifier) => Ok(Session::new(classifier.with_usage(&Label::ALL))),
        Err(AskError::Damaged(damage)) => Err(damage),
        Err(error) => unreachable!("a file is for everybody: {error}"),
    }
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
            let bytes = file.bytes(*section, 0, section.bytes).unwrap();
            (section.kind, bytes.to_vec())
        };
        Parts { fields: *file.fields(), sections: file.sections().iter().map(section).collect() }
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
        let mut writer = SetFileWriter::in_memory();
        for (kind, bytes) in &self.sections {
            writer.begin(*kind).unwrap();
            writer.write(bytes).unwrap();
        }
        writer.finish(&self.fields).unwrap().file.into_inner()
    }

    fn open(&self) -> Result<PolicySet, SetError> {
        PolicySet::from_bytes("a.set", self.sealed())
    }
}

/// Stored files outlive the program. If this fails, the content of sets has changed, or the words
/// that automata are built from. Increase the format version (`VERSION` and `FORMAT.md`) before you
/// change the number here.
#[test]
fn the_content_stays_as_it_is() {
    let set = |bytes| PolicySet::from_bytes("a.set", bytes).unwrap();
    let samples = [sample::small, sample::with_history];
    let hashes = samples
        .map(|sample| [&RFC_9309, &GOOGLE].map(|it| format!("{:.16}", set(sample(it)).hash())));
    let small = ["45a37e8414021dea", "207592ff37472675"];
    let with_history = ["1bc08b08f36c8aa6", "618d1f65021e267e"];
    assert_eq!(hashes, [small, with_history]);
}

#[test]
fn sealing_again_gives_the_same_file() {
    let bytes = sample::small(&RFC_9309);
    assert!(Parts::of(bytes.clone()).sealed() == bytes);
}

/// Numbers of rules and records that need more than 16 bits.
#[test]
fn a_file_of_many_rules_has_wide_pairs() {
    let many = "Allow:/x\n".repeat(usize::from(u16::MAX));
    let file = format!("User-agent: *\n{many}User-agent: last\nDisallow: /last\n");
    let mut archive = Captures::default();
    archive.push("https://a.example/robots.txt", "2024-01-01T00:00:00Z", 200, &file);
    let bytes = sample::compile(&archive, &RFC_9309, false);
    let set = Arc::new(PolicySet::from_bytes("a.set", bytes).unwrap());
    crate::verify(&set, &Scratch::in_memory()).unwrap();
    let agents = ["last", "x"].map(|name| Crawler::parse(name, &RFC_9309).unwrap());
    let mut session = asked(&set, agents.to_vec()).unwrap();
    let urls = ["https://a.example/last", "https://a.example/x"];
    let lines = session.decide(&urls).unwrap().decisions_with_rules().unwrap();
    let lines: Vec<_> = lines.iter().map(|it| it.line.map(|line| line.get())).collect();
    assert_eq!(lines, [Some(65_538), None, None, Some(2)]);
}

/// A wrong policy number from the caller never allows.
#[test]
#[should_panic(expected = "there is no such policy")]
fn a_policy_that_is_not_there_is_no_answer() {
    let set = Arc::new(PolicySet::from_bytes("a.set", sample::small(&RFC_9309)).unwrap());
    let agents = vec![Crawler::parse("x", &RFC_9309).unwrap()];
    let policies = [PolicyNumber(set.counts().policies as u32).into()];
    let mut session = Session::new(Classifier::new(set, agents).unwrap());
    session.decide_paths(&policies, &[b"/"]).unwrap();
}

/// Zeros instead of the end of a policy, as read from a truncated mapped file.
#[test]
fn a_policy_without_its_end_has_no_group_to_miss() {
    let whole = Parts::of(sample::small(&RFC_9309));
    let ask = |parts: &Parts| -> Result<Vec<Answer>, Damage> {
        let set = Arc::new(parts.open().unwrap());
        let agents = vec![Crawler::parse("Example", &RFC_9309).unwrap()];
        Ok(asked(&set, agents)?.decide(&["http://b.example/~x"])?.decisions().to_vec())
    };
    assert_eq!(ask(&whole).unwrap()[0].verdict(), Verdict::Disallow);
    let mut damaged = 0;
    for section in [SectionKind::POLICIES, SectionKind::POLICY_HEADS] {
        for start in 0..whole.clone().section(section).len() {
            let mut parts = whole.clone();
            parts.section(section)[start..].fill(0);
            match ask(&parts) {
                Ok(decisions) => assert_ne!(decisions[0].reason(), Reason::NoGroup, "{start}"),
                Err(_) => damaged += 1,
            }
        }
    }
    assert!(damaged > size_of::<PolicyHead>());
}
