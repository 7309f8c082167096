//! Chunks of datasets: their extents in the file, their coordinates, and their elements.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use hyperslab_engine::{Error, memory};
use hyperslab_filter::{ChunkTarget, Scratch};
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node};
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, ChunkRecord, ChunkRecordContext, types};
use hyperslab_format::chunk_index::{ChunkElement, ChunkIndexClient};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::{ChunkFlags, ChunkIndexParameters, ChunkedLayout};

use crate::btree_v1::{self, Key, Leaves};
use crate::btree_v2::Tree;
use crate::dataset::Dataset;
use crate::elements;
use crate::extents::BlockKind;
use crate::file::{Checker, to_usize};
use crate::totals::{end_of, product, start_of};
use crate::{btree_v2, chunk_arrays};

const NAME: &str = "chunk";
const LAYOUT: &str = "data layout message";

/// A dataset with chunked layout, under check.
#[derive(Debug)]
pub(crate) struct Chunked<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) layout: &'a ChunkedLayout,
    /// Bytes of a decoded chunk.
    chunk_bytes: u64,
    /// Stored bytes of a chunk, if they do not depend on the chunk's elements.
    stored_bytes: Option<u64>,
    /// The bits of a filter mask that stand for a filter of the pipeline.
    mask: u32,
}

/// The address, size and filter mask of a stored chunk according to the chunk index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredChunk {
    pub(crate) address: Address,
    /// Stored bytes and filter mask; `None` if the index does not store them.
    pub(crate) filtered: Option<(u64, u32)>,
}

/// A function that receives each chunk of a chunk index: the chunk's coordinates and its index
/// entry.
pub(crate) type AtChunk<'a> = dyn Fn(&mut Checker, &[u64], &ChunkElement<'_>) + 'a;

/// A chunk index of any kind, under check.
pub(crate) struct Indexed<'a> {
    /// Address of the index header.
    pub(crate) address: Address,
    /// Elements of a chunk along each dimension.
    pub(crate) chunk: &'a [u64],
    /// Largest dimensions of the dataset; `None` for an unlimited dimension.
    pub(crate) max_dims: Vec<Option<u64>>,
    /// The expected client of the array. Record types of B-trees use the same numbers plus 10.
    pub(crate) client: ChunkIndexClient,
    /// Metadata bytes of a structured chunk in the index.
    pub(crate) metadata_size: usize,
    /// The function that checks each chunk.
    pub(crate) at_chunk: &'a AtChunk<'a>,
}

impl std::fmt::Debug for Indexed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Indexed").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Checks the chunk index and all chunks of a dataset.
pub(crate) fn check(checker: &mut Checker, dataset: &Dataset, layout: &ChunkedLayout) {
    let owner = dataset.owner;
    checker.same(LAYOUT, owner, "bytes of an element", layout.element_size, dataset.datatype.size.into());
    if layout.dims.len() != dataset.space.rank() {
        let text =
            format!("chunks of rank {} in a dataset of rank {}", layout.dims.len(), dataset.space.rank());
        checker.fault(LAYOUT, owner, text);
        return;
    }
    let chunk_bytes = product(layout.dims.iter().copied().chain([layout.element_size]));
    let mut chunked = Chunked { dataset, layout, chunk_bytes, stored_bytes: None, mask: 0 };
    if let Some(pipeline) = &dataset.pipeline {
        chunked.mask = match pipeline.stages.len() {
            stages @ 0..32 => (1 << stages) - 1,
            _ => u32::MAX,
        };
        if pipeline.is_empty() {
            chunked.stored_bytes = Some(chunk_bytes);
        }
    }
    if !layout.address.is_defined() {
        return;
    }
    let filtered = dataset.pipeline.as_ref().is_none_or(|pipeline| !pipeline.is_empty());
    let at_chunk = |checker: &mut Checker, scaled: &[u64], element: &ChunkElement<'_>| {
        let filtered = filtered.then_some((element.size, element.filter_mask));
        chunked.chunk(checker, scaled, StoredChunk { address: element.address, filtered });
    };
    let indexed = Indexed {
        address: layout.address,
        chunk: &layout.dims,
        max_dims: dataset.space.max_dims().to_vec(),
        client: if filtered { ChunkIndexClient::FILTERED } else { ChunkIndexClient::CHUNKS },
        metadata_size: 0,
        at_chunk: &at_chunk,
    };
    match &layout.index {
        ChunkIndexParameters::BTreeV1 => chunked.btree_v1(checker),
        ChunkIndexParameters::Single(filtered) => {
            let filtered = filtered.map(|chunk| (chunk.size, chunk.filter_mask));
            let first = Dims::from_elem(0, layout.dims.len());
            chunked.chunk(checker, &first, StoredChunk { address: layout.address, filtered });
        }
        ChunkIndexParameters::Implicit => chunk_arrays::implicit(checker, &chunked),
        ChunkIndexParameters::FixedArray(_) => drop(chunk_arrays::fixed(checker, &indexed)),
        ChunkIndexParameters::ExtensibleArray(_) => drop(crate::extensible_array::walk(checker, &indexed)),
        ChunkIndexParameters::BTreeV2(_) => drop(btree_v2(checker, &indexed)),
    }
}

impl Chunked<'_> {
    /// Returns the size of a decoded chunk of the dataset in bytes.
    pub(crate) fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Checks one chunk of the dataset: its coordinates, size, filter mask and elements.
    pub(crate) fn chunk(&self, checker: &mut Checker, scaled: &[u64], stored: StoredChunk) {
        checker.report.chunks += 1;
        let StoredChunk { address, filtered } = stored;
        let (size, mask) = filtered.unwrap_or((self.chunk_bytes, 0));
        let dims = self.dataset.space.dims();
        let edges = scaled.iter().zip(&self.layout.dims).zip(dims);
        let (mut outside, mut edge) = (false, false);
        for ((at, chunk), dim) in edges {
            let start = start_of(*at, *chunk);
            outside |= start >= *dim;
            edge |= end_of(start, *chunk) > *dim;
        }
        if outside {
            let text = format!("the chunk {scaled:?} begins outside the extent {dims:?}");
            checker.fault(NAME, address, text);
        }
        let plain = edge && self.layout.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS);
        let expected = if plain || (mask == self.mask && mask != 0) {
            Some(self.chunk_bytes)
        } else {
            self.stored_bytes
        };
        if size == 0 {
            checker.fault(NAME, address, format!("the chunk {scaled:?} has no bytes"));
        } else if let Some(expected) = expected.filter(|expected| *expected > size) {
            self.short(checker, scaled, address, size, expected);
        } else if let Some(expected) = expected.filter(|expected| *expected < size) {
            let text = format!("the chunk {scaled:?} has {size} bytes, expected {expected}");
            checker.fault(NAME, address, text);
        }
        if mask & !self.mask != 0 {
            let text = format!("the filter mask {mask:#x} of the chunk {scaled:?} has bits without a filter");
            checker.remark(NAME, address, text);
        }
        let look = checker.decode_chunks || !self.dataset.plan.is_nothing();
        if checker.claim(NAME, address, size, BlockKind::Chunk) && look && !outside {
            self.scan(checker, scaled, address, size, if plain { None } else { Some(mask) });
        }
    }

    /// Records a finding about a chunk that has too few bytes. If all missing bytes lie beyond the
    /// current dimensions of the dataset, the finding is a remark, and otherwise a fault.
    fn short(&self, checker: &mut Checker, scaled: &[u64], address: Address, got: u64, expected: u64) {
        if got >= self.bytes_inside(scaled) {
            let text = format!(
                "the chunk {scaled:?} has {got} bytes, expected {expected}; all missing elements lie beyond the extent"
            );
            checker.remark(NAME, address, text);
        } else {
            let text = format!(
                "the chunk {scaled:?} has {got} bytes, expected {expected}; readers return the fill value for the missing elements"
            );
            checker.fault(NAME, address, text);
        }
    }

    /// Returns the number of chunk bytes that are needed to hold all elements inside the current
    /// dimensions of the dataset.
    fn bytes_inside(&self, scaled: &[u64]) -> u64 {
        let mut last = 0_u64;
        for ((at, chunk), dim) in scaled.iter().zip(&self.layout.dims).zip(self.dataset.space.dims()) {
            let inside = dim.saturating_sub(start_of(*at, *chunk)).min(*chunk);
            let Some(inside) = inside.checked_sub(1) else { return 0 };
            last = end_of(start_of(last, *chunk), inside);
        }
        start_of(end_of(last, 1), self.layout.element_size)
    }

    /// Scans the elements of all chunks of a dataset with an implicit chunk index for references to
    /// other parts of the file. Skips chunks that begin outside the current dimensions of the
    /// dataset.
    pub(crate) fn scan_all_of(&self, checker: &mut Checker, numbers: &chunk_arrays::Numbers, total: u64) {
        if self.dataset.plan.is_nothing() {
            return;
        }
        let dims = self.dataset.space.dims();
        for number in 0..total {
            let scaled = numbers.scaled(number);
            let starts = scaled.iter().zip(&self.layout.dims).map(|(at, chunk)| start_of(*at, *chunk));
            let offset = start_of(number, self.chunk_bytes);
            let Some(address) = self.layout.address.checked_add(offset) else { return };
            if starts.zip(dims).all(|(start, dim)| start < *dim) {
                self.scan(checker, &scaled, address, self.chunk_bytes, None);
            }
        }
    }

    /// Scans the elements of a chunk for references to other parts of the file. Skips elements
    /// outside the current dimensions of the dataset.
    fn scan(&self, checker: &mut Checker, scaled: &[u64], address: Address, size: u64, mask: Option<u32>) {
        let Some(pipeline) = &self.dataset.pipeline else { return };
        let limits = *checker.store.limits();
        let possible = size.max(64).saturating_mul(limits.expansion).min(limits.chunk_bytes);
        if self.chunk_bytes > possible {
            checker.not_checked(NAME, address, &format!("{} bytes from {size}", self.chunk_bytes));
            return;
        }
        let Some(budget) = checker.decode_budget.checked_sub(self.chunk_bytes) else {
            checker.not_checked(
                NAME,
                address,
                "the limit of decoded bytes for a file of this length is reached",
            );
            return;
        };
        checker.decode_budget = budget;
        let stored = checker.store.read_raw_vec(address, size);
        let Some(stored) = checker.read_or_note(NAME, address, stored) else { return };
        let length = to_usize(self.chunk_bytes);
        let bytes = match mask.filter(|_| !pipeline.is_empty()) {
            None => stored,
            Some(mask) => {
                let element_size = self.dataset.element_size();
                let target = ChunkTarget { element_size, ..ChunkTarget::of_length(length) };
                let buffer = memory::reserve::<u8>(length, NAME);
                let Some(mut bytes) = checker.read_or_note(NAME, address, buffer) else { return };
                bytes.resize(length, 0);
                let mut scratch = Scratch::default();
                let filters = &checker.store.filters();
                let got = pipeline.decode_start(filters, mask, &stored, &mut bytes, &target, &mut scratch);
                let got = got.map_err(|source| Error::Filter { address, source });
                let Some(got) = checker.read_or_note(NAME, address, got) else { return };
                if got < length && !pipeline.skips_all(mask) {
                    self.short(checker, scaled, address, got as u64, self.chunk_bytes);
                }
                bytes.truncate(got);
                bytes
            }
        };
        if !self.dataset.plan.is_nothing() {
            self.scan_rows(checker, scaled, bytes.get(..length).unwrap_or(&bytes));
        }
    }

    fn scan_rows(&self, checker: &mut Checker, scaled: &[u64], bytes: &[u8]) {
        let (chunk, dims, size) = (&self.layout.dims, self.dataset.space.dims(), self.dataset.element_size());
        let starts: Dims = scaled.iter().zip(chunk).map(|(at, chunk)| start_of(*at, *chunk)).collect();
        let Some(row) = chunk.last().map(|row| to_usize(*row).saturating_mul(size)).filter(|row| *row > 0)
        else {
            return;
        };
        let outer = chunk.len() - 1;
        let rest = dims.last().zip(starts.last()).map_or(0, |(dim, start)| dim.saturating_sub(*start));
        let inside = to_usize(rest).saturating_mul(size).min(row);
        let mut at = Dims::from_elem(0, outer);
        for row in bytes.chunks_exact(row) {
            let within =
                at.iter().zip(&starts).zip(dims).all(|((at, start), dim)| end_of(*start, *at) < *dim);
            if within && let Some(elements) = row.get(..inside) {
                elements::scan_all(checker, &self.dataset.plan, size, elements, self.dataset.owner);
            }
            for (at, chunk) in at.iter_mut().zip(chunk.iter().take(outer)).rev() {
                *at += 1;
                if *at < *chunk {
                    break;
                }
                *at = 0;
            }
        }
    }

    fn btree_v1(&self, checker: &mut Checker) {
        let context = BTreeV1Context {
            params: checker.params,
            kind: BTreeV1Kind::Chunks { rank: self.layout.dims.len() },
            k: checker.k.chunk_internal,
        };
        let mut leaves = ChunkLeaves { chunked: self };
        btree_v1::walk(checker, self.layout.address, context, BlockKind::ChunkIndex, &mut leaves);
    }
}

/// Walks the version 2 B-tree that indexes the chunks of a dataset.
pub(crate) fn btree_v2(checker: &mut Checker, indexed: &Indexed<'_>) -> Option<Tree> {
    let (params, address, rank) = (checker.params, indexed.address, indexed.chunk.len());
    let wanted = types::CHUNK.saturating_add(indexed.client.0);
    let tree = btree_v2::open(checker, address, &[wanted], BlockKind::ChunkIndex)?;
    let size = usize::from(tree.header.record_size);
    let context = ChunkRecordContext::new(params, rank, wanted, size, indexed.metadata_size);
    let context = checker.decoded(ChunkRecord::NAME, address, context)?;
    let mut last: Option<Dims> = None;
    tree.walk(checker, &mut |checker, bytes| {
        let record = ChunkRecord::decode(bytes, context);
        let Some(record) = checker.decoded(ChunkRecord::NAME, address, record) else { return };
        if let Some(last) = last.take().filter(|last| *last >= record.scaled) {
            let text =
                format!("the chunk {:?} follows {last:?}, expected ascending coordinates", record.scaled);
            checker.fault(ChunkRecord::NAME, address, text);
        }
        let element = ChunkElement {
            address: record.address,
            size: record.size,
            filter_mask: record.filter_mask,
            metadata: &record.metadata,
        };
        (indexed.at_chunk)(checker, &record.scaled, &element);
        last = Some(record.scaled);
    });
    Some(tree)
}

/// The check of the leaves of a version 1 B-tree that indexes chunks.
struct ChunkLeaves<'a> {
    chunked: &'a Chunked<'a>,
}

impl Leaves for ChunkLeaves<'_> {
    fn compare(&self, (one, at): Key<'_>, (other, position): Key<'_>) -> Option<Ordering> {
        let (one, other) = (one.keys.as_chunks()?, other.keys.as_chunks()?);
        Some(one.offset(at)?.cmp(other.offset(position)?))
    }

    fn leaf(&mut self, checker: &mut Checker, address: Address, node: &BTreeV1Node) {
        let BTreeV1Keys::Chunks(keys) = &node.keys else { return };
        let chunk = &self.chunked.layout.dims;
        let mut scaled = Dims::from_elem(0, chunk.len());
        let stored = keys.sizes.iter().zip(&keys.filter_masks).enumerate();
        for ((position, (size, mask)), child) in stored.zip(&node.children) {
            let Some((within, offset)) = keys.offset(position).and_then(<[u64]>::split_last) else {
                continue;
            };
            let mut whole = *within == 0;
            for ((scaled, at), chunk) in scaled.iter_mut().zip(offset).zip(chunk) {
                *scaled = at.checked_div(*chunk).unwrap_or(0);
                whole &= start_of(*scaled, *chunk) == *at;
            }
            if !whole {
                let text = format!("the chunk offset {offset:?} is not a multiple of the chunk dimensions");
                checker.fault(BTreeV1Node::NAME, address, text);
            }
            self.chunked.chunk(
                checker,
                &scaled,
                StoredChunk { address: *child, filtered: Some(((*size).into(), *mask)) },
            );
        }
    }
}
