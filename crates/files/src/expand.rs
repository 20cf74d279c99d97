//! The files that arguments name: files, folders, patterns and files of names, in a fixed order.
//!
//! A folder expands to all files below it, sorted by name. Names that begin with `.` or `_`
//! (`_SUCCESS`, `.part.crc`) are left out with a note, as in other readers of data folders, and so are
//! pipes and devices. A table of Delta Lake or Iceberg is an error, because its files have removed rows. An
//! argument that is not a file and has `*`, `?` or `[` is a pattern, for systems whose shell does not expand
//! patterns. `@FILE` names a file with one of these on each line, or each before a NUL, for more than a command
//! line holds, and `@-` is standard input; a file whose own name begins with `@` is `./@NAME`.
//!
//! ```
//! use portcullis_files::expand::expand;
//!
//! # let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("b.txt"), "")?;
//! std::fs::write(folder.path().join("a.txt"), "")?;
//! let found = expand([folder.path()], "list", &|_| Ok(false))?;
//! let names: Vec<_> = found.inputs.iter().map(|input| &*input.below).collect();
//! assert_eq!(names, ["a.txt", "b.txt"].map(std::path::Path::new));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use portcullis_robots::syntax::BYTE_ORDER_MARK;
use walkdir::WalkDir;

use crate::input::InputError;
use crate::limits::NAMES_FILE_BYTES_MAX;

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// The path relative to the argument that named the file. It becomes the name of the output in
    /// a folder.
    pub below: PathBuf,
}

/// The inputs that arguments name.
#[derive(Default)]
pub struct Expanded {
    /// The inputs, in order.
    pub inputs: Vec<Input>,
    /// The number of names in folders that were left out, because they begin with `.` or `_`.
    pub hidden: u64,
    /// The entries that were left out because they are neither files nor folders. A pipe may never
    /// end.
    pub special: Vec<PathBuf>,
}

/// Returns the inputs that `arguments` name. `noun` says what they are, in errors, and `is_input`
/// whether a folder is one as it is, instead of the files below it.
///
/// # Errors
///
/// If a folder cannot be read or has no input, or no file matches a pattern.
pub fn expand<'a>(
    arguments: impl IntoIterator<Item = &'a Path>,
    noun: &str,
    is_input: &dyn Fn(&Path) -> Result<bool, InputError>,
) -> Result<Expanded, InputError> {
    let mut expansion = Expansion { found: Expanded::default(), noun, is_input };
    for argument in arguments {
        match file_of_names(argument) {
            Some(file) => names_in(file)?.iter().try_for_each(|name| expansion.add(name))?,
            None => expansion.add(argument)?,
        }
    }
    Ok(expansion.found)
}

/// Returns FILE of an argument `@FILE`.
pub fn file_of_names(argument: &Path) -> Option<&Path> {
    argument.to_str()?.strip_prefix('@').map(Path::new)
}

/// Returns the names in a file, or in standard input: one on each line, or each before a NUL, which no
/// name has.
fn names_in(file: &Path) -> Result<Vec<PathBuf>, InputError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let names: Box<dyn io::Read> = match file == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(file)?),
        };
        names.take(NAMES_FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error| InputError::open(file, error))?;
    if text.len() as u64 > NAMES_FILE_BYTES_MAX {
        let problem = format!("longer than {NAMES_FILE_BYTES_MAX} bytes; is it a file of names?");
        return Err(InputError::list(file, problem));
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let (end, trims) = if text.contains(&0) { (0, false) } else { (b'\n', true) };
    let lines = text.split(|&byte| byte == end);
    let lines = lines.map(|line| if trims { line.trim_ascii() } else { line });
    let lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
    let name = |(number, line): (u64, &[u8])| {
        let wrong = |what| InputError::list(file, format!("line {number}: {what}"));
        match line.windows(3).any(|part| part == b"://") {
            true => Err(wrong(
                "a URL, but a file of names has a path on each line; omit the @ to read it as a list",
            )),
            false => path_of(line).ok_or_else(|| wrong("not UTF-8")),
        }
    };
    let names = lines.map(name);
    match names.collect::<Result<Vec<_>, _>>()? {
        names if names.is_empty() => Err(InputError::list(file, "names no file")),
        names => Ok(names),
    }
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    str::from_utf8(name).ok().map(PathBuf::from)
}

struct Expansion<'e> {
    found: Expanded,
    noun: &'e str,
    is_input: &'e dyn Fn(&Path) -> Result<bool, InputError>,
}

impl Expansion<'_> {
    fn add(&mut self, argument: &Path) -> Result<(), InputError> {
        let has_wildcard =
            || argument.as_os_str().as_encoded_bytes().iter().any(|it| b"*?[".contains(it));
        if argument.is_dir() {
            return self.add_folder(argument);
        }
        if has_wildcard() && argument.symlink_metadata().is_err() {
            return self.add_matching(argument);
        }
        self.push(argument.to_owned());
        Ok(())
    }

    fn push(&mut self, path: PathBuf) {
        let below = path.file_name().unwrap_or(OsStr::new("-")).into();
        self.found.inputs.push(Input { path, below });
    }

    /// Adds the files that match `pattern`, and the files in folders that match.
    fn add_matching(&mut self, pattern: &Path) -> Result<(), InputError> {
        // A text that is no pattern was meant as a name.
        let no_file = || InputError::list(pattern, "no such file or directory");
        let paths = pattern.to_str().and_then(|text| glob::glob(text).ok()).ok_or_else(no_file)?;
        let before = self.found.inputs.len();
        for path in paths {
            let path = path.map_err(|error| {
                let path = error.path().to_owned();
                InputError::open(path, error)
            })?;
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => self.add_folder(&path)?,
                Ok(metadata) if !metadata.is_file() => self.found.special.push(path),
                Ok(_) | Err(_) => self.push(path),
            }
        }
        self.check_more(before, pattern, "no file matches")
    }

    /// Checks that there are more inputs than before.
    fn check_more(&self, before: usize, path: &Path, problem: &str) -> Result<(), InputError> {
        let has_more = self.found.inputs.len() > before;
        if has_more { Ok(()) } else { Err(InputError::list(path, problem)) }
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), InputError> {
        if (self.is_input)(folder)? {
            self.push(folder.to_owned());
            return Ok(());
        }
        let before = self.found.inputs.len();
        let mut walk = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let (path, kind) = match entry {
                Ok(entry) => (entry.path().to_owned(), Some(entry.file_type())),
                Err(error) => match error.path().filter(|it| it.is_symlink() && !it.exists()) {
                    // As a name that an argument has, it is reported when it is opened.
                    Some(link_to_nothing) => (link_to_nothing.to_owned(), None),
                    None => return Err(walk_error(folder, error)),
                },
            };
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            if let Some(problem) = problem_of_table(&path) {
                let table = path.parent().and_then(Path::parent).filter(|_| name != DELTA_LOG);
                let table = table.or(path.parent()).unwrap_or(folder);
                return Err(InputError::list(table, problem));
            }
            if path != folder && matches!(name, [b'.' | b'_', ..]) {
                self.found.hidden += 1;
                if kind.is_some_and(|it| it.is_dir()) {
                    walk.skip_current_dir();
                }
            } else if kind.is_none_or(|it| it.is_file()) {
                let below = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                self.found.inputs.push(Input { path, below });
            } else if kind.is_some_and(|it| !it.is_dir()) {
                self.found.special.push(path);
            }
        }
        self.check_more(before, folder, &format!("the folder has no {}", self.noun))
    }
}

/// The folder with the changes of a Delta Lake table.
const DELTA_LOG: &[u8] = b"_delta_log";

/// Returns the problem of a folder in which `path` shows that it is a table whose files also have rows that the
/// table no longer has. `None` if it does not.
fn problem_of_table(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_in_metadata = || path.parent().is_some_and(|it| it.ends_with("metadata"));
    match () {
        () if name == DELTA_LOG => Some(
            "a Delta Lake table, whose files also have rows that were removed; write its rows to a \
             Parquet file first, from dt.to_pyarrow_table()",
        ),
        () if name.ends_with(b".metadata.json") && is_in_metadata() => Some(
            "an Iceberg table, whose files also have rows that were removed; write its rows to a Parquet \
             file first, from table.scan().to_arrow()",
        ),
        () => None,
    }
}

fn walk_error(folder: &Path, error: walkdir::Error) -> InputError {
    let path = error.path().unwrap_or(folder).to_owned();
    let circle = "a symbolic link to a folder above it; remove it, or name the files";
    match error.into_io_error() {
        Some(error) => InputError::open(path, error),
        None => InputError::list(path, circle),
    }
}
