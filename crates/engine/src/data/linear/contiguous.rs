//! The contiguous layout: elements in one block of the file.

use hyperslab_dataspace::{Dims, Selection};
use hyperslab_format::codec::Address;
use hyperslab_format::message::Layout;

use super::read::{self, ByteRequest, LinearBytes};
use super::write::{self, LinearTarget};
use crate::data::transfer::{
    FillElement, ReadContext, ReadTarget, Sink, SinkContext, Source, WriteSource, byte_count,
};
use crate::error::{Error, Result};
use crate::store::{ByteRows, SpaceKind, Store};

/// Largest number of bytes of contiguous storage that are read with one call, on the calling
/// thread.
const SINGLE_READ_BYTES: u64 = 64 << 10;

/// Largest number of bytes of fill values that one write to contiguous storage covers.
const FILL_BYTES: u64 = 1 << 20;

/// The source of elements for reads of a dataset with contiguous layout.
#[derive(Debug)]
pub struct ContiguousSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The address of the first element; undefined if no element was ever written.
    pub address: Address,
    /// The value of elements that were never written.
    pub fill: FillElement,
}

impl Source for ContiguousSource {
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut ReadTarget<'_>) -> Result<()> {
        if !self.address.is_defined() {
            return to.fill(&self.fill);
        }
        let elements = self.dims.iter().try_fold(1_u64, |elements, size| elements.checked_mul(*size));
        let size = to.transform().source_size() as u64;
        let length = elements.and_then(|elements| elements.checked_mul(size)).unwrap_or(u64::MAX);
        let view = context.store.view_raw(self.address, length);
        if view.is_none() && self.read_short_run(context, selection, to)? {
            return Ok(());
        }
        if matches!(selection, Selection::All)
            && length <= SINGLE_READ_BYTES
            && view.is_none()
            && let Some(out) = to.as_stored().filter(|out| out.len() as u64 == length)
        {
            return context.store.read_raw_whole(self.address, out);
        }
        let bytes = InFile { store: context.store, address: self.address, length, view };
        read::read(context, &bytes, &self.dims, selection, to)
    }
}

impl ContiguousSource {
    /// Reads a selection that is one short run of elements, contiguous in the file and without
    /// conversion. For every other selection, returns false and reads nothing.
    fn read_short_run(
        &self,
        context: ReadContext<'_>,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
    ) -> Result<bool> {
        let size = to.transform().source_size() as u64;
        if matches!(selection, Selection::All) {
            return Ok(false);
        }
        let Some(out) = to.as_stored().filter(|out| out.len() as u64 <= SINGLE_READ_BYTES) else {
            return Ok(false);
        };
        let run = selection.single_run(&self.dims);
        let Some(run) = run.filter(|run| run.length.checked_mul(size) == Some(out.len() as u64)) else {
            return Ok(false);
        };
        let bytes = run.offset.checked_mul(size);
        let address = bytes.and_then(|bytes| self.address.checked_add(bytes)).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "an end inside the file", self.address)
        })?;
        context.store.read_raw(address, out)?;
        Ok(true)
    }
}

struct InFile<'a> {
    store: &'a Store,
    address: Address,
    /// The number of bytes of all elements.
    length: u64,
    view: Option<&'a [u8]>,
}

impl LinearBytes for InFile<'_> {
    fn view(&self) -> Option<&[u8]> {
        self.view
    }

    fn check(&self, offset: u64, length: usize) -> Result<()> {
        self.store.check_inside(self.at(offset)?, length as u64, "raw data")
    }

    fn expects(&self) -> bool {
        self.view.is_none() && self.store.expects_raw()
    }

    fn expect(&self, extents: &[(u64, u64)]) {
        let located = |(offset, length): &(u64, u64)| Some((self.at(*offset).ok()?, *length));
        self.store.expect_raw(&extents.iter().filter_map(located).collect::<Vec<_>>());
    }

    fn fetch(&self, mut requests: Vec<ByteRequest<'_>>) -> Result<()> {
        if let [(offset, buffer)] = requests.as_mut_slice() {
            let whole = *offset == 0 && buffer.len() as u64 == self.length;
            let address = self.at(*offset)?;
            return match whole {
                true => self.store.read_raw_whole(address, buffer),
                false => self.store.read_raw(address, buffer),
            };
        }
        let located: Result<Vec<_>> =
            requests.into_iter().map(|(offset, buffer)| Ok((self.at(offset)?, buffer))).collect();
        self.store.read_raw_many(&mut located?)
    }
}

impl InFile<'_> {
    fn at(&self, offset: u64) -> Result<Address> {
        self.address.checked_add(offset).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "an end inside the file", self.address)
        })
    }
}

/// A dataset of contiguous layout that is open for writes. The layout message holds the address of
/// the dataset's elements.
#[derive(Debug)]
pub struct ContiguousSink {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The number of elements; `None` if the number exceeds 64 bits.
    pub elements: Option<u64>,
    /// The number of bytes of an element.
    pub element_size: u32,
    /// The fill value.
    pub fill: FillElement,
    /// True if new space is filled.
    pub fills: bool,
}

impl ContiguousSink {
    fn bytes(&self) -> Option<u64> {
        self.elements.and_then(|elements| elements.checked_mul(u64::from(self.element_size)))
    }

    /// Returns the address of the first element in contiguous storage, which is allocated if it
    /// does not exist. `is_seen` is true if the caller does not overwrite all elements. New storage
    /// then gets the fill value, if the dataset requires that.
    fn allocated(&self, writing: &mut SinkContext<'_, '_>, is_seen: bool) -> Result<Address> {
        let Layout::Contiguous(contiguous) = &mut *writing.layout else {
            return Err(Error::Misuse("the dataset is not contiguous".into()));
        };
        if contiguous.address.is_defined() {
            return Ok(contiguous.address);
        }
        let fills = is_seen && self.fills;
        let bytes =
            self.bytes().ok_or_else(|| Error::Misuse("the dataset has more than 2^64 bytes".into()))?;
        let address = if fills && self.fill.is_zero() {
            writing.edit.allocate_zeroed(SpaceKind::RawData, bytes)?
        } else {
            writing.edit.allocate(SpaceKind::RawData, bytes)?
        };
        if fills && !self.fill.is_zero() {
            fill_contiguous(writing.edit.store(), address, bytes, &self.fill, self.element_size as usize)?;
        }
        contiguous.address = address;
        *writing.layout_changed = true;
        Ok(address)
    }
}

impl Sink for ContiguousSink {
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        from.check(selection.element_count(&self.dims)?)?;
        let is_whole = matches!(selection, Selection::All) && !from.is_partial();
        let address = self.allocated(writing, !is_whole)?;
        write_contiguous(writing.edit.store(), address, &self.dims, selection, from)
    }

    fn allocate(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        self.allocated(writing, true).map(drop)
    }

    fn resize(&mut self, _writing: &mut SinkContext<'_, '_>, _dims: &[u64]) -> Result<()> {
        Ok(())
    }

    fn free(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        let Layout::Contiguous(contiguous) = &*writing.layout else { return Ok(()) };
        if !contiguous.address.is_defined() {
            return Ok(());
        }
        let bytes = contiguous.size.or(self.bytes()).unwrap_or(0);
        writing.edit.store().check_inside(contiguous.address, bytes, "raw data")?;
        writing.edit.free(SpaceKind::RawData, contiguous.address, bytes)
    }

    fn is_resizable(&self) -> bool {
        false
    }
}

/// Writes the selected elements of a dataset of shape `dims` to contiguous storage that begins at
/// `address`. The caller has checked that the write source has the right number of elements.
///
/// # Errors
/// Returns errors of conversions and the driver.
fn write_contiguous(
    store: &Store,
    address: Address,
    dims: &[u64],
    selection: &Selection,
    from: &WriteSource<'_>,
) -> Result<()> {
    if matches!(selection, Selection::All)
        && !from.is_partial()
        && let Some(elements) = from.as_stored(0, selection.element_count(dims)?)
    {
        return store.write_raw(address, elements);
    }
    let length = dims.iter().copied().chain([from.size() as u64]);
    let length = hyperslab_exact::product("bytes of the dataset", length)
        .map_err(|error| Error::Misuse(error.to_string()))?;
    write::write(store, &InFile { store, address, length, view: None }, dims, selection, from)
}

/// Writes the fill value to all elements of a dataset in contiguous storage.
///
/// # Errors
/// Returns errors of the driver.
fn fill_contiguous(
    store: &Store,
    address: Address,
    length: u64,
    fill: &FillElement,
    size: usize,
) -> Result<()> {
    let target = InFile { store, address, length, view: None };
    let size = (size as u64).max(1);
    let step = (FILL_BYTES / size).max(1) * size;
    let mut bytes = vec![0; byte_count(step.min(length), 1, "fill values")?];
    fill.write(&mut bytes);
    let mut at = 0;
    while at < length {
        let count = byte_count(step.min(length - at), 1, "fill values")?;
        target.write(at, bytes.split_at(count).0)?;
        at += step;
    }
    Ok(())
}

impl LinearTarget for InFile<'_> {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.store.read_raw(self.at(offset)?, buffer)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.store.write_raw(self.at(offset)?, bytes)
    }

    fn write_rows(&self, rows: &ByteRows<'_>) -> Result<()> {
        self.store.write_raw_rows((self.address, self.length), rows)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_datatype::convert::Conversions;
    use hyperslab_datatype::{Datatype, Member};

    use super::*;
    use crate::data::transfer::Resources;
    use crate::error::ErrorKind;
    use crate::store::image::image;

    #[test]
    fn data_outside_the_file_takes_no_memory() {
        // Larger than the file, and small enough that an allocated buffer would be kept.
        let (store, resources) = (image(&[]), Resources::new(0));
        let context = ReadContext { store: &store, resources: &resources };
        let member = Member { name: b"a".to_vec(), offset: 0, datatype: Datatype::u8() };
        let records = Datatype::compound(2 << 20, vec![member]);
        let plan = Conversions::default().plan_member(&records, "a", &Datatype::u8()).unwrap();
        let source = ContiguousSource {
            dims: Dims::from_slice(&[2]),
            address: Address::new(8),
            fill: FillElement::ZERO,
        };
        let mut out = [0; 2];
        let error = source.read(context, &Selection::All, &mut ReadTarget::converted(&mut out, &plan));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(context.with_buffers(|buffers| buffers.fetched.capacity()), 0);
    }
}
