//! The summary of a run: text for people, or one JSON object.
//!
//! Both have what tells two runs apart (version, set, dialect, agents) and the result: records, verdicts
//! and reasons for each agent, time and rates.

use std::io::{self, Write};
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::{AgentCounts, Counts, Figures, InvalidRecords};
use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_robots::json::write_json;
use portcullis_robots::visible::visible;

/// The task of a run, and its policies.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The version of the program.
    pub version: &'static str,
    /// The hash of the policy set.
    #[serde(serialize_with = "hexadecimal")]
    pub set_hash: u64,
    /// Origins with a policy; `None` if one policy applies to every URL.
    pub origins: Option<usize>,
    /// The name of the dialect.
    pub dialect: &'static str,
    /// The agents, in the order in which they were given.
    pub agents: Vec<String>,
    /// When the policies were fetched, if known.
    #[serde(rename = "capture_dates")]
    pub captured: Option<CaptureDates>,
    /// Policy files that were left out.
    pub left_out: u64,
    /// Policy files that look like something other than robots.txt, by what they look like.
    pub file_notes: Figures,
}

/// When the first and the last policy of a set were fetched (RFC 3339).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureDates {
    /// The oldest policy.
    pub first: String,
    /// The newest policy.
    pub last: String,
}

/// The result of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// Kept records.
    pub kept: u64,
}

/// A run and its result.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The task.
    pub run: Run,
    /// The records and decisions.
    pub counts: Counts,
    /// The records that are not URLs.
    pub invalid: InvalidRecords,
    /// The kept records, for a filter.
    pub filtered: Option<Filtered>,
    /// The time to load and compile the policies.
    pub loading: Duration,
    /// The time to read, decide and write. Rates refer to it.
    pub running: Duration,
    /// Counts about the compiled rules, by name; empty unless requested.
    pub census: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct SummaryObject<'a> {
    #[serde(flatten)]
    run: &'a Run,
    records: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<u64>,
    per_agent: Vec<AgentObject<'a>>,
    invalid: &'a InvalidRecords,
    load_seconds: f64,
    seconds: f64,
    urls_per_second: u64,
    bytes_per_second: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    census: Option<Figures>,
}

#[derive(Serialize)]
struct AgentObject<'a> {
    agent: &'a str,
    verdicts: Figures,
    reasons: Figures,
}

fn hexadecimal<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{hash:016x}"))
}

impl Summary {
    /// `amount` per second, rounded down; 0 if no time passed.
    fn rate(&self, amount: u64) -> u64 {
        let rate = (u128::from(amount) * 1_000_000_000).checked_div(self.running.as_nanos());
        rate.map_or(0, |rate| rate.try_into().unwrap_or(u64::MAX))
    }

    fn per_agent(&self) -> impl Iterator<Item = AgentObject<'_>> {
        let agents = self.run.agents.iter().zip(self.counts.agents());
        agents.map(|(agent, counts): (_, &AgentCounts)| AgentObject {
            agent,
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts.verdict(it)),
            reasons: Figures::of(Reason::ALL, Reason::as_str, |it| counts.reason(it)),
        })
    }

    /// Writes the summary as text.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Run { version, set_hash, origins, dialect, captured, left_out, file_notes, .. } =
            &self.run;
        let origins = match origins {
            Some(origins) => format!("{origins} origins"),
            None => "one file for every URL".into(),
        };
        let captured = match captured {
            Some(dates) => format!("captured from {} to {}", dates.first, dates.last),
            None => "capture dates not known".into(),
        };
        writeln!(
            out,
            "portcullis {version}, set {set_hash:016x}, dialect {dialect}, {origins}, {captured}"
        )?;
        if *left_out > 0 {
            writeln!(out, "files left out: {left_out}")?;
        }
        let notes = file_notes.to_string();
        if !notes.is_empty() {
            writeln!(out, "notes on files: {notes}")?;
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
        for AgentObject { agent, verdicts, reasons } in self.per_agent() {
            write!(out, "{}:", visible(agent))?;
            for (name, count) in verdicts.0 {
                write!(out, " {name} {count}")?;
            }
            match reasons.to_string().as_str() {
                "" => writeln!(out)?,
                reasons => writeln!(out, " ({reasons})")?,
            }
        }
        self.invalid.write_text(out)?;
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
            run: &self.run,
            records: self.counts.records,
            bytes: self.counts.bytes,
            kept: self.filtered.map(|filtered| filtered.kept),
            per_agent: self.per_agent().collect(),
            invalid: &self.invalid,
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

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::Decision;

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
            invalid: InvalidRecords::default(),
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
    fn json_has_what_programs_need() {
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
    fn filters_and_stats_add_members() {
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
    fn text_has_the_same() {
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
    fn no_time_and_no_records() {
        let empty = Summary { counts: Counts::new(2), running: Duration::ZERO, ..summary() };
        let mut out = Vec::new();
        empty.write_text(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("0 URL/s"), "{text}");
        assert!(text.ends_with("invalid 0\n"), "{text}");
    }
}
