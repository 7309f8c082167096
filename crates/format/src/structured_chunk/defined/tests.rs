//! Tests of encoded selections, also against the output of the selection codec.

use hyperslab_dataspace::{Block, DefinedSet, Dims, Hyperslab, Points, Region, RegularHyperslab, Selection};
use proptest::prelude::*;

use super::*;
use crate::mutation::damage;
use crate::selection::{SelectionFormat, encode_selection};
use DefinedEncoding::{Hyperslab as AsHyperslab, Points as AsPoints, Shortest};

const MAX_ELEMENTS: u64 = 1 << 20;

/// Returns a dataspace description with the chunk's extent and the given selection.
fn described(chunk: &[u64], selection: &[u8]) -> Vec<u8> {
    let rank = u8::try_from(chunk.len()).unwrap();
    let mut bytes = vec![1, 0, 8, 4 + 8 * rank, 0, 0, 0, 2, rank, 0, 1];
    chunk.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
    bytes.extend(selection);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn shorts(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn set(chunk: &[u64], offsets: &[u64]) -> DefinedSet {
    DefinedSet::of_offsets(chunk, offsets.to_vec()).unwrap()
}

fn written(set: &DefinedSet, encoding: DefinedEncoding, selection: &[u8]) {
    let bytes = encode_defined(set, encoding).unwrap();
    assert_eq!(bytes, described(set.dims(), selection));
    let decoded = decode_defined(&bytes, set.dims(), MAX_ELEMENTS).unwrap();
    assert_eq!(decoded, DecodedDefined { set: set.clone(), order: None, stored: set.len() });
    assert!(decode_defined(&bytes[..bytes.len() - 1], set.dims(), MAX_ELEMENTS).is_err());
    assert!(decode_defined(&[&bytes[..], &[0]].concat(), set.dims(), MAX_ELEMENTS).is_err());
}

#[test]
fn what_is_written() {
    written(&DefinedSet::all(&[2, 3]).unwrap(), AsHyperslab, &words(&[3, 1, 0, 0]));
    written(&DefinedSet::empty(&[2, 3]).unwrap(), AsPoints, &words(&[0, 1, 0, 0]));
    let column = set(&[4, 5], &[1, 6, 11, 16]);
    let regular = [words(&[2, 3]), vec![1, 2], words(&[2]), shorts(&[0, 1, 1, 4, 1, 1, 1, 1])].concat();
    written(&column, AsHyperslab, &regular);
    let points = [words(&[1, 2]), vec![2], words(&[2]), shorts(&[4, 0, 1, 1, 1, 2, 1, 3, 1])].concat();
    written(&column, AsPoints, &points);
    assert!(points.len() > regular.len());
    written(&column, Shortest, &regular);
    let few = set(&[4, 70_000], &[3, 69_999]);
    let points = [words(&[1, 2]), vec![4], words(&[2, 2, 0, 3, 0, 69_999])].concat();
    written(&few, Shortest, &points);
    let near = set(&[4, 70_000], &[3, 60_000, 140_005]);
    let points = [words(&[1, 2]), vec![2], words(&[2]), shorts(&[3, 0, 3, 0, 60_000, 2, 5])].concat();
    written(&near, Shortest, &points);
    let blocks = [words(&[2, 3]), vec![0, 2], words(&[2]), shorts(&[2, 0, 1, 1, 2, 1, 4, 1, 4])].concat();
    written(&set(&[4, 5], &[1, 2, 6, 7, 9]), AsHyperslab, &blocks);
    written(&set(&[4, 5], &[1, 2, 6, 7, 9]), Shortest, &blocks);
}

#[test]
fn points_in_any_order() {
    let decode = |points: &[u16]| {
        let count = u16::try_from(points.len() / 2).unwrap();
        let selection = [words(&[1, 2]), vec![2], words(&[2]), shorts(&[count]), shorts(points)].concat();
        decode_defined(&described(&[4, 5], &selection), &[4, 5], 4)
    };
    let decoded = decode(&[3, 4, 0, 1, 3, 4, 2, 0]).unwrap();
    assert_eq!(
        decoded,
        DecodedDefined { set: set(&[4, 5], &[1, 10, 19]), order: Some(vec![1, 3, 2]), stored: 4 }
    );
    assert_eq!(decode(&[0, 1, 0, 1]).unwrap().order, Some(vec![1]));
    assert_eq!(decode(&[]).unwrap(), DecodedDefined { set: set(&[4, 5], &[]), order: None, stored: 0 });
    let error = decode(&[0, 1, 0, 5]).unwrap_err().to_string();
    assert!(error.contains("less than 5 (the size of the chunk), got 5"), "{error}");
    assert!(decode(&[4, 0]).is_err());
    assert!(matches!(decode(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Err(FormatError::Limit { .. })));
}

#[test]
fn other_forms_of_the_extent() {
    let all = words(&[3, 1, 0, 0]);
    let decode = |extent: &[u8]| {
        let length = u32::try_from(extent.len()).unwrap();
        decode_defined(&[&[1, 0, 8], &words(&[length])[..], extent, &all].concat(), &[2, 3], MAX_ELEMENTS)
    };
    let sizes: Vec<u8> = [2_u64, 3].iter().flat_map(|size| size.to_le_bytes()).collect();
    let sound: [&[u8]; 4] = [
        &[&[2, 2, 0, 1], &sizes[..]].concat(),
        &[&[2, 2, 1, 1], &sizes[..], &sizes].concat(),
        &[&[2, 2, 1, 1], &sizes[..], &[0xff; 16]].concat(),
        &[&[1, 2, 0, 0, 0, 0, 0, 0], &sizes[..]].concat(),
    ];
    for extent in sound {
        assert!(decode(extent).unwrap().set.is_all(), "{extent:?}");
    }
    let turned: Vec<u8> = [3_u64, 2].iter().flat_map(|size| size.to_le_bytes()).collect();
    let bad: [&[u8]; 5] = [
        &[&[2, 2, 0, 1], &turned[..]].concat(),
        &[&[2, 1, 0, 1], &sizes[..8]].concat(),
        &[&[2, 2, 0, 1], &sizes[..], &[0]].concat(),
        &[2, 0, 0, 0],
        &[2, 0, 0, 2],
    ];
    for extent in bad {
        assert!(decode(extent).is_err(), "{extent:?}");
    }
}

#[test]
fn contradictions_are_refused() {
    let decode = |selection: &[u8]| decode_defined(&described(&[4, 5], selection), &[4, 5], MAX_ELEMENTS);
    let regular =
        |fields: [u16; 8]| decode(&[words(&[2, 3]), vec![1, 2], words(&[2]), shorts(&fields)].concat());
    assert_eq!(regular([0, 2, 2, 1, 0, 1, 1, 5]).unwrap().set.len(), 10);
    for bad in [
        [0, 0, 2, 1, 0, 1, 1, 5],      // no stride
        [0, 1, 2, 2, 0, 1, 1, 5],      // blocks that overlap
        [0, 2, 3, 1, 0, 1, 1, 5],      // too many blocks
        [0, 2, 2, 1, 1, 1, 1, 5],      // block too wide
        [0, 2, 0xffff, 1, 0, 1, 1, 5], // unlimited
        [0, 1, 1, 0xffff, 0, 1, 1, 5],
    ] {
        assert!(regular(bad).is_err(), "{bad:?}");
    }
    let blocks = |count: u16, corners: &[u16]| {
        decode(&[words(&[2, 3]), vec![0, 2], words(&[2]), shorts(&[count]), shorts(corners)].concat())
    };
    assert_eq!(blocks(2, &[0, 0, 3, 4, 1, 1, 2, 2]).unwrap().stored, 20);
    for bad in [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 4, 0], [0, 0, 0, 5]] {
        assert!(blocks(1, &bad).is_err(), "{bad:?}");
    }
    let outside = blocks(1, &[0, 0, 0, 5]).unwrap_err().to_string();
    assert!(outside.contains("less than 5 (the size of the chunk), got 5"), "{outside}");
    assert!(blocks(0xffff, &[0, 0, 0, 0]).unwrap_err().to_string().contains("number of blocks"));
    for bad in [
        words(&[4, 1, 0, 0]),
        words(&[3, 2, 0, 0]),
        words(&[1, 3, 0, 0]),
        words(&[2, 4, 0, 0]),
        words(&[1, 1, 0, 12, 1, 1, 0]),
        words(&[1, 1, 0, 8, 2, u32::MAX]),
        words(&[2, 1, 0, 8, 2, u32::MAX]),
        [words(&[1, 2]), vec![3], words(&[2, 0])].concat(),
        [words(&[2, 3]), vec![2, 2], words(&[2, 0])].concat(),
        [words(&[2, 2]), vec![0], words(&[0, 2])].concat(),
    ] {
        assert!(decode(&bad).is_err(), "{bad:?}");
    }
    // Decoders ignore lengths.
    assert_eq!(decode(&words(&[1, 1, 7, 9999, 2, 1, 3, 4])).unwrap().set, set(&[4, 5], &[19]));
    assert_eq!(decode(&words(&[2, 1, 7, 0, 2, 1, 3, 3, 3, 4])).unwrap().set, set(&[4, 5], &[18, 19]));
}

#[test]
fn memory_is_bounded() {
    let huge = [1_u64 << 40, 1 << 20];
    let limited = |selection: &Selection| {
        let bytes = described(&huge, &encode_selection(selection, SelectionFormat::Compact).unwrap());
        let error = decode_defined(&bytes, &huge, 1 << 16).unwrap_err();
        assert!(matches!(error, FormatError::Limit { .. }), "{error}");
    };
    limited(&Selection::All);
    let strided = RegularHyperslab::strided(&[0, 0], &[2, 2], &[1 << 39, 1 << 19]);
    limited(&Selection::Hyperslab(Hyperslab::Regular(strided)));
    let block =
        |start: &[u64], end: &[u64]| Block { start: Dims::from_slice(start), end: Dims::from_slice(end) };
    let tall = block(&[5, 1], &[(1 << 40) - 1, 1]);
    let across = block(&[3, 0], &[1 << 30, 7]);
    let whole_rows = block(&[5, 0], &[(1 << 40) - 1, (1 << 20) - 1]);
    let lists = [
        vec![tall.clone()],
        vec![tall.clone(), across.clone()],
        vec![across.clone(), tall],
        vec![across, whole_rows],
    ];
    for blocks in lists {
        limited(&Selection::Hyperslab(Hyperslab::Irregular { rank: 2, blocks }));
    }
    // Identical blocks count as many elements as one block.
    let blocks = vec![block(&[0, 0], &[99, 99]); 1000];
    let same = Selection::Hyperslab(Hyperslab::Irregular { rank: 2, blocks });
    let bytes = described(&huge, &encode_selection(&same, SelectionFormat::Compact).unwrap());
    assert_eq!(decode_defined(&bytes, &huge, 10_000).unwrap().stored, 10_000);
}

/// Generates chunks of one to five dimensions, some with more elements than 32 bits can count.
fn chunks() -> impl Strategy<Value = Vec<u64>> {
    let small = prop::collection::vec(1..9_u64, 1..6);
    let large =
        (prop::collection::vec(1..9_u64, 1..6), 0..5_usize, 10..45_u32).prop_map(|(mut dims, at, bits)| {
            let at = at % dims.len();
            dims[at] = (1 << bits) + 3;
            dims
        });
    prop_oneof![small, large]
}

fn corner(chunk: &[u64]) -> impl Strategy<Value = Vec<u64>> + use<> {
    let at = |size: u64| prop_oneof![4 => 0..size.min(9), 1 => 0..size];
    chunk.iter().map(|size| at(*size)).collect::<Vec<_>>()
}

fn sets() -> impl Strategy<Value = DefinedSet> {
    chunks().prop_flat_map(|chunk| {
        let boxes = prop::collection::vec((corner(&chunk), 1..7_u64, 0..6_usize), 0..12);
        boxes.prop_map(move |boxes| {
            let mut set = DefinedSet::empty(&chunk).unwrap();
            for (start, size, wide) in boxes {
                let count: Vec<u64> =
                    (0..chunk.len()).map(|at| if at % 6 == wide { size } else { 1 + size % 2 }).collect();
                let region = Region::new(&start, &count).unwrap();
                set = set.overlay(&DefinedSet::of_region(&chunk, &region).unwrap()).0;
            }
            set
        })
    })
}

fn selections(chunk: &[u64]) -> impl Strategy<Value = Selection> + use<> {
    let rank = chunk.len();
    let points = prop::collection::vec(corner(chunk), 0..30)
        .prop_map(move |points| Selection::Points(Points { rank, coordinates: points.concat() }));
    let sizes = chunk.to_vec();
    let block = (corner(chunk), prop::collection::vec(0..4_u64, rank)).prop_map(move |(start, more)| {
        let end =
            start.iter().zip(more).zip(&sizes).map(|((start, more), size)| (start + more).min(size - 1));
        Block { end: end.collect(), start: start.into() }
    });
    let blocks =
        (prop::collection::vec(block, 1..20), any::<bool>()).prop_map(move |(mut blocks, sorted)| {
            if sorted {
                blocks.sort_by(|a, b| a.start.cmp(&b.start));
            }
            Selection::Hyperslab(Hyperslab::Irregular { rank, blocks })
        });
    let sizes = chunk.to_vec();
    let regular = (corner(chunk), prop::collection::vec((1..4_u64, 1..4_u64, 1..4_u64), rank)).prop_map(
        move |(start, fields)| {
            let axes = start.iter().zip(fields).zip(&sizes).map(|((start, (gap, count, block)), size)| {
                let block = block.min(size - start);
                let stride = block + gap;
                [*start, stride, count.min((size - start - block) / stride + 1), block]
            });
            let axes: Vec<[u64; 4]> = axes.collect();
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
                start: axes.iter().map(|axis| axis[0]).collect(),
                stride: axes.iter().map(|axis| axis[1]).collect(),
                count: axes.iter().map(|axis| axis[2]).collect(),
                block: axes.iter().map(|axis| axis[3]).collect(),
            }))
        },
    );
    prop_oneof![1 => Just(Selection::None), 1 => Just(Selection::All), 4 => points, 8 => blocks, 4 => regular]
}

fn selected() -> impl Strategy<Value = (Vec<u64>, Selection)> {
    chunks().prop_flat_map(|chunk| (Just(chunk.clone()), selections(&chunk)))
}

proptest! {
    #[test]
    fn round_trip(set in sets()) {
        let lengths = [AsHyperslab, AsPoints, Shortest].map(|encoding| {
            let bytes = encode_defined(&set, encoding).unwrap();
            let decoded = decode_defined(&bytes, set.dims(), set.len()).unwrap();
            assert_eq!(decoded, DecodedDefined { set: set.clone(), order: None, stored: set.len() });
            bytes.len()
        });
        prop_assert_eq!(lengths[2], lengths[0].min(lengths[1]));
    }

    #[test]
    fn what_the_plain_codec_writes((chunk, selection) in selected()) {
        let expected = DefinedSet::of_selection(&chunk, &selection).unwrap();
        for encoding in [SelectionFormat::Compatible, SelectionFormat::Compact] {
            let bytes = described(&chunk, &encode_selection(&selection, encoding).unwrap());
            let decoded = decode_defined(&bytes, &chunk, u64::MAX).unwrap();
            prop_assert_eq!(&decoded.set, &expected);
            let Selection::Points(points) = &selection else {
                prop_assert_eq!(decoded, DecodedDefined { stored: expected.len(), set: expected.clone(), order: None });
                continue;
            };
            // Of several points for one element, the last counts.
            let listed: Vec<u64> = points
                .points()
                .map(|at| at.iter().zip(&chunk).fold(0, |offset, (at, size)| offset * size + at))
                .collect();
            prop_assert_eq!(decoded.stored, listed.len() as u64);
            let order: Vec<u64> = expected
                .offsets()
                .map(|offset| listed.iter().rposition(|at| *at == offset).unwrap() as u64)
                .collect();
            let ascending = listed.is_sorted_by(|a, b| a < b);
            prop_assert_eq!(decoded.order, (!ascending).then_some(order));
        }
    }

    #[test]
    fn damaged((chunk, selection) in selected(), damage in damage()) {
        for encoding in [SelectionFormat::Compatible, SelectionFormat::Compact] {
            let bytes = described(&chunk, &encode_selection(&selection, encoding).unwrap());
            damage.inflict(&bytes, |bytes| {
                if let Ok(decoded) = decode_defined(bytes, &chunk, 1 << 12) {
                    let again = encode_defined(&decoded.set, Shortest).unwrap();
                    assert_eq!(decode_defined(&again, &chunk, 1 << 12).unwrap().set, decoded.set);
                }
            });
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..4_u32, version in 1..4_u32) {
        drop(decode_defined(&bytes, &[4, 5], 1 << 12));
        let selection = [words(&[kind, version]), bytes].concat();
        drop(decode_defined(&described(&[4, 5], &selection), &[4, 5], 1 << 12));
    }
}
