//! Crawl-delay and a log: how soon the requests of a crawler came after each other.
//!
//! The requests of a crawler to a host from one client are a *stream*; http and https of a host are one.
//! A request is compared with the one of its stream that was read before it. Their distance counts in
//! either direction, so it does not matter in which order requests of neighbouring seconds are logged.
//!
//! † The result is a lower bound. Logs have times in seconds, so that requests with a distance of two on
//! paper may be almost three apart: one came sooner if even that is less than the delay. And any two requests
//! of a stream that are closer than the delay show that one came too soon after another, whatever was between
//! them. If requests are out of order by more than the delay, some are missed, and none is made up: a test
//! compares this with all requests in the order of their times.
//!
//! Some lists have days, or times without minutes or seconds. If no time of a list has more, that is its
//! resolution: two requests of one minute may be 59 seconds apart. Those of two lists have the coarser one.
//!
//! The requests for `*` are of many browsers and tools, so they are no streams.
//!
//! Memory: [`AUDIT_STREAMS_MAX`](crate::limits::AUDIT_STREAMS_MAX) streams with their last times, and the
//! requests of the chunks that are being read.

use foldhash::fast::RandomState;
use hashbrown::hash_map::EntryRef;
use indexmap::IndexMap;
use portcullis_report::Pace;
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::list::{Block, Visit};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, OriginRecords};
use portcullis_set::stored::key_with_scheme;

use crate::limits::AUDIT_STREAM_BYTES_MAX;
use crate::origins::{Map, is_of_web};

/// A request with a time, and the delay that its policy asks for.
type Request = (UnixSeconds, f64);

/// The requests of a chunk that have a delay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// The number of their list.
    list: usize,
    /// By agent: the requests that are not compared.
    paces: Vec<Pace>,
    /// By agent, host and client: the others, in their order.
    streams: IndexMap<Vec<u8>, Vec<Request>, RandomState>,
}

/// The resolutions of times, in seconds, the finest first: seconds, minutes, hours and days.
const RESOLUTIONS: [u64; 4] = [1, 60, 3_600, 86_400];

/// The requests of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paces {
    /// By agent, without the requests of the last list that came sooner.
    of_agents: Vec<Pace>,
    /// By agent: those requests, for times of each resolution.
    sooner: Vec<[u64; RESOLUTIONS.len()]>,
    /// Whether some time of the last list does not fit each resolution.
    has_finer: [bool; RESOLUTIONS.len()],
    /// The number of the last list.
    list: usize,
    /// The resolutions of the lists before.
    resolutions: Vec<u64>,
    /// The last time of each stream that is followed, and its list.
    last: Map<Vec<u8>, (UnixSeconds, usize)>,
}

impl Requests {
    /// Removes all requests, for those of a chunk of the list with this number.
    pub fn begin(&mut self, list: usize) {
        self.list = list;
        self.paces.clear();
        self.streams.clear();
    }

    /// Adds the requests of a block. `has_clients` says whether the requests of its list have a client.
    pub fn add(
        &mut self,
        block: &Block<'_>,
        answers: &mut Answers<'_>,
        has_clients: bool,
    ) -> Result<(), Damage> {
        let mut delays = Vec::new();
        for record in 0..block.len() {
            if let Some(agent) = followed_agent(answers, record)
                && let Some(seconds) = answers.delays(record)?[0].seconds
            {
                delays.push((record, agent, seconds));
            }
        }
        let mut delays = delays.into_iter().peekable();
        let mut host = Vec::new();
        for OriginRecords { records, scheme, key } in answers.origins(block) {
            while let Some((record, agent, seconds)) =
                delays.next_if(|(record, ..)| *record < records.end)
            {
                host.clear();
                match is_of_web(scheme) {
                    true => host.extend_from_slice(key),
                    false => host.extend_from_slice(&key_with_scheme(scheme, key)),
                }
                self.add_request(agent, &host, block.visit(record), has_clients, seconds);
            }
        }
        Ok(())
    }

    fn add_request(
        &mut self,
        agent: usize,
        host: &[u8],
        Visit { time, client }: Visit<'_>,
        has_clients: bool,
        seconds: f64,
    ) {
        if self.paces.len() <= agent {
            self.paces.resize(agent + 1, Pace::default());
        }
        let pace = &mut self.paces[agent];
        pace.ask(seconds);
        let client = client.unwrap_or_default();
        let Some(time) = time else {
            pace.untimed += 1;
            return;
        };
        if has_clients && client.is_empty() {
            pace.without_client += 1;
        } else if seconds < 1.0 {
            pace.under_a_second += 1;
        } else if host.len() + client.len() > AUDIT_STREAM_BYTES_MAX {
            pace.not_followed += 1;
        } else {
            // No host has a NUL.
            let stream = [&(agent as u32).to_le_bytes(), host, b"\0", client].concat();
            self.streams.entry(stream).or_default().push((time, seconds));
        }
    }
}

/// Returns the agent of a record, unless it is `*` or none.
fn followed_agent(answers: &Answers<'_>, record: usize) -> Option<usize> {
    let agent = answers.agent(record)?;
    let crawler = &answers.session().classifier().agents()[agent];
    crawler.tokens().next().map(|_| agent)
}

impl Paces {
    /// Returns the requests of each agent.
    pub fn by_agent(&self) -> impl Iterator<Item = Pace> {
        let resolution = self.resolution();
        let agents = self.of_agents.iter().zip(&self.sooner);
        agents.map(move |(pace, sooner)| Pace {
            sooner: pace.sooner + sooner[resolution],
            ..pace.clone()
        })
    }

    /// Returns the place of the coarsest resolution that all times of the last list fit.
    fn resolution(&self) -> usize {
        self.has_finer.iter().rposition(|is_finer| !is_finer).unwrap_or(0)
    }

    /// Ends the last list if another one follows.
    fn begin(&mut self, list: usize) {
        if list == self.list {
            return;
        }
        self.of_agents = self.by_agent().collect();
        self.sooner.fill(Default::default());
        // Those between have no request.
        self.resolutions.resize(list, RESOLUTIONS[self.resolution()]);
        (self.list, self.has_finer) = (list, Default::default());
    }

    /// Adds the requests of the next chunk in the order of the input, which has none afterwards. Follows at
    /// most `streams_max` streams, the first that occur.
    pub fn add(&mut self, chunk: &mut Requests, streams_max: usize) {
        self.begin(chunk.list);
        let agents = self.of_agents.len().max(chunk.paces.len());
        self.of_agents.resize(agents, Pace::default());
        self.sooner.resize(agents, Default::default());
        for (pace, next) in self.of_agents.iter_mut().zip(&chunk.paces) {
            pace.merge(next);
        }
        for (stream, requests) in chunk.streams.drain(..) {
            let agent = u32::from_le_bytes(*stream.first_chunk().expect("the agent is first"));
            let pace = &mut self.of_agents[agent as usize];
            let sooner = &mut self.sooner[agent as usize];
            for (time, _) in &requests {
                for (has_finer, seconds) in self.has_finer.iter_mut().zip(RESOLUTIONS) {
                    *has_finer |= !time.0.is_multiple_of(seconds);
                }
            }
            let is_full = self.last.len() >= streams_max;
            let mut requests = requests.into_iter();
            let last = match self.last.entry_ref(&stream) {
                EntryRef::Occupied(last) => last.into_mut(),
                EntryRef::Vacant(_) if is_full => {
                    pace.not_followed += requests.len() as u64;
                    continue;
                }
                EntryRef::Vacant(place) => {
                    let Some((time, _)) = requests.next() else { continue };
                    pace.clients += 1;
                    place.insert((time, chunk.list))
                }
            };
            for (time, seconds) in requests {
                pace.compared += 1;
                let apart = last.0.0.abs_diff(time.0);
                let before = self.resolutions.get(last.1).copied().unwrap_or(1);
                for (sooner, resolution) in sooner.iter_mut().zip(RESOLUTIONS) {
                    *sooner += u64::from(is_sooner(apart, resolution.max(before), seconds));
                }
                pace.out_of_order += u64::from(time < last.0);
                *last = (time, chunk.list);
            }
        }
    }
}

/// Whether two requests that are so many seconds apart by their times, which are rounded down to a
/// resolution, are surely closer than the delay.
fn is_sooner(apart: u64, resolution: u64, delay_seconds: f64) -> bool {
    apart as f64 + resolution as f64 <= delay_seconds
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::Random;

    use super::*;

    /// A request: agent, host, client, time and delay.
    type Seen = (usize, &'static str, &'static str, Option<u64>, f64);

    /// Adds requests in chunks of some lengths.
    fn added(requests: &[Seen], chunk: usize, streams_max: usize) -> Vec<Pace> {
        added_of_lists(requests.chunks(chunk).map(|some| (0, some)), streams_max)
    }

    /// Likewise, each chunk with the number of its list.
    fn added_of_lists<'s>(
        chunks: impl Iterator<Item = (usize, &'s [Seen])>,
        streams_max: usize,
    ) -> Vec<Pace> {
        let (mut sum, mut part) = (Paces::default(), Requests::default());
        for (list, some) in chunks {
            part.begin(list);
            for &(agent, host, client, time, seconds) in some {
                let visit = Visit {
                    time: time.map(UnixSeconds),
                    client: (!client.is_empty()).then_some(client.as_bytes()),
                };
                part.add_request(agent, host.as_bytes(), visit, true, seconds);
            }
            sum.add(&mut part, streams_max);
        }
        sum.by_agent().collect()
    }

    /// The number of requests of one stream that came sooner, by all of their times in order.
    fn sooner_in_order(mut times: Vec<u64>, delay_seconds: f64) -> u64 {
        times.sort_unstable();
        times.windows(2).filter(|it| is_sooner(it[1] - it[0], 1, delay_seconds)).count() as u64
    }

    #[test]
    fn a_request_is_sooner_if_it_surely_is() {
        for (apart, resolution, delay, expected) in [
            (0, 1, 1.0, true),
            (1, 1, 1.0, false),
            (9, 1, 10.0, true),
            (10, 1, 10.0, false),
            // 1.0 to 2.9 seconds on a clock.
            (1, 1, 1.5, false),
            (0, 1, 1.5, true),
            (1, 1, 2.0, true),
            (u64::MAX, 1, 1e300, true),
            (0, 1, f64::MIN_POSITIVE, false),
            // Anywhere in one minute, or in two that follow each other.
            (0, 60, 59.0, false),
            (0, 60, 60.0, true),
            (60, 60, 119.0, false),
            (60, 60, 120.0, true),
        ] {
            let given = is_sooner(apart, resolution, delay);
            assert_eq!(given, expected, "{apart} {resolution} {delay}");
        }
    }

    #[test]
    fn times_without_seconds_and_days_are_compared_as_such() {
        let of = |times: &[u64], delay| {
            let request = |&time: &u64| (0, "a", "c", Some(time), delay);
            let requests: Vec<Seen> = times.iter().map(request).collect();
            added(&requests, 2, 9)[0].sooner
        };
        const DAY: u64 = 86_400;
        assert_eq!(of(&[60, 60, 120], 30.0), 0, "minutes");
        assert_eq!(of(&[60, 60, 120], 60.0), 1);
        assert_eq!(of(&[60, 60, 120], 120.0), 2);
        assert_eq!(of(&[60, 60, 121], 30.0), 1, "one of the times has seconds");
        assert_eq!(of(&[DAY, DAY], 3_600.0), 0, "days");
        assert_eq!(of(&[DAY, DAY], DAY as f64), 1);
        assert_eq!(of(&[DAY, DAY, DAY + 60], 3_600.0), 2);
        assert_eq!(of(&[3_600, 3_600, 7_200], 1_800.0), 0, "hours");
        assert_eq!(of(&[3_600, 3_600, 7_200], 3_600.0), 1);
    }

    #[test]
    fn each_list_has_a_resolution() {
        let of = |lists: &[&[u64]], delay| {
            let requests = |times: &&[u64]| -> Vec<Seen> {
                times.iter().map(|&time| (0, "a", "c", Some(time), delay)).collect()
            };
            let lists: Vec<Vec<Seen>> = lists.iter().map(requests).collect();
            let chunks = lists.iter().enumerate();
            let chunks =
                chunks.flat_map(|(list, some)| some.chunks(2).map(move |it| (2 * list, it)));
            added_of_lists(chunks, 9)[0].sooner
        };
        let (minutes, seconds) = (&[60, 60, 120][..], &[301, 302, 400][..]);
        for (lists, delay, expected) in [
            (&[minutes][..], 30.0, 0),
            (&[seconds], 30.0, 1),
            (&[minutes, seconds], 30.0, 1),
            (&[seconds, minutes], 30.0, 1),
            (&[minutes, seconds, minutes], 60.0, 3),
            (&[&[60, 120], &[121, 300]], 60.0, 0),
            (&[&[60, 120], &[121, 300]], 61.0, 1),
            (&[&[61, 200], &[240, 300]], 60.0, 0),
        ] {
            assert_eq!(of(lists, delay), expected, "{lists:?} {delay}");
        }
    }

    #[test]
    fn requests_that_are_not_compared_are_counted_by_their_reason() {
        let all = [
            (1, "a", "c", Some(100), 10.0),
            (1, "a", "c", Some(105), 10.0),
            (1, "a", "c", Some(115), 10.0),
            // Another client, another host, another crawler.
            (1, "a", "d", Some(115), 10.0),
            (1, "b", "c", Some(115), 2.0),
            (2, "a", "c", Some(115), 10.0),
            (1, "a", "c", None, 10.0),
            (1, "a", "", Some(116), 10.0),
            (1, "a", "c", Some(116), 0.5),
            (1, "a", "c", Some(113), 30.0),
        ];
        let [none, first, second] = &added(&all, 3, 9)[..] else { panic!() };
        assert_eq!(*none, Pace::default());
        let expected = Pace {
            delay_seconds_min: 0.5,
            delay_seconds_max: 30.0,
            requests: 9,
            clients: 3,
            compared: 3,
            sooner: 2,
            out_of_order: 1,
            untimed: 1,
            without_client: 1,
            under_a_second: 1,
            not_followed: 0,
        };
        assert_eq!(*first, expected);
        assert_eq!((second.requests, second.clients, second.compared), (1, 1, 0));
        let long: &'static str = "x".repeat(AUDIT_STREAM_BYTES_MAX).leak();
        assert_eq!(added(&[(0, "a", long, Some(1), 9.0)], 1, 9)[0].not_followed, 1);
    }

    /// Streams after the first ones are counted, and the first ones are followed on.
    #[test]
    fn too_many_streams_are_not_followed() {
        let requests = [
            (0, "a", "c", Some(1), 9.0),
            (0, "a", "d", Some(1), 9.0),
            (0, "a", "e", Some(1), 9.0),
            (0, "a", "d", Some(2), 9.0),
            (0, "a", "e", Some(2), 9.0),
        ];
        for chunk in 1..6 {
            let pace = &added(&requests, chunk, 2)[0];
            let counts = [pace.requests, pace.clients, pace.compared, pace.sooner];
            assert_eq!((counts, pace.not_followed), ([5, 2, 1, 1], 2), "{chunk}");
        }
    }

    #[test]
    fn out_of_order_nothing_is_made_up_and_in_order_nothing_is_missed() {
        let mut random = Random::new(7);
        for _ in 0..2_000 {
            let count = 1 + random.below(12);
            let delay = [1.0, 2.0, 2.5, 10.0][random.below(4)];
            let mut times: Vec<u64> = (0..count).map(|_| random.below(40) as u64).collect();
            let exact = sooner_in_order(times.clone(), delay);
            let read = |times: &[u64]| {
                let requests: Vec<Seen> =
                    times.iter().map(|&time| (0, "a", "c", Some(time), delay)).collect();
                let chunk = 1 + times.len() / 3;
                let [pace] = &added(&requests, chunk, 9)[..] else { panic!() };
                let parts = [pace.clients, pace.compared, pace.untimed, pace.not_followed];
                assert_eq!(parts.iter().sum::<u64>(), pace.requests);
                pace.sooner
            };
            assert!(read(&times) <= exact, "{times:?} {delay}");
            times.sort_unstable();
            assert_eq!(read(&times), exact, "{times:?} {delay}");
            times.reverse();
            assert_eq!(read(&times), exact, "{times:?} {delay}");
        }
    }
}
