//! CSV of another program, if Python is installed.

use std::process::Command as Process;

use super::*;

/// Writes fields with everything that quotes allow.
const WRITE: &str = "
import csv, random
random.seed(5)
words = ['', 'a', ',', '\"', '\\n', '\\r\\n', ' ', '\\t', ';', 'https://b.example/', 'ü']
text = lambda: ''.join(random.choice(words) for _ in range(random.randrange(6)))
with open('l.csv', 'w', newline='', encoding='utf-8') as file:
    rows = csv.writer(file, quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    rows.writerow(['Title', 'Address', 'Note \"1\",'])
    for number in range(2000):
        path = random.choice(['private/', '', 'a,b/'])
        rows.writerow([text(), f'https://a.example/{path}{number}', text()])
";

/// Reads the rows that `filter` kept, and those that `classify` tagged.
const READ: &str = "
import csv
rows = lambda name: list(csv.reader(open(name, newline='', encoding='utf-8')))
own, kept, tagged = rows('l.csv'), rows('kept.csv'), rows('tagged.csv')
assert kept == [row for row in own if '/private/' not in row[1]], len(kept)
assert [row[:-1] for row in tagged] == own
verdicts = ['disallow' if '/private/' in row[1] else 'allow' for row in own]
assert [row[-1] for row in tagged[1:]] == verdicts[1:]
print(len(kept) - 1)
";

#[test]
fn python_reads_the_rows_that_are_kept_and_tagged() {
    let folder = Folder::new();
    let python = |script: &str| {
        let mut process = Process::new("python3");
        process.current_dir(folder.path("")).args(["-c", script]).output()
    };
    match python(WRITE) {
        Ok(output) => assert_status(&output, 0),
        Err(error) => return println!("skipped: python3: {error}"),
    }
    assert_status(&folder.run("classify l.csv -o tagged.csv", ""), 0);
    let summary = folder.run("filter l.csv -o kept.csv --summary json", "");
    let output = python(READ).unwrap();
    assert_status(&output, 0);
    let kept = String::from_utf8(output.stdout).unwrap();
    let summary = String::from_utf8(summary.stderr).unwrap();
    assert_contains(&summary, &[&format!("\"kept\":{},", kept.trim()), "\"records\":2000,"]);
}
