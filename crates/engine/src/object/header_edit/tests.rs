//! Comparison of headers with a list of messages, under random operations.

use hyperslab_format::object_header::{AttributePhaseChange, ObjectTimes};
use proptest::prelude::*;

use super::*;
use crate::object::annotation;
use crate::store::image::new_file;
use crate::versions::LibverBounds;

const NONE: MessageFlags = MessageFlags::empty();

/// A message of the model. The first byte of the body identifies the message.
type Model = Vec<(MessageType, Vec<u8>)>;

/// Returns the number of allocated bytes of the file.
fn taken(edit: &Edit<'_>) -> u64 {
    let usage = edit.usage();
    usage.end - usage.free - usage.pending
}

#[derive(Debug, Clone)]
enum Change {
    Add(MessageType, usize),
    Replace(usize, usize),
    Set(MessageType, usize),
    Remove(usize),
    RemoveKind(MessageType),
    Save,
    Reload,
    Links(u32),
}

fn kinds() -> impl Strategy<Value = MessageType> {
    prop_oneof![Just(MessageType::ATTRIBUTE), Just(MessageType::LINK), Just(MessageType::BOGUS)]
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..60_usize, 2 => 60..700_usize, 1 => 3000..65_500_usize]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => (kinds(), sizes()).prop_map(|(kind, size)| Change::Add(kind, size)),
        3 => (0..20_usize, sizes()).prop_map(|(at, size)| Change::Replace(at, size)),
        1 => (kinds(), sizes()).prop_map(|(kind, size)| Change::Set(kind, size)),
        3 => (0..20_usize).prop_map(Change::Remove),
        1 => kinds().prop_map(Change::RemoveKind),
        3 => Just(Change::Save),
        2 => Just(Change::Reload),
        1 => (0..4_u32).prop_map(Change::Links),
    ];
    proptest::collection::vec(change, 0..40)
}

fn body(stamp: &mut u8, size: usize) -> Vec<u8> {
    *stamp = stamp.wrapping_add(1);
    vec![*stamp; size]
}

/// Returns the identity of the message at a position of the model.
fn id_of(editor: &HeaderEditor, place: usize) -> MessageId {
    let counted = |view: &MessageView<'_>| view.kind != MessageType::REFERENCE_COUNT;
    editor.messages().filter(counted).nth(place).unwrap().id
}

fn apply(change: Change, editor: &mut HeaderEditor, model: &mut Model, stamp: &mut u8) {
    match change {
        Change::Add(kind, size) => {
            let body = body(stamp, size);
            editor.add_message(kind, NONE, &body);
            model.push((kind, body));
        }
        Change::Replace(at, size) if !model.is_empty() => {
            let at = at % model.len();
            let body = body(stamp, size);
            editor.replace(id_of(editor, at), NONE, &body).unwrap();
            model[at].1 = body;
        }
        Change::Set(kind, size) => {
            let body = body(stamp, size);
            editor.set_message(kind, NONE, &body).unwrap();
            match model.iter_mut().find(|message| message.0 == kind) {
                Some(message) => message.1 = body,
                None => model.push((kind, body)),
            }
        }
        Change::Remove(at) if !model.is_empty() => {
            let at = at % model.len();
            editor.remove(id_of(editor, at)).unwrap();
            model.remove(at);
        }
        Change::RemoveKind(kind) => {
            let count = editor.remove_messages(kind, |_| true).unwrap();
            let before = model.len();
            model.retain(|message| message.0 != kind);
            assert_eq!(count, before - model.len());
        }
        Change::Links(count) => editor.set_reference_count(count).unwrap(),
        Change::Replace(..) | Change::Remove(_) | Change::Save | Change::Reload => {}
    }
}

/// Returns the messages as a reader sees them, sorted. Bodies of version 1 messages have no
/// padding.
fn assert_same(store: &Store, address: Address, model: &Model, links: u32) {
    let header = ObjectHeader::load(store, address).unwrap();
    assert_eq!(header.reference_count(store).unwrap(), links);
    if let Prefix::V1(prefix) = header.prefix() {
        assert_eq!(usize::from(prefix.message_count), header.messages().len());
    }
    let skipped = [MessageType::NIL, MessageType::CONTINUATION, MessageType::REFERENCE_COUNT];
    let mut read: Vec<_> = header
        .messages()
        .iter()
        .filter(|message| !skipped.contains(&message.kind))
        .map(|message| (message.kind, header.body(message).to_vec()))
        .collect();
    let mut model = model.clone();
    if header.version() == 1 {
        model.iter_mut().for_each(|(_, body)| body.resize(body.len().next_multiple_of(8), 0));
    }
    read.sort();
    model.sort();
    assert!(read == model, "{} messages, expected {}", read.len(), model.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_header_holds_what_the_model_holds(
        old in any::<bool>(),
        order in 0..3_usize,
        times in any::<bool>(),
        first in proptest::collection::vec((kinds(), 0..300_usize), 0..5),
        spare in prop_oneof![Just(0), 0..400_usize],
        changes in changes(),
    ) {
        let store = new_file(if old { LibverBounds::EARLIEST } else { LibverBounds::DEFAULT });
        let mut edit = store.edit().unwrap();
        let before = taken(&edit);
        let mut stamp = 0;
        let mut model: Model = first.into_iter().map(|(kind, size)| (kind, body(&mut stamp, size))).collect();
        let attribute_order =
            [AttributeOrder::Untracked, AttributeOrder::Tracked, AttributeOrder::Indexed][order];
        let messages = model.iter().map(|(kind, body)| NewMessage { kind: *kind, flags: NONE, body: body.clone() });
        let mut new = NewHeader { messages: messages.collect(), attribute_order, spare, ..NewHeader::default() };
        if times && (!old || order > 0) {
            new = new.with_times(77);
        }
        let address = create(&mut edit, &new).unwrap();
        let mut editor = HeaderEditor::load(&store, address).unwrap();
        prop_assert_eq!(editor.version(), if old && order == 0 { 1 } else { 2 });
        let mut links = 1;
        for change in changes {
            if let Change::Links(count) = change {
                links = count;
            }
            let (save, reload) = (matches!(change, Change::Save), matches!(change, Change::Reload));
            apply(change, &mut editor, &mut model, &mut stamp);
            if save || reload {
                editor.save(&mut edit).unwrap();
                assert_same(&store, address, &model, links);
            }
            if reload {
                editor = HeaderEditor::load(&store, address).unwrap();
                // Displaced messages change the order.
                model = editor
                    .messages()
                    .filter(|view| view.kind != MessageType::REFERENCE_COUNT)
                    .map(|view| (view.kind, view.body.to_vec()))
                    .collect();
            }
        }
        editor.save(&mut edit).unwrap();
        assert_same(&store, address, &model, links);
        editor.remove_messages(MessageType::ATTRIBUTE, |_| true).unwrap();
        editor.remove_messages(MessageType::LINK, |_| true).unwrap();
        editor.remove_messages(MessageType::BOGUS, |_| true).unwrap();
        editor.set_reference_count(1).unwrap();
        editor.save(&mut edit).unwrap();
        prop_assert_eq!(ObjectHeader::load(&store, address).unwrap().chunk_count(), 1);
        editor.delete(&mut edit).unwrap();
        prop_assert_eq!(taken(&edit), before, "all space was freed");
    }
}

#[test]
fn times_and_phase_change_are_kept() {
    for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT] {
        let store = new_file(bounds);
        let mut edit = store.edit().unwrap();
        let phase_change = AttributePhaseChange { max_compact: 20, min_dense: 3 };
        let new = NewHeader { phase_change, ..NewHeader::default() }.with_times(1000);
        let address = create(&mut edit, &new).unwrap();
        let mut editor = HeaderEditor::load(&store, address).unwrap();
        editor.touch(2000).unwrap();
        editor.save(&mut edit).unwrap();
        let header = ObjectHeader::load(&store, address).unwrap();
        match header.prefix() {
            Prefix::V1(_) => {
                let time = header.find(MessageType::MODIFICATION_TIME).unwrap();
                assert_eq!(
                    ModificationTime::decode(header.body(time), store.params()).unwrap().seconds,
                    2000
                );
            }
            Prefix::V2(prefix) => {
                assert_eq!(prefix.phase_change, Some(phase_change));
                let times = ObjectTimes { access: 1000, modification: 2000, change: 2000, birth: 1000 };
                assert_eq!(annotation::times(&header), Some(times));
            }
        }
    }
}

#[test]
fn small_messages_one_by_one_take_few_blocks() {
    for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT] {
        let store = new_file(bounds);
        let mut edit = store.edit().unwrap();
        let address = create(&mut edit, &NewHeader::default()).unwrap();
        for number in 0..100_u8 {
            let mut editor = HeaderEditor::load(&store, address).unwrap();
            editor.add_message(MessageType::BOGUS, NONE, &[number; 30]);
            editor.save(&mut edit).unwrap();
        }
        let header = ObjectHeader::load(&store, address).unwrap();
        assert!(header.chunk_count() <= 4, "{} chunks", header.chunk_count());
        assert_eq!(header.messages_of(MessageType::BOGUS).count(), 100);
    }
}

#[test]
fn messages_too_long_are_misuse() {
    for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT] {
        let store = new_file(bounds);
        let mut edit = store.edit().unwrap();
        let address = create(&mut edit, &NewHeader::default()).unwrap();
        let mut editor = HeaderEditor::load(&store, address).unwrap();
        editor.add_message(MessageType::BOGUS, NONE, &vec![1; 65_536]);
        assert_eq!(editor.save(&mut edit).unwrap_err().kind(), crate::ErrorKind::Misuse);
    }
}

#[test]
fn messages_of_unknown_types_are_marked_or_refused() {
    let store = new_file(LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let header = |flags| {
        let message = NewMessage { kind: MessageType(0x77), flags, body: vec![1, 2, 3] };
        NewHeader { messages: vec![message], ..NewHeader::default() }
    };
    let marked = create(&mut edit, &header(MessageFlags::MARK_IF_UNKNOWN)).unwrap();
    let mut editor = HeaderEditor::load(&store, marked).unwrap();
    editor.set_message(MessageType::COMMENT, NONE, b"hello\0").unwrap();
    editor.save(&mut edit).unwrap();
    let read = ObjectHeader::load(&store, marked).unwrap();
    assert!(read.find(MessageType(0x77)).unwrap().flags.contains(MessageFlags::WAS_UNKNOWN));
    let refused = create(&mut edit, &header(MessageFlags::FAIL_IF_UNKNOWN_AND_WRITING)).unwrap();
    assert_eq!(HeaderEditor::load(&store, refused).unwrap_err().kind(), crate::ErrorKind::Unsupported);
}

proptest! {
    #[test]
    fn damaged_headers_are_changed_or_refused(
        damage in proptest::collection::vec((0..400_u64, any::<u8>()), 1..12),
        lengths in proptest::collection::vec(0..90_usize, 0..6),
        added in 0..300_usize,
    ) {
        // Version 1 has no checksums, so damage is detected late.
        let store = new_file(LibverBounds::EARLIEST);
        let mut edit = store.edit().unwrap();
        let new = NewHeader { spare: 16, ..NewHeader::default() };
        let address = create(&mut edit, &new).unwrap();
        for length in lengths {
            let mut editor = HeaderEditor::load(&store, address).unwrap();
            editor.add_message(MessageType::BOGUS, NONE, &vec![7; length]);
            editor.save(&mut edit).unwrap();
        }
        edit.allocate(SpaceKind::ObjectHeader, 500).unwrap();
        for (offset, byte) in damage {
            edit.write(address.checked_add(offset).unwrap(), &[byte], "damage").unwrap();
        }
        if let Ok(mut editor) = HeaderEditor::load(&store, address) {
            editor.add_message(MessageType::ATTRIBUTE, NONE, &vec![9; added]);
            editor.remove_messages(MessageType::BOGUS, |message| message.body.len() > 30).unwrap();
            // The result is arbitrary, but there is no panic and no endless loop.
            if editor.save(&mut edit).is_ok() {
                editor.delete(&mut edit).unwrap();
            }
        }
    }
}

/// Attributes of any sizes stay in the order of their creation, also in several blocks.
#[test]
fn attributes_stay_in_the_order_of_their_creation() {
    let sizes = [180, 24, 48, 9, 300, 16, 80, 700, 8, 40];
    for (bounds, spare) in
        [(LibverBounds::EARLIEST, 0), (LibverBounds::DEFAULT, 0), (LibverBounds::DEFAULT, 230)]
    {
        let store = new_file(bounds);
        let mut edit = store.edit().unwrap();
        let address = create(&mut edit, &NewHeader { spare, ..NewHeader::default() }).unwrap();
        // The next header prevents the extension of the first block.
        create(&mut edit, &NewHeader::default()).unwrap();
        let mut stamp = 0;
        for size in sizes {
            let mut editor = HeaderEditor::load(&store, address).unwrap();
            editor.add_message(MessageType::ATTRIBUTE, NONE, &body(&mut stamp, size));
            editor.save(&mut edit).unwrap();
        }
        let header = ObjectHeader::load(&store, address).unwrap();
        assert!(header.chunk_count() > 1);
        let attributes = header.messages().iter().filter(|message| message.kind == MessageType::ATTRIBUTE);
        let stored: Vec<u8> = attributes.map(|message| header.body(message)[0]).collect();
        assert_eq!(stored, (1..=10).collect::<Vec<u8>>());
    }
}
