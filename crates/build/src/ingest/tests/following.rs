//! Timelines that follow others: what a set answers by them is what the captures up to each time give.

use portcullis_dialect::dialect::GOOGLE;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{DateSpan, LongOutage};
use portcullis_set::stored::{CaptureFacts, Period, StoredMoment, StoredTimeline};
use portcullis_testkit::Random;

use super::*;
use crate::limits::MOMENTS_WRITTEN_OUT_MAX;
use crate::standing::Moment;

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

/// Returns all times at which something may change, and those beside them.
fn times(captures: &[Made]) -> Vec<UnixSeconds> {
    let dates = captures.iter().filter_map(|made| made.captured_at);
    let boundaries = dates.flat_map(|date| [date.0, date.0 + 30 * DAY + 1]);
    let mut times: Vec<u64> =
        boundaries.chain([0]).flat_map(|time| [time.saturating_sub(1), time]).collect();
    times.sort_unstable();
    times.dedup();
    times.into_iter().map(UnixSeconds).collect()
}

/// What a set says about an origin at a time: the text of the policy, the capture, and the other records.
type Said = (Vec<u8>, CaptureFacts, Vec<String>);

fn said(set: &PolicySet, moment: &StoredMoment<'_>) -> Said {
    let policy = set.policy(moment.policy).unwrap();
    let text = policy.with_file(|_, extract| extract.to_vec()).unwrap();
    let text = [format!("{:?}", policy.access().unwrap()).into_bytes(), text].concat();
    let sitemaps = moment.capture.sitemaps().unwrap();
    let sitemaps = sitemaps.iter().map(|it| String::from_utf8_lossy(it).into_owned());
    (text, CaptureFacts { span_seconds: 0, ..moment.capture.facts }, sitemaps.collect())
}

/// Returns the timelines of a set by key and scheme.
fn timelines(set: &PolicySet) -> Vec<((Vec<u8>, bool), StoredTimeline<'_>)> {
    let hosts = set.hosts().map(|host| host.unwrap());
    let of_host = hosts.flat_map(|host| {
        let key = host.key().to_vec();
        host.schemes()
            .map(move |https| ((key.clone(), https), host.timeline(https).unwrap().unwrap()))
            .collect::<Vec<_>>()
    });
    of_host.collect()
}

fn is_following(moment: &Moment) -> bool {
    moment.follows.is_some()
}

#[test]
fn a_set_answers_as_the_captures_up_to_each_time() {
    let long_outages = [LongOutage::LastGoodCopy, LongOutage::NoChange, LongOutage::Unavailable];
    let (mut followed, mut of_other_scheme, mut nested) = (0, 0, 0);
    for (seed, dialect) in (0..24).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let captures = random_captures(random);
        let settle = SettleConfig {
            long_outage: long_outages[seed as usize % 3],
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
        let hosts = all.hosts();
        let moments = hosts.iter().flat_map(HostStanding::timelines).flatten();
        for moment in moments.filter(|it| is_following(it)) {
            let notes = moment.standing.facts.capture_notes;
            let timeline = &moment.follows.as_ref().unwrap().timeline;
            followed += 1;
            of_other_scheme += u32::from(notes.contains(CaptureNote::OtherScheme));
            nested += u32::from(timeline.moments().iter().any(is_following));
        }
        check_moments(&set, &all.counts());
        for time in times(&captures) {
            let settle = SettleConfig { as_of: Some(time), ..settle };
            let until = ingest_pieces(&inputs, &IngestConfig { settle, ..config.clone() }, 1);
            // Nothing was captured by then.
            let Ok(until) = until else { continue };
            let until = PolicySet::from_bytes("until", until.compiled()).unwrap();
            for (origin, timeline) in timelines(&set) {
                let host = until.host(&origin.0).unwrap();
                let expected = host.and_then(|host| {
                    let policy = host.policy(origin.1)?;
                    let capture = host.capture(origin.1).unwrap()?;
                    let moment = StoredMoment { since: time, policy, capture };
                    Some(said(&until, &moment))
                });
                let found = timeline.find(time).unwrap();
                let found = found.map(|at| said(&set, &timeline.moment(at).unwrap()));
                assert_eq!(found, expected, "{seed} {origin:?} {time:?}");
            }
        }
    }
    // Otherwise this tests little.
    assert!(
        followed > 40 && of_other_scheme > 3 && nested > 10,
        "{followed} {of_other_scheme} {nested}"
    );
}

/// Checks that the moments and the periods of each timeline are those that searches find.
fn check_moments(set: &PolicySet, counts: &StandingCounts) {
    let (mut periods_found, mut dates) = (0, counts.captured);
    for (origin, timeline) in timelines(set) {
        let moments: Vec<_> = timeline.moments().unwrap().map(Result::unwrap).collect();
        assert!(moments.len() as u64 <= timeline.moments_max().unwrap(), "{origin:?}");
        for pair in moments.windows(2) {
            assert!(pair[0].since < pair[1].since, "{origin:?}");
            assert_ne!(said(set, &pair[0]), said(set, &pair[1]), "{origin:?}");
        }
        let periods = timeline.periods().unwrap();
        periods_found += periods.len() as u64;
        for (index, period) in periods.iter().enumerate() {
            let until = periods.get(index + 1).map(|next| next[0].since);
            let expected = Period { since: period[0].since, until };
            for moment in period {
                let at = timeline.find(moment.since).unwrap().unwrap();
                assert_eq!(timeline.policy(at).unwrap(), moment.policy, "{origin:?}");
                assert_eq!(timeline.period(at).unwrap(), expected, "{origin:?}");
                let found = timeline.moment(at).unwrap();
                assert_eq!(said(set, &found), said(set, moment), "{origin:?}");
                dates = DateSpan::over(dates, moment.capture.facts.captured_at.map(Into::into));
            }
        }
        let last = timeline.moment(timeline.last().unwrap().unwrap()).unwrap();
        assert_eq!(said(set, &last), said(set, &moments[moments.len() - 1]));
        let first = timeline.moment(timeline.first().unwrap().unwrap()).unwrap();
        assert_eq!((first.since, said(set, &first)), (moments[0].since, said(set, &moments[0])));
    }
    assert_eq!(periods_found, counts.periods);
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
fn origins_behind_a_file_that_changes_share_its_timeline() {
    const HOSTS: u64 = 150;
    const DAYS: u64 = 150;
    for (chain, of_host) in [(false, 2), (true, 5)] {
        let inputs = many_behind_one(HOSTS, DAYS, chain);
        let config = IngestConfig { history: true, ..config(&RFC_9309) };
        let sets = [1, 2].map(|threads| ingest_pieces(&inputs, &config, threads).unwrap());
        assert!(sets[0].compiled() == sets[1].compiled());
        let set = PolicySet::from_bytes("many", sets[0].compiled()).unwrap();
        crate::verify(&set, &Scratch::in_memory()).unwrap();
        // The file has its own timeline, and one for its followers.
        assert!(set.moments() <= of_host * HOSTS + 2 * DAYS, "{}", set.moments());
        let bytes = |name: &str| set.section_bytes().find(|(it, _)| it == name).unwrap().1;
        assert!(bytes("moment captures") <= 32 * (of_host * HOSTS + 2 * DAYS));
        let counts = sets[0].counts();
        assert_eq!(counts.periods, HOSTS * (DAYS + 1) + DAYS);
        check_moments(&set, &counts);
    }
}

#[test]
fn a_few_changes_are_written_out() {
    for (days, is_followed) in
        [(MOMENTS_WRITTEN_OUT_MAX as u64 - 1, false), (MOMENTS_WRITTEN_OUT_MAX as u64, true)]
    {
        let inputs = many_behind_one(1, days, false);
        let config = IngestConfig { history: true, ..config(&GOOGLE) };
        let all = ingest_pieces(&inputs, &config, 1).unwrap();
        let hosts = all.hosts();
        let mut moments = hosts.iter().flat_map(HostStanding::timelines).flatten();
        assert_eq!(moments.any(is_following), is_followed, "{days}");
    }
}
