//! The places of one chunk: moving its elements there.

use std::ops::Range;

use smallvec::SmallVec;

use super::raw::{copy_nest, gather_raw, packing, reversed, to_bytes};
use super::{OUTSIDE, Target};
use crate::copy::{Nest, Rows};
use crate::error::Result;
use crate::tiling::{Part, Step};
use crate::{DataspaceError, Tiling};

/// Rows shorter than this are converted together rather than one by one.
const SHORT_ROW: u64 = 32;

/// Converts elements that lie side by side: from the first bytes to the second ones, which hold as many elements.
pub type ConvertRun<'a, E> = dyn FnMut(&[u8], &mut [u8]) -> std::result::Result<(), E> + 'a;

/// The places of one chunk's selected elements.
#[derive(Debug)]
pub struct Tile<'c> {
    parts: SmallVec<[Part; 1]>,
    target: Target<'c>,
}

/// Room that conversions of tiles work in.
#[derive(Debug, Default)]
pub struct TileScratch {
    gathered: Vec<u8>,
    converted: Vec<u8>,
}

impl<'c> Tile<'c> {
    pub(super) fn new(tiling: &Tiling, chunk: &[u64], target: Target<'c>) -> Result<Self> {
        let parts = tiling.parts(chunk, target.strides, target.base)?;
        let elements = (target.length / target.element_size) as u64;
        for part in &parts {
            let last = part.steps.iter().try_fold(part.dst, |last, step| {
                (step.count.max(1) - 1).checked_mul(step.dst)?.checked_add(last)
            });
            if last.is_none_or(|last| last >= elements) {
                return Err(DataspaceError::Overflow { what: "end of a tile" });
            }
        }
        Ok(Self { parts, target })
    }

    /// The number of selected elements.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(Part::len).sum()
    }

    /// Whether the chunk holds no selected element.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// From the first selected element of the chunk to the one behind the last, counted in C order.
    pub fn source(&self) -> Range<u64> {
        let start = self.parts.iter().map(|part| part.src).min().unwrap_or(0);
        start..self.parts.iter().map(Part::src_end).max().unwrap_or(0)
    }

    /// The first place, if the tile is a whole chunk of that many elements, whose places lie side by side.
    pub(super) fn run_of(&self, elements: u64) -> Option<u64> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        (steps.is_empty() && count == elements).then_some(part.dst)
    }

    /// The places as a slice, if they lie side by side, and so do the elements in the chunk.
    pub fn as_slice(&mut self) -> Option<&mut [u8]> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        if !steps.is_empty() {
            return None;
        }
        let (at, length) = self.target.run(part.dst, count)?;
        // SAFETY: `run` checked that the bytes lie in the buffer. They are places of this tile alone, which is
        // borrowed mutably as long as the slice lives.
        Some(unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(at), length) })
    }

    /// The places as slices of at least `shortest` bytes, in the order of their elements, if these lie side by side in the
    /// chunk.
    pub fn as_slices(&mut self, shortest: usize) -> Option<Vec<&mut [u8]>> {
        let [part] = self.parts.as_slice() else { return None };
        let (run, _) = part.runs();
        let is_dense = part.src_end().checked_sub(part.src) == Some(part.len());
        if !is_dense || to_bytes(run, self.target.element_size) < shortest {
            return None;
        }
        let (part, mut next) = (part.clone(), part.src);
        let mut slices = Vec::with_capacity(to_bytes(part.len() / run.max(1), 1));
        self.each_run(&part, |src, to| {
            if src != next {
                return Err(OUTSIDE);
            }
            next = src + run;
            // SAFETY: `each_run` found the bytes in the buffer. No two runs of a tile share a place: a place is a position in
            // the selection, which has every element once. They are borrowed as long as the tile is.
            slices.push(unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr(), to.len()) });
            Ok(())
        })
        .ok()?;
        Some(slices)
    }

    /// Copies the elements from a slice of the chunk that begins with its element `first`.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if the slice does not reach to the last selected element. Nothing is copied then.
    pub fn copy_from(&mut self, chunk: &[u8], first: u64) -> Result<()> {
        let size = self.target.element_size;
        self.check_source(chunk, first, size)?;
        for part in &self.parts {
            let src = to_bytes(part.src - first, size);
            let rows = part.steps.iter().map(|step| Rows {
                count: to_bytes(step.count, 1),
                src: to_bytes(step.src, size),
                dst: to_bytes(step.dst, size),
            });
            // SAFETY: `check_source` saw that all loops read within `chunk`, `new` that they write within the
            // buffer; these places are this tile's alone. A slice of the caller's cannot overlap them: the
            // buffer is borrowed mutably.
            unsafe {
                let to = self.target.start.as_ptr();
                copy_nest(&Nest::of_loops(size, rows), chunk.as_ptr(), src, to, to_bytes(part.dst, size));
            }
        }
        Ok(())
    }

    /// Converts the elements, of `size` bytes each, from a slice of the chunk that begins with its element `first`.
    /// `convert` is given as many source as destination elements, which lie side by side; the destination holds
    /// what stood there before.
    ///
    /// # Errors
    /// As [`copy_from`](Self::copy_from), and those of `convert`.
    pub fn convert_from<E: From<DataspaceError>>(
        &mut self,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut ConvertRun<'_, E>,
    ) -> std::result::Result<(), E> {
        self.check_source(chunk, first, size)?;
        for part in std::mem::take(&mut self.parts) {
            let (run, steps) = part.runs();
            let strided = run == 1 && steps.first().is_some_and(|step| step.dst == 1);
            if run >= SHORT_ROW || steps.is_empty() {
                self.each_run(&part, |src, to| {
                    let at = to_bytes(src - first, size);
                    let from = chunk.get(at..at + to_bytes(run, size));
                    convert(from.ok_or(OUTSIDE)?, to)
                })?;
            } else if strided && steps.first().is_some_and(|step| step.count >= SHORT_ROW) {
                self.convert_strided(&part, chunk, first, size, scratch, convert)?;
            } else {
                self.convert_gathered(&part, chunk, first, size, scratch, convert)?;
            }
        }
        Ok(())
    }

    /// Gives each run of places to `write`, as long as can be.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn for_each_run<E: From<DataspaceError>>(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for part in std::mem::take(&mut self.parts) {
            self.each_run(&part, |_, to| write(to))?;
        }
        Ok(())
    }

    /// Rows that are strided in the chunk and whole in the buffer: each is gathered, then converted into place.
    fn convert_strided<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut ConvertRun<'_, E>,
    ) -> std::result::Result<(), E> {
        let Some((row, outer)) = part.steps.split_first() else { return Ok(()) };
        let gathered = resized(&mut scratch.gathered, to_bytes(row.count, size));
        let row_part = Part { src: 0, dst: 0, steps: SmallVec::from_slice(&[*row]) };
        let nest = packing(&row_part, size, false);
        let mut whole = Part { src: part.src, dst: part.dst, steps: SmallVec::new() };
        // The row as one run: its places lie side by side.
        whole.steps.push(Step { count: row.count, src: 1, dst: 1 });
        whole.steps.extend_from_slice(outer);
        self.each_run(&whole, |src, to| {
            let at = to_bytes(src - first, size);
            nest.copy(chunk.get(at..).ok_or(OUTSIDE)?, 0, gathered, 0);
            convert(gathered, to)
        })
    }

    /// Many short rows: all are gathered, converted, and put into place.
    fn convert_gathered<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut ConvertRun<'_, E>,
    ) -> std::result::Result<(), E> {
        let out_size = self.target.element_size;
        let TileScratch { gathered, converted } = scratch;
        let gathered = resized(gathered, to_bytes(part.len(), size));
        let converted = resized(converted, to_bytes(part.len(), out_size));
        packing(part, size, false).copy(chunk, to_bytes(part.src - first, size), gathered, 0);
        let back = packing(part, out_size, true);
        let (to, at) = (self.target.start.as_ptr(), to_bytes(part.dst, out_size));
        // SAFETY: The loops visit the places of `part`, which `new` found to lie in the buffer and which are this
        // tile's alone; `converted` holds as many elements, one after the other.
        unsafe { gather_raw(&back, to, at, converted) };
        convert(gathered, converted)?;
        // SAFETY: As above.
        unsafe { copy_nest(&reversed(part, out_size), converted.as_ptr(), 0, to, at) };
        Ok(())
    }

    /// Calls `visit` with the first element of each run in the chunk and the run's places.
    fn each_run<E: From<DataspaceError>>(
        &mut self,
        part: &Part,
        mut visit: impl FnMut(u64, &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (run, steps) = part.runs();
        let mut at: SmallVec<[u64; 4]> = SmallVec::from_elem(0, steps.len());
        let (mut src, mut dst) = (part.src, part.dst);
        loop {
            let (start, length) = self.target.run(dst, run).ok_or(OUTSIDE)?;
            // SAFETY: `run` checked the bounds; the places are this tile's alone, and the slice is gone before
            // the next one is made.
            let to = unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(start), length) };
            visit(src, to)?;
            let mut done = true;
            for (at, step) in at.iter_mut().zip(steps) {
                *at += 1;
                if *at < step.count {
                    (src, dst) = (src + step.src, dst + step.dst);
                    done = false;
                    break;
                }
                let back = std::mem::take(at) - 1;
                src -= back * step.src;
                dst -= back * step.dst;
            }
            if done {
                return Ok(());
            }
        }
    }

    /// That a slice of the chunk from element `first` on holds all selected elements.
    fn check_source(&self, chunk: &[u8], first: u64, size: usize) -> Result<()> {
        let Range { start, end } = self.source();
        if self.is_empty() {
            return Ok(());
        }
        let needed = end.checked_sub(first).filter(|_| start >= first);
        let needed = needed.and_then(|end| usize::try_from(end).ok()).and_then(|end| end.checked_mul(size));
        match needed {
            Some(needed) if needed <= chunk.len() => Ok(()),
            _ => {
                let needed = needed.unwrap_or(usize::MAX);
                Err(DataspaceError::Buffer { what: "the chunk", needed, got: chunk.len() })
            }
        }
    }
}

fn resized(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    buffer.split_at_mut(length).0
}
