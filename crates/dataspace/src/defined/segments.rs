//! Assembly of the values of a set of defined elements from the values of two other sets.

use crate::{DataspaceError, Result};

/// The error message for a list of values of defined elements that is too short for its segments.
const BEYOND: DataspaceError =
    DataspaceError::Internal { subject: "segments of values", invariant: "positions in a source ascend" };

/// The source of values in a combination of two sets of defined elements: one of the two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentSource {
    /// The set that is changed.
    Old,
    /// The set whose elements are added to, or removed from, the old set.
    New,
}

/// A range of consecutive values of defined elements, from one of two combined sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The source of the values.
    pub from: SegmentSource,
    /// The number of the first value in the source.
    pub position: u64,
    /// The number of values.
    pub count: u64,
}

/// The sources of the values in a combination of two sets of defined elements. Each segment is a
/// range of values of one of the two sets. The segments ascend by offset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segments {
    list: Vec<Segment>,
    count: u64,
}

impl Segments {
    /// Returns the segments as a slice, in order. A segment is a range of values of defined
    /// elements. Adjacent segments are already merged.
    pub fn as_slice(&self) -> &[Segment] {
        &self.list
    }

    /// Returns the total number of values of defined elements in all segments.
    pub fn element_count(&self) -> u64 {
        self.count
    }

    /// Appends a segment: the values `position..end` of one of the two sets of defined elements. If
    /// the segment continues the last one, merges both.
    #[inline]
    pub(super) fn push(&mut self, from: SegmentSource, position: u64, end: u64) {
        if end <= position {
            return;
        }
        let count = end - position;
        self.count += count;
        match self.list.last_mut() {
            Some(last) if last.from == from && last.position + last.count == position => {
                last.count += count;
            }
            _ => self.list.push(Segment { from, position, count }),
        }
    }

    /// Copies the values of defined elements from both source sets into one list, in the order of
    /// the segments. Each value has `element_size` bytes.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if values are missing, [`DataspaceError::Overflow`] if the length
    /// of the result does not fit in memory.
    pub fn gather(&self, old: &[u8], new: &[u8], element_size: usize) -> Result<Vec<u8>> {
        self.check(SegmentSource::Old, "the old values", old, element_size)?;
        self.check(SegmentSource::New, "the new values", new, element_size)?;
        let total = bytes(self.count, element_size)?;
        match element_size {
            1 => self.gather_elements::<1>(old, new, total),
            2 => self.gather_elements::<2>(old, new, total),
            4 => self.gather_elements::<4>(old, new, total),
            8 => self.gather_elements::<8>(old, new, total),
            16 => self.gather_elements::<16>(old, new, total),
            _ => {
                let mut gathered = Vec::with_capacity(total);
                for segment in &self.list {
                    let first = bytes(segment.position, element_size)?;
                    let end = first + bytes(segment.count, element_size)?;
                    gathered.extend_from_slice(pick(segment, old, new).get(first..end).ok_or(BEYOND)?);
                }
                Ok(gathered)
            }
        }
    }

    fn gather_elements<const N: usize>(&self, old: &[u8], new: &[u8], total: usize) -> Result<Vec<u8>> {
        let (old, new) = (old.as_chunks::<N>().0, new.as_chunks::<N>().0);
        let mut gathered: Vec<[u8; N]> = Vec::with_capacity(total / N.max(1));
        for segment in &self.list {
            let first = bytes(segment.position, 1)?;
            let from = pick(segment, old, new);
            if segment.count == 1 {
                gathered.push(*from.get(first).ok_or(BEYOND)?);
            } else {
                let end = first + bytes(segment.count, 1)?;
                gathered.extend_from_slice(from.get(first..end).ok_or(BEYOND)?);
            }
        }
        Ok(gathered.into_flattened())
    }

    /// Checks that a list of values of defined elements is long enough for the segments that refer
    /// to it. Ignores segments that refer to the other list.
    fn check(
        &self,
        from: SegmentSource,
        subject: &'static str,
        values: &[u8],
        element_size: usize,
    ) -> Result<()> {
        let last = self.list.iter().rev().find(|segment| segment.from == from);
        let end = last.map_or(0, |last| last.position + last.count);
        let needed = bytes(end, element_size)?;
        if needed > values.len() {
            return Err(DataspaceError::Buffer { subject, needed, got: values.len() });
        }
        Ok(())
    }
}

fn pick<'a, T>(segment: &Segment, old: &'a [T], new: &'a [T]) -> &'a [T] {
    match segment.from {
        SegmentSource::Old => old,
        SegmentSource::New => new,
    }
}

fn bytes(count: u64, element_size: usize) -> Result<usize> {
    let count = usize::try_from(count).ok();
    count
        .and_then(|count| count.checked_mul(element_size))
        .ok_or(DataspaceError::Overflow { subject: "number of bytes" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_behind_the_values_is_an_internal_error() {
        let segment = |position| Segment { from: SegmentSource::Old, position, count: 1 };
        // The segments are wrong on purpose: the last segment of a source should have the highest
        // position.
        for size in [1, 3, 8] {
            let segments = Segments { list: vec![segment(9), segment(0)], count: 2 };
            let gathered = segments.gather(&vec![7; 2 * size], &[], size);
            assert_eq!(gathered, Err(BEYOND), "{size}");
        }
    }
}
