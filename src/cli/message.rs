//! Messages on standard error, one line each.
//!
//! File names, hosts and agents in messages are untrusted text. Every message goes through this
//! module, which escapes hidden characters. A closed standard error is ignored.

use std::fmt::Display;
use std::io::{self, Write as _};

use clap::error::{ContextKind, ContextValue};
pub use portcullis_robots::figures::counted;
use portcullis_robots::visible::visible;

/// Writes the program's name and a message.
pub fn say(message: impl Display) {
    say_plainly(format_args!("portcullis: {message}"));
}

/// Writes a message without the program's name.
pub fn say_plainly(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&message.to_string()));
}

/// Notes on how lists are read. They are shown at once, or kept for a JSON summary.
#[derive(Clone, Default)]
pub struct Notes {
    pub are_kept: bool,
    pub kept: Vec<String>,
}

impl Notes {
    pub fn add(&mut self, note: String) {
        match self.are_kept {
            true => self.kept.push(note),
            false => say_plainly(format_args!("note: {note}")),
        }
    }
}

/// Returns a usage error with the hidden characters of its arguments escaped.
pub fn shown(mut error: clap::Error) -> clap::Error {
    let text = |text: &String| visible(text).to_string();
    let typed: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(typed) => Some((kind, ContextValue::String(text(typed)))),
            ContextValue::Strings(typed) => {
                Some((kind, ContextValue::Strings(typed.iter().map(text).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in typed {
        if error.insert(kind, value.clone()) != Some(value) {
            // A suggestion repeats the argument.
            error.remove(ContextKind::Suggested);
        }
    }
    error
}
