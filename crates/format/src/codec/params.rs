//! File-wide sizes that determine the layout of almost every structure.

/// The sizes in bytes of addresses and lengths in a file, as the superblock states them. Every
/// decoder takes these parameters by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileParams {
    /// Size of an address in bytes ("Size of Offsets"): 2, 4, 8, 16 or 32. The stored values must
    /// fit 64 bits.
    pub size_of_offsets: u8,
    /// Size of a length in bytes ("Size of Lengths").
    pub size_of_lengths: u8,
}

impl FileParams {
    /// The usual widths of a file's addresses and lengths: eight bytes each, as in nearly every
    /// file.
    pub const DEFAULT: Self = Self { size_of_offsets: 8, size_of_lengths: 8 };

    /// Parameters for the decoding of structures in memory, which contain no addresses. A
    /// variable-length datatype then has the size that its message states, because elements in
    /// memory have other sizes than in files.
    pub const MEMORY: Self = Self { size_of_offsets: 0, size_of_lengths: 8 };

    /// Returns the width of a file's addresses in bytes as a `usize`.
    pub const fn offset_width(self) -> usize {
        self.size_of_offsets as usize
    }

    /// Returns the width of a file's lengths in bytes as a `usize`.
    pub const fn length_width(self) -> usize {
        self.size_of_lengths as usize
    }
}

impl Default for FileParams {
    fn default() -> Self {
        Self::DEFAULT
    }
}
