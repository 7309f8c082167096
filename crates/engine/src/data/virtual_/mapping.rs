//! One mapping of a virtual dataset, made ready for use.

use hyperslab_dataspace::{Dims, Hyperslab, RegularHyperslab, Selection, UNLIMITED};
use hyperslab_format::virtual_mapping::VirtualMapping as Stored;

use crate::error::{Error, Result};

const NAME: &str = "virtual dataset mapping";

/// A part of a virtual dataset, and where its elements come from.
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

/// What a mapping without end goes on with.
#[derive(Debug)]
pub(super) enum Growth {
    /// It has an end.
    None,
    /// The source dataset's own growth.
    Slices {
        /// Along the virtual dataset.
        shown: Slices,
        /// Along the source dataset.
        source: Slices,
    },
    /// Further source datasets, one for each block.
    Datasets(Slices),
}

/// The dimension in which a hyperslab goes on without end: blocks, or one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slices {
    pub(super) dimension: usize,
    pub(super) start: u64,
    pub(super) stride: u64,
    /// [`UNLIMITED`] for one block.
    pub(super) block: u64,
}

/// A name that may have the number of a block in it.
#[derive(Debug)]
pub(super) struct Name {
    /// What stands between the numbers.
    parts: Vec<Vec<u8>>,
}

impl Name {
    /// `%b` is a number, `%%` a per cent sign.
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
                        return Err(Error::corrupt(NAME, "source name", "`b` or `%` behind each `%`", got));
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

    /// The name for a block.
    pub(super) fn of(&self, block: u64) -> Vec<u8> {
        self.parts.join(block.to_string().as_bytes())
    }
}

impl Slices {
    /// The dimension of a selection that has no end.
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
                return Err(Error::corrupt(
                    NAME,
                    "selection",
                    "at most one dimension without end",
                    "several",
                ));
            }
            let sound = match (count, block) {
                (UNLIMITED, UNLIMITED) => false,
                (UNLIMITED, _) => block > 0 && stride >= block,
                _ => count == 1,
            };
            if !sound {
                let got = format!("count {count}, block {block}, stride {stride}");
                return Err(Error::corrupt(NAME, "selection", "blocks without end that do not overlap", got));
            }
            let block = if stride == block { UNLIMITED } else { block };
            found = Some(Self { dimension, start, stride, block });
        }
        Ok(found)
    }

    /// Coordinates that are selected before `size`.
    pub(super) fn before(&self, size: u64) -> u64 {
        let Some(reach) = size.checked_sub(self.start) else { return 0 };
        if self.block == UNLIMITED {
            return reach;
        }
        let whole = reach.checked_div(self.stride).unwrap_or(0);
        let rest = reach.checked_rem(self.stride).unwrap_or(0);
        whole.saturating_mul(self.block).saturating_add(rest.min(self.block))
    }

    /// The smallest size that holds so many selected coordinates; with the gap behind the last of them, if
    /// `with_gap`.
    pub(super) fn extent(&self, slices: u64, with_gap: bool) -> u64 {
        if slices == 0 {
            return if with_gap { self.start } else { 0 };
        }
        if self.block == UNLIMITED {
            return self.start.saturating_add(slices);
        }
        let whole = slices.checked_div(self.block).unwrap_or(0);
        let rest = slices.checked_rem(self.block).unwrap_or(0);
        let start = |block: u64| self.start.saturating_add(block.saturating_mul(self.stride));
        match rest {
            0 if with_gap => start(whole),
            0 => start(whole.saturating_sub(1)).saturating_add(self.block),
            rest => start(whole).saturating_add(rest),
        }
    }
}

impl Mapping {
    /// A mapping of a virtual dataset with that number of dimensions.
    ///
    /// # Errors
    /// Selections and names that contradict each other; lists of points, which libhdf5 does not map either.
    pub fn new(stored: &Stored, rank: usize) -> Result<Self> {
        let shown = stored.virtual_selection.clone().simplified()?;
        let source = stored.source_selection.clone().simplified()?;
        if [&shown, &source].iter().any(|selection| matches!(selection, Selection::Points(_))) {
            return Err(Error::unsupported("mapping single points of virtual datasets"));
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
            // Blocks side by side are as good as any.
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

    /// Returns whether the shape of the virtual dataset depends on what there is of its sources.
    pub fn grows(&self) -> bool {
        !matches!(self.growth, Growth::None)
    }

    /// How far the mapping reaches in each dimension that has an end; 0 in others.
    pub(super) fn reach(&self, rank: usize) -> Dims {
        reach(&self.shown, rank)
    }

    /// The elements of the virtual dataset that the source of one block fills.
    pub(super) fn shown_block(&self, slices: &Slices, block: u64) -> Option<Selection> {
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = &self.shown else { return None };
        let mut slab: RegularHyperslab = slab.clone();
        *slab.start.get_mut(slices.dimension)? =
            slices.start.checked_add(block.checked_mul(slices.stride)?)?;
        *slab.count.get_mut(slices.dimension)? = 1;
        Some(Selection::Hyperslab(Hyperslab::Regular(slab)))
    }
}

/// The end of a selection in each dimension; 0 where it has none.
pub(super) fn reach(selection: &Selection, rank: usize) -> Dims {
    let mut reach = Dims::from_elem(0, rank);
    match selection {
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let sizes = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
            for (end, ((start, stride), (count, block))) in reach.iter_mut().zip(sizes) {
                if *count != UNLIMITED && *block != UNLIMITED && *count > 0 && *block > 0 {
                    let last = count.saturating_sub(1).saturating_mul(*stride);
                    *end = start.saturating_add(last).saturating_add(*block);
                }
            }
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            for block in blocks {
                for (end, last) in reach.iter_mut().zip(&block.end) {
                    *end = last.saturating_add(1).max(*end);
                }
            }
        }
        _ => {}
    }
    reach
}

fn contradiction() -> Error {
    let expected = "none or both selections without end, or a virtual one with `%b` in a source name";
    Error::corrupt(NAME, "selections", expected, "others")
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
    fn slices_are_counted_both_ways() {
        let blocks = Slices { dimension: 0, start: 2, stride: 5, block: 3 };
        for (size, slices) in [(0, 0), (2, 0), (3, 1), (5, 3), (7, 3), (8, 4), (10, 6), (13, 7)] {
            assert_eq!(blocks.before(size), slices, "{size}");
        }
        assert_eq!((blocks.extent(0, false), blocks.extent(0, true)), (0, 2));
        assert_eq!((blocks.extent(3, false), blocks.extent(3, true)), (5, 7));
        assert_eq!((blocks.extent(4, false), blocks.extent(4, true)), (8, 8));
        let endless = Slices { dimension: 0, start: 2, stride: 1, block: UNLIMITED };
        assert_eq!((endless.before(9), endless.extent(7, true)), (7, 9));
    }
}
