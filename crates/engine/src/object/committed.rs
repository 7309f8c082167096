//! Creation of committed datatypes.

use hyperslab_datatype::Datatype;
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{MessageFlags, MessageType};

use super::dataset_edit::datatype_message;
use super::header_edit::{self, NewHeader, NewMessage};
use crate::error::Result;
use crate::store::Edit;

/// Creates a committed datatype in the file and returns its address. The caller adds one hard link.
/// `header` has the other properties: times and attribute storage.
///
/// # Errors
/// Returns [`Error::Misuse`](crate::Error::Misuse) if the datatype does not fit in an object
/// header, and the errors of [`Edit::allocate`].
pub fn commit_datatype(edit: &mut Edit<'_>, datatype: &Datatype, mut header: NewHeader) -> Result<Address> {
    let mut writer = Writer::new(MessageType::DATATYPE.name());
    datatype_message(datatype, edit.bounds()).encode(edit.params(), &mut writer);
    let flags = MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE;
    header.messages.push(NewMessage { kind: MessageType::DATATYPE, flags, body: writer.finish()? });
    header_edit::create(edit, &header)
}
