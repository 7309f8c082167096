//! Space before the committed end that was allocated since the last commit. Raw data may be written
//! there directly.

use parking_lot::RwLock;

use crate::store::ranges::{RangeList, Ranges};

/// The set of fresh addresses of the file: they are newly allocated and not yet part of a commit.
/// Several threads may read the set.
#[derive(Debug, Default)]
pub(crate) struct Fresh(RwLock<Ranges>);

impl Fresh {
    pub(super) fn insert(&self, start: u64, end: u64) {
        self.0.write().insert(start, end);
    }

    pub(super) fn remove(&self, start: u64, end: u64) -> RangeList {
        self.0.write().remove(start, end)
    }

    pub(super) fn clear(&self) {
        self.0.write().clear();
    }

    /// Splits the file addresses between `start` and `end` into ascending pieces, at the bounds of
    /// the set of newly allocated addresses. The flag of each piece is true if the piece lies in
    /// the set.
    pub(crate) fn pieces(&self, start: u64, end: u64) -> Vec<(u64, u64, bool)> {
        let mut pieces = Vec::new();
        let mut at = start;
        for (from, to) in self.0.read().within(start, end) {
            if at < from {
                pieces.push((at, from, false));
            }
            pieces.push((from, to, true));
            at = to;
        }
        if at < end {
            pieces.push((at, end, false));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_the_set_or_not() {
        let fresh = Fresh::default();
        assert_eq!(fresh.pieces(3, 9), [(3, 9, false)]);
        fresh.insert(5, 7);
        fresh.insert(8, 20);
        assert_eq!(fresh.pieces(3, 9), [(3, 5, false), (5, 7, true), (7, 8, false), (8, 9, true)]);
        assert_eq!(fresh.pieces(6, 7), [(6, 7, true)]);
        assert_eq!(fresh.pieces(7, 7), []);
        assert_eq!(fresh.pieces(20, 22), [(20, 22, false)]);
        fresh.remove(0, 6);
        assert_eq!(fresh.pieces(4, 8), [(4, 6, false), (6, 7, true), (7, 8, false)]);
    }
}
