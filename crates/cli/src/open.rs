//! Opening the file that a command is about.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use hyperslab::vfd::{AccessLog, DriverError};
use hyperslab::{File, FileDriver, FileLocking, OpenOptions};

use crate::output::complain;
use crate::progress::{self, Progress};

/// Places of the file for which accesses are counted.
const CELLS: usize = 1 << 16;

/// How the file is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenArguments {
    /// How the bytes are reached: auto, sec2, core, stdio, mmap, stream (FILE is HOST:PORT), family (FILE may be a
    /// pattern such as name%05d.h5), split, multi, subfiling; or log, which is auto and says at the end what was read
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = driver, hide_default_value = true)]
    driver: Choice,
    /// Whether the file is locked meanwhile, so that nobody changes it: on, off, or best-effort, which is on where the
    /// file system has locks [default: what HDF5_USE_FILE_LOCKING says, else best-effort]
    #[arg(long, value_name = "HOW", value_parser = locking)]
    locking: Option<FileLocking>,
    /// Counts what is read, for whoever looks on.
    #[arg(skip)]
    watched: OnceLock<Arc<AccessLog>>,
}

/// A driver, perhaps with a log of what it is asked.
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
        _ => Err("it is on, off or best-effort".into()),
    }
}

impl OpenArguments {
    /// Options with the driver that was chosen.
    pub(crate) fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new().driver(self.driver.driver.clone());
        if let Some(locking) = self.locking {
            options = options.locking(locking);
        }
        if self.driver.logged {
            let log = self.driver.log.get_or_init(|| Arc::new(AccessLog::counting_bytes(CELLS)));
            return options.access_log(Arc::clone(log));
        }
        match self.watched.get() {
            Some(log) => options.access_log(Arc::clone(log)),
            None => options,
        }
    }

    /// Shows on the terminal what is read of files that are opened from now on, for as long as the value lives.
    pub(crate) fn progress(&self, what: &'static str) -> Progress {
        if self.driver.logged || !progress::is_watched() {
            return Progress::default();
        }
        let log = self.watched.get_or_init(|| Arc::new(AccessLog::new()));
        Progress::new(Arc::clone(log), what)
    }

    /// Returns whether the file is locked meanwhile, if that was said.
    pub(crate) fn locking(&self) -> Option<FileLocking> {
        self.locking
    }

    /// Opens the file.
    pub(crate) fn open(&self, file: &Path) -> Result<File> {
        let opened = self.options().open(file).map_err(|error| opening(error, file))?;
        warn_of_journal(&opened);
        Ok(opened)
    }

    /// Says what was read, if that was asked for.
    pub(crate) fn report(&self) {
        if let Some(log) = self.driver.log.get() {
            log.report().to_string().lines().for_each(complain);
        }
    }
}

/// Prints a warning if a journal lay beside the file that does not belong to it.
pub(crate) fn warn_of_journal(file: &File) {
    if let Some(outcome) = file.journal_outcome().filter(|outcome| outcome.is_warning()) {
        complain(format_args!("hyperslab: warning: {outcome}"));
    }
}

/// Why a file cannot be opened; of an error of the operating system, its own words and the member file they are
/// about.
fn opening(error: hyperslab::Error, file: &Path) -> anyhow::Error {
    let shown = file.display().to_string();
    let context = format!("cannot open `{shown}`");
    if let hyperslab::Error::Io { source: DriverError::Io { name, source, .. }, .. } = &error {
        let member = if *name == shown { String::new() } else { format!("{name}: ") };
        return anyhow::anyhow!("{context}: {member}{source}");
    }
    anyhow::Error::new(error).context(context)
}
