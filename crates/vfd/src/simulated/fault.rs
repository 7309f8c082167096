//! Planned failures of operations on a simulated disk.

use std::io;

/// A planned failure of a simulated disk. Writes, syncs, changes of the length, creations and
/// removals of all files count as operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The number of operations that succeed before the failure.
    pub after: usize,
    /// The kind of the failure.
    pub kind: FaultKind,
    /// True if all later operations fail, too.
    pub lasting: bool,
}

/// The kind of a planned failure of a simulated disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The disk does not respond; the operation has no effect.
    Io,
    /// The disk is full; the operation has no effect.
    NoSpace,
    /// The disk is full after about half of the sectors of a write. Other operations have no
    /// effect.
    Part,
}

impl FaultKind {
    /// All kinds of planned failures of a simulated disk.
    pub const ALL: [Self; 3] = [Self::Io, Self::NoSpace, Self::Part];
}

/// The planned outcome of an operation on a simulated disk: success or a failure.
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

    /// Creates the error of a simulated disk whose capacity is exhausted.
    pub(super) fn full(&mut self) -> io::Error {
        self.failures += 1;
        no_space()
    }

    /// Returns the planned outcome of the next operation on a simulated disk.
    pub(super) fn next(&mut self) -> Outcome {
        let Some(fault) = &mut self.plan else { return Outcome::Good };
        if let Some(remaining) = fault.after.checked_sub(1) {
            fault.after = remaining;
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
