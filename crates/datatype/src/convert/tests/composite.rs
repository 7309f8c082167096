//! Strings, enumerations, compounds, arrays, complex numbers, and pairs of types without a
//! conversion.

use super::*;
use crate::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use crate::StringPadding::{self, NullPadded, NullTerminated, SpacePadded};
use crate::{CharacterSet, EnumerationMember, Member};

#[test]
fn strings_as_libhdf5_converts_them() {
    let string = |size, padding| Datatype::fixed_string(size, padding, CharacterSet::Ascii);
    type Case = (StringPadding, StringPadding, u32, &'static [u8], &'static [u8]);
    let cases: [Case; 9] = [
        (NullTerminated, NullTerminated, 2, b"ab \0", b"a\0"),
        (NullTerminated, NullTerminated, 6, b"abcd", b"abcd\0\0"),
        (NullTerminated, SpacePadded, 6, b"ab \0", b"ab    "),
        (NullPadded, NullTerminated, 4, b"abcd", b"abc\0"),
        (NullPadded, NullPadded, 2, b"abcd", b"ab"),
        (NullPadded, SpacePadded, 4, b"ab \0", b"ab  "),
        (SpacePadded, NullPadded, 6, b"ab  ", b"ab\0\0\0\0"),
        (SpacePadded, NullTerminated, 4, b"abcd", b"abc\0"),
        (SpacePadded, SpacePadded, 6, b"ab \0", b"ab \0  "),
    ];
    for (from, to, size, text, wanted) in cases {
        assert_eq!(convert(&string(4, from), &string(size, to), text), wanted, "{from:?} {to:?} {size}");
    }
    let utf8 = Datatype::fixed_string(4, NullTerminated, CharacterSet::Utf8);
    unsupported(&string(4, NullTerminated), &utf8);
}

fn enumeration(base: Datatype, members: &[(&str, &[u8])]) -> Datatype {
    let member = |(name, value): &(&str, &[u8])| EnumerationMember {
        name: name.as_bytes().to_vec(),
        value: value.to_vec(),
    };
    Datatype::enumeration(base, members.iter().map(member).collect())
}

#[test]
fn enumerations_by_name_and_as_numbers() {
    let narrow = enumeration(Datatype::i8(), &[("a", &[0]), ("b", &[1])]);
    let wide =
        enumeration(Datatype::i32(BE), &[("b", &[0, 0, 0, 7]), ("a", &[0, 0, 0, 5]), ("c", &[0, 0, 0, 6])]);
    let got = convert(&narrow, &wide, &[0, 1, 2]);
    assert_eq!(got, [0, 0, 0, 5, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(convert(&wide, &narrow, &[0, 0, 0, 5, 0, 0, 0, 6]), [0, 0xff]);
    assert_eq!(convert(&narrow, &Datatype::i16(LE), &[1, 0xfe]), [1, 0, 0xfe, 0xff]);
    assert_eq!(convert(&narrow, &Datatype::f32(LE), &[1]), 1_f32.to_le_bytes());
    assert_eq!(convert(&Datatype::i16(LE), &narrow, &[1, 0, 0xff, 0xff]), [1, 0xff]);
    assert!(Conversion::new(&narrow, &narrow).unwrap().is_no_op());
}

#[test]
fn compounds_by_name() {
    let source = Datatype::packed([
        ("a", Datatype::i32(BE)),
        ("in", Datatype::packed([("x", Datatype::u8()), ("y", Datatype::u8())])),
        ("dropped", Datatype::f64(LE)),
    ]);
    let inner = Datatype::packed([("y", Datatype::u16(LE)), ("x", Datatype::u8())]);
    let destination = Datatype::compound(
        8,
        vec![
            Member { name: b"in".to_vec(), offset: 4, datatype: inner },
            Member { name: b"missing".to_vec(), offset: 7, datatype: Datatype::u8() },
            Member { name: b"a".to_vec(), offset: 0, datatype: Datatype::i32(LE) },
        ],
    );
    let element = [0, 0, 0, 9, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    let got = convert_over(&source, &destination, &element.repeat(2), 0xee);
    assert_eq!(got, [9, 0, 0, 0, 2, 0, 1, 0xee].repeat(2));
    unsupported(&source, &Datatype::packed([("b", Datatype::i32(LE))]));
    unsupported(&source, &Datatype::packed([("a", Datatype::opaque(4, ""))]));
}

#[test]
fn equal_members_are_copied_together() {
    let types = [("a", Datatype::u8()), ("b", Datatype::u16(LE)), ("c", Datatype::u8())];
    let source = Datatype::packed(types.clone());
    let mut destination = Datatype::packed(types);
    if let crate::DatatypeClass::Compound(compound) = &mut destination.class {
        compound.members.reverse();
    }
    assert_ne!(source, destination);
    assert!(Conversion::new(&source, &destination).unwrap().is_no_op());
    assert_eq!(convert(&source, &destination, &[1, 2, 3, 4]), [1, 2, 3, 4]);
    let subset = Datatype::packed([("b", Datatype::u16(LE)), ("c", Datatype::u8())]);
    assert_eq!(convert(&source, &subset, &[1, 2, 3, 4, 5, 6, 7, 8]), [2, 3, 4, 6, 7, 8]);
}

#[test]
fn a_member_that_reaches_beyond_its_compound() {
    let member = Member { name: b"a".to_vec(), offset: 3, datatype: Datatype::u16(LE) };
    let odd = Datatype::compound(4, vec![member]);
    unsupported(&odd, &Datatype::packed([("a", Datatype::u16(BE))]));
}

#[test]
fn arrays_of_one_shape() {
    let (from, to) = (Datatype::array([2, 2], Datatype::u8()), Datatype::array([2, 2], Datatype::u16(BE)));
    assert_eq!(convert(&from, &to, &[1, 2, 3, 4]), [0, 1, 0, 2, 0, 3, 0, 4]);
    unsupported(&from, &Datatype::array([4], Datatype::u16(BE)));
    let mut odd = from;
    odd.size = 5;
    unsupported(&odd, &to);
}

#[test]
fn complex_numbers() {
    let (single, double) = (Datatype::f32(LE), Datatype::f64(BE));
    let bytes = [1_f32.to_le_bytes(), 2_f32.to_le_bytes()].concat();
    let wide = [1_f64.to_be_bytes(), 2_f64.to_be_bytes()].concat();
    let complex = Datatype::complex(single.clone());
    for to in [
        Datatype::complex(double.clone()),
        Datatype::complex_compound(double.clone()),
        Datatype::array([2], double.clone()),
    ] {
        assert_eq!(convert(&complex, &to, &bytes), wide, "{to}");
        assert_eq!(convert(&to, &complex, &wide), bytes, "{to}");
    }
    assert!(Conversion::new(&complex, &Datatype::complex_compound(single.clone())).unwrap().is_no_op());
    assert_eq!(convert(&complex, &double, &bytes), 1_f64.to_be_bytes());
    let real = convert(&single, &Datatype::complex(double), &1_f32.to_le_bytes());
    assert_eq!(real, [1_f64.to_be_bytes(), [0; 8]].concat());
    let swapped = Datatype::packed([("imag", single.clone()), ("real", single.clone())]);
    assert_eq!(convert(&complex, &swapped, &bytes), [2_f32.to_le_bytes(), 1_f32.to_le_bytes()].concat());
    unsupported(&complex, &Datatype::packed([("x", single.clone()), ("y", single)]));
}

#[test]
fn what_is_only_copied() {
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    assert!(Conversion::new(&text, &text).unwrap().is_no_op());
    unsupported(&text, &Datatype::variable_string(CharacterSet::Ascii, 8));
    unsupported(&text, &Datatype::fixed_string(8, NullTerminated, CharacterSet::Utf8));
    unsupported(&Datatype::object_reference(8), &Datatype::u64(LE));
    unsupported(&Datatype::opaque(4, "a"), &Datatype::opaque(4, "b"));
}

/// A kernel that doubles each byte.
#[derive(Debug)]
struct Doubling;

impl Kernel for Doubling {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        for (to, from) in destination.iter_mut().zip(source) {
            *to = from.wrapping_mul(2);
        }
        Ok(())
    }
}

impl Rule for Doubling {
    fn kernel(&self, source: &Datatype, to: &Datatype, _: &Conversions) -> Result<Option<Arc<dyn Kernel>>> {
        Ok((*source == Datatype::u8() && *to == Datatype::i8()).then(|| Arc::new(Self) as _))
    }
}

#[test]
fn a_callers_rule_comes_first_also_inside() {
    let conversions = Conversions::default().with(Arc::new(Doubling));
    let (from, to) = (Datatype::array([2], Datatype::u8()), Datatype::array([2], Datatype::i8()));
    let conversion = conversions.plan(&from, &to).unwrap();
    let mut out = [0; 2];
    conversion.convert(&[1, 2], &mut out, 1).unwrap();
    assert_eq!(out, [2, 4]);
}
