//! The free sections of one heap: unused parts of direct blocks, and missing direct blocks before
//! the last direct block.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, FormatError, Result, Structure};
use hyperslab_format::free_space::{
    FreeSpaceSection, FreeSpaceSectionKind, FreeSpaceSections, FreeSpaceSectionsContext, IndirectSection,
};

use super::shape::Shape;

/// The free sections of a fractal heap, decoded from its free-space manager and indexed by offset
/// and by size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FreeSections {
    /// Unused bytes of direct blocks: offset in the heap's address space, and length.
    singles: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Missing blocks by the offset of their indirect block.
    runs: BTreeMap<u64, Vec<Run>>,
    /// Number of stored sections of each size. No number is 0.
    sizes: BTreeMap<u64, usize>,
    stored: u64,
    derived: u64,
    total: u64,
}

/// A run of consecutive entries of one indirect block of a fractal heap that have no direct block
/// yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    offset: u64,
    first: usize,
    count: usize,
    /// The number of bytes for objects in one block of the first row. The stored section has this
    /// size.
    size: u64,
    /// Number of sections of the rows after the first row.
    derived: u64,
    space: u64,
}

/// The parameters for decoding and encoding the free section list of a fractal heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreeSectionsContext {
    pub(super) list: FreeSpaceSectionsContext,
    pub(super) shape: Shape,
}

/// The total number of free sections and the total number of free bytes, as the header of a fractal
/// heap's free-space manager states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Totals {
    /// Bytes in all sections.
    pub(super) space: u64,
    /// Number of sections in the list.
    pub(super) stored: u64,
    /// Number of sections that follow from the stored sections: the rows of missing blocks after
    /// the first row.
    pub(super) derived: u64,
    /// Number of different sizes of stored sections.
    pub(super) sizes: usize,
    /// Number of stored sections that name an indirect block.
    pub(super) runs: usize,
}

/// Creates an error about a fractal heap's free-space manager whose header states other totals than
/// the free sections of the heap have.
fn miscounted() -> FormatError {
    FormatError::internal(FreeSpaceSections::NAME, "the totals are the sums over all sections")
}

/// Creates an error about free sections of a fractal heap that contradict each other.
fn corrupt(field: &'static str, expected: &str, got: u64) -> FormatError {
    FormatError::corrupt(FreeSpaceSections::NAME, field, expected, got)
}

/// Returns the offset of the end of a fractal heap's free section.
fn end_of(offset: u64, size: u64) -> Result<u64> {
    let end = offset.checked_add(size);
    end.ok_or_else(|| corrupt("section", "a section that ends below 2^64", offset))
}

impl FreeSections {
    pub(super) fn is_empty(&self) -> bool {
        self.stored == 0
    }

    pub(super) fn totals(&self) -> Totals {
        Totals {
            space: self.total,
            stored: self.stored,
            derived: self.derived,
            sizes: self.sizes.len(),
            runs: self.runs.values().map(Vec::len).sum(),
        }
    }

    /// Returns the total free space of a fractal heap after an increase by `size` bytes.
    fn increased_total(&self, size: u64) -> Result<u64> {
        let total = self.total.checked_add(size);
        total.ok_or_else(|| corrupt("sections", "sections of less than 2^64 bytes", self.total))
    }

    /// Counts one stored free section of `size` bytes in the section counts of a fractal heap.
    fn count_in(&mut self, size: u64) {
        *self.sizes.entry(size).or_insert(0) += 1;
        self.stored += 1;
    }

    /// Subtracts one stored free section of `size` bytes from the section counts of a fractal heap.
    fn count_out(&mut self, size: u64) -> Result<()> {
        let stored = self.stored.checked_sub(1).ok_or_else(miscounted)?;
        let count = self.sizes.get_mut(&size).ok_or_else(miscounted)?;
        match count.checked_sub(1).ok_or_else(miscounted)? {
            0 => drop(self.sizes.remove(&size)),
            fewer => *count = fewer,
        }
        self.stored = stored;
        Ok(())
    }

    /// Adds the unused bytes of a direct block to the free sections of a fractal heap.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if another section begins at `offset`, or if the section or
    /// the total ends beyond 64 bits. The sections are unchanged then.
    pub(super) fn add_single(&mut self, offset: u64, size: u64) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        end_of(offset, size)?;
        if self.singles.contains_key(&offset) {
            return Err(corrupt("section", "one section at each offset", offset));
        }
        self.total = self.increased_total(size)?;
        self.singles.insert(offset, size);
        self.by_size.insert((size, offset));
        self.count_in(size);
        Ok(())
    }

    /// Removes the fractal heap's free section that begins at `offset` of a direct block, if the
    /// section exists.
    pub(super) fn remove_single(&mut self, offset: u64) -> Result<()> {
        let Some(size) = self.singles.remove(&offset) else { return Ok(()) };
        self.by_size.remove(&(size, offset));
        self.count_out(size)?;
        self.total = self.total.checked_sub(size).ok_or_else(miscounted)?;
        Ok(())
    }

    /// Returns the offset and the size of the smallest free section in a direct block of the
    /// fractal heap that can hold `length` bytes.
    pub(super) fn fitting_single(&self, length: u64) -> Option<(u64, u64)> {
        self.by_size.range((length, 0)..).next().map(|&(size, offset)| (offset, size))
    }

    /// Returns the offset and the size of the smallest missing direct block (one that does not
    /// exist yet) of the fractal heap that has at least `least` bytes.
    pub(super) fn fitting_block(&self, shape: &Shape, least: u64) -> Result<Option<(u64, u64)>> {
        let mut best: Option<(u64, u64)> = None;
        for (base, runs) in &self.runs {
            for run in runs {
                let found = shape.smallest_missing(*base, run.first, run.count, least)?;
                let found = found.map(|(offset, size)| (size, offset));
                best = found.into_iter().chain(best).min();
            }
        }
        Ok(best.map(|(size, offset)| (offset, size)))
    }

    /// Adds the bytes of a removed fractal heap object to the free sections, and joins them with
    /// adjacent unused bytes of the same direct block. The objects of the block lie between `start`
    /// and `end`. Returns the size of the joined section. If some bytes of the object are unused or
    /// outside the block, returns `None` and changes nothing.
    pub(super) fn release(
        &mut self,
        offset: u64,
        length: u64,
        (start, end): (u64, u64),
    ) -> Result<Option<u64>> {
        let (mut from, mut to) = (offset, end_of(offset, length)?);
        if from < start || to > end {
            return Ok(None);
        }
        let before = self.singles.range(..to).next_back().map(|(offset, size)| (*offset, *size));
        let after = self.singles.range(to..).next().map(|(offset, size)| (*offset, *size));
        let mut joined = Vec::new();
        if let Some((other, size)) = before {
            let other_end = end_of(other, size)?;
            if other_end > from {
                return Ok(None);
            }
            if other_end == from && other >= start {
                joined.push(other);
                from = other;
            }
        }
        if let Some((other, size)) = after
            && other == to
        {
            let other_end = end_of(other, size)?;
            if other_end <= end {
                joined.push(other);
                to = other_end;
            }
        }
        for other in joined {
            self.remove_single(other)?;
        }
        let size = to - from;
        self.add_single(from, size)?;
        Ok(Some(size))
    }

    /// Removes the free sections that stand for blocks of the fractal heap that do not exist yet.
    /// The blocks belong to the indirect block at the offset `base`.
    pub(super) fn remove_runs(&mut self, base: u64) -> Result<()> {
        for run in self.runs.remove(&base).into_iter().flatten() {
            self.count_out(run.size)?;
            self.derived = self.derived.checked_sub(run.derived).ok_or_else(miscounted)?;
            self.total = self.total.checked_sub(run.space).ok_or_else(miscounted)?;
        }
        Ok(())
    }

    /// Adds a free section that stands for a run of missing blocks of the fractal heap, which do
    /// not exist yet. The missing blocks belong to the indirect block at the offset `base`.
    fn add_run(&mut self, base: u64, run: Run) -> Result<()> {
        let total = self.increased_total(run.space)?;
        let derived = self.derived.checked_add(run.derived);
        self.derived = derived.ok_or_else(|| corrupt("sections", "less than 2^64 sections", self.derived))?;
        self.total = total;
        self.count_in(run.size);
        self.runs.entry(base).or_default().push(run);
        Ok(())
    }

    /// Replaces the free sections that stand for missing blocks of the fractal heap, which do not
    /// exist yet. The missing blocks belong to the indirect block at the offset `base`. Counts only
    /// missing blocks before the offset `end`.
    pub(super) fn set_runs(
        &mut self,
        shape: &Shape,
        base: u64,
        children: &[Address],
        end: u64,
    ) -> Result<()> {
        let mut runs = Vec::new();
        let mut first = None;
        for (number, child) in children.iter().enumerate() {
            let entry = shape.table.entry(number);
            let block_end =
                base.checked_add(entry.block_offset).and_then(|start| start.checked_add(entry.block_size));
            // `end` is below 2^64: a block that ends at 2^64 or beyond ends after `end`.
            let inside = block_end.is_some_and(|block_end| block_end <= end);
            let missing = !child.is_defined() && inside;
            first = match first {
                None => missing.then_some(number),
                Some(start) if missing && number - start < usize::from(u16::MAX) => Some(start),
                Some(start) => {
                    runs.push(Run::new(shape, base, start, number - start)?);
                    missing.then_some(number)
                }
            };
            if !inside {
                break;
            }
        }
        if let Some(start) = first {
            runs.push(Run::new(shape, base, start, children.len() - start)?);
        }
        self.remove_runs(base)?;
        runs.into_iter().try_for_each(|run| self.add_run(base, run))
    }
}

impl Run {
    /// Creates a run of `count` missing blocks of the fractal heap, which do not exist yet. The run
    /// begins at the entry `first` of the indirect block at the offset `base`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if there is no such block in the heap's address space.
    fn new(shape: &Shape, base: u64, first: usize, count: usize) -> Result<Self> {
        let outside = || corrupt("block offset", "blocks in the heap's address space", base);
        let last = first.checked_add(count).and_then(|end| end.checked_sub(1)).ok_or_else(outside)?;
        let last = shape.table.entry(last);
        if count == 0 || last.row >= shape.table.max_root_rows() {
            return Err(outside());
        }
        // The last block may end at 2^64.
        let last_byte = base.checked_add(last.block_offset);
        last_byte.and_then(|start| start.checked_add(last.block_size - 1)).ok_or_else(outside)?;
        let rows = shape.missing(first, count)?;
        let offset = base.checked_add(shape.table.entry(first).block_offset).ok_or_else(outside)?;
        let derived = rows.count.checked_sub(1).ok_or_else(miscounted)?;
        let size = shape.first_object_bytes(first);
        Ok(Self { offset, first, count, size, derived, space: rows.space })
    }
}

impl Structure for FreeSections {
    const NAME: &'static str = FreeSpaceSections::NAME;
    type Context = FreeSectionsContext;

    fn size(context: &FreeSectionsContext) -> usize {
        FreeSpaceSections::size(&context.list)
    }

    fn decode(bytes: &[u8], context: &FreeSectionsContext) -> Result<Self> {
        let list = FreeSpaceSections::decode(bytes, &context.list)?;
        let mut sections = Self::default();
        let table = context.shape.table;
        let width = to_usize(table.width())?;
        for section in list.sections {
            match section.kind {
                FreeSpaceSectionKind::Plain(kind)
                    if FreeSpaceSectionKind::Plain(kind) == FreeSpaceSectionKind::SINGLE =>
                {
                    sections.add_single(section.offset, section.size)?;
                }
                // Later rows are derived from the first row.
                FreeSpaceSectionKind::Plain(_) => {}
                FreeSpaceSectionKind::FirstRow(run) | FreeSpaceSectionKind::Indirect(run) => {
                    if u32::from(run.row) >= table.max_root_rows() || run.blocks == 0 {
                        let maximum = format!("a row before {}", table.max_root_rows());
                        return Err(FormatError::corrupt(Self::NAME, "block start row", maximum, run.row));
                    }
                    // No overflow: a row is below 2^7, a width and a column are below 2^16.
                    let first = usize::from(run.row) * width + usize::from(run.column);
                    let base = run.block_offset;
                    sections.add_run(base, Run::new(&context.shape, base, first, run.blocks.into())?)?;
                }
            }
        }
        Ok(sections)
    }

    fn encode(&self, context: &FreeSectionsContext) -> Result<Vec<u8>> {
        let width = context.shape.table.width();
        let narrow = |value: u64| {
            u16::try_from(value).map_err(|_| FormatError::Encode {
                structure: Self::NAME,
                field: "blocks",
                got: value.to_string(),
            })
        };
        let mut list = FreeSpaceSections::default();
        for (&offset, &size) in &self.singles {
            list.sections.push(FreeSpaceSection { offset, size, kind: FreeSpaceSectionKind::SINGLE });
        }
        for (&block_offset, runs) in &self.runs {
            for run in runs {
                let first = to_u64(run.first);
                let kind = FreeSpaceSectionKind::FirstRow(IndirectSection {
                    block_offset,
                    row: narrow(first / width)?,
                    column: narrow(first % width)?,
                    blocks: narrow(to_u64(run.count))?,
                });
                list.sections.push(FreeSpaceSection { offset: run.offset, size: run.size, kind });
            }
        }
        list.sections.sort_by_key(|section| (section.size, section.offset));
        list.encode(&context.list)
    }
}
