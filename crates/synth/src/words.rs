//! The words used in hosts, paths and comments.

use super::random::SplitMix64;

/// Nouns in the names of sections and hosts.
pub(super) const NOUNS: [&str; 64] = [
    "account", "album", "archive", "article", "author", "basket", "blog", "book", "brand", "cart",
    "catalog", "category", "checkout", "city", "comment", "contact", "course", "download", "event",
    "feed", "file", "forum", "gallery", "garden", "guide", "harbour", "help", "image", "include",
    "job", "kitchen", "label", "lake", "library", "list", "login", "map", "market", "member",
    "message", "news", "offer", "order", "page", "partner", "photo", "player", "poll", "press",
    "print", "product", "profile", "recipe", "report", "review", "search", "shop", "station",
    "story", "tag", "theme", "ticket", "user", "video",
];

/// Words that distinguish hosts or sections with the same noun.
pub(super) const ADJECTIVES: [&str; 32] = [
    "amber", "annual", "basic", "bright", "classic", "daily", "early", "eastern", "fresh",
    "global", "golden", "green", "hidden", "inner", "junior", "large", "local", "lucky", "modern",
    "new", "northern", "old", "open", "public", "quick", "quiet", "rapid", "small", "steady",
    "top", "urban", "weekly",
];

/// Endings of file names.
pub(super) const EXTENSIONS: [&str; 12] = [
    ".html", ".php", ".pdf", ".jpg", ".css", ".js", ".aspx", ".htm", ".xml", ".png", ".cgi", ".doc",
];

/// Names of query parameters.
pub(super) const PARAMETERS: [&str; 16] = [
    "id",
    "page",
    "sort",
    "q",
    "lang",
    "ref",
    "order",
    "view",
    "filter",
    "utm_source",
    "session",
    "print",
    "replytocom",
    "s",
    "date",
    "format",
];

/// Product tokens of crawlers that many files name.
pub(super) const AGENTS: [&str; 32] = [
    "Googlebot",
    "Bingbot",
    "GPTBot",
    "CCBot",
    "MJ12bot",
    "AhrefsBot",
    "SemrushBot",
    "DotBot",
    "Yandex",
    "Baiduspider",
    "Mediapartners-Google",
    "AdsBot-Google",
    "Googlebot-Image",
    "Googlebot-News",
    "ClaudeBot",
    "PetalBot",
    "Bytespider",
    "Amazonbot",
    "Applebot",
    "DuckDuckBot",
    "Slurp",
    "ia_archiver",
    "Twitterbot",
    "facebookexternalhit",
    "BLEXBot",
    "DataForSeoBot",
    "Google-Extended",
    "PerplexityBot",
    "Nutch",
    "Wget",
    "MauiBot",
    "SeznamBot",
];

/// The last words in the names of crawlers that few files name.
const AGENT_KINDS: [&str; 8] =
    ["bot", "Crawler", "Spider", "Fetcher", "-agent", "Robot", "Copier", "Search"];

/// Returns the product token of the crawler at `rank`, where rank 0 is named by most files. The tokens
/// of the first 16,416 ranks are unique. They consist of letters and `-`, which every dialect accepts.
pub(super) fn agent(rank: u64) -> String {
    let rank = rank as usize;
    let Some(rest) = rank.checked_sub(AGENTS.len()) else {
        return AGENTS[rank].to_owned();
    };
    let (noun, rest) = (NOUNS[rest % NOUNS.len()], rest / NOUNS.len());
    let (kind, rest) = (AGENT_KINDS[rest % AGENT_KINDS.len()], rest / AGENT_KINDS.len());
    format!("{}-{noun}{kind}", ADJECTIVES[rest % ADJECTIVES.len()])
}

/// Returns a host's name. It contains the position, so names are unique.
pub(super) fn host(mut random: SplitMix64, position: u64) -> String {
    const FRONTS: [&str; 6] = ["www.", "www.", "www.", "", "", "shop."];
    let [front, adjective, noun] =
        [&FRONTS[..], &ADJECTIVES, &NOUNS].map(|words| random.pick(words));
    [front, adjective, "-", noun, "-", &position.to_string(), ".example"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_agents_share_a_name() {
        let mut seen = HashSet::new();
        for rank in 0..16_416 {
            let name = agent(rank);
            assert!(name.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_12".contains(&byte)));
            assert!(seen.insert(name.to_ascii_lowercase()), "{rank}");
        }
    }
}
