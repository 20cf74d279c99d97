//! The built-in engines: portcullis as it is used and as a library, a scan, and the oracle.
//!
//! [`built_in`] is the table. The scan uses portcullis's parser and order of precedence, so that only
//! the matching differs. `Numbered` selects texts by number, without hosts and URLs, and runs the
//! same code that decides for every caller.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::pattern::PatternList;
use portcullis_engine::pattern_matches;
use portcullis_oracle as oracle;
use portcullis_robots::policy::{AgentChain, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::url::{ComparedPaths, Origin};
use portcullis_robots::{AgentRules, Robots};
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::{LoadConfig, PolicySet};

use super::corpus::Corpus;
use super::engine::{Built, Engine, EngineError, Matcher, Pass, Tally};
use super::questions::{HostTable, Question, QuestionList};

/// The engine that others are compared with by default.
pub const BASELINE: &str = "portcullis";

/// Returns all built-in engines for a corpus, the baseline first.
pub fn built_in(corpus: &Corpus) -> Vec<Engine<'_>> {
    let (agent, dialect) = (&corpus.agent, corpus.dialect());
    vec![
        Engine::built_in(BASELINE, move |files| {
            // The limit on a file's size was applied when the corpus was loaded.
            Built::timed(|| {
                Ok(OneSet { corpus, numbered: Numbered::new(files, corpus), batch: None })
            })
        }),
        Engine::built_in("portcullis-alone", move |files| {
            let rules =
                |text: &&[u8]| Robots::with_bytes_max(text, dialect, None).agent_chain(agent);
            Built::timed(|| Ok(Alone(files.iter().map(rules).collect())))
        }),
        Engine::built_in("sorted-scan", move |files| {
            Built::timed(|| Ok(Scan::new(files, agent, dialect)))
        }),
        Engine {
            reads_each_time: true,
            ..Engine::built_in("oracle", move |files| {
                let (files, tokens) = (files.to_vec(), agent.tokens().collect());
                Ok(Built {
                    time: Duration::ZERO,
                    matcher: Box::new(Judge { dialect, tokens, files }),
                })
            })
        },
    ]
}

/// Texts compiled to a set in memory for one agent, and selected by number.
struct Numbered {
    session: Session,
    /// The policy of each text.
    policies: Vec<u32>,
    /// The policies of the current block.
    asked: Vec<u32>,
}

impl Numbered {
    /// Compiles all texts, without a limit on their size.
    fn new(texts: &[&[u8]], corpus: &Corpus) -> Numbered {
        let config = LoadConfig {
            robots_bytes_max: None,
            agents: Some([corpus.agent.clone()].into()),
            ..LoadConfig::new(corpus.dialect())
        };
        let origin = |number: usize| {
            let url = format!("http://h{number:08}.example/robots.txt");
            Origin::of_robots_txt(url.as_bytes()).expect("a URL")
        };
        let origins: Vec<Origin> = (0..texts.len()).map(origin).collect();
        let set = PolicySet::of_files(origins.iter().zip(texts.iter().copied()), &config);
        let number = |origin: &Origin| {
            let policy = set.policy_of(b"http", origin.key().as_bytes());
            let policy = policy.expect("what was just compiled is whole");
            policy.expect("each text has an origin").index() as u32
        };
        let policies = origins.iter().map(number).collect();
        let classifier = Classifier::new(set, vec![corpus.agent.clone()])
            .expect("it was compiled for the agent");
        Numbered { session: Session::new(classifier, None), policies, asked: Vec::new() }
    }

    /// Decides paths in normal form, each with the text of the given number.
    #[inline]
    fn decide(&mut self, texts: impl Iterator<Item = usize>, paths: &[&[u8]]) -> &[Decision] {
        self.asked.clear();
        self.asked.extend(texts.map(|text| self.policies[text]));
        let paths = ComparedPaths::assume_normal(paths);
        let decided = self.session.decide(&self.asked, paths);
        decided.expect("what was just compiled is whole")
    }
}

/// All files compiled into one set.
struct OneSet<'c> {
    corpus: &'c Corpus,
    numbered: Numbered,
    /// Created by the first batch, which is not timed.
    batch: Option<Session>,
}

impl Matcher for OneSet<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let path = [question.path.as_bytes()];
        self.numbered.decide([question.file].into_iter(), &path)[0].verdict == Verdict::Allow
    }

    /// Decides in blocks, like a batch.
    fn pass(&mut self, list: &QuestionList) -> Result<Pass, EngineError> {
        let start = Instant::now();
        let mut tally = Tally::default();
        let mut paths: Vec<&[u8]> = Vec::new();
        for (files, block) in black_box(list).blocks(RECORDS_AT_ONCE) {
            paths.clear();
            paths.extend(block);
            for decision in self.numbered.decide(files, &paths) {
                tally.add(decision.verdict == Verdict::Allow);
            }
        }
        Ok(Pass { time: start.elapsed(), tally })
    }

    /// Decides with the set of the corpus, which finds origins itself.
    fn batch(&mut self, list: &QuestionList, _: &HostTable) -> Result<Pass, EngineError> {
        let failed = |error: &dyn std::fmt::Display| EngineError(error.to_string());
        if self.batch.is_none() {
            let (set, agents) = (Arc::clone(&self.corpus.set), vec![self.corpus.agent.clone()]);
            let classifier = Classifier::new(set, agents).map_err(|error| failed(&error))?;
            self.batch = Some(Session::new(classifier, None));
        }
        let Some(session) = &mut self.batch else {
            return Err(failed(&"no session"));
        };
        let start = Instant::now();
        let mut tally = Tally::default();
        let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
        let mut urls = black_box(list).iter().map(|question| question.url);
        loop {
            block.clear();
            block.extend(urls.by_ref().take(RECORDS_AT_ONCE));
            if block.is_empty() {
                return Ok(Pass { time: start.elapsed(), tally });
            }
            let decided = session.classify(&block);
            for decision in decided.map_err(|error| failed(&error))? {
                tally.add(decision.verdict == Verdict::Allow);
            }
        }
    }

    fn bytes(&self) -> Option<u64> {
        let session = &self.numbered.session;
        Some(session.classifier().set().bytes() + session.automata_bytes() as u64)
    }
}

/// The library's front door for each file. Files share no data, as in the peers.
struct Alone(Vec<AgentRules>);

impl Matcher for Alone {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        // Two slashes at the start would be read as those before a host.
        let is_path = !question.path.starts_with("//");
        self.0[question.file].is_allowed(if is_path { question.path } else { question.url })
    }
}

/// A scan of the distinct rule sets in order of precedence. The first match decides.
struct Scan {
    sets: Vec<OrderedRules>,
    /// The rule set of each file. `None` if every URL is allowed.
    of_file: Vec<Option<usize>>,
    dialect: &'static Dialect,
}

impl Scan {
    /// Parses each file and orders the rules of the groups that apply to the agent.
    fn new(files: &[&[u8]], agent: &AgentChain, dialect: &'static Dialect) -> Scan {
        let mut known: HashMap<(PatternList, Vec<Verdict>), usize> = HashMap::new();
        let mut sets = Vec::new();
        let mut rule_set = |text: &&[u8]| {
            let file = RobotsTxt::parse(text, dialect, None);
            let groups = Selection::of(&file, agent, dialect).groups;
            if groups.is_empty() {
                return None;
            }
            let rules = OrderedRules::new(&file, &groups, &dialect.paths);
            let key = (rules.patterns.clone(), rules.verdicts.clone());
            Some(*known.entry(key).or_insert_with(|| {
                sets.push(rules);
                sets.len() - 1
            }))
        };
        let of_file = files.iter().map(&mut rule_set).collect();
        Scan { sets, of_file, dialect }
    }
}

impl Matcher for Scan {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let path = question.path.as_bytes();
        if self.dialect.paths.always_allows(path) {
            return true;
        }
        let Some(set) = self.of_file[question.file] else { return true };
        let rules = &self.sets[set];
        let first = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
        first.is_none_or(|first| rules.verdicts[first] == Verdict::Allow)
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.sets.iter().map(|rules| rules.patterns.memory_bytes() as u64).sum())
    }
}

/// The oracle, which reads the whole file for each question.
struct Judge<'c> {
    dialect: &'static Dialect,
    tokens: Vec<&'c str>,
    files: Vec<&'c [u8]>,
}

impl Matcher for Judge<'_> {
    fn allows(&mut self, question: Question<'_>) -> bool {
        let (text, url) = (self.files[question.file], question.url.as_bytes());
        oracle::decide(self.dialect, text, None, &self.tokens, url).verdict == Verdict::Allow
    }
}
