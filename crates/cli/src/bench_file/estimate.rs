//! What chunks of other shapes would cost. Nothing here is measured.

use super::access::Access;

/// What finding, fetching and starting to decode a chunk costs, in bytes that could be read meanwhile.
const PER_CHUNK: f64 = 16_384.0;

/// What a file system reads at least.
const PAGE: f64 = 4096.0;

/// Bytes of chunks that are tried.
const SIZES: [f64; 4] = [65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0];

/// How much worse a layout may be and still be nearly as good.
const NEARLY: f64 = 1.1;

/// How elements lie in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    Contiguous,
    Chunked(Vec<u64>),
}

impl Layout {
    /// Elements of a chunk.
    fn elements(&self) -> u64 {
        match self {
            Self::Contiguous => 0,
            Self::Chunked(shape) => shape.iter().fold(1, |product: u64, side| product.saturating_mul(*side)),
        }
    }
}

/// A layout, and what it costs in each way of reading.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) layout: Layout,
    /// Bytes that are read, or decoded, for each byte wanted.
    pub(super) read: Vec<f64>,
    /// The mean of what each way costs for each byte wanted, chunks counted.
    pub(super) cost: f64,
}

/// An array and how it is read.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) dims: &'a [u64],
    /// Bytes of an element.
    pub(super) size: u64,
    pub(super) accesses: &'a [Access],
    /// Which of them count.
    pub(super) wanted: &'a [Access],
}

#[expect(clippy::cast_precision_loss, reason = "estimates have few digits")]
fn float(number: u64) -> f64 {
    number as f64
}

impl Model<'_> {
    /// What a layout costs.
    pub(super) fn candidate(&self, layout: Layout) -> Candidate {
        let cost = |access: &Access| self.cost(&layout, *access);
        let read = self.accesses.iter().map(|access| cost(access).0).collect();
        let sum: f64 = self.wanted.iter().map(|access| cost(access).1).sum();
        let count = u32::try_from(self.wanted.len().max(1)).map_or(1.0, f64::from);
        Candidate { layout, read, cost: sum / count }
    }

    /// Chunked layouts, the best first: of those that are nearly as good as any, the one with the smallest chunks.
    pub(super) fn ranked(&self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> =
            self.shapes().into_iter().map(|shape| self.candidate(Layout::Chunked(shape))).collect();
        candidates.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        let least = candidates.first().map_or(0.0, |best| best.cost);
        let good = candidates.iter().take_while(|candidate| candidate.cost <= least * NEARLY);
        let smallest = good.enumerate().min_by_key(|(_, candidate)| candidate.layout.elements());
        if let Some((at, _)) = smallest {
            let best = candidates.remove(at);
            candidates.insert(0, best);
        }
        candidates
    }

    /// Bytes read for each byte wanted; and the same with what each chunk costs beside.
    fn cost(&self, layout: &Layout, access: Access) -> (f64, f64) {
        match layout {
            Layout::Chunked(chunk) => self.chunked(chunk, access),
            Layout::Contiguous => self.contiguous(access),
        }
    }

    fn chunked(&self, chunk: &[u64], access: Access) -> (f64, f64) {
        let (mut chunks, mut wanted, mut each) = (1.0, float(self.size), float(self.size));
        for (dimension, (size, chunk)) in self.dims.iter().zip(chunk).enumerate() {
            let one = access == Access::Point || access == Access::Slab(dimension);
            if !one {
                chunks *= float(size.div_ceil((*chunk).max(1)));
                wanted *= float(*size);
            }
            each *= float(*chunk);
        }
        let bytes = chunks * each;
        (bytes / wanted, chunks.mul_add(PER_CHUNK, bytes) / wanted)
    }

    /// Runs of elements that lie side by side; each has whole pages.
    fn contiguous(&self, access: Access) -> (f64, f64) {
        let all = self.dims.iter().fold(float(self.size), |bytes, size| bytes * float(*size));
        let (wanted, runs) = match access {
            Access::Whole => (all, 1.0),
            Access::Point => (float(self.size), 1.0),
            Access::Slab(slab) => {
                let before = self.dims.iter().take(slab).fold(1.0, |runs, size| runs * float(*size));
                let along = self.dims.get(slab).copied().unwrap_or(1).max(1);
                (all / float(along), before)
            }
        };
        let bytes = ((wanted / runs).max(PAGE) * runs).min(all.max(wanted));
        // Runs that are nearer than a page are fetched together.
        let fetches = if bytes >= all { 1.0 } else { runs };
        (bytes / wanted, fetches.mul_add(PER_CHUNK, bytes) / wanted)
    }

    /// Shapes that may serve, each once.
    pub(super) fn shapes(&self) -> Vec<Vec<u64>> {
        let mut shapes = Vec::new();
        let rank = self.dims.len();
        let mut add = |shape: Vec<u64>| {
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        };
        for bytes in SIZES {
            let elements = (bytes / float(self.size.max(1))).max(1.0);
            add(self.balanced(elements, &vec![1.0; rank]));
            let dims: Vec<f64> = self.dims.iter().map(|size| float((*size).max(1))).collect();
            add(self.balanced(elements, &dims));
            for dimension in 0..rank {
                // Thin along one dimension, and long along it.
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

    /// A shape of about so many elements with sides as the weights; none is longer than the array, and what one side
    /// cannot have the others get.
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
            // The side that is furthest beyond its bounds is settled first; if none is, all are.
            let beyond = |at: &usize| {
                let most = float(self.dims.get(*at).copied().unwrap_or(1).max(1));
                (side(at) / most).max(1.0 / side(at))
            };
            let worst = open.iter().copied().max_by(|one, other| beyond(one).total_cmp(&beyond(other)));
            let settle = match worst {
                Some(worst) if beyond(&worst) > 1.0 => vec![worst],
                _ => open.clone(),
            };
            for at in settle {
                let most = self.dims.get(at).copied().unwrap_or(1).max(1);
                if let Some(slot) = shape.get_mut(at) {
                    *slot = Some(rounded(side(&at)).clamp(1, most));
                }
            }
        }
        let mut shape: Vec<u64> = shape.into_iter().map(|side| side.unwrap_or(1)).collect();
        // Rounding each of many sides up may add up.
        while shape.iter().fold(1.0, |product, side| product * float(*side)) > elements * 1.5 {
            let Some(longest) = shape.iter_mut().max().filter(|side| **side > 1) else { break };
            *longest /= 2;
        }
        shape
    }
}

/// A side that is a multiple of a power of two near its size, so that it is easily said.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts stay within the type"
)]
fn rounded(side: f64) -> u64 {
    let whole = side.round().max(1.0) as u64;
    let step = (whole / 8).max(1).next_power_of_two();
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
        // What hangs over is read, too.
        let over = model.candidate(Layout::Chunked(vec![600, 500]));
        assert_eq!(over.read.first(), Some(&1.2));
        // A column of contiguous data has a page for each element, but no more than there is.
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
        assert_eq!(best(&[Access::Slab(0)]).first(), Some(&1));
        assert_eq!(best(&[Access::Slab(2)]).last(), Some(&1));
        let all = best(&[Access::Slab(0), Access::Slab(1), Access::Slab(2)]);
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
