//! External storage: elements in other files, in pieces that have the order of the dataset's bytes.

use std::sync::{Arc, OnceLock};

use hyperslab_dataspace::{Dims, Selection};
use hyperslab_exact::to_usize;

use super::read::{self, ByteRequest, LinearBytes};
use super::write::{self, LinearTarget};
use crate::data::transfer::{ReadContext, ReadTarget, Sink, SinkContext, Source, WriteSource};
use crate::error::{Error, Result};
use crate::store::RawFile;

/// A trait of types that open the external raw data files of a dataset.
pub trait OpenRaw: Send + Sync + std::fmt::Debug {
    /// Opens an external raw data file. The dataset stores the file name.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or cannot be opened.
    fn open_raw(&self, name: &[u8]) -> Result<RawFile>;
}

/// The source of elements for reads of a dataset with external raw data files. Each file is opened
/// when it is first needed. If an external file is too short for the dataset, the missing bytes
/// read as zeros.
#[derive(Debug)]
pub struct ExternalSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The pieces, in order.
    pub pieces: Vec<ExternalFilePart>,
    /// The value that opens the files.
    pub files: Box<dyn OpenRaw>,
}

/// A part of a dataset's bytes that lies in one external raw data file.
#[derive(Debug)]
pub struct ExternalFilePart {
    name: Vec<u8>,
    /// The number of bytes of the dataset before the piece.
    start: u64,
    /// The number of bytes of the dataset before the next piece.
    end: u64,
    /// The offset of the piece in its file.
    offset: u64,
    file: OnceLock<RawFile>,
}

impl ExternalFilePart {
    /// Creates the external file parts of a dataset, in a row: each part begins where the preceding
    /// part ends. The arguments are file names, offsets and sizes. Only the last part may be
    /// unlimited.
    pub fn row<'a>(pieces: impl Iterator<Item = (&'a [u8], u64, Option<u64>)>) -> Vec<Self> {
        let mut start = 0_u64;
        let piece = |(name, offset, size): (&[u8], u64, Option<u64>)| {
            // Saturates because no element has bytes beyond 64 bits.
            let end = size.map_or(u64::MAX, |size| start.saturating_add(size));
            let piece = Self { name: name.to_vec(), start, end, offset, file: OnceLock::new() };
            start = end;
            piece
        };
        pieces.map(piece).collect()
    }

    /// Returns the offset in the external file of the dataset's byte with the index `at`. The byte
    /// belongs to this external file part.
    fn file_offset(&self, at: u64) -> Result<u64> {
        let offset = at.checked_sub(self.start).and_then(|inside| inside.checked_add(self.offset));
        offset.ok_or_else(|| {
            Error::corrupt("external data files message", "offset", "an end within 64 bits", self.offset)
        })
    }

    fn file(&self, files: &dyn OpenRaw) -> Result<&RawFile> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = files.open_raw(&self.name).map_err(|error| {
            error.context(format!("external file `{}`", String::from_utf8_lossy(&self.name)))
        })?;
        Ok(self.file.get_or_init(|| file))
    }
}

impl Source for ExternalSource {
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut ReadTarget<'_>) -> Result<()> {
        read::read(context, self, &self.dims, selection, to)
    }
}

impl LinearBytes for ExternalSource {
    fn fetch(&self, batch: Vec<ByteRequest<'_>>) -> Result<()> {
        let mut per_piece: Vec<(usize, Vec<ByteRequest<'_>>)> = Vec::new();
        for (mut at, mut buffer) in batch {
            while !buffer.is_empty() {
                let (number, piece) = self.piece(at)?;
                let here = (piece.end - at).min(buffer.len() as u64);
                let (part, rest) = buffer.split_at_mut(to_usize(here)?);
                let offset = piece.file_offset(at)?;
                at += part.len() as u64;
                match per_piece.last_mut().filter(|(last, _)| *last == number) {
                    Some((_, requests)) => requests.push((offset, part)),
                    None => per_piece.push((number, vec![(offset, part)])),
                }
                buffer = rest;
            }
        }
        for (number, mut requests) in per_piece {
            let Some(piece) = self.pieces.get(number) else { continue };
            piece.file(&*self.files)?.read_many(&mut requests)?;
        }
        Ok(())
    }
}

/// A dataset that is open for writes and has its elements in external raw data files. The external
/// files are open only during a write.
#[derive(Debug)]
pub struct ExternalSink {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The pieces, in order: the name of the file, the offset in it, and the size if the piece has
    /// an end.
    pub pieces: Vec<(Vec<u8>, u64, Option<u64>)>,
    /// The value that opens the files.
    pub files: Arc<dyn OpenRaw>,
}

impl Sink for ExternalSink {
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let pieces = self.pieces.iter().map(|(name, offset, size)| (name.as_slice(), *offset, *size));
        let files = Box::new(Arc::clone(&self.files));
        let target = ExternalSource { dims: self.dims.clone(), pieces: ExternalFilePart::row(pieces), files };
        from.check(selection.element_count(&target.dims)?)?;
        write::write(writing.edit.store(), &target, &target.dims, selection, from)
    }

    fn resize(&mut self, _writing: &mut SinkContext<'_, '_>, dims: &[u64]) -> Result<()> {
        self.dims = Dims::from_slice(dims);
        Ok(())
    }

    fn free(&mut self, _writing: &mut SinkContext<'_, '_>) -> Result<()> {
        Ok(())
    }
}

impl OpenRaw for Arc<dyn OpenRaw> {
    fn open_raw(&self, name: &[u8]) -> Result<RawFile> {
        (**self).open_raw(name)
    }
}

impl LinearTarget for ExternalSource {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.fetch(vec![(offset, buffer)])
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let (mut at, mut bytes) = (offset, bytes);
        while !bytes.is_empty() {
            let (_, piece) = self.piece(at)?;
            let here = (piece.end - at).min(bytes.len() as u64);
            let (part, rest) = bytes.split_at(to_usize(here)?);
            let offset = piece.file_offset(at)?;
            piece.file(&*self.files)?.write(offset, part)?;
            at += part.len() as u64;
            bytes = rest;
        }
        Ok(())
    }
}

impl ExternalSource {
    /// Returns the external file part that holds the dataset's byte with the index `at`, and the
    /// index of the part.
    fn piece(&self, at: u64) -> Result<(usize, &ExternalFilePart)> {
        let number = self.pieces.partition_point(|piece| piece.end <= at);
        let total = self.pieces.last().map_or(0, |piece| piece.end);
        self.pieces.get(number).map(|piece| (number, piece)).ok_or_else(|| {
            let expected = format!("a total of more than {at} bytes");
            Error::corrupt("external data files message", "data size in external file", expected, total)
        })
    }
}
