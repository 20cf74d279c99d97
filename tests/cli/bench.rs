//! `portcullis bench`, in rounds that are too short to mean anything.

use serde_json::Value;

use super::*;

/// One round on the sample, as short as can be.
fn bench(folder: &Folder, line: &str) -> Output {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/sample");
    folder
        .command(&format!("bench -a Googlebot --rounds 1 --seconds-per-pass 0 {line}"))
        .arg("--urls")
        .arg(sample.join("urls.txt"))
        .output()
        .unwrap()
}

fn on_sample(folder: &Folder, line: &str) -> Output {
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/sample/robots");
    bench(folder, &format!("--robots {} {line}", robots.display()))
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

/// The engine with this name.
fn engine<'j>(report: &'j Value, name: &str) -> &'j Value {
    let engines = report["engines"].as_array().unwrap();
    engines.iter().find(|engine| engine["name"] == name).unwrap()
}

/// Whether some result is of the model.
fn has_model(engine: &Value, model: &str) -> bool {
    engine["results"].as_array().unwrap().iter().any(|result| result["model"] == model)
}

#[test]
fn every_engine_is_verified_on_the_sample_and_timed() {
    let folder = Folder::new();
    let output = on_sample(&folder, "--no-memory --json b.json --html b.html");
    assert_status(&output, 0);
    let table = String::from_utf8(output.stdout).unwrap();
    let report = json(&folder, "b.json");
    let engines = report["engines"].as_array().unwrap();
    assert!(engines.len() >= 8, "{table}");
    for engine in engines {
        let name = engine["name"].as_str().unwrap();
        assert_eq!(engine["verification"]["standing"], "verified", "{name}");
        assert_eq!(engine["verification"]["checksum"], report["corpus"]["checksum"], "{name}");
        assert!(table.contains(&format!("| {name} ")), "{name}");
    }
    let ours = engine(&report, "portcullis");
    for model in ["parse", "compile", "first-touch", "decide-hot", "batch", "file-to-verdict"] {
        assert!(has_model(ours, model), "{model}");
    }
    assert!(ours["matcher_bytes"].as_u64().unwrap() > 0);
    assert!(ours["single"]["p99_ns"].is_u64());
    let page = String::from_utf8(folder.read("b.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
}

#[test]
fn engines_and_models_can_be_chosen() {
    let folder = Folder::new();
    let line =
        "--engine sorted-scan --baseline oracle --model decide-hot --no-memory --json b.json";
    assert_status(&on_sample(&folder, line), 0);
    let report = json(&folder, "b.json");
    assert_eq!(report["engines"].as_array().unwrap().len(), 2);
    assert_eq!(report["baseline"], "oracle");
    let scan = engine(&report, "sorted-scan");
    assert!(has_model(scan, "decide-hot") && !has_model(scan, "compile"));
    assert!(scan["results"][0]["ratio"].as_f64().unwrap() < 1.0, "{scan}");
}

#[test]
fn a_compiled_set_answers_too() {
    let folder = Folder::new();
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/sample/robots");
    let compile = folder.command("compile -o s.set").arg(robots).output().unwrap();
    assert_status(&compile, 0);
    let line = "-p s.set --engine portcullis --no-memory --json b.json";
    assert_status(&bench(&folder, line), 0);
    let report = json(&folder, "b.json");
    let ours = engine(&report, "portcullis");
    assert_eq!(ours["verification"]["standing"], "verified");
    assert!(["decide-hot", "batch", "file-to-verdict"].iter().all(|model| has_model(ours, model)));
}

/// No engine is asked about a host without a file, but a run over the list meets it: unavailable hosts
/// allow, unreachable ones allow their robots.txt alone.
#[test]
fn a_set_with_hosts_that_have_no_file_is_verified() {
    let folder = Folder::new();
    let mut captures = String::new();
    for (host, status) in [("a", 200), ("b", 404), ("c", 503)] {
        captures += &format!(
            "{{\"url\": \"https://{host}.example/robots.txt\", \"status\": {status}, \
             \"fetched_at\": \"2025-01-01T00:00:00Z\", \"headers\": {{}}, \
             \"body\": \"User-agent: *\\nDisallow: /x\\n\"}}\n"
        );
    }
    folder.write("captures.jsonl", &captures);
    let urls =
        |host: &str| format!("https://{host}.example/x\nhttps://{host}.example/robots.txt\n");
    folder.write("urls.txt", ["a", "b", "c", "d"].map(urls).concat());
    for dialect in ["rfc9309", "google"] {
        let compile = format!("compile -o s.set --dialect {dialect} captures.jsonl");
        assert_status(&folder.command(&compile).output().unwrap(), 0);
        let line = "bench -p s.set --urls urls.txt -a ExampleBot --rounds 1 --seconds-per-pass 0 \
                    --engine portcullis --no-memory --json b.json";
        assert_status(&folder.command(line).output().unwrap(), 0);
        let report = json(&folder, "b.json");
        assert_eq!(report["corpus"]["questions"], 2, "{report}");
        let stored = engine(&report, "portcullis");
        assert_eq!(stored["verification"]["standing"], "verified", "{dialect}");
        assert!(has_model(stored, "file-to-verdict"), "{dialect}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_that_of_a_process_of_its_own() {
    let folder = Folder::new();
    let line = "--engine portcullis --model compile --json b.json";
    assert_status(&on_sample(&folder, line), 0);
    let memory = &json(&folder, "b.json")["engines"][0]["memory"];
    let peak = memory["peak"].as_u64().unwrap();
    assert!(peak >= memory["corpus"].as_u64().unwrap() && peak > 1 << 20, "{memory}");
    assert_eq!(folder.names(), ["b.json"]);
}

#[cfg(unix)]
#[test]
fn a_runner_stands_in_the_table() {
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bench/runner.sh");
    let output = folder
        .command("bench --robots robots -a ExampleBot --rounds 1 --seconds-per-pass 0 --no-memory")
        .args(["--engine", "portcullis", "--runner"])
        .arg(format!("script=sh {} disallow", script.display()))
        .arg("--urls")
        .arg(folder.write("urls.txt", "https://a.example/private/x\nhttps://b.example/\n"))
        .output()
        .unwrap();
    assert_status(&output, 0);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("| script 1.0 | differ | 2 | 0 | 1 | 0 |"), "{table}");
    assert!(table.contains("disallow (oracle: allow): https://b.example/"), "{table}");
}

/// Needs Python and Protego; where they are not there, says so and tests nothing.
#[cfg(unix)]
#[test]
fn protego_stands_in_the_table() {
    let check = std::process::Command::new("python3").args(["-c", "import protego"]).output();
    if !check.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 with protego is not there (pip install protego)");
        return;
    }
    let folder = Folder::new();
    let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/runners/protego.py");
    let output = folder
        .command("bench --robots robots -a ExampleBot --rounds 1 --seconds-per-pass 0 --no-memory")
        .args(["--engine", "portcullis", "--json", "b.json", "--runner"])
        .arg(format!("protego=python3 {}", runner.display()))
        .arg("--urls")
        .arg(folder.write("urls.txt", "https://a.example/private/x\nhttps://b.example/\n"))
        .output()
        .unwrap();
    assert_status(&output, 0);
    let report = json(&folder, "b.json");
    assert_eq!(engine(&report, "protego")["verification"]["standing"], "verified");
    assert!(has_model(engine(&report, "protego"), "decide-hot"));
}

#[test]
fn wrong_usage_is_told_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("nothing.txt", "mailto:a@b.example\n");
    let cases: [(&str, &[&str]); 6] = [
        ("--engine nobody", &["no engine nobody", "sorted-scan"]),
        ("--runner oracle=true", &["two engines", "oracle"]),
        ("--json a --html a", &["--html a", "--json a", "one file"]),
        ("--json no/such/folder/a", &["no/such/folder/a"]),
        ("--urls none.txt", &["error: none.txt: no such file or directory"]),
        ("--urls nothing.txt", &["nothing.txt", "no URL"]),
    ];
    folder.write("urls.txt", "https://a.example/\n");
    for (line, words) in cases {
        let urls = if line.contains("--urls") { "" } else { "--urls urls.txt" };
        let line = format!("bench --robots robots -a ExampleBot {urls} {line}");
        let output = folder.command(&line).output().unwrap();
        assert_fails(&output, words);
    }
    for agent in ["A+B", "a b"] {
        let output =
            folder.command("bench --robots robots --urls urls.txt -a").arg(agent).output().unwrap();
        assert_fails(&output, &["-a"]);
    }
    assert!(!folder.names().contains(&"a".to_owned()));
}
