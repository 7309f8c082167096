//! What every chunk index must do, as a suite that each implementation is run through.

use std::collections::BTreeMap;

use hyperslab_dataspace::{Dims, Region};

use super::{ChunkBox, ChunkIndex, ChunkIndexEditor, Entry};
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

/// Checks that walks and look-ups of an index over a grid of `counts` chunks agree: each chunk found by a walk of
/// the whole grid is found alone at the same place, walks of boxes find just the chunks in them, and chunks that
/// no walk finds are not there. Gives the number of stored chunks.
///
/// # Errors
/// The index's own, and [`Error::Misuse`] that says where it contradicts itself.
pub fn run<E: Entry>(store: &Store, index: &dyn ChunkIndex<E>, counts: &[u64]) -> Result<usize> {
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

type Found<E> = BTreeMap<Vec<u64>, E>;

fn walk<E: Entry>(store: &Store, index: &dyn ChunkIndex<E>, chunks: &ChunkBox) -> Result<Found<E>> {
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

/// How an index is changed at random.
pub struct Draw<'d, E> {
    /// Draws what the index can say of a chunk.
    pub place: &'d dyn Fn(&mut Chance) -> E,
    /// How many changes there are.
    pub steps: usize,
    /// What is drawn from.
    pub chance: &'d mut Chance,
}

impl<E> std::fmt::Debug for Draw<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draw").field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// Changes an index over a grid of `counts` chunks at random and holds what it answers against a map; gives
/// that map. `stored` is what is in the index before.
///
/// # Errors
/// The index's own, and [`Error::Misuse`] that says where it contradicts the map.
pub fn change<E: Entry>(
    edit: &mut Edit<'_>,
    index: &mut ChunkIndexEditor<E>,
    counts: &[u64],
    stored: BTreeMap<Dims, E>,
    Draw { place, steps, chance }: Draw<'_, E>,
) -> Result<BTreeMap<Dims, E>> {
    let mut model = stored;
    for _ in 0..steps {
        let scaled: Dims = counts.iter().map(|count| chance.below(*count)).collect();
        match chance.below(10) {
            0..4 => {
                let new = place(chance);
                let before = index.set(edit, &scaled, &new)?;
                agree("what was replaced", &scaled, before, model.insert(scaled.clone(), new))?;
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
                    .map(|scaled| (scaled, place(chance)))
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

fn agree<E: Entry>(what: &str, scaled: &[u64], got: Option<E>, expected: Option<E>) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(contradiction(&format!("{what} gives {got:?}, a walk of all chunks {expected:?}"), scaled))
}

fn contradiction(what: &str, scaled: &[u64]) -> Error {
    Error::Misuse(format!("{what}: chunk {scaled:?}"))
}
