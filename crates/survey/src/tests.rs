//! Compares surveys of a synthetic archive with a naive recount of the ingested standings, and
//! checks pages of synthetic reports.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{Content, IngestConfig, Ingested, Input, Standing, ingest};
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_lint::analysis::Reach;
use portcullis_report::{Account, Piece, Rejects};
use portcullis_robots::access::CaptureNote;
use portcullis_robots::policy::{Audience, Crawler, Selection};
use portcullis_robots::syntax::{NoteKind, RobotsTxt};
use portcullis_rows::input::{Chunk, Terminator};
use portcullis_rows::list::{Arena, List, Rows};
use portcullis_rows::output::Added;
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::limits::SET_BLOCK_BYTES;
use portcullis_set::lists::read_extract;
use portcullis_synth::{ArchiveFormat, Corpus};
use portcullis_testkit::{Captures, Random};

use crate::reaches::Reaches;
use crate::{
    Audit, Findings, HostDetail, ReachFigures, RowConfig, Survey, SurveyRows, history, origins_of,
    records_of_period,
};

/// More than any list has.
const ALL: usize = usize::MAX;

fn ingested(hosts: u64, dialect: &'static Dialect) -> Ingested {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Corpus::new(11, hosts);
    let mut records = Vec::new();
    for host in 0..hosts {
        records.extend(corpus.archived(host, ArchiveFormat::JsonLines));
    }
    // A repeated group, crawlers that share rules, records of all kinds.
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
    let config = CompileConfig::new(dialect, Some(ROBOTS_BYTES_MAX));
    compile::to_vec(&ingested.standings, &config).unwrap()
}

fn stored(ingested: &Ingested, dialect: &'static Dialect) -> PolicySet {
    PolicySet::from_bytes("made up", bytes(ingested, dialect)).unwrap()
}

/// Returns an archive of 2,000 hosts, and the set of it.
fn archive(dialect: &'static Dialect) -> (Ingested, PolicySet) {
    let ingested = ingested(2_000, dialect);
    let set = stored(&ingested, dialect);
    (ingested, set)
}

fn standings(ingested: &Ingested) -> impl Iterator<Item = Standing> {
    let hosts = ingested.standings.to_vec().unwrap();
    hosts.into_iter().flat_map(|host| [host.http, host.https]).flatten()
}

/// Returns the distinct policies, and the number of origins that have each.
fn policies(ingested: &Ingested) -> BTreeMap<(Vec<u8>, String), u64> {
    let mut policies = BTreeMap::new();
    for standing in standings(ingested) {
        let key = match standing.content {
            Content::File { extract, .. } => {
                (ingested.standings.pool.get(extract).unwrap().to_vec(), "file".into())
            }
            Content::Access(outcome) => (Vec::new(), format!("{outcome:?}")),
        };
        *policies.entry(key).or_default() += 1;
    }
    policies
}

#[test]
fn origins_are_those_that_were_ingested() {
    let (ingested, set) = archive(&RFC_9309);
    let stats = Survey::of(&set, 3).unwrap();
    let counts = ingested.standings.counts().unwrap();
    assert_eq!(stats.hosts, counts.hosts);
    assert_eq!(stats.origins.origins, counts.origins);
    for state in PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown) {
        assert_eq!(stats.origins.states.get(state.as_str()), counts.in_state(state));
    }
    for note in CaptureNote::ALL {
        let counted = counts.with_capture_note(note);
        assert_eq!(stats.origins.capture_notes.get(note.as_str()), counted);
    }
    for kind in NoteKind::ALL {
        let counted = counts.with_file_note(kind);
        assert_eq!(stats.origins.file_notes.get(kind.as_str()), counted);
    }
    assert_eq!(stats.origins.in_outage, counts.in_outage);
    assert_eq!(stats.origins.capture_dates, counts.captured);
    let mut statuses = BTreeMap::new();
    let (mut undated, mut file_bytes) = (0, 0);
    for host in ingested.standings.to_vec().unwrap() {
        for (standing, first) in [(&host.http, true), (&host.https, host.http != host.https)] {
            let Some(Standing { facts, .. }) = standing else { continue };
            *statuses.entry(facts.status).or_insert(0) += 1;
            undated += u64::from(facts.captured_at.is_none());
            file_bytes += if first { u64::from(facts.file_bytes) } else { 0 };
        }
    }
    assert_eq!((stats.origins.statuses, stats.origins.undated), (statuses, undated));
    assert_eq!(stats.origins.file_bytes, file_bytes);
    assert_eq!(stats.origins.captures, set.counts().captures);
}

#[test]
fn robots_are_those_that_files_name() {
    for dialect in [&RFC_9309, &GOOGLE] {
        let (ingested, set) = archive(dialect);
        let stats = Survey::of(&set, ALL).unwrap().robots;
        let mut named: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
        let (mut others, mut without) = ((0, 0), (0, 0));
        for ((extract, _), &origins) in &policies(&ingested) {
            let file = read_extract(extract).unwrap();
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
        for ReachFigures { origins, by_origin, .. } in
            stats.most_named.iter().map(|robot| robot.count)
        {
            assert_eq!(by_origin.iter().sum::<u64>(), origins);
        }
    }
}

#[test]
fn applied_groups_are_those_that_the_file_selects() {
    for dialect in [&RFC_9309, &GOOGLE] {
        let (_, set) = archive(dialect);
        let reaches = Reaches::new(&set);
        let mut seen = BTreeSet::new();
        for name in ["Googlebot", "a", "B", "Nobody", "AhrefsBot+SemrushBot"] {
            let agent = Crawler::parse(name, dialect).unwrap();
            let tokens = set.tokens_of(&agent).unwrap();
            for policy in set.policies().map(Result::unwrap) {
                let applied = reaches.applied(&policy, &tokens, &mut { usize::MAX }).unwrap();
                let check = |file: &RobotsTxt<'_>, _: &[u8]| {
                    let Selection { groups, token } = Selection::of(file, &agent, dialect);
                    let Some(found) = applied.groups else {
                        assert!(groups.is_empty() || file.rules().is_empty());
                        return;
                    };
                    assert_eq!(found.is_named(), token.is_some());
                    let groups: Vec<_> = groups.iter().map(|&at| &file.groups()[at]).collect();
                    let mut rules: Vec<_> =
                        groups.iter().map(|group| group.rules.clone()).collect();
                    if rules.iter().any(|rules| !rules.is_empty()) {
                        rules.retain(|rules| !rules.is_empty());
                    }
                    assert_eq!(found.rule_numbers().unwrap(), rules);
                    let name = found.name().unwrap();
                    let lines = file.user_agents_of(groups[0]);
                    assert!(lines.iter().any(|line| line.value == name));
                    seen.insert((found.is_named(), applied.reach));
                };
                policy.with_file(check).unwrap();
            }
        }
        assert!(seen.len() >= 6, "{seen:?}");
    }
}

#[test]
fn the_reach_of_rule_sets_agrees_with_decisions() {
    let ingested = ingested(150, &RFC_9309);
    let set = Arc::new(stored(&ingested, &RFC_9309));
    let mut seen = BTreeMap::new();
    for host in ingested.standings.to_vec().unwrap() {
        let key = String::from_utf8(host.key.to_vec()).unwrap();
        for policy in HostDetail::of(&set, &origins_of(&host.key).unwrap()).unwrap().policies {
            for robot in policy.robots.iter().filter(|robot| robot.reach.is_some()) {
                let name = robot.name.as_ref().map_or("unnamed".into(), ToString::to_string);
                let Ok(agent) = Crawler::parse(&name, &RFC_9309) else { continue };
                let classifier = Classifier::new(Arc::clone(&set), vec![agent]).unwrap();
                let mut session = Session::new(classifier);
                let mut verdicts = BTreeSet::new();
                let values = policy.records.iter().map(|record| &record.text.0);
                let values = values.filter_map(|text| text.splitn(2, |&byte| byte == b':').nth(1));
                let values = values.map(|value| value.trim_ascii().to_vec());
                for value in values.chain([b"/".to_vec(), b"/some/where".to_vec()]) {
                    let path = String::from_utf8(value).unwrap().replace(['*', '$', ' '], "");
                    let path = path.strip_prefix('/').unwrap_or(&path).to_owned();
                    let origin = &policy.origins[0];
                    let url = format!("{origin}/{path}");
                    let answers = session.decide(&[url.as_bytes()]);
                    verdicts.insert(answers.unwrap().decisions()[0].verdict());
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
    let ask =
        |host: &str| HostDetail::of(&set, &origins_of(host.as_bytes()).unwrap()).unwrap().policies;
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
        assert!(origins_of(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn damage_never_changes_a_count() {
    let ingested = ingested(60, &RFC_9309);
    let whole = bytes(&ingested, &RFC_9309);
    let set = PolicySet::from_bytes("whole", whole.clone()).unwrap();
    let expected = Survey::of(&set, ALL).unwrap();
    let mut damaged = 0;
    for block in 1..whole.len() / SET_BLOCK_BYTES {
        let mut bytes = whole.clone();
        bytes[block * SET_BLOCK_BYTES + block % SET_BLOCK_BYTES] ^= 0x10;
        let set = PolicySet::from_bytes("damaged", bytes).unwrap();
        match Survey::of(&set, ALL) {
            Ok(stats) => assert_eq!(stats, expected, "block {block}"),
            Err(_) => damaged += 1,
        }
    }
    assert!(damaged > whole.len() / SET_BLOCK_BYTES / 2, "{damaged}");
}

/// Asks `set` everything that this crate answers.
fn ask_all(set: PolicySet) -> Result<(), Box<dyn std::error::Error>> {
    let set = Arc::new(set);
    let agents = ["a", "Googlebot", "Nobody"];
    let agents = agents.map(|name| Crawler::parse(name, set.dialect()).unwrap());
    let rows = SurveyRows::new(
        &set,
        &agents,
        RowConfig { history: set.has_history(), lists: true, baseline: None, at: None },
    )?;
    let mut added = Added::of(rows.fields().iter().map(|field| field.kind));
    for block in rows.blocks(ALL, u64::MAX) {
        let (mut hosts, mut worker) = (block?.hosts.into_iter(), rows.worker());
        while worker.fill(&mut hosts, &mut added).map(|()| added.rows())? > 0 {}
    }
    let origins = origins_of(b"a.example").unwrap();
    HostDetail::of(&set, &origins)?;
    if set.has_history() {
        history(&set, &origins, &[])?;
        records_of_period(&set, &origins, 2)?;
    }
    let audit = Audit::new(Classifier::new(set, agents.to_vec())?, None, ALL);
    let urls = "https://a.example/x/y\nhttps://a.example/z\nhttps://b.example/x\n";
    let list = Chunk::from_text(List::plain("urls", Terminator::LineFeed), urls);
    let (arena, mut rejects) = (Arena::new(), Rejects::default());
    let (mut chunk, mut findings) = (Findings::default(), Findings::default());
    let mut worker = audit.worker(None);
    let piece = &mut Rows::new(&list, &arena, 0);
    worker.work(Piece { rows: piece, rejects: &mut rejects }, &mut chunk)?;
    findings.add(&mut chunk);
    audit.report(&findings, Account::default())?;
    Ok(())
}

/// A set with right checksums may come from anywhere.
#[test]
fn no_word_of_a_set_does_harm() {
    let mut captures = Captures::default();
    let files = [
        "User-agent: a\nDisallow: /x\nAllow: /x/y\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /z\n\
            Content-Usage: train-ai=n\nLicense: https://l.example/\n",
        "User-agent: a\nUser-agent: *\nDisallow: /\nSitemap: https://s.example/\n",
    ];
    for (host, year, file) in [("a", 2021, files[0]), ("a", 2022, files[1]), ("b", 2021, files[0])]
    {
        let time = format!("{year}-01-01T00:00:00Z");
        captures.push(&format!("https://{host}.example/robots.txt"), &time, 200, file);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = captures.write(folder.path(), "captures.jsonl");
    let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
    let ingested = ingest(&[Input::new(&path)], &config, &()).unwrap();
    let whole = compile::to_vec(&ingested.standings, &CompileConfig::new(&RFC_9309, None)).unwrap();
    ask_all(PolicySet::from_bytes("whole", whole.clone()).unwrap()).unwrap();
    let (mut asked, mut damaged) = (0, 0);
    for (_, section) in portcullis_testkit::sections(&whole) {
        for word in section.step_by(4) {
            let old = u32::from_le_bytes(whole[word..word + 4].try_into().unwrap());
            for new in [old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_add(1 << 20)] {
                let mut bytes = whole.clone();
                bytes[word..word + 4].copy_from_slice(&new.to_le_bytes());
                portcullis_testkit::reseal(&mut bytes);
                let Ok(set) = PolicySet::from_bytes("changed", bytes) else { continue };
                asked += 1;
                damaged += usize::from(ask_all(set).is_err());
            }
        }
    }
    assert!(damaged > 100 && damaged < asked, "{damaged} of {asked}");
}

/// Hosts that redirect to one file have more rows than a set has captures.
#[test]
fn blocks_are_short_behind_a_file_that_changes_often() {
    let file = "https://file.example/robots.txt";
    let capture = |url: &str, day: &str, answer: &str| {
        format!(r#"{{"url": "{url}", "fetched_at": "2020-{day}T00:00:00Z", {answer}}}"#)
    };
    let redirect = format!(r#""status": 301, "headers": {{"location": "{file}"}}, "body": """#);
    let redirects = (0..40)
        .map(|host| capture(&format!("https://h{host}.example/robots.txt"), "01-01", &redirect));
    let changes = (1..=28).map(|day| {
        let answer = format!(r#""status": 200, "body": "User-agent: *\nDisallow: /{day}\n""#);
        capture(file, &format!("02-{day:02}"), &answer)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("captures.jsonl");
    std::fs::write(&path, redirects.chain(changes).collect::<Vec<_>>().join("\n")).unwrap();
    let config = IngestConfig { history: true, ..IngestConfig::new(&RFC_9309, None) };
    let set = stored(&ingest(&[Input::new(&path)], &config, &()).unwrap(), &RFC_9309);
    assert_eq!(set.history_captures(), 68);
    let agents = [Crawler::parse("ExampleBot", &RFC_9309).unwrap()];
    let config = RowConfig { history: true, ..RowConfig::default() };
    let rows = SurveyRows::new(&set, &agents, config).unwrap();
    let blocks = rows.blocks(100, u64::MAX).map(|block| block.unwrap().hosts.len());
    let blocks: Vec<usize> = blocks.collect();
    assert_eq!(blocks.iter().sum::<usize>(), 41);
    // A host has 29 periods.
    assert!(blocks.iter().all(|hosts| *hosts <= 4), "{blocks:?}");
}

/// Lists bound the rows that are made at once, however many agents share them.
#[test]
fn lists_end_batches_and_blocks() {
    let mut captures = Captures::default();
    for host in 0..4 {
        let lists: String = (0..4_000)
            .map(|number| format!("License: https://l.example/{host}/{number}\n"))
            .collect();
        let file = format!("User-agent: *\nDisallow: /x\n{lists}");
        captures.push(&format!("https://h{host}.example/robots.txt"), "", 200, &file);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = captures.write(folder.path(), "captures.jsonl");
    let ingested = ingest(&[Input::new(&path)], &IngestConfig::new(&RFC_9309, None), &()).unwrap();
    let set = stored(&ingested, &RFC_9309);
    let agents: Vec<Crawler> = (0..100)
        .map(|number| Crawler::parse(&format!("Bot{}", "x".repeat(number)), &RFC_9309).unwrap())
        .collect();
    for lists in [false, true] {
        let config = RowConfig { lists, ..RowConfig::default() };
        let rows = SurveyRows::new(&set, &agents, config).unwrap();
        let mut hosts = set.hosts().map(Result::unwrap);
        let mut added = Added::of(rows.fields().iter().map(|field| field.kind));
        let mut worker = rows.worker();
        let batches: Vec<usize> = std::iter::from_fn(|| {
            worker.fill(&mut hosts, &mut added).unwrap();
            Some(added.rows()).filter(|rows| *rows > 0)
        })
        .collect();
        let blocks =
            rows.blocks(ALL / agents.len(), 10_000_000).map(|block| block.unwrap().hosts.len());
        match lists {
            false => assert_eq!((batches, blocks.collect()), (vec![400], vec![4])),
            true => assert_eq!((batches, blocks.collect()), (vec![100; 4], vec![1; 4])),
        }
    }
}
