//! The contract every filter keeps.

use std::fmt::Debug;
use std::ops::Range;

use crate::{DatasetFacts, FilterError, FilterId, Result, Workspace};

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
    /// Bytes of a plane, where what is encoded are the planes of shuffled elements; otherwise 0.
    pub plane: usize,
    /// See [`ChunkTarget::runs_only`](crate::ChunkTarget::runs_only).
    pub runs_only: bool,
    /// See [`ChunkTarget::fast`](crate::ChunkTarget::fast).
    pub fast: bool,
}

impl<'a> FilterContext<'a> {
    /// A context with parameters, an output of `max_output` bytes at most, verified, and nothing else known.
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

    /// [`decode`](Self::decode) with a workspace, for filters that have something to keep in it.
    ///
    /// # Errors
    /// As `decode`.
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

    /// Undoes `encode`, into the memory of the caller: gives the number of bytes decoded, as many of which as
    /// fit are the first of `output`; what `output` holds behind them, or after an error, means nothing.
    /// Filters that can do without a buffer in between override it; the answer is always that of
    /// [`decode`](Self::decode), its limits included.
    ///
    /// # Errors
    /// As `decode`.
    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        decode_and_copy(self, context, input, output, workspace)
    }

    /// Encodes the bytes of a chunk.
    ///
    /// # Errors
    /// [`Failed`](crate::FilterError::Failed) if these bytes, or any with these parameters, cannot be encoded.
    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced>;

    /// [`encode`](Self::encode) with a workspace, for filters that have something to keep in it.
    ///
    /// # Errors
    /// As `encode`.
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

    /// Bytes that `encode` makes of `input` bytes, if that depends on nothing else.
    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize>;

    /// Whether the filter is there to make chunks smaller, so that it is pointless where it does not.
    fn compresses(&self) -> bool;

    /// Whether `encode` ever succeeds: not if the filter is only read.
    fn encodes(&self) -> bool {
        true
    }

    /// Whether the chunks of a new dataset are for this filter ("can apply" in libhdf5). Datasets that have it as
    /// optional are made nevertheless, and leave it out chunk by chunk.
    ///
    /// # Errors
    /// [`Refused`](crate::FilterError::Refused) says why not.
    fn suits(&self, dataset: &DatasetFacts<'_>) -> Result<()> {
        let _ = dataset;
        Ok(())
    }

    /// The client data that a new dataset stores, of those that were asked for ("set local" in libhdf5).
    ///
    /// # Errors
    /// [`Refused`](crate::FilterError::Refused) for impossible parameters, and for datasets that even with the
    /// filter as optional are impossible; [`Unsupported`](crate::FilterError::Unsupported) for what is only read.
    fn prepare(&self, asked: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let _ = dataset;
        Ok(asked.to_vec())
    }
}

/// The invariant of [`Produced::Input`].
pub(crate) const OUTSIDE: &str = "the bytes that a filter keeps of its input lie in it";

/// [`Filter::decode_into`] by way of a buffer.
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
        Produced::Input(range) => {
            input.get(range).ok_or(FilterError::Internal { id: filter.id(), invariant: OUTSIDE })?
        }
    };
    let length = decoded.len();
    copy_start(decoded, output);
    workspace.keep(buffer);
    Ok(length)
}

/// Copies as many bytes as both have.
pub(crate) fn copy_start(from: &[u8], to: &mut [u8]) {
    let count = from.len().min(to.len());
    if let (Some(from), Some(to)) = (from.get(..count), to.get_mut(..count)) {
        to.copy_from_slice(from);
    }
}
