//! Makes up one robots.txt file.

use super::draw::{GROUPS_PER_FILE, RULES_PER_GROUP, SEGMENTS_PER_PATTERN};
use super::random::SplitMix64;
use super::site::{Site, write_number};
use super::words::{ADJECTIVES, AGENTS, EXTENSIONS, NOUNS, PARAMETERS};

// Shares in ten thousand, as measured: of the files …
const BYTE_ORDER_MARK: u64 = 150;
const CRLF: u64 = 2_000;
const SITEMAP: u64 = 6_500;
const HEADING: u64 = 7_500;
// … of the groups …
const FIRST_IS_DEFAULT: u64 = 7_500;
const SECOND_USER_AGENT_LINE: u64 = 800;
const CRAWL_DELAY: u64 = 800;
// … and of the rules.
const ALLOW: u64 = 1_500;
const ONE_STAR: u64 = 1_100;
const MORE_STARS: u64 = 400;
const END_ANCHOR: u64 = 270;
const EMPTY_VALUE: u64 = 150;
const WHOLE_SITE: u64 = 500;
const COMMENT_BEFORE_RULE: u64 = 300;

/// Appends a file to `out`.
pub(super) fn write(random: SplitMix64, site: Site, out: &mut Vec<u8>) {
    let mut file = File { random, site, line_end: b"\n", out };
    file.write();
}

/// A file that is being written.
struct File<'a> {
    random: SplitMix64,
    site: Site,
    line_end: &'static [u8],
    out: &'a mut Vec<u8>,
}

impl File<'_> {
    fn write(&mut self) {
        if self.random.chance(BYTE_ORDER_MARK) {
            self.put("\u{feff}");
        }
        if self.random.chance(CRLF) {
            self.line_end = b"\r\n";
        }
        if self.random.chance(HEADING) {
            self.write_heading();
        }
        for group in 0..GROUPS_PER_FILE.draw(&mut self.random) {
            self.write_group(group);
        }
        if self.random.chance(SITEMAP) {
            self.write_sitemaps();
        }
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn end_line(&mut self) {
        self.out.extend_from_slice(self.line_end);
    }

    fn write_heading(&mut self) {
        for _ in 0..=self.random.below(6) {
            self.write_comment();
        }
        self.end_line();
    }

    fn write_comment(&mut self) {
        self.put("#");
        for _ in 0..self.random.below(10) {
            let word = if self.random.chance(5_000) {
                self.random.pick(&NOUNS)
            } else {
                self.random.pick(&ADJECTIVES)
            };
            self.put(" ");
            self.put(word);
        }
        self.end_line();
    }

    fn write_group(&mut self, group: u64) {
        self.write_user_agent_line(group);
        if self.random.chance(SECOND_USER_AGENT_LINE) {
            self.write_user_agent_line(group + 1);
        }
        if self.random.chance(CRAWL_DELAY) {
            self.put("Crawl-delay: ");
            let seconds = self.random.below(30) + 1;
            write_number(seconds, self.out);
            self.end_line();
        }
        for _ in 0..RULES_PER_GROUP.draw(&mut self.random) {
            self.write_rule();
        }
        self.end_line();
    }

    /// The first group is mostly the default one; the others name a crawler. A file with more
    /// groups than there are well-known crawlers goes on with made-up names.
    fn write_user_agent_line(&mut self, group: u64) {
        self.put("User-agent: ");
        if group == 0 && self.random.chance(FIRST_IS_DEFAULT) {
            self.put("*");
        } else if group < AGENTS.len() as u64 {
            let agent = self.random.pick(&AGENTS);
            self.put(agent);
        } else {
            let name = self.random.pick(&NOUNS);
            self.put(name);
            self.put("-bot-");
            write_number(group, self.out);
        }
        self.end_line();
    }

    fn write_rule(&mut self) {
        if self.random.chance(COMMENT_BEFORE_RULE) {
            self.write_comment();
        }
        let allow = self.random.chance(ALLOW);
        self.put(if allow { "Allow: " } else { "Disallow: " });
        self.write_value();
        self.end_line();
    }

    fn write_value(&mut self) {
        if self.random.chance(EMPTY_VALUE) {
            return;
        }
        if self.random.chance(WHOLE_SITE) {
            self.put("/");
            return;
        }
        let share = self.random.below(10_000);
        if share < MORE_STARS {
            self.write_pattern_with_stars();
        } else if share < MORE_STARS + ONE_STAR {
            self.write_pattern_with_star();
        } else {
            self.write_literal_pattern();
        }
        if self.random.chance(END_ANCHOR) {
            self.put("$");
        }
    }

    fn write_section(&mut self) {
        self.put("/");
        self.site.write_section(&mut self.random, self.out);
    }

    fn write_sections(&mut self) {
        for _ in 0..SEGMENTS_PER_PATTERN.draw(&mut self.random) {
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

    fn write_literal_pattern(&mut self) {
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

    fn write_pattern_with_star(&mut self) {
        match self.random.below(5) {
            0 => {
                self.put("/*");
                self.put_extension();
            }
            1 => {
                self.put("/*?");
                self.put_parameter();
            }
            2 => {
                self.put("/*");
                self.write_section();
            }
            3 => {
                self.write_sections();
                self.put("/*");
            }
            _ => {
                self.write_section();
                self.put("/*");
                self.write_section();
            }
        }
    }

    fn write_pattern_with_stars(&mut self) {
        match self.random.below(4) {
            0 => {
                self.put("/*?*");
                self.put_parameter();
            }
            1 => {
                self.put("/*/*");
                self.write_section();
            }
            2 => {
                self.write_section();
                self.put("/*/*/*/");
            }
            _ => {
                self.put("*");
                self.write_section();
                self.put("/*");
                self.put_extension();
            }
        }
    }

    fn write_sitemaps(&mut self) {
        for _ in 0..=self.random.below(4) {
            self.put("Sitemap: https://sitemap.example");
            self.write_section();
            self.put("/sitemap.xml");
            self.end_line();
        }
    }
}
