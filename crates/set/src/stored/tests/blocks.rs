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

fn decide(session: &mut Session, policies: &[u32], paths: &[&[u8]]) -> Vec<Decision> {
    session.decide(policies, ComparedPaths::assume_normal(paths)).unwrap();
    session.decisions_with_rules().unwrap()
}

/// The rule and the group behind an answer.
type Whence = [Option<Vec<u8>>; 2];

fn whence(session: &mut Session, question: usize, agent: usize) -> Whence {
    let full = session.full_decision(question, agent).unwrap();
    [full.rule, full.group].map(|bytes| bytes.map(<[u8]>::to_vec))
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
        for agents in [&agents[..1], &agents] {
            let (set, policies) = compiled(0..FILES.len(), agents);
            let mut questions: Vec<(u32, &[u8])> = paths
                .iter()
                .flat_map(|path| policies.iter().map(move |&policy| (policy, &path[..])))
                .chain([(NO_POLICY, &b"/"[..]), (NO_URL, b"")])
                .collect();
            check_blocks((&set, agents, limits), &questions);
            questions.sort_by_key(|question| question.0);
            check_blocks((&set, agents, limits), &questions);
        }
    }
}

/// Decides in blocks of several sizes, with all vector widths, and one by one.
fn check_blocks(
    (set, asking, limits): (&Arc<PolicySet>, &[AgentChain], Limits),
    questions: &[(u32, &[u8])],
) {
    let agents = asking.len();
    for vectors in Vectors::all() {
        let classifier = Classifier::with_limits(Arc::clone(set), asking.to_vec(), limits);
        let classifier = Arc::new(classifier.unwrap().with_vectors(vectors));
        let mut session = Session::new(Arc::clone(&classifier), None);
        let mut single = Session::new(classifier, None);
        for size in [questions.len(), 300, 9, 7, 1] {
            for block in questions.chunks(size) {
                let policies: Vec<u32> = block.iter().map(|question| question.0).collect();
                let paths: Vec<&[u8]> = block.iter().map(|question| question.1).collect();
                let given = decide(&mut session, &policies, &paths);
                for (question, given) in given.chunks(agents).enumerate() {
                    let (policy, path) = block[question];
                    let expected = match policy {
                        NO_POLICY => vec![Decision::UNKNOWN; agents],
                        NO_URL => vec![Decision::INVALID; agents],
                        policy => decide(&mut single, &[policy], &[path]),
                    };
                    assert_eq!(given, expected, "{policy} {path:?} {vectors:?}");
                    for agent in 0..agents {
                        let expected = match policy {
                            NO_POLICY | NO_URL => [None, None],
                            _ => whence(&mut single, 0, agent),
                        };
                        assert_eq!(whence(&mut session, question, agent), expected);
                    }
                }
            }
        }
    }
}

/// The decisions of a file do not depend on other files in the set, including identical ones.
#[test]
fn a_file_decides_the_same_alone_and_beside_others() {
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let files: Vec<usize> = (0..FILES.len()).chain((0..FILES.len()).rev()).chain([0, 4]).collect();
    let session = |files: &[usize]| {
        let (set, policies) = compiled(files.iter().copied(), &agents);
        let classifier = Classifier::new(set, agents.to_vec()).unwrap();
        (Session::new(classifier, None), policies)
    };
    let (mut together, policies) = session(&files);
    for (&file, &policy) in files.iter().zip(&policies) {
        let (mut alone, own) = session(&[file]);
        for path in paths() {
            let expected = decide(&mut alone, &own, &[&path]);
            assert_eq!(decide(&mut together, &[policy], &[&path]), expected, "{file} {path:?}");
            for agent in 0..agents.len() {
                let expected = whence(&mut alone, 0, agent);
                assert_eq!(whence(&mut together, 0, agent), expected, "{file} {path:?}");
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
    let classifier = Classifier::new(set, agents.to_vec()).unwrap();
    decide(&mut Session::new(classifier, None), &[1], &[b"/"]);
}
