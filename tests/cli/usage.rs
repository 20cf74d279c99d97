//! Usage preferences: `audit` counts what `classify` says.

use super::*;

const ROBOTS: &str = "License: https://l.example/all\nUser-agent: *\n\
    Content-Usage: search=y, train-ai=n\nContent-Usage: /open/ train-ai=y\n\
    Content-Signal: /late ai-input=no\nDisallow: /private\n\nUser-agent: Other\nDisallow: /x\n";

const URLS: &str = "https://a.example/\nhttps://a.example/open/1\nhttps://a.example/late\n\
    https://a.example/private\nhttps://u.example/\nno url\n";

#[test]
fn audit_agrees_with_classify() {
    let folder = Folder::new();
    folder.write("sites/a.example", ROBOTS);
    let robots = "License: https://l.example/all\nUser-agent: *\nContent-Usage: /open train-ai=y\n\
        Content-Signal: ai-train=no\nAllow: /\nUser-agent: Bot\nContent-Usage: search=y\nDisallow: /\n\
        License: /l.xml\n";
    folder.write("sites/b.example", robots);
    folder.write("urls", format!("{URLS}https://b.example/1\n"));
    let flags = "--robots sites -a Bot,Other";
    folder.ok(format!("audit {flags} --summary none -o report.json -o page.html urls"));
    let report = json(&folder.read("report.json"));
    let per_agent = &report["account"]["per_agent"];
    let line = format!("classify {flags} --usage train-ai,ai-use,search --summary none urls");
    let lines = String::from_utf8(folder.ok(line).stdout).unwrap();
    for (agent, row) in per_agent.as_array().unwrap().iter().enumerate() {
        for (place, label) in ["train-ai", "ai-use", "search"].into_iter().enumerate() {
            let column = agent * 4 + 1 + place;
            for value in ["y", "n", "?", "-"] {
                let is = |line: &&str| line.split('\t').nth(column) == Some(value);
                let counted = lines.lines().filter(is).count();
                assert_eq!(row["usage"][label][value], counted, "{row} {label} {value}");
            }
        }
    }
    assert_eq!(per_agent[0]["usage"]["train-ai"]["n"], 2);
    let survey = &report["survey"]["usage"];
    assert_eq!((&survey["hosts"], &survey["sources"]["license"]["hosts"]), (&json!(2), &json!(2)));
    let license = &survey["most_common_licenses"][0];
    assert_eq!(
        (&license["value"], &license["hosts"]),
        (&json!("https://l.example/all"), &json!(2))
    );
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert_contains(&page, &["id=\"usage\"", "Bot · train-ai", "Licences"]);
}
