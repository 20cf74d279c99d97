//! `portcullis bench`, in rounds that are too short to mean anything.

use super::*;

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
    let sample = project("corpora/sample");
    let [robots, urls] = ["robots", "urls.txt"].map(|name| sample.join(name).display().to_string());
    let flags =
        format!("--robots {robots} --urls {urls} -a Googlebot --report b.json --html b.html");
    let output = folder.ok(format!("bench --rounds 1 --seconds-per-pass 0 {flags}"));
    let report = json(&folder.read("b.json"));
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

/// Needs Python and Protego; without them, prints a note and tests nothing.
#[cfg(unix)]
#[test]
fn protego_is_in_the_table() {
    let check = std::process::Command::new("python3").args(["-c", "import protego"]).output();
    if !check.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 with protego is not there (pip install protego)");
        return;
    }
    let folder = Folder::new();
    folder.write("urls.txt", "https://a.example/private/x\nhttps://b.example/\n");
    let runner = format!("protego=python3 {}", project("benches/runners/protego.py").display());
    let line = "bench --robots robots -a ExampleBot --rounds 1 --seconds-per-pass 0 \
                --urls urls.txt --engine portcullis --report b.json --runner";
    assert_status(&folder.command(line).arg(runner).output().unwrap(), 0);
    let report = json(&folder.read("b.json"));
    assert_eq!(engine(&report, "protego")["verification"]["status"], "verified");
    assert!(has_model(engine(&report, "protego"), "decide-hot"));
}
