//! The projection of a part of one selection onto another selection.

use hyperslab::dataspace::{Dims, Run};
use hyperslab::{Block, Points, Selection, SetOperation};

use super::{CSpace, combine, count, intersects};
use crate::error::{Failure, Outcome, codes};

/// A range of consecutive positions in the order of a selection: first position and count.
type Span = (u64, u64);

/// Projects a part of the selection of `source` onto the selection of `target`. The dataspace
/// `part` selects the part. If an element of the first selection belongs to the part, the result
/// selects the element of the second selection at the same position.
///
/// # Errors
/// Fails if the two selections have different element counts or are unlimited.
pub fn project(source: &CSpace, target: &CSpace, part: &CSpace) -> Outcome<CSpace> {
    let number = count(source)?;
    if number != count(target)? || number == u64::MAX {
        return Err(Failure::bad_value("the selections have different numbers of elements"));
    }
    let mut result = target.clone();
    let spans = spans(source, part)?;
    result.selection = match spans.as_slice() {
        [] => Selection::None,
        [(0, length)] if *length == number => return Ok(result),
        spans => at_spans(target, spans)?,
    };
    Ok(result)
}

/// Returns the shape of an array that contains the selection of a dataspace.
fn limits(space: &CSpace) -> Vec<u64> {
    match space.selection {
        Selection::All => space.extent.dims().to_vec(),
        _ => vec![u64::MAX; space.extent.rank()],
    }
}

/// Returns the positions of the elements that `part` selects. Positions count in the order of the
/// selection of `source`.
fn spans(source: &CSpace, part: &CSpace) -> Outcome<Vec<Span>> {
    let mut spans = Vec::new();
    if let Selection::Points(points) = &source.selection {
        for (position, point) in (0..).zip(points.points()) {
            if intersects(&part.selection, point, point) {
                append(&mut spans, (position, 1));
            }
        }
        return Ok(spans);
    }
    let part = match &part.selection {
        Selection::All => return Ok(vec![(0, count(source)?)]),
        Selection::Points(points) => {
            let block = |at: &[u64]| Block { start: Dims::from_slice(at), end: Dims::from_slice(at) };
            let blocks: Vec<Block> = points.points().map(block).collect();
            Selection::union_of(points.rank, &blocks)?
        }
        other => other.clone(),
    };
    let both = combine(&source.selection, SetOperation::And, &part, &source.extent)?;
    if both == Selection::None {
        return Ok(spans);
    }
    let (limits, endless) = (limits(source), vec![u64::MAX; source.extent.rank()]);
    let mut kept = both.runs(&endless)?;
    let mut next = kept.next();
    let mut position = 0_u64;
    for run in source.selection.runs(&limits)? {
        while let Some(current) = next.take() {
            let Some(distance) = within(&run, &current) else {
                next = Some(current);
                break;
            };
            // The common elements are a subset of the source. A source run that ends later
            // continues in the next common run.
            let length = current.length.min(run.length - distance);
            append(&mut spans, (position + distance, length));
            next = if length < current.length { Some(rest(current, length)) } else { kept.next() };
        }
        position = position.saturating_add(run.length); // The sum is at most the number of elements.
    }
    Ok(spans)
}

/// Returns the number of elements from the start of the run `outer` (a range of contiguous
/// elements) to the start of the run `inner`. Returns `None` if `inner` does not start within
/// `outer`.
fn within(outer: &Run, inner: &Run) -> Option<u64> {
    let ((outer_last, outer_row), (inner_last, inner_row)) =
        (outer.start.split_last()?, inner.start.split_last()?);
    let distance = inner_last.checked_sub(*outer_last)?;
    (outer_row == inner_row && distance < outer.length).then_some(distance)
}

/// Returns the rest of a run (a range of contiguous elements) after its first `length` elements.
fn rest(mut run: Run, length: u64) -> Run {
    if let Some(last) = run.start.last_mut() {
        *last += length;
    }
    run.length -= length;
    run
}

/// Appends a range of positions in a selection to a list of ranges. Joins it with the last range of
/// the list if both are adjacent.
fn append(spans: &mut Vec<Span>, (start, length): Span) {
    match spans.last_mut() {
        Some((first, number)) if *first + *number == start => *number += length,
        _ => spans.push((start, length)),
    }
}

/// Returns a selection of the elements at the given positions. Positions count in the order of the
/// selection of `space`.
fn at_spans(space: &CSpace, spans: &[Span]) -> Outcome<Selection> {
    let missing = || Failure::new(codes::DATASPACE, codes::CANTSELECT, "a position has no element");
    if let Selection::Points(points) = &space.selection {
        let mut coordinates = Vec::new();
        for (start, length) in spans {
            let skipped = usize::try_from(*start).map_err(|_| missing())?;
            let taken = usize::try_from(*length).map_err(|_| missing())?;
            coordinates.extend(points.points().skip(skipped).take(taken).flatten().copied());
        }
        return Ok(Selection::Points(Points { rank: points.rank, coordinates }));
    }
    let limits = limits(space);
    if limits.is_empty() {
        return Ok(Selection::All);
    }
    let mut blocks = Vec::new();
    let mut spans = spans.iter().copied();
    let mut next = spans.next();
    let mut position = 0_u64;
    for run in space.selection.runs(&limits)? {
        let end = position.saturating_add(run.length);
        while let Some((start, length)) = next.filter(|(start, _)| *start < end) {
            let taken = length.min(end - start);
            let mut first = Dims::from_slice(&run.start);
            let mut last = first.clone();
            if let (Some(first), Some(last)) = (first.last_mut(), last.last_mut()) {
                *first += start - position;
                *last = *first + (taken - 1);
            }
            blocks.push(Block { start: first, end: last });
            next = if taken < length { Some((start + taken, length - taken)) } else { spans.next() };
        }
        position = end;
    }
    Ok(Selection::union_of(limits.len(), &blocks)?)
}
