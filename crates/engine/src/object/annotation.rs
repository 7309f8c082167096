//! Comments and times of objects.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    Comment, Message as _, MessageFlags, MessageType, ModificationTime, ModificationTimeOld,
};
use hyperslab_format::object_header::ObjectTimes;

use super::container::Container;
use super::header::{ObjectHeader, Prefix};
use super::header_edit::{self, HeaderEditor};
use super::message;
use crate::error::Result;
use crate::store::{Edit, at};

/// Returns the comment of an object from its object header, as stored.
pub fn comment(container: &Container, header: &ObjectHeader) -> Result<Option<Vec<u8>>> {
    let Some(message) = header.find(MessageType::COMMENT) else { return Ok(None) };
    let body = message::resolve(container, header, message)?;
    let comment = at(Comment::decode(&body, container.params()), header.address())?;
    Ok(Some(comment.text.to_vec()))
}

/// Sets the comment of the object at the address `object`. An empty comment is removed, as in
/// libhdf5.
///
/// # Errors
/// Returns [`Error::Misuse`](crate::Error::Misuse) if the comment contains a zero byte or does not
/// fit in an object header.
pub fn set_comment(edit: &mut Edit<'_>, object: Address, text: &[u8]) -> Result<()> {
    let mut header = HeaderEditor::load(edit.store(), object)?;
    if text.is_empty() {
        header.remove_messages(MessageType::COMMENT, |_| true)?;
    } else {
        header.set(&Comment { text }, MessageFlags::empty())?;
    }
    header.touch(header_edit::now())?;
    header.save(edit)
}

/// Returns the time of an object's last change from its object header, in seconds since 1970-01-01
/// UTC.
pub fn modification_time(container: &Container, header: &ObjectHeader) -> Result<Option<i64>> {
    if let Some(times) = times(header) {
        return Ok(Some(i64::from(times.modification)));
    }
    if let Some(time) = message::find::<ModificationTime>(container, header)? {
        return Ok(Some(i64::from(time.seconds)));
    }
    Ok(message::find::<ModificationTimeOld>(container, header)?.and_then(ModificationTimeOld::unix_seconds))
}

/// Returns the four times of an object (access, modification, change, birth), if its version 2
/// object header stores them.
pub fn times(header: &ObjectHeader) -> Option<ObjectTimes> {
    match header.prefix() {
        Prefix::V1(_) => None,
        Prefix::V2(prefix) => prefix.times,
    }
}
