//! `portcullis --generate`.

use super::*;

fn generated(kind: &str) -> String {
    String::from_utf8(Folder::new().ok(format!("--generate {kind}")).stdout).unwrap()
}

#[test]
fn the_man_page_has_subcommands_flags_and_statuses() {
    let page = generated("man");
    let parts = ["CLASSIFY", "FILTER", "CHECK", "SYNTH", "assume", "EXIT STATUS"];
    assert_contains(&page, &[".TH portcullis 1"]);
    assert_contains(&page, &parts);
}

#[test]
fn completions_of_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = generated(&format!("complete-{shell}"));
        assert!(script.contains("portcullis") && script.contains("filter"), "{shell}");
    }
}
