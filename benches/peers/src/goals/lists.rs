//! Measures runs from a list in a file to counted verdicts, compared with the system's `wc -l` and
//! `cp`, and with `portcullis filter`.
//!
//! Lists are long: each has every line of the short list several times, either shuffled as in the
//! list of a crawl, or grouped by host so that no URL follows itself. Counting runs in this process
//! with the policies loaded ([`ListRun`]); new threads, new memory and opening the list are
//! included. `wc`, `cp` and `portcullis filter` are processes, timed from start to end, reading
//! from the page cache. `filter` also opens the set. Before timing, the output of `filter` is
//! compared byte for byte with the lines that `classify` allows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use portcullis_bench::{ListRun, UrlList};
use portcullis_robots::policy::AgentChain;
use portcullis_set::PolicySet;
use portcullis_synth::random::SplitMix64;
use serde::Deserialize;

use super::{AGENT, Behind, Effort, Fault, Figure, Measured, Pass, Programs, Sizes, cannot_write};
use crate::system;

/// The work that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Work {
    WcGrouped,
    CountGrouped,
    WcShuffled,
    CountShuffled,
    CountTwoThreads,
    /// Counting with files compiled into memory instead of a mapped set.
    CountFiles,
    Filter,
    FilterTwoThreads,
    Cp,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Work::WcGrouped | Work::WcShuffled => "wc -l",
            Work::CountGrouped | Work::CountShuffled => "counting",
            Work::CountTwoThreads => "counting, two threads",
            Work::CountFiles => "counting, files compiled into memory",
            Work::Filter | Work::FilterTwoThreads => "portcullis filter",
            Work::Cp => "cp",
        }
    }
}

/// The policies and programs that run over the lists.
pub(super) struct Subject<'m> {
    /// The policies, compiled into memory.
    pub files: &'m Arc<PolicySet>,
    /// The same policies, compiled to a file and mapped, as users run them.
    pub mapped: &'m Arc<PolicySet>,
    /// The path of the compiled set.
    pub set: &'m Path,
    pub agent: &'m AgentChain,
    pub programs: &'m Programs,
    /// The folder for written files.
    pub folder: &'m Path,
}

/// The times of all work.
pub(super) struct Runs {
    /// The size of each list in bytes.
    pub bytes: u64,
    lines: u64,
    allowed: Result<u64, Fault>,
    /// Whether `filter` keeps the lines that `classify` allows.
    kept: Result<(), Fault>,
    seconds: BTreeMap<Work, Result<Vec<f64>, Fault>>,
}

/// Writes long lists of the lines of `text`, times all work over them, and deletes them. The oracle
/// allows `allowed` lines of the text.
pub(super) fn measure(
    subject: &Subject<'_>,
    text: &[u8],
    allowed: Result<u64, Fault>,
    (effort, sizes): (&Effort, &Sizes),
) -> Result<Runs> {
    let path = |name: &str| subject.folder.join(name);
    let [shuffled, grouped, kept, copy] =
        ["shuffled.txt", "grouped.txt", "kept.txt", "copy.txt"].map(path);
    let short: Vec<&[u8]> = lines_of(text);
    write(&shuffled, shuffle(&short, sizes.copies, effort.seed))?;
    write(&grouped, group(&short, sizes.copies))?;
    let mut runs = Runs {
        bytes: fs::metadata(&shuffled)?.len(),
        lines: (short.len() * sizes.copies) as u64,
        allowed: allowed.map(|allowed| allowed * sizes.copies as u64),
        kept: Ok(()),
        seconds: BTreeMap::new(),
    };
    if let Ok(allowed) = runs.allowed {
        let run = |policies, list: &Path| {
            ListRun::new(policies, subject.agent, &UrlList::detected(list), system::opening())
        };
        let by_group = run(subject.mapped, &grouped)?;
        let by_chance = run(subject.mapped, &shuffled)?;
        let by_files = run(subject.files, &shuffled)?;
        runs.kept = write_kept(subject, &shuffled, &kept, allowed);
        let lines = runs.lines;
        let filter = |threads| filter(subject, threads, [&shuffled, &kept, &copy]);
        let works: Vec<(Work, Pass<'_>)> = vec![
            (Work::WcGrouped, wc(&subject.programs.wc, &grouped, lines)),
            (Work::CountGrouped, counting(&by_group, 1, allowed)),
            (Work::WcShuffled, wc(&subject.programs.wc, &shuffled, lines)),
            (Work::CountShuffled, counting(&by_chance, 1, allowed)),
            (Work::CountTwoThreads, counting(&by_chance, 2, allowed)),
            (Work::CountFiles, counting(&by_files, 1, allowed)),
            (Work::Filter, filter(1)),
            (Work::Cp, cp(&subject.programs.cp, &kept, &copy)),
            (Work::FilterTwoThreads, filter(2)),
        ];
        runs.seconds = super::rounds(effort.rounds, effort.turn, works);
    }
    for path in [&shuffled, &grouped, &kept] {
        let _ = fs::remove_file(path);
    }
    Ok(runs)
}

impl Runs {
    /// Returns the time of `above` divided by the sum of the times of `below`. The figures include
    /// `beside`.
    pub(super) fn compared(&self, above: Work, below: &[Work], beside: Option<Work>) -> Measured {
        let allowed = self.allowed.clone()?;
        let mut answers =
            format!("each pass allows {allowed} of {}, as the oracle does", self.lines);
        if matches!(above, Work::Filter | Work::FilterTwoThreads) {
            self.kept.clone()?;
            answers += "; what is kept is what `classify` allows, byte for byte";
        }
        let figure = |work: Work| {
            let seconds = self.seconds[&work].as_ref().map_err(Fault::clone)?;
            Ok(Figure::of(work.name(), "ms", seconds, 1e-3))
        };
        let works = std::iter::once(above).chain(below.iter().copied()).chain(beside);
        let figures: Vec<Figure> = works.map(figure).collect::<Result<_, Fault>>()?;
        let sum: f64 = figures[1..=below.len()].iter().map(|it| it.spread.median).sum();
        Ok((figures[0].spread.median / sum, Behind { figures, answers, remark: None }))
    }
}

/// Returns a counting run, which must allow `expected` URLs.
fn counting<'r>(run: &'r ListRun, threads: usize, expected: u64) -> Pass<'r> {
    Box::new(move || {
        let (time, allowed) = run.pass(threads).map_err(|error| Fault::Wrong(error.0))?;
        match allowed == expected {
            true => Ok(time),
            false => Err(Fault::Wrong(format!("{allowed} URLs allowed; oracle: {expected}"))),
        }
    })
}

fn wc<'r>(program: &'r str, list: &'r Path, lines: u64) -> Pass<'r> {
    Box::new(move || {
        let mut command = Command::new(program);
        command.arg("-l").arg(list).stdin(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let output = command.output().map_err(|error| Fault::Absent(format!("wc: {error}")))?;
        let time = start.elapsed();
        let text = String::from_utf8_lossy(&output.stdout);
        match text.split_whitespace().next().and_then(|count| count.parse::<u64>().ok()) {
            Some(count) if count == lines => Ok(time),
            _ => Err(Fault::Absent(format!("wc did not count {lines} lines: {text}"))),
        }
    })
}

fn cp<'r>(program: &'r str, kept: &'r Path, copy: &'r Path) -> Pass<'r> {
    Box::new(move || {
        let mut command = Command::new(program);
        command.args([kept, copy]);
        let time = timed(&mut command).map_err(|why| Fault::Absent(format!("cp {why}")))?;
        let _ = fs::remove_file(copy);
        Ok(time)
    })
}

/// Returns a run of `portcullis filter` into a new file, which must be as long as `kept`. Its bytes
/// were compared before; reading them again would disturb the next timing.
fn filter<'r>(
    subject: &'r Subject<'_>,
    threads: usize,
    [list, kept, copy]: [&'r Path; 3],
) -> Pass<'r> {
    Box::new(move || {
        let mut command = filter_command(subject, threads);
        command.arg("-o").arg(copy).arg(list);
        let time = timed(&mut command).map_err(|why| Fault::Wrong(format!("filter {why}")))?;
        let bytes = |path| fs::metadata(path).map(|file| file.len()).ok();
        let (written, expected) = (bytes(copy), bytes(kept));
        let _ = fs::remove_file(copy);
        match written == expected {
            true => Ok(time),
            false => Err(Fault::Wrong(format!("{written:?} bytes kept, not {expected:?}"))),
        }
    })
}

fn filter_command(subject: &Subject<'_>, threads: usize) -> Command {
    let mut command = Command::new(&subject.programs.portcullis);
    command.args(["filter", "--no-summary", "-a", AGENT]);
    command.arg("-j").arg(threads.to_string()).arg("-p").arg(subject.set);
    command
}

/// Returns the time of a process from its start to its end.
fn timed(command: &mut Command) -> Result<Duration, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("cannot be started: {error}"))?;
    let time = start.elapsed();
    if status.success() { Ok(time) } else { Err(format!("ended with {status}")) }
}

/// Runs `filter` on `list` into `kept`, and compares the output with the lines that `classify`
/// allows. Their number must equal the number that the oracle allows.
fn write_kept(subject: &Subject<'_>, list: &Path, kept: &Path, allowed: u64) -> Result<(), Fault> {
    let wrong = |what: &str, why: &dyn std::fmt::Debug| Fault::Wrong(format!("{what}: {why:?}"));
    let mut filter = filter_command(subject, 0);
    let status = filter.arg("-o").arg(kept).arg(list).stdin(Stdio::null()).status();
    if !status.as_ref().is_ok_and(|status| status.success()) {
        return Err(wrong("filter failed", &status));
    }
    let file = File::open(kept).map_err(|error| wrong("what is kept", &error))?;
    let mut classify = Command::new(&subject.programs.portcullis)
        .args(["classify", "--no-summary", "-a", AGENT, "-p"])
        .args([subject.set, list])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| wrong("classify cannot be started", &error))?;
    let tagged = classify.stdout.take().expect("the output is a pipe");
    let compared = same_lines(BufReader::new(file), BufReader::new(tagged));
    let ended = classify.wait();
    let lines = compared.map_err(|error| wrong("not compared", &error))??;
    if !ended.as_ref().is_ok_and(|status| status.success()) {
        return Err(wrong("classify failed", &ended));
    }
    match lines == allowed {
        true => Ok(()),
        false => Err(Fault::Wrong(format!("{lines} lines kept; oracle: {allowed}"))),
    }
}

/// Returns the number of lines in `kept`, after checking that they are the lines that `tagged`
/// allows.
fn same_lines(mut kept: impl BufRead, mut tagged: impl BufRead) -> io::Result<Result<u64, Fault>> {
    let (mut line, mut tagged_line, mut lines) = (Vec::new(), Vec::new(), 0);
    let differ = |line: u64| {
        let line = line + 1;
        Err(Fault::Wrong(format!(
            "line {line} that filter keeps is not the one that classify allows"
        )))
    };
    loop {
        tagged_line.clear();
        if tagged.read_until(b'\n', &mut tagged_line)? == 0 {
            return Ok(if kept.fill_buf()?.is_empty() { Ok(lines) } else { differ(lines) });
        }
        let Some(allowed) = tagged_line.strip_prefix(b"allow\t") else { continue };
        line.clear();
        kept.read_until(b'\n', &mut line)?;
        if line != allowed {
            return Ok(differ(lines));
        }
        lines += 1;
    }
}

/// Returns the lines of `text`. A last line may lack its line feed.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n').collect()
}

/// Returns all lines `copies` times, in an order determined by `seed`.
fn shuffle<'l>(
    lines: &'l [&'l [u8]],
    copies: usize,
    seed: u64,
) -> impl Iterator<Item = &'l [u8]> + 'l {
    let count = lines.len();
    let mut order: Vec<u32> = (0..count * copies).map(|place| (place % count) as u32).collect();
    let mut random = SplitMix64::new(seed);
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place as u64 + 1) as usize);
    }
    order.into_iter().map(|line| lines[line as usize])
}

/// Returns all lines `copies` times, grouped by host: the lines of a host in order, then again.
fn group<'l>(lines: &[&'l [u8]], copies: usize) -> impl Iterator<Item = &'l [u8]> {
    let host = |line: &[u8]| {
        let start = line.windows(3).position(|it| it == b"://").map_or(0, |place| place + 3);
        let rest = &line[start..];
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        rest[..end].to_vec()
    };
    let mut by_host: BTreeMap<Vec<u8>, Vec<&'l [u8]>> = BTreeMap::new();
    for line in lines {
        by_host.entry(host(line)).or_default().push(line);
    }
    by_host.into_values().flat_map(move |lines| lines.repeat(copies))
}

fn write<'l>(path: &PathBuf, lines: impl Iterator<Item = &'l [u8]>) -> Result<()> {
    let written = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        for line in lines {
            file.write_all(line)?;
            file.write_all(b"\n")?;
        }
        file.into_inner()?.sync_all()
    };
    written().with_context(|| cannot_write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_have_the_same_lines_by_host_and_in_an_order_of_the_seed() {
        let lines = lines_of(b"http://b/2\nhttp://a/1\nhttp://b/1\nno URL");
        let grouped: Vec<&[u8]> = group(&lines, 2).collect();
        let expected = "http://a/1 http://a/1 http://b/2 http://b/1 http://b/2 http://b/1";
        assert_eq!(grouped[..6].join(&b' '), expected.as_bytes());
        assert_eq!(grouped[6..], [b"no URL", b"no URL"]);
        let shuffled = |seed| shuffle(&lines, 3, seed).collect::<Vec<_>>();
        assert!(shuffled(1) == shuffled(1) && shuffled(1) != shuffled(2));
        let (mut one, mut other) = (shuffled(1), group(&lines, 3).collect::<Vec<_>>());
        one.sort_unstable();
        other.sort_unstable();
        assert_eq!(one, other);
    }

    #[test]
    fn only_the_same_lines_in_the_same_order_are_the_same() {
        let tagged = b"allow\ta\nunknown\tb\nallow\tc\n";
        let lines = |kept: &[u8]| same_lines(kept, &tagged[..]).unwrap();
        assert_eq!(lines(b"a\nc\n"), Ok(2));
        for wrong in [&b"a\n"[..], b"c\na\n", b"a\nc\nd\n", b"", b"a\nc"] {
            assert!(lines(wrong).is_err(), "{wrong:?}");
        }
    }
}
