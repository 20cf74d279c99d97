//! The files of a run: what its arguments name, checked before any of them is read.
//!
//! Arguments are expanded here, once: folders, patterns, files of names. Every file that is missing is
//! reported before the run begins, and so is each conflict: a file that is both read and written, an output
//! that cannot be written, a path that is a URL.
//!
//! The check is the same for all subcommands. The type of an argument says what its path is: [`written`]
//! knows the types of outputs, of which only its module makes values. A [`PathBuf`], a [`SetAt`], a
//! [`ListPath`], a [`RobotsPath`], a [`CapturePath`] and the file of an [`AgentValue`] are read. Inputs
//! include the members of folders and the sitemaps of an index, and outputs the files that `--out-dir`
//! names after lists. Files are compared by identity (on Unix, device and inode), so symbolic and hard
//! links are recognized. A pipe, terminal or device may be both input and output.
//!
//! A sitemap that an index among the lists names is read with the index, and not a second time.
//!
//! Cost: each list is opened once, and read as far as shows whether it is an index of sitemaps, or Parquet.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};
use clap::ArgMatches;
use clap::parser::ValueSource;
use portcullis_captures::{CaptureFormat, folder};
use portcullis_files::atomic_file::{self, folder_of};
use portcullis_files::error::system_text;
use portcullis_files::expand::{Expanded, expand, file_of_names};
use portcullis_files::input::{InputError, Source};
use portcullis_files::kind::PARQUET;
use portcullis_rows::sitemap::files_of_index;
use portcullis_text::figures::counted;

use self::identity::Identified;
use super::agents::AgentValue;
use super::args::{CapturePath, ListPath, RobotsPath, UrlOrList};
use super::message::say;
use super::output::{OutputFile, STANDARD_OUTPUT, is_standard_output, values_of, written};
use super::values::{self, SetAt};

/// The advice about an output of a flag, or of a list, that is also an input.
const OTHER_FILE: &str = "write to another file";
const OTHER_FOLDER: &str = "name another folder with --out-dir";

/// The files of a run.
#[derive(Default)]
pub struct Files {
    /// The lists of URLs, without the sitemaps that are read with an index.
    pub lists: Expanded,
    /// How many of the lists begin as Parquet.
    pub parquet_lists: usize,
    /// Notes on sitemaps that are read with an index.
    pub notes: Vec<String>,
    /// The robots.txt files of `lint`.
    pub robots: Expanded,
    pub captures: Expanded,
    /// The files to read, and standard input as `-`.
    inputs: Vec<PathBuf>,
    /// The folders of robots.txt files to read.
    folders: Vec<PathBuf>,
    outputs: Vec<NamedFile>,
    /// Whether no list is named, so that standard input is read.
    pub names_no_list: bool,
    /// How often standard input is read.
    stdin_reads: u32,
}

/// The results of looking at the first bytes of a list.
#[derive(Default)]
struct Look {
    is_parquet: bool,
    /// The sitemaps of an index.
    sitemaps: Vec<PathBuf>,
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
    There(Identified),
    /// The full path of a file that does not exist yet.
    New(PathBuf),
    StandardOutput,
}

impl Files {
    /// Returns the files of a run, and rejects conflicting paths: an output that is also an input or
    /// another output, an output that cannot be written, standard input that is read twice, or a path
    /// that is a URL. Inputs that are missing are reported, all of them.
    ///
    /// # Errors
    ///
    /// If an input is missing, or there is a conflict. The message names the flag and the files.
    pub fn of(matches: &ArgMatches) -> anyhow::Result<Files> {
        let Some((_, matches)) = matches.subcommand() else { return Ok(Files::default()) };
        let mut files = Files::default();
        let mut missing = Vec::new();
        for id in matches.ids() {
            let id = id.as_str();
            for path in values_of::<PathBuf>(matches, id) {
                files.add_policies(path, &mut missing)?;
                if path.is_dir() {
                    files.folders.push(path.clone());
                }
            }
            for set in values_of::<SetAt>(matches, id) {
                files.add_policies(&set.path, &mut missing)?;
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
            files.add_expanded(matches, id)?;
        }
        let is_set = |id| matches.try_get_one::<bool>(id).is_ok_and(|it| it == Some(&true));
        // With --lenient, an archive that cannot be read is left out with a note.
        if !is_set("lenient") {
            let names = files.captures.inputs.iter().map(|input| &*input.path);
            missing.extend(names.filter_map(not_there));
        }
        let is_default = |id| matches.value_source(id) == Some(ValueSource::DefaultValue);
        files.names_no_list = matches.ids().any(|id| id.as_str() == "files" && is_default("files"));
        files.look_at_lists(is_set("keep_going"), &mut missing)?;
        // Standard output may be an input that grows while it is read.
        if let Some(identity) = identity::standard_output().map(Identity::There) {
            let name = STANDARD_OUTPUT.to_owned();
            files.outputs.push(NamedFile { name, identity, is_stream: true });
        }
        ensure!(files.stdin_reads <= 1, "standard input can be read only once; give - only once");
        files.check(&files.outputs, OTHER_FILE)?;
        if let Some(last) = missing.pop() {
            missing.into_iter().for_each(|error| say(format_args!("error: {error}")));
            return Err(last.into());
        }
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

    /// Adds policies, or a note that they are missing.
    fn add_policies(&mut self, path: &Path, missing: &mut Vec<InputError>) -> anyhow::Result<()> {
        check_local(path)?;
        missing.extend(not_there(path));
        self.add_input(path);
        Ok(())
    }

    fn add_input(&mut self, path: &Path) {
        self.stdin_reads += u32::from(path == Path::new("-"));
        self.inputs.push(path.to_owned());
    }

    /// Adds the files that the values of an argument name.
    fn add_expanded(&mut self, matches: &ArgMatches, id: &str) -> anyhow::Result<()> {
        let is_file = |_: &Path| Ok(false);
        let of_check = values_of(matches, id).filter_map(|url| match url {
            UrlOrList::List(path) => Some(&**path),
            UrlOrList::Url(_) => None,
        });
        let lists = values_of(matches, id).map(|ListPath(path)| &**path).chain(of_check);
        let lists: Vec<&Path> = lists.collect();
        if !lists.is_empty() {
            check_lists(lists.iter().copied())?;
            self.lists = self.added(&lists, expand(lists.iter().copied(), "list", &is_file)?);
            check_lists(self.lists.inputs.iter().map(|input| &*input.path))?;
        }
        let robots: Vec<&Path> = values_of(matches, id).map(|RobotsPath(path)| &**path).collect();
        if !robots.is_empty() {
            robots.iter().try_for_each(|path| check_local(path))?;
            self.robots = self.added(&robots, expand(robots.iter().copied(), "file", &is_file)?);
        }
        let captures: Vec<&Path> =
            values_of(matches, id).map(|CapturePath(path)| &**path).collect();
        if !captures.is_empty() {
            captures.iter().try_for_each(|path| check_local(path))?;
            let format = values_of::<CaptureFormat>(matches, "input_format").next().copied();
            let found = portcullis_captures::expand(captures.iter().copied(), format)?;
            self.captures = self.added(&captures, found);
        }
        Ok(())
    }

    /// Adds the files that arguments name, and returns them.
    fn added(&mut self, arguments: &[&Path], found: Expanded) -> Expanded {
        let of_names = arguments.iter().filter_map(|argument| file_of_names(argument));
        of_names.for_each(|path| self.add_input(path));
        for input in &found.inputs {
            if input.path.is_dir() {
                self.folders.push(input.path.clone());
            }
            self.add_input(&input.path);
        }
        found
    }

    /// Looks at the first bytes of the lists. Adds those that cannot be opened to `missing`, unless the
    /// run goes on without them.
    fn look_at_lists(
        &mut self,
        goes_on: bool,
        missing: &mut Vec<InputError>,
    ) -> anyhow::Result<()> {
        let mut looks = Vec::with_capacity(self.lists.inputs.len());
        for input in &self.lists.inputs {
            let look = Look::at(&input.path);
            looks.push(look.unwrap_or_else(|error| {
                missing.extend((!goes_on).then_some(error));
                Look::default()
            }));
        }
        self.parquet_lists = looks.iter().filter(|look| look.is_parquet).count();
        self.inputs.extend(looks.iter().flat_map(|look| look.sitemaps.clone()));
        self.join_to_indexes(&looks)
    }

    /// Leaves out the lists that are read with an index of sitemaps among the lists.
    fn join_to_indexes(&mut self, looks: &[Look]) -> anyhow::Result<()> {
        let full = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let inputs = std::mem::take(&mut self.lists.inputs);
        // The index that each sitemap is read with.
        let mut index_of: HashMap<PathBuf, usize> = HashMap::new();
        let mut is_left_out = vec![false; inputs.len()];
        for (number, look) in looks.iter().enumerate().filter(|(_, look)| !look.sitemaps.is_empty())
        {
            let named: Vec<PathBuf> = look.sitemaps.iter().map(|path| full(path)).collect();
            let other = named.iter().find_map(|path| index_of.get(path).copied());
            let shown = inputs[number].path.display();
            if let Some(other) = other {
                let other = inputs[other].path.display();
                ensure!(
                    named.iter().all(|path| index_of.contains_key(path)),
                    "{shown} and {other} are indexes of sitemaps that share some; name their sitemaps \
                     instead"
                );
                self.notes.push(format!("{shown}: left out: {other} has its sitemaps"));
                is_left_out[number] = true;
            } else {
                index_of.extend(named.into_iter().map(|path| (path, number)));
            }
        }
        let mut joined = vec![0_u64; inputs.len()];
        for (number, input) in inputs.iter().enumerate().filter(|_| !index_of.is_empty()) {
            if let Some(&index) = index_of.get(&full(&input.path)) {
                is_left_out[number] = true;
                joined[index] += 1;
            }
        }
        for (number, count) in joined.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let shown = inputs[number].path.display();
            let sitemaps = counted(count, "sitemap");
            self.notes
                .push(format!("{shown}: an index; {sitemaps} among the lists read once, with it"));
        }
        let kept = inputs.into_iter().zip(is_left_out).filter(|(_, is_left_out)| !is_left_out);
        self.lists.inputs = kept.map(|(input, _)| input).collect();
        Ok(())
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
        for path in &self.inputs {
            let (name, identity) = match path == Path::new("-") {
                true => ("standard input".to_owned(), identity::standard_input()),
                false => (path.display().to_string(), identity::of_path(path)),
            };
            if let Some(output) = identity.and_then(|it| written.get(&Identity::There(it))) {
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

impl Look {
    /// # Errors
    ///
    /// If the file is missing, or cannot be opened.
    fn at(path: &Path) -> Result<Look, InputError> {
        let metadata = match path == Path::new("-") {
            true => return Ok(Look::default()),
            false => fs::metadata(path).map_err(|error| InputError::open(path, error))?,
        };
        // A pipe is read once.
        if !metadata.is_file() {
            return Ok(Look::default());
        }
        let mut source = Source::open(path)?;
        source.fill(PARQUET.len());
        let is_parquet = source.buffer().starts_with(PARQUET);
        let sitemaps = if is_parquet { Vec::new() } else { files_of_index(source) };
        Ok(Look { is_parquet, sitemaps })
    }
}

/// Returns the error of a path where there is nothing.
fn not_there(path: &Path) -> Option<InputError> {
    let is_standard_input = path == Path::new("-");
    let error = fs::metadata(path).err().filter(|_| !is_standard_input)?;
    Some(InputError::open(path, error))
}

fn check_lists<'p>(mut paths: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
    match paths.find(|path| is_url(path)) {
        Some(url) => {
            bail!("{}: a URL, not a list of URLs; `portcullis check` takes URLs", url.display())
        }
        None => Ok(()),
    }
}

fn check_local(path: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_url(path),
        "{}: a URL, not a file; portcullis fetches nothing, so download it first",
        path.display()
    );
    Ok(())
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
            anyhow!("{shown}: cannot be written ({problem}); name another file, or remove it")
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
    /// Returns the identity of a regular file; `None` for a pipe, a terminal or a device, or if there is
    /// none.
    fn from_path(path: &Path) -> Option<Identity> {
        identity::of_path(path).map(Identity::There)
    }

    /// Returns the identity of a new file. `None` if the file cannot be created, which is reported
    /// elsewhere.
    fn from_new(path: &Path) -> Option<Identity> {
        let path = atomic_file::target_of(path).ok()?;
        Some(Identity::New(fs::canonicalize(folder_of(&path)).ok()?.join(path.file_name()?)))
    }
}

/// The identities of existing regular files. `None` for anything else.
#[cfg(unix)]
mod identity {
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    /// Device and inode.
    pub type Identified = (u64, u64);

    fn of(metadata: &Metadata) -> Option<Identified> {
        metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
    }

    pub fn of_path(path: &Path) -> Option<Identified> {
        of(&fs::metadata(path).ok()?)
    }

    fn of_stream(stream: &impl AsFd) -> Option<Identified> {
        let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
        of(&file.metadata().ok()?)
    }

    pub fn standard_input() -> Option<Identified> {
        of_stream(&io::stdin())
    }

    pub fn standard_output() -> Option<Identified> {
        of_stream(&io::stdout())
    }
}

#[cfg(not(unix))]
mod identity {
    use std::fs;
    use std::io;
    use std::path::Path;

    use same_file::Handle;

    pub type Identified = Handle;

    fn of(file: io::Result<Handle>) -> Option<Identified> {
        let file = file.ok()?;
        file.as_file().metadata().ok()?.is_file().then_some(file)
    }

    /// Only regular files are opened: opening a pipe would wait for its other end.
    pub fn of_path(path: &Path) -> Option<Identified> {
        fs::metadata(path).ok()?.is_file().then(|| Handle::from_path(path)).and_then(of)
    }

    pub fn standard_input() -> Option<Identified> {
        of(Handle::stdin())
    }

    pub fn standard_output() -> Option<Identified> {
        of(Handle::stdout())
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
