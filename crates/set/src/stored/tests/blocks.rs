//! Deciding a block gives the same results as deciding its questions one by one.

use super::*;
use crate::LoadConfig;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_engine::Limits;
use portcullis_engine::block::{NO_POLICY, NO_URL};
use portcullis_engine::vectors::Vectors;
use portcullis_robots::target::{ComparedPaths, Origin};

/// Files with stars, without stars, with a constant decision, and with rules shared by two agents.
const FILES: [&[u8]; 5] = [
    b"User-agent: *\nDisallow: /a*b\nAllow: /*ab$\nDisallow: /b/*/a\n\nUser-agent: x\nDisallow: /b\n",
    b"User-agent: *\nDisallow: /ab\nAllow: /abb\nDisallow: /b/a$\n",
    b"User-agent: *\nDisallow: /\nAllow: /a\n",
    b"User-agent: x\nDisallow: /aab/bba/\n",
    b"# nothing\n",
];

/// Returns every path of up to six bytes, longer paths with those prefixes, and some edge cases.
fn paths() -> Vec<Vec<u8>> {
    let mut paths = vec![b"/".to_vec()];
    let mut from = 0;
    for _ in 0..6 {
        let to = paths.len();
        for index in from..to {
            for byte in b"ab/" {
                paths.push([&paths[index][..], &[*byte]].concat());
            }
        }
        from = to;
    }
    let long: Vec<Vec<u8>> =
        paths.iter().step_by(5).map(|path| [path, &b"/ab/ba/aab"[..]].concat()).collect();
    paths.extend(long);
    paths.extend([&b"/robots.txt"[..], b"", b"a", b"/a\0b", b"/ab\xff"].map(<[u8]>::to_vec));
    paths
}

/// Compiles some of [`FILES`], and returns the number of each file's policy.
fn compiled(
    files: impl IntoIterator<Item = usize>,
    agents: &[AgentChain],
) -> (Arc<PolicySet>, Vec<u32>) {
    let files: Vec<&[u8]> = files.into_iter().map(|file| FILES[file]).collect();
    let origin = |number: usize| {
        Origin::of_robots_txt(format!("http://h{number}.example/robots.txt").as_bytes()).unwrap()
    };
    let origins: Vec<Origin> = (0..files.len()).map(origin).collect();
    let config = LoadConfig { agents: Some(agents.into()), ..LoadConfig::new(&RFC_9309) };
    let set = PolicySet::of_files(origins.iter().zip(files), &config);
    let number = |origin: &Origin| {
        let policy = set.policy_of(b"http", origin.key().as_bytes()).unwrap();
        policy.unwrap().index() as u32
    };
    let numbers = origins.iter().map(number).collect();
    (set.into(), numbers)
}

fn decide<'m>(
    query: &Query,
    policies: &[u32],
    paths: &[&[u8]],
    memory: &'m mut QueryMemory,
) -> &'m [Decision] {
    query.decide(policies, ComparedPaths::assume_normal(paths), memory).unwrap()
}

/// The rule and the group behind an answer.
type Whence = [Option<Vec<u8>>; 2];

fn whence(query: &Query, question: usize, agent: usize, memory: &QueryMemory) -> Whence {
    let (mut rule, mut group) = (Vec::new(), Vec::new());
    let known = query.deciding_text(question, agent, memory, &mut rule, &mut group).unwrap();
    [known.0.then_some(rule), known.1.then_some(group)]
}

/// Repeats the questions until automaton states are built, for one and for several agents, with the
/// same policy for adjacent questions and with different ones.
#[test]
fn blocks_are_answered_as_single_questions() {
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let paths = paths();
    let filtered = Limits::default();
    let limits = [
        filtered,
        Limits { candidates_tried_max: Some(0), ..filtered },
        Limits { candidates_tried_max: None, ..filtered },
    ];
    for limits in limits {
        for detail in [Detail::Reason, Detail::Rule] {
            for agents in [&agents[..1], &agents] {
                let (set, policies) = compiled(0..FILES.len(), agents);
                let mut questions: Vec<(u32, &[u8])> = paths
                    .iter()
                    .flat_map(|path| policies.iter().map(move |&policy| (policy, &path[..])))
                    .chain([(NO_POLICY, &b"/"[..]), (NO_URL, b"")])
                    .collect();
                let query = Query::new(set, agents.to_vec(), detail, limits).unwrap();
                let query = check_blocks(query, &questions);
                questions.sort_by_key(|question| question.0);
                check_blocks(query, &questions);
            }
        }
    }
}

/// Decides in blocks of several sizes, with all vector widths, and one by one.
fn check_blocks(mut query: Query, questions: &[(u32, &[u8])]) -> Query {
    let (mut memory, mut single) = (QueryMemory::default(), QueryMemory::default());
    let agents = query.agents().len();
    for vectors in Vectors::all() {
        query = query.with_vectors(vectors);
        for size in [questions.len(), 300, 9, 7, 1] {
            for block in questions.chunks(size) {
                let policies: Vec<u32> = block.iter().map(|question| question.0).collect();
                let paths: Vec<&[u8]> = block.iter().map(|question| question.1).collect();
                let given = decide(&query, &policies, &paths, &mut memory).to_vec();
                for (question, given) in given.chunks(agents).enumerate() {
                    let (policy, path) = block[question];
                    let expected = match policy {
                        NO_POLICY => vec![Decision::UNKNOWN; agents],
                        NO_URL => vec![Decision::INVALID; agents],
                        policy => decide(&query, &[policy], &[path], &mut single).to_vec(),
                    };
                    assert_eq!(given, expected, "{policy} {path:?} {vectors:?}");
                    for agent in 0..agents {
                        let expected = match policy {
                            NO_POLICY | NO_URL => [None, None],
                            _ => whence(&query, 0, agent, &single),
                        };
                        assert_eq!(whence(&query, question, agent, &memory), expected);
                    }
                }
            }
        }
    }
    query
}

/// The decisions of a file do not depend on other files in the set, including identical ones.
#[test]
fn a_file_decides_the_same_alone_and_beside_others() {
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let files: Vec<usize> = (0..FILES.len()).chain((0..FILES.len()).rev()).chain([0, 4]).collect();
    for detail in [Detail::Reason, Detail::Rule] {
        let query = |files: &[usize]| {
            let (set, policies) = compiled(files.iter().copied(), &agents);
            let limits = Limits::default();
            (Query::new(set, agents.to_vec(), detail, limits).unwrap(), policies)
        };
        let ((together, policies), mut memory) = (query(&files), QueryMemory::default());
        for (&file, &policy) in files.iter().zip(&policies) {
            let ((alone, own), mut memory_alone) = (query(&[file]), QueryMemory::default());
            for path in paths() {
                let expected = decide(&alone, &own, &[&path], &mut memory_alone);
                let given = decide(&together, &[policy], &[&path], &mut memory);
                assert_eq!(given, expected, "{file} {path:?}");
                for agent in 0..agents.len() {
                    let expected = whence(&alone, 0, agent, &memory_alone);
                    assert_eq!(whence(&together, 0, agent, &memory), expected, "{file} {path:?}");
                }
            }
        }
    }
}

/// A wrong policy number from the caller never allows.
#[test]
#[should_panic(expected = "there is no such policy")]
fn a_policy_that_is_not_there_is_no_answer() {
    let agents = [AgentChain::parse("x", &RFC_9309).unwrap()];
    let (set, _) = compiled([4], &agents);
    let query = Query::new(set, agents.to_vec(), Detail::Rule, Limits::default()).unwrap();
    decide(&query, &[1], &[b"/"], &mut QueryMemory::default());
}
