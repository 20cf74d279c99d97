//! Checks that the conformance page is up to date, and a decision that no case can show.

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::Crawler;
use portcullis_testkit::files::{assert_stored, project};

use crate::page;

#[test]
fn the_page_is_up_to_date() {
    let root = project("");
    let made = page::page(&root).unwrap_or_else(|problem| panic!("{problem}"));
    assert_stored(&root.join(page::PAGE), &made);
}

/// A case cannot show which agents are rejected.
#[test]
fn each_dialect_takes_its_own_tokens() {
    let rows: [(&str, [bool; 5]); 7] = [
        ("ExampleBot", [true; 5]),
        ("Example-Bot_x", [true; 5]),
        ("MJ12bot", [true, true, true, true, false]),
        ("archive.org_bot", [true, true, true, true, false]),
        ("five*star", [true, true, false, false, false]),
        ("ExampleBot/1.0", [true, false, false, false, false]),
        ("", [false; 5]),
    ];
    for (agent, taken) in rows {
        for (dialect, taken) in Dialect::ALL.into_iter().zip(taken) {
            let chain = Crawler::parse(agent, dialect);
            assert_eq!(chain.is_ok(), taken, "{} {agent:?}", dialect.name);
        }
    }
}
