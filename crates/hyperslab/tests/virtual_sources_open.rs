//! Virtual datasets whose source files the program writes at the same time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::{File, FileOptions, OpenFiles, Region, Selection, VirtualMapping};

#[derive(Debug, Default)]
struct Open(Mutex<Vec<(PathBuf, File)>>);

impl Open {
    fn files(&self) -> Vec<(PathBuf, File)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl OpenFiles for Open {
    fn find(&self, path: &Path) -> Option<File> {
        self.files()
            .into_iter()
            .find(|(known, _)| known.file_name() == path.file_name())
            .map(|(_, file)| file)
    }

    fn generation(&self) -> u64 {
        1
    }

    fn written(&self) -> Vec<File> {
        self.files().into_iter().map(|(_, file)| file).collect()
    }
}

#[test]
fn a_read_sees_changes_that_no_flush_has_stored() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let open = Arc::new(Open::default());
    let source_path = folder.path().join("source.h5");
    let source = FileOptions::new().open_files(open.clone()).create(&source_path)?;
    let numbers = source.new_dataset("x").write(&[1, 2, 3, 4])?;
    open.0.lock().unwrap().push((source_path, source.clone()));
    let file = FileOptions::new().open_files(open).create(folder.path().join("virtual.h5"))?;
    let all = Selection::region(&Region::new(&[0], &[4])?);
    let mapping = VirtualMapping {
        file: "source.h5".into(),
        dataset: "x".into(),
        selection: all.clone(),
        source_selection: all,
    };
    let shown = file.new_dataset("v").of::<i32>().shape(&[4]).virtual_sources(&[mapping]).create()?;
    assert_eq!(shown.read_raw::<i32>(..)?, [1, 2, 3, 4]);
    numbers.write(1..3, &[20, 30])?;
    assert_eq!(shown.read_raw::<i32>(..)?, [1, 20, 30, 4]);
    Ok(())
}
