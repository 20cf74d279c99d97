//! What is counted of a corpus.

#![allow(clippy::disallowed_types, reason = "sketches have to be the same in every run")]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use portcullis::decision::Verdict;
use portcullis::dialect::{FileToken, GOOGLE};
use portcullis::limits::ROBOTS_BYTES_MAX;
use portcullis::policy::OrderedRules;
use portcullis::syntax::{Group, RobotsTxt, Span};

/// A fact: its name and its number.
pub type Fact = (&'static str, u64);

/// Two hashes of different seeds: at a hundred million strings two that differ share both less than
/// once in ten thousand corpora.
type Key = (u64, u64);

/// What is known of a distinct text once it has been parsed.
#[derive(Clone, Copy)]
struct Text {
    files: u64,
    bytes: u64,
    groups: u64,
    /// Rules of the groups of `*` together, if there is one.
    default_rules: Option<u64>,
    has_cr: bool,
    has_byte_order_mark: bool,
}

/// Counts the files of a corpus, one after the other. It keeps hashes and numbers, no text.
#[derive(Default)]
pub struct CorpusFacts {
    hashers: (foldhash::fast::FixedState, foldhash::quality::FixedState),
    texts: HashMap<Key, Text>,
    lists: HashSet<Key>,
    strings: HashSet<Key>,
    tokens: HashSet<Key>,
    rule_sets: HashSet<Key>,
    other_records: HashSet<Key>,
    list_records: u64,
    string_bytes: u64,
    pairs: u64,
    patterns: u64,
    pattern_bytes: u64,
    rules_per_group: Vec<u64>,
    rule_set_patterns: Vec<u64>,
    rules: Rules,
}

/// Of the rules of distinct lists, how many are what.
#[derive(Default)]
struct Rules {
    with_value: u64,
    allow: u64,
    empty: u64,
    one_star: u64,
    more_stars: u64,
    anchored: u64,
}

impl CorpusFacts {
    /// Counts one more file.
    pub fn add(&mut self, text: &[u8]) {
        let key = self.key(text);
        if let Some(known) = self.texts.get_mut(&key) {
            known.files += 1;
            return;
        }
        let file = RobotsTxt::parse(text, &GOOGLE, Some(ROBOTS_BYTES_MAX));
        self.texts.insert(
            key,
            Text {
                files: 1,
                bytes: text.len() as u64,
                groups: file.groups().len() as u64,
                default_rules: default_rules(&file),
                has_cr: text.contains(&b'\r'),
                has_byte_order_mark: text.starts_with(b"\xEF\xBB\xBF"),
            },
        );
        for record in file.other_records() {
            let key = self.key(bytes(text, record.span));
            self.other_records.insert(key);
        }
        self.add_list(text, &file);
    }

    /// Counts the user-agent lines and rules of a file, unless another has the same on the same
    /// lines.
    fn add_list(&mut self, text: &[u8], file: &RobotsTxt<'_>) {
        let agents = file.user_agents().iter().map(|agent| (agent.line, agent.span));
        let rules = file.rules().iter().map(|rule| (rule.line, rule.span));
        let mut records: Vec<_> = agents.chain(rules).collect();
        records.sort_unstable_by_key(|&(line, _)| line);
        let key = self.key(
            records
                .iter()
                .map(|&(line, span)| (line, bytes(text, span)))
                .collect::<Vec<_>>()
                .as_slice(),
        );
        if !self.lists.insert(key) {
            return;
        }
        self.list_records += records.len() as u64;
        for &(_, span) in &records {
            let string = bytes(text, span);
            let key = self.key(string);
            if self.strings.insert(key) {
                self.string_bytes += string.len() as u64;
            }
        }
        for rule in file.rules() {
            self.rules.add(rule.verdict, rule.value);
        }
        for group in file.groups() {
            self.rules_per_group.push(u64::from(group.rules.end - group.rules.start));
        }
        self.add_rule_sets(file);
    }

    /// Counts the rules that each token of a file obeys.
    fn add_rule_sets(&mut self, file: &RobotsTxt<'_>) {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut groups_of: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (position, group) in file.groups().iter().enumerate() {
            for agent in file.user_agents_of(group) {
                let name = token(agent.value);
                if name.is_empty() {
                    continue;
                }
                let groups = groups_of.entry(name.clone()).or_insert_with(|| {
                    names.push(name);
                    Vec::new()
                });
                if groups.last() != Some(&position) {
                    groups.push(position);
                }
            }
        }
        for name in names {
            let key = self.key(&name);
            self.tokens.insert(key);
            self.pairs += 1;
            let ordered = OrderedRules::new(file, &groups_of[&name], &GOOGLE.paths);
            let key = self.key(&(&ordered.patterns, &ordered.verdicts));
            if self.rule_sets.insert(key) {
                self.patterns += ordered.patterns.len() as u64;
                self.rule_set_patterns.push(ordered.patterns.len() as u64);
                self.pattern_bytes +=
                    (ordered.patterns.byte_len() + ordered.patterns.stars()) as u64;
            }
        }
    }

    fn key(&self, item: &(impl Hash + ?Sized)) -> Key {
        (self.hashers.0.hash_one(item), self.hashers.1.hash_one(item))
    }

    /// Everything that was counted.
    pub fn facts(&self) -> Vec<Fact> {
        let files: u64 = self.texts.values().map(|text| text.files).sum();
        let of_files = |property: fn(&Text) -> bool| -> u64 {
            let with = self.texts.values().filter(|text| property(text)).map(|text| text.files);
            share(with.sum(), files)
        };
        let sizes = || self.texts.values().map(|text| (text.bytes, text.files));
        let groups = || self.texts.values().map(|text| (text.groups, text.files));
        let default_rules = || {
            let texts = self.texts.values();
            texts.filter_map(|text| text.default_rules.map(|rules| (rules, text.files)))
        };
        let rules = || self.rules_per_group.iter().map(|&rules| (rules, 1));
        let rules_of_sets = || self.rule_set_patterns.iter().map(|&rules| (rules, 1));
        let of_rules = |count: u64| share(count, self.rules.with_value);
        vec![
            ("files", files),
            ("bytes", sizes().map(|(bytes, files)| bytes * files).sum()),
            ("texts", self.texts.len() as u64),
            ("bytes of texts", sizes().map(|(bytes, _)| bytes).sum()),
            ("lists", self.lists.len() as u64),
            ("records of lists", self.list_records),
            ("record strings", self.strings.len() as u64),
            ("bytes of strings", self.string_bytes),
            ("tokens", self.tokens.len() as u64),
            ("pairs of list and token", self.pairs),
            ("rule sets", self.rule_sets.len() as u64),
            ("patterns of rule sets", self.patterns),
            ("bytes of patterns", self.pattern_bytes),
            ("other records", self.other_records.len() as u64),
            ("files, half", quantile(sizes(), 5_000)),
            ("files, 90 %", quantile(sizes(), 9_000)),
            ("files, 99 %", quantile(sizes(), 9_900)),
            ("files, largest", quantile(sizes(), 10_000)),
            ("groups per file, half", quantile(groups(), 5_000)),
            ("groups per file, 90 %", quantile(groups(), 9_000)),
            ("groups per file, 99 %", quantile(groups(), 9_900)),
            ("groups per file, most", quantile(groups(), 10_000)),
            ("rules for * in a file, half", quantile(default_rules(), 5_000)),
            ("rules for * in a file, 90 %", quantile(default_rules(), 9_000)),
            ("rules per group, half", quantile(rules(), 5_000)),
            ("rules per group, 90 %", quantile(rules(), 9_000)),
            ("rules per group, 99 %", quantile(rules(), 9_900)),
            ("rules per group, most", quantile(rules(), 10_000)),
            ("patterns per rule set, half", quantile(rules_of_sets(), 5_000)),
            ("patterns per rule set, 90 %", quantile(rules_of_sets(), 9_000)),
            ("patterns per rule set, 99 %", quantile(rules_of_sets(), 9_900)),
            ("files that equal another, of 10,000", of_files(|text| text.files > 1)),
            ("files of the most frequent text", self.most_frequent()),
            ("files with CR, of 10,000", of_files(|text| text.has_cr)),
            ("files with a byte order mark, of 10,000", of_files(|text| text.has_byte_order_mark)),
            ("files without a group, of 10,000", of_files(|text| text.groups == 0)),
            ("rules that allow, of 10,000", of_rules(self.rules.allow)),
            ("rules that are empty, of 10,000", of_rules(self.rules.empty)),
            ("rules with one star, of 10,000", of_rules(self.rules.one_star)),
            ("rules with more stars, of 10,000", of_rules(self.rules.more_stars)),
            ("rules with $, of 10,000", of_rules(self.rules.anchored)),
        ]
    }

    fn most_frequent(&self) -> u64 {
        self.texts.values().map(|text| text.files).max().unwrap_or_default()
    }
}

impl Rules {
    fn add(&mut self, verdict: Verdict, value: &[u8]) {
        if value.is_empty() {
            self.empty += 1;
            return;
        }
        self.with_value += 1;
        self.allow += u64::from(verdict == Verdict::Allow);
        match memchr::memchr_iter(b'*', value).count() {
            0 => {}
            1 => self.one_star += 1,
            _ => self.more_stars += 1,
        }
        self.anchored += u64::from(value.ends_with(b"$"));
    }
}

fn default_rules(file: &RobotsTxt<'_>) -> Option<u64> {
    let is_default =
        |group: &&Group| file.user_agents_of(group).iter().any(|agent| token(agent.value) == b"*");
    let groups = file.groups().iter().filter(is_default);
    groups.map(|group| u64::from(group.rules.end - group.rules.start)).reduce(|a, b| a + b)
}

/// The product token that a user-agent line names, in lower case.
fn token(value: &[u8]) -> Vec<u8> {
    if value.first() == Some(&b'*') {
        return b"*".to_vec();
    }
    let FileToken::Prefix(alphabet) = GOOGLE.groups.file_token else {
        return value.to_ascii_lowercase();
    };
    let end = value.iter().position(|&byte| !alphabet.contains(byte));
    value[..end.unwrap_or(value.len())].to_ascii_lowercase()
}

fn bytes(text: &[u8], span: Span) -> &[u8] {
    &text[span.start as usize..span.end as usize]
}

fn share(part: u64, whole: u64) -> u64 {
    part * 10_000 / whole.max(1)
}

/// The value that so many in ten thousand do not pass, of values that each stand for some items.
fn quantile(values: impl Iterator<Item = (u64, u64)>, per_ten_thousand: u64) -> u64 {
    let mut values: Vec<(u64, u64)> = values.collect();
    values.sort_unstable();
    let items: u64 = values.iter().map(|&(_, items)| items).sum();
    let wanted = (items * per_ten_thousand).div_ceil(10_000).max(1);
    let mut seen = 0;
    for (value, items) in values {
        seen += items;
        if seen >= wanted {
            return value;
        }
    }
    0
}
