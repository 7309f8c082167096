//! The names that a shared library of a 64-bit little-endian system defines and uses.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use hyperslab_exact::to_usize;

/// The first bytes of a shared library: the format, 64 bits, little-endian.
const MAGIC: &[u8] = b"\x7fELF\x02\x01";
/// The offset of the machine in the header of the file.
const MACHINE: usize = 18;
/// The kind of the section with the dynamic symbols.
const DYNAMIC_SYMBOLS: u64 = 11;
/// The size of an entry of the table of symbols.
const SYMBOL_BYTES: usize = 24;

/// The dynamic symbols of a shared library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Symbols {
    pub(super) defined: BTreeSet<String>,
    pub(super) used: BTreeSet<String>,
    /// The number of the processor.
    pub(super) machine: u64,
}

/// Returns true if a file is of the format.
pub(super) fn is_library(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Symbols {
    /// Reads the symbols of a file.
    pub(super) fn of(bytes: &[u8]) -> Result<Self> {
        ensure!(is_library(bytes), "the file is not a shared library for 64-bit Linux");
        let (table, entry_size, count) =
            (number(bytes, 40, 8)?, number(bytes, 58, 2)?, number(bytes, 60, 2)?);
        let section = |index: u64| {
            let start = index.checked_mul(entry_size).and_then(|offset| offset.checked_add(table));
            to_usize(start.context("a section is outside the file")?).context("a section is outside the file")
        };
        let mut symbols =
            Self { defined: BTreeSet::new(), used: BTreeSet::new(), machine: number(bytes, MACHINE, 2)? };
        for index in 0..count {
            let at = section(index)?;
            if number(bytes, offset(at, 4)?, 4)? == DYNAMIC_SYMBOLS {
                let texts = section(number(bytes, offset(at, 40)?, 4)?)?;
                symbols.add(part(bytes, at)?, part(bytes, texts)?)?;
            }
        }
        ensure!(!symbols.defined.is_empty() || !symbols.used.is_empty(), "the library has no symbols");
        Ok(symbols)
    }

    /// Adds the symbols of a table with its texts.
    fn add(&mut self, table: &[u8], texts: &[u8]) -> Result<()> {
        // The first entry is empty.
        for entry in table.chunks_exact(SYMBOL_BYTES).skip(1) {
            let start = to_usize(number(entry, 0, 4)?).context("a name is outside the file")?;
            let name = texts.get(start..).context("a name is outside the file")?;
            let name = name.split(|byte| *byte == 0).next().context("a name has no end")?;
            let names = if number(entry, 6, 2)? == 0 { &mut self.used } else { &mut self.defined };
            names.insert(String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }
}

/// Returns the bytes of the section whose header is at an offset.
fn part(bytes: &[u8], header: usize) -> Result<&[u8]> {
    let field = |at| -> Result<usize> {
        to_usize(number(bytes, offset(header, at)?, 8)?).context("a section is outside the file")
    };
    let (start, size) = (field(24)?, field(32)?);
    let end = offset(start, size)?;
    bytes.get(start..end).context("a section is outside the file")
}

fn offset(start: usize, more: usize) -> Result<usize> {
    start.checked_add(more).context("an offset is outside the file")
}

/// Returns the little-endian number of `size` bytes at an offset.
fn number(bytes: &[u8], start: usize, size: usize) -> Result<u64> {
    let end = offset(start, size)?;
    let digits = bytes.get(start..end).context("the file is cut off")?;
    Ok(digits.iter().rev().fold(0, |number, digit| number << 8 | u64::from(*digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbols_of_this_program_have_names_and_cut_files_are_errors() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        if !is_library(&bytes) {
            return;
        }
        let symbols = Symbols::of(&bytes).unwrap();
        assert!(symbols.used.iter().any(|name| name == "malloc" || name == "memcpy"), "{symbols:?}");
        for end in [0, 5, 6, 40, 63, 64, 1000] {
            assert!(Symbols::of(&bytes[..end]).is_err(), "{end}");
        }
        let mut wrong = bytes;
        wrong[40..48].fill(0xff);
        assert!(Symbols::of(&wrong).is_err());
    }
}
