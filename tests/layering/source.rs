//! Reads Rust source just far enough to see which modules it names: comments, literals and test
//! modules are blanked, line by line as they stood, and paths are followed through nested braces.

/// A module of the crate that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The line, counted from 1.
    pub line: usize,
    /// The first name after the crate root: a top-level module, or an item of the root.
    pub target: String,
}

/// `source` with comments and literals blanked; every character but a line end becomes a space, so
/// line numbers stay.
pub fn without_comments_and_literals(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut kept = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let length = blank_length(&characters[at..], at > 0 && is_word(characters[at - 1]));
        let end = at + length.max(1);
        for &character in &characters[at..end] {
            let keep = length == 0 || character == '\n';
            kept.push(if keep { character } else { ' ' });
        }
        at = end;
    }
    kept
}

/// How many characters at the start of `rest` are a comment or a literal.
fn blank_length(rest: &[char], inside_word: bool) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => block_comment_length(rest),
        ['r', ..] if !inside_word => raw_string_length(rest, 1),
        ['b', 'r', ..] if !inside_word => raw_string_length(rest, 2),
        ['"', ..] => quoted_length(rest, '"'),
        ['\'', ..] => character_length(rest),
        _ => 0,
    }
}

fn block_comment_length(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a raw string whose prefix has `prefix` characters; 0 if there is none.
fn raw_string_length(rest: &[char], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    if rest.get(prefix + hashes) != Some(&'"') {
        return 0;
    }
    let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let start = prefix + hashes + 1;
    let inner = rest[start..].windows(closing.len());
    let end = inner.into_iter().position(|text| text == closing);
    end.map_or(rest.len(), |end| start + end + closing.len())
}

fn quoted_length(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A character literal's length; 0 for a lifetime.
fn character_length(rest: &[char]) -> usize {
    match rest {
        [_, '\\', ..] => quoted_length(rest, '\''),
        [_, _, '\'', ..] => 3,
        _ => 0,
    }
}

/// What is left of blanked `code` without the items under `#[cfg(test)]`, and the names of modules
/// that are declared there and stand in files of their own.
pub fn without_test_items(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut test_modules = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let item = &rest[start..];
        let length = MARK.len() + item_length(&item[MARK.len()..]);
        test_modules.extend(declared_module(&item[MARK.len()..length]));
        kept.push_str(&rest[..start]);
        kept.extend(item[..length].chars().filter(|&c| c == '\n'));
        rest = &item[length..];
    }
    kept.push_str(rest);
    (kept, test_modules)
}

/// The length of the item at the start of `code`: to its `;`, or to the brace that closes it.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn declared_module(item: &str) -> Option<String> {
    let words: Vec<&str> = item.trim_end_matches(';').split_whitespace().collect();
    match words.as_slice() {
        [.., "mod", name] if item.ends_with(';') => Some((*name).to_owned()),
        _ => None,
    }
}

/// The top-level modules that blanked `code` names, in a file `depth` modules below the root:
/// through `crate::`, through the crate's own name, or through as many `super::` as lead there.
pub fn imports(code: &str, depth: usize) -> Vec<Import> {
    let words = words_of(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let after = root_path_end(&words, at, depth);
        if let Some(after) = after {
            collect_targets(&words, after, &mut found);
        }
        at = after.unwrap_or(at + 1);
    }
    found
}

struct Word<'c> {
    text: &'c str,
    line: usize,
}

/// Names, `::`, and every other character by itself.
fn words_of(code: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            words.push(Word { text: &rest[..length], line: index + 1 });
            rest = rest[length..].trim_start();
        }
    }
    words
}

/// Where the path goes on that starts at `at` and leads to the crate's root.
fn root_path_end(words: &[Word], at: usize, depth: usize) -> Option<usize> {
    let text = |index: usize| words.get(index).map_or("", |word| word.text);
    if at > 0 && text(at - 1) == "::" {
        return None;
    }
    if matches!(text(at), "crate" | "portcullis") && text(at + 1) == "::" {
        return Some(at + 2);
    }
    let mut end = at + if text(at) == "self" && text(at + 1) == "::" { 2 } else { 0 };
    let mut climbed = 0;
    while text(end) == "super" && text(end + 1) == "::" {
        (end, climbed) = (end + 2, climbed + 1);
    }
    // A module inside the file stands deeper than the file, so more climbing leads to the root too.
    (depth > 0 && climbed >= depth).then_some(end)
}

/// The first names of the path or the braces at `at`.
fn collect_targets(words: &[Word], at: usize, found: &mut Vec<Import>) {
    let Some(first) = words.get(at) else { return };
    if first.text != "{" {
        found.push(target(first));
        return;
    }
    let mut depth = 1_usize;
    let mut starts_path = true;
    for word in &words[at + 1..] {
        match word.text {
            "{" => depth += 1,
            "}" if depth == 1 => return,
            "}" => depth -= 1,
            "," if depth == 1 => starts_path = true,
            _ if depth == 1 && starts_path => {
                found.push(target(word));
                starts_path = false;
            }
            _ => {}
        }
    }
}

fn target(word: &Word) -> Import {
    Import { line: word.line, target: word.text.to_owned() }
}

/// The lines of blanked `code` on which `name` stands as a word of its own.
pub fn lines_with_word(code: &str, name: &str) -> Vec<usize> {
    let words = words_of(code);
    let hits = words.iter().filter(|word| word.text == name);
    hits.map(|word| word.line).collect()
}

/// The lines of blanked `code` on which the macro `name` is called.
pub fn lines_with_macro(code: &str, name: &str) -> Vec<usize> {
    let words = words_of(code);
    let pairs = words.windows(2);
    let calls = pairs.filter(|pair| pair[0].text == name && pair[1].text == "!");
    calls.map(|pair| pair[0].line).collect()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
