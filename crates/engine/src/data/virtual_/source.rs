//! Reads of virtual datasets: find the requested elements of each mapping, read them from the
//! source dataset, and copy them to their positions.

use std::ops::Range;

use hyperslab_dataspace::{Axis, AxisPart, Dims, Hyperslab, Ordered, Region, RegularHyperslab, Selection};

use super::Mapping;
use super::mapping::{Growth, Slices, reach};
use super::places::{MappedRun, Places, beyond};
use super::steps::Steps;
use crate::data::transfer::{FillElement, byte_count};
use crate::error::{Error, Result};
use crate::memory::zeros;

/// A trait for access to the shapes of the source datasets of a virtual dataset.
pub trait SourceShapes: std::fmt::Debug {
    /// Returns the shape of a virtual dataset's source dataset, or `None` if no dataset has this
    /// name.
    ///
    /// # Errors
    /// Returns an error if the dataset exists but cannot be opened.
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>>;
}

/// A trait for access to the elements of the source datasets of a virtual dataset.
pub trait SourceDatasets: SourceShapes {
    /// Reads the selected elements of a virtual dataset's source dataset, in the order of the
    /// selection, converted to the virtual dataset's type. Overwrites `out`.
    ///
    /// # Errors
    /// Returns an error if the elements cannot be read or cannot be converted.
    fn read(&self, file: &[u8], dataset: &[u8], selection: &Selection, out: &mut [u8]) -> Result<()>;
}

/// The mappings of a virtual dataset, together with the shapes of the virtual dataset and of its
/// source datasets.
#[derive(Debug)]
pub struct VirtualMap<'a> {
    /// The mappings. Later mappings take precedence over earlier ones.
    pub mappings: &'a [Mapping],
    /// The shape.
    pub dims: &'a [u64],
    /// The shapes of the source datasets.
    pub shapes: &'a dyn SourceShapes,
    /// The work budget of the operation.
    pub steps: &'a Steps,
}

/// The source of elements for reads of a virtual dataset.
#[derive(Debug)]
pub struct VirtualSource<'a> {
    /// The mappings of the dataset.
    pub map: VirtualMap<'a>,
    /// The number of bytes of an element.
    pub element_size: usize,
    /// The value of elements without a source.
    pub fill: FillElement,
    /// The source datasets.
    pub sources: &'a dyn SourceDatasets,
}

/// The part of a request to a virtual dataset whose elements come from one source dataset.
#[derive(Debug)]
pub struct SourcePart<'a> {
    /// The name of the source's file, as in the mapping.
    pub file: &'a [u8],
    /// The name of the source dataset in that file.
    pub dataset: &'a [u8],
    /// The selected elements of the source.
    pub selection: Selection,
    /// The positions of these elements in the request.
    pub places: Places,
}

/// A function that receives each part of a request to a virtual dataset, one part for each source
/// dataset.
type AtPart<'a> = dyn FnMut(SourcePart<'_>) -> Result<()> + 'a;

/// The elements of a virtual dataset that a read or write requests.
struct ElementRequest {
    ordered: Ordered,
    bounds: Region,
    /// The bounds, if every element inside them is requested.
    region: Option<Region>,
}

/// A part of a virtual dataset's mapping: a selection of the virtual dataset and a selection of one
/// source dataset. Elements with the same index in both selections correspond.
struct MappingPart<'a> {
    shown: &'a Selection,
    shown_dims: Dims,
    source: &'a Selection,
    source_dims: Dims,
    file: Vec<u8>,
    dataset: Vec<u8>,
}

impl VirtualSource<'_> {
    /// Reads the selected elements of the virtual dataset into the buffer `out`, in the order of
    /// the selection.
    ///
    /// # Errors
    /// Returns an error if an existing source cannot be read or lacks mapped elements.
    pub fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        // All elements before `filled` have a value: from a source, or the fill value.
        let mut filled = 0;
        self.map.parts(selection, &mut |part| {
            let count = part.places.count();
            self.map.steps.copy(count)?;
            let run = part.places.as_run().map(|run| self.bytes_of(run)).transpose()?;
            self.fill_gap(out, &mut filled, run.as_ref().map_or(usize::MAX, |run| run.start));
            if let Some(target) = run.and_then(|run| out.get_mut(run.clone()).map(|target| (target, run.end)))
            {
                let (target, end) = target;
                filled = filled.max(end);
                return self.sources.read(part.file, part.dataset, &part.selection, target);
            }
            let mut packed = zeros(byte_count(count, self.element_size, "virtual data")?, "virtual data")?;
            self.sources.read(part.file, part.dataset, &part.selection, &mut packed)?;
            part.places.place(&packed, out, self.element_size)
        })?;
        self.fill_gap(out, &mut filled, usize::MAX);
        Ok(())
    }

    /// Writes the fill value to the requested elements of a virtual dataset from the index `filled`
    /// to `end`.
    fn fill_gap(&self, out: &mut [u8], filled: &mut usize, end: usize) {
        let end = end.min(out.len());
        if let Some(gap) = out.get_mut(*filled..end) {
            self.fill.write(gap);
            *filled = end;
        }
    }

    fn bytes_of(&self, (start, length): (u64, u64)) -> Result<Range<usize>> {
        let end = start.checked_add(length).ok_or_else(beyond)?;
        let bytes = |elements: u64| byte_count(elements, self.element_size, "virtual data");
        Ok(bytes(start)?..bytes(end)?)
    }
}

impl VirtualMap<'_> {
    /// Calls `each` with the parts of a request to the virtual dataset: the requested elements of
    /// each existing source dataset, in the order of the mappings.
    ///
    /// # Errors
    /// Returns an error if an existing source cannot be opened or lacks mapped elements.
    pub fn parts(&self, selection: &Selection, each: &mut AtPart<'_>) -> Result<()> {
        let Some(bounds) = selection.bounding_box(self.dims)? else { return Ok(()) };
        let region = selection.as_region(self.dims)?;
        let wanted = ElementRequest { ordered: Ordered::new(selection, self.dims)?, bounds, region };
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
        wanted: &ElementRequest,
        mapping: &Mapping,
        slices: &Slices,
        each: &mut AtPart<'_>,
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

    /// Calls `each` with the requested elements of one mapping of the virtual dataset, or of one
    /// block of the mapping. `cut` limits unlimited selections to the elements that the source
    /// dataset has.
    ///
    /// `cut` takes the shape of the source. It returns the shape to use, and the dimension and the
    /// size at which the unlimited selection of the virtual dataset ends.
    fn part(
        &self,
        wanted: &ElementRequest,
        mapping: &Mapping,
        shown: &Selection,
        block: u64,
        cut: impl FnOnce(Dims) -> Option<(Dims, Option<(usize, u64)>)>,
        each: &mut AtPart<'_>,
    ) -> Result<()> {
        self.steps.take(1)?;
        if !may_meet(shown, &wanted.bounds)? {
            return Ok(());
        }
        let (file, dataset) = (mapping.file.of(block), mapping.dataset.of(block));
        let Some(source_dims) = self.shapes.shape(&file, &dataset)? else { return Ok(()) };
        let Some((source_dims, shown_end)) = cut(source_dims) else { return Ok(()) };
        // A block may extend beyond the virtual dataset. No element is requested there.
        let ends = reach(shown, self.dims.len())?;
        let mut shown_dims: Dims = self.dims.iter().zip(ends).map(|(size, end)| end.max(*size)).collect();
        if let Some((dimension, end)) = shown_end
            && let Some(size) = shown_dims.get_mut(dimension)
        {
            *size = end;
        }
        let part = MappingPart { shown, shown_dims, source: &mapping.source, source_dims, file, dataset };
        self.match_up(wanted, &part, each).map_err(|error| {
            error.context(format!(
                "source `{}` in `{}`",
                String::from_utf8_lossy(&part.dataset),
                String::from_utf8_lossy(&part.file)
            ))
        })
    }

    fn match_up(&self, wanted: &ElementRequest, part: &MappingPart<'_>, each: &mut AtPart<'_>) -> Result<()> {
        let shown = Ordered::new(part.shown, &part.shown_dims)?;
        let source = Ordered::new(part.source, &part.source_dims)?;
        if shown.len() != source.len() {
            let expected = format!("the {} elements of the virtual selection", shown.len());
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
        let (blocks, places) = Places::pieces(self.pieces(wanted, part, &shown)?, &source)?;
        let rank = part.source_dims.len();
        let selection = match blocks.first() {
            Some(_) if rank > 0 => Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }),
            _ => Selection::All,
        };
        found(selection, places)
    }

    /// Returns the requested elements of a virtual dataset's mapping in pieces: runs that are
    /// contiguous in the request and in the mapping.
    fn pieces(
        &self,
        wanted: &ElementRequest,
        part: &MappingPart<'_>,
        shown: &Ordered,
    ) -> Result<Vec<MappedRun>> {
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
                // Both coordinates are missing for a scalar.
                let step = match (found.last(), at.last()) {
                    (Some(found), Some(at)) => found.checked_sub(*at).ok_or_else(beyond)?,
                    _ => 0,
                };
                self.steps.take(1)?;
                let wanted = position.checked_add(step).ok_or_else(beyond)?;
                pieces.push(MappedRun { mapped, wanted, length });
                Ok::<(), Error>(())
            })
        })?;
        Ok(pieces)
    }
}

/// Cuts both unlimited selections of a virtual dataset's mapping to the same number of selected
/// coordinates. Returns the shape to which the source is cut, and the size to which the virtual
/// dataset's unlimited dimension is cut.
fn cut(
    dims: &[u64],
    mut source_dims: Dims,
    shown: &Slices,
    source: &Slices,
) -> Option<(Dims, Option<(usize, u64)>)> {
    let size = source_dims.get_mut(source.dimension)?;
    let available = source.before(*size);
    let slices = shown.before(*dims.get(shown.dimension)?).min(available);
    if slices == 0 {
        return None;
    }
    *size = source.extent(slices, false)?;
    Some((source_dims, Some((shown.dimension, shown.extent(slices, false)?))))
}

/// Returns whether the box `region` of requested elements of a virtual dataset may contain an
/// element of a mapping's selection.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the end of the selection exceeds 64 bits.
fn may_meet(selection: &Selection, region: &Region) -> Result<bool> {
    let is_outside = |start: u64, end: u64, (from, to): (u64, u64)| end <= from || start >= to;
    Ok(match selection {
        Selection::None => false,
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let ends = reach(selection, region.rank())?;
            let mut bounds = slab.start.iter().zip(ends).zip(region.bounds());
            // An end of 0 means that the selection is unlimited.
            !bounds.any(|((start, end), bounds)| {
                is_outside(*start, if end == 0 { u64::MAX } else { end }, bounds)
            })
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().any(|block| Region::from(block).intersect(region).is_some())
        }
        _ => true,
    })
}

/// Returns the elements of a virtual dataset's mapping in the box `region`, as two matching
/// selections: one of the source dataset and one of the box. Returns `None` unless both selections
/// of the mapping have the same shape.
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
