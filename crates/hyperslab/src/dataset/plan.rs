//! The plan of a read: the bytes of the file that the read needs.

use std::ops::Range;

use hyperslab_engine::Result;

use super::Dataset;
use crate::IntoSelection;

impl Dataset {
    /// Returns the ranges of file offsets with the stored elements that a read of the selection
    /// needs, in ascending order. Ranges that touch are joined. Elements in the object header
    /// (compact layout) and chunks that are not stored need no range. Of contiguous elements, the
    /// bytes between the first and the last selected one are returned.
    ///
    /// A program can fetch the ranges together before the read.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let ranges = temperature.plan(hyperslab::s![0..10])?;
    /// let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    /// assert!(bytes <= temperature.storage_size()?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for virtual datasets,
    /// external raw data and structured chunks, [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if
    /// the selection does not fit, and an error if the chunk index cannot be read.
    pub fn plan(&self, selection: impl IntoSelection) -> Result<Vec<Range<u64>>> {
        let file = self.object.file();
        let wanted = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        let extents = wanted.open.plan(file, &wanted.selection).map_err(|error| self.context(error))?;
        let store = &file.container.store;
        let ranges: Result<Vec<_>> =
            extents.into_iter().map(|(address, length)| store.raw_range(address, length)).collect();
        let mut ranges = ranges.map_err(|error| self.context(error))?;
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => joined.push(range),
            }
        }
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use crate::filter::FilterSpec;
    use crate::{FileOptions, Selection, s};

    #[test]
    fn the_plan_has_the_chunks_of_the_selection() {
        let file = FileOptions::new().user_block(512).create_in_memory().unwrap();
        let values: Vec<u32> = (0..40_000).collect();
        let new = file.new_dataset("a").shape(&[200, 200]).chunks(&[50, 100]).filter(FilterSpec::deflate(1));
        let dataset = new.write(&values).unwrap();
        file.flush().unwrap();
        let chunks = dataset.chunks().list().unwrap();
        let all: u64 = chunks.iter().map(|chunk| chunk.size).sum();
        let bytes = |selection: Selection| -> u64 {
            dataset.plan(&selection).unwrap().iter().map(|range| range.end - range.start).sum()
        };
        assert_eq!(bytes(Selection::All), all);
        assert_eq!(bytes(Selection::None), 0);
        let one = dataset.plan(s![0..2, 0..2]).unwrap();
        let first = chunks.iter().find(|chunk| chunk.offset == [0, 0]).unwrap();
        assert_eq!(
            one.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>(),
            [(512 + first.address, 512 + first.address + first.size)]
        );
        let plain = file.new_dataset("b").shape(&[100, 10]).write(&values[..1000]).unwrap();
        file.flush().unwrap();
        let range = plain.plan(s![10..20, 3..5]).unwrap();
        assert_eq!(range.iter().map(|range| range.end - range.start).collect::<Vec<_>>(), [4 * (9 * 10 + 2)]);
    }
}
