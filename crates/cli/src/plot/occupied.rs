//! Where a dataset has something: which chunks are stored, and of sparse ones how many of their elements are defined.

use std::collections::HashMap;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use hyperslab::{Dataset, Layout, Region, Selection};

use super::image::{Axis, Image};
use super::numbers::{float, index};
use crate::selection::Taken;
use crate::values::blocks::blocks;

/// Cells that a chunk may touch to be added at once.
const FEW: u64 = 16;

/// Stored chunks of a sparse dataset of which each element is looked at; of more, the elements of a chunk count as spread
/// over it evenly.
const EACH: usize = 4096;

/// Shares of cells, chunk by chunk.
struct Shares<'a> {
    taken: &'a [Taken],
    /// Which dimensions are rows and columns; the others lie behind each other.
    drawn: [Option<usize>; 2],
    rows: Axis,
    columns: Axis,
    /// How much of a cell's room is taken.
    cells: Vec<f64>,
    /// What chunks behind each other add to many cells, so that it is added once.
    large: HashMap<[(u64, u64); 2], f64>,
}

/// The share of each cell of the last two dimensions that is stored, or defined.
pub(super) fn read(dataset: &Dataset, taken: &[Taken], (height, width): (u64, u64)) -> Result<Image> {
    if taken.iter().any(|dimension| dimension.step != 1) {
        bail!("--occupied shows whole ranges: leave the steps out of the selection");
    }
    let last = taken.len().checked_sub(1);
    let drawn = [last.and_then(|last| last.checked_sub(1)), last];
    let one = Taken { start: 0, step: 1, count: 1, kept: true };
    let structured = dataset.sparse().chunking();
    let shape = structured.as_ref().map(|chunking| chunking.shape.clone());
    let shape = shape.or_else(|| dataset.chunking().map(|chunking| chunking.shape)).unwrap_or_default();
    let regions = match &structured {
        Some(chunking) if chunking.sparse => regions(dataset, taken, &chunking.shape)?,
        _ => None,
    };
    // A cell is a chunk, or has several; or it has elements.
    let shape = if regions.is_some() { vec![1; taken.len()] } else { shape };
    let axis = |dimension: Option<usize>, most| {
        let taken = dimension.and_then(|dimension| taken.get(dimension)).unwrap_or(&one);
        let chunk = dimension.and_then(|dimension| shape.get(dimension)).copied().unwrap_or(1).max(1);
        let chunks = taken.count.div_ceil(chunk);
        let count = chunks.saturating_mul(chunk);
        Axis { start: taken.start, step: 1, count, cells: chunks.min(most).max(1) }
    };
    let (rows, columns) = (axis(drawn[0], height), axis(drawn[1], width));
    let cells = vec![0.0; index(rows.cells.saturating_mul(columns.cells))];
    let mut shares = Shares { taken, drawn, rows, columns, cells, large: HashMap::new() };
    if let Some(regions) = regions {
        for region in regions {
            shares.defined(dataset.sparse().defined(&region)?, dataset.dataspace().dims())?;
        }
    } else if let Some(chunking) = structured {
        let all = chunking.shape.iter().fold(1_u64, |all, size| all.saturating_mul(*size)).max(1);
        dataset.sparse().visit_chunks(|chunk| {
            let density = if chunking.sparse { float(chunk.defined) / float(all) } else { 1.0 };
            shares.add(&chunk.offset, &chunking.shape, density);
            ControlFlow::Continue(())
        })?;
    } else if let Layout::Chunked(chunking) = dataset.layout() {
        dataset.chunks().visit(|chunk| {
            shares.add(&chunk.offset, &chunking.shape, 1.0);
            ControlFlow::Continue(())
        })?;
    } else {
        bail!("`{}` is not in chunks: its elements are stored all together, or not at all", dataset.name());
    }
    Ok(shares.image())
}

/// What of the stored chunks is asked for, if they are few.
fn regions(dataset: &Dataset, taken: &[Taken], shape: &[u64]) -> Result<Option<Vec<Region>>> {
    let mut regions = Some(Vec::new());
    dataset.sparse().visit_chunks(|chunk| {
        let sides = chunk.offset.iter().zip(shape).zip(taken).map(|((at, size), taken)| {
            let end = at.saturating_add(*size).min(taken.start.saturating_add(taken.count));
            let start = (*at).max(taken.start);
            (start, end.saturating_sub(start))
        });
        let (start, count): (Vec<u64>, Vec<u64>) = sides.unzip();
        if let (Some(listed), false) = (&mut regions, count.contains(&0)) {
            listed.push(Region { start: start.into(), count: count.into() });
        }
        if regions.as_ref().is_some_and(|listed| listed.len() > EACH) {
            regions = None;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(regions)
}

impl Shares<'_> {
    /// Adds elements that are defined.
    fn defined(&mut self, selection: Selection, dims: &[u64]) -> Result<()> {
        if let Selection::Points(points) = &selection {
            let one = vec![1; points.rank];
            points.points().for_each(|point| self.add(point, &one, 1.0));
            return Ok(());
        }
        for block in blocks(selection, dims)? {
            let sides = block.start.iter().zip(&block.end);
            let shape: Vec<u64> =
                sides.map(|(start, end)| end.saturating_sub(*start).saturating_add(1)).collect();
            self.add(&block.start, &shape, 1.0);
        }
        Ok(())
    }

    /// Adds a chunk: to each cell, what of the cell's room it takes.
    fn add(&mut self, offset: &[u64], shape: &[u64], density: f64) {
        let mut depth = 1.0;
        let mut sides = [(0, 1), (0, 1)];
        for (dimension, ((at, size), taken)) in offset.iter().zip(shape).zip(self.taken).enumerate() {
            let end = at.saturating_add(*size);
            let start = (*at).max(taken.start);
            let inside = end.min(taken.start.saturating_add(taken.count));
            if start >= inside {
                return;
            }
            match self.drawn.iter().position(|drawn| *drawn == Some(dimension)) {
                Some(side) => {
                    if let Some(side) = sides.get_mut(side) {
                        *side = (start.saturating_sub(taken.start), end.saturating_sub(taken.start));
                    }
                }
                None => depth *= float(inside.saturating_sub(start)) / float(taken.count.max(1)),
            }
        }
        let share = depth * density;
        let [rows, columns] = sides;
        let touched = |axis: &Axis, (start, end): (u64, u64)| {
            axis.cell(end.saturating_sub(1)).saturating_sub(axis.cell(start)).saturating_add(1)
        };
        if touched(&self.rows, rows).saturating_mul(touched(&self.columns, columns)) > FEW {
            *self.large.entry([rows, columns]).or_default() += share;
        } else {
            self.paint([rows, columns], share);
        }
    }

    /// Adds a share to all cells between those places.
    fn paint(&mut self, [rows, columns]: [(u64, u64); 2], share: f64) {
        let across: Vec<(u64, f64)> = covered(&self.columns, columns).collect();
        for (row, high) in covered(&self.rows, rows) {
            let first = row.saturating_mul(self.columns.cells);
            for (column, wide) in &across {
                if let Some(cell) = self.cells.get_mut(index(first.saturating_add(*column))) {
                    *cell += share * high * wide;
                }
            }
        }
    }

    /// The shares, nothing where nothing is.
    fn image(mut self) -> Image {
        for (sides, share) in std::mem::take(&mut self.large) {
            self.paint(sides, share);
        }
        let cells = self.cells.into_iter().map(|share| if share > 0.0 { share.min(1.0) } else { f64::NAN });
        Image { rows: self.rows, columns: self.columns, cells: cells.collect() }
    }
}

/// The cells that a range of places touches, each with the share of it that is touched.
fn covered(axis: &Axis, (start, end): (u64, u64)) -> impl Iterator<Item = (u64, f64)> {
    let size = float(axis.count.max(1)) / float(axis.cells);
    let axis = *axis;
    let (first, last) = (axis.cell(start), axis.cell(end.saturating_sub(1)));
    (first..=last).map(move |cell| {
        let (low, high) = (float(cell) * size, float(cell.saturating_add(1)) * size);
        let inside = high.min(float(end)) - low.max(float(start));
        (cell, (inside / size).clamp(0.0, 1.0))
    })
}
