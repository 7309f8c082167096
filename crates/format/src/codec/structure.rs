//! The common interface of metadata blocks that have an address.

use super::Result;

/// A block of metadata in the file that has an address.
///
/// A decoder takes the block's bytes and a small context by value, such as the file's parameters or
/// the header that a node belongs to. It never follows an address. `decode` verifies checksums;
/// `encode` produces them.
pub trait Structure: Sized {
    /// Name of the metadata structure in the specification and in errors.
    const NAME: &'static str;
    /// The type of the parameters for the layout of a metadata structure.
    type Context: Clone;

    /// Returns the size of the metadata structure in the file, in bytes.
    fn size(context: &Self::Context) -> usize;

    /// Decodes a whole metadata structure from `bytes`. Further bytes after the structure are an
    /// error, unless the specification allows them.
    fn decode(bytes: &[u8], context: &Self::Context) -> Result<Self>;

    /// Encodes the metadata structure to bytes. The result is [`size`](Self::size) bytes long.
    fn encode(&self, context: &Self::Context) -> Result<Vec<u8>>;
}
