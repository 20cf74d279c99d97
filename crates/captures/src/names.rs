//! The names that records and tables have, for errors about one that is not there.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::json::Text;
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
    let mut parser = serde_json::Deserializer::from_slice(text);
    let mut left = MEMBERS_LOOKED_AT_MAX;
    let value = LookedAt { left: &mut left }.deserialize(&mut parser).ok()?;
    parser.end().ok().map(|()| value)
}

/// A value of which only the beginning is kept.
struct LookedAt<'n> {
    /// The number of members that may be kept.
    left: &'n mut usize,
}

impl<'de> DeserializeSeed<'de> for LookedAt<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LookedAt<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let first = items.next_element_seed(self)?;
        while first.is_some() && items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(first.into_iter().collect()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Text(name)) = members.next_key()? {
            let Some(left) = self.left.checked_sub(1) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            *self.left = left;
            let value = members.next_value_seed(LookedAt { left: &mut *self.left })?;
            object.insert(name.into_owned(), value);
        }
        Ok(Value::Object(object))
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
        let many: Vec<String> =
            (0..2 * MEMBERS_LOOKED_AT_MAX).map(|it| format!("\"{it}\":0")).collect();
        let found = members(&format!("{{\"x\":{{{}}},\"y\":0}}", many.join(","))).unwrap();
        assert_eq!(found.len(), MEMBERS_LOOKED_AT_MAX - 1);
    }
}
