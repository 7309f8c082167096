//! Access to the other files that links and datasets of a file lead to, through drivers of the
//! program.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::{FileResolver, OpenFile, RawFileResolver};
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::Driver;

use crate::ExternalFiles;

/// The longest permitted chain of files, each of which refers to the next file by a link or a
/// dataset.
const MAX_DEPTH: usize = 16;

/// A provider of drivers for the other files to which links, virtual datasets and external raw data
/// of a file lead. The implementation decides which names it accepts. All files are read only.
///
/// ```
/// use std::sync::Arc;
///
/// use hyperslab::vfd::{Core, Driver};
/// use hyperslab::{Error, File, FileOptions, OpenOptions, OtherFile, OtherFiles, Result};
///
/// #[derive(Debug)]
/// struct InMemory(Arc<[u8]>);
///
/// impl OtherFiles for InMemory {
///     fn open(&self, name: &str) -> Result<OtherFile> {
///         if name != "other.h5" {
///             return Err(Error::Misuse(format!("`{name}` is not accepted")));
///         }
///         let driver: Arc<dyn Driver> = Arc::new(Core::image(name, Arc::clone(&self.0)));
///         Ok(OtherFile { driver, others: None })
///     }
/// }
///
/// let source = FileOptions::new().create_in_memory()?;
/// source.new_dataset("data").write(&[1, 2])?;
/// let others = Arc::new(InMemory(source.to_bytes()?.into()));
/// let file = FileOptions::new().create_in_memory()?;
/// file.link_external("link", "other.h5", "/data")?;
/// let driver: Arc<dyn Driver> = Arc::new(Core::image("file", file.to_bytes()?));
/// let file = OpenOptions::new().open_driver_with(driver, others)?;
/// assert_eq!(file.dataset("link")?.read_raw::<i32>(..)?, [1, 2]);
/// # Ok::<(), Error>(())
/// ```
pub trait OtherFiles: std::fmt::Debug + Send + Sync {
    /// Opens the HDF5 file, or the file with raw data, to which a link or a dataset refers by
    /// `name`.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or the name is not accepted.
    fn open(&self, name: &str) -> Result<OtherFile>;
}

/// Another file to which a link or a dataset leads.
#[derive(Debug, Clone)]
pub struct OtherFile {
    /// The driver that reads the bytes of the file.
    pub driver: Arc<dyn Driver>,
    /// The provider of files to which this file refers; `None` if it may refer to no file.
    pub others: Option<Arc<dyn OtherFiles>>,
}

/// The resolver of names of other files, which asks the program's provider.
#[derive(Debug)]
pub(crate) struct ProvidedFiles {
    pub(crate) others: Arc<dyn OtherFiles>,
    pub(crate) policy: ExternalFiles,
    pub(crate) options: StoreOptions,
    pub(crate) depth: usize,
}

impl ProvidedFiles {
    fn provide(&self, name: &[u8]) -> Result<OtherFile> {
        if self.policy == ExternalFiles::Refuse {
            return Err(Error::Misuse(
                "the policy `ExternalFiles::Refuse` forbids opening other files".into(),
            ));
        }
        if self.depth >= MAX_DEPTH {
            return Err(Error::Misuse(format!(
                "a chain of files that refer to each other has more than {MAX_DEPTH} files"
            )));
        }
        let name = std::str::from_utf8(name).map_err(|_| {
            Error::unsupported(format!("the file name `{}`, which is not UTF-8", name.escape_ascii()))
        })?;
        self.others.open(name)
    }
}

impl FileResolver for ProvidedFiles {
    fn open(&self, name: &[u8], _first: Option<&Path>) -> Result<Arc<OpenFile>> {
        let OtherFile { driver, others } = self.provide(name)?;
        let options = StoreOptions { write: None, journal: None, ..self.options.clone() };
        let file = OpenFile::open(driver, options.clone())?;
        let Some(others) = others else { return Ok(Arc::new(file)) };
        let resolver = Self { others, policy: self.policy, options, depth: self.depth + 1 };
        Ok(Arc::new(file.with_resolver(Arc::new(resolver))))
    }
}

impl RawFileResolver for ProvidedFiles {
    fn open_raw(&self, name: &[u8], _folder: Option<&Path>) -> Result<Arc<dyn Driver>> {
        Ok(self.provide(name)?.driver)
    }
}
