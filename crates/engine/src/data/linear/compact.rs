//! The compact layout: elements in the object header.

use hyperslab_dataspace::{Dims, Region, Selection};
use hyperslab_exact::to_usize;
use hyperslab_format::message::Layout;
use parking_lot::Mutex;

use super::read::{self, ByteRequest, LinearBytes};
use super::write::{self, LinearTarget};
use crate::data::transfer::{
    FillElement, ReadContext, ReadTarget, Sink, SinkContext, Source, WriteSource, byte_count,
};
use crate::error::{Error, Result};
use crate::store::{Bytes, Store};

/// The source of elements for reads of a dataset with compact layout.
#[derive(Debug)]
pub struct CompactSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The bytes of the elements; empty if no element was ever written.
    pub data: Bytes,
    /// The value of elements that were never written.
    pub fill: FillElement,
}

impl Source for CompactSource {
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut ReadTarget<'_>) -> Result<()> {
        if self.data.is_empty() {
            return to.fill(&self.fill);
        }
        let elements = Region::whole(&self.dims).element_count()?;
        let expected = byte_count(elements, to.transform().source_size(), "compact data")?;
        if self.data.len() < expected {
            let got = self.data.len();
            return Err(Error::corrupt(
                "data layout message",
                "compact data size",
                expected.to_string(),
                got,
            ));
        }
        read::read(context, &InHeader(&self.data), &self.dims, selection, to)
    }
}

struct InHeader<'a>(&'a [u8]);

impl LinearBytes for InHeader<'_> {
    fn view(&self) -> Option<&[u8]> {
        Some(self.0)
    }

    fn fetch(&self, requests: Vec<ByteRequest<'_>>) -> Result<()> {
        match requests.first() {
            None => Ok(()),
            Some(_) => Err(Error::internal("compact data", "elements in view are not fetched")),
        }
    }
}

/// A dataset of compact layout that is open for writes. The layout message holds the dataset's
/// elements.
#[derive(Debug)]
pub struct CompactSink {
    /// The shape; empty for a scalar.
    pub dims: Dims,
}

impl Sink for CompactSink {
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let Layout::Compact(compact) = &mut *writing.layout else {
            return Err(Error::Misuse("the dataset is not compact".into()));
        };
        write_compact(writing.edit.store(), &mut compact.data, &self.dims, selection, from)?;
        *writing.layout_changed = true;
        Ok(())
    }

    fn resize(&mut self, _writing: &mut SinkContext<'_, '_>, _dims: &[u64]) -> Result<()> {
        Ok(())
    }

    fn free(&mut self, _writing: &mut SinkContext<'_, '_>) -> Result<()> {
        Ok(())
    }

    fn is_resizable(&self) -> bool {
        false
    }
}

/// Writes the selected elements of an array of elements of shape `dims` into the bytes `data` of
/// compact storage.
///
/// # Errors
/// Returns [`Error::Misuse`] if the number of elements in `from` differs from the number of
/// selected elements. Returns errors of conversions.
fn write_compact(
    store: &Store,
    data: &mut [u8],
    dims: &[u64],
    selection: &Selection,
    from: &WriteSource<'_>,
) -> Result<()> {
    from.check(selection.element_count(dims)?)?;
    write::write(store, &InMemory(Mutex::new(data)), dims, selection, from)
}

struct InMemory<'a>(Mutex<&'a mut [u8]>);

impl InMemory<'_> {
    fn with<T>(&self, offset: u64, length: usize, work: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        let mut bytes = self.0.lock();
        let start = to_usize(offset)?;
        let target = bytes.get_mut(start..).and_then(|rest| rest.get_mut(..length));
        let target = target.ok_or_else(|| Error::Misuse("an element lies outside the dataset".into()))?;
        Ok(work(target))
    }
}

impl LinearTarget for InMemory<'_> {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.with(offset, buffer.len(), |target| buffer.copy_from_slice(target))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.with(offset, bytes.len(), |target| target.copy_from_slice(bytes))
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_dataspace::{Hyperslab, Points, RegularHyperslab, scatter};
    use hyperslab_datatype::convert::Conversions;
    use hyperslab_datatype::{ByteOrder, Datatype};
    use proptest::prelude::*;

    use super::*;

    /// Generates a shape and a selection: all elements, a regular hyperslab or points.
    fn cases() -> impl Strategy<Value = (Vec<u64>, Selection)> {
        let dims = proptest::collection::vec(1..12_u64, 1..4);
        (dims, proptest::collection::vec((0..100_u64, 1..5_u64, 1..5_u64, 1..5_u64), 4), 0..3_u8).prop_map(
            |(dims, numbers, kind)| {
                let selection = match kind {
                    0 => Selection::All,
                    1 => {
                        let (mut start, mut stride, mut count, mut block) = Default::default();
                        let columns: [&mut Dims; 4] = [&mut start, &mut stride, &mut count, &mut block];
                        let [start_to, stride_to, count_to, block_to] = columns;
                        for (size, (at, a, b, c)) in dims.iter().zip(&numbers) {
                            let first = at % size;
                            let wide = (*c).min(size - first);
                            let step = wide + a - 1;
                            start_to.push(first);
                            stride_to.push(step);
                            count_to.push((*b).min((size - first - wide) / step + 1));
                            block_to.push(wide);
                        }
                        Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
                            start,
                            stride,
                            count,
                            block,
                        }))
                    }
                    _ => {
                        let points =
                            numbers.iter().flat_map(|(at, ..)| dims.iter().map(move |size| at % size));
                        Selection::Points(Points { rank: dims.len(), coordinates: points.collect() })
                    }
                };
                (dims, selection)
            },
        )
    }

    #[test]
    fn boxes_in_wide_arrays_are_written_by_runs_and_rows() {
        let store = crate::store::image::image(&[]);
        for (dims, start, count) in [([64, 1024], [3, 5], [16, 16]), ([40, 300], [1, 10], [30, 200])] {
            let region = Region::new(&start, &count).unwrap();
            let selection = Selection::region(&region);
            let values: Vec<u8> =
                (0..count[0] * count[1]).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let stored: Vec<u8> = values.iter().flat_map(|value| [*value, 0, 0, 0]).collect();
            let before = vec![0xee; usize::try_from(dims[0] * dims[1]).unwrap() * 4];
            let mut expected = before.clone();
            scatter(&stored, &mut expected, &dims, &selection, 4).unwrap();
            let plan = Conversions::default();
            let plan = plan.plan(&Datatype::u8(), &Datatype::u32(ByteOrder::LittleEndian)).unwrap();
            for from in [WriteSource::converted(&values, &plan), WriteSource::stored(&stored, 4)] {
                let mut data = before.clone();
                write_compact(&store, &mut data, &dims, &selection, &from).unwrap();
                assert!(data == expected);
            }
        }
    }

    proptest! {
        #[test]
        fn written_elements_are_read_back((dims, selection) in cases(), converted in any::<bool>()) {
            let elements = usize::try_from(dims.iter().product::<u64>()).unwrap();
            let count = usize::try_from(selection.element_count(&dims).unwrap()).unwrap();
            let mut expected = vec![0; 4 * elements];
            let mut data = expected.clone();
            let values: Vec<u8> = (0..count).map(|at| u8::try_from(at % 250).unwrap() + 1).collect();
            let stored: Vec<u8> = values.iter().flat_map(|value| [*value, 0, 0, 0]).collect();
            scatter(&stored, &mut expected, &dims, &selection, 4).unwrap();
            let plan = Conversions::default().plan(&Datatype::u8(), &Datatype::u32(ByteOrder::LittleEndian)).unwrap();
            let store = crate::store::image::image(&[]);
            let from = if converted { WriteSource::converted(&values, &plan) } else { WriteSource::stored(&stored, 4) };
            write_compact(&store, &mut data, &dims, &selection, &from).unwrap();
            prop_assert_eq!(data, expected);
            let short = WriteSource::stored(&stored[4..], 4);
            prop_assert!(write_compact(&store, &mut [], &dims, &selection, &short).is_err());
        }
    }
}
