//! The few numbers of a file that almost every structure's layout depends on.

/// Widths of addresses and lengths, as the superblock states them. Passed by value to every decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileParams {
    /// Bytes of an address ("Size of Offsets"): 2, 4, 8, 16 or 32 on disk; values above 8 bytes must fit 64 bits.
    pub size_of_offsets: u8,
    /// Bytes of a length ("Size of Lengths").
    pub size_of_lengths: u8,
}

impl FileParams {
    /// Eight-byte offsets and lengths, as nearly every file has them.
    pub const DEFAULT: Self = Self { size_of_offsets: 8, size_of_lengths: 8 };

    /// [`Self::size_of_offsets`] as a `usize`.
    pub const fn offset_width(self) -> usize {
        self.size_of_offsets as usize
    }

    /// [`Self::size_of_lengths`] as a `usize`.
    pub const fn length_width(self) -> usize {
        self.size_of_lengths as usize
    }
}

impl Default for FileParams {
    fn default() -> Self {
        Self::DEFAULT
    }
}
