//! Usage preferences as data: labels, values, and the words that records use for them.
//!
//! Owns the vocabulary of [`VOCABULARY`], and the keys of `Content-Signal` for the same labels. The
//! engine (`portcullis-robots`) and, independently, the oracle own how a record is read, which
//! group it is in and which statement decides.
//!
//! Labels change while the vocabulary is a draft. A removed label is in [`RETIRED_LABELS`], which a
//! linter reports; it never takes the meaning of another label.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::decision::{Decision, Verdict};
use crate::dialect::{Field, FieldSpelling};
use crate::id::LineNumber;
use crate::words;

/// The vocabulary that [`Label`] follows.
pub const VOCABULARY: &str = "draft-ietf-aipref-vocab-08";

words! {
    /// A use that a preference is about.
    #[non_exhaustive]
    pub enum Label {
        /// Training an AI model (`ai-train` in Content-Signal).
        TrainAi = 0 => "train-ai",
        /// Input of an AI system, for example to ground an answer (`ai-input` in Content-Signal).
        AiUse = 1 => "ai-use",
        /// Search: an index that presents excerpts and links.
        Search = 2 => "search",
        /// How much of a page may be used (`use` in Content-Signal, which alone states it): a level, not
        /// `y` or `n`.
        Use = 3 => "use",
    }
}

impl Label {
    /// Returns the label with this name, or `None` if the vocabulary has no such label.
    pub fn by_name(name: &str) -> Option<Label> {
        Label::ALL.into_iter().find(|label| label.as_str() == name)
    }

    /// Returns the preferences that may be stated about the label, from the most to the least permissive.
    pub const fn stated(self) -> &'static [Preference] {
        match self {
            Label::TrainAi | Label::AiUse | Label::Search => &[Preference::Yes, Preference::No],
            Label::Use => &[Preference::Full, Preference::Reference, Preference::Immediate],
        }
    }

    /// Returns all preferences about the label, in numeric order.
    pub fn preferences(self) -> impl Iterator<Item = Preference> {
        let is_own = move |it: &Preference| !it.is_stated() || self.stated().contains(it);
        Preference::ALL.into_iter().filter(is_own)
    }
}

/// Returns the label that a person names: by its name, or by the key that sites write for it in
/// Content-Signal, such as `ai-train` for `train-ai`.
impl FromStr for Label {
    type Err = LabelError;

    fn from_str(name: &str) -> Result<Label, LabelError> {
        let by_key = || SIGNAL_KEYS.iter().find(|(key, _)| *key == name).map(|(_, label)| *label);
        Label::by_name(name).or_else(by_key).ok_or_else(|| LabelError { name: name.to_owned() })
    }
}

/// The error of a name that is not a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError {
    name: String,
}

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &*self.name;
        match RETIRED_LABELS.contains(&name) {
            true => write!(f, "the label '{name}' of an earlier draft means nothing now")?,
            false => write!(f, "no label '{name}'")?,
        }
        write!(f, "; the labels are {}", Label::ALL.map(Label::as_str).join(", "))
    }
}

impl Error for LabelError {}

words! {
    /// The preference of a file for one use of one URL.
    ///
    /// There is no default that permits: a label that no record states is [`Preference::Unstated`].
    pub enum Preference {
        /// There is no preference, because access is not allowed or not known.
        NoAccess = 0 => "-",
        /// The use is permitted.
        Yes = 1 => "y",
        /// The use is not permitted.
        No = 2 => "n",
        /// The file states nothing about the use, or nothing that can be read.
        Unstated = 3 => "?",
        /// Of [`Label::Use`]: pages may be used at once, and nothing is stored.
        Immediate = 4 => "immediate",
        /// Of [`Label::Use`]: an index may present excerpts and links too.
        Reference = 5 => "reference",
        /// Of [`Label::Use`]: pages may be used in full, for summaries and training too.
        Full = 6 => "full",
    }
}

impl Preference {
    /// Returns the position in the order in which statements decide that are combined, because
    /// their paths are equally long or they are of different sources: `n`, then `y`, then nothing. Of levels,
    /// the stricter one decides.
    pub const fn rank(self) -> u8 {
        match self {
            Preference::No | Preference::Immediate => 0,
            Preference::Yes | Preference::Reference => 1,
            Preference::Full => 2,
            Preference::Unstated | Preference::NoAccess => 3,
        }
    }

    /// Returns whether a file states it.
    pub const fn is_stated(self) -> bool {
        !matches!(self, Preference::Unstated | Preference::NoAccess)
    }

    /// Returns whether a use is permitted for which at least `least` has to be stated: `y`, or a level.
    /// False unless something is stated about the same kind of label.
    pub const fn permits(self, least: Preference) -> bool {
        match least {
            Preference::Yes => matches!(self, Preference::Yes),
            Preference::Immediate => {
                matches!(self, Preference::Immediate | Preference::Reference | Preference::Full)
            }
            Preference::Reference => matches!(self, Preference::Reference | Preference::Full),
            Preference::Full => matches!(self, Preference::Full),
            Preference::No | Preference::Unstated | Preference::NoAccess => false,
        }
    }
}

words! {
    /// The preference of a file for one use of all pages that an agent may fetch.
    pub enum Stance {
        /// The use is permitted on all of them.
        Yes = 0 => "y",
        /// The use is wanted on none of them.
        No = 1 => "n",
        /// The file states nothing about the use on any of them.
        Unstated = 2 => "?",
        /// The preferences on some two of them differ.
        Mixed = 3 => "mixed",
        /// Of [`Label::Use`]: on all of them, nothing may be stored.
        Immediate = 4 => "immediate",
        /// Of [`Label::Use`]: all of them may be in an index.
        Reference = 5 => "reference",
        /// Of [`Label::Use`]: all of them may be used in full.
        Full = 6 => "full",
    }
}

impl From<Preference> for Stance {
    fn from(preference: Preference) -> Stance {
        match preference {
            Preference::Yes => Stance::Yes,
            Preference::No => Stance::No,
            Preference::Immediate => Stance::Immediate,
            Preference::Reference => Stance::Reference,
            Preference::Full => Stance::Full,
            Preference::Unstated | Preference::NoAccess => Stance::Unstated,
        }
    }
}

words! {
    /// The kind of record that states a preference. The order of precedence depends on the kinds, so no
    /// kind is ever added.
    pub enum UsageSource {
        /// Content-Usage (IETF AIPREF).
        ContentUsage = 0 => "content-usage",
        /// Content-Signal (Cloudflare's Content Signals Policy).
        ContentSignal = 1 => "content-signal",
    }
}

impl UsageSource {
    /// Returns the source that a record with this field is, or `None` for any other field.
    pub fn of(field: Field) -> Option<UsageSource> {
        match field {
            Field::ContentUsage => Some(UsageSource::ContentUsage),
            Field::ContentSignal => Some(UsageSource::ContentSignal),
            _ => None,
        }
    }
}

/// The statement of a file about one label: these three fields, and no others in later versions.
///
/// `source` and `line` are `Some` only if the preference is stated: `y`, `n`, or a level of `use`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stated {
    /// The preference.
    pub preference: Preference,
    /// The kind of the deciding statement.
    pub source: Option<UsageSource>,
    /// The line of the deciding statement.
    pub line: Option<LineNumber>,
}

impl Stated {
    /// Nothing is stated.
    pub const UNSTATED: Stated =
        Stated { preference: Preference::Unstated, source: None, line: None };
    /// Access is not allowed, or not known.
    pub const NO_ACCESS: Stated =
        Stated { preference: Preference::NoAccess, source: None, line: None };
}

/// The whole answer for one URL and one agent: access, and what the page may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Usage {
    /// Whether the URL may be fetched.
    pub access: Decision,
    /// The statement about each label, in the order of [`Label::ALL`].
    pub stated: [Stated; Label::ALL.len()],
}

impl Usage {
    /// Returns the usage of a URL. Where access is not allowed there is no preference.
    pub fn new(access: Decision, stated: [Stated; Label::ALL.len()]) -> Usage {
        let stated = match access.verdict {
            Verdict::Allow => stated,
            Verdict::Disallow | Verdict::Unknown | Verdict::Invalid => {
                [Stated::NO_ACCESS; Label::ALL.len()]
            }
        };
        Usage { access, stated }
    }

    /// Returns the statement about a label.
    pub fn of(&self, label: Label) -> Stated {
        self.stated[label as usize]
    }
}

/// The fields of usage records. Every dialect reads them, by their whole name and ignoring case:
/// they are newer than all dialects, and have no effect on access.
pub const USAGE_FIELDS: [FieldSpelling; 3] = [
    FieldSpelling { text: "content-usage", field: Field::ContentUsage },
    FieldSpelling { text: "content-signal", field: Field::ContentSignal },
    FieldSpelling { text: "license", field: Field::License },
];

/// The keys of Content-Signal that state a preference, and the labels they stand for.
pub const SIGNAL_KEYS: [(&str, Label); 3] =
    [("search", Label::Search), ("ai-input", Label::AiUse), ("ai-train", Label::TrainAi)];

/// The values of the key `use` of Content-Signal, from strict to open (Cloudflare, Content Signals, July
/// 2026).
///
/// † Cloudflare does not say what two values mean together: the stricter one decides.
pub const SIGNAL_LEVELS: [Preference; 3] =
    [Preference::Immediate, Preference::Reference, Preference::Full];

/// Labels of earlier drafts, which have no meaning now.
pub const RETIRED_LABELS: [&str; 8] =
    ["bots", "all", "tdm", "ai", "genai", "inference", "train-genai", "ai-output"];
