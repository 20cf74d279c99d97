//! A URL to the origin that it belongs to and the path that rules are compared with.
//!
//! Three steps, each usable alone: [`split`] finds the parts, [`host_key`] brings the host into the
//! one form under which policies are filed, [`compared_path`] brings the path into the form that
//! patterns have too. [`Origin`] owns scheme, host and port, for those who keep policies. Matching a
//! path against rules is the business of the policy.
//!
//! This is no general URL parser. It is made for records of a crawl, which name resources at
//! servers: it resolves no reference, removes no dot segment and changes no path (RFC 9309, section
//! 2.2.2, compares bytes). What it cannot read is a [`BadUrl`], never a guess.
//!
//! Cost: one pass over the authority and one search for `#`. A URL whose host is in lower case and
//! whose path needs no escape is not copied; other hosts and paths are written to the caller's
//! scratch space, which is not allocated anew.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::target::{compared_path, host_key, split};
//!
//! let (mut host, mut path) = (Vec::new(), Vec::new());
//! let url = split(b"https://Example.COM:443?q=%7E#top", RFC_9309.paths.path_start)?;
//! assert_eq!(host_key(&url, &mut host)?, b"example.com");
//! assert_eq!(compared_path(url.path, RFC_9309.paths.escapes, &mut path).as_bytes(), b"/?q=~");
//! # Ok::<(), portcullis_robots::target::BadUrl>(())
//! ```

mod authority;
mod host;
mod ipv4;
mod origin;
mod path;
mod plain;
mod split;
#[cfg(test)]
mod tests;

pub use host::host_key;
pub use origin::{Origin, ROBOTS_TXT_PATH, default_port};
pub use path::{ComparedPath, ComparedPaths, compared_path};
pub use plain::{Glance, glances};
pub use plain::{PlainHead, is_plain_path, plain_head};
pub use split::{BadUrl, SplitUrl, split, split_assuming};
