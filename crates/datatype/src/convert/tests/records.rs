//! Records, compared with a model that converts one record after another, and variable-length data.

use proptest::prelude::*;

use super::*;
use crate::ByteOrder::{BigEndian as BE, LittleEndian as LE};
use crate::{CharacterSet, DatatypeClass, Member, StringPadding};

fn leaf() -> impl Strategy<Value = Datatype> {
    prop_oneof![
        Just(Datatype::u8()),
        Just(Datatype::i16(BE)),
        Just(Datatype::i32(LE)),
        Just(Datatype::f32(BE)),
        Just(Datatype::f64(LE)),
        Just(Datatype::integer(3, true, LE)),
        Just(Datatype::complex(Datatype::f64(LE))),
        Just(Datatype::array([2], Datatype::i16(LE))),
        Just(Datatype::fixed_string(5, StringPadding::NullPadded, CharacterSet::Ascii)),
    ]
}

/// Returns a compound of the given members in the order of their ranks, with gaps before them.
fn record(members: Vec<(String, Datatype, u32, u32)>, tail: u32) -> Datatype {
    let mut members = members;
    members.sort_by_key(|(_, _, rank, _)| *rank);
    let (mut offset, mut placed) = (0, Vec::new());
    for (name, datatype, _, gap) in members {
        offset += gap;
        placed.push(Member { name: name.into_bytes(), offset, datatype: datatype.clone() });
        offset += datatype.size;
    }
    Datatype::compound(offset + tail, placed)
}

/// Another number type that numbers of the type can be converted to.
fn other(datatype: &Datatype, change: bool) -> Datatype {
    match &datatype.class {
        _ if !change => datatype.clone(),
        DatatypeClass::Complex(_) => Datatype::complex_compound(Datatype::f32(BE)),
        DatatypeClass::Array(_) => Datatype::array([2], Datatype::f32(LE)),
        DatatypeClass::String(_) => {
            Datatype::fixed_string(3, StringPadding::SpacePadded, CharacterSet::Ascii)
        }
        _ => Datatype::f64(BE),
    }
}

prop_compose! {
    /// Two compounds. Each member is in one or both of them, with different types and offsets.
    fn pair(levels: u32)(
        members in prop::collection::vec(
            (member(levels), 0_u32..100, 0_u32..100, 0_u32..4, 0_u32..4, 0_u8..6),
            1..6,
        ),
        tails in (0_u32..4, 0_u32..4),
    ) -> (Datatype, Datatype) {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (index, ((one, two), rank, other_rank, gap, other_gap, sides)) in members.into_iter().enumerate() {
            let name = format!("m{index}");
            if sides != 0 || index == 0 {
                from.push((name.clone(), one, rank, gap));
            }
            if sides != 1 || index == 0 {
                to.push((name, two, other_rank, other_gap));
            }
        }
        (record(from, tails.0), record(to, tails.1))
    }
}

fn member(levels: u32) -> BoxedStrategy<(Datatype, Datatype)> {
    let plain =
        (leaf(), any::<bool>()).prop_map(|(datatype, change)| (datatype.clone(), other(&datatype, change)));
    if levels == 0 {
        return plain.boxed();
    }
    let inner = (pair(levels - 1), 0_u32..3).prop_map(|((from, to), times)| match times {
        0 => (from, to),
        _ => (Datatype::array([times], from), Datatype::array([times], to)),
    });
    prop_oneof![2 => plain, 1 => inner].boxed()
}

/// The model: converts one member after another of one record after another, with a plan for each
/// leaf. Equal types are copied including the gaps between their members.
fn model(source: &Datatype, destination: &Datatype, from: &[u8], to: &mut [u8]) {
    match (&source.class, &destination.class) {
        _ if source == destination => to.copy_from_slice(from),
        (DatatypeClass::Compound(one), DatatypeClass::Compound(two)) => {
            for member in &two.members {
                let Some(found) = one.members.iter().find(|found| found.name == member.name) else {
                    continue;
                };
                let range = |member: &Member| {
                    let start = usize::try_from(member.offset).unwrap();
                    start..start + size_of(&member.datatype).unwrap()
                };
                model(&found.datatype, &member.datatype, &from[range(found)], &mut to[range(member)]);
            }
        }
        (DatatypeClass::Array(one), DatatypeClass::Array(two)) => {
            let sizes = (size_of(&one.base).unwrap(), size_of(&two.base).unwrap());
            for (from, to) in from.chunks(sizes.0).zip(to.chunks_mut(sizes.1)) {
                model(&one.base, &two.base, from, to);
            }
        }
        _ => Conversion::new(source, destination).unwrap().convert(from, to, 1).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn records_as_the_model_does(
        (source, destination) in pair(2),
        seed in prop::collection::vec(any::<u8>(), 64),
        count in 1_usize..300,
    ) {
        let (from_size, to_size) = (size_of(&source).unwrap(), size_of(&destination).unwrap());
        let from: Vec<u8> = seed.iter().cycle().copied().take(from_size * count).collect();
        let mut to: Vec<u8> = seed.iter().rev().cycle().copied().take(to_size * count).collect();
        let mut wanted = to.clone();
        for (from, to) in from.chunks(from_size).zip(wanted.chunks_mut(to_size)) {
            model(&source, &destination, from, to);
        }
        Conversion::new(&source, &destination).unwrap().convert(&from, &mut to, count).unwrap();
        prop_assert_eq!(to, wanted);
    }

    #[test]
    fn strided_elements_as_the_model_does(
        source in leaf(),
        change in any::<bool>(),
        gaps in (0_usize..40, 0_usize..40),
        count in 0_usize..700,
        seed in any::<u8>(),
    ) {
        let destination = other(&source, change);
        let sizes = (size_of(&source).unwrap(), size_of(&destination).unwrap());
        let strides = (sizes.0 + gaps.0, sizes.1 + gaps.1);
        // The last element has no gap after it.
        let length = |size: usize, stride: usize| if count == 0 { 0 } else { (count - 1) * stride + size };
        let from: Vec<u8> = (0..length(sizes.0, strides.0)).map(|at| (at * 37).to_le_bytes()[0] ^ seed).collect();
        let mut to: Vec<u8> = (0..length(sizes.1, strides.1)).map(|at| at.to_le_bytes()[0] ^ seed).collect();
        let mut wanted = to.clone();
        for (from, to) in from.chunks(strides.0).zip(wanted.chunks_mut(strides.1)) {
            model(&source, &destination, &from[..sizes.0], &mut to[..sizes.1]);
        }
        let kernel = Conversions::default().kernel(&source, &destination).unwrap();
        let strided = Strided::new(&from, sizes.0, strides.0);
        prop_assert_eq!(strided.len(), count);
        kernel.run_strided(strided, StridedMut::new(&mut to, sizes.1, strides.1)).unwrap();
        prop_assert_eq!(to, wanted);
    }
}

#[test]
fn one_member_of_many() {
    let point = Datatype::packed([("x", Datatype::f32(LE)), ("y", Datatype::f64(BE))]);
    let body = Datatype::packed([("id", Datatype::u8()), ("at", point), ("a.b", Datatype::u8())]);
    let bytes: Vec<u8> = (0..600_u16)
        .flat_map(|at| [&[1][..], &f32::from(at).to_le_bytes(), &f64::from(at).to_be_bytes(), &[7]].concat())
        .collect();
    let conversion = Conversions::default().plan_member(&body, "at.y", &Datatype::i16(LE)).unwrap();
    let mut out = vec![0; 1200];
    conversion.convert(&bytes, &mut out, 600).unwrap();
    assert_eq!(out, (0..600_u16).flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let conversion = Conversions::default().plan_member(&body, "a.b", &Datatype::u8()).unwrap();
    let mut out = vec![0; 600];
    conversion.convert(&bytes, &mut out, 600).unwrap();
    assert_eq!(out, [7; 600]);
    for missing in ["", "at.", "at.z", "id.x", ".", "at.y."] {
        assert!(Conversions::default().plan_member(&body, missing, &Datatype::u8()).is_err(), "{missing}");
    }
}

/// Returns conversions between two heaps.
fn between_heaps() -> (Arc<VariableArena>, Arc<VariableArena>, Conversions) {
    let (from, to) = (Arc::new(VariableArena::default()), Arc::new(VariableArena::default()));
    let conversions = Conversions::default().with_source_heap(from.clone()).with_destination_heap(to.clone());
    (from, to, conversions)
}

fn contents(heap: &VariableArena, descriptor: &[u8], item_size: usize) -> Vec<u8> {
    let mut found = Vec::new();
    heap.items(descriptor, item_size, &mut |items| {
        found.extend_from_slice(items);
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn sequences_within_records_go_from_heap_to_heap() {
    let (from, to, conversions) = between_heaps();
    let record = |base| Datatype::packed([("n", Datatype::u8()), ("s", Datatype::sequence(base, 8))]);
    let (source, destination) = (record(Datatype::u8()), record(Datatype::i16(BE)));
    let mut element = vec![3; 17];
    from.store(&[1, 2, 255], 3, &mut element[1..]).unwrap();
    let mut out = [0; 17];
    conversions.plan(&source, &destination).unwrap().convert(&element, &mut out, 1).unwrap();
    assert_eq!(out[0], 3);
    assert_eq!(contents(&to, &out[1..], 2), [0, 1, 0, 2, 0, 255]);
    // Equal types need a conversion, too: a descriptor is only valid for its own heap.
    conversions.plan(&source, &source).unwrap().convert(&element, &mut out, 1).unwrap();
    assert_eq!(contents(&to, &out[1..], 1), [1, 2, 255]);
}

#[test]
fn sequences_of_sequences() {
    let (from, to, conversions) = between_heaps();
    let nested = Datatype::sequence(Datatype::sequence(Datatype::u8(), 8), 8);
    let (mut inner, mut outer) = ([0; 32], [0; 16]);
    from.store(b"ab", 2, &mut inner[..16]).unwrap();
    from.store(b"c", 1, &mut inner[16..]).unwrap();
    from.store(&inner, 2, &mut outer).unwrap();
    let mut out = [0; 16];
    conversions.plan(&nested, &nested).unwrap().convert(&outer, &mut out, 1).unwrap();
    let found = contents(&to, &out, 16);
    assert_eq!(contents(&to, &found[..16], 1), b"ab");
    assert_eq!(contents(&to, &found[16..], 1), b"c");
}

#[test]
fn strings_of_both_kinds() {
    let (from, to, conversions) = between_heaps();
    let variable = Datatype::variable_string(CharacterSet::Utf8, 8);
    let fixed = |padding| Datatype::fixed_string(4, padding, CharacterSet::Utf8);
    let mut element = [0; 16];
    from.store(b"abc\0d", 5, &mut element).unwrap();
    let mut out = [0; 4];
    let plan = conversions.plan(&variable, &fixed(StringPadding::SpacePadded)).unwrap();
    plan.convert(&element, &mut out, 1).unwrap();
    assert_eq!(&out, b"abc ");
    let mut back = [0; 16];
    conversions
        .plan(&fixed(StringPadding::SpacePadded), &variable)
        .unwrap()
        .convert(&out, &mut back, 1)
        .unwrap();
    assert_eq!(contents(&to, &back, 1), b"abc");
    let ascii = Datatype::variable_string(CharacterSet::Ascii, 8);
    assert!(conversions.plan(&variable, &ascii).is_err());
    assert!(conversions.plan(&ascii, &fixed(StringPadding::NullPadded)).is_err());
    assert!(Conversion::new(&variable, &fixed(StringPadding::NullPadded)).is_err());
}

#[test]
fn descriptors_that_lead_nowhere() {
    let (_, _, conversions) = between_heaps();
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    let plan = conversions.plan(&text, &text).unwrap();
    let got = plan.convert(&[0xff; 16], &mut [0; 16], 1);
    assert!(matches!(got, Err(ConvertError::Heap(_))), "{got:?}");
}
