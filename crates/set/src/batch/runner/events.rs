//! The event loop of a batch: one channel tells the calling thread all that happens elsewhere.
//!
//! Whatever the loop waits for, a chunk read or an output made, comes as an [`Event`], so it never
//! waits for one thing while another would let it go on. Nothing elsewhere waits for a full channel
//! either: the messages are as many as the chunks in flight and the credits of a reader.

use std::any::Any;
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};

use super::order::{Done, Order};
use super::reader::{Next, StreamReader};
use super::workers::Job;
use super::{Config, RunError, RunTotals};
use portcullis_capture::input::{Chunk, Chunks, InputError, Source};
use portcullis_robots::kind::{FileKind, Wanted, WrongKind};

/// What happened on another thread.
pub(super) enum Event<O> {
    /// A stream's thread has read a chunk, its end or its failure.
    Read(Option<Result<Chunk, InputError>>),
    /// A job has made its output.
    Done(Done<O>),
    /// A job or a stream's thread has panicked, with this.
    Panicked(Box<dyn Any + Send>),
}

/// Where the next chunk comes from.
enum Input {
    /// The next source has to be opened.
    Between,
    Mapped(Chunks),
    Stream(StreamReader),
    /// There is no more, or it failed.
    Over,
}

/// The state of a run on the calling thread.
pub(super) struct EventLoop<'run, Sources, Sink, O> {
    config: &'run Config<'run>,
    sources: Sources,
    input: Input,
    /// The name of the source, until its first chunk shows what it is.
    unseen: Option<String>,
    /// What ended the input, to be returned after everything before it is written.
    failure: Option<RunError>,
    /// The sequence number of the next job.
    next_sequence: u64,
    /// Chunks handed out and not yet written, a long one counted as several.
    in_flight: usize,
    in_flight_max: usize,
    order: Order<O>,
    sink: Sink,
    /// Outputs that the sink has given back.
    outputs: Vec<O>,
    /// Chunks that are written, for the reader to use their memory.
    spare: Vec<Chunk>,
    sender: Sender<Event<O>>,
    receiver: Receiver<Event<O>>,
    totals: RunTotals,
}

impl<'run, Sources, Sink, O> EventLoop<'run, Sources, Sink, O>
where
    Sources: Iterator<Item = Result<Source, InputError>>,
    Sink: FnMut(&mut O) -> io::Result<()>,
    O: Default + Send + 'static,
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
            sources,
            input: Input::Between,
            unseen: None,
            failure: None,
            next_sequence: 0,
            in_flight: 0,
            in_flight_max,
            order: Order::new(),
            sink,
            outputs: Vec::new(),
            spare: Vec::new(),
            sender,
            receiver,
            totals: RunTotals::default(),
        }
    }

    /// Runs to the end. `submit` has a job performed, now or later, which sends one event.
    pub(super) fn run(mut self, submit: impl Fn(Job<O>)) -> Result<RunTotals, RunError> {
        loop {
            while let Ok(event) = self.receiver.try_recv() {
                self.receive(event);
            }
            self.feed(&submit);
            if let Some(done) = self.order.take_next() {
                self.write(done)?;
                continue;
            }
            if self.in_flight == 0 && matches!(self.input, Input::Over) {
                return self.failure.map_or(Ok(self.totals), Err);
            }
            // A job is in flight, or a reader has credit: either will send.
            let event = self.receiver.recv().expect("the loop has a sender itself");
            self.receive(event);
        }
    }

    fn receive(&mut self, event: Event<O>) {
        match event {
            Event::Done(done) => self.order.insert(done),
            Event::Panicked(panic) => resume_unwind(panic),
            Event::Read(read) => match &mut self.input {
                Input::Stream(reader) => reader.receive(read),
                _ => unreachable!("a stream stays the input until its end is received"),
            },
        }
    }

    /// Hands out chunks while there is room.
    fn feed(&mut self, submit: &impl Fn(Job<O>)) {
        while self.in_flight < self.in_flight_max {
            let Some(chunk) = self.next_chunk() else {
                return;
            };
            self.in_flight += self.weight(&chunk);
            submit(Job {
                sequence: self.next_sequence,
                chunk,
                output: self.outputs.pop().unwrap_or_default(),
                events: self.sender.clone(),
            });
            self.next_sequence += 1;
        }
    }

    /// How many usual chunks a chunk counts as.
    fn weight(&self, chunk: &Chunk) -> usize {
        chunk.len().div_ceil(self.usual_bytes()).max(1)
    }

    fn usual_bytes(&self) -> usize {
        self.config.chunks.chunk_bytes.max(1)
    }

    /// The next chunk of the input, if there is one to be had without waiting for a reader.
    fn next_chunk(&mut self) -> Option<Chunk> {
        loop {
            match &mut self.input {
                Input::Over => return None,
                Input::Between => self.open_next(),
                Input::Mapped(chunks) => match chunks.next() {
                    Some(Ok(chunk)) => match self.refusal(&chunk) {
                        None => return Some(chunk),
                        Some(error) => self.fail(error.into()),
                    },
                    Some(Err(error)) => self.fail(error.into()),
                    None => self.input = Input::Between,
                },
                Input::Stream(reader) => match reader.next(&mut self.spare) {
                    Next::Chunk(chunk) => match self.refusal(&chunk) {
                        None => return Some(chunk),
                        Some(error) => self.fail(error.into()),
                    },
                    Next::Pending => return None,
                    Next::End(Ok(())) => self.input = Input::Between,
                    Next::End(Err(error)) => self.fail(error.into()),
                },
            }
        }
    }

    /// Why the source of `chunk`, if it is the first of one, is surely no list of URLs.
    fn refusal(&mut self, chunk: &[u8]) -> Option<InputError> {
        let name = self.unseen.take()?;
        let kind = FileKind::of(chunk);
        let wrong = WrongKind { name, kind, wanted: Wanted::UrlList };
        kind.is_no_url_list().then(|| wrong.into())
    }

    fn open_next(&mut self) {
        let source = match self.sources.next() {
            None => {
                self.input = Input::Over;
                return;
            }
            Some(Err(error)) => return self.fail(error.into()),
            Some(Ok(source)) => source,
        };
        self.totals.sources += 1;
        self.unseen = Some(source.name().to_owned());
        let chunks = source.chunks(self.config.chunks);
        if chunks.is_mapped() {
            self.input = Input::Mapped(chunks);
            return;
        }
        match StreamReader::start(chunks, self.sender.clone()) {
            Ok(reader) => self.input = Input::Stream(reader),
            Err(error) => self.fail(RunError::Threads { threads: 1, source: error.into() }),
        }
    }

    /// Ends the input. What came before is still written.
    fn fail(&mut self, error: RunError) {
        self.failure = Some(error);
        self.input = Input::Over;
    }

    /// Gives an output to the sink, and keeps what can be used again.
    fn write(&mut self, mut done: Done<O>) -> Result<(), RunError> {
        done.chunk.check()?;
        (self.sink)(&mut done.output).map_err(RunError::Output)?;
        self.in_flight -= self.weight(&done.chunk);
        self.totals.chunks += 1;
        self.totals.bytes += done.chunk.len() as u64;
        self.totals.stored_bytes += done.chunk.stored_bytes();
        if let Some(progress) = self.config.progress {
            progress.fetch_add(done.chunk.stored_bytes(), Ordering::Relaxed);
        }
        // The memory of a long record and its output is given back.
        if done.chunk.len() <= self.usual_bytes() {
            self.outputs.push(done.output);
            if matches!(self.input, Input::Stream(_)) {
                self.spare.push(done.chunk);
            }
        }
        Ok(())
    }
}
