//! Tests of sets of defined elements against ordered sets of offsets.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::{Hyperslab, Points, Region, Selection};

type Model = BTreeSet<u64>;

fn set(dims: &[u64], offsets: &Model) -> DefinedSet {
    let mut builder = DefinedBuilder::with_capacity(dims, 0).unwrap();
    offsets.iter().for_each(|offset| builder.push(*offset));
    builder.finish().unwrap()
}

/// Returns values that tell their source: the offset combined with the mark of the set.
fn values(set: &Model, mark: u64) -> BTreeMap<u64, u64> {
    set.iter().map(|offset| (*offset, offset ^ mark)).collect()
}

fn bytes<const N: usize>(values: &BTreeMap<u64, u64>) -> Vec<u8> {
    values
        .values()
        .flat_map(|value| {
            let mut element = [7; N];
            let word = value.to_le_bytes();
            element.iter_mut().zip(word).for_each(|(to, from)| *to = from);
            element
        })
        .collect()
}

fn check_values<const N: usize>(
    segments: &Segments,
    old: &BTreeMap<u64, u64>,
    new: &BTreeMap<u64, u64>,
    expected: &BTreeMap<u64, u64>,
) {
    let gathered = segments.gather(&bytes::<N>(old), &bytes::<N>(new), N).unwrap();
    assert_eq!(gathered, bytes::<N>(expected));
}

fn check_result(
    result: (DefinedSet, Segments),
    old: &BTreeMap<u64, u64>,
    new: &BTreeMap<u64, u64>,
    expected: &BTreeMap<u64, u64>,
) {
    let (defined, segments) = result;
    let offsets: Model = expected.keys().copied().collect();
    // Equal sets are stored alike, regardless of the operations that created them.
    assert_eq!(defined, set(defined.dims(), &offsets));
    assert_eq!(segments.element_count(), defined.len());
    check_values::<1>(&segments, old, new, expected);
    check_values::<2>(&segments, old, new, expected);
    check_values::<3>(&segments, old, new, expected);
    check_values::<4>(&segments, old, new, expected);
    check_values::<8>(&segments, old, new, expected);
    check_values::<16>(&segments, old, new, expected);
    check_values::<17>(&segments, old, new, expected);
    let joined = segments
        .as_slice()
        .windows(2)
        .any(|pair| pair[0].from == pair[1].from && pair[0].position + pair[0].count == pair[1].position);
    assert!(!joined, "segments are as long as can be");
}

/// Boxes, some of them with more than 2^32 elements.
fn boxes() -> impl Strategy<Value = Vec<u64>> {
    let small = prop::collection::vec(1..9_u64, 1..5);
    let large =
        (prop::collection::vec(1..9_u64, 1..5), 0..4_usize, 20..52_u32).prop_map(|(mut dims, at, bits)| {
            let at = at % dims.len();
            dims[at] = (1 << bits) + 3;
            dims
        });
    let huge = Just(vec![u64::MAX]);
    prop_oneof![8 => small, 6 => large, 1 => huge]
}

/// Runs near a few offsets, so that sets overlap.
fn offsets(total: u64) -> impl Strategy<Value = Model> {
    let place = prop_oneof![Just(0), Just(total - 1), Just(total / 2), Just(1 << 32), any::<u64>()];
    let run = (place, 0..40_u64, prop_oneof![3 => 1..3_u64, 1 => 1..30_u64]);
    prop::collection::vec(run, 0..20).prop_map(move |runs| {
        let mut offsets = Model::new();
        for (place, row, count) in runs {
            let start = (place % total).saturating_add(row);
            offsets.extend((start..start.saturating_add(count)).filter(|offset| *offset < total));
        }
        offsets
    })
}

fn total(dims: &[u64]) -> u64 {
    dims.iter().product()
}

fn one() -> impl Strategy<Value = (Vec<u64>, Model)> {
    boxes().prop_flat_map(|dims| {
        let total = total(&dims);
        (Just(dims), offsets(total))
    })
}

fn two() -> impl Strategy<Value = (Vec<u64>, Model, Model)> {
    boxes().prop_flat_map(|dims| {
        let total = total(&dims);
        (Just(dims), offsets(total), offsets(total))
    })
}

fn coordinates(dims: &[u64], mut offset: u64) -> Vec<u64> {
    let mut at: Vec<u64> = dims
        .iter()
        .rev()
        .map(|size| {
            let here = offset % size;
            offset /= size;
            here
        })
        .collect();
    at.reverse();
    at
}

fn linear(dims: &[u64], at: &[u64]) -> u64 {
    dims.iter().zip(at).fold(0, |offset, (size, at)| offset * size + at)
}

proptest! {
    #[test]
    fn questions((dims, model) in one(), range in (any::<u64>(), any::<u64>())) {
        let set = set(&dims, &model);
        prop_assert_eq!(set.len(), model.len() as u64);
        prop_assert_eq!(set.total(), total(&dims));
        prop_assert_eq!(set.is_all(), set.len() == set.total());
        prop_assert!(set.offsets().eq(model.iter().copied()));
        let mut visited = Vec::new();
        set.for_each_offset(|offset| visited.push(offset));
        prop_assert!(visited.iter().eq(&model));
        for (position, offset) in model.iter().enumerate() {
            for near in [offset.saturating_sub(1), *offset, offset + 1] {
                let below = model.range(..near).count() as u64;
                prop_assert_eq!(set.rank(near), below);
                prop_assert_eq!(set.position(near), model.contains(&near).then_some(below));
            }
            prop_assert!(set.contains(*offset), "{}", position);
        }
        let edge = |number: u64| match number % 3 {
            0 => number % total(&dims),
            _ => model.iter().nth(usize::try_from(number).unwrap() % model.len().max(1)).map_or(number, |at| at + number % 2),
        };
        let (from, to) = (edge(range.0), edge(range.1));
        let mut expected: Vec<(u64, u64, u64)> = Vec::new();
        for (position, offset) in model.iter().enumerate().filter(|(_, offset)| (from..to).contains(offset)) {
            match expected.last_mut() {
                Some(last) if last.0 + last.2 == *offset => last.2 += 1,
                _ => expected.push((*offset, position as u64, 1)),
            }
        }
        let (mut runs, mut rows) = (Vec::new(), Vec::new());
        set.for_each_run(from..to, |offset, position, count| runs.push((offset, position, count)));
        prop_assert_eq!(&runs, &expected);
        set.for_each_row_run(from..to, |at, position, count| {
            assert!(at[at.len() - 1] + count <= dims[dims.len() - 1]);
            let offset = linear(&dims, at);
            rows.extend((0..count).map(|row| (offset + row, position + row)));
        });
        let single = |(offset, position, count): &(u64, u64, u64)| {
            let (offset, position) = (*offset, *position);
            (0..*count).map(move |row| (offset + row, position + row))
        };
        prop_assert_eq!(rows, expected.iter().flat_map(single).collect::<Vec<_>>());
    }

    #[test]
    fn sets_over_one_another((dims, old, new) in two()) {
        let (a, b) = (set(&dims, &old), set(&dims, &new));
        let (olds, news) = (values(&old, 0), values(&new, 0xff));
        let mut both = olds.clone();
        both.extend(&news);
        check_result(a.overlay(&b), &olds, &news, &both);
        let mut rest = olds.clone();
        rest.retain(|offset, _| !new.contains(offset));
        check_result(a.without(&b), &olds, &news, &rest);
        let mut common = olds.clone();
        common.retain(|offset, _| new.contains(offset));
        check_result(a.intersection(&b), &olds, &news, &common);
        prop_assert_eq!(a == b, old == new);
    }

    #[test]
    fn elements_within_ranges_are_those_of_a_model((dims, model) in one(), ends in proptest::collection::vec((0..9_u64, 0..9_u64), 8)) {
        let ranges: Vec<(u64, u64)> = dims.iter().zip(ends).map(|(size, (from, to))| (from.min(*size), to)).collect();
        let is_inside = |offset: &u64| {
            coordinates(&dims, *offset).iter().zip(&ranges).all(|(at, (from, to))| (*from..*to).contains(at))
        };
        let expected: Vec<u64> = model.iter().copied().filter(is_inside).collect();
        let found = set(&dims, &model).within(&ranges).unwrap();
        prop_assert_eq!(found.offsets().collect::<Vec<_>>(), expected);
        prop_assert!(set(&dims, &model).within(&ranges[1..]).is_err());
    }

    #[test]
    fn whole_boxes((dims, model) in one()) {
        let all = DefinedSet::all(&dims).unwrap();
        let none = DefinedSet::empty(&dims).unwrap();
        let some = set(&dims, &model);
        prop_assert!(all.is_all() && none.is_empty() && !all.contains(all.total()));
        prop_assert_eq!(&all.overlay(&some).0, &all);
        prop_assert_eq!(&some.overlay(&all).0, &all);
        prop_assert_eq!(&all.intersection(&some).0, &some);
        prop_assert_eq!(&some.without(&all).0, &none);
        prop_assert_eq!(&none.overlay(&some).0, &some);
        prop_assert_eq!(&some.intersection(&none).0, &none);
        let (rest, segments) = all.without(&some);
        prop_assert_eq!(rest.len(), all.len() - some.len());
        prop_assert!(segments.as_slice().len() <= model.len() + 1);
        prop_assert_eq!(&rest.overlay(&some).0, &all);
        prop_assert!(all.memory_bytes() < 500);
        if all.total() > 0 {
            let region = RegularHyperslab::region(&vec![0; dims.len()], &dims);
            prop_assert_eq!(all.as_regular(), Some(region));
        }
    }

    #[test]
    fn blocks_are_the_set((dims, model) in one()) {
        let set = set(&dims, &model);
        let blocks = set.blocks();
        let counted: u64 = blocks.iter().map(|block| Region::from(block).element_count().unwrap()).sum();
        prop_assert_eq!(counted, set.len());
        prop_assert!(blocks.is_sorted_by(|a, b| a.start < b.start));
        let offsets: Model =
            blocks.iter().flat_map(|block| Region::from(block).coordinates()).map(|at| linear(&dims, &at)).collect();
        prop_assert_eq!(offsets, model);
        let rank = dims.len();
        let selection = Selection::Hyperslab(Hyperslab::Irregular { rank, blocks });
        selection.validate(&dims).unwrap();
        prop_assert_eq!(&DefinedSet::of_selection(&dims, &selection).unwrap(), &set);
        if let Some(regular) = set.as_regular() {
            let selection = Selection::Hyperslab(Hyperslab::Regular(regular));
            prop_assert_eq!(&DefinedSet::of_selection(&dims, &selection).unwrap(), &set);
        }
    }

    #[test]
    fn points_in_any_order((dims, model) in one(), seed in any::<u64>()) {
        let mut listed: Vec<u64> = model.iter().chain(model.iter().take(2)).copied().collect();
        listed.sort_by_key(|offset| offset.wrapping_mul(seed | 1));
        let coordinates = listed.iter().flat_map(|offset| coordinates(&dims, *offset)).collect();
        let points = Selection::Points(Points { rank: dims.len(), coordinates });
        prop_assert_eq!(DefinedSet::of_selection(&dims, &points).unwrap(), set(&dims, &model));
    }

    #[test]
    fn regular_hyperslabs_are_found(
        axes in prop::collection::vec((0..4_u64, 1..4_u64, 1..4_u64, 1..4_u64, 0..3_u64), 1..5),
    ) {
        let dims: Vec<u64> =
            axes.iter().map(|(start, gap, count, block, more)| start + (count - 1) * (block + gap) + block + more).collect();
        let regular = RegularHyperslab {
            start: axes.iter().map(|axis| axis.0).collect(),
            stride: axes.iter().map(|axis| if axis.2 == 1 { 1 } else { axis.3 + axis.1 }).collect(),
            count: axes.iter().map(|axis| axis.2).collect(),
            block: axes.iter().map(|axis| axis.3).collect(),
        };
        let selection = Selection::Hyperslab(Hyperslab::Regular(regular.clone()));
        let set = DefinedSet::of_selection(&dims, &selection).unwrap();
        prop_assert_eq!(set.as_regular(), Some(regular));
        // Removing one element from the middle yields another set.
        let middle = set.offsets().nth(usize::try_from(set.len()).unwrap() / 2).unwrap();
        let mut hole = DefinedBuilder::with_capacity(&dims, 1).unwrap();
        hole.push(middle);
        let (holed, _) = set.without(&hole.finish().unwrap());
        if let Some(other) = holed.as_regular() {
            let selection = Selection::Hyperslab(Hyperslab::Regular(other));
            prop_assert_eq!(DefinedSet::of_selection(&dims, &selection).unwrap(), holed);
        }
    }
}

#[test]
fn runs_that_span_rows_are_few_boxes() {
    let dims = [1 << 20, 1 << 20, 4];
    let all_but_ends = {
        let mut builder = DefinedBuilder::with_capacity(&dims, 0).unwrap();
        builder.push_run(1, (1 << 42) - 2);
        builder.finish().unwrap()
    };
    let blocks = all_but_ends.blocks();
    assert_eq!(blocks.len(), 5);
    assert_eq!(blocks[2].start.as_slice(), [1, 0, 0]);
    assert_eq!(blocks[2].end.as_slice(), [(1 << 20) - 2, (1 << 20) - 1, 3]);
    assert_eq!(all_but_ends.as_regular(), None);
}

#[test]
fn elements_aslant_are_not_regular() {
    for offsets in [[0, 13], [0, 7], [5, 6]] {
        assert_eq!(set(&[4, 6], &Model::from(offsets)).as_regular(), None, "{offsets:?}");
    }
    let column = set(&[4, 6], &Model::from([1, 13]));
    assert_eq!(column.as_regular(), Some(RegularHyperslab::strided(&[0, 1], &[2, 1], &[2, 1])));
}

#[test]
fn boxes_that_reach_out_are_clipped() {
    let region = Region::new(&[2, 3], &[5, 2]).unwrap();
    let set = DefinedSet::of_region(&[4, 4], &region).unwrap();
    assert!(set.offsets().eq([11, 15]));
    let far = Region::new(&[4, 0], &[1, 1]).unwrap();
    assert!(DefinedSet::of_region(&[4, 4], &far).unwrap().is_empty());
    assert!(DefinedSet::of_region(&[4], &far).is_err());
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(DefinedSet::empty(&[]).is_err());
    assert!(DefinedSet::empty(&[1; 33]).is_err());
    assert!(DefinedSet::all(&[1 << 32, 1 << 32]).is_err());
    assert!(DefinedSet::all(&[3, 0]).unwrap().is_empty());
    let build = |pushes: &[(u64, u64)]| {
        let mut builder = DefinedBuilder::with_capacity(&[10], 2).unwrap();
        pushes.iter().for_each(|(offset, count)| match count {
            1 => builder.push(*offset),
            _ => builder.push_run(*offset, *count),
        });
        builder.finish()
    };
    assert!(
        build(&[(0, 10)]).is_ok() && build(&[(0, 9), (9, 1)]).is_ok() && build(&[(3, 0), (2, 1)]).is_ok()
    );
    for bad in [&[(1, 1), (1, 1)][..], &[(10, 1)], &[(2, 2), (3, 1)], &[(0, 11)], &[(5, u64::MAX)]] {
        assert!(build(bad).is_err(), "{bad:?}");
    }
    let outside = Selection::Points(Points { rank: 1, coordinates: vec![10] });
    assert!(DefinedSet::of_selection(&[10], &outside).is_err());
    let outside = Selection::region(&Region::new(&[5], &[6]).unwrap());
    assert!(DefinedSet::of_selection(&[10], &outside).is_err());
    let set = DefinedSet::all(&[10]).unwrap();
    assert!(set.overlay(&set).1.gather(&[], &[0; 19], 2).is_err());
    assert!(set.without(&set).1.gather(&[], &[], 2).unwrap().is_empty());
}

#[test]
fn what_lies_together_takes_no_room() {
    let dims = [1 << 30];
    let mut builder = DefinedBuilder::with_capacity(&dims, 0).unwrap();
    (0..1 << 20).for_each(|offset| builder.push(offset));
    assert!(builder.finish().unwrap().memory_bytes() < 1000);
    let mut builder = DefinedBuilder::with_capacity(&dims, 1 << 10).unwrap();
    (0..1 << 10).for_each(|offset| builder.push(3 * offset));
    assert!(builder.finish().unwrap().memory_bytes() < 5000);
}
