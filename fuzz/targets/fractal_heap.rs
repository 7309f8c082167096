//! Fractal heaps: a header, a block behind it, and IDs.
#![no_main]

use hyperslab_format::codec::FileParams;
use hyperslab_format::codec::Structure as _;
use hyperslab_format::fractal_heap::{
    DoublingTable, FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, HeapIdLayout,
};
use hyperslab_fuzz::control::{Control, owner};
use hyperslab_fuzz::{law, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let Ok(context) = FractalHeapHeader::stored_context(bytes, params) else { return };
    let Some(header) = law::structure::<FractalHeapHeader>(bytes, &context) else { return };
    let rest = bytes.get(FractalHeapHeader::size(&context)..).unwrap_or_default();
    if let Ok(ids) = HeapIdLayout::new(&header, params) {
        heap_ids(&ids, rest);
    }
    let Ok(table) = DoublingTable::new(&header) else { return };
    blocks(&table, &header, rest, params);
    for offset in [0, 1, header.starting_block_size, header.managed_size, u64::MAX] {
        let entry = table.locate(offset);
        let number = entry.number(&table);
        if number < 1 << 20 {
            assert_eq!(table.entry(number), entry);
        }
    }
});

fn heap_ids(ids: &HeapIdLayout, rest: &[u8]) {
    let Some(id) = rest.get(..ids.id_length()) else { return };
    if let Ok(value) = ids.decode(id) {
        let encoded = ids.encode(&value).unwrap_or_else(|error| panic!("{error}: {value:?}"));
        assert_eq!(ids.decode(&encoded).as_ref(), Ok(&value), "{encoded:02x?}");
    }
}

fn blocks(table: &DoublingTable, header: &FractalHeapHeader, rest: &[u8], params: FileParams) {
    let address = owner(rest, params, 0);
    for size in [header.starting_block_size, header.max_direct_size, 1024, 2048] {
        let Ok(context) = table.direct_block(params, address, size) else { continue };
        let at = context.prefix_size().saturating_sub(4);
        let seal = |bytes: &mut [u8]| seal::seal_within(bytes, at);
        if context.size > 1 << 20 {
            continue;
        }
        if let Some(block) = law::structure_sealed::<FractalHeapDirectBlock>(rest, &context, seal) {
            let start = block.block_offset;
            let _ = block.object(start.saturating_add(20), 10, &context);
            let _ = block.object(start, u64::MAX, &context);
        }
    }
    for rows in [u32::from(header.root_rows), 1, table.max_root_rows()] {
        let context = table.indirect_block(params, address, rows);
        law::structure::<FractalHeapIndirectBlock>(rest, &context);
    }
}
