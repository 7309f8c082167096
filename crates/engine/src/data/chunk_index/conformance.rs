//! What every chunk index must do, as a suite that each implementation is run through.

use std::collections::BTreeMap;

use hyperslab_dataspace::{Dims, Region};

use super::{ChunkBox, ChunkIndex, ChunkLocation};
use crate::error::{Error, Result};
use crate::store::Store;

/// Checks that walks and look-ups of an index over a grid of `counts` chunks agree: each chunk found by a walk of
/// the whole grid is found alone at the same place, walks of boxes find just the chunks in them, and chunks that
/// no walk finds are not there. Gives the number of stored chunks.
///
/// # Errors
/// The index's own, and [`Error::Misuse`] that says where it contradicts itself.
pub fn run(store: &Store, index: &dyn ChunkIndex, counts: &[u64]) -> Result<usize> {
    let whole = ChunkBox {
        first: counts.iter().map(|_| 0).collect(),
        last: counts.iter().map(|count| count.saturating_sub(1)).collect(),
    };
    let stored = walk(store, index, &whole)?;
    for scaled in Region::whole(counts).coordinates() {
        let alone = index.get(store, &scaled)?;
        agree("a look-up", &scaled, alone, stored.get(scaled.as_slice()).copied())?;
    }
    for part in boxes(counts) {
        let found = walk(store, index, &part)?;
        for (scaled, location) in &found {
            if !part.contains(scaled) {
                return Err(contradiction("a walk of a box gives a chunk outside of it", scaled));
            }
            agree("a walk of a box", scaled, Some(*location), stored.get(scaled).copied())?;
        }
        let expected = stored.keys().filter(|scaled| part.contains(scaled)).count();
        if expected != found.len() {
            let part = format!("{:?} to {:?}", part.first, part.last);
            let text = format!("a walk of {part} finds {} of {expected} chunks", found.len());
            return Err(Error::Misuse(text));
        }
    }
    Ok(stored.len())
}

type Found = BTreeMap<Vec<u64>, ChunkLocation>;

fn walk(store: &Store, index: &dyn ChunkIndex, chunks: &ChunkBox) -> Result<Found> {
    let mut found = Found::new();
    index.for_each_in(store, chunks, &mut |scaled, location| {
        if found.insert(scaled.to_vec(), location).is_some() {
            return Err(contradiction("a walk gives a chunk twice", scaled));
        }
        Ok(())
    })?;
    Ok(found)
}

/// The first and last half of the grid in each dimension, a box in the middle, and each corner alone.
fn boxes(counts: &[u64]) -> Vec<ChunkBox> {
    let last: Dims = counts.iter().map(|count| count.saturating_sub(1)).collect();
    let middle: Dims = counts.iter().map(|count| count / 2).collect();
    let first: Dims = counts.iter().map(|_| 0).collect();
    let mut boxes = vec![
        ChunkBox { first: first.clone(), last: middle.clone() },
        ChunkBox {
            first: middle.iter().zip(&last).map(|(at, last)| *at.min(last)).collect(),
            last: last.clone(),
        },
        ChunkBox { first: first.clone(), last: first.clone() },
        ChunkBox { first: last.clone(), last: last.clone() },
    ];
    for dimension in 0..counts.len() {
        let mut slab = ChunkBox { first: first.clone(), last: last.clone() };
        for (end, corner) in [(&mut slab.first, &middle), (&mut slab.last, &middle)] {
            if let (Some(end), Some(at)) = (end.get_mut(dimension), corner.get(dimension)) {
                *end = (*at).min(last.get(dimension).copied().unwrap_or(0));
            }
        }
        boxes.push(slab);
    }
    boxes
}

fn agree(
    what: &str,
    scaled: &[u64],
    got: Option<ChunkLocation>,
    expected: Option<ChunkLocation>,
) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(contradiction(&format!("{what} gives {got:?}, a walk of all chunks {expected:?}"), scaled))
}

fn contradiction(what: &str, scaled: &[u64]) -> Error {
    Error::Misuse(format!("{what}: chunk {scaled:?}"))
}
