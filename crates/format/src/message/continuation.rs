//! Object header continuation message (section IV.A.2.q).
//!
//! ```text
//! size  field
//! O     offset: address of the continuation block
//! L     length of the continuation block
//! ```

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The continuation message: the address and length of a continuation block of an object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// Address of the continuation block.
    pub address: Address,
    /// Length of the continuation block in bytes; never 0.
    pub length: u64,
}

impl Message<'_> for Continuation {
    const TYPE: MessageType = MessageType::CONTINUATION;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let address = r.offset(params, "offset")?;
        let length = r.length(params, "length")?;
        if !address.is_defined() {
            return Err(r.corrupt("offset", "a defined address", address));
        }
        if length == 0 {
            return Err(r.corrupt("length", "at least 1", length));
        }
        Ok(Self { address, length })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        if self.length == 0 {
            w.fail("length", self.length);
        }
        if !self.address.is_defined() {
            w.fail("offset", self.address);
        }
        w.offset(params, self.address, "offset");
        w.length(params, self.length, "length");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let params = FileParams { size_of_offsets: 4, size_of_lengths: 2 };
        let continuation = Continuation { address: Address::new(0x320), length: 0x40 };
        assert_eq!(assert_laws!(Continuation, continuation, params), [0x20, 3, 0, 0, 0x40, 0]);
        assert!(Continuation::decode(&[0x20, 3, 0, 0, 0, 0], params).is_err());
        assert!(Continuation::decode(&[0xff, 0xff, 0xff, 0xff, 1, 0], params).is_err());
    }

    proptest! {
        #[test]
        fn laws(params in params(), address in 0_u64..0xffff, length in 1_u64..0xffff, bytes in bodies()) {
            assert_laws!(Continuation, Continuation { address: Address::new(address), length }, params);
            assert_survives!(Continuation, &bytes, params);
        }
    }
}
