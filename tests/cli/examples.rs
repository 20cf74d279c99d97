//! The examples at the end of each subcommand's help, run in the order of the help.

use super::*;

#[test]
fn every_example_runs() {
    let folder = Folder::new();
    let sample = |name: &str| fs::read(project("corpora/sample").join(name)).unwrap();
    folder.write("urls.txt", sample("urls.txt"));
    folder.write("robots.txt", sample("robots/shop.example"));
    for name in ["shop.example", "blog.example"] {
        folder.write(&format!("robots/{name}"), sample(&format!("robots/{name}")));
    }
    let body = "User-agent: *\\nDisallow: /cart\\nSitemap: https://shop.example/sitemap.xml\\n";
    let capture = |time: &str, body: &str| {
        format!(
            "{{\"url\":\"https://shop.example/robots.txt\",\"status\":200,\"fetched_at\":\"{time}\",\"body\":\"{body}\"}}\n"
        )
    };
    let (old, new) = (capture("2022-01-01T00:00:00Z", ""), capture("2024-01-01T00:00:00Z", body));
    folder.write("old.jsonl", &old);
    folder.write("captures.jsonl", old + &new);
    for (set, input) in [("old", "old.jsonl"), ("new", "captures.jsonl"), ("copy", "robots")] {
        folder.ok(format!("compile --summary none -o {set}.pcs {input}"));
    }
    folder.ok("compile --summary none -o policies.pcs robots");
    folder.ok("compile --summary none --history -o history.pcs captures.jsonl");
    folder.write("pages.csv", "url\nhttps://shop.example/a\n");
    folder.ok(
        "classify -p policies.pcs -a Bot --summary none --columns verdict -o pages.parquet pages.csv",
    );
    let help = |name: &str| text(&folder.ok(format!("{name} --help")).stdout).to_owned();
    let names = text(&folder.ok("--help").stdout).to_owned();
    let subcommands = names.lines().skip_while(|line| *line != "Subcommands:").skip(1);
    for name in subcommands.map_while(|line| line.strip_prefix("  ")?.split(' ').next()) {
        if name.is_empty() || name == "help" {
            continue;
        }
        let help = help(name);
        let examples =
            help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{name} has none"));
        let lines = examples.lines().filter_map(|line| line.strip_prefix("  portcullis "));
        assert_eq!(lines.clone().count(), 3, "{name}");
        for line in lines {
            let output = folder.process(line).output().unwrap();
            let status = output.status.code().unwrap();
            let may_be_negative = ["check", "diff", "lint"].iter().any(|it| line.starts_with(it));
            let is_negative = status == 1 && may_be_negative;
            assert!(status == 0 || is_negative, "{line}: {}", text(&output.stderr));
        }
    }
}
