//! Examples for each subcommand, at the end of its help and in the man page.
//!
//! A test runs all of them. Their files are the ones that it makes.

use clap::Command;

/// Subcommands, each with three commands and what they are for.
const EXAMPLES: [(&str, [(&str, &str); 3]); 9] = [
    (
        "check",
        [
            (
                "May GPTBot fetch a page?",
                "check --robots robots.txt -a GPTBot https://shop.example/cart/",
            ),
            (
                "Why, and by which line?",
                "check -p policies.pcs -a GPTBot --explain https://shop.example/cart/",
            ),
            (
                "The same as JSON, with usage preferences",
                "check --robots robots.txt -a CCBot --usage search --format jsonl https://shop.example/",
            ),
        ],
    ),
    (
        "classify",
        [
            (
                "A folder of files, two crawlers",
                "classify --robots robots -a Googlebot,GPTBot urls.txt",
            ),
            (
                "A column for each crawler of a list",
                "classify -p policies.pcs -a @ai-training pages.parquet -o tagged.parquet",
            ),
            (
                "Verdict and line as compressed CSV",
                "classify -p policies.pcs -a GPTBot --columns verdict,line urls.txt -o verdicts.csv.gz",
            ),
        ],
    ),
    (
        "filter",
        [
            (
                "The URLs that a crawler may fetch",
                "filter -p policies.pcs -a GPTBot urls.txt -o allowed.txt",
            ),
            (
                "Set aside the URLs of hosts without a policy",
                "filter -p policies.pcs -a GPTBot --unknown unknown.txt urls.txt -o allowed.txt.zst",
            ),
            (
                "Keep what may train models, where that is said",
                "filter -p policies.pcs -a CCBot --purpose train-ai --unstated drop urls.txt",
            ),
        ],
    ),
    (
        "compile",
        [
            ("Files named by host", "compile -o policies.pcs robots"),
            (
                "Captures, read as Google reads them",
                "compile --dialect google -o google.pcs captures.jsonl",
            ),
            ("Merge two sets", "compile -o all.pcs old.pcs new.pcs"),
        ],
    ),
    (
        "diff",
        [
            ("Which hosts changed", "diff old.pcs new.pcs"),
            (
                "Which URLs changed, for whom",
                "diff old.pcs new.pcs -a GPTBot urls.txt -o changes.tsv",
            ),
            (
                "What changed in two years",
                "diff history.pcs@2023-01-01 history.pcs@2025-01-01 -a GPTBot",
            ),
        ],
    ),
    (
        "inspect",
        [
            ("Figures of a set", "inspect policies.pcs"),
            (
                "A host: its policies, and what changed for a crawler",
                "inspect history.pcs shop.example -a GPTBot",
            ),
            ("As JSON, after a check of every byte", "inspect policies.pcs --verify --format json"),
        ],
    ),
    (
        "survey",
        [
            ("The sitemaps that files name", "survey -p policies.pcs --sitemaps -o sitemaps.tsv"),
            (
                "A row for each host and crawler",
                "survey -p policies.pcs -a GPTBot,CCBot -o survey.parquet",
            ),
            (
                "A row for each period too",
                "survey -p history.pcs -a GPTBot --history -o periods.csv",
            ),
        ],
    ),
    (
        "audit",
        [
            ("A page for a browser", "audit --robots robots.txt -a @search urls.txt -o audit.html"),
            (
                "The same, and as JSON",
                "audit -p policies.pcs -a Googlebot,GPTBot urls.txt -o audit.html -o audit.json",
            ),
            (
                "With the 20 largest of each",
                "audit -p policies.pcs -a GPTBot -n 20 urls.txt -o audit.html",
            ),
        ],
    ),
    (
        "lint",
        [
            ("One file", "lint robots.txt"),
            (
                "A folder, for a build that must fail",
                "lint robots --format github --fail --level error",
            ),
            ("Show the edits that change no verdict", "lint --diff robots.txt"),
        ],
    ),
];

/// Adds the examples to the help of each subcommand, after what it says of formats and columns.
pub fn added_to(mut command: Command) -> Command {
    for (name, examples) in EXAMPLES {
        command = command.mut_subcommand(name, |subcommand| {
            let before = subcommand.get_after_long_help();
            let mut text = before.map(|before| format!("{before}\n\n")).unwrap_or_default();
            text += "Examples:";
            for (what, line) in examples {
                text += &format!("\n  # {what}\n  portcullis {line}");
            }
            subcommand.after_long_help(text)
        });
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Arguments;
    use super::*;

    #[test]
    fn every_subcommand_has_examples_that_parse() {
        let command = added_to(Arguments::command());
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        names.retain(|name| *name != "help");
        assert_eq!(names, EXAMPLES.map(|(name, _)| name));
        for (name, line) in
            EXAMPLES.iter().flat_map(|(name, all)| all.iter().map(move |it| (name, it.1)))
        {
            assert!(line.starts_with(&format!("{name} ")), "{line}");
            assert!(line.len() < 87, "the help would break {line}");
            let words = format!("portcullis {line}");
            let parsed = command.clone().try_get_matches_from(words.split(' '));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }
}
