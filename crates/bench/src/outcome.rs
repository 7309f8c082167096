//! What came of a piece of work.

use crate::case::Case;
use crate::clock::Took;
use crate::table::median;

/// What somebody did.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Done {
        times: Vec<Took>,
        /// Of what was read; the bytes of what was written.
        sum: u64,
        /// The most memory, in bytes, if it was asked for.
        peak: Option<f64>,
    },
    Wrong(String),
    Cannot(String),
    /// It took too long.
    Late,
}

impl Outcome {
    /// The middle time on the wall.
    pub(crate) fn wall(&self) -> Option<f64> {
        self.middle(|took| took.wall)
    }

    /// The middle time of the processors.
    pub(crate) fn cpu(&self) -> Option<f64> {
        self.middle(|took| took.cpu)
    }

    pub(crate) fn best(&self) -> Option<f64> {
        let Self::Done { times, .. } = self else { return None };
        Some(times.iter().map(|took| took.wall).fold(f64::INFINITY, f64::min))
    }

    pub(crate) fn sum(&self) -> Option<u64> {
        let Self::Done { sum, .. } = self else { return None };
        Some(*sum)
    }

    pub(crate) fn peak(&self) -> Option<f64> {
        let Self::Done { peak, .. } = self else { return None };
        *peak
    }

    fn middle(&self, of: fn(&Took) -> f64) -> Option<f64> {
        let Self::Done { times, .. } = self else { return None };
        Some(median(&times.iter().map(of).collect::<Vec<f64>>()))
    }
}

/// Whom a time is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Hyperslab,
    Libhdf5,
    Peer,
    /// h5py, which is libhdf5 and Python.
    Python,
}

/// What one of them did.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The place among all contestants.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) outcome: Outcome,
}

/// What came of a piece of work.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: Case,
    /// Hyperslab first.
    pub(crate) entries: Vec<Entry>,
    /// Seconds that the bare work takes.
    pub(crate) limit: Option<f64>,
}

impl Row {
    /// What those of a role did.
    pub(crate) fn of(&self, role: Role) -> impl Iterator<Item = &Outcome> {
        self.entries.iter().filter(move |entry| entry.role == role).map(|entry| &entry.outcome)
    }

    /// The least that those of a role need.
    pub(crate) fn least(&self, role: Role, of: fn(&Outcome) -> Option<f64>) -> Option<f64> {
        self.of(role).filter_map(of).min_by(f64::total_cmp)
    }

    /// The smallest file of a role.
    pub(crate) fn smallest(&self, role: Role) -> Option<u64> {
        self.of(role).filter_map(Outcome::sum).min()
    }

    /// Our time.
    pub(crate) fn wall(&self) -> Option<f64> {
        self.least(Role::Hyperslab, Outcome::wall)
    }

    /// Our time to that of the faster libhdf5.
    pub(crate) fn to_libhdf5(&self) -> Option<f64> {
        Some(self.wall()? / self.least(Role::Libhdf5, Outcome::wall)?)
    }

    /// Our time to that of the peer.
    pub(crate) fn to_peer(&self) -> Option<f64> {
        Some(self.wall()? / self.least(Role::Peer, Outcome::wall)?)
    }

    /// Our time to that of the bare work.
    pub(crate) fn to_limit(&self) -> Option<f64> {
        Some(self.wall()? / self.limit?)
    }
}
