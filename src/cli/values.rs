//! Values of flags: text to numbers, dialects and schemes, with errors that say what is accepted.

use std::num::NonZero;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use portcullis::access::{LongOutage, UnixSeconds};
use portcullis::bench::{Model, RunnerCommand};
use portcullis::capture::CaptureFormat;
use portcullis::dialect::Dialect;
use portcullis::limits::PROCESSOR_THREADS_MAX;

use super::message::say_plainly;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesMax(pub Option<usize>);

/// Reads how much of a file is read: a size, or `unlimited`.
pub fn bytes_max(text: &str) -> Result<BytesMax, String> {
    match size(text)? {
        // A file of which nothing is read would allow everything.
        Some(0) => Err("nothing of any file would be read; write at least 1".into()),
        bytes => Ok(BytesMax(bytes)),
    }
}

/// Reads how many bytes of memory something may take: a size, or `unlimited`.
pub fn memory(text: &str) -> Result<usize, String> {
    Ok(size(text)?.unwrap_or(usize::MAX))
}

/// Reads a size: bytes, or a number with a unit behind it; `None` for `unlimited`.
fn size(text: &str) -> Result<Option<usize>, String> {
    if text == "unlimited" {
        return Ok(None);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: usize = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" | "kib" => 1024,
        "m" | "mib" => 1024 * 1024,
        _ => return Err("write bytes (512000), K, KiB, M or MiB (500KiB), or unlimited".into()),
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes.map(Some).ok_or_else(|| "write a number of bytes, such as 512000 or 500KiB".into())
}

/// Reads a dialect's name.
pub fn dialect() -> impl TypedValueParser<Value = &'static Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(|dialect| dialect.name)).map(|name| {
        Dialect::by_name(&name).expect("the parser lets only the names of dialects pass")
    })
}

/// Reads the name of a format of captures.
pub fn capture_format() -> impl TypedValueParser<Value = CaptureFormat> {
    PossibleValuesParser::new(CaptureFormat::ALL.map(CaptureFormat::as_str)).map(|name| {
        let named = CaptureFormat::ALL.into_iter().find(|format| format.as_str() == name);
        named.expect("the parser lets only the names of formats pass")
    })
}

/// Reads the name of what `bench` measures.
pub fn bench_model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::ALL.map(Model::as_str)).map(|name| {
        let named = Model::ALL.into_iter().find(|model| model.as_str() == name);
        named.expect("the parser lets only the names of models pass")
    })
}

/// Reads a runner of `bench`.
pub fn runner(text: &str) -> Result<RunnerCommand, String> {
    text.parse()
}

/// Reads a time as RFC 3339 has it, or a date for its first second in UTC.
pub fn time(text: &str) -> Result<UnixSeconds, String> {
    let of_date = || UnixSeconds::from_rfc3339(format!("{text}T00:00:00Z").as_bytes());
    let time = UnixSeconds::from_rfc3339(text.as_bytes()).or_else(of_date);
    time.ok_or_else(|| "write a date or a time, such as 2024-03-10 or 2024-03-10T12:00:00Z".into())
}

/// Reads what follows a long outage.
pub fn long_outage() -> impl TypedValueParser<Value = LongOutage> {
    PossibleValuesParser::new(LongOutage::ALL.map(LongOutage::as_str)).map(|name| {
        let named = LongOutage::ALL.into_iter().find(|change| change.as_str() == name);
        named.expect("the parser lets only the names of changes pass")
    })
}

/// Reads seconds: a number that is not negative.
pub fn seconds(text: &str) -> Result<f64, String> {
    /// A day is longer than anybody waits.
    const SECONDS_MAX: f64 = 86_400.0;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
    seconds.ok_or_else(|| "write seconds, such as 0.1 or 30".into())
}

/// Reads a number of threads. One that is too high for this machine is lowered, with a note on
/// standard error.
pub fn threads(text: &str) -> Result<usize, String> {
    let asked = text.parse().map_err(|_| "write a number of threads; 0 means one per processor")?;
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads_on(processors, asked);
    if threads < asked {
        say_plainly(format_args!(
            "note: -j {asked}: {threads} threads are used, {PROCESSOR_THREADS_MAX} per processor"
        ));
    }
    Ok(threads)
}

fn threads_on(processors: usize, asked: usize) -> usize {
    asked.min(processors.saturating_mul(PROCESSOR_THREADS_MAX))
}

/// Reads a scheme (RFC 3986, section 3.1), without the colon behind it.
pub fn scheme(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if starts && text.bytes().all(goes_on) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("write a scheme alone, such as https".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("1", Some(1)),
            ("500KiB", Some(512_000)),
            ("500k", Some(512_000)),
            ("2M", Some(2_097_152)),
            ("2mib", Some(2_097_152)),
            ("unlimited", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(bytes_max(text), Ok(BytesMax(bytes)), "{text}");
            assert_eq!(memory(text), Ok(bytes.unwrap_or(usize::MAX)), "{text}");
        }
    }

    #[test]
    fn sizes_that_are_none() {
        for text in ["", "0", "0K", "K", "-1", "1.5M", "500KB", "99999999999999999999", "1 M"] {
            assert!(bytes_max(text).is_err(), "{text}");
            assert_eq!(memory(text).is_err(), !matches!(text, "0" | "0K"), "{text}");
        }
    }

    #[test]
    fn threads_are_bounded_by_processors() {
        let bound = PROCESSOR_THREADS_MAX;
        assert_eq!([0, 1, 2 * bound].map(|asked| threads_on(2, asked)), [0, 1, 2 * bound]);
        assert_eq!([2 * bound + 1, usize::MAX].map(|asked| threads_on(2, asked)), [2 * bound; 2]);
        for text in ["", "-1", "two", "99999999999999999999999"] {
            assert!(threads(text).is_err(), "{text}");
        }
    }

    #[test]
    fn schemes() {
        assert_eq!(scheme("HTTPS"), Ok("https".into()));
        for text in ["", "https:", "https://", "1http", "ht tp"] {
            assert!(scheme(text).is_err(), "{text}");
        }
    }
}
