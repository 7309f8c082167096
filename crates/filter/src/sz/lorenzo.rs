//! What is known of the neighbours of a value when its turn comes.

use crate::Result;

use super::corrupt;

/// The neighbours of which a value is predicted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Near<T> {
    /// None: it is the first.
    Start,
    One(T),
    /// The one before it, and the one before that.
    Line(T, T),
    /// Two, and the one they share.
    Plane(T, T, T),
    /// Three; those that the last and the middle, the middle and the first, the last and the first of the dimensions
    /// share; the one that all share.
    Volume([T; 7]),
}

/// Appends values, in rows, to others: `next` makes each of its neighbours and of its number.
///
/// Of one dimension, each value has one neighbour.
pub(super) fn scan<T: Copy>(
    dims: [usize; 3],
    values: &mut Vec<T>,
    mut next: impl FnMut(usize, Near<T>) -> Result<T>,
) -> Result<()> {
    let [planes, rows, columns] = dims;
    for plane in 0..planes {
        for row in 0..rows {
            for column in 0..columns {
                let near = near(values, dims, [plane, row, column]);
                let near = near.ok_or_else(|| corrupt("its dimensions"))?;
                values.push(next(values.len(), near)?);
            }
        }
    }
    Ok(())
}

#[inline]
fn near<T: Copy>(values: &[T], dims: [usize; 3], place: [usize; 3]) -> Option<Near<T>> {
    let [planes, rows, row] = dims;
    let plane = row * rows;
    let back = |distance: usize| values.get(values.len().checked_sub(distance)?).copied();
    let is_line = planes == 1 && rows == 1;
    Some(match place {
        [0, 0, 0] => Near::Start,
        [0, 0, column] if column == 1 || is_line => Near::One(back(1)?),
        [0, 0, _] => Near::Line(back(1)?, back(2)?),
        [0, _, 0] => Near::One(back(row)?),
        [0, _, _] => Near::Plane(back(1)?, back(row)?, back(row + 1)?),
        [_, 0, 0] => Near::One(back(plane)?),
        [_, 0, _] => Near::Plane(back(1)?, back(plane)?, back(plane + 1)?),
        [_, _, 0] => Near::Plane(back(row)?, back(plane)?, back(plane + row)?),
        [_, _, _] => Near::Volume([
            back(1)?,
            back(row)?,
            back(plane)?,
            back(row + 1)?,
            back(plane + row)?,
            back(plane + 1)?,
            back(plane + row + 1)?,
        ]),
    })
}
