//! Opens the file that a command reads.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use hyperslab::vfd::{AccessLog, DriverError};
use hyperslab::{File, FileDriver, FileLocking, OpenOptions};

use crate::output::complain;
use crate::progress::{self, Progress};

/// The number of equal parts of a file in the access log. The log counts the accesses to each part.
const LOG_CELLS: usize = 1 << 16;

/// The arguments of commands that open a file.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenArguments {
    /// Driver, such as core, mmap, stream, family or log [default: auto]
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = driver, hide_default_value = true)]
    driver: Choice,
    /// File lock: on, off or best-effort [default: as HDF5_USE_FILE_LOCKING]
    #[arg(long, value_name = "MODE", value_parser = locking)]
    locking: Option<FileLocking>,
    /// The counts of accesses for the progress display.
    #[arg(skip)]
    watched: OnceLock<Arc<AccessLog>>,
}

/// The file driver that an argument names, and the access log of `--driver log`.
#[derive(Debug, Clone)]
struct Choice {
    driver: FileDriver,
    logged: bool,
    log: OnceLock<Arc<AccessLog>>,
}

fn driver(name: &str) -> Result<Choice, String> {
    let logged = name == "log";
    let driver = if logged { Ok(FileDriver::Auto) } else { name.parse() };
    let driver = driver.map_err(|error: hyperslab::Error| format!("{error}, log"))?;
    Ok(Choice { driver, logged, log: OnceLock::new() })
}

fn locking(name: &str) -> Result<FileLocking, String> {
    match name {
        "on" => Ok(FileLocking::On),
        "off" => Ok(FileLocking::Off),
        "best-effort" => Ok(FileLocking::BestEffort),
        _ => Err("the values are on, off and best-effort".into()),
    }
}

impl OpenArguments {
    /// Returns the options for opening a file, with the driver and the locking from the arguments.
    pub(crate) fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new().driver(self.driver.driver.clone());
        if let Some(locking) = self.locking {
            options = options.locking(locking);
        }
        if self.driver.logged {
            let log = self.driver.log.get_or_init(|| Arc::new(AccessLog::counting_bytes(LOG_CELLS)));
            return options.access_log(Arc::clone(log));
        }
        match self.watched.get() {
            Some(log) => options.access_log(Arc::clone(log)),
            None => options,
        }
    }

    /// Shows a progress display with the number of bytes read. The display counts only files that
    /// are opened after this call. The display ends when the returned value is dropped.
    pub(crate) fn progress(&self, subject: &'static str) -> Progress {
        if self.driver.logged || !progress::is_visible() {
            return Progress::default();
        }
        let log = self.watched.get_or_init(|| Arc::new(AccessLog::new()));
        Progress::new(Arc::clone(log), subject)
    }

    /// Returns the file locking that the argument `--locking` states.
    pub(crate) fn locking(&self) -> Option<FileLocking> {
        self.locking
    }

    /// Opens a file for reading with the driver and locking that the arguments state.
    pub(crate) fn open(&self, file: &Path) -> Result<File> {
        let opened = crate::remote::open(self.options(), file).map_err(|error| open_error(error, file))?;
        warn_of_journal(&opened);
        Ok(opened)
    }

    /// Prints the access log of the file if `--driver log` was given.
    pub(crate) fn report(&self) {
        if let Some(log) = self.driver.log.get() {
            log.report().to_string().lines().for_each(complain);
        }
    }
}

/// Prints a warning if the journal beside the file does not belong to the file.
pub(crate) fn warn_of_journal(file: &File) {
    if let Some(outcome) = file.journal_outcome().filter(|outcome| outcome.is_warning()) {
        complain(format_args!("hyperslab: warning: {outcome}"));
    }
}

/// Adds the file name to an error of opening a file. An error of the operating system keeps only
/// its own message and the name of the affected member file.
fn open_error(error: hyperslab::Error, file: &Path) -> anyhow::Error {
    let shown = crate::remote::shown(file);
    let context = format!("cannot open `{shown}`");
    if let hyperslab::Error::Io { source: DriverError::Io { name, source, .. }, .. } = &error {
        let member = if *name == shown { String::new() } else { format!("{name}: ") };
        return anyhow::anyhow!("{context}: {member}{source}");
    }
    match &error {
        hyperslab::Error::NotHdf5 { resembles: Some(format) } if can_be_imported(format) => {
            anyhow::anyhow!("{context}: {error}; `hyperslab import` converts this format to HDF5")
        }
        _ => anyhow::Error::new(error).context(context),
    }
}

/// Returns true if `hyperslab import` can read the file format that [`hyperslab::Error::NotHdf5`]
/// names.
fn can_be_imported(format: &str) -> bool {
    ["NumPy", "Parquet", "Arrow", "Matrix Market", "csv"].iter().any(|name| format.contains(name))
}
