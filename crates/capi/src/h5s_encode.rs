//! Encoding and decoding of dataspaces (`H5Sencode*`, `H5Sdecode`).
//!
//! ```text
//! 1  number of the dataspace message (1)
//! 1  version (0)
//! 1  size of lengths (8)
//! 4  size of the message
//!    dataspace message, serialized selection
//! ```

use hyperslab::serialized::{self, SelectionFormat};
use hyperslab::{Dataspace, Hyperslab, Selection, SimpleExtent, UNLIMITED};

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::plist::settings::Settings;
use crate::pointer::{Buffer, Data, Out};
use crate::space::{self, CSpace};

/// The object header message type number of a dataspace message.
const MESSAGE: u8 = 1;
/// The version of the encoding of dataspaces (`H5Sencode`).
const VERSION: u8 = 0;
/// The number of bytes in which an encoded dataspace stores a length.
const LENGTH_BYTES: u8 = 8;
/// The number of bytes before the dataspace message in an encoded dataspace.
const HEADER: usize = 7;
/// The lowest library version bound under which encoded selections have the compact form
/// (`H5F_LIBVER_V112`).
const COMPACT_SINCE: i32 = 3;

/// Returns an equal selection in which blocks that touch each other are one block. A format that
/// lists all blocks becomes shorter.
pub fn merged(selection: &Selection) -> Selection {
    let mut selection = selection.clone();
    if let Selection::Hyperslab(Hyperslab::Regular(slab)) = &mut selection {
        for ((stride, count), block) in slab.stride.iter_mut().zip(&mut slab.count).zip(&mut slab.block) {
            let size = count.checked_mul(*block).filter(|size| *size > 0 && *count != UNLIMITED);
            if let Some(size) = size.filter(|_| stride == block && *block != UNLIMITED) {
                (*stride, *count, *block) = (size, 1, size);
            }
        }
    }
    selection
}

/// Returns the encoding of a dataspace with its selection in the format `form`.
pub fn encode(space: &CSpace, form: SelectionFormat) -> Outcome<Vec<u8>> {
    let mut extent = space.extent.clone();
    if let Dataspace::Simple(SimpleExtent { max_dims, .. }) = &mut extent {
        // The C library always encodes the maximum dimensions.
        *max_dims = Some(space.extent.max_dims());
    }
    let message = serialized::extent_to_bytes(&extent)?;
    let selection = match form {
        SelectionFormat::Compatible | SelectionFormat::Regular => {
            serialized::selection_to_bytes(&merged(&space.selection), form)?
        }
        _ => serialized::selection_to_bytes(&space.selection, form)?,
    };
    let size = u32::try_from(message.len()).map_err(|_| Failure::bad_value("the extent is too large"))?;
    let header = [&[MESSAGE, VERSION, LENGTH_BYTES], size.to_le_bytes().as_slice()].concat();
    Ok([header, message, selection].concat())
}

/// Stores the size of an encoded dataspace or datatype in `size`. If the encoding fits, stores it
/// in `buffer`. All encoding functions of the C interface return their result in this way.
///
/// # Errors
/// Fails with a bad value if `size` is null.
pub fn store(bytes: &[u8], buffer: Buffer, size: Out<usize>) -> Outcome<herr_t> {
    let available = size.require("size of the buffer")?.get().unwrap_or(0);
    if !buffer.is_null() && available >= bytes.len() {
        buffer.put(bytes, bytes.len());
    }
    size.put(bytes.len());
    Ok(0)
}

/// Encodes a dataspace into the caller's buffer in the selection format `form`.
fn encode_to(space: hid_t, buffer: Buffer, size: Out<usize>, form: SelectionFormat) -> Outcome<herr_t> {
    let space = space::copy_of(space)?;
    size.require("size of the buffer")?;
    let text = "cannot encode the dataspace";
    store(&encode(&space, form).because(codes::DATASPACE, codes::CANTENCODE, text)?, buffer, size)
}

/// Returns the format of encoded selections that a file access list permits by its version bounds.
pub fn form_of(list: hid_t) -> Outcome<SelectionFormat> {
    if list == H5P_DEFAULT {
        return Ok(SelectionFormat::Compatible);
    }
    let list = crate::plist::find(list)?;
    Ok(match &*list.settings.read() {
        Settings::FileAccess(access) if access.libver.0 >= COMPACT_SINCE => SelectionFormat::Compact,
        _ => SelectionFormat::Compatible,
    })
}

/// Reads a little-endian number of `width` bytes at the offset `at` of an encoded dataspace.
/// Returns `None` if bytes are missing.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    let value = bytes
        .iter()
        .rev()
        .try_fold(0_u64, |value, byte| value.checked_mul(256)?.checked_add(u64::from(*byte)))?;
    usize::try_from(value).ok()
}

/// Returns a lower bound for the size of an encoded selection from its first bytes. If the bound
/// stays the same with more bytes, the bound is the exact size.
fn selection_size(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < 14 {
        return Some(14);
    }
    let (kind, version) = (number(bytes, 0, 4)?, number(bytes, 4, 4)?);
    match (kind, version) {
        (0 | 3, _) => Some(16),
        (_, 1) if bytes.len() < 16 => Some(16),
        (_, 1) => number(bytes, 12, 4)?.checked_add(16),
        (1, _) => {
            let (width, rank) = (number(bytes, 8, 1)?, number(bytes, 9, 4)?);
            let fixed = width.checked_add(13)?;
            let Some(points) = number(bytes, 13, width) else { return Some(fixed) };
            points.checked_mul(rank)?.checked_mul(width)?.checked_add(fixed)
        }
        (_, 2) => number(bytes, 9, 4)?.checked_add(13),
        _ => {
            let (flags, width, rank) = (number(bytes, 8, 1)?, number(bytes, 9, 1)?, number(bytes, 10, 4)?);
            if flags & 1 == 1 {
                return rank.checked_mul(4)?.checked_mul(width)?.checked_add(14);
            }
            let fixed = width.checked_add(14)?;
            let Some(blocks) = number(bytes, 14, width) else { return Some(fixed) };
            blocks.checked_mul(rank)?.checked_mul(2)?.checked_mul(width)?.checked_add(fixed)
        }
    }
}

/// Decodes a dataspace from the caller's bytes. Returns the dataspace and the length of the
/// encoding. The encoding states its own length; the function reads no bytes after it.
pub fn decode(data: Data) -> Outcome<(CSpace, usize)> {
    let damaged = || Failure::new(codes::DATASPACE, codes::CANTDECODE, "not an encoded dataspace");
    let header = data.get(HEADER).ok_or_else(|| Failure::bad_value("no buffer"))?;
    if header.get(..3) != Some(&[MESSAGE, VERSION, LENGTH_BYTES]) {
        return Err(Failure::new(codes::DATASPACE, codes::BADMESG, "not an encoded dataspace"));
    }
    let extent_end = number(header, 3, 4).and_then(|size| size.checked_add(HEADER)).ok_or_else(damaged)?;
    let extent = data.get(extent_end).and_then(|bytes| bytes.get(HEADER..)).ok_or_else(damaged)?;
    let extent = serialized::extent_from_bytes(extent)?;
    let mut selection: &[u8] = &[];
    loop {
        let size = selection_size(selection).ok_or_else(damaged)?;
        if size <= selection.len() {
            selection = selection.get(..size).unwrap_or_default();
            break;
        }
        let all = data.get(extent_end.checked_add(size).ok_or_else(damaged)?);
        selection = all.and_then(|bytes| bytes.get(extent_end..)).ok_or_else(damaged)?;
    }
    let length = extent_end + selection.len();
    let selection = serialized::selection_from_bytes(selection)?;
    let rank = match &selection {
        Selection::Points(points) => points.rank,
        Selection::Hyperslab(Hyperslab::Regular(slab)) => slab.rank(),
        Selection::Hyperslab(Hyperslab::Irregular { rank, .. }) => *rank,
        _ => extent.rank(),
    };
    if rank != extent.rank() {
        return Err(damaged());
    }
    Ok((CSpace { extent, selection: selection.simplified()?, offset: Vec::new() }, length))
}

export! {
    /// Encodes a dataspace into `buffer` in the format that all HDF5 versions read.
    fn H5Sencode1(space: hid_t, buffer: Buffer, size: Out<usize>) -> herr_t {
        encode_to(space, buffer, size, SelectionFormat::Compatible)
    }

    /// Encodes a dataspace into `buffer` in a format that the version bounds of the list `access`
    /// permit.
    fn H5Sencode2(space: hid_t, buffer: Buffer, size: Out<usize>, access: hid_t) -> herr_t {
        encode_to(space, buffer, size, form_of(access)?)
    }

    /// Decodes a dataspace and returns the dataspace's new identifier.
    fn H5Sdecode(buffer: Data) -> hid_t {
        if buffer.pointer().is_null() {
            return Err(Failure::bad_value("no buffer"));
        }
        let (space, _) = decode(buffer).because(
            codes::DATASPACE,
            codes::CANTDECODE,
            "cannot decode the dataspace",
        )?;
        Ok(space::register(space))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use hyperslab::{Points, Region, SetOperation};

    fn round_trip(space: &CSpace) -> CSpace {
        crate::init::start();
        let id = space::register(space.clone());
        let mut size = 0_usize;
        // SAFETY: the buffer has as many bytes as the first call states.
        unsafe {
            assert_eq!(H5Sencode1(id, Buffer::of(std::ptr::null_mut()), Out::of(&raw mut size)), 0);
            let mut bytes = vec![0_u8; size];
            assert_eq!(H5Sencode1(id, Buffer::of(bytes.as_mut_ptr().cast()), Out::of(&raw mut size)), 0);
            space::copy_of(H5Sdecode(Data::of(bytes.as_ptr().cast()))).unwrap()
        }
    }

    #[test]
    fn dataspaces_come_back() {
        let extent = Dataspace::extendible(&[4, 100_000], &[Some(4), None]).unwrap();
        let mut space = CSpace::all(extent.clone());
        assert_eq!(round_trip(&space), space);
        space.selection = Selection::Points(Points { rank: 2, coordinates: vec![3, 4, 0, 99_999] });
        assert_eq!(round_trip(&space), space);
        let (a, b) = (Region::from([0..2, 0..2]), Region::from([1..3, 1..3]));
        let (a, b) = (Selection::region(&a), Selection::region(&b));
        space.selection = space::combine(&a, SetOperation::Or, &b, &extent).unwrap();
        assert_eq!(round_trip(&space), space);
        assert_eq!(round_trip(&CSpace::all(Dataspace::Null)), CSpace::all(Dataspace::Null));
    }

    #[test]
    fn bytes_of_a_scalar_are_those_of_the_library() {
        let bytes = encode(&CSpace::all(Dataspace::Scalar), SelectionFormat::Compatible).unwrap();
        assert_eq!(bytes.get(..15).unwrap(), [1, 0, 8, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes.len(), 7 + 8 + 16);
        // SAFETY: the pointer is null.
        assert_eq!(unsafe { H5Sdecode(Data::of(std::ptr::null())) }, -1);
    }
}
