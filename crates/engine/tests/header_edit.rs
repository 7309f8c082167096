//! Object headers that hyperslab created and changed. libhdf5 reads and changes them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use std::sync::Arc;

use hyperslab_datatype::CharacterSet;
use hyperslab_engine::object::attribute;
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::object::header_edit::{
    AttributeOrder, HeaderEditor, MessageId, MessageView, NewHeader, create,
};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{CreateOptions, Store, StoreOptions};
use hyperslab_engine::{Address, LibverBounds};
use hyperslab_format::codec::Writer;
use hyperslab_format::message::{
    AttributeFlags, AttributeInfo, AttributeMessage, DataspaceMessage, DatatypeMessage, GroupInfo, LinkInfo,
    Message as _, MessageFlags, MessageType,
};
use hyperslab_format::superblock::SuperblockVersion;
use hyperslab_vfd::Core;

const NONE: MessageFlags = MessageFlags::empty();

fn new_file(bounds: LibverBounds) -> (Arc<Core>, Store) {
    let driver = Arc::new(Core::from_vec("new", Vec::new()));
    let options = StoreOptions { write: Some(bounds), ..StoreOptions::default() };
    let store = Store::create(Arc::clone(&driver) as _, &CreateOptions::default(), options).unwrap();
    (driver, store)
}

/// Returns the message of an attribute of `count` bytes with the value `number`.
fn attribute_body(store: &Store, version: u8, name: &str, number: u8, count: u64) -> Vec<u8> {
    let (datatype, dataspace) = simple_parts(store, count);
    let data = vec![number; usize::try_from(count).unwrap()];
    let message = AttributeMessage {
        version,
        flags: AttributeFlags::empty(),
        charset: CharacterSet::Ascii,
        name: name.as_bytes(),
        datatype: &datatype,
        dataspace: &dataspace,
        data: &data,
    };
    message.to_bytes(store.params()).unwrap()
}

/// Returns the parts of an attribute of `count` bytes.
fn simple_parts(store: &Store, count: u64) -> (Vec<u8>, Vec<u8>) {
    let datatype = DatatypeMessage::new(hyperslab_datatype::Datatype::u8());
    let dataspace = DataspaceMessage::new(hyperslab_dataspace::Dataspace::simple(&[count]));
    let mut writer = Writer::new("datatype");
    datatype.encode(store.params(), &mut writer);
    (writer.finish().unwrap(), dataspace.to_bytes(store.params()).unwrap())
}

/// Returns the attribute with this name. Changes move messages, so the order of the messages is
/// arbitrary.
fn find(editor: &HeaderEditor, store: &Store, name: &str) -> MessageId {
    let is_it = |view: &MessageView<'_>| {
        AttributeMessage::decode(view.body, store.params()).unwrap().name == name.as_bytes()
    };
    editor.messages_of(MessageType::ATTRIBUTE).find(is_it).unwrap().id
}

/// Returns a file whose root group had attributes that were set and removed. The list contains the
/// number of elements of each attribute.
fn file_with_attributes(bounds: LibverBounds, order: AttributeOrder) -> (Vec<u8>, Vec<(String, u64)>) {
    let (driver, store) = new_file(bounds);
    let mut edit = store.edit().unwrap();
    let mut new = NewHeader { attribute_order: order, ..NewHeader::default() };
    new.push(&edit, &LinkInfo::EMPTY, NONE).unwrap();
    new.push(&edit, &GroupInfo::default(), NONE).unwrap();
    if order != AttributeOrder::Untracked {
        let info = AttributeInfo {
            max_creation_index: Some(120),
            creation_order_index: (order == AttributeOrder::Indexed).then_some(Address::UNDEFINED),
            ..AttributeInfo::EMPTY
        };
        new.push(&edit, &info, NONE).unwrap();
    }
    let root = create(&mut edit, &new).unwrap();
    let version = if bounds == LibverBounds::EARLIEST { 1 } else { 3 };
    let mut model: Vec<(String, u64)> = Vec::new();
    for number in 0..120_u64 {
        let mut editor = HeaderEditor::load(&store, root).unwrap();
        let size = number * number * 7 % 1500 + 1;
        match number % 5 {
            0..3 => {
                let name = format!("a{number}");
                let body = attribute_body(&store, version, &name, u8::try_from(number).unwrap(), size);
                editor.add_ordered(MessageType::ATTRIBUTE, NONE, u16::try_from(number).unwrap(), &body);
                model.push((name, size));
            }
            3 => {
                let at = usize::try_from(number * 13).unwrap() % model.len();
                let number = model[at].0[1..].parse().unwrap();
                let body = attribute_body(&store, version, &model[at].0, number, size);
                let place = find(&editor, &store, &model[at].0);
                editor.replace(place, NONE, &body).unwrap();
                model[at].1 = size;
            }
            _ => {
                let at = usize::try_from(number * 17).unwrap() % model.len();
                let place = find(&editor, &store, &model[at].0);
                editor.remove(place).unwrap();
                model.remove(at);
            }
        }
        editor.save(&mut edit).unwrap();
    }
    edit.change_superblock(|superblock| match &mut superblock.version {
        SuperblockVersion::Old(old) => old.root.header = root,
        SuperblockVersion::New { root: place, .. } => *place = root,
    })
    .unwrap();
    edit.commit().unwrap();
    (driver.to_vec(), model)
}

/// A script that checks the attributes of the root group, then adds, changes and removes some.
const CHANGE_ATTRIBUTES: &str = r"
import h5py, numpy, sys
with h5py.File(sys.argv[1], 'r+') as file:
    for name, value in sorted(file.attrs.items()):
        assert (value == int(name[1:])).all(), name
        print(name, value.size)
    names = sorted(file.attrs)
    for name in names[::3]:
        del file.attrs[name]
    for name in names[1::3]:
        file.attrs[name] = numpy.full(300, int(name[1:]), 'u1')
    for number in range(200, 210):
        file.attrs[f'a{number}'] = numpy.full(number, number, 'u1')
with h5py.File(sys.argv[1]) as file:
    print('--')
    for name, value in sorted(file.attrs.items()):
        print(name, value.size)
";

#[test]
fn libhdf5_reads_and_changes_edited_object_headers() {
    let Some(referee) = hyperslab_testkit::referee::python() else { return };
    for (bounds, order) in [
        (LibverBounds::EARLIEST, AttributeOrder::Untracked),
        (LibverBounds::DEFAULT, AttributeOrder::Untracked),
        (LibverBounds::DEFAULT, AttributeOrder::Tracked),
        (LibverBounds::LATEST, AttributeOrder::Indexed),
    ] {
        let (bytes, mut model) = file_with_attributes(bounds, order);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let answer = referee.run_script(CHANGE_ATTRIBUTES, [file.path()]).unwrap();
        let (found, changed) = answer.split_once("--\n").unwrap();
        model.sort();
        let expected: String = model.iter().map(|(name, size)| format!("{name} {size}\n")).collect();
        assert_eq!(found, expected);
        let driver = Core::from_vec("changed", std::fs::read(file.path()).unwrap());
        let file = OpenFile::open(Arc::new(driver), StoreOptions::default()).unwrap();
        let root = ObjectHeader::load(&file.container.store, file.root()).unwrap();
        let mut read = Vec::new();
        attribute::for_each(&file.container, &root, &mut |attribute| {
            let size = attribute.value(&file.container)?.dataspace.element_count().unwrap();
            read.push(format!("{} {size}\n", String::from_utf8_lossy(attribute.name())));
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
        read.sort();
        assert_eq!(read.concat(), changed);
    }
}
