//! Loads the policies of a run and builds their classifiers.

use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, ensure};
use portcullis_build::{LoadConfig, LoadNote, LoadNoteKind, Loaded, Strictness};
use portcullis_files::kind::{FileKind, WrongKind};
use portcullis_report::{Counts, Figures, JudgedAge, PolicyFacts};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::NoteKind;
pub use portcullis_rows::runner::thread_pool;
use portcullis_set::batch::{AgentKind, Classifier, Freshness};
use portcullis_set::{Damage, PolicySet, SetError};
use portcullis_text::figures::{counted, grouped};
use portcullis_text::shell::word;
use rayon::ThreadPool;

use super::agents::AgentNotes;
use super::args::PolicyArgs;
use super::mapped;
use super::message::{first, say, with_flags};
use super::output::SummaryForm;
use super::plan::{self, QuestionPlan, TimePlan};
use super::values::SetAt;

/// The number of threads of a command without `-j`: one per CPU.
pub const THREADS: usize = 0;

/// Loads the policies for the agents of `questions`, on the threads of a pool.
///
/// # Errors
///
/// If the path cannot be read or holds no policy, or an agent is not valid in the policies'
/// dialect.
pub fn load(
    pool: &ThreadPool,
    args: &PolicyArgs,
    questions: &QuestionPlan,
) -> anyhow::Result<Policies> {
    let strictness = args.faults.strictness();
    let loaded = if let Some(SetAt { path, time }) = &args.set {
        let name = path.display();
        ensure!(
            time.is_none() || questions.times.is_some(),
            "{name}: this command reads the newest policies; omit @TIME"
        );
        let set = mapped::set(path).map_err(needs_set)?;
        let own = set.dialect();
        ensure!(
            args.text.dialect.is_none_or(|asked| asked.name == own.name),
            "{name} was compiled for the dialect {}; omit --dialect, or compile its captures again for {}",
            own.name,
            args.text.dialect().name
        );
        check_files(&set, strictness)?;
        note_later(&set, questions)?;
        Loaded { set, notes: Vec::new(), left_out: 0 }
    } else {
        ensure!(
            questions.times.is_none(),
            "--robots has only current files; compile captures with --history, and pass that set \
             with -p"
        );
        let dialect = args.text.dialect();
        let config = LoadConfig {
            robots_bytes_max: args.text.bytes_max(),
            strictness,
            reads_usage: questions.reads_usage,
            ..LoadConfig::new(dialect)
        };
        pool.install(|| portcullis_build::load(args.path(), &config))?
    };
    let mut agents = AgentNotes::of(questions, &loaded.set)?;
    let note_count = loaded.note_count();
    let Loaded { set, notes, left_out } = loaded;
    let mut facts = PolicyFacts { left_out, ..PolicyFacts::of(&set) };
    if Path::new(set.name()).is_dir() {
        facts.kind = "folder";
    }
    agents.run.policies = Some(facts);
    agents.run.at = questions.times.as_ref().map(TimePlan::describe);
    agents.run.judged_age = questions.freshness.as_ref().map(|freshness| JudgedAge {
        as_of: agents.run.at.clone().unwrap_or_else(|| freshness.as_of.to_rfc3339()),
        max_age_seconds: freshness.seconds_max,
        expired: if freshness.withdraws { "unknown" } else { "keep" },
    });
    Ok(Policies { set: set.into(), strictness, notes, note_count, agents })
}

/// Notes that a time is later than the captures that `set` was compiled from.
fn note_later(set: &PolicySet, questions: &QuestionPlan) -> Result<(), Damage> {
    let as_of = portcullis_build::settle_of(set)?.time();
    let at = questions.times.as_ref().and_then(|times| times.all);
    if let Some((at, as_of)) = at.zip(as_of).filter(|(at, as_of)| at > as_of) {
        let [at, as_of] = [at, as_of].map(UnixSeconds::to_rfc3339);
        say(format_args!("note: {at} is after {as_of}, the --as-of of {}", set.name()));
    }
    Ok(())
}

/// Fails with --strict if some files of a set are cut or look like something else.
pub fn check_files(set: &PolicySet, strictness: Strictness) -> anyhow::Result<()> {
    let (count, found) = odd_files(&PolicyFacts::of(set).file_notes, &NoteKind::OF_FILES);
    ensure!(
        strictness != Strictness::Strict || count == 0,
        "{}: {} with a problem ({found}); omit --strict to allow {}",
        set.name(),
        counted(count, "robots.txt file"),
        if count == 1 { "it" } else { "them" }
    );
    Ok(())
}

/// Returns the number of `files` with notes of these kinds, and how many have which.
pub fn odd_files(files: &Figures, kinds: &[NoteKind]) -> (u64, String) {
    let word = |kind: &NoteKind| match kind {
        NoteKind::LooksLikeHtml => "HTML",
        NoteKind::LooksLikeJson => "JSON",
        NoteKind::LooksBinary => "binary",
        _ => "cut",
    };
    let found = kinds.iter().map(|kind| (files.get(kind.as_str()), word(kind)));
    let found: Vec<_> = found.filter(|(count, _)| *count > 0).collect();
    let words: Vec<_> =
        found.iter().map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    (found.iter().map(|(count, _)| count).sum(), words.join(", "))
}

/// Builds a classifier over `set` for the agents of `questions`.
///
/// # Errors
///
/// If an agent is not valid in the set's dialect, or the set is damaged or lacks what is asked.
pub fn classifier(set: &Arc<PolicySet>, questions: &QuestionPlan) -> anyhow::Result<Classifier> {
    let agents = questions.agents(set.dialect())?;
    if let Some(freshness) = &questions.freshness {
        let flag = if freshness.withdraws { "--max-age" } else { "--now" };
        ensure!(
            set.counts().captured().is_some(),
            "{} has no capture dates, so the age of its policies is not known; compile captures with dates, or \
             omit {flag}",
            set.name()
        );
    }
    ensure!(questions.times.is_none() || set.has_history(), plan::no_history(set));
    let mut classifier = Classifier::new(Arc::clone(set), agents)?;
    classifier.freshness = questions.freshness;
    if let Some(each) = &questions.each {
        classifier = classifier.with_agent_per_record(each.kind)?;
        classifier = classifier.with_agents_read_by(match each.kind {
            AgentKind::Token => portcullis_crawlers::from_token,
            AgentKind::Header => portcullis_crawlers::from_header,
        });
    }
    if let Some(times) = &questions.times {
        (classifier.before_first, classifier.and_now) = (times.before_first, times.and_now);
        classifier = classifier.as_of(times.all);
    }
    Ok(classifier)
}

/// Loaded policies.
pub struct Policies {
    pub set: Arc<PolicySet>,
    strictness: Strictness,
    /// The notes on files, and how many there are.
    notes: Vec<LoadNote>,
    note_count: u64,
    /// The policies and agents of an account, and the notes on agents that have no effect.
    pub agents: AgentNotes,
}

impl Policies {
    /// Checks the ages of captures in `counts`.
    ///
    /// # Errors
    ///
    /// With --strict, if a URL has a policy that was captured after the time that is asked about.
    pub fn check_ages(&self, counts: &Counts, questions: &QuestionPlan) -> anyhow::Result<()> {
        let is_strict = self.strictness == Strictness::Strict;
        if let Some(Freshness { as_of, .. }) = questions.freshness.filter(|_| is_strict) {
            ensure!(
                counts.ages.not_yet == 0,
                "{}: the policy of a URL was captured after {}; choose a later --now, or omit \
                 --strict to count such URLs",
                self.set.name(),
                as_of.to_rfc3339()
            );
        }
        Ok(())
    }

    /// Shows the notes on files and agents. A JSON summary has them instead.
    pub fn show_notes(&self, form: SummaryForm) {
        show_notes(&self.notes, self.note_count, form);
        self.agents.show(form);
    }

    /// Returns the first notes on files, and those on agents, for an account.
    pub fn account_notes(&self) -> Vec<String> {
        [texts_of(&self.notes, self.note_count), self.agents.notes.clone()].concat()
    }
}

/// Returns the error of `-p` for a file that is not a set.
fn needs_set(error: SetError) -> anyhow::Error {
    let SetError::NotASet(wrong) = error else { return error.into() };
    let WrongKind { name, kind, .. } = &wrong;
    let advice = match kind {
        FileKind::Folder => format!("use --robots {}", word(name)),
        FileKind::Text => format!("if it is a robots.txt, use --robots {}", word(name)),
        _ => wrong.advice(),
    };
    anyhow!("-p needs a compiled set; {name} is {kind} ({advice})")
}

/// Returns the first few of `count` notes, for an account.
pub fn texts_of(notes: &[LoadNote], count: u64) -> Vec<String> {
    first(notes.iter().map(|note| with_flags(&note.to_string())), count, more)
}

/// Shows the first few of `count` notes on standard error, unless a JSON summary has them.
pub fn show_notes(notes: &[LoadNote], count: u64, form: SummaryForm) {
    if form == SummaryForm::Json {
        return;
    }
    let weight = |note: &LoadNote| match note.kind {
        LoadNoteKind::LeftOut(_) | LoadNoteKind::File(NoteKind::FileCut) => "note",
        _ => "warning",
    };
    let has_warning = notes.iter().any(|note| weight(note) == "warning");
    let word = if has_warning { "warning" } else { "note" };
    let lines = notes.iter().map(|note| format!("{}: {note}", weight(note)));
    first(lines, count, |rest| format!("{word}: {}", more(rest))).iter().for_each(say);
}

fn more(rest: u64) -> String {
    format!("and {rest} more")
}
