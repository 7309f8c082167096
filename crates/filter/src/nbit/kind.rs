//! The element type in the client data of nbit.
//!
//! ```text
//! type      | values in the client data
//! ----------+---------------------------------------------------------------------------------
//! atomic    | 1, bytes, byte order (0 little-endian, 1 big-endian), precision and offset in bits
//! array     | 2, bytes, type of an element
//! compound  | 3, bytes, number of members, for each its offset in bytes and its type
//! opaque    | 4, bytes
//! ```

use hyperslab_datatype::{ByteOrder, Datatype, DatatypeClass};

#[cfg(test)]
use crate::bits::{BitReader, BitWriter};
use crate::facts::float_order;

const ATOMIC: u32 = 1;
const ARRAY: u32 = 2;
const COMPOUND: u32 = 3;
const OPAQUE: u32 = 4;

/// The maximum nesting depth of element types in the client data of the nbit filter.
const MAX_NESTING_DEPTH: u32 = 64;

/// The type of an element as the nbit filter describes it in the client data. All sizes are in
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NbitType {
    /// An integer or a floating-point number.
    Atomic {
        /// Size of the number.
        size: u32,
        /// True if the byte order is big-endian, false if little-endian.
        big_endian: bool,
        /// The number of used bits.
        precision: u32,
        /// The position of the lowest used bit.
        offset: u32,
    },
    /// Elements of one type, one after another.
    Array {
        /// Size of all elements together.
        size: u32,
        /// The type of one element.
        base: Box<NbitType>,
    },
    /// A compound of members with types of their own.
    Compound {
        /// Size of the compound.
        size: u32,
        /// The members.
        members: Vec<NbitMember>,
    },
    /// Any other type, of which all bits are used.
    Opaque {
        /// Size of the type.
        size: u32,
    },
}

/// A member of a compound element type in the description for the nbit filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NbitMember {
    /// The offset of the member's first byte.
    pub offset: u32,
    /// The type of the member.
    pub kind: NbitType,
}

type Parsed<T> = Result<T, &'static str>;

impl NbitType {
    /// Returns the description of a datatype for the nbit filter. libhdf5 computes the same
    /// description. Only integers and floating-point numbers can have unused bits, by themselves or
    /// in arrays and compounds.
    ///
    /// # Errors
    /// The datatype contains arrays of sequences, or numbers in the byte order of the VAX.
    pub fn of(datatype: &Datatype) -> Result<Self, &'static str> {
        let size = datatype.size;
        let atomic = |precision: u16, offset: u16, order: ByteOrder| Self::Atomic {
            size,
            big_endian: order == ByteOrder::BigEndian,
            precision: u32::from(precision),
            offset: u32::from(offset),
        };
        Ok(match &datatype.class {
            DatatypeClass::FixedPoint(number) => atomic(number.precision, number.bit_offset, number.order),
            DatatypeClass::FloatingPoint(number) => {
                let order = float_order(number.order).ok_or("the byte order of the VAX is not supported")?;
                atomic(number.precision, number.bit_offset, order)
            }
            DatatypeClass::Array(array) if matches!(array.base.class, DatatypeClass::VariableLength(_)) => {
                return Err("arrays of sequences or variable-length strings are not supported");
            }
            DatatypeClass::Array(array) => Self::Array { size, base: Box::new(Self::of(&array.base)?) },
            DatatypeClass::Compound(compound) => {
                let member = |member: &hyperslab_datatype::Member| {
                    Ok(NbitMember { offset: member.offset, kind: Self::of(&member.datatype)? })
                };
                Self::Compound { size, members: compound.members.iter().map(member).collect::<Parsed<_>>()? }
            }
            _ => Self::Opaque { size },
        })
    }

    /// Returns the size in bytes of a value of the nbit element type.
    pub fn size(&self) -> u32 {
        match self {
            Self::Atomic { size, .. }
            | Self::Array { size, .. }
            | Self::Compound { size, .. }
            | Self::Opaque { size } => *size,
        }
    }

    /// Returns the client data of the nbit filter for chunks of `elements` elements of one element
    /// type.
    pub fn client_data(&self, elements: u32) -> Vec<u32> {
        let mut data = vec![0, u32::from(self.is_full()), elements];
        self.append(&mut data);
        let count = u32::try_from(data.len()).unwrap_or(u32::MAX);
        if let Some(first) = data.first_mut() {
            *first = count;
        }
        data
    }

    /// Returns true if every number in an nbit element type uses all its bits. As in libhdf5, gaps
    /// between the members of a compound do not count.
    fn is_full(&self) -> bool {
        match self {
            Self::Atomic { size, precision, offset, .. } => {
                *offset == 0 && u64::from(*precision) == 8 * u64::from(*size)
            }
            Self::Array { base, .. } => base.is_full(),
            Self::Compound { members, .. } => members.iter().all(|member| member.kind.is_full()),
            Self::Opaque { .. } => true,
        }
    }

    fn append(&self, data: &mut Vec<u32>) {
        match self {
            Self::Atomic { size, big_endian, precision, offset } => {
                data.extend([ATOMIC, *size, u32::from(*big_endian), *precision, *offset]);
            }
            Self::Array { size, base } => {
                data.extend([ARRAY, *size]);
                base.append(data);
            }
            Self::Compound { size, members } => {
                data.extend([COMPOUND, *size, u32::try_from(members.len()).unwrap_or(u32::MAX)]);
                for member in members {
                    data.push(member.offset);
                    member.kind.append(data);
                }
            }
            Self::Opaque { size } => data.extend([OPAQUE, *size]),
        }
    }

    /// Parses an element type from the client data of the nbit filter. Sizes are not 0, and no part
    /// is larger than the type that contains it.
    pub(super) fn parse(data: &[u32]) -> Parsed<Self> {
        Parser { rest: data.iter() }.kind(0)
    }

    /// Returns the number of bits that the nbit filter stores for a value of the element type.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Self::Atomic { precision, .. } => u64::from(*precision),
            Self::Array { size, base } => match **base {
                Self::Opaque { .. } => 8 * u64::from(*size),
                _ => u64::from(size / base.size().max(1)) * base.bits(),
            },
            Self::Compound { members, .. } => members.iter().map(|member| member.kind.bits()).sum(),
            Self::Opaque { size } => 8 * u64::from(*size),
        }
    }

    /// Unpacks the bits of a value of the nbit filter into `value`. The bytes of `value` must be 0
    /// before. Tests compare the faster decoder with this simple one.
    #[cfg(test)]
    pub(super) fn unpack(&self, reader: &mut BitReader<'_>, value: &mut [u8]) -> Option<()> {
        match self {
            Self::Atomic { size: 1..=8, big_endian, precision, offset } => {
                let number = reader.get_wide(*precision)? << offset;
                if *big_endian {
                    let number = number.to_be_bytes();
                    value.copy_from_slice(number.get(8 - value.len()..)?);
                } else {
                    value.copy_from_slice(number.to_le_bytes().get(..value.len())?);
                }
            }
            Self::Atomic { big_endian, precision, offset, .. } => {
                return each_used_byte(
                    value.iter_mut(),
                    *big_endian,
                    *precision,
                    *offset,
                    |byte, low, count| reader.get(count).map(|bits| *byte |= (bits << low).to_le_bytes()[0]),
                );
            }
            Self::Array { base, .. } if !matches!(**base, Self::Opaque { .. }) => {
                let size = usize::try_from(base.size()).ok()?;
                for element in value.chunks_exact_mut(size) {
                    base.unpack(reader, element)?;
                }
            }
            Self::Compound { members, .. } => {
                for member in members {
                    member.kind.unpack(reader, value.get_mut(member.range()?)?)?;
                }
            }
            Self::Array { .. } | Self::Opaque { .. } => {
                for byte in value {
                    *byte = reader.get(8)?.to_le_bytes()[0];
                }
            }
        }
        Some(())
    }

    /// Appends the bits of a value of the nbit filter to `writer`. Tests compare the faster encoder
    /// with this simple one.
    #[cfg(test)]
    pub(super) fn pack(&self, writer: &mut BitWriter<'_>, value: &[u8]) {
        match self {
            Self::Atomic { size: 1..=8, big_endian, precision, offset } => {
                let mut number = [0; 8];
                let number = if *big_endian {
                    number.iter_mut().rev().zip(value.iter().rev()).for_each(|(to, from)| *to = *from);
                    u64::from_be_bytes(number)
                } else {
                    number.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
                    u64::from_le_bytes(number)
                };
                writer.put_wide(number >> offset, *precision);
            }
            Self::Atomic { big_endian, precision, offset, .. } => {
                let put = |byte: &u8, low, count| {
                    writer.put(u32::from(*byte) >> low, count);
                    Some(())
                };
                each_used_byte(value.iter(), *big_endian, *precision, *offset, put);
            }
            Self::Array { base, .. } if !matches!(**base, Self::Opaque { .. }) => {
                value.chunks_exact(base.size() as usize).for_each(|element| base.pack(writer, element));
            }
            Self::Compound { members, .. } => {
                for member in members {
                    if let Some(part) = member.range().and_then(|range| value.get(range)) {
                        member.kind.pack(writer, part);
                    }
                }
            }
            Self::Array { .. } | Self::Opaque { .. } => {
                value.iter().for_each(|byte| writer.put(u32::from(*byte), 8));
            }
        }
    }
}

#[cfg(test)]
impl NbitMember {
    fn range(&self) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(self.offset).ok()?;
        Some(start..start.checked_add(usize::try_from(self.kind.size()).ok()?)?)
    }
}

#[cfg(test)]
/// Calls `each` for each byte of a number that the nbit filter stores, the most significant byte
/// first. The arguments are the byte, the position of its lowest used bit, and the number of its
/// used bits.
fn each_used_byte<T>(
    bytes: impl DoubleEndedIterator<Item = T> + ExactSizeIterator,
    big_endian: bool,
    precision: u32,
    offset: u32,
    mut each: impl FnMut(T, u32, u32) -> Option<()>,
) -> Option<()> {
    let end = u64::from(offset) + u64::from(precision);
    let mut visit = |(index, byte): (u64, T)| {
        let low = u64::from(offset).saturating_sub(8 * index).min(8);
        let high = end.saturating_sub(8 * index).min(8);
        let (low, high) = (u32::try_from(low).ok()?, u32::try_from(high).ok()?);
        if low < high { each(byte, low, high - low) } else { Some(()) }
    };
    let size = u64::try_from(bytes.len()).ok()?;
    if big_endian {
        (0..size).rev().zip(bytes).try_for_each(&mut visit)
    } else {
        (0..size).rev().zip(bytes.rev()).try_for_each(&mut visit)
    }
}

struct Parser<'a> {
    rest: std::slice::Iter<'a, u32>,
}

impl Parser<'_> {
    fn next(&mut self) -> Parsed<u32> {
        self.rest.next().copied().ok_or("the client data end within a type")
    }

    fn kind(&mut self, depth: u32) -> Parsed<NbitType> {
        if depth > MAX_NESTING_DEPTH {
            return Err("the types in the client data are nested too deeply");
        }
        let class = self.next()?;
        let size = self.next()?;
        if size == 0 {
            return Err("a type in the client data has 0 bytes");
        }
        match class {
            ATOMIC => self.atomic(size),
            ARRAY => {
                let base = Box::new(self.kind(depth + 1)?);
                if base.size() > size {
                    return Err("an array in the client data is smaller than its element type");
                }
                Ok(NbitType::Array { size, base })
            }
            COMPOUND => self.compound(size, depth),
            OPAQUE => Ok(NbitType::Opaque { size }),
            _ => Err("the class of a type in the client data is unknown"),
        }
    }

    fn atomic(&mut self, size: u32) -> Parsed<NbitType> {
        let big_endian = match self.next()? {
            0 => false,
            1 => true,
            _ => return Err("the byte order of a number in the client data is unknown"),
        };
        let (precision, offset) = (self.next()?, self.next()?);
        if precision == 0 || u64::from(precision) + u64::from(offset) > 8 * u64::from(size) {
            return Err("a number in the client data uses no bits, or bits beyond its size");
        }
        Ok(NbitType::Atomic { size, big_endian, precision, offset })
    }

    fn compound(&mut self, size: u32, depth: u32) -> Parsed<NbitType> {
        let count = self.next()?;
        if count == 0 {
            return Err("a compound in the client data has no members");
        }
        let (mut members, mut used) = (Vec::new(), 0_u64);
        for _ in 0..count {
            let offset = self.next()?;
            let kind = self.kind(depth + 1)?;
            used += u64::from(kind.size());
            if used > u64::from(size) || u64::from(offset) + u64::from(kind.size()) > u64::from(size) {
                return Err("the members of a compound in the client data exceed its size");
            }
            members.push(NbitMember { offset, kind });
        }
        Ok(NbitType::Compound { size, members })
    }
}
