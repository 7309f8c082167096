//! Copies of whole files between stores and folders.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab_cloud::{CloudOptions, Existing};
use tempfile::NamedTempFile;

use super::{shown, url};
use crate::interrupted::new_file_for;

/// Copies a whole file between stores, or between a store and a folder. Existing files and objects
/// are not replaced.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let options = CloudOptions::new();
    let cannot = || format!("cannot copy `{}` to `{}`", shown(from), shown(to));
    let Some(source) = url(from) else {
        let Some(target) = url(to) else { bail!("name a path in the file, or a URL") };
        let file = File::open(from).with_context(cannot)?;
        return options.upload(file, target, Existing::Refuse).with_context(cannot);
    };
    if let Some(target) = url(to) {
        let mut between = NamedTempFile::with_prefix("hyperslab-")?;
        options.download(source, between.as_file_mut()).with_context(cannot)?;
        return options.upload(between.reopen()?, target, Existing::Refuse).with_context(cannot);
    }
    let mut made = new_file_for(to, ".h5")?;
    options.download(source, made.as_file_mut()).with_context(cannot)?;
    made.flush()?;
    made.as_file().sync_all()?;
    made.persist_noclobber(to).map_err(|error| io::Error::from(error.error.kind())).with_context(cannot)?;
    Ok(())
}
