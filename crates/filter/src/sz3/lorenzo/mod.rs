//! Values that are predicted from their neighbours (Lorenzo), block by block.
//!
//! ```text
//! bytes for 1, 2 and 4 dimensions | meaning
//! --------------------------------+----------------------------------------------------------
//! 8 n                             | values in each dimension
//! 4                               | values of a block in each dimension
//! 1 or 2                          | 1 for each predictor
//! 8                               | only with two predictors: number of blocks
//! n                               | only with two predictors and blocks: codes of each block's
//!                                 | predictor
//! n                               | quantiser
//! n                               | codes of the values
//!
//! bytes for 3 dimensions | meaning
//! -----------------------+-------------------------------------------------------------------
//! 4                      | values of a block in each dimension
//! 4                      | number of dimensions d from which values are predicted, 1 to 3
//! 36                     | used only by the encoder, or for regression
//! 8                      | maximum error
//! 1                      | true if a mean is a predictor
//! s                      | the mean
//! 8                      | number of blocks that are predicted by regression
//! n                      | codes of each block's predictor: 0 one layer, 1 regression, 2 two
//!                        | layers
//! n                      | quantiser
//! n                      | codes of the values
//! ```
//! Blocks follow one another with the last dimension fastest, and so do the values in a block.
//! Neighbours outside the chunk count as 0.

mod stencil;

use super::bytes::Bytes;
use super::huffman::Codes;
use super::quantiser::Quantiser;
use super::value::Value;
use super::{corrupt, unsupported};
use crate::Result;

use stencil::{Stencil, predict};

/// The maximum number of dimensions of the Lorenzo predictor of SZ3. If a chunk has fewer,
/// dimensions of one value are added at the front.
const MAX_DIMENSIONS: usize = 4;

/// The predictors for the blocks of an SZ3 chunk, in the decoder that predicts values from
/// neighbours (Lorenzo).
#[derive(Debug)]
enum Predictors<'a> {
    /// All blocks have the same predictor.
    One(Stencil),
    /// The predictor of each block is coded.
    Selected(Codes<'a>, [Option<Stencil>; 3]),
}

impl Predictors<'_> {
    fn next(&mut self) -> Result<Stencil> {
        match self {
            Self::One(stencil) => Ok(*stencil),
            Self::Selected(codes, stencils) => {
                let stencil = usize::try_from(codes.next()?).ok().and_then(|at| stencils.get(at));
                stencil.copied().flatten().ok_or_else(|| corrupt("the predictor of a block is unknown"))
            }
        }
    }
}

#[derive(Debug)]
struct Lorenzo<'a, V> {
    values: &'a mut [V],
    sizes: [usize; MAX_DIMENSIONS],
    strides: [usize; MAX_DIMENSIONS],
    block: usize,
    predictors: Predictors<'a>,
    quantiser: Quantiser<'a>,
    codes: Codes<'a>,
}

/// Decodes an SZ3 chunk by prediction from neighbours (Lorenzo), and writes the values to `values`.
/// The first flag allows prediction from one layer of neighbours. The second flag allows prediction
/// from two layers.
pub(super) fn decode<V: Value>(
    payload: &[u8],
    sizes: &[usize],
    (one, two): (bool, bool),
    values: &mut [V],
) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    let (block, predictors) = if sizes.len() == 3 {
        parse_volume_predictors(&mut bytes, V::SIZE)?
    } else {
        parse_predictors(&mut bytes, sizes, one, two)?
    };
    // With at least two values per block, a neighbour's neighbour lies at most one block away.
    if block < 2 {
        return Err(corrupt("the block size is less than 2"));
    }
    let quantiser = Quantiser::parse(&mut bytes, V::SIZE)?;
    let codes = Codes::parse(&mut bytes)?;
    let mut all = [1; MAX_DIMENSIONS];
    for (to, size) in all.iter_mut().rev().zip(sizes.iter().rev()) {
        *to = *size;
    }
    let [_, b, c, d] = all;
    let strides = [b * c * d, c * d, d, 1];
    Lorenzo { values, sizes: all, strides, block, predictors, quantiser, codes }.run()
}

/// Parses the block size and the predictors of an SZ3 chunk with 1, 2 or 4 dimensions.
fn parse_predictors<'a>(
    bytes: &mut Bytes<'a>,
    sizes: &[usize],
    one: bool,
    two: bool,
) -> Result<(usize, Predictors<'a>)> {
    for size in sizes {
        if bytes.size()? != *size {
            return Err(corrupt("the dimensions in the payload differ from the configuration"));
        }
    }
    let block = bytes.size_32()?;
    let (first, second) = (Stencil::of(sizes.len(), 1), Stencil::of(sizes.len(), 2));
    bytes.take(usize::from(one) + usize::from(two))?;
    if !one || !two {
        return Ok((block, Predictors::One(if one { first } else { second })));
    }
    if bytes.size()? == 0 {
        return Err(corrupt("the number of blocks is 0"));
    }
    Ok((block, Predictors::Selected(Codes::parse(bytes)?, [Some(first), Some(second), None])))
}

/// Parses the block size and the predictors of an SZ3 chunk with 3 dimensions.
fn parse_volume_predictors<'a>(bytes: &mut Bytes<'a>, size: usize) -> Result<(usize, Predictors<'a>)> {
    let block = bytes.size_32()?;
    let dimensions = bytes.size_32()?;
    bytes.take(36 + 8)?;
    let uses_mean = bytes.byte()? != 0;
    bytes.take(size)?;
    if uses_mean {
        return Err(unsupported("an SZ3 chunk that predicts values from their mean"));
    }
    if bytes.size()? != 0 {
        return Err(unsupported("prediction by regression"));
    }
    let (first, second) = (Stencil::of_volume(dimensions, 1), Stencil::of_volume(dimensions, 2));
    Ok((block, Predictors::Selected(Codes::parse(bytes)?, [Some(first), None, Some(second)])))
}

impl<V: Value> Lorenzo<'_, V> {
    fn run(&mut self) -> Result<()> {
        let mut begin = [0; MAX_DIMENSIONS];
        loop {
            let stencil = self.predictors.next()?;
            self.fill_block(begin, stencil)?;
            if !self.advance(&mut begin) {
                return Ok(());
            }
        }
    }

    /// Advances to the next block of the SZ3 chunk in the Lorenzo decoder. Returns false after the
    /// last block.
    fn advance(&self, begin: &mut [usize; MAX_DIMENSIONS]) -> bool {
        for (begin, size) in begin.iter_mut().zip(self.sizes).rev() {
            let next = begin.saturating_add(self.block);
            if next < size {
                *begin = next;
                return true;
            }
            *begin = 0;
        }
        false
    }

    fn fill_block(&mut self, begin: [usize; MAX_DIMENSIONS], stencil: Stencil) -> Result<()> {
        let mut end = begin;
        for (end, size) in end.iter_mut().zip(self.sizes) {
            *end = end.saturating_add(self.block).min(size);
        }
        let ([a, b, c, d], [a_end, b_end, c_end, d_end]) = (begin, end);
        for a in a..a_end {
            for b in b..b_end {
                for c in c..c_end {
                    for d in d..d_end {
                        self.fill([a, b, c, d], stencil)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, position: [usize; MAX_DIMENSIONS], stencil: Stencil) -> Result<()> {
        let [s, t, u, v] = self.strides;
        let [a, b, c, d] = position;
        let at = a * s + b * t + c * u + d * v;
        let before = |away: [usize; MAX_DIMENSIONS]| {
            if position.iter().zip(away).any(|(position, away)| *position < away) {
                return V::default().widen();
            }
            let [a, b, c, d] = away;
            let away = a * s + b * t + c * u + d * v;
            self.values.get(at.wrapping_sub(away)).copied().unwrap_or_default().widen()
        };
        let code = self.codes.next()?;
        let predicted = if code == 0 { V::default() } else { V::narrow(predict(stencil, before)) };
        let value = self.quantiser.recover(predicted, code)?;
        if let Some(to) = self.values.get_mut(at) {
            *to = value;
        }
        Ok(())
    }
}
