//! Insertion of many objects into the global heap. They fill new collections, which are written to
//! the file immediately, without waiting for a commit.

use std::ops::Range;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapId};

use super::GlobalHeap;
use super::builder::MAX_SHARED_BYTES;
use super::edit::SPACE;
use crate::error::{Error, Result};
use crate::store::Edit;

/// Smallest number of full global heap collections that are created in bulk. Fewer objects go into
/// collections with free space.
const MIN_COLLECTIONS: usize = 4;

/// New global heap collections for many objects that are stored together. Each collection is filled
/// completely before it is written, so no free space is left in it.
#[derive(Debug)]
pub struct Bulk<'a> {
    params: FileParams,
    objects: &'a [&'a [u8]],
    collections: Vec<FullCollection>,
}

/// A new collection of the global heap and the range of its objects.
#[derive(Debug)]
struct FullCollection {
    address: Address,
    size: usize,
    objects: Range<usize>,
}

/// Global heap collections at consecutive addresses, which are written with one call.
#[derive(Debug, Clone)]
pub struct CollectionRun {
    /// Address of the first collection.
    pub address: Address,
    /// Total size of the collections in bytes.
    pub length: usize,
    collections: Range<usize>,
}

impl GlobalHeap {
    /// Allocates new global heap collections for the first of the objects `objects`. Stops when the
    /// remaining objects do not fill a whole collection. [`Bulk::len`] of the result returns the
    /// number of placed objects, which can be 0.
    ///
    /// # Errors
    /// Returns the errors of [`Edit::allocate`].
    pub fn place_many<'a>(&self, edit: &mut Edit<'_>, objects: &'a [&'a [u8]]) -> Result<Bulk<'a>> {
        let params = edit.params();
        let mut collections = full_collections(objects, params)?;
        if collections.len() < MIN_COLLECTIONS {
            collections.clear();
        }
        let bytes = exact_sum(collections.iter().map(|full| full.size))?;
        let made = self.open.lock().made.checked_add(bytes).ok_or_else(too_many_bytes)?;
        for equal in collections.chunk_by_mut(|one, other| one.size == other.size) {
            let Some(first) = equal.first() else { continue };
            let addresses = edit.allocate_blocks(SPACE, to_u64(first.size), equal.len())?;
            equal.iter_mut().zip(addresses).for_each(|(full, address)| full.address = address);
        }
        for full in &collections {
            self.collections.remove(&full.address);
        }
        self.open.lock().made = made;
        Ok(Bulk { params, objects, collections })
    }
}

/// Creates an internal error about a range that lies outside the list of new global heap objects or
/// collections.
fn other_range() -> Error {
    Error::internal("bulk insertion of objects", "a range lies inside the list")
}

fn too_many_bytes() -> Error {
    Error::internal("global heap", "all collections together have less than 2^64 bytes")
}

fn exact_sum(sizes: impl Iterator<Item = usize>) -> Result<u64> {
    let mut sizes = sizes.map(to_u64);
    sizes.try_fold(0_u64, u64::checked_add).ok_or_else(too_many_bytes)
}

/// Distributes objects to new global heap collections. Leaves out the last objects if they do not
/// fill a collection.
fn full_collections(objects: &[&[u8]], params: FileParams) -> Result<Vec<FullCollection>> {
    let capacity = GlobalHeapCollection::object_capacity(MAX_SHARED_BYTES, params);
    let address = Address::UNDEFINED;
    let (mut collections, mut first, mut used) = (Vec::new(), 0_usize, 0_usize);
    for (at, object) in objects.iter().enumerate() {
        let size = GlobalHeapCollection::object_size(object.len(), params);
        // `first` is the position of an object at or before `at`.
        let number = at - first;
        let needed = used.checked_add(size).ok_or_else(too_many_bytes)?;
        if needed > capacity || number >= usize::from(u16::MAX) {
            if number > 0 {
                collections.push(FullCollection { address, size: MAX_SHARED_BYTES, objects: first..at });
            }
            (first, used) = (at, 0);
        }
        if size > capacity {
            let size = GlobalHeapCollection::size_for(object.len(), params);
            collections.push(FullCollection { address, size, objects: at..at + 1 });
            first = at + 1;
            continue;
        }
        // `used` is at most `capacity`: either the previous objects fit together with this object,
        // or `used` was 0.
        used += size;
    }
    Ok(collections)
}

impl<'a> Bulk<'a> {
    /// Returns the number of objects in the new global heap collections.
    pub fn len(&self) -> usize {
        self.collections.last().map_or(0, |last| last.objects.end)
    }

    /// Returns whether the list of new global heap collections is empty.
    pub fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }

    /// Divides the new global heap collections into runs. A run has consecutive addresses and about
    /// `bytes` bytes.
    pub fn runs(&self, bytes: usize) -> Vec<CollectionRun> {
        let mut runs: Vec<CollectionRun> = Vec::new();
        for (at, full) in self.collections.iter().enumerate() {
            let collections = at..at + 1;
            if let Some(last) = runs.last_mut()
                && last.length < bytes
                && last.address.checked_add(to_u64(last.length)) == Some(full.address)
                && let Some(length) = last.length.checked_add(full.size)
            {
                last.length = length;
                last.collections.end = collections.end;
                continue;
            }
            runs.push(CollectionRun { address: full.address, length: full.size, collections });
        }
        runs
    }

    /// Encodes the global heap collections of a run, which have consecutive addresses, into the
    /// buffer `bytes`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if an object is too long for the length fields of the file, or if
    /// `bytes` is shorter than the run.
    pub fn fill(&self, run: &CollectionRun, bytes: &mut [u8]) -> Result<()> {
        let mut rest = bytes;
        let collections = self.collections.get(run.collections.clone());
        for full in collections.ok_or_else(other_range)? {
            let Some((target, after)) = rest.split_at_mut_checked(full.size) else {
                return Err(Error::Misuse("the buffer is shorter than a collection".into()));
            };
            GlobalHeapCollection::write_all(target, self.of(full)?, self.params)?;
            rest = after;
        }
        Ok(())
    }

    fn of(&self, full: &FullCollection) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let objects = self.objects.get(full.objects.clone());
        Ok(objects.ok_or_else(other_range)?.iter().copied())
    }

    /// Writes the variable-length elements that refer to the new global heap objects to `out`. An
    /// element has the length of the object in bytes and its global heap ID.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a length does not fit its field, or if `out` is too short.
    pub fn write_elements(&self, out: &mut [u8]) -> Result<()> {
        let size = GlobalHeapId::size(self.params) + 4;
        let mut rest = out;
        for full in &self.collections {
            let length = full.objects.len().checked_mul(size);
            let Some((target, after)) = length.and_then(|length| rest.split_at_mut_checked(length)) else {
                return Err(Error::Misuse("the buffer is shorter than the elements".into()));
            };
            let lengths = self.of(full)?.map(<[u8]>::len);
            GlobalHeapId::write_elements(full.address, lengths, target, self.params)?;
            rest = after;
        }
        Ok(())
    }

    /// Frees the file space of all new global heap collections.
    ///
    /// # Errors
    /// Returns the errors of [`Edit::free`].
    pub fn free(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.collections.iter().try_for_each(|full| edit.free(SPACE, full.address, to_u64(full.size)))
    }
}
