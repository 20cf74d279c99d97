//! Hosts on which engine, oracle and the `url` crate differ on purpose.

use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use url::Url;

/// Whether the host of `url`, which the oracle takes for a URL, is of a kind that the engine looks
/// into and the oracle does not: addresses, names outside ASCII, escapes, lengths. The oracle only
/// asks whether there is a host.
pub(crate) fn only_the_engine_refuses(url: &[u8]) -> bool {
    let host = host(url);
    host.iter().any(|byte| !byte.is_ascii() || b"%[]".contains(byte))
        || host.len() > HOST_BYTES_MAX
        || last_label(host).first().is_some_and(u8::is_ascii_digit)
}

/// The host of `url`, with its port if it stands in brackets.
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

/// The last part of a name; a final dot is no part.
fn last_label(host: &[u8]) -> &[u8] {
    let host = host.strip_suffix(b".").unwrap_or(host);
    host.rsplit(|&byte| byte == b'.').next().unwrap_or_default()
}

/// Whether the `url` crate may read `record`, as `theirs`, otherwise than this project does. It follows the URL
/// Standard, which fixes what people type; a list of URLs is compared byte by byte.
///
/// - TAB, LF and CR anywhere and controls at the ends are removed there; here a record is a line,
///   and only SP, TAB and CR around it go.
/// - `\` is `/` there; here it is a byte that no authority has.
/// - `http:host`, `http:/host` and `http:///host` name a server there; here `://` and then the host
///   are needed.
/// - `"`, `` ` ``, `{` and `}` may stand in a host there; no name has them, so here they may not.
/// - A URL and a host of any length are taken there; here [`limits`](portcullis_dialect::limits) hold.
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
