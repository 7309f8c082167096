//! Chunks of structured chunk storage: the metadata in the chunk index, and the sections of a chunk
//! (Appendix E of the draft specification; the file format section of the original proposal).
//!
//! ```text
//! chunk metadata, N sections, offsets of o bytes     without filters: only the offsets
//! (N-1) x o   offsets of sections 1 to N-1           section 0 begins at 0
//! N x o       decoded size of each section           including the checksum
//! N x 4       filter mask of each section            bit i: filter i of the section was skipped
//! ```
//! In the original proposal, the order is masks, offsets, sizes ([`MetadataOrder::MasksFirst`]).

mod defined;
mod heap;
mod section;

use smallvec::SmallVec;

use crate::codec::{Reader, Result, Writer};

pub use defined::{DecodedDefined, DefinedEncoding, decode_defined, encode_defined};
pub use heap::{HEAP_PREFIX_BYTES, HeapSlot, SectionHeap, begin_heap, write_descriptor};
pub use section::{open_section, seal_section};

const NAME: &str = "structured chunk metadata";

/// The order of the fields in the metadata of filtered structured chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MetadataOrder {
    /// Offsets, sizes, masks. Encoders use this order.
    #[default]
    OffsetsFirst,
    /// Masks, offsets, sizes: the order of the original proposal.
    MasksFirst,
}

/// The location, the size and the filter mask of one section of a structured chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkSection {
    /// Offset of the section from the start of the chunk, in bytes.
    pub offset: u64,
    /// Stored size in bytes.
    pub size: u64,
    /// Decoded size in bytes, including the checksum.
    pub unfiltered: u64,
    /// Filter mask: bit i is set if filter i of the section's pipeline was skipped.
    pub filter_mask: u32,
}

/// The locations and filter masks of a structured chunk's sections, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChunkSections(pub SmallVec<[ChunkSection; 3]>);

impl ChunkSections {
    /// Creates the list of a structured chunk's consecutive sections with the given sizes and
    /// filter masks. Computes the offsets of the sections.
    pub fn consecutive(sections: impl IntoIterator<Item = ChunkSection>) -> Self {
        let mut offset = 0_u64;
        let assign_offset = |section: ChunkSection| {
            let placed = ChunkSection { offset, ..section };
            offset += section.size;
            placed
        };
        Self(sections.into_iter().map(assign_offset).collect())
    }

    /// Returns the total size of all sections of the structured chunk in bytes.
    pub fn chunk_size(&self) -> u64 {
        self.0.iter().fold(0, |sum, section| sum + section.size)
    }

    /// Decodes the metadata of a structured chunk of `chunk_size` bytes. `(sections, offset_size)`
    /// is the number of sections and the width of an offset in bytes.
    ///
    /// # Errors
    /// Returns `Corrupt` if the metadata has another length, or if sections do not ascend or extend
    /// past the chunk.
    pub fn decode(
        metadata: &[u8],
        (sections, offset_size): (u8, u8),
        chunk_size: u64,
        filtered: Option<MetadataOrder>,
    ) -> Result<Self> {
        let mut r = Reader::new(NAME, metadata);
        let count = usize::from(sections);
        let width = usize::from(offset_size);
        let mut list: SmallVec<[ChunkSection; 3]> = SmallVec::from_elem(ChunkSection::default(), count);
        let masks = |r: &mut Reader<'_>, list: &mut [ChunkSection]| -> Result<()> {
            list.iter_mut().try_for_each(|section| {
                section.filter_mask = r.u32("filter mask")?;
                Ok(())
            })
        };
        if filtered == Some(MetadataOrder::MasksFirst) {
            masks(&mut r, &mut list)?;
        }
        for section in list.iter_mut().skip(1) {
            section.offset = r.uint(width, "offset of section")?;
        }
        let mut end = chunk_size;
        for (number, section) in list.iter_mut().enumerate().rev() {
            let Some(size) = end.checked_sub(section.offset) else {
                let expected = format!("at most {end} for section {number} of a chunk of {chunk_size} bytes");
                return Err(r.corrupt("offset of section", expected, section.offset));
            };
            section.size = size;
            section.unfiltered = size;
            end = section.offset;
        }
        if let Some(order) = filtered {
            for section in &mut list {
                section.unfiltered = r.uint(width, "unfiltered size of section")?;
            }
            if order == MetadataOrder::OffsetsFirst {
                masks(&mut r, &mut list)?;
            }
        }
        r.finish()?;
        Ok(Self(list))
    }

    /// Encodes the metadata of a structured chunk. For a dataset with filters, `filtered` is the
    /// order of the fields, and the metadata include decoded sizes and filter masks.
    ///
    /// # Errors
    /// Returns `Encode` if a value does not fit its field.
    pub fn encode(&self, offset_size: u8, filtered: Option<MetadataOrder>) -> Result<Vec<u8>> {
        let width = usize::from(offset_size);
        let mut w = Writer::with_capacity(NAME, 52);
        let masks = |w: &mut Writer| self.0.iter().for_each(|section| w.u32(section.filter_mask));
        if filtered == Some(MetadataOrder::MasksFirst) {
            masks(&mut w);
        }
        for section in self.0.iter().skip(1) {
            w.uint(width, section.offset, "offset of section");
        }
        if let Some(order) = filtered {
            for section in &self.0 {
                w.uint(width, section.unfiltered, "unfiltered size of section");
            }
            if order == MetadataOrder::OffsetsFirst {
                masks(&mut w);
            }
        }
        w.finish()
    }
}

/// Returns true if the decoded section 0 of a structured chunk lists the defined elements as
/// points.
pub fn is_point_list(selection: &[u8]) -> bool {
    const POINTS: u32 = 1;
    let mut r = Reader::new(NAME, selection);
    let kind = r
        .skip(3, "versions")
        .and_then(|()| r.u32("extent length"))
        .and_then(|length| r.take_u64(length.into(), "extent"))
        .and_then(|_| r.u32("selection type"));
    kind == Ok(POINTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offsets_alone_without_filters() {
        let metadata = [4, 0, 0, 0, 10, 0, 0, 0];
        let sections = ChunkSections::decode(&metadata, (3, 4), 12, None).unwrap();
        let sizes: Vec<_> = sections.0.iter().map(|section| (section.offset, section.size)).collect();
        assert_eq!(sizes, [(0, 4), (4, 6), (10, 2)]);
        assert_eq!(sections.encode(4, None).unwrap(), metadata);
        assert!(ChunkSections::decode(&metadata, (3, 4), 9, None).is_err());
        assert!(ChunkSections::decode(&[10, 0, 0, 0, 4, 0, 0, 0], (3, 4), 12, None).is_err());
        assert!(ChunkSections::decode(&metadata[..7], (3, 4), 12, None).is_err());
        assert!(ChunkSections::decode(&[0; 9], (3, 4), 12, None).is_err());
    }

    #[test]
    fn lists_of_points_are_told() {
        use hyperslab_dataspace::DefinedSet;
        let mut set = hyperslab_dataspace::DefinedBuilder::with_capacity(&[4, 4], 2).unwrap();
        set.push(3);
        set.push(9);
        let set: DefinedSet = set.finish().unwrap();
        assert!(is_point_list(&encode_defined(&set, DefinedEncoding::Points).unwrap()));
        assert!(!is_point_list(&encode_defined(&set, DefinedEncoding::Hyperslab).unwrap()));
        assert!(!is_point_list(&[1, 0, 8]));
    }

    proptest! {
        #[test]
        fn round_trip(
            parts in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40, any::<u32>()), 2..4),
            masks_first: bool,
        ) {
            let order = if masks_first { MetadataOrder::MasksFirst } else { MetadataOrder::OffsetsFirst };
            let part = |(size, unfiltered, filter_mask)| ChunkSection { offset: 0, size, unfiltered, filter_mask };
            let sections = ChunkSections::consecutive(parts.into_iter().map(part));
            let count = u8::try_from(sections.0.len()).unwrap();
            let bytes = sections.encode(8, Some(order)).unwrap();
            prop_assert_eq!(bytes.len(), (sections.0.len() - 1) * 8 + sections.0.len() * 12);
            let again = ChunkSections::decode(&bytes, (count, 8), sections.chunk_size(), Some(order)).unwrap();
            prop_assert_eq!(again, sections);
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), sections in 2_u8..4, size: u64) {
            for order in [None, Some(MetadataOrder::OffsetsFirst), Some(MetadataOrder::MasksFirst)] {
                for offset_size in [4, 8] {
                    let _ = ChunkSections::decode(&bytes, (sections, offset_size), size, order);
                }
            }
        }
    }
}
