//! Structured chunks: their index, where they lie, and where their sections begin. What is in the sections is not looked at.

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::chunk_index::{ChunkElement, ChunkIndexClient};
use hyperslab_format::codec::Structure as _;
use hyperslab_format::message::{ChunkFlags, FieldOrder, StructuredChunkLayout, StructuredIndex};

use crate::chunks::{self, Indexed};
use crate::dataset::Dataset;
use crate::extents::Kind;
use crate::file::Checker;
use crate::{chunk_arrays, extensible_array};

const NAME: &str = "structured chunk";
const LAYOUT: &str = "data layout message";

/// Checks the index and where the chunks lie.
pub(crate) fn check(checker: &mut Checker, dataset: &Dataset, layout: &StructuredChunkLayout) {
    let (owner, rank, sizes) = (dataset.owner, dataset.space.rank(), layout.dims.len());
    if rank == 0 || (sizes != rank && Some(sizes) != rank.checked_add(1)) {
        checker.fault(LAYOUT, owner, format!("{sizes} dimension sizes in a dataset of rank {rank}"));
        return;
    }
    if let Some(size) = layout.dims.get(rank) {
        checker.same(LAYOUT, owner, "bytes of an element", *size, dataset.datatype.size.into());
    }
    // Filters of sections are nothing that the pipeline of ordinary chunks can say.
    let filtered = dataset.pipeline.as_ref().is_none_or(|pipeline| !pipeline.is_empty());
    let at_chunk = |checker: &mut Checker, scaled: &[u64], element: &ChunkElement<'_>| {
        chunk(checker, layout, scaled, element);
    };
    let client = if filtered { ChunkIndexClient::STRUCTURED_FILTERED } else { ChunkIndexClient::STRUCTURED };
    let indexed = Indexed {
        address: layout.address,
        chunk: layout.dims.get(..rank).unwrap_or(&layout.dims),
        max_dims: dataset.space.max_dims().to_vec(),
        client,
        metadata_size: StructuredChunkLayout::chunk_metadata_size(
            layout.sections,
            layout.offset_size,
            filtered,
        ),
        at_chunk: &at_chunk,
    };
    if let StructuredIndex::Single(_) = layout.index {
        let flag = layout.flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER);
        checker.same(LAYOUT, owner, "the flag of a filtered single chunk", flag.into(), filtered.into());
    }
    if !layout.address.is_defined() {
        return;
    }
    match &layout.index {
        StructuredIndex::Single(single) => {
            let (address, size) = (layout.address, single.size);
            let element = ChunkElement { address, size, filter_mask: 0, metadata: &single.metadata };
            chunk(checker, layout, &Dims::from_elem(0, rank), &element);
        }
        StructuredIndex::FixedArray(_) => drop(chunk_arrays::fixed(checker, &indexed)),
        StructuredIndex::ExtensibleArray(_) => drop(extensible_array::walk(checker, &indexed)),
        StructuredIndex::BTreeV2(parameters) => {
            let Some(tree) = chunks::btree_v2(checker, &indexed) else { return };
            let (name, header) = (BTreeV2Header::NAME, &tree.header);
            for (what, stated, expected) in [
                ("bytes of a node", header.node_size, parameters.node_size),
                ("split percent", header.split_percent.into(), parameters.split_percent.into()),
                ("merge percent", header.merge_percent.into(), parameters.merge_percent.into()),
            ] {
                checker.same(name, tree.address, what, stated.into(), expected.into());
            }
        }
    }
    checker.not_checked(LAYOUT, owner, "the sections of structured chunks");
}

/// Chunks beyond the extent are nobody's, and may stay.
fn chunk(
    checker: &mut Checker,
    layout: &StructuredChunkLayout,
    scaled: &[u64],
    &ChunkElement { address, size, metadata, .. }: &ChunkElement<'_>,
) {
    if !address.is_defined() {
        return;
    }
    checker.report.chunks = checker.report.chunks.saturating_add(1);
    checker.claim(NAME, address, size, Kind::Chunk);
    // The founding proposal has masks before the offsets, later ones behind them.
    if layout.order == FieldOrder::CompositionLast {
        return;
    }
    let offsets = metadata.chunks_exact(layout.offset_size.max(1).into());
    let mut before = 0;
    for (section, offset) in (1..layout.sections).zip(offsets) {
        let offset = offset.iter().rev().fold(0_u64, |offset, byte| offset << 8 | u64::from(*byte));
        if offset < before || offset > size {
            let text = format!(
                "section {section} of the chunk {scaled:?} begins at byte {offset}, expected {before} to {size}"
            );
            checker.fault(NAME, address, text);
            return;
        }
        before = offset;
    }
}
