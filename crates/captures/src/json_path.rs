//! Members of JSON objects by their paths: one walk for lists and for captures.
//!
//! [`read`] parses an object once and hands the values at several paths to a [`Walk`]. Members that no
//! path names are skipped. Cost: one pass; texts are borrowed unless they have escapes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use portcullis_robots::access::{TimeUnit, seconds_of};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue<'r> {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Cow<'r, [u8]>),
    /// Seconds since 1970.
    Time(i64),
    /// Any other value, by its name: "a list", "an object".
    Other(&'static str),
}

impl FieldValue<'_> {
    /// Returns the seconds since 1970 of the time that the value means; `None` if it is none. Numbers,
    /// also as text, are times if their unit is named.
    pub fn seconds(&self, unit: Option<TimeUnit>) -> Option<i64> {
        match self {
            FieldValue::Text(text) => seconds_of(text, unit),
            FieldValue::Number(number) => unit?.seconds(*number),
            FieldValue::Time(seconds) => Some(*seconds),
            FieldValue::Null | FieldValue::Boolean(_) | FieldValue::Other(_) => None,
        }
    }

    /// Returns the type of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            FieldValue::Null => "null",
            FieldValue::Boolean(_) => "a boolean",
            FieldValue::Number(_) => "a number",
            FieldValue::Text(_) => "text",
            FieldValue::Time(_) => "a time",
            FieldValue::Other(kind) => kind,
        }
    }

    /// Whether a value whose presence matters counts as present.
    pub(crate) fn is_set(&self) -> bool {
        match self {
            FieldValue::Null => false,
            FieldValue::Boolean(value) => *value,
            FieldValue::Number(number) => *number != 0.0,
            FieldValue::Text(text) => !text.is_empty(),
            FieldValue::Other(_) => true,
            FieldValue::Time(_) => true,
        }
    }
}

/// The path of a member: names separated by dots. `\.` stands for a dot in a name.
///
/// A path leads into a text that is an object written as JSON too, where texts are kept.
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
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the path with these names.
    pub fn from_names(names: Vec<String>) -> FieldPath {
        FieldPath { names, is_given: true }
    }

    /// Returns the path of a top-level member with a usual name.
    pub fn usual(name: &str) -> FieldPath {
        FieldPath { names: vec![name.to_owned()], is_given: false }
    }

    /// Whether `name` is the name of the column of a table that the path, written `whole`, means.
    pub(crate) fn is_at(&self, name: &str, whole: &str) -> bool {
        if self.is_given { name == whole } else { name.eq_ignore_ascii_case(whole) }
    }

    /// Whether `name` is the name at `depth` of the path.
    pub fn has(&self, depth: usize, name: &str) -> bool {
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

/// The most paths of one walk.
pub const PATHS_MAX: usize = u64::BITS as usize;

/// What to read from an object. Paths have numbers below [`PATHS_MAX`].
pub trait Walk<'l> {
    /// Returns the number of paths.
    fn paths(&self) -> usize;

    /// Returns a path.
    fn path(&self, number: usize) -> &FieldPath;

    /// Receives the value at a path.
    ///
    /// # Errors
    ///
    /// If the object is to be rejected.
    fn value(&mut self, number: usize, value: FieldValue<'l>) -> Result<(), String>;

    /// Receives a path of which an object has a member twice.
    fn repeated(&mut self, _: usize) {}

    /// Returns a text with escapes that were decoded.
    fn decoded(&self, text: &str) -> Cow<'l, [u8]> {
        Cow::Owned(text.as_bytes().to_vec())
    }

    /// Whether the first item of a list counts as the value at one of the paths in a set.
    fn takes_first(&self, _: u64) -> bool {
        false
    }

    /// Returns the first of the paths in a set whose value [`Walk::read`] reads.
    fn nested(&self, _: u64) -> Option<usize> {
        None
    }

    /// Reads the value at a path with a shape of its own.
    ///
    /// # Errors
    ///
    /// If it has another shape.
    fn read<D: Deserializer<'l>>(&mut self, _: usize, value: D) -> Result<(), D::Error> {
        IgnoredAny::deserialize(value).map(drop)
    }
}

/// Reads the only value of `parser`.
///
/// # Errors
///
/// If it is not JSON, or the walk rejects it.
pub fn read<'l, R: serde_json::de::Read<'l>>(
    parser: &mut serde_json::Deserializer<R>,
    walk: &mut impl Walk<'l>,
) -> Result<(), serde_json::Error> {
    let paths = u64::MAX.checked_shr(u64::BITS - walk.paths() as u32).unwrap_or(0);
    ValueAt { depth: 0, paths, ended: 0, walk }.deserialize(&mut *parser)?;
    parser.end()
}

/// Returns the numbers in a set of paths.
#[inline]
pub fn numbers(mut paths: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = (paths != 0).then(|| paths.trailing_zeros() as usize)?;
        paths &= paths - 1;
        Some(number)
    })
}

/// A value at which the paths in a set end, or which they pass through.
struct ValueAt<'w, W> {
    depth: usize,
    paths: u64,
    /// Those that end here.
    ended: u64,
    walk: &'w mut W,
}

impl<W> ValueAt<'_, W> {
    /// Follows the paths that pass through a text, if it is an object written as JSON.
    #[inline]
    fn enter<'l>(&mut self, text: &'l [u8])
    where
        W: Walk<'l>,
    {
        let (depth, paths) = (self.depth, self.paths & !self.ended);
        if paths != 0 && text.trim_ascii_start().starts_with(b"{") {
            let within = ValueAt { depth, paths, ended: 0, walk: &mut *self.walk };
            // A text that is no JSON after all has none of the members.
            let _ = within.deserialize(&mut serde_json::Deserializer::from_slice(text));
        }
    }

    #[inline(always)]
    fn set<'l, E: Error>(self, value: FieldValue<'l>) -> Result<(), E>
    where
        W: Walk<'l>,
    {
        match self.ended {
            0 => Ok(()),
            one if one.is_power_of_two() => {
                self.walk.value(one.trailing_zeros() as usize, value).map_err(E::custom)
            }
            _ => self.set_several(value),
        }
    }

    #[cold]
    fn set_several<'l, E: Error>(self, value: FieldValue<'l>) -> Result<(), E>
    where
        W: Walk<'l>,
    {
        numbers(self.ended)
            .try_for_each(|number| self.walk.value(number, value.clone()))
            .map_err(E::custom)
    }
}

impl<'l, W: Walk<'l>> DeserializeSeed<'l> for ValueAt<'_, W> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.walk.nested(self.ended) {
            None => deserializer.deserialize_any(self),
            Some(number) => {
                self.walk.read(number, deserializer)?;
                // A second value is an error.
                self.set(FieldValue::Null)
            }
        }
    }
}

impl<'l, W: Walk<'l>> Visitor<'l> for ValueAt<'_, W> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.set(FieldValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.set(FieldValue::Boolean(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.set(FieldValue::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.set(FieldValue::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.set(FieldValue::Number(number))
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(mut self, text: &'l str) -> Result<(), E> {
        self.enter(text.as_bytes());
        self.set(FieldValue::Text(Cow::Borrowed(text.as_bytes())))
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        let text = self.walk.decoded(text);
        if let Cow::Borrowed(text) = text {
            self.enter(text);
        }
        self.set(FieldValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut items: A) -> Result<(), A::Error> {
        if self.ended == 0 || !self.walk.takes_first(self.ended) {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return self.set(FieldValue::Other("a list"));
        }
        let ValueAt { depth, ended, walk, .. } = self;
        let has_item = items.next_element_seed(ValueAt { depth, paths: 0, ended, walk })?.is_some();
        while has_item && items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    #[inline]
    fn visit_map<A: MapAccess<'l>>(self, mut members: A) -> Result<(), A::Error> {
        let (depth, mut seen) = (self.depth, 0);
        let name = |number| self.walk.path(number).names().get(depth).map_or(0, String::len);
        let lengths = numbers(self.paths).fold(0, |set, number| set | length_bit(name(number)));
        while let Some(paths) = members.next_key_seed(NameAt {
            depth,
            paths: self.paths,
            lengths,
            walk: &*self.walk,
        })? {
            if paths == 0 {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            numbers(paths & seen).for_each(|number| self.walk.repeated(number));
            seen |= paths;
            let (depth, walk) = (depth + 1, &mut *self.walk);
            let ends = |&number: &usize| walk.path(number).names().len() == depth;
            let ended = numbers(paths).filter(ends).fold(0, |set, number| set | 1 << number);
            members.next_value_seed(ValueAt { depth, paths, ended, walk })?;
        }
        self.set(FieldValue::Other("an object"))
    }
}

/// Selects the paths that have a name at a depth.
struct NameAt<'w, W> {
    depth: usize,
    paths: u64,
    /// The [bits](length_bit) of the names that are looked for. Most names of a line have others.
    lengths: u64,
    walk: &'w W,
}

#[inline]
fn length_bit(length: usize) -> u64 {
    1 << (length % u64::BITS as usize)
}

impl<'l, W: Walk<'l>> DeserializeSeed<'l> for NameAt<'_, W> {
    type Value = u64;

    #[inline]
    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'l, W: Walk<'l>> Visitor<'l> for NameAt<'_, W> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<u64, E> {
        if self.lengths & length_bit(name.len()) == 0 {
            return Ok(0);
        }
        let has = |&number: &usize| self.walk.path(number).has(self.depth, name);
        Ok(numbers(self.paths).filter(has).fold(0, |set, number| set | 1 << number))
    }
}
