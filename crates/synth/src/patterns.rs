//! Generates the rules of one group.

use super::draw::{COMMON_PATTERN, COMMON_PATTERN_BYTES, OWN_PATTERN_BYTES, Quantiles};
use super::layout::Layout;
use super::random::{Purpose, SplitMix64};
use super::site::Site;
use super::words::{EXTENSIONS, PARAMETERS};
use portcullis_dialect::decision::Verdict;

// Measured shares of rules, per ten thousand.
const ALLOW: u64 = 700;
const END_ANCHOR: u64 = 290;
const EMPTY_VALUE: u64 = 40;
const WHOLE_SITE: u64 = 60;
/// The share of sites whose patterns have stars inside.
const STARRY: u64 = 4_500;
/// The share of common patterns among rules that no platform provides.
const COMMON: u64 = 2_400;

/// The maximum number of a platform's rules at the start of a default group.
const PLATFORM_RULES_MAX: u64 = 64;

/// The shares of a site's rules with more than one star, also of those with one before the end, and also
/// of those with one at the end. Most rule sets have either many stars or none, whatever their size, so
/// stars are drawn per site and not per rule.
type Stars = [u64; 3];

const PLAIN_STARS: Stars = [0, 0, 700];
const MANY_STARS: Stars = [1_000, 2_500, 3_300];

/// The sources of the rules of a group.
#[derive(Clone, Copy)]
pub(super) struct Patterns {
    /// The corpus's seed.
    seed: u64,
    /// The sections used in the patterns that only this layout has.
    site: Site,
    stars: Stars,
    /// The platform whose rules come first.
    platform: Option<u64>,
}

impl Patterns {
    pub(super) fn new(seed: u64, layout: Layout, platform: Option<u64>) -> Patterns {
        let (purpose, number) = match platform {
            Some(platform) => (Purpose::PlatformStars, platform),
            None => (Purpose::Stars, layout.0),
        };
        let is_starry = SplitMix64::stream(seed, purpose, number).chance(STARRY);
        let stars = if is_starry { MANY_STARS } else { PLAIN_STARS };
        Patterns { seed, site: Site::from_layout(seed, layout), stars, platform }
    }

    /// Returns the verdict and the pattern of the rule at `position` of the group.
    pub(super) fn rule(self, position: u64, random: &mut SplitMix64) -> (Verdict, String) {
        match self.platform {
            Some(platform) if position < PLATFORM_RULES_MAX => {
                self.common_rule(platform * PLATFORM_RULES_MAX + position)
            }
            _ if random.chance(COMMON) => self.common_rule(COMMON_PATTERN.draw(random)),
            _ => self.draw(self.site, &OWN_PATTERN_BYTES, random),
        }
    }

    /// Returns a rule with a common pattern. Equal numbers give equal rules to sites with equal stars.
    fn common_rule(self, number: u64) -> (Verdict, String) {
        let mut random = SplitMix64::stream(self.seed, Purpose::Pattern, number);
        self.draw(Site::from_layout(self.seed, Layout::COMMON), &COMMON_PATTERN_BYTES, &mut random)
    }

    fn draw(self, site: Site, bytes: &Quantiles, random: &mut SplitMix64) -> (Verdict, String) {
        let bytes = bytes.draw(random) as usize;
        let verdict = if random.chance(ALLOW) { Verdict::Allow } else { Verdict::Disallow };
        let mut value = Value { site, bytes, random, text: String::new() };
        value.write(self.stars);
        (verdict, value.text)
    }
}

/// The value that is being written.
struct Value<'a> {
    site: Site,
    /// The approximate length, never exceeded by much.
    bytes: usize,
    random: &'a mut SplitMix64,
    text: String,
}

impl Value<'_> {
    fn write(&mut self, [more, inner, last]: Stars) {
        let share = self.random.below(10_000);
        if share < EMPTY_VALUE {
            return;
        }
        if share < EMPTY_VALUE + WHOLE_SITE {
            return self.put("/");
        }
        let share = self.random.below(10_000);
        if share < more {
            let shape = self.random.pick(&["/*?*P", "/*/*S", "S/*/*/*/", "*S/*E"]);
            self.put(shape);
        } else if share < inner {
            let shape = self.random.pick(&["/*SE", "/*?P", "/*S", "s/*S"]);
            self.put(shape);
        } else if share < last {
            self.put("S/*");
        } else {
            self.put("S");
            let end = self.random.pick(&["E", "?P", "/", "/", "/", "/", "/", "", "", ""]);
            self.put(end);
        }
        if self.random.chance(END_ANCHOR) {
            self.put("$");
        }
    }

    /// Appends a shape: `s` stands for a section, `S` for one or more sections, `E` for a file
    /// extension, `P` for a parameter.
    fn put(&mut self, shape: &str) {
        for character in shape.chars() {
            match character {
                's' => self.write_section(),
                'S' => {
                    self.write_section();
                    while self.text.len() + 4 < self.bytes {
                        self.write_section();
                    }
                }
                'E' => self.text.push_str(self.random.pick(&EXTENSIONS)),
                'P' => self.text.push_str(&format!("{}=", self.random.pick(&PARAMETERS))),
                character => self.text.push(character),
            }
        }
    }

    fn write_section(&mut self) {
        self.text.push('/');
        self.site.write_section(self.random, &mut self.text);
    }
}
