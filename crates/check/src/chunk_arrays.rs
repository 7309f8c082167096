//! Chunk indexes by chunk number: implicit indexes and fixed arrays.

use hyperslab_dataspace::Dims;
use hyperslab_format::chunk_index::{
    ArrayPage, ChunkElementLayout, ChunkIndexClient, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout,
};
use hyperslab_format::codec::{Address, Structure as _};

use crate::chunks::{Chunked, Indexed};
use crate::extents::BlockKind;
use crate::file::Checker;
use crate::totals::{add, end_of, start_of};

const HEADER: &str = FixedArrayHeader::NAME;

/// The map between chunk numbers in a fixed or extensible array and coordinates of chunks. Numbers
/// run in C order over the largest possible number of chunks; an unlimited dimension varies
/// slowest.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Each dimension and the number of chunks along it, slowest first; `None` for an unlimited
    /// dimension.
    dimensions: Vec<(usize, Option<u64>)>,
}

impl Numbers {
    pub(crate) fn of(max_dims: &[Option<u64>], chunk: &[u64]) -> Self {
        let counts = max_dims.iter().zip(chunk);
        let counts = counts.map(|(max, chunk)| max.map(|max| max.div_ceil((*chunk).max(1))));
        let mut dimensions: Vec<(usize, Option<u64>)> = counts.enumerate().collect();
        dimensions.sort_by_key(|(_, count)| count.is_some());
        Self { dimensions }
    }

    /// Returns the largest possible number of chunks of the dataset, or `None` if a dimension is
    /// unlimited.
    pub(crate) fn total(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(1_u64, |total, (_, count)| Some(start_of(total, (*count)?)))
    }

    /// Returns the coordinates of the chunk with the number `number` in the chunk index, in units
    /// of chunks.
    pub(crate) fn scaled(&self, number: u64) -> Dims {
        let mut scaled = Dims::from_elem(0, self.dimensions.len());
        let mut rest = number;
        for (position, (dimension, count)) in self.dimensions.iter().enumerate().rev() {
            let Some(at) = scaled.get_mut(*dimension) else { continue };
            match count.filter(|count| position > 0 && *count > 0) {
                Some(count) => {
                    *at = rest % count;
                    rest /= count;
                }
                None => *at = rest,
            }
        }
        scaled
    }
}

/// A decoder of entries of a fixed or extensible array that indexes chunks. Entries are in the
/// order of their numbers.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    indexed: &'a Indexed<'a>,
    pub(crate) numbers: Numbers,
    layout: ChunkElementLayout,
    /// One more than the greatest number of an allocated chunk.
    pub(crate) end: u64,
}

impl<'a> Elements<'a> {
    /// Returns the decoder of the entries of the fixed or extensible array whose header lies at
    /// `owner`.
    pub(crate) fn new(
        checker: &mut Checker,
        indexed: &'a Indexed<'a>,
        (client, size): (ChunkIndexClient, u8),
        structure: &'static str,
        owner: Address,
    ) -> Option<Self> {
        let layout = ChunkElementLayout::of_array(checker.params, client, size.into(), indexed.metadata_size);
        let layout = checker.decoded(structure, owner, layout)?;
        if client != indexed.client {
            checker.fault(
                structure,
                owner,
                format!("the client ID {} contradicts the dataset's filter pipeline", client.0),
            );
            return None;
        }
        let numbers = Numbers::of(&indexed.max_dims, indexed.chunk);
        Some(Self { indexed, numbers, layout, end: 0 })
    }

    /// Checks a batch of entries of a fixed or extensible array in `bytes`. The first entry has the
    /// number `first`.
    pub(crate) fn look(&mut self, checker: &mut Checker, bytes: &[u8], first: u64) {
        for (number, element) in (first..).zip(self.layout.iter(bytes)) {
            let Ok(element) = element else { return };
            if !element.address.is_defined() {
                continue;
            }
            self.end = end_of(number, 1);
            let scaled = self.numbers.scaled(number);
            (self.indexed.at_chunk)(checker, &scaled, &element);
        }
    }
}

/// Checks the chunks of a dataset with an implicit chunk index: the chunks are contiguous and have
/// no index structure.
pub(crate) fn implicit(checker: &mut Checker, chunked: &Chunked<'_>) {
    let (address, bytes) = (chunked.layout.address, chunked.chunk_bytes());
    let owner = chunked.dataset.owner;
    if chunked.dataset.pipeline.as_ref().is_none_or(|pipeline| !pipeline.is_empty()) {
        checker.fault(
            "data layout message",
            owner,
            "the dataset has an implicit chunk index, but also filters",
        );
    }
    let numbers = Numbers::of(&chunked.dataset.space.max_dims(), &chunked.layout.dims);
    let Some(total) = numbers.total() else {
        checker.fault(
            "data layout message",
            owner,
            "the dataset has an implicit chunk index, but also an unlimited dimension",
        );
        return;
    };
    if checker.claim("chunk", address, start_of(total, bytes), BlockKind::Chunk) {
        add(&mut checker.report.chunks, total);
        chunked.scan_all_of(checker, &numbers, total);
    }
}

/// Checks a fixed array that indexes chunks, and the chunks in it.
pub(crate) fn fixed(checker: &mut Checker, indexed: &Indexed<'_>) -> Option<()> {
    let (params, address) = (checker.params, indexed.address);
    let header: FixedArrayHeader = checker.block(address, &params, BlockKind::ChunkIndex)?;
    let form = (header.client, header.element_size);
    let mut elements = Elements::new(checker, indexed, form, HEADER, address)?;
    match elements.numbers.total() {
        Some(total) => {
            checker.same(HEADER, address, "number of elements", header.elements, total);
        }
        None => checker.fault(
            HEADER,
            address,
            "the dataset has a fixed array as chunk index, but also an unlimited dimension",
        ),
    }
    if !header.data_block.is_defined() {
        return None;
    }
    let layout = checker.decoded(HEADER, address, FixedArrayLayout::new(&header, address, params))?;
    let (name, at) = (FixedArrayDataBlock::NAME, header.data_block);
    if !checker.enter(name, at, layout.total_size() as u64, BlockKind::ChunkIndex) {
        return None;
    }
    let block = checker.store.get::<FixedArrayDataBlock>(at, &layout);
    let block = checker.read_or_note(name, at, block)?;
    elements.look(checker, &block.elements, 0);
    let mut first = 0_u64;
    for page in 0..layout.pages() {
        let Some(context) = layout.page(page) else { break };
        if block.is_initialised(page) {
            let start = at.checked_add(layout.page_offset(page) as u64)?;
            let found = checker.store.get::<ArrayPage>(start, &context);
            if let Some(found) = checker.read_or_note(ArrayPage::NAME, start, found) {
                elements.look(checker, &found.elements, first);
            }
        }
        add(&mut first, context.elements as u64);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_through_all_chunks_in_c_order() {
        let numbers = Numbers::of(&[Some(5), Some(6)], &[2, 3]);
        assert_eq!(numbers.total(), Some(6));
        let all: Vec<Dims> = (0..6).map(|number| numbers.scaled(number)).collect();
        let expected = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];
        assert_eq!(all, expected.map(|scaled| Dims::from_slice(&scaled)));
    }

    #[test]
    fn the_dimension_without_end_comes_first() {
        let numbers = Numbers::of(&[Some(4), None, Some(5)], &[2, 2, 2]);
        assert_eq!(numbers.total(), None);
        for (number, expected) in
            [(0, [0, 0, 0]), (1, [0, 0, 1]), (3, [1, 0, 0]), (6, [0, 1, 0]), (613, [0, 102, 1])]
        {
            assert_eq!(numbers.scaled(number).as_slice(), expected, "{number}");
        }
    }
}
