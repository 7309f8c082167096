//! What headers say beside the object itself: comments, times, links to it.

use hyperslab_format::message::{Comment, Message as _, MessageType, ModificationTime, ModificationTimeOld};
use hyperslab_format::object_header::ObjectTimes;

use super::container::Container;
use super::header::{ObjectHeader, Prefix};
use super::message;
use crate::error::Result;
use crate::store::at;

/// The comment on the object, as the bytes in the file.
pub fn comment(container: &Container, header: &ObjectHeader) -> Result<Option<Vec<u8>>> {
    let Some(closed) = header.find(MessageType::COMMENT) else { return Ok(None) };
    let body = message::resolve(container, header, closed)?;
    let comment = at(Comment::decode(&body, container.params()), header.address())?;
    Ok(Some(comment.text.to_vec()))
}

/// When the object was last changed, in seconds since 1970-01-01 UTC.
pub fn modification_time(container: &Container, header: &ObjectHeader) -> Result<Option<i64>> {
    if let Some(times) = times(header) {
        return Ok(Some(i64::from(times.modification)));
    }
    if let Some(time) = message::find::<ModificationTime>(container, header)? {
        return Ok(Some(i64::from(time.seconds)));
    }
    Ok(message::find::<ModificationTimeOld>(container, header)?.and_then(ModificationTimeOld::unix_seconds))
}

/// All four times, where a version 2 header stores them.
pub fn times(header: &ObjectHeader) -> Option<ObjectTimes> {
    match header.prefix() {
        Prefix::V1(_) => None,
        Prefix::V2(prefix) => prefix.times,
    }
}
