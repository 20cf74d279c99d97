//! Reads the lines of logs of servers in a declared format.
//!
//! A format is a name, for formats that servers write by default, or the LogFormat or log_format line
//! of the server's configuration ([`LogFormat`]). It defines where a line has the host, the request,
//! the time and the agent, whether the server or the client wrote each text, and how texts are quoted
//! and escaped:
//!
//! ```text
//! a.example:443 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326 "https://b.example/" "ABot/1.0"
//! %v:%p         %h        %l %u %t                           "%r"                >s  %O   "%{Referer}i"        "%{User-Agent}i"
//! ```
//!
//! The format alone decides, not the majority of the lines. A line must have as many quoted texts as
//! its format and is cut at them. Each part is then cut from both ends up to the text of a client
//! ([`cut`]). A line that does not fit is [`Problem::OtherFormat`]. Text that a client can send is
//! never read as something that the server wrote.
//!
//! Without a declaration, the first format of [`servers`] that all requests at the start of a list fit is
//! taken, where each text must look as its server writes it. If there is none, the list is an error that asks
//! for the declaration.
//!
//! A request that is not one for a page has no URL: `-`, the bytes of another protocol, `OPTIONS *`, `CONNECT`.
//!
//! Some servers log another target than the one that was asked for: they cut queries, or decode paths. The
//! doubts are counted ([`Doubts`]).

mod build;
mod cut;
mod escape;
mod fields;
mod prefix;
mod servers;
mod steps;
mod syntax;
#[cfg(test)]
mod tests;
mod time;
pub(super) mod words;

use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use memchr::{memchr, memchr_iter, memmem, memrchr};
use portcullis_engine::marks::Marks;

use self::build::Chosen;
use self::cut::{Piece, See, Segment};
use self::escape::{Escape, Quoting};
use self::fields::{Slot, What};
pub(crate) use self::prefix::OpenStreams;
use self::prefix::Prefix;
use self::servers::{SERVERS, Server, Shows, Targets};
use self::steps::Steps;
pub(super) use self::steps::stops_in;
use super::host::{Given, Origins, Served, is_bare_address, joined};
use super::noticed::Doubts;
use super::request::{
    Named, asked, has_version, is_method, is_target, parts_of, target, usual_path, without_fragment,
};
use super::values::{Values, kept};
use super::{Arena, Problem};

/// The format of the lines of a log, as its server declares it.
///
/// ```
/// use portcullis_rows::list::LogFormat;
///
/// let named: LogFormat = "vhost-combined".parse()?;
/// let declared: LogFormat = r#"$host $remote_addr [$time_local] "$request" $status"#.parse()?;
/// assert_eq!(named.name(), Some("vhost-combined"));
/// assert_eq!(declared.name(), None);
/// let error = "%q".parse::<LogFormat>().unwrap_err();
/// assert!(error.contains("no request"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat(Arc<Format>);

#[derive(Debug, PartialEq, Eq)]
struct Format {
    name: Option<&'static str>,
    text: String,
    /// The segments outside of quotes: one more than texts in quotes.
    outside: Vec<Segment>,
    /// The segments in quotes.
    inside: Vec<Segment>,
    /// The steps that cut most lines; `None` if the format needs more.
    steps: Option<Steps>,
    /// Whether a line may have more text after the last field of the format.
    has_tail: bool,
    /// Whether texts outside of quotes that are read may have escapes, or texts have others than backslashes.
    has_escapes_outside: bool,
    escape: Escape,
    quoting: Quoting,
    /// The text between the last two texts in quotes, with their quotes, if they may have quotes inside.
    between_last: Vec<u8>,
    targets: Targets,
    shows: Shows,
    /// Whether a port is joined to the host.
    has_port: bool,
    chosen: Chosen,
}

/// The formats of servers, in the order in which they are tried.
static KNOWN: LazyLock<Vec<LogFormat>> =
    LazyLock::new(|| SERVERS.iter().map(LogFormat::of_server).collect());

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<LogFormat, String> {
        let named = KNOWN.iter().find(|format| format.name() == Some(text));
        named.cloned().map_or_else(|| LogFormat::of_configuration(text), Ok)
    }
}

/// The end of a line of HAProxy whose request it could not read. Captured headers are left out of it.
const BAD_REQUEST: &[u8] = b"\"<BADREQ>\"";

/// Why a line has not the format.
enum Unfit {
    Other,
    /// A text in quotes has no end.
    NoEnd,
    /// It has quotes that a client may have sent, so that its texts might end elsewhere.
    Quotes,
}

/// How the lines of a list are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogLine {
    format: LogFormat,
    prefix: Option<Prefix>,
    /// Whether the time, the agent and the client are read.
    reads: Reads,
}

/// Which values are read next to the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    pub time: bool,
    pub agent: bool,
    pub client: bool,
}

impl LogFormat {
    /// Returns the names of the formats of servers: of those that are tried on each log, or of the others.
    pub fn names(are_tried: bool) -> impl Iterator<Item = &'static str> {
        let of = move |server: &&Server| (server.shows != Shows::ItsName) == are_tried;
        SERVERS.iter().filter(of).map(|server| server.name)
    }

    /// Returns whether a line is one of a log in a format that is tried.
    pub fn knows(line: &[u8]) -> bool {
        is_known(line)
    }

    /// Returns the name of the format; `None` if it was declared by its fields.
    pub fn name(&self) -> Option<&'static str> {
        self.0.name
    }

    /// Returns the declaration of the format.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Cuts a line into its fields, which are shown to `see`. Returns whether its texts may have escapes.
    #[inline]
    fn cut<'t>(&self, line: &'t [u8], see: &mut impl See<'t>) -> Result<bool, Unfit> {
        let Format { outside, inside, quoting, .. } = &*self.0;
        let first_raw =
            if quoting.is_raw() { inside.len().saturating_sub(2) } else { inside.len() };
        let mut rest = line;
        // Outside of quotes, escapes are not sought.
        let mut has_escapes = self.0.has_escapes_outside;
        for (number, text) in inside.iter().enumerate() {
            let before = &outside[number];
            rest = if before.has_run() {
                let open = opening(rest, *quoting, before).ok_or(Unfit::Other)?;
                before.cut(&rest[..open], see).ok_or(Unfit::Other)?;
                &rest[open..]
            } else {
                before.cut_start(rest, *quoting, see).ok_or(Unfit::Other)?
            };
            let [b'"', after @ ..] = rest else { return Err(Unfit::Other) };
            if number == first_raw {
                let is_once = number == 0 || !is_again(before, after, *quoting);
                let cut = self.cut_raw(after, number, see).map(|()| true);
                return if is_once { cut } else { cut.and(Err(Unfit::Quotes)) };
            }
            let (close, has_backslash) = quoting.end(after).ok_or(Unfit::NoEnd)?;
            has_escapes |= has_backslash;
            text.cut(&after[..close], see).ok_or(Unfit::Other)?;
            rest = &after[close + 1..];
        }
        self.cut_end(rest, see).map(|()| has_escapes)
    }

    /// Cuts the text after the last quoted text.
    #[inline]
    fn cut_end<'t>(&self, rest: &'t [u8], see: &mut impl See<'t>) -> Result<(), Unfit> {
        let Format { has_tail, quoting, escape, .. } = *self.0;
        let last = self.0.outside.last().ok_or(Unfit::Other)?;
        if last.has_run() {
            let cut = last.cut(rest, see).filter(|()| quoting.end(rest).is_none());
            return cut.ok_or(Unfit::Other);
        }
        // Some configurations end with a blank.
        let rest = if has_tail { rest } else { rest.trim_ascii_end() };
        let rest = last.cut_start(rest, quoting, see).ok_or(Unfit::Other)?;
        match rest {
            [] => Ok(()),
            _ if !has_tail => Err(Unfit::Other),
            // Where quotes are not escaped, the number of all is what shows that a client sent none.
            tail if escape == Escape::None && memchr(b'"', tail).is_some() => Err(Unfit::Quotes),
            _ => Ok(()),
        }
    }

    /// Cuts the last texts in quotes, of which one or two may have quotes inside: they end at the last quote of
    /// the line, and what stands between two of them occurs once. `rest` begins inside the first of them.
    fn cut_raw<'t>(
        &self,
        rest: &'t [u8],
        number: usize,
        see: &mut impl See<'t>,
    ) -> Result<(), Unfit> {
        let last = memrchr(b'"', rest).ok_or(Unfit::Other)?;
        self.cut_texts(&rest[..last], number, see).ok_or(Unfit::Other)?;
        self.cut_end(&rest[last + 1..], see)
    }

    /// Cuts the last quoted texts, which end at the last quote.
    fn cut_texts<'t>(&self, texts: &'t [u8], number: usize, see: &mut impl See<'t>) -> Option<()> {
        let inside = &self.0.inside;
        if number + 1 == inside.len() {
            return inside[number].cut(texts, see);
        }
        let between = &*self.0.between_last;
        let end = memmem::find(texts, between)?;
        let has_other = memmem::find(&texts[end + 1..], between).is_some();
        inside[number].cut(&texts[..end], see).filter(|()| !has_other)?;
        inside[number + 1].cut(&texts[end + between.len()..], see)
    }

    /// Returns how requests are read, with or without what a collector writes before them, if `fits` says that
    /// some have the format. The error says that it is not clear.
    fn line_by(
        &self,
        requests: &[&[u8]],
        reads: Reads,
        fits: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<LogLine>, String> {
        let line = |prefix| Ok(Some(LogLine { format: self.clone(), prefix, reads }));
        let is_behind = |it: &Prefix, line: &[u8]| it.without(line).is_some_and(&fits);
        let is_some_behind = |it: &Prefix| requests.iter().any(|line| is_behind(it, line));
        let is_plain = requests.iter().any(|line| fits(line));
        let prefix = match Prefix::ALL.into_iter().find(is_some_behind) {
            None if is_plain => return line(None),
            None => return Ok(None),
            Some(prefix) => prefix,
        };
        // The time is one of the format, if some line needs it.
        let are_all_plain = || requests.iter().all(|line| fits(line));
        let needs_it = |line: &&[u8]| !is_behind(&prefix, line);
        if prefix == Prefix::Time && are_all_plain() && requests.iter().any(needs_it) {
            return line(None);
        }
        if !is_plain || requests.iter().all(|line| prefix.without(line).is_some()) {
            if requests.iter().any(|line| fits(line) && self.is_other_behind(prefix, line)) {
                return Err(format!(
                    "lines fit the format with and without {}, and mean another request each way; remove that text \
                     from the lines, or make it part of the format",
                    prefix.describe()
                ));
            }
            return line(Some(prefix));
        }
        // Where a line begins with what a client sends, that may look like the text of a collector.
        let are_plain = || requests.iter().all(|line| fits(line) || !is_behind(&prefix, line));
        if self.begins_free() && are_plain() {
            return line(None);
        }
        Err(format!(
            "some lines begin with {}, and others do not, so it is not clear where the format begins; make a list of \
             each kind",
            prefix.describe()
        ))
    }

    /// Whether a line means something else without its prefix.
    fn is_other_behind(&self, prefix: Prefix, line: &[u8]) -> bool {
        let arena = Arena::new();
        let all = Reads { time: true, agent: true, client: true };
        let [whole, rest] = [None, Some(prefix)].map(|prefix| {
            let line_of = LogLine { format: self.clone(), prefix, reads: all };
            let values = line_of.read(line, None, &arena);
            (values.url, values.host, values.time, values.agent, values.client, values.doubts)
        });
        prefix.without(line).is_some() && whole != rest
    }

    /// Whether a line begins with what a client sends.
    fn begins_free(&self) -> bool {
        self.0.outside.first().is_some_and(Segment::begins_free)
    }

    /// Whether a line has the format, and each text looks as the server writes it.
    fn fits(&self, line: &[u8]) -> bool {
        let see = &mut |piece: &Piece, text: &[u8]| piece.field.is_shaped(text).then_some(());
        matches!(self.cut(line, see), Ok(_) | Err(Unfit::Quotes))
    }

    /// Whether one of the lines shows what it must, or most do.
    fn is_shown_in(&self, lines: &[&[u8]]) -> bool {
        match self.0.shows {
            Shows::NamedHosts => {
                2 * lines.iter().filter(|line| self.shows(line)).count() > lines.len()
            }
            _ => lines.iter().any(|line| self.shows(line)),
        }
    }

    /// Whether a line shows what one of all lines must.
    fn shows(&self, line: &[u8]) -> bool {
        let mut is_shown = false;
        let shows = self.0.shows;
        let see = &mut |piece: &Piece, text: &[u8]| {
            is_shown = match (shows, piece.field.what) {
                (Shows::Nothing | Shows::ItsName, _) => true,
                (Shows::NamedHost | Shows::NamedHosts, What::Host(_)) => {
                    text != b"-" && !words::is_address(text)
                }
                (Shows::NamedHost | Shows::NamedHosts, _) => is_shown,
                // The last text of the line counts.
                (Shows::OtherThanHosts, _) => !words::is_host(text),
            };
            Some(())
        };
        self.cut(line, see).is_ok() && is_shown
    }
}

/// Whether what stands between two texts in quotes stands between others in `rest` too, so that a client may
/// have sent one of both.
fn is_again(between: &Segment, rest: &[u8], quoting: Quoting) -> bool {
    memchr_iter(b'"', rest).any(|quote| {
        let cut = between.cut_start(&rest[quote + 1..], quoting, &mut |_, _| Some(()));
        cut.is_some_and(|after| after.starts_with(b"\""))
    })
}

/// Returns the place of the quote that opens the next text. Apache has `""` for the name of a user that is
/// empty.
#[inline]
fn opening(rest: &[u8], quoting: Quoting, outside: &Segment) -> Option<usize> {
    let (open, _) = quoting.end(rest)?;
    let is_user = || outside.has_run() && !rest[..open].ends_with(&outside.end);
    match &rest[open..] {
        [b'"', b'"', b' ', ..] if is_user() => Some(open + 2 + memchr(b'"', &rest[open + 2..])?),
        _ => Some(open),
    }
}

/// Returns the lines of requests. A log has other lines too: log rotation and starting servers write
/// some, HAProxy logs requests that it cannot parse, and Kubernetes splits long lines.
fn requests<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Vec<&'l [u8]> {
    let mut open = OpenStreams::default();
    let all: Vec<&[u8]> = lines.filter(|line| !open.is_part(line)).collect();
    let has_quotes = all.iter().any(|line| memchr(b'"', line).is_some());
    let is_request = |line: &&[u8]| {
        let has_request = || memchr(b'"', line).is_some() || looks_like_log(line);
        !line.ends_with(BAD_REQUEST) && (!has_quotes || has_request())
    };
    all.into_iter().filter(is_request).collect()
}

impl LogLine {
    /// Returns how lines are read in a declared format.
    ///
    /// # Errors
    ///
    /// If the format reads lines with and without what a collector writes before them, and some have none of
    /// that. The same line may then be read in two ways.
    pub(super) fn declared<'l>(
        lines: impl Iterator<Item = &'l [u8]>,
        format: &LogFormat,
        reads: Reads,
    ) -> Result<LogLine, String> {
        let requests = requests(lines);
        let shaped = format.line_by(&requests, reads, |line| format.fits(line))?;
        // Not all servers write what the shape of a field says.
        let is_cut = |line: &[u8]| format.cut(line, &mut |_, _| Some(())).is_ok();
        let found = match shaped {
            Some(line) => Some(line),
            None => format.line_by(&requests, reads, is_cut)?,
        };
        Ok(found.unwrap_or(LogLine { format: format.clone(), prefix: None, reads }))
    }

    /// Returns how lines are read in the first known format that all requests fit. `None` if there is none.
    pub(super) fn find<'l>(lines: impl Iterator<Item = &'l [u8]>, reads: Reads) -> Option<LogLine> {
        let requests = requests(lines);
        [None].into_iter().chain(Prefix::ALL.map(Some)).find_map(|prefix| {
            let lines: Option<Vec<&[u8]>> =
                requests.iter().map(|line| without_prefix(prefix, line)).collect();
            let lines = &lines.filter(|lines| !lines.is_empty())?[..];
            let mut known = KNOWN.iter();
            let format = known.find(|format| {
                format.0.shows != Shows::ItsName
                    && lines.iter().all(|line| format.fits(line))
                    && format.is_shown_in(lines)
            })?;
            Some(LogLine { format: format.clone(), prefix, reads })
        })
    }

    pub(super) fn format(&self) -> &LogFormat {
        &self.format
    }

    /// Whether a line may be a part of a longer one.
    pub(super) fn has_parts(&self) -> bool {
        self.prefix == Some(Prefix::Stream)
    }

    /// Returns the streams that are open after `text`, lines that follow those after which `open` are.
    pub(super) fn open_after(&self, text: &[u8], mut open: OpenStreams) -> OpenStreams {
        if self.has_parts() {
            text.split(|&byte| byte == b'\n').for_each(|line| _ = open.is_part(line));
        }
        open
    }

    pub(super) fn has_agent(&self) -> bool {
        self.format.0.chosen.has_agent
    }

    pub(super) fn has_time(&self) -> bool {
        self.format.0.chosen.time.is_some()
    }

    pub(super) fn has_client(&self) -> bool {
        self.format.0.chosen.client.is_some()
    }

    /// Whether the host that the server found is in the lines.
    pub(super) fn is_host_found(&self) -> bool {
        self.format.0.chosen.is_host_found()
    }

    /// Whether a host that the server found is in the lines, and is not read.
    pub(super) fn has_other_host(&self) -> bool {
        self.format.0.chosen.has_other_host
    }

    /// Whether lines need the host that is given for all.
    pub(super) fn needs_host<'l>(&self, mut lines: impl Iterator<Item = &'l [u8]>) -> bool {
        let Format { ref chosen, targets, .. } = *self.format.0;
        let arena = Arena::new();
        let is_path =
            |line| self.read(line, None, &arena).url.is_ok_and(|url| url.starts_with(b"/"));
        let has_host = chosen.host.is_some() || chosen.is_url();
        !has_host && !targets.are_urls && lines.any(is_path)
    }

    /// Returns the URL and the values of a line that has nothing rare: those that [`LogLine::read`] finds.
    /// `None` for other lines. The line begins at a place in the text of [`stops_in`].
    #[inline]
    pub(super) fn read_usual<'c>(
        &self,
        (text, stops, start): (&'c [u8], Marks<'_>, usize),
        origins: &mut Origins<'_, 'c>,
    ) -> Option<(&'c [u8], Values<'c>)> {
        let format = &*self.format.0;
        let line = without_prefix(self.prefix, text)?;
        let stops = (stops, start + text.len() - line.len());
        let [host, request, agent, time, client, ..] = format.steps.as_ref()?.cut(line, stops)?;
        let (path, arena) = (usual_path(request)?, origins.arena);
        let origin = origins.of(host, |host| format.with_brackets(host, arena))?;
        let Targets { without_query, decoded, .. } = format.targets;
        if decoded && memchr(b'#', path).is_some() {
            return None;
        }
        let doubts =
            Doubts::default().with(Doubts::NO_QUERY, without_query).with(Doubts::DECODED, decoded);
        let (reads, chosen) = (self.reads, &format.chosen);
        let values = Values {
            time: chosen.time.filter(|_| reads.time).and_then(|form| form.read(time)),
            agent: Some(agent).filter(|_| reads.agent && chosen.has_agent),
            client: Some(client).filter(|_| reads.client && chosen.client.is_some()),
            doubts,
            ..Values::from_url(Ok(path))
        };
        Some((joined(&[origin, path], arena), values))
    }

    /// Returns the values of a line. The URL may be a path alone. `given` is the host of records
    /// that have none.
    pub(super) fn read<'c>(
        &self,
        text: &'c [u8],
        given: Option<&Given>,
        arena: &'c Arena,
    ) -> Values<'c> {
        let format = &*self.format.0;
        let mut texts = [None; Slot::COUNT];
        let see = &mut |piece: &Piece, text| {
            if let Some(slot) = piece.slot {
                texts[slot] = Some(text);
            }
            Some(())
        };
        let line = without_prefix(self.prefix, text);
        let cut = line.map_or(Err(Unfit::Other), |line| self.format.cut(line, see));
        let is_cut = |bytes: Option<usize>| bytes.is_some_and(|bytes| text.len() >= bytes);
        let has_escapes = match cut {
            Ok(has_escapes) => has_escapes,
            Err(Unfit::NoEnd) if is_cut(format.targets.line_bytes) => {
                return Values::from_url(Err(Problem::Cut));
            }
            // HAProxy leaves out what it could not read.
            Err(_) if text.ends_with(BAD_REQUEST) => {
                return Values::from_url(Err(Problem::NoRequest));
            }
            Err(_) => return Values::from_url(Err(Problem::OtherFormat)),
        };
        let escape = if has_escapes { format.escape } else { Escape::None };
        let found = FieldTexts { texts, escape, arena };
        let time = format.chosen.time.filter(|_| self.reads.time);
        let time = time.and_then(|form| form.read(found.text(Slot::Time)?));
        let agent = found.text(Slot::Agent).filter(|_| self.reads.agent);
        let agent = agent.map(|agent| found.undone(agent));
        let client = found.text(Slot::Client).filter(|_| self.reads.client);
        let host = format.host(&found, given);
        let asked = format.target(&found);
        let asked = asked.and_then(|target| format.site_of(target, host, given, arena));
        let (url, host, doubts) = match asked {
            Ok((url, host, doubts)) => (Ok(url), host, doubts),
            Err(problem) => (Err(problem), None, Doubts::default()),
        };
        Values { host, time, agent, client, doubts, ..Values::from_url(url) }
    }
}

fn without_prefix(prefix: Option<Prefix>, line: &[u8]) -> Option<&[u8]> {
    prefix.map_or(Some(line), |prefix| prefix.without(line))
}

/// The texts of a line.
struct FieldTexts<'c> {
    texts: [Option<&'c [u8]>; Slot::COUNT],
    escape: Escape,
    arena: &'c Arena,
}

impl<'c> FieldTexts<'c> {
    fn text(&self, slot: Slot) -> Option<&'c [u8]> {
        self.texts[slot as usize]
    }

    /// Returns a text that is neither empty nor `-`.
    fn some(&self, slot: Slot) -> Option<&'c [u8]> {
        self.text(slot).filter(|text| !matches!(*text, b"" | b"-"))
    }

    /// Returns a text without its escapes.
    fn undone(&self, text: &'c [u8]) -> &'c [u8] {
        kept(self.escape.undone(text), self.arena)
    }
}

/// A URL or a path, the host of the path, and what is in doubt.
type Asked<'c> = (&'c [u8], Option<&'c [u8]>, Doubts);

impl Format {
    /// Returns the host of a line with the scheme of its request.
    #[inline]
    fn host<'c>(&self, found: &FieldTexts<'c>, given: Option<&Given>) -> Option<&'c [u8]> {
        let host = found.some(Slot::Host);
        let host = host.map(|host| self.with_brackets(found.undone(host), found.arena));
        let [scheme, port] = [Slot::Scheme, Slot::Port].map(|slot| found.some(slot));
        Served { host, is_header: !self.chosen.is_host_found(), scheme, port }
            .origin(given, found.arena)
    }

    /// Returns a host whose address has brackets, as in a URL.
    fn with_brackets<'c>(&self, host: &'c [u8], arena: &'c Arena) -> &'c [u8] {
        let (address, port) = match memrchr(b':', host).filter(|_| self.has_port) {
            Some(colon) => host.split_at(colon),
            None => (host, &b""[..]),
        };
        match is_bare_address(address) {
            true => joined(&[b"[", address, b"]", port], arena),
            false => host,
        }
    }

    /// Returns the target that a line asks for.
    #[inline]
    fn target<'c>(&self, found: &FieldTexts<'c>) -> Result<&'c [u8], Problem> {
        if found.text(Slot::Method).is_some_and(|method| !is_method(method)) {
            return Err(Problem::NoRequest);
        }
        let undone = |text| found.undone(text);
        let target = if let Some(request) = found.text(Slot::Request) {
            // Where quotes are not escaped, one may end the request.
            let is_whole = self.escape != Escape::None || has_version(request);
            target(undone(request)).filter(|_| is_whole)
        } else {
            let text = found.text(Slot::Target).map(undone).filter(|text| is_target(text));
            // A URL has a path where the server could read the request.
            let has_path = |url: &[u8]| parts_of(url).is_some_and(|it| it.2.starts_with(b"/"));
            text.filter(|text| !self.chosen.is_url() || has_path(text))
        };
        let target = self.without_missing_query(target.ok_or(Problem::NoRequest)?);
        if self.targets.target_bytes.is_some_and(|bytes| target.len() >= bytes) {
            return Err(Problem::Cut);
        }
        let marked = found.text(Slot::MarkedQuery).map(undone);
        let query = marked.or_else(|| found.text(Slot::Query).map(undone));
        let is_missing = |query: &[u8]| query.is_empty() || query == b"-" && self.escape.has_dash();
        let query = query.filter(|query| !is_missing(query));
        let query = query.map(|query| match marked {
            Some(_) => query.strip_prefix(b"?").unwrap_or(query),
            None => query,
        });
        let target = query.map_or(target, |query| joined(&[target, b"?", query], found.arena));
        Ok(if self.targets.decoded { without_fragment(target, found.arena) } else { target })
    }

    /// Returns a target without what nginx writes for a query that is missing: `-`, after a `?` that
    /// stands in the format, or alone where `$is_args` has none. A `?` in a decoded path hides it.
    fn without_missing_query<'c>(&self, target: &'c [u8]) -> &'c [u8] {
        let missing = self.targets.missing_query;
        let path = target.strip_suffix(missing).filter(|path| memchr(b'?', path).is_none());
        path.unwrap_or(target)
    }

    /// Returns the URL that the server took a target to ask for: on the host that it found, or else on that of
    /// the target.
    #[inline]
    fn site_of<'c>(
        &self,
        target: &'c [u8],
        host: Option<&'c [u8]>,
        given: Option<&Given>,
        arena: &'c Arena,
    ) -> Result<Asked<'c>, Problem> {
        let Targets { without_query, query_is_cut, decoded, are_urls, .. } = self.targets;
        let doubts = Doubts::default()
            .with(Doubts::NO_QUERY, without_query || query_is_cut && target.ends_with(b"?"))
            .with(Doubts::DECODED, decoded);
        if target.starts_with(b"/") {
            return Ok((target, host, doubts));
        }
        // The server served it on the host that it found. A request without a header went to that of another
        // field.
        let is_other_host = host.is_none() && self.chosen.has_other_host;
        let decides = self.chosen.is_host_found() || is_other_host;
        let named = host.or(given.map(Given::as_bytes)).filter(|_| !are_urls);
        if named.is_none() && is_other_host {
            return Err(Problem::NoHost);
        }
        let named = named.map(|origin| Named { origin, decides });
        let (asked, other) = asked(target, named, arena)?;
        // A URL that is made of fields has the scheme that the server found.
        let is_whole = self.chosen.is_url() && other == Doubts::default();
        Ok((if is_whole { target } else { asked }, host, doubts.and(other)))
    }
}

/// Whether a line is one of a log in a known format.
pub(super) fn is_known(line: &[u8]) -> bool {
    // Most lists are none, and building the formats takes longer than this.
    memchr(b' ', line).is_some() && LogLine::find([line].into_iter(), Reads::default()).is_some()
}

/// Whether a line looks like one of a log, in whatever format: it has a method and a target after it. A line
/// that begins with them is a request alone.
pub(super) fn looks_like_log(line: &[u8]) -> bool {
    let is_between = |byte: &u8| b" \t\"'|;,=".contains(byte);
    let first = usize::from(!line.starts_with(b"\""));
    let mut words = line.split(is_between).filter(|word| !word.is_empty()).skip(first);
    words.any(|word| matches!(word, b"GET" | b"HEAD" | b"POST")) && words.any(is_target)
}
