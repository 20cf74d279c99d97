//! The front door: one robots.txt file, one agent at a time.
//!
//! [`Robots`] parses a file, and [`AgentRules`] decides for one agent. Both follow RFC 9309 unless a
//! [`Dialect`] is given. For the URLs of many hosts, use a policy set; for groups, lines and notes,
//! use [`RobotsTxt`].
//!
//! A crawler starts with a response, because the status matters: by [`Robots::from_response`] an
//! origin without a file allows everything, and an origin whose server fails allows nothing.
//!
//! Parsing is linear in the file. [`Robots::agent`] copies the rules that apply. [`AgentRules`] tries
//! them one by one for the first URLs, then compiles them into a [rule set](portcullis_engine::ruleset),
//! which answers later URLs without a lock. So a single URL costs little more than parsing, and each of
//! many costs little. Nothing fails: any text is a valid robots.txt file, and an
//! invalid URL gets [`Verdict::Invalid`], which is not allowed.
//!
//! ```
//! use portcullis_robots::Robots;
//!
//! let robots = Robots::parse("User-agent: GPTBot\nDisallow: /private\nAllow: /private/terms$\n");
//! let gptbot = robots.agent("GPTBot");
//! assert!(!gptbot.is_allowed("https://example.com/private/a"));
//! assert!(gptbot.is_allowed("https://example.com/private/terms"));
//! assert_eq!(gptbot.decide("/private/a").line.unwrap().get(), 2);
//! ```
//!
//! [`AgentUsage`] adds usage preferences:
//!
//! ```
//! use portcullis_dialect::{Label, Preference};
//! use portcullis_robots::Robots;
//!
//! let text = "User-agent: *\nContent-Usage: search=y, train-ai=n\nContent-Usage: /open/ train-ai=y\n";
//! let robots = Robots::parse(text);
//! let train_ai = |url| robots.usage("ExampleBot", url).of(Label::TrainAi).preference;
//! assert_eq!(train_ai("https://example.com/open/data"), Preference::Yes);
//! assert_eq!(train_ai("https://example.com/"), Preference::No);
//! ```

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use portcullis_dialect::limits::{AGENT_HEADER_BYTES_MAX, ROBOTS_BYTES_MAX, URL_BYTES_MAX};
use portcullis_dialect::{
    Access, AccessOutcome, Decision, Dialect, Fetched, Field, Label, PolicyState, RFC_9309, Stated,
    Usage, UsageSource, Verdict,
};
use portcullis_engine::pattern::PatternList;
use portcullis_engine::{RuleSetBuf, Settings, SharedRuleSet};

use crate::policy::{
    AskedRules, CRAWL_DELAY, CrawlDelay, Crawler, Explanation, LabelRules, Selection, UsageRules,
    combined, delay_seconds, explain, records_of, stated,
};
use crate::syntax::RobotsTxt;
use crate::url::{
    BadUrl, compared_path, ends_in_control, host_key, plain_head, split_assuming, unclear_path,
};

/// A robots.txt file, or the outcome of an answer without one. It borrows the text.
#[derive(Clone, Debug)]
pub struct Robots<'t> {
    text: &'t [u8],
    file: RobotsTxt<'t>,
    dialect: &'static Dialect,
    /// The outcome for every path, if there is no file.
    outcome: Option<AccessOutcome>,
}

/// A crawler: its product token or the User-Agent header that it sends, or both already parsed.
///
/// A text with `/` or `(` is a header in every dialect, and read up to [`AGENT_HEADER_BYTES_MAX`]. A text
/// that names no product gets the default group, like any crawler that no group names. To reject such a text,
/// or to name fallback tokens, parse it with [`Crawler`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Agent<'a> {
    /// A product token (`GPTBot`), tokens joined by `+`, or a User-Agent header.
    Text(&'a str),
    /// Its tokens.
    Crawler(&'a Crawler),
}

impl<'a> From<&'a str> for Agent<'a> {
    fn from(text: &'a str) -> Agent<'a> {
        Agent::Text(text)
    }
}

impl<'a> From<&'a String> for Agent<'a> {
    fn from(text: &'a String) -> Agent<'a> {
        Agent::Text(text)
    }
}

impl<'a> From<&'a Crawler> for Agent<'a> {
    fn from(crawler: &'a Crawler) -> Agent<'a> {
        Agent::Crawler(crawler)
    }
}

impl<'a> Agent<'a> {
    /// Returns the crawler, without a token if the text names no product.
    fn crawler(self, dialect: &Dialect) -> Cow<'a, Crawler> {
        let text = match self {
            Agent::Crawler(crawler) => return Cow::Borrowed(crawler),
            Agent::Text(text) => text,
        };
        let token = || Crawler::parse(text.trim(), dialect);
        let header = || Crawler::from_header(within_header(text), dialect);
        // Where any name is a token, versions and comments still belong to a header.
        let crawler = match is_header(text) {
            true => header().or_else(|_| token()),
            false => token().or_else(|_| header()),
        };
        Cow::Owned(crawler.unwrap_or_else(|_| Crawler::unnamed()))
    }
}

/// Returns whether an agent has a version or a comment, as a User-Agent header has (RFC 9110,
/// section 10.1.5) and a name has not.
fn is_header(agent: &str) -> bool {
    agent.bytes().any(|byte| matches!(byte, b'/' | b'('))
}

/// Returns the beginning of a text that a header has room for, up to a white space.
fn within_header(text: &str) -> &str {
    let text = text.trim();
    if text.len() <= AGENT_HEADER_BYTES_MAX {
        return text;
    }
    let start = (0..=AGENT_HEADER_BYTES_MAX).rev().find_map(|end| text.get(..end));
    let start = start.unwrap_or_default();
    start.rfind([' ', '\t']).map_or(start, |end| &start[..end])
}

impl<'t> Robots<'t> {
    /// Parses a file by RFC 9309. Lines that end after the first 500 KiB are ignored.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(text: &'t T) -> Robots<'t> {
        Robots::parse_as(text, &RFC_9309)
    }

    /// Parses a file by another dialect. Lines that end after the first 500 KiB are ignored.
    pub fn parse_as<T: AsRef<[u8]> + ?Sized>(text: &'t T, dialect: &'static Dialect) -> Robots<'t> {
        Robots::with_bytes_max(text.as_ref(), dialect, Some(ROBOTS_BYTES_MAX))
    }

    /// Parses the first `bytes_max` bytes of a file, or all of it if that is `None`.
    pub fn with_bytes_max(
        text: &'t [u8],
        dialect: &'static Dialect,
        bytes_max: Option<usize>,
    ) -> Robots<'t> {
        let file = RobotsTxt::parse(text, dialect, bytes_max);
        Robots { text, file, dialect, outcome: None }
    }

    /// Reads the response to GET /robots.txt by RFC 9309, section 2.3.1: 2xx is the file, 4xx allows
    /// everything, 5xx disallows everything.
    ///
    /// The first argument is the status, or a [`Fetched`] such as [`Fetched::NoResponse`] if there
    /// was no complete response. The caller follows redirects, at least five. A redirect status
    /// disallows everything, and so does 304, the response to a conditional request. Bytes past the
    /// first 500 KiB are ignored.
    ///
    /// ```
    /// # mod portcullis { pub use portcullis_dialect::Fetched; pub use portcullis_robots::Robots; }
    /// use portcullis::{Fetched, Robots};
    ///
    /// let url = "https://example.com/search";
    /// let allows = |robots: &Robots| robots.agent("ExampleBot").is_allowed(url);
    /// assert!(!allows(&Robots::from_response(200, "User-agent: *\nDisallow: /search\n")));
    /// assert!(allows(&Robots::from_response(404, "<h1>Not found</h1>")));
    /// assert!(!allows(&Robots::from_response(503, "")));
    /// assert!(!allows(&Robots::from_response(Fetched::NoResponse, "")));
    /// ```
    pub fn from_response<T: AsRef<[u8]> + ?Sized>(
        answer: impl Into<Fetched>,
        body: &'t T,
    ) -> Robots<'t> {
        Robots::from_response_as(answer, body, &RFC_9309)
    }

    /// Reads the response to GET /robots.txt by another dialect, as [`Robots::from_response`].
    pub fn from_response_as<T: AsRef<[u8]> + ?Sized>(
        answer: impl Into<Fetched>,
        body: &'t T,
        dialect: &'static Dialect,
    ) -> Robots<'t> {
        let outcome = match dialect.access.resolve(answer.into(), 0) {
            Access::File => return Robots::parse_as(body, dialect),
            Access::Outcome(outcome) => outcome,
            Access::Follow | Access::NotModified => dialect.access.other_status,
        };
        Robots { outcome: Some(outcome), ..Robots::parse_as("", dialect) }
    }

    /// Returns whether there is a file, and whether it has rules.
    pub fn state(&self) -> PolicyState {
        let of_file = match self.file.rules() {
            [] if self.file.is_page() => PolicyState::Page,
            [] => PolicyState::NoRules,
            _ => PolicyState::Rules,
        };
        self.outcome.map_or(of_file, |outcome| outcome.state)
    }

    /// Returns the rules for a crawler.
    pub fn agent<'a>(&self, agent: impl Into<Agent<'a>>) -> AgentRules {
        self.rules(&agent.into().crawler(self.dialect))
    }

    /// Returns the usage preferences for a crawler.
    pub fn agent_usage<'a>(&self, agent: impl Into<Agent<'a>>) -> AgentUsage {
        let agent = agent.into().crawler(self.dialect);
        let usage = UsageRules::of(&self.file, &agent, self.dialect);
        let records = self.file.usage_records();
        let statements = |rules: LabelRules, source: UsageSource| {
            let by_record = rules.preferences.iter().zip(&rules.records);
            let stated = by_record.map(|(&preference, &record)| {
                stated(preference, source, records[record as usize].line)
            });
            let stated = stated.collect();
            Statements { patterns: rules.patterns, rule_set: OnceLock::new(), stated }
        };
        let licenses = usage.licenses.iter().map(|&it| records[it as usize].value.to_vec());
        AgentUsage {
            rules: self.rules(&agent),
            labels: Label::ALL.map(|label| {
                let [usage, signal] = usage.about(label);
                [
                    statements(usage, UsageSource::ContentUsage),
                    statements(signal, UsageSource::ContentSignal),
                ]
            }),
            licenses: licenses.collect(),
        }
    }

    /// Returns whether a crawler may fetch `url`, and the preference of the file for each use of it. For
    /// more than one URL, keep the result of [`Robots::agent_usage`].
    pub fn usage<'a>(&self, agent: impl Into<Agent<'a>>, url: impl AsRef<[u8]>) -> Usage {
        self.agent_usage(agent).decide(url)
    }

    /// Explains the decision for a crawler on `url`: the groups that apply, the deciding rule and the
    /// losing rules. Tries every rule. Without a file there are no groups and rules, and
    /// [`Robots::state`] is the reason.
    ///
    /// # Errors
    ///
    /// If `url` is invalid.
    pub fn explain<'a>(
        &self,
        agent: impl Into<Agent<'a>>,
        url: impl AsRef<[u8]>,
    ) -> Result<Explanation, BadUrl> {
        let mut scratch = Vec::new();
        let path = path_of(url.as_ref(), self.dialect, &mut scratch)?;
        let agent = agent.into().crawler(self.dialect);
        Ok(explain(&self.file, self.text, self.dialect, &agent, path))
    }

    /// Returns the values of the sitemap lines. Bytes that are not UTF-8, and so no URL, become U+FFFD.
    pub fn sitemaps(&self) -> impl Iterator<Item = Cow<'t, str>> {
        let others = self.file.other_records().iter();
        let sitemaps = others.filter(|record| record.field == Some(Field::Sitemap));
        sitemaps.map(|record| String::from_utf8_lossy(record.value))
    }

    /// Returns the values of a field that the protocol does not define, such as `request-rate`, that
    /// hold for a crawler.
    ///
    /// A record belongs to the user-agent lines before it, and ends their run, as in
    /// [`Robots::crawl_delay`].
    ///
    /// ```
    /// # use portcullis_robots as portcullis;
    /// use portcullis::Robots;
    ///
    /// let robots = Robots::parse("User-agent: a\nRequest-rate: 1/5\nDisallow: /\nUser-agent: *\nAllow: /\n");
    /// assert_eq!(robots.extensions("a", "request-rate").collect::<Vec<_>>(), [b"1/5"]);
    /// assert_eq!(robots.extensions("b", "request-rate").count(), 0);
    /// ```
    pub fn extensions<'a>(
        &self,
        agent: impl Into<Agent<'a>>,
        field: &str,
    ) -> impl Iterator<Item = &'t [u8]> {
        let others = self.file.other_records().iter();
        let named = others.filter(|record| record.name.eq_ignore_ascii_case(field.as_bytes()));
        let (lines, values): (Vec<_>, Vec<_>) = named.map(|it| (it.line, it.value)).unzip();
        let mut applying = Vec::new();
        if !values.is_empty() {
            let agent = agent.into().crawler(self.dialect);
            let records = records_of(&agent, &self.file, &lines, self.dialect);
            applying.extend(records.map(|record| values[record]));
        }
        applying.into_iter()
    }

    /// Returns the time that a crawler should wait between two requests: the greatest Crawl-delay that
    /// holds for it. `None` if there is none that is a number.
    ///
    /// Crawl-delay is not part of any standard. A line belongs to the user-agent lines before it. Its
    /// value is a decimal number of seconds; any other value, such as `10s`, is ignored.
    pub fn crawl_delay<'a>(&self, agent: impl Into<Agent<'a>>) -> Option<Duration> {
        let values = self.extensions(agent, CRAWL_DELAY);
        CrawlDelay::from_seconds(values.map(delay_seconds)).duration()
    }

    /// Returns the groups, lines and notes of the file.
    pub fn file(&self) -> &RobotsTxt<'t> {
        &self.file
    }

    /// Returns the dialect of the file.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    fn rules(&self, agent: &Crawler) -> AgentRules {
        let selection = Selection::of(&self.file, agent, self.dialect);
        let reason = selection.reason_without_rule(&self.file);
        let unmatched = Decision::without_rule(Verdict::Allow, reason);
        let rules = AskedRules::new(&self.file, self.text, &selection.groups, &self.dialect.paths);
        AgentRules {
            dialect: self.dialect,
            otherwise: self.outcome.map_or(unmatched, AccessOutcome::decision),
            rules: Arc::new(rules),
            crawl_delay: self.crawl_delay(agent),
        }
    }
}

/// The rules and usage preferences of one file for one agent.
///
/// Borrows nothing; threads share it.
#[derive(Debug)]
pub struct AgentUsage {
    rules: AgentRules,
    /// By label and field, as [`UsageRules::about`] returns them.
    labels: [[Statements; UsageSource::ALL.len()]; Label::ALL.len()],
    licenses: Vec<Vec<u8>>,
}

/// The statements of one field about one label that hold for an agent.
#[derive(Debug)]
struct Statements {
    patterns: PatternList,
    /// The patterns, compiled for the first path.
    rule_set: OnceLock<SharedRuleSet>,
    /// The statement of each pattern.
    stated: Vec<Stated>,
}

impl Statements {
    /// Returns the statement about a path in normal form.
    fn decide(&self, path: &[u8]) -> Stated {
        let compile = || {
            let rule_set = RuleSetBuf::new(&self.patterns, |_| true);
            SharedRuleSet::new(rule_set, Settings::default())
        };
        let pattern = self.rule_set.get_or_init(compile).decide(path).pattern();
        pattern.map_or(Stated::UNSTATED, |pattern| self.stated[pattern])
    }
}

impl AgentUsage {
    /// Returns whether the agent may fetch `url`, and the preference of the file for each use of
    /// it. The URL is absolute or a path, as for [`AgentRules::is_allowed`].
    ///
    /// Where access is not allowed, or the URL is invalid, there is no preference. Where the file
    /// states no preference, it is
    /// [`Preference::Unstated`](portcullis_dialect::Preference::Unstated).
    pub fn decide(&self, url: impl AsRef<[u8]>) -> Usage {
        let mut scratch = Vec::new();
        let Ok(path) = path_of(url.as_ref(), self.rules.dialect, &mut scratch) else {
            return Usage::new(Decision::INVALID, [Stated::NO_ACCESS; Label::ALL.len()]);
        };
        let of_label = |fields: &[Statements; UsageSource::ALL.len()]| {
            combined(fields.each_ref().map(|statements| statements.decide(path)))
        };
        Usage::new(self.rules.decide_path(path), self.labels.each_ref().map(of_label))
    }

    /// Returns the licences that hold for the agent, as written.
    pub fn licenses(&self) -> impl Iterator<Item = &[u8]> {
        self.licenses.iter().map(Vec::as_slice)
    }
}

/// The rules of one file for one agent.
///
/// Borrows nothing; threads share it.
#[derive(Clone, Debug)]
pub struct AgentRules {
    dialect: &'static Dialect,
    /// The decision if no rule matches.
    otherwise: Decision,
    rules: Arc<AskedRules>,
    crawl_delay: Option<Duration>,
}

impl AgentRules {
    /// Returns whether the agent may fetch `url`, which is absolute (`https://example.com/a?b`) or
    /// a path (`/a?b`). The host is not checked: the caller knows that the file belongs to it. An
    /// invalid URL is not allowed, nor is a URL or path of more than 64 KiB.
    pub fn is_allowed(&self, url: impl AsRef<[u8]>) -> bool {
        self.decide(url).verdict == Verdict::Allow
    }

    /// Returns the verdict on `url`, the reason, and the deciding rule with its line.
    pub fn decide(&self, url: impl AsRef<[u8]>) -> Decision {
        let url = url.as_ref();
        let decided = path_as_written(url)
            .and_then(|path| Some(self.decision(path, self.rules.deciding_if_plain(path)?)));
        decided.unwrap_or_else(|| self.decide_other(url))
    }

    /// Returns the time that the agent should wait between two requests, as [`Robots::crawl_delay`].
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Decides any URL.
    #[inline(never)]
    fn decide_other(&self, url: &[u8]) -> Decision {
        match path_of(url, self.dialect, &mut Vec::new()) {
            Ok(path) => self.decide_path(path),
            Err(_) => Decision::INVALID,
        }
    }

    /// Decides a path in normal form.
    fn decide_path(&self, path: &[u8]) -> Decision {
        self.decision(path, self.rules.deciding(path))
    }

    #[inline]
    fn decision(&self, path: &[u8], deciding: Option<Decision>) -> Decision {
        match self.dialect.paths.always_allows(path) {
            true => Decision::ROBOTS_TXT,
            false => deciding.unwrap_or(self.otherwise),
        }
    }
}

/// Returns the path of a URL that [`path_of`] accepts if the path is plain, or of `url` itself if it is
/// a path.
#[inline]
fn path_as_written(url: &[u8]) -> Option<&[u8]> {
    match url {
        [b'/', b'/', ..] => None,
        [b'/', ..] if url.len() > URL_BYTES_MAX => None,
        [b'/', ..] => Some(url),
        _ => match &url[plain_head(url)?.bytes()..] {
            b"" => Some(b"/"),
            path => Some(path),
        },
    }
}

/// Returns the compared path of an absolute URL, or of `url` itself if it is a path.
fn path_of<'a>(
    url: &'a [u8],
    dialect: &Dialect,
    scratch: &'a mut Vec<u8>,
) -> Result<&'a [u8], BadUrl> {
    let escapes = dialect.paths.escapes;
    if url.starts_with(b"/") && !url.starts_with(b"//") {
        if url.len() > URL_BYTES_MAX {
            return Err(BadUrl::TooLong);
        }
        if ends_in_control(url) {
            return Err(BadUrl::ControlAtEnd);
        }
        if let Some(problem) = unclear_path(url) {
            return Err(problem);
        }
        let end = memchr::memchr(b'#', url).unwrap_or(url.len());
        return Ok(compared_path(&url[..end], escapes, scratch));
    }
    let url = split_assuming(url, dialect.paths.path_start, Some(b"https"))?;
    host_key(&url, scratch)?;
    Ok(compared_path(url.path, escapes, scratch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{LineNumber, ORIGINAL_1994, Reason};

    #[test]
    fn every_kind_of_answer() {
        let text = "User-agent: a\nDisallow: /x\nUser-agent: b\nAllow: /\n";
        let robots = Robots::parse(text);
        let answer = |agent: &str, url: &str| {
            let rules = robots.agent(agent);
            let decision = rules.decide(url);
            assert_eq!(decision.verdict == Verdict::Allow, rules.is_allowed(url), "{agent} {url}");
            (decision.verdict, decision.reason, decision.line.map(LineNumber::get))
        };
        use {Reason as R, Verdict as V};
        assert_eq!(answer("a", "https://h.example/x"), (V::Disallow, R::Rule, Some(2)));
        assert_eq!(answer(" A ", "/x#y"), (V::Disallow, R::Rule, Some(2)));
        assert_eq!(answer("a", "h.example/y"), (V::Allow, R::NoRule, None));
        assert_eq!(answer("c", "//h.example/x"), (V::Allow, R::NoGroup, None));
        assert_eq!(answer("B/1.0 (+https://b.example)", "/x"), (V::Allow, R::Rule, Some(4)));
        assert_eq!(answer("a", "mailto:x@h.example"), (V::Invalid, R::BadUrl, None));
        assert_eq!(answer("a", "https://h h/x"), (V::Invalid, R::BadUrl, None));
        for path in ["/y", "/y%41"] {
            let longest = path.to_owned() + &"z".repeat(URL_BYTES_MAX - path.len());
            assert_eq!(answer("a", &longest), (V::Allow, R::NoRule, None));
            assert_eq!(answer("a", &(longest.clone() + "z")), (V::Invalid, R::BadUrl, None));
            assert!(robots.explain("a", longest + "z").is_err());
        }
        assert_eq!(answer("a", "/robots.txt"), (V::Allow, R::RobotsTxt, None));
        assert_eq!(answer("", "/x"), (V::Allow, R::NoGroup, None));
        let empty = Robots::parse("").agent("a").decide("/");
        assert_eq!((empty.verdict, empty.reason), (V::Allow, R::NoRules));
    }

    #[test]
    fn texts_without_a_product_get_the_default_group() {
        let robots = Robots::parse("User-agent: *\nDisallow: /\n");
        for agent in ["", " ", "+", "\0", "ä"] {
            assert!(!robots.agent(agent).is_allowed("/"), "{agent}");
        }
    }

    /// A text and the header that it is select the same groups in every dialect.
    #[test]
    fn a_header_is_a_header_in_every_dialect() {
        let text = "User-agent: mozilla\nDisallow: /m\n\nUser-agent: gptbot\nDisallow: /g\n\n\
            User-agent: big robot\nDisallow: /b\n\nUser-agent: *\nDisallow: /o\n";
        let paths = ["/m", "/g", "/b", "/o"];
        let blocked = |rules: &AgentRules| paths.map(|path| !rules.is_allowed(path));
        for dialect in Dialect::ALL {
            let robots = Robots::parse_as(text, dialect);
            for header in [
                "Mozilla/5.0 (compatible; GPTBot/1.2; +https://a.example/b)",
                "GPTBot/1.2",
                "Mozilla/5.0 (X11; Linux x86_64) Gecko/2010",
                "Other/1.0 (like GPTBot)",
            ] {
                let chain = Crawler::from_header(header, dialect).unwrap();
                let expected = blocked(&robots.agent(&chain));
                assert_eq!(blocked(&robots.agent(header)), expected, "{} {header}", dialect.name);
            }
            let long = format!("GPTBot/1 {}", "(x) ".repeat(AGENT_HEADER_BYTES_MAX));
            assert_eq!(blocked(&robots.agent(&long)), blocked(&robots.agent("GPTBot")));
        }
        let robots = Robots::parse_as(text, &ORIGINAL_1994);
        assert_eq!(blocked(&robots.agent("A Big Robot")), [false, false, true, false]);
    }

    #[test]
    fn agents_in_every_form() {
        let robots = Robots::parse("User-agent: a\nCrawl-delay: 2\nDisallow: /\n");
        let chain = Crawler::parse("b+a", &RFC_9309).unwrap();
        let text = String::from("a/1.0 (+https://a.example)");
        for agent in [Agent::from(&chain), Agent::from(&text), Agent::from("A")] {
            assert!(!robots.agent(agent).is_allowed("/x"), "{agent:?}");
            assert_eq!(robots.usage(agent, "/x").access.verdict, Verdict::Disallow);
            assert_eq!(robots.explain(agent, "/x").unwrap().rules.len(), 1);
            assert_eq!(robots.crawl_delay(agent), Some(Duration::from_secs(2)));
        }
        let unnamed = robots.explain("\0", "/x").unwrap();
        assert_eq!((unnamed.token, unnamed.groups.len()), (None, 0));
    }

    /// Every status in every dialect: a file is read, and anything else decides all paths alike.
    #[test]
    fn responses_without_a_file() {
        let body =
            "User-agent: *\nDisallow: /x\nCrawl-delay: 1\nSitemap: https://a.example/s.xml\n";
        for (dialect, status) in Dialect::ALL.iter().flat_map(|it| (0..=999).map(move |n| (it, n)))
        {
            let robots = Robots::from_response_as(status, body, dialect);
            let rules = robots.agent("a");
            if (200..300).contains(&status) {
                assert_eq!(robots.state(), PolicyState::Rules);
                assert_eq!(rules.decide("/x").reason, Reason::Rule);
                continue;
            }
            let outcome = match dialect.access.resolve(Fetched::Status(status), 0) {
                Access::Outcome(outcome) => outcome,
                _ => dialect.access.other_status,
            };
            let decision = rules.decide("/x");
            assert_eq!((robots.state(), decision.verdict), (outcome.state, outcome.verdict));
            assert_eq!(decision.reason.as_str(), outcome.state.as_str());
            assert!(decision.verdict == Verdict::Disallow || (400..500).contains(&status));
            let is_closed = dialect.paths.always_allows(b"/robots.txt");
            assert_eq!(rules.decide("/robots.txt").reason == Reason::RobotsTxt, is_closed);
            assert_eq!(rules.decide("mailto:a").verdict, Verdict::Invalid);
            let usage = robots.usage("a", "/x");
            assert_eq!(usage.access, decision);
            assert_eq!((robots.sitemaps().count(), robots.crawl_delay("a")), (0, None));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn decisions_and_explanations_serialize_as_words() {
        let robots = Robots::parse(b"User-agent: *\nDisallow: /\xff\nDisallow: /\n");
        let decision = robots.agent("a").decide("/x");
        let text = r#"{"verdict":"disallow","reason":"rule","rule":1,"line":3}"#;
        assert_eq!(serde_json::to_string(&decision).unwrap(), text);
        let agent = Crawler::parse("a", &RFC_9309).unwrap();
        let explanation = serde_json::to_value(robots.explain(&agent, "/x").unwrap()).unwrap();
        assert_eq!(explanation["path"], "/x");
        assert_eq!(explanation["groups"][0]["value"], "*");
        assert_eq!(explanation["rules"][0]["verdict"], "disallow");
    }
}
