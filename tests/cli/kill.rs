//! A set that is replaced: whatever ends `compile`, there is the whole old set or the whole new one.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use portcullis::set::StoredSet;

use super::*;

/// Moments at which the program is killed, over its whole run.
const MOMENTS: u32 = 50;

/// Moments at which it is killed while the set is being written.
const MOMENTS_OF_WRITING: u32 = 10;

/// An old set, and what a new one is compiled from.
struct Sets {
    folder: Folder,
    old: Vec<u8>,
    old_hash: u64,
    new_hash: u64,
    /// How long compiling the new one takes.
    duration: Duration,
}

impl Sets {
    fn new() -> Sets {
        let folder = Folder::new();
        for (seed, hosts, name) in [(1, 40, "old"), (2, 1_500, "new")] {
            let line = format!(
                "synth --seed {seed} --hosts {hosts} --urls 1 --format jsonl --answers --out {name}"
            );
            assert_status(&folder.command(&line).output().unwrap(), 0);
        }
        let compile = |name: &str, set: &str| {
            let line = format!("compile {name}/robots.jsonl -o {set}");
            assert_status(&folder.command(&line).output().unwrap(), 0);
        };
        compile("old", "a.set");
        let old = folder.read("a.set");
        let started = Instant::now();
        compile("new", "whole.set");
        let duration = started.elapsed();
        let (old_hash, new_hash) = (hash(&folder, "a.set"), hash(&folder, "whole.set"));
        assert_ne!(old_hash, new_hash);
        Sets { folder, old, old_hash, new_hash, duration }
    }

    /// Begins to compile the new set in place of the old one.
    fn start(&self) -> Child {
        Process::new(env!("CARGO_BIN_EXE_portcullis"))
            .current_dir(self.folder.folder.path())
            .args(["compile", "new/robots.jsonl", "-o", "a.set"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Kills the program, and looks at what it left. Returns whether that is an unfinished file.
    #[track_caller]
    fn kill(&self, mut child: Child) -> bool {
        let unfinished = self.unfinished(&child);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let found = hash(&self.folder, "a.set");
        if status.signal().is_none() {
            assert_eq!((status.code(), found), (Some(0), self.new_hash));
        }
        assert!(found == self.old_hash || found == self.new_hash, "{found:016x}");
        let expected = ["a.set", "new", "old", "whole.set"];
        let mut names = self.folder.names();
        names.retain(|name| !expected.contains(&name.as_str()));
        let left = exists(&unfinished);
        if left {
            assert_eq!(names, [unfinished.file_name().unwrap().to_str().unwrap()]);
            fs::remove_file(unfinished).unwrap();
        } else {
            assert_eq!(names, Vec::<String>::new());
        }
        if found == self.new_hash {
            self.folder.write("a.set", &self.old);
        }
        left
    }

    /// Where the program writes to before the set is complete: beside it, named after it and the
    /// process.
    fn unfinished(&self, child: &Child) -> PathBuf {
        self.folder.path(&format!(".a.set.{}.unfinished", child.id()))
    }
}

/// The hash of a set that holds.
#[track_caller]
fn hash(folder: &Folder, name: &str) -> u64 {
    let set = StoredSet::open(&folder.path(name)).unwrap();
    set.verify().unwrap();
    set.hash()
}

/// Seeded fractions of one, in an order without a pattern.
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
        // A little more than the whole run, so that some end by themselves.
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
        let unfinished = sets.unfinished(&child);
        while !exists(&unfinished) && child.try_wait().unwrap().is_none() {
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
        // In blocks of 512 octets, or of 1,024 where the shell counts in those.
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

/// A file that a killed process left is in nobody's way.
#[test]
fn what_was_left_is_in_nobodys_way() {
    let sets = Sets::new();
    sets.folder.write(".a.set.1.unfinished", "left");
    let status = sets.start().wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(hash(&sets.folder, "a.set"), sets.new_hash);
    let error = sets.folder.command("verify .a.set.1.unfinished").output().unwrap();
    assert_fails(&error, &[".a.set.1.unfinished", "not a policy set"]);
}
