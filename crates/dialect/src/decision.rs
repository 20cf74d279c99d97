//! The words of an answer: verdict, reason, state, and the decision that joins them.
//!
//! They stand at the bottom of the crate so that the engine and the oracle, which share no code,
//! answer in the same words.

use std::fmt;

use crate::id::{LineNumber, RuleID};

/// Whether a URL may be fetched.
///
/// There is no default, and nothing turns "not known" into "allowed": a URL whose origin has no
/// policy is [`Verdict::Unknown`], and a record that is no URL is [`Verdict::Invalid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// The crawler may fetch the URL.
    Allow = 0,
    /// The crawler must not fetch the URL.
    Disallow = 1,
    /// No policy is known for the URL's origin.
    Unknown = 2,
    /// The record is no URL.
    Invalid = 3,
}

impl Verdict {
    /// Every verdict, in the order of its number.
    pub const ALL: [Verdict; 4] =
        [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

    /// The word that the command line prints.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Disallow => "disallow",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Reason {
    /// A rule matched and decides.
    Rule = 0,
    /// A group was chosen and none of its rules matches.
    NoRule = 1,
    /// The file has rules, but no group names the agent and there is no default group.
    NoGroup = 2,
    /// The file was read and has no rule in any group.
    NoRules = 3,
    /// The dialect always allows the URL of robots.txt itself.
    RobotsTxt = 4,
    /// The server said that there is no file for us (RFC 9309, section 2.3.1.3).
    Unavailable = 5,
    /// The server or the network failed (RFC 9309, section 2.3.1.4).
    Unreachable = 6,
    /// The dialect asks to come back later.
    Deferred = 7,
    /// No policy is known for the URL's origin.
    NoPolicy = 8,
    /// The record is no URL.
    BadUrl = 9,
}

impl Reason {
    /// Every reason, in the order of its number.
    pub const ALL: [Reason; 10] = [
        Reason::Rule,
        Reason::NoRule,
        Reason::NoGroup,
        Reason::NoRules,
        Reason::RobotsTxt,
        Reason::Unavailable,
        Reason::Unreachable,
        Reason::Deferred,
        Reason::NoPolicy,
        Reason::BadUrl,
    ];

    /// The word that the command line prints.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Rule => "rule",
            Reason::NoRule => "no-rule",
            Reason::NoGroup => "no-group",
            Reason::NoRules => "no-rules",
            Reason::RobotsTxt => "robots-txt",
            Reason::Unavailable => "unavailable",
            Reason::Unreachable => "unreachable",
            Reason::Deferred => "deferred",
            Reason::NoPolicy => "no-policy",
            Reason::BadUrl => "bad-url",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known about one origin's robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PolicyState {
    /// The file was read and has at least one rule in a group.
    Rules = 0,
    /// The file was read and has no rule in any group.
    NoRules = 1,
    /// The server said that there is no file for us.
    Unavailable = 2,
    /// The server or the network failed.
    Unreachable = 3,
    /// The dialect asks to come back later.
    Deferred = 4,
    /// Nothing is known.
    Unknown = 5,
}

impl PolicyState {
    /// Every state, in the order of its number.
    pub const ALL: [PolicyState; 6] = [
        PolicyState::Rules,
        PolicyState::NoRules,
        PolicyState::Unavailable,
        PolicyState::Unreachable,
        PolicyState::Deferred,
        PolicyState::Unknown,
    ];

    /// The word that the command line prints.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyState::Rules => "rules",
            PolicyState::NoRules => "no-rules",
            PolicyState::Unavailable => "unavailable",
            PolicyState::Unreachable => "unreachable",
            PolicyState::Deferred => "deferred",
            PolicyState::Unknown => "unknown",
        }
    }
}

impl fmt::Display for PolicyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The whole answer for one URL and one agent.
///
/// `rule` and `line` are there exactly if the reason is [`Reason::Rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// Whether the URL may be fetched.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The rule that decides.
    pub rule: Option<RuleID>,
    /// The line of that rule in its file.
    pub line: Option<LineNumber>,
}

impl Decision {
    /// A decision that no rule made.
    pub const fn without_rule(verdict: Verdict, reason: Reason) -> Decision {
        Decision { verdict, reason, rule: None, line: None }
    }

    /// The record is no URL.
    pub const INVALID: Decision = Decision::without_rule(Verdict::Invalid, Reason::BadUrl);
    /// No policy is known for the URL's origin.
    pub const UNKNOWN: Decision = Decision::without_rule(Verdict::Unknown, Reason::NoPolicy);
    /// The dialect always allows the URL of robots.txt itself.
    pub const ROBOTS_TXT: Decision = Decision::without_rule(Verdict::Allow, Reason::RobotsTxt);
}
