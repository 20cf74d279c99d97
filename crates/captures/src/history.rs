//! Reads objects of hosts: the file of each, or its files by date, as studies of robots.txt publish them.
//!
//! ```json
//! {"a.example": {"2024-01-01": "User-agent: *\n"}, "b.example": "", "c.example": null}
//! ```
//!
//! `null` means that there was no answer. A name that a user gives to a field is none of a host, and neither is
//! one that ends like a field, such as `answer.url`. `.host` is a top-level domain too, so `shop.host` is a
//! host if it has a text that is not the name of one.
//!
//! Cost: one pass; an object with millions of files takes the memory of one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::json::Text;
use super::schema::{CaptureField, FieldMap};

/// A file in an object of hosts.
#[derive(Clone, Copy)]
pub(super) struct FileOfHost<'f> {
    pub host: &'f str,
    pub date: Option<&'f str>,
    /// `None` if there was no answer.
    pub body: Option<&'f str>,
}

/// Passes the files in an object of hosts to `each`, in order, repeated ones too.
///
/// # Errors
///
/// If it is no such object. The files before that were passed.
pub(super) fn read_files(
    text: &[u8],
    fields: &FieldMap,
    each: &mut dyn FnMut(FileOfHost<'_>),
) -> Result<(), serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_slice(text);
    parser.deserialize_map(Hosts { fields, each })?;
    parser.end()
}

/// Whether a member belongs to a host, by its name and its value, if that is a text or the beginning of one. It
/// is not if its name is the path of a field.
pub(super) fn is_host(name: &str, text: Option<&str>, fields: &FieldMap) -> bool {
    let is_field = |label: &str| {
        let mut names = CaptureField::ALL.into_iter().flat_map(CaptureField::usual_names);
        names.any(|name| label.eq_ignore_ascii_case(name))
    };
    let Some((_, label)) = name.rsplit_once('.').filter(|_| !name.contains(' ')) else {
        return false;
    };
    let is_domain = label.eq_ignore_ascii_case("host") && text.is_some_and(|text| !is_word(text));
    (is_domain || !is_field(label)) && !fields.has_member(name)
}

/// Whether a text may be the name or the URL of a host, and is no file.
fn is_word(text: &str) -> bool {
    let is_port_or_url = |(_, rest): (&str, &str)| {
        rest.starts_with("//") || !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    !text.is_empty()
        && !text.contains([' ', '\t', '\r', '\n', '#'])
        && text.split_once(':').is_none_or(is_port_or_url)
}

/// An object of hosts.
struct Hosts<'e> {
    fields: &'e FieldMap,
    each: &'e mut dyn FnMut(FileOfHost<'_>),
}

impl<'de> Visitor<'de> for Hosts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of hosts")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some(Text(host)) = members.next_key()? {
            let Hosts { fields, each } = &mut self;
            if !is_host(&host, Some(""), fields) {
                return Err(no_host(&host));
            }
            members.next_value_seed(Files { host: &host, date: None, fields, each })?;
        }
        Ok(())
    }
}

/// The file of a host, at a date if it is given, or else the files of the host by date.
struct Files<'e> {
    host: &'e str,
    date: Option<&'e str>,
    fields: &'e FieldMap,
    each: &'e mut dyn FnMut(FileOfHost<'_>),
}

impl Files<'_> {
    /// Checks once that the name belongs to a host with this text, or without one.
    fn check<E: Error>(&self, text: Option<&str>) -> Result<(), E> {
        match self.date.is_some() || is_host(self.host, text, self.fields) {
            true => Ok(()),
            false => Err(no_host(self.host)),
        }
    }
}

fn no_host<E: Error>(name: &str) -> E {
    E::custom(format!("`{name}` is no host"))
}

impl<'de> DeserializeSeed<'de> for Files<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Files<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file, or null")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.check(None)?;
        (self.each)(FileOfHost { host: self.host, date: self.date, body: None });
        Ok(())
    }

    fn visit_str<E: Error>(self, body: &str) -> Result<(), E> {
        self.check(Some(body))?;
        (self.each)(FileOfHost { host: self.host, date: self.date, body: Some(body) });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        self.check(None)?;
        let Files { host, date: None, fields, each } = self else {
            return Err(A::Error::custom("an object instead of a file"));
        };
        while let Some(Text(date)) = files.next_key()? {
            let date = Some(&*date);
            files.next_value_seed(Files { host, date, fields, each: &mut *each })?;
        }
        Ok(())
    }
}
