//! Floating-point numbers, and conversions between them and integers.

use half::{bf16, f16};
use proptest::prelude::*;

use super::*;
use crate::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use crate::{DatatypeClass, FloatOrder, FloatingPoint, Normalization, Padding};

/// A floating-point type of 2 bytes with few values: a sign, an exponent of `exponent_size` and a
/// mantissa of `mantissa_size` bits.
fn small(exponent_size: u8, mantissa_size: u8, normalization: Normalization) -> Datatype {
    let sign_location = exponent_size + mantissa_size;
    Datatype {
        size: 2,
        class: DatatypeClass::FloatingPoint(FloatingPoint {
            order: FloatOrder::LittleEndian,
            bit_offset: 0,
            precision: u16::from(sign_location) + 1,
            sign_location,
            exponent_location: mantissa_size,
            exponent_size,
            mantissa_location: 0,
            mantissa_size,
            exponent_bias: (1 << (exponent_size - 1)) - 1,
            normalization,
            low_pad: Padding::Zero,
            high_pad: Padding::Zero,
            internal_pad: Padding::Zero,
        }),
    }
}

/// Returns the value of the bits of a small number.
fn value_of(bits: u16, exponent_size: u8, mantissa_size: u8, implied: bool) -> f64 {
    let mantissa = f64::from(bits & ((1 << mantissa_size) - 1));
    let field = i32::from(bits >> mantissa_size & ((1 << exponent_size) - 1));
    let bias = (1 << (exponent_size - 1)) - 1;
    let fraction_bits = i32::from(mantissa_size) - i32::from(!implied);
    let lead = if implied && field > 0 { 2_f64.powi(i32::from(mantissa_size)) } else { 0.0 };
    let magnitude = if field == (1 << exponent_size) - 1 {
        f64::INFINITY
    } else {
        (lead + mantissa) * 2_f64.powi(field.max(1) - bias - fraction_bits)
    };
    if bits >> (mantissa_size + exponent_size) & 1 == 1 { -magnitude } else { magnitude }
}

/// Returns the nearest value of a small IEEE-like type, found by trying all values.
fn nearest(value: f64, exponent_size: u8, mantissa_size: u8) -> u16 {
    let infinity: u16 = ((1 << exponent_size) - 1) << mantissa_size;
    let decode = |bits| value_of(bits, exponent_size, mantissa_size, true);
    let largest = decode(infinity - 1);
    let step = largest - decode(infinity - 2);
    let sign = u16::from(value.is_sign_negative()) << (exponent_size + mantissa_size);
    let magnitude = value.abs();
    if magnitude >= largest + step / 2.0 {
        return sign | infinity;
    }
    let distance = |bits: &u16| ((decode(*bits) - magnitude).abs(), bits & 1);
    let best = (0..infinity).min_by(|a, b| distance(a).partial_cmp(&distance(b)).unwrap()).unwrap();
    sign | best
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("a number", |value| !value.is_nan()),
        -1000.0..1000.0,
        -1.0..1.0,
        (-40_i32..40, 0_u32..64).prop_map(|(power, digits)| f64::from(digits) / 8.0 * 2_f64.powi(power)),
    ]
}

proptest! {
    // Each case tries all values or all pairs of values.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn small_numbers_are_read_exactly_and_come_back(exponent_size in 2_u8..7, mantissa_size in 2_u8..7) {
        for normalization in [Normalization::Implied, Normalization::MsbSet, Normalization::None] {
            let from = small(exponent_size, mantissa_size, normalization);
            let implied = normalization == Normalization::Implied;
            let infinity: u16 = ((1 << exponent_size) - 1) << mantissa_size;
            for bits in 0..infinity {
                let got = convert(&from, &Datatype::f64(BE), &bits.to_le_bytes());
                let value = value_of(bits, exponent_size, mantissa_size, implied);
                prop_assert_eq!(got.as_slice(), value.to_be_bytes(), "{:#x} {:?}", bits, normalization);
                let normal = implied || bits >> (mantissa_size - 1) & 1 == 1 || bits >> mantissa_size == 0;
                let back = convert(&Datatype::f64(BE), &from, &got);
                // Above exponent 0, a number without a leading bit has another encoding. At
                // exponent 0, a number with a leading bit moves to exponent 1.
                let top_of_zero = !implied && bits >> mantissa_size == 0 && bits >> (mantissa_size - 1) & 1 == 1;
                if normal && !top_of_zero {
                    prop_assert_eq!(back, bits.to_le_bytes());
                }
            }
        }
    }

    #[test]
    fn every_fast_loop_agrees_with_the_general_rule(
        bytes in prop::collection::vec(any::<u8>(), 64),
        value in any_double(),
    ) {
        let mut kinds = Vec::new();
        for order in [LE, BE] {
            for size in [1, 2, 4, 8] {
                kinds.extend([Datatype::integer(size, false, order), Datatype::integer(size, true, order)]);
            }
            kinds.extend([Datatype::f16(order), Datatype::bf16(order), Datatype::f32(order), Datatype::f64(order)]);
        }
        for from in &kinds {
            let mut elements = bytes.clone();
            elements.extend(convert(&Datatype::f64(LE), from, &value.to_le_bytes()).repeat(8));
            for to in &kinds {
                let (fast, general) = (convert(from, to, &elements), convert_generally(from, to, &elements));
                if fast != general {
                    // Only NaNs may differ: copying does not make them quiet.
                    let double = |bytes: &[u8]| convert(to, &Datatype::f64(LE), bytes);
                    for (a, b) in double(&fast).chunks(8).zip(double(&general).chunks(8)) {
                        let nan = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap()).is_nan();
                        prop_assert!(a == b || nan(a) && nan(b), "{} to {}", from, to);
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn to_small_numbers_as_the_model_rounds(value in any_double(), exponent_size in 2_u8..7, mantissa_size in 1_u8..7) {
        let to = small(exponent_size, mantissa_size, Normalization::Implied);
        let got = convert(&Datatype::f64(LE), &to, &value.to_le_bytes());
        prop_assert_eq!(got, nearest(value, exponent_size, mantissa_size).to_le_bytes());
    }

    #[test]
    fn the_general_rule_agrees_with_the_machine(bits in any::<u64>(), single_bits in any::<u32>(), half_bits in any::<u16>()) {
        let (double, single) = (f64::from_bits(bits), f32::from_bits(single_bits));
        let (half, brain) = (f16::from_bits(half_bits), bf16::from_bits(half_bits));
        let (d, s, h, b) = (Datatype::f64(LE), Datatype::f32(BE), Datatype::f16(LE), Datatype::bf16(BE));
        let double_bytes = double.to_le_bytes();
        #[expect(clippy::cast_possible_truncation, reason = "the machine's rounding is what is compared")]
        let narrowed = double as f32;
        prop_assert_eq!(convert_generally(&d, &s, &double_bytes), narrowed.to_be_bytes());
        let single_bytes = single.to_be_bytes();
        prop_assert_eq!(convert_generally(&s, &d, &single_bytes), f64::from(single).to_le_bytes());
        prop_assert_eq!(convert_generally(&s, &h, &single_bytes), f16::from_f32(single).to_le_bytes());
        prop_assert_eq!(convert_generally(&s, &b, &single_bytes), bf16::from_f32(single).to_be_bytes());
        prop_assert_eq!(convert_generally(&h, &s, &half.to_le_bytes()), half.to_f32().to_be_bytes());
        prop_assert_eq!(convert_generally(&b, &s, &brain.to_be_bytes()), brain.to_f32().to_be_bytes());
    }

    #[test]
    fn doubles_are_rounded_to_halves_once(value in any_double()) {
        let bytes = value.to_le_bytes();
        for half in [Datatype::f16(LE), Datatype::bf16(BE)] {
            let d = Datatype::f64(LE);
            prop_assert_eq!(convert(&d, &half, &bytes), convert_generally(&d, &half, &bytes));
        }
    }

    #[test]
    fn wide_formats_hold_doubles(value in any::<f64>().prop_filter("a number", |value| !value.is_nan())) {
        let bytes = value.to_le_bytes();
        let wide = [
            Datatype::f128(LE), Datatype::f128(BE), Datatype::x87(10), Datatype::x87(12), Datatype::x87(16),
        ];
        for wide in wide {
            let converted = convert(&Datatype::f64(LE), &wide, &bytes);
            prop_assert_eq!(convert(&wide, &Datatype::f64(LE), &converted), bytes, "{}", wide);
        }
    }

    #[test]
    fn arbitrary_layouts_do_not_panic(
        size in 1_u32..40,
        places in any::<[u8; 5]>(),
        bias in any::<u32>(),
        norm in 0_usize..3,
        order in 0_usize..3,
        bytes in prop::collection::vec(any::<u8>(), 40),
    ) {
        let [sign_location, exponent_location, exponent_size, mantissa_location, mantissa_size] = places;
        let float = FloatingPoint {
            order: [FloatOrder::LittleEndian, FloatOrder::BigEndian, FloatOrder::Vax][order],
            bit_offset: u16::from(places[0]) * 3,
            precision: u16::from(places[1]) * 5,
            sign_location, exponent_location, exponent_size, mantissa_location, mantissa_size,
            exponent_bias: bias,
            normalization: [Normalization::None, Normalization::MsbSet, Normalization::Implied][norm],
            low_pad: Padding::One, high_pad: Padding::Background, internal_pad: Padding::One,
        };
        let odd = Datatype { size, class: DatatypeClass::FloatingPoint(float) };
        let size = usize::try_from(size).unwrap();
        for other in [Datatype::f64(LE), Datatype::integer(20, true, LE), Datatype::x87(16), odd.clone()] {
            if let Ok(conversion) = Conversion::new(&odd, &other) {
                let mut out = vec![0; conversion.destination_size()];
                conversion.convert(&bytes[..size], &mut out, 1).unwrap();
                if let Ok(back) = Conversion::new(&other, &odd) {
                    back.convert(&out, &mut vec![0; size], 1).unwrap();
                }
            }
        }
    }
}

#[test]
fn not_rounded_twice() {
    // A value just above the middle of two half-precision numbers, which rounding to single
    // precision moves to the middle.
    let value = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
    let got = convert(&Datatype::f64(LE), &Datatype::f16(LE), &value.to_le_bytes());
    assert_eq!(got, [0x01, 0x3c]);
}

#[test]
fn double_to_extended_as_libhdf5_writes_it() {
    let cases: [(f64, [u8; 10]); 5] = [
        (1.0, [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]),
        (0.0, [0; 10]),
        (5e-324, [0, 0, 0, 0, 0, 0, 0, 0x80, 0xcd, 0x3b]),
        (f64::INFINITY, [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f]),
        (-2.5, [0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0]),
    ];
    for (value, bytes) in cases {
        assert_eq!(convert(&Datatype::f64(LE), &Datatype::x87(10), &value.to_le_bytes()), bytes, "{value}");
    }
    let nan = convert(&Datatype::f64(LE), &Datatype::x87(10), &f64::NAN.to_le_bytes());
    assert_eq!(nan, [0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x7f]);
}

#[test]
fn vax_numbers() {
    let vax = Datatype::vax_f32();
    let cases: [(f32, [u8; 4]); 5] = [
        (1.0, [0x80, 0x40, 0, 0]),
        (-2.5, [0x20, 0xc1, 0, 0]),
        (0.0, [0; 4]),
        (1e-38, [0x59, 0x01, 0xdc, 0xc7]),
        (-0.0, [0, 0x80, 0, 0]),
    ];
    for (value, bytes) in cases {
        assert_eq!(convert(&Datatype::f32(LE), &vax, &value.to_le_bytes()), bytes, "{value}");
        assert_eq!(convert(&vax, &Datatype::f32(LE), &bytes), value.to_le_bytes());
    }
    let mut odd = vax;
    odd.size = 5;
    unsupported(&odd, &Datatype::f32(LE));
}

#[test]
fn eight_bit_numbers() {
    let bytes: Vec<u8> = [1.0_f32, 1.0625, 1.1875, 240.0, 247.9, 248.0, f32::INFINITY, -0.0, 0.001_953_125]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let got = convert(&Datatype::f32(LE), &Datatype::f8_e4m3(), &bytes);
    assert_eq!(got, [0x38, 0x38, 0x3a, 0x77, 0x77, 0x78, 0x78, 0x80, 0x01]);
}

#[test]
fn to_integers_towards_zero_and_clamped() {
    let cases: [(f64, i16, u8); 8] = [
        (1.9, 1, 1),
        (-1.9, -1, 0),
        (-0.5, 0, 0),
        (3e9, i16::MAX, 255),
        (-3e9, i16::MIN, 0),
        (f64::INFINITY, i16::MAX, 255),
        (f64::NEG_INFINITY, i16::MIN, 0),
        (f64::NAN, 0, 0),
    ];
    for (value, signed, unsigned) in cases {
        for convert in [convert, convert_generally] {
            let bytes = value.to_be_bytes();
            assert_eq!(
                convert(&Datatype::f64(BE), &Datatype::i16(BE), &bytes),
                signed.to_be_bytes(),
                "{value}"
            );
            assert_eq!(convert(&Datatype::f64(BE), &Datatype::u8(), &bytes), [unsigned], "{value}");
        }
    }
    let wide = convert(&Datatype::f32(LE), &Datatype::integer(20, true, LE), &2_f32.powi(100).to_le_bytes());
    assert_eq!((wide[12], wide.iter().map(|byte| u32::from(*byte)).sum::<u32>()), (0x10, 0x10));
}

#[test]
fn from_wide_integers() {
    let wide = Datatype::integer(20, true, LE);
    let mut value = vec![0; 20];
    (value[12], value[0]) = (1, 1);
    let got = convert(&wide, &Datatype::f64(LE), &value);
    assert_eq!(got, 2_f64.powi(96).to_le_bytes());
    // 2^150 + 2^97: the sticky bit, far below, decides the tie.
    let mut value = vec![0; 20];
    (value[18], value[12], value[0]) = (0x40, 2, 1);
    let got = convert(&wide, &Datatype::f64(LE), &value);
    assert_eq!(got, (2_f64.powi(150) + 2_f64.powi(98)).to_le_bytes());
}

#[test]
fn padding_inside_and_outside_the_fields() {
    let float = FloatingPoint {
        order: FloatOrder::BigEndian,
        bit_offset: 8,
        precision: 40,
        sign_location: 47,
        exponent_location: 36,
        exponent_size: 8,
        mantissa_location: 10,
        mantissa_size: 23,
        exponent_bias: 127,
        normalization: Normalization::Implied,
        low_pad: Padding::One,
        high_pad: Padding::One,
        internal_pad: Padding::One,
    };
    let odd = Datatype { size: 8, class: DatatypeClass::FloatingPoint(float) };
    let got = convert(&Datatype::f32(LE), &odd, &0_f32.to_le_bytes());
    let fields: u64 = 1 << 47 | 0xff << 36 | 0x7f_ffff << 10;
    assert_eq!(got, (!fields).to_be_bytes());
    let got = convert(&Datatype::f32(LE), &odd, &1.5_f32.to_le_bytes());
    assert_eq!(got, (!fields | 127 << 36 | 0x40_0000 << 10).to_be_bytes());
    assert_eq!(convert(&odd, &Datatype::f32(LE), &got), 1.5_f32.to_le_bytes());
}
