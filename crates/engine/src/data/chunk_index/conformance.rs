//! The conformance suite of chunk indexes: tests that each kind of chunk index must pass.

use std::collections::BTreeMap;

use hyperslab_dataspace::{Dims, Region};

use super::{ChunkBox, ChunkIndex, ChunkIndexEditor, Entry};
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

/// Checks that walks and look-ups of a chunk index agree, over a grid of `counts` chunks. Look-ups
/// must find exactly the chunks of a walk over the whole grid. Walks over boxes must find exactly
/// the chunks in these boxes. Returns the number of stored chunks.
///
/// # Errors
/// Returns errors of the index. Returns [`Error::Misuse`] that describes a contradiction.
pub fn run<E: Entry>(store: &Store, index: &dyn ChunkIndex<E>, counts: &[u64]) -> Result<usize> {
    let last: Option<Dims> = counts.iter().map(|count| count.checked_sub(1)).collect();
    // A grid without chunks has nothing to compare.
    let Some(last) = last else { return Ok(0) };
    let first: Dims = counts.iter().map(|_| 0).collect();
    let whole = ChunkBox { first, last };
    let stored = walk(store, index, &whole)?;
    for scaled in Region::whole(counts).coordinates() {
        let alone = index.get(store, &scaled)?;
        agree("a look-up", &scaled, alone, stored.get(scaled.as_slice()).copied())?;
    }
    for part in boxes(counts, &whole) {
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

type Walked<E> = BTreeMap<Vec<u64>, E>;

fn walk<E: Entry>(store: &Store, index: &dyn ChunkIndex<E>, chunks: &ChunkBox) -> Result<Walked<E>> {
    let mut found = Walked::new();
    index.for_each_in(store, chunks, &mut |scaled, location| {
        if found.insert(scaled.to_vec(), location).is_some() {
            return Err(contradiction("a walk gives a chunk twice", scaled));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns test boxes in a grid of chunks: the first and last half of the grid in each dimension, a
/// box in the middle, and each corner.
fn boxes(counts: &[u64], whole: &ChunkBox) -> Vec<ChunkBox> {
    let ChunkBox { first, last } = whole;
    let middle: Dims = counts.iter().map(|count| count / 2).collect();
    let mut boxes = vec![
        ChunkBox { first: first.clone(), last: middle.clone() },
        ChunkBox {
            first: middle.iter().zip(last).map(|(at, last)| *at.min(last)).collect(),
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

/// A generator of pseudo-random numbers for random tests of chunk index changes. The generator
/// returns the same numbers in each test run.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Creates a generator of pseudo-random numbers for random tests from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// Returns a pseudo-random number below `limit` for random tests.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).checked_rem(limit).unwrap_or(0)
    }
}

/// The description of a random test of a chunk index: the number of changes, and the generators of
/// random entries and numbers.
pub struct Draw<'d, E> {
    /// A function that returns a random entry for a chunk.
    pub location: &'d dyn Fn(&mut Chance) -> E,
    /// The number of changes.
    pub steps: usize,
    /// The generator of random numbers.
    pub chance: &'d mut Chance,
}

impl<E> std::fmt::Debug for Draw<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draw").field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// Changes a chunk index over a grid of `counts` chunks at random. Compares the entries of the
/// chunk index with a map of the expected entries, and returns the map. `stored` holds the entries
/// before the changes.
///
/// # Errors
/// Returns errors of the index. Returns [`Error::Misuse`] that describes a contradiction.
pub fn change<E: Entry>(
    edit: &mut Edit<'_>,
    index: &mut ChunkIndexEditor<E>,
    counts: &[u64],
    stored: BTreeMap<Dims, E>,
    Draw { location, steps, chance }: Draw<'_, E>,
) -> Result<BTreeMap<Dims, E>> {
    let mut model = stored;
    for _ in 0..steps {
        let scaled: Dims = counts.iter().map(|count| chance.below(*count)).collect();
        match chance.below(10) {
            0..4 => {
                let new = location(chance);
                let before = index.set(edit, &scaled, &new)?;
                agree("what was replaced", &scaled, before, model.insert(scaled.clone(), new))?;
            }
            4..7 => {
                let removed = index.remove(edit, &scaled)?;
                agree("what was removed", &scaled, removed, model.remove(&scaled))?;
            }
            7 => {
                let appends = chance.below(3) == 0;
                let from = model.last_key_value().filter(|_| appends).map(|(last, _)| last.clone());
                let chunks = Region::whole(counts).coordinates();
                let later = chunks.filter(|at| from.as_ref().is_none_or(|from| at > from));
                let step = chance.below(5) + 1;
                let chunks: Vec<_> = later
                    .filter(|_| chance.below(step) == 0)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|scaled| (scaled, location(chance)))
                    .collect();
                index.insert(edit, &chunks)?;
                model.extend(chunks);
            }
            8 => {
                // Removes all chunks of one half.
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

fn agree<E: Entry>(subject: &str, scaled: &[u64], got: Option<E>, expected: Option<E>) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(contradiction(&format!("{subject} gives {got:?}, a walk of all chunks {expected:?}"), scaled))
}

fn contradiction(subject: &str, scaled: &[u64]) -> Error {
    Error::Misuse(format!("{subject}: chunk {scaled:?}"))
}
