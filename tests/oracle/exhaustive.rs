//! Every strategy of the engine on all small inputs: all patterns, all pairs of patterns and all
//! sequences of records up to a size.
//!
//! A decision depends on a path only through the rules that match it. So the oracle decides one
//! path of each kind in full, and each pattern is matched with each path once, however many rule
//! sets contain the pattern. A seeded sample of comparisons with the full oracle checks that this
//! shortcut is valid.
//!
//! Decisions are made from URLs in shuffled blocks over many files, as `classify` makes them.
//! Vector widths alternate, and so do sets that are compiled into memory, read and mapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::ByteSlice;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::vectors::Vectors;
use portcullis_oracle as oracle;
use portcullis_set::PolicySet;
use portcullis_testkit::{
    Agreement, Configuration, Engine, Form, Judged, Oracle, Random, World, agents, agree,
    configurations, origin, scattered, set_to_compare, words,
};
use rayon::prelude::*;

/// The bytes of patterns.
const PATTERN_ALPHABET: &[u8] = b"a/*$%";

/// The bytes of paths. With `a` and `b` as digits, `%` starts triplets; it comes last.
const PATH_ALPHABET: &[u8] = b"ab/%";

/// The agent; no file names it.
const AGENT: &str = "ExampleBot";

/// One comparison in this many uses the oracle in full.
const SAMPLED_ONE_IN: usize = 2_000;

/// The number of files that a thread decides with one memory.
const FILES_AT_ONCE: usize = 256;

/// The number of files whose questions are shuffled together. More would not fit into CPU caches.
const FILES_MIXED: usize = 32;

/// One share of work in this many also compares rules, for each width of vectors.
const RULES_ONE_IN: usize = 4;

/// One share of work in this many is decided one by one instead of in blocks, for each of those.
const ASKED_SINGLY_ONE_IN: usize = 4;

/// Returns groups of dialects that compare paths alike; the oracle runs for one dialect per group.
fn dialects_by_paths() -> impl Iterator<Item = &'static [&'static Dialect]> {
    static ALL: [&Dialect; 5] = Dialect::ALL;
    ALL.chunk_by(|one, other| one.paths == other.paths)
}

/// Returns all configurations but the default. For rule sets of this size, one of them equals the
/// default.
fn strategies() -> Vec<Configuration> {
    configurations()[1..].to_vec()
}

/// All patterns and all paths up to a length, and which match according to the oracle.
struct Matches {
    patterns: Vec<Vec<u8>>,
    paths: Vec<Vec<u8>>,
    /// By pattern, then by path.
    rows: Vec<Vec<bool>>,
}

impl Matches {
    fn new(dialect: &Dialect, patterns: (&[u8], usize), path_bytes_max: usize) -> Matches {
        let patterns = words(patterns.0, patterns.1);
        let path = |word: &Vec<u8>| [b"/", &word[..]].concat();
        // Patterns without a `%` take one in a path for any other byte.
        let has_percent = patterns.iter().any(|pattern| pattern.contains(&b'%'));
        let alphabet = &PATH_ALPHABET[..PATH_ALPHABET.len() - usize::from(!has_percent)];
        let paths: Vec<Vec<u8>> = words(alphabet, path_bytes_max).iter().map(path).collect();
        let compared = |path: &Vec<u8>| {
            let url = [b"https://example.com", &path[..]].concat();
            oracle::compared_path(dialect, &url).expect("a URL")
        };
        let compared: Vec<Vec<u8>> = paths.iter().map(compared).collect();
        let row = |pattern: &Vec<u8>| {
            let matches = |path: &Vec<u8>| oracle::pattern_matches(dialect, pattern, path);
            compared.iter().map(matches).collect()
        };
        Matches { rows: patterns.par_iter().map(row).collect(), paths, patterns }
    }
}

/// A file with one or two rules.
struct File {
    text: Vec<u8>,
    origin: String,
    /// The indexes of its rules' patterns.
    patterns: [usize; 2],
    /// The oracle's decision for each set of matching patterns, as bits, if the set occurs.
    judged: [Option<Decision>; 4],
}

/// Files of one dialect, each at its own origin, and all paths.
struct SmallWorld<'m> {
    dialect: &'static Dialect,
    matches: &'m Matches,
    files: Vec<File>,
}

impl<'m> SmallWorld<'m> {
    /// Compiles files from the rules of each: a field and the index of a pattern.
    fn new(
        dialect: &'static Dialect,
        matches: &'m Matches,
        files: Vec<Vec<(&str, usize)>>,
    ) -> SmallWorld<'m> {
        let mut world = SmallWorld { dialect, matches, files: Vec::new() };
        let files = files.par_iter().enumerate();
        world.files = files.map(|(number, rules)| world.file(number, rules)).collect();
        world
    }

    fn file(&self, number: usize, rules: &[(&str, usize)]) -> File {
        let mut text = b"User-agent: *\n".to_vec();
        for &(field, pattern) in rules {
            text.extend([field.as_bytes(), b": ", &self.matches.patterns[pattern], b"\n"].concat());
        }
        let patterns = [rules[0].1, rules[rules.len() - 1].1];
        let mut file = File { text, origin: origin(number), patterns, judged: [None; 4] };
        let judge = oracle::Judge::new(self.dialect, &file.text, None, &[AGENT]);
        let mut judged = file.judged;
        for (number, path) in self.matches.paths.iter().enumerate() {
            judged[self.kind(&file, number)]
                .get_or_insert_with(|| judge.decide(&[b"https://example.com", &path[..]].concat()));
        }
        file.judged = judged;
        file
    }

    /// Returns which of a file's patterns match a path.
    fn kind(&self, file: &File, path: usize) -> usize {
        let [first, second] = file.patterns.map(|pattern| self.matches.rows[pattern][path]);
        usize::from(first) | usize::from(second) << 1
    }

    /// Returns the file and the path of a question.
    fn parts(&self, question: usize) -> (&File, usize) {
        let paths = self.matches.paths.len();
        (&self.files[question / paths], question % paths)
    }

    fn set(&self, form: Form) -> Arc<PolicySet> {
        let texts: Vec<&[u8]> = self.files.iter().map(|file| &*file.text).collect();
        set_to_compare(form, &texts, (self.dialect, None), &agents(&[AGENT], self.dialect))
    }

    /// Decides all files and paths, and returns the number of compared answers.
    fn compare(&self, set: &Arc<PolicySet>, configuration: &Configuration) -> u64 {
        let agents = agents(&[AGENT], self.dialect);
        let engine = |number: usize, vectors| {
            let configuration = match number.is_multiple_of(RULES_ONE_IN) {
                true => *configuration,
                false => configuration.without_rules(),
            };
            Engine::new(Arc::clone(set), &agents, &configuration).with_vectors(vectors)
        };
        let numbers = 0..RULES_ONE_IN;
        let of_each = |vectors| numbers.clone().map(move |number| (number, vectors));
        let engines = Vectors::all().into_iter().flat_map(of_each);
        let engines: Vec<Engine> = engines.map(|(it, vectors)| engine(it, vectors)).collect();
        let paths = self.matches.paths.len();
        let share = |(number, files): (usize, &[File])| {
            let engine = &engines[number % engines.len()];
            let is_singly = (number / engines.len()).is_multiple_of(ASKED_SINGLY_ONE_IN);
            let size = if is_singly { 1 } else { RECORDS_AT_ONCE };
            let mut memory = engine.memory();
            let order = files.chunks(FILES_MIXED).enumerate().flat_map(|(mixed, files)| {
                let first = (number * FILES_AT_ONCE + mixed * FILES_MIXED) * paths;
                scattered(files.len() * paths).map(move |at| first + at)
            });
            agree(engine, &mut memory, self, order, size)
        };
        let shares = self.files.par_chunks(FILES_AT_ONCE).enumerate().map(share);
        shares.reduce(Agreement::default, Agreement::and).whole()
    }
}

impl Oracle for SmallWorld<'_> {
    fn write_url(&self, question: usize, url: &mut Vec<u8>) {
        let (file, path) = self.parts(question);
        url.extend_from_slice(file.origin.as_bytes());
        url.extend_from_slice(&self.matches.paths[path]);
    }

    fn judged(&self, question: usize, _agent: usize) -> Option<Judged<'_>> {
        let (file, path) = self.parts(question);
        let access = file.judged[self.kind(file, path)].expect("each kind is judged");
        if Random::new(question as u64).one_in(SAMPLED_ONE_IN) {
            let mut url = Vec::new();
            self.write_url(question, &mut url);
            let in_full = oracle::decide(self.dialect, &file.text, None, &[AGENT], &url);
            assert_eq!(access, in_full, "{}", self.describe(question));
        }
        Some(Judged { access, usage: None })
    }

    fn describe(&self, question: usize) -> String {
        let (File { text, origin, .. }, path) = self.parts(question);
        let path = self.matches.paths[path].as_bstr();
        format!("{} {origin}{path}\n{}", self.dialect.name, text.as_bstr())
    }
}

#[test]
fn single_patterns() {
    assert!(compare_single_patterns(4, 3) >= 2_000_000);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn longer_single_patterns() {
    assert!(compare_single_patterns(5, 5) >= 180_000_000);
}

/// Compares all patterns on all paths, up to these lengths, with every strategy.
fn compare_single_patterns(pattern_bytes_max: usize, path_bytes_max: usize) -> u64 {
    let mut compared = 0;
    for dialects in dialects_by_paths() {
        let matches =
            Matches::new(dialects[0], (PATTERN_ALPHABET, pattern_bytes_max), path_bytes_max);
        for &dialect in dialects {
            // The verdict of a single rule does not affect its automaton, so half of the
            // configurations use either.
            let worlds =
                [("Allow", Form::Compiled), ("Disallow", Form::Read)].map(|(field, form)| {
                    let files = (0..matches.patterns.len()).map(|pattern| vec![(field, pattern)]);
                    let world = SmallWorld::new(dialect, &matches, files.collect());
                    let set = world.set(form);
                    (world, set)
                });
            for (configuration, index) in strategies().iter().zip(0..) {
                let (world, set) = &worlds[(index + index / 2) % 2];
                compared += world.compare(set, configuration);
            }
        }
    }
    println!("single patterns: {compared} comparisons");
    compared
}

#[test]
fn pairs_of_patterns() {
    let usual = &configurations()[..1];
    // A `%` matters to single patterns, so the longer ones have none.
    assert!(compare_pairs_of_patterns((b"a/*$", 3), 2, usual) >= 1_500_000);
    assert!(compare_pairs_of_patterns((PATTERN_ALPHABET, 2), 3, usual) >= 1_000_000);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn pairs_of_patterns_by_every_strategy() {
    assert!(compare_pairs_of_patterns((PATTERN_ALPHABET, 3), 3, &strategies()) >= 170_000_000);
}

/// Compares all ordered pairs of patterns of an alphabet and up to a length, with all verdicts, on all
/// paths up to a length, with these strategies.
fn compare_pairs_of_patterns(
    patterns: (&[u8], usize),
    path_bytes_max: usize,
    configurations: &[Configuration],
) -> u64 {
    const FIELDS: [&str; 2] = ["Allow", "Disallow"];
    let (mut compared, mut forms) = (0, Form::ALL.into_iter().cycle());
    for dialects in dialects_by_paths() {
        let matches = Matches::new(dialects[0], patterns, path_bytes_max);
        let count = matches.patterns.len();
        for &dialect in dialects {
            let rules = |index: usize| {
                let (first, second) = (index / 4 / count, index / 4 % count);
                vec![(FIELDS[index / 2 % 2], first), (FIELDS[index % 2], second)]
            };
            let files = (0..count * count * 4).map(rules).collect();
            let world = SmallWorld::new(dialect, &matches, files);
            let set = world.set(forms.next().expect("a cycle"));
            for configuration in configurations {
                compared += world.compare(&set, configuration);
            }
        }
    }
    println!("pairs of patterns: {compared} comparisons");
    compared
}

/// Records that form groups; the last one belongs to none. `bot` occurs in `robot`, which matters in
/// the dialect of 1994.
const RECORDS: [&[u8]; 6] = [
    b"User-agent: robot\n",
    b"User-agent: bot\n",
    b"User-agent: *\n",
    b"Disallow: /x\n",
    b"\n",
    b"Sitemap: https://example.com/s\n",
];

/// Agents: two that files name, one that they do not name, and one with a fallback.
const CHAINS: [&str; 4] = ["robot", "bot", "unnamed", "unnamed+bot"];

#[test]
fn sequences_of_records() {
    assert!(compare_sequences_of_records(6, 5) >= 300_000);
    assert!(compare_sequences_of_records(5, 6) >= 700_000);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn longer_sequences_of_records() {
    assert!(compare_sequences_of_records(6, 7) >= 12_000_000);
}

/// Compares all sequences of the first records, up to a length. Each file has a path that the rule
/// matches, and one that it does not match.
fn compare_sequences_of_records(records: u8, count_max: usize) -> u64 {
    let numbers: Vec<u8> = (0..records).collect();
    let texts: Vec<Vec<u8>> = words(&numbers, count_max)
        .iter()
        .map(|word| word.iter().flat_map(|&record| RECORDS[usize::from(record)]).copied().collect())
        .collect();
    let compared = AtomicU64::new(0);
    let shares: Vec<(&Dialect, &[Vec<u8>])> = Dialect::ALL
        .into_iter()
        .flat_map(|dialect| texts.chunks(4 * RECORDS_AT_ONCE).map(move |texts| (dialect, texts)))
        .collect();
    let strategies = strategies();
    shares.into_par_iter().enumerate().for_each(|(share, (dialect, texts))| {
        let mut world = World::new(dialect, None, &CHAINS);
        for (file, text) in texts.iter().enumerate() {
            world.add(text, ["/x", "/y"].map(|path| (origin(file) + path).into_bytes()));
        }
        // Forms and strategies take turns: they differ in how they handle rules, and there is only
        // one rule here.
        let form = Form::ALL[share % Form::ALL.len()];
        let configuration = &strategies[share / Form::ALL.len() % strategies.len()];
        let engine = world.engine(&world.set(form), configuration);
        compared.fetch_add(world.agrees(&engine), Ordering::Relaxed);
    });
    let compared = compared.into_inner();
    println!("sequences of records: {compared} comparisons");
    compared
}
