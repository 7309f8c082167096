//! Elements of several chunks into C order.

use hyperslab_dataspace::Dims;

use super::StructuredForm;
use super::slabs::{Defined, DefinedRun, Slab};
use crate::error::Result;

/// Rows beyond which a slab is sorted, not counted, unless there are as many elements.
pub(super) const MOST_ROWS: u64 = 1 << 16;

/// The number of a row in a slab, counted in C order.
pub(super) type Key = u128;

impl Slab {
    /// Visits all elements, row by row of each chunk, with the number that the first of each run has among all elements of
    /// the slab in C order. Runs do not come in that order.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn for_each_run(
        &self,
        form: &StructuredForm,
        mut visit: impl FnMut(u64, DefinedRun<'_>) -> Result<()>,
    ) -> Result<()> {
        if let [part] = self.parts.as_slice() {
            // The offsets in one chunk ascend as its elements do.
            return part.rows(form, self.first, |_, position, run| visit(position, run));
        }
        let rows = form.rows_of(self.height);
        if rows <= Key::from(self.len().saturating_mul(4).max(MOST_ROWS)) {
            let mut next = self.count_rows(form, usize::try_from(rows).unwrap_or(usize::MAX))?;
            for part in &self.parts {
                part.rows(form, self.first, |key, _, run| {
                    let Some(at) = usize::try_from(key).ok().and_then(|key| next.get_mut(key)) else {
                        return Ok(());
                    };
                    let position = *at;
                    *at = at.saturating_add(run.count);
                    visit(position, run)
                })?;
            }
            return Ok(());
        }
        self.sorted(form, visit)
    }

    /// How many elements stand before each row.
    fn count_rows(&self, form: &StructuredForm, rows: usize) -> Result<Vec<u64>> {
        let mut counts = vec![0_u64; rows];
        for part in &self.parts {
            part.rows(form, self.first, |key, _, run| {
                if let Some(count) = usize::try_from(key).ok().and_then(|key| counts.get_mut(key)) {
                    *count = count.saturating_add(run.count);
                }
                Ok(())
            })?;
        }
        let mut before = 0_u64;
        for count in &mut counts {
            let here = *count;
            *count = before;
            before = before.saturating_add(here);
        }
        Ok(counts)
    }

    /// As [`for_each_run`](Self::for_each_run), for few elements in very many rows.
    fn sorted(
        &self,
        form: &StructuredForm,
        mut visit: impl FnMut(u64, DefinedRun<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut keys: Vec<(Key, usize, u64)> = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            part.rows(form, self.first, |key, _, run| {
                keys.push((key, number, run.count));
                Ok(())
            })?;
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|at| keys.get(*at).map(|(key, part, _)| (*key, *part)));
        let (mut position, mut starts) = (0_u64, vec![0_u64; keys.len()]);
        for at in order {
            if let (Some(start), Some((_, _, count))) = (starts.get_mut(at), keys.get(at)) {
                *start = position;
                position = position.saturating_add(*count);
            }
        }
        let mut starts = starts.into_iter();
        for part in &self.parts {
            part.rows(form, self.first, |_, _, run| visit(starts.next().unwrap_or(0), run))?;
        }
        Ok(())
    }
}

impl StructuredForm {
    /// Rows (all coordinates but the last) of a slab.
    pub(super) fn rows_of(&self, height: u64) -> Key {
        let extent = self.grid.extent();
        match extent.split_last() {
            Some((_, [_, middle @ ..])) => {
                middle.iter().fold(Key::from(height), |rows, size| rows.saturating_mul(Key::from(*size)))
            }
            _ => 1,
        }
    }
}

impl Defined {
    /// Visits the elements row by row: number of the row in the slab, position in this part, elements.
    fn rows(
        &self,
        form: &StructuredForm,
        first: u64,
        mut visit: impl FnMut(Key, u64, DefinedRun<'_>) -> Result<()>,
    ) -> Result<()> {
        let (chunk, extent) = (form.grid.chunk(), form.grid.extent());
        let width = chunk.last().copied().unwrap_or(1).max(1);
        let column_start = self.origin.last().copied().unwrap_or(0);
        let rank = chunk.len();
        let mut row = Dims::from_slice(self.origin.get(..rank.saturating_sub(1)).unwrap_or_default());
        let size = form.element_size;
        let (mut from, mut to, mut key) = (0_u64, 0_u64, 0);
        self.set().try_for_each_run(0..self.set().total(), |offset, position, count| {
            let (mut offset, mut position, mut left) = (offset, position, count);
            while left > 0 {
                if offset >= to {
                    from = offset - offset % width;
                    to = from.saturating_add(width);
                    key = self.enter(from / width, chunk, extent, first, &mut row);
                }
                let here = left.min(to - offset);
                let at = usize::try_from(position).unwrap_or(usize::MAX).saturating_mul(size);
                let length = usize::try_from(here).unwrap_or(usize::MAX).saturating_mul(size);
                let values = self.values().get(at..).and_then(|rest| rest.get(..length)).unwrap_or_default();
                let column = column_start.saturating_add(offset - from);
                visit(key, position, DefinedRun { row: &row, column, count: here, values })?;
                offset = offset.saturating_add(here);
                position = position.saturating_add(here);
                left -= here;
            }
            Ok(())
        })
    }

    /// Makes `row` the coordinates of a row of the chunk; gives its number in the slab.
    pub(super) fn enter(
        &self,
        number: u64,
        chunk: &[u64],
        extent: &[u64],
        first: u64,
        row: &mut Dims,
    ) -> Key {
        let mut rest = number;
        let places = row.iter_mut().zip(self.origin.iter().zip(chunk));
        for (at, (origin, size)) in places.rev() {
            *at = origin.saturating_add(rest % (*size).max(1));
            rest /= (*size).max(1);
        }
        let mut key = 0;
        for (dimension, (at, size)) in row.iter().zip(extent).enumerate() {
            key = if dimension == 0 {
                Key::from(at.saturating_sub(first))
            } else {
                key * Key::from(*size) + Key::from(*at)
            };
        }
        key
    }
}
