//! A strict reader of the HTML that the page is made of: every tag is closed by its own, every
//! attribute is quoted, and every `&` begins a reference. It knows no more of HTML than that.

/// Elements without an end tag.
const VOID: &[&str] = &["meta", "br", "input", "link"];

/// What is wrong, the first few.
pub(super) fn problems(html: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.read(html);
    for open in &reader.open {
        reader.problems.push(format!("<{open}> is not closed"));
    }
    reader.problems.truncate(5);
    reader.problems
}

/// The names and values of all attributes, in order.
pub(super) fn attributes(html: &str) -> Vec<(String, String)> {
    let mut reader = Reader::default();
    reader.read(html);
    reader.attributes
}

#[derive(Default)]
struct Reader {
    open: Vec<String>,
    attributes: Vec<(String, String)>,
    problems: Vec<String>,
}

impl Reader {
    fn read(&mut self, html: &str) {
        let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap_or(html);
        while let Some(start) = rest.find('<') {
            self.text(&rest[..start]);
            let Some(end) = tag_end(&rest[start..]) else {
                self.problems.push(format!("no end: {:.60}", &rest[start..]));
                return;
            };
            let tag = &rest[start + 1..start + end];
            rest = &rest[start + end + 1..];
            self.tag(tag);
            // What these hold is no markup.
            if let Some(raw @ ("script" | "style")) = self.open.last().map(String::as_str) {
                let close = format!("</{raw}>");
                rest = &rest[rest.find(&close).unwrap_or(rest.len())..];
            }
        }
        self.text(rest);
    }

    fn tag(&mut self, tag: &str) {
        if let Some(name) = tag.strip_prefix('/') {
            match self.open.pop() {
                Some(open) if open == name => {}
                open => self.problems.push(format!("</{name}> closes {open:?}")),
            }
            return;
        }
        let (content, closes_itself) = match tag.strip_suffix('/') {
            Some(content) => (content, true),
            None => (tag, false),
        };
        let (name, attributes) = content.split_once(' ').unwrap_or((content, ""));
        if name.is_empty() || !name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        {
            self.problems.push(format!("no tag: <{tag:.60}>"));
        }
        self.read_attributes(attributes);
        if !closes_itself && !VOID.contains(&name) {
            self.open.push(name.to_owned());
        }
    }

    fn read_attributes(&mut self, text: &str) {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let Some((name, value)) = rest.split_once("=\"") else {
                self.problems.push(format!("no attribute: {rest:.60}"));
                return;
            };
            let Some((value, after)) = value.split_once('"') else {
                self.problems.push(format!("not quoted: {rest:.60}"));
                return;
            };
            self.text(value);
            self.attributes.push((name.to_owned(), value.to_owned()));
            rest = after.trim_start();
        }
    }

    fn text(&mut self, text: &str) {
        for (at, _) in text.match_indices('&') {
            let reference = text[at..].split(';').next().unwrap_or_default();
            if !matches!(reference, "&amp" | "&lt" | "&gt" | "&quot" | "&#39") {
                self.problems.push(format!("a bare &: {:.60}", &text[at..]));
            }
        }
    }
}

/// Where a tag ends, past quoted values.
fn tag_end(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.char_indices().find_map(|(at, character)| {
        is_quoted ^= character == '"';
        (character == '>' && !is_quoted).then_some(at)
    })
}

#[test]
fn faults_are_found() {
    assert_eq!(problems("<p class=\"a > b\">1 &lt; 2<br></p>"), Vec::<String>::new());
    for bad in ["<p>", "<p></b>", "<p a=b></p>", "<p>&</p>", "<p>&copy;</p>", "<P></P>", "<p"] {
        assert!(!problems(bad).is_empty(), "{bad}");
    }
}
