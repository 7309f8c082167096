//! The regions that references lead to.

use hyperslab::{Hyperslab, Selection};

use super::spaces;

/// Blocks of a region that are listed at most.
const MOST_BLOCKS: u64 = 1 << 20;

/// How the places of a region are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// With a number before each: `Pt0: (1,2)`.
    pub(crate) numbered: bool,
    /// Spaces by which further lines stand behind the first one.
    pub(crate) further: usize,
}

impl Default for Places {
    fn default() -> Self {
        Self { numbered: false, further: 1 }
    }
}

/// The lines that say what is selected, which begin with so many spaces.
pub(crate) fn places(selection: &Selection, indent: usize, manner: Places) -> Vec<String> {
    let (word, label, places) = match selection {
        Selection::Points(points) => {
            let places: Vec<String> = points.points().map(|point| format!("({})", joined(point))).collect();
            ("REGION_TYPE POINT  ", "Pt", places)
        }
        Selection::Hyperslab(slab) => ("REGION_TYPE BLOCK  ", "Blk", blocks(slab)),
        _ => return vec!["REGION_TYPE UNKNOWN".into()],
    };
    // As many to a line as fit.
    let mut lines = vec![word.to_owned()];
    let mut column = indent.saturating_add(word.len());
    let count = places.len();
    for (number, place) in places.into_iter().enumerate() {
        let comma = if number.saturating_add(1) < count { "," } else { "" };
        let text = if manner.numbered {
            format!("{label}{number}: {place}{comma}")
        } else {
            format!("{place}{comma}")
        };
        if number > 0 && column.saturating_add(text.len()).saturating_add(1) > 77 {
            lines.push(spaces(manner.further));
            column = indent.saturating_add(manner.further);
        } else if number > 0 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            column = column.saturating_add(1);
        }
        column = column.saturating_add(text.len());
        lines.last_mut().into_iter().for_each(|line| line.push_str(&text));
    }
    lines
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn blocks(slab: &Hyperslab) -> Vec<String> {
    let text = |start: &[u64], end: &[u64]| format!("({})-({})", joined(start), joined(end));
    match slab {
        Hyperslab::Irregular { blocks, .. } => {
            blocks.iter().map(|block| text(&block.start, &block.end)).collect()
        }
        Hyperslab::Regular(slab) => {
            let all = slab.count.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
            let mut texts = Vec::new();
            for number in 0..all.min(MOST_BLOCKS) {
                let mut rest = number;
                let (mut start, mut end) = (slab.start.to_vec(), slab.start.to_vec());
                let numbers = slab.stride.iter().zip(&slab.count).zip(&slab.block).rev();
                for (((stride, count), block), (start, end)) in
                    numbers.zip(start.iter_mut().zip(&mut end).rev())
                {
                    let count = (*count).max(1);
                    *start = start.saturating_add((rest % count).saturating_mul(*stride));
                    *end = start.saturating_add(*block).saturating_sub(1);
                    rest /= count;
                }
                texts.push(text(&start, &end));
            }
            texts
        }
    }
}
