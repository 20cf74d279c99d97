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
        // A star is only reported if the edit is proved.
        let mut left = fixed.left.iter();
        let star = left.find(|(it, _)| report.diagnostics[*it].code == NeedlessStar);
        assert!(star.is_none(), "{} {}: {star:?}", chosen.name, text.escape_ascii());
    }
    assert_eq!(fixed.fixed.is_empty(), fixed.text == text, "{}", text.escape_ascii());
    fixed.text
}

#[track_caller]
fn assert_same(old: &[u8], new: &[u8], dialect: &Dialect, agents: &[&str], paths: &[Vec<u8>]) {
    for &agent in agents {
        let [before, after] = [old, new].map(|text| Judge::new(dialect, text, None, &[agent]));
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
        let line = match random.below(8) {
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
