//! Elements at equal distances in memory, for instance one member of an array of records.

use std::borrow::Cow;
use std::ops::Range;

use super::kernel::Kernel;
use super::{ConvertError, Result};

/// The length in bytes of a block of packed elements. Conversion kernels without a strided loop
/// work on such blocks.
const BLOCK_BYTES: usize = 2048;
/// The smallest size, in bytes, of a strided element that a conversion handles in place. Smaller
/// elements are first copied to packed blocks.
const MIN_UNPACKED_ELEMENT_BYTES: usize = 256;

/// A view of elements at equal distances in memory. Each element has `size` bytes, and the starts
/// of neighbouring elements are `stride` bytes apart. The first element begins at the first byte.
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a> {
    bytes: &'a [u8],
    size: usize,
    stride: usize,
}

/// A mutable view of elements of equal size at equal distances in bytes; see [`Strided`].
#[derive(Debug)]
pub struct StridedMut<'a> {
    bytes: &'a mut [u8],
    size: usize,
    stride: usize,
}

/// Returns the number of whole elements in `length` bytes. The elements are `stride` bytes apart.
/// Returns 0 for elements of size 0.
fn count(length: usize, size: usize, stride: usize) -> usize {
    if size == 0 {
        return 0;
    }
    length.checked_sub(size).and_then(|rest| rest.checked_div(stride)).map_or(0, |rest| rest + 1)
}

/// Returns the range of bytes that contains the elements with the numbers `elements`, and the gaps
/// between them.
fn byte_range(elements: &Range<usize>, size: usize, stride: usize) -> Range<usize> {
    let start = elements.start * stride;
    match elements.end.checked_sub(1) {
        Some(last) if last >= elements.start => start..last * stride + size,
        _ => start..start,
    }
}

impl<'a> Strided<'a> {
    /// Creates a shared view of elements of `size` bytes, `stride` bytes apart. Bytes after the
    /// last whole element are ignored.
    pub fn new(bytes: &'a [u8], size: usize, stride: usize) -> Self {
        Self { bytes, size, stride: stride.max(1) }
    }

    /// Returns the number of elements in a view of strided elements (elements at equal distances in
    /// memory).
    pub fn len(&self) -> usize {
        count(self.bytes.len(), self.size, self.stride)
    }

    /// Returns the size in bytes of an element in a view of strided elements.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the distance in bytes between the starts of two neighbouring elements in a view of
    /// strided elements.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns whether a view of strided elements is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of all elements in a view of strided elements, if the elements are
    /// contiguous.
    pub fn packed(&self) -> Option<&'a [u8]> {
        let whole = self.len().checked_mul(self.size)?;
        if self.size == self.stride { self.bytes.get(..whole) } else { None }
    }

    /// Returns the bytes of all elements in a view of strided elements without gaps. Copies the
    /// bytes if the elements are not contiguous.
    pub fn to_packed(&self) -> Cow<'a, [u8]> {
        if let Some(bytes) = self.packed() {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = vec![0; self.len() * self.size];
        self.pack(&mut bytes);
        Cow::Owned(bytes)
    }

    /// Returns an iterator over the bytes of each element in a view of strided elements.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let size = self.size;
        self.bytes.chunks(self.stride).filter_map(move |chunk| chunk.get(..size)).take(self.len())
    }

    /// Returns a view of the elements with the numbers `elements` in this view of strided elements.
    pub(super) fn slice(&self, elements: &Range<usize>) -> Self {
        let Range { start, end } = byte_range(elements, self.size, self.stride);
        let bytes = self.bytes.split_at(end).0.split_at(start).1;
        Self { bytes, ..*self }
    }

    /// Returns a view of one part of every element in a view of strided elements. The part is a
    /// range of bytes in the element.
    pub fn part(&self, range: &Range<usize>) -> Self {
        Self {
            // Bytes that end before the part contain no element.
            bytes: self.bytes.get(range.start..).unwrap_or_default(),
            size: range.len(),
            stride: self.stride,
        }
    }

    /// Converts the offset of a byte in packed elements to the offset of the same byte in a strided
    /// view. The packed elements are a copy that begins with the element `first` of the view.
    fn strided_offset(&self, first: usize, offset: usize) -> usize {
        let element = offset.checked_div(self.size).unwrap_or(0) + first;
        let rest = offset.checked_rem(self.size).unwrap_or(0);
        element * self.stride + rest
    }

    /// Copies all elements in a view of strided elements to `out`, without gaps.
    fn pack(&self, out: &mut [u8]) {
        match self.size {
            1 => pack::<1>(self, out),
            2 => pack::<2>(self, out),
            4 => pack::<4>(self, out),
            8 => pack::<8>(self, out),
            16 => pack::<16>(self, out),
            size => {
                for (from, to) in self.iter().zip(out.chunks_exact_mut(size.max(1))) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

/// Copies strided elements of `N` bytes to `out`, without gaps.
fn pack<const N: usize>(from: &Strided<'_>, out: &mut [u8]) {
    for (from, to) in from.bytes.chunks(from.stride).zip(out.as_chunks_mut::<N>().0) {
        if let Some(from) = from.first_chunk::<N>() {
            *to = *from;
        }
    }
}

/// Copies packed elements of `N` bytes to strided elements.
fn unpack<const N: usize>(packed: &[u8], to: &mut StridedMut<'_>) {
    for (to, from) in to.bytes.chunks_mut(to.stride).zip(packed.as_chunks::<N>().0) {
        if let Some(to) = to.first_chunk_mut::<N>() {
            *to = *from;
        }
    }
}

impl<'a> StridedMut<'a> {
    /// Creates a mutable view of elements of `size` bytes, `stride` bytes apart. Bytes after the
    /// last whole element are ignored.
    pub fn new(bytes: &'a mut [u8], size: usize, stride: usize) -> Self {
        Self { bytes, size, stride: stride.max(1) }
    }

    /// Returns a shared view of the same elements as this mutable view of strided elements
    /// (elements at equal distances in memory).
    pub fn as_strided(&self) -> Strided<'_> {
        Strided { bytes: self.bytes, size: self.size, stride: self.stride }
    }

    /// Returns the bytes of all elements in a mutable view of strided elements, if the elements are
    /// contiguous.
    pub fn packed(&mut self) -> Option<&mut [u8]> {
        let whole = self.as_strided().len().checked_mul(self.size)?;
        if self.size == self.stride { self.bytes.get_mut(..whole) } else { None }
    }

    /// Returns an iterator over the bytes of each element in a mutable view of strided elements.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let size = self.size;
        self.bytes.chunks_mut(self.stride).filter_map(move |chunk| chunk.get_mut(..size))
    }

    /// Returns a mutable view of the elements with the numbers `elements` in this view of strided
    /// elements.
    pub(super) fn slice(&mut self, elements: &Range<usize>) -> StridedMut<'_> {
        let Range { start, end } = byte_range(elements, self.size, self.stride);
        let bytes = self.bytes.split_at_mut(end).0.split_at_mut(start).1;
        StridedMut { bytes, size: self.size, stride: self.stride }
    }

    /// Returns a mutable view of one part of every element in a view of strided elements. The part
    /// is a range of bytes in the element.
    pub(super) fn part(&mut self, range: &Range<usize>) -> StridedMut<'_> {
        // Bytes that end before the part contain no element.
        let bytes = self.bytes.get_mut(range.start..).unwrap_or_default();
        StridedMut { bytes, size: range.len(), stride: self.stride }
    }

    /// Copies packed elements to the elements in a mutable view of strided elements.
    fn unpack(&mut self, packed: &[u8]) {
        match self.size {
            1 => unpack::<1>(packed, self),
            2 => unpack::<2>(packed, self),
            4 => unpack::<4>(packed, self),
            8 => unpack::<8>(packed, self),
            16 => unpack::<16>(packed, self),
            size => {
                for (to, from) in self.iter_mut().zip(packed.chunks_exact(size.max(1))) {
                    to.copy_from_slice(from);
                }
            }
        }
    }

    /// Copies all elements of the view `source` to a mutable view of strided elements. Both views
    /// have the same element size.
    pub(super) fn copy_from(&mut self, source: &Strided<'_>) {
        if let Some(to) = self.packed() {
            return source.pack(to);
        }
        if let Some(from) = source.packed() {
            return self.unpack(from);
        }
        match self.size {
            4 => copy::<4>(source, self),
            8 => copy::<8>(source, self),
            _ => {
                for (to, from) in self.iter_mut().zip(source.iter()) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

/// Copies elements of `N` bytes from one strided view to another.
fn copy<const N: usize>(from: &Strided<'_>, to: &mut StridedMut<'_>) {
    for (to, from) in to.bytes.chunks_mut(to.stride).zip(from.bytes.chunks(from.stride)) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
            *to = *from;
        }
    }
}

/// Runs a conversion kernel on strided elements. The kernel requires packed elements, so the
/// elements are copied to packed blocks and back.
pub(super) fn run_packed<K: Kernel + ?Sized>(
    kernel: &K,
    source: Strided<'_>,
    mut destination: StridedMut<'_>,
) -> Result<()> {
    let relocate =
        |first: usize| move |error: ConvertError| error.map_index(|at| source.strided_offset(first, at));
    if source.size.max(destination.size) >= MIN_UNPACKED_ELEMENT_BYTES {
        for (index, (from, to)) in source.iter().zip(destination.iter_mut()).enumerate() {
            kernel.run(from, to).map_err(relocate(index))?;
        }
        return Ok(());
    }
    let (mut sources, mut destinations) = ([0; BLOCK_BYTES], [0; BLOCK_BYTES]);
    let all = source.len().min(destination.as_strided().len());
    let per_block = BLOCK_BYTES / source.size.max(destination.size).max(1);
    for start in (0..all).step_by(per_block) {
        let elements = start..all.min(start + per_block);
        let from = source.slice(&elements);
        let mut to = destination.slice(&elements);
        let from_bytes = if let Some(bytes) = from.packed() {
            bytes
        } else {
            let bytes = sources.split_at_mut(elements.len() * source.size).0;
            from.pack(bytes);
            bytes
        };
        if let Some(bytes) = to.packed() {
            kernel.run(from_bytes, bytes).map_err(relocate(start))?;
            continue;
        }
        // The kernel may leave bytes unwritten. They must keep their values.
        let bytes = destinations.split_at_mut(elements.len() * to.size).0;
        to.as_strided().pack(bytes);
        kernel.run(from_bytes, bytes).map_err(relocate(start))?;
        to.unpack(bytes);
    }
    Ok(())
}
