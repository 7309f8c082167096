//! Selections, and a naive computation of the selected elements.

use hyperslab::{Hyperslab, Points, RegularHyperslab, Selection};

use super::Numbers;

/// A selection before the shape is known.
#[derive(Debug, Clone)]
pub(crate) enum Choice {
    All,
    /// Start, stride, count, block of each dimension.
    Blocks([[u16; 4]; 3]),
    Points(Vec<[u16; 3]>),
}

impl Choice {
    pub(crate) fn draw(numbers: &mut Numbers<'_>) -> Self {
        let mut number = || numbers.below(1 << 16) as u16;
        match number() % 4 {
            0 => Self::All,
            3 => {
                let count = number() % 6;
                Self::Points((0..count).map(|_| std::array::from_fn(|_| number())).collect())
            }
            _ => Self::Blocks(std::array::from_fn(|_| std::array::from_fn(|_| number()))),
        }
    }

    /// Returns the selection, and the offsets of its elements in order.
    pub(crate) fn of(&self, dims: &[u64]) -> (Selection, Vec<usize>) {
        let whole = (Selection::All, (0..dims.iter().product::<u64>() as usize).collect());
        if dims.is_empty() || dims.contains(&0) {
            return whole;
        }
        match self {
            Self::All => whole,
            Self::Points(points) => {
                let cut = |point: &[u16; 3]| -> Vec<u64> {
                    dims.iter().zip(point).map(|(size, at)| u64::from(*at) % size).collect()
                };
                let points: Vec<Vec<u64>> = points.iter().map(cut).collect();
                let offsets = points.iter().map(|point| offset(dims, point)).collect();
                let points = Points { rank: dims.len(), coordinates: points.concat() };
                (Selection::Points(points), offsets)
            }
            Self::Blocks(wanted) => blocks(dims, wanted),
        }
    }
}

fn offset(dims: &[u64], point: &[u64]) -> usize {
    dims.iter().zip(point).fold(0, |sum, (size, at)| sum * size + at) as usize
}

fn blocks(dims: &[u64], wanted: &[[u16; 4]; 3]) -> (Selection, Vec<usize>) {
    let [mut starts, mut strides, mut counts, mut lengths] = [vec![], vec![], vec![], vec![]];
    let mut offsets = vec![0_u64];
    for (size, wanted) in dims.iter().zip(wanted) {
        let [start, stride, count, length] = wanted.map(u64::from);
        let start = start % size;
        let length = 1 + length % (size - start).min(4);
        let stride = length + stride % 4;
        let count = 1 + count % ((size - start - length) / stride + 1);
        let places: Vec<u64> = (0..count)
            .flat_map(|at| (0..length).map(move |in_block| start + at * stride + in_block))
            .collect();
        offsets = offsets.iter().flat_map(|outer| places.iter().map(move |at| outer * size + at)).collect();
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
    let offsets = offsets.into_iter().map(|offset| offset as usize).collect();
    (Selection::Hyperslab(Hyperslab::Regular(hyperslab)), offsets)
}
