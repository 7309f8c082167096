//! What is left of files after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::history::{put, resize};
use super::{Files, History, Operation, SECTOR, SECTOR_BYTES};

/// What a process that is killed writes at once.
const PAGE: u64 = 4096;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crash {
    /// The process ends, the machine goes on: everything that was done is there. Seed 0 leaves exactly that; others may leave a part
    /// of a write that was under way.
    ProcessEnd,
    /// The machine ends: what was not synced is there or not, each operation as a whole.
    PowerLoss,
    /// The same, and of each write that was not synced some sectors of 512 bytes are there; the order in which writes came may be lost.
    Torn,
}

impl Crash {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ProcessEnd, Self::PowerLoss, Self::Torn];
}

/// Goes through a history, and shows what is left of the files if it ends somewhere.
#[derive(Debug, Clone)]
pub struct Replay<'h> {
    history: &'h History,
    next: usize,
    states: Vec<State>,
    names: BTreeMap<Arc<str>, Name>,
}

/// A file.
#[derive(Debug, Clone, Default)]
struct State {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// What was done since it was synced.
    waiting: Vec<usize>,
}

/// What a name leads to now, and when the folder was synced.
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
            |bytes: &Vec<u8>| State { now: bytes.clone(), synced: bytes.clone(), waiting: Vec::new() };
        let name = |(number, name): (usize, &String)| {
            (Arc::from(name.as_str()), Name { now: Some(number), synced: Some(number) })
        };
        self.next = 0;
        self.states = self.history.first().values().map(state).collect();
        self.names = self.history.first().keys().enumerate().map(name).collect();
    }

    /// Goes to the point after the first `count` operations.
    pub fn go_to(&mut self, count: usize) {
        if count < self.next {
            self.begin();
        }
        let history = self.history;
        for operation in history.operations().iter().take(count).skip(self.next) {
            self.step(operation);
            self.next += 1;
        }
    }

    /// How many operations lie behind.
    pub fn position(&self) -> usize {
        self.next
    }

    fn step(&mut self, operation: &Operation) {
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
                    state.waiting.push(number);
                }
            }
            Operation::Sync { file } => {
                let Some(state) = self.states.get_mut(*file) else { return };
                for waiting in state.waiting.drain(..) {
                    if let Some(operation) = self.history.operations().get(waiting) {
                        apply(&mut state.synced, operation);
                    }
                }
            }
        }
    }

    /// What is left if the run ends here, or while the next operation is under way. Each seed is another way.
    pub fn crash(&self, crash: Crash, seed: u64) -> Files {
        let mut dice = Dice::new(seed);
        let files = match crash {
            Crash::ProcessEnd => self.process_end(seed, &mut dice),
            Crash::PowerLoss | Crash::Torn => self.power_loss(crash, &mut dice),
        };
        files.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect()
    }

    /// All contents by the numbers of the files, and which names lead to which.
    pub(super) fn now(&self) -> (Vec<Vec<u8>>, BTreeMap<String, usize>) {
        let names = self.names.iter().filter_map(|(name, place)| Some((name.to_string(), place.now?)));
        (self.states.iter().map(|state| state.now.clone()).collect(), names.collect())
    }

    fn under_way(&self) -> Option<&'h Operation> {
        self.history.operations().get(self.next)
    }

    fn process_end(&self, seed: u64, dice: &mut Dice) -> Vec<(Arc<str>, Vec<u8>)> {
        let mut left = Vec::new();
        for (name, place) in &self.names {
            let Some((number, state)) = self.state(place.now) else { continue };
            let mut bytes = state.now.clone();
            if seed > 0
                && let Some(Operation::Write { file, offset, bytes: written }) = self.under_way()
                && *file == number
            {
                let pages = pieces(*offset, written, PAGE);
                let some = dice.below(pages.len() + 1);
                pages.into_iter().take(some).for_each(|(offset, page)| put(&mut bytes, offset, page));
            }
            left.push((Arc::clone(name), bytes));
        }
        left
    }

    fn state(&self, number: Option<usize>) -> Option<(usize, &State)> {
        number.and_then(|number| self.states.get(number).map(|state| (number, state)))
    }

    fn power_loss(&self, crash: Crash, dice: &mut Dice) -> Vec<(Arc<str>, Vec<u8>)> {
        let mut left = Vec::new();
        for (name, place) in &self.names {
            let number = if dice.one_in(2) { place.now } else { place.synced };
            if let Some((number, state)) = self.state(number) {
                left.push((Arc::clone(name), self.left_of(number, state, crash, dice)));
            }
        }
        if let Some(Operation::Create { name, .. }) = self.under_way()
            && !left.iter().any(|(there, _)| there == name)
            && dice.one_in(2)
        {
            left.push((Arc::clone(name), Vec::new()));
        }
        left
    }

    /// What is left of a file.
    fn left_of(&self, number: usize, state: &State, crash: Crash, dice: &mut Dice) -> Vec<u8> {
        let all = self.history.operations();
        let mut waiting: Vec<&Operation> = state.waiting.iter().filter_map(|at| all.get(*at)).collect();
        if let Some(operation @ (Operation::Write { file, .. } | Operation::SetLen { file, .. })) =
            self.under_way()
            && *file == number
        {
            waiting.push(operation);
        }
        let mut bytes = state.synced.clone();
        let luck = Luck::draw(waiting.len(), dice);
        if crash != Crash::Torn {
            let some = waiting.into_iter().enumerate().filter(|(at, _)| luck.has(*at, dice));
            some.for_each(|(_, operation)| apply(&mut bytes, operation));
            return bytes;
        }
        let lengths = lengths(bytes.len() as u64, &waiting);
        let mut steps = sectors(&bytes, &waiting);
        if dice.one_in(2) {
            dice.shuffle(&mut steps);
        }
        for (at, step) in steps.into_iter().enumerate() {
            step.carry_out(&mut bytes, &lengths, || luck.has(at, dice));
            // The length may have become that of a whole write without its last sectors.
            if let Step::Sectors { end, .. } = step
                && end > bytes.len() as u64
                && dice.one_in(4)
            {
                resize(&mut bytes, end);
            }
        }
        // New bytes may be there, and the new length that shows them not.
        if dice.one_in(4) {
            let length = lengths.all.get(dice.below(lengths.all.len())).copied().unwrap_or(0);
            if length < bytes.len() as u64 {
                resize(&mut bytes, length);
            }
        }
        bytes
    }
}

/// What an operation makes of the sectors on the disk.
enum Step {
    /// Each sector as a whole, with zeros behind the end of the file, and the end of what was written.
    Sectors {
        sectors: Vec<(u64, Vec<u8>)>,
        end: u64,
    },
    Length(u64),
}

impl Step {
    /// Does it, or those parts of it of which one `has` luck.
    fn carry_out(&self, bytes: &mut Vec<u8>, lengths: &Lengths, mut has: impl FnMut() -> bool) {
        match self {
            Self::Sectors { sectors, end } => {
                for (offset, sector) in sectors {
                    if has() {
                        // What lies behind the end is there, but does not make the file longer.
                        let end = (*end).max(bytes.len() as u64);
                        let length = end.max(*offset) - *offset;
                        let inside = usize::try_from(length).ok().and_then(|length| sector.get(..length));
                        put(bytes, *offset, inside.unwrap_or(sector));
                    }
                }
            }
            Self::Length(length) if has() => {
                // What makes a file longer takes no bytes away, whatever came before it.
                let longer = lengths.longer.contains(length);
                resize(bytes, if longer { (bytes.len() as u64).max(*length) } else { *length });
            }
            Self::Length(_) => {}
        }
    }
}

/// What the disk is told, sector by sector as each is at that time.
fn sectors(before: &[u8], operations: &[&Operation]) -> Vec<Step> {
    let mut now = before.to_vec();
    let mut steps = Vec::new();
    for operation in operations {
        apply(&mut now, operation);
        match operation {
            Operation::Write { offset, bytes, .. } => {
                let end = offset + bytes.len() as u64;
                let first = offset - offset % SECTOR;
                let starts = (first..end).step_by(SECTOR_BYTES);
                let whole = |start: u64| {
                    let there = usize::try_from(start).ok().and_then(|start| now.get(start..));
                    let there = there.into_iter().flatten();
                    let mut sector = vec![0; SECTOR_BYTES];
                    sector.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
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

/// Lengths that a file had.
struct Lengths {
    all: Vec<u64>,
    /// Those that it was given when it was shorter.
    longer: BTreeSet<u64>,
}

/// The lengths of a file in the course of some operations.
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

/// Which of the operations on a file that were not synced are there: each file has its own, so that all of one and nothing of
/// another is tried, too.
#[derive(Debug, Clone, Copy)]
enum Luck {
    Nothing,
    Everything,
    /// So many, then nothing, but perhaps a part of the next.
    First(usize),
    /// All but one.
    AllBut(usize),
    /// Each with so many chances of 8.
    Some(usize),
}

impl Luck {
    fn draw(count: usize, dice: &mut Dice) -> Self {
        match dice.below(8) {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 => Self::First(dice.below(count)),
            3 => Self::AllBut(dice.below(count)),
            4 => Self::Some(1),
            5 => Self::Some(7),
            _ => Self::Some(4),
        }
    }

    fn has(self, at: usize, dice: &mut Dice) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::First(count) => at < count || (at == count && dice.one_in(2)),
            Self::AllBut(other) => at != other,
            Self::Some(chances) => dice.below(8) < chances,
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

/// A write, cut where multiples of a size lie in the file.
fn pieces(offset: u64, bytes: &[u8], size: u64) -> Vec<(u64, &[u8])> {
    let mut cut = Vec::new();
    let (mut at, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let room = usize::try_from(size - at % size).ok();
        let cut_at = room.and_then(|room| rest.split_at_checked(room));
        let (piece, behind) = cut_at.unwrap_or((rest, &[]));
        cut.push((at, piece));
        at += piece.len() as u64;
        rest = behind;
    }
    cut
}

/// Numbers that follow from a seed (`SplitMix64`).
#[derive(Debug)]
struct Dice(u64);

impl Dice {
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
