//! The comparison of an engine with an oracle.

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::usage::{Label, Stated, Usage};
use rayon::prelude::*;

use crate::companions::Companions;
use crate::{Engine, Given, Memory};

/// The most differences that are kept.
const KEPT_MAX: usize = 10;

/// The right answer to a question for one agent.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'o> {
    /// The decision about access.
    pub access: Decision,
    /// The statement about each label, and the licences. `None` leaves them out.
    pub usage: Option<(&'o [Stated; Label::ALL.len()], &'o [Vec<u8>])>,
}

/// Numbered questions with their right answers.
pub trait Oracle: Sync {
    /// Appends the URL of a question to an empty buffer.
    fn write_url(&self, question: usize, url: &mut Vec<u8>);

    /// Returns the right answer for the agent at a position. `None` leaves it out.
    fn judged(&self, question: usize, agent: usize) -> Option<Judged<'_>>;

    /// Returns a question as text for messages: dialect, URL and file.
    fn describe(&self, question: usize) -> String;

    /// Returns whether `answer` is right if the configuration allows `expected`.
    fn accepts(&self, _question: usize, answer: Decision, expected: Decision) -> bool {
        answer == expected
    }
}

/// A wrong answer.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The question.
    pub question: usize,
    /// The position of the agent in the oracle's list.
    pub agent: usize,
    /// The decision of the engine.
    pub answer: Decision,
    /// Engine, question and both answers as text.
    pub text: String,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Agreement {
    /// The number of decisions compared, and of preferences.
    pub compared: u64,
    /// The number of decisions and preferences that differ.
    pub differing: u64,
    /// The first differences.
    pub differences: Vec<Difference>,
}

impl Agreement {
    /// Returns the sum of two results.
    #[must_use]
    pub fn and(mut self, other: Agreement) -> Agreement {
        self.compared += other.compared;
        self.differing += other.differing;
        self.differences.extend(other.differences);
        self.differences.truncate(KEPT_MAX);
        self
    }

    /// Adds a wrong answer to a question for an agent.
    fn differ(
        &mut self,
        (question, agent): (usize, usize),
        answer: Decision,
        engine: &Engine,
        oracle: &dyn Oracle,
        text: String,
    ) {
        self.differing += 1;
        if self.differences.len() < KEPT_MAX {
            let (how, what) = (engine.describe(), oracle.describe(question));
            let text = format!("{how}, agent {agent}: {text}\n{what}");
            self.differences.push(Difference { question, agent, answer, text });
        }
    }

    /// Returns the number of comparisons.
    ///
    /// # Panics
    ///
    /// If an answer differs.
    #[track_caller]
    pub fn whole(self) -> u64 {
        if let Some(first) = self.differences.first() {
            panic!("{} answers differ, the first one: {}", self.differing, first.text);
        }
        self.compared
    }
}

/// Asks an engine the questions of `order` in blocks of `size`, and compares each answer with the
/// oracle's. Each block is also asked with an agent per record, which has to give the same, and is not
/// counted.
///
/// A set of [`set_to_compare`](crate::set_to_compare) is also asked, with the same memory, about a file whose
/// agents have several rule groups, about origins without a file and about one whose rules are damaged: before
/// and between these blocks, in blocks of other sizes. A wrong answer there panics.
pub fn agree(
    engine: &Engine,
    memory: &mut Memory,
    oracle: &dyn Oracle,
    order: impl IntoIterator<Item = usize>,
    size: usize,
) -> Agreement {
    agree_in_order(engine, memory, oracle, &mut order.into_iter(), size)
}

/// Like [`agree`], without code that each test crate compiles anew: those are not optimised.
fn agree_in_order(
    engine: &Engine,
    memory: &mut Memory,
    oracle: &dyn Oracle,
    order: &mut dyn Iterator<Item = usize>,
    size: usize,
) -> Agreement {
    let mut found = Agreement::default();
    let (mut block, mut urls) = (Vec::with_capacity(size), Vec::new());
    let companions = engine.companions();
    // The first blocks come directly after a larger one and after one that failed.
    for turn in 0.. {
        if let Some(companions) = companions.as_ref().filter(|_| turn < 2) {
            ask_companions(companions, engine, memory);
            if turn == 1
                && let Some(failing) = companions.failing()
            {
                engine.fail(&failing, memory);
            }
        }
        block.clear();
        block.extend(order.take(size));
        if block.is_empty() && turn > 1 {
            return found;
        }
        ask(engine, memory, oracle, (&block, &mut urls), &mut found);
    }
    unreachable!("the questions end")
}

/// Asks about companions, last in a large block. Their answers are not counted.
///
/// # Panics
///
/// If an answer differs.
fn ask_companions(companions: &Companions, engine: &Engine, memory: &mut Memory) {
    let mut found = Agreement::default();
    let [large, fixed]: [Vec<usize>; 2] =
        [companions.crowded().collect(), companions.fixed().collect()];
    for block in [&large, &fixed, &large] {
        ask(engine, memory, &companions.questions, (block, &mut Vec::new()), &mut found);
    }
    found.whole();
}

fn ask(
    engine: &Engine,
    memory: &mut Memory,
    oracle: &dyn Oracle,
    (block, urls): (&[usize], &mut Vec<Vec<u8>>),
    found: &mut Agreement,
) {
    urls.resize_with(block.len(), Vec::new);
    for (&question, url) in block.iter().zip(&mut *urls) {
        url.clear();
        oracle.write_url(question, url);
    }
    let by_record = engine.decide_by_record(urls, memory);
    let given = engine.ask(urls, memory);
    for (record, &question) in block.iter().enumerate() {
        compare(engine, &given, oracle, (record, question), found);
    }
    // A verdict that is right for all agents is right for the agent of the record.
    let agents = engine.positions().len();
    for (record, answer) in by_record.into_iter().flatten().enumerate() {
        let (question, agent) = (block[record], record % agents);
        let expected = given.decisions[record * agents + agent];
        if answer != expected {
            let text = format!("for an agent of its own, {answer:?}, not {expected:?}");
            found.differ((question, engine.positions()[agent]), answer, engine, oracle, text);
        }
    }
}

/// Like [`agree`] on all threads, each of which has its own memory and takes `share` questions at a
/// time. Vector widths that a machine has and sizes of blocks are for the caller to vary.
pub fn agree_in_shares(
    engine: &Engine,
    oracle: &dyn Oracle,
    order: &[usize],
    (share, size): (usize, usize),
) -> Agreement {
    let ask = |memory: &mut Memory, share: &[usize]| {
        agree(engine, memory, oracle, share.iter().copied(), size)
    };
    let shares = order.par_chunks(share).map_init(|| engine.memory(), ask);
    shares.reduce(Agreement::default, Agreement::and)
}

fn compare(
    engine: &Engine,
    given: &Given<'_>,
    oracle: &dyn Oracle,
    (record, question): (usize, usize),
    found: &mut Agreement,
) {
    let agents = engine.positions().len();
    for (number, &agent) in engine.positions().iter().enumerate() {
        let Some(judged) = oracle.judged(question, agent) else { continue };
        let place = record * agents + number;
        let answer = given.decisions[place];
        let expected = engine.configuration().expected(judged.access);
        let usage = judged.usage.filter(|_| !engine.labels().is_empty());
        found.compared += 1 + if usage.is_some() { engine.labels().len() as u64 } else { 0 };
        let mut differ =
            |text: String| found.differ((question, agent), answer, engine, oracle, text);
        if !oracle.accepts(question, answer, expected) {
            differ(format!("{answer:?}, not {expected:?}"));
        }
        let Some((stated, licences)) = usage else { continue };
        let usage = Usage::new(answer, *stated);
        for (number, &label) in engine.labels().iter().enumerate() {
            let (stated, wanted) = (given.stated(place, number), usage.of(label));
            if stated != wanted {
                differ(format!("{label} {stated:?}, not {wanted:?}"));
            }
        }
        let said = given.licences(place);
        let wanted = if answer.verdict == Verdict::Allow { licences } else { &[] };
        if said != wanted {
            differ(format!("licences {said:?}, not {wanted:?}"));
        }
    }
}
