//! Which parts of two datasets of one shape are to be compared: a grid of boxes, of which those are left out where neither
//! dataset has stored anything.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use anyhow::Result;
use hyperslab::{Dataset, Layout, Region};

/// Boxes that are kept in mind; where more have something stored, all are compared.
const MOST_BOXES: usize = 1 << 20;

/// A grid of boxes over a dataset.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    dims: Vec<u64>,
    shape: Vec<u64>,
}

/// What of a dataset is stored.
#[derive(Debug)]
enum Stored {
    /// Nothing.
    Nothing,
    /// Some chunks.
    Chunks,
    /// It is not known, or all.
    All,
}

impl Grid {
    pub(super) fn new(dims: &[u64], shape: &[u64]) -> Self {
        let shape = shape.iter().map(|size| (*size).max(1)).collect();
        Self { dims: dims.to_vec(), shape }
    }

    /// Boxes that follow each other as the elements do in C order: some rows each, or parts of one row.
    pub(super) fn in_order(dims: &[u64], elements: u64) -> Self {
        let mut shape = vec![1; dims.len()];
        let mut left = elements.max(1);
        for (place, size) in shape.iter_mut().zip(dims).rev() {
            *place = left.min((*size).max(1));
            if *place < *size {
                break;
            }
            left = (left / *place).max(1);
        }
        Self { dims: dims.to_vec(), shape }
    }

    /// The same, but that dimensions are cut between single coordinates unless they may be cut anywhere, or are not cut.
    pub(super) fn cut(mut self, anywhere: &[bool]) -> Self {
        for ((place, size), anywhere) in self.shape.iter_mut().zip(&self.dims).zip(anywhere) {
            if *place < *size && !anywhere {
                *place = 1;
            }
        }
        self
    }

    /// Boxes in each dimension.
    fn counts(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
        self.dims.iter().zip(&self.shape).map(|(size, shape)| size.div_ceil(*shape))
    }

    /// The number of boxes; as many as there can be, if there are more.
    pub(super) fn len(&self) -> u64 {
        self.counts().fold(1, u64::saturating_mul)
    }

    /// The box of that number.
    pub(super) fn region(&self, number: u64) -> Result<Region> {
        let mut rest = number;
        let (mut start, mut count) = (vec![0; self.dims.len()], self.shape.clone());
        let places = start.iter_mut().zip(count.iter_mut());
        let sizes = self.dims.iter().zip(&self.shape);
        for (((start, count), (size, shape)), boxes) in places.zip(sizes).zip(self.counts()).rev() {
            *start = rest.checked_rem(boxes).unwrap_or(0).saturating_mul(*shape);
            *count = (*shape).min(size.saturating_sub(*start));
            rest = rest.checked_div(boxes).unwrap_or(0);
        }
        Ok(Region::new(&start, &count)?)
    }

    /// The boxes in which one of the datasets has something stored; `None` if that may be in all.
    pub(super) fn stored(&self, datasets: [&Dataset; 2]) -> Result<Option<BTreeSet<u64>>> {
        let mut boxes = Some(BTreeSet::new());
        for dataset in datasets {
            match stored(dataset) {
                Stored::Nothing => {}
                Stored::All => return Ok(None),
                Stored::Chunks => self.add_chunks(dataset, &mut boxes)?,
            }
        }
        Ok(boxes)
    }

    /// Adds the boxes that the dataset's chunks touch, unless they are too many.
    fn add_chunks(&self, dataset: &Dataset, boxes: &mut Option<BTreeSet<u64>>) -> Result<()> {
        if let Some(chunking) = dataset.sparse().chunking() {
            dataset.sparse().visit_chunks(|chunk| {
                self.add(&chunk.offset, &chunking.shape, boxes);
                ControlFlow::Continue(())
            })?;
        } else if let Some(chunking) = dataset.chunking() {
            dataset.chunks().visit(|chunk| {
                self.add(&chunk.offset, &chunking.shape, boxes);
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }

    fn add(&self, offset: &[u64], chunk: &[u64], all: &mut Option<BTreeSet<u64>>) {
        let Some(boxes) = all else { return };
        // The first and the last box in each dimension, and how many there are.
        let mut ranges = Vec::with_capacity(self.dims.len());
        let sizes = offset.iter().zip(chunk).zip(self.dims.iter().zip(&self.shape));
        for ((start, chunk), (size, shape)) in sizes {
            let end = start.saturating_add((*chunk).max(1)).min(*size);
            if end <= *start {
                return;
            }
            ranges.push((start / shape, end.saturating_sub(1) / shape));
        }
        let touched = ranges.iter().map(|(first, last)| last.saturating_sub(*first).saturating_add(1));
        let touched = touched.fold(1, u64::saturating_mul);
        let room = u64::try_from(MOST_BOXES.saturating_sub(boxes.len())).unwrap_or(0);
        if touched > room {
            *all = None;
            return;
        }
        for number in 0..touched {
            boxes.insert(self.number(&ranges, number));
        }
    }

    /// The number of a box among all, by its number among those in the ranges.
    fn number(&self, ranges: &[(u64, u64)], within: u64) -> u64 {
        let (mut rest, mut factor, mut number) = (within, 1_u64, 0_u64);
        for ((first, last), boxes) in ranges.iter().zip(self.counts()).rev() {
            let count = last.saturating_sub(*first).saturating_add(1);
            let at = first.saturating_add(rest % count.max(1));
            rest /= count.max(1);
            number = number.saturating_add(at.saturating_mul(factor));
            factor = factor.saturating_mul(boxes);
        }
        number
    }
}

fn stored(dataset: &Dataset) -> Stored {
    match dataset.layout() {
        Layout::Contiguous { address: None } if dataset.external_files().is_empty() => Stored::Nothing,
        Layout::Chunked(_) | Layout::Structured => Stored::Chunks,
        _ => Stored::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(grid: &Grid) -> Vec<(Vec<u64>, Vec<u64>)> {
        let region = |number| grid.region(number).unwrap();
        (0..grid.len()).map(region).map(|region| (region.start.to_vec(), region.count.to_vec())).collect()
    }

    #[test]
    fn boxes_in_order_are_rows_or_parts_of_them() {
        let rows = Grid::in_order(&[5, 4], 8);
        assert_eq!(
            regions(&rows),
            [(vec![0, 0], vec![2, 4]), (vec![2, 0], vec![2, 4]), (vec![4, 0], vec![1, 4])]
        );
        let parts = Grid::in_order(&[2, 5], 3);
        assert_eq!(
            regions(&parts).iter().map(|(start, _)| start.clone()).collect::<Vec<_>>(),
            [[0, 0], [0, 3], [1, 0], [1, 3]]
        );
        assert_eq!(regions(&Grid::in_order(&[], 3)), [(vec![], vec![])]);
        assert!(regions(&Grid::in_order(&[3, 0], 3)).is_empty());
    }

    #[test]
    fn chunks_touch_boxes() {
        let grid = Grid::new(&[10, 10], &[4, 5]);
        let mut boxes = Some(BTreeSet::new());
        grid.add(&[3, 3], &[3, 3], &mut boxes);
        assert_eq!(boxes.clone().unwrap().into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        grid.add(&[9, 9], &[3, 3], &mut boxes);
        assert!(boxes.as_ref().unwrap().contains(&5));
        let vast = Grid::new(&[1 << 40, 1 << 20], &[1, 1]);
        vast.add(&[0, 0], &[1 << 20, 1 << 20], &mut boxes);
        assert_eq!(boxes, None);
    }
}
