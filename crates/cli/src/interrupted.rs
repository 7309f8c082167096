//! Files that a command is writing. An interruption of the command removes them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

/// The suffix of a journal's name. The name of the file precedes the suffix.
#[cfg(unix)]
const JOURNAL_SUFFIX: &str = ".hjournal";

/// The files that the command is writing, which the program removes after a signal.
static WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Creates a temporary file in the folder of the file `to`. The caller renames it to `to` when it
/// is complete, so that no incomplete file appears. The temporary file is removed when the returned
/// value is dropped, and on SIGINT, SIGTERM and SIGHUP.
pub(crate) fn new_file_for(to: &Path, suffix: &str) -> Result<NamedTempFile> {
    let cannot = || format!("cannot write `{}`", to.display());
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    watch();
    let mut builder = tempfile::Builder::new();
    // The default mode of new files, from which the umask removes bits.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The lock is held until the file is in the list, so that a signal after the creation of the
    // file removes it.
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let made = builder.prefix(".hyperslab-").suffix(suffix).tempfile_in(folder).with_context(cannot)?;
    written.push(made.path().to_owned());
    Ok(made)
}

/// Removes a file that the command is writing on SIGINT, SIGTERM and SIGHUP.
#[cfg(feature = "cloud")]
pub(crate) fn remove_on_interruption(path: &Path) {
    watch();
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Removes the files that the command is writing, and their journals.
#[cfg(unix)]
fn remove_all() {
    for path in WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let mut journal = path.clone().into_os_string();
        journal.push(JOURNAL_SUFFIX);
        // A file that was renamed to its final name is no longer at this path.
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_file(journal);
    }
}

/// Starts a thread that waits for signals. The thread removes incomplete files. Further calls do
/// nothing.
#[cfg(unix)]
fn watch() {
    use std::sync::OnceLock;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // This also handles signals that were ignored before, such as SIGHUP under nohup. This is
        // acceptable, because such a signal is rare and only ends the command early.
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        // If the thread cannot be started, signals end the command and the files remain.
        let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                remove_all();
                std::process::exit(128 + signal);
            }
        });
    });
}

#[cfg(not(unix))]
fn watch() {}
