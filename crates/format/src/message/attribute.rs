//! Attribute message (section IV.A.2.m).
//!
//! ```text
//! version 1                        versions 2 and 3
//! size  field                      size  field
//! 1     version = 1                1     version = 2 or 3
//! 1     reserved (zero)            1     flags: bit 0 shared datatype, bit 1 shared dataspace
//! 2     name size (n)              2     name size (n)
//! 2     datatype size (t)          2     datatype size (t)
//! 2     dataspace size (s)         2     dataspace size (s)
//!                                  1     character set of the name (version 3)
//! n     name, zero byte  | each    n     name, zero byte
//! t     datatype         | padded  t     datatype, or a shared message reference
//! s     dataspace        | to 8    s     dataspace, or a shared message reference
//! ..    data                       ..    data
//! ```
//!
//! The name size includes the zero byte. Like libhdf5, the decoder accepts any byte in place of
//! that zero byte.
//!
//! The datatype and the dataspace stay encoded, so that a search for one attribute among many is
//! cheap. Their sizes and the element count determine how many of the remaining bytes are data.

use hyperslab_datatype::CharacterSet;

use super::link::{charset_code, decode_charset};
use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

bitflags::bitflags! {
    /// Flags of an attribute message: the datatype or the dataspace is a
    /// [`SharedReference`](super::SharedReference).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct AttributeFlags: u8 {
        /// A flag of an attribute message: instead of a datatype, the message stores a reference to
        /// a shared message, usually to a committed datatype.
        const SHARED_DATATYPE = 1 << 0;
        /// A flag of an attribute message: instead of a dataspace, the message stores a reference
        /// to a shared message.
        const SHARED_DATASPACE = 1 << 1;
    }
}

/// The attribute message: one attribute of an object, as stored in the object header or in dense
/// storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeMessage<'a> {
    /// Version of the message: 1, 2 or 3.
    pub version: u8,
    /// Flags of the shared parts; empty in version 1.
    pub flags: AttributeFlags,
    /// Character set of the name; ASCII before version 3.
    pub charset: CharacterSet,
    /// Name without the terminating zero byte; never empty.
    pub name: &'a [u8],
    /// Body of a datatype message or, depending on the flags, a shared message reference.
    pub datatype: &'a [u8],
    /// Body of a dataspace message or, depending on the flags, a shared message reference.
    pub dataspace: &'a [u8],
    /// Remaining bytes: the elements, followed by any padding of the object header.
    pub data: &'a [u8],
}

impl AttributeMessage<'_> {
    /// Returns true if the attribute message in `bytes` may have the name `name`. Returns false
    /// only if the message certainly has another name. A search among many attributes decodes only
    /// messages for which the result is true.
    pub fn may_be_named(bytes: &[u8], name: &[u8]) -> bool {
        let start = match bytes.first() {
            Some(1 | 2) => 8,
            Some(3) => 9,
            _ => return true,
        };
        match bytes.get(start..).and_then(|rest| rest.get(..name.len())) {
            // Names of many attributes often differ only at the end.
            Some(stored) => stored.last() == name.last() && stored == name,
            None => true,
        }
    }

    /// Returns true if the attribute stores a reference to a shared datatype.
    pub const fn datatype_is_shared(&self) -> bool {
        self.flags.contains(AttributeFlags::SHARED_DATATYPE)
    }

    /// Returns true if the attribute stores a reference to a shared dataspace.
    pub const fn dataspace_is_shared(&self) -> bool {
        self.flags.contains(AttributeFlags::SHARED_DATASPACE)
    }
}

impl<'a> Message<'a> for AttributeMessage<'a> {
    const TYPE: MessageType = MessageType::ATTRIBUTE;

    fn decode(bytes: &'a [u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let version = r.version(&[1, 2, 3])?;
        let flags = r.u8("flags")?;
        let flags = match AttributeFlags::from_bits(flags) {
            _ if version == 1 => AttributeFlags::empty(),
            Some(flags) => flags,
            None => return Err(r.corrupt("flags", "bits 0 and 1 only", format_args!("{flags:#04x}"))),
        };
        let name_size = r.u16("name size")?;
        let datatype_size = r.u16("datatype size")?;
        let dataspace_size = r.u16("dataspace size")?;
        let charset =
            if version < 3 { CharacterSet::Ascii } else { decode_charset(&mut r, "name character set")? };
        let mut part = |size: u16, field| -> Result<&'a [u8]> {
            let size = usize::from(size);
            let bytes = r.take(size, field)?;
            r.skip(padding(version, size), field)?;
            Ok(bytes)
        };
        let name = part(name_size, "name")?;
        let datatype = part(datatype_size, "datatype")?;
        let dataspace = part(dataspace_size, "dataspace")?;
        let name = match name {
            [name @ .., _] if !name.is_empty() && !name.contains(&0) => name,
            _ => {
                let got = format_args!("\"{}\"", name.escape_ascii());
                return Err(r.corrupt("name", "at least one byte, and a zero byte only at the end", got));
            }
        };
        Ok(Self { version, flags, charset, name, datatype, dataspace, data: r.take_rest() })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(self.version);
        match self.version {
            1 if !self.flags.is_empty() => w.fail("flags", "shared parts in version 1"),
            1 | 2 if self.charset != CharacterSet::Ascii => {
                w.fail("name character set", "UTF-8 before version 3");
            }
            1..=3 => {}
            version => w.fail("version", version),
        }
        if self.name.is_empty() {
            w.fail("name", "no bytes");
        }
        let name_size = self.name.len() + 1;
        w.u8(self.flags.bits());
        w.narrow_u16(name_size, "name size");
        w.narrow_u16(self.datatype.len(), "datatype size");
        w.narrow_u16(self.dataspace.len(), "dataspace size");
        if self.version >= 3 {
            w.u8(charset_code(self.charset));
        }
        w.text_nul(self.name, "name");
        w.zeros(padding(self.version, name_size));
        for part in [self.datatype, self.dataspace] {
            w.bytes(part);
            w.zeros(padding(self.version, part.len()));
        }
        w.bytes(self.data);
    }
}

/// Returns the number of zero bytes after the name, datatype or dataspace in an attribute message.
/// `size` is the size of this part in bytes.
fn padding(version: u8, size: usize) -> usize {
    if version == 1 { size.next_multiple_of(8) - size } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    fn attribute(version: u8) -> AttributeMessage<'static> {
        AttributeMessage {
            version,
            flags: AttributeFlags::empty(),
            charset: CharacterSet::Ascii,
            name: b"ab",
            datatype: &[0x10; 9],
            dataspace: &[0x20; 4],
            data: &[1, 2, 3],
        }
    }

    #[test]
    fn version_1_pads_each_part() {
        let bytes = assert_laws!(AttributeMessage, attribute(1), FileParams::DEFAULT);
        let mut expected = vec![1, 0, 3, 0, 9, 0, 4, 0];
        expected.extend(b"ab\0\0\0\0\0\0");
        expected.extend([0x10; 9]);
        expected.extend([0; 7]);
        expected.extend([0x20; 4]);
        expected.extend([0; 4]);
        expected.extend([1, 2, 3]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn version_2_has_flags() {
        let flags = AttributeFlags::SHARED_DATATYPE;
        let message = AttributeMessage { flags, ..attribute(2) };
        let bytes = assert_laws!(AttributeMessage, message, FileParams::DEFAULT);
        assert_eq!(bytes[..11], [2, 1, 3, 0, 9, 0, 4, 0, b'a', b'b', 0]);
        assert_eq!(bytes.len(), 11 + 9 + 4 + 3);
        assert!(message.datatype_is_shared() && !message.dataspace_is_shared());
    }

    #[test]
    fn version_3_has_a_character_set() {
        let message = AttributeMessage { charset: CharacterSet::Utf8, name: "é".as_bytes(), ..attribute(3) };
        let bytes = assert_laws!(AttributeMessage, message, FileParams::DEFAULT);
        assert_eq!(bytes[..12], [3, 0, 3, 0, 9, 0, 4, 0, 1, 0xc3, 0xa9, 0]);
        assert!(AttributeMessage { version: 2, ..message }.to_bytes(FileParams::DEFAULT).is_err());
    }

    #[test]
    fn a_search_skips_only_other_names() {
        for version in 1..=3 {
            let bytes = attribute(version).to_bytes(FileParams::DEFAULT).unwrap();
            assert!(AttributeMessage::may_be_named(&bytes, b"ab"), "version {version}");
            assert!(!AttributeMessage::may_be_named(&bytes, b"ax"), "version {version}");
            assert!(!AttributeMessage::may_be_named(&bytes, b"abc"), "version {version}");
        }
        assert!(AttributeMessage::may_be_named(&[], b"ab"), "a damaged message is decoded, and refused");
        assert!(AttributeMessage::may_be_named(&[4, 0, 0], b"ab"));
    }

    #[test]
    fn the_last_byte_of_a_name_is_not_looked_at() {
        let attribute =
            AttributeMessage::decode(&[2, 0, 2, 0, 0, 0, 0, 0, b'a', b'b'], FileParams::DEFAULT).unwrap();
        assert_eq!(attribute.name, b"a");
    }

    #[test]
    fn refuses_contradictions() {
        let decode = |bytes: &[u8]| AttributeMessage::decode(bytes, FileParams::DEFAULT).map(drop);
        assert!(decode(&[2, 0, 2, 0, 0, 0, 0, 0, b'a', 0]).is_ok());
        assert!(decode(&[2, 4, 2, 0, 0, 0, 0, 0, b'a', 0]).is_err(), "reserved flag");
        assert!(decode(&[2, 0, 3, 0, 0, 0, 0, 0, b'a', 0, 0]).is_err(), "name ends early");
        assert!(decode(&[2, 0, 1, 0, 0, 0, 0, 0, 0]).is_err(), "empty name");
        assert!(decode(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err(), "no name");
        assert!(decode(&[2, 0, 2, 0, 1, 0, 0, 0, b'a', 0]).is_err(), "cut off");
        assert!(decode(&[3, 0, 2, 0, 0, 0, 0, 0, 2, b'a', 0]).is_err(), "character set");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn laws(
            version in 1_u8..=3,
            flags in 0_u8..4,
            utf8 in any::<bool>(),
            name in prop::collection::vec(1_u8.., 1..20),
            datatype in prop::collection::vec(any::<u8>(), 0..20),
            dataspace in prop::collection::vec(any::<u8>(), 0..20),
            data in prop::collection::vec(any::<u8>(), 0..20),
            bytes in bodies(),
        ) {
            let message = AttributeMessage {
                version,
                flags: if version == 1 { AttributeFlags::empty() } else { AttributeFlags::from_bits_truncate(flags) },
                charset: if utf8 && version == 3 { CharacterSet::Utf8 } else { CharacterSet::Ascii },
                name: &name,
                datatype: &datatype,
                dataspace: &dataspace,
                data: &data,
            };
            assert_laws!(AttributeMessage, message, FileParams::DEFAULT);
            assert_survives!(AttributeMessage, &bytes, FileParams::DEFAULT);
        }
    }
}
