//! hyperslab's library: its file, and the names that it exports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::elf::Symbols;

/// A text that hyperslab's library contains and a C library does not.
const MARK: &[u8] = b"an internal error of hyperslab stopped the call";
/// The folder of hyperslab's Debian package.
const PACKAGE: &str = "/usr/lib/hyperslab/hdf5/lib";

/// The interfaces of the C library that hyperslab's libraries have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interface {
    /// HDF5 1.14 and 2: the numbers 310 and 320 in the name of the library.
    Current,
    /// HDF5 1.10: the number 103.
    Older,
}

impl Interface {
    /// Returns the interface of a number in the name of a library.
    pub(super) fn of_number(number: &str) -> Option<Self> {
        match number {
            "310" | "320" => Some(Self::Current),
            "103" => Some(Self::Older),
            _ => None,
        }
    }

    /// Returns the names of the library's file in a folder.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Current => &["libhdf5.so.320", "libhdf5.so"],
            Self::Older => &["libhdf5_serial.so.103"],
        }
    }
}

/// hyperslab's library.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) symbols: Symbols,
}

impl Library {
    /// Finds and reads the library with an interface, at a path of the user or at a known place.
    pub(super) fn find(given: Option<&Path>, interface: Interface) -> Result<Self> {
        let path = match given {
            Some(path) if path.is_dir() => in_folders(&[path.to_owned(), path.join("lib")], interface)
                .with_context(|| {
                    format!("`{}` has no {}", path.display(), interface.names().join(" and no "))
                })?,
            Some(path) => path.to_owned(),
            None => in_folders(&known_folders(), interface).with_context(|| {
                format!("no {} is installed; --lib names its place", interface.names().join(" or "))
            })?,
        };
        let path = fs::canonicalize(&path).with_context(|| path.display().to_string())?;
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        if !is_of_hyperslab(&bytes) {
            bail!("`{}` is not hyperslab's library", path.display());
        }
        let symbols = Symbols::of(&bytes).with_context(|| path.display().to_string())?;
        ensure!(symbols.defined.contains("H5Fcreate"), "`{}` does not export H5Fcreate", path.display());
        Ok(Self { path, bytes, symbols })
    }
}

/// Returns true if bytes are those of a library of hyperslab.
pub(super) fn is_of_hyperslab(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

/// Returns the folders in which an installed library may be.
fn known_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let program = std::env::current_exe().ok();
    if let Some(folder) = program.as_deref().and_then(Path::parent) {
        folders.push(folder.to_owned());
        folders.extend(folder.parent().map(|above| above.join("lib")));
    }
    folders.push(PACKAGE.into());
    folders
}

fn in_folders(folders: &[PathBuf], interface: Interface) -> Option<PathBuf> {
    let places = folders.iter().flat_map(|folder| interface.names().iter().map(|name| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}
