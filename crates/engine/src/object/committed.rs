//! Committed datatypes that are made.

use hyperslab_datatype::Datatype;
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{MessageFlags, MessageType};

use super::dataset_edit::datatype_message;
use super::header_edit::{self, NewHeader, NewMessage};
use crate::error::Result;
use crate::store::Edit;

/// Makes a committed datatype, to which one hard link is to be made. `header` says what it holds besides: times, how
/// attributes are kept.
///
/// # Errors
/// If the type does not fit an object header; as [`Edit::allocate`].
pub fn commit_datatype(edit: &mut Edit<'_>, datatype: &Datatype, mut header: NewHeader) -> Result<Address> {
    let mut writer = Writer::new(MessageType::DATATYPE.name());
    datatype_message(datatype, edit.bounds()).encode(edit.params(), &mut writer);
    let flags = MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE;
    header.messages.push(NewMessage { kind: MessageType::DATATYPE, flags, body: writer.finish()? });
    header_edit::create(edit, &header)
}
