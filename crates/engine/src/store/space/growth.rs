//! The sources of new blocks: free sections, blocks from which small pieces are cut, and the end of
//! the file.

use super::pool::align_up;
use super::rules::{Class, SpaceKind};
use super::{Result, Space};

impl Space {
    /// Allocates bytes of file space in a file without paged allocation.
    pub(super) fn allocate_flat(&mut self, class: Class, length: u64) -> Result<u64> {
        let alignment = self.rules.alignment(length);
        if let Some(start) = self.pool(class).take(length, alignment) {
            return Ok(start);
        }
        if length < self.rules.block(class) {
            self.cut(class, length, alignment)
        } else {
            self.append(class, length, alignment)
        }
    }

    /// Cuts a piece of file space from the current aggregation block. (This is a block from which
    /// small pieces are taken, as in `H5Pset_meta_block_size`.) If necessary, allocates a new
    /// aggregation block.
    fn cut(&mut self, class: Class, length: u64, alignment: u64) -> Result<u64> {
        let (start, end) = self.block(class);
        if let Some(to) = self.end_of(start, length, alignment).filter(|to| *to <= end) {
            return Ok(self.cut_up_to(class, to, length));
        }
        let block = self.rules.block(class);
        if end != self.end {
            self.set_block(class, (self.end, self.end));
            self.put(class, start, end);
        }
        let (start, _) = self.block(class);
        let to = self.end_of(start, length, alignment).ok_or_else(|| self.too_long(u64::MAX))?;
        let end = self.end.checked_add(block).ok_or_else(|| self.too_long(u64::MAX))?;
        self.grow(end.max(to))?;
        self.set_block(class, (start, self.end));
        Ok(self.cut_up_to(class, to, length))
    }

    /// Allocates bytes for a block at the end of the file, in a file without paged allocation.
    pub(super) fn append(&mut self, class: Class, length: u64, alignment: u64) -> Result<u64> {
        let (start, end) = self.block(class);
        // The remainder of a block at the end of the file becomes the start of the piece.
        let continues = end == self.end;
        let from = if continues { start } else { self.end };
        let to = self.end_of(from, length, alignment).ok_or_else(|| self.too_long(u64::MAX))?;
        self.grow(to)?;
        if continues {
            self.set_block(class, (from, self.end));
            return Ok(self.cut_up_to(class, to, length));
        }
        let start = to - length;
        self.put(class, from, start);
        Ok(start)
    }

    /// Returns the end of an aligned piece of file space of `length` bytes that begins at or after
    /// `start`.
    fn end_of(&self, start: u64, length: u64, alignment: u64) -> Option<u64> {
        align_up(start, alignment)?.checked_add(length)
    }

    /// Cuts a piece of file space from the current aggregation block, from which small pieces are
    /// taken. The piece has `length` bytes and ends at `to`. Skipped bytes become free.
    fn cut_up_to(&mut self, class: Class, to: u64, length: u64) -> u64 {
        let (start, end) = self.block(class);
        let piece = to - length;
        self.set_block(class, (to, end));
        self.put(class, start, piece);
        piece
    }

    fn block(&self, class: Class) -> (u64, u64) {
        self.blocks.get(class.index()).copied().unwrap_or((self.end, self.end))
    }

    fn set_block(&mut self, class: Class, block: (u64, u64)) {
        if let Some(present) = self.blocks.get_mut(class.index()) {
            *present = block;
        }
    }

    /// Moves the end of allocation of the file up to `end`.
    fn grow(&mut self, end: u64) -> Result<()> {
        if end > self.end {
            if end >= self.rules.limit {
                return Err(self.too_long(end));
            }
            self.end = end;
        }
        Ok(())
    }

    /// Allocates bytes of file space in a file with paged allocation. A small block lies on one
    /// page, together with other blocks of its class. A large block begins at the start of a page.
    pub(super) fn allocate_paged(&mut self, class: Class, length: u64, page: u64) -> Result<u64> {
        if class == Class::Large {
            return match self.pool(class).take(length, page) {
                Some(start) => Ok(start),
                None => self.append_pages(length, page),
            };
        }
        if let Some(start) = self.pool(class).take(length, 1) {
            return Ok(start);
        }
        let start = self.allocate_paged(Class::Large, page, page)?;
        self.pool(class).put(start + length, page - length);
        Ok(start)
    }

    /// Allocates whole pages at the end of the file. The unused part of the last page becomes free
    /// for large blocks.
    fn append_pages(&mut self, length: u64, page: u64) -> Result<u64> {
        let before = self.end;
        let start = align_up(before, page).ok_or_else(|| self.too_long(u64::MAX))?;
        let end = start.checked_add(length).ok_or_else(|| self.too_long(u64::MAX))?;
        let pages = align_up(end, page).ok_or_else(|| self.too_long(u64::MAX))?;
        self.grow(pages)?;
        self.pool(Class::Large).put(before, start - before);
        self.pool(Class::Large).put(end, pages - end);
        Ok(start)
    }

    /// Extends a block of the file that ends at `tail` by `more` bytes, in a file without paged
    /// allocation.
    pub(super) fn extend_flat(&mut self, class: Class, tail: u64, more: u64) -> Result<bool> {
        if self.pool(class).take_at(tail, more) {
            return Ok(true);
        }
        let (start, end) = self.block(class);
        let to = tail.checked_add(more).ok_or_else(|| self.too_long(u64::MAX))?;
        if start == tail && start < end {
            if to > end && end != self.end {
                return Ok(false);
            }
            self.grow(to)?;
            self.set_block(class, (to, end.max(to)));
            return Ok(true);
        }
        if tail != self.end {
            return Ok(false);
        }
        self.grow(to)?;
        Ok(true)
    }

    /// Extends a block of the file by `more` bytes, in a file with paged allocation. The block has
    /// `old` bytes and ends at `tail`. A small block must stay smaller than a page and must not
    /// leave its page.
    pub(super) fn extend_paged(
        &mut self,
        class: Class,
        tail: u64,
        old: u64,
        more: u64,
        page: u64,
    ) -> Result<bool> {
        if class != Class::Large {
            let fits = old.checked_add(more).is_some_and(|all| all < page) && !tail.is_multiple_of(page);
            return Ok(fits && self.pool(class).take_at(tail, more));
        }
        if self.pool(class).take_at(tail, more) {
            return Ok(true);
        }
        let free_to = self.pool(class).starting_at(tail).unwrap_or(tail);
        if free_to != self.end {
            return Ok(false);
        }
        let to = tail.checked_add(more).ok_or_else(|| self.too_long(u64::MAX))?;
        let pages = align_up(to, page).ok_or_else(|| self.too_long(u64::MAX))?;
        self.grow(pages)?;
        self.pool(class).remove(tail);
        self.pool(class).put(to, pages - to);
        Ok(true)
    }

    /// Allocates file space for the blocks that are written last when the file is closed. No unused
    /// remainder follows the allocated bytes. Without paged allocation, the bytes lie at the end of
    /// the file. The free space therefore does not change while it is stored.
    pub(crate) fn allocate_last(&mut self, kind: SpaceKind, length: u64) -> Result<u64> {
        let class = self.rules.class(kind, length);
        let start = match self.rules.page {
            Some(page) => self.allocate_paged(class, length, page)?,
            None => self.append(class, length, 1)?,
        };
        self.note_allocated(start, length);
        Ok(start)
    }

    /// Frees the unused ends of the file's aggregation blocks, from which small pieces are taken.
    pub(crate) fn release_blocks(&mut self) {
        for class in [Class::Metadata, Class::Raw] {
            let (start, end) = self.block(class);
            self.set_block(class, (self.end, self.end));
            self.put(class, start, end);
        }
        self.trim();
        self.others_mut().for_each(Self::release_blocks);
    }
}
