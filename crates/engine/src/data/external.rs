//! Elements in other files: pieces that follow each other in the order of the dataset's bytes.

use std::sync::OnceLock;

use hyperslab_dataspace::{Dims, Selection};

use super::Source;
use super::byte_runs::{Request, fetch_runs};
use crate::error::{Error, Result};
use crate::store::{RawFile, Store};

/// Opens the files of raw data that a dataset names.
pub trait OpenRaw: Send + Sync + std::fmt::Debug {
    /// Opens the file of that name, as the dataset has it.
    ///
    /// # Errors
    /// If there is no such file, or it may not be opened.
    fn open_raw(&self, name: &[u8]) -> Result<RawFile>;
}

/// A dataset whose elements lie in other files. Files are opened when they are first needed; where one is
/// shorter than its piece, the rest reads as zero bytes.
#[derive(Debug)]
pub struct ExternalSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// Bytes of an element.
    pub element_size: usize,
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// Opens their files.
    pub files: Box<dyn OpenRaw>,
}

/// A piece of a dataset in another file.
#[derive(Debug)]
pub struct Piece {
    name: Vec<u8>,
    /// Bytes of the dataset before the piece, and those before what follows it.
    start: u64,
    end: u64,
    /// Where the piece begins in the file.
    offset: u64,
    file: OnceLock<RawFile>,
}

impl Piece {
    /// Pieces by name, offset and size; the size of the last one may have no end.
    pub fn row<'a>(pieces: impl Iterator<Item = (&'a [u8], u64, Option<u64>)>) -> Vec<Self> {
        let mut start = 0_u64;
        let piece = |(name, offset, size): (&[u8], u64, Option<u64>)| {
            let end = size.map_or(u64::MAX, |size| start.saturating_add(size));
            let piece = Self { name: name.to_vec(), start, end, offset, file: OnceLock::new() };
            start = end;
            piece
        };
        pieces.map(piece).collect()
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
    fn read(&self, _store: &Store, selection: &Selection, out: &mut [u8]) -> Result<()> {
        fetch_runs(&self.dims, selection, self.element_size, out, |batch| self.fetch(batch))
    }
}

impl ExternalSource {
    fn fetch(&self, batch: Vec<Request<'_>>) -> Result<()> {
        let mut per_piece: Vec<(usize, Vec<Request<'_>>)> = Vec::new();
        for (mut at, mut buffer) in batch {
            while !buffer.is_empty() {
                let (number, piece) = self.piece(at)?;
                let here = usize::try_from(piece.end - at).unwrap_or(usize::MAX).min(buffer.len());
                let Some((part, rest)) = buffer.split_at_mut_checked(here) else { break };
                let offset = (at - piece.start).checked_add(piece.offset).ok_or_else(|| {
                    Error::corrupt(
                        "external data files message",
                        "offset",
                        "an end within 64 bits",
                        piece.offset,
                    )
                })?;
                at = at.saturating_add(part.len() as u64);
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

    /// The piece that holds a byte of the dataset.
    fn piece(&self, at: u64) -> Result<(usize, &Piece)> {
        let number = self.pieces.partition_point(|piece| piece.end <= at);
        let total = self.pieces.last().map_or(0, |piece| piece.end);
        self.pieces.get(number).map(|piece| (number, piece)).ok_or_else(|| {
            let expected = format!("more than {at} bytes in all");
            Error::corrupt("external data files message", "data size in external file", expected, total)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use hyperslab_dataspace::{Hyperslab, Points, RegularHyperslab};
    use hyperslab_vfd::Core;
    use std::sync::Arc;

    #[derive(Debug)]
    struct Letters;

    impl OpenRaw for Letters {
        fn open_raw(&self, name: &[u8]) -> Result<RawFile> {
            match name {
                b"upper" => RawFile::new(Arc::new(Core::image("upper", b"ABCDEFGH".to_vec()))),
                b"lower" => RawFile::new(Arc::new(Core::image("lower", b"abcd".to_vec()))),
                _ => Err(Error::NotFound { what: "file", name: "digits".into() }),
            }
        }
    }

    /// Bytes 0–2 from `upper`, none, 3–9 from `lower` (which has 3 of them), the rest from a file that is missing.
    fn source(dims: &[u64]) -> ExternalSource {
        let pieces: [(&[u8], u64, Option<u64>); 4] =
            [(b"upper", 2, Some(3)), (b"digits", 0, Some(0)), (b"lower", 1, Some(7)), (b"digits", 0, None)];
        ExternalSource {
            dims: Dims::from_slice(dims),
            element_size: 1,
            pieces: Piece::row(pieces.into_iter()),
            files: Box::new(Letters),
        }
    }

    fn store() -> Store {
        let image = std::fs::read(hyperslab_testkit::fixtures::path("weather_station.h5")).unwrap();
        Store::open(Arc::new(Core::image("image", image)), crate::store::StoreOptions::default()).unwrap()
    }

    #[test]
    fn pieces_follow_each_other_and_short_ones_end_in_zeros() {
        let (store, mut out) = (store(), [0; 10]);
        source(&[10]).read(&store, &Selection::All, &mut out).unwrap();
        assert_eq!(&out, b"CDEbcd\0\0\0\0");
        let strided = RegularHyperslab::strided(&[0, 1], &[1, 2], &[2, 2]);
        let mut out = [0; 4];
        let selection = Selection::Hyperslab(Hyperslab::Regular(strided));
        source(&[2, 5]).read(&store, &selection, &mut out).unwrap();
        assert_eq!(&out, b"Db\0\0");
        let mut out = [0; 3];
        let points = Selection::Points(Points { rank: 1, coordinates: vec![5, 0, 3] });
        source(&[10]).read(&store, &points, &mut out).unwrap();
        assert_eq!(&out, b"dCb");
    }

    #[test]
    fn a_missing_file_matters_where_it_is_needed() {
        let (store, mut out) = (store(), [0; 11]);
        let error = source(&[11]).read(&store, &Selection::All, &mut out).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::NotFound);
        assert_eq!(error.to_string(), "external file `digits`");
        let mut short = source(&[11]);
        short.pieces.pop();
        let error = short.read(&store, &Selection::All, &mut out).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Corrupt);
    }
}
