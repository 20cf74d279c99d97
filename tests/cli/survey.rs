//! `survey` against the oracle: every small file, over all paths that can tell its rules apart.

use std::collections::{BTreeMap, BTreeSet};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_oracle::Judge;
use portcullis_testkit::{Random, words};
use serde_json::Value;

use portcullis_synth::{ArchiveFormat, Corpus};

use super::{Folder, assert_says, json, text};

/// The lines of small files.
const LINES: [&str; 18] = [
    "User-agent: *",
    "User-agent: ExampleBot",
    "Disallow: /",
    "Disallow: /a",
    "Disallow: /*b$",
    "Disallow:",
    "Allow: /a",
    "Allow: /$",
    "Disallow: /robots.txt$",
    "Allow: /robots.txt$",
    "Crawl-delay: 3",
    "Content-Usage: train-ai=n",
    "Content-Usage: /a train-ai=y",
    "Content-Usage: /*b$ train-ai=n, search=y",
    "Content-Usage: /robots.txt$ train-ai=n",
    "Content-Signal: ai-train=yes, search=no, use=reference",
    "Content-Signal: ai-input=no, use=immediate",
    "Content-Signal: /a use=full",
];

const AGENTS: [&str; 2] = ["ExampleBot", "Unnamed"];

/// Returns files of up to three lines after one user-agent line.
fn files() -> Vec<String> {
    let mut files: Vec<Vec<&str>> = vec![Vec::new()];
    let mut last = files.clone();
    for _ in 0..3 {
        let longer =
            last.iter().flat_map(|file| LINES.map(|line| [file.as_slice(), &[line]].concat()));
        last = longer.collect();
        files.extend(last.iter().cloned());
    }
    let heads = ["User-agent: *", "User-agent: ExampleBot"];
    let text = |head: &str, lines: &[&str]| format!("{head}\n{}\n", lines.join("\n"));
    files.iter().enumerate().map(|(number, lines)| text(heads[number % 2], lines)).collect()
}

/// Returns the members of a row that the oracle knows.
fn expected(file: &str, agent: &str, urls: &[Vec<u8>]) -> Value {
    let judge = Judge::new(&RFC_9309, file.as_bytes(), None, &[agent]);
    let answers: Vec<_> = urls.iter().map(|url| judge.usage(url)).collect();
    let verdicts: BTreeSet<bool> =
        answers.iter().map(|answer| answer.access.verdict == Verdict::Allow).collect();
    let access = match (verdicts.contains(&true), verdicts.contains(&false)) {
        (true, false) => "all",
        (true, true) => "part",
        (false, _) => "none",
    };
    let stance = |label: Label| {
        let allowed = answers.iter().filter(|it| it.access.verdict == Verdict::Allow);
        let stated: BTreeSet<&str> =
            allowed.map(|answer| answer.of(label).preference.as_str()).collect();
        match (stated.len(), stated.first()) {
            (0, _) => Value::Null,
            (1, Some(stated)) => json!(stated),
            _ => json!("mixed"),
        }
    };
    let has = |line: &str| file.lines().any(|it| it == line);
    let has_rules = file.lines().any(|it| it.contains("llow:"));
    let is_named = agent == "ExampleBot" && has("User-agent: ExampleBot");
    let group = match is_named {
        true => json!("ExampleBot"),
        false if has("User-agent: *") => json!("*"),
        false => Value::Null,
    };
    json!({
        "agent": agent,
        "state": if has_rules { "rules" } else { "no-rules" },
        "access": access,
        "root": answers[0].access.verdict.as_str(),
        "group": group,
        "named": is_named,
        "crawl_delay": judge.crawl_delay().0.map(|seconds| seconds as u64),
        "train_ai": stance(Label::TrainAi),
        "ai_use": stance(Label::AiUse),
        "search": stance(Label::Search),
        "use": stance(Label::Use),
    })
}

#[test]
fn rows_agree_with_the_oracle_on_every_small_file() {
    let folder = Folder::new();
    let files = files();
    let origin = |number: usize| format!("https://h{number:05}.example");
    let capture = |(number, file): (usize, &String)| {
        json!({"url": origin(number) + "/robots.txt", "status": 200, "body": file}).to_string()
            + "\n"
    };
    folder.write("captures.jsonl", files.iter().enumerate().map(capture).collect::<String>());
    folder.command("compile --summary none -o set.pcs captures.jsonl").assert().success();
    let survey = "survey -p set.pcs -a ExampleBot,Unnamed --summary none -o rows.jsonl";
    folder.command(survey).assert().success();
    let rows = String::from_utf8(folder.read("rows.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), files.len() * AGENTS.len());
    let urls: Vec<Vec<u8>> =
        words(b"/abc", 3).iter().map(|path| [b"https://h.example/", &path[..]].concat()).collect();
    // `/robots.txt` itself is no page.
    assert_eq!(urls[0], b"https://h.example/");
    let mut seen = BTreeSet::new();
    for (number, row) in rows.iter().enumerate() {
        let (file, agent) = (&files[number / AGENTS.len()], AGENTS[number % AGENTS.len()]);
        assert_eq!(row["origin"], origin(number / AGENTS.len()));
        let expected = expected(file, agent, &urls);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(row[name], *value, "{name} of {agent} in\n{file}");
        }
        seen.extend(["access", "train_ai", "use"].map(|name| row[name].to_string()));
    }
    let mut all: Vec<String> =
        ["all", "part", "none", "mixed"].map(|it| json!(it).to_string()).into();
    all.extend(Preference::ALL.iter().skip(1).map(|it| json!(it.as_str()).to_string()));
    all.push("null".into());
    assert!(all.iter().all(|it| seen.contains(it)), "{seen:?}");
}

/// Returns a count; 0 if there is none.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

#[test]
fn rows_add_up_to_the_figures_of_audit_and_inspect() {
    const AGENTS: [&str; 4] = ["GPTBot", "Googlebot", "CCBot", "NobodyNamesMe"];
    let folder = Folder::new();
    let corpus = Corpus::new(3, 400).with_captures(6);
    folder.corpus("c", corpus, 9, Some(ArchiveFormat::JsonLines));
    folder.ok("compile --history --summary none -o set.pcs c/robots.jsonl");
    let agents = AGENTS.join(",");
    let survey = folder.ok(format!("survey -p set.pcs -a {agents} --summary json -o rows.jsonl"));
    let totals = json(&survey.stderr);
    folder.write("urls.txt", "https://a.example/\n");
    folder.ok(format!("audit -p set.pcs -a {agents} --summary none -o a.json urls.txt"));
    let report = json(&folder.read("a.json"));
    let report = &report["survey"];
    let inspect = json(&folder.ok("inspect set.pcs --format json --top 100000").stdout);
    let rows = String::from_utf8(folder.read("rows.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows.len() as u64,
        number(&totals["account"]["policies"]["origins"]) * AGENTS.len() as u64
    );
    for (place, agent) in AGENTS.into_iter().enumerate() {
        let figures = &totals["per_agent"][place];
        assert_eq!(*figures, report["per_agent"][place], "{agent}");
        let of_agent = || rows.iter().filter(|row| row["agent"] == agent);
        let count = |is: &dyn Fn(&Value) -> bool| of_agent().filter(|row| is(row)).count() as u64;
        for access in ["all", "part", "none"] {
            let rows = count(&|row| row["access"] == access);
            assert_eq!(rows, number(&figures[access]), "{agent} {access}");
            let named = count(&|row| row["access"] == access && row["named"] == true);
            let robots = inspect["survey"]["robots"]["most_named"].as_array().unwrap();
            let name = agent.to_ascii_lowercase();
            let robot = robots.iter().find(|robot| robot["name"] == name.as_str());
            assert_eq!(named, robot.map_or(0, |robot| number(&robot[access])), "{agent} {access}");
        }
        let named = count(&|row| row["named"] == true);
        assert_eq!(named, number(&figures["named"]));
        let unnamed = count(&|row| row["group"].is_null());
        assert_eq!(unnamed, number(&figures["unnamed"]));
        for (column, label) in
            [("train_ai", "train-ai"), ("ai_use", "ai-use"), ("search", "search")]
        {
            for value in ["y", "n", "?", "mixed"] {
                let rows = count(&|row| row[column] == value);
                assert_eq!(rows, number(&figures["preferences"][label][value]), "{agent} {column}");
            }
        }
    }
    let states = inspect["survey"]["states"].as_object().unwrap();
    for (state, origins) in states {
        let rows = rows.iter().filter(|row| row["state"] == state.as_str()).count() as u64;
        assert_eq!(rows, number(origins) * AGENTS.len() as u64, "{state}");
    }
}

/// `shared` counts origins by the bytes of their files.
#[test]
fn shared_files_are_those_with_equal_bytes() {
    let folder = Folder::new();
    let mut origins: BTreeMap<String, u64> = BTreeMap::new();
    let mut files = Vec::new();
    let mut random = Random::new(7);
    for number in 0..300 {
        // Some files are equal but for a line, a sitemap, a comment's length or the case of a value.
        let part = |of: &[&str], random: &mut Random| of[random.below(of.len())].to_owned();
        let file = part(&["", "# platform\n", "# a longer platform\n"], &mut random)
            + &part(&["User-agent: *\n", "User-agent: a\n", "user-agent: *\n"], &mut random)
            + &part(&["Disallow: /a\n", "Disallow: /b\n", "\nDisallow: /a\n", ""], &mut random)
            + &part(&["", "Content-Signal: search=no\n"], &mut random)
            + &part(&["", "Sitemap: https://s.example/1\n", "Crawl-delay: 2\n"], &mut random);
        folder.write(&format!("shared/h{number}.example"), &file);
        *origins.entry(file.clone()).or_default() += 2;
        files.push((format!("h{number}.example"), file));
    }
    let survey = "survey --robots shared -a X --summary json -o rows.jsonl";
    let totals = json(&folder.ok(survey).stderr);
    let rows = String::from_utf8(folder.read("rows.jsonl")).unwrap();
    let shared: BTreeMap<String, u64> = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap())
        .map(|row| (row["host"].as_str().unwrap().to_owned(), number(&row["shared"])))
        .collect();
    for (host, file) in &files {
        assert_eq!(shared[host], origins[file], "{host}:\n{file}");
    }
    assert!(origins.len() > 100 && origins.len() < 250, "{}", origins.len());
    for row in totals["shared"].as_array().unwrap() {
        let more = origins.values().filter(|origins| **origins > number(&row["more_than"]));
        assert_eq!(number(&row["files"]), more.clone().count() as u64);
        assert_eq!(number(&row["origins"]), more.sum::<u64>());
    }
}

/// A file of 500 KB, written for each of 170 agents, counts as so many lists before they are read.
#[test]
fn lists_end_row_groups() {
    let folder = Folder::new();
    let comment = "# a comment of some length, on one of many lines\n".repeat(10_000);
    for host in 0..4 {
        let file = format!("User-agent: *\nDisallow: /{host}\n{comment}");
        folder.write(&format!("long/h{host}.example"), file);
    }
    let agents =
        ["Bot".to_owned()].into_iter().chain((1..170).map(|it| "Bot".to_owned() + &"x".repeat(it)));
    let agents = agents.collect::<Vec<_>>().join(",");
    for (lists, groups) in [("", 1), (" --lists", 2)] {
        let survey =
            format!("survey --robots long -a {agents} --summary none -o rows.parquet{lists}");
        folder.ok(survey);
        let file = std::fs::File::open(folder.path("rows.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), groups, "{lists}");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 4 * 2 * 170);
    }
}

/// Preferences that only a search through large patterns tells are not known. Statements for no
/// path is still known, and so is access.
#[test]
fn large_patterns_of_preferences_are_not_searched() {
    let folder = Folder::new();
    let pattern = |number: usize| {
        let (one, two) = ("a".repeat(30 + number % 90), "a".repeat(30 + number / 90));
        format!("Content-Signal: /{one}*{two} ai-train={}\n", ["yes", "no"][number % 2])
    };
    let many: String = (0..3_000).map(pattern).collect();
    let one = format!("Content-Signal: /*{} ai-train=no\n", "a".repeat(20_000));
    for (host, records) in [("many.example", many), ("one.example", one)] {
        folder.write(&format!("large/{host}"), format!("User-agent: *\nDisallow: /b\n{records}"));
    }
    let survey = folder.ok("survey --robots large -a ExampleBot --summary none --format jsonl");
    let rows = String::from_utf8(survey.stdout).unwrap();
    assert_eq!(rows.lines().count(), 4);
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let found = ["access", "train_ai", "ai_use", "search"].map(|column| &row[column]);
        assert_eq!(found, [&json!("part"), &Value::Null, &json!("?"), &json!("?")], "{row}");
    }
}

/// An origin without a capture at the time has no row, and is counted.
#[test]
fn origins_that_are_captured_later_are_counted() {
    let folder = Folder::new();
    let captures =
        [("a", "2024-01-01"), ("b", "2024-02-01"), ("c", "2024-03-01"), ("c", "2024-03-02")];
    let capture =
        |(host, day)| super::capture(&format!("{host}.example"), day, 200, "Sitemap: /s\n");
    folder.write("captures.jsonl", captures.map(capture).concat());
    folder.ok("compile --history --summary none -o h.pcs captures.jsonl");
    for command in ["survey -a Bot", "survey --sitemaps"] {
        for (time, count, shown) in [
            ("2024-01-15", 2, "\n2 origins left out: first captured later\n"),
            ("2024-02-15", 1, "\n1 origin left out: first captured later\n"),
            ("2024-03-15", 0, ""),
        ] {
            let output =
                folder.ok(format!("{command} -p h.pcs@{time} --summary text --summary s.json"));
            assert_says(&output, &[shown]);
            assert_eq!(text(&output.stderr).contains("left out"), count > 0);
            assert_eq!(json(&folder.read("s.json"))["before_first"], count);
            assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 4 - count);
        }
    }
}

/// Returns a text.
fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The causes by which origins are counted, from the members of a row.
fn cause(row: &Value) -> &'static str {
    let is_failure = ["unavailable", "unreachable", "deferred"].contains(&word(&row["by"]));
    match row["access"].as_str() {
        Some("none") if is_failure => "none_failing",
        Some("none") => "none",
        Some("part") => "part",
        Some(_) => "all",
        None => "not_known",
    }
}

/// The trend of a survey is what its rows say, month by month.
#[test]
fn a_trend_is_that_of_the_rows() {
    const AGENTS: [&str; 3] = ["A", "B", "Other"];
    const FILES: [&str; 5] = [
        "User-agent: *\nDisallow:\n",
        "User-agent: *\nDisallow: /\n",
        "User-agent: A\nDisallow: /\n",
        "User-agent: B\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n",
        "User-agent: A\nDisallow: /x\n\nUser-agent: *\nDisallow: /\n",
    ];
    let folder = Folder::new();
    let random = &mut Random::new(17);
    let mut captures = String::new();
    for host in 0..40 {
        let scheme = random.pick(&["http", "https"]);
        for _ in 0..random.within(1..=9) {
            let (month, day) = (random.within(1..=12), random.within(1..=28));
            let year = random.within(2022..=2024);
            let status = *random.pick(&[200, 200, 200, 200, 404, 503]);
            let mut capture = json!({
                "url": format!("{scheme}://h{host}.example/robots.txt"),
                "status": status,
                "body": *random.pick(&FILES),
            });
            // Some are of the first second of a month, and some have no date.
            match random.below(6) {
                0 => {}
                1 => capture["fetched_at"] = json!(format!("{year}-{month:02}-01T00:00:00Z")),
                _ => capture["fetched_at"] = json!(format!("{year}-{month:02}-{day:02}T01:00:00Z")),
            }
            captures += &format!("{capture}\n");
        }
    }
    folder.write("captures.jsonl", &captures);
    folder.ok("compile --history --summary none -o set.pcs captures.jsonl");
    let survey = "survey -p set.pcs -a A,B,Other --history --summary json";
    let trend = |rest: &str| json(&folder.ok(format!("{survey} {rest}")).stderr)["trend"].clone();
    let trends = ["-j1 -o rows.jsonl", "-j2 -o rows.parquet", "-o page.html"].map(trend);
    assert_eq!(trends[0], trends[1]);
    assert_eq!(trends[0], trends[2]);
    let rows = String::from_utf8(folder.read("rows.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let months: Vec<&str> = trends[0]["months"].as_array().unwrap().iter().map(word).collect();
    assert!(months.len() > 30, "{months:?}");
    for (agent, counts) in AGENTS.iter().zip(trends[0]["per_agent"].as_array().unwrap()) {
        assert_eq!(counts["agent"], *agent);
        for (place, month) in months.iter().enumerate() {
            let begin = format!("{month}-01T00:00:00Z");
            let holds = |row: &&Value| {
                let has_begun = row["since"].as_str().is_none_or(|since| *since <= *begin);
                has_begun && row["until"].as_str().is_none_or(|until| *begin < *until)
            };
            let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
            for row in rows.iter().filter(|row| row["agent"] == *agent).filter(holds) {
                *expected.entry(cause(row)).or_default() += 1;
            }
            let of = |cause: &str| expected.get(cause).copied().unwrap_or(0);
            let none = of("none") + of("none_failing");
            for (member, count) in [
                ("all", of("all")),
                ("part", of("part")),
                ("none", none),
                ("none_failing", of("none_failing")),
                ("not_known", of("not_known")),
            ] {
                assert_eq!(counts[member][place], count, "{agent} {month} {member}");
            }
        }
    }
    // The changes of files, without the failures between them.
    let mut before: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let mut changes: BTreeMap<(&str, &str), [Vec<&str>; 2]> = BTreeMap::new();
    for row in &rows {
        let is_shut = match cause(row) {
            "none" => true,
            "all" | "part" => false,
            _ => continue,
        };
        let (origin, agent) = (word(&row["origin"]), word(&row["agent"]));
        if before.insert((origin, agent), is_shut).is_some_and(|before| before != is_shut) {
            let of_file = changes.entry((word(&row["since"]), origin)).or_default();
            of_file[usize::from(!is_shut)].push(agent);
        }
    }
    let crawlers = |it: &[Vec<&str>; 2]| it[0].len() + it[1].len();
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by(|(one, of_one), (other, of_other)| {
        let newest = (other.0, one.1).cmp(&(one.0, other.1));
        crawlers(of_other).cmp(&crawlers(of_one)).then(newest)
    });
    assert!(changes.len() > 50);
    changes.truncate(50);
    let expected: Vec<Value> = changes
        .iter()
        .map(|((date, origin), [closed, opened])| {
            json!({"date": date, "origin": origin, "closed": closed, "opened": opened})
        })
        .collect();
    assert_eq!(trends[0]["changes"], json!(expected));
}
