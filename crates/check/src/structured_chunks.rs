//! Structured chunks: the chunk index, the extents of chunks, the offsets of sections, and their
//! decoding.

use hyperslab_dataspace::Dims;
use hyperslab_engine::data::chunk_index::{ChunkMetadataBytes, StructuredLocation};
use hyperslab_engine::data::structured::{StructuredFacts, StructuredForm};
use hyperslab_engine::data::transfer::FillElement;
use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::chunk_index::{ChunkElement, ChunkIndexClient};
use hyperslab_format::codec::Structure as _;
use hyperslab_format::message::{ChunkFlags, FieldOrder, StructuredChunkLayout, StructuredIndex};

use crate::chunks::{self, Indexed};
use crate::dataset::Dataset;
use crate::extents::BlockKind;
use crate::file::Checker;
use crate::totals::end_of;
use crate::{chunk_arrays, elements, extensible_array};

const NAME: &str = "structured chunk";
const LAYOUT: &str = "data layout message";

/// Checks the chunk index and all structured chunks of a dataset.
pub(crate) fn check(checker: &mut Checker, dataset: &Dataset, layout: &StructuredChunkLayout) {
    let (owner, rank, sizes) = (dataset.owner, dataset.space.rank(), layout.dims.len());
    if rank == 0 || (sizes != rank && Some(sizes) != rank.checked_add(1)) {
        let text =
            format!("the layout message has {sizes} dimension sizes, but the dataset has the rank {rank}");
        return checker.fault(LAYOUT, owner, text);
    }
    if let Some(size) = layout.dims.get(rank) {
        checker.same(LAYOUT, owner, "bytes of an element", *size, dataset.datatype.size.into());
    }
    // `pipeline` is `None` for a pipeline of sections, so `None` means that the dataset has
    // filters.
    let filtered = dataset.pipeline.as_ref().is_none_or(|pipeline| !pipeline.is_empty());
    let facts = StructuredFacts {
        owner,
        dims: dataset.space.dims(),
        datatype: &dataset.datatype,
        layout,
        filters: dataset.sections.as_ref(),
        fill: FillElement::ZERO,
    };
    let form = StructuredForm::new(checker.params, &facts);
    let form = form.map_err(|error| checker.fault(LAYOUT, owner, error.to_string())).ok();
    let at_chunk = |checker: &mut Checker, scaled: &[u64], element: &ChunkElement<'_>| {
        chunk(checker, layout, scaled, element);
        if let Some(form) = &form {
            check_sections(checker, dataset, form, scaled, element);
        }
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
            at_chunk(checker, &Dims::from_elem(0, rank), &element);
        }
        StructuredIndex::FixedArray(_) => drop(chunk_arrays::fixed(checker, &indexed)),
        StructuredIndex::ExtensibleArray(_) => drop(extensible_array::walk(checker, &indexed)),
        StructuredIndex::BTreeV2(parameters) => {
            let Some(tree) = chunks::btree_v2(checker, &indexed) else { return };
            let (name, header) = (BTreeV2Header::NAME, &tree.header);
            for (subject, stated, expected) in [
                ("bytes of a node", header.node_size, parameters.node_size),
                ("split percent", header.split_percent.into(), parameters.split_percent.into()),
                ("merge percent", header.merge_percent.into(), parameters.merge_percent.into()),
            ] {
                checker.same(name, tree.address, subject, stated.into(), expected.into());
            }
        }
    }
}

/// Decodes the sections of a structured chunk and checks that the sections agree. Skips chunks
/// beyond the current dimensions of the dataset.
fn check_sections(
    checker: &mut Checker,
    dataset: &Dataset,
    form: &StructuredForm,
    scaled: &[u64],
    element: &ChunkElement<'_>,
) {
    let outside = scaled.iter().zip(form.grid.counts()).any(|(at, count)| at >= count);
    if !element.address.is_defined() || outside {
        return;
    }
    let Some(metadata) = ChunkMetadataBytes::new(element.metadata) else { return };
    let location = StructuredLocation { address: element.address, size: element.size, metadata };
    let sections = form.sections_of(&location);
    let Some(sections) = checker.read_or_note(NAME, element.address, sections) else { return };
    let bytes = sections.0.iter().fold(0, |sum, section| end_of(sum, section.unfiltered));
    let Some(budget) = checker.decode_budget.checked_sub(bytes) else {
        checker.not_checked(
            NAME,
            element.address,
            "the limit of decoded bytes for a file of this length is reached",
        );
        return;
    };
    checker.decode_budget = budget;
    let chunk = form.read_chunk(&checker.store, scaled, &location);
    let Some(chunk) = checker.read_or_note(NAME, element.address, chunk) else { return };
    // A variable-length element is stored in the chunk itself, and reading the chunk has already
    // checked it.
    if !dataset.datatype.is_variable_length() && !dataset.plan.is_nothing() {
        elements::scan_all(checker, &dataset.plan, dataset.element_size(), &chunk.values, dataset.owner);
    }
}

/// Checks the range of bytes of a structured chunk in the file, and the offsets of its sections.
/// Chunks beyond the dataset's current dimensions are never read and need no check.
fn chunk(
    checker: &mut Checker,
    layout: &StructuredChunkLayout,
    scaled: &[u64],
    &ChunkElement { address, size, metadata, .. }: &ChunkElement<'_>,
) {
    if !address.is_defined() {
        return;
    }
    checker.report.chunks += 1;
    checker.claim(NAME, address, size, BlockKind::Chunk);
    // The first version of the proposal stores filter masks before the offsets, later versions
    // after them.
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
