//! The responses of one host over a month, and the resulting states of its origins.

use std::fmt;

use super::formats::Coding;
use super::{ArchiveFormat, ArchivedFile};
use crate::random::SplitMix64;
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::limits::REDIRECTS_MAX;

/// Responses to the first request, with their shares per ten thousand.
const OPENINGS: [(u64, Opening); 8] = [
    (1_900, Opening::Moved),
    (350, Opening::ShortChain),
    (130, Opening::LongChain),
    (170, Opening::Loop),
    (300, Opening::TargetMissing),
    (150, Opening::Nowhere),
    (150, Opening::NoAnswer),
    (6_850, Opening::Final),
];

#[derive(Clone, Copy)]
enum Opening {
    /// A redirect to https or to the other name.
    Moved,
    /// At most as many redirects as are followed.
    ShortChain,
    /// More redirects than are followed.
    LongChain,
    /// Redirects that return to the start.
    Loop,
    /// A redirect to a URL that was not captured.
    TargetMissing,
    /// A redirect without a usable URL.
    Nowhere,
    NoAnswer,
    /// No redirect.
    Final,
}

/// Status and body of responses that do not redirect, with their shares per ten thousand.
const FINALS: [(u64, (u16, Body)); 12] = [
    (6_500, (200, Body::File)),
    (700, (200, Body::Page)),
    (100, (200, Body::Empty)),
    (1_300, (404, Body::Page)),
    (50, (410, Body::Page)),
    (250, (403, Body::Page)),
    (60, (401, Body::Page)),
    (100, (429, Body::Page)),
    (40, (400, Body::Page)),
    (80, (500, Body::Page)),
    (420, (503, Body::Page)),
    (400, (200, Body::DamagedFile)),
];

#[derive(Clone, Copy)]
enum Body {
    File,
    DamagedFile,
    Page,
    Empty,
}

/// The size of the largest file that is damaged, in bytes. Truncating a larger file may have no
/// effect, because what remains may still exceed the parse limit.
const DAMAGED_BYTES_MAX: usize = 64 * 1024;

const PAGE: &[u8] = b"<!doctype html>\n<html lang=\"en\">\n<head><title>Not here</title></head>\n\
    <body>\n<p>Nothing of that name is here: try <a href=\"/\">our start</a>.</p>\n</body>\n</html>\n";
const OLDER_FILE: &[u8] = b"User-agent: *\nDisallow: /older/\n";

/// A request and its response.
pub(super) struct Exchange<'f> {
    pub url: String,
    /// The URLs of the redirects that the client followed; the response is that of the last URL.
    pub redirects: Vec<String>,
    pub asked_at: Moment,
    /// `None` if there was no response.
    pub response: Option<Response<'f>>,
}

pub(super) struct Response<'f> {
    pub status: u16,
    pub location: Option<String>,
    pub is_page: bool,
    pub body: &'f [u8],
    pub coding: Coding,
    /// The state of the requested origin, unless this is a redirect.
    state: PolicyState,
}

/// A second of June 2025, the month of all captures. A single month needs no calendar.
#[derive(Clone, Copy)]
pub(super) struct Moment(pub u64);

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, hour) = (self.0 / DAY + 1, self.0 % DAY / HOUR);
        let (minute, second) = (self.0 % HOUR / MINUTE, self.0 % MINUTE);
        write!(f, "2025-06-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The responses of a host, and the states of the requested origins.
pub(super) struct Story<'f> {
    file: ArchivedFile<'f>,
    format: ArchiveFormat,
    /// The origin of the first request.
    origin: String,
    /// The time of the next request.
    now: u64,
    random: SplitMix64,
    pub exchanges: Vec<Exchange<'f>>,
    pub states: Vec<(String, PolicyState)>,
}

impl<'f> Story<'f> {
    fn new(
        file: &ArchivedFile<'f>,
        format: ArchiveFormat,
        random: SplitMix64,
        now: u64,
    ) -> Story<'f> {
        let origin = origin(file.https, file.host);
        let (exchanges, states) = (Vec::new(), Vec::new());
        Story { file: *file, format, origin, now, random, exchanges, states }
    }

    /// Creates a host that responds with its file.
    pub fn of_file(
        file: &ArchivedFile<'f>,
        format: ArchiveFormat,
        random: &mut SplitMix64,
    ) -> Story<'f> {
        let now = random.below(30 * DAY);
        let mut story = Story::new(file, format, *random, now);
        let response = story.response(200, Body::File, Coding::Plain);
        story.states.push((story.origin.clone(), response.state));
        let (url, asked_at) = (robots_url(&story.origin), Moment(now));
        let exchange = Exchange { url, redirects: Vec::new(), asked_at, response: Some(response) };
        story.exchanges.push(exchange);
        story
    }

    /// Draws the responses of a host, with at most `older_max` earlier ones.
    pub fn drawn(
        file: &ArchivedFile<'f>,
        format: ArchiveFormat,
        older_max: u64,
        random: &mut SplitMix64,
    ) -> Story<'f> {
        let opening = weighted(&OPENINGS, random);
        let now = 20 * DAY + random.below(9 * DAY);
        let mut story = Story::new(file, format, *random, now);
        // A request without a response leaves no WARC record.
        if !matches!(opening, Opening::NoAnswer) || format == ArchiveFormat::JsonLines {
            let state = story.open(opening);
            story.states.push((story.origin.clone(), state));
            for _ in 0..story.random.below(older_max + 1) {
                story.answer_earlier();
            }
            // The newest response need not be the last in the archive.
            for left in (1..story.exchanges.len()).rev() {
                let other = story.random.below(left as u64 + 1) as usize;
                story.exchanges.swap(left, other);
            }
        }
        *random = story.random;
        story
    }

    /// Adds the responses that count, and returns the state that follows from them.
    fn open(&mut self, opening: Opening) -> PolicyState {
        let (root, redirects_max) = (robots_url(&self.origin), u64::from(REDIRECTS_MAX));
        match opening {
            Opening::Final => self.chain(vec![root], None),
            Opening::Moved => {
                let moved = match !self.file.https && self.random.chance(7_000) {
                    true => origin(true, self.file.host),
                    false => origin(self.file.https, self.file.other_host),
                };
                self.chain(vec![root, robots_url(&moved)], Some(moved))
            }
            Opening::ShortChain => {
                let hops = 2 + self.random.below(redirects_max - 1);
                self.chain(self.hops(hops), None)
            }
            Opening::LongChain => {
                let hops = redirects_max + 1 + self.random.below(4);
                self.chain(self.hops(hops), None)
            }
            Opening::Loop => {
                let hops = self.random.below(3);
                let mut urls = self.hops(hops);
                urls.push(root);
                self.redirect_along(&urls);
                PolicyState::Unavailable
            }
            Opening::TargetMissing => {
                let other = robots_url(&origin(self.file.https, self.file.other_host));
                let target = self.random.pick(&[&other, "/", "../not-captured/robots.txt"]);
                self.redirect(root, Some(target.to_owned()));
                PolicyState::Unreachable
            }
            Opening::Nowhere => {
                let target =
                    self.random.pick(&[None, Some(""), Some("mailto:master@mail.example")]);
                self.redirect(root, target.map(str::to_owned));
                PolicyState::Unreachable
            }
            Opening::NoAnswer => {
                self.push(root, Vec::new(), None);
                PolicyState::Unreachable
            }
        }
    }

    /// Returns the URL of the origin's robots.txt, and `hops` other URLs of the origin.
    fn hops(&self, hops: u64) -> Vec<String> {
        let hop = |hop| format!("{}/hop-{hop}/robots.txt", self.origin);
        std::iter::once(robots_url(&self.origin)).chain((1..=hops).map(hop)).collect()
    }

    /// Adds a redirect from each of `urls` to the next, and a final response of the last one. If
    /// the last URL is the robots.txt of the origin `target`, its state is also that of the target.
    fn chain(&mut self, mut urls: Vec<String>, target: Option<String>) -> PolicyState {
        let response = self.final_response();
        let state = response.state;
        let redirects = urls.len() - 1;
        // A line of JSON can contain the redirects that the client followed.
        if redirects > 0 && self.format == ArchiveFormat::JsonLines && self.random.chance(5_000) {
            let asked = urls.remove(0);
            self.push(asked, urls, Some(response));
        } else {
            self.redirect_along(&urls);
            self.push(urls.remove(redirects), Vec::new(), Some(response));
            self.states.extend(target.map(|origin| (origin, state)));
        }
        if redirects > usize::from(REDIRECTS_MAX) { PolicyState::Unavailable } else { state }
    }

    fn redirect_along(&mut self, urls: &[String]) {
        for pair in urls.windows(2) {
            let location = self.reference(&pair[1], &pair[0]);
            self.redirect(pair[0].clone(), Some(location));
        }
    }

    /// Returns a reference to `url` for a response to `base`.
    fn reference(&mut self, url: &str, base: &str) -> String {
        let path = url.strip_prefix(&self.origin).filter(|_| base.starts_with(&self.origin));
        let scheme_bytes = base.find("//").unwrap_or(0);
        match (self.random.below(6), path) {
            (0, Some(path)) => path.to_owned(),
            // One folder up from a hop. The root has no folder above it.
            (1, Some(path)) => format!("..{path}"),
            (2, _) if url.starts_with(&base[..scheme_bytes + 2]) => url[scheme_bytes..].to_owned(),
            (3, _) => format!("{url}#made-up"),
            _ => url.to_owned(),
        }
    }

    /// Adds a superseded response of the same URL.
    fn answer_earlier(&mut self) {
        let mut response = self.final_response();
        if self.random.chance(3_000) && !response.coding.is_damaged() && response.status == 200 {
            response.body = OLDER_FILE;
        }
        let asked_at = Moment(20 * DAY - HOUR - self.random.below(19 * DAY));
        let (url, redirects) = (robots_url(&self.origin), Vec::new());
        self.exchanges.push(Exchange { url, redirects, asked_at, response: Some(response) });
    }

    fn final_response(&mut self) -> Response<'f> {
        let (status, mut body) = weighted(&FINALS, &mut self.random);
        let is_damageable = (2..=DAMAGED_BYTES_MAX).contains(&self.file.robots.len());
        if matches!(body, Body::DamagedFile) && !is_damageable {
            body = Body::File;
        }
        let coding = match body {
            Body::File => self.whole_coding(self.file.robots),
            Body::DamagedFile => self.random.pick(&Coding::DAMAGED),
            Body::Page => self.whole_coding(PAGE),
            Body::Empty => Coding::Plain,
        };
        self.response(status, body, coding)
    }

    fn response(&self, status: u16, body: Body, coding: Coding) -> Response<'f> {
        let state = match (status, body) {
            (_, Body::File) if self.file.has_rules => PolicyState::Rules,
            (_, Body::DamagedFile) => PolicyState::Unreachable,
            (200, _) => PolicyState::NoRules,
            (400..=499, _) => PolicyState::Unavailable,
            _ => PolicyState::Unreachable,
        };
        let is_page = matches!(body, Body::Page);
        let body = match body {
            Body::File | Body::DamagedFile => self.file.robots,
            Body::Page => PAGE,
            Body::Empty => b"",
        };
        Response { status, location: None, is_page, body, coding, state }
    }

    /// Draws a coding that preserves `body`.
    fn whole_coding(&mut self, body: &[u8]) -> Coding {
        let coding = self.random.pick(&Coding::WHOLE);
        // Otherwise a reader could mistake the body for chunks or gzip.
        let is_plain = body
            .first()
            .is_some_and(|first| first.is_ascii_graphic() && !first.is_ascii_hexdigit());
        if coding == Coding::Undone && !is_plain { Coding::Plain } else { coding }
    }

    fn redirect(&mut self, url: String, location: Option<String>) {
        let status = self.random.pick(&[301, 301, 302, 302, 303, 307, 308]);
        let coding = self.whole_coding(PAGE);
        let response = Response { location, ..self.response(status, Body::Page, coding) };
        self.push(url, Vec::new(), Some(response));
    }

    fn push(&mut self, url: String, redirects: Vec<String>, response: Option<Response<'f>>) {
        let asked_at = Moment(self.now);
        self.now += 1 + self.random.below(MINUTE);
        self.exchanges.push(Exchange { url, redirects, asked_at, response });
    }
}

fn origin(https: bool, host: &[u8]) -> String {
    let scheme = if https { "https" } else { "http" };
    format!("{scheme}://{}", String::from_utf8_lossy(host))
}

fn robots_url(origin: &str) -> String {
    format!("{origin}/robots.txt")
}

/// Draws one of `items` by weight.
fn weighted<T: Copy>(items: &[(u64, T)], random: &mut SplitMix64) -> T {
    let mut share = random.below(items.iter().map(|&(weight, _)| weight).sum());
    for &(weight, item) in items {
        if share < weight {
            return item;
        }
        share -= weight;
    }
    items[items.len() - 1].1
}
