//! Tests with messages from libhdf5, hand-built corner cases, round trips of arbitrary datatypes,
//! and arbitrary bytes.

use hyperslab_datatype::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use hyperslab_datatype::{
    CharacterSet, Enumeration, EnumerationMember, FixedPoint, FloatingPoint, Member, Normalization, Padding,
    Reference, StringPadding,
};
use proptest::prelude::*;

use super::*;

const P: FileParams = FileParams::DEFAULT;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

fn decode(bytes: &[u8]) -> Result<DatatypeMessage> {
    DatatypeMessage::decode(bytes, P)
}

fn encode(message: &DatatypeMessage) -> Result<Vec<u8>> {
    let mut w = Writer::new(NAME);
    message.encode(P, &mut w);
    w.finish()
}

/// Returns a prefix: version, class, class bit field, size.
fn prefix(version: u8, class: u8, flags: u32, size: u32) -> Vec<u8> {
    let mut bytes = vec![version << 4 | class];
    bytes.extend(&flags.to_le_bytes()[..3]);
    bytes.extend(size.to_le_bytes());
    bytes
}

fn concat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Returns a version 1 message of a little-endian i32.
fn i32_message() -> Vec<u8> {
    hex("10 08 00 00 04 00 00 00 00 00 20 00")
}

fn f32_message() -> Vec<u8> {
    hex("11 20 1f 00 04 00 00 00 00 00 20 00 17 08 00 17 7f 00 00 00")
}

#[track_caller]
fn corrupt(bytes: &[u8], in_field: &str) {
    match decode(bytes) {
        Err(FormatError::Corrupt(corrupt)) => assert_eq!(corrupt.field, in_field),
        other => panic!("not corrupt: {other:?}"),
    }
}

#[track_caller]
fn unsupported(bytes: &[u8]) {
    assert!(matches!(decode(bytes), Err(FormatError::Unsupported { .. })), "{:?}", decode(bytes));
}

#[test]
fn messages_as_libhdf5_writes_them() {
    let cases = [
        ("10 08 00 00 04 00 00 00 00 00 20 00", Datatype::i32(LE)),
        ("10 01 00 00 02 00 00 00 00 00 10 00", Datatype::u16(BE)),
        ("11 20 0f 00 02 00 00 00 00 00 10 00 0a 05 00 0a 0f 00 00 00", Datatype::f16(LE)),
        ("11 20 0f 00 02 00 00 00 00 00 10 00 07 08 00 07 7f 00 00 00", Datatype::bf16(LE)),
        ("11 20 07 00 01 00 00 00 00 00 08 00 03 04 00 03 07 00 00 00", Datatype::f8_e4m3()),
        ("11 21 3f 00 08 00 00 00 00 00 40 00 34 0b 00 34 ff 03 00 00", Datatype::f64(BE)),
        ("31 61 1f 00 04 00 00 00 00 00 20 00 17 08 00 17 81 00 00 00", Datatype::vax_f32()),
        ("14 00 00 00 01 00 00 00 00 00 08 00", Datatype::bitfield(1, LE)),
        ("13 11 00 00 05 00 00 00", Datatype::fixed_string(5, StringPadding::NullPadded, CharacterSet::Utf8)),
        ("15 08 00 00 04 00 00 00 61 62 63 00 00 00 00 00", Datatype::opaque(4, "abc")),
        ("17 00 00 00 08 00 00 00", Datatype::object_reference(8)),
        ("17 01 00 00 0c 00 00 00", Datatype::region_reference(8)),
        (
            "19 01 01 00 10 00 00 00 10 00 00 00 01 00 00 00 00 00 08 00",
            Datatype::variable_string(CharacterSet::Utf8, 8),
        ),
        (
            "2a 00 00 00 18 00 00 00 02 00 00 00 02 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 \
             10 08 00 00 04 00 00 00 00 00 20 00",
            Datatype::array([2, 3], Datatype::i32(LE)),
        ),
        (
            "5b 01 00 00 08 00 00 00 11 20 1f 00 04 00 00 00 00 00 20 00 17 08 00 17 7f 00 00 00",
            Datatype::complex(Datatype::f32(LE)),
        ),
        (
            "18 02 00 00 01 00 00 00 10 08 00 00 01 00 00 00 00 00 08 00 \
             46 41 4c 53 45 00 00 00 54 52 55 45 00 00 00 00 00 01",
            Datatype::bool(),
        ),
    ];
    for (bytes, datatype) in cases {
        let message = decode(&hex(bytes)).unwrap();
        assert_eq!(message.datatype, datatype);
        assert_eq!(message, DatatypeMessage::new(datatype));
        assert_eq!(encode(&message).unwrap(), hex(bytes), "{}", message.datatype);
    }
}

#[test]
fn standard_references() {
    let bytes = hex("47 12 00 00 12 00 00 00");
    let message = decode(&bytes).unwrap();
    let reference = Reference { kind: ReferenceKind::Object2, version: 1 };
    assert_eq!(message.datatype.class, DatatypeClass::Reference(reference));
    assert_eq!(encode(&message).unwrap(), bytes);
    unsupported(&prefix(4, 7, 0x02, 18));
    unsupported(&prefix(4, 7, 0x15, 18));
}

#[test]
fn items_of_sequences_of_standard_references_take_what_they_take_in_files() {
    // libhdf5 stores 64, the size in libhdf5's memory; the elements in the heap have 18 bytes.
    let message = decode(&concat(&[&prefix(1, 9, 0, 16), &hex("47 12 00 00 40 00 00 00")])).unwrap();
    let DatatypeClass::VariableLength(sequence) = message.datatype.class else { panic!("no sequence") };
    assert_eq!(sequence.base.size, 18);
}

#[test]
fn version_1_members_with_dimensions_are_arrays() {
    let member = |rank: u8, dims: [u32; 4]| {
        let dims: Vec<u8> = dims.iter().flat_map(|dim| dim.to_le_bytes()).collect();
        let head = concat(&[&prefix(1, 6, 1, 24), b"a\0\0\0\0\0\0\0", &[0; 4], &[rank, 0, 0, 0]]);
        concat(&[&head, &[0; 8], &dims, &i32_message()])
    };
    let array = Datatype::array([2, 3], Datatype::i32(LE));
    let got = decode(&member(2, [2, 3, 0, 0])).unwrap();
    assert_eq!(got.version, 1);
    assert_eq!(
        got.datatype,
        Datatype::compound(24, vec![Member { name: b"a".to_vec(), offset: 0, datatype: array }])
    );
    // A scalar member, for which the dimension sizes are ignored.
    assert!(decode(&member(0, [9, 9, 9, 9])).is_ok());
    corrupt(&member(5, [1; 4]), "dimensionality");
    corrupt(&member(2, [2, 0, 0, 0]), "dimension size");
    corrupt(&member(2, [2, 4, 0, 0]), "member");
    corrupt(&member(2, [1 << 31, 1 << 31, 0, 0]), "dimension sizes");
    // Encoding the result yields a version 2 compound with an array member.
    let again = decode(&encode(&got).unwrap()).unwrap();
    assert_eq!((again.version, again.datatype), (2, got.datatype));
}

#[test]
fn member_offsets_of_version_3_are_as_wide_as_the_size() {
    for (size, offset) in
        [(255, vec![9]), (256, vec![9, 0]), (65536, vec![9, 0, 0]), (1 << 24, vec![9, 0, 0, 0])]
    {
        let bytes = concat(&[&prefix(3, 6, 1, size), b"ab\0", &offset, &i32_message()]);
        let got = decode(&bytes).unwrap();
        let members = vec![Member { name: b"ab".to_vec(), offset: 9, datatype: Datatype::i32(LE) }];
        assert_eq!(got.datatype, Datatype::compound(size, members));
        let mut wanted = bytes.clone();
        let child = bytes.len() - 12;
        wanted[child] = 0x30;
        assert_eq!(encode(&got).unwrap(), wanted);
    }
}

#[test]
fn compounds_that_contradict_themselves() {
    let compound = |size, members: &[(&str, u8)]| {
        let count = u32::try_from(members.len()).unwrap();
        let mut bytes = prefix(3, 6, count, size);
        for (name, offset) in members {
            bytes.extend(concat(&[name.as_bytes(), &[0, *offset], &i32_message()]));
        }
        bytes
    };
    assert!(decode(&compound(20, &[("b", 14), ("", 0)])).is_ok());
    corrupt(&compound(8, &[]), "number of members");
    corrupt(&compound(7, &[("a", 4)]), "member");
    corrupt(&compound(8, &[("a", 2), ("b", 0)]), "byte offset of member");
    corrupt(&compound(8, &[("a", 0), ("a", 4)]), "member name");
    corrupt(&prefix(3, 6, 0xffff, 8), "number of members");
}

#[test]
fn enumeration_names_follow_the_newer_version() {
    let v3 =
        concat(&[&prefix(1, 8, 2, 1), &hex("30 00 00 00 01 00 00 00 00 00 08 00"), b"a\0bcd\0", &[4, 7]]);
    let member = |name: &[u8], value| EnumerationMember { name: name.to_vec(), value: vec![value] };
    let wanted =
        Datatype::enumeration(Datatype::integer(1, false, LE), vec![member(b"a", 4), member(b"bcd", 7)]);
    assert_eq!(decode(&v3).unwrap().datatype, wanted);
    let base = hex("10 00 00 00 01 00 00 00 00 00 08 00");
    let v1 = concat(&[&prefix(1, 8, 2, 1), &base, b"a\0\0\0\0\0\0\0bcd\0\0\0\0\0", &[4, 7]]);
    assert_eq!(decode(&v1).unwrap().datatype, wanted);
    corrupt(&concat(&[&prefix(1, 8, 1, 1), &base, &[0; 8], &[0]]), "member name");
    corrupt(&concat(&[&prefix(1, 8, 0, 2), &base]), "size");
    assert!(decode(&concat(&[&prefix(1, 8, 0, 1), &base])).is_ok(), "an enumeration may have no members");
    corrupt(&concat(&[&prefix(3, 8, 1, 1), &base, b"a\0"]), "member value");
}

#[test]
fn fixed_point_places() {
    let fixed = |size, offset: u16, precision: u16| {
        concat(&[&prefix(1, 0, 0xfffff6, size), &offset.to_le_bytes(), &precision.to_le_bytes()])
    };
    let got = decode(&fixed(4, 4, 20)).unwrap().datatype;
    let wanted = FixedPoint {
        order: LE,
        signed: false,
        bit_offset: 4,
        precision: 20,
        low_pad: Padding::One,
        high_pad: Padding::One,
    };
    assert_eq!(got.class, DatatypeClass::FixedPoint(wanted));
    assert!(decode(&fixed(100, 0, 3)).is_ok(), "many unused bits");
    corrupt(&fixed(4, 8, 32), "bit offset and precision");
    corrupt(&fixed(4, 0, 0), "bit precision");
    corrupt(&fixed(0, 0, 0), "size");
}

#[test]
fn floating_point_fields() {
    let float = |flags, fields: [u8; 4]| {
        concat(&[&prefix(3, 1, flags, 4), &[0, 0, 32, 0], &fields, &127_u32.to_le_bytes()])
    };
    assert!(decode(&float(0x1f20, [23, 8, 0, 23])).is_ok());
    assert!(decode(&float(0x1f41, [23, 8, 0, 23])).is_ok());
    corrupt(&float(0x1f60, [23, 8, 0, 23]), "byte order");
    corrupt(&float(0x1f30, [23, 8, 0, 23]), "mantissa normalization");
    corrupt(&float(0x2020, [23, 8, 0, 23]), "sign location");
    corrupt(&float(0x1920, [23, 8, 0, 23]), "sign location");
    corrupt(&float(0x0920, [23, 8, 0, 23]), "sign location");
    corrupt(&float(0x1f20, [23, 0, 0, 23]), "exponent size");
    corrupt(&float(0x1f20, [23, 8, 0, 0]), "mantissa size");
    corrupt(&float(0x1f20, [23, 10, 0, 23]), "exponent location and size");
    corrupt(&float(0x1f20, [0, 8, 10, 23]), "mantissa location and size");
    corrupt(&float(0x1f20, [20, 8, 0, 23]), "exponent location");
    // Versions before 3 reserve bit 6.
    let mut old = float(0x1f61, [23, 8, 0, 23]);
    old[0] = 0x11;
    let DatatypeClass::FloatingPoint(old) = decode(&old).unwrap().datatype.class else { panic!() };
    assert_eq!(old.order, FloatOrder::BigEndian);
}

#[test]
fn odd_but_readable() {
    // Decoding ignores the size field of a variable-length type, and the padding and charset of a
    // sequence.
    let sequence = decode(&concat(&[&prefix(1, 9, 0x770, 1), &f32_message()])).unwrap().datatype;
    assert_eq!(sequence, Datatype::sequence(Datatype::f32(LE), 8));
    let narrow = FileParams { size_of_offsets: 4, size_of_lengths: 4 };
    let string = DatatypeMessage::decode(&concat(&[&prefix(1, 9, 1, 12), &i32_message()]), narrow).unwrap();
    assert_eq!(string.datatype.size, 12);
    // An array without dimensions, and an array in a version 1 message, which has the layout of
    // version 2.
    assert!(decode(&concat(&[&prefix(3, 10, 0, 4), &[0], &i32_message()])).is_ok());
    let array = concat(&[&prefix(1, 10, 0, 8), &[1, 0, 0, 0, 2, 0, 0, 0, 7, 7, 7, 7], &i32_message()]);
    assert_eq!(decode(&array).unwrap().datatype, Datatype::array([2], Datatype::i32(LE)));
    // A tag that fills its field has no zero byte.
    let opaque = concat(&[&prefix(1, 5, 8, 2), b"12345678"]);
    assert_eq!(decode(&opaque).unwrap().datatype, Datatype::opaque(2, "12345678"));
    assert_eq!(encode(&decode(&opaque).unwrap()).unwrap(), opaque);
    corrupt(&concat(&[&prefix(1, 5, 5, 4), b"12345"]), "length of ASCII tag");
    // Bytes after the message are padding.
    assert!(decode(&concat(&[&i32_message(), &[0, 0, 0, 0]])).is_ok());
}

#[test]
fn what_is_not_known() {
    unsupported(&prefix(0, 0, 0, 4));
    unsupported(&prefix(6, 0, 0, 4));
    unsupported(&prefix(1, 12, 0, 4));
    unsupported(&prefix(1, 3, 3, 4));
    unsupported(&prefix(1, 3, 0x20, 4));
    unsupported(&concat(&[&prefix(1, 9, 2, 16), &i32_message()]));
    unsupported(&concat(&[&prefix(5, 11, 3, 8), &f32_message()]));
    corrupt(&concat(&[&prefix(3, 10, 0, 4), &[33]]), "dimensionality");
}

#[test]
fn depth_is_limited() {
    let mut bytes = i32_message();
    for _ in 1..Limits::MAX_DATATYPE_DEPTH {
        bytes = concat(&[&prefix(3, 9, 0, 16), &bytes]);
    }
    assert!(decode(&bytes).is_ok());
    bytes = concat(&[&prefix(3, 9, 0, 16), &bytes]);
    assert!(matches!(decode(&bytes), Err(FormatError::Limit { .. })));
}

#[test]
fn a_reader_stops_behind_the_datatype() {
    let bytes = concat(&[&i32_message(), b"next"]);
    let mut reader = Reader::new("Attribute message", &bytes);
    DatatypeMessage::decode_prefix(&mut reader, P).unwrap();
    assert_eq!(reader.peek_rest(), b"next");
}

#[test]
fn what_cannot_be_encoded() {
    let background = FixedPoint {
        order: LE,
        signed: false,
        bit_offset: 0,
        precision: 8,
        low_pad: Padding::Background,
        high_pad: Padding::Zero,
    };
    let value = EnumerationMember { name: b"a".to_vec(), value: vec![1, 2] };
    let cases = [
        Datatype { size: 1, class: DatatypeClass::FixedPoint(background) },
        Datatype::opaque(1, "x".repeat(249)),
        Datatype::opaque(1, "a\0b"),
        Datatype::compound(4, Vec::new()),
        Datatype::packed([("a\0", Datatype::u8())]),
        Datatype::array([1; 33], Datatype::u8()),
        Datatype::enumeration(Datatype::u8(), vec![value]),
        Datatype { size: 0, ..Datatype::u8() },
    ];
    for datatype in cases {
        assert!(encode(&DatatypeMessage::new(datatype.clone())).is_err(), "{datatype}");
    }
}

fn order() -> impl Strategy<Value = hyperslab_datatype::ByteOrder> {
    prop_oneof![Just(LE), Just(BE)]
}

fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::Zero), Just(Padding::One)]
}

fn integer() -> impl Strategy<Value = Datatype> {
    let place = (1_u16..200).prop_flat_map(|end| (Just(end), 0..end));
    (place, 0_u32..4, order(), any::<bool>(), padding(), padding()).prop_map(
        |((end, bit_offset), spare, order, signed, low_pad, high_pad)| Datatype {
            size: u32::from(end).div_ceil(8) + spare,
            class: DatatypeClass::FixedPoint(FixedPoint {
                order,
                signed,
                bit_offset,
                precision: end - bit_offset,
                low_pad,
                high_pad,
            }),
        },
    )
}

fn float() -> impl Strategy<Value = Datatype> {
    let orders =
        prop_oneof![Just(FloatOrder::LittleEndian), Just(FloatOrder::BigEndian), Just(FloatOrder::Vax)];
    let norms =
        prop_oneof![Just(Normalization::None), Just(Normalization::MsbSet), Just(Normalization::Implied)];
    (orders, norms, 1_u8..60, 1_u8..60, any::<u32>(), padding(), padding(), padding()).prop_map(
        |(
            order,
            normalization,
            exponent_size,
            mantissa_size,
            exponent_bias,
            low_pad,
            high_pad,
            internal_pad,
        )| {
            let sign_location = exponent_size + mantissa_size;
            Datatype {
                size: u32::from(sign_location) / 8 + 1,
                class: DatatypeClass::FloatingPoint(FloatingPoint {
                    order,
                    bit_offset: 0,
                    precision: u16::from(sign_location) + 1,
                    sign_location,
                    exponent_location: mantissa_size,
                    exponent_size,
                    mantissa_location: 0,
                    mantissa_size,
                    exponent_bias,
                    normalization,
                    low_pad,
                    high_pad,
                    internal_pad,
                }),
            }
        },
    )
}

fn leaf() -> impl Strategy<Value = Datatype> {
    prop_oneof![
        integer(),
        float(),
        Just(Datatype::bool()),
        (1_u32..300).prop_map(|size| Datatype::fixed_string(
            size,
            StringPadding::SpacePadded,
            CharacterSet::Utf8
        )),
        (1_u32..300, "[a-z]{0,20}").prop_map(|(size, tag)| Datatype::opaque(size, tag)),
        Just(Datatype::variable_string(CharacterSet::Ascii, 8)),
        Just(Datatype::region_reference(8)),
        (1_u16..9, order()).prop_map(|(size, order)| Datatype::bitfield(size, order)),
    ]
}

fn enumeration() -> impl Strategy<Value = Datatype> {
    (integer(), 0_usize..5).prop_map(|(base, count)| {
        let value = vec![7; usize::try_from(base.size).unwrap()];
        let member = |n| EnumerationMember { name: format!("name{n}").into_bytes(), value: value.clone() };
        let members = (0..count).map(member).collect();
        let size = base.size;
        Datatype { size, class: DatatypeClass::Enumeration(Enumeration { base: Box::new(base), members }) }
    })
}

fn datatype() -> impl Strategy<Value = Datatype> {
    prop_oneof![leaf(), enumeration()].prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..5).prop_map(|types| {
                Datatype::packed(types.into_iter().enumerate().map(|(n, each)| (format!("m{n}"), each)))
            }),
            (prop::collection::vec(1_u32..5, 1..4), inner.clone())
                .prop_map(|(dims, base)| Datatype::array(dims, base)),
            inner.prop_map(|base| Datatype::sequence(base, 8)),
            float().prop_map(Datatype::complex),
        ]
    })
}

#[test]
fn nested_datatypes_take_the_lowest_version() {
    let byte = || Datatype::integer(1, false, LE);
    let inner = Datatype::packed([("x", byte())]);
    let message =
        DatatypeMessage::new(Datatype::packed([("inner", inner), ("array", Datatype::array([2], byte()))]));
    let mut writer = Writer::new(NAME);
    message.encode_from(message.version, &mut writer);
    let bytes = writer.finish().unwrap();
    assert_eq!(decode(&bytes).unwrap(), message);
    // A member of version 1 has 28 more bytes than a member of version 2.
    assert_eq!(encode(&message).unwrap().len() - bytes.len(), 28);
}

proptest! {
    #[test]
    fn round_trip(datatype in datatype(), lowest in 1_u8..=5) {
        let message = DatatypeMessage { version: lowest.max(minimum_version(&datatype)), datatype };
        let bytes = encode(&message).unwrap();
        prop_assert_eq!(decode(&bytes).unwrap(), message);
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            prop_assert!(decode(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn mutations_do_not_panic(
        datatype in datatype(),
        lowest in 1_u8..=5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = encode(&DatatypeMessage { version: lowest, datatype }).unwrap();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(message) = decode(&bytes) {
            // Every decoded datatype that can be encoded decodes to the same datatype again.
            if let Ok(again) = encode(&message) {
                prop_assert_eq!(decode(&again).unwrap().datatype, message.datatype);
            }
        }
    }
}
