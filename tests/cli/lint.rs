//! Files that `lint` fixes in place, and empty ones.

use super::*;

/// A web server that may no longer read its robots.txt answers 403, which allows everything.
#[cfg(unix)]
#[test]
fn a_file_that_is_fixed_in_place_keeps_its_owner() {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    const OWNER: (u32, u32) = (61_234, 61_235);

    let folder = Folder::new();
    let path = folder.write("robots.txt", "User-agent: *\nDisallow: /a\nDisallow: /a\n");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let facts = || {
        let metadata = fs::metadata(&path).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    };
    let is_root = chown(&path, Some(OWNER.0), Some(OWNER.1)).is_ok();
    let before = facts();
    assert!(!is_root || before == (OWNER.0, OWNER.1, 0o640));
    folder.ok("lint --fix robots.txt");
    assert_eq!(folder.read("robots.txt"), b"User-agent: *\nDisallow: /a\n");
    assert_eq!(facts(), before);

    // Only the superuser can make a file of another user for a test.
    if is_root {
        let text = "User-agent: *\nDisallow: /b\nDisallow: /b\n";
        folder.write("robots.txt", text);
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        fs::set_permissions(folder.path("."), Permissions::from_mode(0o777)).unwrap();
        let program = folder.path("portcullis");
        fs::copy(env!("CARGO_BIN_EXE_portcullis"), &program).unwrap();
        let mut other = std::process::Command::new(program);
        other.current_dir(folder.path(".")).uid(OWNER.0 + 7).gid(OWNER.1 + 7);
        let output = other.args(["lint", "--fix", "robots.txt"]).output().unwrap();
        assert_status(&output, 2);
        assert_says(&output, &["robots.txt: its owner and group cannot be kept"]);
        assert_eq!(folder.read("robots.txt"), text.as_bytes());
        assert_eq!(facts(), (OWNER.0, OWNER.1, 0o666));
    }
}

/// Standard input is empty if a download fails. An empty file is an answer.
#[test]
fn an_empty_standard_input_is_an_error() {
    let folder = Folder::new();
    folder.write("empty", "");
    for format in ["text", "json", "github"] {
        let line = format!("lint --fail --format {format}");
        let output = folder.pipe(format!("{line} -"), "");
        assert_status(&output, 2);
        assert_says(&output, &["error: standard input: empty"]);
        folder.ok(format!("{line} empty"));
    }
}
