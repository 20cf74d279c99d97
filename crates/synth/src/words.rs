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

/// Appends the product token of the crawler at `rank`, where rank 0 is named by most files. Tokens
/// are unique and consist of letters and `-`, which every dialect accepts.
pub(super) fn write_agent(rank: u64, out: &mut Vec<u8>) {
    if let Some(name) = usize::try_from(rank).ok().and_then(|rank| AGENTS.get(rank)) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    let mut rest = rank - AGENTS.len() as u64;
    let mut next = |items: &[&'static str]| {
        let item = items[(rest % items.len() as u64) as usize];
        rest /= items.len() as u64;
        item
    };
    let words = [next(&NOUNS), next(&AGENT_KINDS), next(&ADJECTIVES)];
    out.extend_from_slice(words[2].as_bytes());
    out.push(b'-');
    out.extend_from_slice(words[0].as_bytes());
    out.extend_from_slice(words[1].as_bytes());
    while rest > 0 {
        rest -= 1;
        out.push(b'a' + (rest % 26) as u8);
        rest /= 26;
    }
}

/// Appends a host's name. It contains the position, so names are unique.
pub(super) fn write_host(mut random: SplitMix64, position: u64, out: &mut Vec<u8>) {
    const FRONTS: [&str; 6] = ["www.", "www.", "www.", "", "", "shop."];
    out.extend_from_slice(random.pick(&FRONTS).as_bytes());
    out.extend_from_slice(random.pick(&ADJECTIVES).as_bytes());
    out.push(b'-');
    out.extend_from_slice(random.pick(&NOUNS).as_bytes());
    out.push(b'-');
    write_number(position, out);
    out.extend_from_slice(b".example");
}

/// Appends a number in decimal digits.
pub(super) fn write_number(number: u64, out: &mut Vec<u8>) {
    if number >= 10 {
        write_number(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_agents_share_a_name() {
        let mut seen = HashSet::new();
        for rank in 0..100_000 {
            let mut name = Vec::new();
            write_agent(rank, &mut name);
            assert!(name.iter().all(|byte| byte.is_ascii_alphabetic() || b"-_12".contains(byte)));
            assert!(seen.insert(name.to_ascii_lowercase()), "{rank}");
        }
    }
}
