//! From offsets, which ascend, to coordinates.

use super::DefinedSet;
use crate::{Dims, strides};
use std::ops::Range;

/// The coordinates of offsets that ascend. A row is left with as few divisions as can be.
#[derive(Debug)]
pub(super) struct Rows {
    dims: Dims,
    strides: Dims,
    /// Elements of a row.
    columns: u64,
    /// The offset of the first element of the row in hand.
    row: u64,
    /// Those of the element in hand.
    coordinates: Dims,
    /// The highest ones of a box.
    end: Dims,
}

impl Rows {
    pub(super) fn new(dims: &[u64]) -> Self {
        let coordinates = Dims::from_elem(0, dims.len());
        let columns = dims.last().copied().unwrap_or(0).max(1);
        Self {
            dims: dims.into(),
            strides: strides(dims),
            columns,
            row: 0,
            end: coordinates.clone(),
            coordinates,
        }
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

    /// Visits the boxes that a run consists of, fewer than twice the rank: lowest and highest coordinates.
    #[inline]
    pub(super) fn boxes(&mut self, mut offset: u64, mut count: u64, mut visit: impl FnMut(&[u64], &[u64])) {
        while count > 0 {
            let column = self.go(offset);
            let taken = if count <= self.columns - column && (column > 0 || count < self.columns) {
                self.end.copy_from_slice(&self.coordinates);
                if let Some(last) = self.end.last_mut() {
                    *last += count - 1;
                }
                count
            } else {
                self.largest_box(count)
            };
            visit(&self.coordinates, &self.end);
            offset += taken;
            count -= taken;
        }
    }

    /// Sets the end of the largest box of the next elements, and tells how many these are.
    fn largest_box(&mut self, count: u64) -> u64 {
        let is_first = |dimension: usize| self.coordinates.get(dimension) == Some(&0);
        let mut dimension = self.dims.len().saturating_sub(1);
        while let Some(slower) = dimension.checked_sub(1)
            && is_first(dimension)
            && self.strides.get(slower).is_some_and(|stride| count >= *stride)
        {
            dimension = slower;
        }
        let field = |values: &Dims| values.get(dimension).copied().unwrap_or(1);
        let (at, stride) = (field(&self.coordinates), field(&self.strides));
        let steps = (count / stride).min(field(&self.dims) - at);
        for (faster, (end, size)) in self.end.iter_mut().zip(&self.dims).enumerate() {
            *end = match faster.cmp(&dimension) {
                std::cmp::Ordering::Less => self.coordinates.get(faster).copied().unwrap_or(0),
                std::cmp::Ordering::Equal => at + (steps - 1),
                std::cmp::Ordering::Greater => size - 1,
            };
        }
        steps * stride
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
}
