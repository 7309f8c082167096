//! The contract every filter keeps.

use std::fmt::Debug;
use std::ops::Range;

use crate::{FilterId, Result};

/// What a filter may know about the chunk in hand.
#[derive(Debug, Clone, Copy)]
pub struct FilterContext<'a> {
    /// The filter's parameters, as the file stores them ("client data").
    pub client_data: &'a [u32],
    /// Bytes of one element of the dataset; 0 if not known. Filters that need it to decode find it in their
    /// client data.
    pub element_size: usize,
    /// Bytes that `decode` should give, where that is known beforehand. A hint: files may hold more.
    pub expected_output: Option<usize>,
    /// Bytes that `decode` must not pass; a filter gives [`FilterError::Limit`](crate::FilterError::Limit)
    /// rather than more, and takes no memory out of proportion to it.
    pub max_output: usize,
    /// Whether checksums are verified.
    pub verify: bool,
}

impl<'a> FilterContext<'a> {
    /// A context with parameters, an output of `max_output` bytes at most, verified, and nothing else known.
    pub fn new(client_data: &'a [u32], max_output: usize) -> Self {
        Self { client_data, element_size: 0, expected_output: None, max_output, verify: true }
    }
}

/// Where the result of a filter stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Produced {
    /// In the output buffer.
    Output,
    /// In the input: these bytes of it, unchanged.
    Input(Range<usize>),
}

impl Produced {
    /// The whole of `input`, unchanged.
    pub fn unchanged(input: &[u8]) -> Self {
        Self::Input(0..input.len())
    }
}

/// Turns the bytes of a chunk into others, and back.
///
/// `output` may hold anything when a method is called; its bytes are replaced and its memory is reused.
/// With [`Produced::Output`] it holds the result and nothing else. After an error its bytes mean nothing.
pub trait Filter: Send + Sync + Debug {
    /// The filter's number.
    fn id(&self) -> FilterId;

    /// Undoes `encode`.
    ///
    /// # Errors
    /// [`Corrupt`](crate::FilterError::Corrupt) for bytes that `encode` does not make,
    /// [`Limit`](crate::FilterError::Limit) for more than `max_output`. No input makes it panic.
    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced>;

    /// Encodes the bytes of a chunk.
    ///
    /// # Errors
    /// [`Failed`](crate::FilterError::Failed) if these bytes, or any with these parameters, cannot be encoded.
    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced>;

    /// Bytes that `encode` makes of `input` bytes, if that depends on nothing else.
    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize>;

    /// Whether the filter is there to make chunks smaller, so that it is pointless where it does not.
    fn compresses(&self) -> bool;
}
