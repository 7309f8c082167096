//! The operations on a file, drawn from numbers. Fewer and smaller numbers give a simpler case.

use hyperslab::filter::{FilterSpec, SzipCoding};
use hyperslab::{AllocationTime, FileSpace, FileSpaceStrategy, FillTime, LibraryVersion, LibverBounds};
use hyperslab::{SharedMessageIndexInfo as Index, SharedMessages};

use super::Numbers;
use super::element::{KINDS, Kind, VALUES};
use super::selection::Choice;

/// The options of a new file.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) low: LibraryVersion,
    pub(crate) user_block: u64,
    pub(crate) sizes: u8,
    pub(crate) track_order: bool,
    pub(crate) space: FileSpace,
    pub(crate) chunk_cache: u64,
    pub(crate) shared: SharedMessages,
}

impl Settings {
    pub(crate) fn draw(numbers: &mut Numbers<'_>) -> Self {
        use FileSpaceStrategy::{Aggregators, FreeSpaceAndAggregators, None as Never, Page};
        use LibraryVersion::{Earliest, V18, V110, V112, V114, V200};
        let low = numbers.one_of(&[V18, Earliest, V110, V200, V112, V114]);
        let new = low >= V110;
        let space = FileSpace {
            strategy: numbers.one_of(&[FreeSpaceAndAggregators, Page, Aggregators, Never]),
            persist: numbers.below(2) == 1,
            threshold: numbers.one_of(&[1, 1, 50]),
            page_size: numbers.one_of(&[4096, 512, 16384]),
        };
        let usual =
            FileSpace { strategy: FreeSpaceAndAggregators, persist: false, threshold: 1, page_size: 4096 };
        let managed = matches!(space.strategy, FreeSpaceAndAggregators | Page);
        let space = FileSpace { persist: space.persist && managed, ..space };
        let user_block = numbers.one_of(&[0_u64, 0, 512, 2048]);
        let paged = new && space.strategy == Page;
        Self {
            low,
            // The size of a user block is a multiple of the page size.
            user_block: if paged { user_block.next_multiple_of(space.page_size) } else { user_block },
            sizes: numbers.one_of(&[8, 8, 4]),
            track_order: numbers.below(2) == 1,
            space: if new { space } else { usual },
            chunk_cache: numbers.one_of(&[1 << 20, 0, 200]),
            shared: draw_shared(numbers),
        }
    }

    pub(crate) fn bounds(&self) -> LibverBounds {
        LibverBounds::new(self.low, LibraryVersion::LATEST).unwrap()
    }
}

fn draw_shared(numbers: &mut Numbers<'_>) -> SharedMessages {
    let least = numbers.one_of(&[1, 0, 20, 60]);
    let all = |types: &[u16]| types.iter().map(|types| Index { types: *types, min_size: least }).collect();
    let rest = Index::FILL_VALUES | Index::FILTER_PIPELINES;
    let indexes = match numbers.below(8) {
        1 => all(&[Index::ALL]),
        2 => all(&[Index::ATTRIBUTES, Index::DATASPACES | Index::DATATYPES, rest]),
        3 => all(&[Index::DATASPACES | Index::DATATYPES | rest]),
        4 => all(&[Index::ATTRIBUTES]),
        _ => Vec::new(),
    };
    let (max_list, min_btree) = numbers.one_of(&[(50, 40), (0, 0), (3, 2), (6, 7), (1000, 0)]);
    SharedMessages { indexes, max_list, min_btree }
}

/// The storage of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Contiguous,
    Compact,
    Chunked,
}

/// The properties of a new dataset.
#[derive(Debug, Clone)]
pub(crate) struct Make {
    pub(crate) kind: Kind,
    pub(crate) dims: Vec<u64>,
    /// For chunks only.
    pub(crate) max_dims: Vec<Option<u64>>,
    pub(crate) stored: Stored,
    pub(crate) chunk: Vec<u64>,
    pub(crate) filters: u64,
    pub(crate) edges_unfiltered: bool,
    pub(crate) fill: Option<u8>,
    pub(crate) fill_time: FillTime,
    pub(crate) allocation_time: AllocationTime,
    pub(crate) track_order: bool,
    pub(crate) track_times: bool,
}

impl Make {
    fn draw(numbers: &mut Numbers<'_>) -> Self {
        let kind = numbers.one_of(&KINDS);
        let rank = numbers.one_of(&[1_usize, 2, 1, 3, 0]);
        let longest = [200, 40, 9][rank.saturating_sub(1)];
        let dims: Vec<u64> = (0..rank).map(|_| numbers.below(longest)).collect();
        let max_dims: Vec<Option<u64>> = dims
            .iter()
            .map(|size| match numbers.below(3) {
                0 => Some(*size),
                1 => None,
                _ => Some(size + 20),
            })
            .collect();
        use AllocationTime::{Default, Early, Incremental, Late};
        Self {
            kind,
            stored: numbers.one_of(&[Stored::Chunked, Stored::Contiguous, Stored::Chunked, Stored::Compact]),
            chunk: dims
                .iter()
                .zip(&max_dims)
                .map(|(_, maximum)| 1 + numbers.below(10).min(maximum.unwrap_or(10).saturating_sub(1)))
                .collect(),
            max_dims,
            dims,
            filters: numbers.below(9),
            edges_unfiltered: numbers.below(4) == 1,
            fill: [None, Some(numbers.below(VALUES) as u8)][numbers.below(2) as usize],
            fill_time: numbers.one_of(&[FillTime::IfSet, FillTime::IfSet, FillTime::Allocation]),
            allocation_time: numbers.one_of(&[Default, Default, Early, Incremental, Late]),
            track_order: numbers.below(3) == 1,
            track_times: numbers.below(3) == 1,
        }
    }

    pub(crate) fn filters(&self) -> Vec<FilterSpec> {
        let szip = FilterSpec::szip(SzipCoding::NearestNeighbour, 8);
        match self.filters {
            1 => vec![FilterSpec::deflate(3)],
            2 => vec![FilterSpec::shuffle(), FilterSpec::deflate(6)],
            3 => vec![FilterSpec::fletcher32()],
            4 => vec![FilterSpec::shuffle(), FilterSpec::lzf(), FilterSpec::fletcher32()],
            5 if self.kind.is_number() => vec![szip],
            6 => vec![FilterSpec::nbit()],
            7 if self.kind.is_integer() => vec![FilterSpec::scale_offset_int(0)],
            8 => vec![FilterSpec::shuffle()],
            _ => vec![],
        }
    }
}

/// One operation. Numbers choose among the existing objects.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Group { parent: u64, name: String, track_order: bool, phases: Option<(u16, u16)> },
    Dataset { parent: u64, name: String, make: Make },
    Write { dataset: u64, choice: Choice, seed: u8, converted: bool, old_handle: bool },
    Read { dataset: u64, choice: Choice, old_handle: bool },
    Resize { dataset: u64, dims: [u16; 3] },
    Append { dataset: u64, axis: u64, count: u64, seed: u8 },
    SoftLinks { parent: u64, name: String, count: u64, target: String },
    ExternalLink { parent: u64, name: String },
    HardLink { parent: u64, name: String, object: u64 },
    Remove { link: u64 },
    RemoveMany { parent: u64, keep: u64 },
    Rename { link: u64, parent: u64, name: String },
    SetAttributes { object: u64, name: String, kind: Kind, size: u64, seed: u8, count: u64 },
    RenameAttribute { object: u64, attribute: u64, name: String },
    RemoveAttributes { object: u64, first: u64, count: u64 },
    Flush,
    Reopen { low: LibraryVersion },
}

fn name(numbers: &mut Numbers<'_>) -> String {
    let number = numbers.below(12);
    match number {
        9 => "a name that takes more room than most names of links and attributes do".repeat(3),
        10 => "größer".into(),
        11 => "with spaces".into(),
        _ => format!("n{number}"),
    }
}

impl Operation {
    #[rustfmt::skip]
    pub(crate) fn draw(numbers: &mut Numbers<'_>) -> Self {
        let any = 1 << 16;
        let seed = |numbers: &mut Numbers<'_>| numbers.below(VALUES) as u8;
        match numbers.below(24) {
            0 | 1 => Self::Dataset { parent: numbers.below(any), name: name(numbers), make: Make::draw(numbers) },
            2 => Self::Group {
                parent: numbers.below(any), name: name(numbers), track_order: numbers.below(2) == 1,
                phases: numbers.one_of(&[None, Some((2, 1)), Some((0, 0)), Some((4, 4))]),
            },
            3..=6 => Self::Write {
                dataset: numbers.below(any), choice: Choice::draw(numbers), seed: seed(numbers),
                converted: numbers.below(3) == 1, old_handle: numbers.below(3) == 1,
            },
            7 => Self::Read { dataset: numbers.below(any), choice: Choice::draw(numbers), old_handle: numbers.below(2) == 1 },
            8 | 9 => Self::Resize { dataset: numbers.below(any), dims: std::array::from_fn(|_| numbers.below(any) as u16) },
            10 | 11 => Self::Append { dataset: numbers.below(any), axis: numbers.below(3), count: numbers.below(7), seed: seed(numbers) },
            12 => Self::SoftLinks { parent: numbers.below(any), name: name(numbers), count: numbers.one_of(&[1, 1, 10, 40]), target: name(numbers) },
            13 => Self::ExternalLink { parent: numbers.below(any), name: name(numbers) },
            14 => Self::HardLink { parent: numbers.below(any), name: name(numbers), object: numbers.below(any) },
            15 => Self::Remove { link: numbers.below(any) },
            16 => Self::RemoveMany { parent: numbers.below(any), keep: numbers.below(9) },
            17 => Self::Rename { link: numbers.below(any), parent: numbers.below(any), name: name(numbers) },
            18 | 19 => Self::SetAttributes {
                object: numbers.below(any), name: name(numbers), kind: numbers.one_of(&KINDS),
                size: numbers.one_of(&[1, 3, 0, 100, 2000, 20_000]), seed: seed(numbers), count: numbers.one_of(&[1, 1, 4, 12]),
            },
            20 => Self::RenameAttribute { object: numbers.below(any), attribute: numbers.below(any), name: name(numbers) },
            21 => Self::RemoveAttributes { object: numbers.below(any), first: numbers.below(any), count: numbers.one_of(&[1, 5, 100]) },
            22 => Self::Flush,
            _ => Self::Reopen { low: numbers.one_of(&[
                LibraryVersion::Earliest, LibraryVersion::V18, LibraryVersion::V110, LibraryVersion::V114, LibraryVersion::V200,
            ]) },
        }
    }
}
