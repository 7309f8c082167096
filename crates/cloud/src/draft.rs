//! New contents of objects: a local file that becomes an object when it is closed.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use hyperslab::vfd::Driver as _;
use hyperslab::{Error, File, FileOptions, Result};
use object_store::{Error as StoreError, ObjectStoreExt as _};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{driver_error, io_error, without_secrets};
use crate::location::Location;
use crate::runtime::Runtime;
use crate::{CloudOptions, Existing};

/// A file for writing that becomes an object when it is closed: [`CloudOptions::create`],
/// [`create_new`](CloudOptions::create_new) and [`replace`](CloudOptions::replace).
///
/// The contents are in a local file, which is as safe against crashes as every file.
/// [`close`](Self::close) uploads the local file, so that the object appears as a whole or not at
/// all, and removes it. If the upload fails, the local file stays, and the error names it.
///
/// A draft that is dropped without [`close`](Self::close) or [`discard`](Self::discard) changes no
/// object; its local file stays, and a warning in the log names it.
///
/// ```no_run
/// use hyperslab_cloud::CloudOptions;
///
/// let draft = CloudOptions::new().create_new("s3://bucket/run43.h5")?;
/// draft.new_dataset("x").write(&[1.5, 2.5])?;
/// draft.close()?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[must_use = "the object changes when the draft is closed"]
pub struct Draft {
    file: File,
    /// The local file, until the draft is closed or discarded.
    local: Option<TempPath>,
    url: String,
    existing: Existing,
    options: CloudOptions,
}

impl CloudOptions {
    /// Creates a file that becomes the object at a URL when it is closed, and replaces an existing
    /// object then.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the local file cannot be created, and
    /// the errors of [`open`](Self::open) about the URL.
    pub fn create(&self, url: &str) -> Result<Draft> {
        self.create_with(url, FileOptions::new(), Existing::Replace)
    }

    /// Creates a file that becomes a new object at a URL when it is closed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](hyperslab::ErrorKind::Exists) if the object exists, and the
    /// errors of [`create`](Self::create). [`Draft::close`] returns the same error if the object
    /// was created in the meantime.
    pub fn create_new(&self, url: &str) -> Result<Draft> {
        let location = Location::of(url, self)?;
        let name = location.name_of(&location.path);
        let failed = |source| Error::Io { action: format!("cannot create `{name}`"), source };
        let runtime = Runtime::get().map_err(|error| failed(io_error(&name, error)))?;
        let (store, path) = (Arc::clone(&location.store), location.path.clone());
        let found = runtime.wait(async move { store.head(&path).await });
        match found.map_err(|error| failed(io_error(&name, error)))? {
            Ok(_) => return Err(Error::Exists { subject: "object", name }),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(failed(driver_error(&name, &error, None))),
        }
        self.create_with(url, FileOptions::new(), Existing::Refuse)
    }

    /// Creates a file with the given options that becomes the object at a URL when it is closed.
    /// `existing` states the treatment of an object that exists then.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_with(&self, url: &str, options: FileOptions, existing: Existing) -> Result<Draft> {
        Location::of(url, self)?;
        let local = self.local_file()?.into_temp_path();
        let file = options.create(&local)?;
        Ok(self.draft(file, local, url, existing))
    }

    /// Copies the object at a URL to a local file, and opens this file for changes. The changed
    /// file replaces the object when it is closed, if the object has not changed in the meantime.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and
    /// [`ErrorKind::Unsupported`](hyperslab::ErrorKind::Unsupported) if the store has no versions
    /// (`ETag`) of objects.
    pub fn replace(&self, url: &str) -> Result<Draft> {
        let driver = self.driver(url)?;
        let version = driver.version().filter(|tag| !tag.starts_with("W/"));
        let version = version.ok_or_else(|| {
            Error::unsupported(format!("the replacement of `{}`, which has no version", driver.name()))
        })?;
        let mut local = self.local_file()?;
        self.download_from(&driver, local.as_file_mut())?;
        let local = local.into_temp_path();
        let file = self.open.clone().write(true).open(&local)?;
        Ok(self.draft(file, local, url, Existing::ReplaceVersion(version.to_owned())))
    }

    fn local_file(&self) -> Result<NamedTempFile> {
        let folder = self.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let made = tempfile::Builder::new().prefix("hyperslab-").suffix(".h5").tempfile_in(&folder);
        made.map_err(|error| local_error("cannot create a local file in", &folder, error))
    }

    fn draft(&self, file: File, local: TempPath, url: &str, existing: Existing) -> Draft {
        Draft { file, local: Some(local), url: url.to_owned(), existing, options: self.clone() }
    }
}

impl Draft {
    /// Returns the path of the local file.
    pub fn local_path(&self) -> Option<&Path> {
        self.local.as_deref()
    }

    /// Closes the local file, uploads it, and removes it. Returns the version of the new object, if
    /// the store has versions.
    ///
    /// # Errors
    /// Returns the errors of [`File::close`] and of [`CloudOptions::upload`]. The local file stays
    /// then, and the error names it.
    pub fn close(mut self) -> Result<Option<String>> {
        let Some(local) = self.local.take() else { return Ok(None) };
        let closed = self.file.clone().close().and_then(|()| {
            let source = std::fs::File::open(&local)
                .map_err(|error| local_error("cannot read the local file", &local, error))?;
            self.options.upload_file(&source, &self.url, self.existing.clone())
        });
        match closed {
            Ok(version) => {
                let removed = local.close();
                tracing::debug!(?removed, "the local file of a draft was removed");
                Ok(version)
            }
            Err(error) => Err(error.context(kept(local))),
        }
    }

    /// Removes the local file. The object stays as it is.
    pub fn discard(mut self) {
        drop(self.local.take());
    }
}

/// Keeps a local file, and returns a text that names it.
fn kept(local: TempPath) -> String {
    match local.keep() {
        Ok(path) => format!("the new contents are kept in `{}`", path.display()),
        Err(error) => format!("the new contents in `{}` cannot be kept", error.path.display()),
    }
}

fn local_error(what: &str, path: &Path, error: std::io::Error) -> Error {
    let name = path.display().to_string();
    Error::Io { action: format!("{what} `{name}`"), source: io_error(&name, error) }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(local) = self.local.take() {
            let (object, kept) = (without_secrets(&self.url), kept(local));
            tracing::warn!(%object, "a draft was not closed: {kept}");
        }
    }
}

impl Deref for Draft {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

/// Shows the URL without the parts that may be credentials.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("object", &without_secrets(&self.url))
            .field("local", &self.local)
            .field("existing", &self.existing)
            .finish_non_exhaustive()
    }
}
