//! Filter pipeline message (section IV.A.2.l).
//!
//! ```text
//! version 1                        version 2                 version 3 (structured chunks)
//! size  field                      size  field               size  field
//! 1     version = 1                1     version = 2         1     version = 3 (or 0, see below)

//! 1     number of filters          1     number of filters   1     number of filtered sections 6
//! reserved (zero)            ..    filter descriptions for each section, ascending: ..    filter
//! descriptions                                    1   section
//!                                                              1   number of filters
//!                                                              2   bytes of the descriptions
//!                                                              ..  descriptions, as in version 2
//! ```
//! A filter description:
//! ```text
//! size  field 2     filter identification value 2     name length (n); versions 2 and 3 only for
//! identifications from 256 on 2     flags: bit 0 optional 2     number of client data values (c) n
//! name and a zero byte; in version 1 padded with zero bytes to a multiple of eight c x 4 client
//! data 4     padding, if c is odd (version 1 only)
//! ```
//!
//! Version 0 and version 3 have the same layout: the original proposal of structured chunks used
//! version 0, the specification uses version 3. An unreleased branch of libhdf5 uses version 3 for
//! another layout (filters of ordinary chunks with a text parameter). Version 3 as described here
//! occurs only in datasets with the structured chunk layout.

use smallvec::SmallVec;

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The filter pipeline message: the filters of a dataset or of a group's fractal heap, in the order
/// of encoding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilterPipeline {
    /// Version of the message: 1 or 2 for [`FilterDescriptions::Chunk`], 3 or 0 for
    /// [`FilterDescriptions::Sections`].
    pub version: u8,
    /// Filters of chunks or of sections.
    pub filters: FilterDescriptions,
}

/// The filters of a filter pipeline message: for whole chunks, or for the sections of structured
/// chunks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FilterDescriptions {
    /// Filters of whole chunks, in the order of encoding.
    Chunk(Vec<FilterDescription>),
    /// Filters of sections of a structured chunk, in ascending order of section numbers. Sections
    /// that are not listed have no filters.
    Sections(Vec<SectionFilters>),
}

/// The filters of one section of a structured chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SectionFilters {
    /// Section number, starting at 0.
    pub section: u8,
    /// Filters of the section, in the order of encoding.
    pub filters: Vec<FilterDescription>,
}

/// One filter of a filter pipeline message and its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilterDescription {
    /// Registered identification number of the filter.
    pub id: u16,
    /// Flags. Bit 0: the filter is optional. If an optional filter fails on a chunk, the chunk is
    /// stored without that filter.
    pub flags: u16,
    /// Name of the filter, for information only. Empty if no name is stored; always empty for
    /// identifications below 256 from version 2 on.
    pub name: Vec<u8>,
    /// Parameters of the filter.
    pub client_data: SmallVec<[u32; 8]>,
}

impl FilterDescription {
    /// Flag of an optional filter in the filter pipeline message.
    pub const OPTIONAL: u16 = 1 << 0;

    /// Returns true if the filter is optional: a chunk may be stored without the filter when the
    /// filter fails.
    pub const fn is_optional(&self) -> bool {
        self.flags & Self::OPTIONAL != 0
    }
}

impl FilterPipeline {
    /// Largest number of filters of a chunk or of a structured chunk's section.
    pub const MAX_FILTERS: usize = 32;
    /// Smallest filter number for which version 2 of the filter pipeline message stores a name.
    /// Smaller numbers belong to filters of the HDF5 library.
    pub const FIRST_NAMED_ID: u16 = 256;

    /// Returns the filters of whole chunks from the filter pipeline message, or `None` for
    /// structured chunks.
    pub fn chunk(&self) -> Option<&[FilterDescription]> {
        match &self.filters {
            FilterDescriptions::Chunk(filters) => Some(filters),
            FilterDescriptions::Sections(_) => None,
        }
    }

    /// Returns the filters of the section `section` of structured chunks, which are empty for a
    /// section without filters. Returns `None` for chunks that are not structured.
    pub fn section(&self, section: u8) -> Option<&[FilterDescription]> {
        match &self.filters {
            FilterDescriptions::Chunk(_) => None,
            FilterDescriptions::Sections(sections) => Some(
                sections
                    .iter()
                    .find(|listed| listed.section == section)
                    .map_or(&[], |listed| &listed.filters),
            ),
        }
    }
}

impl Message<'_> for FilterPipeline {
    const TYPE: MessageType = MessageType::FILTER_PIPELINE;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let version = r.version(&[0, 1, 2, 3])?;
        let filters = if let 1 | 2 = version {
            let count = r.u8("number of filters")?;
            if version == 1 {
                r.skip(6, "reserved")?;
            }
            FilterDescriptions::Chunk(decode_filters(&mut r, version, count)?)
        } else {
            FilterDescriptions::Sections(decode_sections(&mut r)?)
        };
        Ok(Self { version, filters })
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        w.u8(self.version);
        match (&self.filters, self.version) {
            (FilterDescriptions::Chunk(filters), 1 | 2) => {
                encode_count(filters, w);
                if self.version == 1 {
                    w.zeros(6);
                }
                for filter in filters {
                    filter.encode(self.version, w);
                }
            }
            (FilterDescriptions::Sections(sections), 0 | 3) => {
                if !sections.is_sorted_by(|one, next| one.section < next.section) {
                    w.fail("number of filtered section", "sections out of order");
                }
                w.narrow_u8(sections.len(), "number of filtered sections");
                for section in sections {
                    section.encode(w);
                }
            }
            _ => w.fail("version", self.version),
        }
    }
}

fn decode_filters(r: &mut Reader<'_>, version: u8, count: u8) -> Result<Vec<FilterDescription>> {
    if usize::from(count) > FilterPipeline::MAX_FILTERS {
        let expected = format!("at most {}", FilterPipeline::MAX_FILTERS);
        return Err(r.corrupt("number of filters", expected, count));
    }
    (0..count).map(|_| FilterDescription::decode(r, version)).collect()
}

fn encode_count(filters: &[FilterDescription], w: &mut Writer) {
    if filters.len() > FilterPipeline::MAX_FILTERS {
        w.fail("number of filters", filters.len());
    }
    w.narrow_u8(filters.len(), "number of filters");
}

fn decode_sections(r: &mut Reader<'_>) -> Result<Vec<SectionFilters>> {
    let count = r.u8("number of filtered sections")?;
    let mut sections: Vec<SectionFilters> = Vec::new();
    for _ in 0..count {
        let section = r.u8("number of filtered section")?;
        if let Some(last) = sections.last().filter(|last| last.section >= section) {
            let expected = format!("more than {}", last.section);
            return Err(r.corrupt("number of filtered section", expected, section));
        }
        let count = r.u8("number of filters for filtered section")?;
        let size = r.u16("size of the filter description list")?;
        let mut list = r.sub(size.into(), "filter description list")?;
        let filters = decode_filters(&mut list, 2, count)?;
        list.finish()?;
        sections.push(SectionFilters { section, filters });
    }
    Ok(sections)
}

impl SectionFilters {
    fn encode(&self, w: &mut Writer) {
        w.u8(self.section);
        encode_count(&self.filters, w);
        let mut list = Writer::new("filter description list");
        for filter in &self.filters {
            filter.encode(2, &mut list);
        }
        match list.finish() {
            Ok(list) => {
                w.narrow_u16(list.len(), "size of the filter description list");
                w.bytes(&list);
            }
            Err(error) => w.fail("filter description list", error),
        }
    }
}

impl FilterDescription {
    fn decode(r: &mut Reader<'_>, version: u8) -> Result<Self> {
        let id = r.u16("filter identification value")?;
        let name_length = match version {
            1 => r.u16("name length")?,
            _ if id < FilterPipeline::FIRST_NAMED_ID => 0,
            _ => r.u16("name length")?,
        };
        if version == 1 && !name_length.is_multiple_of(8) {
            return Err(r.corrupt("name length", "a multiple of eight", name_length));
        }
        let flags = r.u16("flags")?;
        let value_count = r.u16("number of client data values")?;
        let name = r.take(name_length.into(), "name")?;
        let name = name.iter().copied().take_while(|byte| *byte != 0).collect();
        let value_count = r.count(value_count.into(), 4, "number of client data values")?;
        let mut client_data = SmallVec::with_capacity(value_count);
        for _ in 0..value_count {
            client_data.push(r.u32("client data")?);
        }
        if version == 1 && value_count % 2 == 1 {
            r.skip(4, "padding")?;
        }
        Ok(Self { id, flags, name, client_data })
    }

    fn encode(&self, version: u8, w: &mut Writer) {
        let mut name = self.name.clone();
        if name.contains(&0) {
            w.fail("name", "text with a zero byte inside");
        }
        if !name.is_empty() {
            let with_end = name.len() + 1;
            name.resize(if version == 1 { with_end.next_multiple_of(8) } else { with_end }, 0);
        }
        w.u16(self.id);
        if version == 1 || self.id >= FilterPipeline::FIRST_NAMED_ID {
            w.narrow_u16(name.len(), "name length");
        } else if !name.is_empty() {
            w.fail("name", format_args!("the name of filter {}", self.id));
        }
        w.u16(self.flags);
        w.narrow_u16(self.client_data.len(), "number of client data values");
        w.bytes(&name);
        for value in &self.client_data {
            w.u32(*value);
        }
        if version == 1 && self.client_data.len() % 2 == 1 {
            w.zeros(4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;
    use smallvec::smallvec;

    const ANY: FileParams = FileParams::DEFAULT;

    fn deflate(name: &[u8]) -> FilterDescription {
        FilterDescription {
            id: 1,
            flags: FilterDescription::OPTIONAL,
            name: name.to_vec(),
            client_data: smallvec![6],
        }
    }

    #[test]
    fn version_1_pads_names_and_odd_values() {
        let pipeline =
            FilterPipeline { version: 1, filters: FilterDescriptions::Chunk(vec![deflate(b"deflate")]) };
        let mut bytes = vec![1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 1, 0, 1, 0];
        bytes.extend(b"deflate\0");
        bytes.extend([6, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(assert_laws!(FilterPipeline, pipeline, ANY), bytes);
        bytes[10] = 7;
        assert!(FilterPipeline::decode(&bytes, ANY).is_err(), "name length");
        assert!(pipeline.chunk().unwrap()[0].is_optional());
    }

    #[test]
    fn version_2_leaves_known_names_out() {
        let custom =
            FilterDescription { id: 32015, flags: 0, name: b"zstd".to_vec(), client_data: smallvec![] };
        let pipeline =
            FilterPipeline { version: 2, filters: FilterDescriptions::Chunk(vec![deflate(b""), custom]) };
        let mut bytes = vec![2, 2, 1, 0, 1, 0, 1, 0, 6, 0, 0, 0];
        bytes.extend([0x0f, 0x7d, 5, 0, 0, 0, 0, 0]);
        bytes.extend(b"zstd\0");
        assert_eq!(assert_laws!(FilterPipeline, pipeline, ANY), bytes);
        let named =
            FilterPipeline { version: 2, filters: FilterDescriptions::Chunk(vec![deflate(b"deflate")]) };
        assert!(named.to_bytes(ANY).is_err());
    }

    #[test]
    fn version_3_has_filters_by_section() {
        let sections = vec![SectionFilters { section: 1, filters: vec![deflate(b"")] }];
        let pipeline = FilterPipeline { version: 3, filters: FilterDescriptions::Sections(sections) };
        let mut bytes = vec![3, 1, 1, 1, 10, 0, 1, 0, 1, 0, 1, 0, 6, 0, 0, 0];
        assert_eq!(assert_laws!(FilterPipeline, pipeline, ANY), bytes);
        assert_eq!(pipeline.section(0), Some(&[][..]));
        assert_eq!(pipeline.section(1).unwrap().len(), 1);
        assert_eq!(pipeline.chunk(), None);
        bytes[0] = 0;
        let proposal = FilterPipeline::decode(&bytes, ANY).unwrap();
        assert_eq!(proposal, FilterPipeline { version: 0, ..pipeline });
        bytes[4] = 11;
        bytes.push(0);
        assert!(FilterPipeline::decode(&bytes, ANY).is_err(), "size of the list");
    }

    #[test]
    fn refuses_contradictions() {
        assert!(FilterPipeline::decode(&[2, 33], ANY).is_err(), "number of filters");
        assert!(FilterPipeline::decode(&[2, 1, 1, 0, 0, 0, 255, 255, 0, 0, 0, 0], ANY).is_err(), "values");
        assert!(FilterPipeline::decode(&[3, 2, 1, 0, 0, 0, 1, 0, 0, 0], ANY).is_err(), "section order");
        assert!(FilterPipeline::decode(&[4, 0], ANY).is_err(), "version");
        let many = FilterDescriptions::Chunk(vec![deflate(b""); 33]);
        assert!(FilterPipeline { version: 2, filters: many }.to_bytes(ANY).is_err());
    }

    fn filters(version: u8) -> impl Strategy<Value = Vec<FilterDescription>> {
        let one = (
            any::<u16>(),
            any::<u16>(),
            prop::collection::vec(1_u8.., 0..12),
            prop::collection::vec(any::<u32>(), 0..10),
        )
            .prop_map(move |(id, flags, mut name, client_data)| {
                if version != 1 && id < 256 {
                    name.clear();
                }
                FilterDescription { id, flags, name, client_data: client_data.into() }
            });
        prop::collection::vec(one, 0..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn laws(one in filters(1), two in filters(2), three in filters(2), bytes in bodies()) {
            assert_laws!(FilterPipeline, FilterPipeline { version: 1, filters: FilterDescriptions::Chunk(one) }, ANY);
            let sections = vec![
                SectionFilters { section: 0, filters: two.clone() },
                SectionFilters { section: 2, filters: three },
            ];
            assert_laws!(FilterPipeline, FilterPipeline { version: 2, filters: FilterDescriptions::Chunk(two) }, ANY);
            assert_laws!(FilterPipeline, FilterPipeline { version: 3, filters: FilterDescriptions::Sections(sections) }, ANY);
            assert_survives!(FilterPipeline, &bytes, ANY);
        }
    }
}
