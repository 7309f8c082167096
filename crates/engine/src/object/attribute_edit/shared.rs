//! Shared messages of attributes, and the reference counts of committed datatypes.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{MessageFlags, MessageType, SharedLocation, SharedReference};

use super::storage::Stored;
use super::{AttributeEditor, NONE, NewAttribute};
use crate::error::Result;
use crate::object::delete::{self, RawData};
use crate::object::message::resolve_reference;
use crate::object::sharing::{self, Placed};
use crate::store::{Bytes, Edit, at};

impl AttributeEditor<'_> {
    /// Reads a shared attribute message. `body` is the reference to it, which an object header
    /// stores in place of the message.
    pub(super) fn shared_body(&self, body: &[u8]) -> Result<Bytes> {
        let reference = at(SharedReference::decode(body, self.container.params()), self.address())?;
        let body = resolve_reference(self.container, MessageType::ATTRIBUTE, &reference)?;
        Ok(body.bytes().clone())
    }

    /// Increases the reference count of the committed datatype that an attribute uses. The
    /// attribute may belong to the committed datatype itself.
    pub(super) fn refer(&mut self, edit: &mut Edit<'_>, datatype: Address) -> Result<()> {
        if datatype == self.address() {
            return delete::count_reference(edit.store(), &mut self.open.header);
        }
        delete::add_reference(edit, datatype)
    }

    /// Places the message of a new attribute: stores the attribute or its datatype and dataspace as
    /// shared messages, if the file shares messages. `plain` is the message without sharing.
    /// Returns the message or reference to store. Before the call, the caller increases the
    /// reference count of a committed datatype.
    pub(super) fn place(
        &mut self,
        edit: &mut Edit<'_>,
        attribute: &NewAttribute<'_>,
        plain: Vec<u8>,
    ) -> Result<Placed> {
        if self.container.shared_messages.is_none() {
            return Ok(Placed::own(NONE, plain));
        }
        let body = attribute.encode(edit, Some(self.container))?;
        self.place_body(edit, NONE, body)
    }

    /// Places the encoded message of an attribute: stores it as a shared message, if possible, and
    /// returns the form to store. Before the call, the caller counts the uses of the shared
    /// datatype and dataspace.
    fn place_body(&mut self, edit: &mut Edit<'_>, flags: MessageFlags, body: Vec<u8>) -> Result<Placed> {
        let (kind, owner) = (MessageType::ATTRIBUTE, self.address());
        let parts = body.clone();
        let (placed, first) = sharing::place_counted(self.container, edit, kind, flags, body)?;
        if !first {
            // A shared message is one user of its parts, independent of the number of its own
            // users.
            let targets = sharing::release_parts(self.container, edit, owner, kind, &parts)?;
            self.drop_targets(edit, targets)?;
        }
        Ok(placed)
    }

    /// Places the message of a renamed attribute: stores it as a shared message, if possible, and
    /// returns the form to store. Counts one more use of the shared datatype and dataspace, because
    /// the old message still uses them.
    pub(super) fn place_renamed(
        &mut self,
        edit: &mut Edit<'_>,
        flags: MessageFlags,
        body: Vec<u8>,
    ) -> Result<Placed> {
        for (kind, reference) in
            sharing::parts(self.container, self.address(), MessageType::ATTRIBUTE, &body)?
        {
            match (reference.location, &self.container.shared_messages) {
                (SharedLocation::Committed(datatype), _) => self.refer(edit, datatype)?,
                (SharedLocation::Heap(id), Some(shared)) => shared.acquire(edit, kind, id)?,
                (SharedLocation::Heap(_), None) => {}
            }
        }
        self.place_body(edit, flags, body)
    }

    /// Releases the shared messages and committed datatypes to which the message of a removed
    /// attribute refers.
    pub(super) fn release(&mut self, edit: &mut Edit<'_>, stored: &Stored) -> Result<()> {
        let (kind, owner) = (MessageType::ATTRIBUTE, self.address());
        let body = stored.reference.as_deref().unwrap_or(&stored.body);
        let targets = sharing::release(self.container, edit, owner, kind, stored.flags, body)?;
        self.drop_targets(edit, targets)
    }

    /// Decreases the reference counts of the committed datatypes that a removed attribute used. The
    /// attribute may have belonged to one of these committed datatypes.
    fn drop_targets(&mut self, edit: &mut Edit<'_>, targets: Vec<Address>) -> Result<()> {
        for target in targets {
            if target == self.address() {
                delete::uncount_reference(edit.store(), &mut self.open.header)?;
                continue;
            }
            let no_raw_data: &mut RawData<'_> = &mut |_, _| Ok(());
            delete::drop_reference(self.container, edit, target, no_raw_data)?;
        }
        Ok(())
    }
}
