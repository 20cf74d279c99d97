//! The formats that servers write by default, as data.
//!
//! A row has the name for `--log-format`, the format in the names of [`fields`](super::fields), and the
//! changes that the server makes to a request before it logs it.
//! Without a declaration, the first row is used that fits all requests at the start of a log. So the
//! order matters where two rows fit the same lines, and no two rows may find different values in one
//! line: a test compares all pairs.

use super::escape::{Escape, Quoting};

/// A format that is known by its name.
#[derive(Debug)]
pub(super) struct Server {
    pub name: &'static str,
    pub format: &'static str,
    pub escape: Escape,
    pub quoting: Quoting,
    pub targets: Targets,
    /// The evidence that some line must show, besides the shape of all lines.
    pub shows: Shows,
}

/// The changes that a server makes to the target of a request before it logs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Targets {
    /// Whether queries are not logged.
    pub without_query: bool,
    /// Whether the text after `?` is not logged, and the `?` is.
    pub query_is_cut: bool,
    /// Whether escapes are decoded.
    pub decoded: bool,
    /// The end of a target whose query is missing.
    pub missing_query: &'static [u8],
    /// Whether targets are whole URLs, as in the log of a proxy.
    pub are_urls: bool,
    /// The most bytes of a line, after which it has no end.
    pub line_bytes: Option<usize>,
    /// The most bytes of a target.
    pub target_bytes: Option<usize>,
}

/// The evidence that at least one line must show before a format is taken without a declaration, because a
/// client might have sent all lines that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Nothing,
    /// The format is taken by its name alone: other rows read the same lines, and escape otherwise.
    ItsName,
    /// A host that is a name, and no address: the client's own address is no sign.
    NamedHost,
    /// Likewise, in most lines: one that a few have may be the text of their clients.
    NamedHosts,
    /// A last text that is not the name of a host: one that all lines have would be the host of their requests.
    OtherThanHosts,
}

const SENT: Targets = Targets {
    without_query: false,
    query_is_cut: false,
    decoded: false,
    missing_query: b"",
    are_urls: false,
    line_bytes: None,
    target_bytes: None,
};
const CUT_QUERIES: Targets = Targets { query_is_cut: true, are_urls: true, ..SENT };
const CUT_LINES: Targets = Targets { line_bytes: Some(1_023), ..SENT };
const DECODED_PATHS: Targets = Targets { without_query: true, decoded: true, ..SENT };

/// A kind of server, whose rows have a name and a format. This one escapes quotes by backslashes.
const USUAL: Server = Server {
    name: "",
    format: "",
    escape: Escape::Backslash,
    quoting: Quoting::Backslash,
    targets: SENT,
    shows: Shows::Nothing,
};
const WITH_HOSTS: Server = Server { shows: Shows::NamedHost, ..USUAL };
/// Writes no quote inside quotes.
const PLAIN: Server = Server { quoting: Quoting::Plain, ..USUAL };
const HEX: Server = Server { escape: Escape::Hex, ..PLAIN };
const HAPROXY: Server = Server { escape: Escape::Hash, targets: CUT_LINES, ..PLAIN };
/// Writes what came, also quotes.
const UNESCAPED: Server = Server { escape: Escape::None, ..PLAIN };
/// Writes what came. Its last one or two texts may have quotes, and no field outside of quotes.
const RAW: Server = Server { escape: Escape::None, quoting: Quoting::Raw, ..USUAL };
const SQUID: Server = Server { targets: CUT_QUERIES, ..RAW };
const PYTHON: Server = Server { targets: DECODED_PATHS, ..RAW };

impl Server {
    const fn row(self, name: &'static str, format: &'static str) -> Server {
        Server { name, format, ..self }
    }

    /// Returns a row that is taken by its name alone.
    const fn named(self) -> Server {
        Server { shows: Shows::ItsName, ..self }
    }
}

const COMMON: &str = r#"<client-or-none> - <user> [<clf>] "<request>" <status> <number>"#;
const COMBINED: &str =
    r#"<client-or-none> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#;
const HOST_BEHIND: &str =
    r#"<address> <host> <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#;

/// The formats, in the order in which they are tried, each below its source: the program and its version, or the page
/// that describes it.
#[rustfmt::skip]
pub(super) const SERVERS: &[Server] = &[
    // Apache 2.4.71, nginx 1.22.1
    USUAL.row("combined", COMBINED),
    // Apache 2.4.71, docs/current/mod/mod_log_config.html
    USUAL.row("common", COMMON),
    // Apache 2.4.71, Debian's apache2.conf: %v:%p first
    WITH_HOSTS.row("vhost-combined", r#"<host> <client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#),
    // Apache 2.4.71, docs/current/mod/mod_log_config.html
    WITH_HOSTS.row("vhost-common", r#"<host> <client> - <user> [<clf>] "<request>" <status> <number>"#),
    // nginx.conf of the packages of nginx.org, 1.22
    Server { shows: Shows::OtherThanHosts, ..PLAIN }.row("nginx-main", r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" "<text>""#),
    // Nginx Proxy Manager 2.11, log_format proxy
    PLAIN.row("nginx-proxy-manager", r#"[<clf>] <chain> <chain> <status> - <method> <scheme> <host> "<target>" [Client <client!>] [Length <number!>] [Gzip <word!>] [Sent-to <word!>] "<agent>" "<text>""#),
    // Nginx Proxy Manager 2.11, log_format standard
    PLAIN.row("nginx-proxy-manager-standard", r#"[<clf>] <status> - <method> <scheme> <host> "<target>" [Client <client!>] [Length <number!>] [Gzip <word!>] "<agent>" "<text>""#),
    // ingress-nginx 1.11, log-format-upstream
    PLAIN.row("ingress-nginx", r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <number> <number> [<word!>] [<word!>] <chain> <chain> <chain> <chain> <word>"#),
    // HAProxy 2.6.12, option httplog
    HAPROXY.row("haproxy", r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> "<request>""#),
    // HAProxy 2.6.12, option httplog, capture request header Host
    HAPROXY.row("haproxy-host", r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> {<full-host!>} "<request>""#),
    // HAProxy 2.6.12, option httplog, capture request header Host, then User-Agent
    HAPROXY.row("haproxy-host-agent", r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> {<full-host!>|<agent!>} "<request>""#),
    // Envoy 1.31, configuration/observability/access_log/usage, default format string
    UNESCAPED.row("envoy", r#"[<iso!>] "<request>" <status> <word> <number> <number> <number> <word> "<text>" "<agent>" "<text>" "<sent-host>" "<word>""#),
    // Istio 1.23, tasks/observability/logs/access-log, default format
    UNESCAPED.row("istio", r#"[<iso!>] "<request>" <status> <word> <word> <word> "<text>" <number> <number> <number> <word> "<text>" "<agent>" "<text>" "<sent-host>" "<word>" <word> <word> <word> <word> <word> <word>"#),
    // Traefik 3.1, observability/access-logs, common; logger_formatters.go escapes nothing
    UNESCAPED.row("traefik", r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <number> "<text>" "<text>" <word>"#),
    // lighttpd 1.4.69, accesslog.format by default
    Server { shows: Shows::NamedHosts, ..USUAL }.row("lighttpd", HOST_BEHIND),
    // Squid 5.7, logformat squid
    SQUID.row("squid", "<epoch> <number> <client> <cache> <number> <method> <target-word> <word> <word> <word>"),
    // Squid 5.7, logformat combined
    SQUID.row("squid-combined", r#"<client> - <word> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <cache>"#),
    // Squid 5.7, logformat common
    SQUID.row("squid-common", r#"<client> - <word> [<clf>] "<request>" <status> <number> <cache>"#),
    // AWS, elasticloadbalancing/latest/application/load-balancer-access-logs.html
    PLAIN.row("alb", r#"<word> <iso> <word> <client> <word> <number> <number> <number> <status> <word> <number> <number> "<request>" "<agent>" <*>"#),
    // AWS, elasticloadbalancing/latest/classic/access-log-collection.html
    PLAIN.row("elb", r#"<iso> <word> <client> <word> <number> <number> <number> <status> <word> <number> <number> "<request>" "<agent>" <word> <word>"#),
    // AWS, AmazonS3/latest/userguide/LogFormat.html
    UNESCAPED.row("s3", r#"<word> <word> [<clf>] <client> <word> <word> <word> <word> "<request>" <status> <word> <word> <word> <word> <word> "<text>" "<agent>" <word> <word> <word> <word> <word> <host> <*>"#),
    // hypercorn 0.18.0, access_log_format by default, with the prefix of its logger
    PYTHON.row("hypercorn", r#"[<iso-in-words!>] [<number!>] [<word!>] <client> - - [<clf>] "<request>" <status> <number> "<text>" "<agent>""#),
    // granian 2.8.9, --access-log
    PYTHON.row("granian", r#"[<iso-in-words!>] <client> - "<request>" <status> <number>"#),
    // uvicorn 0.54.0
    Server { targets: Targets { decoded: true, ..SENT }, ..RAW }.row("uvicorn", r#"INFO: <client> - "<request>" <status> <word!>"#),

    // The lines of these look like the lines of rows above.

    // Apache 2.4.71, docs/current/mod/mod_log_config.html
    USUAL.row("apache-combined", COMBINED).named(),
    // Apache 2.4.71, docs/current/mod/mod_log_config.html
    USUAL.row("apache-common", COMMON).named(),
    // Fastly, guides/custom-log-formats, default
    USUAL.row("fastly", COMMON).named(),
    // gunicorn 27.0.1, access_log_format by default
    Server { escape: Escape::Quote, quoting: Quoting::RawWithBackslash, ..USUAL }.row("gunicorn", COMBINED).named(),
    // h2o 2.2.5, access-log
    Server { escape: Escape::Unsafe, ..PLAIN }.row("h2o", COMBINED).named(),
    // mini-httpd 1.30
    Server { targets: Targets { target_bytes: Some(200), ..DECODED_PATHS }, ..UNESCAPED }.row("mini-httpd", COMBINED).named(),
    // morgan 1.12.1, combined
    USUAL.row("morgan", COMBINED).named(),
    // morgan 1.12.1, common
    USUAL.row("morgan-common", COMMON).named(),
    // nghttpx 1.52.0, accesslog-format by default
    HEX.row("nghttpx", COMBINED).named(),
    // nginx 1.22.1, log_format combined
    HEX.row("nginx-combined", COMBINED).named(),
    // OVHcloud web hosting, logs of a site
    USUAL.row("ovh", HOST_BEHIND).named(),
    // varnishncsa of Varnish 7.1.1
    USUAL.row("varnish", COMBINED).named(),
];
