//! Checksums made right again, without which damage would never get past the first check.

use hyperslab_format::codec::checksum;

/// Puts the checksum of everything before it into the last four bytes.
pub fn seal(bytes: &mut [u8]) {
    if let Some((content, place)) = bytes.split_last_chunk_mut::<4>() {
        *place = checksum(content).to_le_bytes();
    }
}

/// As [`seal`], where the structure takes only the first `used` bytes of its block.
pub fn seal_used(bytes: &mut [u8], used: usize) {
    if let Some(bytes) = bytes.get_mut(..used) {
        seal(bytes);
    }
}

/// For blocks whose checksum lies in the middle of what it covers, and counts as zeros there.
pub fn seal_within(bytes: &mut [u8], at: usize) {
    let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) else { return };
    *place = [0; 4];
    let sum = checksum(bytes).to_le_bytes();
    bytes[at..at + 4].copy_from_slice(&sum);
}
