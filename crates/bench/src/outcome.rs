//! Results of cases.

use crate::case::Case;
use crate::clock::Cost;
use crate::table::median;

/// The result of one contestant.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Done {
        times: Vec<Cost>,
        /// The sum over the elements read, or the bytes of the file written.
        sum: u64,
        /// The peak memory in bytes, if it was measured.
        peak: Option<f64>,
    },
    Wrong(String),
    Cannot(String),
    /// The contestant took too long.
    TimedOut,
}

impl Outcome {
    /// Returns the median wall-clock time.
    pub(crate) fn wall(&self) -> Option<f64> {
        self.median_of(|took| took.wall)
    }

    /// Returns the median processor time.
    pub(crate) fn cpu(&self) -> Option<f64> {
        self.median_of(|took| took.cpu)
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

    fn median_of(&self, of: fn(&Cost) -> f64) -> Option<f64> {
        let Self::Done { times, .. } = self else { return None };
        Some(median(&times.iter().map(of).collect::<Vec<f64>>()))
    }
}

/// The implementation to which a result belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Hyperslab,
    Libhdf5,
    Peer,
    /// h5py: libhdf5 and Python.
    Python,
}

/// The result of one contestant, with its name.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Index of the contestant.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) outcome: Outcome,
}

/// The results of a case.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: Case,
    /// The results of all contestants, hyperslab first.
    pub(crate) entries: Vec<Entry>,
    /// Seconds of the case's limit.
    pub(crate) limit: Option<f64>,
}

impl Row {
    /// Returns the results of all contestants with a role.
    pub(crate) fn of(&self, role: Role) -> impl Iterator<Item = &Outcome> {
        self.entries.iter().filter(move |entry| entry.role == role).map(|entry| &entry.outcome)
    }

    /// Returns the smallest value among the results of a role.
    pub(crate) fn least(&self, role: Role, of: fn(&Outcome) -> Option<f64>) -> Option<f64> {
        self.of(role).filter_map(of).min_by(f64::total_cmp)
    }

    /// Returns the size of the smallest file of a role.
    pub(crate) fn smallest(&self, role: Role) -> Option<u64> {
        self.of(role).filter_map(Outcome::sum).min()
    }

    /// Returns the time of hyperslab.
    pub(crate) fn wall(&self) -> Option<f64> {
        self.least(Role::Hyperslab, Outcome::wall)
    }

    /// Returns the ratio of hyperslab's time to that of the faster libhdf5.
    pub(crate) fn to_libhdf5(&self) -> Option<f64> {
        Some(self.wall()? / self.least(Role::Libhdf5, Outcome::wall)?)
    }

    /// Returns the ratio of hyperslab's time to that of the peer.
    pub(crate) fn to_peer(&self) -> Option<f64> {
        Some(self.wall()? / self.least(Role::Peer, Outcome::wall)?)
    }

    /// Returns the ratio of hyperslab's time to the limit.
    pub(crate) fn to_limit(&self) -> Option<f64> {
        Some(self.wall()? / self.limit?)
    }
}
