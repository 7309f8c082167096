//! Fixed arrays: a header, the data block behind it, its pages and elements.
#![no_main]

use hyperslab_format::chunk_index::{
    ArrayPage, ChunkElementLayout, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout,
};
use hyperslab_format::codec::{FileParams, Structure as _};
use hyperslab_fuzz::control::{Control, owner};
use hyperslab_fuzz::law;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let Some(header) = law::structure::<FixedArrayHeader>(bytes, &params) else { return };
    let rest = bytes.get(FixedArrayHeader::size(&params)..).unwrap_or_default();
    let Ok(layout) = FixedArrayLayout::new(&header, owner(rest, params, 1), params) else { return };
    if let Some(block) = law::structure::<FixedArrayDataBlock>(rest, &layout) {
        elements(&block.elements, &header, params);
    }
    for page in [0, 1, layout.pages().saturating_sub(1)] {
        let _ = block_offset(&layout, page);
        let Some(context) = layout.page(page) else { continue };
        if let Some(page) = law::structure::<ArrayPage>(rest, &context) {
            elements(&page.elements, &header, params);
        }
    }
    for element in [0, 1, layout.elements() / 2, layout.elements() - 1] {
        let (page, within) = layout.locate(element);
        assert!(layout.pages() == 0 || page < layout.pages(), "{page} {within}");
    }
});

fn block_offset(layout: &FixedArrayLayout, page: usize) -> (usize, usize) {
    (layout.page_offset(page), layout.total_size())
}

fn elements(bytes: &[u8], header: &FixedArrayHeader, params: FileParams) {
    let Ok(layout) = ChunkElementLayout::of_array(params, header.client, header.element_size.into(), 3)
    else {
        return;
    };
    for element in layout.iter(bytes).take(64) {
        let Ok(element) = element else { continue };
        let encoded = layout.encode(&element).unwrap_or_else(|error| panic!("{error}: {element:?}"));
        assert_eq!(layout.decode(&encoded).as_ref(), Ok(&element));
    }
}
