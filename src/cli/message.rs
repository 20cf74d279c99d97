//! Messages on standard error, one line each.
//!
//! File names, hosts and agents in them are strangers' text, so every message goes through here, and
//! none of it steers the terminal. The run goes on without a word where standard error is closed.

use std::fmt::Display;
use std::io::{self, Write as _};

use clap::error::{ContextKind, ContextValue};
use portcullis::visible::visible;

/// Writes the program's name and a message.
pub fn say(message: impl Display) {
    say_plainly(format_args!("portcullis: {message}"));
}

/// Writes a message alone.
pub fn say_plainly(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&message.to_string()));
}

/// The same error of wrong usage, with what was typed as people may see it.
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
            // A tip repeats what was typed.
            error.remove(ContextKind::Suggested);
        }
    }
    error
}
