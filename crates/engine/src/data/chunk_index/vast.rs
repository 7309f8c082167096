//! Tests of datasets with a very large shape and an almost empty chunk index: the cost of a walk
//! depends on the existing blocks, not on the shape.

use hyperslab_dataspace::Dims;
use hyperslab_format::chunk_index::{
    ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient, ExtensibleArrayBlockContext,
    ExtensibleArrayGeometry, ExtensibleArrayHeader, ExtensibleArrayIndexBlock, FixedArrayDataBlock,
    FixedArrayHeader, FixedArrayLayout,
};
use hyperslab_format::codec::{Address, FileParams, Structure};

use super::extensible_array::ExtensibleArrayIndex;
use super::fixed_array::FixedArrayIndex;
use super::implicit::ImplicitIndex;
use super::order::ArrayOrder;
use super::{ChunkBox, ChunkIndex, ChunkLocation, ChunkRules};
use crate::error::ErrorKind;
use crate::store::Store;
use crate::store::image::image;

const PARAMS: FileParams = FileParams::DEFAULT;
const RULES: ChunkRules = ChunkRules { bytes: 8, size_width: None };
const VAST_CHUNKS: u64 = 1 << 60;
const HEADER: Address = Address::new(512);
const BLOCK: Address = Address::new(1024);

fn whole(chunks: u64) -> ChunkBox {
    ChunkBox { first: Dims::from_slice(&[0]), last: Dims::from_slice(&[chunks - 1]) }
}

fn found(index: &dyn ChunkIndex, store: &Store) -> crate::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    index.for_each_in(store, &whole(VAST_CHUNKS), &mut |scaled, _| {
        numbers.push(scaled[0]);
        Ok(())
    })?;
    Ok(numbers)
}

#[test]
fn an_extensible_array_skips_blocks_that_do_not_exist() {
    let header = ExtensibleArrayHeader {
        version: 0,
        client: ChunkIndexClient::CHUNKS,
        element_size: 8,
        max_elements_bits: 64,
        index_block_elements: 4,
        min_data_block_elements: 16,
        min_secondary_block_pointers: 4,
        page_bits: 10,
        secondary_blocks: 0,
        secondary_block_size: 0,
        data_blocks: 0,
        data_block_size: 0,
        max_index_set: VAST_CHUNKS,
        elements: 4,
        index_block: BLOCK,
    };
    let geometry = ExtensibleArrayGeometry::new(&header).unwrap();
    let context = ExtensibleArrayBlockContext::index_block(&header, &geometry, HEADER, PARAMS);
    let layout = ChunkElementLayout::new(PARAMS, ChunkElementForm::Plain);
    let mut elements = layout.unset(4);
    let chunk = ChunkElement { address: Address::new(2048), ..ChunkElement::UNSET };
    layout.set(&mut elements, 2, &chunk).unwrap();
    let block = ExtensibleArrayIndexBlock {
        version: 0,
        elements,
        data_blocks: vec![Address::UNDEFINED; geometry.index_block_data_blocks()],
        secondary_blocks: vec![Address::UNDEFINED; geometry.index_block_secondary_blocks()],
    };
    let store = image(&[(HEADER, header.encode(&PARAMS).unwrap()), (BLOCK, block.encode(&context).unwrap())]);
    let order = ArrayOrder::new(&[1], &[None]).unwrap();
    let index = ExtensibleArrayIndex::<ChunkLocation>::open(&store, HEADER, RULES, order).unwrap();
    assert_eq!(found(&index, &store).unwrap(), [2]);
    assert_eq!(index.get(&store, &[2]).unwrap().unwrap().address, Address::new(2048));
    assert_eq!(index.get(&store, &[VAST_CHUNKS - 1]).unwrap(), None);
}

#[test]
fn a_fixed_array_skips_pages_that_were_never_written() {
    let mut header = FixedArrayHeader {
        version: 0,
        client: ChunkIndexClient::CHUNKS,
        element_size: 8,
        page_bits: 50,
        elements: 1 << 58,
        data_block: BLOCK,
    };
    let layout = FixedArrayLayout::new(&header, HEADER, PARAMS).unwrap();
    let block = FixedArrayDataBlock {
        version: 0,
        page_bitmap: vec![0; layout.pages().div_ceil(8)],
        elements: Vec::new(),
    };
    let block = block.encode(&layout).unwrap();
    let order = || ArrayOrder::new(&[1], &[Some(1 << 58)]).unwrap();
    let file = image(&[(HEADER, header.encode(&PARAMS).unwrap()), (BLOCK, block)]);
    let index = FixedArrayIndex::<ChunkLocation>::open(&file, HEADER, RULES, order()).unwrap();
    // The array ends before the box.
    assert_eq!(found(&index, &file).unwrap_err().kind(), ErrorKind::Corrupt);
    header.data_block = Address::UNDEFINED;
    let file = image(&[(HEADER, header.encode(&PARAMS).unwrap())]);
    let index = FixedArrayIndex::<ChunkLocation>::open(&file, HEADER, RULES, order()).unwrap();
    assert_eq!(found(&index, &file).unwrap(), [0_u64; 0]);
}

#[test]
fn chunks_side_by_side_end_with_the_file() {
    let order = ArrayOrder::new(&[1], &[Some(VAST_CHUNKS)]).unwrap();
    let index = ImplicitIndex { first: Address::new(512), chunk_bytes: 64, order };
    let store = image(&[]);
    assert_eq!(found(&index, &store).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(index.get(&store, &[55]).unwrap().is_some());
    assert!(index.get(&store, &[56]).is_err());
}
