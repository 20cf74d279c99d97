//! Compares surveys of a synthetic archive with a naive recount of the ingested standings, and
//! checks pages of synthetic reports.

mod pages;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::limits::{ROBOTS_BYTES_MAX, SET_BLOCK_BYTES};
use portcullis_engine::automaton::Reach;
use portcullis_io::CaptureNote;
use portcullis_io::access::{DateSpan, UnixSeconds};
use portcullis_robots::policy::{AgentChain, Audience, OrderedRules};
use portcullis_robots::syntax::{ListReader, NoteKind, RobotsTxt};
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::compile::{self, CompileConfig};
use portcullis_set::{Content, IngestConfig, Ingested, Input, PolicySet, Standing, ingest};
use portcullis_synth::{ArchiveFormat, Corpus};
use portcullis_testkit::{Captures, Random};

use crate::origins::field_name;
use crate::storage::sharing;
use crate::{HostDetail, HostQuery, ReachFigures, Storage, Survey};

/// More than any list has.
const ALL: usize = usize::MAX;

fn ingested(hosts: u64, dialect: &'static Dialect) -> Ingested {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Corpus::new(11, hosts);
    let mut records = Vec::new();
    for host in 0..hosts {
        corpus.write_archived(host, ArchiveFormat::JsonLines, &mut records);
    }
    // A repeated group, robots that share rules, records of all kinds.
    let mut captures = Captures::default();
    let random = &mut Random::new(11);
    (0..300).for_each(|_| captures.push_random(random));
    for (scheme, file) in [
        ("ftp", "User-agent: *\nDisallow: /\n"),
        (
            "http",
            "Sitemap: https://s.example/\nUser-agent: A\nUser-agent: b\nCrawl-delay: 3\n\
            Disallow: /x\n\nUser-agent: a\nAllow: /x/y\nCRAWL-DELAY: 4\nHost: s.example\n",
        ),
        ("https", "User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /*x*y*z\nAllow: /\n"),
    ] {
        captures.push(&format!("{scheme}://special.example/robots.txt"), "", 200, file);
    }
    records.extend_from_slice(captures.as_str().as_bytes());
    let path = folder.path().join("made-up.jsonl");
    std::fs::write(&path, records).unwrap();
    let config = IngestConfig::new(dialect, Some(ROBOTS_BYTES_MAX));
    ingest(&[Input::new(&path)], &config, &()).unwrap()
}

fn bytes(ingested: &Ingested, dialect: &'static Dialect) -> Vec<u8> {
    let history = ingested.history.clone();
    let config = CompileConfig { history, ..CompileConfig::new(dialect, Some(ROBOTS_BYTES_MAX)) };
    compile::to_vec(&ingested.hosts, &ingested.pool, &config).unwrap()
}

fn stored(ingested: &Ingested, dialect: &'static Dialect) -> PolicySet {
    PolicySet::of_bytes("made up", bytes(ingested, dialect)).unwrap()
}

/// Returns an archive of 2,000 hosts, and the set of it.
fn archive(dialect: &'static Dialect) -> (Ingested, PolicySet) {
    let ingested = ingested(2_000, dialect);
    let set = stored(&ingested, dialect);
    (ingested, set)
}

fn survey(set: &PolicySet, top: usize) -> Survey {
    Survey::with_storage(set, top).unwrap().0
}

fn storage(set: &PolicySet) -> Storage<'_> {
    Survey::with_storage(set, ALL).unwrap().1
}

fn standings(ingested: &Ingested) -> impl Iterator<Item = &Standing> {
    ingested.hosts.iter().flat_map(|host| [&host.http, &host.https]).flatten()
}

/// Returns the distinct policies, and the number of origins that have each.
fn policies(ingested: &Ingested) -> BTreeMap<(Vec<u8>, String), u64> {
    let mut policies = BTreeMap::new();
    for standing in standings(ingested) {
        let key = match standing.content {
            Content::File { extract, .. } => (ingested.pool.get(extract).to_vec(), "file".into()),
            Content::Access(outcome) => (Vec::new(), format!("{outcome:?}")),
        };
        *policies.entry(key).or_default() += 1;
    }
    policies
}

#[test]
fn origins_are_those_that_were_ingested() {
    let (ingested, set) = archive(&RFC_9309);
    let stats = survey(&set, 3);
    assert_eq!(stats.hosts, ingested.counts.hosts);
    assert_eq!(stats.origins.origins, ingested.counts.origins);
    for state in PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown) {
        assert_eq!(stats.origins.states[state.as_str()], ingested.counts.in_state(state));
    }
    for note in CaptureNote::ALL {
        let counted = ingested.counts.with_capture_note(note);
        assert_eq!(stats.origins.capture_notes[note.as_str()], counted);
    }
    for kind in NoteKind::ALL {
        let counted = ingested.counts.with_file_note(kind);
        assert_eq!(stats.origins.file_notes[kind.as_str()], counted);
    }
    assert_eq!(stats.origins.in_outage, ingested.counts.in_outage);
    assert_eq!(stats.origins.capture_dates, ingested.counts.captured);
    let mut statuses = BTreeMap::new();
    let mut months = BTreeMap::new();
    let (mut undated, mut file_bytes) = (0, 0);
    let mut expires: Vec<UnixSeconds> = Vec::new();
    for host in &ingested.hosts {
        for (standing, first) in [(&host.http, true), (&host.https, host.http != host.https)] {
            let Some(Standing { facts, .. }) = standing else { continue };
            *statuses.entry(facts.status).or_insert(0) += 1;
            match facts.captured_at {
                Some(time) => *months.entry(time.to_rfc3339()[..7].to_owned()).or_insert(0) += 1,
                None => undated += 1,
            }
            expires.extend(facts.expires_at);
            file_bytes += if first { u64::from(facts.file_bytes) } else { 0 };
        }
    }
    assert_eq!(stats.origins.statuses, statuses);
    assert_eq!((&stats.origins.capture_months, stats.origins.undated), (&months, undated));
    assert_eq!(stats.origins.file_bytes, file_bytes);
    let expected = expires.iter().min().copied().zip(expires.iter().max().copied());
    assert_eq!(stats.origins.expiry_dates, expected.map(DateSpan::from));
    assert_eq!(stats.origins.without_expiry, ingested.counts.origins - expires.len() as u64);
    assert_eq!(stats.origins.origins_by_input.len(), 1);
    assert_eq!(stats.origins.origins_by_input[0].origins, ingested.counts.origins);
    assert_eq!(stats.origins.captures, set.counts().captures);
    let stats = storage(&set);
    let sections: u64 = stats.sections.0.iter().map(|it| it.1).sum();
    assert_eq!(sections + stats.bytes_outside_sections, set.bytes());
}

#[test]
fn policies_are_shared_as_often_as_they_were_ingested() {
    let (ingested, set) = archive(&RFC_9309);
    let stats = storage(&set).policies;
    let expected = policies(&ingested);
    assert_eq!(stats.policies, expected.len() as u64);
    let mut origins: Vec<u64> = expected.values().copied().collect();
    origins.sort_unstable_by_key(|&origins| std::cmp::Reverse(origins));
    assert_eq!(stats.most_shared.iter().map(|it| it.origins).collect::<Vec<_>>(), origins);
    assert_eq!(stats.sharing.iter().map(|tier| tier.things).sum::<u64>(), stats.policies);
    assert_eq!(stats.sharing.iter().map(|tier| tier.uses).sum::<u64>(), ingested.counts.origins);
    // Compare the sizes of files as a multiset, and check their order.
    let mut sizes: Vec<(u64, u64)> = expected
        .keys()
        .map(|(extract, _)| {
            let file = RobotsTxt::read_extract(extract).unwrap();
            ((file.rules().len() + file.user_agents().len()) as u64, extract.len() as u64)
        })
        .collect();
    let mut found: Vec<(u64, u64)> =
        stats.largest.iter().map(|it| (it.records, it.extract_bytes)).collect();
    assert!(found.is_sorted_by_key(|&(records, _)| std::cmp::Reverse(records)));
    sizes.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, sizes);
    assert_eq!(stats.records, sizes.iter().map(|it| it.0).sum::<u64>());
}

#[test]
fn robots_are_those_that_files_name() {
    for dialect in [&RFC_9309, &GOOGLE] {
        let (ingested, set) = archive(dialect);
        let stats = survey(&set, ALL).robots;
        let mut named: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
        let (mut others, mut without) = ((0, 0), (0, 0));
        for ((extract, _), &origins) in &policies(&ingested) {
            let file = RobotsTxt::read_extract(extract).unwrap();
            if file.rules().is_empty() {
                continue;
            }
            let audience = Audience::of(&file, dialect);
            let whose = if audience.default_groups.is_empty() { &mut without } else { &mut others };
            *whose = (whose.0 + 1, whose.1 + origins);
            for robot in audience.robots {
                let count = named.entry(robot.name).or_default();
                *count = (count.0 + 1, count.1 + origins);
            }
        }
        let pair = |count: &ReachFigures| (count.policies, count.origins);
        assert_eq!(pair(&stats.others), others);
        assert_eq!((stats.policies_without_others, stats.origins_without_others), without);
        let found: BTreeMap<Vec<u8>, (u64, u64)> = stats
            .most_named
            .iter()
            .map(|robot| (robot.name.0.clone(), pair(&robot.count)))
            .collect();
        assert_eq!(found, named);
        assert_eq!(stats.names, named.len() as u64);
        for ReachFigures { origins, hosts, by_origin, by_host, .. } in
            stats.most_named.iter().map(|robot| robot.count)
        {
            assert_eq!(by_origin.values().iter().sum::<u64>(), origins);
            assert_eq!(by_host.values().iter().sum::<u64>(), hosts);
        }
    }
}

#[test]
fn rule_sets_are_those_that_files_have() {
    let (ingested, set) = archive(&RFC_9309);
    let stats = storage(&set).rule_sets;
    let mut uses: HashMap<_, u64> = HashMap::new();
    for (extract, _) in policies(&ingested).keys() {
        let file = RobotsTxt::read_extract(extract).unwrap();
        if file.rules().is_empty() {
            continue;
        }
        let audience = Audience::of(&file, &RFC_9309);
        let groups = audience.robots.into_iter().map(|robot| robot.groups);
        let groups = groups.chain([audience.default_groups]).filter(|groups| !groups.is_empty());
        let rules = groups.map(|groups| OrderedRules::distinct(&file, &groups, &RFC_9309.paths));
        let distinct: HashSet<_> = rules.map(|rules| (rules.patterns, rules.verdicts)).collect();
        distinct.into_iter().for_each(|rules| *uses.entry(rules).or_default() += 1);
    }
    assert_eq!(stats.rule_sets, uses.len() as u64);
    assert_eq!(stats.rule_sets, set.counts().rule_sets);
    let of_groups = stats.strategies["groups"].rule_sets;
    assert_eq!(of_groups, set.counts().rule_sets_of_groups);
    assert_eq!(stats.of_groups.len() as u64, of_groups);
    let mut expected: Vec<(u64, u64)> =
        uses.iter().map(|((patterns, _), &uses)| (uses, patterns.len() as u64)).collect();
    let mut found: Vec<(u64, u64)> = stats
        .most_shared
        .iter()
        .map(|item| (item.policies, item.figures.patterns.into()))
        .collect();
    assert!(found.is_sorted_by_key(|&(policies, _)| std::cmp::Reverse(policies)));
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(stats.sharing.iter().map(|tier| tier.uses).sum::<u64>(), uses.values().sum::<u64>());
}

#[test]
fn other_records_are_counted_by_field() {
    let (ingested, set) = archive(&RFC_9309);
    let stats = survey(&set, ALL).other_records;
    let mut expected: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    for host in &ingested.hosts {
        for (standing, first) in [(&host.http, true), (&host.https, host.http != host.https)] {
            let Some(Standing { content: Content::File { others, .. }, .. }) = standing else {
                continue;
            };
            let mut seen = BTreeSet::new();
            for record in ListReader::of_others(ingested.pool.get(*others)).flatten() {
                let colon = record.text.iter().position(|&byte| byte == b':').unwrap();
                let name = record.text[..colon].trim_ascii_end().to_ascii_lowercase();
                let count = expected.entry(name.clone()).or_default();
                count.0 += u64::from(first);
                count.1 += u64::from(seen.insert(name));
            }
        }
    }
    let found: BTreeMap<Vec<u8>, (u64, u64)> =
        stats.most_common.into_iter().map(|it| (it.name.0, (it.records, it.origins))).collect();
    assert!(found.contains_key(&b"crawl-delay"[..]) && found.contains_key(&b"host"[..]));
    assert_eq!(found, expected);
    assert_eq!(stats.records, expected.values().map(|it| it.0).sum::<u64>());
}

#[test]
fn the_reach_of_rule_sets_agrees_with_decisions() {
    let ingested = ingested(400, &RFC_9309);
    let set = Arc::new(stored(&ingested, &RFC_9309));
    let mut seen = BTreeMap::new();
    for host in &ingested.hosts {
        let key = String::from_utf8(host.key.to_vec()).unwrap();
        for policy in HostDetail::of(&set, &HostQuery::parse(&host.key).unwrap()).unwrap().policies
        {
            for robot in policy.robots.iter().filter(|robot| robot.reach.is_some()) {
                let name = robot.name.as_ref().map_or("unnamed".into(), ToString::to_string);
                let Ok(agent) = AgentChain::parse(&name, &RFC_9309) else { continue };
                let classifier = Classifier::new(Arc::clone(&set), vec![agent]).unwrap();
                let mut session = Session::new(classifier, None);
                let mut verdicts = BTreeSet::new();
                let values = policy.records.iter().map(|record| &record.text.0);
                let values = values.filter_map(|text| text.splitn(2, |&byte| byte == b':').nth(1));
                let values = values.map(|value| value.trim_ascii().to_vec());
                for value in values.chain([b"/".to_vec(), b"/some/where".to_vec()]) {
                    let path = String::from_utf8(value).unwrap().replace(['*', '$', ' '], "");
                    let path = path.strip_prefix('/').unwrap_or(&path).to_owned();
                    let origin = &policy.origins[0];
                    let url = format!("{origin}/{path}");
                    let decisions = session.classify(&[url.as_bytes()]);
                    verdicts.insert(decisions.unwrap()[0].verdict);
                }
                let reach = robot.reach.unwrap();
                match reach {
                    Reach::Everything => assert_eq!(verdicts, [Verdict::Allow].into(), "{key}"),
                    Reach::Nothing => assert_eq!(verdicts, [Verdict::Disallow].into(), "{key}"),
                    Reach::Part => assert!(verdicts.contains(&Verdict::Disallow), "{key} {name}"),
                }
                *seen.entry(reach).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn host_detail_shows_the_file() {
    let ingested = ingested(0, &RFC_9309);
    let set = stored(&ingested, &RFC_9309);
    let ask = |host: &str| {
        HostDetail::of(&set, &HostQuery::parse(host.as_bytes()).unwrap()).unwrap().policies
    };
    let both = ask("SPECIAL.example");
    assert_eq!(both.len(), 2, "http and https were captured apart");
    assert_eq!(ask("https://special.example/x?y").len(), 1);
    assert_eq!(ask("ftp://special.example").len(), 1);
    assert_eq!(ask("ftp://special.example")[0].robots[0].reach, Some(Reach::Nothing));
    assert!(ask("special.example:8080").is_empty() && ask("other.example").is_empty());
    // The default port of http is not that of https.
    assert_eq!(ask("special.example:80").len(), 1);
    let http = &both[0];
    assert_eq!((http.origins.len(), http.state), (1, PolicyState::Rules));
    let lines: Vec<(u32, Option<usize>, String)> =
        http.records.iter().map(|it| (it.line.get(), it.group, it.text.to_string())).collect();
    let expected = [
        (1, None, "Sitemap: https://s.example/"),
        (2, Some(1), "User-agent: A"),
        (3, Some(1), "User-agent: b"),
        (4, None, "Crawl-delay: 3"),
        (5, Some(1), "Disallow: /x"),
        (7, Some(2), "User-agent: a"),
        (8, Some(2), "Allow: /x/y"),
        (9, None, "CRAWL-DELAY: 4"),
        (10, None, "Host: s.example"),
    ];
    assert_eq!(lines, expected.map(|(line, group, text)| (line, group, text.to_owned())));
    let robot = |it: &crate::HostRobot| (it.name.as_ref().unwrap().to_string(), it.groups.clone());
    let robots: Vec<(String, Vec<usize>)> = http.robots.iter().map(robot).collect();
    assert_eq!(robots, [("a".to_owned(), vec![1, 2]), ("b".to_owned(), vec![1])]);
    assert_eq!(http.groups[1].robots[0].to_string(), "a");
    assert!(!http.groups[0].for_others);
}

#[test]
fn malformed_hosts() {
    for text in ["", "a b", "http://", "https:///x", "[::1"] {
        assert!(HostQuery::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn damage_never_changes_a_count() {
    let ingested = ingested(60, &RFC_9309);
    let whole = bytes(&ingested, &RFC_9309);
    let set = PolicySet::of_bytes("whole", whole.clone()).unwrap();
    let expected = Survey::with_storage(&set, ALL).unwrap();
    let mut damaged = 0;
    for block in 1..whole.len() / SET_BLOCK_BYTES {
        let mut bytes = whole.clone();
        bytes[block * SET_BLOCK_BYTES + block % SET_BLOCK_BYTES] ^= 0x10;
        let set = PolicySet::of_bytes("damaged", bytes).unwrap();
        match Survey::with_storage(&set, ALL) {
            Ok(stats) => assert_eq!(stats, expected, "block {block}"),
            Err(_) => damaged += 1,
        }
    }
    assert!(damaged > whole.len() / SET_BLOCK_BYTES / 2, "{damaged}");
}

#[test]
fn every_record_that_parsing_gives_has_a_field() {
    let text = b"\xef\xbb\xbfSITEMAP : https://a.example/s.xml\n\xef\xbb\xbfSitemap: /x\n\
        site-map-index /y\nCrawl-Delay:3 # c\nfoo\xff:\0a\r\n: x\nHost a.example";
    for dialect in Dialect::ALL {
        let file = RobotsTxt::parse(text, dialect, None);
        for record in file.other_records() {
            let name = field_name(&text[record.span.range()], dialect).unwrap();
            match record.field {
                Some(_) => assert_eq!(name, b"sitemap"),
                None => assert_eq!(name, record.name.to_ascii_lowercase(), "{}", dialect.name),
            }
        }
    }
}

#[test]
fn tiers_are_powers_of_ten() {
    let tiers = sharing([1, 1, 2, 10, 11, 100, 1_000, 5_000, 0, u64::MAX]);
    let counts: Vec<_> = tiers.iter().map(|tier| (tier.from, tier.to, tier.things)).collect();
    let expected = [
        (0, 0, 1),
        (1, 1, 2),
        (2, 10, 2),
        (11, 100, 2),
        (101, 1_000, 1),
        (1_001, 10_000, 1),
        (10_000_000_000_000_000_001, u64::MAX, 1),
    ];
    assert_eq!(counts, expected);
    assert_eq!(tiers[2].uses, 12);
}
