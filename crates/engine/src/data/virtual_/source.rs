//! What is wanted of a virtual dataset, mapping by mapping; reading it: from each source, into place.

use std::ops::Range;

use hyperslab_dataspace::{Axis, AxisPart, Dims, Hyperslab, Ordered, Region, RegularHyperslab, Selection};

use super::Mapping;
use super::mapping::{Growth, Slices, reach};
use super::places::{Piece, Places};
use super::steps::Steps;
use crate::data::transfer::{Fill, byte_count};
use crate::error::{Error, Result};
use crate::memory::zeros;

/// The shapes of the datasets that a virtual one shows.
pub trait SourceShapes: std::fmt::Debug {
    /// The shape of a dataset; `None` if there is none of that name.
    ///
    /// # Errors
    /// If it is there, but cannot be opened.
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>>;
}

/// The datasets that a virtual one shows.
pub trait SourceDatasets: SourceShapes {
    /// Reads the selected elements as elements of the virtual dataset's type, in the order of the selection. `out` may hold
    /// anything before.
    ///
    /// # Errors
    /// If they cannot be read, or have a type that cannot be converted.
    fn read(&self, file: &[u8], dataset: &[u8], selection: &Selection, out: &mut [u8]) -> Result<()>;
}

/// Where the elements of a virtual dataset are.
#[derive(Debug)]
pub struct VirtualMap<'a> {
    /// Where the elements come from; later mappings stand before earlier ones.
    pub mappings: &'a [Mapping],
    /// The shape.
    pub dims: &'a [u64],
    /// The datasets that the mappings name.
    pub shapes: &'a dyn SourceShapes,
    /// What may be done for one operation.
    pub steps: &'a Steps,
}

/// A virtual dataset that is read.
#[derive(Debug)]
pub struct VirtualSource<'a> {
    /// Where the elements are.
    pub map: VirtualMap<'a>,
    /// Bytes of an element.
    pub element_size: usize,
    /// What elements without a source read as.
    pub fill: Fill,
    /// The datasets that the mappings name.
    pub sources: &'a dyn SourceDatasets,
}

/// What is asked for of one source dataset.
#[derive(Debug)]
pub struct SourcePart<'a> {
    /// The source's file, as the mapping has it.
    pub file: &'a [u8],
    /// The source's name there.
    pub dataset: &'a [u8],
    /// The elements of the source.
    pub selection: Selection,
    /// Which of those that are asked for they are.
    pub places: Places,
}

/// What is done with each part of a request.
type Each<'a> = dyn FnMut(SourcePart<'_>) -> Result<()> + 'a;

/// What a request asks for.
struct Wanted {
    ordered: Ordered,
    bounds: Region,
    /// The bounds, if every element within is wanted.
    region: Option<Region>,
}

/// Elements of the virtual dataset and of one source dataset, in the same order.
struct Part<'a> {
    shown: &'a Selection,
    shown_dims: Dims,
    source: &'a Selection,
    source_dims: Dims,
    file: Vec<u8>,
    dataset: Vec<u8>,
}

impl VirtualSource<'_> {
    /// Reads the selected elements, one after the other in the order of the selection.
    ///
    /// # Errors
    /// If a source that is there cannot be read, or does not have the elements that are mapped.
    pub fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        // Up to there every element has a value, if only the one of those without a source.
        let mut settled = 0;
        self.map.parts(selection, &mut |part| {
            let count = part.places.count();
            self.map.steps.copy(count)?;
            let run = part.places.as_run().map(|run| self.bytes_of(run)).transpose()?;
            self.settle(out, &mut settled, run.as_ref().map_or(usize::MAX, |run| run.start));
            if let Some(place) = run.and_then(|run| out.get_mut(run.clone()).map(|place| (place, run.end))) {
                let (place, end) = place;
                settled = settled.max(end);
                return self.sources.read(part.file, part.dataset, &part.selection, place);
            }
            let mut packed = zeros(byte_count(count, self.element_size, "virtual data")?, "virtual data")?;
            self.sources.read(part.file, part.dataset, &part.selection, &mut packed)?;
            part.places.place(&packed, out, self.element_size)
        })?;
        self.settle(out, &mut settled, usize::MAX);
        Ok(())
    }

    /// Gives elements without a source their value, from what is settled up to `end`.
    fn settle(&self, out: &mut [u8], settled: &mut usize, end: usize) {
        let end = end.min(out.len());
        if let Some(gap) = out.get_mut(*settled..end) {
            self.fill.write(gap);
            *settled = end;
        }
    }

    fn bytes_of(&self, (start, length): (u64, u64)) -> Result<Range<usize>> {
        let start = byte_count(start, self.element_size, "virtual data")?;
        Ok(start..start.saturating_add(byte_count(length, self.element_size, "virtual data")?))
    }
}

impl VirtualMap<'_> {
    /// What the selected elements are of each source that there is, in the order of the mappings.
    ///
    /// # Errors
    /// If a source that is there cannot be opened, or does not have the elements that are mapped.
    pub fn parts(&self, selection: &Selection, each: &mut Each<'_>) -> Result<()> {
        let Some(bounds) = selection.bounding_box(self.dims)? else { return Ok(()) };
        let region = selection.as_region(self.dims)?;
        let wanted = Wanted { ordered: Ordered::new(selection, self.dims)?, bounds, region };
        for mapping in self.mappings {
            match &mapping.growth {
                Growth::None => {
                    self.part(&wanted, mapping, &mapping.shown, 0, |dims| Some((dims, None)), each)?;
                }
                Growth::Slices { shown, source } => {
                    let cut = |dims: Dims| cut(self.dims, dims, shown, source);
                    self.part(&wanted, mapping, &mapping.shown, 0, cut, each)?;
                }
                Growth::Datasets(slices) => self.datasets(&wanted, mapping, slices, each)?,
            }
        }
        Ok(())
    }

    fn datasets(
        &self,
        wanted: &Wanted,
        mapping: &Mapping,
        slices: &Slices,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let Some((from, to)) = wanted.bounds.bounds().nth(slices.dimension) else { return Ok(()) };
        let block_of = |at: u64| at.checked_sub(slices.start)?.checked_div(slices.stride);
        let Some(last) = to.checked_sub(1).and_then(block_of) else { return Ok(()) };
        for block in block_of(from).unwrap_or(0)..=last {
            let Some(shown) = mapping.shown_block(slices, block) else { break };
            self.part(wanted, mapping, &shown, block, |dims| Some((dims, None)), each)?;
        }
        Ok(())
    }

    /// What is wanted of a mapping or of one block of it. `cut` gives the shapes within which selections without end
    /// stop, by that of the source.
    fn part(
        &self,
        wanted: &Wanted,
        mapping: &Mapping,
        shown: &Selection,
        block: u64,
        cut: impl FnOnce(Dims) -> Option<(Dims, Option<(usize, u64)>)>,
        each: &mut Each<'_>,
    ) -> Result<()> {
        self.steps.take(1)?;
        if !may_meet(shown, &wanted.bounds) {
            return Ok(());
        }
        let (file, dataset) = (mapping.file.of(block), mapping.dataset.of(block));
        let Some(source_dims) = self.shapes.shape(&file, &dataset)? else { return Ok(()) };
        let Some((source_dims, shown_end)) = cut(source_dims) else { return Ok(()) };
        // A block may reach out of the virtual dataset, where nothing is wanted.
        let ends = reach(shown, self.dims.len());
        let mut shown_dims: Dims = self.dims.iter().zip(ends).map(|(size, end)| end.max(*size)).collect();
        if let Some((dimension, end)) = shown_end
            && let Some(size) = shown_dims.get_mut(dimension)
        {
            *size = end;
        }
        let part = Part { shown, shown_dims, source: &mapping.source, source_dims, file, dataset };
        self.match_up(wanted, &part, each).map_err(|error| {
            error.context(format!(
                "source `{}` in `{}`",
                String::from_utf8_lossy(&part.dataset),
                String::from_utf8_lossy(&part.file)
            ))
        })
    }

    fn match_up(&self, wanted: &Wanted, part: &Part<'_>, each: &mut Each<'_>) -> Result<()> {
        let shown = Ordered::new(part.shown, &part.shown_dims)?;
        let source = Ordered::new(part.source, &part.source_dims)?;
        if shown.len() != source.len() {
            let expected = format!("{} elements, as many as are shown", shown.len());
            return Err(Error::corrupt(
                "virtual dataset mapping",
                "source selection",
                expected,
                source.len(),
            ));
        }
        let mut found = |selection, places: Places| {
            if places.count() == 0 {
                return Ok(());
            }
            each(SourcePart { file: &part.file, dataset: &part.dataset, selection, places })
        };
        if let (Some(region), Some(shown), Some(source)) = (&wanted.region, shown.axes(), source.axes())
            && let Some((from, to)) = matching(region, shown, source)
        {
            return found(from, Places::part_of(&region.count, to)?);
        }
        let (blocks, places) = Places::pieces(self.pieces(wanted, part, &shown)?, &source);
        let rank = part.source_dims.len();
        let selection = match blocks.first() {
            Some(_) if rank > 0 => Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }),
            _ => Selection::All,
        };
        found(selection, places)
    }

    /// What is wanted of the elements that a mapping shows.
    fn pieces(&self, wanted: &Wanted, part: &Part<'_>, shown: &Ordered) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let bounds = part.shown.bounding_box(&part.shown_dims)?;
        let Some(bounds) = bounds.and_then(|bounds| bounds.intersect(&wanted.bounds)) else {
            return Ok(pieces);
        };
        wanted.ordered.within(&bounds, |at, length, position| {
            self.steps.take(1)?;
            let mut row = Region { start: Dims::from_slice(at), count: Dims::from_elem(1, at.len()) };
            if let Some(count) = row.count.last_mut() {
                *count = length;
            }
            shown.within(&row, |found, length, mapped| {
                let step = match (found.last(), at.last()) {
                    (Some(found), Some(at)) => found.saturating_sub(*at),
                    _ => 0,
                };
                self.steps.take(1)?;
                pieces.push(Piece { mapped, wanted: position.saturating_add(step), length });
                Ok::<(), Error>(())
            })
        })?;
        Ok(pieces)
    }
}

/// The shapes in which both selections have as many slices: that of the source, and the end of the virtual
/// one in its dimension.
fn cut(
    dims: &[u64],
    mut source_dims: Dims,
    shown: &Slices,
    source: &Slices,
) -> Option<(Dims, Option<(usize, u64)>)> {
    let size = source_dims.get_mut(source.dimension)?;
    let there = source.before(*size);
    let slices = shown.before(*dims.get(shown.dimension)?).min(there);
    if slices == 0 {
        return None;
    }
    *size = source.extent(slices, false);
    Some((source_dims, Some((shown.dimension, shown.extent(slices, false)))))
}

/// Returns whether the box may hold an element of the selection.
fn may_meet(selection: &Selection, region: &Region) -> bool {
    let apart = |start: u64, end: u64, (from, to): (u64, u64)| end <= from || start >= to;
    match selection {
        Selection::None => false,
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let ends = reach(selection, region.rank());
            let known = slab.start.iter().zip(ends).zip(region.bounds());
            // An end of 0 is none.
            !known
                .into_iter()
                .any(|((start, end), bounds)| apart(*start, if end == 0 { u64::MAX } else { end }, bounds))
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().any(|block| Region::from(block).intersect(region).is_some())
        }
        _ => true,
    }
}

/// A box of the virtual dataset in a mapping whose selections have the same shape: what it is in the source,
/// and in the box.
fn matching(region: &Region, shown: &[Axis], source: &[Axis]) -> Option<(Selection, Selection)> {
    let lengths =
        |axes: &[Axis]| axes.iter().map(Axis::len).filter(|length| *length != 1).collect::<Vec<u64>>();
    if lengths(shown) != lengths(source) {
        return None;
    }
    let mut to = RegularHyperslab::region(&[], &[]);
    let mut ranges = Vec::with_capacity(shown.len());
    for (axis, (start, end)) in shown.iter().zip(region.bounds()) {
        let positions = axis.positions_within(start, end);
        if positions.is_empty() {
            return Some((Selection::None, Selection::None));
        }
        let part = axis.part(positions.clone())?;
        push(&mut to, AxisPart { start: part.start.checked_sub(start)?, ..part });
        if axis.len() != 1 {
            ranges.push(positions);
        }
    }
    let mut ranges = ranges.into_iter();
    let mut from = RegularHyperslab::region(&[], &[]);
    for axis in source {
        let positions = if axis.len() == 1 { 0..1 } else { ranges.next()? };
        push(&mut from, axis.part(positions)?);
    }
    let selection = |slab| Selection::Hyperslab(Hyperslab::Regular(slab));
    Some((selection(from), selection(to)))
}

fn push(slab: &mut RegularHyperslab, part: AxisPart) {
    slab.start.push(part.start);
    slab.stride.push(part.stride);
    slab.count.push(part.count);
    slab.block.push(part.block);
}
