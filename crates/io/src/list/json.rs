//! Finds the URL in a JSON object: a member by its path.
//!
//! The whole line is parsed, so that a line that is not JSON has no URL. Cost: one pass to check UTF-8
//! and one to parse.

use std::borrow::Cow;

use bumpalo::Bump;

use super::{FieldPath, Problem};
use crate::json_path::{PATHS_MAX, Walk, read};
use crate::record::FieldValue;

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
    for paths in paths.chunks(PATHS_MAX) {
        let mut walk = First { paths, found: (PATHS_MAX, Err(Problem::NoField)), arena };
        let mut parser = serde_json::Deserializer::from_str(text);
        read(&mut parser, &mut walk).map_err(|_| Problem::NotJson)?;
        if !matches!(walk.found.1, Err(Problem::NoField)) {
            return walk.found.1;
        }
    }
    Err(Problem::NoField)
}

/// The first of some paths that an object has.
struct First<'p, 'c> {
    paths: &'p [FieldPath],
    /// The number of the path, and its value or problem.
    found: (usize, Result<&'c [u8], Problem>),
    arena: &'c Bump,
}

impl<'c> Walk<'c> for First<'_, 'c> {
    fn paths(&self) -> usize {
        self.paths.len()
    }

    fn path(&self, number: usize) -> &FieldPath {
        &self.paths[number]
    }

    fn value(&mut self, number: usize, value: FieldValue<'c>) -> Result<(), String> {
        let value = match value {
            FieldValue::Null => return Ok(()),
            FieldValue::Text(Cow::Borrowed(text)) => Ok(text),
            _ => Err(Problem::NotAString),
        };
        if number < self.found.0 {
            self.found = (number, value);
        }
        Ok(())
    }

    fn repeated(&mut self, number: usize) {
        if number <= self.found.0 {
            self.found = (number, Err(Problem::RepeatedField));
        }
    }

    fn decoded(&self, text: &str) -> Cow<'c, [u8]> {
        Cow::Borrowed(self.arena.alloc_str(text).as_bytes())
    }
}
