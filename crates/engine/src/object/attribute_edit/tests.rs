//! Comparison of attributes with a map, under random operations.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::Datatype;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::object::attribute;
use crate::object::committed::commit_datatype;
use crate::object::container::FileSettings;
use crate::object::delete;
use crate::object::header::ObjectHeader;
use crate::object::header_edit::{self, AttributeOrder, NewHeader};
use crate::store::Store;
use crate::store::image::new_file;
use crate::versions::LibverBounds;

fn container(store: Store) -> Container {
    Container::new(store, FileSettings::default())
}

/// Returns the number of allocated bytes of the file.
fn taken(edit: &Edit<'_>) -> u64 {
    let usage = edit.usage();
    usage.end - usage.free - usage.pending
}

#[derive(Debug, Clone)]
enum Change {
    Set { name: usize, length: usize, committed: bool },
    Create { name: usize, length: usize },
    Remove { nth: usize },
    RemoveNone { name: usize },
    Rename { nth: usize, name: usize, utf8: bool },
}

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..100_usize, 3 => 0..3000_usize, 1 => 60_000..64_000_usize, 1 => 66_000..80_000_usize]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        6 => (0..30_usize, lengths(), any::<bool>())
            .prop_map(|(name, length, committed)| Change::Set { name, length, committed }),
        2 => (0..30_usize, lengths()).prop_map(|(name, length)| Change::Create { name, length }),
        4 => (0..30_usize).prop_map(|nth| Change::Remove { nth }),
        1 => (0..30_usize).prop_map(|name| Change::RemoveNone { name }),
        2 => (0..30_usize, 0..30_usize, any::<bool>())
            .prop_map(|(nth, name, utf8)| Change::Rename { nth, name, utf8 }),
    ];
    proptest::collection::vec(change, 0..80)
}

fn name_of(number: usize) -> Vec<u8> {
    format!("attribute {}{number}", "x".repeat(number * number / 4)).into_bytes()
}

/// The expected state of an attribute.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    order: u32,
    data: Vec<u8>,
    committed: bool,
    utf8: bool,
}

/// An object with attributes, and a committed datatype for the attributes.
struct World<'c, 'e> {
    container: &'c Container,
    edit: Edit<'e>,
    object: Address,
    datatype: Address,
    model: BTreeMap<Vec<u8>, Model>,
    next: u32,
    stamp: u8,
}

impl World<'_, '_> {
    fn set(&mut self, number: usize, length: usize, committed: bool, new: bool) {
        let name = name_of(number);
        self.stamp = self.stamp.wrapping_add(1);
        let data = vec![self.stamp; length];
        let datatype = Datatype::u8();
        let dataspace = Dataspace::simple(&[length as u64]);
        let attribute = NewAttribute {
            name: &name,
            charset: CharacterSet::Ascii,
            datatype: &datatype,
            committed: committed.then_some(self.datatype),
            dataspace: &dataspace,
            data: &data,
        };
        let run = if new { create } else { set };
        let result = run(self.container, &mut self.edit, self.object, &attribute);
        let exists = self.model.get(&name).cloned();
        let header = ObjectHeader::load(&self.container.store, self.object).unwrap();
        if new && exists.is_some() {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Exists);
            return;
        }
        if header.version() == 1 && length > 65_000 {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Misuse);
            return;
        }
        result.unwrap();
        let order = exists.map_or(self.next, |model| model.order);
        if order == self.next {
            self.next += 1;
        }
        self.model.insert(name, Model { order, data, committed, utf8: false });
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Set { name, length, committed } => self.set(name, length, committed, false),
            Change::Create { name, length } => self.set(name, length, false, true),
            Change::Remove { nth } => {
                let Some(name) = self.nth(nth) else { return };
                remove(self.container, &mut self.edit, self.object, &name).unwrap();
                self.model.remove(&name);
                if self.model.is_empty() {
                    self.next = 0;
                }
            }
            Change::RemoveNone { name } => {
                let name = format!("none {name}").into_bytes();
                let error = remove(self.container, &mut self.edit, self.object, &name).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound);
            }
            Change::Rename { nth, name, utf8 } => {
                let Some(from) = self.nth(nth) else { return };
                let to = name_of(name);
                let charset = if utf8 { CharacterSet::Utf8 } else { CharacterSet::Ascii };
                let result = rename(self.container, &mut self.edit, self.object, &from, (&to, charset));
                if self.model.contains_key(&to) {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::Exists);
                    return;
                }
                result.unwrap();
                let mut model = self.model.remove(&from).unwrap();
                model.utf8 = utf8;
                self.model.insert(to, model);
            }
        }
    }

    fn nth(&self, nth: usize) -> Option<Vec<u8>> {
        self.model.keys().nth(nth.checked_rem(self.model.len())?).cloned()
    }

    fn check(&self) {
        let header = ObjectHeader::load(&self.container.store, self.object).unwrap();
        let info = attribute::info(self.container, &header).unwrap();
        let tracked = info.is_some_and(|info| info.max_creation_index.is_some());
        if tracked {
            assert_eq!(info.unwrap().max_creation_index, Some(u16::try_from(self.next).unwrap()));
        }
        let mut count = 0;
        attribute::for_each(self.container, &header, &mut |attribute| {
            let model = &self.model[attribute.name()];
            let value = attribute.value(self.container)?;
            assert!(value.data.starts_with(&model.data), "{}", lossy(attribute.name()));
            assert_eq!(value.dataspace.element_count(), Some(model.data.len() as u64));
            assert_eq!(value.committed, model.committed.then_some(self.datatype));
            assert_eq!(attribute.charset == CharacterSet::Utf8, model.utf8);
            if tracked {
                assert_eq!(attribute.creation_order, Some(model.order));
            }
            count += 1;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(count, self.model.len());
        for name in self.model.keys() {
            assert!(attribute::find(self.container, &header, name).unwrap().is_some());
        }
        let datatype = ObjectHeader::load(&self.container.store, self.datatype).unwrap();
        let uses = self.model.values().filter(|model| model.committed).count() + 1;
        assert_eq!(datatype.reference_count(&self.container.store).unwrap() as usize, uses);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn an_object_has_the_attributes_that_the_model_has(
        old in any::<bool>(),
        order in 0..3_usize,
        max_compact in 0..12_u16,
        changes in changes(),
    ) {
        let bounds = if old { LibverBounds::EARLIEST } else { LibverBounds::DEFAULT };
        let container = container(new_file(bounds));
        let mut edit = container.store.edit().unwrap();
        let before = taken(&edit);
        let attribute_order =
            [AttributeOrder::Untracked, AttributeOrder::Tracked, AttributeOrder::Indexed][order];
        let phase_change = AttributePhaseChange { max_compact, min_dense: max_compact * 2 / 3 };
        let new = NewHeader { attribute_order, phase_change, ..NewHeader::default() };
        let object = header_edit::create(&mut edit, &new).unwrap();
        let datatype = commit_datatype(&mut edit, &Datatype::u8(), NewHeader::default()).unwrap();
        let mut world = World {
            container: &container,
            edit,
            object,
            datatype,
            model: BTreeMap::new(),
            next: 0,
            stamp: 0,
        };
        for change in changes {
            world.apply(change);
        }
        world.check();
        let mut none = |_: &mut Edit<'_>, _: &ObjectHeader| Ok(());
        delete::drop_reference(&container, &mut world.edit, object, &mut none).unwrap();
        let header = ObjectHeader::load(&container.store, datatype).unwrap();
        prop_assert_eq!(header.reference_count(&container.store).unwrap(), 1);
        delete::drop_reference(&container, &mut world.edit, datatype, &mut none).unwrap();
        prop_assert_eq!(taken(&world.edit), before, "all space was freed");
    }
}

#[test]
fn a_wrong_number_of_bytes_or_a_wrong_name_is_misuse() {
    let container = container(new_file(LibverBounds::DEFAULT));
    let mut edit = container.store.edit().unwrap();
    let object = header_edit::create(&mut edit, &NewHeader::default()).unwrap();
    let (datatype, dataspace) = (Datatype::u8(), Dataspace::simple(&[3]));
    let (charset, committed) = (CharacterSet::Ascii, None);
    for (name, data) in [(&b"a"[..], &b"12"[..]), (b"", b"123"), (b"a\0b", b"123")] {
        let new = NewAttribute { name, charset, datatype: &datatype, committed, dataspace: &dataspace, data };
        assert_eq!(set(&container, &mut edit, object, &new).unwrap_err().kind(), ErrorKind::Misuse);
    }
}
