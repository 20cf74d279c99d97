//! The fields of log formats, as data: what each is, who wrote it, and what it may look like.
//!
//! There are three vocabularies: the directives of Apache's `LogFormat`, the variables of nginx's `log_format`,
//! and the names with which [`servers`](super::servers) describes the formats of other programs. A field that a
//! client fills ([`Extent::Free`]) may hold anything, so its end is never sought inside it.

use super::time::TimeForm;
use super::words;

/// The content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Scheme,
    /// The host of the request. The field with the highest rank counts. An odd rank is of a host that the
    /// server found before it wrote the line, an even one of a header alone.
    Host(u8),
    Port,
    Method,
    /// `METHOD target protocol`.
    Request,
    /// A path with its query, or a URL.
    Target(Form),
    /// A path without its query.
    Path(Form),
    /// The query after the `?` that follows a path.
    Query,
    /// The same with the `?`.
    MarkedQuery,
    /// The separator between a path and its query: `?` or nothing.
    QueryMark,
    /// A URL that is made of scheme, host and target.
    Url(Form),
    Agent,
    /// The client that sent the request. The field with the highest rank counts.
    Client(u8),
    Time(TimeForm),
    /// A fraction of a second after a time.
    Fraction,
    /// A part that is not read.
    Other,
}

/// Whether a target is as the client sent it, or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Sent,
    Decoded,
}

/// Where the text of a field ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// After so many words between blanks.
    Words(u8),
    /// Before what follows it in the format, which the server escapes inside it.
    Until,
    /// Behind words that are joined by commas or colons, as nginx writes the upstream servers.
    Chain,
    /// A client may have written anything.
    Free,
}

/// How the text of a field looks in lines that a format fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    /// An address or a name, perhaps with a port.
    Client,
    /// Likewise, or `-`.
    ClientOrNone,
    /// An address.
    Address,
    /// A host, or `-`.
    Host,
    /// A host that cannot be another word: it has a dot or a colon, or is empty.
    FullHost,
    /// The name of a user, which is no other field and a name.
    User,
    /// Three digits, or none.
    Status,
    /// Digits, a point, a sign.
    Number,
    Scheme,
    /// A word of letters.
    Method,
    /// The result of a request in a cache: `TCP_MISS/200`, `TCP_MISS:HIER_DIRECT`.
    Cache,
}

/// The values of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Scheme,
    Host,
    Port,
    Method,
    Request,
    Target,
    Query,
    MarkedQuery,
    Agent,
    Time,
    Client,
}

impl Slot {
    pub const COUNT: usize = Slot::Client as usize + 1;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogField {
    pub what: What,
    pub extent: Extent,
    pub shape: Shape,
}

impl LogField {
    const fn new(what: What, extent: Extent, shape: Shape) -> LogField {
        LogField { what, extent, shape }
    }

    /// Returns a field that a client fills.
    pub const fn of_client(what: What) -> LogField {
        LogField::new(what, Extent::Free, Shape::Any)
    }

    /// Returns a word that the server writes.
    pub const fn word(what: What, shape: Shape) -> LogField {
        LogField::new(what, Extent::Words(1), shape)
    }

    /// Returns a time.
    pub const fn time(form: TimeForm) -> LogField {
        LogField::new(What::Time(form), Extent::Words(form.words()), Shape::Any)
    }

    /// Whether a text is one that the server writes here.
    pub(super) fn is_shaped(&self, text: &[u8]) -> bool {
        let all = |is: fn(&u8) -> bool| !text.is_empty() && text.iter().all(is);
        let is_number = |byte: &u8| byte.is_ascii_digit() || b".-".contains(byte);
        match self.shape {
            Shape::Any => match self.what {
                What::Time(form) => form.read(text).is_some(),
                _ => true,
            },
            Shape::Client => words::is_address(text) || words::is_name(text),
            Shape::ClientOrNone => text == b"-" || words::is_address(text) || words::is_name(text),
            Shape::Address => words::is_address(text),
            Shape::Host => text == b"-" || words::is_host_name(text),
            Shape::FullHost => {
                let is_full = text.iter().any(|byte| b".:".contains(byte));
                text.is_empty() || is_full && words::is_host_name(text)
            }
            Shape::User => !text.starts_with(b"- ") && !text.is_empty(),
            Shape::Status => {
                matches!(text, b"-" | b"-1") || text.len() == 3 && all(u8::is_ascii_digit)
            }
            Shape::Number => all(is_number),
            Shape::Scheme => matches!(text, b"http" | b"https"),
            Shape::Method => all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(byte)),
            Shape::Cache => {
                let end = text.iter().position(|byte| b"/:".contains(byte)).unwrap_or(0);
                let is_code = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
                end > 0 && text[..end].iter().all(is_code)
            }
        }
    }
}

const OTHER: LogField = LogField::word(What::Other, Shape::Any);
const NUMBER: LogField = LogField::word(What::Other, Shape::Number);
const CLIENT: LogField = LogField::word(What::Client(0), Shape::Client);
/// The client before a proxy, whose address the other fields have then.
const PROXIED_CLIENT: LogField = LogField::word(What::Client(1), Shape::Client);
/// The proxy before the server.
const PEER: LogField = LogField::word(What::Other, Shape::Client);
const STATUS: LogField = LogField::word(What::Other, Shape::Status);
const TEXT: LogField = LogField::of_client(What::Other);
const CHAIN: LogField = LogField::new(What::Other, Extent::Chain, Shape::Any);
const SCHEME: LogField = LogField::word(What::Scheme, Shape::Scheme);
const PORT: LogField = LogField::word(What::Port, Shape::Any);
const METHOD: LogField = LogField::word(What::Method, Shape::Method);
const REQUEST: LogField = LogField::of_client(What::Request);
const TARGET: LogField = LogField::of_client(What::Target(Form::Sent));
const PATH: LogField = LogField::of_client(What::Path(Form::Decoded));
const QUERY: LogField = LogField::of_client(What::Query);
const MARKED_QUERY: LogField = LogField::of_client(What::MarkedQuery);
const AGENT: LogField = LogField::of_client(What::Agent);
const SERVED_HOST: LogField = LogField::word(What::Host(5), Shape::Host);
/// Apache puts the host of an absolute target that it serves for into the header.
const APACHE_HOST: LogField = LogField::of_client(What::Host(3));
const SENT_HOST: LogField = LogField::of_client(What::Host(2));
const SITE: LogField = LogField::word(What::Host(1), Shape::Host);
const FORWARDED_HOST: LogField = LogField::of_client(What::Host(0));

/// Returns the field of a directive of Apache: its letter, and the text in braces.
pub(super) fn of_apache(letter: u8, name: Option<&str>) -> Option<LogField> {
    let header = name.map(str::to_ascii_lowercase);
    Some(match (letter, header.as_deref()) {
        (b'a', Some("c")) => PEER,
        (b'a' | b'h', _) => CLIENT,
        _ if b"AkLPRXDTBbIOSH".contains(&letter) => OTHER,
        (b's', _) => STATUS,
        (b'l' | b'u' | b'f', _) => TEXT,
        (b'm', _) => METHOD,
        (b'p', Some("remote")) => OTHER,
        (b'p', _) => PORT,
        (b'r', _) => REQUEST,
        (b'U', _) => PATH,
        (b'q', _) => MARKED_QUERY,
        (b'V', _) => SERVED_HOST,
        (b'v', _) => SITE,
        (b't', None) => LogField::time(TimeForm::Clf),
        (b't', Some(_)) => time_of_apache(name?),
        (b'i', Some("host")) => APACHE_HOST,
        (b'i', Some("x-forwarded-host")) => FORWARDED_HOST,
        (b'i', Some("user-agent")) => AGENT,
        (b'i' | b'o' | b'C' | b'e' | b'n' | b'x' | b'c', Some(_)) => TEXT,
        _ => return None,
    })
}

/// Returns the field of the time with a name or a form of strftime.
fn time_of_apache(name: &str) -> LogField {
    let form = name.strip_prefix("begin:").or(name.strip_prefix("end:")).unwrap_or(name);
    match form {
        "sec" => LogField::time(TimeForm::Epoch),
        "msec" => LogField::time(TimeForm::Milliseconds),
        "usec" => LogField::time(TimeForm::Microseconds),
        "msec_frac" | "usec_frac" => LogField::word(What::Fraction, Shape::Number),
        "%d/%b/%Y:%H:%M:%S %z" | "%d/%b/%Y:%T %z" => LogField::time(TimeForm::Clf),
        "%Y-%m-%dT%H:%M:%S%z" | "%FT%T%z" | "%Y-%m-%dT%H:%M:%SZ" | "%FT%TZ" => {
            LogField::time(TimeForm::Iso)
        }
        "%Y-%m-%d %H:%M:%S" | "%F %T" => LogField::time(TimeForm::IsoInWords(2)),
        "%Y-%m-%d %H:%M:%S %z" | "%F %T %z" => LogField::time(TimeForm::IsoInWords(3)),
        // The form is not read, but the server wrote it.
        other => {
            let blanks = other.bytes().filter(|byte| *byte == b' ').count() as u8;
            LogField::new(What::Other, Extent::Words(1 + blanks), Shape::Any)
        }
    }
}

/// The variables of nginx that are words which the server writes, and those with a word for each upstream
/// server.
const WORDS_OF_NGINX: &str = "server_protocol remote_port server_addr body_bytes_sent bytes_sent request_length \
     request_time request_id connection connection_requests connection_time pipe pid hostname \
     nginx_version gzip_ratio https ssl_protocol ssl_cipher ssl_session_reused proxy_host \
     proxy_port proxy_upstream_name http2 http3 tcpinfo_rtt";
const CHAINS_OF_NGINX: &str = "upstream_addr upstream_status upstream_response_time upstream_response_length \
     upstream_connect_time upstream_header_time upstream_bytes_received upstream_bytes_sent \
     upstream_cache_status";

/// Returns the field of a variable of nginx. One that the configuration of a site defines may hold what a
/// client sent.
pub(super) fn of_nginx(name: &str) -> LogField {
    match name {
        "remote_addr" => CLIENT,
        "proxy_protocol_addr" => PROXIED_CLIENT,
        "realip_remote_addr" => PEER,
        "time_local" => LogField::time(TimeForm::Clf),
        "time_iso8601" => LogField::time(TimeForm::Iso),
        "msec" => LogField::time(TimeForm::Epoch),
        "host" => SERVED_HOST,
        "server_name" => SITE,
        "http_host" => SENT_HOST,
        "http_x_forwarded_host" => FORWARDED_HOST,
        "server_port" => PORT,
        "scheme" => SCHEME,
        "request_method" => METHOD,
        "request" => REQUEST,
        "request_uri" => TARGET,
        "uri" | "document_uri" => PATH,
        "args" | "query_string" => QUERY,
        "is_args" => LogField::word(What::QueryMark, Shape::Any),
        "http_user_agent" => AGENT,
        "status" => STATUS,
        _ if WORDS_OF_NGINX.split(' ').any(|it| it == name) => OTHER,
        _ if CHAINS_OF_NGINX.split(' ').any(|it| it == name) => CHAIN,
        _ => TEXT,
    }
}

/// Returns the field with a name of [`servers`](super::servers). With `!` after it, the server escapes what
/// follows it in the format.
pub(super) fn of_table(name: &str) -> Option<LogField> {
    if let Some(name) = name.strip_suffix('!') {
        return Some(LogField { extent: Extent::Until, ..of_table(name)? });
    }
    Some(match name {
        "client" => CLIENT,
        "client-or-none" => LogField::word(What::Client(0), Shape::ClientOrNone),
        "address" => LogField::word(What::Client(0), Shape::Address),
        "user" => LogField::new(What::Other, Extent::Free, Shape::User),
        "clf" => LogField::time(TimeForm::Clf),
        "clf-without-zone" => LogField::time(TimeForm::ClfWithoutZone),
        "iso" => LogField::time(TimeForm::Iso),
        "iso-in-words" => LogField::time(TimeForm::IsoInWords(3)),
        "epoch" => LogField::time(TimeForm::Epoch),
        "host" => SERVED_HOST,
        "full-host" => LogField::word(What::Host(2), Shape::FullHost),
        "sent-host" => SENT_HOST,
        "scheme" => SCHEME,
        "method" => METHOD,
        "request" => REQUEST,
        "target" => TARGET,
        "target-word" => LogField::word(What::Target(Form::Sent), Shape::Any),
        "agent" => AGENT,
        "status" => STATUS,
        "number" => NUMBER,
        "cache" => LogField::word(What::Other, Shape::Cache),
        "word" => OTHER,
        "chain" => CHAIN,
        "text" => TEXT,
        _ => return None,
    })
}
