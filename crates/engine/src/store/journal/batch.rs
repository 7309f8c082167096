//! Records on their way into the journal. Only when all of them are there, they are taken for written.

use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader, JournalRecord, MAX_ENTRIES};
use hyperslab_vfd::Driver;

use super::{Change, unwritable};
use crate::error::Result;

/// Bytes that are written at once.
const AT_ONCE: usize = 1 << 20;

/// Records behind those that the journal has.
pub(super) struct Batch {
    pub(super) chain: JournalChain,
    /// Where `bytes` go.
    at: u64,
    bytes: Vec<u8>,
}

impl Batch {
    /// Begins behind the first `end` bytes of a journal, or with the header of a new one.
    pub(super) fn new(chain: JournalChain, end: u64, sequence: u64) -> Result<Self> {
        let bytes = if end == 0 { JournalHeader::new(sequence).encode()? } else { Vec::new() };
        Ok(Self { chain, at: end, bytes })
    }

    /// Where the next record begins.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// Adds a record. Returns where its bytes stand.
    pub(super) fn add(&mut self, file: &dyn Driver, change: &Change<'_>) -> Result<u64> {
        let record = self.chain.bytes(change.offset, change.old, change.new)?;
        let head = (record.len() - change.new.len()) as u64;
        debug_assert!(head >= JournalRecord::SIZE as u64);
        let place = self.end() + head;
        self.bytes.extend_from_slice(&record);
        if self.bytes.len() >= AT_ONCE {
            self.flush(file)?;
        }
        Ok(place)
    }

    /// Adds the records of the new space that the commit relies on: at least one, which states the synced length.
    pub(super) fn add_extents(
        &mut self,
        file: &dyn Driver,
        synced_length: u64,
        extents: &[JournalExtent],
    ) -> Result<()> {
        let (first, rest) = extents.split_at(extents.len().min(MAX_ENTRIES));
        for extents in std::iter::once(first).chain(rest.chunks(MAX_ENTRIES)) {
            let record = self.chain.extents(synced_length, extents)?;
            self.bytes.extend_from_slice(&record);
            if self.bytes.len() >= AT_ONCE {
                self.flush(file)?;
            }
        }
        Ok(())
    }

    /// Adds the records of objects without links, if there are any.
    pub(super) fn add_unlinked(&mut self, file: &dyn Driver, addresses: &[u64]) -> Result<()> {
        for addresses in addresses.chunks(MAX_ENTRIES) {
            let record = self.chain.unlinked(addresses)?;
            self.bytes.extend_from_slice(&record);
            if self.bytes.len() >= AT_ONCE {
                self.flush(file)?;
            }
        }
        Ok(())
    }

    /// Adds the last record.
    pub(super) fn end_with(&mut self, file_length: u64) -> Result<()> {
        let record = self.chain.commit(file_length)?;
        self.bytes.extend_from_slice(&record);
        Ok(())
    }

    /// Writes what was added.
    pub(super) fn flush(&mut self, file: &dyn Driver) -> Result<()> {
        file.write_at(self.at, &self.bytes).map_err(unwritable)?;
        self.at = self.end();
        self.bytes.clear();
        file.flush().map_err(unwritable)
    }
}
