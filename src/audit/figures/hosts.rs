//! Hosts, and how often each policy was asked.

use std::cmp::Reverse;

use super::host_name;
use crate::audit::Audit;
use crate::audit::model::{HostFigures, HostRow, List};
use crate::audit::tally::Tally;
use crate::set::survey::largest;

/// What was asked of policies.
pub(super) struct Asked {
    /// By policy: URLs.
    pub urls: Vec<u64>,
}

impl Asked {
    pub(super) fn of(audit: &Audit, tally: &Tally) -> Asked {
        let mut urls = vec![0; audit.library.policies.len()];
        for host in 0..audit.library.hosts.len() as u32 {
            for (place, policy) in places(audit, host) {
                urls[policy as usize] += tally.rows[audit.rows.start(host, place)];
            }
        }
        Asked { urls }
    }
}

/// The rows of a host: each place that has one of its own, with its policy.
fn places(audit: &Audit, host: u32) -> impl Iterator<Item = (usize, u32)> {
    let [http, https] = audit.library.hosts[host as usize].policies;
    let places = [(0, http), (1, https)];
    // Where both have one policy they have one row.
    let count = if http == https { 1 } else { 2 };
    let known = audit.library.policies.len() as u32;
    places.into_iter().take(count).filter(move |&(_, policy)| policy < known)
}

/// A host in the counting.
struct Counted {
    host: u32,
    urls: u64,
    disallowed: u64,
}

/// The hosts of URLs, and the `top` of them that lose most.
pub(super) fn figures(audit: &Audit, tally: &Tally, top: usize) -> HostFigures {
    let hosts = 0..audit.library.hosts.len() as u32;
    let counted = || hosts.clone().map(|host| count(audit, tally, host));
    let is_affected = |host: &Counted| host.disallowed > 0;
    let affected = counted().filter(is_affected).count() as u64;
    let most = largest(counted().filter(is_affected), top, |host| {
        (host.disallowed, host.urls, Reverse(host.host))
    });
    HostFigures {
        asked: counted().filter(|host| host.urls > 0).count() as u64,
        affected,
        most_affected: List {
            total: affected,
            rows: most.into_iter().map(|host| row(audit, tally, &host)).collect(),
        },
    }
}

fn count(audit: &Audit, tally: &Tally, host: u32) -> Counted {
    let mut counted = Counted { host, urls: 0, disallowed: 0 };
    for (place, policy) in places(audit, host) {
        let start = audit.rows.start(host, place);
        if tally.rows[start] == 0 {
            continue;
        }
        counted.urls += tally.rows[start];
        let classes = audit.library.plan.of_agents(policy);
        counted.disallowed +=
            classes.iter().map(|&class| tally.rows[start + 1 + class as usize]).sum::<u64>();
    }
    counted
}

fn row(audit: &Audit, tally: &Tally, counted: &Counted) -> HostRow {
    let mut by_agent = vec![0; audit.classifier.agents().len()];
    for (place, policy) in places(audit, counted.host) {
        let start = audit.rows.start(counted.host, place);
        let classes = audit.library.plan.of_agents(policy);
        for (count, &class) in by_agent.iter_mut().zip(classes) {
            *count += tally.rows[start + 1 + class as usize];
        }
    }
    HostRow {
        host: host_name(&audit.library, counted.host),
        urls: counted.urls,
        disallowed: counted.disallowed,
        by_agent,
    }
}
