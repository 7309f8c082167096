//! Reference counts of objects, and deletion of objects without links.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hyperslab_format::codec::Address;
use hyperslab_format::message::{AttributeInfo, ExternalFilesMessage, MessageType};

use super::container::Container;
use super::dense::Dense;
use super::group::{self, GroupStorage};
use super::header::ObjectHeader;
use super::header_edit::{HeaderEditor, now};
use super::kind::ObjectKind;
use super::link::LinkTarget;
use super::{message, sharing, symbol_table};
use crate::error::{Error, Result};
use crate::index::local_heap::LocalHeap;
use crate::store::{Edit, Store};

/// A function that frees the raw data of an object: the blocks and the chunk index of a dataset,
/// and the global heap objects of elements and attributes. The deletion of an object calls the
/// function before it frees the object header.
pub type RawData<'a> = dyn FnMut(&mut Edit<'_>, &ObjectHeader) -> Result<()> + 'a;

/// Increases the reference count of an object by one: for a new hard link, or for a use of a
/// committed datatype.
///
/// # Errors
/// Returns [`Error::Limit`] if the count is 2^32 - 1, and the errors of reading and writing the
/// header.
pub fn add_reference(edit: &mut Edit<'_>, object: Address) -> Result<()> {
    let mut header = HeaderEditor::load(edit.store(), object)?;
    count_reference(edit.store(), &mut header)?;
    header.touch(now())?;
    header.save(edit)
}

/// Increases the reference count in an object header editor. An unlinked object becomes linked
/// again.
///
/// # Errors
/// Returns [`Error::Limit`] if the count is 2^32 - 1.
pub fn count_reference(store: &Store, header: &mut HeaderEditor) -> Result<()> {
    let count = header.reference_count()?.checked_add(1).ok_or_else(|| Error::Limit {
        subject: format!("links to the object at {}", header.address()),
        got: 1 << 32,
        limit: u64::from(u32::MAX),
    })?;
    header.set_reference_count(count)?;
    if count == 1 {
        store.relink(header.address());
    }
    Ok(())
}

/// Decreases the reference count of an object in the editor of its object header. If the object has
/// no more links, it is deleted later, after its last handle.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the count is 0.
pub(super) fn uncount_reference(store: &Store, header: &mut HeaderEditor) -> Result<()> {
    let count = header.reference_count()?.checked_sub(1).ok_or_else(|| {
        Error::corrupt("object header", "reference count", "at least 1", 0).at(header.address())
    })?;
    header.set_reference_count(count)?;
    if count == 0 {
        store.unlink_later(header.address());
    }
    Ok(())
}

/// Decreases the reference count of an object. If no links remain, deletes the object: calls `raw`
/// to free raw data, removes the links of a group, and frees all blocks. If handles keep the object
/// open, only sets the count to 0; [`delete_unlinked`] later deletes the object.
///
/// # Errors
/// Returns [`Error::Corrupt`] if more links refer to an object than its count states, and the
/// errors of reading and writing.
pub fn drop_reference(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    raw: &mut RawData<'_>,
) -> Result<()> {
    let mut deletion = Deletion { container, raw, dropped: vec![object], deleted: HashSet::new() };
    deletion.drop_all(edit)
}

/// Deletes an object with a reference count of 0, and the objects that only this object refers to.
///
/// # Errors
/// Returns [`Error::Corrupt`], without a change, if there is no object or if the reference count is
/// not 0. Returns the errors of reading and writing.
pub fn delete_unlinked(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    raw: &mut RawData<'_>,
) -> Result<()> {
    let header = ObjectHeader::load(edit.store(), object)?;
    if ObjectKind::of(&header).is_none() {
        let expected = "the messages of a group, a dataset or a datatype";
        return Err(Error::corrupt("object header", "messages", expected, "other messages").at(object));
    }
    let count = header.reference_count(edit.store())?;
    if count != 0 {
        return Err(Error::corrupt("object header", "reference count", "0", count).at(object));
    }
    let mut deletion = Deletion { container, raw, dropped: Vec::new(), deleted: HashSet::new() };
    deletion.delete(edit, &header)?;
    drop(header);
    deletion.drop_all(edit)
}

/// Decreases the reference count of an object whose link now leads to another object. If no links
/// remain, the object is deleted even if handles keep it open. The handles then refer to no object.
///
/// # Errors
/// Returns the same errors as [`drop_reference`].
pub fn drop_replaced(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    raw: &mut RawData<'_>,
) -> Result<()> {
    let count = ObjectHeader::load(edit.store(), object)?.reference_count(edit.store())?;
    if count == 1 {
        edit.store().end_life(object);
    }
    drop_reference(container, edit, object, raw)
}

/// The state of a deletion of objects, with a list of objects to delete. The list replaces
/// recursion, because trees of groups can be deeper than the stack.
struct Deletion<'a, 'r> {
    container: &'a Container,
    raw: &'a mut RawData<'r>,
    dropped: Vec<Address>,
    deleted: HashSet<Address>,
}

impl Deletion<'_, '_> {
    fn drop_all(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        while let Some(object) = self.dropped.pop() {
            self.drop_one(edit, object)?;
        }
        Ok(())
    }

    fn drop_one(&mut self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        let again = || {
            let expected = "the number of links to the object";
            Error::corrupt("object header", "reference count", expected, "a smaller number").at(object)
        };
        if self.deleted.contains(&object) {
            return Err(again());
        }
        let header = ObjectHeader::load(edit.store(), object)?;
        let count = header.reference_count(edit.store())?.checked_sub(1).ok_or_else(again)?;
        if count > 0 || edit.store().unlink(object) {
            let mut editor = HeaderEditor::new(edit.store(), &header)?;
            drop(header);
            editor.set_reference_count(count)?;
            editor.touch(now())?;
            return editor.save(edit);
        }
        self.delete(edit, &header)
    }

    /// Frees all blocks of an object. Adds the objects that lose a reference to the list `dropped`.
    fn delete(&mut self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        let object = header.address();
        self.deleted.insert(object);
        (self.raw)(edit, header)?;
        if let Some(files) = message::find::<ExternalFilesMessage>(self.container, header)? {
            LocalHeap::delete(edit, files.heap)?;
        }
        if header.contains(MessageType::LINK_INFO) || header.contains(MessageType::SYMBOL_TABLE) {
            self.drop_links(edit, header)?;
        }
        self.drop_attributes(edit, header)?;
        for message in header.messages() {
            let (kind, flags, body) = (message.kind, message.flags, header.body(message));
            self.dropped.extend(sharing::release(self.container, edit, object, kind, flags, body)?);
        }
        HeaderEditor::new(edit.store(), header)?.delete(edit)
    }

    fn drop_links(&mut self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        group::for_each(self.container, header, &mut |link| {
            if let LinkTarget::Hard(target) = link.target {
                self.dropped.push(target);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match GroupStorage::of(self.container, header)? {
            GroupStorage::SymbolTable(table) => symbol_table::delete(self.container, edit, &table),
            GroupStorage::Compact(_) => Ok(()),
            GroupStorage::Dense(info) => Dense::from(&info).delete(edit),
        }
    }

    fn drop_attributes(&mut self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        let Some(info) = message::find::<AttributeInfo>(self.container, header)? else { return Ok(()) };
        if !info.is_dense() {
            return Ok(());
        }
        let dense = Dense::from(&info);
        for (entry, body) in dense.all(self.container, edit)? {
            let (kind, owner) = (MessageType::ATTRIBUTE, header.address());
            let stored = entry.shared_reference(edit.params())?;
            let body = stored.as_deref().unwrap_or(&body);
            self.dropped.extend(sharing::release(self.container, edit, owner, kind, entry.flags, body)?);
        }
        dense.delete(edit)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_dataspace::Dataspace;
    use hyperslab_datatype::Datatype;
    use hyperslab_filter::Pipeline;
    use hyperslab_format::message::{
        AllocationTime, ArrayDims, ContiguousLayout, DataLayout, FillWriteTime, Layout, LinkPhaseChange,
    };

    use super::*;
    use crate::object::committed::commit_datatype;
    use crate::object::container::FileSettings;
    use crate::object::dataset::{
        DatasetDescription, ExternalPiece, FillDescription, Filters, StoredFillValue,
    };
    use crate::object::dataset_edit;
    use crate::object::group_edit::{GroupOptions, add_hard_link, create_group, insert_link};
    use crate::object::header_edit::NewHeader;
    use crate::object::link::Link;
    use crate::store::image::new_file;
    use crate::versions::LibverBounds;

    fn dataset(container: &Container, edit: &mut Edit<'_>, committed: Address) -> Address {
        let layout = Layout::Contiguous(ContiguousLayout {
            address: Address::UNDEFINED,
            size: Some(5),
            array_dims: ArrayDims::new(),
        });
        let fill = FillDescription {
            value: StoredFillValue::Default,
            write_time: FillWriteTime::IF_SET,
            allocation_time: AllocationTime::LATE,
        };
        let description = DatasetDescription {
            datatype: Datatype::u8(),
            committed: Some(committed),
            dataspace: Dataspace::simple(&[5]),
            layout: DataLayout { version: 3, layout },
            filters: Filters::Chunk(Pipeline::default()),
            fill,
            external: vec![ExternalPiece { file: b"raw".to_vec(), offset: 0, size: Some(5) }],
        };
        dataset_edit::create(container, edit, &description, NewHeader::default()).unwrap()
    }

    #[test]
    fn a_deep_tree_goes_with_its_last_link() {
        for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT] {
            let (store, shared_messages) = (new_file(bounds), None);
            let container = Container { shared_messages, ..Container::new(store, FileSettings::default()) };
            let mut edit = container.store.edit().unwrap();
            let datatype = commit_datatype(&mut edit, &Datatype::u8(), NewHeader::default()).unwrap();
            let before = edit.usage();
            let phase_change = LinkPhaseChange { max_compact: 1, min_dense: 1 };
            let options = GroupOptions { phase_change, ..GroupOptions::default() };
            let mut top = create_group(&container, &mut edit, &options).unwrap();
            for _ in 0..2000 {
                let charset = hyperslab_datatype::CharacterSet::Ascii;
                let above = create_group(&container, &mut edit, &options).unwrap();
                let link = |name: &[u8], object| Link {
                    name: name.to_vec(),
                    charset,
                    creation_order: None,
                    target: LinkTarget::Hard(object),
                };
                insert_link(&container, &mut edit, above, &link(b"below", top)).unwrap();
                let data = dataset(&container, &mut edit, datatype);
                insert_link(&container, &mut edit, above, &link(b"data", data)).unwrap();
                add_hard_link(&container, &mut edit, above, b"again", charset, data).unwrap();
                top = above;
            }
            let uses = |edit: &Edit<'_>| {
                let header = ObjectHeader::load(edit.store(), datatype).unwrap();
                header.reference_count(edit.store()).unwrap()
            };
            assert_eq!(uses(&edit), 2001);
            let (mut datasets, mut groups) = (0, 0);
            let mut raw = |_: &mut Edit<'_>, header: &ObjectHeader| {
                let data = header.contains(MessageType::DATA_LAYOUT);
                *(if data { &mut datasets } else { &mut groups }) += 1;
                Ok(())
            };
            drop_reference(&container, &mut edit, top, &mut raw).unwrap();
            assert_eq!((datasets, groups, uses(&edit)), (2000, 2001, 1));
            let after = edit.usage();
            let taken = |usage: crate::store::SpaceUsage| usage.end - usage.free - usage.pending;
            // The datatype has a continuation block now, because its header had no space for the
            // reference count.
            assert!(taken(after) <= taken(before) + 64, "{before:?} {after:?}");
        }
    }
}
