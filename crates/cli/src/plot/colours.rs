//! Colours for values: from dark blue over green to yellow, evenly bright, and to be told apart by all eyes.

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// Where there is no value.
pub(super) const NOTHING: Colour = [232, 232, 232];

/// Colours at equal distances.
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

/// The colour of a place between 0 and 1.
pub(super) fn colour(place: f64) -> Colour {
    let along = place.clamp(0.0, 1.0) * 9.0;
    let at = usize::try_from(super::numbers::whole(along.floor())).unwrap_or(0).min(8);
    let (Some(from), Some(to)) = (STOPS.get(at), STOPS.get(at.saturating_add(1))) else { return NOTHING };
    let rest = along - along.floor().min(8.0);
    let mut mixed = NOTHING;
    for ((mixed, from), to) in mixed.iter_mut().zip(from).zip(to) {
        let value = f64::from(*from).mul_add(1.0 - rest, f64::from(*to) * rest);
        *mixed = u8::try_from(super::numbers::whole(value)).unwrap_or(u8::MAX);
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
