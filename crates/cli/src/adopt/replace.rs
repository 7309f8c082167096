//! The replacement of a file, with a backup beside it. At each moment, the name leads to the old
//! file or to the new one; running programs keep the file that they have loaded.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::library::{self, Library};

/// The end of the name of a backup.
pub(super) const BACKUP: &str = ".before-adopt";
/// The end of the name of a new file, until it is complete.
pub(super) const NEW: &str = ".adopting";

/// Returns the place of the backup of a file.
pub(super) fn backup_of(target: &Path) -> PathBuf {
    with_end(target, BACKUP)
}

fn with_end(target: &Path, end: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Puts a library in the place of a file. Returns the backup.
pub(super) fn replace(target: &Path, library: &Library) -> Result<PathBuf> {
    let backup = backup_of(target);
    let bytes = fs::read(target).with_context(|| target.display().to_string())?;
    let permissions = fs::metadata(target)?.permissions();
    if library::is_of_hyperslab(&bytes) {
        ensure!(backup.is_file(), "the wheel has a library of hyperslab, but no backup of its own");
    } else {
        // A backup of an earlier wheel is not the wheel's library any more.
        write(&backup, &bytes, permissions.clone())?;
    }
    write(target, &library.bytes, permissions)?;
    Ok(backup)
}

/// Puts the backup in the place of the file. Returns the backup's place.
pub(super) fn undo(target: &Path) -> Result<PathBuf> {
    let backup = backup_of(target);
    ensure!(backup.is_file(), "there is no backup `{}`", backup.display());
    let bytes = fs::read(target).with_context(|| target.display().to_string())?;
    ensure!(
        library::is_of_hyperslab(&bytes),
        "`{}` is not hyperslab's library: the wheel was installed again; remove the backup",
        target.display()
    );
    fs::rename(&backup, target).with_context(|| target.display().to_string())?;
    Ok(backup)
}

/// Writes a file whole or not at all.
fn write(place: &Path, bytes: &[u8], permissions: fs::Permissions) -> Result<()> {
    let new = with_end(place, NEW);
    let written = (|| -> Result<()> {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.set_permissions(permissions)?;
        file.sync_all()?;
        Ok(fs::rename(&new, place)?)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new); // The first error is the cause.
    }
    written.with_context(|| format!("cannot write `{}`", place.display()))
}
