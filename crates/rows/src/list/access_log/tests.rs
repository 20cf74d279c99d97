use super::*;

const LINE: &str =
    r#"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#;

/// The URL, the time and the agent of a line.
type Read = (Result<Vec<u8>, Problem>, Option<u64>, Option<Vec<u8>>);

fn read(line: &[u8]) -> Read {
    let arena = Arena::new();
    let all = AccessLine::find([line].into_iter(), true, true);
    let Values { url, time, agent, .. } = all.read(line, &arena);
    (url.map(<[u8]>::to_vec), time.map(|time| time.0), agent.map(<[u8]>::to_vec))
}

/// The host of a line that is a whole list.
fn host(line: &str) -> Option<String> {
    let all = AccessLine::find([line.as_bytes()].into_iter(), true, true);
    let arena = Arena::new();
    let host = all.read(line.as_bytes(), &arena).host;
    host.map(|host| String::from_utf8(host.to_vec()).unwrap())
}

fn url(request: &str) -> Result<String, Problem> {
    let line = LINE.replace("GET /a?b HTTP/1.1", request);
    read(line.as_bytes()).0.map(|url| url.escape_ascii().to_string())
}

#[test]
fn the_formats_of_servers() {
    let time = Some(971_211_336);
    let ok = |path: &str| Ok(path.as_bytes().to_vec());
    let agent = Some(b"ABot/1.0".to_vec());
    assert_eq!(read(LINE.as_bytes()), (ok("/a?b"), time, agent.clone()));
    let more = format!(r#"{LINE} "192.0.2.8" 0.003"#);
    assert_eq!(read(more.as_bytes()), (ok("/a?b"), time, agent.clone()));
    let common = &LINE[..LINE.len() - r#" "-" "ABot/1.0""#.len()];
    assert_eq!(read(common.as_bytes()), (ok("/a?b"), time, None));
    for client in ["2001:db8::7", "host.example", "-"] {
        let line = LINE.replace("192.0.2.7", client);
        assert_eq!(read(line.as_bytes()), (ok("/a?b"), time, agent.clone()));
        assert_eq!(host(&line), None);
        let line = format!("a.example:443 {line}");
        assert_eq!(host(&line).as_deref(), (client != "-").then_some("a.example:443"));
    }
    // lighttpd has the host behind the client, and syslog a prefix.
    assert_eq!(host(&LINE.replace("7 -", "7 a.example")).as_deref(), Some("a.example"));
    for before in
        ["a.example - 192.0.2.7 - -", "192.0.2.7 - - a.example", "192.0.2.7 - u a.example"]
    {
        let line = LINE.replace("192.0.2.7 - -", before);
        assert_eq!(host(&line).as_deref(), Some("a.example"), "{before}");
    }
    assert_eq!(host(&LINE.replace("- -", "- 192.0.2.8 -")), None);
    for prefix in [
        "Oct 10 13:55:36 web1 nginx: ",
        "Oct 10 13:55:36 web1.example ",
        "<190>nginx: ",
        "2025-10-10T20:55:36+00:00 web1.example nginx: ",
        "nginx_1  | ",
        "2025-10-10T20:55:36.1Z stdout F ",
    ] {
        assert_eq!(host(&format!("{prefix}{LINE}")), None, "{prefix}");
        let line = format!("{prefix}a.example:443 {LINE}");
        assert_eq!(host(&line).as_deref(), Some("a.example:443"), "{prefix}");
    }
    // Users may have spaces, brackets and escaped quotes in their names.
    for user in ["john", "john doe", "x [y", "x [y]", r#"\"GET /c HTTP/1.1\""#] {
        let line = LINE.replace("- - [", &format!("- {user} ["));
        assert_eq!(read(line.as_bytes()), (ok("/a?b"), time, agent.clone()), "{user}");
        assert_eq!(host(&line), None, "{user}");
    }
}

/// A client cannot choose where the host is: most lines do.
#[test]
fn names_that_clients_send_are_no_hosts() {
    let host_of = |others: &str, one: &str| {
        let lines = [others, others, one, others];
        let all = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
        all.read(one.as_bytes(), &Arena::new()).host.map(<[u8]>::to_vec)
    };
    let forwarded = |by: &str, host: &str| format!(r#"{LINE} "{by}"{host}"#);
    assert_eq!(host_of(&forwarded("-", ""), &forwarded("b.example", "")), None);
    let host =
        host_of(&forwarded("-", r#" "a.example""#), &forwarded("b.example", r#" "198.51.100.7""#));
    assert_eq!(host.as_deref(), Some(&b"198.51.100.7"[..]));
    let two = format!("b.example 1.1.1.1, {LINE}");
    // Where most lines have no host, a line with one is of another log.
    assert_eq!(host_of(LINE, &two).as_deref(), Some(NO_HOST));
    let user = LINE.replace("- - [", "- - b.example [");
    assert_eq!(host_of(LINE, &user), None);
    // Nor move it by words outside of quotes.
    let (time, rest) = LINE["192.0.2.7 - - ".len()..].split_at(28);
    let chains = ["1.1.1.1, b.example", "1.1.1.1 b.example", "b.example"];
    let users = ["x b.example", "john doe", "x,", "x:", "x [y", "\"\""];
    for (layout, sent, host) in [
        (format!("192.0.2.7 - @ a.example {time}{rest}"), &users[..], "a.example"),
        (format!("192.0.2.7 a.example @ {time}{rest}"), &users[..2], "?"),
        (format!("a.example 192.0.2.7 - @ {time}{rest}"), &users, "a.example"),
        (format!("@ a.example 192.0.2.7 - - {time}{rest}"), &chains[..2], "?"),
        (format!("192.0.2.7 - - {time} @ a.example{rest}"), &chains, "a.example"),
        (format!("192.0.2.7 - - {time} 0.1 @ a.example 7{rest}"), &chains[1..2], "?"),
        (format!("192.0.2.7 - - {time}{rest} @ a.example"), &chains, "a.example"),
        (format!("{time} @ 200 - 192.0.2.9 a.example{rest}"), &["502, 200", "- -"], "a.example"),
    ] {
        let usual = if layout.starts_with('@') { "1.1.1.1" } else { "-" };
        for words in sent {
            let host = Some(host.as_bytes());
            let [others, one] = [usual, words].map(|words| layout.replace('@', words));
            assert_eq!(host_of(&others, &one).as_deref(), host, "{one}");
            assert_eq!(host_of(&others, &others).as_deref(), Some(&b"a.example"[..]), "{others}");
        }
    }
    // A chain is a client, and a line without the host of the others has none.
    for chain in ["192.0.2.8, 10.0.0.1", "unknown, 10.0.0.2"] {
        let line = LINE.replace("192.0.2.7", chain);
        assert_eq!((host_of(LINE, &line), host_of(&line, &line)), (None, None));
    }
    let named = LINE.replace("192.0.2.7", "b.example, 10.0.0.2");
    assert_eq!(host_of(LINE, &named).as_deref(), Some(NO_HOST));
    let first = format!("a.example {LINE}");
    assert_eq!(host_of(&first, &LINE.replace("192.0.2.7", "b.example")).as_deref(), Some(NO_HOST));
    for (others, one) in [
        (first.as_str(), r#""GET /a HTTP/1.1" 200 23 "-" "ABot/1.0""#),
        (&first, r#" "GET /a HTTP/1.1" 200"#),
        (&format!(r#"{LINE} "a.example""#), LINE),
        (&format!("{LINE} a.example"), LINE),
    ] {
        assert_eq!(host_of(others, one).as_deref(), Some(NO_HOST), "{one}");
    }
    let syslog = format!("Oct 10 13:55:36 web1 nginx: {LINE}");
    let user = syslog.replace("- - [", "- x: b.example 1.1.1.1 - [");
    assert_eq!(host_of(&syslog, &user), None);
    // Nor can it hide the host of the others.
    let behind = |host: &str| format!(r#"{LINE} "{host}""#);
    for odd in ["localhost", "c.example, d", "'or", "_", "*", "c.example/x", "", "-"] {
        let (others, one) = (behind("a.example"), behind(odd));
        assert_eq!(host_of(&others, &one).as_deref(), Some(odd.as_bytes()), "{odd}");
    }
}

/// The host and the time of `one` in a list where most lines are like `others`.
fn host_and_time(others: &str, one: &str) -> (Option<String>, Option<u64>) {
    let lines = [others, others, one, others];
    let all = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
    let arena = Arena::new();
    let Values { host, time, .. } = all.read(one.as_bytes(), &arena);
    (host.map(|host| String::from_utf8(host.to_vec()).unwrap()), time.map(|time| time.0))
}

/// What a client sends with blanks, quotes, times or nothing moves neither the host nor the time.
#[test]
fn a_line_that_is_built_otherwise_has_no_host() {
    const TIME: &str = "[10/Oct/2000:13:55:36 -0700]";
    const ISO: &str = "2000-10-10T20:55:36Z";
    const SENT: &str = "[01/Jan/2020:00:00:00 +0000]";
    const REQUEST: &str = r#""GET /a HTTP/1.1" 200 23 "-" "ABot/1.0""#;
    let no_host = std::str::from_utf8(NO_HOST).unwrap();
    for (others, one) in [
        // A second time.
        ("T a.example 192.0.2.7 - - R", "T a.example 192.0.2.7 - x S b.example 1.1.1.1 - - R"),
        ("192.0.2.7 - - T a.example 1.1.1.1 R", "192.0.2.7 - - T a.example S b.example x R"),
        ("192.0.2.7 - - a.example T 1.1.1.1 R", "192.0.2.7 - - a.example T b.example S R"),
        ("192.0.2.7 - - a.example I R", "192.0.2.7 - b.example 2020-01-01T00:00:00Z a.example I R"),
        // More words, and fewer.
        (
            "1.1.1.1 a.example 192.0.2.7 - - T R",
            "1.1.1.1 b.example 2.2.2.2 - a.example 192.0.2.7 - - T R",
        ),
        ("T 192.0.2.7 - john a.example 1.1.1.1 R", "T 192.0.2.7 -   a.example b.example x R"),
        ("192.0.2.7 - - T 1.1.1.1 a.example - R", "192.0.2.7 - - T 1.1.1.1 b.example a.example  R"),
        ("T 1.1.1.1 a.example - 192.0.2.9 R", "T x b.example a.example y, 192.0.2.9 R"),
        (
            "192.0.2.7 - - T R 1.1.1.1 a.example abc 0.003",
            "192.0.2.7 - - T R x https://b.example x, p.example y, 0.003",
        ),
        (
            "192.0.2.7 - - T R 1.1.1.1 a.example abc 0.003",
            "192.0.2.7 - - T R x b%2eexample x, p.example y, 0.003",
        ),
        (
            "192.0.2.7 - - T 0.003 1.1.1.1 a.example abc R",
            "192.0.2.7 - - T 0.003  p.example https://b.example x R",
        ),
        (
            "192.0.2.7 - - T 1.1.1.1 a.example srv.example abc 0.003 R",
            "192.0.2.7 - - T x b.example x, p.example srv.example y, 0.003 R",
        ),
        (
            "192.0.2.7 - - T R 1.1.1.1 0.003 a.example abc",
            "192.0.2.7 - - T R 1.1.1.1, 0.003 p.example b.example x",
        ),
        (
            "192.0.2.7 - - T 0.003 1.1.1.1 a.example abc R",
            "192.0.2.7 - - T 0.003  intranet b.example x R",
        ),
        ("192.0.2.7 abc a.example - T R", "192.0.2.7  p.example b.example 1 T R"),
        (
            "192.0.2.7 - - T R 1.1.1.1 a.example 5f3c 0.003 10.0.0.1:80",
            "192.0.2.7 - - T R 1.1.1.1 b.example p.example 1, 0.003 10.0.0.1:80",
        ),
        (
            "192.0.2.7 - - T R 1.1.1.1 a.example 5f3c 10.0.0.1:80",
            "192.0.2.7 - - T R 1.1.1.1 b.example p.example. 1.1.1.1, 10.0.0.1:80",
        ),
        (
            "192.0.2.7 - - T 1.1.1.1 TLSv1.2 a.example - R",
            "192.0.2.7 - - T 1.1.1.1, - p.example b.example - R",
        ),
        ("192.0.2.7 - - T S a.example R", "192.0.2.7 - - T [-] - R"),
        ("1.1.1.1 a.example - - T R", " p.example - x y T R"),
        ("192.0.2.7 - - a.example T R", "192.0.2.7 - b.example T R"),
        ("192.0.2.7 - - T 0.1 a.example R", "192.0.2.7 - - T b.example R"),
        ("192.0.2.7 - - T a.example R", "192.0.2.7 - - T R"),
        ("a.example\t192.0.2.7\t-\t-\tT\tR", "b.example\t-\t-\tT\tR"),
        // Quotes that are not closed, or none of a text.
        (
            "192.0.2.7 - - T R a.example",
            r#"192.0.2.7 - - T "GET /a HTTP/1.1" 200 23 "-" "AAA b.example"#,
        ),
        ("192.0.2.7 - - T R a.example", r#"192.0.2.7 - - T "GET /a HTTP/1.1" 200 23 "b.example"#),
        ("192.0.2.7 - - T R a.example 1.1.1.1", r#"192.0.2.7 - - T R a.example x\" b.example"#),
        (r#"192.0.2.7 - - T R "a.example""#, r#"192.0.2.7 - - T R "x" "b.example""#),
        (r#"192.0.2.7 - - T R "1.1.1.1" "a.example""#, r#"192.0.2.7 - - T R "1"" "p.example""#),
    ] {
        let [others, one] = [others, one].map(|text| {
            let word = |word: &str| match word {
                "T" => TIME.to_owned(),
                "I" => ISO.to_owned(),
                "S" => SENT.to_owned(),
                "R" => REQUEST.to_owned(),
                word => word.to_owned(),
            };
            let fields = text
                .split(' ')
                .map(|field| field.split('\t').map(word).collect::<Vec<_>>().join("\t"));
            fields.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(host_and_time(&others, &others).0.as_deref(), Some("a.example"), "{others}");
        assert_eq!(host_and_time(&others, &one).0.as_deref(), Some(no_host), "{one}");
    }
    // Nor the time where no line has a host.
    let usual = format!("192.0.2.7 - - {TIME} 1.1.1.1 {REQUEST}");
    assert_eq!(host_and_time(&usual, &usual), (None, Some(971_211_336)));
    let sent = usual.replace("1.1.1.1", SENT);
    assert_eq!(host_and_time(&usual, &sent), (None, None));
    for (others, host) in [
        (format!("a.example 2001:db8:1:: - - {TIME} {REQUEST}"), "a.example"),
        (format!("- a.example 192.0.2.7 - - {TIME} {REQUEST}"), "a.example"),
        (format!("intranet 192.0.2.7 - - {TIME} {REQUEST}"), "intranet"),
        (
            format!(r#"192.0.2.7 - - {TIME} "GET /a HTTP/1.1" 200 23 "ABot/1.0" "a.example""#),
            "a.example",
        ),
        (
            format!(
                "2025-10-10T20:55:36.1Z stdout F - - - 2000-10-10 20:55:36 a.example {REQUEST}"
            ),
            "a.example",
        ),
        (format!("{ISO} a.example ::1 - - {TIME} {REQUEST}"), "a.example"),
        (format!("192.0.2.7 - - {TIME} [{ISO}] a.example {REQUEST}"), "a.example"),
        (format!("{ISO} {ISO} 192.0.2.7 a.example {REQUEST}"), "a.example"),
        (format!(r#"192.0.2.7 - - {TIME} "a.example" 443 {REQUEST}"#), "a.example"),
        (format!("a.example          192.0.2.7     - - {TIME} {REQUEST}"), "a.example"),
    ] {
        assert_eq!(host_and_time(&others, &others).0.as_deref(), Some(host), "{others}");
    }
    for prefix in [format!("{ISO} "), "[pod/web/nginx] ".to_owned()] {
        let line = format!("{prefix}192.0.2.7 - - {TIME} {REQUEST}");
        assert_eq!(host_and_time(&line, &line), (None, Some(971_211_336)), "{line}");
    }
    // Blanks fill columns; an address may be the host; and a user may have blanks.
    let padded = |client: &str| format!("{:<16} {client:<16} - - {TIME} {REQUEST}", "a.example");
    let host = host_and_time(&padded("192.0.2.7"), &padded("2001:db8::7")).0;
    assert_eq!(host.as_deref(), Some("a.example"));
    let upstream = |host: &str| format!("192.0.2.7 - - {TIME} 0.1 {host} 0.2 {REQUEST}");
    for other in ["192.0.2.9", "localhost", "_"] {
        let host = host_and_time(&upstream("a.example"), &upstream(other)).0;
        assert_eq!(host.as_deref(), Some(other));
    }
    let user = |user: &str| format!("a.example - 192.0.2.7 - {user} {TIME} {REQUEST}");
    assert_eq!(host_and_time(&user("-"), &user("john doe")).0.as_deref(), Some("a.example"));
    // Names beside the host are no doubt where no word can have moved.
    let beside = |name: &str| format!("192.0.2.7 - - {TIME} {REQUEST} 0.1 a.example {name} 0.2");
    for name in ["a.example", "b.example", "/%C3%A4", "index.html"] {
        let host = host_and_time(&beside("-"), &beside(name)).0;
        assert_eq!(host.as_deref(), Some("a.example"), "{name}");
    }
    let times = |chain: &str| format!("192.0.2.7 - - {TIME} {REQUEST} rt=0.1 a.example {chain} x");
    let host = host_and_time(&times("urt=0.001"), &times("urt=0.001, 0.002")).0;
    assert_eq!(host.as_deref(), Some("a.example"));
    // One host that is no name does not make another column that of hosts.
    let tail = |host: &str| format!("{host} 192.0.2.7 - - {TIME} {REQUEST} web1.example");
    let lines: Vec<String> =
        (0..20).map(|at| tail(if at == 7 { "localhost" } else { "a.example" })).collect();
    let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
    assert_eq!(found.describe_host(), Some("the host first"));
    let quoted = |host: &str| format!(r#"abc 192.0.2.7 - - {TIME} {REQUEST} "{host}""#);
    let lines: Vec<String> =
        (0..20).map(|at| quoted(if at == 7 { "localhost" } else { "a.example" })).collect();
    let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
    assert_eq!(found.describe_host(), Some("the host in quotes"));
    let chained = |word: &str| {
        format!("192.0.2.7 - - {TIME} 1.1.1.1, 2.2.2.2 a.example {word} 0.003 {REQUEST}")
    };
    for word in ["HIT", "https://z.example/x", "john"] {
        let host = host_and_time(&chained("-"), &chained(word)).0;
        assert_eq!(host.as_deref(), Some("a.example"), "{word}");
    }
    // A header that some clients do not send is not what all lines have.
    let sent = |at: usize| if at.is_multiple_of(13) { "-" } else { "b.example" };
    let lines =
        (0..40).map(|at| format!(r#"192.0.2.7 - - {TIME} {REQUEST} "{}" "a.example""#, sent(at)));
    let lines: Vec<String> = lines.collect();
    let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
    assert_eq!(found.host, At::Quoted(4));
    // What more clients send than not is not what all lines have.
    let both = |sent: &str| format!(r#"192.0.2.7 - - {TIME} {sent} {REQUEST} "a.example""#);
    assert_eq!(host_and_time(&both("b.example"), &both("-")).0.as_deref(), Some("a.example"));
    let first = |sent: &str| {
        format!(r#""{sent}" 10.0.0.5 - - {TIME} "GET /a HTTP/1.1" 200 23 "GET /b HTTP/1.1" "A/1""#)
    };
    let (usual, sent) = (first("1.1.1.1"), first(""));
    let lines = [&usual, &usual, &sent, &usual];
    let found = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
    assert!(found.read(sent.as_bytes(), &Arena::new()).url.is_err());
    // A host or a client.
    let line = format!("a.example - - - {TIME} {REQUEST}");
    let found = AccessLine::find([line.as_bytes()].into_iter(), true, true);
    assert_eq!((found.host, found.doubt().is_some()), (At::Nowhere, true));
    let client = format!("a.example - ::1 - - {TIME} {REQUEST}");
    assert_eq!(host_and_time(&client, &client).0.as_deref(), Some("a.example"));
}

/// The agent of a few lines is not the request of others.
#[test]
fn the_request_is_that_of_most_lines() {
    let of_page = |agent: &str| {
        format!(
            r#"[2025-10-10T20:55:36Z] - a.example - 192.0.2.7 - 200 - GET - HTTP/2.0 - 0.003 - "-" - "{agent}" - "/a""#
        )
    };
    let none = r#"192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "-" 408 0 "-" "-""#;
    let options =
        none.replace(r#""-" 408 0 "-" "-""#, r#""OPTIONS * HTTP/1.1" 200 0 "-" "GET /x""#);
    let page = none.replace(r#""-" 408"#, r#""GET /a HTTP/1.1" 200"#);
    for (others, one, asked) in [
        (&of_page("ABot/1.0"), &of_page("GET / HTTP/1.1"), (2, true)),
        (&none.to_owned(), &options, (0, false)),
        (&page, &options, (0, false)),
    ] {
        let lines = [others, others, one, others];
        let found = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
        assert_eq!((found.request, found.is_path), asked, "{one}");
    }
    // One page alone shows nothing of the others.
    let lines = [none, none, &page, none];
    let found = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
    assert!(found.doubt().is_some());
}

#[test]
fn hosts_that_few_lines_have_are_a_doubt() {
    for (share, doubts) in [(3, false), (4, true), (6, true)] {
        let hosts = (0..12).map(|at| if at < share { "b.example" } else { "-" });
        let lines: Vec<String> = hosts.map(|host| format!(r#"{LINE} "{host}""#)).collect();
        let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
        assert_eq!((found.host, found.doubt().is_some()), (At::Nowhere, doubts), "{share}");
    }
}

#[test]
fn brackets_take_linear_time() {
    let line = format!("2000-10-10 {} \"GET /a HTTP/1.1\" 200", "[".repeat(1 << 20));
    assert!(!is_access_log(line.as_bytes()));
}

#[test]
fn requests() {
    let urls = [
        ("GET / HTTP/1.0", "/"),
        ("GET /", "/"),
        ("HEAD /a b HTTP/1.1", "/a b"),
        ("M-SEARCH //a HTTP/1.1", "//a"),
        ("GET http://a.example/b HTTP/1.1", "http://a.example/b"),
        (r#"GET /\"a\"\\\x41\x0a\q\x4 HTTP/1.1"#, r#"/\"a\"\\A\n\\q\\x4"#),
    ];
    for (request, expected) in urls {
        assert_eq!(url(request).as_deref(), Ok(expected), "{request}");
    }
    for request in [
        "-",
        "",
        "GET",
        "GET ",
        "OPTIONS * HTTP/1.1",
        "CONNECT a.example:443 HTTP/1.1",
        r"\x16\x03\x01\x00 /a",
        "GET a.example/b HTTP/1.1",
        "GET ://a HTTP/1.1",
    ] {
        assert_eq!(url(request), Err(Problem::NoRequest), "{request}");
    }
}

#[test]
fn lines_that_are_cut_or_hostile_have_no_url_or_no_agent() {
    let whole = read(LINE.as_bytes());
    for cut in 0..LINE.len() {
        let (url, time, agent) = read(&LINE.as_bytes()[..cut]);
        assert!(agent.is_none(), "{cut}");
        match url {
            Ok(_) => assert_eq!((url, time), (whole.0.clone(), whole.1), "{cut}"),
            Err(problem) => assert_eq!(problem, Problem::NoUrl),
        }
    }
    let open = LINE.replace("\"ABot/1.0\"", "\"ABot/1.0\\\"");
    assert_eq!(read(open.as_bytes()).2, None);
    let bytes = LINE.replace("/a?b", "/\0\u{fffd}").replace("ABot", "\0");
    let bytes = bytes.as_bytes();
    assert_eq!(read(bytes).0, Ok("/\0\u{fffd}".into()));
    assert_eq!(read(bytes).2.as_deref(), Some(&b"\0/1.0"[..]));
    for other in ["https://a.example/ [b] \"c\"", "a [b", "[] \"\"", " [] \"", ""] {
        assert!(!is_access_log(other.as_bytes()), "{other}");
    }
    assert!(is_access_log(LINE.as_bytes()));
}

#[test]
fn formats_near_the_combined_one() {
    let time = 1_760_129_736;
    let agent = "Mozilla/5.0 (compatible; ABot/1.0)";
    let combined = |head: &str| format!(r#"{head} "GET /a?b HTTP/1.1" 200 23 "-" "{agent}""#);
    let log = "[10/Oct/2025:13:55:36 -0700]";
    let client = "192.0.2.7 - -";
    let rows = [
        (combined(&format!("{client} {log}")), None),
        // Before the client.
        (combined(&format!("a.example   {client} {log}")), Some("a.example")),
        (combined(&format!("336 {client} {log}")), None),
        (combined(&format!("336 a.example {client} {log}")), Some("a.example")),
        (combined(&format!("0.003 a.example:80 client.example - - {log}")), Some("a.example:80")),
        // Behind the time.
        (combined(&format!("{client} {log} (a.example)")), Some("a.example")),
        (combined(&format!("{client} {log} [0.003] [PORT 80]")), None),
        (combined(&format!("{client} {log} [0.003] [PORT 80] [a.example]")), Some("a.example")),
        (combined(&format!("{client} {log} 192.0.2.9:8080 a.example 0.1")), Some("a.example")),
        (combined(&format!(r#"{client} {log} "a.example""#)), Some("a.example")),
        // The time first.
        (combined("2025-10-10T20:55:36Z 192.0.2.7"), None),
        (combined("2025-10-10T20:55:36Z client.example"), None),
        (combined("2025-10-10 20:55:36 192.0.2.7 a.example"), Some("a.example")),
        (combined(&format!("{log} a.example {client}")), Some("a.example")),
        // Behind the agent.
        (
            format!(r#"{} "192.0.2.8" "a.example""#, combined(&format!("{client} {log}"))),
            Some("a.example"),
        ),
        // Load balancers of AWS.
        (
            format!(
                r#"h2 2025-10-10T20:55:36.186641Z app/a/5 192.0.2.7:2817 192.0.2.9:80 0.0 0.0 0.0 200 200 0 57 "GET /a?b HTTP/1.1" "{agent}" TLS TLSv1.2 arn:aws:x "Root=1-5" "a.example" "arn:aws:acm:certificate/1" 0 2025-10-10T20:55:36Z "forward" "-" "-""#
            ),
            Some("a.example"),
        ),
        (
            format!(
                r#"2025-10-10T20:55:36.186641Z name 192.0.2.7:2817 192.0.2.9:80 0.0 0.0 0.0 200 200 0 57 "GET /a?b HTTP/1.1" "{agent}" - -"#
            ),
            None,
        ),
        // Nginx Proxy Manager.
        (
            format!(
                r#"{log} - 200 200 - GET https a.example "/a?b" [Client 192.0.2.7] [Length 1] [Sent-to 192.0.2.9] "{agent}" "-""#
            ),
            Some("a.example"),
        ),
        // A path in quotes, and its method elsewhere.
        (
            format!(
                r#"[2025-10-10T20:55:36Z] - a.example - 192.0.2.7 - 200 - GET - HTTP/2.0 - 0.003 - "-" - "{agent}" - "/a?b""#
            ),
            Some("a.example"),
        ),
        (format!(r#"{log} 192.0.2.7 200 GET "/a?b" "{agent}""#), None),
        // Buckets of S3, and words behind the agent.
        (
            format!(
                r#"79a5 bucket {log} 192.0.2.7 79a5 3E57 REST.GET.OBJECT a "GET /a?b HTTP/1.1" 200 - 113 - 7 - "-" "{agent}" - s9lz= SigV4 ECDHE-RSA AuthHeader a.example TLSv1.2"#
            ),
            Some("a.example"),
        ),
        (format!("{} a.example 0.003", combined(&format!("{client} {log}"))), Some("a.example")),
    ];
    for (line, expected) in rows {
        assert!(is_access_log(line.as_bytes()), "{line}");
        assert_eq!(host(&line).as_deref(), expected, "{line}");
        let agent = Some(agent.as_bytes().to_vec());
        assert_eq!(read(line.as_bytes()), (Ok(b"/a?b".to_vec()), Some(time), agent), "{line}");
    }
}

#[test]
fn the_layout_is_that_of_most_lines() {
    let log = "192.0.2.7 - - [10/Oct/2025:13:55:36 -0700]";
    let lines = [
        format!(r#"{log} "-" 408 0 "-" "-" "-""#),
        format!(r#"{log} "\x16" 400 0 "GET /x HTTP/1.1" "-" "-""#),
        format!(r#"{log} "GET /1 HTTP/1.1" 200 0 "https://b.example/" "ABot/1.0" "b.example""#),
        format!(r#"{log} "GET /2 HTTP/1.1" 200 0 "GET /x" "GET /y" "a.example""#),
        format!(r#"{log} "GET /3 HTTP/1.1" 200 0 "-" "ABot/1.0" "-""#),
    ];
    let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
    assert_eq!((found.request, found.agent), (0, At::Combined));
    assert_eq!(found.host, At::Quoted(3));
}
