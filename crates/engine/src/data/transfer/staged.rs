//! Staged writes: all threads fill stages, and one thread writes them, because writes to one file do not run side by side.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;

use super::Rows;
use crate::error::{Error, Result};
use crate::store::Store;
use hyperslab_format::codec::Address;

/// Bytes that are put together before they are written: enough for the system to work at full speed, few enough to
/// stay in a processor's cache meanwhile.
pub(crate) const STAGE: usize = 1 << 20;

/// Stages that wait to be written: at least, at most, and for each thread that fills them.
const AHEAD: (usize, usize, usize) = (4, 16, 2);

/// Writes chunks one after the other, small ones that are neighbours together.
pub(in crate::data) fn write_joined<'c>(
    store: &Store,
    chunks: impl Iterator<Item = (Address, &'c [u8])>,
) -> Result<()> {
    let mut joined: Vec<u8> = Vec::new();
    let mut start = Address::new(0);
    for (address, bytes) in chunks {
        let follows = start.checked_add(joined.len() as u64) == Some(address);
        if !joined.is_empty() && (!follows || joined.len() + bytes.len() > STAGE) {
            store.write_raw(start, &joined)?;
            joined.clear();
        }
        if joined.is_empty() {
            if bytes.len() > STAGE / 8 {
                store.write_raw(address, bytes)?;
                continue;
            }
            start = address;
        }
        joined.extend_from_slice(bytes);
    }
    if joined.is_empty() { Ok(()) } else { store.write_raw(start, &joined) }
}

/// Room in which a stage is put together; its bytes are what an earlier stage left there.
#[derive(Debug, Default)]
pub(crate) struct Room {
    bytes: Vec<u8>,
    rows: Rows,
}

impl Room {
    /// So many bytes of any value, and the room for rows.
    pub(in crate::data) fn of(&mut self, length: usize) -> (&mut [u8], &mut Rows) {
        if self.bytes.len() < length {
            self.bytes.resize(length, 0);
        }
        (self.bytes.split_at_mut(length).0, &mut self.rows)
    }

    /// So many bytes of any value.
    pub(crate) fn take(&mut self, length: usize) -> &mut [u8] {
        self.of(length).0
    }

    /// Returns the first bytes.
    ///
    /// # Errors
    /// [`Error::Internal`] if no stage of that length was put together here.
    pub(crate) fn bytes(&self, length: usize) -> Result<&[u8]> {
        let invariant = "a stage is filled before it is written";
        self.bytes.get(..length).ok_or(Error::Internal { structure: "stages of a write", invariant })
    }
}

/// Fills a room with each of so many stages and writes it. Filling is shared by all threads if `parallel`; one of
/// them writes, about in order.
pub(crate) fn each<F, W>(store: &Store, stages: usize, parallel: bool, fill: F, write: W) -> Result<()>
where
    F: Fn(usize, &mut Room) -> Result<()> + Sync,
    W: Fn(usize, &Room) -> Result<()>,
{
    let fillers = if parallel && store.may_share() {
        (crate::store::parallel::current_num_threads() - 1).min(stages / 2)
    } else {
        0
    };
    if fillers == 0 {
        let mut room = Room::default();
        return (0..stages).try_for_each(|stage| {
            fill(stage, &mut room)?;
            write(stage, &room)
        });
    }
    let line = Line {
        state: Mutex::new(State { stages, ..State::default() }),
        filled: Condvar::new(),
        written: Condvar::new(),
        most: (fillers * AHEAD.2).clamp(AHEAD.0, AHEAD.1),
    };
    store.share_in_place(|scope| {
        for _ in 0..fillers {
            scope.spawn(|_| line.fill_all(&fill));
        }
        // Whoever leaves early lets the others go.
        let _end = End(&line);
        line.write_all(&fill, &write)
    })
}

/// Stages on their way.
struct Line {
    state: Mutex<State>,
    /// A stage was filled, or will never be.
    filled: Condvar,
    /// Few stages wait to be written.
    written: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    stages: usize,
    /// The next one to be filled.
    next: usize,
    /// Those that are being filled.
    filling: usize,
    ready: BTreeMap<usize, Room>,
    spare: Vec<Room>,
    failed: Option<Error>,
}

impl State {
    /// The next stage to be filled, and room for it.
    fn start(&mut self) -> Option<(usize, Room)> {
        if self.next >= self.stages {
            return None;
        }
        let stage = self.next;
        self.next = stage + 1;
        self.filling += 1;
        Some((stage, self.spare.pop().unwrap_or_default()))
    }
}

/// Ends all work when it goes.
struct End<'a>(&'a Line);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state.lock().next = usize::MAX;
        self.0.written.notify_all();
    }
}

/// Ends the filling of a stage, also where it panics.
struct Filling<'a> {
    line: &'a Line,
    done: Option<Result<(usize, Room)>>,
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        let mut state = self.line.state.lock();
        state.filling -= 1;
        match self.done.take() {
            Some(Ok((stage, room))) => drop(state.ready.insert(stage, room)),
            Some(Err(error)) => {
                state.next = usize::MAX;
                state.failed.get_or_insert(error);
            }
            None => state.next = usize::MAX,
        }
        self.line.filled.notify_one();
    }
}

impl Line {
    /// Fills stages as long as there are some.
    fn fill_all(&self, fill: &(impl Fn(usize, &mut Room) -> Result<()> + Sync)) {
        loop {
            let mut state = self.state.lock();
            while state.ready.len() >= self.most && state.next < state.stages {
                self.written.wait(&mut state);
            }
            let Some((stage, mut room)) = state.start() else { return };
            drop(state);
            let mut filling = Filling { line: self, done: None };
            filling.done = Some(fill(stage, &mut room).map(|()| (stage, room)));
        }
    }

    /// Writes what is filled, and fills where nothing is.
    fn write_all(
        &self,
        fill: &(impl Fn(usize, &mut Room) -> Result<()> + Sync),
        write: &impl Fn(usize, &Room) -> Result<()>,
    ) -> Result<()> {
        loop {
            let mut state = self.state.lock();
            if let Some(error) = state.failed.take() {
                return Err(error);
            }
            let (stage, room) = if let Some(ready) = state.ready.pop_first() {
                // To wake somebody takes time: then there shall be something to do.
                let few = state.ready.len() <= self.most / 2;
                drop(state);
                if few {
                    self.written.notify_all();
                }
                ready
            } else if let Some((stage, mut room)) = state.start() {
                drop(state);
                let mut filling = Filling { line: self, done: None };
                filling.done = Some(fill(stage, &mut room).map(|()| (stage, room)));
                continue;
            } else if state.filling > 0 {
                self.filled.wait(&mut state);
                continue;
            } else {
                return Ok(());
            };
            write(stage, &room)?;
            self.state.lock().spare.push(room);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_stage_is_filled_and_written_once() {
        let store = crate::store::image::image(&[]);
        for (stages, parallel) in [(0, true), (1, true), (2, true), (100, true), (100, false)] {
            let filled = AtomicUsize::new(0);
            let written = Mutex::new(Vec::new());
            let fill = |stage: usize, room: &mut Room| {
                filled.fetch_add(1, Ordering::Relaxed);
                room.of(stage % 7).0.fill(u8::try_from(stage).unwrap());
                Ok(())
            };
            let write = |stage: usize, room: &Room| {
                assert!(room.bytes(stage % 7).unwrap().iter().all(|byte| usize::from(*byte) == stage));
                written.lock().push(stage);
                Ok(())
            };
            each(&store, stages, parallel, fill, write).unwrap();
            let mut written = written.into_inner();
            written.sort_unstable();
            assert_eq!((filled.into_inner(), written), (stages, (0..stages).collect()));
        }
    }

    #[test]
    fn what_fails_ends_it() {
        let store = crate::store::image::image(&[]);
        let failed = || Err(Error::Misuse("no".into()));
        for parallel in [false, true] {
            let fill = |stage: usize, _: &mut Room| if stage == 17 { failed() } else { Ok(()) };
            assert!(each(&store, 100, parallel, fill, |_, _| Ok(())).is_err());
            let written = AtomicUsize::new(0);
            let write = |_: usize, _: &Room| {
                if written.fetch_add(1, Ordering::Relaxed) == 5 { failed() } else { Ok(()) }
            };
            assert!(each(&store, 100, parallel, |_, _| Ok(()), write).is_err());
            assert_eq!(written.into_inner(), 6);
        }
    }
}
