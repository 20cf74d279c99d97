//! From the captures that may count to what is known of each host.

use rayon::prelude::*;

use super::super::pool::BlobPool;
use super::super::standing::{Content, HostStanding, Standing};
use super::history::HistoryWriter;
use super::hosts::{Host, Slot};
use super::newest::{Newest, Target};
use super::place;
use super::redirects::Resolver;
use super::{Ingested, InputReport, OutageConfig, StandingCounts};

/// Finds what is known of each origin that was captured. The hosts are sorted by key, and the pool
/// holds what their standings need and nothing else.
pub(super) fn settle(newest: Newest, inputs: Vec<InputReport>, outages: OutageConfig) -> Ingested {
    let as_of = outages.time();
    let resolver = Resolver { newest: &newest, as_of, long_outage: outages.long_outage };
    let table = newest.table.hosts();
    let mut order: Vec<u32> = (0..table.len() as u32).collect();
    order.par_sort_unstable_by(|&one, &other| {
        table[one as usize].key.cmp(&table[other as usize].key)
    });
    // The keys stay where they are until the captures are given up.
    let standing = |&index: &u32| {
        let host: &Host<Box<Target>> = &table[index as usize];
        let origin = place::is_origin(&host.key);
        let of = |slot| {
            let target = host.get(slot).filter(|_| origin)?;
            Some(resolver.standing(&host.key, slot, target))
        };
        let [http, https] = Slot::BOTH.map(of);
        HostStanding { key: Box::default(), http, https }
    };
    let mut hosts: Vec<HostStanding> = order.par_iter().map(standing).collect();
    let mut history = HistoryWriter::new(&newest);
    for (&index, standing) in order.iter().zip(&hosts) {
        history.push_host(&table[index as usize], [&standing.http, &standing.https]);
    }
    let history = history.finish();
    let Newest { table, mut pool, .. } = newest;
    for standing in hosts.iter().flat_map(standings) {
        hold(standing, &mut pool);
    }
    let mut table: Vec<Option<Host<Box<Target>>>> =
        table.into_hosts().into_iter().map(Some).collect();
    for (host, index) in hosts.iter_mut().zip(order) {
        let before = table[index as usize].take().expect("each host stands once in the order");
        let (key, targets) = before.into_parts();
        host.key = key;
        targets.into_iter().flatten().for_each(|target| target.release(&mut pool));
    }
    hosts.retain(|host| standings(host).next().is_some());
    let counts = StandingCounts::of(&hosts, &pool);
    Ingested { hosts, pool, history, inputs, outages, counts }
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
