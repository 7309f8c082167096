//! Integers and bit fields.

use proptest::prelude::*;

use super::*;
use crate::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use crate::{ByteOrder, DatatypeClass, FixedPoint, Padding};

/// Returns the bits of an element, least significant first.
fn to_bits(bytes: &[u8], order: ByteOrder) -> Vec<bool> {
    let mut bytes = bytes.to_vec();
    if order == BE {
        bytes.reverse();
    }
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

fn from_bits(bits: &[bool], order: ByteOrder) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    let mut bytes: Vec<u8> = bits.chunks(8).map(byte).collect();
    if order == BE {
        bytes.reverse();
    }
    bytes
}

/// Converts an integer of at most 120 bits bit by bit, as a model.
fn read(fixed: &FixedPoint, element: &[u8]) -> i128 {
    let start = usize::from(fixed.bit_offset);
    let bits = &to_bits(element, fixed.order)[start..start + usize::from(fixed.precision)];
    let value = bits.iter().rev().fold(0_i128, |value, bit| value << 1 | i128::from(*bit));
    if fixed.signed && bits[bits.len() - 1] { value - (1 << fixed.precision) } else { value }
}

fn write(fixed: &FixedPoint, size: usize, value: i128, before: u8) -> Vec<u8> {
    let (low, high) = match fixed.signed {
        true => (-(1_i128 << (fixed.precision - 1)), (1_i128 << (fixed.precision - 1)) - 1),
        false => (0, (1_i128 << fixed.precision) - 1),
    };
    let value = value.clamp(low, high);
    let start = usize::from(fixed.bit_offset);
    let end = start + usize::from(fixed.precision);
    let mut bits = to_bits(&vec![before; size], fixed.order);
    let all = bits.len();
    for (place, bit) in bits.iter_mut().enumerate() {
        let pad = |padding| match padding {
            Padding::Zero => Some(false),
            Padding::One => Some(true),
            Padding::Background => None,
        };
        let new = match place {
            _ if place < start => pad(fixed.low_pad),
            _ if place >= end => pad(fixed.high_pad),
            _ => Some(value >> (place - start) & 1 == 1),
        };
        *bit = new.unwrap_or(*bit);
    }
    assert_eq!(all, size * 8);
    from_bits(&bits, fixed.order)
}

fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::Zero), Just(Padding::One), Just(Padding::Background)]
}

prop_compose! {
    fn fixed()(end in 1_u16..=120)(
        end in Just(end),
        bit_offset in 0..end,
        spare in 0_u32..20,
        big in any::<bool>(),
        signed in any::<bool>(),
        low_pad in padding(),
        high_pad in padding(),
    ) -> (Datatype, FixedPoint) {
        let order = if big { BE } else { LE };
        let fixed = FixedPoint { order, signed, bit_offset, precision: end - bit_offset, low_pad, high_pad };
        let size = u32::from(end).div_ceil(8) + spare;
        (Datatype { size, class: DatatypeClass::FixedPoint(fixed) }, fixed)
    }
}

prop_compose! {
    /// An integer that uses some bits of a machine word.
    fn word()(power in 0_u32..4)(
        size in Just(1_u32 << power),
        ends in (0_u16..=8 << power, 0_u16..=8 << power),
        big in any::<bool>(),
        signed in any::<bool>(),
        low_pad in padding(),
        high_pad in padding(),
    ) -> (Datatype, FixedPoint) {
        let order = if big { BE } else { LE };
        let maximum = u16::try_from(size * 8).unwrap();
        let (bit_offset, end) = (ends.0.min(ends.1).min(maximum - 1), ends.0.max(ends.1));
        let precision = end.saturating_sub(bit_offset).max(1);
        let fixed = FixedPoint { order, signed, bit_offset, precision, low_pad, high_pad };
        (Datatype { size, class: DatatypeClass::FixedPoint(fixed) }, fixed)
    }
}

fn machine_integer() -> impl Strategy<Value = (Datatype, FixedPoint)> {
    (0_u32..4, any::<bool>(), any::<bool>()).prop_map(|(power, signed, big)| {
        let datatype = Datatype::integer(1 << power, signed, if big { BE } else { LE });
        let DatatypeClass::FixedPoint(fixed) = datatype.class else { unreachable!() };
        (datatype, fixed)
    })
}

proptest! {
    #[test]
    fn as_the_model_does(
        (source, from) in prop_oneof![fixed(), word(), machine_integer()],
        (destination, to) in prop_oneof![fixed(), word(), machine_integer()],
        bytes in prop::collection::vec(prop_oneof![Just(0_u8), Just(0xff), any::<u8>()], 35 * 3),
        before in any::<u8>(),
    ) {
        prop_assume!(source != destination);
        let size = usize::try_from(source.size).unwrap();
        let bytes = &bytes[..3 * size];
        let wanted: Vec<u8> = bytes
            .chunks(size)
            .flat_map(|element| write(&to, usize::try_from(destination.size).unwrap(), read(&from, element), before))
            .collect();
        prop_assert_eq!(convert_over(&source, &destination, bytes, before), wanted);
    }
}

proptest! {
    #[test]
    fn machine_numbers_become_some_bits_of_words(
        (source, from) in prop_oneof![machine_integer(), word()],
        (destination, to) in word(),
        bytes in prop::collection::vec(prop_oneof![4 => Just(0_u8), 1 => Just(0xff), 1 => any::<u8>()], 8 * 1100),
        doubles in prop::collection::vec(-300.0_f64..300.0, 1100),
    ) {
        prop_assume!(source != destination);
        let size = usize::try_from(source.size).unwrap();
        let bytes = &bytes[..1100 * size];
        let destination_size = usize::try_from(destination.size).unwrap();
        let wanted: Vec<u8> =
            bytes.chunks(size).flat_map(|element| write(&to, destination_size, read(&from, element), 0)).collect();
        prop_assert_eq!(convert(&source, &destination, bytes), wanted);
        #[expect(clippy::cast_possible_truncation, reason = "cut towards zero, as conversions do")]
        let wanted: Vec<u8> =
            doubles.iter().flat_map(|double| write(&to, destination_size, *double as i128, 0)).collect();
        let bytes: Vec<u8> = doubles.iter().flat_map(|double| double.to_le_bytes()).collect();
        prop_assert_eq!(convert(&Datatype::f64(LE), &destination, &bytes), wanted);
    }
}

proptest! {
    #[test]
    fn some_bits_of_words_become_machine_numbers(
        (source, from) in word(),
        (destination, to) in machine_integer(),
        bytes in prop::collection::vec(any::<u8>(), 8 * 1100),
    ) {
        prop_assume!(source != destination);
        let size = usize::try_from(source.size).unwrap();
        let bytes = &bytes[..1100 * size];
        let elements = bytes.chunks(size);
        let destination_size = usize::try_from(destination.size).unwrap();
        let wanted: Vec<u8> =
            elements.clone().flat_map(|element| write(&to, destination_size, read(&from, element), 0)).collect();
        prop_assert_eq!(convert(&source, &destination, bytes), wanted);
        let doubles = convert(&source, &Datatype::f64(LE), bytes);
        for (element, double) in elements.zip(doubles.as_chunks::<8>().0) {
            prop_assert_eq!(f64::from_le_bytes(*double), read(&from, element) as f64);
        }
    }
}

#[test]
fn wider_than_a_machine_word() {
    let (wide, wider) = (Datatype::integer(20, true, LE), Datatype::integer(40, true, BE));
    let mut minus_one_shifted = vec![0; 15];
    minus_one_shifted.extend([0xff; 5]);
    let got = convert(&wide, &wider, &minus_one_shifted);
    assert_eq!(got[..25], [0xff; 25]);
    assert_eq!(got[25..], [0; 15]);
    assert_eq!(convert(&wider, &wide, &got), minus_one_shifted);
    assert_eq!(convert(&wide, &Datatype::i32(LE), &minus_one_shifted), [0, 0, 0, 0x80]);
    let mut large = vec![0; 20];
    large[18] = 1;
    assert_eq!(convert(&wide, &Datatype::integer(3, false, LE), &large), [0xff; 3]);
}

#[test]
fn byte_swap_and_no_op() {
    assert_eq!(convert(&Datatype::u32(BE), &Datatype::u32(LE), &[1, 2, 3, 4]), [4, 3, 2, 1]);
    assert!(Conversion::new(&Datatype::f64(LE), &Datatype::f64(LE)).unwrap().is_no_op());
    assert!(!Conversion::new(&Datatype::f64(LE), &Datatype::f64(BE)).unwrap().is_no_op());
    let big_byte = Datatype::integer(1, false, BE);
    assert!(Conversion::new(&big_byte, &Datatype::u8()).unwrap().is_no_op());
}

#[test]
fn padding_as_libhdf5_writes_it() {
    let fixed = |signed, pad| FixedPoint {
        order: LE,
        signed,
        bit_offset: 4,
        precision: 20,
        low_pad: pad,
        high_pad: pad,
    };
    let plain = Datatype { size: 4, class: DatatypeClass::FixedPoint(fixed(true, Padding::Zero)) };
    let ones = Datatype { size: 4, class: DatatypeClass::FixedPoint(fixed(false, Padding::One)) };
    let cases: [(i32, [u8; 4], [u8; 4]); 5] = [
        (1, [0x10, 0, 0, 0], [0x1f, 0, 0, 0xff]),
        (-1, [0xf0, 0xff, 0xff, 0], [0x0f, 0, 0, 0xff]),
        (524_288, [0xf0, 0xff, 0x7f, 0], [0x0f, 0, 0x80, 0xff]),
        (-524_289, [0, 0, 0x80, 0], [0x0f, 0, 0, 0xff]),
        (1_048_576, [0xf0, 0xff, 0x7f, 0], [0xff; 4]),
    ];
    for (value, signed, unsigned) in cases {
        assert_eq!(convert(&Datatype::i32(LE), &plain, &value.to_le_bytes()), signed);
        assert_eq!(convert(&Datatype::i32(LE), &ones, &value.to_le_bytes()), unsigned);
    }
    assert_eq!(convert(&plain, &Datatype::i32(LE), &[0xff, 0xff, 0xff, 0]), (-1_i32).to_le_bytes());
    assert_eq!(convert(&ones, &Datatype::i32(LE), &[0xff; 4]), 0xf_ffff_i32.to_le_bytes());
}

#[test]
fn bit_fields_keep_their_low_bits() {
    let bits = |bytes, order| Datatype::bitfield(bytes, order);
    assert_eq!(convert(&bits(1, LE), &bits(2, BE), &[0xa5]), [0, 0xa5]);
    assert_eq!(convert(&bits(2, LE), &bits(1, LE), &[0x34, 0x12]), [0x34]);
    let mut inner = bits(2, LE);
    if let DatatypeClass::Bitfield(field) = &mut inner.class {
        (field.bit_offset, field.precision) = (4, 8);
        (field.low_pad, field.high_pad) = (Padding::One, Padding::One);
    }
    assert_eq!(convert(&bits(2, LE), &inner, &[0x34, 0x12]), [0x4f, 0xf3]);
    unsupported(&bits(1, LE), &Datatype::f32(LE));
}

#[test]
fn types_that_contradict_themselves() {
    let mut odd = Datatype::u16(LE);
    if let DatatypeClass::FixedPoint(fixed) = &mut odd.class {
        fixed.precision = 20;
    }
    unsupported(&odd, &Datatype::u8());
    unsupported(&Datatype { size: 0, ..Datatype::u8() }, &Datatype::u8());
}

#[test]
fn buffers_must_fit() {
    let conversion = Conversion::new(&Datatype::u8(), &Datatype::u16(LE)).unwrap();
    assert!(matches!(
        conversion.convert(&[1], &mut [0; 2], 2),
        Err(ConvertError::Buffer { which: "source", .. })
    ));
    assert!(matches!(conversion.convert(&[1], &mut [0; 3], 1), Err(ConvertError::Buffer { .. })));
    assert_eq!(conversion.convert(&[], &mut [], 0), Ok(()));
}
