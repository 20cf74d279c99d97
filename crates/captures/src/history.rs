//! Reads objects of hosts: the file of each, or its files by date, as studies of robots.txt publish them.
//!
//! ```json
//! {"a.example": {"2024-01-01": "User-agent: *\n"}, "b.example": "", "c.example": null}
//! ```
//!
//! `null` means that there was no answer. Cost: one pass; an object with millions of files takes the memory of one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::json_path::Text;
use super::schema::CaptureField;

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
    each: &mut dyn FnMut(FileOfHost<'_>),
) -> Result<(), serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_slice(text);
    parser.deserialize_map(Hosts(each))?;
    parser.end()
}

/// Whether a name can be a host, and not the path of a field, such as `answer.url`.
pub(super) fn is_host(name: &str) -> bool {
    let is_field = |label: &str| {
        let mut names = CaptureField::ALL.into_iter().flat_map(CaptureField::usual_names);
        names.any(|name| label.eq_ignore_ascii_case(name))
    };
    let label = name.rsplit_once('.').map(|(_, label)| label);
    !name.contains(' ') && label.is_some_and(|label| !is_field(label))
}

/// An object of hosts.
struct Hosts<'e>(&'e mut dyn FnMut(FileOfHost<'_>));

impl<'de> Visitor<'de> for Hosts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of hosts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(Text(host)) = members.next_key()? {
            if !is_host(&host) {
                return Err(A::Error::custom(format!("`{host}` is no host")));
            }
            members.next_value_seed(Files { host: &host, date: None, each: &mut *self.0 })?;
        }
        Ok(())
    }
}

/// The file of a host, at a date if it is given, or else the files of the host by date.
struct Files<'e> {
    host: &'e str,
    date: Option<&'e str>,
    each: &'e mut dyn FnMut(FileOfHost<'_>),
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

    fn visit_unit<E>(self) -> Result<(), E> {
        (self.each)(FileOfHost { host: self.host, date: self.date, body: None });
        Ok(())
    }

    fn visit_str<E>(self, body: &str) -> Result<(), E> {
        (self.each)(FileOfHost { host: self.host, date: self.date, body: Some(body) });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        let Files { host, date: None, each } = self else {
            return Err(A::Error::custom("an object instead of a file"));
        };
        while let Some(Text(date)) = files.next_key()? {
            files.next_value_seed(Files { host, date: Some(&date), each: &mut *each })?;
        }
        Ok(())
    }
}
