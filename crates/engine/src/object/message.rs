//! Bodies of messages: in an object header, in a committed datatype, or among the shared messages
//! of the file.

use std::ops::Deref;

use hyperslab_format::codec::Address;
use hyperslab_format::message::{Message, MessageFlags, MessageType, SharedLocation, SharedReference};

use super::container::Container;
use super::header::{HeaderMessage, ObjectHeader};
use crate::error::{Error, Result};
use crate::store::{Bytes, at};

/// Largest number of references in a chain from one shared message to the next that a reader
/// follows.
const MAX_REFERENCES: usize = 4;

/// The decoded body of an object header message: bytes of the object header itself, or of a shared
/// message.
#[derive(Debug, Clone)]
pub struct Body {
    bytes: Bytes,
    /// Address of the object header that contains the body, if that is another object: a committed
    /// datatype.
    pub committed: Option<Address>,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body {
    /// Creates the body of an object header message from bytes that are part of the message itself.
    pub(crate) fn own(bytes: Bytes) -> Self {
        Self { bytes, committed: None }
    }

    /// Returns the bytes of the object header message's body, without copying them. The result
    /// shares the memory of the metadata block in the file's cache.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Returns the body of the message `message` in the object header `header`. If the message is a
/// reference to a shared message, returns the body of the shared message.
pub fn resolve(container: &Container, header: &ObjectHeader, message: &HeaderMessage) -> Result<Body> {
    if !message.flags.contains(MessageFlags::SHARED) {
        return Ok(Body::own(header.body_bytes(message)));
    }
    let reference = at(SharedReference::decode(header.body(message), container.params()), header.address())?;
    resolve_reference(container, message.kind, &reference)
}

/// Returns the body of a message in the object header at `owner`, from the flags and the stored
/// bytes of the message. If the stored bytes are a reference to a shared message, returns the body
/// of the shared message.
pub(super) fn resolve_body(
    container: &Container,
    owner: Address,
    kind: MessageType,
    flags: MessageFlags,
    body: &[u8],
) -> Result<Body> {
    if !flags.contains(MessageFlags::SHARED) {
        return Ok(Body::own(Bytes::from(body)));
    }
    let reference = at(SharedReference::decode(body, container.params()), owner)?;
    resolve_reference(container, kind, &reference)
}

/// Returns the body of the shared message of type `kind` that `reference` refers to.
pub fn resolve_reference(
    container: &Container,
    kind: MessageType,
    reference: &SharedReference,
) -> Result<Body> {
    let mut reference = *reference;
    let mut committed = None;
    for _ in 0..MAX_REFERENCES {
        let address = match reference.location {
            SharedLocation::Heap(id) => {
                let Some(shared) = &container.shared_messages else {
                    let expected = "another type: the file has no shared messages";
                    return Err(Error::corrupt("shared message", "type", expected, "heap"));
                };
                return Ok(Body { bytes: shared.get(&container.store, kind, &id)?, committed });
            }
            SharedLocation::Committed(address) => address,
        };
        committed.get_or_insert(address);
        let header = ObjectHeader::load(&container.store, address)?;
        let Some(message) = header.find(kind) else {
            return Err(Error::corrupt(
                "shared message",
                "address",
                format!("an object with a {}", kind.name()),
                format_args!("no such message at {address}"),
            ));
        };
        if !message.flags.contains(MessageFlags::SHARED) {
            return Ok(Body { bytes: header.body_bytes(message), committed });
        }
        reference = at(SharedReference::decode(header.body(message), container.params()), address)?;
    }
    let expected = format!("a body after at most {MAX_REFERENCES} references");
    Err(Error::corrupt("shared message", "address", expected, "another reference"))
}

/// Decodes the first message of the type `M` in an object header. Returns `None` if the header has
/// no message of this type.
pub fn find<M: for<'a> Message<'a>>(container: &Container, header: &ObjectHeader) -> Result<Option<M>> {
    let Some(message) = header.find(M::TYPE) else { return Ok(None) };
    if !message.flags.contains(MessageFlags::SHARED) {
        return at(M::decode(header.body(message), container.params()), header.address()).map(Some);
    }
    let body = resolve(container, header, message)?;
    at(M::decode(&body, container.params()), header.address()).map(Some)
}
