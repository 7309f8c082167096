//! The state of a run: the bytes that decide, the objects that earlier calls made, and the record of
//! the calls. Each thread has its own state, so that callbacks reach the state of their run.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The number of calls that the message of a failure shows.
const SHOWN_CALLS: usize = 60;

/// The number of failures after which a run records no more.
const MAX_FAILURES: usize = 4;

/// The largest number of identifiers of which a run chooses.
const MAX_IDS: usize = 256;

/// The panics of the library since the last look.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The state of a run.
#[derive(Default)]
pub(crate) struct State {
    bytes: Vec<u8>,
    position: usize,
    /// The folder of the run's files.
    pub(crate) folder: PathBuf,
    /// Bytes after each buffer that a call must not change. Zero if a sanitizer guards the buffers.
    pub(crate) guard: usize,
    /// True if each call is printed before it runs.
    pub(crate) trace: bool,
    /// Identifiers that calls returned. Some are closed.
    pub(crate) ids: Vec<i64>,
    /// Kinds of identifiers that calls made.
    pub(crate) kinds: Vec<u64>,
    /// Blocks of `H5allocate_memory`.
    pub(crate) blocks: Vec<u64>,
    /// Files of `H5FDopen`.
    pub(crate) drivers: Vec<u64>,
    /// References, in buffers that live as long as the run.
    pub(crate) references: Vec<u64>,
    /// The number of callbacks that are running.
    pub(crate) depth: usize,
    /// The number of calls.
    pub(crate) calls: usize,
    /// The number of calls that did not fail.
    pub(crate) successes: usize,
    /// The names of the functions that were called.
    pub(crate) called: BTreeSet<&'static str>,
    recent: VecDeque<String>,
    failures: Vec<String>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs code with the state of this thread. No call of the library runs meanwhile.
pub(crate) fn with<T>(code: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(code)
}

/// Starts a run, whose decisions are `bytes`.
pub(crate) fn start(bytes: &[u8], folder: PathBuf, guard: usize, trace: bool) {
    let bytes = bytes.to_vec();
    with(|state| *state = State { bytes, folder, guard, trace, ..State::default() });
}

/// Returns the next decision. The decisions after the last byte are zero.
pub(crate) fn byte() -> u8 {
    with(|state| {
        let byte = state.bytes.get(state.position).copied().unwrap_or(0);
        state.position += 1;
        byte
    })
}

/// Returns a decision between 0 and `count - 1`, or 0 if the count is zero.
pub(crate) fn below(count: usize) -> usize {
    let value = if count > 256 { usize::from(byte()) << 8 | usize::from(byte()) } else { byte().into() };
    value % count.max(1)
}

/// Returns true in `share` of 256 cases.
pub(crate) fn chance(share: u8) -> bool {
    byte() < share
}

/// Returns an element of a list.
pub(crate) fn one_of<T: Copy>(values: &[T]) -> T {
    values[below(values.len())]
}

/// Returns true if no decision is left.
pub(crate) fn is_over() -> bool {
    with(|state| state.position >= state.bytes.len())
}

/// Adds an identifier to the ones of which later calls choose.
pub(crate) fn keep_id(id: i64) {
    with(|state| {
        if id > 0 && !state.ids.contains(&id) && state.ids.len() < MAX_IDS {
            state.ids.push(id);
        }
    });
}

/// Records the start of a call.
pub(crate) fn record(name: &'static str, text: impl FnOnce() -> String) {
    with(|state| {
        let text = format!("{}{name}{}", "  ".repeat(state.depth), text());
        if state.trace {
            eprintln!("{text}");
        }
        state.calls += 1;
        state.called.insert(name);
        state.recent.push_back(text);
        if state.recent.len() > SHOWN_CALLS {
            state.recent.pop_front();
        }
    });
}

/// Records a failure and ends the decisions of the run.
pub(crate) fn fail(message: &str) {
    with(|state| {
        state.position = state.bytes.len();
        if state.failures.len() < MAX_FAILURES {
            let calls: Vec<&str> = state.recent.iter().map(String::as_str).collect();
            state.failures.push(format!("{message}, after the calls\n{}", calls.join("\n")));
        }
    });
}

/// Returns the failures of the run.
pub(crate) fn failures() -> Vec<String> {
    with(|state| std::mem::take(&mut state.failures))
}

/// Records each panic of the process, also those that the library catches.
pub(crate) fn watch_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
        before(panic);
    }));
}

/// Returns the panics since the last look.
pub(crate) fn panics() -> Vec<String> {
    std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner))
}
