//! An agent in each record: a token or a User-Agent header.

use std::sync::Arc;

use portcullis_build::{LoadConfig, load_text};
use portcullis_dialect::decision::Reason;
use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, NamesAgent, RFC_9309};
use portcullis_robots::policy::Crawler;
use portcullis_set::PolicySet;
use portcullis_set::batch::{AgentKind, Classifier, Records, Session};
use portcullis_set::limits::RECORD_AGENT_CACHE_BYTES_MAX;
use portcullis_testkit::{Form, origin, set_of};

const SHARED: &str = "User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nAllow: /\n";

fn classifier(names: &[&str]) -> Classifier {
    classifier_of(SHARED, names, &RFC_9309)
}

fn classifier_of(text: &str, names: &[&str], dialect: &'static Dialect) -> Classifier {
    let set = load_text(text.as_bytes(), &LoadConfig::new(dialect));
    let chain = |name: &&str| Crawler::parse(name, dialect).unwrap();
    classifier_of_set(&Arc::new(set), &names.iter().map(chain).collect::<Vec<_>>())
}

fn classifier_of_set(set: &Arc<PolicySet>, agents: &[Crawler]) -> Classifier {
    Classifier::new(Arc::clone(set), agents.to_vec()).unwrap()
}

/// A header is decided as the chain of its tokens, or not at all.
#[test]
fn a_header_is_the_chain_of_its_tokens() {
    let headers = [
        "a/1 bb/2",
        "a/1 bb/2 ccc/3",
        "ccc a",
        "dddd/4 a/1",
        "Mozilla/5.0 (compatible; bb/1.0)",
        "Mozilla/5.0 (X11) a",
        "Mozilla/5.0 (X11)",
        "x/1 y/2",
    ];
    let names = ["a", "bb", "ccc", "dddd", "mozilla", "zz"];
    let asked = ["a", "bb", "ccc+a"];
    for dialect in Dialect::ALL {
        for named in 0..1 << names.len() {
            let group = |(place, name): (usize, &&str)| {
                let bit = if named >> place & 1 == 1 { name } else { return String::new() };
                format!("User-agent: {bit}\nDisallow: /{bit}/\n\n")
            };
            let groups: String = names.iter().enumerate().map(group).collect();
            let text = format!("{groups}User-agent: *\nDisallow: /other/\n");
            let each = classifier_of(&text, &asked, dialect);
            let each = each.with_agent_per_record(AgentKind::Header).unwrap();
            let mut each = Session::new(each);
            for header in headers {
                let urls: Vec<String> = names
                    .iter()
                    .chain([&"other"])
                    .map(|name| format!("https://h.example/{name}/"))
                    .collect();
                let set = load_text(text.as_bytes(), &LoadConfig::new(dialect));
                let agent = Crawler::from_header(header, dialect).unwrap();
                let alone = Classifier::new(Arc::new(set), vec![agent]).unwrap();
                let mut alone = Session::new(alone);
                let expected = alone.decide(&urls).unwrap().decisions().to_vec();
                let agents = vec![header.as_bytes(); urls.len()];
                let answers = each.decide(Records::from(&urls).by(&agents)).unwrap();
                let (decisions, is_known) = (answers.decisions(), answers.agent(0).is_some());
                assert!(decisions.iter().all(|it| (it.reason() == Reason::NoAgent) != is_known));
                // What only the file names is not decided, and everything else as for the header
                // but for the fallback that was asked for.
                let chain = ["ccc", "a"]
                    .map(|name| named >> names.iter().position(|it| *it == name).unwrap() & 1);
                let falls_back = header.contains("ccc") && chain == [0, 1];
                if is_known && !falls_back {
                    assert_eq!(decisions, expected, "{} {header}\n{text}", dialect.name);
                }
                let unasked = header.contains("dddd") && named & 0b1000 != 0;
                if !is_known && !header.contains("Mozilla") {
                    assert!(unasked || dialect.groups.names_agent == NamesAgent::OccursInName);
                }
                let is_equal = dialect.groups.names_agent == NamesAgent::Equal;
                assert!(!unasked || !is_known || !is_equal, "{} {header}\n{text}", dialect.name);
            }
        }
    }
}

/// A header does not follow the further groups of a crawler that a later name is of.
#[test]
fn a_header_follows_the_further_groups_of_its_first_name_alone() {
    let read = |text: &str, dialect: &Dialect| {
        let chain = Crawler::from_header(text, dialect)?;
        let first = chain.tokens().next().map(str::to_owned);
        Ok(match first.as_deref() {
            Some("firstbot") => chain.read_as(&Crawler::parse("firstbot+far", dialect)?),
            Some("adsbot") => chain.read_as(&Crawler::parse("adsbot!", dialect)?),
            _ => chain,
        })
    };
    let names = ["firstbot+far", "adsbot!", "other", "ab+far"];
    let headers = [
        "firstbot/1 other/2",
        "firstbot/1 adsbot/2",
        "longestbot/1 firstbot/2",
        "longestbot/1 adsbot/2",
        "adsbot/2 other/1",
        "adsbot/2 ab/1",
        "other/1 ab/1",
        "firstbot/1",
        "adsbot/1",
    ];
    let groups = ["firstbot", "far", "adsbot", "other", "longestbot", "*"];
    for dialect in [&RFC_9309, &GOOGLE] {
        for named in 0..1 << groups.len() {
            let group = |(place, name): (usize, &&str)| match named >> place & 1 {
                1 => format!("User-agent: {name}\nDisallow: /{place}\n\n"),
                _ => String::new(),
            };
            let text: String = groups.iter().enumerate().map(group).collect();
            let each = classifier_of(&text, &names, dialect);
            let each = each.with_agent_per_record(AgentKind::Header).unwrap();
            let mut each = Session::new(each.with_agents_read_by(read));
            let urls: Vec<String> =
                (0..groups.len()).map(|place| format!("https://h.example/{place}")).collect();
            for header in headers {
                let set = load_text(text.as_bytes(), &LoadConfig::new(dialect));
                let chain = read(header, dialect).unwrap();
                let mut alone = Session::new(classifier_of_set(&Arc::new(set), &[chain]));
                let expected = alone.decide(&urls).unwrap().decisions().to_vec();
                let agents = vec![header.as_bytes(); urls.len()];
                let answers = each.decide(Records::from(&urls).by(&agents)).unwrap();
                if answers.agent(0).is_some() {
                    let found = answers.decisions();
                    assert_eq!(found, expected, "{} {header}\n{text}", dialect.name);
                } else {
                    let is_unasked = header.contains("longestbot") || header.starts_with("adsbot");
                    assert!(is_unasked, "{} {header}\n{text}", dialect.name);
                }
            }
        }
    }
}

#[test]
fn an_agent_that_shares_the_rules_of_another_is_asked_alone() {
    // The second agent's answers begin where the first one's do, which no record asks about.
    let mut all = Session::new(classifier(&["a", "b"]));
    let all = all.decide(&["https://h.example/x"]).unwrap();
    let all = all.decisions();
    let each = classifier(&["a", "b"]).with_agent_per_record(AgentKind::Token).unwrap();
    let mut each = Session::new(each);
    for name in [&b"b"[..], b"a"] {
        let (urls, agents) = (["https://h.example/x"], [name]);
        let answers = each.decide(Records::from(&urls).by(&agents)).unwrap();
        assert_eq!(answers.decisions(), [all[0]]);
        assert_eq!(all[0], all[1]);
    }
}

#[test]
fn a_header_names_the_agent_that_the_file_names() {
    let header = classifier(&["a", "a-news", "c"]).with_agent_per_record(AgentKind::Header);
    let mut session = Session::new(header.unwrap());
    let mut agent = |text: &[u8]| {
        let (urls, agents) = (["https://h.example/x"], [text]);
        let answers = session.decide(Records::from(&urls).by(&agents)).unwrap();
        let reason = answers.decisions()[0].reason();
        assert_eq!(answers.agent(0).is_none(), reason == Reason::NoAgent);
        let agents = answers.session().classifier().agents();
        answers.agent(0).map(|agent| agents[agent].name().to_owned())
    };
    let browser =
        b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131";
    let long = ["a-news/1 ".repeat(500), "b ".repeat(1_000)];
    for (text, expected) in [
        (&b"Mozilla/5.0 (compatible; A/1.0; +https://c.example/c)"[..], Some("a")),
        // The file names the shorter token alone.
        (b"a/1 a-news/2 (like a)", Some("a")),
        (b"a-news/2", Some("a-news")),
        (browser, Some("*")),
        (b"Mozilla/5.0 (X11; Linux) Safari/1 B/2.0", None),
        (b"Other/1.0", Some("*")),
        (long[0].as_bytes(), Some("a-news")),
        (long[1].as_bytes(), None),
        (b"", None),
        (b"-", None),
        (b" \t", None),
        (b"a\0", None),
        (b"\xff\xfe", None),
    ] {
        // The second time, the agent is remembered, unless its text is long.
        for _ in 0..2 {
            let shown = text.escape_ascii().to_string();
            assert_eq!(agent(text).as_deref(), expected, "{shown}");
        }
    }
}

/// Files that name thousands of crawlers, each in a large group that all share and in one of its own.
fn crowded(verdict: &str) -> String {
    let name = |number: usize| format!("User-agent: a{number}\n");
    let names: String = (0..1_340).map(name).collect();
    let rules: String = (0..200).map(|number| format!("Disallow: /p{number}*/\n")).collect();
    let own: String = (0..1_340)
        .map(|number| format!("{}{verdict}: /own{}\n", name(number), number % 3))
        .collect();
    let others = "User-agent: Foo\nAllow: /\n\nUser-agent: zzz-news\nDisallow: /own2\n\n";
    format!("{names}{rules}{own}{others}User-agent: *\nDisallow: /own\n")
}

/// In blocks of several sizes, asked one after another by the same session.
#[test]
fn an_agent_per_record_is_answered_as_the_agent_alone() {
    let asked = ["zzz+Foo", "zzz", "zzz!", "zzz-news+zzz", "a0", "a1338", "nobody+a1339", "a7!"];
    let files = ["Disallow", "Allow"].map(crowded);
    for dialect in [&RFC_9309, &KOSTER_1996] {
        let agents: Vec<Crawler> =
            asked.iter().map(|name| Crawler::parse(name, dialect).unwrap()).collect();
        for form in [Form::Read, Form::Mapped] {
            let set = set_of(form, &files, (dialect, None));
            let classifier = |agents: &[Crawler]| classifier_of_set(&set, agents);
            let mut alone: Vec<Session> = agents
                .iter()
                .map(|agent| Session::new(classifier(std::slice::from_ref(agent))))
                .collect();
            let each = classifier(&agents).with_agent_per_record(AgentKind::Token).unwrap();
            let mut each = Session::new(each);
            let record = |number: usize| {
                let (host, path) = (origin(number % 3), number % 5);
                let path = ["own1", "own2/x", "p17x/", "", "other"][path];
                (format!("{host}/{path}"), number % 7 % asked.len())
            };
            let mut next = 0;
            for size in [7, 31, 2, 256, 16, 1, 90] {
                let block: Vec<_> = (next..next + size).map(record).collect();
                next += size;
                let urls: Vec<&str> = block.iter().map(|(url, _)| &**url).collect();
                let names: Vec<&[u8]> = block.iter().map(|(_, it)| asked[*it].as_bytes()).collect();
                let answers = each.decide(Records::from(&urls).by(&names)).unwrap();
                let decisions = answers.decisions_with_rules().unwrap();
                for (record, (url, agent)) in block.iter().enumerate() {
                    let answers = alone[*agent].decide(&[url]).unwrap();
                    let expected = answers.decisions_with_rules().unwrap()[0];
                    assert_eq!(decisions[record], expected, "{url} {}", asked[*agent]);
                }
            }
        }
    }
}

#[test]
fn a_first_token_of_several_agents_names_none() {
    let by_record = |names: &[&str]| {
        let each = classifier(names).with_agent_per_record(AgentKind::Token);
        each.map(|_| ()).map_err(|error| error.to_string())
    };
    let error = by_record(&["zzz+a", "b", "zzz+c"]).unwrap_err();
    assert!(error.contains("several agents: zzz+a, zzz+c"), "{error}");
    for names in [&["zzz+a", "b", "zzz"][..], &["zzz+a", "ZZZ+A"], &["zzz", "zzz!", "zzz+b"]] {
        by_record(names).unwrap();
    }
}

/// A set names no crawler of a file without rules, and the delay is that of the crawler that the file names.
#[test]
fn the_delay_of_a_header_is_that_of_the_name_in_the_file() {
    let text = "User-agent: Foo\nCrawl-delay: 7\n\nUser-agent: *\nCrawl-delay: 2\n";
    let asked = ["longname", "Foo"];
    for rules in ["", "Disallow: /x\n"] {
        let text = format!("{text}{rules}");
        for dialect in [&RFC_9309, &KOSTER_1996] {
            for header in ["longname/1.0 Foo/2", "longname/1", "Foo/1", "Other/1", "Safari/1"] {
                let each = classifier_of(&text, &asked, dialect);
                let each = each.with_agent_per_record(AgentKind::Header).unwrap();
                let (mut each, urls) = (Session::new(each), ["https://h.example/"]);
                let names = [header.as_bytes()];
                let mut answers = each.decide(Records::from(&urls).by(&names)).unwrap();
                let seconds = answers.delays(0).unwrap()[0].seconds;
                let expected = if header.contains("Foo") { 7.0 } else { 2.0 };
                assert_eq!(seconds, Some(expected), "{} {header} {text}", dialect.name);
            }
        }
    }
}

#[test]
fn a_session_remembers_headers_within_its_memory() {
    let each = classifier(&["a", "b"]).with_agent_per_record(AgentKind::Header).unwrap();
    let mut session = Session::new(each);
    let (urls, mut largest) = (["https://h.example/"; 100], 0);
    for block in 0..70 {
        let words = format!("{}/1 ", "w".repeat(400)).repeat(8);
        let headers: Vec<String> =
            (0..100).map(|header| format!("a/1 b/{block}.{header} {words}")).collect();
        let headers: Vec<&[u8]> = headers.iter().map(String::as_bytes).collect();
        session.decide(Records::from(&urls).by(&headers)).unwrap();
        largest = largest.max(session.agent_bytes());
    }
    let max = RECORD_AGENT_CACHE_BYTES_MAX;
    assert!(session.agent_bytes() < largest && max / 2 < largest && largest <= max, "{largest}");
}

#[test]
fn the_line_that_names_an_agent_in_a_long_group_is_found_once() {
    // Walking back over the names for each answer would take minutes.
    let letter = |number: u32| char::from(b'a' + (number % 26) as u8);
    let name = |number: u32| ['b', letter(number / 676), letter(number / 26), letter(number)];
    let names: Vec<String> = (0..12_000).map(|number| String::from_iter(name(number))).collect();
    let lines: String = names.iter().map(|name| format!("User-agent: {name}\n")).collect();
    let text = format!("{lines}Disallow: /x\n\n{}Allow: /x1\n", lines.replace(": b", ": B"));
    for dialect in Dialect::ALL {
        let set = load_text(text.as_bytes(), &LoadConfig::new(dialect));
        let asked = || (0..12_000).step_by(40);
        let agents = asked().map(|number| Crawler::parse(&names[number], dialect).unwrap());
        let mut session = Session::new(Classifier::new(Arc::new(set), agents.collect()).unwrap());
        let mut answers = session.decide(&["https://h.example/x1"; 8]).unwrap();
        for (answer, number) in (0..8).flat_map(|_| asked()).enumerate() {
            let full = answers.rule(answer).unwrap();
            // Some dialects follow the first group alone.
            let (group, is_second) = (full.group.unwrap(), full.rule == Some(b"/x1"));
            assert!(group.eq_ignore_ascii_case(names[number].as_bytes()), "{}", dialect.name);
            assert_eq!(is_second, group.starts_with(b"B"), "{}", dialect.name);
        }
    }
}
