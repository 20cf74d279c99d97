//! Builds a format of the tokens that declare it.

use super::cut::{Piece, Segment};
use super::escape::{Escape, Quoting};
use super::fields::{Extent, Form, LogField, Shape, Slot, What};
use super::servers::{Server, Shows, Targets};
use super::steps::Steps;
use super::syntax::{Parsed, Token, of_configuration, of_row};
use super::time::TimeForm;
use super::{Format, LogFormat};
use std::sync::Arc;

impl LogFormat {
    pub(super) fn of_configuration(text: &str) -> Result<LogFormat, String> {
        let parsed = of_configuration(text)?;
        let format = Format::new(None, text, parsed, Targets::default(), Shows::Nothing)?;
        Ok(LogFormat(Arc::new(format)))
    }

    pub(super) fn of_server(server: &Server) -> LogFormat {
        let Server { name, format, escape, quoting, targets, shows, .. } = *server;
        let parsed = Parsed { tokens: of_row(format), escape, quoting };
        let built = Format::new(Some(name), format, parsed, targets, shows);
        LogFormat(Arc::new(built.unwrap_or_else(|problem| panic!("{name}: {problem}"))))
    }
}

impl Format {
    fn new(
        name: Option<&'static str>,
        text: &str,
        Parsed { tokens, escape, quoting }: Parsed,
        targets: Targets,
        shows: Shows,
    ) -> Result<Format, String> {
        let Merged { tokens, has_port, missing_query } = merged(tokens);
        let (mut segments, has_tail) = cut_at_quotes(tokens, escape)?;
        let chosen = Chosen::of(&segments);
        let Some(target) = chosen.target else {
            return Err("it has no request; it needs one field such as %r or $request".to_owned());
        };
        for segment in &mut segments {
            segment.pieces.iter_mut().for_each(|piece| piece.slot = chosen.slot(piece));
        }
        if let Some(piece) = segments.iter().find_map(Segment::unreadable) {
            return Err(format!(
                "the {} stands between texts that a client sends, so its ends are not known; put it in quotes, or \
                 separate it by TAB",
                noun(piece.field.what)
            ));
        }
        let (decoded, without_query) = match target {
            What::Target(form) | What::Url(form) => (form == Form::Decoded, false),
            What::Path(form) => (form == Form::Decoded, !chosen.has_query),
            _ => (false, false),
        };
        let is_joined = matches!(target, What::Target(Form::Decoded) | What::Url(Form::Decoded));
        let targets = Targets {
            decoded: targets.decoded || decoded,
            without_query: targets.without_query || without_query,
            missing_query: if is_joined && escape.has_dash() { missing_query } else { b"" },
            ..targets
        };
        let (outside, inside): (Vec<_>, Vec<_>) =
            segments.into_iter().enumerate().partition(|(at, _)| at.is_multiple_of(2));
        let [outside, inside] =
            [outside, inside].map(|all| all.into_iter().map(|(_, it)| it).collect::<Vec<_>>());
        // A quote that a client sends could end a text, if it stood elsewhere than in the last ones.
        assert!(quoting != Quoting::Raw || !outside.iter().any(Segment::has_run), "{name:?}");
        let between_last = match &outside[..] {
            [.., between, _] if between.pieces.is_empty() => [b"\"", &*between.end, b"\""].concat(),
            _ => Vec::new(),
        };
        let has_escapes_outside = escape == Escape::Hash || outside.iter().any(Segment::is_read);
        let changes_targets = targets.query_is_cut || targets.target_bytes.is_some();
        let has_rare = match escape {
            // Quotes that a client sends may be in a tail.
            Escape::None => has_tail,
            _ => has_escapes_outside,
        };
        let is_simple = !(quoting.is_raw() || has_rare || targets.are_urls || changes_targets);
        let steps = if is_simple { Steps::of(&outside, &inside, has_tail) } else { None };
        Ok(Format {
            name,
            text: text.to_owned(),
            steps,
            outside,
            inside,
            has_tail,
            has_escapes_outside,
            escape,
            quoting,
            between_last,
            targets,
            shows,
            has_port,
            chosen,
        })
    }
}

fn noun(what: What) -> &'static str {
    match what {
        What::Host(_) => "host",
        What::Agent => "agent",
        What::Time(_) => "time",
        _ => "request",
    }
}

/// The fields that are read, of those that mean the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The rank of the host.
    pub host: Option<u8>,
    /// Whether there is also a host of a lower rank that the server found.
    pub has_other_host: bool,
    target: Option<What>,
    pub time: Option<TimeForm>,
    pub has_agent: bool,
    /// The rank of the client.
    pub client: Option<u8>,
    has_query: bool,
}

impl Chosen {
    fn of(segments: &[Segment]) -> Chosen {
        let all = || segments.iter().flat_map(|segment| &segment.pieces).map(|it| it.field.what);
        let host = |what| if let What::Host(rank) = what { Some(rank) } else { None };
        let client = |what| if let What::Client(rank) = what { Some(rank) } else { None };
        let time = |what| if let What::Time(form) = what { Some(form) } else { None };
        // The text that the client sent says more than the URL made of it.
        let rank = |what: &What| match what {
            What::Request => 5,
            What::Url(Form::Sent) => 4,
            What::Target(Form::Sent) => 3,
            What::Url(Form::Decoded) => 2,
            What::Target(Form::Decoded) => 1,
            What::Path(_) => 0,
            _ => -1,
        };
        let best_host = all().filter_map(host).max();
        let is_other = |rank| rank % 2 == 1 && Some(rank) != best_host;
        Chosen {
            host: best_host,
            has_other_host: all().filter_map(host).any(is_other),
            target: all().filter(|what| rank(what) >= 0).max_by_key(rank),
            time: all().find_map(time),
            has_agent: all().any(|what| what == What::Agent),
            client: all().filter_map(client).max(),
            has_query: all().any(|what| matches!(what, What::Query | What::MarkedQuery)),
        }
    }

    /// Whether the host is the one that the server found, and not a header.
    pub fn is_host_found(&self) -> bool {
        self.host.is_some_and(|rank| rank % 2 == 1)
    }

    /// Whether the target is a URL that is made of several fields.
    pub fn is_url(&self) -> bool {
        matches!(self.target, Some(What::Url(_)))
    }

    /// Returns where the text of a field is kept.
    fn slot(&self, piece: &Piece) -> Option<usize> {
        let what = piece.field.what;
        let is_target = Some(what) == self.target;
        let is_whole = matches!(self.target, Some(What::Request | What::Url(_)));
        let slot = match what {
            What::Scheme => Slot::Scheme,
            What::Host(rank) if Some(rank) == self.host => Slot::Host,
            What::Port => Slot::Port,
            What::Method if !is_whole => Slot::Method,
            What::Request if is_target => Slot::Request,
            What::Target(_) | What::Path(_) | What::Url(_) if is_target => Slot::Target,
            What::Query if matches!(self.target, Some(What::Path(_))) => Slot::Query,
            What::MarkedQuery if matches!(self.target, Some(What::Path(_))) => Slot::MarkedQuery,
            What::Agent => Slot::Agent,
            What::Client(rank) if Some(rank) == self.client => Slot::Client,
            What::Time(form) if Some(form) == self.time => Slot::Time,
            _ => return None,
        };
        Some(slot as usize)
    }
}

/// Tokens whose fields are whole.
struct Merged {
    tokens: Vec<Token>,
    /// Whether a port was joined to a host.
    has_port: bool,
    /// The end of a path that nginx joined to a query that is missing.
    missing_query: &'static [u8],
}

/// Joins fields that are one: a host and its port, a path and its query, what makes a URL.
fn merged(tokens: Vec<Token>) -> Merged {
    let what =
        |token: &Token| if let Token::Field(field) = token { Some(field.what) } else { None };
    let is = |token: &Token, wanted: What| what(token) == Some(wanted);
    let is_host = |token: &Token| matches!(what(token), Some(What::Host(_)));
    let is_text = |token: &Token, text: &[u8]| matches!(token, Token::Text(it) if it == text);
    let is_mark = |token: &Token| is(token, What::QueryMark) || is_text(token, b"?");
    let with_query = |path: &Token| match what(path) {
        Some(What::Path(form)) => Some(LogField::of_client(What::Target(form))),
        _ => None,
    };
    let with_site = |target: &Token| match what(target) {
        Some(What::Target(form)) => Some(LogField::of_client(What::Url(form))),
        _ => None,
    };
    let mut found: Vec<Token> = Vec::new();
    let (mut has_port, mut missing_query): (_, &[u8]) = (false, b"");
    for token in tokens {
        found.push(token);
        loop {
            let (count, joined) = match &found[..] {
                [.., path, mark, query] if is_mark(mark) && is(query, What::Query) => {
                    missing_query = if is_text(mark, b"?") { b"?-" } else { b"-" };
                    (3, with_query(path))
                }
                [.., path, query] if is(query, What::MarkedQuery) => (2, with_query(path)),
                [.., Token::Field(time), dot, fraction]
                    if is_text(dot, b".") && is(fraction, What::Fraction) =>
                {
                    (3, Some(*time))
                }
                [.., Token::Field(host), colon, port]
                    if matches!(host.what, What::Host(_))
                        && is_text(colon, b":")
                        && is(port, What::Port) =>
                {
                    has_port = true;
                    (3, Some(*host))
                }
                [.., scheme, colon, host, target]
                    if is(scheme, What::Scheme) && is_text(colon, b"://") && is_host(host) =>
                {
                    (4, with_site(target))
                }
                _ => break,
            };
            let Some(field) = joined else { break };
            found.truncate(found.len() - count);
            found.push(Token::Field(field));
        }
    }
    Merged { tokens: found, has_port, missing_query }
}

/// Returns the texts outside and inside of quotes, in turn, and whether a line may go on after them.
fn cut_at_quotes(tokens: Vec<Token>, escape: Escape) -> Result<(Vec<Segment>, bool), String> {
    let mut segments = vec![Segment::default()];
    let mut has_tail = false;
    for token in tokens {
        match token {
            Token::Text(text) => {
                for (number, part) in text.split(|byte| *byte == b'"').enumerate() {
                    if number > 0 {
                        segments.push(Segment::default());
                    }
                    segments.last_mut().expect("there is one").end.extend(part);
                }
            }
            Token::Field(field) => {
                let segment = segments.last_mut().expect("there is one");
                let before = std::mem::take(&mut segment.end);
                if before.is_empty() && !segment.pieces.is_empty() {
                    return Err(
                        "two fields stand together; put a blank or a quote between them".to_owned()
                    );
                }
                segment.pieces.push(Piece { before, field, slot: None });
            }
            Token::Tail => has_tail = true,
        }
    }
    if segments.len().is_multiple_of(2) {
        return Err("a quote is not closed".to_owned());
    }
    if let Some(last) = segments.last_mut().filter(|_| !has_tail) {
        last.end.truncate(last.end.trim_ascii_end().len());
    }
    let has_tabs = !matches!(escape, Escape::None | Escape::Quote | Escape::Hash);
    let segments = segments.into_iter().map(|segment| {
        let segment = if has_tabs { with_tabs(segment) } else { segment };
        segment.with_run()
    });
    Ok((segments.collect(), has_tail))
}

/// Ends fields at the TAB after them: servers escape it inside.
fn with_tabs(mut segment: Segment) -> Segment {
    let count = segment.pieces.len();
    for at in 0..count {
        let behind = segment.pieces.get(at + 1).map_or(&segment.end, |next| &next.before);
        if behind.starts_with(b"\t") {
            let field = &mut segment.pieces[at].field;
            *field = LogField { extent: Extent::Until, shape: Shape::Any, ..*field };
        }
    }
    segment
}
