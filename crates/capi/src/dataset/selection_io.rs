//! The reports of reads and writes in transfer lists (`H5Pget_actual_selection_io_mode`,
//! `H5Pget_no_selection_io_cause`).
//!
//! The library has no selection I/O and no sieve buffer. Programs read these reports to find out
//! the path that the C library takes for a dataset, so the reports follow the rules of the C
//! library for a driver without functions for selections.

use std::sync::atomic::Ordering;

use hyperslab::{Datatype, Layout};

use super::DatasetHandle;
use super::transfer::Plan;
use crate::convert::Rules;
use crate::plist::{self, settings::Transfer};

/// The report that elements went to the file one block after the other (`H5D_SCALAR_IO`).
const SCALAR_IO: u32 = 1;

/// The causes for I/O without selections (`H5D_SEL_IO_*`).
mod cause {
    /// The program switched selection I/O off.
    pub(super) const DISABLED: u32 = 0x1;
    /// The layout is neither contiguous nor chunked.
    pub(super) const LAYOUT: u32 = 0x2;
    /// Earlier elements are in the sieve buffer.
    pub(super) const SIEVE_BUFFER: u32 = 0x4;
    /// The driver has no functions for selections.
    pub(super) const DRIVER: u32 = 0x8;
    /// The file has a page buffer.
    pub(super) const PAGE_BUFFER: u32 = 0x10;
    /// The dataset has filters.
    pub(super) const FILTERS: u32 = 0x20;
    /// The chunk cache holds the chunks.
    pub(super) const CHUNK_CACHE: u32 = 0x40;
    /// The conversion buffer is too small.
    pub(super) const CONVERSION_BUFFER: u32 = 0x80;
    /// The mode is the default, and the driver decides against selections.
    pub(super) const DEFAULT: u32 = 0x200;
}

/// The value of `H5D_SELECTION_IO_MODE_OFF`.
const OFF: i32 = 1;
/// The value of `H5D_SELECTION_IO_MODE_DEFAULT`.
const BY_DEFAULT: i32 = 0;

/// A read or write of elements in the terms of a report.
#[derive(Debug, Clone, Copy)]
pub enum Direction {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// Stores the report of a read or write in the program's transfer list. `memory` is the datatype of
/// the elements in memory.
pub fn note(dataset: &DatasetHandle, rules: &Rules, plan: &Plan, memory: &Datatype, direction: Direction) {
    let (mode, cause) = report(dataset, rules, plan, memory, direction);
    if rules.list == crate::symbols::LIST_DATASET_XFER {
        return;
    }
    // The list exists, because the transfer has used it. Another thread may have closed the list.
    let _ = plist::change_transfer(rules.list, |it: &mut Transfer| {
        (it.actual_io, it.no_selection_cause) = (mode, cause);
        Ok(0)
    });
}

/// Returns the mode and the causes of a report.
fn report(
    dataset: &DatasetHandle,
    rules: &Rules,
    plan: &Plan,
    memory: &Datatype,
    direction: Direction,
) -> (u32, u32) {
    let (mode, by_layout) = match dataset.dataset.layout() {
        Layout::Contiguous { .. } if dataset.sieved.swap(true, Ordering::Relaxed) => {
            (SCALAR_IO, cause::SIEVE_BUFFER)
        }
        Layout::Contiguous { .. } => (SCALAR_IO, 0),
        Layout::Chunked(_) if !dataset.dataset.filters().is_empty() => (0, cause::FILTERS),
        Layout::Chunked(chunking) => {
            let size = u64::from(dataset.dataset.datatype().size);
            let bytes = chunking.shape.iter().try_fold(size, |bytes, length| bytes.checked_mul(*length));
            let file = dataset.location.shared.access.read();
            let cache = dataset.access.cache_bytes.unwrap_or(file.cache.bytes);
            if bytes.is_some_and(|bytes| bytes <= hyperslab_exact::to_u64(cache)) {
                (0, cause::CHUNK_CACHE)
            } else {
                (SCALAR_IO, 0)
            }
        }
        _ => (0, cause::LAYOUT),
    };
    let transfer = &rules.transfer;
    if transfer.selection_io == OFF {
        return (mode, cause::DISABLED);
    }
    if by_layout != 0 {
        return (mode, by_layout);
    }
    if dataset.location.shared.access.read().page_buffer.0 != 0 {
        return (mode, cause::PAGE_BUFFER);
    }
    if transfer.selection_io == BY_DEFAULT {
        return (mode, cause::DEFAULT);
    }
    let largest = memory.size.max(dataset.memory.size) as usize;
    let fits = plan.count.checked_mul(largest).is_some_and(|bytes| bytes <= transfer.buffer.0);
    let in_place = match direction {
        Direction::Read => true,
        Direction::Write => transfer.modify_buffer,
    };
    if *memory != dataset.memory && !fits && !in_place {
        return (mode, cause::CONVERSION_BUFFER);
    }
    (mode, cause::DRIVER)
}
