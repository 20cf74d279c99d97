//! Members of JSON objects by their paths: one walk for lists and for captures.
//!
//! [`Members`] parses an object once and returns the values at several paths. Members that no path names
//! are skipped. Cost: one pass; texts are borrowed unless they have escapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use bumpalo::Bump;
use portcullis_engine::bytes::are_same;
use portcullis_robots::access::{TimeUnit, is_date, seconds_of};

pub use super::json::{Json, JsonBlock, JsonError};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue<'r> {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Cow<'r, [u8]>),
    /// Seconds since 1970.
    Time(i64),
    /// A value as it is written.
    Json(&'r str),
    /// Any other value, by its name: "a list", "an object".
    Other(&'static str),
}

impl FieldValue<'_> {
    /// Returns the seconds since 1970 of the time that the value means; `None` if it is none. Numbers,
    /// also as text, are times if their unit is named, unless their digits are a date.
    #[inline]
    pub fn seconds(&self, unit: Option<TimeUnit>) -> Option<i64> {
        match self {
            FieldValue::Text(text) => seconds_of(text, unit),
            FieldValue::Number(number) => unit.filter(|_| !is_date(*number))?.seconds(*number),
            FieldValue::Time(seconds) => Some(*seconds),
            _ => None,
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
            FieldValue::Json(_) => "JSON",
            FieldValue::Other(kind) => kind,
        }
    }
}

/// The path of a member: names separated by dots. `\.` stands for a dot in a name.
///
/// A path leads into a text that is an object written as JSON too.
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

    /// Whether `name` is what a part of the path, or all of it, names: `written`.
    pub(crate) fn is_at(&self, name: &[u8], written: &str) -> bool {
        let written = written.as_bytes();
        are_same(name, written) || !self.is_given && name.eq_ignore_ascii_case(written)
    }

    /// Whether `name` is the name at `depth` of the path.
    pub fn has(&self, depth: usize, name: &[u8]) -> bool {
        self.names.get(depth).is_some_and(|step| self.is_at(name, step))
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

/// Returns an object with `null` for the numbers that JSON has not, as Python and DuckDB write them: `NaN`,
/// `Infinity` and `-Infinity`. `None` if there are none.
#[cold]
pub fn without_nan(text: &str) -> Option<String> {
    const NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let mut has_any = false;
    while let Some(at) = rest.find(['"', 'N', 'I', '-']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let number = NUMBERS.iter().find(|it| found.starts_with(**it));
        let bytes = match number {
            Some(number) => number.len(),
            None if found.starts_with('"') => end_of_string(found)?,
            None => 1,
        };
        out.push_str(if number.is_some() { "null" } else { &found[..bytes] });
        has_any |= number.is_some();
        rest = &found[bytes..];
    }
    out.push_str(rest);
    has_any.then_some(out)
}

/// Returns a text in which every string is valid: U+FFFD stands for bytes that are not UTF-8,
/// surrogates without a partner, other escapes than those of JSON and control characters. So the rest
/// of a damaged object can be read.
#[cold]
pub(crate) fn mended(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let (mut out, mut rest, mut is_inside) = (String::with_capacity(text.len()), &*text, false);
    while let Some(at) = rest.find(|letter: char| letter < ' ' || matches!(letter, '"' | '\\')) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        is_inside ^= found.starts_with('"');
        let escape = escape_bytes(found);
        let bytes = match escape {
            Some(bytes) => bytes,
            None if found.starts_with('\\') => {
                1 + found[1..].chars().next().map_or(0, char::len_utf8)
            }
            None => 1,
        };
        let is_valid = !is_inside || found.starts_with('"') || escape.is_some();
        out.push_str(if is_valid { &found[..bytes] } else { "\u{fffd}" });
        rest = &found[bytes..];
    }
    out + rest
}

/// Returns the length of the valid escape of JSON that a text begins with (RFC 8259, section 7).
fn escape_bytes(text: &str) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    match text.as_bytes() {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        _ => match unit(0)? {
            0xd800..0xdc00 => unit(6).filter(|low| (0xdc00..0xe000).contains(low)).map(|_| 12),
            0xdc00..0xe000 => None,
            _ => Some(6),
        },
    }
}

/// Returns the length of the string that a text begins with. `None` if it has no end.
fn end_of_string(text: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        at += text[at..].find(['"', '\\'])?;
        match text.as_bytes()[at] {
            b'"' => return Some(at + 1),
            // What follows may have several bytes, none of which is a quote.
            _ => at += 1 + text[at + 1..].chars().next()?.len_utf8(),
        }
    }
}

/// The most paths that are read from an object.
const PATHS_MAX: usize = u64::BITS as usize;

/// The sets of paths by length: of lengths that are so far apart, they are one.
const LENGTHS: usize = 64;

/// The members of objects to read, in one pass. Each path leads to one of several values; of the paths of
/// a value, the first that an object has counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    paths: Vec<MemberPath>,
    /// For each depth, the set of paths by a bit of the length of their name there: most names of a line have
    /// other lengths than those that are looked for.
    by_length: Vec<[u64; LENGTHS]>,
    /// The set of paths at which the first item of a list counts as the value.
    lists: u64,
    /// The set of paths whose values stay JSON.
    raw: u64,
}

/// A path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MemberPath {
    /// The number of the value.
    value: usize,
    /// The position among the paths of the value.
    rank: usize,
    path: FieldPath,
    /// The length of the names of objects, with a dot after each, that a flat object has in the last name of the path.
    flat_prefix: usize,
}

/// The value of a name in an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'l> {
    /// The rank, among those of the value, of the path or name that has it; [`usize::MAX`] if there is none.
    pub rank: usize,
    /// The value. Null if there is none.
    pub value: FieldValue<'l>,
    /// Whether an object has the member twice, or would have it in a damaged text, so that the value is
    /// not known.
    pub is_repeated: bool,
    /// Whether another path or name has another value, which does not count.
    pub has_other: bool,
}

impl Default for Found<'_> {
    fn default() -> Self {
        Found::NONE
    }
}

impl<'l> Found<'l> {
    /// Nothing.
    pub const NONE: Found<'static> =
        Found { rank: usize::MAX, value: FieldValue::Null, is_repeated: false, has_other: false };

    /// Sets the value under the name with a rank, unless a better name has one. Null counts less than
    /// any other value.
    #[inline]
    pub fn set(&mut self, rank: usize, value: FieldValue<'l>) {
        match self.rank {
            usize::MAX => (self.rank, self.value) = (rank, value),
            _ => self.set_again(rank, value),
        }
    }

    fn set_again(&mut self, rank: usize, value: FieldValue<'l>) {
        let is_null = value == FieldValue::Null;
        if !is_null && self.value != FieldValue::Null {
            self.has_other |= self.value != value;
        }
        if (is_null, rank) < (self.value == FieldValue::Null && !self.is_repeated, self.rank) {
            *self = Found { rank, value, is_repeated: false, has_other: self.has_other };
        }
    }
}

impl Members {
    /// Returns the members at `paths`, each with the number of its value. The values of `lists` may be
    /// in a list, and the values of `raw` stay JSON.
    ///
    /// # Errors
    ///
    /// If there are too many paths.
    pub fn new(
        paths: Vec<(usize, FieldPath)>,
        lists: &[usize],
        raw: &[usize],
    ) -> Result<Members, String> {
        if paths.len() > PATHS_MAX {
            return Err(format!("more than {PATHS_MAX} names of fields"));
        }
        let set = |values: &[usize]| {
            let paths = paths.iter().enumerate().filter(|(_, path)| values.contains(&path.0));
            paths.fold(0, |set, (number, _)| set | 1 << number)
        };
        let (lists, raw) = (set(lists), set(raw));
        let depths = paths.iter().map(|(_, path)| path.names().len()).max().unwrap_or(0);
        let mut by_length = vec![[0; LENGTHS]; depths];
        for (number, (_, path)) in paths.iter().enumerate() {
            for (sets, name) in by_length.iter_mut().zip(path.names()) {
                sets[name.len() % LENGTHS] |= 1 << number;
            }
        }
        let mut ranks = HashMap::new();
        let ranked = |(value, path): (usize, FieldPath)| {
            let next: &mut usize = ranks.entry(value).or_default();
            let rank = std::mem::replace(next, *next + 1);
            let last = path.names().last().map_or(&b""[..], |name| name.as_bytes());
            let flat_prefix = memchr::memrchr(b'.', last).map_or(0, |dot| dot + 1);
            MemberPath { value, rank, path, flat_prefix }
        };
        Ok(Members { lists, raw, by_length, paths: paths.into_iter().map(ranked).collect() })
    }

    /// Reads a text, an object, into `found`, and the members `near` a value. Texts with escapes are decoded into
    /// `arena`.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or a text with a member is damaged JSON.
    #[inline]
    pub fn read<'l>(
        &self,
        mut json: Json<'l>,
        arena: &'l Bump,
        found: &mut [Found<'l>],
        near: Option<&mut Near<'l>>,
    ) -> Result<(), JsonError> {
        let mut walk = Walk { members: self, arena, found, near, damage: None };
        ValueAt { depth: 0, paths: self.all(), ended: 0, walk: &mut walk }.read(&mut json)?;
        json.end()?;
        walk.damage.map_or(Ok(()), Err)
    }

    /// Reads a text, of a table, into `found`, as [`Members::read`] reads a text with members: one that does not
    /// begin as an object has none. Reads the members `near` a value too.
    ///
    /// # Errors
    ///
    /// If it begins as an object and is not JSON, or a text in it is so. The members in it are not known then.
    pub fn read_text<'l>(
        &self,
        text: &'l [u8],
        arena: &'l Bump,
        found: &mut [Found<'l>],
        near: Option<&mut Near<'l>>,
    ) -> Result<(), JsonError> {
        let mut walk = Walk { members: self, arena, found, near, damage: None };
        walk.enter(0, self.all(), text)?;
        walk.damage.map_or(Ok(()), Err)
    }

    /// Reads a text that is missing, as null.
    pub fn read_null(&self, found: &mut [Found<'_>]) {
        self.paths.iter().for_each(|it| found[it.value].set(it.rank, FieldValue::Null));
    }

    /// Returns the path with a number.
    pub fn path(&self, number: usize) -> &FieldPath {
        &self.paths[number].path
    }

    /// Returns the set of all paths.
    fn all(&self) -> u64 {
        u64::MAX.checked_shr(u64::BITS - self.paths.len() as u32).unwrap_or(0)
    }
}

/// The members next to a value that no path names, of those that `is_wanted` accepts by their names. It is asked about
/// names that may be usual ones, or have a letter in any case.
#[derive(Debug)]
pub struct Near<'l> {
    /// The number of the value.
    pub value: usize,
    pub usual: NameSet,
    pub letter: u8,
    pub is_wanted: fn(&str) -> bool,
    /// The names with their values, and the path of the value that they are next to.
    pub found: Vec<(&'l str, FieldValue<'l>, usize)>,
}

/// A pass over an object.
struct Walk<'w, 'l> {
    members: &'w Members,
    arena: &'l Bump,
    found: &'w mut [Found<'l>],
    near: Option<&'w mut Near<'l>>,
    /// The first problem of a text with members.
    damage: Option<JsonError>,
}

impl<'l> Walk<'_, 'l> {
    fn path(&self, number: usize) -> &FieldPath {
        &self.members.paths[number].path
    }

    /// Returns the first of `paths` that ends at the value of [`Near`] after `depth` names.
    #[inline]
    fn near_at(&self, paths: u64, depth: usize) -> Option<usize> {
        let value = self.near.as_ref()?.value;
        let ends = |&number: &usize| {
            self.members.paths[number].value == value && self.path(number).names().len() == depth
        };
        numbers(paths).find(ends)
    }

    /// Sets the value at the path with a number.
    #[inline]
    fn set(&mut self, number: usize, value: FieldValue<'l>) {
        let MemberPath { value: slot, rank, .. } = self.members.paths[number];
        self.found[slot].set(rank, value);
    }

    fn set_repeated(&mut self, number: usize) {
        let MemberPath { value, rank, .. } = self.members.paths[number];
        let slot = &mut self.found[value];
        if rank <= slot.rank {
            *slot = Found { rank, is_repeated: true, ..Found::NONE };
        }
    }

    /// Returns a name without the flat prefix of the path with a number, if it begins with it.
    #[inline]
    fn without_prefix<'n>(&self, number: usize, name: &'n [u8]) -> &'n [u8] {
        let MemberPath { path, flat_prefix, .. } = &self.members.paths[number];
        let strip = || name.strip_prefix(&path.names().last()?.as_bytes()[..*flat_prefix]);
        if *flat_prefix == 0 { name } else { strip().unwrap_or(name) }
    }

    #[inline]
    fn wants(&self, name: &[u8]) -> bool {
        self.near.as_ref().is_some_and(|near| {
            let could_be = || near.usual.may_have(name) || has_letter(name, near.letter);
            could_be() && str::from_utf8(name).is_ok_and(near.is_wanted)
        })
    }

    /// Reads a member next to the value at the path with a number.
    #[cold]
    fn read_near(
        &mut self,
        name: &'l [u8],
        number: usize,
        json: &mut Json<'l>,
    ) -> Result<(), JsonError> {
        let value = if let Some(b'{' | b'[') = json.peek() {
            FieldValue::Json(json.raw()?)
        } else {
            let slot = self.members.paths[number].value;
            let own = std::mem::take(&mut self.found[slot]);
            ValueAt { depth: 0, paths: 0, ended: 1 << number, walk: self }.read(json)?;
            std::mem::replace(&mut self.found[slot], own).value
        };
        if let (Some(near), Ok(name)) = (&mut self.near, str::from_utf8(name)) {
            near.found.push((name, value, number));
        }
        Ok(())
    }

    /// Follows paths into a text at a depth, if it begins as an object written as JSON. The rest of a damaged one
    /// is not known, so the members before the damage do not count. The members next to the text do.
    fn enter(&mut self, depth: usize, paths: u64, text: &'l [u8]) -> Result<(), JsonError> {
        if !text.trim_ascii_start().starts_with(b"{") {
            return Ok(());
        }
        let arena = self.arena;
        let mut read = |text| {
            let mut json = Json::new(text);
            ValueAt { depth, paths, ended: 0, walk: &mut *self }.read(&mut json)?;
            json.end()
        };
        let Err(error) = read(text) else { return Ok(()) };
        let read_again = match str::from_utf8(text).ok().and_then(without_nan) {
            // What was found before is found again.
            Some(text) => read(arena.alloc_str(&text).as_bytes()),
            None => Err(error),
        };
        if read_again.is_err() {
            numbers(paths).for_each(|number| self.set_repeated(number));
        }
        read_again
    }
}

/// Returns the problem of a text with members.
pub(crate) fn of_text(error: &JsonError) -> String {
    format!("a text with damaged JSON: {error}")
}

/// Returns the numbers in a set of paths.
#[inline]
fn numbers(mut paths: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = (paths != 0).then(|| paths.trailing_zeros() as usize)?;
        paths &= paths - 1;
        Some(number)
    })
}

/// A value at which the paths in a set end, or which they pass through.
struct ValueAt<'a, 'w, 'l> {
    depth: usize,
    paths: u64,
    /// The paths that end here.
    ended: u64,
    walk: &'a mut Walk<'w, 'l>,
}

impl<'l> ValueAt<'_, '_, 'l> {
    /// Reads the next value.
    fn read(self, json: &mut Json<'l>) -> Result<(), JsonError> {
        if self.walk.members.raw & self.ended != 0 {
            self.set(FieldValue::Json(json.raw()?));
            return Ok(());
        }
        match json.peek() {
            Some(b'"') => return self.read_text(json),
            Some(b'{') => return self.read_object(json),
            Some(b'[') => return self.read_list(json),
            Some(b'-' | b'0'..=b'9') => self.set(FieldValue::Number(json.number()?)),
            _ => match json.word()? {
                // What the paths lead to is null as well.
                b'n' => {
                    numbers(self.paths | self.ended)
                        .for_each(|it| self.walk.set(it, FieldValue::Null));
                }
                word => self.set(FieldValue::Boolean(word == b't')),
            },
        }
        Ok(())
    }

    /// Reads a text, and follows the paths that pass through it.
    #[inline]
    fn read_text(self, json: &mut Json<'l>) -> Result<(), JsonError> {
        let text = json.text(self.walk.arena)?;
        let paths = self.paths & !self.ended;
        // Only the first error counts, and making it reads the whole object.
        if paths != 0
            && let Err(error) = self.walk.enter(self.depth, paths, text)
            && self.walk.damage.is_none()
        {
            self.walk.damage = json.fail::<()>(of_text(&error)).err();
        }
        self.set(FieldValue::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn read_list(self, json: &mut Json<'l>) -> Result<(), JsonError> {
        if self.ended & self.walk.members.lists == 0 {
            json.skip()?;
            self.set(FieldValue::Other("a list"));
            return Ok(());
        }
        json.enter()?;
        let ValueAt { depth, ended, walk, .. } = self;
        let mut is_first = true;
        while json.goes_on(is_first, b']')? {
            match is_first {
                true => ValueAt { depth, paths: 0, ended, walk: &mut *walk }.read(json)?,
                false => json.skip()?,
            }
            is_first = false;
        }
        json.leave();
        Ok(())
    }

    #[inline]
    fn read_object(self, json: &mut Json<'l>) -> Result<(), JsonError> {
        json.take(b'{');
        let (depth, mut seen) = (self.depth, 0);
        let near = self.walk.near_at(self.paths, depth + 1);
        let mut is_first = true;
        while let Some(name) = json.next_name(is_first, self.walk.arena)? {
            is_first = false;
            let alike = self.walk.members.by_length.get(depth);
            let alike = alike.map_or(0, |sets| sets[name.len() % LENGTHS]) & self.paths;
            let has = |&number: &usize| self.walk.path(number).has(depth, name);
            let paths = numbers(alike).filter(has).fold(0, |set, number| set | 1 << number);
            if paths == 0 {
                let is_wanted =
                    |number: &usize| self.walk.wants(self.walk.without_prefix(*number, name));
                match near.filter(is_wanted) {
                    Some(number) => self.walk.read_near(name, number, json)?,
                    None => json.skip()?,
                }
                continue;
            }
            numbers(paths & seen).for_each(|number| self.walk.set_repeated(number));
            seen |= paths;
            let (depth, walk) = (depth + 1, &mut *self.walk);
            let ends = |&number: &usize| walk.path(number).names().len() == depth;
            let ended = numbers(paths).filter(ends).fold(0, |set, number| set | 1 << number);
            ValueAt { depth, paths, ended, walk }.read(json)?;
        }
        self.set(FieldValue::Other("an object"));
        Ok(())
    }

    #[inline(always)]
    fn set(self, value: FieldValue<'l>) {
        match self.ended {
            0 => {}
            one if one.is_power_of_two() => self.walk.set(one.trailing_zeros() as usize, value),
            _ => self.set_several(&value),
        }
    }

    #[cold]
    fn set_several(self, value: &FieldValue<'l>) {
        numbers(self.ended).for_each(|it| self.walk.set(it, value.clone()));
    }
}

/// A set of names in any case, of which it knows the lengths, and the first and last bytes: it may have others too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameSet([u64; 16]);

impl NameSet {
    /// Returns the set with another name.
    #[must_use]
    pub fn with(mut self, name: &[u8]) -> NameSet {
        let (word, bit) = NameSet::place(name);
        self.0[word] |= bit;
        self
    }

    /// Whether the name may be one of the set; true for each of its names.
    #[inline]
    pub fn may_have(self, name: &[u8]) -> bool {
        let (word, bit) = NameSet::place(name);
        self.0[word] & bit != 0
    }

    #[inline]
    fn place(name: &[u8]) -> (usize, u64) {
        // Letters of both cases are alike.
        let [first, last] =
            [name.first(), name.last()].map(|byte| byte.map_or(0, |byte| byte | 0x20));
        let [first, last] = [first, last].map(u16::from);
        let sum = (name.len() as u16).wrapping_mul(37) ^ (first * 5) ^ (last * 147);
        (usize::from(sum >> 6 & 15), 1 << (sum & 63))
    }
}

/// Whether a name has a letter, given in lower case, in any case. Members of a line have short names, for which a search
/// takes longer than two words.
#[inline(always)]
fn has_letter(name: &[u8], letter: u8) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let has = |bytes: u64| {
        let others = (bytes | (ONES << 5)) ^ (ONES * u64::from(letter));
        others.wrapping_sub(ONES) & !others & (ONES << 7) != 0
    };
    let ends = |bytes: &[u8]| -> Option<[u64; 2]> {
        Some([*bytes.first_chunk()?, *bytes.last_chunk()?].map(u64::from_ne_bytes))
    };
    match name.len() {
        8..=16 => ends(name).is_some_and(|ends| ends.into_iter().any(has)),
        4..8 => {
            let (first, last) = (name.first_chunk(), name.last_chunk());
            let word = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |it| u32::from_ne_bytes(*it));
            has(u64::from(word(first)) << 32 | u64::from(word(last)))
        }
        _ => name.iter().any(|byte| byte | 0x20 == letter),
    }
}

/// The bit of a length, in a set of lengths.
#[inline]
pub fn length_bit(length: usize) -> u64 {
    1 << (length % u64::BITS as usize)
}
