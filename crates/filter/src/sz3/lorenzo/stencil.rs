//! The stencils of Lorenzo prediction in SZ3: weighted sums of neighbours.

use super::super::value::Wide;

/// A term of a prediction stencil of SZ3. It consists of the weight of a neighbour, and of the
/// neighbour's distance before the value in each of four dimensions.
type Term = (i8, [usize; 4]);

/// A prediction stencil of SZ3: the neighbours that predict a value, with their weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stencil {
    terms: &'static [Term],
}

impl Stencil {
    /// Returns the stencil (the weights of neighbours) for predictions of SZ3 with a number of
    /// dimensions and of layers of neighbours. For four dimensions, there is only a stencil with
    /// one layer.
    pub(super) fn of(dimensions: usize, layers: usize) -> Self {
        let terms = match (dimensions, layers) {
            (1, 1) => LINE,
            (1, _) => LINE_TWO,
            (2, 1) => PLANE,
            (2, _) => PLANE_TWO,
            (3, 1) => VOLUME,
            (3, _) => VOLUME_TWO,
            _ => FOUR,
        };
        Self { terms }
    }

    /// Returns the stencil (the weights of neighbours) for predictions of SZ3 in a volume.
    /// `dimensions` is the number of used dimensions: all, the first and the last, or only the
    /// last.
    pub(super) fn of_volume(dimensions: usize, layers: usize) -> Self {
        let terms = match (dimensions, layers) {
            (3, 1) => VOLUME,
            (3, _) => VOLUME_TWO,
            (2, 1) => ACROSS,
            (2, _) => ACROSS_TWO,
            (_, 1) => LINE,
            _ => LINE_TWO,
        };
        Self { terms }
    }
}

/// Computes the prediction of an SZ3 value from its stencil. The function `before` returns the
/// neighbour at a distance before the value.
#[inline]
pub(super) fn predict<W: Wide>(stencil: Stencil, before: impl Fn([usize; 4]) -> W) -> W {
    stencil.terms.iter().fold(W::default(), |sum, (factor, away)| sum.plus(before(*away).times(*factor)))
}

/// The SZ3 prediction stencil (a list of weights) for one dimension with one layer of neighbours.
const LINE: &[Term] = &[(1, [0, 0, 0, 1])];

/// The SZ3 prediction stencil (a list of weights) for one dimension with two layers of neighbours.
const LINE_TWO: &[Term] = &[(2, [0, 0, 0, 1]), (-1, [0, 0, 0, 2])];

/// The SZ3 prediction stencil (a list of weights) for two dimensions with one layer of neighbours.
const PLANE: &[Term] = &[(1, [0, 0, 0, 1]), (1, [0, 0, 1, 0]), (-1, [0, 0, 1, 1])];

/// The SZ3 prediction stencil (a list of weights) for two dimensions with two layers of neighbours.
const PLANE_TWO: &[Term] = &[
    (2, [0, 0, 0, 1]),
    (-1, [0, 0, 0, 2]),
    (2, [0, 0, 1, 0]),
    (-4, [0, 0, 1, 1]),
    (2, [0, 0, 1, 2]),
    (-1, [0, 0, 2, 0]),
    (2, [0, 0, 2, 1]),
    (-1, [0, 0, 2, 2]),
];

/// The SZ3 prediction stencil (a list of weights) for the first and the last of three dimensions
/// with one layer of neighbours.
const ACROSS: &[Term] = &[(1, [0, 0, 0, 1]), (1, [0, 1, 0, 0]), (-1, [0, 1, 0, 1])];

/// The SZ3 prediction stencil (a list of weights) for the first and the last of three dimensions
/// with two layers of neighbours.
const ACROSS_TWO: &[Term] = &[
    (2, [0, 1, 0, 0]),
    (-1, [0, 2, 0, 0]),
    (2, [0, 0, 0, 1]),
    (-4, [0, 1, 0, 1]),
    (2, [0, 2, 0, 1]),
    (-1, [0, 0, 0, 2]),
    (2, [0, 1, 0, 2]),
    (-1, [0, 2, 0, 2]),
];

/// The SZ3 prediction stencil (a list of weights) for three dimensions with one layer of
/// neighbours.
const VOLUME: &[Term] = &[
    (1, [0, 0, 0, 1]),
    (1, [0, 0, 1, 0]),
    (1, [0, 1, 0, 0]),
    (-1, [0, 0, 1, 1]),
    (-1, [0, 1, 0, 1]),
    (-1, [0, 1, 1, 0]),
    (1, [0, 1, 1, 1]),
];

/// The SZ3 prediction stencil (a list of weights) for three dimensions with two layers of
/// neighbours.
const VOLUME_TWO: &[Term] = &[
    (2, [0, 0, 0, 1]),
    (-1, [0, 0, 0, 2]),
    (2, [0, 0, 1, 0]),
    (-4, [0, 0, 1, 1]),
    (2, [0, 0, 1, 2]),
    (-1, [0, 0, 2, 0]),
    (2, [0, 0, 2, 1]),
    (-1, [0, 0, 2, 2]),
    (2, [0, 1, 0, 0]),
    (-4, [0, 1, 0, 1]),
    (2, [0, 1, 0, 2]),
    (-4, [0, 1, 1, 0]),
    (8, [0, 1, 1, 1]),
    (-4, [0, 1, 1, 2]),
    (2, [0, 1, 2, 0]),
    (-4, [0, 1, 2, 1]),
    (2, [0, 1, 2, 2]),
    (-1, [0, 2, 0, 0]),
    (2, [0, 2, 0, 1]),
    (-1, [0, 2, 0, 2]),
    (2, [0, 2, 1, 0]),
    (-4, [0, 2, 1, 1]),
    (2, [0, 2, 1, 2]),
    (-1, [0, 2, 2, 0]),
    (2, [0, 2, 2, 1]),
    (-1, [0, 2, 2, 2]),
];

/// The SZ3 prediction stencil (a list of weights) for four dimensions with one layer of neighbours.
const FOUR: &[Term] = &[
    (1, [0, 0, 0, 1]),
    (1, [0, 0, 1, 0]),
    (-1, [0, 0, 1, 1]),
    (1, [0, 1, 0, 0]),
    (-1, [0, 1, 0, 1]),
    (-1, [0, 1, 1, 0]),
    (1, [0, 1, 1, 1]),
    (1, [1, 0, 0, 0]),
    (-1, [1, 0, 0, 1]),
    (-1, [1, 0, 1, 0]),
    (1, [1, 0, 1, 1]),
    (-1, [1, 1, 0, 0]),
    (1, [1, 1, 0, 1]),
    (1, [1, 1, 1, 0]),
    (-1, [1, 1, 1, 1]),
];
