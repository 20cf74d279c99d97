//! The tables and logs of known programs: which of their columns or fields is which part of a URL.
//!
//! A layout is what its program documents. It is found by its names in a header or in the first objects,
//! all of which must be there, and gives the places that no flag names. A flag that names another place
//! than the layout means another table, so the layout gives no place then.

use portcullis_robots::access::TimeUnit;

use super::place::{LeftPart, Place, Value, part_near};
use super::{FieldPath, ListConfig};

/// The columns or fields of a program's table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KnownLayout {
    /// The program or service, for notes.
    pub name: &'static str,
    url: &'static str,
    host: Option<&'static str>,
    query: Option<&'static str>,
    scheme: Option<&'static str>,
    /// Fields that records may lack, for those who ask for `record`.
    agent: Option<&'static str>,
    time: Option<(&'static str, Option<TimeUnit>)>,
    client: Option<&'static str>,
    /// Further names that tell it from others.
    also: &'static [&'static str],
    /// A name that a table with another part of the URL has, which is not read.
    without: Option<&'static str>,
    /// The number of fields at the end of a row that may be missing.
    pub missing_max: usize,
}

const NONE: KnownLayout = KnownLayout {
    name: "",
    url: "",
    host: None,
    query: None,
    scheme: None,
    agent: None,
    time: None,
    client: None,
    also: &[],
    without: None,
    missing_max: 0,
};

const TRAEFIK: KnownLayout = KnownLayout {
    name: "Traefik",
    url: "RequestPath",
    host: Some("RequestHost"),
    scheme: Some("RequestScheme"),
    agent: Some("request_User-Agent"),
    time: Some(("StartUTC", None)),
    client: Some("ClientHost"),
    without: Some("RequestPort"),
    ..NONE
};

/// The known layouts. The first that fits counts. Sources are the pages of their programs, as of November
/// 2026.
const KNOWN: &[KnownLayout] = &[
    // commoncrawl.org, "Index to WARC files and URLs in columnar format".
    KnownLayout {
        name: "Common Crawl's index",
        url: "url",
        time: Some(("fetch_time", None)),
        also: &["url_surtkey", "url_host_name"],
        ..NONE
    },
    KnownLayout {
        name: "Common Crawl's index",
        url: "url_path",
        host: Some("url_host_name"),
        query: Some("url_query"),
        scheme: Some("url_protocol"),
        time: Some(("fetch_time", None)),
        ..NONE
    },
    // docs.aws.amazon.com, CloudFront, "Standard logging (v2)".
    KnownLayout {
        name: "CloudFront",
        url: "cs-uri-stem",
        host: Some("x-host-header"),
        query: Some("cs-uri-query"),
        scheme: Some("cs-protocol"),
        agent: Some("cs(User-Agent)"),
        time: Some(("timestamp", Some(TimeUnit::Seconds))),
        client: Some("c-ip"),
        ..NONE
    },
    // docs.aws.amazon.com, WAF, "Log fields for protection pack (web ACL) traffic".
    KnownLayout {
        name: "AWS WAF",
        url: "httpRequest.uri",
        host: Some("httpRequest.host"),
        query: Some("httpRequest.args"),
        scheme: Some("httpRequest.scheme"),
        time: Some(("timestamp", Some(TimeUnit::Milliseconds))),
        client: Some("httpRequest.clientIp"),
        ..NONE
    },
    // docs.aws.amazon.com, Athena, "Query Application Load Balancer logs".
    KnownLayout {
        name: "AWS ALB",
        url: "request_url",
        agent: Some("user_agent"),
        time: Some(("time", None)),
        client: Some("client_ip"),
        also: &["elb", "request_verb", "target_status_code"],
        ..NONE
    },
    // elastic.co, "ECS field reference", URL and User agent fields.
    KnownLayout {
        name: "ECS",
        url: "url.full",
        agent: Some("user_agent.original"),
        time: Some(("@timestamp", None)),
        client: Some("client.ip"),
        ..NONE
    },
    KnownLayout {
        name: "ECS",
        url: "url.original",
        host: Some("url.domain"),
        scheme: Some("url.scheme"),
        agent: Some("user_agent.original"),
        time: Some(("@timestamp", None)),
        client: Some("client.ip"),
        without: Some("url.port"),
        ..NONE
    },
    KnownLayout {
        name: "ECS",
        url: "url.original",
        host: Some("url.domain"),
        agent: Some("user_agent.original"),
        time: Some(("@timestamp", None)),
        client: Some("client.ip"),
        without: Some("url.port"),
        ..NONE
    },
    KnownLayout {
        name: "ECS",
        url: "url.path",
        host: Some("url.domain"),
        query: Some("url.query"),
        scheme: Some("url.scheme"),
        agent: Some("user_agent.original"),
        time: Some(("@timestamp", None)),
        client: Some("client.ip"),
        without: Some("url.port"),
        ..NONE
    },
    // caddyserver.com, "How Logging Works"; version 2.
    KnownLayout {
        name: "Caddy",
        url: "request.uri",
        host: Some("request.host"),
        agent: Some("request.headers.User-Agent"),
        time: Some(("ts", Some(TimeUnit::Seconds))),
        client: Some("request.remote_ip"),
        also: &["request.method", "logger"],
        ..NONE
    },
    // doc.traefik.io, "Access Logs"; versions 2 and 3. RequestPath has the query. RequestAddr is the Host
    // header, whose port is not in RequestHost but in RequestPort.
    KnownLayout { host: Some("RequestAddr"), without: None, ..TRAEFIK },
    TRAEFIK,
    // kubernetes.github.io/ingress-nginx, "Log format", the example of a format in JSON.
    KnownLayout {
        name: "ingress-nginx",
        url: "path",
        host: Some("vhost"),
        query: Some("request_query"),
        agent: Some("http_user_agent"),
        time: Some(("time", None)),
        client: Some("remote_addr"),
        also: &["request_proto"],
        ..NONE
    },
    // techdocs.akamai.com, DataStream 2, "Data set parameters". reqHost lacks the port, which is in reqPort:
    // one that is not usual is noted.
    KnownLayout {
        name: "Akamai DataStream 2",
        url: "reqPath",
        host: Some("reqHost"),
        query: Some("queryStr"),
        scheme: Some("proto"),
        agent: Some("UA"),
        time: Some(("reqTimeSec", Some(TimeUnit::Seconds))),
        client: Some("cliIP"),
        ..NONE
    },
    // learn.microsoft.com, "Diagnostic logs for Application Gateway".
    KnownLayout {
        name: "Azure Application Gateway",
        url: "properties.requestUri",
        host: Some("properties.host"),
        query: Some("properties.requestQuery"),
        agent: Some("properties.userAgent"),
        time: Some(("timeStamp", None)),
        client: Some("properties.clientIP"),
        ..NONE
    },
    // learn.microsoft.com, "Monitor Azure Front Door", access log.
    KnownLayout {
        name: "Azure Front Door",
        url: "properties.requestUri",
        agent: Some("properties.userAgent"),
        time: Some(("time", None)),
        client: Some("properties.clientIp"),
        also: &["properties.trackingReference"],
        ..NONE
    },
    // cloud.google.com, "HttpRequest" of LogEntry.
    KnownLayout {
        name: "Google Cloud load balancer",
        url: "httpRequest.requestUrl",
        agent: Some("httpRequest.userAgent"),
        time: Some(("timestamp", None)),
        client: Some("httpRequest.remoteIp"),
        ..NONE
    },
    // developers.cloudflare.com, Logpush, "HTTP requests". ClientRequestURI has the query.
    KnownLayout {
        name: "Cloudflare Logpush",
        url: "ClientRequestURI",
        host: Some("ClientRequestHost"),
        scheme: Some("ClientRequestScheme"),
        agent: Some("ClientRequestUserAgent"),
        time: Some(("EdgeStartTimestamp", None)),
        client: Some("ClientIP"),
        ..NONE
    },
    // docs.fastly.com, "Useful log formats", the format in JSON. `url` is req.url, with the query.
    KnownLayout {
        name: "Fastly",
        url: "url",
        host: Some("host"),
        agent: Some("request_user_agent"),
        time: Some(("timestamp", None)),
        client: Some("client_ip"),
        also: &["fastly_server", "request_method"],
        ..NONE
    },
    // docs.imperva.com, "Log File Structure", fields of the W3C format.
    KnownLayout {
        name: "Imperva",
        url: "cs-uri",
        host: Some("cs-host"),
        query: Some("cs-uri-query"),
        agent: Some("cs(User-Agent)"),
        client: Some("c-ip"),
        also: &["cs-vid"],
        ..NONE
    },
    // screamingfrog.co.uk, "User guide", the tab Internal.
    KnownLayout { name: "Screaming Frog", url: "Address", also: &["Status Code"], ..NONE },
    // linkchecker 10, output csv. Its rows lack the last field of the header.
    KnownLayout {
        name: "LinkChecker",
        url: "url",
        also: &["urlname", "parentname", "result"],
        missing_max: 1,
        ..NONE
    },
    // advertools.readthedocs.io, crawl and url_to_df; version 0.17.
    KnownLayout {
        name: "advertools",
        url: "url",
        time: Some(("crawl_time", None)),
        also: &["h1", "resp_headers_Content-Type"],
        ..NONE
    },
    KnownLayout { name: "advertools", url: "url", also: &["netloc", "path", "query"], ..NONE },
];

impl KnownLayout {
    /// Returns the names of the parts in the order of [`Value::ALL`].
    fn parts(&self) -> [Option<&'static str>; Value::ALL.len()] {
        let KnownLayout { url, host, query, scheme, agent, client, .. } = *self;
        [Some(url), self.time.map(|(name, _)| name), agent, host, query, scheme, client]
    }

    /// Whether a table with these names, without backslashes, has all names of the layout, and `config` names
    /// no other places.
    fn fits(&self, names: &[String], config: &ListConfig) -> bool {
        let has = |name: &str| names.iter().any(|it| it == name);
        let mut parts = Value::ALL.into_iter().zip(self.parts()).zip(config.places());
        parts.all(|((value, part), place)| {
            let is_required = !matches!(value, Value::Agent | Value::Time | Value::Client);
            match (part, place) {
                (Some(part), Place::Named(given)) if is_required => *given == [part],
                (None, Place::Named(_)) if is_required => false,
                (Some(part), _) if is_required => has(part),
                (Some(part), Place::Record) => has(part),
                (None, Place::Record) => false,
                _ => true,
            }
        }) && self.also.iter().all(|name| has(name))
            && !self.without.is_some_and(has)
    }
}

/// Finds the layout of a table with these names of columns, or paths of fields. Returns it, and the settings
/// with its places. `None` if there is none.
pub(super) fn known(
    names: &[impl AsRef<[u8]>],
    config: &ListConfig,
) -> Option<(&'static KnownLayout, ListConfig)> {
    let texts: Vec<String> = names.iter().map(|name| text_of(name.as_ref())).collect();
    let plain: Vec<String> = texts.iter().map(|name| name.replace('\\', "")).collect();
    let layout = KNOWN.iter().find(|layout| layout.fits(&plain, config))?;
    let is_own = |place: &Place| matches!(place, Place::Record | Place::Offered(_));
    let unit = layout.time.and_then(|(_, unit)| unit).filter(|_| is_own(&config.times));
    let part = |(value, part): (Value, Option<&str>)| {
        let is_asked = match value {
            Value::Time => is_own(&config.times),
            Value::Agent => is_own(&config.agents),
            Value::Client => is_own(&config.clients),
            _ => true,
        };
        let place = plain.iter().position(|name| part.is_some_and(|part| name == part))?;
        is_asked.then(|| texts[place].clone())
    };
    let mut parts = Value::ALL.into_iter().zip(layout.parts()).map(part);
    let parts = std::array::from_fn(|_| parts.next().flatten());
    Some((layout, config.with_parts(parts, unit)))
}

fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name.trim_ascii()).into_owned()
}

/// Returns the names among `fields`, paths of members, that could be of parts of the URL next to the member at
/// `url`.
pub(super) fn parts_near(url: &FieldPath, fields: &[String]) -> Vec<(LeftPart, FieldPath)> {
    let (own, parents) = url.names().split_last().expect("a path has a name");
    let mut found: Vec<(LeftPart, FieldPath)> = Vec::new();
    for field in fields {
        let Ok(path) = field.parse::<FieldPath>() else { continue };
        let Some(name) = path.names().strip_prefix(parents).and_then(|rest| rest.first()) else {
            continue;
        };
        let part = part_near(own.as_bytes(), name.as_bytes(), !parents.is_empty());
        let Some(part) = part else { continue };
        let path = FieldPath::from_names([parents, std::slice::from_ref(name)].concat());
        if path.names() != url.names() && !found.iter().any(|(_, it)| *it == path) {
            found.push((part, path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every layout is found by its own names, and only by all of them.
    #[test]
    fn a_layout_is_found_by_all_of_its_names() {
        for layout in KNOWN {
            let required = [Some(layout.url), layout.host, layout.query, layout.scheme];
            let names: Vec<&str> =
                required.into_iter().flatten().chain(layout.also.iter().copied()).collect();
            let (found, config) = known(&names, &ListConfig::default()).unwrap();
            assert_eq!(found.name, layout.name);
            assert_eq!(config.urls, Place::named([layout.url]), "{}", layout.name);
            for left_out in &names {
                let names: Vec<&&str> = names.iter().filter(|it| *it != left_out).collect();
                let names: Vec<&str> = names.into_iter().copied().collect();
                let other = known(&names, &ListConfig::default());
                assert!(other.is_none_or(|(it, _)| !std::ptr::eq(it, layout)), "{left_out}");
            }
        }
    }

    #[test]
    fn flags_that_name_other_places_mean_another_table() {
        let names = ["url_host_name", "url_protocol", "url_path", "url_query", "x", "fetch_time"];
        let named = |name: &str| Place::named([name]);
        let config = ListConfig { urls: named("url_path"), ..ListConfig::default() };
        let found = known(&names, &config).unwrap().1;
        assert_eq!((found.queries, found.times), (named("url_query"), Place::Usual));
        let timed = known(&names, &ListConfig { times: Place::Record, ..config.clone() }).unwrap();
        assert_eq!(timed.1.times, named("fetch_time"));
        for other in [
            ListConfig { urls: named("x"), ..ListConfig::default() },
            ListConfig { queries: named("x"), ..config.clone() },
            ListConfig { agents: Place::Record, ..config },
        ] {
            assert_eq!(known(&names, &other), None);
        }
    }

    #[test]
    fn parts_are_next_to_the_path() {
        let fields =
            ["a.path", "a.Query_String", "a.args.x", "a.qs", "query", "a.b.query", "a.Host"];
        let fields = fields.map(str::to_owned);
        let found = parts_near(&"a.path".parse().unwrap(), &fields);
        let found: Vec<_> = found.iter().map(|(part, path)| (*part, path.to_string())).collect();
        let query = |path: &str| (LeftPart::Query, path.to_owned());
        let host = (LeftPart::Host, "a.Host".to_owned());
        assert_eq!(found, [query("a.Query_String"), query("a.args"), query("a.qs"), host]);
    }
}
