//! Atomic numeric classes: fixed-point, floating-point, time and bitfield.

/// Order of the bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    LittleEndian,
    /// Most significant byte first.
    BigEndian,
}

impl ByteOrder {
    /// The byte order of this machine.
    pub const NATIVE: Self =
        if cfg!(target_endian = "little") { Self::LittleEndian } else { Self::BigEndian };
}

/// Order of the bytes of a floating-point element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatOrder {
    /// Least significant byte first.
    LittleEndian,
    /// Most significant byte first.
    BigEndian,
    /// VAX mixed: 16-bit words, most significant word first, each with its low byte first.
    Vax,
}

/// The value of padding bits outside the precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// All zero.
    #[default]
    Zero,
    /// All one.
    One,
    /// Left as they are in the destination (in the model only; the message has one bit).
    Background,
}

/// The value of unused bits inside a floating-point number; the same choices as [`Padding`].
pub type InternalPadding = Padding;

/// An integer of any width, position and sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedPoint {
    /// Order of the bytes.
    pub order: ByteOrder,
    /// Two's complement if set.
    pub signed: bool,
    /// Bits before (below) the first significant bit.
    pub bit_offset: u16,
    /// Significant bits.
    pub precision: u16,
    /// Padding below the significant bits.
    pub low_pad: Padding,
    /// Padding above the significant bits.
    pub high_pad: Padding,
}

/// How the leading bit of a mantissa is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// The mantissa is not normalised.
    None,
    /// The most significant bit is always set and stored.
    MsbSet,
    /// The most significant bit is implied and not stored (IEEE 754).
    Implied,
}

/// A floating-point number of any layout. Bit positions count from bit 0 of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatingPoint {
    /// Order of the bytes.
    pub order: FloatOrder,
    /// Bits before (below) the first significant bit.
    pub bit_offset: u16,
    /// Significant bits.
    pub precision: u16,
    /// Position of the sign bit.
    pub sign_location: u8,
    /// Position of the exponent's lowest bit.
    pub exponent_location: u8,
    /// Bits of the exponent.
    pub exponent_size: u8,
    /// Position of the mantissa's lowest bit.
    pub mantissa_location: u8,
    /// Bits of the mantissa.
    pub mantissa_size: u8,
    /// Bias of the exponent.
    pub exponent_bias: u32,
    /// How the leading bit of the mantissa is stored.
    pub normalization: Normalization,
    /// Padding below the significant bits.
    pub low_pad: Padding,
    /// Padding above the significant bits.
    pub high_pad: Padding,
    /// Padding between the fields.
    pub internal_pad: InternalPadding,
}

/// Time (never fully defined by the format; kept as bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// Order of the bytes.
    pub order: ByteOrder,
    /// Significant bits.
    pub precision: u16,
}

/// A set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bitfield {
    /// Order of the bytes.
    pub order: ByteOrder,
    /// Bits before (below) the first significant bit.
    pub bit_offset: u16,
    /// Significant bits.
    pub precision: u16,
    /// Padding below the significant bits.
    pub low_pad: Padding,
    /// Padding above the significant bits.
    pub high_pad: Padding,
}
