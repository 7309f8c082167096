//! Selections of a dataset in NumPy's slice notation, and their elements read in pieces of bounded
//! size.

pub(crate) mod blocks;
pub(crate) mod defined;

use anyhow::{Result, bail};
use hyperslab::{Hyperslab, RegularHyperslab, Selection};

/// The selected coordinates of one dimension: `count` coordinates from `start` on, at intervals of
/// `step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) start: u64,
    pub(crate) step: u64,
    pub(crate) count: u64,
    /// False if the selection names a single coordinate. Then the result does not have this
    /// dimension.
    pub(crate) kept: bool,
}

impl Taken {
    /// Returns the coordinate at a position of the selection. The position must be less than
    /// `count`. The sum cannot overflow, because coordinates are less than the size of the
    /// dimension.
    pub(crate) fn at(&self, position: u64) -> u64 {
        self.start + position * self.step
    }

    /// Returns the first selected coordinate that is at least `coordinate`, as a position in the
    /// selection.
    pub(crate) fn first_from(&self, coordinate: u64) -> u64 {
        // For all coordinates before the selection, the result is the first position.
        coordinate.saturating_sub(self.start).div_ceil(self.step.max(1))
    }
}

/// Returns the selection of all elements of an array of the shape `dims`.
pub(crate) fn everything(dims: &[u64]) -> Vec<Taken> {
    dims.iter().map(|size| Taken { start: 0, step: 1, count: *size, kept: true }).collect()
}

/// Returns the selection of at most the first `count` rows of an array.
pub(crate) fn first_rows(dims: &[u64], count: u64) -> Vec<Taken> {
    let mut taken = everything(dims);
    if let Some(rows) = taken.first_mut() {
        rows.count = rows.count.min(count);
    }
    taken
}

/// Returns the selection of at most the last `count` rows of an array.
pub(crate) fn last_rows(dims: &[u64], count: u64) -> Vec<Taken> {
    let mut taken = first_rows(dims, count);
    if let (Some(rows), Some(size)) = (taken.first_mut(), dims.first()) {
        // At most `size` rows are selected.
        rows.start = size - rows.count;
    }
    taken
}

/// Returns the selection of at most the first `rows` × `columns` elements along the last two
/// dimensions. Along each leading dimension, selects the first coordinate.
pub(crate) fn first_corner(dims: &[u64], rows: u64, columns: u64) -> Vec<Taken> {
    let mut taken = everything(dims);
    match taken.as_mut_slice() {
        [] => {}
        [only] => only.count = only.count.min(rows),
        [leading @ .., row, column] => {
            row.count = row.count.min(rows);
            column.count = column.count.min(columns);
            for dimension in leading.iter_mut().filter(|dimension| dimension.count > 0) {
                (dimension.count, dimension.kept) = (1, false);
            }
        }
    }
    taken
}

/// Parses the argument with a selection. Without the argument, returns the selection of all
/// elements.
pub(crate) fn parse_or_everything(text: Option<&str>, dims: &[u64]) -> Result<Vec<Taken>> {
    text.map_or_else(|| Ok(everything(dims)), |text| parse(text, dims))
}

/// Parses a selection such as `0:10,::2,5` of an array of the shape `dims`. Each dimension has a
/// coordinate, or `start:stop:step` with optional parts. Negative numbers count from the end. `...`
/// stands for all dimensions in between. If the text omits trailing dimensions, they are selected
/// as a whole.
pub(crate) fn parse(text: &str, dims: &[u64]) -> Result<Vec<Taken>> {
    let inside = text.trim();
    let inside = inside.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(inside);
    let mut parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    // As in Python, a trailing comma is allowed.
    if parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    if parts == [""] && dims.is_empty() {
        return Ok(Vec::new());
    }
    let named = parts.iter().filter(|part| **part != "...").count();
    match parts.len() - named {
        0 => parts.push("..."),
        1 => {}
        _ => bail!("selection `{text}`: `...` occurs more than once"),
    }
    let Some(rest) = dims.len().checked_sub(named) else {
        bail!("selection `{text}`: {named} indices for {}", dimensions(dims));
    };
    let mut sizes = dims.iter().enumerate();
    let mut taken = Vec::new();
    for part in parts {
        if part == "..." {
            taken.extend(sizes.by_ref().take(rest).flat_map(|(_, size)| everything(&[*size])));
        } else if let Some((dimension, size)) = sizes.next() {
            match one(part, *size) {
                Ok(found) => taken.push(found),
                Err(why) => {
                    bail!("selection `{text}`: `{part}`, for dimension {dimension} of size {size}, {why}")
                }
            }
        }
    }
    Ok(taken)
}

fn dimensions(dims: &[u64]) -> String {
    match dims.len() {
        0 => "a dataset without dimensions".into(),
        1 => "1 dimension".into(),
        count => format!("{count} dimensions"),
    }
}

/// Parses the selection of one dimension. The error states the reason why the text is wrong.
fn one(part: &str, size: u64) -> Result<Taken, String> {
    // Numbers have 64 bits, so that their sums fit in 128 bits.
    let number = |text: &str| -> Result<Option<i128>, String> {
        let text = text.trim();
        let parsed = text.parse::<i64>().map(|number| Some(i128::from(number)));
        if text.is_empty() {
            Ok(None)
        } else {
            parsed.map_err(|_| format!("has `{text}`, which is not an integer"))
        }
    };
    let size = i128::from(size);
    let from_start = |at: i128| if at < 0 { at + size } else { at };
    let fields: Vec<&str> = part.split(':').collect();
    let (first, last, step) = match fields.as_slice() {
        [""] => return Err("is empty; a whole dimension is `:`".into()),
        [single] => {
            let at = from_start(number(single)?.ok_or("is empty; a whole dimension is `:`")?);
            if !(0..size).contains(&at) {
                return Err("is out of range".into());
            }
            return Ok(Taken { start: exact(at)?, step: 1, count: 1, kept: false });
        }
        [first, last] => (number(first)?, number(last)?, None),
        [first, last, step] => (number(first)?, number(last)?, number(step)?),
        _ => return Err("has more than `start:stop:step`".into()),
    };
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err("has a step of 0".into());
    }
    if step < 0 {
        return Err("has a negative step; the step must be at least 1".into());
    }
    let first = from_start(first.unwrap_or(0)).clamp(0, size);
    let last = last.map_or(size, from_start).clamp(0, size);
    let length = exact((last - first).max(0))?;
    let step = exact(step)?;
    Ok(Taken { start: exact(first)?, step, count: length.div_ceil(step), kept: true })
}

/// Converts an `i128` coordinate to exactly the same number in 64 bits. Returns an error if it does
/// not fit.
fn exact(number: i128) -> Result<u64, String> {
    u64::try_from(number).map_err(|_| format!("has {number}, which is not from 0 to 2^64"))
}

/// Converts the selected coordinates of each dimension to a selection of the library.
pub(crate) fn selection(taken: &[Taken]) -> Selection {
    if taken.is_empty() {
        return Selection::All;
    }
    let mut slab = RegularHyperslab::region(&[], &[]);
    for dimension in taken {
        let (count, block) = if dimension.step == 1 { (1, dimension.count) } else { (dimension.count, 1) };
        slab.start.push(dimension.start);
        slab.stride.push(dimension.step.max(block).max(1));
        slab.count.push(count);
        slab.block.push(block);
    }
    Selection::Hyperslab(Hyperslab::Regular(slab))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, dims: &[u64]) -> Vec<(u64, u64, u64, bool)> {
        let taken = parse(text, dims).unwrap();
        taken.iter().map(|t| (t.start, t.step, t.count, t.kept)).collect()
    }

    #[test]
    fn as_in_numpy() {
        let dims = [10, 7, 4];
        let (all7, all4) = ((0, 1, 7, true), (0, 1, 4, true));
        assert_eq!(taken("0:10,::2,3", &dims), [(0, 1, 10, true), (0, 2, 4, true), (3, 1, 1, false)]);
        assert_eq!(taken("-3:", &dims), [(7, 1, 3, true), all7, all4]);
        assert_eq!(taken("...,-1", &dims), [(0, 1, 10, true), all7, (3, 1, 1, false)]);
        assert_eq!(taken("2,...", &dims), [(2, 1, 1, false), all7, all4]);
        assert_eq!(taken("[ 1 : 9 : 3 , ]", &dims), [(1, 3, 3, true), all7, all4]);
        // Slices may exceed the array and may be empty.
        assert_eq!(taken("8:100, 5:2, -100:1", &dims), [(8, 1, 2, true), (5, 1, 0, true), (0, 1, 1, true)]);
        assert_eq!(taken("...", &[]), []);
        assert_eq!(taken("", &[]), []);
        assert_eq!(taken(":", &[0]), [(0, 1, 0, true)]);
        assert_eq!(taken("::9223372036854775807", &[u64::MAX]), [(0, i64::MAX as u64, 3, true)]);
    }

    #[test]
    fn corners_and_ends() {
        let parts = |taken: Vec<Taken>| -> Vec<(u64, u64, bool)> {
            taken.iter().map(|part| (part.start, part.count, part.kept)).collect()
        };
        assert_eq!(parts(last_rows(&[10, 3], 4)), [(6, 4, true), (0, 3, true)]);
        assert_eq!(parts(last_rows(&[2], 4)), [(0, 2, true)]);
        assert_eq!(parts(first_corner(&[40], 10, 5)), [(0, 10, true)]);
        let corner = first_corner(&[7, 40, 3], 10, 5);
        assert_eq!(parts(corner), [(0, 1, false), (0, 10, true), (0, 3, true)]);
        assert_eq!(parts(first_corner(&[0, 4, 3], 2, 2))[0], (0, 0, true));
    }

    #[test]
    fn errors_name_the_mistake() {
        for (text, why) in [
            ("0:10,abc", "`abc`, for dimension 1 of size 7, has `abc`, which is not an integer"),
            ("10", "`10`, for dimension 0 of size 10, is out of range"),
            ("-11", "is out of range"),
            ("1,2,3,4", "4 indices for 3 dimensions"),
            ("...,...", "`...` occurs more than once"),
            ("::0", "a step of 0"),
            ("::-1", "a negative step"),
            ("1:2:3:4", "more than `start:stop:step`"),
            ("1,,2", "``, for dimension 1 of size 7, is empty; a whole dimension is `:`"),
            ("", "is empty"),
            ("99999999999999999999", "not an integer"),
        ] {
            let error = parse(text, &[10, 7, 4]).unwrap_err().to_string();
            assert!(error.contains(why) && error.starts_with(&format!("selection `{text}`: ")), "{error}");
        }
        assert!(
            parse("0", &[]).unwrap_err().to_string().contains("1 indices for a dataset without dimensions")
        );
    }
}
