//! The records of a commit that are being written to the journal's file.

use hyperslab_exact::to_u64;
use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader, JournalRecord, MAX_ENTRIES};
use hyperslab_vfd::Driver;

use super::Change;
use super::errors::unwritable;
use crate::error::Result;

/// Largest number of bytes of journal records that a commit buffers. At this number, the commit
/// writes the buffer to the journal.
const FLUSH_BYTES: usize = 1 << 20;

/// A batch of journal records that a commit writes after the end of the journal. After all records
/// are written, the end and the checksum chain of the batch become those of the journal.
pub(super) struct Batch {
    pub(super) chain: JournalChain,
    /// The offset of `bytes` in the journal's file.
    at: u64,
    bytes: Vec<u8>,
}

impl Batch {
    /// Creates a batch of journal records after the first `end` bytes of a journal. A batch at
    /// offset 0 begins with the header of a new journal.
    pub(super) fn new(chain: JournalChain, end: u64, sequence: u64) -> Result<Self> {
        let bytes = if end == 0 { JournalHeader::new(sequence).encode()? } else { Vec::new() };
        Ok(Self { chain, at: end, bytes })
    }

    /// Returns the offset in the journal of the batch's next journal record.
    pub(super) fn end(&self) -> u64 {
        self.at + to_u64(self.bytes.len())
    }

    /// Adds the journal record of a change of the file to the batch. Returns the offset in the
    /// journal of the changed bytes.
    pub(super) fn add(&mut self, file: &dyn Driver, change: &Change<'_>) -> Result<u64> {
        let record = self.chain.bytes(change.offset, change.old, change.new)?;
        let head = to_u64(record.len() - change.new.len());
        debug_assert!(head >= JournalRecord::SIZE as u64);
        let journal_offset = self.end() + head;
        self.push(file, &record)?;
        Ok(journal_offset)
    }

    /// Adds the journal records of extents to the batch. The extents are file space that no earlier
    /// commit contains, and the commit relies on their bytes. A commit has at least one such
    /// record, which also states the length of the synced file.
    pub(super) fn add_extents(
        &mut self,
        file: &dyn Driver,
        synced_length: u64,
        extents: &[JournalExtent],
    ) -> Result<()> {
        let (first, rest) = extents.split_at(extents.len().min(MAX_ENTRIES));
        for extents in std::iter::once(first).chain(rest.chunks(MAX_ENTRIES)) {
            let record = self.chain.extents(synced_length, extents)?;
            self.push(file, &record)?;
        }
        Ok(())
    }

    /// Adds the journal records of unlinked objects to the batch, if there are unlinked objects.
    pub(super) fn add_unlinked(&mut self, file: &dyn Driver, addresses: &[u64]) -> Result<()> {
        for addresses in addresses.chunks(MAX_ENTRIES) {
            let record = self.chain.unlinked(addresses)?;
            self.push(file, &record)?;
        }
        Ok(())
    }

    /// Adds the journal record that completes the commit to the batch. The next
    /// [`flush`](Self::flush) writes the bytes of the record.
    pub(super) fn add_commit(&mut self, file_length: u64) -> Result<()> {
        let record = self.chain.commit(file_length)?;
        self.bytes.extend_from_slice(&record);
        Ok(())
    }

    fn push(&mut self, file: &dyn Driver, record: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(record);
        if self.bytes.len() >= FLUSH_BYTES { self.flush(file) } else { Ok(()) }
    }

    /// Writes the buffered journal records of the batch to the journal.
    pub(super) fn flush(&mut self, file: &dyn Driver) -> Result<()> {
        file.write_at(self.at, &self.bytes).map_err(unwritable)?;
        self.at = self.end();
        self.bytes.clear();
        file.flush().map_err(unwritable)
    }
}
