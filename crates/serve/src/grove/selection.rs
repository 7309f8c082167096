//! Selections in NumPy's notation, and their division into blocks.

use hyperslab::{Hyperslab, RegularHyperslab, Selection};
use hyperslab_exact::to_usize;

use super::Failure;

/// The largest number of bytes of one block that holds whole chunks, as a multiple of the usual
/// size of a block.
const CHUNK_ROWS: u64 = 4;

/// The selected positions of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Positions {
    start: u64,
    step: u64,
    count: u64,
    /// If true, the dimension stays in the shape of the result. A single index removes it.
    kept: bool,
}

/// The selected elements of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slab {
    positions: Vec<Positions>,
}

impl Slab {
    /// Parses a selection such as `5`, `1,2:5` or `0:10:5,2,3:`. Dimensions without an entry are
    /// selected whole.
    pub(super) fn parse(text: Option<&str>, dims: &[u64]) -> Result<Self, Failure> {
        let whole = |size: u64| Positions { start: 0, step: 1, count: size, kept: true };
        let mut positions = Vec::with_capacity(dims.len());
        if let Some(text) = text {
            let members: Vec<&str> = text.split(',').collect();
            if members.len() > dims.len() {
                let rank = dims.len();
                return Err(Failure::refused(format!(
                    "{text} has too many members to slice a {rank}D dataset"
                )));
            }
            for (member, size) in members.iter().zip(dims) {
                positions.push(parse_member(member, *size)?);
            }
        }
        positions.extend(dims.iter().skip(positions.len()).map(|size| whole(*size)));
        Ok(Self { positions })
    }

    /// Returns the shape of the selected elements, without the dimensions of single indexes.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.positions.iter().filter(|positions| positions.kept).map(|positions| positions.count).collect()
    }

    /// Returns the number of selected elements.
    pub(super) fn count(&self) -> Result<u64, Failure> {
        let count =
            self.positions.iter().try_fold(1_u64, |count, positions| count.checked_mul(positions.count));
        count.ok_or_else(|| Failure::refused("the selection has more than 2^64 elements"))
    }

    /// Returns the blocks whose elements, one block after another, are the selected elements in C
    /// order. A block has about `bytes` bytes; more, if it then holds whole chunks.
    pub(super) fn blocks(&self, element_bytes: u64, chunk: Option<&[u64]>, bytes: u64) -> Blocks {
        let mut inner = element_bytes.max(1);
        let mut split = self.positions.len();
        for positions in self.positions.iter().rev() {
            match inner.checked_mul(positions.count) {
                Some(larger) if larger <= bytes => inner = larger,
                _ => break,
            }
            split -= 1;
        }
        let axis = split.checked_sub(1);
        let rows = bytes.checked_div(inner).unwrap_or(1).max(1);
        let step = axis.and_then(|axis| self.positions.get(axis)).map_or(1, |positions| positions.step);
        let chunk = axis.and_then(|axis| chunk?.get(axis).copied()).unwrap_or(1);
        // The number of selected rows in one row of chunks.
        let chunk_rows = chunk.div_ceil(step).max(1);
        let fits = inner.checked_mul(chunk_rows).is_some_and(|size| size / CHUNK_ROWS <= bytes);
        let rows = if rows >= chunk_rows {
            rows - rows % chunk_rows
        } else if fits {
            chunk_rows
        } else {
            rows
        };
        let empty = self.positions.iter().any(|positions| positions.count == 0);
        let next = (!empty).then(|| vec![0; self.positions.len()]);
        Blocks { slab: self.clone(), axis, rows, chunk, next }
    }
}

/// An iterator over the blocks of a selection.
#[derive(Debug)]
pub(super) struct Blocks {
    slab: Slab,
    /// The dimension that is divided; the dimensions before it have one position in a block, and
    /// those after it all positions. `None` if the only block has all elements.
    axis: Option<usize>,
    /// The number of positions of the divided dimension in a block.
    rows: u64,
    /// The length of chunks in the divided dimension.
    chunk: u64,
    /// The position of the next block in each dimension; `None` after the last block.
    next: Option<Vec<u64>>,
}

/// A block of selected elements.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) selection: Selection,
    /// The number of elements.
    pub(super) count: usize,
}

impl Blocks {
    /// Returns true if there is no further block.
    pub(super) fn is_finished(&self) -> bool {
        self.next.is_none()
    }

    /// Returns the number of positions of the divided dimension from `position` to the end of the
    /// block: the first block ends at the end of a chunk, as all others do.
    fn rows_from(&self, positions: &Positions, position: u64) -> u64 {
        let rest = positions.count - position;
        let wanted = if positions.step == 1 && self.chunk > 1 && self.rows >= self.chunk {
            self.rows - (positions.start + position) % self.chunk
        } else {
            self.rows
        };
        rest.min(wanted)
    }

    fn advance(&mut self, rows: u64) {
        let Some(next) = &mut self.next else { return };
        let Some(axis) = self.axis else {
            self.next = None;
            return;
        };
        for (number, (position, positions)) in
            next.iter_mut().zip(&self.slab.positions).enumerate().take(axis + 1).rev()
        {
            *position += if number == axis { rows } else { 1 };
            if *position < positions.count {
                return;
            }
            *position = 0;
        }
        self.next = None;
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next.clone()?;
        let mut taken = 1;
        let (mut starts, mut steps, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut total = Some(1_u64);
        for (number, (positions, position)) in self.slab.positions.iter().zip(&next).enumerate() {
            let count = match self.axis {
                Some(axis) if number < axis => 1,
                Some(axis) if number == axis => {
                    taken = self.rows_from(positions, *position);
                    taken
                }
                _ => positions.count,
            };
            starts.push(positions.start + position * positions.step);
            steps.push(positions.step);
            counts.push(count);
            total = total.and_then(|total| total.checked_mul(count));
        }
        self.advance(taken);
        let selection = if counts.is_empty() {
            Selection::All
        } else {
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(&starts, &steps, &counts)))
        };
        let count = total.and_then(|total| to_usize(total).ok());
        Some(match count {
            Some(count) => Ok(Block { selection, count }),
            None => Err(Failure::refused("the selection has too many elements")),
        })
    }
}

fn parse_member(member: &str, size: u64) -> Result<Positions, Failure> {
    let invalid = || Failure::refused(format!("{member} is not a valid slice"));
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| invalid());
    let optional = |text: &str| if text.is_empty() { Ok(None) } else { number(text).map(Some) };
    let parts: Vec<&str> = member.split(':').collect();
    let (start, stop, step) = match parts.as_slice() {
        [index] => return single(number(index)?, size),
        [start, stop] => (optional(start)?, optional(stop)?, None),
        [start, stop, step] => (optional(start)?, optional(stop)?, optional(step)?),
        _ => return Err(invalid()),
    };
    let step = u64::try_from(step.unwrap_or(1)).ok().filter(|step| *step > 0);
    let step = step.ok_or_else(|| Failure::refused(format!("the step of {member} must be at least 1")))?;
    let start = start.map_or(0, |start| clamped(start, size));
    let stop = stop.map_or(size, |stop| clamped(stop, size)).max(start);
    let count = (stop - start).div_ceil(step);
    // A step beyond the end selects one position.
    Ok(Positions { start, step: if count > 1 { step } else { 1 }, count, kept: true })
}

fn single(index: i64, size: u64) -> Result<Positions, Failure> {
    let from_end = || size.checked_sub(index.unsigned_abs());
    let start = if index < 0 { from_end() } else { Some(index.unsigned_abs()) };
    match start.filter(|start| *start < size) {
        Some(start) => Ok(Positions { start, step: 1, count: 1, kept: false }),
        None => Err(Failure::refused(format!("index {index} is out of range for a dimension of {size}"))),
    }
}

/// Returns a bound of a slice as a position. Negative bounds count from the end, and bounds outside
/// the dimension mean its ends.
fn clamped(bound: i64, size: u64) -> u64 {
    let distance = bound.unsigned_abs().min(size);
    if bound < 0 { size - distance } else { distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(text: &str, dims: &[u64]) -> Result<Slab, Failure> {
        Slab::parse(Some(text), dims)
    }

    #[test]
    fn slices_are_those_of_numpy() {
        assert_eq!(slab("5", &[10, 3]).unwrap().shape(), [3]);
        assert_eq!(slab("1,2:5", &[10, 9]).unwrap().shape(), [3]);
        assert_eq!(slab("0:10:5,2,3:", &[10, 4, 8]).unwrap().shape(), [2, 5]);
        assert_eq!(slab("-3:", &[10]).unwrap().shape(), [3]);
        assert_eq!(slab(":-3", &[10]).unwrap().shape(), [7]);
        assert_eq!(slab("7:2", &[10]).unwrap().shape(), [0]);
        assert_eq!(slab("0:99", &[10]).unwrap().shape(), [10]);
        assert_eq!(slab("-1", &[10]).unwrap(), slab("9", &[10]).unwrap());
        for wrong in ["10", "-11", "a", "", "1,2", "::0", "::-1", "1:2:3:4", "9223372036854775808"] {
            assert_eq!(slab(wrong, &[10]).unwrap_err().status, 422, "{wrong}");
        }
        assert_eq!(slab("1", &[]).unwrap_err().status, 422);
        assert_eq!(Slab::parse(None, &[]).unwrap().shape(), [0_u64; 0]);
    }

    /// Returns the flat positions of all blocks.
    fn covered(text: &str, dims: &[u64], chunk: Option<&[u64]>, bytes: u64) -> (Vec<u64>, usize) {
        let slab = slab(text, dims).unwrap();
        let (mut all, mut number) = (Vec::new(), 0);
        for block in slab.blocks(1, chunk, bytes) {
            let block = block.unwrap();
            let before = all.len();
            for run in block.selection.linear_runs(dims).unwrap() {
                all.extend(run.offset..run.offset + run.length);
            }
            assert_eq!(all.len() - before, block.count);
            number += 1;
        }
        (all, number)
    }

    #[test]
    fn blocks_are_the_selection_in_c_order() {
        for text in [":", "1:9:3", "3", "2:5,1:6:2", ":,4", ":,:,1:3", "0:0"] {
            let dims = [10, 7, 5];
            let (whole, number) = covered(text, &dims, None, u64::MAX);
            assert!(number <= 1);
            for bytes in 1..80 {
                for chunk in [None, Some(&[4, 3, 2][..])] {
                    assert_eq!(covered(text, &dims, chunk, bytes).0, whole, "{text} {bytes} {chunk:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_end_at_chunks() {
        let slab = slab("1:", &[10, 4]).unwrap();
        let rows = slab.blocks(1, Some(&[3, 4]), 14).map(|block| block.unwrap().count / 4);
        assert!(rows.eq([2, 3, 3, 1]));
    }
}
