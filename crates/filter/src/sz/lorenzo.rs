//! The neighbours of an SZ value, from which the decoder predicts the value (Lorenzo prediction).

use crate::Result;

use super::corrupt;

/// The neighbours from which the SZ decoder predicts a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Neighbours<T> {
    /// The value is the first one and has no neighbours.
    Start,
    One(T),
    /// The two preceding values of a row.
    Line(T, T),
    /// Two direct neighbours, and the diagonal neighbour between them.
    Plane(T, T, T),
    /// Three direct neighbours `a`, `b`, `c` (along the last, middle and first dimension); the
    /// diagonal neighbours in the planes `ab`, `bc`, `ac`; and the diagonal neighbour `abc`.
    Volume([T; 7]),
}

/// Appends the values of a box of an SZ chunk, row by row. The function `next` computes each value
/// from its index and its neighbours.
///
/// In one dimension, each value has only one neighbour.
pub(super) fn scan<T: Copy>(
    dims: [usize; 3],
    values: &mut Vec<T>,
    mut next: impl FnMut(usize, Neighbours<T>) -> Result<T>,
) -> Result<()> {
    let [planes, rows, columns] = dims;
    for plane in 0..planes {
        for row in 0..rows {
            for column in 0..columns {
                let near = near(values, dims, [plane, row, column]);
                let near =
                    near.ok_or_else(|| corrupt("the number of values does not match the dimensions"))?;
                values.push(next(values.len(), near)?);
            }
        }
    }
    Ok(())
}

#[inline]
fn near<T: Copy>(values: &[T], dims: [usize; 3], position: [usize; 3]) -> Option<Neighbours<T>> {
    let [planes, rows, row] = dims;
    let plane = row * rows;
    let back = |distance: usize| values.get(values.len().checked_sub(distance)?).copied();
    let is_line = planes == 1 && rows == 1;
    Some(match position {
        [0, 0, 0] => Neighbours::Start,
        [0, 0, column] if column == 1 || is_line => Neighbours::One(back(1)?),
        [0, 0, _] => Neighbours::Line(back(1)?, back(2)?),
        [0, _, 0] => Neighbours::One(back(row)?),
        [0, _, _] => Neighbours::Plane(back(1)?, back(row)?, back(row + 1)?),
        [_, 0, 0] => Neighbours::One(back(plane)?),
        [_, 0, _] => Neighbours::Plane(back(1)?, back(plane)?, back(plane + 1)?),
        [_, _, 0] => Neighbours::Plane(back(row)?, back(plane)?, back(plane + row)?),
        [_, _, _] => Neighbours::Volume([
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
