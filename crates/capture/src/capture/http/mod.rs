//! A stored HTTP response: status line, header fields, body.
//!
//! Owns RFC 9112 as archives keep it. They often hold the header as it was sent and the body as it
//! was understood, so a coding that the header names and that the body plainly is not in has been
//! undone already. What cannot be undone, or ends early, is said to be broken and is never handed
//! out as a shorter file.
//!
//! Cost: one pass over the header; the body is borrowed unless it has to be decoded, and decoded no
//! further than counts.

mod body;
mod chunks;
mod coding;
mod head;
#[cfg(test)]
mod tests;

pub(super) use body::{StoredBody, read_body};
pub(super) use coding::Coding;
pub(super) use head::{HeadProblem, Message};
