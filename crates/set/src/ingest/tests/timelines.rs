//! Histories, by their definition: the standing as of a time is that of the captures up to then.

use super::*;
use crate::compile::{CompileConfig, to_vec};
use crate::standing::Timeline;
use crate::{OutageConfig, Part, PolicySet, merge};
use portcullis_io::access::LongOutage;
use portcullis_testkit::Random;

const HOSTS: usize = 5;
const DAY: u64 = 24 * 60 * 60;

/// Returns a capture that may lie on each side of 30 days of an outage, or of another capture.
fn random_capture(random: &mut Random) -> Made {
    let (host, to) = (random.below(HOSTS), random.below(HOSTS));
    let date = match random.below(12) {
        0 => "-".to_owned(),
        1 => "0".to_owned(),
        _ => (random.below(12) as u64 * 10 * DAY + random.below(2) as u64).to_string(),
    };
    let path = random.below(4);
    let rest = match random.below(16) {
        0 => "404".to_owned(),
        1..=4 => "503".to_owned(),
        5 => "429".to_owned(),
        6 => format!("301 @h{to}"),
        7 => format!("301 /folder/{to}.txt"),
        8 => "304".to_owned(),
        9 => "200 / !revisit".to_owned(),
        10 => "nowhere".to_owned(),
        11 => format!("200 /{path} +2 max-age=7"),
        _ => format!("200 /{path}"),
    };
    match random.below(8) {
        0 => made(&format!("https://h{host}.example/folder/{to}.txt {date} {rest}")),
        1 | 2 => made(&format!("*h{host}.example {date} {rest}")),
        _ => made(&format!("h{host} {date} {rest}")),
    }
}

fn random_inputs(random: &mut Random) -> Vec<(Pieces, bool)> {
    let inputs = 1 + random.below(3);
    let records = |random: &mut Random| {
        let count = random.below(40);
        (0..count).map(|_| Record::Capture(random_capture(random))).collect::<Vec<_>>()
    };
    (0..inputs).map(|_| (vec![records(random)], false)).collect()
}

/// Returns all times at which something may change, and those beside them.
fn times(inputs: &[(Pieces, bool)]) -> Vec<UnixSeconds> {
    let mut times = vec![0];
    for record in inputs.iter().flat_map(|(pieces, _)| pieces.iter().flatten()) {
        let Record::Capture(Made { captured_at: Some(date), .. }) = record else { continue };
        for boundary in [date.0, date.0 + 30 * DAY] {
            times.extend([boundary.saturating_sub(1), boundary, boundary + 1]);
        }
    }
    times.sort_unstable();
    times.dedup();
    times.into_iter().map(UnixSeconds).collect()
}

fn history(config: IngestConfig) -> IngestConfig {
    IngestConfig { history: true, ..config }
}

fn set_of(ingested: &Ingested, dialect: &'static Dialect) -> PolicySet {
    let config = CompileConfig::of(ingested, dialect, None);
    let bytes = to_vec(&ingested.hosts, &ingested.pool, &config).unwrap();
    PolicySet::of_bytes("the history", bytes).unwrap()
}

/// Returns each origin with its standing at a time, by the timelines of `hosts`.
fn standings_at(hosts: &[HostStanding], pool: &BlobPool, time: UnixSeconds) -> Vec<String> {
    let at = |timeline: &Timeline| {
        let moment = timeline.iter().rev().find(|moment| moment.since <= time)?;
        Some(moment.standing)
    };
    let known = hosts.iter().filter_map(|host| {
        let [http, https] = host.timelines.as_ref().unwrap().each_ref().map(at);
        http.or(https)?;
        Some(HostStanding { key: host.key.clone(), http, https, timelines: None })
    });
    texts(&known.collect::<Vec<_>>(), pool)
}

#[test]
fn a_timeline_is_what_the_captures_up_to_each_time_give() {
    let long_outages = [LongOutage::NoChange, LongOutage::Unavailable, LongOutage::LastGoodCopy];
    for (seed, dialect) in (0..60).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let inputs = random_inputs(random);
        let long_outage = long_outages[seed as usize % 3];
        let outages = OutageConfig { as_of: None, long_outage };
        let config = IngestConfig { outages, ..config(dialect) };
        let Ok(all) = ingest_pieces(&inputs, &history(config.clone()), 2) else { continue };
        let set = set_of(&all, dialect);
        set.verify().unwrap_or_else(|error| panic!("{seed}: {error}"));
        let stored = set.standings().unwrap();
        for time in times(&inputs) {
            let outages = OutageConfig { as_of: Some(time), long_outage };
            let expected = ingest_pieces(&inputs, &IngestConfig { outages, ..config.clone() }, 1);
            let expected = expected.map_or(Vec::new(), |until| until.all());
            for (hosts, pool) in [(&all.hosts, &all.pool), (&stored.hosts, &stored.pool)] {
                assert_eq!(standings_at(hosts, pool, time), expected, "{seed} {time:?}");
            }
        }
    }
}

#[test]
fn a_merge_is_what_all_captures_at_once_give() {
    for (seed, dialect) in (0..60).zip(Dialect::ALL.into_iter().cycle()) {
        let inputs = random_inputs(&mut Random::new(seed));
        let config = history(config(dialect));
        let Ok(all) = ingest_pieces(&inputs, &config, 1) else { continue };
        let parts = inputs.iter().filter_map(|input| {
            let part = ingest_pieces(std::slice::from_ref(input), &config, 1).ok()?;
            Some(set_of(&part, dialect).standings().unwrap())
        });
        let parts: Vec<_> = parts.collect();
        if parts.len() < inputs.len() {
            continue;
        }
        let merged = merge(parts.iter().map(|part| part.part()), dialect, config.outages);
        for time in times(&inputs) {
            let [merged, all] = [&merged, &all].map(|it| standings_at(&it.hosts, &it.pool, time));
            assert_eq!(merged, all, "{seed} {time:?}");
        }
        assert_eq!((merged.all(), &merged.history), (all.all(), &all.history), "{seed}");
    }
}

#[test]
fn a_set_without_history_counts_as_its_newest_captures() {
    let newest = ingest_made(&[made("a 5 200 /5"), made("a 7 200 /7")], &RFC_9309).unwrap();
    let piece = ["a 6 200 /6", "a 8 200 /8"].map(|line| Record::Capture(made(line))).to_vec();
    let inputs = [(vec![piece], false)];
    let with_history = ingest_pieces(&inputs, &history(config(&RFC_9309)), 1).unwrap();
    let parts = [Part::of(&newest), Part::of(&with_history)];
    let merged = merge(parts, &RFC_9309, OutageConfig::default());
    let [_, https] = &**merged.hosts[0].timelines.as_ref().unwrap();
    assert_eq!(https.iter().map(|moment| moment.since.0).collect::<Vec<_>>(), [6, 7, 8]);
}

#[test]
fn moments_with_equal_captures_take_sixteen_bytes() {
    let moments = 1_000;
    let lines = (0..moments).map(|date| made(&format!("a {} 200 /{}", date * 60, date / 50)));
    let piece = lines.map(Record::Capture).collect();
    let all = ingest_pieces(&[(vec![piece], false)], &history(config(&RFC_9309)), 1).unwrap();
    let set = set_of(&all, &RFC_9309);
    let bytes = |name: &str| set.section_bytes().find(|(it, _)| it == name).unwrap().1;
    assert_eq!((set.moments(), bytes("moments"), bytes("history")), (moments, 16 * moments, 0));
}
