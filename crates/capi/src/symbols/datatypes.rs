//! The predefined datatypes and the data symbols that export their identifiers.

use std::sync::Arc;

use hyperslab::datatype::ByteOrder::{self, BigEndian, LittleEndian};
use hyperslab::datatype::{
    FloatOrder, FloatingPoint, Normalization, Padding, Reference, ReferenceKind, StringPadding, Time,
};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};

use crate::ctypes::{IdKind, hid_t};
use crate::datatype::TypeHandle;
use crate::id::{Entry, constant, register_as};

/// The byte order of the machine on which the library runs.
const NATIVE: ByteOrder = ByteOrder::NATIVE;

macro_rules! datatypes {
    ($($number:literal $symbol:ident = $make:expr;)*) => {
        $(
            /// The exported identifier of a predefined datatype.
            #[expect(unsafe_code, reason = "C programs read the symbol by its name")]
            // SAFETY: the name belongs to the interface; nothing else defines it.
            #[unsafe(no_mangle)]
            pub static $symbol: hid_t = constant(IdKind::Datatype, $number);
        )*

        /// Adds the predefined datatypes to the identifier table.
        pub fn register() {
            $(register_as($symbol, Entry::Datatype(Arc::new(TypeHandle::predefined($make))));)*
        }
    };
}

datatypes! {
    1 H5T_COMPLEX_IEEE_F16BE_g = Datatype::complex(Datatype::f16(BigEndian));
    2 H5T_COMPLEX_IEEE_F16LE_g = Datatype::complex(Datatype::f16(LittleEndian));
    3 H5T_COMPLEX_IEEE_F32BE_g = Datatype::complex(Datatype::f32(BigEndian));
    4 H5T_COMPLEX_IEEE_F32LE_g = Datatype::complex(Datatype::f32(LittleEndian));
    5 H5T_COMPLEX_IEEE_F64BE_g = Datatype::complex(Datatype::f64(BigEndian));
    6 H5T_COMPLEX_IEEE_F64LE_g = Datatype::complex(Datatype::f64(LittleEndian));
    7 H5T_C_S1_g = Datatype::fixed_string(1, StringPadding::NullTerminated, CharacterSet::Ascii);
    8 H5T_FLOAT_BFLOAT16BE_g = Datatype::bf16(BigEndian);
    9 H5T_FLOAT_BFLOAT16LE_g = Datatype::bf16(LittleEndian);
    10 H5T_FLOAT_F4E2M1_g = small_float(4, 2, 1);
    11 H5T_FLOAT_F6E2M3_g = small_float(6, 2, 3);
    12 H5T_FLOAT_F6E3M2_g = small_float(6, 3, 2);
    13 H5T_FLOAT_F8E4M3_g = Datatype::f8_e4m3();
    14 H5T_FLOAT_F8E5M2_g = Datatype::f8_e5m2();
    15 H5T_FORTRAN_S1_g = Datatype::fixed_string(1, StringPadding::SpacePadded, CharacterSet::Ascii);
    16 H5T_IEEE_F16BE_g = Datatype::f16(BigEndian);
    17 H5T_IEEE_F16LE_g = Datatype::f16(LittleEndian);
    18 H5T_IEEE_F32BE_g = Datatype::f32(BigEndian);
    19 H5T_IEEE_F32LE_g = Datatype::f32(LittleEndian);
    20 H5T_IEEE_F64BE_g = Datatype::f64(BigEndian);
    21 H5T_IEEE_F64LE_g = Datatype::f64(LittleEndian);
    22 H5T_NATIVE_B16_g = Datatype::bitfield(2, NATIVE);
    23 H5T_NATIVE_B32_g = Datatype::bitfield(4, NATIVE);
    24 H5T_NATIVE_B64_g = Datatype::bitfield(8, NATIVE);
    25 H5T_NATIVE_B8_g = Datatype::bitfield(1, NATIVE);
    26 H5T_NATIVE_DOUBLE_COMPLEX_g = Datatype::complex(Datatype::f64(NATIVE));
    27 H5T_NATIVE_DOUBLE_g = Datatype::f64(NATIVE);
    28 H5T_NATIVE_FLOAT16_g = Datatype::f16(NATIVE);
    29 H5T_NATIVE_FLOAT_COMPLEX_g = Datatype::complex(Datatype::f32(NATIVE));
    30 H5T_NATIVE_FLOAT_g = Datatype::f32(NATIVE);
    31 H5T_NATIVE_HADDR_g = Datatype::integer(8, false, NATIVE);
    32 H5T_NATIVE_HBOOL_g = Datatype::integer(1, false, NATIVE);
    33 H5T_NATIVE_HERR_g = Datatype::integer(4, true, NATIVE);
    34 H5T_NATIVE_HSIZE_g = Datatype::integer(8, false, NATIVE);
    35 H5T_NATIVE_HSSIZE_g = Datatype::integer(8, true, NATIVE);
    36 H5T_NATIVE_INT16_g = Datatype::integer(2, true, NATIVE);
    37 H5T_NATIVE_INT32_g = Datatype::integer(4, true, NATIVE);
    38 H5T_NATIVE_INT64_g = Datatype::integer(8, true, NATIVE);
    39 H5T_NATIVE_INT8_g = Datatype::integer(1, true, NATIVE);
    40 H5T_NATIVE_INT_FAST16_g = Datatype::integer(8, true, NATIVE);
    41 H5T_NATIVE_INT_FAST32_g = Datatype::integer(8, true, NATIVE);
    42 H5T_NATIVE_INT_FAST64_g = Datatype::integer(8, true, NATIVE);
    43 H5T_NATIVE_INT_FAST8_g = Datatype::integer(1, true, NATIVE);
    44 H5T_NATIVE_INT_LEAST16_g = Datatype::integer(2, true, NATIVE);
    45 H5T_NATIVE_INT_LEAST32_g = Datatype::integer(4, true, NATIVE);
    46 H5T_NATIVE_INT_LEAST64_g = Datatype::integer(8, true, NATIVE);
    47 H5T_NATIVE_INT_LEAST8_g = Datatype::integer(1, true, NATIVE);
    48 H5T_NATIVE_INT_g = Datatype::integer(4, true, NATIVE);
    49 H5T_NATIVE_LDOUBLE_COMPLEX_g = Datatype::complex(Datatype::x87(16));
    50 H5T_NATIVE_LDOUBLE_g = Datatype::x87(16);
    51 H5T_NATIVE_LLONG_g = Datatype::integer(8, true, NATIVE);
    52 H5T_NATIVE_LONG_g = Datatype::integer(8, true, NATIVE);
    53 H5T_NATIVE_OPAQUE_g = Datatype::opaque(1, "");
    54 H5T_NATIVE_SCHAR_g = Datatype::integer(1, true, NATIVE);
    55 H5T_NATIVE_SHORT_g = Datatype::integer(2, true, NATIVE);
    56 H5T_NATIVE_UCHAR_g = Datatype::integer(1, false, NATIVE);
    57 H5T_NATIVE_UINT16_g = Datatype::integer(2, false, NATIVE);
    58 H5T_NATIVE_UINT32_g = Datatype::integer(4, false, NATIVE);
    59 H5T_NATIVE_UINT64_g = Datatype::integer(8, false, NATIVE);
    60 H5T_NATIVE_UINT8_g = Datatype::integer(1, false, NATIVE);
    61 H5T_NATIVE_UINT_FAST16_g = Datatype::integer(8, false, NATIVE);
    62 H5T_NATIVE_UINT_FAST32_g = Datatype::integer(8, false, NATIVE);
    63 H5T_NATIVE_UINT_FAST64_g = Datatype::integer(8, false, NATIVE);
    64 H5T_NATIVE_UINT_FAST8_g = Datatype::integer(1, false, NATIVE);
    65 H5T_NATIVE_UINT_LEAST16_g = Datatype::integer(2, false, NATIVE);
    66 H5T_NATIVE_UINT_LEAST32_g = Datatype::integer(4, false, NATIVE);
    67 H5T_NATIVE_UINT_LEAST64_g = Datatype::integer(8, false, NATIVE);
    68 H5T_NATIVE_UINT_LEAST8_g = Datatype::integer(1, false, NATIVE);
    69 H5T_NATIVE_UINT_g = Datatype::integer(4, false, NATIVE);
    70 H5T_NATIVE_ULLONG_g = Datatype::integer(8, false, NATIVE);
    71 H5T_NATIVE_ULONG_g = Datatype::integer(8, false, NATIVE);
    72 H5T_NATIVE_USHORT_g = Datatype::integer(2, false, NATIVE);
    73 H5T_STD_B16BE_g = Datatype::bitfield(2, BigEndian);
    74 H5T_STD_B16LE_g = Datatype::bitfield(2, LittleEndian);
    75 H5T_STD_B32BE_g = Datatype::bitfield(4, BigEndian);
    76 H5T_STD_B32LE_g = Datatype::bitfield(4, LittleEndian);
    77 H5T_STD_B64BE_g = Datatype::bitfield(8, BigEndian);
    78 H5T_STD_B64LE_g = Datatype::bitfield(8, LittleEndian);
    79 H5T_STD_B8BE_g = Datatype::bitfield(1, BigEndian);
    80 H5T_STD_B8LE_g = Datatype::bitfield(1, LittleEndian);
    81 H5T_STD_I16BE_g = Datatype::integer(2, true, BigEndian);
    82 H5T_STD_I16LE_g = Datatype::integer(2, true, LittleEndian);
    83 H5T_STD_I32BE_g = Datatype::integer(4, true, BigEndian);
    84 H5T_STD_I32LE_g = Datatype::integer(4, true, LittleEndian);
    85 H5T_STD_I64BE_g = Datatype::integer(8, true, BigEndian);
    86 H5T_STD_I64LE_g = Datatype::integer(8, true, LittleEndian);
    87 H5T_STD_I8BE_g = Datatype::integer(1, true, BigEndian);
    88 H5T_STD_I8LE_g = Datatype::integer(1, true, LittleEndian);
    89 H5T_STD_REF_DSETREG_g = Datatype::region_reference(8);
    90 H5T_STD_REF_OBJ_g = Datatype::object_reference(8);
    91 H5T_STD_REF_g = reference();
    92 H5T_STD_U16BE_g = Datatype::integer(2, false, BigEndian);
    93 H5T_STD_U16LE_g = Datatype::integer(2, false, LittleEndian);
    94 H5T_STD_U32BE_g = Datatype::integer(4, false, BigEndian);
    95 H5T_STD_U32LE_g = Datatype::integer(4, false, LittleEndian);
    96 H5T_STD_U64BE_g = Datatype::integer(8, false, BigEndian);
    97 H5T_STD_U64LE_g = Datatype::integer(8, false, LittleEndian);
    98 H5T_STD_U8BE_g = Datatype::integer(1, false, BigEndian);
    99 H5T_STD_U8LE_g = Datatype::integer(1, false, LittleEndian);
    100 H5T_UNIX_D32BE_g = time(4, BigEndian);
    101 H5T_UNIX_D32LE_g = time(4, LittleEndian);
    102 H5T_UNIX_D64BE_g = time(8, BigEndian);
    103 H5T_UNIX_D64LE_g = time(8, LittleEndian);
    104 H5T_VAX_F32_g = Datatype::vax_f32();
    105 H5T_VAX_F64_g = Datatype::vax_f64();
}

/// Returns a datatype of the time class, which HDF5 keeps only for compatibility.
fn time(bytes: u32, order: ByteOrder) -> Datatype {
    let precision = if bytes == 4 { 32 } else { 64 };
    Datatype { class: DatatypeClass::Time(Time { order, precision }), size: bytes }
}

/// The size of a reference in memory form (`H5R_ref_t`) in bytes.
pub const REFERENCE_BYTES: u32 = 64;

/// Returns the datatype of references in memory form (`H5T_STD_REF`).
fn reference() -> Datatype {
    let kind = Reference { kind: ReferenceKind::Object2, version: 1 };
    Datatype { class: DatatypeClass::Reference(kind), size: REFERENCE_BYTES }
}

/// Creates a one-byte floating-point datatype with fewer than 8 significant bits.
fn small_float(precision: u16, exponent_size: u8, mantissa_size: u8) -> Datatype {
    let class = FloatingPoint {
        order: FloatOrder::LittleEndian,
        low_pad: Padding::Zero,
        high_pad: Padding::Zero,
        internal_pad: Padding::Zero,
        normalization: Normalization::Implied,
        sign_location: exponent_size + mantissa_size,
        bit_offset: 0,
        precision,
        exponent_location: mantissa_size,
        exponent_size,
        mantissa_location: 0,
        mantissa_size,
        exponent_bias: if exponent_size == 3 { 3 } else { 1 },
    };
    Datatype { class: DatatypeClass::FloatingPoint(class), size: 1 }
}
