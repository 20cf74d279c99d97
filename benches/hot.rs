//! The hot path of deciding, piece by piece: the project's `DESIGN.md` has its figures.
//!
//! ```text
//! PORTCULLIS_ROBOTS=DIR PORTCULLIS_URLS=FILE cargo bench --bench hot
//! ```
//!
//! Prints nanoseconds for a URL, the least and the median of some passes in turn: deciding paths
//! whose policy is known, one by one and in blocks; from records of a list to decisions; and how long
//! it takes only to count the lines. `PORTCULLIS_TURN=NAME` measures one of them. Each is measured in three orders: as the list has them, grouped
//! by host, and shuffled. Without the two variables the sample of `corpora/` is asked.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use bstr::ByteSlice;
use portcullis::batch::{Classifier, ClassifierMemory};
use portcullis::decision::Verdict;
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::input::{Record, Records, Terminator};
use portcullis::limits::RECORDS_AT_ONCE;
use portcullis::policy::{AgentChain, Compilation, Detail, Memory, PolicySource, PolicyTable};
use portcullis::set::{LoadConfig, PolicySet};
use portcullis::target::{compared_path, split};

const DIALECT: &Dialect = &GOOGLE;
const AGENT: &str = "Googlebot";

/// URLs in one order, their octets in that order too.
struct Order {
    name: &'static str,
    list: Vec<u8>,
    paths: Vec<u8>,
    /// Of each URL with a policy: that, and the octets of its path.
    questions: Vec<(usize, std::ops::Range<usize>)>,
}

impl Order {
    fn new(name: &'static str, urls: &[&[u8]], set: &PolicySet) -> Order {
        let (mut host, mut scratch) = (Vec::new(), Vec::new());
        let mut order =
            Order { name, list: urls.join(&b"\n"[..]), paths: Vec::new(), questions: Vec::new() };
        order.list.push(b'\n');
        for url in urls {
            let Ok(url) = split(url, DIALECT.paths.path_start) else { continue };
            if let Ok(Some(policy)) = set.policy_of(&url, &mut host) {
                let start = order.paths.len();
                let path = compared_path(url.path, DIALECT.paths.escapes, &mut scratch);
                order.paths.extend_from_slice(path);
                order.questions.push((policy, start..order.paths.len()));
            }
        }
        order
    }
}

/// The measured object: one way through one order.
struct Turn<'d> {
    name: &'static str,
    order: &'d Order,
    urls: usize,
    pass: Box<dyn FnMut() -> u64 + 'd>,
    times: Vec<f64>,
}

fn one_by_one<'d>(order: &'d Order, table: &'d PolicyTable, mut memory: Memory) -> Turn<'d> {
    let pass = move || {
        let decide = |(policy, path): &(usize, std::ops::Range<usize>)| {
            let decisions = table.decide(*policy, &order.paths[path.clone()], &mut memory);
            u64::from(decisions[0].verdict == Verdict::Allow)
        };
        order.questions.iter().map(decide).sum()
    };
    Turn {
        name: "decide",
        order,
        urls: order.questions.len(),
        pass: Box::new(pass),
        times: Vec::new(),
    }
}

fn in_blocks<'d>(order: &'d Order, table: &'d PolicyTable, mut memory: Memory) -> Turn<'d> {
    let (mut policies, mut paths): (Vec<u32>, Vec<&[u8]>) = Default::default();
    let pass = move || {
        let decide = |questions: &[(usize, std::ops::Range<usize>)]| {
            policies.clear();
            paths.clear();
            policies.extend(questions.iter().map(|(policy, _)| *policy as u32));
            paths.extend(questions.iter().map(|(_, path)| &order.paths[path.clone()]));
            let decisions = table.decide_block(&policies, &paths, &mut memory);
            decisions.iter().map(|it| u64::from(it.verdict == Verdict::Allow)).sum::<u64>()
        };
        order.questions.chunks(RECORDS_AT_ONCE).map(decide).sum()
    };
    Turn {
        name: "decide in blocks",
        order,
        urls: order.questions.len(),
        pass: Box::new(pass),
        times: Vec::new(),
    }
}

fn records<'d>(order: &'d Order, classifier: &'d Classifier<'d>) -> Turn<'d> {
    let mut memory: ClassifierMemory = classifier.memory();
    let mut block: Vec<Record<'d>> = Vec::new();
    let pass = move || {
        let mut allowed = 0;
        let mut records = Records::new(&order.list, Terminator::LineFeed);
        loop {
            block.clear();
            block.extend(records.by_ref().take(RECORDS_AT_ONCE));
            if block.is_empty() {
                return allowed;
            }
            let decisions = classifier.classify(&block, None, &mut memory).expect("no damage");
            let is_allowed = |verdict| u64::from(verdict == Verdict::Allow);
            allowed += decisions.iter().map(|it| is_allowed(it.verdict)).sum::<u64>();
        }
    };
    let urls = order.list.lines().count();
    Turn { name: "classify", order, urls, pass: Box::new(pass), times: Vec::new() }
}

fn lines(order: &Order) -> Turn<'_> {
    let pass = || memchr::memchr_iter(b'\n', black_box(&order.list)).count() as u64;
    let urls = order.list.lines().count();
    Turn { name: "count lines", order, urls, pass: Box::new(pass), times: Vec::new() }
}

/// The same shuffle on every machine.
fn shuffle(urls: &mut [&[u8]]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in (1..urls.len()).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        urls.swap(index, (state >> 33) as usize % (index + 1));
    }
}

fn main() {
    let named = |variable: &str, sample: &str| {
        let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(sample);
        std::env::var_os(variable).map_or(sample, PathBuf::from)
    };
    let rounds =
        std::env::var("ROUNDS").map_or(9, |text| text.parse().expect("ROUNDS is a number"));
    let config = LoadConfig { dialect: DIALECT, robots_octets_max: None };
    let robots = named("PORTCULLIS_ROBOTS", "corpora/sample/robots");
    let set = PolicySet::load(&robots, &config).expect("PORTCULLIS_ROBOTS names a folder");
    let text = std::fs::read(named("PORTCULLIS_URLS", "corpora/sample/urls.txt"))
        .expect("PORTCULLIS_URLS names a file");
    let agent = AgentChain::parse(AGENT, DIALECT).expect("a token");
    let compilation = Compilation {
        robots_octets_max: None,
        detail: Detail::Reason,
        ..Compilation::new(DIALECT)
    };
    let sources: Vec<PolicySource<'_>> = set.sources().collect();
    let table = PolicyTable::compile(&sources, vec![agent.clone()], &compilation);
    let classifier = Classifier::new(&set, vec![agent], Detail::Reason);

    let mut urls: Vec<&[u8]> = text.lines().collect();
    let mut orders = Vec::new();
    urls.sort_by_key(|url| url.split(|&octet| octet == b'/').nth(2).unwrap_or_default().to_vec());
    orders.push(Order::new("grouped", &urls, &set));
    shuffle(&mut urls);
    orders.push(Order::new("shuffled", &urls, &set));

    let mut turns = Vec::new();
    for order in &orders {
        turns.push(lines(order));
        turns.push(one_by_one(order, &table, table.memory()));
        turns.push(in_blocks(order, &table, table.memory()));
        turns.push(records(order, &classifier));
    }
    if let Ok(name) = std::env::var("PORTCULLIS_TURN") {
        turns.retain(|turn| turn.name == name);
    }
    let mut expected = vec![None; turns.len()];
    for round in 0..=rounds {
        for (turn, expected) in turns.iter_mut().zip(&mut expected) {
            // Others have had the caches; a pass brings back what this turn needs.
            (turn.pass)();
            let start = Instant::now();
            let answer = (turn.pass)();
            let time = start.elapsed().as_secs_f64() * 1e9 / turn.urls as f64;
            assert_eq!(*expected.get_or_insert(answer), answer, "{}", turn.name);
            // The first passes build what is built on demand.
            if round > 0 {
                turn.times.push(time);
            }
        }
    }
    println!("| what | order | least, ns a URL | median | allowed |");
    println!("|---|---|---|---|---|");
    for (turn, expected) in turns.iter_mut().zip(expected) {
        turn.times.sort_by(f64::total_cmp);
        let (least, median) = (turn.times[0], turn.times[turn.times.len() / 2]);
        let (name, order) = (turn.name, turn.order.name);
        println!("| {name} | {order} | {least:.1} | {median:.1} | {} |", expected.unwrap_or(0));
    }
}
