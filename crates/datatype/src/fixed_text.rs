//! Text of bounded length as an element.

use std::fmt;

use crate::{CharacterSet, Datatype, H5Type, StringPadding};

/// A fixed-length text of at most `N` bytes of UTF-8, as an element: a string of fixed length,
/// padded with zero bytes.
///
/// Strings of other lengths and of variable length can be converted to this type. The conversion
/// cuts longer text to `N` bytes, as libhdf5 does. A cut inside a character makes reading fail.
///
/// ```
/// use hyperslab_datatype::FixedText;
/// let name = FixedText::<8>::new("Wärme").unwrap();
/// assert_eq!((name.as_str(), name.len()), ("Wärme", 6));
/// assert_eq!(FixedText::<3>::new("long"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixedText<const N: usize> {
    /// The text in UTF-8, up to the first zero byte.
    bytes: [u8; N],
}

impl<const N: usize> FixedText<N> {
    /// Creates a fixed-length text for string elements. Returns `None` if the text is longer than
    /// `N` bytes or contains a zero byte.
    pub fn new(text: &str) -> Option<Self> {
        if text.contains('\0') {
            return None;
        }
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes })
    }

    /// Returns the characters of the fixed-length text.
    pub fn as_str(&self) -> &str {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(N);
        // `new` and `decode` accept valid UTF-8 only.
        self.bytes.get(..end).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl<const N: usize> std::ops::Deref for FixedText<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> Default for FixedText<N> {
    fn default() -> Self {
        Self { bytes: [0; N] }
    }
}

impl<const N: usize> fmt::Debug for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl<const N: usize> H5Type for FixedText<N> {
    const SIZE: usize = N;

    fn datatype() -> Datatype {
        const { assert!(N <= u32::MAX as usize, "the size of a datatype must be less than 4 GiB") };
        #[expect(clippy::cast_possible_truncation, reason = "checked when the program is compiled")]
        let size = N as u32;
        Datatype::fixed_string(size, StringPadding::NullPadded, CharacterSet::Utf8)
    }

    #[inline]
    fn decode(element: &[u8]) -> Option<Self> {
        let mut bytes: [u8; N] = element.try_into().ok()?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(N);
        let (text, rest) = bytes.split_at_mut_checked(end)?;
        if !text.is_ascii() {
            std::str::from_utf8(text).ok()?;
        }
        rest.fill(0);
        Some(Self { bytes })
    }

    fn encode(&self, element: &mut [u8]) {
        for (to, from) in element.iter_mut().zip(self.bytes) {
            *to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::ConvertError;

    #[test]
    fn text_comes_back() {
        let words =
            [FixedText::<5>::new("one").unwrap(), FixedText::new("three").unwrap(), FixedText::default()];
        let bytes = FixedText::to_bytes(&words);
        assert_eq!(&*bytes, b"one\0\0three\0\0\0\0\0");
        assert_eq!(FixedText::<5>::from_bytes(&bytes).unwrap(), words);
        assert_eq!(words.map(|word| word.to_string()), ["one", "three", ""]);
    }

    #[test]
    fn what_is_no_text() {
        assert!(matches!(
            FixedText::<2>::from_bytes(&[b'a', 0xc3]),
            Err(ConvertError::Value { index: 0, .. })
        ));
        assert_eq!(FixedText::<2>::new("\0"), None);
        // The bytes after the first zero byte are ignored.
        assert_eq!(FixedText::<3>::decode(&[b'a', 0, 0xff]), FixedText::new("a"));
    }
}
