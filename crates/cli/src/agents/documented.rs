//! Crawlers as their operators document them. Kept by hand: each fact has the page that says so, the day
//! on which it was read, and its grade.
//!
//! A crawler has an entry if its operator says more than that it reads the groups of its token: which
//! other groups apply, that robots.txt may not bind it, what it does with Crawl-delay. Crawlers that the
//! list of ai.robots.txt lacks have an entry too, with their classes.

use super::class::Class::{self, Assistant, Search, Training};

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// The operator says so.
    Documented,
    /// The operator does not; others report it.
    Observed,
}

/// A page that states a fact.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub url: &'static str,
    /// The day on which it was read, or copied.
    pub date: &'static str,
    pub grade: Grade,
}

/// What a crawler does with Crawl-delay.
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
            DelayUse::Kept => "kept",
            DelayUse::OwnUnit => "read as a pace of its own",
            DelayUse::Ignored => "ignored",
        }
    }
}

/// A crawler.
pub struct Documented {
    /// A chain of tokens, as `Crawler::parse` takes it; the first one is its name.
    pub reading: &'static str,
    pub page: &'static Page,
    /// The classes of a crawler that fetches for AI, in place of those of ai.robots.txt.
    pub classes: &'static [Class],
    /// The page that says that robots.txt may not bind it.
    pub not_bound: Option<&'static Page>,
    pub delay: Option<(DelayUse, &'static Page)>,
}

impl Documented {
    const fn new(reading: &'static str, page: &'static Page) -> Documented {
        Documented { reading, page, classes: &[], not_bound: None, delay: None }
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

    /// The name: its first token.
    pub fn name(&self) -> &'static str {
        let tokens = self.reading.trim_end_matches('!');
        tokens.split('+').next().unwrap_or(tokens)
    }

    /// Whether its operator names other groups than those of its token, or excludes the groups for `*`.
    pub fn reads_otherwise(&self) -> bool {
        self.reading != self.name()
    }
}

const fn page(url: &'static str, date: &'static str) -> Page {
    Page { url, date, grade: Grade::Documented }
}

static YANDEX: Page =
    page("https://yandex.com/support/webmaster/en/robot-workings/user-agent", "2026-11-28");
static YANDEX_LOGS: Page = page(
    "https://yandex.com/support/webmaster/en/robot-workings/check-yandex-robots",
    "2026-11-28",
);
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
    Documented::new("Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Googlebot-Image+Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Googlebot-Video+Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Googlebot-News+Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Storebot-Google", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Google-InspectionTool+Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("GoogleOther", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("GoogleOther-Image+GoogleOther", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("GoogleOther-Video+GoogleOther", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Google-CloudVertexBot+Googlebot", &GOOGLE).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("AdsBot-Google!", &GOOGLE_SPECIAL).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("AdsBot-Google-Mobile!", &GOOGLE_SPECIAL).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("APIs-Google!", &GOOGLE_SPECIAL).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
    Documented::new("Mediapartners-Google!", &GOOGLE_SPECIAL).delay(DelayUse::Ignored, &GOOGLE_ROBOTS),
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

    Documented::new("YandexBot+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexImages+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexVideo+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexNews+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexMedia+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexAdditional+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexAdditionalBot+Yandex", &YANDEX).delay(DelayUse::Ignored, &YANDEX_DELAY),
    // Robots of services, to which only groups with their names apply.
    Documented::new("YandexCalendar!", &YANDEX_LOGS).delay(DelayUse::Ignored, &YANDEX_DELAY),
    Documented::new("YandexMobileBot!", &YANDEX_LOGS).delay(DelayUse::Ignored, &YANDEX_DELAY),

    Documented::new("Applebot+Googlebot", &APPLE),
    Documented::new("iTMS", &APPLE).not_bound(),
    Documented::new("Bingbot", &BING).delay(DelayUse::OwnUnit, &BING_DELAY),
    Documented::new("AdIdxBot", &BING),
    Documented::new("Sogou", &SOGOU),
    Documented::new("360Spider", &QIHOO),

    Documented::new("Amazonbot", &AMAZON).of_class(&[Training, Assistant]).delay(DelayUse::Ignored, &AMAZON),
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
    Documented::new("Diffbot", &DIFFBOT).delay(DelayUse::Kept, &DIFFBOT),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_robots::policy::Crawler;

    use super::super::lists;
    use super::*;

    #[test]
    fn entries_say_something_and_where() {
        let mut names = HashSet::new();
        for it in DOCUMENTED {
            let chain = Crawler::parse(it.reading, &RFC_9309).unwrap();
            assert_eq!(chain.tokens().next(), Some(it.name()));
            assert!(names.insert(it.name().to_ascii_lowercase()), "{} twice", it.name());
            let says_more = it.reads_otherwise() || it.not_bound.is_some() || it.delay.is_some();
            assert!(says_more || !lists::is_listed_upstream(it.name()) || !it.classes.is_empty());
            let delay = it.delay.map(|(_, page)| page);
            for page in [Some(it.page), it.not_bound, delay].into_iter().flatten() {
                let is_date = page.date.len() == 10 && page.date.starts_with("20");
                assert!(page.url.starts_with("http") && is_date, "{}", it.name());
            }
        }
    }
}
