//! Metadata cache image message of the superblock extension. The specification does not describe
//! the message; the layout is that of libhdf5 1.10 and later.
//!
//! ```text
//! size  field
//! 1     version = 0
//! O     address of the metadata cache image block
//! L     length of the block
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The metadata cache image message: the address and length of the file's metadata cache image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MetadataCacheImage {
    /// Address of the image; undefined if there is none.
    pub address: Address,
    /// Length of the image in bytes.
    pub length: u64,
}

impl Message<'_> for MetadataCacheImage {
    const TYPE: MessageType = MessageType::METADATA_CACHE_IMAGE;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        Ok(Self { address: r.offset(params, "address")?, length: r.length(params, "length")? })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.offset(params, self.address, "address");
        w.length(params, self.length, "length");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, lengths, params};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let params = FileParams { size_of_offsets: 2, size_of_lengths: 4 };
        let image = MetadataCacheImage { address: Address::new(0x320), length: 5 };
        assert_eq!(assert_laws!(MetadataCacheImage, image, params), [0, 0x20, 3, 5, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn laws(params in params(), address in addresses(), length in lengths(), bytes in bodies()) {
            assert_laws!(MetadataCacheImage, MetadataCacheImage { address, length }, params);
            assert_survives!(MetadataCacheImage, &bytes, params);
        }
    }
}
