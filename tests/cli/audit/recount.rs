//! The counts of an audit, computed again from the output of `classify --long --format jsonl`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::*;

/// The counts of decisions.
#[derive(Clone, Default)]
pub struct Recount {
    pub records: u64,
    /// By agent and word.
    pub verdicts: BTreeMap<(usize, String), u64>,
    pub reasons: BTreeMap<(usize, String), u64>,
    /// Hosts of known URLs.
    pub hosts: BTreeMap<String, CountedHost>,
    /// By policy and line.
    pub rules: BTreeMap<(String, u64), CountedRule>,
    /// The hosts of known URLs by policy.
    pub hosts_of: BTreeMap<String, BTreeSet<String>>,
    /// URLs without a policy by host.
    pub unknown: BTreeMap<String, u64>,
}

#[derive(Clone, Default)]
pub struct CountedHost {
    pub urls: u64,
    /// Disallowed.
    pub by_agent: Vec<u64>,
}

#[derive(Clone, Default)]
pub struct CountedRule {
    pub urls: u64,
    pub by_agent: Vec<u64>,
    pub verdict: String,
    pub rule: String,
    pub samples: Vec<String>,
}

impl Recount {
    /// Classifies with the flags and files of `line` and counts. `key_of` returns the identity of
    /// the policy that an origin has by its capture at a time; the time is empty without `--at`.
    pub fn of(folder: &Folder, line: &str, key_of: impl Fn(&str, &str) -> String) -> Recount {
        let columns = match line.contains(" --at ") || line.contains(" --time-field") {
            true => "--columns verdict,reason,line,rule,group,captured",
            false => "",
        };
        let output = folder
            .command(&format!("classify --long --format jsonl --summary none {columns} {line}"))
            .output()
            .unwrap();
        assert_status(&output, 0);
        let lines = output.stdout.split_inclusive(|&byte| byte == b'\n');
        let objects: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        let same_record = |one: &&Value| one["agent"] == objects[0]["agent"];
        let agents = objects.len() / objects.iter().filter(same_record).count();
        let mut recount = Recount::default();
        let mut keys = BTreeMap::new();
        for decisions in objects.chunks(agents) {
            recount.add(decisions, &mut keys, &key_of);
        }
        recount
    }

    fn add(
        &mut self,
        decisions: &[Value],
        keys: &mut BTreeMap<(String, String), String>,
        key_of: impl Fn(&str, &str) -> String,
    ) {
        self.records += 1;
        for (agent, decision) in decisions.iter().enumerate() {
            let word = |member: &str| (agent, decision[member].as_str().unwrap().to_owned());
            *self.verdicts.entry(word("verdict")).or_default() += 1;
            *self.reasons.entry(word("reason")).or_default() += 1;
        }
        let url = decisions[0]["url"].as_str().unwrap();
        let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
        match decisions[0]["verdict"].as_str().unwrap() {
            "unknown" if decisions[0]["reason"] == "no-policy" => {
                let host = origin.split("//").nth(1).unwrap().to_owned();
                *self.unknown.entry(host).or_default() += 1;
            }
            "unknown" | "invalid" => {}
            _ => {
                let host = origin.split("//").nth(1).unwrap();
                let captured = decisions[0]["captured"].as_str().unwrap_or_default();
                let key = keys.entry((origin.clone(), captured.to_owned()));
                let key = key.or_insert_with(|| key_of(&origin, captured)).clone();
                self.add_known(host, key, url, decisions);
            }
        }
    }

    fn add_known(&mut self, host: &str, key: String, url: &str, decisions: &[Value]) {
        self.hosts_of.entry(key.clone()).or_default().insert(host.to_owned());
        let counted = self.hosts.entry(host.to_owned()).or_default();
        counted.urls += 1;
        counted.by_agent.resize(decisions.len(), 0);
        let mut lines = Vec::new();
        for (agent, decision) in decisions.iter().enumerate() {
            counted.by_agent[agent] += u64::from(decision["verdict"] == "disallow");
            let Some(line) = decision["line"].as_u64() else { continue };
            let rule = self.rules.entry((key.clone(), line)).or_default();
            rule.by_agent.resize(decisions.len(), 0);
            rule.by_agent[agent] += 1;
            rule.verdict = decision["verdict"].as_str().unwrap().to_owned();
            rule.rule = decision["rule"].as_str().unwrap().to_owned();
            if !lines.contains(&line) {
                lines.push(line);
                rule.urls += 1;
                if rule.samples.len() < 3 {
                    rule.samples.push(url.to_owned());
                }
            }
        }
    }
}

/// Returns the identity of a policy: the user-agent lines and rules of a file, with their line
/// numbers.
pub fn policy_key(text: &[u8]) -> String {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let mut key = String::new();
    for (number, line) in text.split(['\n', '\r']).enumerate() {
        let line = line.split('#').next().unwrap().trim();
        let field = line.split(':').next().unwrap().trim().to_ascii_lowercase();
        if ["user-agent", "allow", "disallow"].contains(&field.as_str()) {
            key.push_str(&format!("{number} {line}\n"));
        }
    }
    key
}
