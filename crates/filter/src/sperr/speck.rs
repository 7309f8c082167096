//! Integers by SPECK (Pearlman et al. 2004): bit plane by bit plane, in sets of which it is said whether one of their
//! integers is that large, and which are divided where one is.
//!
//! ```text
//! bytes        | meaning
//! -------------+------------------------------------------------------------------------------------
//! 1            | bit planes
//! 8            | bits, little-endian
//! n            | bits, the lowest of a byte first; they may end early
//! ```
//! A set that is said to have a large integer is divided at once, and said of all its parts, but not of the last one
//! where no other has one. Of integers that stand alone and are large, the sign follows: 1 for one that is not below 0.
//! Then each that was large before gets a bit more. What is not known is taken to be half.

use super::bits::{Bits, Mask};

const HEADER: usize = 9;

/// A box of integers, the dimension that varies fastest first.
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

/// How many dimensions there are, and how sets are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Line,
    /// The last of the dimensions is 1.
    Plane,
    Volume,
}

/// What was decoded: sizes, and which are not below 0.
#[derive(Debug)]
pub(super) struct Integers {
    pub(super) sizes: Vec<u64>,
    pub(super) positive: Mask,
}

/// A stream and how many bytes it has.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    planes: u32,
    bits: Bits<'a>,
    /// Bytes with all its bits; it may be cut.
    pub(super) length: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, bits) = bytes.split_first_chunk::<HEADER>()?;
        let [planes, count @ ..] = *header;
        let count = usize::try_from(u64::from_le_bytes(count)).ok()?;
        let length = count.div_ceil(8).checked_add(HEADER)?;
        (planes <= 64).then(|| Self { planes: u32::from(planes), bits: Bits::new(bits, count), length })
    }

    /// The integers of a box.
    pub(super) fn decode(self, shape: Shape, dims: [usize; 3]) -> Integers {
        let count = dims.iter().product();
        let mut decoder = Decoder {
            bits: self.bits,
            shape,
            dims,
            sets: Vec::new(),
            outer: 0,
            alone: Mask::empty(count),
            large: Mask::empty(count),
            found: Vec::new(),
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
    /// Sets without a large integer, by how often they were divided.
    sets: Vec<Vec<Set>>,
    /// Of a plane: how often what is not yet in `sets` is to be divided to be so.
    outer: usize,
    /// Integers that stand alone and are not large, and that are large.
    alone: Mask,
    large: Mask,
    /// Those that became large in this plane.
    found: Vec<usize>,
    integers: Integers,
}

/// How often a length can be halved, the larger half staying.
fn halvings(length: usize) -> usize {
    let mut rest = length;
    let mut count = 0;
    while rest > 1 {
        rest -= rest / 2;
        count += 1;
    }
    count
}

/// How often a length is transformed.
pub(super) fn transforms(length: usize) -> usize {
    let mut rest = length;
    let mut count = 0;
    while rest >= 9 && count < 6 {
        rest -= rest / 2;
        count += 1;
    }
    count
}

/// What is left of a length after so many transforms, and what the last one took away.
pub(super) fn parts(length: usize, transforms: usize) -> (usize, usize) {
    let (mut low, mut high) = (length, 0);
    for _ in 0..transforms {
        high = low / 2;
        low -= high;
    }
    (low, high)
}

/// How often all three dimensions are transformed together, if they are.
pub(super) fn together([x, y, z]: [usize; 3]) -> Option<usize> {
    if z < 2 || y < 2 {
        return None;
    }
    let (plane, depth) = (transforms(x.min(y)), transforms(z));
    (plane == depth || plane >= 5 && depth >= 5).then(|| plane.min(depth))
}

impl Decoder<'_> {
    /// The sets that there are before anything is known.
    fn begin(&mut self) {
        let levels = self.dims.iter().map(|length| halvings(*length)).sum::<usize>() + 2;
        self.sets = vec![Vec::new(); levels];
        let whole = Set { start: [0; 3], length: self.dims };
        match self.shape {
            Shape::Line => {
                let (halves, level) = self.divide(whole, 0);
                halves.as_slice().iter().for_each(|half| self.add(level, *half));
            }
            Shape::Plane => {
                let [x, y, _] = self.dims;
                self.outer = transforms(x.min(y));
                let (x, y) = (parts(x, self.outer).0, parts(y, self.outer).0);
                self.add(self.outer, Set { start: [0; 3], length: [x, y, 1] });
            }
            Shape::Volume => self.begin_volume(whole),
        }
    }

    fn begin_volume(&mut self, whole: Set) {
        let [x, y, z] = self.dims;
        let (plane, depth) = match together(self.dims) {
            Some(count) => (count, count),
            None => (transforms(x.min(y)), transforms(z)),
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

    /// The parts of a set, and their level.
    fn divide(&self, set: Set, level: usize) -> (Parts, usize) {
        match self.shape {
            Shape::Line => (split(set, level, [true, false, false]).0, level + 1),
            // The farthest part first.
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
            self.sort();
            if !self.bits.is_spent() {
                self.refine(threshold);
            }
            // The middle of what it can be.
            let value = threshold - 1 + threshold / 2 + threshold % 2;
            for at in std::mem::take(&mut self.found) {
                self.large.set(at, true);
                if let Some(size) = self.integers.sizes.get_mut(at) {
                    *size = value;
                }
            }
            if self.bits.is_spent() {
                return;
            }
            self.sets.iter_mut().for_each(|sets| sets.retain(|set| set.count() > 0));
        }
    }

    /// Finds what is large in this plane.
    fn sort(&mut self) {
        let mut at = 0;
        while let Some(next) = self.alone.next(at) {
            self.decide(next, true);
            at = next + 1;
        }
        for level in (0..self.sets.len()).rev() {
            let mut at = 0;
            while let Some(set) = self.sets.get(level).and_then(|sets| sets.get(at)).copied() {
                if self.bits.get() {
                    self.empty(level, at);
                    self.open(set, level);
                }
                at += 1;
            }
        }
        self.sort_outer(true);
    }

    fn empty(&mut self, level: usize, at: usize) {
        if let Some(set) = self.sets.get_mut(level).and_then(|sets| sets.get_mut(at)) {
            set.length = [0; 3];
        }
    }

    /// Of a plane: what is not yet in `sets`.
    fn sort_outer(&mut self, is_said: bool) {
        if self.outer == 0 || is_said && !self.bits.get() {
            return;
        }
        let level = self.outer;
        let [x, y, _] = self.dims;
        let ((x, right), (y, bottom)) = (parts(x, level), parts(y, level));
        self.outer -= 1;
        let sets = [
            Set { start: [x, y, 0], length: [right, bottom, 1] },
            Set { start: [x, 0, 0], length: [right, y, 1] },
            Set { start: [0, y, 0], length: [x, bottom, 1] },
        ];
        let mut is_large = false;
        for set in sets.into_iter().filter(|set| set.count() > 0) {
            is_large |= self.visit(set, level, true);
        }
        self.sort_outer(is_large);
    }

    /// Whether a new set has a large integer.
    fn visit(&mut self, set: Set, level: usize, is_said: bool) -> bool {
        if is_said && !self.bits.get() {
            self.add(level, set);
            return false;
        }
        self.open(set, level);
        true
    }

    /// Divides a set that has a large integer.
    fn open(&mut self, set: Set, level: usize) {
        let (parts, level) = self.divide(set, level);
        let mut is_large = false;
        let mut parts = parts.as_slice().iter().copied().filter(|part| part.count() > 0).peekable();
        while let Some(part) = parts.next() {
            let is_said = is_large || parts.peek().is_some();
            is_large |= if part.count() == 1 {
                let ([x, y, z], [width, height, _]) = (part.start, self.dims);
                let at = (z * height + y) * width + x;
                self.alone.set(at, true);
                self.decide(at, is_said)
            } else {
                self.visit(part, level, is_said)
            };
        }
    }

    /// Whether an integer that stands alone is large.
    fn decide(&mut self, at: usize, is_said: bool) -> bool {
        if is_said && !self.bits.get() {
            return false;
        }
        let is_positive = self.bits.get();
        self.integers.positive.set(at, is_positive);
        self.found.push(at);
        self.alone.set(at, false);
        true
    }

    /// A bit more of what was large before.
    fn refine(&mut self, threshold: u64) {
        let half = threshold / 2;
        let mut at = 0;
        while let Some(next) = self.large.next(at) {
            let more = self.bits.get();
            if let Some(size) = self.integers.sizes.get_mut(next) {
                *size = match (more, half) {
                    (true, 0) => size.wrapping_add(1),
                    (true, half) => size.wrapping_add(half),
                    (false, half) => size.wrapping_sub(half),
                };
            }
            if self.bits.is_spent() {
                return;
            }
            at = next + 1;
        }
    }
}

/// The parts of a set.
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

/// The parts of a set that is halved along these axes, the nearest first, and their level: one more for every axis
/// that is longer than 1.
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
