//! The recorded writes and reads, and the check that some order of the writes explains all reads.

use std::collections::HashMap;

use crate::world::{LOGS, Shape, World};

/// The value of elements that were never written.
pub(crate) const FILL: u64 = u64::MAX;

/// A write of a value to cells. It takes effect between its begin and its end, at one moment for
/// each chunk.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) place: usize,
    pub(crate) cells: std::ops::Range<u64>,
    /// The value. All writes have different values, except writes of [`FILL`].
    pub(crate) tag: u64,
    pub(crate) begin: u64,
    /// The end of the write. A write that failed has no end, because a part may still take effect.
    pub(crate) end: u64,
}

/// The cells that a thread read.
#[derive(Debug, Clone)]
pub(crate) struct Sight {
    pub(crate) place: usize,
    pub(crate) first: u64,
    pub(crate) tags: Vec<u64>,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Elements that a thread appended to a log.
#[derive(Debug, Clone)]
pub(crate) struct Added {
    pub(crate) log: usize,
    pub(crate) tag: u64,
    pub(crate) length: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// All elements of a log at one time.
#[derive(Debug)]
pub(crate) struct LogSight {
    pub(crate) log: usize,
    /// Runs of equal elements: tag and length.
    pub(crate) runs: Vec<(u64, u64)>,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) writes: Vec<Write>,
    pub(crate) sights: Vec<Sight>,
    pub(crate) added: Vec<Added>,
    pub(crate) logs: Vec<LogSight>,
}

impl History {
    pub(crate) fn of_all(histories: Vec<Self>) -> Self {
        let mut all = Self::default();
        for history in histories {
            all.writes.extend(history.writes);
            all.sights.extend(history.sights);
            all.added.extend(history.added);
            all.logs.extend(history.logs);
        }
        all
    }

    pub(crate) fn check(&self, world: &World) {
        for (place, shape) in world.shapes().into_iter().enumerate() {
            let writes: Vec<&Write> = self.writes.iter().filter(|write| write.place == place).collect();
            let by_tag: HashMap<u64, &Write> =
                writes.iter().filter(|write| write.tag != FILL).map(|write| (write.tag, *write)).collect();
            for sight in self.sights.iter().filter(|sight| sight.place == place) {
                check_sight(sight, &shape, &writes, &by_tag, world.seed);
            }
        }
        for log in 0..LOGS {
            self.check_log(log, world.seed);
        }
    }

    /// Asserts that each append is in the log once and completely, after all appends that ended
    /// before it began.
    fn check_log(&self, log: usize, seed: u64) {
        let added: HashMap<u64, &Added> =
            self.added.iter().filter(|added| added.log == log).map(|added| (added.tag, added)).collect();
        for LogSight { runs, begin, end, .. } in self.logs.iter().filter(|sight| sight.log == log) {
            let mut found = HashMap::new();
            let mut latest_begin = 0;
            for (position, (tag, length)) in runs.iter().enumerate() {
                let added =
                    added.get(tag).unwrap_or_else(|| panic!("seed {seed}, log {log}: {tag:x} of nobody"));
                assert_eq!(*length, added.length, "seed {seed}, log {log}: {added:?} in pieces");
                assert!(added.begin < *end, "seed {seed}, log {log}: {added:?} before it was added");
                assert!(found.insert(*tag, position).is_none(), "seed {seed}, log {log}: {added:?} twice");
                assert!(latest_begin <= added.end, "seed {seed}, log {log}: {added:?} too late");
                latest_begin = latest_begin.max(added.begin);
            }
            for added in added.values().filter(|added| added.end < *begin) {
                assert!(found.contains_key(&added.tag), "seed {seed}, log {log}: {added:?} is lost");
            }
        }
    }
}

fn check_sight(sight: &Sight, shape: &Shape, writes: &[&Write], by_tag: &HashMap<u64, &Write>, seed: u64) {
    let replaced = |write: &Write, cell: u64| {
        writes
            .iter()
            .any(|other| other.cells.contains(&cell) && write.end < other.begin && other.end < sight.begin)
    };
    let origin = Write { place: sight.place, cells: 0..u64::MAX, tag: FILL, begin: 0, end: 0 };
    for (cell, tag) in (sight.first..).zip(&sight.tags) {
        let explained = if *tag == FILL {
            let fills = writes.iter().copied().filter(|write| write.tag == FILL).chain([&origin]);
            fills
                .filter(|fill| fill.cells.contains(&cell) && fill.begin < sight.end)
                .any(|fill| !replaced(fill, cell))
        } else {
            by_tag.get(tag).is_some_and(|write| {
                write.cells.contains(&cell) && write.begin < sight.end && !replaced(write, cell)
            })
        };
        assert!(explained, "seed {seed}: cell {cell} cannot be {tag:x} in {sight:?}");
    }
    // If two writes change the same two cells of one chunk, their order is the same for both cells.
    for (one, a) in (sight.first..).zip(&sight.tags) {
        for (other, b) in (sight.first..).zip(&sight.tags) {
            if a == b || one / shape.cells_per_chunk != other / shape.cells_per_chunk {
                continue;
            }
            let covers = |tag: &u64| match by_tag.get(tag) {
                Some(write) => write.cells.contains(&one) && write.cells.contains(&other),
                None => !shape.is_resized,
            };
            assert!(!(covers(a) && covers(b)), "seed {seed}: {a:x} and {b:x} are mixed in {sight:?}");
        }
    }
}
