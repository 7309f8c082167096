//! Global heap collection and global heap ID (File Format Specification, section III.E). Global
//! heaps store variable-length data, region references and virtual dataset mappings.
//!
//! ```text
//! collection
//! byte  0   signature "GCOL"
//!       4   version 1
//!       5   reserved (3)
//!       8   collection size (L), including this header; then padding to a multiple of 8
//!           objects, without gaps
//!           object 0: the free space at the end, if its header fits
//!
//! object
//!       0   index (2)
//!       2   reference count (2)
//!       4   reserved (4)
//!       8   size of the data (L); for object 0, of all free space including this header;
//!           then padding to a multiple of 8
//!           data, then padding to a multiple of 8
//!
//! global heap ID
//!       0   collection address (O)
//!       O   object index (4)
//! ```
//!
//! If lengths are not 8 bytes wide, actual files have padding after the sizes above. The
//! specification does not mention this padding.

mod bulk;

use std::ops::Range;

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"GCOL";
const VERSION: u8 = 1;
const ALIGNMENT: usize = 8;
const FREE_SPACE: u16 = 0;

/// Size in bytes of the smallest global heap collection that libhdf5 creates and accepts.
pub const GLOBAL_HEAP_MIN_SIZE: usize = 4096;

/// Parameters that determine the layout of a global heap collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalHeapContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Size of the whole collection in bytes. [`GlobalHeapCollection::stored_size`] reads the size
    /// from the first bytes of the collection.
    pub size: usize,
}

/// A global heap collection: the bytes, and the positions of the objects in the collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalHeapCollection {
    params: FileParams,
    bytes: Vec<u8>,
    objects: Vec<GlobalHeapObject>,
    used: usize,
}

/// The position of an object in the bytes of its global heap collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalHeapObject {
    /// Number of the object; never 0.
    pub index: u16,
    /// Number of references to the object.
    pub reference_count: u16,
    /// Range of the object's data in the collection's bytes.
    pub data: Range<usize>,
}

fn align(length: usize) -> usize {
    length.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX)
}

/// Creates an internal error about overlapping or misplaced objects in a global heap collection.
fn inconsistent() -> FormatError {
    FormatError::internal(
        GlobalHeapCollection::NAME,
        "the objects and the free space lie within the collection, without overlap",
    )
}

fn header_size(params: FileParams) -> usize {
    align(8 + params.length_width())
}

impl Structure for GlobalHeapCollection {
    const NAME: &'static str = "global heap collection";
    type Context = GlobalHeapContext;

    fn size(context: &GlobalHeapContext) -> usize {
        context.size
    }

    fn decode(bytes: &[u8], context: &GlobalHeapContext) -> Result<Self> {
        let params = context.params;
        let size = Self::stored_size(bytes, params)?;
        let image = usize::try_from(size).ok().and_then(|size| bytes.get(..size));
        let Some(image) = image.filter(|image| image.len() >= header_size(params)) else {
            let got = format_args!("{size} with {} bytes available", bytes.len());
            return Err(FormatError::corrupt(
                Self::NAME,
                "collection size",
                "at least a header, at most the available bytes",
                got,
            ));
        };
        let (objects, used) = read_objects(image, params)?;
        Ok(Self { params, bytes: image.to_vec(), objects, used })
    }

    fn encode(&self, context: &GlobalHeapContext) -> Result<Vec<u8>> {
        if context.size != self.bytes.len() || context.params != self.params {
            let got = format!("{} bytes with {:?}", self.bytes.len(), self.params);
            return Err(FormatError::Encode { structure: Self::NAME, field: "collection size", got });
        }
        Ok(self.bytes.clone())
    }
}

/// Returns the positions of the objects in a global heap collection, sorted by index, and the
/// offset of the free space.
fn read_objects(image: &[u8], params: FileParams) -> Result<(Vec<GlobalHeapObject>, usize)> {
    let prefix = header_size(params);
    let mut objects = Vec::new();
    let mut position = prefix;
    let mut sorted = true;
    // If the remaining bytes cannot hold an object header, they are free space.
    while let Some(header) = image.get(position..).and_then(|rest| rest.get(..prefix)) {
        let mut reader = Reader::new("global heap object", header);
        let index = reader.u16("heap object index")?;
        let reference_count = reader.u16("reference count")?;
        reader.skip(4, "reserved")?;
        let size = reader.length(params, "object size")?;
        let available = image.len() - position;
        let start = position + prefix;
        if index == FREE_SPACE {
            if size > available as u64 {
                return Err(reader.corrupt("object size", format!("at most {available} free bytes"), size));
            }
            break;
        }
        let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
        let Some(end) = end.filter(|end| *end <= image.len()) else {
            return Err(reader.corrupt("object size", format!("at most {} bytes", available - prefix), size));
        };
        sorted &= objects.last().is_none_or(|last: &GlobalHeapObject| last.index < index);
        objects.push(GlobalHeapObject { index, reference_count, data: start..end });
        // The end of the collection may cut off the padding of the last object.
        position = align(end).min(image.len());
    }
    if !sorted {
        // If two objects have the same number, the later object counts, as in libhdf5.
        objects.reverse();
        objects.sort_by_key(|object| object.index);
        objects.dedup_by_key(|object| object.index);
    }
    Ok((objects, position))
}

/// Writes the header of a global heap object to the start of `target`: its number, reference count
/// and length.
fn write_object_header(
    target: &mut [u8],
    index: u16,
    reference_count: u16,
    length: usize,
    params: FileParams,
) -> Result<()> {
    let length_bytes = (length as u64).to_le_bytes();
    if let (8, Some(header)) = (params.length_width(), target.first_chunk_mut::<16>()) {
        let fields = u64::from(index) | u64::from(reference_count) << 16;
        *header = (u128::from(fields) | u128::from(length as u64) << 64).to_le_bytes();
        return Ok(());
    }
    let (used, above) = length_bytes.split_at(params.length_width().min(length_bytes.len()));
    if above.iter().any(|byte| *byte != 0) {
        let (structure, got) = (GlobalHeapCollection::NAME, length.to_string());
        return Err(FormatError::Encode { structure, field: "object size", got });
    }
    let ([low, high], [count, count_high]) = (index.to_le_bytes(), reference_count.to_le_bytes());
    let (fields, rest) = target.split_first_chunk_mut::<8>().ok_or_else(inconsistent)?;
    *fields = [low, high, count, count_high, 0, 0, 0, 0];
    let to = rest.get_mut(..header_size(params) - 8).ok_or_else(inconsistent)?;
    to.fill(0);
    to.iter_mut().zip(used).for_each(|(to, from)| *to = *from);
    Ok(())
}

impl GlobalHeapCollection {
    /// Returns the number of bytes of a collection that [`stored_size`](Self::stored_size) needs.
    pub fn prefix_size(params: FileParams) -> usize {
        8 + params.length_width()
    }

    /// Reads the size of a global heap collection from its first bytes.
    ///
    /// # Errors
    /// Returns an error if `prefix` does not begin a collection.
    pub fn stored_size(prefix: &[u8], params: FileParams) -> Result<u64> {
        let mut reader = Reader::new(Self::NAME, prefix);
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        reader.skip(3, "reserved")?;
        reader.length(params, "collection size")
    }

    /// Creates an empty global heap collection of `size` bytes. libhdf5 requires a multiple of 8,
    /// and at least [`GLOBAL_HEAP_MIN_SIZE`].
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if the header does not fit, or if the size does not fit its
    /// field.
    pub fn new(size: usize, params: FileParams) -> Result<Self> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.zeros(3);
        writer.length(params, size as u64, "collection size");
        writer.pad_to(header_size(params), "collection size");
        let used = writer.len();
        writer.pad_to(size, "collection size");
        let mut collection = Self { params, bytes: writer.finish()?, objects: Vec::new(), used };
        collection.write_free_space()?;
        Ok(collection)
    }

    /// Returns the number of bytes that objects and their headers can take in a global heap
    /// collection of `size` bytes.
    pub fn object_capacity(size: usize, params: FileParams) -> usize {
        size - header_size(params)
    }

    /// Returns the size of the smallest global heap collection for one object of `length` bytes.
    pub fn size_for(length: usize, params: FileParams) -> usize {
        (align(length) + 2 * header_size(params)).max(GLOBAL_HEAP_MIN_SIZE)
    }

    /// Returns the number of bytes that an object takes in a global heap collection, with its
    /// header and padding. The object has `length` bytes of data.
    pub fn object_size(length: usize, params: FileParams) -> usize {
        align(length) + header_size(params)
    }

    /// Returns the size of the whole global heap collection in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if the global heap collection has no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns the positions of the objects of the global heap collection, sorted by index.
    pub fn objects(&self) -> &[GlobalHeapObject] {
        &self.objects
    }

    /// Returns the bytes of the whole global heap collection. [`GlobalHeapObject::data`] is a range
    /// of these bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes of the global heap collection that no object uses.
    pub fn free_space(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Returns the position of the object with the number `index` in the global heap collection.
    pub fn object(&self, index: u32) -> Option<&GlobalHeapObject> {
        let index = u16::try_from(index).ok()?;
        // Objects are nearly always numbered 1, 2, 3, …
        if let Some(object) = self.objects.get(usize::from(index).wrapping_sub(1))
            && object.index == index
        {
            return Some(object);
        }
        let position = self.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        self.objects.get(position)
    }

    /// Returns the data of the global heap object with the number `index` in the collection.
    pub fn get(&self, index: u32) -> Option<&[u8]> {
        self.bytes.get(self.object(index)?.data.clone())
    }

    /// Returns the mutable data of the global heap object with the number `index`.
    pub fn get_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        let range = self.object(index)?.data.clone();
        self.bytes.get_mut(range)
    }

    /// Adds an object with a reference count of 1 to the global heap collection, and returns its
    /// number. Returns `None` if the free space is too small or all numbers are in use.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if the length does not fit its field, and
    /// [`FormatError::Internal`] if the collection is inconsistent.
    pub fn insert(&mut self, data: &[u8]) -> Result<Option<u16>> {
        let number = self.first_gap();
        let index = u16::try_from(number).ok().and_then(|number| number.checked_add(1));
        let prefix = header_size(self.params);
        let need = align(data.len()) + prefix;
        let free = self.bytes.len().checked_sub(self.used).ok_or_else(inconsistent)?;
        let Some(index) = index.filter(|_| need <= free) else { return Ok(None) };
        let start = self.used;
        // Hot path: writing a million strings calls this once per string, so nothing is allocated
        // here.
        let target = self.bytes.get_mut(start..start + need).ok_or_else(inconsistent)?;
        write_object_header(target, index, 1, data.len(), self.params)?;
        let parts = target.get_mut(prefix..).and_then(|to| to.split_at_mut_checked(data.len()));
        let (contents, padding) = parts.ok_or_else(inconsistent)?;
        contents.copy_from_slice(data);
        padding.fill(0);
        let data_start = start + prefix;
        let data = data_start..data_start + data.len();
        let object = GlobalHeapObject { index, reference_count: 1, data };
        match number == self.objects.len() {
            true => self.objects.push(object),
            false => self.objects.insert(number, object),
        }
        self.used = start + need;
        self.write_free_header()?;
        Ok(Some(index))
    }

    /// Removes the object with the number `index` from the global heap collection and closes the
    /// gap. Returns false if no object has this number.
    ///
    /// # Errors
    /// Returns [`FormatError::Internal`] if the collection is inconsistent, which does not happen
    /// to a collection from `decode` or [`new`](Self::new).
    pub fn remove(&mut self, index: u32) -> Result<bool> {
        if self.object(index).is_none() {
            return Ok(false);
        }
        self.retain(|other| u32::from(other) != index)?;
        Ok(true)
    }

    /// Removes objects from the global heap collection and closes the gaps. Keeps the objects for
    /// whose numbers `keep` returns true.
    ///
    /// # Errors
    /// Returns [`FormatError::Internal`] if the collection is inconsistent, which does not happen
    /// to a collection from `decode` or [`new`](Self::new).
    pub fn retain(&mut self, mut keep: impl FnMut(u16) -> bool) -> Result<()> {
        let prefix = header_size(self.params);
        self.objects.retain(|object| keep(object.index));
        let mut order: Vec<&mut GlobalHeapObject> = self.objects.iter_mut().collect();
        order.sort_by_key(|object| object.data.start);
        let mut used = prefix;
        for object in order {
            let start = object.data.start - prefix;
            let end = align(object.data.end).min(self.used);
            if used > start || start > end || end > self.bytes.len() {
                return Err(inconsistent());
            }
            if used < start {
                self.bytes.copy_within(start..end, used);
            }
            let (data, length) = (used + prefix, object.data.len());
            object.data = data..data + length;
            used += end - start;
        }
        self.used = used;
        self.write_free_space()
    }

    /// Sets the reference count of the global heap object with the number `index`. Returns false if
    /// no object has this number.
    pub fn set_reference_count(&mut self, index: u32, count: u16) -> bool {
        let Some(position) = self
            .object(index)
            .map(|object| object.index)
            .and_then(|index| self.objects.binary_search_by_key(&index, |object| object.index).ok())
        else {
            return false;
        };
        let Some(object) = self.objects.get_mut(position) else { return false };
        let start = object.data.start - header_size(self.params);
        let Some(field) = self.bytes.get_mut(start + 2..start + 4) else { return false };
        field.copy_from_slice(&count.to_le_bytes());
        object.reference_count = count;
        true
    }

    /// Returns the index of the first gap between the object numbers of a global heap collection.
    /// The index is a position in the list of objects, sorted by number.
    fn first_gap(&self) -> usize {
        let numbered =
            |(position, object): (usize, &GlobalHeapObject)| usize::from(object.index) != position + 1;
        // Usually the numbers have no gap; the last number then equals the number of objects.
        match self.objects.last() {
            Some(last) if usize::from(last.index) != self.objects.len() => {
                self.objects.iter().enumerate().position(numbered).unwrap_or(self.objects.len())
            }
            _ => self.objects.len(),
        }
    }

    /// Fills the free space of a global heap collection with zeros. Writes the header of object 0,
    /// which describes the free space, if it fits.
    fn write_free_space(&mut self) -> Result<()> {
        self.bytes.get_mut(self.used..).ok_or_else(inconsistent)?.fill(0);
        self.write_free_header()
    }

    /// Writes the header of object 0, which describes the free space of a global heap collection.
    /// Writes nothing if the header does not fit.
    fn write_free_header(&mut self) -> Result<()> {
        let rest = self.bytes.get_mut(self.used..).ok_or_else(inconsistent)?;
        let length = rest.len();
        if length < header_size(self.params) {
            rest.fill(0);
            return Ok(());
        }
        write_object_header(rest, FREE_SPACE, 0, length, self.params)
    }
}

/// The identity of an object in the file's global heaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// Address of the collection. Undefined or 0 if there is no object, as for a variable-length
    /// value of length 0.
    pub collection: Address,
    /// Number of the object in its collection.
    pub index: u32,
}

impl GlobalHeapId {
    /// Returns the size of a global heap ID in bytes.
    pub const fn size(params: FileParams) -> usize {
        params.offset_width() + 4
    }

    /// Reads a global heap ID from `reader`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if bytes are missing.
    pub fn read(reader: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let collection = reader.offset(params, "collection address")?;
        Ok(Self { collection, index: reader.u32("object index")? })
    }

    /// Writes the global heap ID to `writer`.
    pub fn write(&self, writer: &mut Writer, params: FileParams) {
        writer.offset(params, self.collection, "collection address");
        writer.u32(self.index);
    }

    /// Writes the global heap ID into `field`, which has [`size`](Self::size) bytes. Does not
    /// allocate a [`Writer`].
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if the address does not fit its width, or if the field has
    /// another size.
    pub fn put(&self, field: &mut [u8], params: FileParams) -> Result<()> {
        let address = self.collection.raw().to_le_bytes();
        let width = params.offset_width();
        let above = address.get(width..).is_none_or(|above| above.iter().all(|byte| *byte == 0));
        let is_representable = above || !self.collection.is_defined();
        match field.split_at_mut_checked(width) {
            Some((to, index)) if is_representable && index.len() == 4 => {
                // An undefined address has all bits set in each width.
                to.fill(if self.collection.is_defined() { 0 } else { u8::MAX });
                to.iter_mut().zip(address).for_each(|(to, from)| *to = from);
                index.copy_from_slice(&self.index.to_le_bytes());
                Ok(())
            }
            _ => Err(FormatError::Encode {
                structure: "global heap ID",
                field: "collection address",
                got: format!("{:#x} in {} bytes", self.collection.raw(), field.len()),
            }),
        }
    }

    /// Returns true if the global heap ID refers to no object.
    pub fn is_null(&self) -> bool {
        self.index == 0 || matches!(self.collection.get(), None | Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const WIDE: FileParams = FileParams::DEFAULT;

    /// Returns a collection with objects 2 ("abc", two references) and 1 ("defghijkl"), then 24
    /// free bytes.
    fn image() -> Vec<u8> {
        let mut bytes = b"GCOL\x01\x00\x00\x00".to_vec();
        bytes.extend(104_u64.to_le_bytes());
        bytes.extend([2, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(*b"abc\0\0\0\0\0");
        bytes.extend([1, 0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(*b"defghijkl\0\0\0\0\0\0\0");
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0]);
        bytes.resize(104, 0);
        bytes
    }

    fn context(size: usize) -> GlobalHeapContext {
        GlobalHeapContext { params: WIDE, size }
    }

    #[test]
    fn two_objects() {
        let heap = GlobalHeapCollection::decode(&image(), &context(104)).unwrap();
        assert_eq!(heap.get(2), Some(&b"abc"[..]));
        assert_eq!(heap.get(1), Some(&b"defghijkl"[..]));
        assert_eq!((heap.get(0), heap.get(3), heap.get(0x1_0001)), (None, None, None));
        assert_eq!(heap.object(2).unwrap().reference_count, 2);
        assert_eq!((heap.free_space(), heap.objects().len()), (32, 2));
        assert_eq!(heap.encode(&context(104)).unwrap(), image());
        assert!(heap.encode(&context(105)).is_err());
    }

    #[test]
    fn insert_and_remove() {
        let mut heap = GlobalHeapCollection::new(104, WIDE).unwrap();
        assert_eq!(heap.insert(b"defghijkl"), Ok(Some(1)));
        assert_eq!(heap.insert(b"abc"), Ok(Some(2)));
        assert_eq!(heap.insert(b""), Ok(Some(3)));
        assert_eq!(heap.insert(b"x"), Ok(None));
        assert_eq!(heap.remove(1), Ok(true));
        assert_eq!(heap.remove(1), Ok(false));
        assert_eq!((heap.get(2), heap.get(3)), (Some(&b"abc"[..]), Some(&b""[..])));
        assert_eq!(heap.remove(3), Ok(true));
        assert_eq!(heap.insert(b"defghijkl"), Ok(Some(1)));
        assert!(heap.set_reference_count(2, 2));
        assert!(!heap.set_reference_count(7, 2));
        assert_eq!(heap.encode(&context(104)).unwrap(), image());
        assert_eq!(GlobalHeapCollection::decode(heap.bytes(), &context(104)).unwrap(), heap);
    }

    #[test]
    fn tails() {
        // Eight bytes cannot hold the header of object 0.
        let mut heap = GlobalHeapCollection::new(48, WIDE).unwrap();
        assert_eq!(heap.insert(b"12345678"), Ok(Some(1)));
        assert_eq!(heap.free_space(), 8);
        let again = GlobalHeapCollection::decode(heap.bytes(), &context(48)).unwrap();
        assert_eq!((again.get(1), again.free_space()), (Some(&b"12345678"[..]), 8));
        // An object extends past the end of the collection.
        let mut bytes = image();
        bytes[24] = 90;
        assert!(GlobalHeapCollection::decode(&bytes, &context(104)).is_err());
        // The free space extends past the end of the collection.
        let mut bytes = image();
        bytes[80] = 33;
        assert!(GlobalHeapCollection::decode(&bytes, &context(104)).is_err());
        // The collection is truncated.
        assert!(GlobalHeapCollection::decode(&image()[..103], &context(104)).is_err());
    }

    #[test]
    fn short_lengths_are_padded() {
        let params = FileParams { size_of_offsets: 8, size_of_lengths: 4 };
        let mut heap = GlobalHeapCollection::new(64, params).unwrap();
        heap.insert(b"text").unwrap();
        let mut expected = b"GCOL\x01\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00".to_vec();
        expected.extend([1, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend(*b"text\0\0\0\0");
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0]);
        expected.resize(64, 0);
        assert_eq!(heap.bytes(), expected);
    }

    #[test]
    fn heap_id() {
        let bytes = [0x10, 0x20, 0, 0, 7, 0, 0, 0];
        let params = FileParams { size_of_offsets: 4, size_of_lengths: 4 };
        let id = GlobalHeapId::read(&mut Reader::new("test", &bytes), params).unwrap();
        assert_eq!(id, GlobalHeapId { collection: Address::new(0x2010), index: 7 });
        let mut writer = Writer::new("test");
        id.write(&mut writer, params);
        assert_eq!((writer.finish().unwrap(), id.is_null()), (bytes.to_vec(), false));
        let mut field = [0x55; 12];
        id.put(&mut field[..bytes.len()], params).unwrap();
        assert_eq!(field[..bytes.len()], bytes);
        assert!(id.put(&mut field[..bytes.len() - 1], params).is_err());
        let far = GlobalHeapId { collection: Address::new(1 << 40), index: 1 };
        assert_eq!(far.put(&mut field[..bytes.len()], params).is_ok(), params.offset_width() > 5);
        assert!(GlobalHeapId { collection: Address::new(0), index: 0 }.is_null());
    }

    proptest! {
        #[test]
        fn like_a_map(steps in prop::collection::vec((any::<bool>(), 1_u16..12, prop::collection::vec(any::<u8>(), 0..40)), 0..40)) {
            let mut heap = GlobalHeapCollection::new(512, WIDE).unwrap();
            let mut model = std::collections::BTreeMap::new();
            for (add, index, data) in steps {
                if add {
                    if let Some(index) = heap.insert(&data).unwrap() {
                        prop_assert!(model.insert(index, data).is_none());
                    }
                } else {
                    prop_assert_eq!(heap.remove(index.into()).unwrap(), model.remove(&index).is_some());
                }
                let again = GlobalHeapCollection::decode(&heap.encode(&context(512)).unwrap(), &context(512)).unwrap();
                prop_assert_eq!(&again, &heap);
                prop_assert_eq!(heap.objects().len(), model.len());
                for (index, data) in &model {
                    prop_assert_eq!(heap.get((*index).into()), Some(data.as_slice()));
                }
            }
        }

        #[test]
        fn damaged(damage in damage()) {
            damage.inflict(&image(), |bytes| {
                if let Ok(mut heap) = GlobalHeapCollection::decode(bytes, &context(104)) {
                    for object in heap.objects().to_vec() {
                        drop(heap.remove(object.index.into()));
                        drop(heap.insert(b"new"));
                    }
                }
            });
        }
    }

    #[test]
    fn a_collection_that_contradicts_itself_is_an_internal_error() {
        let mut collection = GlobalHeapCollection::new(GLOBAL_HEAP_MIN_SIZE, FileParams::DEFAULT).unwrap();
        collection.insert(b"first").unwrap();
        let mut shifted = collection.clone();
        shifted.objects[0].data = 4096..4101;
        assert!(matches!(shifted.retain(|_| true), Err(FormatError::Internal { .. })));
        collection.used = collection.bytes.len() + 8;
        let error = collection.insert(b"second").unwrap_err();
        assert!(matches!(error, FormatError::Internal { .. }), "{error}");
        assert!(error.to_string().starts_with("internal error: global heap collection: "), "{error}");
    }
}
