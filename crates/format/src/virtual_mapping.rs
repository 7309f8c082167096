//! Global heap block of a virtual dataset: the mappings to source datasets (File Format
//! Specification, section III.F).
//!
//! ```text
//! byte  0   version 0 or 1
//!       1   number of mappings (L)
//!           for each mapping:
//!             version 1 only: flags (1)     bit 0: source file name shared,
//!                                           bit 1: source dataset name shared,
//!                                           bit 2: source file is this file
//!             source file name              text and a zero byte; "." for this file
//!                                           flag bit 0: number of an earlier mapping (L)
//!                                           flag bit 2: nothing
//!             source dataset name           text and a zero byte
//!                                           flag bit 1: number of an earlier mapping (L)
//!             source selection, virtual selection     see `selection`
//!           checksum (4)
//! ```
//! HDF5 2.0 writes version 1 for its latest format. The specification does not describe version 1
//! yet.

use std::collections::HashMap;
use std::sync::Arc;

use hyperslab_dataspace::Selection;

use crate::codec::{FileParams, Reader, Result, Writer};
use crate::selection::{SelectionFormat, read_selection, write_selection};

const NAME: &str = "virtual dataset mapping";
const FILE_SHARED: u8 = 1 << 0;
const DATASET_SHARED: u8 = 1 << 1;
const SAME_FILE: u8 = 1 << 2;
/// The source file name, in a mapping of a virtual dataset, for the file that contains the virtual
/// dataset.
const THIS_FILE: &[u8] = b".";
/// Size in bytes of the smallest stored mapping of a virtual dataset: two names and two selections.
const MIN_MAPPING_BYTES: usize = 2 * 16 + 2;

/// The mappings of a virtual dataset, as the global heap stores them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VirtualMappings {
    /// Version: 0, or 1 for the form with shared names.
    pub version: u8,
    /// Mappings, in the order of their creation.
    pub mappings: Vec<VirtualMapping>,
}

/// A mapping of a virtual dataset: a selection of the virtual dataset, and a selection of a source
/// dataset. The elements of the first selection are stored in the second one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualMapping {
    /// Name of the source file; `.` for the file of the virtual dataset. The name may contain `%b`,
    /// which stands for a block number.
    pub source_file: Arc<[u8]>,
    /// Path of the source dataset. The path may contain `%b`, which stands for a block number.
    pub source_dataset: Arc<[u8]>,
    /// Selected elements of the source dataset.
    pub source_selection: Selection,
    /// Selected elements of the virtual dataset.
    pub virtual_selection: Selection,
}

impl VirtualMapping {
    /// Returns true if the source dataset of a mapping lies in the file of the virtual dataset.
    pub fn is_same_file(&self) -> bool {
        *self.source_file == *THIS_FILE
    }
}

impl VirtualMappings {
    /// Decodes the mappings of a virtual dataset from the bytes of a global heap object.
    ///
    /// # Errors
    /// Returns an error if the checksum does not match, or if the bytes contradict the format.
    pub fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes);
        reader.trailing_checksum()?;
        let version = reader.version(&[0, 1])?;
        let least = if version == 0 { MIN_MAPPING_BYTES } else { MIN_MAPPING_BYTES - 1 };
        let count = reader.length(params, "number of entries")?;
        let count = reader.count(count, least, "number of entries")?;
        let mut mappings: Vec<VirtualMapping> = Vec::with_capacity(count);
        for _ in 0..count {
            let mapping = read_mapping(&mut reader, version, &mappings, params)?;
            mappings.push(mapping);
        }
        reader.finish()?;
        Ok(Self { version, mappings })
    }

    /// Encodes the mappings of a virtual dataset to the bytes of a global heap object.
    ///
    /// # Errors
    /// Returns `Encode` for an unknown version, a name with a zero byte, or a selection that cannot
    /// be encoded.
    pub fn encode(&self, params: FileParams, encoding: SelectionFormat) -> Result<Vec<u8>> {
        let mut writer = Writer::new(NAME);
        if self.version > 1 {
            writer.fail("version", self.version);
        }
        writer.u8(self.version);
        writer.length(params, self.mappings.len() as u64, "number of entries");
        let (mut files, mut datasets) = (HashMap::new(), HashMap::new());
        for (number, mapping) in self.mappings.iter().enumerate() {
            let number = number as u64;
            if self.version == 0 {
                writer.text_nul(&mapping.source_file, "source filename");
                writer.text_nul(&mapping.source_dataset, "source dataset");
            } else {
                // Sharing a name that is shorter than the number saves no bytes.
                let long = |name: &[u8]| name.len() >= params.length_width();
                let file = *files.entry(&mapping.source_file).or_insert(number);
                let dataset = *datasets.entry(&mapping.source_dataset).or_insert(number);
                let file = Some(file).filter(|first| *first != number && long(&mapping.source_file));
                let dataset = Some(dataset).filter(|first| *first != number && long(&mapping.source_dataset));
                write_names(&mut writer, mapping, file, dataset, params);
            }
            write_selection(&mut writer, &mapping.source_selection, encoding);
            write_selection(&mut writer, &mapping.virtual_selection, encoding);
        }
        writer.checksum();
        writer.finish()
    }
}

fn read_mapping(
    reader: &mut Reader<'_>,
    version: u8,
    before: &[VirtualMapping],
    params: FileParams,
) -> Result<VirtualMapping> {
    let flags = if version == 0 { 0 } else { reader.u8("flags")? };
    if flags & !(FILE_SHARED | DATASET_SHARED | SAME_FILE) != 0 || flags & (FILE_SHARED | SAME_FILE) == 5 {
        return Err(reader.corrupt("flags", "bits 0 to 2 only, and not both bit 0 and bit 2", flags));
    }
    let source_file = if flags & SAME_FILE != 0 {
        THIS_FILE.into()
    } else if flags & FILE_SHARED != 0 {
        earlier(reader, before, params, "source filename")?.source_file.clone()
    } else {
        reader.until_nul("source filename")?.into()
    };
    let source_dataset = if flags & DATASET_SHARED != 0 {
        earlier(reader, before, params, "source dataset")?.source_dataset.clone()
    } else {
        reader.until_nul("source dataset")?.into()
    };
    let source_selection = read_selection(reader)?;
    let virtual_selection = read_selection(reader)?;
    Ok(VirtualMapping { source_file, source_dataset, source_selection, virtual_selection })
}

fn earlier<'a>(
    reader: &mut Reader<'_>,
    before: &'a [VirtualMapping],
    params: FileParams,
    field: &'static str,
) -> Result<&'a VirtualMapping> {
    let number = reader.length(params, field)?;
    let mapping = usize::try_from(number).ok().and_then(|number| before.get(number));
    mapping.ok_or_else(|| reader.corrupt(field, format!("one of {} earlier mappings", before.len()), number))
}

fn write_names(
    writer: &mut Writer,
    mapping: &VirtualMapping,
    file: Option<u64>,
    dataset: Option<u64>,
    params: FileParams,
) {
    let same = if mapping.is_same_file() { SAME_FILE } else { 0 };
    let shared = if file.is_some() { FILE_SHARED } else { 0 };
    writer.u8(same | shared | if dataset.is_some() { DATASET_SHARED } else { 0 });
    match file {
        Some(number) => writer.length(params, number, "source filename"),
        None if mapping.is_same_file() => {}
        None => writer.text_nul(&mapping.source_file, "source filename"),
    }
    match dataset {
        Some(number) => writer.length(params, number, "source dataset"),
        None => writer.text_nul(&mapping.source_dataset, "source dataset"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use crate::selection::tests::selection;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 8, size_of_lengths: 4 };
    const ALL: &[u8] = b"\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    const NONE: &[u8] = b"\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";

    fn mapping(file: &str, dataset: &str) -> VirtualMapping {
        VirtualMapping {
            source_file: file.as_bytes().into(),
            source_dataset: dataset.as_bytes().into(),
            source_selection: Selection::All,
            virtual_selection: Selection::None,
        }
    }

    fn sealed(parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = parts.concat();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn version_0() {
        let bytes = sealed(&[b"\x00\x02\x00\x00\x00", b"src.h5\0data\0", ALL, NONE, b".\0data\0", ALL, NONE]);
        let block = VirtualMappings::decode(&bytes, PARAMS).unwrap();
        assert_eq!(block.mappings, [mapping("src.h5", "data"), mapping(".", "data")]);
        assert!(block.mappings[1].is_same_file());
        assert_eq!(block.encode(PARAMS, SelectionFormat::Compact).unwrap(), bytes);
        let mut cut = bytes.clone();
        cut[1] = 3;
        assert!(VirtualMappings::decode(&cut, PARAMS).unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn version_1() {
        let bytes = sealed(&[
            b"\x01\x04\x00\x00\x00",
            b"\x00source.h5\0dataset\0",
            ALL,
            NONE,
            b"\x01\x00\x00\x00\x00short\0",
            ALL,
            NONE,
            b"\x06\x00\x00\x00\x00",
            ALL,
            NONE,
            b"\x04x\0",
            ALL,
            NONE,
        ]);
        let block = VirtualMappings::decode(&bytes, PARAMS).unwrap();
        let expected = [
            mapping("source.h5", "dataset"),
            mapping("source.h5", "short"),
            mapping(".", "dataset"),
            mapping(".", "x"),
        ];
        assert_eq!((block.version, block.mappings.as_slice()), (1, &expected[..]));
        assert_eq!(block.encode(PARAMS, SelectionFormat::Compact).unwrap(), bytes);
    }

    #[test]
    fn refusals() {
        for (flags, message) in [(5_u8, "flags"), (8, "flags"), (1, "0 earlier mappings"), (2, "0 earlier")] {
            let start: &[u8] = if flags == 2 { b"f\0\x00\x00\x00\x00" } else { b"\x00\x00\x00\x00d\0" };
            let bytes = sealed(&[b"\x01\x01\x00\x00\x00", &[flags], start, ALL, NONE]);
            let error = VirtualMappings::decode(&bytes, PARAMS).unwrap_err().to_string();
            assert!(error.contains(message), "{flags}: {error}");
        }
        let version = sealed(&[b"\x02\x00\x00\x00\x00"]);
        assert!(VirtualMappings::decode(&version, PARAMS).unwrap_err().to_string().contains("version 2"));
        let many = sealed(&[b"\x00\xff\xff\xff\xff"]);
        assert!(VirtualMappings::decode(&many, PARAMS).is_err());
        let truncated = sealed(&[b"\x00\x00\x00\x00\x00\x00"]);
        assert!(VirtualMappings::decode(&truncated, PARAMS).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(version in 0_u8..2, parts in prop::collection::vec((0_usize..4, 0_usize..4, selection(), selection()), 0..8), damage in damage()) {
            let mappings = parts.into_iter().map(|(file, dataset, source_selection, virtual_selection)| VirtualMapping {
                source_file: [".", "a", "long name.h5", "longer name.h5"][file].as_bytes().into(),
                source_dataset: ["/a/b/c/d/e/f", "a", "", "/long name"][dataset].as_bytes().into(),
                source_selection,
                virtual_selection,
            });
            let block = VirtualMappings { version, mappings: mappings.collect() };
            let bytes = block.encode(PARAMS, SelectionFormat::Compact).unwrap();
            prop_assert_eq!(&VirtualMappings::decode(&bytes, PARAMS).unwrap(), &block);
            damage.inflict(&bytes, |bytes| drop(VirtualMappings::decode(bytes, PARAMS)));
        }
    }
}
