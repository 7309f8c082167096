//! The filter pipeline of a dataset.

mod buffers;

use std::borrow::Cow;
use std::sync::Arc;

use buffers::ChunkBuffers;

use crate::codec::times;
use crate::filter::copy_start;
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Registry, Result, Workspace};

/// One stage of a filter pipeline: a filter as the filter pipeline message describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The number of the filter.
    pub id: FilterId,
    /// The flags of the filter; bit 0: the filter is optional.
    pub flags: u16,
    /// The filter's name in the file.
    pub name: Option<String>,
    /// The filter's parameters.
    pub client_data: Vec<u32>,
}

impl Stage {
    /// The flag of an optional filter in a pipeline. A chunk that the filter cannot encode is
    /// stored without the filter.
    pub const OPTIONAL: u16 = 1;

    /// Creates the description of a mandatory filter of a pipeline, with the client data
    /// `client_data`.
    pub fn new(id: FilterId, client_data: &[u32]) -> Self {
        Self { id, flags: 0, name: None, client_data: client_data.to_vec() }
    }

    /// Makes the filter of a pipeline optional. Chunks that the filter cannot encode are then
    /// stored without the filter. With [`ChunkTarget::only_smaller`], a compressor is also skipped
    /// if the chunk does not become smaller.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.flags |= Self::OPTIONAL;
        self
    }

    /// Returns true if the filter of a pipeline is optional: chunks that the filter cannot encode
    /// are stored without the filter.
    pub fn is_optional(&self) -> bool {
        self.flags & Self::OPTIONAL != 0
    }

    fn find<'a>(&self, registry: &'a Registry) -> Result<&'a Arc<dyn Filter>> {
        let missing = || FilterError::Missing { id: self.id, name: self.name.clone() };
        registry.get(self.id).ok_or_else(missing)
    }
}

/// The maximum growth of a chunk between two filters of the pipeline during decoding, as a multiple
/// of the chunk size.
const MAX_STAGE_GROWTH: usize = 8;
/// The constant part of the size limit, in bytes, for a chunk between two filters of the pipeline.
/// The limit is this number plus [`MAX_STAGE_GROWTH`] times the chunk size.
const STAGE_SLACK_BYTES: usize = 1 << 20;

/// The parameters of a filter pipeline for one chunk: the known properties of the chunk, the limits
/// for decoding it, and the options for encoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkTarget {
    /// Bytes of the decoded chunk. With [`None`], a decoded chunk may have any length.
    pub length: Option<usize>,
    /// Bytes of one element; 0 if unknown.
    pub element_size: usize,
    /// The maximum number of bytes that each stage may produce while decoding.
    pub max_bytes: usize,
    /// The maximum ratio of decoded to encoded bytes of a stage with unknown decoded length.
    pub expansion: usize,
    /// True if checksums are verified.
    pub verify: bool,
    /// True if encoders search only for repetitions of one byte, not for other repeated sequences.
    /// This search is faster, and gives smaller chunks if other repetitions occur only by chance.
    pub runs_only: bool,
    /// True if encoders with levels use their fastest compressing level, or the level of the filter
    /// if that is lower. This is useful for chunks so small that the setup of a higher level takes
    /// longer than encoding.
    pub fast: bool,
    /// The smallest byte plane of shuffled elements, in bytes, for which encoders use codes of its
    /// own. Separate codes make most data smaller, and very regular data larger by a few bytes per
    /// plane.
    pub min_plane_bytes: usize,
    /// True if a chunk that an optional compressor does not make smaller is stored without the
    /// compressor. Only for chunks that libhdf5 never replaces (docs/format/README.md).
    pub only_smaller: bool,
    /// True if bytes beyond the expected length are an error. Otherwise they are dropped, as
    /// libhdf5 does.
    pub exact: bool,
}

impl ChunkTarget {
    /// Returns the parameters of a filter pipeline for a chunk of `length` bytes, with default
    /// limits. During decoding, each filter may produce at most eight times `length` plus 1 MiB,
    /// because filters enlarge chunks only slightly.
    ///
    /// ```
    /// use hyperslab_filter::ChunkTarget;
    /// assert_eq!(ChunkTarget::of_length(1 << 20).max_bytes, 9 << 20);
    /// ```
    pub fn of_length(length: usize) -> Self {
        // The limit saturates: no buffer is larger than `usize::MAX`.
        let max_bytes = times(length, MAX_STAGE_GROWTH).saturating_add(STAGE_SLACK_BYTES);
        Self { length: Some(length), max_bytes: max_bytes.min(Self::default().max_bytes), ..Self::default() }
    }
}

impl Default for ChunkTarget {
    /// Returns the default parameters of a filter pipeline for a chunk of unknown length. The
    /// limits are 4 GiB and an expansion of 65536. Checksums are verified.
    fn default() -> Self {
        // On 32-bit machines, the limit is the address space.
        let max_bytes = if usize::BITS > 32 { 4 << 30 } else { usize::MAX };
        Self {
            length: None,
            element_size: 0,
            max_bytes,
            expansion: 1 << 16,
            verify: true,
            runs_only: false,
            fast: false,
            min_plane_bytes: MIN_PLANE_BYTES,
            only_smaller: false,
            exact: false,
        }
    }
}

/// The default of [`ChunkTarget::min_plane_bytes`]: the smallest size of a byte plane (one byte of
/// each element) that a filter encodes separately.
const MIN_PLANE_BYTES: usize = 8 << 10;

/// The number of bytes that a filter of a pipeline may decode beyond the expected length. If a
/// filter decodes more bytes, the chunk is rejected.
const OUTPUT_SLACK_BYTES: usize = 64 << 10;

/// Buffers and codec states that filter pipelines reuse from chunk to chunk. One `Scratch` per
/// thread can serve all datasets.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Buffers for the bytes between stages.
    spares: [Vec<u8>; 2],
    /// The expected decoded length of each stage.
    lengths: Vec<Option<usize>>,
    workspace: Workspace,
}

impl Scratch {
    /// Keeps the memory of `bytes`, an encoded chunk that is no longer needed, for the next chunk.
    pub fn reuse(&mut self, bytes: Vec<u8>) {
        let smallest = self.spares.iter_mut().min_by_key(|spare| spare.capacity());
        if let Some(spare) = smallest.filter(|spare| spare.capacity() < bytes.capacity()) {
            *spare = bytes;
        }
    }

    /// Frees the scratch buffers of filter pipelines with a capacity of more than `bytes` bytes. An
    /// earlier large chunk may have left such buffers.
    pub fn trim(&mut self, bytes: usize) {
        for spare in &mut self.spares {
            if spare.capacity() > bytes {
                *spare = Vec::new();
            }
        }
        self.workspace.trim(bytes);
    }
}

/// The filter pipeline of a dataset: its filters in the order of encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pipeline {
    /// The filters in the order of encoding.
    pub stages: Vec<Stage>,
}

impl Pipeline {
    /// Creates a filter pipeline of the filters `stages`, in the order of encoding.
    pub fn new(stages: Vec<Stage>) -> Self {
        Self { stages }
    }

    /// Returns true if the filter pipeline has no filters.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Returns the filters of the pipeline that are not in the filter registry `registry`.
    pub fn missing<'a>(&'a self, registry: &'a Registry) -> impl Iterator<Item = &'a Stage> {
        self.stages.iter().filter(|stage| registry.get(stage.id).is_none())
    }

    /// Returns true if several threads may run the filter pipeline at the same time: if all filters
    /// of the pipeline allow it.
    ///
    /// ```
    /// use hyperslab_filter::{FilterId, Pipeline, Registry, Stage};
    ///
    /// let pipeline = Pipeline::new(vec![Stage::new(FilterId::DEFLATE, &[6])]);
    /// assert!(pipeline.allows_threads(&Registry::default()));
    /// ```
    #[must_use]
    pub fn allows_threads(&self, registry: &Registry) -> bool {
        self.stages.iter().filter_map(|stage| registry.get(stage.id)).all(|filter| filter.allows_threads())
    }

    /// Returns the size in bytes of a chunk after encoding by the filter pipeline. Returns [`None`]
    /// if the size depends on the content of the chunk.
    pub fn encoded_length(&self, registry: &Registry, target: &ChunkTarget) -> Option<usize> {
        self.stages.iter().try_fold(target.length?, |length, stage| {
            registry.get(stage.id)?.encoded_length(&context(stage, target), length)
        })
    }

    /// Decodes a stored chunk with the filter pipeline. Applies the decoders in reverse order, and
    /// skips filters whose bit in `filter_mask` is set. Drops bytes beyond the target's length,
    /// like libhdf5.
    ///
    /// # Errors
    /// [`FilterError::Missing`] if `registry` lacks a filter, [`FilterError::Length`] if the
    /// decoded chunk is too short, and the errors of the filters.
    pub fn decode_chunk<'a>(
        &self,
        registry: &Registry,
        filter_mask: u32,
        bytes: impl Into<Cow<'a, [u8]>>,
        target: &ChunkTarget,
    ) -> Result<Vec<u8>> {
        self.decode_chunk_with(registry, filter_mask, bytes, target, &mut Scratch::default())
    }

    /// Decodes a stored chunk with the filter pipeline. Reuses buffers from chunk to chunk. See
    /// [`Pipeline::decode_chunk`].
    ///
    /// # Errors
    /// The same errors as [`Pipeline::decode_chunk`].
    pub fn decode_chunk_with<'a>(
        &self,
        registry: &Registry,
        filter_mask: u32,
        bytes: impl Into<Cow<'a, [u8]>>,
        target: &ChunkTarget,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>> {
        self.expect_lengths(registry, filter_mask, target, &mut scratch.lengths)?;
        let mut buffers = ChunkBuffers::new(bytes.into(), scratch);
        for (at, stage) in self.applied_stages(filter_mask).rev() {
            let filter = stage.find(registry)?;
            buffers.apply(stage.id, |input, output| {
                let context = decode_context(stage, target, scratch.lengths.get(at), input);
                filter.decode_with(&context, input, output, &mut scratch.workspace)
            })?;
        }
        if let Some(expected) = target.length {
            check_length(expected, buffers.bytes().len())?;
            if target.exact && buffers.bytes().len() != expected {
                return Err(FilterError::Length { expected, got: buffers.bytes().len() });
            }
            buffers.range.end = buffers.range.start + expected;
        }
        Ok(buffers.finish(scratch))
    }

    /// Decodes a stored chunk with the filter pipeline into the caller's memory `out`. The length
    /// of `out` is the expected length of the decoded chunk. Ignores [`ChunkTarget::length`].
    ///
    /// The last decoder writes directly to `out`. If `scratch` has served similar chunks before,
    /// the built-in filters allocate no memory, except where a codec's library forces an
    /// allocation. After an error, the content of `out` is unspecified.
    ///
    /// ```
    /// use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Registry, Scratch, Stage};
    ///
    /// let registry = Registry::default();
    /// let stages = vec![Stage::new(FilterId::SHUFFLE, &[4]), Stage::new(FilterId::DEFLATE, &[6])];
    /// let (pipeline, target) = (Pipeline::new(stages), ChunkTarget::default());
    /// let chunk = [7; 4000];
    /// let (stored, mask) = pipeline.encode_chunk(&registry, &chunk[..], &target)?;
    ///
    /// let mut scratch = Scratch::default(); // one per thread
    /// let mut out = [0; 4000];
    /// pipeline.decode_into(&registry, mask, &stored, &mut out, &target, &mut scratch)?;
    /// assert_eq!(out, chunk);
    /// # Ok::<(), hyperslab_filter::FilterError>(())
    /// ```
    ///
    /// # Errors
    /// The same errors as [`Pipeline::decode_chunk`].
    pub fn decode_into(
        &self,
        registry: &Registry,
        filter_mask: u32,
        stored: &[u8],
        out: &mut [u8],
        target: &ChunkTarget,
        scratch: &mut Scratch,
    ) -> Result<()> {
        check_length(out.len(), self.decode_start(registry, filter_mask, stored, out, target, scratch)?)
    }

    /// Decodes a stored chunk with the filter pipeline into the caller's memory `out`. Accepts a
    /// chunk with too few bytes, and returns the number of decoded bytes. The later bytes of `out`
    /// are unspecified.
    ///
    /// # Errors
    /// The same errors as [`Pipeline::decode_chunk`], except for [`FilterError::Length`].
    pub fn decode_start(
        &self,
        registry: &Registry,
        filter_mask: u32,
        stored: &[u8],
        out: &mut [u8],
        target: &ChunkTarget,
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let target = &ChunkTarget { length: Some(out.len()), ..*target };
        self.expect_lengths(registry, filter_mask, target, &mut scratch.lengths)?;
        let Some((last, _)) = self.applied_stages(filter_mask).next() else {
            copy_start(stored, out);
            return Ok(stored.len().min(out.len()));
        };
        let mut got = 0;
        let mut buffers = ChunkBuffers::new(stored.into(), scratch);
        for (at, stage) in self.applied_stages(filter_mask).rev() {
            let filter = stage.find(registry)?;
            let context = decode_context(stage, target, scratch.lengths.get(at), buffers.bytes());
            if at > last {
                buffers.apply(stage.id, |input, output| {
                    filter.decode_with(&context, input, output, &mut scratch.workspace)
                })?;
            } else {
                got = filter.decode_into(&context, buffers.bytes(), out, &mut scratch.workspace)?;
            }
        }
        buffers.release(scratch);
        Ok(got.min(out.len()))
    }

    /// Returns true if a chunk with the filter mask `filter_mask` was stored without any filter of
    /// the pipeline.
    ///
    /// ```
    /// use hyperslab_filter::{FilterId, Pipeline, Stage};
    ///
    /// let stages = vec![Stage::new(FilterId::SHUFFLE, &[4]), Stage::new(FilterId::DEFLATE, &[6])];
    /// let pipeline = Pipeline::new(stages);
    /// assert!(pipeline.skips_all(0b11));
    /// assert!(!pipeline.skips_all(0b10));
    /// ```
    #[must_use]
    pub fn skips_all(&self, filter_mask: u32) -> bool {
        self.applied_stages(filter_mask).next().is_none()
    }

    /// Returns the filters of the pipeline that were applied to a chunk, with their indices in the
    /// pipeline.
    fn applied_stages(&self, filter_mask: u32) -> impl DoubleEndedIterator<Item = (usize, &Stage)> {
        self.stages.iter().enumerate().filter(move |(at, _)| !is_masked(filter_mask, *at))
    }

    /// Computes the expected number of bytes that each filter of a pipeline returns when it decodes
    /// a chunk. Stores the numbers in `lengths`, and `None` for unknown numbers.
    fn expect_lengths(
        &self,
        registry: &Registry,
        filter_mask: u32,
        target: &ChunkTarget,
        lengths: &mut Vec<Option<usize>>,
    ) -> Result<()> {
        lengths.clear();
        let mut length = target.length;
        for (at, stage) in self.stages.iter().enumerate() {
            lengths.push(length);
            if !is_masked(filter_mask, at) {
                let filter = stage.find(registry)?;
                length = length.and_then(|length| filter.encoded_length(&context(stage, target), length));
            }
        }
        Ok(())
    }

    /// Encodes a chunk with the filter pipeline, and returns the stored bytes and the filter mask.
    /// The mask has a bit for each skipped optional filter: filters that are missing or cannot
    /// encode the chunk. With [`ChunkTarget::only_smaller`], also skips compressors that do not
    /// make the chunk smaller.
    ///
    /// # Errors
    /// [`FilterError::Missing`] and [`FilterError::Failed`] for mandatory filters.
    pub fn encode_chunk<'a>(
        &self,
        registry: &Registry,
        bytes: impl Into<Cow<'a, [u8]>>,
        target: &ChunkTarget,
    ) -> Result<(Vec<u8>, u32)> {
        self.encode_chunk_with(registry, bytes, target, &mut Scratch::default())
    }

    /// Encodes a chunk with the filter pipeline, and returns the stored bytes and the filter mask.
    /// Reuses buffers from chunk to chunk. See [`Pipeline::encode_chunk`].
    ///
    /// # Errors
    /// The same errors as [`Pipeline::encode_chunk`].
    pub fn encode_chunk_with<'a>(
        &self,
        registry: &Registry,
        bytes: impl Into<Cow<'a, [u8]>>,
        target: &ChunkTarget,
        scratch: &mut Scratch,
    ) -> Result<(Vec<u8>, u32)> {
        let mut buffers = ChunkBuffers::new(bytes.into(), scratch);
        let workspace = &mut scratch.workspace;
        let mut mask = 0;
        let mut planes = 0;
        for (at, stage) in self.stages.iter().enumerate() {
            let bit = mask_bit(at);
            let optional = stage.is_optional() && bit != 0;
            let result = stage.find(registry).and_then(|filter| {
                buffers.apply(stage.id, |input, output| {
                    let plane = input.len().checked_div(planes).unwrap_or(0);
                    let plane = if plane >= target.min_plane_bytes { plane } else { 0 };
                    let context = FilterContext { plane, ..context(stage, target) };
                    let produced = filter.encode_with(&context, input, output, workspace)?;
                    let grew = produced == Produced::Output && output.len() >= input.len();
                    if target.only_smaller && optional && filter.compresses() && grew {
                        return Err(FilterError::failed(stage.id, "the chunk does not become smaller"));
                    }
                    Ok(produced)
                })
            });
            match result {
                Ok(()) => planes = plane_count(stage),
                Err(_) if optional => mask |= bit,
                Err(error) => return Err(error),
            }
        }
        Ok((buffers.finish(scratch), mask))
    }
}

fn context<'a>(stage: &'a Stage, target: &ChunkTarget) -> FilterContext<'a> {
    FilterContext {
        client_data: &stage.client_data,
        element_size: target.element_size,
        expected_output: None,
        max_output: target.max_bytes,
        verify: target.verify,
        plane: 0,
        runs_only: target.runs_only,
        fast: target.fast,
    }
}

/// Returns the context for the decoding of `input` by one filter of the pipeline. `expected` comes
/// from [`Pipeline::expect_lengths`].
fn decode_context<'a>(
    stage: &'a Stage,
    target: &ChunkTarget,
    expected: Option<&Option<usize>>,
    input: &[u8],
) -> FilterContext<'a> {
    let expected_output = expected.copied().flatten();
    let maximum =
        expected_output.map_or_else(|| times(input.len(), target.expansion), |expected| times(expected, 2));
    // The limit saturates: no buffer is larger than `usize::MAX`.
    let max_output = maximum.saturating_add(OUTPUT_SLACK_BYTES).min(target.max_bytes);
    FilterContext { expected_output, max_output, ..context(stage, target) }
}

/// Returns the number of byte planes in the output of a filter of the pipeline. The shuffle filter
/// makes one plane for each byte of an element. Returns 0 for other filters.
fn plane_count(stage: &Stage) -> usize {
    match stage.client_data.first() {
        Some(size) if stage.id == FilterId::SHUFFLE && *size > 1 => *size as usize,
        _ => 0,
    }
}

/// Checks that a chunk decoded by the filter pipeline has at least the expected length.
fn check_length(expected: usize, got: usize) -> Result<()> {
    if got < expected { Err(FilterError::Length { expected, got }) } else { Ok(()) }
}

/// Returns the bit of one filter of the pipeline in the filter mask of a chunk. Returns 0 after the
/// 32nd filter, because the mask has 32 bits.
fn mask_bit(stage: usize) -> u32 {
    if stage < 32 { 1 << stage } else { 0 }
}

fn is_masked(filter_mask: u32, stage: usize) -> bool {
    filter_mask & mask_bit(stage) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn deflate() -> Stage {
        Stage::new(FilterId::DEFLATE, &[4])
    }

    fn shuffle(size: u32) -> Stage {
        Stage::new(FilterId::SHUFFLE, &[size])
    }

    fn fletcher32() -> Stage {
        Stage::new(FilterId::FLETCHER32, &[])
    }

    fn noise(length: u32) -> Vec<u8> {
        (0..length)
            .map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2] ^ (at * at).to_le_bytes()[1])
            .collect()
    }

    #[test]
    fn stages_run_in_order_and_back() {
        let registry = Registry::default();
        let pipeline = Pipeline::new(vec![shuffle(2), fletcher32()]);
        let target = ChunkTarget::of_length(4);
        let (stored, mask) = pipeline.encode_chunk(&registry, &[1, 2, 3, 4][..], &target).unwrap();
        assert_eq!((stored.as_slice(), mask), (&[1, 3, 2, 4, 0x07, 0x03, 0x0a, 0x04][..], 0));
        assert_eq!(pipeline.encoded_length(&registry, &target), Some(8));
        assert_eq!(pipeline.decode_chunk(&registry, 0, &stored[..], &target).unwrap(), [1, 2, 3, 4]);
        assert_eq!(pipeline.decode_chunk(&registry, 1, &stored[..], &target).unwrap(), [1, 3, 2, 4]);
        // If the checksum filter is skipped, the checksum counts as bytes of the chunk, and bytes
        // beyond the expected length are dropped.
        assert_eq!(pipeline.decode_chunk(&registry, 3, stored, &target).unwrap(), [1, 3, 2, 4]);
    }

    #[test]
    fn optional_stages_that_do_not_help_are_masked() {
        let registry = Registry::default();
        let chunk = noise(1000);
        let target = ChunkTarget { only_smaller: true, ..ChunkTarget::of_length(1000) };
        let unknown = Stage::new(FilterId(999), &[]);
        let pipeline =
            Pipeline::new(vec![unknown.clone().optional(), shuffle(0).optional(), deflate().optional()]);
        let (stored, mask) = pipeline.encode_chunk(&registry, &chunk[..], &target).unwrap();
        assert_eq!((&stored, mask), (&chunk, 0b111));
        assert_eq!(pipeline.decode_chunk(&registry, mask, stored, &target).unwrap(), chunk);
        let (stored, mask) = pipeline.encode_chunk(&registry, vec![7; 1000], &target).unwrap();
        assert_eq!(mask, 0b011);
        assert!(stored.len() < 100);
        assert_eq!(pipeline.decode_chunk(&registry, mask, stored, &target).unwrap(), [7; 1000]);
        // A mandatory filter is applied even if the chunk grows.
        let mandatory = Pipeline::new(vec![deflate()]);
        let (stored, mask) = mandatory.encode_chunk(&registry, &chunk[..], &target).unwrap();
        assert!(stored.len() > 1000 && mask == 0);
        assert_eq!(mandatory.decode_chunk(&registry, 0, stored, &target).unwrap(), chunk);
        let failed = Pipeline::new(vec![shuffle(0)]).encode_chunk(&registry, &chunk[..], &target);
        assert!(matches!(failed, Err(FilterError::Failed { id: FilterId::SHUFFLE, .. })));
        let missing = Pipeline::new(vec![unknown]).encode_chunk(&registry, &chunk[..], &target);
        assert!(matches!(missing, Err(FilterError::Missing { .. })));
    }

    /// When libhdf5 replaces a chunk by one of the same length, it keeps the filter mask. libhdf5
    /// never skips deflate. It skips LZF, szip and Blosc for chunks that do not become smaller. So
    /// no chunk that these filters have encoded may be as long as the unencoded chunk.
    #[test]
    fn chunks_can_be_replaced_by_others_of_as_many_bytes() {
        let registry = Registry::default();
        let optional = |id, data: &[u32]| Stage::new(id, data).optional();
        for length in (1..200).chain([4096, 65_536]) {
            let size = u32::try_from(length).unwrap();
            let target = ChunkTarget::of_length(length);
            for stages in [
                vec![optional(FilterId::DEFLATE, &[1])],
                vec![optional(FilterId::SHUFFLE, &[2]), optional(FilterId::DEFLATE, &[9])],
                vec![optional(FilterId::LZF, &[4, 0x105, size])],
                vec![optional(FilterId::SZIP, &[141, 8, 8, 64])],
                vec![optional(FilterId::BLOSC, &[2, 2, 1, size, 5, 1, 0])],
                vec![optional(FilterId::LZF, &[4, 0x105, size]), optional(FilterId::FLETCHER32, &[])],
            ] {
                let pipeline = Pipeline::new(stages);
                let unfiltered = length
                    + if pipeline.stages.len() == 2 && pipeline.stages[1].id == FilterId::FLETCHER32 {
                        4
                    } else {
                        0
                    };
                for zeros in 0..length.min(80) {
                    let mut chunk = noise(size);
                    chunk[length - zeros..].fill(0);
                    let (stored, mask) = pipeline.encode_chunk(&registry, &chunk[..], &target).unwrap();
                    let name = pipeline.stages[0].id;
                    assert_eq!(mask, 0, "{name} of {length} bytes");
                    let is_left_out_by_libhdf5 =
                        matches!(name, FilterId::LZF | FilterId::SZIP | FilterId::BLOSC);
                    assert!(
                        !is_left_out_by_libhdf5 || stored.len() != unfiltered,
                        "{name} of {length} bytes"
                    );
                    assert_eq!(
                        pipeline.decode_chunk(&registry, mask, stored, &target).unwrap(),
                        chunk,
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_missing_filter_is_named() {
        let mut stage = Stage::new(FilterId::MAFISC, &[]).optional();
        stage.name = Some("MAFISC 1".to_owned());
        let pipeline = Pipeline::new(vec![stage]);
        let error =
            pipeline.decode_chunk(&Registry::default(), 0, &[1][..], &ChunkTarget::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "filter MAFISC (32002), named \"MAFISC 1\" in the file, is not available"
        );
        assert_eq!(pipeline.missing(&Registry::default()).count(), 1);
        assert_eq!(
            pipeline.decode_chunk(&Registry::default(), 1, &[1][..], &ChunkTarget::default()),
            Ok(vec![1])
        );
        let missing = FilterError::Missing { id: FilterId::ZFP, name: None }.to_string();
        assert_eq!(missing.ends_with("is not available (feature `zfp` is off)"), !cfg!(feature = "zfp"));
    }

    /// The limit of an intermediate stage is far below 64 MiB for a chunk of 1000 bytes.
    #[test]
    fn stages_between_do_not_blow_up() {
        let registry = Registry::default();
        let once = Pipeline::new(vec![deflate()]);
        let (bomb, _) = once.encode_chunk(&registry, vec![0; 64 << 20], &ChunkTarget::default()).unwrap();
        let twice = Pipeline::new(vec![deflate(), deflate()]);
        let error = twice.decode_chunk(&registry, 0, &bomb[..], &ChunkTarget::of_length(1000)).unwrap_err();
        assert!(matches!(error, FilterError::Limit { limit, .. } if limit < 2 << 20), "{error}");
    }

    #[test]
    fn lengths_are_checked_and_bombs_refused() {
        let registry = Registry::default();
        let pipeline = Pipeline::new(vec![deflate()]);
        let stored =
            conformance::encode(registry.get(FilterId::DEFLATE).unwrap().as_ref(), &[9], &[5; 2000]).unwrap();
        let decode =
            |length| pipeline.decode_chunk(&registry, 0, &stored[..], &ChunkTarget::of_length(length));
        assert_eq!(decode(2001), Err(FilterError::Length { expected: 2001, got: 2000 }));
        assert_eq!(decode(2000).unwrap(), [5; 2000]);
        assert_eq!(decode(10).unwrap(), [5; 10], "what is too long is cut");
        let bomb =
            conformance::encode(registry.get(FilterId::DEFLATE).unwrap().as_ref(), &[9], &vec![0; 1 << 20])
                .unwrap();
        let error = pipeline.decode_chunk(&registry, 0, &bomb[..], &ChunkTarget::of_length(10)).unwrap_err();
        assert!(matches!(error, FilterError::Limit { .. }), "{error}");
        let target = ChunkTarget { max_bytes: 1000, ..ChunkTarget::default() };
        assert!(pipeline.decode_chunk(&registry, 0, &stored[..], &target).is_err());
    }

    #[test]
    fn more_than_thirty_two_stages_are_no_trouble() {
        let registry = Registry::default();
        let pipeline = Pipeline::new(vec![fletcher32().optional(); 40]);
        let target = ChunkTarget::of_length(3);
        let (stored, mask) = pipeline.encode_chunk(&registry, &[1, 2, 3][..], &target).unwrap();
        assert_eq!((stored.len(), mask), (163, 0));
        assert_eq!(pipeline.decode_chunk(&registry, 0, stored, &target).unwrap(), [1, 2, 3]);
    }

    fn stages() -> impl Strategy<Value = Vec<Stage>> {
        let stage = prop_oneof![Just(deflate()), (1..9_u32).prop_map(shuffle), Just(fletcher32())];
        let stage = (stage, any::<bool>())
            .prop_map(|(stage, optional)| if optional { stage.optional() } else { stage });
        proptest::collection::vec(stage, 0..5)
    }

    proptest! {
        #[test]
        fn chunks_come_back(stages in stages(), chunk in proptest::collection::vec(0..4_u8, 0..3000), known in any::<bool>()) {
            let (registry, pipeline, mut scratch) = (Registry::default(), Pipeline::new(stages), Scratch::default());
            let target = if known { ChunkTarget::of_length(chunk.len()) } else { ChunkTarget::default() };
            for _ in 0..2 {
                let (stored, mask) = pipeline.encode_chunk_with(&registry, &chunk[..], &target, &mut scratch).unwrap();
                let decoded = pipeline.decode_chunk_with(&registry, mask, &stored[..], &target, &mut scratch).unwrap();
                prop_assert_eq!(&decoded, &chunk);
                let mut out = vec![0xee; chunk.len()];
                pipeline.decode_into(&registry, mask, &stored, &mut out, &target, &mut scratch).unwrap();
                prop_assert_eq!(&out, &chunk);
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(
            stages in stages(),
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            mask in any::<u32>(),
            length in proptest::option::of(0..500_usize),
        ) {
            let target = ChunkTarget { length, ..ChunkTarget::default() };
            let (registry, pipeline) = (Registry::default(), Pipeline::new(stages));
            let decoded = pipeline.decode_chunk(&registry, mask, &bytes[..], &target);
            let Some(length) = length else { return Ok(()) };
            let mut out = vec![0xee; length];
            let into = pipeline.decode_into(&registry, mask, &bytes, &mut out, &target, &mut Scratch::default());
            prop_assert_eq!(into.map(|()| out), decoded);
        }
    }

    #[test]
    fn bytes_outside_of_the_input_are_an_internal_error() {
        let input = [1, 2, 3];
        let mut buffers = ChunkBuffers::new(Cow::Borrowed(&input[..]), &mut Scratch::default());
        let passed = buffers.apply(FilterId::SHUFFLE, |input, _| Ok(Produced::Input(1..input.len() + 1)));
        assert!(matches!(passed, Err(FilterError::Internal { .. })), "{passed:?}");
        assert_eq!(buffers.bytes(), input);
    }
}
