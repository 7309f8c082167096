//! Encoded selection of a structured chunk: the set of its defined elements. The encoding is a
//! dataspace description, which consists of a dataspace message and a selection.
//!
//! ```text
//! byte  0   id = 1
//!       1   encode version = 0
//!       2   size of size = 8
//!       3   extent length (4)
//!       7   dataspace message: the extent of the chunk
//!           selection, relative to the chunk's first element
//! ```
//! [`selection`](crate::selection) describes the format of the selection. This module converts
//! between bytes and element offsets directly, without a [`Selection`] in memory.

mod blocks;
mod encode;
mod points;
#[cfg(test)]
mod tests;
mod words;

use hyperslab_dataspace::{Dataspace, DefinedBuilder, DefinedSet, Hyperslab, RegularHyperslab, Selection};

use crate::codec::{FileParams, FormatError, Reader, Result};
use crate::message::{DataspaceMessage, Message};
use crate::selection::{ALL, HYPERSLAB, NONE, POINTS, REGULAR, read_regular, read_width};

pub use encode::{DefinedEncoding, encode_defined};

const NAME: &str = "encoded selection";
const ID: u8 = 1;
const ENCODE_VERSION: u8 = 0;
const SIZE_OF_SIZE: u8 = 8;

/// The decoded set of a structured chunk's defined elements, and the order of their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedDefined {
    /// Set of defined elements.
    pub set: DefinedSet,
    /// Order of the stored values, if elements are not listed in ascending order: for each defined
    /// element, in ascending order, the number of its stored value. If an element is listed more
    /// than once, the last value counts.
    pub order: Option<Vec<u64>>,
    /// Number of stored values.
    pub stored: u64,
}

/// Decodes the set of defined elements of a structured chunk with the dimensions `chunk`.
///
/// Memory use is proportional to the number of bytes; for hyperslabs also to the number of
/// elements, which `most_elements` limits.
///
/// # Errors
/// Returns [`FormatError::Corrupt`] if bytes are missing, remain, or contradict the format or the
/// chunk. Returns [`FormatError::Limit`] for more than `most_elements` elements.
pub fn decode_defined(bytes: &[u8], chunk: &[u64], most_elements: u64) -> Result<DecodedDefined> {
    let mut reader = Reader::new(NAME, bytes);
    read_extent(&mut reader, chunk)?;
    let kind = reader.u32("selection type")?;
    let version = reader.u32("version")?;
    let decoded = match (kind, version) {
        (NONE, 1) => {
            reader.skip(8, "reserved")?;
            in_order(DefinedSet::empty(chunk).map_err(outside)?)
        }
        (ALL, 1) => {
            reader.skip(8, "reserved")?;
            in_order(DefinedSet::all(chunk).map_err(outside)?)
        }
        (POINTS, 1 | 2) => {
            let width = read_width_or_length(&mut reader, version == 1)?;
            read_rank(&mut reader, chunk)?;
            points::read(&mut reader, chunk, width, most_elements)?
        }
        (HYPERSLAB, 1..=3) => in_order(read_hyperslab(&mut reader, version, chunk, most_elements)?),
        (NONE..=ALL, _) => {
            return Err(reader.unsupported(format!("selection type {kind} of version {version}")));
        }
        _ => return Err(reader.corrupt("selection type", "0 to 3", kind)),
    };
    reader.finish()?;
    within(decoded.stored, most_elements)?;
    Ok(decoded)
}

fn in_order(set: DefinedSet) -> DecodedDefined {
    DecodedDefined { stored: set.len(), set, order: None }
}

/// Creates an error about defined elements that lie outside of the structured chunk. `error` is the
/// cause.
fn outside(error: hyperslab_dataspace::DataspaceError) -> FormatError {
    FormatError::corrupt(NAME, "selection", "elements of the chunk", error)
}

fn within(elements: u64, most_elements: u64) -> Result<()> {
    if elements <= most_elements {
        return Ok(());
    }
    Err(FormatError::Limit { structure: NAME, subject: "elements", got: elements, limit: most_elements })
}

fn read_extent(reader: &mut Reader<'_>, chunk: &[u64]) -> Result<()> {
    for (field, expected) in [("id", ID), ("encode version", ENCODE_VERSION)] {
        let got = reader.u8(field)?;
        if got != expected {
            return Err(reader.corrupt(field, expected.to_string(), got));
        }
    }
    let size_of_lengths = reader.u8("size of size")?;
    if !matches!(size_of_lengths, 2 | 4 | 8) {
        return Err(reader.corrupt("size of size", "2, 4 or 8", size_of_lengths));
    }
    let length = reader.u32("extent length")?;
    let params = FileParams { size_of_offsets: SIZE_OF_SIZE, size_of_lengths };
    let extent = DataspaceMessage::decode(reader.take_u64(length.into(), "extent")?, params)?;
    if extent.dataspace.dims() == chunk {
        return check_extent_length(reader, &extent, length, size_of_lengths);
    }
    let expected = format!("the extent of the chunk, {}", Dataspace::simple(chunk));
    Err(reader.corrupt("extent", expected, extent.dataspace))
}

/// Checks the length of the dataspace in an encoded set of a chunk's defined elements. The stored
/// length must match the version and the rank of the dataspace.
fn check_extent_length(
    reader: &Reader<'_>,
    extent: &DataspaceMessage,
    length: u32,
    size_of_lengths: u8,
) -> Result<()> {
    let before = if extent.version == 1 { 8 } else { 4 };
    let has_max_dims = matches!(&extent.dataspace, Dataspace::Simple(simple) if simple.max_dims.is_some());
    let sizes = extent.dataspace.rank() * (if has_max_dims { 2 } else { 1 });
    let expected = sizes * usize::from(size_of_lengths) + before;
    if usize::try_from(length) == Ok(expected) {
        return Ok(());
    }
    Err(reader.corrupt("extent length", expected.to_string(), length))
}

fn read_rank(reader: &mut Reader<'_>, chunk: &[u64]) -> Result<()> {
    let rank = reader.u32("rank")?;
    if usize::try_from(rank) == Ok(chunk.len()) {
        return Ok(());
    }
    Err(reader.corrupt("rank", format!("the rank of the chunk, {}", chunk.len()), rank))
}

/// Reads the width of coordinates in an encoded set of defined elements. In version 1, the field is
/// a length: ignores the length and returns a width of 4.
fn read_width_or_length(reader: &mut Reader<'_>, has_length: bool) -> Result<usize> {
    if has_length {
        return reader.skip(8, "length").map(|()| 4);
    }
    read_width(reader)
}

fn read_hyperslab(
    reader: &mut Reader<'_>,
    version: u32,
    chunk: &[u64],
    most_elements: u64,
) -> Result<DefinedSet> {
    let flags = if version == 1 { 0 } else { reader.u8("flags")? };
    if flags & !REGULAR != 0 || (version == 2 && flags != REGULAR) {
        return Err(reader.corrupt("flags", if version == 2 { "1 (regular)" } else { "0 or 1" }, flags));
    }
    let width = if version == 2 {
        reader.skip(4, "length").map(|()| 8)?
    } else {
        read_width_or_length(reader, version == 1)?
    };
    read_rank(reader, chunk)?;
    if flags != REGULAR {
        return blocks::read(reader, chunk, width, most_elements);
    }
    let regular = read_regular(reader, chunk.len(), width)?;
    of_regular(regular, chunk, most_elements)
}

fn of_regular(regular: RegularHyperslab, chunk: &[u64], most_elements: u64) -> Result<DefinedSet> {
    if regular.is_unlimited() {
        return Err(FormatError::corrupt(NAME, "count", "a limited hyperslab", "an unlimited one"));
    }
    let selection = Selection::Hyperslab(Hyperslab::Regular(regular));
    within(selection.element_count(chunk).map_err(outside)?, most_elements)?;
    let mut builder = DefinedBuilder::with_capacity(chunk, 0).map_err(outside)?;
    for run in selection.linear_runs(chunk).map_err(outside)? {
        builder.push_run(run.offset, run.length);
    }
    builder.finish().map_err(outside)
}
