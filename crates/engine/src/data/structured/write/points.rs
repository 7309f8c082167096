//! Writes of single elements to structured chunks, by the elements' coordinates.

use std::ops::Range;

use hyperslab_dataspace::{DefinedBuilder, Dims};

use super::by_chunk::{Part, joined};
use super::coordinates::{POINTS, Packed, PointCoordinates, outside};
use super::{StructuredWriter, StructuredWriting, Update};
use crate::data::transfer::{WriteSource, byte_count, parallel};
use crate::error::{Error, Result};
use crate::store::Store;

/// Largest number of points that a write to structured chunks sorts together.
const BATCH_POINTS: usize = 4 << 20;

impl StructuredWriter {
    /// Writes values to single elements of a sparse dataset. From then on, the elements are defined
    /// (they have a stored value). If coordinates repeat, the last value is stored.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] without a change if a point is outside the dataset, or if the
    /// number of elements in `from` is wrong. Returns errors of conversions, filters and the
    /// driver.
    pub fn write_points<C: PointCoordinates>(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        points: &C,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        from.check(points.len() as u64)?;
        if from.is_partial() {
            return Err(Error::unsupported(
                "writing some members of elements at points (write them with a selection)",
            ));
        }
        if points.len() > BATCH_POINTS {
            self.check_points(points)?;
        }
        let narrow = self.form.grid.elements_per_chunk()? <= u64::from(u32::MAX);
        for start in (0..points.len()).step_by(BATCH_POINTS) {
            let batch = start..points.len().min(start + BATCH_POINTS);
            self.dirty.begin();
            let updates = if narrow {
                self.updates::<C, u64>(writing.edit.store(), points, batch, from)?
            } else {
                self.updates::<C, u128>(writing.edit.store(), points, batch, from)?
            };
            self.merge(writing, updates)?;
        }
        Ok(())
    }

    fn check_points<C: PointCoordinates>(&self, points: &C) -> Result<()> {
        let extent = self.form.grid.extent();
        points.for_each(0..points.len(), &mut |_, point| {
            if point.len() == extent.len() && point.iter().zip(extent).all(|(at, size)| at < size) {
                return Ok(());
            }
            Err(outside(point, extent))
        })
    }

    fn updates<C: PointCoordinates, P: Packed>(
        &self,
        store: &Store,
        points: &C,
        batch: Range<usize>,
        from: &WriteSource<'_>,
    ) -> Result<Vec<Update>> {
        let start = batch.start;
        let parts: Vec<Part<P>> = self.by_chunk(store, points, &batch)?;
        let chunks = joined(&parts)?;
        let size = self.form.element_size;
        let mut converted = Vec::new();
        let count = batch.len() as u64;
        let stored = if let Some(stored) = from.as_stored(start as u64, count) {
            stored
        } else {
            converted.resize(byte_count(count, size, "elements to write")?, 0);
            from.put(start as u64, count, &mut converted)?;
            &converted
        };
        parallel::map(store, chunks.len() > 4, chunks, |(scaled, points)| {
            self.of_points(scaled.clone(), points.concat(), stored)
        })
    }

    /// Creates the update of a structured chunk for a write of points, from the points in the chunk
    /// and the values of all points. If points repeat, the last value counts.
    fn of_points<P: Packed>(&self, scaled: Dims, mut points: Vec<P>, stored: &[u8]) -> Result<Update> {
        if !points.is_sorted_by(|one, next| one.offset() < next.offset()) {
            points.sort_unstable();
            // If points repeat, the last one counts.
            points.dedup_by(|next, kept| {
                let same = next.offset() == kept.offset();
                if same {
                    *kept = *next;
                }
                same
            });
        }
        let mut set = DefinedBuilder::with_capacity(self.form.grid.chunk(), points.len())?;
        points.iter().for_each(|point| set.push(point.offset()));
        let values = gather(&points, stored, self.form.element_size)?;
        Ok(Update { scaled, defined: set.finish()?, values: Some(values) })
    }
}

/// Gathers the elements that belong to the given points from the write data `stored`, one after the
/// other.
fn gather<P: Packed>(points: &[P], stored: &[u8], size: usize) -> Result<Vec<u8>> {
    fn fixed<const N: usize, P: Packed>(points: &[P], stored: &[u8]) -> Option<Vec<u8>> {
        let elements = stored.as_chunks::<N>().0;
        let element = |point: &P| elements.get(usize::try_from(point.number()).ok()?).copied();
        Some(points.iter().map(element).collect::<Option<Vec<[u8; N]>>>()?.into_flattened())
    }
    fn any<P: Packed>(points: &[P], stored: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut values = Vec::with_capacity(points.len().checked_mul(size)?);
        for point in points {
            let start = usize::try_from(point.number()).ok()?.checked_mul(size)?;
            values.extend_from_slice(stored.get(start..)?.get(..size)?);
        }
        Some(values)
    }
    let values = match size {
        1 => fixed::<1, P>(points, stored),
        2 => fixed::<2, P>(points, stored),
        4 => fixed::<4, P>(points, stored),
        8 => fixed::<8, P>(points, stored),
        16 => fixed::<16, P>(points, stored),
        _ => any(points, stored, size),
    };
    values.ok_or(Error::Internal { structure: POINTS, invariant: "each point has a value" })
}

#[cfg(test)]
mod tests {
    use hyperslab_dataspace::Points;

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_point_without_a_value_is_an_internal_error() {
        for size in [1, 2, 3, 4, 8, 16] {
            let stored: Vec<u8> = (0..).take(3 * size).collect();
            let points = [u64::pack(5, 2), u64::pack(7, 0)];
            let (first, last) = (&stored[..size], &stored[2 * size..]);
            assert_eq!(gather(&points, &stored, size).unwrap(), [last, first].concat(), "{size}");
            let error = gather(&[u64::pack(5, 2), u64::pack(7, 3)], &stored, size).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{size}: {error}");
            let error = gather(&[u128::pack(5, u64::MAX)], &stored, size).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{size}: {error}");
        }
    }

    #[test]
    fn requested_points_that_do_not_exist_are_an_internal_error() {
        let points = Points { rank: 2, coordinates: vec![1, 2, 3, 4] };
        let mut seen = Vec::new();
        let mut visit = |number: usize, point: &[u64]| {
            seen.push((number, point.to_vec()));
            Ok(())
        };
        points.for_each(1..2, &mut visit).unwrap();
        let error = points.for_each(1..3, &mut visit).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        assert_eq!(seen, [(1, vec![3, 4])]);
    }

    #[test]
    fn halves_of_packed_points_come_back() {
        let (offset, number) = (u64::MAX - 1, u64::MAX - 2);
        let point = u128::pack(offset, number);
        assert_eq!((point.offset(), point.number()), (offset, number));
    }
}
