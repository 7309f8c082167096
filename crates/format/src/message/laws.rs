//! What holds for every message, as macros and strategies for the messages' tests.

use proptest::prelude::*;

use crate::codec::{Address, FileParams};

/// Widths of offsets and lengths, each of which holds at least 16 bits.
pub(crate) fn params() -> impl Strategy<Value = FileParams> {
    let width = || prop::sample::select(vec![2_u8, 4, 8, 16, 32]);
    (width(), width())
        .prop_map(|(size_of_offsets, size_of_lengths)| FileParams { size_of_offsets, size_of_lengths })
}

/// Addresses that fit every width of [`params`].
pub(crate) fn addresses() -> impl Strategy<Value = Address> {
    prop_oneof![9 => (0_u64..0xffff).prop_map(Address::new), 1 => Just(Address::UNDEFINED)]
}

/// Lengths that fit every width of [`params`].
pub(crate) fn lengths() -> impl Strategy<Value = u64> {
    0_u64..0xffff
}

/// Arbitrary bytes, most of which begin like a message: with small numbers.
pub(crate) fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let tail = || prop::collection::vec(any::<u8>(), 0..160);
    prop_oneof![
        tail(),
        (prop::collection::vec(0_u8..6, 0..8), tail()).prop_map(|(head, tail)| [head, tail].concat()),
        prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..160),
    ]
}

/// Each prefix of `bytes`, and copies with one byte changed.
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

/// Bytes that decode, encode again, and decode to the same; bytes that do not decode give an error.
macro_rules! assert_survives {
    ($message:ident, $bytes:expr, $params:expr) => {
        if let Ok(message) = $message::decode($bytes, $params)
            && let Ok(bytes) = message.to_bytes($params)
        {
            assert_eq!($message::decode(&bytes, $params).as_ref(), Ok(&message), "bytes {:02x?}", $bytes);
        }
    };
}

/// `decode(encode(x)) == x`, with and without padding, and damaged copies do no harm.
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
