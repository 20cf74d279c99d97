//! Transcripts: pages in Markdown whose commands are run, and must print what the page shows.
//!
//! `tests/cli/SUBCOMMAND/*.md` describe the program by example; the README and the pages of `docs/`
//! are run as well. The blocks of a page share a folder that starts with the files of
//! `tests/cli/files`, or `tests/cli/docs/PAGE`, and are run by a shell:
//!
//! - `console`: after `$ `, a command, which goes on in lines with `> `; then its exit status as
//!   `? STATUS`, unless it is 0, or 2 with an error; then its standard output and its standard error,
//!   without the usage after an error. A block without `$ ` is not run.
//! - `sh`: a script that must succeed. A `text` block after it is its standard output. A script that
//!   is not to be run is `bash`; one whose first word is no command here (`duckdb`, `python3`) is shown.
//! - `LANGUAGE FILE`: the content of a file, which is written.
//!
//! Times, rates and hashes, which may differ, are shown as `[..]`. `WRITE=1 cargo test -p portcullis-cli --test
//! cli` writes what the program prints into the pages; read the difference before you commit it.

use std::process::{Command, Stdio};

use super::*;

/// Runs the transcripts of a subcommand.
#[track_caller]
fn run_folder(name: &str) {
    let folder = project("tests/cli").join(name);
    let mut pages: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty(), "{name} has no transcript");
    for page in pages {
        run_page(&page, &project("tests/cli/files"), Scripts::Run);
    }
}

/// Runs a page in a copy of `files`.
#[track_caller]
fn run_page(path: &Path, files: &Path, scripts: Scripts) {
    let folder = tempfile::tempdir().unwrap();
    copy(files, folder.path());
    let text = fs::read_to_string(path).unwrap();
    let page = Page { folder: folder.path(), lines: text.lines(), scripts, script: None };
    let printed = page.run();
    assert_stored(path, &printed);
}

/// Returns a copy of a folder in which its `setup.sh` has run.
fn set_up(files: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(files, folder.path());
    assert_status(&shell(folder.path(), "sh -eu setup.sh"), 0);
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Whether `sh` blocks are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scripts {
    Run,
    Shown,
}

/// A page that is run.
struct Page<'p> {
    folder: &'p Path,
    lines: std::str::Lines<'p>,
    scripts: Scripts,
    /// The output of the last script, if no block came after it.
    script: Option<String>,
}

/// Lets a script go on after `diff` found a change, or `lint` an error.
const DIFFERENCES: &str = "\
portcullis() {
    command portcullis \"$@\" || {
        case $?$1 in 1diff | 1lint) ;; *) return 2 ;; esac
    }
}
";

impl<'p> Page<'p> {
    /// Returns the page with what its commands print now.
    fn run(mut self) -> String {
        let mut page = String::new();
        while let Some(line) = self.lines.next() {
            page.extend([line, "\n"]);
            let Some(info) = line.strip_prefix("```") else { continue };
            let block: Vec<&str> = self.lines.by_ref().take_while(|line| *line != "```").collect();
            page.push_str(&self.block(info, &block));
            page.push_str("```\n");
        }
        page
    }

    /// Runs a block and returns its lines.
    fn block(&mut self, info: &str, lines: &[&'p str]) -> String {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let script = self.script.take();
        match (info, info.split_once(' ')) {
            (_, Some((_, name))) => {
                let path = self.folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, &text).unwrap();
                text
            }
            ("sh", _) if self.scripts == Scripts::Run && self.can_run(&text) => {
                let output = self.shell(&format!("{DIFFERENCES}set -eu\n{text}"));
                assert_status(&output, 0);
                self.script = Some(printed(&output.stdout));
                text
            }
            ("text", _) if script.is_some() => kept_or_new(&text, &script.unwrap_or_default()),
            ("console", _) if text.starts_with("$ ") => self.commands(lines),
            _ => text,
        }
    }

    /// Whether the first word of a script is a command.
    fn can_run(&self, script: &str) -> bool {
        let word = script.split_whitespace().next().unwrap_or("true");
        self.shell(&format!("command -v {word}")).status.success()
    }

    fn commands(&self, lines: &[&str]) -> String {
        let mut shown = String::new();
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let mut command =
                line.strip_prefix("$ ").expect("a command follows an output").to_owned();
            shown.extend([line, "\n"]);
            while let Some(line) = lines.next_if(|line| line.starts_with("> ") || **line == ">") {
                command.extend(["\n", line[1..].strip_prefix(' ').unwrap_or_default()]);
                shown.extend([line, "\n"]);
            }
            lines.next_if(|line| line.starts_with("? "));
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                expected.extend([line, "\n"]);
            }
            let output = self.shell(&command);
            let errors = without_usage(&printed(&output.stderr));
            let expects =
                if errors.lines().any(|line| line.starts_with("error: ")) { 2 } else { 0 };
            match output.status.code() {
                Some(status) if status == expects => {}
                Some(status) => shown.push_str(&format!("? {status}\n")),
                None => panic!("{command}: {}", output.status),
            }
            let printed = printed(&output.stdout) + &errors;
            shown.push_str(&kept_or_new(&expected, &printed));
        }
        shown
    }

    fn shell(&self, script: &str) -> Output {
        shell(self.folder, script)
    }
}

fn shell(folder: &Path, script: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_portcullis")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [program.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder);
    shell.env("PATH", std::env::join_paths(path).unwrap()).env_remove("NO_COLOR");
    shell.env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null()).output().unwrap()
}

/// Returns an output as lines of a page, which do not show CR.
fn printed(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output).replace("\r\n", "\n");
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

/// Removes what follows an error of the command line: the usage, and the line that leads to the help.
fn without_usage(errors: &str) -> String {
    let end =
        ["\nUsage: ", "\nFor more information, try"].iter().filter_map(|it| errors.find(it)).min();
    errors[..end.unwrap_or(errors.len())].to_owned()
}

/// Returns what the page shows if only times differ from what was printed now.
fn kept_or_new(shown: &str, printed: &str) -> String {
    let printed = without_times(printed);
    if without_times(shown) == printed { shown.to_owned() } else { printed }
}

/// Replaces times, rates and hashes by `[..]`.
fn without_times(text: &str) -> String {
    const UNITS: [&str; 4] = ["s", "records/s", "origins/s", "rows/s"];
    const MEMBERS: [&str; 4] = ["\"version\":", "seconds\":", "per_second\":", "_hash\":"];
    let marks = ['(', ')', ',', ';', ':'];
    let text = text.replace(concat!("portcullis ", env!("CARGO_PKG_VERSION")), "portcullis [..]");
    let member = |member: &str| {
        let Some(name) = MEMBERS.iter().find(|name| member.contains(**name)) else {
            return member.to_owned();
        };
        let (name, value) = member.split_at(member.find(name).unwrap() + name.len());
        format!("{name}[..]{}", &value[value.find('}').unwrap_or(value.len())..])
    };
    let line = |line: &str| {
        let line = line.split(',').map(member).collect::<Vec<_>>().join(",");
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for place in 0..words.len() {
            let word = words[place].trim_matches(marks).to_owned();
            let unit = words.get(place + 1).map_or("", |unit| unit.trim_matches(marks));
            let is_rate = unit.ends_with("B/s");
            let is_time =
                (is_rate || UNITS.contains(&unit)) && word.replace(',', "").parse::<f64>().is_ok();
            let is_hash = word.len() == 16 && word.bytes().all(|it| it.is_ascii_hexdigit());
            if is_time || is_hash {
                words[place] = words[place].replace(&word, "[..]");
            }
            // The unit depends on the rate.
            if is_time && is_rate {
                words[place + 1] = "[..]/s".to_owned();
            }
        }
        let line = words.join(" ");
        line.strip_prefix("- Date: ").map_or(line.clone(), |_| "- Date: [..]".into()) + "\n"
    };
    text.lines().map(line).collect()
}

macro_rules! transcripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run_folder(stringify!($name));
            }
        )*

        #[test]
        fn every_transcript_is_run() {
            for entry in fs::read_dir(project("tests/cli")).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let others = ["docs", "files", "golden"];
                let is_run = [$(stringify!($name)),*].contains(&&*name);
                assert!(is_run || others.contains(&&*name) || entry.path().is_file(), "{name}");
            }
        }
    };
}

transcripts! {
    agents audit bounds check classify compile diff errors filter inspect kinds lint lists outputs parquet
    survey times usage
}

#[test]
fn the_readme() {
    let folder = tempfile::tempdir().unwrap();
    copy(&project("corpora"), &folder.path().join("corpora"));
    run_page(&project("README.md"), folder.path(), Scripts::Shown);
}

#[test]
fn the_first_hour() {
    let folder = tempfile::tempdir().unwrap();
    copy(&project("corpora"), &folder.path().join("corpora"));
    run_page(&project("docs/first-hour.md"), folder.path(), Scripts::Shown);
}

#[test]
fn the_guide() {
    let mut pages: Vec<PathBuf> =
        fs::read_dir(project("docs/guide")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    assert!(pages.len() > 5);
    let files = set_up(&project("tests/cli/docs/guide"));
    for page in pages {
        run_page(&page, files.path(), Scripts::Run);
    }
}

#[test]
fn the_recipes() {
    run_page(&project("docs/recipes.md"), &project("tests/cli/docs/recipes"), Scripts::Run);
}

/// The links between pages, and to sections of pages.
#[test]
fn links_lead_somewhere() {
    let listed = Command::new("git").args(["ls-files", "*.md"]).current_dir(project(".")).output();
    // A package has no repository.
    let Ok(listed) = listed else { return };
    let mut broken = Vec::new();
    for name in String::from_utf8(listed.stdout).unwrap().lines() {
        // Not those that are about to be removed.
        let Ok(text) = fs::read_to_string(project(name)) else { continue };
        broken.extend(
            links(&text).filter(|link| !leads(name, link)).map(|it| format!("{name}: {it}")),
        );
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn leads(page: &str, link: &str) -> bool {
    let (path, section) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => project(page),
        path => project(page).parent().unwrap().join(path),
    };
    let is_page = target.extension().is_some_and(|it| it == "md");
    match fs::read_to_string(&target) {
        Ok(text) if is_page && !section.is_empty() => sections(&text).any(|it| it == section),
        _ => target.exists(),
    }
}

/// Returns the targets of links in Markdown that are not URLs.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|text| text.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
        .filter(|link| !link.contains("://") && !link.contains(char::is_whitespace))
}

/// Returns the names by which links reach the headings of a page.
fn sections(text: &str) -> impl Iterator<Item = String> {
    let prose = text.split("```").step_by(2);
    let headings = prose.flat_map(str::lines).filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |it: &char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_');
        title.chars().filter(kept).map(|it| if it == ' ' { '-' } else { it }).collect()
    })
}
