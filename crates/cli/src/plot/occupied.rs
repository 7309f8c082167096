//! The plot of the stored parts of a dataset: the stored chunks, or the defined elements of a
//! sparse dataset.

use std::collections::HashMap;
use std::ops::ControlFlow;

use anyhow::{Context as _, Result, bail};
use hyperslab::{Dataset, Region, Selection};
use hyperslab_exact::to_u64;

use super::casts::float;
use super::image::{Image, Span};
use crate::selection::Taken;
use crate::values::blocks::blocks;

/// The largest number of plot cells that a chunk may cover if its share is added to the cells
/// directly. Shares of larger chunks are first summed by position, because many chunks may cover
/// the same cells.
const MAX_DIRECT_CELLS: usize = 16;

/// The largest number of stored chunks for which the plot of a sparse dataset shows each defined
/// element. With more chunks, the plot shows the mean density of each chunk.
const MAX_EXACT_CHUNKS: usize = 4096;

/// The stored or defined share of each plot cell, while chunks are added.
struct Shares<'a> {
    taken: &'a [Taken],
    /// The dimensions of the rows and columns. Cells cover all coordinates of the other dimensions.
    drawn: [Option<usize>; 2],
    rows: Span,
    columns: Span,
    /// The share of each cell that is stored or defined.
    cells: Vec<f64>,
    /// The sums of the shares of large chunks, by the cells that they cover.
    large: HashMap<[(u64, u64); 2], f64>,
}

/// Returns an image of the last two dimensions. The value of a cell is the share of its elements
/// that are stored or defined.
pub(super) fn read(dataset: &Dataset, taken: &[Taken], (height, width): (usize, usize)) -> Result<Image> {
    if taken.iter().any(|dimension| dimension.step != 1) {
        bail!("--occupied needs a selection without steps");
    }
    let last = taken.len().checked_sub(1);
    let drawn = [last.and_then(|last| last.checked_sub(1)), last];
    let one = Taken { start: 0, step: 1, count: 1, kept: true };
    let structured = dataset.sparse().chunking();
    let shape = structured.as_ref().map(|chunking| chunking.shape.clone());
    let shape = shape.or_else(|| dataset.chunking().map(|chunking| chunking.shape));
    let Some(shape) = shape else {
        bail!("`{}` is not chunked: its elements are stored as a whole or not at all", dataset.name());
    };
    let regions = match &structured {
        Some(chunking) if chunking.sparse => regions(dataset, taken, &chunking.shape)?,
        _ => None,
    };
    // Without regions, a cell covers one chunk or several. With regions, it covers elements.
    let cell_shape = if regions.is_some() { vec![1; taken.len()] } else { shape.clone() };
    let axis = |dimension: Option<usize>, max_cells: usize| {
        let taken = dimension.and_then(|dimension| taken.get(dimension)).unwrap_or(&one);
        let chunk = dimension.and_then(|dimension| cell_shape.get(dimension)).copied().unwrap_or(1).max(1);
        let chunks = taken.count.div_ceil(chunk);
        // The last chunk may end beyond 64 bits. No coordinate lies there.
        let count = chunks.saturating_mul(chunk);
        let cells = usize::try_from(chunks).map_or(max_cells, |chunks| chunks.min(max_cells)).max(1);
        Span { start: taken.start, step: 1, count, cells }
    };
    let (rows, columns) = (axis(drawn[0], height), axis(drawn[1], width));
    let cells =
        vec![0.0; rows.cells.checked_mul(columns.cells).context("the picture would have too many cells")?];
    let mut shares = Shares { taken, drawn, rows, columns, cells, large: HashMap::new() };
    if let Some(regions) = regions {
        for region in regions {
            shares.defined(dataset.sparse().defined(&region)?, dataset.dataspace().dims())?;
        }
    } else if let Some(chunking) = structured {
        let elements: f64 = chunking.shape.iter().map(|size| float(*size)).product();
        dataset.sparse().visit_chunks(|chunk| {
            let density = if chunking.sparse { float(chunk.defined) / elements.max(1.0) } else { 1.0 };
            shares.add(&chunk.offset, &chunking.shape, density);
            ControlFlow::Continue(())
        })?;
    } else {
        dataset.chunks().visit(|chunk| {
            shares.add(&chunk.offset, &shape, 1.0);
            ControlFlow::Continue(())
        })?;
    }
    Ok(shares.image())
}

/// Returns the selected parts of the dataset's stored chunks. Returns `None` if the dataset has
/// more than `MAX_EXACT_CHUNKS` stored chunks.
fn regions(dataset: &Dataset, taken: &[Taken], shape: &[u64]) -> Result<Option<Vec<Region>>> {
    let mut regions = Some(Vec::new());
    dataset.sparse().visit_chunks(|chunk| {
        let sides = chunk.offset.iter().zip(shape).zip(taken).map(|((at, size), taken)| {
            let end = end_of(*at, *size).min(end_of(taken.start, taken.count));
            let start = (*at).max(taken.start);
            (start < end).then(|| (start, end - start))
        });
        let inside: Option<(Vec<u64>, Vec<u64>)> = sides.collect();
        if let (Some(listed), Some((start, count))) = (&mut regions, inside) {
            listed.push(Region { start: start.into(), count: count.into() });
        }
        if regions.as_ref().is_some_and(|listed| listed.len() > MAX_EXACT_CHUNKS) {
            regions = None;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(regions)
}

/// Returns the end of a range of coordinates in a chunk. Chunk offsets come from the file. An end
/// beyond 64 bits becomes the largest number, which lies beyond every selection.
fn end_of(start: u64, count: u64) -> u64 {
    start.saturating_add(count)
}

impl Shares<'_> {
    /// Adds the defined elements of a selection to the shares of their plot cells.
    fn defined(&mut self, selection: Selection, dims: &[u64]) -> Result<()> {
        if let Selection::Points(points) = &selection {
            let one = vec![1; points.rank];
            points.points().for_each(|point| self.add(point, &one, 1.0));
            return Ok(());
        }
        for block in blocks(selection, dims)? {
            let sides = block.start.iter().zip(&block.end);
            let shape: Vec<u64> = sides.map(|(start, end)| end_of(end.abs_diff(*start), 1)).collect();
            self.add(&block.start, &shape, 1.0);
        }
        Ok(())
    }

    /// Adds a chunk to the shares of the plot cells that it covers.
    fn add(&mut self, offset: &[u64], shape: &[u64], density: f64) {
        let mut depth = 1.0;
        let mut sides = [(0, 1), (0, 1)];
        for (dimension, ((at, size), taken)) in offset.iter().zip(shape).zip(self.taken).enumerate() {
            let end = end_of(*at, *size);
            let start = (*at).max(taken.start);
            let inside = end.min(end_of(taken.start, taken.count));
            if start >= inside {
                return;
            }
            match self.drawn.iter().position(|drawn| *drawn == Some(dimension)) {
                Some(side) => {
                    if let Some(side) = sides.get_mut(side) {
                        *side = (start - taken.start, end - taken.start);
                    }
                }
                None => depth *= float(inside - start) / float(taken.count.max(1)),
            }
        }
        let share = depth * density;
        let [rows, columns] = sides;
        let touched = |axis: &Span, (start, end): (u64, u64)| axis.cell(end - 1) - axis.cell(start) + 1;
        if touched(&self.rows, rows) * touched(&self.columns, columns) > MAX_DIRECT_CELLS {
            *self.large.entry([rows, columns]).or_default() += share;
        } else {
            self.paint([rows, columns], share);
        }
    }

    /// Adds a share to all plot cells in a rectangle of positions. If the rectangle covers a cell
    /// partly, adds a proportional part.
    fn paint(&mut self, [rows, columns]: [(u64, u64); 2], share: f64) {
        let across: Vec<(usize, f64)> = covered(&self.columns, columns).collect();
        for (row, high) in covered(&self.rows, rows) {
            let first = row * self.columns.cells;
            for (column, wide) in &across {
                if let Some(cell) = self.cells.get_mut(first + column) {
                    *cell += share * high * wide;
                }
            }
        }
    }

    /// Returns the shares of the plot cells as an image. Cells with a share of zero are empty.
    fn image(mut self) -> Image {
        for (sides, share) in std::mem::take(&mut self.large) {
            self.paint(sides, share);
        }
        let cells = self.cells.into_iter().map(|share| if share > 0.0 { share.min(1.0) } else { f64::NAN });
        Image { rows: self.rows, columns: self.columns, cells: cells.collect() }
    }
}

/// Returns the plot cells that overlap a range of positions. Each cell comes with the share of the
/// cell that the range covers. The range must not be empty.
fn covered(axis: &Span, (start, end): (u64, u64)) -> impl Iterator<Item = (usize, f64)> {
    let size = float(axis.count.max(1)) / float(to_u64(axis.cells));
    let axis = *axis;
    let (first, last) = (axis.cell(start), axis.cell(end - 1));
    (first..=last).map(move |cell| {
        let (low, high) = (float(to_u64(cell)) * size, float(to_u64(cell + 1)) * size);
        let inside = high.min(float(end)) - low.max(float(start));
        (cell, (inside / size).clamp(0.0, 1.0))
    })
}
