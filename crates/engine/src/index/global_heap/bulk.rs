//! Many objects at once: collections that are full from the start go into the file as they are put together, and never
//! wait for a commit.

use std::ops::Range;

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapId};

use super::GlobalHeap;
use super::builder::LARGEST;
use super::edit::SPACE;
use crate::error::{Error, Result};
use crate::store::Edit;

/// Full collections that are worth it; fewer objects go where there is room.
const WORTH: usize = 4;

/// Places for objects in collections that they fill.
#[derive(Debug)]
pub struct Bulk<'a> {
    params: FileParams,
    objects: &'a [&'a [u8]],
    collections: Vec<Full>,
}

/// A collection, and which of the objects go into it.
#[derive(Debug)]
struct Full {
    address: Address,
    size: usize,
    objects: Range<usize>,
}

/// Collections side by side, which are written with one call.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// Where they begin in the file.
    pub address: Address,
    /// The bytes of all.
    pub length: usize,
    collections: Range<usize>,
}

impl GlobalHeap {
    /// Gives the first of these objects places in new collections, as long as they fill them. How many there are tells
    /// [`Bulk::len`]; there may be none.
    ///
    /// # Errors
    /// As [`Edit::allocate`].
    pub fn place_many<'a>(&self, edit: &mut Edit<'_>, objects: &'a [&'a [u8]]) -> Result<Bulk<'a>> {
        let params = edit.params();
        let mut collections = full_collections(objects, params);
        if collections.len() < WORTH {
            collections.clear();
        }
        for alike in collections.chunk_by_mut(|one, other| one.size == other.size) {
            let size = alike.first().map_or(0, |first| first.size as u64);
            let places = edit.allocate_blocks(SPACE, size, alike.len())?;
            alike.iter_mut().zip(places).for_each(|(full, address)| full.address = address);
        }
        for full in &collections {
            self.collections.remove(&full.address);
        }
        let bytes = collections.iter().fold(0_u64, |sum, full| sum.saturating_add(full.size as u64));
        self.open.lock().made += bytes;
        Ok(Bulk { params, objects, collections })
    }
}

/// Which objects fill which collection; those that do not fill the last one are left out.
fn full_collections(objects: &[&[u8]], params: FileParams) -> Vec<Full> {
    let room = GlobalHeapCollection::object_capacity(LARGEST, params);
    let address = Address::UNDEFINED;
    let (mut collections, mut first, mut used) = (Vec::new(), 0_usize, 0_usize);
    for (at, object) in objects.iter().enumerate() {
        let size = GlobalHeapCollection::object_size(object.len(), params);
        let number = at.saturating_sub(first);
        if used.saturating_add(size) > room || number >= usize::from(u16::MAX) {
            if number > 0 {
                collections.push(Full { address, size: LARGEST, objects: first..at });
            }
            (first, used) = (at, 0);
        }
        if size > room {
            let size = GlobalHeapCollection::size_for(object.len(), params);
            let behind = at.saturating_add(1);
            collections.push(Full { address, size, objects: at..behind });
            first = behind;
            continue;
        }
        used = used.saturating_add(size);
    }
    collections
}

impl<'a> Bulk<'a> {
    /// How many objects have places.
    pub fn len(&self) -> usize {
        self.collections.last().map_or(0, |last| last.objects.end)
    }

    /// Returns whether none has.
    pub fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }

    /// The collections in stretches of about so many bytes.
    pub fn stretches(&self, bytes: usize) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for (at, full) in self.collections.iter().enumerate() {
            let behind = at.saturating_add(1);
            if let Some(last) = stretches.last_mut()
                && last.length < bytes
                && last.address.checked_add(last.length as u64) == Some(full.address)
            {
                last.length = last.length.saturating_add(full.size);
                last.collections.end = behind;
                continue;
            }
            stretches.push(Stretch { address: full.address, length: full.size, collections: at..behind });
        }
        stretches
    }

    /// Puts the collections of a stretch together.
    ///
    /// # Errors
    /// [`Error::Misuse`] if an object is too long for the file's lengths, or `bytes` has another length.
    pub fn fill(&self, stretch: &Stretch, bytes: &mut [u8]) -> Result<()> {
        let mut rest = bytes;
        for full in self.collections.get(stretch.collections.clone()).unwrap_or_default() {
            let Some((place, behind)) = rest.split_at_mut_checked(full.size) else {
                return Err(Error::Misuse("too little room for a collection".into()));
            };
            GlobalHeapCollection::write_all(place, self.of(full), self.params)?;
            rest = behind;
        }
        Ok(())
    }

    fn of(&self, full: &Full) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.objects.get(full.objects.clone()).unwrap_or_default().iter().copied()
    }

    /// Makes `out` the elements that lead to the objects: their length in bytes and their ID each.
    ///
    /// # Errors
    /// If a length does not fit its field.
    pub fn write_elements(&self, out: &mut [u8]) -> Result<()> {
        let size = GlobalHeapId::size(self.params).saturating_add(4);
        let mut rest = out;
        for full in &self.collections {
            let place = rest.split_at_mut_checked(full.objects.len().saturating_mul(size));
            let (place, behind) = place.unwrap_or_default();
            let lengths = self.of(full).map(<[u8]>::len);
            GlobalHeapId::write_elements(full.address, lengths, place, self.params)?;
            rest = behind;
        }
        Ok(())
    }

    /// Gives the places back.
    ///
    /// # Errors
    /// As [`Edit::free`].
    pub fn free(&self, edit: &mut Edit<'_>) -> Result<()> {
        self.collections.iter().try_for_each(|full| edit.free(SPACE, full.address, full.size as u64))
    }
}
