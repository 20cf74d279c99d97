//! Shrinks a failure: lines first, then bytes.

use portcullis_testkit::case::Check;

/// Removes everything that `fails` does not need: lines and bytes of the file, bytes of the URL,
/// agents.
pub fn shrink(check: &Check, fails: impl Fn(&Check) -> bool) -> Check {
    let mut best = check.clone();
    loop {
        let before = size(&best);
        let unlimited = Check { robots_bytes_max: None, ..best.clone() };
        if fails(&unlimited) {
            best = unlimited;
        }
        let lines: Vec<Vec<u8>> =
            best.robots.split_inclusive(|byte| b"\r\n".contains(byte)).map(Vec::from).collect();
        let with_lines = |lines: &[Vec<u8>]| Check { robots: lines.concat(), ..best.clone() };
        let lines = needed(lines, |lines| fails(&with_lines(lines)));
        best = with_lines(&lines);
        let with_bytes = |bytes: &[u8]| Check { robots: bytes.to_vec(), ..best.clone() };
        let bytes = needed(best.robots.clone(), |bytes| fails(&with_bytes(bytes)));
        best = with_bytes(&bytes);
        let with_url = |url: &[u8]| Check { url: url.to_vec(), ..best.clone() };
        let url = needed(best.url.clone(), |url| fails(&with_url(url)));
        best = with_url(&url);
        let with_agents = |agents: &[String]| Check { agents: agents.to_vec(), ..best.clone() };
        let agents =
            needed(best.agents.clone(), |agents| !agents.is_empty() && fails(&with_agents(agents)));
        best = with_agents(&agents);
        if size(&best) == before {
            return best;
        }
    }
}

fn size(check: &Check) -> (usize, usize, usize, bool) {
    let limited = check.robots_bytes_max.is_some();
    (check.robots.len(), check.url.len(), check.agents.len(), limited)
}

/// Returns the units of `all` that remain after removing every run that is not needed, long runs
/// first.
fn needed<T: Clone>(all: Vec<T>, fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut kept = all;
    let mut run = kept.len().div_ceil(2);
    while run > 0 {
        let mut start = 0;
        while start < kept.len() {
            let end = (start + run).min(kept.len());
            let fewer = [&kept[..start], &kept[end..]].concat();
            if fails(&fewer) {
                kept = fewer;
            } else {
                start = end;
            }
        }
        run /= 2;
    }
    kept
}
