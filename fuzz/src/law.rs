//! What holds for every structure: what was decoded can be encoded, and decodes to the same.

use std::fmt::Debug;

use hyperslab_format::btree_v2::records::BTreeV2Record;
use hyperslab_format::codec::Structure;

use crate::seal;

/// Bytes of the largest block that is encoded again.
const MOST_BYTES: usize = 1 << 16;

/// Decodes the block at the start of `bytes`, as it is or with its last four bytes made the right checksum, and
/// holds it against the law.
pub fn structure<T: Structure + PartialEq + Debug>(bytes: &[u8], context: &T::Context) -> Option<T> {
    structure_sealed(bytes, context, seal::seal)
}

/// As [`structure`], for structures whose checksum lies elsewhere.
pub fn structure_sealed<T: Structure + PartialEq + Debug>(
    bytes: &[u8],
    context: &T::Context,
    seal: impl FnOnce(&mut [u8]),
) -> Option<T> {
    let size = T::size(context);
    let cut = bytes.get(..size).unwrap_or(bytes);
    let value = T::decode(cut, context);
    if size > MOST_BYTES {
        return None; // the decoder has refused or taken it; encoding would only measure memory
    }
    let value = value.or_else(|_| {
        let mut whole = cut.to_vec();
        whole.resize(size, 0);
        seal(&mut whole);
        T::decode(&whole, context)
    });
    let value = value.ok()?;
    let encoded = value.encode(context).unwrap_or_else(|error| panic!("{error}: {value:?}"));
    assert_eq!(encoded.len(), T::size(context), "{value:?}");
    assert_eq!(T::decode(&encoded, context).as_ref(), Ok(&value), "{encoded:02x?}");
    Some(value)
}

/// Decodes a message's body and holds it against the law.
#[macro_export]
macro_rules! message_law {
    ($bytes:expr, $params:expr, [$($message:ident),* $(,)?]) => {$(
        if let Ok(message) = $message::decode($bytes, $params) {
            let encoded = message.to_bytes($params).unwrap_or_else(|error| panic!("{error}: {message:?}"));
            assert_eq!($message::decode(&encoded, $params).as_ref(), Ok(&message), "{encoded:02x?}");
        }
    )*};
}

/// Decodes every whole record at the start of `bytes` and holds it against the law.
pub fn records<R: BTreeV2Record + PartialEq + Debug>(bytes: &[u8], context: R::Context) {
    let size = R::size(context);
    if size == 0 {
        return;
    }
    for record in bytes.chunks_exact(size).take(64) {
        if let Ok(value) = R::decode(record, context) {
            let encoded = value.encode(context).unwrap_or_else(|error| panic!("{error}: {value:?}"));
            assert_eq!(R::decode(&encoded, context).as_ref(), Ok(&value), "{encoded:02x?}");
        }
    }
}
