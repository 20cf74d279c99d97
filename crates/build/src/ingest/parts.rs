//! Joins captures of archives and of sets: the first step of compiling, merging and verifying.
//!
//! A set stores the captures that count in the order of their keys, so sets are merged without sorting.
//! The result is that of compiling all their captures at once.
//!
//! Any bytes may be a set. What is read is checked: keys are in order and those that an origin or
//! another resource has, files are what a file of the dialect has, answers have nothing that they
//! cannot have. What follows from the captures is compiled again, so nothing else of a set is trusted.
//!
//! Cost: one pass over the log of each set, and each distinct file once, on all threads. Memory: some 60 bytes
//! for each distinct file; the captures and files are where [`Scratch`] keeps them.

use std::collections::VecDeque;
use std::ops::Range;

use rayon::prelude::*;

use portcullis_dialect::AccessRules;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Table;
use portcullis_set::file::{Damage, Section, SetError};
use portcullis_set::stored::{PolicyNumber, PolicySet};

use super::ahead::ahead;
use super::captured::{Captured, Counts, Newest};
use super::files::{Files, Part, Parts, ReadPart};
use super::known::{Held, Keeps, Keyed, Known, NewestDates, Resources};
use super::log::{Form, take_bytes, take_key};
use super::place::{self, Place, Slot};
use super::read::{AllRead, Open, read_all};
use super::settle::Settling;
use super::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, Strictness, describe_nothing,
    describe_strict, noted, two_names,
};
use crate::compile::{CompileConfig, text_bytes_max};
use crate::hosts::Standings;
use crate::limits::{
    CAPTURES_AHEAD_MAX, FILE_BYTES_AHEAD_MAX, FILES_AHEAD_MAX, KEY_BYTES_AHEAD_MAX, MAPPED,
    MAPPED_BYTES_PER_RELEASE,
};
use crate::pool::{BlobID, SharedPool};
use crate::provenance::{InputReport, Provenance, SettleConfig};

/// The pages besides a text that reading it touches: the page where it begins, and that of its policy.
const PAGES_OF_TEXT: usize = 2 * 4_096;

/// The captures of archives and of sets, joined.
#[derive(Debug)]
pub struct Merger {
    config: IngestConfig,
    pool: SharedPool,
    inputs: Vec<InputReport>,
    /// The number of each input in the set, in the order in which they are read; the others count as they
    /// are read.
    numbers: Vec<u32>,
    parts: Vec<Captured>,
    /// The number of captures of all archives, and of those that the sets store.
    captures: u64,
}

impl Merger {
    /// Begins without captures. If the history of origins is kept, a set that has none counts as the few
    /// captures that it has.
    pub fn new(mut config: IngestConfig) -> Merger {
        config.capture = config.capture.renewed();
        Merger {
            pool: SharedPool::new(&config.scratch),
            config,
            inputs: Vec::new(),
            numbers: Vec::new(),
            parts: Vec::new(),
            captures: 0,
        }
    }

    /// Gives each input this number, in the order in which they are read.
    #[must_use]
    pub(crate) fn numbered(self, numbers: Vec<u32>) -> Merger {
        Merger { numbers, ..self }
    }

    /// Returns the number of the input in a place of the order in which they are read.
    fn number(&self, place: usize) -> u32 {
        match self.numbers.get(place) {
            Some(&number) => number,
            None => u32::try_from(place).expect("fewer than 2^32 inputs"),
        }
    }

    /// Returns the numbers of inputs, counted from the next.
    fn next_numbers(&self, inputs: Range<usize>) -> Vec<u32> {
        inputs.map(|place| self.number(self.inputs.len() + place)).collect()
    }

    /// Returns the newest date of each input that was read, if it has one.
    fn dates(&self) -> NewestDates {
        let read = self.inputs.iter().enumerate();
        let dated = read.filter_map(|(place, it)| Some((self.number(place), it.captured?.last)));
        NewestDates(dated.collect())
    }

    fn keeps(&self) -> Keeps {
        (&self.config.dialect.access, self.config.history)
    }

    /// Reads archives, and joins their captures. Of two captures that are equally new (or undated), that
    /// of the input that was added later counts.
    ///
    /// Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If no input has a capture, or something cannot be read.
    pub fn ingest(
        &mut self,
        inputs: &[Input],
        observer: &dyn IngestObserver,
    ) -> Result<(), IngestError> {
        let reports = inputs.iter().map(Input::report).collect();
        let capture = self.config.capture.clone();
        let open = |input: usize| {
            let Input { path, format } = &inputs[input];
            portcullis_captures::open(path, *format, &capture)
        };
        self.read(reports, &open, observer)?;
        let Some(problem) = capture.missing() else { return Ok(()) };
        Err(IngestError::Refused { problem, inputs: self.inputs.clone() })
    }

    /// Like [`Merger::ingest`], for the inputs that `open` opens.
    pub(super) fn read(
        &mut self,
        reports: Vec<InputReport>,
        open: &Open<'_>,
        observer: &dyn IngestObserver,
    ) -> Result<(), IngestError> {
        let (keeps, config) = (self.keeps(), &self.config);
        let newest = Newest::new(keeps, &config.scratch);
        let numbers = self.next_numbers(0..reports.len());
        let reading = (newest, &self.pool, &*numbers);
        let read = read_all(reading, self.dates(), reports, open, config, observer)?;
        let AllRead { captured, taken, reports: inputs, is_unplaced } = read;
        let is_fine = match config.strictness {
            // Without any time, a guess would decide whether a lost file is newer than another.
            Strictness::Lenient => !is_unplaced && inputs.iter().all(|input| !input.is_forgeable),
            Strictness::Usual => inputs.iter().all(InputReport::is_readable),
            Strictness::Strict => inputs.iter().all(InputReport::is_whole),
        };
        if !is_fine {
            return Err(IngestError::of_inputs(inputs, describe_strict));
        }
        self.captures += taken;
        // Next to a set, they may be what its origins redirect to.
        let has_captures = inputs.iter().any(|input| input.captures > 0);
        if !(captured.counts.has_origin && has_captures) && self.inputs.is_empty() {
            return Err(IngestError::of_inputs(inputs, describe_nothing));
        }
        self.parts.push(captured);
        self.inputs.extend(inputs);
        Ok(())
    }

    /// Joins sets that are open at the same time. Of two captures that are equally new (or undated),
    /// that of the later set counts.
    ///
    /// # Errors
    ///
    /// If a set is damaged or has no captures, or a temporary file fails.
    pub fn add(&mut self, sets: &[&PolicySet]) -> Result<(), SetError> {
        if sets.is_empty() {
            return Ok(());
        }
        let mapped_max = self.config.scratch.budget().of(MAPPED);
        let (mut logs, mut all_inputs) = (Vec::new(), Vec::new());
        let (rules, _) = self.keeps();
        for &set in sets {
            let inputs = inputs(set)?;
            let files = Files::of(set, &self.pool)?;
            logs.push(LogReader {
                files,
                rules,
                rest: checked_log(set, files.log)?,
                key: Vec::new(),
                entries: VecDeque::new(),
                ahead: Parts::default(),
                ahead_max: FILE_BYTES_AHEAD_MAX / sets.len(),
                touched: 0,
                touched_max: mapped_max / sets.len(),
                numbers: self.next_numbers(all_inputs.len()..all_inputs.len() + inputs.len()),
                text_bytes_left: text_bytes_max(set.bytes()),
                parts: Parts::default(),
                table: self.config.scratch.table(),
                captures: 0,
            });
            all_inputs.extend(inputs);
        }
        let merged = self.merged(logs.iter_mut().collect());
        self.captures += logs.iter().map(|log| log.captures).sum::<u64>();
        drop(logs);
        self.inputs.extend(all_inputs);
        // What was in doubt in the inputs of a set was noted when it was compiled.
        let mut merged = merged?;
        merged.counts.same_second = 0;
        self.parts.push(merged);
        sets.iter().try_for_each(|set| Ok(set.is_whole()?))
    }

    /// Settles the origins of all captures.
    ///
    /// # Errors
    ///
    /// If a file has a note of [`NoteKind::OF_FILES`], a capture without a date is superseded, or an input has
    /// different files of one second, and strictness makes that an error, or a temporary file fails.
    ///
    /// [`NoteKind::OF_FILES`]: portcullis_robots::syntax::NoteKind::OF_FILES
    pub fn finish(self) -> Result<Ingested, IngestError> {
        let is_strict = self.config.strictness == Strictness::Strict;
        let ingested = self.settle()?;
        let captures = |count| if count == 1 { "capture" } else { "captures" };
        let problem = match ingested.superseded_undated {
            _ if !is_strict => None,
            0 if ingested.same_second > 0 => Some(format!(
                "{} {} with another file than one of the same URL and second; keep one of them, or omit ‹strict› to \
                 use the later in its input",
                ingested.same_second,
                captures(ingested.same_second)
            )),
            0 => match ingested.doubted.first() {
                Some(&field) => Some(two_names(field)),
                None => noted(&ingested.standings)?,
            },
            captures => Some(format!(
                "{captures} superseded {} no date; keep one capture of each origin, or omit ‹strict› \
                 to use captures with dates, or from inputs whose names sort later",
                if captures == 1 { "capture has" } else { "captures have" }
            )),
        };
        match problem {
            None => Ok(ingested),
            Some(problem) => Err(IngestError::Refused { problem, inputs: ingested.inputs }),
        }
    }

    pub(crate) fn settle(mut self) -> Result<Ingested, WriteError> {
        let captured = match self.parts.len() {
            1 => self.parts.pop().expect("a part"),
            _ => {
                let mut all = self.merged(self.parts.iter().map(Captured::reader).collect())?;
                all.counts.undated +=
                    self.parts.iter().map(|part| part.counts.undated).sum::<u64>();
                all.counts.same_second =
                    self.parts.iter().map(|part| part.counts.same_second).sum();
                all
            }
        };
        let &Counts { undated: superseded_undated, same_second, resources, .. } = &captured.counts;
        let numbers = std::mem::take(&mut self.numbers);
        let Merger { config, pool, inputs, captures, .. } = self;
        let mut numbered: Vec<_> = numbers.into_iter().chain(0..).zip(&inputs).collect();
        numbered.sort_by_key(|(number, _)| *number);
        let numbered: Vec<_> = numbered.into_iter().map(|(_, input)| input.clone()).collect();
        let doubted = config.capture.doubted();
        let superseded = if config.history { 0 } else { captures.saturating_sub(resources) };
        let IngestConfig { dialect, robots_bytes_max, settle, scratch, .. } = config;
        let provenance = Provenance::of(&numbered, &settle).to_json();
        let compiling = CompileConfig { dialect, robots_bytes_max, provenance, scratch };
        let standings = Standings::from_captures(Settling { captured, settle }, pool.into_inner());
        Ok(Ingested {
            standings,
            inputs,
            settle,
            superseded,
            superseded_undated,
            same_second,
            doubted,
            compiling,
        })
    }

    /// Merges captures that are sorted by key.
    fn merged<E: From<WriteError> + Send>(
        &self,
        sources: Vec<impl Iterator<Item = Result<Keyed, E>> + Send>,
    ) -> Result<Captured, E> {
        let (keeps, scratch) = (self.keeps(), &self.config.scratch);
        ahead(sources, |sources| Captured::new(keeps, scratch).merge(sources))
    }
}

/// Returns how its origins were settled when the set was compiled.
///
/// # Errors
///
/// If the provenance is damaged.
pub fn settle_of(set: &PolicySet) -> Result<SettleConfig, Damage> {
    let provenance = Provenance::read(set.provenance()?);
    Ok(provenance.map(|provenance| provenance.settle()).unwrap_or_default())
}

/// Returns the inputs. A set that lists none counts as one input.
pub(crate) fn inputs(set: &PolicySet) -> Result<Vec<InputReport>, Damage> {
    Ok(match Provenance::read(set.provenance()?) {
        Some(provenance) => provenance.inputs().collect(),
        None => {
            let (name, captured) = (set.name().to_owned(), set.counts().captured());
            vec![InputReport { name, captured, ..InputReport::default() }]
        }
    })
}

/// Returns the log of a set, whose blocks were compared; the pages that this touches are released.
fn checked_log(set: &PolicySet, log: Section) -> Result<&[u8], Damage> {
    for start in (0..log.bytes).step_by(MAPPED_BYTES_PER_RELEASE) {
        set.file().bytes(log, start, (log.bytes - start).min(MAPPED_BYTES_PER_RELEASE as u64))?;
        set.file().release_pages();
    }
    set.file().bytes(log, 0, log.bytes)
}

/// Reads the captures of a set in the order of their keys.
struct LogReader<'m> {
    files: Files<'m>,
    rules: &'static AccessRules,
    /// The rest of the log.
    rest: &'m [u8],
    /// The last key that was read.
    key: Vec<u8>,
    /// Entries that were read, up to the first that makes no sense, and what was read for them.
    entries: VecDeque<Result<Entry<'m>, SetError>>,
    ahead: Parts<ReadPart>,
    /// The bytes of files that may be read before their captures are taken.
    ahead_max: usize,
    /// The bytes that were read since pages were released.
    touched: usize,
    touched_max: usize,
    /// The numbers of its inputs.
    numbers: Vec<u32>,
    /// The bytes that the files that were not read yet may have together. A few lines of a damaged set
    /// may stand for the lines of many files.
    text_bytes_left: u64,
    /// The parts of files that were read.
    parts: Parts<ReadPart>,
    table: Table,
    /// The number of captures that were read.
    captures: u64,
}

/// An entry of the log.
struct Entry<'m> {
    key: Box<[u8]>,
    resources: Resources<u32, &'m [u8]>,
    /// The bytes that it takes in the log.
    bytes: usize,
}

impl Iterator for LogReader<'_> {
    type Item = Result<Keyed, SetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl<'m> LogReader<'m> {
    fn read(&mut self) -> Result<Option<Keyed>, SetError> {
        if self.entries.is_empty() {
            self.read_ahead();
        }
        let Some(entry) = self.entries.pop_front() else { return Ok(None) };
        let Entry { key, resources: [http, https], bytes } = entry?;
        if self.touched > self.touched_max {
            self.files.set.file().release_pages();
            self.touched = 0;
        }
        let mut known = |captures: Vec<_>| {
            captures.into_iter().map(|it| self.known(it)).collect::<Result<Vec<_>, _>>()
        };
        let resources = [known(http)?, known(https)?];
        self.captures += resources.iter().map(|captures| captures.len() as u64).sum::<u64>();
        self.touched += bytes;
        Ok(Some((key, resources)))
    }

    /// Reads the next entries, and the files of their captures on all threads.
    fn read_ahead(&mut self) {
        let (mut parts, mut captures, mut bytes) = (Vec::new(), 0, 0);
        while !self.rest.is_empty()
            && captures < CAPTURES_AHEAD_MAX
            && bytes < KEY_BYTES_AHEAD_MAX
            && parts.len() < 2 * FILES_AHEAD_MAX
        {
            let entry = self.entry();
            // An entry that makes no sense ends the log.
            self.rest = if entry.is_ok() { self.rest } else { &[] };
            bytes += entry.as_ref().map_or(0, |entry| entry.key.len() + entry.bytes);
            for known in entry.iter().flat_map(|entry| &entry.resources).flatten() {
                captures += 1;
                if let Held::File { extract, others, has_rules } = known.held {
                    let of_file = parts_of(extract, others, has_rules);
                    parts.extend(of_file.iter().filter(|part| !self.parts.contains_key(*part)));
                }
            }
            self.entries.push_back(entry);
        }
        let entries = self.entries.make_contiguous();
        let files = self.files;
        let check = |entry: &mut Result<Entry<'_>, _>| {
            if entry.as_ref().is_ok_and(|entry| !entry.is_filed()) {
                let what = "a key belongs neither to an origin nor to another resource";
                *entry = Err(files.odd(what));
            }
        };
        let (ahead, ()) = rayon::join(
            || files.read_ahead(parts, self.ahead_max),
            || entries.par_iter_mut().for_each(check),
        );
        self.ahead = ahead;
    }

    /// Reads the next entry of the log.
    fn entry(&mut self) -> Result<Entry<'m>, SetError> {
        let (bytes_left, last) = (self.rest.len(), self.key.clone());
        let read = take_key(&mut self.rest, &mut self.key);
        let resources =
            read.and_then(|()| Form::Log.take(&mut self.rest, (|number| number, take_bytes)));
        let resources = resources.ok_or_else(|| self.files.odd("it makes no sense"))?;
        if last >= self.key {
            return Err(self.files.odd("it is not in order"));
        }
        let bytes = bytes_left - self.rest.len();
        Ok(Entry { key: self.key.as_slice().into(), resources, bytes })
    }

    fn known(&mut self, known: Known<u32, &'m [u8]>) -> Result<Known<BlobID>, SetError> {
        let Known { mut facts, position, held, payload, rivals } = known;
        let odd = || self.files.odd("a capture is of an input that the provenance does not list");
        facts.input = *self.numbers.get(facts.input as usize).ok_or_else(odd)?;
        let held = match held {
            Held::Repeated(captured_at) => Held::Repeated(captured_at),
            Held::Nothing => Held::Nothing,
            Held::Location(location) => Held::Location(self.files.pool.intern(location)?),
            Held::File { extract, others, has_rules } => {
                let [extract, others] = parts_of(extract, others, has_rules);
                let ReadPart { blob: extract, is_silent, .. } = self.part(extract)?;
                // Otherwise a file that states something would count as a page, which does not.
                if facts.file_notes.is_page() && !has_rules && !is_silent {
                    return Err(self.files.odd("a file that states something is noted as a page"));
                }
                let others = self.part(others)?.blob;
                Held::File { extract, others, has_rules }
            }
        };
        let known = Known { facts, position, held, payload, rivals };
        match known.is_consistent(self.rules) {
            true => Ok(known),
            false => Err(self.files.odd("an answer has what it cannot have")),
        }
    }

    /// Returns a part of a file.
    fn part(&mut self, part: Part) -> Result<ReadPart, SetError> {
        if let Some(&known) = self.parts.get(&part) {
            return Ok(known);
        }
        let read = match self.ahead.remove(&part) {
            Some(read) => read,
            None => self.files.read(part)?,
        };
        self.touched += read.bytes + PAGES_OF_TEXT;
        let left = self.text_bytes_left.checked_sub(read.bytes as u64);
        self.text_bytes_left = left.ok_or_else(|| self.files.odd(Files::TOO_LONG))?;
        self.parts.insert(part, read);
        self.table.resize(self.parts.allocation_size())?;
        Ok(read)
    }
}

/// Returns the parts of a file, which the log stores as the number of its policy, and one more than the position of
/// its other records, or 0.
fn parts_of(extract: u32, others: u32, has_rules: bool) -> [Part; 2] {
    [Part::Extract(PolicyNumber(extract), has_rules), Part::Others(others.checked_sub(1))]
}

impl Entry<'_> {
    /// Returns whether its captures are filed under the key of their resource.
    fn is_filed(&self) -> bool {
        let key = &*self.key;
        let [http, https] = self.resources.each_ref().map(|captures| !captures.is_empty());
        let is_filed = |slot: Slot| {
            Place::from_url(&place::url_of(key, slot))
                .is_ok_and(|place| (&*place.key, place.slot) == (key, slot))
        };
        let is_right = (!http || is_filed(Slot::Http)) && (!https || is_filed(Slot::Https));
        is_right && (http || https)
    }
}
