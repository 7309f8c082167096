//! The versions of libhdf5 that must be able to read a written file.

use crate::error::{Error, Result};

/// A version of libhdf5 that changed the file format, named as in `H5Pset_libver_bounds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LibraryVersion {
    /// The oldest possible structures for the written objects.
    Earliest,
    /// libhdf5 1.8.
    V18,
    /// libhdf5 1.10.
    V110,
    /// libhdf5 1.12.
    V112,
    /// libhdf5 1.14.
    V114,
    /// libhdf5 2.0.
    V200,
}

impl LibraryVersion {
    /// The newest version of libhdf5 that changed the file format.
    pub const LATEST: Self = Self::V200;

    /// Returns the name of the libhdf5 version that h5py and the tools of libhdf5 use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Earliest => "earliest",
            Self::V18 => "v18",
            Self::V110 => "v110",
            Self::V112 => "v112",
            Self::V114 => "v114",
            Self::V200 => "v200",
        }
    }

    /// Returns the libhdf5 version with the name `name`. The name `latest` means the newest
    /// version.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Earliest, Self::V18, Self::V110, Self::V112, Self::V114, Self::V200];
        all.into_iter().find(|version| version.name() == name).or((name == "latest").then_some(Self::LATEST))
    }
}

/// The version bounds of a file: the versions of libhdf5 that must be able to read the written
/// objects. A structure is written in the version of `low`. If this version cannot represent the
/// contents of the structure, a later version is used, at most the version of `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LibverBounds {
    low: LibraryVersion,
    high: LibraryVersion,
}

impl LibverBounds {
    /// Version bounds for files that libhdf5 1.8 and later open, unless a feature needs a newer
    /// version.
    pub const DEFAULT: Self = Self { low: LibraryVersion::V18, high: LibraryVersion::LATEST };

    /// Version bounds that select the oldest possible structures of the file format.
    pub const EARLIEST: Self = Self { low: LibraryVersion::Earliest, high: LibraryVersion::LATEST };

    /// Version bounds that select the newest structures of the file format.
    pub const LATEST: Self = Self { low: LibraryVersion::LATEST, high: LibraryVersion::LATEST };

    /// Creates version bounds from the oldest and the newest libhdf5 version.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if `low` is later than `high`, or `high` is
    /// [`LibraryVersion::Earliest`].
    pub fn new(low: LibraryVersion, high: LibraryVersion) -> Result<Self> {
        if low > high || high == LibraryVersion::Earliest {
            return Err(Error::Misuse(format!(
                "invalid library version bounds from {} to {}: the upper bound must be at least v18, and \
                 must not be earlier than the lower bound",
                low.name(),
                high.name()
            )));
        }
        Ok(Self { low, high })
    }

    /// Returns the lower version bound. It is the oldest libhdf5 version whose structures the file
    /// uses.
    pub fn low(self) -> LibraryVersion {
        self.low
    }

    /// Returns the upper version bound. It is the newest libhdf5 version whose structures the file
    /// may use.
    pub fn high(self) -> LibraryVersion {
        self.high
    }

    /// Returns whether the version bounds prefer structures that `version` introduced, rather than
    /// older structures.
    pub fn prefers(self, version: LibraryVersion) -> bool {
        self.low >= version
    }

    /// Returns whether the version bounds allow structures that `version` introduced. Such
    /// structures are used only if they are needed.
    pub fn allows(self, version: LibraryVersion) -> bool {
        self.high >= version
    }

    /// Checks that the version bounds allow structures that `version` introduced.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] that names `subject` and the required version, if the upper bound
    /// is older.
    pub fn require(self, version: LibraryVersion, subject: &str) -> Result<()> {
        if self.allows(version) {
            return Ok(());
        }
        Err(Error::Misuse(format!(
            "{subject} needs the format of library version {}, but the file's upper bound is {}",
            version.name(),
            self.high.name()
        )))
    }
}

impl Default for LibverBounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_in_order() {
        assert!(LibverBounds::new(LibraryVersion::V110, LibraryVersion::V18).is_err());
        assert!(LibverBounds::new(LibraryVersion::Earliest, LibraryVersion::Earliest).is_err());
        let bounds = LibverBounds::new(LibraryVersion::V18, LibraryVersion::V110).unwrap();
        assert!(bounds.prefers(LibraryVersion::V18) && !bounds.prefers(LibraryVersion::V110));
        assert!(bounds.allows(LibraryVersion::V110) && !bounds.allows(LibraryVersion::V112));
        assert!(bounds.require(LibraryVersion::V114, "a complex number").is_err());
    }

    #[test]
    fn names_lead_back() {
        for name in ["earliest", "v18", "v110", "v112", "v114", "v200"] {
            assert_eq!(LibraryVersion::from_name(name).unwrap().name(), name);
        }
        assert_eq!(LibraryVersion::from_name("latest"), Some(LibraryVersion::V200));
        assert_eq!(LibraryVersion::from_name("v19"), None);
    }
}
