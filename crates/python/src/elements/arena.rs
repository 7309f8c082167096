//! The variable-length data of elements on their way between a file and Python objects.

#![expect(clippy::disallowed_methods, reason = "descriptors are in memory, not in files")]

use std::ops::Range;

use hyperslab::datatype::convert::{ConvertError, HeapError, VariableSink, VariableSource};
use parking_lot::RwLock;

/// The size of a descriptor in bytes: the count of items and the position of the first.
pub(crate) const DESCRIPTOR_BYTES: usize = 16;
/// The position in the descriptor of a null element.
const NULL: u64 = u64::MAX;

/// The variable-length data of elements, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    bytes: RwLock<Vec<u8>>,
}

/// Returns the count and the position in a descriptor; `None` for a null element.
fn parse(descriptor: &[u8]) -> Option<(usize, usize)> {
    let (count, position) = descriptor.split_first_chunk::<8>()?;
    let position = u64::from_le_bytes(*position.first_chunk::<8>()?);
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    if position == NULL { None } else { Some((count, usize::try_from(position).ok()?)) }
}

/// Returns the range of the items of a descriptor.
fn range(descriptor: &[u8], item_size: usize) -> Option<Range<usize>> {
    let (count, position) = parse(descriptor)?;
    Some(position..position.checked_add(count.checked_mul(item_size)?)?)
}

/// Returns the position after the text that a descriptor refers to; `None` for a null element.
pub(super) fn end_of(descriptor: &[u8]) -> Option<usize> {
    range(descriptor, 1).map(|range| range.end)
}

fn invalid() -> ConvertError {
    ConvertError::Heap(HeapError::new("an element has an invalid descriptor"))
}

/// Writes a descriptor.
fn describe(descriptor: &mut [u8], count: u64, position: u64) -> Result<(), ConvertError> {
    let (first, rest) = descriptor.split_first_chunk_mut::<8>().ok_or_else(invalid)?;
    let second = rest.first_chunk_mut::<8>().ok_or_else(invalid)?;
    *first = count.to_le_bytes();
    *second = position.to_le_bytes();
    Ok(())
}

impl Arena {
    /// Takes the bytes of all variable-length data out of the arena.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.write())
    }

    /// Calls `with` with the bytes of the items that a descriptor refers to, and with their count.
    /// A null element has no items.
    pub(crate) fn with<T>(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        if parse(descriptor).is_none() {
            return Some(with(&[]));
        }
        let bytes = self.bytes.read();
        bytes.get(range(descriptor, item_size)?).map(with)
    }
}

impl VariableSink for Arena {
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        let mut bytes = self.bytes.write();
        let position = bytes.len();
        bytes
            .try_reserve(items.len())
            .map_err(|_| ConvertError::Memory { count: items.len(), element: 1 })?;
        bytes.extend_from_slice(items);
        describe(descriptor, hyperslab_exact::to_u64(count), hyperslab_exact::to_u64(position))
    }

    fn store_null(&self, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        describe(descriptor, 0, NULL)
    }
}

impl VariableSource for Arena {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        self.with(descriptor, item_size, with).ok_or_else(invalid)?
    }

    fn is_null(&self, descriptor: &[u8]) -> bool {
        parse(descriptor).is_none()
    }
}
