//! Conversion between the elements of a selection and their positions in the order of the
//! selection.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Result, same_rank};
use crate::spans::Spans;
use crate::{Axes, Axis, DataspaceError, Dims, Points, Region, Selection};

/// A selection with its elements in order. It finds the selected element at a position, and the
/// position of a selected element, without listing all elements.
///
/// ```
/// use hyperslab_dataspace::{Hyperslab, Ordered, Region, RegularHyperslab, Selection};
/// let third = RegularHyperslab::strided(&[1], &[3], &[5]);
/// let third = Selection::Hyperslab(Hyperslab::Regular(third));
/// let ordered = Ordered::new(&third, &[20])?;
/// let mut found = Vec::new();
/// ordered.within(&Region::new(&[3], &[6])?, |at, length, position| {
///     found.push((at[0], length, position));
///     Ok::<(), ()>(())
/// }).ok();
/// assert_eq!(found, [(4, 1, 1), (7, 1, 2)]);
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ordered {
    kind: Kind,
    rank: usize,
    count: u64,
}

#[derive(Debug, Clone)]
enum Kind {
    /// A regular selection, and for each dimension the number of elements at each coordinate.
    Axes(Axes, Dims),
    Spans(Arc<Spans>),
    /// A list of points, and the numbers of the points in ascending order of their coordinates.
    Points(Points, Vec<usize>),
}

impl Ordered {
    /// Creates the ordered form of a selection of elements of a dataspace of the shape `dims`. The
    /// ordered form finds elements by position.
    ///
    /// # Errors
    /// The errors of [`Selection::validate`], except that blocks may overlap;
    /// [`DataspaceError::Invalid`] for more than 2^24 blocks.
    pub fn new(selection: &Selection, dims: &[u64]) -> Result<Self> {
        let rank = dims.len();
        if let Selection::Points(points) = selection {
            let count = selection.element_count(dims)?;
            let mut order: Vec<usize> = (0..points.points().count()).collect();
            order.sort_by_key(|number| point(points, *number));
            return Ok(Self { kind: Kind::Points(points.clone(), order), rank, count });
        }
        let Some(axes) = selection.axes(dims)? else {
            let spans = selection.spans(dims)?;
            return Ok(Self { rank, count: spans.count(), kind: Kind::Spans(spans) });
        };
        let mut weights = Dims::from_elem(1, rank);
        let mut weight = 1_u64;
        for (to, axis) in weights.iter_mut().zip(&axes).rev() {
            *to = weight;
            let overflow = DataspaceError::Overflow { subject: "number of elements" };
            weight = weight.checked_mul(axis.len()).ok_or(overflow)?;
        }
        Ok(Self { kind: Kind::Axes(axes, weights), rank, count: weight })
    }

    /// Returns the number of elements of the ordered selection.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether the ordered selection has no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether the elements of the selection may be in another order than C order, as in a
    /// list of points.
    pub fn is_unordered(&self) -> bool {
        matches!(self.kind, Kind::Points(..))
    }

    /// Returns the selected coordinates of each dimension. Returns [`None`] unless the selection
    /// consists of all combinations of these coordinates.
    pub fn axes(&self) -> Option<&[Axis]> {
        match &self.kind {
            Kind::Axes(axes, _) => Some(axes),
            _ => None,
        }
    }

    /// Returns whether the box `region` may contain a selected element. The result `false` is
    /// certain. For lists of points and irregular blocks, the result may be `true` although the box
    /// contains no selected element.
    pub fn may_meet(&self, region: &Region) -> bool {
        match &self.kind {
            Kind::Axes(axes, _) => axes
                .iter()
                .zip(region.bounds())
                .all(|(axis, (from, to))| axis.runs_within(from, to).next().is_some()),
            Kind::Spans(spans) => {
                region.bounds().next().is_none_or(|(from, to)| !spans.within(from, to).is_empty())
            }
            Kind::Points(points, order) => !band(points, order, region).is_empty(),
        }
    }

    /// Calls `visit` with the selected elements in the box `region`, as runs along the fastest
    /// dimension, in C order.
    ///
    /// `visit` receives the coordinates of the first element, the number of elements, and the
    /// position of the first element in the selection. The positions of a run are consecutive.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn within<E>(
        &self,
        region: &Region,
        mut visit: impl FnMut(&[u64], u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if same_rank("the box", self.rank, region.rank()).is_err() || region.is_empty() || self.is_empty() {
            return Ok(());
        }
        let mut at = region.start.clone();
        let bounds: SmallVec<[(u64, u64); 4]> = region.bounds().collect();
        match &self.kind {
            Kind::Axes(axes, weights) => {
                if axes.is_empty() {
                    return visit(&[], 1, 0);
                }
                walk_axes(axes, weights, &bounds, 0, &mut at, 0, &mut visit)
            }
            Kind::Spans(spans) => walk_spans(spans, &bounds, 0, &mut at, 0, &mut visit),
            Kind::Points(points, order) => {
                for number in band(points, order, region) {
                    let point = point(points, *number);
                    if region.contains(point) {
                        visit(point, 1, *number as u64)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns the coordinates of the selected element at the index `position` in the selection.
    /// Also returns the number of elements from there to the end of its run along the fastest
    /// dimension. Returns [`None`] if the selection has fewer elements.
    pub fn at(&self, position: u64) -> Option<(Dims, u64)> {
        if position >= self.count {
            return None;
        }
        let mut rest = position;
        let mut at = Dims::with_capacity(self.rank);
        match &self.kind {
            Kind::Axes(axes, weights) => {
                let mut run = 1;
                for (axis, weight) in axes.iter().zip(weights) {
                    let here = rest.checked_div(*weight)?;
                    rest = rest.checked_rem(*weight)?;
                    at.push(axis.coordinate(here)?);
                    run = axis.run_from(here);
                }
                Some((at, run))
            }
            Kind::Spans(spans) => {
                let mut level = spans;
                loop {
                    let span = level.at(rest)?;
                    rest -= span.before;
                    let coordinate = span.first.checked_add(rest.checked_div(span.weight())?)?;
                    at.push(coordinate);
                    match &span.below {
                        Some(below) => {
                            rest = rest.checked_rem(span.weight())?;
                            level = below;
                        }
                        None => return Some((at, span.last - coordinate + 1)),
                    }
                }
            }
            Kind::Points(points, _) => {
                let number = usize::try_from(position).ok()?;
                Some((Dims::from_slice(point(points, number)), 1))
            }
        }
    }
}

fn point(points: &Points, number: usize) -> &[u64] {
    // The caller passes the number of an existing point.
    points.coordinates.split_at(number * points.rank).1.split_at(points.rank).0
}

/// Returns the selected points whose coordinate in the slowest dimension lies in the box `region`.
/// A point is given by its number in the list, and the numbers are in C order of the points.
fn band<'a>(points: &Points, order: &'a [usize], region: &Region) -> &'a [usize] {
    let Some((from, to)) = region.bounds().next() else { return &[] };
    let slowest = |number: &usize| point(points, *number).first().copied().unwrap_or(0);
    let first = order.partition_point(|number| slowest(number) < from);
    let rest = order.split_at(first).1;
    rest.split_at(rest.partition_point(|number| slowest(number) < to)).0
}

/// Calls `visit` with the runs of elements that are both in a regular hyperslab and in a box.
/// Processes the dimensions from `dimension` on.
fn walk_axes<E>(
    axes: &[Axis],
    weights: &[u64],
    bounds: &[(u64, u64)],
    dimension: usize,
    at: &mut Dims,
    position: u64,
    visit: &mut impl FnMut(&[u64], u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let (Some((axis, axes)), Some((weight, weights)), Some(((from, to), bounds))) =
        (axes.split_first(), weights.split_first(), bounds.split_first())
    else {
        return Ok(());
    };
    let (from, to) = (*from, *to);
    for run in axis.runs_within(from, to) {
        if axes.is_empty() {
            set(at, dimension, run.start);
            visit(at, run.length, position + run.position)?;
            continue;
        }
        for step in 0..run.length {
            set(at, dimension, run.start + step);
            let before = (run.position + step) * *weight;
            walk_axes(axes, weights, bounds, dimension + 1, at, position + before, visit)?;
        }
    }
    Ok(())
}

/// Calls `visit` with the runs of elements that are both in a selection and in a box. The selection
/// is a tree of intervals of coordinates. Processes the dimensions from `dimension` on.
fn walk_spans<E>(
    spans: &Spans,
    bounds: &[(u64, u64)],
    dimension: usize,
    at: &mut Dims,
    position: u64,
    visit: &mut impl FnMut(&[u64], u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let Some(((from, to), bounds)) = bounds.split_first() else { return Ok(()) };
    let (from, to) = (*from, *to);
    for span in spans.within(from, to) {
        let (first, end) = (span.first.max(from), span.last.min(to - 1) + 1);
        let weight = span.weight();
        let position_of = |coordinate: u64| {
            let before = (coordinate - span.first) * weight;
            position + span.before + before
        };
        let Some(below) = &span.below else {
            set(at, dimension, first);
            visit(at, end - first, position_of(first))?;
            continue;
        };
        for coordinate in first..end {
            set(at, dimension, coordinate);
            walk_spans(below, bounds, dimension + 1, at, position_of(coordinate), visit)?;
        }
    }
    Ok(())
}

fn set(at: &mut Dims, dimension: usize, coordinate: u64) {
    if let Some(to) = at.get_mut(dimension) {
        *to = coordinate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Hyperslab, RegularHyperslab};
    use proptest::prelude::*;

    fn cases() -> impl Strategy<Value = (Vec<u64>, Selection, Region)> {
        proptest::collection::vec(
            (2..9_u64, 0..2_u64, 1..4_u64, 1..3_u64, 0..4_u64, 0..9_u64, 0..9_u64),
            1..4,
        )
        .prop_flat_map(|axes| {
            let dims: Vec<u64> = axes.iter().map(|axis| axis.0 + 4).collect();
            let region = Region::new(
                &axes.iter().map(|axis| axis.5).collect::<Vec<_>>(),
                &axes.iter().map(|axis| axis.6).collect::<Vec<_>>(),
            );
            let fits = |axis: &(u64, u64, u64, u64, u64, u64, u64)| {
                let stride = axis.3 + axis.4;
                (axis.1, stride, axis.2.min((axis.0 + 4 - axis.1 - axis.3) / stride + 1), axis.3)
            };
            let regular = RegularHyperslab {
                start: axes.iter().map(|axis| fits(axis).0).collect(),
                stride: axes.iter().map(|axis| fits(axis).1).collect(),
                count: axes.iter().map(|axis| fits(axis).2).collect(),
                block: axes.iter().map(|axis| fits(axis).3).collect(),
            };
            let rank = dims.len();
            let corners = dims.iter().map(|size| (0..*size, 0..*size)).collect::<Vec<_>>();
            let listed = proptest::collection::vec(corners, 0..6).prop_map(move |blocks| {
                let low = |block: &Vec<(u64, u64)>| block.iter().map(|c| c.0.min(c.1)).collect::<Dims>();
                let high = |block: &Vec<(u64, u64)>| block.iter().map(|c| c.0.max(c.1)).collect::<Dims>();
                (
                    Selection::Hyperslab(Hyperslab::Irregular {
                        rank,
                        blocks: blocks.iter().map(|b| Block { start: low(b), end: high(b) }).collect(),
                    }),
                    Selection::Points(Points {
                        rank,
                        coordinates: blocks.iter().flat_map(|b| high(b).into_iter().chain(low(b))).collect(),
                    }),
                )
            });
            let selection = (listed, 0..4_u8).prop_map(move |((blocks, points), kind)| match kind {
                0 => Selection::All,
                1 => points,
                2 => blocks,
                _ => Selection::Hyperslab(Hyperslab::Regular(regular.clone())),
            });
            (Just(dims), selection, Just(region.unwrap()))
        })
    }

    proptest! {
        #[test]
        fn positions_are_those_of_the_runs((dims, selection, region) in cases()) {
            let mut all = Vec::new();
            for run in selection.runs(&dims).unwrap() {
                for step in 0..run.length {
                    let mut at = run.start.clone();
                    *at.last_mut().unwrap() += step;
                    all.push(at);
                }
            }
            let ordered = Ordered::new(&selection, &dims).unwrap();
            prop_assert_eq!(ordered.len(), all.len() as u64);
            for (position, expected) in all.iter().enumerate() {
                let (at, run) = ordered.at(position as u64).unwrap();
                prop_assert_eq!(&at, expected);
                for step in 0..run {
                    let mut following = at.clone();
                    *following.last_mut().unwrap() += step;
                    prop_assert_eq!(&all[position + usize::try_from(step).unwrap()], &following);
                }
            }
            prop_assert!(ordered.at(all.len() as u64).is_none());
            let mut seen = Vec::new();
            ordered.within(&region, |at, length, position| {
                for step in 0..length {
                    let mut at = Dims::from_slice(at);
                    *at.last_mut().unwrap() += step;
                    seen.push((usize::try_from(position + step).unwrap(), at));
                }
                Ok::<(), ()>(())
            }).unwrap();
            prop_assert!(seen.is_empty() || ordered.may_meet(&region));
            let mut expected: Vec<(usize, Dims)> =
                all.iter().cloned().enumerate().filter(|(_, at)| region.contains(at)).collect();
            seen.sort();
            expected.sort();
            prop_assert_eq!(seen, expected);
        }
    }
}
