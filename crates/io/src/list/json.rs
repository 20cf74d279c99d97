//! Finds the URL in a JSON object: a member by its path.
//!
//! The whole line is parsed, so that a line that is not JSON has no URL. Cost: one pass to check
//! UTF-8 and one to parse. With several paths, one more parse for each path that the object lacks.

use std::fmt;
use std::str::FromStr;

use bumpalo::Bump;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Problem;

/// The path of a member: names separated by dots. `\.` stands for a dot in a name.
///
/// A path that a user gives names members exactly. A usual name, which was not given, is the name of
/// members in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    names: Vec<String>,
    is_given: bool,
}

impl FromStr for FieldPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<FieldPath, &'static str> {
        let mut names = vec![String::new()];
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let name = names.last_mut().expect("one at least");
            match letter {
                '\\' => name.extend(letters.next()),
                '.' => names.push(String::new()),
                letter => name.push(letter),
            }
        }
        match names.iter().any(String::is_empty) {
            true => Err("expected a field, such as url or page.url"),
            false => Ok(FieldPath { names, is_given: true }),
        }
    }
}

impl FieldPath {
    /// Returns the names, from the outermost object on.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the path of a top-level member with a usual name.
    pub(crate) fn usual(name: &str) -> FieldPath {
        FieldPath { names: vec![name.to_owned()], is_given: false }
    }

    /// Whether `name` is the name at `depth` of the path.
    pub(crate) fn has(&self, depth: usize, name: &str) -> bool {
        self.names.get(depth).is_some_and(|step| match self.is_given {
            true => step == name,
            false => step.eq_ignore_ascii_case(name),
        })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.names.iter().enumerate() {
            let dot = if number > 0 { "." } else { "" };
            write!(f, "{dot}{}", name.replace('\\', "\\\\").replace('.', "\\."))?;
        }
        Ok(())
    }
}

/// Returns the value at the first of `paths` that the object `text` has.
pub(super) fn url<'c>(
    text: &'c [u8],
    paths: &[FieldPath],
    arena: &'c Bump,
) -> Result<&'c [u8], Problem> {
    let text = std::str::from_utf8(text).map_err(|_| Problem::NotUtf8)?;
    let text = text.trim_ascii();
    if !text.starts_with('{') {
        return Err(Problem::NotJson);
    }
    for path in paths {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let found = Find { path, depth: 0, arena }.deserialize(&mut deserializer);
        let found = found.and_then(|found| deserializer.end().map(|()| found));
        match found.map_err(|_| Problem::NotJson)? {
            Ok(url) => return Ok(url.as_bytes()),
            Err(Problem::NoField) => {}
            Err(problem) => return Err(problem),
        }
    }
    Err(Problem::NoField)
}

/// Finds the member at a path below a value, which is at `depth` of the path.
#[derive(Clone, Copy)]
struct Find<'p, 'c> {
    path: &'p FieldPath,
    depth: usize,
    arena: &'c Bump,
}

impl Find<'_, '_> {
    /// Whether the path ends at the value.
    fn is_end(self) -> bool {
        self.depth == self.path.names.len()
    }

    /// Returns the problem of a value that is neither a string nor an object.
    fn other<'c, E>(self) -> Result<Result<&'c str, Problem>, E> {
        Ok(Err(if self.is_end() { Problem::NotAString } else { Problem::NoField }))
    }
}

impl<'c> DeserializeSeed<'c> for Find<'_, 'c> {
    type Value = Result<&'c str, Problem>;

    fn deserialize<D: Deserializer<'c>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'c> Visitor<'c> for Find<'_, 'c> {
    type Value = Result<&'c str, Problem>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'c str) -> Result<Self::Value, E> {
        if self.is_end() { Ok(Ok(text)) } else { self.other() }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.is_end() { Ok(Ok(self.arena.alloc_str(text))) } else { self.other() }
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        self.other()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        self.other()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
        self.other()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
        self.other()
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Err(Problem::NoField))
    }

    fn visit_seq<A: SeqAccess<'c>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        self.other()
    }

    fn visit_map<A: MapAccess<'c>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        if self.is_end() {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return self.other();
        }
        let mut found = None;
        while let Some(is_wanted) = members.next_key_seed(IsName(self))? {
            if !is_wanted {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = members.next_value_seed(Find { depth: self.depth + 1, ..self })?;
            found = match found {
                None => Some(value),
                Some(_) => Some(Err(Problem::RepeatedField)),
            };
        }
        Ok(found.unwrap_or(Err(Problem::NoField)))
    }
}

/// Compares a name with the next one of the path.
struct IsName<'p, 'c>(Find<'p, 'c>);

impl<'c> DeserializeSeed<'c> for IsName<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'c>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0.path.has(self.0.depth, name))
    }
}
