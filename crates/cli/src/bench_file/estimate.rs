//! Estimates of the cost of reading a dataset with chunks of other shapes, for `bench-file`.
//! Nothing is measured.

use hyperslab_exact::to_u64;

use super::access::Access;

/// The fixed cost of a chunk for the command `bench-file`: the time for finding, fetching and
/// starting to decode it. The unit is the number of bytes that can be read in this time.
const CHUNK_COST_BYTES: f64 = 16_384.0;

/// The number of bytes in a page: the smallest number that a file system reads at once.
const PAGE_BYTES: f64 = 4096.0;

/// The sizes, in bytes, of the chunks for which `bench-file` estimates a cost.
const CHUNK_BYTES: [f64; 4] = [65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0];

/// The limit for storage layouts that `bench-file` considers equally good: the largest ratio
/// between their costs.
const MAX_COST_RATIO: f64 = 1.1;

/// A layout of a dataset in the file: contiguous or chunked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    Contiguous,
    Chunked(Vec<u64>),
}

impl Layout {
    /// Returns the number of elements in a chunk of the layout as a floating-point number. The
    /// contiguous layout has no chunks.
    fn elements(&self) -> f64 {
        match self {
            Self::Contiguous => 0.0,
            Self::Chunked(shape) => shape.iter().map(|side| float(*side)).product(),
        }
    }
}

/// A storage layout that `bench-file` may recommend, with its cost for each access pattern.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) layout: Layout,
    /// For each access: the bytes that are read or decoded per wanted byte.
    pub(super) read: Vec<f64>,
    /// The mean cost of the wanted accesses per wanted byte, including the cost of each chunk.
    pub(super) cost: f64,
}

/// The input of the cost estimates of `bench-file`: the shape of an array, and the access patterns.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) dims: &'a [u64],
    /// The size of an element in bytes.
    pub(super) size: u64,
    pub(super) accesses: &'a [Access],
    /// The accesses that determine the cost.
    pub(super) wanted: &'a [Access],
}

/// Converts an integer to a floating-point number. Large integers are rounded.
#[expect(clippy::cast_precision_loss, reason = "estimates have few digits")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

impl Model<'_> {
    /// Returns a storage layout with its estimated cost for each access pattern.
    pub(super) fn candidate(&self, layout: Layout) -> Candidate {
        let cost = |access: &Access| self.cost(&layout, *access);
        let read = self.accesses.iter().map(|access| cost(access).0).collect();
        let sum: f64 = self.wanted.iter().map(|access| cost(access).1).sum();
        let count = float(to_u64(self.wanted.len().max(1)));
        Candidate { layout, read, cost: sum / count }
    }

    /// Returns chunked layouts of a dataset by ascending estimated cost. If several layouts cost
    /// nearly as little as the best layout, the layout with the smallest chunks comes first.
    pub(super) fn ranked(&self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> =
            self.shapes().into_iter().map(|shape| self.candidate(Layout::Chunked(shape))).collect();
        candidates.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        let least = candidates.first().map_or(0.0, |best| best.cost);
        let good = candidates.iter().take_while(|candidate| candidate.cost <= least * MAX_COST_RATIO);
        let smallest = good
            .enumerate()
            .min_by(|(_, one), (_, other)| one.layout.elements().total_cmp(&other.layout.elements()));
        if let Some((at, _)) = smallest {
            let best = candidates.remove(at);
            candidates.insert(0, best);
        }
        candidates
    }

    /// Returns two cost factors of an access pattern for a storage layout. The first is the number
    /// of bytes read per requested byte. The second adds the fixed cost of each chunk to the first.
    fn cost(&self, layout: &Layout, access: Access) -> (f64, f64) {
        match layout {
            Layout::Chunked(chunk) => self.chunked(chunk, access),
            Layout::Contiguous => self.contiguous(access),
        }
    }

    fn chunked(&self, chunk: &[u64], access: Access) -> (f64, f64) {
        let (mut chunks, mut wanted, mut each) = (1.0, float(self.size), float(self.size));
        for (dimension, (size, chunk)) in self.dims.iter().zip(chunk).enumerate() {
            let one = access == Access::Point || access == Access::Slice(dimension);
            if !one {
                chunks *= float(size.div_ceil((*chunk).max(1)));
                wanted *= float(*size);
            }
            each *= float(*chunk);
        }
        let bytes = chunks * each;
        (bytes / wanted, chunks.mul_add(CHUNK_COST_BYTES, bytes) / wanted)
    }

    /// Returns two cost factors of an access pattern for a contiguous dataset. Each read of
    /// contiguous elements takes whole file system pages.
    fn contiguous(&self, access: Access) -> (f64, f64) {
        let all = self.dims.iter().fold(float(self.size), |bytes, size| bytes * float(*size));
        let (wanted, runs) = match access {
            Access::Whole => (all, 1.0),
            Access::Point => (float(self.size), 1.0),
            Access::Slice(dimension) => {
                let before = self.dims.iter().take(dimension).fold(1.0, |runs, size| runs * float(*size));
                let along = self.dims.get(dimension).copied().unwrap_or(1).max(1);
                (all / float(along), before)
            }
        };
        let bytes = ((wanted / runs).max(PAGE_BYTES) * runs).min(all.max(wanted));
        // Runs at distances of less than a page are fetched together.
        let fetches = if bytes >= all { 1.0 } else { runs };
        (bytes / wanted, fetches.mul_add(CHUNK_COST_BYTES, bytes) / wanted)
    }

    /// Returns the chunk shapes for which `bench-file` estimates a cost, without duplicates.
    pub(super) fn shapes(&self) -> Vec<Vec<u64>> {
        let mut shapes = Vec::new();
        let rank = self.dims.len();
        let mut add = |shape: Vec<u64>| {
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        };
        for bytes in CHUNK_BYTES {
            let elements = (bytes / float(self.size.max(1))).max(1.0);
            add(self.balanced(elements, &vec![1.0; rank]));
            let dims: Vec<f64> = self.dims.iter().map(|size| float((*size).max(1))).collect();
            add(self.balanced(elements, &dims));
            for dimension in 0..rank {
                // With these weights, chunks are short or long along one dimension.
                for weight in [1e-6, 1e-2, 1e2, 1e6] {
                    let mut weights = dims.clone();
                    if let Some(one) = weights.get_mut(dimension) {
                        *one *= weight;
                    }
                    add(self.balanced(elements, &weights));
                }
            }
        }
        shapes
    }

    /// Returns a chunk shape of about `elements` elements, with sides in proportion to the weights.
    /// No side is longer than the dataset; if a side is shortened for this reason, the others
    /// become longer.
    fn balanced(&self, elements: f64, weights: &[f64]) -> Vec<u64> {
        let mut shape: Vec<Option<u64>> = vec![None; self.dims.len()];
        loop {
            let fixed = shape.iter().flatten().fold(1.0, |product, side| product * float(*side));
            let open: Vec<usize> =
                (0..shape.len()).filter(|at| shape.get(*at).is_some_and(Option::is_none)).collect();
            let Ok(count) = u32::try_from(open.len()) else { break };
            if count == 0 {
                break;
            }
            let logs = |at: &usize| weights.get(*at).copied().unwrap_or(1.0).max(f64::MIN_POSITIVE).ln();
            let sum: f64 = open.iter().map(logs).sum();
            let scale = ((elements / fixed).max(1.0).ln() - sum) / f64::from(count);
            let side = |at: &usize| (scale + logs(at)).exp();
            // The loop first fixes the side that exceeds its bounds most. If no side exceeds its
            // bounds, the loop fixes all sides.
            let beyond = |at: &usize| {
                let maximum = float(self.dims.get(*at).copied().unwrap_or(1).max(1));
                (side(at) / maximum).max(1.0 / side(at))
            };
            let worst = open.iter().copied().max_by(|one, other| beyond(one).total_cmp(&beyond(other)));
            let fixed_next = match worst {
                Some(worst) if beyond(&worst) > 1.0 => vec![worst],
                _ => open.clone(),
            };
            for at in fixed_next {
                let maximum = self.dims.get(at).copied().unwrap_or(1).max(1);
                if let Some(slot) = shape.get_mut(at) {
                    *slot = Some(rounded(side(&at)).clamp(1, maximum));
                }
            }
        }
        let mut shape: Vec<u64> = shape.into_iter().map(|side| side.unwrap_or(1)).collect();
        // Rounding up many sides can increase the product.
        while shape.iter().fold(1.0, |product, side| product * float(*side)) > elements * 1.5 {
            let Some(longest) = shape.iter_mut().max().filter(|side| **side > 1) else { break };
            *longest /= 2;
        }
        shape
    }
}

/// Rounds the side of a chunk to a multiple of a power of two. The power of two is about an eighth
/// of the side.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
fn rounded(side: f64) -> u64 {
    let whole = side.round().max(1.0) as u64;
    let step = (whole / 8).max(1).next_power_of_two();
    // A side may be as large as the largest dimension, whose sum with half a step may overflow.
    whole.saturating_add(step / 2) / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model<'a>(dims: &'a [u64], accesses: &'a [Access]) -> Model<'a> {
        Model { dims, size: 4, accesses, wanted: accesses }
    }

    #[test]
    fn bytes_for_each_byte_wanted() {
        let accesses = Access::all(2);
        let model = model(&[1000, 500], &accesses);
        let rows = model.candidate(Layout::Chunked(vec![1, 500]));
        assert_eq!(rows.read, [1.0, 1.0, 500.0, 500.0]);
        let squares = model.candidate(Layout::Chunked(vec![100, 100]));
        assert_eq!(squares.read, [1.0, 100.0, 100.0, 10_000.0]);
        // The parts of chunks beyond the extent are read, too.
        let over = model.candidate(Layout::Chunked(vec![600, 500]));
        assert_eq!(over.read.first(), Some(&1.2));
        // A column of contiguous data takes a page for each element, but not more than all bytes.
        let contiguous = model.candidate(Layout::Contiguous);
        assert_eq!(contiguous.read, [1.0, 4096.0_f64.mul_add(1.0, 0.0) / 2000.0, 500.0, 1024.0]);
    }

    #[test]
    fn the_best_shape_follows_what_is_wanted() {
        let accesses = Access::all(3);
        let dims = [2000, 1000, 1000];
        let best = |wanted: &[Access]| {
            let model = Model { dims: &dims, size: 4, accesses: &accesses, wanted };
            match model.ranked().into_iter().next().map(|best| best.layout) {
                Some(Layout::Chunked(shape)) => shape,
                _ => Vec::new(),
            }
        };
        assert_eq!(best(&[Access::Slice(0)]).first(), Some(&1));
        assert_eq!(best(&[Access::Slice(2)]).last(), Some(&1));
        let all = best(&[Access::Slice(0), Access::Slice(1), Access::Slice(2)]);
        assert!(all.iter().all(|side| (8..=256).contains(side)), "{all:?}");
    }

    #[test]
    fn shapes_fit_whatever_the_array_is() {
        for dims in [&[1_u64][..], &[0, 5], &[u64::MAX, 3], &[1, 1, 1_000_000], &[3; 32]] {
            let accesses = Access::all(dims.len());
            for shape in model(dims, &accesses).shapes() {
                assert_eq!(shape.len(), dims.len());
                assert!(
                    shape.iter().zip(dims).all(|(side, size)| *side >= 1 && *side <= (*size).max(1)),
                    "{shape:?}"
                );
                let elements = shape.iter().fold(1.0, |product, side| product * float(*side));
                assert!(elements <= 2.5e6, "{dims:?}: {shape:?}");
            }
        }
        assert_eq!([3.2, 100.0, 777.0, 0.1].map(rounded), [3, 96, 768, 1]);
    }
}
