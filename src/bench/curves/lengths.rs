//! Growth with the length of URLs: a small file with stars, and ever longer paths.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::automaton::Limits;
use crate::decision::Verdict;
use crate::dialect::RFC_9309;
use crate::oracle;
use crate::policy::AgentChain;

use super::super::engines::numbered::Numbered;
use super::{Curve, line, mean_seconds, point};

/// Bytes of a path.
const LENGTHS: [usize; 6] = [16, 64, 256, 1_024, 4_096, 16_384];
/// Paths of each length.
const PATHS: usize = 64;

/// What real files have: a folder or two, parameters, an ending.
const ROBOTS: &[u8] = b"User-agent: *\nDisallow: /cart/\nDisallow: /*?sort=\nDisallow: /*&page=\n\
    Disallow: /*.pdf$\nAllow: /*/public/\nDisallow: /search\nDisallow: */print/*.html\n";

/// The curves of this file.
pub(super) fn curves(turn: Duration) -> Vec<Curve> {
    curves_of(turn, &LENGTHS)
}

pub(super) fn curves_of(turn: Duration, lengths: &[usize]) -> Vec<Curve> {
    let agent = AgentChain::parse("ExampleBot", &RFC_9309).expect("a token");
    let mut numbered = Numbered::new(&[ROBOTS], &agent, &RFC_9309, Limits::default());
    let ours = line("portcullis", lengths, |bytes| {
        let urls = urls(bytes);
        let mut allows = |url: &str| {
            let path = &url.as_bytes()[ORIGIN.len()..];
            numbered.decide([0].into_iter(), &[path])[0].verdict == Verdict::Allow
        };
        let judged = urls.iter().all(|url| allows(url) == by_oracle(url));
        assert!(judged, "ours answers as the oracle does");
        cost(turn, &urls, allows)
    });
    let judge = line("oracle", lengths, |bytes| cost(turn, &urls(bytes), by_oracle));
    vec![Curve {
        title: "Hot decisions, length of the path".to_owned(),
        x: "bytes of the path".to_owned(),
        y: "ns a URL".to_owned(),
        lines: vec![ours, judge],
    }]
}

const ORIGIN: &str = "https://a.example";

fn by_oracle(url: &str) -> bool {
    let decision = oracle::decide(&RFC_9309, ROBOTS, None, &["ExampleBot"], url.as_bytes());
    decision.verdict == Verdict::Allow
}

/// URLs whose paths have so many bytes; nothing settles early what they are.
fn urls(bytes: usize) -> Vec<String> {
    let url = |number: usize| {
        let mut url = format!("{ORIGIN}/{number}");
        while url.len() < ORIGIN.len() + bytes {
            url.push_str("/pri-cart?so.pd");
        }
        url.truncate(ORIGIN.len() + bytes);
        url
    };
    (0..PATHS).map(url).collect()
}

fn cost(turn: Duration, urls: &[String], mut allows: impl FnMut(&str) -> bool) -> super::Point {
    let start = Instant::now();
    let seconds = mean_seconds(turn, || {
        for url in urls {
            black_box(allows(url));
        }
    });
    point(seconds * 1e9 / urls.len() as f64, start.elapsed().as_secs_f64() - turn.as_secs_f64())
}
