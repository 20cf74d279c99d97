//! The registrable domain of a host, by the Public Suffix List.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! The list is `suffixes.txt`, which `scripts/suffixes` writes; its licence is at its head. A table of
//! its ten thousand rules is made when the first host is asked. A look-up takes a fraction of a
//! microsecond.
//!
//! ```
//! use portcullis_domain::domain;
//!
//! assert_eq!(domain(b"www.example.co.uk:8080"), Some(&b"example.co.uk"[..]));
//! assert_eq!(domain(b"co.uk"), None);
//! assert_eq!(domain(b"127.0.0.1"), None);
//! ```

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

/// The list, by the version of the crate that it is from.
pub const LIST: &str = "Public Suffix List of psl 2.1.247";

/// The entry of the list for a name.
#[derive(Clone, Copy, Default)]
struct Rule {
    /// It is a public suffix.
    is_suffix: bool,
    /// `*.NAME`: what is one label longer is a public suffix.
    covers_labels: bool,
    /// `!NAME`: it is not a public suffix, although it has one label more than a name that covers it.
    is_exception: bool,
}

static RULES: LazyLock<HashMap<&[u8], Rule>> = LazyLock::new(|| {
    let mut rules: HashMap<&[u8], Rule> = HashMap::with_capacity(1 << 14);
    let lines = include_str!("suffixes.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let name = line.strip_prefix("*.").or(line.strip_prefix('!')).unwrap_or(line);
        let rule = rules.entry(name.as_bytes()).or_default();
        match line.as_bytes()[0] {
            b'*' => rule.covers_labels = true,
            b'!' => rule.is_exception = true,
            _ => rule.is_suffix = true,
        }
    }
    rules
});

/// The most labels of a public suffix. A test counts them.
const LABELS_MAX: usize = 7;

/// Returns the part of a host that is registered with the owner of its public suffix: the suffix and
/// one label more. `host` is in lower case and in A-labels, and may have a port. `None` for
/// addresses, for public suffixes, and for names whose suffix is not in the list.
pub fn domain(host: &[u8]) -> Option<&[u8]> {
    let colon = host.iter().position(|&byte| byte == b':');
    let name = &host[..colon.unwrap_or(host.len())];
    let is_address = name.starts_with(b"[")
        || str::from_utf8(name).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok());
    if is_address {
        return None;
    }
    let name = name.strip_suffix(b".").unwrap_or(name);
    let suffix = suffix_start(name)?;
    let label_end = suffix.checked_sub(1)?;
    let label = name[..label_end].rsplit(|&byte| byte == b'.').next()?;
    (label_end > 0).then(|| &name[label_end - label.len()..])
}

/// Returns where the longest public suffix begins in a name, or `None` if the list has none.
fn suffix_start(name: &[u8]) -> Option<usize> {
    let (mut suffix, mut is_covered, mut end) = (None, false, name.len());
    for _ in 0..=LABELS_MAX {
        let start = name[..end].iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1);
        let rule = RULES.get(&name[start..]).copied().unwrap_or_default();
        if rule.is_exception {
            return Some(end + 1);
        }
        if rule.is_suffix || is_covered {
            suffix = Some(start);
        }
        is_covered = rule.covers_labels;
        let Some(dot) = start.checked_sub(1) else { break };
        end = dot;
    }
    suffix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains() {
        let cases: [(&str, Option<&str>); 21] = [
            ("example.com", Some("example.com")),
            ("a.b.example.com", Some("example.com")),
            ("a.example.co.uk:8443", Some("example.co.uk")),
            ("me.github.io", Some("me.github.io")),
            ("www.example.com.", Some("example.com")),
            ("xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn")),
            ("www.xn--85x722f.xn--fiqs8s", Some("xn--85x722f.xn--fiqs8s")),
            ("www.city.kawasaki.jp", Some("city.kawasaki.jp")),
            ("a.b.kawasaki.jp", Some("a.b.kawasaki.jp")),
            ("b.kawasaki.jp", None),
            ("www.ck", Some("www.ck")),
            ("a.b.ck", Some("a.b.ck")),
            ("b.ck", None),
            ("co.uk", None),
            ("com", None),
            (".com", None),
            ("localhost", None),
            ("a.invalid", None),
            ("192.0.2.1", None),
            ("192.0.2.1:80", None),
            ("[2001:db8::1]:443", None),
        ];
        for (host, expected) in cases {
            assert_eq!(domain(host.as_bytes()), expected.map(str::as_bytes), "{host}");
        }
    }

    /// Returns the registrable domain as publicsuffix.org defines it: of the rules that match, label by
    /// label, an exception prevails, or else the one with the most labels.
    fn defined<'h>(rules: &[Vec<&str>], host: &'h str) -> Option<&'h str> {
        let labels: Vec<&str> = host.rsplit('.').collect();
        let matches = |rule: &&Vec<&str>| {
            let all = rule
                .iter()
                .zip(&labels)
                .all(|(own, label)| *own == "*" || own.strip_prefix('!').unwrap_or(own) == *label);
            all && rule.len() <= labels.len()
        };
        let is_exception = |rule: &Vec<&str>| rule.last().is_some_and(|it| it.starts_with('!'));
        let prevailing =
            rules.iter().filter(matches).max_by_key(|rule| (is_exception(rule), rule.len()))?;
        let suffix = prevailing.len() - usize::from(is_exception(prevailing));
        let rest = labels.get(suffix + 1..)?;
        let rest: usize = rest.iter().map(|label| label.len() + 1).sum();
        Some(&host[rest..])
    }

    #[test]
    fn every_rule_decides_as_it_is_defined() {
        let lines = include_str!("suffixes.txt").lines().filter(|line| !line.starts_with('#'));
        let mut of_top: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
        for line in lines {
            let rule: Vec<&str> = line.rsplit('.').collect();
            assert!(rule.len() <= LABELS_MAX, "{line}");
            of_top.entry(rule[0]).or_default().push(rule);
        }
        let mut asked = 0;
        for rules in of_top.values() {
            // All that cover labels or are exceptions, and some of the others.
            let is_plain = |rule: &[&str]| rule.iter().all(|it| *it != "*" && !it.starts_with('!'));
            let rules_asked = rules.iter().enumerate();
            for (_, rule) in rules_asked.filter(|(number, it)| number % 16 == 0 || !is_plain(it)) {
                let mut name = rule[0].to_owned();
                for label in &rule[1..] {
                    name = format!("{}.{name}", label.trim_start_matches(['*', '!']));
                }
                let name = name.trim_start_matches('.');
                for before in ["", "a.", "b.a."] {
                    let host = format!("{before}{name}");
                    let expected = defined(rules, &host);
                    assert_eq!(domain(host.as_bytes()), expected.map(str::as_bytes), "{host}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 6_000);
    }

    #[test]
    fn the_list_is_that_of_its_file() {
        assert!(include_str!("suffixes.txt").starts_with(&format!("# {LIST},")));
    }
}
