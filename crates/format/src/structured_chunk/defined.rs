//! The encoded selection of a structured chunk: which of its elements are defined. It stands as a dataspace
//! description, which is a dataspace message and a selection.
//!
//! ```text
//! byte  0   id = 1
//!       1   encode version = 0
//!       2   size of size = 8
//!       3   extent length (4)
//!       7   dataspace message: the extent of the chunk
//!           selection, relative to the chunk's first element
//! ```

use hyperslab_dataspace::{Dataspace, DefinedSet, Hyperslab, Points, Selection, UNLIMITED};

use crate::codec::{FileParams, FormatError, Reader, Result, Writer};
use crate::message::{DataspaceMessage, Message};
use crate::selection::{SelectionEncoding, read_selection, write_selection};

const NAME: &str = "encoded selection";
const PARAMS: FileParams = FileParams { size_of_offsets: 8, size_of_lengths: 8 };

/// In which form the defined elements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefinedEncoding {
    /// All if every element is defined; else a hyperslab, regular if it is one.
    #[default]
    Hyperslab,
    /// A list of points, in ascending order.
    Points,
    /// Whichever of these takes fewer bytes.
    Shortest,
}

/// The defined elements of a chunk, and the order of their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedDefined {
    /// The elements.
    pub set: DefinedSet,
    /// If they are listed otherwise than in ascending order: for each defined element, in ascending order, the
    /// number of its value in the order as stored. Of those listed more than once the last counts.
    pub order: Option<Vec<u64>>,
    /// The number of stored values.
    pub stored: u64,
}

/// Encodes the defined elements of a chunk.
///
/// # Errors
/// A set that the form cannot hold.
pub fn encode_defined(set: &DefinedSet, encoding: DefinedEncoding) -> Result<Vec<u8>> {
    let rank = set.dims().len();
    let selection = match encoding {
        DefinedEncoding::Shortest => {
            let hyperslab = encode_defined(set, DefinedEncoding::Hyperslab)?;
            let points = encode_defined(set, DefinedEncoding::Points)?;
            return Ok(if points.len() < hyperslab.len() { points } else { hyperslab });
        }
        _ if set.is_all() => Selection::All,
        DefinedEncoding::Points => {
            let mut coordinates = Vec::new();
            set.for_each_row_run(0..set.total(), |at, _, count| {
                for way in 0..count {
                    coordinates.extend_from_slice(at);
                    if let Some(last) = coordinates.last_mut() {
                        *last += way;
                    }
                }
            });
            Selection::Points(Points { rank, coordinates })
        }
        DefinedEncoding::Hyperslab => match set.as_regular() {
            Some(regular) => Selection::Hyperslab(Hyperslab::Regular(regular)),
            None if set.is_empty() => Selection::None,
            None => Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: set.blocks() }),
        },
    };
    let mut writer = Writer::new(NAME);
    let message = DataspaceMessage { version: 2, dataspace: Dataspace::simple(set.dims()) };
    let extent = message.to_bytes(PARAMS)?;
    writer.u8(1);
    writer.u8(0);
    writer.u8(8);
    writer.narrow_u32(extent.len(), "extent length");
    writer.bytes(&extent);
    write_selection(&mut writer, &selection, SelectionEncoding::Compact);
    writer.finish()
}

/// Decodes the defined elements of a chunk of the extent `chunk`.
///
/// # Errors
/// Bytes that are missing, left over or contradict the format or the chunk; [`FormatError::Limit`] for more than
/// `most_elements` elements.
pub fn decode_defined(bytes: &[u8], chunk: &[u64], most_elements: u64) -> Result<DecodedDefined> {
    let mut reader = Reader::new(NAME, bytes);
    for (field, expected) in [("id", 1), ("encode version", 0), ("size of size", 8)] {
        let got = reader.u8(field)?;
        if got != expected {
            return Err(reader.corrupt(field, expected.to_string(), got));
        }
    }
    let length = reader.u32("extent length")?;
    let extent = DataspaceMessage::decode(reader.take_u64(length.into(), "extent")?, PARAMS)?;
    if extent.dataspace.dims() != chunk {
        let expected = format!("that of the chunk, {}", Dataspace::simple(chunk));
        return Err(reader.corrupt("extent", expected, extent.dataspace));
    }
    let selection = read_selection(&mut reader)?;
    if let Selection::Hyperslab(Hyperslab::Regular(regular)) = &selection
        && (regular.count.contains(&UNLIMITED) || regular.block.contains(&UNLIMITED))
    {
        return Err(reader.corrupt("count", "an end", "none"));
    }
    let corrupt = |error| FormatError::corrupt(NAME, "selection", "elements of the chunk", error);
    let listed = selection.element_count(chunk).map_err(corrupt)?;
    if listed > most_elements && !matches!(selection, Selection::Hyperslab(Hyperslab::Irregular { .. })) {
        return Err(FormatError::Limit {
            structure: NAME,
            what: "elements",
            got: listed,
            limit: most_elements,
        });
    }
    let set = DefinedSet::of_selection(chunk, &selection).map_err(corrupt)?;
    reader.finish()?;
    let Selection::Points(points) = &selection else {
        return Ok(DecodedDefined { stored: set.len(), set, order: None });
    };
    let strides = hyperslab_dataspace::strides(chunk);
    let offset = |point: &[u64]| point.iter().zip(&strides).map(|(at, stride)| at * stride).sum::<u64>();
    let mut order: Vec<(u64, u64)> = points.points().map(offset).zip(0..).collect();
    let ascending = order.is_sorted_by(|a, b| a.0 < b.0);
    order.sort_unstable_by_key(|(offset, number)| (*offset, std::cmp::Reverse(*number)));
    order.dedup_by_key(|(offset, _)| *offset);
    let order = (!ascending).then(|| order.iter().map(|(_, number)| *number).collect());
    Ok(DecodedDefined { set, order, stored: listed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_in_the_smallest_form() {
        let set = DefinedSet::all(&[2, 3]).unwrap();
        let bytes = encode_defined(&set, DefinedEncoding::default()).unwrap();
        let mut expected =
            vec![1, 0, 8, 20, 0, 0, 0, 2, 2, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes, expected);
        assert_eq!(
            decode_defined(&bytes, &[2, 3], 100).unwrap(),
            DecodedDefined { stored: 6, set, order: None }
        );
        assert!(decode_defined(&bytes, &[3, 2], 100).is_err());
    }
}
