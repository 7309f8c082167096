//! Elements as a file of NumPy.

use hyperslab_exact::to_u64;

use super::super::numpy::{Dtype, Form};
use super::super::selection::Block;
use super::super::{Answer, AnswerLimits, Failure};
use super::stream::{self, Encoder, Source};
use super::total_bytes;

/// The encoder of a file of NumPy: a header, and the elements as bytes.
struct Npy {
    header: Vec<u8>,
    form: Form,
    total: u64,
}

pub(super) fn answer(
    source: Source,
    form: Form,
    shape: &[u64],
    limits: &AnswerLimits,
) -> Result<Answer, Failure> {
    let total = total_bytes(&source, &form)?;
    let header = header(form.dtype.item(), shape)?;
    let encoder = Npy { header, form, total };
    let disposition = Some("attachment; filename=\"data.npy\"");
    stream::answer(source, encoder, limits, "application/octet-stream", disposition)
}

impl Encoder for Npy {
    fn length(&self) -> Option<u64> {
        stream::sum(self.header.len(), self.total)
    }

    fn start(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.append(&mut self.header);
        Ok(())
    }

    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend_from_slice(&source.read_as(block, &self.form)?);
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

/// Returns the header: magic bytes, version 1.0, and a dict of Python whose end is aligned to 64
/// bytes.
fn header(dtype: &Dtype, shape: &[u64]) -> Result<Vec<u8>, Failure> {
    let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let mut dict = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        dtype.name(),
        dims.join(", ")
    );
    let before = b"\x93NUMPY\x01\x00".len() + 2;
    let padding = (64 - (before + dict.len() + 1) % 64) % 64;
    dict.extend(std::iter::repeat_n(' ', padding));
    dict.push('\n');
    let length = u16::try_from(to_u64(dict.len())).map_err(|_| Failure::refused("too many dimensions"))?;
    Ok([b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), dict.as_bytes()].concat())
}
