//! `-a`: lists of agents, files, headers and misspelt names.

use super::*;

fn summary(folder: &Folder, flags: &str) -> Value {
    let output = folder.pipe(format!("classify --robots robots --json {flags}"), ALLOWED);
    assert_status(&output, 0);
    json(&output.stderr)
}

fn agents(object: &Value) -> Vec<&str> {
    object["agents"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn a_list_stands_for_its_names() {
    let folder = Folder::new();
    let object = summary(&folder, "-a GPTBot,@ai-training -a ExampleBot,ccbot");
    let agents = agents(&object);
    assert_eq!(agents[0], "GPTBot");
    assert_eq!(*agents.last().unwrap(), "ExampleBot");
    // Each once, whatever its case.
    for name in ["GPTBot", "CCBot", "Google-Extended"] {
        assert_eq!(agents.iter().filter(|it| it.eq_ignore_ascii_case(name)).count(), 1, "{name}");
    }
    let list = &object["agent_lists"][0];
    assert_eq!(list["name"], "@ai-training");
    assert_contains(list["source"].as_str().unwrap(), &["ai.robots.txt", "2026-", "MIT"]);
    // The other names occurred before.
    assert_eq!(list["agents"], agents.len() - 2);
    let printed = folder.run("classify -a @ai-training", ALLOWED);
    assert_says(&printed, &["agents of @ai-training: ", "ai.robots.txt", "MIT"]);
    // Agents with the same counts share a line.
    assert_says(&printed, &["newsai, PanguBot, "]);
}

#[test]
fn names_that_a_dialect_cannot_express_are_skipped_and_named() {
    let folder = Folder::new();
    let object = summary(&folder, "-a @ai-training");
    let skipped = &object["agent_lists"][0]["skipped"];
    assert!(skipped.as_array().unwrap().iter().any(|name| name == "Kangaroo Bot"), "{skipped}");
    assert!(!agents(&object).contains(&"Kangaroo Bot"));
    let printed = folder.run("filter -a @ai-training", ALLOWED);
    assert_says(&printed, &["note: @ai-training: skipped", "rfc9309", "Kangaroo Bot"]);
    // The dialect of 1994 takes any name.
    let object = summary(&folder, "-a @ai-training --dialect original1994");
    assert_eq!(object["agent_lists"][0]["skipped"], json!([]));
    assert!(agents(&object).contains(&"Kangaroo Bot"));
}

#[test]
fn a_file_of_names() {
    let folder = Folder::new();
    folder.write("ours.txt", "# ours\nBadBot\n\n  Other # and why\nbadbot\n");
    let line = "check --robots robots https://a.example/ -a @ours.txt";
    assert_stdout(&folder.output(line), "disallow\tallow\thttps://a.example/\n");
    assert_eq!(summary(&folder, "-a @ours.txt")["agent_lists"][0]["source"], "ours.txt");
    // An invalid name in a file of one's own is an error: without the name, filter would keep more.
    folder.write("bad.txt", "BadBot\nKangaroo Bot\n");
    folder.write("none.txt", "# nobody\n");
    folder.write("binary.txt", b"\xff\xfe");
    for (name, words) in [
        ("bad.txt", ["@bad.txt, line 2", "Kangaroo Bot"]),
        ("none.txt", ["@none.txt", "names no agent"]),
        ("binary.txt", ["@binary.txt", "not a text file"]),
        ("robots", ["@robots", "directory"]),
    ] {
        assert_fails(&folder.output(line.replace("ours.txt", name)), &words);
    }
}

#[test]
fn a_misspelt_list_is_an_error_that_names_the_lists() {
    let folder = Folder::new();
    let output = folder.run("classify -a @ai-trainig", ALLOWED);
    assert_fails(&output, &["@ai-trainig", "did you mean @ai-training?"]);
    assert_fails(&output, &["@ai-all", "@ai-search", "@search", "--agent-lists"]);
}

#[test]
fn lists_are_shown_with_tokens_that_only_control_use() {
    let folder = Folder::new();
    let printed = text(&folder.ok("--agent-lists").stdout);
    assert_contains(&printed, &["@ai-training: ", "@search: ", "738c80df", "MIT", "\n  GPTBot\n"]);
    assert_contains(&printed, &["\n  Google-Extended  (controls use; does not fetch)\n"]);
}

#[test]
fn a_header_is_pointed_to_its_flag() {
    let folder = Folder::new();
    for command in ["check https://a.example/", "classify", "filter"] {
        let mut command = folder.command(&format!("{command} --robots robots"));
        let header = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://a.example/bot)";
        let output = command.args(["-a", header]).output().unwrap();
        assert_fails(&output, &["Mozilla/5.0 (compatible", "--user-agent"]);
    }
}

#[test]
fn an_agent_that_no_group_names_is_noted() {
    let folder = Folder::new();
    let printed = |line: &str| text(&folder.pipe(line, ALLOWED).stderr);
    let note = "note: no group names GPTBt (did you mean GPTBot?), ExampleBot; the groups for * apply to them\n";
    for command in ["classify", "filter", "audit -o report.html"] {
        let line = format!("{command} --robots robots -a GPTBt,BadBot,ExampleBot");
        assert_contains(&printed(&line), &[note]);
    }
    // Names of the set are suggested too.
    folder.ok("compile -o x.set robots");
    assert_contains(&printed("classify -p x.set -a BadBto"), &["BadBto (did you mean badbot?)"]);
    // Names from a list are not noted, and known names are not misspelt.
    assert!(!printed("classify -p x.set -a BadBot,@search").contains("no group"));
    assert_contains(&printed("classify -p x.set -a ClaudeBot"), &["no group names ClaudeBot; "]);
    // check prints the note only if the name seems misspelt.
    let check = "check --robots robots https://a.example/ -a";
    assert_contains(&printed(&format!("{check} GPTBt")), &["did you mean GPTBot?"]);
    assert_eq!(printed(&format!("{check} ExampleBot")), "");
    assert_eq!(printed(&format!("{check} GPTBt -q")), "");
    // The summary has it as JSON.
    let object = summary(&folder, "-a GPTBt,ExampleBot");
    let expected = json!([
        {"agent": "GPTBt", "suggestion": "GPTBot"},
        {"agent": "ExampleBot", "suggestion": null},
    ]);
    assert_eq!(object["unnamed_agents"], expected);
}

#[test]
fn an_agent_named_twice_is_asked_once() {
    let folder = Folder::new();
    let output = folder.pipe("classify --robots robots -a BadBot,badbot,Other", ALLOWED);
    assert_stdout(&output, format!("disallow\tallow\t{ALLOWED}\n"));
    assert_says(&output, &["note: -a has badbot twice"]);
}
