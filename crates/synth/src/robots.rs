//! Generates one robots.txt file.

use super::draw::{NAMED_RULES, NAMES_OF_ONE_GROUP, SITEMAPS};
use super::layout::{DefaultGroup, Layout, NamedGroups, Plan};
use super::patterns::Patterns;
use super::random::{Purpose, SplitMix64};
use super::site::Site;
use super::words::{ADJECTIVES, NOUNS, write_agent, write_number};
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

/// Appends the file of a layout for a host with this name, whose default group also disallows
/// the sections `edits`. `sitemaps` is the random stream for the other records of the host.
pub(super) fn write(
    seed: u64,
    layout: Layout,
    (host, edits, sitemaps): (&[u8], &[Vec<u8>], SplitMix64),
    out: &mut Vec<u8>,
) {
    let plan = layout.plan(seed);
    let site = Site::from_layout(seed, layout);
    let mut random = SplitMix64::stream(seed, Purpose::Robots, layout.number());
    let spelling =
        if random.chance(OTHER_SPELLING) { random.pick(&SPELLINGS[1..]) } else { SPELLINGS[0] };
    let mut file =
        File { seed, layout, plan, site, edits, spelling, random, start: out.len(), out };
    file.write(host, sitemaps);
}

/// The file that is being written.
struct File<'a> {
    seed: u64,
    layout: Layout,
    plan: Plan,
    site: Site,
    edits: &'a [Vec<u8>],
    spelling: [&'static str; 3],
    random: SplitMix64,
    start: usize,
    out: &'a mut Vec<u8>,
}

impl File<'_> {
    fn write(&mut self, host: &[u8], sitemaps: SplitMix64) {
        if self.plan.has_byte_order_mark {
            self.put("\u{feff}");
        }
        for _ in 0..self.plan.heading_lines {
            self.write_heading_line();
        }
        if self.random.chance(DEFAULT_GROUP_LAST) {
            self.write_named_groups();
            self.write_default_group();
        } else {
            self.write_default_group();
            self.write_named_groups();
        }
        self.fill();
        self.write_sitemaps(host, sitemaps);
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn end_line(&mut self) {
        self.put(if self.plan.has_crlf { "\r\n" } else { "\n" });
    }

    fn write_heading_line(&mut self) {
        if self.random.chance(7_500) {
            self.write_comment();
        } else {
            self.end_line();
        }
    }

    fn write_comment(&mut self) {
        self.put("#");
        for _ in 0..self.random.below(10) {
            self.put(" ");
            let word = if self.random.chance(5_000) {
                self.random.pick(&NOUNS)
            } else {
                self.random.pick(&ADJECTIVES)
            };
            self.put(word);
        }
        self.end_line();
    }

    fn write_default_group(&mut self) {
        if self.plan.default == DefaultGroup::Absent {
            return;
        }
        self.put(self.spelling[0]);
        self.put("*");
        self.end_line();
        for section in self.edits {
            self.put("Disallow: /");
            self.out.extend_from_slice(section);
            self.end_line();
        }
        if self.plan.crawl_delay {
            self.put("Crawl-delay: ");
            let seconds = self.random.below(30) + 1;
            write_number(seconds, self.out);
            self.end_line();
        }
        match self.plan.default {
            DefaultGroup::Absent | DefaultGroup::NoRule => {}
            DefaultGroup::Open => self.write_rule(Verdict::Disallow, b""),
            DefaultGroup::OpenByAllow => self.write_rule(Verdict::Allow, b"/"),
            DefaultGroup::Closed => self.write_rule(Verdict::Disallow, b"/"),
            DefaultGroup::Rules(rules) => self.write_rules(0, rules, self.plan.platform),
        }
        self.end_line();
    }

    fn write_rule(&mut self, verdict: Verdict, value: &[u8]) {
        self.put(self.spelling[1 + usize::from(verdict == Verdict::Allow)]);
        self.out.extend_from_slice(value);
        self.end_line();
    }

    /// Writes the rules of the layout's list `list`: the same rules every time.
    fn write_rules(&mut self, list: u64, rules: u64, platform: Option<u64>) {
        let mut random =
            SplitMix64::stream(self.seed, Purpose::Rules, self.layout.number() * 4 + list);
        let layout = self.layout.number();
        let patterns = Patterns { seed: self.seed, layout, site: self.site, platform };
        let mut value = Vec::new();
        for position in 0..rules {
            if random.chance(BLANK_LINE_BEFORE_RULE) {
                self.end_line();
            }
            if random.chance(COMMENT_BEFORE_RULE) {
                self.write_comment();
            }
            value.clear();
            let verdict = patterns.write(position, &mut random, &mut value);
            self.write_rule(verdict, &value);
        }
    }

    fn write_named_groups(&mut self) {
        let mut agents = Agents::new(self.plan.named_lines);
        let mut left = self.plan.named_lines;
        while left > 0 {
            let lines = match self.plan.named {
                NamedGroups::OneClosed => left.min(NAMES_OF_ONE_GROUP.draw(&mut self.random)),
                _ => 1,
            };
            for _ in 0..lines {
                self.put(self.spelling[0]);
                let rank = agents.next(&mut self.random);
                write_agent(rank, self.out);
                self.end_line();
            }
            self.write_named_rules();
            self.end_line();
            left -= lines;
        }
    }

    fn write_named_rules(&mut self) {
        match (self.plan.named, self.plan.default) {
            (NamedGroups::Open, _) => self.write_rule(Verdict::Disallow, b""),
            (NamedGroups::AsDefault, DefaultGroup::Rules(rules)) => {
                self.write_rules(0, rules, self.plan.platform);
            }
            // One of two lists, so that groups of one file may have the same rules.
            (NamedGroups::Own, _) => {
                let list = 1 + self.random.below(2);
                let mut random =
                    SplitMix64::stream(self.seed, Purpose::Rules, self.layout.number() * 4 + 3);
                let lengths = [NAMED_RULES.draw(&mut random), NAMED_RULES.draw(&mut random)];
                self.write_rules(list, lengths[list as usize - 1], None);
            }
            (NamedGroups::Closed | NamedGroups::OneClosed | NamedGroups::AsDefault, _) => {
                self.write_rule(Verdict::Disallow, b"/");
            }
        }
    }

    /// Fills the file with comments up to the size of the layout.
    fn fill(&mut self) {
        while self.out.len() - self.start < self.plan.bytes_min {
            self.write_comment();
        }
    }

    fn write_sitemaps(&mut self, host: &[u8], mut random: SplitMix64) {
        let sitemaps = if self.layout.is_own() {
            SITEMAPS.draw(&mut random)
        } else if random.chance(self.plan.own_sitemap) {
            // Templates contain few comments.
            random.below(8).saturating_sub(5) + 1
        } else {
            0
        };
        for position in 0..sitemaps {
            self.put("Sitemap: https://");
            self.out.extend_from_slice(host);
            self.put("/sitemap");
            if position > 0 {
                self.put("-");
                write_number(position, self.out);
            }
            self.put(".xml");
            self.end_line();
        }
    }
}

/// The crawlers that a list names, the most famous first. Only rare ones can repeat.
struct Agents {
    next: u64,
    /// The step between ranks is on average half of this plus a half.
    stride: u64,
}

impl Agents {
    /// Creates the agents of a list with this many lines.
    fn new(lines: u64) -> Agents {
        Agents { next: 0, stride: (FAMOUS_AGENTS / (lines + 1)).max(1) * 2 }
    }

    fn next(&mut self, random: &mut SplitMix64) -> u64 {
        if random.chance(RARE_AGENT) {
            return random.below(RARE_AGENTS);
        }
        self.next += 1 + random.below(self.stride);
        self.next - 1
    }
}
