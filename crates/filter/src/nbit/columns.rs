//! Types taken apart: each number in them is a column, whose values lie at regular places of a chunk and of its
//! code. A column is treated at once, for as many elements as stay in a fast cache.

use crate::bits::bulk::{self, GROUP, Short, TILE, Word};

use super::{Kind, Member};

/// Bytes of decoded elements that all columns are taken of before the next ones.
const BATCH: usize = 16 << 10;

/// Bytes that are kept behind the code while it is made, as windows of bits reach beyond the last one.
const SLACK: usize = 16;

/// Bits that are always in the eight bytes from that of the first one.
const NARROW: u32 = 57;

/// Something that repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Repeat {
    count: usize,
    /// Bits of code from one to the next.
    bits: u64,
    /// Bytes from one to the next.
    bytes: isize,
}

/// A number of an element, or more of the same form.
#[derive(Debug)]
struct Column {
    /// 1 to 8.
    size: usize,
    big_endian: bool,
    precision: u32,
    /// The lowest bit that is used.
    offset: u32,
    /// Where the first one lies in an element's code, and in the element.
    bit: u64,
    at: usize,
    /// Of one element.
    repeats: Vec<Repeat>,
}

/// All numbers of an element.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    bits: u64,
    bytes: usize,
}

/// What of a column is looked at: where, in the code and in the elements, and the innermost repetition.
#[derive(Debug, Clone, Copy)]
struct Place {
    bit: u64,
    at: usize,
    inner: Repeat,
}

impl Columns {
    pub(super) fn new(kind: &Kind) -> Self {
        let bytes = kind.size() as usize;
        let mut columns = Self { columns: Vec::new(), bits: kind.bits(), bytes };
        columns.add(kind, 0, 0, &mut Vec::new());
        columns
    }

    /// Adds the columns of a part of the element.
    fn add(&mut self, kind: &Kind, bit: u64, at: usize, repeats: &mut Vec<Repeat>) {
        match kind {
            Kind::Atomic { size: size @ 1..=8, big_endian, precision, offset } => {
                let size = *size as usize;
                self.push(size, *big_endian, (*precision, *offset), (bit, at), repeats.clone());
            }
            Kind::Atomic { size, big_endian, precision, offset } => {
                self.add_long(*size, *big_endian, (*precision, *offset), (bit, at), repeats);
            }
            Kind::Opaque { size } => self.add_bytes(*size, bit, at, repeats),
            Kind::Array { size, base } => {
                if let Kind::Opaque { .. } = **base {
                    return self.add_bytes(*size, bit, at, repeats);
                }
                let count = (size / base.size().max(1)) as usize;
                let bytes = isize::try_from(base.size()).unwrap_or(isize::MAX);
                repeats.push(Repeat { count, bits: base.bits(), bytes });
                self.add(base, bit, at, repeats);
                repeats.pop();
            }
            Kind::Compound { members, .. } => {
                let mut bit = bit;
                for Member { offset, kind } in members {
                    let offset = *offset as usize;
                    self.add(kind, bit, at + offset, repeats);
                    bit += kind.bits();
                }
            }
        }
    }

    fn push(
        &mut self,
        size: usize,
        big_endian: bool,
        (precision, offset): (u32, u32),
        (bit, at): (u64, usize),
        repeats: Vec<Repeat>,
    ) {
        self.columns.push(Column { size, big_endian, precision, offset, bit, at, repeats });
    }

    /// Bytes as they are: words of eight of them, and what is left.
    fn add_bytes(&mut self, size: u32, bit: u64, at: usize, repeats: &[Repeat]) {
        let (words, rest) = (size / 8, size % 8);
        let parts = [(8, words, bit, 0), (1, rest, bit + 64 * u64::from(words), 8 * words)];
        for (size, count, bit, from) in parts.into_iter().filter(|(_, count, ..)| *count > 0) {
            let count = count as usize;
            let last = Repeat { count, bits: 8 * u64::from(size), bytes: if size == 8 { 8 } else { 1 } };
            let at = at + from as usize;
            let repeats = repeats.iter().copied().chain([last]).collect();
            self.push(if size == 8 { 8 } else { 1 }, true, (8 * size, 0), (bit, at), repeats);
        }
    }

    /// A number that is too long for a word, byte by byte: the highest one that is used, those of which all
    /// bits are, and the lowest.
    fn add_long(
        &mut self,
        size: u32,
        big_endian: bool,
        (precision, offset): (u32, u32),
        (bit, at): (u64, usize),
        repeats: &[Repeat],
    ) {
        let (size, low, end) = (u64::from(size), u64::from(offset), u64::from(offset) + u64::from(precision));
        // The place of a byte, by its rank: 0 is the lowest.
        let place = |rank: u64| if big_endian { size - 1 - rank } else { rank };
        let at_rank = |rank| at.saturating_add(usize::try_from(place(rank)).unwrap_or(usize::MAX));
        let mut top = end;
        while top > low {
            let rank = (top - 1) / 8;
            let whole = if top % 8 == 0 { (top - low) / 8 } else { 0 };
            let bottom = if whole > 0 { top - 8 * whole } else { low.max(8 * rank) };
            let bit = bit + (end - top);
            if whole > 0 {
                let count = usize::try_from(whole).unwrap_or(usize::MAX);
                let last = Repeat { count, bits: 8, bytes: if big_endian { 1 } else { -1 } };
                let repeats = repeats.iter().copied().chain([last]).collect();
                self.push(1, true, (8, 0), (bit, at_rank(rank)), repeats);
            } else {
                let small = |bits: u64| u32::try_from(bits).unwrap_or(8);
                let used = (small(top - bottom), small(bottom - 8 * rank));
                self.push(1, true, used, (bit, at_rank(rank)), repeats.to_vec());
            }
            top = bottom;
        }
    }

    /// Returns the bytes of the elements of which all columns are taken before those of the next elements: whole bytes of
    /// code. All elements are one batch if there is one column.
    fn batch(&self) -> usize {
        if self.columns.len() == 1 {
            usize::MAX
        } else {
            (BATCH / self.bytes.max(1)).max(1).next_multiple_of(GROUP) * self.bytes
        }
    }

    /// Decodes whole elements; [`None`] if `input` is too short.
    pub(super) fn decode(&self, input: &[u8], elements: &mut [u8]) -> Option<()> {
        let batch = self.batch();
        let mut bit = 0;
        for elements in elements.chunks_mut(batch) {
            if !self.covers_all() {
                elements.fill(0);
            }
            let count = elements.len() / self.bytes;
            for column in &self.columns {
                column.each_place(self, bit, count, |place| match column.size {
                    1 => column.unpack::<u8>(input, elements, place),
                    2 => column.unpack::<u16>(input, elements, place),
                    3 => column.unpack::<Short<3>>(input, elements, place),
                    4 => column.unpack::<u32>(input, elements, place),
                    5 => column.unpack::<Short<5>>(input, elements, place),
                    6 => column.unpack::<Short<6>>(input, elements, place),
                    7 => column.unpack::<Short<7>>(input, elements, place),
                    _ => column.unpack::<u64>(input, elements, place),
                })?;
            }
            bit += self.bits * u64::try_from(count).ok()?;
        }
        Some(())
    }

    /// Makes `output` the code of whole elements, with what is needed to have `length` bytes.
    pub(super) fn encode(&self, elements: &[u8], length: usize, output: &mut Vec<u8>) -> Option<()> {
        output.clear();
        if let [column] = self.columns.as_slice()
            && let Some(place) = column.sole_place(self, elements.len() / self.bytes)
        {
            match column.size {
                1 => column.pack_row::<u8>(elements, place.inner.count, output),
                2 => column.pack_row::<u16>(elements, place.inner.count, output),
                3 => column.pack_row::<Short<3>>(elements, place.inner.count, output),
                4 => column.pack_row::<u32>(elements, place.inner.count, output),
                5 => column.pack_row::<Short<5>>(elements, place.inner.count, output),
                6 => column.pack_row::<Short<6>>(elements, place.inner.count, output),
                7 => column.pack_row::<Short<7>>(elements, place.inner.count, output),
                _ => column.pack_row::<u64>(elements, place.inner.count, output),
            }
            output.resize(length, 0);
            return Some(());
        }
        output.resize(length.checked_add(SLACK)?, 0);
        let mut bit = 0;
        for elements in elements.chunks(self.batch()) {
            let count = elements.len() / self.bytes;
            for column in &self.columns {
                column.each_place(self, bit, count, |place| match column.size {
                    1 => column.pack::<u8>(elements, output, place),
                    2 => column.pack::<u16>(elements, output, place),
                    3 => column.pack::<Short<3>>(elements, output, place),
                    4 => column.pack::<u32>(elements, output, place),
                    5 => column.pack::<Short<5>>(elements, output, place),
                    6 => column.pack::<Short<6>>(elements, output, place),
                    7 => column.pack::<Short<7>>(elements, output, place),
                    _ => column.pack::<u64>(elements, output, place),
                })?;
            }
            bit += self.bits * u64::try_from(count).ok()?;
        }
        output.truncate(length);
        Some(())
    }

    /// Whether it is certain that every byte of an element is written.
    fn covers_all(&self) -> bool {
        matches!(self.columns.as_slice(), [column]
            if self.bytes == column.repeats.iter().map(|repeat| repeat.count).product::<usize>() * column.size)
    }
}

impl Column {
    /// How often it repeats in so many elements, the outermost repetition first; those that are one row are one.
    fn repeats(&self, columns: &Columns, count: usize) -> Vec<Repeat> {
        let bytes = isize::try_from(columns.bytes).unwrap_or(isize::MAX);
        let mut joined: Vec<Repeat> = Vec::new();
        let elements = Repeat { count, bits: columns.bits, bytes };
        for repeat in std::iter::once(&elements).chain(&self.repeats) {
            match joined.last_mut() {
                Some(outer) if outer.is_row_of(repeat) => {
                    *outer = Repeat { count: outer.count * repeat.count, ..*repeat };
                }
                _ => joined.push(*repeat),
            }
        }
        joined
    }

    /// Calls `each` with all its places in `count` elements whose code begins at `bit`.
    fn each_place(
        &self,
        columns: &Columns,
        bit: u64,
        count: usize,
        mut each: impl FnMut(Place) -> Option<()>,
    ) -> Option<()> {
        let mut repeats = self.repeats(columns, count);
        let longest = (0..repeats.len()).max_by_key(|at| repeats.get(*at).map(|repeat| repeat.count))?;
        let inner = repeats.remove(longest);
        visit(&repeats, Place { bit: bit + self.bit, at: self.at, inner }, &mut each)
    }

    /// Its place, if it is one row.
    fn sole_place(&self, columns: &Columns, count: usize) -> Option<Place> {
        match self.repeats(columns, count).as_slice() {
            [inner] if self.at == 0 && self.is_row(*inner) => Some(Place { bit: 0, at: 0, inner: *inner }),
            _ => None,
        }
    }

    /// Whether there is nothing between its values.
    fn is_row(&self, repeat: Repeat) -> bool {
        repeat.bits == u64::from(self.precision) && isize::try_from(self.size) == Ok(repeat.bytes)
    }

    fn unpack<T: Word>(&self, input: &[u8], elements: &mut [u8], place: Place) -> Option<()> {
        let Place { bit, at, inner } = place;
        if self.is_row(inner) && bit.is_multiple_of(8) {
            let input = input.get(usize::try_from(bit / 8).ok()?..)?;
            let end = at.checked_add(inner.count.checked_mul(self.size)?)?;
            return self.unpack_row::<T>(input, elements.get_mut(at..end)?);
        }
        if self.precision <= NARROW {
            self.unpack_strided::<T, true>(input, elements, place)
        } else {
            self.unpack_strided::<T, false>(input, elements, place)
        }
    }

    fn unpack_strided<T: Word, const IS_NARROW: bool>(
        &self,
        input: &[u8],
        elements: &mut [u8],
        place: Place,
    ) -> Option<()> {
        let Place { mut bit, mut at, inner } = place;
        let (precision, offset, big_endian) = (self.precision, self.offset, self.big_endian);
        for _ in 0..inner.count {
            let number = bits_at::<IS_NARROW>(input, bit, precision)?;
            T::low(number << offset).put(elements, at, big_endian)?;
            bit += inner.bits;
            at = at.wrapping_add_signed(inner.bytes);
        }
        Some(())
    }

    fn unpack_row<T: Word>(&self, input: &[u8], elements: &mut [u8]) -> Option<()> {
        let mut words = [T::Row::default(); TILE];
        // Of a tile, for as many bits as a number has.
        let step = usize::try_from(self.precision).ok()? * (TILE / 8);
        for (number, elements) in elements.chunks_mut(TILE * self.size).enumerate() {
            let words = words.get_mut(..elements.len() / self.size)?;
            bulk::unpack(self.precision, input.get(number * step..)?, words);
            if self.offset > 0 {
                words.iter_mut().for_each(|word| *word = word.left(self.offset));
            }
            T::write(words, self.big_endian, elements);
        }
        Some(())
    }

    fn pack<T: Word>(&self, elements: &[u8], output: &mut [u8], place: Place) -> Option<()> {
        let Place { mut bit, mut at, inner } = place;
        for _ in 0..inner.count {
            let number = T::get(elements, at, self.big_endian)?.wide() >> self.offset;
            put_bits_at(output, bit, self.precision, number)?;
            bit += inner.bits;
            at = at.wrapping_add_signed(inner.bytes);
        }
        Some(())
    }

    fn pack_row<T: Word>(&self, elements: &[u8], count: usize, output: &mut Vec<u8>) {
        let mut words = [T::Row::default(); TILE];
        for (number, elements) in elements.chunks(TILE * self.size).enumerate() {
            let left = count.max(number * TILE) - number * TILE;
            let words = words.split_at_mut(left.min(elements.len() / self.size)).0;
            T::read(elements, self.big_endian, words);
            if self.offset > 0 {
                words.iter_mut().for_each(|word| *word = word.right(self.offset));
            }
            bulk::pack(self.precision, words, output);
        }
    }
}

impl Repeat {
    /// Whether `inner`, repeated so, is one row.
    fn is_row_of(self, inner: &Self) -> bool {
        let count = u64::try_from(inner.count).ok();
        let bits = count.and_then(|count| count.checked_mul(inner.bits));
        let bytes = isize::try_from(inner.count).ok().and_then(|count| count.checked_mul(inner.bytes));
        bits == Some(self.bits) && bytes == Some(self.bytes)
    }
}

/// Calls `each` for all combinations of `repeats`.
fn visit(repeats: &[Repeat], place: Place, each: &mut impl FnMut(Place) -> Option<()>) -> Option<()> {
    let Some((outer, rest)) = repeats.split_first() else { return each(place) };
    let mut place = place;
    for _ in 0..outer.count {
        visit(rest, place, each)?;
        place.bit += outer.bits;
        place.at = place.at.wrapping_add_signed(outer.bytes);
    }
    Some(())
}

/// The `count` bits, 1 to 64, or up to `NARROW`, that begin at `bit`.
#[inline]
fn bits_at<const IS_NARROW: bool>(bytes: &[u8], bit: u64, count: u32) -> Option<u64> {
    let rest = bytes.get(usize::try_from(bit / 8).ok()?..)?;
    let passed = bit % 8;
    let Some((window, after)) = rest.split_first_chunk() else { return bits_at_end(rest, passed, count) };
    let mut window = u64::from_be_bytes(*window) << passed;
    if !IS_NARROW && passed + u64::from(count) > 64 {
        window |= u64::from(*after.first()?) >> (8 - passed);
    }
    Some(window >> (64 - count))
}

/// [`bits_at`] with fewer than eight bytes left.
#[cold]
fn bits_at_end(rest: &[u8], passed: u64, count: u32) -> Option<u64> {
    if 8 * u64::try_from(rest.len()).ok()? < passed + u64::from(count) {
        return None;
    }
    let mut window = [0; 8];
    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    Some(u64::from_be_bytes(window) << passed >> (64 - count))
}

/// Makes the `count` bits, 1 to 64, that begin at `bit` and are 0, those of `number`. There are nine bytes from
/// there on.
#[inline]
fn put_bits_at(bytes: &mut [u8], bit: u64, count: u32, number: u64) -> Option<()> {
    let rest = bytes.get_mut(usize::try_from(bit / 8).ok()?..)?;
    let (window, after) = rest.split_first_chunk_mut()?;
    let (passed, value) = (bit % 8, number << (64 - count));
    *window = (u64::from_be_bytes(*window) | value >> passed).to_be_bytes();
    if passed + u64::from(count) > 64 {
        let [.., last] = (value << (8 - passed)).to_be_bytes();
        *after.first_mut()? |= last;
    }
    Some(())
}
