//! Checks the paths of a run: that no file is both read and written, that outputs can be written,
//! and that no path is a URL.
//!
//! The check is the same for all subcommands and runs before any file is opened. The type of an
//! argument says what its path is: [`written`] knows the types of outputs, of which only its module
//! makes values. A [`PathBuf`], a [`SetAt`], a [`ListPath`], a [`CapturePath`] and the file of an
//! [`AgentValue`] are read. Inputs
//! include the members of folders and the sitemaps of an index, and outputs the files that
//! `--out-dir` names after lists. Files are compared by identity (on Unix, device and inode), so symbolic and hard links are recognized.
//! A pipe, terminal or device may be both input and output.
//!
//! Cost: each output is opened once. If an output exists already, each input is opened, and each list
//! is read as far as shows that it is not an index of sitemaps.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};
use clap::ArgMatches;
use portcullis_captures::folder;
use portcullis_files::atomic_file::{self, folder_of};
use portcullis_files::error::system_text;
use portcullis_files::expand::{Input, expand, file_of_names};
use portcullis_rows::sitemap::files_of_index;
use same_file::Handle;

use super::agents::AgentValue;
use super::args::{CapturePath, ListPath};
use super::output::{OutputFile, STANDARD_OUTPUT, is_standard_output, values_of, written};
use super::values::{self, SetAt};

/// What to do about an output of a flag, or of a list, that is also an input.
const OTHER_FILE: &str = "write to another file";
const OTHER_FOLDER: &str = "name another folder with --out-dir";

/// The files of a run.
#[derive(Default)]
pub struct Files {
    /// The files to read, and standard input as `-`.
    inputs: Vec<PathBuf>,
    /// The lists of URLs to read.
    lists: Vec<PathBuf>,
    /// The folders of robots.txt files to read.
    folders: Vec<PathBuf>,
    outputs: Vec<NamedFile>,
    /// How often standard input is read.
    stdin_reads: u32,
}

/// An output.
struct NamedFile {
    /// The name of the file in messages.
    name: String,
    identity: Identity,
    /// Whether it is standard output, redirected to a file.
    is_stream: bool,
}

/// The identity of a file.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// An existing file.
    There(Handle),
    /// The full path of a file that does not exist yet.
    New(PathBuf),
    StandardOutput,
}

impl Files {
    /// Returns the files of a run, and rejects conflicting paths: an output that is also an input or
    /// another output, an output that cannot be written, standard input that is read twice, or a path
    /// that is a URL.
    ///
    /// # Errors
    ///
    /// If there is a conflict. The message names the flag and the files.
    pub fn of(matches: &ArgMatches) -> anyhow::Result<Files> {
        let Some((_, matches)) = matches.subcommand() else { return Ok(Files::default()) };
        let mut files = Files::default();
        for id in matches.ids() {
            let id = id.as_str();
            for path in values_of::<PathBuf>(matches, id) {
                files.add_input(path)?;
                if path.is_dir() {
                    files.folders.push(path.clone());
                }
            }
            for set in values_of::<SetAt>(matches, id) {
                files.add_input(&set.path)?;
            }
            // A pattern or a folder that cannot be read is reported elsewhere.
            for ListPath(list) in values_of(matches, id) {
                let lists = expand([&**list], "list", &|_| Ok(false)).unwrap_or_default().inputs;
                files.add_inputs(list, &lists)?;
                files.lists.extend(lists.into_iter().map(|it| it.path));
            }
            for CapturePath(captures) in values_of(matches, id) {
                let inputs = portcullis_captures::expand([&**captures], None);
                let inputs = inputs.unwrap_or_default().inputs;
                files.add_inputs(captures, &inputs)?;
                files.folders.extend(inputs.into_iter().map(|it| it.path).filter(|it| it.is_dir()));
            }
            let agents = values_of::<AgentValue>(matches, id).filter_map(AgentValue::file);
            files.inputs.extend(agents.map(Path::to_owned));
            for (path, is_folder) in written(matches, id) {
                let shown = path.display();
                ensure!(
                    !is_url(path),
                    "{shown}: a URL, not a file; portcullis writes to files only"
                );
                if is_folder {
                    check_folder(path)?
                } else {
                    check_output(path)?
                }
                let name = format!("--{} {shown}", id.replace('_', "-"));
                files.outputs.extend(NamedFile::new(name, path));
            }
        }
        // Standard output may be an input that grows while it is read.
        if let Some(identity) = Identity::of(Handle::stdout()) {
            let name = STANDARD_OUTPUT.to_owned();
            files.outputs.push(NamedFile { name, identity, is_stream: true });
        }
        ensure!(files.stdin_reads <= 1, "standard input can be read only once; give - only once");
        files.check(&files.outputs, OTHER_FILE)?;
        Ok(files)
    }

    /// Checks the files that `--out-dir` names after lists.
    ///
    /// # Errors
    ///
    /// If one of them is an input, another of them, or the output of another flag.
    pub fn check_outputs_of_lists(&self, outputs: &[OutputFile]) -> anyhow::Result<()> {
        let named = |path: &OutputFile| NamedFile::new(path.display().to_string(), path);
        let named: Vec<NamedFile> = outputs.iter().filter_map(named).collect();
        self.check(self.outputs.iter().chain(&named), OTHER_FOLDER)
    }

    fn add_input(&mut self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        ensure!(
            !is_url(path),
            "{shown}: a URL, not a file; portcullis fetches nothing, so download it first"
        );
        self.stdin_reads += u32::from(path == Path::new("-"));
        self.inputs.push(path.to_owned());
        Ok(())
    }

    /// Adds an argument, and the files that it names.
    fn add_inputs(&mut self, argument: &Path, named: &[Input]) -> anyhow::Result<()> {
        self.add_input(file_of_names(argument).unwrap_or(argument))?;
        let named = || named.iter().map(|input| &input.path).filter(|path| **path != *argument);
        named().try_for_each(|path| self.add_input(path))
    }

    fn check<'f>(
        &self,
        outputs: impl IntoIterator<Item = &'f NamedFile>,
        advice: &str,
    ) -> anyhow::Result<()> {
        let mut written: HashMap<&Identity, &NamedFile> = HashMap::new();
        for output in outputs {
            if let Some(other) = written.insert(&output.identity, output) {
                bail!("{} and {} are one file; name two different files", other.name, output.name);
            }
        }
        // A new file is no input.
        written.retain(|identity, _| matches!(identity, Identity::There(_)));
        if written.is_empty() {
            return Ok(());
        }
        let sitemaps: Vec<PathBuf> = self.lists.iter().flat_map(|it| files_of_index(it)).collect();
        for path in self.inputs.iter().chain(&sitemaps) {
            // A missing file is reported elsewhere.
            let (name, identity) = match path == Path::new("-") {
                true => ("standard input".to_owned(), Identity::of(Handle::stdin())),
                false => (path.display().to_string(), Identity::from_path(path)),
            };
            if let Some(output) = identity.and_then(|it| written.get(&it)) {
                bail!("{} is also an input ({name}); {advice}", output.name);
            }
        }
        // An entry of a folder that is not read, as its name is not a host, was hardly meant to be replaced
        // either. Standard output may be one, because the shell creates its file in the current folder. A
        // folder that cannot be listed is reported elsewhere.
        let members = self.folders.iter().flat_map(|folder| folder::entries(folder));
        for (member, is_read) in members.flatten() {
            if let Some(output) = Identity::from_path(&member).and_then(|it| written.get(&it))
                && (is_read || !output.is_stream)
            {
                bail!("{} is also an input ({}); {advice}", output.name, member.display());
            }
        }
        Ok(())
    }
}

impl NamedFile {
    /// Returns an output; `None` if it is a pipe, a terminal or a device, or cannot be created, which
    /// is reported elsewhere.
    fn new(name: String, path: &Path) -> Option<NamedFile> {
        let identity = match path.exists() {
            _ if is_standard_output(path) => Some(Identity::StandardOutput),
            true => Identity::from_path(path),
            false => Identity::from_new(path),
        };
        Some(NamedFile { name, identity: identity?, is_stream: false })
    }
}

/// Whether a path that does not exist is a URL.
fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    values::scheme(scheme).is_ok() && !path.exists()
}

/// Reports an output that cannot be written before hours of reading.
fn check_output(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(!path.as_os_str().is_empty(), "an output has no name; name a file");
    if is_standard_output(path) {
        return Ok(());
    }
    let text = |error| anyhow!("{shown}: {}", system_text(&error));
    let target = atomic_file::target_of(path).map_err(text)?;
    ensure!(folder_of(&target).is_dir(), "{shown}: no such folder; create it first");
    ensure!(!target.is_dir(), "{shown}: a folder; name a file");
    if target.is_file() {
        atomic_file::check(&target).map_err(|error| {
            let problem = system_text(&error);
            anyhow!(
                "{shown}: a file that may not be written ({problem}); name another, or remove it"
            )
        })?;
    }
    Ok(())
}

/// Reports an output folder that cannot be created.
fn check_folder(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(!path.as_os_str().is_empty(), "the folder has no name; name one, or . for this one");
    ensure!(path != Path::new("-"), "a folder cannot go to standard output; name a folder");
    ensure!(!path.exists() || path.is_dir(), "{shown}: a file, not a folder; name a folder");
    Ok(())
}

impl Identity {
    /// Returns the identity of a regular file, or `None` for a pipe, a terminal or a device.
    fn of(file: io::Result<Handle>) -> Option<Identity> {
        let file = file.ok()?;
        file.as_file().metadata().ok()?.is_file().then_some(Identity::There(file))
    }

    /// Like [`Identity::of`]. Only regular files are opened: opening a pipe would wait for its other
    /// end.
    fn from_path(path: &Path) -> Option<Identity> {
        fs::metadata(path).ok()?.is_file().then(|| Handle::from_path(path)).and_then(Identity::of)
    }

    /// Returns the identity of a new file. `None` if the file cannot be created, which is reported
    /// elsewhere.
    fn from_new(path: &Path) -> Option<Identity> {
        let path = atomic_file::target_of(path).ok()?;
        Some(Identity::New(fs::canonicalize(folder_of(&path)).ok()?.join(path.file_name()?)))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::builder::ValueParser;

    use super::super::args::Arguments;

    /// A path that is read has the type of an input, and would not be compared with the inputs.
    #[test]
    fn no_path_under_the_heading_output_is_an_input() {
        let path = ValueParser::path_buf().type_id();
        for subcommand in Arguments::command().get_subcommands() {
            for flag in subcommand.get_arguments() {
                let is_output = flag.get_help_heading() == Some("Output");
                assert!(!is_output || flag.get_value_parser().type_id() != path, "{flag}");
            }
        }
    }
}
