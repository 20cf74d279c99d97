//! Tables that are whole without a script. The page's script finds them by their class and makes
//! them sort, filter and fold.
//!
//! A cell is a number unless it says otherwise, since most are.

use std::fmt::Write;

use super::text::{NOTHING, agent_name, number};
use crate::report::html::escaped;

/// What a column holds, which is how it sorts and stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    /// A number of one agent, under its name set upright.
    Agent,
}

/// A table.
pub(super) struct Table {
    id: String,
    caption: String,
    columns: Vec<(String, Kind)>,
    rows: String,
    count: usize,
}

impl Table {
    /// A table without columns and rows. `id` is one of the page's own, `caption` is text.
    pub fn new(id: impl Into<String>, caption: impl AsRef<str>) -> Table {
        Table {
            id: id.into(),
            caption: escaped(caption.as_ref()),
            columns: Vec::new(),
            rows: String::new(),
            count: 0,
        }
    }

    /// Adds columns of text.
    pub fn texts(mut self, names: &[&str]) -> Table {
        self.columns.extend(names.iter().map(|name| (escaped(name), Kind::Text)));
        self
    }

    /// Adds columns of numbers.
    pub fn numbers(mut self, names: &[&str]) -> Table {
        self.columns.extend(names.iter().map(|name| (escaped(name), Kind::Number)));
        self
    }

    /// Adds a column of numbers for each agent.
    pub fn agents(mut self, names: &[String]) -> Table {
        self.columns.extend(names.iter().map(|name| (agent_name(name), Kind::Agent)));
        self
    }

    /// Adds a row.
    pub fn row(&mut self, row: Row) {
        debug_assert_eq!(row.cells, self.columns.len(), "a row of #{} is whole", self.id);
        self.count += 1;
        let _ = writeln!(self.rows, "<tr>{}</tr>", row.html);
    }

    /// The table, in a box that scrolls sideways if it has to, also by keyboard.
    pub fn html(&self) -> String {
        let Table { id, caption, rows, .. } = self;
        let mut head = String::new();
        for (name, kind) in &self.columns {
            let _ = match kind {
                Kind::Text => write!(head, "<th scope=\"col\" class=\"t\">{name}</th>"),
                Kind::Number => write!(head, "<th scope=\"col\">{name}</th>"),
                Kind::Agent => {
                    write!(head, "<th scope=\"col\" class=\"up\"><span>{name}</span></th>")
                }
            };
        }
        format!(
            "<div class=\"table\" id=\"{id}\">\n<div class=\"wide\" role=\"region\" tabindex=\"0\" \
             aria-labelledby=\"{id}-caption\">\n<table>\n<caption id=\"{id}-caption\">{caption}</caption>\n\
             <thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</div>\n"
        )
    }

    /// The table, or a sentence where it has no row.
    pub fn html_or(&self, nothing: &str) -> String {
        if self.count == 0 { format!("<p class=\"none\">{nothing}</p>\n") } else { self.html() }
    }
}

/// `50 of 2,434`: how many rows of a list are shown, for a caption.
pub(super) fn first_of(shown: usize, total: u64) -> String {
    if shown as u64 == total {
        format!("all {}", number(total))
    } else {
        format!("the first {} of {}", number(shown as u64), number(total))
    }
}

/// A row, cell by cell.
#[derive(Default)]
pub(super) struct Row {
    html: String,
    cells: usize,
}

impl Row {
    /// A row that is headed by `html`.
    pub fn headed(html: &str) -> Row {
        Row { html: format!("<th scope=\"row\" class=\"t\">{html}</th>"), cells: 1 }
    }

    /// Adds a number.
    pub fn number(self, value: u64) -> Row {
        self.number_or_nothing(Some(value))
    }

    /// Adds a number, if there is one.
    pub fn number_or_nothing(self, value: Option<u64>) -> Row {
        match value {
            Some(0) => self.cell("<td class=\"z\">0</td>"),
            Some(value) => self.cell(&format!("<td>{}</td>", number(value))),
            None => self.cell(&format!("<td class=\"z\">{NOTHING}</td>")),
        }
    }

    /// Adds a number that is read as part of another: the greater the part, the stronger the colour.
    pub fn part(self, value: u64, whole: u64) -> Row {
        if value == 0 || whole == 0 {
            return self.number(value);
        }
        let heat = (u128::from(value) * 4).div_ceil(u128::from(whole)).clamp(1, 4);
        self.cell(&format!("<td class=\"h{heat}\">{}</td>", number(value)))
    }

    /// Adds a figure that sorts as a number though it has words.
    pub fn figure(self, text: &str) -> Row {
        self.cell(&format!("<td>{text}</td>"))
    }

    /// Adds text, which is HTML by now.
    pub fn text(self, html: &str) -> Row {
        self.cell(&format!("<td class=\"t\">{html}</td>"))
    }

    fn cell(mut self, html: &str) -> Row {
        self.html += html;
        self.cells += 1;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_scopes_and_a_caption() {
        let mut table = Table::new("x", "What <is>").texts(&["host"]).numbers(&["URLs"]);
        table.row(Row::headed("a.example").number(1_000));
        let html = table.html();
        assert!(html.contains("<caption id=\"x-caption\">What &lt;is&gt;</caption>"), "{html}");
        assert!(html.contains("<th scope=\"row\" class=\"t\">a.example</th><td>1,000</td>"));
    }

    #[test]
    fn the_whole_is_hottest_and_the_least_part_is_not_cold() {
        assert!(Row::default().part(0, 7).html.contains("class=\"z\""));
        assert!(Row::default().part(1, u64::MAX).html.contains("class=\"h1\""));
        assert!(Row::default().part(9, 9).html.contains("class=\"h4\""));
    }

    #[test]
    fn a_list_says_what_it_leaves_out() {
        assert_eq!(first_of(50, 2_434), "the first 50 of 2,434");
        assert_eq!(first_of(3, 3), "all 3");
    }
}
