//! Code that tests share. This crate is for development and is not published.
//!
//! - [`Random`]: seeded random numbers.
//! - [`words`] and [`scattered`]: all words over an alphabet, and all numbers in a shuffled order.
//! - [`World`]: files, each at its own origin, with questions and the oracle's answers.
//! - [`Captures`]: archived answers, compiled to a set.
//! - [`files`]: files of the project and what they should hold, damaged copies, and Parquet files.
//! - [`case`] and [`paste`]: the case files of `tests/data`, read and written.
//! - [`agree`]: the comparison of an engine with an oracle, in blocks, as `classify` decides. For a set of
//!   [`set_to_compare`] it notices what survives a block.
//!
//! [`Engine`] is a set, agents and a [`Configuration`]. It is the only user of a classifier among the
//! tests that compare decisions, so a change of that interface concerns one file.
//!
//! The crate imports `set` and what is below it. Unit tests of these crates use it as well, but only
//! for what has none of their own types (`Random`, `words`, `files`, `Captures`): their types here are those
//! of another build of the same crate.
//!
//! Functions panic if something fails, because a test then fails.
//!
//! ```
//! use portcullis_dialect::RFC_9309;
//! use portcullis_testkit::{Configuration, Form, World, origin};
//!
//! let mut world = World::new(&RFC_9309, None, &["ExampleBot"]);
//! let url = format!("{}/private/page", origin(0));
//! world.add(b"User-agent: *\nDisallow: /private\n", [url.into_bytes()]);
//! for form in Form::ALL {
//!     let engine = world.engine(&world.set(form), &Configuration::default());
//!     assert_eq!(world.agrees(&engine), 1);
//! }
//! ```

mod agree;
mod archive;
pub mod case;
mod companions;
mod engine;
pub mod files;
pub mod paste;
pub mod points;
mod random;
mod sets;
pub mod suite;
mod words;
mod world;

pub use self::agree::{Agreement, Difference, Judged, Oracle, agree, agree_in_shares};
pub use self::archive::{Captures, compiled, ingested, random_file};
pub use self::companions::set_to_compare;
pub use self::engine::{
    Configuration, Engine, Given, Memory, Refusal, Told, ask, classifier, configurations,
};
pub use self::random::Random;
pub use self::sets::{
    Form, at_origin, origin, parsed_origin, reseal, sections, set_at, set_everywhere, set_of,
};
pub use self::words::{scattered, words};
pub use self::world::{Answer, Question, World, agents, names};
