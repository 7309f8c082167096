//! Coordinates of 2, 4 or 8 bytes, in the encoded defined elements of a structured chunk.

/// A little-endian integer of 2, 4 or 8 bytes: a coordinate in an encoded set of defined elements.
pub(super) trait Word: Copy {
    /// The encoded form of a coordinate of defined elements as an array of bytes.
    type Bytes: Copy + AsRef<[u8]>;

    /// Splits an encoded set of defined elements into its little-endian integers. Ignores an
    /// incomplete integer at the end.
    fn split(bytes: &[u8]) -> &[Self::Bytes];

    fn read(bytes: Self::Bytes) -> u64;

    /// Encodes a coordinate of a defined element. The coordinate must fit the width of the integer.
    fn write(value: u64) -> Self::Bytes;

    /// Concatenates the bytes of the coordinates of defined elements.
    fn join(words: Vec<Self::Bytes>) -> Vec<u8>;
}

macro_rules! word {
    ($type:ty, $width:literal) => {
        impl Word for $type {
            type Bytes = [u8; $width];

            #[inline]
            fn split(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks::<$width>().0
            }

            #[inline]
            fn read(bytes: Self::Bytes) -> u64 {
                <$type>::from_le_bytes(bytes).into()
            }

            #[inline]
            fn write(value: u64) -> Self::Bytes {
                debug_assert!(<$type>::try_from(value).is_ok(), "{value}");
                let mut bytes = [0; $width];
                bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
                bytes
            }

            fn join(words: Vec<Self::Bytes>) -> Vec<u8> {
                words.into_flattened()
            }
        }
    };
}

word!(u16, 2);
word!(u32, 4);
word!(u64, 8);
