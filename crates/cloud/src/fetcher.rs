//! The fetcher of an open object: it holds bytes in bounded memory, fetches missing ranges
//! together, and fetches announced ranges in advance.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::join_all;
use hyperslab::vfd::Result;
use tokio::sync::{Semaphore, watch};

use crate::error::io_error;
use crate::held::{Held, Keep};
use crate::ranges::{Planned, plan};
use crate::remote::Remote;
use crate::runtime::Runtime;

/// The largest number of bytes that are fetched in advance and not read yet.
const MAX_AHEAD_BYTES: u64 = 64 << 20;

/// The number of requests after a read of an announced range that are sent with it.
const FOLLOWING_REQUESTS: usize = 4;

/// A fetcher of the bytes of one object.
#[derive(Debug)]
pub(crate) struct Fetcher {
    pub(crate) remote: Remote,
    pub(crate) runtime: Runtime,
    held: Mutex<Held>,
    /// Announced requests that were not sent yet, by their offsets.
    announced: Mutex<BTreeMap<u64, Planned>>,
    /// Changes each time a request ends.
    ended: watch::Sender<u64>,
    pub(crate) permits: Semaphore,
    parallel: usize,
}

/// A request that is marked as pending. Its end is noted also if its future is dropped.
#[derive(Debug)]
struct Flight {
    fetcher: Arc<Fetcher>,
    request: Planned,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.fetcher.held().end(&self.request.range);
        self.fetcher.ended.send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl Fetcher {
    /// Creates the fetcher of an open object, whose first bytes are there.
    pub(crate) fn new(
        remote: Remote,
        first: &Bytes,
        runtime: Runtime,
        capacity: u64,
        parallel: usize,
    ) -> Self {
        let mut held = Held::new(capacity);
        held.insert(0, vec![first.clone()], Keep::Lines, 0);
        Self {
            remote,
            runtime,
            held: Mutex::new(held),
            announced: Mutex::default(),
            ended: watch::channel(0).0,
            permits: Semaphore::new(parallel.max(1)),
            parallel: parallel.max(1),
        }
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announced(&self) -> MutexGuard<'_, BTreeMap<u64, Planned>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of a range if all of them are in memory.
    pub(crate) fn take(&self, range: &Range<u64>) -> Option<Vec<Bytes>> {
        self.held().take(range)
    }

    /// Fetches the missing bytes of ranges. Waits for requests of other readers that fetch them
    /// already.
    ///
    /// # Errors
    /// Returns the first error of a request. Nothing of a failed request stays in memory.
    pub(crate) async fn fetch(self: Arc<Self>, mut ranges: Vec<Range<u64>>, keep: Keep) -> Result<()> {
        while !ranges.is_empty() {
            let mut ended = self.ended.subscribe();
            let (flights, others) = self.begin(&ranges);
            let waits = flights.is_empty();
            self.send_all(flights, keep).await?;
            if waits && !others.is_empty() && ended.changed().await.is_err() {
                break;
            }
            ranges = others;
        }
        Ok(())
    }

    /// Marks the missing bytes of ranges as pending. Returns the requests for them, and the ranges
    /// that other requests fetch.
    fn begin(self: &Arc<Self>, ranges: &[Range<u64>]) -> (Vec<Flight>, Vec<Range<u64>>) {
        let mut held = self.held();
        let (mut free, mut others) = (Vec::new(), Vec::new());
        for missing in ranges.iter().flat_map(|range| held.missing(range)) {
            let parts = held.not_pending(&missing);
            if parts.first() != Some(&missing) {
                others.push(missing);
            }
            free.extend(parts);
        }
        let requests = plan(free, self.parallel);
        requests.iter().for_each(|request| held.begin(&request.range));
        drop(held);
        let flights = requests.into_iter().map(|request| Flight { fetcher: Arc::clone(self), request });
        (flights.collect(), others)
    }

    async fn send_all(&self, flights: Vec<Flight>, keep: Keep) -> Result<()> {
        join_all(flights.into_iter().map(|flight| self.send(flight, keep))).await.into_iter().collect()
    }

    async fn send(&self, flight: Flight, keep: Keep) -> Result<()> {
        let Planned { range, wanted } = flight.request.clone();
        // The semaphore is never closed.
        let permit = self.permits.acquire().await;
        let bytes = match keep {
            // Small ranges that stay: the pieces of an answer may belong to larger buffers.
            Keep::Lines => vec![self.remote.get(range.clone()).await?],
            Keep::UntilRead | Keep::UntilReleased => self.remote.get_all_pieces(range.clone()).await?,
        };
        drop(permit);
        self.held().insert(range.start, bytes, keep, wanted);
        Ok(())
    }

    /// Fetches the missing bytes of ranges, and blocks the calling thread until they are there.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub(crate) fn wait_for(self: &Arc<Self>, ranges: Vec<Range<u64>>, keep: Keep) -> Result<()> {
        self.remote.counters().round();
        self.block_on(Arc::clone(self).fetch(ranges, keep))
    }

    /// Reads a range without holding its bytes, and blocks the calling thread.
    ///
    /// # Errors
    /// The errors of the request.
    pub(crate) fn read_directly(self: &Arc<Self>, range: Range<u64>) -> Result<Bytes> {
        self.remote.counters().round();
        let fetcher = Arc::clone(self);
        self.block_on(async move { fetcher.remote.get(range).await })
    }

    fn block_on<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.runtime.wait(future).map_err(|error| io_error(self.remote.name(), error))?
    }

    /// Starts requests. An error is not reported: the read that needs the bytes repeats the
    /// request.
    fn start_flights(self: &Arc<Self>, flights: Vec<Flight>, keep: Keep) {
        if !self.runtime.is_of_this_process() {
            return;
        }
        for flight in flights {
            let fetcher = Arc::clone(self);
            self.runtime.spawn(async move {
                if let Err(error) = fetcher.send(flight, keep).await {
                    tracing::debug!(%error, "bytes were not fetched in advance");
                }
                fetcher.send_announced();
            });
        }
    }

    /// Announces reads of ranges, of which each will be read once.
    pub(crate) fn announce(self: &Arc<Self>, ranges: &[Range<u64>]) {
        let held = self.held();
        let missing: Vec<Range<u64>> = ranges.iter().flat_map(|range| held.missing(range)).collect();
        drop(held);
        let requests = plan(missing, self.parallel);
        self.announced().extend(requests.into_iter().map(|request| (request.range.start, request)));
        self.send_announced();
    }

    /// Sends announced requests, in the order of their offsets, as far as memory and connections
    /// allow.
    pub(crate) fn send_announced(self: &Arc<Self>) {
        while !self.held().is_full(self.parallel, MAX_AHEAD_BYTES) {
            let Some((_, request)) = self.announced().pop_first() else { return };
            self.send_in_advance(vec![request]);
        }
    }

    /// Sends requests in advance. A request of which some bytes are there already is left to the
    /// read that needs it.
    fn send_in_advance(self: &Arc<Self>, requests: Vec<Planned>) {
        let mut held = self.held();
        let mut flights = Vec::new();
        for request in requests {
            let whole = std::slice::from_ref(&request.range);
            if held.missing(&request.range) == whole && held.not_pending(&request.range) == whole {
                held.begin(&request.range);
                flights.push(Flight { fetcher: Arc::clone(self), request });
            }
        }
        drop(held);
        self.start_flights(flights, Keep::UntilRead);
    }

    /// Returns whether a byte of a range was announced, and not requested yet.
    pub(crate) fn is_announced(&self, range: &Range<u64>) -> bool {
        let announced = self.announced();
        let last = announced.range(..range.end).next_back();
        last.is_some_and(|(_, request)| request.range.end > range.start)
    }

    /// Sends the announced requests that have bytes of a range, and some requests after them.
    pub(crate) fn send_announced_of(self: &Arc<Self>, range: &Range<u64>) {
        let mut announced = self.announced();
        let before = announced.range(..range.start).next_back();
        let before = before.filter(|(_, request)| request.range.end > range.start).map(|(start, _)| *start);
        let inside = announced.range(range.start..range.end).map(|(start, _)| *start);
        let inside: Vec<u64> = before.into_iter().chain(inside).collect();
        let Some(last) = inside.last().copied() else { return };
        let after = announced.range(last..).skip(1).take(FOLLOWING_REQUESTS).map(|(start, _)| *start);
        let starts: Vec<u64> = inside.iter().copied().chain(after).collect();
        let requests: Vec<Planned> = starts.iter().filter_map(|start| announced.remove(start)).collect();
        drop(announced);
        self.send_in_advance(requests);
    }
}
