//! The linter: its cases, and invariants of every report.
//!
//! `tests/suite/lint/*.toml` lists for each code where it is reported and where it is not; see
//! `tests/suite/lint/README.md` for the format.

mod case;
mod fixing;

use std::collections::BTreeMap;

use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_lint::{Code, LineIndex, LintConfig, Report, lint};
use portcullis_synth::Corpus;
use portcullis_testkit::files::project;

use case::{Case, cases};

#[test]
fn every_case_is_found_where_it_says() {
    let cases = all_cases();
    let problems: Vec<String> = cases.iter().flat_map(Case::problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_code_has_a_case_that_shows_it_and_one_that_does_not() {
    let mut shown: BTreeMap<Code, (usize, usize)> = BTreeMap::new();
    for case in all_cases() {
        let counts = shown.entry(case.code).or_default();
        *if case.found.is_empty() { &mut counts.1 } else { &mut counts.0 } += 1;
    }
    for code in Code::ALL {
        let &(positive, negative) = shown.get(&code).unwrap_or(&(0, 0));
        assert!(positive > 0, "{code} has no case that shows it");
        assert!(negative > 0, "{code} has no case that does not show it");
    }
}

fn all_cases() -> Vec<Case> {
    let folder = project("tests/suite/lint");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.flat_map(|path| cases(&path)).collect()
}

/// Checks the invariants of any report.
fn assert_sound(text: &[u8], report: &Report) {
    let index = LineIndex::new(text);
    let mut before = None;
    for diagnostic in &report.diagnostics {
        let place = diagnostic.place;
        let (line, line_span) = index.line_at(place.span.start);
        assert_eq!((place.line, place.line_span), (line, line_span), "{diagnostic:?}");
        assert!(place.span.start <= place.span.end, "{diagnostic:?}");
        assert!(place.span.end as usize <= text.len(), "{diagnostic:?}");
        assert!(place.column >= 1 && place.end_column >= place.column, "{diagnostic:?}");
        assert!(before <= Some(place.line), "{diagnostic:?}");
        before = Some(place.line);
        assert!(diagnostic.effects.len() >= Dialect::ALL.len(), "{diagnostic:?}");
        let is_sentence = |words: &str| !words.is_empty() && !words.ends_with('.');
        assert!(is_sentence(&diagnostic.message), "{diagnostic:?}");
        let Some(fix) = &diagnostic.fix else { continue };
        let spans: Vec<_> = fix.edits.iter().map(|edit| edit.span).collect();
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{diagnostic:?}");
        assert!(spans.iter().all(|span| span.end as usize <= text.len()), "{diagnostic:?}");
    }
}

#[test]
fn made_up_files_have_sound_reports() {
    let corpus = Corpus::new(9309, 1_000);
    let mut found = 0;
    for host in 0..corpus.hosts() {
        let text = corpus.robots(host).into_bytes();
        let report = lint(&text, &LintConfig::new(&RFC_9309));
        assert_sound(&text, &report);
        found += report.diagnostics.len();
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn any_bytes_have_sound_reports() {
    let fields: [&[u8]; 5] = [b"User-agent", b"Disallow", b"Allow", b"Sitemap", b"Crawl-delay"];
    let signs: [&[u8]; 17] = [
        b":", b": ", b"/", b"*", b"$", b"#", b"\n", b"\r", b"\r\n", b"\0", b"\x1b", b"\xff",
        b"%7e", b"%", b" ", b"a", b"<",
    ];
    let parts = [&fields[..], &signs, &["\u{e4}".as_bytes(), "\u{feff}".as_bytes()]].concat();
    let mut random = portcullis_testkit::Random::new(2022);
    for _ in 0..8_000 {
        let count = random.within(0..=30);
        let text: Vec<u8> = (0..count).flat_map(|_| random.pick(&parts).to_vec()).collect();
        for dialect in Dialect::ALL {
            let bytes_max = random.one_in(4).then(|| random.below(40));
            let config = LintConfig { bytes_max, ..LintConfig::new(dialect) };
            assert_sound(&text, &lint(&text, &config));
        }
    }
}
