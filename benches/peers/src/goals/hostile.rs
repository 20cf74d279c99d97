//! Measures hostile files with one URL of 2 KB: time and memory of parsing, compiling and deciding.
//!
//! Each file has the largest allowed size unless its name says otherwise. Each pair of a shape and
//! a kind of URL runs in a separate process, and the answer must equal the oracle's. Bounds on
//! hostile files are tested in the crate; here they are measured.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail};
use portcullis_bench::{Resident, Spread, on_all_cores};
use portcullis_dialect::decision::Verdict;
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::{LoadConfig, PolicySet};
use portcullis_synth::random::SplitMix64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{AGENT, Behind, DIALECT, Effort, Fault, Figure, Programs, Sizes};

/// The hidden flag that runs one trial: the positions of shape and kind of URL and the size of the
/// file, as `SHAPE/KIND/BYTES`.
pub const TRIAL_FLAG: &str = "--hostile-trial";

/// The worst results of a shape.
#[derive(Clone, Debug, Serialize)]
pub struct ShapeReport {
    pub shape: &'static str,
    /// The kind of URL that took longest.
    pub url: &'static str,
    /// Milliseconds from the file's bytes to the decision.
    pub ms: Spread,
    /// Milliseconds of the decision alone.
    pub decision_ms: Spread,
    /// The peak of a process in MiB, including the program and the file.
    pub peak_mib: f64,
    /// The peak minus the memory of the process before, in MiB.
    pub added_mib: f64,
}

/// Runs every trial in every round.
pub(super) fn measure(
    programs: &Programs,
    effort: &Effort,
    sizes: &Sizes,
) -> Result<Vec<ShapeReport>, Fault> {
    let pairs: Vec<Pair> = (0..SHAPES.len() * URLS.len())
        .map(|place| Pair {
            shape: place / URLS.len(),
            url: place % URLS.len(),
            bytes_max: sizes.hostile_bytes,
        })
        .collect();
    let judge = |pair: &Pair| {
        let (robots, url) = pair.robots_and_url();
        oracle::decide(DIALECT, &robots, None, &[AGENT], &url).verdict == Verdict::Allow
    };
    let judged: Vec<bool> = on_all_cores(|| pairs.par_iter().map(judge).collect());
    let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); pairs.len()];
    for _ in 0..effort.rounds {
        for ((pair, &expected), trials) in pairs.iter().zip(&judged).zip(&mut trials) {
            trials.push(pair.by_child(programs, expected)?);
        }
    }
    let by_shape = trials.chunks(URLS.len()).zip(SHAPES);
    Ok(by_shape.map(|(trials, shape)| worst(shape.name, trials)).collect())
}

/// Returns the slowest shape.
pub(super) fn time(shapes: &[ShapeReport]) -> (f64, Behind) {
    let slowest = most(shapes, |shape| shape.ms.median);
    let figure = |name: &str, spread| Figure { name: name.to_owned(), unit: "ms", spread };
    let figures = vec![figure("all", slowest.ms), figure("the decision", slowest.decision_ms)];
    let remark = Some(format!("{}; URL: {}", slowest.shape, slowest.url));
    (slowest.ms.median, Behind { figures, answers: answers(), remark })
}

/// Returns the shape that takes most memory.
pub(super) fn memory(shapes: &[ShapeReport]) -> (f64, Behind) {
    let largest = most(shapes, |shape| shape.peak_mib);
    let added = largest.added_mib;
    let remark = Some(format!("{}; added to what it held before: {added:.1} MiB", largest.shape));
    (largest.peak_mib, Behind { figures: Vec::new(), answers: answers(), remark })
}

fn answers() -> String {
    format!("{} URLs by the oracle", SHAPES.len() * URLS.len())
}

fn most(shapes: &[ShapeReport], value: fn(&ShapeReport) -> f64) -> &ShapeReport {
    let most = shapes.iter().max_by(|one, other| value(one).total_cmp(&value(other)));
    most.expect("there are shapes")
}

/// Returns the report of a shape from its trials by kind of URL.
fn worst(shape: &'static str, by_kind: &[Vec<Trial>]) -> ShapeReport {
    const MIB: f64 = (1 << 20) as f64;
    let spread = |trials: &[Trial], value: fn(&Trial) -> f64| {
        let values: Vec<f64> = trials.iter().map(value).collect();
        Spread::of(&values).expect("a round at least")
    };
    let ms = |trials: &[Trial]| spread(trials, |trial| trial.seconds * 1e3);
    let kinds = by_kind.iter().zip(URLS);
    let slowest = kinds.max_by(|one, other| ms(one.0).median.total_cmp(&ms(other.0).median));
    let (trials, url) = slowest.expect("there are kinds of URLs");
    let most = |value: fn(&Resident) -> u64| {
        let all = by_kind.iter().flatten().map(|trial| value(&trial.resident));
        all.max().unwrap_or_default() as f64 / MIB
    };
    ShapeReport {
        shape,
        url: url.name(),
        ms: ms(trials),
        decision_ms: spread(trials, |trial| trial.decision_seconds * 1e3),
        peak_mib: most(|resident| resident.peak),
        added_mib: most(|resident| resident.peak.saturating_sub(resident.before)),
    }
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// The seconds from the file's bytes to the decision.
    pub seconds: f64,
    /// The seconds of the decision alone, after compilation.
    pub decision_seconds: f64,
    pub allows: bool,
    pub resident: Resident,
}

/// Runs the trial that the flag's value names. The process must not have done other work before.
///
/// # Errors
///
/// If the trial does not exist, or the system does not report memory.
pub fn run(named: &str) -> Result<Trial> {
    let numbers: Vec<usize> = named.split('/').filter_map(|number| number.parse().ok()).collect();
    let [shape, url, bytes_max] = numbers[..] else { bail!("there is no trial {named}") };
    if shape >= SHAPES.len() || url >= URLS.len() {
        bail!("there is no trial {named}");
    }
    let (robots, url) = Pair { shape, url, bytes_max }.robots_and_url();
    let (resident, timed) = Resident::during(|| timed(&robots, &url))?;
    let (seconds, decision_seconds, allows) = timed?;
    Ok(Trial { seconds, decision_seconds, allows, resident })
}

/// Returns the total seconds, the seconds of the decision, and whether the URL is allowed.
fn timed(robots: &[u8], url: &[u8]) -> Result<(f64, f64, bool)> {
    let start = Instant::now();
    let agent = AgentChain::parse(AGENT, DIALECT)?;
    let config = LoadConfig { agents: Some([agent.clone()].into()), ..LoadConfig::new(DIALECT) };
    let set = PolicySet::of_text(robots, &config);
    let mut session = Session::new(Classifier::new(set, vec![agent])?, None);
    let compiled = start.elapsed().as_secs_f64();
    let verdict = session.classify(&[url])?[0].verdict;
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, seconds - compiled, verdict == Verdict::Allow))
}

/// The positions of a shape and of a kind of URL.
#[derive(Clone, Copy)]
struct Pair {
    shape: usize,
    url: usize,
    bytes_max: usize,
}

impl Pair {
    fn robots_and_url(self) -> (Vec<u8>, Vec<u8>) {
        let shape = SHAPES[self.shape];
        (shape.robots(self.bytes_max), shape.url(URLS[self.url], self.bytes_max))
    }

    /// Runs the trial in another process. Its answer must be `expected`.
    fn by_child(self, programs: &Programs, expected: bool) -> Result<Trial, Fault> {
        let mut command = Command::new(&programs.goals);
        command.arg(TRIAL_FLAG).arg(format!("{}/{}/{}", self.shape, self.url, self.bytes_max));
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let trial = output.ok().and_then(|it| serde_json::from_slice::<Trial>(&it.stdout).ok());
        let name = SHAPES[self.shape].name;
        let trial = trial.ok_or_else(|| Fault::Wrong(format!("{name}: no answer")))?;
        match trial.allows == expected {
            true => Ok(trial),
            false => {
                Err(Fault::Wrong(format!("{name}: allowed {}, oracle: {expected}", !expected)))
            }
        }
    }
}

/// The length of a URL in bytes.
const URL_BYTES: usize = 2_048;
const ORIGIN: &[u8] = b"https://example.com";

/// A kind of file.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    /// The letters in its rules.
    letters: &'static [u8],
    /// Returns the pattern of the rule with this number, or `None` if there are no more.
    pattern: fn(usize, &mut Material) -> Option<Vec<u8>>,
}

/// The material that patterns are made of.
struct Material {
    random: SplitMix64,
    letters: &'static [u8],
    /// The most bytes of the file.
    bytes_max: usize,
}

impl Material {
    fn word(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.random.pick(self.letters)).collect()
    }

    /// Returns a word of a random length from `shortest` to `longest`.
    fn word_within(&mut self, shortest: usize, longest: usize) -> Vec<u8> {
        let length = shortest + self.random.below((longest - shortest + 1) as u64) as usize;
        self.word(length)
    }

    /// Returns the number of repetitions of two bytes that leave room for the rest of a file with
    /// one rule.
    fn pairs(&self) -> usize {
        self.bytes_max / 2 - 20
    }
}

/// A kind of URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlKind {
    /// Random letters.
    Random,
    /// One letter.
    Repeated,
    /// A rule with a letter for each star, repeated.
    LikeARule,
}

impl UrlKind {
    fn name(self) -> &'static str {
        match self {
            UrlKind::Random => "random letters",
            UrlKind::Repeated => "one letter",
            UrlKind::LikeARule => "like a rule",
        }
    }
}

const URLS: [UrlKind; 3] = [UrlKind::Random, UrlKind::Repeated, UrlKind::LikeARule];

const WIDE: &[u8] = b"abcdefghijklmnopqrstuvwxyz/-";
const NARROW: &[u8] = b"abcdefgh/";

const SHAPES: [Shape; 16] = [
    Shape { name: "random literals joined by stars", letters: NARROW, pattern: random_literals },
    Shape {
        name: "a thousand stars in one rule",
        letters: b"ab",
        pattern: |rule, _| one(rule, || stars(1_000)),
    },
    Shape {
        name: "stars as long as the file",
        letters: b"ab",
        pattern: |rule, material| one(rule, || stars(material.pairs())),
    },
    Shape {
        name: "many rules of 900 stars",
        letters: b"a0123456789",
        pattern: |rule, _| Some([b"/", &b"a*".repeat(900)[..], &number(rule)].concat()),
    },
    Shape {
        name: "20,000 distinct literals",
        letters: WIDE,
        pattern: |rule, material| distinct(rule, b"/", material),
    },
    Shape {
        name: "20,000 distinct literals behind stars",
        letters: WIDE,
        pattern: |rule, material| distinct(rule, b"/*", material),
    },
    Shape {
        name: "/*a, /*aa, /*aaa, …",
        letters: b"ab",
        pattern: |rule, _| Some([b"/*", &b"a".repeat(rule + 1)[..]].concat()),
    },
    Shape { name: "shared /*/*/*/", letters: b"abcd/", pattern: shared_stars },
    Shape {
        name: "one $ rule of the whole size",
        letters: b"ab",
        pattern: |rule, material| {
            one(rule, || [b"/", &b"ab".repeat(material.pairs())[..], b"$"].concat())
        },
    },
    Shape {
        name: "*1 twelve times and *Z",
        letters: b"1Z",
        pattern: |rule, _| Some([b"/", &b"*1".repeat(12)[..], b"*Z", &number(rule)].concat()),
    },
    Shape {
        name: "random literals without stars",
        letters: NARROW,
        pattern: |_, material| Some([b"/", &material.word_within(5, 30)[..]].concat()),
    },
    Shape {
        name: "a shared prefix of 1,000 bytes",
        letters: b"abc/",
        pattern: |rule, _| Some([b"/", &b"abc/".repeat(250)[..], &number(rule)].concat()),
    },
    Shape {
        name: "waiting stars beside a long rule",
        letters: b"a",
        pattern: |rule, material| match rule {
            0 => Some([b"/", &b"a".repeat(material.bytes_max * 2 / 5)[..]].concat()),
            rule => Some([b"*b", &number(rule)[..]].concat()),
        },
    },
    Shape { name: "pairs of 200 words", letters: b"abcdefgh", pattern: pairs_of_words },
    Shape {
        name: "literals that nearly match everywhere",
        letters: b"mn",
        pattern: |rule, _| Some([b"*mmn", &number(rule)[..], b"*o"].concat()),
    },
    Shape {
        name: "one rule 8,000 times",
        letters: b"mn",
        pattern: |rule, _| (rule < 8_000).then(|| b"/*mmn*o".to_vec()),
    },
];

fn one(rule: usize, pattern: impl FnOnce() -> Vec<u8>) -> Option<Vec<u8>> {
    (rule == 0).then(pattern)
}

fn stars(count: usize) -> Vec<u8> {
    [b"/", &b"*a".repeat(count)[..], b"b"].concat()
}

fn number(rule: usize) -> Vec<u8> {
    rule.to_string().into_bytes()
}

fn random_literals(_: usize, material: &mut Material) -> Option<Vec<u8>> {
    let count = 2 + material.random.below(5) as usize;
    let words: Vec<Vec<u8>> = (0..count).map(|_| material.word(2)).collect();
    Some([b"/*", &words.join(&b'*')[..]].concat())
}

fn distinct(rule: usize, start: &[u8], material: &mut Material) -> Option<Vec<u8>> {
    (rule < 20_000).then(|| [start, &material.word_within(8, 12)[..]].concat())
}

/// Returns a pattern of two words of four letters, which are numbers in base eight.
fn pairs_of_words(_: usize, material: &mut Material) -> Option<Vec<u8>> {
    let mut word = || {
        let number = (material.random.below(200) * 2_654_435_761) >> 7;
        [0, 3, 6, 9].map(|shift| material.letters[((number >> shift) & 7) as usize])
    };
    Some([b"*", &word()[..], b"*", &word(), b"*i"].concat())
}

fn shared_stars(_: usize, material: &mut Material) -> Option<Vec<u8>> {
    Some([b"/*/*/*/", &material.word_within(6, 12)[..]].concat())
}

impl Shape {
    fn material(&self, bytes_max: usize) -> Material {
        Material { random: SplitMix64::new(9309), letters: self.letters, bytes_max }
    }

    /// Returns the file: as many rules for all agents as fit, of which every third one allows.
    fn robots(&self, bytes_max: usize) -> Vec<u8> {
        let mut file = b"User-agent: *\n".to_vec();
        let mut material = self.material(bytes_max);
        for rule in 0.. {
            let Some(pattern) = (self.pattern)(rule, &mut material) else { break };
            let field: &[u8] = if rule % 3 == 2 { b"Allow: " } else { b"Disallow: " };
            let line = [field, &pattern, b"\n"].concat();
            if file.len() + line.len() > bytes_max {
                break;
            }
            file.extend(line);
        }
        file
    }

    /// Returns a URL of 2 KB over the letters of the file's rules.
    fn url(&self, kind: UrlKind, bytes_max: usize) -> Vec<u8> {
        let mut random = SplitMix64::new(7);
        let path = match kind {
            UrlKind::Random => (0..URL_BYTES).map(|_| random.pick(self.letters)).collect(),
            UrlKind::Repeated => vec![self.letters[0]; URL_BYTES],
            UrlKind::LikeARule => {
                let mut material = self.material(bytes_max);
                let pattern = (self.pattern)(0, &mut material).unwrap_or_default();
                let is_sign = |byte: &u8| b"/$".contains(byte);
                let body: Vec<u8> = pattern.into_iter().skip_while(is_sign).collect();
                let letters = body.iter().map(|&byte| match byte {
                    b'*' | b'$' => random.pick(self.letters),
                    byte => byte,
                });
                let letters: Vec<u8> = letters.collect();
                letters.into_iter().cycle().take(URL_BYTES).collect()
            }
        };
        let mut url = [ORIGIN, b"/", &path].concat();
        url.truncate(URL_BYTES);
        url
    }
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::limits::ROBOTS_BYTES_MAX;

    use super::*;

    #[test]
    fn a_file_is_as_large_as_it_says_and_no_larger() {
        for shape in SHAPES {
            let bytes = shape.robots(ROBOTS_BYTES_MAX).len();
            let is_small =
                ["a thousand stars in one rule", "one rule 8,000 times"].contains(&shape.name);
            let least = if is_small { 1 } else { ROBOTS_BYTES_MAX * 3 / 4 };
            assert!((least..=ROBOTS_BYTES_MAX).contains(&bytes), "{}: {bytes}", shape.name);
            for kind in URLS {
                assert_eq!(shape.url(kind, ROBOTS_BYTES_MAX).len(), URL_BYTES, "{}", shape.name);
            }
        }
    }
}
