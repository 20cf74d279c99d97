//! URLs: a record to the origin it belongs to and the path that rules are compared with.
//!
//! Three steps, each usable alone: [`split`] finds the parts, [`host_key`] brings the host into the
//! canonical form under which policies are stored, and [`compared_path`] brings the path into the
//! normal form of patterns. [`plain_head`] and [`plain_urls`] shortcut all three for most URLs.
//! [`Origin`] owns scheme, host and port.
//!
//! This is not a general URL parser: it resolves no references, removes no dot segments and changes
//! no path (RFC 9309, section 2.2.2, compares bytes). Invalid records are a [`BadUrl`], never a
//! guess.
//!
//! Cost: one pass over the authority and one search for `#`. A URL whose host is in lower case and
//! whose path needs no escape is not copied; others are written to the caller's buffers.
//!
//! ```
//! use portcullis_dialect::RFC_9309;
//! use portcullis_robots::url::{compared_path, host_key, split};
//!
//! let (mut host, mut path) = (Vec::new(), Vec::new());
//! let url = split(b"https://Example.COM:443?q=%7E#top", RFC_9309.paths.path_start)?;
//! assert_eq!(host_key(&url, &mut host)?, b"example.com");
//! assert_eq!(compared_path(url.path, RFC_9309.paths.escapes, &mut path), b"/?q=~");
//! # Ok::<(), portcullis_robots::url::BadUrl>(())
//! ```

mod escape;
mod host;
mod normal;
mod plain;
mod requested;
mod split;
#[cfg(test)]
mod tests;

use portcullis_dialect::Escapes;

pub use escape::normalise;
pub use host::{Origin, ROBOTS_TXT_PATH, default_port, host_key, robots_txt_url};
pub(crate) use normal::{are_plain, index_page, push_normal_text};
pub use normal::{index_page_text, normal_text};
pub(crate) use plain::IsPlain;
pub use plain::{
    EachUrl, PlainUrl, UnusualBytes, UrlBeginning, UrlHead, UrlText, is_plain, plain_head,
    plain_urls,
};
pub use requested::{is_requested_otherwise, may_be_odd};
pub use split::{BadUrl, SplitUrl, split, split_assuming, unclear_path};
pub(crate) use split::{ends_in_control, scheme_name_bytes};

/// Returns `path` in the normal form of `escapes`, after prepending `/` unless it starts with one:
/// an empty path is `/`, and `?q` is `/?q`.
///
/// The result is `path` itself if nothing changes, otherwise it is in `scratch`.
///
/// ```
/// use portcullis_dialect::Escapes;
/// use portcullis_robots::url::compared_path;
///
/// let mut scratch = Vec::new();
/// assert_eq!(compared_path(b"", Escapes::Uri, &mut scratch), b"/");
/// assert_eq!(compared_path(b"?a b", Escapes::Uri, &mut scratch), b"/?a%20b");
/// ```
#[inline]
pub fn compared_path<'a>(path: &'a [u8], escapes: Escapes, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    match path.first() {
        Some(b'/') => normalise(path, escapes, scratch),
        None => b"/",
        Some(_) => rooted(path, escapes, scratch),
    }
}

/// Normalises `path` with `/` prepended.
#[cold]
fn rooted<'a>(path: &[u8], escapes: Escapes, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let mut own = Vec::new();
    let normal = normalise(path, escapes, &mut own);
    scratch.clear();
    scratch.push(b'/');
    scratch.extend_from_slice(normal);
    scratch
}
