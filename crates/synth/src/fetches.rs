//! The lines of an access log: who fetched the URLs of a corpus, and when.
//!
//! A third of the requests is by crawlers, the rest by browsers of many versions. A few requests have
//! no path or no header, as in the logs of real servers.

use super::archive::log_time;
use super::random::SplitMix64;

/// The share of requests by crawlers, and of those that are odd, per ten thousand.
const BY_CRAWLERS: u64 = 3_300;
const ODD: u64 = 20;

/// User-Agent headers of crawlers. The first are the most frequent.
const CRAWLERS: [&str; 12] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
    "python-requests/2.32.3",
    "Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot)",
    "curl/8.9.1",
];

const SYSTEMS: [&str; 4] = [
    "Windows NT 10.0; Win64; x64",
    "Macintosh; Intel Mac OS X 10_15_7",
    "X11; Linux x86_64",
    "Linux; Android 10; K",
];

const STATUSES: [u16; 8] = [200, 200, 200, 200, 200, 301, 304, 404];

/// Appends the line of a request for `url` at `time`, without a line end.
pub(super) fn write(mut random: SplitMix64, url: &[u8], time: u64, out: &mut Vec<u8>) {
    let text = std::str::from_utf8(url).expect("the URLs of a corpus are ASCII");
    let (scheme, rest) = text.split_once("://").expect("a scheme");
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let port = if scheme == "https" { 443 } else { 80 };
    let [a, b, c] = [(); 3].map(|()| random.below(256));
    let (status, bytes) = (random.pick(&STATUSES), 200 + random.below(60_000));
    let agent = match random.below(10_000) {
        share if share < BY_CRAWLERS => {
            // The lower of two numbers, so that the first are the most frequent.
            let [one, other] = [(); 2].map(|()| random.below(CRAWLERS.len() as u64));
            CRAWLERS[one.min(other) as usize].to_owned()
        }
        share if share < BY_CRAWLERS + ODD => "-".to_owned(),
        _ => {
            let (system, version) = (random.pick(&SYSTEMS), 90 + random.below(50));
            format!(
                "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.{}.0 \
                 Safari/537.36",
                random.below(20)
            )
        }
    };
    let request = match random.chance(ODD) {
        true => "-".to_owned(),
        false => format!("GET {} HTTP/1.1", path.replace('\\', r"\\").replace('"', "\\\"")),
    };
    let line = format!(
        "{host}:{port} 198.{a}.{b}.{c} - - [{}] \"{request}\" {status} {bytes} \"-\" \"{agent}\"",
        log_time(time)
    );
    out.extend_from_slice(line.as_bytes());
}
