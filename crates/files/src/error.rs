//! Errors of files, and what to do about them.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The name of standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

/// Returns the system's text for an error, such as "no such file or directory".
pub fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    // The number does not help a reader.
    let text = text.split(" (os error ").next().unwrap_or(&text);
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// An output could not be written. The unfinished file is removed, and an earlier file is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("{}", match .error.kind() {
    ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
        let (path, text) = (path.display(), system_text(error));
        format!("{path} was changed while it was in use: {text}; check the disk, and run again")
    }
    ErrorKind::Interrupted => "interrupted; no set was written".to_owned(),
    ErrorKind::OutOfMemory => {
        let text = system_text(error);
        format!("too little memory (‹memory›) for the tables of distinct files and rules: {text}")
    }
    _ => format!("cannot write {}: {}; {}", path.display(), system_text(error), fix(error)),
})]
pub struct WriteError {
    path: PathBuf,
    error: io::Error,
}

impl WriteError {
    /// The failure of the file at `path`, or of what `path` names.
    pub fn new(path: impl AsRef<Path>, error: io::Error) -> WriteError {
        WriteError { path: path.as_ref().to_owned(), error }
    }

    /// Returns the kind of the system's error.
    pub fn kind(&self) -> ErrorKind {
        self.error.kind()
    }
}

/// The numbers of ENFILE and EMFILE, for which there is no [`ErrorKind`], on Unix systems.
const TOO_MANY_OPEN: [i32; 2] = [23, 24];

fn fix(error: &io::Error) -> &'static str {
    if cfg!(unix) && error.raw_os_error().is_some_and(|it| TOO_MANY_OPEN.contains(&it)) {
        return "raise the limit on open files (ulimit -n)";
    }
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or write elsewhere",
        ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f)",
        ErrorKind::NotFound => "create its folder first",
        ErrorKind::AlreadyExists => {
            "it appeared during the run, perhaps as another output whose name differs in case; name \
             another"
        }
        ErrorKind::InvalidInput => "a set replaces regular files only, so name one",
        ErrorKind::PermissionDenied => "make it, or its folder, writable",
        ErrorKind::ReadOnlyFilesystem => "write elsewhere",
        _ => "check the path",
    }
}
