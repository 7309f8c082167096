//! Chunks whose elements are read here and encoded anew, for zarr.

use std::borrow::Cow;

use hyperslab::filter::{ChunkTarget, FilterId, Pipeline, Registry, Stage};
use hyperslab::{Dataset, Error, FilterInfo, Region, Result};
use hyperslab_exact::{to_u64, to_usize};

use crate::element::Element;
use crate::grid::Grid;

/// The identifiers of the filters of recoded chunks.
const SHUFFLE: u16 = 2;
const ZSTD: u16 = 32015;

/// The level of zstd of recoded chunks.
const ZSTD_LEVEL: u32 = 3;

/// The filters that encode chunks, none of which may be skipped.
#[derive(Debug)]
pub(crate) struct Encoder {
    pipeline: Pipeline,
    registry: Registry,
}

impl Encoder {
    /// Creates the encoder of a dataset's filters.
    pub(crate) fn of(filters: &[FilterInfo]) -> Self {
        let stages = filters.iter().map(|filter| Stage::new(FilterId::from(filter.id), &filter.client_data));
        Self { pipeline: Pipeline::new(stages.collect()), registry: Registry::default() }
    }

    /// Creates the encoder of recoded chunks of elements of `element_size` bytes.
    pub(crate) fn recoding(element_size: u32) -> Self {
        let shuffle = Stage::new(FilterId::from(SHUFFLE), &[element_size]);
        let zstd = Stage::new(FilterId::from(ZSTD), &[ZSTD_LEVEL]);
        let stages = if element_size > 1 { vec![shuffle, zstd] } else { vec![zstd] };
        Self { pipeline: Pipeline::new(stages), registry: Registry::default() }
    }

    /// Encodes a chunk.
    pub(crate) fn encode(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        if self.pipeline.is_empty() {
            return Ok(bytes);
        }
        let target = ChunkTarget::of_length(bytes.len());
        let encoded = self.pipeline.encode_chunk(&self.registry, bytes, &target);
        let (bytes, mask) =
            encoded.map_err(|error| Error::Misuse(format!("cannot encode a chunk: {error}")))?;
        match mask {
            0 => Ok(bytes),
            _ => Err(Error::internal("encoded chunk", "a mandatory filter is not skipped")),
        }
    }
}

/// Reads a chunk of a dataset, in the form of the elements in zarr. Elements outside the dataset
/// are zero.
pub(crate) fn read(dataset: &Dataset, element: &Element, grid: &Grid, position: u64) -> Result<Vec<u8>> {
    let region = own_region(dataset, grid, position);
    let unit = to_usize(u64::from(element.memory.size))?;
    let chunk = grid.chunk().get(..dataset.ndim()).unwrap_or_else(|| grid.chunk());
    if element.is_text {
        let texts = dataset.read_stored(&region)?.strings()?;
        let texts = padded(&texts, (&region.count, chunk), 1, &String::new())?;
        return texts_as_bytes(&texts);
    }
    let length = to_usize(region.element_count()?)?.checked_mul(unit).ok_or_else(too_large)?;
    let mut bytes = vec![0; length];
    dataset.read_bytes(&region, &element.memory, &mut bytes)?;
    Ok(padded(&bytes, (&region.count, chunk), unit, &0)?.into_owned())
}

/// Returns the elements of a chunk that are in the dataset, without the dimensions of array
/// elements.
fn own_region(dataset: &Dataset, grid: &Grid, position: u64) -> Region {
    let mut region = grid.region(position);
    region.start.truncate(dataset.ndim());
    region.count.truncate(dataset.ndim());
    region
}

fn too_large() -> Error {
    Error::Limit { subject: "bytes of a chunk".into(), got: u64::MAX, limit: to_u64(usize::MAX) }
}

/// Returns the items of a box of `count` elements as the start of a box of the shape `chunk`, with
/// `filler` elsewhere. An element has `unit` items.
fn padded<'a, T: Clone>(
    items: &'a [T],
    (count, chunk): (&[u64], &[u64]),
    unit: usize,
    filler: &T,
) -> Result<Cow<'a, [T]>> {
    if count == chunk {
        return Ok(Cow::Borrowed(items));
    }
    let elements = chunk.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    let total = to_usize(elements.ok_or_else(too_large)?)?.checked_mul(unit).ok_or_else(too_large)?;
    let mut padded = vec![filler.clone(); total];
    let row = to_usize(count.last().copied().unwrap_or(1))? * unit;
    for (number, from) in items.chunks(row.max(1)).enumerate() {
        let mut rest = to_u64(number);
        let (mut start, mut stride) = (0, chunk.last().copied().unwrap_or(1));
        for (count, size) in count.iter().zip(chunk).rev().skip(1) {
            start += rest % (*count).max(1) * stride;
            rest /= (*count).max(1);
            stride *= size;
        }
        let start = to_usize(start)? * unit;
        if let Some(to) = padded.get_mut(start..start + from.len()) {
            to.clone_from_slice(from);
        }
    }
    Ok(Cow::Owned(padded))
}

/// Returns texts in the form of the codec `vlen-utf8` of numcodecs: the number of texts, and each
/// text after its length.
fn texts_as_bytes(texts: &[String]) -> Result<Vec<u8>> {
    let length = |length: usize| {
        u32::try_from(length).map_err(|_| Error::Limit {
            subject: "texts of a chunk".into(),
            got: to_u64(length),
            limit: u64::from(u32::MAX),
        })
    };
    let mut bytes = length(texts.len())?.to_le_bytes().to_vec();
    for text in texts {
        bytes.extend(length(text.len())?.to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_padded_at_the_end_of_each_dimension() {
        let padded_box = padded(&[1, 2, 3, 4], (&[2, 2], &[3, 4]), 1, &0).unwrap();
        assert_eq!(padded_box[..], [1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0]);
        let units = padded(&[1, 1, 2, 2], (&[1, 2, 1], &[1, 2, 2]), 2, &0).unwrap();
        assert_eq!(units[..], [1, 1, 0, 0, 2, 2, 0, 0]);
        assert_eq!(padded(&[7], (&[], &[]), 1, &0).unwrap()[..], [7]);
    }

    #[test]
    fn texts_have_their_lengths() {
        let bytes = texts_as_bytes(&["a".into(), String::new(), "é".into()]).unwrap();
        assert_eq!(bytes, [3, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 0, 0, 0, 2, 0, 0, 0, 0xc3, 0xa9]);
    }
}
