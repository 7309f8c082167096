//! The collection of a slab's defined elements with their coordinates, in C order. A slab consists
//! of the structured chunks that share one coordinate along the first dimension.

use hyperslab_dataspace::Dims;
use hyperslab_exact::to_usize;

use super::super::StructuredForm;
use super::slabs::{SelectedChunk, Slab};
use crate::data::transfer::byte_count;
use crate::error::{Error, Result};

/// Number of rows of elements for which a read of sparse chunks may always count the elements of
/// each row to find their order. With more rows, and more than four rows for each element, a read
/// sorts the elements instead.
const MAX_COUNTED_ROWS: Key = 1 << 16;

/// The name of a slab of a sparse dataset in error messages. A slab consists of the structured
/// chunks that share one coordinate along the first dimension.
const SLAB: &str = "slab of a sparse dataset";

/// The number of a row of elements among the rows of a slab, in C order. A slab consists of the
/// structured chunks that share one coordinate along the first dimension. All elements of a row
/// differ only in the last coordinate.
type Key = u128;

/// The row of elements that a walk over the defined elements of a structured chunk currently
/// visits. The elements of a row differ only in the last coordinate.
struct SlabRow {
    /// The coordinates of the row, without the last coordinate.
    at: Dims,
    key: Key,
    /// The offset of the row's first element in the chunk.
    start: u64,
    /// The offset after the row's last element.
    end: u64,
}

impl Slab {
    /// Collects all selected defined elements of a slab in C order: their coordinates, and their
    /// values as stored. A slab consists of the structured chunks that share one coordinate along
    /// the first dimension.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if memory cannot hold the elements.
    pub fn collect(&self, form: &StructuredForm) -> Result<(Vec<u64>, Vec<u8>)> {
        if let [part] = self.parts.as_slice() {
            // In a single chunk, elements in ascending order of offsets are in C order.
            let mut coordinates = Vec::new();
            part.collect_coordinates(form, &mut coordinates)?;
            return Ok((coordinates, part.values().to_vec()));
        }
        let positions = self.positions(form)?;
        let (rank, size) = (form.grid.rank(), form.element_size);
        let mut coordinates = vec![0_u64; byte_count(positions.len() as u64, rank, "coordinates")?];
        let mut values = vec![0_u8; byte_count(positions.len() as u64, size, "defined elements")?];
        let mut rest = positions.as_slice();
        for part in &self.parts {
            let now;
            // Each element has a position.
            (now, rest) = rest.split_at(to_usize(part.set().len())?);
            let mut next = now.iter();
            part.each(form, self.first, |row, column| {
                let point =
                    next.next().and_then(|position| coordinates.chunks_exact_mut(rank).nth(*position));
                if let Some((last, before)) = point.and_then(<[u64]>::split_last_mut) {
                    before.copy_from_slice(&row.at);
                    *last = column;
                }
            });
            scatter(part.values(), now, &mut values, size)?;
        }
        Ok((coordinates, values))
    }

    /// Returns the position (index in C order) of each selected defined element among all of a
    /// slab. The result lists the elements chunk by chunk. A slab consists of the structured chunks
    /// that share one first coordinate.
    fn positions(&self, form: &StructuredForm) -> Result<Vec<usize>> {
        let count = to_usize(self.len())?;
        let mut positions = vec![0; count];
        let Some(rows) = form.rows_of(self.height) else {
            let mut rows: Vec<(Dims, usize)> = Vec::with_capacity(count);
            self.each(form, |row| rows.push((row.at.clone(), rows.len())));
            number(rows, &mut positions);
            return Ok(positions);
        };
        let maximum = Key::from(self.len()) * 4;
        let Some(rows) = usize::try_from(rows).ok().filter(|_| rows <= maximum.max(MAX_COUNTED_ROWS)) else {
            let mut keys: Vec<(Key, usize)> = Vec::with_capacity(count);
            self.each(form, |row| keys.push((row.key, keys.len())));
            number(keys, &mut positions);
            return Ok(positions);
        };
        let outside = || Error::internal(SLAB, "each element is in a row of the slab");
        let mut next = vec![0_usize; rows];
        let mut missing = false;
        let mut next_of = |row: &SlabRow, next: &mut [usize]| {
            let position = usize::try_from(row.key).ok().and_then(|row| next.get_mut(row)).map(|next| {
                *next += 1;
                *next - 1
            });
            missing |= position.is_none();
            position
        };
        self.each(form, |row| {
            next_of(row, &mut next);
        });
        let mut before = 0_usize;
        for start in &mut next {
            before += std::mem::replace(start, before);
        }
        let mut all = positions.iter_mut();
        self.each(form, |row| {
            if let (Some(to), Some(position)) = (all.next(), next_of(row, &mut next)) {
                *to = position;
            }
        });
        if missing { Err(outside()) } else { Ok(positions) }
    }

    /// Calls `visit` for each selected defined element of a slab, chunk by chunk, with the row of
    /// the element. A slab consists of the structured chunks that share one first coordinate.
    fn each(&self, form: &StructuredForm, mut visit: impl FnMut(&SlabRow)) {
        for part in &self.parts {
            part.each(form, self.first, |row, _| visit(row));
        }
    }
}

/// Numbers elements of structured chunks in C order: sets the index of each element in `positions`.
/// For this, sorts the elements by their rows. Elements of one row keep their order, because each
/// chunk lists its elements in C order.
fn number<R: Ord>(mut rows: Vec<(R, usize)>, positions: &mut [usize]) {
    rows.sort_unstable();
    for (position, (_, element)) in rows.into_iter().enumerate() {
        if let Some(to) = positions.get_mut(element) {
            *to = position;
        }
    }
}

impl StructuredForm {
    /// Returns the number of rows of elements in a part of a sparse dataset with `height`
    /// coordinates along the first dimension. The elements of a row differ only in the last
    /// coordinate. Returns `None` if the number exceeds 128 bits.
    fn rows_of(&self, height: u64) -> Option<Key> {
        let extent = self.grid.extent();
        match extent.split_last() {
            Some((_, [_, middle @ ..])) => {
                middle.iter().try_fold(Key::from(height), |rows, size| rows.checked_mul(Key::from(*size)))
            }
            _ => Some(1),
        }
    }
}

impl SelectedChunk {
    /// Appends the coordinates of a structured chunk's selected defined elements to the list
    /// `coordinates`, in the order of the stored values.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if memory cannot hold the elements.
    pub fn collect_coordinates(&self, form: &StructuredForm, coordinates: &mut Vec<u64>) -> Result<()> {
        coordinates.reserve(byte_count(self.set().len(), form.grid.rank(), "coordinates")?);
        self.each(form, 0, |row, column| {
            coordinates.extend_from_slice(&row.at);
            coordinates.push(column);
        });
        Ok(())
    }

    /// Calls `visit` for each selected defined element of a structured chunk, with the row of the
    /// element and its last coordinate. The numbers of the rows begin with 0 at the first
    /// coordinate `first`.
    #[inline]
    fn each(&self, form: &StructuredForm, first: u64, mut visit: impl FnMut(&SlabRow, u64)) {
        let (chunk, extent) = (form.grid.chunk(), form.grid.extent());
        let width = chunk.last().copied().unwrap_or(1).max(1);
        let Some((columns, before)) = self.origin.split_last() else { return };
        let mut row = SlabRow { at: Dims::from_slice(before), key: 0, start: 0, end: 0 };
        self.set().for_each_offset(|offset| {
            if offset >= row.end {
                let number = offset / width;
                row.start = number * width;
                row.end = row.start + width;
                self.enter(number, chunk, &mut row.at);
                row.key = key_of(&row.at, extent, first);
            }
            visit(&row, columns + (offset - row.start));
        });
    }

    /// Moves to the row `number` of elements in a structured chunk of shape `chunk`: sets `row` to
    /// the coordinates of the row in the dataset.
    fn enter(&self, number: u64, chunk: &[u64], row: &mut Dims) {
        let mut rest = number;
        for (at, (origin, size)) in row.iter_mut().zip(self.origin.iter().zip(chunk)).rev() {
            *at = origin + rest % (*size).max(1);
            rest /= (*size).max(1);
        }
    }
}

/// Returns the number of the row of elements with the coordinates `row` in a sparse dataset. The
/// rows count in C order from the first coordinate `first`. The number is meaningless if it exceeds
/// 128 bits.
fn key_of(row: &[u64], extent: &[u64], first: u64) -> Key {
    let Some((at, others)) = row.split_first() else { return 0 };
    let start = Key::from(at.wrapping_sub(first));
    let others = others.iter().zip(extent.iter().skip(1));
    others.fold(start, |key, (at, size)| key.wrapping_mul(Key::from(*size)).wrapping_add(Key::from(*at)))
}

/// Scatters element values: copies each value from the buffer `from` to its position in the buffer
/// `to`.
fn scatter(from: &[u8], positions: &[usize], to: &mut [u8], size: usize) -> Result<()> {
    fn fixed<const N: usize>(from: &[u8], positions: &[usize], to: &mut [u8]) -> Option<()> {
        let to = to.as_chunks_mut::<N>().0;
        for (value, position) in from.as_chunks::<N>().0.iter().zip(positions) {
            *to.get_mut(*position)? = *value;
        }
        Some(())
    }
    fn any(from: &[u8], positions: &[usize], to: &mut [u8], size: usize) -> Option<()> {
        for (value, position) in from.chunks_exact(size.max(1)).zip(positions) {
            to.get_mut(position.checked_mul(size)?..)?.get_mut(..size)?.copy_from_slice(value);
        }
        Some(())
    }
    let put = match size {
        1 => fixed::<1>(from, positions, to),
        2 => fixed::<2>(from, positions, to),
        4 => fixed::<4>(from, positions, to),
        8 => fixed::<8>(from, positions, to),
        _ => any(from, positions, to, size),
    };
    put.ok_or(Error::Internal { structure: SLAB, invariant: "each element has a place" })
}
