//! Mappings of a virtual dataset, decoded and checked.

use hyperslab_dataspace::{Dims, Hyperslab, RegularHyperslab, Selection, UNLIMITED};
use hyperslab_format::virtual_mapping::VirtualMapping as Stored;

use crate::error::{Error, Result};

const NAME: &str = "virtual dataset mapping";

/// A mapping of a virtual dataset: a selection in the virtual dataset, and a selection in a source
/// dataset.
#[derive(Debug)]
pub struct Mapping {
    pub(super) file: Name,
    pub(super) dataset: Name,
    /// The elements of the virtual dataset.
    pub(super) shown: Selection,
    /// The elements of the source dataset.
    pub(super) source: Selection,
    pub(super) growth: Growth,
}

/// The way in which a mapping of a virtual dataset grows: not at all, with its source dataset, or
/// by further source datasets.
#[derive(Debug)]
pub(super) enum Growth {
    /// The selections are limited.
    None,
    /// The source dataset grows.
    Slices {
        /// The unlimited dimension of the virtual dataset.
        shown: Slices,
        /// The unlimited dimension of the source dataset.
        source: Slices,
    },
    /// Further source datasets are added, one for each block.
    Datasets(Slices),
}

/// The unlimited dimension of a hyperslab in a virtual dataset's mapping. Each selected coordinate
/// in this dimension is a slice. The hyperslab has an unlimited number of blocks, or one unlimited
/// block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slices {
    pub(super) dimension: usize,
    pub(super) start: u64,
    pub(super) stride: u64,
    /// The length of a block; [`UNLIMITED`] for one block.
    pub(super) block: u64,
}

/// The name of a source file or source dataset of a virtual dataset. The name may have a
/// placeholder for the number of a block.
#[derive(Debug)]
pub(super) struct Name {
    /// The parts of the name between the numbers.
    parts: Vec<Vec<u8>>,
}

impl Name {
    /// Parses a source name of a virtual dataset, in which `%b` is the number of a block and `%%`
    /// is a percent sign.
    fn new(name: &[u8]) -> Result<Self> {
        let (mut parts, mut part) = (Vec::new(), Vec::new());
        let mut bytes = name.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' => match bytes.next() {
                    Some(b'b') => parts.push(std::mem::take(&mut part)),
                    Some(b'%') => part.push(b'%'),
                    _ => {
                        let got = String::from_utf8_lossy(name);
                        return Err(Error::corrupt(NAME, "source name", "`b` or `%` after each `%`", got));
                    }
                },
                byte => part.push(*byte),
            }
        }
        parts.push(part);
        Ok(Self { parts })
    }

    fn has_number(&self) -> bool {
        self.parts.len() > 1
    }

    /// Returns the source name of a virtual dataset for the block with the number `block`, which
    /// replaces the placeholders.
    pub(super) fn of(&self, block: u64) -> Vec<u8> {
        self.parts.join(block.to_string().as_bytes())
    }
}

impl Slices {
    /// Returns the unlimited dimension of a virtual dataset's selection, if the selection has an
    /// unlimited dimension.
    fn of(selection: &Selection) -> Result<Option<Self>> {
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = selection else { return Ok(None) };
        let mut found = None;
        let sizes = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
        for (dimension, ((start, stride), (count, block))) in sizes.enumerate() {
            let (start, stride, count, block) = (*start, *stride, *count, *block);
            if count != UNLIMITED && block != UNLIMITED {
                continue;
            }
            if found.is_some() {
                return Err(Error::corrupt(NAME, "selection", "at most one unlimited dimension", "several"));
            }
            let sound = match (count, block) {
                (UNLIMITED, UNLIMITED) => false,
                (UNLIMITED, _) => block > 0 && stride >= block,
                _ => count == 1,
            };
            if !sound {
                let got = format!("count {count}, block {block}, stride {stride}");
                return Err(Error::corrupt(NAME, "selection", "unlimited blocks that do not overlap", got));
            }
            let block = if stride == block { UNLIMITED } else { block };
            found = Some(Self { dimension, start, stride, block });
        }
        Ok(found)
    }

    /// Returns the number of slices before the coordinate `size`: the selected coordinates of a
    /// hyperslab's unlimited dimension that are less than `size`.
    pub(super) fn before(&self, size: u64) -> u64 {
        let Some(reach) = size.checked_sub(self.start) else { return 0 };
        if self.block == UNLIMITED {
            return reach;
        }
        let whole = reach.checked_div(self.stride).unwrap_or(0);
        let rest = reach.checked_rem(self.stride).unwrap_or(0);
        // At most `reach`, because blocks do not overlap: `block` is at most `stride`.
        whole * self.block + rest.min(self.block)
    }

    /// Returns the smallest size of a hyperslab's unlimited dimension that contains `slices`
    /// selected coordinates. If `with_gap` is true, adds the unselected coordinates up to the next
    /// selected one. Returns `None` if the size exceeds 64 bits.
    pub(super) fn extent(&self, slices: u64, with_gap: bool) -> Option<u64> {
        if slices == 0 {
            return Some(if with_gap { self.start } else { 0 });
        }
        if self.block == UNLIMITED {
            return self.start.checked_add(slices);
        }
        let whole = slices.checked_div(self.block).unwrap_or(0);
        let rest = slices.checked_rem(self.block).unwrap_or(0);
        let start = |block: u64| self.start.checked_add(block.checked_mul(self.stride)?);
        match rest {
            0 if with_gap => start(whole),
            // Without a rest, `slices` is a positive multiple of the block.
            0 => start(whole - 1)?.checked_add(self.block),
            rest => start(whole)?.checked_add(rest),
        }
    }
}

impl Mapping {
    /// Creates a mapping of a virtual dataset with `rank` dimensions from the stored mapping.
    ///
    /// # Errors
    /// Returns an error if selections and names contradict each other. Returns
    /// [`Error::Unsupported`] for point selections, which libhdf5 does not map either.
    pub fn new(stored: &Stored, rank: usize) -> Result<Self> {
        let shown = stored.virtual_selection.clone().simplified()?;
        let source = stored.source_selection.clone().simplified()?;
        if [&shown, &source].iter().any(|selection| matches!(selection, Selection::Points(_))) {
            return Err(Error::unsupported("a mapping of a virtual dataset with a point selection"));
        }
        let got = match &shown {
            Selection::Hyperslab(Hyperslab::Regular(slab)) => slab.rank(),
            Selection::Hyperslab(Hyperslab::Irregular { rank, .. }) => *rank,
            _ => rank,
        };
        if got != rank {
            return Err(Error::corrupt(NAME, "virtual selection", format!("{rank} dimensions"), got));
        }
        let (file, dataset) = (Name::new(&stored.source_file)?, Name::new(&stored.source_dataset)?);
        let numbered = file.has_number() || dataset.has_number();
        let growth = match (Slices::of(&shown)?, Slices::of(&source)?) {
            (None, None) if !numbered => Growth::None,
            (Some(shown), Some(source)) if !numbered => Growth::Slices { shown, source },
            (Some(shown), None) if numbered && shown.block != UNLIMITED => Growth::Datasets(shown),
            // The slices of contiguous blocks have no block length, so the selection must state the
            // length.
            (Some(slices), None) if numbered => match &shown {
                Selection::Hyperslab(Hyperslab::Regular(slab)) => {
                    let block = slab.block.get(slices.dimension).copied().filter(|block| *block != UNLIMITED);
                    let block = block.ok_or_else(contradiction)?;
                    Growth::Datasets(Slices { block, ..slices })
                }
                _ => return Err(contradiction()),
            },
            _ => return Err(contradiction()),
        };
        Ok(Self { file, dataset, shown, source, growth })
    }

    /// Returns whether a mapping grows with its source datasets, so that the shape of the virtual
    /// dataset depends on them.
    pub fn grows(&self) -> bool {
        !matches!(self.growth, Growth::None)
    }

    /// Returns whether a mapping grows with source datasets in other files. Changes of these files
    /// do not change the file of the virtual dataset.
    pub fn grows_outside(&self) -> bool {
        self.grows() && self.file.of(0) != b"."
    }

    /// Returns the reach of a mapping's selection in the virtual dataset: its end (exclusive) in
    /// each dimension. In an unlimited dimension, the end is 0.
    pub(super) fn reach(&self, rank: usize) -> Result<Dims> {
        reach(&self.shown, rank)
    }

    /// Returns the selection of the virtual dataset for one block of a mapping. The elements of the
    /// block come from the source dataset with the number `block`.
    pub(super) fn shown_block(&self, slices: &Slices, block: u64) -> Option<Selection> {
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = &self.shown else { return None };
        let mut slab: RegularHyperslab = slab.clone();
        *slab.start.get_mut(slices.dimension)? =
            slices.start.checked_add(block.checked_mul(slices.stride)?)?;
        *slab.count.get_mut(slices.dimension)? = 1;
        Some(Selection::Hyperslab(Hyperslab::Regular(slab)))
    }
}

/// Returns the reach of a selection: its end (exclusive) in each dimension. In an unlimited or
/// empty dimension, the end is 0.
///
/// # Errors
/// Returns [`Error::Corrupt`] if an end exceeds 64 bits.
pub(super) fn reach(selection: &Selection, rank: usize) -> Result<Dims> {
    let mut reach = Dims::from_elem(0, rank);
    match selection {
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let sizes = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
            for (end, ((start, stride), (count, block))) in reach.iter_mut().zip(sizes) {
                if *count != UNLIMITED && *block != UNLIMITED && *count > 0 && *block > 0 {
                    let end_of = || {
                        let last = (count - 1).checked_mul(*stride)?;
                        start.checked_add(last)?.checked_add(*block)
                    };
                    *end = end_of().ok_or_else(beyond)?;
                }
            }
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            for block in blocks {
                for (end, last) in reach.iter_mut().zip(&block.end) {
                    *end = last.checked_add(1).ok_or_else(beyond)?.max(*end);
                }
            }
        }
        _ => {}
    }
    Ok(reach)
}

/// Creates the error that the end of a selection in a virtual dataset's mapping exceeds 64 bits.
pub(super) fn beyond() -> Error {
    Error::corrupt(NAME, "selection", "an end of at most 64 bits", "more")
}

fn contradiction() -> Error {
    let expected = "both selections limited, both unlimited, or only the virtual selection unlimited with `%b` \
                    in a source name";
    Error::corrupt(NAME, "selections", expected, "another combination")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_numbers() {
        let name = Name::new(b"f-%b_100%%_%b.h5").unwrap();
        assert_eq!(name.of(12), b"f-12_100%_12.h5");
        assert!(name.has_number() && !Name::new(b"50%%").unwrap().has_number());
        assert!(Name::new(b"%d").is_err() && Name::new(b"x%").is_err());
    }

    #[test]
    fn slices_are_counted_in_both_directions() {
        let blocks = Slices { dimension: 0, start: 2, stride: 5, block: 3 };
        for (size, slices) in [(0, 0), (2, 0), (3, 1), (5, 3), (7, 3), (8, 4), (10, 6), (13, 7)] {
            assert_eq!(blocks.before(size), slices, "{size}");
        }
        assert_eq!((blocks.extent(0, false), blocks.extent(0, true)), (Some(0), Some(2)));
        assert_eq!((blocks.extent(3, false), blocks.extent(3, true)), (Some(5), Some(7)));
        assert_eq!((blocks.extent(4, false), blocks.extent(4, true)), (Some(8), Some(8)));
        let endless = Slices { dimension: 0, start: 2, stride: 1, block: UNLIMITED };
        assert_eq!((endless.before(9), endless.extent(7, true)), (7, Some(9)));
        assert_eq!(endless.extent(u64::MAX, false), None);
        let far = Slices { dimension: 0, start: 0, stride: 1 << 63, block: 1 };
        assert_eq!((far.extent(2, false), far.extent(3, false)), (Some((1 << 63) + 1), None));
        assert_eq!(far.before(u64::MAX), 2);
    }

    #[test]
    fn an_end_above_64_bits_is_corrupt() {
        let ends = |start, count, stride, block| {
            let mut slab = RegularHyperslab::region(&[start], &[block]);
            (slab.count[0], slab.stride[0]) = (count, stride);
            reach(&Selection::Hyperslab(Hyperslab::Regular(slab)), 1)
        };
        assert_eq!(ends(u64::MAX - 3, 1, 1, 2).unwrap()[0], u64::MAX - 1);
        assert_eq!(ends(7, UNLIMITED, 2, 1).unwrap()[0], 0);
        for (start, count, stride, block) in [(u64::MAX, 1, 1, 2), (1, 3, 1 << 63, 1), (1, 2, u64::MAX, 1)] {
            let error = ends(start, count, stride, block).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Corrupt, "{error}");
        }
    }
}
