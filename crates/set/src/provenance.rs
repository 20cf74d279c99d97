//! Where a set comes from, as the JSON object that the set stores.
//!
//! Owns the JSON form in which inputs are reported, both in a set and in summaries. It contains
//! nothing about the run, so the same inputs give the same bytes:
//!
//! ```json
//! {"version": "0.1.0", "inputs": [{"name": "a.warc.gz", "format": "warc", "bytes": 4096,
//!  "captures": 12, "broken": 0, "capture_dates": {"first": "…", "last": "…"}, "failure": null,
//!  "broken_records": []}], "outages": {"as_of": null, "asked": null}}
//! ```
//!
//! `outages` records the time as of which the set was compiled, if given, and the requested
//! judgement of outages where the dialect leaves the choice. An input with captures after that time
//! has `later`, their number.
//!
//! The reader ignores unknown fields, because a later version or another program may have written
//! the set.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use portcullis_io::access::{DateSpan, LongOutage, UnixSeconds};
use portcullis_io::{BrokenKind, BrokenRecord, CaptureFormat};

use super::{InputReport, OutageConfig};

/// Where a set comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provenance<'r> {
    #[serde(borrow, default)]
    version: Cow<'r, str>,
    #[serde(borrow)]
    inputs: Vec<ProvenanceInput<'r>>,
    #[serde(borrow, default)]
    outages: Outages<'r>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Outages<'r> {
    #[serde(borrow, default)]
    as_of: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    asked: Option<Cow<'r, str>>,
}

/// The report on one input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProvenanceInput<'r> {
    #[serde(borrow)]
    name: Cow<'r, str>,
    #[serde(borrow, default)]
    format: Option<Cow<'r, str>>,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    captures: u64,
    /// Left out if there is none.
    #[serde(default, skip_serializing_if = "is_none")]
    later: u64,
    #[serde(default)]
    broken: u64,
    /// Left out if there is none.
    #[serde(default, skip_serializing_if = "is_none")]
    status_assumed: u64,
    #[serde(default)]
    capture_dates: Option<DateSpan>,
    #[serde(borrow, default)]
    failure: Option<Cow<'r, str>>,
    #[serde(borrow, default)]
    broken_records: Vec<Broken<'r>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Broken<'r> {
    #[serde(borrow)]
    place: Cow<'r, str>,
    #[serde(borrow)]
    problem: Cow<'r, str>,
}

impl<'r> Provenance<'r> {
    /// Returns the provenance of what this version of the program ingested from `inputs`.
    pub fn of(inputs: &'r [InputReport], outages: &OutageConfig) -> Provenance<'r> {
        let asked = Some(outages.long_outage).filter(|asked| *asked != LongOutage::NoChange);
        Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            inputs: inputs.iter().map(ProvenanceInput::of).collect(),
            outages: Outages {
                as_of: outages.time().map(|time| time.to_rfc3339().into()),
                asked: asked.map(|asked| asked.as_str().into()),
            },
        }
    }

    /// Parses the stored JSON. `None` if it lists no inputs.
    pub fn read(json: &'r [u8]) -> Option<Provenance<'r>> {
        serde_json::from_slice(json).ok()
    }

    /// Returns the JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are always JSON")
    }

    /// Returns a report for each input, as far as the set stores it.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = InputReport> + '_ {
        self.inputs.iter().map(ProvenanceInput::report)
    }

    /// Returns how outages were judged, as far as the set stores it.
    pub fn outages(&self) -> OutageConfig {
        let Outages { as_of, asked } = &self.outages;
        let time = |text: &Cow<'_, str>| UnixSeconds::from_rfc3339(text.as_bytes());
        let is_asked = |change: &LongOutage| Some(change.as_str()) == asked.as_deref();
        OutageConfig {
            as_of: as_of.as_ref().and_then(time),
            long_outage: LongOutage::ALL.into_iter().find(is_asked).unwrap_or_default(),
        }
    }
}

impl<'r> ProvenanceInput<'r> {
    /// Returns the stored form of an input's report.
    pub fn of(input: &'r InputReport) -> ProvenanceInput<'r> {
        let broken = |broken: &'r BrokenRecord| Broken {
            place: Cow::Borrowed(&broken.place),
            problem: Cow::Borrowed(&broken.problem),
        };
        ProvenanceInput {
            name: Cow::Borrowed(&input.name),
            format: input.format.map(|format| Cow::Borrowed(format.as_str())),
            bytes: input.bytes,
            captures: input.captures,
            later: input.later,
            broken: input.broken,
            status_assumed: input.status_assumed,
            capture_dates: input.captured,
            failure: input.failure.as_deref().map(Cow::Borrowed),
            broken_records: input.broken_named.iter().map(broken).collect(),
        }
    }

    fn report(&self) -> InputReport {
        let name = self.format.as_deref();
        let broken = |broken: &Broken<'_>| BrokenRecord {
            place: broken.place.to_string(),
            problem: broken.problem.to_string(),
            // The kind is not stored; this one claims less.
            kind: BrokenKind::Unreadable,
        };
        InputReport {
            name: self.name.to_string(),
            format: CaptureFormat::ALL.into_iter().find(|format| Some(format.as_str()) == name),
            bytes: self.bytes,
            captures: self.captures,
            later: self.later,
            broken: self.broken,
            unreadable: 0,
            status_assumed: self.status_assumed,
            captured: self.capture_dates,
            broken_named: self.broken_records.iter().map(broken).collect(),
            failure: self.failure.as_deref().map(str::to_owned),
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_survives_a_round_trip() {
        let whole = InputReport {
            name: "a \"quoted\"\n name".into(),
            format: Some(CaptureFormat::Warc),
            bytes: u64::MAX,
            captures: 3,
            later: 2,
            broken: 2,
            unreadable: 0,
            status_assumed: 1,
            captured: Some((UnixSeconds(86_400), UnixSeconds(1_700_000_000)).into()),
            broken_named: vec![BrokenRecord::unreadable("record at byte 7", "cut short")],
            failure: Some("the disk is gone".into()),
        };
        let inputs = [whole, InputReport { name: "-".into(), ..InputReport::default() }];
        let given = OutageConfig {
            as_of: Some(UnixSeconds(1_800_000_000)),
            long_outage: LongOutage::LastGoodCopy,
        };
        for outages in [OutageConfig::default(), given] {
            let json = Provenance::of(&inputs, &outages).to_json();
            let read = Provenance::read(json.as_bytes()).expect("it was just written");
            let again: Vec<InputReport> = read.inputs().collect();
            assert_eq!((again.as_slice(), read.outages()), (&inputs[..], outages));
            assert_eq!(Provenance::of(&again, &outages).to_json(), json);
        }
    }

    #[test]
    fn json_of_other_versions_is_read_as_far_as_it_goes() {
        let later = br#"{"inputs": [{"name": "x", "format": "tape", "colour": 1}], "more": []}"#;
        let read = Provenance::read(later).expect("it names an input");
        let inputs: Vec<InputReport> = read.inputs().collect();
        assert_eq!(inputs, [InputReport { name: "x".into(), ..InputReport::default() }]);
        for other in [&b"{}"[..], b"", b"[]", b"{\"inputs\": 1}", b"\xff"] {
            assert!(Provenance::read(other).is_none());
        }
    }
}
