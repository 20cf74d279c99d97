//! From the captures that may count to what is known of each host, and from several such to one.

use rayon::prelude::*;

use crate::dialect::AccessRules;

use super::super::pool::BlobPool;
use super::super::standing::{Content, HostStanding, Standing};
use super::hosts::{Host, Slot};
use super::newest::{Newest, Target};
use super::place;
use super::redirects::Resolver;

/// Finds what is known of each origin that was captured. The hosts are sorted by key, and the pool
/// holds what their standings need and nothing else.
pub(super) fn settle(newest: Newest, rules: &AccessRules) -> (Vec<HostStanding>, BlobPool) {
    let resolver = Resolver::new(&newest, rules);
    // The keys stay where they are until the captures are given up.
    let standing = |host: &Host<Box<Target>>| {
        let origin = place::is_origin(&host.key);
        let of = |slot| {
            let target = host.get(slot).filter(|_| origin)?;
            Some(resolver.standing(&host.key, slot, target))
        };
        let [http, https] = Slot::BOTH.map(of);
        HostStanding { key: Box::default(), http, https }
    };
    let mut hosts: Vec<HostStanding> = newest.table.hosts().par_iter().map(standing).collect();
    let Newest { table, mut pool } = newest;
    for standing in hosts.iter().flat_map(standings) {
        hold(standing, &mut pool);
    }
    for (host, before) in hosts.iter_mut().zip(table.into_hosts()) {
        let (key, targets) = before.into_parts();
        host.key = key;
        targets.into_iter().flatten().for_each(|target| target.release(&mut pool));
    }
    hosts.retain(|host| standings(host).next().is_some());
    sort(&mut hosts);
    (hosts, pool)
}

/// Sorts hosts by their keys, of which no two are equal.
pub(super) fn sort(hosts: &mut [HostStanding]) {
    hosts.par_sort_unstable_by(|one, other| one.key.cmp(&other.key));
}

/// What is known of the origins of a host.
pub(super) fn standings(host: &HostStanding) -> impl Iterator<Item = &Standing> {
    [&host.http, &host.https].into_iter().flatten()
}

fn hold(standing: &Standing, pool: &mut BlobPool) {
    if let Content::File { extract, others } = standing.content {
        pool.hold(extract);
        pool.hold(others);
    }
}
