//! Addresses of structures in a file.

use std::fmt;

/// The address of a structure in the file: an offset in bytes from the file's *base address*.
///
/// On disk, an address is `size_of_offsets` bytes wide. A field of all ones is the *undefined
/// address*: the structure does not exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

impl Address {
    /// The undefined address. A field with this address means that the structure does not exist.
    pub const UNDEFINED: Self = Self(u64::MAX);

    /// Creates the address `offset` bytes after the base address.
    pub const fn new(offset: u64) -> Self {
        Self(offset)
    }

    /// Returns true unless the address is the undefined address.
    pub const fn is_defined(self) -> bool {
        self.0 != u64::MAX
    }

    /// Returns the address as an offset from the base address, or `None` for the undefined address.
    pub const fn get(self) -> Option<u64> {
        if self.is_defined() { Some(self.0) } else { None }
    }

    /// Returns the address as an offset from the base address, or `u64::MAX` for the undefined
    /// address.
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// Returns the address `bytes` after this address, or `None` if this address is undefined or
    /// the sum overflows.
    pub fn checked_add(self, bytes: u64) -> Option<Self> {
        self.get()?.checked_add(bytes).filter(|sum| *sum != u64::MAX).map(Self)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(offset) => write!(f, "{offset:#x}"),
            None => f.write_str("undefined"),
        }
    }
}
