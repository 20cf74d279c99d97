//! The facts about every crawler, as rows: `--agent-lists --format jsonl`, and the table of the guide.

use std::collections::HashSet;
use std::io::{self, Write};

use portcullis_crawlers::{
    self as crawlers, Cell, CrawlerList, DelayUse, Documented, Page, describe,
};
use portcullis_report::ReadingFacts;
use portcullis_robots::policy::{Crawler, WithoutFile};
use portcullis_text::json::write_json;
use serde::Serialize;

/// A row of `--agent-lists --format jsonl`.
#[derive(Serialize)]
struct Row<'a> {
    agent: &'a str,
    lists: Vec<&'a str>,
    controls_use: bool,
    #[serde(flatten)]
    reading: ReadingFacts,
    sources: Vec<Source<'a>>,
}

/// The page of a fact.
#[derive(Serialize)]
struct Source<'a> {
    member: &'a str,
    url: &'a str,
    date: &'a str,
    grade: &'a str,
}

/// Writes a row for each crawler that a list has.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write(out: &mut impl Write) -> io::Result<()> {
    let mut seen = HashSet::new();
    let mut names: Vec<&str> =
        crawlers::names().filter(|name| seen.insert(name.to_ascii_lowercase())).collect();
    names.sort_by_cached_key(|name| name.to_ascii_lowercase());
    let lists: Vec<CrawlerList> = crawlers::lists().collect();
    for name in names {
        write_json(&row(name, &lists), &mut *out)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn row(name: &'static str, lists: &[CrawlerList]) -> Row<'static> {
    let has = |list: &&CrawlerList| list.tokens.iter().any(|it| it.eq_ignore_ascii_case(name));
    let known = crawlers::documented(name);
    let reading = known.map_or(name, |it| it.reading);
    let mut sources = Vec::new();
    for cell in known.iter().flat_map(|it| Cell::all(it)) {
        let Some(page) = cell.page else { continue };
        let member = if cell.name == "Crawl-delay" { "crawl_delay" } else { cell.name };
        let grade = page.grade.as_str();
        sources.push(Source { member, url: page.url, date: page.date, grade });
    }
    if let (None, Some(Page { url, date, grade })) = (known, crawlers::page_of_token(name)) {
        sources.push(Source { member: "tokens", url, date, grade: grade.as_str() });
    }
    Row {
        agent: name,
        lists: lists.iter().filter(has).map(|list| list.name).collect(),
        controls_use: crawlers::controls_use(name),
        reading: facts(
            reading.trim_end_matches('!').split('+'),
            !reading.ends_with('!'),
            known.and_then(|it| it.answers).map(|(answers, _)| answers).unwrap_or_default(),
            known,
        ),
        sources,
    }
}

/// Returns how a crawler reads robots.txt, as it is decided, and what its operator says besides.
pub fn of_crawler(crawler: &Crawler) -> ReadingFacts {
    let known = crawler.tokens().next().and_then(crawlers::documented);
    let answers = crawler.reading().without_file;
    facts(crawler.tokens(), crawler.reads_default(), answers, known)
}

fn facts<'t>(
    tokens: impl Iterator<Item = &'t str>,
    reads_default: bool,
    answers: WithoutFile,
    known: Option<&Documented>,
) -> ReadingFacts {
    let delay = known.and_then(|it| it.delay).map(|(delay, _)| delay);
    ReadingFacts {
        tokens: tokens.map(str::to_owned).collect(),
        reads_default,
        is_bound: known.is_none_or(|it| it.not_bound.is_none()),
        answers: (answers != WithoutFile::AsDialect).then(|| describe(answers)),
        crawl_delay: delay.map(DelayUse::as_str),
        keeps_delay: delay == Some(DelayUse::Kept),
        dialect: known.and_then(|it| it.dialect).map(|(dialect, _)| dialect.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::files::{assert_stored, project};

    use super::*;
    use portcullis_crawlers::DOCUMENTED;

    const BEGIN: &str = "<!-- made from crates/crawlers/src/documented.rs -->\n";
    const END: &str = "<!-- end -->\n";

    /// The table of the guide: a row for each crawler, with the number of the page of each fact.
    fn table() -> String {
        let mut pages: Vec<&Page> = Vec::new();
        let mut number = |page: &'static Page| {
            let place = pages.iter().position(|it| *it == page).unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
            place + 1
        };
        let mut text = "| crawler | reads `*` | no file | bound | Crawl-delay | dialect |\n\
                        |---|---|---|---|---|---|\n"
            .to_owned();
        for it in DOCUMENTED {
            let [tokens, others @ ..] = Cell::all(it);
            let name = it.reading.trim_end_matches('!');
            let at = number(tokens.page.unwrap());
            let reads_default = if it.reading.ends_with('!') { "no" } else { "yes" };
            text += &format!("| `{name}` [{at}] | {reads_default} |");
            for Cell { value, page, .. } in others {
                let page = page.map(|page| format!(" [{}]", number(page))).unwrap_or_default();
                let value = if page.is_empty() { String::new() } else { value };
                text += &format!(" {value}{page} |");
            }
            text.push('\n');
        }
        text.push('\n');
        for (at, Page { url, date, grade }) in (1..).zip(pages) {
            text += &format!("{at}. <{url}>, {date}, {}\n", grade.as_str());
        }
        text
    }

    #[test]
    fn the_guide_has_the_table() {
        let path = project("docs/guide/crawlers.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        assert_stored(&path, &[before, BEGIN, &table(), END, after].concat());
    }

    #[test]
    fn every_row_has_its_sources() {
        let mut rows = Vec::new();
        write(&mut rows).unwrap();
        let rows = String::from_utf8(rows).unwrap();
        let rows: Vec<serde_json::Value> =
            rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        for row in &rows {
            let of = |member: &str| {
                row["sources"].as_array().unwrap().iter().any(|it| it["member"] == member)
            };
            assert!(!row["lists"].as_array().unwrap().is_empty() && of("tokens"), "{row}");
            for (member, none) in [
                ("answers", serde_json::Value::Null),
                ("crawl_delay", serde_json::Value::Null),
                ("dialect", serde_json::Value::Null),
                ("bound", true.into()),
                ("reads_default", true.into()),
            ] {
                let source = if member == "reads_default" { "tokens" } else { member };
                assert!(row[member] == none || of(source), "{member} of {row}");
            }
        }
        let yandex = rows.iter().find(|row| row["agent"] == "YandexBot").unwrap();
        assert_eq!(yandex["tokens"], serde_json::json!(["YandexBot", "Yandex"]));
        assert_eq!(yandex["answers"], "open; a file over 500 KB too");
    }
}
