//! The facade as a dependent crate uses it: what it owns, and what threads can share.

use portcullis::explain::Explanation;
use portcullis::{
    AgentRules, Classifier, CompileConfig, Crawler, Decision, PolicySet, RFC_9309, Robots, Session,
};

fn is_shared<T: Send + Sync + 'static>() {}

#[test]
fn the_types_of_bindings_are_owned_and_shared() {
    is_shared::<AgentRules>();
    is_shared::<Crawler>();
    is_shared::<PolicySet>();
    is_shared::<Classifier>();
    is_shared::<Session>();
    is_shared::<Decision>();
    is_shared::<Explanation>();
    is_shared::<Robots<'static>>();
}

/// One file alone and as a set gives the same decisions, from several threads at once.
#[test]
fn one_file_and_a_set_agree() {
    let text = b"User-agent: *\nDisallow: /a\nAllow: /a*b$\nUser-agent: c\nAllow: /\n";
    let urls = ["https://h.example/a", "https://h.example/axb", "https://h.example/robots.txt"];
    let rules = ["x", "c"].map(|agent| Robots::parse(text).agent(agent));
    let agents = ["x", "c"].map(|agent| Crawler::parse(agent, &RFC_9309).unwrap());
    let set = portcullis::set::load_text(text, &CompileConfig::new(&RFC_9309));
    let classifier = Classifier::new(set, agents.to_vec()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut session = Session::new(classifier.clone());
                let answers = session.decide(&urls).unwrap();
                let decisions = answers.decisions_with_rules().unwrap();
                for (url, decisions) in urls.iter().zip(decisions.chunks(2)) {
                    let alone: Vec<_> = rules.iter().map(|rules| rules.decide(url)).collect();
                    assert_eq!(decisions, alone, "{url}");
                }
            });
        }
    });
}

/// Decisions and explanations serialize as the words that they print.
#[test]
fn decisions_serialize() {
    let robots = Robots::parse("User-agent: *\nDisallow: /a\n");
    let decision = serde_json::to_value(robots.agent("x").decide("/a")).unwrap();
    assert_eq!(decision["verdict"], "disallow");
    assert_eq!(decision["line"], 2);
    let explanation = serde_json::to_value(robots.explain("x", "/a").unwrap()).unwrap();
    assert_eq!(explanation["rules"][0]["pattern"], "/a");
}
