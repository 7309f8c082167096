//! Prediction of samples and coding of the prediction errors (T.87, annex A).

use super::bits::{BitSink, BitSource};

/// The number of contexts in JPEG-LS. A context is a triple of quantised gradients. A triple and
/// its negative are one context.
const CONTEXT_COUNT: usize = 365;

const MIN_BIAS: i64 = -128;
const MAX_BIAS: i64 = 127;

/// The maximum magnitude of a prediction error of a sample in JPEG-LS.
const MAX_ERROR: i64 = 0xffff;

/// The maximum number of low bits (Golomb parameter k) that JPEG-LS codes separately.
const MAX_LOW_BITS: u32 = 24;

/// The binary logarithms of run lengths in JPEG-LS (table J of T.87).
pub(super) const RUN_BITS: [u32; 32] =
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The JPEG-LS coding parameters with all defaults applied (T.87, C.2.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Preset {
    pub(super) largest: i32,
    pub(super) thresholds: [i32; 3],
    pub(super) reset: i64,
}

/// The coding parameters in a JPEG-LS image. A stored 0 stands for the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct StoredPreset {
    pub(super) largest: u16,
    pub(super) thresholds: [u16; 3],
    pub(super) reset: u16,
}

impl StoredPreset {
    /// Returns true if the maximum sample value of the JPEG-LS image is the largest number with
    /// `bits` bits. For other values, the encoder of the HDF5 plug-in deviates from the standard.
    pub(super) fn has_full_range(self, bits: u32) -> bool {
        self.largest == 0 || u32::from(self.largest) == (1 << bits) - 1
    }
}

impl Preset {
    /// Computes the JPEG-LS coding parameters for samples of `bits` bits. `near` is the largest
    /// permitted error of a sample. Returns [`None`] if the stored parameters are invalid.
    pub(super) fn new(stored: StoredPreset, bits: u32, near: i32) -> Option<Self> {
        let maximum = (1 << bits) - 1;
        let largest = Some(i32::from(stored.largest)).filter(|largest| *largest > 0).unwrap_or(maximum);
        if largest > maximum || near > (largest / 2).min(255) || near < 0 {
            return None;
        }
        let default = default_thresholds(largest, near);
        let mut thresholds = stored.thresholds.map(i32::from);
        thresholds
            .iter_mut()
            .zip(default)
            .filter(|(stored, _)| **stored == 0)
            .for_each(|(to, default)| *to = default);
        let [t1, t2, t3] = thresholds;
        let is_sorted = near < t1 && t1 <= t2 && t2 <= t3 && t3 <= largest;
        let reset = if stored.reset == 0 { 64 } else { i64::from(stored.reset) };
        (is_sorted && reset >= 3).then_some(Self { largest, thresholds, reset })
    }
}

fn default_thresholds(largest: i32, near: i32) -> [i32; 3] {
    let clamp = |value: i32, least: i32| if value > largest || value < least { least } else { value };
    let [t1, t2, t3] = if largest >= 128 {
        let factor = (largest.min(4095) + 128) / 256;
        [factor + 2 + 3 * near, 4 * factor + 3 + 5 * near, 17 * factor + 4 + 7 * near]
    } else {
        let factor = 256 / (largest + 1);
        [(3 / factor + 3 * near).max(2), (7 / factor + 5 * near).max(3), (21 / factor + 7 * near).max(4)]
    };
    let t1 = clamp(t1, near + 1);
    let t2 = clamp(t2, t1);
    [t1, t2, clamp(t3, t2)]
}

/// The statistics of one context of the JPEG-LS model. A context is a class of samples with similar
/// neighbours.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// The sum of the error magnitudes.
    sizes: i64,
    /// The sum of the errors.
    errors: i64,
    /// The number of samples.
    count: i64,
    /// The correction of the prediction.
    bias: i64,
}

/// The statistics of samples after runs of equal samples in JPEG-LS. `negatives` counts the
/// negative errors.
#[derive(Debug, Clone, Copy)]
struct EndContext {
    sizes: i64,
    count: i64,
    negatives: i64,
}

/// The adaptive model of a JPEG-LS scan, which predicts samples.
#[derive(Debug)]
pub(super) struct Model {
    rules: Rules,
    contexts: Vec<Context>,
    ends: [EndContext; 2],
}

/// The fixed parameters of a JPEG-LS model, which do not change during a scan.
#[derive(Debug, Clone, Copy)]
struct Rules {
    preset: Preset,
    near: i32,
    /// The number of different errors.
    range: i64,
    range_bits: u32,
    limit: u32,
}

/// The neighbours of a sample in a JPEG-LS image: to the left, above, and above to the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbours {
    pub(super) left: i32,
    pub(super) above: i32,
    pub(super) corner: i32,
}

fn bits_of(values: i64) -> u32 {
    64 - (values - 1).leading_zeros()
}

/// Returns the number of separately coded low bits in JPEG-LS: the smallest `bits` for which `count
/// << bits` is at least `sizes`, the sum of the error magnitudes. Returns [`None`] if the number is
/// too large.
#[inline]
fn low_bits(count: i64, sizes: i64) -> Option<u32> {
    let bits = count.leading_zeros().saturating_sub(sizes.leading_zeros());
    let bits = bits + u32::from(count << bits < sizes);
    (bits <= MAX_LOW_BITS).then_some(bits)
}

impl Model {
    pub(super) fn new(preset: Preset, near: i32) -> Self {
        let step = i64::from(2 * near + 1);
        let range = (i64::from(preset.largest) + i64::from(2 * near)) / step + 1;
        let bits = bits_of(i64::from(preset.largest) + 1).max(2);
        let sizes = ((range + 32) / 64).max(2);
        let limit = 2 * (bits + bits.max(8));
        Self {
            rules: Rules { preset, near, range, range_bits: bits_of(range), limit },
            contexts: vec![Context { sizes, errors: 0, count: 1, bias: 0 }; CONTEXT_COUNT],
            ends: [EndContext { sizes, count: 1, negatives: 0 }; 2],
        }
    }

    /// Returns the context of a JPEG-LS sample, which is 0 if all neighbours are equal. `next` is
    /// the neighbour above to the right. For a negative context, the encoder and the decoder flip
    /// the sign of the error.
    #[inline]
    pub(super) fn context(&self, neighbours: Neighbours, next: i32) -> i32 {
        let Neighbours { left, above, corner } = neighbours;
        81 * self.rules.quantise(next - above)
            + 9 * self.rules.quantise(above - corner)
            + self.rules.quantise(corner - left)
    }

    /// Returns true if a JPEG-LS sample continues a run of samples with the value `run`.
    #[inline]
    pub(super) fn continues_run(&self, sample: i32, run: i32) -> bool {
        (sample - run).abs() <= self.rules.near
    }

    /// Decodes a JPEG-LS sample from its context and its neighbours.
    #[inline]
    pub(super) fn decode(
        &mut self,
        source: &mut BitSource<'_>,
        context: i32,
        neighbours: Neighbours,
    ) -> Option<i32> {
        let rules = self.rules;
        let sign = if context < 0 { -1 } else { 1 };
        let seen = self.contexts.get_mut(usize::try_from(context.unsigned_abs()).ok()?)?;
        let predicted = rules.predict(neighbours, sign * seen.bias);
        let low = low_bits(seen.count, seen.sizes)?;
        let value = rules.get(source, low, rules.limit)?;
        let flipped = i64::from(rules.is_flipped(seen, low));
        // Codes stand for errors with alternating signs: 0, -1, 1, -2, …
        let error = (value >> 1) ^ -((value & 1) ^ flipped);
        if error.abs() > MAX_ERROR {
            return None;
        }
        seen.update(error, rules.step(), rules.preset.reset);
        Some(rules.sample(predicted, sign * error))
    }

    /// Encodes a JPEG-LS sample in its context. Returns the sample that a decoder restores.
    #[inline]
    pub(super) fn encode(
        &mut self,
        sink: &mut BitSink<'_>,
        context: i32,
        neighbours: Neighbours,
        sample: i32,
    ) -> Option<i32> {
        let rules = self.rules;
        let sign = if context < 0 { -1 } else { 1 };
        let seen = self.contexts.get_mut(usize::try_from(context.unsigned_abs()).ok()?)?;
        let predicted = rules.predict(neighbours, sign * seen.bias);
        let low = low_bits(seen.count, seen.sizes)?;
        let error = rules.error(sign * (i64::from(sample) - predicted));
        let error_or_opposite = if rules.is_flipped(seen, low) { !error } else { error };
        let value = (error_or_opposite << 1) ^ (error_or_opposite >> 63);
        rules.put(sink, value, low, rules.limit);
        seen.update(error, rules.step(), rules.preset.reset);
        Some(rules.sample(predicted, sign * error))
    }

    fn end_bits(seen: EndContext, kind: usize) -> Option<u32> {
        let more = if kind == 1 { seen.count >> 1 } else { 0 };
        low_bits(seen.count, seen.sizes + more)
    }

    /// Decodes the JPEG-LS sample that ends a run of equal samples. `run_bits` is the number of
    /// bits of the run length. `is_single` is true if the scan is not interleaved.
    pub(super) fn decode_end(
        &mut self,
        source: &mut BitSource<'_>,
        (left, above): (i32, i32),
        is_single: bool,
        run_bits: u32,
    ) -> Option<i32> {
        let (predicted, sign, kind) = self.rules.predict_end(left, above, is_single);
        let seen = *self.ends.get(kind)?;
        let low = Self::end_bits(seen, kind)?;
        let value = self.rules.get(source, low, self.rules.limit - run_bits - 1)?;
        let both = value + i64::try_from(kind).ok()?;
        let is_odd = both & 1 != 0;
        let size = (both + 1) >> 1;
        if size > MAX_ERROR {
            return None;
        }
        let is_negative = (low != 0 || 2 * seen.negatives >= seen.count) == is_odd;
        let error = if is_negative { -size } else { size };
        self.ends.get_mut(kind)?.update(error, value, kind, self.rules.preset.reset);
        Some(self.rules.sample(predicted, sign * error))
    }

    /// Encodes the JPEG-LS sample that ends a run of equal samples. Returns the sample that a
    /// decoder restores.
    pub(super) fn encode_end(
        &mut self,
        sink: &mut BitSink<'_>,
        (left, above): (i32, i32),
        is_single: bool,
        run_bits: u32,
        sample: i32,
    ) -> Option<i32> {
        let (predicted, sign, kind) = self.rules.predict_end(left, above, is_single);
        let seen = *self.ends.get(kind)?;
        let low = Self::end_bits(seen, kind)?;
        let error = self.rules.error(sign * (i64::from(sample) - predicted));
        let negatives = low != 0 || 2 * seen.negatives >= seen.count;
        let is_odd = error != 0 && (error < 0) == negatives;
        let value = 2 * error.abs() - i64::try_from(kind).ok()? - i64::from(is_odd);
        self.rules.put(sink, value, low, self.rules.limit - run_bits - 1);
        self.ends.get_mut(kind)?.update(error, value, kind, self.rules.preset.reset);
        Some(self.rules.sample(predicted, sign * error))
    }
}

impl Rules {
    #[inline]
    fn quantise(&self, difference: i32) -> i32 {
        let [t1, t2, t3] = self.preset.thresholds;
        let size = difference.abs();
        // Written without branches, because the result is unpredictable for the processor.
        let level = i32::from(size > self.near)
            + i32::from(size >= t1)
            + i32::from(size >= t2)
            + i32::from(size >= t3);
        level * difference.signum()
    }

    fn step(&self) -> i64 {
        i64::from(2 * self.near + 1)
    }

    /// Returns a JPEG-LS sample from its prediction `predicted` and its quantised error `error`.
    #[inline]
    fn sample(&self, predicted: i64, error: i64) -> i32 {
        let (near, largest) = (i64::from(self.near), i64::from(self.preset.largest));
        let mut sample = predicted + error * self.step();
        if sample < -near {
            sample += self.range * self.step();
        } else if sample > largest + near {
            sample -= self.range * self.step();
        }
        i32::try_from(sample.clamp(0, largest)).unwrap_or(0)
    }

    /// Returns a quantised prediction error of JPEG-LS. The argument is the difference between a
    /// sample and its prediction.
    #[inline]
    fn error(&self, difference: i64) -> i64 {
        let near = i64::from(self.near);
        let mut error = if near == 0 {
            difference
        } else if difference > 0 {
            (difference + near) / self.step()
        } else {
            -((near - difference) / self.step())
        };
        if error < 0 {
            error += self.range;
        }
        if error >= (self.range + 1) / 2 {
            error -= self.range;
        }
        error
    }

    /// Reads a Golomb code of limited length from the JPEG-LS scan. The code has at most `limit`
    /// bits.
    #[inline]
    fn get(&self, source: &mut BitSource<'_>, low: u32, limit: u32) -> Option<i64> {
        let maximum = limit - self.range_bits - 1;
        let high = source.get_unary(maximum)?;
        if high == maximum {
            Some(source.get(self.range_bits)? + 1)
        } else {
            Some(i64::from(high) << low | source.get(low)?)
        }
    }

    #[inline]
    fn put(&self, sink: &mut BitSink<'_>, value: i64, low: u32, limit: u32) {
        let maximum = limit - self.range_bits - 1;
        match u32::try_from(value >> low) {
            Ok(high) if high < maximum => {
                sink.put_unary(high);
                sink.put(value, low);
            }
            _ => {
                sink.put_unary(maximum);
                sink.put(value - 1, self.range_bits);
            }
        }
    }

    /// Returns the prediction of a JPEG-LS sample from its neighbours.
    #[inline]
    fn predict(&self, neighbours: Neighbours, bias: i64) -> i64 {
        let Neighbours { left, above, corner } = neighbours;
        let predicted = if corner >= left.max(above) {
            left.min(above)
        } else if corner <= left.min(above) {
            left.max(above)
        } else {
            left + above - corner
        };
        (i64::from(predicted) + bias).clamp(0, i64::from(self.preset.largest))
    }

    /// Returns true if the JPEG-LS codes of positive and negative prediction errors are flipped in
    /// a context. This requires lossless coding without separate low bits, and a sufficiently
    /// negative mean of the errors in the context.
    fn is_flipped(&self, seen: &Context, low: u32) -> bool {
        self.near == 0 && low == 0 && 2 * seen.errors <= -seen.count
    }

    /// Predicts the JPEG-LS sample at the end of a run. Returns the prediction, the sign of errors,
    /// and the index of the context. `left` is the value of the run, and `above` is the sample
    /// above.
    #[inline]
    fn predict_end(&self, left: i32, above: i32, is_single: bool) -> (i64, i64, usize) {
        if is_single && (left - above).abs() <= self.near {
            return (i64::from(left), 1, 1);
        }
        (i64::from(above), if left > above { -1 } else { 1 }, 0)
    }
}

impl Context {
    #[inline]
    fn update(&mut self, error: i64, step: i64, reset: i64) {
        self.errors += error * step;
        self.sizes += error.abs();
        if self.count == reset {
            self.sizes >>= 1;
            self.errors = if self.errors >= 0 { self.errors >> 1 } else { -((1 - self.errors) >> 1) };
            self.count >>= 1;
        }
        self.count += 1;
        if self.errors <= -self.count {
            self.errors = (self.errors + self.count).max(1 - self.count);
            self.bias = (self.bias - 1).max(MIN_BIAS);
        } else if self.errors > 0 {
            self.errors = (self.errors - self.count).min(0);
            self.bias = (self.bias + 1).min(MAX_BIAS);
        }
    }
}

impl EndContext {
    fn update(&mut self, error: i64, value: i64, kind: usize, reset: i64) {
        self.negatives += i64::from(error < 0);
        self.sizes += (value + i64::from(kind == 0)) >> 1;
        if self.count == reset {
            self.sizes >>= 1;
            self.count >>= 1;
            self.negatives >>= 1;
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_thresholds_are_those_of_the_standard() {
        assert_eq!(default_thresholds(255, 0), [3, 7, 21]);
        assert_eq!(default_thresholds(255, 3), [12, 22, 42]);
        assert_eq!(default_thresholds(4095, 0), [18, 67, 276]);
        assert_eq!(default_thresholds(65535, 0), [18, 67, 276]);
        assert_eq!(default_thresholds(15, 0), [2, 3, 4]);
        assert_eq!(default_thresholds(3, 0), [2, 3, 3]);
        let preset = Preset::new(StoredPreset::default(), 8, 0).unwrap();
        assert_eq!(preset, Preset { largest: 255, thresholds: [3, 7, 21], reset: 64 });
        assert!(Preset::new(StoredPreset::default(), 8, 128).is_none());
        assert!(
            Preset::new(StoredPreset { thresholds: [9, 7, 21], ..StoredPreset::default() }, 8, 0).is_none()
        );
        assert!(Preset::new(StoredPreset { largest: 256, ..StoredPreset::default() }, 8, 0).is_none());
    }

    #[test]
    fn errors_make_the_samples_they_come_from() {
        for near in 0..4 {
            let model = Model::new(Preset::new(StoredPreset::default(), 8, near).unwrap(), near);
            for (predicted, sample) in (0..256).flat_map(|a| (0..256).map(move |b| (i64::from(a), b))) {
                let error = model.rules.error(i64::from(sample) - predicted);
                assert!(
                    (model.rules.sample(predicted, error) - sample).abs() <= near,
                    "{near} {predicted} {sample}"
                );
            }
        }
    }
}
