//! Chunk records of version 2 B-trees: types 10 to 13.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use smallvec::SmallVec;

use super::{BTreeV2Record, types};
use crate::chunk_index::ChunkElement;
use crate::codec::{Address, FileParams, FormatError, Reader, Result, Writer};

/// A version 2 B-tree record of types 10 to 13, which describes a chunk of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRecord {
    /// Address of the chunk.
    pub address: Address,
    /// Stored size of the chunk in bytes; 0 in type 10, which has no size field.
    pub size: u64,
    /// Filter mask: bit i is set if filter i of the pipeline was skipped. Only type 11 stores the
    /// mask.
    pub filter_mask: u32,
    /// Coordinates of the chunk, in units of chunks along each dimension.
    pub scaled: Dims,
    /// Structured chunk metadata (types 12 and 13) as raw bytes.
    pub metadata: SmallVec<[u8; 16]>,
}

/// The layout parameters of a chunk's record in a version 2 B-tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRecordContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Rank of the dataset.
    pub rank: usize,
    /// Fields of the record besides address and coordinates.
    pub form: ChunkRecordForm,
}

/// The fields of a chunk's record in a version 2 B-tree besides address and coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkRecordForm {
    /// Type 10: no further fields.
    Plain,
    /// Type 11: size and filter mask.
    Filtered {
        /// Width of the size field in bytes.
        size_width: usize,
    },
    /// Types 12 and 13: size and structured chunk metadata.
    Structured {
        /// Width of the size field in bytes.
        size_width: usize,
        /// Size of the metadata in bytes.
        metadata_size: usize,
    },
}

impl BTreeV2Record for ChunkRecord {
    const NAME: &'static str = "dataset chunk record";
    type Context = ChunkRecordContext;

    fn size(context: ChunkRecordContext) -> usize {
        let more = match context.form {
            ChunkRecordForm::Plain => 0,
            ChunkRecordForm::Filtered { size_width } => size_width + 4,
            ChunkRecordForm::Structured { size_width, metadata_size } => size_width + metadata_size,
        };
        context.rank * 8 + context.params.offset_width() + more
    }

    fn read(reader: &mut Reader<'_>, context: ChunkRecordContext) -> Result<Self> {
        let record = reader.take(Self::size(context), "record")?;
        let ChunkElement { address, size, filter_mask, metadata } = context.element(record)?;
        let (scaled, metadata) = (context.scaled(record).collect(), SmallVec::from_slice(metadata));
        Ok(Self { address, size, filter_mask, scaled, metadata })
    }

    fn write(&self, writer: &mut Writer, context: ChunkRecordContext) {
        writer.offset(context.params, self.address, "address");
        match context.form {
            ChunkRecordForm::Plain => {}
            ChunkRecordForm::Filtered { size_width } => {
                writer.uint(size_width, self.size, "chunk size");
                writer.u32(self.filter_mask);
            }
            ChunkRecordForm::Structured { size_width, .. } => {
                writer.uint(size_width, self.size, "chunk size");
            }
        }
        for offset in &self.scaled {
            writer.u64(*offset);
        }
        if let ChunkRecordForm::Structured { .. } = context.form {
            writer.bytes(&self.metadata);
        }
    }
}

impl ChunkRecordContext {
    /// Derives the layout of a chunk's record from the record type and the record size of a version
    /// 2 B-tree.
    ///
    /// `metadata_size` is the metadata size of structured chunks in bytes; types 10 and 11 ignore
    /// it.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] for another record type, or if the record size leaves no
    /// chunk size field of 1 to 8 bytes.
    pub fn new(
        params: FileParams,
        rank: usize,
        record_type: u8,
        record_size: usize,
        metadata_size: usize,
    ) -> Result<Self> {
        let fixed = rank * 8 + params.offset_width();
        let width = |rest: usize| {
            let width = record_size.checked_sub(fixed).and_then(|width| width.checked_sub(rest));
            width.filter(|width| (1..=8).contains(width)).ok_or_else(|| {
                let expected = format!("{fixed} + {rest} + a chunk size field of 1 to 8 bytes");
                FormatError::corrupt(ChunkRecord::NAME, "record size", expected, record_size)
            })
        };
        let form = match record_type {
            types::CHUNK if record_size == fixed => ChunkRecordForm::Plain,
            types::CHUNK => {
                let got = record_size;
                return Err(FormatError::corrupt(ChunkRecord::NAME, "record size", fixed.to_string(), got));
            }
            types::CHUNK_FILTERED => ChunkRecordForm::Filtered { size_width: width(4)? },
            types::STRUCTURED_CHUNK | types::STRUCTURED_CHUNK_FILTERED => {
                ChunkRecordForm::Structured { size_width: width(metadata_size)?, metadata_size }
            }
            other => return Err(FormatError::corrupt(ChunkRecord::NAME, "type", "10 to 13", other)),
        };
        Ok(Self { params, rank, form })
    }

    /// Decodes a chunk's record of a version 2 B-tree without the scaled coordinates. The record
    /// must occupy all bytes.
    ///
    /// # Errors
    /// Returns an error if the record has another length or contradicts the format.
    pub fn element(self, record: &[u8]) -> Result<ChunkElement<'_>> {
        let mut reader = Reader::new(ChunkRecord::NAME, record);
        let address = reader.offset(self.params, "address")?;
        let mut element = ChunkElement { address, size: 0, filter_mask: 0, metadata: &[] };
        match self.form {
            ChunkRecordForm::Plain => {}
            ChunkRecordForm::Filtered { size_width } => {
                element.size = reader.uint(size_width, "chunk size")?;
                element.filter_mask = reader.u32("filter mask")?;
            }
            ChunkRecordForm::Structured { size_width, .. } => {
                element.size = reader.uint(size_width, "chunk size")?;
            }
        }
        reader.take(self.rank * 8, "scaled offset")?;
        if let ChunkRecordForm::Structured { metadata_size, .. } = self.form {
            element.metadata = reader.take(metadata_size, "structured chunk metadata")?;
        }
        reader.finish()?;
        Ok(element)
    }

    /// Returns the offset in bytes of the scaled coordinates in a version 2 B-tree record of a
    /// chunk.
    fn scaled_start(self) -> usize {
        let before = match self.form {
            ChunkRecordForm::Plain => 0,
            ChunkRecordForm::Filtered { size_width } => size_width + 4,
            ChunkRecordForm::Structured { size_width, .. } => size_width,
        };
        self.params.offset_width() + before
    }

    /// Decodes only the scaled coordinates of a chunk's record of a version 2 B-tree.
    pub fn scaled(self, record: &[u8]) -> impl Iterator<Item = u64> + '_ {
        let words = record.get(self.scaled_start()..).unwrap_or(&[]).as_chunks::<8>().0;
        words.iter().take(self.rank).map(|word| u64::from_le_bytes(*word))
    }

    /// Compares the scaled coordinates of a chunk's record with `scaled`, in the order of the
    /// version 2 B-tree.
    pub fn compare(self, record: &[u8], scaled: &[u64]) -> Ordering {
        self.scaled(record).cmp(scaled.iter().copied())
    }
}
