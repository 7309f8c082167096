//! The attributes `DIMENSION_LIST` and `REFERENCE_LIST`.

use std::ffi::c_int;

use crate::ctypes::{H5P_DEFAULT, H5T_VARIABLE, class, hid_t, hvl_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::object;
use crate::pointer::{Buffer, Data, Foreign, Text};
use crate::scale::reference::Kind;
use crate::scale::{DIMENSION_LIST, REFERENCE_LIST};
use crate::sys;

/// The scales of each dimension of a dataset, as bytes of references. The bytes stay valid as long
/// as the list.
#[derive(Debug)]
pub struct DimensionList {
    /// The interface of the references.
    pub kind: Kind,
    /// The references of each dimension.
    pub scales: Vec<Vec<Vec<u8>>>,
    /// The elements that the library allocated, with their datatype and dataspace.
    read: Option<(Vec<hvl_t>, Id, Id)>,
}

impl DimensionList {
    /// Returns a list without scales.
    pub fn empty(kind: Kind, rank: usize) -> Self {
        Self { kind, scales: vec![Vec::new(); rank], read: None }
    }

    /// Reads the list of a dataset, or returns `None` if the dataset has none.
    ///
    /// # Errors
    /// Fails if the attribute cannot be read or is another one.
    pub fn read(dataset: hid_t, rank: usize) -> Outcome<Option<Self>> {
        let Some(attribute) = object::attribute(dataset, DIMENSION_LIST)? else { return Ok(None) };
        let of_file = Id::own(sys::H5Aget_type(attribute.get()))?;
        if check(sys::H5Tget_class(of_file.get()))? != class::VLEN {
            return Err(Failure::bad_type("DIMENSION_LIST is not a list of sequences"));
        }
        let kind = Kind::of(Id::own(sys::H5Tget_super(of_file.get()))?.get())?;
        let datatype = Id::own(sys::H5Tvlen_create(kind.datatype()))?;
        let space = Id::own(sys::H5Aget_space(attribute.get()))?;
        let count = check(sys::H5Sget_simple_extent_npoints(space.get()))?;
        if usize::try_from(count).ok() != Some(rank) {
            return Err(Failure::bad_type(format!("DIMENSION_LIST has {count} dimensions of {rank}")));
        }
        let mut elements = vec![hvl_t { len: 0, p: std::ptr::null_mut() }; rank];
        check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::values(&mut elements)))?;
        let scales = elements.iter().map(|element| references(kind, *element)).collect();
        Ok(Some(Self { kind, scales, read: Some((elements, datatype, space)) }))
    }

    /// Writes the list to a dataset, or removes the attribute if no dimension has a scale.
    ///
    /// # Errors
    /// Fails if the attribute cannot be written.
    pub fn write(&self, dataset: hid_t) -> Outcome<()> {
        if self.scales.iter().all(Vec::is_empty) {
            return check(sys::H5Adelete(dataset, Text::of(DIMENSION_LIST))).map(drop);
        }
        let mut bytes: Vec<Vec<u8>> = self.scales.iter().map(|scales| scales.concat()).collect();
        let lengths = self.scales.iter().map(Vec::len);
        let elements = bytes.iter_mut().zip(lengths).map(|(bytes, len)| hvl_t {
            len,
            p: if len == 0 { std::ptr::null_mut() } else { bytes.as_mut_ptr().cast() },
        });
        let mut elements: Vec<hvl_t> = elements.collect();
        let datatype = Id::own(sys::H5Tvlen_create(self.kind.datatype()))?;
        let space = object::space(&[hyperslab_exact::to_u64(elements.len())])?;
        let value = Buffer::values(&mut elements).data();
        object::set_attribute(dataset, DIMENSION_LIST, datatype.get(), &space, value)
    }
}

impl Drop for DimensionList {
    fn drop(&mut self) {
        if let Some((elements, datatype, space)) = &mut self.read {
            sys::H5Treclaim(datatype.get(), space.get(), H5P_DEFAULT, Buffer::values(elements));
        }
    }
}

/// Returns the references of one sequence.
fn references(kind: Kind, element: hvl_t) -> Vec<Vec<u8>> {
    let bytes = element.len.checked_mul(kind.size()).filter(|length| *length < H5T_VARIABLE);
    let bytes = bytes.map_or_else(Vec::new, |length| Foreign::of(element.p).bytes(length));
    bytes.chunks_exact(kind.size()).map(<[u8]>::to_vec).collect()
}

/// The datasets and dimensions that have a scale.
#[derive(Debug)]
pub struct ReferenceList {
    /// The interface of the references.
    pub kind: Kind,
    /// The references to datasets, each with the number of a dimension.
    pub entries: Vec<(Vec<u8>, c_int)>,
    /// The elements that were read, with their datatype and dataspace.
    read: Option<(Vec<u8>, Id, Id)>,
}

impl ReferenceList {
    /// Returns a list without datasets.
    pub fn empty(kind: Kind) -> Self {
        Self { kind, entries: Vec::new(), read: None }
    }

    /// Reads the list of a scale, or returns `None` if the scale has none.
    ///
    /// # Errors
    /// Fails if the attribute cannot be read or is another one.
    pub fn read(scale: hid_t) -> Outcome<Option<Self>> {
        let Some(attribute) = object::attribute(scale, REFERENCE_LIST)? else { return Ok(None) };
        let of_file = Id::own(sys::H5Aget_type(attribute.get()))?;
        if check(sys::H5Tget_class(of_file.get()))? != class::COMPOUND {
            return Err(Failure::bad_type("REFERENCE_LIST is not a list of pairs"));
        }
        let member = check(sys::H5Tget_member_index(of_file.get(), Text::of(c"dataset")))?;
        let member = Id::own(sys::H5Tget_member_type(of_file.get(), member.cast_unsigned()))?;
        let kind = Kind::of(member.get())?;
        let datatype = entry_type(kind)?;
        let space = Id::own(sys::H5Aget_space(attribute.get()))?;
        let count = check(sys::H5Sget_simple_extent_npoints(space.get()))?;
        let size = entry_size(kind);
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let mut bytes = vec![0; length.ok_or_else(|| Failure::bad_range("REFERENCE_LIST is too long"))?];
        check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::to(&mut bytes)))?;
        let entries = bytes.chunks_exact(size).filter_map(|entry| split(kind, entry)).collect();
        Ok(Some(Self { kind, entries, read: Some((bytes, datatype, space)) }))
    }

    /// Writes the list to a scale, or removes the attribute if the list is empty.
    ///
    /// # Errors
    /// Fails if the attribute cannot be written.
    pub fn write(&self, scale: hid_t) -> Outcome<()> {
        if self.entries.is_empty() {
            return check(sys::H5Adelete(scale, Text::of(REFERENCE_LIST))).map(drop);
        }
        let mut bytes = Vec::new();
        for (reference, dimension) in &self.entries {
            bytes.extend_from_slice(reference);
            bytes.extend_from_slice(&dimension.to_ne_bytes());
            bytes.extend_from_slice(&[0; 4]);
        }
        let datatype = entry_type(self.kind)?;
        let space = object::space(&[hyperslab_exact::to_u64(self.entries.len())])?;
        object::set_attribute(scale, REFERENCE_LIST, datatype.get(), &space, Data::to(&bytes))
    }
}

impl Drop for ReferenceList {
    fn drop(&mut self) {
        if let (Kind::New, Some((bytes, datatype, space))) = (self.kind, &mut self.read) {
            sys::H5Treclaim(datatype.get(), space.get(), H5P_DEFAULT, Buffer::to(bytes));
        }
    }
}

/// Returns the number of bytes of an entry in memory: a reference, a number, and padding.
fn entry_size(kind: Kind) -> usize {
    kind.size() + 8
}

/// Returns the datatype of an entry, in memory and in files.
fn entry_type(kind: Kind) -> Outcome<Id> {
    let datatype = Id::own(sys::H5Tcreate(class::COMPOUND, entry_size(kind)))?;
    check(sys::H5Tinsert(datatype.get(), Text::of(c"dataset"), 0, kind.datatype()))?;
    check(sys::H5Tinsert(datatype.get(), Text::of(c"dimension"), kind.size(), sys::H5T_NATIVE_INT_g))?;
    Ok(datatype)
}

/// Returns the reference and the number of an entry in memory.
#[expect(clippy::host_endian_bytes, reason = "an entry in memory has the order of the machine")]
fn split(kind: Kind, entry: &[u8]) -> Option<(Vec<u8>, c_int)> {
    let (reference, rest) = entry.split_at_checked(kind.size())?;
    Some((reference.to_vec(), c_int::from_ne_bytes(*rest.first_chunk()?)))
}
