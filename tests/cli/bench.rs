//! `portcullis bench`, in rounds that are too short to mean anything.

use super::*;

/// Runs one round, as short as possible.
#[track_caller]
fn bench(folder: &Folder, line: &str) -> Output {
    folder.ok(format!("bench --rounds 1 --seconds-per-pass 0 {line}"))
}

/// Like [`bench`], on the sample. Also returns the report.
#[track_caller]
fn on_sample(folder: &Folder, policies: &str, line: &str) -> (Output, Value) {
    let urls = project("corpora/sample/urls.txt");
    let flags = format!("{policies} -a Googlebot --urls {} --report b.json", urls.display());
    let output = bench(folder, &format!("{flags} {line}"));
    (output, json(&folder.read("b.json")))
}

fn robots() -> String {
    format!("--robots {}", project("corpora/sample/robots").display())
}

/// Returns the engine with this name.
fn engine<'j>(report: &'j Value, name: &str) -> &'j Value {
    let engines = report["engines"].as_array().unwrap();
    engines.iter().find(|engine| engine["name"] == name).unwrap()
}

/// Returns whether some result is of the model.
fn has_model(engine: &Value, model: &str) -> bool {
    engine["results"].as_array().unwrap().iter().any(|result| result["model"] == model)
}

#[test]
fn every_engine_is_verified_on_the_sample_and_timed() {
    let folder = Folder::new();
    let (output, report) = on_sample(&folder, &robots(), "--html b.html");
    let table = String::from_utf8(output.stdout).unwrap();
    let engines = report["engines"].as_array().unwrap();
    assert!(engines.len() >= 8, "{table}");
    for engine in engines {
        let name = engine["name"].as_str().unwrap();
        assert_eq!(engine["verification"]["status"], "verified", "{name}");
        assert_eq!(engine["verification"]["checksum"], report["corpus"]["checksum"], "{name}");
        assert!(table.contains(&format!("| {name} ")), "{name}");
    }
    let ours = engine(&report, "portcullis");
    for model in ["compile", "first-touch", "decide-hot", "batch"] {
        assert!(has_model(ours, model), "{model}");
    }
    assert!(ours["matcher_bytes"].as_u64().unwrap() > 0);
    let page = String::from_utf8(folder.read("b.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
}

#[test]
fn engines_and_models_can_be_chosen() {
    let folder = Folder::new();
    let line = "--engine sorted-scan --baseline oracle --model decide-hot";
    let (_, report) = on_sample(&folder, &robots(), line);
    assert_eq!(report["engines"].as_array().unwrap().len(), 2);
    assert_eq!(report["baseline"], "oracle");
    let scan = engine(&report, "sorted-scan");
    assert!(has_model(scan, "decide-hot") && !has_model(scan, "compile"));
    assert!(scan["results"][0]["ratio"].as_f64().unwrap() < 1.0, "{scan}");
}

#[test]
fn a_compiled_set_answers_too() {
    let folder = Folder::new();
    folder.ok(format!("compile -o s.set {}", project("corpora/sample/robots").display()));
    let (_, report) = on_sample(&folder, "-p s.set", "--engine portcullis");
    let ours = engine(&report, "portcullis");
    assert_eq!(ours["verification"]["status"], "verified");
    assert!(["decide-hot", "batch"].iter().all(|model| has_model(ours, model)));
}

/// A list is the same corpus in every format.
#[test]
fn lists_are_read_as_by_other_commands() {
    let folder = Folder::new();
    let urls = [ALLOWED, DISALLOWED, UNKNOWN, "https://a.example/a,b\"c"];
    folder.write("lines.txt", urls.join("\n"));
    let rows = urls.map(|url| format!("1,\"{}\"\n", url.replace('"', "\"\"")));
    folder.write("named.csv", format!("rank,url\n{}", rows.concat()));
    folder.write("other.csv", format!("rank,page\n{}", rows.concat()));
    let objects = urls.map(|url| format!("{}\n", json!({ "page": { "url": url }, "url": 7 })));
    folder.write("list.jsonl.gz", gzip(objects.concat().as_bytes()));
    folder.write("nul.txt", urls.join("\0"));
    folder.ok("classify --robots robots -a ExampleBot lines.txt -o list.parquet");
    let report = |list: &str| {
        let line = format!("--robots robots -a ExampleBot --engine portcullis {list}");
        let output = bench(&folder, &format!("{line} --report b.json"));
        (json(&folder.read("b.json")), text(&output.stderr))
    };
    let (lines, _) = report("--urls lines.txt");
    assert_eq!(
        (&lines["corpus"]["questions"], &lines["corpus"]["allowed"]),
        (&3.into(), &2.into())
    );
    for (list, note) in [
        ("--urls named.csv", "column `url`"),
        ("--urls other.csv --column page", ""),
        ("--urls list.jsonl.gz --field page.url", ""),
        ("--urls list.parquet", "column `url`"),
        ("--urls nul.txt -0", ""),
    ] {
        let (found, said) = report(list);
        for fact in ["questions", "allowed", "checksum", "left_out"] {
            assert_eq!(found["corpus"][fact], lines["corpus"][fact], "{list} {fact}");
        }
        assert!(said.contains(note) && said.contains("note: ") != note.is_empty(), "{said}");
        let ours = engine(&found, "portcullis");
        assert_eq!(ours["verification"]["status"], "verified", "{list}");
    }
}

/// The command in a report runs again in a shell.
#[cfg(unix)]
#[test]
fn the_command_of_a_report_can_be_repeated() {
    let folder = Folder::new();
    folder.write("my lists/it's $1.txt", format!("{ALLOWED}\n"));
    let script = project("tests/data/bench/runner.sh");
    let mut first = folder.command("bench --robots ./robots -a ExampleBot --rounds 1");
    first.args(["--seconds-per-pass", "0", "--engine", "portcullis", "--report", "b.json"]);
    first.args(["--urls", "my lists/it's $1.txt"]);
    let output =
        first.arg("--runner").arg(format!("s=sh {} allow", script.display())).output().unwrap();
    assert_status(&output, 0);
    let report = json(&folder.read("b.json"));
    let command = report["command"].as_str().unwrap();
    fs::remove_file(folder.path("b.json")).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_portcullis")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).env("PATH", path.unwrap()).args(["-c", command]);
    assert_status(&shell.output().unwrap(), 0);
    assert_eq!(json(&folder.read("b.json"))["command"], command);
}

/// Engines do not decide for a host without a file.
#[test]
fn hosts_without_a_file_are_left_out() {
    let folder = Folder::new();
    let captures = [("a.example", 200), ("b.example", 404), ("c.example", 503)]
        .map(|(host, status)| capture(host, "2025-01-01", status, "User-agent: *\nDisallow: /x\n"));
    folder.write("captures.jsonl", captures.concat());
    let urls =
        |host: &str| format!("https://{host}.example/x\nhttps://{host}.example/robots.txt\n");
    folder.write("urls.txt", ["a", "b", "c", "d"].map(urls).concat());
    folder.ok("compile -o s.set captures.jsonl");
    bench(&folder, "-p s.set --urls urls.txt -a ExampleBot --engine portcullis --report b.json");
    let report = json(&folder.read("b.json"));
    assert_eq!(report["corpus"]["questions"], 2, "{report}");
    assert_eq!(report["corpus"]["left_out"]["without_file"], 6, "{report}");
    assert_eq!(engine(&report, "portcullis")["verification"]["status"], "verified");
}

/// Returns the table and the report of a round with this runner.
#[cfg(unix)]
#[track_caller]
fn with_runner(folder: &Folder, runner: String) -> (String, Value) {
    folder.write("urls.txt", "https://a.example/private/x\nhttps://b.example/\n");
    let line = "bench --robots robots -a ExampleBot --rounds 1 --seconds-per-pass 0 \
                --urls urls.txt --engine portcullis --report b.json --runner";
    let output = folder.command(line).arg(runner).output().unwrap();
    assert_status(&output, 0);
    (String::from_utf8(output.stdout).unwrap(), json(&folder.read("b.json")))
}

#[cfg(unix)]
#[test]
fn a_runner_is_in_the_table() {
    let script = project("tests/data/bench/runner.sh");
    let runner = format!("script=sh {} disallow", script.display());
    let (table, _) = with_runner(&Folder::new(), runner);
    assert!(table.contains("| script 1.0 | 1 differ |"), "{table}");
    assert!(table.contains("disallow (oracle: allow): https://b.example/"), "{table}");
    assert_contains(&table, &["decide-hot", "the fastest of 1 engine of other projects, script"]);
}

/// Needs Python and Protego; without them, prints a note and tests nothing.
#[cfg(unix)]
#[test]
fn protego_is_in_the_table() {
    let check = std::process::Command::new("python3").args(["-c", "import protego"]).output();
    if !check.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 with protego is not there (pip install protego)");
        return;
    }
    let runner = format!("protego=python3 {}", project("benches/runners/protego.py").display());
    let (_, report) = with_runner(&Folder::new(), runner);
    assert_eq!(engine(&report, "protego")["verification"]["status"], "verified");
    assert!(has_model(engine(&report, "protego"), "decide-hot"));
}

#[test]
fn wrong_usage_is_reported_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("nothing.txt", "mailto:a@b.example\n");
    let cases: [(&str, &[&str]); 7] = [
        ("--rounds 0", &["--rounds", "1.."]),
        ("--engine nobody", &["no engine nobody", "sorted-scan"]),
        ("--runner oracle=true", &["two engines", "oracle"]),
        ("--report a --html a", &["--html a", "--report a", "one file"]),
        ("--report no/such/folder/a", &["no/such/folder/a"]),
        ("--urls none.txt", &["error: none.txt: no such file or directory"]),
        (
            "--urls nothing.txt",
            &["nothing.txt: its only record is not a URL", "`mailto:a@b.example`"],
        ),
    ];
    folder.write("urls.txt", "https://a.example/\n");
    for (line, words) in cases {
        let urls = if line.contains("--urls") { "" } else { "--urls urls.txt" };
        let line = format!("bench --robots robots -a ExampleBot {urls} {line}");
        assert_fails(&folder.output(line), words);
    }
    for (agent, word) in
        [("A+B", "one product token"), ("a b", "invalid agent"), ("A,B", "one"), ("@ai-all", "one")]
    {
        let output =
            folder.command("bench --robots robots --urls urls.txt -a").arg(agent).output().unwrap();
        assert_fails(&output, &["-a", word]);
    }
    assert!(!folder.names().contains(&"a".to_owned()));
}
