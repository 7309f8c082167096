//! Recent answers: equal requests get the same bytes, and at the same time only one of them makes
//! the answer.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyperslab_exact::to_u64;

use super::reply::Head;
use crate::disk::Version;

/// The bytes of memory that a kept answer needs beside its body and its key.
const ENTRY_BYTES: u64 = 256;

/// A request for a version of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) version: Version,
    /// The path and the query of the request.
    pub(super) request: String,
}

/// A whole answer in memory.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub(super) head: Head,
    pub(super) body: Bytes,
}

/// The whole answers of recent requests, in memory of bounded size.
#[derive(Debug)]
pub(super) struct Recent {
    state: Mutex<State>,
    /// Notified each time an answer was made, or was not.
    ended: Condvar,
    capacity: u64,
}

#[derive(Debug, Default)]
struct State {
    answers: HashMap<Arc<Key>, Kept>,
    by_use: BTreeMap<u64, Arc<Key>>,
    clock: u64,
    total: u64,
    /// The keys of answers that are being made.
    making: HashSet<Arc<Key>>,
}

#[derive(Debug)]
struct Kept {
    answer: Whole,
    used: u64,
}

/// The making of one answer. Requests for the same answer wait until the value is dropped.
#[derive(Debug)]
pub(super) struct Making<'a> {
    recent: &'a Recent,
    key: Arc<Key>,
    /// True if other requests wait for this one.
    is_first: bool,
}

impl Recent {
    /// Creates an empty store for `capacity` bytes.
    pub(super) fn new(capacity: u64) -> Self {
        Self { state: Mutex::default(), ended: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kept answer of a request, and waits for another request that makes it.
    ///
    /// # Errors
    /// Returns the making of the answer if there is none. If the other request has no answer to
    /// keep, all that waited for it make their own at the same time.
    pub(super) fn get(&self, key: Key) -> Result<Whole, Making<'_>> {
        let key = Arc::new(key);
        let mut state = self.state();
        if let Some(answer) = state.get(&key) {
            return Ok(answer);
        }
        let is_first = state.making.insert(Arc::clone(&key));
        if !is_first {
            let is_made = |state: &mut State| state.making.contains(&key);
            state = self.ended.wait_while(state, is_made).unwrap_or_else(PoisonError::into_inner);
            if let Some(answer) = state.get(&key) {
                return Ok(answer);
            }
        }
        Err(Making { recent: self, key, is_first })
    }
}

impl Making<'_> {
    /// Keeps the answer, if it is small enough.
    pub(super) fn keep(&self, answer: &Whole) {
        let size = size(&self.key, answer);
        if size > self.recent.capacity {
            return;
        }
        let mut state = self.recent.state();
        state.remove(&self.key);
        state.clock += 1;
        let used = state.clock;
        state.by_use.insert(used, Arc::clone(&self.key));
        state.answers.insert(Arc::clone(&self.key), Kept { answer: answer.clone(), used });
        state.total += size;
        while state.total > self.recent.capacity {
            let Some((_, oldest)) = state.by_use.first_key_value() else { break };
            let oldest = Arc::clone(oldest);
            state.remove(&oldest);
        }
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        if self.is_first {
            self.recent.state().making.remove(&self.key);
            self.recent.ended.notify_all();
        }
    }
}

impl State {
    fn get(&mut self, key: &Arc<Key>) -> Option<Whole> {
        let kept = self.answers.get_mut(key)?;
        self.clock += 1;
        self.by_use.remove(&kept.used);
        kept.used = self.clock;
        self.by_use.insert(kept.used, Arc::clone(key));
        Some(kept.answer.clone())
    }

    fn remove(&mut self, key: &Key) {
        if let Some(kept) = self.answers.remove(key) {
            self.by_use.remove(&kept.used);
            self.total -= size(key, &kept.answer);
        }
    }
}

/// Returns the bytes of memory that an answer needs.
fn size(key: &Key, answer: &Whole) -> u64 {
    to_u64(answer.body.len()) + to_u64(key.request.len()) + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    use super::*;

    fn key(request: &str) -> Key {
        Key { version: Version::Held(1), request: request.to_owned() }
    }

    fn answer(length: usize) -> Whole {
        Whole { head: Head::default(), body: vec![0; length].into() }
    }

    fn is_kept(recent: &Recent, request: &str) -> bool {
        recent.get(key(request)).is_ok()
    }

    #[test]
    fn answers_are_kept_in_bounded_memory() {
        let recent = Recent::new(3 * (ENTRY_BYTES + 1001));
        for request in ["a", "b", "c"] {
            recent.get(key(request)).unwrap_err().keep(&answer(1000));
        }
        assert!(is_kept(&recent, "a"));
        recent.get(key("d")).unwrap_err().keep(&answer(1000));
        assert!(!is_kept(&recent, "b"));
        assert!(["a", "c", "d"].iter().all(|request| is_kept(&recent, request)));
        recent.get(key("e")).unwrap_err().keep(&answer(5000));
        assert!(!is_kept(&recent, "e") && is_kept(&recent, "a"));
        let other = Key { version: Version::Held(2), ..key("a") };
        assert!(recent.get(other).is_err());
        let state = recent.state();
        assert_eq!((state.answers.len(), state.by_use.len(), state.making.len()), (3, 3, 0));
        assert_eq!(state.total, recent.capacity);
    }

    #[test]
    fn an_answer_is_replaced() {
        let recent = Recent::new(10_000);
        let (one, two) = (recent.get(key("a")).unwrap_err(), Recent::new(0));
        one.keep(&answer(10));
        one.keep(&answer(20));
        assert_eq!(recent.get(key("a")).unwrap().body.len(), 20);
        assert_eq!(recent.state().total, ENTRY_BYTES + 21);
        two.get(key("a")).unwrap_err().keep(&answer(0));
        assert!(!is_kept(&two, "a"));
    }

    /// Starts threads that ask for the same answer while one makes it. Returns how many make it.
    fn makers(end: fn(Making<'_>)) -> usize {
        let (recent, made) = (Recent::new(10_000), AtomicUsize::new(1));
        std::thread::scope(|scope| {
            let first = recent.get(key("a")).unwrap_err();
            for _ in 0..8 {
                scope.spawn(|| {
                    let own = recent.get(key("a")).is_err();
                    made.fetch_add(usize::from(own), Relaxed);
                });
            }
            std::thread::sleep(Duration::from_millis(20));
            end(first);
        });
        assert!(recent.state().making.is_empty());
        made.into_inner()
    }

    #[test]
    fn one_request_makes_the_answer_for_all() {
        assert_eq!(makers(|first| first.keep(&answer(1))), 1);
    }

    #[test]
    fn requests_whose_answer_is_not_kept_make_their_own() {
        // Threads that start late may make it too, or wait for one of them.
        assert!(makers(|first| drop(first)) > 1);
        let panics = |first: Making<'_>| {
            let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _first = first;
                panic!("the answer cannot be made");
            }));
            assert!(made.is_err());
        };
        assert!(makers(panics) > 1);
    }
}
