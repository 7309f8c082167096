//! Defined elements as blocks, in the words of the format's own tools.

use std::io::Write;

use anyhow::{Context as _, Result};
use hyperslab::{Block, Dataset, Hyperslab, Points, RegularHyperslab, Selection, Stored};

/// Elements that are read at once.
const BATCH_ELEMENTS: u64 = 1 << 18;

/// Writes elements as text.
pub(crate) trait Texts {
    /// Gives the text of each element of the dataset's type in `bytes`, which come from `stored`, to `visit`.
    fn each(
        &mut self,
        stored: &Stored,
        bytes: &[u8],
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()>;
}

/// Writes a line for each block of the selection's defined elements, behind so many spaces; and their values, if they are
/// to be written.
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
            if batch.elements.saturating_add(volume(&part)) > BATCH_ELEMENTS {
                batch.write(output, texts)?;
            }
            batch.elements = batch.elements.saturating_add(volume(&part));
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

/// The largest blocks of a selection, in C order of their first elements.
pub(crate) fn blocks(selection: Selection, dims: &[u64]) -> Result<Vec<Block>> {
    let rank = dims.len();
    let points;
    let found = match selection {
        Selection::None => return Ok(Vec::new()),
        Selection::All => {
            let end = dims.iter().map(|size| size.saturating_sub(1)).collect();
            return Ok(vec![Block { start: dims.iter().map(|_| 0).collect(), end }]);
        }
        Selection::Points(listed) => {
            let one =
                |at: &[u64]| Block { start: at.iter().copied().collect(), end: at.iter().copied().collect() };
            points = listed.points().map(one).collect::<Vec<_>>();
            &points
        }
        Selection::Hyperslab(Hyperslab::Regular(slab)) => return Ok(regular(&slab)),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            points = blocks;
            &points
        }
    };
    let joined = Selection::union_of(rank, found).map_err(hyperslab::Error::from);
    Ok(match joined.context("the defined elements are too scattered for blocks; try --defined")? {
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => blocks,
        Selection::Hyperslab(Hyperslab::Regular(slab)) => regular(&slab),
        _ => Vec::new(),
    })
}

/// The blocks of a regular hyperslab; those that touch are one.
fn regular(slab: &RegularHyperslab) -> Vec<Block> {
    let mut blocks = vec![Block { start: Default::default(), end: Default::default() }];
    let sides = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
    for ((start, stride), (count, size)) in sides {
        let touching = stride <= size;
        let (count, size) = if touching {
            (1, stride.saturating_mul(count.saturating_sub(1)).saturating_add(*size))
        } else {
            (*count, *size)
        };
        let longer = |block: &Block| {
            let block = block.clone();
            (0..count).map(move |number| {
                let mut block = block.clone();
                let first = start.saturating_add(number.saturating_mul(*stride));
                block.start.push(first);
                block.end.push(first.saturating_add(size.saturating_sub(1)));
                block
            })
        };
        blocks = blocks.iter().flat_map(longer).collect();
    }
    blocks
}

fn line(output: &mut dyn Write, indent: usize, block: &Block) -> Result<()> {
    let (start, end) = (listed(&block.start, '(', ')'), listed(&block.end, '(', ')'));
    Ok(writeln!(output, "{:indent$}DEFINED_SPARSE_DATA BLOCK {start}-{end}", "")?)
}

fn lengths(block: &Block) -> impl Iterator<Item = u64> + '_ {
    block.start.iter().zip(&block.end).map(|(start, end)| end.saturating_sub(*start).saturating_add(1))
}

fn volume(block: &Block) -> u64 {
    lengths(block).fold(1, u64::saturating_mul)
}

/// Cuts a block into parts of at most [`BATCH_ELEMENTS`], in C order; says of each whether it is the first.
fn cut(block: &Block, visit: &mut dyn FnMut(bool, Block) -> Result<()>) -> Result<()> {
    let mut first = true;
    let mut parts = vec![block.clone()];
    while let Some(part) = parts.pop() {
        let long = lengths(&part).position(|length| length > 1);
        let Some(dimension) = long.filter(|_| volume(&part) > BATCH_ELEMENTS) else {
            visit(std::mem::take(&mut first), part)?;
            continue;
        };
        let (mut before, mut behind) = (part.clone(), part);
        if let (Some(end), Some(start)) = (before.end.get_mut(dimension), behind.start.get_mut(dimension)) {
            let middle = start.saturating_add(end.saturating_sub(*start) / 2);
            (*end, *start) = (middle, middle.saturating_add(1));
        }
        parts.extend([behind, before]);
    }
    Ok(())
}

/// A block, or a part of one.
struct BlockPart {
    /// The block, if the part is its first.
    first: Option<Block>,
    /// True for the last part of the block.
    last: bool,
    part: Block,
}

/// Blocks that are read together.
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
            for row in rows(&part.part) {
                write_row(output, indent, texts, (&points, &stored), &row)?;
            }
            if part.last {
                writeln!(output, "{:indent$}}}", "")?;
            }
        }
        Ok(())
    }
}

/// The rows of a block: the coordinates of their first elements, with how many follow each other.
fn rows(block: &Block) -> impl Iterator<Item = (Vec<u64>, u64)> + use<> {
    let starts = block.start.to_vec();
    let lengths: Vec<u64> = lengths(block).collect();
    let length = lengths.last().copied().unwrap_or(1);
    let outer: Vec<u64> = lengths.iter().copied().take(lengths.len().saturating_sub(1)).collect();
    let count = outer.iter().copied().fold(1, u64::saturating_mul);
    (0..count).map(move |number| {
        let mut at = starts.clone();
        let mut left = number;
        for (coordinate, length) in at.iter_mut().zip(&outer).rev() {
            *coordinate = coordinate.saturating_add(left.checked_rem(*length).unwrap_or(0));
            left = left.checked_div(*length).unwrap_or(0);
        }
        (at, length)
    })
}

fn write_row(
    output: &mut dyn Write,
    indent: usize,
    texts: &mut dyn Texts,
    (points, stored): (&Points, &Stored),
    (at, length): &(Vec<u64>, u64),
) -> Result<()> {
    let size = usize::try_from(stored.datatype().size).unwrap_or(usize::MAX);
    let first = place(points, at);
    let count = usize::try_from(*length).unwrap_or(usize::MAX);
    let bytes = first.saturating_mul(size)..first.saturating_add(count).saturating_mul(size);
    write!(output, "{:indent$}   {}", "", listed(at, '(', ')'))?;
    let mut between = "  ";
    texts.each(stored, stored.bytes().get(bytes).unwrap_or_default(), &mut |text| {
        write!(output, "{between}{text}")?;
        between = ", ";
        Ok(())
    })?;
    output.write_all(b"\n")?;
    Ok(())
}

/// The number of a point among points in C order.
fn place(points: &Points, at: &[u64]) -> usize {
    let (mut low, mut high) = (0, points.coordinates.len().checked_div(points.rank).unwrap_or(0));
    while low < high {
        let middle = low.midpoint(high);
        if coordinates(points, middle) < at {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    low
}

/// The coordinates of the point of that number.
pub(crate) fn coordinates(points: &Points, number: usize) -> &[u64] {
    let start = number.saturating_mul(points.rank);
    points.coordinates.get(start..start.saturating_add(points.rank)).unwrap_or_default()
}

/// Numbers in brackets: `(3,4)`.
pub(crate) fn listed(numbers: &[u64], open: char, close: char) -> String {
    let inside: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("{open}{}{close}", inside.join(","))
}
