//! The atomic numeric classes: fixed-point numbers, floating-point numbers, times and bit fields.

/// The order of the bytes of a number in an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte comes first.
    LittleEndian,
    /// The most significant byte comes first.
    BigEndian,
}

impl ByteOrder {
    /// The byte order of numbers on this machine.
    pub const NATIVE: Self =
        if cfg!(target_endian = "little") { Self::LittleEndian } else { Self::BigEndian };
}

/// The order of the bytes of a floating-point number in an element, including the order of the VAX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatOrder {
    /// The least significant byte comes first.
    LittleEndian,
    /// The most significant byte comes first.
    BigEndian,
    /// The VAX order: 16-bit words, the most significant word first, each with its low byte first.
    Vax,
}

/// The value of the padding bits of an element. Padding bits lie outside of the number's precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// All padding bits are zero.
    #[default]
    Zero,
    /// All padding bits are one.
    One,
    /// A conversion does not change the padding bits of the destination. Files cannot store this
    /// value.
    Background,
}

/// The value of the unused bits inside a floating-point number, as one of the values of
/// [`Padding`].
pub type InternalPadding = Padding;

/// An integer datatype of any width, bit position and sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedPoint {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// True for signed integers in two's complement.
    pub signed: bool,
    /// The number of bits below the first significant bit.
    pub bit_offset: u16,
    /// The number of significant bits.
    pub precision: u16,
    /// The padding below the significant bits.
    pub low_pad: Padding,
    /// The padding above the significant bits.
    pub high_pad: Padding,
}

/// The normalization of a floating-point datatype's mantissa: it states whether and how an element
/// stores the leading bit of the mantissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// The mantissa is not normalized.
    None,
    /// The most significant bit is always 1, and stored.
    MsbSet,
    /// The most significant bit is always 1, and not stored (IEEE 754).
    Implied,
}

/// A floating-point datatype of any layout: the positions of sign, exponent and mantissa. Bit
/// positions count from bit 0 of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatingPoint {
    /// The order of the bytes.
    pub order: FloatOrder,
    /// The number of bits below the first significant bit.
    pub bit_offset: u16,
    /// The number of significant bits.
    pub precision: u16,
    /// The position of the sign bit.
    pub sign_location: u8,
    /// The position of the lowest bit of the exponent.
    pub exponent_location: u8,
    /// The number of bits of the exponent.
    pub exponent_size: u8,
    /// The position of the lowest bit of the mantissa.
    pub mantissa_location: u8,
    /// The number of bits of the mantissa.
    pub mantissa_size: u8,
    /// The bias of the exponent.
    pub exponent_bias: u32,
    /// The storage of the leading bit of the mantissa.
    pub normalization: Normalization,
    /// The padding below the significant bits.
    pub low_pad: Padding,
    /// The padding above the significant bits.
    pub high_pad: Padding,
    /// The padding between the fields.
    pub internal_pad: InternalPadding,
}

/// A datatype of times. The format never defined the class completely, so conversions do not
/// interpret it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// The number of significant bits.
    pub precision: u16,
}

/// A bit field datatype: each element is a set of bits without a numeric interpretation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bitfield {
    /// The order of the bytes.
    pub order: ByteOrder,
    /// The number of bits below the first significant bit.
    pub bit_offset: u16,
    /// The number of significant bits.
    pub precision: u16,
    /// The padding below the significant bits.
    pub low_pad: Padding,
    /// The padding above the significant bits.
    pub high_pad: Padding,
}
