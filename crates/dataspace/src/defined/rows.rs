//! From offsets, which ascend, to coordinates.

use super::DefinedSet;
use super::divisor::Unravel;
use crate::Dims;
use std::ops::Range;

/// The coordinates of offsets that ascend. A row is left with as few divisions as can be.
#[derive(Debug)]
pub(super) struct Rows {
    dims: Dims,
    /// Elements of a row.
    columns: u64,
    /// The offset of the first element of the row in hand.
    row: u64,
    /// Those of the element in hand.
    coordinates: Dims,
}

impl Rows {
    pub(super) fn new(dims: &[u64]) -> Self {
        let coordinates = Dims::from_elem(0, dims.len());
        let columns = dims.last().copied().unwrap_or(0).max(1);
        Self { dims: dims.into(), columns, row: 0, coordinates }
    }

    /// Goes to an element that lies not before the row in hand, and tells its column.
    #[inline]
    fn go(&mut self, offset: u64) -> u64 {
        let way = offset - self.row;
        if way >= self.columns {
            self.go_down(way);
        }
        let column = offset - self.row;
        if let Some(last) = self.coordinates.last_mut() {
            *last = column;
        }
        column
    }

    fn go_down(&mut self, way: u64) {
        let mut rows = match (u32::try_from(way), u32::try_from(self.columns)) {
            (Ok(way), Ok(columns)) => u64::from(way / columns),
            _ => way / self.columns,
        };
        self.row += rows * self.columns;
        for (at, size) in self.coordinates.iter_mut().zip(&self.dims).rev().skip(1) {
            *at += rows;
            if *at < *size {
                break;
            }
            rows = *at / size;
            *at %= size;
        }
    }
}

impl DefinedSet {
    /// As [`DefinedSet::for_each_run`], with runs cut at the ends of rows: the coordinates of the first element,
    /// how many defined elements of the box stand before it, and how many there are.
    pub fn for_each_row_run(&self, range: Range<u64>, mut visit: impl FnMut(&[u64], u64, u64)) {
        let mut rows = Rows::new(&self.dims);
        self.for_each_run(range, |mut offset, mut position, mut count| {
            while count > 0 {
                let taken = count.min(rows.columns - rows.go(offset));
                visit(&rows.coordinates, position, taken);
                offset += taken;
                position += taken;
                count -= taken;
            }
        });
    }

    /// Visits the coordinates of all defined elements of a box of the rank `R` in ascending order.
    pub fn for_each_point<const R: usize>(&self, mut visit: impl FnMut([u64; R])) {
        if self.dims.len() != R {
            return;
        }
        let unravel = Unravel::new(&self.dims, self.total);
        self.for_each_offset(|offset| visit(unravel.coordinates(offset)));
    }
}
