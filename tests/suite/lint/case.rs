//! Reads the cases of `tests/suite/lint/*.toml`. `tests/suite/lint/README.md` specifies the format.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_lint::{Code, Diagnostic, LintConfig, apply, lint};
use portcullis_robots::policy::Crawler;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    case: Vec<RawCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    code: String,
    robots: Option<String>,
    robots_base64: Option<String>,
    found: Vec<String>,
    dialect: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    effect: BTreeMap<String, String>,
    edited: Option<String>,
    #[serde(default)]
    why: String,
}

/// A file, and where one code is reported in it.
pub struct Case {
    pub code: Code,
    pub found: Vec<String>,
    robots: Vec<u8>,
    config: LintConfig,
    effect: BTreeMap<String, String>,
    edited: Option<String>,
    why: String,
}

/// Returns the cases of one file.
pub fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let file: CaseFile =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.case.into_iter().map(Case::new).collect()
}

impl Case {
    fn new(raw: RawCase) -> Case {
        let dialect = raw.dialect.map_or(&RFC_9309, |name| Dialect::by_name(&name).unwrap());
        let agents = raw.agents.iter().map(|agent| Crawler::parse(agent, dialect).unwrap());
        let bytes_max = Some(raw.limit.unwrap_or(ROBOTS_BYTES_MAX));
        let config = LintConfig { bytes_max, agents: agents.collect(), ..LintConfig::new(dialect) };
        let robots = match (raw.robots, raw.robots_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => BASE64.decode(text).unwrap(),
            _ => panic!("{}: a case has either robots or robots_base64", raw.code),
        };
        Case {
            code: Code::parse(&raw.code).unwrap_or_else(|| panic!("{} is no code", raw.code)),
            found: raw.found,
            robots,
            config,
            effect: raw.effect,
            edited: raw.edited,
            why: raw.why,
        }
    }

    /// Returns the differences from what the case expects.
    pub fn problems(&self) -> Vec<String> {
        let all = lint(&self.robots, &self.config).diagnostics;
        let own: Vec<&Diagnostic> = all.iter().filter(|found| found.code == self.code).collect();
        let found: Vec<String> = own.iter().map(|found| self.place(found)).collect();
        let mut problems = Vec::new();
        if found != self.found {
            problems.push(format!("found {found:?} and not {:?}", self.found));
        }
        for (name, text) in &self.effect {
            let effects = own.first().map_or(&[][..], |found| &found.effects);
            let effect = effects.iter().find(|effect| effect.dialect.name == name);
            let effect = effect.map(|effect| effect.text.as_str());
            if effect != Some(text) {
                problems.push(format!("in {name}: {effect:?} and not {text:?}"));
            }
        }
        if let Some(edited) = &self.edited {
            let edits = own.iter().filter_map(|found| found.fix.as_ref());
            let text = apply(&self.robots, edits.flat_map(|fix| &fix.edits));
            if text != edited.as_bytes() {
                problems.push(format!("edited to {}", text.escape_ascii()));
            }
        }
        let robots = self.robots.escape_ascii();
        let tell = |problem| format!("{} {robots} ({}): {problem}", self.code, self.why);
        problems.into_iter().map(tell).collect()
    }

    fn place(&self, found: &Diagnostic) -> String {
        let place = found.place;
        let end = place.span.end.min(place.line_span.end).max(place.span.start);
        let text = &self.robots[place.span.start as usize..end as usize];
        format!("{}:{} {}", place.line, place.column, String::from_utf8_lossy(text))
    }
}
