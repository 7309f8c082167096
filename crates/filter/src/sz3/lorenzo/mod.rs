//! Values that are predicted from their neighbours, block by block.
//!
//! ```text
//! bytes of 1, 2 and 4 dimensions | meaning
//! -------------------------------+-----------------------------------------------------------
//! 8 n                            | values in each dimension
//! 4                              | values of a block in each dimension
//! 1 or 2                         | 1 for each way to predict
//! 8                              | if there are two ways: blocks
//! n                              | if so, and there are blocks: codes of the way in each of them
//! n                              | quantiser
//! n                              | codes of the values
//!
//! bytes of 3 dimensions | meaning
//! ----------------------+--------------------------------------------------------------------
//! 4                     | values of a block in each dimension
//! 4                     | dimensions d in which neighbours predict: 3, or 2 or 1 of them
//! 36                    | only to encode, or for regression
//! 8                     | largest error
//! 1                     | whether a mean predicts
//! s                     | this mean
//! 8                     | blocks that regression predicts
//! n                     | codes of the way in each block: 0 one layer, 1 regression, 2 two layers
//! n                     | quantiser
//! n                     | codes of the values
//! ```
//! Blocks come one after the other, the last dimension fastest, and so do the values in a block. What is outside the
//! chunk is 0.

mod stencil;

use super::bytes::Bytes;
use super::huffman::Codes;
use super::quantiser::Quantiser;
use super::value::Value;
use super::{corrupt, unsupported};
use crate::Result;

use stencil::{Stencil, predict};

/// Dimensions at most; those that are missing are taken for the first ones, with one value.
const MOST: usize = 4;

/// How the blocks are predicted.
#[derive(Debug)]
enum Ways<'a> {
    /// All in one way.
    One(Stencil),
    /// Each in the way of its code.
    Selected(Codes<'a>, [Option<Stencil>; 3]),
}

impl Ways<'_> {
    fn next(&mut self) -> Result<Stencil> {
        match self {
            Self::One(stencil) => Ok(*stencil),
            Self::Selected(codes, stencils) => {
                let at = usize::try_from(codes.next()?).unwrap_or(usize::MAX);
                let stencil = stencils.get(at).copied().flatten();
                stencil.ok_or_else(|| corrupt("an unknown way to predict"))
            }
        }
    }
}

#[derive(Debug)]
struct Lorenzo<'a, V> {
    values: &'a mut [V],
    sizes: [usize; MOST],
    strides: [usize; MOST],
    block: usize,
    ways: Ways<'a>,
    quantiser: Quantiser<'a>,
    codes: Codes<'a>,
}

/// Reads a chunk of `values.len()` values; whether one layer predicts, and whether two do.
pub(super) fn decode<V: Value>(
    payload: &[u8],
    sizes: &[usize],
    (one, two): (bool, bool),
    values: &mut [V],
) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    let (block, ways) =
        if sizes.len() == 3 { volume_ways(&mut bytes, V::SIZE)? } else { ways(&mut bytes, sizes, one, two)? };
    // A neighbour of a neighbour is in the next block at most.
    if block < 2 {
        return Err(corrupt("a block is too small"));
    }
    let quantiser = Quantiser::parse(&mut bytes, V::SIZE)?;
    let codes = Codes::parse(&mut bytes)?;
    let mut all = [1; MOST];
    for (to, size) in all.iter_mut().rev().zip(sizes.iter().rev()) {
        *to = *size;
    }
    let [_, b, c, d] = all;
    let strides = [b * c * d, c * d, d, 1];
    Lorenzo { values, sizes: all, strides, block, ways, quantiser, codes }.run()
}

/// The sides of blocks, and how they are predicted.
fn ways<'a>(bytes: &mut Bytes<'a>, sizes: &[usize], one: bool, two: bool) -> Result<(usize, Ways<'a>)> {
    for size in sizes {
        if bytes.size()? != *size {
            return Err(corrupt("its dimensions are told in two ways"));
        }
    }
    let block = bytes.small_size()?;
    let (first, second) = (Stencil::of(sizes.len(), 1), Stencil::of(sizes.len(), 2));
    bytes.take(usize::from(one) + usize::from(two))?;
    if !one || !two {
        return Ok((block, Ways::One(if one { first } else { second })));
    }
    if bytes.size()? == 0 {
        return Err(corrupt("its blocks are not told"));
    }
    Ok((block, Ways::Selected(Codes::parse(bytes)?, [Some(first), Some(second), None])))
}

/// The same for three dimensions.
fn volume_ways<'a>(bytes: &mut Bytes<'a>, size: usize) -> Result<(usize, Ways<'a>)> {
    let block = bytes.small_size()?;
    let dimensions = bytes.small_size()?;
    bytes.take(36 + 8)?;
    let uses_mean = bytes.byte()? != 0;
    bytes.take(size)?;
    if uses_mean {
        return Err(unsupported("prediction by a mean"));
    }
    if bytes.size()? != 0 {
        return Err(unsupported("prediction by regression"));
    }
    let (first, second) = (Stencil::of_volume(dimensions, 1), Stencil::of_volume(dimensions, 2));
    Ok((block, Ways::Selected(Codes::parse(bytes)?, [Some(first), None, Some(second)])))
}

impl<V: Value> Lorenzo<'_, V> {
    fn run(&mut self) -> Result<()> {
        let mut begin = [0; MOST];
        loop {
            let stencil = self.ways.next()?;
            self.fill_block(begin, stencil)?;
            if !self.advance(&mut begin) {
                return Ok(());
            }
        }
    }

    /// Goes to the next block, if there is one.
    fn advance(&self, begin: &mut [usize; MOST]) -> bool {
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

    fn fill_block(&mut self, begin: [usize; MOST], stencil: Stencil) -> Result<()> {
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

    fn fill(&mut self, place: [usize; MOST], stencil: Stencil) -> Result<()> {
        let [s, t, u, v] = self.strides;
        let [a, b, c, d] = place;
        let at = a * s + b * t + c * u + d * v;
        let before = |away: [usize; MOST]| {
            if place.iter().zip(away).any(|(place, away)| *place < away) {
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
