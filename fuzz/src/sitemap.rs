//! Checks sitemaps: what is read to its end are the values that another parser finds.

use std::io::Cursor;

use portcullis_rows::input::{ChunkConfig, Chunks, OpenConfig, Source};
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
    let source = Source::from_reader("x", Cursor::new(data.to_vec()), OpenConfig::default());
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
    let control = |it: char| it.is_ascii_control() && it != '\n' && it != '\u{7f}';
    assert!(!lines.contains(control), "{lines:?}");
    // It rejects document types, and more that is not well-formed.
    let Some(text) = str::from_utf8(data).ok() else { return false };
    let Ok(document) = Document::parse(text) else { return false };
    assert_eq!(lines, values(document.root_element()), "{text}");
    true
}

/// Returns the values of the entries in a root, one per line.
fn values(root: Node<'_, '_>) -> String {
    let namespace = root.tag_name().namespace();
    let is = |node: &Node<'_, '_>, name: &str| {
        node.is_element()
            && node.tag_name().name() == name
            && node.tag_name().namespace() == namespace
    };
    let mut lines = String::new();
    for entry in root.children().filter(|node| is(node, "url")) {
        let mut values: Vec<String> = Vec::new();
        for loc in entry.children().filter(|node| is(node, "loc")) {
            let text: String =
                loc.children().filter(Node::is_text).filter_map(|it| it.text()).collect();
            values.push(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
        }
        if values.is_empty() {
            values.push(String::new());
        }
        values.iter().for_each(|value| lines.extend([value, "\n"]));
    }
    lines
}
