//! Parsers of flag values. Their errors say which values are accepted.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use portcullis_dialect::{Label, LabelError, words};
use portcullis_report::filter::Purpose;
use portcullis_robots::access::UnixSeconds;

use super::agents::AgentValue;
use super::limits::{MEMORY_IN_BYTES_MIN, PROCESSOR_THREADS_MAX};
use super::message::with_flags;

/// Returns the usage line of a command: the agents are required, though none of their flags is on its own.
pub fn usage(command: &str, agents: &str, inputs: &str) -> String {
    let line = format!("portcullis {command} {agents} <--robots PATH|-p SET> [OPTIONS] {inputs}");
    line.trim_end().to_owned()
}

/// Parses an argument that need not be UTF-8, such as a path.
pub fn path<T: Clone + Send + Sync + 'static>(
    parse: fn(OsString) -> Result<T, String>,
) -> impl TypedValueParser<Value = T> {
    OsStringValueParser::new().try_map(parse)
}

/// Parses the size of `--max-robots-size`.
pub fn bytes_max(text: &str) -> Result<usize, String> {
    match size(text)? {
        // With a limit of 0, every file would be empty and allow everything.
        0 => Err("must be at least 1".into()),
        bytes => Ok(bytes),
    }
}

/// Parses the memory of a compiler. A small number of bytes is a forgotten suffix.
pub fn compile_memory(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    if bytes >= MEMORY_IN_BYTES_MIN || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(bytes);
    }
    Err("without a unit, that is too few bytes; write a unit, such as 64MiB or 2GiB".into())
}

/// Parses a number of bytes with an optional suffix, or `unlimited`, which is [`usize::MAX`].
fn size(text: &str) -> Result<usize, String> {
    if text == "unlimited" {
        return Ok(usize::MAX);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: usize = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" | "kib" => 1024,
        "m" | "mib" => 1024 * 1024,
        "g" | "gib" => 1024 * 1024 * 1024,
        _ => {
            let expected =
                "expected bytes (512000), a suffix K, KiB, M, MiB, G or GiB (500KiB), or unlimited";
            return Err(expected.into());
        }
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| "expected a number of bytes, such as 512000 or 500KiB".into())
}

/// Parses one of `all` by its name.
pub fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(move |&item| name(item));
    PossibleValuesParser::new(names).map(move |text| {
        let found = all.iter().find(|&&item| name(item) == text);
        *found.expect("the parser accepts the names of these only")
    })
}

/// Parses one of `all` by the name before it.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [(&str, T)],
) -> impl TypedValueParser<Value = T> {
    named(all, |it| it.0).map(|it| it.1)
}

words! {
    /// The form of an output, called like the extension of a file, if it may be one. Each command has some.
    pub enum Format {
        Tsv => "tsv",
        Csv => "csv",
        Jsonl => "jsonl",
        Parquet => "parquet",
        Html => "html",
        Json => "json",
        Text => "text",
        Github => "github",
    }
}

impl Format {
    /// The forms of tables.
    pub const TABLES: &[Format] = &[Format::Tsv, Format::Jsonl, Format::Csv, Format::Parquet];

    /// The extension of a file in this form.
    pub fn extension(self) -> &'static str {
        if self == Format::Text { "txt" } else { self.as_str() }
    }
}

/// Parses one of `formats`.
pub fn format(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    named(formats, Format::as_str)
}

/// Parses an agent, and drops the white space around it, as in `-a "A, B"`.
pub fn agent(text: &str) -> Result<AgentValue, std::convert::Infallible> {
    Ok(AgentValue::new(text.trim()))
}

/// Parses a time, or a date, which means its first second in UTC.
pub fn time(text: &str) -> Result<UnixSeconds, String> {
    let time = UnixSeconds::from_text(text.as_bytes(), None);
    time.ok_or_else(|| "expected a date or time, such as 2024-03-10 or 2024-03-10T12:00:00Z".into())
}

/// A policy set, and the time as of which it is asked: `SET` or `SET@TIME`. `diff` also takes a
/// robots.txt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAt {
    pub path: PathBuf,
    pub time: Option<UnixSeconds>,
}

impl SetAt {
    /// Parses an argument. An existing file may have an `@` in its name.
    ///
    /// # Errors
    ///
    /// If a file has the name before the `@`, and no time follows.
    pub fn parse(text: OsString) -> Result<SetAt, String> {
        let parts = text.to_str().and_then(|text| text.rsplit_once('@'));
        if let Some((set, time)) = parts.filter(|(set, _)| !set.is_empty())
            && !Path::new(&text).exists()
        {
            match self::time(time) {
                Ok(time) => return Ok(SetAt { path: set.into(), time: Some(time) }),
                Err(problem) if Path::new(set).exists() => {
                    return Err(format!("after @, {problem}"));
                }
                Err(_) => {}
            }
        }
        Ok(SetAt { path: text.into(), time: None })
    }
}

/// Parses the value of `--at`.
pub fn at(text: &str) -> Result<UnixSeconds, String> {
    match text {
        "record" => Err("the time that each record has is --time-field record".into()),
        text => time(text),
    }
}

/// Parses a duration into seconds.
pub fn duration(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let seconds: Option<u64> = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(60 * 60),
        "d" => Some(24 * 60 * 60),
        "w" => Some(7 * 24 * 60 * 60),
        _ => None,
    };
    let product = seconds.zip(number.parse::<u64>().ok());
    let product = product.and_then(|(seconds, number)| number.checked_mul(seconds));
    product.ok_or_else(|| "expected a number and a unit s, m, h, d or w, such as 24h or 30d".into())
}

/// The value of `--max-age` in seconds; `None` for what the headers of the response say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxAge(pub Option<u64>);

/// Parses the value of `--max-age`.
pub fn max_age(text: &str) -> Result<MaxAge, String> {
    match (text, duration(text)) {
        ("headers", _) => Ok(MaxAge(None)),
        (_, Ok(seconds)) => Ok(MaxAge(Some(seconds))),
        (_, Err(error)) => Err(format!("{error}, or `headers`")),
    }
}

/// Parses the value of `--purpose`: a label, or `use=LEVEL`.
pub fn purpose(text: &str) -> Result<Purpose, String> {
    text.trim().parse().map_err(|error: String| with_flags(&error))
}

/// Parses a token of `--purpose-token`, which a group of robots.txt names.
pub fn purpose_token(text: &str) -> Result<String, String> {
    let token = text.trim();
    match token.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(&byte)) {
        true if !token.is_empty() => Ok(token.to_owned()),
        _ => Err("expected one product token of letters, - and _, such as Google-Extended".into()),
    }
}

/// Parses a label of `--usage`, or its name in Content-Signal.
pub fn label(text: &str) -> Result<Label, LabelError> {
    text.trim().parse()
}

/// Parses a number of threads. A number too high for this machine is lowered.
pub fn threads(text: &str) -> Result<usize, String> {
    let asked: usize = text.parse().map_err(|_| "expected a number of threads")?;
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(asked.min(processors.saturating_mul(PROCESSOR_THREADS_MAX)))
}

/// Parses the number of rows of `-n`.
pub fn rows(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a number of rows".to_owned())
}

/// Parses a scheme (RFC 3986, section 3.1) without its colon.
///
/// # Errors
///
/// If it has characters that a scheme has not.
pub fn scheme(text: &str) -> Result<String, String> {
    let scheme = text.to_ascii_lowercase();
    match &*scheme {
        "http" | "https" => Ok(scheme),
        _ => Err("expected http or https; URLs of other schemes have no robots.txt".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("1", 1),
            ("500KiB", 512_000),
            ("500k", 512_000),
            ("2M", 2_097_152),
            ("2mib", 2_097_152),
            ("unlimited", usize::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(bytes_max(text), Ok(bytes), "{text}");
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn malformed_sizes() {
        for text in ["", "0", "0K", "K", "-1", "1.5M", "500KB", "99999999999999999999", "1 M"] {
            assert!(bytes_max(text).is_err(), "{text}");
            assert_eq!(size(text).is_err(), !matches!(text, "0" | "0K"), "{text}");
        }
    }

    #[test]
    fn memory_without_a_suffix_is_not_a_small_number() {
        for text in ["4", "0", "64", "1048575"] {
            assert!(compile_memory(text).unwrap_err().contains("write a unit"), "{text}");
        }
        for text in ["1048576", "1K", "4GiB", "unlimited"] {
            assert_eq!(compile_memory(text), size(text), "{text}");
        }
        assert!(compile_memory("1TB").unwrap_err().contains("expected"));
    }

    #[test]
    fn threads_are_bounded_by_processors() {
        let processors = std::thread::available_parallelism().unwrap().get();
        let bound = processors * PROCESSOR_THREADS_MAX;
        for (asked, expected) in
            [(0, 0), (1, 1), (bound, bound), (bound + 1, bound), (usize::MAX, bound)]
        {
            assert_eq!(threads(&asked.to_string()), Ok(expected));
        }
        for text in ["", "-1", "two", "99999999999999999999999"] {
            assert!(threads(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in
            [("0s", 0), ("90m", 5400), ("24h", 86_400), ("30d", 2_592_000), ("1w", 604_800)]
        {
            assert_eq!(duration(text), Ok(seconds), "{text}");
        }
        for text in [
            "",
            "24",
            "h",
            "-1h",
            "1.5h",
            "1H",
            "1 h",
            "99999999999999999999s",
            "9999999999999999999w",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn schemes() {
        assert_eq!(scheme("HTTPS"), Ok("https".into()));
        for text in ["", "https:", "https://", "ftp", "ht tp"] {
            assert!(scheme(text).is_err(), "{text}");
        }
    }
}
