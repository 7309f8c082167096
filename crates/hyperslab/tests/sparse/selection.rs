//! Random selections, and their elements by a naive computation.

use std::collections::BTreeSet;

use hyperslab::{Block, Hyperslab, Points, Region, RegularHyperslab, Selection};

use crate::draw::Numbers;

/// The coordinates of an element.
pub(crate) type Place = Vec<u64>;

/// A selection and the coordinates of its elements in order.
pub(crate) type Chosen = (Selection, Vec<Place>);

/// The largest number of elements of a selection.
const MOST: usize = 3000;

/// Returns a coordinate, often near a chunk boundary or the end of the dimension.
fn coordinate(numbers: &mut Numbers<'_>, size: u64, chunk: u64) -> u64 {
    let near = match numbers.below(4) {
        0 => numbers.below(size),
        1 => (numbers.below(size.div_ceil(chunk)) * chunk + numbers.below(3)).saturating_sub(1),
        2 => size - 1 - numbers.below(size.min(3)),
        _ => numbers.below(size.min(4)),
    };
    near.min(size - 1)
}

/// Returns points anywhere in the shape: sorted or not, with some repetitions.
pub(crate) fn points(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Vec<Place> {
    if dims.contains(&0) {
        return Vec::new();
    }
    let mut found: Vec<Place> = Vec::new();
    if numbers.once_in(3) {
        let (mut stream, count) = (numbers.stream(), numbers.below(400));
        for _ in 0..count {
            // The distance is limited.
            found.push(
                dims.iter()
                    .map(|size| stream.below(*size) % (2 + chunk.iter().max().unwrap() * 2).min(*size))
                    .collect(),
            );
        }
    } else {
        for _ in 0..numbers.below(9) {
            found.push(
                dims.iter().zip(chunk).map(|(size, chunk)| coordinate(numbers, *size, *chunk)).collect(),
            );
        }
    }
    match numbers.below(3) {
        0 => {
            found.sort();
            found.dedup();
        }
        1 => found.sort(),
        _ => {}
    }
    found
}

pub(crate) fn points_of(rank: usize, places: &[Place]) -> Points {
    Points { rank, coordinates: places.concat() }
}

/// Returns a selection of any kind.
pub(crate) fn choose(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Chosen {
    if dims.contains(&0) {
        let nothing = [Selection::All, Selection::None];
        return (numbers.one_of(&nothing), Vec::new());
    }
    let chosen = match numbers.below(7) {
        0 => (Selection::All, whole(dims)),
        1 => {
            let places = points(numbers, dims, chunk);
            (Selection::Points(points_of(dims.len(), &places)), places)
        }
        2 => irregular(numbers, dims, chunk),
        3 | 4 => strided(numbers, dims, chunk),
        5 if numbers.once_in(4) => (Selection::None, Vec::new()),
        _ => one_box(numbers, dims, chunk),
    };
    if chosen.1.len() > MOST { (Selection::None, Vec::new()) } else { chosen }
}

fn whole(dims: &[u64]) -> Vec<Place> {
    let axes: Vec<Vec<u64>> = dims.iter().map(|size| (0..(*size).min(MOST as u64 + 1)).collect()).collect();
    product(&axes)
}

/// Returns all combinations of coordinates, in C order.
fn product(axes: &[Vec<u64>]) -> Vec<Place> {
    let mut places = vec![Vec::new()];
    for axis in axes {
        let longer = |place: &Place| axis.iter().map(|at| [&place[..], &[*at]].concat()).collect::<Vec<_>>();
        places = places.iter().flat_map(longer).take(MOST + 1).collect();
    }
    places
}

fn ends(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Vec<(u64, u64)> {
    let side = |(size, chunk): (&u64, &u64)| {
        let one = coordinate(numbers, *size, *chunk);
        let other = match numbers.below(3) {
            0 => one,
            1 => coordinate(numbers, *size, *chunk),
            _ => (one + numbers.below(2 * chunk)).min(size - 1),
        };
        (one.min(other), one.max(other))
    };
    let mut ends: Vec<(u64, u64)> = dims.iter().zip(chunk).map(side).collect();
    while ends.iter().map(|(from, to)| (to - from + 1) as f64).product::<f64>() > MOST as f64 {
        ends.iter_mut().for_each(|(from, to)| *to = *from + (*to - *from) / 2);
    }
    ends
}

fn one_box(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Chosen {
    let ends = ends(numbers, dims, chunk);
    let start: Vec<u64> = ends.iter().map(|(from, _)| *from).collect();
    let count: Vec<u64> = ends.iter().map(|(from, to)| to - from + 1).collect();
    let axes: Vec<Vec<u64>> = ends.iter().map(|(from, to)| (*from..=*to).collect()).collect();
    (Selection::region(&Region::new(&start, &count).unwrap()), product(&axes))
}

fn strided(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Chosen {
    let [mut starts, mut strides, mut counts, mut lengths] = [vec![], vec![], vec![], vec![]];
    let mut axes = Vec::new();
    for (size, chunk) in dims.iter().zip(chunk) {
        let start = coordinate(numbers, *size, *chunk);
        let length = 1 + numbers.below((size - start).min(4));
        let stride = length + numbers.below(4);
        let count = 1 + numbers.below(((size - start - length) / stride + 1).min(40));
        axes.push(
            (0..count).flat_map(|at| (0..length).map(move |more| start + at * stride + more)).collect(),
        );
        starts.push(start);
        strides.push(stride);
        counts.push(count);
        lengths.push(length);
    }
    let hyperslab = RegularHyperslab {
        start: starts.into(),
        stride: strides.into(),
        count: counts.into(),
        block: lengths.into(),
    };
    (Selection::Hyperslab(Hyperslab::Regular(hyperslab)), product(&axes))
}

/// Returns boxes that do not overlap.
fn irregular(numbers: &mut Numbers<'_>, dims: &[u64], chunk: &[u64]) -> Chosen {
    let (mut blocks, mut taken) = (Vec::new(), BTreeSet::new());
    for _ in 0..=numbers.below(4) {
        let ends = ends(numbers, dims, chunk);
        let axes: Vec<Vec<u64>> = ends.iter().map(|(from, to)| (*from..=*to).collect()).collect();
        let places = product(&axes);
        if places.len() > MOST || places.iter().any(|place| taken.contains(place)) {
            continue;
        }
        taken.extend(places);
        let (start, end): (Vec<u64>, Vec<u64>) = ends.into_iter().unzip();
        blocks.push(Block { start: start.into(), end: end.into() });
    }
    if blocks.is_empty() {
        return (Selection::None, Vec::new());
    }
    (Selection::Hyperslab(Hyperslab::Irregular { rank: dims.len(), blocks }), taken.into_iter().collect())
}
