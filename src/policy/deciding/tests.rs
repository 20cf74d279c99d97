use crate::automaton::Limits;
use crate::dialect::RFC_9309;
use crate::limits::SCANS_BEFORE_STATES;
use crate::policy::{AgentChain, Compilation, Detail, PolicySource, PolicyTable};

/// Files with stars, without, with one decision for all, and with rules that two agents share.
const FILES: [&[u8]; 5] = [
    b"User-agent: *\nDisallow: /a*b\nAllow: /*ab$\nDisallow: /b/*/a\n\nUser-agent: x\nDisallow: /b\n",
    b"User-agent: *\nDisallow: /ab\nAllow: /abb\nDisallow: /b/a$\n",
    b"User-agent: *\nDisallow: /\nAllow: /a\n",
    b"User-agent: x\nDisallow: /aab/bba/\n",
    b"# nothing\n",
];

/// Every path of up to six octets and some that are odd.
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
    paths.extend([&b"/robots.txt"[..], b"", b"a", b"/a\0b", b"/ab\xff"].map(<[u8]>::to_vec));
    paths
}

/// A block is answered as its questions one by one, from the first time to long after states are built.
#[test]
fn blocks_are_answered_as_single_questions() {
    let sources = FILES.map(PolicySource::File);
    let agents = ["x", "y", "z"].map(|name| AgentChain::parse(name, &RFC_9309).unwrap());
    let paths = paths();
    let sieved = Limits::sieved();
    let limits = [
        sieved,
        Limits { candidates_tried_max: Some(0), ..sieved },
        Limits { candidates_tried_max: None, ..sieved },
        Limits { candidates_tried_max: None, ahead_positions_max: 1 << 20, ..sieved },
    ];
    for limits in limits {
        for detail in [Detail::Reason, Detail::Rule] {
            let compilation = Compilation { detail, limits, ..Compilation::new(&RFC_9309) };
            let table = PolicyTable::compile(&sources, agents.to_vec(), &compilation);
            let (mut memory, mut single) = (table.memory(), table.memory());
            let questions: Vec<(u32, &[u8])> = paths
                .iter()
                .flat_map(|path| (0..FILES.len() as u32).map(move |policy| (policy, &path[..])))
                .chain([(PolicyTable::NO_POLICY, &b"/"[..]), (PolicyTable::NO_URL, b"")])
                .collect();
            for size in [questions.len(), 300, 7, 1] {
                for block in questions.chunks(size) {
                    let policies: Vec<u32> = block.iter().map(|question| question.0).collect();
                    let given =
                        table.decide_block(&policies, |number| block[number].1, &mut memory);
                    for (given, (policy, path)) in given.chunks(agents.len()).zip(block) {
                        if (*policy as usize) < FILES.len() {
                            let expected = table.decide(*policy as usize, path, &mut single);
                            assert_eq!(given, expected, "{policy} {path:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(paths.len() as u64 > SCANS_BEFORE_STATES);
}
