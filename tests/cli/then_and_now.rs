//! `--and-now`: every answer of two agents at two times, by every way to combine them.

use std::collections::BTreeMap;

use super::*;

/// The answer of a file to an agent about a URL and its use for training.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Disallow,
    Yes,
    No,
    Nothing,
}

const ALL: [Says; 4] = [Says::Disallow, Says::Yes, Says::No, Says::Nothing];

impl Says {
    fn lines(self) -> &'static str {
        match self {
            Says::Disallow => "Disallow: /\n",
            Says::Yes => "Content-Usage: train-ai=y\nAllow: /\n",
            Says::No => "Content-Usage: train-ai=n\nAllow: /\n",
            Says::Nothing => "Allow: /\n",
        }
    }

    /// Returns the verdict and the use, as `classify` shows them.
    fn shown(self) -> [&'static str; 2] {
        match self {
            Says::Disallow => ["disallow", "-"],
            Says::Yes => ["allow", "y"],
            Says::No => ["allow", "n"],
            Says::Nothing => ["allow", "?"],
        }
    }

    /// Returns why an agent may not have the URL; `None` if it may. `keeps_unstated` is that of a
    /// purpose, if there is one.
    fn cause(self, keeps_unstated: Option<bool>) -> Option<&'static str> {
        match (self, keeps_unstated) {
            (Says::Disallow, _) => Some(CAUSES[0]),
            (Says::No, Some(_)) => Some(CAUSES[1]),
            (Says::Nothing, Some(false)) => Some(CAUSES[2]),
            _ => None,
        }
    }
}

/// The causes of what is disallowed, the worst first.
const CAUSES: [&str; 3] = ["disallowed", "not-permitted", "not-stated"];

/// A site: what it said to both agents on 2024-01-01, before which it is unknown, and says since
/// 2024-06-01.
struct Site {
    then: Option<[Says; 2]>,
    now: [Says; 2],
}

impl Site {
    fn all() -> Vec<Site> {
        let pairs: Vec<[Says; 2]> =
            ALL.iter().flat_map(|&one| ALL.map(|other| [one, other])).collect();
        let then = std::iter::once(None).chain(pairs.iter().copied().map(Some));
        then.flat_map(|then| pairs.iter().map(move |&now| Site { then, now })).collect()
    }

    fn captures(&self, host: &str) -> String {
        let body = |[a, b]: [Says; 2]| {
            format!("User-agent: A\n{}\nUser-agent: B\n{}", a.lines(), b.lines())
        };
        let then = self.then.map(|says| capture(host, "2024-01-01", 200, &body(says)));
        then.unwrap_or_default() + &capture(host, "2024-06-01", 200, &body(self.now))
    }

    /// Returns the verdict on the site, and the cause if it is disallowed: an agent may have what it
    /// may have then and now, and only then all of them, or any of them, are asked.
    fn verdict(&self, any: bool, keeps_unstated: Option<bool>) -> (&'static str, Option<&str>) {
        let mut causes = Vec::new();
        let mut unknown = false;
        for agent in 0..2 {
            let then = self.then.and_then(|says| says[agent].cause(keeps_unstated));
            match then.or(self.now[agent].cause(keeps_unstated)) {
                Some(cause) => causes.push(CAUSES.iter().position(|it| *it == cause).unwrap()),
                None => unknown |= self.then.is_none(),
            }
        }
        let worst = causes.iter().min().map(|&cause| CAUSES[cause]);
        let best = causes.iter().max().map(|&cause| CAUSES[cause]);
        match (any, causes.len()) {
            (false, 1..) => ("disallow", worst),
            (true, 2) => ("disallow", best),
            _ if unknown => ("unknown", None),
            _ => ("allow", None),
        }
    }
}

fn host(number: usize) -> String {
    format!("h{number}.example")
}

/// Returns a folder with a set of the sites, and a list of a page of each.
fn folder(sites: &[Site]) -> Folder {
    let folder = Folder::new();
    let captures = |(number, site): (usize, &Site)| site.captures(&host(number));
    folder.write("x.jsonl", sites.iter().enumerate().map(captures).collect::<String>());
    let url = |number| format!("https://{}/\n", host(number));
    let urls: String = (0..sites.len()).map(url).collect();
    folder.write("urls", urls + "mailto:nobody\nhttps://elsewhere.example/\n");
    folder.ok("compile --history --summary none -o x.pcs x.jsonl");
    folder
}

#[test]
fn filter_joins_both_times_for_each_agent() {
    let sites = Site::all();
    let folder = folder(&sites);
    let base = "filter -p x.pcs -a A,B --at 2024-03-01 --and-now --summary json";
    for any in [false, true] {
        for keeps_unstated in [None, Some(true), Some(false)] {
            for unknown in ["keep", "drop"] {
                for invert in [false, true] {
                    let purpose = match keeps_unstated {
                        None => "",
                        Some(true) => "--purpose train-ai --unstated keep",
                        Some(false) => "--purpose train-ai --unstated drop",
                    };
                    let any_flag = if any { "--any" } else { "" };
                    let invert_flag = if invert { "-v" } else { "" };
                    let flags = format!("{any_flag} {purpose} {invert_flag} --unknown {unknown}");
                    let mut kept = String::new();
                    let mut dropped: BTreeMap<&str, u64> = BTreeMap::from([("invalid", 1)]);
                    for (number, site) in sites.iter().enumerate() {
                        let (verdict, cause) = site.verdict(any, keeps_unstated);
                        let is_kept = match verdict {
                            "unknown" => unknown == "keep",
                            "allow" => !invert,
                            _ => invert,
                        };
                        match is_kept {
                            true => kept += &format!("https://{}/\n", host(number)),
                            false => {
                                let allowed = if verdict == "allow" { "allowed" } else { verdict };
                                *dropped.entry(cause.unwrap_or(allowed)).or_default() += 1;
                            }
                        }
                    }
                    match unknown {
                        "keep" => kept += "https://elsewhere.example/\n",
                        _ => *dropped.entry("unknown").or_default() += 1,
                    }
                    let output = folder.ok(format!("{base} {flags} --summary account.json urls"));
                    assert_eq!(text(&output.stdout), text(kept.as_bytes()), "{flags}");
                    let account = json(&folder.read("account.json"));
                    let counts = account["dropped"].as_object().unwrap().iter();
                    let counts: BTreeMap<&str, u64> = counts
                        .map(|(cause, count)| (&**cause, count.as_u64().unwrap()))
                        .filter(|&(_, count)| count > 0)
                        .collect();
                    assert_eq!(counts, dropped, "{flags}");
                }
            }
        }
    }
}

#[test]
fn classify_shows_verdict_and_use_of_both_times() {
    let sites = Site::all();
    let folder = folder(&sites);
    let line = "classify -p x.pcs -a A,B --at 2024-03-01 --and-now --usage train-ai --summary none";
    let mut expected =
        "A\tA_now\tA_train-ai\tA_train-ai_now\tB\tB_now\tB_train-ai\tB_train-ai_now\turl\n"
            .to_owned();
    for (number, site) in sites.iter().enumerate() {
        for agent in 0..2 {
            let then = site.then.map_or(["unknown", "-"], |says| says[agent].shown());
            let now = site.now[agent].shown();
            expected += &format!("{}\t{}\t{}\t{}\t", then[0], now[0], then[1], now[1]);
        }
        expected += &format!("https://{}/\n", host(number));
    }
    expected += &format!("{}mailto:nobody\n", "invalid\tinvalid\t-\t-\t".repeat(2));
    expected += &format!("{}https://elsewhere.example/\n", "unknown\tunknown\t-\t-\t".repeat(2));
    assert_stdout(&folder.ok(format!("{line} --header urls")), &expected);

    let rows =
        String::from_utf8(folder.ok(format!("{line} --long --format jsonl urls")).stdout).unwrap();
    let rows = rows.lines().map(|row| {
        let row = json(row.as_bytes());
        let members = [&row["verdict"], &row["now"], &row["train-ai"], &row["train-ai_now"]];
        members.map(|it| format!("{}\t", it.as_str().unwrap())).concat()
    });
    let rows: Vec<String> = rows.collect();
    let both = rows.chunks(2).map(<[String]>::concat).collect::<Vec<_>>();
    let columns = expected.lines().skip(1).map(|line| {
        let url = line.rfind('\t').unwrap();
        line[..=url].to_owned()
    });
    assert_eq!(both, columns.collect::<Vec<_>>());
}

/// `inspect` has all periods of a host, and a set is not a file with `@` in its name.
#[test]
fn inspect_takes_no_time() {
    let folder = Folder::new();
    let rules = "User-agent: *\nDisallow: /\n";
    folder.write("captures.jsonl", capture("a.example", "2024-01-01", 200, rules));
    folder.ok("compile --history --summary none -o h.pcs captures.jsonl");
    for line in ["inspect h.pcs@2024-01-02 a.example", "inspect h.pcs@2024-01-02"] {
        assert_fails(
            &folder.output(line),
            &["h.pcs: inspect takes no @TIME", "inspect h.pcs HOST"],
        );
    }
    folder.ok("inspect h.pcs a.example");
    fs::rename(folder.path("h.pcs"), folder.path("h@2024-01-02")).unwrap();
    folder.ok("inspect h@2024-01-02 a.example");
}
