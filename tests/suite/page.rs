//! Builds `docs/conformance.md` from the case files and `docs/decisions.toml`, and rejects
//! decisions without cases or tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use portcullis_dialect::dialect::Dialect;
use serde::Deserialize;

use portcullis_testkit::case::{Check, checks_of};

/// The path of the page in the project.
pub const PAGE: &str = "docs/conformance.md";

/// The case files in the order of the page, with their titles.
const DOCUMENTS: &[(&str, &str)] = &[
    ("original1994", "The consensus of 1994"),
    ("koster1996", "M. Koster, RFC draft 1, 15 November 1996"),
    ("draft2019", "Robots Exclusion Protocol, Internet-Draft, 2019"),
    ("rfc9309", "RFC 9309, 2022"),
    ("google", "Google's page on robots.txt, and google/robotstxt"),
    ("scope", "Which URLs a file applies to"),
    ("bytes", "Odd bytes"),
    ("usage", "What pages may be used for: AIPREF, Content Signals, RSL"),
    ("delay", "How long a crawler should wait: Crawl-delay"),
];

/// An entry of `docs/decisions.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    point: String,
    dialects: Vec<String>,
    decision: String,
    reason: String,
    #[serde(default)]
    cases: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionFile {
    decision: Vec<Decision>,
}

/// The checks of one case file.
struct Document {
    name: String,
    title: String,
    checks: Vec<Check>,
}

/// Returns the page of the project at `root`, or a problem of its sources.
pub fn page(root: &Path) -> Result<String, String> {
    let documents = documents(root)?;
    let text = read(&root.join("docs/decisions.toml"))?;
    let file: DecisionFile = toml::from_str(&text).map_err(|error| error.to_string())?;
    for decision in &file.decision {
        check_decision(root, decision, &documents)
            .map_err(|problem| format!("docs/decisions.toml: {}: {problem}", decision.point))?;
    }
    let mut page = String::from(INTRODUCTION);
    push_summary(&mut page, &documents);
    push_documents(&mut page, &documents);
    push_decisions(&mut page, &file.decision, &documents);
    Ok(page)
}

const INTRODUCTION: &str = "\
<!-- Made by a test from tests/data and docs/decisions.toml, with WRITE=1. Do not edit. -->

# Conformance

The checks by dialect and document. A case is one robots.txt. A check is one URL for one agent in
one dialect, with the expected verdict, reason and line of the deciding rule. `cargo test -p
portcullis-tests --test suite` runs every check through every engine. The cases are in
[tests/data](../tests/data/README.md).

";

fn documents(root: &Path) -> Result<Vec<Document>, String> {
    let folder = root.join("tests/data");
    let known: BTreeMap<&str, usize> =
        DOCUMENTS.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    let mut documents = BTreeMap::new();
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = *known.get(&*name).ok_or_else(|| {
            format!("{name}.toml has no title; add it to DOCUMENTS in tests/suite/page.rs")
        })?;
        let checks = checks_of(&read(&path)?).map_err(|why| format!("{name}.toml: {why}"))?;
        documents.insert(place, Document { name, title: DOCUMENTS[place].1.to_owned(), checks });
    }
    Ok(documents.into_values().collect())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Checks that `decision` is complete, and that cases cover all its dialects or tests are named.
fn check_decision(root: &Path, decision: &Decision, documents: &[Document]) -> Result<(), String> {
    let texts = [&decision.point, &decision.decision, &decision.reason];
    if texts.iter().any(|text| text.trim().is_empty()) {
        return Err("point, decision or reason is missing".to_owned());
    }
    let dialects = dialects(decision)?;
    for name in &decision.cases {
        file_of(documents, name).ok_or_else(|| format!("there is no case `{name}`"))?;
    }
    for test in &decision.tests {
        check_test(root, test)?;
    }
    let asked: BTreeSet<&str> = documents
        .iter()
        .flat_map(|document| &document.checks)
        .filter(|check| decision.cases.contains(&check.case))
        .map(|check| check.dialect.name)
        .collect();
    let uncovered = dialects.iter().find(|dialect| !asked.contains(dialect.name));
    match uncovered {
        Some(dialect) if decision.tests.is_empty() => {
            Err(format!("none of its cases covers the dialect {}; add one", dialect.name))
        }
        _ => Ok(()),
    }
}

fn dialects(decision: &Decision) -> Result<Vec<&'static Dialect>, String> {
    if decision.dialects == ["all"] {
        return Ok(Dialect::ALL.to_vec());
    }
    let named = decision
        .dialects
        .iter()
        .map(|name| Dialect::by_name(name).ok_or_else(|| format!("no dialect is named `{name}`")));
    let named: Vec<_> = named.collect::<Result<_, _>>()?;
    if named.is_empty() { Err("dialects is empty".to_owned()) } else { Ok(named) }
}

/// Checks that FILE#FUNCTION names a function after `#[test]`, or FILE#HEADING a part of a transcript.
fn check_test(root: &Path, test: &str) -> Result<(), String> {
    let (file, function) = test.split_once('#').ok_or_else(|| format!("{test} has no `#`"))?;
    let text = read(&root.join(file))?;
    if file.ends_with(".md") && text.lines().any(|line| line.strip_prefix("## ") == Some(function))
    {
        return Ok(());
    }
    let head = format!("fn {function}()");
    let mut before = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with(&head) && before == "#[test]" {
            return Ok(());
        }
        before = line;
    }
    Err(format!("{file} has no test `{function}`"))
}

/// Returns the name of the case file of `case`.
fn file_of<'d>(documents: &'d [Document], case: &str) -> Option<&'d str> {
    let holds = |document: &&Document| document.checks.iter().any(|check| check.case == case);
    documents.iter().find(holds).map(|document| &*document.name)
}

/// Returns the numbers of distinct cases and of checks.
fn counts<'c>(checks: impl Iterator<Item = &'c Check>) -> (usize, usize) {
    let mut names = BTreeSet::new();
    let checks = checks.inspect(|check| _ = names.insert(&*check.case)).count();
    (names.len(), checks)
}

fn push_summary(page: &mut String, documents: &[Document]) {
    page.push_str("| dialect | follows | cases | checks |\n|---|---|---:|---:|\n");
    for dialect in Dialect::ALL {
        let all = documents.iter().flat_map(|document| &document.checks);
        let (cases, checks) = counts(all.filter(|check| check.dialect == dialect));
        _ = writeln!(page, "| `{}` | {} | {cases} | {checks} |", dialect.name, dialect.source);
    }
    let (cases, checks) = counts(documents.iter().flat_map(|document| &document.checks));
    _ = writeln!(page, "| together | | {cases} | {checks} |");
}

/// Returns the document and the section of a clause, without the row, the example or the remark.
fn section(clause: &str) -> &str {
    let end = [" (", "; ", ": "].iter().filter_map(|mark| clause.find(mark)).min();
    let clause = &clause[..end.unwrap_or(clause.len())];
    clause.match_indices(", ").nth(1).map_or(clause, |(second, _)| &clause[..second])
}

/// Appends a table with a row per document: its sections that have cases, and for each dialect cases / checks.
fn push_documents(page: &mut String, documents: &[Document]) {
    let names: Vec<String> = Dialect::ALL.iter().map(|d| format!("`{}`", d.name)).collect();
    _ = write!(
        page,
        "\n## Sections\n\nThe sections that cases cite, and for each dialect cases / checks.\n\n\
         | document | sections | {} |\n|---|---|{}\n",
        names.join(" | "),
        "---:|".repeat(names.len())
    );
    for Document { name, title, checks } in documents {
        let mut seen = BTreeSet::new();
        let cited = checks.iter().map(|check| section(&check.clause));
        let sections: Vec<&str> = cited.filter(|clause| seen.insert(*clause)).collect();
        let cells = Dialect::ALL.map(|dialect| {
            match counts(checks.iter().filter(|check| check.dialect == dialect)) {
                (0, _) => String::new(),
                (cases, checks) => format!("{cases} / {checks}"),
            }
        });
        let title = format!("[{}](../tests/data/{name}.toml)", cell(title));
        let sections = cell(&sections.join("; "));
        _ = writeln!(page, "| {title} | {sections} | {} |", cells.join(" | "));
    }
}

fn push_decisions(page: &mut String, decisions: &[Decision], documents: &[Document]) {
    page.push_str(
        "\n## Decisions of ours (†)\n\nPoints that no document settles, with the reason and the cases or \
         tests that check them,\nfrom [decisions.toml](decisions.toml).\n\n\
         | point | dialects | decision | reason | tested by |\n|---|---|---|---|---|\n",
    );
    for decision in decisions {
        let dialects: Vec<String> = decision.dialects.iter().map(|d| format!("`{d}`")).collect();
        let cases = decision.cases.iter().map(|name| {
            let file = file_of(documents, name).expect("decisions are checked before");
            format!("[{name}](../tests/data/{file}.toml)")
        });
        let tests = decision.tests.iter().map(|test| {
            let (file, function) = test.split_once('#').expect("decisions are checked before");
            format!("[{function}](../{file})")
        });
        let fixed_by: Vec<String> = cases.chain(tests).collect();
        let texts = [&decision.point, &dialects.join(", "), &decision.decision, &decision.reason];
        let texts: Vec<String> = texts.iter().map(|text| cell(text)).collect();
        _ = writeln!(page, "| {} | {} |", texts.join(" | "), fixed_by.join(", "));
    }
}

/// Escapes `text` for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
