//! Checks the paths of a run: that no file is both read and written, that outputs can be written,
//! and that no path is a URL.
//!
//! The check is the same for all subcommands and runs before any file is opened. Every flag and
//! argument with a path is an input, unless [`OUTPUTS`] names it. Files are compared by device and
//! inode, so symbolic and hard links are recognized. A pipe, terminal or device may be both input
//! and output.

use std::fs::{self, Metadata};
#[cfg(unix)]
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::{Arg, ArgMatches, Command};

use super::lists;
use super::output::is_standard_output;

/// The flags with output paths.
const OUTPUTS: &[&str] =
    &["html", "invalid_to", "json", "out", "out_dir", "output", "rejects", "unknown_to"];

/// The flags in [`OUTPUTS`] whose paths are folders. The program creates them.
const FOLDERS: &[&str] = &["out", "out_dir"];

/// The argument for lists. A subcommand that has this argument reads standard input by default.
const LISTS: &str = "files";

/// Rejects a run with conflicting paths: an output that is also an input or another output, an
/// output that cannot be written, standard input that is read twice, or a path that is a URL.
///
/// # Errors
///
/// If there is a conflict. The message names the flag and the files.
pub fn check(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let mut files = Files::of(matches)?;
    let is_list = |argument: &Arg| argument.get_id() == LISTS;
    let takes_lists =
        command.find_subcommand(name).is_some_and(|it| it.get_arguments().any(is_list));
    // Without a list, `diff` compares sets or robots.txt files and does not read standard input.
    if takes_lists && name != "diff" && !matches.contains_id(LISTS) {
        files.add_argument(Path::new("-"))?;
    }
    ensure!(files.stdin_reads <= 1, "standard input can be read only once; give - only once");
    files.outputs.iter().enumerate().try_for_each(|(index, output)| {
        files.check_inputs(output)?;
        match files.outputs[..index].iter().find(|other| other.identity == output.identity) {
            None => Ok(()),
            Some(other) => {
                bail!("{} and {} are one file; name two different files", other.name, output.name)
            }
        }
    })
}

/// The files of a run.
#[derive(Default)]
struct Files {
    inputs: Vec<NamedFile>,
    outputs: Vec<NamedFile>,
    /// How often standard input is read.
    stdin_reads: u32,
}

struct NamedFile {
    /// The name of the file in messages.
    name: String,
    /// Empty for standard output.
    path: PathBuf,
    identity: Identity,
}

/// The identity of a file.
#[derive(PartialEq, Eq)]
enum Identity {
    /// An existing file or folder.
    #[cfg(unix)]
    There {
        device: u64,
        inode: u64,
    },
    /// The full path of an existing file, on systems without inodes.
    #[cfg(not(unix))]
    There(PathBuf),
    /// The full path of a file that does not exist yet.
    New(PathBuf),
    StandardOutput,
}

impl Files {
    fn of(matches: &ArgMatches) -> anyhow::Result<Files> {
        let mut files = Files::default();
        for id in matches.ids() {
            let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id.as_str()) else { continue };
            for path in paths {
                match OUTPUTS.contains(&id.as_str()) {
                    true => files.add_output(id.as_str(), path)?,
                    false => files.add_argument(path)?,
                }
            }
            if id == LISTS {
                // A pattern or a folder that cannot be read is reported elsewhere.
                let arguments: Vec<PathBuf> =
                    matches.get_many(LISTS).into_iter().flatten().cloned().collect();
                let lists = lists::expand_quietly(&arguments);
                lists.iter().for_each(|list| files.add_input(&list.path));
            }
        }
        // Standard output may be an input that grows while it is read.
        if let Some(identity) = standard_output().and_then(|it| Identity::of(Path::new("-"), &it)) {
            let name = "standard output".to_owned();
            files.outputs.push(NamedFile { name, path: PathBuf::new(), identity });
        }
        Ok(files)
    }

    /// Adds an input that is given as an argument.
    fn add_argument(&mut self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        ensure!(
            !is_url(path),
            "{shown}: a URL, not a file; portcullis fetches nothing, so download it first"
        );
        self.stdin_reads += u32::from(path == Path::new("-"));
        self.add_input(path);
        Ok(())
    }

    fn add_input(&mut self, path: &Path) {
        let (name, metadata) = match path == Path::new("-") {
            true => ("standard input".to_owned(), standard_input()),
            false => (path.display().to_string(), fs::metadata(path).ok()),
        };
        let identity = metadata.and_then(|it| Identity::of(path, &it));
        // A missing file is reported elsewhere.
        self.inputs.extend(identity.map(|identity| NamedFile {
            name,
            path: path.to_owned(),
            identity,
        }));
    }

    fn add_output(&mut self, id: &str, path: &Path) -> anyhow::Result<()> {
        check_output(path, FOLDERS.contains(&id))?;
        let identity = match fs::metadata(path) {
            _ if is_standard_output(path) => Some(Identity::StandardOutput),
            Ok(metadata) => metadata.is_file().then(|| Identity::of(path, &metadata)).flatten(),
            Err(_) => Identity::of_new(path),
        };
        let name = format!("--{} {}", id.replace('_', "-"), path.display());
        self.outputs.extend(identity.map(|identity| NamedFile {
            name,
            path: path.to_owned(),
            identity,
        }));
        Ok(())
    }

    fn check_inputs(&self, output: &NamedFile) -> anyhow::Result<()> {
        if let Some(input) = self.inputs.iter().find(|input| input.identity == output.identity) {
            bail!("{} is also an input ({}); write to another file", output.name, input.name);
        }
        let Ok(path) = fs::canonicalize(&output.path) else { return Ok(()) };
        for folder in path.ancestors().skip(1) {
            let identity = fs::metadata(folder).ok().and_then(|it| Identity::of(folder, &it));
            if let Some(input) =
                self.inputs.iter().find(|it| Some(&it.identity) == identity.as_ref())
            {
                bail!(
                    "{} already exists in the folder {}, which is an input; write to another file",
                    output.name,
                    input.name
                );
            }
        }
        Ok(())
    }
}

/// Whether a path that does not exist is a URL.
fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme && !path.exists()
}

/// Reports an output that cannot be written before hours of reading.
fn check_output(path: &Path, is_folder: bool) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(!is_url(path), "{shown}: a URL, not a file; portcullis writes to files only");
    if is_folder {
        ensure!(path != Path::new("-"), "a folder cannot go to standard output; name a folder");
        ensure!(!path.exists() || path.is_dir(), "{shown}: a file, not a folder; name a folder");
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(folder.is_none_or(Path::is_dir), "{shown}: no such folder; create it first");
    ensure!(!path.is_dir(), "{shown}: a folder; name a file");
    Ok(())
}

impl Identity {
    /// Returns the identity of a regular file or a folder, or `None` for a pipe, a terminal or a
    /// device.
    #[cfg(unix)]
    fn of(_: &Path, metadata: &Metadata) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt as _;

        let is_compared = metadata.is_file() || metadata.is_dir();
        is_compared.then(|| Identity::There { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Returns the identity of a regular file or a folder, or `None` for a pipe, a terminal or a
    /// device.
    #[cfg(not(unix))]
    fn of(path: &Path, metadata: &Metadata) -> Option<Identity> {
        let is_compared = metadata.is_file() || metadata.is_dir();
        is_compared.then(|| fs::canonicalize(path).ok()).flatten().map(Identity::There)
    }

    /// Returns the identity of a new file. `None` if the file cannot be created, which is reported
    /// elsewhere.
    fn of_new(path: &Path) -> Option<Identity> {
        let folder = match path.parent()? {
            folder if folder.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        Some(Identity::New(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
    }
}

/// The metadata of standard input.
#[cfg(unix)]
fn standard_input() -> Option<Metadata> {
    metadata_of(io::stdin())
}

/// The metadata of standard output, if it is a regular file.
#[cfg(unix)]
fn standard_output() -> Option<Metadata> {
    metadata_of(io::stdout()).filter(Metadata::is_file)
}

#[cfg(unix)]
fn metadata_of(stream: impl std::os::fd::AsFd) -> Option<Metadata> {
    fs::File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// Returns `None`: not known on this system.
#[cfg(not(unix))]
fn standard_input() -> Option<Metadata> {
    None
}

/// Returns `None`: not known on this system.
#[cfg(not(unix))]
fn standard_output() -> Option<Metadata> {
    None
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::builder::ValueParser;

    use super::super::args::Arguments;
    use super::*;

    /// A new output flag must be added to [`OUTPUTS`], or it counts as an input.
    #[test]
    fn every_path_under_the_heading_output_is_an_output() {
        let path = ValueParser::path_buf().type_id();
        let mut outputs = 0;
        for subcommand in Arguments::command().get_subcommands() {
            for flag in subcommand.get_arguments() {
                if flag.get_value_parser().type_id() == path
                    && flag.get_help_heading() == Some("Output")
                {
                    assert!(OUTPUTS.contains(&flag.get_id().as_str()), "{flag}");
                    outputs += 1;
                }
            }
        }
        assert!(outputs > 5, "{outputs}");
    }
}
