//! Elements that are read and encoded block by block.

use hyperslab::Dataset;
use hyperslab_exact::to_u64;

use super::super::answer::Body;
use super::super::meta::chunks;
use super::super::numpy::{Dtype, Form};
use super::super::selection::{Block, Blocks, Slab};
use super::super::{Answer, AnswerLimits, Failure};

/// The selected elements of a dataset.
#[derive(Debug)]
pub(in super::super) struct Source {
    pub(in super::super) dataset: Dataset,
    pub(in super::super) slab: Slab,
    pub(in super::super) dtype: Option<Dtype>,
}

impl Source {
    /// Checks the size of the selected elements against the limit for one answer.
    pub(super) fn check_size(&self, limits: &AnswerLimits) -> Result<(), Failure> {
        let count = self.slab.count()?;
        let size = u64::from(self.dataset.datatype().size);
        if count.checked_mul(size).is_some_and(|bytes| bytes <= limits.response_bytes) {
            return Ok(());
        }
        Err(Failure::refused(format!(
            "{count} elements of {size} bytes are more than the largest answer of {} bytes; select less with \
             `selection`, such as selection=0:100",
            limits.response_bytes
        )))
    }

    /// Checks the number of the selected elements against the limit for statistics.
    pub(in super::super) fn check_sum(&self, limits: &AnswerLimits) -> Result<(), Failure> {
        let count = self.slab.count()?;
        let size = u64::from(self.dataset.datatype().size);
        if count.checked_mul(size).is_some_and(|bytes| bytes <= limits.summed_bytes) {
            return Ok(());
        }
        Err(Failure::refused(format!(
            "statistics of {count} elements of {size} bytes take too long, the largest number of bytes is {}; select \
             less with `selection`, such as selection=0:100",
            limits.summed_bytes
        )))
    }

    /// Returns the blocks of the selected elements.
    pub(in super::super) fn blocks(&self, limits: &AnswerLimits) -> Blocks {
        let chunk = chunks(&self.dataset);
        self.slab.blocks(u64::from(self.dataset.datatype().size), chunk.as_deref(), limits.piece_bytes)
    }

    /// Reads the stored elements of a block.
    pub(in super::super) fn read(&self, block: &Block) -> Result<Vec<u8>, Failure> {
        let datatype = self.dataset.datatype();
        let length = block.count.checked_mul(datatype.size as usize);
        let length = length.ok_or_else(|| Failure::refused("the selection has too many elements"))?;
        let mut bytes = vec![0; length];
        self.dataset.read_bytes(&block.selection, datatype, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the elements of a block in a form.
    pub(super) fn read_as(&self, block: &Block, form: &Form) -> Result<Vec<u8>, Failure> {
        form.convert(self.read(block)?, block.count)
    }
}

/// The encoder of a format.
pub(super) trait Encoder: Send + 'static {
    /// Returns the length of the whole answer in bytes, if it is known.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Writes the bytes before the first element.
    ///
    /// # Errors
    /// Returns a failure if the format cannot hold the elements.
    fn start(&mut self, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Reads a block and writes its elements.
    ///
    /// # Errors
    /// Returns a failure if the elements cannot be read.
    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Writes the bytes after the last element.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// Returns the answer with the encoded elements of a source. The first block is read at once, so
/// that its failure is the answer.
pub(super) fn answer(
    source: Source,
    encoder: impl Encoder,
    limits: &AnswerLimits,
    content_type: &'static str,
    disposition: Option<&'static str>,
) -> Result<Answer, Failure> {
    let length = encoder.length();
    let blocks = source.blocks(limits);
    let mut pieces = Encoding { source, encoder, blocks, started: false, finished: false };
    let first = pieces.next().unwrap_or_else(|| Ok(Vec::new()))?;
    if pieces.finished {
        return Ok(Answer { disposition, ..Answer::bytes(content_type, first) });
    }
    let body = Body::Pieces(Box::new(std::iter::once(Ok(first)).chain(pieces)));
    Ok(Answer { status: 200, content_type, disposition, length, body })
}

/// The pieces of an answer, one for each block.
struct Encoding<E> {
    source: Source,
    encoder: E,
    blocks: Blocks,
    started: bool,
    finished: bool,
}

impl<E: Encoder> Encoding<E> {
    fn piece(&mut self) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        if !self.started {
            self.encoder.start(&mut out)?;
            self.started = true;
        }
        if let Some(block) = self.blocks.next() {
            self.encoder.block(&self.source, &block?, &mut out)?;
        }
        if self.blocks.is_finished() {
            self.encoder.end(&mut out);
            self.finished = true;
        }
        Ok(out)
    }
}

impl<E: Encoder> Iterator for Encoding<E> {
    type Item = Result<Vec<u8>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let piece = self.piece();
        self.finished |= piece.is_err();
        Some(piece)
    }
}

/// Returns the sum of a length of a header and of elements.
pub(super) fn sum(header: usize, elements: u64) -> Option<u64> {
    to_u64(header).checked_add(elements)
}
