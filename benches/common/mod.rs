//! The parts of a run as functions over all files or all URLs, and the data that each part needs.
//! `parts.rs` measures their time, and `instructions.rs` counts their instructions.

use std::hint::black_box;

use portcullis_dialect::dialect::{Dialect, GOOGLE};
use portcullis_engine::{Cache, Outcome, RuleSetBuf};
use portcullis_robots::policy::{AgentChain, OrderedRules, Selection};
use portcullis_robots::syntax::{Lexer, RobotsTxt};
use portcullis_robots::url::{SplitUrl, compared_path, host_key, split};
use portcullis_set::PolicySet;

pub const DIALECT: &Dialect = &GOOGLE;

pub fn agent() -> AgentChain {
    AgentChain::parse("Googlebot", DIALECT).expect("a token")
}

/// Splits all URLs.
pub fn split_all<'u>(urls: impl IntoIterator<Item = &'u [u8]>) -> Vec<SplitUrl<'u>> {
    let split = |url| split(url, DIALECT.paths.path_start).ok();
    urls.into_iter().filter_map(split).collect()
}

/// Returns the rules of a text in order of precedence, or `None` if no group applies.
pub fn ordered(text: &[u8], agent: &AgentChain) -> Option<OrderedRules> {
    let file = RobotsTxt::parse(text, DIALECT, None);
    let groups = Selection::of(&file, agent, DIALECT).groups;
    (!groups.is_empty()).then(|| OrderedRules::new(&file, &groups, &DIALECT.paths))
}

pub fn ordered_all(texts: &[Vec<u8>]) -> Vec<OrderedRules> {
    let agent = agent();
    texts.iter().filter_map(|text| ordered(text, &agent)).collect()
}

pub fn built(rules: &OrderedRules) -> RuleSetBuf {
    RuleSetBuf::new(&rules.patterns, &rules.verdicts)
}

pub fn path_of(url: &SplitUrl<'_>, scratch: &mut Vec<u8>) -> Vec<u8> {
    compared_path(url.path, DIALECT.paths.escapes, scratch).as_bytes().to_vec()
}

/// Rule sets with their caches, and questions with the number of their rule set.
pub struct Walk {
    pub rule_sets: Vec<(RuleSetBuf, Cache)>,
    pub questions: Vec<(usize, Vec<u8>)>,
}

pub fn lex(texts: &[Vec<u8>]) -> usize {
    texts.iter().map(|text| Lexer::new(black_box(text), &DIALECT.lines, None).count()).sum()
}

pub fn parse(texts: &[Vec<u8>]) -> usize {
    let rules = |text: &Vec<u8>| RobotsTxt::parse(black_box(text), DIALECT, None).rules().len();
    texts.iter().map(rules).sum()
}

pub fn build(rules: &[OrderedRules]) -> Vec<RuleSetBuf> {
    rules.iter().map(|rules| built(black_box(rules))).collect()
}

pub fn split_urls(urls: &[Vec<u8>]) -> usize {
    let is_url = |url: &&Vec<u8>| split(black_box(url), DIALECT.paths.path_start).is_ok();
    urls.iter().filter(is_url).count()
}

pub fn host_keys(urls: &[SplitUrl<'_>]) -> usize {
    let mut host = Vec::new();
    urls.iter().map(|url| host_key(black_box(url), &mut host).map_or(0, <[u8]>::len)).sum()
}

pub fn compared_paths(urls: &[SplitUrl<'_>]) -> usize {
    let mut path = Vec::new();
    let mut bytes = |url: &SplitUrl<'_>| {
        compared_path(black_box(url).path, DIALECT.paths.escapes, &mut path).as_bytes().len()
    };
    urls.iter().map(&mut bytes).sum()
}

/// Looks up origins, each given by a scheme and the key of a host.
pub fn look_up<'o>(
    set: &PolicySet,
    origins: impl IntoIterator<Item = (&'o [u8], &'o [u8])>,
) -> usize {
    let is_known = |(scheme, key): &(&[u8], &[u8])| {
        matches!(set.policy_of(scheme, black_box(key)), Ok(Some(_)))
    };
    origins.into_iter().filter(is_known).count()
}

pub fn walk(Walk { rule_sets, questions }: &mut Walk) -> usize {
    let mut decides = |(number, path): &&(usize, Vec<u8>)| {
        let (rules, cache) = &mut rule_sets[*number];
        rules.as_rule_set().decide(black_box(path), cache) != Outcome::NONE
    };
    questions.iter().filter(&mut decides).count()
}
