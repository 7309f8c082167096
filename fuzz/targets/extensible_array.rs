//! Extensible arrays: a header, and the block behind it as every kind of block.
#![no_main]

use hyperslab_format::chunk_index::{
    ArrayPage, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock, ExtensibleArrayGeometry,
    ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
};
use hyperslab_format::codec::Structure as _;
use hyperslab_fuzz::control::{Control, owner};
use hyperslab_fuzz::law;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let Some(header) = law::structure::<ExtensibleArrayHeader>(bytes, &params) else { return };
    let rest = bytes.get(ExtensibleArrayHeader::size(&params)..).unwrap_or_default();
    let Ok(geometry) = ExtensibleArrayGeometry::new(&header) else { return };
    let address = owner(rest, params, 1);
    let index = ExtensibleArrayBlockContext::index_block(&header, &geometry, address, params);
    law::structure::<ExtensibleArrayIndexBlock>(rest, &index);
    for number in [0, 1, geometry.first_secondary_block(), u32::from(control.choice(0))] {
        let shape = geometry.secondary_block(number);
        let secondary =
            ExtensibleArrayBlockContext::secondary_block(&header, &geometry, &shape, address, params);
        if let Some(block) = law::structure::<ExtensibleArraySecondaryBlock>(rest, &secondary) {
            for (data_block, page) in [(0, 0), (1, 3), (usize::MAX, usize::MAX)] {
                let _ = block.is_initialised(data_block, page, &secondary);
            }
        }
        let elements = shape.data_block_elements;
        let data = ExtensibleArrayBlockContext::data_block(&header, &geometry, elements, address, params);
        if let Some(block) = law::structure::<ExtensibleArrayDataBlock>(rest, &data) {
            let _ = block.check_offset(shape.first_element, shape.first_element);
        }
        let _ = (data.page_offset(data.pages()), data.total_size());
        if data.pages() > 0 {
            law::structure::<ArrayPage>(rest, &data.page());
        }
    }
    for index in [0, 1, 100, header.max_index_set, u64::MAX] {
        let _ = geometry.locate(index);
    }
});
