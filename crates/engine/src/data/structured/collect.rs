//! All elements of a slab with their coordinates, in C order.

use hyperslab_dataspace::Dims;

use super::StructuredForm;
use super::merge::{Key, MOST_ROWS};
use super::slabs::{Defined, Slab};
use crate::error::Result;

/// The row that a walk through a chunk is in.
struct Row {
    /// All coordinates but the last.
    at: Dims,
    /// Its number in the slab.
    key: usize,
    /// Offset of its first element in the chunk, and of the first one behind.
    start: u64,
    end: u64,
}

impl Slab {
    /// All elements in C order: their coordinates, and their values as stored.
    ///
    /// # Errors
    /// None at present.
    pub fn collect(&self, form: &StructuredForm) -> Result<(Vec<u64>, Vec<u8>)> {
        let count = usize::try_from(self.len()).unwrap_or(usize::MAX);
        if let [part] = self.parts.as_slice() {
            let mut coordinates = Vec::with_capacity(count.saturating_mul(form.grid.rank()));
            part.each(form, self.first, |row, column| {
                coordinates.extend_from_slice(&row.at);
                coordinates.push(column);
            });
            return Ok((coordinates, part.values().to_vec()));
        }
        let rows = form.rows_of(self.height);
        if rows > Key::from(self.len().saturating_mul(4).max(MOST_ROWS)) {
            return self.collect_runs(form, count);
        }
        let mut next = self.starts(form, usize::try_from(rows).unwrap_or(usize::MAX));
        let (rank, size) = (form.grid.rank(), form.element_size);
        let mut coordinates = vec![0_u64; count.saturating_mul(rank)];
        let mut values = vec![0_u8; count.saturating_mul(size)];
        let mut places = Vec::new();
        for part in &self.parts {
            places.clear();
            part.each(form, self.first, |row, column| {
                let Some(place) = next.get_mut(row.key) else { return };
                let start = place.saturating_mul(rank);
                let point = coordinates.get_mut(start..start.saturating_add(rank));
                if let Some((last, before)) = point.and_then(<[u64]>::split_last_mut) {
                    before.copy_from_slice(&row.at);
                    *last = column;
                }
                places.push(*place);
                *place = place.saturating_add(1);
            });
            scatter(part.values(), &places, &mut values, size);
        }
        Ok((coordinates, values))
    }

    /// Where each row begins.
    fn starts(&self, form: &StructuredForm, rows: usize) -> Vec<usize> {
        let mut starts = vec![0_usize; rows];
        for part in &self.parts {
            part.each(form, self.first, |row, _| {
                if let Some(count) = starts.get_mut(row.key) {
                    *count = count.saturating_add(1);
                }
            });
        }
        let mut before = 0_usize;
        for start in &mut starts {
            let count = std::mem::replace(start, before);
            before = before.saturating_add(count);
        }
        starts
    }

    /// As [`collect`](Self::collect), for few elements in very many rows.
    fn collect_runs(&self, form: &StructuredForm, count: usize) -> Result<(Vec<u64>, Vec<u8>)> {
        let (rank, size) = (form.grid.rank(), form.element_size);
        let mut coordinates = vec![0_u64; count.saturating_mul(rank)];
        let mut values = vec![0_u8; count.saturating_mul(size)];
        self.for_each_run(form, |position, run| {
            let at = usize::try_from(position).unwrap_or(usize::MAX);
            let length = usize::try_from(run.count).unwrap_or(usize::MAX);
            let points = coordinates.get_mut(at.saturating_mul(rank)..).unwrap_or_default();
            for (point, column) in points.chunks_exact_mut(rank.max(1)).take(length).zip(run.column..) {
                if let Some((last, row)) = point.split_last_mut() {
                    row.copy_from_slice(run.row);
                    *last = column;
                }
            }
            let place =
                values.get_mut(at.saturating_mul(size)..).and_then(|rest| rest.get_mut(..run.values.len()));
            if let Some(place) = place {
                place.copy_from_slice(run.values);
            }
            Ok(())
        })?;
        Ok((coordinates, values))
    }
}

impl Defined {
    /// Visits the elements one by one: row and last coordinate.
    #[inline]
    fn each(&self, form: &StructuredForm, first: u64, mut visit: impl FnMut(&Row, u64)) {
        let (chunk, extent) = (form.grid.chunk(), form.grid.extent());
        let width = chunk.last().copied().unwrap_or(1).max(1);
        let columns = self.origin.last().copied().unwrap_or(0);
        let before = self.origin.get(..chunk.len().saturating_sub(1)).unwrap_or_default();
        let mut row = Row { at: Dims::from_slice(before), key: 0, start: 0, end: 0 };
        self.set().for_each_offset(|offset| {
            if offset >= row.end {
                let number = offset / width;
                row.start = number.saturating_mul(width);
                row.end = row.start.saturating_add(width);
                let key = self.enter(number, chunk, extent, first, &mut row.at);
                row.key = usize::try_from(key).unwrap_or(usize::MAX);
            }
            visit(&row, columns.wrapping_add(offset.wrapping_sub(row.start)));
        });
    }
}

/// Puts values to their places.
fn scatter(from: &[u8], places: &[usize], to: &mut [u8], size: usize) {
    fn fixed<const N: usize>(from: &[u8], places: &[usize], to: &mut [u8]) {
        let to = to.as_chunks_mut::<N>().0;
        for (value, place) in from.as_chunks::<N>().0.iter().zip(places) {
            if let Some(to) = to.get_mut(*place) {
                *to = *value;
            }
        }
    }
    match size {
        1 => fixed::<1>(from, places, to),
        2 => fixed::<2>(from, places, to),
        4 => fixed::<4>(from, places, to),
        8 => fixed::<8>(from, places, to),
        _ => {
            for (value, place) in from.chunks_exact(size.max(1)).zip(places) {
                let start = place.saturating_mul(size);
                if let Some(to) = to.get_mut(start..start.saturating_add(size)) {
                    to.copy_from_slice(value);
                }
            }
        }
    }
}
