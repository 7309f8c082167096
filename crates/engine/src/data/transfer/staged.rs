//! Staged writes: all threads fill stages (buffers with parts of a write), and one thread writes
//! the stages, because writes to one file do not run concurrently.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;

use super::RowBuffers;
use crate::error::{Error, Result};
use crate::store::Store;
use hyperslab_format::codec::Address;

/// Size in bytes of the largest stage of a write. A stage is a buffer that one thread fills and
/// another thread writes to the file. With this size, the system writes at full speed, and the
/// buffer still stays in a processor's cache.
pub(crate) const STAGE_BYTES: usize = 1 << 20;

/// Largest number of filled buffers for each thread that fills buffers of a write. These buffers
/// wait for the thread that writes to the file.
const WAITING_PER_THREAD: usize = 2;
/// Bounds of the limit for filled buffers that wait for the thread that writes to the file: the
/// smallest and the largest limit.
const WAITING_STAGES: (usize, usize) = (4, 16);

/// Smallest number of bytes of a chunk that is written by itself. The call of the system then costs
/// less than a copy of the bytes.
const ALONE_BYTES: usize = 64 << 10;

/// Writes the bytes of chunks to the file one after the other. Combines small chunks that are
/// contiguous in the file into one write.
pub(in crate::data) fn write_joined<'c>(
    store: &Store,
    chunks: impl Iterator<Item = (Address, &'c [u8])>,
) -> Result<()> {
    let mut joined: Vec<u8> = Vec::new();
    let mut chunks = chunks.peekable();
    while let Some((start, bytes)) = chunks.next() {
        let mut next = |length: usize| {
            let fits = |bytes: &[u8]| bytes.len() < ALONE_BYTES && length + bytes.len() <= STAGE_BYTES;
            let end = start.checked_add(length as u64);
            chunks.next_if(|(address, bytes)| end == Some(*address) && fits(bytes))
        };
        let following = if bytes.len() < ALONE_BYTES { next(bytes.len()) } else { None };
        let Some((_, second)) = following else {
            store.write_raw(start, bytes)?;
            continue;
        };
        joined.clear();
        joined.extend_from_slice(bytes);
        joined.extend_from_slice(second);
        while let Some((_, bytes)) = next(joined.len()) {
            joined.extend_from_slice(bytes);
        }
        store.write_raw(start, &joined)?;
    }
    Ok(())
}

/// The reusable buffer of one stage of a write: a part that is filled first and then written to the
/// file. Before it is filled, the buffer holds the bytes of an earlier stage.
#[derive(Debug, Default)]
pub(crate) struct StageBuffer {
    bytes: Vec<u8>,
    rows: RowBuffers,
}

impl StageBuffer {
    /// Returns two parts of the stage buffer for one stage of a write: `length` bytes with
    /// undefined contents to fill, and the buffers for conversions.
    pub(in crate::data) fn parts(&mut self, length: usize) -> (&mut [u8], &mut RowBuffers) {
        if self.bytes.len() < length {
            self.bytes.resize(length, 0);
        }
        (self.bytes.split_at_mut(length).0, &mut self.rows)
    }

    /// Returns the first `length` bytes of the stage buffer, with undefined values.
    pub(crate) fn take(&mut self, length: usize) -> &mut [u8] {
        self.parts(length).0
    }

    /// Returns the first `length` bytes of the stage buffer, for the write to the file.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the buffer holds no stage of that length.
    pub(crate) fn bytes(&self, length: usize) -> Result<&[u8]> {
        let invariant = "a stage is filled before it is written";
        self.bytes.get(..length).ok_or(Error::Internal { structure: "stages of a write", invariant })
    }
}

/// Fills a buffer for each of the `stages` stages (parts) of a write, and writes each buffer to the
/// file. If `parallel` is true, several threads fill buffers, and one thread writes them in
/// approximate order.
pub(crate) fn each<F, W>(store: &Store, stages: usize, parallel: bool, fill: F, write: W) -> Result<()>
where
    F: Fn(usize, &mut StageBuffer) -> Result<()> + Sync,
    W: Fn(usize, &StageBuffer) -> Result<()>,
{
    let fillers = if parallel && store.may_share() {
        (crate::store::parallel::current_num_threads() - 1).min(stages / 2)
    } else {
        0
    };
    if fillers == 0 {
        let mut buffer = StageBuffer::default();
        return (0..stages).try_for_each(|stage| {
            fill(stage, &mut buffer)?;
            write(stage, &buffer)
        });
    }
    let line = Stages {
        state: Mutex::new(State { stages, ..State::default() }),
        filled: Condvar::new(),
        written: Condvar::new(),
        max_ready: (fillers * WAITING_PER_THREAD).clamp(WAITING_STAGES.0, WAITING_STAGES.1),
    };
    store.share_in_place(|scope| {
        for _ in 0..fillers {
            scope.spawn(|_| line.fill_all(&fill));
        }
        // Also after an error, the filling threads end.
        let _end = End(&line);
        line.write_all(&fill, &write)
    })
}

/// The stages of one write to the file: the state that the filling threads and the writing thread
/// share.
struct Stages {
    state: Mutex<State>,
    /// Signals that a stage was filled, or that filling ended early.
    filled: Condvar,
    /// Signals that only few stages wait to be written.
    written: Condvar,
    max_ready: usize,
}

#[derive(Default)]
struct State {
    stages: usize,
    /// The next stage to fill.
    next: usize,
    /// The number of stages that threads fill now.
    filling: usize,
    ready: BTreeMap<usize, StageBuffer>,
    spare: Vec<StageBuffer>,
    failed: Option<Error>,
}

impl State {
    /// Returns the number of the next stage (part) of a write to fill, and a buffer for this stage.
    /// Returns `None` if no stage remains.
    fn start(&mut self) -> Option<(usize, StageBuffer)> {
        if self.next >= self.stages {
            return None;
        }
        let stage = self.next;
        self.next = stage + 1;
        self.filling += 1;
        // Without a spare buffer, the stage gets an empty one.
        Some((stage, self.spare.pop().unwrap_or_default()))
    }
}

/// A guard for the end of a write in stages (parts). When the guard is dropped, the threads fill no
/// further stages.
struct End<'a>(&'a Stages);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state.lock().next = usize::MAX;
        self.0.written.notify_all();
    }
}

/// A guard for the filling of one stage (part) of a write. When the guard is dropped, also after a
/// panic, the filling of the stage counts as ended.
struct Filling<'a> {
    line: &'a Stages,
    done: Option<Result<(usize, StageBuffer)>>,
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        let mut state = self.line.state.lock();
        state.filling -= 1;
        match self.done.take() {
            Some(Ok((stage, buffer))) => drop(state.ready.insert(stage, buffer)),
            Some(Err(error)) => {
                state.next = usize::MAX;
                state.failed.get_or_insert(error);
            }
            None => state.next = usize::MAX,
        }
        self.line.filled.notify_one();
    }
}

impl Stages {
    /// Fills the buffers of a write's stages (parts), until all stages are filled.
    fn fill_all(&self, fill: &(impl Fn(usize, &mut StageBuffer) -> Result<()> + Sync)) {
        loop {
            let mut state = self.state.lock();
            while state.ready.len() >= self.max_ready && state.next < state.stages {
                self.written.wait(&mut state);
            }
            let Some((stage, mut buffer)) = state.start() else { return };
            drop(state);
            let mut filling = Filling { line: self, done: None };
            filling.done = Some(fill(stage, &mut buffer).map(|()| (stage, buffer)));
        }
    }

    /// Writes the filled buffers of a write's stages to the file. While no filled buffer is ready,
    /// fills a stage on this thread.
    fn write_all(
        &self,
        fill: &(impl Fn(usize, &mut StageBuffer) -> Result<()> + Sync),
        write: &impl Fn(usize, &StageBuffer) -> Result<()>,
    ) -> Result<()> {
        loop {
            let mut state = self.state.lock();
            if let Some(error) = state.failed.take() {
                return Err(error);
            }
            let (stage, buffer) = if let Some(ready) = state.ready.pop_first() {
                // Waking threads takes time, so wait until the threads have several stages to fill.
                let few = state.ready.len() <= self.max_ready / 2;
                drop(state);
                if few {
                    self.written.notify_all();
                }
                ready
            } else if let Some((stage, mut buffer)) = state.start() {
                drop(state);
                let mut filling = Filling { line: self, done: None };
                filling.done = Some(fill(stage, &mut buffer).map(|()| (stage, buffer)));
                continue;
            } else if state.filling > 0 {
                self.filled.wait(&mut state);
                continue;
            } else {
                return Ok(());
            };
            write(stage, &buffer)?;
            self.state.lock().spare.push(buffer);
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
            let fill = |stage: usize, buffer: &mut StageBuffer| {
                filled.fetch_add(1, Ordering::Relaxed);
                buffer.parts(stage % 7).0.fill(u8::try_from(stage).unwrap());
                Ok(())
            };
            let write = |stage: usize, buffer: &StageBuffer| {
                assert!(buffer.bytes(stage % 7).unwrap().iter().all(|byte| usize::from(*byte) == stage));
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
    fn a_failure_ends_the_work() {
        let store = crate::store::image::image(&[]);
        let failed = || Err(Error::Misuse("no".into()));
        for parallel in [false, true] {
            let fill = |stage: usize, _: &mut StageBuffer| if stage == 17 { failed() } else { Ok(()) };
            assert!(each(&store, 100, parallel, fill, |_, _| Ok(())).is_err());
            let written = AtomicUsize::new(0);
            let write = |_: usize, _: &StageBuffer| {
                if written.fetch_add(1, Ordering::Relaxed) == 5 { failed() } else { Ok(()) }
            };
            assert!(each(&store, 100, parallel, |_, _| Ok(()), write).is_err());
            assert_eq!(written.into_inner(), 6);
        }
    }
}
