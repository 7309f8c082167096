//! Space against a model that knows every byte.

use hyperslab_format::message::{FileSpaceInfo, FileSpaceStrategy};
use proptest::prelude::*;

use super::*;

const KINDS: [SpaceKind; 6] = [
    SpaceKind::Superblock,
    SpaceKind::BTree,
    SpaceKind::RawData,
    SpaceKind::GlobalHeap,
    SpaceKind::LocalHeap,
    SpaceKind::ObjectHeader,
];

#[derive(Debug, Clone, Copy)]
enum Step {
    Allocate(usize, u64),
    Free(usize),
    /// Frees the bytes of a block after its first bytes.
    Shrink(usize, u64),
    Extend(usize, u64),
    Commit,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![4 => 1_u64..200, 2 => 200_u64..3000, 1 => Just(512_u64), 1 => 3000_u64..9000];
    let any = 0_usize..1000;
    let step = prop_oneof![
        6 => (0_usize..6, length.clone()).prop_map(|(kind, length)| Step::Allocate(kind, length)),
        5 => any.clone().prop_map(Step::Free),
        1 => (any.clone(), 0_u64..1000).prop_map(|(block, length)| Step::Shrink(block, length)),
        2 => (any, length).prop_map(|(block, more)| Step::Extend(block, more)),
        1 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..150)
}

fn rules() -> impl Strategy<Value = Rules> {
    let strategy = prop::sample::select(vec![
        FileSpaceStrategy::FreeSpaceAndAggregators,
        FileSpaceStrategy::Page,
        FileSpaceStrategy::Aggregators,
        FileSpaceStrategy::None,
    ]);
    let page = prop::sample::select(vec![512_u64, 1000, 4096]);
    let thresholds = (prop::sample::select(vec![1_u64, 64]), prop::sample::select(vec![0_u16, 30]));
    let blocks = prop::sample::select(vec![0_u64, 100, 2048]);
    let alignment = (prop::sample::select(vec![1_u64, 8, 1000]), prop::sample::select(vec![1_u64, 300]));
    (strategy, page, thresholds, blocks, alignment).prop_map(
        |(strategy, page_size, thresholds, block, alignment)| {
            let (threshold, page_end_threshold) = thresholds;
            let info = FileSpaceInfo {
                strategy,
                page_size,
                threshold,
                page_end_threshold,
                ..FileSpaceInfo::DEFAULT
            };
            let (alignment, alignment_threshold) = alignment;
            let placement =
                BlockPlacement { metadata_block: block, raw_block: block, alignment_threshold, alignment };
            Rules::new(&info, placement, u64::MAX)
        },
    )
}

/// The state of every byte, and all blocks.
struct Model {
    space: Space,
    blocks: Vec<(SpaceKind, u64, u64)>,
    /// True if a byte belongs to a block: now, and at the last commit.
    used: Vec<bool>,
    committed: Vec<bool>,
    /// Bytes that earlier sessions lost.
    leaked: u64,
}

impl Model {
    fn new(rules: Rules) -> Self {
        let space = Space::new(rules, 0);
        Self { space, blocks: Vec::new(), used: Vec::new(), committed: Vec::new(), leaked: 0 }
    }

    fn use_bytes(&mut self, start: u64, length: u64) {
        let range = to_usize(start)..to_usize(start + length);
        if self.used.len() < range.end {
            self.used.resize(range.end, false);
        }
        for at in range {
            assert!(!self.used[at], "byte {at} has an owner");
            assert!(
                !self.committed.get(at).copied().unwrap_or(false),
                "byte {at} is part of the committed file"
            );
            self.used[at] = true;
        }
    }

    fn leave_bytes(&mut self, start: u64, length: u64) {
        self.used[to_usize(start)..to_usize(start + length)].fill(false);
    }

    fn step(&mut self, step: Step) {
        let rules = self.space.rules;
        match step {
            Step::Allocate(kind, length) => {
                let kind = KINDS[kind];
                let start = self.space.allocate(kind, length).unwrap().raw();
                self.use_bytes(start, length);
                self.blocks.push((kind, start, length));
                self.check_place(start, length);
            }
            Step::Free(block) if !self.blocks.is_empty() => {
                let (kind, start, length) = self.blocks.swap_remove(block % self.blocks.len());
                self.space.free(kind, Address::new(start), length);
                self.leave_bytes(start, length);
            }
            Step::Shrink(block, new) if !self.blocks.is_empty() => {
                let block = block % self.blocks.len();
                let (kind, start, length) = self.blocks[block];
                if self.space.try_shrink(kind, Address::new(start), length, new) {
                    self.leave_bytes(start + new, length - new);
                    self.blocks[block].2 = new;
                }
            }
            Step::Extend(block, more) if !self.blocks.is_empty() => {
                let block = block % self.blocks.len();
                let (kind, start, length) = self.blocks[block];
                let at_end = start + length == self.space.end();
                if self.space.try_extend(kind, Address::new(start), length, more).unwrap() {
                    self.use_bytes(start + length, more);
                    self.blocks[block].2 += more;
                } else {
                    assert!(!at_end || rules.page.is_some(), "a block at the end grows");
                }
            }
            Step::Commit => self.commit(),
            Step::Reopen => self.reopen(),
            Step::Free(_) | Step::Shrink(..) | Step::Extend(..) => {}
        }
        self.check();
    }

    /// Checks that blocks keep to their pages, or to their alignment.
    fn check_place(&self, start: u64, length: u64) {
        let rules = &self.space.rules;
        match rules.page {
            Some(page) if length >= page => assert_eq!(start % page, 0),
            Some(page) => assert_eq!(start / page, (start + length - 1) / page),
            None => assert_eq!(start % rules.alignment(length), 0),
        }
    }

    fn commit(&mut self) {
        self.space.commit();
        self.committed.clone_from(&self.used);
        assert_eq!(self.space.usage().pending, 0);
    }

    /// Makes the last commit of a session, and opens the file in the next session.
    fn reopen(&mut self) {
        self.space.release_blocks();
        self.commit();
        let last = self.blocks.iter().map(|(_, start, length)| start + length).max().unwrap_or(0);
        if self.space.rules.tracks && self.space.rules.threshold <= 1 && self.leaked + self.space.lost == 0 {
            let page = self.space.rules.page.unwrap_or(1);
            assert_eq!(self.space.end(), last.next_multiple_of(page), "the tail is cut off");
        }
        if let Some(page) = self.space.rules.page {
            assert_eq!(self.space.end() % page, 0);
        }
        let stored = StoredSpace::of(&self.space);
        self.leaked += self.space.lost;
        let mut space = Space::new(self.space.rules, self.space.end());
        space.adopt(&stored);
        assert!(!space.has_changed());
        if self.space.rules.threshold <= 1 && self.space.rules.page_end_threshold == 0 {
            assert_eq!(StoredSpace::of(&space), stored);
        }
        self.space = space;
    }

    /// Checks that every byte is allocated, free, pending or lost.
    fn check(&self) {
        let usage = self.space.usage();
        let used = self.used.iter().filter(|used| **used).count() as u64;
        assert_eq!(used, self.blocks.iter().map(|(.., length)| length).sum::<u64>());
        assert_eq!(used + usage.free + usage.pending + usage.lost + self.leaked, usage.end);
        let gone =
            |(at, committed): (usize, &bool)| *committed && !self.used.get(at).copied().unwrap_or(false);
        assert_eq!(
            usage.pending,
            self.committed.iter().enumerate().filter(|both| gone(*both)).count() as u64
        );
        for pool in &self.space.pools {
            let sections = pool.sections();
            assert_eq!(sections.iter().map(|(_, length)| length).sum::<u64>(), pool.bytes());
            for (start, length) in sections {
                let used = self.used.iter().skip(to_usize(start)).take(to_usize(length));
                assert!(used.clone().all(|used| !used), "what is free has an owner");
            }
        }
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn every_byte_is_accounted_for(rules in rules(), steps in steps()) {
        let mut model = Model::new(rules);
        for step in steps {
            model.step(step);
        }
    }

    #[test]
    fn nonsense_is_survived(
        rules in rules(),
        calls in prop::collection::vec((0_u8..4, 0_usize..6, any::<(u64, u64, u64)>(), 0_u32..64), 1..60),
    ) {
        let mut space = Space::new(rules, 1 << 40);
        for (subject, kind, (a, b, c), shift) in calls {
            let (address, length, more) = (Address::new(a >> shift), b >> shift, c >> shift);
            match subject {
                0 => drop(space.allocate(KINDS[kind], length)),
                1 => space.free(KINDS[kind], address, length),
                2 => drop(space.try_extend(KINDS[kind], address, length, more)),
                _ => space.commit(),
            }
        }
    }
}

fn default_rules() -> Rules {
    Rules::new(&FileSpaceInfo::DEFAULT, BlockPlacement::default(), u64::MAX)
}

#[test]
fn small_pieces_lie_together() {
    let mut space = Space::new(default_rules(), 0);
    let mut allocate = |kind, length| space.allocate(kind, length).unwrap().raw();
    assert_eq!(allocate(SpaceKind::Superblock, 48), 0);
    assert_eq!(allocate(SpaceKind::RawData, 100), 2048);
    assert_eq!(allocate(SpaceKind::ObjectHeader, 300), 48);
    assert_eq!(allocate(SpaceKind::GlobalHeap, 1000), 2148);
    // The block at the end grows. The other block is left for smaller pieces.
    assert_eq!(allocate(SpaceKind::RawData, 5000), 3148);
    assert_eq!(allocate(SpaceKind::ObjectHeader, 2000), 8148);
    assert_eq!(allocate(SpaceKind::BTree, 1700), 348);
}

#[test]
fn what_was_allocated_since_the_commit_is_used_again_at_once() {
    let mut space = Space::new(default_rules(), 0);
    let first = space.allocate(SpaceKind::RawData, 5000).unwrap();
    let other = space.allocate(SpaceKind::RawData, 5000).unwrap();
    space.commit();
    space.free(SpaceKind::RawData, first, 5000);
    assert_eq!(space.usage().pending, 5000);
    assert_ne!(space.allocate(SpaceKind::RawData, 5000).unwrap(), first);
    space.commit();
    // The bytes come from a free section in the middle of the committed file.
    assert_eq!(space.allocate(SpaceKind::RawData, 5000).unwrap(), first);
    space.free(SpaceKind::RawData, first, 5000);
    assert_eq!(space.usage().pending, 0);
    assert_eq!(space.allocate(SpaceKind::RawData, 4000).unwrap(), first);
    space.free(SpaceKind::RawData, other, 5000);
    assert_eq!(space.usage().pending, 5000);
}

#[test]
fn replacing_everything_again_and_again_asks_for_commits() {
    let mut space = Space::new(default_rules(), 0);
    let mut blocks: Vec<Address> =
        (0..1000).map(|_| space.allocate(SpaceKind::RawData, 3000).unwrap()).collect();
    space.commit();
    let first = space.end();
    for _ in 0..3 {
        for block in &mut blocks {
            space.free(SpaceKind::RawData, *block, 3000);
            if space.wants_commit(MIN_PENDING_BYTES) {
                space.commit();
            }
            *block = space.allocate(SpaceKind::RawData, 3000).unwrap();
        }
    }
    assert!(space.end() <= first + first / 20, "{} of {first}", space.end());
}

#[test]
fn addresses_stay_inside_their_width() {
    let mut space = Space::new(Rules::new(&FileSpaceInfo::DEFAULT, BlockPlacement::default(), 0xffff), 0);
    assert!(space.allocate(SpaceKind::RawData, 0xfffe).is_ok());
    let error = space.allocate(SpaceKind::RawData, 1).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Limit);
    assert!(space.allocate(SpaceKind::RawData, u64::MAX).is_err());
}
