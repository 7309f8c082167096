//! Properties that hold for every message, as macros and strategies for tests.

use proptest::prelude::*;

use crate::codec::{Address, FileParams};

/// Generates widths of file addresses and lengths for tests of messages. The widths are at least 16
/// bits.
pub(crate) fn params() -> impl Strategy<Value = FileParams> {
    let width = || prop::sample::select(vec![2_u8, 4, 8, 16, 32]);
    (width(), width())
        .prop_map(|(size_of_offsets, size_of_lengths)| FileParams { size_of_offsets, size_of_lengths })
}

/// Generates file addresses for tests of messages. The addresses fit every width of [`params`].
pub(crate) fn addresses() -> impl Strategy<Value = Address> {
    prop_oneof![9 => (0_u64..0xffff).prop_map(Address::new), 1 => Just(Address::UNDEFINED)]
}

/// Generates lengths for tests of messages. The lengths fit every width of [`params`].
pub(crate) fn lengths() -> impl Strategy<Value = u64> {
    0_u64..0xffff
}

/// Generates arbitrary bytes for tests of messages. Most begin with small numbers, like a message.
pub(crate) fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let tail = || prop::collection::vec(any::<u8>(), 0..160);
    prop_oneof![
        tail(),
        (prop::collection::vec(0_u8..6, 0..8), tail()).prop_map(|(head, tail)| [head, tail].concat()),
        prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..160),
    ]
}

/// Returns damaged forms of a message's bytes for tests: each prefix, and copies with one changed
/// byte.
pub(crate) fn damaged(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let cut = (0..bytes.len()).map(|end| bytes[..end].to_vec());
    let changed = (0..bytes.len()).flat_map(move |at| {
        [0x01, 0x80, 0xff].map(|bits| {
            let mut copy = bytes.to_vec();
            copy[at] ^= bits;
            copy
        })
    });
    cut.chain(changed)
}

/// Checks that arbitrary bytes either fail to decode, or decode to a message that survives encoding
/// and decoding.
macro_rules! assert_survives {
    ($message:ident, $bytes:expr, $params:expr) => {
        if let Ok(message) = $message::decode($bytes, $params)
            && let Ok(bytes) = message.to_bytes($params)
        {
            assert_eq!($message::decode(&bytes, $params).as_ref(), Ok(&message), "bytes {:02x?}", $bytes);
        }
    };
}

/// Checks `decode(encode(x)) == x` with and without padding, and that damaged copies do not panic.
macro_rules! assert_laws {
    ($message:ident, $value:expr, $params:expr) => {{
        let value = &$value;
        let bytes = value.to_bytes($params).expect("encodes");
        assert_eq!($message::decode(&bytes, $params).as_ref(), Ok(value));
        for copy in crate::message::laws::damaged(&bytes) {
            crate::message::laws::assert_survives!($message, &copy, $params);
        }
        bytes
    }};
}

pub(crate) use {assert_laws, assert_survives};
