//! Link message: one link of a group in the format of HDF5 1.8 and later, stored in the object
//! header or in the group's fractal heap (section IV.A.2.g).
//!
//! ```text
//! size  field
//! 1     version = 1
//! 1     flags: bits 0-1 width of the name length (1, 2, 4, 8), bit 2 creation order,
//!              bit 3 link type, bit 4 character set
//! 1     link type (if bit 3): 0 hard, 1 soft, 64 external, 65-255 user-defined
//! 8     creation order (if bit 2)
//! 1     character set of the name (if bit 4): 0 ASCII, 1 UTF-8
//! 1-8   length of the name (n)
//! n     name, without a terminating zero byte
//! ..    link information
//!         hard   O  address of the object header
//!         soft   2  length, then the path
//!         others 2  length, then the value
//! ```
//!
//! Decoders accept any width of the name length. Encoders write the smallest width.
//!
//! The value of an external link:
//! ```text
//! size  field
//! 1     version (upper four bits) = 0, flags (lower four bits) = 0
//! ..    name of the file, zero byte
//! ..    path of the object in it, zero byte
//! ```

use hyperslab_datatype::CharacterSet;

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

const NAME_LENGTH_WIDTH: u8 = 0b11;
const HAS_CREATION_ORDER: u8 = 1 << 2;
const HAS_TYPE: u8 = 1 << 3;
const HAS_CHARSET: u8 = 1 << 4;
const ALL_FLAGS: u8 = NAME_LENGTH_WIDTH | HAS_CREATION_ORDER | HAS_TYPE | HAS_CHARSET;
const HARD: u8 = 0;
const SOFT: u8 = 1;

/// The link message, which stores one link of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkMessage<'a> {
    /// Name of the link; never empty.
    pub name: &'a [u8],
    /// Character set of the name.
    pub charset: CharacterSet,
    /// Position of the link in the order of creation, if the group tracks the order.
    pub creation_order: Option<u64>,
    /// Target of the link.
    pub target: LinkTarget<'a>,
}

/// The target of a link in a group: hard, soft, external or user-defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkTarget<'a> {
    /// Hard link: the address of an object header.
    Hard(Address),
    /// Soft link: a path, relative to the group that holds the link.
    Soft(&'a [u8]),
    /// User-defined link: a value for the link's class to interpret.
    UserDefined {
        /// Link class: 64 ([`LinkTarget::EXTERNAL`]) for external links, 65 to 255 for classes that
        /// programs register.
        class: u8,
        /// Value of the link. [`ExternalLink::decode`] decodes the value of an external link.
        value: &'a [u8],
    },
}

impl LinkTarget<'_> {
    /// The link class of external links: the number that a link message stores.
    pub const EXTERNAL: u8 = 64;

    /// Returns the number of the link type, as the link message stores it.
    pub const fn link_type(&self) -> u8 {
        match self {
            Self::Hard(_) => HARD,
            Self::Soft(_) => SOFT,
            Self::UserDefined { class, .. } => *class,
        }
    }
}

/// The value of an external link: the file name and the path of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExternalLink<'a> {
    /// Name of the file.
    pub file: &'a [u8],
    /// Path of the object in the file.
    pub path: &'a [u8],
}

impl<'a> ExternalLink<'a> {
    const NAME: &'static str = "external link value";

    /// Decodes the value of an external link (file name and path), whose class is
    /// [`LinkTarget::EXTERNAL`].
    ///
    /// # Errors
    /// Returns `Unsupported` for another version or unknown flags, and `Corrupt` for a name without
    /// a terminating zero byte.
    pub fn decode(value: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(Self::NAME, value);
        let version_and_flags = r.u8("version and flags")?;
        if version_and_flags != 0 {
            return Err(r.unsupported(format!(
                "version {} with flags {:#x}",
                version_and_flags >> 4,
                version_and_flags & 0xf
            )));
        }
        Ok(Self { file: r.until_nul("file name")?, path: r.until_nul("object path")? })
    }

    /// Encodes the value of the external link (file name and path) to bytes.
    ///
    /// # Errors
    /// Returns `Encode` if a name contains a zero byte.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut w = Writer::new(Self::NAME);
        w.u8(0);
        w.text_nul(self.file, "file name");
        w.text_nul(self.path, "object path");
        w.finish()
    }
}

impl<'a> Message<'a> for LinkMessage<'a> {
    const TYPE: MessageType = MessageType::LINK;

    fn decode(bytes: &'a [u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[1])?;
        let flags = r.u8("flags")?;
        if flags & !ALL_FLAGS != 0 {
            return Err(r.corrupt("flags", "bits 0 to 4 only", format_args!("{flags:#04x}")));
        }
        let link_type = if flags & HAS_TYPE == 0 { HARD } else { r.u8("link type")? };
        if (SOFT + 1..LinkTarget::EXTERNAL).contains(&link_type) {
            return Err(r.unsupported(format!("link type {link_type}")));
        }
        let creation_order = match flags & HAS_CREATION_ORDER {
            0 => None,
            _ => Some(r.u64("creation order")?),
        };
        let charset = match flags & HAS_CHARSET {
            0 => CharacterSet::Ascii,
            _ => decode_charset(&mut r, "link name character set")?,
        };
        let name_length = r.uint(1 << (flags & NAME_LENGTH_WIDTH), "length of link name")?;
        if name_length == 0 {
            return Err(r.corrupt("length of link name", "at least 1", name_length));
        }
        let name = r.take_u64(name_length, "link name")?;
        let target = decode_target(&mut r, link_type, params)?;
        Ok(Self { name, charset, creation_order, target })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        let link_type = self.target.link_type();
        let (width_code, width) = name_length_width(self.name.len());
        let mut flags = width_code;
        if self.creation_order.is_some() {
            flags |= HAS_CREATION_ORDER;
        }
        if link_type != HARD {
            flags |= HAS_TYPE;
        }
        if self.charset != CharacterSet::Ascii {
            flags |= HAS_CHARSET;
        }
        w.u8(1);
        w.u8(flags);
        if link_type != HARD {
            w.u8(link_type);
        }
        if let Some(order) = self.creation_order {
            w.u64(order);
        }
        if self.charset != CharacterSet::Ascii {
            w.u8(charset_code(self.charset));
        }
        if self.name.is_empty() {
            w.fail("length of link name", 0);
        }
        w.uint(width, self.name.len() as u64, "length of link name");
        w.bytes(self.name);
        self.encode_target(params, w);
    }
}

impl LinkMessage<'_> {
    fn encode_target(&self, params: FileParams, w: &mut Writer) {
        match self.target {
            LinkTarget::Hard(address) => w.offset(params, address, "object header address"),
            LinkTarget::Soft(path) => {
                if path.is_empty() {
                    w.fail("length of soft link value", 0);
                }
                w.narrow_u16(path.len(), "length of soft link value");
                w.bytes(path);
            }
            LinkTarget::UserDefined { class, value } => {
                if class < LinkTarget::EXTERNAL {
                    w.fail("link type", class);
                }
                w.narrow_u16(value.len(), "length of user-defined data");
                w.bytes(value);
            }
        }
    }
}

fn decode_target<'a>(r: &mut Reader<'a>, link_type: u8, params: FileParams) -> Result<LinkTarget<'a>> {
    match link_type {
        HARD => Ok(LinkTarget::Hard(r.offset(params, "object header address")?)),
        SOFT => {
            let length = r.u16("length of soft link value")?;
            if length == 0 {
                return Err(r.corrupt("length of soft link value", "at least 1", length));
            }
            Ok(LinkTarget::Soft(r.take(length.into(), "soft link value")?))
        }
        class => {
            let length = r.u16("length of user-defined data")?;
            Ok(LinkTarget::UserDefined { class, value: r.take(length.into(), "user-defined data")? })
        }
    }
}

/// Reads the character set of a link name from a link message.
pub(super) fn decode_charset(r: &mut Reader<'_>, field: &'static str) -> Result<CharacterSet> {
    match r.u8(field)? {
        0 => Ok(CharacterSet::Ascii),
        1 => Ok(CharacterSet::Utf8),
        other => Err(r.corrupt(field, "0 (ASCII) or 1 (UTF-8)", other)),
    }
}

/// Returns the number in a link message for the character set of the link name.
pub(super) const fn charset_code(charset: CharacterSet) -> u8 {
    match charset {
        CharacterSet::Ascii => 0,
        CharacterSet::Utf8 => 1,
    }
}

/// Returns the width in bytes of the smallest field for the length of a link name, and the bits for
/// this width in the flags of the link message.
fn name_length_width(length: usize) -> (u8, usize) {
    match length {
        0..=0xff => (0, 1),
        0x100..=0xffff => (1, 2),
        _ if u32::try_from(length).is_ok() => (2, 4),
        _ => (3, 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };

    #[test]
    fn hard() {
        let link = LinkMessage {
            name: b"ab",
            charset: CharacterSet::Ascii,
            creation_order: None,
            target: LinkTarget::Hard(Address::new(0x320)),
        };
        assert_eq!(assert_laws!(LinkMessage, link, SMALL), [1, 0, 2, b'a', b'b', 0x20, 3, 0, 0]);
    }

    #[test]
    fn hard_with_every_field() {
        let bytes = [1, 0x1d, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, b'a', 0x20, 3, 0, 0];
        let link = LinkMessage::decode(&bytes, SMALL).unwrap();
        assert_eq!(link.name, b"a");
        assert_eq!(link.creation_order, Some(7));
        assert_eq!(link.target, LinkTarget::Hard(Address::new(0x320)));
    }

    #[test]
    fn soft_in_utf8_with_order() {
        let link = LinkMessage {
            name: "é".as_bytes(),
            charset: CharacterSet::Utf8,
            creation_order: Some(5),
            target: LinkTarget::Soft(b"/x"),
        };
        assert_eq!(
            assert_laws!(LinkMessage, link, SMALL),
            [1, 0x1c, 1, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0xc3, 0xa9, 2, 0, b'/', b'x']
        );
    }

    #[test]
    fn external() {
        let external = ExternalLink { file: b"f.h5", path: b"/a" };
        let value = external.encode().unwrap();
        assert_eq!(value, b"\0f.h5\0/a\0");
        assert_eq!(ExternalLink::decode(&value).unwrap(), external);
        let link = LinkMessage {
            name: b"e",
            charset: CharacterSet::Ascii,
            creation_order: None,
            target: LinkTarget::UserDefined { class: LinkTarget::EXTERNAL, value: &value },
        };
        assert_eq!(assert_laws!(LinkMessage, link, SMALL), b"\x01\x08\x40\x01e\x09\0\0f.h5\0/a\0");
        assert!(ExternalLink::decode(b"\x10f\0p\0").is_err());
        assert!(ExternalLink::decode(b"\0f\0p").is_err());
    }

    #[test]
    fn long_names_take_wider_lengths() {
        let name = [b'n'; 300];
        let target = LinkTarget::Hard(Address::new(1));
        let link = LinkMessage { name: &name, charset: CharacterSet::Ascii, creation_order: None, target };
        let bytes = link.to_bytes(SMALL).unwrap();
        assert_eq!(bytes[..4], [1, 1, 0x2c, 1]);
        assert_eq!(LinkMessage::decode(&bytes, SMALL).unwrap(), link);
    }

    #[test]
    fn refuses_contradictions() {
        assert!(LinkMessage::decode(&[1, 0x20, 1, b'a', 0, 0, 0, 0], SMALL).is_err(), "reserved flag");
        assert!(LinkMessage::decode(&[1, 0, 0, 0, 0, 0, 0], SMALL).is_err(), "empty name");
        assert!(LinkMessage::decode(&[1, 8, 2, 1, b'a', 1, 0, b'x'], SMALL).is_err(), "reserved type");
        assert!(LinkMessage::decode(&[1, 8, 1, 1, b'a', 0, 0], SMALL).is_err(), "empty soft link");
        assert!(LinkMessage::decode(&[1, 0x10, 2, 1, b'a', 0, 0, 0, 0], SMALL).is_err(), "character set");
        assert!(
            LinkMessage::decode(&[1, 3, 255, 255, 255, 255, 255, 255, 255, 255, b'a'], SMALL).is_err(),
            "huge name"
        );
    }

    proptest! {
        #[test]
        fn laws(
            params in params(),
            name in prop::collection::vec(any::<u8>(), 1..40),
            utf8 in any::<bool>(),
            creation_order in any::<Option<u64>>(),
            address in addresses(),
            value in prop::collection::vec(any::<u8>(), 1..40),
            class in 64_u8..,
            kind in 0..3,
            bytes in bodies(),
        ) {
            let target = match kind {
                0 => LinkTarget::Hard(address),
                1 => LinkTarget::Soft(&value),
                _ => LinkTarget::UserDefined { class, value: &value },
            };
            let charset = if utf8 { CharacterSet::Utf8 } else { CharacterSet::Ascii };
            assert_laws!(LinkMessage, LinkMessage { name: &name, charset, creation_order, target }, params);
            assert_survives!(LinkMessage, &bytes, params);
            if let Ok(external) = ExternalLink::decode(&value) {
                let again = external.encode().unwrap();
                prop_assert_eq!(ExternalLink::decode(&again).unwrap(), external);
            }
        }
    }
}
