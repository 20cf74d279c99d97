//! Generates one robots.txt file.

use super::draw::{NAMED_RULES, NAMES_OF_ONE_GROUP, SITEMAPS};
use super::layout::{DefaultGroup, Layout, NamedGroups, Plan};
use super::patterns::Patterns;
use super::random::{Purpose, SplitMix64};
use super::words::{ADJECTIVES, NOUNS, agent};
use portcullis_dialect::decision::Verdict;

// Shares per ten thousand.
const COMMENT_BEFORE_RULE: u64 = 60;
const BLANK_LINE_BEFORE_RULE: u64 = 150;
const DEFAULT_GROUP_LAST: u64 = 3_000;
/// The share of named lines whose crawler almost no other file names.
const RARE_AGENT: u64 = 800;

/// The number of ranks from which short lists draw crawlers.
const FAMOUS_AGENTS: u64 = 56;
/// The number of ranks of crawlers that almost no other file names.
const RARE_AGENTS: u64 = 4_800;

/// The spellings of fields. Most files use the first one.
const SPELLINGS: [[&str; 3]; 4] = [
    ["User-agent: ", "Disallow: ", "Allow: "],
    ["User-Agent: ", "Disallow: ", "Allow: "],
    ["User-agent: ", "Disallow:", "Allow:"],
    ["user-agent: ", "disallow: ", "allow: "],
];
const OTHER_SPELLING: u64 = 800;

/// Returns the file of a layout for a host with this name, whose default group also disallows
/// the sections `edits`. `sitemaps` is the random stream for the other records of the host.
pub(super) fn file(
    seed: u64,
    layout: Layout,
    (host, edits, sitemaps): (&str, &[String], SplitMix64),
) -> String {
    let plan = layout.plan(seed);
    let mut random = SplitMix64::stream(seed, Purpose::Robots, layout.0);
    let spelling =
        if random.chance(OTHER_SPELLING) { random.pick(&SPELLINGS[1..]) } else { SPELLINGS[0] };
    let mut file = File { seed, layout, plan, edits, spelling, random, text: String::new() };
    file.write(host, sitemaps);
    file.text
}

/// The file that is being written.
struct File<'a> {
    seed: u64,
    layout: Layout,
    plan: Plan,
    edits: &'a [String],
    spelling: [&'static str; 3],
    random: SplitMix64,
    text: String,
}

impl File<'_> {
    fn write(&mut self, host: &str, sitemaps: SplitMix64) {
        if self.plan.has_byte_order_mark {
            self.text.push('\u{feff}');
        }
        for _ in 0..self.plan.heading_lines {
            match self.random.chance(7_500) {
                true => self.write_comment(),
                false => self.write_line(&[]),
            }
        }
        if self.random.chance(DEFAULT_GROUP_LAST) {
            self.write_named_groups();
            self.write_default_group();
        } else {
            self.write_default_group();
            self.write_named_groups();
        }
        // Comments fill the file up to the size of the layout.
        while self.text.len() < self.plan.bytes_min {
            self.write_comment();
        }
        self.write_sitemaps(host, sitemaps);
    }

    /// Appends the parts of a line, and its end.
    fn write_line(&mut self, parts: &[&str]) {
        self.text.extend(parts.iter().copied());
        self.text.push_str(if self.plan.has_crlf { "\r\n" } else { "\n" });
    }

    fn write_comment(&mut self) {
        self.text.push('#');
        for _ in 0..self.random.below(10) {
            let words = if self.random.chance(5_000) { &NOUNS[..] } else { &ADJECTIVES };
            self.text.extend([" ", self.random.pick(words)]);
        }
        self.write_line(&[]);
    }

    fn write_default_group(&mut self) {
        if self.plan.default == DefaultGroup::Absent {
            return;
        }
        self.write_line(&[self.spelling[0], "*"]);
        for section in self.edits {
            self.write_line(&["Disallow: /", section]);
        }
        if self.plan.crawl_delay {
            let seconds = self.random.below(30) + 1;
            self.write_line(&["Crawl-delay: ", &seconds.to_string()]);
        }
        match self.plan.default {
            DefaultGroup::Absent | DefaultGroup::NoRule => {}
            DefaultGroup::Open => self.write_rule(Verdict::Disallow, ""),
            DefaultGroup::OpenByAllow => self.write_rule(Verdict::Allow, "/"),
            DefaultGroup::Closed => self.write_rule(Verdict::Disallow, "/"),
            DefaultGroup::Rules(rules) => self.write_rules(0, rules, self.plan.platform),
        }
        self.write_line(&[]);
    }

    fn write_rule(&mut self, verdict: Verdict, value: &str) {
        self.write_line(&[self.spelling[1 + usize::from(verdict == Verdict::Allow)], value]);
    }

    /// Returns the random stream of one of the layout's lists of rules.
    fn stream(&self, list: u64) -> SplitMix64 {
        SplitMix64::stream(self.seed, Purpose::Rules, self.layout.0 * 4 + list)
    }

    /// Writes the rules of the layout's list `list`: the same rules every time.
    fn write_rules(&mut self, list: u64, rules: u64, platform: Option<u64>) {
        let mut random = self.stream(list);
        let patterns = Patterns::new(self.seed, self.layout, platform);
        for position in 0..rules {
            if random.chance(BLANK_LINE_BEFORE_RULE) {
                self.write_line(&[]);
            }
            if random.chance(COMMENT_BEFORE_RULE) {
                self.write_comment();
            }
            let (verdict, value) = patterns.rule(position, &mut random);
            self.write_rule(verdict, &value);
        }
    }

    fn write_named_groups(&mut self) {
        // The most famous crawlers come first. The step between their ranks is on average half of the
        // stride plus a half.
        let stride = (FAMOUS_AGENTS / (self.plan.named_lines + 1)).max(1) * 2;
        let (mut left, mut next) = (self.plan.named_lines, 0);
        while left > 0 {
            let lines = match self.plan.named {
                NamedGroups::OneClosed => left.min(NAMES_OF_ONE_GROUP.draw(&mut self.random)),
                _ => 1,
            };
            for _ in 0..lines {
                // Only rare ones can repeat.
                let is_rare = self.random.chance(RARE_AGENT);
                let (first, ranks) = if is_rare { (0, RARE_AGENTS) } else { (next, stride) };
                let rank = first + self.random.below(ranks);
                next = if is_rare { next } else { rank + 1 };
                self.write_line(&[self.spelling[0], &agent(rank)]);
            }
            self.write_named_rules();
            self.write_line(&[]);
            left -= lines;
        }
    }

    fn write_named_rules(&mut self) {
        match (self.plan.named, self.plan.default) {
            (NamedGroups::Open, _) => self.write_rule(Verdict::Disallow, ""),
            (NamedGroups::AsDefault, DefaultGroup::Rules(rules)) => {
                self.write_rules(0, rules, self.plan.platform);
            }
            // One of two lists, so that groups of one file may have the same rules.
            (NamedGroups::Own, _) => {
                let list = 1 + self.random.below(2);
                let mut random = self.stream(3);
                let lengths = [NAMED_RULES.draw(&mut random), NAMED_RULES.draw(&mut random)];
                self.write_rules(list, lengths[list as usize - 1], None);
            }
            (NamedGroups::Closed | NamedGroups::OneClosed | NamedGroups::AsDefault, _) => {
                self.write_rule(Verdict::Disallow, "/");
            }
        }
    }

    fn write_sitemaps(&mut self, host: &str, mut random: SplitMix64) {
        let sitemaps = if self.layout.is_own() {
            SITEMAPS.draw(&mut random)
        } else if random.chance(self.plan.own_sitemap) {
            // Templates contain few comments.
            random.below(8).saturating_sub(5) + 1
        } else {
            0
        };
        for position in 0..sitemaps {
            let number = if position == 0 { String::new() } else { format!("-{position}") };
            self.write_line(&["Sitemap: https://", host, "/sitemap", &number, ".xml"]);
        }
    }
}
