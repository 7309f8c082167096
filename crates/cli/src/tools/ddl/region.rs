//! The text of the regions that region references select.

use anyhow::{Context as _, Result};
use hyperslab::{Hyperslab, Points, Selection};

use super::spaces;

/// The largest number of blocks of a region that the tools list.
const MAX_BLOCKS: u64 = 1 << 20;

/// The format of a list of points or blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListFormat {
    /// True if each entry has a number: `Pt0: (1,2)`.
    pub(crate) numbered: bool,
    /// The number of spaces before each line except the first line.
    pub(crate) further: usize,
}

impl Default for ListFormat {
    fn default() -> Self {
        Self { numbered: false, further: 1 }
    }
}

/// Returns the text lines that describe a selection. The caller indents the first line by `indent`
/// columns.
///
/// # Errors
/// Returns an error if a block lies beyond 64-bit coordinates.
pub(crate) fn region_lines(selection: &Selection, indent: usize, format: ListFormat) -> Result<Vec<String>> {
    let (word, label, entries) = match selection {
        Selection::Points(points) => ("REGION_TYPE POINT  ", "Pt", point_texts(points)),
        Selection::Hyperslab(hyperslab) => ("REGION_TYPE BLOCK  ", "Blk", block_texts(hyperslab)?),
        _ => return Ok(vec!["REGION_TYPE UNKNOWN".into()]),
    };
    // Each line has as many entries as fit in 76 columns.
    let mut lines = vec![word.to_owned()];
    let mut column = indent + word.len();
    let count = entries.len();
    for (number, entry) in entries.into_iter().enumerate() {
        let comma = if number + 1 < count { "," } else { "" };
        let text = if format.numbered {
            format!("{label}{number}: {entry}{comma}")
        } else {
            format!("{entry}{comma}")
        };
        if number > 0 && column + text.len() + 1 > 76 {
            lines.push(spaces(format.further));
            column = indent + format.further;
        } else if number > 0 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            column += 1;
        }
        column += text.len();
        lines.last_mut().into_iter().for_each(|line| line.push_str(&text));
    }
    Ok(lines)
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Returns each point as text, such as `(1,2)`.
pub(crate) fn point_texts(points: &Points) -> Vec<String> {
    points.points().map(|point| format!("({})", joined(point))).collect()
}

/// Returns the corners of each block as text, such as `(0,0)-(1,2)`.
///
/// # Errors
/// Returns an error if a block lies beyond 64-bit coordinates.
pub(crate) fn block_texts(hyperslab: &Hyperslab) -> Result<Vec<String>> {
    blocks(hyperslab).context("a block of the region lies beyond 64-bit coordinates")
}

fn blocks(hyperslab: &Hyperslab) -> Option<Vec<String>> {
    let text = |start: &[u64], end: &[u64]| format!("({})-({})", joined(start), joined(end));
    match hyperslab {
        Hyperslab::Irregular { blocks, .. } => {
            Some(blocks.iter().map(|block| text(&block.start, &block.end)).collect())
        }
        Hyperslab::Regular(regular) => {
            // A saturated number of blocks is larger than the limit, as the exact number is.
            let all = regular.count.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
            let mut texts = Vec::new();
            for number in 0..all.min(MAX_BLOCKS) {
                let mut rest = number;
                let (mut start, mut end) = (regular.start.to_vec(), regular.start.to_vec());
                let numbers = regular.stride.iter().zip(&regular.count).zip(&regular.block).rev();
                for (((stride, count), block), (start, end)) in
                    numbers.zip(start.iter_mut().zip(&mut end).rev())
                {
                    let count = (*count).max(1);
                    *start = start.checked_add((rest % count).checked_mul(*stride)?)?;
                    *end = start.checked_add(*block)?.checked_sub(1)?;
                    rest /= count;
                }
                texts.push(text(&start, &end));
            }
            Some(texts)
        }
    }
}
