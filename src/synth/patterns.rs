//! Makes up the rules of one group.

use super::draw::{COMMON_PATTERN, COMMON_PATTERN_OCTETS, OWN_PATTERN_OCTETS};
use super::random::{Purpose, SplitMix64};
use super::site::Site;
use super::words::{EXTENSIONS, PARAMETERS};
use crate::decision::Verdict;

// Shares of the rules, in ten thousand, as measured.
const ALLOW: u64 = 700;
const ONE_STAR: u64 = 1_300;
const MORE_STARS: u64 = 440;
const END_ANCHOR: u64 = 290;
const EMPTY_VALUE: u64 = 40;
const WHOLE_SITE: u64 = 60;
/// Those that all the web writes, of rules that no platform gives.
const COMMON: u64 = 2_400;

/// Rules at the start of a default group that a platform gives, at most.
const PLATFORM_RULES_MAX: u64 = 64;

/// Where rules come from.
#[derive(Clone, Copy)]
pub(super) struct Patterns {
    /// The corpus's seed.
    pub(super) seed: u64,
    /// The sections that the patterns of this layout alone are made of.
    pub(super) site: Site,
    /// The platform whose rules come first.
    pub(super) platform: Option<u64>,
}

impl Patterns {
    /// Appends the pattern of the rule at `position` of its group and gives its verdict.
    pub(super) fn write(
        self,
        position: u64,
        random: &mut SplitMix64,
        out: &mut Vec<u8>,
    ) -> Verdict {
        if let Some(platform) = self.platform
            && position < PLATFORM_RULES_MAX
        {
            return self.write_common(platform * PLATFORM_RULES_MAX + position, out);
        }
        if random.chance(COMMON) {
            let number = COMMON_PATTERN.draw(random);
            return self.write_common(number, out);
        }
        let octets = OWN_PATTERN_OCTETS.draw(random);
        write_rule(self.site, octets, random, out)
    }

    /// Appends one of the patterns that all the web writes: equal numbers give equal rules.
    fn write_common(self, number: u64, out: &mut Vec<u8>) -> Verdict {
        let mut random = SplitMix64::stream(self.seed, Purpose::Pattern, number);
        let octets = COMMON_PATTERN_OCTETS.draw(&mut random);
        write_rule(Site::common(self.seed), octets, &mut random, out)
    }
}

fn write_rule(site: Site, octets: u64, random: &mut SplitMix64, out: &mut Vec<u8>) -> Verdict {
    let verdict = if random.chance(ALLOW) { Verdict::Allow } else { Verdict::Disallow };
    let mut value = Value { site, end: out.len() + octets as usize, random, out };
    value.write();
    verdict
}

/// A value that is being written.
struct Value<'a> {
    site: Site,
    /// Where it ends, or a little before.
    end: usize,
    random: &'a mut SplitMix64,
    out: &'a mut Vec<u8>,
}

impl Value<'_> {
    fn write(&mut self) {
        let share = self.random.below(10_000);
        if share < EMPTY_VALUE {
            return;
        }
        if share < EMPTY_VALUE + WHOLE_SITE {
            self.put("/");
            return;
        }
        let share = self.random.below(10_000);
        if share < MORE_STARS {
            self.write_with_stars();
        } else if share < MORE_STARS + ONE_STAR {
            self.write_with_star();
        } else {
            self.write_literal();
        }
        if self.random.chance(END_ANCHOR) {
            self.put("$");
        }
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn write_section(&mut self) {
        self.put("/");
        self.site.write_section(self.random, self.out);
    }

    /// One section at least.
    fn write_sections(&mut self) {
        self.write_section();
        while self.out.len() + 4 < self.end {
            self.write_section();
        }
    }

    fn put_extension(&mut self) {
        let extension = self.random.pick(&EXTENSIONS);
        self.put(extension);
    }

    fn put_parameter(&mut self) {
        let parameter = self.random.pick(&PARAMETERS);
        self.put(parameter);
        self.put("=");
    }

    fn write_literal(&mut self) {
        self.write_sections();
        match self.random.below(10) {
            0 => self.put_extension(),
            1 => {
                self.put("?");
                self.put_parameter();
            }
            2..=6 => self.put("/"),
            _ => {}
        }
    }

    fn write_with_star(&mut self) {
        match self.random.below(5) {
            0 => {
                self.put("/*");
                self.write_sections();
                self.put_extension();
            }
            1 => {
                self.put("/*?");
                self.put_parameter();
            }
            2 => {
                self.put("/*");
                self.write_sections();
            }
            3 => {
                self.write_sections();
                self.put("/*");
            }
            _ => {
                self.write_section();
                self.put("/*");
                self.write_sections();
            }
        }
    }

    fn write_with_stars(&mut self) {
        match self.random.below(4) {
            0 => {
                self.put("/*?*");
                self.put_parameter();
            }
            1 => {
                self.put("/*/*");
                self.write_sections();
            }
            2 => {
                self.write_sections();
                self.put("/*/*/*/");
            }
            _ => {
                self.put("*");
                self.write_sections();
                self.put("/*");
                self.put_extension();
            }
        }
    }
}
