//! Writes of raw data and of blocks, to dirty pages or to the driver, and the spill of dirty pages.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::Address;
use hyperslab_format::journal::SECTOR;
use hyperslab_vfd::DriverError;

use super::Store;
use super::backing::write_failed;
use super::bytes::part;
use super::journal::Change;
use super::pages::ByteRows;
use super::write_state::FileRange;
use crate::error::{Error, Result};

/// Size in bytes of the largest raw data write that stays in memory until the commit. The commit
/// then writes the raw data together with its neighbours.
const MAX_BUFFERED_WRITE_BYTES: usize = 16 << 10;

/// Largest number of rows of raw data that are written during one access to the dirty pages.
const MAX_BATCH_ROWS: usize = 1024;

/// Largest number of bytes of raw data that are written during one access to the dirty pages.
const MAX_BATCH_BYTES: usize = 1 << 20;

impl Store {
    /// Writes raw data to allocated file space at an address. Several threads may write to
    /// different addresses at the same time.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is open for reading only, [`Error::Corrupt`] if the
    /// data do not lie in the file, and I/O errors.
    pub fn write_raw(&self, address: Address, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        let start = self.locate(address, to_u64(bytes.len()), "raw data")?;
        let failed = |source| Error::Io { action: format!("cannot write raw data at {address}"), source };
        if bytes.len() <= MAX_BUFFERED_WRITE_BYTES {
            self.change(start, bytes).map_err(failed)?;
            return self.spill();
        }
        for FileRange { start: from, end: to, is_new } in self.ranges(start, start + to_u64(bytes.len()))? {
            let bytes = part(bytes, start, from..to)?;
            if is_new {
                // A commit that is written into the file later may truncate the file.
                self.write_state.journal.complete(&*self.backing.driver)?;
                self.write_through(from, bytes).map_err(failed)?;
                continue;
            }
            let mut at = from;
            for part in bytes.chunks(MAX_BATCH_BYTES) {
                self.change(at, part).map_err(failed)?;
                self.spill()?;
                at += to_u64(part.len());
            }
        }
        Ok(())
    }

    /// Writes rows of raw data to an allocated block of the file. The block is given by its address
    /// and its length.
    ///
    /// # Errors
    /// Returns the same errors as [`write_raw`](Self::write_raw).
    pub fn write_raw_rows(&self, (address, length): (Address, u64), rows: &ByteRows<'_>) -> Result<()> {
        self.check_writable()?;
        let first = self.locate(address, length, "raw data")?;
        let Some(end) = rows.end().filter(|end| *end <= length) else {
            return Err(Error::corrupt(
                "raw data",
                "size",
                format!("rows inside of {length} bytes"),
                address,
            ));
        };
        let failed = |source| Error::Io { action: format!("cannot write raw data at {address}"), source };
        let is_buffered = rows.length <= MAX_BUFFERED_WRITE_BYTES;
        // Other threads get access between two batches.
        let batch = if is_buffered { (MAX_BATCH_BYTES / rows.length.max(1)).min(MAX_BATCH_ROWS) } else { 1 };
        let mut offset = rows.offset;
        for bytes in rows.bytes.chunks((batch * rows.length).max(1)) {
            if is_buffered || bytes.len() <= MAX_BUFFERED_WRITE_BYTES {
                let _writing = self.write_state.gate.read();
                self.backing.note_touched(first + end);
                let rows = ByteRows { offset, bytes, ..*rows };
                self.caches.pages.write_rows(self.source(), first + offset, &rows).map_err(failed)?;
            } else {
                let invariant = "rows inside of a block have addresses";
                let row = address.checked_add(offset);
                self.write_raw(row.ok_or(Error::Internal { structure: "raw data", invariant })?, bytes)?;
            }
            self.spill()?;
            // The sum may exceed 64 bits after the last row. No row begins there.
            offset = offset.wrapping_add(rows.stride.wrapping_mul(to_u64(batch)));
        }
        Ok(())
    }

    fn check_writable(&self) -> Result<()> {
        match self.write_state.is_writable {
            true => Ok(()),
            false => Err(Error::Misuse(format!("the file `{}` is open for reading only", self.name()))),
        }
    }

    /// Writes bytes at a file offset to pages in memory, which become dirty.
    pub(super) fn change(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        let _writing = self.write_state.gate.read();
        self.backing.note_touched(start + to_u64(bytes.len()));
        self.caches.pages.write(self.source(), start, bytes)
    }

    /// Encodes the dirty metadata block at `address` and writes its bytes to pages in memory. Does
    /// nothing if the block does not exist.
    pub(super) fn encode_dirty_block(&self, address: Address) -> Result<()> {
        let Some(block) = self.caches.dirty_blocks.get(address) else { return Ok(()) };
        let bytes = block.encode().map_err(|error| error.at(address))?;
        let start = self.locate(address, to_u64(bytes.len()), "changed block")?;
        self.note_block(start, &bytes, block.structure());
        self.change(start, &bytes).map_err(|source| Error::Io {
            action: format!("cannot change the block at {address}"),
            source,
        })?;
        // Remove the block only now. If it was removed earlier, another reader could find the old
        // bytes. Several readers may execute this line with the same bytes.
        self.caches.dirty_blocks.remove(address);
        self.spill()
    }

    /// Spills dirty pages of the file if they exceed their limit: writes them before the commit.
    /// Pages of new space go to the file, and pages of the committed file go to the journal.
    pub(super) fn spill(&self) -> Result<()> {
        if !self.caches.pages.should_spill() {
            return Ok(());
        }
        let (driver, state) = (&*self.backing.driver, &self.write_state);
        let _exclusive = state.gate.write();
        if driver.kind().has_member_ends() {
            return self.spill_members();
        }
        state.journal.complete(driver)?;
        let new_from = state.direct_from();
        // The superblock of a new file is written last.
        let from = if new_from == 0 { self.base() + SECTOR } else { new_from };
        let note = |offset, bytes: &[u8]| state.note_new(offset, bytes);
        let written = self.caches.pages.spill(driver, from, self.length(), note).map_err(write_failed)?;
        self.backing.note_written(written);
        if state.journal.is_enabled() && new_from > 0 && self.caches.pages.is_over_limit() {
            self.spill_to_journal(new_from)?;
        }
        Ok(())
    }

    /// Spills dirty pages of the committed part of the file to the journal.
    fn spill_to_journal(&self, new_from: u64) -> Result<()> {
        let (driver, state) = (&*self.backing.driver, &self.write_state);
        let pages = self.caches.pages.dirty_before(new_from);
        let Some((last, page)) = pages.last() else { return Ok(()) };
        // The new space on the last page is written directly.
        let border = new_from..last + to_u64(page.len());
        let note = |offset, bytes: &[u8]| state.note_new(offset, bytes);
        let written = self.caches.pages.write_from(driver, border.start, border.end, &(0..0), note);
        if written.map_err(write_failed)? {
            self.backing.note_written(border.end.min(self.length()));
        }
        let mut olds = Vec::with_capacity(pages.len());
        for (offset, page) in &pages {
            let mut old = vec![0; to_usize((new_from - *offset).min(to_u64(page.len())))?];
            self.source().read(*offset, &mut old).map_err(write_failed)?;
            olds.push(old);
        }
        let changes: Vec<Change<'_>> = pages
            .iter()
            .zip(&olds)
            .map(|((offset, page), old)| Change { offset: *offset, old, new: page.split_at(old.len()).0 })
            .collect();
        state.journal.spill(driver, &changes)?;
        self.caches.pages.make_clean(pages);
        Ok(())
    }
}
