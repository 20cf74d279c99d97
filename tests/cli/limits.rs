//! A limit on processes: a command whose threads cannot start says so.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;

use super::*;

/// An ID that no process of a system has. Limits do not bind the superuser.
const OTHER_USER: u32 = 61_234;

/// The limits: none of a pool's four threads starts, or some do.
const LIMITS: [u32; 3] = [1, 3, 5];

#[test]
fn threads_that_cannot_start_are_an_error() {
    let folder = Folder::new();
    // Another user must be able to run the program and to write here.
    let program = folder.path("portcullis");
    fs::copy(env!("CARGO_BIN_EXE_portcullis"), &program).unwrap();
    fs::set_permissions(folder.path("."), Permissions::from_mode(0o777)).unwrap();
    let is_root = fs::metadata(folder.path(".")).unwrap().uid() == 0;
    folder.write("urls", "https://a.example/private/\n");
    folder.write("x.jsonl", capture("a.example", "2024-01-01", 200, A_ROBOTS));
    folder.ok("compile --history --no-summary -o x.pcs x.jsonl");
    folder.ok("compile --no-summary -o y.pcs robots");
    for (line, has_flag) in [
        ("verify x.pcs", false),
        ("inspect x.pcs", false),
        ("inspect --verify x.pcs a.example", false),
        ("history x.pcs a.example", false),
        ("synth --hosts 2 --urls 2 --out made", false),
        ("check --robots robots -a ExampleBot https://b.example/", false),
        ("bench --robots robots -a ExampleBot --urls urls --rounds 1 --seconds-per-pass 0", false),
        ("classify -p x.pcs -a ExampleBot urls -j4", true),
        ("filter --robots robots -a ExampleBot urls -j4", true),
        ("compile -o new.pcs robots -j4", true),
        ("merge -o new.pcs x.pcs y.pcs -j4", true),
        ("diff x.pcs x.pcs -a ExampleBot urls -j4", true),
        ("audit -p x.pcs -a ExampleBot --report - urls -j4", true),
        ("survey -p x.pcs -a ExampleBot -j4", true),
        ("sitemaps -p x.pcs -j4", true),
        ("lint robots -j4", true),
    ] {
        let mut failed = 0;
        for limit in LIMITS {
            // What bash calls -u is -p in dash.
            let script = format!(
                "ulimit -u {limit} 2>/dev/null || ulimit -p {limit}; exec ./portcullis \"$@\""
            );
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &*script, "sh"]).args(line.split(' '));
            command.current_dir(folder.path(".")).stdin(std::process::Stdio::null());
            if is_root {
                command.uid(OTHER_USER);
            }
            let output = command.output().unwrap();
            if output.status.success() {
                // It needs no threads, or no more than there may be.
                fs::remove_dir_all(folder.path("made")).ok();
                continue;
            }
            failed += 1;
            assert_fails(&output, &["error: cannot start ", " thread", "raise the limit"]);
            let said = text(&output.stderr);
            assert_eq!(said.contains("-j"), has_flag, "{line}: {said}");
            let reason = "Resource temporarily unavailable";
            assert_eq!(said.matches(reason).count(), 1, "{line}: {said}");
        }
        assert_eq!(failed > 0, !line.starts_with("history"), "{line}");
    }
}
