//! Formats a check as a case for `tests/data`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::case::{Check, Expected};

/// Bytes of a file that are shown; the rest is cut, with a remark.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

/// Returns the entry of a case file for `check` with the answer `answer`.
pub fn entry(check: &Check, answer: Expected) -> String {
    let mut text = format!(
        "[[case]]\nname = {}\ndialect = {}\nclause = {}\nwhy = \"\"\npoint = \"\"\n",
        quoted(&check.case),
        quoted(check.dialect.name),
        quoted(&check.clause)
    );
    text += &bytes("robots", &check.robots);
    if let Some(url) = &check.robots_url {
        text += &bytes("robots_url", url);
    }
    text += &match check.robots_bytes_max {
        Some(bytes) => format!("robots_bytes_max = {bytes}\n"),
        None => "robots_bytes_max = \"unlimited\"\n".to_owned(),
    };
    text += &format!("agent = {}\n", quoted(&check.agents.join("+")));
    text += &bytes("url", &check.url);
    text += &format!("verdict = {}\n", quoted(answer.verdict.as_str()));
    text += &format!("reason = {}\n", quoted(answer.reason.as_str()));
    if let Some(line) = answer.line {
        text += &format!("line = {}\n", line.get());
    }
    text
}

/// Returns `key` with a string if the bytes are text, otherwise `key_base64`.
fn bytes(key: &str, bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
    let cut = if shown.len() < bytes.len() {
        format!("# cut: {} bytes in all\n", bytes.len())
    } else {
        String::new()
    };
    match std::str::from_utf8(shown) {
        Ok(text) => format!("{cut}{key} = {}\n", quoted(text)),
        Err(_) => format!("{cut}{key}_base64 = {}\n", quoted(&BASE64.encode(shown))),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
