//! Asking a set: the agents that ask, the memory of one thread, and the answers on a block.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_dialect::{Answer, Decision, Label, PolicyState, Preference};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::{Crawler, Explanation};
use portcullis_set::batch::{self, FullDecision, Records, StatedPlace, Times};

use super::{PolicySet, SetError, system_time, unix_seconds};

/// The policies of a set, and the agents to decide for. A clone shares them.
///
/// ```
/// # #[cfg(feature = "compile")] {
/// use portcullis::set::load_text;
/// use portcullis::{Classifier, CompileConfig, Crawler, Label, Preference, RFC_9309, Session};
///
/// let text = b"User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n";
/// let set = load_text(text, &CompileConfig::new(&RFC_9309));
/// let agents = vec![Crawler::parse("ExampleBot", &RFC_9309)?];
/// let classifier = Classifier::new(set, agents)?.with_usage(&[Label::TrainAi])?;
/// let threads: Vec<_> = (0..2).map(|_| {
///     let mut session = Session::new(classifier.clone());
///     std::thread::spawn(move || session.decide(&["https://a.example/"]).unwrap().preferences().to_vec())
/// }).collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap(), [Preference::No]);
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Creating one looks the agents up among the names of crawlers in the set, and takes four bytes
/// for each pair of an agent and a distinct policy. The rules that apply are looked up when they
/// are first needed, once for all threads.
#[derive(Clone, Debug)]
pub struct Classifier(Arc<batch::Classifier>);

impl Classifier {
    /// Creates a classifier of a set.
    ///
    /// # Errors
    ///
    /// If the names of crawlers in the set are damaged, or there is too little memory.
    pub fn new(set: PolicySet, agents: Vec<Crawler>) -> Result<Classifier, SetError> {
        Classifier::with(set, agents, &[], None)
    }

    /// Also finds usage preferences for these labels: see [`Answers::preferences`].
    ///
    /// # Errors
    ///
    /// As [`Classifier::new`].
    pub fn with_usage(self, labels: &[Label]) -> Result<Classifier, SetError> {
        let at = self.0.one_time().map(|(time, _)| time);
        Classifier::with(self.set(), self.agents().to_vec(), labels, at)
    }

    /// Decides as of `time`: by the policies that were in force then. An origin that had not been
    /// captured by then is unknown.
    ///
    /// # Errors
    ///
    /// If the set has no history; otherwise as [`Classifier::new`].
    pub fn as_of(self, time: SystemTime) -> Result<Classifier, SetError> {
        let labels = self.0.labels().to_vec();
        Classifier::with(self.set(), self.agents().to_vec(), &labels, Some(unix_seconds(time)))
    }

    fn with(
        set: PolicySet,
        agents: Vec<Crawler>,
        labels: &[Label],
        at: Option<UnixSeconds>,
    ) -> Result<Classifier, SetError> {
        if at.is_some() {
            history_of(&set)?;
        }
        let asked = batch::Classifier::new(set.0, agents).map_err(SetError::new)?;
        Ok(Classifier(Arc::new(asked.with_usage(labels).as_of(at))))
    }

    /// Returns the set.
    pub fn set(&self) -> PolicySet {
        PolicySet(Arc::clone(self.0.set()))
    }

    /// Returns the agents, in the order of the answers.
    pub fn agents(&self) -> &[Crawler] {
        self.0.agents()
    }

    /// Returns the labels that are asked about, in the order of preferences.
    pub fn labels(&self) -> &[Label] {
        self.0.labels()
    }
}

fn history_of(set: &PolicySet) -> Result<(), SetError> {
    match set.has_history() {
        true => Ok(()),
        false => Err(SetError::misuse("the set has no history; compile its captures with history")),
    }
}

/// A [`Classifier`] and the memory of one thread.
///
/// ```
/// # #[cfg(feature = "compile")] {
/// use portcullis::set::load_text;
/// use portcullis::{Classifier, CompileConfig, Crawler, RFC_9309, Session, Verdict};
///
/// let set = load_text(b"User-agent: *\nDisallow: /private\n", &CompileConfig::new(&RFC_9309));
/// let agents = vec![Crawler::parse("ExampleBot", &RFC_9309)?];
/// let mut session = Session::new(Classifier::new(set, agents)?).assume_scheme("https");
/// let answers = session.decide(&["a.example/private/page", "https://a.example/"])?;
/// assert_eq!(answers.decisions()[0].verdict(), Verdict::Disallow);
/// assert_eq!(answers.decisions()[1].verdict(), Verdict::Allow);
/// let explanation = session.explain("https://a.example/private", 0)?.unwrap();
/// assert_eq!(explanation.rules[0].pattern, b"/private");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A session is cheap to create. Its memory grows with the blocks that it decides, so keep one per
/// thread.
#[derive(Clone, Debug)]
pub struct Session(batch::Session);

impl Session {
    /// Creates a session, in which a URL without a scheme is invalid; see [`Session::assume_scheme`].
    pub fn new(classifier: Classifier) -> Session {
        Session(batch::Session::new(classifier.0))
    }

    /// Reads each URL without a scheme as if it began with `scheme`, such as `https`.
    #[must_use]
    pub fn assume_scheme(self, scheme: &str) -> Session {
        Session(self.0.assume_scheme(scheme))
    }

    /// Returns the classifier.
    pub fn classifier(&self) -> Classifier {
        Classifier(Arc::clone(self.0.classifier()))
    }

    /// Decides a block of URLs for every agent.
    ///
    /// Pass at least a few dozen URLs per call: each stage runs over the whole block, so that the
    /// processor overlaps its loads. A URL then costs 30 to 170 ns.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged, or the set is mapped from a file that became
    /// shorter. A bad URL is not an error: its verdict is `invalid`.
    #[inline]
    pub fn decide<U: AsRef<[u8]>>(&mut self, urls: &[U]) -> Result<Answers<'_>, SetError> {
        self.0.decide(urls).map(Answers).map_err(SetError::new)
    }

    /// Decides a block of URLs, each as of its time: by the policy that was in force then. A URL
    /// without a time, or from before the first capture of its origin, is unknown.
    ///
    /// # Errors
    ///
    /// If there are more or fewer times than URLs, or the set has no history; otherwise as
    /// [`Session::decide`].
    pub fn decide_at<U: AsRef<[u8]>>(
        &mut self,
        urls: &[U],
        times: &[Option<SystemTime>],
    ) -> Result<Answers<'_>, SetError> {
        history_of(&self.classifier().set())?;
        if times.len() != urls.len() {
            return Err(SetError::misuse("each URL needs its own time"));
        }
        let times: Vec<_> = times.iter().map(|time| time.map(unix_seconds)).collect();
        let records = Records::from(urls).at(Times::Each(&times));
        self.0.decide(records).map(Answers).map_err(SetError::new)
    }

    /// Explains the decision for the agent at `agent`, as of now or the classifier's time. `None` if
    /// no policy is known, or `url` is not a URL. Tries every rule.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn explain(
        &self,
        url: impl AsRef<[u8]>,
        agent: usize,
    ) -> Result<Option<Explanation>, SetError> {
        let at = self.0.classifier().one_time().map(|(time, _)| time);
        let explained = self.0.explain(url.as_ref(), agent, at).map_err(SetError::new)?;
        Ok(explained.ok().flatten().map(|explained| explained.explanation))
    }
}

/// The answers on a block of URLs. They borrow the session: drop them before deciding the next block.
///
/// An *answer* is about one URL for one agent: its number is `url * agents + agent`. Methods panic
/// if there is no such answer.
///
/// ```
/// # #[cfg(feature = "compile")] {
/// use portcullis::set::load_text;
/// use portcullis::{Classifier, CompileConfig, Crawler, RFC_9309, Session};
///
/// let set = load_text(b"User-agent: b\nDisallow: /p\n", &CompileConfig::new(&RFC_9309));
/// let agents = ["a", "b"].map(|name| Crawler::parse(name, &RFC_9309).unwrap());
/// let mut session = Session::new(Classifier::new(set, agents.into())?);
/// let mut answers = session.decide(&["https://h.example/", "https://h.example/p"])?;
/// let allowed: Vec<_> = answers.decisions().iter().map(|it| it.is_allowed()).collect();
/// assert_eq!(allowed, [true, true, true, false]);
/// let last = answers.rule(3)?;
/// assert_eq!((last.rule, last.group), (Some(&b"/p"[..]), Some(&b"b"[..])));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Decisions and preferences are computed by `decide`. Everything else is looked up on request, and
/// fails if the part of the set that holds it is damaged. If the set is mapped, call
/// [`PolicySet::check_unchanged`] before you use what was read.
#[derive(Debug)]
pub struct Answers<'s>(batch::Answers<'s>);

impl Answers<'_> {
    /// Returns the decision of each answer, without its rule: see [`Answers::rule`].
    #[inline]
    pub fn decisions(&self) -> &[Answer] {
        self.0.decisions()
    }

    /// Returns the decisions, each with its rule and line.
    pub fn decisions_with_rules(&self) -> Result<Vec<Decision>, SetError> {
        self.0.decisions_with_rules().map_err(SetError::new)
    }

    /// Returns the decision of an answer with its rule and line, the text of the rule, and the value
    /// of the user-agent line.
    pub fn rule(&mut self, answer: usize) -> Result<FullDecision<'_>, SetError> {
        self.0.rule(answer).map_err(SetError::new)
    }

    /// Returns the time that the agent of an answer should wait between two requests, as
    /// [`Robots::crawl_delay`](crate::Robots::crawl_delay).
    pub fn crawl_delay(&mut self, answer: usize) -> Result<Option<Duration>, SetError> {
        let agents = self.0.per_record();
        let delays = self.0.delays(answer / agents).map_err(SetError::new)?;
        Ok(delays[answer % agents].duration())
    }

    /// Returns the state of the origin of the URL at `url`; `None` if it is not a URL.
    pub fn state(&self, url: usize) -> Result<Option<PolicyState>, SetError> {
        self.0.state(url).map_err(SetError::new)
    }

    /// Returns when the policy of the URL at `url` was captured; `None` if that is not known.
    pub fn captured_at(&self, url: usize) -> Result<Option<SystemTime>, SetError> {
        let capture = self.0.capture(url).map_err(SetError::new)?;
        Ok(capture.and_then(|it| it.facts.captured_at).map(system_time))
    }

    /// Returns the preferences by answer, then by label of [`Classifier::with_usage`]; empty without
    /// labels.
    pub fn preferences(&self) -> &[Preference] {
        self.0.preferences()
    }

    /// Returns the place that states the preference of an answer about the label at `label`; `None`
    /// if it is not stated.
    pub fn stated_at(&self, answer: usize, label: usize) -> Result<Option<StatedPlace>, SetError> {
        self.0.stated_at(answer, label).map_err(SetError::new)
    }

    /// Returns the licences that hold for an answer, as written; none if access is not allowed.
    pub fn licenses(&self, answer: usize) -> Result<Vec<Vec<u8>>, SetError> {
        let licenses = self.0.licenses(answer).map_err(SetError::new)?;
        licenses.collect::<Result<_, _>>().map_err(SetError::new)
    }
}
