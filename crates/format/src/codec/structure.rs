//! What every block of metadata that lies at an address of its own can do.

use super::Result;

/// A block of metadata with an address of its own.
///
/// A decoder takes the block's bytes and a small context by value (the file's parameters, the header that
/// a node belongs to) and gives a value. It never follows an address. Checksums are verified in `decode`
/// and produced in `encode`.
pub trait Structure: Sized {
    /// The name in the specification's words, as it stands in errors.
    const NAME: &'static str;
    /// What the layout depends on besides the bytes.
    type Context: Clone;

    /// Bytes that the block takes in the file under this context.
    fn size(context: &Self::Context) -> usize;

    /// Decodes a whole block. Bytes after the structure are an error unless the specification allows them.
    fn decode(bytes: &[u8], context: &Self::Context) -> Result<Self>;

    /// Encodes the block; the result is [`size`](Self::size) bytes long.
    fn encode(&self, context: &Self::Context) -> Result<Vec<u8>>;
}
