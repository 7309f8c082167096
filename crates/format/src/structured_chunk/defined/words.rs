//! Coordinates of 2, 4 or 8 bytes.

/// A little-endian integer of one of the widths.
pub(super) trait Word: Copy {
    /// As it stands in bytes.
    type Bytes: Copy + AsRef<[u8]>;

    /// The whole words of some bytes.
    fn split(bytes: &[u8]) -> &[Self::Bytes];

    fn read(bytes: Self::Bytes) -> u64;

    /// The bytes of a value, which fits.
    fn write(value: u64) -> Self::Bytes;

    /// Words one behind the other.
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
