//! The length of an encoded datatype message whose buffer has no known size.

use crate::error::{Failure, Outcome, codes};
use crate::pointer::Data;

/// The maximum nesting depth of an encoded datatype.
const MAX_DEPTH: usize = 32;

/// A read position in an encoded datatype message of the caller. No read goes past the end of the
/// message.
struct Walk {
    /// The caller's encoded message.
    data: Data,
    /// The offset of the next byte in the message.
    at: usize,
}

impl Walk {
    /// Returns the next `count` bytes of the encoded datatype and advances the read position.
    fn take<'a>(&mut self, count: usize) -> Outcome<&'a [u8]> {
        let end = self.at.checked_add(count).ok_or_else(damaged)?;
        let bytes = self.data.get(end).and_then(|bytes| bytes.get(self.at..)).ok_or_else(damaged)?;
        self.at = end;
        Ok(bytes)
    }

    /// Reads a little-endian number of `width` bytes from the encoded datatype.
    fn number(&mut self, width: usize) -> Outcome<usize> {
        let bytes = self.take(width)?;
        let value = bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        usize::try_from(value).map_err(|_| damaged())
    }

    /// Skips a member name with its zero byte in an encoded datatype. Before version 3 of the
    /// encoding, also skips the padding to eight bytes.
    fn skip_name(&mut self, version: usize) -> Outcome<()> {
        let mut length = 1_usize;
        while self.number(1)? != 0 {
            length += 1;
        }
        if version < 3 {
            self.take(length.next_multiple_of(8) - length)?;
        }
        Ok(())
    }

    /// Skips an encoded datatype in the message and returns the size of its elements.
    fn skip_datatype(&mut self, depth: usize) -> Outcome<usize> {
        if depth > MAX_DEPTH {
            return Err(damaged());
        }
        let start = self.number(1)?;
        let (version, class) = (start >> 4, start & 0xf);
        let flags = self.number(3)?;
        let size = self.number(4)?;
        if !(1..=5).contains(&version) {
            return Err(damaged());
        }
        match class {
            0 | 4 => self.take(4).map(|_| ())?,
            1 => self.take(12).map(|_| ())?,
            2 => self.take(2).map(|_| ())?,
            3 | 7 => {}
            5 => self.take(flags & 0xff).map(|_| ())?,
            6 => {
                for _ in 0..flags & 0xffff {
                    self.skip_name(version)?;
                    self.take(if version < 3 { 4 } else { offset_width(size) })?;
                    self.take(if version == 1 { 28 } else { 0 })?;
                    self.skip_datatype(depth + 1)?;
                }
            }
            8 => {
                let base = self.skip_datatype(depth + 1)?;
                let members = flags & 0xffff;
                for _ in 0..members {
                    self.skip_name(version)?;
                }
                self.take(members.checked_mul(base).ok_or_else(damaged)?)?;
            }
            9 | 11 => self.skip_datatype(depth + 1).map(|_| ())?,
            10 => {
                let rank = self.number(1)?;
                self.take(if version < 3 { 3 + rank * 8 } else { rank * 4 })?;
                self.skip_datatype(depth + 1)?;
            }
            _ => return Err(damaged()),
        }
        Ok(size)
    }
}

/// Returns the width in bytes of a member offset in an encoded compound datatype of `size` bytes.
fn offset_width(size: usize) -> usize {
    match size {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// Returns the failure for a caller's bytes that are not an encoded datatype.
fn damaged() -> Failure {
    Failure::new(codes::DATATYPE, codes::CANTDECODE, "not an encoded datatype")
}

/// Returns the offset in the caller's bytes after the encoded datatype that starts at `start`.
///
/// # Errors
/// Fails if the bytes are not an encoded datatype.
pub fn end_of_message(data: Data, start: usize) -> Outcome<usize> {
    let mut walk = Walk { data, at: start };
    walk.skip_datatype(1)?;
    Ok(walk.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::datatype::ByteOrder::LittleEndian;
    use hyperslab::datatype::EnumerationMember;
    use hyperslab::{CharacterSet, Datatype, serialized};

    #[test]
    fn lengths_are_those_of_the_encoder() {
        let member = |name: &[u8]| EnumerationMember { name: name.to_vec(), value: vec![0; 2] };
        let colors = vec![member(b"red"), member(b"ultramarine")];
        let enumeration = Datatype::enumeration(Datatype::i16(LittleEndian), colors);
        let inner = Datatype::packed([("x", Datatype::f32(LittleEndian)), ("color", enumeration)]);
        let parts = [
            ("inner", Datatype::array([2, 3], inner.clone())),
            ("text", Datatype::variable_string(CharacterSet::Utf8, 8)),
            ("opaque", Datatype::opaque(5, "tag")),
            ("reference", Datatype::object_reference(8)),
            ("bits", Datatype::bitfield(2, LittleEndian)),
        ];
        let complex =
            Datatype::packed([("z", Datatype::complex(Datatype::f64(LittleEndian))), ("a", inner.clone())]);
        for datatype in [inner, Datatype::packed(parts), complex] {
            let bytes = serialized::datatype_to_bytes(&datatype).unwrap();
            assert_eq!(end_of_message(Data::of(bytes.as_ptr().cast()), 0).unwrap(), bytes.len());
        }
        assert!(end_of_message(Data::of([0xf0_u8; 12].as_ptr().cast()), 0).is_err());
    }
}
