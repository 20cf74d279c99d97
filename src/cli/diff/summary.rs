//! What a comparison found: for a person, and for a machine.

use std::io::{self, Write};
use std::time::Duration;

use portcullis::access::UnixSeconds;
use portcullis::decision::Verdict;
use portcullis::report::CaptureDates;
use portcullis::report::difference::urls::{UrlCounts, VerdictChanges};
use portcullis::set::{ChangeCounts, PolicySet};
use portcullis::visible::visible;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::cli::plan::SummaryForm;
use crate::cli::summary;

/// What was compared, counted.
pub enum Changed {
    Origins(ChangeCounts),
    Urls(UrlCounts),
}

impl Changed {
    /// How much changed.
    pub fn count(&self) -> u64 {
        match self {
            Changed::Origins(counts) => counts.changed(),
            Changed::Urls(counts) => counts.changed(),
        }
    }
}

/// A comparison, as the members of a JSON object.
#[derive(Serialize)]
pub struct Summary<'r> {
    version: &'static str,
    old: SetObject<'r>,
    new: SetObject<'r>,
    /// Whether the sets were compiled alike. If not, that alone may change verdicts.
    same_dialect: bool,
    same_max_robots_size: bool,
    agents: &'r [String],
    #[serde(flatten)]
    found: Found<'r>,
    seconds: f64,
}

#[derive(Serialize)]
struct SetObject<'r> {
    name: &'r str,
    set_hash: String,
    dialect: &'static str,
    /// Bytes; `null` without a limit.
    max_robots_size: Option<u64>,
    origins: u64,
    capture_dates: Option<CaptureDates>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found<'r> {
    Origins { changes: OriginsObject, per_agent: Vec<AgentRules<'r>> },
    Urls { records: u64, bytes: u64, per_agent: Vec<AgentVerdicts<'r>> },
}

#[derive(Serialize)]
struct OriginsObject {
    added: u64,
    gone: u64,
    state: u64,
    rules: u64,
    unchanged: u64,
}

#[derive(Serialize)]
struct AgentRules<'r> {
    agent: &'r str,
    rules: u64,
}

#[derive(Serialize)]
struct AgentVerdicts<'r> {
    agent: &'r str,
    unchanged: u64,
    changed: u64,
    verdicts: Turns,
}

/// How often a verdict turned into which other, by both their words.
struct Turns(Vec<(String, u64)>);

impl Serialize for Turns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (turn, count) in &self.0 {
            map.serialize_entry(turn, count)?;
        }
        map.end()
    }
}

impl Turns {
    /// Those that are met.
    fn new(changes: &VerdictChanges) -> Turns {
        let pairs = Verdict::ALL.into_iter().flat_map(|old| Verdict::ALL.map(|new| (old, new)));
        let turns = pairs
            .filter(|(old, new)| old != new)
            .map(|(old, new)| (format!("{old} to {new}"), changes.from_to(old, new)));
        Turns(turns.filter(|&(_, count)| count > 0).collect())
    }
}

impl<'r> SetObject<'r> {
    fn new(set: &'r PolicySet) -> SetObject<'r> {
        let counts = set.counts();
        let date = |seconds| UnixSeconds(seconds).to_rfc3339();
        SetObject {
            name: set.name(),
            set_hash: format!("{:016x}", set.hash()),
            dialect: set.dialect().name,
            max_robots_size: set.robots_bytes_max(),
            origins: counts.origins,
            capture_dates: counts
                .captured
                .map(|(first, last)| CaptureDates { first: date(first), last: date(last) }),
        }
    }

    fn write_text(&self, side: &str, out: &mut impl Write) -> io::Result<()> {
        let captured = match &self.capture_dates {
            Some(dates) => format!("captured from {} to {}", dates.first, dates.last),
            None => "capture dates not known".into(),
        };
        writeln!(
            out,
            "{side}: {}, set {}, dialect {}, {} origins, {captured}",
            visible(self.name),
            self.set_hash,
            self.dialect,
            self.origins
        )
    }
}

impl<'r> Found<'r> {
    fn new(changed: &Changed, agents: &'r [String]) -> Found<'r> {
        match changed {
            Changed::Origins(counts) => Found::Origins {
                changes: OriginsObject {
                    added: counts.added,
                    gone: counts.gone,
                    state: counts.state,
                    rules: counts.rules,
                    unchanged: counts.unchanged,
                },
                per_agent: agents
                    .iter()
                    .zip(&counts.rules_by_agent)
                    .map(|(agent, &rules)| AgentRules { agent, rules })
                    .collect(),
            },
            Changed::Urls(counts) => Found::Urls {
                records: counts.records,
                bytes: counts.bytes,
                per_agent: agents
                    .iter()
                    .zip(counts.agents())
                    .map(|(agent, changes)| AgentVerdicts {
                        agent,
                        unchanged: changes.unchanged(),
                        changed: changes.changed(),
                        verdicts: Turns::new(changes),
                    })
                    .collect(),
            },
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Found::Origins { changes, per_agent } => {
                let OriginsObject { added, gone, state, rules, unchanged } = changes;
                writeln!(
                    out,
                    "origins: added {added}, gone {gone}, state {state}, rules {rules}, \
                     unchanged {unchanged}"
                )?;
                for AgentRules { agent, rules } in per_agent {
                    writeln!(out, "{}: rules {rules}", visible(agent))?;
                }
            }
            Found::Urls { records, bytes, per_agent } => {
                writeln!(out, "{records} records, {bytes} bytes")?;
                for AgentVerdicts { agent, unchanged, changed, verdicts } in per_agent {
                    write!(out, "{}: unchanged {unchanged}, changed {changed}", visible(agent))?;
                    let mut before = " (";
                    for (turn, count) in &verdicts.0 {
                        write!(out, "{before}{turn} {count}")?;
                        before = ", ";
                    }
                    writeln!(out, "{}", if verdicts.0.is_empty() { "" } else { ")" })?;
                }
            }
        }
        Ok(())
    }
}

impl<'r> Summary<'r> {
    /// The summary of a comparison that took so long.
    pub fn new(
        (old, new): (&'r PolicySet, &'r PolicySet),
        agents: &'r [String],
        changed: &Changed,
        time: Duration,
    ) -> Summary<'r> {
        let (old, new) = (SetObject::new(old), SetObject::new(new));
        Summary {
            version: env!("CARGO_PKG_VERSION"),
            same_dialect: old.dialect == new.dialect,
            same_max_robots_size: old.max_robots_size == new.max_robots_size,
            old,
            new,
            agents,
            found: Found::new(changed, agents),
            seconds: time.as_secs_f64(),
        }
    }

    /// Writes it to standard error, in the form that was asked for.
    pub fn show(&self, form: SummaryForm) {
        summary::show(form, |text| self.write_text(text), |text| summary::write_json(self, text));
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "portcullis {}, {:.3} s", self.version, self.seconds)?;
        self.old.write_text("old", out)?;
        self.new.write_text("new", out)?;
        if !self.same_dialect {
            writeln!(
                out,
                "note: the dialects differ, {} and {}: a verdict may change by that alone",
                self.old.dialect, self.new.dialect
            )?;
        }
        if !self.same_max_robots_size {
            let size = |bytes: Option<u64>| {
                bytes.map_or("unlimited".to_owned(), |bytes| format!("{bytes} bytes"))
            };
            writeln!(
                out,
                "note: other sizes of files were read, {} and {}: a verdict may change by that alone",
                size(self.old.max_robots_size),
                size(self.new.max_robots_size)
            )?;
        }
        self.found.write_text(out)
    }
}
