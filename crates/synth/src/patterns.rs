//! Generates the rules of one group.

use super::draw::{COMMON_PATTERN, COMMON_PATTERN_BYTES, OWN_PATTERN_BYTES};
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

/// Shares of a site's rules with stars. Most rule sets have either many stars or none, whatever
/// their size, so stars are drawn per site and not per rule.
#[derive(Clone, Copy)]
struct Stars {
    /// Rules with more than one star.
    more: u64,
    /// Rules with one star before the end.
    inner: u64,
    /// Rules with one star, at the end.
    last: u64,
}

impl Stars {
    const PLAIN: Stars = Stars { more: 0, inner: 0, last: 700 };
    const STARRY: Stars = Stars { more: 1_000, inner: 1_500, last: 800 };
}

/// The sources of rules.
#[derive(Clone, Copy)]
pub(super) struct Patterns {
    /// The corpus's seed.
    pub(super) seed: u64,
    /// The number of the layout.
    pub(super) layout: u64,
    /// The sections used in the patterns that only this layout has.
    pub(super) site: Site,
    /// The platform whose rules come first.
    pub(super) platform: Option<u64>,
}

impl Patterns {
    /// Appends the pattern of the rule at `position` of its group, and returns its verdict.
    pub(super) fn write(
        self,
        position: u64,
        random: &mut SplitMix64,
        out: &mut Vec<u8>,
    ) -> Verdict {
        let stars = self.stars();
        if let Some(platform) = self.platform
            && position < PLATFORM_RULES_MAX
        {
            return self.write_common(platform * PLATFORM_RULES_MAX + position, stars, out);
        }
        if random.chance(COMMON) {
            let number = COMMON_PATTERN.draw(random);
            return self.write_common(number, stars, out);
        }
        let bytes = OWN_PATTERN_BYTES.draw(random);
        write_rule((self.site, stars), bytes, random, out)
    }

    fn stars(self) -> Stars {
        let (purpose, number) = match self.platform {
            Some(platform) => (Purpose::PlatformStars, platform),
            None => (Purpose::Stars, self.layout),
        };
        match SplitMix64::stream(self.seed, purpose, number).chance(STARRY) {
            true => Stars::STARRY,
            false => Stars::PLAIN,
        }
    }

    /// Appends a common pattern. Equal numbers give equal rules to sites with equal stars.
    fn write_common(self, number: u64, stars: Stars, out: &mut Vec<u8>) -> Verdict {
        let mut random = SplitMix64::stream(self.seed, Purpose::Pattern, number);
        let bytes = COMMON_PATTERN_BYTES.draw(&mut random);
        write_rule((Site::common(self.seed), stars), bytes, &mut random, out)
    }
}

fn write_rule(
    (site, stars): (Site, Stars),
    bytes: u64,
    random: &mut SplitMix64,
    out: &mut Vec<u8>,
) -> Verdict {
    let verdict = if random.chance(ALLOW) { Verdict::Allow } else { Verdict::Disallow };
    let mut value = Value { site, end: out.len() + bytes as usize, random, out };
    value.write(stars);
    verdict
}

/// The value that is being written.
struct Value<'a> {
    site: Site,
    /// The approximate end, never exceeded by much.
    end: usize,
    random: &'a mut SplitMix64,
    out: &'a mut Vec<u8>,
}

impl Value<'_> {
    fn write(&mut self, stars: Stars) {
        let share = self.random.below(10_000);
        if share < EMPTY_VALUE {
            return;
        }
        if share < EMPTY_VALUE + WHOLE_SITE {
            return self.put("/");
        }
        let share = self.random.below(10_000);
        if share < stars.more {
            let shape = self.random.pick(&["/*?*P", "/*/*S", "S/*/*/*/", "*S/*E"]);
            self.put(shape);
        } else if share < stars.more + stars.inner {
            let shape = self.random.pick(&["/*SE", "/*?P", "/*S", "s/*S"]);
            self.put(shape);
        } else if share < stars.more + stars.inner + stars.last {
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
        for byte in shape.bytes() {
            match byte {
                b's' => self.write_section(),
                b'S' => {
                    self.write_section();
                    while self.out.len() + 4 < self.end {
                        self.write_section();
                    }
                }
                b'E' => self.out.extend_from_slice(self.random.pick(&EXTENSIONS).as_bytes()),
                b'P' => {
                    self.out.extend_from_slice(self.random.pick(&PARAMETERS).as_bytes());
                    self.out.push(b'=');
                }
                byte => self.out.push(byte),
            }
        }
    }

    fn write_section(&mut self) {
        self.out.push(b'/');
        self.site.write_section(self.random, self.out);
    }
}
