//! The page of codes: what each problem is, why it matters and how to fix it. It is `codes.md`, next to
//! this file, from which `--describe` prints.
//!
//! Each code has a paragraph, a file in which it is found, and what the linter says about that file: a
//! test compares it.

use portcullis_lint::Code;

/// The page of all codes.
pub const PAGE: &str = include_str!("codes.md");

/// Returns what the page says about a code, without its name.
fn about(code: Code) -> &'static str {
    let head = format!("**{code} {}** ({}). ", code.name(), code.severity());
    let (_, rest) = PAGE.split_once(&head).expect("a test finds each code");
    let next = ["\n\n**PC", "\n\n## "].iter().filter_map(|next| rest.find(next)).min();
    next.map_or(rest, |end| &rest[..=end])
}

/// Returns how to fix a problem.
pub(super) fn remedy(code: Code) -> &'static str {
    let first = about(code).lines().next().unwrap_or_default();
    first.rsplit_once(":** ").expect("a test finds each remedy").1
}

/// Returns the name and the paragraph of a code, as plain text.
pub fn explanation(code: Code) -> String {
    let mut text = format!("{code} {} ({})\n\n", code.name(), code.severity());
    let mut is_example = false;
    for line in about(code).lines() {
        match (line.starts_with("```"), is_example) {
            (true, _) => is_example = !is_example,
            (false, true) => text.extend(["    ", line]),
            (false, false) => push_wrapped(&line.replace("**", ""), &mut text),
        }
        text.push('\n');
    }
    text
}

/// Appends a line, which is wrapped between words.
fn push_wrapped(line: &str, out: &mut String) {
    const WIDTH: usize = 100;
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let characters = word.chars().count();
        if column > 0 && column + word.trim_end().chars().count() > WIDTH {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            column = 0;
        }
        out.push_str(word);
        column += characters;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_dialect::limits::{GOOGLE_LINE_BYTES_MAX, ROBOTS_BYTES_MAX};
    use portcullis_lint::{Effect, LintConfig, lint};
    use portcullis_testkit::files::{assert_stored, project};

    use super::*;

    const START: &str = "```text\n";
    const END: &str = "```\n";

    /// Returns the file that a text of the page stands for: `\u{8}` is a character, `\x{e9}` a byte, and `…` the
    /// rest of a line that is too long.
    fn example(shown: &str) -> Vec<u8> {
        let long = "a".repeat(GOOGLE_LINE_BYTES_MAX);
        let mut parts = shown.split("\\u{");
        let mut text = parts.next().unwrap_or_default().replace('…', &long);
        for part in parts {
            let (digits, rest) = part.split_once('}').unwrap();
            text.extend(char::from_u32(u32::from_str_radix(digits, 16).unwrap()));
            text += rest;
        }
        let mut parts = text.split("\\x{");
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            let (digits, rest) = part.split_once('}').unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            bytes.extend_from_slice(rest.as_bytes());
        }
        bytes
    }

    fn effects(effects: &[Effect]) -> String {
        let mut text = String::new();
        for alike in effects.chunk_by(|one, next| one.text == next.text) {
            let names: Vec<&str> = alike.iter().map(|effect| effect.dialect.name).collect();
            let are_all = alike.len() == effects.len();
            let names = if are_all { "All dialects".into() } else { names.join(", ") };
            write!(text, " {names}: {}.", alike[0].text).unwrap();
        }
        text
    }

    #[test]
    fn the_page_says_what_is_reported() {
        let mut page = PAGE.to_owned();
        for &code in &Code::ALL {
            let about = about(code);
            let (first, rest) = about.split_once(START).unwrap();
            let (shown, reported) = rest.split_once(END).unwrap();
            // Only this example has more than a crawler reads.
            let is_long = code.name() == "file-too-long";
            let bytes_max = Some(if is_long { 36 } else { ROBOTS_BYTES_MAX });
            let config = LintConfig { bytes_max, ..LintConfig::new(&RFC_9309) };
            let found = lint(&example(shown), &config).diagnostics;
            let found = found.into_iter().find(|found| found.code == code).unwrap();
            let safety = found.fix.as_ref().map(|fix| format!(" ({})", fix.safety.as_str()));
            assert!(
                first.ends_with(&format!("{}\n", remedy(code)))
                    && first.contains(&format!("**Fix{}:** ", safety.unwrap_or_default())),
                "{first}"
            );
            let line = found.place.line;
            let effects = effects(&found.effects);
            let now = format!("Reported in line {line}: {}.{effects}\n", found.message);
            page = page.replace(about, &about.replace(reported, &now));
        }
        assert_stored(&project("crates/cli/src/lint/codes.md"), &page);
    }
}
