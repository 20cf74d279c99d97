//! The policy of an origin as of a time, from all captures of its archive.
//!
//! A time is in whole seconds. The captures that count are those up to the time, and those without a
//! date, which are older than all others.

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_dialect::{AccessOutcome, Decision, Dialect, LongUnreachable, PolicyState, Reason};

use crate::decide;
use crate::url::{Resource, resource, robots_txt_of};

/// An answer to GET, in an archive.
#[derive(Clone, Debug)]
pub struct Archived {
    /// The URL that was requested.
    pub url: String,
    /// When the answer was received.
    pub at: Option<u64>,
    /// The redirects that were followed before this answer.
    pub redirects: u32,
    /// The status; 0 if there was no whole answer.
    pub status: u16,
    /// The absolute URL in the Location of a redirect.
    pub location: Option<String>,
    /// Whether the archive has the header of the answer, so that it has no Location if there is none here.
    pub has_header: bool,
    /// The body.
    pub body: String,
    /// Whether the archive lacks a part of the body.
    pub is_cut: bool,
}

/// The effect of an outage of more than 30 days, if the dialect leaves the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongOutageChoice {
    /// The origin stays unreachable.
    NoChange,
    /// Its file counts as not found.
    Unavailable,
    /// The last good copy applies, if there is one.
    LastGoodCopy,
    /// Its file counts as not found from the first failure on.
    UnavailableAtOnce,
}

/// The policy of an origin at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy<'a> {
    /// This file.
    File(&'a str),
    /// There is no file.
    Outcome(AccessOutcome),
}

/// The policy of an origin at a time, and what it comes from.
pub(crate) struct Standing<'a> {
    pub policy: Policy<'a>,
    /// Whether the newest answer is the file, and not a copy that applies again.
    pub is_file: bool,
    /// Whether the archive has the newest answer, and the file that it stands for.
    pub is_known: bool,
    /// The answers along the redirects.
    pub answers: Vec<&'a Archived>,
}

/// The meaning of an answer.
#[derive(PartialEq, Eq)]
enum Meaning {
    File,
    Redirect,
    NotModified,
    Outcome(AccessOutcome),
}

/// The states of a capture that counts as later than others of its second.
const FAILURES: [PolicyState; 2] = [PolicyState::Unreachable, PolicyState::Deferred];

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// All captures of an archive.
pub struct Archive<'a> {
    dialect: &'a Dialect,
    long_outage: LongOutageChoice,
    /// Each with the resource that it is a capture of. A later one counts before an equal one.
    captures: Vec<(Resource, &'a Archived)>,
}

impl<'a> Archive<'a> {
    /// Creates an archive. Captures whose URL is not a URL are ignored.
    pub fn new(
        dialect: &'a Dialect,
        long_outage: LongOutageChoice,
        captures: &'a [Archived],
    ) -> Archive<'a> {
        let captures =
            captures.iter().filter_map(|it| Some((resource(it.url.as_bytes())?, it))).collect();
        Archive { dialect, long_outage, captures }
    }

    /// Returns the decision for an agent and `url` as of `time`.
    pub fn decide(&self, agents: &[&str], url: &str, time: u64) -> Decision {
        self.decide_by(self.policy(url, time), agents, url)
    }

    /// Returns the decision by a policy; `None` for an origin that was not captured by then.
    pub(crate) fn decide_by(
        &self,
        policy: Option<Policy<'_>>,
        agents: &[&str],
        url: &str,
    ) -> Decision {
        let of_file =
            |text: &str| decide(self.dialect, text.as_bytes(), None, agents, url.as_bytes());
        let of_nothing = of_file("");
        let is_never = || self.policy(url, u64::MAX).is_none();
        match policy {
            _ if of_nothing == Decision::INVALID => of_nothing,
            None if is_never() => Decision::UNKNOWN,
            None => Decision::BEFORE_FIRST,
            Some(Policy::File(text)) => of_file(text),
            Some(Policy::Outcome(_)) if of_nothing == Decision::ROBOTS_TXT => of_nothing,
            Some(Policy::Outcome(AccessOutcome { state, verdict })) => {
                let same_word = |reason: &Reason| reason.as_str() == state.as_str();
                let reason = Reason::ALL.into_iter().find(same_word).expect("a state is a reason");
                Decision::without_rule(verdict, reason)
            }
        }
    }

    /// Returns the policy of the origin of `url` as of `time`; `None` if `url` is not a URL, or its
    /// origin was not captured by then.
    pub fn policy(&self, url: &str, time: u64) -> Option<Policy<'a>> {
        self.standing(url, time).map(|standing| standing.policy)
    }

    /// Returns the policy of the origin of `url` as of `time`, and what it comes from.
    pub(crate) fn standing(&self, url: &str, time: u64) -> Option<Standing<'a>> {
        let mut answers = Vec::new();
        let (policy, is_copy) = self.follow(url, time, &mut answers)?;
        let is_file = matches!(policy, Policy::File(_)) && !is_copy;
        let followed = answers.iter().map(|it| 1 + it.redirects).sum::<u32>() - 1;
        let is_known = is_file
            || answers.last().is_some_and(|newest| {
                let meaning = self.meaning(newest, followed);
                let leads_on = meaning == Meaning::Redirect
                    && (target_of(newest).is_some() || !newest.has_header);
                let has_end = !has_no_end(&answers);
                !newest.is_cut && meaning != Meaning::NotModified && !leads_on && has_end
            });
        Some(Standing { policy, is_file, is_known, answers })
    }

    /// Returns the policy, and whether it is the last good copy in an outage. Adds the answers on the
    /// way.
    fn follow(
        &self,
        url: &str,
        time: u64,
        answers: &mut Vec<&'a Archived>,
    ) -> Option<(Policy<'a>, bool)> {
        let rules = &self.dialect.access;
        let mut captures = self.until(&robots_txt_of(url.as_bytes())?, time);
        let (mut followed, mut copy) = (captures.last()?.redirects, None);
        let answer = |policy| Some((policy, false));
        loop {
            let Some(newest) = captures.last() else {
                return answer(Policy::Outcome(rules.other_status));
            };
            answers.push(newest);
            let is_file = |it: &&&Archived| self.meaning(it, it.redirects) == Meaning::File;
            let file: Option<&'a Archived> = captures.iter().rfind(is_file).copied();
            copy = [copy, file].into_iter().flatten().max_by_key(|file: &&Archived| file.at);
            match (self.meaning(newest, followed), file) {
                (Meaning::File, _) => return answer(Policy::File(&newest.body)),
                (Meaning::NotModified, Some(file)) if !self.is_after_lost_file(&captures) => {
                    return answer(Policy::File(&file.body));
                }
                (Meaning::Outcome(_), _) if has_no_end(answers) => {
                    return answer(Policy::Outcome(rules.other_status));
                }
                // The server answered, and the archive lacks what it said.
                (Meaning::Outcome(outcome), _) if newest.is_cut => {
                    return answer(Policy::Outcome(outcome));
                }
                (Meaning::Outcome(outcome), _) => {
                    let is_long = self.is_long_outage(&captures, time);
                    let policy = self.failed(outcome, is_long, copy);
                    return Some((policy, matches!(policy, Policy::File(_))));
                }
                (Meaning::NotModified, _) => return answer(Policy::Outcome(rules.other_status)),
                (Meaning::Redirect, _) => {}
            }
            captures = target_of(newest).map_or(Vec::new(), |target| self.until(&target, time));
            followed += 1 + captures.last().map_or(0, |it| it.redirects);
        }
    }

    /// Whether the archive lacks a part of the newest file that the server sent.
    fn is_after_lost_file(&self, captures: &[&Archived]) -> bool {
        let is_lost = |it: &Archived| it.is_cut && matches!(it.status, 200..=299);
        let is_file = |it: &Archived| self.meaning(it, it.redirects) == Meaning::File;
        captures.iter().rfind(|it| is_lost(it) || is_file(it)).is_some_and(|it| is_lost(it))
    }

    /// Returns the dates of all captures.
    pub(crate) fn dates(&self) -> impl Iterator<Item = u64> {
        self.captures.iter().filter_map(|(_, it)| it.at)
    }

    /// Returns the captures of a resource up to `time`, oldest first. A failure is later than other
    /// captures of its second.
    fn until(&self, resource: &Resource, time: u64) -> Vec<&'a Archived> {
        let of_resource = self.captures.iter().filter(|(of, _)| of == resource);
        let counts = |it: &&Archived| it.at.is_none_or(|at| at <= time);
        let mut captures: Vec<&'a Archived> =
            of_resource.map(|(_, it)| *it).filter(counts).collect();
        captures.sort_by_key(|it| (it.at, it.at.is_some() && self.leads_to(it, &FAILURES)));
        captures
    }

    /// Returns whether an answer leads to one of these states.
    fn leads_to(&self, answer: &Archived, states: &[PolicyState]) -> bool {
        let meaning = self.meaning(answer, answer.redirects);
        matches!(meaning, Meaning::Outcome(it) if states.contains(&it.state))
    }

    /// Returns the meaning of an answer after this many redirects.
    fn meaning(&self, answer: &Archived, redirects: u32) -> Meaning {
        let rules = &self.dialect.access;
        let redirects_max = u32::from(rules.redirects_max);
        Meaning::Outcome(match answer.status {
            _ if redirects > redirects_max => rules.too_many_redirects,
            0 => rules.server_error,
            _ if answer.is_cut => rules.server_error,
            200..=299 => return Meaning::File,
            304 => return Meaning::NotModified,
            300..=399 if redirects < redirects_max => return Meaning::Redirect,
            300..=399 => rules.too_many_redirects,
            401 | 403 => rules.forbidden,
            404 | 410 => rules.not_found,
            429 => rules.too_many_requests,
            400..=499 => rules.other_client_error,
            500..=599 => rules.server_error,
            _ => rules.other_status,
        })
    }

    /// Returns whether the origin was unreachable for more than 30 days: since the first failure
    /// after the last other answer.
    fn is_long_outage(&self, captures: &[&Archived], time: u64) -> bool {
        let is_failure =
            |it: &&&Archived| !it.is_cut && self.leads_to(it, &[PolicyState::Unreachable]);
        let answered_at = captures.iter().filter(|it| !is_failure(it)).filter_map(|it| it.at).max();
        let failures = captures.iter().filter(is_failure).filter_map(|it| it.at);
        let first = failures.filter(|&at| Some(at) >= answered_at).min();
        first.is_some_and(|first| time.saturating_sub(first) > LONG_UNREACHABLE_SECONDS)
    }

    /// Returns the policy after an answer with this outcome, which may change in a long outage.
    fn failed(
        &self,
        outcome: AccessOutcome,
        is_long: bool,
        copy: Option<&'a Archived>,
    ) -> Policy<'a> {
        let rules = &self.dialect.access;
        let copy = copy.map(|file| Policy::File(&file.body));
        let (unchanged, gone) = (Policy::Outcome(outcome), Policy::Outcome(rules.not_found));
        let is_at_once = rules.long_unreachable == LongUnreachable::OnRequest
            && self.long_outage == LongOutageChoice::UnavailableAtOnce;
        let is_long = is_long || is_at_once;
        if !is_long || outcome.state != PolicyState::Unreachable {
            return unchanged;
        }
        match (rules.long_unreachable, self.long_outage) {
            (LongUnreachable::LastGoodCopy, _) => copy.unwrap_or(gone),
            (LongUnreachable::OnRequest, LongOutageChoice::LastGoodCopy) => {
                copy.unwrap_or(unchanged)
            }
            (
                LongUnreachable::OnRequest,
                LongOutageChoice::Unavailable | LongOutageChoice::UnavailableAtOnce,
            ) => gone,
            (LongUnreachable::OnRequest, LongOutageChoice::NoChange)
            | (LongUnreachable::Never, _) => unchanged,
        }
    }
}

/// Whether the last answer leads on, perhaps only in the archive: its target is not known, or a redirect leads to an
/// answer that is older by more than a day.
fn has_no_end(answers: &[&Archived]) -> bool {
    let Some(last) = answers.last().filter(|it| it.status != 304 && it.status / 100 == 3) else {
        return false;
    };
    let lacks_target = last.location.is_none() && !last.has_header;
    let is_older = |pair: &[&Archived]| match (pair[0].at, pair[1].at) {
        (Some(from), Some(to)) => from > to + DAY_SECONDS,
        (from, None) => from.is_some(),
        (None, Some(_)) => false,
    };
    lacks_target || answers.windows(2).any(is_older)
}

/// Returns the resource that a redirect leads to.
fn target_of(redirect: &Archived) -> Option<Resource> {
    resource(redirect.location.as_ref()?.as_bytes())
}
