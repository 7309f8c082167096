//! The colours of values: a scale from dark blue over green to yellow. The lightness grows evenly,
//! so that colour-blind readers can distinguish the colours too.

use super::numbers::{byte, whole};
/// The red, green and blue parts of a colour.
pub(super) type Colour = [u8; 3];

/// The colour of a cell without a value.
pub(super) const NOTHING: Colour = [232, 232, 232];

/// Colours at equal distances along the scale.
const STOPS: [Colour; 10] = [
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

/// Returns the colour at `position` between 0 and 1. Other positions have the colour of the nearer
/// end.
pub(super) fn colour(position: f64) -> Colour {
    let along = position.clamp(0.0, 1.0) * 9.0;
    let below = along.floor().min(8.0);
    let mut stops = STOPS.iter().skip(whole(below));
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
        assert_eq!([colour(0.0), colour(1.0), colour(9.0)], [STOPS[0], STOPS[9], STOPS[9]]);
        assert_eq!(colour(0.5 / 9.0), [70, 21, 102]);
    }
}
