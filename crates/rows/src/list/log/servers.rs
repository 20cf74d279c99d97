//! The formats that servers write by default, as data.
//!
//! A row has the name for `--log-format`, where its lines were seen or described, the format in the names of
//! [`fields`](super::fields), and what the server does to a request before it logs it. Without a declaration,
//! the first row that all requests at the start of a log fit is taken. So a row comes before another one that
//! reads the same lines otherwise, and no two rows may read other parts in the same line: a test compares all
//! pairs.

use super::escape::{Escape, Quoting};

/// A format that is known by its name.
#[derive(Debug)]
pub(super) struct Server {
    pub name: &'static str,
    /// The program and its version, or the page that describes it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the source of a row is for its readers"))]
    pub source: &'static str,
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
    are_urls: false,
    line_bytes: None,
    target_bytes: None,
};
const PROXY: Targets = Targets { are_urls: true, ..SENT };
const SQUID: Targets = Targets { query_is_cut: true, ..PROXY };
const HAPROXY: Targets = Targets { line_bytes: Some(1_023), ..SENT };
const PYTHON: Targets = Targets { without_query: true, decoded: true, ..SENT };

/// A row whose server escapes quotes by backslashes.
const fn server(name: &'static str, source: &'static str, format: &'static str) -> Server {
    Server {
        name,
        source,
        format,
        escape: Escape::Backslash,
        quoting: Quoting::Backslash,
        targets: SENT,
        shows: Shows::Nothing,
    }
}

/// A row whose server writes no quote inside quotes.
const fn plain(name: &'static str, source: &'static str, format: &'static str) -> Server {
    Server { quoting: Quoting::Plain, ..server(name, source, format) }
}

/// A row that is taken by its name alone.
const fn named(server: Server) -> Server {
    Server { shows: Shows::ItsName, ..server }
}

/// A row whose server writes what came, also quotes.
const fn unescaped(name: &'static str, source: &'static str, format: &'static str) -> Server {
    Server { escape: Escape::None, ..plain(name, source, format) }
}

/// A row whose server writes what came. Its last one or two texts may have quotes, and no field outside of
/// quotes.
const fn raw(name: &'static str, source: &'static str, format: &'static str) -> Server {
    Server { escape: Escape::None, quoting: Quoting::Raw, ..server(name, source, format) }
}

const COMMON: &str = r#"<client-or-none> - <user> [<clf>] "<request>" <status> <number>"#;
const COMBINED: &str =
    r#"<client-or-none> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#;
const HOST_BEHIND: &str =
    r#"<address> <host> <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#;
const APACHE: &str = "Apache 2.4.71, docs/current/mod/mod_log_config.html";

/// The formats, in the order in which they are tried.
pub(super) const SERVERS: &[Server] = &[
    server("combined", "Apache 2.4.71, nginx 1.22.1", COMBINED),
    server("common", APACHE, COMMON),
    Server {
        shows: Shows::NamedHost,
        ..server(
            "vhost-combined",
            "Apache 2.4.71, Debian's apache2.conf: %v:%p first",
            r#"<host> <client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>""#,
        )
    },
    Server {
        shows: Shows::NamedHost,
        ..server(
            "vhost-common",
            APACHE,
            r#"<host> <client> - <user> [<clf>] "<request>" <status> <number>"#,
        )
    },
    Server {
        shows: Shows::OtherThanHosts,
        ..plain(
            "nginx-main",
            "nginx.conf of the packages of nginx.org, 1.22",
            r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" "<text>""#,
        )
    },
    plain(
        "nginx-proxy-manager",
        "Nginx Proxy Manager 2.11, log_format proxy",
        r#"[<clf>] <chain> <chain> <status> - <method> <scheme> <host> "<target>" [Client <client!>] [Length <number!>] [Gzip <word!>] [Sent-to <word!>] "<agent>" "<text>""#,
    ),
    plain(
        "nginx-proxy-manager-standard",
        "Nginx Proxy Manager 2.11, log_format standard",
        r#"[<clf>] <status> - <method> <scheme> <host> "<target>" [Client <client!>] [Length <number!>] [Gzip <word!>] "<agent>" "<text>""#,
    ),
    plain(
        "ingress-nginx",
        "ingress-nginx 1.11, log-format-upstream",
        r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <number> <number> [<word!>] [<word!>] <chain> <chain> <chain> <chain> <word>"#,
    ),
    Server {
        escape: Escape::Hash,
        targets: HAPROXY,
        ..plain(
            "haproxy",
            "HAProxy 2.6.12, option httplog",
            r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> "<request>""#,
        )
    },
    Server {
        escape: Escape::Hash,
        targets: HAPROXY,
        ..plain(
            "haproxy-host",
            "HAProxy 2.6.12, option httplog, capture request header Host",
            r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> {<full-host!>} "<request>""#,
        )
    },
    Server {
        escape: Escape::Hash,
        targets: HAPROXY,
        ..plain(
            "haproxy-host-agent",
            "HAProxy 2.6.12, option httplog, capture request header Host, then User-Agent",
            r#"<client> [<clf-without-zone!>] <word> <word> <word> <status> <number> <word> <word> <word> <word> <word> {<full-host!>|<agent!>} "<request>""#,
        )
    },
    unescaped(
        "envoy",
        "Envoy 1.31, configuration/observability/access_log/usage, default format string",
        r#"[<iso!>] "<request>" <status> <word> <number> <number> <number> <word> "<text>" "<agent>" "<text>" "<sent-host>" "<word>""#,
    ),
    unescaped(
        "istio",
        "Istio 1.23, tasks/observability/logs/access-log, default format",
        r#"[<iso!>] "<request>" <status> <word> <word> <word> "<text>" <number> <number> <number> <word> "<text>" "<agent>" "<text>" "<sent-host>" "<word>" <word> <word> <word> <word> <word> <word>"#,
    ),
    unescaped(
        "traefik",
        "Traefik 3.1, observability/access-logs, common; logger_formatters.go escapes nothing",
        r#"<client> - <user> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <number> "<text>" "<text>" <word>"#,
    ),
    Server {
        shows: Shows::NamedHosts,
        ..server("lighttpd", "lighttpd 1.4.69, accesslog.format by default", HOST_BEHIND)
    },
    Server {
        targets: SQUID,
        ..raw(
            "squid",
            "Squid 5.7, logformat squid",
            "<epoch> <number> <client> <cache> <number> <method> <target-word> <word> <word> <word>",
        )
    },
    Server {
        targets: SQUID,
        ..raw(
            "squid-combined",
            "Squid 5.7, logformat combined",
            r#"<client> - <word> [<clf>] "<request>" <status> <number> "<text>" "<agent>" <cache>"#,
        )
    },
    Server {
        targets: SQUID,
        ..raw(
            "squid-common",
            "Squid 5.7, logformat common",
            r#"<client> - <word> [<clf>] "<request>" <status> <number> <cache>"#,
        )
    },
    plain(
        "alb",
        "AWS, elasticloadbalancing/latest/application/load-balancer-access-logs.html",
        r#"<word> <iso> <word> <client> <word> <number> <number> <number> <status> <word> <number> <number> "<request>" "<agent>" <*>"#,
    ),
    plain(
        "elb",
        "AWS, elasticloadbalancing/latest/classic/access-log-collection.html",
        r#"<iso> <word> <client> <word> <number> <number> <number> <status> <word> <number> <number> "<request>" "<agent>" <word> <word>"#,
    ),
    unescaped(
        "s3",
        "AWS, AmazonS3/latest/userguide/LogFormat.html",
        r#"<word> <word> [<clf>] <client> <word> <word> <word> <word> "<request>" <status> <word> <word> <word> <word> <word> "<text>" "<agent>" <word> <word> <word> <word> <word> <host> <*>"#,
    ),
    Server {
        targets: PYTHON,
        ..raw(
            "hypercorn",
            "hypercorn 0.18.0, access_log_format by default, with the prefix of its logger",
            r#"[<iso-in-words!>] [<number!>] [<word!>] <client> - - [<clf>] "<request>" <status> <number> "<text>" "<agent>""#,
        )
    },
    Server {
        targets: PYTHON,
        ..raw(
            "granian",
            "granian 2.8.9, --access-log",
            r#"[<iso-in-words!>] <client> - "<request>" <status> <number>"#,
        )
    },
    Server {
        targets: Targets { decoded: true, ..SENT },
        ..raw("uvicorn", "uvicorn 0.54.0", r#"INFO: <client> - "<request>" <status> <word!>"#)
    },
    // The lines of these look like the lines of rows above.
    named(server("apache-combined", APACHE, COMBINED)),
    named(server("apache-common", APACHE, COMMON)),
    named(server("fastly", "Fastly, guides/custom-log-formats, default", COMMON)),
    named(Server {
        escape: Escape::Quote,
        quoting: Quoting::RawWithBackslash,
        ..server("gunicorn", "gunicorn 27.0.1, access_log_format by default", COMBINED)
    }),
    named(Server { escape: Escape::Unsafe, ..plain("h2o", "h2o 2.2.5, access-log", COMBINED) }),
    named(Server {
        targets: Targets { target_bytes: Some(200), ..PYTHON },
        ..unescaped("mini-httpd", "mini-httpd 1.30", COMBINED)
    }),
    named(server("morgan", "morgan 1.12.1, combined", COMBINED)),
    named(server("morgan-common", "morgan 1.12.1, common", COMMON)),
    named(Server {
        escape: Escape::Hex,
        ..plain("nghttpx", "nghttpx 1.52.0, accesslog-format by default", COMBINED)
    }),
    named(Server {
        escape: Escape::Hex,
        ..plain("nginx-combined", "nginx 1.22.1, log_format combined", COMBINED)
    }),
    named(server("ovh", "OVHcloud web hosting, logs of a site", HOST_BEHIND)),
    named(server("varnish", "varnishncsa of Varnish 7.1.1", COMBINED)),
];
