//! Decoded chunks of which parts were written: they wait for the rest before they are encoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::Dims;

/// Chunks by their coordinates.
#[derive(Debug, Default)]
pub(super) struct Pending {
    chunks: BTreeMap<Dims, Waiting>,
    bytes: usize,
    /// How often something was changed here.
    changes: u64,
    /// Chunks of which somebody has the elements as the file holds them, on the way to put them here.
    fetched: BTreeMap<Dims, Fetched>,
}

#[derive(Debug)]
struct Waiting {
    /// Shared with those who encode them.
    elements: Arc<Vec<u8>>,
    /// Which change was the last one to it.
    changed: u64,
    /// Somebody encodes it as it is.
    encoding: bool,
}

#[derive(Debug, Default)]
struct Fetched {
    by: usize,
    /// The file holds something else by now.
    outdated: bool,
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

    pub(super) fn insert(&mut self, scaled: Dims, chunk: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.changes = self.changes.saturating_add(1);
        let waiting = Waiting { elements: Arc::new(chunk), changed: self.changes, encoding: false };
        if let Some(before) = self.chunks.insert(scaled, waiting) {
            self.bytes = self.bytes.saturating_sub(before.elements.len());
        }
    }

    pub(super) fn remove(&mut self, scaled: &Dims) -> Option<Vec<u8>> {
        let chunk = self.chunks.remove(scaled)?;
        self.bytes = self.bytes.saturating_sub(chunk.elements.len());
        Some(Arc::unwrap_or_clone(chunk.elements))
    }

    pub(super) fn contains(&self, scaled: &Dims) -> bool {
        self.chunks.contains_key(scaled)
    }

    /// The elements of a chunk, to be changed, if it waits. Those who encode it have it as it was.
    pub(super) fn get_mut(&mut self, scaled: &Dims) -> Option<&mut Vec<u8>> {
        let chunk = self.chunks.get_mut(scaled)?;
        self.changes = self.changes.saturating_add(1);
        (chunk.changed, chunk.encoding) = (self.changes, false);
        Some(Arc::make_mut(&mut chunk.elements))
    }

    /// The first chunks in C order, about so many bytes of them; `None` if there are none.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Vec<(Dims, Vec<u8>)>> {
        let mut taken = Vec::new();
        let mut sum = 0_usize;
        while sum < bytes {
            let Some((scaled, chunk)) = self.chunks.pop_first() else { break };
            sum = sum.saturating_add(chunk.elements.len());
            taken.push((scaled, Arc::unwrap_or_clone(chunk.elements)));
        }
        self.bytes = self.bytes.saturating_sub(sum);
        (!taken.is_empty()).then_some(taken)
    }

    /// All chunks as they are, or those that nobody encodes yet, for somebody to encode them.
    pub(super) fn snapshots(&mut self, all: bool) -> Vec<Snapshot> {
        let wanted = self.chunks.iter_mut().filter(|(_, chunk)| all || !chunk.encoding);
        let snapshot = |(scaled, chunk): (&Dims, &mut Waiting)| {
            chunk.encoding = true;
            Snapshot { scaled: scaled.clone(), elements: Arc::clone(&chunk.elements), changed: chunk.changed }
        };
        wanted.map(snapshot).collect()
    }

    /// Whether a chunk still is as it was.
    pub(super) fn is_unchanged(&self, snapshot: &Snapshot) -> bool {
        self.chunks.get(&snapshot.scaled).is_some_and(|chunk| chunk.changed == snapshot.changed)
    }

    /// The chunk does not wait any more.
    pub(super) fn forget(&mut self, scaled: &Dims) {
        if let Some(chunk) = self.chunks.remove(scaled) {
            self.bytes = self.bytes.saturating_sub(chunk.elements.len());
        }
    }

    /// Nobody encodes this chunk any more.
    pub(super) fn give_up(&mut self, snapshot: &Snapshot) {
        if let Some(chunk) = self.chunks.get_mut(&snapshot.scaled)
            && chunk.changed == snapshot.changed
        {
            chunk.encoding = false;
        }
    }

    /// Somebody is about to fetch a chunk from the file.
    pub(super) fn fetch(&mut self, scaled: &Dims) {
        let fetched = self.fetched.entry(scaled.clone()).or_default();
        fetched.by = fetched.by.saturating_add(1);
    }

    /// Somebody who fetched a chunk is done with it.
    pub(super) fn fetched(&mut self, scaled: &Dims) {
        if let Some(fetched) = self.fetched.get_mut(scaled) {
            fetched.by = fetched.by.saturating_sub(1);
            if fetched.by == 0 {
                self.fetched.remove(scaled);
            }
        }
    }

    /// Whether a chunk that somebody fetched is still as it was in the file.
    pub(super) fn is_current(&self, scaled: &Dims) -> bool {
        self.fetched.get(scaled).is_some_and(|fetched| !fetched.outdated)
    }

    /// The file holds something else for this chunk now.
    pub(super) fn outdate(&mut self, scaled: &Dims) {
        if let Some(fetched) = self.fetched.get_mut(scaled) {
            fetched.outdated = true;
        }
    }

    /// As [`outdate`](Self::outdate), for all chunks.
    pub(super) fn outdate_all(&mut self) {
        self.fetched.values_mut().for_each(|fetched| fetched.outdated = true);
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
        pending.insert(at(1), vec![1; 10]);
        pending.insert(at(2), vec![2; 10]);
        let [one, two] = <[Snapshot; 2]>::try_from(pending.snapshots(false)).ok().unwrap();
        assert!(pending.snapshots(false).is_empty(), "each is encoded by one");
        assert_eq!(pending.snapshots(true).len(), 2);
        pending.get_mut(&at(1)).unwrap().fill(7);
        assert_eq!((&*one.elements, &*two.elements), (&vec![1; 10], &vec![2; 10]));
        assert!(!pending.is_unchanged(&one) && pending.is_unchanged(&two));
        pending.forget(&at(2));
        assert!(!pending.is_unchanged(&two));
        assert_eq!(pending.bytes(), 10);
        let again = pending.snapshots(false);
        assert_eq!(again.len(), 1);
        pending.give_up(again.first().unwrap());
        assert_eq!(pending.snapshots(false).len(), 1);
        // Replaced by an equal one it is another one.
        pending.insert(at(1), vec![7; 10]);
        assert!(!pending.is_unchanged(again.first().unwrap()));
        assert_eq!(pending.remove(&at(1)), Some(vec![7; 10]));
        assert_eq!(pending.bytes(), 0);
    }

    #[test]
    fn all_who_fetched_a_chunk_learn_that_it_was_replaced() {
        let mut pending = Pending::default();
        pending.fetch(&at(1));
        pending.fetch(&at(1));
        pending.fetch(&at(2));
        pending.outdate(&at(1));
        assert!(!pending.is_current(&at(1)) && pending.is_current(&at(2)));
        pending.fetched(&at(1));
        assert!(!pending.is_current(&at(1)), "who is still there learns it, too");
        pending.fetched(&at(1));
        pending.fetch(&at(1));
        assert!(pending.is_current(&at(1)));
        pending.outdate_all();
        assert!(!pending.is_current(&at(1)) && !pending.is_current(&at(2)));
        pending.fetched(&at(1));
        pending.fetched(&at(2));
        assert!(pending.fetched.is_empty());
    }
}
