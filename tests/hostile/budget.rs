//! Many hostile files in one set, in random order: the automata of a thread stay within their
//! budget.

use portcullis_dialect::limits::{CANDIDATES_TRIED_MAX, RECORDS_AT_ONCE};
use portcullis_engine::Limits;
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::{Classifier, Session};

use crate::common::{Random, origin, scattered, sets_of};
use crate::{AGENT, DIALECT};

const HOSTS: usize = 60;
const URLS: usize = 1_500;
const LETTERS: &[u8] = b"abc/";

/// Bytes of a file and of a path.
const FILE_BYTES: usize = 4 * 1_024;
const PATH_BYTES: usize = 200;

/// The memory budget, a tenth of what the automata of all hosts would take, and the memory of one
/// automaton without states.
const BUDGET_BYTES: usize = 512 * 1_024;

/// One URL in this many is given to the oracle.
const JUDGED_PART: usize = 25;

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
    let files: Vec<Vec<u8>> = (0..HOSTS).map(|_| file(&mut random)).collect();
    let files: Vec<&[u8]> = files.iter().map(|file| &file[..]).collect();
    let agents = vec![AgentChain::parse(AGENT, DIALECT).expect("a token")];
    let [.., (_, set)] = sets_of(&files, (DIALECT, None), &agents);
    let path =
        |random: &mut Random| [b"/d", &random.word(LETTERS, PATH_BYTES..=PATH_BYTES)[..]].concat();
    let urls: Vec<(usize, Vec<u8>)> = scattered(URLS)
        .map(|number| {
            let host = number % HOSTS;
            (host, [origin(host).as_bytes(), &path(&mut random)].concat())
        })
        .collect();
    let limits = Limits { automata_bytes_max: BUDGET_BYTES, ..Limits::default() };
    let classifier = Classifier::with_limits(set, agents, limits).unwrap();
    let mut session = Session::new(classifier, None);
    for (number, block) in urls.chunks(RECORDS_AT_ONCE).enumerate() {
        let block: Vec<&[u8]> = block.iter().map(|(_, url)| &url[..]).collect();
        let decisions = session.classify(&block).unwrap().to_vec();
        let held = session.automata_bytes();
        assert!(held <= BUDGET_BYTES, "{held}");
        for (place, decision) in decisions.iter().enumerate() {
            let number = number * RECORDS_AT_ONCE + place;
            if number.is_multiple_of(JUDGED_PART) {
                let (host, url) = &urls[number];
                let judged = oracle::decide(DIALECT, files[*host], None, &[AGENT], url);
                assert_eq!((decision.verdict, decision.reason), (judged.verdict, judged.reason));
            }
        }
    }
    let ways = session.ways();
    assert_eq!(ways.questions, URLS as u64);
    assert!(ways.automata * 2 > ways.questions, "few come to an automaton: {ways:?}");
    assert!(ways.entries <= ways.questions * CANDIDATES_TRIED_MAX as u64, "{ways:?}");
    assert!(ways.work.clearings > 2, "{ways:?}");
}
