//! Datatype class 8: enumerations, named values.
//!
//! ```text
//! class bit field: bits 0-15 number of members
//! properties: .. base datatype, of the same size as the enumeration
//!             .. names, each with a zero byte; before version 3 zero-padded to a multiple of 8
//!             .. values, packed, each as an element of the base type
//! ```
//!
//! The newer of the versions of the enumeration and of its base determines the layout of the names.

use hyperslab_datatype::{DatatypeClass, Enumeration, EnumerationMember};

use super::{Prefix, Start, decode_at, decode_name, encode_at, encode_name};
use crate::codec::{Reader, Result, Writer};

pub(super) fn decode(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let base = decode_at(r, prefix.params, prefix.depth + 1)?;
    if base.stored_size != prefix.size || base.datatype.size != prefix.size {
        return Err(r.corrupt("size", format!("{} (the size of the base)", base.stored_size), prefix.size));
    }
    let version = prefix.version.max(base.version);
    let count = r.count(prefix.member_count(), 2, "number of members")?;
    let mut names = Vec::with_capacity(count);
    for _ in 0..count {
        let name = decode_name(r, version)?;
        if name.is_empty() {
            return Err(r.corrupt("member name", "at least one byte", 0));
        }
        names.push(name);
    }
    let mut members = Vec::with_capacity(count);
    for name in names {
        let value = r.take_u64(u64::from(prefix.size), "member value")?.to_vec();
        members.push(EnumerationMember { name, value });
    }
    Ok(DatatypeClass::Enumeration(Enumeration { base: Box::new(base.datatype), members }))
}

pub(super) fn encode(enumeration: &Enumeration, start: Start, w: &mut Writer) {
    match u16::try_from(enumeration.members.len()) {
        Ok(count) => start.write(u32::from(count), w),
        Err(_) => w.fail("number of members", enumeration.members.len()),
    }
    if enumeration.base.size != start.size {
        w.fail("size", start.size);
    }
    encode_at(&enumeration.base, start.lowest, w);
    for member in &enumeration.members {
        if member.name.is_empty() {
            w.fail("member name", "an empty name");
        }
        encode_name(&member.name, start.version, w);
    }
    for member in &enumeration.members {
        if u32::try_from(member.value.len()) != Ok(start.size) {
            w.fail("member value", format_args!("{} bytes", member.value.len()));
        }
        w.bytes(&member.value);
    }
}
