//! Fill value (old) message, which libraries before HDF5 1.6 wrote. Later libraries write it in
//! addition to the new message, for old readers (section IV.A.2.e).
//!
//! ```text
//! size  field
//! 4     size of the fill value (n)
//! n     fill value, an element of the dataset's datatype
//! ```

use super::{FillStatus, Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The old fill value message: the fill value of a dataset, without the times of the [newer
/// message](super::FillValueMessage).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FillValueOldMessage {
    /// One element of the dataset's datatype; empty if none is stored.
    pub value: Vec<u8>,
}

impl FillValueOldMessage {
    /// Returns the state of the dataset's fill value. As in libhdf5, an old fill value message
    /// without a value means that the fill value is undefined.
    pub fn status(&self) -> FillStatus<'_> {
        if self.value.is_empty() { FillStatus::Undefined } else { FillStatus::UserDefined(&self.value) }
    }
}

impl Message<'_> for FillValueOldMessage {
    const TYPE: MessageType = MessageType::FILL_VALUE_OLD;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let size = r.u32("size")?;
        Ok(Self { value: r.take_u64(size.into(), "fill value")?.to_vec() })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.narrow_u32(self.value.len(), "size");
        w.bytes(&self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    #[test]
    fn bytes() {
        let fill = FillValueOldMessage { value: vec![1, 2] };
        assert_eq!(assert_laws!(FillValueOldMessage, fill, FileParams::DEFAULT), [2, 0, 0, 0, 1, 2]);
        assert_eq!(fill.status(), FillStatus::UserDefined(&[1, 2]));
        let none = FillValueOldMessage::decode(&[0; 8], FileParams::DEFAULT).unwrap();
        assert_eq!(none.status(), FillStatus::Undefined);
        assert!(FillValueOldMessage::decode(&[0xff; 8], FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn survives(bytes in bodies()) {
            assert_survives!(FillValueOldMessage, &bytes, FileParams::DEFAULT);
        }
    }
}
