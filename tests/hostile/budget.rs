//! Many hostile files in one set, in random order: the automata of a thread stay within their
//! budget.

use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::Limits;
use portcullis_engine::limits::CANDIDATES_TRIED_MAX;
use portcullis_testkit::{Configuration, Form, Question, Random, World, agree, origin, scattered};

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
    assert!(counts.questions >= URLS as u64);
    assert!(counts.automata * 2 > counts.questions, "few come to an automaton: {counts:?}");
    assert!(counts.entries <= counts.questions * CANDIDATES_TRIED_MAX as u64, "{counts:?}");
    assert!(counts.work.clearings > 2, "{counts:?}");
}
