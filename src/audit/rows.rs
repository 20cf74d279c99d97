//! Where the counters of each origin stand: its URLs, then for each class of agents those of them
//! that the class must not fetch.

use super::library::Library;

/// The places of all rows.
#[derive(Debug)]
pub(super) struct Rows {
    /// By host, http then https; both the same if they have one policy.
    starts: Vec<[usize; 2]>,
    /// Counters.
    pub counters: usize,
}

impl Rows {
    pub(super) fn new(library: &Library) -> Rows {
        let mut counters = 0;
        let mut place = |policy: u32| {
            let start = counters;
            if let Some(policy) = library.plan.policy(policy) {
                counters += 1 + library.plan.classes(policy).len();
            }
            start
        };
        let starts = library.hosts.iter().map(|host| {
            let [http, https] = host.policies;
            let first = place(http);
            [first, if https == http { first } else { place(https) }]
        });
        let starts = starts.collect();
        Rows { starts, counters }
    }

    /// Where the row of an origin begins.
    #[inline]
    pub(super) fn start(&self, host: u32, place: usize) -> usize {
        self.starts[host as usize][place]
    }
}
