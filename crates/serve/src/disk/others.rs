//! The other files to which links and datasets of a file lead.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::vfd::{Access, Sec2};
use hyperslab::{Error, OtherFile, OtherFiles, Result};

use super::Roots;

/// The provider of the other files of one file.
#[derive(Debug)]
pub(super) struct Others {
    /// The folder of the file, in which relative names begin.
    folder: PathBuf,
    roots: Arc<Roots>,
}

impl Others {
    /// Creates the provider of the files that the file at `path` names.
    pub(super) fn of(path: &Path, roots: &Arc<Roots>) -> Self {
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Self { folder, roots: Arc::clone(roots) }
    }

    /// Returns the real path of a regular file that may be read.
    fn allowed(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        (self.roots.allows(&real) && real.is_file()).then_some(real)
    }
}

impl OtherFiles for Others {
    fn open(&self, name: &str) -> Result<OtherFile> {
        let path = Path::new(name);
        // Of an absolute path that leads outside, the last component counts, in the own folder.
        let beside = path.file_name().filter(|_| path.is_absolute());
        let found = self
            .allowed(&self.folder.join(path))
            .or_else(|| beside.and_then(|last| self.allowed(&self.folder.join(last))));
        let found = found.ok_or_else(|| Error::NotFound { subject: "file", name: name.to_owned() })?;
        let driver = Sec2::open(&found, Access::ReadOnly)
            .map_err(|source| Error::Io { action: format!("open `{name}`"), source })?;
        let others: Arc<dyn OtherFiles> = Arc::new(Self::of(&found, &self.roots));
        Ok(OtherFile { driver: Arc::new(driver), others: Some(others) })
    }
}
