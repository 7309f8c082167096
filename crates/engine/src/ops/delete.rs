//! Deleting links, and the objects that no link leads to and nobody has open any more.

use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{Layout, MessageType};

use super::variable_write::leads_to_heap;
use super::{DatasetWriter, OpenFile};
use crate::error::{ErrorKind, Result};
use crate::object::header::ObjectHeader;
use crate::object::{delete, group_edit};
use crate::store::{Edit, JournalOutcome};

impl OpenFile {
    /// Takes a link out of a group. An object without links left is deleted with all that only it leads to, and the
    /// room of its data is given back; while it has handles, that is done after the last one is dropped.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if there is no link of that name.
    pub fn remove_link(&self, edit: &mut Edit<'_>, group: Address, name: &[u8]) -> Result<()> {
        group_edit::remove_link(&self.container, edit, group, name, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Takes one link from the count of an object that is replaced: its handles are those of nothing then.
    pub(super) fn drop_replaced(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        delete::drop_replaced(&self.container, edit, object, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Deletes an object with a link count of 0, as one of [`Store::unlinked_objects`](crate::store::Store::unlinked_objects)
    /// of a process that crashed, with all that only it leads to.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if there is no object, or links lead to it,
    /// [`Error::NotFound`](crate::Error::NotFound) if it was deleted, and [`Error::Misuse`](crate::Error::Misuse) if it is open:
    /// nothing is changed then. Those of reading and writing.
    pub fn free_unlinked(&self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        edit.store().check_unheld(object)?;
        self.settle_objects(edit)?;
        self.delete_unlinked(edit, object)
            .map_err(|error| error.context(format!("cannot delete the unlinked object at {object}")))
    }

    /// Deletes the objects without links that the writer before held open when it ended, as its journal lists them, and commits that.
    ///
    /// # Errors
    /// The errors of writing. An object that cannot be deleted takes space that is lost.
    pub(super) fn free_left_unlinked(&self) -> Result<()> {
        let store = &self.container.store;
        let left = store.journal_outcome().map(JournalOutcome::unlinked).unwrap_or_default();
        if left.is_empty() || !store.is_writable() {
            return Ok(());
        }
        let mut edit = self.edit()?;
        for address in left {
            match self.free_unlinked(&mut edit, Address::new(*address)) {
                Ok(()) => {}
                // With one object, others of the list may have been deleted.
                Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                Err(error) => tracing::debug!(%error, file = store.name(), "an unlinked object stays"),
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

    /// Deletes the objects that have lost their last link and their last handle; at the close of the file, those with
    /// handles as well. Readers of a file that is written for them may be anywhere, so that nothing is deleted there
    /// before the close.
    ///
    /// What cannot be deleted takes space that is lost. Nobody can be told who asked for it: the link is gone for long.
    pub(super) fn delete_abandoned(&self, edit: &mut Edit<'_>, closing: bool) {
        if edit.is_swmr_writer() && !closing {
            return;
        }
        let delete = |edit: &mut Edit<'_>, object| {
            self.settle_objects(edit)?;
            self.delete_unlinked(edit, object)
        };
        // With one object others may lose their last link.
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

    /// Gives back what the attributes and the elements of an object take outside of headers.
    fn free_raw_data(&self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        // What cannot be read any more cannot be freed either, and does not keep the rest from it.
        if let Ok(contents) = self.contents_of_attributes(header) {
            self.free_contents(edit, contents)?;
        }
        if !header.contains(MessageType::DATA_LAYOUT) {
            return Ok(());
        }
        let address = header.address();
        // Whoever was writing to it knows of room that its header does not mention yet.
        let mut writer = match self.take_writer(address) {
            Some(writer) => writer,
            None => DatasetWriter::open(self, address)?,
        };
        // What other datasets hold is theirs.
        if let Layout::Virtual(layout) = &writer.description().layout.layout {
            let (collection, index) = (layout.heap, layout.index);
            return match collection.is_defined() {
                true => self.free_contents(edit, vec![GlobalHeapId { collection, index }]),
                false => Ok(()),
            };
        }
        if leads_to_heap(&writer.description().datatype) {
            writer.flush(self, edit)?;
            if let Ok(contents) = self.contents_of_own(address) {
                self.free_contents(edit, contents)?;
            }
        }
        writer.free(self, edit)
    }
}
