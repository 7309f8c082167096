//! Datatype class 6: compounds, records of named members.
//!
//! ```text
//! class bit field: bits 0-15 number of members (at least 1)
//! properties: for each member
//!   version 1                               version 2                    version 3 and later
//!   name, zero bytes to a multiple of 8     the same                     name, one zero byte
//!   4  byte offset                          4 byte offset                1-4 byte offset
//!   1  dimensionality (0-4)                 .. member datatype           .. member datatype
//!   3  reserved
//!   4  dimension permutation (unused)
//!   4  reserved
//!   16 four dimension sizes
//!   .. member datatype
//! ```
//!
//! A version 1 member with dimensions is an array of its datatype. In version 3 and later, the size
//! of the compound determines the width of the offset.

use std::collections::HashSet;

use hyperslab_datatype::{Array, Compound, Datatype, DatatypeClass, Member};

use super::{PACKED_VERSION, Prefix, Start, decode_at, decode_name, encode_at, encode_name};
use crate::codec::{Reader, Result, Writer};

/// Number of dimension sizes that a version 1 datatype message stores for a compound member.
const V1_DIMENSIONS: usize = 4;

/// Returns the width in bytes of the field for a compound member's offset in a datatype message.
fn offset_width(version: u8, compound_size: u32) -> usize {
    if version < PACKED_VERSION {
        return 4;
    }
    match compound_size {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// Smallest size of a compound member in a datatype message, in bytes: an empty name, an offset and
/// a datatype without properties.
const MIN_MEMBER_BYTES: usize = 1 + 1 + super::PREFIX_SIZE;

pub(super) fn decode(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let count = r.count(prefix.member_count(), MIN_MEMBER_BYTES, "number of members")?;
    if count == 0 {
        return Err(r.corrupt("number of members", "at least 1", 0));
    }
    let mut members = Vec::with_capacity(count);
    let mut ranges = Vec::with_capacity(count);
    for _ in 0..count {
        let (member, stored_size) = decode_member(r, prefix)?;
        let end = u64::from(member.offset) + u64::from(stored_size);
        if end > u64::from(prefix.size) {
            return Err(r.corrupt("member", format!("an end within {} bytes", prefix.size), end));
        }
        if stored_size != member.datatype.size {
            return Err(r.unsupported(format!(
                "a compound member whose size field is {stored_size} instead of {}",
                member.datatype.size
            )));
        }
        ranges.push((u64::from(member.offset), end));
        members.push(member);
    }
    check_no_overlap(r, &mut ranges)?;
    check_names(r, &members)?;
    Ok(DatatypeClass::Compound(Compound { members }))
}

/// Checks that no members of a compound datatype overlap.
fn check_no_overlap(r: &Reader<'_>, ranges: &mut [(u64, u64)]) -> Result<()> {
    ranges.sort_unstable();
    let mut free_from = 0;
    for (start, end) in ranges {
        if *start < free_from {
            return Err(r.corrupt("byte offset of member", format!("at least {free_from}"), start));
        }
        free_from = *end;
    }
    Ok(())
}

/// Checks that no two members of a compound datatype have the same name.
fn check_names(r: &Reader<'_>, members: &[Member]) -> Result<()> {
    let mut seen = HashSet::with_capacity(members.len());
    match members.iter().find(|member| !seen.insert(member.name.as_slice())) {
        None => Ok(()),
        Some(twice) => {
            let name = format!("\"{}\" twice", twice.name.escape_ascii());
            Err(r.corrupt("member name", "a unique name", name))
        }
    }
}

/// Decodes one compound member of a datatype message. Returns the member and the size field of its
/// datatype.
fn decode_member(r: &mut Reader<'_>, prefix: &Prefix) -> Result<(Member, u32)> {
    let name = decode_name(r, prefix.version)?;
    let width = offset_width(prefix.version, prefix.size);
    let offset = r.uint(width, "byte offset of member")?;
    let offset =
        u32::try_from(offset).map_err(|_| r.corrupt("byte offset of member", "at most 32 bits", offset))?;
    let dims = if prefix.version == 1 { decode_dimensions(r)? } else { Vec::new() };
    let inner = decode_at(r, prefix.params, prefix.depth + 1)?;
    if dims.is_empty() {
        return Ok((Member { name, offset, datatype: inner.datatype }, inner.stored_size));
    }
    let items = dims.iter().try_fold(1_u32, |product, dim| product.checked_mul(*dim));
    let sizes = items.and_then(|items| {
        Some((items.checked_mul(inner.datatype.size)?, items.checked_mul(inner.stored_size)?))
    });
    let Some((size, stored_size)) = sizes else {
        return Err(r.corrupt("dimension sizes", "an array below 4 GiB", format_args!("{dims:?}")));
    };
    let class = DatatypeClass::Array(Array { dims, base: Box::new(inner.datatype) });
    Ok((Member { name, offset, datatype: Datatype { size, class } }, stored_size))
}

/// Decodes the dimensions of a compound member in a version 1 datatype message. The list is empty
/// for a scalar.
fn decode_dimensions(r: &mut Reader<'_>) -> Result<Vec<u32>> {
    let rank = r.u8("dimensionality")?;
    r.skip(3, "reserved")?;
    r.skip(4, "dimension permutation")?;
    r.skip(4, "reserved")?;
    let mut dims = Vec::with_capacity(V1_DIMENSIONS);
    for _ in 0..V1_DIMENSIONS {
        dims.push(r.u32("dimension size")?);
    }
    if usize::from(rank) > V1_DIMENSIONS {
        return Err(r.corrupt("dimensionality", "at most 4", rank));
    }
    dims.truncate(usize::from(rank));
    if dims.contains(&0) {
        return Err(r.corrupt("dimension size", "at least 1", 0));
    }
    Ok(dims)
}

pub(super) fn encode(compound: &Compound, start: Start, w: &mut Writer) {
    match u16::try_from(compound.members.len()) {
        Ok(count) if count > 0 => start.write(u32::from(count), w),
        _ => w.fail("number of members", compound.members.len()),
    }
    let width = offset_width(start.version, start.size);
    for member in &compound.members {
        encode_name(&member.name, start.version, w);
        w.uint(width, u64::from(member.offset), "byte offset of member");
        if start.version == 1 {
            w.zeros(4 + 4 + 4 + 4 * V1_DIMENSIONS);
        }
        encode_at(&member.datatype, start.lowest, w);
    }
}
