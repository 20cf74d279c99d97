//! The hosts on which the engine intentionally differs from the oracle and the `url` crate.

use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use url::Url;

/// Whether the host of `url`, which the oracle accepts as a URL, is of a kind that only the engine
/// checks: addresses, names outside ASCII, escapes, lengths. The oracle only checks that there is a
/// host.
pub(crate) fn only_the_engine_refuses(url: &[u8]) -> bool {
    let host = host(url);
    host.iter().any(|byte| !byte.is_ascii() || b"%[]".contains(byte))
        || host.len() > HOST_BYTES_MAX
        || last_label(host).first().is_some_and(u8::is_ascii_digit)
}

/// Returns the host of `url`, with its port if the host is in brackets.
fn host(url: &[u8]) -> &[u8] {
    let after_scheme = url.windows(3).position(|part| part == b"://").map_or(0, |at| at + 3);
    let authority = &url[after_scheme..];
    let authority = authority.split(|byte| b"/?#".contains(byte)).next().unwrap_or_default();
    let host = authority.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    match host.iter().position(|&byte| byte == b':') {
        Some(colon) if !host.contains(&b'[') => &host[..colon],
        _ => host,
    }
}

/// Returns the last label of a name. A final dot is not a label.
fn last_label(host: &[u8]) -> &[u8] {
    let host = host.strip_suffix(b".").unwrap_or(host);
    host.rsplit(|&byte| byte == b'.').next().unwrap_or_default()
}

/// Whether the `url` crate may parse `record`, with the result `theirs`, differently from this
/// project. The crate follows the URL Standard, which corrects what people type, while a list of
/// URLs is compared byte by byte.
///
/// - The crate removes TAB, LF and CR anywhere and controls at the ends. Here only SP, TAB and CR
///   around a record are removed, and a URL with TAB, LF or CR inside is invalid.
/// - The crate treats `\` as `/`. Here it is a byte that is invalid in an authority.
/// - In the crate, `http:host`, `http:/host` and `http:///host` name a server. Here `://` and a
///   host are required.
/// - The crate allows `"`, `` ` ``, `{` and `}` in a host. No real name has them, so they are
///   invalid here.
/// - The crate accepts URLs and hosts of any length. Here [`limits`](portcullis_dialect::limits)
///   apply.
pub(crate) fn url_crate_differs(record: &[u8], theirs: &Url) -> bool {
    let host = theirs.host_str().unwrap_or_default();
    let controls = record.iter().any(|&byte| byte < b' ' || byte == 0x7f);
    let Some((scheme, rest)) = split_scheme(record) else { return true };
    let authority_ends = |byte: &u8| b"/?#".contains(byte);
    let authority = rest.split(authority_ends).next().unwrap_or_default();
    controls
        || scheme.is_empty()
        || authority.is_empty()
        || authority.contains(&b'\\')
        || host.contains(['"', '`', '{', '}'])
        || authority.len().max(host.len()) > HOST_BYTES_MAX
        || record.len() > URL_BYTES_MAX
}

fn split_scheme(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let record = record.trim_ascii();
    let colon = record.iter().position(|&byte| byte == b':')?;
    Some((&record[..colon], record[colon..].strip_prefix(b"://")?))
}
