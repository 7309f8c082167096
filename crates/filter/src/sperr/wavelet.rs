//! The inverse wavelet transform of Cohen, Daubechies and Feauveau with filters of 9 and 7 taps,
//! computed by lifting (Daubechies and Sweldens 1998).

use std::f64::consts::SQRT_2;

use super::speck::{joint_transforms, parts, transform_count};

// Half of the low-pass filter, from the middle on (Cohen, Daubechies and Feauveau 1992, page 551),
// and the factors of its lifting steps.
const H0: f64 = 0.602_949_018_236;
const H1: f64 = 0.266_864_118_443;
const H2: f64 = -0.078_223_266_529;
const H3: f64 = -0.016_864_118_443;
const H4: f64 = 0.026_748_757_411;
const R0: f64 = H0 - 2.0 * H4 * H1 / H3;
const R1: f64 = H2 - H4 - H4 * H1 / H3;
const S0: f64 = H1 - H3 - H3 * R0 / R1;
const T0: f64 = H0 - 2.0 * (H2 - H4);
const ALPHA: f64 = H4 / H3;
const BETA: f64 = H3 / R1;
const GAMMA: f64 = R1 / S0;
const DELTA: f64 = S0 / T0;
const EPSILON: f64 = SQRT_2 * T0;
const INVERSE_EPSILON: f64 = 1.0 / EPSILON;

/// The number of adjacent lines in one pass of a SPERR wavelet transform. The values of these lines
/// share a cache line.
const LINES_PER_PASS: usize = 8;

/// Inverts one SPERR wavelet transform of `values`. The values are the low-pass half, then the
/// high-pass half. `scratch` is scratch memory.
fn invert(values: &mut [f64], scratch: &mut Vec<f64>) {
    let (even, odd) = values.split_at_mut(values.len() - values.len() / 2);
    odd.iter_mut().for_each(|value| *value *= -EPSILON);
    between(even, odd, |value, sum| *value = *value * INVERSE_EPSILON - DELTA * sum);
    around(odd, even, |value, sum| *value -= GAMMA * sum);
    between(even, odd, |value, sum| *value -= BETA * sum);
    around(odd, even, |value, sum| *value -= ALPHA * sum);
    scratch.clear();
    scratch.resize(even.len() + odd.len(), 0.0);
    scratch.iter_mut().step_by(2).zip(&*even).for_each(|(to, value)| *to = *value);
    scratch.iter_mut().skip(1).step_by(2).zip(&*odd).for_each(|(to, value)| *to = *value);
    values.copy_from_slice(scratch);
}

/// Applies the wavelet step `step` of SPERR to each even value. The step adds a multiple of the sum
/// of the two odd neighbours. At an end of the line, the only neighbour counts twice.
fn between(even: &mut [f64], odd: &[f64], step: impl Fn(&mut f64, f64)) {
    let before = odd.first().into_iter().chain(odd);
    let after = odd.iter().chain(odd.last());
    even.iter_mut().zip(before.zip(after)).for_each(|(value, (a, b))| step(value, a + b));
}

/// Applies the wavelet step `step` of SPERR to each odd value. The step adds a multiple of the sum
/// of the two even neighbours.
fn around(odd: &mut [f64], even: &[f64], step: impl Fn(&mut f64, f64)) {
    let after = even.iter().skip(1).chain(even.last());
    odd.iter_mut().zip(even.iter().zip(after)).for_each(|(value, (a, b))| step(value, a + b));
}

/// The values of a SPERR volume, with the fastest-varying dimension first.
#[derive(Debug)]
pub(super) struct Volume<'a> {
    values: &'a mut [f64],
    dims: [usize; 3],
    lines: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> Volume<'a> {
    pub(super) fn new(values: &'a mut [f64], dims: [usize; 3]) -> Self {
        Self { values, dims, lines: Vec::new(), scratch: Vec::new() }
    }

    /// Inverts all wavelet transforms of a SPERR plane, whose last dimension is 1.
    pub(super) fn invert_plane(&mut self) {
        self.invert_planes(1);
    }

    /// Inverts all wavelet transforms of a SPERR volume.
    pub(super) fn invert_volume(&mut self) {
        let [x, y, z] = self.dims;
        if let Some(count) = joint_transforms(self.dims) {
            for level in (0..count).rev() {
                let (x, y, z) = (parts(x, level).0, parts(y, level).0, parts(z, level).0);
                self.invert_columns([x, y, z]);
                for plane in 0..z {
                    self.invert_level(plane, x, y);
                }
            }
            return;
        }
        self.invert_planes(z);
        for level in (0..transform_count(z)).rev() {
            self.invert_columns([x, y, parts(z, level).0]);
        }
    }

    /// Inverts all wavelet transforms of the first `count` planes of a SPERR volume.
    fn invert_planes(&mut self, count: usize) {
        let [x, y, _] = self.dims;
        for plane in 0..count {
            for level in (0..transform_count(x.min(y))).rev() {
                self.invert_level(plane, parts(x, level).0, parts(y, level).0);
            }
        }
    }

    /// Inverts one wavelet transform of the first rows and columns of a plane of a SPERR volume.
    fn invert_level(&mut self, plane: usize, width: usize, height: usize) {
        let [x, y, _] = self.dims;
        self.invert_across(plane * x * y, width, x, height);
        for row in 0..height {
            let start = (plane * y + row) * x;
            if let Some(row) = self.values.get_mut(start..).and_then(|rest| rest.get_mut(..width)) {
                invert(row, &mut self.scratch);
            }
        }
    }

    /// Inverts one wavelet transform across the first planes of a SPERR volume.
    fn invert_columns(&mut self, [width, height, depth]: [usize; 3]) {
        let [x, y, _] = self.dims;
        for row in 0..height {
            self.invert_across(row * x, width, x * y, depth);
        }
    }

    /// Inverts one wavelet transform of `width` adjacent lines of a SPERR volume. `stride` is the
    /// distance between the values of a line.
    fn invert_across(&mut self, start: usize, width: usize, stride: usize, length: usize) {
        for first in (0..width).step_by(LINES_PER_PASS) {
            let side = LINES_PER_PASS.min(width - first);
            let Some(values) = self.values.get_mut(start + first..) else { return };
            self.lines.clear();
            self.lines.resize(side * length, 0.0);
            for (at, row) in values.chunks(stride).take(length).enumerate() {
                let to = self.lines.iter_mut().skip(at).step_by(length);
                to.zip(row).for_each(|(to, value)| *to = *value);
            }
            for line in self.lines.chunks_exact_mut(length.max(1)) {
                invert(line, &mut self.scratch);
            }
            for (at, row) in values.chunks_mut(stride).take(length).enumerate() {
                let from = self.lines.iter().skip(at).step_by(length);
                row.iter_mut().take(side).zip(from).for_each(|(to, value)| *to = *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_halves_of_one_value_are_that_value_again() {
        // The low-pass half of a constant is the constant times the square root of 2; the high-pass
        // half is 0.
        for length in 9..40 {
            let low = length - length / 2;
            let mut values: Vec<f64> = (0..length).map(|at| if at < low { SQRT_2 } else { 0.0 }).collect();
            invert(&mut values, &mut Vec::new());
            assert!(values.iter().all(|value| (value - 1.0).abs() < 1e-9), "{values:?}");
        }
    }
}
