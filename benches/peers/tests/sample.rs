//! Runs `portcullis-peers` on the sample, in one round that is too short to mean anything.

use std::path::Path;
use std::process::Command;

#[test]
fn every_peer_is_in_the_table() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sample");
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let output = Command::new(env!("CARGO_BIN_EXE_portcullis-peers"))
        .args(["run", "-a", "Googlebot", "--dialect", "google", "--rounds", "1"])
        .args(["--seconds-per-pass", "0", "--report"])
        .arg(&json)
        .arg("--robots")
        .args([sample.join("robots"), sample.join("urls.txt")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let engines = report["engines"].as_array().unwrap();
    for name in [
        "portcullis",
        "fast-robots",
        "texting_robots",
        "robotxt",
        "cylon",
        "robots_txt",
        "robotstxt",
    ] {
        let engine = engines.iter().find(|engine| engine["name"] == name).expect(name);
        let version = engine["version"].as_str().unwrap();
        assert!(!version.is_empty() && table.contains(&format!("| {name} {version}")), "{table}");
        let has_hot = |it: &serde_json::Value| it["model"] == "decide-hot";
        assert!(engine["results"].as_array().unwrap().iter().any(has_hot), "{name}: {table}");
    }
}
