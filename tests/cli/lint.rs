//! The catalogue of `lint` is the page of the documentation.

use super::*;

#[test]
fn the_catalogue_is_the_page() {
    let page = fs::read(project("docs/lint.md")).unwrap();
    assert_stdout(&Folder::new().ok("lint --explain all"), page);
}
