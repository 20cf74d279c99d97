//! Seeded changes of every section, with recomputed checksums.

use portcullis_dialect::decision::{Decision, PolicyState, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
use portcullis_dialect::usage::{Label, Preference, Stated, UsageSource};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{Crawler, LabelRules, UsageRules, combined, stated};
use portcullis_set::batch::{Explained, InForce, Records, StatedPlace, Times};
use portcullis_set::lists::read_extract;
use portcullis_testkit::Random;

use super::*;
use crate::compile::to_vec;
use crate::ingest::{IngestConfig, Merger};

/// The questions to a set.
struct Questions<'q> {
    names: &'q [&'q str],
    urls: Vec<String>,
    /// A time for each URL, if not all are asked after all captures.
    times: Option<Vec<Option<UnixSeconds>>>,
}

impl Questions<'_> {
    /// Returns the time of a URL; `None` after all captures, or without a time.
    fn time(&self, url: usize) -> Option<UnixSeconds> {
        self.times.as_ref().and_then(|times| times[url])
    }

    fn has_no_time(&self, url: usize) -> bool {
        self.times.as_ref().is_some_and(|times| times[url].is_none())
    }

    /// Returns the policy of a URL at its time.
    fn policy(&self, set: &PolicySet, url: usize) -> Option<PolicyNumber> {
        let (scheme, rest) = self.urls[url].split_once("://").unwrap();
        let (scheme, key) = (scheme.as_bytes(), rest.split('/').next().unwrap().as_bytes());
        let Some(time) = self.time(url) else { return set.policy_of(scheme, key).unwrap() };
        let timeline = set.timeline_of(scheme, key).unwrap()?;
        let index = timeline.find(time)?;
        Some(timeline.moment(index).unwrap().policy)
    }
}

/// The answers of a set to all queries.
#[derive(PartialEq)]
struct SetAnswers {
    decisions: Vec<Decision>,
    /// The rule and the group of each decision.
    origins: Vec<[Option<Vec<u8>>; 2]>,
    explanations: Vec<Option<Explained>>,
    in_force: Vec<Option<InForce>>,
    preferences: Vec<Preference>,
    /// Where each preference is stated.
    places: Vec<Option<StatedPlace>>,
    /// The licences, by record and agent.
    licenses: Vec<Vec<Vec<u8>>>,
}

fn agents(names: &[&str], dialect: &Dialect) -> Vec<Crawler> {
    names.iter().map(|name| Crawler::parse(name, dialect).unwrap()).collect()
}

fn ask(set: &Arc<PolicySet>, questions: &Questions<'_>) -> Result<SetAnswers, Damage> {
    let Questions { names, urls, times } = questions;
    let mut session = asked(set, agents(names, set.dialect()))?;
    let times = times.as_deref().map_or(Times::Now, Times::Each);
    let mut answers = session.decide(Records::from(urls).at(times))?;
    let decisions = answers.decisions_with_rules()?;
    let preferences = answers.preferences().to_vec();
    let mut asked = SetAnswers {
        decisions,
        origins: Vec::new(),
        explanations: Vec::new(),
        in_force: Vec::new(),
        preferences,
        places: Vec::new(),
        licenses: Vec::new(),
    };
    for (record, url) in urls.iter().enumerate() {
        asked.in_force.push(answers.in_force(record)?);
        for agent in 0..names.len() {
            let answer = record * names.len() + agent;
            let full = answers.rule(answer)?;
            asked.origins.push([full.rule, full.group].map(|bytes| bytes.map(Into::into)));
            let explained =
                answers.session().explain(url.as_bytes(), agent, questions.time(record))?;
            asked.explanations.push(explained.unwrap());
            let licenses = answers.licenses(answer)?;
            asked.licenses.push(licenses.collect::<Result<_, _>>()?);
            for label in 0..Label::ALL.len() {
                asked.places.push(answers.stated_at(answer, label)?);
            }
        }
    }
    Ok(asked)
}

/// Returns whether the preferences match the usage records that the set stores for these URLs.
fn is_usage_of_texts(set: &PolicySet, asked: &SetAnswers, questions: &Questions<'_>) -> bool {
    let agents = agents(questions.names, set.dialect());
    (0..asked.decisions.len()).all(|answer| {
        let (record, agent) = (answer / agents.len(), &agents[answer % agents.len()]);
        let preferences = &asked.preferences[answer * Label::ALL.len()..][..Label::ALL.len()];
        let places = &asked.places[answer * Label::ALL.len()..][..Label::ALL.len()];
        if asked.decisions[answer].verdict != Verdict::Allow {
            return preferences.iter().all(|it| *it == Preference::NoAccess)
                && asked.licenses[answer].is_empty();
        }
        let (_, rest) = questions.urls[record].split_once("://").unwrap();
        let (_, path) = rest.split_once('/').unwrap();
        let policy = questions.policy(set, record).unwrap();
        let extract = set.policy(policy).unwrap().extract().unwrap();
        let file = read_extract(&extract).unwrap();
        let rules = UsageRules::of(&file, agent, set.dialect());
        let record = |number: &u32| &file.usage_records()[*number as usize];
        let licenses = rules.licenses.iter().map(|it| record(it).value.to_vec());
        licenses.eq(asked.licenses[answer].iter().cloned())
            && Label::ALL.iter().zip(preferences).zip(places).all(|((label, answer), place)| {
                let path = format!("/{path}");
                let of_field = |rules: &LabelRules| {
                    let mut patterns = rules.patterns.iter();
                    let first = patterns.position(|it| it.matches(path.as_bytes()));
                    first.map_or(Stated::UNSTATED, |first| {
                        let record = record(&rules.records[first]);
                        let source = UsageSource::of(record.field).unwrap();
                        stated(rules.preferences[first], source, record.line)
                    })
                };
                let said = combined(rules.about(*label).each_ref().map(of_field));
                *answer == said.preference && place.as_ref().map(|place| place.line) == said.line
            })
    })
}

/// Returns whether the answers match the texts that the set stores for these URLs.
fn is_what_texts_say(set: &PolicySet, asked: &SetAnswers, questions: &Questions<'_>) -> bool {
    let states = (0..questions.urls.len()).flat_map(|url| {
        let policy = questions.policy(set, url);
        let state = policy.map(|policy| set.policy(policy).unwrap().state().unwrap());
        std::iter::repeat_n((state, questions.has_no_time(url)), questions.names.len())
    });
    let said = asked.explanations.iter().zip(states);
    asked.decisions.iter().zip(said).all(|(decision, (explanation, (state, has_no_time)))| {
        if has_no_time {
            return matches!(decision.reason, Reason::NoTime | Reason::BadUrl);
        }
        let Some(Explained { explanation, .. }) = explanation else {
            return decision.verdict == Verdict::Unknown;
        };
        let reason = match explanation.rules.first() {
            _ if explanation.robots_txt => Reason::RobotsTxt,
            _ if state != Some(PolicyState::Rules) => return decision.reason != Reason::Rule,
            Some(rule) => {
                let same = decision.verdict == rule.verdict && decision.rule == Some(rule.rule);
                return same && decision.line == Some(rule.record.line);
            }
            None if explanation.groups.is_empty() => Reason::NoGroup,
            None => Reason::NoRule,
        };
        (decision.verdict, decision.reason) == (Verdict::Allow, reason)
    })
}

/// Changes a bit, a word or the length of one section.
fn change(parts: &mut Parts, random: &mut Random) {
    let index = random.below(parts.sections.len() + 1);
    let Some((_, bytes)) = parts.sections.get_mut(index) else {
        let mut counts: [u64; 16] = zerocopy::transmute!(parts.fields.counts);
        counts[random.below(16)] = random.next_u64() >> random.below(64);
        parts.fields.counts = zerocopy::transmute!(counts);
        return;
    };
    let word = random.below(bytes.len() / 4) * 4;
    let own = (bytes.len() / 4 > 0).then(|| {
        let other = random.below(bytes.len() / 4) * 4;
        u32::from_le_bytes(bytes[other..][..4].try_into().unwrap())
    });
    let new = match random.below(10) {
        0..3 if !bytes.is_empty() => {
            let bit = random.below(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            return;
        }
        3 => {
            bytes.truncate(random.below(bytes.len()));
            return;
        }
        4 => {
            bytes.extend((0..random.below(40)).map(|n| n as u8));
            return;
        }
        5 => [0, 1, 2, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30][random.below(7)],
        6 => random.next_u64() as u32,
        7 => random.below(bytes.len()) as u32,
        _ => own.unwrap_or_default(),
    };
    if let Some(place) = bytes.get_mut(word..word + 4) {
        place.copy_from_slice(&new.to_le_bytes());
    }
}

/// The outcomes of the changes.
#[derive(Debug, Default)]
struct Outcomes {
    refused: usize,
    damaged: usize,
    same: usize,
    other: usize,
    sound: usize,
}

fn attack(bytes: Vec<u8>, names: &[&str], seed: u64, changes: usize) -> Outcomes {
    let whole = Parts::of(bytes);
    let set = Arc::new(whole.open().unwrap());
    let urls = sample::urls();
    // A host has ten URLs, so it is asked at ten of the times.
    let times = sample::times().into_iter().cycle().take(urls.len()).collect();
    let questions = Questions { names, urls, times: set.has_history().then_some(times) };
    let expected = ask(&set, &questions).unwrap();
    crate::verify(&set, &Scratch::in_memory()).unwrap();
    assert!(is_what_texts_say(&set, &expected, &questions));
    assert!(is_usage_of_texts(&set, &expected, &questions));
    let mut random = Random::new(seed);
    let mut outcomes = Outcomes::default();
    for number in 0..changes {
        let mut parts = whole.clone();
        (0..1 + random.below(2)).for_each(|_| change(&mut parts, &mut random));
        let Ok(set) = parts.open() else {
            outcomes.refused += 1;
            continue;
        };
        let set = Arc::new(set);
        let verified = crate::verify(&set, &Scratch::in_memory());
        let standings = crate::settled(&set, &Scratch::in_memory());
        assert!(verified.is_err() || standings.is_ok(), "change {number} of seed {seed}");
        if standings.is_ok() {
            let verified = crate::verify(&merged_alone(&set), &Scratch::in_memory());
            assert!(verified.is_ok(), "change {number} of seed {seed}: {verified:?}");
        }
        outcomes.sound += usize::from(verified.is_ok());
        match ask(&set, &questions) {
            Err(damage) => {
                assert!(verified.is_err(), "change {number} of seed {seed}: {damage}");
                outcomes.damaged += 1;
            }
            Ok(asked) if asked == expected => outcomes.same += 1,
            Ok(asked) => {
                // A change to another valid text, line or state cannot be detected from the file.
                // The answers must then match the changed content.
                let is_told = verified.is_err();
                let is_so = || {
                    is_what_texts_say(&set, &asked, &questions)
                        && is_usage_of_texts(&set, &asked, &questions)
                };
                assert!(is_told || is_so(), "change {number} of seed {seed}");
                outcomes.other += 1;
            }
        }
    }
    outcomes
}

/// Merges one set.
fn merged_alone(set: &PolicySet) -> PolicySet {
    let sets = [Ok::<_, crate::MergeError>(set)];
    let config = IngestConfig::of_sets(sets, &crate::SettleChoice::default());
    let mut merger = Merger::new(config.unwrap());
    merger.add(&[set]).unwrap();
    let merged = merger.finish().unwrap();
    let bytes = to_vec(&merged.standings, &merged.compiling).unwrap();
    PolicySet::from_bytes("merged.set", bytes).unwrap()
}

#[test]
fn no_content_does_harm() {
    for (dialect, seed) in [&RFC_9309, &GOOGLE, &KOSTER_1996, &ORIGINAL_1994].into_iter().zip(1..) {
        let outcomes = attack(sample::small(dialect), &sample::AGENTS, seed, 250);
        let Outcomes { damaged, same, other, sound, .. } = outcomes;
        assert!(damaged > 25 && same > 25 && other > 5 && sound > 2, "{outcomes:?}");
        assert!(sound < 50, "{outcomes:?}");
    }
}

#[test]
fn no_timeline_does_harm() {
    for (dialect, seed) in [&RFC_9309, &GOOGLE, &ORIGINAL_1994].into_iter().zip(20..) {
        let outcomes = attack(sample::with_history(dialect), &sample::AGENTS, seed, 400);
        let Outcomes { damaged, same, other, sound, .. } = outcomes;
        assert!(damaged > 40 && same > 40 && other > 8 && sound > 4, "{outcomes:?}");
    }
}

#[test]
fn no_combination_of_groups_does_harm() {
    let last = sample::last_robot();
    let outcomes = attack(sample::of_groups(&RFC_9309), &[&last, "ExampleBot"], 9, 75);
    assert!(outcomes.damaged > 5 && outcomes.same > 5, "{outcomes:?}");
}
