//! The words that hosts, paths and comments are made of.

use super::random::SplitMix64;

/// Things that sections of a site and hosts are called after.
pub(super) const NOUNS: [&str; 64] = [
    "account", "album", "archive", "article", "author", "basket", "blog", "book", "brand", "cart",
    "catalog", "category", "checkout", "city", "comment", "contact", "course", "download", "event",
    "feed", "file", "forum", "gallery", "garden", "guide", "harbour", "help", "image", "include",
    "job", "kitchen", "label", "lake", "library", "list", "login", "map", "market", "member",
    "message", "news", "offer", "order", "page", "partner", "photo", "player", "poll", "press",
    "print", "product", "profile", "recipe", "report", "review", "search", "shop", "station",
    "story", "tag", "theme", "ticket", "user", "video",
];

/// Words that tell two hosts or sections with one noun apart.
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

/// A host's name. Its position is part of it, so that no two are the same.
pub(super) fn host_name(mut random: SplitMix64, position: u64) -> String {
    const FRONTS: [&str; 6] = ["www.", "www.", "www.", "", "", "shop."];
    let front = random.pick(&FRONTS);
    let adjective = random.pick(&ADJECTIVES);
    let noun = random.pick(&NOUNS);
    format!("{front}{adjective}-{noun}-{position}.example")
}
