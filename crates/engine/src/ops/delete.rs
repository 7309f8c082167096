//! Deletion of links, and of objects without links and handles.

use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{Layout, MessageType};

use super::variable_write::refers_to_heap;
use super::{DatasetWriter, OpenFile};
use crate::error::{ErrorKind, Result};
use crate::object::header::ObjectHeader;
use crate::object::{delete, group_edit};
use crate::store::{Edit, JournalOutcome};

impl OpenFile {
    /// Removes a link from a group. If the object has no other link, deletes the object, frees its
    /// file space, and also deletes all objects to which only the deleted object links. If handles
    /// keep the object open, it is deleted after its last handle is dropped.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`](crate::Error::NotFound) if the group has no link with this name.
    pub fn remove_link(&self, edit: &mut Edit<'_>, group: Address, name: &[u8]) -> Result<()> {
        group_edit::remove_link(&self.container, edit, group, name, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Decreases the reference count of an object whose link will lead to another object. The
    /// handles of the old object become invalid.
    ///
    /// # Errors
    /// Returns the errors of deleting the object.
    pub(super) fn drop_replaced(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        delete::drop_replaced(&self.container, edit, object, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Increases the reference count of the object at the address `object`.
    ///
    /// # Errors
    /// Returns [`Error::Limit`](crate::Error::Limit) if the count exceeds 32 bits.
    pub fn add_reference(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        self.flush_editors(edit)?;
        delete::add_reference(edit, object)
    }

    /// Decreases the reference count of the object at the address `object`. If no references
    /// remain, the object is deleted by the rules of [`remove_link`](Self::remove_link).
    ///
    /// # Errors
    /// Returns the errors of deleting the object.
    pub fn drop_reference(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        self.flush_editors(edit)?;
        delete::drop_reference(&self.container, edit, object, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Deletes an object without links, and all objects to which only this object links.
    /// [`Store::unlinked_objects`](crate::store::Store::unlinked_objects) lists the objects without
    /// links that a crashed process left.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`](crate::Error::Corrupt) if the address has no object or the object
    /// has links, [`Error::NotFound`](crate::Error::NotFound) if the object was deleted, and
    /// [`Error::Misuse`](crate::Error::Misuse) if it is open. Nothing is changed in these cases.
    /// Returns I/O errors.
    pub fn free_unlinked(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        edit.store().check_unheld(object)?;
        self.flush_editors(edit)?;
        self.delete_unlinked(edit, object)
            .map_err(|error| error.context(format!("cannot delete the unlinked object at {object}")))
    }

    /// Deletes unlinked objects that the previous writer of the file left, and commits. The writer
    /// still held these objects open when it ended. Its journal lists them.
    ///
    /// # Errors
    /// Returns I/O errors. If an object cannot be deleted for another reason, its space is lost.
    pub(super) fn free_left_unlinked(&self) -> Result<()> {
        let store = &self.container.store;
        let Some(unlinked) = store.journal_outcome().map(JournalOutcome::unlinked) else { return Ok(()) };
        if unlinked.is_empty() || !store.is_writable() {
            return Ok(());
        }
        let mut edit = self.edit()?;
        for address in unlinked {
            match self.free_unlinked(&mut edit, Address::new(*address)) {
                Ok(()) => {}
                // The deletion of one object may have deleted others of the list.
                Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, file = store.name(), "an unlinked object is not deleted");
                }
            }
        }
        drop(edit);
        self.flush()
    }

    fn delete_unlinked(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        delete::delete_unlinked(&self.container, edit, object, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Deletes the objects of the file that have neither links nor handles. When the file is
    /// closed, also deletes objects that have handles but no links. In a file with SWMR readers, no
    /// object is deleted before the close, because the readers may still read the object.
    ///
    /// Logs an error if an object cannot be deleted, and loses its space: the call that removed the
    /// link has already returned.
    pub(super) fn delete_abandoned(&self, edit: &mut Edit<'_>, closing: bool) {
        if edit.is_swmr_writer() && !closing {
            return;
        }
        let delete = |edit: &mut Edit<'_>, object| {
            self.flush_editors(edit)?;
            self.delete_unlinked(edit, object)
        };
        // The deletion of one object may remove the last link of another.
        loop {
            let objects = edit.store().take_abandoned(closing);
            if objects.is_empty() {
                return;
            }
            for object in objects {
                if let Err(error) = delete(edit, object) {
                    let file = self.container.store.name();
                    tracing::error!(%error, file, address = %object, "the space of a deleted object is lost");
                }
            }
        }
    }

    /// Frees the file space that an object's attributes and elements take outside of object
    /// headers.
    ///
    /// # Errors
    /// Returns I/O errors, and the errors of damaged heaps and indexes.
    fn free_raw_data(&self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        // Unreadable variable-length data is not freed. The other space is freed.
        if let Ok(contents) = self.heap_objects_of_attributes(header) {
            self.free_heap_objects(edit, contents)?;
        }
        if !header.contains(MessageType::DATA_LAYOUT) {
            return Ok(());
        }
        let address = header.address();
        // An open writer knows of space that the header does not mention yet.
        let mut writer = match self.take_writer(address) {
            Some(writer) => writer,
            None => DatasetWriter::open(self.writer_context(), address)?,
        };
        // The source datasets keep their elements.
        if let Layout::Virtual(layout) = &writer.description().layout.layout {
            let (collection, index) = (layout.heap, layout.index);
            return match collection.is_defined() {
                true => self.free_heap_objects(edit, vec![GlobalHeapId { collection, index }]),
                false => Ok(()),
            };
        }
        if refers_to_heap(&writer.description().datatype) {
            writer.flush(self.writer_context(), edit)?;
            if let Ok(contents) = self.own_heap_objects(address) {
                self.free_heap_objects(edit, contents)?;
            }
        }
        writer.free(self.writer_context(), edit)
    }
}
