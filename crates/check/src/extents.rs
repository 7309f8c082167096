//! The extents of all blocks in the file.

use std::ops::Range;

use crate::totals::end_of;

/// The kind of a block of the file. The kind is the structure that the block stores, such as an
/// object header or a B-tree node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// The superblock.
    Superblock,
    /// The driver information block.
    DriverInformation,
    /// An object header or a continuation block.
    ObjectHeader,
    /// A node of a version 1 B-tree of a group.
    GroupBTree,
    /// A symbol table node.
    SymbolTableNode,
    /// The header or data segment of a local heap.
    LocalHeap,
    /// The header or a node of a version 2 B-tree, except those of chunk indexes.
    BTreeV2,
    /// A header or block of a fractal heap.
    FractalHeap,
    /// A huge object of a fractal heap.
    HugeObject,
    /// The header or section list of a free-space manager.
    FreeSpaceManager,
    /// A table or list of shared messages.
    SharedMessages,
    /// A collection of the global heap.
    GlobalHeap,
    /// The metadata cache image.
    CacheImage,
    /// A header, node or block of a chunk index.
    ChunkIndex,
    /// A chunk.
    Chunk,
    /// Contiguous raw data.
    Contiguous,
    /// Free space that a free-space manager of the file records.
    Free,
}

impl BlockKind {
    /// Returns the name of the kind of a file block, for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superblock => "superblock",
            Self::DriverInformation => "driver information block",
            Self::ObjectHeader => "object headers",
            Self::GroupBTree => "B-trees of groups",
            Self::SymbolTableNode => "symbol table nodes",
            Self::LocalHeap => "local heaps",
            Self::BTreeV2 => "version 2 B-trees",
            Self::FractalHeap => "fractal heaps",
            Self::HugeObject => "huge objects",
            Self::FreeSpaceManager => "free-space managers",
            Self::SharedMessages => "shared message indexes",
            Self::GlobalHeap => "global heap",
            Self::CacheImage => "metadata cache image",
            Self::ChunkIndex => "chunk indexes",
            Self::Chunk => "chunks",
            Self::Contiguous => "contiguous raw data",
            Self::Free => "free space",
        }
    }
}

/// A range of bytes of the file that a block uses, with the kind of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    start: u64,
    end: u64,
    kind: BlockKind,
}

/// A range of bytes of the file that two blocks use at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overlap {
    /// Start of the shared extent.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The kinds of the two blocks, in the order of their starts.
    pub(crate) kinds: [BlockKind; 2],
}

/// The number of recorded byte ranges at which the check joins adjacent ranges for the first time.
/// Each range belongs to a block of the file.
const FIRST_JOIN_CLAIMS: usize = 1 << 20;
/// The largest number of overlaps between file blocks that are recorded.
const MAX_OVERLAPS: usize = 1000;

/// All ranges of bytes that blocks of the file use. The check joins adjacent ranges of blocks of
/// the same kind from time to time, so that the list stays short even if the file has many blocks.
#[derive(Debug)]
pub(crate) struct Extents {
    claims: Vec<Claim>,
    next_join: usize,
    overlaps: Vec<Overlap>,
}

impl Extents {
    pub(crate) fn new() -> Self {
        Self { claims: Vec::new(), next_join: FIRST_JOIN_CLAIMS, overlaps: Vec::new() }
    }

    /// Claims `length` bytes of the file at the address `start` for a block of the given kind:
    /// records that the block uses these bytes. A length of 0 claims nothing.
    pub(crate) fn claim(&mut self, start: u64, length: u64, kind: BlockKind) {
        if length == 0 {
            return;
        }
        self.claims.push(Claim { start, end: end_of(start, length), kind });
        if self.claims.len() >= self.next_join {
            self.join();
            self.next_join = self.claims.len().saturating_mul(2).max(FIRST_JOIN_CLAIMS);
        }
    }

    /// Joins adjacent byte ranges of blocks of one kind, and records overlaps of ranges. Afterwards
    /// the ranges are sorted, and no two ranges overlap.
    fn join(&mut self) {
        self.claims.sort_unstable();
        let mut joined: Vec<Claim> = Vec::new();
        for claim in std::mem::take(&mut self.claims) {
            let Some(last) = joined.last_mut() else {
                joined.push(claim);
                continue;
            };
            if claim.start < last.end && self.overlaps.len() < MAX_OVERLAPS {
                let end = claim.end.min(last.end);
                self.overlaps.push(Overlap { start: claim.start, end, kinds: [last.kind, claim.kind] });
            }
            let start = claim.start.max(last.end);
            if claim.end <= last.end {
                continue;
            }
            if claim.kind == last.kind && start == last.end {
                last.end = claim.end;
            } else {
                joined.push(Claim { start, ..claim });
            }
        }
        self.claims = joined;
    }

    /// Returns the ranges of bytes that two blocks use, and the ranges of bytes of the file from 0
    /// to `end` that no block uses.
    pub(crate) fn finish(mut self, end: u64) -> (Vec<Overlap>, Vec<Range<u64>>) {
        self.join();
        let mut gaps = Vec::new();
        let mut at = 0;
        for claim in &self.claims {
            if claim.start > at && at < end {
                gaps.push(at..claim.start.min(end));
            }
            at = at.max(claim.end);
        }
        if at < end {
            gaps.push(at..end);
        }
        (self.overlaps, gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(claims: &[(u64, u64, BlockKind)], end: u64) -> (Vec<Overlap>, Vec<Range<u64>>) {
        let mut extents = Extents::new();
        for (start, length, kind) in claims {
            extents.claim(*start, *length, *kind);
        }
        extents.finish(end)
    }

    #[test]
    fn gaps_are_what_nobody_has() {
        let claims = [
            (10, 10, BlockKind::Chunk),
            (0, 5, BlockKind::Superblock),
            (20, 5, BlockKind::Chunk),
            (40, 0, BlockKind::Chunk),
        ];
        assert_eq!(finish(&claims, 30), (vec![], vec![5..10, 25..30]));
        let gap = |range: Range<u64>| (vec![], Vec::from([range]));
        assert_eq!(finish(&claims, 22), gap(5..10));
        assert_eq!(finish(&[], 7), gap(0..7));
    }

    #[test]
    fn overlaps_are_found_whatever_lies_between() {
        let claims = [
            (0, 100, BlockKind::Contiguous),
            (10, 5, BlockKind::Chunk),
            (20, 5, BlockKind::Chunk),
            (90, 20, BlockKind::Free),
        ];
        let (overlaps, gaps) = finish(&claims, 110);
        let found: Vec<_> =
            overlaps.iter().map(|overlap| (overlap.start, overlap.end, overlap.kinds[1])).collect();
        assert_eq!(
            found,
            [(10, 15, BlockKind::Chunk), (20, 25, BlockKind::Chunk), (90, 100, BlockKind::Free)]
        );
        assert_eq!(gaps, []);
    }

    #[test]
    fn the_same_block_twice_is_an_overlap() {
        let (overlaps, _) = finish(&[(8, 8, BlockKind::Chunk), (8, 8, BlockKind::Chunk)], 16);
        assert_eq!(overlaps, [Overlap { start: 8, end: 16, kinds: [BlockKind::Chunk; 2] }]);
    }

    #[test]
    fn joining_on_the_way_changes_nothing() {
        let mut extents = Extents { next_join: 4, ..Extents::new() };
        for number in (0..1000).rev() {
            extents.claim(number * 8, 8, BlockKind::Chunk);
            if number % 7 == 0 {
                extents.join();
            }
        }
        extents.claim(80, 1, BlockKind::Free);
        let (overlaps, gaps) = extents.finish(8000);
        assert_eq!(overlaps.len(), 1);
        assert_eq!(gaps, []);
    }
}
