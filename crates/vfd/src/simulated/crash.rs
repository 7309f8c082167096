//! The files that remain after a simulated crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::history::{put, resize};
use super::{Files, History, Operation, SECTOR_BYTES, SECTOR_BYTES_U64};

/// The number of bytes in a page of a write to a simulated disk. If the process is killed, each
/// page of the write is either complete or undone.
const PAGE_BYTES: u64 = 4096;

/// The kind of a crash of a simulated disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crash {
    /// The process ends, and the machine continues: all operations are in effect. With other seeds
    /// than 0, a part of the next write may also be in effect.
    ProcessEnd,
    /// The machine loses power: each unsynced operation is in effect or not, as a whole.
    PowerLoss,
    /// The machine loses power: of each unsynced write, some sectors of 512 bytes are in effect,
    /// possibly in another order.
    Torn,
}

impl Crash {
    /// All kinds of crashes of a simulated disk.
    pub const ALL: [Self; 3] = [Self::ProcessEnd, Self::PowerLoss, Self::Torn];
}

/// A replay of the operations on a simulated disk. At each point, the replay can return the files
/// that remain after a simulated crash.
#[derive(Debug, Clone)]
pub struct Replay<'h> {
    history: &'h History,
    next: usize,
    states: Vec<State>,
    names: BTreeMap<Arc<str>, Name>,
}

/// The state of a file of a simulated disk during a replay of the operations.
#[derive(Debug, Clone, Default)]
struct State {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// The numbers of the operations since the last sync.
    unsynced: Vec<usize>,
}

/// A file name on a simulated disk with two files: the file of this name now, and the file of this
/// name at the last sync of the folder.
#[derive(Debug, Clone, Copy, Default)]
struct Name {
    now: Option<usize>,
    synced: Option<usize>,
}

impl<'h> Replay<'h> {
    pub(super) fn new(history: &'h History) -> Self {
        let mut replay = Self { history, next: 0, states: Vec::new(), names: BTreeMap::new() };
        replay.begin();
        replay
    }

    fn begin(&mut self) {
        let state =
            |bytes: &Vec<u8>| State { now: bytes.clone(), synced: bytes.clone(), unsynced: Vec::new() };
        let name = |(number, name): (usize, &String)| {
            (Arc::from(name.as_str()), Name { now: Some(number), synced: Some(number) })
        };
        self.next = 0;
        self.states = self.history.first().values().map(state).collect();
        self.names = self.history.first().keys().enumerate().map(name).collect();
    }

    /// Moves the replay of a simulated disk to the point after the first `count` operations.
    pub fn go_to(&mut self, count: usize) {
        if count < self.next {
            self.begin();
        }
        let history = self.history;
        for operation in history.operations().iter().take(count).skip(self.next) {
            self.replay_operation(operation);
            self.next += 1;
        }
    }

    /// Returns the number of operations on the simulated disk that the replay has repeated.
    pub fn position(&self) -> usize {
        self.next
    }

    fn replay_operation(&mut self, operation: &Operation) {
        let number = self.next;
        match operation {
            Operation::Create { file, name } => {
                if self.states.len() <= *file {
                    self.states.resize_with(file + 1, State::default);
                }
                self.names.entry(Arc::clone(name)).or_default().now = Some(*file);
                self.names.values_mut().for_each(|name| name.synced = name.now);
            }
            Operation::Remove { name, .. } => self.names.entry(Arc::clone(name)).or_default().now = None,
            Operation::Write { file, .. } | Operation::SetLen { file, .. } => {
                if let Some(state) = self.states.get_mut(*file) {
                    apply(&mut state.now, operation);
                    state.unsynced.push(number);
                }
            }
            Operation::Sync { file } => {
                let Some(state) = self.states.get_mut(*file) else { return };
                for unsynced in state.unsynced.drain(..) {
                    if let Some(operation) = self.history.operations().get(unsynced) {
                        apply(&mut state.synced, operation);
                    }
                }
            }
        }
    }

    /// Returns the remaining files of a simulated disk after a crash at the current point of the
    /// replay, or during the next operation. Each seed selects one of the possible results.
    pub fn crash(&self, crash: Crash, seed: u64) -> Files {
        let mut random = Random::new(seed);
        let files = match crash {
            Crash::ProcessEnd => self.process_end(seed, &mut random),
            Crash::PowerLoss | Crash::Torn => self.power_loss(crash, &mut random),
        };
        files.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect()
    }

    /// Returns the state of a simulated disk now, at the current point of a replay: the contents of
    /// all files, and the file number of each name.
    pub(super) fn now(&self) -> (Vec<Vec<u8>>, BTreeMap<String, usize>) {
        let names = self.names.iter().filter_map(|(name, entry)| Some((name.to_string(), entry.now?)));
        (self.states.iter().map(|state| state.now.clone()).collect(), names.collect())
    }

    fn next_operation(&self) -> Option<&'h Operation> {
        self.history.operations().get(self.next)
    }

    fn process_end(&self, seed: u64, random: &mut Random) -> Vec<(Arc<str>, Vec<u8>)> {
        let mut remains = Vec::new();
        for (name, entry) in &self.names {
            let Some((number, state)) = self.state(entry.now) else { continue };
            let mut bytes = state.now.clone();
            if seed > 0
                && let Some(Operation::Write { file, offset, bytes: written }) = self.next_operation()
                && *file == number
            {
                let pages = pieces(*offset, written, PAGE_BYTES);
                let some = random.below(pages.len() + 1);
                pages.into_iter().take(some).for_each(|(offset, page)| put(&mut bytes, offset, page));
            }
            remains.push((Arc::clone(name), bytes));
        }
        remains
    }

    fn state(&self, number: Option<usize>) -> Option<(usize, &State)> {
        number.and_then(|number| self.states.get(number).map(|state| (number, state)))
    }

    fn power_loss(&self, crash: Crash, random: &mut Random) -> Vec<(Arc<str>, Vec<u8>)> {
        let mut remains = Vec::new();
        for (name, entry) in &self.names {
            let number = if random.one_in(2) { entry.now } else { entry.synced };
            if let Some((number, state)) = self.state(number) {
                remains.push((Arc::clone(name), self.remaining_bytes(number, state, crash, random)));
            }
        }
        if let Some(Operation::Create { name, .. }) = self.next_operation()
            && !remains.iter().any(|(after_start, _)| after_start == name)
            && random.one_in(2)
        {
            remains.push((Arc::clone(name), Vec::new()));
        }
        remains
    }

    /// Returns the remaining bytes of a file of a simulated disk after a loss of power.
    fn remaining_bytes(&self, number: usize, state: &State, crash: Crash, random: &mut Random) -> Vec<u8> {
        let all = self.history.operations();
        let mut unsynced: Vec<&Operation> = state.unsynced.iter().filter_map(|at| all.get(*at)).collect();
        if let Some(operation @ (Operation::Write { file, .. } | Operation::SetLen { file, .. })) =
            self.next_operation()
            && *file == number
        {
            unsynced.push(operation);
        }
        let mut bytes = state.synced.clone();
        let survivors = Survivors::draw(unsynced.len(), random);
        if crash != Crash::Torn {
            let some = unsynced.into_iter().enumerate().filter(|(at, _)| survivors.contains(*at, random));
            some.for_each(|(_, operation)| apply(&mut bytes, operation));
            return bytes;
        }
        let lengths = lengths(bytes.len() as u64, &unsynced);
        let mut steps = sectors(&bytes, &unsynced);
        if random.one_in(2) {
            random.shuffle(&mut steps);
        }
        for (at, step) in steps.into_iter().enumerate() {
            step.apply_to(&mut bytes, &lengths, || survivors.contains(at, random));
            // The file may have the length of a whole write although its last sectors are missing.
            if let Step::Sectors { end, .. } = step
                && end > bytes.len() as u64
                && random.one_in(4)
            {
                resize(&mut bytes, end);
            }
        }
        // New bytes may be on the disk although the new length is not.
        if random.one_in(4) {
            let length = lengths.all.get(random.below(lengths.all.len())).copied().unwrap_or(0);
            if length < bytes.len() as u64 {
                resize(&mut bytes, length);
            }
        }
        bytes
    }
}

/// The effect of one file operation on the sectors of a simulated disk.
enum Step {
    /// The whole sectors of a write, with zeros after the end of the file, and the end of the
    /// write.
    Sectors {
        sectors: Vec<(u64, Vec<u8>)>,
        end: u64,
    },
    Length(u64),
}

impl Step {
    /// Applies the effect of an operation to the bytes of a file of a simulated disk. Calls
    /// `survives` for each sector or change of length, and applies only those for which the result
    /// is true.
    fn apply_to(&self, bytes: &mut Vec<u8>, lengths: &Lengths, mut survives: impl FnMut() -> bool) {
        match self {
            Self::Sectors { sectors, end } => {
                for (offset, sector) in sectors {
                    if survives() {
                        // Bytes after the end of the file do not extend it.
                        let end = (*end).max(bytes.len() as u64);
                        let length = end.max(*offset) - *offset;
                        let inside = usize::try_from(length).ok().and_then(|length| sector.get(..length));
                        put(bytes, *offset, inside.unwrap_or(sector));
                    }
                }
            }
            Self::Length(length) if survives() => {
                // Extending a file never removes bytes, in any order of the operations.
                let longer = lengths.longer.contains(length);
                resize(bytes, if longer { (bytes.len() as u64).max(*length) } else { *length });
            }
            Self::Length(_) => {}
        }
    }
}

/// Divides operations on a file of a simulated disk into writes of whole sectors. Each write states
/// the content of its sector after the write.
fn sectors(before: &[u8], operations: &[&Operation]) -> Vec<Step> {
    let mut now = before.to_vec();
    let mut steps = Vec::new();
    for operation in operations {
        apply(&mut now, operation);
        match operation {
            Operation::Write { offset, bytes, .. } => {
                let end = offset + bytes.len() as u64;
                let first = offset - offset % SECTOR_BYTES_U64;
                let starts = (first..end).step_by(SECTOR_BYTES);
                let whole = |start: u64| {
                    let after_start = usize::try_from(start).ok().and_then(|start| now.get(start..));
                    let after_start = after_start.into_iter().flatten();
                    let mut sector = vec![0; SECTOR_BYTES];
                    sector.iter_mut().zip(after_start).for_each(|(to, from)| *to = *from);
                    (start, sector)
                };
                steps.push(Step::Sectors { sectors: starts.map(whole).collect(), end });
            }
            Operation::SetLen { len, .. } => steps.push(Step::Length(*len)),
            Operation::Create { .. } | Operation::Remove { .. } | Operation::Sync { .. } => {}
        }
    }
    steps
}

/// The lengths that a file of a simulated disk had during a range of operations.
struct Lengths {
    all: Vec<u64>,
    /// The lengths that extended the file.
    longer: BTreeSet<u64>,
}

/// Returns the lengths that a file of a simulated disk had during the operations `operations`.
fn lengths(before: u64, operations: &[&Operation]) -> Lengths {
    let (mut all, mut longer, mut now) = (vec![before], BTreeSet::new(), before);
    for operation in operations {
        match operation {
            Operation::Write { offset, bytes, .. } => {
                now = now.max(offset + bytes.len() as u64);
            }
            Operation::SetLen { len, .. } => {
                if *len >= now {
                    longer.insert(*len);
                }
                now = *len;
            }
            Operation::Create { .. } | Operation::Remove { .. } | Operation::Sync { .. } => {}
        }
        all.push(now);
    }
    Lengths { all, longer }
}

/// The set of unsynced operations that take effect in a simulated crash. Each file has its own set:
/// the operations on one file may take effect while the operations on another file are lost.
#[derive(Debug, Clone, Copy)]
enum Survivors {
    Nothing,
    Everything,
    /// The first operations, of the given number, and possibly a part of the next one.
    First(usize),
    /// All operations except one.
    AllBut(usize),
    /// Each operation with the given probability, in eighths.
    Some(usize),
}

impl Survivors {
    fn draw(count: usize, random: &mut Random) -> Self {
        match random.below(8) {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 => Self::First(random.below(count)),
            3 => Self::AllBut(random.below(count)),
            4 => Self::Some(1),
            5 => Self::Some(7),
            _ => Self::Some(4),
        }
    }

    fn contains(self, at: usize, random: &mut Random) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::First(count) => at < count || (at == count && random.one_in(2)),
            Self::AllBut(other) => at != other,
            Self::Some(chances) => random.below(8) < chances,
        }
    }
}

fn apply(content: &mut Vec<u8>, operation: &Operation) {
    match operation {
        Operation::Write { offset, bytes, .. } => put(content, *offset, bytes),
        Operation::SetLen { len, .. } => resize(content, *len),
        Operation::Create { .. } | Operation::Remove { .. } | Operation::Sync { .. } => {}
    }
}

/// Divides the bytes of a write to a simulated disk into pieces. Pieces end at file offsets that
/// are multiples of `size`.
fn pieces(offset: u64, bytes: &[u8], size: u64) -> Vec<(u64, &[u8])> {
    let mut cut = Vec::new();
    let (mut at, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let remains = usize::try_from(size - at % size).ok();
        let cut_at = remains.and_then(|remains| rest.split_at_checked(remains));
        let (piece, remaining) = cut_at.unwrap_or((rest, &[]));
        cut.push((at, piece));
        at += piece.len() as u64;
        rest = remaining;
    }
    cut
}

/// A generator of pseudo-random numbers from a seed (`SplitMix64`), for simulated crashes.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        #[expect(clippy::cast_possible_truncation, reason = "less than `bound`, which is a `usize`")]
        let number = (self.next() % bound) as usize;
        number
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = self.below(last + 1);
            things.swap(last, other);
        }
    }
}
