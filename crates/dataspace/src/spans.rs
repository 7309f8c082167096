//! A set of selected elements as a tree of spans (intervals of coordinates).
//!
//! A span is an interval of coordinates of one dimension, starting with the slowest. All
//! coordinates of a span have the same selected elements in the faster dimensions: the span's
//! subtree. Neighbouring spans with equal subtrees are merged, so that equal sets have equal trees.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::Result;
use crate::{Axes, Axis, Block, DataspaceError, Dims, Hyperslab, RegularHyperslab, SetOperation};

/// The largest size of the tree of intervals for a selection, in intervals of coordinates. A tree
/// is also cut into at most this number of blocks.
const MAX_SPANS: usize = 1 << 24;

/// The largest number of steps in the conversion of a hyperslab to a tree of intervals. Each visit
/// of a block is one step. The limit bounds the work for blocks that cross each other.
const MAX_BLOCK_VISITS: usize = 1 << 25;

const TOO_MANY_VISITS: DataspaceError =
    DataspaceError::Invalid { subject: "a hyperslab", problem: "has too many blocks that cross each other" };
const TOO_MANY_SPANS: DataspaceError =
    DataspaceError::Invalid { subject: "a combination of selections", problem: "has more than 2^24 blocks" };
const OVERFLOW: DataspaceError = DataspaceError::Overflow { subject: "number of elements" };

/// The selected coordinates of one dimension, in the tree of intervals of a selection. Each
/// interval has a subtree with the selected coordinates of the next faster dimension.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spans {
    spans: Vec<Span>,
    count: u64,
}

/// An interval of selected coordinates of one dimension. All these coordinates have the same
/// subtree in the selection's tree of intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The number of elements in the preceding spans.
    pub(crate) before: u64,
    /// The subtree; [`None`] in the fastest dimension.
    pub(crate) below: Option<Arc<Spans>>,
}

impl Span {
    /// Returns the weight of an interval in a selection's tree of intervals: the number of selected
    /// elements at each coordinate of the interval.
    pub(crate) fn weight(&self) -> u64 {
        self.below.as_ref().map_or(1, |below| below.count)
    }

    fn length(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Returns whether an interval in the tree of intervals of a selection has the subtree `below`.
    fn has_below(&self, below: Option<&Arc<Spans>>) -> bool {
        match (&self.below, below) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl Spans {
    fn empty() -> Self {
        Self { spans: Vec::new(), count: 0 }
    }

    /// Returns the number of selected elements of a tree of intervals.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the intervals that contain coordinates in `from..to`, in one dimension of a
    /// selection's tree of intervals.
    pub(crate) fn within(&self, from: u64, to: u64) -> &[Span] {
        let first = self.spans.partition_point(|span| span.last < from);
        let rest = self.spans.split_at(first).1;
        rest.split_at(rest.partition_point(|span| span.first < to)).0
    }

    /// Returns the interval that contains a selected element, in one dimension of a selection's
    /// tree of intervals. `position` is the index of the element in C order.
    pub(crate) fn at(&self, position: u64) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.before <= position);
        self.spans.get(after.checked_sub(1)?)
    }

    /// Appends an interval of coordinates to one dimension of a selection's tree of intervals. If
    /// the last interval is adjacent and has an equal subtree, extends that interval instead.
    fn push(&mut self, first: u64, last: u64, below: Option<Arc<Self>>) -> Result<()> {
        let added = (last - first)
            .checked_add(1)
            .and_then(|length| length.checked_mul(below.as_ref().map_or(1, |below| below.count)))
            .ok_or(OVERFLOW)?;
        let before = self.count;
        self.count = before.checked_add(added).ok_or(OVERFLOW)?;
        if let Some(span) = self.spans.last_mut()
            && span.last.checked_add(1) == Some(first)
            && span.has_below(below.as_ref())
        {
            span.last = last;
            return Ok(());
        }
        if self.spans.len() >= MAX_SPANS {
            return Err(TOO_MANY_SPANS);
        }
        self.spans.push(Span { first, last, before, below });
        Ok(())
    }

    /// Creates the tree of intervals for a regular hyperslab from its selected coordinates in each
    /// dimension.
    pub(crate) fn of_axes(axes: &Axes) -> Result<Arc<Self>> {
        if axes.iter().any(Axis::is_empty) {
            return Ok(Arc::new(Self::empty()));
        }
        let mut below: Option<Arc<Self>> = None;
        for axis in axes.iter().rev() {
            if axis.block_count() > MAX_SPANS as u64 {
                return Err(TOO_MANY_SPANS);
            }
            let mut spans = Self::empty();
            for block in 0..axis.block_count() {
                let first = axis.block_start(block);
                let last = first + axis.block_length(block) - 1;
                spans.push(first, last, below.clone())?;
            }
            below = Some(Arc::new(spans));
        }
        below.ok_or(DataspaceError::Invalid { subject: "a selection", problem: "has no dimensions" })
    }

    /// Creates the tree of intervals for a hyperslab from its blocks. Blocks may touch and overlap,
    /// but no block may end before it starts.
    pub(crate) fn of_blocks(rank: usize, blocks: &[Block]) -> Result<Arc<Self>> {
        let mut visits_left = MAX_BLOCK_VISITS;
        Self::sweep(rank, 0, blocks.iter().collect(), &mut visits_left).map(Arc::new)
    }

    /// Builds the tree of intervals for a list of blocks of selected elements, from the dimension
    /// `dimension` on. Divides the dimension into intervals at the starts and ends of blocks. For
    /// each interval, repeats this with its blocks in the next dimension.
    fn sweep(
        rank: usize,
        dimension: usize,
        mut members: Vec<&Block>,
        visits_left: &mut usize,
    ) -> Result<Self> {
        *visits_left = visits_left.checked_sub(members.len()).ok_or(TOO_MANY_VISITS)?;
        let span = |block: &Block| {
            let corner = |corner: &Dims| corner.get(dimension).copied().unwrap_or(0);
            (corner(&block.start), corner(&block.end))
        };
        members.sort_by_cached_key(|block| span(block));
        let mut spans = Self::empty();
        if dimension + 1 >= rank {
            let mut open: Option<(u64, u64)> = None;
            for (first, last) in members.into_iter().map(span) {
                match &mut open {
                    Some((_, end)) if first.max(1) - 1 <= *end => *end = last.max(*end),
                    _ => {
                        if let Some((first, last)) = open.replace((first, last)) {
                            spans.push(first, last, None)?;
                        }
                    }
                }
            }
            if let Some((first, last)) = open {
                spans.push(first, last, None)?;
            }
            return Ok(spans);
        }
        let mut upcoming = members.into_iter().peekable();
        let mut active: Vec<&Block> = Vec::new();
        let mut at = 0;
        loop {
            active.retain(|block| span(block).1 >= at);
            if active.is_empty() {
                let Some(next) = upcoming.peek() else { return Ok(spans) };
                at = span(next).0;
            }
            while let Some(block) = upcoming.next_if(|block| span(block).0 <= at) {
                active.push(block);
            }
            let mut last = upcoming.peek().map_or(u64::MAX, |block| span(block).0 - 1);
            last = active.iter().fold(last, |last, block| last.min(span(block).1));
            let below = Self::sweep(rank, dimension + 1, active.clone(), visits_left)?;
            spans.push(at, last, Some(Arc::new(below)))?;
            let Some(next) = last.checked_add(1) else { return Ok(spans) };
            at = next;
        }
    }

    /// Returns the elements of a selection's tree of intervals as a regular hyperslab if possible,
    /// otherwise as disjoint blocks. Returns [`None`] if the tree is empty.
    pub(crate) fn hyperslab(self: &Arc<Self>, rank: usize) -> Result<Option<Hyperslab>> {
        if self.count == 0 {
            return Ok(None);
        }
        if let Some(regular) = self.regular() {
            return Ok(Some(Hyperslab::Regular(regular)));
        }
        let mut blocks = Vec::new();
        let (mut start, mut end) = (Dims::with_capacity(rank), Dims::with_capacity(rank));
        self.cut(&mut start, &mut end, &mut blocks)?;
        Ok(Some(Hyperslab::Irregular { rank, blocks }))
    }

    /// Returns the elements of a selection's tree of intervals as a regular hyperslab. Returns
    /// [`None`] if they do not form a regular hyperslab.
    fn regular(&self) -> Option<RegularHyperslab> {
        let none = Dims::new;
        let mut hyperslab = RegularHyperslab { start: none(), stride: none(), count: none(), block: none() };
        let mut level = Some(self);
        while let Some(spans) = level {
            let (first, block) = spans.spans.first().map(|span| (span, span.length()))?;
            let stride = match spans.spans.get(1) {
                Some(second) => second.first.checked_sub(first.first)?,
                None => 1,
            };
            let mut expected = first.first;
            for span in &spans.spans {
                if span.first != expected || span.length() != block || !span.has_below(first.below.as_ref()) {
                    return None;
                }
                expected += stride;
            }
            hyperslab.start.push(first.first);
            hyperslab.stride.push(stride);
            hyperslab.count.push(spans.spans.len() as u64);
            hyperslab.block.push(block);
            level = first.below.as_deref();
        }
        Some(hyperslab)
    }

    /// Appends the blocks of a selection's tree of intervals to `blocks`. `start` and `end` are the
    /// corners of the blocks in the slower dimensions.
    fn cut(&self, start: &mut Dims, end: &mut Dims, blocks: &mut Vec<Block>) -> Result<()> {
        for span in &self.spans {
            start.push(span.first);
            end.push(span.last);
            match &span.below {
                Some(below) => below.cut(start, end, blocks)?,
                None if blocks.len() >= MAX_SPANS => return Err(TOO_MANY_SPANS),
                None => blocks.push(Block { start: start.clone(), end: end.clone() }),
            }
            start.pop();
            end.pop();
        }
        Ok(())
    }
}

/// A set operation on two selections of the same rank, which are trees of intervals. The operation
/// processes each pair of subtrees only once.
#[derive(Debug)]
pub(crate) struct Combiner {
    operation: SetOperation,
    done: HashMap<(usize, usize), Option<Arc<Spans>>>,
}

impl Combiner {
    /// Applies the set operation to the interval trees of two selections.
    pub(crate) fn combine(operation: SetOperation, a: &Arc<Spans>, b: &Arc<Spans>) -> Result<Arc<Spans>> {
        let mut combiner = Self { operation, done: HashMap::new() };
        let set = combiner.both(Some(a), Some(b))?;
        Ok(set.unwrap_or_else(|| Arc::new(Spans::empty())))
    }

    /// Applies a set operation to two subtrees, one of each selection's tree of intervals. [`None`]
    /// stands for an empty subtree.
    fn both(&mut self, a: Option<&Arc<Spans>>, b: Option<&Arc<Spans>>) -> Result<Option<Arc<Spans>>> {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) if !Arc::ptr_eq(a, b) => (a, b),
            _ => {
                let kept = self.operation.keeps(a.is_some(), b.is_some());
                return Ok(a.or(b).filter(|_| kept).cloned());
            }
        };
        // The combination keeps the trees alive, so that no address is used twice.
        let key = (Arc::as_ptr(a).addr(), Arc::as_ptr(b).addr());
        if let Some(done) = self.done.get(&key) {
            return Ok(done.clone());
        }
        let merged = self.merge(&a.spans, &b.spans)?;
        let merged = (merged.count > 0).then(|| Arc::new(merged));
        self.done.insert(key, merged.clone());
        Ok(merged)
    }

    /// Applies a set operation to two lists of intervals. Each list is one dimension of a
    /// selection's tree of intervals.
    fn merge<'a>(&mut self, mut a: &'a [Span], mut b: &'a [Span]) -> Result<Spans> {
        let mut spans = Spans::empty();
        let mut at = 0;
        loop {
            let starts = [a.first(), b.first()].into_iter().flatten().map(|span| span.first);
            let Some(next) = starts.min() else { return Ok(spans) };
            at = next.max(at);
            let here = |spans: &[Span]| spans.first().filter(|span| span.first <= at).cloned();
            let (in_a, in_b) = (here(a), here(b));
            let end = |spans: &[Span]| match spans.first() {
                Some(span) if span.first <= at => span.last,
                Some(span) => span.first - 1,
                None => u64::MAX,
            };
            let last = end(a).min(end(b));
            let leaf = [&in_a, &in_b].into_iter().flatten().any(|span| span.below.is_none());
            if leaf {
                if self.operation.keeps(in_a.is_some(), in_b.is_some()) {
                    spans.push(at, last, None)?;
                }
            } else {
                let below = |span: &Option<Span>| span.as_ref().and_then(|span| span.below.clone());
                if let Some(below) = self.both(below(&in_a).as_ref(), below(&in_b).as_ref())? {
                    spans.push(at, last, Some(below))?;
                }
            }
            for spans in [&mut a, &mut b] {
                if let Some((span, rest)) = spans.split_first()
                    && span.last <= last
                {
                    *spans = rest;
                }
            }
            let Some(next) = last.checked_add(1) else { return Ok(spans) };
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_across_each_other_take_bounded_work() {
        let nested: Vec<Block> = (0..100_u64)
            .map(|at| Block {
                start: Dims::from_slice(&[at, at % 2]),
                end: Dims::from_slice(&[300 - at, 7 + at % 3]),
            })
            .collect();
        let sweep = |mut visits_left: usize| Spans::sweep(2, 0, nested.iter().collect(), &mut visits_left);
        assert_eq!(sweep(1_000).unwrap_err(), TOO_MANY_VISITS);
        let spans = sweep(20_000).unwrap();
        assert_eq!(spans.within(0, 1).len(), 1);
        assert_eq!(spans.count(), Spans::of_blocks(2, &nested).unwrap().count());
    }
}
