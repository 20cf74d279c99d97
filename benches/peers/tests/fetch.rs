//! The example that fetches, against a server on this machine.

#[path = "../../../examples/fetch.rs"]
#[expect(dead_code, reason = "`main` is for the command line")]
mod example;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::time::Duration;

use portcullis::{Reason, Verdict};

const FILE: &str = "User-agent: ExampleBot\nCrawl-delay: 0.5\nDisallow: /private\n";

/// Serves `responses`, each to one request for /robots.txt, and returns the server's origin.
fn serve(responses: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap();
            assert!(request.ends_with("/robots.txt HTTP/1.1"), "{request}");
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    origin
}

fn response(status: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
    )
}

fn file() -> String {
    response("200 OK", "", FILE)
}

async fn decide(origin: &str, path: &str) -> (Verdict, Reason, Option<Duration>) {
    let mut crawler = example::Crawler::new("ExampleBot").unwrap();
    let (decision, delay) = crawler.decide(&format!("{origin}{path}")).await.unwrap();
    (decision.verdict, decision.reason, delay)
}

#[tokio::test]
async fn a_file_is_fetched_once() {
    let origin = serve(vec![file()]);
    let mut crawler = example::Crawler::new("ExampleBot").unwrap();
    for (path, verdict) in [("/private/a", Verdict::Disallow), ("/", Verdict::Allow)] {
        let (decision, delay) = crawler.decide(&format!("{origin}{path}")).await.unwrap();
        assert_eq!(
            (decision.verdict, delay),
            (verdict, Some(Duration::from_millis(500))),
            "{path}"
        );
    }
}

#[tokio::test]
async fn responses_that_are_no_file() {
    let to = |path: &str| response("301 Moved", &format!("Location: /{path}/robots.txt\r\n"), "");
    let cut = format!("{}Disallow: /x", file().replace("Length: ", "Length: 9"));
    let (allow, disallow) = (Verdict::Allow, Verdict::Disallow);
    for (responses, verdict, reason) in [
        (vec![response("404 Not Found", "", FILE)], allow, Reason::Unavailable),
        (vec![response("503 Service Unavailable", "", FILE)], disallow, Reason::Unreachable),
        (vec![cut], disallow, Reason::Unreachable),
        (vec![String::new()], disallow, Reason::Unreachable),
        (vec![to("a"), to("b"), file()], disallow, Reason::Rule),
        (
            "abcdef".chars().map(|name| to(&name.to_string())).collect(),
            disallow,
            Reason::Unreachable,
        ),
    ] {
        let origin = serve(responses);
        let (found, why, _) = decide(&origin, "/private").await;
        assert_eq!((found, why), (verdict, reason), "{origin}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (verdict, ..) = decide(&format!("http://{nobody}"), "/").await;
    assert_eq!(verdict, disallow);
}
