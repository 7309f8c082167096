//! The other files that external links lead to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_engine::ops::{FileResolver, OpenFile};
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Error, Result};

use crate::file::open_path;

/// Files that lead on to further files, at most.
const MAX_DEPTH: usize = 16;

/// Which other files the links of a file may lead to.
///
/// Relative names are looked for beside the file with the link, then an absolute name as it is, then its last
/// part beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExternalFiles {
    /// None.
    Refuse,
    /// Files in the folder of the file with the link, or in folders below it.
    #[default]
    Beside,
    /// All.
    Anywhere,
}

/// Opens files by their place beside another one.
#[derive(Debug)]
pub(crate) struct Beside {
    folder: PathBuf,
    policy: ExternalFiles,
    options: StoreOptions,
    depth: usize,
}

impl Beside {
    /// For links of the file at `path`, which was reached over `depth` files.
    pub(crate) fn new(path: &Path, policy: ExternalFiles, options: StoreOptions, depth: usize) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self { folder: folder.unwrap_or(Path::new(".")).to_owned(), policy, options, depth }
    }

    /// Where the file may be, best guess first.
    fn candidates(&self, name: &Path) -> Vec<PathBuf> {
        let mut candidates = vec![self.folder.join(name)];
        if let Some(last) = name.file_name().filter(|_| name.is_absolute()) {
            candidates.push(self.folder.join(last));
        }
        candidates.retain(|path| path.exists());
        candidates
    }

    fn is_allowed(&self, path: &Path) -> bool {
        match self.policy {
            ExternalFiles::Refuse => false,
            ExternalFiles::Anywhere => true,
            ExternalFiles::Beside => match (path.canonicalize(), self.folder.canonicalize()) {
                (Ok(path), Ok(folder)) => path.starts_with(folder),
                _ => false,
            },
        }
    }
}

impl FileResolver for Beside {
    fn open(&self, name: &[u8]) -> Result<Arc<OpenFile>> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::Misuse(format!("more than {MAX_DEPTH} files lead on to each other")));
        }
        if self.policy == ExternalFiles::Refuse {
            return Err(Error::Misuse("links to other files are not followed".into()));
        }
        let Ok(text) = std::str::from_utf8(name) else {
            return Err(Error::unsupported(format!(
                "the file name `{}`, which is not UTF-8",
                name.escape_ascii()
            )));
        };
        let candidates = self.candidates(Path::new(text));
        if candidates.is_empty() {
            return Err(Error::NotFound { what: "file", name: text.to_owned() });
        }
        let Some(path) = candidates.iter().find(|path| self.is_allowed(path)) else {
            return Err(Error::Misuse(format!(
                "`{text}` lies outside of the folder of the file that links to it; open the file with \
                 `ExternalFiles::Anywhere` to follow such links"
            )));
        };
        let resolver = Self::new(path, self.policy, self.options.clone(), self.depth.saturating_add(1));
        Ok(Arc::new(open_path(path, self.options.clone())?.with_resolver(Arc::new(resolver))))
    }
}
