//! The layout of a host's file, and the properties of a layout that are drawn before its first
//! line.
//!
//! A layout is a list of user-agent lines and rules. On the web, most files come from templates (of
//! shop and blog software, or lists of crawlers to block) and differ at most in the address of a
//! sitemap. So most hosts draw a layout by rank, the first far more often than the last; the others
//! have their own. A layout is a numbered stream, so their number is unlimited, and a larger corpus
//! has more.

use super::draw::{
    DEFAULT_RULES, LAYOUT_RANK, NAMED_LINES, PLATFORM, SHARED_DEFAULT_RULES_MAX,
    SHARED_NAMED_LINES_MAX,
};
use super::random::{Purpose, SplitMix64};

// Measured shares per ten thousand: of the hosts …
const OWN_LAYOUT: u64 = 2_150;
// … and of the layouts.
const BYTE_ORDER_MARK: u64 = 280;
const CRLF: u64 = 3_000;
const HEADING: u64 = 3_500;
const CRAWL_DELAY: u64 = 900;
const NO_GROUP: u64 = 120;
const NO_DEFAULT_GROUP: u64 = 250;
const NO_RULE: u64 = 350;
const OWN_SITEMAP: u64 = 3_100;

/// The maximum number of rules of a default group and its copies together. Without a limit, a few
/// files would hold most of the records.
const COPIED_RULES_MAX: u64 = 600;

/// The first number of layouts that belong to a single host.
const OWN_START: u64 = 1 << 48;

/// The number of a layout, which is its position among the streams of layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout(pub(super) u64);

/// The default group of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefaultGroup {
    /// No default group.
    Absent,
    /// A user-agent line without rules.
    NoRule,
    /// An empty `Disallow:`.
    Open,
    /// `Allow: /`.
    OpenByAllow,
    /// `Disallow: /`.
    Closed,
    /// This many rules.
    Rules(u64),
}

/// The groups that name crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedGroups {
    /// Each disallows everything.
    Closed,
    /// Each allows everything.
    Open,
    /// The rules of the default group, repeated.
    AsDefault,
    /// Its own rules.
    Own,
    /// One group of many user-agent lines that disallows everything.
    OneClosed,
}

/// The properties of a layout that are drawn before its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) has_byte_order_mark: bool,
    pub(super) has_crlf: bool,
    /// The number of comments and blank lines before the first group.
    pub(super) heading_lines: u64,
    pub(super) default: DefaultGroup,
    /// The platform (a template's rules) that the default group begins with, if any.
    pub(super) platform: Option<u64>,
    pub(super) named: NamedGroups,
    /// The number of user-agent lines that name a crawler.
    pub(super) named_lines: u64,
    pub(super) crawl_delay: bool,
    /// The share of hosts whose file names its own sitemap, per ten thousand.
    pub(super) own_sitemap: u64,
    /// The size up to which comments fill the file, in bytes.
    pub(super) bytes_min: usize,
}

const fn frequent(
    default: DefaultGroup,
    (named, named_lines): (NamedGroups, u64),
    own_sitemap: u64,
    bytes_min: usize,
) -> Plan {
    Plan {
        has_byte_order_mark: false,
        has_crlf: false,
        heading_lines: 0,
        default,
        platform: None,
        named,
        named_lines,
        crawl_delay: false,
        own_sitemap,
        bytes_min,
    }
}

const fn with_crlf(plan: Plan) -> Plan {
    Plan { has_crlf: true, ..plan }
}

const NOBODY: (NamedGroups, u64) = (NamedGroups::Closed, 0);

/// The most frequent layouts by rank. Because of their weight they are not drawn: each has the
/// size, the groups and the number of rules of a measured layout, with synthetic words.
const FREQUENT: [Plan; 24] = {
    use DefaultGroup::{Absent, Closed, NoRule, Open, OpenByAllow, Rules};
    [
        frequent(Rules(6), (NamedGroups::Closed, 8), 0, 495),
        with_crlf(frequent(Rules(22), (NamedGroups::Closed, 3), 0, 816)),
        frequent(Rules(2), NOBODY, 7_400, 0),
        frequent(Open, NOBODY, 9_100, 110),
        frequent(Open, NOBODY, 3_500, 0),
        frequent(OpenByAllow, NOBODY, 4_400, 0),
        frequent(NoRule, NOBODY, 3_700, 0),
        frequent(Rules(52), NOBODY, 0, 2_074),
        frequent(Closed, NOBODY, 500, 0),
        frequent(Absent, NOBODY, 6_600, 0),
        with_crlf(frequent(Rules(204), (NamedGroups::Closed, 32), 0, 15_483)),
        frequent(Rules(68), NOBODY, 300, 2_326),
        frequent(Rules(3), (NamedGroups::AsDefault, 6), 10_000, 600),
        frequent(Rules(44), NOBODY, 400, 1_756),
        frequent(Rules(38), (NamedGroups::AsDefault, 1), 9_600, 2_000),
        frequent(Rules(40), NOBODY, 1_500, 1_708),
        frequent(Open, NOBODY, 2_200, 0),
        frequent(OpenByAllow, (NamedGroups::Own, 4), 10_000, 700),
        frequent(Closed, (NamedGroups::Open, 1), 9_700, 0),
        frequent(Open, NOBODY, 3_800, 0),
        with_crlf(frequent(OpenByAllow, (NamedGroups::Open, 5), 0, 210)),
        frequent(Rules(134), (NamedGroups::Closed, 1), 0, 3_864),
        frequent(Absent, (NamedGroups::OneClosed, 28), 8_600, 900),
        frequent(Rules(3), NOBODY, 0, 0),
    ]
};

impl Layout {
    /// A layout that no host has. The sections of its site are used everywhere.
    pub(super) const COMMON: Layout = Layout(u64::MAX);

    /// Returns the layout of the host at this position. `random` is the host's stream for this
    /// purpose.
    pub(super) fn from_host(mut random: SplitMix64, host: u64) -> Layout {
        if random.chance(OWN_LAYOUT) {
            Layout(OWN_START + host)
        } else {
            Layout(LAYOUT_RANK.draw(&mut random))
        }
    }

    /// Returns whether the layout belongs to a single host.
    pub(super) fn is_own(self) -> bool {
        self.0 >= OWN_START
    }

    /// Draws the properties of the layout.
    pub(super) fn plan(self, seed: u64) -> Plan {
        let frequent = usize::try_from(self.0).ok().and_then(|rank| FREQUENT.get(rank));
        match frequent {
            // Different headings distinguish layouts with the same rules.
            Some(&plan) => Plan { heading_lines: self.0 % 8, platform: Some(self.0), ..plan },
            None => self.drawn_plan(&mut SplitMix64::stream(seed, Purpose::Plan, self.0)),
        }
    }

    fn drawn_plan(self, random: &mut SplitMix64) -> Plan {
        let lines = NAMED_LINES.draw(random);
        let named_lines = if self.is_own() { lines } else { lines.min(SHARED_NAMED_LINES_MAX) };
        let default = self.draw_default(random, named_lines);
        Plan {
            has_byte_order_mark: random.chance(BYTE_ORDER_MARK),
            has_crlf: random.chance(CRLF),
            heading_lines: if random.chance(HEADING) { random.below(16) + 1 } else { 0 },
            default,
            // A third of the longer default groups begin with a platform's rules.
            platform: match default {
                DefaultGroup::Rules(6..) if random.chance(4_000) => Some(PLATFORM.draw(random)),
                _ => None,
            },
            named: draw_named(random, named_lines, default),
            named_lines,
            crawl_delay: random.chance(CRAWL_DELAY),
            own_sitemap: if random.chance(OWN_SITEMAP) { 10_000 } else { 0 },
            bytes_min: 0,
        }
    }

    fn draw_default(self, random: &mut SplitMix64, named_lines: u64) -> DefaultGroup {
        let share = random.below(10_000);
        let only_named = if named_lines > 0 { NO_DEFAULT_GROUP } else { 0 };
        if share < NO_GROUP + only_named {
            return DefaultGroup::Absent;
        }
        if share < NO_GROUP + NO_DEFAULT_GROUP + NO_RULE {
            return DefaultGroup::NoRule;
        }
        let rules = DEFAULT_RULES.draw(random);
        let rules = if self.is_own() { rules } else { rules.min(SHARED_DEFAULT_RULES_MAX) };
        match (rules, random.below(10)) {
            (1, 0..=2) => DefaultGroup::Open,
            (1, 3) => DefaultGroup::OpenByAllow,
            (1, 4..=5) => DefaultGroup::Closed,
            _ => DefaultGroup::Rules(rules),
        }
    }
}

fn draw_named(random: &mut SplitMix64, lines: u64, default: DefaultGroup) -> NamedGroups {
    let share = random.below(100);
    match (lines, share) {
        (8.., 0..83) | (_, 0..40) => NamedGroups::Closed,
        (8.., 83..87) | (_, 40..52) => NamedGroups::Open,
        (8.., 87..91) | (_, 52..60) => match default {
            DefaultGroup::Rules(rules) if rules * lines <= COPIED_RULES_MAX => {
                NamedGroups::AsDefault
            }
            _ => NamedGroups::Closed,
        },
        (8.., 91..94) | (_, 60..95) => NamedGroups::Own,
        _ => NamedGroups::OneClosed,
    }
}
