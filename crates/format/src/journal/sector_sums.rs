//! Sectors of a file, and the checksums of sectors in a journal.

use twox_hash::xxhash3_64;

/// Size in bytes of a sector of the file. A disk writes a sector completely or not at all.
pub const SECTOR: u64 = SECTOR_BYTES as u64;
/// Size in bytes of a sector of the file, as a `usize`, for the checksums of a journal.
pub const SECTOR_BYTES: usize = 512;

/// The function by which a journal computes checksums of the file's sectors. It depends on the
/// version of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectorSums {
    /// Seed of the checksums: the sequence number in journals of version 0.
    pub(super) seed: Option<u64>,
}

impl SectorSums {
    /// The current checksum function for sectors of the file. New journals use this function.
    pub const CURRENT: Self = Self { seed: None };

    /// Returns the journal's checksum of a sector, or of the beginning of a sector. The sector is
    /// at `offset` of the file.
    pub fn of(self, offset: u64, sector: &[u8]) -> u64 {
        match self.seed {
            Some(seed) => xxhash3_64::Hasher::oneshot_with_seed(seed, sector),
            None => scramble(xxhash3_64::Hasher::oneshot(sector) ^ scramble(offset)),
        }
    }

    /// Returns the journal's checksums of the sectors of `bytes`. The bytes are at `offset` of the
    /// file.
    pub fn each(self, offset: u64, bytes: &[u8]) -> Vec<u64> {
        let mut at = offset;
        let sum = |sector: &[u8]| {
            let sum = self.of(at, sector);
            at += sector.len() as u64;
            sum
        };
        sectors(offset, bytes).map(sum).collect()
    }

    /// Returns the journal's checksum of a range of bytes at `offset` of the file. This is the sum
    /// of the checksums of all sectors, with wrapping.
    pub fn total(self, offset: u64, bytes: &[u8]) -> u64 {
        let mut at = offset;
        sectors(offset, bytes).fold(0_u64, |total, sector| {
            let sum = self.of(at, sector);
            at += sector.len() as u64;
            total.wrapping_add(sum)
        })
    }
}

/// Mixes the bits of a number for the sector checksums of the journal. Each bit of the result
/// depends on all bits of the number.
fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ (value >> 32)
}

/// Splits `bytes` at the boundaries of disk sectors. The bytes are at `offset` of the file. The
/// first and the last piece may be shorter than a sector.
pub fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let first = SECTOR_BYTES - (offset % SECTOR) as usize;
    let (head, rest) = bytes.split_at(first.min(bytes.len()));
    let head = Some(head).filter(|head| !head.is_empty());
    head.into_iter().chain(rest.chunks(SECTOR_BYTES))
}

/// Returns the number of disk sectors that overlap a range of the file. The range has `length`
/// bytes and starts at `offset`.
pub(super) fn sector_count(offset: u64, length: u64) -> u64 {
    if length == 0 { 0 } else { (offset + length).div_ceil(SECTOR) - offset / SECTOR }
}
