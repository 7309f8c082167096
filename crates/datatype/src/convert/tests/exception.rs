//! Exceptions: the reported errors, and the values after the handling.
#![expect(clippy::cast_possible_truncation, reason = "the models clamp and round as `as` does")]

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use crate::EnumerationMember;

/// The kinds of the exceptions of all elements; `None` for elements without an exception.
fn kinds(source: &Datatype, destination: &Datatype, bytes: &[u8]) -> (Vec<Option<ExceptionKind>>, Vec<u8>) {
    let size = size_of(source).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let ask = Exceptions::ask(move |exception, _| {
        note.lock().unwrap().push((exception.source.to_vec(), exception.kind));
        Response::Unhandled
    });
    let conversions = Conversions::default().with_exceptions(ask);
    let conversion = conversions.plan(source, destination).unwrap();
    let mut out = vec![0; bytes.len() / size * conversion.destination_size()];
    conversion.convert(bytes, &mut out, bytes.len() / size).unwrap();
    let mut seen = seen.lock().unwrap().drain(..).collect::<Vec<_>>().into_iter().peekable();
    let of = |element: &[u8]| seen.next_if(|(bytes, _)| bytes == element).map(|(_, kind)| kind);
    (bytes.chunks(size).map(of).collect(), out)
}

fn integer_model(value: i128, low: i128, high: i128) -> Option<ExceptionKind> {
    match value {
        _ if value > high => Some(ExceptionKind::RangeHigh),
        _ if value < low => Some(ExceptionKind::RangeLow),
        _ => None,
    }
}

/// The conditions are those of the documentation of libhdf5's hard conversions.
fn float_model(value: f64, low: f64, high: f64) -> Option<ExceptionKind> {
    match value {
        _ if value.is_nan() => Some(ExceptionKind::NotANumber),
        _ if value == f64::INFINITY => Some(ExceptionKind::PositiveInfinity),
        _ if value == f64::NEG_INFINITY => Some(ExceptionKind::NegativeInfinity),
        _ if value > high => Some(ExceptionKind::RangeHigh),
        _ if value < low => Some(ExceptionKind::RangeLow),
        _ if value.fract() != 0.0 => Some(ExceptionKind::Truncate),
        _ => None,
    }
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -70_000.0..70_000.0_f64,
        (-70_000..70_000_i32).prop_map(f64::from),
        (-260..260_i32).prop_map(|half| f64::from(half) / 2.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
    ]
}

proptest! {
    #[test]
    fn integers_as_the_model_does(values in prop::collection::vec(any::<i32>(), 1..20), small in any::<bool>()) {
        let values: Vec<i32> = values.into_iter().map(|value| if small { value >> 20 } else { value }).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        for (to, low, high) in [
            (Datatype::i16(LE), i128::from(i16::MIN), i128::from(i16::MAX)),
            (Datatype::u8(), 0, 255),
            (Datatype::u64(BE), 0, i128::from(u64::MAX)),
            (Datatype::integer(3, true, LE), -(1 << 23), (1 << 23) - 1),
        ] {
            let (got, out) = kinds(&Datatype::i32(BE), &to, &bytes);
            let wanted: Vec<_> = values.iter().map(|value| integer_model((*value).into(), low, high)).collect();
            prop_assert_eq!(got, wanted);
            prop_assert_eq!(out, convert(&Datatype::i32(BE), &to, &bytes));
        }
    }

    #[test]
    fn floating_point_numbers_as_the_model_does(values in prop::collection::vec(float(), 1..20)) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        for (to, low, high) in [
            (Datatype::i16(LE), -32768.0, 32767.0),
            (Datatype::u8(), 0.0, 255.0),
            (Datatype::integer(3, false, BE), 0.0, 16_777_215.0),
        ] {
            let (got, out) = kinds(&Datatype::f64(LE), &to, &bytes);
            let wanted: Vec<_> = values.iter().map(|value| float_model(*value, low, high)).collect();
            prop_assert_eq!(got, wanted, "{}", to);
            prop_assert_eq!(out, convert(&Datatype::f64(LE), &to, &bytes));
        }
    }

    #[test]
    fn integers_to_floating_point(values in prop::collection::vec(any::<i64>(), 1..20), shift in 0_u32..64) {
        let values: Vec<i64> = values.into_iter().map(|value| value >> shift).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (got, _) = kinds(&Datatype::i64(LE), &Datatype::f32(BE), &bytes);
        let model = |value: &i64| {
            let exact = i128::from(*value) == (*value as f32) as i128;
            (!exact).then_some(ExceptionKind::Precision)
        };
        prop_assert_eq!(got, values.iter().map(model).collect::<Vec<_>>());
    }

    #[test]
    fn narrower_floating_point(values in prop::collection::vec(any::<f64>(), 1..20)) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (got, _) = kinds(&Datatype::f64(LE), &Datatype::f32(BE), &bytes);
        let model = |value: &f64| match *value as f32 {
            near if near.is_finite() || !value.is_finite() => None,
            near if near > 0.0 => Some(ExceptionKind::RangeHigh),
            _ => Some(ExceptionKind::RangeLow),
        };
        prop_assert_eq!(got, values.iter().map(model).collect::<Vec<_>>());
    }
}

#[test]
fn the_limits_of_machine_types() {
    let kind = |source: &Datatype, to: &Datatype, bytes: &[u8]| kinds(source, to, bytes).0[0];
    let single = |value: f32| kind(&Datatype::f32(LE), &Datatype::i32(LE), &value.to_le_bytes());
    assert_eq!(single(2_147_483_648.0), Some(ExceptionKind::RangeHigh));
    assert_eq!(single(2_147_483_520.0), None);
    assert_eq!(single(-2_147_483_648.0), None);
    assert_eq!(single(-2_147_483_904.0), Some(ExceptionKind::RangeLow));
    let double = |value: f64| kind(&Datatype::f64(LE), &Datatype::u64(LE), &value.to_le_bytes());
    assert_eq!(double(18_446_744_073_709_551_616.0), Some(ExceptionKind::RangeHigh));
    assert_eq!(double(18_446_744_073_709_549_568.0), None);
    assert_eq!(double(-0.25), Some(ExceptionKind::RangeLow));
    assert_eq!(double(-0.0), None);
    let wide = (u128::from(u64::MAX) << 20).to_le_bytes();
    let u128_type = Datatype::integer(16, false, LE);
    assert_eq!(kind(&u128_type, &Datatype::f16(LE), &wide), Some(ExceptionKind::RangeHigh));
    assert_eq!(kind(&u128_type, &Datatype::f64(LE), &wide), Some(ExceptionKind::Precision));
}

#[test]
fn errors_name_the_element_wherever_it_lies() {
    let strict = Conversions::default().with_exceptions(Exceptions::error());
    let index = |source: &Datatype, to: &Datatype, bytes: &[u8]| {
        let conversion = strict.plan(source, to).unwrap();
        let count = bytes.len() / conversion.source_size();
        match conversion.convert(bytes, &mut vec![0; count * conversion.destination_size()], count) {
            Err(ConvertError::Exception { index, kind: ExceptionKind::RangeHigh, .. }) => index,
            other => panic!("{other:?}"),
        }
    };
    let mut values = vec![0_u16; 3000];
    values[1700] = 300;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(index(&Datatype::u16(LE), &Datatype::u8(), &bytes), 1700);
    let array = |base| Datatype::array([3], base);
    assert_eq!(index(&array(Datatype::u16(LE)), &array(Datatype::u8()), &bytes), 566);
    let record = |base: Datatype| Datatype::packed([("x", Datatype::u8()), ("y", array(base))]);
    let mut records = Vec::new();
    for values in bytes.chunks(6) {
        records.push(9);
        records.extend_from_slice(values);
    }
    assert_eq!(index(&record(Datatype::u16(LE)), &record(Datatype::u8()), &records), 566);
    let nested = |base| array(record(base));
    assert_eq!(index(&nested(Datatype::u16(LE)), &nested(Datatype::u8()), &records[..7 * 999]), 188);
}

#[test]
fn names_without_a_partner() {
    let names = |names: &[(&str, u8)]| {
        let member = |(name, value): &(&str, u8)| EnumerationMember {
            name: name.as_bytes().to_vec(),
            value: vec![*value],
        };
        Datatype::enumeration(Datatype::u8(), names.iter().map(member).collect())
    };
    let (from, to) = (names(&[("a", 1), ("b", 2)]), names(&[("a", 7)]));
    let (got, out) = kinds(&from, &to, &[1, 2, 3]);
    assert_eq!(got, [None, Some(ExceptionKind::NoName), Some(ExceptionKind::NoName)]);
    assert_eq!(out, [7, 0xff, 0xff]);
    let strict = Conversions::default().with_exceptions(Exceptions::error_on(&[ExceptionKind::NoName]));
    let error = strict.plan(&from, &to).unwrap().convert(&[1, 2], &mut [0; 2], 2).unwrap_err();
    assert!(error.to_string().starts_with("element 1: [02] is not the value of a member"), "{error}");
    // No exceptions of numbers are handled.
    let mut out = [0; 1];
    strict.plan(&Datatype::i16(LE), &Datatype::u8()).unwrap().convert(&[0, 1], &mut out, 1).unwrap();
    assert_eq!(out, [255]);
}
