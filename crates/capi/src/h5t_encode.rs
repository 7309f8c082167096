//! Encoding and decoding of datatypes (`H5Tencode`, `H5Tdecode*`).
//!
//! ```text
//! 1  number of the datatype message (3)
//! 1  version (0)
//!    datatype message
//! ```

use hyperslab::{Datatype, serialized};

use crate::ctypes::{herr_t, hid_t};
use crate::datatype::length;
use crate::error::{Because, Failure, Outcome, codes};
use crate::pointer::{Buffer, Data, Out};
use crate::{datatype, export, h5s_encode};

/// The object header message type number of a datatype message.
const MESSAGE: u8 = 3;
/// The version of the encoding of datatypes (`H5Tencode`).
const VERSION: u8 = 0;
/// The number of bytes before the datatype message in an encoded datatype.
const HEADER: usize = 2;

/// Returns the encoding of a datatype as `H5Tencode` stores it.
pub fn encode(datatype: &Datatype) -> Outcome<Vec<u8>> {
    let message = serialized::datatype_to_bytes(datatype)?;
    Ok([&[MESSAGE, VERSION], message.as_slice()].concat())
}

/// Decodes a datatype from the bytes of its encoding.
pub fn decode(bytes: &[u8]) -> Outcome<Datatype> {
    if bytes.get(..HEADER) != Some(&[MESSAGE, VERSION]) {
        return Err(Failure::new(codes::DATATYPE, codes::BADMESG, "not an encoded datatype"));
    }
    Ok(serialized::datatype_from_bytes(bytes.get(HEADER..).unwrap_or_default())?)
}

/// Decodes a datatype from a buffer of unknown size. Reads only the bytes of the encoded datatype.
fn decode_unbounded(buffer: Data) -> Outcome<Datatype> {
    let end = length::end_of_message(buffer, HEADER)?;
    decode(buffer.bytes(end, "buffer")?)
}

/// Decodes a datatype from the caller's buffer, registers the datatype, and returns its identifier.
fn from_bytes(buffer: Data, length: Option<usize>) -> Outcome<hid_t> {
    if buffer.pointer().is_null() {
        return Err(Failure::bad_value("no buffer"));
    }
    let datatype = match length {
        Some(length) => decode(buffer.bytes(length, "buffer")?),
        None => decode_unbounded(buffer),
    };
    let text = "cannot decode the datatype";
    Ok(datatype::register(datatype.because(codes::DATATYPE, codes::CANTDECODE, text)?))
}

export! {
    /// Encodes a datatype into `buffer` and stores the size of the encoding in `size`.
    fn H5Tencode(id: hid_t, buffer: Buffer, size: Out<usize>) -> herr_t {
        let datatype = datatype::copy_of(id)?;
        let size = size.require("size of the buffer")?;
        let text = "cannot encode the datatype";
        let bytes = encode(&datatype).because(codes::DATATYPE, codes::CANTENCODE, text)?;
        h5s_encode::store(&bytes, buffer, size)
    }

    /// Decodes a datatype and returns the datatype's new identifier, under the symbol name of HDF5
    /// 1.14.
    fn H5Tdecode(buffer: Data) -> hid_t {
        from_bytes(buffer, None)
    }

    /// Decodes a datatype from a buffer of unknown size and returns the datatype's new identifier.
    fn H5Tdecode1(buffer: Data) -> hid_t {
        from_bytes(buffer, None)
    }

    /// Decodes a datatype from a buffer of `size` bytes and returns the datatype's new identifier.
    fn H5Tdecode2(buffer: Data, size: usize) -> hid_t {
        from_bytes(buffer, Some(size))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5t::variable_string;
    use hyperslab::CharacterSet;
    use hyperslab::datatype::{ByteOrder::LittleEndian, Member, StringPadding};

    fn round_trip(datatype: &Datatype) -> (Datatype, Datatype) {
        crate::init::start();
        let id = datatype::register(datatype.clone());
        let mut size = 0_usize;
        // SAFETY: the buffer has as many bytes as the first call states.
        unsafe {
            assert_eq!(H5Tencode(id, Buffer::of(std::ptr::null_mut()), Out::of(&raw mut size)), 0);
            let mut bytes = vec![0_u8; size];
            assert_eq!(H5Tencode(id, Buffer::of(bytes.as_mut_ptr().cast()), Out::of(&raw mut size)), 0);
            let data = Data::of(bytes.as_ptr().cast());
            assert_eq!(H5Tdecode2(data, size - 1), -1);
            let copy = |id| datatype::copy_of(id).unwrap();
            (copy(H5Tdecode1(data)), copy(H5Tdecode2(data, size)))
        }
    }

    #[test]
    fn datatypes_come_back() {
        let text = variable_string(StringPadding::NullTerminated, CharacterSet::Utf8);
        let member = |name: &[u8], offset, datatype| Member { name: name.to_vec(), offset, datatype };
        let members = vec![member(b"text", 0, text), member(b"number", 8, Datatype::i32(LittleEndian))];
        let compound = Datatype::compound(12, members);
        let (one, two) = round_trip(&compound);
        assert!(datatype::equal(&one, &compound) && datatype::equal(&two, &compound));
        let array = Datatype::array([2, 2], Datatype::f64(LittleEndian));
        assert_eq!(round_trip(&array), (array.clone(), array));
    }

    #[test]
    fn bytes_are_those_of_the_library() {
        let bytes = encode(&Datatype::i32(LittleEndian)).unwrap();
        assert_eq!(bytes, [3, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0]);
        let bad = [0_u8; 16];
        // SAFETY: the buffer has 16 bytes.
        assert_eq!(unsafe { H5Tdecode2(Data::of(bad.as_ptr().cast()), 16) }, -1);
    }
}
