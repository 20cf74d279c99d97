//! The layers of the crate, kept by a test: an import points to a strictly lower level, or stays in
//! its module. The same walk over `src` holds the other rules that need no judgement: the length of
//! files, where `unsafe` may stand, and that nothing is left unfinished. A walk over the whole project holds
//! its file names to those that every system can check out.

#[path = "layering/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use source::{
    imports, lines_with_macro, lines_with_word, without_comments_and_literals, without_test_items,
};

/// Each top-level module of `src` and its level.
const LEVELS: &[(&str, u8)] = &[
    ("id", 0),
    ("limits", 0),
    ("bytes", 0),
    ("large_pages", 0),
    ("atomic_file", 0),
    ("decision", 0),
    ("kind", 0),
    ("vectors", 0),
    ("visible", 0),
    ("dialect", 1),
    ("escape", 2),
    ("syntax", 3),
    ("pattern", 3),
    ("target", 3),
    ("access", 3),
    ("input", 3),
    ("oracle", 3),
    ("synth", 3),
    ("automaton", 4),
    ("capture", 4),
    ("policy", 5),
    ("set", 6),
    ("analysis", 6),
    ("batch", 7),
    ("lint", 7),
    ("report", 8),
    ("audit", 9),
    ("bench", 9),
    ("cli", 10),
    ("main", 10),
];

/// Modules of level 0 that their neighbours on level 0 may import.
const GROUND: &[&str] = &["id", "limits"];

/// All that the oracle may know. It shares no parsing or matching code with the engine, and so none
/// of its faults.
const ORACLE_MAY_IMPORT: &[&str] = &["dialect", "decision", "id", "limits"];

/// Who may ask the oracle, besides tests and benches: the commands that verify.
const MAY_IMPORT_ORACLE: &[&str] = &["bench", "cli"];

/// Files that may hold `unsafe`, each behind a safe function, or an unsafe one that states the duty.
const UNSAFE_FILES: &[&str] = &[
    "src/automaton/prefilter/x86.rs",
    "src/cli/fault.rs",
    "src/cli/mapped.rs",
    "src/input/mapping.rs",
    "src/input/source.rs",
    "src/set/file/mapping.rs",
    "src/set/file/storage.rs",
    "src/set/stored/mod.rs",
    "src/target/plain/glance.rs",
    "src/vectors/x86.rs",
];

/// Files that may hash without a seed: set files, which the next reader has to find things in, and what
/// names a set in outputs. Any other hash is of a table, and who fills a table must not choose where.
const UNSEEDED_FILES: &[&str] = &[
    "src/set/compile/slots.rs",
    "src/set/file/blocks.rs",
    "src/set/file/header.rs",
    "src/set/file/verify.rs",
    "src/set/file/writer.rs",
    "src/set/folder.rs",
    "src/set/layout.rs",
    "src/set/mod.rs",
];

/// What hashes without a seed.
const UNSEEDED_WORDS: &[&str] = &["xxhash_rust", "FixedState", "SeedableRandomState", "FxHasher"];

/// Macros that say that something is not done.
const UNFINISHED_MACROS: &[&str] = &["todo", "unimplemented", "dbg"];

/// Lines of a file. A longer one holds more than one idea.
const FILE_LINES_MAX: usize = 800;

/// Fewer files or imports than these, and the test has looked in the wrong place.
const FILES_SEEN_MIN: usize = 40;
const IMPORTS_SEEN_MIN: usize = 60;

/// What a walk has seen and what it found wrong.
#[derive(Default)]
struct Findings {
    files: usize,
    imports: usize,
    problems: Vec<String>,
}

#[test]
fn imports_point_downwards_and_files_keep_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<(String, String)> = source_files(&root.join("src"))
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            (name.replace('\\', "/"), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    let findings = inspect(&files);
    assert!(
        findings.files >= FILES_SEEN_MIN && findings.imports >= IMPORTS_SEEN_MIN,
        "saw {} files and {} imports only: does the test still find `src`?",
        findings.files,
        findings.imports
    );
    assert!(findings.problems.is_empty(), "\n{}\n", findings.problems.join("\n"));
}

/// Names that Windows keeps for devices, whatever follows a dot.
const RESERVED_NAMES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// What is made here and not checked out.
const MADE: &[&str] =
    &[".git", "target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts", "fuzz/coverage"];

#[test]
fn every_file_name_can_be_checked_out_on_windows() {
    let mut names = BTreeSet::new();
    let mut problems = Vec::new();
    walk_names(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut |path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        problems.extend(windows_problem(name).map(|problem| format!("{path}: {problem}")));
        if !names.insert(path.to_lowercase()) {
            problems.push(format!("{path}: another name differs in letter case only"));
        }
    });
    assert!(names.len() > FILES_SEEN_MIN, "saw {} names only", names.len());
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// Hands out the paths of all files and folders below `folder`, with `/` between names.
fn walk_names(folder: &Path, prefix: &str, each: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().expect("names are Unicode");
        let path = format!("{prefix}{name}");
        if MADE.contains(&path.as_str()) {
            continue;
        }
        each(&path);
        if entry.file_type().unwrap().is_dir() {
            walk_names(&entry.path(), &format!("{path}/"), each);
        }
    }
}

/// Why Windows has no file with this name; `None` if it can have one.
fn windows_problem(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_lowercase();
    let is_port = stem.strip_prefix("com").or(stem.strip_prefix("lpt")).is_some_and(|number| {
        matches!(
            number,
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
        )
    });
    if name.chars().any(|letter| letter < ' ' || "<>:\"/\\|?*".contains(letter)) {
        return Some("a character that Windows does not allow");
    }
    if name.ends_with(['.', ' ']) {
        return Some("Windows drops a dot or a blank at the end");
    }
    (is_port || RESERVED_NAMES.contains(&stem.as_str())).then_some("a device of Windows")
}

#[test]
fn windows_names_are_known() {
    for name in ["shop.example:8443", "nul.example", "AUX", "com1.txt", "lpt².a", "a.", "b ", "a?"]
    {
        assert!(windows_problem(name).is_some(), "{name}");
    }
    for name in ["shop.example", "null.example", "com.example", "com10", ".gitignore", "exämple"] {
        assert_eq!(windows_problem(name), None, "{name}");
    }
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Looks at `files`, each a path from the project's root and a text.
fn inspect(files: &[(String, String)]) -> Findings {
    let mut findings = Findings::default();
    let mut test_files = BTreeSet::new();
    for (path, text) in files {
        let code = without_comments_and_literals(text);
        let (_, modules) = without_test_items(&code);
        test_files.extend(modules.iter().flat_map(|name| module_files(path, name)));
    }
    for (path, text) in files {
        let code = without_comments_and_literals(text);
        findings.files += 1;
        findings.problems.extend(broken_rules(path, text, &code));
        let is_test = test_files.iter().any(|test| path.starts_with(test.as_str()));
        if !is_test {
            let code = without_test_items(&code).0;
            findings.problems.extend(unseeded_hashes(path, &code));
            inspect_imports(path, &code, &mut findings);
        }
    }
    findings
}

/// Where the file of the module `name` that `path` declares may stand: the file, or its folder.
fn module_files(path: &str, name: &str) -> [String; 2] {
    let folder = match path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
        _ => path.trim_end_matches(".rs"),
    };
    [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]
}

fn broken_rules(path: &str, text: &str, code: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        problems.push(format!(
            "{path}:{FILE_LINES_MAX}: {lines} lines; give one of its ideas a file of its own"
        ));
    }
    if !UNSAFE_FILES.contains(&path) {
        problems.extend(lines_with_word(code, "unsafe").into_iter().map(|line| {
            format!("{path}:{line}: `unsafe`; do without, or argue for the file in UNSAFE_FILES")
        }));
    }
    for name in UNFINISHED_MACROS {
        problems.extend(lines_with_macro(code, name).into_iter().map(|line| {
            format!("{path}:{line}: `{name}!` is left over; finish it or take it out")
        }));
    }
    problems
}

fn unseeded_hashes(path: &str, code: &str) -> Vec<String> {
    let is_free = UNSEEDED_FILES.contains(&path);
    let words = UNSEEDED_WORDS.iter().filter(|_| !is_free);
    let hits = words.flat_map(|word| lines_with_word(code, word).into_iter().map(move |line| {
        format!("{path}:{line}: `{word}` has no seed; take a RandomState of foldhash, or argue for the file in UNSEEDED_FILES")
    }));
    hits.collect()
}

fn inspect_imports(path: &str, code: &str, findings: &mut Findings) {
    let (module, depth) = module_of(path);
    if module == "lib" {
        return; // The root declares and re-exports every module.
    }
    let Some(from) = level(module) else {
        findings.problems.push(format!(
            "{path}:1: module `{module}` has no level; give it one in LEVELS of tests/layering.rs"
        ));
        return;
    };
    for import in imports(code, depth) {
        findings.imports += 1;
        let to = import.target.as_str();
        if let Err(fix) = judge((module, from), to) {
            let line = import.line;
            findings.problems.push(format!("{path}:{line}: {module} -> {to}: {fix}"));
        }
    }
}

/// The top-level module that a file belongs to, and how many modules below the root it stands.
fn module_of(path: &str) -> (&str, usize) {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.trim_end_matches("/mod");
    let module = path.split('/').next().unwrap_or(path);
    let depth = if matches!(module, "lib" | "main") { 0 } else { path.split('/').count() };
    (module, depth)
}

fn level(module: &str) -> Option<u8> {
    let known = LEVELS.iter().find(|(name, _)| *name == module);
    known.map(|&(_, level)| level)
}

/// Whether a module may import another, or else how to fix it.
fn judge((module, from): (&str, u8), to: &str) -> Result<(), String> {
    let inside_binary = matches!((module, to), ("main", "cli"));
    if module == to || inside_binary {
        return Ok(());
    }
    let Some(to_level) = level(to) else {
        return Err("this is no module with a level; name the module that the item lives in".into());
    };
    if module == "oracle" && !ORACLE_MAY_IMPORT.contains(&to) {
        return Err(format!("the oracle may know {ORACLE_MAY_IMPORT:?} only; write it out there"));
    }
    if to == "oracle" && !MAY_IMPORT_ORACLE.contains(&module) {
        return Err("only tests and the verifying commands ask the oracle".into());
    }
    let ground = from == 0 && GROUND.contains(&to) && module != "limits";
    if to_level < from || ground {
        return Ok(());
    }
    Err(format!(
        "level {from} imports level {to_level}; move what is shared down, or pass it in from above"
    ))
}

fn problems_of(files: &[(&str, &str)]) -> Vec<String> {
    let owned = files.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    inspect(&owned.collect::<Vec<_>>()).problems
}

#[test]
fn a_bad_file_is_found_out() {
    let bad = [
        ("src/bytes.rs", "use crate::escape::normalise;", "bytes -> escape"),
        ("src/limits.rs", "use crate::id::LineNumber;", "limits -> id"),
        (
            "src/syntax/mod.rs",
            "use crate::{\n    id::LineNumber,\n    pattern::{self, A},\n};",
            ":3: syntax -> pattern",
        ),
        ("src/syntax/lexer.rs", "use super::super::policy::Policy;", "syntax -> policy"),
        ("src/syntax/mod.rs", "fn f() { super::set::open() }", "syntax -> set"),
        (
            "src/policy.rs",
            "fn f(a: &'static str) { crate::batch::run('\"', a) }",
            "policy -> batch",
        ),
        ("src/oracle/mod.rs", "use crate::bytes::trim;", "oracle -> bytes"),
        ("src/batch/mod.rs", "use crate::oracle::decide;", "batch -> oracle"),
        ("src/set/mod.rs", "use crate::Policy;", "name the module"),
        ("src/novel.rs", "", "has no level"),
        ("src/cli/mod.rs", "fn f() { todo!() }", "`todo!` is left over"),
        ("src/cli/mod.rs", "\n\nunsafe fn f() {}", "src/cli/mod.rs:3: `unsafe`"),
        ("src/set/pool.rs", "use xxhash_rust::xxh3::xxh3_64;", "`xxhash_rust` has no seed"),
        ("src/cli/mod.rs", &"\n".repeat(501), "501 lines"),
    ];
    for (path, text, message) in bad {
        let problems = problems_of(&[(path, text)]);
        assert_eq!(problems.len(), 1, "{path}: {problems:?}");
        assert!(problems[0].contains(message), "{problems:?}");
    }
}

#[test]
fn a_good_file_is_let_through() {
    let good = [
        ("src/decision.rs", "use crate::id::RuleID;"),
        ("src/batch/mod.rs", "use crate::{set::{PolicySet, reader::{A, B}}, policy, limits::*};"),
        (
            "src/policy.rs",
            "// crate::batch\n/* crate::set /* nested */ */\nconst A: &str = \"crate::set\";",
        ),
        ("src/policy.rs", "const A: &str = r#\"crate::\"set\"#;\nconst B: char = '\"';"),
        ("src/syntax/lexer.rs", "//! use portcullis::batch::Runner;\nuse super::record::Record;"),
        (
            "src/pattern.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::batch::{A, B};\n    use super::*;\n}\n",
        ),
        ("src/automaton/mod.rs", "use crate::pattern::PathPattern;\npub(crate) fn f() {}"),
        ("src/input/mapping.rs", "unsafe fn f() {}"),
        ("src/set/layout.rs", "fn f() -> u64 { xxhash_rust::xxh3::xxh3_64(b\"a\") }"),
        ("src/cli/bench.rs", "use portcullis::oracle::decide;\nuse crate::cli::flags::Flags;"),
        ("src/main.rs", "mod cli;\nuse crate::cli::run;"),
        ("src/lib.rs", "pub mod set;\npub use crate::set::PolicySet;"),
    ];
    for (path, text) in good {
        let problems = problems_of(&[(path, text)]);
        assert!(problems.is_empty(), "{path}: {problems:?}");
    }
}

#[test]
fn a_test_module_in_its_own_file_is_left_out() {
    let declared = ("src/pattern/mod.rs", "#[cfg(test)]\nmod tests;\n");
    let tests = ("src/pattern/tests.rs", "use crate::batch::Runner;");
    assert_eq!(problems_of(&[declared, tests]), Vec::<String>::new());
    assert_eq!(problems_of(&[tests]).len(), 1);
}
