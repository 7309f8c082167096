//! Encoding of the defined elements of a structured chunk.

use hyperslab_dataspace::{Corners, Dataspace, DefinedSet, Hyperslab, Selection};
use hyperslab_exact::to_u64;

use super::words::Word;
use super::{ENCODE_VERSION, ID, NAME, SIZE_OF_SIZE};
use crate::codec::{FileParams, FormatError, Result, Writer};
use crate::message::{DataspaceMessage, Message};
use crate::selection::{HYPERSLAB, POINTS, SelectionFormat, width_for, write_selection};

/// The form in which the set of a structured chunk's defined elements is encoded: points or blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefinedEncoding {
    /// "All" if every element is defined, else a hyperslab; regular if possible.
    #[default]
    Hyperslab,
    /// A list of points, in ascending order.
    Points,
    /// The form that takes fewer bytes.
    Shortest,
}

/// Encodes the set of a structured chunk's defined elements. An empty set is encoded as the
/// selection "none" in every encoding.
///
/// # Errors
/// Returns [`FormatError::Encode`] if memory cannot hold the elements.
pub fn encode_defined(set: &DefinedSet, encoding: DefinedEncoding) -> Result<Vec<u8>> {
    if set.is_empty() {
        return encode_selection(set, &Selection::None);
    }
    if encoding == DefinedEncoding::Points {
        return encode_points(set, points_width(set));
    }
    if set.is_all() {
        return encode_selection(set, &Selection::All);
    }
    let corners = set.corners();
    if let Some(regular) = corners.as_regular() {
        let regular = encode_selection(set, &Selection::Hyperslab(Hyperslab::Regular(regular)))?;
        if encoding == DefinedEncoding::Shortest {
            let points = points_width(set);
            if points_bytes(set, points) < (regular.len() - header_bytes(set)) as u128 {
                return encode_points(set, points);
            }
        }
        return Ok(regular);
    }
    let width = blocks_width(set, &corners);
    if encoding == DefinedEncoding::Shortest {
        let points = points_width(set);
        if points_bytes(set, points) < blocks_bytes(set, &corners, width) as u128 {
            return encode_points(set, points);
        }
    }
    encode_blocks(set, &corners, width)
}

/// Creates a writer for a set of defined elements. Writes the fields up to the dimensions of the
/// chunk.
fn header(set: &DefinedSet, selection_bytes: usize) -> Result<Writer> {
    let params = FileParams { size_of_offsets: SIZE_OF_SIZE, size_of_lengths: SIZE_OF_SIZE };
    let message = DataspaceMessage { version: 2, dataspace: Dataspace::simple(set.dims()) };
    let extent = message.to_bytes(params)?;
    let mut writer = Writer::with_capacity(NAME, header_bytes(set) + selection_bytes);
    writer.u8(ID);
    writer.u8(ENCODE_VERSION);
    writer.u8(SIZE_OF_SIZE);
    writer.narrow_u32(extent.len(), "extent length");
    writer.bytes(&extent);
    Ok(writer)
}

fn header_bytes(set: &DefinedSet) -> usize {
    7 + 4 + set.dims().len() * 8
}

fn encode_selection(set: &DefinedSet, selection: &Selection) -> Result<Vec<u8>> {
    let mut writer = header(set, 32)?;
    write_selection(&mut writer, selection, SelectionFormat::Compact);
    writer.finish()
}

/// Returns the width of the numbers in an encoded set of defined elements. The numbers are the
/// count of items and all coordinates. Calls `highest` only if the highest coordinate can affect
/// the width.
fn width(set: &DefinedSet, items: u64, highest: impl FnOnce() -> u64) -> usize {
    let bound = set.dims().iter().copied().max().map_or(0, |size| size.max(1) - 1);
    if width_for(bound) <= width_for(items) {
        return width_for(items);
    }
    width_for(highest().max(items))
}

/// Returns the highest coordinate of all defined elements of a chunk.
fn highest_of_points(set: &DefinedSet) -> u64 {
    fn of_rank<const R: usize>(set: &DefinedSet) -> u64 {
        let mut highest = 0;
        set.for_each_point::<R>(|at| highest = at.into_iter().fold(highest, u64::max));
        highest
    }
    match set.dims().len() {
        1 => of_rank::<1>(set),
        2 => of_rank::<2>(set),
        3 => of_rank::<3>(set),
        4 => of_rank::<4>(set),
        _ => highest_of_blocks(&set.corners(), 0),
    }
}

/// Returns the highest coordinate in a chunk's list of blocks of defined elements.
fn highest_of_blocks(corners: &Corners, rank: usize) -> u64 {
    fn of_rank<const R: usize>(corners: &Corners) -> u64 {
        let mut highest = 0;
        corners.for_each::<R>(|_, end| highest = end.into_iter().fold(highest, u64::max));
        highest
    }
    match rank {
        1 => of_rank::<1>(corners),
        2 => of_rank::<2>(corners),
        3 => of_rank::<3>(corners),
        4 => of_rank::<4>(corners),
        _ => corners.iter().flat_map(|(_, end)| end).max().unwrap_or(0),
    }
}

fn points_width(set: &DefinedSet) -> usize {
    width(set, set.len(), || highest_of_points(set))
}

fn blocks_width(set: &DefinedSet, corners: &Corners) -> usize {
    width(set, to_u64(corners.len()), || highest_of_blocks(corners, set.dims().len()))
}

/// Returns the encoded size in bytes of a set of defined elements as a list of points. The size may
/// exceed 64 bits.
fn points_bytes(set: &DefinedSet, width: usize) -> u128 {
    let coordinates = u128::from(set.len()) * set.dims().len() as u128;
    (coordinates + 1) * width as u128 + 13
}

fn blocks_bytes(set: &DefinedSet, corners: &Corners, width: usize) -> usize {
    let coordinates = corners.len() * set.dims().len() * 2;
    (coordinates + 1) * width + 14
}

fn encode_points(set: &DefinedSet, width: usize) -> Result<Vec<u8>> {
    let coordinates = match width {
        2 => packed_points::<u16>(set)?,
        4 => packed_points::<u32>(set)?,
        _ => packed_points::<u64>(set)?,
    };
    let mut writer = header(set, coordinates.len() + 32)?;
    writer.u32(POINTS);
    writer.u32(2);
    writer.narrow_u8(width, "encode size");
    writer.narrow_u32(set.dims().len(), "rank");
    writer.uint(width, set.len(), "number of points");
    writer.bytes(&coordinates);
    writer.finish()
}

fn packed_points<W: Word>(set: &DefinedSet) -> Result<Vec<u8>> {
    let words = match set.dims().len() {
        1 => points_of_rank::<W, 1>(set)?.into_flattened(),
        2 => points_of_rank::<W, 2>(set)?.into_flattened(),
        3 => points_of_rank::<W, 3>(set)?.into_flattened(),
        4 => points_of_rank::<W, 4>(set)?.into_flattened(),
        rank => points_of_any_rank::<W>(set, rank)?,
    };
    Ok(W::join(words))
}

/// Allocates a vector with `items` items for each defined element of a chunk. Returns an error if
/// the vector does not fit in memory.
fn reserve_items<T>(set: &DefinedSet, items: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    let count = usize::try_from(set.len()).ok().and_then(|elements| elements.checked_mul(items));
    match count.map(|count| vector.try_reserve_exact(count)) {
        Some(Ok(())) => Ok(vector),
        _ => Err(FormatError::Encode {
            structure: NAME,
            field: "number of points",
            got: set.len().to_string(),
        }),
    }
}

fn points_of_rank<W: Word, const R: usize>(set: &DefinedSet) -> Result<Vec<[W::Bytes; R]>> {
    let mut points = reserve_items(set, 1)?;
    set.for_each_point::<R>(|at| points.push(at.map(W::write)));
    Ok(points)
}

fn points_of_any_rank<W: Word>(set: &DefinedSet, rank: usize) -> Result<Vec<W::Bytes>> {
    let mut words = reserve_items(set, rank)?;
    set.for_each_row_run(0..set.total(), |at, _, count| {
        let Some((column, rows)) = at.split_last() else { return };
        for step in 0..count {
            words.extend(rows.iter().map(|row| W::write(*row)));
            words.push(W::write(column + step));
        }
    });
    Ok(words)
}

fn encode_blocks(set: &DefinedSet, corners: &Corners, width: usize) -> Result<Vec<u8>> {
    let mut writer = header(set, blocks_bytes(set, corners, width))?;
    writer.u32(HYPERSLAB);
    writer.u32(3);
    writer.u8(0);
    writer.narrow_u8(width, "encode size");
    writer.narrow_u32(set.dims().len(), "rank");
    writer.uint(width, to_u64(corners.len()), "number of blocks");
    let rank = set.dims().len();
    match width {
        2 => writer.bytes(&packed_blocks::<u16>(corners, rank)),
        4 => writer.bytes(&packed_blocks::<u32>(corners, rank)),
        _ => writer.bytes(&packed_blocks::<u64>(corners, rank)),
    }
    writer.finish()
}

fn packed_blocks<W: Word>(corners: &Corners, rank: usize) -> Vec<u8> {
    let words = match rank {
        1 => blocks_of_rank::<W, 1>(corners),
        2 => blocks_of_rank::<W, 2>(corners),
        3 => blocks_of_rank::<W, 3>(corners),
        4 => blocks_of_rank::<W, 4>(corners),
        _ => corners.iter().flat_map(|(start, end)| start.into_iter().chain(end)).map(W::write).collect(),
    };
    W::join(words)
}

fn blocks_of_rank<W: Word, const R: usize>(corners: &Corners) -> Vec<W::Bytes> {
    let mut blocks = Vec::with_capacity(corners.len());
    corners.for_each::<R>(|start, end| blocks.push([start.map(W::write), end.map(W::write)]));
    blocks.into_flattened().into_flattened()
}
