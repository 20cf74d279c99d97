//! Checks fixed files against the oracle.

use portcullis_dialect::dialect::Dialect;
use portcullis_lint::Code::NeedlessStar;
use portcullis_lint::{LintConfig, fix, lint};
use portcullis_oracle::Judge;
use portcullis_synth::Corpus;
use portcullis_testkit::{Random, words};

fn fixed(text: &[u8], chosen: &'static Dialect, dialects: &[&'static Dialect]) -> Vec<u8> {
    let report = lint(text, &LintConfig { bytes_max: None, ..LintConfig::new(chosen) });
    let fixed = fix(text, &report, dialects, None);
    if dialects == [chosen] {
        // A star is only reported if the edit is proved; advice that adds a rule is not known there.
        let is_star = |it: usize| report.diagnostics[it].code == NeedlessStar;
        let mut left = fixed.left.iter().filter(|(_, why)| !why.contains("correct"));
        let star = left.find(|(it, _)| is_star(*it));
        assert!(star.is_none(), "{} {}: {star:?}", chosen.name, text.escape_ascii());
    }
    assert_eq!(fixed.fixed.is_empty(), fixed.text == text, "{}", text.escape_ascii());
    fixed.text
}

#[track_caller]
fn assert_same(old: &[u8], new: &[u8], dialect: &Dialect, agents: &[&str], paths: &[Vec<u8>]) {
    for &agent in agents {
        let [before, after] = [old, new].map(|text| Judge::new(dialect, text, None, &[agent]));
        let (delay, now) = (before.crawl_delay(), after.crawl_delay());
        let [name, before_text, after_text] =
            [dialect.name.as_bytes(), old, new].map(<[u8]>::escape_ascii);
        assert_eq!(delay, now, "{name} {agent}: {before_text} became {after_text}");
        for path in paths {
            let url = [b"https://a.example", &path[..]].concat();
            assert_eq!(
                before.decide(&url).verdict,
                after.decide(&url).verdict,
                "{} {agent} {}: {} became {}",
                dialect.name,
                url.escape_ascii(),
                old.escape_ascii(),
                new.escape_ascii()
            );
        }
    }
}

/// Returns a small file with many redundant rules.
fn needless_file(random: &mut Random) -> Vec<u8> {
    let patterns: [&[u8]; 14] = [
        b"/",
        b"/a",
        b"/a",
        b"/a*",
        b"/*a",
        b"/a/b",
        b"/a$",
        b"/**",
        b"/%61",
        b"/%7e",
        b"/a b",
        b"/index.html",
        b"",
        b"*$",
    ];
    let agents: [&[u8]; 5] = [b"*", b"Bot", b"bot/1.2", b"Botty", b"other"];
    let mut text = if random.one_in(6) { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
    for _ in 0..random.within(2..=9) {
        let line = match random.below(9) {
            8 => format!("Crawl-delay: {}", random.below(4)).into_bytes(),
            0 | 1 => [b"User-agent: ", *random.pick(&agents)].concat(),
            2 | 3 => [b"Allow: ", *random.pick(&patterns)].concat(),
            4 => b"".to_vec(),
            5 => [b"Disallow: ", *random.pick(&patterns), b" # note"].concat(),
            _ => [b"Disallow: ", *random.pick(&patterns)].concat(),
        };
        text.extend_from_slice(&line);
        let line_ends: [&[u8]; 3] = [b"\n", b"\n", b"\r\n"];
        let line_end = *random.pick(&line_ends);
        text.extend_from_slice(line_end);
    }
    text
}

#[test]
fn no_verdict_changes_on_any_small_path() {
    let mut random = Random::new(1994);
    let mut paths: Vec<Vec<u8>> = words(b"/a~ ", 4);
    paths.retain(|path| path.first() == Some(&b'/'));
    let index: [&[u8]; 3] = [b"/a/b/c", b"/index.html", b"/%61%7e%20b"];
    paths.extend(index.map(<[u8]>::to_vec));
    let agents = ["bot", "Botty", "other", "nobody", "abotty"];
    let mut changed = 0;
    for _ in 0..1_500 {
        let text = needless_file(&mut random);
        let chosen = *random.pick(&Dialect::ALL);
        let dialects = if random.one_in(2) { vec![chosen] } else { Dialect::ALL.to_vec() };
        let new = fixed(&text, chosen, &dialects);
        changed += usize::from(new != text);
        for dialect in dialects {
            assert_same(&text, &new, dialect, &agents, &paths);
        }
    }
    assert!(changed > 500, "only {changed} files changed");
}

/// Misspelt fields that no dialect reads, and what the linter advises to write.
const MISSPELT: [[&str; 2]; 5] = [
    ["Usr-agent:", "User-agent:"],
    ["User-agnet:", "User-agent:"],
    ["Agent:", "User-agent:"],
    ["Dissalow:", "Disallow:"],
    ["Alow:", "Allow:"],
];

/// Returns a small file with misspelt fields.
fn misspelt_file(random: &mut Random) -> String {
    let patterns = ["/", "/", "/a", "/a", "/a*", "/*a", "/a/", "/**", ""];
    let agents = ["*", "bot", "Botty", "other"];
    let mut text = String::from("User-agent: *\n");
    for _ in 0..random.within(3..=9) {
        let is_odd = random.one_in(3);
        let agent = *random.pick(&agents);
        let line = match random.below(4) {
            0 if is_odd => [random.pick(&MISSPELT[..3])[0], agent],
            0 => ["User-agent:", agent],
            1 if is_odd => [random.pick(&MISSPELT[3..])[0], *random.pick(&patterns)],
            1 => ["Allow:", *random.pick(&patterns)],
            _ => ["Disallow:", *random.pick(&patterns)],
        };
        text += &format!("{}\n", line.join(" "));
    }
    text
}

#[test]
fn no_verdict_changes_once_advice_is_followed() {
    let mut random = Random::new(9309);
    let mut paths: Vec<Vec<u8>> = words(b"/ab", 3);
    paths.retain(|path| path.first() == Some(&b'/'));
    let agents = ["bot", "Botty", "other", "nobody"];
    let mut changed = 0;
    for _ in 0..3_000 {
        let text = misspelt_file(&mut random);
        let chosen = *random.pick(&Dialect::ALL);
        let dialects = if random.one_in(2) { vec![chosen] } else { Dialect::ALL.to_vec() };
        let new = fixed(text.as_bytes(), chosen, &dialects);
        let new = String::from_utf8(new).unwrap();
        changed += usize::from(new != text);
        // All of the advice, and a part of it.
        let some = random.below(1 << MISSPELT.len());
        for followed in [(1 << MISSPELT.len()) - 1, some] {
            let correct = |text: &str| {
                let is_followed = |&(it, _): &(usize, &[&str; 2])| followed >> it & 1 == 1;
                let advice = MISSPELT.iter().enumerate().filter(is_followed);
                advice.fold(text.to_owned(), |text, (_, [odd, right])| text.replace(odd, right))
            };
            let [old, new] = [&text, &new].map(|text| correct(text));
            for dialect in &dialects {
                assert_same(old.as_bytes(), new.as_bytes(), dialect, &agents, &paths);
            }
        }
    }
    assert!(changed > 500, "only {changed} files changed");
}

#[test]
fn made_up_files_keep_their_verdicts() {
    let corpus = Corpus::new(7, 30);
    let mut urls: Vec<Vec<u8>> = Vec::new();
    for position in 0..40 {
        let url = corpus.url(position);
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        urls.push(format!("/{path}").into_bytes());
    }
    for host in 0..corpus.hosts() {
        let text = corpus.robots(host).into_bytes();
        let new = fixed(&text, Dialect::ALL[3], &Dialect::ALL);
        for dialect in Dialect::ALL {
            assert_same(&text, &new, dialect, &["Googlebot", "bingbot", "nobody"], &urls);
        }
    }
}
