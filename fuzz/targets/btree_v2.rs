//! Version 2 B-trees: a header, a node behind it, and the node's records; shared message tables.
#![no_main]

use hyperslab_format::btree_v2::records::{
    AttributeCreationOrderRecord, AttributeNameRecord, ChunkRecord, ChunkRecordContext, HugeObjectRecord,
    HugeRecordContext, LinkCreationOrderRecord, LinkNameRecord,
};
use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Layout, BTreeV2Leaf};
use hyperslab_format::codec::{FileParams, Structure as _};
use hyperslab_format::shared_message::{
    SharedMessageList, SharedMessageListContext, SharedMessageRecord, SharedMessageTable,
    SharedMessageTableContext,
};
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::{law, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    shared_messages(control, bytes);
    let Some(header) = law::structure::<BTreeV2Header>(bytes, &params) else { return };
    let Ok(layout) = BTreeV2Layout::new(&header, params) else { return };
    let node = bytes.get(BTreeV2Header::size(&params)..).unwrap_or_default();
    let records = u64::from(header.root_records);
    if let Ok(context) = layout.leaf(records) {
        let seal = |bytes: &mut [u8]| seal::seal_used(bytes, context.used_size());
        if let Some(leaf) = law::structure_sealed::<BTreeV2Leaf>(node, &context, seal) {
            all_records(&leaf.records, &header, params);
        }
    }
    for level in [1, header.depth, u16::from(control.choice(0))] {
        if let Ok(context) = layout.internal(level, records) {
            let seal = |bytes: &mut [u8]| seal::seal_used(bytes, context.used_size());
            if let Some(node) = law::structure_sealed::<BTreeV2Internal>(node, &context, seal) {
                assert_eq!(node.children.len() as u64, records + 1);
                all_records(&node.records, &header, params);
            }
        }
    }
});

fn all_records(bytes: &[u8], header: &BTreeV2Header, params: FileParams) {
    for (indirect, filtered) in [(false, false), (false, true), (true, false), (true, true)] {
        law::records::<HugeObjectRecord>(bytes, HugeRecordContext { params, indirect, filtered });
    }
    law::records::<LinkNameRecord>(bytes, ());
    law::records::<LinkCreationOrderRecord>(bytes, ());
    law::records::<AttributeNameRecord>(bytes, ());
    law::records::<AttributeCreationOrderRecord>(bytes, ());
    law::records::<SharedMessageRecord>(bytes, params);
    for rank in [1, 2, 3, 32] {
        let context =
            ChunkRecordContext::new(params, rank, header.record_type, usize::from(header.record_size), 0);
        if let Ok(context) = context {
            law::records::<ChunkRecord>(bytes, context);
        }
    }
}

fn shared_messages(control: Control, bytes: &[u8]) {
    let params = control.params();
    let indexes = u8::try_from(control.count(1, 1)).unwrap_or(u8::MAX);
    law::structure::<SharedMessageTable>(bytes, &SharedMessageTableContext { params, indexes });
    let (records, capacity) = (control.count(2, 3), control.count(3, 50));
    law::structure::<SharedMessageList>(bytes, &SharedMessageListContext { params, records, capacity });
    law::records::<SharedMessageRecord>(bytes, params);
}
