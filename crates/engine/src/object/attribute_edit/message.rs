//! The message of a new attribute: its checks and its encoding.

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{CharacterSet, Datatype};
use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{
    AttributeFlags, AttributeMessage, Message as _, MessageType, SharedReference,
};

use super::NONE;
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::dataset_edit::{dataspace_message, datatype_message};
use crate::object::path::lossy;
use crate::object::sharing::{self, Placed};
use crate::store::Edit;
use crate::versions::LibraryVersion;

/// Size in bytes of the largest message in a version 1 object header, which pads messages to a
/// multiple of 8 bytes.
pub(super) const MAX_V1_MESSAGE_BYTES: usize = 65_528;

/// The properties and the elements of a new attribute of an object.
#[derive(Debug, Clone, Copy)]
pub struct NewAttribute<'a> {
    /// The bytes of the name.
    pub name: &'a [u8],
    /// Character set of the name.
    pub charset: CharacterSet,
    /// Datatype of the elements.
    pub datatype: &'a Datatype,
    /// Address of the committed datatype, if the attribute uses one.
    pub committed: Option<Address>,
    /// Dataspace of the elements.
    pub dataspace: &'a Dataspace,
    /// The stored elements: `datatype.size` bytes each.
    pub data: &'a [u8],
}

impl NewAttribute<'_> {
    /// Checks that the name of a new attribute is valid. Also checks that its elements have the
    /// number of bytes that the datatype and the dataspace require.
    pub(super) fn check(&self) -> Result<()> {
        check_name(self.name)?;
        let count = self.dataspace.element_count();
        let wanted = count.and_then(|count| count.checked_mul(u64::from(self.datatype.size)));
        if wanted != Some(to_u64(self.data.len())) {
            return Err(Error::Misuse(format!(
                "attribute `{}`: {} bytes are given for {} elements of {} bytes each",
                lossy(self.name),
                self.data.len(),
                count.unwrap_or(u64::MAX),
                self.datatype.size
            )));
        }
        Ok(())
    }

    /// Encodes the message of a new attribute. In a file with early version bounds, uses the
    /// earliest version that suffices; in other files, uses version 3. Stores the datatype and the
    /// dataspace as shared messages of `shared`, if the file shares such messages.
    pub(super) fn encode(&self, edit: &mut Edit<'_>, shared: Option<&Container>) -> Result<Vec<u8>> {
        let (params, bounds) = (edit.params(), edit.bounds());
        let mut flags = AttributeFlags::empty();
        let mut place = |kind: MessageType, body: Vec<u8>| match shared {
            Some(container) => sharing::place(container, edit, kind, NONE, body),
            None => Ok(Placed::own(NONE, body)),
        };
        let datatype = if let Some(address) = self.committed {
            flags |= AttributeFlags::SHARED_DATATYPE;
            SharedReference::committed(address).to_bytes(params)?
        } else {
            let mut writer = Writer::new(MessageType::DATATYPE.name());
            datatype_message(self.datatype, bounds).encode(params, &mut writer);
            let placed = place(MessageType::DATATYPE, writer.finish()?)?;
            flags.set(AttributeFlags::SHARED_DATATYPE, placed.id.is_some());
            placed.body
        };
        let dataspace = dataspace_message(self.dataspace, bounds).to_bytes(params)?;
        let dataspace = place(MessageType::DATASPACE, dataspace)?;
        flags.set(AttributeFlags::SHARED_DATASPACE, dataspace.id.is_some());
        let dataspace = dataspace.body;
        let version = match self.charset {
            _ if bounds.prefers(LibraryVersion::V18) => 3,
            CharacterSet::Ascii if flags.is_empty() => 1,
            CharacterSet::Ascii => 2,
            CharacterSet::Utf8 => 3,
        };
        let (charset, name) = (self.charset, self.name);
        let message = AttributeMessage {
            version,
            flags,
            charset,
            name,
            datatype: &datatype,
            dataspace: &dataspace,
            data: self.data,
        };
        Ok(message.to_bytes(params)?)
    }
}

/// Checks that an attribute can have the name `name`.
pub(super) fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "it has no bytes",
        _ if name.contains(&0) => "a zero byte ends names in the file",
        _ if name.len() >= 65_535 => "it is longer than 65534 bytes",
        _ => return Ok(()),
    };
    Err(Error::Misuse(format!("`{}` cannot be the name of an attribute: {why}", lossy(name))))
}

/// Creates an error about an attribute that is too long for a version 1 object header.
pub(super) fn too_long_for_v1_header(name: &[u8], length: usize) -> Error {
    Error::Misuse(format!(
        "attribute `{}` takes {length} bytes, but this object's header (version 1) holds at most {MAX_V1_MESSAGE_BYTES} for each: \
         create the object in a file whose lower version bound is v18 or later",
        lossy(name)
    ))
}
