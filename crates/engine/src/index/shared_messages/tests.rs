//! Comparison of shared messages with counts of their users, under random operations.

use std::collections::HashMap;

use hyperslab_format::codec::checksum_from;
use hyperslab_format::shared_message::{
    SharedMessageIndexKind, SharedMessageList, SharedMessageListContext, SharedMessageLocation,
    SharedMessageRecord,
};
use proptest::prelude::*;

use super::*;
use crate::store::image::new_file;
use crate::store::{Edit, SpaceKind};
use crate::versions::LibverBounds;

/// Returns the message in a header of a test, with the padding of version 1.
fn in_header(_: &Store, header: Address, _: MessageType, index: u16) -> Result<Bytes> {
    let mut body = held(header.raw(), index);
    body.resize(body.len().next_multiple_of(8), 0);
    Ok(Bytes::from(body))
}

fn held(header: u64, index: u16) -> Vec<u8> {
    format!("message {index} in {header}").into_bytes()
}

/// Creates a table with one index for datatypes and attributes.
fn table(edit: &mut Edit<'_>, list_cutoff: u16, btree_cutoff: u16) -> SharedMessages {
    let index = SharedMessageIndex {
        message_types: SharedMessageTypes::ATTRIBUTE | SharedMessageTypes::DATATYPE,
        min_message_size: 5,
        list_cutoff,
        btree_cutoff,
        ..SharedMessageIndex::EMPTY
    };
    let context = SharedMessageTableContext { params: edit.params(), indexes: 1 };
    let table = SharedMessageTable { indexes: vec![index] };
    let address = edit.add(SpaceKind::ObjectHeader, &context, table).unwrap();
    SharedMessages::open(edit.store(), address, 1, in_header).unwrap()
}

fn index(shared: &SharedMessages, edit: &Edit<'_>) -> SharedMessageIndex {
    shared.index_of(edit.store(), MessageType::ATTRIBUTE).unwrap().1
}

/// Returns the number of allocated bytes of the file.
fn taken(edit: &Edit<'_>) -> u64 {
    let usage = edit.usage();
    usage.end - usage.free - usage.pending
}

/// Returns the message `number`. Messages differ in length.
fn body(number: usize) -> Vec<u8> {
    let mut body = format!("message {number}").into_bytes();
    body.resize(5 + number * number, b'.');
    body
}

type Model = HashMap<(MessageType, usize), ([u8; 8], u32)>;

fn assert_same(shared: &SharedMessages, edit: &Edit<'_>, model: &Model) {
    for ((kind, number), (id, _)) in model {
        assert_eq!(&*shared.get(edit.store(), *kind, id).unwrap(), body(*number));
    }
    let index = index(shared, edit);
    assert_eq!(usize::from(index.messages), model.len());
    assert_eq!((index.index.is_defined(), index.heap.is_defined()), (!model.is_empty(), !model.is_empty()));
    match index.kind {
        SharedMessageIndexKind::List => assert!(index.messages <= index.list_cutoff),
        SharedMessageIndexKind::BTree => {
            assert!(index.messages >= index.btree_cutoff || index.messages == 0, "{index:?}");
        }
    }
}

/// Removes a user of a message. Removes the message from the model together with its last user.
fn release(shared: &SharedMessages, edit: &mut Edit<'_>, model: &mut Model, which: usize) {
    let Some(key) = model.keys().copied().min_by_key(|(_, number)| number.abs_diff(which)) else { return };
    let (id, users) = model[&key];
    match shared.release(edit, key.0, id).unwrap() {
        Released::Used => {
            assert!(users > 1);
            model.insert(key, (id, users - 1));
        }
        Released::Removed(message) => {
            assert_eq!((users, &*message), (1, body(key.1).as_slice()));
            model.remove(&key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn messages_are_counted(
        cutoffs in prop_oneof![Just((0, 0)), Just((3, 2)), Just((5, 6)), Just((10, 0)), Just((50, 40))],
        steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0..70_usize), 0..300),
    ) {
        let store = new_file(LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let shared = table(&mut edit, cutoffs.0, cutoffs.1);
        let before = taken(&edit);
        let mut model = Model::new();
        for (attribute, comes, number) in steps {
            let kind = if attribute { MessageType::ATTRIBUTE } else { MessageType::DATATYPE };
            if !comes {
                release(&shared, &mut edit, &mut model, number);
                continue;
            }
            let inserted = shared.insert(&mut edit, kind, &body(number)).unwrap().unwrap();
            let known = model.entry((kind, number)).or_insert((inserted.id, 0));
            prop_assert_eq!((inserted.first, inserted.id), (known.1 == 0, known.0));
            known.1 += 1;
            if number % 5 == 0 {
                shared.acquire(&mut edit, kind, inserted.id).unwrap();
                known.1 += 1;
            }
            assert_same(&shared, &edit, &model);
        }
        assert_same(&shared, &edit, &model);
        while !model.is_empty() {
            release(&shared, &mut edit, &mut model, 0);
            assert_same(&shared, &edit, &model);
        }
        prop_assert_eq!(taken(&edit), before, "all space was freed");
    }
}

#[test]
fn a_list_becomes_a_tree_and_a_list_again() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let shared = table(&mut edit, 4, 3);
    let mut ids = Vec::new();
    let kinds: Vec<SharedMessageIndexKind> = (0..6)
        .map(|number| {
            ids.push(shared.insert(&mut edit, MessageType::ATTRIBUTE, &body(number)).unwrap().unwrap().id);
            index(&shared, &edit).kind
        })
        .collect();
    use SharedMessageIndexKind::{BTree, List};
    assert_eq!(kinds, [List, List, List, List, BTree, BTree]);
    let mut left = |id: [u8; 8]| {
        shared.release(&mut edit, MessageType::ATTRIBUTE, id).unwrap();
        index(&shared, &edit).kind
    };
    assert_eq!(ids.into_iter().map(&mut left).collect::<Vec<_>>(), [BTree, BTree, BTree, List, List, List]);
}

#[test]
fn short_messages_and_those_of_other_types_are_not_shared() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let shared = table(&mut edit, 4, 3);
    assert_eq!(shared.insert(&mut edit, MessageType::ATTRIBUTE, b"four").unwrap(), None);
    assert_eq!(shared.insert(&mut edit, MessageType::DATASPACE, b"five!").unwrap(), None);
    assert!(shared.insert(&mut edit, MessageType::DATATYPE, b"five!").unwrap().is_some());
}

/// Returns two messages with the same hash.
fn same_hash() -> [Vec<u8>; 2] {
    let mut seen: HashMap<u32, u64> = HashMap::new();
    for number in 0_u64.. {
        let bytes = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        if let Some(other) = seen.insert(checksum_from(MessageType::ATTRIBUTE.0.into(), &bytes), number) {
            return [other, number].map(|one| one.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes().to_vec());
        }
    }
    unreachable!()
}

#[test]
fn messages_with_equal_hashes_are_distinguished() {
    let [one, other] = same_hash();
    for cutoff in [0, 50] {
        let store = new_file(LibverBounds::DEFAULT);
        let mut edit = store.edit().unwrap();
        let shared = table(&mut edit, cutoff, 0);
        let mut insert =
            |body: &[u8]| shared.insert(&mut edit, MessageType::ATTRIBUTE, body).unwrap().unwrap();
        let (first, second) = (insert(&one), insert(&other));
        assert!(first.first && second.first && first.id != second.id);
        assert_eq!(insert(&other), Inserted { first: false, ..second });
        let gone = shared.release(&mut edit, MessageType::ATTRIBUTE, first.id).unwrap();
        assert!(matches!(gone, Released::Removed(body) if *body == *one));
        assert_eq!(&*shared.get(&store, MessageType::ATTRIBUTE, &second.id).unwrap(), other);
    }
}

/// Creates a list with one message in a header, as libhdf5 leaves the first message of its kind.
fn list_of_held(edit: &mut Edit<'_>, shared: &SharedMessages, header: u64) {
    let before = index(shared, edit);
    let location = SharedMessageLocation::Header { message_type: 12, index: 2, header: Address::new(header) };
    let record = SharedMessageRecord { hash: checksum_from(12, &held(header, 2)), location };
    let context =
        SharedMessageListContext { params: edit.params(), records: 1, capacity: before.list_cutoff };
    let list = edit.add(SpaceKind::BTree, &context, SharedMessageList { records: vec![record] }).unwrap();
    let context = shared.context(edit.store());
    edit.modify(shared.address, &context, |table: &mut SharedMessageTable| {
        table.indexes[0] = SharedMessageIndex { messages: 1, index: list, ..before };
    })
    .unwrap();
}

#[test]
fn a_message_in_the_header_of_its_only_user_comes_to_the_heap() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let shared = table(&mut edit, 4, 3);
    // An index with a record has a heap.
    let other = shared.insert(&mut edit, MessageType::DATATYPE, b"another").unwrap().unwrap().id;
    shared.acquire(&mut edit, MessageType::DATATYPE, other).unwrap();
    let heap = index(&shared, &edit).heap;
    assert!(heap.is_defined());
    list_of_held(&mut edit, &shared, 4000);
    let (kind, address) = (MessageType::ATTRIBUTE, Address::new(4000));
    let body = held(4000, 2);
    let inserted = shared.insert(&mut edit, kind, &body).unwrap().unwrap();
    assert!(!inserted.first);
    assert_eq!(index(&shared, &edit).messages, 1);
    // Remove the header, whose message has padding, as a user, and then the other user.
    let mut padded = body.clone();
    padded.resize(body.len().next_multiple_of(8), 0);
    let left = shared.release_held(&mut edit, kind, address, &padded).unwrap();
    assert!(matches!(left, Some(Released::Used)));
    assert!(matches!(shared.release(&mut edit, kind, inserted.id).unwrap(), Released::Removed(_)));
    assert!(shared.release_held(&mut edit, kind, address, &padded).unwrap().is_none());
}

#[test]
fn a_message_that_only_its_header_used_leaves_the_index() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let shared = table(&mut edit, 4, 3);
    shared.insert(&mut edit, MessageType::DATATYPE, b"another").unwrap().unwrap();
    list_of_held(&mut edit, &shared, 4000);
    let (kind, body) = (MessageType::ATTRIBUTE, held(4000, 2));
    // A record of another header does not match.
    assert!(shared.release_held(&mut edit, kind, Address::new(5000), &body).unwrap().is_none());
    let gone = shared.release_held(&mut edit, kind, Address::new(4000), &body).unwrap();
    assert!(matches!(gone, Some(Released::Removed(message)) if *message == *body));
    assert_eq!(index(&shared, &edit).messages, 0);
}
