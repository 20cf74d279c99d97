//! The members of an object, as they may be written.
//!
//! Texts without an escape are borrowed from the line. Each type says in its error what it expects,
//! and the parser adds the place.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

/// The members that are heeded. Two of one name are an error.
#[derive(Deserialize)]
pub(super) struct Members<'l> {
    #[serde(borrow)]
    pub url: Cow<'l, str>,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub error: Remark,
    #[serde(default, borrow)]
    pub fetched_at: Option<Text<'l>>,
    #[serde(default, borrow)]
    pub headers: Headers<'l>,
    #[serde(default)]
    pub redirects: Redirects,
    #[serde(default, borrow)]
    pub body: Option<Text<'l>>,
    #[serde(default, borrow)]
    pub body_base64: Option<Text<'l>>,
    #[serde(default)]
    pub truncated: Remark,
}

/// A text that is borrowed inside an `Option` too.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

impl<'l> Text<'l> {
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub fn into_bytes(self) -> Cow<'l, [u8]> {
        match self.0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A status, or that there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Status(u16);

impl Status {
    /// The most that three digits can say (RFC 9110, section 15).
    const MAX: u16 = 999;

    pub fn number(self) -> Option<u16> {
        (self.0 != 0).then_some(self.0)
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Status, D::Error> {
        deserializer.deserialize_any(StatusVisitor)
    }
}

struct StatusVisitor;

impl Visitor<'_> for StatusVisitor {
    type Value = Status;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status of at most three digits, or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Status, E> {
        Ok(Status(0))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Status, E> {
        match u16::try_from(number) {
            Ok(status @ 0..=Status::MAX) => Ok(Status(status)),
            _ => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    /// Programs that keep a column of numbers with gaps write 200.0.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Status, E> {
        let status = number as u16;
        if f64::from(status) == number && status <= Status::MAX {
            return Ok(Status(status));
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}

/// A member that matters by being there: why something failed, or that something was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remark(bool);

impl Remark {
    /// Whether it says anything: `null`, `false`, 0 and an empty text do not.
    pub fn is_said(self) -> bool {
        self.0
    }
}

impl<'de> Deserialize<'de> for Remark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Remark, D::Error> {
        deserializer.deserialize_any(RemarkVisitor)
    }
}

struct RemarkVisitor;

impl<'de> Visitor<'de> for RemarkVisitor {
    type Value = Remark;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Remark, E> {
        Ok(Remark(false))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Remark, E> {
        Ok(Remark(value))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Remark, E> {
        Ok(Remark(number != 0))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Remark, E> {
        Ok(Remark(number != 0))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Remark, E> {
        Ok(Remark(number != 0.0))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Remark, E> {
        Ok(Remark(!text.is_empty()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Remark, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Remark(true))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Remark, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Remark(true))
    }
}

/// The header fields that are heeded, in the order in which they stand.
#[derive(Default)]
pub(super) struct Headers<'l>(Vec<(&'static str, Cow<'l, str>)>);

impl<'l> Headers<'l> {
    const HEEDED: [&'static str; 6] =
        ["age", "cache-control", "content-type", "date", "expires", "location"];

    /// The first value of the field `name`, which is in lower case.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        let field = self.0.iter().find(|field| field.0 == name);
        field.map(|(_, value)| value.as_bytes())
    }

    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(name, value)| (*name, value.as_bytes()))
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Headers<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers<'l>, D::Error> {
        deserializer.deserialize_any(HeadersVisitor)
    }
}

struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of header fields, or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Headers<'de>, E> {
        Ok(Headers::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Headers<'de>, A::Error> {
        let mut headers = Headers::default();
        while let Some(Text(name)) = members.next_key()? {
            let heeded = Headers::HEEDED.iter().find(|heeded| name.eq_ignore_ascii_case(heeded));
            match heeded {
                None => drop(members.next_value::<IgnoredAny>()?),
                Some(heeded) => members.next_value_seed(FieldValues(heeded, &mut headers))?,
            }
        }
        Ok(headers)
    }
}

/// The value or values of the field with a name, added to the headers.
struct FieldValues<'h, 'l>(&'static str, &'h mut Headers<'l>);

impl<'de> serde::de::DeserializeSeed<'de> for FieldValues<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> FieldValues<'_, 'de> {
    fn add(&mut self, value: Cow<'de, str>) {
        let FieldValues(name, headers) = self;
        headers.0.push((name, value));
    }
}

impl<'de> Visitor<'de> for FieldValues<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text or a list of texts for the header field {}", self.0)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(mut self, value: &'de str) -> Result<(), E> {
        self.add(Cow::Borrowed(value));
        Ok(())
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        self.add(Cow::Owned(value.to_owned()));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while let Some(Text(value)) = values.next_element()? {
            self.add(value);
        }
        Ok(())
    }
}

/// How many redirects were followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Redirects(u32);

impl Redirects {
    pub fn count(self) -> u32 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Redirects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Redirects, D::Error> {
        deserializer.deserialize_any(RedirectsVisitor)
    }
}

struct RedirectsVisitor;

impl<'de> Visitor<'de> for RedirectsVisitor {
    type Value = Redirects;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of the redirects that were followed, or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Redirects, E> {
        Ok(Redirects(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Redirects, A::Error> {
        let mut count = 0_u32;
        while values.next_element::<Redirect>()?.is_some() {
            count = count.saturating_add(1);
        }
        Ok(Redirects(count))
    }
}

/// One redirect, of which only matters that it is one.
struct Redirect;

impl<'de> Deserialize<'de> for Redirect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Redirect, D::Error> {
        deserializer.deserialize_any(RedirectVisitor)
    }
}

struct RedirectVisitor;

impl<'de> Visitor<'de> for RedirectVisitor {
    type Value = Redirect;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL, or an object with a `url`")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Redirect, E> {
        Ok(Redirect)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Redirect, A::Error> {
        let mut has_url = false;
        while let Some(Text(name)) = members.next_key()? {
            has_url |= name == "url";
            members.next_value::<IgnoredAny>()?;
        }
        if !has_url {
            return Err(A::Error::missing_field("url"));
        }
        Ok(Redirect)
    }
}
