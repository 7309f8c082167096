//! Copies of whole files between stores and folders, and changes of objects.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::vfd::DriverError;
use hyperslab_cloud::{CloudOptions, Draft, Existing};
use tempfile::NamedTempFile;

use super::{shown, url};
use crate::interrupted::{new_file_for, remove_on_interruption};

/// Copies a whole file between stores, or between a store and a folder.
pub(crate) fn copy_file(from: &Path, to: &Path, replace: bool) -> Result<()> {
    let options = CloudOptions::new();
    let cannot = || format!("cannot copy `{}` to `{}`", shown(from), shown(to));
    let Some(source) = url(from) else {
        let Some(target) = url(to) else { bail!("name a path in the file, or a URL") };
        return upload(&File::open(from).with_context(cannot)?, target, replace).with_context(cannot);
    };
    if let Some(target) = url(to) {
        let mut between = NamedTempFile::with_prefix("hyperslab-")?;
        remove_on_interruption(between.path());
        options.download(source, between.as_file_mut()).with_context(cannot)?;
        return upload(&between.reopen()?, target, replace).with_context(cannot);
    }
    let mut made = new_file_for(to, ".h5")?;
    options.download(source, made.as_file_mut()).with_context(cannot)?;
    made.flush()?;
    made.as_file().sync_all()?;
    let persisted = if replace { made.persist(to) } else { made.persist_noclobber(to) };
    persisted.map_err(|error| io::Error::from(error.error.kind())).with_context(cannot)?;
    Ok(())
}

/// Uploads a file as an object of a store.
pub(crate) fn upload(file: &File, target: &str, replace: bool) -> Result<()> {
    let existing = if replace { Existing::Replace } else { Existing::Refuse };
    CloudOptions::new().upload_file(file, target, existing)?;
    Ok(())
}

/// Copies an object of a store to a local file for changes. If the object does not exist, creates
/// the local file, if `create` is true.
pub(crate) fn draft(url: &str, create: bool) -> Result<Draft> {
    let options = CloudOptions::new();
    let draft = match options.replace(url) {
        Err(error) if create && is_missing(&error) => options.create_new(url),
        draft => draft,
    };
    let draft = draft.with_context(|| format!("cannot open `{}` for changes", shown(Path::new(url))))?;
    draft.local_path().into_iter().for_each(remove_on_interruption);
    Ok(draft)
}

/// Returns whether an error says that an object does not exist.
fn is_missing(error: &hyperslab::Error) -> bool {
    let hyperslab::Error::Io { source: DriverError::Io { source, .. }, .. } = error else { return false };
    source.kind() == ErrorKind::NotFound
}
