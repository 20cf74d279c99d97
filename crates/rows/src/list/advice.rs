//! What to do about inputs that are not read as they are, and lines that hold more than a URL.
//!
//! Each text names a command or a flag that leads to a list that is read.

use std::path::Path;

use serde_json::Value;

use super::log::is_known;
use super::log::words::is_host;
use super::place::URL_NAMES;
use super::{FieldPath, LogFormat};
use crate::input::STANDARD_INPUT;
use crate::limits::RECORDS_LOOKED_AT_MAX;
use portcullis_engine::vectors::{Kind, Vectors, Work};
use portcullis_files::input::{Coding, plain_extension, without_coding};
use portcullis_files::kind::FileKind;
use portcullis_robots::access::UnixSeconds;
use portcullis_text::shell::word as in_shell;

/// Returns a shell command that pipes the input called `name` through `tool` into a file with the
/// word `tag` in its name and an `extension`.
fn piped(name: &str, tool: &str, tag: &str, extension: Option<&str>) -> String {
    if name == STANDARD_INPUT {
        return format!("pipe it through {tool}");
    }
    let plain = without_coding(Path::new(name));
    let own = plain.extension().and_then(|it| it.to_str());
    // The command must not write over the file that it reads.
    let tag = if tag.is_empty() && own == extension { "-items" } else { tag };
    let extension = extension.or(own);
    let stem = plain.file_stem().unwrap_or_default().to_string_lossy();
    let out = match extension {
        Some(extension) => format!("{stem}{tag}.{extension}"),
        None => format!("{stem}{tag}"),
    };
    let (name_in_shell, out) = (in_shell(name), in_shell(&out));
    match Coding::from_file_name(Path::new(name)) {
        Some(Coding::Gzip) => format!("zcat {name_in_shell} | {tool} > {out}"),
        Some(Coding::Zstd) => format!("zstdcat {name_in_shell} | {tool} > {out}"),
        _ => format!("{tool} < {name_in_shell} > {out}"),
    }
}

/// Returns a shell command that makes a list of plain lines of the input called `name`.
fn to_lines(name: &str, tool: &str) -> String {
    piped(name, tool, "-urls", Some("txt"))
}

/// Returns the problem of an input whose lines end with CR, so that it is one line.
pub(super) fn cr_alone(name: &str) -> String {
    let command = piped(name, r"tr '\r' '\n'", "-lf", None);
    format!("its lines end with CR alone; make them LF: {command}")
}

/// Returns the problem of a row of CSV in which the last quote opens a field.
pub fn open_quote(name: &str) -> String {
    let command = piped(name, "tr -d '\"'", "-unquoted", None);
    format!(
        "a quoted field is not closed, so every row behind it is part of it; close it, or remove all \
         quotes if they mean nothing: {command}"
    )
}

/// Returns the problem of a W3C extended log whose fields change.
pub fn other_fields(name: &str) -> String {
    let plain = without_coding(Path::new(name));
    let stem = plain.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let stem: String = stem.chars().filter(is_plain).collect();
    let tool =
        format!("awk '/^#Fields/ {{close(f); f = \"{stem}-\" ++n \".log\"}} f {{print > f}}'");
    let command = match (Coding::from_file_name(Path::new(name)), in_shell(name)) {
        _ if name == STANDARD_INPUT => format!("pipe it through {tool}"),
        (Some(Coding::Gzip), name) => format!("zcat {name} | {tool}"),
        (Some(Coding::Zstd), name) => format!("zstdcat {name} | {tool}"),
        (_, name) => format!("{tool} {name}"),
    };
    format!("`#Fields` names other fields than before; make a file for each: {command}")
}

/// Returns the problem of a spreadsheet, or of a text in UTF-16.
pub(super) fn other_form(name: &str, first: &[u8], kind: FileKind) -> Option<String> {
    let has = |part: &[u8]| memchr::memmem::find(&first[..first.len().min(4096)], part).is_some();
    let is_office = || has(b"[Content_Types].xml") || has(b"xl/") || has(b"opendocument");
    let extension = plain_extension(Path::new(name)).unwrap_or_default();
    let is_named = ["xlsx", "xlsm", "ods"].contains(&extension.as_str());
    if kind == FileKind::Zip && (is_named || is_office()) || first.starts_with(OLE) {
        let file = if name == STANDARD_INPUT { "FILE".into() } else { in_shell(name) };
        let command = format!("soffice --headless --convert-to csv {file}");
        return Some(format!("a spreadsheet; save its sheet as CSV and pass that ({command})"));
    }
    let are_letters = |first: u8, second: u8| first.is_ascii_graphic() && second.is_ascii_graphic();
    let encoding = match first {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        [first, 0, second, 0, ..] if are_letters(*first, *second) => "UTF-16LE",
        [0, first, 0, second, ..] if are_letters(*first, *second) => "UTF-16BE",
        _ => return None,
    };
    let command = piped(name, &format!("iconv -f {encoding} -t UTF-8"), "-utf8", None);
    Some(format!("{encoding}; convert it first: {command}"))
}

/// The first bytes of a compound file, such as a spreadsheet of Excel up to 2003.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Whether a text begins as a JSON array of texts, objects or arrays.
pub(super) fn is_json_array(text: &[u8]) -> bool {
    let inside = text.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| matches!(inside, [b'{' | b'[' | b'"' | b']', ..]))
}

/// Returns the problem of a JSON array.
pub(super) fn json_array(name: &str, text: &[u8]) -> String {
    let inside = text.trim_ascii_start().get(1..).unwrap_or_default().trim_ascii_start();
    let command = match inside.starts_with(b"\"") {
        true => piped(name, "jq -r '.[]'", "", Some("txt")),
        false => piped(name, "jq -c '.[]'", "", Some("jsonl")),
    };
    format!("a JSON array; make a line of each item: {command}")
}

/// Returns the problem of JSON Lines of which no line is an object.
pub(super) fn no_object(name: &str, text: &[u8]) -> String {
    const OTHER: &str = "called JSON, and no line is a JSON object; try --input-format lines, or \
                         the format that it has";
    if !text.trim_ascii_start().starts_with(b"{") {
        return OTHER.to_owned();
    }
    let command = piped(name, "jq -c .", "-lines", Some("jsonl"));
    format!("an object takes several lines; make one line of each: {command}")
}

/// Returns the problem of a log that has none of the known formats. `line` is the first.
pub(super) fn unknown_log(line: &[u8]) -> String {
    let w3c = || w3c_without_fields(&String::from_utf8_lossy(line)).map(str::to_owned);
    log_in_json(line).or_else(w3c).unwrap_or_else(|| {
        let names: Vec<&str> = LogFormat::names().collect();
        format!(
            "a log whose format is not known; pass --log-format with the LogFormat or log_format line of its \
             server, or one of: {}",
            names.join(", ")
        )
    })
}

/// Returns the problem of JSON, perhaps behind other words, in which a text is the line of a log. `line` is the first.
pub(super) fn log_in_json(line: &[u8]) -> Option<String> {
    let start = memchr::memchr(b'{', line)?;
    let object: Value = serde_json::from_slice(&line[start..]).ok()?;
    let is_line = |text: &str| text.lines().next().is_some_and(|it| is_known(it.as_bytes()));
    let mut members = object.as_object()?.iter();
    let (name, _) = members.find(|(_, value)| value.as_str().is_some_and(is_line))?;
    let path = in_shell(&format!(".{name}")).into_owned();
    Some(match start {
        0 => format!("the field `{name}` has the line of a log; take it out with jq -r {path}"),
        _ => format!(
            "JSON behind other words, whose field `{name}` has the line of a log; take it out with sed \
             's/^[^{{]*//' and jq -r {path}"
        ),
    })
}

/// Returns the problem of JSON Lines whose objects have the URL in a text that is JSON itself. `line`
/// is the first of them.
pub(super) fn json_in_field(line: &[u8]) -> Option<String> {
    let object: Value = serde_json::from_slice(line).ok()?;
    let (outer, path) = object.as_object()?.iter().find_map(|(name, value)| {
        let text = value.as_str().filter(|text| text.trim_start().starts_with('{'))?;
        let inside: Value = serde_json::from_str(text).ok()?;
        let usual = URL_NAMES.iter().find(|usual| inside.get(**usual).is_some())?;
        Some((name, [name.clone(), (*usual).to_owned()]))
    })?;
    let path = FieldPath::from_names(path.to_vec());
    Some(format!(
        "the field `{outer}` is a text that holds JSON; name the URL in it: --url-field {path}"
    ))
}

/// Whether the cell at `place` of the first row of a table is a host or a URL, and no name of a
/// column.
pub(super) fn is_site(row: &[Vec<u8>], place: usize) -> bool {
    const WORDS: [&str; 14] = [
        "url", "uri", "link", "host", "domain", "page", "address", "href", "loc", "path", "site",
        "website", "id", "name",
    ];
    let cell = row[place].trim_ascii();
    if has_scheme(cell) {
        return true;
    }
    let host = cell.split(|&byte| byte == b'/').next().unwrap_or_default();
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_number = |cell: &Vec<u8>| !cell.is_empty() && cell.iter().all(u8::is_ascii_digit);
    let is_word = WORDS.iter().any(|word| last.eq_ignore_ascii_case(word.as_bytes()));
    is_host(host) && (!is_word || row.iter().any(is_number))
}

/// Returns the problem of a table without a header whose first row has hosts or several URLs. `None`
/// if it has none.
pub(super) fn sites(row: &[Vec<u8>]) -> Option<String> {
    let shown = |place: usize| String::from_utf8_lossy(row[place].trim_ascii()).into_owned();
    let urls: Vec<usize> = (0..row.len()).filter(|&place| has_scheme(&row[place])).collect();
    match urls[..] {
        [first, second, ..] => Some(format!(
            "no header, and the columns {} and {} have URLs (`{}` and `{}`); name one by its number, \
             such as --url-field {}",
            first + 1,
            second + 1,
            shown(first),
            shown(second),
            first + 1
        )),
        _ => {
            let place = (0..row.len()).find(|&place| is_site(row, place))?;
            Some(format!(
                "no header names a column, and column {0} has hosts (`{1}`); try --url-field {0} \
                 --assume-scheme https",
                place + 1,
                shown(place)
            ))
        }
    }
}

/// Returns what to do about a line of a W3C extended log whose fields are not named; `None` if it is none.
pub(super) fn w3c_without_fields(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split([' ', '\t']).collect();
    let is_request = |date: &str, time: &str| {
        let is_time = UnixSeconds::from_text(format!("{date}T{time}").as_bytes(), None).is_some();
        is_time && ["GET", "HEAD", "POST"].iter().any(|method| words.contains(method))
    };
    let is_directive = ["#Software:", "#Version:"].iter().any(|it| line.starts_with(it));
    let is_line = is_directive || matches!(words[..], [date, time, ..] if is_request(date, time));
    is_line.then_some("a W3C extended log; write the line `#Fields:` of its server before it")
}

/// Returns what a line that is no URL looks like if it is a row of a table with a URL or a host, and
/// what reads the list called `name`. `None` if it is no such row.
pub fn of_row(name: &str, line: &str) -> Option<String> {
    if line.trim().contains('\r') {
        let command = to_lines(name, r"tr '\r' '\n'");
        return Some(format!("it looks like lines that end with CR; make them LF: {command}"));
    }
    if let Some(quotes) = quotes_around(line.trim()) {
        let command = to_lines(name, &format!("tr -d {quotes}"));
        return Some(format!("it looks like URLs in quotes; remove them: {command}"));
    }
    if let Some(problem) = w3c_without_fields(line) {
        return Some(format!("it looks like {problem}"));
    }
    b"\t,;| ".iter().find_map(|&delimiter| {
        let fields: Vec<&str> = line.split(char::from(delimiter)).map(str::trim).collect();
        let is_site = |field: &&str| {
            let host = field.split('/').next().unwrap_or_default();
            is_host(host.as_bytes())
        };
        let url = fields.iter().position(|field| field.contains("://"));
        let place = url.or_else(|| fields.iter().position(is_site))?;
        let scheme = if url.is_some() { "" } else { " --assume-scheme https" };
        let number = place + 1;
        let way = match delimiter {
            _ if fields.len() == 1 => return None,
            b'\t' => format!("TSV; try --input-format tsv --url-field {number}{scheme}"),
            b',' => format!("CSV; try --input-format csv --url-field {number}{scheme}"),
            b' ' => {
                let number = 1 + fields[..place].iter().filter(|field| !field.is_empty()).count();
                let tool = format!("awk '{{print ${number}}}'");
                format!("words; keep word {number}: {}", to_lines(name, &tool))
            }
            other => {
                let tool = format!("cut -d '{}' -f {number}", char::from(other));
                format!("a table; keep field {number}: {}", to_lines(name, &tool))
            }
        };
        Some(format!("it looks like {way}"))
    })
}

/// Returns what a line is that has a URL in other text, as in Markdown and HTML, and what extracts the URLs of
/// the list called `name`. `None` if it has none.
pub fn of_text(name: &str, line: &str) -> Option<String> {
    let at = line.find("http://").or_else(|| line.find("https://"))?;
    let before = &line.as_bytes()[..at];
    let is_inside = [&b"("[..], b"[", b"=\"", b"='"].iter().any(|open| before.ends_with(open));
    // A URL without a scheme may have another one in its query.
    (is_inside && !before.contains(&b'?')).then(|| {
        let tool = r#"grep -oE 'https?://[^]<>()"'\'' ]+'"#;
        format!("it looks like text with URLs in it; extract them: {}", to_lines(name, tool))
    })
}

/// Returns the quotes around a line that is otherwise a URL or a host, as a shell reads them.
fn quotes_around(line: &str) -> Option<&'static str> {
    [('"', '"', "'\"'"), ('\'', '\'', "\"'\""), ('<', '>', "'<>'")].into_iter().find_map(
        |(open, close, in_shell)| {
            let inside = line.strip_prefix(open)?.strip_suffix(close)?;
            let start = inside.split([' ', '/']).next()?;
            let is_site = start.ends_with(':') || open != '<' && is_host(start.as_bytes());
            (is_site && !inside.contains([open, close])).then_some(in_shell)
        },
    )
}

/// Checks that most of the first lines are a URL each, and nothing else. The error says what else they
/// have, and what reads them.
pub(super) fn check_lines(name: &str, text: &[u8], is_whole: bool) -> Result<(), String> {
    let end = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    let text = if is_whole { text } else { &text[..end] };
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    let lines = ends.map(|end| text[std::mem::replace(&mut start, end + 1)..end].trim_ascii());
    let lines = lines.filter(|line| !line.is_empty()).take(RECORDS_LOOKED_AT_MAX);
    let lines: Vec<&[u8]> = lines.collect();
    let are_most =
        |is: fn(&[u8]) -> bool| 2 * lines.iter().filter(|it| is(it)).count() > lines.len();
    let first = lines.iter().find(|line| holds_more(line) || holds_urls(line));
    let shown = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let end = line.char_indices().nth(80).map_or(line.len(), |(at, _)| at);
        line[..end].escape_debug().to_string()
    };
    const AS_URLS: &str = "--input-format lines reads each line as one URL";
    let is_url = |record: &[u8]| has_scheme(record) && !record.contains(&b'\n');
    // Most lists have no NUL, which a search finds sooner than a loop over their bytes.
    let ends_with_nul = memchr::memchr(0, text).is_some_and(|end| {
        let rest = &text[end + 1..];
        is_url(&text[..end]) && is_url(&rest[..memchr::memchr(0, rest).unwrap_or(rest.len())])
    });
    if ends_with_nul {
        return Err("its records end with NUL; read them with -0".to_owned());
    }
    let fix = match first {
        Some(_) if are_most(holds_urls) => {
            let tool = r#"awk '{gsub(/[,;|] *http/, "\nhttp")} 1'"#;
            Some(("put each URL on its own line", tool.to_owned()))
        }
        Some(first) if are_most(holds_more) => {
            let end = first.iter().copied().find(ends_word).unwrap_or(b' ');
            let mut words = first.split(|&byte| byte == end).filter(|word| !word.is_empty());
            let escaped = if end == b' ' { " ".to_owned() } else { format!("\\{end:03o}") };
            Some(match words.all(has_scheme) {
                true => ("put each URL on its own line", format!("tr -s '{escaped}' '\\n'")),
                false if end == b' ' => ("keep the first word", "awk '{print $1}'".to_owned()),
                false => ("keep the first field", format!("awk -F '{escaped}' '{{print $1}}'")),
            })
        }
        _ => None,
    };
    if let Some((line, (fix, tool))) = first.zip(fix) {
        return Err(format!(
            "most lines hold more than a URL (`{}`); {fix}: {} ({AS_URLS})",
            shown(line),
            to_lines(name, &tool)
        ));
    }
    let (Some(first), true) = (lines.first(), lines.len() > 1) else { return Ok(()) };
    // Rows of a table, whose first cell is a URL.
    let separates = |delimiter: &u8| {
        let count = fields_of(first, *delimiter);
        count.is_some() && lines.iter().all(|line| fields_of(line, *delimiter) == count)
    };
    let Some(delimiter) = b",;|".iter().find(|it| separates(it)) else { return Ok(()) };
    let way = match delimiter {
        b',' => "try --input-format csv --url-field 1".to_owned(),
        other => {
            let tool = format!("cut -d '{}' -f 1", char::from(*other));
            format!("keep the first field: {}", to_lines(name, &tool))
        }
    };
    Err(format!(
        "a line may hold more than a URL (`{}`): if `{}` belongs to the URL, {AS_URLS}; if it separates \
         fields, {way}",
        shown(first),
        char::from(*delimiter)
    ))
}

/// Returns the number of lines that hold more than a URL, the number of the first of them, from 0, and
/// its text. `None` if there are none.
pub(super) fn lines_with_more(text: &[u8]) -> Option<(u64, u64, &[u8])> {
    let mut found: Option<(u64, u64, &[u8])> = None;
    let mut at = 0;
    while let Some(blank) = next_blank(&text[at..]) {
        let start = memchr::memrchr(b'\n', &text[..at + blank]).map_or(0, |end| end + 1);
        at = memchr::memchr(b'\n', &text[at + blank..]).map_or(text.len(), |end| at + blank + end);
        let line = text[start..at].trim_ascii();
        if holds_more(line) {
            let before = || memchr::memchr_iter(b'\n', &text[..start]).count() as u64;
            found.get_or_insert_with(|| (0, before(), line)).0 += 1;
        }
    }
    found
}

/// Returns the position of the first blank. Lists have few, so whole blocks are passed over, for a third
/// of the instructions of a search for the byte.
fn next_blank(text: &[u8]) -> Option<usize> {
    let before = Vectors::detect().run(BlocksBefore(text));
    memchr::memchr(b' ', &text[before..]).map(|blank| before + blank)
}

/// Finds the number of bytes in the blocks before the first one with a blank.
struct BlocksBefore<'t>(&'t [u8]);

impl Work for BlocksBefore<'_> {
    type Output = usize;

    #[inline(always)]
    fn with(self, _: impl Kind) -> usize {
        const BLOCK_BYTES: usize = 256;
        let (blocks, _) = self.0.as_chunks::<BLOCK_BYTES>();
        let has_blank = |block: &[u8; BLOCK_BYTES]| {
            block.iter().fold(0, |any, byte| any | u8::from(*byte == b' ')) != 0
        };
        blocks.iter().position(has_blank).unwrap_or(blocks.len()) * BLOCK_BYTES
    }
}

/// Whether a byte ends a word: a blank, or a control, with which tools separate fields. A TAB makes a table.
fn ends_word(byte: &u8) -> bool {
    *byte != b'\t' && (*byte == b' ' || byte.is_ascii_control())
}

/// Whether a line has a URL, the end of a word, and more text.
fn holds_more(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let Some(end) = line.iter().position(ends_word) else { return false };
    let word = &line[..end];
    let host = word.split(|&byte| byte == b'/').next().unwrap_or_default();
    has_scheme(word) || is_host(host)
}

/// Whether a text has a scheme and a host behind it somewhere.
pub(super) fn has_scheme(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"://").is_some()
}

/// Whether a line is a URL and more of them behind commas and the like. A query may have URLs.
fn holds_urls(line: &[u8]) -> bool {
    let line = line.split(|byte| b"?#".contains(byte)).next().unwrap_or_default();
    let is_web = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
    let ends = memchr::memchr3_iter(b',', b';', b'|', line);
    is_web(line) && ends.into_iter().any(|end| is_web(line[end + 1..].trim_ascii_start()))
}

/// Returns the number of fields of a line if the first is a URL, and none of the others continues it.
fn fields_of(line: &[u8], delimiter: u8) -> Option<usize> {
    let mut fields = line.split(|&byte| byte == delimiter);
    let first = fields.next().filter(|field| has_scheme(field))?;
    let count = fields.clone().count();
    (count > 0 && !first.ends_with(b"=") && fields.all(|field| !continues_url(field)))
        .then_some(count + 1)
}

/// Whether a text may be the rest of a URL: `00.html`, `id=1`, `a/b`. A media type is none.
fn continues_url(text: &[u8]) -> bool {
    const TYPES: [&[u8]; 5] = [b"text/", b"application/", b"image/", b"audio/", b"video/"];
    if TYPES.iter().any(|kind| text.starts_with(kind)) {
        return false;
    }
    let has_extension = text.iter().rposition(|&byte| byte == b'.').is_some_and(|dot| {
        let extension = &text[dot + 1..];
        extension.len() >= 2 && extension.iter().all(u8::is_ascii_alphabetic)
    });
    has_extension || text.iter().any(|byte| b"/=&?%".contains(byte))
}
