//! Decoder of integers coded by SPECK (Pearlman et al. 2004), one bit plane after another. An
//! integer is significant in a bit plane if it is at least the plane's threshold. The stream codes
//! whether a set of integers contains a significant one. Sets with a significant integer are
//! divided.
//!
//! ```text
//! bytes        | meaning
//! -------------+----------------------------------------------------------------------------------
//! 1            | number of bit planes
//! 8            | number of bits, little-endian
//! n            | bits, the lowest of a byte first; may be truncated
//! ```
//! A significant set is divided at once, and the significance of all its parts is coded. The bit of
//! the last part is omitted if no other part is significant. After a significant single integer,
//! its sign follows: 1 for an integer that is not negative. At the end of each plane, one more bit
//! follows for each integer that was significant before. Unknown low bits are assumed to be half of
//! their range.

use super::bits::{Bits, Mask};

const HEADER_BYTES: usize = 9;

/// A set of integers (coefficients) in the SPECK decoder of SPERR: a box, with the fastest-varying
/// dimension first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Set {
    start: [usize; 3],
    length: [usize; 3],
}

impl Set {
    fn count(&self) -> usize {
        self.length.iter().product()
    }
}

/// The number of dimensions of a SPECK stream. It determines the division of sets of coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Line,
    /// A plane; the last dimension is 1.
    Plane,
    Volume,
}

/// The integers of a decoded SPECK stream of SPERR: the magnitudes, and the set of integers that
/// are not negative.
#[derive(Debug)]
pub(super) struct Integers {
    pub(super) sizes: Vec<u64>,
    pub(super) positive: Mask,
}

/// A SPECK stream (the coded integers of a SPERR block) with its parsed header.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    planes: u32,
    bits: Bits<'a>,
    /// The full length of the stream in bytes; the actual bytes may be truncated.
    pub(super) length: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, bits) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [planes, count @ ..] = *header;
        let count = usize::try_from(u64::from_le_bytes(count)).ok()?;
        let length = count.div_ceil(8).checked_add(HEADER_BYTES)?;
        (planes <= 64).then(|| Self { planes: u32::from(planes), bits: Bits::new(bits, count), length })
    }

    /// Decodes a box of integers of the SPERR decoder from a SPECK stream.
    pub(super) fn decode(self, shape: Shape, dims: [usize; 3]) -> Integers {
        let count = dims.iter().product();
        let mut decoder = Decoder {
            bits: self.bits,
            shape,
            dims,
            sets: Vec::new(),
            remainder_level: 0,
            single: Mask::empty(count),
            significant: Mask::empty(count),
            newly_significant: Vec::new(),
            integers: Integers { sizes: vec![0; count], positive: Mask::empty(count) },
        };
        if self.planes > 0 {
            decoder.begin();
            decoder.run(self.planes);
        }
        decoder.integers
    }
}

struct Decoder<'a> {
    bits: Bits<'a>,
    shape: Shape,
    dims: [usize; 3],
    /// Insignificant sets, by the number of divisions that led to them.
    sets: Vec<Vec<Set>>,
    /// Only for planes: the number of divisions that are left for the region which is not yet in
    /// `sets`.
    remainder_level: usize,
    /// Single integers that are not yet significant.
    single: Mask,
    /// Integers that are significant.
    significant: Mask,
    /// Integers that became significant in the current plane.
    newly_significant: Vec<usize>,
    integers: Integers,
}

/// Returns the number of times that the SPECK decoder can halve a length. Each time, the larger
/// half is kept.
fn halving_count(length: usize) -> usize {
    let mut rest = length;
    let mut count = 0;
    while rest > 1 {
        rest -= rest / 2;
        count += 1;
    }
    count
}

/// Returns the number of wavelet transforms that SPERR applies along a dimension of `length`
/// values.
pub(super) fn transform_count(length: usize) -> usize {
    let mut rest = length;
    let mut count = 0;
    while rest >= 9 && count < 6 {
        rest -= rest / 2;
        count += 1;
    }
    count
}

/// Returns two lengths along a dimension of a SPERR block, for `transforms` wavelet transforms: the
/// length of the final low-pass part, and the length of the last high-pass part.
pub(super) fn parts(length: usize, transforms: usize) -> (usize, usize) {
    let (mut low, mut high) = (length, 0);
    for _ in 0..transforms {
        high = low / 2;
        low -= high;
    }
    (low, high)
}

/// Returns the number of wavelet transforms that SPERR applies to all three dimensions together.
/// Returns [`None`] if the dimensions are transformed separately.
pub(super) fn joint_transforms([x, y, z]: [usize; 3]) -> Option<usize> {
    if z < 2 || y < 2 {
        return None;
    }
    let (plane, depth) = (transform_count(x.min(y)), transform_count(z));
    (plane == depth || plane >= 5 && depth >= 5).then(|| plane.min(depth))
}

impl Decoder<'_> {
    /// Initialises the sets of coefficients of the SPECK decoder before the first bit plane.
    fn begin(&mut self) {
        let levels = self.dims.iter().map(|length| halving_count(*length)).sum::<usize>() + 2;
        self.sets = vec![Vec::new(); levels];
        let whole = Set { start: [0; 3], length: self.dims };
        match self.shape {
            Shape::Line => {
                let (halves, level) = self.divide(whole, 0);
                halves.as_slice().iter().for_each(|half| self.add(level, *half));
            }
            Shape::Plane => {
                let [x, y, _] = self.dims;
                self.remainder_level = transform_count(x.min(y));
                let (x, y) = (parts(x, self.remainder_level).0, parts(y, self.remainder_level).0);
                self.add(self.remainder_level, Set { start: [0; 3], length: [x, y, 1] });
            }
            Shape::Volume => self.begin_volume(whole),
        }
    }

    fn begin_volume(&mut self, whole: Set) {
        let [x, y, z] = self.dims;
        let (plane, depth) = match joint_transforms(self.dims) {
            Some(count) => (count, count),
            None => (transform_count(x.min(y)), transform_count(z)),
        };
        let (mut first, mut level) = (whole, 0);
        for at in 0..plane.max(depth) {
            let axes = [at < plane, at < plane, at < depth];
            let (halves, next) = split(first, level, axes);
            level = next;
            if let [nearest, others @ ..] = halves.as_slice() {
                first = *nearest;
                others.iter().for_each(|half| self.add(level, *half));
            }
        }
        if let Some(sets) = self.sets.get_mut(level) {
            sets.insert(0, first);
        }
    }

    fn add(&mut self, level: usize, set: Set) {
        if let Some(sets) = self.sets.get_mut(level) {
            sets.push(set);
        }
    }

    /// Divides a set of SPECK coefficients. Returns the parts and their level in the division.
    fn divide(&self, set: Set, level: usize) -> (Parts, usize) {
        match self.shape {
            Shape::Line => (split(set, level, [true, false, false]).0, level + 1),
            // The last part comes first.
            Shape::Plane => {
                let (mut parts, _) = split(set, level, [true, true, false]);
                parts.sets.split_at_mut(parts.count).0.reverse();
                (parts, level + 1)
            }
            Shape::Volume => split(set, level, [true; 3]),
        }
    }

    fn run(&mut self, planes: u32) {
        for plane in (0..planes).rev() {
            let threshold = 1_u64 << plane;
            self.sorting_pass();
            if !self.bits.is_exhausted() {
                self.refinement_pass(threshold);
            }
            // The value is the middle of the possible range.
            let value = threshold - 1 + threshold / 2 + threshold % 2;
            for at in std::mem::take(&mut self.newly_significant) {
                self.significant.set(at, true);
                if let Some(size) = self.integers.sizes.get_mut(at) {
                    *size = value;
                }
            }
            if self.bits.is_exhausted() {
                return;
            }
            self.sets.iter_mut().for_each(|sets| sets.retain(|set| set.count() > 0));
        }
    }

    /// Finds the integers of a SPECK stream that become significant in the current bit plane: their
    /// magnitudes reach the weight of the plane.
    fn sorting_pass(&mut self) {
        let mut at = 0;
        while let Some(next) = self.single.next(at) {
            self.decode_single(next, true);
            at = next + 1;
        }
        for level in (0..self.sets.len()).rev() {
            let mut at = 0;
            while let Some(set) = self.sets.get(level).and_then(|sets| sets.get(at)).copied() {
                if self.bits.get() {
                    self.clear_set(level, at);
                    self.divide_significant(set, level);
                }
                at += 1;
            }
        }
        self.decode_remainder(true);
    }

    fn clear_set(&mut self, level: usize, at: usize) {
        if let Some(set) = self.sets.get_mut(level).and_then(|sets| sets.get_mut(at)) {
            set.length = [0; 3];
        }
    }

    /// Decodes a bit plane for the SPECK coefficients outside of all sets. `is_coded` is true if
    /// the stream first states whether any of them is significant (reaches the weight of the bit
    /// plane).
    fn decode_remainder(&mut self, is_coded: bool) {
        if self.remainder_level == 0 || is_coded && !self.bits.get() {
            return;
        }
        let level = self.remainder_level;
        let [x, y, _] = self.dims;
        let ((x, right), (y, bottom)) = (parts(x, level), parts(y, level));
        self.remainder_level -= 1;
        let sets = [
            Set { start: [x, y, 0], length: [right, bottom, 1] },
            Set { start: [x, 0, 0], length: [right, y, 1] },
            Set { start: [0, y, 0], length: [x, bottom, 1] },
        ];
        let mut is_significant = false;
        for set in sets.into_iter().filter(|set| set.count() > 0) {
            is_significant |= self.decode_set(set, level, true);
        }
        self.decode_remainder(is_significant);
    }

    /// Decodes and returns the significance of a new set of SPECK coefficients: true if any of them
    /// reaches the weight of the bit plane. `is_coded` is false if the set is already known to be
    /// significant.
    fn decode_set(&mut self, set: Set, level: usize, is_coded: bool) -> bool {
        if is_coded && !self.bits.get() {
            self.add(level, set);
            return false;
        }
        self.divide_significant(set, level);
        true
    }

    /// Divides a significant set of SPECK coefficients, of which at least one reaches the weight of
    /// the bit plane. Decodes the significance of each part.
    fn divide_significant(&mut self, set: Set, level: usize) {
        let (parts, level) = self.divide(set, level);
        let mut is_significant = false;
        let mut parts = parts.as_slice().iter().copied().filter(|part| part.count() > 0).peekable();
        while let Some(part) = parts.next() {
            let is_coded = is_significant || parts.peek().is_some();
            is_significant |= if part.count() == 1 {
                let ([x, y, z], [width, height, _]) = (part.start, self.dims);
                let at = (z * height + y) * width + x;
                self.single.set(at, true);
                self.decode_single(at, is_coded)
            } else {
                self.decode_set(part, level, is_coded)
            };
        }
    }

    /// Decodes and returns the significance of one SPECK integer: true if it reaches the weight of
    /// the bit plane. `is_coded` is false if the integer is already known to be significant.
    fn decode_single(&mut self, at: usize, is_coded: bool) -> bool {
        if is_coded && !self.bits.get() {
            return false;
        }
        let is_positive = self.bits.get();
        self.integers.positive.set(at, is_positive);
        self.newly_significant.push(at);
        self.single.set(at, false);
        true
    }

    /// Refines SPECK integers by one more bit: the integers that reached the weight of an earlier
    /// bit plane.
    fn refinement_pass(&mut self, threshold: u64) {
        let half = threshold / 2;
        let mut at = 0;
        while let Some(next) = self.significant.next(at) {
            let more = self.bits.get();
            if let Some(size) = self.integers.sizes.get_mut(next) {
                *size = match (more, half) {
                    (true, 0) => size.wrapping_add(1),
                    (true, half) => size.wrapping_add(half),
                    (false, half) => size.wrapping_sub(half),
                };
            }
            if self.bits.is_exhausted() {
                return;
            }
            at = next + 1;
        }
    }
}

/// The parts of a divided set of SPECK coefficients.
#[derive(Debug, Clone, Copy)]
struct Parts {
    sets: [Set; 8],
    count: usize,
}

impl Parts {
    fn as_slice(&self) -> &[Set] {
        self.sets.split_at(self.count).0
    }
}

/// Halves a set of SPECK coefficients along the given axes. Returns the parts and their level. The
/// part at the origin comes first. The level grows by one for every axis that is longer than 1.
fn split(set: Set, level: usize, axes: [bool; 3]) -> (Parts, usize) {
    let mut parts = Parts { sets: [set; 8], count: 1 };
    let mut level = level;
    for (axis, _) in axes.into_iter().enumerate().filter(|(_, is_split)| *is_split) {
        let length = set.length.get(axis).copied().unwrap_or(1);
        let (high, low) = (length / 2, length - length / 2);
        level += usize::from(high > 0);
        let (near, far) = parts.sets.split_at_mut(parts.count);
        for (near, far) in near.iter_mut().zip(far) {
            *far = *near;
            far.start.iter_mut().skip(axis).take(1).for_each(|start| *start += low);
            far.length.iter_mut().skip(axis).take(1).for_each(|length| *length = high);
            near.length.iter_mut().skip(axis).take(1).for_each(|length| *length = low);
        }
        parts.count *= 2;
    }
    (parts, level)
}
