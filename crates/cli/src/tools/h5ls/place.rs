//! The file that objects are in.

use std::cell::OnceCell;

use hyperslab::File;

use crate::tools::known::{Known, Paths};

/// A file, and as which one it was opened.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) file: File,
    /// Its name, as the command or a link has it.
    pub(super) name: String,
    /// How many files had been opened when it was: the number of it in what is printed.
    pub(super) number: u64,
    /// Its number where committed types are named.
    pub(super) shared: u64,
    /// Its objects, once one is asked for by what leads to it.
    known: OnceCell<Known>,
}

impl Place {
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
pub(super) struct Names<'a>(&'a Place);

impl crate::tools::ddl::elements::Names for Names<'_> {
    fn of(&self, token: hyperslab::ObjectToken) -> String {
        let known = self.0.known.get_or_init(|| Known::of(&self.0.file));
        Paths { name: &self.0.name, known }.of(token)
    }
}
