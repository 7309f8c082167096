//! Selections in the form of operations, and the elements that they select, in order.

use serde_json::Value as Json;

use crate::ours::numbers;

/// Returns the coordinates of the element at a position in C order.
pub(crate) fn coordinates(mut place: u64, dims: &[u64]) -> Vec<u64> {
    let mut found: Vec<u64> = dims
        .iter()
        .rev()
        .map(|size| {
            let at = place % size;
            place /= size;
            at
        })
        .collect();
    found.reverse();
    found
}

/// Returns the position of coordinates in C order.
pub(crate) fn place(coordinates: &[u64], dims: &[u64]) -> usize {
    coordinates.iter().zip(dims).fold(0, |place, (at, size)| place * size + at) as usize
}

/// Returns the positions of the selected elements, or `None` if some elements are outside the
/// shape.
pub(crate) fn places(reported: &Json, dims: &[u64]) -> Option<Vec<usize>> {
    if let Some(points) = reported["points"].as_array() {
        let inside = |point: &Vec<u64>| point.iter().zip(dims).all(|(at, size)| at < size);
        let one = |point: &Json| Some(numbers(point)).filter(inside).map(|point| place(&point, dims));
        return points.iter().map(one).collect();
    }
    let Some([start, stride, count, block]) = reported["slab"].as_array().map(Vec::as_slice) else {
        return Some((0..dims.iter().product::<u64>() as usize).collect());
    };
    let parts = [start, stride, count, block].map(numbers);
    let axes: Vec<Vec<u64>> = (0..dims.len())
        .map(|at| {
            let [start, stride, count, block] = parts.each_ref().map(|part| part[at]);
            (0..count).flat_map(|n| (0..block).map(move |inner| start + n * stride + inner)).collect()
        })
        .collect();
    if axes.iter().zip(dims).any(|(axis, size)| axis.iter().any(|at| at >= size)) {
        return None;
    }
    let sizes: Vec<u64> = axes.iter().map(|axis| axis.len() as u64).collect();
    let one = |number: u64| {
        let at = coordinates(number, &sizes);
        let chosen: Vec<u64> = at.iter().zip(&axes).map(|(at, axis)| axis[*at as usize]).collect();
        place(&chosen, dims)
    };
    Some((0..sizes.iter().product::<u64>()).map(one).collect())
}
