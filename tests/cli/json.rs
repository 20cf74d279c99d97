//! JSON: what a program reads is JSON and nothing else, whatever there is to note.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Inputs with something to note: files that are left out or look wrong, broken captures, lists whose
/// format is detected, agents that no group names, too many threads, names of Content-Signal.
#[test]
fn notes_never_mix_into_json() {
    let folder = Folder::new();
    folder.write(
        "in/a.csv",
        "url,agent\nhttps://a.example/,GPTBot\nhttps://z.example/,\nnothing,x\n",
    );
    folder.write("in/_SUCCESS", "");
    folder.write("odd/a.example", "<html>");
    folder.write("odd/no-host", "x");
    folder.write(
        "captures.jsonl",
        "{\"url\":\"https://a.example/robots.txt\",\"body\":\"User-agent: *\\nDisallow: /\"}\n{broken\n",
    );
    for line in [
        "compile -j 9999 -o c.pcs captures.jsonl",
        "compile --history -o h.pcs captures.jsonl",
        "compile -o r.pcs odd",
        "compile -o m.pcs c.pcs r.pcs",
        "classify -p m.pcs -a Nobody in -j 9999 -o out.tsv",
        "classify --robots odd -a @ai-all --dialect original1994 in -o out.jsonl",
        "classify -p m.pcs -a Nobody --usage ai-train in -o out.csv",
        "classify -p h.pcs -a Nobody --at 2020-01-01 in -o out.parquet",
        "classify -p m.pcs --agent-field agent in -o out.tsv",
        "filter --robots odd -a Nobody --purpose ai-train --unstated keep in -o kept.csv",
        "audit --robots odd -a Nobody in -o report.json",
        "diff r.pcs m.pcs -o changes.tsv",
        "diff r.pcs m.pcs -a Nobody in -o changes.tsv",
        "survey --robots odd -a Nobody -o survey.csv",
        "survey --robots odd --sitemaps -o sitemaps.jsonl",
    ] {
        let output = folder.ok(format!("{line} --summary json"));
        let written = std::str::from_utf8(&output.stderr).unwrap();
        let is_object = serde_json::from_str::<Value>(written).is_ok_and(|it| it.is_object());
        assert!(is_object, "{line}: {written}");
        assert_eq!(written.lines().count(), 1, "{line}");
        assert_eq!(text(&output.stdout), "", "{line}");
    }
    for line in ["inspect m.pcs --format json", "inspect h.pcs a.example --format json"] {
        let output = folder.ok(line);
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(object.is_object(), "{line}");
    }
}

/// The members of `docs/json.md`: for each section, the type of each member by its path.
type Documented = BTreeMap<String, BTreeMap<String, String>>;

fn documented() -> Documented {
    let (mut sections, mut section) = (Documented::new(), String::new());
    for line in include_str!("../../docs/json.md").lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        } else if section == "conformance" {
            // Another program prints it, whose tests compare this.
        } else if let Some(row) = line.strip_prefix("| `") {
            let (path, rest) = row.split_once("` | ").unwrap();
            let kind = rest.split(" | ").next().unwrap();
            let mut add = |path: String, kind: &str| {
                let members = sections.entry(section.clone()).or_default();
                assert_eq!(
                    members.insert(path.clone(), kind.to_owned()),
                    None,
                    "{section}: {path}"
                );
            };
            match kind.split_once("object of ") {
                Some(("", members)) => {
                    let object =
                        if kind.ends_with(" or null") { "object or null" } else { "object" };
                    add(path.to_owned(), object);
                    add(format!("{path}.*"), &kind_of_members(members));
                }
                _ => add(path.to_owned(), kind),
            }
        }
    }
    sections
}

/// Returns the kind of each member of an "object of numbers" and the like.
fn kind_of_members(kind: &str) -> String {
    let kind = kind.strip_suffix("s or null").or_else(|| kind.strip_suffix('s')).unwrap_or(kind);
    match kind.strip_prefix('[') {
        Some(link) => format!("object: [{link}"),
        None => kind.trim_matches(['(', ')']).to_owned(),
    }
}

/// The members that programs printed.
#[derive(Default)]
struct Printed {
    documented: Documented,
    /// By section and path.
    seen: BTreeSet<(String, String)>,
    problems: BTreeSet<String>,
}

impl Printed {
    /// Adds the lines of JSON in `text`, of a section, or else of the sections of their formats.
    fn add(&mut self, text: &[u8], section: Option<&str>) {
        for value in serde_json::Deserializer::from_slice(text).into_iter::<Value>() {
            let value = value.unwrap();
            let format = value["format"].as_str().and_then(|it| it.split('/').next());
            let section = section.or(format).unwrap_or_else(|| panic!("{value}: no format"));
            self.walk(&value, section, "");
        }
    }

    fn walk(&mut self, value: &Value, section: &str, path: &str) {
        let members = match value {
            Value::Array(items) => {
                return items.iter().for_each(|item| self.walk(item, section, path));
            }
            Value::Object(members) => members,
            _ => return,
        };
        for (name, member) in members {
            let own = format!("{path}{name}");
            let known = [own.clone(), format!("{path}*")].into_iter().find_map(|path| {
                let kind = self.documented.get(section)?.get(&path)?.clone();
                Some((path, kind))
            });
            let Some((documented, kind)) = known else {
                self.problems.insert(format!("{section}: {own} is not in the document: {member}"));
                continue;
            };
            if !has_kind(member, &kind) {
                self.problems.insert(format!("{section}: {own} is no {kind}: {member}"));
            }
            match kind.split_once("](#").and_then(|(_, link)| link.split_once(')')) {
                Some((other, _)) => self.walk(member, other, ""),
                None => self.walk(member, section, &format!("{documented}.")),
            }
            self.seen.insert((section.to_owned(), documented));
        }
    }
}

fn has_kind(value: &Value, kind: &str) -> bool {
    let is = |kind: &str| match kind.split(' ').next().unwrap().trim_end_matches(':') {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "any" => true,
        _ => value.is_object(),
    };
    kind.split(" or ").any(is)
}

/// `docs/json.md` has every member that the program prints, with its type, and no other.
#[test]
fn the_document_lists_every_member() {
    let folder = Folder::new();
    let robots = "License: https://l.example/all\nUser-agent: *\nCrawl-delay: 5\n\
        Content-Usage: search=y, train-ai=n\nContent-Usage: /open/ train-ai=y\n\
        Content-Usage: /open/ ai-use=n\nDisallow: /private\nAllow: /private/x\nFoo: x\n\
        Sitemap: /s.xml\n\nUser-agent: GPTBot\nCrawl-delay: soon\nDisallow: /\n";
    folder.write("robots/a.example", robots);
    folder.write("robots/b.example", "User-agent: *\nDisallow: /x\n");
    folder.write("robots/no-host", "x");
    folder.write("new/a.example", robots.replace("private", "secret").replace("=n", "=y"));
    folder.write("new/c.example", b"User-agent: *\nDisallow: /x\xff\n");
    folder.write("list.csv", LIST);
    folder.write(
        "fetches.csv",
        "url,who,time\nhttps://a.example/open/1,CCBot,2024-01-01\nhttps://a.example/,ShyBot,2024-01-01\nhttps://a.example/private/1,CCBot,2024-01-01\n",
    );
    folder.write("more", b"https://a.example/ 200 x\nhttps://a.example/private/./x\n\xffno URL\n");
    folder.write(
        "odd.jsonl",
        "{\"url\":\"https://o.example/robots.txt\",\"body\":\"x\"}\n\
         {\"url\":\"https://o.example/\",\"body\":\"x\"}\n\
         {\"url\":\"https://p.example/robots.txt\",\"body\":\"\\nAllow: /\\nAllow: /\",\"fetched_at\":\"2024-01-01\"}\n\
         {\"url\":\"https://p.example/robots.txt\",\"body\":\"User-agent: *\",\"fetched_at\":\"2024-01-01\"}\n",
    );
    let mut captures = String::new();
    for (day, status, body) in [(1, 200, robots), (2, 200, "User-agent: *\n"), (5, 503, "")] {
        let time = format!("2024-01-0{day}T00:00:00Z");
        let url = "https://a.example/robots.txt";
        let capture = json!({"url": url, "status": status, "fetched_at": time, "body": body});
        captures.push_str(&format!("{capture}\n"));
    }
    folder.write("captures.jsonl", captures.clone() + "{broken\n");
    let lines = "Disallow: /a
Disallow: /a
Useragent: b
Foo: x
"
    .repeat(2_000);
    folder.write(
        "lint.txt",
        format!(
            "User-agent: *
{lines}"
        ),
    );
    let mut printed = Printed { documented: documented(), ..Printed::default() };
    for (line, section) in RUNS {
        let output = folder.command(line).output().unwrap();
        let json = if output.stdout.starts_with(b"{") { &output.stdout } else { &output.stderr };
        printed.add(json, *section);
    }
    printed.add(&folder.read("rejects.jsonl"), Some("rejects"));
    for (section, members) in &printed.documented {
        for path in members.keys() {
            if !printed.seen.contains(&(section.clone(), path.clone())) {
                printed.problems.insert(format!("{section}: {path} is not printed"));
            }
        }
    }
    let problems: Vec<String> = printed.problems.into_iter().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

const LIST: &str = "url,agent,time\nhttps://a.example/,GPTBot,2024-01-02\n\
    https://a.example/private/1,x,2023-01-01\nhttps://a.example/open/1,,2024-02-01\n\
    https://z.example/,GPTBot,2024-01-02\nnothing,x,\n";

/// Command lines that print JSON, and its section where it has no format.
const RUNS: &[(&str, Option<&str>)] = &[
    ("compile --summary json -o a.pcs robots", None),
    ("compile --summary json -o n.pcs new", None),
    ("compile --history --summary json --as-of 2024-01-06 -o h.pcs captures.jsonl", None),
    ("compile --summary json -o m.pcs a.pcs n.pcs", None),
    ("compile --join-schemes --summary json -o j.pcs robots", None),
    (
        "check --robots robots -a GPTBot,Bot --usage train-ai --format jsonl https://a.example/private/x \
      https://a.example/open/1 https://a.example/robots.txt nothing https://z.example/",
        None,
    ),
    (
        "classify -p a.pcs -a GPTBot,@ai-all,Nobodi --usage train-ai list.csv --rejects rejects.jsonl \
      --columns verdict,delay --summary json -o x.tsv",
        None,
    ),
    ("classify -p a.pcs --agent-field agent list.csv --summary json -o x.tsv", None),
    (
        "classify -p h.pcs -a GPTBot --time-field time --max-age 1d list.csv --summary json -o x.tsv",
        None,
    ),
    (
        "filter --robots robots -a GPTBot,Bot --purpose train-ai --unstated drop --purpose-token Use list.csv -q --summary json",
        None,
    ),
    ("filter --robots robots -a Bot more -q --rejects rejects.jsonl --summary json", None),
    ("audit -p h.pcs -a GPTBot,Bot --time-field time list.csv --format json --summary none", None),
    (
        "audit --robots robots -a GPTBot,Bot --baseline Bot list.csv --format json --summary none",
        None,
    ),
    (
        "audit -p h.pcs --agent-field who --time-field time fetches.csv --format json --summary none",
        None,
    ),
    ("check -p h.pcs -a Bot --format jsonl https://a.example/", None),
    ("compile --history --as-of 2024-01-03 --summary json -o o.pcs captures.jsonl odd.jsonl", None),
    ("inspect n.pcs c.example --format json", None),
    ("survey -p a.pcs -a GPTBot,Bot --baseline Bot -o x.tsv --summary json", None),
    ("survey -p h.pcs -a GPTBot,Bot --history -o x.tsv --summary json", None),
    ("survey --sitemaps -p a.pcs --summary json -o x.tsv", Some("survey --sitemaps")),
    ("diff a.pcs n.pcs -a GPTBot,Bot -o x.tsv --summary json", None),
    ("diff a.pcs n.pcs -a GPTBot,Bot --usage train-ai list.csv -o x.tsv --summary json", None),
    ("diff robots/a.example new/a.example -o x.tsv --summary json", None),
    ("diff h.pcs@2024-01-01 h.pcs@2024-01-02 -a Bot -o x.tsv --summary json", None),
    ("inspect h.pcs --format json", None),
    ("inspect a.pcs --format json", None),
    ("inspect j.pcs --format json", None),
    ("inspect h.pcs a.example --format json", None),
    ("inspect a.pcs a.example --format json", None),
    ("lint --format json lint.txt", None),
];

/// Every account says how the policies were read, wherever it goes.
#[test]
fn files_left_out_are_in_every_account() {
    let folder = Folder::new();
    folder.write("robots/b.example", "<!DOCTYPE html>\n");
    folder.write("robots/shop.example_robots.txt", "");
    folder.write("list", "https://a.example/\n");
    for command in [
        "classify -a ExampleBot list",
        "filter -a ExampleBot list",
        "audit -a ExampleBot list -o a.html -o a.json",
        "survey -a ExampleBot",
        "survey --sitemaps",
    ] {
        let summaries = "--summary json --summary s.json --summary s.md";
        let output = folder.ok(format!("{command} --robots robots {summaries}"));
        for summary in [json(&output.stderr), json(&folder.read("s.json"))] {
            let notes = summary.get("account").unwrap_or(&summary)["notes"].to_string();
            let second = "file b.example.txt: left out: a file whose name sorts";
            assert_contains(&notes, &["_robots.txt: left out: its name", second, "web page"]);
        }
        assert_contains(&text(&folder.read("s.md")).to_lowercase(), &["files left out: 2"]);
    }
    assert_contains(&text(&folder.read("a.html")), &["<dt>Files left out</dt><dd>2</dd>"]);
    let notes = json(&folder.read("a.json"))["account"]["notes"].to_string();
    assert_contains(&notes, &["_robots.txt: left out"]);
}

/// Captures of a set are superseded as captures of archives are.
#[test]
fn compile_counts_the_same_of_sets_as_of_archives() {
    let folder = Folder::new();
    let undated = "{\"url\": \"https://a.example/robots.txt\", \"status\": 404}\n";
    folder.write("0.jsonl", undated);
    let dated = ["2024-01-01", "2024-01-02"].map(|day| capture("a.example", day, 404, ""));
    folder.write("1.jsonl", dated.concat());
    folder.ok("compile 0.jsonl -o 0.pcs");
    folder.ok("compile 1.jsonl -o 1.pcs");
    // Of its two captures, a set stores the newer one.
    for (inputs, superseded) in
        [("0.jsonl 1.jsonl", 2), ("0.pcs 1.jsonl", 2), ("0.pcs 1.pcs", 1), ("1.pcs 0.jsonl", 1)]
    {
        let output = folder.ok(format!("compile {inputs} -o a.pcs --summary json"));
        let found = json(&output.stderr);
        let counts = [&found["superseded"], &found["superseded_undated"]];
        assert_eq!(counts, [superseded, 1], "{inputs}");
    }
}

/// The policies of a set are described alike by `compile`, which also knows the files left out.
#[test]
fn compile_describes_the_set_as_inspect_does() {
    let folder = Folder::new();
    folder.write("robots/page.example", "<!DOCTYPE html>\n");
    folder.write("robots/shop.example_robots.txt", "");
    let output = folder.ok("compile robots -o a.pcs --summary json");
    let mut compiled = json(&output.stderr)["account"]["policies"].take();
    assert_eq!(compiled["file_notes"]["looks-like-html"], 1);
    assert_eq!(compiled["left_out"].take(), 1);
    let mut inspected = json(&folder.ok("inspect a.pcs --format json").stdout)["policies"].take();
    inspected["left_out"].take();
    assert_eq!(compiled, inspected);
}
