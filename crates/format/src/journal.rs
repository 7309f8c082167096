//! The journal of a file that is written: the in-place changes of commits, and what proves that the journal belongs to the file
//! (`docs/journal.md`). The journal lies in a file of its own; the HDF5 format knows nothing of it.
//!
//! ```text
//! header, 64 bytes               record, 32 bytes and what follows
//! byte  0   signature            byte  0   kind (4)          1 bytes, 2 commit, 3 extents, 4 unlinked objects
//!       8   version 1                  4   number of sector sums (4); 0 but for kind 1
//!       9   zeros (7)                  8   1: offset in the file; 2: file length after the commit; 3: synced length; 4: 0 (8)
//!      16   sequence number (8)       16   1: bytes; 2: records before; 3: extents; 4: objects (8)
//!      24   zeros (16)                24   checksum (8)
//!      40   checksum (8)              32   1: sum of each sector before the change (8 each), then the new bytes
//!      48   zeros (16)                     3: offset, length and sum of each extent (24 each)
//!                                          4: address of each object header (8 each)
//! ```
//!
//! Integers are little-endian. All sums are XXH3 of 64 bits. The seed of a record's checksum is the checksum of the record before it
//! (the sequence number for the first record), so that a record of an earlier journal in the same place does not belong to the chain.
//! The sum of a sector depends on the sector's offset, and sums of neighbouring sectors are added up, so that the sum of an extent
//! without one of its sectors is known.
//!
//! Version 0 has no records of kind 3 and 4. Its header holds an identifier of the system's start at byte 24 and a commit's end at byte
//! 48, which nothing reads any more; the sums of its sectors are seeded by the sequence number.

use std::hash::Hasher as _;

use twox_hash::xxhash3_64;

use crate::codec::{FormatError, Reader, Result, Writer};

const HEADER_NAME: &str = "journal header";
const RECORD_NAME: &str = "journal record";
const VERSION: u8 = 1;
const BYTES: u32 = 1;
const COMMIT: u32 = 2;
const EXTENTS: u32 = 3;
const UNLINKED: u32 = 4;

/// Bytes that a disk writes wholly or not at all.
pub const SECTOR: u64 = SECTOR_BYTES as u64;
/// The same, as a length in memory.
pub const SECTOR_BYTES: usize = 512;

/// The most bytes that one record brings.
pub const MAX_RECORD: u64 = 1 << 20;

/// The most extents, or unlinked objects, in one record.
pub const MAX_ENTRIES: usize = 1 << 15;

/// Bytes of one extent in a record.
const EXTENT_SIZE: u64 = 24;

/// Bytes of the address of an unlinked object in a record.
const ADDRESS_SIZE: u64 = 8;

/// The sums of sectors in a journal of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectorSums {
    /// The sequence number, in journals of version 0.
    seed: Option<u64>,
}

impl SectorSums {
    /// The sums of journals that are written.
    pub const CURRENT: Self = Self { seed: None };

    /// Returns the sum of a sector, or of its first bytes, at an offset of the file.
    pub fn of(self, offset: u64, sector: &[u8]) -> u64 {
        match self.seed {
            Some(seed) => xxhash3_64::Hasher::oneshot_with_seed(seed, sector),
            None => scramble(xxhash3_64::Hasher::oneshot(sector) ^ scramble(offset)),
        }
    }

    /// Returns the sums of each sector of bytes at an offset of the file.
    pub fn each(self, offset: u64, bytes: &[u8]) -> Vec<u64> {
        let mut at = offset;
        let sum = |sector: &[u8]| {
            let sum = self.of(at, sector);
            at += sector.len() as u64;
            sum
        };
        sectors(offset, bytes).map(sum).collect()
    }

    /// Returns the sum of an extent: the sums of its sectors added up, modulo 2^64.
    pub fn total(self, offset: u64, bytes: &[u8]) -> u64 {
        let mut at = offset;
        sectors(offset, bytes).fold(0_u64, |total, sector| {
            let sum = self.of(at, sector);
            at += sector.len() as u64;
            total.wrapping_add(sum)
        })
    }
}

/// Mixes the bits of a number so that each bit of the result depends on all of them.
fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ (value >> 32)
}

/// Returns the sectors of bytes at an offset of the file: the first and the last may be shorter.
pub fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let first = SECTOR_BYTES - (offset % SECTOR) as usize;
    let (head, rest) = bytes.split_at(first.min(bytes.len()));
    let head = Some(head).filter(|head| !head.is_empty());
    head.into_iter().chain(rest.chunks(SECTOR_BYTES))
}

/// Returns the number of sectors that bytes at an offset touch.
fn sector_count(offset: u64, length: u64) -> u64 {
    if length == 0 { 0 } else { (offset + length).div_ceil(SECTOR) - offset / SECTOR }
}

/// The first 64 bytes of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalHeader {
    /// The version of the journal's format: 0 or 1.
    pub version: u8,
    /// The number that tells one journal from those before it.
    pub sequence: u64,
}

impl JournalHeader {
    /// The first bytes of every journal.
    pub const SIGNATURE: [u8; 8] = *b"\x89HSJ\r\n\x1a\n";
    /// Bytes of the header.
    pub const SIZE: usize = 64;

    /// Returns the header of a new journal.
    pub fn new(sequence: u64) -> Self {
        Self { version: VERSION, sequence }
    }

    /// Returns the sums of sectors in this journal.
    pub fn sums(&self) -> SectorSums {
        SectorSums { seed: (self.version == 0).then_some(self.sequence) }
    }

    /// Encodes the header.
    ///
    /// # Errors
    /// [`FormatError`] if the version is not the one that is written.
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

    /// Decodes the header at the beginning of `bytes`.
    ///
    /// # Errors
    /// [`FormatError`] if there is none, or one of an unknown version.
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

/// New space that a commit relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalExtent {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of it.
    pub length: u64,
    /// The sum of its bytes ([`SectorSums::total`]).
    pub sum: u64,
}

/// The first 32 bytes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRecord {
    /// The kind, with the numbers that belong to it.
    pub kind: JournalRecordKind,
    checksum: u64,
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalRecordKind {
    /// Bytes that the commit writes into the file.
    Bytes {
        /// Their offset in the file.
        offset: u64,
        /// Their number.
        length: u64,
    },
    /// The end of a commit: all its records stand before this one.
    Commit {
        /// Bytes of the file after the commit.
        file_length: u64,
        /// Records before this one.
        records: u64,
    },
    /// New space that the commit relies on.
    Extents {
        /// The length below which the file was never cut since the disk had it.
        synced_length: u64,
        /// Number of extents in this record.
        count: u64,
    },
    /// Object headers with a link count of 0 that programs held open at the commit.
    Unlinked {
        /// Number of addresses in this record.
        count: u64,
    },
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalBody<'a> {
    /// New bytes, with the sums of the sectors before the change.
    Bytes {
        /// One sum for each sector that the bytes touch.
        sums: Vec<u64>,
        /// The bytes after the change.
        bytes: &'a [u8],
    },
    /// The end of a commit.
    Commit,
    /// New space.
    Extents(Vec<JournalExtent>),
    /// Addresses of object headers.
    Unlinked(Vec<u64>),
}

/// The state that the records before leave behind: the number of records and the checksum of the last one.
#[derive(Debug, Clone, Copy)]
pub struct JournalChain {
    sums: SectorSums,
    records: u64,
    /// The checksum of the record before, which is the seed of the next.
    last: u64,
}

impl JournalChain {
    /// Returns the chain of a journal without records.
    pub fn new(header: JournalHeader) -> Self {
        Self { sums: header.sums(), records: 0, last: header.sequence }
    }

    /// Returns the number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn add(&mut self, checksum: u64) {
        self.records += 1;
        self.last = checksum;
    }

    /// Encodes the record that changes `old` to `new` at `offset`.
    ///
    /// # Errors
    /// [`FormatError`] if there are more than [`MAX_RECORD`] bytes, or none, or if `old` and `new` differ in length.
    pub fn bytes(&mut self, offset: u64, old: &[u8], new: &[u8]) -> Result<Vec<u8>> {
        let sums = self.sums.each(offset, old);
        let mut writer = Writer::with_capacity(RECORD_NAME, new.len() + 64);
        let length = new.len() as u64;
        writer.u32(BYTES);
        writer.narrow_u32(sums.len(), "number of sums");
        if length > MAX_RECORD || length == 0 || old.len() != new.len() {
            writer.fail("bytes", length);
        }
        writer.u64(offset);
        writer.u64(length);
        let mut rest = Writer::with_capacity(RECORD_NAME, new.len() + 64);
        sums.into_iter().for_each(|sum| rest.u64(sum));
        rest.bytes(new);
        self.seal(writer, &rest.finish()?)
    }

    /// Encodes the record of new space that a commit relies on. A commit with more than [`MAX_ENTRIES`] extents has several of these
    /// records.
    ///
    /// # Errors
    /// [`FormatError`] if there are more than [`MAX_ENTRIES`] extents.
    pub fn extents(&mut self, synced_length: u64, extents: &[JournalExtent]) -> Result<Vec<u8>> {
        let mut rest = Writer::new(RECORD_NAME);
        for extent in extents {
            rest.u64(extent.offset);
            rest.u64(extent.length);
            rest.u64(extent.sum);
        }
        let head = Self::head_of_entries(EXTENTS, synced_length, extents.len());
        self.seal(head, &rest.finish()?)
    }

    /// Encodes the record of objects without links that programs hold open.
    ///
    /// # Errors
    /// [`FormatError`] if there are more than [`MAX_ENTRIES`] addresses.
    pub fn unlinked(&mut self, addresses: &[u64]) -> Result<Vec<u8>> {
        let mut rest = Writer::new(RECORD_NAME);
        addresses.iter().for_each(|address| rest.u64(*address));
        let head = Self::head_of_entries(UNLINKED, 0, addresses.len());
        self.seal(head, &rest.finish()?)
    }

    fn head_of_entries(kind: u32, first: u64, count: usize) -> Writer {
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

    /// Encodes the record that ends a commit.
    ///
    /// # Errors
    /// [`FormatError`] if memory cannot hold the record.
    pub fn commit(&mut self, file_length: u64) -> Result<Vec<u8>> {
        let mut writer = Writer::new(RECORD_NAME);
        writer.u32(COMMIT);
        writer.u32(0);
        writer.u64(file_length);
        writer.u64(self.records);
        self.seal(writer, &[])
    }

    /// Puts the checksum behind the head of a record, and the rest behind the checksum.
    fn seal(&mut self, head: Writer, rest: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = head.finish()?;
        let checksum = self.checksum(&bytes, rest);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(rest);
        self.add(checksum);
        Ok(bytes)
    }

    /// Returns the checksum of a record, which depends on all records before.
    fn checksum(&self, head: &[u8], rest: &[u8]) -> u64 {
        let mut hasher = xxhash3_64::Hasher::with_seed(self.last);
        hasher.write(head);
        hasher.write(rest);
        hasher.finish()
    }

    /// Verifies the next record, whose bytes behind the head are `rest`, and decodes its content.
    ///
    /// # Errors
    /// [`FormatError`] if the record does not belong here.
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
        return Err(reader.corrupt("length of an extent", "1 byte or more, below 2^64", length));
    }
    Ok(JournalExtent { offset, length, sum: reader.u64("sum of an extent")? })
}

impl JournalRecord {
    /// Bytes of the head.
    pub const SIZE: usize = 32;

    /// Decodes the first [`SIZE`](Self::SIZE) bytes of a record. [`JournalChain::accept`] verifies the record.
    ///
    /// # Errors
    /// [`FormatError`] if the bytes cannot be the head of a record.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(RECORD_NAME, bytes);
        let kind = reader.u32("kind")?;
        let sums = u64::from(reader.u32("number of sums")?);
        let (first, second) = (reader.u64("offset")?, reader.u64("bytes")?);
        let checksum = reader.u64("checksum")?;
        let wrong = |field, expected: &str, got: u64| -> FormatError {
            FormatError::corrupt(RECORD_NAME, field, expected, got)
        };
        let kind = match kind {
            BYTES => {
                let (offset, length) = (first, second);
                if length == 0 || length > MAX_RECORD || offset.checked_add(length).is_none() {
                    return Err(wrong("bytes", "1 to 1 MiB", length));
                }
                if sums != sector_count(offset, length) {
                    return Err(wrong("number of sums", "one for each sector", sums));
                }
                JournalRecordKind::Bytes { offset, length }
            }
            COMMIT if sums == 0 => JournalRecordKind::Commit { file_length: first, records: second },
            EXTENTS | UNLINKED if second > MAX_ENTRIES as u64 => {
                return Err(wrong("entries", "32768 at most", second));
            }
            EXTENTS if sums == 0 => JournalRecordKind::Extents { synced_length: first, count: second },
            UNLINKED if sums == 0 && first == 0 => JournalRecordKind::Unlinked { count: second },
            _ => return Err(wrong("kind", "1 to 4", u64::from(kind))),
        };
        Ok(Self { kind, checksum })
    }

    /// Returns the number of sums before the bytes.
    fn sums(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { offset, length } => sector_count(offset, length),
            _ => 0,
        }
    }

    /// Returns the number of bytes between the head and the new bytes of the file.
    pub fn bytes_of_sums(&self) -> u64 {
        self.sums() * 8
    }

    /// Returns the number of bytes behind the head.
    pub fn rest(&self) -> u64 {
        match self.kind {
            JournalRecordKind::Bytes { length, .. } => self.bytes_of_sums() + length,
            JournalRecordKind::Commit { .. } => 0,
            JournalRecordKind::Extents { count, .. } => count * EXTENT_SIZE,
            JournalRecordKind::Unlinked { count } => count * ADDRESS_SIZE,
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
        let rest = &rest[..usize::try_from(record.rest()).unwrap().min(rest.len())];
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
        let there = sums.total(4096, &bytes);
        assert_eq!(there, sums.each(4096, &bytes).into_iter().fold(0, u64::wrapping_add));
        bytes.swap(512, 0);
        assert_ne!(there, sums.total(4096, &bytes), "sectors that changed places");
        assert_ne!(there, sums.total(4608, &bytes));
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
