//! Finds the values in a line of a W3C extended log, which IIS and CloudFront write.
//!
//! ```text
//! #Version: 1.0
//! #Fields: date time cs-method cs-uri-stem cs-uri-query s-port cs-host cs(User-Agent) sc-status
//! 2025-10-10 20:55:36 GET /a b=c 443 a.example ABot/1.0+(+https://b.example/) 200
//! ```
//!
//! `#Fields` names the fields of the lines after it; blanks or TABs separate them, and `-` is an empty
//! one.
//!
//! Only what the server wrote says how lines are read. If it writes the first field ([`OF_SERVERS`]), no client
//! begins a line, so lines with `#` are directives, and what follows the field separates all fields. If clients
//! fill the first field, all lines after the first `#Fields` are requests, and TABs separate fields if they
//! separate the names.
//!
//! The URL is the stem, with the query after `?`. Servers write `+` or `%20` for the blanks of
//! an agent, or quotes around it. A stem that is a URL is what the client sent, so the host of its line
//! decides, as in a table. A port completes the host that is given for all.
//!
//! A client may send quotes in a query. They are those of the server only if they stand around the stem too,
//! where no client can send one: a target begins with `/` or a scheme. One may send them in an agent too, in
//! which a server may write them as they are. So a line counts only if it has the fields of `#Fields` in one
//! way alone.
//!
//! Akamai writes the host into the path: a log with `cs-ip` has `cs-uri` as `/HOST/PATH`.
//!
//! A server that starts again repeats `#Fields`. If it names other fields then, the lines after it
//! would be read wrongly, so that line has [`Problem::OtherFields`], which ends a run.

use memchr::{memchr, memmem};

use super::host::{Given, Served, joined};
use super::noticed::Doubts;
use super::request::{Named, asked, is_target, without_fragment};
use super::short::first_of;
use super::values::{Values, at_places, without_percent};
use super::{Arena, Place, Problem};
use portcullis_captures::names::listed;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::BYTE_ORDER_MARK;

/// The words of a line with quotes. One with more counts as one with another number of fields.
const WORDS_MAX: usize = 4096;

/// The positions of the values among the fields of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct W3cLine {
    /// The names of the fields, with a blank after each.
    names: Vec<u8>,
    count: usize,
    /// The path or the whole URL, the query, the host, the scheme of the request, the port, the agent,
    /// the date, the time and the client. `None` if there is none, or it is not read.
    places: [Option<usize>; 9],
    /// Whether the path begins with the host.
    is_host_in_path: bool,
    /// Whether the path is a stem, which has no query.
    is_stem: bool,
    /// Whether the field of agents is that of Edgecast, which logs whole URLs as stems.
    is_of_edgecast: bool,
    /// Whether the server logs paths without their escapes.
    is_decoded: bool,
    /// Whether the names stand between TABs alone.
    has_tabs: bool,
    /// Whether lines begin with what the server wrote.
    begins_with_server: bool,
}

/// The first fields that no client fills, none of which has blanks. Some software writes a header as `c-ip`.
const OF_SERVERS: [&str; 9] = [
    "date",
    "time",
    "timestamp",
    "time-taken",
    "s-sitename",
    "s-computername",
    "s-ip",
    "sc-status",
    "x-edge-location",
];

/// Whether a text begins with the directives of a W3C extended log.
pub(super) fn is_w3c(text: &[u8]) -> bool {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    // The line of a request that begins so has a path in it.
    let is_head = |line| names_in(line).is_some_and(|names| memchr(b'/', names).is_none());
    lines.take_while(|line| line.starts_with(b"#")).any(is_head)
}

impl W3cLine {
    /// Returns the positions of the values that the directives in `head` give, and the end of the directives:
    /// what follows it are requests. The error says what is missing.
    pub(super) fn from_head(
        head: &[u8],
        [times, agents, clients]: [&Place; 3],
    ) -> Result<(W3cLine, usize), String> {
        let mut end = 0;
        let mut directives = head.split_inclusive(|&byte| byte == b'\n').filter_map(|line| {
            end += line.len();
            Some((names_in(line)?, end))
        });
        let Some((names, end)) = directives.next() else {
            return Err("a W3C extended log without a line `#Fields:`; write one first, or omit ‹input_format›".to_owned());
        };
        let all: Vec<String> = names_of(names)
            .map(|name| String::from_utf8_lossy(name).to_ascii_lowercase())
            .collect();
        let begins_with_server = all.first().is_some_and(|first| OF_SERVERS.contains(&&**first));
        if begins_with_server && directives.any(|(other, _)| !are_same(other, names)) {
            let problem = "lines `#Fields` before the first request name different fields; omit those of \
                           other requests";
            return Err(problem.to_owned());
        }
        let find = |wanted: &[&str]| {
            wanted.iter().find_map(|wanted| all.iter().position(|name| name == wanted))
        };
        let missing = |what: &str| {
            format!("a W3C extended log without {what}; its fields are {}", listed(all.iter()))
        };
        let stem = find(&["cs-uri-stem", "cs-uri"])
            .ok_or_else(|| missing("the field `cs-uri-stem` or `cs-uri`"))?;
        let agent = find(&["cs(user-agent)", "cs-user-agent", "c-user-agent"]);
        if agents.is_asked() && agent.is_none() {
            return Err(missing("the field `cs(User-Agent)`; name the agent with -a"));
        }
        let time = find(&["date"]).zip(find(&["time"]));
        if times.is_asked() && time.is_none() {
            return Err(missing("the fields `date` and `time`"));
        }
        let (date, time) = time.filter(|_| times.is_wanted()).unzip();
        let places = [
            Some(stem),
            find(&["cs-uri-query"]),
            find(&["x-host-header", "cs-host", "cs(host)"]),
            find(&["cs-protocol"]),
            find(&["s-port"]),
            agent.filter(|_| agents.is_wanted()),
            date,
            time,
            find(&["c-ip", "cs-ip"]).filter(|_| clients.is_wanted()),
        ];
        let [_, _, host, ..] = places;
        let is_host_in_path = all[stem] == "cs-uri" && host.is_none() && find(&["cs-ip"]).is_some();
        let count = all.len();
        let line = W3cLine {
            names: names_of(names).flat_map(|name| [name, &b" "[..]]).flatten().copied().collect(),
            count,
            places,
            is_host_in_path,
            is_stem: all[stem] == "cs-uri-stem",
            is_of_edgecast: find(&["c-user-agent"]).is_some(),
            is_decoded: head.split(|&byte| byte == b'\n').any(is_of_microsoft),
            has_tabs: memchr(b' ', names).is_none() && memchr(b'\t', names).is_some(),
            begins_with_server,
        };
        Ok((line, if begins_with_server { head.len() } else { end }))
    }

    /// Whether both have the same fields.
    pub(super) fn has_fields_of(&self, other: &W3cLine) -> bool {
        let fields = |line: &W3cLine| (line.names.clone(), line.places, line.has_tabs);
        fields(self) == fields(other)
    }

    /// Whether the lines have hosts.
    pub(super) fn has_host(&self) -> bool {
        let [_, _, host, ..] = self.places;
        host.is_some() || self.is_host_in_path
    }

    /// Whether the time and the client of a request are read.
    pub(super) fn visit_parts(&self) -> [bool; 2] {
        let [.., time, client] = self.places;
        [time, client].map(|place| place.is_some())
    }

    /// Returns how the lines are read, if `#Fields` alone does not say so.
    pub(super) fn note(&self) -> Option<String> {
        self.is_host_in_path.then(|| "`cs-uri` as /HOST/PATH, as Akamai writes it".to_owned())
    }

    /// Returns the values of a line. The URL may be a path alone. `given` is the host of lines that
    /// have none.
    pub(super) fn read<'c>(
        &self,
        text: &'c [u8],
        given: Option<&Given>,
        arena: &'c Arena,
    ) -> Values<'c> {
        let none = |problem| Values::from_url(Err(problem));
        match names_in(text) {
            _ if !self.begins_with_server => {}
            Some(names) if !are_same(names, &self.names) => return none(Problem::OtherFields),
            Some(_) => return none(Problem::NoUrl),
            None if text.starts_with(b"#") => return none(Problem::NoUrl),
            None => {}
        }
        let Some(found) = self.cut(text) else { return none(Problem::FieldCount) };
        let [stem, query, host, protocol, port, agent, date, time, client] =
            found.map(|field| field.filter(|field| *field != b"-"));
        let (host, stem) = match stem {
            Some(stem) if self.is_host_in_path => host_and_path(stem),
            stem => (host, stem),
        };
        let time = date.zip(time).map(|(date, time)| [date, b"T", time].concat());
        let time = time.and_then(|time| UnixSeconds::from_text(&time, None));
        let scheme = protocol.and_then(scheme_of);
        let served = Served { host, is_header: true, scheme, port };
        let origin = served.origin(given, arena);
        let named = origin.or(given.map(Given::as_bytes));
        let named = named.map(|origin| Named { origin, decides: host.is_some() });
        let target = stem.ok_or(Problem::NoRequest);
        let target = target.and_then(|stem| self.target(stem, query, arena));
        let asked = target.and_then(|(target, doubts)| {
            if !is_target(target) || target.starts_with(b"/") {
                return Ok((target, doubts));
            }
            let (url, other) = asked(target, named, arena)?;
            Ok((url, doubts.and(other)))
        });
        let (url, doubts) = match asked {
            Ok((url, doubts)) => (Ok(url), doubts),
            Err(problem) => (Err(problem), Doubts::default()),
        };
        let agent = agent.map(|agent| agent_of(agent, arena));
        Values { host: origin, time, agent, client, doubts, ..Values::from_url(url) }
    }

    /// Returns the fields that are read; `None` if the line has another number of fields.
    fn cut<'c>(&self, text: &'c [u8]) -> Option<[Option<&'c [u8]>; 9]> {
        let has_tab = |text: &[u8]| memchr(b'\t', text).is_some();
        let is_tabbed = self.is_tabbed(text);
        let (mut found, count) = if is_tabbed {
            at_places(text.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii), self.places)
        } else if !self.begins_with_server && has_tab(text) {
            return None;
        } else if memchr(b'"', text).is_some() {
            at_places(self.fields(text)?.into_iter(), self.places)
        } else {
            at_places(words(text), self.places)
        };
        let [stem, _, host, ..] = &found;
        if !is_tabbed && [stem, host].into_iter().flatten().any(|field| has_tab(field)) {
            return None;
        }
        let [stem, query, rest @ ..] = &mut found;
        if stem.is_some_and(|stem| stem.starts_with(b"\"")) {
            (*stem, *query) = (stem.map(without_quotes), query.map(without_quotes));
        }
        rest.iter_mut().for_each(|field| *field = field.map(without_quotes));
        (count == self.count).then_some(found)
    }

    /// Whether TABs separate the fields of a line.
    fn is_tabbed(&self, text: &[u8]) -> bool {
        let behind_first = || first_of([b' ', b'\t'], text).map(|place| text[place]);
        self.has_tabs || self.begins_with_server && behind_first() == Some(b'\t')
    }

    /// Returns the fields of a line with quotes, each a word that begins with no quote, or words from one quote
    /// to another. A query is any word. `None` if the line can be cut into as many fields in no way, or in two.
    fn fields<'c>(&self, text: &'c [u8]) -> Option<Vec<&'c [u8]>> {
        let [_, query, ..] = self.places;
        let words: Vec<&[u8]> = words(text).take(WORDS_MAX + 1).collect();
        let spare = words.len().checked_sub(self.count).filter(|_| words.len() <= WORDS_MAX)?;
        // By field and end, the number of ways so far, at most two, and the first word of the field in one.
        let mut all: Vec<Vec<(u8, usize)>> = Vec::with_capacity(self.count);
        for field in 0..self.count {
            let mut open = (0, 0);
            let end = |place: usize| {
                let ways = all.last().map_or(u8::from(place == 0), |before| before[place].0);
                let (word, own) = (words[field + place], (ways, field + place));
                if query == Some(field) || !word.starts_with(b"\"") {
                    let closed = word.ends_with(b"\"") && query != Some(field);
                    return either(own, if closed { open } else { (0, 0) });
                }
                let before = open;
                open = either(before, own);
                match word {
                    b"\"" => before,
                    _ if word.ends_with(b"\"") => open,
                    _ => (0, 0),
                }
            };
            let ends = (0..=spare).map(end).collect();
            all.push(ends);
        }
        let mut end = words.len();
        let place = |word: &[u8]| word.as_ptr().addr() - text.as_ptr().addr();
        let mut cut: Vec<&[u8]> = Vec::with_capacity(self.count);
        for (field, ends) in all.iter().enumerate().rev() {
            let (1, start) = ends[end - 1 - field] else { return None };
            let last = words[end - 1];
            cut.push(&text[place(words[start])..place(last) + last.len()]);
            end = start;
        }
        cut.reverse();
        Some(cut)
    }

    /// Returns the target that a stem and a query are, and what is in doubt.
    fn target<'c>(
        &self,
        stem: &'c [u8],
        query: Option<&'c [u8]>,
        arena: &'c Arena,
    ) -> Result<(&'c [u8], Doubts), Problem> {
        let [_, query_place, ..] = self.places;
        let mark = memchr(b'?', stem);
        let own = mark.filter(|_| !self.is_stem).map(|mark| &stem[mark + 1..]);
        let target = match (query, own) {
            (None, _) => stem,
            (Some(query), Some(b"")) => joined(&[stem, query], arena),
            (Some(query), Some(own)) if own == query => stem,
            (Some(_), Some(_)) => return Err(Problem::TwoQueries),
            (Some(query), None) => joined(&[stem, b"?", query], arena),
        };
        let text = without_fragment(target, arena);
        let has_sign = || text.len() > target.len() && memchr(b'#', stem).is_some();
        let is_whole = self.is_of_edgecast && !stem.starts_with(b"/");
        let has_no_query = self.is_stem && query_place.is_none() && mark.is_none();
        let doubts = Doubts::default()
            .with(Doubts::NO_QUERY, has_no_query && !is_whole)
            .with(Doubts::DECODED, self.is_decoded || has_sign());
        Ok((text, doubts))
    }
}

/// Returns the host and the path of `/HOST/PATH`.
fn host_and_path(stem: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let Some(text) = stem.strip_prefix(b"/") else { return (None, None) };
    let end = text.iter().position(|byte| b"/?".contains(byte)).unwrap_or(text.len());
    let (host, path) = text.split_at(end);
    (Some(host), Some(if path.is_empty() { b"/" } else { path }))
}

/// Returns the names of fields in a directive; `None` if it is another one. It may be written in any case, with
/// blanks, and after the mark at the start of a file that was appended.
fn names_in(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii_start();
    let directive = line.strip_prefix(b"#")?;
    let colon = memchr(b':', directive)?;
    let (name, names) = directive.split_at(colon);
    name.trim_ascii().eq_ignore_ascii_case(b"Fields").then(|| names[1..].trim_ascii())
}

/// Whether a directive names software of Microsoft, such as IIS, which logs stems without their escapes.
fn is_of_microsoft(line: &[u8]) -> bool {
    const SOFTWARE: &[u8] = b"#Software: Microsoft";
    line.get(..SOFTWARE.len()).is_some_and(|start| start.eq_ignore_ascii_case(SOFTWARE))
}

/// Returns the names of a directive.
fn names_of(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.split(|byte| b" \t\r".contains(byte)).filter(|name| !name.is_empty())
}

/// Whether two directives have the same names.
fn are_same(names: &[u8], others: &[u8]) -> bool {
    names_of(names).eq(names_of(others))
}

/// Returns the words of a line, each a field. A TAB is a part of what a client sent, or separates the fields of
/// another log.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| b" \r".contains(byte)).filter(|word| !word.is_empty())
}

/// Returns the ways of both, at most two, and the start of one.
fn either(one: (u8, usize), other: (u8, usize)) -> (u8, usize) {
    let start = if one.0 > 0 { one.1 } else { other.1 };
    ((one.0 + other.0).min(2), start)
}

/// Returns a field without the quotes around it.
fn without_quotes(field: &[u8]) -> &[u8] {
    let inside = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inside.unwrap_or(field)
}

/// Returns the scheme of a request by its protocol; `None` if it is another, or a version of HTTP.
fn scheme_of(protocol: &[u8]) -> Option<&'static [u8]> {
    let schemes: [(&str, &[u8]); 4] =
        [("http", b"http"), ("https", b"https"), ("ws", b"http"), ("wss", b"https")];
    let is = |name: &str| protocol.eq_ignore_ascii_case(name.as_bytes());
    schemes.iter().find(|(name, _)| is(name)).map(|(_, scheme)| *scheme)
}

/// Returns the agent as the client sent it.
fn agent_of<'c>(written: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    let has = |part: &[u8]| memmem::find(written, part).is_some();
    // CloudFront wrote `%2520` for a blank.
    if has(b"%2520") {
        arena.alloc_slice_copy(&without_percent(&without_percent(written)))
    } else if has(b"%20") {
        arena.alloc_slice_copy(&without_percent(written))
    } else if has(b"+") && !has(b" ") {
        let blanks = written.iter().map(|&byte| if byte == b'+' { b' ' } else { byte });
        arena.alloc_slice_copy(&blanks.collect::<Vec<u8>>())
    } else {
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host, the URL, the agent and the time of a line after `#Fields: FIELDS`.
    type Read = (Option<String>, Result<String, Problem>, Option<String>, Option<u64>);

    fn read(fields: &str, line: &str) -> Read {
        read_given(fields, line, None).0
    }

    fn read_given(fields: &str, line: &str, given: Option<&str>) -> (Read, Doubts) {
        let head = format!("#Software: a server\r\n#Fields: {fields}\r\n#Date: x\r\n");
        let arena = Arena::new();
        let place = |is_read: bool| if is_read { Place::Record } else { Place::Usual };
        let places =
            [place(fields.contains("date")), place(fields.contains("Agent")), Place::Usual];
        let all = W3cLine::from_head(head.as_bytes(), places.each_ref()).unwrap().0;
        let given = given.map(Given::new);
        let Values { url, time, agent, host, doubts, .. } =
            all.read(line.as_bytes(), given.as_ref(), &arena);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let read = (host.map(text), url.map(text), agent.map(text), time.map(|time| time.0));
        (read, doubts)
    }

    #[test]
    fn a_target_that_is_a_url_is_of_the_host_of_its_line() {
        let (other, same) = (Doubts::OTHER_HOST, Doubts::default());
        for (line, given, expected) in [
            ("http://b.example/x a.example", None, (Ok("/x"), other)),
            ("http://a.example/x a.example", None, (Ok("/x"), same)),
            ("http://b.example/x -", Some("a.example"), (Ok("http://b.example/x"), other)),
            ("http://a.example/x -", Some("a.example"), (Ok("/x"), same)),
            ("http://b.example/x -", None, (Ok("http://b.example/x"), same)),
            ("http://a.example@b.example/x a.example", None, (Err(Problem::NoRequest), same)),
            ("/x a.example", None, (Ok("/x"), same)),
        ] {
            let ((_, url, ..), doubts) = read_given("cs-uri cs-host", line, given);
            assert_eq!((url.as_deref().map_err(|it| *it), doubts), expected, "{line}");
        }
    }

    #[test]
    fn a_number_sign_in_a_path_begins_no_fragment() {
        for (line, expected) in [
            ("/a#x s=1 a.example", "/a%23x?s=1"),
            ("/a#x - a.example", "/a%23x"),
            ("/#a#?b s=1 a.example", "/%23a%23?b?s=1"),
            ("/a s=1#x a.example", "/a?s=1%23x"),
        ] {
            let url = read("cs-uri-stem cs-uri-query cs-host", line).1;
            assert_eq!(url.as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn a_port_and_a_protocol_complete_the_host_for_all() {
        let host = |fields: &str, line: &str, given| read_given(fields, line, Some(given)).0.0;
        for (line, expected) in [
            ("/h 80 http", Some("http://a.example")),
            ("/h 80 -", Some("http://a.example")),
            ("/h 443 HTTPS", Some("https://a.example")),
            ("/h 8080 http", Some("http://a.example:8080")),
            ("/h 8443 HTTP/1.1", Some("a.example:8443")),
            ("/h - wss", Some("https://a.example")),
            ("/h - -", None),
        ] {
            let found = host("cs-uri-stem s-port cs-protocol", line, "a.example");
            assert_eq!(found.as_deref(), expected, "{line}");
        }
        let fields = "cs-uri-stem s-port cs-host";
        assert_eq!(host(fields, "/h 80 -", "https://a.example"), None);
        assert_eq!(host(fields, "/h 80 -", "a.example:8080"), None);
        assert_eq!(host(fields, "/h 8080 b.example", "a.example").as_deref(), Some("b.example"));
        // The origin of a target is compared with the whole one.
        for (target, doubts) in [("http:", Doubts::default()), ("https:", Doubts::OTHER_HOST)] {
            let line = format!("{target}//a.example/h 80");
            let found = read_given("cs-uri s-port", &line, Some("a.example"));
            assert_eq!(found.1, doubts, "{line}");
        }
    }

    #[test]
    fn a_uri_has_one_query() {
        let url = |line: &str| read("cs-vid cs-uri cs-uri-query cs-host", line).1;
        for (line, expected) in [
            ("v /s q=1 a.example", Ok("/s?q=1")),
            ("v /s? q=1 a.example", Ok("/s?q=1")),
            ("v /s?q=1 q=1 a.example", Ok("/s?q=1")),
            ("v /s?q=1 - a.example", Ok("/s?q=1")),
            ("v /s?q=1 q=2 a.example", Err(Problem::TwoQueries)),
            ("v http://a.example/s q=1 a.example", Ok("/s?q=1")),
        ] {
            assert_eq!(url(line).as_deref().map_err(|it| *it), expected, "{line}");
        }
    }

    #[test]
    fn what_a_server_does_not_log_is_in_doubt() {
        let none = Doubts::default();
        for (fields, line, expected) in [
            ("cs-uri-stem cs-host", "/s a.example", Doubts::NO_QUERY),
            ("cs-uri-stem cs-host", "https://a.example/s a.example", Doubts::NO_QUERY),
            ("cs-uri-stem c-user-agent", "https://a.example/s Bot", none),
            ("cs-uri-stem c-user-agent", "/s Bot", Doubts::NO_QUERY),
            ("cs-uri-stem cs-host", "/s?q a.example", none),
            ("cs-uri-stem cs-uri-query", "/s -", none),
            ("cs-uri cs-host", "/s a.example", none),
            ("cs-uri-stem cs-uri-query", "/s#a -", Doubts::DECODED),
            ("cs-uri-stem cs-uri-query", "/s q#a", none),
            ("cs-uri-stem cs-host", "- a.example", none),
        ] {
            assert_eq!(read_given(fields, line, None).1, expected, "{fields}: {line}");
        }
        let head =
            b"#Software: Microsoft Internet Information Services 10.0\n#Fields: cs-uri-stem\n";
        let line = W3cLine::from_head(head, [&Place::Usual; 3]).unwrap().0;
        let found = line.read(b"/a+b", None, &Arena::new()).doubts;
        assert_eq!(found, Doubts::NO_QUERY.and(Doubts::DECODED));
    }

    #[test]
    fn quotes_are_of_the_client_unless_the_stem_has_them() {
        let fields = "cs-uri-stem cs-uri-query cs-host cs(User-Agent)";
        let parts = |fields: &str, line: &str| {
            let (host, url, agent, _) = read(fields, line);
            (url, host.unwrap_or_default(), agent.unwrap_or_default())
        };
        for (line, url, agent) in [
            (r#"/p "q=1" a.example A"#, r#"/p?"q=1""#, "A"),
            (r#"/p "q=1" a.example "A/1 b""#, r#"/p?"q=1""#, "A/1 b"),
            (r#"/p "q a.example A""#, r#"/p?"q"#, "A\""),
            (r#""/p" "q=1" "a.example" "A/1 b""#, "/p?q=1", "A/1 b"),
            (r#""/p" "-" "a.example" "A""#, "/p", "A"),
            (r#"/p "q" "a.example" "A""#, r#"/p?"q""#, "A"),
        ] {
            let expected = (Ok(url.to_owned()), "a.example".to_owned(), agent.to_owned());
            assert_eq!(parts(fields, line), expected, "{line}");
            let tabs = line.replace("A/1 b", "A/1_b").replace(' ', "\t").replace("A/1_b", "A/1 b");
            assert_eq!(parts(&fields.replace(' ', "\t"), &tabs), expected, "{tabs}");
        }
    }

    #[test]
    fn blanks_between_tabs_are_part_of_a_field() {
        let fields = "cs-uri-stem\tcs(User-Agent)\tcs-host";
        let agent = Some("A b.example".to_owned());
        let expected = (Some("a.example".to_owned()), Ok("/a".to_owned()), agent, None);
        assert_eq!(read(fields, "/a\tA b.example\ta.example\r"), expected);
        assert_eq!(read(fields, "/a\t\"A b.example\"\ta.example"), expected);
    }

    /// The bytes that the server wrote say what separates fields, so no client does.
    #[test]
    fn the_server_separates_fields() {
        const CLIENT: [&str; 3] = ["cs-uri-stem", "cs(User-Agent)", "cs-host"];
        const SERVER: [&str; 4] = ["time", "cs-uri-stem", "cs(User-Agent)", "cs-host"];
        let (own, none) = (Ok("a.example"), Err(Problem::FieldCount));
        for (fields, separator, line, expected) in [
            (&CLIENT[..], " ", "/a A a.example", own),
            (&CLIENT, " ", "/a \"A b.example\" a.example", own),
            (&CLIENT, " ", "/a\tA\ta.example", none),
            (&CLIENT, " ", "/a A\tx a.example", none),
            (&CLIENT, "\t", "/a\tA b.example x\ta.example", own),
            (&CLIENT, "\t", "/a A a.example", none),
            (&CLIENT, "\t", "/a\tA\tb.example\ta.example", none),
            (&SERVER, " ", "x /a A a.example", own),
            (&SERVER, " ", "x /a A\t/a\tb.example a.example", own),
            (&SERVER, " ", "x /a A\tb.example", none),
            (&SERVER, " ", "x\t/a\tA b.example x\ta.example", own),
            (&SERVER, " ", "x\t/a A b.example", none),
            (&SERVER, "\t", "x\t/a\tA b\ta.example", own),
            (&SERVER, "\t", "x /a A a.example", none),
        ] {
            let (host, url, ..) = read(&fields.join(separator), line);
            let found = url.as_ref().map(|_| host.as_deref().unwrap_or_default());
            assert_eq!(found.map_err(|it| *it), expected, "{fields:?}: {line}");
        }
    }

    /// Where clients fill the first field, a line after the names is a request, however it begins.
    #[test]
    fn a_client_writes_no_directive() {
        const SENT: &str = "#Fields:x a.example /p cs-host cs-uri-stem";
        let head = |fields: &str| format!("#Version: 1.0\n#Fields: {fields}\n");
        let (own, last) = (
            head("cs(User-Agent) cs-host cs-uri-stem cs-uri-query cs(Referer)"),
            head("time cs(User-Agent) cs-host cs-uri-stem"),
        );
        for (directives, end) in
            [(own.clone() + SENT, own.len()), (last.clone() + "#Date: x\n", last.len() + 9)]
        {
            let found = W3cLine::from_head(directives.as_bytes(), [&Place::Usual; 3]).unwrap();
            assert_eq!(found.1, end, "{directives}");
        }
        let fields = own.lines().last().unwrap().strip_prefix("#Fields: ").unwrap();
        let url = Ok("/p?cs-host".to_owned());
        let (host, agent) = ("a.example".to_owned(), "#Fields:x".to_owned());
        assert_eq!(read(fields, SENT), (Some(host), url, Some(agent), None));
        assert_eq!(read(fields, &format!("#Fields: {fields}")).1, Err(Problem::FieldCount));
        let restarted = last.clone() + "#Fields:  time  cs(User-Agent) cs-host\tcs-uri-stem \n";
        assert!(W3cLine::from_head(restarted.as_bytes(), [&Place::Usual; 3]).is_ok());
        let other = last + &own;
        let error = W3cLine::from_head(other.as_bytes(), [&Place::Usual; 3]).unwrap_err();
        assert!(error.contains("different fields"), "{error}");
        assert!(is_w3c(own.as_bytes()) && !is_w3c(SENT.as_bytes()));
    }

    /// A client chooses a query and an agent, and neither moves the host.
    #[test]
    fn a_line_is_cut_in_one_way_alone() {
        let last = "cs-uri-stem cs-uri-query cs(Referer) cs-host cs(User-Agent)";
        let middle = "cs-uri-stem cs-uri-query cs-host cs(User-Agent) cs(Referer)";
        let none = Err(Problem::FieldCount);
        for (fields, line, expected) in [
            (middle, r#"/p "q a.example "a"" b.example x" "-""#, Ok("a.example")),
            (last, r#"/p "q - a.example "a"" w b.example x""#, Ok("a.example")),
            (middle, r#"/p "q" a.example "Bot/1.0 (x)" "https://a.example/ x""#, Ok("a.example")),
            (middle, r#"/p q a.example "" """#, Ok("a.example")),
            (middle, r#"/p q a.example " a" "b ""#, Ok("a.example")),
            (middle, r#"/p q a.example "a \"b\" c" "-""#, Ok("a.example")),
            (middle, r#"/p q a.example "a ""b"" c" "-""#, Ok("a.example")),
            (middle, r#""/p" "q" "a.example" "a b" "-""#, Ok("a.example")),
            (last, r#"/p q "x" a.example "a" b.example "c d""#, none),
            (last, r#"/p q "x y b.example z"#, none),
            (last, r#"/p q "x b.example z"#, none),
            (middle, r#""/p q" a.example "a" "-""#, none),
        ] {
            let (host, url, ..) = read(fields, line);
            let found = url.map(|_| host.unwrap_or_default());
            assert_eq!(found.as_deref().map_err(|it| *it), expected, "{line}");
        }
        let many = format!("/p q a.example \"{}\" -", "x ".repeat(WORDS_MAX));
        assert_eq!(read(middle, &many).1, Err(Problem::FieldCount));
    }

    #[test]
    fn paths_hosts_agents_and_times() {
        let all = "date time cs-method cs-uri-stem cs-uri-query s-port cs-host cs(User-Agent)";
        let line = "2025-10-10 20:55:36 GET /a b=c 443 a.example ABot/1.0+(x;++https://b.example/)";
        let agent = Some("ABot/1.0 (x;  https://b.example/)".to_owned());
        let expected = (Some("a.example".into()), Ok("/a?b=c".into()), agent, Some(1_760_129_736));
        assert_eq!(read(all, line), expected);
        assert_eq!(read(all, &line.replace(' ', "\t")), expected);
        let host = |fields: &str, line: &str| read(fields, line).0;
        let fields = "cs-uri-stem cs-host s-port";
        assert_eq!(host(fields, "/ a.example 80").as_deref(), Some("http://a.example"));
        assert_eq!(host(fields, "/ a.example:8080 80").as_deref(), Some("a.example:8080"));
        assert_eq!(host(fields, "/ a.example 8443").as_deref(), Some("a.example"));
        assert_eq!(host(fields, "/ - 80"), None);
        let fields = "cs(Host) x-host-header cs-protocol cs-uri-stem";
        assert_eq!(host(fields, "c.example a.example http /").as_deref(), Some("http://a.example"));
        let url = |fields: &str, line: &str| read(fields, line).1;
        assert_eq!(url("cs-uri-query cs-uri-stem", "- /a"), Ok("/a".into()));
        assert_eq!(url("cs-uri cs-uri-query", "/a?b b"), Ok("/a?b".into()));
        assert_eq!(url("cs-uri-stem x", "/a \"one two\""), Ok("/a".into()));
        let agent = |written: &str| read("cs-uri-stem cs(User-Agent)", &format!("/ {written}")).2;
        for written in ["A/1%20(b%3B%20+c)", "A/1%2520(b%253B%2520+c)", "\"A/1 (b; +c)\""] {
            assert_eq!(agent(written).as_deref(), Some("A/1 (b; +c)"), "{written}");
        }
        assert_eq!(agent("100%+x%4"), Some("100% x%4".into()));
        let of_akamai = |line: &str| {
            let (host, url, ..) = read("cs-ip cs-uri", &format!("192.0.2.1 {line}"));
            (host, url)
        };
        let of = |host: &str, path: &str| (Some(host.to_owned()), Ok(path.to_owned()));
        assert_eq!(of_akamai("/a.example/x/y?b"), of("a.example", "/x/y?b"));
        assert_eq!(of_akamai("/a.example//b.example/"), of("a.example", "//b.example/"));
        assert_eq!(of_akamai("/a.example"), of("a.example", "/"));
        assert_eq!(of_akamai("//x"), of("", "/x"));
        assert_eq!(of_akamai("http://a.example/x"), (None, Err(Problem::NoRequest)));
        // Quotes in a field do not end it, so a client does not move the host.
        let fields = "cs-uri-stem cs(User-Agent) cs-host x";
        assert_eq!(
            host(fields, "/ \"A\"\"b.example\"\"1\"\" a.example z").as_deref(),
            Some("a.example")
        );
        assert_eq!(host(fields, "/ \"A\" b.example 1\" a.example z").as_deref(), Some("a.example"));
        assert_eq!(url(fields, "/ \"A\" b.example \" a.example z\""), Err(Problem::FieldCount));
        assert_eq!(agent("-"), None);
    }

    #[test]
    fn lines_without_a_url() {
        let fields = "time cs-uri-stem";
        for (line, problem) in [
            ("12:00 -", Problem::NoRequest),
            ("12:00", Problem::FieldCount),
            ("12:00 / /", Problem::FieldCount),
            ("#Date: 2025-10-10", Problem::NoUrl),
            ("#Fields:  time cs-uri-stem ", Problem::NoUrl),
            ("#Fields: cs-uri-stem time", Problem::OtherFields),
            ("#fields: cs-uri-stem time", Problem::OtherFields),
            (" #Fields : cs-uri-stem time", Problem::OtherFields),
            ("\u{feff}#Fields: cs-uri-stem time", Problem::OtherFields),
            ("# fields: time cs-uri-stem", Problem::NoUrl),
        ] {
            assert_eq!(read(fields, line).1, Err(problem), "{line}");
        }
        for (head, problem) in [
            ("#Version: 1.0\n", "without a line `#Fields:`"),
            (
                "#Fields: date x\n",
                "without the field `cs-uri-stem` or `cs-uri`; its fields are `date`, `x`",
            ),
            ("#Fields: cs-uri\n", "cs(User-Agent)"),
            ("#Fields: cs-uri cs(User-Agent) date\n", "the fields `date` and `time`"),
        ] {
            let error = W3cLine::from_head(head.as_bytes(), [&Place::Record; 3]).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
