//! The event loop of a batch: one channel carries everything that other threads report.
//!
//! Every result that the loop waits for, a chunk or an output, arrives as an [`Event`], so the loop
//! never waits for one while another is ready. Other threads never wait for a full channel: there
//! are at most as many messages as chunks in flight and reader credits.

use std::collections::{HashMap, VecDeque};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};

use super::reader::{self, Panic, Read};
use super::{Config, Part, RunError, thread_count};
use crate::input::{Chunk, Chunks, InputError, Source};
use crate::limits::IN_FLIGHT_CHUNKS_PER_THREAD;
use crate::list::Noticed;

/// A report from another thread.
pub(super) enum Event<O, E> {
    /// The thread of a stream has read a chunk, its end or its failure.
    Read,
    /// A job has processed its records.
    Done(Done<O, E>),
    /// A job or a stream's thread has panicked with this payload.
    Panicked(Panic),
}

/// The records of a chunk after the first ones: those that a job processes.
#[derive(Clone)]
pub(super) struct Rest {
    /// The place in the order of the run: the number of the chunk, and the place in it, as
    /// [`Rows::rest`](crate::list::Rows::rest) returns it: 0 for the whole chunk.
    pub(super) place: (u64, usize),
    pub(super) chunk: Arc<Chunk>,
    /// The number of the list, from 0.
    pub(super) list: usize,
}

/// Processed records.
pub(super) struct Done<O, E> {
    pub(super) records: Rest,
    pub(super) output: O,
    /// The place of the records that are left, if there are more, and observations on the others.
    pub(super) worked: Result<(Option<usize>, Noticed), E>,
}

/// An opened input, or the error of opening it.
enum Input {
    /// A regular file, which this thread cuts.
    Plain(Box<Chunks>),
    /// The messages of the thread that reads a stream.
    Stream(Receiver<Read>),
    Failed(Option<InputError>),
}

/// The state of a run on the calling thread.
pub(super) struct EventLoop<'run, Sources, Sink, O, E> {
    config: &'run Config<'run>,
    /// `None` once there are no more, or one failed.
    sources: Option<Sources>,
    /// The input that is being cut, and later inputs that were opened ahead.
    inputs: VecDeque<Input>,
    inputs_max: usize,
    /// The failure that ended the input, returned after everything before it is written.
    failure: Option<RunError>,
    /// The sequence number of the next chunk.
    next_sequence: u64,
    /// The number of lists whose first chunk was handed out.
    lists: usize,
    /// The rests of chunks whose outputs were full. A job for each is waiting for room.
    rests: Vec<Rest>,
    /// Chunks handed out and not yet written. A long one counts as several, and so does one with
    /// several outputs.
    in_flight: usize,
    in_flight_max: usize,
    /// Processed records that are not written yet, by their place.
    done: HashMap<(u64, usize), Done<O, E>>,
    /// The place of those that are written next.
    next: (u64, usize),
    /// Observations on the records of the current list that are written.
    noticed: Noticed,
    sink: Sink,
    /// Outputs that the sink has returned.
    outputs: Vec<O>,
    sender: Sender<Event<O, E>>,
    receiver: Receiver<Event<O, E>>,
}

impl<'run, Sources, Sink, O, E> EventLoop<'run, Sources, Sink, O, E>
where
    Sources: Iterator<Item = Result<Source, InputError>>,
    Sink: FnMut(&Part<'_>, &mut O) -> Result<(), E>,
    O: Default + Send + 'static,
    E: From<RunError> + Send + 'static,
{
    pub(super) fn new(
        sources: Sources,
        config: &'run Config<'run>,
        in_flight_max: usize,
        sink: Sink,
    ) -> Self {
        let (sender, receiver) = mpsc::channel();
        EventLoop {
            config,
            sources: Some(sources),
            inputs: VecDeque::new(),
            inputs_max: if config.open_ahead { thread_count(config.threads) } else { 1 },
            failure: None,
            next_sequence: 0,
            lists: 0,
            rests: Vec::new(),
            in_flight: 0,
            in_flight_max,
            done: HashMap::new(),
            next: (0, 0),
            noticed: Noticed::default(),
            sink,
            outputs: Vec::new(),
            sender,
            receiver,
        }
    }

    /// Runs the loop to its end. `submit` processes records into an output, which is new or as the sink
    /// left it, now or later; each job sends one event.
    pub(super) fn run(mut self, submit: impl Fn(Rest, O, Sender<Event<O, E>>)) -> Result<(), E> {
        loop {
            while let Ok(event) = self.receiver.try_recv() {
                self.receive(event);
            }
            self.feed(&submit);
            if let Some(done) = self.done.remove(&self.next) {
                self.write(done)?;
                continue;
            }
            if self.in_flight == 0 && self.inputs.is_empty() && self.sources.is_none() {
                return self.failure.map_or(Ok(()), |failure| Err(failure.into()));
            }
            // A job is in flight or a reader has credit, so an event will come.
            let event = self.receiver.recv().expect("the loop has a sender itself");
            self.receive(event);
        }
    }

    fn receive(&mut self, event: Event<O, E>) {
        match event {
            Event::Done(done) => {
                let Rest { place, .. } = done.records;
                if let Ok((Some(from), _)) = done.worked {
                    self.rests.push(Rest { place: (place.0, from), ..done.records.clone() });
                }
                self.done.insert(place, done);
            }
            Event::Panicked(panic) => resume_unwind(panic),
            // What was read is there when the loop asks for it.
            Event::Read => {}
        }
    }

    /// Hands out the rests of chunks, and then chunks, while there is room. The rest that is to be
    /// written next needs none.
    fn feed(&mut self, submit: &impl Fn(Rest, O, Sender<Event<O, E>>)) {
        self.rests.sort_unstable_by_key(|rest| std::cmp::Reverse(rest.place));
        while let Some(rest) =
            self.rests.pop_if(|rest| self.in_flight < self.in_flight_max || rest.place == self.next)
        {
            self.in_flight += 1;
            self.hand_out(rest, submit);
        }
        while self.in_flight < self.in_flight_max {
            let Some(chunk) = self.next_chunk() else {
                return;
            };
            self.in_flight += self.weight(&chunk);
            self.lists += usize::from(chunk.is_first);
            let (place, list) = ((self.next_sequence, 0), self.lists - 1);
            self.next_sequence += 1;
            self.hand_out(Rest { place, chunk: Arc::new(chunk), list }, submit);
        }
    }

    fn hand_out(&mut self, records: Rest, submit: &impl Fn(Rest, O, Sender<Event<O, E>>)) {
        submit(records, self.outputs.pop().unwrap_or_default(), self.sender.clone());
    }

    /// Returns the number of usual chunks that a chunk counts as. A row group uses at least all the
    /// room of one thread.
    fn weight(&self, chunk: &Chunk) -> usize {
        let is_row_group = self.config.chunks.by_row_group && chunk.part().is_some();
        let least = if is_row_group { IN_FLIGHT_CHUNKS_PER_THREAD } else { 1 };
        chunk.memory_bytes().div_ceil(self.usual_bytes()).max(least)
    }

    fn usual_bytes(&self) -> usize {
        self.config.chunks.chunk_bytes.max(1)
    }

    /// Returns the next chunk of the input, if one is ready without waiting for a reader.
    fn next_chunk(&mut self) -> Option<Chunk> {
        loop {
            self.open_ahead();
            let read = match self.inputs.front_mut()? {
                Input::Plain(chunks) => chunks.next(),
                // If nothing is there yet, an event will follow.
                Input::Stream(read) => read.try_recv().ok()?,
                Input::Failed(error) => error.take().map(Err),
            };
            match read {
                Some(Ok(chunk)) => return Some(chunk),
                None => drop(self.inputs.pop_front()),
                // Everything before it is still written.
                Some(Err(error)) => {
                    self.failure = Some(error.into());
                    self.sources = None;
                    self.inputs.clear();
                }
            }
        }
    }

    /// Opens inputs while there is room. Streams begin to read.
    fn open_ahead(&mut self) {
        while self.inputs.len() < self.inputs_max
            && let Some(sources) = &mut self.sources
        {
            let source = sources.next();
            match source.map(|source| self.open(source?)) {
                None => self.sources = None,
                Some(Ok(input)) => self.inputs.push_back(input),
                Some(Err(error)) => {
                    self.sources = None;
                    self.inputs.push_back(Input::Failed(Some(error)));
                }
            }
        }
    }

    fn open(&self, source: Source) -> Result<Input, InputError> {
        let name = source.name().to_owned();
        let mut chunks = Chunks::new(source, self.config.chunks, Arc::clone(&self.config.lists));
        if chunks.is_plain_file() {
            return Ok(Input::Plain(Box::new(chunks)));
        }
        let events = self.sender.clone();
        let tell = move |panic: Option<Panic>| {
            events.send(panic.map_or(Event::Read, Event::Panicked)).is_ok()
        };
        let read = reader::start(chunks, tell);
        Ok(Input::Stream(read.map_err(|error| InputError::open(name, error))?))
    }

    /// Passes the output of some records to the sink, and keeps what can be reused.
    fn write(&mut self, done: Done<O, E>) -> Result<(), E> {
        let Done { records, mut output, worked } = done;
        let Rest { place: (sequence, from), chunk, list: number } = records;
        let ((rest, noticed), list) = (worked?, &chunk.list);
        self.next = rest.map_or((sequence + 1, 0), |from| (sequence, from));
        chunk.check().map_err(RunError::from)?;
        let is_first = chunk.is_first && from == 0;
        let is_last = chunk.is_last && rest.is_none();
        if is_first {
            self.noticed = Noticed::default();
        }
        self.noticed.merge(noticed);
        let part = Part { list, number, is_first, is_last, noticed: self.noticed };
        (self.sink)(&part, &mut output)?;
        // Free the memory of a long record and its output. Whole pages may exceed the bound.
        if chunk.memory_bytes() <= 2 * self.usual_bytes() {
            self.outputs.push(output);
        }
        if rest.is_some() {
            self.in_flight -= 1;
            return Ok(());
        }
        self.in_flight -= self.weight(&chunk);
        if let Some(progress) = self.config.progress {
            progress.fetch_add(chunk.stored_bytes, Ordering::Relaxed);
        }
        Ok(())
    }
}
