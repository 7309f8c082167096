//! The trait that every filter implements.

use std::fmt::Debug;
use std::ops::Range;

use crate::{DatasetFacts, FilterError, FilterId, Result, Workspace};

/// The properties of the chunk that a filter encodes or decodes, and the filter's client data.
#[derive(Debug, Clone, Copy)]
pub struct FilterContext<'a> {
    /// The filter's parameters, as the file stores them ("client data").
    pub client_data: &'a [u32],
    /// Size of one element of the dataset in bytes; 0 if unknown. Filters that need the size to
    /// decode read it from their client data.
    pub element_size: usize,
    /// Expected size of the decoded chunk in bytes, if known. Only a hint: the stored chunk may
    /// decode to more bytes.
    pub expected_output: Option<usize>,
    /// Maximum size of the decoded chunk in bytes. A filter returns
    /// [`FilterError::Limit`](crate::FilterError::Limit) if the chunk decodes to more, and
    /// allocates no memory out of proportion to this limit.
    pub max_output: usize,
    /// True if the filter verifies checksums.
    pub verify: bool,
    /// Size in bytes of one byte plane, if the input of `encode` consists of the byte planes of
    /// shuffled elements; otherwise 0.
    pub plane: usize,
    /// True if the encoder searches only for repetitions of one byte, see
    /// [`ChunkTarget::runs_only`](crate::ChunkTarget::runs_only).
    pub runs_only: bool,
    /// True if the encoder uses its fastest compressing level, see
    /// [`ChunkTarget::fast`](crate::ChunkTarget::fast).
    pub fast: bool,
}

impl<'a> FilterContext<'a> {
    /// Creates the context of a filter call. `client_data` is the client data of the filter, and
    /// `max_output` is the limit of output bytes. Checksums are verified, and all other properties
    /// are unknown.
    pub fn new(client_data: &'a [u32], max_output: usize) -> Self {
        Self {
            client_data,
            element_size: 0,
            expected_output: None,
            max_output,
            verify: true,
            plane: 0,
            runs_only: false,
            fast: false,
        }
    }
}

/// The location of a filter's result: the output buffer of the filter, or a range of its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Produced {
    /// The result is in the output buffer.
    Output,
    /// The result is this range of the input, unchanged.
    Input(Range<usize>),
}

impl Produced {
    /// Returns the location of a result that equals the filter's input: the range of all bytes of
    /// `input`.
    pub fn unchanged(input: &[u8]) -> Self {
        Self::Input(0..input.len())
    }
}

/// A transformation of chunk bytes, with an encoder and a decoder.
///
/// `output` may hold any bytes when a method is called: the method replaces the bytes and reuses
/// the memory. If a method returns [`Produced::Output`], `output` holds exactly the result. After
/// an error, the content of `output` is unspecified.
pub trait Filter: Send + Sync + Debug {
    /// Returns the number of the filter.
    fn id(&self) -> FilterId;

    /// Decodes the encoded bytes `input` of a chunk with the filter.
    ///
    /// # Errors
    /// [`Corrupt`](crate::FilterError::Corrupt) if `input` is not a result of `encode`,
    /// [`Limit`](crate::FilterError::Limit) if the chunk decodes to more than `max_output` bytes.
    /// No input causes a panic.
    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced>;

    /// Decodes the encoded bytes `input` of a chunk with a filter. Reuses the buffers and codec
    /// states of `workspace`. The default implementation calls [`decode`](Self::decode).
    ///
    /// # Errors
    /// The same errors as `decode`.
    fn decode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        let _ = workspace;
        self.decode(context, input, output)
    }

    /// Decodes the encoded bytes `input` of a chunk with a filter into the caller's memory
    /// `output`. Returns the number of decoded bytes.
    ///
    /// If the chunk decodes to more bytes than `output` holds, the filter stores the first
    /// `output.len()` bytes. The rest of `output` is unspecified, and after an error all of
    /// `output` is. Filters that need no intermediate buffer override this method. The decoded
    /// bytes and the limits are the same as with [`decode`](Self::decode).
    ///
    /// # Errors
    /// The same errors as `decode`.
    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        decode_and_copy(self, context, input, output, workspace)
    }

    /// Encodes the bytes `input` of a chunk with the filter.
    ///
    /// # Errors
    /// [`Failed`](crate::FilterError::Failed) if the filter cannot encode these bytes, or has
    /// invalid parameters.
    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced>;

    /// Encodes the bytes `input` of a chunk with a filter. Reuses the buffers and codec states of
    /// `workspace`. The default implementation calls [`encode`](Self::encode).
    ///
    /// # Errors
    /// The same errors as `encode`.
    fn encode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        let _ = workspace;
        self.encode(context, input, output)
    }

    /// Returns the encoded size of a chunk of `input` bytes after the filter. Returns [`None`] if
    /// the size depends on the content of the chunk.
    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize>;

    /// Returns true if the purpose of the filter is compression. If the encoded chunk is not
    /// smaller, the chunk may be stored without the filter.
    fn compresses(&self) -> bool;

    /// Returns true if the filter can encode chunks, and false if the filter can only decode.
    fn can_encode(&self) -> bool {
        true
    }

    /// Returns true if several threads may run the filter at the same time. If false, the chunks of
    /// a dataset with the filter are encoded and decoded on the thread of the caller.
    fn allows_threads(&self) -> bool {
        true
    }

    /// Checks that the filter can encode the chunks of a new dataset ("can apply" in libhdf5). If
    /// the check of an optional filter fails, the dataset is created, and its chunks are stored
    /// without the filter.
    ///
    /// # Errors
    /// [`Refused`](crate::FilterError::Refused) with the reason.
    fn check_dataset(&self, dataset: &DatasetFacts<'_>) -> Result<()> {
        let _ = dataset;
        Ok(())
    }

    /// Returns the client data of a filter for a new dataset. Computes them from the client data
    /// that a user requested ("set local" in libhdf5).
    ///
    /// # Errors
    /// [`Refused`](crate::FilterError::Refused) if the parameters are invalid, or if the dataset
    /// cannot have this filter even as an optional one;
    /// [`Unsupported`](crate::FilterError::Unsupported) if the filter can only decode.
    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let _ = dataset;
        Ok(requested.to_vec())
    }
}

/// The text of an internal error: a filter returned a range ([`Produced::Input`]) that does not lie
/// in its input.
pub(crate) const INPUT_RANGE_INVARIANT: &str =
    "the range of input bytes that a filter returns lies within the input";

/// Decodes the encoded bytes `input` of a chunk into an intermediate buffer, and copies the result
/// to `output`. Implements [`Filter::decode_into`] for filters without a method of their own.
pub(crate) fn decode_and_copy<F: Filter + ?Sized>(
    filter: &F,
    context: &FilterContext<'_>,
    input: &[u8],
    output: &mut [u8],
    workspace: &mut Workspace,
) -> Result<usize> {
    let mut buffer: Box<Vec<u8>> = workspace.take();
    let produced = filter.decode_with(context, input, &mut buffer, workspace);
    let decoded = match produced? {
        Produced::Output => buffer.as_slice(),
        Produced::Input(range) => input
            .get(range)
            .ok_or(FilterError::Internal { id: filter.id(), invariant: INPUT_RANGE_INVARIANT })?,
    };
    let length = decoded.len();
    copy_start(decoded, output);
    workspace.keep(buffer);
    Ok(length)
}

/// Copies the start of `from` to the start of `to`, for the input or output of filters. The shorter
/// slice determines the number of bytes.
pub(crate) fn copy_start(from: &[u8], to: &mut [u8]) {
    let count = from.len().min(to.len());
    if let (Some(from), Some(to)) = (from.get(..count), to.get_mut(..count)) {
        to.copy_from_slice(from);
    }
}
