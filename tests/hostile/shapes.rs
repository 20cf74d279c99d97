//! Expensive rule sets. Each fills a file of the largest size unless its documentation says
//! otherwise.

use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_testkit::Random;

/// An expensive file.
pub struct Shape {
    pub robots: Vec<u8>,
    /// The letters of its rules and of URLs.
    pub letters: &'static [u8],
}

/// Returns a file for all agents with as many of `patterns` as fit. Every third rule allows.
fn file(patterns: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = b"User-agent: *\n".to_vec();
    for (pattern, index) in patterns.into_iter().zip(0..) {
        let field: &[u8] = if index % 3 == 2 { b"Allow: " } else { b"Disallow: " };
        if file.len() + field.len() + pattern.len() + 1 > ROBOTS_BYTES_MAX {
            break;
        }
        file.extend([field, &pattern, b"\n"].concat());
    }
    file
}

fn shape(patterns: impl IntoIterator<Item = Vec<u8>>, letters: &'static [u8]) -> Shape {
    Shape { robots: file(patterns), letters }
}

/// Rules of 2 to 6 random two-letter literals joined by stars.
pub fn random_literals() -> Shape {
    let letters = b"abcdefgh/";
    let mut random = Random::new(1);
    let pattern = move || {
        let count = random.within(2..=6);
        let words: Vec<Vec<u8>> = (0..count).map(|_| random.word(letters, 2..=2)).collect();
        Some([b"/*", &words.join(&b'*')[..]].concat())
    };
    shape(std::iter::from_fn(pattern), letters)
}

/// `/`, then `*a` repeated, then `b`.
pub fn stars_in_one_rule(stars: usize) -> Shape {
    shape([[b"/", &b"*a".repeat(stars)[..], b"b"].concat()], b"ab")
}

/// Rules of 900 `a` joined by stars, with distinct ends.
pub fn many_rules_of_stars() -> Shape {
    let stars = b"a*".repeat(900);
    let pattern = move |index: usize| [b"/", &stars[..], index.to_string().as_bytes()].concat();
    shape((0..).map(pattern), b"a0123456789")
}

/// 20,000 distinct literals.
pub fn distinct_literals() -> Shape {
    let letters = b"abcdefghijklmnopqrstuvwxyz/-";
    let mut random = Random::new(2);
    let literals = (0..20_000).map(move |_| [b"/", &random.word(letters, 8..=12)[..]].concat());
    shape(literals, letters)
}

/// 20,000 distinct literals, each after a star.
pub fn distinct_literals_behind_stars() -> Shape {
    let letters = b"abcdefghijklmnopqrstuvwxyz/-";
    let mut random = Random::new(3);
    let literals = (0..20_000).map(move |_| [b"/*", &random.word(letters, 8..=12)[..]].concat());
    shape(literals, letters)
}

/// `/*a`, `/*aa`, `/*aaa` and so on.
pub fn longer_and_longer() -> Shape {
    let pattern = |length: usize| [b"/*", &b"a".repeat(length)[..]].concat();
    shape((1..).map(pattern), b"ab")
}

/// Rules that begin with `/*/*/*/` and differ after it.
pub fn shared_stars() -> Shape {
    let letters = b"abcd/";
    let mut random = Random::new(4);
    let pattern = move |_| [b"/*/*/*/", &random.word(letters, 6..=12)[..]].concat();
    shape((0..).map(pattern), letters)
}

/// One anchored rule as long as the file.
pub fn one_anchored_rule() -> Shape {
    let head = b"User-agent: *\nDisallow: /".len();
    let body = b"ab".repeat((ROBOTS_BYTES_MAX - head) / 2 - 1);
    shape([[b"/", &body[..], b"$"].concat()], b"ab")
}

/// Twelve pairs of `x` and `y` after stars, then a `w` that no path has: a matcher that backtracks tries
/// nearly all combinations of their places.
fn pairs_behind_stars(random: &mut Random, end: &str) -> Vec<u8> {
    let pairs = (0..12).flat_map(|_| [b"*", &random.word(b"xy", 2..=2)[..]].concat());
    b"/".iter().copied().chain(pairs).chain(format!("*w{end}").into_bytes()).collect()
}

/// One such rule.
pub fn backtracking() -> Shape {
    shape([pairs_behind_stars(&mut Random::new(12), "")], b"xy")
}

/// Such rules, as many as fit, with distinct ends.
pub fn backtracking_many() -> Shape {
    let mut random = Random::new(13);
    let pattern = move |index: usize| pairs_behind_stars(&mut random, &index.to_string());
    shape((0..).map(pattern), b"xyw")
}

/// 50,000 rules without stars, in a file larger than the limit.
pub fn rules_without_stars() -> Shape {
    let letters = b"abcdefgh/";
    let mut random = Random::new(5);
    let mut robots = b"User-agent: *\n".to_vec();
    for index in 0..50_000 {
        let field: &[u8] = if index % 3 == 2 { b"Allow: /" } else { b"Disallow: /" };
        robots.extend([field, &random.word(letters, 5..=30), b"\n"].concat());
    }
    Shape { robots, letters }
}

/// Rules that begin with the same 1,000 bytes.
pub fn shared_prefix() -> Shape {
    let prefix = [b"/", &b"abc/".repeat(250)[..]].concat();
    let pattern = move |index: usize| [&prefix[..], index.to_string().as_bytes()].concat();
    shape((0..).map(pattern), b"abc/0123456789")
}

/// Very many stars that wait for one byte, and a long rule without that byte: each byte of the long
/// rule carries all waiting stars along.
pub fn waiting_stars() -> Shape {
    let long = [b"/", &b"a".repeat(200_000)[..]].concat();
    let waiting = (0..).map(|index: usize| format!("*b{index}").into_bytes());
    shape([long].into_iter().chain(waiting), b"a")
}

/// Rules that require all words of two letters, and literals over the same letters: nearly every
/// prefix of a literal ends with a shorter one.
pub fn words_then_literals() -> Shape {
    let mut random = Random::new(6);
    let words = [b"xx", b"xy", b"yx", b"yy"];
    let pattern = move |index: usize| {
        if index >= 200 {
            return [b"/*", &random.word(b"xy", 90..=110)[..]].concat();
        }
        let joined: Vec<&[u8]> = (0..8 + index % 32).map(|_| &random.pick(&words)[..]).collect();
        [b"/*", &joined.join(&b'*')[..], b"*w"].concat()
    };
    shape((0..).map(pattern), b"xy")
}

/// Longer and longer runs of one letter, then the longest one after other letters: an automaton
/// that lists the literals that end at each state is quadratic here.
pub fn runs_within_runs() -> Shape {
    const RUN_BYTES: usize = 650;
    let pattern = |index: usize| match index.checked_sub(RUN_BYTES) {
        None => [b"/*", &b"a".repeat(index + 2)[..]].concat(),
        Some(number) => [b"/*", format!("{number}b").as_bytes(), &b"a".repeat(RUN_BYTES)].concat(),
    };
    shape((0..).map(pattern), b"ab")
}

/// One rule 8,000 times; its literals nearly match at every position of a path of one letter.
pub fn one_rule_again_and_again() -> Shape {
    shape((0..8_000).map(|_| b"/*mmn*o".to_vec()), b"mn")
}

/// Rules that differ in a number; their literals nearly match at every position of a path of one
/// letter, so a search per rule would read the whole path per rule.
pub fn distinct_and_everywhere() -> Shape {
    shape((0..).map(|index: usize| format!("*mmn{index}*o").into_bytes()), b"mn0123456789")
}

/// Rules that require two of a hundred words and then a letter; a path can contain all words.
pub fn pairs_of_words() -> Shape {
    let letters = b"abcdefgh";
    let mut random = Random::new(9);
    let words: Vec<Vec<u8>> = (0..100).map(|_| random.word(letters, 4..=4)).collect();
    let pattern = move |_| {
        let [one, other] = [0, 1].map(|_| &random.pick(&words)[..]);
        [b"*", one, b"*", other, b"*i"].concat()
    };
    shape((0..).map(pattern), letters)
}

/// [`one_rule_again_and_again`] after rules with too many states to build.
pub fn again_and_again_behind_many_states() -> Shape {
    let mut random = Random::new(8);
    let pattern = move |index: usize| match index {
        0..400 => {
            let words: Vec<Vec<u8>> = (0..8).map(|_| random.word(b"mno", 2..=2)).collect();
            [b"/*", &words.join(&b'*')[..], b"*p"].concat()
        }
        _ => b"/*mmn*o".to_vec(),
    };
    shape((0..8_000).map(pattern), b"mn")
}

/// `/`, then `a/` up to 900 times, then a star and `end`: every prefix nests in the next one.
pub fn nested_prefixes(end: &'static [u8]) -> Shape {
    let pattern = |index: usize| [b"/", &b"a/".repeat(index % 900)[..], b"*", end].concat();
    shape((0..).map(pattern), b"ab/=")
}

/// `*Q*0`, `*Q*1`, `*Q*2` and so on.
pub fn numbered_literals() -> Shape {
    shape((0..).map(|index: usize| format!("*Q*{index}").into_bytes()), b"Q0123456789")
}

/// [`nested_prefixes`] in pairs of equal length as usage statements. Each label orders the pairs in
/// its own way.
pub fn competing_statements() -> Shape {
    let mut robots = b"User-agent: *\n".to_vec();
    for index in 0.. {
        let (pair, is_first) = (index / 2, index % 2 == 0);
        let said = |is_no: bool| if is_no { 'n' } else { 'y' };
        let line = format!(
            "Content-Usage: /{}*{} train-ai={}, ai-use={}, search={}\n",
            "a/".repeat(pair % 900),
            if is_first { 'b' } else { 'c' },
            said(is_first),
            said(!is_first),
            said(is_first == (pair % 2 == 0)),
        );
        if robots.len() + line.len() > ROBOTS_BYTES_MAX {
            break;
        }
        robots.extend(line.bytes());
    }
    Shape { robots, letters: b"abc/" }
}

/// Nine runs of one to three `a`, joined by stars: patterns with the same bytes that differ in their
/// stars, literals that nest and occur everywhere.
pub fn runs_joined_by_stars() -> Shape {
    let mut random = Random::new(10);
    let pattern = move || {
        let runs: Vec<Vec<u8>> = (0..9).map(|_| random.word(b"a", 1..=3)).collect();
        Some([b"/", &runs.join(&b'*')[..]].concat())
    };
    shape(std::iter::from_fn(pattern), b"a")
}

/// Nine runs of up to 200 `a`, joined by stars.
pub fn long_runs_joined_by_stars() -> Shape {
    let mut random = Random::new(11);
    let pattern = move || {
        let runs: Vec<Vec<u8>> = (0..9).map(|_| random.word(b"a", 1..=200)).collect();
        Some([b"/", &runs.join(&b'*')[..]].concat())
    };
    shape(std::iter::from_fn(pattern), b"a")
}

/// `*a*b`, `*aa*b`, `*aaa*b` and so on: a path of one letter has all literals at each position, and
/// nothing waits for them.
pub fn runs_that_nest() -> Shape {
    shape((1..).map(|run: usize| [b"*", &b"a".repeat(run)[..], b"*b"].concat()), b"a")
}

/// Literals of `bytes` times `a` that differ at their ends.
pub fn long_literals(bytes: usize) -> Shape {
    let pattern =
        move |end: usize| [b"*", &b"a".repeat(bytes)[..], format!("{end}").as_bytes()].concat();
    shape((0..).map(pattern), b"a0")
}
