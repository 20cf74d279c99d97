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
//! judgement of outages where the dialect leaves the choice. `join_schemes` is there if it is true. An input
//! with captures after that time has `later`, their number.
//!
//! The reader ignores unknown fields, because a later version or another program may have written
//! the set.

use std::borrow::Cow;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use portcullis_captures::{BrokenRecord, CaptureFormat};
use portcullis_robots::access::{DateSpan, LongOutage, UnixSeconds};

/// A report on one input. Its JSON form is part of [`Provenance`](Provenance).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputReport {
    /// The name of the input.
    pub name: String,
    /// The [name](portcullis_captures::CaptureFormat::as_str) of the format, if it was given or follows
    /// from that of the input.
    pub format: Option<String>,
    /// The number of stored bytes that were read.
    pub bytes: u64,
    /// The number of captures.
    pub captures: u64,
    /// The number of captures that were left out because they are later than
    /// [`as_of`](SettleConfig::as_of).
    #[serde(skip_serializing_if = "is_none")]
    pub later: u64,
    /// The number of records that could not be read and were skipped.
    pub broken: u64,
    /// The number of broken records that the system could not read, such as files of a folder.
    #[serde(skip)]
    pub unreadable: u64,
    /// The number of captures without a status, for which 200 was assumed.
    #[serde(skip_serializing_if = "is_none")]
    pub status_assumed: u64,
    /// The number of captures without a date, which are older than all others; 0 without
    /// `history` and `as_of`.
    #[serde(skip_serializing_if = "is_none")]
    pub undated: u64,
    /// The number of captures of other URLs than a robots.txt. They count as targets of redirects alone.
    #[serde(skip_serializing_if = "is_none")]
    pub other_urls: u64,
    /// The dates of the oldest and the newest capture that was not left out, if any has one.
    #[serde(rename = "capture_dates")]
    pub captured: Option<DateSpan>,
    /// Why the input could not be read to its end; `None` if it was.
    pub failure: Option<String>,
    /// The error of the system, if it did not let the input be opened.
    #[serde(skip)]
    pub refused: Option<ErrorKind>,
    /// Whether captures may have been read that are parts of bodies. No set has one.
    #[serde(skip)]
    pub is_forgeable: bool,
    /// The first broken records, at most
    /// [`BROKEN_RECORDS_NAMED`](crate::limits::BROKEN_RECORDS_NAMED).
    #[serde(rename = "broken_records")]
    pub broken_named: Vec<BrokenRecord>,
}

impl InputReport {
    /// Returns whether all bytes could be read, valid or not.
    pub fn is_readable(&self) -> bool {
        self.failure.is_none() && self.unreadable == 0
    }

    /// Returns whether the input is a folder of files named by host.
    pub fn is_folder(&self) -> bool {
        self.format.as_deref() == Some(CaptureFormat::Folder.as_str())
    }

    /// Returns whether every record was read and counts, is of a robots.txt, and no status or date was
    /// assumed.
    pub fn is_whole(&self) -> bool {
        let assumed = self.status_assumed + self.undated;
        self.failure.is_none() && self.broken + self.later + self.other_urls + assumed == 0
    }
}

/// How origins are settled: what follows from their captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettleConfig {
    /// The time as of which origins are settled. Later captures are left out, and an outage whose
    /// end was not captured lasts until then. If `None`, all captures count, and such an outage
    /// ends with its last captured failure, so that a host that was not requested again does not
    /// count as failing until today.
    pub as_of: Option<UnixSeconds>,
    /// The effect of an outage of more than 30 days, where the dialect leaves the choice.
    pub long_outage: LongOutage,
    /// Whether an origin that was not captured has the policy of the other scheme of its host, with the
    /// note [`OtherScheme`](portcullis_robots::access::CaptureNote::OtherScheme).
    pub join_schemes: bool,
}

impl SettleConfig {
    /// Returns the time, clamped as in the provenance of a set, which has no year after 9999.
    pub fn time(&self) -> Option<UnixSeconds> {
        self.as_of.and_then(|time| UnixSeconds::from_rfc3339(time.to_rfc3339().as_bytes()))
    }
}

/// Where a set comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provenance<'r> {
    #[serde(default)]
    version: Cow<'r, str>,
    inputs: Cow<'r, [InputReport]>,
    #[serde(default)]
    outages: Outages,
    #[serde(default, skip_serializing_if = "is_false")]
    join_schemes: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Outages {
    as_of: Option<String>,
    asked: Option<String>,
}

impl<'r> Provenance<'r> {
    /// Returns the provenance of what this version of the program ingested from `inputs`.
    pub fn of(inputs: &'r [InputReport], settle: &SettleConfig) -> Provenance<'r> {
        let asked = Some(settle.long_outage).filter(|asked| *asked != LongOutage::NoChange);
        Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            inputs: inputs.into(),
            outages: Outages {
                as_of: settle.time().map(UnixSeconds::to_rfc3339),
                asked: asked.map(|asked| asked.as_str().to_owned()),
            },
            join_schemes: settle.join_schemes,
        }
    }

    /// Parses the stored JSON. `None` if it lists no inputs.
    pub fn read(json: &[u8]) -> Option<Provenance<'static>> {
        serde_json::from_slice(json).ok()
    }

    /// Returns the JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are always JSON")
    }

    /// Returns a report for each input, as far as the set stores it.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = InputReport> + '_ {
        self.inputs.iter().cloned()
    }

    /// Returns how origins were settled, as far as the set stores it.
    pub fn settle(&self) -> SettleConfig {
        let Outages { as_of, asked } = &self.outages;
        let is_asked = |change: &LongOutage| Some(change.as_str()) == asked.as_deref();
        SettleConfig {
            as_of: as_of.as_ref().and_then(|time| UnixSeconds::from_rfc3339(time.as_bytes())),
            long_outage: LongOutage::ALL.into_iter().find(is_asked).unwrap_or_default(),
            join_schemes: self.join_schemes,
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_survives_a_round_trip() {
        let whole = InputReport {
            name: "a \"quoted\"\n name".into(),
            format: Some("warc".into()),
            bytes: u64::MAX,
            captures: 3,
            later: 2,
            broken: 2,
            unreadable: 0,
            status_assumed: 1,
            undated: 0,
            other_urls: 1,
            captured: Some(DateSpan {
                first: UnixSeconds(86_400),
                last: UnixSeconds(1_700_000_000),
            }),
            broken_named: vec![BrokenRecord::unreadable("record at byte 7", "cut short")],
            failure: Some("the disk is gone".into()),
            refused: None,
            is_forgeable: false,
        };
        let inputs = [whole, InputReport { name: "-".into(), ..InputReport::default() }];
        let given = SettleConfig {
            as_of: Some(UnixSeconds(1_800_000_000)),
            long_outage: LongOutage::LastGoodCopy,
            join_schemes: true,
        };
        for settle in [SettleConfig::default(), given] {
            let json = Provenance::of(&inputs, &settle).to_json();
            let read = Provenance::read(json.as_bytes()).expect("it was just written");
            let again: Vec<InputReport> = read.inputs().collect();
            assert_eq!((again.as_slice(), read.settle()), (&inputs[..], settle));
            assert_eq!(Provenance::of(&again, &settle).to_json(), json);
        }
    }

    #[test]
    fn json_of_other_versions_is_read_as_far_as_it_goes() {
        let later = br#"{"inputs": [{"name": "x", "format": "tape", "colour": 1}], "more": []}"#;
        let read = Provenance::read(later).expect("it names an input");
        let inputs: Vec<InputReport> = read.inputs().collect();
        let (name, format) = ("x".into(), Some("tape".into()));
        assert_eq!(inputs, [InputReport { name, format, ..InputReport::default() }]);
        for other in [&b"{}"[..], b"", b"[]", b"{\"inputs\": 1}", b"\xff"] {
            assert!(Provenance::read(other).is_none());
        }
    }
}
