//! `lint --diff` and `lint --fix`: the proved edits as a diff, or applied to the file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::ensure;
use portcullis_files::kind::FileKind;
use portcullis_lint::limits::LINT_FINDINGS_PER_CODE_MAX;
use portcullis_lint::{Edit, Fixed, Report};
use portcullis_text::visible::is_hidden;

use super::super::output::Output;

/// Returns notes on the diagnostics of a file that were not fixed, one line each.
pub(super) fn left(name: &str, report: &Report, fixed: &Fixed) -> Vec<String> {
    let left = fixed.left.iter().map(|(position, why)| {
        let diagnostic = &report.diagnostics[*position];
        let (line, code) = (diagnostic.place.line, diagnostic.code);
        format!("{name}:{line}: {code} not fixed: {why}")
    });
    let mut notes: Vec<String> = left.take(LINT_FINDINGS_PER_CODE_MAX).collect();
    if fixed.left.len() > notes.len() {
        notes.push(format!("{name}: {} more not fixed", fixed.left.len() - notes.len()));
    }
    notes
}

/// The lines of context around a change in a diff.
const CONTEXT_LINES: usize = 3;

/// Returns a unified diff of a file and what `edits` make of it, byte for byte so that it can be applied.
/// The edits say what changes, so this takes linear time.
pub(super) fn diff(name: &str, text: &[u8], mut edits: Vec<&Edit>) -> Vec<u8> {
    // Several diagnostics may have one edit.
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    edits.dedup();
    // An absolute path already begins with a slash.
    let name = name.trim_start_matches('/');
    let [before, after] = ["a", "b"].map(|side| file_name(&format!("{side}/{name}")));
    let mut out = format!("--- {before}\n+++ {after}\n").into_bytes();
    let old = lines(text);
    let changes = changes(text, &old, &edits);
    let mut added = 0;
    let are_near = |one: &Change, next: &Change| next.start - one.end <= 2 * CONTEXT_LINES;
    for hunk in changes.chunk_by(are_near) {
        let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
        let start = first.start.saturating_sub(CONTEXT_LINES);
        let end = old.len().min(last.end + CONTEXT_LINES);
        let more: isize = hunk.iter().map(Change::growth).sum();
        let moved = |lines: usize, by| lines.checked_add_signed(by).expect("a part of a file");
        let from = range(start, end - start);
        let to = range(moved(start, added), moved(end - start, more));
        out.extend(format!("@@ -{from} +{to} @@\n").into_bytes());
        let mut push = |sign, lines: &[&[u8]]| {
            lines.iter().for_each(|line| push_line(sign, line, &mut out));
        };
        let mut at = start;
        for change in hunk {
            push(b' ', &old[at..change.start]);
            push(b'-', &old[change.start..change.end]);
            push(b'+', &lines(&change.new));
            at = change.end;
        }
        push(b' ', &old[at..end]);
        added += more;
    }
    out
}

/// Lines that are replaced.
struct Change {
    /// The lines, from 0.
    start: usize,
    end: usize,
    /// The new lines.
    new: Vec<u8>,
}

impl Change {
    /// Returns by how many lines the file grows.
    fn growth(&self) -> isize {
        lines(&self.new).len() as isize - (self.end - self.start) as isize
    }
}

/// Returns the changes that `edits`, which are ascending, make to the lines of a text. Changes of
/// adjacent lines are one.
fn changes(text: &[u8], lines: &[&[u8]], edits: &[&Edit]) -> Vec<Change> {
    let starts: Vec<usize> =
        lines.iter().map(|line| line.as_ptr() as usize - text.as_ptr() as usize).collect();
    let is_start = |byte: usize| byte == 0 || text[byte - 1] == b'\n';
    let line_start = |byte: usize| match is_start(byte) {
        true => byte,
        false => starts[starts.partition_point(|&start| start < byte) - 1],
    };
    let next_start = |byte: usize| {
        starts.get(starts.partition_point(|&start| start <= byte)).copied().unwrap_or(text.len())
    };
    let mut changes: Vec<Change> = Vec::new();
    let mut edits = edits.iter().copied().peekable();
    while let Some(first) = edits.peek() {
        let start = line_start(first.span.start as usize);
        let (mut at, mut end, mut new) = (start, start, Vec::new());
        loop {
            while let Some(edit) = edits.next_if(|it| line_start(it.span.start as usize) <= end) {
                let span = edit.span.range();
                new.extend_from_slice(&text[at..span.start]);
                new.extend_from_slice(&edit.replacement);
                at = span.end;
                end = end.max(if is_start(at) { at } else { next_start(at) });
            }
            new.extend_from_slice(&text[at..end]);
            at = end;
            // Without a line end, the next line joins this one.
            if new.last().is_none_or(|&byte| byte == b'\n') || end == text.len() {
                break;
            }
            end = next_start(end);
        }
        let [start, end] = [start, end].map(|byte| starts.partition_point(|&it| it < byte));
        changes.push(Change { start, end, new });
    }
    changes
}

/// Returns the lines of a text with their ends.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Returns a range of lines, which are counted from 0, for the header of a hunk.
fn range(start: usize, lines: usize) -> String {
    match lines {
        // The line before.
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        _ => format!("{},{lines}", start + 1),
    }
}

fn push_line(sign: u8, line: &[u8], out: &mut Vec<u8>) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Returns the file name for the header of a diff. A name with hidden characters is quoted with
/// octal escapes, as Git and GNU patch do.
fn file_name(name: &str) -> String {
    if !name.contains(is_hidden) {
        return name.to_owned();
    }
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", name.bytes().map(byte).collect::<String>())
}

/// Replaces a file by its fixed text.
pub(super) fn write(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    let mut first = Vec::new();
    File::open(path).and_then(|file| file.take(4).read_to_end(&mut first))?;
    let kind = FileKind::of(&first);
    ensure!(
        !matches!(kind, FileKind::Gzip | FileKind::Zstd),
        "{}: {kind}; decompress it to fix it in place",
        path.display()
    );
    let mut output = Output::replace_input(path)?;
    // A server that may no longer read its robots.txt answers 403, which allows everything.
    ensure!(
        output.keeps_owner(),
        "{}: its owner and group cannot be kept; run as its owner, or apply the output of --diff",
        path.display()
    );
    output.write(text)?;
    Ok(output.finish()?)
}

#[cfg(test)]
mod tests {
    use portcullis_robots::syntax::Span;

    use super::*;

    #[track_caller]
    fn check(text: &str, edits: &[(u32, u32, &str)], expected: &str) {
        let edit = |&(start, end, new): &(u32, u32, &str)| Edit {
            span: Span { start, end },
            replacement: new.into(),
        };
        let edits: Vec<Edit> = edits.iter().map(edit).collect();
        let found = diff("x", text.as_bytes(), edits.iter().collect());
        let found = String::from_utf8(found).unwrap();
        assert_eq!(found.strip_prefix("--- a/x\n+++ b/x\n"), Some(expected), "{text:?}");
    }

    #[test]
    fn diffs_of_edits() {
        check("a\nb\nc\n", &[(2, 4, "")], "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
        check(
            "a\nb\nc",
            &[(4, 5, "d")],
            "@@ -1,3 +1,3 @@\n a\n b\n-c\n\\ No newline at end of file\n+d\n\\ No newline at end of file\n",
        );
        check("a\n", &[(0, 0, "x\n")], "@@ -1 +1,2 @@\n+x\n a\n");
        check("a\n", &[(0, 2, "")], "@@ -1 +0,0 @@\n-a\n");
        // Adjacent lines are one change, and a removed line end joins two lines.
        check("ab\ncd\n", &[(1, 2, ""), (3, 4, "")], "@@ -1,2 +1,2 @@\n-ab\n-cd\n+a\n+d\n");
        check("a\nb\nc\n", &[(1, 2, "")], "@@ -1,3 +1,2 @@\n-a\n-b\n+ab\n c\n");
        // Two diagnostics with one edit.
        check("a\nb\n", &[(0, 2, ""), (0, 2, "")], "@@ -1,2 +1 @@\n-a\n b\n");
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let near = "@@ -1,9 +1,8 @@\n 1\n-2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+x\n";
        check(text, &[(2, 4, ""), (16, 17, "x")], near);
        let far = "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -6,4 +5,4 @@\n 6\n 7\n 8\n-9\n+x\n";
        check(text, &[(0, 2, ""), (16, 17, "x")], far);
    }
}
