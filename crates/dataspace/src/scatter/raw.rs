//! Copy loops through raw pointers.

use smallvec::SmallVec;

use crate::copy::{Nest, StrideLoop};
use crate::tiling::Pattern;

/// Converts a number of elements of `size` bytes to a number of bytes. On overflow, returns the
/// largest `usize`, which is out of bounds in every buffer.
pub(super) fn to_bytes(elements: u64, size: usize) -> usize {
    usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(size)
}

/// Builds the nested loops that pack the selected elements of a chunk: copy them to a buffer
/// without gaps. If `from_target` is true, the source of the copy is the target buffer of a read,
/// otherwise the chunk.
pub(super) fn packing(part: &Pattern, size: usize, from_target: bool) -> Nest {
    let mut packed = 1_u64;
    let rows: SmallVec<[StrideLoop; 4]> = part
        .steps
        .iter()
        .map(|step| {
            let src = if from_target { step.dst } else { step.src };
            let row = StrideLoop {
                count: to_bytes(step.count, 1),
                src: to_bytes(src, size),
                dst: to_bytes(packed, size),
            };
            packed *= step.count;
            row
        })
        .collect();
    Nest::of_loops(size, rows)
}

/// Builds the nested loops that unpack the selected elements of a chunk: copy them from a buffer
/// without gaps to the target buffer of a read.
pub(super) fn unpacking(part: &Pattern, size: usize) -> Nest {
    let mut packed = 1_u64;
    let rows: SmallVec<[StrideLoop; 4]> = part
        .steps
        .iter()
        .map(|step| {
            let (src, dst) = (to_bytes(packed, size), to_bytes(step.dst, size));
            packed *= step.count;
            StrideLoop { count: to_bytes(step.count, 1), src, dst }
        })
        .collect();
    Nest::of_loops(size, rows)
}

/// Copies elements from the pointer `src` to the pointer `dst`: all runs of elements that the
/// nested loops visit.
///
/// # Safety
/// All reads, relative to `src` plus `src_base` bytes, lie within one allocation, and all writes,
/// relative to `dst` plus `dst_base` bytes, lie within one allocation. No other code accesses the
/// written bytes meanwhile. The bytes that are read and the bytes that are written do not overlap.
pub(super) unsafe fn copy_nest(nest: &Nest, src: *const u8, src_base: usize, dst: *mut u8, dst_base: usize) {
    nest.for_each_plane(src_base, dst_base, |src_at, dst_at, rows| {
        // SAFETY: The caller's guarantee covers every run of every plane.
        unsafe {
            let (src, dst) = (src.add(src_at), dst.add(dst_at));
            match nest.run {
                1 => copy_rows::<1>(src, dst, rows),
                2 => copy_rows::<2>(src, dst, rows),
                4 => copy_rows::<4>(src, dst, rows),
                8 => copy_rows::<8>(src, dst, rows),
                16 => copy_rows::<16>(src, dst, rows),
                32 => copy_rows::<32>(src, dst, rows),
                64 => copy_rows::<64>(src, dst, rows),
                run => {
                    for row in 0..rows.count {
                        let (src, dst) = (src.add(row * rows.src), dst.add(row * rows.dst));
                        std::ptr::copy_nonoverlapping(src, dst, run);
                    }
                }
            }
        }
    });
}

/// Copies `rows.count` runs of `N` bytes, at equal distances, from the pointer `src` to the pointer
/// `dst`.
///
/// # Safety
/// As [`copy_nest`].
unsafe fn copy_rows<const N: usize>(src: *const u8, dst: *mut u8, rows: StrideLoop) {
    for row in 0..rows.count {
        // SAFETY: The caller's guarantee covers every run; arrays of bytes need no alignment.
        unsafe {
            let run = src.add(row * rows.src).cast::<[u8; N]>().read();
            dst.add(row * rows.dst).cast::<[u8; N]>().write(run);
        }
    }
}

/// Gathers elements from the pointer `src` in the buffer `packed`: all elements that the nested
/// loops visit, without gaps.
///
/// # Safety
/// All reads, relative to `src` plus `base` bytes, lie within one allocation, and no other code
/// writes to the read bytes meanwhile. The loops write as many bytes as `packed` has, without gaps.
pub(super) unsafe fn gather_raw(nest: &Nest, src: *mut u8, base: usize, packed: &mut [u8]) {
    // SAFETY: The caller's guarantee covers the reads; `packed` is a separate buffer.
    unsafe { copy_nest(nest, src.cast_const(), base, packed.as_mut_ptr(), 0) };
}
