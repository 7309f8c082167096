//! The chunks of one dataset: their locations in files, or their bytes.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab::vfd::DriverError;
use hyperslab::{ChunkInfo, Chunking, Dataset, Error, Layout, Result};
use hyperslab_exact::to_u64;

use crate::decoded::{self, Encoder};
use crate::element::Element;
use crate::fill::Fill;
use crate::grid::Grid;
use crate::options::{OpenOther, Recode};
use crate::{Chunk, Content, Json, Report, codecs, linear, virtual_};

/// The largest number of chunks of a dataset that are decoded here.
const MAX_DECODED_CHUNKS: u64 = 1 << 22;

/// The largest number of chunks without data that are written into the references, and the bytes
/// of each.
const MAX_FILLED_CHUNKS: u64 = 1 << 12;
const MAX_FILLED_BYTES: u64 = 1 << 20;

/// The bytes of a chunk of decoded elements that have no chunks in the file.
const DECODED_CHUNK_BYTES: u64 = 4 << 20;

/// The bytes that one element takes at least for [`DECODED_CHUNK_BYTES`], because texts are long.
const TEXT_BYTES: u64 = 64;

/// The chunks of a dataset in the form of zarr.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) grid: Grid,
    pub(crate) codecs: Vec<Json>,
    pub(crate) chunks: Vec<Chunk>,
    /// The encoder for more chunks of the same form.
    pub(crate) encoder: Encoder,
}

/// The reason why zarr cannot read a dataset in place.
pub(crate) type Refusal = String;

/// The parts of an export that make chunks.
pub(crate) struct Chunks<'a> {
    pub(crate) url: Arc<str>,
    pub(crate) inline: u64,
    pub(crate) user_block: u64,
    pub(crate) recode: Option<Recode<'a>>,
    pub(crate) open: Option<OpenOther<'a>>,
    pub(crate) report: Report,
}

impl Chunks<'_> {
    /// Returns the chunks of a dataset.
    ///
    /// # Errors
    /// The inner error is the reason if zarr cannot read the dataset.
    pub(crate) fn of(&mut self, dataset: &Dataset, element: &Element) -> Result<Result<Storage, Refusal>> {
        let in_place = match element.is_stored && !element.is_text {
            true => self.in_place(dataset, element)?,
            false => Err(format!("datatype {} must be converted", dataset.datatype())),
        };
        match in_place {
            Ok(storage) => Ok(Ok(storage)),
            Err(reason) => self.decoded(dataset, element, reason),
        }
    }

    /// Returns the chunks in the form in which the files have them.
    fn in_place(&mut self, dataset: &Dataset, element: &Element) -> Result<Result<Storage, Refusal>> {
        match dataset.layout() {
            Layout::Contiguous { address } => linear::storage(self, dataset, element, address),
            Layout::Chunked(chunking) => match codecs::codecs(&dataset.filters()) {
                Ok(codecs) => Ok(Ok(self.chunked(dataset, element, &chunking, codecs)?)),
                Err(reason) => Ok(Err(reason)),
            },
            Layout::Virtual => virtual_::storage(self, dataset, element),
            Layout::Compact => Ok(Err("compact data".to_owned())),
            _ => Ok(Err("sparse data".to_owned())),
        }
    }

    fn chunked(
        &mut self,
        dataset: &Dataset,
        element: &Element,
        chunking: &Chunking,
        codecs: Vec<Json>,
    ) -> Result<Storage> {
        let grid = grid(dataset, element, &chunking.shape);
        let encoder = Encoder::of(&dataset.filters());
        let mut chunks = Vec::new();
        let (mut others, mut small) = (Vec::new(), Vec::new());
        dataset.chunks().visit(|info| {
            let Some(position) = grid.position(&with_items(&info.offset, element)) else {
                return ControlFlow::Continue(());
            };
            if !codecs.is_empty() && is_encoded_otherwise(info, chunking, dataset) {
                others.push(position);
            } else if info.size <= self.inline {
                small.push((position, info.offset.clone()));
            } else {
                chunks.push(Chunk { position, content: self.range(info) });
            }
            ControlFlow::Continue(())
        })?;
        for (position, offset) in small {
            if let Some(stored) = dataset.chunks().read(&offset)? {
                chunks.push(Chunk { position, content: Content::Inline(stored.bytes.into()) });
            }
        }
        for position in others {
            let bytes = encoder.encode(decoded::read(dataset, element, &grid, position)?)?;
            chunks.push(Chunk { position, content: self.content(bytes)? });
        }
        Ok(Storage { grid, codecs, chunks, encoder })
    }

    fn range(&self, info: &ChunkInfo) -> Content {
        Content::Range {
            url: Arc::clone(&self.url),
            // The sum of two offsets inside the file.
            offset: self.user_block + info.address,
            length: info.size,
        }
    }

    /// Returns the place of encoded bytes: the references, or the file of recoded chunks.
    pub(crate) fn content(&mut self, bytes: Vec<u8>) -> Result<Content> {
        let length = to_u64(bytes.len());
        let Some(recode) = self.recode.as_mut().filter(|_| length > self.inline) else {
            return Ok(Content::Inline(bytes.into()));
        };
        recode.output.write_all(&bytes).map_err(|source| Error::Io {
            action: "cannot write recoded chunks".into(),
            source: DriverError::Io { name: recode.url.to_string(), operation: "write", source },
        })?;
        let offset = recode.length;
        recode.length += length;
        self.report.recoded_chunks += 1;
        self.report.recoded_bytes = recode.length;
        Ok(Content::Range { url: Arc::clone(&recode.url), offset, length })
    }

    /// Returns the chunks of a dataset whose elements are read here.
    fn decoded(
        &mut self,
        dataset: &Dataset,
        element: &Element,
        reason: Refusal,
    ) -> Result<Result<Storage, Refusal>> {
        let item = u64::from(element.memory.size);
        let count = dataset.dataspace().element_count().and_then(|count| count.checked_mul(item));
        let is_small = count.is_some_and(|bytes| bytes <= self.inline);
        let may_inline = element.is_text || is_small || dataset.layout() == Layout::Compact;
        if !may_inline && self.recode.is_none() {
            return Ok(Err(reason));
        }
        let grid = grid(dataset, element, &decoded_chunk(dataset, element));
        let Some(total) = grid.len().filter(|total| *total <= MAX_DECODED_CHUNKS) else {
            return Ok(Err(format!("{reason}, with too many chunks to decode them")));
        };
        let (mut codecs, encoder) = match self.recode.is_some() && !is_small {
            true if element.is_text => (codecs::recoded(1), Encoder::recoding(1)),
            true => (codecs::recoded(element.item_size), Encoder::recoding(element.item_size)),
            false => (Vec::new(), Encoder::of(&[])),
        };
        if element.is_text {
            codecs.insert(0, Json::object([("id", Json::text("vlen-utf8"))]));
        }
        let mut chunks = Vec::new();
        for position in 0..total {
            let bytes = match decoded::read(dataset, element, &grid, position) {
                Ok(bytes) => bytes,
                Err(error) if is_refused(&error) => return Ok(Err(format!("{reason}: {error}"))),
                Err(error) => return Err(error),
            };
            let content = self.content(encoder.encode(bytes)?)?;
            chunks.push(Chunk { position, content });
        }
        Ok(Ok(Storage { grid, codecs, chunks, encoder }))
    }

    /// Adds the chunks that do not exist, if zarr would take another value for their elements.
    /// Returns `false` if they are too many.
    pub(crate) fn fill(&mut self, storage: &mut Storage, element: &Element, fill: &Fill) -> Result<bool> {
        storage.chunks.sort_unstable_by_key(|chunk| chunk.position);
        storage.chunks.dedup_by_key(|chunk| chunk.position);
        let Some(stored) = &fill.element else { return Ok(true) };
        let present = to_u64(storage.chunks.len());
        let missing = storage.grid.len().map(|total| total - present.min(total));
        if missing == Some(0) {
            return Ok(true);
        }
        let items = element.dims.iter().product::<u64>().max(1);
        let count = storage.grid.chunk_elements().map(|count| count / items);
        let size = to_u64(stored.len()).max(1);
        let few = missing.is_some_and(|missing| missing <= MAX_FILLED_CHUNKS);
        let Some(count) = count.filter(|count| few && *count <= MAX_FILLED_BYTES / size) else {
            return Ok(false);
        };
        let bytes = storage.encoder.encode(stored.repeat(hyperslab_exact::to_usize(count)?))?;
        let bytes: Arc<[u8]> = bytes.into();
        let present: Vec<u64> = storage.chunks.iter().map(|chunk| chunk.position).collect();
        for position in 0..storage.grid.len().unwrap_or(0) {
            if present.binary_search(&position).is_err() {
                storage.chunks.push(Chunk { position, content: Content::Inline(Arc::clone(&bytes)) });
            }
        }
        storage.chunks.sort_unstable_by_key(|chunk| chunk.position);
        Ok(true)
    }
}

/// Returns whether the elements cannot be read by this build, or have no form in zarr.
fn is_refused(error: &Error) -> bool {
    use hyperslab::ErrorKind::{Misuse, Unsupported};
    matches!(error.kind(), Misuse | Unsupported)
}

/// Returns whether a chunk is stored without all filters of the dataset.
fn is_encoded_otherwise(info: &ChunkInfo, chunking: &Chunking, dataset: &Dataset) -> bool {
    let shape = dataset.shape();
    let mut sides = info.offset.iter().zip(&chunking.shape).zip(&shape);
    let is_outside = |((start, chunk), size): ((&u64, &u64), &u64)| {
        start.checked_add(*chunk).is_none_or(|end| end > *size)
    };
    info.filter_mask != 0 || (chunking.edges_unfiltered && sides.any(is_outside))
}

/// Returns the grid of chunks of the shape `chunk`, with the dimensions of array elements.
pub(crate) fn grid(dataset: &Dataset, element: &Element, chunk: &[u64]) -> Grid {
    let with_items = |dims: &[u64]| [dims, &element.dims].concat();
    Grid::new(&with_items(&dataset.shape()), &with_items(chunk))
}

/// Returns the coordinates of an element with the ones of the first item of an array element.
pub(crate) fn with_items(offset: &[u64], element: &Element) -> Vec<u64> {
    let mut coordinates = offset.to_vec();
    coordinates.extend(element.dims.iter().map(|_| 0));
    coordinates
}

/// Returns the shape of the chunks of a dataset whose elements are read here: the one in the file,
/// or blocks of the slowest dimensions.
pub(crate) fn decoded_chunk(dataset: &Dataset, element: &Element) -> Vec<u64> {
    if let Layout::Chunked(chunking) = dataset.layout() {
        return chunking.shape;
    }
    if let Some(chunking) = dataset.sparse().chunking() {
        return chunking.shape;
    }
    let mut chunk = dataset.shape();
    let size = u64::from(element.memory.size).max(if element.is_text { TEXT_BYTES } else { 1 });
    let mut left = (DECODED_CHUNK_BYTES / size).max(1);
    for length in chunk.iter_mut().rev() {
        *length = (*length).min(left).max(1);
        left = (left / *length).max(1);
    }
    chunk
}
