//! Messages of object headers, one file per message type (File Format Specification, section
//! IV.A.2).
//!
//! These modules decode the body of a message. The envelope around the body (type, size, flags,
//! creation order) belongs to the object header. A message with the flag [`MessageFlags::SHARED`]
//! has a [`SharedReference`] in place of its body. Version 1 object headers pad bodies to a
//! multiple of eight bytes, so decoders accept bytes after a body.
//!
//! ```
//! use hyperslab_format::codec::FileParams;
//! use hyperslab_format::message::{Message, MessageType, ReferenceCount};
//!
//! let body = [0, 2, 0, 0, 0];
//! let count = ReferenceCount::decode(&body, FileParams::DEFAULT)?;
//! assert_eq!(count.count, 2);
//! assert_eq!(ReferenceCount::TYPE, MessageType::REFERENCE_COUNT);
//! assert_eq!(count.to_bytes(FileParams::DEFAULT)?, body);
//! # Ok::<(), hyperslab_format::codec::FormatError>(())
//! ```

use std::fmt;

use crate::codec::{FileParams, Result, Writer};

mod attribute;
mod attribute_info;
mod bogus;
mod btree_k;
mod comment;
mod continuation;
mod data_layout;
mod dataspace;
pub mod datatype;
mod driver_info;
mod external_files;
mod file_space_info;
mod fill_value;
mod fill_value_old;
mod filter_pipeline;
mod group_info;
mod link;
mod link_info;
mod metadata_cache_image;
mod modification_time;
mod modification_time_old;
mod nil;
mod reference_count;
mod shared;
mod shared_message_table;
mod symbol_table;

#[cfg(test)]
pub(crate) mod laws;

pub use attribute::{AttributeFlags, AttributeMessage};
pub use attribute_info::AttributeInfo;
pub use bogus::Bogus;
pub use btree_k::BTreeK;
pub use comment::Comment;
pub use continuation::Continuation;
pub use data_layout::{
    ArrayDims, BTreeV2Parameters, ChunkFlags, ChunkIndexParameters, ChunkedLayout, CompactLayout,
    ContiguousLayout, DataLayout, ExtensibleArrayParameters, FieldOrder, FilteredChunk, FixedArrayParameters,
    Layout, SingleStructuredChunk, StructuredChunkLayout, StructuredChunkType, StructuredIndex,
    VirtualLayout,
};
pub use dataspace::DataspaceMessage;
pub use datatype::{DatatypeMessage, minimum_version};
pub use driver_info::DriverInfo;
pub use external_files::{ExternalFileSlot, ExternalFilesMessage};
pub use file_space_info::{FileSpaceInfo, FileSpaceStrategy, FreeSpaceManagers};
pub use fill_value::{AllocationTime, FillStatus, FillValueMessage, FillWriteTime};
pub use fill_value_old::FillValueOldMessage;
pub use filter_pipeline::{FilterDescription, FilterDescriptions, FilterPipeline, SectionFilters};
pub use group_info::{EstimatedEntries, GroupInfo, LinkPhaseChange};
pub use link::{ExternalLink, LinkMessage, LinkTarget};
pub use link_info::LinkInfo;
pub use metadata_cache_image::MetadataCacheImage;
pub use modification_time::ModificationTime;
pub use modification_time_old::ModificationTimeOld;
pub use nil::Nil;
pub use reference_count::ReferenceCount;
pub use shared::{SharedLocation, SharedReference};
pub use shared_message_table::SharedMessageTableMessage;
pub use symbol_table::SymbolTable;

/// The body of one message of an object header. A message may borrow from bytes with the lifetime
/// `'a`.
pub trait Message<'a>: Sized {
    /// The type number of the message in object headers.
    const TYPE: MessageType;

    /// Decodes the body of an object header message. Bytes after the body are accepted.
    ///
    /// # Errors
    /// Returns `Corrupt` if the bytes contradict the specification, and `Unsupported` for an
    /// unknown version.
    fn decode(bytes: &'a [u8], params: FileParams) -> Result<Self>;

    /// Writes the body of an object header message, in the version that the message states. If a
    /// value does not fit, the writer records an error. [`finish`](Writer::finish) then returns
    /// this error.
    fn encode(&self, params: FileParams, w: &mut Writer);

    /// Encodes the body of the object header message to bytes.
    ///
    /// # Errors
    /// Returns `Encode` if a value does not fit its field.
    fn to_bytes(&self, params: FileParams) -> Result<Vec<u8>> {
        let mut w = Writer::new(Self::TYPE.name());
        self.encode(params, &mut w);
        w.finish()
    }
}

/// The type of an object header message: 16 bits in version 1 object headers, 8 bits in version 2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageType(pub u16);

impl MessageType {
    /// Type number of the object header message for unused space.
    pub const NIL: Self = Self(0x00);
    /// Type number of the object header message for a dataspace: rank and sizes of a dataset.
    pub const DATASPACE: Self = Self(0x01);
    /// Type number of the object header message for the storage of a group's links.
    pub const LINK_INFO: Self = Self(0x02);
    /// Type number of the object header message for the datatype of a dataset, attribute or
    /// committed datatype.
    pub const DATATYPE: Self = Self(0x03);
    /// Type number of the object header message for a fill value as written before HDF5 1.6.
    pub const FILL_VALUE_OLD: Self = Self(0x04);
    /// Type number of the object header message for a dataset's fill value.
    pub const FILL_VALUE: Self = Self(0x05);
    /// Type number of the object header message for one link of a group.
    pub const LINK: Self = Self(0x06);
    /// Type number of the object header message for the external files that hold a dataset's raw
    /// data.
    pub const EXTERNAL_FILES: Self = Self(0x07);
    /// Type number of the object header message for the layout of a dataset's raw data.
    pub const DATA_LAYOUT: Self = Self(0x08);
    /// Type number of an object header message without meaning. libhdf5 uses this message to test
    /// the handling of unknown messages.
    pub const BOGUS: Self = Self(0x09);
    /// Type number of the object header message for the creation parameters of a group.
    pub const GROUP_INFO: Self = Self(0x0a);
    /// Type number of the object header message for the filters of chunks or of a group's heap.
    pub const FILTER_PIPELINE: Self = Self(0x0b);
    /// Type number of the object header message for one attribute of an object.
    pub const ATTRIBUTE: Self = Self(0x0c);
    /// Type number of the object header message for the comment on an object.
    pub const COMMENT: Self = Self(0x0d);
    /// Type number of the object header message for the modification time of an object as text.
    pub const MODIFICATION_TIME_OLD: Self = Self(0x0e);
    /// Type number of the object header message for the address of the table of shared messages.
    pub const SHARED_MESSAGE_TABLE: Self = Self(0x0f);
    /// Type number of the object header message for the address and length of a continuation block.
    pub const CONTINUATION: Self = Self(0x10);
    /// Type number of the object header message for the B-tree and the heap of a symbol table.
    pub const SYMBOL_TABLE: Self = Self(0x11);
    /// Type number of the object header message for the modification time of an object in seconds.
    pub const MODIFICATION_TIME: Self = Self(0x12);
    /// Type number of the object header message for the K values (half the entries of a full node)
    /// of version 1 B-trees.
    pub const BTREE_K: Self = Self(0x13);
    /// Type number of the object header message for the driver information of a file.
    pub const DRIVER_INFO: Self = Self(0x14);
    /// Type number of the object header message for the storage of an object's attributes.
    pub const ATTRIBUTE_INFO: Self = Self(0x15);
    /// Type number of the object header message for the number of hard links to the object.
    pub const REFERENCE_COUNT: Self = Self(0x16);
    /// Type number of the object header message for the management of file space.
    pub const FILE_SPACE_INFO: Self = Self(0x17);
    /// Type number of the object header message for the address of the metadata cache image.
    pub const METADATA_CACHE_IMAGE: Self = Self(0x18);

    /// Returns the name of the object header message's type in the specification, or "unknown
    /// message" for other types.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NIL => "NIL message",
            Self::DATASPACE => "dataspace message",
            Self::LINK_INFO => "link info message",
            Self::DATATYPE => "datatype message",
            Self::FILL_VALUE_OLD => "fill value (old) message",
            Self::FILL_VALUE => "fill value message",
            Self::LINK => "link message",
            Self::EXTERNAL_FILES => "external data files message",
            Self::DATA_LAYOUT => "data layout message",
            Self::BOGUS => "bogus message",
            Self::GROUP_INFO => "group info message",
            Self::FILTER_PIPELINE => "filter pipeline message",
            Self::ATTRIBUTE => "attribute message",
            Self::COMMENT => "object comment message",
            Self::MODIFICATION_TIME_OLD => "object modification time (old) message",
            Self::SHARED_MESSAGE_TABLE => "shared message table message",
            Self::CONTINUATION => "object header continuation message",
            Self::SYMBOL_TABLE => "symbol table message",
            Self::MODIFICATION_TIME => "object modification time message",
            Self::BTREE_K => "B-tree 'K' values message",
            Self::DRIVER_INFO => "driver info message",
            Self::ATTRIBUTE_INFO => "attribute info message",
            Self::REFERENCE_COUNT => "object reference count message",
            Self::FILE_SPACE_INFO => "file space info message",
            Self::METADATA_CACHE_IMAGE => "metadata cache image message",
            _ => "unknown message",
        }
    }

    /// Returns true if the specification or libhdf5 defines this type of object header message.
    pub const fn is_known(self) -> bool {
        self.0 <= Self::METADATA_CACHE_IMAGE.0
    }
}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#06x})", self.name(), self.0)
    }
}

bitflags::bitflags! {
    /// The flags of a message in its object header: constant, shared and so on (section IV.A.1,
    /// "Header Message #n Flags").
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct MessageFlags: u8 {
        /// A flag of an object header message: the message never changes.
        const CONSTANT = 1 << 0;
        /// A flag of an object header message: the body is a [`SharedReference`].
        const SHARED = 1 << 1;
        /// A flag of an object header message: programs must not share the message.
        const DO_NOT_SHARE = 1 << 2;
        /// A flag of an object header message: programs that do not know the message type must not
        /// open the object for writing.
        const FAIL_IF_UNKNOWN_AND_WRITING = 1 << 3;
        /// A flag of an object header message, for programs that do not know the message type. If
        /// such a program changes the object, it sets `WAS_UNKNOWN`.
        const MARK_IF_UNKNOWN = 1 << 4;
        /// A flag of an object header message: a program that did not know the message type has
        /// changed the object.
        const WAS_UNKNOWN = 1 << 5;
        /// A flag of an object header message: programs may share the message.
        const SHAREABLE = 1 << 6;
        /// A flag of an object header message: programs that do not know the message type must not
        /// open the object at all.
        const FAIL_IF_UNKNOWN_ALWAYS = 1 << 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_type_has_a_name() {
        for number in 0..=0x18 {
            assert!(MessageType(number).is_known());
            assert_ne!(MessageType(number).name(), "unknown message", "{number:#x}");
        }
        assert!(!MessageType(0x19).is_known());
        assert_eq!(MessageType(0x1234).to_string(), "unknown message (0x1234)");
    }

    #[test]
    fn flags_keep_all_bits() {
        for bits in 0..=u8::MAX {
            assert_eq!(MessageFlags::from_bits_retain(bits).bits(), bits);
            assert!(MessageFlags::from_bits(bits).is_some());
        }
    }
}
