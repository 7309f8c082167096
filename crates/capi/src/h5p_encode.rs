//! Encoded property lists (`H5Pencode2`, `H5Pdecode`).
//!
//! The encoding equals the encoding of the C library for scalar values: the version, the number of
//! the list's class, then the name, a zero byte and the value of each property. A zero byte ends
//! the list. A number follows a byte with its width; truth values and single bytes have no width.
//! Chunk shapes, filters, fill values and other properties without a scalar value are not encoded.

use std::sync::Arc;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::id::{Entry, register};
use crate::plist::classes::LibraryClass;
use crate::plist::names::{self, Form};
use crate::plist::{self, PropertyList};
use crate::pointer::{Buffer, Data, Out, Stream};
use crate::symbols as s;

/// The version of the encoding of property lists.
const VERSION: u8 = 0;
/// The maximum size in bytes of an encoded property list that the library decodes.
const MAX_BYTES: usize = 1 << 20;

/// A table of the property list classes that can be encoded: for each class number in an encoding,
/// the class and its identifier.
const KINDS: &[(u8, LibraryClass, hid_t)] = {
    use LibraryClass as L;
    &[
        (1, L::Root, s::CLASS_ROOT),
        (2, L::ObjectCreate, s::CLASS_OBJECT_CREATE),
        (3, L::FileCreate, s::CLASS_FILE_CREATE),
        (4, L::FileAccess, s::CLASS_FILE_ACCESS),
        (5, L::DatasetCreate, s::CLASS_DATASET_CREATE),
        (6, L::DatasetAccess, s::CLASS_DATASET_ACCESS),
        (7, L::Transfer, s::CLASS_DATASET_XFER),
        (8, L::FileMount, s::CLASS_FILE_MOUNT),
        (9, L::GroupCreate, s::CLASS_GROUP_CREATE),
        (10, L::GroupAccess, s::CLASS_GROUP_ACCESS),
        (11, L::DatatypeCreate, s::CLASS_DATATYPE_CREATE),
        (12, L::DatatypeAccess, s::CLASS_DATATYPE_ACCESS),
        (13, L::StringCreate, s::CLASS_STRING_CREATE),
        (14, L::AttributeCreate, s::CLASS_ATTRIBUTE_CREATE),
        (15, L::ObjectCopy, s::CLASS_OBJECT_COPY),
        (16, L::LinkCreate, s::CLASS_LINK_CREATE),
        (17, L::LinkAccess, s::CLASS_LINK_ACCESS),
        (18, L::AttributeAccess, s::CLASS_ATTRIBUTE_ACCESS),
        (19, L::ConnectorInitialize, s::CLASS_VOL_INITIALIZE),
        (20, L::MapCreate, s::CLASS_MAP_CREATE),
        (21, L::MapAccess, s::CLASS_MAP_ACCESS),
        (22, L::ReferenceAccess, s::CLASS_REFERENCE_ACCESS),
    ]
};

/// Returns the encoding of a property list.
fn encode(list: &PropertyList) -> Vec<u8> {
    let class = list.class.library;
    let kind = KINDS.iter().find(|(_, other, _)| *other == class).map_or(0, |(kind, ..)| *kind);
    let mut bytes = vec![VERSION, kind];
    let settings = list.settings.read();
    for known in names::known(class) {
        let Ok(value) = known.get(&settings) else { continue };
        bytes.extend_from_slice(known.name.as_bytes());
        bytes.push(0);
        match known.form {
            Form::Byte => bytes.extend_from_slice(&value),
            Form::Number => {
                bytes.push(u8::try_from(value.len()).unwrap_or(u8::MAX));
                bytes.extend(value);
            }
            Form::Size => {
                let used = value.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
                bytes.push(u8::try_from(used).unwrap_or(u8::MAX));
                bytes.extend(value.into_iter().take(used));
            }
        }
    }
    bytes.push(0);
    bytes
}

/// Returns the next `count` bytes of an encoded property list.
fn take(bytes: &mut Stream, count: usize) -> Outcome<Vec<u8>> {
    bytes.take(count).because(codes::PLIST, codes::CANTDECODE, "the encoding is too long")
}

/// Returns the next byte of an encoded property list.
fn take_byte(bytes: &mut Stream) -> Outcome<u8> {
    Ok(take(bytes, 1)?.first().copied().unwrap_or(0))
}

/// Returns the next name of an encoded property list, without its zero byte.
fn take_name(bytes: &mut Stream) -> Outcome<Vec<u8>> {
    let mut name = Vec::new();
    loop {
        match take_byte(bytes)? {
            0 => return Ok(name),
            byte => name.push(byte),
        }
    }
}

/// Decodes a property list from the caller's bytes.
fn decode(bytes: &mut Stream) -> Outcome<PropertyList> {
    let bad = |text: &'static str| Failure::new(codes::PLIST, codes::BADVALUE, text);
    if take_byte(bytes)? != VERSION {
        return Err(Failure::new(codes::PLIST, codes::VERSION, "unknown version of the encoding"));
    }
    let kind = take_byte(bytes)?;
    let class = KINDS.iter().find(|(number, ..)| *number == kind).ok_or_else(|| bad("unknown list"))?;
    let list = PropertyList::create(crate::h5p::find_class(class.2)?)?;
    loop {
        let name = take_name(bytes)?;
        if name.is_empty() {
            return Ok(list);
        }
        let known = names::find(class.1, &name).ok_or_else(|| bad("unknown property"))?;
        let width = if known.form == Form::Byte { 1 } else { take_byte(bytes)?.into() };
        if width > known.size {
            return Err(bad("an encoded value is wider than its property"));
        }
        let mut value = take(bytes, width)?;
        value.resize(known.size, 0);
        known.set(&mut list.settings.write(), &value)?;
    }
}

/// Encodes a property list into the caller's buffer. If the buffer is null or too small, stores
/// only the size.
fn store_encoding(list: hid_t, buffer: Buffer, size: Out<usize>) -> Outcome<herr_t> {
    let bytes = encode(&*plist::find(list)?);
    let space = size.require("size")?.get().unwrap_or(0);
    if !buffer.is_null() && space >= bytes.len() {
        buffer.put(&bytes, bytes.len());
    }
    size.put(bytes.len());
    Ok(0)
}

export! {
    /// Encodes a property list into `buf` and stores the size of the encoding in `nalloc`.
    fn H5Pencode2(plist_id: hid_t, buf: Buffer, nalloc: Out<usize>, fapl_id: hid_t) -> herr_t {
        let _ = fapl_id;
        store_encoding(plist_id, buf, nalloc)
    }

    /// Encodes a property list into `buf` and stores the size of the encoding in `nalloc` (HDF5
    /// 1.10 form).
    fn H5Pencode1(plist_id: hid_t, buf: Buffer, nalloc: Out<usize>) -> herr_t {
        store_encoding(plist_id, buf, nalloc)
    }

    /// Decodes a property list and returns the list's new identifier. The encoding states its own
    /// length.
    fn H5Pdecode(buf: Data) -> hid_t {
        let mut bytes = buf.stream(MAX_BYTES).ok_or_else(|| Failure::bad_value("no encoding"))?;
        let list = decode(&mut bytes).because(codes::PLIST, codes::CANTDECODE, "the list cannot be decoded")?;
        Ok(register(Entry::PropertyList(Arc::new(list))))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::{H5Pcreate, H5Pequal};
    use crate::h5p_file_create::{H5Pset_sym_k, H5Pset_userblock};

    #[test]
    fn lists_are_encoded_and_decoded() {
        let mut size = 0_usize;
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(s::CLASS_FILE_CREATE);
            assert_eq!((H5Pset_userblock(list, 2048), H5Pset_sym_k(list, 0, 9)), (0, 0));
            let none = Buffer::of(std::ptr::null_mut());
            assert_eq!(H5Pencode1(list, none, Out::of(&raw mut size)), 0);
            let mut bytes = vec![0_u8; size];
            assert_eq!(H5Pencode2(list, Buffer::of(bytes.as_mut_ptr().cast()), Out::of(&raw mut size), 0), 0);
            let copy = H5Pdecode(Data::of(bytes.as_ptr().cast()));
            assert!(copy > 0);
            assert_eq!(H5Pequal(list, copy), 1);
            bytes[0] = 9;
            assert_eq!(H5Pdecode(Data::of(bytes.as_ptr().cast())), -1);
        }
    }
}
