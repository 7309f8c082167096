//! A summary of the photons in a region of the demonstration. Frames that do not fit in memory are
//! compared by their summaries.

/// A summary of the photons in a region of the demonstration. The summaries from all files must be
/// equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The number of pixels with photons.
    pub(super) pixels: u64,
    /// The number of photons.
    pub(super) photons: u64,
    /// A hash of the positions, the counts and their order.
    digest: u64,
}

impl Answer {
    pub(super) fn add(&mut self, frame: u64, pixel: u64, count: u16) {
        self.pixels += 1;
        self.photons += u64::from(count);
        for number in [frame, pixel, u64::from(count)] {
            self.digest = (self.digest.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    fn of(photons: &[(u64, u64, u16)]) -> Answer {
        let mut answer = Answer::default();
        for (frame, pixel, count) in photons {
            answer.add(*frame, *pixel, *count);
        }
        answer
    }

    #[test]
    fn answers_differ_by_position_count_and_order() {
        let one = of(&[(0, 5, 1), (1, 6, 1)]);
        assert_eq!(one, of(&[(0, 5, 1), (1, 6, 1)]));
        for other in [of(&[(0, 5, 1), (1, 7, 1)]), of(&[(0, 5, 1), (2, 6, 1)]), of(&[(1, 6, 1), (0, 5, 1)])] {
            assert_ne!(one, other);
        }
        assert_ne!(of(&[(0, 5, 2), (1, 6, 1)]), of(&[(0, 5, 1), (1, 6, 2)]));
    }
}
