//! Files, each at its own origin, with questions and the oracle's answers.

use std::iter;
use std::sync::Arc;

use bstr::ByteSlice;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::{Label, Stated, Usage};
use portcullis_oracle::{Judge, decide_in_scope};
use portcullis_robots::Robots;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::split;
use portcullis_set::PolicySet;

use crate::{
    Configuration, Engine, Form, Judged, Oracle, agree, origin, scattered, set_to_compare,
};

/// The most questions that are asked in order, and the size of their blocks: few enough that most
/// blocks begin and end within the URLs of one host.
const IN_ORDER_MAX: usize = 500;
const IN_ORDER_AT_ONCE: usize = 31;

/// The oracle's answer for one agent.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Access and the statement about each label.
    pub usage: Usage,
    /// The licences of the file for the agent.
    pub licences: Arc<[Vec<u8>]>,
}

/// A URL with the oracle's answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// The file at whose origin the URL usually is.
    pub file: usize,
    /// The record.
    pub url: Vec<u8>,
    /// The answer for each agent; `None` leaves the agent out.
    pub judged: Vec<Option<Answer>>,
}

/// Files, each at its own [`origin`], with questions and the oracle's answers.
#[derive(Clone, Debug)]
pub struct World {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// Bytes of a file that are read; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// The agents.
    pub agents: Vec<Crawler>,
    /// The files.
    pub files: Vec<Vec<u8>>,
    /// The questions.
    pub questions: Vec<Question>,
    /// Whether the engine may refuse a URL that the oracle takes.
    pub may_refuse: fn(&[u8]) -> bool,
}

/// Parses agents or chains of agents joined by `+`.
pub fn agents(names: &[&str], dialect: &Dialect) -> Vec<Crawler> {
    names.iter().map(|name| Crawler::parse(name, dialect).expect("a token")).collect()
}

/// Returns the names of a chain as the oracle takes them.
pub fn names(chain: &Crawler) -> Vec<&str> {
    chain.tokens().collect()
}

impl World {
    /// Creates a world without files.
    pub fn new(
        dialect: &'static Dialect,
        robots_bytes_max: Option<usize>,
        names: &[&str],
    ) -> World {
        World {
            dialect,
            robots_bytes_max,
            agents: agents(names, dialect),
            files: Vec::new(),
            questions: Vec::new(),
            may_refuse: |_| false,
        }
    }

    /// Adds a file, and a question for each URL, which the oracle answers for each agent.
    pub fn add(&mut self, text: &[u8], urls: impl IntoIterator<Item = Vec<u8>>) {
        let robots_url = format!("{}/robots.txt", origin(self.files.len()));
        let outside = |world: &World, url: &[u8]| {
            let scope = (world.dialect, robots_url.as_bytes());
            let decision = decide_in_scope(scope.0, scope.1, b"", None, &[], url);
            let is_outside = matches!(decision.verdict, Verdict::Unknown | Verdict::Invalid);
            is_outside.then_some(decision)
        };
        self.judge(text, urls, outside);
    }

    /// Like [`World::add`] for a file that applies to every URL (see
    /// [`set_everywhere`](crate::set_everywhere)).
    pub fn add_everywhere(&mut self, text: &[u8], urls: impl IntoIterator<Item = Vec<u8>>) {
        self.judge(text, urls, |_, _| None);
    }

    /// Adds a file and its questions. `outside` returns the decision about a URL that the file does
    /// not apply to.
    fn judge(
        &mut self,
        text: &[u8],
        urls: impl IntoIterator<Item = Vec<u8>>,
        outside: impl Fn(&World, &[u8]) -> Option<Decision>,
    ) {
        let file = self.files.len();
        let judge = |agent| {
            let judge = Judge::new(self.dialect, text, self.robots_bytes_max, &names(agent));
            let licences: Arc<[Vec<u8>]> = judge.licences().into();
            (judge, licences)
        };
        let judges: Vec<_> = self.agents.iter().map(judge).collect();
        for url in urls {
            let outside = outside(self, &url);
            let judged = judges.iter().map(|(judge, licences)| {
                let usage = match outside {
                    Some(decision) => Usage::new(decision, [Stated::UNSTATED; Label::ALL.len()]),
                    None => judge.usage(&url),
                };
                Some(Answer { usage, licences: Arc::clone(licences) })
            });
            let judged = judged.collect();
            self.questions.push(Question { file, url, judged });
        }
        self.files.push(text.to_vec());
    }

    /// Returns the set of the files and of companions ([`set_to_compare`]) in this form.
    pub fn set(&self, form: Form) -> Arc<PolicySet> {
        let reading = (self.dialect, self.robots_bytes_max);
        set_to_compare(form, &self.files, reading, &self.agents)
    }

    /// Returns an engine for all agents.
    pub fn engine(&self, set: &Arc<PolicySet>, configuration: &Configuration) -> Engine {
        Engine::new(Arc::clone(set), &self.agents, configuration)
    }

    /// Asks all questions in shuffled blocks with a new memory, and returns the number of comparisons.
    /// Also asks the first ones in order and in small blocks, in which URLs of one host follow each
    /// other and hosts change.
    ///
    /// # Panics
    ///
    /// If an answer differs.
    #[track_caller]
    pub fn agrees(&self, engine: &Engine) -> u64 {
        let (questions, memory) = (self.questions.len(), &mut engine.memory());
        let compared = agree(engine, memory, self, scattered(questions), RECORDS_AT_ONCE).whole();
        agree(engine, memory, self, 0..questions.min(IN_ORDER_MAX), IN_ORDER_AT_ONCE).whole();
        compared
    }

    /// Compares the library's front door for one file with the oracle: questions within the scope of
    /// their file that are URLs, for all agents. Returns the number of comparisons.
    ///
    /// # Panics
    ///
    /// If an answer differs.
    #[track_caller]
    pub fn agrees_by_front_door(&self) -> u64 {
        let mut compared = 0;
        for questions in self.questions.chunk_by(|one, other| one.file == other.file) {
            let text = &self.files[questions[0].file];
            let robots = Robots::with_bytes_max(text, self.dialect, self.robots_bytes_max);
            for (agent, chain) in self.agents.iter().enumerate() {
                let usage = robots.agent_usage(chain);
                let numbered = || questions.iter().zip(0..);
                // Rules are tried, then compiled for a long path, and asked again.
                let compile = iter::once_with(|| usage.decide("/".repeat(16 * 1024)));
                let again = compile.flat_map(|_| numbered());
                for (Question { url, judged, .. }, number) in numbered().chain(again) {
                    let Some(Answer { usage: wanted, licences }) = &judged[agent] else { continue };
                    let verdict = wanted.access.verdict;
                    // The front door accepts paths, and URLs without a scheme, and checks no origin.
                    let is_left = matches!(verdict, Verdict::Unknown | Verdict::Invalid);
                    if is_left || split(url, self.dialect.paths.path_start).is_err() {
                        continue;
                    }
                    let given = usage.decide(url);
                    let is_refused = given.access == Decision::INVALID && (self.may_refuse)(url);
                    let access = if is_refused { given.access } else { wanted.access };
                    let wanted = Usage::new(access, wanted.stated);
                    let is_licensed = usage.licenses().eq(licences.iter().map(Vec::as_slice));
                    assert!(
                        given == wanted && is_licensed,
                        "the front door, {chain}: {given:?}, not {wanted:?} {licences:?}\n{}",
                        self.shown(&questions[number])
                    );
                    compared += 1;
                }
            }
        }
        compared
    }

    fn shown(&self, Question { file, url, .. }: &Question) -> String {
        let (dialect, text) = (self.dialect.name, self.files[*file].as_bstr());
        format!("{dialect}, limit {:?}, {}\n{text}", self.robots_bytes_max, url.as_bstr())
    }
}

impl Oracle for World {
    fn write_url(&self, question: usize, url: &mut Vec<u8>) {
        url.extend_from_slice(&self.questions[question].url);
    }

    fn judged(&self, question: usize, agent: usize) -> Option<Judged<'_>> {
        let Answer { usage, licences } = self.questions[question].judged[agent].as_ref()?;
        Some(Judged { access: usage.access, usage: Some((&usage.stated, licences)) })
    }

    fn describe(&self, question: usize) -> String {
        self.shown(&self.questions[question])
    }

    fn accepts(&self, question: usize, answer: Decision, expected: Decision) -> bool {
        let is_refused = answer == Decision::INVALID && expected.verdict != Verdict::Invalid;
        answer == expected || is_refused && (self.may_refuse)(&self.questions[question].url)
    }
}
