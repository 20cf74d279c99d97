//! Finds the values in a JSON object, the URL and its parts, the time and the agent: members by their paths.
//!
//! The whole line is parsed, so that a line that is not JSON has no URL. Cost: two passes over
//! a block, which check UTF-8 and mark where texts end ([`JsonBlock`]), and one over each line, whatever is read.

use std::borrow::Cow;

use bumpalo::Bump;

use super::host::UNREADABLE;
use super::noticed::{Doubts, Left, Noticed};
use super::place::{LeftPart, Place, Value, part_called, part_near, usual_names};
use super::values::{Values, doubt_of_time, kept};
use super::{FieldPath, ListFormat, Problem, advice};
use portcullis_captures::json_path::{
    FieldValue, Found, Json, JsonBlock, Members, NameSet, Near, without_nan,
};
use portcullis_captures::names::listed;
use portcullis_robots::access::{TimeUnit, in_range};

/// The members that are read from an object.
#[derive(Clone, Debug)]
pub(super) struct ObjectValues {
    members: Members,
    pub(super) asked: AskedValues,
    /// Whether the last value is read. It takes time to carry it along.
    has_client: bool,
    left: LeftParts,
}

/// The parts of the URL of a path that fields next to it may have, and that are not read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftParts {
    /// In the order of [`LeftPart::ALL`].
    are_left: [bool; LeftPart::ALL.len()],
    /// Their usual names.
    names: NameSet,
}

/// The values that are read from objects.
#[derive(Clone, Debug)]
pub(super) struct AskedValues {
    pub unit: Option<TimeUnit>,
    /// Where the values are.
    pub places: [Place; Value::ALL.len()],
    /// The paths of the members of the first object.
    pub fields: Vec<String>,
}

/// The places and texts that were found, by value, in the order of [`Value::ALL`].
pub(super) type FoundValues<'c> = [Found<'c>; Value::ALL.len()];

/// The text of an object, which begins at a place in a block.
pub(super) type TextAt<'c> = (&'c [u8], JsonBlock<'c>, usize);

/// The values that may be in a list: some servers log each header as a list of its values.
pub(super) const IN_LISTS: [usize; 2] = [Value::Agent as usize, Value::Host as usize];

/// The bit of [`Values::seen`] for objects, after the bits of the values.
const AN_OBJECT: u8 = 1 << Value::ALL.len();

impl ObjectValues {
    /// Returns the members of the URL at these paths, and of the other values at their `places`, as
    /// which that of the URL is given too. Fields next to the URL may have the parts that are `left`.
    /// `fields` are the paths of the members of the first object.
    ///
    /// # Errors
    ///
    /// If one is no path, or there are too many.
    pub(super) fn new(
        urls: Vec<FieldPath>,
        left: [bool; LeftPart::ALL.len()],
        places: [Place; Value::ALL.len()],
        unit: Option<TimeUnit>,
        fields: Vec<String>,
    ) -> Result<ObjectValues, String> {
        let mut paths: Vec<_> = urls.into_iter().map(|url| (Value::Url as usize, url)).collect();
        for (value, place) in places.iter().enumerate().skip(1) {
            paths.extend(place.paths()?.into_iter().map(|path| (value, path)));
        }
        let members = Members::new(paths, &IN_LISTS, &[])?;
        let has_client = !places[Value::Client as usize].names().is_empty();
        let asked = AskedValues { unit, places, fields };
        Ok(ObjectValues { members, asked, has_client, left: LeftParts::new(left) })
    }

    /// Returns the values in the object `text`.
    pub(super) fn read<'c>(&self, text: TextAt<'c>, arena: &'c Bump) -> Values<'c> {
        match self.has_client {
            true => self.read_first::<{ Value::ALL.len() }>(text, arena),
            false => self.read_first::<{ Value::ALL.len() - 1 }>(text, arena),
        }
    }

    /// Returns the first `COUNT` values.
    fn read_first<'c, const COUNT: usize>(
        &self,
        (text, block, start): TextAt<'c>,
        arena: &'c Bump,
    ) -> Values<'c> {
        let Some(whole) = block.checked(text, start) else {
            return Values::from_url(Err(Problem::NotUtf8));
        };
        let text = whole.trim_ascii_start();
        let start = start + whole.len() - text.len();
        let text = text.trim_ascii_end();
        if !text.starts_with('{') {
            return Values::from_url(Err(Problem::NotJson));
        }
        let mut found = [const { Found::NONE }; COUNT];
        let (json, mut near) = (Json::in_block(text, (block, start)), self.left.near());
        if self.members.read(json, arena, &mut found, near.as_mut()).is_err() {
            return match without_nan(text) {
                Some(text) => {
                    let text = arena.alloc_str(&text).as_bytes();
                    self.read((text, JsonBlock::new(text, arena), 0), arena)
                }
                None => Values::from_url(Err(Problem::NotJson)),
            };
        }
        let mut values = self.asked.values(&found);
        if let Some(near) = near.filter(|near| !near.found.is_empty()) {
            let left = self.left.in_members(near, &self.members, false, arena);
            values.left = arena.alloc_slice_copy(&left);
        }
        values
    }
}

impl LeftParts {
    pub(super) fn new(are_left: [bool; LeftPart::ALL.len()]) -> LeftParts {
        LeftParts { are_left, names: usual_names(|part| are_left[part as usize]) }
    }

    /// Returns what to look for in an object; `None` if nothing is left.
    #[inline]
    pub(super) fn near<'c>(&self) -> Option<Near<'c>> {
        let is_wanted = |name: &str| part_called(name.as_bytes(), true).is_some();
        // Other names of queries have a `q`.
        let (value, usual, letter) = (Value::Url as usize, self.names, b'q');
        let near = || Near { value, usual, letter, is_wanted, found: Vec::new() };
        self.are_left.contains(&true).then(near)
    }

    /// Returns the parts that were found near the URL in an object, which may be in a column.
    #[cold]
    pub(super) fn in_members<'c>(
        &self,
        near: Near<'c>,
        members: &Members,
        is_in_column: bool,
        arena: &'c Bump,
    ) -> Vec<Left<'c>> {
        let left = |(name, value, path): (&'c str, FieldValue<'c>, usize)| {
            let (own, parents) = members.path(path).names().split_last()?;
            let are_inside = is_in_column || !parents.is_empty();
            let part = part_near(own.as_bytes(), name.as_bytes(), are_inside);
            let part = part.filter(|part| self.are_left[*part as usize])?;
            let is_other = matches!(value, FieldValue::Json(_)) && may_be_other(part, name);
            if is_other { None } else { Left::of(part, value, arena) }
        };
        near.found.into_iter().filter_map(left).collect()
    }
}

/// Whether an object or a list under a name may be something else than the part, such as the parameters of a route.
pub(super) fn may_be_other(part: LeftPart, name: &str) -> bool {
    part == LeftPart::Target || name.eq_ignore_ascii_case("params")
}

impl<'c> Left<'c> {
    /// Returns the part with a value; `None` if it is null. One that cannot be read may be any.
    pub(super) fn of(part: LeftPart, value: FieldValue<'c>, arena: &'c Bump) -> Option<Left<'c>> {
        let value: &'c [u8] = match value {
            FieldValue::Text(text) => kept(text, arena),
            FieldValue::Null | FieldValue::Boolean(_) => return None,
            // Parsed queries without a parameter.
            FieldValue::Json(text) if text.bytes().all(|byte| b"{[]} \t\r\n".contains(&byte)) => {
                return None;
            }
            FieldValue::Number(number) if part == LeftPart::Port => {
                arena.alloc_str(&number.to_string()).as_bytes()
            }
            _ => UNREADABLE,
        };
        Some(Left { part, value })
    }
}

impl AskedValues {
    /// Returns the problem of the list called `name`, none of whose objects had a member that was named: for
    /// any value if all objects were read, or else for those that make a URL.
    pub(super) fn missing(
        &self,
        name: &str,
        format: ListFormat,
        Noticed { seen, .. }: Noticed,
        are_all: bool,
    ) -> Option<String> {
        let AskedValues { places, fields, .. } = self;
        let (number, value) = Value::ALL.into_iter().enumerate().find(|(number, value)| {
            let counts = are_all || matches!(value, Value::Url | Value::Host);
            counts
                && places[*number].is_asked()
                && !places[*number].names().is_empty()
                && seen >> number & 1 == 0
        })?;
        let names = places[number].names().join("` or `");
        let there = match &fields[..] {
            [] => String::new(),
            fields => format!("; the fields of the first are {}", listed(fields.iter())),
        };
        (seen & AN_OBJECT != 0).then(|| {
            let (noun, flag) = (value.noun(), value.flag());
            if let Some(problem) = advice::of_folder(name, &places[number], value) {
                return problem;
            }
            let way = match value.is_of(format) {
                true => format!("the {noun} of a line is {flag} record"),
                false => format!(
                    "choose the {noun} with {flag} NAME (alternatives are separated by commas)"
                ),
            };
            format!("no record has a field `{names}`{there}; {way}")
        })
    }

    /// Returns the values of an object, of which the client may be left out.
    #[inline]
    pub(super) fn values<'c>(&self, found: &[Found<'c>]) -> Values<'c> {
        let has = |found: &Found<'_>| found.rank != usize::MAX;
        let values = found.iter().enumerate();
        let seen = values.fold(AN_OBJECT, |seen, (number, it)| seen | u8::from(has(it)) << number);
        let [url, time, agent, host, query, scheme, rest @ ..] = found else {
            unreachable!("only the client may be left out");
        };
        let seconds = time.value.seconds(self.unit);
        Values {
            url: text_of(url).and_then(|url| url.ok_or(Problem::NoField)),
            time: seconds.and_then(in_range),
            agent: text_of(agent).unwrap_or_default(),
            host: part_of(host),
            query: part_of(query),
            scheme: part_of(scheme),
            client: rest.first().and_then(|client| text_of(client).unwrap_or_default()),
            doubts: match seconds {
                None if has(time) => doubt_of_time(&time.value, self.unit),
                _ => Doubts::default(),
            },
            seen,
            left: &[],
        }
    }
}

/// Returns a part of a URL. One that cannot be read is not that of records without one.
fn part_of<'c>(found: &Found<'c>) -> Option<&'c [u8]> {
    text_of(found).unwrap_or(Some(UNREADABLE))
}

/// Returns a text; `None` if there is none, or it is null.
fn text_of<'c>(found: &Found<'c>) -> Result<Option<&'c [u8]>, Problem> {
    match found {
        Found { rank: usize::MAX, .. } => Ok(None),
        Found { is_repeated: true, .. } => Err(Problem::RepeatedField),
        Found { value: FieldValue::Text(Cow::Borrowed(text)), .. } => Ok(Some(text)),
        Found { value: FieldValue::Null, .. } => Ok(None),
        _ => Err(Problem::NotAString),
    }
}
