//! Datatype classes 3 and 5: strings of fixed length, opaque bytes with a tag.
//!
//! ```text
//! class bit field                                     properties
//! 3 string   bits 0-3 padding (0 null-terminated,     none
//!            1 null-padded, 2 space-padded),
//!            4-7 character set (0 ASCII, 1 UTF-8)
//! 5 opaque   bits 0-7 length of the tag field,        the tag, zero bytes up to a multiple of 8
//!            a multiple of 8
//! ```
//!
//! A tag whose length is a multiple of eight has no terminating zero byte, although the
//! specification calls the tag NUL-terminated.

use hyperslab_datatype::{CharacterSet, DatatypeClass, FixedString, Opaque, StringPadding};

use super::{Prefix, Start};
use crate::codec::{Reader, Result, Writer};

pub(super) fn padding_from(number: u8, r: &Reader<'_>) -> Result<StringPadding> {
    match number {
        0 => Ok(StringPadding::NullTerminated),
        1 => Ok(StringPadding::NullPadded),
        2 => Ok(StringPadding::SpacePadded),
        other => Err(r.unsupported(format!("string padding type {other}"))),
    }
}

pub(super) fn charset_from(number: u8, r: &Reader<'_>) -> Result<CharacterSet> {
    match number {
        0 => Ok(CharacterSet::Ascii),
        1 => Ok(CharacterSet::Utf8),
        other => Err(r.unsupported(format!("character set {other}"))),
    }
}

pub(super) fn padding_number(padding: StringPadding) -> u32 {
    match padding {
        StringPadding::NullTerminated => 0,
        StringPadding::NullPadded => 1,
        StringPadding::SpacePadded => 2,
    }
}

pub(super) fn charset_number(charset: CharacterSet) -> u32 {
    match charset {
        CharacterSet::Ascii => 0,
        CharacterSet::Utf8 => 1,
    }
}

pub(super) fn decode_string(r: &Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let padding = padding_from(prefix.nibble(0), r)?;
    let charset = charset_from(prefix.nibble(4), r)?;
    Ok(DatatypeClass::String(FixedString { padding, charset }))
}

pub(super) fn encode_string(string: FixedString, start: Start, w: &mut Writer) {
    start.write(padding_number(string.padding) | charset_number(string.charset) << 4, w);
}

pub(super) fn decode_opaque(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let [length, ..] = prefix.flags.to_le_bytes();
    if length % 8 != 0 {
        return Err(r.corrupt("length of ASCII tag", "a multiple of 8", length));
    }
    let field = r.take(usize::from(length), "ASCII tag")?;
    let tag = field.iter().copied().take_while(|byte| *byte != 0).collect();
    Ok(DatatypeClass::Opaque(Opaque { tag }))
}

pub(super) fn encode_opaque(opaque: &Opaque, start: Start, w: &mut Writer) {
    let length = opaque.tag.len().next_multiple_of(8);
    if opaque.tag.contains(&0) {
        w.fail("ASCII tag", "a tag with a zero byte inside");
    }
    match u8::try_from(length) {
        Ok(flags) => start.write(u32::from(flags), w),
        Err(_) => w.fail("length of ASCII tag", length),
    }
    w.bytes(&opaque.tag);
    w.zeros(length - opaque.tag.len());
}
