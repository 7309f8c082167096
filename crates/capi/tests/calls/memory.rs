//! Buffers for the arguments of calls. Each has exactly the size that the function may use, so that
//! a sanitizer sees a use of more; without a sanitizer, guard bytes follow the buffer.

use std::alloc::{Layout, alloc_zeroed, dealloc};

use crate::calls::state;

/// The size of buffers for arrays whose length no argument states, in bytes.
pub(crate) const LARGE: usize = 1 << 16;

/// The value of guard bytes.
const GUARD: u8 = 0xA5;

/// A buffer.
pub(crate) struct Block {
    start: *mut u8,
    size: usize,
    guard: usize,
}

impl Block {
    /// Returns a buffer of zeros.
    pub(crate) fn zeroed(size: usize) -> Self {
        let guard = state::with(|state| state.guard);
        // SAFETY: the size of the layout is not zero.
        let start = unsafe { alloc_zeroed(layout(size, guard)) };
        assert!(!start.is_null(), "no memory for {size} bytes");
        let block = Self { start, size, guard };
        for at in size..size + guard {
            block.put(at, GUARD);
        }
        block
    }

    /// Returns a buffer with the given bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let block = Self::zeroed(bytes.len());
        for (at, byte) in bytes.iter().enumerate() {
            block.put(at, *byte);
        }
        block
    }

    /// Returns a buffer with the given words.
    pub(crate) fn of_words(words: &[u64]) -> Self {
        Self::of(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>())
    }

    /// Returns the address as an argument.
    pub(crate) fn word(&self) -> u64 {
        self.start.expose_provenance() as u64
    }

    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        (0..self.size).map(|at| self.get(at)).collect()
    }

    /// Returns the first bytes, without zeros at the end.
    pub(crate) fn start(&self) -> Vec<u8> {
        let bytes: Vec<u8> = (0..self.size.min(48)).map(|at| self.get(at)).collect();
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        bytes[..length].to_vec()
    }

    /// Returns the word at a position that counts words.
    pub(crate) fn word_at(&self, at: usize) -> u64 {
        let bytes: Vec<u8> = (at * 8..at * 8 + 8).map(|at| self.get(at)).collect();
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    }

    /// Returns true if the guard bytes are unchanged.
    pub(crate) fn is_intact(&self) -> bool {
        (self.size..self.size + self.guard).all(|at| self.get(at) == GUARD)
    }

    fn put(&self, at: usize, byte: u8) {
        assert!(at < self.size + self.guard);
        // SAFETY: the position is in the block, as the assertion checks.
        unsafe { self.start.add(at).write(byte) }
    }

    fn get(&self, at: usize) -> u8 {
        assert!(at < self.size + self.guard);
        // SAFETY: the position is in the block, as the assertion checks, and the bytes were zeroed.
        unsafe { self.start.add(at).read() }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block was allocated with this layout.
        unsafe { dealloc(self.start, layout(self.size, self.guard)) }
    }
}

/// Returns the layout of a block. Programs pass aligned structs and arrays.
fn layout(size: usize, guard: usize) -> Layout {
    Layout::from_size_align((size + guard).max(1), 8).unwrap_or(Layout::new::<u64>())
}
