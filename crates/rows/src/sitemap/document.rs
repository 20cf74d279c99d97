//! Reads one XML document of the sitemap protocol: the `<loc>` values of its entries.
//!
//! The root names the kind of the document: `urlset`, whose `<url><loc>` are pages, `sitemapindex`,
//! whose `<sitemap><loc>` are sitemaps, or a feed: `rss`, whose `<channel><item><link>` are pages, or
//! Atom's `feed`, of whose entries the `<link href>` that is an `alternate` counts. A `urlset` in
//! another one is read as part of it. Elements count if they are in the namespace
//! of the root, so `<image:loc>` is not a page, and a root with an old namespace or none is read as
//! well. Elements of other namespaces are skipped with all that they hold.
//!
//! A document that is not well-formed, or that has something of the root's namespace where the
//! protocol has none, is an error with its position: what follows would otherwise be lost without a
//! trace. Feeds have titles and texts, which are skipped. A document type declaration is skipped, so no entity
//! is ever expanded, except for those of XML itself.
//!
//! An entry without a `<loc>`, or with an empty one, is an empty value. White space around a value does
//! not belong to it, and a line end inside stays visible, as a TAB: such a value is no URL.
//!
//! Cost: one pass. Memory holds one value and one piece of markup, each up to
//! [`SITEMAP_MARKUP_BYTES_MAX`], and the names of the open elements.

use std::io::{Read, Take};

use memchr::memchr;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesDecl, BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::{Error, NsReader, XmlVersion};

use crate::input::{InputError, Source};
use crate::limits::{SITEMAP_DEPTH_MAX, SITEMAP_MARKUP_BYTES_MAX};

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A list of pages.
    Pages,
    /// A list of sitemaps.
    Sitemaps,
    /// A feed of RSS 2.0, or an earlier version without namespaces.
    Rss,
    /// An Atom feed.
    Atom,
}

/// The name of each kind of root, of an entry in it, and of the element with the URL in that.
const ROOTS: [(Root, [&str; 3]); 4] = [
    (Root::Pages, ["urlset", "url", "loc"]),
    (Root::Sitemaps, ["sitemapindex", "sitemap", "loc"]),
    (Root::Rss, ["rss", "item", "link"]),
    (Root::Atom, ["feed", "entry", "link"]),
];

impl Root {
    fn from_name(name: &str) -> Option<Root> {
        ROOTS.into_iter().find(|(_, names)| names[0] == name).map(|(root, _)| root)
    }

    /// Whether other elements than entries are skipped.
    fn is_feed(self) -> bool {
        matches!(self, Root::Rss | Root::Atom)
    }
}

/// The next part that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The document is of this kind.
    Root(Root),
    /// A value, which [`Document::value`] has.
    Value,
    /// The end.
    End,
}

/// A document that is being read.
pub(super) struct Document {
    /// The name of the input in errors.
    pub name: String,
    /// Reads as many bytes as one text or tag may have.
    reader: NsReader<Take<Source>>,
    buffer: Vec<u8>,
    place: PlaceInSitemap,
    /// The last value.
    pub value: Vec<u8>,
}

/// Where the reader is.
#[derive(Default)]
struct PlaceInSitemap {
    /// The kind of the document, and the namespace of its root.
    root: Option<(Root, Option<String>)>,
    /// The open elements, the innermost one last.
    open: Vec<Element>,
}

/// An open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    /// A root, or the channel of a feed: it holds entries.
    Entries,
    /// An entry, and whether it has had a `<loc>` or a link to its page.
    Entry { has_value: bool },
    /// The element with the URL of an entry, which holds its text.
    Loc,
    /// An element that does not count, such as one of another namespace, and all within.
    Skipped,
}

impl Document {
    /// Returns the document in `stream`.
    pub(super) fn new(stream: Source) -> Document {
        let name = stream.name().to_owned();
        let mut reader = NsReader::from_reader(stream.take(0));
        reader.config_mut().expand_empty_elements = true;
        let (buffer, value) = (Vec::new(), Vec::new());
        Document { name, reader, buffer, place: PlaceInSitemap::default(), value }
    }

    /// Whether its kind is known.
    pub(super) fn has_root(&self) -> bool {
        self.place.root.is_some()
    }

    /// Reads up to the next value.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or is not such a document.
    pub(super) fn next(&mut self) -> Result<Found, InputError> {
        match self.find() {
            Ok(found) => Ok(found),
            Err(Wrong::Xml(error)) => Err(self.error(error)),
            Err(Wrong::Document(problem)) => {
                Err(self.problem(self.reader.buffer_position(), &problem))
            }
        }
    }

    fn find(&mut self) -> Result<Found, Wrong> {
        loop {
            self.buffer.clear();
            self.reader.get_mut().set_limit(SITEMAP_MARKUP_BYTES_MAX as u64);
            let event = self.reader.read_event_into(&mut self.buffer)?;
            if self.reader.get_ref().limit() == 0 {
                return wrong(too_long());
            }
            let place = &mut self.place;
            match event {
                Event::Start(start) => {
                    let (resolved, _) = self.reader.resolver().resolve_element(start.name());
                    let namespace = match resolved {
                        ResolveResult::Bound(namespace) => Some(namespace.0),
                        ResolveResult::Unbound => None,
                        ResolveResult::Unknown(_) if place.open.is_empty() => {
                            return wrong("the prefix of its root is not declared");
                        }
                        // Foreign, whatever the prefix stands for.
                        ResolveResult::Unknown(_) => Some(""),
                    };
                    if let Some(root) = place.enter(&start, namespace, &mut self.value)? {
                        return Ok(Found::Root(root));
                    }
                }
                Event::End(_) => {
                    match place.open.pop() {
                        Some(Element::Loc) => trim_space(&mut self.value),
                        Some(Element::Entry { has_value: false }) => self.value.clear(),
                        // The value is that of its link.
                        Some(Element::Entry { .. }) if place.kind() == Some(Root::Atom) => {}
                        _ => continue,
                    }
                    return Ok(Found::Value);
                }
                Event::Text(text) => place.text(&text, &mut self.value)?,
                Event::CData(text) => place.text(&text, &mut self.value)?,
                Event::GeneralRef(entity) => {
                    let character = resolve(&entity)?;
                    place.text(&character, &mut self.value)?;
                }
                Event::Decl(declaration) => check_encoding(&declaration)?,
                Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
                Event::Empty(_) => unreachable!("empty elements are expanded"),
                Event::Eof => return place.end().map(|()| Found::End),
            }
        }
    }

    /// Returns the error of the input that ended the document, or that it is malformed.
    fn error(&mut self, error: Error) -> InputError {
        let source = self.reader.get_mut().get_mut();
        if source.has_failed()
            && let Some(failure) = source.take_failure()
        {
            return failure;
        }
        let problem = match error {
            _ if self.reader.get_ref().limit() == 0 => too_long(),
            Error::Encoding(_) => {
                "not UTF-8, as sitemaps must be; convert it first (iconv -t UTF-8)".to_owned()
            }
            error => error.to_string(),
        };
        self.problem(self.reader.error_position(), &problem)
    }

    fn problem(&self, at: u64, problem: &str) -> InputError {
        InputError::list(&self.name, format!("invalid sitemap at byte {at}: {problem}"))
    }
}

/// Why a document cannot be read.
enum Wrong {
    /// It is not XML, or the input failed.
    Xml(Error),
    /// It is not of the protocol.
    Document(String),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Wrong {
        Wrong::Xml(error)
    }
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Document(problem.into()))
}

fn too_long() -> String {
    format!("a text or a tag is longer than {SITEMAP_MARKUP_BYTES_MAX} bytes")
}

impl PlaceInSitemap {
    fn kind(&self) -> Option<Root> {
        self.root.as_ref().map(|(root, _)| *root)
    }

    /// Enters an element, and returns the kind of the document if the element is its root. The URL of an
    /// Atom entry is in an attribute, and becomes the `value`.
    fn enter(
        &mut self,
        start: &BytesStart<'_>,
        namespace: Option<&str>,
        value: &mut Vec<u8>,
    ) -> Result<Option<Root>, Wrong> {
        let local = start.local_name();
        let (name, depth): (&str, usize) = (local.as_ref(), self.open.len());
        let (Some(parent), Some((root, own))) = (self.open.last_mut(), &self.root) else {
            if self.root.is_some() {
                return wrong(format!("a second root, <{name}>"));
            }
            let Some(root) = Root::from_name(name) else {
                return wrong(format!(
                    "its root is <{name}>, not <urlset>, <sitemapindex>, <rss> or <feed>; extract its \
                     URLs first, one on each line"
                ));
            };
            self.root = Some((root, namespace.map(str::to_owned)));
            self.open.push(Element::Entries);
            return Ok(Some(root));
        };
        let [_, entry, loc] = ROOTS[*root as usize].1;
        let is_foreign = namespace != own.as_deref();
        let element = match parent {
            Element::Loc => return wrong(format!("<{name}> in <{loc}>")),
            Element::Entries if is_foreign && name == entry => {
                return wrong(format!("<{name}> in another namespace than its root"));
            }
            _ if is_foreign => Element::Skipped,
            Element::Entries => match (root, name) {
                (Root::Pages, "urlset") => Element::Entries,
                (Root::Rss, "channel") if depth == 1 => Element::Entries,
                // Outside of the channel.
                (Root::Rss, _) if depth == 1 => Element::Skipped,
                _ if name == entry => Element::Entry { has_value: false },
                _ if root.is_feed() => Element::Skipped,
                _ => return wrong(format!("<{name}> where <{entry}> is expected")),
            },
            Element::Entry { has_value } if name == loc && *root != Root::Atom => {
                *has_value = true;
                value.clear();
                Element::Loc
            }
            Element::Entry { has_value } if name == loc && !*has_value => {
                if let Some(page) = page_of_link(start)? {
                    (*value, *has_value) = (page, true);
                }
                Element::Skipped
            }
            Element::Entry { .. } | Element::Skipped => Element::Skipped,
        };
        if depth == SITEMAP_DEPTH_MAX {
            return wrong(format!("elements are nested deeper than {SITEMAP_DEPTH_MAX}"));
        }
        self.open.push(element);
        Ok(None)
    }

    /// Appends the text of a `<loc>` to `value`.
    fn text(&self, text: &str, value: &mut Vec<u8>) -> Result<(), Wrong> {
        let is_feed = self.kind().is_some_and(Root::is_feed) && !self.open.is_empty();
        match self.open.last() {
            Some(Element::Loc) => {}
            None | Some(Element::Entries | Element::Entry { .. })
                if !is_feed && !text.trim_ascii().is_empty() =>
            {
                return wrong("text outside of <loc>");
            }
            _ => return Ok(()),
        }
        // XML has no such characters, and a line break would be two records.
        if let Some(control) = text.bytes().find(|it| *it < 0x20 && !b"\t\n\r".contains(it)) {
            return wrong(format!("the character U+{control:04X} in <loc>"));
        }
        if value.len() + text.len() > SITEMAP_MARKUP_BYTES_MAX {
            return wrong(format!("a <loc> is longer than {SITEMAP_MARKUP_BYTES_MAX} bytes"));
        }
        value.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Checks that the document may end here.
    fn end(&self) -> Result<(), Wrong> {
        match (self.open.is_empty(), &self.root) {
            (true, Some(_)) => Ok(()),
            (true, None) => wrong("it has no element"),
            (false, _) => wrong("the file ends inside its root element; fetch it again"),
        }
    }
}

/// Returns the page that an Atom link leads to; `None` if it leads to something else.
fn page_of_link(link: &BytesStart<'_>) -> Result<Option<Vec<u8>>, Wrong> {
    let mut page = None;
    for attribute in link.attributes() {
        let attribute = attribute.map_err(Error::from)?;
        let name: &str = attribute.key.as_ref();
        let value = attribute.normalized_value(XmlVersion::default())?;
        match name {
            "href" => page = Some(value.trim_ascii().as_bytes().to_vec()),
            "rel" if value != "alternate" => return Ok(None),
            _ => {}
        }
    }
    match &page {
        Some(page) if page.iter().any(|byte| *byte < 0x20) => {
            wrong("a control character in the href of a <link>")
        }
        _ => Ok(page),
    }
}

/// Returns the character of a reference: by number, or one of the five of XML.
fn resolve(entity: &BytesRef<'_>) -> Result<String, Wrong> {
    if let Some(character) = entity.resolve_char_ref()? {
        return Ok(character.to_string());
    }
    let name: &str = entity;
    match resolve_xml_entity(name) {
        Some(character) => Ok(character.to_owned()),
        None => wrong(format!("the entity &{name}; is not one of XML's own; write the character")),
    }
}

/// Rejects a document that says that it is in another encoding than it is read in.
fn check_encoding(declaration: &BytesDecl<'_>) -> Result<(), Wrong> {
    let Some(encoding) = declaration.encoding().transpose().map_err(Error::from)? else {
        return Ok(());
    };
    // A text in UTF-16 is read as no XML at all, so a declaration that can be read is that of a text that was
    // converted since.
    let is_read = ["utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be"];
    if is_read.iter().any(|name| encoding.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    wrong(format!(
        "its encoding is {encoding}, and sitemaps must be UTF-8; convert it first (iconv -f \
         {encoding} -t UTF-8, and fix its first line)"
    ))
}

/// Removes white space at the ends. Line ends elsewhere become a TAB, so that the value is one line and,
/// as with any line end inside, no URL: clients disagree on the path.
fn trim_space(value: &mut Vec<u8>) {
    if value.iter().any(u8::is_ascii_whitespace) {
        let lines = value.trim_ascii().split(|byte| b"\n\r".contains(byte));
        let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
        *value = lines.join(&b'\t');
    }
}

/// Returns the kind of the document that begins with `text`, by its first element. `None` if that is no
/// root, or `text` ends before.
pub(crate) fn root_of(text: &[u8]) -> Option<Root> {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let (after, end) = match rest {
            [b'<', b'?', ..] => (2, &b"?>"[..]),
            [b'<', b'!', b'-', b'-', ..] => (4, &b"-->"[..]),
            [b'<', name @ ..] => {
                let end = name.iter().position(|byte| b" \t\r\n/>".contains(byte))?;
                let name = &name[..end];
                let local = memchr(b':', name).map_or(name, |at| &name[at + 1..]);
                return Root::from_name(str::from_utf8(local).ok()?);
            }
            _ => return None,
        };
        let at = memchr::memmem::find(&rest[after..], end)?;
        rest = &rest[after + at + end.len()..];
    }
}
