//! Reading a virtual dataset: what is wanted of each mapping is read from its source and put into place.

use std::cell::Cell;

use hyperslab_dataspace::{
    Axis, AxisPart, Block, Dims, Hyperslab, Ordered, Region, RegularHyperslab, Selection, scatter,
};

use super::Mapping;
use super::mapping::{Growth, Slices, reach};
use crate::data::{Fill, byte_count};
use crate::error::{Error, Result};

/// The datasets that a virtual one shows.
pub trait SourceDatasets: std::fmt::Debug {
    /// The shape of a dataset; `None` if there is none of that name.
    ///
    /// # Errors
    /// If it is there, but cannot be opened.
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>>;

    /// Reads the selected elements as elements of the virtual dataset's type, in the order of the selection.
    ///
    /// # Errors
    /// If they cannot be read, or have a type that cannot be converted.
    fn read(&self, file: &[u8], dataset: &[u8], selection: &Selection, out: &mut [u8]) -> Result<()>;
}

/// A virtual dataset.
#[derive(Debug)]
pub struct VirtualSource<'a> {
    /// Where the elements come from; later mappings stand before earlier ones.
    pub mappings: &'a [Mapping],
    /// The shape.
    pub dims: &'a [u64],
    /// Bytes of an element.
    pub element_size: usize,
    /// What elements without a source read as.
    pub fill: Fill,
    /// The datasets that the mappings name.
    pub sources: &'a dyn SourceDatasets,
    /// Blocks that may be looked at for one read.
    pub budget: &'a Cell<u64>,
}

/// What a read asks for.
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

/// Elements that follow each other in a request and in a mapping.
struct Piece {
    /// Elements before in the mapping.
    mapped: u64,
    /// Elements before in the request.
    wanted: u64,
    length: u64,
}

impl VirtualSource<'_> {
    /// Reads the selected elements, one after the other in the order of the selection.
    ///
    /// # Errors
    /// If a source that is there cannot be read, or does not have the elements that are mapped.
    pub fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.fill.write(out);
        let Some(bounds) = selection.bounding_box(self.dims)? else { return Ok(()) };
        let region = selection.as_region(self.dims)?;
        let wanted = Wanted { ordered: Ordered::new(selection, self.dims)?, bounds, region };
        for mapping in self.mappings {
            match &mapping.growth {
                Growth::None => {
                    self.read_part(&wanted, mapping, &mapping.shown, 0, |dims| Some((dims, None)), out)?;
                }
                Growth::Slices { shown, source } => {
                    let cut = |dims: Dims| cut(self.dims, dims, shown, source);
                    self.read_part(&wanted, mapping, &mapping.shown, 0, cut, out)?;
                }
                Growth::Datasets(slices) => self.read_datasets(&wanted, mapping, slices, out)?,
            }
        }
        Ok(())
    }

    fn read_datasets(
        &self,
        wanted: &Wanted,
        mapping: &Mapping,
        slices: &Slices,
        out: &mut [u8],
    ) -> Result<()> {
        let Some((from, to)) = wanted.bounds.bounds().nth(slices.dimension) else { return Ok(()) };
        let block_of = |at: u64| at.checked_sub(slices.start)?.checked_div(slices.stride);
        let Some(last) = to.checked_sub(1).and_then(block_of) else { return Ok(()) };
        for block in block_of(from).unwrap_or(0)..=last {
            let Some(shown) = mapping.shown_block(slices, block) else { break };
            self.read_part(wanted, mapping, &shown, block, |dims| Some((dims, None)), out)?;
        }
        Ok(())
    }

    /// Reads what is wanted of a mapping or of one block of it. `cut` gives the shapes within which selections
    /// without end stop, by that of the source.
    fn read_part(
        &self,
        wanted: &Wanted,
        mapping: &Mapping,
        shown: &Selection,
        block: u64,
        cut: impl FnOnce(Dims) -> Option<(Dims, Option<(usize, u64)>)>,
        out: &mut [u8],
    ) -> Result<()> {
        let left = self.budget.get().checked_sub(1).ok_or_else(|| Error::Limit {
            what: "virtual dataset: blocks looked at in one read".into(),
            got: u64::MAX,
            limit: 0,
        })?;
        self.budget.set(left);
        if !may_meet(shown, &wanted.bounds) {
            return Ok(());
        }
        let (file, dataset) = (mapping.file.of(block), mapping.dataset.of(block));
        let Some(source_dims) = self.sources.shape(&file, &dataset)? else { return Ok(()) };
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
        self.show(wanted, &part, out).map_err(|error| {
            error.context(format!(
                "source `{}` in `{}`",
                String::from_utf8_lossy(&part.dataset),
                String::from_utf8_lossy(&part.file)
            ))
        })
    }

    fn show(&self, wanted: &Wanted, part: &Part<'_>, out: &mut [u8]) -> Result<()> {
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
        if let (Some(region), Some(shown), Some(source)) = (&wanted.region, shown.axes(), source.axes())
            && let Some((from, to)) = matching(region, shown, source)
        {
            let count = to.element_count(&region.count)?;
            if count > 0 {
                let packed = self.fetch(part, &from, count)?;
                scatter(&packed, out, &region.count, &to, self.element_size)?;
            }
            return Ok(());
        }
        let pieces = pieces(wanted, &shown)?;
        self.show_pieces(part, &source, pieces, out)
    }

    fn fetch(&self, part: &Part<'_>, selection: &Selection, count: u64) -> Result<Vec<u8>> {
        let mut packed = vec![0; byte_count(count, self.element_size, "virtual data")?];
        self.sources.read(&part.file, &part.dataset, selection, &mut packed)?;
        Ok(packed)
    }

    fn show_pieces(
        &self,
        part: &Part<'_>,
        source: &Ordered,
        mut pieces: Vec<Piece>,
        out: &mut [u8],
    ) -> Result<()> {
        // Points come in any order, and may come more than once; one at a time then.
        pieces.sort_by_key(|piece| piece.mapped);
        let mut blocks: Vec<Block> = Vec::new();
        let mut count = 0_u64;
        let mut placed = Vec::with_capacity(pieces.len());
        let mut fetched: Option<u64> = None;
        for piece in pieces {
            if fetched == Some(piece.mapped) && piece.length == 1 {
                placed.push((count.saturating_sub(1), piece));
                continue;
            }
            placed.push((count, Piece { ..piece }));
            fetched = Some(piece.mapped).filter(|_| piece.length == 1);
            let mut at = piece.mapped;
            let end = at.saturating_add(piece.length);
            while at < end {
                let Some((start, run)) = source.at(at) else { break };
                let run = run.min(end.saturating_sub(at));
                add_run(&mut blocks, start, run);
                at = at.saturating_add(run);
            }
            count = count.saturating_add(piece.length);
        }
        if count == 0 {
            return Ok(());
        }
        let rank = part.source_dims.len();
        let selection = match blocks.first() {
            Some(_) if rank > 0 => Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }),
            _ => Selection::All,
        };
        let packed = self.fetch(part, &selection, count)?;
        for (position, piece) in placed {
            let bytes = |elements: u64| byte_count(elements, self.element_size, "virtual data");
            let (from, to, length) = (bytes(position)?, bytes(piece.wanted)?, bytes(piece.length)?);
            let from = packed.get(from..from.saturating_add(length));
            let to = out.get_mut(to..to.saturating_add(length));
            if let (Some(from), Some(to)) = (from, to) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
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

/// Whether the box may hold an element of the selection.
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

/// What is wanted of the elements that a mapping shows.
fn pieces(wanted: &Wanted, shown: &Ordered) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    wanted.ordered.within(&wanted.bounds, |at, length, position| {
        let mut row = Region { start: Dims::from_slice(at), count: Dims::from_elem(1, at.len()) };
        if let Some(count) = row.count.last_mut() {
            *count = length;
        }
        shown.within(&row, |found, length, mapped| {
            let step = match (found.last(), at.last()) {
                (Some(found), Some(at)) => found.saturating_sub(*at),
                _ => 0,
            };
            pieces.push(Piece { mapped, wanted: position.saturating_add(step), length });
            Ok::<(), Error>(())
        })
    })?;
    Ok(pieces)
}

/// Adds a run along the fastest dimension, to the block before if it goes on there.
fn add_run(blocks: &mut Vec<Block>, start: Dims, length: u64) {
    let Some((at, row)) = start.split_last() else { return };
    let last = at.saturating_add(length.saturating_sub(1));
    if let Some(block) = blocks.last_mut()
        && let (Some((_, before)), Some(end)) = (block.start.split_last(), block.end.last())
        && before == row
        && end.checked_add(1) == Some(*at)
    {
        if let Some(end) = block.end.last_mut() {
            *end = last;
        }
        return;
    }
    let mut end = start.clone();
    if let Some(place) = end.last_mut() {
        *place = last;
    }
    blocks.push(Block { start, end });
}
