//! Constructors of common datatypes: numbers, strings, booleans and composite types.

use crate::{
    Array, Bitfield, ByteOrder, CharacterSet, Complex, Compound, Datatype, DatatypeClass, Enumeration,
    EnumerationMember, FixedPoint, FixedString, FloatOrder, FloatingPoint, Member, Normalization, Opaque,
    Padding, Reference, ReferenceKind, StringPadding, VariableLength, VariableLengthKind,
};

/// The sizes of the parts of a floating-point number in bits, and the exponent bias. The sign is
/// the highest bit, the exponent follows, and the mantissa has the lowest bits.
struct FloatLayout {
    bits: u16,
    exponent_size: u8,
    mantissa_size: u8,
    bias: u32,
}

impl FloatLayout {
    const F16: Self = Self { bits: 16, exponent_size: 5, mantissa_size: 10, bias: 15 };
    const BF16: Self = Self { bits: 16, exponent_size: 8, mantissa_size: 7, bias: 127 };
    const F32: Self = Self { bits: 32, exponent_size: 8, mantissa_size: 23, bias: 127 };
    const F64: Self = Self { bits: 64, exponent_size: 11, mantissa_size: 52, bias: 1023 };
    const F128: Self = Self { bits: 128, exponent_size: 15, mantissa_size: 112, bias: 16383 };
    const F8E4M3: Self = Self { bits: 8, exponent_size: 4, mantissa_size: 3, bias: 7 };
    const F8E5M2: Self = Self { bits: 8, exponent_size: 5, mantissa_size: 2, bias: 15 };

    fn datatype(self, order: FloatOrder) -> Datatype {
        let float = FloatingPoint {
            order,
            bit_offset: 0,
            precision: self.bits,
            sign_location: self.mantissa_size + self.exponent_size,
            exponent_location: self.mantissa_size,
            exponent_size: self.exponent_size,
            mantissa_location: 0,
            mantissa_size: self.mantissa_size,
            exponent_bias: self.bias,
            normalization: Normalization::Implied,
            low_pad: Padding::Zero,
            high_pad: Padding::Zero,
            internal_pad: Padding::Zero,
        };
        Datatype { size: u32::from(self.bits / 8), class: DatatypeClass::FloatingPoint(float) }
    }
}

impl From<ByteOrder> for FloatOrder {
    fn from(order: ByteOrder) -> Self {
        match order {
            ByteOrder::LittleEndian => Self::LittleEndian,
            ByteOrder::BigEndian => Self::BigEndian,
        }
    }
}

/// Numbers. With the byte order [`ByteOrder::NATIVE`] they have the layout of this machine's
/// memory.
impl Datatype {
    /// Returns the datatype of integers of `bytes` bytes (1 to 8191) whose bits are all
    /// significant.
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder, Datatype};
    /// assert_eq!(Datatype::integer(4, true, ByteOrder::BigEndian).to_string(), "i32be");
    /// ```
    ///
    /// The number of bits saturates at 65535.
    pub fn integer(bytes: u16, signed: bool, order: ByteOrder) -> Self {
        let fixed = FixedPoint {
            order,
            signed,
            bit_offset: 0,
            precision: bytes.saturating_mul(8),
            low_pad: Padding::Zero,
            high_pad: Padding::Zero,
        };
        Self { size: u32::from(bytes), class: DatatypeClass::FixedPoint(fixed) }
    }

    /// Returns the datatype of 8-bit unsigned integers.
    pub fn u8() -> Self {
        Self::integer(1, false, ByteOrder::NATIVE)
    }

    /// Returns the datatype of 8-bit signed integers.
    pub fn i8() -> Self {
        Self::integer(1, true, ByteOrder::NATIVE)
    }

    /// Returns the datatype of 16-bit unsigned integers in the byte order `order`.
    pub fn u16(order: ByteOrder) -> Self {
        Self::integer(2, false, order)
    }

    /// Returns the datatype of 16-bit signed integers in the byte order `order`.
    pub fn i16(order: ByteOrder) -> Self {
        Self::integer(2, true, order)
    }

    /// Returns the datatype of 32-bit unsigned integers in the byte order `order`.
    pub fn u32(order: ByteOrder) -> Self {
        Self::integer(4, false, order)
    }

    /// Returns the datatype of 32-bit signed integers in the byte order `order`.
    pub fn i32(order: ByteOrder) -> Self {
        Self::integer(4, true, order)
    }

    /// Returns the datatype of 64-bit unsigned integers in the byte order `order`.
    pub fn u64(order: ByteOrder) -> Self {
        Self::integer(8, false, order)
    }

    /// Returns the datatype of 64-bit signed integers in the byte order `order`.
    pub fn i64(order: ByteOrder) -> Self {
        Self::integer(8, true, order)
    }

    /// Returns the datatype of half-precision floating-point numbers of IEEE 754.
    pub fn f16(order: ByteOrder) -> Self {
        FloatLayout::F16.datatype(order.into())
    }

    /// Returns the datatype of bfloat16 numbers: the upper half of a single-precision number.
    pub fn bf16(order: ByteOrder) -> Self {
        FloatLayout::BF16.datatype(order.into())
    }

    /// Returns the datatype of single-precision floating-point numbers of IEEE 754.
    pub fn f32(order: ByteOrder) -> Self {
        FloatLayout::F32.datatype(order.into())
    }

    /// Returns the datatype of double-precision floating-point numbers of IEEE 754.
    pub fn f64(order: ByteOrder) -> Self {
        FloatLayout::F64.datatype(order.into())
    }

    /// Returns the datatype of quadruple-precision floating-point numbers of IEEE 754.
    pub fn f128(order: ByteOrder) -> Self {
        FloatLayout::F128.datatype(order.into())
    }

    /// Returns the datatype of 8-bit floating-point numbers with a 4-bit exponent, interpreted like
    /// IEEE 754 numbers (with infinities).
    pub fn f8_e4m3() -> Self {
        FloatLayout::F8E4M3.datatype(FloatOrder::LittleEndian)
    }

    /// Returns the datatype of 8-bit floating-point numbers with a 5-bit exponent, interpreted like
    /// IEEE 754 numbers.
    pub fn f8_e5m2() -> Self {
        FloatLayout::F8E5M2.datatype(FloatOrder::LittleEndian)
    }

    /// Returns the datatype of 80-bit extended-precision numbers of the x87 processor,
    /// little-endian, in `bytes` bytes (usually 10, 12 or 16).
    pub fn x87(bytes: u32) -> Self {
        let mut datatype = FloatLayout { bits: 80, exponent_size: 15, mantissa_size: 64, bias: 16383 }
            .datatype(FloatOrder::LittleEndian);
        if let DatatypeClass::FloatingPoint(float) = &mut datatype.class {
            // The leading bit is stored and may be 0. libhdf5 describes its `long double` in the
            // same way.
            float.normalization = Normalization::None;
        }
        Self { size: bytes, ..datatype }
    }

    /// Returns the datatype of VAX F floating-point numbers (4 bytes).
    pub fn vax_f32() -> Self {
        FloatLayout { bias: 129, ..FloatLayout::F32 }.datatype(FloatOrder::Vax)
    }

    /// Returns the datatype of VAX G floating-point numbers (8 bytes).
    pub fn vax_f64() -> Self {
        FloatLayout { bias: 1025, ..FloatLayout::F64 }.datatype(FloatOrder::Vax)
    }

    /// Returns the datatype of bit fields of `bytes` bytes. The bit field consists of all bits of
    /// an element, but of at most 65535 bits.
    pub fn bitfield(bytes: u16, order: ByteOrder) -> Self {
        let bits = Bitfield {
            order,
            bit_offset: 0,
            precision: bytes.saturating_mul(8),
            low_pad: Padding::Zero,
            high_pad: Padding::Zero,
        };
        Self { size: u32::from(bytes), class: DatatypeClass::Bitfield(bits) }
    }

    /// Returns the datatype of booleans as h5py writes them: an enumeration of an 8-bit integer
    /// with FALSE = 0 and TRUE = 1.
    pub fn bool() -> Self {
        let member = |name: &[u8], value| EnumerationMember { name: name.to_vec(), value: vec![value] };
        let members = vec![member(b"FALSE", 0), member(b"TRUE", 1)];
        Self::enumeration(Self::integer(1, true, ByteOrder::LittleEndian), members)
    }

    /// Returns a complex datatype with two parts of the datatype `base`. Libraries before HDF5 2.0
    /// cannot read this class. Element sizes above 2^32 - 1 bytes are reduced to this number.
    pub fn complex(base: Self) -> Self {
        let size = base.size.saturating_mul(2);
        Self { size, class: DatatypeClass::Complex(Complex { base: Box::new(base) }) }
    }

    /// Returns the datatype of complex numbers as a compound of the members `r` and `i`. Every
    /// library can read the compound, and h5py interprets it as a complex number. Element sizes
    /// above 2^32 - 1 bytes are reduced to this number.
    pub fn complex_compound(base: Self) -> Self {
        let size = base.size;
        let members = vec![
            Member { name: b"r".to_vec(), offset: 0, datatype: base.clone() },
            Member { name: b"i".to_vec(), offset: size, datatype: base },
        ];
        Self::compound(size.saturating_mul(2), members)
    }
}

/// Text, references and composites.
impl Datatype {
    /// Returns the datatype of fixed-length strings of `bytes` bytes.
    pub fn fixed_string(bytes: u32, padding: StringPadding, charset: CharacterSet) -> Self {
        Self { size: bytes, class: DatatypeClass::String(FixedString { padding, charset }) }
    }

    /// Returns the datatype of null-terminated strings of variable length, in a file with addresses
    /// of `size_of_offsets` bytes.
    pub fn variable_string(charset: CharacterSet, size_of_offsets: u8) -> Self {
        let kind = VariableLengthKind::String { padding: StringPadding::NullTerminated, charset };
        let base = Box::new(Self::integer(1, false, ByteOrder::LittleEndian));
        let class = DatatypeClass::VariableLength(VariableLength { kind, base });
        Self { size: heap_element_size(size_of_offsets), class }
    }

    /// Returns the datatype of variable-length sequences in a file with addresses of
    /// `size_of_offsets` bytes. The items have the datatype `base`.
    pub fn sequence(base: Self, size_of_offsets: u8) -> Self {
        let class = DatatypeClass::VariableLength(VariableLength {
            kind: VariableLengthKind::Sequence,
            base: Box::new(base),
        });
        Self { size: heap_element_size(size_of_offsets), class }
    }

    /// Returns an opaque datatype of `bytes` bytes with the tag `tag`.
    pub fn opaque(bytes: u32, tag: impl Into<Vec<u8>>) -> Self {
        Self { size: bytes, class: DatatypeClass::Opaque(Opaque { tag: tag.into() }) }
    }

    /// Returns the datatype of references to objects: an element is an object's address of
    /// `size_of_offsets` bytes.
    pub fn object_reference(size_of_offsets: u8) -> Self {
        let reference = Reference { kind: ReferenceKind::Object1, version: 0 };
        Self { size: u32::from(size_of_offsets), class: DatatypeClass::Reference(reference) }
    }

    /// Returns the datatype of references to a region of a dataset, in a file with addresses of
    /// `size_of_offsets` bytes.
    pub fn region_reference(size_of_offsets: u8) -> Self {
        let reference = Reference { kind: ReferenceKind::DatasetRegion1, version: 0 };
        let size = u32::from(size_of_offsets) + 4;
        Self { size, class: DatatypeClass::Reference(reference) }
    }

    /// Returns a compound datatype of `size` bytes with the members `members`.
    pub fn compound(size: u32, members: Vec<Member>) -> Self {
        Self { size, class: DatatypeClass::Compound(Compound { members }) }
    }

    /// Returns a compound datatype whose members follow one another without gaps. Element sizes
    /// above 2^32 - 1 bytes are reduced to this number.
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// let members = [("x", Datatype::f32(LittleEndian)), ("y", Datatype::f64(LittleEndian))];
    /// let point = Datatype::packed(members);
    /// assert_eq!(point.size, 12);
    /// assert_eq!(point.to_string(), "compound { x: f32, y: f64 }");
    /// ```
    pub fn packed<N: Into<Vec<u8>>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        let mut size = 0_u32;
        let mut placed = Vec::new();
        for (name, datatype) in members {
            let offset = size;
            size = size.saturating_add(datatype.size);
            placed.push(Member { name: name.into(), offset, datatype });
        }
        Self::compound(size, placed)
    }

    /// Returns an enumeration datatype of named values of the integer type `base`.
    pub fn enumeration(base: Self, members: Vec<EnumerationMember>) -> Self {
        let size = base.size;
        Self { size, class: DatatypeClass::Enumeration(Enumeration { base: Box::new(base), members }) }
    }

    /// Returns an array datatype: each element is an array of the shape `dims`, slowest-varying
    /// dimension first. Element sizes above 2^32 - 1 bytes are reduced to this number.
    pub fn array(dims: impl Into<Vec<u32>>, base: Self) -> Self {
        let dims = dims.into();
        let size = dims.iter().fold(base.size, |size, dim| size.saturating_mul(*dim));
        Self { size, class: DatatypeClass::Array(Array { dims, base: Box::new(base) }) }
    }
}

/// Returns the size in bytes of a variable-length element in a file: a length, the address of a
/// global heap collection, and an index.
fn heap_element_size(size_of_offsets: u8) -> u32 {
    u32::from(size_of_offsets) + 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use ByteOrder::LittleEndian as LE;

    #[test]
    fn sizes() {
        let cases = [
            (Datatype::u8(), 1),
            (Datatype::i64(LE), 8),
            (Datatype::f16(LE), 2),
            (Datatype::f128(LE), 16),
            (Datatype::x87(12), 12),
            (Datatype::bool(), 1),
            (Datatype::complex(Datatype::f32(LE)), 8),
            (Datatype::complex_compound(Datatype::f64(LE)), 16),
            (Datatype::array([2, 3], Datatype::i16(LE)), 12),
            (Datatype::variable_string(CharacterSet::Utf8, 8), 16),
            (Datatype::region_reference(4), 8),
        ];
        for (datatype, size) in cases {
            assert_eq!(datatype.size, size, "{datatype}");
        }
    }
}
