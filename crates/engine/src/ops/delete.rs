//! Deleting links, and the objects that no link leads to any more.

use std::sync::Arc;

use hyperslab_dataspace::Selection;
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::{Layout, MessageType};

use super::variable_write::leads_to_heap;
use super::{DatasetWriter, OpenFile};
use crate::error::Result;
use crate::object::header::ObjectHeader;
use crate::object::{delete, group_edit};
use crate::store::Edit;

impl OpenFile {
    /// Takes a link out of a group. An object without links left is deleted with all that only it leads to, and the
    /// room of its data is given back.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if there is no link of that name.
    pub fn remove_link(self: &Arc<Self>, edit: &mut Edit<'_>, group: Address, name: &[u8]) -> Result<()> {
        group_edit::remove_link(&self.container, edit, group, name, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Takes one link from an object's count. Without any it is deleted with all that only it leads to.
    pub(super) fn drop_object(self: &Arc<Self>, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        delete::drop_reference(&self.container, edit, object, &mut |edit, header| {
            self.free_raw_data(edit, header)
        })
    }

    /// Gives back what the attributes and the elements of an object take outside of headers.
    fn free_raw_data(self: &Arc<Self>, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
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
            if let Ok(contents) = self.contents_of(address, &Selection::All) {
                self.free_contents(edit, contents)?;
            }
        }
        writer.free(self, edit)
    }
}
