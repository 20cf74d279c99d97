//! The other files in a set of these tests, at origins of their own: a file with more
//! rule sets than are stored, origins without a file, and a file whose rules are damaged.
//!
//! A session keeps memory from one block to the next. [`agree`](crate::agree) asks about companions
//! between the blocks of a comparison, in blocks of other sizes, so that every comparison notices
//! whatever survives a block.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{Content, HostStanding, Standing, Standings};
use portcullis_dialect::decision::{Decision, PolicyState, Reason, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, Dialect};
use portcullis_dialect::usage::{Label, Stated, Usage};
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;
use portcullis_set::limits::SET_BLOCK_BYTES;
use portcullis_set::stored::CaptureFacts;

use crate::sets::{compiled_at, files_at_origins, opened, set_at, standings_at};
use crate::{Answer, Form, Question, World};

const CROWDED: &str = "crowded.companion.example";
const DAMAGED: &str = "damaged.companion.example";
/// The origins without a file: the status, and what holds there.
const WITHOUT_FILE: [(&str, u16, AccessOutcome, Reason); 2] = [
    (
        "down.companion.example",
        503,
        AccessOutcome { state: PolicyState::Unreachable, verdict: Verdict::Disallow },
        Reason::Unreachable,
    ),
    (
        "gone.companion.example",
        404,
        AccessOutcome { state: PolicyState::Unavailable, verdict: Verdict::Allow },
        Reason::Unavailable,
    ),
];
const UNKNOWN: &str = "unknown.companion.example";

/// Rules of the group that applies together with each of the others. They match nothing, so that they cost
/// little.
const LARGE_GROUP_RULES: usize = 1_024;
/// Statements about usage of that group, each of which counts once per label.
const LARGE_GROUP_STATEMENTS: usize = 80;
/// The other crawlers that the file names.
const ROBOTS: usize = 256;

/// Bytes of the rule that is damaged: a whole block lies within it, so nothing else is lost.
const DAMAGED_RULE_BYTES: usize = 2 * SET_BLOCK_BYTES + 64;
const DAMAGED_RULE: u8 = b'Q';

/// The sets of a process that have companions: so many, and then those whose number is a power of two.
/// Some tests make thousands of small sets, and to compile companions takes longer than all of these.
const FIRST_SETS: usize = 6;
static SETS: AtomicUsize = AtomicUsize::new(0);

/// Blocks about companions: large ones, so that what survives is beyond the next block, and small
/// ones.
const LARGE: usize = 17;
const SMALL: usize = 5;

/// Questions about companions, with the oracle's answers for the agents of a test.
#[derive(Debug)]
pub(crate) struct Companions {
    /// About the crowded file, then about origins without a file.
    pub(crate) questions: World,
    crowded: usize,
    is_stored: bool,
}

/// Companions by dialect, agents, and whether their set is stored: the oracle takes its time.
type Known = Mutex<HashMap<(&'static str, Vec<String>, bool), Arc<Companions>>>;
static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

impl Companions {
    /// Returns the companions of a set; `None` if it was made without them.
    pub(crate) fn of(set: &PolicySet, agents: &[Crawler]) -> Option<Arc<Companions>> {
        let has = |host: &str| {
            let found = set.policy_of(b"https", host.as_bytes());
            !set.is_universal() && found.expect("a whole set").is_some()
        };
        let (dialect, is_stored) = (set.dialect(), has(DAMAGED));
        let names = agents.iter().map(|agent| agent.name().to_owned()).collect();
        has(CROWDED).then(|| {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            let companions = known.entry((dialect.name, names, is_stored));
            let new = || Arc::new(Companions::new(dialect, agents, is_stored));
            Arc::clone(companions.or_insert_with(new))
        })
    }

    fn new(dialect: &'static Dialect, agents: &[Crawler], is_stored: bool) -> Companions {
        let mut questions = World::new(dialect, None, &[]);
        questions.agents = agents.to_vec();
        let paths = ["/", "/shared", "/shared/open", "/own/7", "/pages/1/x"];
        let urls = paths.map(|path| format!("https://{CROWDED}{path}").into_bytes());
        questions.add_everywhere(&crowded(agents), urls);
        let crowded = questions.questions.len();
        let without_file = WITHOUT_FILE.map(|(host, _, AccessOutcome { verdict, .. }, reason)| {
            let decision = Decision::without_rule(verdict, reason);
            (host, if is_stored { decision } else { Decision::UNKNOWN })
        });
        for (host, decision) in without_file.into_iter().chain([(UNKNOWN, Decision::UNKNOWN)]) {
            let usage = Usage::new(decision, [Stated::UNSTATED; Label::ALL.len()]);
            let answer = Answer { usage, licences: [].into() };
            let judged = vec![Some(answer); agents.len()];
            let url = format!("https://{host}/own/7").into_bytes();
            questions.questions.push(Question { file: 0, url, judged });
        }
        Companions { questions, crowded, is_stored }
    }

    /// Returns a block of questions about the crowded file.
    pub(crate) fn crowded(&self) -> impl Iterator<Item = usize> {
        let count = self.crowded;
        (0..LARGE).map(move |number| number % count)
    }

    /// Returns a block of questions about origins without a file, and one about the crowded file.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = usize> {
        let (crowded, count) = (self.crowded, self.questions.questions.len() - self.crowded + 1);
        (0..SMALL).map(move |number| crowded - 1 + (number + 1) % count)
    }

    /// Returns a block that fails, after some of its answers were found; `None` if it would not.
    pub(crate) fn failing(&self) -> Option<Vec<Vec<u8>>> {
        let mut urls: Vec<Vec<u8>> =
            self.crowded().map(|at| self.questions.questions[at].url.clone()).collect();
        urls[LARGE / 2] = format!("https://{DAMAGED}/own/7").into_bytes();
        self.is_stored.then_some(urls)
    }
}

/// Returns the file of the crowded origin: a large group, which applies together with one group for each
/// crawler, so that each agent has several rule groups.
fn crowded(agents: &[Crawler]) -> Vec<u8> {
    let robots = (0..ROBOTS).map(|number| format!("companion{number}"));
    let tokens = agents.iter().flat_map(Crawler::tokens).map(str::to_owned);
    let names: Vec<String> = robots.chain(tokens).collect();
    let mut text: String = names.iter().map(|name| format!("User-agent: {name}\n")).collect();
    text += &"Disallow:\n".repeat(LARGE_GROUP_RULES);
    text += "Disallow: /shared\nAllow: /shared/open\n";
    for number in 0..LARGE_GROUP_STATEMENTS {
        text += &format!("Content-Usage: /*{number}*x train-ai=n, search=y\n");
    }
    for name in names {
        // The same for all, so that few rule sets are stored and the others have small numbers, as
        // fixed decisions do.
        text += &format!("User-agent: {name}\nDisallow: /own\nContent-Usage: /own train-ai=y\n");
    }
    text.into_bytes()
}

/// Returns the file of the damaged origin.
fn damaged() -> Vec<u8> {
    let rule = char::from(DAMAGED_RULE).to_string().repeat(DAMAGED_RULE_BYTES);
    format!("User-agent: *\nDisallow: /{rule}\n").into_bytes()
}

/// Flips a bit within the long rule, in its text and in its rule set.
fn damage(bytes: &mut [u8]) {
    let is_long = |run: &&mut [u8]| run[0] == DAMAGED_RULE && run.len() >= 2 * SET_BLOCK_BYTES;
    let runs = bytes.chunk_by_mut(|one, other| one == other).filter(is_long);
    let damaged = runs.map(|run| run[run.len() / 2] ^= 1).count();
    assert_ne!(damaged, 0, "a rule is stored as it is written");
}

/// Returns the set of `files`, each of which applies to its [`origin`](crate::origin), in this form.
/// It also has companions for `agents`, about which [`agree`](crate::agree) asks between the blocks
/// of a comparison. One that is compiled into memory has the crowded file alone, and only if the limit
/// on files takes it. Of many sets in one process, most have no companions.
pub fn set_to_compare(
    form: Form,
    files: &[impl AsRef<[u8]>],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
    agents: &[Crawler],
) -> Arc<PolicySet> {
    let mut files = files_at_origins(files);
    let number = SETS.fetch_add(1, Ordering::Relaxed);
    if number >= FIRST_SETS && !number.is_power_of_two() {
        return set_at(form, &files, (dialect, robots_bytes_max));
    }
    let crowded = crowded(agents);
    if form == Form::Compiled {
        let fits = robots_bytes_max.is_none_or(|max| crowded.len() <= max);
        files.extend(fits.then_some((origin_of(CROWDED), &crowded[..])));
        return compiled_at(&files, (dialect, robots_bytes_max)).into();
    }
    // The limit does not cut companions.
    let damaged = damaged();
    let companions = [(origin_of(CROWDED), &crowded[..]), (origin_of(DAMAGED), &damaged)];
    let others = standings_at(&companions, (dialect, None));
    let standings = standings_at(&files, (dialect, robots_bytes_max));
    let mut hosts = standings.to_vec().expect("memory does not fail");
    let mut pool = standings.pool;
    for mut host in others.to_vec().expect("memory does not fail") {
        for standing in [&mut host.http, &mut host.https].into_iter().flatten() {
            let Content::File { extract, others: records, .. } = &mut standing.content else {
                unreachable!("companions of this kind are files");
            };
            for blob in [extract, records] {
                let bytes = others.pool.get(*blob).expect("memory does not fail");
                *blob = pool.intern(&bytes).expect("memory takes it");
            }
        }
        hosts.push(host);
    }
    hosts.extend(WITHOUT_FILE.map(|(host, status, outcome, _)| {
        let facts = CaptureFacts { status, ..CaptureFacts::default() };
        let standing = Standing { content: Content::Access(outcome), facts };
        let key = host.as_bytes().into();
        HostStanding { key, https: Some(standing), ..HostStanding::default() }
    }));
    hosts.sort_by(|one, other| one.key.cmp(&other.key));
    let standings = Standings::in_memory(hosts, pool);
    // No file of a set is longer than its limit.
    let config = CompileConfig::new(dialect, robots_bytes_max.map(|max| max.max(crowded.len())));
    let mut bytes = compile::to_vec(&standings, &config).expect("memory takes it");
    damage(&mut bytes);
    opened(form, &bytes)
}

fn origin_of(host: &str) -> Origin {
    Origin::from_robots_txt(format!("https://{host}/robots.txt").as_bytes()).expect("a robots.txt")
}
