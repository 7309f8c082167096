//! The bytes of the file that the commits of a journal change or rely on.

use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_format::journal::SECTOR;
use parking_lot::RwLock;

use crate::store::ranges::Ranges;

/// The file offsets of all bytes that the journal's commits change or rely on. While the journal
/// holds these commits, new contents of these bytes are written first to the journal and then to
/// the file.
#[derive(Debug, Default)]
pub(in crate::store) struct KnownBytes {
    ranges: RwLock<Ranges>,
    /// The end of the last range.
    end: AtomicU64,
}

impl KnownBytes {
    /// Returns the end of the last range of the bytes that the journal's commits change or rely on.
    pub(in crate::store) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Returns parts of the file range between `start` and `end`: the sectors with bytes that the
    /// journal's commits change or rely on.
    pub(in crate::store) fn parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        if start >= self.end() {
            return Vec::new();
        }
        let sector_start = |offset: u64| offset - offset % SECTOR;
        // The last sector of all offsets ends at the largest offset.
        let sector_end = |offset: u64| offset.checked_next_multiple_of(SECTOR).unwrap_or(u64::MAX);
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for (from, to) in self.ranges.read().within(sector_start(start), sector_end(end)) {
            let (from, to) = (sector_start(from).max(start), sector_end(to).min(end));
            match parts.last_mut() {
                // Two ranges in one sector.
                Some(last) if last.1 >= from => last.1 = last.1.max(to),
                _ if from < to => parts.push((from, to)),
                _ => {}
            }
        }
        parts
    }

    pub(super) fn add(&self, start: u64, end: u64) {
        self.ranges.write().insert(start, end);
        self.end.fetch_max(end, Ordering::AcqRel);
    }

    pub(super) fn clear(&self) {
        self.end.store(0, Ordering::Release);
        self.ranges.write().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_sectors() {
        let known = KnownBytes::default();
        assert!(known.parts(0, 10_000).is_empty());
        known.add(100, 110);
        known.add(300, 310);
        known.add(1500, 1600);
        assert_eq!(known.end(), 1600);
        assert_eq!(known.parts(0, 10_000), [(0, 512), (1024, 2048)]);
        assert_eq!(known.parts(400, 1030), [(400, 512), (1024, 1030)]);
        assert_eq!(known.parts(512, 1024), []);
        assert_eq!(known.parts(1599, 1700), [(1599, 1700)], "the sector of the last known bytes");
        assert_eq!(known.parts(1600, 1700), [], "bytes after the last known byte do not change known bytes");
        known.clear();
        assert!(known.parts(0, 10_000).is_empty());
    }
}
