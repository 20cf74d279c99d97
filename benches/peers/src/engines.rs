//! Matchers from crates.io as engines.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fast_robots::{ParseOptions, RobotsMatcher, RobotsTxt};
use portcullis_bench::{Corpus, Engine, EngineKind, Question};
use robots_txt::Robots;
use robots_txt::matcher::SimpleMatcher;

/// Returns all peers for a corpus.
pub fn all(corpus: &Corpus) -> Vec<Engine<'_>> {
    let agent = corpus.agent.name();
    vec![
        // It compiles the groups of all agents. A matcher borrows its parsed file.
        peer("fast-robots", "", compiled, move |matcher, question| {
            matcher.borrow_dependent().is_allowed(agent, question.path)
        }),
        // What its documentation advises for a few questions: the parsed file alone.
        peer("fast-robots", "-file", parsed, move |file, question| {
            file.is_allowed(agent, question.path)
        }),
        // It keeps an agent's rules, as regular expressions if they have a `$`. It takes a URL or a path,
        // and is faster with a path.
        peer(
            "texting_robots",
            "",
            // The first part of the error quotes the rule. The last part says what is wrong.
            move |text| {
                let robot = texting_robots::Robot::new(agent, text);
                robot.map_err(|error| error.root_cause().to_string())
            },
            |robot, question| robot.allowed(question.path),
        ),
        // It keeps an agent's rules in order of precedence. It takes the path.
        peer(
            "robotxt",
            "",
            move |text| Ok(robotxt::Robots::parse(text, agent)),
            |robots, question| robots.is_allowed(question.path),
        ),
        // It keeps an agent's rules as an automaton. It takes the path.
        peer(
            "cylon",
            "",
            move |text| at_once(cylon::Compiler::new(agent).compile(text)),
            |cylon, question| cylon.allow(question.path),
        ),
        // It keeps all groups. It takes the path.
        peer(
            "robots_txt",
            "",
            |text| Ok(Robots::from_str_lossy(utf8(text)?)),
            move |robots, question| {
                SimpleMatcher::new(&robots.choose_section(agent).rules).check_path(question.path)
            },
        ),
        // The port of Google's C++ parses the file for each URL. It takes the escaped URL.
        Engine {
            reads_each_time: true,
            ..peer("robotstxt", "", utf8, move |text, question| {
                let mut matcher = robotstxt::DefaultMatcher::default();
                matcher.one_agent_allowed_by_robots(text, agent, question.url)
            })
        },
    ]
}

/// Returns the engine of a crate, by the name of its package, with a matcher for each file.
fn peer<'c, M: 'c>(
    package: &str,
    variant: &str,
    build: impl Fn(&'c [u8]) -> Result<M, String> + 'c,
    allows: impl Fn(&M, Question<'_>) -> bool + Clone + 'c,
) -> Engine<'c> {
    Engine {
        version: locked_version(package).to_owned(),
        kind: EngineKind::Peer,
        normalises: true,
        ..Engine::per_file(&format!("{package}{variant}"), build, allows)
    }
}

/// Returns the version of a package in the lock file. If there are several, the newest.
fn locked_version(package: &str) -> &'static str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let entries = include_str!("../../../Cargo.lock").split(entry.as_str()).skip(1);
    entries.last().and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

self_cell::self_cell!(
    struct Compiled<'f> {
        owner: RobotsTxt<'f>,
        #[covariant]
        dependent: RobotsMatcher,
    }
);

fn parsed(text: &[u8]) -> Result<RobotsTxt<'_>, String> {
    let options = ParseOptions { max_bytes: None };
    RobotsTxt::parse_bytes_with_options(text, options).map_err(|error| error.to_string())
}

fn compiled(text: &[u8]) -> Result<Compiled<'_>, String> {
    Ok(Compiled::new(parsed(text)?, |parsed| parsed.matcher()))
}

fn utf8(text: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(text).map_err(|_| "takes UTF-8 only".to_owned())
}

/// Returns what a future over bytes in memory yields, which never waits.
fn at_once<T, E: ToString>(future: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result.map_err(|error| error.to_string()),
        Poll::Pending => Err("waits".to_owned()),
    }
}
