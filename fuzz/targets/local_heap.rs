//! Local heaps: a header, and what follows as its data segment.
#![no_main]

use hyperslab_format::codec::Structure as _;
use hyperslab_format::local_heap::{LocalHeapHeader, name_at, read_free_blocks, write_free_blocks};
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::law;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let Some(header) = law::structure::<LocalHeapHeader>(bytes, &params) else { return };
    let segment = bytes.get(LocalHeapHeader::size(&params)..).unwrap_or_default();
    if let Ok(blocks) = read_free_blocks(segment, header.free_list, params) {
        let mut again = segment.to_vec();
        // Free blocks that overlap cannot be written in the order in which they were read.
        if let Ok(first) = write_free_blocks(&mut again, &blocks, params)
            && again == segment
        {
            assert_eq!(read_free_blocks(&again, first, params).as_ref(), Ok(&blocks));
        }
    }
    for offset in [0, 8, u64::from(control.choice(0)), u64::MAX] {
        if let Ok(name) = name_at(segment, offset) {
            assert!(!name.contains(&0));
        }
    }
});
