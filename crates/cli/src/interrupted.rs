//! Files that are being written, removed if the command is interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

/// What stands behind the name of a file in that of its journal.
const JOURNAL: &str = ".hjournal";

/// The files that are being written.
static WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes a file in the folder of the one that it is to become, so that this one appears whole or not at all. The file is removed
/// when the value is dropped, and if SIGINT, SIGTERM or SIGHUP ends the command.
pub(crate) fn new_file_for(to: &Path, suffix: &str) -> Result<NamedTempFile> {
    let cannot = || format!("cannot write `{}`", to.display());
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    watch();
    let mut builder = tempfile::Builder::new();
    // As other programs make files: the user's mask takes away what it takes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // A signal between the two lines finds the file in the list.
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let made = builder.prefix(".hyperslab-").suffix(suffix).tempfile_in(folder).with_context(cannot)?;
    written.push(made.path().to_owned());
    Ok(made)
}

/// Removes the files that are being written, with their journals.
fn remove_all() {
    for path in WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let mut journal = path.clone().into_os_string();
        journal.push(JOURNAL);
        // What has got its name meanwhile is no longer there.
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(journal);
    }
}

/// Waits for signals from now on, on a thread of its own.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // A signal that is ignored, as nohup has it, stays so only if it is not waited for: it comes rarely, and only ends
        // the command early.
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        // Without a thread signals end the command as ever.
        let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                remove_all();
                std::process::exit(signal.saturating_add(128));
            }
        });
    });
}

#[cfg(not(unix))]
fn watch() {}
