//! The built-in engines: variants of portcullis, other constructions over its patterns, and the
//! oracle.
//!
//! [`built_in`] is the table. The other constructions use portcullis's parser, order of precedence
//! and shared rule sets, so that only the matching differs. `Numbered` selects texts by number,
//! without hosts and URLs, and runs the same code that decides for every caller.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aho_corasick::AhoCorasick;
use portcullis_build::{LoadConfig, load_files};
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::pattern::PatternList;
use portcullis_engine::{GaveUp, LazyDfa, Limits};
use portcullis_oracle as oracle;
use portcullis_robots::policy::{Crawler, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::url::Origin;
use portcullis_set::batch::{Classifier, Session};

use super::corpus::Corpus;
use super::engine::{Built, Engine, EngineError, Matcher, Pass, Tally};
use super::questions::{HostTable, Question, QuestionList};

/// The engine that others are compared with by default.
pub const BASELINE: &str = "portcullis";

/// Returns all built-in engines for a corpus, the baseline first.
pub fn built_in(corpus: &Corpus) -> Vec<Engine<'_>> {
    let usual = Limits::default();
    let lazy = Limits { candidates_tried_max: None, ..usual };
    let scan = Limits { dfa_pattern_bytes_max: 0, ..lazy };
    let (agent, dialect) = (&corpus.agent, corpus.dialect());
    vec![
        one_set(corpus, BASELINE, usual),
        Engine::built_in("portcullis-alone", move |files| {
            let alone = |text: &&[u8]| Numbered::new(&[text], agent, dialect, usual);
            Built::timed(|| Ok(Alone(files.iter().map(alone).collect())))
        }),
        one_set(corpus, "portcullis-lazy", lazy),
        one_set(corpus, "portcullis-scan", scan),
        Engine::built_in("sorted-scan", move |files| {
            Built::timed(|| Ok(Scan(RuleSets::of(files, agent, dialect))))
        }),
        Engine {
            version: "1.1".to_owned(), // as the manifest has it
            ..Engine::built_in("aho-corasick", move |files| {
                Built::timed(|| Literals::new(RuleSets::of(files, agent, dialect)))
            })
        },
        Engine {
            version: "0.4".to_owned(), // as the manifest has it
            ..Engine::built_in("regex-automata", move |files| {
                Built::timed(|| Regex::new(RuleSets::of(files, agent, dialect)))
            })
        },
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

/// Returns an engine with all files compiled into one set.
fn one_set<'c>(corpus: &'c Corpus, name: &str, limits: Limits) -> Engine<'c> {
    Engine::built_in(name, move |files| {
        Built::timed(|| {
            // The limit on a file's size was applied when the corpus was loaded.
            let numbered = Numbered::new(files, &corpus.agent, corpus.dialect(), limits);
            Ok(OneSet { corpus, limits, numbered, session: None })
        })
    })
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
    fn new(
        texts: &[&[u8]],
        agent: &Crawler,
        dialect: &'static Dialect,
        limits: Limits,
    ) -> Numbered {
        let config = LoadConfig {
            robots_bytes_max: None,
            agents: Some([agent.clone()].into()),
            ..LoadConfig::new(dialect)
        };
        let origin = |number: usize| {
            let url = format!("http://h{number:08}.example/robots.txt");
            Origin::from_robots_txt(url.as_bytes()).expect("a URL")
        };
        let origins: Vec<Origin> = (0..texts.len()).map(origin).collect();
        let set = load_files(origins.iter().zip(texts.iter().copied()), &config);
        let number = |origin: &Origin| {
            let policy = set.policy_of(b"http", origin.key().as_bytes());
            let policy = policy.expect("what was just compiled is whole");
            policy.expect("each text has an origin").index() as u32
        };
        let policies = origins.iter().map(number).collect();
        let classifier = Classifier::with_limits(set, vec![agent.clone()], limits)
            .expect("it was compiled for the agent");
        Numbered { session: Session::new(classifier), policies, asked: Vec::new() }
    }

    /// Decides paths in normal form, each with the text of the given number.
    #[inline]
    fn decide(&mut self, texts: impl Iterator<Item = usize>, paths: &[&[u8]]) -> &[Decision] {
        self.asked.clear();
        self.asked.extend(texts.map(|text| self.policies[text]));
        let decided = self.session.decide_paths(&self.asked, paths);
        decided.expect("what was just compiled is whole")
    }

    /// Whether a text allows a path.
    #[inline]
    fn allows(&mut self, text: usize, path: &[u8]) -> bool {
        self.decide([text].into_iter(), &[path])[0].verdict == Verdict::Allow
    }

    /// Returns the bytes of the set and of the automata built for its questions.
    fn bytes(&self) -> u64 {
        self.session.classifier().set().bytes() + self.session.automata_bytes() as u64
    }
}

struct OneSet<'c> {
    corpus: &'c Corpus,
    limits: Limits,
    numbered: Numbered,
    /// Created by the first batch, which is not timed.
    session: Option<Session>,
}

impl Matcher for OneSet<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        self.numbered.allows(question.file, question.path.as_bytes())
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
        if self.session.is_none() {
            let (set, agents) = (Arc::clone(&self.corpus.set), vec![self.corpus.agent.clone()]);
            let made = Classifier::with_limits(set, agents, self.limits);
            let classifier = made.map_err(|error| failed(&error))?;
            self.session = Some(Session::new(classifier));
        }
        let Some(session) = &mut self.session else {
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
            let answers = session.decide(&block).map_err(|error| failed(&error))?;
            for decision in answers.decisions() {
                tally.add(decision.verdict == Verdict::Allow);
            }
        }
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.numbered.bytes())
    }
}

/// A set for each file. Files share no data, as in the peers.
struct Alone(Vec<Numbered>);

impl Matcher for Alone {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        self.0[question.file].allows(0, question.path.as_bytes())
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.0.iter().map(Numbered::bytes).sum())
    }
}

/// Distinct rule sets in order of precedence, and the rule set of each file.
struct RuleSets {
    sets: Vec<OrderedRules>,
    /// The rule set of each file. `None` if every URL is allowed.
    of_file: Vec<Option<u32>>,
    dialect: &'static Dialect,
}

impl RuleSets {
    /// Parses each file and orders the rules of the groups that apply to the agent.
    fn of(files: &[&[u8]], agent: &Crawler, dialect: &'static Dialect) -> RuleSets {
        let mut known: HashMap<(PatternList, Vec<Verdict>), u32> = HashMap::new();
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
                sets.len() as u32 - 1
            }))
        };
        let of_file = files.iter().map(&mut rule_set).collect();
        RuleSets { sets, of_file, dialect }
    }

    /// Returns the rule set that decides, or `None` if the URL is allowed regardless of rules.
    #[inline]
    fn rule_set(&self, question: Question<'_>) -> Option<usize> {
        if self.dialect.paths.always_allows(question.path.as_bytes()) {
            return None;
        }
        self.of_file[question.file].map(|set| set as usize)
    }
}

/// Tries the patterns in order of precedence. The first match decides.
fn first_match_allows(rules: &OrderedRules, path: &[u8]) -> bool {
    let first = rules.patterns.iter().position(|pattern| pattern.matches(path));
    first.is_none_or(|first| rules.verdicts[first] == Verdict::Allow)
}

/// A scan of the patterns in order of precedence. The first match decides.
struct Scan(RuleSets);

impl Matcher for Scan {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Some(set) = self.0.rule_set(question) else { return true };
        first_match_allows(&self.0.sets[set], question.path.as_bytes())
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.0.sets.iter().map(|rules| rules.patterns.byte_len() as u64).sum())
    }
}

/// A search for the longest literal of each pattern. The patterns found are matched in order of
/// precedence.
struct Literals {
    rule_sets: RuleSets,
    searches: Vec<Option<LiteralSearch>>,
    candidates: Vec<usize>,
}

/// The most bytes of literals of a rule set: the construction is quadratic where literals nest.
/// Larger rule sets are scanned.
const LITERAL_BYTES_MAX: usize = 64 << 10;

struct LiteralSearch {
    automaton: AhoCorasick,
    /// By literal: the patterns that need it.
    patterns: Vec<Vec<usize>>,
    /// The patterns that have no literal.
    others: Vec<usize>,
}

impl LiteralSearch {
    /// Returns the search for a rule set; `None` if it is too large.
    fn of(rules: &OrderedRules) -> Result<Option<LiteralSearch>, EngineError> {
        if rules.patterns.byte_len() > LITERAL_BYTES_MAX {
            return Ok(None);
        }
        let mut by_literal: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (place, pattern) in rules.patterns.iter().enumerate() {
            let longest = pattern.literals().max_by_key(|literal| literal.len());
            by_literal.entry(longest.unwrap_or_default()).or_default().push(place);
        }
        let others = by_literal.remove(&b""[..]).unwrap_or_default();
        let automaton = AhoCorasick::new(by_literal.keys());
        let automaton = automaton.map_err(|error| EngineError(error.to_string()))?;
        let patterns = by_literal.into_values().collect();
        Ok(Some(LiteralSearch { automaton, patterns, others }))
    }
}

impl Literals {
    fn new(rule_sets: RuleSets) -> Result<Literals, EngineError> {
        let searches = rule_sets.sets.iter().map(LiteralSearch::of).collect::<Result<_, _>>()?;
        Ok(Literals { rule_sets, searches, candidates: Vec::new() })
    }
}

impl Matcher for Literals {
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Some(set) = self.rule_sets.rule_set(question) else { return true };
        let (rules, path) = (&self.rule_sets.sets[set], question.path.as_bytes());
        let Some(search) = &self.searches[set] else { return first_match_allows(rules, path) };
        self.candidates.clear();
        self.candidates.extend(&search.others);
        for found in search.automaton.find_overlapping_iter(path) {
            self.candidates.extend(&search.patterns[found.pattern().as_usize()]);
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let matches = |&&place: &&usize| rules.patterns.get(place).matches(path);
        let first = self.candidates.iter().find(matches);
        first.is_none_or(|&first| rules.verdicts[first] == Verdict::Allow)
    }

    fn bytes(&self) -> Option<u64> {
        let bytes = |search: &LiteralSearch| search.automaton.memory_usage() as u64;
        Some(self.searches.iter().flatten().map(bytes).sum())
    }

    fn note(&self) -> Option<String> {
        let scanned = self.searches.iter().filter(|search| search.is_none()).count();
        let (all, kib) = (self.searches.len(), LITERAL_BYTES_MAX >> 10);
        (scanned > 0)
            .then(|| format!("{scanned} of {all} rule sets exceed {kib} KiB and are scanned"))
    }
}

/// An automaton of regex-automata for each rule set.
struct Regex {
    rule_sets: RuleSets,
    automata: Vec<LazyDfa>,
}

impl Regex {
    fn new(rule_sets: RuleSets) -> Result<Regex, EngineError> {
        let build = |rules: &OrderedRules| LazyDfa::new(rules.patterns.iter());
        let automata = rule_sets.sets.iter().map(build).collect::<Option<_>>();
        let automata = automata.ok_or_else(|| {
            EngineError("the patterns have too many positions for regex-automata".to_owned())
        })?;
        Ok(Regex { rule_sets, automata })
    }
}

impl Matcher for Regex {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Some(set) = self.rule_sets.rule_set(question) else { return true };
        let path = question.path.as_bytes();
        let rules = &self.rule_sets.sets[set];
        match self.automata[set].first_match(path) {
            Ok(first) => first.is_none_or(|first| rules.verdicts[first] == Verdict::Allow),
            Err(GaveUp) => first_match_allows(rules, path),
        }
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.automata.iter().map(|automaton| automaton.memory_bytes() as u64).sum())
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
