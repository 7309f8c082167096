//! The defined elements of a selection with their coordinates, in pieces of bounded size, read in C
//! order.

use std::ops::ControlFlow;

use hyperslab::{Dataset, Dataspace, Points, Stored};
use hyperslab_exact::{product, to_u64};

use crate::selection::{self, Taken};

/// The largest size in bytes of a piece of defined elements with their coordinates. A piece with a
/// single element may be larger.
const PIECE_BYTES: u64 = 32 << 20;

/// A reader of the defined elements of a selection, piece by piece.
pub(crate) struct DefinedElements<'a> {
    dataset: &'a Dataset,
    taken: Vec<Taken>,
    /// For each stored chunk: the coordinates of its first element, the number of its defined
    /// elements, and the size of a defined element in bytes. `None` if the dataset has no
    /// structured chunks: then all elements are defined.
    chunks: Option<Vec<u64>>,
    chunk: Vec<u64>,
    /// The largest size of a piece in bytes.
    maximum: u64,
}

/// A rectangular piece of a selection: the positions from `start` to `end` (exclusive) along each
/// dimension.
#[derive(Debug, Clone)]
struct Piece {
    start: Vec<u64>,
    end: Vec<u64>,
}

impl<'a> DefinedElements<'a> {
    /// Returns a reader of the defined elements of a whole dataset.
    pub(crate) fn all(dataset: &'a Dataset) -> hyperslab::Result<Self> {
        Self::new(dataset, selection::everything(dataset.dataspace().dims()))
    }

    pub(crate) fn new(dataset: &'a Dataset, taken: Vec<Taken>) -> hyperslab::Result<Self> {
        let chunking = dataset.sparse().chunking();
        let mut this = Self {
            dataset,
            taken,
            chunks: None,
            chunk: chunking.as_ref().map_or_else(Vec::new, |chunking| chunking.shape.clone()),
            maximum: PIECE_BYTES,
        };
        if chunking.is_some() {
            let mut chunks = Vec::new();
            let coordinates = this.coordinate_bytes();
            dataset.sparse().visit_chunks(|chunk| {
                // A saturated size means that the chunk is too large to be read together with
                // another chunk.
                let sizes = chunk.sections.iter().map(|section| section.unfiltered);
                let bytes = sizes.fold(0, u64::saturating_add);
                chunks.extend(&chunk.offset);
                chunks.push(chunk.defined);
                chunks.push(bytes.div_ceil(chunk.defined.max(1)).saturating_add(coordinates));
                ControlFlow::Continue(())
            })?;
            this.chunks = Some(chunks);
        }
        Ok(this)
    }

    pub(crate) fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    fn coordinate_bytes(&self) -> u64 {
        8 * to_u64(self.taken.len())
    }

    /// Calls `visit` with the coordinates and the defined elements of each piece of the selection.
    pub(crate) fn for_each<E: From<hyperslab::Error>>(
        &self,
        visit: &mut dyn FnMut(&Points, &Stored) -> Result<(), E>,
    ) -> Result<(), E> {
        if matches!(self.dataset.dataspace(), Dataspace::Null) {
            return Ok(());
        }
        let whole = Piece {
            start: vec![0; self.taken.len()],
            end: self.taken.iter().map(|dimension| dimension.count).collect(),
        };
        let width = self.taken.len() + 2;
        let chunks = self.chunks.as_ref().map(|chunks| chunks.chunks_exact(width).collect());
        // The remaining pieces, the last piece first.
        let mut pieces = vec![(whole, chunks)];
        while let Some((piece, chunks)) = pieces.pop() {
            if piece.start.iter().zip(&piece.end).any(|(start, end)| start >= end) {
                continue;
            }
            let chunks = chunks.map(|chunks| self.within(&piece, chunks));
            let bytes = match &chunks {
                Some(chunks) if chunks.is_empty() => continue,
                // `None` is a size that does not fit in 64 bits.
                Some(chunks) => chunks.iter().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes)),
                None => self.all_bytes(&piece),
            };
            let chunks = chunks.map(|chunks| chunks.into_iter().map(|(chunk, _)| chunk).collect::<Vec<_>>());
            if bytes.is_none_or(|bytes| bytes > self.maximum)
                && let Some((first, second)) = self.halves(&piece)
            {
                pieces.push((second, chunks.clone()));
                pieces.push((first, chunks));
                continue;
            }
            let selected = selection::selection(&self.narrowed(&piece));
            let (points, stored) = self.dataset.sparse().read_stored(&selected)?;
            visit(&points, &stored)?;
        }
        Ok(())
    }

    /// Returns the largest possible size in bytes of a piece: its size if all its elements are
    /// defined. Returns `None` if the size does not fit in 64 bits.
    fn all_bytes(&self, piece: &Piece) -> Option<u64> {
        let size = u64::from(self.dataset.datatype().size) + self.coordinate_bytes();
        let lengths = piece.start.iter().zip(&piece.end).map(|(start, end)| end - start);
        product("size of a piece", lengths.chain([size])).ok()
    }

    /// Returns the chunks that overlap a piece of the selection. Each chunk comes with the largest
    /// possible size in bytes of its defined elements in the piece. The piece must not be empty.
    fn within<'c>(&self, piece: &Piece, chunks: Vec<&'c [u64]>) -> Vec<(&'c [u64], u64)> {
        let rank = self.taken.len();
        let bounds: Vec<(u64, u64)> = self
            .taken
            .iter()
            .zip(piece.start.iter().zip(&piece.end))
            .map(|(dimension, (start, end))| (dimension.at(*start), dimension.at(end - 1)))
            .collect();
        let part = |chunk: &'c [u64]| {
            // A saturated number means more elements than any chunk has, or too many bytes for one
            // piece.
            let mut common = 1_u64;
            for ((offset, size), (first, last)) in chunk.iter().zip(&self.chunk).zip(&bounds) {
                let end = offset.saturating_add(*size).min(last + 1);
                let begin = *offset.max(first);
                if end <= begin {
                    return None;
                }
                common = common.saturating_mul(end - begin);
            }
            let (defined, bytes) = (chunk.get(rank)?, chunk.get(rank + 1)?);
            let maximum = common.min(*defined);
            (maximum > 0).then(|| (chunk, maximum.saturating_mul(*bytes)))
        };
        chunks.into_iter().filter_map(part).collect()
    }

    /// Cuts a piece of the selection into two halves, in C order. If the piece overlaps several
    /// chunks along the cut dimension, the cut is between chunks.
    fn halves(&self, piece: &Piece) -> Option<(Piece, Piece)> {
        let sides = piece.start.iter().zip(&piece.end).zip(&self.taken).enumerate();
        for (number, ((start, end), dimension)) in sides {
            let length = end - start;
            if length < 2 {
                continue;
            }
            let middle = start + length / 2;
            let height = self.chunk.get(number).copied().unwrap_or(1).max(1);
            // The first position in the chunk of the middle, or the first position after that
            // chunk.
            let edge = dimension.at(middle) / height * height;
            let before = dimension.first_from(edge);
            let after = edge.checked_add(height).map(|edge| dimension.first_from(edge));
            let fits = |at: &u64| start < at && at < end;
            let at = [Some(before), after].into_iter().flatten().find(fits).unwrap_or(middle);
            let (mut first, mut second) = (piece.clone(), piece.clone());
            *first.end.get_mut(number)? = at;
            *second.start.get_mut(number)? = at;
            return Some((first, second));
        }
        None
    }

    fn narrowed(&self, piece: &Piece) -> Vec<Taken> {
        let part = |(dimension, (start, end)): (&Taken, (&u64, &u64))| Taken {
            start: dimension.at(*start),
            count: end - start,
            ..*dimension
        };
        self.taken.iter().zip(piece.start.iter().zip(&piece.end)).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use hyperslab::FileOptions;

    use super::*;

    /// The pieces contain the whole selection for every size.
    #[test]
    fn pieces_are_the_selection() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let sparse =
            file.new_dataset("sparse").of::<u16>().shape(&[60, 7, 50]).sparse(&[8, 3, 9]).create().unwrap();
        let coordinates: Vec<u64> =
            (0..900_u64).flat_map(|number| [number * 37 % 60, number * 11 % 7, number * 23 % 50]).collect();
        let values: Vec<u16> = (0..900).collect();
        sparse.sparse().write(&Points { rank: 3, coordinates }, &values).unwrap();
        let plain = file.new_dataset("plain").of::<u16>().shape(&[60, 7, 50]).create().unwrap();
        for dataset in [&sparse, &plain] {
            for text in ["...", "3:50:7,::2", "5", "...,40:", "::9,3,1::5", "7:7"] {
                let taken = selection::parse(text, &[60, 7, 50]).unwrap();
                let whole = dataset.sparse().read_stored(selection::selection(&taken)).unwrap();
                for (maximum, least) in [(1, whole.1.len()), (500, 1), (PIECE_BYTES, 1)] {
                    let mut elements = DefinedElements::new(dataset, taken.clone()).unwrap();
                    elements.maximum = maximum;
                    let (mut at, mut bytes, mut pieces) = (Vec::new(), Vec::new(), 0);
                    let read: Result<()> = elements.for_each(&mut |points, stored| {
                        at.extend_from_slice(&points.coordinates);
                        bytes.extend_from_slice(stored.bytes());
                        pieces += 1;
                        Ok(())
                    });
                    read.unwrap();
                    assert!(at == whole.0.coordinates && bytes == whole.1.bytes(), "{text} {maximum}");
                    assert!(pieces >= least || text == "7:7", "{text} {maximum}: {pieces} pieces");
                }
            }
        }
    }
}
