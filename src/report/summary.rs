//! What a run did: for a person, or as one JSON object.
//!
//! Both name what is needed to tell two runs apart (version, set, dialect, agents) and what came of
//! them (records, verdicts and reasons for each agent, time and rates).

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::decision::{Reason, Verdict};
use crate::visible::{visible, write_json};

use super::{AgentCounts, Counts, Figures};

/// What a run was asked to do and with which policies.
#[derive(Clone, Debug)]
pub struct Run {
    /// The tool's version.
    pub version: &'static str,
    /// The hash of the policy set.
    pub set_hash: u64,
    /// Origins that the set has a policy for; nothing if one policy speaks for every URL.
    pub origins: Option<usize>,
    /// The dialect's name.
    pub dialect: &'static str,
    /// The agents, in the order in which they were asked for.
    pub agents: Vec<String>,
    /// When the policies were fetched, if that is known.
    pub captured: Option<CaptureDates>,
    /// Files of the policies that were left out.
    pub left_out: u64,
    /// Files of the policies that look like something else than robots.txt, by what they look like.
    pub file_notes: Figures,
}

/// The first and the last moment at which a set's policies were fetched, as RFC 3339 dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureDates {
    /// The oldest policy's.
    pub first: String,
    /// The newest policy's.
    pub last: String,
}

/// Records that a filter let through, and how many it kept in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// Records that were kept.
    pub kept: u64,
}

/// A run and what came of it.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What it was asked to do.
    pub run: Run,
    /// What it saw.
    pub counts: Counts,
    /// What it kept, if it was a filter.
    pub filtered: Option<Filtered>,
    /// How long it took to load and compile the policies.
    pub loading: Duration,
    /// How long it took to read, decide and write; the rates are over this time.
    pub running: Duration,
    /// Figures about the compiled rules, by name; none unless they were asked for.
    pub census: Vec<(&'static str, u64)>,
}

impl Summary {
    /// `amount` a second, rounded down; nothing if no time passed.
    fn rate(&self, amount: u64) -> u64 {
        let nanoseconds = self.running.as_nanos();
        (u128::from(amount) * 1_000_000_000)
            .checked_div(nanoseconds)
            .map_or(0, |rate| rate.try_into().unwrap_or(u64::MAX))
    }

    fn set_hash(&self) -> String {
        format!("{:016x}", self.run.set_hash)
    }

    fn agents(&self) -> impl Iterator<Item = (&str, &AgentCounts)> {
        let names = self.run.agents.iter().map(String::as_str);
        names.zip(self.counts.agents())
    }

    /// Writes the summary for a person.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let run = &self.run;
        writeln!(
            out,
            "portcullis {}, set {}, dialect {}, {}, {}",
            run.version,
            self.set_hash(),
            run.dialect,
            origins_text(run.origins),
            captured_text(run.captured.as_ref()),
        )?;
        if run.left_out > 0 {
            writeln!(out, "files left out: {}", run.left_out)?;
        }
        if run.file_notes.0.iter().any(|&(_, figure)| figure > 0) {
            writeln!(out, "notes on files: {}", run.file_notes)?;
        }
        writeln!(
            out,
            "{} records, {} bytes in {:.3} s (and {:.3} s to load): {} URL/s, {} bytes/s",
            self.counts.records,
            self.counts.bytes,
            self.running.as_secs_f64(),
            self.loading.as_secs_f64(),
            self.rate(self.counts.records),
            self.rate(self.counts.bytes),
        )?;
        if let Some(filtered) = self.filtered {
            writeln!(out, "{} kept", filtered.kept)?;
        }
        for (agent, counts) in self.agents() {
            write_agent(agent, counts, out)?;
        }
        for (name, value) in &self.census {
            writeln!(out, "  {name}: {value}")?;
        }
        Ok(())
    }

    /// Writes the summary as one JSON object and LF.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let object = SummaryObject {
            version: self.run.version,
            set_hash: self.set_hash(),
            origins: self.run.origins,
            dialect: self.run.dialect,
            agents: &self.run.agents,
            capture_dates: self.run.captured.as_ref(),
            left_out: self.run.left_out,
            file_notes: &self.run.file_notes,
            records: self.counts.records,
            bytes: self.counts.bytes,
            kept: self.filtered.map(|filtered| filtered.kept),
            per_agent: self.agents().map(AgentObject::new).collect(),
            load_seconds: self.loading.as_secs_f64(),
            seconds: self.running.as_secs_f64(),
            urls_per_second: self.rate(self.counts.records),
            bytes_per_second: self.rate(self.counts.bytes),
            census: (!self.census.is_empty()).then(|| Figures(self.census.clone())),
        };
        write_json(&object, &mut *out)?;
        out.write_all(b"\n")
    }
}

fn origins_text(origins: Option<usize>) -> String {
    match origins {
        Some(origins) => format!("{origins} origins"),
        None => "one file for every URL".into(),
    }
}

fn captured_text(captured: Option<&CaptureDates>) -> String {
    match captured {
        Some(dates) => format!("captured from {} to {}", dates.first, dates.last),
        None => "capture dates not known".into(),
    }
}

fn write_agent(agent: &str, counts: &AgentCounts, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{}:", visible(agent))?;
    for (name, count) in verdicts(counts).0 {
        write!(out, " {name} {count}")?;
    }
    let reasons = reasons(counts).0;
    let mut before = " (";
    for (name, count) in reasons.iter().filter(|(_, count)| *count > 0) {
        write!(out, "{before}{name} {count}")?;
        before = ", ";
    }
    let after = if before == ", " { ")" } else { "" };
    writeln!(out, "{after}")
}

fn verdicts(counts: &AgentCounts) -> Figures {
    Figures::of(Verdict::ALL, Verdict::as_str, |verdict| counts.verdict(verdict))
}

fn reasons(counts: &AgentCounts) -> Figures {
    Figures::of(Reason::ALL, Reason::as_str, |reason| counts.reason(reason))
}

#[derive(Serialize)]
struct AgentObject<'a> {
    agent: &'a str,
    verdicts: Figures,
    reasons: Figures,
}

impl<'a> AgentObject<'a> {
    fn new((agent, counts): (&'a str, &AgentCounts)) -> AgentObject<'a> {
        AgentObject { agent, verdicts: verdicts(counts), reasons: reasons(counts) }
    }
}

#[derive(Serialize)]
struct SummaryObject<'a> {
    version: &'static str,
    set_hash: String,
    origins: Option<usize>,
    dialect: &'static str,
    agents: &'a [String],
    capture_dates: Option<&'a CaptureDates>,
    left_out: u64,
    file_notes: &'a Figures,
    records: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<u64>,
    per_agent: Vec<AgentObject<'a>>,
    load_seconds: f64,
    seconds: f64,
    urls_per_second: u64,
    bytes_per_second: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    census: Option<Figures>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Decision;

    fn summary() -> Summary {
        let allowed = Decision::without_rule(Verdict::Allow, Reason::NoRule);
        let mut counts = Counts::new(2);
        counts.add(20, &[allowed, Decision::UNKNOWN]);
        counts.add(30, &[allowed, Decision::INVALID]);
        Summary {
            run: Run {
                version: "0.1.0",
                set_hash: 0xab,
                origins: Some(7),
                dialect: "rfc9309",
                agents: vec!["One".into(), "Two".into()],
                captured: None,
                left_out: 0,
                file_notes: Figures(vec![("looks-like-html", 0)]),
            },
            counts,
            filtered: None,
            loading: Duration::from_millis(250),
            running: Duration::from_millis(500),
            census: vec![],
        }
    }

    fn json(summary: &Summary) -> serde_json::Value {
        let mut out = Vec::new();
        summary.write_json(&mut out).unwrap();
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn json_names_all_that_a_machine_needs() {
        let object = json(&summary());
        assert_eq!(object["version"], "0.1.0");
        assert_eq!(object["set_hash"], "00000000000000ab");
        assert_eq!(object["dialect"], "rfc9309");
        assert_eq!(object["agents"], serde_json::json!(["One", "Two"]));
        assert_eq!(object["capture_dates"], serde_json::Value::Null);
        assert_eq!(object["records"], 2);
        assert_eq!(object["urls_per_second"], 4);
        assert_eq!(object["bytes_per_second"], 100);
        assert_eq!(object["seconds"], 0.5);
        assert_eq!(object["load_seconds"], 0.25);
        assert_eq!(object["per_agent"][0]["verdicts"]["allow"], 2);
        assert_eq!(object["per_agent"][1]["reasons"]["bad-url"], 1);
        assert_eq!(object["per_agent"][1]["reasons"]["rule"], 0);
        assert_eq!(object.get("kept"), None);
        assert_eq!(object.get("census"), None);
    }

    #[test]
    fn filters_and_statistics_add_their_figures() {
        let object = json(&Summary {
            filtered: Some(Filtered { kept: 2 }),
            census: vec![("rule sets", 5)],
            run: Run {
                captured: Some(CaptureDates {
                    first: "2024-01-01T00:00:00Z".into(),
                    last: "2024-02-01T00:00:00Z".into(),
                }),
                ..summary().run
            },
            ..summary()
        });
        assert_eq!(object["kept"], 2);
        assert_eq!(object["census"]["rule sets"], 5);
        assert_eq!(object["capture_dates"]["last"], "2024-02-01T00:00:00Z");
    }

    #[test]
    fn text_names_the_same() {
        let mut out = Vec::new();
        summary().write_text(&mut out).unwrap();
        let expected = "\
portcullis 0.1.0, set 00000000000000ab, dialect rfc9309, 7 origins, capture dates not known
2 records, 50 bytes in 0.500 s (and 0.250 s to load): 4 URL/s, 100 bytes/s
One: allow 2 disallow 0 unknown 0 invalid 0 (no-rule 2)
Two: allow 0 disallow 0 unknown 1 invalid 1 (no-policy 1, bad-url 1)
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn no_time_and_nothing_seen() {
        let empty = Summary { counts: Counts::new(2), running: Duration::ZERO, ..summary() };
        let mut out = Vec::new();
        empty.write_text(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("0 URL/s"), "{text}");
        assert!(text.ends_with("invalid 0\n"), "{text}");
    }
}
