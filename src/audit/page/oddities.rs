//! What a reader has to know before relying on the numbers: records that are no URL, and limits.

use super::table::{Row, Table};
use super::text::{code, counted, number};
use super::{Section, View};
use crate::report::html::escaped;

/// Records that are no URL.
pub(super) fn invalid(view: View<'_>) -> Section {
    let invalid = &view.report.invalid;
    let mut table = Table::new("invalid-table", "The first records that are no URL")
        .texts(&["record"])
        .numbers(&["bytes shown"]);
    for example in &invalid.examples {
        table.row(Row::headed(&code(example)).number(example.len() as u64));
    }
    let advice = match invalid.others {
        0 => String::new(),
        _ => "See whether the list was cut or written in another encoding, and fix what made it."
            .to_owned(),
    };
    let body = match invalid.others {
        0 => String::new(),
        _ => table.html_or("None is shown."),
    };
    Section {
        id: "invalid",
        title: "Records that are no URL",
        meaning: format!(
            "{} empty; {} text that is no URL. Nobody may fetch them.",
            counted(invalid.empty, "record is", "records are"),
            counted(invalid.others, "other record has", "other records have")
        ),
        advice,
        body,
    }
}

/// Limits.
pub(super) fn limits(view: View<'_>) -> Section {
    let limits = &view.report.limits;
    let hit = limits.iter().filter(|limit| limit.hits > 0).count() as u64;
    let mut table = Table::new("limits-table", "Limits, and how often they were hit")
        .texts(&["limit"])
        .numbers(&["value"])
        .texts(&["what it limits"])
        .numbers(&["hit"])
        .texts(&["by"]);
    for limit in limits {
        table.row(
            Row::headed(&code(&limit.name))
                .number_or_nothing(limit.value)
                .text(&escaped(&limit.what))
                .number(limit.hits)
                .text(&escaped(&limit.unit)),
        );
    }
    Section {
        id: "limits",
        title: "Limits",
        meaning: format!(
            "{} of {} were hit. Where one was, what it says is ignored, is not known or is a bound; \
             no URL is allowed because of it.",
            number(hit),
            counted(limits.len() as u64, "limit", "limits")
        ),
        advice: String::new(),
        body: table.html_or("No limit was counted."),
    }
}
