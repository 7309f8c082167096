//! Which neighbours predict a value, and how.

use super::super::value::Wide;

/// How often a neighbour is taken, and how far before the value it is in each of four dimensions.
type Term = (i8, [usize; 4]);

/// Neighbours that predict a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stencil {
    terms: &'static [Term],
}

impl Stencil {
    /// That of so many dimensions and layers; in four dimensions there is but one layer.
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

    /// That of a volume in which so many dimensions predict: all, the first and the last, or the last.
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

/// What the neighbours at these places predict.
#[inline]
pub(super) fn predict<W: Wide>(stencil: Stencil, before: impl Fn([usize; 4]) -> W) -> W {
    stencil.terms.iter().fold(W::default(), |sum, (factor, away)| sum.plus(before(*away).times(*factor)))
}

/// One dimension.
const LINE: &[Term] = &[(1, [0, 0, 0, 1])];

/// One dimension, two layers.
const LINE_TWO: &[Term] = &[(2, [0, 0, 0, 1]), (-1, [0, 0, 0, 2])];

/// Two dimensions.
const PLANE: &[Term] = &[(1, [0, 0, 0, 1]), (1, [0, 0, 1, 0]), (-1, [0, 0, 1, 1])];

/// Two dimensions, two layers.
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

/// The first and the last of three dimensions.
const ACROSS: &[Term] = &[(1, [0, 0, 0, 1]), (1, [0, 1, 0, 0]), (-1, [0, 1, 0, 1])];

/// The same, two layers.
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

/// Three dimensions.
const VOLUME: &[Term] = &[
    (1, [0, 0, 0, 1]),
    (1, [0, 0, 1, 0]),
    (1, [0, 1, 0, 0]),
    (-1, [0, 0, 1, 1]),
    (-1, [0, 1, 0, 1]),
    (-1, [0, 1, 1, 0]),
    (1, [0, 1, 1, 1]),
];

/// Three dimensions, two layers.
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

/// Four dimensions.
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
