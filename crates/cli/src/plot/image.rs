//! Elements of two dimensions as a plotted image, reduced block by block to cells.

use anyhow::{Context as _, Result};
use hyperslab::{Dataset, File};
use serde_json::{Value as Json, json};

use super::axis::{Axis, Ticks};
use super::casts::{float, part as part_of, start_of};
use super::numbers::{self, Part};
use super::scale::Scale;
use crate::selection::Taken;

/// A rule for reducing several elements to the value of one plot cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Reduction {
    Mean,
    Max,
    Min,
    /// The first element
    First,
}

/// A dimension of a plotted image: the span of selected coordinates, and the number of cells that
/// show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) step: u64,
    pub(super) count: u64,
    pub(super) cells: usize,
}

/// A plotted image: rows of cells. The value of an empty cell is NaN.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) rows: Span,
    pub(super) columns: Span,
    pub(super) cells: Vec<f64>,
}

/// A cell of a plotted image while elements are added: the number of elements, and their sum,
/// smallest or largest value.
#[derive(Debug, Clone, Copy)]
struct Cell {
    value: f64,
    count: u64,
}

impl Span {
    pub(super) fn new(taken: &Taken, max_cells: usize) -> Self {
        let Taken { start, step, count, .. } = *taken;
        // A count that does not fit in `usize` is also above `max_cells`.
        let cells = usize::try_from(count).map_or(max_cells, |count| count.min(max_cells));
        Self { start, step, count, cells: cells.max(1) }
    }

    /// Returns the plot axis with the indexes of the dimension, and a label.
    pub(super) fn axis(&self, label: String) -> Axis {
        Axis::new(self.scale(), Ticks::Indexes, label)
    }

    /// Returns the scale of a plotted image's dimension, from the edge of the first coordinate to
    /// the edge of the last one.
    fn scale(&self) -> Scale {
        let half = float(self.step) / 2.0;
        let end = float(self.count).mul_add(float(self.step), float(self.start));
        Scale { low: float(self.start) - half, high: end - half, log: false }.widened()
    }

    /// Returns the position in the selection of the first coordinate that a plot cell shows.
    fn start_of(&self, cell: usize) -> u64 {
        start_of(cell, self.count, self.cells)
    }

    /// Returns the number of the plot cell that shows the coordinate at `position` in the
    /// selection.
    pub(super) fn cell(&self, position: u64) -> usize {
        part_of(position, self.count, self.cells)
    }
}

impl Cell {
    const EMPTY: Self = Self { value: 0.0, count: 0 };

    fn add(&mut self, value: f64, reduction: Reduction) {
        if !value.is_finite() {
            return;
        }
        self.value = match reduction {
            _ if self.count == 0 => value,
            Reduction::Mean => self.value + value,
            Reduction::Max => self.value.max(value),
            Reduction::Min => self.value.min(value),
            Reduction::First => self.value,
        };
        self.count += 1;
    }

    fn get(self, reduction: Reduction) -> f64 {
        match (self.count, reduction) {
            (0, _) => f64::NAN,
            (count, Reduction::Mean) => self.value / float(count),
            _ => self.value,
        }
    }
}

impl Image {
    /// Reads the selected elements of two dimensions into an image.
    pub(super) fn read(
        file: &File,
        dataset: &Dataset,
        part: &Part<'_>,
        (height, width): (usize, usize),
        reduction: Reduction,
    ) -> Result<Self> {
        let mut kept = part.taken.iter().filter(|dimension| dimension.kept);
        let one = Taken { start: 0, step: 1, count: 1, kept: true };
        let rows = Span::new(kept.next().unwrap_or(&one), height);
        let columns = Span::new(kept.next().unwrap_or(&one), width);
        let mut cells =
            vec![
                Cell::EMPTY;
                rows.cells.checked_mul(columns.cells).context("the picture would have too many cells")?
            ];
        let (mut row, mut column) = (0_u64, 0_u64);
        // The elements arrive in order, so the loop needs one division for each cell, not for each
        // element.
        let (mut across, mut next) = (0_usize, columns.start_of(1));
        let mut first = 0;
        numbers::each(file, dataset, part, |values| {
            for value in values {
                if column >= next {
                    across += 1;
                    next = columns.start_of(across + 1);
                }
                if let Some(cell) = cells.get_mut(first + across) {
                    cell.add(*value, reduction);
                }
                column += 1;
                if column >= columns.count {
                    (row, column) = (row + 1, 0);
                    (across, next) = (0, columns.start_of(1));
                    first = rows.cell(row) * columns.cells;
                }
            }
        })?;
        let cells = cells.into_iter().map(|cell| cell.get(reduction)).collect();
        Ok(Self { rows, columns, cells })
    }

    /// Returns the value of a cell in the plotted image. Returns NaN if the cell is empty.
    pub(super) fn cell(&self, row: usize, column: usize) -> f64 {
        self.cells.get(row * self.columns.cells + column).copied().unwrap_or(f64::NAN)
    }

    /// Returns the scale from the smallest to the largest cell value of the plotted image.
    pub(super) fn value_scale(&self, log: bool) -> Option<Scale> {
        Scale::of(self.cells.iter().copied(), log)
    }

    pub(super) fn json(&self) -> Json {
        let row = |row: &[f64]| {
            row.iter().map(|cell| Some(*cell).filter(|cell| cell.is_finite())).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.cells.chunks(self.columns.cells.max(1)).map(row).collect();
        let axis = |axis: &Span| json!({ "start": axis.start, "step": axis.step, "count": axis.count });
        json!({ "kind": "image", "rows": axis(&self.rows), "columns": axis(&self.columns), "cells": rows })
    }
}
