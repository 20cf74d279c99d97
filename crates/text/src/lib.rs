//! Text for people: untrusted text made safe to show, counts and sizes in words, and JSON that
//! hides nothing.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! Names, rules and URLs come from untrusted sources. All output for people goes through
//! [`visible`](mod@visible), numbers go through [`figures`], and [`json`] escapes what `visible`
//! escapes. Messages name settings as [`settings`] says. Exact records (TSV, the output of `filter`) do not
//! come here. Nothing fails.

pub mod figures;
pub mod json;
pub mod settings;
pub mod shell;
pub mod visible;
