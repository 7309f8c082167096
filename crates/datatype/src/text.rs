//! Strings of fixed length, and what fixed and variable strings share.

/// How a string ends inside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StringPadding {
    /// Ends at the first zero byte.
    NullTerminated,
    /// Filled with zero bytes; none is needed when the text fills the element.
    NullPadded,
    /// Filled with spaces.
    SpacePadded,
}

/// Character set of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CharacterSet {
    /// 7-bit ASCII.
    #[default]
    Ascii,
    /// UTF-8.
    Utf8,
}

/// A string stored in a fixed number of bytes (the datatype's size).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedString {
    /// How the text ends.
    pub padding: StringPadding,
    /// How the text is encoded.
    pub charset: CharacterSet,
}
