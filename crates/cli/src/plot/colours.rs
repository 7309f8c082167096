//! The colour maps of plots, which assign colours to values.

use hyperslab_exact::to_u64;

use super::casts::{byte, float, whole};

/// The red, green and blue parts of a colour.
pub(super) type Colour = [u8; 3];

/// The colour of a plot cell without a value.
pub(super) const NOTHING: Colour = [232, 232, 232];

/// A colour map of a plot, which assigns colours to positions on a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColourMap {
    /// From dark blue over green to yellow. The lightness grows evenly, so that colour-blind
    /// readers can distinguish the colours too
    Viridis,
    /// From black to white
    Gray,
    /// From blue over white to red, for values on both sides of zero
    Diverging,
}

/// The colours of the curves in one figure. Colour-blind readers can distinguish any two of them.
pub(super) const CURVES: [Colour; 6] = [
    [0x31, 0x68, 0x8e],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x44, 0x44, 0x44],
];

/// The colours of the gray map, at equal distances from the smallest to the largest value.
const GRAY: [Colour; 2] = [[0, 0, 0], [255, 255, 255]];

/// The colours of the diverging map, at equal distances from the smallest to the largest value.
/// Zero is in the middle.
const DIVERGING: [Colour; 7] = [
    [0x2b, 0x3f, 0x9e],
    [0x5f, 0x84, 0xc9],
    [0xae, 0xc7, 0xe6],
    [0xf5, 0xf5, 0xf5],
    [0xf2, 0xb9, 0x9f],
    [0xd6, 0x70, 0x57],
    [0xa0, 0x1c, 0x2e],
];

/// The colours of the map viridis, at equal distances from the smallest to the largest value.
const VIRIDIS: [Colour; 10] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x28, 0x78],
    [0x3e, 0x49, 0x89],
    [0x31, 0x68, 0x8e],
    [0x26, 0x82, 0x8e],
    [0x1f, 0x9e, 0x89],
    [0x35, 0xb7, 0x79],
    [0x6e, 0xce, 0x58],
    [0xb5, 0xde, 0x2b],
    [0xfd, 0xe7, 0x25],
];

impl ColourMap {
    /// Returns the colour of the colour map at `position`, from 0 to 1. A position outside of this
    /// range has the colour of the nearer end.
    pub(super) fn colour(self, position: f64) -> Colour {
        match self {
            Self::Viridis => mixed(&VIRIDIS, position),
            Self::Gray => mixed(&GRAY, position),
            Self::Diverging => mixed(&DIVERGING, position),
        }
    }
}

/// Returns the interpolated colour at a position of a list of colours at equal distances.
fn mixed(stops: &[Colour], position: f64) -> Colour {
    let last = float(to_u64(stops.len())) - 1.0;
    let along = position.clamp(0.0, 1.0) * last;
    let below = along.floor().min(last - 1.0);
    let mut stops = stops.iter().skip(whole(below));
    let (Some(from), Some(to)) = (stops.next(), stops.next()) else { return NOTHING };
    let share = along - below;
    let mut mixed = NOTHING;
    for ((mixed, from), to) in mixed.iter_mut().zip(from).zip(to) {
        *mixed = byte(f64::from(*from).mul_add(1.0 - share, f64::from(*to) * share));
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_end_to_end() {
        let viridis = ColourMap::Viridis;
        assert_eq!([0.0, 1.0, 9.0].map(|at| viridis.colour(at)), [VIRIDIS[0], VIRIDIS[9], VIRIDIS[9]]);
        assert_eq!(viridis.colour(0.5 / 9.0), [70, 21, 102]);
        assert_eq!(ColourMap::Gray.colour(0.5), [128, 128, 128]);
        assert_eq!(ColourMap::Diverging.colour(0.5), DIVERGING[3]);
    }
}
