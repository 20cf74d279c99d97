//! What a list without URLs looks like, and which flag to pass.

use portcullis_files::kind::FileKind;
use portcullis_rows::list::{List, ListFormat, of_row};

use super::InvalidRecord;

/// The problem of a path where no host is given.
pub(super) const PATH: &str = "a path without a host";

/// Returns what the list looks like and what to try.
pub(super) fn advice(list: &List, first: &InvalidRecord, assumes_scheme: bool) -> String {
    let lacks_scheme = !assumes_scheme && first.problem.starts_with("no scheme");
    let is_path = first.problem == PATH;
    match list.format() {
        ListFormat::JsonLines if is_path => {
            "give the host with --host, or name its field with --host-field".into()
        }
        ListFormat::Csv | ListFormat::Tsv if is_path => {
            "give the host with --host, or name its column with --host-field".into()
        }
        ListFormat::Lines => looks_like(list.name(), &first.record, assumes_scheme),
        ListFormat::Sitemap => "write the scheme and the host in each <loc> of the sitemap".into(),
        ListFormat::JsonLines | ListFormat::Cdxj if lacks_scheme => {
            "try --assume-scheme https, or name the field with the URL with --url-field".into()
        }
        ListFormat::Csv | ListFormat::Tsv | ListFormat::Parquet if lacks_scheme => {
            "try --assume-scheme https, or name the column with the URL with --url-field".into()
        }
        _ if lacks_scheme => "try --assume-scheme https".into(),
        ListFormat::JsonLines | ListFormat::Cdxj => {
            "name the field with the URL with --url-field, or the format with --input-format".into()
        }
        ListFormat::Csv | ListFormat::Tsv | ListFormat::Parquet => {
            "name the column with the URL with --url-field, or the format with --input-format"
                .into()
        }
        ListFormat::Warc => "its captures have no URLs of the web".into(),
        ListFormat::Cdx
        | ListFormat::HeritrixJournal
        | ListFormat::CrawlLog
        | ListFormat::AccessLog
        | ListFormat::W3cLog
        | ListFormat::NutchDump => format!(
            "it does not look like {}; name its format with --input-format",
            list.format().describe()
        ),
    }
}

/// Returns what a list of plain lines looks like if its first record is `text`, and what to try.
fn looks_like(name: &str, text: &str, assumes_scheme: bool) -> String {
    let trimmed = text.trim();
    let has = |part: &str| text.to_ascii_lowercase().contains(part);
    let is_quoted = trimmed.starts_with('<') && trimmed.contains("://") && !trimmed.contains(' ');
    if is_quoted && let Some(quoted) = of_row(name, text) {
        return quoted;
    }
    match FileKind::of(text.as_bytes()) {
        FileKind::Html if has("<urlset") || has("<sitemapindex") => {
            return "it looks like a sitemap; try --input-format sitemap".into();
        }
        FileKind::Html if has("<?xml") => {
            return "it looks like XML, and not like a sitemap; extract its URLs first".into();
        }
        FileKind::Html => return "it looks like HTML; extract its links first".into(),
        _ => {}
    }
    if ["user-agent", "disallow", "allow", "sitemap"].iter().any(|field| {
        let line = trimmed.to_ascii_lowercase();
        line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(':'))
    }) {
        return format!("it looks like a robots.txt; use --robots {name}");
    }
    if text.contains('\0') || text.chars().filter(|it| *it == '\u{fffd}').count() > 3 {
        return "it looks like binary data; decompress or export it first".into();
    }
    if let Some(table) = of_row(name, text) {
        return table;
    }
    if trimmed.starts_with('/') && !trimmed.starts_with("//") {
        return "it looks like paths; give their host with --host, such as --host example.com"
            .into();
    }
    let is_bare = trimmed.contains('.') || trimmed.starts_with("//");
    if !assumes_scheme && is_bare && !trimmed.contains(' ') && !trimmed.contains('@') {
        return "it looks like URLs without a scheme; try --assume-scheme https".into();
    }
    "pass a list with one URL per line, or name its format with --input-format".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_look_like_what_they_are() {
        for (text, advice) in [
            ("example.com/x", "--assume-scheme https"),
            ("//example.com/x", "--assume-scheme https"),
            ("/a/b.html", "--host example.com"),
            ("<!doctype html>", "HTML"),
            ("<urlset>", "--input-format sitemap"),
            ("<?xml version='1.0'?>", "XML"),
            ("User-agent: *", "--robots list"),
            ("1\thttps://a.example/", "--input-format tsv --url-field 2"),
            ("https://a.example/,1", "--input-format csv --url-field 1"),
            ("1,a.example", "--input-format csv --url-field 2 --assume-scheme https"),
            ("1;x;https://a.example/", "cut -d ';' -f 3"),
            ("1  https://a.example/", "awk '{print $2}' < list > list-urls.txt"),
            ("\"https://a.example/a b\"", "tr -d '\"' < list > list-urls.txt"),
            ("'a.example'", "tr -d \"'\""),
            ("<https://a.example/>", "tr -d '<>'"),
            ("<p>https://a.example/</p>", "HTML"),
            ("a,b", "--input-format"),
            ("\0\0", "binary"),
            ("nothing", "--input-format"),
            ("me@example.com", "--input-format"),
        ] {
            let found = looks_like("list", text, false);
            assert!(found.contains(advice), "{text}: {found}");
        }
        assert!(!looks_like("list", "example.com/x", true).contains("--assume-scheme"));
    }
}
