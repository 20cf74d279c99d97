//! Compares usage preferences with the oracle's: for one file and several, one by one and in
//! blocks, in every kind of set.

use std::sync::Arc;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::{Label, Stated, Usage};
use portcullis_oracle::Judge;
use portcullis_robots::Robots;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::target::split;
use portcullis_set::batch::{Classifier, Session, Vectors};
use portcullis_set::{LoadConfig, PolicySet};

use crate::common::{at_origin, configurations, scattered, sets_of};
use crate::decide::{Question, differs, expected};

/// A URL with its file, and the oracle's answer.
struct Judged<'q> {
    file: &'q [u8],
    url: Vec<u8>,
    usage: Usage,
    licences: Vec<Vec<u8>>,
}

/// Checks an input of [`decide`](crate::decide). A file without usage records is left to that
/// target.
///
/// # Panics
///
/// If a preference, its line, its source or the licences differ from the oracle's.
pub fn usage(data: &[u8]) {
    let Some(question) = Question::read(data) else { return };
    let file = RobotsTxt::parse(question.robots, question.config.dialect, None);
    if file.usage_records().is_empty() {
        return;
    }
    let judged: Vec<Judged<'_>> =
        question.urls.iter().map(|url| judge(&question, question.robots, url.clone())).collect();
    check_front_door(&question, &judged);
    let set = Arc::new(PolicySet::of_text(question.robots, &question.config));
    for configuration in configurations() {
        let agents = vec![question.agent.clone()];
        let limits = configuration.limits;
        let classifier = Classifier::with_limits(Arc::clone(&set), agents, limits).unwrap();
        let mut session = Session::new(classifier.with_usage(&Label::ALL), None);
        for judged in &judged {
            session.classify(&[&judged.url]).unwrap();
            check(configuration.name, &question, &mut session, (0, judged));
        }
    }
    check_blocks(&question);
}

fn judge<'q>(question: &Question<'_>, file: &'q [u8], url: Vec<u8>) -> Judged<'q> {
    let tokens: Vec<&str> = question.agent.tokens().collect();
    let LoadConfig { dialect, robots_bytes_max, .. } = question.config;
    let judge = Judge::new(dialect, file, robots_bytes_max, &tokens);
    Judged { file, usage: judge.usage(&url), licences: judge.licences(), url }
}

fn check_front_door(question: &Question<'_>, judged: &[Judged<'_>]) {
    let LoadConfig { dialect, robots_bytes_max, .. } = question.config;
    let robots = Robots::with_bytes_max(question.robots, dialect, robots_bytes_max);
    let agent = robots.agent_chain_usage(&question.agent);
    for Judged { file, url, usage, licences } in judged {
        // The facade for one file assumes a scheme and accepts paths. Sets and the oracle do
        // neither.
        if split(url, dialect.paths.path_start).is_err() {
            continue;
        }
        let found = agent.decide(url);
        let access = expected(url, usage.access, found.access);
        let wanted = Usage::new(access, usage.stated);
        let differs = || differs("front door", &question.config, &question.agent, url, file);
        assert!(found == wanted, "{}", differs());
        assert!(agent.licenses().eq(licences.iter().map(Vec::as_slice)), "{}", differs());
    }
}

/// Checks the file, its halves and an empty file, each on its own origin, in one block.
fn check_blocks(question: &Question<'_>) {
    let (first, second) = question.robots.split_at(question.robots.len() / 2);
    let files = [question.robots, first, second, b""];
    let LoadConfig { dialect, robots_bytes_max, .. } = question.config;
    let mut judged = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let own = question.urls.iter().filter_map(|url| at_origin(url, dialect, number));
        judged.extend(own.map(|url| judge(question, file, url)));
    }
    if judged.is_empty() {
        return;
    }
    let order: Vec<usize> = scattered(RECORDS_AT_ONCE).map(|at| at % judged.len()).collect();
    let block: Vec<&[u8]> = order.iter().map(|&at| &*judged[at].url).collect();
    let agents: [AgentChain; 1] = [question.agent.clone()];
    for (kind, set) in sets_of(&files, (dialect, robots_bytes_max), &agents) {
        for vectors in Vectors::all() {
            let classifier = Classifier::new(Arc::clone(&set), agents.to_vec()).unwrap();
            let classifier = classifier.with_usage(&Label::ALL).with_vectors(vectors);
            let mut session = Session::new(classifier, None);
            session.classify(&block).unwrap();
            for (place, &at) in order.iter().enumerate() {
                let how = format!("a block by a {kind} set with {vectors:?}");
                check(&how, question, &mut session, (place, &judged[at]));
            }
        }
    }
}

/// Checks the answer about the record at a place in the last classified block.
fn check(
    how: &str,
    question: &Question<'_>,
    session: &mut Session,
    (place, judged): (usize, &Judged<'_>),
) {
    let Judged { file, url, usage, licences } = judged;
    let decision = session.full_decision(place, 0).unwrap().decision;
    let access = expected(url, usage.access, decision);
    let wanted = Usage::new(access, usage.stated);
    let stated = |label: Label| {
        let preference = session.preferences()[place * Label::ALL.len() + label as usize];
        let at = session.stated_at(place, 0, label as usize).unwrap();
        let (source, line) = at.map(|at| (at.source, at.line)).unzip();
        Stated { preference, source, line }
    };
    let differs = || {
        let how = format!("{how}: {wanted:?}, {licences:?}");
        differs(&how, &question.config, &question.agent, url, file)
    };
    let access = decision;
    assert!(Usage { access, stated: Label::ALL.map(stated) } == wanted, "{}", differs());
    let told = session.licenses(place, 0).unwrap();
    let told: Vec<Vec<u8>> = told.collect::<Result<_, _>>().unwrap();
    let has_licences = access.verdict == Verdict::Allow;
    assert!(told == if has_licences { &licences[..] } else { &[] }, "{}", differs());
}
