//! A simulated detector that counts the photons of a rotating crystal in powder. The same seed
//! produces the same frames.

use std::f64::consts::TAU;

/// The number of frames in one turn of the demonstration's crystal. The spots repeat after a turn.
const TURN: f64 = 60.0;

/// The share of the demonstration's photons that fall in spots.
const IN_SPOTS: f64 = 0.2;

/// The width of a spot on the demonstration's detector, in pixels.
const SPOT_WIDTH: f64 = 0.8;

/// The pixels of a detector frame that photons hit, in C order, and the number of photons of each
/// pixel.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The numbers of the pixels: `row * size + column`.
    pub(super) pixels: Vec<u32>,
    pub(super) counts: Vec<u16>,
}

/// A reflection of the demonstration's crystal. The spot is bright when the crystal is at the right
/// angle.
#[derive(Debug)]
struct Spot {
    row: f64,
    column: f64,
    /// The frame of the turn in which the spot is brightest, and the number of frames for which it
    /// is bright.
    phase: f64,
    frames: f64,
    /// The photons in the brightest frame.
    photons: f64,
}

/// The properties of the simulated detector scene that are the same for all frames.
#[derive(Debug)]
pub(super) struct Scene {
    size: u32,
    seed: u64,
    /// The mean number of photons of each pixel in a frame: background, rings and hot pixels.
    rates: Vec<f64>,
    /// The probability of at least one photon in each pixel, as a share of 2³².
    hits: Vec<u32>,
    spots: Vec<Spot>,
}

impl Scene {
    /// Creates a scene with a detector of `size` × `size` pixels. In a frame, photons hit the share
    /// `occupancy` of the pixels.
    pub(super) fn new(size: u32, occupancy: f64, seed: u64) -> Self {
        let mut random = Random::new(seed, u64::MAX);
        let pixels = f64::from(size) * f64::from(size);
        let shape: Vec<f64> =
            (0..size).flat_map(|row| (0..size).map(move |column| brightness(size, row, column))).collect();
        let scale = scale(&shape, occupancy * (1.0 - IN_SPOTS));
        let mut rates: Vec<f64> = shape.iter().map(|bright| bright * scale).collect();
        // A few pixels are defective and count photons in every frame.
        for _ in 0..(size / 32).max(1) {
            let at = random.below(size * size);
            if let Some(rate) = rates.get_mut(at as usize) {
                *rate = 2.0 + 10.0 * random.share();
            }
        }
        let hits = rates.iter().map(|rate| to_hit(-(-rate).exp_m1())).collect();
        let spots = spots(size, pixels * occupancy * IN_SPOTS, &mut random);
        Self { size, seed, rates, hits, spots }
    }

    /// Returns the row and column of the pixel at the centre of the brightest spot.
    pub(super) fn brightest(&self) -> (u32, u32) {
        let brightest = self.spots.iter().max_by(|one, other| one.photons.total_cmp(&other.photons));
        let middle = self.size / 2;
        brightest.map_or((middle, middle), |spot| {
            (self.nearest(spot.row).unwrap_or(middle), self.nearest(spot.column).unwrap_or(middle))
        })
    }

    /// Returns the row or column of detector pixels that contains a position in the demonstration.
    /// Returns `None` beyond the detector.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the size")]
    fn nearest(&self, position: f64) -> Option<u32> {
        (position >= 0.0 && position < f64::from(self.size)).then_some(position as u32)
    }

    /// Returns the photons that hit the demonstration's detector in a frame.
    pub(super) fn frame(&self, number: u32) -> Frame {
        let mut random = Random::new(self.seed, u64::from(number));
        let mut diffracted = self.diffracted(number, &mut random).into_iter().peekable();
        let mut frame = Frame::default();
        for (pixel, (hit, rate)) in (0_u32..).zip(self.hits.iter().zip(&self.rates)) {
            let draw = random.half();
            let mut count = if draw < *hit { counted(*rate, f64::from(draw) / 4_294_967_296.0) } else { 0 };
            while diffracted.next_if_eq(&pixel).is_some() {
                count += 1;
            }
            if count > 0 {
                frame.pixels.push(pixel);
                frame.counts.push(count);
            }
        }
        frame
    }

    /// Returns the pixel of each photon that falls in a spot of the simulated frame, in ascending
    /// order.
    fn diffracted(&self, number: u32, random: &mut Random) -> Vec<u32> {
        let mut pixels = Vec::new();
        for spot in &self.spots {
            let away = (f64::from(number) - spot.phase).rem_euclid(TURN);
            let away = away.min(TURN - away) / spot.frames;
            if away > 3.0 {
                continue;
            }
            let rate = spot.photons * (-0.5 * away * away).exp();
            for _ in 0..random.poisson(rate) {
                let (down, right) = random.normal();
                let row = self.nearest(spot.row + down * SPOT_WIDTH);
                let column = self.nearest(spot.column + right * SPOT_WIDTH);
                if let (Some(row), Some(column)) = (row, column) {
                    pixels.push(row * self.size + column);
                }
            }
        }
        pixels.sort_unstable();
        pixels
    }
}

/// Returns the relative brightness of a pixel in the simulated detector image of the demonstration.
/// Scattered light decreases with the distance from the beam, a powder sample adds rings, and a
/// beam stop covers the centre.
fn brightness(size: u32, row: u32, column: u32) -> f64 {
    let half = f64::from(size) / 2.0;
    let across = |at: u32, beam: f64| (f64::from(at) - half * beam) / half;
    let radius = across(row, 1.02).hypot(across(column, 0.97));
    if radius < 0.05 {
        return 0.0;
    }
    let rings = [(0.31, 2.2), (0.44, 1.2), (0.62, 0.9), (0.76, 0.4), (0.97, 0.25)];
    let ring = |(at, height): (f64, f64)| height * (-0.5 * ((radius - at) / 0.006).powi(2)).exp();
    (-radius / 0.3).exp() + 0.01 + rings.map(ring).iter().sum::<f64>()
}

/// Returns a factor for the brightness of all pixels in the demonstration. With this factor,
/// photons hit the share `occupancy` of the pixels.
fn scale(shape: &[f64], occupancy: f64) -> f64 {
    let step = (shape.len() / 20_000).max(1) | 1;
    let count: f64 = shape.iter().step_by(step).map(|_| 1.0).sum();
    let share = |scale: f64| {
        shape.iter().step_by(step).map(|bright| -(-bright * scale).exp_m1()).sum::<f64>() / count
    };
    let (mut low, mut high) = (0.0, 1.0);
    while share(high) < occupancy && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if share(middle) < occupancy {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Creates the demonstration's spots on a rotated lattice. The spots together have `photons`
/// photons in a frame.
fn spots(size: u32, photons: f64, random: &mut Random) -> Vec<Spot> {
    let half = f64::from(size) / 2.0;
    let mut spots = Vec::new();
    for (along, across) in (-16_i32..=16).flat_map(|along| (-16_i32..=16).map(move |across| (along, across)))
    {
        let (h, k) = (f64::from(along) / 15.0, f64::from(across) / 13.0);
        let (row, column) = (h * 0.92 + k * 0.31, k * 0.95 - h * 0.29);
        let radius = row.hypot(column);
        let shown = random.share() < 0.25 && (0.12..1.2).contains(&radius);
        let photons = (-radius * 1.5).exp() * (random.normal().0).exp();
        let (phase, frames) = (TURN * random.share(), 1.0 + 1.5 * random.share());
        if shown {
            spots.push(Spot {
                row: half * (1.02 + row),
                column: half * (0.97 + column),
                phase,
                frames,
                photons,
            });
        }
    }
    let inside = |at: f64| (0.0..f64::from(size)).contains(&at);
    spots.retain(|spot| inside(spot.row) && inside(spot.column));
    let mean: f64 = spots.iter().map(|spot| spot.photons * spot.frames * TAU.sqrt() / TURN).sum();
    for spot in &mut spots {
        // A limit keeps single spots from being far brighter than other spots.
        spot.photons = (spot.photons * photons / mean.max(f64::MIN_POSITIVE)).min(500.0);
    }
    spots
}

/// Returns the photon count of a hit pixel in the demonstration: the inverse of the Poisson
/// distribution with mean `rate`, at the random number `share`.
fn counted(rate: f64, share: f64) -> u16 {
    let (mut count, mut probability) = (1_u16, rate * (-rate).exp());
    let mut remaining = share - probability;
    while remaining >= 0.0 && count < 1000 {
        count += 1;
        probability *= rate / f64::from(count);
        remaining -= probability;
    }
    count
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 2³²; the cast clamps"
)]
fn to_hit(probability: f64) -> u32 {
    (probability * 4_294_967_296.0) as u32
}

/// A generator of pseudo-random numbers for the demonstration: SplitMix64.
#[derive(Debug)]
struct Random {
    state: u64,
    /// The half of the last number that is not used yet.
    left: Option<u32>,
}

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95), left: None };
        random.state = random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken, one after the other")]
    fn half(&mut self) -> u32 {
        if let Some(left) = self.left.take() {
            return left;
        }
        let whole = self.next();
        self.left = Some((whole >> 32) as u32);
        whole as u32
    }

    /// Returns a random number that is at least 0 and less than 1.
    fn share(&mut self) -> f64 {
        f64::from(self.half()) / 4_294_967_296.0
    }

    /// Returns a random integer less than `count`, or 0 if `count` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "less than `count`")]
    fn below(&mut self, count: u32) -> u32 {
        (self.next() % u64::from(count.max(1))) as u32
    }

    /// Returns two normally distributed numbers with mean 0 and deviation 1.
    fn normal(&mut self) -> (f64, f64) {
        let (far, turn) = ((-2.0 * (1.0 - self.share()).ln()).sqrt(), TAU * self.share());
        (far * turn.cos(), far * turn.sin())
    }

    /// Returns a Poisson-distributed random number with the mean `rate`. The mean must be at most
    /// some hundred.
    fn poisson(&mut self, rate: f64) -> u32 {
        let (mut count, mut left) = (0, self.share());
        let mut probability = (-rate).exp();
        while left >= probability && count < 5000 {
            left -= probability;
            count += 1;
            probability *= rate / f64::from(count);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_repeat_and_have_the_requested_occupancy() {
        for occupancy in [0.001, 0.003, 0.05] {
            let scene = Scene::new(256, occupancy, 7);
            let frames: Vec<Frame> = (0..40).map(|number| scene.frame(number)).collect();
            let pixels: usize = frames.iter().map(|frame| frame.pixels.len()).sum();
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let found = pixels as f64 / (40.0 * 256.0 * 256.0);
            assert!((0.8..1.2).contains(&(found / occupancy)), "{found} for {occupancy}");
            let again = Scene::new(256, occupancy, 7).frame(5);
            assert_eq!((&again.pixels, &again.counts), (&frames[5].pixels, &frames[5].counts));
            assert_ne!(Scene::new(256, occupancy, 8).frame(5).pixels, again.pixels);
            assert!(
                again.pixels.is_sorted_by(|one, other| one < other)
                    && *again.pixels.last().unwrap() < 1 << 16
            );
            assert!(again.counts.iter().all(|count| *count > 0));
        }
    }

    #[test]
    fn counts_are_those_of_poisson() {
        let mut random = Random::new(1, 2);
        for rate in [0.01, 0.5, 9.0, 300.0] {
            let mean = (0..20_000).map(|_| f64::from(random.poisson(rate))).sum::<f64>() / 20_000.0;
            assert!((mean - rate).abs() < 5.0 * (rate / 20_000.0).sqrt(), "{mean} for {rate}");
            let hit = -(-rate).exp_m1();
            let draws = (0..20_000).map(|_| random.share()).filter(|draw| *draw < hit);
            let mean = draws.map(|draw| f64::from(counted(rate, draw))).sum::<f64>() / 20_000.0;
            assert!((mean - rate).abs() < 5.0 * (rate / 20_000.0).sqrt(), "{mean} for {rate}");
        }
    }
}
