//! Asks the robots.txt file of each page before the page is fetched, with reqwest and tokio.
//!
//! Run it with `cargo run -p portcullis-peers --features peers --example fetch -- ExampleBot
//! http://example.com/`. For https, add a TLS feature of reqwest.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use portcullis::{AgentRules, Decision, Fetched, Robots, robots_txt_url};

/// Bytes of a robots.txt file that are read; the protocol asks for at least 500 KiB.
const BODY_BYTES_MAX: usize = 512 * 1024;

/// The rules of the sites that were visited, by the URL of their robots.txt file.
pub struct Crawler {
    agent: String,
    client: reqwest::Client,
    rules: HashMap<String, AgentRules>,
}

impl Crawler {
    pub fn new(agent: &str) -> reqwest::Result<Crawler> {
        let redirects = reqwest::redirect::Policy::limited(5);
        let client = reqwest::Client::builder()
            .user_agent(agent)
            .redirect(redirects)
            .timeout(Duration::from_secs(30))
            .build()?;
        Ok(Crawler { agent: agent.to_owned(), client, rules: HashMap::new() })
    }

    /// Returns the decision on a page, and how long to wait between two requests to its site.
    pub async fn decide(
        &mut self,
        page: &str,
    ) -> Result<(Decision, Option<Duration>), Box<dyn Error>> {
        let url = robots_txt_url(page)?;
        if !self.rules.contains_key(&url) {
            // Without a complete response, nothing is allowed.
            let (answer, body) =
                self.fetch(&url).await.unwrap_or_else(|_| (Fetched::NoResponse, Vec::new()));
            let rules = Robots::from_response(answer, &body).agent(&self.agent);
            self.rules.insert(url.clone(), rules);
        }
        let rules = &self.rules[&url];
        Ok((rules.decide(page), rules.crawl_delay()))
    }

    async fn fetch(&self, url: &str) -> reqwest::Result<(Fetched, Vec<u8>)> {
        let mut response = self.client.get(url).send().await?;
        let mut body = Vec::new();
        while body.len() < BODY_BYTES_MAX
            && let Some(chunk) = response.chunk().await?
        {
            body.extend_from_slice(&chunk);
        }
        Ok((Fetched::Status(response.status().as_u16()), body))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut crawler = Crawler::new(&arguments.next().ok_or("usage: fetch AGENT URL...")?)?;
    for page in arguments {
        let (decision, delay) = crawler.decide(&page).await?;
        let seconds = delay.map_or(0.0, |delay| delay.as_secs_f64());
        println!("{}\t{}\t{seconds}\t{page}", decision.verdict, decision.reason);
    }
    Ok(())
}
