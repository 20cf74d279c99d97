//! Copies the records that may be fetched, byte for byte, and the records that are set aside.
//!
//! Each agent has one verdict on a record: that of access, of the preference about a purpose, and, if
//! the record is also decided as of now, of both times. The verdicts of all agents then make that of
//! the record ([`Quantifier`]), and with it its [`Class`]. A [`Plan`] has the destination for each class. An
//! empty record is invalid.
//!
//! A record that is not kept has one [`Cause`], so the causes and the kept records add up to all records.
//! Counting costs a second look at the decisions of a block, so it is done only for an account.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use portcullis_dialect::decision::{Answer, PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, LabelError, Preference, SIGNAL_LEVELS};
use portcullis_dialect::words;
use portcullis_set::Damage;
use portcullis_set::batch::Answers;
use serde::{Serialize, Serializer};

words! {
    /// The number of agents that must be allowed.
    pub enum Quantifier {
        /// Every agent.
        All => "all",
        /// At least one agent.
        Any => "any",
    }
}

impl Quantifier {
    /// Combines verdicts into the first of an order that occurs. If all must be allowed, one that is
    /// disallowed decides before one that is unknown. Without verdicts, nothing is allowed.
    #[inline]
    fn combine(self, verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let order = match self {
            Quantifier::All => {
                [Verdict::Invalid, Verdict::Disallow, Verdict::Unknown, Verdict::Allow]
            }
            Quantifier::Any => {
                [Verdict::Invalid, Verdict::Unknown, Verdict::Allow, Verdict::Disallow]
            }
        };
        let place = |verdict: &Verdict| order.iter().position(|it| it == verdict);
        verdicts.into_iter().min_by_key(place).unwrap_or(Verdict::Disallow)
    }
}

words! {
    /// The class of a record to a filter: the verdict of all agents, or a URL that all may fetch where a page
    /// came instead of a robots.txt, if those have a destination of their own.
    pub enum Class {
        Allowed => "allowed",
        Disallowed => "disallowed",
        /// A record without an agent or a time, on which no policy decides.
        Undecided => "undecided",
        Unknown => "unknown",
        Invalid => "invalid",
        Page => "page",
    }
}

impl Class {
    /// The classes that may be set aside.
    pub(crate) const ASIDE: [Class; 3] = [Class::Unknown, Class::Invalid, Class::Page];

    #[inline]
    const fn of(verdict: Verdict) -> Class {
        match verdict {
            Verdict::Allow => Class::Allowed,
            Verdict::Disallow => Class::Disallowed,
            Verdict::Unknown => Class::Unknown,
            Verdict::Invalid => Class::Invalid,
        }
    }

    /// Returns the position among [`Class::ASIDE`]; `None` for the other classes.
    #[inline]
    pub(crate) const fn aside(self) -> Option<usize> {
        (self as usize).checked_sub(Class::Unknown as usize)
    }
}

words! {
    /// The destination of the records of a class.
    pub enum Fate {
        /// The output.
        Keep => "keep",
        /// No destination: the record is dropped.
        Drop => "drop",
        /// A separate file.
        Aside => "aside",
    }
}

/// The destination of each record. Accounts show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The number of agents that must be allowed.
    #[serde(rename = "agents")]
    pub quantifier: Quantifier,
    /// The class that is kept: [`Class::Allowed`] or [`Class::Disallowed`].
    pub keeps: Class,
    /// The destination of records of unknown origins.
    pub unknown: Fate,
    /// The destination of records that are not URLs.
    pub invalid: Fate,
    /// The destination of allowed records of origins with a page instead of a robots.txt. A page that is
    /// kept is allowed, as its dialect says.
    pub pages: Fate,
    /// The use that must be permitted as well. Its label is the first one that is asked about.
    pub purpose: Option<Purpose>,
    /// The treatment of a record of an allowed agent if the use for the purpose is not stated: `keep` or
    /// `drop`. `y` is always allowed then, `n` never. `None` if only access counts.
    pub unstated: Option<Fate>,
    /// The number of tokens of the purpose, which are the last agents of each record and fetch nothing: a
    /// rule for one states `y` or `n` about the purpose.
    #[serde(skip_serializing_if = "is_zero")]
    pub purpose_tokens: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A use that must be permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// The label.
    pub label: Label,
    /// The least statement that is required: `y`, or a level of `use`.
    pub least: Preference,
}

impl FromStr for Purpose {
    type Err = String;

    /// Reads a label, or `use=LEVEL`.
    fn from_str(text: &str) -> Result<Purpose, String> {
        let (name, level) = match text.split_once('=') {
            Some((name, level)) => (name, Some(level)),
            None => (text, None),
        };
        let label: Label = name.parse().map_err(|error: LabelError| error.to_string())?;
        let levels = || SIGNAL_LEVELS.map(|level| format!("use={level}")).join(", ");
        let least = match (label, level) {
            (Label::Use, Some(level)) => {
                let known = SIGNAL_LEVELS.into_iter().find(|it| it.as_str() == level);
                known.ok_or_else(|| format!("no level '{level}'; write {}", levels()))?
            }
            (Label::Use, None) => {
                return Err(format!("a level is missing; write {}", levels()));
            }
            (_, Some(level)) => {
                return Err(format!(
                    "{label} has no levels; omit ={level} to keep what is permitted, or list what is reserved \
                     with classify ‹usage› {label}"
                ));
            }
            (_, None) => Preference::Yes,
        };
        Ok(Purpose { label, least })
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.label {
            Label::Use => write!(f, "{}={}", self.label, self.least),
            label => write!(f, "{label}"),
        }
    }
}

impl Serialize for Purpose {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Plan {
    /// Returns the plan to keep allowed records and to drop all others.
    pub const fn of(quantifier: Quantifier) -> Plan {
        Plan {
            quantifier,
            keeps: Class::Allowed,
            unknown: Fate::Drop,
            invalid: Fate::Drop,
            pages: Fate::Keep,
            purpose: None,
            unstated: None,
            purpose_tokens: 0,
        }
    }

    /// Returns the labels that are asked about.
    pub fn labels(&self) -> &[Label] {
        self.purpose.as_ref().map_or(&[], |purpose| std::slice::from_ref(&purpose.label))
    }

    /// Returns the class of each record in a block. All URLs of an origin with a page are in the class of
    /// pages, `/robots.txt` too, which some dialects allow for a reason of its own.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn classes(&self, answers: &Answers<'_>) -> Result<Vec<Class>, Damage> {
        let mut classes = self.verdicts(answers);
        let sides = sides(answers);
        // Where they are dropped, nobody can tell one from the other.
        if self.unknown != Fate::Drop {
            let of_record = [Reason::NoAgent, Reason::NoTime];
            for (record, class) in classes.iter_mut().enumerate() {
                let own = self.crawlers(answers, record);
                let mut decisions = sides.iter().flat_map(|side| &side.0[own.clone()]);
                if *class == Class::Unknown && decisions.any(|it| of_record.contains(&it.reason()))
                {
                    *class = Class::Undecided;
                }
            }
        }
        if self.pages != Fate::Keep {
            for (record, class) in classes.iter_mut().enumerate() {
                let own = self.crawlers(answers, record);
                let decisions = sides.iter().flat_map(|side| &side.0[own.clone()]);
                let is_allowed = decisions.clone().all(|it| it.verdict() == Verdict::Allow);
                let has = |reason| decisions.clone().any(|it| it.reason() == reason);
                let is_page = match () {
                    () if !is_allowed => false,
                    () if has(Reason::RobotsTxt) => {
                        answers.state(record)? == Some(PolicyState::Page)
                    }
                    () => has(Reason::Page),
                };
                if is_page {
                    *class = Class::Page;
                }
            }
        }
        Ok(classes)
    }

    /// Returns the verdict on each record in a block. If the block is also decided as of now, an agent
    /// must be allowed at both times.
    fn verdicts(&self, answers: &Answers<'_>) -> Vec<Class> {
        let agents = answers.per_record();
        let (decisions, sides) = (answers.decisions(), sides(answers));
        if agents == 1 && sides.len() == 1 && self.unstated.is_none() {
            // Nothing to combine, and one byte to copy.
            return decisions.iter().map(|decision| Class::of(decision.verdict())).collect();
        }
        // An agent that is known to be disallowed at either time is disallowed.
        let of_agent = |answer, tokens: &Range<usize>| {
            let of_side = |side: &Side<'_>| self.of_agent(answer, tokens, *side);
            Quantifier::All.combine(sides.iter().map(of_side))
        };
        let of_record = |record| {
            let tokens = self.tokens(answers, record);
            let verdicts = self.crawlers(answers, record).map(|answer| of_agent(answer, &tokens));
            Class::of(self.quantifier.combine(verdicts))
        };
        (0..decisions.len() / agents).map(of_record).collect()
    }

    /// Returns the answers for the crawlers of a record.
    #[inline]
    fn crawlers(&self, answers: &Answers<'_>, record: usize) -> Range<usize> {
        let agents = answers.per_record();
        record * agents..(record + 1) * agents - self.purpose_tokens
    }

    /// Returns the answers for the tokens of the purpose of a record.
    #[inline]
    fn tokens(&self, answers: &Answers<'_>, record: usize) -> Range<usize> {
        let end = (record + 1) * answers.per_record();
        end - self.purpose_tokens..end
    }

    /// Returns the number of records in a block on which a preference is unstated.
    pub(crate) fn count_unstated(&self, answers: &Answers<'_>) -> u64 {
        let sides = sides(answers);
        let is_unstated = |record: &usize| {
            let tokens = self.tokens(answers, *record);
            let of_side = |answer: usize| {
                sides.iter().any(|side| preference(answer, &tokens, *side) == Preference::Unstated)
            };
            self.crawlers(answers, *record).any(of_side)
        };
        (0..sides[0].1.len() / answers.per_record()).filter(is_unstated).count() as u64
    }

    /// Returns the verdict of one answer, by access and the preference about the purpose.
    #[inline]
    fn of_agent(&self, answer: usize, tokens: &Range<usize>, side: Side<'_>) -> Verdict {
        let verdict = side.0[answer].verdict();
        match self.unstated {
            Some(unstated) if verdict == Verdict::Allow => match preference(answer, tokens, side) {
                Preference::Unstated if unstated == Fate::Keep => Verdict::Allow,
                stated if self.purpose.is_some_and(|it| stated.permits(it.least)) => Verdict::Allow,
                _ => Verdict::Disallow,
            },
            _ => verdict,
        }
    }

    /// Returns why a record of this class in a block would not be kept.
    pub fn cause(&self, answers: &Answers<'_>, record: usize, class: Class) -> Cause {
        match class {
            Class::Allowed => Cause::Allowed,
            Class::Disallowed => self.cause_of_disallowed(answers, record),
            Class::Unknown | Class::Undecided => Cause::Unknown,
            Class::Invalid => Cause::Invalid,
            Class::Page => Cause::Page,
        }
    }

    /// Returns why a record is disallowed. The cause of an agent is that at the record's time, or else
    /// that of now. If all agents must be allowed, it is the worst of their causes; if one is enough,
    /// the best.
    fn cause_of_disallowed(&self, answers: &Answers<'_>, record: usize) -> Cause {
        let (sides, tokens) = (sides(answers), self.tokens(answers, record));
        let at = |answer: usize, side: Side<'_>| {
            let is_allowed = side.0[answer].verdict() == Verdict::Allow;
            match self.of_agent(answer, &tokens, side) {
                Verdict::Disallow if !is_allowed => Some(Cause::Disallowed),
                Verdict::Disallow => Some(match preference(answer, &tokens, side) {
                    Preference::Unstated => Cause::NotStated,
                    _ => Cause::NotPermitted,
                }),
                _ => None,
            }
        };
        let of_agent = |answer| sides.iter().find_map(|side| at(answer, *side));
        let causes = self.crawlers(answers, record).filter_map(of_agent);
        let cause = match self.quantifier {
            Quantifier::All => causes.min(),
            Quantifier::Any => causes.max(),
        };
        cause.unwrap_or(Cause::Disallowed)
    }

    /// Returns the number of records of these classes that are kept.
    pub fn kept(&self, classes: &[Class]) -> u64 {
        let is_kept = |class: &Class| self.fate(*class) == Fate::Keep;
        let kept = Class::ALL.into_iter().filter(is_kept);
        // Sums of bytes, of which a vector has many.
        let count = |kept, part: &[Class]| part.iter().map(|it| u8::from(*it == kept)).sum::<u8>();
        let parts = || classes.chunks(u8::MAX.into());
        kept.flat_map(|kept| parts().map(move |part| u64::from(count(kept, part)))).sum()
    }

    /// Returns the destination of a record of this class.
    #[inline]
    pub fn fate(&self, class: Class) -> Fate {
        match class {
            Class::Allowed | Class::Disallowed if class == self.keeps => Fate::Keep,
            Class::Allowed | Class::Disallowed | Class::Undecided => Fate::Drop,
            Class::Unknown => self.unknown,
            Class::Invalid => self.invalid,
            Class::Page => self.pages,
        }
    }
}

/// The decisions on a block at one time, and the preferences if a purpose is asked about.
pub(crate) type Side<'a> = (&'a [Answer], &'a [Preference]);

/// Returns the preference of an allowed answer about the purpose: what its file states for the crawler and by
/// the rules for `tokens`, `n` before `y`. Without a rule for it, a token states nothing.
#[inline]
fn preference(
    answer: usize,
    tokens: &Range<usize>,
    (decisions, preferences): Side<'_>,
) -> Preference {
    let by_rule = |token: &Answer| match (token.reason(), token.verdict()) {
        (Reason::Rule, Verdict::Allow) => Preference::Yes,
        (Reason::Rule, _) => Preference::No,
        _ => Preference::Unstated,
    };
    let stated = decisions[tokens.clone()].iter().map(by_rule);
    stated.fold(preferences[answer], |one, next| if next.rank() < one.rank() { next } else { one })
}

/// Returns what was decided about a block, then the same as of now if it is asked for.
pub(crate) fn sides<'a>(answers: &'a Answers<'_>) -> Vec<Side<'a>> {
    let now = answers.now().map(|now| (&now.decisions[..], &now.preferences[..]));
    let then = (answers.decisions(), answers.preferences());
    std::iter::once(then).chain(now).collect()
}

words! {
    /// Why a record is not kept, the worst first.
    pub enum Cause {
        /// An agent may not fetch it.
        Disallowed => "disallowed": "disallowed",
        /// The use is not permitted: `n`.
        NotPermitted => "not-permitted": "use not permitted (n)",
        /// Nothing is stated about the use: `?`.
        NotStated => "not-stated": "use not stated (?)",
        /// No policy of its origin is known or applies, or its agent or time is not known.
        Unknown => "unknown": "unknown",
        /// It is not a URL.
        Invalid => "invalid": "not a URL",
        /// A page came instead of its robots.txt.
        Page => "page": "a page instead of robots.txt",
        /// It is allowed, and disallowed records are kept.
        Allowed => "allowed": "allowed",
    }
}

#[cfg(test)]
mod tests {
    use portcullis_files::input::Terminator;
    use portcullis_set::batch::Session;

    use super::*;
    use crate::Filter;
    use crate::tests::{SCHEME, classifier, piece};
    use crate::{Counts, Format, Rejects, Written};

    #[test]
    fn unknown_or_invalid_for_one_agent_is_never_allowed() {
        for quantifier in [Quantifier::All, Quantifier::Any] {
            let combined = |verdicts: &[Verdict]| quantifier.combine(verdicts.iter().copied());
            assert_eq!(combined(&[]), Verdict::Disallow);
            for verdict in [Verdict::Unknown, Verdict::Invalid] {
                assert_eq!(combined(&[Verdict::Allow, verdict]), verdict);
                assert_eq!(combined(&[Verdict::Unknown, verdict]), verdict);
            }
        }
    }

    /// Returns the records that are not kept by cause.
    fn dropped(plan: &Plan, agents: usize) -> [u64; Cause::ALL.len()] {
        let text = b"a/1\nd/1\nd/2\nx/1\n://\na/2\nd/3\n\n";
        let mut session = Session::new(classifier(&["a"], &["d"], agents)).assume_scheme(SCHEME);
        let mut out = Written::default();
        let filter = Filter { plan: *plan, are_rows: false, counts_only: false };
        let mut counts = Counts::new(agents);
        counts.ask_drops();
        piece(text, Terminator::LineFeed, &mut Rejects::default(), |piece| {
            filter.encode(piece.work(&mut session, &mut counts), &mut out)
        })
        .unwrap();
        let dropped = counts.dropped.unwrap();
        assert_eq!(dropped.iter().sum::<u64>() + counts.kept.unwrap(), counts.records);
        dropped
    }

    #[test]
    fn each_record_that_is_not_kept_has_one_cause() {
        let plan = Plan::of(Quantifier::All);
        assert_eq!(dropped(&plan, 1), [3, 0, 0, 1, 2, 0, 0]);
        assert_eq!(dropped(&plan, 2), [5, 0, 0, 1, 2, 0, 0], "one agent is disallowed");
        let any = Plan { quantifier: Quantifier::Any, ..plan };
        assert_eq!(dropped(&any, 2), [0, 0, 0, 1, 2, 0, 0]);
        let (unknown, invalid) = (Fate::Aside, Fate::Keep);
        let inverted = Plan { keeps: Class::Disallowed, unknown, invalid, ..plan };
        assert_eq!(dropped(&inverted, 1), [0, 0, 0, 1, 0, 0, 2]);
    }
}
