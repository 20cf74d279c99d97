//! Tests of whole measurements, with engines that are right, are wrong, panic, refuse files and
//! change their answers.

use super::*;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::policy::Crawler;

const ROBOTS: &[u8] = b"User-agent: *\nDisallow: /private\nAllow: /private/*.html$\n";
const LIST: [&str; 5] = [
    "https://a.example/",
    "https://a.example/private/x",
    "no URL",
    "http://b.example:81/private/x.html\r",
    "https://a.example/private?y",
];

/// The behaviour of a test engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Right,
    AllowsAll,
    Panics,
    Refuses,
    ChangesItsMind,
    CannotBuild,
}

struct Act {
    manner: Manner,
    asked: usize,
}

fn actor<'c>(name: &str, kind: EngineKind, manner: Manner) -> Engine<'c> {
    let build = move |_: &[&[u8]]| match manner {
        Manner::CannotBuild => Err(anyhow::anyhow!("no memory\nleft")),
        manner => Ok(Act { manner, asked: 0 }),
    };
    Engine { kind, ..Engine::built_in(name, build) }
}

impl Matcher for Act {
    fn allows(&mut self, question: Question<'_>) -> Option<bool> {
        self.asked += 1;
        let right = !question.path.starts_with("/private") || question.path.ends_with(".html");
        match self.manner {
            Manner::Panics => panic!("it happens"),
            Manner::Refuses => None,
            Manner::AllowsAll => Some(true),
            Manner::ChangesItsMind if self.asked > 4 => Some(true),
            _ => Some(right),
        }
    }

    fn refusals(&self) -> Vec<String> {
        let refuses = self.manner == Manner::Refuses;
        refuses.then(|| "not for me".to_owned()).into_iter().collect()
    }
}

fn corpus() -> Corpus {
    corpus_of(&LIST)
}

fn corpus_of(list: &[&str]) -> Corpus {
    let folder = tempfile::tempdir().unwrap();
    let robots = folder.path().join("robots.txt");
    std::fs::write(&robots, ROBOTS).unwrap();
    let agent = Crawler::parse("ExampleBot", &RFC_9309).unwrap();
    let mut corpus = Corpus::load(&robots, agent, &RFC_9309).unwrap();
    list.iter().for_each(|record| corpus.add(record.as_bytes()));
    corpus
}

fn measured<'c>(corpus: &'c Corpus, engines: &[Engine<'c>]) -> Report {
    let settings = Settings { rounds: 1, ..Settings::default() };
    run(corpus, engines, (&settings, ""), &|_| ()).unwrap()
}

fn report_of(kind: EngineKind, manner: Manner) -> Report {
    let corpus = corpus();
    let right = actor("right", EngineKind::BuiltIn, Manner::Right);
    measured(&corpus, &[right, actor("actor", kind, manner)])
}

fn hot(order: Order) -> Cell {
    Cell { model: Model::DecideHot, order: Some(order) }
}

#[test]
fn an_engine_that_is_right_is_timed_in_every_way() {
    let report = report_of(EngineKind::BuiltIn, Manner::Right);
    assert!(!report.has_fault());
    assert_eq!((report.corpus.questions, report.corpus.left_out.invalid), (4, 1));
    assert_eq!((report.corpus.files, report.corpus.allowed), (1, 2));
    for engine in &report.engines {
        assert_eq!(engine.verification.status, Status::Verified);
        assert_eq!(engine.verification.checksum, report.corpus.checksum);
        assert_eq!(engine.results.len(), 6, "{:?}", engine.results);
        assert!(engine.result(hot(Order::Grouped)).unwrap().ratio.is_some());
    }
}

#[test]
fn a_built_in_engine_that_lies_is_wrong_and_has_no_times() {
    for manner in [Manner::AllowsAll, Manner::Panics] {
        let report = report_of(EngineKind::BuiltIn, manner);
        let actor = &report.engines[1];
        assert!(report.has_fault());
        assert_eq!(actor.verification.status, Status::Wrong);
        assert!(actor.results.is_empty());
        let example = &actor.verification.examples[0];
        let (answer, url) = match manner {
            Manner::Panics => ("nothing", "https://a.example/"),
            _ => ("allow", "https://a.example/private/x"),
        };
        assert_eq!((example.answer, example.url.as_str()), (answer, url));
        let text = report.to_markdown();
        assert!(text.contains("**WRONG**") && text.contains(url), "{text}");
        assert!(!report.engines[0].results.is_empty());
    }
}

#[test]
fn a_peer_that_differs_is_counted_and_timed() {
    let report = report_of(EngineKind::Peer, Manner::AllowsAll);
    let actor = &report.engines[1];
    assert!(!report.has_fault());
    assert_eq!(actor.verification.status, Status::Differs);
    assert_eq!((actor.verification.differing, actor.verification.examples.len()), (2, 2));
    assert_ne!(actor.verification.checksum, report.corpus.checksum);
    assert!(actor.result(hot(Order::Shuffled)).is_some());
}

#[test]
fn a_peer_that_answers_nothing_takes_nothing_from_the_others() {
    for manner in [Manner::Panics, Manner::Refuses] {
        let report = report_of(EngineKind::Peer, manner);
        let actor = &report.engines[1];
        assert_eq!((actor.verification.answered, actor.verification.differing), (0, 0));
        assert!(actor.results.is_empty());
        assert_eq!(actor.verification.status, Status::Failed("answers no URL".to_owned()));
        assert_eq!(report.corpus.timed, 4);
        assert!(report.engines[0].result(hot(Order::Shuffled)).is_some());
    }
    let refused = report_of(EngineKind::Peer, Manner::Refuses);
    assert_eq!(refused.engines[1].verification.files_refused["not for me"], 1);
}

#[test]
fn an_engine_that_changes_its_mind_has_no_times() {
    let report = report_of(EngineKind::BuiltIn, Manner::ChangesItsMind);
    let actor = &report.engines[1];
    assert!(
        matches!(&actor.verification.status, Status::Failed(why) if why.contains("timed pass"))
    );
    assert!(actor.results.is_empty() && report.has_fault());
}

#[test]
fn an_engine_that_cannot_be_built_says_why() {
    let report = report_of(EngineKind::Peer, Manner::CannotBuild);
    assert!(!report.has_fault());
    let text = report.to_markdown();
    assert!(
        text.contains("**FAILED**") && text.contains("actor: failed: no memory left"),
        "{text}"
    );
}

#[test]
fn every_built_in_engine_is_right() {
    let corpus = corpus();
    let engines = chosen(&corpus, Vec::new(), &Choice::default()).unwrap();
    let report = measured(&corpus, &engines);
    for engine in &report.engines {
        assert_eq!(engine.verification.status, Status::Verified, "{}", engine.name);
        assert!(engine.result(hot(Order::Shuffled)).is_some(), "{}", engine.name);
    }
}

#[test]
fn names_are_those_of_engines() {
    let corpus = corpus();
    let named = |name: &str| Choice { engines: vec![name.to_owned()], ..Choice::default() };
    let failure = |others, choice: &Choice| {
        let chosen = chosen(&corpus, others, choice);
        chosen.err().expect("it is wrong").to_string()
    };
    let unknown = failure(Vec::new(), &named("unknown"));
    assert!(unknown.starts_with("there is no engine unknown; there are portcullis, "), "{unknown}");
    assert_eq!(chosen(&corpus, Vec::new(), &named("oracle")).unwrap().len(), 1);
    let twice = actor("oracle", EngineKind::Peer, Manner::Right);
    let same = failure(vec![twice], &Choice::default());
    assert_eq!(same, "two engines have the name oracle; give the runner another");
}

#[test]
fn a_corpus_that_asks_nothing_is_an_error() {
    let corpus = corpus_of(&["no URL"]);
    assert!(run(&corpus, &[], (&Settings::default(), ""), &|_| ()).is_err());
}

#[test]
fn a_report_is_json_and_markdown() {
    let report = report_of(EngineKind::Peer, Manner::AllowsAll);
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let result = &json["engines"][1]["results"][0];
    for member in ["model", "order", "median_ns", "min_ns", "max_ns", "ratio"] {
        assert!(result.get(member).is_some(), "{member}: {result}");
    }
    assert_eq!(json["engines"][1]["verification"]["status"], "differs");
    assert!(report.to_markdown().contains("| actor 0.1.0 | 2 differ | "));
}

#[cfg(unix)]
mod runners {
    use super::*;

    /// Returns the report of a test runner in one of its modes.
    fn runner_report(mode: &str) -> Report {
        let corpus = corpus();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/bench/runner.sh");
        let command = format!("script=sh {script} {mode}").parse().unwrap();
        let choice = Choice { engines: vec!["portcullis".to_owned()], runners: vec![command] };
        measured(&corpus, &chosen(&corpus, Vec::new(), &choice).unwrap())
    }

    #[test]
    fn a_runner_tells_its_own_times_and_is_compared() {
        let report = runner_report("allow");
        let runner = &report.engines[1];
        assert_eq!((runner.name.as_str(), runner.version.as_str()), ("script", "1.0"));
        assert_eq!(runner.verification.status, Status::Differs);
        assert_eq!((runner.verification.answered, runner.verification.differing), (4, 2));
        assert_eq!(runner.result(hot(Order::Shuffled)).unwrap().median_ns, 100.0);
        assert!(report.to_markdown().contains("| script 1.0 | 2 differ | "));
        let compile = Cell { model: Model::Compile, order: None };
        assert_eq!(runner.result(compile).unwrap().median_ns, 1000.0);
    }

    #[test]
    fn a_runner_that_breaks_the_protocol_fails_alone() {
        for (mode, why) in [
            ("crash", "ended before"),
            ("babble", "well, let me think"),
            ("short", "3 answers to 4 URLs"),
        ] {
            let report = runner_report(mode);
            let status = &report.engines[1].verification.status;
            assert!(matches!(status, Status::Failed(said) if said.contains(why)), "{status:?}");
            assert!(report.engines[1].results.is_empty() && !report.has_fault());
            assert!(report.engines[0].result(hot(Order::Grouped)).is_some(), "{mode}");
        }
    }

    #[test]
    fn a_runner_may_refuse_files() {
        let report = runner_report("refuse");
        let verification = &report.engines[1].verification;
        assert_eq!(verification.files_refused["too long for me"], 1);
        assert_eq!((verification.asked, verification.answered), (4, 0));
    }

    #[test]
    fn a_program_that_is_not_there_fails_alone() {
        let corpus = corpus();
        let runners = vec!["gone=/no/such/program".parse().unwrap()];
        let choice = Choice { engines: vec!["oracle".to_owned()], runners };
        let report = measured(&corpus, &chosen(&corpus, Vec::new(), &choice).unwrap());
        let status = &report.engines[1].verification.status;
        assert!(matches!(status, Status::Failed(why) if why.contains("cannot be started")));
    }

    #[test]
    fn a_runner_is_a_name_and_a_command() {
        for text in ["", "a", "a=", "=b", "a= "] {
            assert!(text.parse::<RunnerCommand>().is_err(), "{text}");
        }
        assert!("a=b c=d".parse::<RunnerCommand>().is_ok());
    }
}
