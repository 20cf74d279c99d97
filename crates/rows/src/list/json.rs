//! Finds the URL, the time, the agent and the host in a JSON object: members by their paths.
//!
//! The whole line is parsed, so that a line that is not JSON has no URL. Cost: one pass to check UTF-8
//! and one to parse, whatever is read.

use std::borrow::Cow;

use bumpalo::Bump;

use super::values::Values;
use super::{FieldPath, Problem};
use portcullis_captures::json_path::FieldValue;
use portcullis_captures::json_path::{PATHS_MAX, Walk, read};
use portcullis_robots::access::{TimeUnit, in_range};

/// The members that are read from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Members {
    /// The paths for the URL, then those for the time, the agent and the host. The first of each that
    /// the object has counts.
    paths: Vec<FieldPath>,
    /// The ends of the paths for the URL, the time and the agent.
    ends: [usize; 3],
    unit: Option<TimeUnit>,
}

impl Members {
    pub(super) fn new(
        mut urls: Vec<FieldPath>,
        times: &[FieldPath],
        agents: &[FieldPath],
        hosts: &[FieldPath],
        unit: Option<TimeUnit>,
    ) -> Members {
        let mut ends = [urls.len(); 3];
        for (end, paths) in [times, agents].into_iter().enumerate() {
            urls.extend_from_slice(paths);
            ends[end + 1] = urls.len();
        }
        urls.extend_from_slice(hosts);
        Members { paths: urls, ends, unit }
    }

    /// Returns the values in the object `text`.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Bump) -> Values<'c> {
        match self.found(text, arena) {
            Err(problem) => Values::from_url(Err(problem)),
            Ok([url, time, agent, host]) => Values {
                url: url.and_then(|url| match url {
                    FieldValue::Text(Cow::Borrowed(text)) => Ok(text),
                    _ => Err(Problem::NotAString),
                }),
                time: time.ok().and_then(|time| time.seconds(self.unit)).and_then(in_range),
                agent: agent.ok().and_then(text_of),
                host: host.ok().and_then(text_of),
            },
        }
    }

    fn found<'c>(&self, text: &'c [u8], arena: &'c Bump) -> Result<[Found<'c>; 4], Problem> {
        let text = std::str::from_utf8(text).map_err(|_| Problem::NotUtf8)?;
        let text = text.trim_ascii();
        if !text.starts_with('{') {
            return Err(Problem::NotJson);
        }
        let missing = || (usize::MAX, Err(Problem::NoField));
        let found = [missing(), missing(), missing(), missing()];
        let mut first = First { paths: &[], before: 0, ends: self.ends, found, arena };
        for (number, paths) in self.paths.chunks(PATHS_MAX).enumerate() {
            (first.paths, first.before) = (paths, number * PATHS_MAX);
            let mut parser = serde_json::Deserializer::from_str(text);
            read(&mut parser, &mut first).map_err(|_| Problem::NotJson)?;
        }
        Ok(first.found.map(|(_, value)| value))
    }
}

fn text_of(value: FieldValue<'_>) -> Option<&[u8]> {
    match value {
        FieldValue::Text(Cow::Borrowed(text)) => Some(text),
        _ => None,
    }
}

type Found<'c> = Result<FieldValue<'c>, Problem>;

/// The first of the paths for each value that an object has.
struct First<'p, 'c> {
    /// The paths of a walk.
    paths: &'p [FieldPath],
    /// The number of paths before them.
    before: usize,
    ends: [usize; 3],
    /// The number of the path, and its value or problem: for each value.
    found: [(usize, Found<'c>); 4],
    arena: &'c Bump,
}

impl<'c> First<'_, 'c> {
    fn slot(&mut self, number: usize) -> (usize, &mut (usize, Found<'c>)) {
        let number = self.before + number;
        let value = self.ends.iter().filter(|&&end| number >= end).count();
        (number, &mut self.found[value])
    }
}

impl<'c> Walk<'c> for First<'_, 'c> {
    fn paths(&self) -> usize {
        self.paths.len()
    }

    fn path(&self, number: usize) -> &FieldPath {
        &self.paths[number]
    }

    fn value(&mut self, number: usize, value: FieldValue<'c>) -> Result<(), String> {
        let (number, found) = self.slot(number);
        if value != FieldValue::Null && number < found.0 {
            *found = (number, Ok(value));
        }
        Ok(())
    }

    fn repeated(&mut self, number: usize) {
        let (number, found) = self.slot(number);
        if number <= found.0 {
            *found = (number, Err(Problem::RepeatedField));
        }
    }

    /// Some servers log each header as a list of its values, so agents and hosts may be one.
    fn takes_first(&self, numbers: u64) -> bool {
        self.before + numbers.trailing_zeros() as usize >= self.ends[1]
    }

    fn decoded(&self, text: &str) -> Cow<'c, [u8]> {
        Cow::Borrowed(self.arena.alloc_str(text).as_bytes())
    }
}
