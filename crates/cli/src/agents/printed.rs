//! `--agent-lists` as text, and suggestions for misspelt lists.

use std::io::{self, Write};

use portcullis_crawlers::{Cell, DOCUMENTED, Documented, Grade, Page, controls_use, lists};

/// The greatest edit distance between a misspelt name and the list that is suggested for it.
const DISTANCE_MAX: usize = 3;

/// The list that is printed last, with all that operators document.
const DOCUMENTED_LIST: &str = "documented";

/// Returns the list whose name is nearest to a misspelt one, or `None` if none is near.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let near = lists().map(|list| (strsim::osa_distance(list.name, name), list.name));
    let (distance, list) = near.min()?;
    (distance <= DISTANCE_MAX).then_some(list)
}

/// Writes every list with its names, and what operators document.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write(out: &mut impl Write) -> io::Result<()> {
    for list in lists().filter(|list| list.name != DOCUMENTED_LIST) {
        writeln!(out, "@{}: {}", list.name, list.about)?;
        writeln!(out, "{} names ({})", list.tokens.len(), list.source)?;
        for (token, reading) in list.tokens.iter().zip(&list.readings) {
            let note = if controls_use(token) { "  (controls use; does not fetch)" } else { "" };
            writeln!(out, "  {reading}{note}")?;
        }
        writeln!(out)?;
    }
    out.write_all(
        b"@CRAWLER: one of these, or one of @documented, of which the operator says more than the token:\n\
          A+B follows the groups of B if none names A; A! does not read the groups for *;\n\
          `not bound`: by the operator's own page, robots.txt may not apply to it;\n\
          `answers`: what a response to GET /robots.txt that is not a file means\n",
    )?;
    DOCUMENTED.iter().try_for_each(|it| write_documented(out, it))
}

fn write_documented(out: &mut impl Write, it: &Documented) -> io::Result<()> {
    let [tokens, others @ ..] = Cell::all(it);
    write!(out, "  {}{}", it.reading, cited(tokens.page))?;
    for Cell { name, value, page } in others.iter().filter(|cell| cell.page.is_some()) {
        let is_bound = *name == "bound";
        let value = if is_bound { "not bound".to_owned() } else { format!("{name}: {value}") };
        write!(out, "\n    {value}{}", cited(*page))?;
    }
    writeln!(out)
}

fn cited(page: Option<&Page>) -> String {
    let Some(Page { url, date, grade }) = page else { return String::new() };
    let grade = if *grade == Grade::Observed { ", not by the operator" } else { "" };
    format!("  ({url}, {date}{grade})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_lists() {
        assert_eq!(suggestion("ai-trainig"), Some("ai-training"));
        assert_eq!(suggestion("serach"), Some("search"));
        assert_eq!(suggestion("agents.txt"), None);
    }
}
