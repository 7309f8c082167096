//! Reads of lists of coordinates together with the elements between them.
//!
//! Many short runs of elements take longer than one read of the whole range with the same elements.
//! A cover reads, along the fastest dimension, the range from the first to the last listed
//! coordinate, and keeps the listed elements. It proceeds in bands of bounded size along the
//! slowest dimension.

use hyperslab_engine::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};

use super::plan::{Ascending, Grid, combined};
use crate::Selection;

/// The number of bytes between two runs that take less time to read than the start of a new run.
const GAP_BYTES: u64 = 512;

/// The largest number of bytes of a band.
const BAND_BYTES: u64 = 16 << 20;

/// A read of the elements of lists, together with the elements between them.
pub(crate) struct Cover<'a> {
    /// The coordinates of all dimensions except the fastest.
    slower: &'a [Ascending],
    /// The blocks of coordinates of the fastest dimension, each with its first and last coordinate.
    blocks: &'a [(u64, u64)],
    /// The first coordinate of the fastest dimension.
    first: u64,
    /// The number of coordinates from the first to the last one in the fastest dimension.
    span: u64,
    /// The size of an element in bytes.
    size: usize,
    /// The number of coordinates of the slowest dimension in one band.
    band: u64,
}

impl Grid {
    /// Returns a read that covers the listed elements of `size` bytes. Returns `None` if single
    /// reads of their runs take less time or memory.
    pub(crate) fn cover(&self, size: usize) -> Option<Cover<'_>> {
        let (Ascending::Blocks(blocks), slower) = self.axes.split_last()? else { return None };
        let (first, last) = (blocks.first()?.0, blocks.last()?.1);
        let span = (last - first).checked_add(1)?;
        let row = span.checked_mul(to_u64(size))?;
        if row > GAP_BYTES.checked_mul(to_u64(blocks.len()))? {
            return None;
        }
        let mut middle = slower.iter().skip(1).map(Ascending::len);
        let bytes = middle.try_fold(row, u64::checked_mul)?;
        let band = BAND_BYTES.checked_div(bytes).filter(|band| *band > 0)?;
        Some(Cover { slower, blocks, first, span, size, band })
    }
}

impl Cover<'_> {
    /// Reads the listed elements into `out`, in C order. The function `read` returns the elements
    /// of a selection in C order.
    pub(crate) fn read(&self, out: &mut [u8], read: impl Fn(&Selection) -> Result<Vec<u8>>) -> Result<()> {
        let total = self.slower.first().map_or(1, Ascending::len);
        let (mut from, mut rest) = (0, out);
        while from < total {
            let to = total.min(from + self.band);
            let mut axes = self.slower.to_vec();
            if let Some(slowest) = axes.first_mut() {
                *slowest = slowest.part(from, to);
            }
            axes.push(Ascending::Regular { start: self.first, count: self.span, step: 1 });
            rest = self.keep(&read(&combined(&axes)?)?, rest)?;
            from = to;
        }
        if rest.is_empty() { Ok(()) } else { Err(lost()) }
    }

    /// Copies the listed elements of a band to the start of `out`. Returns the remainder of `out`.
    fn keep<'o>(&self, band: &[u8], out: &'o mut [u8]) -> Result<&'o mut [u8]> {
        let mut rest = out;
        for row in band.chunks_exact(to_usize(self.span)? * self.size) {
            for (first, last) in self.blocks {
                let (start, end) = (to_usize(first - self.first)?, to_usize(last - self.first)? + 1);
                let run = row.get(start * self.size..end * self.size).ok_or_else(lost)?;
                let (now, after) = rest.split_at_mut_checked(run.len()).ok_or_else(lost)?;
                now.copy_from_slice(run);
                rest = after;
            }
        }
        Ok(rest)
    }
}

fn lost() -> Error {
    Error::internal("read of index lists", "the bands have all listed elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_need_neighbouring_lists_and_small_bands() {
        let every = |distance: u64| Ascending::Blocks(vec![(5, 5), (5 + distance, 6 + distance)]);
        let grid = |slowest: u64, last| Grid {
            axes: vec![Ascending::Regular { start: 0, count: slowest, step: 1 }, last],
        };
        assert_eq!(grid(7, every(100)).cover(8).unwrap().span, 102);
        assert!(grid(7, every(200)).cover(8).is_none());
        let regular = Ascending::Regular { start: 0, count: 7, step: 3 };
        assert!(grid(7, regular).cover(8).is_none());
        let long = Ascending::Blocks((0..1 << 20).map(|at| (at * 3, at * 3)).collect());
        assert!(grid(1, long).cover(8).is_none());
    }

    #[test]
    fn bands_join_to_the_listed_elements() {
        let slowest = Ascending::Blocks(vec![(1, 3), (6, 6), (8, 9)]);
        let grid = Grid { axes: vec![slowest, Ascending::Blocks(vec![(0, 1), (3, 3)])] };
        let mut cover = grid.cover(1).unwrap();
        for band in 1..8 {
            cover.band = band;
            let mut out = [0; 18];
            let elements = |selection: &Selection| {
                let runs = selection.linear_runs(&[10, 5]).unwrap();
                Ok(runs
                    .flat_map(|run| run.offset..run.offset + run.length)
                    .map(|at| u8::try_from(at).unwrap())
                    .collect())
            };
            cover.read(&mut out, elements).unwrap();
            assert_eq!(out, [5, 6, 8, 10, 11, 13, 15, 16, 18, 30, 31, 33, 40, 41, 43, 45, 46, 48], "{band}");
        }
    }
}
