//! An exchange as a line of JSON.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::body::VECTOR_TAKES_ALL;
use super::exchange::Exchange;

/// The keys, in their order.
#[derive(Serialize)]
struct Line<'e> {
    url: &'e str,
    fetched_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redirects: Vec<&'e str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'e str>,
}

/// Appends an exchange. Its URLs and its body are UTF-8; what is not is left out.
pub(super) fn write(exchange: &Exchange<'_>, out: &mut Vec<u8>) {
    let response = exchange.response.as_ref();
    let truncated = response.is_some_and(|response| response.coding.is_damaged());
    let body = response.map(|response| {
        let bytes = if truncated { response.body.len() / 2 } else { response.body.len() };
        utf8(&response.body[..bytes])
    });
    let line = Line {
        url: utf8(&exchange.url),
        fetched_at: exchange.asked_at.to_string(),
        status: response.map(|response| response.status),
        error: response.is_none().then_some("time-out"),
        headers: response.map(|response| {
            let mut headers = Map::new();
            headers.insert("Content-Type".into(), json!(response.content_type));
            if let Some(location) = &response.location {
                headers.insert("Location".into(), json!(utf8(location)));
            }
            headers
        }),
        redirects: exchange.redirects.iter().map(|url| utf8(url)).collect(),
        truncated,
        body,
    };
    serde_json::to_writer(&mut *out, &line).expect(VECTOR_TAKES_ALL);
    out.push(b'\n');
}

/// As much of `bytes` as is UTF-8.
fn utf8(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
