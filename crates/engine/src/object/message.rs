//! Message bodies, wherever they lie: in the header itself, in a committed datatype, or among the file's
//! shared messages.

use std::ops::Deref;

use hyperslab_format::codec::Address;
use hyperslab_format::message::{Message, MessageFlags, MessageType, SharedLocation, SharedReference};

use super::container::Container;
use super::header::{ClosedMessage, ObjectHeader};
use crate::error::{Error, Result};
use crate::store::{Bytes, at};

/// Shared messages that lead to shared messages, at most.
const MAX_HOPS: usize = 4;

/// The body of a message.
#[derive(Debug, Clone)]
pub struct Body {
    bytes: Bytes,
    /// The object header that holds it, if that is another object: a committed datatype.
    pub committed: Option<Address>,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body {
    /// A body that lies where it is used.
    pub(crate) fn own(bytes: Bytes) -> Self {
        Self { bytes, committed: None }
    }

    /// The bytes, to be kept.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// The body of `message` of `header`.
pub fn resolve(container: &Container, header: &ObjectHeader, message: &ClosedMessage) -> Result<Body> {
    if !message.flags.contains(MessageFlags::SHARED) {
        return Ok(Body::own(header.body_bytes(message)));
    }
    let reference = at(SharedReference::decode(header.body(message), container.params()), header.address())?;
    resolve_reference(container, message.kind, &reference)
}

/// The body of a message of the header at `owner` that has these flags and bytes there.
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

/// The body that a shared message of type `kind` stands for.
pub fn resolve_reference(
    container: &Container,
    kind: MessageType,
    reference: &SharedReference,
) -> Result<Body> {
    let mut reference = *reference;
    let mut committed = None;
    for _ in 0..MAX_HOPS {
        let address = match reference.location {
            SharedLocation::Heap(id) => {
                let Some(shared) = &container.shared_messages else {
                    return Err(Error::corrupt(
                        "shared message",
                        "type",
                        "no heap: the file has none",
                        "heap",
                    ));
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
                format_args!("none at {address}"),
            ));
        };
        if !message.flags.contains(MessageFlags::SHARED) {
            return Ok(Body { bytes: header.body_bytes(message), committed });
        }
        reference = at(SharedReference::decode(header.body(message), container.params()), address)?;
    }
    Err(Error::corrupt(
        "shared message",
        "address",
        format!("a body after at most {MAX_HOPS} steps"),
        "another",
    ))
}

/// The first message of `M`'s type, decoded, if the header has one.
pub fn find<M: for<'a> Message<'a>>(container: &Container, header: &ObjectHeader) -> Result<Option<M>> {
    let Some(message) = header.find(M::TYPE) else { return Ok(None) };
    if !message.flags.contains(MessageFlags::SHARED) {
        return at(M::decode(header.body(message), container.params()), header.address()).map(Some);
    }
    let body = resolve(container, header, message)?;
    at(M::decode(&body, container.params()), header.address()).map(Some)
}
