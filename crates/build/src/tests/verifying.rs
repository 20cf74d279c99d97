//! The damage that verifying finds and reports.

use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_engine::{Line, RuleSet};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_set::file::{HeaderFields, StoredHeader};
use portcullis_set::layout::{
    CaptureRow, HistoryRow, HostLine, LINE_SLOTS, NOT_CAPTURED, PolicyHead, ResponseRow, SlotLine,
    TimelinesHead, policy, record,
};
use portcullis_set::limits::SET_BLOCK_BYTES;
use portcullis_set::lists::Role;
use portcullis_testkit::Captures;

use super::*;
use crate::limits::SET_TEXT_BYTES_FREE;

/// The kind of a rule that disallows.
const DISALLOW: u32 = 3;

#[test]
fn sets_of_every_dialect_hold() {
    for dialect in Dialect::ALL {
        let samples = [sample::small, sample::of_groups, sample::with_history];
        for bytes in samples.map(|sample| sample(dialect)) {
            let set = PolicySet::from_bytes("a.set", bytes).unwrap();
            let (verified, counts) =
                (crate::verify(&set, &Scratch::in_memory()).unwrap(), *set.counts());
            assert_eq!(verified.blocks * 4_096, set.bytes());
            assert_eq!(verified.counts, counts);
            let hosts = set.hosts().collect::<Result<Vec<_>, _>>().unwrap();
            assert_eq!(hosts.len() as u64, counts.hosts);
            assert!(verified.records > 10, "{verified:?}");
        }
    }
}

#[test]
fn the_samples_have_everything() {
    let set = PolicySet::from_bytes("a.set", sample::small(&RFC_9309)).unwrap();
    assert!(set.section_bytes().all(|(_, bytes)| bytes > 0));
    assert!(set.counts().rule_sets >= 5);
    let set = PolicySet::from_bytes("a.set", sample::with_history(&RFC_9309)).unwrap();
    assert!(set.section_bytes().all(|(_, bytes)| bytes > 0));
    assert!(set.history_captures() > 15);
    let set = PolicySet::from_bytes("a.set", sample::of_groups(&RFC_9309)).unwrap();
    assert!(set.counts().rule_sets >= 60);
}

#[test]
fn a_dialect_that_is_not_known_or_behaves_otherwise_is_refused() {
    let whole = Parts::of(sample::small(&RFC_9309));
    let changes: [fn(&mut Parts); 2] = [
        |parts| parts.fields.dialect_name = HeaderFields::name_field("rfc9999"),
        |parts| parts.fields.reading_revision ^= 1,
    ];
    for change in changes {
        let mut parts = whole.clone();
        change(&mut parts);
        let error = parts.open().unwrap_err();
        let (text, name) = (error.to_string(), parts.fields.dialect_name().unwrap());
        assert!(text.contains(&format!("compiled for the dialect {name} as")), "{text}");
    }
}

#[test]
fn another_content_hash_is_damage() {
    let mut file = sample::small(&RFC_9309);
    let header = StoredHeader::mut_from_bytes(&mut file[..SET_BLOCK_BYTES]).unwrap();
    header.content_hash[31] ^= 1;
    header.seal();
    let set = PolicySet::from_bytes("a.set", file).unwrap();
    let text = crate::verify(&set, &Scratch::in_memory()).unwrap_err().to_string();
    assert!(text.contains("the content hash belongs to other content"), "{text}");
}

/// A hash from another channel proves that nobody changed the dialect or the limit.
#[test]
fn a_set_has_another_hash_in_another_dialect() {
    let hash = |dialect| PolicySet::from_bytes("a.set", sample::small(dialect)).unwrap().hash();
    assert_ne!(hash(&RFC_9309), hash(&GOOGLE));
}

#[test]
fn a_set_of_an_older_matching_is_compiled_again() {
    let whole = sample::with_history(&RFC_9309);
    let mut parts = Parts::of(whole.clone());
    parts.fields.matching_revision -= 1;
    let text = parts.open().unwrap_err().to_string();
    assert!(text.contains("`portcullis compile -o NEW a.set`"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.pcs");
    std::fs::write(&path, parts.sealed()).unwrap();
    let old = PolicySet::open_to_compile(&path).unwrap();
    let again = crate::settled(&old, &Scratch::in_memory()).unwrap();
    assert!(crate::compile::to_vec(&again.standings, &again.compiling).unwrap() == whole);
    let agents = vec![Crawler::parse("ExampleBot", &RFC_9309).unwrap()];
    let refused = Classifier::new(old, agents).unwrap_err();
    assert!(refused.to_string().contains("matched paths differently"), "{refused}");
}

/// Returns the lines of hosts.
fn hosts(parts: &mut Parts) -> &mut [HostLine] {
    <[HostLine]>::mut_from_bytes(parts.section(SectionKind::HOSTS)).unwrap()
}

/// Returns the heads of policies.
fn heads(parts: &mut Parts) -> &mut [PolicyHead] {
    <[PolicyHead]>::mut_from_bytes(parts.section(SectionKind::POLICY_HEADS)).unwrap()
}

/// Changes the kind and the form of the first record of the first document that has this kind.
fn change_first(parts: &mut Parts, kind: u32, change: impl Fn(u32) -> u32) {
    let [records, runs] =
        [record::RECORDS, record::RUNS].map(|word| parts.word(SectionKind::DOCUMENTS, word));
    let first = record::kinds_at(runs);
    for index in 0..records as usize {
        let word = first + index / record::KINDS_PER_WORD;
        let shift = (index % record::KINDS_PER_WORD) as u32 * record::KIND_BITS;
        let old = parts.word(SectionKind::DOCUMENTS, word);
        let bits = old >> shift & 15;
        if bits & 3 == kind {
            let new = old & !(15 << shift) | change(bits) << shift;
            return parts.set_word(SectionKind::DOCUMENTS, word, new);
        }
    }
}

/// Changes single words, and expects what verifying reports.
#[test]
fn a_faulty_writer_is_found_out() {
    let cases: &[Case<'_>] = &[
        ("it has flags", |parts| parts.fields.flags = 1),
        ("its counts do not match", |parts| parts.fields.counts.hosts += 1),
        ("its counts do not match", |parts| parts.fields.counts.unused = [0, 1]),
        ("no JSON object", |parts| *parts.section(SectionKind::PROVENANCE) = b"[]".to_vec()),
        ("an input that the provenance does not list", |parts| {
            *parts.section(SectionKind::PROVENANCE) = br#"{"version":"1","inputs":[]}"#.to_vec();
        }),
        ("section 'slots'", |parts| {
            let slots = parts.section(SectionKind::SLOTS);
            slots.extend([0; size_of::<SlotLine>()]);
        }),
        ("its counts do not match its content", |parts| parts.fields.counts.host_seed ^= 1),
        ("section 'slots'", |parts| {
            // Every taken slot leads to the first host.
            let words = parts.section(SectionKind::SLOTS).len() / 4;
            for word in (0..words).filter(|word| word % (2 * LINE_SLOTS) >= LINE_SLOTS) {
                if parts.word(SectionKind::SLOTS, word) > 1 {
                    parts.set_word(SectionKind::SLOTS, word, 1);
                }
            }
        }),
        ("section 'hosts'", |parts| {
            hosts(parts)[0].key[0] = b'z';
        }),
        ("section 'hosts'", |parts| {
            hosts(parts)[0].captures[0] = 1.into();
        }),
        ("section 'hosts'", |parts| {
            hosts(parts)[0].policies[0] = 1.into();
        }),
        ("section 'captures'", |parts| {
            let captures = parts.section(SectionKind::CAPTURES);
            let rows = <[CaptureRow]>::mut_from_bytes(captures).unwrap();
            rows.iter_mut().for_each(|row| row.date = CaptureRow::dated(None).date);
        }),
        ("section 'captures'", |parts| {
            let captures = parts.section(SectionKind::CAPTURES);
            let rows = <[CaptureRow]>::mut_from_bytes(captures).unwrap();
            rows[0].redirects += 1;
        }),
        ("section 'policy heads'", |parts| heads(parts)[0].names_and_state |= 1 << 60),
        // A name has no bit, so its crawler gets the default rules; or one too many.
        ("section 'policy heads'", |parts| heads(parts)[0].names_and_state &= 0xff << 56),
        ("section 'policy heads'", |parts| heads(parts)[0].names_and_state |= 0xff_ffff),
        ("section 'policy heads'", |parts| {
            // All get the rule set of one policy.
            let rows = heads(parts);
            let has_default = |head: &&PolicyHead| head.default_lines.get() > 0;
            let last = *rows.iter().rfind(has_default).unwrap();
            rows[0].default_line = last.default_line;
            rows[0].default_lines = last.default_lines;
        }),
        ("section 'policy heads'", |parts| heads(parts)[0].default_entry = u32::MAX.into()),
        ("section 'policies'", |parts| {
            parts.set_word(SectionKind::POLICIES, policy::DEFAULT_NAMING_LINE, 0);
        }),
        ("section 'rule sets'", |parts| {
            // The word of a pattern in the table of the first rule set.
            let bytes = parts.section(SectionKind::RULE_SETS);
            let line = RuleSet::view(<[Line]>::ref_from_bytes(bytes).unwrap()).unwrap();
            assert!(!line.is_empty());
            let text = bytes.windows(4).rposition(|word| word == [0; 4]).unwrap();
            bytes[text] = 8;
        }),
        ("compiles to", |parts| {
            // A bit of a Bloom filter.
            let bytes = parts.section(SectionKind::RULE_SETS);
            bytes[40] ^= 1;
        }),
        ("compiles to", |parts| {
            parts.section(SectionKind::RULE_SETS).extend([0; 64]);
        }),
        ("its records are not what a file has", |parts| {
            // A rule has the string after the strings of the list.
            change_first(parts, DISALLOW, |_| DISALLOW);
        }),
        ("section 'rule sets'", |parts| {
            change_first(parts, DISALLOW, |bits| bits ^ 1);
        }),
        ("no pattern", |parts| change_first(parts, DISALLOW, |bits| bits | 12)),
        ("a record's text is that of no pattern", |parts| {
            change_first(parts, Role::STARTS_GROUP.number(), |_| {
                record::PATTERN << record::FORM_SHIFT
            });
        }),
        ("section 'documents'", |parts| {
            // A kind after the last record.
            let [records, runs] = [record::RECORDS, record::RUNS]
                .map(|word| parts.word(SectionKind::DOCUMENTS, word));
            let kinds = record::strings_at(records as usize, runs) - 1;
            let old = parts.word(SectionKind::DOCUMENTS, kinds);
            parts.set_word(SectionKind::DOCUMENTS, kinds, old | 3 << 28);
        }),
        ("its records are not in order", |parts| {
            // The second run is on line 1.
            let run = record::HEAD_WORDS + 1;
            let first = parts.word(SectionKind::DOCUMENTS, run) & 0xffff;
            parts.set_word(SectionKind::DOCUMENTS, run, 1 << 16 | first);
        }),
        ("more records than there is room for", |parts| {
            parts.set_word(SectionKind::DOCUMENTS, record::RECORDS, u32::MAX);
        }),
        ("more records than there is room for", |parts| {
            parts.set_word(SectionKind::DOCUMENTS, record::RUNS, u32::MAX);
        }),
        ("section 'documents'", |parts| {
            // A rule has the text of another.
            let orders = parts.section(SectionKind::ORDERS);
            orders[1] ^= 1;
        }),
        ("section 'orders'", |parts| {
            parts.section(SectionKind::ORDERS)[0] = 3;
        }),
        ("section 'documents'", |parts| {
            // A policy has no pattern for its records.
            let rows = heads(parts);
            rows[0].rest = rows[1].rest;
        }),
        ("section 'tokens'", |parts| {
            parts.section(SectionKind::TOKENS).push(b'x');
        }),
        ("section 'orders'", |parts| {
            parts.section(SectionKind::ORDERS).extend([0; 4]);
        }),
        ("section 'captures'", |parts| {
            let copy = parts.section(SectionKind::CAPTURES)[..size_of::<CaptureRow>()].to_vec();
            parts.section(SectionKind::CAPTURES).extend(copy);
        }),
        ("section 'outages'", |parts| {
            let row = parts.section(SectionKind::OUTAGES).clone();
            parts.section(SectionKind::OUTAGES).extend(row);
        }),
        ("section 'outages'", |parts| parts.section(SectionKind::OUTAGES).clear()),
        ("compiles to", |parts| parts.section(SectionKind::LOG).clear()),
        ("it makes no sense", |parts| parts.section(SectionKind::LOG).push(0)),
        ("a key belongs neither to an origin", |parts| {
            // After its two lengths.
            parts.section(SectionKind::LOG)[2].make_ascii_uppercase();
        }),
        ("section 'others'", |parts| parts.section(SectionKind::OTHERS).push(0)),
        ("section 'policy heads'", |parts| {
            // A policy has the usage records of another.
            let with_usage =
                heads(parts).iter_mut().filter(|head| head.usage_records.get() != u32::MAX);
            let mut positions = with_usage.map(|head| &mut head.usage_records);
            *positions.next().unwrap() = *positions.next().unwrap();
        }),
        ("section 'policy heads'", |parts| {
            parts.section(SectionKind::POLICY_HEADS).extend([0xff; 32]);
        }),
        ("section 'usage records'", |parts| {
            // A policy has lost its usage.
            let has_usage = |head: &&mut PolicyHead| head.usage_records.get() != u32::MAX;
            heads(parts).iter_mut().rfind(has_usage).unwrap().usage_records = u32::MAX.into();
        }),
        ("its records are not what a file has", |parts| {
            let at = record::kinds_at(parts.word(SectionKind::USAGE_RECORDS, record::RUNS));
            let old = parts.word(SectionKind::USAGE_RECORDS, at);
            parts.set_word(SectionKind::USAGE_RECORDS, at, old ^ 1);
        }),
    ];
    find_out(sample::small(&RFC_9309), cases);
}

/// A name of a damage, and the change that causes it.
type Case<'c> = (&'c str, fn(&mut Parts));

fn find_out(sample: Vec<u8>, cases: &[Case<'_>]) {
    let whole = Parts::of(sample);
    for (number, (expected, change)) in cases.iter().enumerate() {
        let mut parts = whole.clone();
        change(&mut parts);
        let verified = parts.open().and_then(|set| crate::verify(&set, &Scratch::in_memory()));
        let text = verified.map_or_else(|error| error.to_string(), |it| format!("{it:?}"));
        assert!(text.contains(expected), "{number}: {text}, expected {expected}");
        assert!(text.contains("a.set") && text.contains("portcullis compile"), "{text}");
    }
}

/// Returns the captures of a set with history.
fn history(parts: &mut Parts) -> &mut [HistoryRow] {
    <[HistoryRow]>::mut_from_bytes(parts.section(SectionKind::HISTORY)).unwrap()
}

/// Returns what they received.
fn responses(parts: &mut Parts) -> &mut [ResponseRow] {
    <[ResponseRow]>::mut_from_bytes(parts.section(SectionKind::RESPONSES)).unwrap()
}

/// The words of the head of timelines.
const HEAD_WORDS: usize = size_of::<TimelinesHead>() / 4;

/// Returns the number of the resource of an origin, and its captures.
fn resource(parts: &mut Parts, key: &[u8], https: bool) -> (u32, Range<usize>) {
    let set = parts.open().unwrap();
    let capture = set.host(key).unwrap().unwrap().timeline(https).unwrap().unwrap().capture();
    let number = parts.word(SectionKind::TIMELINES, HEAD_WORDS + capture as usize) >> 1;
    let [first, end] =
        [0, 1].map(|it| parts.word(SectionKind::RESOURCES, number as usize + it) as usize);
    (number, first..end)
}

/// Returns the response of the first capture of an origin.
fn first_response<'p>(parts: &'p mut Parts, key: &[u8], https: bool) -> &'p mut ResponseRow {
    let (_, rows) = resource(parts, key, https);
    let response = history(parts)[rows.start].response.get() as usize;
    &mut responses(parts)[response]
}

fn remove(parts: &mut Parts, kind: SectionKind) {
    parts.sections.retain(|(other, _)| *other != kind);
}

/// The sections of a set with history.
const HISTORY: [SectionKind; 4] =
    [SectionKind::TIMELINES, SectionKind::RESOURCES, SectionKind::HISTORY, SectionKind::RESPONSES];

#[test]
fn a_faulty_writer_of_timelines_is_found_out() {
    let cases: &[Case<'_>] = &[
        ("it has a part of a history", |parts| remove(parts, SectionKind::HISTORY)),
        ("it has a part of a history", |parts| remove(parts, SectionKind::TIMELINES)),
        ("it has a part of a history", |parts| remove(parts, SectionKind::RESPONSES)),
        ("compiles to", |parts| {
            for kind in HISTORY {
                remove(parts, kind);
            }
        }),
        ("section 'history'", |parts| history(parts).swap(1, 2)),
        ("section 'history'", |parts| {
            history(parts)[0].date_and_input = 0.into();
        }),
        ("section 'history'", |parts| {
            let last = parts.section(SectionKind::HISTORY).len() - size_of::<HistoryRow>();
            parts.section(SectionKind::HISTORY).truncate(last);
        }),
        ("section 'history'", |parts| {
            let row = parts.section(SectionKind::HISTORY)[..size_of::<HistoryRow>()].to_vec();
            parts.section(SectionKind::HISTORY).extend(row);
        }),
        ("section 'history'", |parts| parts.section(SectionKind::HISTORY).push(0)),
        ("section 'history'", |parts| history(parts)[1].policy = u32::MAX.into()),
        ("section 'history'", |parts| {
            // The file behind a redirect does not change.
            let rows = history(parts);
            let changes = rows.iter().rposition(|row| row.since() == 8 * 86_400).unwrap();
            rows[changes].policy = rows[changes - 1].policy;
        }),
        ("section 'history'", |parts| history(parts)[1].response = u32::MAX.into()),
        ("section 'history'", |parts| history(parts)[0].response = 1.into()),
        ("section 'history'", |parts| history(parts)[0].date_and_input |= 1),
        ("section 'responses'", |parts| responses(parts)[0].has_date ^= 1),
        ("section 'responses'", |parts| responses(parts)[0].status += 1),
        ("section 'responses'", |parts| responses(parts)[0].file = 0.into()),
        ("section 'responses'", |parts| {
            // A redirect leads to itself.
            let (near, _) = resource(parts, b"near.example", true);
            first_response(parts, b"near.example", true).others_or_target = near.into();
        }),
        ("section 'responses'", |parts| {
            first_response(parts, b"near.example", true).others_or_target = NOT_CAPTURED.into();
        }),
        ("section 'responses'", |parts| {
            let copy = responses(parts)[0].as_bytes().to_vec();
            parts.section(SectionKind::RESPONSES).extend(copy);
        }),
        ("section 'resources'", |parts| parts.set_word(SectionKind::RESOURCES, 1, 0)),
        ("section 'resources'", |parts| parts.section(SectionKind::RESOURCES).extend([0; 4])),
        ("section 'hosts'", |parts| {
            // Each host of the sample has one line.
            for capture in hosts(parts).iter_mut().flat_map(|host| &mut host.captures) {
                if capture.get() != u32::MAX {
                    *capture = 1.into();
                }
            }
        }),
        ("section 'history'", |parts| {
            let provenance = br#"{"inputs":[{"name":"a.jsonl"}]}"#.to_vec();
            *parts.section(SectionKind::PROVENANCE) = provenance;
            history(parts)[0].date_and_input |= 1;
        }),
        // The choice for long outages, the policy of an outcome, and the resource of an origin.
        ("section 'timelines'", |parts| parts.set_word(SectionKind::TIMELINES, 0, 1)),
        ("section 'timelines'", |parts| parts.set_word(SectionKind::TIMELINES, 1, 0)),
        ("section 'timelines'", |parts| parts.set_word(SectionKind::TIMELINES, HEAD_WORDS, 1)),
        ("section 'timelines'", |parts| {
            let last = parts.section(SectionKind::TIMELINES).len() - 4;
            parts.section(SectionKind::TIMELINES).truncate(last);
        }),
        ("section 'timelines'", |parts| parts.section(SectionKind::TIMELINES).extend([0; 4])),
    ];
    find_out(sample::with_history(&RFC_9309), cases);
}

/// A reader that does not verify finds no other answer instead.
#[test]
fn a_redirect_that_cannot_be_followed_is_damage() {
    let often = |parts: &mut Parts| resource(parts, b"often.example", false).1;
    let cases: [Case<'_>; 7] = [
        ("section 'resources'", |parts| {
            first_response(parts, b"near.example", true).others_or_target = 1_000.into();
        }),
        ("section 'resources'", |parts| {
            first_response(parts, b"near.example", true).others_or_target = (u32::MAX - 2).into();
        }),
        ("a resource ends before it begins", |parts| {
            let (number, rows) = resource(parts, b"often.example", false);
            parts.set_word(SectionKind::RESOURCES, number as usize + 1, rows.start as u32 - 1);
        }),
        ("captures are not in order", |parts| {
            let (_, rows) = resource(parts, b"often.example", false);
            history(parts)[rows].reverse();
        }),
        ("the capture of a file has no policy", |parts| {
            let (_, rows) = resource(parts, b"often.example", false);
            history(parts)[rows].iter_mut().for_each(|row| row.policy = u32::MAX.into());
        }),
        ("section 'responses'", |parts| {
            let (_, rows) = resource(parts, b"often.example", false);
            history(parts)[rows].iter_mut().for_each(|row| row.response = u32::MAX.into());
        }),
        ("an earlier capture is not there", |parts| {
            first_response(parts, b"near.example", true).file = 7.into();
        }),
    ];
    for (expected, change) in cases {
        let mut parts = Parts::of(sample::with_history(&RFC_9309));
        assert_eq!(often(&mut parts).len(), 14);
        change(&mut parts);
        let set = parts.open().unwrap();
        assert!(crate::verify(&set, &Scratch::in_memory()).is_err(), "{expected}");
        let timeline = set.timeline_of(b"https", b"near.example").unwrap().unwrap();
        let at = timeline.find(UnixSeconds(25 * 86_400)).unwrap();
        let at_that_time = [
            timeline.policy(at).expect_err(expected),
            timeline.moment(at).expect_err(expected),
            timeline.period(at).expect_err(expected),
        ];
        // Those that are out of order may not be met.
        let of_all = [timeline.moments().find_map(Result::err), timeline.periods().err()];
        for error in at_that_time.into_iter().chain(of_all.into_iter().flatten()) {
            assert!(error.to_string().contains(expected), "{error}, expected {expected}");
        }
    }
}

/// Redirects that lead to each other end as they do in captures.
#[test]
fn a_circle_of_redirects_ends() {
    let mut parts = Parts::of(sample::with_history(&RFC_9309));
    let (far, _) = resource(&mut parts, b"far.example", true);
    first_response(&mut parts, b"near.example", true).others_or_target = far.into();
    let set = parts.open().unwrap();
    for key in [b"near.example".as_slice(), b"far.example"] {
        let timeline = set.timeline_of(b"https", key).unwrap().unwrap();
        let at = timeline.find(UnixSeconds(25 * 86_400)).unwrap();
        let facts = timeline.moment(at).unwrap().capture.facts;
        assert!(facts.capture_notes.contains(CaptureNote::TooManyRedirects));
        assert_eq!(timeline.periods().unwrap().len(), 1);
    }
    assert!(crate::verify(&set, &Scratch::in_memory()).is_err());
}

#[test]
fn a_set_that_lacks_a_section_is_refused() {
    let whole = Parts::of(sample::small(&RFC_9309));
    assert_eq!(whole.sections.len(), 17);
    let optional = [SectionKind::LOG];
    let mut lean = whole.clone();
    lean.sections.retain(|(kind, _)| !optional.contains(kind));
    let text = crate::verify(&lean.open().unwrap(), &Scratch::in_memory()).unwrap_err().to_string();
    assert!(text.contains("a.set has no captures; run `portcullis compile` again"), "{text}");
    for (missing, _) in &whole.sections {
        let mut parts = whole.clone();
        parts.sections.retain(|(kind, _)| kind != missing);
        if optional.contains(missing) {
            assert!(parts.open().is_ok());
            continue;
        }
        let text = parts.open().unwrap_err().to_string();
        let words = [&*missing.to_string(), "no such section", "a.set", "portcullis compile"];
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
    }
}

#[test]
fn a_table_without_a_free_slot_is_damage() {
    let mut parts = Parts::of(sample::small(&RFC_9309));
    for lines in [1, 10, 100] {
        // Tags that no queried key has, and the first host.
        let line = [[0_u32; LINE_SLOTS], [1; LINE_SLOTS]].concat();
        let line: Vec<u8> = line.into_iter().flat_map(u32::to_le_bytes).collect();
        *parts.section(SectionKind::SLOTS) = line.repeat(lines);
        let damage = parts.open().unwrap().host(b"a.example").unwrap_err().to_string();
        assert!(damage.contains("lines are full in a row"), "{damage}");
    }
    parts.section(SectionKind::SLOTS).clear();
    assert!(parts.open().unwrap().host(b"a.example").is_err());
}

/// Lists of few bytes that name one long string again and again.
#[test]
fn files_that_are_far_longer_than_the_set_are_damage() {
    const HOSTS: usize = 700;
    const STRING_BYTES: usize = 400_000;
    assert!((HOSTS * STRING_BYTES) as u64 > SET_TEXT_BYTES_FREE);
    let mut archive = Captures::default();
    for host in 0..HOSTS {
        let value = if host == 0 { "a".repeat(STRING_BYTES) } else { host.to_string() };
        let text = format!("User-agent: *\nDisallow: /\nLicense: {value}\n");
        archive.push(&format!("https://h{host:03}.example/robots.txt"), "", 200, &text);
    }
    let mut parts = Parts::of(sample::compile(&archive, &RFC_9309, false));
    let (mut at, mut long) = (0, None);
    while at < parts.section(SectionKind::USAGE_RECORDS).len() / 4 {
        let word = |parts: &mut Parts, word| parts.word(SectionKind::USAGE_RECORDS, at + word);
        let (records, runs) = (word(&mut parts, record::RECORDS), word(&mut parts, record::RUNS));
        let texts = record::strings_at(records as usize, runs);
        let end = texts + records as usize;
        let long = *long.get_or_insert(word(&mut parts, texts));
        parts.set_word(SectionKind::USAGE_RECORDS, at + texts, long);
        at += end;
    }
    let set = parts.open().unwrap();
    let damage = crate::settled(&set, &Scratch::in_memory()).unwrap_err().to_string();
    assert!(
        damage.contains("longer together than the files of a set of its size can be"),
        "{damage}"
    );
}
