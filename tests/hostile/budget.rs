//! Many hostile files in one set, in random order: the automata of a thread stay within their
//! budget.

use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::Label;
use portcullis_engine::Limits;
use portcullis_engine::limits::CANDIDATES_TRIED_MAX;
use portcullis_testkit::{
    Configuration, Form, Question, Random, World, agree, origin, scattered, set_of,
};

use crate::{AGENT, DIALECT};

const HOSTS: usize = 60;
/// Of each host, the oracle judges one: it is slow.
const URLS: usize = 1_500;
const LETTERS: &[u8] = b"abc/";

/// Bytes of a file and of a path.
const FILE_BYTES: usize = 4 * 1_024;
const PATH_BYTES: usize = 200;

/// The memory budget, a tenth of what the automata of all hosts would take, and the memory of one
/// automaton without states.
const BUDGET_BYTES: usize = 512 * 1_024;

/// Returns a file of rules that require two literals and then a letter that every path has.
fn file(random: &mut Random) -> Vec<u8> {
    let mut file = b"User-agent: *\n".to_vec();
    while file.len() < FILE_BYTES {
        let [one, other] = [0, 1].map(|_| random.word(LETTERS, 2..=3));
        let field = *random.pick(&["Allow", "Disallow"]);
        file.extend([field.as_bytes(), b": *", &one, b"*", &other, b"*d\n"].concat());
    }
    file
}

#[test]
fn a_thread_has_one_budget_for_all_hosts() {
    let mut random = Random::new(11);
    let mut world = World::new(DIALECT, None, &[AGENT]);
    let path =
        |random: &mut Random| [b"/d", &random.word(LETTERS, PATH_BYTES..=PATH_BYTES)[..]].concat();
    for host in 0..HOSTS {
        let file = file(&mut random);
        let mut url = || [origin(host).as_bytes(), &path(&mut random)].concat();
        world.add(&file, [url()]);
        let others =
            (1..URLS / HOSTS).map(|_| Question { file: host, url: url(), judged: vec![None] });
        world.questions.extend(others);
    }
    let limits = Limits { automata_bytes_max: BUDGET_BYTES, ..Limits::default() };
    let configuration = Configuration::of("a small budget", limits);
    let engine = world.engine(&world.set(Form::Mapped), &configuration);
    let mut memory = engine.memory();
    let order: Vec<usize> = scattered(URLS).collect();
    let mut compared = 0;
    for block in order.chunks(RECORDS_AT_ONCE) {
        let found = agree(&engine, &mut memory, &world, block.iter().copied(), RECORDS_AT_ONCE);
        compared += found.whole();
        let held = memory.session().automata_bytes();
        assert!(held <= BUDGET_BYTES, "{held}");
    }
    assert_eq!(compared, HOSTS as u64);
    let counts = memory.session().step_counts();
    // Those of the companions are few.
    assert!(counts.queries >= URLS as u64);
    assert!(counts.automata * 2 > counts.queries, "few come to an automaton: {counts:?}");
    assert!(counts.entries <= counts.queries * CANDIDATES_TRIED_MAX as u64, "{counts:?}");
    assert!(counts.work.clearings > 2, "{counts:?}");
}

/// Returns a file of statements that require two literals: a group for each agent, and one for all.
fn file_about_usage(random: &mut Random, agents: &[String]) -> Vec<u8> {
    let mut file = Vec::new();
    let all = agents.iter().map(|agent| format!("User-agent: {agent}\n")).collect::<String>();
    let own = agents.iter().map(|agent| format!("User-agent: {agent}\n"));
    for names in own.chain([all]) {
        file.extend(names.bytes());
        for _ in 0..STATEMENTS {
            let [one, other] = [0, 1].map(|_| random.word(LETTERS, 2..=3));
            let value = *random.pick(&["train-ai=n", "train-ai=y, search=n", "search=y"]);
            file.extend([b"Content-Usage: /*", &one[..], b"*", &other, b"*d "].concat());
            file.extend([value.as_bytes(), b"\n"].concat());
        }
    }
    file
}

const STATEMENTS: usize = 30;

#[test]
fn statements_about_usage_share_the_budget() {
    let mut random = Random::new(12);
    let agents: Vec<String> = (b'a'..=b'p').map(|it| format!("agent-{}", it as char)).collect();
    let names: Vec<&str> = agents.iter().map(String::as_str).collect();
    let mut world = World::new(DIALECT, None, &names);
    for host in 0..6 {
        let file = file_about_usage(&mut random, &agents);
        let paths = (0..4).map(|_| random.word(LETTERS, PATH_BYTES..=PATH_BYTES));
        let urls: Vec<_> =
            paths.map(|path| [origin(host).as_bytes(), b"/d", &path].concat()).collect();
        world.add(&file, urls);
    }
    let set = world.set(Form::Mapped);
    // The budget of one agent's statements, of one file's, and of all.
    let held = [32 * 1_024, BUDGET_BYTES, 64 * BUDGET_BYTES].map(|budget| {
        let limits = Limits { automata_bytes_max: budget, ..Limits::default() };
        let configuration = Configuration::of("a small budget", limits);
        let engine = world.engine(&set, &configuration).with_usage(&Label::ALL);
        let mut memory = engine.memory();
        // A large block, then small ones.
        [RECORDS_AT_ONCE, 5].map(|size| {
            let order = scattered(world.questions.len());
            let compared = agree(&engine, &mut memory, &world, order, size).whole();
            // The access and each label.
            let answers = world.questions.len() * names.len() * (1 + Label::ALL.len());
            assert_eq!(compared, answers as u64);
            let held = memory.session().automata_bytes();
            assert!(held <= budget, "{held} of {budget}");
            held
        })
    });
    assert!(held[2][0] > 2 * BUDGET_BYTES, "all fits the budget: {held:?}");
}

/// A path is searched for once, however many agents the same statements hold for.
#[test]
fn agents_that_share_statements_share_a_search() {
    let mut random = Random::new(13);
    let names: Vec<String> = (0..160).map(|number| format!("bot{}", letters(number))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut text = b"User-agent: *\nDisallow: /closed\n".to_vec();
    for _ in 0..2_000 {
        let [one, other] = [0, 1].map(|_| random.word(LETTERS, 2..=3));
        text.extend([b"Content-Usage: /*", &one[..], b"*", &other, b"*Q train-ai=n\n"].concat());
    }
    let work = [1, names.len()].map(|agents| {
        let mut world = World::new(DIALECT, None, &names[..agents]);
        let paths = (0..20).map(|_| random.word(LETTERS, 2_000..=2_000));
        let urls = paths.map(|path| [origin(0).as_bytes(), b"/", &path[..]].concat());
        world.files.push(text.clone());
        let urls: Vec<Vec<u8>> = urls.collect();
        let engine = world
            .engine(&set_of(Form::Read, &world.files, (DIALECT, None)), &Configuration::default());
        let engine = engine.with_usage(&[Label::ALL[0]]);
        let mut memory = engine.memory();
        engine.ask(&urls, &mut memory);
        let work = memory.session().step_counts().work;
        assert!(work.scans > 0, "{work:?}");
        work.scans
    });
    assert_eq!(work[0], work[1]);
}

/// Returns a number in letters.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}
