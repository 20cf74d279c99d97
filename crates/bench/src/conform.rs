//! Asks engines the questions of the suite: where one differs from the dialect, point by point.
//!
//! An engine is asked twice, because answers that change are no answers. A runner that crashes or hangs is
//! started again for each file alone, so that one file spoils no other.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::{compared_path, host_key, split};

use super::Corpus;
use super::conform_report::{Conformance, Difference, PointReport, Suites};
use super::corpus::within_limit;
use super::engine::{Ask, Engine, EngineKind, body_of};
use super::questions::QuestionList;
use super::run::{Choice, chosen};
use super::suite::{Answer, Case, Check, Grade, Suite};

/// The time in which a runner has to answer a request, unless a flag says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Files that a runner may crash or hang on before the rest counts as unanswered.
const FAILURES_MAX: usize = 10;

/// Why a question has no answer after that.
const NOT_ASKED: &str = "not asked: it failed too often";

/// Returns engines besides the built-in ones.
type Others = fn(&Corpus) -> Vec<Engine<'_>>;

/// A question, with its place in the suite.
struct Asked<'s> {
    case: &'s Case,
    check: &'s Check,
    /// The position of the file among the files of the agent.
    file: usize,
    agent: String,
    url: String,
}

/// All questions for one agent.
#[derive(Default)]
struct OfAgent<'s> {
    files: Vec<Vec<u8>>,
    cases: Vec<&'s Case>,
    asked: Vec<Asked<'s>>,
}

/// The answer of an engine to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    Answer(String),
    /// It refuses the file, or does not know.
    Nothing,
    /// It failed, for this reason.
    Failed(String),
}

/// Asks the chosen engines all questions of a suite for a dialect. `progress` gets a line for each step.
///
/// # Errors
///
/// If a name is not the name of an engine, or the suite is invalid.
pub fn conform(
    suite: &Suite,
    dialect: &'static Dialect,
    (choice, others): (&Choice, Others),
    progress: &dyn Fn(&str),
) -> Result<Suites> {
    let mut reports: BTreeMap<usize, Conformance> = BTreeMap::new();
    for (agent, of_agent) in questions(suite, dialect)? {
        progress(&format!("asking as {agent}"));
        let corpus = Corpus::of_dialect(Crawler::parse(&agent, dialect)?, dialect)?;
        let engines = engines(&corpus, others, choice)?;
        ensure!(!engines.is_empty(), "no engine was chosen");
        for (place, engine) in engines.iter().enumerate() {
            let report = reports.entry(place).or_insert_with(|| {
                let points = suite.points.iter().map(PointReport::new).collect();
                Conformance::new(engine, points)
            });
            of_agent.ask(engine, dialect, report);
        }
    }
    // Answers to the request for robots.txt are asked once, not for each agent.
    let corpus = Corpus::of_dialect(Crawler::parse("ExampleBot", dialect)?, dialect)?;
    for (place, engine) in engines(&corpus, others, choice)?.iter().enumerate() {
        if let Some(report) = reports.get_mut(&place) {
            ask_answers(suite, engine, dialect, report);
        }
    }
    let engines = reports.into_values().map(Conformance::settled).collect();
    let (format, version) = ("conformance/1", env!("CARGO_PKG_VERSION"));
    Ok(Suites { format, version, dialect: dialect.name, engines })
}

/// Returns the chosen engines; only the runners if there are any and no other is named.
fn engines<'c>(corpus: &'c Corpus, others: Others, choice: &Choice) -> Result<Vec<Engine<'c>>> {
    let mut engines = chosen(corpus, others(corpus), choice)?;
    let only_runners = choice.engines.is_empty() && !choice.runners.is_empty();
    engines.retain(|it| !only_runners || it.kind == EngineKind::Runner);
    Ok(engines)
}

/// Returns the questions by agent.
fn questions<'s>(
    suite: &'s Suite,
    dialect: &'static Dialect,
) -> Result<BTreeMap<String, OfAgent<'s>>> {
    let mut of_agents: BTreeMap<String, OfAgent<'s>> = BTreeMap::new();
    for case in &suite.cases {
        for (check, agent, url) in case.questions(dialect) {
            if Crawler::parse(agent, dialect).is_err() {
                continue;
            }
            let of_agent = of_agents.entry(agent.to_owned()).or_default();
            if of_agent.cases.last().is_none_or(|last| last.name != case.name) {
                of_agent.cases.push(case);
                of_agent.files.push(case.robots()?);
            }
            let file = of_agent.files.len() - 1;
            of_agent.asked.push(Asked { case, check, file, agent: agent.to_owned(), url });
        }
    }
    Ok(of_agents)
}

impl OfAgent<'_> {
    fn ask<'c>(&'c self, engine: &Engine<'c>, dialect: &Dialect, report: &mut Conformance) {
        let files: Vec<usize> = (0..self.files.len()).collect();
        if report.failures >= FAILURES_MAX {
            return self.fail(&files, NOT_ASKED, report);
        }
        match self.answers(engine, dialect, &files, report) {
            Ok(()) => return,
            Err(error) if engine.kind != EngineKind::Runner => {
                return self.fail(&files, &error.to_string(), report);
            }
            Err(_) => {}
        }
        for file in files {
            if report.failures >= FAILURES_MAX {
                self.fail(&[file], NOT_ASKED, report);
                continue;
            }
            if let Err(error) = self.answers(engine, dialect, &[file], report) {
                report.failures += 1;
                self.fail(&[file], &error.to_string(), report);
            }
        }
    }

    fn fail(&self, files: &[usize], why: &str, report: &mut Conformance) {
        for asked in self.asked.iter().filter(|it| files.contains(&it.file)) {
            let given = Given::Failed(why.to_owned());
            self.judge(asked, &asked.check.verdict, &given, point_of_verdicts(asked.case), report);
        }
    }

    /// Asks about some files, and judges the answers if the engine gives all of them.
    fn answers<'c>(
        &'c self,
        engine: &Engine<'c>,
        dialect: &Dialect,
        files: &[usize],
        report: &mut Conformance,
    ) -> Result<()> {
        // Ours are built without a limit on the size of files.
        let read =
            |text| if engine.kind == EngineKind::BuiltIn { within_limit(text) } else { text };
        let texts: Vec<&[u8]> = files.iter().map(|&file| read(&self.files[file][..])).collect();
        let mut list = QuestionList::default();
        let mut asked = Vec::new();
        for it in &self.asked {
            let Some(file) = files.iter().position(|&file| file == it.file) else { continue };
            let url = match engine.normalises {
                true => Some(as_written(&it.url, dialect)),
                false => normal(&it.url, dialect),
            };
            // A path whose normal form is not UTF-8 is no question.
            let Some((url, path_bytes)) = url else { continue };
            list.push(asked.len() as u32, file, &url, path_bytes);
            asked.push(it);
        }
        let (_, mut matcher) = (engine.build)(&texts)?;
        let [first, again] = [matcher.answers(&list)?, matcher.answers(&list)?];
        let word = |allows: bool| if allows { "allow" } else { "disallow" };
        let mut given = Vec::new();
        for (first, again) in first.into_iter().zip(again) {
            given.push(match first {
                _ if first != again => Given::Failed("another answer when asked again".to_owned()),
                Some(allows) => Given::Answer(word(allows).to_owned()),
                None => Given::Nothing,
            });
        }
        let lines = matcher.tell(Ask::Lines)?;
        let delays = matcher.tell(Ask::Delays)?;
        let sitemaps = matcher.tell(Ask::Sitemaps)?;
        let put = |(place, _): &(usize, _)| matcher.is_put(*place);
        for (place, it) in asked.iter().enumerate().filter(put) {
            self.judge(it, &it.check.verdict, &given[place], point_of_verdicts(it.case), report);
            if let Some(lines) = &lines {
                let expected = it.check.line.unwrap_or(0).to_string();
                let given = Given::Answer(lines[place].clone());
                self.judge(it, &expected, &given, "lines", report);
            }
        }
        for (place, &file) in files.iter().enumerate() {
            let Some(it) = self.asked.iter().find(|it| it.file == file) else { continue };
            if let (Some(delays), Some(expected)) = (&delays, &it.check.delay) {
                let is_same = delays[place].parse::<f64>().ok() == expected.parse::<f64>().ok();
                let given = if is_same { expected.clone() } else { delays[place].clone() };
                self.judge(it, expected, &Given::Answer(given), "delay", report);
            }
            if let (Some(sitemaps), Some(expected)) = (&sitemaps, &it.case.sitemaps) {
                let given = Given::Answer(sitemaps[place].clone());
                self.judge(it, &expected.join(" "), &given, "sitemaps", report);
            }
        }
        Ok(())
    }

    fn judge(
        &self,
        asked: &Asked<'_>,
        expected: &str,
        given: &Given,
        point: &str,
        report: &mut Conformance,
    ) {
        let Asked { case, file, agent, url, .. } = asked;
        let text = String::from_utf8_lossy(&self.files[*file]).into_owned();
        let difference = Difference {
            case: case.name.clone(),
            source: case.source.clone(),
            // No document asks a matcher for the line.
            grade: if point == "lines" { Grade::Choice } else { case.grade },
            robots: text,
            agent: agent.clone(),
            url: url.clone(),
            expected: expected.to_owned(),
            given: String::new(),
        };
        report.judge(point, difference, given.words());
    }
}

/// Returns the point of a case's verdicts: those of cases about a delay or sitemaps say that such lines change
/// nothing.
fn point_of_verdicts(case: &Case) -> &str {
    match &case.point[..] {
        "delay" | "sitemaps" => "other-fields",
        point => point,
    }
}

impl Given {
    /// Returns the answer, or the reason why there is none.
    fn words(&self) -> Result<&str, &str> {
        match self {
            Given::Answer(answer) => Ok(answer),
            Given::Nothing => Err("no answer"),
            Given::Failed(why) => Err(why),
        }
    }
}

/// Returns the URL in normal form, and the bytes of its path; `None` if that is not UTF-8.
fn normal(url: &str, dialect: &Dialect) -> Option<(String, usize)> {
    let (mut host, mut path) = (Vec::new(), Vec::new());
    let url = split(url.as_bytes(), dialect.paths.path_start).ok()?;
    let key = host_key(&url, &mut host).ok()?;
    let path = compared_path(url.path, dialect.paths.escapes, &mut path);
    let scheme = url.scheme.to_ascii_lowercase();
    let text = String::from_utf8([&scheme[..], b"://", key, path].concat()).ok()?;
    Some((text, path.len()))
}

/// Returns the URL as it is written, without its fragment, and the bytes of its path.
fn as_written(url: &str, dialect: &Dialect) -> (String, usize) {
    let url = url.split('#').next().unwrap_or_default();
    let path = split(url.as_bytes(), dialect.paths.path_start).map_or(0, |it| it.path.len());
    (url.to_owned(), path)
}

/// Asks what may be fetched after each answer to the request for robots.txt, if the engine says that it can
/// be asked.
fn ask_answers(suite: &Suite, engine: &Engine<'_>, dialect: &Dialect, report: &mut Conformance) {
    let of_dialect = |it: &&Answer| it.dialects.iter().any(|name| name == dialect.name);
    let Ok((_, mut matcher)) = (engine.build)(&[]) else { return };
    for answer in suite.answers.iter().filter(of_dialect) {
        let Answer { name, source, point, grade, status, redirects, verdict, .. } = answer;
        let told = matcher.tell(Ask::Status { status: *status, redirects: *redirects });
        let given = match told {
            Ok(None) => return,
            Ok(Some(words)) => match words.first().map(String::as_str) {
                Some("1") => Given::Answer("allow".to_owned()),
                Some("0") => Given::Answer("disallow".to_owned()),
                _ => Given::Nothing,
            },
            Err(error) => Given::Failed(error.to_string()),
        };
        let difference = Difference {
            case: name.clone(),
            source: source.clone(),
            grade: *grade,
            robots: body_of(*status).to_owned(),
            agent: "ExampleBot".to_owned(),
            url: format!("status {status} after {redirects} redirects"),
            expected: verdict.clone(),
            given: String::new(),
        };
        report.judge(point, difference, given.words());
    }
}
