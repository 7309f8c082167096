//! The free sections of one heap: unused parts of direct blocks, and direct blocks that do not exist although others
//! do behind them.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::codec::{Address, FormatError, Result, Structure};
use hyperslab_format::free_space::{
    FreeSpaceSection, FreeSpaceSectionKind, FreeSpaceSections, FreeSpaceSectionsContext, IndirectSection,
};

use super::shape::Shape;

/// The sections as a living index: what stands in the section list of the heap's free-space manager.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FreeSections {
    /// Unused bytes of direct blocks: offset in the heap's address space, and length.
    singles: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Missing blocks by the offset of their indirect block.
    runs: BTreeMap<u64, Vec<Run>>,
    /// How many stored sections have each size.
    sizes: BTreeMap<u64, usize>,
    stored: u64,
    derived: u64,
    total: u64,
}

/// Missing blocks in a row of one indirect block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    offset: u64,
    first: usize,
    count: usize,
    /// What fits into a block of the first row.
    room: u64,
    sections: u64,
    space: u64,
}

/// What the section list of a heap is read and written under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreeSectionsContext {
    pub(super) list: FreeSpaceSectionsContext,
    pub(super) shape: Shape,
}

/// The numbers that a manager's header holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Totals {
    /// Bytes in all sections.
    pub(super) space: u64,
    /// Sections that are stored.
    pub(super) stored: u64,
    /// Sections that follow from those: further rows of missing blocks.
    pub(super) derived: u64,
    /// Different sizes of stored sections.
    pub(super) sizes: usize,
    /// Stored sections that name an indirect block.
    pub(super) runs: usize,
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

    fn count_in(&mut self, size: u64) {
        *self.sizes.entry(size).or_insert(0) += 1;
        self.stored = self.stored.saturating_add(1);
    }

    fn count_out(&mut self, size: u64) {
        if let Some(count) = self.sizes.get_mut(&size) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.sizes.remove(&size);
            }
        }
        self.stored = self.stored.saturating_sub(1);
    }

    /// Adds unused bytes of a direct block.
    pub(super) fn add_single(&mut self, offset: u64, size: u64) {
        if size == 0 {
            return;
        }
        if let Some(before) = self.singles.insert(offset, size) {
            self.by_size.remove(&(before, offset));
            self.count_out(before);
            self.total = self.total.saturating_sub(before);
        }
        self.by_size.insert((size, offset));
        self.count_in(size);
        self.total = self.total.saturating_add(size);
    }

    /// Removes the unused bytes that begin at `offset`.
    pub(super) fn remove_single(&mut self, offset: u64) -> Option<u64> {
        let size = self.singles.remove(&offset)?;
        self.by_size.remove(&(size, offset));
        self.count_out(size);
        self.total = self.total.saturating_sub(size);
        Some(size)
    }

    /// The smallest unused part of a direct block that `length` bytes fit into: offset and size.
    pub(super) fn fitting_single(&self, length: u64) -> Option<(u64, u64)> {
        self.by_size.range((length, 0)..).next().map(|&(size, offset)| (offset, size))
    }

    /// The smallest missing direct block of at least `least` bytes: offset and size.
    pub(super) fn fitting_block(&self, shape: &Shape, least: u64) -> Option<(u64, u64)> {
        let runs = self.runs.iter().flat_map(|(base, runs)| runs.iter().map(|run| (*base, run)));
        let blocks = runs.filter_map(|(base, run)| shape.smallest_missing(base, run.first, run.count, least));
        blocks.min_by_key(|(offset, size)| (*size, *offset))
    }

    /// Adds what an object took at `offset`, joined with the unused bytes before and behind it that lie in the same
    /// block, from `start` to `end`. Gives the whole section, or `None` if some of it was unused already.
    pub(super) fn release(
        &mut self,
        offset: u64,
        length: u64,
        (start, end): (u64, u64),
    ) -> Option<(u64, u64)> {
        let mut from = offset;
        let mut to = offset.checked_add(length)?;
        if from < start || to > end {
            return None;
        }
        let before = self.singles.range(..to).next_back().map(|(offset, size)| (*offset, *size));
        let behind = self.singles.range(to..).next().map(|(offset, size)| (*offset, *size));
        if let Some((other, size)) = before {
            let other_end = other.saturating_add(size);
            if other_end > from {
                return None;
            }
            if other_end == from && other >= start {
                self.remove_single(other);
                from = other;
            }
        }
        if let Some((other, size)) = behind
            && other == to
            && other.saturating_add(size) <= end
        {
            self.remove_single(other);
            to = other.saturating_add(size);
        }
        self.add_single(from, to.saturating_sub(from));
        Some((from, to.saturating_sub(from)))
    }

    /// Forgets the missing blocks of the indirect block at `base`.
    pub(super) fn remove_runs(&mut self, base: u64) {
        for run in self.runs.remove(&base).unwrap_or_default() {
            self.count_out(run.room);
            self.derived = self.derived.saturating_sub(run.sections.saturating_sub(1));
            self.total = self.total.saturating_sub(run.space);
        }
    }

    fn add_run(&mut self, shape: &Shape, base: u64, first: usize, count: usize) {
        let rows = shape.missing(first, count);
        let room = shape.first_room(first);
        let offset = base.saturating_add(shape.table.entry(first).block_offset);
        self.count_in(room);
        self.derived = self.derived.saturating_add(rows.count.saturating_sub(1));
        self.total = self.total.saturating_add(rows.space);
        let run = Run { offset, first, count, room, sections: rows.count, space: rows.space };
        self.runs.entry(base).or_default().push(run);
    }

    /// Notes which blocks the indirect block at `base` misses before the offset `end`.
    pub(super) fn set_runs(&mut self, shape: &Shape, base: u64, children: &[Address], end: u64) {
        self.remove_runs(base);
        let mut first = None;
        for (number, child) in children.iter().enumerate() {
            let entry = shape.table.entry(number);
            let block_end = base.saturating_add(entry.block_offset).saturating_add(entry.block_size);
            let missing = !child.is_defined() && block_end <= end;
            first = match first {
                None => missing.then_some(number),
                Some(start) if missing && number.saturating_sub(start) < usize::from(u16::MAX) => Some(start),
                Some(start) => {
                    self.add_run(shape, base, start, number.saturating_sub(start));
                    missing.then_some(number)
                }
            };
            if block_end > end {
                break;
            }
        }
        if let Some(start) = first {
            self.add_run(shape, base, start, children.len().saturating_sub(start));
        }
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
        for section in list.sections {
            match section.kind {
                FreeSpaceSectionKind::Plain(kind)
                    if FreeSpaceSectionKind::Plain(kind) == FreeSpaceSectionKind::SINGLE =>
                {
                    sections.add_single(section.offset, section.size);
                }
                // Rows after the first follow from the first one.
                FreeSpaceSectionKind::Plain(_) => {}
                FreeSpaceSectionKind::FirstRow(run) | FreeSpaceSectionKind::Indirect(run) => {
                    let first =
                        u64::from(run.row).saturating_mul(table.width()).saturating_add(run.column.into());
                    let Ok(first) = usize::try_from(first) else { continue };
                    if u32::from(run.row) >= table.max_root_rows() || run.blocks == 0 {
                        let most = format!("a row before {}", table.max_root_rows());
                        return Err(FormatError::corrupt(Self::NAME, "block start row", most, run.row));
                    }
                    sections.add_run(&context.shape, run.block_offset, first, usize::from(run.blocks));
                }
            }
        }
        Ok(sections)
    }

    fn encode(&self, context: &FreeSectionsContext) -> Result<Vec<u8>> {
        let width = context.shape.table.width().max(1);
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
                let first = run.first as u64;
                let kind = FreeSpaceSectionKind::FirstRow(IndirectSection {
                    block_offset,
                    row: narrow(first / width)?,
                    column: narrow(first % width)?,
                    blocks: narrow(run.count as u64)?,
                });
                list.sections.push(FreeSpaceSection { offset: run.offset, size: run.room, kind });
            }
        }
        list.sections.sort_by_key(|section| (section.size, section.offset));
        list.encode(&context.list)
    }
}
