//! Checksum at the end of a structured chunk's section.
//!
//! A section that the layout message lists as a section with metadata ends with the checksum of the
//! preceding bytes (4 bytes), unless the section is empty. Filters encode the section including the
//! checksum.

use crate::codec::{FormatError, Result, checksum};

const CHECKSUM_BYTES: usize = 4;

/// Appends the checksum to the bytes of a structured chunk's section. An empty section has no
/// checksum.
pub fn seal_section(contents: &mut Vec<u8>) {
    if !contents.is_empty() {
        let sum = checksum(contents);
        contents.extend_from_slice(&sum.to_le_bytes());
    }
}

/// Verifies the checksum of the section `number` of a structured chunk. Returns the bytes without
/// the checksum.
///
/// # Errors
/// Returns [`FormatError::Corrupt`] if the section is too short for a checksum, or if the checksum
/// does not match.
pub fn open_section(section: &[u8], number: usize) -> Result<&[u8]> {
    const NAMES: [&str; 3] =
        ["structured chunk section 0", "structured chunk section 1", "structured chunk section 2"];
    let name = NAMES.get(number).copied().unwrap_or("structured chunk section");
    if section.is_empty() {
        return Ok(section);
    }
    let Some((contents, stored)) = section.split_last_chunk::<CHECKSUM_BYTES>() else {
        let got = format_args!("{} bytes", section.len());
        return Err(FormatError::corrupt(name, "checksum", "4 bytes at the end", got));
    };
    let (stored, expected) = (u32::from_le_bytes(*stored), checksum(contents));
    if stored == expected {
        return Ok(contents);
    }
    Err(FormatError::corrupt(name, "checksum", format!("{expected:#010x}"), format_args!("{stored:#010x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_sections_open() {
        let mut section = b"contents".to_vec();
        seal_section(&mut section);
        assert_eq!(section.len(), 12);
        assert_eq!(open_section(&section, 0).unwrap(), b"contents");
        section[3] ^= 1;
        assert!(open_section(&section, 0).unwrap_err().to_string().contains("section 0"));
        assert!(open_section(&section[..3], 2).is_err());
        let mut empty = Vec::new();
        seal_section(&mut empty);
        assert!(empty.is_empty() && open_section(&empty, 1).unwrap().is_empty());
        // A section that consists of the checksum of no bytes, as some writers store it.
        assert!(open_section(&checksum(b"").to_le_bytes(), 1).unwrap().is_empty());
    }
}
