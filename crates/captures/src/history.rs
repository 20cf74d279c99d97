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

use bumpalo::Bump;
use portcullis_dialect::dialect::GOOGLE;
use portcullis_robots::syntax::{Content, records};

use super::json::{Json, JsonError};
use super::schema::{CaptureField, FieldMap};

/// A file in an object of hosts.
#[derive(Clone, Copy)]
pub(super) struct FileOfHost<'f> {
    pub host: &'f str,
    pub date: Option<&'f str>,
    /// `None` if there was no answer.
    pub body: Option<&'f str>,
}

/// Why a text is no object of hosts.
#[derive(Debug)]
pub(super) enum NoHosts {
    /// It is another value.
    Other,
    /// Its members are named like hosts, and this one has another value than a host.
    Misfit(String),
    /// It is damaged.
    Damaged,
}

impl From<JsonError> for NoHosts {
    fn from(_: JsonError) -> NoHosts {
        NoHosts::Damaged
    }
}

pub(super) type Checked = Result<(), NoHosts>;

/// Passes the files in an object of hosts to `each`, in order, repeated ones too.
///
/// # Errors
///
/// If it is no such object. The files before that were passed.
pub(super) fn read_files(
    text: &[u8],
    fields: &FieldMap,
    each: &mut dyn FnMut(FileOfHost<'_>),
) -> Checked {
    let (mut json, mut sink) = (Json::new(text), Sink { each, misfit: None });
    read_members(&mut json, &mut |host, json| read_host(json, (host, None), fields, &mut sink))?;
    json.end()?;
    sink.misfit.map_or(Ok(()), |name| Err(NoHosts::Misfit(name)))
}

/// Returns the hosts whose files are lost in an object that is neither a capture nor one of hosts: all members that
/// are named like hosts, if one of them has a robots.txt, or if `are_hosts`.
pub(super) fn lost_hosts(text: &[u8], fields: &FieldMap, are_hosts: bool) -> Vec<String> {
    let (mut hosts, mut has_file) = (Vec::new(), are_hosts);
    let _ = read_members(&mut Json::new(text), &mut |name, json| {
        if !is_host(name, Some(""), fields) {
            return Ok(json.skip()?);
        }
        hosts.push(name.to_owned());
        match json.peek() {
            Some(b'{') => read_members(json, &mut |_, json| take_file(json, &mut has_file)),
            _ => take_file(json, &mut has_file),
        }
    });
    if has_file { hosts } else { Vec::new() }
}

/// Takes a value, which may be a robots.txt: a text with a record of one that is no request of HTTP.
fn take_file(json: &mut Json<'_>, has_file: &mut bool) -> Checked {
    if json.peek() != Some(b'"') {
        return Ok(json.skip()?);
    }
    let arena = Bump::new();
    let text = json.text(&arena)?;
    let first = text.split(|byte| b"\r\n".contains(byte)).next().unwrap_or_default();
    let words: Vec<&[u8]> = first.split(|byte| *byte == b' ').collect();
    let is_request = matches!(words[..], [b"GET" | b"HEAD" | b"POST", _, version] if version.starts_with(b"HTTP/"));
    let mut lines = records(text, &GOOGLE, None).map(|line| line.content);
    let is_known = |line| matches!(line, Content::Record(record) if record.field.is_some());
    *has_file |= !is_request && lines.any(is_known);
    Ok(())
}

/// Takes what is read of hosts.
struct Sink<'e> {
    each: &'e mut dyn FnMut(FileOfHost<'_>),
    /// The first host with another value than its files.
    misfit: Option<String>,
}

/// Takes an object. `read` is given the name of each member, and takes its value.
fn read_members<'l>(
    json: &mut Json<'l>,
    read: &mut dyn FnMut(&str, &mut Json<'l>) -> Checked,
) -> Checked {
    if !json.take(b'{') {
        return Err(NoHosts::Other);
    }
    let (mut arena, mut is_first) = (Bump::new(), true);
    while let Some(name) = json.next_name(is_first, &arena)? {
        read(&String::from_utf8_lossy(name), json)?;
        is_first = false;
        arena.reset();
    }
    Ok(())
}

/// Takes the file of a host, at a date if it is given, or else the files of the host by date.
fn read_host(
    json: &mut Json<'_>,
    (host, date): (&str, Option<&str>),
    fields: &FieldMap,
    sink: &mut Sink<'_>,
) -> Checked {
    let is_named = |text: Option<&str>| date.is_some() || is_host(host, text, fields);
    let arena = Bump::new();
    let body = match json.peek() {
        Some(b'"') => Some(String::from_utf8_lossy(json.text(&arena)?)),
        Some(b'{') if date.is_none() && is_named(None) => {
            return read_members(json, &mut |date, json| {
                read_host(json, (host, Some(date)), fields, sink)
            });
        }
        Some(b'n') => {
            json.skip()?;
            None
        }
        _ if !is_named(Some("")) => return Err(NoHosts::Other),
        _ => {
            json.skip()?;
            sink.misfit.get_or_insert_with(|| host.to_owned());
            return Ok(());
        }
    };
    if !is_named(body.as_deref()) {
        return Err(NoHosts::Other);
    }
    (sink.each)(FileOfHost { host, date, body: body.as_deref() });
    Ok(())
}

/// Whether a member belongs to a host, by its name and its value, if that is a text or the beginning of one. It
/// is not if its name is the path of a field.
pub(super) fn is_host(name: &str, text: Option<&str>, fields: &FieldMap) -> bool {
    let is_field = |label: &str| {
        let mut names = CaptureField::ALL.into_iter().flat_map(CaptureField::usual_names);
        names.any(|name| label.eq_ignore_ascii_case(name))
    };
    let Some((_, label)) = name.rsplit_once('.').filter(|_| !name.contains(' ')) else {
        return is_local(name) && !fields.has_member(name);
    };
    let is_domain = label.eq_ignore_ascii_case("host") && text.is_some_and(|text| !is_word(text));
    (is_domain || !is_field(label)) && !fields.has_member(name)
}

/// Whether a host is `localhost` or an address in brackets, perhaps with a port: no field is named so.
fn is_local(name: &str) -> bool {
    name == "localhost" || name.starts_with("localhost:") || name.starts_with('[')
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
