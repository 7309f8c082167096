//! Journal of a file that is open for writing: the in-place changes of commits, and checksums that
//! prove that the journal belongs to the file (`docs/journal.md`). The journal is a separate file
//! and no part of the HDF5 format.
//!
//! ```text
//! header, 64 bytes
//! byte  0   signature
//!       8   version 1
//!       9   zeros (7)
//!      16   sequence number (8)
//!      24   zeros (16)
//!      40   checksum (8)
//!      48   zeros (16)
//!
//! record: a head of 32 bytes, and a body
//! byte  0   kind (4)                    1 bytes, 2 commit, 3 extents, 4 unlinked objects
//!       4   number of sector sums (4)   kind 1; else 0
//!       8   (8)                         kind 1: offset in the file
//!                                       kind 2: file length after the commit
//!                                       kind 3: synced length
//!                                       kind 4: 0
//!      16   (8)                         kind 1: number of bytes
//!                                       kind 2: number of records before this one
//!                                       kind 3: number of extents
//!                                       kind 4: number of objects
//!      24   checksum (8)
//!      32   body                        kind 1: sum of each sector before the change (8 each),
//!                                               then the new bytes
//!                                       kind 3: offset, length and sum of each extent (24 each)
//!                                       kind 4: address of each object header (8 each)
//! ```
//!
//! Integers are little-endian. All sums are 64-bit XXH3 hashes. The seed of a record's checksum is
//! the checksum of the previous record; the seed of the first record is the sequence number. A
//! stale record of an earlier journal at the same offset therefore fails verification. The sum of a
//! sector depends on the sector's offset. The sum of an extent is the sum of its sectors' sums, so
//! the sum of a sector can be subtracted.
//!
//! Version 0 has no records of kind 3 and 4. Its header stores an identifier of the system's boot
//! at byte 24 and the end of a commit at byte 48; readers ignore both. The sequence number is the
//! seed of its sector sums.

mod sector_sums;

use std::hash::Hasher as _;

use twox_hash::xxhash3_64;

use crate::codec::{FormatError, Reader, Result, Writer};

use sector_sums::sector_count;
pub use sector_sums::{SECTOR, SECTOR_BYTES, SectorSums, sectors};

const HEADER_NAME: &str = "journal header";
const RECORD_NAME: &str = "journal record";
const VERSION: u8 = 1;
const KIND_BYTES: u32 = 1;
const KIND_COMMIT: u32 = 2;
const KIND_EXTENTS: u32 = 3;
const KIND_UNLINKED: u32 = 4;

/// Largest number of changed bytes in one journal record.
pub const MAX_RECORD_BYTES: u64 = 1 << 20;

/// Largest number of entries in one journal record. An entry describes a range of newly allocated
/// bytes or an unlinked object.
pub const MAX_ENTRIES: usize = 1 << 15;

/// Size in bytes of one extent's description in a journal record. An extent is a range of bytes in
/// the file.
const EXTENT_BYTES: u64 = 24;

/// Size of the address of an unlinked object in a journal record, in bytes.
const ADDRESS_BYTES: u64 = 8;

/// The header of a journal: its first 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalHeader {
    /// Version of the journal format: 0 or 1.
    pub version: u8,
    /// Sequence number, which differs between successive journals of a file.
    pub sequence: u64,
}

impl JournalHeader {
    /// Signature at the start of every journal of an HDF5 file.
    pub const SIGNATURE: [u8; 8] = *b"\x89HSJ\r\n\x1a\n";
    /// Size of the journal header in bytes.
    pub const SIZE: usize = 64;

    /// Creates the header of a new journal with the sequence number `sequence`.
    pub fn new(sequence: u64) -> Self {
        Self { version: VERSION, sequence }
    }

    /// Returns the function by which this journal computes checksums of the file's sectors.
    pub fn sums(&self) -> SectorSums {
        SectorSums { seed: (self.version == 0).then_some(self.sequence) }
    }

    /// Encodes the header of the journal.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] unless the version is the current one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::new(HEADER_NAME);
        writer.bytes(&Self::SIGNATURE);
        if self.version != VERSION {
            writer.fail("version", u64::from(self.version));
        }
        writer.u8(self.version);
        writer.zeros(7);
        writer.u64(self.sequence);
        writer.zeros(16);
        let mut bytes = writer.finish()?;
        let mut writer = Writer::new(HEADER_NAME);
        writer.u64(header_sum(self.sequence, &bytes));
        writer.zeros(16);
        bytes.extend(writer.finish()?);
        Ok(bytes)
    }

    /// Decodes the journal header at the start of `bytes`.
    ///
    /// # Errors
    /// Returns an error if `bytes` do not begin with a header, or if its version is unknown.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(HEADER_NAME, bytes);
        let signature: [u8; 8] = reader.array("signature")?;
        if signature != Self::SIGNATURE {
            return Err(reader.corrupt("signature", "\\x89HSJ\\r\\n\\x1a\\n", signature.escape_ascii()));
        }
        let version = reader.version(&[0, VERSION])?;
        reader.skip(7, "reserved bytes")?;
        let sequence = reader.u64("sequence number")?;
        reader.skip(16, "reserved bytes")?;
        let expected = header_sum(sequence, reader.taken());
        let got = reader.u64("checksum")?;
        if got != expected {
            return Err(reader.corrupt("checksum", format!("{expected:#x}"), format_args!("{got:#x}")));
        }
        Ok(Self { version, sequence })
    }
}

fn header_sum(sequence: u64, bytes: &[u8]) -> u64 {
    xxhash3_64::Hasher::oneshot_with_seed(sequence, bytes)
}

/// A range of newly allocated bytes of the file (an extent), with a checksum of the bytes. The
/// journal is replayed only if the file holds these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalExtent {
    /// Offset of the extent in the file, in bytes.
    pub offset: u64,
    /// Length of the extent in bytes.
    pub length: u64,
    /// Sum of the extent's bytes ([`SectorSums::total`]).
    pub sum: u64,
}

/// The head of a journal record: its first 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRecord {
    /// Kind of the record, with its numbers.
    pub kind: JournalRecordKind,
    checksum: u64,
}

/// The kind of a journal record (changed bytes, a commit and so on), with the numbers in the head
/// of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalRecordKind {
    /// Bytes that the commit writes into the file.
    Bytes {
        /// Offset of the bytes in the file.
        offset: u64,
        /// Number of bytes.
        length: u64,
    },
    /// End of a commit. All other records of the commit precede this record.
    Commit {
        /// Length of the file after the commit, in bytes.
        file_length: u64,
        /// Number of records before this record.
        records: u64,
    },
    /// Newly allocated space that the commit requires.
    Extents {
        /// Length up to which the file was synced to the disk and not truncated since.
        synced_length: u64,
        /// Number of extents in this record.
        count: u64,
    },
    /// Object headers with a link count of 0 that programs kept open at the commit.
    Unlinked {
        /// Number of addresses in this record.
        count: u64,
    },
}

/// The decoded body of a journal record: changed bytes, a commit, new extents of bytes or unlinked
/// objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalBody<'a> {
    /// New bytes, and the sums of the old sectors.
    Bytes {
        /// Sum of each sector that the bytes overlap, before the change.
        sums: Vec<u64>,
        /// New bytes.
        bytes: &'a [u8],
    },
    /// End of a commit; no body.
    Commit,
    /// Newly allocated extents.
    Extents(Vec<JournalExtent>),
    /// Addresses of unlinked objects' headers.
    Unlinked(Vec<u64>),
}

/// The state of a journal's checksum chain: the number of records and the last checksum. In this
/// chain, the checksum of each record depends on the checksum of the record before.
#[derive(Debug, Clone, Copy)]
pub struct JournalChain {
    sums: SectorSums,
    records: u64,
    /// Checksum of the last record: the seed for the next record.
    last: u64,
}

impl JournalChain {
    /// Creates the checksum chain of a journal without records.
    pub fn new(header: JournalHeader) -> Self {
        Self { sums: header.sums(), records: 0, last: header.sequence }
    }

    /// Returns the number of journal records in the chain so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn add(&mut self, checksum: u64) {
        self.records += 1;
        self.last = checksum;
    }

    /// Encodes a journal record of changed bytes. The record changes `old` to `new` at `offset` of
    /// the file.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if there are no bytes or more than [`MAX_RECORD_BYTES`], or
    /// if `old` and `new` differ in length.
    pub fn bytes(&mut self, offset: u64, old: &[u8], new: &[u8]) -> Result<Vec<u8>> {
        let sums = self.sums.each(offset, old);
        let mut writer = Writer::with_capacity(RECORD_NAME, new.len() + 64);
        let length = new.len() as u64;
        writer.u32(KIND_BYTES);
        writer.narrow_u32(sums.len(), "number of checksums");
        if length > MAX_RECORD_BYTES || length == 0 || old.len() != new.len() {
            writer.fail("bytes", length);
        }
        writer.u64(offset);
        writer.u64(length);
        let mut rest = Writer::with_capacity(RECORD_NAME, new.len() + 64);
        sums.into_iter().for_each(|sum| rest.u64(sum));
        rest.bytes(new);
        self.seal(writer, &rest.finish()?)
    }

    /// Encodes a journal record of newly allocated ranges of bytes of the file. A commit with more
    /// than [`MAX_ENTRIES`] ranges needs several records.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if there are more than [`MAX_ENTRIES`] extents.
    pub fn extents(&mut self, synced_length: u64, extents: &[JournalExtent]) -> Result<Vec<u8>> {
        let mut rest = Writer::new(RECORD_NAME);
        for extent in extents {
            rest.u64(extent.offset);
            rest.u64(extent.length);
            rest.u64(extent.sum);
        }
        let head = Self::entries_head(KIND_EXTENTS, synced_length, extents.len());
        self.seal(head, &rest.finish()?)
    }

    /// Encodes a journal record of unlinked objects that programs keep open.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if there are more than [`MAX_ENTRIES`] addresses.
    pub fn unlinked(&mut self, addresses: &[u64]) -> Result<Vec<u8>> {
        let mut rest = Writer::new(RECORD_NAME);
        addresses.iter().for_each(|address| rest.u64(*address));
        let head = Self::entries_head(KIND_UNLINKED, 0, addresses.len());
        self.seal(head, &rest.finish()?)
    }

    fn entries_head(kind: u32, first: u64, count: usize) -> Writer {
        let mut writer = Writer::new(RECORD_NAME);
        writer.u32(kind);
        writer.u32(0);
        writer.u64(first);
        writer.u64(count as u64);
        if count > MAX_ENTRIES {
            writer.fail("entries", count as u64);
        }
        writer
    }

    /// Encodes the journal record that ends a commit. `file_length` is the length of the file after
    /// the commit.
    ///
    /// # Errors
    /// Does not fail; returns a [`Result`] like the other encoders.
    pub fn commit(&mut self, file_length: u64) -> Result<Vec<u8>> {
        let mut writer = Writer::new(RECORD_NAME);
        writer.u32(KIND_COMMIT);
        writer.u32(0);
        writer.u64(file_length);
        writer.u64(self.records);
        self.seal(writer, &[])
    }

    /// Completes a journal record: adds the checksum and the body to the head, and adds the record
    /// to the checksum chain.
    fn seal(&mut self, head: Writer, rest: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = head.finish()?;
        let checksum = self.checksum(&bytes, rest);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(rest);
        self.add(checksum);
        Ok(bytes)
    }

    /// Returns the checksum of a journal record. The checksum depends on the checksum of the record
    /// before.
    fn checksum(&self, head: &[u8], rest: &[u8]) -> u64 {
        let mut hasher = xxhash3_64::Hasher::with_seed(self.last);
        hasher.write(head);
        hasher.write(rest);
        hasher.finish()
    }

    /// Verifies the next journal record and decodes its body. `head` holds the bytes of the head,
    /// `rest` the bytes of the body.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the record is not the next record of this chain.
    pub fn accept<'a>(
        &mut self,
        record: &JournalRecord,
        head: &[u8],
        rest: &'a [u8],
    ) -> Result<JournalBody<'a>> {
        let mut reader = Reader::new(RECORD_NAME, rest);
        let Some(head) = head.get(..JournalRecord::SIZE - 8) else {
            return Err(FormatError::internal(RECORD_NAME, "the head of a record has 32 bytes"));
        };
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
        let body = match record.kind {
            JournalRecordKind::Bytes { .. } => {
                let sums =
                    (0..record.sums()).map(|_| reader.u64("sum of a sector")).collect::<Result<_>>()?;
                JournalBody::Bytes { sums, bytes: reader.take_rest() }
            }
            JournalRecordKind::Commit { .. } => JournalBody::Commit,
            JournalRecordKind::Extents { count, .. } => {
                JournalBody::Extents((0..count).map(|_| decode_extent(&mut reader)).collect::<Result<_>>()?)
            }
            JournalRecordKind::Unlinked { count } => {
                let addresses = (0..count).map(|_| reader.u64("address")).collect::<Result<_>>()?;
                JournalBody::Unlinked(addresses)
            }
        };
        self.add(record.checksum);
        Ok(body)
    }
}

fn decode_extent(reader: &mut Reader<'_>) -> Result<JournalExtent> {
    let (offset, length) = (reader.u64("offset of an extent")?, reader.u64("length of an extent")?);
    if length == 0 || offset.checked_add(length).is_none() {
        return Err(reader.corrupt("length of an extent", "at least 1, with an end below 2^64", length));
    }
    Ok(JournalExtent { offset, length, sum: reader.u64("sum of an extent")? })
}

impl JournalRecord {
    /// Size of the head of a journal record in bytes.
    pub const SIZE: usize = 32;

    /// Decodes the head of a journal record from its first [`SIZE`](Self::SIZE) bytes.
    /// [`JournalChain::accept`] verifies the record.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the bytes cannot be the head of a record.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(RECORD_NAME, bytes);
        let kind = reader.u32("kind")?;
        let sums = u64::from(reader.u32("number of checksums")?);
        let (first, second) = (reader.u64("offset")?, reader.u64("bytes")?);
        let checksum = reader.u64("checksum")?;
        let wrong = |field, expected: &str, got: u64| -> FormatError {
            FormatError::corrupt(RECORD_NAME, field, expected, got)
        };
        let kind = match kind {
            KIND_BYTES => {
                let (offset, length) = (first, second);
                if length == 0 || length > MAX_RECORD_BYTES || offset.checked_add(length).is_none() {
                    return Err(wrong("bytes", "1 to 1048576", length));
                }
                if sums != sector_count(offset, length) {
                    return Err(wrong("number of checksums", "one checksum for each sector", sums));
                }
                JournalRecordKind::Bytes { offset, length }
            }
            KIND_COMMIT if sums == 0 => JournalRecordKind::Commit { file_length: first, records: second },
            KIND_EXTENTS | KIND_UNLINKED if second > MAX_ENTRIES as u64 => {
                return Err(wrong("entries", "at most 32768", second));
            }
            KIND_EXTENTS if sums == 0 => JournalRecordKind::Extents { synced_length: first, count: second },
            KIND_UNLINKED if sums == 0 && first == 0 => JournalRecordKind::Unlinked { count: second },
            _ => return Err(wrong("kind", "1 to 4", u64::from(kind))),
        };
        Ok(Self { kind, checksum })
    }

    /// Returns the number of sector checksums in a journal record. They are at the start of the
    /// record's body.
    fn sums(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { offset, length } => sector_count(offset, length),
            _ => 0,
        }
    }

    /// Returns the size in bytes of the sector checksums, which lie between the head and the new
    /// bytes of a journal record.
    pub fn sums_size(&self) -> u64 {
        self.sums() * 8
    }

    /// Returns the size of the journal record's body in bytes.
    pub fn body_size(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { length, .. } => self.sums_size() + length,
            JournalRecordKind::Commit { .. } => 0,
            JournalRecordKind::Extents { count, .. } => count * EXTENT_BYTES,
            JournalRecordKind::Unlinked { count } => count * ADDRESS_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take<'a>(chain: &mut JournalChain, bytes: &'a [u8]) -> Result<(JournalRecordKind, JournalBody<'a>)> {
        let record = JournalRecord::decode(bytes)?;
        let (head, rest) = bytes.split_at(JournalRecord::SIZE);
        let rest = &rest[..usize::try_from(record.body_size()).unwrap().min(rest.len())];
        Ok((record.kind, chain.accept(&record, head, rest)?))
    }

    #[test]
    fn a_header_comes_back() {
        let header = JournalHeader::new(7);
        let bytes = header.encode().unwrap();
        assert_eq!(bytes.len(), JournalHeader::SIZE);
        assert_eq!(JournalHeader::decode(&bytes).unwrap(), header);
        for place in 0..48 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert!(JournalHeader::decode(&damaged).is_err(), "{place}");
        }
    }

    #[test]
    fn headers_of_version_0_are_read_and_not_written() {
        let header = JournalHeader { version: 0, sequence: 7 };
        assert!(header.encode().is_err());
        let mut bytes = JournalHeader::new(7).encode().unwrap();
        bytes[8] = 0;
        bytes[24..40].copy_from_slice(b"0123456789abcdef");
        let sum = header_sum(7, &bytes[..40]);
        bytes[40..48].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(JournalHeader::decode(&bytes).unwrap(), header);
        assert_eq!(header.sums().of(512, b"x"), xxhash3_64::Hasher::oneshot_with_seed(7, b"x"));
    }

    #[test]
    fn the_sum_of_an_extent_depends_on_the_place_of_each_sector() {
        let sums = SectorSums::CURRENT;
        let mut bytes = vec![0; 2048];
        bytes[512] = 1;
        let total = sums.total(4096, &bytes);
        assert_eq!(total, sums.each(4096, &bytes).into_iter().fold(0, u64::wrapping_add));
        bytes.swap(512, 0);
        assert_ne!(total, sums.total(4096, &bytes), "sectors that changed places");
        assert_ne!(total, sums.total(4608, &bytes));
        assert_eq!(sums.each(500, &bytes[..100]).len(), 2);
    }

    #[test]
    fn more_entries_than_a_record_holds_are_refused() {
        let extent = JournalExtent { offset: 1, length: 2, sum: 3 };
        let mut chain = JournalChain::new(JournalHeader::new(1));
        assert!(chain.extents(0, &vec![extent; MAX_ENTRIES + 1]).is_err());
        assert!(chain.unlinked(&vec![1; MAX_ENTRIES + 1]).is_err());
        assert!(chain.extents(0, &vec![extent; MAX_ENTRIES]).is_ok());
        let mut bytes = chain.unlinked(&[5]).unwrap();
        bytes[16..24].copy_from_slice(&(MAX_ENTRIES as u64 + 1).to_le_bytes());
        assert!(JournalRecord::decode(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn records_come_back(
            offset in 0_u64..5000,
            bytes in prop::collection::vec(any::<(u8, u8)>(), 1..3000),
            extents in prop::collection::vec((0..u64::MAX / 2, 1..u64::MAX / 2, any::<u64>()), 0..9),
            unlinked in prop::collection::vec(any::<u64>(), 0..9),
            damage in any::<prop::sample::Index>(),
            sequence in any::<u64>(),
        ) {
            let (old, new): (Vec<u8>, Vec<u8>) = bytes.into_iter().unzip();
            let extents: Vec<_> =
                extents.into_iter().map(|(offset, length, sum)| JournalExtent { offset, length, sum }).collect();
            let header = JournalHeader::new(sequence);
            let mut chain = JournalChain::new(header);
            let first = chain.bytes(offset, &old, &new).unwrap();
            let second = chain.bytes(1, b"x", b"y").unwrap();
            let third = chain.extents(77, &extents).unwrap();
            let fourth = chain.unlinked(&unlinked).unwrap();
            let last = chain.commit(9000).unwrap();
            let mut reading = JournalChain::new(header);
            let (kind, body) = take(&mut reading, &first).unwrap();
            prop_assert_eq!(kind, JournalRecordKind::Bytes { offset, length: new.len() as u64 });
            let sums = SectorSums::CURRENT.each(offset, &old);
            prop_assert_eq!(body, JournalBody::Bytes { sums, bytes: &new });
            let mut early = reading;
            prop_assert!(take(&mut early, &last).is_err());
            take(&mut reading, &second).unwrap();
            let mut again = reading;
            prop_assert!(take(&mut again, &second).is_err());
            let (kind, body) = take(&mut reading, &third).unwrap();
            let count = extents.len() as u64;
            prop_assert_eq!(kind, JournalRecordKind::Extents { synced_length: 77, count });
            prop_assert_eq!(body, JournalBody::Extents(extents));
            let (_, body) = take(&mut reading, &fourth).unwrap();
            prop_assert_eq!(body, JournalBody::Unlinked(unlinked));
            let (kind, body) = take(&mut reading, &last).unwrap();
            prop_assert_eq!(kind, JournalRecordKind::Commit { file_length: 9000, records: 4 });
            prop_assert_eq!(body, JournalBody::Commit);
            let mut damaged = first.clone();
            *damage.get_mut(&mut damaged) ^= 0x10;
            prop_assert!(take(&mut JournalChain::new(header), &damaged).is_err());
            prop_assert!(take(&mut JournalChain::new(JournalHeader::new(sequence ^ 1)), &first).is_err());
        }
    }
}
