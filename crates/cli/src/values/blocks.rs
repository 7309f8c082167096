//! The printing of blocks of defined elements of sparse datasets, in the notation of `h5dump`.

use std::io::Write;

use anyhow::{Context as _, Result, bail};
use hyperslab::{Block, Dataset, Hyperslab, Points, RegularHyperslab, Selection, Stored};
use hyperslab_exact::{product, sum, to_u64, to_usize};

/// The largest number of defined elements that a tool reads at once.
const BATCH_ELEMENTS: u64 = 1 << 18;

/// A converter of stored elements to text.
pub(crate) trait Texts {
    /// Calls `visit` with the text of each element in `bytes`. The bytes are a part of the stored
    /// elements `stored`.
    fn each(
        &mut self,
        stored: &Stored,
        bytes: &[u8],
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()>;
}

/// Writes a line for each block of defined elements of a selection, indented by `indent` spaces.
/// With `texts`, also writes the values of each block.
pub(crate) fn write(
    output: &mut dyn Write,
    dataset: &Dataset,
    selection: &Selection,
    indent: usize,
    texts: Option<&mut dyn Texts>,
) -> Result<()> {
    let blocks = blocks(dataset.sparse().defined(selection)?, dataset.dataspace().dims())?;
    let Some(texts) = texts else {
        return blocks.iter().try_for_each(|block| line(output, indent, block));
    };
    let mut batch = Batch { dataset, parts: Vec::new(), elements: 0, indent };
    for block in &blocks {
        cut(block, &mut |first, part| {
            // A part has at most `BATCH_ELEMENTS` elements.
            let elements = volume(&part)?;
            if batch.elements + elements > BATCH_ELEMENTS {
                batch.write(output, texts)?;
            }
            batch.elements += elements;
            batch.parts.push(BlockPart {
                first: first.then(|| block.clone()),
                last: part.end == block.end,
                part,
            });
            Ok(())
        })?;
    }
    batch.write(output, texts)
}

/// Divides a selection into the largest possible blocks, in C order of their first elements.
pub(crate) fn blocks(selection: Selection, dims: &[u64]) -> Result<Vec<Block>> {
    let rank = dims.len();
    let points;
    let found = match selection {
        Selection::None => return Ok(Vec::new()),
        Selection::All => {
            if dims.contains(&0) {
                return Ok(Vec::new());
            }
            let end = dims.iter().map(|size| size - 1).collect();
            return Ok(vec![Block { start: dims.iter().map(|_| 0).collect(), end }]);
        }
        Selection::Points(listed) => {
            let one =
                |at: &[u64]| Block { start: at.iter().copied().collect(), end: at.iter().copied().collect() };
            points = listed.points().map(one).collect::<Vec<_>>();
            &points
        }
        Selection::Hyperslab(Hyperslab::Regular(slab)) => return regular(&slab),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            points = blocks;
            &points
        }
    };
    let joined = Selection::union_of(rank, found).map_err(hyperslab::Error::from);
    match joined.context(
        "the defined elements form too many blocks to print; --defined prints the elements instead",
    )? {
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => Ok(blocks),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => regular(&slab),
        Selection::None => Ok(Vec::new()),
        _ => bail!("the blocks of defined elements do not form a hyperslab"),
    }
}

/// Returns the blocks of a regular hyperslab. Adjacent blocks are joined.
fn regular(slab: &RegularHyperslab) -> Result<Vec<Block>> {
    let mut blocks = vec![Block { start: Default::default(), end: Default::default() }];
    let sides = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
    for ((start, stride), (count, size)) in sides {
        if *count == 0 || *size == 0 {
            return Ok(Vec::new());
        }
        // The last block ends in the extent of the dataset, so that the coordinates below fit.
        let length = product("length of a hyperslab", [*stride, count - 1])?;
        let length = sum("end of a hyperslab", [*start, length, *size])? - start;
        let (count, size) = if stride <= size { (1, length) } else { (*count, *size) };
        let longer = |block: &Block| {
            let block = block.clone();
            (0..count).map(move |number| {
                let mut block = block.clone();
                let first = start + number * stride;
                block.start.push(first);
                block.end.push(first + (size - 1));
                block
            })
        };
        blocks = blocks.iter().flat_map(longer).collect();
    }
    Ok(blocks)
}

fn line(output: &mut dyn Write, indent: usize, block: &Block) -> Result<()> {
    let (start, end) = (listed(&block.start, '(', ')'), listed(&block.end, '(', ')'));
    Ok(writeln!(output, "{:indent$}DEFINED_SPARSE_DATA BLOCK {start}-{end}", "")?)
}

/// Returns the length of a block along each dimension. The block must lie inside a dataset.
fn lengths(block: &Block) -> impl Iterator<Item = u64> + '_ {
    block.start.iter().zip(&block.end).map(|(start, end)| end - start + 1)
}

fn volume(block: &Block) -> Result<u64> {
    Ok(product("number of elements of a block", lengths(block))?)
}

/// Cuts a block of elements into parts of at most `BATCH_ELEMENTS` elements. Calls `visit` with
/// each part in C order. The boolean argument is true for the first part.
fn cut(block: &Block, visit: &mut dyn FnMut(bool, Block) -> Result<()>) -> Result<()> {
    let mut first = true;
    let mut parts = vec![block.clone()];
    while let Some(part) = parts.pop() {
        let long = lengths(&part).position(|length| length > 1);
        let is_large = volume(&part)? > BATCH_ELEMENTS;
        let Some(dimension) = long.filter(|_| is_large) else {
            visit(std::mem::take(&mut first), part)?;
            continue;
        };
        let (mut before, mut after) = (part.clone(), part);
        if let (Some(end), Some(start)) = (before.end.get_mut(dimension), after.start.get_mut(dimension)) {
            let middle = *start + (*end - *start) / 2;
            (*end, *start) = (middle, middle + 1);
        }
        parts.extend([after, before]);
    }
    Ok(())
}

/// A whole block of defined elements, or a part of a block.
struct BlockPart {
    /// The block, if this is the first part of the block.
    first: Option<Block>,
    /// True for the last part of the block.
    last: bool,
    part: Block,
}

/// A batch of blocks of defined elements that the program reads at once.
struct Batch<'a> {
    dataset: &'a Dataset,
    parts: Vec<BlockPart>,
    elements: u64,
    indent: usize,
}

impl Batch<'_> {
    fn write(&mut self, output: &mut dyn Write, texts: &mut dyn Texts) -> Result<()> {
        let parts = std::mem::take(&mut self.parts);
        self.elements = 0;
        if parts.is_empty() {
            return Ok(());
        }
        let (rank, indent) = (self.dataset.ndim(), self.indent);
        let blocks = || parts.iter().map(|part| part.part.clone()).collect();
        let selected = if rank == 0 {
            Selection::All
        } else {
            Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: blocks() })
        };
        let (points, stored) = self.dataset.sparse().read_stored(&selected)?;
        for part in &parts {
            if let Some(block) = &part.first {
                line(output, indent, block)?;
                writeln!(output, "{:indent$}DATA {{", "")?;
            }
            for row in rows(&part.part)? {
                write_row(output, indent, texts, (&points, &stored), &row)?;
            }
            if part.last {
                writeln!(output, "{:indent$}}}", "")?;
            }
        }
        Ok(())
    }
}

/// Returns the rows of a block of elements, each with the coordinates of its first element and its
/// number of elements.
fn rows(block: &Block) -> Result<impl Iterator<Item = (Vec<u64>, u64)> + use<>> {
    let starts = block.start.to_vec();
    let mut outer: Vec<u64> = lengths(block).collect();
    // A block without dimensions has one element.
    let length = outer.pop().unwrap_or(1);
    let count = product("number of rows", outer.iter().copied())?;
    Ok((0..count).map(move |number| {
        let mut at = starts.clone();
        let mut remaining = number;
        // Lengths are at least 1. The coordinates lie in the block.
        let fastest = at.iter_mut().take(outer.len()).rev();
        for (coordinate, length) in fastest.zip(outer.iter().rev()) {
            *coordinate += remaining % length;
            remaining /= length;
        }
        (at, length)
    }))
}

fn write_row(
    output: &mut dyn Write,
    indent: usize,
    texts: &mut dyn Texts,
    (points, stored): (&Points, &Stored),
    (at, length): &(Vec<u64>, u64),
) -> Result<()> {
    let size = u64::from(stored.datatype().size);
    let first = to_u64(position(points, at)?);
    let start = to_usize(product("offset of a row", [first, size])?)?;
    let bytes = to_usize(product("size of a row", [*length, size])?)?;
    let row = stored.bytes().get(start..).and_then(|rest| rest.get(..bytes));
    write!(output, "{:indent$}   {}", "", listed(at, '(', ')'))?;
    let mut between = "  ";
    texts.each(stored, row.context("elements of a row are missing")?, &mut |text| {
        write!(output, "{between}{text}")?;
        between = ", ";
        Ok(())
    })?;
    output.write_all(b"\n")?;
    Ok(())
}

/// Searches a point in a list of points in C order by binary search. Returns the point's index in
/// the list.
fn position(points: &Points, at: &[u64]) -> Result<usize> {
    // Points without dimensions are a single point.
    let (mut low, mut high) = (0, points.coordinates.len() / points.rank.max(1));
    while low < high {
        let middle = low.midpoint(high);
        if coordinates(points, middle)? < at {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Returns the coordinates of a point in a list of points. The point has the given index.
pub(crate) fn coordinates(points: &Points, number: usize) -> Result<&[u64]> {
    let start = number.checked_mul(points.rank);
    let found = start.and_then(|start| points.coordinates.get(start..)?.get(..points.rank));
    found.context("the coordinates of an element are missing")
}

/// Formats a list of coordinates: `(3,4)`.
pub(crate) fn listed(numbers: &[u64], open: char, close: char) -> String {
    let inside: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("{open}{}{close}", inside.join(","))
}
