//! Timelines that follow others: what a set answers by them is what the captures up to each time give.

use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{DateSpan, LongOutage};
use portcullis_set::stored::{Period, StoredMoment};
use portcullis_testkit::Random;

use super::timelines::{said, said_at, said_now, timelines};
use super::*;

const HOSTS: usize = 4;
const DAY: u64 = 24 * 60 * 60;
/// Captures lie on each side of 30 days of an outage, and some are more than 30 days after the last.
const STEP: u64 = 11 * DAY;
const STEPS: usize = 90;

/// Returns captures of a few resources that redirect to each other: few of the hosts that redirect, and
/// so many of what they redirect to that their changes are not written out.
fn random_captures(random: &mut Random) -> Vec<Made> {
    let mut captures = Vec::new();
    for host in 0..HOSTS {
        // Chains that end at a busy host are the most.
        let to = if random.one_in(3) { random.below(HOSTS) } else { host.saturating_sub(1) };
        let is_busy = host == 0 || random.one_in(5);
        let count = if is_busy { 30 + random.below(40) } else { 1 + random.below(3) };
        for _ in 0..count {
            let subject = match random.below(9) {
                0 if is_busy => format!("https://h{host}.example/folder/{to}.txt"),
                1 => format!("http://h{host}.example/robots.txt"),
                _ => format!("h{host}"),
            };
            captures.push(random_capture(random, &subject, to, is_busy));
        }
    }
    captures
}

fn random_capture(random: &mut Random, subject: &str, to: usize, is_busy: bool) -> Made {
    let steps = if is_busy { STEPS } else { STEPS / 2 };
    let date = match random.below(if is_busy { 60 } else { 12 }) {
        0 => "-".to_owned(),
        1 => (random.below(steps) as u64 * STEP + 1).to_string(),
        _ => (random.below(steps) as u64 * STEP).to_string(),
    };
    let redirects = if is_busy { 1 } else { 9 };
    let rest = match random.below(12) {
        it if it < redirects => match random.below(6) {
            0 => format!("301 /folder/{to}.txt"),
            1 => format!("302 @h{to} +1"),
            _ => format!("301 @h{to}"),
        },
        2 => "404".to_owned(),
        3..=5 => "503".to_owned(),
        6 => "304".to_owned(),
        7 => format!("304 ={}", random.below(STEPS) as u64 * STEP),
        _ => format!("200 /{}", random.below(4)),
    };
    let mut capture = made(&format!("{subject} {date} {rest}"));
    if random.one_in(2) {
        capture.max_age = Some(*random.pick(&[7, 5 * DAY, 40 * DAY, 4000 * DAY]));
    }
    capture
}

/// Returns all times at which something may change, and those next to them.
fn times(captures: &[Made]) -> Vec<UnixSeconds> {
    let dates = captures.iter().filter_map(|made| made.captured_at);
    let boundaries = dates.flat_map(|date| [date.0, date.0 + 30 * DAY + 1]);
    let mut times: Vec<u64> =
        boundaries.chain([0]).flat_map(|time| [time.saturating_sub(1), time]).collect();
    times.sort_unstable();
    times.dedup();
    times.into_iter().map(UnixSeconds).collect()
}

#[test]
fn a_set_answers_as_the_captures_up_to_each_time() {
    let long_outages = LongOutage::ALL;
    let (mut followed, mut of_other_scheme, mut in_outage) = (0, 0, 0);
    for (seed, dialect) in (0..24).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let captures = random_captures(random);
        let settle = SettleConfig {
            long_outage: long_outages[seed as usize % 4],
            join_schemes: random.one_in(2),
            ..SettleConfig::default()
        };
        let config = IngestConfig { settle, ..config(dialect) };
        let (one, other) = captures.split_at(captures.len() / 2);
        let input =
            |made: &[Made]| (vec![made.iter().cloned().map(Record::Capture).collect()], false);
        let inputs = [one, other].map(input);
        let with_history = IngestConfig { history: true, ..config.clone() };
        let all = ingest_pieces(&inputs, &with_history, 2).unwrap();
        let parts = inputs
            .each_ref()
            .map(|input| ingest_pieces(std::slice::from_ref(input), &with_history, 1).unwrap());
        let merged = merge(&parts.each_ref(), dialect, settle);
        // Each part has an input of its own name.
        let merged = Ingested { compiling: all.compiling.clone(), ..merged };
        assert!(merged.compiled() == all.compiled(), "{seed}");
        let set = PolicySet::from_bytes("the history", all.compiled()).unwrap();
        crate::verify(&set, &Scratch::in_memory()).unwrap_or_else(|it| panic!("{seed}: {it}"));
        check_moments(&set, &all.counts());
        for time in times(&captures) {
            let settle = SettleConfig { as_of: Some(time), ..settle };
            let until = ingest_pieces(&inputs, &IngestConfig { settle, ..config.clone() }, 1);
            // Otherwise nothing was captured by then.
            let expected = until.map_or(Vec::new(), |until| {
                said_now(&PolicySet::from_bytes("until", until.compiled()).unwrap())
            });
            let found = said_at(&set, time);
            assert_eq!(found, expected, "{seed} {time:?}");
            for (_, (_, facts, _)) in found.iter().filter(|(_, it)| it.1.redirects_followed > 0) {
                let notes = facts.capture_notes;
                followed += u32::from(facts.redirects_followed > 1);
                of_other_scheme += u32::from(notes.contains(CaptureNote::OtherScheme));
                in_outage += u32::from(notes.contains(CaptureNote::OutageLastGoodCopy));
            }
        }
    }
    // Otherwise this tests little.
    assert!(
        followed > 1_000 && of_other_scheme > 100 && in_outage > 10,
        "{followed} {of_other_scheme} {in_outage}"
    );
}

/// Checks that the moments and the periods of each timeline are those that searches find.
fn check_moments(set: &PolicySet, counts: &StandingCounts) {
    assert_eq!(counts.captures, set.history_captures());
    let mut dates = counts.captured;
    for (origin, timeline) in timelines(set) {
        let moments: Vec<_> = timeline.moments().map(Result::unwrap).collect();
        for pair in moments.windows(2) {
            assert!(pair[0].since < pair[1].since, "{origin:?}");
            assert_ne!(said(set, &pair[0]), said(set, &pair[1]), "{origin:?}");
        }
        let periods = timeline.periods().unwrap();
        for (index, period) in periods.iter().enumerate() {
            let until = periods.get(index + 1).map(|next| next[0].since);
            let expected = Period { since: period[0].since, until };
            for moment in period {
                let at = timeline.find(moment.since).unwrap();
                assert_eq!(timeline.policy(at).unwrap(), moment.policy, "{origin:?}");
                assert_eq!(timeline.period(at).unwrap(), expected, "{origin:?}");
                let found = timeline.moment(at).unwrap();
                assert_eq!(said(set, &found), said(set, moment), "{origin:?}");
                dates = DateSpan::over(dates, moment.capture.facts.captured_at.map(Into::into));
            }
        }
        let last = timeline.moment(timeline.last().unwrap()).unwrap();
        assert_eq!(said(set, &last), said(set, &moments[moments.len() - 1]));
        let first = timeline.moment(timeline.first().unwrap()).unwrap();
        assert_eq!((first.since, said(set, &first)), (moments[0].since, said(set, &moments[0])));
    }
    assert_eq!(dates, counts.captured, "all dates of moments are counted");
}

/// Returns the captures of hosts that redirect to one file, each at another second, and of the file, which
/// changes every day.
fn many_behind_one(hosts: u64, days: u64, chain: bool) -> Vec<(Pieces, bool)> {
    let own = (0..hosts).map(|host| match chain {
        false => made(&format!("h{host} {host} 301 @file")),
        true => made(&format!("h{host} {host} 301 /own.txt")),
    });
    let middle = (0..hosts)
        .filter(|_| chain)
        .map(|host| made(&format!("https://h{host}.example/own.txt {host} 301 @file max-age=7")));
    let file = (1..=days).map(|day| made(&format!("file {} 200 /{day}", day * DAY)));
    vec![(vec![own.chain(middle).chain(file).map(Record::Capture).collect()], false)]
}

/// Otherwise hosts and the changes of their file multiply, in the set and in memory.
#[test]
fn each_resource_has_its_captures_once() {
    const HOSTS: u64 = 150;
    const DAYS: u64 = 150;
    for (chain, of_host) in [(false, 1), (true, 2)] {
        let inputs = many_behind_one(HOSTS, DAYS, chain);
        let config = IngestConfig { history: true, ..config(&RFC_9309) };
        let sets = [1, 2].map(|threads| ingest_pieces(&inputs, &config, threads).unwrap());
        assert!(sets[0].compiled() == sets[1].compiled());
        let set = PolicySet::from_bytes("many", sets[0].compiled()).unwrap();
        crate::verify(&set, &Scratch::in_memory()).unwrap();
        assert_eq!(set.history_captures(), of_host * HOSTS + DAYS);
        let bytes = |name: &str| set.section_bytes().find(|(it, _)| it == name).unwrap().1;
        assert!(bytes("responses") <= 28 * (of_host * HOSTS + DAYS));
        let timelines = timelines(&set);
        let periods: usize = timelines.iter().map(|(_, it)| it.periods().unwrap().len()).sum();
        assert_eq!(HOSTS * (DAYS + 1) + DAYS, periods as u64);
        check_moments(&set, &sets[0].counts());
    }
}

/// Returns the set of the history of captures, each a line, and checks it at all times at which something may
/// change by the captures up to then.
fn checked(lines: &[String]) -> PolicySet {
    let captures: Vec<Made> = lines.iter().map(|line| made(line)).collect();
    let inputs = [(vec![captures.iter().cloned().map(Record::Capture).collect()], false)];
    let config = config(&RFC_9309);
    let with_history = IngestConfig { history: true, ..config.clone() };
    let all = ingest_pieces(&inputs, &with_history, 1).unwrap();
    let set = PolicySet::from_bytes("the history", all.compiled()).unwrap();
    crate::verify(&set, &Scratch::in_memory()).unwrap();
    check_moments(&set, &all.counts());
    for time in times(&captures) {
        let settle = SettleConfig { as_of: Some(time), ..config.settle };
        let until = ingest_pieces(&inputs, &IngestConfig { settle, ..config.clone() }, 1);
        let expected = until.map_or(Vec::new(), |until| {
            said_now(&PolicySet::from_bytes("until", until.compiled()).unwrap())
        });
        assert_eq!(said_at(&set, time), expected, "{lines:?} {time:?}");
    }
    set
}

/// Returns when the policy of an origin changes, its state, the redirects that lead there, and the notes.
fn periods(set: &PolicySet, host: &str) -> Vec<String> {
    let key = format!("{host}.example");
    let timeline = set.timeline_of(b"https", key.as_bytes()).unwrap().unwrap();
    let told = |moments: &Vec<StoredMoment<'_>>| {
        let StoredMoment { since, policy, capture } = moments[0];
        let state = set.policy(policy).unwrap().state().unwrap();
        let mut told = format!("{} {state} +{}", since.0, capture.facts.redirects_followed);
        capture.facts.capture_notes.iter().for_each(|note| told += &format!(" {}", note.as_str()));
        told
    };
    timeline.periods().unwrap().iter().map(told).collect()
}

#[test]
fn redirects_are_followed_at_each_time() {
    let lines = |lines: &[&str]| lines.iter().map(|it| it.to_string()).collect::<Vec<_>>();
    let chain = |redirects: u64| {
        let hosts = (0..redirects).map(|it| format!("h{it} {} 301 @h{}", 10 + it, it + 1));
        hosts.chain([format!("h{redirects} 100 200 /x")]).collect::<Vec<_>>()
    };
    let missing = "unreachable +0 redirect-target-missing";
    let cases: [(Vec<String>, &[&str]); 8] = [
        (chain(5), &["10 unreachable +0 redirect-target-missing", "100 rules +5"]),
        (
            chain(6),
            &["10 unreachable +0 redirect-target-missing", "15 unavailable +5 too-many-redirects"],
        ),
        // To itself, and in a circle.
        (lines(&["h0 10 301 @h0"]), &["10 unavailable +5 too-many-redirects"]),
        (
            lines(&["h0 10 301 @h1", "h1 20 302 @h0", "h1 40 200 /x"]),
            &[&format!("10 {missing}"), "20 unavailable +5 too-many-redirects", "40 rules +1"],
        ),
        // A redirect that changes, and ends.
        (
            lines(&[
                "h0 10 301 @h1",
                "h0 20 301 @h2",
                "h0 30 301 @h1",
                "h0 40 404",
                "h1 5 200 /one",
                "h2 5 200 /two",
            ]),
            &["10 rules +1", "20 rules +1", "30 rules +1", "40 unavailable +0"],
        ),
        // A target that was captured before the redirect alone, and after it alone.
        (lines(&["h0 10 301 @h1", "h1 5 200 /x"]), &["10 rules +1"]),
        (lines(&["h0 10 301 @h1", "h1 50 200 /x"]), &[&format!("10 {missing}"), "50 rules +1"]),
        // A target that nobody captured, and no URL.
        (lines(&["h0 10 301 @h1", "h0 20 301 https://"]), &[&format!("10 {missing}")]),
    ];
    for (lines, expected) in cases {
        assert_eq!(periods(&checked(&lines), "h0"), expected, "{lines:?}");
    }
}

/// Otherwise a set would have the captures of all targets for each origin.
#[test]
fn origins_that_alternate_between_targets_have_their_redirects_alone() {
    const ORIGINS: u64 = 12;
    const TARGETS: u64 = 4;
    const CAPTURES: u64 = 40;
    let redirects = (0..ORIGINS).flat_map(|origin| {
        (0..TARGETS * 2).map(move |it| {
            format!("h{origin} {} 301 @t{}", it * 5 * DAY + origin, (it + origin) % TARGETS)
        })
    });
    let files = (0..TARGETS).flat_map(|target| {
        (0..CAPTURES).map(move |it| format!("t{target} {} 200 /{target}/{it}", it * DAY))
    });
    let set = checked(&redirects.chain(files).collect::<Vec<_>>());
    assert_eq!(set.history_captures(), ORIGINS * TARGETS * 2 + TARGETS * CAPTURES);
}
