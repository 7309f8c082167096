//! The buffers of a chunk between the filters of a pipeline.

use std::borrow::Cow;
use std::ops::Range;

use super::Scratch;
use crate::filter::INPUT_RANGE_INVARIANT;
use crate::{FilterError, FilterId, Produced, Result};

/// The bytes of a chunk between two filters of a pipeline: a range of one buffer. A second buffer
/// receives the output of the next filter.
pub(super) struct ChunkBuffers<'a> {
    current: Cow<'a, [u8]>,
    pub(super) range: Range<usize>,
    spare: Vec<u8>,
    /// The buffer that becomes `spare` when `current` is borrowed.
    second: Vec<u8>,
}

impl<'a> ChunkBuffers<'a> {
    pub(super) fn new(bytes: Cow<'a, [u8]>, scratch: &mut Scratch) -> Self {
        let [spare, second] = std::mem::take(&mut scratch.spares);
        Self { range: 0..bytes.len(), current: bytes, spare, second }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.current.split_at(self.range.end).0.split_at(self.range.start).1
    }

    /// Applies one filter of the pipeline to the bytes of the chunk. After an error the bytes are
    /// unchanged.
    pub(super) fn apply(
        &mut self,
        id: FilterId,
        run: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<Produced>,
    ) -> Result<()> {
        let Range { start, end } = self.range.clone();
        let input = self.current.split_at(end).0.split_at(start).1;
        match run(input, &mut self.spare)? {
            Produced::Output => {
                let new = std::mem::take(&mut self.spare);
                self.range = 0..new.len();
                self.spare = match std::mem::replace(&mut self.current, Cow::Owned(new)) {
                    Cow::Owned(old) => old,
                    Cow::Borrowed(_) => std::mem::take(&mut self.second),
                };
            }
            Produced::Input(part) => {
                if part.start > part.end || part.end > input.len() {
                    return Err(FilterError::Internal { id, invariant: INPUT_RANGE_INVARIANT });
                }
                self.range = self.range.start + part.start..self.range.start + part.end;
            }
        }
        Ok(())
    }

    /// Returns both buffers of the chunk in the filter pipeline to `scratch`, for the next chunk.
    pub(super) fn release(self, scratch: &mut Scratch) {
        let second = match self.current {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(_) => self.second,
        };
        scratch.spares = [self.spare, second];
    }

    /// Returns the bytes of the chunk after the filter pipeline, and puts the other buffers back
    /// into `scratch`.
    pub(super) fn finish(self, scratch: &mut Scratch) -> Vec<u8> {
        scratch.spares = [self.spare, self.second];
        match self.current {
            Cow::Borrowed(bytes) => bytes.split_at(self.range.end).0.split_at(self.range.start).1.to_vec(),
            Cow::Owned(mut bytes) => {
                bytes.truncate(self.range.end);
                if self.range.start > 0 {
                    bytes.drain(..self.range.start.min(bytes.len()));
                }
                bytes
            }
        }
    }
}
