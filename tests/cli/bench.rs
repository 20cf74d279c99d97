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
    let flags = format!("--robots {robots} --urls {urls} -a Googlebot --report b.json");
    let output = folder.ok(format!("bench --rounds 1 --seconds-per-pass 0 {flags}"));
    let report = json(&folder.read("b.json"));
    let table = String::from_utf8(output.stdout).unwrap();
    let engines = report["engines"].as_array().unwrap();
    assert!(engines.len() >= 4, "{table}");
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
}
