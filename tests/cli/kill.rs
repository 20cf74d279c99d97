//! A set that is replaced: the old or the new set is complete, however `compile` ends.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use portcullis_files::scratch::Scratch;
use portcullis_set::PolicySet;
use portcullis_set::file::ContentHash;

use super::*;

/// The number of times the program is killed during a run.
const MOMENTS: u32 = 20;

/// The number of times the program is killed while it writes the set.
const MOMENTS_OF_WRITING: u32 = 10;

/// An old set, and the input of a new one.
struct Sets {
    folder: Folder,
    old: Vec<u8>,
    old_hash: ContentHash,
    new_hash: ContentHash,
    /// The time to compile the new set.
    duration: Duration,
}

impl Sets {
    fn new() -> Sets {
        let folder = Folder::new();
        for (seed, hosts, name) in [(1, 40, "old"), (2, 1_500, "new")] {
            folder.corpus(name, Corpus::new(seed, hosts), 1, Some(ArchiveFormat::JsonLines));
        }
        folder.ok("compile old/robots.jsonl -o a.set");
        let old = folder.read("a.set");
        let started = Instant::now();
        folder.ok("compile --memory 64KiB new/robots.jsonl -o whole.set");
        let duration = started.elapsed();
        let (old_hash, new_hash) = (hash(&folder, "a.set"), hash(&folder, "whole.set"));
        assert_ne!(old_hash, new_hash);
        Sets { folder, old, old_hash, new_hash, duration }
    }

    /// Starts to compile the new set over the old one, with temporary files next to it.
    fn start(&self) -> Child {
        let line = "compile --memory 64KiB new/robots.jsonl -o a.set";
        spawn(&self.folder, line, Stdio::null())
    }

    /// Kills the program and checks its files. Returns whether it left an unfinished file.
    #[track_caller]
    fn kill(&self, mut child: Child) -> bool {
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let found = hash(&self.folder, "a.set");
        if status.signal().is_none() {
            assert_eq!((status.code(), found), (Some(0), self.new_hash));
        }
        assert!(found == self.old_hash || found == self.new_hash, "{found}");
        let expected = ["a.set", "new", "old", "whole.set"];
        let mut names = self.folder.names();
        names.retain(|name| !expected.contains(&name.as_str()));
        let left = !names.is_empty();
        if left {
            assert_eq!(names, unfinished(&self.folder));
            assert_eq!(names.len(), 1, "{names:?}");
            fs::remove_file(self.folder.path(&names[0])).unwrap();
        }
        if found == self.new_hash {
            self.folder.write("a.set", &self.old);
        }
        left
    }
}

/// Returns the names of unfinished outputs.
fn unfinished(folder: &Folder) -> Vec<String> {
    let mut names = folder.names();
    names.retain(|name| name.starts_with('.') && name.ends_with(".unfinished"));
    names
}

/// Returns the hash of an intact set.
#[track_caller]
fn hash(folder: &Folder, name: &str) -> ContentHash {
    let set = PolicySet::open(&folder.path(name)).unwrap();
    portcullis_build::verify(&set, &Scratch::in_memory()).unwrap();
    set.hash()
}

/// Returns seeded random fractions of one.
fn fractions(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    })
}

#[test]
fn killed_at_any_moment() {
    let sets = Sets::new();
    for fraction in fractions(1).take(MOMENTS as usize) {
        let child = sets.start();
        // A little more than the whole run, so that some runs complete.
        std::thread::sleep(sets.duration.mul_f64(fraction * 1.1));
        sets.kill(child);
    }
}

#[test]
fn killed_while_writing() {
    let sets = Sets::new();
    let mut left = 0;
    for fraction in fractions(2).take(MOMENTS_OF_WRITING as usize) {
        let mut child = sets.start();
        while unfinished(&sets.folder).is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(2).mul_f64(fraction));
        left += u32::from(sets.kill(child));
    }
    assert!(left > 0, "the program was never killed while it was writing");
}

#[test]
fn a_limit_on_the_size_of_files() {
    let sets = Sets::new();
    let whole = sets.folder.read("whole.set").len();
    for part in [0, 1, 2, 3] {
        // In blocks of 512 bytes, or of 1,024 where the shell counts in those.
        let blocks = whole / 1_024 * part / 4;
        let output = Process::new("sh")
            .current_dir(sets.folder.folder.path())
            .args(["-c", "ulimit -f $0 && exec \"$@\"", &blocks.to_string()])
            .args([env!("CARGO_BIN_EXE_portcullis"), "compile", "new/robots.jsonl", "-o", "a.set"])
            .output()
            .unwrap();
        assert_fails(&output, &["a.set", "ulimit -f"]);
        assert!(sets.folder.read("a.set") == sets.old);
        assert_eq!(sets.folder.names(), ["a.set", "new", "old", "whole.set"]);
    }
}

/// A signal leaves no unfinished output, and the parent sees the program end by that signal.
#[test]
fn a_signal_leaves_nothing() {
    let policies = "--robots robots -a Bot";
    let lines = [
        (format!("classify {policies} -o out.tsv.gz"), 1),
        (format!("filter {policies} -o out --unknown u.zst --invalid i --rejects r"), 4),
        (format!("audit {policies} -o out.html -o out.json"), 2),
    ];
    for signal in ["HUP", "INT", "TERM"] {
        for (line, outputs) in &lines {
            let folder = Folder::new();
            // The program waits for its list.
            let mut child = spawn(&folder, line, Stdio::piped());
            let list = child.stdin.take();
            while unfinished(&folder).len() < *outputs {
                assert_eq!(child.try_wait().unwrap(), None, "{line}");
                std::thread::yield_now();
            }
            send(signal, &child);
            let status = child.wait().unwrap();
            drop(list);
            let number = ["", "HUP", "INT"].iter().position(|&name| name == signal);
            assert_eq!(status.signal(), Some(number.map_or(15, |at| at as i32)), "{line}");
            assert_eq!(folder.names(), [""; 0], "{line}");
        }
    }
}

/// A signal while outputs get their names leaves all of them.
#[test]
fn a_signal_leaves_all_outputs_or_none() {
    const LISTS: usize = 300;
    const SIGNALS: u32 = 3;
    const RUNS_MAX: u32 = 100;

    let folder = Folder::new();
    for number in 0..LISTS {
        folder.write(&format!("in/{number}"), "https://a.example/\n");
    }
    let outputs = |name: &str| {
        let listed = fs::read_dir(folder.path(name)).into_iter().flatten();
        let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".unfinished")).count()
    };
    let mut signals = 0;
    for run in 0..RUNS_MAX {
        let name = format!("out-{run}");
        let line = format!("filter in --robots robots -a Bot --out-dir {name}");
        let mut child = spawn(&folder, &line, Stdio::null());
        // A loaded machine may leave no time to look between the first name and the end.
        let ended = loop {
            let ended = child.try_wait().unwrap();
            if ended.is_some() || outputs(&name) > 0 {
                break ended;
            }
            std::thread::yield_now();
        };
        let status = ended.unwrap_or_else(|| {
            send("TERM", &child);
            signals += 1;
            child.wait().unwrap()
        });
        let is_by_signal = ended.is_none() && status.signal() == Some(15);
        assert!(status.success() || is_by_signal, "{line}: {status}");
        assert_eq!(outputs(&name), LISTS);
        assert_eq!(fs::read_dir(folder.path(&name)).unwrap().count(), LISTS);
        if signals == SIGNALS {
            return;
        }
    }
    panic!("only {signals} signals came before the end in {RUNS_MAX} runs");
}

/// A shell's background jobs ignore SIGINT; `nohup` ignores SIGHUP.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = Folder::new();
    let line = "classify --robots robots -a Bot -o out.tsv";
    let mut child = Process::new("sh")
        .current_dir(folder.folder.path())
        .args(["-c", "trap '' HUP INT; exec $0 $*", env!("CARGO_BIN_EXE_portcullis")])
        .args(line.split(' '))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while unfinished(&folder).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::yield_now();
    }
    send("INT", &child);
    send("HUP", &child);
    std::thread::sleep(Duration::from_millis(20));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.names(), ["out.tsv"]);
}

fn spawn(folder: &Folder, line: &str, stdin: Stdio) -> Child {
    let mut process = folder.process(line);
    process.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    let sent = Process::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Leftovers of killed processes are removed by the next run that writes the same output, and a file that a
/// process is writing is not.
#[test]
fn the_next_run_removes_what_nobody_holds() {
    let folder = Folder::new();
    folder.write("list", "https://a.example/\n");
    let long = "n".repeat(240);
    for name in ["out.tsv", &long] {
        // A run replaces what was there when it began.
        folder.write(name, "old");
        let line = format!("classify --robots robots -a Bot -o {name} --format tsv");
        // Each waits for its list.
        let start = |count: usize| {
            let child = spawn(&folder, &line, Stdio::piped());
            while unfinished(&folder).len() < count {
                std::thread::yield_now();
            }
            child
        };
        let (mut killed, mut alive) = (start(1), start(2));
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(unfinished(&folder).len(), 2);
        folder.ok("classify list --robots robots -a Bot -o other.tsv");
        assert_eq!(unfinished(&folder).len(), 2, "of another output");
        folder.ok(line.replace("classify", "classify list"));
        assert_eq!(unfinished(&folder).len(), 1, "one is held");
        drop(alive.stdin.take());
        assert_eq!(alive.wait().unwrap().code(), Some(0));
        assert_eq!(unfinished(&folder), [""; 0]);
        assert_eq!(folder.read(name), b"");
    }
}

/// An unfinished file of a killed process does not disturb the next run.
#[test]
fn an_unfinished_file_does_not_disturb() {
    let sets = Sets::new();
    sets.folder.write(".a.set.1.unfinished", "left");
    let status = sets.start().wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(hash(&sets.folder, "a.set"), sets.new_hash);
    let error = sets.folder.output("inspect .a.set.1.unfinished");
    assert_fails(&error, &[".a.set.1.unfinished", "not a policy set"]);
}
