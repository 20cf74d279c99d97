//! The sections about files, and about the sources and limits of the numbers.

use super::sections::{counts, pair};
use super::{View, code};
use crate::model::{Distribution, FileRow, List, Report};
use portcullis_report::html;
use portcullis_report::html::{
    Caption, Column, Html, NONE, Table, bytes, counted, histogram, number, share,
};
use portcullis_report::page::{Section, fact_list};

/// Returns a histogram, the distribution in words, and its numbers in a table that unfolds. `unit`
/// is the singular and plural of the counted items.
fn distribution(
    id: &str,
    title: &str,
    unit: [&str; 2],
    of: &str,
    distribution: &Distribution,
) -> Html {
    let Distribution { count, p50, p90, p99, max, bins, .. } = distribution;
    if *count == 0 {
        return html!("<p class=\"none\">{}: nothing to count.</p>\n", title);
    }
    let value = |value: u64| if of == "bytes" { bytes(value) } else { number(value) };
    let range = |from: u64, to: u64| match from == to {
        true => value(from),
        false => format!("{} to {}", value(from), value(to)),
    };
    let caption = html!("{}: {} by {}", title, counted(*count, unit[0], unit[1]), of);
    let table = Table::new(id, caption, bins)
        .figure(of, |bin| range(bin.from, bin.to))
        .number(unit[1], |bin| bin.count)
        .figure("share", |bin| share(bin.count, *count));
    let columns = bins.iter().map(|bin| Column {
        name: value(bin.from),
        range: range(bin.from, bin.to),
        count: bin.count,
    });
    let axes = format!("{} (logarithmic), by {of}", unit[1]);
    let caption = Caption { title, axes: &axes, table: id };
    html!(
        r#"<div class="distribution">
{}<p>Half have at most {}, nine in ten at most {}, 99 of 100 at most {}; the maximum is {}.</p>
<details>
<summary>The numbers</summary>
{}</details>
</div>
"#,
        histogram(caption, &columns.collect::<Vec<_>>()),
        value(*p50),
        value(*p90),
        value(*p99),
        value(*max),
        table.html_or("")
    )
}

const FILE: [&str; 2] = ["file", "files"];

pub(super) fn files(view: View<'_>) -> Section {
    let files = &view.report.files;
    let largest = |id: &str, title: &str, list: &List<FileRow>| {
        let table = Table::new(id, view.caption(title, list), view.rows(list))
            .text("host", |row| code(&row.host))
            .number("bytes", |row| row.bytes)
            .number("groups", |row| row.groups)
            .number("rules", |row| row.rules);
        table.html_or("There are no files.")
    };
    let groups = ["group", "groups"];
    Section {
        id: "files",
        title: "The files",
        finding: html!(
            "{} with {} in all; {} ({}) disallow every URL for robots that they do not name.",
            counted(files.files, "file", "files"),
            bytes(files.bytes.sum),
            files.closed,
            share(files.closed, files.files)
        ),
        advice: html!(
            "A file far longer than others is often another document, or a list made by a program. \
             Crawlers stop reading at a limit."
        ),
        body: html!(
            "<div class=\"distributions\">\n{}{}{}{}</div>\n{}{}",
            distribution("bytes", "Size of files", FILE, "bytes", &files.bytes),
            distribution("rules-of-file", "Rules per file", FILE, "rules", &files.rules),
            distribution("groups-of-file", "Groups per file", FILE, "groups", &files.groups),
            distribution(
                "rules-of-group",
                "Rules per group",
                groups,
                "rules",
                &files.rules_of_group
            ),
            largest("longest-table", "The longest files", &files.longest),
            largest("most-rules-table", "The files with most rules", &files.most_rules)
        ),
        ..Section::default()
    }
}

pub(super) fn notes(view: View<'_>) -> Section {
    let notes = &view.report.notes;
    let files = view.report.files.files;
    let words = |kind: &str| kind.replace('-', " ");
    let chart = counts(("Files by problem", "notes-table", "part"), notes, |note| {
        (words(note.kind), note.files)
    });
    let table = Table::new("notes-table", html!("Files by problem"), notes)
        .text("problem", move |note| html!("{}", words(note.kind)))
        .text("what it is", |note| html!("{}", note.meaning))
        .number("files", |note| note.files)
        .figure("share", move |note| share(note.files, files))
        .text("first hosts", |note| Html::join(note.examples.iter().map(|it| code(it)), "<br/>"));
    Section {
        id: "notes",
        title: "Problems in the files",
        finding: notes.first().map_or_else(Html::default, |first| {
            html!(
                "{} of problems occur; the most common, {}, is in {}.",
                counted(notes.len() as u64, "kind", "kinds"),
                words(first.kind),
                counted(first.files, "file", "files")
            )
        }),
        meaning: html!(
            "What the parser noted, by kind. Crawlers ignore these lines without notice, so some rules do \
             not do what their author meant. `portcullis lint` explains each one."
        ),
        advice: html!("If the file is yours, fix it as the table shows."),
        body: pair(chart, table.html_or("The files have no problem.")),
    }
}

pub(super) fn crawl_delays(view: View<'_>) -> Section {
    let delays = &view.report.crawl_delays;
    let caption = view.caption("The longest crawl-delays", &delays.longest);
    let table = Table::new("delays-table", caption, view.rows(&delays.longest))
        .text("host", |row| code(&row.host))
        .number("line", |row| row.line.into())
        .figure("seconds", |row| row.value.clone())
        .text("group", |row| row.group.as_deref().map(code).unwrap_or_default());
    let lines = ["line", "lines"];
    let seconds = || distribution("seconds", "Crawl-delays", lines, "seconds", &delays.seconds);
    Section {
        id: "crawl-delays",
        title: "Crawl-delays",
        finding: html!(
            "{} a crawl-delay ({}, {} of them not a number of seconds). It asks for a pause between two \
             requests and decides no URL.",
            counted(delays.files, "file has", "files have"),
            counted(delays.lines, "line", "lines"),
            delays.malformed
        ),
        advice: html!(
            "Respect them where you can. With a delay of a day or more, few pages can be fetched."
        ),
        body: match delays.lines {
            0 => Html::default(),
            _ => pair(seconds(), table.html_or("None is a number.")),
        },
        ..Section::default()
    }
}

pub(super) fn sitemaps(view: View<'_>) -> Section {
    let sitemaps = &view.report.sitemaps;
    let caption = view.caption("Files that name the most sitemaps", &sitemaps.most);
    let table = Table::new("sitemaps-table", caption, view.rows(&sitemaps.most))
        .text("host", |row| code(&row.host))
        .number("sitemaps", |row| row.sitemaps)
        .text("the first", |row| code(&row.first));
    let of_file = &sitemaps.of_file;
    let chart = || distribution("sitemaps-of-file", "Sitemaps per file", FILE, "sitemaps", of_file);
    Section {
        id: "sitemaps",
        title: "Sitemaps",
        finding: html!(
            "{} ({} of all) {} sitemaps in {}; {}, {} on another host.",
            counted(sitemaps.files, "file", "files"),
            share(sitemaps.files, view.report.files.files),
            if sitemaps.files == 1 { "names" } else { "name" },
            counted(sitemaps.lines, "line", "lines"),
            counted(sitemaps.malformed, "is not an absolute URL", "are not absolute URLs"),
            counted(sitemaps.elsewhere, "is", "are")
        ),
        advice: html!(
            "Crawlers ignore a sitemap that is not an absolute URL: write it with scheme and host."
        ),
        body: match sitemaps.lines {
            0 => Html::default(),
            _ => pair(chart(), table.html_or("There is none.")),
        },
        ..Section::default()
    }
}

pub(super) fn invalid(view: View<'_>) -> Section {
    let invalid = &view.report.invalid;
    let caption = html!("The first records that are not URLs");
    let table = Table::new("invalid-table", caption, &invalid.examples)
        .text("record", |example| code(example))
        .number("bytes shown", |example| example.len() as u64);
    let [advice, body] = match invalid.others {
        0 => [Html::default(), Html::default()],
        _ => [
            html!(
                "Check whether the list is cut or in another encoding, and fix the program that writes it."
            ),
            table.html_or("None is shown."),
        ],
    };
    Section {
        id: "invalid",
        title: "Records that are not URLs",
        finding: match view.report.records.invalid {
            0 => Html::default(),
            all => html!(
                "{}; {} empty.",
                counted(all, "record is not a URL", "records are not URLs"),
                counted(invalid.empty, "of them is", "of them are")
            ),
        },
        meaning: match view.report.records.invalid {
            0 => html!("Every record is a URL."),
            _ => html!("No agent may fetch them."),
        },
        advice,
        body,
    }
}

pub(super) fn limits(view: View<'_>) -> Section {
    let limits = &view.report.limits;
    let hit = limits.iter().filter(|limit| limit.hits > 0).count();
    let table = Table::new("limits-table", html!("Limits, and how often they were hit"), limits)
        .text("what is limited", |limit| html!("{}", limit.what))
        .figure("hit by", |limit| format!("{} {}", number(limit.hits), limit.unit))
        .figure("limit", |limit| limit.value.map_or_else(|| NONE.to_owned(), number));
    Section {
        id: "limits",
        title: "Limits",
        finding: match hit {
            0 => Html::default(),
            hit => html!("{} of {} limits were hit.", hit, limits.len()),
        },
        meaning: html!(
            "Beyond a limit, something is ignored or not known; no URL is allowed because of it."
        ),
        body: table.html_or("No limit was counted."),
        ..Section::default()
    }
}

pub(super) fn about(view: View<'_>) -> Section {
    let Report { source, records, .. } = view.report;
    let count = |value: Option<u64>| html!("{}", value.map_or_else(|| NONE.to_owned(), number));
    let limit = source
        .robots_bytes_max
        .map_or_else(|| "all of it".to_owned(), |it| format!("at most {}", bytes(it)));
    let facts = [
        ("Records read", html!("{} ({})", records.records, bytes(records.bytes))),
        ("Hosts in the set", count(source.hosts)),
        ("Origins in the set", count(source.origins)),
        ("Distinct policies", html!("{}", source.policies)),
        ("Read of each file", html!("{}", limit)),
    ];
    let cut = match super::longest_list(view.report) > view.rows {
        false => Html::default(),
        true => html!(
            " Lists show at most {}, to keep the page small; the JSON report has more.",
            counted(view.rows as u64, "row", "rows")
        ),
    };
    Section {
        id: "about",
        title: "Where the numbers come from",
        meaning: html!(
            "A host counts once, whether its file applies to http, https or both; if the two files differ, \
             the host counts once for each. Equal inputs make the same page, byte for byte.{}",
            cut
        ),
        body: fact_list(&facts),
        ..Section::default()
    }
}
