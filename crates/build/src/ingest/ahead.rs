//! Reads sources ahead on other threads while this one takes what was read of them.
//!
//! A source is read by one thread at a time, some captures at once, and the next ones while those are
//! taken. A thread that has to wait works for the pool meanwhile, so it must hold no lock that this work
//! needs.
//!
//! Cost: one task and one allocation for some [`CAPTURES_READ_AT_ONCE`] captures. Memory: twice as many of
//! each source, in whole hosts. A source that panics, panics here.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::{Scope, Yield};

use super::known::Keyed;
use crate::limits::{CAPTURES_READ_AT_ONCE, KEY_BYTES_AHEAD_MAX};

/// The items that were read from a source, and the source.
type Read<S> = (Vec<<S as Iterator>::Item>, S);

/// A source that is read ahead.
pub(super) struct Ahead<'a, 's, S: Iterator> {
    scope: &'a Scope<'s>,
    waiting: std::vec::IntoIter<S::Item>,
    /// The items that are being read; `None` after the end.
    next: Option<Receiver<Read<S>>>,
}

/// Passes sources to `take`, which are read ahead until it returns.
pub(super) fn ahead<'s, S, E, R>(
    sources: Vec<S>,
    take: impl FnOnce(Vec<Ahead<'_, 's, S>>) -> R,
) -> R
where
    S: Iterator<Item = Result<Keyed, E>> + Send + 's,
    E: Send + 's,
{
    rayon::in_place_scope(|scope| {
        let ahead = |source| Ahead {
            scope,
            waiting: Vec::new().into_iter(),
            next: Some(read(scope, source)),
        };
        take(sources.into_iter().map(ahead).collect())
    })
}

/// Begins to read.
fn read<'s, S, E>(scope: &Scope<'s>, mut source: S) -> Receiver<Read<S>>
where
    S: Iterator<Item = Result<Keyed, E>> + Send + 's,
    E: Send + 's,
{
    let (send, receive) = sync_channel(1);
    scope.spawn(move |_| {
        let (mut items, mut captures, mut bytes) = (Vec::new(), 0, 0);
        while captures < CAPTURES_READ_AT_ONCE
            && bytes < KEY_BYTES_AHEAD_MAX
            && let Some(item) = source.next()
        {
            if let Ok((key, [http, https])) = &item {
                captures += http.len() + https.len();
                bytes += key.len();
            }
            items.push(item);
        }
        // Nobody receives it after an error.
        _ = send.send((items, source));
    });
    receive
}

impl<'s, S, E> Iterator for Ahead<'_, 's, S>
where
    S: Iterator<Item = Result<Keyed, E>> + Send + 's,
    E: Send + 's,
{
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        if self.waiting.len() == 0 {
            let next = self.next.take()?;
            let (items, source) = loop {
                match next.try_recv() {
                    Ok(read) => break read,
                    Err(TryRecvError::Disconnected) => panic!("a source panicked"),
                    Err(TryRecvError::Empty) if rayon::yield_now() == Some(Yield::Executed) => {}
                    Err(TryRecvError::Empty) => std::thread::yield_now(),
                }
            };
            // Nothing was read at its end.
            self.next = (!items.is_empty()).then(|| read(self.scope, source));
            self.waiting = items.into_iter();
        }
        self.waiting.next()
    }
}
