//! JSON: what a program reads is JSON and nothing else, whatever there is to note.

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
        "audit --robots odd -a Nobody in --report report.json",
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
