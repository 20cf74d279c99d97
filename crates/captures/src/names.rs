//! The names that records and tables have, for errors about one that is not there.

use serde_json::{Map, Value};

use super::json_path::{FieldPath, without_nan};
use crate::limits::NAMES_SHOWN;

/// Formats the first few names in quotes, and counts the others.
pub fn listed(names: impl ExactSizeIterator<Item = impl AsRef<str>>) -> String {
    let rest = names.len().saturating_sub(NAMES_SHOWN);
    let shown: Vec<String> =
        names.take(NAMES_SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    match rest {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

/// Returns the object in a line. `None` if it has none.
pub fn object_in(line: &[u8]) -> Option<Map<String, Value>> {
    let other = || {
        let text = without_nan(str::from_utf8(line).ok()?)?;
        serde_json::from_str(&text).ok()
    };
    serde_json::from_slice(line).ok().or_else(other)
}

/// Returns the paths of the members of the object in a line, which may begin with other words. `None` if
/// there is no object.
pub fn members_of(line: &[u8]) -> Option<Vec<String>> {
    let object = Value::Object(object_in(&line[memchr::memchr(b'{', line)?..])?);
    let mut members = Vec::new();
    add_members(&object, &mut Vec::new(), &mut members);
    Some(members)
}

/// Adds the paths of the members in a value at `names`.
fn add_members(value: &Value, names: &mut Vec<String>, members: &mut Vec<String>) {
    let Value::Object(object) = value else {
        return members.push(FieldPath::from_names(names.clone()).to_string());
    };
    for (name, value) in object {
        names.push(name.clone());
        add_members(value, names, members);
        names.pop();
    }
}
