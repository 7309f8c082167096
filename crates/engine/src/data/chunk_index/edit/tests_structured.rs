//! Tests of the indexes of structured chunks: random changes, opening again, and the choice of the
//! index for a new dataset.

use std::sync::Arc;

use hyperslab_dataspace::Region;
use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Layout, BTreeV2Leaf};
use hyperslab_format::chunk_index::{
    ElementLocation, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock, ExtensibleArrayGeometry,
    ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock, FixedArrayHeader,
};
use hyperslab_format::message::{
    BTreeV2Parameters, ChunkFlags, FieldOrder, SingleStructuredChunk, StructuredChunkLayout,
    StructuredChunkType, StructuredIndex,
};
use proptest::prelude::*;
use smallvec::SmallVec;

use super::super::conformance::Chance;
use super::super::{ChunkIndex, ChunkMetadataBytes, StructuredLocation, open_structured};
use super::tests::{Case, Tested, found, insert_in_order, run, shift};
use super::*;
use crate::error::ErrorKind;
use crate::store::image::{new_file, new_file_of_widths};
use crate::versions::LibverBounds;

const ELEMENT_BYTES: u64 = 4;

impl Tested for StructuredLocation {
    fn index(store: &Store, case: &Case<Self>) -> Result<Option<Arc<dyn ChunkIndex<Self>>>> {
        open_structured(store, &case.layout, &case.shape)
    }

    fn editor(store: &Store, case: &Case<Self>) -> Result<ChunkIndexEditor<Self>> {
        StructuredIndexEditor::open(store, &case.layout, &case.shape)
    }

    fn location(case: &Case<Self>, at: u64) -> Self {
        let mut chance = Chance::new(at);
        let bytes = std::iter::repeat_with(|| u8::try_from(chance.below(256)).unwrap());
        let metadata: Vec<u8> = bytes.take(Self::rules(&case.layout, &case.shape).metadata_size).collect();
        let metadata = ChunkMetadataBytes::new(&metadata).unwrap();
        Self { address: Address::new(1 << 20 | at), size: at % 200, metadata }
    }

    fn layout_address(layout: &StructuredChunkLayout) -> Address {
        layout.address
    }

    /// Checks the versions of a written chunk index of structured chunks, and the encoding of the
    /// layout message.
    fn check(case: &Case<Self>, store: &Store, layout: &StructuredChunkLayout) {
        let (address, params) = (layout.address, store.params());
        if !address.is_defined() {
            return;
        }
        let filtered = u8::from(case.shape.size_width.is_some());
        let is = match layout.index {
            StructuredIndex::Single(_) => return,
            StructuredIndex::FixedArray(_) => {
                let header = store.shared::<FixedArrayHeader>(address, &params).unwrap();
                (header.version, header.client.0)
            }
            StructuredIndex::ExtensibleArray(_) => {
                let header = store.shared::<ExtensibleArrayHeader>(address, &params).unwrap();
                (header.version, header.client.0)
            }
            StructuredIndex::BTreeV2(_) => {
                let header = store.shared::<BTreeV2Header>(address, &params).unwrap();
                if (header.depth, header.root_records > 0) == (0, true) {
                    let nodes = BTreeV2Layout::new(&header, params).unwrap();
                    let leaf = nodes.leaf(header.root_records.into()).unwrap();
                    assert_eq!(store.shared::<BTreeV2Leaf>(header.root, &leaf).unwrap().version, 0);
                }
                (header.version, header.record_type - 10)
            }
        };
        assert_eq!(is, (1, 2 + filtered));
    }
}

/// The properties that all test cases of one kind of structured chunk share.
#[derive(Debug, Clone, Copy)]
struct Kind {
    chunk_type: StructuredChunkType,
    sections: u8,
    filtered: bool,
    offset_size: u8,
    /// The number of bytes of addresses and lengths in the file.
    width: u8,
    /// True if the layout stores the size of elements.
    element_size: bool,
}

/// Creates a test case of an index of structured chunks of 2 x 3 x 2 x 1 elements of 4 bytes, or of
/// fewer dimensions.
fn case(kind: Kind, index: StructuredIndex, counts: &[u64], unlimited: &[usize]) -> Case<StructuredLocation> {
    let chunk = &[2_u64, 3, 2, 1][..counts.len()];
    let mut dims = Dims::from_slice(chunk);
    if kind.element_size {
        dims.push(ELEMENT_BYTES);
    }
    let max_dims: Vec<Option<u64>> = (0..counts.len())
        .map(|dimension| (!unlimited.contains(&dimension)).then(|| counts[dimension] * chunk[dimension]))
        .collect();
    let mut flags = ChunkFlags::empty();
    let single = matches!(index, StructuredIndex::Single(_));
    flags.set(ChunkFlags::SINGLE_INDEX_WITH_FILTER, single && kind.filtered);
    let layout = StructuredChunkLayout {
        order: FieldOrder::CompositionFirst,
        chunk_type: kind.chunk_type,
        flags,
        dimension_width: 1,
        dims,
        offset_size: kind.offset_size,
        sections: kind.sections,
        metadata_sections: SmallVec::from_slice(&[0]),
        index,
        address: Address::UNDEFINED,
    };
    let shape = ChunkShape::of_structured(&layout, &max_dims, ELEMENT_BYTES, kind.filtered);
    let params = FileParams { size_of_offsets: kind.width, size_of_lengths: kind.width };
    Case { layout, shape, counts: counts.to_vec(), params }
}

fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (sections, chunk_type) in [
        (2, StructuredChunkType::SPARSE),
        (3, StructuredChunkType::all()),
        (2, StructuredChunkType::VARIABLE_LENGTH),
    ] {
        for filtered in [false, true] {
            for offset_size in [4, 8] {
                let width = if sections == 3 { 12 - offset_size } else { offset_size };
                let element_size = filtered || offset_size == 8;
                kinds.push(Kind { chunk_type, sections, filtered, offset_size, width, element_size });
            }
        }
    }
    kinds
}

fn single(kind: Kind) -> StructuredIndex {
    let metadata = StructuredChunkLayout::chunk_metadata_size(kind.sections, kind.offset_size, kind.filtered);
    StructuredIndex::Single(SingleStructuredChunk { size: 0, size_width: 2, metadata: vec![0; metadata] })
}

fn cases() -> Vec<Case<StructuredLocation>> {
    let mut cases = Vec::new();
    for kind in kinds() {
        let mut add = |index, counts: &[u64], unlimited: &[usize]| {
            cases.push(case(kind, index, counts, unlimited));
        };
        add(single(kind), &[1], &[]);
        add(single(kind), &[1, 1, 1], &[]);
        for (page_bits, counts) in [(2, &[10, 10][..]), (4, &[90]), (10, &[4, 3, 5]), (3, &[3, 2, 4, 3])] {
            add(StructuredIndex::FixedArray(FixedArrayParameters { page_bits }), counts, &[]);
        }
        let small = ExtensibleArrayParameters {
            max_bits: 20,
            index_elements: 2,
            min_pointers: 2,
            min_elements: 2,
            page_bits: 3,
        };
        for parameters in [small, ExtensibleArrayParameters::DEFAULT] {
            let index = || StructuredIndex::ExtensibleArray(parameters);
            add(index(), &[150], &[0]);
            add(index(), &[11, 20], &[1]);
            add(index(), &[4, 6, 5], &[1]);
            add(index(), &[2, 3, 3, 9], &[3]);
        }
        let small = BTreeV2Parameters { node_size: 400, split_percent: 100, merge_percent: 40 };
        for parameters in [small, BTreeV2Parameters::DEFAULT] {
            let index = || StructuredIndex::BTreeV2(parameters);
            add(index(), &[120], &[0]);
            add(index(), &[15, 11], &[0, 1]);
            add(index(), &[4, 5, 6], &[0, 2]);
            add(index(), &[3, 4, 3, 4], &[0, 1, 2, 3]);
        }
    }
    cases
}

#[test]
fn every_index_of_structured_chunks_is_a_map() {
    // The step has no common divisor with the number of cases of a kind, so each index occurs with
    // most kinds.
    for (seed, case) in (0..).zip(cases()).step_by(3) {
        run(case, seed, 40);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_index_of_structured_chunks_is_a_map_whatever_comes(
        case in prop::sample::select(cases()),
        seed in any::<u64>(),
        steps in 1_usize..80,
    ) {
        run(case, seed, steps);
    }
}

#[test]
fn structured_chunks_in_order_one_by_one_and_at_once_give_the_same() {
    cases().iter().for_each(insert_in_order);
}

#[test]
fn shifted_structured_chunks_are_found_at_their_new_places() {
    cases().iter().for_each(shift);
}

#[test]
fn entries_that_an_index_of_structured_chunks_cannot_represent_are_refused() {
    for case in cases() {
        let (store, _) = new_file_of_widths(case.params, LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let mut editor = case.editor(&store);
        let (good, first) = (case.location(7), vec![0; case.counts.len()]);
        editor.set(&mut edit, &first, &good).unwrap();
        let before = editor.layout().clone();
        let mut refused = |scaled: &[u64], location: StructuredLocation| {
            let error = editor.set(&mut edit, scaled, &location).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misuse, "{case:?}: {error}");
            assert_eq!(editor.get(&store, &first).unwrap(), Some(good));
            assert_eq!(*editor.layout(), before);
        };
        refused(&[0; 5], good);
        refused(&first, StructuredLocation { address: Address::UNDEFINED, ..good });
        let other = ChunkMetadataBytes::new(&good.metadata[1..]).unwrap();
        refused(&first, StructuredLocation { metadata: other, ..good });
        if case.layout.sections == 2 {
            refused(&first, StructuredLocation { size: 1 << 40, ..good });
        }
        if case.shape.max_dims.iter().all(Option::is_some) {
            refused(&case.counts, good);
        }
    }
}

/// Checks that a chunk index is refused if its header contradicts the layout message, the filters
/// or the dataset's shape. Both a reader and a writer must return an error.
#[test]
fn an_index_of_other_chunks_is_refused() {
    for case in cases() {
        let (store, reopen) = new_file_of_widths(case.params, LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let mut editor = case.editor(&store);
        editor.set(&mut edit, &vec![0; case.counts.len()], &case.location(7)).unwrap();
        edit.commit().unwrap();
        let case = Case { layout: editor.layout().clone(), ..case };
        let again = reopen();
        let refused = |case: &Case<StructuredLocation>| {
            let error = StructuredLocation::index(&again, case).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{case:?}: {error}");
            assert!(StructuredLocation::editor(&again, case).is_err(), "{case:?}");
        };
        assert!(StructuredLocation::index(&again, &case).unwrap().is_some());
        let filtered = case.shape.size_width.is_some();
        let shape = ChunkShape::of_structured(&case.layout, &case.shape.max_dims, ELEMENT_BYTES, !filtered);
        refused(&Case { shape, ..case.clone() });
        let mut other = case.clone();
        match &mut other.layout.index {
            StructuredIndex::Single(_) => {
                let mut larger = case.clone();
                larger.shape.max_dims[0] = None;
                refused(&larger);
                other.layout.dims.extend([1, 1]);
            }
            StructuredIndex::FixedArray(_) => other.shape.max_dims[0] = Some(1000),
            StructuredIndex::ExtensibleArray(parameters) => parameters.index_elements += 1,
            StructuredIndex::BTreeV2(parameters) => parameters.merge_percent += 1,
        }
        refused(&other);
        let mut ordinary = ChunkedLayout {
            dims: Dims::from_slice(StructuredLocation::chunk(&case.layout, case.counts.len())),
            element_size: 4,
            flags: ChunkFlags::empty(),
            dimension_width: 4,
            index: ChunkIndexParameters::BTreeV2(BTreeV2Parameters::DEFAULT),
            address: case.layout.address,
        };
        ordinary.index = match &case.layout.index {
            StructuredIndex::Single(_) => continue,
            StructuredIndex::FixedArray(parameters) => ChunkIndexParameters::FixedArray(*parameters),
            StructuredIndex::ExtensibleArray(parameters) => {
                ChunkIndexParameters::ExtensibleArray(*parameters)
            }
            StructuredIndex::BTreeV2(parameters) => ChunkIndexParameters::BTreeV2(*parameters),
        };
        let error = super::super::open(&again, &ordinary, &case.shape).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

/// Writes half of the structured chunks of a test dataset, and commits the file.
fn stored(case: Case<StructuredLocation>, edit: &mut Edit<'_>) -> Case<StructuredLocation> {
    let mut editor = case.editor(edit.store());
    let chunks = (0..).zip(Region::whole(&case.counts).coordinates()).step_by(2);
    let chunks: Vec<_> = chunks.map(|(number, scaled)| (scaled, case.location(number))).collect();
    editor.insert(edit, &chunks).unwrap();
    edit.commit().unwrap();
    Case { layout: editor.layout().clone(), ..case }
}

/// Checks that all reads of the structured chunk index fail because the index is corrupt.
fn assert_corrupt(case: &Case<StructuredLocation>, store: &Store, scaled: &[u64]) {
    let index = StructuredLocation::index(store, case).unwrap().unwrap();
    let whole = ChunkBox {
        first: Dims::from_elem(0, scaled.len()),
        last: case.counts.iter().map(|count| count - 1).collect(),
    };
    let alone = ChunkBox { first: Dims::from_slice(scaled), last: Dims::from_slice(scaled) };
    for error in [
        index.get(store, scaled).unwrap_err(),
        index.for_each_in(store, &whole, &mut |_, _| Ok(())).unwrap_err(),
        index.for_each_in(store, &alone, &mut |_, _| Ok(())).unwrap_err(),
        case.editor(store).for_each(store, &mut |_, _| Ok(())).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

const KIND: Kind = Kind {
    chunk_type: StructuredChunkType::SPARSE,
    sections: 2,
    filtered: false,
    offset_size: 8,
    width: 8,
    element_size: true,
};

#[test]
fn a_tree_of_structured_chunks_whose_totals_or_order_are_wrong_is_corrupt() {
    let parameters = BTreeV2Parameters { node_size: 400, split_percent: 100, merge_percent: 40 };
    for damage in 0..3 {
        let (store, reopen) = new_file_of_widths(FileParams::DEFAULT, LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let case = case(KIND, StructuredIndex::BTreeV2(parameters), &[20, 20], &[0, 1]);
        let case = stored(case, &mut edit);
        let (address, params) = (case.layout.address, store.params());
        let header = store.shared::<BTreeV2Header>(address, &params).unwrap();
        let layout = BTreeV2Layout::new(&header, params).unwrap();
        assert!(header.depth > 1);
        let context = layout.internal(header.depth, header.root_records.into()).unwrap();
        if damage == 0 {
            edit.modify(address, &params, |header: &mut BTreeV2Header| header.total_records += 1).unwrap();
        } else {
            edit.modify(header.root, &context, |node: &mut BTreeV2Internal| {
                if damage == 1 {
                    node.children[0].total -= 1;
                } else {
                    // Coordinates come after the address and the size. This record becomes that of
                    // the first chunk.
                    node.records[10..26].fill(0);
                }
            })
            .unwrap();
        }
        edit.commit().unwrap();
        assert_corrupt(&case, &reopen(), &[0, 0]);
    }
}

#[test]
fn an_extensible_array_of_structured_chunks_has_its_blocks_where_they_say() {
    let parameters = ExtensibleArrayParameters {
        max_bits: 20,
        index_elements: 2,
        min_pointers: 2,
        min_elements: 2,
        page_bits: 3,
    };
    for in_secondary in [true, false] {
        let (store, reopen) = new_file_of_widths(FileParams::DEFAULT, LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let case = case(KIND, StructuredIndex::ExtensibleArray(parameters), &[150], &[0]);
        let case = stored(case, &mut edit);
        let (owner, params) = (case.layout.address, store.params());
        let header = store.shared::<ExtensibleArrayHeader>(owner, &params).unwrap();
        let geometry = ExtensibleArrayGeometry::new(&header).unwrap();
        let context = ExtensibleArrayBlockContext::index_block(&header, &geometry, owner, params);
        let index = store.shared::<ExtensibleArrayIndexBlock>(header.index_block, &context).unwrap();
        // The location of chunk 140, whose data block has pages.
        let Some(ElementLocation::SecondaryBlock { secondary_block, pointer, data_block, page, .. }) =
            geometry.locate(140)
        else {
            panic!("no secondary block");
        };
        assert!(page.is_some());
        let shape = geometry.secondary_block(secondary_block);
        let context = ExtensibleArrayBlockContext::secondary_block(&header, &geometry, &shape, owner, params);
        let address = index.secondary_blocks[pointer as usize];
        let block = store.shared::<ExtensibleArraySecondaryBlock>(address, &context).unwrap();
        if in_secondary {
            edit.modify(address, &context, |block: &mut ExtensibleArraySecondaryBlock| {
                block.block_offset += 1;
            })
            .unwrap();
        } else {
            let elements = shape.data_block_elements;
            let context =
                ExtensibleArrayBlockContext::data_block(&header, &geometry, elements, owner, params);
            let address = block.data_blocks[usize::try_from(data_block).unwrap()];
            edit.modify(address, &context, |block: &mut ExtensibleArrayDataBlock| block.block_offset += 1)
                .unwrap();
        }
        edit.commit().unwrap();
        assert_corrupt(&case, &reopen(), &[140]);
    }
}

#[test]
fn a_new_dataset_of_structured_chunks_gets_the_index_for_its_extent() {
    let sparse = StructuredChunkType::SPARSE;
    let new = NewStructuredChunks {
        dims: &[4, 6],
        max_dims: &[Some(4), Some(6)],
        chunk: &[4, 6],
        element_size: 4,
        chunk_type: sparse,
        filtered: false,
        edges_unfiltered: false,
    };
    let kind = |max_dims: &[Option<u64>], chunk: &[u64]| {
        let layout = choose_structured(&NewStructuredChunks { max_dims, chunk, ..new }).unwrap();
        assert_eq!((layout.offset_size, layout.sections, layout.address), (8, 2, Address::UNDEFINED));
        assert_eq!((&*layout.dims, &*layout.metadata_sections), (&[chunk, &[4]].concat()[..], &[0][..]));
        StructuredLocation::kind(&layout)
    };
    assert_eq!(kind(&[Some(4), Some(6)], &[4, 6]), ChunkIndexKind::Single);
    assert_eq!(kind(&[Some(8), Some(6)], &[4, 6]), ChunkIndexKind::FixedArray);
    assert_eq!(kind(&[Some(4), Some(6)], &[4, 3]), ChunkIndexKind::FixedArray);
    assert_eq!(kind(&[Some(4), None], &[4, 6]), ChunkIndexKind::ExtensibleArray);
    assert_eq!(kind(&[None, None], &[4, 6]), ChunkIndexKind::BTreeV2);

    for (chunk_type, sections, with_metadata) in [
        (sparse, 2, &[0][..]),
        (StructuredChunkType::all(), 3, &[0, 1, 2]),
        (StructuredChunkType::VARIABLE_LENGTH, 2, &[0, 1]),
    ] {
        for filtered in [false, true] {
            let new = NewStructuredChunks { chunk_type, filtered, edges_unfiltered: true, ..new };
            let layout = choose_structured(&new).unwrap();
            assert_eq!((layout.sections, &*layout.metadata_sections), (sections, with_metadata));
            let flags = layout.flags;
            assert!(flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS));
            assert_eq!(flags.contains(ChunkFlags::SINGLE_INDEX_WITH_FILTER), filtered);
            let StructuredIndex::Single(single) = &layout.index else { panic!("another index") };
            // A full chunk has 96 bytes: one byte holds the size, and one byte is for growth.
            assert_eq!(single.size_width, if sections == 3 { 8 } else { 2 });
            let shape = ChunkShape::of_structured(&layout, new.max_dims, 4, filtered);
            let store = new_file(LibverBounds::DEFAULT);
            let editor = StructuredIndexEditor::open(&store, &layout, &shape).unwrap();
            assert!(editor.is_empty() && found(&editor, &store).is_empty());
        }
    }
    for wrong in [
        NewStructuredChunks { chunk: &[4], ..new },
        NewStructuredChunks { chunk: &[4, 0], ..new },
        NewStructuredChunks { chunk: &[4, 7], ..new },
        NewStructuredChunks { element_size: 0, ..new },
        NewStructuredChunks { element_size: u64::MAX, ..new },
        NewStructuredChunks { chunk_type: StructuredChunkType::empty(), ..new },
    ] {
        assert_eq!(choose_structured(&wrong).unwrap_err().kind(), ErrorKind::Misuse, "{wrong:?}");
    }
}
