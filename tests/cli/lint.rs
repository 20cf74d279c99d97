//! `lint --format sarif` has what SARIF 2.1.0 requires, and the catalogue is the page of the
//! documentation.

use super::*;

#[test]
fn sarif_is_sound() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisalow: /\nDisallow: /b*\nDisallow: /b*\n");
    let sarif = |files: &str, input: &str| {
        json(&folder.pipe(format!("lint --format sarif {files}"), input).stdout)
    };
    assert_sarif(&sarif("robots.txt -", "<html>\n"));
    assert_sarif(&sarif("-", ""));
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
fn the_catalogue_is_the_page() {
    let page = fs::read(project("docs/lint.md")).unwrap();
    assert_stdout(&Folder::new().ok("lint --explain all"), page);
}
