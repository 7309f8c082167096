//! The target elements of one chunk, and the copying and conversion of the chunk's elements to
//! them.

use std::ops::Range;

use smallvec::SmallVec;

use super::raw::{copy_nest, gather_raw, packing, to_bytes, unpacking};
use super::{OUTSIDE, Target};
use crate::copy::{Nest, StrideLoop};
use crate::error::Result;
use crate::tiling::{Pattern, PatternLoop};
use crate::{DataspaceError, Tiling};

/// The smallest number of selected elements in a row of a chunk for direct conversion into the
/// target buffer. Shorter rows are first gathered and then converted together.
const MIN_DIRECT_ROW_ELEMENTS: u64 = 32;

/// A function that converts contiguous elements to another datatype, from the first slice to the
/// second one. Both slices have the same number of elements.
pub type ConvertRun<'a, E> = dyn FnMut(&[u8], &mut [u8]) -> std::result::Result<(), E> + 'a;

/// A tile: the part of a canvas (the target buffer of a read) that receives the selected elements
/// of one chunk.
#[derive(Debug)]
pub struct Tile<'c> {
    parts: SmallVec<[Pattern; 1]>,
    target: Target<'c>,
}

/// Scratch memory for the conversions of selected elements of chunks.
#[derive(Debug, Default)]
pub struct TileScratch {
    gathered: Vec<u8>,
    converted: Vec<u8>,
}

impl<'c> Tile<'c> {
    /// Creates the tile of a chunk: the part of the target buffer for the chunk's selected
    /// elements. Checks that the last of these elements lies in the target buffer.
    pub(super) fn new(tiling: &Tiling, chunk: &[u64], target: Target<'c>) -> Result<Self> {
        let parts = tiling.parts(chunk, target.strides, target.base)?;
        let elements = (target.length / target.element_size) as u64;
        for part in &parts {
            let last = part.steps.iter().try_fold(part.dst, |last, step| {
                (step.count.max(1) - 1).checked_mul(step.dst)?.checked_add(last)
            });
            if last.is_none_or(|last| last >= elements) {
                return Err(DataspaceError::Overflow { subject: "end of a tile" });
            }
        }
        Ok(Self { parts, target })
    }

    /// Returns the number of selected elements of the tile. A tile is the part of the target buffer
    /// for one chunk.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(Pattern::len).sum()
    }

    /// Returns whether the tile has no selected elements. A tile is the part of the target buffer
    /// for one chunk.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the range of elements that a tile needs from its chunk: from the first to the last
    /// selected element of the chunk, in C order.
    pub fn source(&self) -> Range<u64> {
        let start = self.parts.iter().map(|part| part.src).min().unwrap_or(0);
        start..self.parts.iter().map(Pattern::src_end).max().unwrap_or(0)
    }

    /// Returns the offset, in elements, of a whole chunk in the target buffer. `elements` is the
    /// number of elements of the chunk. Returns `None` unless all of them are selected and
    /// contiguous in the buffer.
    pub(super) fn run_of(&self, elements: u64) -> Option<u64> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        (steps.is_empty() && count == elements).then_some(part.dst)
    }

    /// Returns the tile of a chunk (its part of the target buffer) as one slice. Returns `None`
    /// unless the selected elements are contiguous in the chunk and in the buffer.
    pub fn as_slice(&mut self) -> Option<&mut [u8]> {
        let [part] = self.parts.as_slice() else { return None };
        let (count, steps) = part.runs();
        if !steps.is_empty() {
            return None;
        }
        let (at, length) = self.target.run(part.dst, count)?;
        // SAFETY: `run` checked that the bytes lie in the buffer. The bytes belong to this tile
        // alone, and the slice borrows the tile mutably.
        Some(unsafe { std::slice::from_raw_parts_mut(self.target.start.as_ptr().add(at), length) })
    }

    /// Returns the tile of a chunk (its part of the target buffer) as slices, in the order of the
    /// chunk's elements. Each slice has at least `min_bytes` bytes.
    ///
    /// Returns [`None`] if the selected elements of the chunk are not contiguous, or if the slices
    /// would be shorter.
    pub fn as_slices(&mut self, min_bytes: usize) -> Option<Vec<&mut [u8]>> {
        let [part] = self.parts.as_slice() else { return None };
        let (run, _) = part.runs();
        let is_dense = part.src_end().checked_sub(part.src) == Some(part.len());
        if !is_dense || to_bytes(run, self.target.element_size) < min_bytes {
            return None;
        }
        let (part, mut next) = (part.clone(), part.src);
        let mut slices = Vec::with_capacity(to_bytes(part.len() / run.max(1), 1));
        self.each_run(&part, |src, to| {
            if src != next {
                return Err(OUTSIDE);
            }
            next = src + run;
            // SAFETY: `each_run` checked that the bytes lie in the buffer. No two runs of a tile
            // share a target element: a target element is a position in the selection, and each
            // element has one position. The slices borrow the tile mutably.
            slices.push(unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr(), to.len()) });
            Ok(())
        })
        .ok()?;
        Some(slices)
    }

    /// Copies the selected elements of a chunk from `chunk` to the target buffer. `chunk` is a
    /// slice of the chunk's bytes that begins with the chunk's element `first`.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if the slice does not contain all selected elements. The buffer
    /// is unchanged then.
    pub fn copy_from(&mut self, chunk: &[u8], first: u64) -> Result<()> {
        let size = self.target.element_size;
        self.check_source(chunk, first, size)?;
        for part in &self.parts {
            let src = to_bytes(part.src - first, size);
            let rows = part.steps.iter().map(|step| StrideLoop {
                count: to_bytes(step.count, 1),
                src: to_bytes(step.src, size),
                dst: to_bytes(step.dst, size),
            });
            // SAFETY: `check_source` checked that all loops read within `chunk`, and `new` that
            // they write within the buffer. These target elements belong to this tile alone.
            // `chunk` cannot overlap them, since the buffer is borrowed mutably.
            unsafe {
                let to = self.target.start.as_ptr();
                copy_nest(&Nest::of_loops(size, rows), chunk.as_ptr(), src, to, to_bytes(part.dst, size));
            }
        }
        Ok(())
    }

    /// Converts the selected elements of a chunk, of `size` bytes each, from `chunk` to the target
    /// buffer. `chunk` is a slice of the chunk's bytes that begins with the chunk's element
    /// `first`.
    ///
    /// `convert` receives contiguous source elements, and a destination for the same number of
    /// elements. The destination holds the previous bytes of the buffer.
    ///
    /// # Errors
    /// The errors of [`copy_from`](Self::copy_from), and the errors of `convert`.
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
            if run >= MIN_DIRECT_ROW_ELEMENTS || steps.is_empty() {
                self.each_run(&part, |src, to| {
                    let at = to_bytes(src - first, size);
                    let from = chunk.get(at..at + to_bytes(run, size));
                    convert(from.ok_or(OUTSIDE)?, to)
                })?;
            } else if strided && steps.first().is_some_and(|step| step.count >= MIN_DIRECT_ROW_ELEMENTS) {
                self.convert_strided(&part, chunk, first, size, scratch, convert)?;
            } else {
                self.convert_gathered(&part, chunk, first, size, scratch, convert)?;
            }
        }
        Ok(())
    }

    /// Calls `write` for each contiguous run of elements in the tile of a chunk (its part of the
    /// target buffer). The runs are as long as possible.
    ///
    /// # Errors
    /// The errors of `write`.
    pub fn for_each_run<E: From<DataspaceError>>(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for part in std::mem::take(&mut self.parts) {
            self.each_run(&part, |_, to| write(to))?;
        }
        Ok(())
    }

    /// Converts rows of elements of a chunk into the target buffer. The elements of a row are
    /// strided in the chunk and contiguous in the buffer. Gathers each row before its conversion.
    fn convert_strided<E: From<DataspaceError>>(
        &mut self,
        part: &Pattern,
        chunk: &[u8],
        first: u64,
        size: usize,
        scratch: &mut TileScratch,
        convert: &mut ConvertRun<'_, E>,
    ) -> std::result::Result<(), E> {
        let Some((row, outer)) = part.steps.split_first() else { return Ok(()) };
        let gathered = resized(&mut scratch.gathered, to_bytes(row.count, size));
        let row_part = Pattern { src: 0, dst: 0, steps: SmallVec::from_slice(&[*row]) };
        let nest = packing(&row_part, size, false);
        let mut whole = Pattern { src: part.src, dst: part.dst, steps: SmallVec::new() };
        // Treat the row as one run, because its target elements are contiguous.
        whole.steps.push(PatternLoop { count: row.count, src: 1, dst: 1 });
        whole.steps.extend_from_slice(outer);
        self.each_run(&whole, |src, to| {
            let at = to_bytes(src - first, size);
            nest.copy(chunk.get(at..).ok_or(OUTSIDE)?, 0, gathered, 0);
            convert(gathered, to)
        })
    }

    /// Converts many short rows of elements of a chunk. Gathers all rows, converts them together,
    /// and copies the results into the target buffer.
    fn convert_gathered<E: From<DataspaceError>>(
        &mut self,
        part: &Pattern,
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
        // SAFETY: The loops visit the target elements of `part`. `new` checked that they lie in the
        // buffer, and they belong to this tile alone. `converted` has the same number of elements,
        // without gaps.
        unsafe { gather_raw(&back, to, at, converted) };
        convert(gathered, converted)?;
        // SAFETY: As above.
        unsafe { copy_nest(&unpacking(part, out_size), converted.as_ptr(), 0, to, at) };
        Ok(())
    }

    /// Calls `visit` for each run of selected elements of a chunk. `visit` gets the number of the
    /// run's first element in the chunk, and the run's elements in the target buffer.
    fn each_run<E: From<DataspaceError>>(
        &mut self,
        part: &Pattern,
        mut visit: impl FnMut(u64, &mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (run, steps) = part.runs();
        let mut at: SmallVec<[u64; 4]> = SmallVec::from_elem(0, steps.len());
        let (mut src, mut dst) = (part.src, part.dst);
        loop {
            let (start, length) = self.target.run(dst, run).ok_or(OUTSIDE)?;
            // SAFETY: `run` checked the bounds. The target elements belong to this tile alone, and
            // the slice is dropped before the next one is created.
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

    /// Checks that `chunk` contains all selected elements of a chunk. `chunk` is a slice of the
    /// chunk's bytes that begins with the element `first`.
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
                Err(DataspaceError::Buffer { subject: "the chunk", needed, got: chunk.len() })
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
