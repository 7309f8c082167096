//! Serialized dataspace selection (File Format Specification, section VIII.A). Region references,
//! virtual dataset mappings and structured chunks contain such selections.
//!
//! ```text
//! byte  0   selection type (4)             0 none, 1 points, 2 hyperslab, 3 all
//!       4   version (4)
//!
//! none, all v1       reserved (8)
//! points v1          reserved (4), length (4), rank (4), number (4), coordinates (4 each)
//! points v2          encode size w (1), rank (4), number (w), coordinates (w each)
//! hyperslab v1       reserved (4), length (4), rank (4), number of blocks (4),
//!                    each: starts, ends (4 each)
//! hyperslab v2       flags (1), length (4), rank (4),
//!                    each dimension: start, stride, count, block (8 each)
//! hyperslab v3       flags (1), encode size w (1), rank (4)
//!                    flags bit 0 set: each dimension: start, stride, count, block (w each)
//!                    not set: number of blocks (w), each: starts, ends (w each)
//! ```
//! A length counts the bytes from the rank on; decoders ignore lengths. Both corners belong to a
//! block. A count or block of all ones is unlimited, at every width w (2, 4 or 8).

use hyperslab_dataspace::{Block, Dims, Hyperslab, MAX_RANK, Points, RegularHyperslab, Selection, UNLIMITED};

use crate::codec::{Reader, Result, Writer};

const NAME: &str = "dataspace selection";
pub(crate) const NONE: u32 = 0;
pub(crate) const POINTS: u32 = 1;
pub(crate) const HYPERSLAB: u32 = 2;
pub(crate) const ALL: u32 = 3;
pub(crate) const REGULAR: u8 = 1;
/// Largest number of blocks that a serialized selection stores as a list, if they are the blocks of
/// a regular hyperslab.
const MAX_LISTED_BLOCKS: u64 = 1 << 20;

/// The rule that chooses the version of the serialized form of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelectionFormat {
    /// Version 1 if possible. All versions of libhdf5 read it.
    #[default]
    Compatible,
    /// Version 2 for regular hyperslabs that are shorter in this version (HDF5 1.10 and later), and
    /// otherwise as `Compatible`.
    Regular,
    /// The shortest form: points version 2, hyperslab version 3 (HDF5 1.12 and later).
    Compact,
}

/// Returns the rank of a selection of elements, or `None` for the selections none and all, which
/// have no rank.
pub fn rank(selection: &Selection) -> Option<usize> {
    match selection {
        Selection::None | Selection::All => None,
        Selection::Points(points) => Some(points.rank),
        Selection::Hyperslab(Hyperslab::Irregular { rank, .. }) => Some(*rank),
        Selection::Hyperslab(Hyperslab::Regular(regular)) => Some(regular.start.len()),
    }
}

/// Decodes a serialized selection of elements that occupies all of `bytes`.
///
/// # Errors
/// Returns an error if bytes are missing, remain or contradict the format.
pub fn decode_selection(bytes: &[u8]) -> Result<Selection> {
    let mut reader = Reader::new(NAME, bytes);
    let selection = read_selection(&mut reader)?;
    reader.finish()?;
    Ok(selection)
}

/// Encodes a selection of elements in its serialized form.
///
/// # Errors
/// Returns `Encode` if the rank is not 1 to 32, or if fields have different ranks.
pub fn encode_selection(selection: &Selection, encoding: SelectionFormat) -> Result<Vec<u8>> {
    let mut writer = Writer::new(NAME);
    write_selection(&mut writer, selection, encoding);
    writer.finish()
}

/// Reads a serialized selection of elements from the reader's position. Leaves later bytes in the
/// reader.
///
/// # Errors
/// Returns an error if bytes are missing or contradict the format.
pub fn read_selection(reader: &mut Reader<'_>) -> Result<Selection> {
    let kind = reader.u32("selection type")?;
    let version = reader.u32("version")?;
    match (kind, version) {
        (NONE, 1) => reader.skip(8, "reserved").map(|()| Selection::None),
        (ALL, 1) => reader.skip(8, "reserved").map(|()| Selection::All),
        (POINTS, 1) => {
            reader.skip(8, "length")?;
            let rank = read_rank(reader)?;
            read_points(reader, rank, 4)
        }
        (POINTS, 2) => {
            let width = read_width(reader)?;
            let rank = read_rank(reader)?;
            read_points(reader, rank, width)
        }
        (HYPERSLAB, 1) => {
            reader.skip(8, "length")?;
            let rank = read_rank(reader)?;
            read_blocks(reader, rank, 4)
        }
        (HYPERSLAB, 2) => {
            let flags = reader.u8("flags")?;
            if flags != REGULAR {
                return Err(reader.corrupt("flags", "1 (regular)", flags));
            }
            reader.skip(4, "length")?;
            let rank = read_rank(reader)?;
            read_regular(reader, rank, 8).map(|regular| Selection::Hyperslab(Hyperslab::Regular(regular)))
        }
        (HYPERSLAB, 3) => {
            let flags = reader.u8("flags")?;
            if flags & !REGULAR != 0 {
                return Err(reader.corrupt("flags", "0 or 1", flags));
            }
            let width = read_width(reader)?;
            let rank = read_rank(reader)?;
            if flags == REGULAR {
                read_regular(reader, rank, width)
                    .map(|regular| Selection::Hyperslab(Hyperslab::Regular(regular)))
            } else {
                read_blocks(reader, rank, width)
            }
        }
        (NONE..=ALL, _) => Err(reader.unsupported(format!("selection type {kind} of version {version}"))),
        _ => Err(reader.corrupt("selection type", "0 to 3", kind)),
    }
}

fn read_rank(reader: &mut Reader<'_>) -> Result<usize> {
    let rank = reader.u32("rank")?;
    match usize::try_from(rank) {
        Ok(rank) if (1..=MAX_RANK).contains(&rank) => Ok(rank),
        _ => Err(reader.corrupt("rank", format!("1 to {MAX_RANK}"), rank)),
    }
}

pub(crate) fn read_width(reader: &mut Reader<'_>) -> Result<usize> {
    match reader.u8("encode size")? {
        width @ (2 | 4 | 8) => Ok(width.into()),
        other => Err(reader.corrupt("encode size", "2, 4 or 8", other)),
    }
}

fn read_points(reader: &mut Reader<'_>, rank: usize, width: usize) -> Result<Selection> {
    let count = reader.uint(width, "number of points")?;
    let count = reader.count(count, rank * width, "number of points")?;
    let mut coordinates = Vec::with_capacity(count * rank);
    for _ in 0..count * rank {
        coordinates.push(reader.uint(width, "coordinate")?);
    }
    Ok(Selection::Points(Points { rank, coordinates }))
}

fn read_blocks(reader: &mut Reader<'_>, rank: usize, width: usize) -> Result<Selection> {
    let count = reader.uint(width, "number of blocks")?;
    let count = reader.count(count, 2 * rank * width, "number of blocks")?;
    let mut blocks = Vec::with_capacity(count);
    for _ in 0..count {
        let start = read_corner(reader, rank, width, "starting offset")?;
        let end = read_corner(reader, rank, width, "ending offset")?;
        if let Some((start, end)) = start.iter().zip(&end).find(|(start, end)| start > end) {
            return Err(reader.corrupt("ending offset", format!("at least {start}"), end));
        }
        blocks.push(Block { start, end });
    }
    Ok(Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }))
}

fn read_corner(reader: &mut Reader<'_>, rank: usize, width: usize, field: &'static str) -> Result<Dims> {
    let mut corner = Dims::with_capacity(rank);
    for _ in 0..rank {
        corner.push(reader.uint(width, field)?);
    }
    Ok(corner)
}

pub(crate) fn read_regular(reader: &mut Reader<'_>, rank: usize, width: usize) -> Result<RegularHyperslab> {
    let mut regular =
        RegularHyperslab { start: Dims::new(), stride: Dims::new(), count: Dims::new(), block: Dims::new() };
    for _ in 0..rank {
        let start = reader.uint(width, "start")?;
        let stride = reader.uint(width, "stride")?;
        let count = read_unlimited(reader, width, "count")?;
        let block = read_unlimited(reader, width, "block")?;
        check_dimension(reader, start, stride, count, block)?;
        regular.start.push(start);
        regular.stride.push(stride);
        regular.count.push(count);
        regular.block.push(block);
    }
    Ok(regular)
}

/// Reads a count or a block length of a hyperslab from a serialized selection. If all bits are
/// ones, the value is [`UNLIMITED`].
fn read_unlimited(reader: &mut Reader<'_>, width: usize, field: &'static str) -> Result<u64> {
    let value = reader.uint(width, field)?;
    Ok(if value == all_ones(width) { UNLIMITED } else { value })
}

/// Returns the largest number in a field of `width` bytes: all bits are ones.
fn all_ones(width: usize) -> u64 {
    match width {
        2 => u64::from(u16::MAX),
        4 => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}

fn check_dimension(reader: &Reader<'_>, start: u64, stride: u64, count: u64, block: u64) -> Result<()> {
    if stride == 0 {
        return Err(reader.corrupt("stride", "at least 1", 0));
    }
    if block == UNLIMITED && count != 1 {
        return Err(reader.corrupt("count", "1 for an unlimited block", count));
    }
    if count > 1 && block > stride {
        return Err(reader.corrupt("block", format!("at most the stride of {stride}"), block));
    }
    if count != UNLIMITED && block != UNLIMITED {
        let last = (count.max(1) - 1).checked_mul(stride).and_then(|distance| start.checked_add(distance));
        if last.and_then(|last| last.checked_add(block)).is_none() {
            return Err(reader.corrupt("count", "an end within 64 bits", count));
        }
    }
    Ok(())
}

/// Writes a selection of elements in its serialized form. The writer records an error for a
/// selection that cannot be encoded.
pub fn write_selection(writer: &mut Writer, selection: &Selection, encoding: SelectionFormat) {
    if let Some(rank) = rank(selection).filter(|rank| !(1..=MAX_RANK).contains(rank)) {
        writer.fail("rank", rank);
    }
    match selection {
        Selection::None => write_whole(writer, NONE),
        Selection::All => write_whole(writer, ALL),
        Selection::Points(points) => write_points(writer, points, encoding),
        Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
            if blocks.iter().any(|block| block.start.len() != *rank || block.end.len() != *rank) {
                writer.fail("rank", "blocks with other numbers of dimensions");
            }
            write_blocks(writer, *rank, blocks, encoding);
        }
        Selection::Hyperslab(Hyperslab::Regular(regular)) => {
            let rank = regular.start.len();
            if [&regular.stride, &regular.count, &regular.block].iter().any(|values| values.len() != rank) {
                writer.fail("rank", "a start, stride, count and block with different numbers of dimensions");
                return;
            }
            write_regular(writer, regular, encoding);
        }
    }
}

fn write_whole(writer: &mut Writer, kind: u32) {
    writer.u32(kind);
    writer.u32(1);
    writer.zeros(8);
}

/// Returns the width in bytes (2, 4 or 8) of the numbers in a serialized selection. The width must
/// fit every number up to `limit`.
pub(crate) fn width_for(limit: u64) -> usize {
    match limit {
        0..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

fn write_points(writer: &mut Writer, points: &Points, encoding: SelectionFormat) {
    let count = points.coordinates.len().checked_div(points.rank).unwrap_or(0);
    if count * points.rank != points.coordinates.len() {
        writer.fail("number of points", "a number of coordinates that is not a multiple of the rank");
    }
    let limit = points.coordinates.iter().copied().max().unwrap_or(0).max(count as u64);
    let mut width = width_for(limit);
    writer.u32(POINTS);
    if encoding != SelectionFormat::Compact && width <= 4 {
        width = 4;
        writer.u32(1);
        writer.zeros(4);
        writer.narrow_u32(points.coordinates.len() * 4 + 8, "length");
        writer.narrow_u32(points.rank, "rank");
    } else {
        writer.u32(2);
        writer.narrow_u8(width, "encode size");
        writer.narrow_u32(points.rank, "rank");
    }
    writer.uint(width, count as u64, "number of points");
    for coordinate in &points.coordinates {
        writer.uint(width, *coordinate, "coordinate");
    }
}

fn write_blocks(writer: &mut Writer, rank: usize, blocks: &[Block], encoding: SelectionFormat) {
    let ends = blocks.iter().flat_map(|block| &block.end).copied().max().unwrap_or(0);
    let mut width = width_for(ends.max(blocks.len() as u64));
    writer.u32(HYPERSLAB);
    if encoding != SelectionFormat::Compact && width <= 4 {
        width = 4;
        writer.u32(1);
        writer.zeros(4);
        let corners = blocks.len() * rank * 8;
        writer.narrow_u32(corners + 8, "length");
        writer.narrow_u32(rank, "rank");
    } else {
        writer.u32(3);
        writer.u8(0);
        writer.narrow_u8(width, "encode size");
        writer.narrow_u32(rank, "rank");
    }
    writer.uint(width, blocks.len() as u64, "number of blocks");
    for offset in blocks.iter().flat_map(|block| block.start.iter().chain(&block.end)) {
        writer.uint(width, *offset, "block");
    }
}

/// Returns the last coordinate of a regular hyperslab in one dimension. Returns `None` if the
/// hyperslab is unlimited or empty.
fn last_of(regular: &RegularHyperslab, dimension: usize) -> Option<u64> {
    let (start, stride) = (*regular.start.get(dimension)?, *regular.stride.get(dimension)?);
    let (count, block) = (*regular.count.get(dimension)?, *regular.block.get(dimension)?);
    if count == UNLIMITED || block == UNLIMITED {
        return None;
    }
    start.checked_add(count.checked_sub(1)?.checked_mul(stride)?)?.checked_add(block.checked_sub(1)?)
}

fn write_regular(writer: &mut Writer, regular: &RegularHyperslab, encoding: SelectionFormat) {
    let rank = regular.start.len();
    // Without the bytes that both versions have: the list has its length and the corners.
    let is_shorter = |blocks: &[Block]| blocks.len() * rank * 8 + 7 <= rank * 32;
    if encoding != SelectionFormat::Compact
        && let Some(blocks) = list_blocks(regular)
        && (encoding == SelectionFormat::Compatible || is_shorter(&blocks))
    {
        return write_blocks(writer, rank, &blocks, encoding);
    }
    writer.u32(HYPERSLAB);
    let width = match encoding {
        SelectionFormat::Compatible | SelectionFormat::Regular => {
            writer.u32(2);
            writer.u8(REGULAR);
            writer.narrow_u32(rank * 32 + 4, "length");
            8
        }
        SelectionFormat::Compact => {
            let width = regular_width(regular);
            writer.u32(3);
            writer.u8(REGULAR);
            writer.narrow_u8(width, "encode size");
            width
        }
    };
    writer.narrow_u32(rank, "rank");
    let encoded_count = |value: u64| if value == UNLIMITED { all_ones(width) } else { value };
    let fields = regular.start.iter().zip(&regular.stride).zip(regular.count.iter().zip(&regular.block));
    for ((start, stride), (count, block)) in fields {
        writer.uint(width, *start, "start");
        writer.uint(width, *stride, "stride");
        writer.uint(width, encoded_count(*count), "count");
        writer.uint(width, encoded_count(*block), "block");
    }
}

/// Returns the width of the numbers in a serialized regular hyperslab. The largest number of this
/// width stands for [`UNLIMITED`] and for no other value.
fn regular_width(regular: &RegularHyperslab) -> usize {
    let plain = regular.start.iter().chain(&regular.stride).copied();
    let counts = regular.count.iter().chain(&regular.block).copied().filter(|value| *value != UNLIMITED);
    let ends = (0..regular.start.len()).filter_map(|dimension| last_of(regular, dimension));
    let limit = plain.chain(counts.map(|value| value + 1)).chain(ends).max().unwrap_or(0);
    width_for(limit)
}

/// Returns the blocks of a regular hyperslab for a serialized selection of version 1. Returns
/// `None` for an unlimited hyperslab, for coordinates above 32 bits, and for more than
/// [`MAX_LISTED_BLOCKS`] blocks.
fn list_blocks(regular: &RegularHyperslab) -> Option<Vec<Block>> {
    let rank = regular.start.len();
    let total = regular.count.iter().try_fold(1_u64, |total, count| total.checked_mul(*count))?;
    if total > MAX_LISTED_BLOCKS || regular.count.contains(&UNLIMITED) || regular.block.contains(&UNLIMITED) {
        return None;
    }
    if total == 0 || regular.block.contains(&0) {
        return Some(Vec::new());
    }
    for dimension in 0..rank {
        last_of(regular, dimension).filter(|last| *last <= u64::from(u32::MAX))?;
    }
    let mut blocks = Vec::new();
    let mut position = Dims::from_elem(0, rank);
    for _ in 0..total {
        let (mut start, mut end) = (Dims::with_capacity(rank), Dims::with_capacity(rank));
        for (((at, first), stride), block) in
            position.iter().zip(&regular.start).zip(&regular.stride).zip(&regular.block)
        {
            let corner = first.checked_add(at.checked_mul(*stride)?)?;
            start.push(corner);
            end.push(corner.checked_add(block.checked_sub(1)?)?);
        }
        blocks.push(Block { start, end });
        // Advance to the next block. The last dimension varies fastest.
        for (at, count) in position.iter_mut().zip(&regular.count).rev() {
            *at += 1;
            if *at < *count {
                break;
            }
            *at = 0;
        }
    }
    Some(blocks)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::mutation::damage;
    use SelectionFormat::{Compact, Compatible};
    use proptest::prelude::*;

    fn dims(values: &[u64]) -> Dims {
        Dims::from_slice(values)
    }

    fn same(selection: &Selection, encoding: SelectionFormat, bytes: &[u8]) {
        assert_eq!(encode_selection(selection, encoding).unwrap(), bytes);
        assert_eq!(&decode_selection(bytes).unwrap(), selection);
        assert!(decode_selection(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode_selection(&[bytes, &[0]].concat()).is_err());
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn whole() {
        same(&Selection::None, Compatible, &words(&[0, 1, 0, 0]));
        same(&Selection::All, Compact, &words(&[3, 1, 0, 0]));
    }

    #[test]
    fn points() {
        let points = Selection::Points(Points { rank: 2, coordinates: vec![1, 2, 69999, 3] });
        same(&points, Compatible, &words(&[1, 1, 0, 24, 2, 2, 1, 2, 69999, 3]));
        let bytes = [words(&[1, 2]), vec![4], words(&[2, 2, 1, 2, 69999, 3])].concat();
        same(&points, Compact, &bytes);
        let near = Selection::Points(Points { rank: 1, coordinates: vec![1, 2] });
        let bytes = [words(&[1, 2]), vec![2, 1, 0, 0, 0, 2, 0, 1, 0, 2, 0]].concat();
        same(&near, Compact, &bytes);
        let far = Selection::Points(Points { rank: 1, coordinates: vec![1 << 32] });
        let bytes = [words(&[1, 2]), vec![8, 1, 0, 0, 0], words(&[1, 0, 0, 1])].concat();
        same(&far, Compatible, &bytes);
    }

    #[test]
    fn blocks() {
        let blocks = vec![
            Block { start: dims(&[0, 0]), end: dims(&[1, 1]) },
            Block { start: dims(&[5, 5]), end: dims(&[6, 6]) },
        ];
        let selection = Selection::Hyperslab(Hyperslab::Irregular { rank: 2, blocks });
        same(&selection, Compatible, &words(&[2, 1, 0, 40, 2, 2, 0, 0, 1, 1, 5, 5, 6, 6]));
        let mut bytes = [words(&[2, 3]), vec![0, 2], words(&[2])].concat();
        bytes.extend([2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 5, 0, 5, 0, 6, 0, 6, 0]);
        same(&selection, Compact, &bytes);
        let turned = words(&[2, 1, 0, 16, 1, 1, 5, 4]);
        assert!(decode_selection(&turned).unwrap_err().to_string().contains("at least 5, got 4"));
    }

    fn regular(start: &[u64], stride: &[u64], count: &[u64], block: &[u64]) -> Selection {
        let (start, stride, count, block) = (dims(start), dims(stride), dims(count), dims(block));
        Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab { start, stride, count, block }))
    }

    #[test]
    fn regular_hyperslabs() {
        let selection = regular(&[2, 1], &[3, 2], &[2, 1], &[1, 2]);
        let bytes = [words(&[2, 3]), vec![1, 2], words(&[2])].concat();
        let fields = [2, 0, 3, 0, 2, 0, 1, 0, 1, 0, 2, 0, 1, 0, 2, 0];
        same(&selection, Compact, &[&bytes[..], &fields].concat());
        // Version 1 has no regular form, so the encoder lists the blocks.
        let spelled = encode_selection(&selection, Compatible).unwrap();
        assert_eq!(spelled, words(&[2, 1, 0, 40, 2, 2, 2, 1, 2, 2, 5, 1, 5, 2]));
        let empty = encode_selection(&regular(&[2], &[1], &[0], &[1]), Compatible).unwrap();
        assert_eq!(empty, words(&[2, 1, 0, 8, 1, 0]));
    }

    #[test]
    fn without_end() {
        let selection = regular(&[1], &[4], &[UNLIMITED], &[2]);
        let bytes = [words(&[2, 3]), vec![1, 2], words(&[1]), vec![1, 0, 4, 0, 0xff, 0xff, 2, 0]].concat();
        same(&selection, Compact, &bytes);
        let tail = words(&[36, 1, 1, 0, 4, 0, u32::MAX, u32::MAX, 2, 0]);
        same(&selection, Compatible, &[&words(&[2, 2])[..], &[1], &tail].concat());
        // A count of 65535 is not unlimited.
        let many = regular(&[0], &[1], &[65535], &[1]);
        let fields = words(&[0, 1, 65535, 1]);
        same(&many, Compact, &[&words(&[2, 3])[..], &[1, 4], &words(&[1]), &fields].concat());
    }

    #[test]
    fn refusals() {
        let v3 = |fields: [u16; 4]| {
            let fields = fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<_>>();
            decode_selection(&[&words(&[2, 3])[..], &[1, 2], &words(&[1]), &fields].concat())
        };
        assert!(v3([0, 1, 1, 1]).is_ok());
        assert!(v3([0, 0, 1, 1]).is_err());
        assert!(v3([0, 2, 2, 3]).is_err());
        assert!(v3([0, 1, 0xffff, 0xffff]).is_err());
        assert!(v3([0, 1, 1, 0xffff]).is_ok());
        for bad in [
            words(&[4, 1, 0, 0]),
            words(&[2, 4, 0, 0]),
            words(&[1, 1, 0, 8, 33, 0]),
            words(&[1, 1, 0, 8, 0, 0]),
        ] {
            assert!(decode_selection(&bad).is_err());
        }
        let huge = words(&[1, 1, 0, 8, 1, u32::MAX]);
        assert!(decode_selection(&huge).unwrap_err().to_string().contains("number of points"));
        assert!(encode_selection(&regular(&[], &[], &[], &[]), Compact).is_err());
        assert!(encode_selection(&regular(&[1], &[1], &[1], &[]), Compact).is_err());
    }

    pub(crate) fn selection() -> impl Strategy<Value = Selection> {
        let small = || prop_oneof![0_u64..9, 0_u64..70_000, any::<u32>().prop_map(u64::from), 0_u64..1 << 40];
        let points =
            (1_usize..6, prop::collection::vec(small(), 0..30)).prop_map(|(rank, mut coordinates)| {
                coordinates.truncate(coordinates.len() / rank * rank);
                Selection::Points(Points { rank, coordinates })
            });
        let corners =
            (1_usize..6, prop::collection::vec((small(), 0_u64..5), 0..30)).prop_map(|(rank, corners)| {
                let block = |corners: &[(u64, u64)]| Block {
                    start: corners.iter().map(|(start, _)| *start).collect(),
                    end: corners.iter().map(|(start, more)| start + more).collect(),
                };
                Selection::Hyperslab(Hyperslab::Irregular {
                    rank,
                    blocks: corners.chunks_exact(rank).map(block).collect(),
                })
            });
        let dimension = (small(), 1_u64..9, prop_oneof![4 => 0_u64..5, 1 => Just(UNLIMITED)], 0_u64..9);
        let strided = prop::collection::vec(dimension, 1..6).prop_map(|fields| {
            regular(
                &fields.iter().map(|field| field.0).collect::<Vec<_>>(),
                &fields.iter().map(|field| field.1).collect::<Vec<_>>(),
                &fields.iter().map(|field| field.2).collect::<Vec<_>>(),
                &fields.iter().map(|field| field.3.min(field.1)).collect::<Vec<_>>(),
            )
        });
        prop_oneof![Just(Selection::None), Just(Selection::All), points, corners, strided]
    }

    proptest! {
        #[test]
        fn round_trip(selection in selection()) {
            let bytes = encode_selection(&selection, Compact).unwrap();
            prop_assert_eq!(&decode_selection(&bytes).unwrap(), &selection);
            // The compatible form has the same meaning, but may list blocks.
            let bytes = encode_selection(&selection, Compatible).unwrap();
            let again = decode_selection(&bytes).unwrap();
            if bytes[..8] != words(&[2, 1]) {
                prop_assert_eq!(&again, &selection);
            }
            prop_assert_eq!(encode_selection(&again, Compatible).unwrap(), bytes);
        }

        #[test]
        fn damaged(selection in selection(), damage in damage()) {
            for encoding in [Compatible, Compact] {
                let bytes = encode_selection(&selection, encoding).unwrap();
                damage.inflict(&bytes, |bytes| {
                    if let Ok(selection) = decode_selection(bytes) {
                        drop(encode_selection(&selection, Compatible));
                        drop(encode_selection(&selection, Compact));
                    }
                });
            }
        }
    }
}
