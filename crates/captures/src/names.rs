//! The names that records and tables have, for errors about one that is not there.

use bumpalo::Bump;
use serde_json::{Map, Value};

use super::json::{Json, JsonError};
use super::json_path::{FieldPath, without_nan};
use crate::limits::{MEMBERS_LOOKED_AT_MAX, NAMES_SHOWN};

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

/// Returns the object in a line: its first [`MEMBERS_LOOKED_AT_MAX`] members, and those of objects in it, with
/// the first item of each list. `None` if it has none.
pub fn object_in(line: &[u8]) -> Option<Map<String, Value>> {
    let without_nan = || looked_at(without_nan(str::from_utf8(line).ok()?)?.as_bytes());
    match looked_at(line).or_else(without_nan)? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Returns a JSON text as [`object_in`] does. `None` if it is not JSON.
pub fn looked_at(text: &[u8]) -> Option<Value> {
    let (mut json, arena) = (Json::new(text), Bump::new());
    let mut left = MEMBERS_LOOKED_AT_MAX;
    let value = beginning(&mut json, &mut left, &arena).ok()?;
    json.end().ok().map(|()| value)
}

/// Takes a value, and returns the first members of objects, `left` in all, and the first item of each list.
fn beginning<'l>(
    json: &mut Json<'l>,
    left: &mut usize,
    arena: &'l Bump,
) -> Result<Value, JsonError> {
    let mut is_first = true;
    match json.peek() {
        Some(b'{') => {
            json.enter()?;
            let mut object = Map::new();
            while let Some(name) = json.next_name(is_first, arena)? {
                is_first = false;
                let Some(others) = left.checked_sub(1) else {
                    json.skip()?;
                    continue;
                };
                *left = others;
                let name = String::from_utf8_lossy(name).into_owned();
                object.insert(name, beginning(json, left, arena)?);
            }
            json.leave();
            Ok(Value::Object(object))
        }
        Some(b'[') => {
            json.enter()?;
            let mut items = Vec::new();
            while json.goes_on(is_first, b']')? {
                match is_first {
                    true => items.push(beginning(json, left, arena)?),
                    false => json.skip()?,
                }
                is_first = false;
            }
            json.leave();
            Ok(Value::Array(items))
        }
        _ => serde_json::from_str(json.raw()?).or_else(|error| json.fail(error)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_object_is_looked_at() {
        let members = |line: &str| members_of(line.as_bytes());
        let names = ["a", "b.c", "d.e"].map(str::to_owned);
        let line = r#"x {"a": [{"z": 1}, 2], "d": {"e": NaN}, "b": {"c": "{}"}}"#;
        assert_eq!(members(line), Some(names.to_vec()));
        assert_eq!(object_in(br#"{"a": [1, [2], 3]}"#).unwrap()["a"], serde_json::json!([1]));
        for other in ["x", "[1]", r#"{"a": 1"#, r#"{"a": 1} x"#, r#"{"a": [1, }"#] {
            assert_eq!(members(other), None, "{other}");
        }
        let deep = [&"{\"a\":".repeat(1_000), "0", &"}".repeat(1_000)].concat();
        assert_eq!(members(&deep), None);
        let many: Vec<String> =
            (0..2 * MEMBERS_LOOKED_AT_MAX).map(|it| format!("\"{it}\":0")).collect();
        let found = members(&format!("{{\"x\":{{{}}},\"y\":0}}", many.join(","))).unwrap();
        assert_eq!(found.len(), MEMBERS_LOOKED_AT_MAX - 1);
    }
}
