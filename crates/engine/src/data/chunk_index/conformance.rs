//! What every chunk index must do, as a suite that each implementation is run through.

use std::collections::BTreeMap;

use hyperslab_dataspace::{Dims, Region};
use hyperslab_format::codec::Address;

use super::{ChunkBox, ChunkIndex, ChunkIndexEditor, ChunkLocation};
use crate::data::ChunkTable as _;
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

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

/// What a suite of changes draws from: numbers that look like chance, the same in each run.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Numbers that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).checked_rem(limit).unwrap_or(0)
    }
}

/// Changes an index over a grid of `counts` chunks at random, `steps` times, and holds what it answers against a map; gives
/// that map. `stored` is what is in the index before; `sizes` says whether it keeps sizes and filter masks of chunks.
///
/// # Errors
/// The index's own, and [`Error::Misuse`] that says where it contradicts the map.
pub fn change(
    edit: &mut Edit<'_>,
    index: &mut ChunkIndexEditor,
    counts: &[u64],
    stored: BTreeMap<Dims, ChunkLocation>,
    (sizes, steps, chance): (Option<u64>, usize, &mut Chance),
) -> Result<BTreeMap<Dims, ChunkLocation>> {
    let mut model = stored;
    let new_place = |chance: &mut Chance| ChunkLocation {
        address: Address::new(chance.below(1 << 30)),
        size: sizes.unwrap_or_else(|| chance.below(100)),
        filter_mask: if sizes.is_none() { u32::try_from(chance.below(4)).unwrap_or(0) } else { 0 },
    };
    for _ in 0..steps {
        let scaled: Dims = counts.iter().map(|count| chance.below(*count)).collect();
        match chance.below(10) {
            0..4 => {
                let place = new_place(chance);
                let before = index.set(edit, &scaled, &place)?;
                agree("what was replaced", &scaled, before, model.insert(scaled.clone(), place))?;
            }
            4..7 => {
                let removed = index.remove(edit, &scaled)?;
                agree("what was removed", &scaled, removed, model.remove(&scaled))?;
            }
            7 => {
                let behind = chance.below(3) == 0;
                let from = model.last_key_value().filter(|_| behind).map(|(last, _)| last.clone());
                let chunks = Region::whole(counts).coordinates();
                let later = chunks.filter(|at| from.as_ref().is_none_or(|from| at > from));
                let step = chance.below(5).saturating_add(1);
                let chunks: Vec<_> = later
                    .filter(|_| chance.below(step) == 0)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|scaled| (scaled, new_place(chance)))
                    .collect();
                index.insert(edit, &chunks)?;
                model.extend(chunks);
            }
            8 => {
                // Along the first dimension all go, or one after the other comes.
                let rows: Vec<Dims> = Region::whole(counts).coordinates().collect();
                let half = rows.len() / 2;
                for scaled in rows.into_iter().skip(if chance.below(2) == 0 { 0 } else { half }).take(half) {
                    agree("what was removed", &scaled, index.remove(edit, &scaled)?, model.remove(&scaled))?;
                }
            }
            _ if chance.below(4) == 0 => edit.commit()?,
            _ => {}
        }
        agree("a look-up", &scaled, index.get(edit.store(), &scaled)?, model.get(&scaled).copied())?;
    }
    let mut found = BTreeMap::new();
    index.for_each(edit.store(), &mut |scaled, location| {
        found.insert(Dims::from_slice(scaled), location);
        Ok(())
    })?;
    if found == model {
        Ok(model)
    } else {
        Err(Error::Misuse(format!("{} chunks are found, not {}", found.len(), model.len())))
    }
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
