//! The results of the suite on engines: plain data, which Markdown, JSON and JUnit's XML show.

use serde::Serialize;

use portcullis_text::visible::visible;

use super::engine::{Engine, EngineKind};
use super::suite::{Grade, Point};

/// The reports on all engines for one dialect.
#[derive(Clone, Debug, Serialize)]
pub struct Suites {
    /// The format of the JSON, which an incompatible change increases.
    pub format: &'static str,
    /// The version of portcullis.
    pub version: &'static str,
    /// The dialect that is asked for.
    pub dialect: &'static str,
    /// The engines, in the order of the list.
    pub engines: Vec<Conformance>,
}

/// The report on an engine.
#[derive(Clone, Debug, Serialize)]
pub struct Conformance {
    /// The name of the engine.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it comes from.
    pub kind: EngineKind,
    /// The conclusion.
    pub status: Verdict,
    /// Files that it crashed or hung on.
    pub failures: usize,
    /// The points in the order of the suite.
    pub points: Vec<PointReport>,
}

/// The conclusion on an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every answer that a document requires is as the document says.
    Conforms,
    /// Some such answer differs or is missing, or it crashed or hung.
    Differs,
    /// It answered nothing.
    Failed,
}

/// The report on a point.
#[derive(Clone, Debug, Serialize)]
pub struct PointReport {
    /// The name.
    pub name: String,
    /// Its subject.
    pub title: String,
    /// The conclusion.
    pub status: PointStatus,
    /// The number of questions.
    pub asked: usize,
    /// The answers that differ from the dialect's.
    pub differing: usize,
    /// The differing answers that allow what the dialect disallows.
    pub opening: usize,
    /// The differing answers that disallow what the dialect allows.
    pub closing: usize,
    /// The questions without an answer.
    pub unanswered: usize,
    /// The differing and missing answers that a document requires.
    pub required: usize,
    /// The smallest file that shows it.
    pub example: Option<Difference>,
}

/// The conclusion on a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointStatus {
    /// The engine cannot be asked, or the dialect has no such point.
    NotAsked,
    /// All answers are the dialect's.
    AsDialect,
    /// Only answers differ that a document recommends, or that are our choice.
    DiffersByChoice,
    /// An answer differs that a document requires.
    Differs,
    /// There is no answer to a question, or another one each time.
    Unanswered,
}

/// An answer that differs.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// The document and section that it follows.
    pub source: String,
    /// Whether the document requires the answer.
    pub grade: Grade,
    /// The file.
    pub robots: String,
    /// The crawler.
    pub agent: String,
    /// The URL.
    pub url: String,
    /// The dialect's answer.
    pub expected: String,
    /// The engine's answer, or why there is none.
    pub given: String,
}

/// Bytes of a file that are shown.
const SHOWN_BYTES_MAX: usize = 300;

impl Difference {
    /// Returns how large it is to read, the required ones first.
    fn size(&self) -> (bool, usize) {
        (self.grade != Grade::Must, self.robots.len() + self.url.len())
    }

    fn describe(&self) -> String {
        let Difference { case, source, robots, agent, url, expected, given, .. } = self;
        let cut = robots.char_indices().nth(SHOWN_BYTES_MAX);
        let robots = match cut {
            Some((end, _)) => format!("{}…", visible(&robots[..end])),
            None => visible(robots).to_string(),
        };
        let url = visible(url);
        let asked = format!("`{robots}`, {} {url}", visible(agent));
        format!("{case} ({source}): {asked}: {expected} expected, {given} given")
    }
}

impl PointReport {
    /// Returns the report on a point that was not asked.
    pub(super) fn new(point: &Point) -> PointReport {
        PointReport {
            name: point.name.clone(),
            title: point.title.clone(),
            status: PointStatus::NotAsked,
            asked: 0,
            differing: 0,
            opening: 0,
            closing: 0,
            unanswered: 0,
            required: 0,
            example: None,
        }
    }

    /// Adds an answer, or the reason why there is none.
    fn judge(&mut self, difference: Difference, given: Result<&str, &str>) {
        self.asked += 1;
        let (given, is_answer) = match given {
            Ok(answer) if answer == difference.expected => return,
            Ok(answer) => (answer, true),
            Err(why) => (why, false),
        };
        *(if is_answer { &mut self.differing } else { &mut self.unanswered }) += 1;
        self.opening += usize::from(is_answer && given == "allow");
        self.closing += usize::from(is_answer && given == "disallow");
        self.required += usize::from(difference.grade == Grade::Must);
        let new = Difference { given: given.to_owned(), ..difference };
        if self.example.as_ref().is_none_or(|known| new.size() < known.size()) {
            self.example = Some(new);
        }
    }

    fn settled(mut self) -> PointReport {
        self.status = match () {
            () if self.asked == 0 => PointStatus::NotAsked,
            () if self.differing + self.unanswered == 0 => PointStatus::AsDialect,
            () if self.differing == 0 => PointStatus::Unanswered,
            () if self.required > 0 => PointStatus::Differs,
            () => PointStatus::DiffersByChoice,
        };
        self
    }

    /// Whether a document requires another answer, or one at all.
    fn is_at_fault(&self) -> bool {
        self.required > 0
    }

    fn words(&self, dialect: &str) -> String {
        let PointReport { asked, differing, unanswered, required, .. } = self;
        let without = match unanswered {
            0 => String::new(),
            count => format!(", {count} without an answer"),
        };
        let open = match self.opening {
            0 => String::new(),
            count => format!(", {count} allow what is disallowed"),
        };
        match self.status {
            PointStatus::NotAsked => "not asked".to_owned(),
            PointStatus::AsDialect => format!("as {dialect} ({asked})"),
            PointStatus::Unanswered => format!("{unanswered} of {asked} without an answer"),
            PointStatus::Differs => {
                format!("**{differing} of {asked} differ**{open}{without} ({required} required)")
            }
            PointStatus::DiffersByChoice => {
                format!("{differing} of {asked} differ{open}{without}, none required")
            }
        }
    }
}

impl Conformance {
    /// Returns the report on an engine that was not asked yet.
    pub(super) fn new(engine: &Engine<'_>, points: Vec<PointReport>) -> Conformance {
        Conformance {
            name: engine.name.clone(),
            version: engine.version.clone(),
            kind: engine.kind,
            status: Verdict::Conforms,
            failures: 0,
            points,
        }
    }

    /// Adds an answer about a point, or the reason why there is none.
    pub(super) fn judge(&mut self, point: &str, it: Difference, given: Result<&str, &str>) {
        let report = self.points.iter_mut().find(|report| report.name == point);
        report.expect("the suite has the points of its cases").judge(it, given);
    }

    /// Draws the conclusions.
    pub(super) fn settled(mut self) -> Conformance {
        self.points = self.points.into_iter().map(PointReport::settled).collect();
        let answered: usize = self.points.iter().map(|it| it.asked - it.unanswered).sum();
        let is_at_fault = self.failures > 0 || self.points.iter().any(PointReport::is_at_fault);
        self.status = match is_at_fault {
            _ if answered == 0 => Verdict::Failed,
            true => Verdict::Differs,
            false => Verdict::Conforms,
        };
        self
    }

    /// Returns the conclusion in words.
    fn words(&self) -> String {
        let count = |status| self.points.iter().filter(|it| it.status == status).count();
        let faults = self.points.iter().filter(|it| it.is_at_fault()).count();
        let choices = count(PointStatus::DiffersByChoice);
        let asked = self.points.len() - count(PointStatus::NotAsked);
        let words = match self.status {
            Verdict::Failed => "**failed**: it answered nothing".to_owned(),
            Verdict::Differs => format!(
                "**differs** in {faults} of {asked} points that a document requires, and in {choices} \
                 others"
            ),
            Verdict::Conforms => format!("conforms: {asked} points, {choices} differ by choice"),
        };
        match self.failures {
            0 => words,
            failures => format!("{words}; it crashed or hung on {failures} files"),
        }
    }
}

impl Suites {
    /// Whether an engine differs from what a document requires, or failed.
    pub fn has_fault(&self) -> bool {
        self.engines.iter().any(|it| it.status != Verdict::Conforms)
    }

    /// Returns the reports as one indented JSON object.
    pub fn to_json(&self) -> String {
        portcullis_text::json::to_json_pretty(self) + "\n"
    }

    /// Renders the reports as Markdown: for each engine its conclusion, a table of points, and the smallest
    /// file for each difference.
    pub fn to_markdown(&self) -> String {
        let blocks =
            self.engines.iter().map(|engine| {
                let title = format!("{} {}", engine.name, engine.version);
                let mut lines = vec![
                    format!("## {} and {}", visible(title.trim()), self.dialect),
                    String::new(),
                    visible(&engine.words()).to_string(),
                    String::new(),
                    "| point | answers |".to_owned(),
                    "|---|---|".to_owned(),
                ];
                let asked = engine.points.iter().filter(|it| it.status != PointStatus::NotAsked);
                lines.extend(asked.clone().map(|it| {
                    format!("| {}: {} | {} |", it.name, it.title, it.words(self.dialect))
                }));
                let examples = asked.filter_map(|it| Some((it, it.example.as_ref()?)));
                let mut examples = examples.peekable();
                if examples.peek().is_some() {
                    lines.push(String::new());
                }
                lines.extend(examples.map(|(it, example)| {
                    format!("- {}: {}", it.name, visible(&example.describe()))
                }));
                lines.join("\n")
            });
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// Renders the reports as XML that readers of JUnit's reports take: a suite for each engine, a test for
    /// each point. A point that differs by choice passes, with its difference as output.
    pub fn to_junit(&self) -> String {
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
        for engine in &self.engines {
            let failures = engine.points.iter().filter(|it| it.is_at_fault()).count();
            let skipped = engine.points.iter().filter(|it| it.status == PointStatus::NotAsked);
            // An engine that answers nothing, crashes or hangs fails, even if nothing is required of it.
            let fails = usize::from(engine.status != Verdict::Conforms && failures == 0);
            xml += &format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
                escaped(&format!("{} {}", engine.name, self.dialect)),
                engine.points.len() + fails,
                failures + fails,
                skipped.count()
            );
            if fails > 0 {
                let words = match engine.failures {
                    0 => "it answered nothing".to_owned(),
                    files => format!("it crashed or hung on {files} files"),
                };
                xml += "    <testcase classname=\"suite\" name=\"answers\"><failure ";
                xml += &format!("message=\"{words}\"/></testcase>\n");
            }
            for point in &engine.points {
                let text = point.example.as_ref().map_or(String::new(), Difference::describe);
                let text = escaped(&text);
                let words = escaped(&point.words(self.dialect).replace("**", ""));
                let inner = match point.status {
                    PointStatus::NotAsked => "<skipped/>".to_owned(),
                    _ if point.is_at_fault() => {
                        format!("<failure message=\"{words}\">{text}</failure>")
                    }
                    PointStatus::AsDialect => String::new(),
                    _ => format!("<system-out>{words}: {text}</system-out>"),
                };
                xml += &format!(
                    "    <testcase classname=\"{}\" name=\"{}: {}\">{inner}</testcase>\n",
                    escaped(&engine.name),
                    escaped(&point.name),
                    escaped(&point.title)
                );
            }
            xml += "  </testsuite>\n";
        }
        xml + "</testsuites>\n"
    }
}

/// Returns text for XML, with its hidden characters escaped.
fn escaped(text: &str) -> String {
    let text = visible(text).to_string();
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
