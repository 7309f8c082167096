//! Numbers along two dimensions, reduced block by block to the cells of a picture.

use anyhow::Result;
use hyperslab::{Dataset, File};
use serde_json::{Value as Json, json};

use super::numbers::{self, float, index, part, start_of};
use super::scale::Scale;
use crate::selection::Taken;

/// What a cell says of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Reduction {
    Mean,
    Max,
    Min,
}

/// A dimension of a picture: its coordinates, and how many cells stand for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) start: u64,
    pub(super) step: u64,
    pub(super) count: u64,
    pub(super) cells: u64,
}

/// Cells in rows, each a number or nothing.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    pub(super) cells: Vec<f64>,
}

/// A cell while elements come.
#[derive(Debug, Clone, Copy)]
struct Cell {
    value: f64,
    count: u64,
}

impl Axis {
    pub(super) fn new(taken: &Taken, most: u64) -> Self {
        let Taken { start, step, count, .. } = *taken;
        Self { start, step, count, cells: count.min(most).max(1) }
    }

    /// From the edge of the first coordinate to that of the last.
    pub(super) fn scale(&self) -> Scale {
        let end = self.start.saturating_add(self.count.saturating_mul(self.step));
        let half = float(self.step) / 2.0;
        Scale { low: float(self.start) - half, high: float(end) - half, log: false }.widened()
    }

    /// The first place in a cell.
    fn start_of(&self, cell: u64) -> u64 {
        start_of(cell, self.count, self.cells)
    }

    /// The cell of the coordinate that is taken as number `place`.
    pub(super) fn cell(&self, place: u64) -> u64 {
        part(place, self.count, self.cells)
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
        };
        self.count = self.count.saturating_add(1);
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
    /// Reads the selected elements of two dimensions.
    pub(super) fn read(
        file: &File,
        dataset: &Dataset,
        (taken, field): (&[Taken], Option<&str>),
        (height, width): (u64, u64),
        reduction: Reduction,
    ) -> Result<Self> {
        let mut kept = taken.iter().filter(|dimension| dimension.kept);
        let one = Taken { start: 0, step: 1, count: 1, kept: true };
        let rows = Axis::new(kept.next().unwrap_or(&one), height);
        let columns = Axis::new(kept.next().unwrap_or(&one), width);
        let mut cells = vec![Cell::EMPTY; index(rows.cells.saturating_mul(columns.cells))];
        let (mut row, mut column) = (0_u64, 0_u64);
        // Cells follow each other, so that no element asks for its own.
        let (mut across, mut next) = (0_u64, columns.start_of(1));
        let mut first = 0;
        numbers::each(file, dataset, (taken, field), |values| {
            for value in values {
                if column >= next {
                    across = across.saturating_add(1);
                    next = columns.start_of(across.saturating_add(1));
                }
                let at = index(first).saturating_add(index(across));
                if let Some(cell) = cells.get_mut(at) {
                    cell.add(*value, reduction);
                }
                column = column.saturating_add(1);
                if column >= columns.count {
                    (row, column) = (row.saturating_add(1), 0);
                    (across, next) = (0, columns.start_of(1));
                    first = rows.cell(row).saturating_mul(columns.cells);
                }
            }
        })?;
        let cells = cells.into_iter().map(|cell| cell.get(reduction)).collect();
        Ok(Self { rows, columns, cells })
    }

    /// The cell in that row and column.
    pub(super) fn cell(&self, row: u64, column: u64) -> f64 {
        let at = row.saturating_mul(self.columns.cells).saturating_add(column);
        self.cells.get(index(at)).copied().unwrap_or(f64::NAN)
    }

    /// From the least to the largest cell.
    pub(super) fn values(&self, log: bool) -> Option<Scale> {
        Scale::of(self.cells.iter().copied(), log)
    }

    pub(super) fn json(&self) -> Json {
        let row = |row: &[f64]| {
            row.iter().map(|cell| Some(*cell).filter(|cell| cell.is_finite())).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.cells.chunks(index(self.columns.cells).max(1)).map(row).collect();
        let axis = |axis: &Axis| json!({ "start": axis.start, "step": axis.step, "count": axis.count });
        json!({ "kind": "image", "rows": axis(&self.rows), "columns": axis(&self.columns), "cells": rows })
    }
}
