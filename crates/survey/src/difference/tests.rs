//! Differences of synthetic sets against a naive comparison, and against the oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{BlobPool, Content, HostStanding, Standing, Standings};
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, Dialect, GOOGLE, KOSTER_1996, RFC_9309};
use portcullis_files::scratch::Scratch;
use portcullis_report::Figures;
use portcullis_robots::policy::Crawler;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::Damage;
use portcullis_set::lists::lists;
use portcullis_set::stored::{CaptureFacts, PolicySet};
use portcullis_testkit::Random;

use super::{Change, ChangeCounts, OriginChange, OriginState, Side, each_change};

use portcullis_oracle as oracle;

/// A file, or the meaning of its absence.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KnownFile {
    File(String),
    Access(AccessOutcome),
}

/// The known origins, by host key and whether the scheme is https.
type World = BTreeMap<(String, bool), KnownFile>;

const DOWN: KnownFile = KnownFile::Access(AccessOutcome {
    state: PolicyState::Unreachable,
    verdict: Verdict::Disallow,
});

fn gone(verdict: Verdict) -> KnownFile {
    KnownFile::Access(AccessOutcome { state: PolicyState::Unavailable, verdict })
}

fn set(world: &World, dialect: &'static Dialect) -> Arc<PolicySet> {
    let mut pool = BlobPool::default();
    let mut hosts: Vec<HostStanding> = Vec::new();
    for ((key, https), known) in world {
        let content = match known {
            KnownFile::Access(outcome) => Content::Access(*outcome),
            KnownFile::File(text) => {
                let file = RobotsTxt::parse(text.as_bytes(), dialect, None);
                let [extract, others] = lists(&file, text.as_bytes());
                let mut intern = |bytes: &[u8]| pool.intern(bytes).unwrap();
                let has_rules = !file.rules().is_empty();
                Content::File { extract: intern(&extract), others: intern(&others), has_rules }
            }
        };
        if hosts.last().is_none_or(|host| *host.key != *key.as_bytes()) {
            hosts.push(HostStanding { key: key.as_bytes().into(), ..HostStanding::default() });
        }
        let host = hosts.last_mut().expect("it is there now");
        let standing = Some(Standing { content, facts: CaptureFacts::default() });
        *(if *https { &mut host.https } else { &mut host.http }) = standing;
    }
    let standings = Standings::in_memory(hosts, pool);
    let bytes = compile::to_vec(&standings, &CompileConfig::new(dialect, None));
    PolicySet::from_bytes("a set in memory", bytes.expect("memory takes it"))
        .expect("just made")
        .into()
}

fn changes(sides: &[Side; 2]) -> (Vec<OriginChange>, ChangeCounts) {
    let mut found = Vec::new();
    let counts = each_change(sides, |change| {
        found.push(change);
        Ok::<(), Damage>(())
    });
    (found, counts.expect("nothing is damaged"))
}

fn chains(names: &[&str], dialect: &Dialect) -> Vec<Crawler> {
    names.iter().map(|name| Crawler::parse(name, dialect).expect("a token")).collect()
}

/// Returns the records of a file without their lines.
fn records(text: &str, dialect: &Dialect) -> Vec<String> {
    let file = RobotsTxt::parse(text.as_bytes(), dialect, None);
    let mut records = Vec::new();
    for group in file.groups() {
        records.push("group".to_owned());
        records.extend(file.user_agents_of(group).iter().map(|line| format!("{:?}", line.value)));
        let rules = file.rules_of(group).iter();
        records.extend(rules.map(|rule| format!("{} {:?}", rule.verdict, rule.value)));
    }
    records
}

fn state(known: &KnownFile, dialect: &Dialect) -> OriginState {
    match known {
        KnownFile::Access(outcome) => {
            OriginState { state: outcome.state, verdict: Some(outcome.verdict) }
        }
        KnownFile::File(text) => {
            let has_rules = !RobotsTxt::parse(text.as_bytes(), dialect, None).rules().is_empty();
            let state = if has_rules { PolicyState::Rules } else { PolicyState::NoRules };
            OriginState { state, verdict: None }
        }
    }
}

/// Returns the changed records, found by looking up every origin.
fn naive(old: &World, new: &World, dialect: &Dialect) -> Vec<OriginChange> {
    let keys: BTreeSet<&(String, bool)> = old.keys().chain(new.keys()).collect();
    let change = |key: &&(String, bool)| {
        let (before, after) = (old.get(key), new.get(key));
        let states = [before, after].map(|known| known.map(|it| state(it, dialect)));
        let change = match (before, after) {
            (None, _) => Some(Change::Added),
            (_, None) => Some(Change::Gone),
            _ if states[0] != states[1] => Some(Change::State),
            // A file without rules may have groups, which never affect decisions.
            (Some(KnownFile::File(old)), Some(KnownFile::File(new))) => {
                let has_rules = states[0].is_some_and(|it| it.state == PolicyState::Rules);
                let differ = has_rules && records(old, dialect) != records(new, dialect);
                differ.then_some(Change::Rules)
            }
            _ => None,
        };
        let origin = match &key.0 {
            other if other.contains("://") => other.clone(),
            host if key.1 => format!("https://{host}"),
            host => format!("http://{host}"),
        };
        change.map(|change| OriginChange {
            origin: origin.into(),
            change,
            states,
            agents: Box::default(),
        })
    };
    keys.iter().filter_map(change).collect()
}

fn file(random: &mut Random) -> String {
    const LINES: [&str; 11] = [
        "User-agent: *",
        "User-agent: ABot",
        "User-agent: BBot # b",
        "Disallow: /a",
        "disallow:/a",
        "Allow: /a/b",
        "Allow: /ab",
        "Disallow: /b*a$",
        "Disallow: /b",
        "Sitemap: https://s.example/",
        "",
    ];
    (0..random.below(7)).map(|_| format!("{}\n", random.pick(&LINES))).collect()
}

fn known(random: &mut Random) -> KnownFile {
    match random.below(6) {
        0 => DOWN,
        1 => {
            let verdict = *random.pick(&[Verdict::Allow, Verdict::Disallow]);
            gone(verdict)
        }
        _ => KnownFile::File(file(random)),
    }
}

fn world(random: &mut Random) -> World {
    let mut world = World::new();
    for host in 0..12 {
        let of_both = known(random);
        for https in [false, true] {
            match random.below(4) {
                0 => {}
                1 => drop(world.insert((format!("h{host}.example"), https), known(random))),
                _ => drop(world.insert((format!("h{host}.example"), https), of_both.clone())),
            }
        }
    }
    if random.below(2) == 0 {
        world.insert(("ftp://h1.example".into(), false), known(random));
    }
    world
}

/// Returns a world after some changes.
fn later(random: &mut Random, earlier: &World) -> World {
    let mut later = earlier.clone();
    for (key, known) in world(random) {
        match random.below(6) {
            0 => drop(later.insert(key, known)),
            1 => drop(later.remove(&key)),
            2 => {
                if let Some(KnownFile::File(text)) = later.get_mut(&key) {
                    text.insert_str(0, "# moved\n\n");
                    text.push_str(random.pick::<&str>(&["", "Crawl-delay: 1\n", "Disallow: /c\n"]));
                }
            }
            _ => {}
        }
    }
    later
}

/// Compares two sets without agents.
fn by_records(old: &Arc<PolicySet>, new: &Arc<PolicySet>) -> [Side; 2] {
    [old, new].map(|set| Side::new(set, Vec::new(), None).unwrap())
}

#[test]
fn the_records_of_sets_are_compared_as_if_one_by_one() {
    let mut random = Random::new(1);
    let mut seen = Figures::default();
    for round in 0..300 {
        let dialect = Dialect::ALL[round % Dialect::ALL.len()];
        let old = world(&mut random);
        let new = later(&mut random, &old);
        let sets = (set(&old, dialect), set(&new, dialect));
        let (found, counts) = changes(&by_records(&sets.0, &sets.1));
        assert_eq!(found, naive(&old, &new, dialect), "{old:#?} {new:#?}");
        let all = counts.changed.sum() + counts.unchanged;
        assert_eq!(counts.changed.sum(), found.len() as u64);
        assert_eq!(all - counts.changed.get("added"), old.len() as u64);
        assert_eq!(all - counts.changed.get("gone"), new.len() as u64);
        seen.merge(&counts.changed);
        let (none, _) = changes(&by_records(&sets.1, &sets.1));
        assert_eq!(none, []);
    }
    assert!(["added", "gone", "state", "rules"].iter().all(|change| seen.get(change) > 30));
}

#[test]
fn the_same_rules_give_the_same_verdicts() {
    let names = ["ABot", "BBot+ABot", "Other"];
    let paths = ["a", "b", "aa", "ab", "ba", "bb", "a/b", "b/a", "aab", "bba", "c", "ca", ""];
    let mut random = Random::new(2);
    let (mut same, mut other) = (0, 0);
    for round in 0..200 {
        let dialect = Dialect::ALL[round % Dialect::ALL.len()];
        let (old, new) = (file(&mut random), file(&mut random));
        let world = |text: &str| {
            let file = KnownFile::File(text.to_owned());
            set(&World::from([(("h.example".to_owned(), true), file)]), dialect)
        };
        let sets = (world(&old), world(&new));
        let side = |set| Side::new(set, chains(&names, dialect), None).unwrap();
        let (found, _) = changes(&[side(&sets.0), side(&sets.1)]);
        for (agent, name) in names.iter().enumerate() {
            let changed = found.iter().any(|it| it.agents.is_empty() || it.agents.contains(&agent));
            let tokens: Vec<&str> = name.split('+').collect();
            let verdict = |text: &str, path: &str| {
                let url = format!("https://h.example/{path}");
                oracle::decide(dialect, text.as_bytes(), None, &tokens, url.as_bytes()).verdict
            };
            let differs = paths.iter().any(|path| verdict(&old, path) != verdict(&new, path));
            assert!(changed || !differs, "{} {name}: {old:?} {new:?}", dialect.name);
            *(if changed { &mut other } else { &mut same }) += 1;
        }
    }
    assert!(same > 100 && other > 100, "{same} {other}");
}

const NOBODY: [usize; 0] = [];

/// Returns the agents whose rules differ between two files of one origin, each read in its own
/// dialect.
fn changed_for(
    (old, old_dialect): (&str, &'static Dialect),
    (new, new_dialect): (&str, &'static Dialect),
) -> Vec<usize> {
    let world = |text: &str| World::from([(("h".into(), true), KnownFile::File(text.into()))]);
    let sets = (set(&world(old), old_dialect), set(&world(new), new_dialect));
    let names = ["ABot", "Other"];
    let sides = [(&sets.0, old_dialect), (&sets.1, new_dialect)]
        .map(|(set, dialect)| Side::new(set, chains(&names, dialect), None).unwrap());
    let (found, counts) = changes(&sides);
    match found.as_slice() {
        [] => vec![],
        [OriginChange { agents, change: Change::Rules, .. }] => {
            let by_agent = [0, 1].map(|agent| u64::from(agents.contains(&agent)));
            assert_eq!(counts.rules_by_agent, by_agent);
            agents.to_vec()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_counts_as_other_rules() {
    let one = "User-agent: ABot\nDisallow: /a\nDisallow: /b\n\nUser-agent: *\nDisallow: /x\n";
    let cases: [(&str, &[usize]); 10] = [
        (one, &[]),
        // Lines, comments, order, repetition and another spelling of the same pattern.
        (
            "# moved\n\nUser-agent: *\nDisallow: /%78\n\nUser-agent: abot\nDisallow: /b\nDisallow: /a\nDisallow: /b\n",
            &[],
        ),
        ("User-agent: ABot\nUser-agent: *\nDisallow: /a\nDisallow: /b\n", &[1]),
        ("User-agent: ABot\nDisallow: /a\n\nUser-agent: *\nDisallow: /x\n", &[0]),
        ("User-agent: ABot\nDisallow: /a\nAllow: /b\n\nUser-agent: *\nDisallow: /x\n", &[0]),
        ("User-agent: ABot\nDisallow: /a\nDisallow: /b\n", &[1]),
        ("User-agent: *\nDisallow: /x\n", &[0]),
        // A new name takes an agent from the default group to a group with the same rules.
        (
            "User-agent: ABot\nDisallow: /a\nDisallow: /b\n\nUser-agent: Other\nUser-agent: *\nDisallow: /x\n",
            &[],
        ),
        // An equal pattern after one that is longer as a text and decides.
        (
            "User-agent: ABot\nDisallow: /a\nDisallow: /b*\nAllow: /b\n\nUser-agent: *\nDisallow: /x\n",
            &[],
        ),
        // It never decides, but it is another rule.
        (
            "User-agent: ABot\nDisallow: /a\nDisallow: /b\nDisallow: /b/c\n\nUser-agent: *\nDisallow: /x\n",
            &[0],
        ),
    ];
    for (other, agents) in cases {
        assert_eq!(changed_for((one, &RFC_9309), (other, &RFC_9309)), agents, "{other}");
        assert_eq!(changed_for((other, &RFC_9309), (one, &RFC_9309)), agents, "{other}");
    }
}

#[test]
fn what_counts_depends_on_the_dialects() {
    // Order counts where it decides.
    let old = "User-agent: *\nDisallow: /a\nAllow: /a/b\n";
    let new = "User-agent: *\nAllow: /a/b\nDisallow: /a\n";
    assert_eq!(changed_for((old, &RFC_9309), (new, &RFC_9309)), NOBODY);
    assert_eq!(changed_for((old, &KOSTER_1996), (new, &KOSTER_1996)), [0, 1]);
    // A group without rules is none.
    let old = "User-agent: ABot\nDisallow: /a\n";
    let new = "User-agent: ABot\nDisallow: /a\n\nUser-agent: Other\nDisallow:\n";
    assert_eq!(changed_for((old, &RFC_9309), (new, &RFC_9309)), NOBODY);
    // Each set is read in its own dialect.
    let text = "User-agent: *\nDisallow: /a*b\n";
    assert_eq!(changed_for((text, &RFC_9309), (text, &GOOGLE)), NOBODY);
    assert_eq!(changed_for((text, &RFC_9309), (text, &KOSTER_1996)), [0, 1]);
}

#[test]
fn hosts_out_of_order_are_damage_and_end_it() {
    let host = |key: &str| {
        let outcome = AccessOutcome { state: PolicyState::Unavailable, verdict: Verdict::Allow };
        let standing =
            Standing { content: Content::Access(outcome), facts: CaptureFacts::default() };
        HostStanding { key: key.as_bytes().into(), http: Some(standing), ..HostStanding::default() }
    };
    let set = |keys: &[&str]| {
        let hosts = keys.iter().map(|key| host(key));
        let standings = Standings::in_memory(hosts, BlobPool::default());
        let bytes = compile::to_vec(&standings, &CompileConfig::new(&RFC_9309, None)).unwrap();
        Arc::new(PolicySet::from_bytes("a set in memory", bytes).unwrap())
    };
    let sound = set(&["a", "b", "c"]);
    for keys in [&["b", "a", "c"][..], &["a", "a"]] {
        let odd = set(keys);
        for (old, new) in [(&sound, &odd), (&odd, &sound)] {
            let sides = by_records(old, new);
            let damage = each_change(&sides, |_| Ok::<(), Damage>(())).unwrap_err();
            assert!(damage.to_string().contains("hosts are not in order"), "{damage}");
        }
        assert!(portcullis_build::settled(&odd, &Scratch::in_memory()).is_err());
    }
}

#[test]
fn other_usage_records_are_a_change_of_their_own() {
    let file = |text: &str| KnownFile::File(text.to_owned());
    let set_of = |texts: &[&str]| {
        let hosts = texts.iter().enumerate();
        let world = hosts.map(|(host, text)| ((format!("h{host:02}.example"), true), file(text)));
        set(&world.collect(), &RFC_9309)
    };
    let rules = "User-agent: *\nDisallow: /x\n";
    let with = |usage: &str| format!("{rules}{usage}");
    let (yes, no) = (with("Content-Usage: train-ai=y\n"), with("Content-Usage: train-ai=n\n"));
    let two = "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /y\n";
    let (in_a, in_b) = (
        two.replace("/x\n", "/x\nContent-Usage: train-ai=n\n"),
        two.replace("/y\n", "/y\nContent-Usage: train-ai=n\n"),
    );
    let signal = "Content-Signal: ai-train=no\n";
    let other_lines = format!("# here\n\n{yes}");
    let later = with("Disallow: /y\nContent-Usage: train-ai=y\n");
    let pairs: [(&str, &str, &str); 14] = [
        (&yes, &no, "usage"),
        (rules, &yes, "usage"),
        (&yes, rules, "usage"),
        (&in_a, &in_b, "usage"),
        ("User-agent: a\nLicense: /l\n", "User-agent: b\nLicense: /l\n", "usage"),
        ("", signal, "usage"),
        ("User-agent: *\nContent-Usage: train-ai=y\n", &yes, "state"),
        ("User-agent: *\nContent-Usage: train-ai=y\n", &no, "state-and-usage"),
        (&yes, "", "state-and-usage"),
        (&yes, &other_lines, ""),
        (&yes, &later, "rules"),
        (signal, signal, ""),
        (&yes, "User-agent: *\nDisallow: /\nContent-Usage: train-ai=n\n", "rules-and-usage"),
        (&yes, "User-agent: *\nDisallow: /\nContent-Usage: train-ai=y\n", "rules"),
    ];
    let old = set_of(&pairs.map(|pair| pair.0));
    let new = set_of(&pairs.map(|pair| pair.1));
    let expected: Vec<&str> = pairs.iter().map(|pair| pair.2).filter(|it| !it.is_empty()).collect();
    let asked = |set| Side::new(set, chains(&["GPTBot"], &RFC_9309), None).unwrap();
    for sides in [by_records(&old, &new), [asked(&old), asked(&new)]] {
        let (found, counts) = changes(&sides);
        let found: Vec<&str> = found.iter().map(|it| it.change.as_str()).collect();
        assert_eq!(found, expected);
        assert_eq!(
            (counts.changed.to_string(), counts.unchanged),
            ("state 1, state-and-usage 2, rules 2, rules-and-usage 1, usage 6".into(), 2)
        );
    }
}
