//! The part of a dataset that the browser shows: two dimensions, and fixed coordinates along the
//! other dimensions.

use crate::selection::Taken;

/// The window of the browser: the part of a dataset that the browser can show, with at most two
/// dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    dims: Vec<u64>,
    /// The dimension along the rows, if the dataset has one.
    pub(super) row: Option<usize>,
    /// The dimension along the columns, if the dataset has two or more.
    pub(super) column: Option<usize>,
    /// The first coordinate of each dimension.
    start: Vec<u64>,
    /// The dimension whose coordinate the keys change. It is neither the dimension of the rows nor
    /// the dimension of the columns.
    other: usize,
    /// The distance of two coordinates in a plot.
    pub(super) step: u64,
}

/// The part of a window that fits on the screen: coordinates of the rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) taken: Vec<Taken>,
    pub(super) rows: u64,
    pub(super) columns: u64,
}

impl Window {
    /// Returns the browser's window for a dataset. The window shows the last two dimensions and
    /// starts at the first coordinates.
    pub(super) fn new(dims: &[u64]) -> Self {
        let rank = dims.len();
        let (row, column) = match rank {
            0 => (None, None),
            1 => (Some(0), None),
            _ => (Some(rank - 2), Some(rank - 1)),
        };
        Self { dims: dims.to_vec(), row, column, start: vec![0; rank], other: 0, step: 1 }
    }

    /// Returns the size of a dimension of the dataset in the browser's window.
    fn size(&self, dimension: usize) -> u64 {
        self.dims.get(dimension).copied().unwrap_or(0)
    }

    /// Returns the first visible coordinate of a dimension in the browser's window.
    pub(super) fn start(&self, dimension: Option<usize>) -> u64 {
        dimension.and_then(|dimension| self.start.get(dimension)).copied().unwrap_or(0)
    }

    /// Returns true if the dataset in the window has no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Returns the part of the browser's window that fits in `rows` × `columns` cells. Adjacent
    /// cells show coordinates at a distance of `step`.
    pub(super) fn part(&self, rows: u64, columns: u64, step: u64) -> Part {
        let mut part = Part { taken: Vec::new(), rows: 1, columns: 1 };
        for (dimension, size) in self.dims.iter().enumerate() {
            let start = self.start(Some(dimension));
            let rest = (size - start.min(*size)).div_ceil(step.max(1));
            let most = if Some(dimension) == self.row {
                part.rows = rest.min(rows);
                part.rows
            } else if Some(dimension) == self.column {
                part.columns = rest.min(columns);
                part.columns
            } else {
                rest.min(1)
            };
            part.taken.push(Taken { start, step: step.max(1), count: most, kept: true });
        }
        part
    }

    /// Moves the browser's window along a dimension by `by` coordinates.
    fn shift(&mut self, dimension: Option<usize>, by: i64) {
        let Some(dimension) = dimension else { return };
        let last = self.size(dimension).max(1) - 1;
        if let Some(start) = self.start.get_mut(dimension) {
            // The window stays within the dataset.
            *start = start.saturating_add_signed(by).min(last);
        }
    }

    /// Moves the browser's window by a number of rows and a number of columns.
    pub(super) fn move_by(&mut self, rows: i64, columns: i64) {
        self.shift(self.row, rows);
        self.shift(self.column, columns);
    }

    /// Moves the browser's window to the first or the last row of the dataset.
    pub(super) fn go_to_end(&mut self, is_last: bool, shown: u64) {
        let Some(dimension) = self.row else { return };
        let last = self.size(dimension) - shown.min(self.size(dimension));
        if let Some(start) = self.start.get_mut(dimension) {
            *start = if is_last { last } else { 0 };
        }
    }

    /// Returns the hidden dimensions: the dimensions that are neither rows nor columns of the
    /// window.
    fn others(&self) -> Vec<usize> {
        let is_shown = |dimension: &usize| Some(*dimension) == self.row || Some(*dimension) == self.column;
        (0..self.dims.len()).filter(|dimension| !is_shown(dimension)).collect()
    }

    /// Returns the active hidden dimension of the browser's window. The keys `<` and `>` change its
    /// coordinate.
    fn other(&self) -> Option<usize> {
        let others = self.others();
        others.get(self.other % others.len().max(1)).copied()
    }

    /// Makes the next hidden dimension active, so that the keys `<` and `>` change its coordinate.
    pub(super) fn next_other(&mut self) {
        self.other = (self.other + 1) % self.others().len().max(1);
    }

    /// Changes the coordinate of the active hidden dimension by `by`.
    pub(super) fn shift_other(&mut self, by: i64) {
        self.shift(self.other(), by);
    }

    /// Selects other dimensions of the dataset as the rows and columns of the browser's window: the
    /// next pair.
    pub(super) fn next_dimensions(&mut self) {
        let rank = self.dims.len();
        let (Some(row), Some(column)) = (self.row, self.column) else { return };
        let (row, column) = if column + 1 < rank {
            (row, column + 1)
        } else if row + 2 < rank {
            (row + 1, row + 2)
        } else {
            (0, 1)
        };
        (self.row, self.column, self.other) = (Some(row), Some(column), 0);
    }

    /// Multiplies or divides by two the distance between the coordinates of adjacent cells in a
    /// plot.
    pub(super) fn zoom(&mut self, is_out: bool) {
        let largest = self.dims.iter().copied().max().unwrap_or(1).max(1);
        self.step = if is_out {
            self.step.checked_mul(2).map_or(largest, |step| step.min(largest))
        } else {
            (self.step / 2).max(1)
        };
    }

    /// Returns the visible part of the dataset as text, such as `[3, 20…, 40…]`. Brackets mark the
    /// active hidden dimension.
    pub(super) fn text(&self) -> String {
        let part = |dimension: usize| {
            let start = self.start(Some(dimension));
            if Some(dimension) == self.row {
                format!("rows {start}…")
            } else if Some(dimension) == self.column {
                format!("columns {start}…")
            } else if Some(dimension) == self.other() {
                format!("<{start}>")
            } else {
                start.to_string()
            }
        };
        let parts: Vec<String> = (0..self.dims.len()).map(part).collect();
        format!("[{}]", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(part: &Part) -> Vec<(u64, u64)> {
        part.taken.iter().map(|taken| (taken.start, taken.count)).collect()
    }

    #[test]
    fn windows_stay_within_the_dataset() {
        let mut window = Window::new(&[4, 100, 7]);
        assert_eq!(starts(&window.part(10, 5, 1)), [(0, 1), (0, 10), (0, 5)]);
        window.move_by(95, 3);
        let part = window.part(10, 5, 1);
        assert_eq!((starts(&part), part.rows, part.columns), (vec![(0, 1), (95, 5), (3, 4)], 5, 4));
        window.move_by(1000, -1000);
        assert_eq!(starts(&window.part(10, 5, 1)), [(0, 1), (99, 1), (0, 5)]);
        window.go_to_end(true, 10);
        assert_eq!(starts(&window.part(10, 5, 1)), [(0, 1), (90, 10), (0, 5)]);
        window.shift_other(9);
        assert_eq!(window.text(), "[<3>, rows 90…, columns 0…]");
        assert_eq!(window.part(10, 5, 3).rows, 4);
    }

    #[test]
    fn all_pairs_of_dimensions_are_shown() {
        let mut window = Window::new(&[2, 3, 4]);
        let mut pairs = Vec::new();
        for _ in 0..3 {
            pairs.push((window.row, window.column));
            window.next_dimensions();
        }
        assert_eq!(pairs, [(Some(1), Some(2)), (Some(0), Some(1)), (Some(0), Some(2))]);
        assert_eq!((window.row, window.column), (Some(1), Some(2)));
    }

    #[test]
    fn datasets_without_dimensions_and_elements() {
        let part = Window::new(&[]).part(10, 5, 1);
        assert_eq!((part.taken.len(), part.rows, part.columns), (0, 1, 1));
        let window = Window::new(&[0, 3]);
        assert!(window.is_empty());
        assert_eq!(window.part(10, 5, 1).rows, 0);
        let huge = Window::new(&[u64::MAX]).part(10, 5, u64::MAX);
        assert_eq!(huge.rows, 1);
    }
}
