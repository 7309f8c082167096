//! Shared messages of objects: insertion, references, and release.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    AttributeMessage, Message as _, MessageFlags, MessageType, SharedLocation, SharedReference,
};

use super::container::Container;
use super::header::ObjectHeader;
use super::header_edit::NewHeader;
use crate::error::{Error, Result};
use crate::index::shared_messages::Released;
use crate::store::{Bytes, Edit, Store, at};

/// The stored form of a message in an object header or an attribute: the message itself, or a
/// reference to a shared message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) flags: MessageFlags,
    pub(super) body: Vec<u8>,
    /// The heap ID of a shared message.
    pub(super) id: Option<[u8; 8]>,
}

impl Placed {
    /// Creates the stored form of a message that is not a shared message.
    pub(super) fn own(flags: MessageFlags, body: Vec<u8>) -> Self {
        let flags = flags & !(MessageFlags::SHARED | MessageFlags::SHAREABLE);
        Self { flags, body, id: None }
    }
}

/// Reads a message that is registered as a shared message, but is still in the object header of its
/// only user.
pub(crate) fn message_in_header(
    store: &Store,
    header: Address,
    kind: MessageType,
    index: u16,
) -> Result<Bytes> {
    let header = ObjectHeader::load(store, header)?;
    let message = header.messages_of(kind).nth(index.into());
    if let Some(message) = message.filter(|message| !message.flags.contains(MessageFlags::SHARED)) {
        return Ok(header.body_bytes(message));
    }
    let expected = format!("the address of an object with an unshared {}", kind.name());
    Err(Error::corrupt("shared message record", "object header address", expected, header.address()))
}

/// Stores a message as a shared message, if the file shares messages of this type and length.
/// Returns the stored form, and adds one user to the shared message. Before a call for an
/// attribute, the caller must store the attribute's shared datatype and dataspace.
pub(super) fn place(
    container: &Container,
    edit: &mut Edit<'_>,
    kind: MessageType,
    flags: MessageFlags,
    body: Vec<u8>,
) -> Result<Placed> {
    place_counted(container, edit, kind, flags, body).map(|(placed, _)| placed)
}

/// Stores a message like [`place`], as a shared message if possible. Also returns whether the
/// shared message has no other user.
pub(super) fn place_counted(
    container: &Container,
    edit: &mut Edit<'_>,
    kind: MessageType,
    flags: MessageFlags,
    body: Vec<u8>,
) -> Result<(Placed, bool)> {
    let Some(shared) =
        container.shared_messages.as_ref().filter(|_| !flags.contains(MessageFlags::DO_NOT_SHARE))
    else {
        return Ok((Placed::own(flags, body), true));
    };
    match shared.insert(edit, kind, &body)? {
        None => Ok((Placed::own(flags, body), true)),
        Some(inserted) => {
            let body = SharedReference::heap(inserted.id).to_bytes(edit.params())?;
            let flags = (flags | MessageFlags::SHARED) & !MessageFlags::SHAREABLE;
            Ok((Placed { flags, body, id: Some(inserted.id) }, inserted.first))
        }
    }
}

/// Stores each message of a new object header as a shared message, if the file shares such
/// messages.
pub(super) fn place_all(container: &Container, edit: &mut Edit<'_>, header: &mut NewHeader) -> Result<()> {
    if container.shared_messages.is_none() {
        return Ok(());
    }
    for message in &mut header.messages {
        if message.kind.is_shareable() && !message.flags.contains(MessageFlags::SHARED) {
            let body = std::mem::take(&mut message.body);
            let placed = place(container, edit, message.kind, message.flags, body)?;
            (message.flags, message.body) = (placed.flags, placed.body);
        }
    }
    Ok(())
}

/// Releases a message of the object header at `owner`. `flags` and `body` are the flags and the
/// bytes that the object header stores. Returns the addresses of the committed datatypes that the
/// message no longer uses; the caller decreases their reference counts.
pub(super) fn release(
    container: &Container,
    edit: &mut Edit<'_>,
    owner: Address,
    kind: MessageType,
    flags: MessageFlags,
    body: &[u8],
) -> Result<Vec<Address>> {
    if flags.contains(MessageFlags::SHARED) {
        let reference = at(SharedReference::decode(body, container.params()), owner)?;
        return release_reference(container, edit, owner, kind, &reference);
    }
    if flags.contains(MessageFlags::SHAREABLE)
        && let Some(shared) = &container.shared_messages
        && let Some(Released::Used) = shared.release_held(edit, kind, owner, body)?
    {
        return Ok(Vec::new());
    }
    release_parts(container, edit, owner, kind, body)
}

fn release_reference(
    container: &Container,
    edit: &mut Edit<'_>,
    owner: Address,
    kind: MessageType,
    reference: &SharedReference,
) -> Result<Vec<Address>> {
    match (reference.location, &container.shared_messages) {
        (SharedLocation::Committed(address), _) => Ok(vec![address]),
        // A file without shared messages has no target for the reference.
        (SharedLocation::Heap(_), None) => Ok(Vec::new()),
        (SharedLocation::Heap(id), Some(shared)) => match shared.release(edit, kind, id)? {
            Released::Used => Ok(Vec::new()),
            Released::Removed(body) => release_parts(container, edit, owner, kind, &body),
        },
    }
}

/// Returns the references to the shared parts of a message. Only an attribute has such parts: its
/// datatype and its dataspace. A shared attribute counts as one user of its parts, even if it has
/// several users itself.
pub(super) fn parts(
    container: &Container,
    owner: Address,
    kind: MessageType,
    body: &[u8],
) -> Result<Vec<(MessageType, SharedReference)>> {
    let mut parts = Vec::new();
    if kind != MessageType::ATTRIBUTE {
        return Ok(parts);
    }
    let params = container.params();
    let attribute = at(AttributeMessage::decode(body, params), owner)?;
    if attribute.datatype_is_shared() {
        let reference = at(SharedReference::decode(attribute.datatype, params), owner)?;
        parts.push((MessageType::DATATYPE, reference));
    }
    if attribute.dataspace_is_shared() {
        let reference = at(SharedReference::decode(attribute.dataspace, params), owner)?;
        parts.push((MessageType::DATASPACE, reference));
    }
    Ok(parts)
}

/// Releases the shared parts of a message. Only an attribute has such parts: its datatype and its
/// dataspace. Like [`release`], returns the committed datatypes that are no longer used.
pub(super) fn release_parts(
    container: &Container,
    edit: &mut Edit<'_>,
    owner: Address,
    kind: MessageType,
    body: &[u8],
) -> Result<Vec<Address>> {
    let mut targets = Vec::new();
    for (kind, reference) in parts(container, owner, kind, body)? {
        targets.extend(release_reference(container, edit, owner, kind, &reference)?);
    }
    Ok(targets)
}
