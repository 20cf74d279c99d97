//! Finds the URL, the time, the agent and the host in a JSON object: members by their paths.
//!
//! The whole line is parsed, so that a line that is not JSON has no URL. Cost: one pass to check UTF-8
//! and one to parse, whatever is read.

use std::borrow::Cow;

use bumpalo::Bump;
use memchr::memmem;

use super::access_log::target;
use super::host::NO_HOST;
use super::values::Values;
use super::{FieldPath, Problem};
use portcullis_captures::json_path::{FieldValue, Found, Members};
use portcullis_robots::access::{TimeUnit, in_range};

/// The members that are read from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectValues {
    members: Members,
    unit: Option<TimeUnit>,
}

impl ObjectValues {
    /// Returns the members at the paths for the URL, the time, the agent and the host. Some servers log
    /// each header as a list of its values, so agents and hosts may be one.
    ///
    /// # Errors
    ///
    /// If there are too many paths.
    pub(super) fn new(
        paths: [Vec<FieldPath>; 4],
        unit: Option<TimeUnit>,
    ) -> Result<ObjectValues, String> {
        let paths = paths.into_iter().enumerate();
        let paths = paths.flat_map(|(value, paths)| paths.into_iter().map(move |it| (value, it)));
        Ok(ObjectValues { members: Members::new(paths.collect(), &[2, 3], &[])?, unit })
    }

    /// Returns the values in the object `text`.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Bump) -> Values<'c> {
        let Ok(text) = std::str::from_utf8(text) else {
            return Values::from_url(Err(Problem::NotUtf8));
        };
        let text = text.trim_ascii();
        let mut found = [const { Found::NONE }; 4];
        let decoded = |text: &str| Cow::Borrowed(arena.alloc_str(text).as_bytes());
        let mut parser = serde_json::Deserializer::from_str(text);
        if !text.starts_with('{') || self.members.read(&mut parser, &decoded, &mut found).is_err() {
            return Values::from_url(Err(Problem::NotJson));
        }
        let [url, time, agent, host] = found;
        Values {
            url: match url {
                Found { is_repeated: true, .. } => Err(Problem::RepeatedField),
                Found { value: FieldValue::Text(Cow::Borrowed(text)), .. } => Ok(url_in(text)),
                Found { value: FieldValue::Null, .. } => Err(Problem::NoField),
                _ => Err(Problem::NotAString),
            },
            time: time.value.seconds(self.unit).and_then(in_range),
            agent: text_of(agent),
            // A host that cannot be read is not that of records without one.
            host: match host {
                Found { value: FieldValue::Null, is_repeated: false, .. } => None,
                host => text_of(host).or(Some(NO_HOST)),
            },
        }
    }
}

/// Returns the URL or path in the text of a field, which may be the request of a log.
fn url_in(text: &[u8]) -> &[u8] {
    match text.first().is_some_and(u8::is_ascii_uppercase)
        && memmem::find(text, b" HTTP/").is_some()
    {
        true => target(text).unwrap_or(text),
        false => text,
    }
}

fn text_of(found: Found<'_>) -> Option<&[u8]> {
    match found.value {
        FieldValue::Text(Cow::Borrowed(text)) => Some(text),
        _ => None,
    }
}
