//! The names that a shared library for Linux defines and uses.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Architecture, Endianness, Object as _, ObjectSymbol as _};

/// The first bytes of a shared library with 64 bits.
const MAGIC: &[u8] = b"\x7fELF\x02";

/// The dynamic symbols of a shared library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Symbols {
    pub(super) defined: BTreeSet<String>,
    pub(super) used: BTreeSet<String>,
    /// The processor.
    pub(super) machine: Architecture,
}

/// Returns true if a file is of the format.
pub(super) fn is_library(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Symbols {
    /// Reads the symbols of a file.
    pub(super) fn of(bytes: &[u8]) -> Result<Self> {
        let file = ElfFile::<FileHeader64<Endianness>>::parse(bytes);
        let file = file.context("the file is not a shared library for 64-bit Linux")?;
        let mut symbols =
            Self { defined: BTreeSet::new(), used: BTreeSet::new(), machine: file.architecture() };
        for symbol in file.dynamic_symbols() {
            let name = symbol.name().context("a name is outside the file")?.to_owned();
            if symbol.is_undefined() { &mut symbols.used } else { &mut symbols.defined }.insert(name);
        }
        ensure!(!symbols.defined.is_empty() || !symbols.used.is_empty(), "the library has no symbols");
        Ok(symbols)
    }
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
