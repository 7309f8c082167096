//! What fails, and when.

use std::io;

/// An operation that is to fail. Writes, syncs, changes of the length, creations and removals of all files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// So many operations from now on do not fail.
    pub after: usize,
    /// How it fails.
    pub kind: FaultKind,
    /// Whether all later ones fail as well.
    pub lasting: bool,
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The disk does not answer; nothing was done.
    Io,
    /// The disk is full; nothing was done.
    NoSpace,
    /// About half of the sectors of a write were done before the disk was full. Other operations are not done.
    Part,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Io, Self::NoSpace, Self::Part];
}

/// What becomes of an operation.
#[derive(Debug)]
pub(super) enum Outcome {
    Good,
    Bad(io::Error),
    Part(io::Error),
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    plan: Option<Fault>,
    failures: usize,
    pub(super) capacity: Option<u64>,
}

fn no_space() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on the simulated disk")
}

impl Faults {
    pub(super) fn plan(&mut self, fault: Option<Fault>) {
        self.plan = fault;
    }

    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    /// The error of a disk whose capacity is reached.
    pub(super) fn full(&mut self) -> io::Error {
        self.failures += 1;
        no_space()
    }

    /// What becomes of the next operation.
    pub(super) fn next(&mut self) -> Outcome {
        let Some(fault) = &mut self.plan else { return Outcome::Good };
        if let Some(left) = fault.after.checked_sub(1) {
            fault.after = left;
            return Outcome::Good;
        }
        let kind = fault.kind;
        if !fault.lasting {
            self.plan = None;
        }
        self.failures += 1;
        match kind {
            FaultKind::Io => Outcome::Bad(io::Error::other("the simulated disk does not answer")),
            FaultKind::NoSpace => Outcome::Bad(no_space()),
            FaultKind::Part => Outcome::Part(no_space()),
        }
    }
}
