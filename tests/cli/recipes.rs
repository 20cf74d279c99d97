//! The recipes of the documentation: every command of the page is run on a small made-up copy of
//! its data, and must print the output on the page.
//!
//! A `sh` block is run by a shell in a folder with the files of `tests/recipes/NAME`, and a `text`
//! block after it is its standard output. The blocks of a section share the folder. A `console`
//! block downloads data and is not run.

use std::process::{Command, Stdio};

use super::*;

/// Each section, and the folder of its files.
const RECIPES: [(&str, &str); 4] = [
    ("A Common Crawl month", "common-crawl"),
    ("An opt-out pass over a training set", "training-set"),
    ("A Screaming Frog export", "screaming-frog"),
    ("What a new robots.txt changes", "new-file"),
];

/// A block of code of the page.
#[derive(Debug)]
struct Block<'p> {
    section: &'p str,
    language: &'p str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut section, mut is_open) = ("", false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some("") => is_open = false,
            Some(language) => {
                is_open = true;
                blocks.push(Block { section, language, text: String::new() });
            }
            None if is_open => {
                let block = blocks.last_mut().expect("one is open");
                block.text.extend([line, "\n"]);
            }
            None => section = line.strip_prefix("## ").unwrap_or(section),
        }
    }
    blocks
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

/// Runs a block in `folder` and returns its standard output.
fn run(folder: &Path, block: &str) -> String {
    let program = Path::new(assert_cmd::cargo::cargo_bin!("portcullis")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [program.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-eu", "-c", block])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{block}\n{err}");
    // Rows of CSV end with CRLF, which a page does not show.
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

#[test]
fn every_command_prints_what_the_page_shows() {
    let page = fs::read_to_string(project("docs/recipes.md")).unwrap();
    let blocks = blocks(&page);
    let recipes = project("tests/recipes");
    let (mut wrong, mut shown) = (String::new(), 0);
    for (section, name) in RECIPES {
        let folder = tempfile::tempdir().unwrap();
        copy(&recipes.join(name), folder.path());
        let mut printed: Option<String> = None;
        for block in blocks.iter().filter(|block| block.section == section) {
            match block.language {
                "sh" => printed = Some(run(folder.path(), &block.text)),
                "text" => {
                    let printed = printed.take().expect("an output follows its commands");
                    shown += 1;
                    if printed != block.text {
                        wrong.push_str(&format!("{section} prints\n{printed}"));
                    }
                }
                "console" => {}
                other => panic!("{section}: a block of {other}"),
            }
        }
    }
    assert_eq!(wrong, "");
    assert!(shown >= RECIPES.len(), "each recipe shows what it prints");
    let is_known = |block: &Block<'_>| RECIPES.iter().any(|(section, _)| *section == block.section);
    assert!(blocks.iter().all(is_known), "each section is run");
}
