//! The names of a Parquet file's columns.

/// Which columns of a Parquet file hold what. For those that are not named here, the file is
/// searched for the usual names, in any case, the first of which wins:
///
/// | | |
/// |---|---|
/// | `url` | `url`, `robots_url`, `uri` |
/// | `host` | `host`, `domain`, `hostname` |
/// | `status` | `status`, `fetch_status`, `http_status` |
/// | `body` | `body`, `content`, `robots_txt`, `text` |
/// | `fetched_at` | `fetched_at`, `fetch_time`, `warc_date`, `timestamp` |
///
/// Either a URL or a host is needed. A host that is named here counts before a URL that is not;
/// otherwise the URL does. Of the others, only `fetched_at` may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParquetColumns {
    /// The URL that was asked for, a text.
    pub url: Option<String>,
    /// The host whose robots.txt was asked for, a text.
    pub host: Option<String>,
    /// The status of the answer, a number; `null` or 0 if there was none.
    pub status: Option<String>,
    /// The decoded body, bytes or text; `null` if it is not known.
    pub body: Option<String>,
    /// When it was answered: a timestamp (taken as UTC if it has no zone), or a text as RFC 3339
    /// has it.
    pub fetched_at: Option<String>,
}
