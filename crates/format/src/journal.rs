//! The journal of a file that is written: what commits change in place (`docs/journal.md`). It lies in a file of its own; the HDF5
//! format knows nothing of it.
//!
//! ```text
//! header, 64 bytes               record, 32 bytes and what follows
//! byte  0   signature            byte  0   kind (4)          1 bytes, 2 commit
//!       8   version 0                  4   number of sums (4)
//!       9   zeros (7)                  8   offset in the file (8), or its length after the commit
//!      16   sequence number (8)       16   bytes (8), or number of records before
//!      24   start of the system (16)  24   checksum (8)
//!      40   checksum (8)              32   sums of what stands there now, one for each sector (8 each)
//!      48   applied up to (8)              the bytes that are to stand there
//!      56   zeros (8)
//! ```
//!
//! Integers are little-endian. All sums are XXH3 of 64 bits. Their seed is the sequence number, and that of a record's checksum
//! the checksum of the record before it (the sequence number for the first), so that what an earlier commit left in the same place is not
//! taken for a part of this one.

use std::hash::Hasher as _;

use twox_hash::xxhash3_64;

use crate::codec::{FormatError, Reader, Result, Writer};

const HEADER_NAME: &str = "journal header";
const RECORD_NAME: &str = "journal record";
const VERSION: u8 = 0;
const BYTES: u32 = 1;
const COMMIT: u32 = 2;

/// Bytes that a disk writes wholly or not at all.
pub const SECTOR: u64 = 512;

/// The most bytes that one record brings.
pub const MAX_RECORD: u64 = 1 << 20;

/// The sum of some bytes in the journal of that sequence number.
pub fn sum(sequence: u64, bytes: &[u8]) -> u64 {
    xxhash3_64::Hasher::oneshot_with_seed(sequence, bytes)
}

/// The sums of each sector of bytes that stand at an offset of the file.
pub fn sector_sums(sequence: u64, offset: u64, bytes: &[u8]) -> Vec<u64> {
    sectors(offset, bytes).map(|sector| sum(sequence, sector)).collect()
}

/// The sectors of bytes that stand at an offset of the file: the first and the last may be shorter.
pub fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let first = usize::try_from(SECTOR.saturating_sub(offset % SECTOR)).unwrap_or(0).min(bytes.len());
    let (head, rest) = bytes.split_at_checked(first).unwrap_or((bytes, &[]));
    let head = Some(head).filter(|head| !head.is_empty());
    head.into_iter().chain(rest.chunks(usize::try_from(SECTOR).unwrap_or(usize::MAX)))
}

/// How many sectors so many bytes at an offset touch.
fn sector_count(offset: u64, length: u64) -> u64 {
    let end = offset.saturating_add(length);
    if length == 0 { 0 } else { end.div_ceil(SECTOR).saturating_sub(offset / SECTOR) }
}

/// What a journal begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalHeader {
    /// Tells one journal from those before it.
    pub sequence: u64,
    /// What tells the start of the system under which it was written from others; zeros if nothing does.
    pub boot: [u8; 16],
    /// Where the last commit ends of those that were written into the file, though they may not have reached its disk; 0 without one.
    pub applied: u64,
}

impl JournalHeader {
    /// The first bytes of every journal.
    pub const SIGNATURE: [u8; 8] = *b"\x89HSJ\r\n\x1a\n";
    /// Bytes of the header.
    pub const SIZE: usize = 64;
    /// Where it stands what was applied, so that it can be said later.
    pub const APPLIED_AT: u64 = 48;

    /// What is to stand there then.
    pub fn applied_up_to(end: u64) -> [u8; 8] {
        end.to_le_bytes()
    }

    /// The bytes of the header.
    ///
    /// # Errors
    /// None that can be met.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::new(HEADER_NAME);
        writer.bytes(&Self::SIGNATURE);
        writer.u8(VERSION);
        writer.zeros(7);
        writer.u64(self.sequence);
        writer.bytes(&self.boot);
        let mut bytes = writer.finish()?;
        let mut writer = Writer::new(HEADER_NAME);
        writer.u64(sum(self.sequence, &bytes));
        writer.u64(self.applied);
        writer.zeros(8);
        bytes.extend(writer.finish()?);
        Ok(bytes)
    }

    /// The header that the bytes begin with.
    ///
    /// # Errors
    /// [`FormatError`] if they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(HEADER_NAME, bytes);
        let signature: [u8; 8] = reader.array("signature")?;
        if signature != Self::SIGNATURE {
            return Err(reader.corrupt("signature", "\\x89HSJ\\r\\n\\x1a\\n", signature.escape_ascii()));
        }
        reader.version(&[VERSION])?;
        reader.skip(7, "reserved bytes")?;
        let sequence = reader.u64("sequence number")?;
        let boot = reader.array("start of the system")?;
        let expected = sum(sequence, reader.taken());
        let got = reader.u64("checksum")?;
        if got != expected {
            return Err(reader.corrupt("checksum", format!("{expected:#x}"), format_args!("{got:#x}")));
        }
        Ok(Self { sequence, boot, applied: reader.u64("applied")? })
    }
}

/// What a record begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// What it says.
    pub kind: JournalRecordKind,
    checksum: u64,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalRecordKind {
    /// Bytes that are to stand in the file.
    Bytes {
        /// Where.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// The end of a commit: what stands before it is whole.
    Commit {
        /// Bytes of the file then.
        file_length: u64,
        /// Records before this one.
        records: u64,
    },
}

/// What is told by the sums of all records before.
#[derive(Debug, Clone, Copy)]
pub struct JournalChain {
    sequence: u64,
    records: u64,
    /// The checksum of the record before, which is the seed of the next.
    last: u64,
}

impl JournalChain {
    /// That of a journal without records.
    pub fn new(sequence: u64) -> Self {
        Self { sequence, records: 0, last: sequence }
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn add(&mut self, checksum: u64) {
        self.records = self.records.saturating_add(1);
        self.last = checksum;
    }

    /// The record that brings `new` to `offset`, where `old` stands now.
    ///
    /// # Errors
    /// [`FormatError`] if there are more than [`MAX_RECORD`] bytes, or none.
    pub fn bytes(&mut self, offset: u64, old: &[u8], new: &[u8]) -> Result<Vec<u8>> {
        let sums = sector_sums(self.sequence, offset, old);
        let mut writer = Writer::with_capacity(RECORD_NAME, new.len().saturating_add(64));
        let length = new.len() as u64;
        writer.u32(BYTES);
        writer.narrow_u32(sums.len(), "number of sums");
        if length > MAX_RECORD || length == 0 || old.len() != new.len() {
            writer.fail("bytes", length);
        }
        writer.u64(offset);
        writer.u64(length);
        let mut behind = Writer::with_capacity(RECORD_NAME, new.len().saturating_add(64));
        sums.into_iter().for_each(|sum| behind.u64(sum));
        behind.bytes(new);
        self.seal(writer, &behind.finish()?)
    }

    /// The record that ends a commit.
    ///
    /// # Errors
    /// None that can be met.
    pub fn commit(&mut self, file_length: u64) -> Result<Vec<u8>> {
        let mut writer = Writer::new(RECORD_NAME);
        writer.u32(COMMIT);
        writer.u32(0);
        writer.u64(file_length);
        writer.u64(self.records);
        self.seal(writer, &[])
    }

    /// Puts the checksum behind the head of a record, and the rest behind that.
    fn seal(&mut self, head: Writer, rest: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = head.finish()?;
        let checksum = self.checksum(&bytes, rest);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(rest);
        self.add(checksum);
        Ok(bytes)
    }

    /// Each checksum depends on all before, so that no record can stand at another place.
    fn checksum(&self, head: &[u8], rest: &[u8]) -> u64 {
        let mut hasher = xxhash3_64::Hasher::with_seed(self.last);
        hasher.write(head);
        hasher.write(rest);
        hasher.finish()
    }

    /// Takes the next record, whose sums and bytes are `rest`. Gives the sums and the bytes.
    ///
    /// # Errors
    /// [`FormatError`] if it does not belong here.
    pub fn accept<'a>(
        &mut self,
        record: &JournalRecord,
        head: &[u8],
        rest: &'a [u8],
    ) -> Result<(Vec<u64>, &'a [u8])> {
        let mut reader = Reader::new(RECORD_NAME, rest);
        let head = head.get(..JournalRecord::SIZE.saturating_sub(8)).unwrap_or_default();
        let expected = self.checksum(head, rest);
        if record.checksum != expected {
            let got = record.checksum;
            return Err(reader.corrupt("checksum", format!("{expected:#x}"), format_args!("{got:#x}")));
        }
        if let JournalRecordKind::Commit { records, .. } = record.kind
            && records != self.records
        {
            return Err(reader.corrupt("number of records", self.records.to_string(), records));
        }
        let sums = (0..record.sums()).map(|_| reader.u64("sum of a sector")).collect::<Result<_>>()?;
        self.add(record.checksum);
        Ok((sums, reader.take_rest()))
    }
}

impl JournalRecord {
    /// Bytes before the sums.
    pub const SIZE: usize = 32;

    /// Decodes the first [`SIZE`](Self::SIZE) bytes of a record. Whether it is right is known when the rest is there.
    ///
    /// # Errors
    /// [`FormatError`] if it cannot be one.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(RECORD_NAME, bytes);
        let kind = reader.u32("kind")?;
        let sums = u64::from(reader.u32("number of sums")?);
        let (offset, length) = (reader.u64("offset")?, reader.u64("bytes")?);
        let checksum = reader.u64("checksum")?;
        let wrong = |field, expected: &str, got: u64| -> FormatError {
            FormatError::corrupt(RECORD_NAME, field, expected, got)
        };
        let kind = match kind {
            BYTES => {
                if length == 0 || length > MAX_RECORD || offset.checked_add(length).is_none() {
                    return Err(wrong("bytes", "1 to 1 MiB", length));
                }
                if sums != sector_count(offset, length) {
                    return Err(wrong("number of sums", "one for each sector", sums));
                }
                JournalRecordKind::Bytes { offset, length }
            }
            COMMIT if sums == 0 => JournalRecordKind::Commit { file_length: offset, records: length },
            _ => return Err(wrong("kind", "1 or 2", u64::from(kind))),
        };
        Ok(Self { kind, checksum })
    }

    /// Number of sums before the bytes.
    fn sums(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { offset, length } => sector_count(offset, length),
            JournalRecordKind::Commit { .. } => 0,
        }
    }

    /// Bytes between the head and the bytes that the record brings.
    pub fn bytes_of_sums(&self) -> u64 {
        self.sums().saturating_mul(8)
    }

    /// Bytes of the record behind its head.
    pub fn rest(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { length, .. } => self.bytes_of_sums().saturating_add(length),
            JournalRecordKind::Commit { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take<'a>(
        chain: &mut JournalChain,
        bytes: &'a [u8],
    ) -> Result<(JournalRecordKind, Vec<u64>, &'a [u8])> {
        let record = JournalRecord::decode(bytes)?;
        let (head, rest) = bytes.split_at(JournalRecord::SIZE);
        let rest = &rest[..usize::try_from(record.rest()).unwrap().min(rest.len())];
        let (sums, new) = chain.accept(&record, head, rest)?;
        Ok((record.kind, sums, new))
    }

    #[test]
    fn a_header_comes_back() {
        let header = JournalHeader { sequence: 7, boot: *b"0123456789abcdef", applied: 0 };
        let mut bytes = header.encode().unwrap();
        assert_eq!(bytes.len(), JournalHeader::SIZE);
        assert_eq!(JournalHeader::decode(&bytes).unwrap(), header);
        let at = usize::try_from(JournalHeader::APPLIED_AT).unwrap();
        bytes[at..at + 8].copy_from_slice(&JournalHeader::applied_up_to(300));
        assert_eq!(JournalHeader::decode(&bytes).unwrap(), JournalHeader { applied: 300, ..header });
        for place in 0..at {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let reserved = (9..16).contains(&place);
            assert!(JournalHeader::decode(&damaged).is_err(), "{place} {reserved}");
        }
    }

    proptest! {
        #[test]
        fn records_come_back(
            offset in 0_u64..5000,
            bytes in prop::collection::vec(any::<(u8, u8)>(), 1..3000),
            damage in any::<prop::sample::Index>(),
            sequence in any::<u64>(),
        ) {
            let (old, new): (Vec<u8>, Vec<u8>) = bytes.into_iter().unzip();
            let mut chain = JournalChain::new(sequence);
            let first = chain.bytes(offset, &old, &new).unwrap();
            let second = chain.bytes(1, b"x", b"y").unwrap();
            let last = chain.commit(9000).unwrap();
            let mut reading = JournalChain::new(sequence);
            let (kind, sums, got) = take(&mut reading, &first).unwrap();
            prop_assert_eq!(kind, JournalRecordKind::Bytes { offset, length: new.len() as u64 });
            prop_assert_eq!(sums, sector_sums(sequence, offset, &old));
            prop_assert_eq!(got, &*new);
            let mut early = reading;
            prop_assert!(take(&mut early, &last).is_err());
            take(&mut reading, &second).unwrap();
            let mut again = reading;
            prop_assert!(take(&mut again, &second).is_err());
            let (kind, ..) = take(&mut reading, &last).unwrap();
            prop_assert_eq!(kind, JournalRecordKind::Commit { file_length: 9000, records: 2 });
            let mut damaged = first.clone();
            *damage.get_mut(&mut damaged) ^= 0x10;
            prop_assert!(take(&mut JournalChain::new(sequence), &damaged).is_err());
            prop_assert!(take(&mut JournalChain::new(sequence ^ 1), &first).is_err());
        }
    }
}
