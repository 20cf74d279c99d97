//! Crawlers as their operators document them. Kept by hand: each fact has the page that says so, the day
//! on which it was read, and its grade.
//!
//! A crawler has an entry if its operator says more than that it reads the groups of its token: which other
//! groups apply, what a response that is not a file means, that robots.txt may not bind it, what it does with
//! Crawl-delay, in which dialect it reads. Crawlers that the list of ai.robots.txt lacks have an entry too,
//! with their classes.

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::{AgentError, Crawler, Reading, WithoutFile};

use super::class::Class::{self, Assistant, Search, Training};

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The operator says so.
    Documented,
    /// The operator does not; others report it.
    Observed,
}

impl Grade {
    pub const fn as_str(self) -> &'static str {
        match self {
            Grade::Documented => "documented",
            Grade::Observed => "observed",
        }
    }
}

/// A page that states a fact.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub url: &'static str,
    /// The day on which it was read, or copied.
    pub date: &'static str,
    pub grade: Grade,
}

/// How a crawler treats Crawl-delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayUse {
    Kept,
    /// It sets a pace of the crawler's own, not the seconds between two requests.
    OwnUnit,
    Ignored,
}

impl DelayUse {
    pub const fn as_str(self) -> &'static str {
        match self {
            DelayUse::Kept => "kept, in seconds",
            DelayUse::OwnUnit => "kept, as a pace of its own",
            DelayUse::Ignored => "ignored",
        }
    }
}

/// How a crawler reads a file where that is the way of no dialect of its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherDialect {
    /// It reads as a dialect with this name.
    Named(&'static str),
    /// It does not read Allow lines, whatever else it reads.
    WithoutAllow,
}

impl OtherDialect {
    pub fn differs_from(self, dialect: &Dialect) -> bool {
        self != OtherDialect::Named(dialect.name)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            OtherDialect::Named(name) => name,
            OtherDialect::WithoutAllow => "without Allow",
        }
    }
}

/// The longest file that Yandex reads: 500 KB. Which of the two units is meant, the page does not say; the
/// greater one opens less.
const YANDEX_FILE_BYTES_MAX: u32 = 500 * 1024;

/// Describes what a response that is not a file means.
pub fn describe(answers: WithoutFile) -> String {
    match answers {
        WithoutFile::AsDialect => "as the dialect".to_owned(),
        WithoutFile::Open { file_bytes_max } => {
            format!("open; a file over {} KB too", file_bytes_max / 1024)
        }
        WithoutFile::LastCopy { days } => format!("the last copy for {days} days, then open"),
    }
}

/// A crawler.
pub struct Documented {
    /// A chain of tokens, as `Crawler::parse` takes it; the first one is its name.
    pub reading: &'static str,
    pub page: &'static Page,
    /// The classes of a crawler that fetches for AI, instead of the classes of ai.robots.txt.
    pub classes: &'static [Class],
    /// The page that says that robots.txt may not bind it.
    pub not_bound: Option<&'static Page>,
    pub delay: Option<(DelayUse, &'static Page)>,
    /// The meaning of an answer to GET /robots.txt that is no file.
    pub answers: Option<(WithoutFile, &'static Page)>,
    pub dialect: Option<(OtherDialect, &'static Page)>,
}

impl Documented {
    const fn new(reading: &'static str, page: &'static Page) -> Documented {
        Documented {
            reading,
            page,
            classes: &[],
            not_bound: None,
            delay: None,
            answers: None,
            dialect: None,
        }
    }

    /// A crawler of Google that robots.txt binds.
    const fn google(reading: &'static str, page: &'static Page) -> Documented {
        Documented::new(reading, page).delay(DelayUse::Ignored, &GOOGLE_ROBOTS)
    }

    const fn yandex(reading: &'static str, page: &'static Page) -> Documented {
        let open = WithoutFile::Open { file_bytes_max: YANDEX_FILE_BYTES_MAX };
        let it = Documented::new(reading, page).delay(DelayUse::Ignored, &YANDEX_DELAY);
        Documented { answers: Some((open, &YANDEX_ROBOTS)), ..it }
    }

    const fn of_class(self, classes: &'static [Class]) -> Documented {
        Documented { classes, ..self }
    }

    /// Its own page says that it is not bound.
    const fn not_bound(self) -> Documented {
        Documented { not_bound: Some(self.page), ..self }
    }

    const fn delay(self, delay: DelayUse, page: &'static Page) -> Documented {
        Documented { delay: Some((delay, page)), ..self }
    }

    const fn last_copy(self, days: u16) -> Documented {
        Documented { answers: Some((WithoutFile::LastCopy { days }, self.page)), ..self }
    }

    const fn dialect(self, dialect: OtherDialect, page: &'static Page) -> Documented {
        Documented { dialect: Some((dialect, page)), ..self }
    }

    /// Returns the crawler in a dialect. Where tokens may have a `!`, the one of a reading is none.
    ///
    /// # Errors
    ///
    /// If the dialect has no such tokens.
    pub fn crawler(&self, dialect: &Dialect) -> Result<Crawler, AgentError> {
        let crawler = match self.reading.strip_suffix('!') {
            Some(tokens) => Crawler::parse(tokens, dialect).map(Crawler::without_default),
            None => Crawler::parse(self.reading, dialect),
        };
        crawler.map(|crawler| crawler.with_reading(self.reading()))
    }

    fn reading(&self) -> Reading {
        Reading {
            without_file: self.answers.map(|(answers, _)| answers).unwrap_or_default(),
            ignores_delay: self.delay.is_some_and(|(delay, _)| delay == DelayUse::Ignored),
        }
    }

    /// The name: its first token.
    pub fn name(&self) -> &'static str {
        first_token(self.reading)
    }

    /// Whether a token, in any case, is its name.
    pub(super) fn is_named(&self, token: &str) -> bool {
        let (start, rest) =
            self.reading.as_bytes().split_at_checked(token.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(token.as_bytes())
            && !start.is_empty()
            && matches!(rest.first(), None | Some(b'+' | b'!'))
    }

    /// Whether its operator names groups besides the groups of its token, or excludes the groups for `*`.
    pub fn has_other_groups(&self) -> bool {
        self.reading != self.name()
    }

    /// Whether a verdict may differ from that for its token.
    pub fn reads_otherwise(&self) -> bool {
        self.has_other_groups() || self.answers.is_some()
    }
}

/// Returns the first token of a reading.
pub fn first_token(reading: &str) -> &str {
    reading.split(['+', '!']).next().unwrap_or(reading)
}

pub const fn page(url: &'static str, date: &'static str) -> Page {
    Page { url, date, grade: Grade::Documented }
}

static YANDEX: Page =
    page("https://yandex.com/support/webmaster/en/robot-workings/user-agent", "2026-11-28");
static YANDEX_LOGS: Page = page(
    "https://yandex.com/support/webmaster/en/robot-workings/check-yandex-robots",
    "2026-11-28",
);
static YANDEX_ROBOTS: Page =
    page("https://yandex.com/support/webmaster/en/controlling-robot/robots-txt", "2026-11-28");
static YANDEX_DELAY: Page =
    page("https://yandex.com/support/webmaster/en/robot-workings/crawl-delay", "2018-02-22");
static APPLE: Page = page("https://support.apple.com/119829", "2026-11-26");
static GOOGLE: Page = page(
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers",
    "2026-07-04",
);
static GOOGLE_SPECIAL: Page = page(
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers",
    "2026-07-04",
);
static GOOGLE_USER: Page = page(
    "https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers",
    "2026-11-28",
);
static GOOGLE_ROBOTS: Page =
    page("https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec", "2026-07-04");
static BING: Page = page(
    "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0",
    "2026-11-28",
);
static BING_DELAY: Page = page(
    "https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec",
    "2026-11-28",
);
static AMAZON: Page = page("https://developer.amazon.com/amazonbot", "2026-11-28");
static OPENAI: Page = page("https://developers.openai.com/api/docs/bots", "2026-11-28");
static ANTHROPIC: Page = page("https://support.claude.com/en/articles/8896518", "2026-11-28");
static PERPLEXITY: Page =
    page("https://docs.perplexity.ai/docs/resources/perplexity-crawlers", "2026-11-28");
static MISTRAL: Page = page("https://docs.mistral.ai/en/robots", "2026-11-28");
static KIMI: Page = page("https://www.kimi.com/policies/kimi-crawlers", "2026-11-28");
static META: Page =
    page("https://developers.facebook.com/docs/sharing/webmasters/web-crawlers", "2026-11-28");
static DIFFBOT: Page =
    page("https://docs.diffbot.com/docs/does-crawl-respect-robotstxt", "2026-11-28");
static DIFFBOT_CRAWL: Page =
    page("https://docs.diffbot.com/reference/crawl-introduction", "2026-11-28");
static DUCKDUCKGO: Page =
    page("https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot", "2026-11-28");
static MOJEEK: Page = page("https://www.mojeek.com/bot.html", "2026-11-29");
static QWANT: Page = page("https://help.qwant.com/bot", "2026-11-29");
static SLURP: Page =
    page("http://help.yahoo.com/l/us/yahoo/search/webcrawler/slurp-02.html", "2026-11-29");
static SLURP_DELAY: Page =
    page("http://help.yahoo.com/l/us/yahoo/search/webcrawler/slurp-03.html", "2026-11-29");
static SOGOU: Page = Page {
    url: "http://www.sogou.com/docs/help/webmasters.htm",
    date: "2026-11-28",
    grade: Grade::Observed,
};
static QIHOO: Page = Page {
    url: "https://www.so.com/help/help_3_2.html",
    date: "2026-11-28",
    grade: Grade::Observed,
};

/// All crawlers, by operator.
#[rustfmt::skip]
pub static DOCUMENTED: &[Documented] = &[
    Documented::google("Googlebot", &GOOGLE),
    Documented::google("Googlebot-Image+Googlebot", &GOOGLE),
    Documented::google("Googlebot-Video+Googlebot", &GOOGLE),
    Documented::google("Googlebot-News+Googlebot", &GOOGLE),
    Documented::google("Storebot-Google", &GOOGLE),
    Documented::google("Google-InspectionTool+Googlebot", &GOOGLE),
    Documented::google("GoogleOther", &GOOGLE),
    Documented::google("GoogleOther-Image+GoogleOther", &GOOGLE),
    Documented::google("GoogleOther-Video+GoogleOther", &GOOGLE),
    Documented::google("Google-CloudVertexBot+Googlebot", &GOOGLE),
    Documented::google("AdsBot-Google!", &GOOGLE_SPECIAL),
    Documented::google("AdsBot-Google-Mobile!", &GOOGLE_SPECIAL),
    Documented::google("APIs-Google!", &GOOGLE_SPECIAL),
    Documented::google("Mediapartners-Google!", &GOOGLE_SPECIAL),
    // Retired, and in old logs.
    Documented::new("AdsBot-Google-Mobile-Apps+AdsBot-Google!", &GOOGLE_SPECIAL),
    Documented::new("DuplexWeb-Google!", &GOOGLE_SPECIAL),
    Documented::new("Google-Safety", &GOOGLE_SPECIAL).not_bound(),
    Documented::new("Google-Agent", &GOOGLE_USER).of_class(&[Assistant]).not_bound(),
    // The name of Google-NotebookLM since July 2026.
    Documented::new("Google-GeminiNotebook", &GOOGLE_USER).of_class(&[Assistant]).not_bound(),
    Documented::new("Google-NotebookLM", &GOOGLE_USER).of_class(&[Assistant]).not_bound(),
    Documented::new("FeedFetcher-Google", &GOOGLE_USER).not_bound(),
    Documented::new("Google-CWS", &GOOGLE_USER).not_bound(),
    Documented::new("GoogleMessages", &GOOGLE_USER).not_bound(),
    Documented::new("Google-Pinpoint", &GOOGLE_USER).not_bound(),
    Documented::new("GoogleProducer", &GOOGLE_USER).not_bound(),
    Documented::new("Google-Read-Aloud", &GOOGLE_USER).not_bound(),
    Documented::new("Google-Site-Verification", &GOOGLE_USER).not_bound(),

    Documented::yandex("YandexBot+Yandex", &YANDEX),
    Documented::yandex("YandexImages+Yandex", &YANDEX),
    Documented::yandex("YandexVideo+Yandex", &YANDEX),
    Documented::yandex("YandexNews+Yandex", &YANDEX),
    Documented::yandex("YandexMedia+Yandex", &YANDEX),
    Documented::yandex("YandexAdditional+Yandex", &YANDEX),
    Documented::yandex("YandexAdditionalBot+Yandex", &YANDEX),
    // Crawlers of services, to which only groups with their names apply.
    Documented::yandex("YandexCalendar!", &YANDEX_LOGS),
    Documented::yandex("YandexMobileBot!", &YANDEX_LOGS),

    Documented::new("Applebot+Googlebot", &APPLE),
    Documented::new("iTMS", &APPLE).not_bound(),
    Documented::new("MojeekBot", &MOJEEK).delay(DelayUse::Ignored, &MOJEEK).dialect(OtherDialect::Named("original1994"), &MOJEEK),
    Documented::new("Qwantbot", &QWANT).dialect(OtherDialect::Named("original1994"), &QWANT),
    Documented::new("Slurp", &SLURP).delay(DelayUse::OwnUnit, &SLURP_DELAY),
    Documented::new("Bingbot", &BING).delay(DelayUse::OwnUnit, &BING_DELAY),
    Documented::new("AdIdxBot", &BING),
    Documented::new("Sogou", &SOGOU),
    Documented::new("360Spider", &QIHOO),

    Documented::new("Amazonbot", &AMAZON).of_class(&[Training, Assistant]).delay(DelayUse::Ignored, &AMAZON).last_copy(30),
    Documented::new("OAI-AdsBot", &OPENAI),
    Documented::new("ChatGPT-User", &OPENAI).not_bound(),
    Documented::new("ClaudeBot", &ANTHROPIC).delay(DelayUse::Kept, &ANTHROPIC),
    Documented::new("Claude-User", &ANTHROPIC).delay(DelayUse::Kept, &ANTHROPIC),
    Documented::new("Claude-SearchBot", &ANTHROPIC).delay(DelayUse::Kept, &ANTHROPIC),
    Documented::new("Perplexity-User", &PERPLEXITY).not_bound(),
    Documented::new("MistralAI-Index", &MISTRAL).of_class(&[Search]),
    Documented::new("MistralAI-Training", &MISTRAL).of_class(&[Training]),
    Documented::new("KimiBot", &KIMI).of_class(&[Training]),
    Documented::new("Kimi-SearchBot", &KIMI).of_class(&[Search]),
    Documented::new("Kimi-User", &KIMI).of_class(&[Assistant]).not_bound(),
    Documented::new("Meta-ExternalAds", &META),
    Documented::new("meta-externalfetcher", &META).not_bound(),
    Documented::new("facebookexternalhit", &META).not_bound(),
    Documented::new("Diffbot", &DIFFBOT).delay(DelayUse::Kept, &DIFFBOT).dialect(OtherDialect::WithoutAllow, &DIFFBOT_CRAWL),
    Documented::new("DuckDuckBot", &DUCKDUCKGO).dialect(OtherDialect::Named("original1994"), &DUCKDUCKGO),
];

/// A fact about a crawler.
pub struct Cell {
    pub name: &'static str,
    pub value: String,
    /// The page that says so; `None` for what holds for all crawlers of which nothing else is known.
    pub page: Option<&'static Page>,
}

impl Cell {
    /// Returns the facts about a crawler in the order of tables, the tokens first.
    pub fn all(it: &Documented) -> [Cell; 5] {
        let cell = |name, value: Option<(String, &'static Page)>, otherwise: &str| {
            let (value, page) = value.unzip();
            Cell { name, value: value.unwrap_or_else(|| otherwise.to_owned()), page }
        };
        let answers = it.answers.map(|(answers, page)| (describe(answers), page));
        let not_bound = it.not_bound.map(|page| ("the operator says no".to_owned(), page));
        let delay = it.delay.map(|(delay, page)| (delay.as_str().to_owned(), page));
        let dialect = it.dialect.map(|(dialect, page)| (dialect.as_str().to_owned(), page));
        [
            cell("tokens", Some((it.reading.to_owned(), it.page)), ""),
            cell("answers", answers, "as the dialect"),
            cell("bound", not_bound, "yes"),
            cell("Crawl-delay", delay, "not known"),
            cell("dialect", dialect, "not known"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use portcullis_dialect::dialect::RFC_9309;

    use super::super::lists;
    use super::*;

    #[test]
    fn entries_say_something_and_where() {
        let mut names = HashSet::new();
        for it in DOCUMENTED {
            let chain = it.crawler(&RFC_9309).unwrap();
            if let Some((OtherDialect::Named(name), _)) = it.dialect {
                assert!(Dialect::by_name(name).is_some(), "{name}");
            }
            assert_eq!(chain.tokens().next(), Some(it.name()));
            assert!(names.insert(it.name().to_ascii_lowercase()), "{} twice", it.name());
            let says_more = it.reads_otherwise() || it.not_bound.is_some() || it.delay.is_some();
            assert!(
                says_more
                    || it.dialect.is_some()
                    || !lists::is_listed_upstream(it.name())
                    || !it.classes.is_empty()
            );
            let delay = it.delay.map(|(_, page)| page);
            let answers = it.answers.map(|(_, page)| page);
            let dialect = it.dialect.map(|(_, page)| page);
            let pages = [Some(it.page), it.not_bound, delay, answers, dialect];
            for page in pages.into_iter().flatten() {
                let is_date = page.date.len() == 10 && page.date.starts_with("20");
                assert!(page.url.starts_with("http") && is_date, "{}", it.name());
            }
        }
    }
}
