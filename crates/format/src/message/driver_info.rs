//! Driver info message of the superblock extension (section IV.A.2.u).
//!
//! ```text
//! size  field
//! 1     version = 0
//! 8     driver identification
//! 2     driver information size
//! n     driver information
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The driver information message: the layout of the member files in a superblock extension, like
/// the [driver information block](crate::driver_info) of older superblocks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DriverInfo {
    /// Identification of the driver, such as `NCSAfami`.
    pub identification: [u8; 8],
    /// Driver information as raw bytes.
    /// [`DriverInformation::decode`](crate::driver_info::DriverInformation::decode) decodes these
    /// bytes.
    pub information: Vec<u8>,
}

impl Message<'_> for DriverInfo {
    const TYPE: MessageType = MessageType::DRIVER_INFO;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        r.version(&[0])?;
        let identification = r.array("driver identification")?;
        let size = r.u16("driver information size")?;
        if size == 0 {
            return Err(r.corrupt("driver information size", "at least 1", size));
        }
        Ok(Self { identification, information: r.take(size.into(), "driver information")?.to_vec() })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(0);
        w.bytes(&self.identification);
        if self.information.is_empty() {
            w.fail("driver information size", 0);
        }
        w.narrow_u16(self.information.len(), "driver information size");
        w.bytes(&self.information);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let info = DriverInfo { identification: *b"NCSAfami", information: vec![1, 2] };
        assert_eq!(assert_laws!(DriverInfo, info, FileParams::DEFAULT), b"\0NCSAfami\x02\0\x01\x02");
        assert!(DriverInfo::decode(b"\0NCSAfami\0\0", FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(DriverInfo, &bytes, FileParams::DEFAULT);
        }
    }
}
