//! The elements that slices select, as one selection in C order and a rearrangement.

use hyperslab_engine::{Error, Result, memory};
use hyperslab_exact::{to_u64, to_usize};

use super::{Slice, SlicePart};
use crate::dataspace::Dims;
use crate::rearrangement::{AxisOrder, Rearrangement};
use crate::{Block, Hyperslab, RegularHyperslab, Selection};

/// The selected coordinates of one dimension in ascending order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ascending {
    Regular {
        start: u64,
        count: u64,
        step: u64,
    },
    /// Blocks, each with its first and its last coordinate.
    Blocks(Vec<(u64, u64)>),
}

/// The elements that one slice per dimension selects.
pub(crate) struct Sliced {
    /// The selected elements in C order, each once.
    pub(crate) selection: Selection,
    /// The shape of the result.
    pub(crate) shape: Vec<u64>,
    /// The order of the result, unless it is C order.
    pub(crate) rearrangement: Option<Rearrangement>,
    /// The coordinates of each dimension, if the selection is irregular.
    pub(crate) grid: Option<Grid>,
}

impl Ascending {
    /// Returns the coordinates of an ascending list without repetitions.
    pub(super) fn of(list: &[u64]) -> Self {
        let mut distances = list.windows(2).map(|pair| pair.iter().rev().copied().reduce(|to, at| to - at));
        let (start, count) = (list.first().copied().unwrap_or(0), to_u64(list.len()));
        let step = distances.next().flatten().unwrap_or(1);
        if distances.all(|distance| distance == Some(step)) {
            return Self::Regular { start, count, step };
        }
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for at in list {
            match blocks.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(*at) => *last = *at,
                _ => blocks.push((*at, *at)),
            }
        }
        Self::Blocks(blocks)
    }

    /// Returns the coordinates at the positions from `from` to before `to`.
    pub(super) fn part(&self, from: u64, to: u64) -> Self {
        match self {
            // Cannot overflow, because the coordinates lie in the dimension.
            Self::Regular { start, step, .. } => {
                Self::Regular { start: start + from * step, count: to - from, step: *step }
            }
            Self::Blocks(blocks) => {
                let mut before = 0;
                let parts = blocks.iter().filter_map(|(first, last)| {
                    let (start, end) = (from.max(before), to.min(before + (last - first + 1)));
                    let part = (start < end).then(|| (first + (start - before), first + (end - 1 - before)));
                    before += last - first + 1;
                    part
                });
                Self::Blocks(parts.collect())
            }
        }
    }

    /// Returns the number of blocks of adjacent coordinates.
    fn block_count(&self) -> u64 {
        match self {
            Self::Regular { step: 1, .. } => 1,
            Self::Regular { count, .. } => *count,
            Self::Blocks(blocks) => to_u64(blocks.len()),
        }
    }

    /// Returns the number of coordinates.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Regular { count, .. } => *count,
            Self::Blocks(blocks) => blocks.iter().map(|(first, last)| last - first + 1).sum(),
        }
    }

    /// Returns the blocks of adjacent coordinates, each with its first and its last coordinate. The
    /// dimension has selected coordinates.
    fn blocks(&self) -> Vec<(u64, u64)> {
        match self {
            // Cannot overflow, because the last coordinate lies in the dimension.
            Self::Regular { start, count, step: 1 } => vec![(*start, *start + (*count).max(1) - 1)],
            Self::Regular { start, count, step } => {
                (0..*count).map(|number| start + number * step).map(|at| (at, at)).collect()
            }
            Self::Blocks(blocks) => blocks.clone(),
        }
    }
}

/// The elements that irregular lists of coordinates select: all combinations of one coordinate from
/// each dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(super) axes: Vec<Ascending>,
}

impl Grid {
    /// Returns the number of elements.
    pub(crate) fn len(&self) -> Result<usize> {
        let count = hyperslab_exact::product("number of elements", self.axes.iter().map(Ascending::len));
        to_usize(count.map_err(|_| Error::Memory { subject: "elements", bytes: u64::MAX })?)
            .map_err(Error::from)
    }
}

/// Returns the elements that one slice per dimension selects in an array of the shape `dims`.
pub(crate) fn selection(slices: &[Slice], dims: &[u64]) -> Result<Sliced> {
    if slices.len() != dims.len() {
        let message = format!(
            "the selection has {} slices, but the dataset has {} dimensions",
            slices.len(),
            dims.len()
        );
        return Err(Error::Misuse(message));
    }
    let mut parts = Vec::new();
    for (dimension, (slice, size)) in slices.iter().zip(dims).enumerate() {
        let part = slice.within(*size).ok_or_else(|| {
            Error::Misuse(format!("the slice exceeds the dimension {dimension}, whose size is {size}"))
        })?;
        let is_list = matches!(part, SlicePart::List(_));
        if slice.step == 0 || (is_list && slice.step != 1) {
            return Err(Error::Misuse(format!(
                "the slice in dimension {dimension} cannot have the step {}",
                slice.step
            )));
        }
        parts.push(part);
    }
    let shape = parts
        .iter()
        .filter(|part| !matches!(part, SlicePart::Regular { single: true, .. }))
        .map(SlicePart::len)
        .collect();
    if dims.is_empty() {
        return Ok(Sliced { selection: Selection::All, shape, rearrangement: None, grid: None });
    }
    if parts.iter().any(|part| part.len() == 0) && parts.iter().any(|part| matches!(part, SlicePart::List(_)))
    {
        return Ok(Sliced { selection: Selection::None, shape, rearrangement: None, grid: None });
    }
    let (axes, orders): (Vec<Ascending>, Vec<AxisOrder>) =
        parts.into_iter().map(SlicePart::ascending).unzip();
    let rearrangement = Rearrangement::new(axes.iter().map(Ascending::len).zip(orders).collect());
    let selection = combined(&axes)?;
    let grid =
        matches!(selection, Selection::Hyperslab(Hyperslab::Irregular { .. })).then_some(Grid { axes });
    Ok(Sliced { selection, shape, rearrangement, grid })
}

/// Returns the selection of all combinations of coordinates that take one coordinate from each
/// dimension.
pub(super) fn combined(axes: &[Ascending]) -> Result<Selection> {
    Ok(Selection::Hyperslab(match regular(axes) {
        Some(regular) => Hyperslab::Regular(regular),
        None => Hyperslab::Irregular { rank: axes.len(), blocks: product(axes)? },
    }))
}

/// Returns the regular hyperslab with the given coordinates of each dimension. Returns `None`
/// unless the coordinates of each dimension are at equal distances.
fn regular(axes: &[Ascending]) -> Option<RegularHyperslab> {
    let mut slab = RegularHyperslab::region(&[], &[]);
    for axis in axes {
        let Ascending::Regular { start, count, step } = axis else { return None };
        let (count, block) = if *step == 1 { (1, *count) } else { (*count, 1) };
        slab.start.push(*start);
        slab.stride.push(*step);
        slab.count.push(count);
        slab.block.push(block);
    }
    Some(slab)
}

/// Returns all combinations of blocks of coordinates that take one block from each dimension, in C
/// order.
fn product(axes: &[Ascending]) -> Result<Vec<Block>> {
    let too_many =
        |count: u64| Error::Limit { subject: "blocks of index lists".into(), got: count, limit: MAX_BLOCKS };
    let count = axes.iter().map(Ascending::block_count).try_fold(1_u64, u64::checked_mul);
    let count =
        count.filter(|count| *count <= MAX_BLOCKS).ok_or_else(|| too_many(count.unwrap_or(u64::MAX)))?;
    let mut blocks = memory::reserve(to_usize(count)?, "blocks of index lists")?;
    let lists: Vec<Vec<(u64, u64)>> = axes.iter().map(Ascending::blocks).collect();
    let corner = Block { start: Dims::new(), end: Dims::new() };
    combine(&lists, &corner, &mut blocks);
    Ok(blocks)
}

/// Appends all blocks to `blocks` that begin with the dimensions of `corner` and continue with one
/// block from each list.
fn combine(lists: &[Vec<(u64, u64)>], corner: &Block, blocks: &mut Vec<Block>) {
    let Some((list, faster)) = lists.split_first() else {
        blocks.push(corner.clone());
        return;
    };
    for (first, last) in list {
        let mut longer = corner.clone();
        longer.start.push(*first);
        longer.end.push(*last);
        combine(faster, &longer, blocks);
    }
}

/// The largest number of blocks in the selection that index lists describe.
const MAX_BLOCKS: u64 = 1 << 24;
