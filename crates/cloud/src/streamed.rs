//! Reads of long ranges straight into the caller's buffer: the runtime thread receives pieces of
//! several answers, and the calling thread copies each piece to its offset.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use bytes::Bytes;
use hyperslab::vfd::Result;
use hyperslab_exact::to_usize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use crate::error::{invalid, io_error};
use crate::fetcher::Fetcher;

/// The length of the shortest range that is read in this way.
pub(crate) const MIN_BYTES: u64 = 4 << 20;

/// The number of bytes of one request.
const REQUEST_BYTES: u64 = 2 << 20;

/// The largest number of bytes that are requested and not copied yet.
const MAX_FLYING_BYTES: u64 = 64 << 20;

/// The largest number of bytes that are received and not copied yet. Further bytes stay with the
/// system: few buffers are in use, which stay in the caches of the processor.
const MAX_UNCOPIED_BYTES: u32 = 8 << 20;

/// A message of the runtime thread.
enum Message {
    /// Bytes at an offset of the object, and their share of the uncopied bytes.
    Piece(u64, Bytes, OwnedSemaphorePermit),
    /// The end of one request.
    Ended(Result<()>),
}

/// The requests of one read. They are cancelled when the value is dropped.
#[derive(Default)]
struct Requests(Vec<JoinHandle<()>>);

impl Drop for Requests {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Fills a buffer with a range of the object, and blocks the calling thread until it is full.
///
/// # Errors
/// Returns the first error of a request. The content of the buffer is undefined then.
pub(crate) fn read_into(fetcher: &Arc<Fetcher>, range: &Range<u64>, buffer: &mut [u8]) -> Result<()> {
    let name = fetcher.remote.name();
    let ended = || io_error(name, std::io::Error::other("the runtime thread ended"));
    fetcher.runtime.require_thread().map_err(|error| io_error(name, error))?;
    fetcher.remote.counters().round();
    let (send, receive) = mpsc::channel();
    let uncopied = Arc::new(Semaphore::new(to_usize(MAX_UNCOPIED_BYTES.into()).map_err(|_| ended())?));
    let start = |part| start(fetcher, part, send.clone(), Arc::clone(&uncopied));
    let mut rest = divide(range);
    let mut requests = Requests::default();
    let mut flying = 0_u64;
    for part in rest.by_ref().take(to_usize(MAX_FLYING_BYTES / REQUEST_BYTES).map_err(|_| ended())?) {
        requests.0.push(start(part));
        flying += 1;
    }
    while flying > 0 {
        match receive.recv().map_err(|_| ended())? {
            Message::Piece(offset, bytes, permit) => {
                let at = usize::try_from(offset - range.start).ok();
                let to = at.and_then(|at| buffer.get_mut(at..)?.get_mut(..bytes.len()));
                let to = to.ok_or_else(|| invalid(name, "the answer has bytes outside of the range"))?;
                to.copy_from_slice(&bytes);
                drop((bytes, permit));
            }
            Message::Ended(outcome) => {
                outcome?;
                flying -= 1;
                if let Some(part) = rest.next() {
                    requests.0.push(start(part));
                    flying += 1;
                }
            }
        }
    }
    Ok(())
}

/// Returns the ranges of the requests for a range.
fn divide(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let (mut at, end) = (range.start, range.end);
    std::iter::from_fn(move || {
        let part = at..at + (end - at).min(REQUEST_BYTES);
        at = part.end;
        Some(part).filter(|part| part.start < part.end)
    })
}

/// Starts the request for one range.
fn start(
    fetcher: &Arc<Fetcher>,
    range: Range<u64>,
    send: Sender<Message>,
    uncopied: Arc<Semaphore>,
) -> JoinHandle<()> {
    let running = Arc::clone(fetcher);
    fetcher.runtime.spawn(async move {
        // The semaphores are never closed.
        let permit = running.permits.acquire().await;
        let piece = |offset, bytes: Bytes| {
            let (send, uncopied) = (send.clone(), Arc::clone(&uncopied));
            // A longer piece takes all.
            let share = u32::try_from(bytes.len())
                .map_or(MAX_UNCOPIED_BYTES, |length| length.min(MAX_UNCOPIED_BYTES));
            async move {
                let share = uncopied.acquire_many_owned(share).await;
                share.is_ok_and(|share| send.send(Message::Piece(offset, bytes, share)).is_ok())
            }
        };
        let outcome = running.remote.get_pieces(range, piece).await;
        drop(permit);
        // The reader may have given up.
        let _ = send.send(Message::Ended(outcome));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_divided_into_requests() {
        let parts: Vec<_> = divide(&(7..7 + 2 * REQUEST_BYTES + 1)).collect();
        assert_eq!(parts.len(), 3);
        assert_eq!((parts[0].start, parts[2].end), (7, 8 + 2 * REQUEST_BYTES));
        assert_eq!(divide(&(5..5)).count(), 0);
    }
}
