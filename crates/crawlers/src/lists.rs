//! The lists of crawlers, and the crawler of a token or a header.
//!
//! `listed.rs` has the names of ai.robots.txt with their classes, which `scripts/agent-lists` generates,
//! and `documented.rs` what operators say about their crawlers, by hand. A list here is a selection of
//! both.

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::{AgentError, Crawler};

use super::class::Class;
use super::documented::{DOCUMENTED, Documented, Grade, Page, first_token, page};
use super::listed::{self, LISTED};

/// The names of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The crawlers of ai.robots.txt, of this class or of any.
    Ai(Option<Class>),
    Engines,
    Documented,
}

/// A list of agents.
struct List {
    name: &'static str,
    about: &'static str,
    names: Names,
}

const LISTS: &[List] = &[
    List {
        name: "ai-training",
        about: "crawlers that fetch pages to train models or to build data sets for training",
        names: Names::Ai(Some(Class::Training)),
    },
    List {
        name: "ai-search",
        about: "crawlers that fetch pages for search engines that answer with AI",
        names: Names::Ai(Some(Class::Search)),
    },
    List {
        name: "ai-assistant",
        about: "crawlers that fetch pages when a user, an assistant or an agent asks for them",
        names: Names::Ai(Some(Class::Assistant)),
    },
    List {
        name: "ai-all",
        about: "all crawlers that fetch for AI, whatever their class",
        names: Names::Ai(None),
    },
    List {
        name: "search",
        about: "crawlers of search engines with an index of their own",
        names: Names::Engines,
    },
    List {
        name: "documented",
        about: "crawlers whose operators document more than their token",
        names: Names::Documented,
    },
];

/// Crawlers of search engines with an index of their own, and the day of the list. Kept by hand: a
/// crawler is added if the engine documents its token and says that it follows robots.txt. The page is that
/// of an engine that says nothing more.
const ENGINES_DATE: &str = "2026-11-29";
const ENGINES: &[(&str, Option<Page>)] = &[
    ("Applebot", None),
    ("Baiduspider", Some(page("https://www.baidu.com/search/robots_english.html", "2026-11-29"))),
    ("Bingbot", None),
    (
        "coccocbot-web",
        Some(page("https://help.coccoc.com/en/search-engine/robots-txt", "2026-11-29")),
    ),
    ("DuckDuckBot", None),
    ("Googlebot", None),
    ("MojeekBot", None),
    ("PetalBot", Some(page("https://aspiegel.com/petalbot", "2026-11-29"))),
    ("Qwantbot", None),
    (
        "SeznamBot",
        Some(page("https://o-seznam.cz/napoveda/vyhledavani/en/crawling-control", "2026-11-29")),
    ),
    ("Slurp", None),
    ("YandexBot", None),
    (
        "Yeti",
        Some(Page {
            url: "https://searchadvisor.naver.com/guide/seo-basic-robots",
            date: "2026-11-29",
            grade: Grade::Observed,
        }),
    ),
];

/// A list of crawlers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrawlerList {
    /// The name, such as `ai-training`, or that of a crawler.
    pub name: &'static str,
    /// The crawlers that the list has, in words.
    pub about: &'static str,
    /// The source, with its version and licence.
    pub source: String,
    /// The product tokens, sorted case-insensitively.
    pub tokens: Vec<&'static str>,
    /// How each of them reads robots.txt, as [`Crawler::parse`] takes it: `YandexBot+Yandex`.
    pub readings: Vec<&'static str>,
}

impl List {
    /// The names, sorted case-insensitively.
    fn select(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = match self.names {
            Names::Ai(class) => {
                let listed = LISTED.iter().filter(|(name, _)| !has_classes(name)).copied();
                let own = DOCUMENTED.iter().filter(|it| !it.classes.is_empty());
                let agents = listed.chain(own.map(|it| (it.name(), it.classes)));
                let is_in = |classes: &[Class]| class.is_none_or(|class| classes.contains(&class));
                agents.filter(|(_, classes)| is_in(classes)).map(|(name, _)| name).collect()
            }
            Names::Engines => ENGINES.iter().map(|(name, _)| *name).collect(),
            Names::Documented => DOCUMENTED.iter().map(Documented::name).collect(),
        };
        names.sort_by_cached_key(|name| name.to_ascii_lowercase());
        names
    }

    fn all(&self) -> CrawlerList {
        let tokens = self.select();
        let readings = tokens.iter().map(|token| read(token)).collect();
        CrawlerList { name: self.name, about: self.about, source: self.source(), tokens, readings }
    }

    fn source(&self) -> String {
        let pages = DOCUMENTED.iter().map(|it| it.page.date).max().unwrap_or_default();
        match self.names {
            Names::Ai(_) => {
                let (version, date) = (listed::VERSION, listed::DATE);
                format!("ai.robots.txt, {version}, {date}, MIT; operators' pages, {pages}")
            }
            Names::Engines => format!("search engines, kept by hand, {ENGINES_DATE}"),
            Names::Documented => format!("operators' pages, {pages}"),
        }
    }
}

/// Whether the operator of the crawler says more about its class than ai.robots.txt.
fn has_classes(name: &str) -> bool {
    documented(name).is_some_and(|it| !it.classes.is_empty())
}

/// Returns the crawler of a name in a list: as its operator documents it, or with this token. Its name is as
/// given.
///
/// # Errors
///
/// If the dialect has no such tokens.
pub fn crawler(reading: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
    match documented(first_token(reading)) {
        Some(it) if it.reading == reading => it.crawler(dialect),
        Some(it) if it.reading.eq_ignore_ascii_case(reading) => {
            Ok(Crawler::parse(reading, dialect)?.read_as(&it.crawler(dialect)?))
        }
        _ => Crawler::parse(reading, dialect),
    }
}

/// Returns the crawler with a product token, or with several joined by `+`, which reads robots.txt as its
/// operator documents.
///
/// # Errors
///
/// If the text is not a token of the dialect.
pub fn from_token(token: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
    match documented(token) {
        Some(documented) => documented.crawler(dialect),
        None => Crawler::parse(token, dialect),
    }
}

/// Returns the crawler that sends a User-Agent header, which reads robots.txt as its operator documents.
///
/// # Errors
///
/// If the text is not a header.
pub fn from_header(header: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
    let chain = Crawler::from_header(header, dialect)?;
    // The longest token names the crawler. Another one may be in the header of anybody, who would not be
    // bound by the groups for `*` then.
    let Some(documented) = chain.tokens().next().and_then(documented) else { return Ok(chain) };
    Ok(chain.read_as(&documented.crawler(dialect)?))
}

/// Returns the list called `name`, or a list of the crawler with this product token. `None` if there is
/// neither.
pub fn find(name: &str) -> Option<CrawlerList> {
    if let Some(list) = LISTS.iter().find(|list| list.name == name) {
        return Some(list.all());
    }
    let source = documented(name).map(|it| format!("{}, {}", it.page.url, it.page.date));
    let name = names().find(|it| it.eq_ignore_ascii_case(name))?;
    Some(CrawlerList {
        name,
        about: "one crawler",
        source: source.unwrap_or_else(|| "by its product token".to_owned()),
        tokens: vec![name],
        readings: vec![read(name)],
    })
}

/// Returns all lists.
pub fn lists() -> impl Iterator<Item = CrawlerList> {
    LISTS.iter().map(List::all)
}

/// Returns what the operator of the crawler with this product token documents; `None` if that is no more
/// than the token.
pub fn documented(token: &str) -> Option<&'static Documented> {
    DOCUMENTED.iter().find(|it| it.is_named(token))
}

/// Whether Google operates the crawler with this product token.
pub fn is_of_google(token: &str) -> bool {
    documented(token).is_some_and(|it| it.page.url.starts_with("https://developers.google.com/"))
}

/// Returns how a crawler reads robots.txt: the tokens that its operator documents, or its own.
fn read(name: &'static str) -> &'static str {
    documented(name).map_or(name, |it| it.reading)
}

/// The product tokens of all crawlers; some are repeated.
pub fn names() -> impl Iterator<Item = &'static str> {
    let listed = LISTED.iter().map(|(name, _)| *name).chain(ENGINES.iter().map(|(name, _)| *name));
    listed.chain(DOCUMENTED.iter().map(Documented::name))
}

#[cfg(test)]
pub(super) fn is_listed_upstream(name: &str) -> bool {
    LISTED.iter().any(|(listed, _)| listed.eq_ignore_ascii_case(name))
}

/// Returns the page that says how the crawler with these tokens reads an answer that is no file.
pub fn page_of_answers(crawler: &Crawler) -> Option<String> {
    let (_, page) = documented(crawler.tokens().next()?)?.answers?;
    Some(format!("{}, {}, {}", page.url, page.date, page.grade.as_str()))
}

/// Returns the page that a crawler has its token from, if its operator documents no more.
pub fn page_of_token(name: &str) -> Option<Page> {
    let engine = ENGINES.iter().find(|(engine, _)| engine.eq_ignore_ascii_case(name));
    let of_list = Page { url: LISTED_URL, date: listed::DATE, grade: Grade::Observed };
    let is_listed = LISTED.iter().any(|(listed, _)| listed.eq_ignore_ascii_case(name));
    let of_engine = engine.and_then(|(_, page)| page.as_ref());
    of_engine.map(|page| Page { ..*page }).or(is_listed.then_some(of_list))
}

/// Where the names of ai.robots.txt come from.
const LISTED_URL: &str = "https://github.com/ai-robots-txt/ai.robots.txt";

/// Whether the crawler with this product token fetches pages to train models.
pub fn trains(token: &str) -> bool {
    // As the list is selected, but for one token: agents may be thousands.
    let own = documented(token).map(|it| it.classes).filter(|classes| !classes.is_empty());
    let listed = || Some(LISTED.iter().find(|(name, _)| name.eq_ignore_ascii_case(token))?.1);
    own.or_else(listed).is_some_and(|classes| classes.contains(&Class::Training))
}

/// Whether a token controls the use of pages, and sends no requests.
pub fn controls_use(name: &str) -> bool {
    LISTED.iter().any(|(it, classes)| *it == name && classes.contains(&Class::Use))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_names() {
        for list in LISTS {
            assert!(!list.select().is_empty() && !list.source().is_empty(), "{}", list.name);
        }
        for name in names() {
            assert_eq!(name.trim(), name);
        }
    }

    #[test]
    fn crawlers_are_read_as_documented() {
        let names = |name: &str| find(name).unwrap().readings;
        assert_eq!(names("yandexbot"), ["YandexBot+Yandex"]);
        assert_eq!(names("AdsBot-Google"), ["AdsBot-Google!"]);
        assert_eq!(names("Google-CloudVertexBot"), ["Google-CloudVertexBot+Googlebot"]);
        assert_eq!(names("GPTBot"), ["GPTBot"]);
        assert_eq!(names("kimibot"), ["KimiBot"]);
        for reading in ["YandexBot+Yandex", "Applebot+Googlebot"] {
            assert!(names("search").contains(&reading), "{reading}");
        }
        let is_bound = |name: &str| documented(name).is_none_or(|it| it.not_bound.is_none());
        assert!(!is_bound("ChatGPT-User") && is_bound("Claude-User") && is_bound("GPTBot"));
    }

    #[test]
    fn crawlers_that_train_are_those_of_the_list() {
        let training = find("ai-training").unwrap().tokens;
        for name in names().chain(["nobody"]) {
            assert_eq!(trains(&name.to_ascii_uppercase()), training.contains(&name), "{name}");
        }
    }

    #[test]
    fn names_are_in_their_lists() {
        let has = |list: &str, name: &str| find(list).unwrap().readings.contains(&name);
        for (list, name) in [
            ("ai-training", "GPTBot"),
            ("ai-training", "CCBot"),
            ("ai-training", "Google-Extended"),
            ("ai-training", "Applebot-Extended"),
            ("ai-training", "Amazonbot"),
            ("ai-training", "MistralAI-Training"),
            ("ai-search", "OAI-SearchBot"),
            ("ai-search", "Kimi-SearchBot"),
            ("ai-assistant", "ChatGPT-User"),
            ("ai-assistant", "Amazonbot"),
            ("ai-assistant", "Google-GeminiNotebook"),
            ("search", "Googlebot"),
            ("documented", "AdsBot-Google!"),
        ] {
            assert!(has(list, name), "{list} {name}");
            assert!(!list.starts_with("ai-") || has("ai-all", name), "{name}");
        }
        assert!(!has("ai-training", "OAI-SearchBot"));
        assert!(!has("search", "GPTBot"));
        assert!(find("nothing").is_none());
    }
}
