//! The built-in engines: portcullis as a set, portcullis for one file, other ways to find the first of the
//! same rules that matches, and the oracle. [`built_in`] is the table.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use aho_corasick::AhoCorasick;
use anyhow::Result;
use portcullis_build::{LoadConfig, load_files};
use portcullis_dialect::decision::{Answer, Decision, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::{GaveUp, LazyDfa};
use portcullis_oracle as oracle;
use portcullis_robots::policy::{Crawler, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::url::Origin;
use portcullis_robots::{AgentRules, Robots};
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, RecordPolicy, Session};
use portcullis_set::stored::PolicyNumber;

use super::corpus::Corpus;
use super::engine::{Ask, Engine, Matcher, Pass, Tally, body_of};
use super::questions::{HostTable, Question, QuestionList};

/// Returns all built-in engines for a corpus.
pub fn built_in(corpus: &Corpus) -> Vec<Engine<'_>> {
    let (agent, dialect) = (&corpus.agent, corpus.dialect());
    let tokens: Vec<&str> = agent.tokens().collect();
    vec![
        Engine::built_in("portcullis", move |files| OneSet::new(files, corpus)),
        Engine {
            normalises: true,
            ..Engine::built_in("portcullis-file", move |files| Ok(Files::new(files, corpus)))
        },
        searched(corpus, "sorted-scan", |_| Ok(()), |(), rules, path| first_match(rules, path)),
        Engine {
            version: "1.1".to_owned(), // as the manifest has it
            ..searched(corpus, "aho-corasick", LiteralSearch::of, |search, rules, path| {
                search.as_ref().map_or_else(|| first_match(rules, path), |it| it.first(rules, path))
            })
        },
        Engine {
            version: "0.4".to_owned(), // as the manifest has it
            ..searched(corpus, "regex-automata", lazy_dfa, |automaton, rules, path| {
                let first = automaton.borrow_mut().first_match(path);
                first.unwrap_or_else(|GaveUp| first_match(rules, path))
            })
        },
        Engine {
            reads_each_time: true,
            normalises: true,
            ..Engine::per_file("oracle", Ok, move |text: &&[u8], question| {
                let url = question.url.as_bytes();
                oracle::decide(dialect, text, None, &tokens, url).verdict == Verdict::Allow
            })
        },
    ]
}

/// The front door for one file, for each file.
struct Files<'c> {
    agent: &'c Crawler,
    dialect: &'static Dialect,
    /// The text of each file, and its rules for the agent. Nobody needs the parsed file after that.
    files: Vec<(&'c [u8], AgentRules)>,
    /// The line of the deciding rule of each URL of the last list that was compared.
    lines: Vec<u32>,
}

impl<'c> Files<'c> {
    fn new(files: &[&'c [u8]], corpus: &'c Corpus) -> Files<'c> {
        let file = |&text: &&'c [u8]| {
            let robots = Robots::with_bytes_max(text, corpus.dialect(), None);
            (text, robots.agent(&corpus.agent))
        };
        let files = files.iter().map(file).collect();
        let (agent, dialect, lines) = (&corpus.agent, corpus.dialect(), Vec::new());
        Files { agent, dialect, files, lines }
    }
}

/// Returns the question as the front door takes it. A path with two slashes would be a URL without its
/// scheme, and one without a slash is no path.
fn record<'q>(question: &Question<'q>) -> &'q str {
    let is_path = question.path.starts_with('/') && !question.path.starts_with("//");
    if is_path { question.path } else { question.url }
}

impl Matcher for Files<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> Option<bool> {
        Some(self.files[question.file].1.is_allowed(record(&question)))
    }

    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>> {
        let decide = |it: Question<'_>| self.files[it.file].1.decide(record(&it));
        let decisions: Vec<Decision> = list.iter().map(decide).collect();
        let line = |it: &Decision| it.line.map_or(0, LineNumber::get);
        self.lines = decisions.iter().map(line).collect();
        Ok(decisions.iter().map(|it| Some(it.verdict == Verdict::Allow)).collect())
    }

    fn tell(&mut self, ask: Ask) -> Result<Option<Vec<String>>> {
        let delay = |(_, rules): &(&[u8], AgentRules)| {
            rules.crawl_delay().map_or("-".to_owned(), |it| it.as_secs_f64().to_string())
        };
        let sitemaps = |(text, _): &(&[u8], AgentRules)| {
            let robots = Robots::with_bytes_max(text, self.dialect, None);
            robots.sitemaps().collect::<Vec<_>>().join(" ")
        };
        let files = self.files.iter();
        Ok(Some(match ask {
            Ask::Lines => self.lines.iter().map(u32::to_string).collect(),
            Ask::Delays => files.map(delay).collect(),
            Ask::Sitemaps => files.map(sitemaps).collect(),
            Ask::Status { status, redirects } => {
                // The caller follows redirects; one too many is its answer.
                let is_followed = redirects <= self.dialect.access.redirects_max;
                let status = if is_followed { status } else { 301 };
                let body = body_of(status);
                let robots = Robots::from_response_as(status, body, self.dialect);
                let is_allowed = robots.agent(self.agent).is_allowed("/x");
                vec![u8::from(is_allowed).to_string()]
            }
        }))
    }
}

/// Returns an engine with another way to find the first pattern that matches, over the parser and the
/// order of portcullis: `prepare` makes the search of a rule set, and `first` searches for a path.
fn searched<'c, S: 'c>(
    corpus: &'c Corpus,
    name: &str,
    prepare: impl Fn(&OrderedRules) -> Result<S, String> + 'c,
    first: impl Fn(&S, &OrderedRules, &[u8]) -> Option<usize> + Clone + 'c,
) -> Engine<'c> {
    let dialect = corpus.dialect();
    let build = move |text: &[u8]| {
        let file = RobotsTxt::parse(text, dialect, None);
        let groups = Selection::of(&file, &corpus.agent, dialect).groups;
        let rules = OrderedRules::new(&file, &groups, &dialect.paths);
        Ok((prepare(&rules)?, rules))
    };
    Engine::per_file(name, build, move |(search, rules), question| {
        let path = question.path.as_bytes();
        dialect.paths.always_allows(path)
            || first(search, rules, path).is_none_or(|rule| rules.verdicts[rule] == Verdict::Allow)
    })
}

/// Tries the patterns in order of precedence.
fn first_match(rules: &OrderedRules, path: &[u8]) -> Option<usize> {
    rules.patterns.iter().position(|pattern| pattern.matches(path))
}

fn lazy_dfa(rules: &OrderedRules) -> Result<RefCell<LazyDfa>, String> {
    let automaton = LazyDfa::new(rules.patterns.iter());
    Ok(RefCell::new(automaton.ok_or("too many positions for regex-automata")?))
}

/// A search for the longest literal of each pattern. The patterns found are matched in order of
/// precedence.
struct LiteralSearch {
    automaton: AhoCorasick,
    /// By literal: the patterns that need it.
    patterns: Vec<Vec<usize>>,
    /// The patterns that have no literal.
    others: Vec<usize>,
}

/// The most bytes of patterns of a search: the construction is quadratic where literals nest. Larger
/// rule sets are scanned.
const LITERAL_BYTES_MAX: usize = 64 << 10;

impl LiteralSearch {
    /// Returns the search for a rule set; `None` if it is too large.
    fn of(rules: &OrderedRules) -> Result<Option<LiteralSearch>, String> {
        if rules.patterns.byte_len() > LITERAL_BYTES_MAX {
            return Ok(None);
        }
        let mut by_literal: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (place, pattern) in rules.patterns.iter().enumerate() {
            let longest = pattern.literals().max_by_key(|literal| literal.len());
            by_literal.entry(longest.unwrap_or_default()).or_default().push(place);
        }
        let others = by_literal.remove(&b""[..]).unwrap_or_default();
        let automaton = AhoCorasick::new(by_literal.keys()).map_err(|error| error.to_string())?;
        let patterns = by_literal.into_values().collect();
        Ok(Some(LiteralSearch { automaton, patterns, others }))
    }

    fn first(&self, rules: &OrderedRules, path: &[u8]) -> Option<usize> {
        let found = self.automaton.find_overlapping_iter(path);
        let found = found.flat_map(|it| &self.patterns[it.pattern().as_usize()]);
        let mut candidates: Vec<usize> = found.chain(&self.others).copied().collect();
        candidates.sort_unstable();
        candidates.into_iter().find(|&place| rules.patterns.get(place).matches(path))
    }
}

/// All files compiled into one set in memory, and selected by number.
struct OneSet<'c> {
    corpus: &'c Corpus,
    session: Session,
    /// The policy of each file.
    policies: Vec<PolicyNumber>,
    /// The policies of the current block.
    asked: Vec<RecordPolicy>,
    /// Asks the set of the corpus, which finds origins itself. Made by the first batch, which is not timed.
    batch: Option<Session>,
}

impl<'c> OneSet<'c> {
    /// Compiles all files. The limit on their size was applied when the corpus was loaded.
    fn new(files: &[&[u8]], corpus: &'c Corpus) -> Result<OneSet<'c>> {
        let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(corpus.dialect()) };
        let origin = |number: usize| {
            let url = format!("http://h{number:08}.example/robots.txt");
            Origin::from_robots_txt(url.as_bytes()).expect("a URL")
        };
        let origins: Vec<Origin> = (0..files.len()).map(origin).collect();
        let set = load_files(origins.iter().zip(files.iter().copied()), &config);
        let number = |origin: &Origin| {
            let policy = set.policy_of(b"http", origin.key().as_bytes())?;
            anyhow::Ok(policy.expect("each file has an origin"))
        };
        let policies = origins.iter().map(number).collect::<Result<_>>()?;
        let session = session(Arc::new(set), corpus)?;
        Ok(OneSet { corpus, session, policies, asked: Vec::new(), batch: None })
    }

    /// Decides paths in normal form, each with the file of the given number.
    #[inline]
    fn decide(&mut self, files: impl Iterator<Item = usize>, paths: &[&[u8]]) -> Result<&[Answer]> {
        self.asked.clear();
        self.asked.extend(files.map(|file| RecordPolicy::from(self.policies[file])));
        Ok(self.session.decide_paths(&self.asked, paths)?)
    }
}

fn session(set: Arc<PolicySet>, corpus: &Corpus) -> Result<Session> {
    Ok(Session::new(Classifier::new(set, vec![corpus.agent.clone()])?))
}

impl Matcher for OneSet<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> Option<bool> {
        let decided = self.decide([question.file].into_iter(), &[question.path.as_bytes()]);
        decided.ok().map(|answers| answers[0].is_allowed())
    }

    /// Decides in blocks, like a batch.
    fn pass(&mut self, list: &QuestionList) -> Result<Pass> {
        let start = Instant::now();
        let mut tally = Tally::default();
        let mut paths: Vec<&[u8]> = Vec::new();
        for (files, block) in black_box(list).blocks(RECORDS_AT_ONCE) {
            paths.clear();
            paths.extend(block);
            let decisions = self.decide(files, &paths)?;
            decisions.iter().for_each(|it| tally.add(it.is_allowed()));
        }
        Ok(Pass { time: start.elapsed(), tally })
    }

    fn batch(&mut self, list: &QuestionList, _: &HostTable) -> Result<Pass> {
        let batch = match &mut self.batch {
            Some(batch) => batch,
            none => none.insert(session(Arc::clone(&self.corpus.set), self.corpus)?),
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
            let answers = batch.decide(&block)?;
            answers.decisions().iter().for_each(|it| tally.add(it.is_allowed()));
        }
    }
}
