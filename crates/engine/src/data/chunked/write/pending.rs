//! Decoded chunks of which parts were written: they wait for the rest before they are encoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::Dims;

/// Chunks whose memory is kept.
const SPARE: usize = 8;

/// Chunks by their coordinates.
#[derive(Debug, Default)]
pub(super) struct Pending {
    chunks: BTreeMap<Dims, Waiting>,
    bytes: usize,
    /// Bytes of those that somebody encodes.
    encoding: usize,
    /// Bytes of those that are likely to be complete, and that nobody encodes.
    complete: usize,
    /// How often something was changed here.
    changes: u64,
    /// The most bytes that there were.
    #[cfg(test)]
    most: usize,
    /// Memory of chunks that went.
    spare: Vec<Vec<u8>>,
    /// Chunks of which somebody has the elements as the file holds them, on the way to put them here: a number for each.
    fetched: BTreeMap<Dims, Vec<u64>>,
}

#[derive(Debug)]
struct Waiting {
    /// Shared with those who encode them.
    elements: Arc<Vec<u8>>,
    /// Which change was the last one to it.
    changed: u64,
    /// Somebody encodes it as it is.
    encoding: bool,
    /// How many elements are still to be written until there were as many writes as elements.
    missing: u64,
}

impl Waiting {
    fn is_complete(&self) -> bool {
        self.missing == 0 && !self.encoding
    }
}

/// Which of the chunks that wait are to be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// All of them.
    All,
    /// Of those that nobody encodes yet, the ones that were written as often as they have elements: more of them is hardly
    /// to come.
    Complete,
    /// Of those that nobody encodes yet, the ones that were not changed for longest; others are likely to be changed
    /// again. So many bytes are left.
    Oldest {
        /// Bytes that go on waiting.
        keep: usize,
    },
}

/// Bytes of chunks that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    /// All of them.
    pub(super) all: usize,
    /// Those that nobody encodes.
    pub(super) idle: usize,
    /// Those of them that are likely to be complete.
    pub(super) complete: usize,
}

/// A chunk as it was at some time.
pub(super) struct Snapshot {
    pub(super) scaled: Dims,
    pub(super) elements: Arc<Vec<u8>>,
    changed: u64,
}

impl Pending {
    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The most bytes that there were.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// How much waits.
    pub(super) fn load(&self) -> Load {
        let idle = self.bytes.saturating_sub(self.encoding);
        Load { all: self.bytes, idle, complete: self.complete }
    }

    /// A chunk that waits for so many elements until it is likely to be complete.
    pub(super) fn insert(&mut self, scaled: Dims, chunk: Vec<u8>, missing: u64) {
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.changes = self.changes.saturating_add(1);
        let waiting = Waiting { elements: Arc::new(chunk), changed: self.changes, encoding: false, missing };
        if waiting.is_complete() {
            self.complete = self.complete.saturating_add(waiting.elements.len());
        }
        if let Some(before) = self.chunks.insert(scaled, waiting) {
            self.count_out(&before);
        }
        #[cfg(test)]
        (self.most = self.most.max(self.bytes));
    }

    pub(super) fn remove(&mut self, scaled: &Dims) -> Option<Vec<u8>> {
        let chunk = self.chunks.remove(scaled)?;
        self.count_out(&chunk);
        Some(Arc::unwrap_or_clone(chunk.elements))
    }

    fn count_out(&mut self, chunk: &Waiting) {
        self.bytes = self.bytes.saturating_sub(chunk.elements.len());
        if chunk.encoding {
            self.encoding = self.encoding.saturating_sub(chunk.elements.len());
        }
        if chunk.is_complete() {
            self.complete = self.complete.saturating_sub(chunk.elements.len());
        }
    }

    pub(super) fn contains(&self, scaled: &Dims) -> bool {
        self.chunks.contains_key(scaled)
    }

    /// The elements of a chunk, so many of which are about to be written, if it waits. Those who encode it have it as it was.
    pub(super) fn get_mut(&mut self, scaled: &Dims, written: u64) -> Option<&mut Vec<u8>> {
        let chunk = self.chunks.get_mut(scaled)?;
        let bytes = chunk.elements.len();
        self.changes = self.changes.saturating_add(1);
        let was_complete = chunk.is_complete();
        if std::mem::take(&mut chunk.encoding) {
            self.encoding = self.encoding.saturating_sub(bytes);
        }
        chunk.changed = self.changes;
        chunk.missing = chunk.missing.saturating_sub(written);
        if chunk.is_complete() && !was_complete {
            self.complete = self.complete.saturating_add(bytes);
        }
        Some(Arc::make_mut(&mut chunk.elements))
    }

    /// The last change to those that have waited longest without one, if all but so many bytes of them are to go.
    fn oldest(&self, due: Due) -> u64 {
        let Due::Oldest { mut keep } = due else { return u64::MAX };
        let idle = self.chunks.values().filter(|chunk| !chunk.encoding);
        let mut ages: Vec<(u64, usize)> = idle.map(|chunk| (chunk.changed, chunk.elements.len())).collect();
        ages.sort_unstable_by(|one, other| other.cmp(one));
        let goes = ages.into_iter().find(|(_, bytes)| match keep.checked_sub(*bytes) {
            Some(rest) => {
                keep = rest;
                false
            }
            None => true,
        });
        goes.map_or(0, |(changed, _)| changed)
    }

    /// Chunks as they are, for somebody to encode them.
    pub(super) fn snapshots(&mut self, due: Due) -> Vec<Snapshot> {
        let until = self.oldest(due);
        let mut snapshots = Vec::new();
        for (scaled, chunk) in &mut self.chunks {
            let is_due = match due {
                Due::All => true,
                Due::Complete => chunk.is_complete(),
                Due::Oldest { .. } => !chunk.encoding && chunk.changed <= until,
            };
            if !is_due {
                continue;
            }
            if chunk.is_complete() {
                self.complete = self.complete.saturating_sub(chunk.elements.len());
            }
            if !std::mem::replace(&mut chunk.encoding, true) {
                self.encoding = self.encoding.saturating_add(chunk.elements.len());
            }
            let elements = Arc::clone(&chunk.elements);
            snapshots.push(Snapshot { scaled: scaled.clone(), elements, changed: chunk.changed });
        }
        snapshots
    }

    /// Whether a chunk still is as it was.
    pub(super) fn is_unchanged(&self, snapshot: &Snapshot) -> bool {
        self.chunks.get(&snapshot.scaled).is_some_and(|chunk| chunk.changed == snapshot.changed)
    }

    /// The chunk does not wait any more.
    pub(super) fn forget(&mut self, scaled: &Dims) {
        if let Some(chunk) = self.chunks.remove(scaled) {
            self.count_out(&chunk);
        }
    }

    /// Nobody encodes this chunk any more.
    pub(super) fn give_up(&mut self, snapshot: &Snapshot) {
        if let Some(chunk) = self.chunks.get_mut(&snapshot.scaled)
            && chunk.changed == snapshot.changed
            && std::mem::take(&mut chunk.encoding)
        {
            self.encoding = self.encoding.saturating_sub(chunk.elements.len());
            if chunk.is_complete() {
                self.complete = self.complete.saturating_add(chunk.elements.len());
            }
        }
    }

    /// Memory for a chunk; it holds anything.
    pub(super) fn room(&mut self, length: usize) -> Vec<u8> {
        self.spare.pop().filter(|room| room.len() == length).unwrap_or_else(|| vec![0; length])
    }

    /// Keeps the memory of a chunk for the next one, if nobody else has it.
    pub(super) fn keep_room(&mut self, snapshot: Snapshot) {
        if let Some(room) = Arc::into_inner(snapshot.elements).filter(|_| self.spare.len() < SPARE) {
            self.spare.push(room);
        }
    }

    /// Somebody is about to fetch a chunk from the file; gives them a number.
    pub(super) fn fetch(&mut self, scaled: &Dims) -> u64 {
        self.changes = self.changes.saturating_add(1);
        self.fetched.entry(scaled.clone()).or_default().push(self.changes);
        self.changes
    }

    /// Somebody who fetched a chunk is done with it.
    pub(super) fn fetched(&mut self, scaled: &Dims, number: u64) {
        if let Some(numbers) = self.fetched.get_mut(scaled) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.fetched.remove(scaled);
            }
        }
    }

    /// Whether a chunk that somebody fetched is still as it was in the file.
    pub(super) fn is_current(&self, scaled: &Dims, number: u64) -> bool {
        self.fetched.get(scaled).is_some_and(|numbers| numbers.contains(&number))
    }

    /// The file holds something else for this chunk now.
    pub(super) fn outdate(&mut self, scaled: &Dims) {
        self.fetched.remove(scaled);
    }

    /// As [`outdate`](Self::outdate), for all chunks.
    pub(super) fn outdate_all(&mut self) {
        self.fetched.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Dims {
        Dims::from_slice(&[number])
    }

    #[test]
    fn a_chunk_that_is_changed_while_it_is_encoded_stays() {
        let mut pending = Pending::default();
        pending.insert(at(1), vec![1; 10], 10);
        pending.insert(at(2), vec![2; 10], 10);
        let idle = Due::Oldest { keep: 0 };
        let [one, two] = <[Snapshot; 2]>::try_from(pending.snapshots(idle)).ok().unwrap();
        assert!(pending.snapshots(idle).is_empty(), "each is encoded by one");
        assert_eq!((pending.bytes(), pending.load().idle), (20, 0));
        assert_eq!(pending.snapshots(Due::All).len(), 2);
        assert_eq!((pending.bytes(), pending.load().idle), (20, 0));
        pending.get_mut(&at(1), 1).unwrap().fill(7);
        assert_eq!((pending.bytes(), pending.load().idle), (20, 10));
        assert_eq!((&*one.elements, &*two.elements), (&vec![1; 10], &vec![2; 10]));
        assert!(!pending.is_unchanged(&one) && pending.is_unchanged(&two));
        pending.forget(&at(2));
        assert!(!pending.is_unchanged(&two));
        assert_eq!((pending.bytes(), pending.load().idle), (10, 10));
        let again = pending.snapshots(idle);
        assert_eq!((again.len(), pending.load().idle), (1, 0));
        pending.give_up(again.first().unwrap());
        assert_eq!(pending.load().idle, 10);
        assert_eq!(pending.snapshots(idle).len(), 1);
        // Replaced by an equal one it is another one.
        pending.insert(at(1), vec![7; 10], 10);
        assert!(!pending.is_unchanged(again.first().unwrap()));
        assert_eq!(pending.remove(&at(1)), Some(vec![7; 10]));
        assert_eq!((pending.bytes(), pending.load().idle), (0, 0));
    }

    #[test]
    fn those_that_were_not_changed_for_longest_go_first() {
        let mut pending = Pending::default();
        (0..5).for_each(|number| pending.insert(at(number), vec![0; 10], 10));
        pending.get_mut(&at(0), 1).unwrap().fill(1);
        let names = |snapshots: &[Snapshot]| snapshots.iter().map(|one| one.scaled[0]).collect::<Vec<_>>();
        assert!(pending.snapshots(Due::Oldest { keep: 50 }).is_empty());
        assert_eq!(names(&pending.snapshots(Due::Oldest { keep: 29 })), [1, 2, 3]);
        assert_eq!(pending.load().idle, 20);
        // Those that are being encoded do not count.
        assert!(pending.snapshots(Due::Oldest { keep: 20 }).is_empty());
        assert_eq!(names(&pending.snapshots(Due::Oldest { keep: 10 })), [4]);
        (1..5).for_each(|number| pending.forget(&at(number)));
        assert_eq!((pending.bytes(), pending.load().idle), (10, 10));
        pending.insert(at(7), vec![0; 10], 10);
        assert_eq!(names(&pending.snapshots(Due::Oldest { keep: 10 })), [0]);
        assert_eq!(names(&pending.snapshots(Due::All)), [0, 7]);
    }

    #[test]
    fn complete_ones_are_known() {
        let mut pending = Pending::default();
        pending.insert(at(1), vec![1; 10], 4);
        pending.insert(at(2), vec![2; 10], 0);
        assert_eq!(pending.load().complete, 10);
        pending.get_mut(&at(1), 3).unwrap().fill(3);
        assert_eq!(pending.load().complete, 10);
        pending.get_mut(&at(1), 3).unwrap().fill(4);
        pending.get_mut(&at(1), 1).unwrap().fill(5);
        assert_eq!(pending.load().complete, 20);
        let both = pending.snapshots(Due::Complete);
        assert_eq!((both.len(), pending.load().complete, pending.load().idle), (2, 0, 0));
        assert!(pending.snapshots(Due::Complete).is_empty());
        // Changed once more it is complete once more.
        pending.get_mut(&at(1), 1).unwrap().fill(6);
        assert_eq!((pending.load().complete, pending.load().idle), (10, 10));
        both.iter().for_each(|snapshot| pending.give_up(snapshot));
        assert_eq!((pending.load().complete, pending.load().idle), (20, 20));
        pending.forget(&at(1));
        pending.remove(&at(2)).unwrap();
        assert_eq!((pending.load().complete, pending.load().idle, pending.bytes()), (0, 0, 0));
    }

    #[test]
    fn all_who_fetched_a_chunk_learn_that_it_was_replaced() {
        let mut pending = Pending::default();
        let (one, other) = (pending.fetch(&at(1)), pending.fetch(&at(1)));
        let elsewhere = pending.fetch(&at(2));
        pending.outdate(&at(1));
        assert!(!pending.is_current(&at(1), one) && pending.is_current(&at(2), elsewhere));
        // Who fetches it now has what is there now, whoever else is still on the way.
        let later = pending.fetch(&at(1));
        pending.fetched(&at(1), one);
        assert!(!pending.is_current(&at(1), other) && pending.is_current(&at(1), later));
        pending.outdate_all();
        assert!(!pending.is_current(&at(1), later) && !pending.is_current(&at(2), elsewhere));
        assert!(pending.fetched.is_empty());
    }
}
