//! The search for the superblock of a file, and the checks of its contents.

use hyperslab_exact::to_usize;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::superblock::{ConsistencyFlags, Superblock};
use hyperslab_vfd::Driver;

use super::bytes::count_before;
use super::other_formats::resembles;
use crate::error::{Error, Result};

/// Finds the superblock at the offset 0, 512, 1024, 2048, …. Returns the superblock and its offset.
/// File addresses count from this offset, even if the superblock states another base address,
/// because a program may have inserted a user block later. libhdf5 does the same.
pub(super) fn find_superblock(driver: &dyn Driver, length: u64) -> Result<(u64, Superblock)> {
    let mut offset = 0_u64;
    let mut first_bytes = Vec::new();
    while length.checked_sub(offset).is_some_and(|rest| rest >= 8) {
        let available = (length - offset).min(Superblock::MAX_SIZE as u64);
        let mut bytes = vec![0; to_usize(available)?];
        driver
            .read_at(offset, &mut bytes)
            .map_err(|source| Error::Io { action: "cannot read the superblock".into(), source })?;
        if bytes.starts_with(&Superblock::SIGNATURE) {
            let superblock = Superblock::decode(&bytes);
            let superblock = superblock.map_err(|error| Error::from(error.at(Address::new(offset))))?;
            return Ok((offset, superblock));
        }
        if offset == 0 {
            first_bytes = bytes;
        }
        offset = if offset == 0 { 512 } else { offset * 2 };
    }
    if length < 8 {
        first_bytes.resize(to_usize(length)?, 0);
        driver
            .read_at(0, &mut first_bytes)
            .map_err(|source| Error::Io { action: "cannot read the superblock".into(), source })?;
    }
    Err(Error::NotHdf5 { resembles: resembles(&first_bytes) })
}

/// Returns a substitute for a damaged superblock. If only the checksum is wrong, the substitute has
/// the contents of the superblock. Otherwise, it has the usual widths and no root group.
pub(super) fn guess_superblock(driver: &dyn Driver, length: u64) -> Superblock {
    let mut bytes = vec![0; count_before(length, 0, Superblock::MAX_SIZE)];
    if driver.read_at(0, &mut bytes).is_ok()
        && let Some(superblock) = Superblock::decode_ignoring_checksum(&bytes)
        && check_widths(&superblock).is_ok()
        && superblock.root().get().is_some_and(|root| root < length)
    {
        return superblock;
    }
    Superblock::unknown(FileParams::DEFAULT, length)
}

/// Checks that the superblock states widths of at most 8 bytes for offsets and lengths.
pub(super) fn check_widths(superblock: &Superblock) -> Result<()> {
    let params = superblock.params;
    if params.size_of_offsets > 8 || params.size_of_lengths > 8 {
        return Err(Error::unsupported(format!(
            "superblock: offsets of {} and lengths of {} bytes",
            params.size_of_offsets, params.size_of_lengths
        )));
    }
    Ok(())
}

/// Checks that no active writer is named by the status flags of a superblock. If `swmr_read` is
/// true, a SWMR writer is permitted.
pub(super) fn check_status_flags(superblock: &Superblock, swmr_read: bool) -> Result<()> {
    if superblock.version_number() < 3 || !superblock.consistency.contains(ConsistencyFlags::WRITE_ACCESS) {
        return Ok(());
    }
    let swmr = has_swmr_writer(superblock);
    if swmr && swmr_read {
        return Ok(());
    }
    let hint = if swmr { "a SWMR writer; open it for SWMR reading" } else { "another program" };
    Err(Error::Misuse(format!(
        "the file is marked as open for writing by {hint}. If no program writes to it any more, `hyperslab recover` clears \
         the mark, and `OpenOptions::ignore_status_flags` ignores the mark"
    )))
}

/// Returns whether the status flags of a superblock name an active SWMR writer.
pub(super) fn has_swmr_writer(superblock: &Superblock) -> bool {
    superblock.version_number() >= 3 && superblock.consistency.contains(ConsistencyFlags::SWMR_ACCESS)
}

/// Checks that the file is not shorter than its superblock states.
pub(super) fn check_length(
    driver: &dyn Driver,
    superblock: &Superblock,
    base: u64,
    length: u64,
) -> Result<()> {
    let Some(end) = stated_end(superblock, base) else {
        return Err(Error::corrupt("superblock", "end of file address", "a defined address", "undefined"));
    };
    if end > length {
        let subject = if driver.kind().is_one_file() {
            "the file is truncated (`hyperslab recover` copies its readable objects)".to_owned()
        } else {
            format!("`{}` is missing or truncated", driver.name_at(length))
        };
        return Err(Error::corrupt(
            "file",
            "length",
            format!("{end} bytes, as the superblock states"),
            format_args!("{length}: {subject}"),
        ));
    }
    Ok(())
}

/// Returns the length of the HDF5 file that the superblock states, without the user block. The
/// stored end counts from the start of the file. The length is therefore the stored end minus the
/// stored base address.
pub(super) fn stated_length(superblock: &Superblock) -> Option<u64> {
    let end = superblock.end_of_file.get()?;
    // Saturates: a damaged superblock may state an end before the base address.
    Some(end.saturating_sub(superblock.base_address))
}

/// Returns the end of the file that the superblock states, as an offset from the start of the file.
pub(super) fn stated_end(superblock: &Superblock, base: u64) -> Option<u64> {
    // Saturates: the largest offset is also past the end of every file.
    Some(stated_length(superblock)?.saturating_add(base))
}

/// Returns the end of the file as the superblock stores it, for an HDF5 file of `length` bytes
/// without the user block.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the end exceeds 64 bits.
pub(super) fn stored_end(superblock: &Superblock, length: u64) -> Result<Address> {
    Address::new(length).checked_add(superblock.base_address).ok_or_else(|| {
        let expected = "an end of the file within 64 bits";
        Error::corrupt("superblock", "base address", expected, superblock.base_address)
    })
}

/// Returns the limit of addresses in a file. The limit is the undefined address, in which all bits
/// are set.
pub(super) fn address_limit(params: FileParams) -> u64 {
    match params.size_of_offsets {
        bytes @ 1..8 => (1 << (u32::from(bytes) * 8)) - 1,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_limit_has_the_width_of_offsets() {
        let limit = |size_of_offsets| address_limit(FileParams { size_of_offsets, ..FileParams::DEFAULT });
        assert_eq!((limit(2), limit(4), limit(8)), (0xffff, 0xffff_ffff, u64::MAX));
    }
}
