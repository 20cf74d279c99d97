//! Makes up the rules of one group.

use super::draw::{COMMON_PATTERN, COMMON_PATTERN_BYTES, OWN_PATTERN_BYTES};
use super::random::{Purpose, SplitMix64};
use super::site::Site;
use super::words::{EXTENSIONS, PARAMETERS};
use crate::decision::Verdict;

// Shares of the rules, in ten thousand, as measured.
const ALLOW: u64 = 700;
const END_ANCHOR: u64 = 290;
const EMPTY_VALUE: u64 = 40;
const WHOLE_SITE: u64 = 60;
/// Sites whose patterns have stars inside.
const STARRY: u64 = 4_500;
/// Those that all the web writes, of rules that no platform gives.
const COMMON: u64 = 2_400;

/// Rules at the start of a default group that a platform gives, at most.
const PLATFORM_RULES_MAX: u64 = 64;

/// How a site writes its patterns. Most rule sets have either many stars or none, however long they
/// are, so it is drawn for a site and not for a rule.
#[derive(Clone, Copy)]
enum StarHabit {
    /// No star but at the end.
    Plain,
    Starry,
}

impl StarHabit {
    fn draw(random: &mut SplitMix64) -> StarHabit {
        if random.chance(STARRY) { StarHabit::Starry } else { StarHabit::Plain }
    }

    /// Rules with more than one star.
    const fn more_stars(self) -> u64 {
        match self {
            StarHabit::Plain => 0,
            StarHabit::Starry => 1_000,
        }
    }

    /// Rules with one star before the end.
    const fn inner_star(self) -> u64 {
        match self {
            StarHabit::Plain => 0,
            StarHabit::Starry => 1_500,
        }
    }

    /// Rules with one star, at the end.
    const fn last_star(self) -> u64 {
        match self {
            StarHabit::Plain => 700,
            StarHabit::Starry => 800,
        }
    }
}

/// Where rules come from.
#[derive(Clone, Copy)]
pub(super) struct Patterns {
    /// The corpus's seed.
    pub(super) seed: u64,
    /// The number of the layout.
    pub(super) layout: u64,
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
        let habit = self.star_habit();
        if let Some(platform) = self.platform
            && position < PLATFORM_RULES_MAX
        {
            return self.write_common(platform * PLATFORM_RULES_MAX + position, habit, out);
        }
        if random.chance(COMMON) {
            let number = COMMON_PATTERN.draw(random);
            return self.write_common(number, habit, out);
        }
        let bytes = OWN_PATTERN_BYTES.draw(random);
        write_rule((self.site, habit), bytes, random, out)
    }

    fn star_habit(self) -> StarHabit {
        let (purpose, number) = match self.platform {
            Some(platform) => (Purpose::PlatformStars, platform),
            None => (Purpose::Stars, self.layout),
        };
        StarHabit::draw(&mut SplitMix64::stream(self.seed, purpose, number))
    }

    /// Appends one of the patterns that all the web writes: equal numbers give equal rules to sites
    /// of equal habit.
    fn write_common(self, number: u64, habit: StarHabit, out: &mut Vec<u8>) -> Verdict {
        let mut random = SplitMix64::stream(self.seed, Purpose::Pattern, number);
        let bytes = COMMON_PATTERN_BYTES.draw(&mut random);
        write_rule((Site::common(self.seed), habit), bytes, &mut random, out)
    }
}

fn write_rule(
    (site, habit): (Site, StarHabit),
    bytes: u64,
    random: &mut SplitMix64,
    out: &mut Vec<u8>,
) -> Verdict {
    let verdict = if random.chance(ALLOW) { Verdict::Allow } else { Verdict::Disallow };
    let mut value = Value { site, habit, end: out.len() + bytes as usize, random, out };
    value.write();
    verdict
}

/// A value that is being written.
struct Value<'a> {
    site: Site,
    habit: StarHabit,
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
        let more_stars = self.habit.more_stars();
        let inner_star = more_stars + self.habit.inner_star();
        if share < more_stars {
            self.write_with_stars();
        } else if share < inner_star {
            self.write_with_star();
        } else if share < inner_star + self.habit.last_star() {
            self.write_sections();
            self.put("/*");
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
        match self.random.below(4) {
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
