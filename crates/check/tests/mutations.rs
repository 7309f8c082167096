//! Files with targeted damage and valid checksums: the check finds each damage and names the right
//! structure.

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]

mod image;

use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node};
use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::chunk_index::{
    ExtensibleArrayHeader, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout,
};
use hyperslab_format::codec::Address;
use hyperslab_format::fractal_heap::{FractalHeapHeader, FractalHeapHeaderContext};
use hyperslab_format::free_space::FreeSpaceHeader;
use hyperslab_format::local_heap::LocalHeapHeader;
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageList, SharedMessageListContext, SharedMessageLocation, SharedMessageTable,
    SharedMessageTableContext,
};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::symbol_table_entry::SymbolTableCache;
use hyperslab_format::symbol_table_node::{SymbolTableNode, SymbolTableNodeContext};
use image::{Image, PARAMS};

const GROUP_TREE: BTreeV1Context = BTreeV1Context { params: PARAMS, kind: BTreeV1Kind::Group, k: 16 };
const SYMBOLS: SymbolTableNodeContext = SymbolTableNodeContext { params: PARAMS, leaf_k: 4 };
const HEAP: FractalHeapHeaderContext = FractalHeapHeaderContext { params: PARAMS, filters_length: 0 };

/// Address of the root group's header in files with superblock version 0.
const OLD_ROOT: usize = 0x60;

fn superblock(image: &mut Image, change: impl FnOnce(&mut Superblock)) {
    let mut superblock = Superblock::decode(&image.bytes).unwrap();
    change(&mut superblock);
    let bytes = superblock.encode().unwrap();
    image.bytes[..bytes.len()].copy_from_slice(&bytes);
}

#[test]
fn a_truncated_file_is_a_fault() {
    let mut image = Image::of("attributes_latest.h5");
    image.bytes.pop();
    image.has("superblock", "the end of the file at");
}

#[test]
fn blocks_after_the_end_of_the_file_are_faults() {
    let mut image = Image::of("attributes_latest.h5");
    superblock(&mut image, |superblock| superblock.end_of_file = Address::new(200));
    image.has("object header", "ends past the end of the file at 0xc8");
}

#[test]
fn status_flags_of_a_killed_writer_are_a_fault() {
    let mut image = Image::of("attributes_latest.h5");
    superblock(&mut image, |superblock| {
        superblock.consistency = hyperslab_format::superblock::ConsistencyFlags::WRITE_ACCESS;
    });
    image.has("superblock", "marked as open for writing");
}

#[test]
fn bytes_after_the_end_of_the_file_are_a_remark() {
    let mut image = Image::of("attributes_latest.h5");
    image.bytes.extend([0; 100]);
    let report = image.check();
    assert!(report.is_sound() && report.remarks == 1, "{report}");
}

#[test]
fn counts_of_an_old_object_header() {
    let good = Image::of("attributes_earliest.h5");
    let mut image = good.clone();
    image.bytes[OLD_ROOT + 2] += 1;
    image.has("object header", "number of messages");
    let mut image = good.clone();
    image.bytes[OLD_ROOT + 4] += 1;
    image.has("object header", "reference count: 2 stated, 1 found");
    let mut image = good;
    let continuation = image.old_messages(OLD_ROOT, MessageType::CONTINUATION)[0];
    image.bytes[continuation + 8] += 8;
    assert!(!image.check().is_sound());
}

#[test]
fn a_new_object_header() {
    let good = Image::of("attributes_latest.h5");
    let mut image = good.clone();
    let header = good.messages(MessageType::ATTRIBUTE)[0].0;
    image.bytes[header + 12] ^= 1;
    assert!(!image.check().is_sound());
    let (header, size, body) = Image::of("groups_latest.h5").messages(MessageType::LINK_INFO)[0];
    let mut image = Image::of("groups_latest.h5");
    let flags = image.bytes[header + body - 1];
    image.patch(header, size, body - 1, &[flags | 0x40]);
    image.has("object header", "a link info message with the flag of a shared message");
}

#[test]
fn two_messages_of_one_kind() {
    let mut image = Image::of("layouts_latest.h5");
    let (header, size, body) = image.messages(MessageType::FILL_VALUE)[0];
    let kind = image.bytes[header..header + body].to_vec();
    // The data layout message becomes a second fill value message, so the dataset has no layout.
    let layout =
        image.messages(MessageType::DATA_LAYOUT).into_iter().find(|found| found.0 == header).unwrap();
    assert!(kind.len() > 4);
    image.patch(header, size, layout.2 - 4, &[u8::try_from(MessageType::FILL_VALUE.0).unwrap()]);
    image.has("object header", "2 messages of the kind fill value message");
}

#[test]
fn a_damaged_symbol_table_is_a_fault() {
    let good = Image::of("groups_earliest.h5");
    let nodes = good.blocks::<SymbolTableNode>("SNOD", &SYMBOLS);
    let (at, node) = nodes.iter().find(|(_, node)| node.entries.len() > 2).unwrap().clone();
    let mut image = good.clone();
    image.change::<SymbolTableNode>(at, &SYMBOLS, |node| node.entries.swap(0, 1));
    image.has("symbol table node", "must be greater than the preceding name");
    let cached = nodes.iter().find_map(|(at, node)| {
        let group = |entry: &_| matches!(entry, SymbolTableCache::Group { .. });
        Some((*at, node.entries.iter().position(|entry| group(&entry.cache))?))
    });
    let (cached, number) = cached.unwrap();
    let mut image = good.clone();
    image.change::<SymbolTableNode>(cached, &SYMBOLS, |node| {
        node.entries[number].cache =
            SymbolTableCache::Group { btree: Address::new(8), heap: Address::new(16) };
    });
    image.has("symbol table entry", "differ from those of the group");
    let mut image = good.clone();
    image.change::<SymbolTableNode>(at, &SYMBOLS, |node| {
        node.entries.remove(0);
    });
    assert!(image.check().is_sound(), "a link fewer is no fault, if nothing else leads to the object");
    let mut image = good;
    image.change::<SymbolTableNode>(at, &SYMBOLS, |node| node.entries[1].header = node.entries[0].header);
    assert!(node.entries[0].header != node.entries[1].header);
    image.has("object header", "reference count: 1 stated, 2 found");
}

#[test]
fn a_damaged_b_tree_of_a_symbol_table_is_a_fault() {
    let good = Image::of("groups_earliest.h5");
    let trees = good.blocks::<BTreeV1Node>("TREE", &GROUP_TREE);
    let (at, _) = *trees
        .iter()
        .map(|(at, node)| (*at, node))
        .find(|(_, node)| node.children.len() > 1)
        .as_ref()
        .unwrap();
    let mut image = good.clone();
    image.change::<BTreeV1Node>(at, &GROUP_TREE, |node| node.right = Address::new(8));
    image.has("version 1 B-tree node", "the last node of a level states the right sibling 0x8");
    let mut image = good.clone();
    image.change::<BTreeV1Node>(at, &GROUP_TREE, |node| node.children.swap(0, 1));
    image.has("symbol table node", "is outside the key range of its node");
    let mut image = good.clone();
    image.change::<BTreeV1Node>(at, &GROUP_TREE, |node| {
        let BTreeV1Keys::Group(keys) = &mut node.keys else { unreachable!() };
        keys.swap(0, 1);
    });
    image.has("version 1 B-tree node", "the key 0 of the node must be less than the next key");
    let mut image = good;
    image.change::<BTreeV1Node>(at, &GROUP_TREE, |node| node.children[1] = node.children[0]);
    image.has("symbol table node", "more than one reference leads to this block");
}

#[test]
fn a_damaged_local_heap_of_a_symbol_table_is_a_fault() {
    let good = Image::of("groups_earliest.h5");
    let heaps = good.blocks::<LocalHeapHeader>("HEAP", &PARAMS);
    let mut found = 0;
    for (at, header) in heaps {
        let segment = usize::try_from(header.segment.raw()).unwrap();
        let mut image = good.clone();
        image.change::<LocalHeapHeader>(at, &PARAMS, |header| header.segment_size += 1 << 40);
        image.has("local heap data segment", "inside the file");
        // A free block over all names, if the group has names.
        let mut image = good.clone();
        image.change::<LocalHeapHeader>(at, &PARAMS, |header| header.free_list = Some(8));
        image.bytes[segment + 8..segment + 16].copy_from_slice(&1_u64.to_le_bytes());
        image.bytes[segment + 16..segment + 24].copy_from_slice(&(header.segment_size - 8).to_le_bytes());
        let report = image.check();
        found += report
            .fault_findings()
            .filter(|fault| fault.text.starts_with("a name lies in a free block"))
            .count();
    }
    assert!(found > 0);
}

#[test]
fn statistics_of_a_fractal_heap() {
    let good = Image::of("groups_new_style_latest.h5");
    let (at, _) = good.blocks::<FractalHeapHeader>("FRHP", &HEAP)[0].clone();
    type Case = (&'static str, fn(&mut FractalHeapHeader));
    let cases: [Case; 7] = [
        ("managed objects", |header| header.managed_objects += 1),
        ("free bytes in managed blocks", |header| header.free_space -= 1),
        ("bytes of direct blocks", |header| header.allocated_size += 512),
        ("bytes of address space", |header| header.managed_size *= 2),
        ("huge objects", |header| header.huge_objects = 1),
        ("bytes of huge objects", |header| header.huge_size = 7),
        ("tiny objects", |header| header.tiny_objects = 1),
    ];
    for (text, change) in cases {
        let mut image = good.clone();
        image.change(at, &HEAP, change);
        image.has("fractal heap header", &format!("{text}:"));
    }
    // libhdf5 can lose count of a block in this way.
    let mut image = good.clone();
    image.change(at, &HEAP, |header: &mut FractalHeapHeader| {
        (header.allocated_size, header.free_space) = (0, header.free_space + 500);
    });
    let report = image.check();
    assert!(report.is_sound() && report.remarks == 2, "{report}");
}

#[test]
fn objects_and_blocks_of_a_fractal_heap() {
    let good = Image::of("groups_new_style_latest.h5");
    let (at, header) = good.blocks::<FractalHeapHeader>("FRHP", &HEAP)[0].clone();
    assert_eq!(header.root_rows, 0);
    let block = usize::try_from(header.root.raw()).unwrap();
    let mut image = good.clone();
    image.bytes[block + 30] ^= 0x55;
    assert!(!image.check().is_sound());
    let mut image = good.clone();
    image.change::<FractalHeapHeader>(at, &HEAP, |header| header.root = Address::new(48));
    assert!(!image.check().is_sound());
    // The heap's free-space manager now states less free space than the header.
    let mut image = good;
    let manager = usize::try_from(header.free_space_manager.raw()).unwrap();
    image.change::<FreeSpaceHeader>(manager, &PARAMS, |header| header.total_space -= 1);
    image.has("free-space manager header", "bytes in all sections");
}

#[test]
fn counts_of_a_version_2_tree() {
    let good = Image::of("groups_large_latest.h5");
    for (at, header) in good.blocks::<BTreeV2Header>("BTHD", &PARAMS) {
        let mut image = good.clone();
        image.change::<BTreeV2Header>(at, &PARAMS, |header| header.total_records += 1);
        image.has("version 2 B-tree header", "records in the tree");
        let mut image = good.clone();
        image.change::<BTreeV2Header>(at, &PARAMS, |header| header.record_type = 3);
        image.has("version 2 B-tree header", "record type 3");
        if header.depth > 0 {
            let mut image = good.clone();
            image.change::<BTreeV2Header>(at, &PARAMS, |header| header.depth -= 1);
            assert!(!image.check().is_sound());
        }
    }
}

/// Changes the records of each leaf of the given type in turn; at least one change must give the
/// expected fault.
#[track_caller]
fn changed_leaf(
    fixture: &str,
    record_type: u8,
    change: impl Fn(&mut [u8], usize),
    (structure, text): (&str, &str),
) {
    let good = Image::of(fixture);
    let mut reports = String::new();
    for (at, size, count) in good.leaves(record_type).into_iter().filter(|(_, _, count)| *count > 1) {
        let mut image = good.clone();
        let mut records = image.bytes[at + 6..at + 6 + size * count].to_vec();
        change(&mut records, size);
        image.patch(at, 6 + size * count + 4, 6, &records);
        let report = image.check();
        if report.fault_findings().any(|fault| fault.structure == structure && fault.text.contains(text)) {
            return;
        }
        reports.push_str(&report.to_string());
    }
    panic!("no `{structure}: …{text}…` in\n{reports}");
}

#[test]
fn records_of_version_2_trees_out_of_order() {
    let exchange = |records: &mut [u8], size: usize| {
        let (one, other) = records.split_at_mut(size);
        one.swap_with_slice(&mut other[..size]);
    };
    let tree = ("version 2 B-tree", "expected ascending");
    changed_leaf("groups_new_style_latest.h5", 5, exchange, tree);
    changed_leaf("groups_new_style_latest.h5", 6, exchange, tree);
    changed_leaf("attributes_dense_latest.h5", 8, exchange, tree);
    changed_leaf("attributes_dense_latest.h5", 9, exchange, tree);
    changed_leaf("chunk_indexes_latest.h5", 10, exchange, ("dataset chunk record", "expected ascending"));
    changed_leaf("chunk_indexes_latest.h5", 11, exchange, ("dataset chunk record", "expected ascending"));
    let shared = ("shared message record", "is less than the hash of the preceding record");
    changed_leaf("shared_messages_btree_latest.h5", 7, exchange, shared);
}

#[test]
fn indexes_that_disagree() {
    let set = |at: usize, bytes: &'static [u8]| {
        move |records: &mut [u8], _: usize| records[at..at + bytes.len()].copy_from_slice(bytes)
    };
    let hash = |structure| (structure, "is not the hash of");
    changed_leaf("groups_new_style_latest.h5", 5, set(0, &[0; 4]), hash("link name record"));
    changed_leaf("attributes_dense_latest.h5", 8, set(13, &[0; 4]), hash("attribute name record"));
    let same = |records: &mut [u8], size: usize| records.copy_within(0..size, size);
    let disagree = ("version 2 B-tree", "the indexes by name and by creation order disagree");
    changed_leaf("groups_new_style_latest.h5", 6, same, disagree);
    changed_leaf("attributes_dense_latest.h5", 9, same, disagree);
    let twice = ("version 2 B-tree", "two records have the creation order");
    changed_leaf("attributes_dense_latest.h5", 9, same, twice);
    let beyond = ("attribute message", "creation order 65535, expected less than");
    changed_leaf("attributes_dense_latest.h5", 8, set(9, &[0xff, 0xff, 0, 0]), beyond);
    // Two names refer to one object of the heap.
    let overlap = |records: &mut [u8], size: usize| records.copy_within(4..size, size + 4);
    changed_leaf("groups_new_style_latest.h5", 5, overlap, ("fractal heap", "overlap"));
}

#[test]
fn the_next_creation_order_of_links() {
    let mut image = Image::of("groups_new_style_latest.h5");
    let tracked = |image: &Image, (header, _, body): &(usize, usize, usize)| {
        image.bytes[header + body + 1] & 1 != 0 && image.bytes[header + body + 2] > 0
    };
    let found = image.messages(MessageType::LINK_INFO).into_iter().find(|found| tracked(&image, found));
    let (header, size, body) = found.unwrap();
    image.patch(header, size, body + 2, &[0; 8]);
    image.has("link message", "expected less than 0");
}

#[test]
fn links_of_one_name() {
    let mut image = Image::of("groups_latest.h5");
    let links = image.messages(MessageType::LINK);
    let pair = links.windows(2).find(|pair| {
        pair[0].0 == pair[1].0 && {
            let name = |found: &(usize, usize, usize)| image.bytes[found.0 + found.2..].first().copied();
            name(&pair[0]) == name(&pair[1])
        }
    });
    let (one, other) = (pair.unwrap()[0], pair.unwrap()[1]);
    // Copies the whole message over the other one, which has at least as many bytes.
    let length = other.2 - one.2 - 4;
    let body = image.bytes[one.0 + one.2..one.0 + one.2 + length].to_vec();
    image.patch(one.0, one.1, other.2, &body);
    assert!(!image.check().is_sound());
}

#[test]
fn a_fixed_array() {
    let good = Image::of("chunk_indexes_latest.h5");
    let (at, header) = good
        .blocks::<FixedArrayHeader>("FAHD", &PARAMS)
        .into_iter()
        .find(|(_, header)| header.client.0 == 0)
        .unwrap();
    let mut image = good.clone();
    image.change::<FixedArrayHeader>(at, &PARAMS, |header| header.page_bits += 1);
    let layout = FixedArrayLayout::new(&header, Address::new(at as u64), PARAMS).unwrap();
    assert!(
        image.check().is_sound() || layout.pages() > 0,
        "the size of pages matters only where there are some"
    );
    let mut image = good.clone();
    image.change::<FixedArrayHeader>(at, &PARAMS, |header| header.elements -= 1);
    image.has("fixed array header", "number of elements");
    let mut image = good;
    let block = usize::try_from(header.data_block.raw()).unwrap();
    image.change::<FixedArrayDataBlock>(block, &layout, |block| {
        let first = block.elements[..8].to_vec();
        block.elements[8..16].copy_from_slice(&first);
    });
    image.has("file", "bytes belong to two blocks: chunks, and chunks");
}

#[test]
fn counts_of_an_extensible_array() {
    let good = Image::of("chunk_indexes_large_latest.h5");
    let arrays = good.blocks::<ExtensibleArrayHeader>("EAHD", &PARAMS);
    let (at, header) = arrays.iter().max_by_key(|(_, header)| header.max_index_set).unwrap();
    assert!(header.secondary_blocks > 0 && header.data_blocks > 0);
    type Case = (&'static str, fn(&mut ExtensibleArrayHeader));
    let cases: [Case; 6] = [
        ("secondary blocks:", |header| header.secondary_blocks += 1),
        ("bytes of secondary blocks", |header| header.secondary_block_size += 1),
        ("data blocks:", |header| header.data_blocks -= 1),
        ("bytes of data blocks", |header| header.data_block_size -= 1),
        ("elements with a block", |header| header.elements += 1),
        ("elements set", |header| header.max_index_set = 3),
    ];
    for (text, change) in cases {
        let mut image = good.clone();
        image.change(*at, &PARAMS, change);
        image.has("extensible array header", text);
    }
}

#[test]
fn damaged_entries_of_a_version_1_b_tree_of_chunks_are_faults() {
    let good = Image::of("chunk_indexes_earliest.h5");
    let context = |rank| BTreeV1Context { params: PARAMS, kind: BTreeV1Kind::Chunks { rank }, k: 32 };
    let plain = |node: &BTreeV1Node| {
        let BTreeV1Keys::Chunks(keys) = &node.keys else { return false };
        let one = |at: usize| keys.sizes[at] == keys.sizes[0] && keys.offset(at).unwrap().last() == Some(&0);
        node.level == 0 && node.children.len() > 2 && keys.sizes[0] > 0 && (0..node.children.len()).all(one)
    };
    let trees = |rank| {
        good.blocks::<BTreeV1Node>("TREE", &context(rank)).into_iter().filter(move |(_, node)| plain(node))
    };
    let (rank, at) = (1..=2).find_map(|rank| Some((rank, trees(rank).next()?.0))).unwrap();
    let change = |change: fn(&mut hyperslab_format::btree_v1::ChunkKeys)| {
        let mut image = good.clone();
        image.change::<BTreeV1Node>(at, &context(rank), |node| {
            let BTreeV1Keys::Chunks(keys) = &mut node.keys else { unreachable!() };
            change(keys);
        });
        image
    };
    change(|keys| keys.offsets[0] = 1)
        .has("version 1 B-tree node", "is not a multiple of the chunk dimensions");
    change(|keys| {
        let last = keys.offsets.len() - 2 * keys.width;
        keys.offsets[last] += 1 << 40;
    })
    .has("chunk", "begins outside the extent");
    change(|keys| keys.sizes[0] += 1).has("chunk", "bytes, expected");
    change(|keys| keys.sizes[0] = 0).has("chunk", "has no bytes");
    let mut image = good.clone();
    image.change::<BTreeV1Node>(at, &context(rank), |node| node.children.swap(0, 1));
    assert!(image.check().is_sound(), "a check cannot distinguish two swapped chunks");
}

#[test]
fn a_chunk_that_cannot_be_decoded_is_a_fault() {
    let good = Image::of("filters_latest.h5");
    let report = good.check();
    assert!(report.is_sound(), "{report}");
    let arrays = good.blocks::<FixedArrayHeader>("FAHD", &PARAMS);
    let mut found = 0;
    for (_, header) in arrays.iter().filter(|(_, header)| header.client.0 == 1) {
        let block = usize::try_from(header.data_block.raw()).unwrap();
        let chunk = good.address(block + 14);
        let mut image = good.clone();
        image.bytes[chunk + 3] ^= 0xff;
        found += u32::from(!image.check().is_sound());
    }
    assert!(found > 0, "no chunk with a checksum of its own");
}

#[test]
fn free_space_of_the_file() {
    let good = Image::of("file_space_persisted_latest.h5");
    let managers = good.blocks::<FreeSpaceHeader>("FSHD", &PARAMS);
    let (at, header) =
        managers.iter().find(|(_, header)| header.client.0 == 1 && header.sections > 0).unwrap().clone();
    let mut image = good.clone();
    image.change::<FreeSpaceHeader>(at, &PARAMS, |header| header.total_space += 1);
    image.has("free-space manager header", "bytes in all sections");
    let mut image = good.clone();
    image.change::<FreeSpaceHeader>(at, &PARAMS, |header| header.sections += 1);
    image.has("free-space manager header", "number of sections");
    // A section over the superblock: signature, version and header address, count, size, then the
    // offset.
    let mut image = good;
    let list = usize::try_from(header.list.raw()).unwrap();
    let widths = 1 + usize::try_from(header.max_section_size.ilog2() / 8 + 1).unwrap();
    let offset = usize::from(header.address_bits.div_ceil(8));
    image.patch(list, usize::try_from(header.list_used).unwrap(), 13 + widths, &vec![0; offset]);
    image.has("file", "belong to two blocks: superblock, and free space");
}

#[test]
fn shared_messages() {
    let good = Image::of("shared_messages_list_latest.h5");
    let table = (1..=8).find_map(|indexes| {
        let context = SharedMessageTableContext { params: PARAMS, indexes };
        good.blocks::<SharedMessageTable>("SMTB", &context).pop().map(|(at, table)| (at, table, context))
    });
    let (at, table, context) = table.unwrap();
    let mut image = good.clone();
    image.change::<SharedMessageTable>(at, &context, |table| table.indexes[0].messages -= 1);
    assert!(!image.check().is_sound());
    let index = &table.indexes[0];
    let list = usize::try_from(index.index.raw()).unwrap();
    let context =
        SharedMessageListContext { params: PARAMS, records: index.messages, capacity: index.list_cutoff };
    let change = |change: fn(&mut SharedMessageList)| {
        let mut image = good.clone();
        image.change(list, &context, change);
        image
    };
    change(|list| {
        let counts = list.records.iter_mut().filter_map(|record| match &mut record.location {
            SharedMessageLocation::Heap { reference_count, .. } => Some(reference_count),
            SharedMessageLocation::Header { .. } => None,
        });
        counts.for_each(|count| *count += 1);
    })
    .has("shared message record", "users of a message");
    change(|list| list.records.iter_mut().for_each(|record| record.hash ^= 1))
        .has("shared message record", "is not the hash of the message");
}

#[test]
fn raw_data_of_two_datasets_that_overlap_is_a_fault() {
    let mut image = Image::of("layouts_latest.h5");
    let contiguous =
        |image: &Image, (header, _, body): &(usize, usize, usize)| image.bytes[header + body + 1] == 1;
    let layouts = image.messages(MessageType::DATA_LAYOUT);
    let defined =
        |image: &Image, (header, _, body): &(usize, usize, usize)| image.bytes[header + body + 2] != 0xff;
    let found: Vec<_> =
        layouts.into_iter().filter(|found| contiguous(&image, found) && defined(&image, found)).collect();
    let [one, other, ..] = found.as_slice() else { unreachable!("{found:?}") };
    let address = image.bytes[one.0 + one.2 + 2..one.0 + one.2 + 10].to_vec();
    let mut short = image.clone();
    short.patch(one.0, one.1, one.2 + 10, &1_u64.to_le_bytes());
    short.has("data layout message", "1 bytes of raw data, expected");
    image.patch(other.0, other.1, other.2 + 2, &address);
    image.has("file", "contiguous raw data, and contiguous raw data");
}

#[test]
fn elements_that_refer_to_missing_heap_objects_are_faults() {
    let good = Image::of("datatypes_strings_latest.h5");
    let collection = good.places("GCOL")[0];
    // Object 1 gets another number.
    let mut image = good.clone();
    assert_eq!(image.bytes[collection + 16], 1);
    image.bytes[collection + 16] = 200;
    image.has("global heap collection", "no object 1 in the collection");
    let mut image = good.clone();
    image.bytes[collection + 24] = 0;
    assert!(!image.check().is_sound());
    let mut image = good;
    image.bytes[collection + 8..collection + 16].copy_from_slice(&2048_u64.to_le_bytes());
    image.has("global heap collection", "a collection of 2048 bytes, expected at least 4096");
}

#[test]
fn a_virtual_dataset() {
    let Some(referee) = hyperslab_testkit::referee::python() else { return };
    let path = std::env::temp_dir().join(format!("hyperslab-check-virtual-{}.h5", std::process::id()));
    let code = "import h5py, sys\n\
        f = h5py.File(sys.argv[1], 'w', libver='latest')\n\
        layout = h5py.VirtualLayout((4,), 'i4')\n\
        layout[:] = h5py.VirtualSource('other.h5', 'd', (4,))\n\
        f.create_virtual_dataset('v', layout)\n\
        f.close()";
    referee.run_script(code, [&path]).unwrap();
    let good = Image { bytes: std::fs::read(&path).unwrap() };
    std::fs::remove_file(&path).unwrap();
    let report = good.check();
    assert!(
        report.is_sound() && report.usage_of(hyperslab_check::BlockKind::GlobalHeap).blocks == 1,
        "{report}"
    );
    let (header, size, body) = good.messages(MessageType::DATA_LAYOUT)[0];
    let mut image = good.clone();
    image.patch(header, size, body + 10, &[77]);
    image.has("global heap collection", "no object 77 in the collection");
    let mut image = good;
    let collection = image.address(header + body + 2);
    image.bytes[collection + 40] ^= 1;
    image.has("virtual dataset mapping", "checksum");
}

#[test]
fn findings_name_the_objects() {
    let mut image = Image::of("committed_types_earliest.h5");
    let header = image.places("\u{1}\0").into_iter().find(|at| {
        let mut changed = image.clone();
        let Some(count) = changed.bytes.get_mut(at + 4) else { return false };
        *count = count.wrapping_add(1);
        *at > OLD_ROOT
            && changed.check().fault_findings().any(|fault| {
                fault.text.starts_with("reference count") && fault.object.as_deref() != Some("/")
            })
    });
    image.bytes[header.unwrap() + 4] += 1;
    let report = image.check();
    let fault = report.fault_findings().next().unwrap();
    assert_eq!(report.faults, 1, "{report}");
    let path = fault.object.clone().unwrap();
    assert!(path.len() > 1 && path.starts_with('/'), "{fault}");
    assert!(fault.to_string().ends_with(&format!("(object {path})")), "{fault}");
    assert_eq!(report.to_json()["findings"][0]["object"], path);
}
