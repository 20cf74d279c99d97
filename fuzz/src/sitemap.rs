//! Checks sitemaps: what is read to its end are the values that another parser finds.

use std::io::Cursor;

use portcullis_rows::input::{ChunkConfig, Chunks, Source};
use portcullis_rows::list::{ListConfig, ListFormat};
use roxmltree::{Document, Node};

/// Checks an input: the text of a sitemap.
///
/// # Panics
///
/// If a line is not whole or not UTF-8, or `roxmltree` finds other values.
pub fn sitemap(data: &[u8]) {
    sitemap_compared(data);
}

/// Like [`sitemap`]. Returns whether both parsers read the sitemap to its end.
///
/// # Panics
///
/// As [`sitemap`].
pub fn sitemap_compared(data: &[u8]) -> bool {
    let format = Some(ListFormat::Sitemap);
    let source = Source::from_reader("x", Cursor::new(data.to_vec()));
    let lists = ListConfig { format, ..ListConfig::default() };
    let mut lines = Vec::new();
    for chunk in Chunks::new(source, ChunkConfig::default(), lists) {
        let Ok(chunk) = chunk else {
            assert!(lines.is_empty() || lines.ends_with(b"\n"));
            return false;
        };
        lines.extend_from_slice(&chunk);
    }
    assert!(lines.is_empty() || lines.ends_with(b"\n"));
    let lines = str::from_utf8(&lines).expect("lines are UTF-8");
    let control = |it: char| it.is_ascii_control() && !"\n\t\u{7f}".contains(it);
    assert!(!lines.contains(control), "{lines:?}");
    // It rejects document types, and more that is not well-formed.
    let Some(text) = str::from_utf8(data).ok() else { return false };
    let Ok(document) = Document::parse(text) else { return false };
    assert_eq!(lines, values(document.root_element()), "{text}");
    true
}

/// Returns the values of the entries in a root, one per line. A `urlset` in a `urlset` is part of it.
fn values(root: Node<'_, '_>) -> String {
    let namespace = root.tag_name().namespace();
    let is = |node: &Node<'_, '_>, name: &str| {
        node.is_element()
            && node.tag_name().name() == name
            && node.tag_name().namespace() == namespace
    };
    let text = |value: Node<'_, '_>| {
        let text: String =
            value.children().filter(Node::is_text).filter_map(|it| it.text()).collect();
        let lines = text.trim_matches(|it: char| it.is_ascii_whitespace()).split(['\n', '\r']);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\t")
    };
    let of_entry = |entry: Node<'_, '_>, name: &str| {
        entry.children().filter(|node| is(node, name)).map(text).collect::<Vec<_>>()
    };
    let link = |entry: Node<'_, '_>| {
        let links = entry.children().filter(|node| is(node, "link"));
        let pages = links.filter(|link| link.attribute("rel").is_none_or(|rel| rel == "alternate"));
        pages.filter_map(|link| link.attribute("href")).map(|page| page.trim().to_owned()).next()
    };
    let mut lines = String::new();
    let mut push = |values: Vec<String>| match values.is_empty() {
        true => lines.push('\n'),
        false => values.iter().for_each(|value| lines.extend([value, "\n"])),
    };
    match root.tag_name().name() {
        "rss" => {
            let channels = root.children().filter(|node| is(node, "channel"));
            let items = channels.flat_map(|channel| channel.children());
            items.filter(|node| is(node, "item")).for_each(|item| push(of_entry(item, "link")));
        }
        "feed" => {
            let entries = root.children().filter(|node| is(node, "entry"));
            entries.for_each(|entry| push(link(entry).into_iter().collect()));
        }
        _ => pages(root, &is, &mut |entry| push(of_entry(entry, "loc"))),
    }
    lines
}

/// Calls `with` for the entries of a `urlset`.
fn pages<'d>(
    root: Node<'d, 'd>,
    is: &impl Fn(&Node<'d, 'd>, &str) -> bool,
    with: &mut impl FnMut(Node<'d, 'd>),
) {
    for node in root.children() {
        match () {
            () if is(&node, "url") => with(node),
            () if is(&node, "urlset") => pages(node, is, with),
            () => {}
        }
    }
}
