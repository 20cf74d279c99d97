//! What one host answers over a month, and what that makes of its origins.

use std::borrow::Cow;

use super::body::Coding;
use super::exchange::{Exchange, Moment, Response};
use super::{ArchiveFormat, ArchivedFile};
use crate::decision::PolicyState;
use crate::limits::REDIRECTS_MAX;
use crate::synth::random::SplitMix64;

/// What hosts answer to the first question, by how many in ten thousand.
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
    /// As many redirects as are followed, at most.
    ShortChain,
    /// More than that.
    LongChain,
    /// Redirects that come back.
    Loop,
    /// A redirect to what was not captured.
    TargetMissing,
    /// A redirect that says no place that can be asked.
    Nowhere,
    NoAnswer,
    /// No redirect.
    Final,
}

/// What is answered where no redirect leads on, by how many in ten thousand.
const FINALS: [(u64, Final); 12] = [
    (6_500, Final::File),
    (700, Final::Page),
    (100, Final::Empty),
    (1_300, Final::Status(404)),
    (50, Final::Status(410)),
    (250, Final::Status(403)),
    (60, Final::Status(401)),
    (100, Final::Status(429)),
    (40, Final::Status(400)),
    (80, Final::Status(500)),
    (420, Final::Status(503)),
    (400, Final::Damaged),
];

#[derive(Clone, Copy)]
enum Final {
    File,
    /// A page in place of the file, with status 200.
    Page,
    /// Status 200 and no byte.
    Empty,
    Status(u16),
    /// The file, as far as it came.
    Damaged,
}

/// Bytes of the largest file that is damaged: what is left of a larger one may be all that counts.
const DAMAGED_BYTES_MAX: usize = 64 * 1024;

const PAGE: &[u8] = b"<!doctype html>\n<html lang=\"en\">\n<head><title>Not here</title></head>\n\
    <body>\n<p>Nothing of that name is here: try <a href=\"/\">our start</a>.</p>\n</body>\n</html>\n";
const OLDER_FILE: &[u8] = b"User-agent: *\nDisallow: /older/\n";

const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// The answers of a host and the states of the origins that they are of.
pub(super) struct Story<'f> {
    pub(super) exchanges: Vec<Exchange<'f>>,
    pub(super) states: Vec<(Vec<u8>, PolicyState)>,
}

impl<'f> Story<'f> {
    /// The host answers with its file.
    pub(super) fn of_file(file: &ArchivedFile<'f>, random: &mut SplitMix64) -> Story<'f> {
        let origin = origin(file.https, file.host);
        let response = file_response(file, Coding::Plain);
        let state = response.state;
        Story {
            exchanges: vec![Exchange {
                url: robots_url(&origin),
                redirects: Vec::new(),
                asked_at: Moment(random.below(30 * Moment::DAY)),
                response: Some(response),
            }],
            states: vec![(origin, state)],
        }
    }
}

/// Draws what the host answers.
pub(super) fn tell<'f>(
    file: &ArchivedFile<'f>,
    format: ArchiveFormat,
    older_max: u64,
    random: &mut SplitMix64,
) -> Story<'f> {
    let opening = pick(&OPENINGS, random);
    let mut teller = Teller {
        file: *file,
        format,
        origin: origin(file.https, file.host),
        now: 20 * Moment::DAY + random.below(9 * Moment::DAY),
        random: *random,
        story: Story { exchanges: Vec::new(), states: Vec::new() },
    };
    teller.tell(opening, older_max);
    *random = teller.random;
    teller.story
}

struct Teller<'f> {
    file: ArchivedFile<'f>,
    format: ArchiveFormat,
    /// The origin that is asked first.
    origin: Vec<u8>,
    /// When the next question is asked.
    now: u64,
    random: SplitMix64,
    story: Story<'f>,
}

impl<'f> Teller<'f> {
    fn tell(&mut self, opening: Opening, older_max: u64) {
        if matches!(opening, Opening::NoAnswer) && self.format == ArchiveFormat::Warc {
            // No answer is no record.
            return;
        }
        let state = self.tell_opening(opening);
        self.story.states.push((self.origin.clone(), state));
        for _ in 0..self.random.below(older_max + 1) {
            self.tell_older();
        }
        self.shuffle();
    }

    /// What counts, and the state that it makes.
    fn tell_opening(&mut self, opening: Opening) -> PolicyState {
        let root = robots_url(&self.origin);
        match opening {
            Opening::Final => {
                let response = self.final_response();
                self.answer(root, response)
            }
            Opening::Moved => {
                let to_https = !self.file.https && self.random.chance(7_000);
                let moved = if to_https {
                    origin(true, self.file.host)
                } else {
                    origin(self.file.https, self.file.other_host)
                };
                self.tell_chain(vec![root, robots_url(&moved)], Some(moved))
            }
            Opening::ShortChain => {
                let redirects = 2 + self.random.below(u64::from(REDIRECTS_MAX) - 1);
                self.tell_hops(root, redirects)
            }
            Opening::LongChain => {
                let redirects = u64::from(REDIRECTS_MAX) + 1 + self.random.below(4);
                self.tell_hops(root, redirects)
            }
            Opening::Loop => self.tell_loop(&root),
            Opening::TargetMissing => {
                let https = self.file.https;
                let target = match self.random.below(3) {
                    0 => robots_url(&origin(https, self.file.other_host)),
                    1 => b"/".to_vec(),
                    _ => b"../not-captured/robots.txt".to_vec(),
                };
                self.redirect(root, Some(target));
                PolicyState::Unreachable
            }
            Opening::Nowhere => {
                let location = match self.random.below(3) {
                    0 => None,
                    1 => Some(Vec::new()),
                    _ => Some(b"mailto:master@mail.example".to_vec()),
                };
                self.redirect(root, location);
                PolicyState::Unreachable
            }
            Opening::NoAnswer => {
                self.push(root, Vec::new(), None);
                PolicyState::Unreachable
            }
        }
    }

    /// Redirects within the origin.
    fn tell_hops(&mut self, root: Vec<u8>, redirects: u64) -> PolicyState {
        let hops = (1..=redirects).map(|hop| self.hop_url(hop));
        let urls: Vec<Vec<u8>> = std::iter::once(root).chain(hops).collect();
        self.tell_chain(urls, None)
    }

    fn hop_url(&self, hop: u64) -> Vec<u8> {
        [&self.origin[..], format!("/hop-{hop}/robots.txt").as_bytes()].concat()
    }

    /// Each of `urls` redirects to the next, and the last is answered. If it is the robots.txt of
    /// the origin `target`, that is the target's state too.
    fn tell_chain(&mut self, urls: Vec<Vec<u8>>, target: Option<Vec<u8>>) -> PolicyState {
        let response = self.final_response();
        let state = response.state;
        let redirects = urls.len() - 1;
        // JSON Lines can say in one record where the asker was led.
        if self.format == ArchiveFormat::JsonLines && self.random.chance(5_000) {
            let mut urls = urls;
            let asked = urls.remove(0);
            self.push(asked, urls, Some(response));
        } else {
            for pair in urls.windows(2) {
                let location = self.spell(&pair[1], &pair[0]);
                self.redirect(pair[0].clone(), Some(location));
            }
            let last = urls.into_iter().next_back().unwrap_or_default();
            self.push(last, Vec::new(), Some(response));
            self.story.states.extend(target.map(|origin| (origin, state)));
        }
        if redirects > usize::from(REDIRECTS_MAX) { PolicyState::Unavailable } else { state }
    }

    /// From the root over some hops back to it.
    fn tell_loop(&mut self, root: &[u8]) -> PolicyState {
        let hops = self.random.below(3);
        let mut urls = vec![root.to_vec()];
        urls.extend((1..=hops).map(|hop| self.hop_url(hop)));
        urls.push(root.to_vec());
        for pair in urls.windows(2) {
            let location = self.spell(&pair[1], &pair[0]);
            self.redirect(pair[0].clone(), Some(location));
        }
        PolicyState::Unavailable
    }

    /// A reference that means `url` in an answer to `base`.
    fn spell(&mut self, url: &[u8], base: &[u8]) -> Vec<u8> {
        let in_origin = url.strip_prefix(&self.origin[..]);
        let after_scheme = url.strip_prefix(&base[..scheme_bytes(base)]);
        match (self.random.below(6), in_origin, after_scheme) {
            (0, Some(path), _) if base.starts_with(&self.origin) => path.to_vec(),
            (1, Some(path), _) if base.starts_with(&self.origin) => {
                // One folder up from a hop, and not up at all from the root.
                [b"..", path].concat()
            }
            (2, _, Some(rest)) => [b"//", rest].concat(),
            (3, ..) => [url, b"#made-up"].concat(),
            _ => url.to_vec(),
        }
    }

    /// An answer of the same URL before the one that counts.
    fn tell_older(&mut self) {
        let mut response = self.final_response();
        if self.random.chance(3_000) && !response.coding.is_damaged() && response.status == 200 {
            response.body = Cow::Borrowed(OLDER_FILE);
        }
        let age = Moment::HOUR + self.random.below(19 * Moment::DAY);
        let asked_at = Moment(20 * Moment::DAY - age);
        self.story.exchanges.push(Exchange {
            url: robots_url(&self.origin),
            redirects: Vec::new(),
            asked_at,
            response: Some(response),
        });
    }

    fn final_response(&mut self) -> Response<'f> {
        let mut last = pick(&FINALS, &mut self.random);
        if matches!(last, Final::Damaged)
            && !(2..=DAMAGED_BYTES_MAX).contains(&self.file.robots.len())
        {
            last = Final::File;
        }
        match last {
            Final::File => {
                let coding = self.whole_coding(self.file.robots);
                file_response(&self.file, coding)
            }
            Final::Damaged => {
                let coding = self.random.pick(&Coding::DAMAGED);
                Response { state: PolicyState::Unreachable, ..file_response(&self.file, coding) }
            }
            Final::Page => {
                let coding = self.whole_coding(PAGE);
                response(200, HTML, PAGE, coding, PolicyState::NoRules)
            }
            Final::Empty => response(200, TEXT, b"", Coding::Plain, PolicyState::NoRules),
            Final::Status(status) => {
                let state = match status {
                    400..=499 => PolicyState::Unavailable,
                    _ => PolicyState::Unreachable,
                };
                let coding = self.whole_coding(PAGE);
                response(status, HTML, PAGE, coding, state)
            }
        }
    }

    /// A coding that loses nothing of `body`.
    fn whole_coding(&mut self, body: &[u8]) -> Coding {
        let coding = self.random.pick(&Coding::WHOLE);
        // A body that may be taken for chunks or gzip cannot be told from one.
        let is_plain = body
            .first()
            .is_some_and(|first| first.is_ascii_graphic() && !first.is_ascii_hexdigit());
        if coding == Coding::Undone && !is_plain { Coding::Plain } else { coding }
    }

    fn redirect(&mut self, url: Vec<u8>, location: Option<Vec<u8>>) {
        let status = self.random.pick(&[301, 301, 302, 302, 303, 307, 308]);
        let coding = self.whole_coding(PAGE);
        let response =
            Response { location, ..response(status, HTML, PAGE, coding, PolicyState::Unknown) };
        self.push(url, Vec::new(), Some(response));
    }

    fn answer(&mut self, url: Vec<u8>, response: Response<'f>) -> PolicyState {
        let state = response.state;
        self.push(url, Vec::new(), Some(response));
        state
    }

    fn push(&mut self, url: Vec<u8>, redirects: Vec<Vec<u8>>, response: Option<Response<'f>>) {
        let asked_at = Moment(self.now);
        self.now += 1 + self.random.below(Moment::MINUTE);
        self.story.exchanges.push(Exchange { url, redirects, asked_at, response });
    }

    /// The newest answer need not be the last one in the archive.
    fn shuffle(&mut self) {
        for left in (1..self.story.exchanges.len()).rev() {
            let other = self.random.below(left as u64 + 1) as usize;
            self.story.exchanges.swap(left, other);
        }
    }
}

fn file_response<'f>(file: &ArchivedFile<'f>, coding: Coding) -> Response<'f> {
    let state = if file.has_rules { PolicyState::Rules } else { PolicyState::NoRules };
    response(200, TEXT, file.robots, coding, state)
}

fn response<'f>(
    status: u16,
    content_type: &'static str,
    body: &'f [u8],
    coding: Coding,
    state: PolicyState,
) -> Response<'f> {
    Response { status, location: None, content_type, body: Cow::Borrowed(body), coding, state }
}

fn origin(https: bool, host: &[u8]) -> Vec<u8> {
    let scheme: &[u8] = if https { b"https://" } else { b"http://" };
    [scheme, host].concat()
}

fn robots_url(origin: &[u8]) -> Vec<u8> {
    [origin, b"/robots.txt"].concat()
}

/// The bytes of a URL's scheme with the `://` behind it.
fn scheme_bytes(url: &[u8]) -> usize {
    if url.starts_with(b"https://") { 8 } else { 7 }
}

/// One of `items`, each as often as it is heavy.
fn pick<T: Copy>(items: &[(u64, T)], random: &mut SplitMix64) -> T {
    let whole: u64 = items.iter().map(|&(weight, _)| weight).sum();
    let mut share = random.below(whole);
    for &(weight, item) in items {
        if share < weight {
            return item;
        }
        share -= weight;
    }
    items[items.len() - 1].1
}
