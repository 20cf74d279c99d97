use crate::automaton::Limits;
use crate::dialect::RFC_9309;
use crate::policy::{
    AgentChain, Compilation, Detail, NO_POLICY, NO_URL, PolicySource, PolicyTable,
};
use crate::vectors::Vectors;

use super::*;

/// Files with stars, without, with one decision for all, and with rules that two agents share.
const FILES: [&[u8]; 5] = [
    b"User-agent: *\nDisallow: /a*b\nAllow: /*ab$\nDisallow: /b/*/a\n\nUser-agent: x\nDisallow: /b\n",
    b"User-agent: *\nDisallow: /ab\nAllow: /abb\nDisallow: /b/a$\n",
    b"User-agent: *\nDisallow: /\nAllow: /a\n",
    b"User-agent: x\nDisallow: /aab/bba/\n",
    b"# nothing\n",
];

/// Every path of up to six octets, longer ones that begin so, and some that are odd.
fn paths() -> Vec<Vec<u8>> {
    let mut paths = vec![b"/".to_vec()];
    let mut from = 0;
    for _ in 0..6 {
        let to = paths.len();
        for index in from..to {
            for octet in b"ab/" {
                paths.push([&paths[index][..], &[*octet]].concat());
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

/// A block is answered as its questions one by one, from the first time to long after states are built; for
/// one agent and for several, where neighbours have the same policy and where they do not.
#[test]
fn blocks_are_answered_as_single_questions() {
    let sources = FILES.map(PolicySource::File);
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let paths = paths();
    let mut questions: Vec<(u32, &[u8])> = paths
        .iter()
        .flat_map(|path| (0..FILES.len() as u32).map(move |policy| (policy, &path[..])))
        .chain([(NO_POLICY, &b"/"[..]), (NO_URL, b"")])
        .collect();
    let mixed = questions.clone();
    questions.sort_by_key(|question| question.0);
    let usual = Limits::default();
    let limits = [
        usual,
        Limits { candidates_tried_max: Some(0), ..usual },
        Limits { candidates_tried_max: None, ..usual },
        Limits { candidates_tried_max: None, positions_per_byte: 0, ..usual },
    ];
    for limits in limits {
        for detail in [Detail::Reason, Detail::Rule] {
            let compilation = Compilation { detail, limits, ..Compilation::new(&RFC_9309) };
            for agents in [&agents[..1], &agents] {
                let table = PolicyTable::compile(&sources, agents.to_vec(), &compilation);
                check_blocks(&table, &mixed);
                check_blocks(&table, &questions);
            }
        }
    }
}

/// Asks in blocks of several sizes, with all kinds of vectors, and one by one.
fn check_blocks(table: &PolicyTable, questions: &[(u32, &[u8])]) {
    let (mut memory, mut single) = (table.memory(), table.memory());
    let agents = table.agents.len();
    for vectors in Vectors::all() {
        for size in [questions.len(), 300, 9, 7, 1] {
            for block in questions.chunks(size) {
                let policies: Vec<u32> = block.iter().map(|question| question.0).collect();
                let paths: Vec<&[u8]> = block.iter().map(|question| question.1).collect();
                let memory = &mut memory;
                let Ok(()) = vectors.run(Block::new(table, &policies, &paths, memory));
                if table.detail == Detail::Rule {
                    table.name_rules(memory);
                }
                let given = memory.decisions.chunks(agents).zip(block).enumerate();
                for (question, (given, (policy, path))) in given {
                    let expected = match *policy {
                        NO_POLICY => &vec![Decision::UNKNOWN; agents],
                        NO_URL => &vec![Decision::INVALID; agents],
                        policy => table.decide(policy as usize, path, &mut single),
                    };
                    assert_eq!(given, expected, "{policy} {path:?} {vectors:?}");
                    for agent in 0..agents {
                        let whence = table.provenance(question, agent, memory);
                        if (*policy as usize) < FILES.len() {
                            let expected = table.provenance(0, agent, &single);
                            assert_eq!(whence, expected, "{policy} {path:?} {vectors:?}");
                        } else {
                            assert_eq!(whence, Provenance::default());
                        }
                    }
                }
            }
        }
    }
}

/// What a file decides does not depend on the files beside it, equal ones among them.
#[test]
fn a_file_decides_the_same_alone_and_beside_others() {
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let unreachable = PolicySource::Access(RFC_9309.access.forbidden);
    let mut sources = FILES.map(PolicySource::File).to_vec();
    sources.push(unreachable);
    sources.extend(FILES.into_iter().rev().map(PolicySource::File));
    sources.extend([unreachable, PolicySource::File(FILES[0]), PolicySource::File(b"")]);
    for detail in [Detail::Reason, Detail::Rule] {
        let compilation = Compilation { detail, ..Compilation::new(&RFC_9309) };
        let table = PolicyTable::compile(&sources, agents.to_vec(), &compilation);
        let mut memory = table.memory();
        assert_eq!(table.len(), sources.len());
        for (policy, source) in sources.iter().enumerate() {
            let alone = PolicyTable::compile(&[*source], agents.to_vec(), &compilation);
            let mut memory_alone = alone.memory();
            for path in paths() {
                let expected = alone.decide(0, &path, &mut memory_alone).to_vec();
                assert_eq!(table.decide(policy, &path, &mut memory), expected, "{policy} {path:?}");
                for agent in 0..agents.len() {
                    let provenance = alone.provenance(0, agent, &memory_alone);
                    assert_eq!(
                        table.provenance(0, agent, &memory),
                        provenance,
                        "{policy} {path:?}"
                    );
                }
            }
        }
    }
}

/// The caller's mistake is not taken for a policy that allows.
#[test]
#[should_panic(expected = "index out of bounds")]
fn a_policy_that_is_not_there_is_no_answer() {
    let agents = vec![AgentChain::parse("x", &RFC_9309).unwrap()];
    let table =
        PolicyTable::compile(&[PolicySource::File(FILES[4])], agents, &Compilation::new(&RFC_9309));
    table.decide(1, b"/", &mut table.memory());
}
