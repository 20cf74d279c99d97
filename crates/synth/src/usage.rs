//! Generates the usage preferences of a host.
//!
//! Preferences belong to a host, not to its template: on the web, the network that serves the site
//! mostly prepends them. They have their own stream of random numbers, so a corpus with preferences
//! has the same groups, rules and URLs as the corpus without them.

use super::random::SplitMix64;
use super::robots::HostLines;
use super::site::Site;

// Shares of hosts, per ten thousand.
/// Content-Signal: 271 of the 6,638 files of the Tranco top 10,000 that Thunderbit read in 2026
/// mention it (<https://thunderbit.com/blog/robots-txt-problems>).
const CONTENT_SIGNAL: u64 = 408;
/// License: 0.78 % of the hosts that the AI Discovery Radar asked in September 2026 serve
/// `/rsl.xml` (doi:10.5281/zenodo.22294785).
const LICENSE: u64 = 78;
/// Content-Usage: a tenth of Content-Signal. An assumption, because no count has been published.
const CONTENT_USAGE: u64 = 41;

/// Content-Signal as in Cloudflare's managed files, and the three choices of contentsignals.org.
/// Nearly all sites have the managed one.
const SIGNALS: [&str; 4] = [
    "search=yes,ai-train=no,use=reference",
    "search=yes, ai-input=no, ai-train=no",
    "search=yes, ai-input=yes, ai-train=no",
    "search=yes, ai-input=yes, ai-train=yes",
];
/// The share of managed signals among all signals.
const MANAGED: u64 = 8_500;

/// The values of Content-Usage for a whole site.
const SITE: [&str; 3] = ["train-ai=n", "train-ai=n, search=y", "train-ai=n, ai-use=n"];
/// The values of Content-Usage for a part of a site.
const PART: [&str; 2] = ["train-ai=y", "search=n"];
/// The share of hosts with Content-Usage that have a second line, for a part of the site.
const WITH_PATH: u64 = 5_000;

/// Adds the preferences of the host called `host`, drawn from its stream, to its lines.
pub(super) fn add_lines(mut random: SplitMix64, host: &[u8], site: Site, lines: &mut HostLines) {
    if random.chance(LICENSE) {
        lines.before_groups.push([b"License: https://", host, b"/rsl.xml"].concat());
    }
    if random.chance(CONTENT_SIGNAL) {
        let managed = random.chance(MANAGED);
        let signal = if managed { SIGNALS[0] } else { random.pick(&SIGNALS[1..]) };
        lines.default_group.push([b"Content-Signal: ", signal.as_bytes()].concat());
    }
    if random.chance(CONTENT_USAGE) {
        let whole = random.pick(&SITE);
        lines.default_group.push([b"Content-Usage: ", whole.as_bytes()].concat());
        if random.chance(WITH_PATH) {
            let mut line = b"Content-Usage: /".to_vec();
            site.write_section(&mut random, &mut line);
            line.extend([b"/ ", random.pick(&PART).as_bytes()].concat());
            lines.default_group.push(line);
        }
    }
}
