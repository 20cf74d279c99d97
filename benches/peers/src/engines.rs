//! Matchers from crates.io as engines. Each is a row in [`all`] and an implementation of
//! `FileMatcher`.

use fast_robots::{ParseOptions, RobotsMatcher, RobotsTxt};
use portcullis_bench::{Built, Corpus, Engine, EngineKind, FileMatcher, PerFile, Question};

/// Returns all peers for a corpus.
pub fn all(corpus: &Corpus) -> Vec<Engine<'_>> {
    vec![
        peer::<FastRobots<'_>>("fast-robots", corpus),
        peer::<TextingRobots>("texting_robots", corpus),
        peer::<Robotxt>("robotxt", corpus),
        Engine { reads_each_time: true, ..peer::<Port<'_>>("robotstxt", corpus) },
    ]
}

/// Returns the engine of a crate, by the name of its package, with a matcher for each file.
fn peer<'c, M: FileMatcher<'c> + 'c>(name: &str, corpus: &'c Corpus) -> Engine<'c> {
    let agent = corpus.agent.name();
    let build = move |files: &[&'c [u8]]| Built::timed(|| Ok(PerFile::<M>::new(files, agent)));
    Engine {
        version: locked_version(name).to_owned(),
        kind: EngineKind::Peer,
        ..Engine::built_in(name, build)
    }
}

/// Returns the version of a package in the lock file. If there are several, the newest.
fn locked_version(package: &str) -> &'static str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let entries = include_str!("../../../Cargo.lock").split(entry.as_str()).skip(1);
    entries.last().and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

self_cell::self_cell!(
    /// fast-robots compiles the groups of all agents. A matcher borrows its parsed file.
    pub struct FastRobots<'f> {
        owner: RobotsTxt<'f>,
        #[covariant]
        dependent: RobotsMatcher,
    }
);

impl<'f> FastRobots<'f> {
    /// Parses and compiles a file.
    ///
    /// # Errors
    ///
    /// The parser's.
    pub fn compile(text: &'f [u8]) -> Result<FastRobots<'f>, String> {
        let options = ParseOptions { max_bytes: None };
        let parsed = RobotsTxt::parse_bytes_with_options(text, options);
        let parsed = parsed.map_err(|error| error.to_string())?;
        Ok(FastRobots::new(parsed, |parsed| parsed.matcher()))
    }

    /// Whether `agent` may fetch `path`.
    pub fn is_allowed(&self, agent: &str, path: &str) -> bool {
        self.borrow_dependent().is_allowed(agent, path)
    }
}

impl<'f> FileMatcher<'f> for FastRobots<'f> {
    fn build(text: &'f [u8], _agent: &str) -> Result<FastRobots<'f>, String> {
        FastRobots::compile(text)
    }

    fn allows(&mut self, agent: &str, question: Question<'_>) -> bool {
        self.is_allowed(agent, question.path)
    }
}

/// texting_robots keeps an agent's rules, as regular expressions if they have a `$`. It takes a URL
/// or a path, and is faster with a path.
struct TextingRobots(texting_robots::Robot);

impl FileMatcher<'_> for TextingRobots {
    fn build(text: &[u8], agent: &str) -> Result<TextingRobots, String> {
        // The first part of the error quotes the rule. The last part says what is wrong.
        let refuse = |error: anyhow::Error| error.root_cause().to_string();
        texting_robots::Robot::new(agent, text).map(TextingRobots).map_err(refuse)
    }

    fn allows(&mut self, _agent: &str, question: Question<'_>) -> bool {
        self.0.allowed(question.path)
    }
}

/// robotxt keeps an agent's rules in order of precedence. It takes the path.
struct Robotxt(robotxt::Robots);

impl FileMatcher<'_> for Robotxt {
    fn build(text: &[u8], agent: &str) -> Result<Robotxt, String> {
        Ok(Robotxt(robotxt::Robots::parse(text, agent)))
    }

    fn allows(&mut self, _agent: &str, question: Question<'_>) -> bool {
        self.0.is_allowed(question.path)
    }
}

/// robotstxt, the port of Google's C++, parses the file for each URL. It takes the escaped URL.
struct Port<'f>(&'f str);

impl<'f> FileMatcher<'f> for Port<'f> {
    fn build(text: &'f [u8], _agent: &str) -> Result<Port<'f>, String> {
        std::str::from_utf8(text).map(Port).map_err(|_| "takes UTF-8 only".to_owned())
    }

    fn allows(&mut self, agent: &str, question: Question<'_>) -> bool {
        let mut matcher = robotstxt::DefaultMatcher::default();
        matcher.one_agent_allowed_by_robots(self.0, agent, question.url)
    }
}
