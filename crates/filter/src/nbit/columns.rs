//! Decomposition of an element type into columns. A column is a number of the element type: its
//! values have a constant distance both in the chunk and in the encoded bits. The filter processes
//! one column at a time, for a batch of elements that stays in the first-level cache.

use crate::bits::bulk::{self, GROUP_WORDS, Short, TILE_WORDS, Word};

use super::{NbitMember, NbitType};

/// The size in bytes of a batch of elements in the decoder of the nbit filter. The decoder handles
/// all columns (numbers of the element type) of one batch before the next batch.
const BATCH_BYTES: usize = 16 << 10;

/// The number of padding bytes after the output of the nbit encoder. The encoder writes windows of
/// 64 bits, which may extend past the last bit.
const PADDING_BYTES: usize = 16;

/// The maximum number of bits of an nbit value for reads of eight bytes. Shorter values always fit
/// in eight bytes, even if they begin inside a byte.
const MAX_NARROW_BITS: u32 = 57;

/// A repetition of values that the nbit filter encodes: a series at constant distances, such as the
/// items of an array or the elements of a chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Repeat {
    count: usize,
    /// The distance between two values in the encoded bits.
    bits: u64,
    /// The distance in bytes between two values in the chunk.
    bytes: isize,
}

/// A column of the nbit filter: all values of one number in the element type. An array of numbers
/// is also one column.
#[derive(Debug)]
struct Column {
    /// Bytes of the number, 1 to 8.
    size: usize,
    big_endian: bool,
    precision: u32,
    /// The position of the lowest used bit.
    offset: u32,
    /// The bit position of the first value in the encoded bits of an element.
    bit: u64,
    /// The offset of the first value in the bytes of an element.
    at: usize,
    /// The repetitions within one element, outermost first.
    repeats: Vec<Repeat>,
}

/// The columns of an element type of the nbit filter. A column holds all values of one number in
/// the element type.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    bits: u64,
    bytes: usize,
}

/// The position of a series of values of the nbit filter: its start in the encoded bits, its start
/// in the elements, and the constant distances of its values.
#[derive(Debug, Clone, Copy)]
struct Position {
    bit: u64,
    at: usize,
    inner: Repeat,
}

impl Columns {
    pub(super) fn new(kind: &NbitType) -> Self {
        let bytes = kind.size() as usize;
        let mut columns = Self { columns: Vec::new(), bits: kind.bits(), bytes };
        columns.add(kind, 0, 0, &mut Vec::new());
        columns
    }

    /// Adds columns of the nbit filter for the numbers in a type. The type is the element type of
    /// the dataset or a part of it.
    fn add(&mut self, kind: &NbitType, bit: u64, at: usize, repeats: &mut Vec<Repeat>) {
        match kind {
            NbitType::Atomic { size: size @ 1..=8, big_endian, precision, offset } => {
                let size = *size as usize;
                self.push(size, *big_endian, (*precision, *offset), (bit, at), repeats.clone());
            }
            NbitType::Atomic { size, big_endian, precision, offset } => {
                self.add_long(*size, *big_endian, (*precision, *offset), (bit, at), repeats);
            }
            NbitType::Opaque { size } => self.add_bytes(*size, bit, at, repeats),
            NbitType::Array { size, base } => {
                if let NbitType::Opaque { .. } = **base {
                    return self.add_bytes(*size, bit, at, repeats);
                }
                let count = (size / base.size().max(1)) as usize;
                let bytes = (base.size() as usize).cast_signed();
                repeats.push(Repeat { count, bits: base.bits(), bytes });
                self.add(base, bit, at, repeats);
                repeats.pop();
            }
            NbitType::Compound { members, .. } => {
                let mut bit = bit;
                for NbitMember { offset, kind } in members {
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

    /// Adds columns of the nbit filter for bytes that are stored completely: one column of
    /// eight-byte words, and columns of single bytes for the rest.
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

    /// Adds columns of the nbit filter for a number of more than eight bytes, byte by byte: the
    /// highest used byte, the bytes that are used completely, and the lowest used byte.
    fn add_long(
        &mut self,
        size: u32,
        big_endian: bool,
        (precision, offset): (u32, u32),
        (bit, at): (u64, usize),
        repeats: &[Repeat],
    ) {
        let (size, low, end) = (u64::from(size), u64::from(offset), u64::from(offset) + u64::from(precision));
        // The index of the byte with this rank; the lowest byte has rank 0. A number has fewer than
        // 2^32 bytes.
        let index = |rank: u64| if big_endian { size - 1 - rank } else { rank };
        let at_rank = |rank| at + index(rank).min(0xffff_ffff) as usize;
        let mut top = end;
        while top > low {
            let rank = (top - 1) / 8;
            let whole = if top % 8 == 0 { (top - low) / 8 } else { 0 };
            let bottom = if whole > 0 { top - 8 * whole } else { low.max(8 * rank) };
            let bit = bit + (end - top);
            if whole > 0 {
                let count = whole.min(0xffff_ffff) as usize;
                let last = Repeat { count, bits: 8, bytes: if big_endian { 1 } else { -1 } };
                let repeats = repeats.iter().copied().chain([last]).collect();
                self.push(1, true, (8, 0), (bit, at_rank(rank)), repeats);
            } else {
                let small = |bits: u64| bits.min(8) as u32;
                let used = (small(top - bottom), small(bottom - 8 * rank));
                self.push(1, true, used, (bit, at_rank(rank)), repeats.to_vec());
            }
            top = bottom;
        }
    }

    /// Returns the size in bytes of a batch of elements for the nbit filter. The encoded bits of a
    /// batch fill whole bytes. If the element type has only one column (number), one batch has all
    /// elements.
    fn batch(&self) -> usize {
        if self.columns.len() == 1 {
            usize::MAX
        } else {
            (BATCH_BYTES / self.bytes.max(1)).max(1).next_multiple_of(GROUP_WORDS) * self.bytes
        }
    }

    /// Decodes the bits `input` with the nbit filter to whole elements. Returns [`None`] if `input`
    /// is too short.
    pub(super) fn decode(&self, input: &[u8], elements: &mut [u8]) -> Option<()> {
        let batch = self.batch();
        let mut bit = 0;
        for elements in elements.chunks_mut(batch) {
            if !self.covers_all() {
                elements.fill(0);
            }
            let count = elements.len() / self.bytes;
            for column in &self.columns {
                column.each_position(self, bit, count, |position| match column.size {
                    1 => column.unpack::<u8>(input, elements, position),
                    2 => column.unpack::<u16>(input, elements, position),
                    3 => column.unpack::<Short<3>>(input, elements, position),
                    4 => column.unpack::<u32>(input, elements, position),
                    5 => column.unpack::<Short<5>>(input, elements, position),
                    6 => column.unpack::<Short<6>>(input, elements, position),
                    7 => column.unpack::<Short<7>>(input, elements, position),
                    _ => column.unpack::<u64>(input, elements, position),
                })?;
            }
            bit += self.bits * u64::try_from(count).ok()?;
        }
        Some(())
    }

    /// Encodes whole elements with the nbit filter. Replaces the content of `output` by the encoded
    /// bits, and pads it with zeros to `length` bytes.
    pub(super) fn encode(&self, elements: &[u8], length: usize, output: &mut Vec<u8>) -> Option<()> {
        output.clear();
        if let [column] = self.columns.as_slice()
            && let Some(position) = column.sole_position(self, elements.len() / self.bytes)
        {
            match column.size {
                1 => column.pack_row::<u8>(elements, position.inner.count, output),
                2 => column.pack_row::<u16>(elements, position.inner.count, output),
                3 => column.pack_row::<Short<3>>(elements, position.inner.count, output),
                4 => column.pack_row::<u32>(elements, position.inner.count, output),
                5 => column.pack_row::<Short<5>>(elements, position.inner.count, output),
                6 => column.pack_row::<Short<6>>(elements, position.inner.count, output),
                7 => column.pack_row::<Short<7>>(elements, position.inner.count, output),
                _ => column.pack_row::<u64>(elements, position.inner.count, output),
            }
            output.resize(length, 0);
            return Some(());
        }
        output.resize(length.checked_add(PADDING_BYTES)?, 0);
        let mut bit = 0;
        for elements in elements.chunks(self.batch()) {
            let count = elements.len() / self.bytes;
            for column in &self.columns {
                column.each_position(self, bit, count, |position| match column.size {
                    1 => column.pack::<u8>(elements, output, position),
                    2 => column.pack::<u16>(elements, output, position),
                    3 => column.pack::<Short<3>>(elements, output, position),
                    4 => column.pack::<u32>(elements, output, position),
                    5 => column.pack::<Short<5>>(elements, output, position),
                    6 => column.pack::<Short<6>>(elements, output, position),
                    7 => column.pack::<Short<7>>(elements, output, position),
                    _ => column.pack::<u64>(elements, output, position),
                })?;
            }
            bit += self.bits * u64::try_from(count).ok()?;
        }
        output.truncate(length);
        Some(())
    }

    /// Returns true if an nbit element type has only one column (number), and this column covers
    /// every byte of an element. Returns false for several columns, even if they cover all bytes.
    fn covers_all(&self) -> bool {
        matches!(self.columns.as_slice(), [column]
            if self.bytes == column.repeats.iter().map(|repeat| repeat.count).product::<usize>() * column.size)
    }
}

impl Column {
    /// Returns the nested loops over the values of an nbit column, outermost first. An nbit column
    /// is the same field of all `count` elements. Neighbouring loops without gaps between their
    /// values become one loop.
    fn repeats(&self, columns: &Columns, count: usize) -> Vec<Repeat> {
        let bytes = columns.bytes.cast_signed();
        let mut joined: Vec<Repeat> = Vec::new();
        let elements = Repeat { count, bits: columns.bits, bytes };
        for repeat in std::iter::once(&elements).chain(&self.repeats) {
            match joined.last_mut() {
                Some(outer) if outer.is_contiguous_with(repeat) => {
                    *outer = Repeat { count: outer.count * repeat.count, ..*repeat };
                }
                _ => joined.push(*repeat),
            }
        }
        joined
    }

    /// Calls `each` with all positions of an nbit column's values in `count` elements. The encoded
    /// bits of these elements begin at `bit`.
    fn each_position(
        &self,
        columns: &Columns,
        bit: u64,
        count: usize,
        mut each: impl FnMut(Position) -> Option<()>,
    ) -> Option<()> {
        let mut repeats = self.repeats(columns, count);
        let longest = (0..repeats.len()).max_by_key(|at| repeats.get(*at).map(|repeat| repeat.count))?;
        let inner = repeats.remove(longest);
        visit(&repeats, Position { bit: bit + self.bit, at: self.at, inner }, &mut each)
    }

    /// Returns the position of the values of an nbit column (one number of the element type) if
    /// they form a single series without gaps. Returns `None` for other columns.
    fn sole_position(&self, columns: &Columns, count: usize) -> Option<Position> {
        match self.repeats(columns, count).as_slice() {
            [inner] if self.at == 0 && self.is_row(*inner) => Some(Position { bit: 0, at: 0, inner: *inner }),
            _ => None,
        }
    }

    /// Returns true if a series of values of the nbit filter is a row: it has no gaps, neither in
    /// the encoded bits nor in the elements.
    fn is_row(&self, repeat: Repeat) -> bool {
        repeat.bits == u64::from(self.precision) && isize::try_from(self.size) == Ok(repeat.bytes)
    }

    fn unpack<T: Word>(&self, input: &[u8], elements: &mut [u8], position: Position) -> Option<()> {
        let Position { bit, at, inner } = position;
        if self.is_row(inner) && bit.is_multiple_of(8) {
            let input = input.get(usize::try_from(bit / 8).ok()?..)?;
            let end = at.checked_add(inner.count.checked_mul(self.size)?)?;
            return self.unpack_row::<T>(input, elements.get_mut(at..end)?);
        }
        if self.precision <= MAX_NARROW_BITS {
            self.unpack_strided::<T, true>(input, elements, position)
        } else {
            self.unpack_strided::<T, false>(input, elements, position)
        }
    }

    fn unpack_strided<T: Word, const IS_NARROW: bool>(
        &self,
        input: &[u8],
        elements: &mut [u8],
        position: Position,
    ) -> Option<()> {
        let Position { mut bit, mut at, inner } = position;
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
        let mut words = [T::Row::default(); TILE_WORDS];
        // The number of encoded bytes of a tile.
        let step = usize::try_from(self.precision).ok()? * (TILE_WORDS / 8);
        for (number, elements) in elements.chunks_mut(TILE_WORDS * self.size).enumerate() {
            let words = words.get_mut(..elements.len() / self.size)?;
            bulk::unpack(self.precision, input.get(number * step..)?, words);
            if self.offset > 0 {
                words.iter_mut().for_each(|word| *word = word.left(self.offset));
            }
            T::write(words, self.big_endian, elements);
        }
        Some(())
    }

    fn pack<T: Word>(&self, elements: &[u8], output: &mut [u8], position: Position) -> Option<()> {
        let Position { mut bit, mut at, inner } = position;
        for _ in 0..inner.count {
            let number = T::get(elements, at, self.big_endian)?.wide() >> self.offset;
            put_bits_at(output, bit, self.precision, number)?;
            bit += inner.bits;
            at = at.wrapping_add_signed(inner.bytes);
        }
        Some(())
    }

    fn pack_row<T: Word>(&self, elements: &[u8], count: usize, output: &mut Vec<u8>) {
        let mut words = [T::Row::default(); TILE_WORDS];
        for (number, elements) in elements.chunks(TILE_WORDS * self.size).enumerate() {
            let remaining = count.max(number * TILE_WORDS) - number * TILE_WORDS;
            let words = words.split_at_mut(remaining.min(elements.len() / self.size)).0;
            T::read(elements, self.big_endian, words);
            if self.offset > 0 {
                words.iter_mut().for_each(|word| *word = word.right(self.offset));
            }
            bulk::pack(self.precision, words, output);
        }
    }
}

impl Repeat {
    /// Returns true if an outer series of values of the nbit filter is contiguous with its inner
    /// series. Then no gap lies between one inner series and the next.
    fn is_contiguous_with(self, inner: &Self) -> bool {
        let count = u64::try_from(inner.count).ok();
        let bits = count.and_then(|count| count.checked_mul(inner.bits));
        let bytes = isize::try_from(inner.count).ok().and_then(|count| count.checked_mul(inner.bytes));
        bits == Some(self.bits) && bytes == Some(self.bytes)
    }
}

/// Calls `each` with the positions of all values of one number in the nbit filter's element type.
/// `repeats` are nested series of values, such as elements and array items.
fn visit(
    repeats: &[Repeat],
    position: Position,
    each: &mut impl FnMut(Position) -> Option<()>,
) -> Option<()> {
    let Some((outer, rest)) = repeats.split_first() else { return each(position) };
    let mut position = position;
    for _ in 0..outer.count {
        visit(rest, position, each)?;
        position.bit += outer.bits;
        position.at = position.at.wrapping_add_signed(outer.bytes);
    }
    Some(())
}

/// Reads `count` bits of nbit input at the bit position `bit`. `count` is at least 1. For a narrow
/// read (eight bytes), `count` is at most `MAX_NARROW_BITS`, otherwise at most 64.
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

/// Reads `count` bits of nbit input if fewer than eight bytes remain. Implements [`bits_at`] for
/// the end of the input.
#[cold]
fn bits_at_end(rest: &[u8], passed: u64, count: u32) -> Option<u64> {
    if 8 * u64::try_from(rest.len()).ok()? < passed + u64::from(count) {
        return None;
    }
    let mut window = [0; 8];
    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    Some(u64::from_be_bytes(window) << passed >> (64 - count))
}

/// Writes the `count` (1 to 64) low bits of `number` to nbit output at the bit position `bit`. The
/// output bits must be 0 before, and at least nine bytes must follow.
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
