//! Strings of fixed length, and the properties that fixed-length and variable-length strings share.

/// The padding of a fixed-length string that is shorter than its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StringPadding {
    /// The text ends at the first zero byte.
    NullTerminated,
    /// The text is followed by zero bytes. A text that fills the element has none.
    NullPadded,
    /// The text is followed by spaces.
    SpacePadded,
}

/// The character set of a string datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CharacterSet {
    /// 7-bit ASCII.
    #[default]
    Ascii,
    /// UTF-8.
    Utf8,
}

/// A fixed-length string datatype. The size of an element is the length of the string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedString {
    /// The padding of the text.
    pub padding: StringPadding,
    /// The character set of the text.
    pub charset: CharacterSet,
}
