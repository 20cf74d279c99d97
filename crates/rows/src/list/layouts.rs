//! The tables and logs of known programs: which of their columns or fields is which part of a URL.
//!
//! A layout is what its program documents. It is found by its names in a header or in the first objects,
//! all of which must be there, and gives the places that no flag names. A flag that names another place
//! than the layout means another table, so the layout gives no place then.

use std::sync::LazyLock;

use portcullis_robots::access::TimeUnit;

use super::place::{LeftPart, Place, Value, part_near, shown};
use super::{FieldPath, ListConfig};

/// The columns or fields of a program's table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownLayout {
    /// The program or service, for notes.
    pub name: &'static str,
    /// The names of the values, in the order of [`Value::ALL`]. Records may lack the time, the agent and the
    /// client, which are for those who ask for `record`.
    parts: [Option<&'static str>; Value::ALL.len()],
    unit: Option<TimeUnit>,
    /// Further names that tell it from others.
    also: Vec<&'static str>,
    /// A name that a table with another part of the URL has, which is not read.
    without: Option<&'static str>,
    /// The number of fields at the end of a row that may be missing.
    pub missing_max: usize,
}

/// The known layouts. The first that fits counts. Sources are the pages of their programs, as of November
/// 2026.
///
/// A row has the program, the name of each value, the unit of times that are numbers, and what else a
/// [`KnownLayout`] has.
const ROWS: &[&str] = &[
    // commoncrawl.org, "Index to WARC files and URLs in columnar format".
    "program: Common Crawl's index, URL: url, time: fetch_time, also: url_surtkey, \
     also: url_host_name",
    "program: Common Crawl's index, URL: url_path, host: url_host_name, query: url_query, \
     scheme: url_protocol, time: fetch_time",
    // docs.aws.amazon.com, CloudFront, "Standard logging (v2)".
    "program: CloudFront, URL: cs-uri-stem, host: x-host-header, query: cs-uri-query, \
     scheme: cs-protocol, agent: cs(User-Agent), time: timestamp, unit: s, client: c-ip",
    // docs.aws.amazon.com, WAF, "Log fields for protection pack (web ACL) traffic".
    "program: AWS WAF, URL: httpRequest.uri, host: httpRequest.host, query: httpRequest.args, \
     scheme: httpRequest.scheme, time: timestamp, unit: ms, client: httpRequest.clientIp",
    // docs.aws.amazon.com, Athena, "Query Application Load Balancer logs".
    "program: AWS ALB, URL: request_url, agent: user_agent, time: time, client: client_ip, \
     also: elb, also: request_verb, also: target_status_code",
    // elastic.co, "ECS field reference", URL and User agent fields.
    "program: ECS, URL: url.full, agent: user_agent.original, time: @timestamp, \
     client: client.ip",
    "program: ECS, URL: url.original, host: url.domain, scheme: url.scheme, \
     agent: user_agent.original, time: @timestamp, client: client.ip, without: url.port",
    "program: ECS, URL: url.original, host: url.domain, agent: user_agent.original, \
     time: @timestamp, client: client.ip, without: url.port",
    "program: ECS, URL: url.path, host: url.domain, query: url.query, scheme: url.scheme, \
     agent: user_agent.original, time: @timestamp, client: client.ip, without: url.port",
    // caddyserver.com, "How Logging Works"; version 2.
    "program: Caddy, URL: request.uri, host: request.host, agent: request.headers.User-Agent, \
     time: ts, unit: s, client: request.remote_ip, also: request.method, also: logger",
    // doc.traefik.io, "Access Logs"; versions 2 and 3. RequestPath has the query. RequestAddr is the Host
    // header, whose port is not in RequestHost but in RequestPort.
    "program: Traefik, URL: RequestPath, host: RequestAddr, scheme: RequestScheme, \
     agent: request_User-Agent, time: StartUTC, client: ClientHost",
    "program: Traefik, URL: RequestPath, host: RequestHost, scheme: RequestScheme, \
     agent: request_User-Agent, time: StartUTC, client: ClientHost, without: RequestPort",
    // kubernetes.github.io/ingress-nginx, "Log format", the example of a format in JSON.
    "program: ingress-nginx, URL: path, host: vhost, query: request_query, \
     agent: http_user_agent, time: time, client: remote_addr, also: request_proto",
    // techdocs.akamai.com, DataStream 2, "Data set parameters". reqHost lacks the port, which is in reqPort:
    // one that is not usual is noted.
    "program: Akamai DataStream 2, URL: reqPath, host: reqHost, query: queryStr, scheme: proto, \
     agent: UA, time: reqTimeSec, unit: s, client: cliIP",
    // learn.microsoft.com, "Diagnostic logs for Application Gateway".
    "program: Azure Application Gateway, URL: properties.requestUri, host: properties.host, \
     query: properties.requestQuery, agent: properties.userAgent, time: timeStamp, \
     client: properties.clientIP",
    // learn.microsoft.com, "Monitor Azure Front Door", access log.
    "program: Azure Front Door, URL: properties.requestUri, agent: properties.userAgent, \
     time: time, client: properties.clientIp, also: properties.trackingReference",
    // cloud.google.com, "HttpRequest" of LogEntry.
    "program: Google Cloud load balancer, URL: httpRequest.requestUrl, \
     agent: httpRequest.userAgent, time: timestamp, client: httpRequest.remoteIp",
    // developers.cloudflare.com, Logpush, "HTTP requests". ClientRequestURI has the query.
    "program: Cloudflare Logpush, URL: ClientRequestURI, host: ClientRequestHost, \
     scheme: ClientRequestScheme, agent: ClientRequestUserAgent, time: EdgeStartTimestamp, \
     client: ClientIP",
    // docs.fastly.com, "Useful log formats", the format in JSON. `url` is req.url, with the query.
    "program: Fastly, URL: url, host: host, agent: request_user_agent, time: timestamp, \
     client: client_ip, also: fastly_server, also: request_method",
    // docs.imperva.com, "Log File Structure", fields of the W3C format.
    "program: Imperva, URL: cs-uri, host: cs-host, query: cs-uri-query, agent: cs(User-Agent), \
     client: c-ip, also: cs-vid",
    // screamingfrog.co.uk, "User guide", the tab Internal.
    "program: Screaming Frog, URL: Address, also: Status Code",
    // linkchecker 10, output csv. Its rows lack the last field of the header.
    "program: LinkChecker, URL: url, also: urlname, also: parentname, also: result, missing: 1",
    // advertools.readthedocs.io, crawl and url_to_df; version 0.17.
    "program: advertools, URL: url, time: crawl_time, also: h1, also: resp_headers_Content-Type",
    "program: advertools, URL: url, also: netloc, also: path, also: query",
];

static KNOWN: LazyLock<Vec<KnownLayout>> =
    LazyLock::new(|| ROWS.iter().map(|row| KnownLayout::of_row(row)).collect());

impl KnownLayout {
    /// Reads a row.
    ///
    /// # Panics
    ///
    /// If it is none: the rows are ours.
    fn of_row(row: &'static str) -> KnownLayout {
        let mut layout = KnownLayout::default();
        for part in row.split(", ") {
            let (key, text) = part.split_once(": ").expect("a key and its text");
            match key {
                "program" => layout.name = text,
                "unit" => {
                    let unit = TimeUnit::ALL.into_iter().find(|it| it.as_str() == text);
                    layout.unit = Some(unit.expect("a unit"));
                }
                "also" => layout.also.push(text),
                "without" => layout.without = Some(text),
                "missing" => layout.missing_max = text.parse().expect("a number of fields"),
                noun => {
                    let value = Value::ALL.into_iter().find(|it| it.noun() == noun);
                    layout.parts[value.expect("a value") as usize] = Some(text);
                }
            }
        }
        layout
    }

    /// Whether a table with these names, without backslashes, has all names of the layout, and `config` names
    /// no other places.
    fn fits(&self, names: &[String], config: &ListConfig) -> bool {
        let has = |name: &str| names.iter().any(|it| it == name);
        let mut parts = Value::ALL.into_iter().zip(self.parts).zip(config.places());
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
    let texts: Vec<String> = names.iter().map(|name| shown(name.as_ref())).collect();
    let plain: Vec<String> = texts.iter().map(|name| name.replace('\\', "")).collect();
    let layout = KNOWN.iter().find(|layout| layout.fits(&plain, config))?;
    let is_own = |place: &Place| matches!(place, Place::Record | Place::Offered(_));
    let unit = layout.unit.filter(|_| is_own(&config.times));
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
    let mut parts = Value::ALL.into_iter().zip(layout.parts).map(part);
    let parts = std::array::from_fn(|_| parts.next().flatten());
    Some((layout, config.with_parts(parts, unit)))
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
        for layout in KNOWN.iter() {
            let required = [Value::Url, Value::Host, Value::Query, Value::Scheme];
            let required = required.map(|value| layout.parts[value as usize]);
            let names: Vec<&str> =
                required.into_iter().flatten().chain(layout.also.iter().copied()).collect();
            let (found, config) = known(&names, &ListConfig::default()).unwrap();
            assert_eq!(found.name, layout.name);
            assert_eq!(config.urls, Place::named(required[0]), "{}", layout.name);
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
