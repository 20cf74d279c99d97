//! The audit: what robots.txt does to a list of URLs, and what is wrong in the files.
//!
//! Owns the counting of one pass over a list and the [`Report`](model::Report) that comes of it.

pub mod model;
