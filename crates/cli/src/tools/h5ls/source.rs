//! The files that contain the objects in the list of h5ls.

use std::cell::OnceCell;

use hyperslab::File;

use crate::tools::known::{Known, Paths};

/// A file that h5ls has opened, with its name and the file number that h5ls shows.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) file: File,
    /// The name in the command or in the link.
    pub(super) name: String,
    /// The number of files that were opened before. The output shows the number.
    pub(super) number: u64,
    /// The number in the location of committed datatypes.
    pub(super) shared: u64,
    /// The objects of the file, which are found when a reference is printed first.
    known: OnceCell<Known>,
}

impl SourceFile {
    pub(super) fn new(file: File, name: String, number: u64, shared: u64) -> Self {
        Self { file, name, number, shared, known: OnceCell::new() }
    }

    /// Returns the same open file with another file number, as h5ls shows it.
    pub(super) fn numbered(self, number: u64) -> Self {
        Self { number, shared: number, ..self }
    }

    /// Returns a provider of object names in this file for h5ls.
    pub(super) fn names(&self) -> Names<'_> {
        Names(self)
    }
}

/// A provider of object names: kind and path. The first request walks the whole file.
pub(super) struct Names<'a>(&'a SourceFile);

impl crate::tools::ddl::elements::Names for Names<'_> {
    fn of(&self, token: hyperslab::ObjectToken) -> String {
        let known = self.0.known.get_or_init(|| Known::of(&self.0.file));
        Paths { name: &self.0.name, known }.of(token)
    }
}
