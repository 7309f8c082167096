//! The file that objects are in.

use std::cell::OnceCell;

use hyperslab::File;

use crate::tools::known::{Known, Paths};

/// An open file, with its name and its number.
#[derive(Debug)]
pub(super) struct OpenedFile {
    pub(super) file: File,
    /// The name in the command or in the link.
    pub(super) name: String,
    /// The number of files that were opened before. The output shows the number.
    pub(super) number: u64,
    /// Its number where committed types are named.
    pub(super) shared: u64,
    /// Its objects, once one is asked for by what leads to it.
    known: OnceCell<Known>,
}

impl OpenedFile {
    pub(super) fn new(file: File, name: String, number: u64, shared: u64) -> Self {
        Self { file, name, number, shared, known: OnceCell::new() }
    }

    /// The same file with another number.
    pub(super) fn numbered(self, number: u64) -> Self {
        Self { number, shared: number, ..self }
    }

    /// The objects by kind and path.
    pub(super) fn names(&self) -> Names<'_> {
        Names(self)
    }
}

/// Objects by kind and path, for which the file is walked when the first one is named.
pub(super) struct Names<'a>(&'a OpenedFile);

impl crate::tools::ddl::elements::Names for Names<'_> {
    fn of(&self, token: hyperslab::ObjectToken) -> String {
        let known = self.0.known.get_or_init(|| Known::of(&self.0.file));
        Paths { name: &self.0.name, known }.of(token)
    }
}
