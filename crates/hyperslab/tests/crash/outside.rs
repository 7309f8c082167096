//! The check of some recovered files by libhdf5.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hyperslab::File;
use hyperslab_testkit::referee;

use crate::judge::{self, Manifest};

/// The number of recovered files for each kept file, and the largest number of kept files.
const EVERY: usize = 17;
const MOST: usize = 1500;

/// The files that are kept for libhdf5.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    kept: Mutex<(usize, BTreeMap<String, Vec<u8>>)>,
}

impl Outside {
    pub(crate) fn offer(&self, name: &str, bytes: Vec<u8>) {
        let mut kept = self.kept.lock().unwrap();
        kept.0 += 1;
        if kept.0.is_multiple_of(EVERY) && kept.1.len() < MOST {
            kept.1.insert(name.to_owned(), bytes);
        }
    }

    /// Reads the files with libhdf5, if it is installed. Returns the number of files with equal
    /// contents.
    pub(crate) fn finish(self) -> usize {
        let Some(python) = referee::python() else { return 0 };
        let folder = tempfile::tempdir().unwrap();
        let mut expected = Manifest::new();
        for (name, bytes) in self.kept.into_inner().unwrap().1 {
            let path = folder.path().join(format!("{name}.h5"));
            std::fs::write(&path, bytes).unwrap();
            let content = judge::content(&File::open(&path).unwrap());
            expected.insert(path.to_str().unwrap().to_owned(), content);
        }
        judge::ask(&python, folder.path(), &["verify"], &expected, &BTreeMap::new());
        expected.len()
    }
}
