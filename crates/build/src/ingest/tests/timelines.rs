//! Histories, by their definition: the standing as of a time is that of the captures up to then.

use std::sync::Arc;

use portcullis_dialect::decision::{Answer, Decision, PolicyState, Reason};
use portcullis_dialect::dialect::GOOGLE;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::LongOutage;
use portcullis_robots::policy::Crawler;
use portcullis_set::PolicySet;
use portcullis_set::batch::{
    AgentKind, Answers, BeforeFirst, Classifier, Freshness, InForce, Records, Session, Times,
};
use portcullis_set::stored::{CaptureFacts, Period, StoredMoment, StoredTimeline};
use portcullis_testkit::Random;

use super::*;
use crate::compile::to_vec;
use crate::provenance::SettleConfig;

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
    let serves = [7, 5 * DAY, 40 * DAY, 400 * DAY];
    let rest = match random.below(16) {
        0 => "404".to_owned(),
        1..=4 => "503".to_owned(),
        5 => "429".to_owned(),
        6 => format!("301 @h{to}"),
        7 => format!("301 /folder/{to}.txt"),
        8 if random.one_in(2) => "304".to_owned(),
        8 => format!("304 ={}", random.below(12) as u64 * 10 * DAY),
        9 => "200 / !revisit".to_owned(),
        10 => "nowhere".to_owned(),
        11 => format!("200 /{path} +2 max-age=7"),
        _ => format!("200 /{path}"),
    };
    let mut capture = match random.below(8) {
        0 => made(&format!("https://h{host}.example/folder/{to}.txt {date} {rest}")),
        1 | 2 => made(&format!("*h{host}.example {date} {rest}")),
        _ => made(&format!("h{host} {date} {rest}")),
    };
    if random.one_in(2) {
        capture.max_age = Some(*random.pick(&serves));
    }
    if capture.answer == Fetched::Status(200) && random.one_in(2) {
        capture.body += "Content-Usage: train-ai=n\nCrawl-delay: 2\n\
            User-agent: b\nAllow: /0\nDisallow: /1\nCrawl-delay: 3\n";
    }
    capture
}

fn random_inputs(random: &mut Random) -> Vec<(Pieces, bool)> {
    let inputs = 1 + random.below(3);
    let records = |random: &mut Random| {
        let count = random.below(40);
        (0..count).map(|_| Record::Capture(random_capture(random))).collect::<Vec<_>>()
    };
    (0..inputs).map(|_| (vec![records(random)], false)).collect()
}

/// Returns all times at which something may change, and those next to them.
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

fn set_of(ingested: &Ingested) -> PolicySet {
    PolicySet::from_bytes("the history", ingested.compiled()).unwrap()
}

/// The answer of a set about an origin at a time: the text of the policy, the capture, and the other records.
pub(super) type Said = (Vec<u8>, CaptureFacts, Vec<String>);

pub(super) fn said(set: &PolicySet, moment: &StoredMoment<'_>) -> Said {
    let policy = set.policy(moment.policy).unwrap();
    let text = policy.with_file(|_, extract| extract.to_vec()).unwrap();
    let text = [format!("{:?}", policy.access().unwrap()).into_bytes(), text].concat();
    let sitemaps = moment.capture.sitemaps().unwrap();
    let sitemaps = sitemaps.iter().map(|it| String::from_utf8_lossy(it).into_owned());
    (text, CaptureFacts { span_seconds: 0, ..moment.capture.facts }, sitemaps.collect())
}

/// The key and the scheme of an origin.
pub(super) type Named = (Vec<u8>, bool);

pub(super) fn timelines(set: &PolicySet) -> Vec<(Named, StoredTimeline<'_>)> {
    let hosts = set.hosts().map(|host| host.unwrap());
    let of_host = hosts.flat_map(|host| {
        let key = host.key().to_vec();
        host.schemes()
            .map(move |https| ((key.clone(), https), host.timeline(https).unwrap().unwrap()))
            .collect::<Vec<_>>()
    });
    of_host.collect()
}

/// Returns what a set with history says about each origin at a time.
pub(super) fn said_at(set: &PolicySet, time: UnixSeconds) -> Vec<(Named, Said)> {
    let of_timeline = |(origin, timeline): (Named, StoredTimeline<'_>)| {
        let at = timeline.find(time)?;
        Some((origin, said(set, &timeline.moment(at).unwrap())))
    };
    timelines(set).into_iter().filter_map(of_timeline).collect()
}

/// Returns what a set says about each origin after all captures.
pub(super) fn said_now(set: &PolicySet) -> Vec<(Named, Said)> {
    let mut all = Vec::new();
    for host in set.hosts().map(|host| host.unwrap()) {
        for https in host.schemes() {
            let policy = host.policy(https).unwrap();
            let capture = host.capture(https).unwrap().unwrap();
            let moment = StoredMoment { since: UnixSeconds(0), policy, capture };
            all.push(((host.key().to_vec(), https), said(set, &moment)));
        }
    }
    all
}

#[test]
fn a_timeline_is_what_the_captures_up_to_each_time_give() {
    let long_outages = LongOutage::ALL;
    for (seed, dialect) in (0..60).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let inputs = random_inputs(random);
        let long_outage = long_outages[seed as usize % 4];
        let join_schemes = random.one_in(2);
        let settle = SettleConfig { long_outage, join_schemes, ..SettleConfig::default() };
        let config = IngestConfig { settle, ..config(dialect) };
        let Ok(all) = ingest_pieces(&inputs, &history(config.clone()), 2) else { continue };
        let set = set_of(&all);
        crate::verify(&set, &Scratch::in_memory())
            .unwrap_or_else(|error| panic!("{seed}: {error}"));
        for time in times(&inputs) {
            let settle = SettleConfig { as_of: Some(time), ..settle };
            let expected = ingest_pieces(&inputs, &IngestConfig { settle, ..config.clone() }, 1);
            let expected = expected.map_or(Vec::new(), |until| said_now(&set_of(&until)));
            assert_eq!(said_at(&set, time), expected, "{seed} {time:?}");
        }
    }
}

#[test]
fn joined_schemes_turn_no_known_policy() {
    let mut joined = 0;
    for (seed, dialect) in (0..60).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let inputs = random_inputs(random);
        let plain = IngestConfig { history: random.one_in(2), ..config(dialect) };
        let settle = SettleConfig { join_schemes: true, ..SettleConfig::default() };
        let with = IngestConfig { settle, ..plain.clone() };
        // On one thread, so that equal files have equal numbers.
        let hosts = |config| Some(ingest_pieces(&inputs, config, 1).ok()?.hosts());
        let Some((before, after)) = hosts(&plain).zip(hosts(&with)) else { continue };
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.key, after.key);
            let pairs = [(before.http, before.https), (before.https, before.http)];
            for ((own, other), now) in pairs.into_iter().zip([after.http, after.https]) {
                if own.is_some() {
                    assert_eq!(now, own, "{seed}");
                    continue;
                }
                let (now, mut other) = (now.unwrap(), other.unwrap());
                let notes = &mut other.facts.capture_notes;
                *notes = notes.with(CaptureNote::OtherScheme);
                assert_eq!(now, other, "{seed}");
                joined += 1;
            }
        }
    }
    assert!(joined > 30, "{joined}");
}

/// The sizes of the blocks that a session decides, in turn.
const SIZES: [usize; 4] = [7, 2, 16, 1];

/// Everything that is said of a record, but for when a policy was in force.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    /// By answer: the decision with its rule, the preferences, and the crawl delay.
    answers: Vec<String>,
    decisions: Vec<Answer>,
    now: Vec<Answer>,
    state: Option<PolicyState>,
    agent: Option<String>,
}

/// Returns what one session says of each record, and when its policy was in force. It decides blocks of
/// these sizes in turn.
fn told(
    session: &mut Session,
    Records { urls, times, agents }: Records<'_, String>,
    sizes: &[usize],
) -> Vec<(Told, String)> {
    let (mut told, mut start, mut sizes) = (Vec::new(), 0, sizes.iter().cycle());
    while start < urls.len() {
        let end = urls.len().min(start + sizes.next().unwrap());
        let own = start..end;
        let times = match times {
            Times::Each(times) => Times::Each(&times[own.clone()]),
            times => times,
        };
        let agents = agents.get(own.clone()).unwrap_or_default();
        let mut answers = session.decide(Records { urls: &urls[own], times, agents }).unwrap();
        let labels = answers.session().classifier().labels().len();
        for record in 0..end - start {
            let own = record * answers.per_record()..(record + 1) * answers.per_record();
            let shown = own.clone().map(|answer| {
                let about = (0..labels).map(|label| answers.preference(answer, label));
                let about: Vec<Preference> = about.collect();
                let delay = answers.delays(record).unwrap()[answer - own.start];
                format!("{:?} {about:?} {delay:?}", answers.rule(answer).unwrap())
            });
            let shown = shown.collect();
            let agent = answers
                .agent(own.start)
                .map(|agent| answers.session().classifier().agents()[agent].name().to_owned());
            let in_force = answers.in_force(record).unwrap();
            let facts = answers.capture(record).unwrap().map(|capture| capture.facts);
            assert!(
                in_force.is_none()
                    || in_force.map(|it| it.captured_at) == facts.map(|it| it.captured_at)
            );
            let one = Told {
                answers: shown,
                decisions: answers.decisions()[own.clone()].to_vec(),
                now: answers.now().map_or(Vec::new(), |now| now.decisions[own].to_vec()),
                state: answers.state(record).unwrap(),
                agent,
            };
            told.push((one, format!("{in_force:?} {facts:?}")));
        }
        start = end;
    }
    told
}

fn session(set: PolicySet, dialect: &'static Dialect) -> Session {
    let agents = ["a", "b"].map(|name| Crawler::parse(name, dialect).unwrap());
    let classifier = Classifier::new(set, agents.into()).unwrap();
    Session::new(classifier.with_usage(&[Label::TrainAi]))
}

#[test]
fn a_session_answers_as_of_each_time_as_the_set_of_that_time() {
    let mut urls: Vec<String> = vec!["no URL".into(), "https://other.example/".into()];
    for host in 0..HOSTS {
        let paths = (0..4).flat_map(|path| ["http", "https"].map(|scheme| (scheme, path)));
        urls.extend(paths.map(|(scheme, path)| format!("{scheme}://h{host}.example/{path}")));
    }
    for (seed, dialect) in (100..110).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let inputs = random_inputs(random);
        let Ok(all) = ingest_pieces(&inputs, &history(config(dialect)), 1) else { continue };
        let mut asked = session(set_of(&all), dialect);
        let mut expected: Vec<(UnixSeconds, Vec<Told>)> = Vec::new();
        for time in times(&inputs) {
            let settle = SettleConfig { as_of: Some(time), ..SettleConfig::default() };
            let config = IngestConfig { settle, ..config(dialect) };
            // Before the first capture of all there is no set.
            let Ok(until) = ingest_pieces(&inputs, &config, 1) else { continue };
            let of_set = |set: PolicySet, times| {
                let records = Records::from(&urls).at(times);
                let told = told(&mut session(set, dialect), records, &[urls.len()]);
                told.into_iter().map(|(told, _)| told).collect::<Vec<_>>()
            };
            let mut answers = of_set(set_of(&until), Times::Now);
            for (url, told) in urls.iter().zip(&mut answers) {
                if Origin::from_url(url.as_bytes()).is_ok() && all.find(url).is_some() {
                    for decision in &mut told.decisions {
                        if decision.reason() == Reason::NoPolicy {
                            *decision = Answer::new(decision.verdict(), Reason::BeforeFirst);
                        }
                    }
                    for answer in &mut told.answers {
                        *answer = answer.replace("NoPolicy", "BeforeFirst");
                    }
                }
            }
            let found = told(&mut asked, Records::from(&urls).at(Times::At(time)), &SIZES);
            assert!(found.iter().map(|it| &it.0).eq(&answers), "{seed} {time:?}");
            expected.push((time, answers));
        }
        let picked: Vec<&(UnixSeconds, Vec<Told>)> =
            urls.iter().map(|_| random.pick(&expected)).collect();
        let times: Vec<_> = picked.iter().map(|(time, _)| Some(*time)).collect();
        let found = told(&mut asked, Records::from(&urls).at(Times::Each(&times)), &SIZES);
        for (url, ((found, _), (_, expected))) in found.iter().zip(picked).enumerate() {
            assert_eq!(*found, expected[url], "{seed} {}", urls[url]);
        }
    }
}

#[test]
fn a_record_with_an_agent_is_answered_as_for_that_agent_alone() {
    let names = ["a", "A", "b", "c", ""];
    let mut urls: Vec<String> = vec!["no URL".into(), "https://other.example/".into()];
    for host in 0..HOSTS {
        let paths = (0..4).flat_map(|path| ["http", "https"].map(|scheme| (scheme, path)));
        urls.extend(paths.map(|(scheme, path)| format!("{scheme}://h{host}.example/{path}")));
    }
    for (seed, dialect) in (200..230).zip(Dialect::ALL.into_iter().cycle()) {
        let random = &mut Random::new(seed);
        let inputs = random_inputs(random);
        let Ok(all) = ingest_pieces(&inputs, &history(config(dialect)), 1) else { continue };
        let set = Arc::new(set_of(&all));
        let classifier = |agents: &[&str]| {
            let chain = |name: &&str| Crawler::parse(name, dialect).unwrap();
            let agents: Vec<Crawler> = agents.iter().map(chain).collect();
            let mut classifier = Classifier::new(Arc::clone(&set), agents).unwrap();
            classifier.and_now = true;
            classifier
        };
        let days: Vec<_> = urls.iter().map(|_| Some(*random.pick(&times(&inputs)))).collect();
        for times in [Times::Now, Times::Each(&days)] {
            let expected = names.map(|name| {
                let name = if name.is_empty() { "nobody" } else { name };
                let mut alone = Session::new(classifier(&[name]));
                told(&mut alone, Records::from(&urls).at(times), &[urls.len()])
            });
            for (kind, known) in [
                (AgentKind::Token, &["a", "b"][..]),
                (AgentKind::Header, &["b", "a"]),
                (AgentKind::Token, &["a"]),
            ] {
                let each = classifier(known).with_agent_per_record(kind).unwrap();
                let mut each = Session::new(each);
                let picked: Vec<usize> = urls.iter().map(|_| random.below(names.len())).collect();
                let text = |&name: &usize| match (names[name], kind) {
                    ("", _) => String::new(),
                    (name, AgentKind::Token) => name.to_owned(),
                    (name, AgentKind::Header) => {
                        format!("Mozilla/5.0 (compatible; {name}/1.0; +https://b.example/a)")
                    }
                };
                let texts: Vec<String> = picked.iter().map(text).collect();
                let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
                let records = Records::from(&urls).at(times).by(&texts);
                let found = told(&mut each, records, &SIZES);
                let is_named = set.names_agent(&Crawler::parse("b", dialect).unwrap()).unwrap();
                for (record, &name) in picked.iter().enumerate() {
                    let ((found, found_behind), (expected, behind)) =
                        (&found[record], &expected[name][record]);
                    let asks = !names[name].is_empty()
                        && (names[name] != "b" || known.contains(&"b") || !is_named);
                    let has_policy = ![Reason::BadUrl, Reason::NoPolicy, Reason::BeforeFirst]
                        .contains(&expected.decisions[0].reason());
                    assert_eq!(found_behind, behind, "{seed} {name}");
                    assert_eq!(found.state, expected.state, "{seed} {name}");
                    if asks {
                        assert_eq!(found.now, expected.now, "{seed} {name}");
                    }
                    if asks || !has_policy {
                        // Without a policy, the agent does not matter.
                        assert_eq!(found.answers, expected.answers, "{seed} {name}");
                    } else {
                        assert_eq!(found.decisions, [Decision::NO_AGENT.answer()], "{seed} {name}");
                    }
                    let own = names[name].to_ascii_lowercase();
                    let is_known = known.contains(&own.as_str());
                    let expected = if is_known { Some(own.as_str()) } else { Some("*") };
                    assert_eq!(found.agent.as_deref(), expected.filter(|_| asks), "{seed}");
                }
            }
        }
    }
}

#[test]
fn a_record_without_time_or_before_the_first_capture_is_unknown() {
    let piece = ["a 10 200 /10", "a 20 200 /20"].map(|line| Record::Capture(made(line))).to_vec();
    let config = history(config(&RFC_9309));
    let all = ingest_pieces(&[(vec![piece], false)], &config, 1).unwrap();
    let agents = || vec![Crawler::parse("a", &RFC_9309).unwrap()];
    let classifier = || Classifier::new(set_of(&all), agents()).unwrap();
    let records = ["https://a.example/10", "https://a.example/10", "https://b.example/", "no URL"];
    let mut session = Session::new(classifier());
    let time = |seconds| Some(UnixSeconds(seconds));
    let times = [time(9), None, None, None];
    let reasons = |answers: &Answers<'_>| {
        answers.decisions().iter().map(|it| it.reason()).collect::<Vec<_>>()
    };
    let at = |times| Records::from(&records).at(Times::Each(times));
    let expected = [Reason::BeforeFirst, Reason::NoTime, Reason::NoTime, Reason::BadUrl];
    let mut answers = session.decide(at(&times)).unwrap();
    assert_eq!(reasons(&answers), expected);
    assert_eq!(answers.in_force(0).unwrap(), None);
    let mut classifier = classifier();
    classifier.before_first = BeforeFirst::Oldest;
    let mut session = Session::new(classifier);
    let times = [time(9), time(19), time(9), time(20)];
    let expected = [Reason::Rule, Reason::Rule, Reason::NoPolicy, Reason::BadUrl];
    let mut answers = session.decide(at(&times)).unwrap();
    assert_eq!(reasons(&answers), expected);
    assert_eq!(answers.ages().before_first, 1);
    let period = Period { since: UnixSeconds(10), until: time(20) };
    let in_force = InForce { captured_at: time(10), period };
    assert_eq!(answers.in_force(1).unwrap(), Some(in_force));
}

/// Hosts that redirect to one file, each captured twice while the file is captured every day.
fn many_behind_one(hosts: u64, days: u64, file_of: impl Fn(u64) -> String) -> Vec<(Pieces, bool)> {
    let own = (0..hosts).flat_map(|host| {
        [0, days / 2].map(|day| made(&format!("h{host} {} 301 @file max-age=7", day * DAY + host)))
    });
    let file = (1..=days).map(|day| made(&format!("file {} {}", day * DAY, file_of(day))));
    vec![(vec![own.chain(file).map(Record::Capture).collect()], false)]
}

/// Otherwise hosts and the captures of their file multiply.
#[test]
fn captures_of_an_unchanged_file_begin_no_moment_of_those_behind_it() {
    const HOSTS: u64 = 200;
    const DAYS: u64 = 200;
    let unchanged =
        [|_| "200 /x".to_owned(), |day| format!("200 /x max-age={}", DAY * (1 + day % 2) / 2)];
    for file_of in unchanged {
        let inputs = many_behind_one(HOSTS, DAYS, file_of);
        let all = ingest_pieces(&inputs, &history(config(&RFC_9309)), 1).unwrap();
        let set = set_of(&all);
        assert_eq!(set.history_captures(), 2 * HOSTS + DAYS);
        // Of each host: without the file, and with it, by both of its captures; and the file itself.
        let timelines = timelines(&set);
        let moments: usize = timelines.iter().map(|(_, it)| it.moments().count()).sum();
        assert!(moments as u64 <= 5 * HOSTS + DAYS, "{moments}");
        assert!(set.bytes() < 600 * HOSTS, "{}", set.bytes());
    }
}

#[test]
fn a_period_lasts_as_long_as_the_policy() {
    let lines = ["a 10 200 /x", "a 20 200 /x", "a 30 404", "a 40 410", "a 50 200 /y", "a 60 503"];
    let mut captures = lines.map(made);
    captures[0].body = "User-agent: *\nDisallow: /x\n".into();
    captures[1].body = "User-agent: * # a comment\nDisallow: /x\n\
        Sitemap: https://s.example/new\n"
        .into();
    let piece = captures.map(Record::Capture).to_vec();
    let all = ingest_pieces(&[(vec![piece], false)], &history(config(&RFC_9309)), 1).unwrap();
    assert_eq!(all.counts().captures, 6);
    let mut session = session(set_of(&all), &RFC_9309);
    let periods = [(10, Some(30)), (30, Some(50)), (50, Some(60)), (60, None)];
    for time in 10..70 {
        let records = Records::from(&["https://a.example/"]).at(Times::At(UnixSeconds(time)));
        let in_force = session.decide(records).unwrap().in_force(0).unwrap();
        let InForce { captured_at, period } = in_force.unwrap();
        assert_eq!(captured_at, Some(UnixSeconds(time / 10 * 10)));
        let expected = periods.iter().rfind(|(since, _)| *since <= time).unwrap();
        assert_eq!((period.since.0, period.until.map(|it| it.0)), *expected, "{time}");
    }
}

#[test]
fn after_the_time_of_a_set_outages_go_on() {
    let lines = ["a 10 200 /x", "a 20 503", "a 50 200 /y"].map(|line| Record::Capture(made(line)));
    let as_of = Some(UnixSeconds(40));
    let settle = SettleConfig { as_of, ..SettleConfig::default() };
    let config = history(IngestConfig { settle, ..config(&GOOGLE) });
    let all = ingest_pieces(&[(vec![lines.to_vec()], false)], &config, 1).unwrap();
    let set = set_of(&all);
    let has_rules = |policy| set.policy(policy).unwrap().state().unwrap() == PolicyState::Rules;
    let timeline = set.timeline_of(b"https", b"a.example").unwrap().unwrap();
    let moments = timeline.moments().map(Result::unwrap);
    let moments = moments.map(|it| (it.since.0, has_rules(it.policy)));
    let long = 20 + 30 * DAY + 1;
    assert_eq!(moments.collect::<Vec<_>>(), [(10, true), (20, false), (long, true)]);
    assert!(!has_rules(set.policy_of(b"https", b"a.example").unwrap().unwrap()));
}

/// The server answered, and has a file: an outage of 30 days would allow everything.
#[test]
fn a_confirmation_of_an_unknown_file_ends_an_outage() {
    for (status, content) in [(304, GOOGLE.access.other_status), (503, GOOGLE.access.not_found)] {
        let lines = ["a 0 503".to_owned(), format!("a {} {status}", 150 * DAY)];
        let records = lines.map(|line| Record::Capture(made(&line)));
        let settle =
            SettleConfig { as_of: Some(UnixSeconds(183 * DAY)), ..SettleConfig::default() };
        let config = IngestConfig { settle, ..config(&GOOGLE) };
        let all = ingest_pieces(&[(vec![records.to_vec()], false)], &config, 1).unwrap();
        let standing = all.hosts()[0].https.unwrap();
        assert_eq!(standing.content, Content::Access(content), "{status}");
        assert_eq!(standing.facts.outage.is_some(), status == 503);
    }
}

#[test]
fn a_merge_is_what_all_captures_at_once_give() {
    for (seed, dialect) in (0..60).zip(Dialect::ALL.into_iter().cycle()) {
        let inputs = random_inputs(&mut Random::new(seed));
        let config = history(config(dialect));
        let Ok(all) = ingest_pieces(&inputs, &config, 1) else { continue };
        let parts = inputs
            .iter()
            .filter_map(|input| ingest_pieces(std::slice::from_ref(input), &config, 1).ok());
        let parts: Vec<_> = parts.collect();
        if parts.len() < inputs.len() {
            continue;
        }
        let merged = merge(&parts.iter().collect::<Vec<_>>(), dialect, config.settle);
        assert_eq!(merged.all(), all.all(), "{seed}");
        // Each part has an input of its own name.
        let merged = Ingested { compiling: all.compiling.clone(), ..merged };
        assert!(merged.compiled() == all.compiled(), "{seed}");
    }
}

#[test]
fn a_set_without_history_counts_as_its_newest_captures() {
    let newest = ingest_made(&[made("a 5 200 /5"), made("a 7 200 /7")], &RFC_9309).unwrap();
    let piece = ["a 6 200 /6", "a 8 200 /8"].map(|line| Record::Capture(made(line))).to_vec();
    let inputs = [(vec![piece], false)];
    let with_history = ingest_pieces(&inputs, &history(config(&RFC_9309)), 1).unwrap();
    let merged = merge(&[&newest, &with_history], &RFC_9309, SettleConfig::default());
    let set = set_of(&merged);
    let timeline = set.timeline_of(b"https", b"a.example").unwrap().unwrap();
    let moments = timeline.moments().map(|moment| moment.unwrap().since.0);
    assert_eq!(moments.collect::<Vec<_>>(), [6, 7, 8]);
}

#[test]
fn captures_with_equal_responses_take_sixteen_bytes() {
    let captures = 1_000;
    let lines = (0..captures).map(|date| made(&format!("a {} 200 /{}", date * 60, date / 50)));
    let piece = lines.map(Record::Capture).collect();
    let all = ingest_pieces(&[(vec![piece], false)], &history(config(&RFC_9309)), 1).unwrap();
    let set = set_of(&all);
    let bytes = |name: &str| set.section_bytes().find(|(it, _)| it == name).unwrap().1;
    assert_eq!((set.history_captures(), bytes("history")), (captures, 16 * captures));
    assert!(bytes("log") <= 16 * captures, "{}", bytes("log"));
}

/// Captures of a file that stays the same are moments of its own origin, and not of all that redirect to
/// it.
#[test]
fn a_redirect_is_not_confirmed_by_each_capture_of_its_target() {
    const REDIRECTS: u64 = 300;
    const CAPTURES: u64 = 400;
    let redirects = (0..REDIRECTS).map(|host| made(&format!("h{host} {DAY} 301 @t")));
    let captures = (1..=CAPTURES).map(|day| made(&format!("t {} 200 /x", day * DAY + 7)));
    let last = made(&format!("t {} 200 /y", (CAPTURES + 1) * DAY));
    let piece = redirects.chain(captures).chain([last]).map(Record::Capture).collect();
    let all = ingest_pieces(&[(vec![piece], false)], &history(config(&RFC_9309)), 2).unwrap();
    let set = set_of(&all);
    assert_eq!(set.history_captures(), REDIRECTS + CAPTURES + 1);
    // The target is missing, has a file, and has another one.
    let timelines = timelines(&set);
    let moments: usize = timelines.iter().map(|(_, it)| it.moments().count()).sum();
    assert_eq!(moments as u64, 3 * REDIRECTS + CAPTURES + 1);
    drop(timelines);
    crate::verify(&set, &Scratch::in_memory()).unwrap();
    let mut session = session(set, &RFC_9309);
    let last = (CAPTURES + 1) * DAY;
    let mut in_force = None;
    for (time, reason) in [
        (DAY, Reason::Unreachable),
        (DAY + 7, Reason::Rule),
        (last - 1, Reason::Rule),
        (last, Reason::NoRule),
    ] {
        let records = Records::from(&["https://h7.example/x"]).at(Times::At(UnixSeconds(time)));
        let mut answers = session.decide(records).unwrap();
        assert_eq!(answers.decisions()[0].reason(), reason, "{time}");
        in_force = answers.in_force(0).unwrap();
    }
    let in_force = in_force.unwrap();
    assert_eq!((in_force.captured_at, in_force.period.since.0), (Some(UnixSeconds(DAY)), last));
}

#[test]
fn hosts_with_more_captures_than_fit_at_once_are_settled_in_rounds() {
    let captures = (1..=300).flat_map(|date| {
        (0..60).map(move |host| made(&format!("h{host} {date} 200 /{}", date % 7)))
    });
    let piece: Vec<Record> = captures.map(Record::Capture).collect();
    let moments = |threads| {
        let config = history(config(&RFC_9309));
        let all = ingest_pieces(&[(vec![piece.clone()], false)], &config, threads).unwrap();
        (set_of(&all).history_captures(), all.compiled())
    };
    assert!(moments(1) == moments(3) && moments(2).0 == 18_000);
}

/// The first moment of an origin may begin with the capture of a redirect's target, which is later than
/// the capture of the redirect.
#[test]
fn a_time_before_the_first_capture_is_not_fresh() {
    let lines = ["a 10 301 @t", "t 5 200 /x", "t 20 200 /x"];
    let piece = lines.map(|line| Record::Capture(made(line))).to_vec();
    let all = ingest_pieces(&[(vec![piece], false)], &history(config(&RFC_9309)), 1).unwrap();
    let agents = vec![Crawler::parse("a", &RFC_9309).unwrap()];
    let freshness = Freshness { as_of: UnixSeconds(0), seconds_max: Some(100), withdraws: true };
    let mut classifier = Classifier::new(set_of(&all), agents).unwrap();
    classifier.before_first = BeforeFirst::Oldest;
    classifier.freshness = Some(freshness);
    let mut session = Session::new(classifier);
    let url = ["https://a.example/x"];
    for (time, reason) in [(9, Reason::BeforeFirst), (10, Reason::Rule), (110, Reason::Expired)] {
        let records = Records::from(&url).at(Times::At(UnixSeconds(time)));
        let decided = session.decide(records).unwrap().decisions()[0];
        assert_eq!(decided.reason(), reason, "{time}");
    }
}

#[test]
fn an_input_that_a_history_cannot_number_is_an_error() {
    let piece = ["a 10 200 /10", "a 20 200 /20"].map(|line| Record::Capture(made(line))).to_vec();
    let config = history(config(&RFC_9309));
    for (input, is_fine) in [((1 << 24) - 1, true), (1 << 24, false)] {
        let open = |_: usize| -> Result<Box<dyn BatchReader>, InputError> {
            Ok(Box::new(MadeReader { pieces: vec![piece.clone()].into(), fails: false }))
        };
        let mut merger = Merger::new(config.clone()).numbered(vec![input]);
        merger.read(vec![Input::new("a").report()], &open, &()).unwrap();
        let all = merger.finish().unwrap();
        assert_eq!(to_vec(&all.standings, &all.compiling).is_ok(), is_fine, "{input}");
    }
}
