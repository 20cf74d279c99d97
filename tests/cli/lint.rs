//! `portcullis lint`.

use super::*;

const FAULTY: &str = "\
User-agent: *
Disalow: /private/
Disallow: /a
Disallow: /b*
Disallow: /a
";

fn lint(line: &str, input: &str) -> Output {
    let folder = Folder::new();
    folder.write("robots.txt", FAULTY);
    folder.pipe(format!("lint {line}"), input)
}

#[test]
fn a_diagnostic_shows_its_line() {
    let output = lint("robots.txt", "");
    assert_status(&output, 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let parts = [
        "error[PC013]: `Disalow` is a misspelling of `Disallow`",
        "--> robots.txt:2:1",
        "2 | Disalow: /private/",
        "| ^^^^^^^",
        "= note: google: disallow `/private/`",
        "help: write `Disallow`",
    ];
    assert_contains(&text, &parts);
    assert!(!text.contains('\x1b'), "{text}");
    let err = String::from_utf8(output.stderr).unwrap();
    let hint = "2 findings are not shown; use --level info to see all";
    assert_eq!(err, format!("files: 1, errors: 1, warnings: 0, infos: 2\n{hint}\n"));
    assert!(!text.contains("PC037"), "{text}");
}

#[test]
fn the_status_depends_on_findings() {
    let rows = [
        ("", 0),
        ("--fail", 1),
        ("--fail --level error", 1),
        ("--fail --allow misspelt-field", 0),
        ("--fail --allow PC013 --format json", 0),
        ("--fail --allow PC013 --level info", 1),
        ("--fail --allow PC013,PC037 --allow duplicate-rule --level info", 0),
    ];
    for (flags, status) in rows {
        let output = lint(&format!("robots.txt {flags}"), "");
        assert_eq!(output.status.code(), Some(status), "{flags}");
    }
}

#[test]
fn findings_below_the_level_are_counted() {
    let codes = |flags: &str| {
        let output = lint(&format!("robots.txt {flags}"), "");
        let out = text(&output.stdout);
        let shown = ["PC013", "PC037", "PC040"].map(|code| out.contains(code));
        (shown, text(&output.stderr).contains("not shown"))
    };
    for (flags, shown) in [
        ("", [true, false, false]),
        ("--format github", [true, false, false]),
        ("--format json", [true; 3]),
        ("--format json --level warning", [true, false, false]),
        ("--level info", [true; 3]),
        ("--level error", [true, false, false]),
        ("--level error --allow PC013", [false; 3]),
        ("--statistics", [true; 3]),
    ] {
        let hidden = shown.contains(&false) && flags != "--statistics";
        assert_eq!(codes(flags), (shown, hidden), "{flags}");
    }
    assert_fails(&lint("robots.txt --statistics --level error", ""), &["--level"]);
}

#[test]
fn an_unreadable_file_is_named_and_the_others_are_reported() {
    let output = lint("nothing.txt robots.txt --format github --fail", "");
    assert_status(&output, 2);
    assert!(text(&output.stdout).contains("::error file=robots.txt,line=2,col=1"));
    assert_says(&output, &["error: nothing.txt: no such file or directory"]);
}

#[test]
fn standard_input_is_a_file() {
    let output = lint("- --format github", "User-agent *\n");
    assert_status(&output, 0);
    let expected = "::error file=<stdin>,line=1,col=1,endColumn=11,title=PC010 missing-colon::";
    assert!(text(&output.stdout).starts_with(expected), "{}", text(&output.stdout));
}

#[test]
fn a_folder_is_all_its_files_by_name() {
    let folder = Folder::new();
    folder.write("robots/below/c.example", "User-agent *\n");
    folder.write("robots/0.example", "User-agent: a/1\nDisallow: /\n");
    let output = folder.ok("lint robots --format github -j 2");
    let out = String::from_utf8(output.stdout).unwrap();
    let files: Vec<&str> = out.lines().map(|line| line.split([',', '=']).nth(1).unwrap()).collect();
    assert_eq!(files, ["robots/0.example", "robots/below/c.example"]);
    let one = folder.output("lint robots --format github -j 1");
    assert_eq!(text(&one.stdout), text(out.as_bytes()));
}

#[test]
fn each_format_is_sound() {
    let golden = |form: &str| {
        let output = lint(&format!("robots.txt - --level info --format {form}"), "<html>\n");
        assert_status(&output, 0);
        output.stdout
    };
    for (form, name) in
        [("human", "txt"), ("json", "json"), ("sarif", "sarif"), ("github", "github")]
    {
        assert_golden(&format!("lint.{name}"), &golden(form));
    }
    let report = json(&golden("json"));
    assert_eq!(report["dialect"], "rfc9309");
    let first = &report["diagnostics"][0];
    assert_eq!((&first["code"], &first["line"]), (&"PC013".into(), &2.into()));
    assert_eq!(first["dialects"]["google"], "disallow `/private/`");
    assert_sarif(&json(&golden("sarif")));
    assert_sarif(&json(&lint("- --format sarif", "").stdout));
    assert_eq!(json(&lint("- --format json", "").stdout)["diagnostics"], json!([]));
}

/// Compares output with the golden file, in which VERSION is the version.
#[track_caller]
fn assert_golden(name: &str, output: &[u8]) {
    let path = project("tests/lint/golden").join(name);
    let output = String::from_utf8(output.to_vec()).unwrap();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let output = output.replace(&version, "\"version\":\"VERSION\"");
    if std::env::var_os("PORTCULLIS_WRITE_GOLDEN").is_some() {
        fs::write(&path, &output).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == output,
        "{name} has changed; look at the difference, then write it again with \
        PORTCULLIS_WRITE_GOLDEN=1 cargo test --test cli lint\n{output}"
    );
}

/// Checks what SARIF 2.1.0 requires of the objects and their numbers.
#[track_caller]
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["id"].is_string()));
    assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()));
    for result in run["results"].as_array().unwrap() {
        assert!(result["message"]["text"].is_string(), "{result}");
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
        for location in result["locations"].as_array().unwrap().iter().chain(&related) {
            let physical = &location["physicalLocation"];
            assert!(physical["artifactLocation"]["uri"].is_string(), "{result}");
            assert_region(&physical["region"]);
        }
        for fix in result["fixes"].as_array().into_iter().flatten() {
            for change in fix["artifactChanges"].as_array().unwrap() {
                assert!(change["artifactLocation"]["uri"].is_string(), "{result}");
                let replacements = change["replacements"].as_array().unwrap();
                assert!(!replacements.is_empty(), "{result}");
                replacements.iter().for_each(|one| assert_region(&one["deletedRegion"]));
            }
        }
    }
}

#[track_caller]
fn assert_region(region: &Value) {
    for key in ["startLine", "startColumn", "endColumn"] {
        assert!(region[key].as_u64().unwrap() >= 1, "{region}");
    }
}

#[test]
fn statistics_count_by_code() {
    let output = lint("robots.txt robots --statistics", "");
    assert_status(&output, 0);
    let expected = "1\t1\tPC013\terror\tmisspelt-field\n\
        1\t1\tPC037\tinfo\tneedless-star\n\
        1\t1\tPC040\tinfo\tduplicate-rule\n";
    assert_stdout(&output, expected);
    assert!(text(&output.stderr).contains("files: 3, "));
}

#[test]
fn the_catalogue_explains_codes() {
    for written in ["PC013", "pc013", "misspelt-field"] {
        let output = lint(&format!("--explain {written}"), "");
        assert_status(&output, 0);
        assert!(text(&output.stdout).starts_with("PC013 misspelt-field (error)"));
    }
    assert_fails(&lint("--explain PC999", ""), &["PC999", "docs/lint.md"]);
    assert_fails(&lint("", ""), &["FILE"]);
    let all = lint("--explain all", "");
    assert_stdout(&all, fs::read(project("docs/lint.md")).unwrap());
}

#[test]
fn a_fix_is_a_diff_and_changes_no_verdict() {
    let folder = Folder::new();
    folder.write("robots.txt", FAULTY);
    let output = folder.ok("lint --fix robots.txt");
    let expected = "\
--- a/robots.txt
+++ b/robots.txt
@@ -2,4 +2,3 @@
 Disalow: /private/
 Disallow: /a
 Disallow: /b*
-Disallow: /a
";
    assert_stdout(&output, expected);
    assert_says(&output, &["robots.txt:4: PC037 not fixed: in original1994", "fixed: 1"]);
    assert_eq!(folder.read("robots.txt"), FAULTY.as_bytes());
}

#[test]
fn a_fix_for_one_dialect_may_do_more_and_is_written_in_place() {
    let folder = Folder::new();
    folder.write("robots.txt", FAULTY);
    let line = "lint --fix --in-place --dialect rfc9309 --fail --allow PC013 robots.txt";
    folder.ok(line);
    let fixed = "User-agent: *\nDisalow: /private/\nDisallow: /a\nDisallow: /b\n";
    assert_eq!(text(&folder.read("robots.txt")), text(fixed.as_bytes()));
    assert_eq!(folder.names(), ["robots.txt"]);
    let again = folder.output(line);
    assert_stdout(&again, "");
    assert_status(&folder.pipe("lint --fix --in-place -", FAULTY), 2);
}

#[test]
fn a_file_past_the_limit_keeps_its_end() {
    let folder = Folder::new();
    let text_before = format!("{FAULTY}Disallow: /c\n# end\n");
    folder.write("robots.txt", &text_before);
    folder.ok("lint --fix --in-place --max-robots-size 90 robots.txt");
    assert!(folder.read("robots.txt").ends_with(b"Disallow: /c\n# end\n"));
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let output = lint("robots.txt --color always", "");
    assert!(output.stdout.contains(&0x1b));
}
