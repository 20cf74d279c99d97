//! A tour of the library: one file, then many URLs on many hosts.
//!
//! Run it with `cargo run --example tour`.

use portcullis::{Classifier, CompileConfig, Crawler, RFC_9309, Robots, Session, Verdict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One file, one agent.
    let robots = Robots::parse("User-agent: *\nDisallow: /search\nAllow: /search/about\n");
    let gptbot = robots.agent("GPTBot");
    assert!(gptbot.is_allowed("https://example.com/search/about"));

    // The deciding rule, and the rules that lose to it.
    let explanation = robots.explain("GPTBot", "https://example.com/search/about")?;
    println!("{}", explanation.rules[0].record.text.escape_ascii());
    assert_eq!(explanation.rules[1].record.line.get(), 2);

    // Many hosts, many URLs, several agents. Each thread has its own session.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/sample/robots");
    let set = portcullis::set::load(folder, &CompileConfig::new(&RFC_9309))?.set;
    let agents = ["GPTBot", "CCBot"].map(|name| Crawler::parse(name, &RFC_9309));
    let agents = agents.into_iter().collect::<Result<_, _>>()?;
    let mut session = Session::new(Classifier::new(set, agents)?);
    let urls = ["https://shop.example/cart/?a=1", "https://nobody.example/"];
    let mut answers = session.decide(&urls)?;
    let decisions = answers.decisions();
    for (url, decisions) in urls.iter().zip(decisions.chunks(2)) {
        println!("{url} GPTBot: {}, CCBot: {}", decisions[0].verdict(), decisions[1].verdict());
    }
    assert_eq!(decisions[2].verdict(), Verdict::Unknown);

    // The deciding rule.
    let first = answers.rule(0)?;
    println!("line {:?}: {:?}", first.decision.line, first.rule.map(<[u8]>::escape_ascii));
    Ok(())
}
