//! Elements as bytes.

use super::super::numpy::Form;
use super::super::selection::Block;
use super::super::{Answer, AnswerLimits, Failure};
use super::stream::{self, Encoder, Source};
use super::total_bytes;

const CONTENT_TYPE: &str = "application/octet-stream";

/// The encoder of elements as bytes, without a header.
struct Binary {
    form: Form,
    total: u64,
}

pub(super) fn answer(source: Source, form: Form, limits: &AnswerLimits) -> Result<Answer, Failure> {
    let total = total_bytes(&source, &form)?;
    stream::answer(source, Binary { form, total }, limits, CONTENT_TYPE, None)
}

impl Encoder for Binary {
    fn length(&self) -> Option<u64> {
        Some(self.total)
    }

    fn start(&mut self, _: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure> {
        *out = source.read_as(block, &self.form)?;
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

/// Returns the text of one string, without padding.
pub(super) fn single_text(source: &Source) -> Result<Answer, Failure> {
    use hyperslab::Column;
    let block = source.slab.blocks(1, None, u64::MAX).next();
    let block = block.ok_or_else(|| Failure::refused("the selection has no elements"))??;
    let text = match source.dataset.read_stored(&block.selection)?.column()? {
        Column::Text(texts) => texts.into_iter().next().map(String::into_bytes),
        Column::ByteText(texts) => texts.into_iter().next(),
        _ => None,
    };
    let text = text.ok_or_else(|| Failure::internal("a string has no text"))?;
    Ok(Answer::bytes(CONTENT_TYPE, text))
}
