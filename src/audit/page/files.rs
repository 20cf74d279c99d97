//! The files: how large they are, what is odd about them, crawl-delays and sitemaps.

use super::chart::{Bar, bars};
use super::histogram::Subject;
use super::table::{Row, Table, first_of};
use super::text::{bytes, code, counted, number, share};
use super::{Section, View, pair};
use crate::audit::model::List;
use crate::audit::model::files::{FileRow, NoteCount};

const FILE: [&str; 2] = ["file", "files"];

const BYTES: Subject =
    Subject { id: "bytes", title: "Size of files", unit: FILE, of: "bytes", bytes: true };
const RULES: Subject = Subject {
    id: "rules-of-file",
    title: "Rules of a file",
    unit: FILE,
    of: "rules",
    bytes: false,
};
const GROUPS: Subject = Subject {
    id: "groups-of-file",
    title: "Groups of a file",
    unit: FILE,
    of: "groups",
    bytes: false,
};
const RULES_OF_GROUP: Subject = Subject {
    id: "rules-of-group",
    title: "Rules of a group",
    unit: ["group", "groups"],
    of: "rules",
    bytes: false,
};
const SECONDS: Subject = Subject {
    id: "seconds",
    title: "Crawl-delays",
    unit: ["line", "lines"],
    of: "seconds",
    bytes: false,
};
const SITEMAPS: Subject = Subject {
    id: "sitemaps-of-file",
    title: "Sitemaps of a file",
    unit: FILE,
    of: "sitemaps",
    bytes: false,
};

/// Sizes and rules.
pub(super) fn sizes(view: View<'_>) -> Section {
    let files = &view.report.files;
    let body = format!(
        "<div class=\"distributions\">\n{}{}{}{}</div>\n{}{}",
        BYTES.html(&files.bytes),
        RULES.html(&files.rules),
        GROUPS.html(&files.groups),
        RULES_OF_GROUP.html(&files.rules_of_group),
        largest(view, "longest-table", "The longest files", &files.longest),
        largest(view, "most-rules-table", "The files with most rules", &files.most_rules)
    );
    Section {
        id: "files",
        title: "The files",
        meaning: format!(
            "{} with {} in all; {} ({}) disallow every URL to robots that they do not name.",
            counted(files.files, "file", "files"),
            bytes(files.bytes.sum),
            number(files.closed),
            share(files.closed, files.files)
        ),
        advice:
            "A file far longer than others is often another document or a list made by a program; \
                 crawlers stop reading at a limit."
                .to_owned(),
        body,
    }
}

fn largest(view: View<'_>, id: &str, title: &str, list: &List<FileRow>) -> String {
    let rows = view.rows(list);
    let caption = format!("{title}: {}", first_of(rows.len(), list.total));
    let mut table = Table::new(id, caption).texts(&["host"]).numbers(&["bytes", "groups", "rules"]);
    for row in rows {
        let cells = Row::headed(&code(&row.host)).number(row.bytes);
        table.row(cells.number(row.groups).number(row.rules));
    }
    table.html_or("There is no file.")
}

/// What is odd about files.
pub(super) fn notes(view: View<'_>) -> Section {
    let notes = &view.report.notes;
    let bar = |note: &NoteCount| Bar {
        label: note.kind.clone(),
        figure: number(note.files),
        value: note.files,
    };
    let chart = bars("Files by oddity", "notes-table", &notes.iter().map(bar).collect::<Vec<_>>());
    let mut table = Table::new("notes-table", "Files by what is odd about them")
        .texts(&["oddity", "what it is"])
        .numbers(&["files", "share"])
        .texts(&["first hosts"]);
    for note in notes {
        let hosts: Vec<String> = note.examples.iter().map(|host| code(host)).collect();
        table.row(
            Row::headed(&code(&note.kind))
                .text(&crate::report::html::escaped(&note.meaning))
                .number(note.files)
                .figure(&share(note.files, view.report.files.files))
                .text(&hosts.join("<br>")),
        );
    }
    Section {
        id: "notes",
        title: "What is odd in the files",
        meaning:
            "What the parser noted, by kind: mistakes that a crawler passes over without a word, \
                  so that rules do not do what their author meant."
                .to_owned(),
        advice: "If the file is yours, fix it as the table says.".to_owned(),
        body: pair(&chart, &table.html_or("Nothing is odd.")),
    }
}

/// Crawl-delays.
pub(super) fn crawl_delays(view: View<'_>) -> Section {
    let delays = &view.report.crawl_delays;
    let rows = view.rows(&delays.longest);
    let caption =
        format!("The longest crawl-delays: {}", first_of(rows.len(), delays.longest.total));
    let mut table = Table::new("delays-table", caption)
        .texts(&["host"])
        .numbers(&["line", "seconds"])
        .texts(&["group"]);
    for row in rows {
        let group = row.group.as_deref().map(code);
        table.row(
            Row::headed(&code(&row.host))
                .number(u64::from(row.line))
                .figure(&code(&row.value))
                .text(&group.unwrap_or_default()),
        );
    }
    let body = match delays.lines {
        0 => String::new(),
        _ => pair(&SECONDS.html(&delays.seconds), &table.html_or("None is a number.")),
    };
    Section {
        id: "crawl-delays",
        title: "Crawl-delays",
        meaning: format!(
            "{} a crawl-delay ({}, {} of them no number of seconds). It decides no URL; it asks for a \
             pause between two requests.",
            counted(delays.files, "file has", "files have"),
            counted(delays.lines, "line", "lines"),
            number(delays.malformed)
        ),
        advice:
            "Keep to them where you can: a delay of a day or more means, in practice, few pages."
                .to_owned(),
        body,
    }
}

/// Sitemaps.
pub(super) fn sitemaps(view: View<'_>) -> Section {
    let sitemaps = &view.report.sitemaps;
    let rows = view.rows(&sitemaps.most);
    let caption =
        format!("Files that name the most sitemaps: {}", first_of(rows.len(), sitemaps.most.total));
    let mut table = Table::new("sitemaps-table", caption)
        .texts(&["host"])
        .numbers(&["sitemaps"])
        .texts(&["the first"]);
    for row in rows {
        table.row(Row::headed(&code(&row.host)).number(row.sitemaps).text(&code(&row.first)));
    }
    let body = match sitemaps.lines {
        0 => String::new(),
        _ => pair(&SITEMAPS.html(&sitemaps.of_file), &table.html_or("There is none.")),
    };
    Section {
        id: "sitemaps",
        title: "Sitemaps",
        meaning: format!(
            "{} ({} of all) {} sitemaps in {}; {} no absolute URL, {} on another host.",
            counted(sitemaps.files, "file", "files"),
            share(sitemaps.files, view.report.files.files),
            if sitemaps.files == 1 { "names" } else { "name" },
            counted(sitemaps.lines, "line", "lines"),
            counted(sitemaps.malformed, "is", "are"),
            counted(sitemaps.elsewhere, "is", "are")
        ),
        advice:
            "Crawlers pass over a sitemap that is no absolute URL: write it with scheme and host."
                .to_owned(),
        body,
    }
}
