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

/// Bytes before a change in which a structure that holds it may begin.
const WINDOW: usize = 4096;

/// Makes the checksums right again of all structures of a file that a change at `at` may have hit: those that begin
/// with a signature within a window before it and were right in `before`, or say their own length.
pub fn seal_around(before: &[u8], after: &mut [u8], at: usize) {
    for start in (at.saturating_sub(WINDOW)..=at).rev() {
        let Some(signature) = after.get(start..).and_then(|bytes| bytes.first_chunk::<4>()) else { continue };
        let length = match signature {
            b"\x89HDF" => superblock_length(&after[start..]),
            b"OHDR" => header_length(&after[start..]),
            b"FHDB" => {
                seal_direct_block(before, after, start);
                continue;
            }
            b"BTHD" | b"FRHP" | b"FAHD" | b"EAHD" | b"FSHD" | b"BTLF" | b"BTIN" | b"FHIB" | b"FADB"
            | b"EAIB" | b"EASB" | b"EADB" | b"FSSE" | b"OCHK" | b"SMTB" | b"SMLI" => {
                before.get(start..).and_then(sealed_length)
            }
            _ => continue,
        };
        let end = length.and_then(|length| start.checked_add(length));
        if let Some(block) = end.and_then(|end| after.get_mut(start..end)) {
            seal(block);
        }
    }
}

fn superblock_length(bytes: &[u8]) -> Option<usize> {
    let width = usize::from(*bytes.get(9)?);
    matches!(bytes.get(8)?, 2 | 3).then_some(12 + 4 * width + 4)
}

fn header_length(bytes: &[u8]) -> Option<usize> {
    let prefix = hyperslab_format::object_header::PrefixV2::decode(bytes).ok()?;
    usize::try_from(prefix.chunk0_total()?).ok()
}

/// The first length at which the bytes before the change were sealed.
fn sealed_length(bytes: &[u8]) -> Option<usize> {
    (12..=bytes.len().min(WINDOW)).find(|length| {
        let (content, place) = bytes.split_at(length - 4);
        checksum(content).to_le_bytes() == place[..4]
    })
}

/// Direct blocks of heaps have their checksum behind an offset of four or five bytes, and a power of two of bytes.
fn seal_direct_block(before: &[u8], after: &mut [u8], start: usize) {
    for (bits, at) in (9..17).flat_map(|bits| [(bits, 17), (bits, 18)]) {
        let range = start..start + (1 << bits);
        let Some(was) = before.get(range.clone()) else { return };
        let mut sealed = was.to_vec();
        seal_within(&mut sealed, at);
        if sealed == was {
            if let Some(block) = after.get_mut(range) {
                seal_within(block, at);
            }
            return;
        }
    }
}
