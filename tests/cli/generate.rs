//! `portcullis --generate`.

use super::*;

fn generated(kind: &str) -> String {
    let output = portcullis().args(["--generate", kind]).output().unwrap();
    assert_status(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_man_page_tells_subcommands_flags_and_statuses() {
    let page = generated("man");
    assert!(page.contains(".TH portcullis 1"), "{page}");
    for part in ["CLASSIFY", "FILTER", "CHECK", "SYNTH", "assume", "EXIT STATUS"] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
}

#[test]
fn completions_of_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = generated(&format!("complete-{shell}"));
        assert!(script.contains("portcullis") && script.contains("filter"), "{shell}");
    }
}
