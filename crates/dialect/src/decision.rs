//! The vocabulary of an answer: verdict, reason, policy state, and the decision that combines them.
//!
//! The engine and the oracle share these types but no code, so their answers can be compared.

use std::fmt;

use crate::id::{LineNumber, RuleID};

/// Defines an enum with one word per value: `ALL`, `WORDS`, `as_str`, `Display` and, with the feature
/// `serde` of this crate, `Serialize`. If each word is followed by a text for people, also
/// `describe`.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $value:ident $(= $number:literal)? => $word:literal: $text:literal,)+
    }) => {
        $crate::words! {
            $(#[$meta])*
            pub enum $name {
                $($(#[$about])* $value $(= $number)? => $word,)+
            }
        }

        impl $name {
            /// Returns a text for people.
            pub fn describe(self) -> &'static str {
                match self {
                    $($name::$value => $text,)+
                }
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $value:ident $(= $number:literal)? => $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$about])* $value $(= $number)?,)+
        }

        impl $name {
            /// All values, in numeric order.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            /// The words of all values, in numeric order.
            pub const WORDS: [&str; [$($word),+].len()] = [$($word),+];

            /// Returns the word that output formats use.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $crate::serialize_as_str!($name);
    };
}

/// Implements `Serialize` by `as_str`. Crates that call [`words`] need not have a feature `serde`.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! serialize_as_str {
    ($name:ident) => {
        impl $crate::serde::Serialize for $name {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::serde::Serializer,
            {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! serialize_as_str {
    ($name:ident) => {};
}

/// Defines a set of the values of an enum that [`words`] defines, of which there are at most 16: one bit
/// for each, by its number.
#[doc(hidden)]
#[macro_export]
macro_rules! word_set {
    ($(#[$meta:meta])* pub struct $name:ident of $word:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(u16);

        impl $name {
            /// The empty set.
            pub const EMPTY: $name = $name(0);

            /// Returns the set with `word` added.
            #[must_use]
            pub const fn with(self, word: $word) -> $name {
                $name(self.0 | 1 << word as u8)
            }

            /// Returns the union with `other`.
            #[must_use]
            pub const fn union(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Returns whether the set is empty.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Returns whether `word` is in the set.
            pub const fn contains(self, word: $word) -> bool {
                self.0 >> word as u8 & 1 == 1
            }

            /// Returns the values in the set, in numeric order.
            pub fn iter(self) -> impl Iterator<Item = $word> {
                let mut left = self.0;
                std::iter::from_fn(move || {
                    let first = left.trailing_zeros() as usize;
                    left &= left.wrapping_sub(1);
                    $word::ALL.get(first).copied()
                })
            }

            /// Returns the set as one bit per value, for `from_bits`.
            pub const fn bits(self) -> u16 {
                self.0
            }

            /// Returns the set with these bits, or `None` if a bit has no value.
            pub fn from_bits(bits: u16) -> Option<$name> {
                (u32::from(bits) >> $word::ALL.len() == 0).then_some($name(bits))
            }
        }

        impl FromIterator<$word> for $name {
            fn from_iter<I: IntoIterator<Item = $word>>(words: I) -> $name {
                words.into_iter().fold($name::EMPTY, $name::with)
            }
        }
    };
}

words! {
    /// Whether a URL may be fetched.
    ///
    /// There is no default value, and no code turns "not known" into "allowed". The four verdicts are
    /// all: none is ever added, so that a `match` without a wildcard decides each on purpose.
    pub enum Verdict {
        /// The crawler may fetch the URL.
        Allow = 0 => "allow",
        /// The crawler must not fetch the URL.
        Disallow = 1 => "disallow",
        /// No policy is known for the URL's origin.
        Unknown = 2 => "unknown",
        /// The record is not a URL.
        Invalid = 3 => "invalid",
    }
}

words! {
    /// The reason for a verdict.
    #[non_exhaustive]
    pub enum Reason {
        /// A rule matches and decides.
        Rule = 0 => "rule",
        /// A group applies and none of its rules matches.
        NoRule = 1 => "no-rule",
        /// The file has rules, but no group names the agent and there is no default group.
        NoGroup = 2 => "no-group",
        /// The file was read and has no rule in any group.
        NoRules = 3 => "no-rules",
        /// The dialect always allows the URL of robots.txt itself.
        RobotsTxt = 4 => "robots-txt",
        /// The server reported that no file is available (RFC 9309, section 2.3.1.3).
        Unavailable = 5 => "unavailable",
        /// The server or the network failed (RFC 9309, section 2.3.1.4).
        Unreachable = 6 => "unreachable",
        /// The dialect defers the visit.
        Deferred = 7 => "deferred",
        /// No policy is known for the URL's origin.
        NoPolicy = 8 => "no-policy",
        /// The record is not a URL.
        BadUrl = 9 => "bad-url",
        /// The policy was captured too long ago, or has no known capture date.
        Expired = 10 => "expired",
        /// The time for which the decision is made is before the first capture of the origin, or before the
        /// policy was captured.
        BeforeFirst = 11 => "before-first",
        /// The record has no time, or one that cannot be read, and the decision depends on it.
        NoTime = 12 => "no-time",
        /// The record names no agent, or one that is not asked about and that a file names.
        NoAgent = 13 => "no-agent",
        /// A web page, JSON or binary data came instead of a robots.txt.
        Page = 14 => "page",
    }
}

words! {
    /// The state of one origin's robots.txt.
    #[non_exhaustive]
    pub enum PolicyState {
        /// The file was read and has at least one rule in a group.
        Rules = 0 => "rules",
        /// The file was read and has no rule in any group.
        NoRules = 1 => "no-rules",
        /// The server reported that no file is available.
        Unavailable = 2 => "unavailable",
        /// The server or the network failed.
        Unreachable = 3 => "unreachable",
        /// The dialect defers the visit.
        Deferred = 4 => "deferred",
        /// The origin has no known policy.
        Unknown = 5 => "unknown",
        /// A web page, JSON or binary data came instead of a robots.txt, and it states nothing. Dialects
        /// read it as a file without rules, which allows everything.
        Page = 6 => "page",
    }
}

impl Reason {
    /// Returns the state of the origin that the reason follows from; `None` if it follows from the
    /// record, or from a time.
    pub const fn state(self) -> Option<PolicyState> {
        Some(match self {
            Reason::Rule | Reason::NoRule | Reason::NoGroup => PolicyState::Rules,
            Reason::NoRules => PolicyState::NoRules,
            Reason::Page => PolicyState::Page,
            Reason::Unavailable => PolicyState::Unavailable,
            Reason::Unreachable => PolicyState::Unreachable,
            Reason::Deferred => PolicyState::Deferred,
            Reason::NoPolicy => PolicyState::Unknown,
            Reason::RobotsTxt | Reason::BadUrl | Reason::NoAgent => return None,
            Reason::Expired | Reason::BeforeFirst | Reason::NoTime => return None,
        })
    }
}

impl PolicyState {
    /// Returns whether a file was read, whatever it looks like.
    pub const fn is_file(self) -> bool {
        matches!(self, PolicyState::Rules | PolicyState::NoRules | PolicyState::Page)
    }
}

/// A decision without its rule: a verdict and its reason, in a byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Answer(u8);

/// Bits of the reason, below the bits of the verdict.
const REASON_BITS: u32 = 4;

const _: () = assert!(Reason::ALL.len() <= 1 << REASON_BITS);

impl Answer {
    /// The number of codes, [`Answer::code`], of which some stand for nothing.
    pub const CODES: usize = Verdict::ALL.len() << REASON_BITS;

    /// Returns the answer with a verdict and a reason.
    pub const fn new(verdict: Verdict, reason: Reason) -> Answer {
        Answer((verdict as u8) << REASON_BITS | reason as u8)
    }

    /// Returns the answer with a code; for a code that no answer has, the answer of an unknown policy.
    #[inline(always)]
    pub const fn of_code(code: u32) -> Answer {
        let has_reason = code & ((1 << REASON_BITS) - 1) < Reason::ALL.len() as u32;
        let is_code = (code < Answer::CODES as u32) & has_reason;
        let code = if is_code { code } else { Decision::UNKNOWN.answer().0 as u32 };
        Answer(code as u8)
    }

    /// Returns the answer as a number below [`Answer::CODES`].
    #[inline(always)]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns the verdict.
    #[inline(always)]
    pub const fn verdict(self) -> Verdict {
        match self.0 >> REASON_BITS {
            0 => Verdict::Allow,
            1 => Verdict::Disallow,
            2 => Verdict::Unknown,
            _ => Verdict::Invalid,
        }
    }

    /// Returns the reason for the verdict.
    #[inline(always)]
    pub const fn reason(self) -> Reason {
        Reason::ALL[(self.0 as usize & ((1 << REASON_BITS) - 1)) % Reason::ALL.len()]
    }

    /// Returns whether the URL may be fetched, see [`Decision::is_allowed`].
    pub const fn is_allowed(self) -> bool {
        matches!(self.verdict(), Verdict::Allow)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verdict(), self.reason())
    }
}

impl From<Answer> for Decision {
    /// Returns a decision without a deciding rule.
    fn from(answer: Answer) -> Decision {
        Decision::without_rule(answer.verdict(), answer.reason())
    }
}

/// The full answer for one URL and one agent: these four fields, and no others in later versions.
///
/// `rule` and `line` are `Some` only if the reason is [`Reason::Rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decision {
    /// Whether the URL may be fetched.
    pub verdict: Verdict,
    /// The reason for the verdict.
    pub reason: Reason,
    /// The deciding rule.
    pub rule: Option<RuleID>,
    /// The line of the deciding rule.
    pub line: Option<LineNumber>,
}

impl Decision {
    /// Returns whether the URL may be fetched: `false` also if no policy is known and for a record that
    /// is not a URL.
    pub const fn is_allowed(self) -> bool {
        matches!(self.verdict, Verdict::Allow)
    }

    /// Returns the verdict and its reason.
    #[inline]
    pub const fn answer(self) -> Answer {
        Answer::new(self.verdict, self.reason)
    }

    /// Returns a decision without a deciding rule.
    pub const fn without_rule(verdict: Verdict, reason: Reason) -> Decision {
        Decision { verdict, reason, rule: None, line: None }
    }

    /// The record is not a URL.
    pub const INVALID: Decision = Decision::without_rule(Verdict::Invalid, Reason::BadUrl);
    /// No policy is known for the URL's origin.
    pub const UNKNOWN: Decision = Decision::without_rule(Verdict::Unknown, Reason::NoPolicy);
    /// The policy of the URL's origin is too old to be used, or undated.
    pub const EXPIRED: Decision = Decision::without_rule(Verdict::Unknown, Reason::Expired);
    /// The time that is asked about is before the first capture of the URL's origin.
    pub const BEFORE_FIRST: Decision =
        Decision::without_rule(Verdict::Unknown, Reason::BeforeFirst);
    /// The record has no time that could be asked about.
    pub const NO_TIME: Decision = Decision::without_rule(Verdict::Unknown, Reason::NoTime);
    /// The record has no agent that could be asked about.
    pub const NO_AGENT: Decision = Decision::without_rule(Verdict::Unknown, Reason::NoAgent);
    /// The dialect always allows the URL of robots.txt itself.
    pub const ROBOTS_TXT: Decision = Decision::without_rule(Verdict::Allow, Reason::RobotsTxt);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_its_code() {
        let mut codes = vec![None; Answer::CODES];
        for verdict in Verdict::ALL {
            for reason in Reason::ALL {
                let answer = Answer::new(verdict, reason);
                assert_eq!((answer.verdict(), answer.reason()), (verdict, reason));
                assert_eq!(Decision::from(answer).answer(), answer);
                assert_eq!(codes[answer.code() as usize].replace(answer), None);
            }
        }
        for (code, answer) in (0..).zip(codes) {
            assert_eq!(Answer::of_code(code), answer.unwrap_or(Decision::UNKNOWN.answer()));
        }
        for code in [Answer::CODES as u32, 1 << 8, 1 << 30, u32::MAX] {
            assert_eq!(Answer::of_code(code), Decision::UNKNOWN.answer());
        }
    }
}
