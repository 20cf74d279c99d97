use super::super::host::Hosts;
use super::fields::{Extent, Shape};
use super::servers::Server;
use super::syntax::{Token, of_row};
use super::time::TimeForm;
use super::*;
use crate::input::Record;
use std::collections::BTreeSet;

const TIME: &str = "[10/Oct/2025:13:55:36 -0700]";
const ALL: Reads = Reads { time: true, agent: true, client: true };
const SECONDS: Option<u64> = Some(1_760_129_736);

/// The URL or path, the host, the agent and the time of a line.
type Read = (Result<String, Problem>, Option<String>, Option<String>, Option<u64>);

fn read_by(all: &LogLine, line: &[u8], given: Option<&str>) -> (Read, Doubts) {
    let arena = Arena::new();
    let given = given.map(Given::new);
    check_usual(all, line, given.as_ref());
    let Values { url, host, agent, time, doubts, .. } = all.read(line, given.as_ref(), &arena);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ((url.map(text), host.map(text), agent.map(text), time.map(|time| time.0)), doubts)
}

/// Whether the steps of the format read a line, which they do as [`LogLine::read`] does.
#[track_caller]
fn check_usual(all: &LogLine, line: &[u8], given: Option<&Given>) -> bool {
    let arena = Arena::new();
    let hosts = Hosts { given: given.cloned(), is_log: true, ..Hosts::default() };
    let mut origins = Origins::new(&hosts, &arena);
    type Whole<'w> = (Record<'w>, Values<'w>, Doubts);
    let shown = |(record, values, doubts): Whole<'_>| {
        let [agent, client] = [values.agent, values.client].map(|it| it.map(<[u8]>::to_vec));
        (record.url().to_vec(), record.problem(), doubts, values.time, agent, client)
    };
    let record = Record::plain(line, 0);
    let stops = stops_in(&[b"\"", line, b"\""].concat(), &arena);
    let mut usual = || {
        let (url, values) = all.read_usual((line, stops, 1), &mut origins)?;
        let doubts = values.doubts;
        Some(shown((record.with_url(url), values, doubts)))
    };
    // The second time, its origin is known.
    let [usual, again] = [usual(), usual()];
    let read = usual.is_some().then(|| {
        let values = all.read(line, given, &arena);
        let (record, doubts) = values.of_record(record, Some(&hosts), &arena);
        shown((record, values, doubts))
    });
    assert_eq!((&usual, &again), (&read, &read), "{}", line.escape_ascii());
    usual.is_some()
}

/// How lines are read in a format that is declared.
fn declared(format: &str) -> LogLine {
    let format = format.parse().unwrap_or_else(|error| panic!("{format}: {error}"));
    LogLine { format, prefix: None, reads: ALL }
}

/// How the lines of a list are read without a declaration.
fn found(lines: &[&str]) -> Option<LogLine> {
    LogLine::find(lines.iter().map(|line| line.as_bytes()), ALL)
}

fn read(format: &str, line: &str) -> Read {
    read_by(&declared(format), line.as_bytes(), None).0
}

/// The URL or path and the host of a line.
fn site(format: &str, line: &str) -> (Result<String, Problem>, Option<String>) {
    let (url, host, ..) = read(format, line);
    (url, host)
}

fn ok(url: &str) -> Result<String, Problem> {
    Ok(url.to_owned())
}

/// A line as the server of each row writes it, with its host and agent. All ask for `/a?b`.
#[rustfmt::skip]
const LINES: &[(&str, &str, Option<&str>, Option<&str>)] = &[
    ("combined", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, None, Some("ABot/1.0")),
    ("combined", r#"c.example - jo doe T "GET /a?b HTTP/2.0" 304 - "https://b.example/" "A \"b\"""#, None, Some("A \"b\"")),
    ("common", r#"2001:db8::7 - - T "HEAD /a?b HTTP/1.0" 200 23"#, None, None),
    ("vhost-combined", r#"a.example:443 192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, Some("a.example:443"), Some("ABot/1.0")),
    ("vhost-combined", r#"a.example       192.0.2.7       - - T "GET /a?b HTTP/1.1" 200 23 "-" "-""#, Some("a.example"), Some("-")),
    ("vhost-common", r#"a.example c.example - jo T "GET /a?b HTTP/1.1" 200 23"#, Some("a.example"), None),
    ("nginx-main", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0" "192.0.2.8, 10.0.0.1""#, None, Some("ABot/1.0")),
    ("nginx-proxy-manager", r#"T - 200 200 - GET https a.example "/a?b" [Client 192.0.2.7] [Length 23] [Gzip -] [Sent-to 10.0.0.2] "ABot/1.0" "-""#, Some("https://a.example"), Some("ABot/1.0")),
    ("nginx-proxy-manager", r#"T HIT - 301 - GET http a.example "/a?b" [Client 192.0.2.7] [Length 23] [Gzip 2.1] [Sent-to b.example] "-" "-""#, Some("http://a.example"), Some("-")),
    ("nginx-proxy-manager-standard", r#"T 200 - GET https a.example "/a?b" [Client 192.0.2.7] [Length 23] [Gzip -] "ABot/1.0" "-""#, Some("https://a.example"), Some("ABot/1.0")),
    ("ingress-nginx", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0" 411 0.003 [shop-web-80] [] 10.0.0.2:80, 10.0.0.3:80 0, 23 0.001, 0.002 502, 200 5f3c"#, None, Some("ABot/1.0")),
    ("haproxy", r#"192.0.2.7:5000 [10/Oct/2025:20:55:36.123] in~ web/w1 0/0/0/1/1 200 23 - - ---- 1/1/0/0/0 0/0 "GET /a?b HTTP/1.1""#, None, None),
    ("haproxy-host", r#"192.0.2.7:5000 [10/Oct/2025:20:55:36.123] in web/w1 0/0/0/1/1 200 23 - - ---- 1/1/0/0/0 0/0 {a.example} "GET /a?b HTTP/1.1""#, Some("a.example"), None),
    ("haproxy-host", r#"192.0.2.7:5000 [10/Oct/2025:20:55:36.123] in web/w1 0/0/0/1/1 -1 23 - - ---- 1/1/0/0/0 0/0 {} "GET /a?b HTTP/1.1""#, None, None),
    ("haproxy-host-agent", r#"192.0.2.7:5000 [10/Oct/2025:20:55:36.123] in web/w1 0/0/0/1/1 200 23 - - ---- 1/1/0/0/0 0/0 {a.example|A #22b#22} "GET /a?b HTTP/1.1""#, Some("a.example"), Some("A \"b\"")),
    ("envoy", r#"[2025-10-10T20:55:36.123Z] "GET /a?b HTTP/1.1" 200 - 0 23 4 3 "192.0.2.7" "ABot/1.0" "5f-3c" "a.example" "10.0.0.2:80""#, Some("a.example"), Some("ABot/1.0")),
    ("istio", r#"[2025-10-10T20:55:36.123Z] "GET /a?b HTTP/2" 200 - via_upstream - "-" 0 23 4 3 "192.0.2.7" "ABot/1.0" "5f-3c" "a.example:80" "10.0.0.2:80" inbound|80|| 127.0.0.6:1 10.0.0.2:80 192.0.2.7:2 - default"#, Some("a.example:80"), Some("ABot/1.0")),
    ("traefik", r#"192.0.2.7 - - T "GET /a?b HTTP/2.0" 200 23 "-" "ABot/1.0" 41 "web@docker" "http://10.0.0.2:80" 3ms"#, None, Some("ABot/1.0")),
    ("traefik", r#"192.0.2.7 - - T "GET /a?b HTTP/2.0" 200 23 "\" "A\x71" 41 "web@docker" "http://10.0.0.2:80" 3ms"#, None, Some("A\\x71")),
    ("lighttpd", r#"192.0.2.7 a.example - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, Some("a.example"), Some("ABot/1.0")),
    ("lighttpd", r#"192.0.2.7 [::1]:8080 - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, Some("[::1]:8080"), Some("ABot/1.0")),
    ("squid", "1760129736.123     17 192.0.2.7 TCP_MISS/200 2300 GET http://a.example/a?b - HIER_DIRECT/192.0.2.9 text/html", None, None),
    ("squid-combined", r#"192.0.2.7 - - T "GET http://a.example/a?b HTTP/1.1" 200 23 "-" "A"b\c" TCP_MISS:HIER_DIRECT"#, None, Some("A\"b\\c")),
    ("squid-common", r#"192.0.2.7 - - T "GET http://a.example/a?b HTTP/1.1" 200 23 TCP_HIT:HIER_NONE"#, None, None),
    ("alb", r#"h2 2025-10-10T20:55:36.186641Z app/a/5 192.0.2.7:2817 10.0.0.2:80 0.0 0.1 0.0 200 200 41 23 "GET https://a.example:443/a?b HTTP/2.0" "ABot/1.0" TLS_X TLSv1.2 arn:aws:x "Root=1-5" "a.example" "arn:aws:y" 0 2025-10-10T20:55:36.1Z "forward" "-" "-" "10.0.0.2:80" "200" "-" "-" TID_1"#, None, Some("ABot/1.0")),
    ("elb", r#"2025-10-10T20:55:36.186641Z name 192.0.2.7:2817 10.0.0.2:80 0.0 0.1 0.0 200 200 41 23 "GET http://a.example:80/a?b HTTP/1.1" "ABot/1.0" - -"#, None, Some("ABot/1.0")),
    ("s3", r#"79a5 pages T 192.0.2.7 79a5 3E57 REST.GET.OBJECT a "GET /a?b HTTP/1.1" 200 - 113 113 7 6 "-" "ABot/1.0" - s9lz= SigV4 ECDHE AuthHeader a.example TLSv1.2 - -"#, Some("a.example"), Some("ABot/1.0")),
    ("hypercorn", r#"[2025-10-10 13:55:36 -0700] [217] [INFO] 192.0.2.7:4510 - - T "GET /a?b 1.1" 200 1 "-" "A "b"""#, None, Some("A \"b\"")),
    ("granian", r#"[2025-10-10 13:55:36 -0700] 192.0.2.7 - "GET /a?b HTTP/1.1" 200 0.056"#, None, None),
    ("uvicorn", r#"INFO:     192.0.2.7:4706 - "GET /a?b HTTP/1.1" 404 Not Found"#, None, None),
    ("apache-combined", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23 "a\tb" "ABot/1.0\\""#, None, Some("ABot/1.0\\")),
    ("apache-common", r#"192.0.2.7 - "" T "GET /a?b HTTP/1.1" 200 23"#, None, None),
    ("fastly", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 23"#, None, None),
    ("gunicorn", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 1 "-" "A \"b\" c\""#, None, Some("A \"b\" c\\")),
    ("h2o", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 9 "-" "A \x22b\x22 c\""#, None, Some("A \"b\" c\\")),
    ("mini-httpd", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 - "" "A \q""#, None, Some("A \\q")),
    ("morgan", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 - "-" "A \"b\"""#, None, Some("A \"b\"")),
    ("morgan-common", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 -"#, None, None),
    ("nghttpx", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 9 "-" "A \x22b\x22""#, None, Some("A \"b\"")),
    ("nginx-combined", r#"192.0.2.7 - - T "GET /a?b HTTP/1.1" 200 9 "-" "A\x5C \x22b\x22""#, None, Some("A\\ \"b\"")),
    ("ovh", r#"192.0.2.7 a.example - T "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, Some("a.example"), Some("ABot/1.0")),
    ("varnish", r#"192.0.2.7 - - T "GET http://a.example/a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#, None, Some("ABot/1.0")),
];

#[test]
fn the_lines_of_each_server() {
    for server in SERVERS {
        assert!(LINES.iter().any(|(name, ..)| *name == server.name), "{}", server.name);
    }
    for (name, line, host, agent) in LINES {
        let words = line.split(' ').map(|word| if word == "T" { TIME } else { word });
        let line = words.collect::<Vec<_>>().join(" ");
        let (url, found_host, found_agent, time) = read(name, &line);
        let path = url.as_deref().map(|url| url.find("/a?b").map(|at| &url[at..]));
        assert_eq!(path, Ok(Some("/a?b")), "{line}");
        assert_eq!((found_host.as_deref(), found_agent.as_deref()), (*host, *agent), "{line}");
        let has_time = !["uvicorn"].contains(name);
        assert_eq!(time, SECONDS.filter(|_| has_time), "{line}");
        // Without a declaration, the line is read alike if its format can be found.
        let all = found(&[&line]);
        if let Some(all) = &all {
            assert_eq!(read_by(all, line.as_bytes(), None).0, read(name, &line), "{line}");
        }
        let server = SERVERS.iter().find(|server| server.name == *name).unwrap();
        let is_found = all.is_some_and(|all| all.format.name() == Some(*name));
        // A host that is an address may be the client of another format.
        let is_shown = *host != Some("[::1]:8080");
        assert_eq!(is_found, server.shows != Shows::ItsName && is_shown, "{line}");
    }
}

#[test]
fn usual_lines_are_read_by_steps_and_all_alike() {
    let hosts = [None, Some("b.example"), Some("http://b.example:81")];
    let given = hosts.map(|host| host.map(Given::new));
    let usual = LINES.iter().filter(|(name, line, ..)| {
        let (all, line) = (declared(name), line.replace(" T ", &format!(" {TIME} ")));
        for place in 0..line.len() {
            for (at, byte) in b"\" \\-[/a\t".iter().enumerate() {
                let [mut replaced, mut inserted] = [(); 2].map(|()| line.clone().into_bytes());
                replaced[place] = *byte;
                inserted.insert(place, *byte);
                for line in [replaced, inserted] {
                    check_usual(&all, &line, given[at % 3].as_ref());
                }
            }
            let mut cut = line.clone().into_bytes();
            cut.remove(place);
            check_usual(&all, &cut, given[1].as_ref());
            check_usual(&all, &line.as_bytes()[..place], given[1].as_ref());
        }
        check_usual(&all, line.as_bytes(), given[1].as_ref())
    });
    let names: BTreeSet<&str> = usual.map(|(name, ..)| *name).collect();
    for name in [
        "combined",
        "common",
        "vhost-combined",
        "vhost-common",
        "nginx-main",
        "lighttpd",
        "traefik",
        "ingress-nginx",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

/// Texts that a field may have.
fn samples(token: &Token) -> &'static [&'static str] {
    let field = match token {
        Token::Field(field) => field,
        Token::Text(_) => return &[],
        Token::Tail => return &["", "x", "- \"y\" a.example", "\"-\" 200"],
    };
    match (field.what, field.shape) {
        (What::Time(TimeForm::Clf), _) => &["10/Oct/2025:13:55:36 -0700"],
        (What::Time(TimeForm::ClfWithoutZone), _) => &["10/Oct/2025:13:55:36.123"],
        (What::Time(TimeForm::Iso), _) => {
            &["2025-10-10T20:55:36.186641Z", "2025-10-10T20:55:36+00:00"]
        }
        (What::Time(TimeForm::IsoInWords(_)), _) => &["2025-10-10 13:55:36 -0700"],
        (What::Time(_), _) => &["1760129736.123", "1760129736"],
        (What::Request, _) => &[
            "GET /a?b HTTP/1.1",
            "GET http://b.example/a HTTP/1.1",
            "-",
            "",
            r"\x16\x03",
            "GET /a 1.1",
            "OPTIONS * HTTP/1.1",
        ],
        (What::Target(_), _) => &["/a?b", "http://a.example/a", "-"],
        (_, Shape::Client) => {
            &["192.0.2.7", "2001:db8::7", "c.example", "192.0.2.7:80", "[::1]:80", "c"]
        }
        (_, Shape::ClientOrNone) => &["192.0.2.7", "-", "c.example", "2001:db8::7", "c"],
        (_, Shape::Address) => &["192.0.2.7", "2001:db8::7"],
        (_, Shape::Host) => {
            &["a.example", "-", "a.example:443", "192.0.2.9", "[::1]:80", "intranet"]
        }
        (_, Shape::FullHost) => &["a.example", "", "[::1]:8080", "192.0.2.9"],
        (_, Shape::User) => {
            &["-", "jo", "jo doe", "x [y]", "b.example 192.0.2.8 -", "192.0.2.8 b.example"]
        }
        (_, Shape::Status) => &["200", "-", "-1", "404"],
        (_, Shape::Number) => &["23", "-", "0.003", "0"],
        (_, Shape::Scheme) => &["http", "https"],
        (_, Shape::Method) => &["GET", "POST"],
        (_, Shape::Cache) => &["TCP_MISS/200", "TCP_MISS:HIER_DIRECT", "NONE_NONE:HIER_NONE"],
        (_, Shape::Any) => match field.extent {
            Extent::Chain => &["-", "10.0.0.2:80", "0.1, 0.2", "10.0.0.2:80 : 10.0.0.3:80"],
            Extent::Free => {
                &["-", "b.example", "192.0.2.8", "", "ABot/1.0 (b; +https://b.example/)", "-x -"]
            }
            _ => &["-", "x", "10.0.0.2:80", "b.example", "200", "GET", "TCP_MISS:HIER_DIRECT"],
        },
    }
}

/// No line fits two formats that read other values in it, so that their order decides nothing.
#[test]
fn no_two_formats_read_other_parts_of_a_line() {
    let mut next = numbers();
    let rows: Vec<(&Server, LogLine)> = SERVERS
        .iter()
        .filter(|server| server.shows != Shows::ItsName)
        .map(|server| (server, declared(server.name)))
        .collect();
    for (server, own) in &rows {
        let tokens = of_row(server.format);
        let mut lines = Vec::new();
        for round in 0..400 {
            let mut line = String::new();
            for token in &tokens {
                match token {
                    Token::Text(text) => line += str::from_utf8(text).unwrap(),
                    token => {
                        let all = samples(token);
                        // The first lines have usual texts and one other.
                        let is_usual = round < 200 && next(tokens.len()) != 0;
                        line += all[if is_usual { 0 } else { next(all.len()) }];
                    }
                }
            }
            lines.push(line);
        }
        let honest = lines.iter().filter(|line| own.format.fits(line.as_bytes())).count();
        assert!(honest > 300, "{}: {honest}", server.name);
        for line in lines.iter().filter(|line| own.format.fits(line.as_bytes())) {
            for (other, its) in rows.iter().filter(|(other, _)| other.name != server.name) {
                if its.format.fits(line.as_bytes()) {
                    let [mine, its] = [own, its].map(|all| read_by(all, line.as_bytes(), None));
                    assert_eq!(mine, its, "{} and {}: {line}", server.name, other.name);
                }
            }
        }
    }
}

/// Words, quotes, times and blanks that a client sends move neither the host nor the request.
#[test]
fn what_a_client_sends_is_never_the_host() {
    const REQUEST: &str = r#""GET /a HTTP/1.1" 200 23"#;
    const USERS: [&str; 12] = [
        "x b.example",
        "b.example 192.0.2.8 -",
        "x [y",
        "x] [01/Jan/2020:00:00:00 +0000]",
        "[01/Jan/2020:00:00:00 +0000] b.example",
        "x,",
        "x: b.example",
        " ",
        "",
        "\"\"",
        r#"\"GET /c HTTP/1.1\" 200 1 \"-\""#,
        "- b.example",
    ];
    for user in USERS {
        let line = format!(r#"192.0.2.7 - {user} {TIME} {REQUEST} "-" "ABot/1.0""#);
        let usual = Some("ABot/1.0".to_owned());
        for format in ["combined", r#"%h - %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#] {
            assert_eq!(read(format, &line), (ok("/a"), None, usual.clone(), SECONDS), "{line}");
        }
        let line = format!("a.example {line}");
        let host = Some("a.example".to_owned());
        for format in [
            "vhost-combined",
            r#"$host $remote_addr - $remote_user [$time_local] "$request" $status $x "$y" "$http_user_agent""#,
        ] {
            if format.starts_with('$') && user.contains('"') {
                continue;
            }
            assert_eq!(
                read(format, &line),
                (ok("/a"), host.clone(), usual.clone(), SECONDS),
                "{line}"
            );
        }
        // Nor where the host stands after what the client sent.
        let format = r#"%{X-Forwarded-For}i %v %t "%r""#;
        let line = format!(r#"{user} a.example {TIME} "GET /a HTTP/1.1""#);
        assert_eq!(site(format, &line), (ok("/a"), host), "{line}");
    }
    // A forwarded address, the name of a client and a header are no hosts.
    let main =
        |forwarded: &str| format!(r#"192.0.2.7 - - {TIME} {REQUEST} "-" "ABot/1.0" "{forwarded}""#);
    let lines: Vec<String> =
        (0..20).map(|at| main(if at % 3 == 0 { "-" } else { "b.example" })).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let all = found(&lines).unwrap();
    assert!(lines.iter().all(|line| read_by(&all, line.as_bytes(), None).0.1.is_none()));
    // Where all lines have the name of a host there, it may be that of the requests.
    assert!(found(&[&main("b.example")]).is_none() && found(&[&main("192.0.2.8")]).is_some());
    // Nor does a first line of a client whose address has a name choose the host.
    for line in [
        format!(r#"b.example - - x {TIME} {REQUEST} "-" "ABot/1.0""#),
        format!(r#"192.0.2.7 192.0.2.8 - - {TIME} {REQUEST} "-" "ABot/1.0""#),
    ] {
        assert!(found(&[&line]).is_none(), "{line}");
    }
    // Where nothing is escaped, a quote that a client sends makes another text.
    let raw = r#"escape=none "$http_referer" $host "$request" "$http_user_agent""#;
    for sent in [r#"x" b.example "GET /x HTTP/1.1"#, "x\" b.example \"", "x\""] {
        let line = format!(r#""{sent}" a.example "GET /a HTTP/1.1" "A/1""#);
        assert_eq!(read(raw, &line).0, Err(Problem::OtherFormat), "{line}");
    }
    // Nor where the rest of a line may hold anything: S3 escapes no quote.
    let s3 = |request: &str, referer: &str, agent: &str| {
        format!(
            "o pages {TIME} 192.0.2.7 - 3E57 REST.GET.OBJECT a \"GET {request} HTTP/1.1\" 200 - 1 1 7 - \
             \"{referer}\" \"{agent}\" - s9= SigV4 ECDHE - a.example TLSv1.2 - -"
        )
    };
    assert_eq!(site("s3", &s3("/a", "-", "A/1")), (ok("/a"), Some("a.example".into())));
    for sent in [r#"x" 1 2 3 4 5 b.example ""#, r#"x" 1 2 3 4 5 b.example "T"#, r#"x" "y"#, "x\""] {
        for line in
            [s3("/a", sent, "A/1"), s3("/a", "-", sent), s3(&format!("/{sent}"), "-", "A/1")]
        {
            assert_eq!(read("s3", &line).0, Err(Problem::OtherFormat), "{line}");
            // Text from a client does not change the format of the log.
            let honest = s3("/a", "-", "A/1");
            let all = found(&[&honest, &line]);
            let is_known = all.is_none_or(|all| all.format.name() == Some("s3"));
            assert!(is_known, "{line}");
        }
    }
    // Nor does what hypercorn decodes in a path, or stands in one of Squid, end the request.
    let decoded = format!(
        r#"[2025-10-10 13:55:36 -0700] [217] [INFO] 192.0.2.7:4510 - - {TIME} "GET /a 1.1" 200 1 "x 1.1" 200 5 "-" "A/1""#
    );
    let squid = format!(
        r#"192.0.2.7 - - {TIME} "GET http://a.example/a HTTP/1.1" 200 1 "x HTTP/1.1" 200 5 "-" "A/1" TCP_MISS:HIER_DIRECT"#
    );
    for (format, line) in [("hypercorn", decoded), ("squid-combined", squid)] {
        assert_eq!(read(format, &line).0, Err(Problem::OtherFormat), "{line}");
    }
    let user =
        format!(r#"192.0.2.7 - x {TIME} "GET /x HTTP/1.1" 200 - "a {TIME} {REQUEST} "-" "A/1""#);
    for format in ["mini-httpd", "combined"] {
        assert_eq!(read(format, &user).0, Err(Problem::OtherFormat), "{format}");
    }
    // Two hosts of which a client sends one: the one that the server found counts.
    let both = r#"$http_x_forwarded_host $host [$time_local] "$request""#;
    for sent in ["b.example", "b.example, c.example", "-", ""] {
        let line = format!(r#"{sent} a.example {TIME} "GET /a HTTP/1.1""#);
        assert_eq!(site(both, &line), (ok("/a"), Some("a.example".into())), "{line}");
    }
}

/// Numbers that look random.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 7_u64;
    move |bound| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    }
}

/// Whatever two or three texts of a client around the host are, no other host is read, and no other target.
#[test]
fn random_texts_of_a_client_do_not_move_the_host() {
    const PARTS: [&str; 25] = [
        " ",
        "  ",
        "-",
        "\"",
        "\" \"",
        "\\",
        "\\\"",
        "[",
        "] ",
        TIME,
        "b.example",
        "b.example 192.0.2.8 - -",
        "{",
        "|",
        " | ",
        "\t",
        ", ",
        "GET /x HTTP/1.1",
        "\" b.example \"GET /x HTTP/1.1",
        "\" 200 1 \"-\" \"x",
        "/x",
        "x",
        "#22",
        "web-1  | ",
        "\" 1 2 3 4 5 b.example ",
    ];
    let backslashes =
        |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
    let hex = |text: &str| text.replace('\\', "\\x5C").replace('"', "\\x22").replace('\t', "\\x09");
    let hash = |text: &str| {
        let text = text.replace('#', "#23").replace('"', "#22").replace('|', "#7C");
        text.replace('}', "#7D").replace('{', "#7B").replace('\t', "")
    };
    type Writer<'w> = &'w dyn Fn(&str) -> String;
    let as_is = |text: &str| text.to_owned();
    let rows: [(&str, &str, Writer<'_>); 13] = [
        ("vhost-combined", r#"H 192.0.2.7 - U T "GET P HTTP/1.1" 200 1 "V" "W""#, &backslashes),
        ("vhost-combined", r#"H 192.0.2.7 - U T "GET P HTTP/1.1" 200 1 "V" "W""#, &hex),
        ("ovh", r#"192.0.2.7 H U T "GET P HTTP/1.1" 200 1 "V" "W""#, &backslashes),
        (
            r#"%u %v %t "%r" "%{User-Agent}i" %{Referer}i"#,
            r#"U H T "GET P HTTP/1.1" "V" W"#,
            &backslashes,
        ),
        ("$remote_user|$host|$http_referer|$request", "U|H|V|GET P HTTP/1.1", &hex),
        ("$remote_user\t$host\t$http_referer\t$request", "U\tH\tV\tGET P HTTP/1.1", &hex),
        (
            r#"escape=none "$http_referer" $host "$request" "$http_x""#,
            r#""U" H "GET P HTTP/1.1" "V""#,
            &as_is,
        ),
        (
            r#"escape=none $http_referer $host "$request" $http_x"#,
            r#"U H "GET P HTTP/1.1" V"#,
            &as_is,
        ),
        (
            r#"escape=json {"a":"$http_referer","b":"$host","c":"$request"}"#,
            r#"{"a":"U","b":"H","c":"GET P HTTP/1.1"}"#,
            &backslashes,
        ),
        (
            "haproxy-host-agent",
            r#"192.0.2.7:1 [10/Oct/2025:20:55:36.1] a b/c 0/0 200 1 - - --- 1/1 0/0 {H|U} "GET P HTTP/1.1""#,
            &hash,
        ),
        (
            "envoy",
            r#"[2025-10-10T20:55:36Z] "GET P HTTP/1.1" 200 - 0 1 4 3 "U" "V" "W" "H" "10.0.0.2:80""#,
            &as_is,
        ),
        (
            "s3",
            r#"o p T 192.0.2.7 - 3 a a "GET P HTTP/1.1" 200 - 1 1 7 - "U" "V" - s = - - H - - -"#,
            &as_is,
        ),
        (
            r#"escape=none "$http_referer" $host $upstream_addr "$request" $upstream_status $status"#,
            r#""U" H 10.0.0.2:80 "GET P HTTP/1.1" 200, 200 200"#,
            &as_is,
        ),
    ];
    let mut next = numbers();
    for (format, line, write) in rows {
        let (all, mut urls) = (declared(format), 0);
        for _ in 0..500 {
            let mut sent = || {
                let parts = (0..next(6)).map(|_| PARTS[next(PARTS.len())]);
                parts.collect::<String>()
            };
            let path = format!("/{}", sent().replace([' ', '\t', '#'], ""));
            let texts = [("U", write(&sent())), ("V", write(&sent())), ("W", write(&sent()))];
            let whole = line.split_inclusive(|it: char| !it.is_ascii_uppercase()).map(|word| {
                let (name, end) = word.split_at(
                    word.len() - usize::from(!word.ends_with(|it: char| it.is_ascii_uppercase())),
                );
                let text = texts.iter().find(|(it, _)| *it == name).map(|(_, text)| text.as_str());
                let written = match name {
                    "H" => "a.example".to_owned(),
                    "T" => TIME.to_owned(),
                    "P" => write(&path),
                    name => text.unwrap_or(name).to_owned(),
                };
                written + end
            });
            let whole = whole.collect::<String>();
            let ((url, host, ..), _) = read_by(&all, whole.as_bytes(), None);
            if let Ok(url) = url {
                assert_eq!((url, host.as_deref()), (path, Some("a.example")), "{format}: {whole}");
                urls += 1;
            }
        }
        assert!(urls > 20, "{format}: {urls}");
    }
}

/// A line has the texts in quotes of its format, and nothing else.
#[test]
fn lines_of_another_format_have_no_url() {
    let line = format!(r#"192.0.2.7 - - {TIME} "GET /a HTTP/1.1" 200 23 "-" "ABot/1.0""#);
    assert_eq!(read("combined", &line).0, ok("/a"));
    let host_behind = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{Host}i"#;
    for format in ["combined", "nginx-combined", "gunicorn", "mini-httpd", host_behind] {
        let line = if format == host_behind { format!("{line} a.example") } else { line.clone() };
        for cut in 0..line.len() {
            let cut = &line[..cut];
            // A host may be cut, or empty.
            let is_host = format == host_behind && cut.contains("/1.0\" ");
            let (url, _, agent, _) = read(format, cut);
            assert!(
                is_host || url == Err(Problem::OtherFormat) && agent.is_none(),
                "{format}: {cut}"
            );
        }
    }
    for (format, other) in [
        ("combined", format!("{line} \"192.0.2.8\"")),
        ("combined", format!("{line} 0.003")),
        ("combined", format!("a.example {line}")),
        ("combined", line.replace("\"-\" ", "")),
        ("combined", line.replace("ABot/1.0", "A\" \"b.example")),
        ("combined", line.replace("ABot/1.0", "ABot/1.0\\")),
        ("combined", line.replace(" 200 23", " 200 23 0.1")),
        ("nginx-combined", line.replace("ABot/1.0", "A\" \"b.example")),
        ("gunicorn", line.replace("ABot/1.0", "A\" \"b.example")),
        (host_behind, format!("{line} b.example a.example")),
        (host_behind, format!("{line}b.example")),
    ] {
        let (url, host, ..) = read(format, &other);
        let is_no_host = host.as_deref() == Some("b.example a.example");
        assert!(is_no_host || url == Err(Problem::OtherFormat), "{format}: {other}");
    }
    // HAProxy ends a line, and mini-httpd a target, at so many bytes.
    let line = format!(
        r#"192.0.2.7:1 [10/Oct/2025:20:55:36.123] in b/s 0/0/0/1/1 200 23 - - ---- 1/1/0/0/0 0/0 {{a.example}} "GET /{} HTTP/1.1""#,
        "a".repeat(1_000)
    );
    assert!(read("haproxy-host", &line).0.is_ok());
    assert_eq!(read("haproxy-host", &line[..1_023]).0, Err(Problem::Cut));
    assert_eq!(read("haproxy-host", &line[..900]).0, Err(Problem::OtherFormat));
    let bad = r#"192.0.2.7:1 [10/Oct/2025:20:55:36.123] in in/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 "<BADREQ>""#;
    assert_eq!(read("haproxy-host", bad).0, Err(Problem::NoRequest));
    let long =
        format!(r#"192.0.2.7 - - {TIME} "GET /{} HTTP/1.1" 200 23 "-" "-""#, "a".repeat(199));
    assert_eq!(read("mini-httpd", &long).0, Err(Problem::Cut));
    assert!(read("combined", &long).0.is_ok());
}

#[test]
fn formats_of_configurations() {
    let combined = format!(r#"192.0.2.7 - - {TIME} "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#);
    let agent = Some("ABot/1.0".to_owned());
    for format in [
        r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i""#,
        r#"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""#,
        r#"LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined"#,
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#,
        r#"log_format main '$remote_addr - $remote_user [$time_local] "$request" '
                 '$status $body_bytes_sent "$http_referer" '
                 '"$http_user_agent"';"#,
        r#"escape=none '${remote_addr} - $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent"'"#,
    ] {
        assert_eq!(read(format, &combined), (ok("/a?b"), None, agent.clone(), SECONDS), "{format}");
    }
    for (format, line, url, host) in [
        ("%V %{Host}i \"%m %U%q %H\"", r#"a.example - "GET /a?b HTTP/1.1""#, "/a?b", "a.example"),
        ("%V:%p \"%r\"", r#"::1:8080 "GET /a HTTP/1.1""#, "/a", "[::1]:8080"),
        ("%V \"%r\"", r#"::1 "GET /a HTTP/1.1""#, "/a", "[::1]"),
        ("%V \"%r\"", r#"a.example:443:443 "GET /a HTTP/1.1""#, "/a", "a.example:443:443"),
        (
            "%{Host}i\t%U\t%q\t%{User-Agent}i",
            "a.example\t/a \\\"b\\\"\t?c\tA b",
            "/a \"b\"?c",
            "a.example",
        ),
        (
            "%{c}a %{User-Agent}i | %r | %{Host}i",
            "192.0.2.7 A b | GET /a | a.example",
            "/a",
            "a.example",
        ),
        (
            "$http_host|$request|$http_user_agent",
            "a.example|GET /a HTTP/1.1|A b",
            "/a",
            "a.example",
        ),
        (
            "$time_iso8601 $scheme://$host$request_uri $status",
            "2025-10-10T20:55:36Z http://a.example/a?b 200",
            "http://a.example/a?b",
            "",
        ),
        ("$host $uri$is_args$args \"$status\"", "a.example /a b?c \"200\"", "/a b?c", "a.example"),
        ("$host $uri$is_args$args x", "a.example /a#b?c#d x", "/a%23b?c%23d", "a.example"),
        // nginx writes `-` for a query that is missing, unless it writes JSON or escapes nothing.
        ("$host $uri$is_args$args x", "a.example /d- x", "/d", "a.example"),
        ("$host $uri$is_args$args x", "a.example /d-- x", "/d-", "a.example"),
        ("$host $uri$is_args$args x", "a.example /d?- x", "/d?-", "a.example"),
        ("$host $uri?$args x", "a.example /d?- x", "/d", "a.example"),
        (
            "$host \"$request\" $uri$is_args$args x",
            "a.example \"GET /d- HTTP/1.1\" /d-- x",
            "/d-",
            "a.example",
        ),
        ("$host $uri?$args x", "a.example /d?a- x", "/d?a-", "a.example"),
        ("$host $uri x $args", "a.example /d x -", "/d", "a.example"),
        (
            "escape=json \"$host\" \"$uri$is_args$args\"",
            "\"a.example\" \"/d-\"",
            "/d-",
            "a.example",
        ),
        (
            "escape=json \"$host\" \"$uri\" \"$args\"",
            "\"a.example\" \"/d\" \"-\"",
            "/d?-",
            "a.example",
        ),
        ("%V \"%U\" \"%q\"", "a.example \"/a#b\" \"?c#d\"", "/a%23b?c%23d", "a.example"),
        // Only Apache writes the `?` before a query, which may begin with one of its own.
        ("$host $uri x $args", "a.example /a x ?b", "/a??b", "a.example"),
        ("$host $uri?$args x", "a.example /a??b x", "/a??b", "a.example"),
        ("%V %U x %q", "a.example /a x ??b", "/a??b", "a.example"),
        ("%V %U x %q", "a.example /a x ?-", "/a?-", "a.example"),
        ("%V %U x %q", "a.example /a x ?", "/a?", "a.example"),
        ("%V %U x", "a.example /a#b x", "/a%23b", "a.example"),
        ("$host \"$request\"", "a.example \"GET /a#b HTTP/1.1\"", "/a#b", "a.example"),
        (
            r#"escape=json {"h":"$host","u":"$request_uri","x":"$http_user_agent"}"#,
            r#"{"h":"a.example","u":"/a\"\u00e9","x":"A"}"#,
            "/a\"\u{e9}",
            "a.example",
        ),
        (
            "$scheme $server_port $host \"$request_uri\"",
            "http 80 a.example \"/a\"",
            "/a",
            "http://a.example",
        ),
        ("$server_port $host \"$request_uri\"", "80 a.example \"/a\"", "/a", "http://a.example"),
    ] {
        let host = Some(host.to_owned()).filter(|host| !host.is_empty());
        assert_eq!(site(format, line), (ok(url), host), "{format}");
    }
    // Texts that are not told apart: as many separators as the format has, or no value.
    let pipes = "$http_host|$request|$http_user_agent";
    for line in ["a.example|GET /a|b HTTP/1.1|A", "a.example|GET /a HTTP/1.1|A|b"] {
        assert_eq!(read(pipes, line).0, Err(Problem::OtherFormat), "{line}");
    }
    let forwarded = r#"%{Host}i %{X-Forwarded-For}i %l %u %t "%r""#;
    for sent in ["192.0.2.8", "192.0.2.8, b.example", "- b.example x"] {
        let line = format!(r#"a.example {sent} - - {TIME} "GET /a HTTP/1.1""#);
        assert_eq!(site(forwarded, &line), (ok("/a"), Some("a.example".into())), "{line}");
    }
    // nginx has - for the target that it could not read.
    let whole = "$scheme://$host$request_uri $status";
    assert_eq!(read(whole, "http://a.example- 400").0, Err(Problem::NoRequest));
}

#[test]
fn formats_that_cannot_be_read() {
    for (format, problem) in [
        ("nginxx", "no format is called `nginxx`"),
        ("%h %l %u %t", "no request"),
        ("$host $status", "no request"),
        ("%h %Z \"%r\"", "column 4: `%Z` is no directive"),
        ("%ci:%cp [%tr] %ft", "column 1: `%ci` is no directive"),
        ("%{Host}i %{x \"%r\"", "column 10: the brace is not closed"),
        ("%h \"%r", "a quote is not closed"),
        ("$host$uri", "two fields stand together"),
        ("%h $host \"%r\"", "both % and $"),
        ("$a - $request [$b] $c", "the request stands between texts that a client sends"),
        ("log_format x escape=yes '$request'", "`escape=yes`"),
        ("'$host' x", "column 9"),
        ("$host $ $request", "column 7"),
    ] {
        let error = format.parse::<LogFormat>().expect_err(format);
        assert!(error.contains(problem), "{format}: {error}");
    }
}

#[test]
fn requests() {
    for (request, expected) in [
        ("GET / HTTP/1.0", Some("/")),
        ("GET /", Some("/")),
        ("GET /a 1.1", Some("/a")),
        ("GET /a b 2", Some("/a b")),
        ("HEAD /a b HTTP/1.1", Some("/a b")),
        ("GET  /a HTTP/1.1", Some("/a")),
        ("GET /a HTTP/1.1 ", Some("/a")),
        ("M-SEARCH //a HTTP/1.1", Some("//a")),
        ("GET http://a.example/b HTTP/1.1", Some("http://a.example/b")),
        ("GET /a b", None),
        ("UNKNOWN /a UNKNOWN", None),
        ("UNKNOWN /a HTTP/1.1", None),
        ("-", None),
        ("", None),
        ("GET", None),
        ("GET ", None),
        ("- http://a.example:80- -", None),
        ("OPTIONS * HTTP/1.1", None),
        ("CONNECT a.example:443 HTTP/1.1", None),
        ("PRI * HTTP/2.0", None),
        ("\u{16}\u{3} /a", None),
        ("GET a.example/b HTTP/1.1", None),
        ("GET ://a HTTP/1.1", None),
    ] {
        let found = target(request.as_bytes()).map(|target| str::from_utf8(target).unwrap());
        assert_eq!(found, expected, "{request}");
    }
    let escapes =
        |escape: Escape, text: &str| escape.undone(text.as_bytes()).escape_ascii().to_string();
    assert_eq!(escapes(Escape::Backslash, r#"\"a\"\\\x41\x0a\q\x4\t"#), r#"\"a\"\\A\n\\q\\x4\t"#);
    assert_eq!(escapes(Escape::Hex, r#"\x22\a\\"#), r#"\"\\a\\\\"#);
    let of_h2o = r#"\x22\x09\x7f\xe9\x71\xE9\x5c\a\"#;
    assert_eq!(escapes(Escape::Unsafe, of_h2o), r#"\"\t\x7f\xe9\\x71\\xE9\\x5c\\a\\"#);
    assert_eq!(escapes(Escape::Quote, r#"\"\a\x22"#), r#"\"\\a\\x22"#);
    assert_eq!(escapes(Escape::Hash, "#22a#7C#x"), "\\\"a|#x");
    assert_eq!(escapes(Escape::Json, r#"\u00e9\/\n"#), "\\xc3\\xa9/\\n");
    assert_eq!(escapes(Escape::None, r#"\"#), r#"\\"#);
}

/// An absolute target is of the site for which the server that wrote the log served it.
#[test]
fn absolute_targets() {
    const OTHER: Doubts = Doubts::OTHER_HOST;
    const SAME: Doubts = Doubts(0);
    let vhost = "%v %h \"%r\"";
    let sent = "$http_host $remote_addr \"$request\"";
    let whole = "$scheme://$http_host$request_uri";
    for (format, host, target, given, expected) in [
        // Apache logs the site that answered, nginx answers for the target.
        (vhost, "a.example", "http://a.example/x", None, ("/x", SAME)),
        (vhost, "a.example", "https://b.example/x", None, ("/x", OTHER)),
        (vhost, "a.example", "https://b.example?x", None, ("/?x", OTHER)),
        (sent, "a.example", "http://b.example/x", None, ("http://b.example/x", OTHER)),
        (sent, "a.example:80", "http://A.example./x", None, ("/x", SAME)),
        (sent, "-", "http://b.example/x", Some("a.example"), ("http://b.example/x", OTHER)),
        (sent, "-", "http://a.example:80/x", Some("http://a.example"), ("/x", SAME)),
        (sent, "-", "https://a.example/x", Some("a.example:443"), ("/x", SAME)),
        (sent, "-", "http://b.example/x", None, ("http://b.example/x", SAME)),
        (sent, "-", "ftp://b.example/x", None, ("ftp://b.example/x", SAME)),
        // Another port or scheme is another origin.
        (vhost, "a.example", "http://a.example:8080/x", None, ("/x", OTHER)),
        (vhost, "a.example", "ftp://a.example/x", None, ("/x", OTHER)),
        (vhost, "a.example:443", "http://a.example/x", None, ("/x", OTHER)),
        (vhost, "a.example:8080", "http://a.example:8080/x", None, ("/x", SAME)),
        (vhost, "a.example", "http://a.example:/x", None, ("/x", SAME)),
        (vhost, "a.example", "http://a.example:080/x", None, ("/x", SAME)),
        (vhost, "a.example", "http://a.example:4294967376/x", None, ("/x", OTHER)),
        (vhost, "2001:db8::80", "http://[2001:db8::80]/x", None, ("/x", SAME)),
        (vhost, "2001:db8::80", "http://[2001:db8::80]:8080/x", None, ("/x", OTHER)),
        (
            sent,
            "a.example:443",
            "https://a.example:8443/",
            None,
            ("https://a.example:8443/", OTHER),
        ),
        (sent, "-", "http://a.example:81/", Some("a.example"), ("http://a.example:81/", OTHER)),
        (sent, "-", "http://a.example/x", Some("https://a.example"), ("http://a.example/x", OTHER)),
        (sent, "-", "ftp://a.example/x", Some("a.example"), ("ftp://a.example/x", OTHER)),
        // The scheme before a host is the server's.
        (whole, "", "http://a.example/x", Some("a.example"), ("http://a.example/x", SAME)),
        (whole, "", "http://b.example/x", Some("a.example"), ("http://b.example/x", OTHER)),
    ] {
        let line = match format == whole {
            true => target.to_owned(),
            false => format!("{host} 192.0.2.7 \"GET {target} HTTP/1.1\""),
        };
        let ((url, ..), doubts) = read_by(&declared(format), line.as_bytes(), given);
        assert_eq!((url.as_deref(), doubts), (Ok(expected.0), expected.1), "{line}");
    }
    // Varnish joins the host and whatever target there is.
    let varnish =
        |url: &str| format!(r#"192.0.2.7 - - {TIME} "GET http://{url} HTTP/1.1" 200 1 "-" "-""#);
    for url in [
        "a.examplehttps://b.example/x",
        "a.exampleftp://b.example/x",
        "a.example://b.example/x",
        "a.example@b.example/x",
        "a.example:80@b.example/x",
    ] {
        for format in ["varnish", "combined"] {
            assert_eq!(read(format, &varnish(url)).0, Err(Problem::NoRequest), "{format}: {url}");
        }
    }
    assert_eq!(read("varnish", &varnish("a.example/@b:/")).0, ok("http://a.example/@b:/"));
    // A host that goes on in the target is in doubt only where the host is given.
    let (_, doubts) = read_by(
        &declared("varnish"),
        varnish("a.example.b.example/x").as_bytes(),
        Some("a.example"),
    );
    assert_eq!(doubts, OTHER);
}

#[test]
fn what_servers_do_not_log_is_in_doubt() {
    let combined =
        |target: &str| format!(r#"192.0.2.7 - - {TIME} "GET {target} HTTP/1.1" 200 1 "-" "-""#);
    let squid = |target: &str| combined(target).replace(" \"-\" \"-\"", " TCP_MISS:HIER_DIRECT");
    let both = Doubts(Doubts::NO_QUERY.0 | Doubts::DECODED.0);
    for (format, line, doubts) in [
        ("combined", combined("/a"), Doubts(0)),
        ("mini-httpd", combined("/a"), both),
        ("squid-common", squid("http://a.example/a?"), Doubts::NO_QUERY),
        ("squid-common", squid("http://a.example/a"), Doubts(0)),
        ("%h %U", "192.0.2.7 /a".to_owned(), both),
        ("%h \"%U\" %q", "192.0.2.7 \"/a\" ".to_owned(), Doubts::DECODED),
        ("%h \"%r\" %U", "192.0.2.7 \"GET /a HTTP/1.1\" /a".to_owned(), Doubts(0)),
        ("$uri$is_args$args", "/a".to_owned(), Doubts::DECODED),
        ("mini-httpd", combined("/a#b"), both),
        ("$request_uri", "/a".to_owned(), Doubts(0)),
    ] {
        let ((url, ..), found) = read_by(&declared(format), line.as_bytes(), None);
        assert!(url.is_ok(), "{format}: {line}");
        assert_eq!(found, doubts, "{format}");
    }
}

#[test]
fn what_collectors_write_before_a_line() {
    let line = format!(r#"192.0.2.7 - - {TIME} "GET /a HTTP/1.1" 200 23 "-" "ABot/1.0""#);
    for (prefix, expected) in [
        ("", Some(None)),
        ("web-1  | ", Some(Some(Prefix::Compose))),
        ("Oct 10 13:55:36 web1 nginx: ", Some(Some(Prefix::Syslog))),
        ("Oct  4 13:55:36 haproxy[8]: ", Some(Some(Prefix::Syslog))),
        ("<190>nginx: ", Some(Some(Prefix::Syslog))),
        ("<134>2025-10-10T20:55:36Z cache-1 site[62]: ", Some(Some(Prefix::Syslog))),
        ("2025-10-10T20:55:36+00:00 web1.example nginx: ", Some(Some(Prefix::Syslog))),
        ("2025-10-10T20:55:36.1Z stdout F ", Some(Some(Prefix::Stream))),
        ("[pod/web/nginx] ", Some(Some(Prefix::Pod))),
        ("Oct 10 13:55:36.123456 web1 nginx[1]: ", Some(Some(Prefix::Syslog))),
        ("<134>1 2025-10-10T20:55:36.1Z web1 nginx 12 - - ", Some(Some(Prefix::Syslog))),
        ("<134>1 2025-10-10T20:55:36.1Z web1 nginx 12 - -  ", Some(Some(Prefix::Syslog))),
        ("2025-10-10T20:55:36.123456789Z ", Some(Some(Prefix::Time))),
        ("336 ", None),
        ("b.example: ", Some(Some(Prefix::Syslog))),
    ] {
        let whole = format!("{prefix}{line}");
        let all = found(&[&whole]);
        assert_eq!(all.as_ref().map(|all| all.prefix), expected, "{whole}");
        let Some(all) = all else { continue };
        let (read, _) = read_by(&all, whole.as_bytes(), None);
        assert_eq!((read.0, read.1, read.3), (ok("/a"), None, SECONDS), "{whole}");
        // A declared format is found after it too, and all lines have it.
        let all = LogLine::declared([whole.as_bytes()].into_iter(), &all.format, ALL).unwrap();
        assert_eq!(Some(all.prefix), expected);
        let without = read_by(&all, line.as_bytes(), None).0.0;
        assert_eq!(without.is_ok(), prefix.is_empty(), "{prefix}");
    }
}

/// Words of a collector could be fields of the format too.
#[test]
fn what_collectors_write_is_no_host() {
    let vhost = format!(r#"a.example:443 192.0.2.7 - - {TIME} "GET /a HTTP/1.1" 200 23 "-" "-""#);
    let behind = format!(r#"192.0.2.7 a.example - {TIME} "GET /a HTTP/1.1" 200"#);
    let short = r#"a.example bob "GET /a HTTP/1.1""#.to_owned();
    let ovh = r#"$remote_addr $host $remote_user [$time_local] "$request" $status"#;
    let short_format = r#"$host $remote_user "$request""#;
    let read_all = |format: &str, lines: &[&str]| {
        let lines = || lines.iter().map(|line| line.as_bytes());
        let all = LogLine::declared(lines(), &format.parse().unwrap(), ALL)?;
        let hosts = lines().map(|line| read_by(&all, line, None).0.1);
        Ok::<_, String>(hosts.map(Option::unwrap_or_default).collect::<Vec<_>>())
    };
    let (compose, syslog) = ("web-1  | ", "Oct 10 13:55:36 web1 apache2: ");
    // With a user of any words, a name of the collector could be the host.
    for (format, line, host, unclear) in [
        ("vhost-combined", &vhost, "a.example:443", &[][..]),
        (ovh, &behind, "a.example", &[]),
        (short_format, &short, "a.example", &[compose, syslog]),
    ] {
        for prefix in [
            "",
            compose,
            syslog,
            "2025-10-10T13:55:36+00:00 b.example nginx: ",
            "2025-10-10T20:55:36.1Z stdout F ",
            "2025-10-10T20:55:36.1Z ",
            "[pod/web/nginx] ",
        ] {
            let line = format!("{prefix}{line}");
            let found = read_all(format, &[&line, &line]);
            match unclear.contains(&prefix) {
                true => assert!(found.unwrap_err().contains("each way"), "{format}: {line}"),
                false => assert_eq!(found.unwrap(), [host, host], "{format}: {line}"),
            }
        }
        let mixed = read_all(format, &[line, &format!("web-1  | {line}")]);
        assert!(mixed.unwrap_err().contains("Docker Compose"), "{format}");
    }
    // A client does not make a log unreadable.
    let timed = r#"$time_iso8601 $http_x_forwarded_for [$host] "$request""#;
    let time = "2025-10-10T20:55:36+00:00";
    let sent =
        ["1.2.3.4", time].map(|it| format!("{time} {it} 1.2.3.4 [a.example] \"GET / HTTP/1.1\""));
    assert_eq!(read_all(timed, &[&sent[0], &sent[1]]), Ok(vec!["a.example".to_owned(); 2]));
    let free = r#"$http_x_forwarded_for $host "$request""#;
    let sent = ["192.0.2.7 a.example \"GET / HTTP/1.1\"", "x | y a.example \"GET / HTTP/1.1\""];
    assert_eq!(read_all(free, &sent), Ok(vec!["a.example".to_owned(); 2]));
    // Without the shape of its fields, a line is one of its format if it can be cut.
    let odd = format!(r#"unix: a.example - {TIME} "GET /a HTTP/1.1" 200"#);
    assert_eq!(read_all(ovh, &[&odd]), Ok(vec!["a.example".to_owned()]));
}

/// A server finds the port, but a header has it if it is not usual.
#[test]
fn ports_of_their_own_are_used() {
    let given = |format: &str, line: &str| {
        let line = format!("{line} \"GET /a HTTP/1.1\"");
        read_by(&declared(&format!("{format} \"%r\"")), line.as_bytes(), Some("all.example")).0.1
    };
    for (format, line, host) in [
        ("%p %V", "8080 a.example", "a.example:8080"),
        ("%p %V", "443 a.example", "a.example"),
        ("%p %V", "80 a.example", "http://a.example"),
        ("%p %V", "8080 2001:db8::1", "[2001:db8::1]:8080"),
        ("%p %V", "8080 a.example:81", "a.example:81"),
        ("%p %V", "- a.example", "a.example"),
        ("%p %V", "8080 -", "all.example:8080"),
    ] {
        assert_eq!(given(format, line).as_deref(), Some(host), "{format}: {line}");
    }
    assert_eq!(given("%p %V", "443 -"), None);
    let site =
        |format: &str, line: &str| site(&format!("{format} $request_uri"), &format!("{line} /a")).1;
    for (format, line, host) in [
        ("$scheme $server_port $host", "https 8443 a.example", "https://a.example:8443"),
        ("$scheme $server_port $host", "http 80 a.example", "http://a.example"),
        ("$scheme $server_port $host", "http 443 a.example", "http://a.example:443"),
        ("$server_port \"$http_host\"", "8080 \"a.example\"", "a.example"),
        ("$server_port \"$http_host\"", "80 \"a.example\"", "http://a.example"),
    ] {
        assert_eq!(site(format, line).as_deref(), Some(host), "{format}: {line}");
    }
}

#[test]
fn lists_without_a_known_format() {
    let line = format!(r#"192.0.2.7 - - {TIME} "GET /a HTTP/1.1" 200 23 "-" "ABot/1.0""#);
    let behind = format!("{line} \"a.example\"");
    assert!(found(&[&line, &line]).is_some());
    // One request of another format is enough, and lines that are none are not.
    assert!(found(&[&line, &behind]).is_none());
    assert!(found(&["newsyslog[7]: logfile turned over", &line]).is_some());
    assert!(found(&[]).is_none());
    for log in [
        behind.as_str(),
        "1760129736.480\t192.0.2.7\ta.example\tGET\t/a\tHTTP/1.1\t204\tABot/1.0",
        "192.0.2.7|a.example|GET /a HTTP/1.1|204",
        r#"[2025-10-10T20:55:36Z] - a.example - 200 - GET - "/a" - "ABot/1.0""#,
        r#"host="a.example" method="GET" path="/a""#,
        r#"a.example "GET /a HTTP/1.1" /a"#,
    ] {
        assert!(looks_like_log(log.as_bytes()), "{log}");
    }
    for other in
        ["https://a.example/GET", "GET /a HTTP/1.1", "a GET", "https://a.example/ [b] \"c\"", ""]
    {
        assert!(!looks_like_log(other.as_bytes()) && !is_known(other.as_bytes()), "{other}");
    }
}

#[test]
fn long_lines_take_linear_time() {
    let bytes = 1 << 20;
    for part in ["[", "\"", "\\", "\\\"", " ", ", ", "a|", "\" \""] {
        let text = part.repeat(bytes / part.len());
        let line =
            format!(r#"192.0.2.7 - {text} {TIME} "GET /{text} HTTP/1.1" 200 1 "{text}" "{text}""#);
        for format in [
            "combined",
            "gunicorn",
            "mini-httpd",
            "nginx-combined",
            "ingress-nginx",
            "squid-combined",
        ] {
            let _ = read(format, &line);
        }
        let _ = read("$http_host|$request|$http_user_agent", &line);
        let _ = found(&[&line]);
    }
}
