//! The elements of a slab with their coordinates, in C order.

use hyperslab_dataspace::Dims;

use super::super::StructuredForm;
use super::slabs::{Defined, Slab};

/// Rows beyond which the elements of a slab are sorted, not counted row by row, unless there are as many.
const MOST_ROWS: u64 = 1 << 16;

/// The number of a row (all coordinates but the last) in a slab, in C order.
type Key = u128;

/// The row that a walk through a chunk is in.
struct Row {
    /// All coordinates but the last.
    at: Dims,
    key: Key,
    /// Offset of its first element in the chunk, and of the first one behind.
    start: u64,
    end: u64,
}

impl Slab {
    /// All elements in C order: their coordinates, and their values as stored.
    pub fn collect(&self, form: &StructuredForm) -> (Vec<u64>, Vec<u8>) {
        if let [part] = self.parts.as_slice() {
            // The offsets in one chunk ascend as its elements do.
            let mut coordinates = Vec::new();
            part.collect_coordinates(form, &mut coordinates);
            return (coordinates, part.values().to_vec());
        }
        let places = self.places(form);
        let (rank, size) = (form.grid.rank(), form.element_size);
        let mut coordinates = vec![0_u64; places.len().saturating_mul(rank)];
        let mut values = vec![0_u8; places.len().saturating_mul(size)];
        let mut rest = places.as_slice();
        for part in &self.parts {
            let count = usize::try_from(part.set().len()).unwrap_or(usize::MAX);
            let (now, behind) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = behind;
            let mut next = now.iter();
            part.each(form, self.first, |row, column| {
                let start = next.next().copied().unwrap_or(usize::MAX).saturating_mul(rank);
                let point = coordinates.get_mut(start..start.saturating_add(rank));
                if let Some((last, before)) = point.and_then(<[u64]>::split_last_mut) {
                    before.copy_from_slice(&row.at);
                    *last = column;
                }
            });
            scatter(part.values(), now, &mut values, size);
        }
        (coordinates, values)
    }

    /// For each element, part by part, how many stand before it in C order.
    fn places(&self, form: &StructuredForm) -> Vec<usize> {
        let count = usize::try_from(self.len()).unwrap_or(usize::MAX);
        let mut places = Vec::with_capacity(count);
        let rows = form.rows_of(self.height);
        if rows > Key::from(self.len().saturating_mul(4).max(MOST_ROWS)) {
            let mut keys: Vec<(Key, usize)> = Vec::with_capacity(count);
            // The parts come in C order, so that of one row those in front come first.
            self.each(form, |key| keys.push((key, keys.len())));
            keys.sort_unstable();
            places.resize(keys.len(), 0);
            for (place, (_, number)) in keys.into_iter().enumerate() {
                if let Some(of) = places.get_mut(number) {
                    *of = place;
                }
            }
            return places;
        }
        let mut next = vec![0_usize; usize::try_from(rows).unwrap_or(usize::MAX)];
        let row = |key: Key| usize::try_from(key).unwrap_or(usize::MAX);
        self.each(form, |key| {
            if let Some(count) = next.get_mut(row(key)) {
                *count = count.saturating_add(1);
            }
        });
        let mut before = 0_usize;
        for start in &mut next {
            let count = std::mem::replace(start, before);
            before = before.saturating_add(count);
        }
        self.each(form, |key| {
            if let Some(place) = next.get_mut(row(key)) {
                places.push(*place);
                *place = place.saturating_add(1);
            }
        });
        places
    }

    /// Visits the rows of all elements, part by part.
    fn each(&self, form: &StructuredForm, mut visit: impl FnMut(Key)) {
        for part in &self.parts {
            part.each(form, self.first, |row, _| visit(row.key));
        }
    }
}

impl StructuredForm {
    /// Rows of a slab.
    fn rows_of(&self, height: u64) -> Key {
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
    /// Adds the coordinates of the elements, in the order of their values.
    pub fn collect_coordinates(&self, form: &StructuredForm, coordinates: &mut Vec<u64>) {
        let count = usize::try_from(self.set().len()).unwrap_or(usize::MAX);
        coordinates.reserve(count.saturating_mul(form.grid.rank()));
        self.each(form, 0, |row, column| {
            coordinates.extend_from_slice(&row.at);
            coordinates.push(column);
        });
    }

    /// Visits the elements one by one: row and last coordinate. Rows are counted from `first` along the first dimension.
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
                self.enter(number, chunk, &mut row.at);
                row.key = key_of(&row.at, extent, first);
            }
            visit(&row, columns.wrapping_add(offset.wrapping_sub(row.start)));
        });
    }

    /// Makes `row` the coordinates of a row of the chunk.
    fn enter(&self, number: u64, chunk: &[u64], row: &mut Dims) {
        let mut rest = number;
        for (at, (origin, size)) in row.iter_mut().zip(self.origin.iter().zip(chunk)).rev() {
            *at = origin.saturating_add(rest % (*size).max(1));
            rest /= (*size).max(1);
        }
    }
}

fn key_of(row: &[u64], extent: &[u64], first: u64) -> Key {
    let Some((at, others)) = row.split_first() else { return 0 };
    let start = Key::from(at.saturating_sub(first));
    others
        .iter()
        .zip(extent.iter().skip(1))
        .fold(start, |key, (at, size)| key.saturating_mul(Key::from(*size)).saturating_add(Key::from(*at)))
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
